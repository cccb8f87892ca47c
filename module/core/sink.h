/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a subscriber keeps of the events that it listens to.
 *
 * A rule is matched with an event once, when one of them is new.  The result is a binding.
 * The bindings of a subscriber's rules to an event belong to a sink, which has what
 * emission tests.  Beside it there are the counters of losses, which live longer.  enable.c
 * makes the arrays that emission reads from the sinks.
 *
 * All under domain->lock.  Emission reads struct eventlog_sink_rules, predicates, rules and
 * counters under RCU.
 */
#ifndef EVENTLOG_SINK_H
#define EVENTLOG_SINK_H

#include "core/types.h"
#include "memory.h"

/* Limit of the memory of all sinks, bindings and counters of an instance. */
#define EVENTLOG_SINK_BYTES_MAX (64UL << 20)

/* What emission tests if there is nothing to test; it never passes. */
extern const struct eventlog_listener_rule eventlog_listener_rule_never;

/**
 * eventlog_sinks_charged() - is memory for rules and events charged to the calling process
 * @domain: the domain
 *
 * In the root it is not, because all users wait for the lock; subscribers have a capability.
 * In an instance it is, because the owner needs no capability.  Few wait for its lock, and not
 * long: see eventlog_alloc_as().  Who has added a rule pays for it, not who registers an event.
 */
static inline bool eventlog_sinks_charged(const struct eventlog_domain *domain)
{
	return domain->user;
}

/**
 * eventlog_sinks_charge() - how memory for rules and events is charged
 * @domain: the domain
 * @own: the rule is the caller's; otherwise the call must not take longer because the rule exists
 */
static inline enum eventlog_charge eventlog_sinks_charge(const struct eventlog_domain *domain,
							 bool own)
{
	if (!eventlog_sinks_charged(domain))
		return EVENTLOG_CHARGE_NONE;
	return own ? EVENTLOG_CHARGE_CALLER : EVENTLOG_CHARGE_OTHER;
}

/* ---- terms ---- */

/**
 * eventlog_event_limits_terms() - is the number of terms that emission tests limited
 * @event: the event
 *
 * Any context.
 */
bool eventlog_event_limits_terms(const struct eventlog_event *event);

/* ---- rules ---- */

/**
 * eventlog_rule_matches() - do the constant properties of an event match a rule
 * @rule: the rule
 * @event: the event; its domain locked
 *
 * Matching a long name with a glob takes long: counts steps of domain->lock for it.
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
 * eventlog_rule_get() - take a reference to a rule
 * @rule: in a list, its domain locked
 */
static inline void eventlog_rule_get(struct eventlog_subscriber_rule *rule)
{
	refcount_inc(&rule->users);
}

/**
 * eventlog_rule_put() - drop a reference to a rule; the last one frees it
 * @rule: in no list and without bindings if it is the last one; no writer can find it then
 */
void eventlog_rule_put(struct eventlog_subscriber_rule *rule);

/**
 * eventlog_rule_counts() - what a rule's filter has rejected so far
 * @rule: the rule
 *
 * Return: the sums over all CPUs; zeroes if there is no filter.
 */
struct eventlog_filter_counts eventlog_rule_counts(const struct eventlog_subscriber_rule *rule);

/* ---- sinks and bindings ---- */

/**
 * eventlog_sink_find() - find the sink of a subscriber
 * @event: its domain locked
 * @subscriber: the subscriber
 *
 * Return: the sink, or NULL.
 */
struct eventlog_sink *eventlog_sink_find(const struct eventlog_event *event,
					 const struct eventlog_subscriber *subscriber);

/**
 * eventlog_sink_bind() - bind a rule to an event that it matches
 * @rule: in the lists, its domain locked
 * @event: live, or being made
 * @predicate: the rule's filter, bound to the event; taken over on success
 * @old: set to an array that the event's listeners may still refer to, or NULL; the caller
 *	frees it with eventlog_sink_rules_free() once there are new ones
 *
 * Return: the sink; ERR_PTR: -EDQUOT: the domain's limit is reached, or that of terms; -ENOMEM.
 */
struct eventlog_sink *eventlog_sink_bind(struct eventlog_subscriber_rule *rule,
					 struct eventlog_event *event,
					 struct eventlog_predicate *predicate,
					 struct eventlog_sink_rules **old);

