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

u64 eventlog_event_lost_not_watching(const struct eventlog_event *event)
{
	struct eventlog_provider_event *source = event->source;

	return event->lost_not_watching +
	       (source ? (unsigned long)atomic_long_read(&source->lost_not_watching) : 0);
}

struct eventlog_link *eventlog_subscriber_link(struct eventlog_subscriber *subscriber,
					       const struct eventlog_event *event, bool make)
{
	struct eventlog_link *link = xa_load(&subscriber->links, event->descriptor);

	if (link || !make)
		return link;
	link = eventlog_alloc(sizeof(*link));
	if (!link)
		return NULL;
	/* Earlier losses do not concern this subscriber. */
	link->not_watching_before = eventlog_event_lost_not_watching(event);
	if (xa_err(xa_store(&subscriber->links, event->descriptor, link, GFP_KERNEL_ACCOUNT))) {
		eventlog_free(link);
		return NULL;
	}
	return link;
}

static void eventlog_link_free_rcu(struct rcu_head *rcu)
{
	eventlog_free(container_of(rcu, struct eventlog_link, rcu));
}

u64 eventlog_link_not_watching(const struct eventlog_link *link,
			       const struct eventlog_event *event)
{
	return eventlog_event_lost_not_watching(event) - link->not_watching_before;
}

void eventlog_subscribers_unlink(const struct eventlog_event *event)
{
	struct eventlog_domain *domain = event->domain;
	struct eventlog_subscriber *subscriber;
	struct eventlog_link *link;

	lockdep_assert_held(&domain->lock);
	list_for_each_entry(subscriber, &domain->subscribers, node) {
		link = xa_erase(&subscriber->links, event->descriptor);
		if (!link)
			continue;
		/* The subscriber's total keeps what was counted. */
		atomic_long_add(eventlog_link_not_watching(link, event),
				&subscriber->lost[EVENTLOG_LOST_DEPTH]);
		call_rcu(&link->rcu, eventlog_link_free_rcu);
	}
}

struct eventlog_subscriber *eventlog_subscriber_oldest(struct eventlog_domain *domain)
{
	lockdep_assert_held(&domain->lock);
	return list_first_entry_or_null(&domain->subscribers, struct eventlog_subscriber, node);
}
