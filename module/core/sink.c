// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rules and counters of a subscriber: see sink.h.
 */
#include <linux/eventlog.h>
#include <linux/glob.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>

#include "core/event.h"
#include "core/filter.h"
#include "core/sink.h"
#include "core/subscriber.h"
#include "memory.h"

bool eventlog_rule_matches(const struct eventlog_subscriber_rule *rule,
			   const struct eventlog_event *event)
{
	if (rule->level && event->level > rule->level)
		return false;
	if (rule->keywords_any && !(event->keywords & rule->keywords_any))
		return false;
	if ((event->keywords & rule->keywords_all) != rule->keywords_all)
		return false;
	return glob_match(rule->provider, event->provider->name) &&
	       glob_match(rule->event, event->name);
}

/* ---- filters of rules ---- */

void eventlog_rule_free(struct eventlog_subscriber_rule *rule)
{
	struct eventlog_predicate *predicate;
	unsigned long descriptor;

	if (rule->expression) {
		xa_for_each(&rule->predicates, descriptor, predicate)
			eventlog_predicates_free(predicate);
		xa_destroy(&rule->predicates);
		eventlog_expression_put(rule->expression);
		free_percpu(rule->counts);
	}
	eventlog_free(rule);
}

/* Binds a rule's filter to the fields of an event, and stores the predicate. */
static const struct eventlog_predicate *
eventlog_rule_predicate_make(struct eventlog_subscriber_rule *rule,
			     const struct eventlog_event *event,
			     const struct eventlog_provider *provider)
{
	struct eventlog_predicate *predicate;

	predicate = eventlog_predicate_bind_event(rule->expression, event->fields_text, provider,
						  eventlog_sinks_charged(event->domain));
	if (!predicate)
		return NULL;
	if (xa_err(xa_store(&rule->predicates, event->descriptor, predicate, GFP_KERNEL))) {
		eventlog_predicates_free(predicate);
		return NULL;
	}
	return predicate;
}

const struct eventlog_predicate *eventlog_rule_predicate(struct eventlog_subscriber_rule *rule,
							 const struct eventlog_event *event,
							 bool make)
{
	const struct eventlog_predicate *predicate;

	predicate = xa_load(&rule->predicates, event->descriptor);
	if (predicate || !make)
		return predicate;
	return eventlog_rule_predicate_make(rule, event, eventlog_event_sets(event));
}

/* The live event with the lowest descriptor above @descriptor that the rule matches. */
static struct eventlog_event *eventlog_rule_match_after(struct eventlog_domain *domain,
							const struct eventlog_subscriber_rule *rule,
							unsigned long descriptor)
{
	struct eventlog_event *event;

	while ((event = xa_find_after(&domain->definitions, &descriptor, U32_MAX, XA_PRESENT))) {
		if (event->slot && eventlog_rule_matches(rule, event))
			return event;
		cond_resched();
	}
	return NULL;
}

int eventlog_rule_bind(struct eventlog_domain *domain, struct eventlog_subscriber_rule *rule)
{
	const struct eventlog_predicate *predicate;
	const struct eventlog_provider *provider;
	struct eventlog_event *event;
	unsigned long descriptor = 0;

	/* Kernel providers cannot go meanwhile, and with them the names in their tables. */
	lockdep_assert_held(&domain->update_lock);
	for (;;) {
		eventlog_domain_lock(domain);
		event = eventlog_rule_match_after(domain, rule, descriptor);
		if (event) {
			eventlog_event_hold(event);
			provider = eventlog_event_sets(event);
		}
		eventlog_domain_unlock(domain);
		if (!event)
			return 0;
		descriptor = event->descriptor;
		predicate = eventlog_rule_predicate_make(rule, event, provider);
		eventlog_event_release(event);
		if (!predicate)
			return -ENOMEM;
		cond_resched();
	}
}

