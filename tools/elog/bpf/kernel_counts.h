/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events counted inside the kernel, by a BPF program: elog stat --bpf.
 */
#ifndef KERNEL_COUNTS_H
#define KERNEL_COUNTS_H

#include "input/live.h"
#include "input/counters.h"

struct kernel_counts;

/**
 * kernel_counts_open() - begin to count
 * @counts: set to the new counts
 * @live: whose rules keep events enabled; outlives it
 *
 * Return: 0, or a negative errno, the reason being told.
 */
int kernel_counts_open(struct kernel_counts **counts, struct live *live);

/** kernel_counts_close() - end counting, free; NULL is fine */
void kernel_counts_close(struct kernel_counts *counts);

/**
 * kernel_counts_read() - fill counters with all there is so far
 * @counts: of -e, -k, -l and -C
 * @counters: by event, provider or cpu
 *
 * Events are lost when one is emitted in an interrupt that comes while another one
 * is being counted on that CPU: nested.
 *
 * Return: 0 or a negative errno.
 */
int kernel_counts_read(struct kernel_counts *counts, struct counters *counters);

#endif /* KERNEL_COUNTS_H */