/**
 * eventlog_sink_compact() - make an array of rules without the removed ones, if many were
 * @sink: of a live event, its domain locked
 *
 * Return: the old array, as with eventlog_sink_bind(); NULL: nothing was changed.
 */
struct eventlog_sink_rules *eventlog_sink_compact(struct eventlog_sink *sink);

/**
 * eventlog_sink_rules_free() - free an array of rules after an RCU grace period
 * @rules: the array, or NULL
 */
void eventlog_sink_rules_free(struct eventlog_sink_rules *rules);

/**
 * eventlog_binding_free() - unbind a rule from an event
 * @binding: its domain locked
 *
 * Emission no longer tests the rule.  If it was the last binding of an event that has
 * ended, the sink is freed, too; that of a live event is left to the caller.
 */
void eventlog_binding_free(struct eventlog_binding *binding);

/**
 * eventlog_sink_end() - take a sink from its event
 * @sink: the event's listeners do not refer to it, its domain locked
 *
 * It is freed with its last binding.
 */
void eventlog_sink_end(struct eventlog_sink *sink);

/**
 * eventlog_sinks_end() - take all sinks from an event
 * @event: without listeners, its domain locked
 *
 * The caller calls eventlog_sinks_reap() later.
 */
void eventlog_sinks_end(struct eventlog_event *event);

/**
 * eventlog_sinks_reap() - free what is left of sinks whose events have ended
 * @domain: not locked
 *
 * Process context.  To be called after whatever may have ended an event.
 */
void eventlog_sinks_reap(struct eventlog_domain *domain);

/**
 * eventlog_sinks_move() - give sinks and counters to another event
 * @to: the same definition, which comes back to life, its domain locked
 * @from: a definition that will not be used
 */
void eventlog_sinks_move(struct eventlog_event *to, struct eventlog_event *from);

/* ---- counters of events ---- */

/**
 * eventlog_event_lost_rcu_idle() - events emitted where RCU was not watching
 * @event: its domain locked
 */
u64 eventlog_event_lost_rcu_idle(const struct eventlog_event *event);

/**
 * eventlog_event_stats() - a subscriber's counters of an event
 * @event: its domain locked
 * @subscriber: the subscriber
 *
 * Return: the counters, or NULL: it has never listened to the event.
 */
struct eventlog_event_stats *eventlog_event_stats(const struct eventlog_event *event,
						  const struct eventlog_subscriber *subscriber);

/**
 * eventlog_event_stats_rcu_idle() - losses of an event that no ring could count
 * @stats: a subscriber's counters of the event, its domain locked
 */
u64 eventlog_event_stats_rcu_idle(const struct eventlog_event_stats *stats);

/**
 * eventlog_event_stats_bytes() - the memory of the counters that subscribers keep of an event
 * @event: its domain locked
 */
size_t eventlog_event_stats_bytes(const struct eventlog_event *event);

/**
 * eventlog_event_stats_drop() - drop the counters that subscribers keep of an event
 * @event: a definition to be forgotten, its domain locked; writers may still use
 *	them, in RCU read-side sections
 */
void eventlog_event_stats_drop(struct eventlog_event *event);

/**
 * eventlog_subscriber_rcu_idle() - losses that no ring could count, of all events
 * @subscriber: its domain locked
 *
 * Return: the sum over all events that the subscriber ever listened to.  The sum is never
 * too small.  It may be too large, because it includes losses at times when the rules of
 * the subscriber did not match.
 */
u64 eventlog_subscriber_rcu_idle(const struct eventlog_subscriber *subscriber);

/**
 * eventlog_subscriber_stats_free() - free all counters of a subscriber
 * @subscriber: has ended, and no writer uses it; its domain not locked
 */
void eventlog_subscriber_stats_free(struct eventlog_subscriber *subscriber);

/**
 * eventlog_subscriber_oldest() - the subscriber that has been open for longest
 * @domain: locked
 *
 * Return: the subscriber, or NULL.
 */
struct eventlog_subscriber *eventlog_subscriber_oldest(struct eventlog_domain *domain);

#endif /* EVENTLOG_SINK_H */
