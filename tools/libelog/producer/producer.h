/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What markers need of a producer's events.
 */
#ifndef LIBELOG_PRODUCER_H
#define LIBELOG_PRODUCER_H

#include "elog.h"

/* The fixed part of an event of ELOG_IOV_MAX strings, and these. */
#define ELOG_PARTS_MAX	(ELOG_IOV_MAX + 1)

/* elog_event_write() with up to ELOG_PARTS_MAX parts. */
int elog_event_write_parts(const struct elog_event *event, uint64_t session,
			   const struct iovec *iov, unsigned int count);

/**
 * elog_event_retire() - elog_event_unregister() that frees nothing
 * @event: registered. Threads may be using it: it is off from then on
 */
void elog_event_retire(struct elog_event *event);

/**
 * elog_event_revive() - register an event that has retired
 * @event: what it was registered with holds again
 *
 * Return: as of elog_event_register(); when it fails the event stays retired.
 */
int elog_event_revive(struct elog_event *event);

/**
 * elog_event_is_marker() - an event is enabled, too, when handlers are from_kernel for
 * @event: registered
 */
void elog_event_is_marker(struct elog_event *event);

/**
 * elog_event_handlers() - what the kernel wants a marker to do
 * @event: a marker's
 *
 * While there is no connection, an attempt is made as elog_event_enabled_slow() makes it.
 * Callable from signal handlers.
 *
 * Return: ELOG_MARKER_*, or ELOG_EVENT_HAS_FILTER instead of what is beside TRACE.
 */
unsigned int elog_event_handlers(const struct elog_event *event);

/* Beside ELOG_MARKER_*: which ones is to be asked at each hit. */
#define ELOG_EVENT_HAS_FILTER	(1U << 7)

/**
 * elog_event_evaluate() - what the kernel wants a hit of a marker to do
 * @event: the marker's
 * @values: of its fields; those of strings are addresses
 * @count: of @values, at most EVENTLOG_ASK_VALUES_MAX
 *
 * Callable from signal handlers; a system call.
 *
 * Return: ELOG_MARKER_PRINT and ELOG_MARKER_PROBE; nothing if the kernel cannot tell.
 */
unsigned int elog_event_evaluate(const struct elog_event *event, const uint64_t *values,
			    unsigned int count);

#endif /* LIBELOG_PRODUCER_H */
