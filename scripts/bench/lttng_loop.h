/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The same events through LTTng-UST, to compare with.
 */
#ifndef BENCH_LTTNG_LOOP_H
#define BENCH_LTTNG_LOOP_H

#include <stdint.h>

/**
 * lttng_loop() - emit
 * @bytes: of the payload, one of ring_bench's sizes
 * @payload: the bytes
 * @count: events
 */
void lttng_loop(uint32_t bytes, const void *payload, uint32_t count);

/**
 * lttng_loop_missing() - the reason why it cannot be measured
 * @bytes: of the payload
 *
 * Return: the reason, or NULL when a session records the event.
 */
const char *lttng_loop_missing(uint32_t bytes);

#endif /* BENCH_LTTNG_LOOP_H */
