/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Enabling: which subscribers get which events.
 *
 * Each event points to an array of its subscribers with the rules that emission has to
 * test, which is made from the event's sinks, see sink.h, whenever these change.  Emission
 * reads the array under RCU with preemption off.  The pointer is NULL when the event is
 * disabled.  The event's status bit follows the pointer.
 *
 * Nothing that removes a rule or a subscriber can fail, because it edits the array in place
 * if there is no memory for a new one.  Nor can a rule make the registration of an event fail:
 * without memory, its subscriber misses the event, which counts as a loss.
 *
 * domain->lock protects all of it, and is released after each batch of work.  RULE_ADD
 * adds a rule to the lists first, so that definitions which are made meanwhile are matched
 * with it, and then visits the live events.  A definition is matched with all rules before
 * it is published.
 */
#ifndef EVENTLOG_ENABLE_H
#define EVENTLOG_ENABLE_H

#include "core/types.h"

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
 * eventlog_enable_prepare() - match an event that is being made with all rules
 * @event: not published; its domain not locked
 * @place: where to begin; is moved behind the last rule.  Not in a list: begin at the first
 *	one.  The caller calls eventlog_enable_prepared()
 *
 * Process context.  A subscriber for which there is no memory does not get the event.
 *
 * Return: 0, or -EINTR: a fatal signal is pending.
 */
int eventlog_enable_prepare(struct eventlog_event *event, struct eventlog_rule_place *place);

/**
 * eventlog_enable_is_prepared() - was an event matched with all rules
 * @domain: locked
 * @place: of eventlog_enable_prepare()
 *
 * Return: false: rules were added since; prepare again.
 */
bool eventlog_enable_is_prepared(struct eventlog_domain *domain,
				 const struct eventlog_rule_place *place);

/**
 * eventlog_enable_prepared() - end eventlog_enable_prepare()
 * @place: its domain locked.  In no list afterwards
 */
void eventlog_enable_prepared(struct eventlog_rule_place *place);

/**
 * eventlog_enable_event() - enable a new event if a rule matches or a tracer is attached
 * @event: with a slot, matched with all rules, its domain locked
 *
 * Without memory, no subscriber gets the event.  The caller calls eventlog_sinks_reap() later.
 */
void eventlog_enable_event(struct eventlog_event *event);

/**
 * eventlog_enable_tracers_changed() - the first tracer was attached, or the last detached
 * @event: with a slot, its domain locked; event->trace.tracers is up to date
 *
 * Takes a few instructions, and allocates nothing.
 */
void eventlog_enable_tracers_changed(struct eventlog_event *event);

/**
 * eventlog_enable_status_refresh() - give an event the status byte that its listeners call for
 * @event: with a slot, its domain locked
 */
void eventlog_enable_status_refresh(const struct eventlog_event *event);

/**
 * eventlog_enable_event_clear() - disable an event that ends
 * @event: with a slot, its domain locked
 */
void eventlog_enable_event_clear(struct eventlog_event *event);

/**
 * eventlog_enable_rule_add() - apply a new rule
 * @subscriber: its domain not locked, except its update_lock
 * @rule: in no list yet
 *
 * Process context.  Until it returns, the rule applies to some events.
 *
 * Return: 0; -ENODEV: the domain is dead; -EINTR: a fatal signal is pending; -EDQUOT; -ENOMEM.
 * On errors the rule is in no list, but writers may still test it until an RCU grace period
 * has ended.
 */
int eventlog_enable_rule_add(struct eventlog_subscriber *subscriber,
			     struct eventlog_subscriber_rule *rule);

/**
 * eventlog_enable_rule_remove() - stop applying a rule
 * @rule: in the lists, its domain not locked, except its update_lock; the caller takes it
 *	out of the subscriber's list, and puts it after an RCU grace period
 */
void eventlog_enable_rule_remove(struct eventlog_subscriber_rule *rule);

/**
 * eventlog_enable_subscriber_remove() - stop applying all rules of a subscriber
 * @subscriber: its domain not locked, except its update_lock; it is no longer in the
 *	domain's list.  Its rules stay in its own list; the caller puts them after an RCU
 *	grace period
 */
void eventlog_enable_subscriber_remove(struct eventlog_subscriber *subscriber);

/**
 * eventlog_enable_rule_selects() - does the newest rule of a subscriber match an event
 * @rule: the rule, its domain locked
 * @event: live
 */
bool eventlog_enable_rule_selects(const struct eventlog_subscriber_rule *rule,
				  const struct eventlog_event *event);

#endif /* EVENTLOG_ENABLE_H */
