/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Enabling: who wants which event.
 *
 * Rules are matched against events when either changes, under domain->lock.
 * The outcome hangs on each event as an array of (subscriber, what is left to
 * test), which emission reads under RCU (preemption off); NULL when nobody
 * wants the event.  The status bit follows it.
 */
#ifndef EVENTLOG_ENABLE_H
#define EVENTLOG_ENABLE_H

#include "core/types.h"

/**
 * eventlog_enable_event() - find out who wants an event that comes to life
 * @event: with a slot, its domain locked
 *
 * Return: 0 or -ENOMEM.
 */
int eventlog_enable_event(struct eventlog_event *event);

/**
 * eventlog_enable_tracers_changed() - tracers were attached to an event, or the last has gone
 * @event: with a slot, its domain locked
 */
void eventlog_enable_tracers_changed(struct eventlog_event *event);

/**
 * eventlog_enable_event_clear() - an event ends: nobody wants it any more
 * @event: with a slot, its domain locked
 */
void eventlog_enable_event_clear(struct eventlog_event *event);

/**
 * eventlog_enable_rule_add() - put a new rule into force
 * @subscriber: its domain locked
 * @rule: in none of its lists yet
 *
 * Return: 0 or -ENOMEM; then nothing is changed and @rule is still the caller's.
 */
int eventlog_enable_rule_add(struct eventlog_subscriber *subscriber, struct eventlog_subscriber_rule *rule);

/**
 * eventlog_enable_rule_remove() - put a rule out of force
 * @subscriber: its domain locked
 * @rule: one of its rules; the caller frees it after an RCU grace period
 */
void eventlog_enable_rule_remove(struct eventlog_subscriber *subscriber,
				 struct eventlog_subscriber_rule *rule);

/**
 * eventlog_enable_subscriber_remove() - put all rules of a subscriber out of force
 * @subscriber: its domain locked, already out of the domain's list.  Its rules
 *	are left in its list, to be freed after an RCU grace period.
 */
void eventlog_enable_subscriber_remove(struct eventlog_subscriber *subscriber);

#endif /* EVENTLOG_ENABLE_H */
