/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Enabling: which subscribers get which events.
 *
 * Rules are matched against events whenever either change, under domain->lock.
 * Each event points to the result, an array of its subscribers with the rules that
 * emission has to test.  Emission reads the array under RCU with preemption off.
 * The pointer is NULL when the event is disabled.  The event's status bit follows
 * the pointer.
 */
#ifndef EVENTLOG_ENABLE_H
#define EVENTLOG_ENABLE_H

#include "core/types.h"

/**
 * eventlog_listener_sync() - why a subscriber with rings cannot use producer rings
 * @entry: its entry in an array that cannot change or is not published
 *
 * Return: EVENTLOG_SYNC_RINGS, EVENTLOG_SYNC_FILTER, both or 0.
 */
u32 eventlog_listener_sync(const struct eventlog_listener *entry);

/**
 * eventlog_event_sync() - why producers must call write() for an event
 * @event: its domain locked
 * @subscriber: set to one of the subscribers with rings that are a reason, or NULL
 *
 * Return: EVENTLOG_SYNC_*; 0 for events of the kernel, which are not emitted by write().
 */
u32 eventlog_event_sync(const struct eventlog_event *event,
			const struct eventlog_subscriber **subscriber);

/**
 * eventlog_enable_event() - enable a new event if a rule matches or a tracer is attached
 * @event: with a slot, its domain locked
 *
 * Return: 0 or -ENOMEM.
 */
int eventlog_enable_event(struct eventlog_event *event);

/**
 * eventlog_enable_tracers_changed() - the first tracer was attached, or the last detached
 * @event: with a slot, its domain locked; event->trace.tracers is up to date
 */
void eventlog_enable_tracers_changed(struct eventlog_event *event);

/**
 * eventlog_enable_event_clear() - disable an event that ends
 * @event: with a slot, its domain locked
 */
void eventlog_enable_event_clear(struct eventlog_event *event);

/**
 * eventlog_enable_rule_add() - apply a new rule
 * @subscriber: its domain locked
 * @rule: not in the subscriber's list yet
 *
 * Return: 0, or -ENOMEM: then nothing is changed, and the caller still owns @rule.
 */
int eventlog_enable_rule_add(struct eventlog_subscriber *subscriber,
			     struct eventlog_subscriber_rule *rule);

/**
 * eventlog_enable_rule_remove() - stop applying a rule
 * @subscriber: its domain locked
 * @rule: one of its rules; the caller frees it after an RCU grace period
 */
void eventlog_enable_rule_remove(struct eventlog_subscriber *subscriber,
				 struct eventlog_subscriber_rule *rule);

/**
 * eventlog_enable_subscriber_remove() - stop applying all rules of a subscriber
 * @subscriber: its domain locked; it is no longer in the domain's list.  Its rules
 *	stay in its own list; the caller frees them after an RCU grace period
 */
void eventlog_enable_subscriber_remove(struct eventlog_subscriber *subscriber);

#endif /* EVENTLOG_ENABLE_H */
