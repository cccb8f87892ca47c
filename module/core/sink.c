// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rules and counters of a subscriber: see sink.h.
 */
#include <linux/eventlog.h>
#include <linux/glob.h>
#include <linux/lockdep.h>

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
	stats = eventlog_alloc(sizeof(*stats));
	if (!stats)
		return NULL;
	/* Earlier losses do not concern this subscriber. */
	stats->rcu_idle_before = eventlog_event_lost_rcu_idle(event);
	if (xa_err(xa_store(&subscriber->event_stats, event->descriptor, stats,
			    GFP_KERNEL_ACCOUNT))) {
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

void eventlog_event_stats_drop(const struct eventlog_event *event)
{
	struct eventlog_domain *domain = event->domain;
	struct eventlog_subscriber *subscriber;
	struct eventlog_event_stats *stats;

	lockdep_assert_held(&domain->lock);
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
