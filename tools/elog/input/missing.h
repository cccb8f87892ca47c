/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why a live run sees nothing: names in its options that no event has, filters that reject
 * all events, and events that are not emitted.
 */
#ifndef MISSING_H
#define MISSING_H

#include "input/live.h"

/**
 * missing_open() - at the start, warn about names that no event has
 * @live: with its subscriptions; @live->names is set
 *
 * Of a COMMAND, which may register them, missing_report() says at the end what did not come.
 *
 * Return: 0; or a negative errno, and the reason was printed.
 */
int missing_open(struct live *live);

/**
 * missing_report() - at the end, say which names no event had, and why there was no event
 * @live: ended; nothing is printed with -q
 * @events: number of events that were selected
 */
void missing_report(struct live *live, uint64_t events);

#endif /* MISSING_H */
