/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a subscriber keeps of the events that it listens to: its rules with their filters,
 * and one struct eventlog_event_stats per event for losses.  Used from the side of the event
 * (event.c, enable.c) and from that of the subscriber.  All under domain->lock.
 */
#ifndef EVENTLOG_SINK_H
#define EVENTLOG_SINK_H

#include "core/types.h"

/**
 * eventlog_sinks_charged() - is memory for rules and events charged to the calling process
 * @domain: the domain
 *
 * In the root it is not, because all users wait for the lock; subscribers have a capability.
 * In an instance it is, because the owner needs no capability.  Few wait for its lock, and not
 * long: see eventlog_alloc_as().
 */
static inline bool eventlog_sinks_charged(const struct eventlog_domain *domain)
{
	return domain->user;
}

/**
 * eventlog_rule_matches() - do the constant properties of an event match a rule
 * @rule: the rule
 * @event: the event; its domain locked
 */
bool eventlog_rule_matches(const struct eventlog_subscriber_rule *rule,
			   const struct eventlog_event *event);

/**
 * eventlog_rule_is_conditional() - must emission test the rule
 * @rule: the rule
 *
 * Return: true if the rule has conditions beside the constant properties.
 */
static inline bool eventlog_rule_is_conditional(const struct eventlog_subscriber_rule *rule)
{
	return rule->flags || rule->sample || rule->expression;
}

/**
 * eventlog_rule_free() - free a rule
 * @rule: in no list; no writer can find it any more
 */
void eventlog_rule_free(struct eventlog_subscriber_rule *rule);

/**
 * eventlog_rule_predicate() - a rule's filter, bound to an event
 * @rule: with a filter, its domain locked
 * @event: an event that the rule matches
 * @make: bind the filter if it is not bound yet
 *
 * Return: the predicate, which lives until the rule is freed or the definition is
 * forgotten; or NULL.
 */
const struct eventlog_predicate *eventlog_rule_predicate(struct eventlog_subscriber_rule *rule,
							 const struct eventlog_event *event,
							 bool make);

/**
 * eventlog_rule_bind() - bind a new rule's filter to all live events that it matches
 * @domain: not locked, except its update_lock
 * @rule: in no list yet; with a filter
 *
 * Binding takes long with many events: it takes the lock only to find them.
 *
 * Return: 0 or -ENOMEM.
 */
int eventlog_rule_bind(struct eventlog_domain *domain, struct eventlog_subscriber_rule *rule);

/**
 * eventlog_rule_counts() - what a rule's filter has rejected so far
 * @rule: the rule
 *
 * Return: the sums over all CPUs; zeroes if there is no filter.
 */
struct eventlog_filter_counts eventlog_rule_counts(const struct eventlog_subscriber_rule *rule);

/**
 * eventlog_event_lost_rcu_idle() - events emitted where RCU was not watching
 * @event: its domain locked
 */
u64 eventlog_event_lost_rcu_idle(const struct eventlog_event *event);

/**
 * eventlog_subscriber_stats() - a subscriber's counters of an event
 * @subscriber: its domain locked
 * @event: the event
 * @make: make the counters if there are none
 *
 * Return: the counters, which live until the subscriber is freed or the definition
 * is forgotten; or NULL.
 */
struct eventlog_event_stats *eventlog_subscriber_stats(struct eventlog_subscriber *subscriber,
						       const struct eventlog_event *event,
						       bool make);

/**
 * eventlog_event_stats_rcu_idle() - losses of an event that no ring could count
 * @stats: a subscriber's counters of the event
 * @event: the event, its domain locked
 */
u64 eventlog_event_stats_rcu_idle(const struct eventlog_event_stats *stats,
				  const struct eventlog_event *event);

/**
 * eventlog_sinks_bytes() - the memory of the counters that subscribers keep of an event
 * @event: its domain locked
 */
size_t eventlog_sinks_bytes(const struct eventlog_event *event);

/**
 * eventlog_sinks_unbind() - free what the filters of all rules were bound to
 * @event: without listeners, its domain locked; writers may still use the predicates, in
 *	RCU read-side sections
 */
void eventlog_sinks_unbind(const struct eventlog_event *event);

/**
 * eventlog_sinks_forget() - drop what all subscribers keep of an event
 * @event: a definition to be forgotten, its domain locked; writers may still use
 *	counters and predicates, in RCU read-side sections
 */
void eventlog_sinks_forget(const struct eventlog_event *event);

/**
 * eventlog_subscriber_oldest() - the subscriber that has been open for longest
 * @domain: locked
 *
 * Return: the subscriber, or NULL.
 */
struct eventlog_subscriber *eventlog_subscriber_oldest(struct eventlog_domain *domain);

#endif /* EVENTLOG_SINK_H */
