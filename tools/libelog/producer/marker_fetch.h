/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The filters of a program's markers: fetched from the kernel, kept, and evaluated when a
 * marker fires.
 *
 * Everything may be called in signal handlers: nothing waits, and memory comes from
 * mmap(). Threads that find a changed filter at the same time each fetch it; one copy is
 * kept. A copy that was replaced is freed when no thread is evaluating a filter.
 */
#ifndef LIBELOG_MARKER_FETCH_H
#define LIBELOG_MARKER_FETCH_H

#include <stdint.h>

struct elog_event;
struct elog_marker;
struct elog_marker_state;

/**
 * elog_marker_filter_handlers() - evaluate the filter of a marker that fires
 * @marker: the marker
 * @state: its state; keeps the filter
 * @event: its event, whose status byte has EVENTLOG_STATUS_FILTER
 * @values: of its fields; for strings, their addresses
 *
 * Makes system calls only if policies have changed since the last call, and for filters
 * with comm. If the filter cannot be fetched, it is false; the next call tries again.
 *
 * Return: ELOG_MARKER_* that must run; 0: the filter is false.
 */
unsigned int elog_marker_filter_handlers(const struct elog_marker *marker,
					 struct elog_marker_state *state,
					 const struct elog_event *event,
					 const uint64_t *values);

/**
 * elog_marker_filter_forget() - drop the filter of a marker
 * @state: its state; threads may be using it
 */
void elog_marker_filter_forget(struct elog_marker_state *state);

/** elog_marker_filters_after_fork() - call in the child, in the thread that forked */
void elog_marker_filters_after_fork(void);

#endif /* LIBELOG_MARKER_FETCH_H */
