/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Functions of producers for markers.
 */
#ifndef LIBELOG_PRODUCER_H
#define LIBELOG_PRODUCER_H

#include "elog.h"

/* The fixed part of an event, and ELOG_IOV_MAX strings. */
#define ELOG_PARTS_MAX	(ELOG_IOV_MAX + 1)

/* elog_event_write() with up to ELOG_PARTS_MAX parts. */
int elog_event_write_parts(const struct elog_event *event, uint64_t session,
			   const struct iovec *iov, unsigned int count);

/**
 * elog_event_retire() - unregister an event without freeing it
 * @event: registered. Threads may be using it; it is disabled from now on
 */
void elog_event_retire(struct elog_event *event);

/**
 * elog_event_revive() - register a retired event again
 * @event: with the arguments of its first registration
 *
 * Return: as elog_event_register(). If it fails, the event stays retired.
 */
int elog_event_revive(struct elog_event *event);

/**
 * elog_event_follow() - keep a copy of the address of an event's status byte
 * @event: registered
 * @follower: set now, and whenever the address changes; NULL: no longer
 *
 * elog_event_retire() sets it a last time, to a byte that is 0.
 */
void elog_event_follow(struct elog_event *event, const unsigned char **follower);

/**
 * elog_event_report_handlers() - let listings show which handlers of a marker are enabled
 * @event: the marker's event, registered
 * @handlers: ELOG_MARKER_*: enabled now
 * @defaults: ELOG_MARKER_*: enabled at first
 */
void elog_event_report_handlers(struct elog_event *event, unsigned int handlers,
				unsigned int defaults);

/* The rest of elog_event_status(), for when the producer is not connected, or has to leave. */
unsigned int elog_event_status_slow(const struct elog_event *event);

/**
 * elog_event_status() - get an event's status from the kernel
 * @event: registered
 *
 * Tries to connect in the same way as elog_event_enabled_slow(). May be called from
 * signal handlers.
 *
 * Return: EVENTLOG_STATUS_*; 0: there is no connection.
 */
static inline unsigned int elog_event_status(const struct elog_event *event)
{
	const unsigned char *status = __atomic_load_n(&event->status, __ATOMIC_ACQUIRE);
	unsigned int bits = __atomic_load_n(status, __ATOMIC_RELAXED);

	return bits & (ELOG_STATUS_UNKNOWN | EVENTLOG_STATUS_LEAVE) ?
	       elog_event_status_slow(event) : bits;
}

/**
 * elog_event_filter_key() - test whether a marker's filter may have changed
 * @event: the marker's event
 *
 * Makes no system call. May be called from signal handlers.
 *
 * Return: a number that changes with the event's registration (upper half) and with
 * every marker policy (lower half: the generation in the status map).
 */
uint64_t elog_event_filter_key(const struct elog_event *event);

/**
 * elog_event_filter_get() - get a marker's filter from the kernel
 * @event: the marker's event
 * @request: its size and index are set
 *
 * Makes a system call. May be called from signal handlers.
 *
 * Return: 0 or a negative errno, as eventlog(4) lists them; -ENOTCONN.
 */
int elog_event_filter_get(const struct elog_event *event, struct eventlog_filter_get *request);

#endif /* LIBELOG_PRODUCER_H */
