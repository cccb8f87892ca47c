// SPDX-License-Identifier: GPL-2.0-only
/*
 * Enabling: see enable.h.
 */
#include <linux/err.h>
#include <linux/glob.h>
#include <linux/sched.h>

#include "core/domain.h"
#include "core/enable.h"
#include "core/event.h"
#include "memory.h"
#include "core/subscriber.h"
#include "trace/attach.h"

bool eventlog_rule_matches(const struct eventlog_subscriber_rule *rule, const struct eventlog_event *event)
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

/* Is anything left to test when an event that matches the rule is emitted? */
static bool eventlog_rule_has_residue(const struct eventlog_subscriber_rule *rule)
{
	return rule->flags || rule->sample;
}

static void eventlog_wanted_free_rcu(struct rcu_head *rcu)
{
	eventlog_free(container_of(rcu, struct eventlog_wanted, rcu));
}

static void eventlog_wanted_replace(struct eventlog_event *event, struct eventlog_wanted *wanted)
{
	struct eventlog_provider_info *provider = event->provider;
	struct eventlog_domain *domain = event->domain;
	struct eventlog_wanted *old;

	old = rcu_dereference_protected(event->wanted, lockdep_is_held(&domain->lock));
	/* Never a set bit whose event refuses writes. */
	if (old && !wanted) {
		eventlog_domain_bits_set(domain, event->slot, false, false);
		domain->busy--;
	}
	rcu_assign_pointer(event->wanted, wanted);
	if (wanted) {
		/* The bits after what they promise. */
		smp_mb__before_atomic();
		eventlog_domain_bits_set(domain, event->slot, true, wanted->others);
		domain->busy += !old;
	}
	if (!old != !wanted && provider->kernel && list_empty(&provider->changed_node))
		list_add_tail(&provider->changed_node, &domain->changed_providers);
	if (old)
		call_rcu(&old->rcu, eventlog_wanted_free_rcu);
}

/*
 * Fills the entry of one subscriber if one of its rules matches, and moves
 * @next_rule behind the rules stored for it.
 */
static bool eventlog_wanted_entry_fill(struct eventlog_wanted_entry *entry,
				       struct eventlog_subscriber *subscriber,
				       const struct eventlog_event *event,
				       struct eventlog_subscriber_rule ***next_rule)
{
	struct eventlog_subscriber_rule **first_rule = *next_rule;
	struct eventlog_subscriber_rule *rule;
	bool residue = true;

	list_for_each_entry(rule, &subscriber->rules, node) {
		if (!eventlog_rule_matches(rule, event))
			continue;
		if (!eventlog_rule_has_residue(rule))
			residue = false;
		*(*next_rule)++ = rule;
	}
	if (*next_rule == first_rule)
		return false;
	/* One rule that asks nothing more makes the others pointless. */
	if (!residue)
		*next_rule = first_rule;
	entry->subscriber = subscriber;
	entry->rules = first_rule;
	entry->rule_count = *next_rule - first_rule;
	return true;
}

/*
 * Makes the array for an event.  @nofail: every subscriber found has its link
 * for the event already, and memory will be had.
 *
 * Return: the array, NULL when nobody wants the event, or ERR_PTR(-ENOMEM).
 */
static struct eventlog_wanted *eventlog_wanted_make(struct eventlog_event *event, bool nofail)
{
	struct eventlog_trace_event *trace = eventlog_trace_event_attached(event);
	struct eventlog_domain *domain = event->domain;
	struct eventlog_subscriber_rule **next_rule;
	struct eventlog_subscriber *subscriber;
	struct eventlog_subscriber_rule *rule;
	unsigned int subscribers = 0, rules = 0;
	enum eventlog_subscriber_kind kind;
	struct eventlog_wanted *wanted;
	size_t bytes;

	list_for_each_entry(subscriber, &domain->subscribers, node) {
		unsigned int before = rules;

		list_for_each_entry(rule, &subscriber->rules, node)
			rules += eventlog_rule_matches(rule, event);
		subscribers += rules != before;
	}
	if (!subscribers && !trace)
		return NULL;

	bytes = sizeof(*wanted) + subscribers * sizeof(wanted->entries[0]) +
		rules * sizeof(struct eventlog_subscriber_rule *);
	wanted = nofail ? eventlog_alloc_nofail(bytes) : eventlog_alloc(bytes);
	if (!wanted)
		return ERR_PTR(-ENOMEM);
	wanted->event = event;
	next_rule = (struct eventlog_subscriber_rule **)&wanted->entries[subscribers];

	for (kind = 0; kind < EVENTLOG_SUBSCRIBER_KINDS; kind++) {
		list_for_each_entry(subscriber, &domain->subscribers, node) {
			struct eventlog_wanted_entry *entry = &wanted->entries[wanted->listed];

			if (eventlog_subscriber_kind(subscriber) != kind ||
			    !eventlog_wanted_entry_fill(entry, subscriber, event, &next_rule))
				continue;
			if (kind == EVENTLOG_SUBSCRIBER_RINGS)
				entry->link = eventlog_subscriber_link(subscriber, event, !nofail);
			if (kind == EVENTLOG_SUBSCRIBER_RINGS && !entry->link) {
				eventlog_free(wanted);
				return ERR_PTR(-ENOMEM);
			}
			wanted->listed++;
		}
		if (kind == EVENTLOG_SUBSCRIBER_RINGS)
			wanted->count = wanted->listed;
		if (kind == EVENTLOG_SUBSCRIBER_CALLBACK)
			wanted->called = wanted->listed;
	}
	wanted->trace = trace;
	wanted->others = trace || wanted->called > wanted->count;
	return wanted;
}

int eventlog_enable_event(struct eventlog_event *event)
{
	struct eventlog_wanted *wanted = eventlog_wanted_make(event, false);

	if (IS_ERR(wanted))
		return PTR_ERR(wanted);
	if (wanted)
		eventlog_wanted_replace(event, wanted);
	return 0;
}

void eventlog_enable_tracers_changed(struct eventlog_event *event)
{
	eventlog_wanted_replace(event, eventlog_wanted_make(event, true));
}

void eventlog_enable_event_clear(struct eventlog_event *event)
{
	eventlog_wanted_replace(event, NULL);
}

int eventlog_enable_rule_add(struct eventlog_subscriber *subscriber, struct eventlog_subscriber_rule *rule)
{
	struct eventlog_domain *domain = subscriber->domain;
	struct eventlog_wanted *prepared = NULL, *wanted;
	struct eventlog_event *event;
	unsigned long descriptor;

	lockdep_assert_held(&domain->lock);
	list_add_tail(&rule->node, &subscriber->rules);
	xa_for_each(&domain->definitions, descriptor, event) {
		cond_resched();
		if (!event->slot || !eventlog_rule_matches(rule, event))
			continue;
		wanted = eventlog_wanted_make(event, false);
		if (IS_ERR(wanted))
			goto err_free;
		wanted->next = prepared;
		prepared = wanted;
	}
	/* All the memory is there: from here nothing fails. */
	while ((wanted = prepared)) {
		prepared = wanted->next;
		eventlog_wanted_replace(wanted->event, wanted);
	}
	return 0;

err_free:
	list_del(&rule->node);
	while ((wanted = prepared)) {
		prepared = wanted->next;
		eventlog_free(wanted);
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
			eventlog_wanted_replace(event, eventlog_wanted_make(event, true));
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
				eventlog_wanted_replace(event,
							eventlog_wanted_make(event, true));
				break;
			}
		}
	}
}
