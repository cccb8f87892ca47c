// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sinks, bindings and counters: see sink.h.
 */
#include <linux/err.h>
#include <linux/eventlog.h>
#include <linux/lockdep.h>
#include <linux/memcontrol.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/sched/mm.h>
#include <linux/string.h>

#include "compat.h"
#include "core/event.h"
#include "core/filter.h"
#include "core/glob.h"
#include "core/sink.h"
#include "core/subscriber.h"
#include "memory.h"

/* No process has this id. */
static struct eventlog_subscriber_rule eventlog_rule_never = {
	.flags = EVENTLOG_RULE_PID, .pid = U32_MAX,
};

const struct eventlog_listener_rule eventlog_listener_rule_never = {
	.rule = &eventlog_rule_never,
};

/* ---- rules ---- */

bool eventlog_rule_matches(const struct eventlog_subscriber_rule *rule,
			   const struct eventlog_event *event)
{
	struct eventlog_domain *domain = event->domain;

	eventlog_domain_work(domain, 1);
	if (rule->level && event->level > rule->level)
		return false;
	if (rule->keywords_any && !(event->keywords & rule->keywords_any))
		return false;
	if ((event->keywords & rule->keywords_all) != rule->keywords_all)
		return false;
	return eventlog_glob_match(domain, rule->provider, event->provider->name) &&
	       eventlog_glob_match(domain, rule->event, event->name);
}