struct eventlog_filter_counts eventlog_rule_counts(const struct eventlog_subscriber_rule *rule)
{
	const struct eventlog_filter_counts *counts;
	struct eventlog_filter_counts sum = {};
	int cpu;

	if (!rule->counts)
		return sum;
	for_each_possible_cpu(cpu) {
		counts = per_cpu_ptr(rule->counts, cpu);
		sum.rejected += READ_ONCE(counts->rejected);
		sum.incompatible += READ_ONCE(counts->incompatible);
	}
	return sum;
}

/* ---- counters of events ---- */

u64 eventlog_event_lost_rcu_idle(const struct eventlog_event *event)
{
	struct eventlog_provider_event *source = event->source;

	return event->lost_rcu_idle +
	       (source ? (unsigned long)atomic_long_read(&source->lost_rcu_idle) : 0);
}

struct eventlog_event_stats *eventlog_subscriber_stats(struct eventlog_subscriber *subscriber,
						       const struct eventlog_event *event,
						       bool make)
{
	struct eventlog_event_stats *stats = xa_load(&subscriber->event_stats, event->descriptor);

	if (stats || !make)
		return stats;
	stats = eventlog_alloc_as(sizeof(*stats), eventlog_sinks_charged(event->domain));
	if (!stats)
		return NULL;
	/* Earlier losses do not concern this subscriber. */
	stats->rcu_idle_before = eventlog_event_lost_rcu_idle(event);
	if (xa_err(xa_store(&subscriber->event_stats, event->descriptor, stats,
			    GFP_KERNEL))) {
		eventlog_free(stats);
		return NULL;
	}
	return stats;
}

static void eventlog_event_stats_free_rcu(struct rcu_head *rcu)
{
	eventlog_free(container_of(rcu, struct eventlog_event_stats, rcu));
}

u64 eventlog_event_stats_rcu_idle(const struct eventlog_event_stats *stats,
				  const struct eventlog_event *event)
{
	return eventlog_event_lost_rcu_idle(event) - stats->rcu_idle_before;
}

size_t eventlog_sinks_bytes(const struct eventlog_event *event)
{
	struct eventlog_domain *domain = event->domain;
	struct eventlog_subscriber *subscriber;
	size_t bytes = 0;

	lockdep_assert_held(&domain->lock);
	list_for_each_entry(subscriber, &domain->subscribers, node)
		if (eventlog_subscriber_stats(subscriber, event, false))
			bytes += sizeof(struct eventlog_event_stats);
	return bytes;
}

void eventlog_sinks_unbind(const struct eventlog_event *event)
{
	struct eventlog_domain *domain = event->domain;
	struct eventlog_subscriber *subscriber;
	struct eventlog_subscriber_rule *rule;

	lockdep_assert_held(&domain->lock);
	list_for_each_entry(subscriber, &domain->subscribers, node)
		list_for_each_entry(rule, &subscriber->rules, node)
			if (rule->expression)
				eventlog_predicates_free(xa_erase(&rule->predicates,
								  event->descriptor));
}

void eventlog_sinks_forget(const struct eventlog_event *event)
{
	struct eventlog_domain *domain = event->domain;
	struct eventlog_subscriber *subscriber;
	struct eventlog_event_stats *stats;

	eventlog_sinks_unbind(event);
	list_for_each_entry(subscriber, &domain->subscribers, node) {
		stats = xa_erase(&subscriber->event_stats, event->descriptor);
		if (!stats)
			continue;
		/* The subscriber's total keeps what was counted. */
		atomic_long_add(eventlog_event_stats_rcu_idle(stats, event),
				&subscriber->lost[EVENTLOG_LOST_DEPTH]);
		call_rcu(&stats->rcu, eventlog_event_stats_free_rcu);
	}
}

struct eventlog_subscriber *eventlog_subscriber_oldest(struct eventlog_domain *domain)
{
	lockdep_assert_held(&domain->lock);
	return list_first_entry_or_null(&domain->subscribers, struct eventlog_subscriber, node);
}
