// SPDX-License-Identifier: GPL-2.0-only
/*
 * Enabling: see enable.h.
 */
#include <linux/err.h>
#include <linux/sched.h>

#include "core/domain.h"
#include "core/enable.h"
#include "core/ops.h"
#include "core/sink.h"
#include "core/subscriber.h"
#include "memory.h"

static void eventlog_listeners_free_rcu(struct rcu_head *rcu)
{
	eventlog_free(container_of(rcu, struct eventlog_listeners, rcu));
}

static void eventlog_listeners_replace(struct eventlog_event *event,
				       struct eventlog_listeners *listeners)
{
	struct eventlog_provider_info *provider = event->provider;
	struct eventlog_domain *domain = event->domain;
	struct eventlog_listeners *old;

	old = rcu_dereference_protected(event->listeners, lockdep_is_held(&domain->lock));
	/* EVENTLOG_STATUS_ENABLED is never set while the event is disabled. */
	if (old && !listeners) {
		eventlog_domain_status_set(domain, event->slot, false, false);
		domain->busy--;
	}
	rcu_assign_pointer(event->listeners, listeners);
	if (listeners) {
		/* Publish the array before the bits that announce it. */
		smp_mb__before_atomic();
		eventlog_domain_status_set(domain, event->slot, true, listeners->sync);
		domain->busy += !old;
	}
	if (!old != !listeners && provider->kernel && list_empty(&provider->dirty_node))
		list_add_tail(&provider->dirty_node, &domain->dirty_providers);
	if (!old != !listeners && event->watch)
		eventlog_watch_ops->changed(event->watch);
	if (old)
		call_rcu(&old->rcu, eventlog_listeners_free_rcu);
}

/*
 * Fills the entry of a subscriber if one of its rules matches.  Stores the rules at
 * *@next_rule and advances *@next_rule past them.
 */
static bool eventlog_listener_fill(struct eventlog_listener *entry,
				   struct eventlog_subscriber *subscriber,
				   const struct eventlog_event *event,
				   struct eventlog_listener_rule **next_rule)
{
	struct eventlog_listener_rule *first_rule = *next_rule;
	struct eventlog_subscriber_rule *rule;
	bool conditional = true, filtered = false;

	list_for_each_entry(rule, &subscriber->rules, node) {
		if (!eventlog_rule_matches(rule, event))
			continue;
		if (!eventlog_rule_is_conditional(rule))
			conditional = false;
		(*next_rule)->rule = rule;
		(*next_rule)->predicate = rule->expression ?
			eventlog_rule_predicate(rule, event, false) : NULL;
		filtered |= !!rule->expression;
		(*next_rule)++;
	}
	if (*next_rule == first_rule)
		return false;
	/* A rule without conditions always passes: emission need not test any rule. */
	if (!conditional) {
		*next_rule = first_rule;
		filtered = false;
	}
	entry->subscriber = subscriber;
	entry->rules = first_rule;
	entry->rule_count = *next_rule - first_rule;
	entry->filtered = filtered;
	return true;
}

/*
 * Counts the rules of a subscriber that match, and binds their filters.  A filter that
 * another rule makes needless is bound as well: that rule may be removed later, and
 * then nothing may fail.
 *
 * Return: their number, or -ENOMEM.
 */
static int eventlog_subscriber_match(struct eventlog_subscriber *subscriber,
				     const struct eventlog_event *event, bool nofail)
{
	struct eventlog_subscriber_rule *rule;
	int count = 0;

	list_for_each_entry(rule, &subscriber->rules, node) {
		if (!eventlog_rule_matches(rule, event))
			continue;
		if (rule->expression && !eventlog_rule_predicate(rule, event, !nofail))
			return -ENOMEM;
		count++;
	}
	return count;
}

u32 eventlog_listener_sync(const struct eventlog_listener *entry)
{
	u32 sync = entry->subscriber->shard_count ? 0 : EVENTLOG_SYNC_RINGS;
	unsigned int i;

	for (i = 0; i < entry->rule_count; i++)
		sync |= entry->rules[i].rule->sync ? EVENTLOG_SYNC_FILTER : 0;
	return sync;
}

u32 eventlog_event_sync(const struct eventlog_event *event,
			const struct eventlog_subscriber **subscriber)
{
	const struct eventlog_listeners *listeners =
		rcu_dereference_protected(event->listeners, lockdep_is_held(&event->domain->lock));
	u32 sync = 0, more;
	unsigned int i;

	*subscriber = NULL;
	if (!listeners || event->provider->preamble)
		return 0;
	if (listeners->traced)
		sync |= EVENTLOG_SYNC_TRACER;
	if (listeners->called > listeners->count)
		sync |= EVENTLOG_SYNC_CALLBACK;
	for (i = 0; i < listeners->count; i++) {
		more = eventlog_listener_sync(&listeners->entries[i]);
		if (more && !*subscriber)
			*subscriber = listeners->entries[i].subscriber;
		sync |= more;
	}
	return sync;
}

/*
 * Makes the array for an event.  With @nofail, the function cannot fail: it uses an
 * allocation that cannot fail, and each subscriber whose rules match already has
 * counters and predicates for the event.
 *
 * Return: the array; NULL if the event has no subscriber and no tracer; or
 * ERR_PTR(-ENOMEM).
 */