void eventlog_rule_put(struct eventlog_subscriber_rule *rule)
{
	if (!refcount_dec_and_test(&rule->users))
		return;
	if (rule->expression) {
		eventlog_expression_put(rule->expression);
		free_percpu(rule->counts);
	}
	mem_cgroup_put(rule->memcg);
	eventlog_free(rule);
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

/* ---- memory ---- */

/* A sink has an entry in two arrays of listeners for a short time. */
static size_t eventlog_sink_bytes(void)
{
	return eventlog_alloc_bytes(sizeof(struct eventlog_sink)) +
	       2 * sizeof(struct eventlog_listener);
}

static size_t eventlog_stats_bytes(void)
{
	return eventlog_alloc_bytes(sizeof(struct eventlog_event_stats));
}

/* An array of rules is at most twice as large as necessary. */
static size_t eventlog_binding_bytes(const struct eventlog_subscriber_rule *rule,
				     const struct eventlog_predicate *predicate)
{
	return eventlog_alloc_bytes(sizeof(struct eventlog_binding)) +
	       (eventlog_rule_is_conditional(rule) ?
		2 * sizeof(struct eventlog_listener_rule) : 0) +
	       (predicate ? eventlog_alloc_bytes(struct_size(predicate, tests, predicate->count)) :
			    0);
}

/* A new rule may use half of the limit, so that programs can still register events. */
static bool eventlog_sink_charge(struct eventlog_domain *domain, const struct eventlog_event *event,
				 size_t bytes)
{
	size_t most = event->slot ? domain->sink_bytes_max / 2 : domain->sink_bytes_max;

	if (domain->sink_bytes > most || bytes > most - domain->sink_bytes)
		return false;
	domain->sink_bytes += bytes;
	return true;
}

static void eventlog_sink_uncharge(struct eventlog_domain *domain, size_t bytes)
{
	domain->sink_bytes -= bytes;
}

/* ---- terms ---- */

/* What emission tests of a rule: one term for its own conditions, and those of its filter. */
static unsigned int eventlog_binding_terms(const struct eventlog_subscriber_rule *rule,
					   const struct eventlog_predicate *predicate)
{
	return eventlog_rule_is_conditional(rule) + (predicate ? predicate->count : 0);
}

bool eventlog_event_limits_terms(const struct eventlog_event *event)
{
	const struct eventlog_provider *provider = event->provider->kernel;

	return provider && provider->locked;
}

/* May emission test so many terms more?  It may be part of each context switch. */
static bool eventlog_event_takes(const struct eventlog_event *event, unsigned int terms)
{
	const struct eventlog_sink *sink;

	if (!terms || !eventlog_event_limits_terms(event))
		return true;
	eventlog_domain_work(event->domain, event->sink_count);
	list_for_each_entry(sink, &event->sinks, node)
		terms += sink->terms;
	return terms <= EVENTLOG_LOCKED_TERMS_MAX;
}

/* ---- arrays of rules ---- */

static void eventlog_sink_rules_free_rcu(struct rcu_head *rcu)
{
	eventlog_free(container_of(rcu, struct eventlog_sink_rules, rcu));
}

void eventlog_sink_rules_free(struct eventlog_sink_rules *rules)
{
	if (rules)
		call_rcu(&rules->rcu, eventlog_sink_rules_free_rcu);
}

static void eventlog_sink_rules_append(struct eventlog_sink_rules *rules,
				       struct eventlog_binding *binding)
{
	struct eventlog_listener_rule *added = &rules->rules[rules->count];

	added->rule = binding->rule;
	added->predicate = binding->predicate;
	binding->index = rules->count++;
}

/* Number of bindings with conditions. */
static unsigned int eventlog_sink_conditional(const struct eventlog_sink *sink)
{
	return sink->rules ? sink->rules->count - sink->rules->dead : 0;
}

static struct eventlog_sink_rules *eventlog_sink_rules_alloc(unsigned int room,
							     enum eventlog_charge charge)
{
	struct eventlog_sink_rules *rules;

	rules = eventlog_alloc_as(struct_size(rules, rules, room), charge);
	if (rules)
		rules->room = room;
	return rules;
}

/* Makes a new array of the rules that are left. */
static struct eventlog_sink_rules *eventlog_sink_rules_copy(struct eventlog_sink *sink,
							    struct eventlog_sink_rules *rules)
{
	struct eventlog_sink_rules *old = sink->rules;
	struct eventlog_binding *binding;

	eventlog_domain_work(sink->subscriber->domain, rules->room);
	list_for_each_entry(binding, &sink->bindings, sink_node)
		if (eventlog_rule_is_conditional(binding->rule))
			eventlog_sink_rules_append(rules, binding);
	sink->rules = rules;
	return old;
}

struct eventlog_sink_rules *eventlog_sink_compact(struct eventlog_sink *sink)
{
	unsigned int live = eventlog_sink_conditional(sink);
	struct eventlog_sink_rules *old = sink->rules, *rules;

	if (!old || old->dead <= live)
		return NULL;
	/* An array is never empty: a reader may test the first rule of a listener that ends. */
	if (!live) {
		sink->rules = NULL;
		return old;
	}
	rules = eventlog_sink_rules_alloc(live, eventlog_sinks_charge(sink->subscriber->domain,
								      true));
	return rules ? eventlog_sink_rules_copy(sink, rules) : NULL;
}

/* ---- sinks ---- */

struct eventlog_sink *eventlog_sink_find(const struct eventlog_event *event,
					 const struct eventlog_subscriber *subscriber)
{
	struct eventlog_sink *sink;

	lockdep_assert_held(&event->domain->lock);
	eventlog_domain_work(event->domain, event->sink_count);
	list_for_each_entry(sink, &event->sinks, node)
		if (sink->subscriber == subscriber)
			return sink;
	return NULL;
}

static void eventlog_sink_free(struct eventlog_sink *sink)
{
	list_del(&sink->node);
	eventlog_sink_rules_free(sink->rules);
	eventlog_sink_uncharge(sink->subscriber->domain, eventlog_sink_bytes());
	eventlog_free(sink);
}

/* Puts a sink behind those of older subscribers. */
static void eventlog_sink_insert(struct eventlog_sink *sink, struct eventlog_event *event)
{
	struct list_head *place = &event->sinks;
	struct eventlog_sink *older;

	list_for_each_entry_reverse(older, &event->sinks, node) {
		if (older->subscriber->sequence < sink->subscriber->sequence) {
			place = &older->node;
			break;
		}
	}
	list_add(&sink->node, place);
	sink->event = event;
	event->sink_count++;
}

/* Memory for eventlog_sink_bind(); members are NULL that are not needed. */
struct eventlog_sink_parts {
	struct eventlog_sink *sink;
	struct eventlog_event_stats *stats;
	struct eventlog_sink_rules *rules;
	struct eventlog_binding *binding;
};

static void eventlog_sink_parts_free(struct eventlog_sink_parts *parts)
{
	eventlog_free(parts->sink);
	eventlog_free(parts->stats);
	eventlog_free(parts->rules);
	eventlog_free(parts->binding);
}

/* How large an array of rules becomes by one rule more; 0: it has room. */
static unsigned int eventlog_sink_rules_room(const struct eventlog_sink *sink)
{
	if (!sink || !sink->rules)
		return 1;
	if (sink->rules->count < sink->rules->room)
		return 0;
	return 2 * eventlog_sink_conditional(sink) ?: 1;
}

static bool eventlog_sink_parts_alloc(struct eventlog_sink_parts *parts,
				      const struct eventlog_subscriber_rule *rule,
				      const struct eventlog_event *event,
				      const struct eventlog_sink *sink)
{
	struct mem_cgroup *previous = set_active_memcg(rule->memcg);
	/* An event without a slot is being made, by who does not know the rule. */
	enum eventlog_charge charge = eventlog_sinks_charge(event->domain, event->slot);
	unsigned int room = 0;
	bool counts = !sink && eventlog_subscriber_has_rings(rule->subscriber) &&
		      !eventlog_event_stats(event, rule->subscriber);

	if (eventlog_rule_is_conditional(rule))
		room = eventlog_sink_rules_room(sink);
	if (!sink)
		parts->sink = eventlog_alloc_as(sizeof(*sink), charge);
	if (counts)
		parts->stats = eventlog_alloc_as(sizeof(*parts->stats), charge);
	if (room)
		parts->rules = eventlog_sink_rules_alloc(room, charge);
	parts->binding = eventlog_alloc_as(sizeof(*parts->binding), charge);
	set_active_memcg(previous);
	if (parts->binding && (sink || parts->sink) && (!counts || parts->stats) &&
	    (!room || parts->rules))
		return true;
	eventlog_sink_parts_free(parts);
	return false;
}

static void eventlog_event_stats_add(struct eventlog_event_stats *stats,
				     struct eventlog_subscriber *subscriber,
				     struct eventlog_event *event)
{
	/* Earlier losses do not concern this subscriber. */
	stats->rcu_idle_before = eventlog_event_lost_rcu_idle(event);
	stats->subscriber = subscriber;
	stats->event = event;
	list_add_tail(&stats->event_node, &event->stats);
	/* Those of kernel providers first: see eventlog_subscriber_rcu_idle(). */
	if (event->provider->preamble)
		list_add(&stats->subscriber_node, &subscriber->stats);
	else
		list_add_tail(&stats->subscriber_node, &subscriber->stats);
}

struct eventlog_sink *eventlog_sink_bind(struct eventlog_subscriber_rule *rule,
					 struct eventlog_event *event,
					 struct eventlog_predicate *predicate,
					 struct eventlog_sink_rules **old)
{
	struct eventlog_subscriber *subscriber = rule->subscriber;
	struct eventlog_sink *sink = eventlog_sink_find(event, subscriber);
	struct eventlog_domain *domain = event->domain;
	unsigned int terms = eventlog_binding_terms(rule, predicate);
	struct eventlog_sink_parts parts = {};
	struct eventlog_binding *binding;
	size_t bytes;

	*old = NULL;
	if (!eventlog_event_takes(event, terms))
		return ERR_PTR(-EDQUOT);
	if (!eventlog_sink_parts_alloc(&parts, rule, event, sink))
		return ERR_PTR(-ENOMEM);
	bytes = (parts.sink ? eventlog_sink_bytes() : 0) +
		(parts.stats ? eventlog_stats_bytes() : 0) +
		eventlog_binding_bytes(rule, predicate);
	if (!eventlog_sink_charge(domain, event, bytes)) {
		eventlog_sink_parts_free(&parts);
		return ERR_PTR(-EDQUOT);
	}
	if (parts.sink) {
		sink = parts.sink;
		sink->subscriber = subscriber;
		INIT_LIST_HEAD(&sink->bindings);
		eventlog_sink_insert(sink, event);
		if (parts.stats)
			eventlog_event_stats_add(parts.stats, subscriber, event);
		sink->stats = eventlog_event_stats(event, subscriber);
	}
	if (parts.rules)
		*old = eventlog_sink_rules_copy(sink, parts.rules);

	binding = parts.binding;
	binding->rule = rule;
	binding->sink = sink;
	binding->predicate = predicate;
	list_add_tail(&binding->rule_node, &rule->bindings);
	list_add_tail(&binding->sink_node, &sink->bindings);
	if (eventlog_rule_is_conditional(rule))
		eventlog_sink_rules_append(sink->rules, binding);
	else
		sink->plain++;
	sink->terms += terms;
	sink->filters += !!rule->expression;
	sink->syncs += rule->sync;
	return sink;
}

void eventlog_binding_free(struct eventlog_binding *binding)
{
	struct eventlog_subscriber_rule *rule = binding->rule;
	struct eventlog_sink *sink = binding->sink;
	struct eventlog_domain *domain = rule->subscriber->domain;

	lockdep_assert_held(&domain->lock);
	eventlog_domain_work(domain, 1);
	list_del(&binding->rule_node);
	list_del(&binding->sink_node);
	sink->terms -= eventlog_binding_terms(rule, binding->predicate);
	sink->filters -= !!rule->expression;
	sink->syncs -= rule->sync;
	if (!eventlog_rule_is_conditional(rule)) {
		sink->plain--;
	} else if (sink->rules) {
		/* The predicate stays: who has read the rule may still evaluate it. */
		WRITE_ONCE(sink->rules->rules[binding->index].rule,
			   eventlog_listener_rule_never.rule);
		sink->rules->dead++;
	}
	eventlog_sink_uncharge(domain, eventlog_binding_bytes(rule, binding->predicate));
	eventlog_predicates_free(binding->predicate);
	eventlog_free(binding);
	if (list_empty(&sink->bindings) && !sink->event)
		eventlog_sink_free(sink);
}

void eventlog_sink_end(struct eventlog_sink *sink)
{
	sink->event->sink_count--;
	sink->event = NULL;
	sink->stats = NULL;
	eventlog_sink_rules_free(sink->rules);
	sink->rules = NULL;
	list_move_tail(&sink->node, &sink->subscriber->domain->stale);
	if (list_empty(&sink->bindings))
		eventlog_sink_free(sink);
}

void eventlog_sinks_end(struct eventlog_event *event)
{
	struct eventlog_sink *sink, *next;

	lockdep_assert_held(&event->domain->lock);
	eventlog_domain_work(event->domain, event->sink_count);
	list_for_each_entry_safe(sink, next, &event->sinks, node)
		eventlog_sink_end(sink);
}

void eventlog_sinks_reap(struct eventlog_domain *domain)
{
	struct eventlog_sink *sink;

	/* The caller's own are seen without the lock. */
	if (list_empty(&domain->stale))
		return;
	eventlog_domain_lock(domain);
	while ((sink = list_first_entry_or_null(&domain->stale, struct eventlog_sink, node))) {
		eventlog_binding_free(list_first_entry(&sink->bindings, struct eventlog_binding,
						       sink_node));
		eventlog_domain_pause(domain);
	}
	eventlog_domain_unlock(domain);
}

void eventlog_sinks_move(struct eventlog_event *to, struct eventlog_event *from)
{
	struct eventlog_event_stats *stats, *next;
	struct eventlog_sink *sink;

	lockdep_assert_held(&to->domain->lock);
	list_for_each_entry_safe(stats, next, &from->stats, event_node) {
		eventlog_domain_work(to->domain, to->sink_count);
		if (eventlog_event_stats(to, stats->subscriber))
			continue;
		stats->event = to;
		list_move_tail(&stats->event_node, &to->stats);
	}
	list_splice_tail_init(&from->sinks, &to->sinks);
	to->sink_count = from->sink_count;
	from->sink_count = 0;
	list_for_each_entry(sink, &to->sinks, node) {
		sink->event = to;
		sink->stats = eventlog_event_stats(to, sink->subscriber);
	}
}

/* ---- counters of events ---- */

u64 eventlog_event_lost_rcu_idle(const struct eventlog_event *event)
{
	struct eventlog_provider_event *source = event->source;

	return event->lost_rcu_idle +
	       (source ? (unsigned long)atomic_long_read(&source->lost_rcu_idle) : 0);
}

struct eventlog_event_stats *eventlog_event_stats(const struct eventlog_event *event,
						  const struct eventlog_subscriber *subscriber)
{
	struct eventlog_event_stats *stats;

	lockdep_assert_held(&event->domain->lock);
	list_for_each_entry(stats, &event->stats, event_node) {
		eventlog_domain_work(event->domain, 1);
		if (stats->subscriber == subscriber)
			return stats;
	}
	return NULL;
}

u64 eventlog_event_stats_rcu_idle(const struct eventlog_event_stats *stats)
{
	return eventlog_event_lost_rcu_idle(stats->event) - stats->rcu_idle_before;
}

size_t eventlog_event_stats_bytes(const struct eventlog_event *event)
{
	struct eventlog_event_stats *stats;
	size_t bytes = 0;

	lockdep_assert_held(&event->domain->lock);
	list_for_each_entry(stats, &event->stats, event_node)
		bytes += eventlog_stats_bytes();
	return bytes;
}

static void eventlog_event_stats_free_rcu(struct rcu_head *rcu)
{
	eventlog_free(container_of(rcu, struct eventlog_event_stats, rcu));
}

static void eventlog_event_stats_remove(struct eventlog_event_stats *stats)
{
	struct eventlog_domain *domain = stats->subscriber->domain;

	eventlog_domain_work(domain, 1);
	list_del(&stats->event_node);
	list_del(&stats->subscriber_node);
	eventlog_sink_uncharge(domain, eventlog_stats_bytes());
	call_rcu(&stats->rcu, eventlog_event_stats_free_rcu);
}

void eventlog_event_stats_drop(struct eventlog_event *event)
{
	struct eventlog_event_stats *stats, *next;

	lockdep_assert_held(&event->domain->lock);
	list_for_each_entry_safe(stats, next, &event->stats, event_node) {
		/* The subscriber's total keeps what was counted. */
		atomic_long_add(eventlog_event_stats_rcu_idle(stats),
				&stats->subscriber->lost[EVENTLOG_LOST_DEPTH]);
		eventlog_event_stats_remove(stats);
	}
}

u64 eventlog_subscriber_rcu_idle(const struct eventlog_subscriber *subscriber)
{
	const struct eventlog_event_stats *stats;
	u64 lost = 0;

	lockdep_assert_held(&subscriber->domain->lock);
	list_for_each_entry(stats, &subscriber->stats, subscriber_node) {
		/* Only kernel providers emit there; their events are first. */
		if (!stats->event->provider->preamble)
			break;
		eventlog_domain_work(subscriber->domain, 1);
		lost += eventlog_event_stats_rcu_idle(stats);
	}
	return lost;
}

void eventlog_subscriber_stats_free(struct eventlog_subscriber *subscriber)
{
	struct eventlog_domain *domain = subscriber->domain;
	struct eventlog_event_stats *stats;

	eventlog_domain_lock(domain);
	while ((stats = list_first_entry_or_null(&subscriber->stats, struct eventlog_event_stats,
						 subscriber_node))) {
		eventlog_event_stats_remove(stats);
		eventlog_domain_pause(domain);
	}
	eventlog_domain_unlock(domain);
}

struct eventlog_subscriber *eventlog_subscriber_oldest(struct eventlog_domain *domain)
{
	lockdep_assert_held(&domain->lock);
	return list_first_entry_or_null(&domain->subscribers, struct eventlog_subscriber, node);
}
