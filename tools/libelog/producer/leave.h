/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Giving the device up when the kernel asks for it, and counting what could not be emitted until
 * it is back. linux/eventlog.h says how the kernel asks.
 *
 * A program that has left is disconnected, see producer.c, and tries more often to connect.
 */
#ifndef LIBELOG_LEAVE_H
#define LIBELOG_LEAVE_H

#include "producer/state.h"

/* Does the kernel ask for the device? @bits: a status byte, not one of the library. */
static inline bool elog_leave_is_asked(unsigned int bits)
{
	return (bits & (EVENTLOG_STATUS_LEAVE | ELOG_STATUS_UNKNOWN)) == EVENTLOG_STATUS_LEAVE;
}

/**
 * elog_leave() - give the device up, if the kernel still asks for it
 * @event: its status byte had EVENTLOG_STATUS_LEAVE
 * @bits: the byte
 *
 * Counts the event, if it had a listener. Does nothing else if the lock is taken; the next event
 * tries again. If a thread stays in the kernel, an event 100 ms later does so. May be called
 * from signal handlers. Preserves errno.
 */
void elog_leave(struct registered_event *event, unsigned int bits);

/**
 * elog_leave_locked() - the same, for a producer whose lock is held
 * @producer: has a file; an event has EVENTLOG_STATUS_LEAVE, or could not be registered
 */
void elog_leave_locked(struct elog_producer *producer);

/**
 * elog_leave_count_awaited() - count an event that is not emitted, because the producer was away
 * @event: counts if it had a listener when the producer left
 *
 * For a thread that has found ELOG_AWAY: the producer may be back by now. Any context.
 */
void elog_leave_count_awaited(struct registered_event *event);

/**
 * elog_leave_lost() - disconnect a producer whose file the program has closed, or whose engine
 *	does not answer
 * @producer: locked and connected
 *
 * The next event connects again. Until that is possible, events that had a listener count.
 */
void elog_leave_lost(struct elog_producer *producer);

/**
 * elog_leave_count() - count an event that is not emitted
 * @event: the producer is not connected
 *
 * Counts it if the producer has left while the event had a listener.
 *
 * Return: false if the producer is not away: it may have come back since.
 */
bool elog_leave_count(struct registered_event *event);

/** elog_leave_miss() - count an event that has a listener and is not emitted */
void elog_leave_miss(struct registered_event *event);

/**
 * elog_leave_delay() - after what time to try again to connect, ns
 * @producer: locked
 * @normal: the answer for a producer that has not left, or did so long ago
 */
uint64_t elog_leave_delay(struct elog_producer *producer, uint64_t normal);

/**
 * elog_leave_gives_way() - let subscribers come first when the device is back
 * @producer: locked, and not connected
 *
 * Return: true: do not connect now. The next try is due soon.
 */
bool elog_leave_gives_way(struct elog_producer *producer);

/**
 * elog_leave_returned() - the producer is connected again
 * @producer: locked
 *
 * Tells the kernel how many events were not emitted.
 */
void elog_leave_returned(struct elog_producer *producer);

/**
 * elog_leave_report() - tell the kernel what elog_leave_returned() could not
 * @producer: @missed is set
 *
 * Because no one listened to the event yet. Does nothing if the lock is taken. Preserves errno.
 */
void elog_leave_report(struct elog_producer *producer);

/** elog_leave_forget() - in the child of a fork: the parent reports what it has counted */
void elog_leave_forget(struct elog_producer *producer);

#endif /* LIBELOG_LEAVE_H */