static struct eventlog_listeners *eventlog_listeners_make(struct eventlog_event *event, bool nofail)
{
	bool traced = rcu_access_pointer(event->trace.tracers);
	struct eventlog_domain *domain = event->domain;
	struct eventlog_listener_rule *next_rule;
	struct eventlog_subscriber *subscriber;
	unsigned int subscribers = 0, rules = 0;
	enum eventlog_subscriber_kind kind;
	struct eventlog_listeners *listeners;
	size_t bytes;
	int matching;

	if (domain->dead)
		return NULL;
	list_for_each_entry(subscriber, &domain->subscribers, node) {
		matching = eventlog_subscriber_match(subscriber, event, nofail);
		if (matching < 0)
			return ERR_PTR(matching);
		rules += matching;
		subscribers += matching > 0;
	}
	if (!subscribers && !traced)
		return NULL;

	bytes = sizeof(*listeners) + subscribers * sizeof(listeners->entries[0]) +
		rules * sizeof(*next_rule);
	listeners = nofail ? eventlog_alloc_nofail(bytes) :
			     eventlog_alloc_as(bytes, eventlog_sinks_charged(domain));
	if (!listeners)
		return ERR_PTR(-ENOMEM);
	listeners->event = event;
	next_rule = (struct eventlog_listener_rule *)&listeners->entries[subscribers];

	for (kind = 0; kind < EVENTLOG_SUBSCRIBER_KINDS; kind++) {
		list_for_each_entry(subscriber, &domain->subscribers, node) {
			struct eventlog_listener *entry = &listeners->entries[listeners->listed];

			if (eventlog_subscriber_kind(subscriber) != kind ||
			    !eventlog_listener_fill(entry, subscriber, event, &next_rule))
				continue;
			if (kind == EVENTLOG_SUBSCRIBER_RINGS)
				entry->stats =
					eventlog_subscriber_stats(subscriber, event, !nofail);
			if (kind == EVENTLOG_SUBSCRIBER_RINGS && !entry->stats) {
				eventlog_free(listeners);
				return ERR_PTR(-ENOMEM);
			}
			if (kind == EVENTLOG_SUBSCRIBER_RINGS)
				listeners->sync |= !!eventlog_listener_sync(entry);
			listeners->listed++;
		}
		if (kind == EVENTLOG_SUBSCRIBER_RINGS)
			listeners->count = listeners->listed;
		if (kind == EVENTLOG_SUBSCRIBER_CALLBACK)
			listeners->called = listeners->listed;
	}
	listeners->traced = traced;
	listeners->others = traced || listeners->called > listeners->count;
	listeners->sync |= listeners->others;
	return listeners;
}

int eventlog_enable_event(struct eventlog_event *event)
{
	struct eventlog_listeners *listeners = eventlog_listeners_make(event, false);

	if (IS_ERR(listeners))
		return PTR_ERR(listeners);
	if (listeners)
		eventlog_listeners_replace(event, listeners);
	return 0;
}

void eventlog_enable_tracers_changed(struct eventlog_event *event)
{
	eventlog_listeners_replace(event, eventlog_listeners_make(event, true));
}

void eventlog_enable_event_clear(struct eventlog_event *event)
{
	eventlog_listeners_replace(event, NULL);
}

int eventlog_enable_rule_add(struct eventlog_subscriber *subscriber,
			     struct eventlog_subscriber_rule *rule)
{
	struct eventlog_domain *domain = subscriber->domain;
	struct eventlog_listeners *prepared = NULL, *listeners;
	struct eventlog_event *event;
	unsigned long descriptor;

	lockdep_assert_held(&domain->lock);
	if (domain->dead)
		return -ENODEV;
	list_add_tail(&rule->node, &subscriber->rules);
	xa_for_each(&domain->definitions, descriptor, event) {
		cond_resched();
		if (!event->slot || !eventlog_rule_matches(rule, event))
			continue;
		listeners = eventlog_listeners_make(event, false);
		if (IS_ERR(listeners))
			goto err_free;
		listeners->next = prepared;
		prepared = listeners;
	}
	/* All memory is allocated: the rest cannot fail. */
	while ((listeners = prepared)) {
		prepared = listeners->next;
		eventlog_listeners_replace(listeners->event, listeners);
	}
	return 0;

err_free:
	list_del(&rule->node);
	while ((listeners = prepared)) {
		prepared = listeners->next;
		eventlog_free(listeners);
	}
	return -ENOMEM;
}

void eventlog_enable_rule_remove(struct eventlog_subscriber *subscriber,
				 struct eventlog_subscriber_rule *rule)
{
	struct eventlog_domain *domain = subscriber->domain;
	struct eventlog_event *event;
	unsigned long descriptor;

	lockdep_assert_held(&domain->lock);
	list_del(&rule->node);
	xa_for_each(&domain->definitions, descriptor, event) {
		cond_resched();
		if (event->slot && eventlog_rule_matches(rule, event))
			eventlog_listeners_replace(event, eventlog_listeners_make(event, true));
	}
}

void eventlog_enable_subscriber_remove(struct eventlog_subscriber *subscriber)
{
	struct eventlog_domain *domain = subscriber->domain;
	struct eventlog_event *event;
	struct eventlog_subscriber_rule *rule;
	unsigned long descriptor;

	lockdep_assert_held(&domain->lock);
	xa_for_each(&domain->definitions, descriptor, event) {
		cond_resched();
		if (!event->slot)
			continue;
		list_for_each_entry(rule, &subscriber->rules, node) {
			if (eventlog_rule_matches(rule, event)) {
				eventlog_listeners_replace(event,
							   eventlog_listeners_make(event, true));
				break;
			}
		}
	}
}
