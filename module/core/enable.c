// SPDX-License-Identifier: GPL-2.0-only
/*
 * Enabling: see enable.h.
 */
#include <linux/err.h>
#include <linux/overflow.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>

#include "compat.h"
#include "core/domain.h"
#include "core/enable.h"
#include "core/event.h"
#include "core/filter.h"
#include "core/ops.h"
#include "core/sink.h"
#include "core/subscriber.h"
#include "memory.h"

/* The listeners of each event that has a tracer and no subscriber. */
static struct eventlog_listeners eventlog_listeners_traced = {
	.others = true,
	.traced = true,
	.slow = true,
};

static void eventlog_listeners_free_rcu(struct rcu_head *rcu)
{
	eventlog_free(container_of(rcu, struct eventlog_listeners, rcu));
}

/* The listeners as the holder of the lock sees them. */
static struct eventlog_listeners *eventlog_listeners_get(const struct eventlog_event *event)
{
	return rcu_dereference_protected(event->listeners,
					 lockdep_is_held(&event->domain->lock));
}

static void eventlog_listeners_status_set(const struct eventlog_event *event,
					  const struct eventlog_listeners *listeners)
{
	/* Publish the array before the bits that announce it. */
	smp_mb__before_atomic();
	eventlog_domain_status_set(event->domain, event->slot, true,
				   listeners->others || listeners->rings_sync);
}

/* Looks whether the event has tracers; the members of @listeners before these are set. */
static void eventlog_listeners_set_traced(const struct eventlog_event *event,
					  struct eventlog_listeners *listeners)
{
	bool traced = rcu_access_pointer(event->trace.tracers);
	bool others = traced || listeners->called > listeners->count;

	WRITE_ONCE(listeners->traced, traced);
	WRITE_ONCE(listeners->others, others);
	WRITE_ONCE(listeners->slow, others || !listeners->count || event->state_dump ||
				    eventlog_rings_locked);
}

static void eventlog_listeners_replace(struct eventlog_event *event,
				       struct eventlog_listeners *listeners)
{
	struct eventlog_listeners *old = eventlog_listeners_get(event);
	struct eventlog_provider_info *provider = event->provider;
	struct eventlog_domain *domain = event->domain;

	/* EVENTLOG_STATUS_ENABLED is never set while the event is disabled. */
	if (old && !listeners) {
		eventlog_domain_status_set(domain, event->slot, false, false);
		domain->busy--;
	}
	rcu_assign_pointer(event->listeners, listeners);
	if (listeners) {
		eventlog_listeners_status_set(event, listeners);
		domain->busy += !old;
	}
	if (!old != !listeners && provider->kernel && list_empty(&provider->dirty_node))
		list_add_tail(&provider->dirty_node, &domain->dirty_providers);
	if (!old != !listeners && event->watch)
		eventlog_watch_ops->changed(event->watch);
	if (old && old != &eventlog_listeners_traced)
		call_rcu(&old->rcu, eventlog_listeners_free_rcu);
}

static u32 eventlog_sink_sync(const struct eventlog_sink *sink)
{
	return (sink->subscriber->shard_count ? 0 : EVENTLOG_SYNC_RINGS) |
	       (!sink->plain && sink->syncs ? EVENTLOG_SYNC_FILTER : 0);
}

u32 eventlog_event_sync(const struct eventlog_event *event,
			const struct eventlog_subscriber **subscriber)
{
	const struct eventlog_listeners *listeners = eventlog_listeners_get(event);
	u32 sync = 0;
	unsigned int i;

	*subscriber = NULL;
	if (!listeners || event->provider->preamble)
		return 0;
	if (listeners->traced)
		sync |= EVENTLOG_SYNC_TRACER;
	for (i = 0; i < listeners->called; i++) {
		const struct eventlog_listener *entry = &listeners->entries[i];

		if (entry->dead)
			continue;
		if (i >= listeners->count) {
			sync |= EVENTLOG_SYNC_CALLBACK;
			break;
		}
		if (entry->sync && !*subscriber)
			*subscriber = entry->subscriber;
		sync |= entry->sync;
	}
	return sync;
}

/* ---- arrays of listeners ---- */

/* The listeners of an event without sinks. */
static struct eventlog_listeners *eventlog_listeners_none(const struct eventlog_event *event)
{
	return rcu_access_pointer(event->trace.tracers) && !event->domain->dead ?
	       &eventlog_listeners_traced : NULL;
}

/* @rule: who added it pays for the array.  @own: that is the caller. */
static struct eventlog_listeners *
eventlog_listeners_alloc(const struct eventlog_event *event, unsigned int sinks,
			 const struct eventlog_subscriber_rule *rule, bool own)
{
	struct mem_cgroup *previous = set_active_memcg(rule->memcg);
	struct eventlog_listeners *listeners;

	listeners = eventlog_alloc_as(struct_size(listeners, entries, sinks),
				      eventlog_sinks_charge(event->domain, own));
	set_active_memcg(previous);
	return listeners;
}

/* A rule of the newest subscriber that listens to an event with sinks. */
static const struct eventlog_subscriber_rule *
eventlog_event_newest(const struct eventlog_event *event)
{
	const struct eventlog_sink *sink = list_last_entry(&event->sinks, struct eventlog_sink, node);

	return list_first_entry(&sink->bindings, struct eventlog_binding, sink_node)->rule;
}

static void eventlog_listener_fill(struct eventlog_listener *entry,
				   const struct eventlog_sink *sink)
{
	entry->subscriber = sink->subscriber;
	entry->stats = sink->stats;
	entry->rules = sink->rules ? sink->rules->rules : &eventlog_listener_rule_never;
	/* A rule without conditions always passes: emission need not test any rule. */
	entry->rule_count = sink->plain ? 0 : sink->rules->count;
	entry->filtered = !sink->plain && sink->filters;
	entry->sync = eventlog_sink_sync(sink);
}

/* Fills an array that has room for all sinks of the event, and publishes it. */
static void eventlog_listeners_publish(struct eventlog_event *event,
				       struct eventlog_listeners *listeners)
{
	enum eventlog_subscriber_kind kind;
	struct eventlog_sink *sink;

	for (kind = 0; kind < EVENTLOG_SUBSCRIBER_KINDS; kind++) {
		eventlog_domain_work(event->domain, event->sink_count);
		list_for_each_entry(sink, &event->sinks, node) {
			struct eventlog_listener *entry = &listeners->entries[listeners->listed];

			if (eventlog_subscriber_kind(sink->subscriber) != kind)
				continue;
			eventlog_listener_fill(entry, sink);
			if (kind == EVENTLOG_SUBSCRIBER_RINGS)
				listeners->rings_sync |= !!entry->sync;
			listeners->listed++;
		}
		if (kind == EVENTLOG_SUBSCRIBER_RINGS)
			listeners->count = listeners->listed;
		if (kind == EVENTLOG_SUBSCRIBER_CALLBACK)
			listeners->called = listeners->listed;
	}
	eventlog_listeners_set_traced(event, listeners);
	eventlog_listeners_replace(event, listeners);
}

/* The entry of a sink; NULL: the event is not published yet, or its domain is dead. */
static struct eventlog_listener *eventlog_listener_find(const struct eventlog_sink *sink)
{
	struct eventlog_listeners *listeners = eventlog_listeners_get(sink->event);
	unsigned int i;

	for (i = 0; listeners && i < listeners->listed; i++) {
		struct eventlog_listener *entry = &listeners->entries[i];

		eventlog_domain_work(sink->event->domain, 1);
		/* A new subscriber may have the address of a dead one. */
		if (!entry->dead && entry->subscriber == sink->subscriber)
			return entry;
	}
	return NULL;
}

/*
 * Makes an entry one that never passes.  Emission sends an event with a filter to the slow
 * path, which looks whether the entry is dead, and so never uses a subscriber that was freed.
 */
static void eventlog_listener_kill(struct eventlog_listener *entry)
{
	WRITE_ONCE(entry->dead, true);
	WRITE_ONCE(entry->filtered, true);
	/* Readers that do not see the other members yet test rules that still exist. */
	if (!entry->rule_count)
		WRITE_ONCE(entry->rule_count, 1);
}

/* Makes a new array without dead entries; if there is no memory, the old one stays. */
static void eventlog_listeners_renew(struct eventlog_event *event)
{
	struct eventlog_listeners *listeners;

	if (!event->sink_count) {
		eventlog_listeners_replace(event, eventlog_listeners_none(event));
		return;
	}
	listeners = eventlog_listeners_alloc(event, event->sink_count,
					     eventlog_event_newest(event), false);
	if (listeners)
		eventlog_listeners_publish(event, listeners);
}

/* Takes a sink from its event, whether or not it has bindings. */
static void eventlog_sink_remove(struct eventlog_sink *sink)
{
	struct eventlog_listener *entry = eventlog_listener_find(sink);
	struct eventlog_event *event = sink->event;

	if (entry)
		eventlog_listener_kill(entry);
	eventlog_sink_end(sink);
	if (entry)
		eventlog_listeners_renew(event);
}

/* A binding of the sink was freed. */
static void eventlog_sink_shrink(struct eventlog_sink *sink)
{
	struct eventlog_listener *entry = eventlog_listener_find(sink);
	struct eventlog_listeners *listeners;
	struct eventlog_sink_rules *old;

	if (!entry)
		return;
	listeners = eventlog_listeners_alloc(sink->event, sink->event->sink_count,
					     eventlog_event_newest(sink->event), false);
	if (listeners) {
		old = eventlog_sink_compact(sink);
		eventlog_listeners_publish(sink->event, listeners);
		eventlog_sink_rules_free(old);
	} else if (!sink->plain && !entry->rule_count) {
		listeners = eventlog_listeners_get(sink->event);
		entry->sync = eventlog_sink_sync(sink);
		listeners->rings_sync |= entry->sync &&
					 eventlog_subscriber_has_rings(sink->subscriber);
		eventlog_listeners_status_set(sink->event, listeners);
		WRITE_ONCE(entry->filtered, sink->filters);
		WRITE_ONCE(entry->rule_count, sink->rules->count);
	}
}

/* ---- events ---- */

/* Binds a rule to an event that it matches; takes the predicate over. */
static int eventlog_bind(struct eventlog_subscriber_rule *rule, struct eventlog_event *event,
			 struct eventlog_predicate *predicate)
{
	struct eventlog_listeners *listeners = NULL;
	struct eventlog_sink_rules *old;
	struct eventlog_sink *sink;

	if (event->slot) {
		listeners = eventlog_listeners_alloc(event, event->sink_count + 1, rule, true);
		if (!listeners)
			goto err_predicate;
	}
	sink = eventlog_sink_bind(rule, event, predicate, &old);
	if (IS_ERR(sink))
		goto err_listeners;
	if (listeners)
		eventlog_listeners_publish(event, listeners);
	eventlog_sink_rules_free(old);
	return 0;

err_listeners:
	eventlog_free(listeners);
	eventlog_predicates_free(predicate);
	return PTR_ERR(sink);
err_predicate:
	eventlog_predicates_free(predicate);
	return -ENOMEM;
}

/*
 * What a subscriber does not get of an event that is being made counts as one loss, unless a rule
 * without conditions delivers all of it.  Definitions that are made at the same time may count one
 * loss more.
 */
static void eventlog_subscriber_loses(struct eventlog_subscriber *subscriber,
				      const struct eventlog_event *event)
{
	const struct eventlog_sink *sink = eventlog_sink_find(event, subscriber);

	if (!sink || !sink->plain)
		atomic_long_inc(&subscriber->lost[EVENTLOG_LOST_NO_MEMORY]);
}

/*
 * A rule cannot be bound to an event that is being made.  The event is made nevertheless, because
 * a subscriber must not make a program fail.  If there is no memory, the other rules of the
 * subscriber are skipped: they would fail, too.  If there are too many terms, one that has fewer
 * may fit, or one without conditions, which has none: the loss is counted after all rules.
 */
static void eventlog_subscriber_misses(struct eventlog_subscriber *subscriber,
				       const struct eventlog_event *event, int error)
{
	if (error == -EDQUOT && eventlog_event_limits_terms(event)) {
		subscriber->unfit_event = event->descriptor;
		return;
	}
	subscriber->missed_event = event->descriptor;
	eventlog_subscriber_loses(subscriber, event);
}

static bool eventlog_subscriber_has_missed(const struct eventlog_subscriber *subscriber,
					   const struct eventlog_event *event)
{
	lockdep_assert_held(&event->domain->lock);
	return subscriber->missed_event == event->descriptor;
}

/* Counts what is not delivered because there are too many terms. */
static void eventlog_subscribers_unfit(const struct eventlog_event *event)
{
	struct eventlog_subscriber *subscriber;

	if (!eventlog_event_limits_terms(event))
		return;
	list_for_each_entry(subscriber, &event->domain->subscribers, node) {
		eventlog_domain_work(event->domain, 1);
		if (subscriber->unfit_event != event->descriptor)
			continue;
		subscriber->unfit_event = 0;
		if (!eventlog_subscriber_has_missed(subscriber, event))
			eventlog_subscriber_loses(subscriber, event);
	}
}

/*
 * Matches an event with the next rules, until a batch is done.
 *
 * Return: whether there are more; then *@filtered is a rule with a filter, with a reference,
 * that matches and is not bound yet, or NULL.
 */
static bool eventlog_prepare_batch(struct eventlog_event *event, struct eventlog_rule_place *place,
				   struct eventlog_subscriber_rule **filtered)
{
	struct eventlog_domain *domain = event->domain;
	struct eventlog_rule_place *next;
	int ret;

	lockdep_assert_held(&domain->lock);
	*filtered = NULL;
	if (list_empty(&place->node))
		list_add(&place->node, &domain->rules);
	while (!list_is_last(&place->node, &domain->rules)) {
		if (domain->work >= EVENTLOG_BATCH_STEPS)
			return true;
		eventlog_domain_work(domain, 1);
		next = list_next_entry(place, node);
		list_move(&place->node, &next->node);
		if (!next->rule || eventlog_subscriber_has_missed(next->rule->subscriber, event) ||
		    !eventlog_rule_matches(next->rule, event))
			continue;
		if (next->rule->expression) {
			eventlog_rule_get(next->rule);
			*filtered = next->rule;
			return true;
		}
		ret = eventlog_bind(next->rule, event, NULL);
		if (ret)
			eventlog_subscriber_misses(next->rule->subscriber, event, ret);
	}
	eventlog_subscribers_unfit(event);
	place->added = domain->rules_added;
	return false;
}

/* @own: the caller has added the rule. */
static struct eventlog_predicate *eventlog_rule_predicate(struct eventlog_subscriber_rule *rule,
							  const struct eventlog_event *event,
							  const struct eventlog_provider *sets,
							  bool own)
{
	struct mem_cgroup *previous = set_active_memcg(rule->memcg);
	struct eventlog_predicate *predicate;

	predicate = eventlog_predicate_bind_event(rule->expression, event->fields_text, sets,
						  eventlog_sinks_charge(event->domain, own));
	set_active_memcg(previous);
	return predicate;
}

/* Binds a rule with a filter, for which the lock is not needed all the time. */
static void eventlog_prepare_filtered(struct eventlog_event *event,
				      struct eventlog_subscriber_rule *rule)
{
	struct eventlog_predicate *predicate;
	int ret = 0;

	predicate = eventlog_rule_predicate(rule, event, eventlog_event_sets(event), false);
	eventlog_domain_lock(event->domain);
	/* The subscriber of a rule that was removed may be gone. */
	if (rule->removed || eventlog_subscriber_has_missed(rule->subscriber, event))
		eventlog_predicates_free(predicate);
	else
		ret = predicate ? eventlog_bind(rule, event, predicate) : -ENOMEM;
	if (ret)
		eventlog_subscriber_misses(rule->subscriber, event, ret);
	eventlog_domain_unlock(event->domain);
}

int eventlog_enable_prepare(struct eventlog_event *event, struct eventlog_rule_place *place)
{
	struct eventlog_subscriber_rule *filtered;
	bool more;

	do {
		cond_resched();
		eventlog_domain_lock(event->domain);
		more = eventlog_prepare_batch(event, place, &filtered);
		eventlog_domain_unlock(event->domain);
		if (filtered) {
			eventlog_prepare_filtered(event, filtered);
			eventlog_rule_put(filtered);
		}
		if (more && fatal_signal_pending(current))
			return -EINTR;
	} while (more);
	return 0;
}

bool eventlog_enable_is_prepared(struct eventlog_domain *domain,
				 const struct eventlog_rule_place *place)
{
	lockdep_assert_held(&domain->lock);
	/* Not whether it is the last: other definitions that are being made may be behind it. */
	return place->added == domain->rules_added;
}

void eventlog_enable_prepared(struct eventlog_rule_place *place)
{
	list_del_init(&place->node);
}

void eventlog_enable_event(struct eventlog_event *event)
{
	struct eventlog_listeners *listeners = NULL;
	struct eventlog_sink *sink;

	if (event->sink_count && !event->domain->dead) {
		listeners = eventlog_listeners_alloc(event, event->sink_count,
						     eventlog_event_newest(event), false);
		if (listeners) {
			eventlog_listeners_publish(event, listeners);
			return;
		}
		list_for_each_entry(sink, &event->sinks, node)
			if (sink->plain || !eventlog_subscriber_has_missed(sink->subscriber, event))
				atomic_long_inc(&sink->subscriber->lost[EVENTLOG_LOST_NO_MEMORY]);
		eventlog_sinks_end(event);
	}
	listeners = eventlog_listeners_none(event);
	if (listeners)
		eventlog_listeners_replace(event, listeners);
}

void eventlog_enable_tracers_changed(struct eventlog_event *event)
{
	struct eventlog_listeners *listeners = eventlog_listeners_get(event);

	if (!listeners || listeners == &eventlog_listeners_traced) {
		eventlog_listeners_replace(event, eventlog_listeners_none(event));
		return;
	}
	eventlog_listeners_set_traced(event, listeners);
	eventlog_listeners_status_set(event, listeners);
}

void eventlog_enable_status_refresh(const struct eventlog_event *event)
{
	const struct eventlog_listeners *listeners = eventlog_listeners_get(event);

	if (listeners)
		eventlog_listeners_status_set(event, listeners);
	else
		eventlog_domain_status_set(event->domain, event->slot, false, false);
}

void eventlog_enable_event_clear(struct eventlog_event *event)
{
	eventlog_listeners_replace(event, NULL);
}

/* ---- rules ---- */

bool eventlog_enable_rule_selects(const struct eventlog_subscriber_rule *rule,
				  const struct eventlog_event *event)
{
	const struct eventlog_sink *sink = eventlog_sink_find(event, rule->subscriber);

	return sink && list_last_entry(&sink->bindings, struct eventlog_binding,
				       sink_node)->rule == rule;
}

/*
 * Binds a rule to the live events behind *@descriptor, until a batch is done.  Those that
 * were made since the rule is in the list are bound already.
 *
 * Return: as eventlog_prepare_batch(); *@filtered is an event, which is held, that the
 * rule's filter has to be bound to.
 */
static int eventlog_rule_add_batch(struct eventlog_subscriber_rule *rule, unsigned long *descriptor,
				   struct eventlog_event **filtered,
				   const struct eventlog_provider **sets)
{
	struct eventlog_domain *domain = rule->subscriber->domain;
	struct eventlog_event *event;
	int ret;

	lockdep_assert_held(&domain->lock);
	*filtered = NULL;
	if (domain->dead)
		return -ENODEV;
	while ((event = xa_find_after(&domain->definitions, descriptor, U32_MAX, XA_PRESENT))) {
		eventlog_domain_work(domain, 1);
		if (event->slot && eventlog_rule_matches(rule, event) &&
		    !eventlog_enable_rule_selects(rule, event)) {
			if (rule->expression) {
				eventlog_event_hold(event);
				*filtered = event;
				*sets = eventlog_event_sets(event);
				return 1;
			}
			ret = eventlog_bind(rule, event, NULL);
			if (ret)
				return ret;
		}
		if (domain->work >= EVENTLOG_BATCH_STEPS)
			return 1;
	}
	return 0;
}

/* Kernel providers cannot go meanwhile, and with them the names in their tables. */
static int eventlog_rule_add_filtered(struct eventlog_subscriber_rule *rule,
				      struct eventlog_event *event,
				      const struct eventlog_provider *sets)
{
	struct eventlog_domain *domain = rule->subscriber->domain;
	struct eventlog_predicate *predicate;
	int ret = 0;

	lockdep_assert_held(&domain->update_lock);
	predicate = eventlog_rule_predicate(rule, event, sets, true);
	if (!predicate)
		return -ENOMEM;
	eventlog_domain_lock(domain);
	/* The event may have ended meanwhile, and may have come back. */
	if (event->slot && !domain->dead && !eventlog_enable_rule_selects(rule, event))
		ret = eventlog_bind(rule, event, predicate);
	else
		eventlog_predicates_free(predicate);
	eventlog_domain_unlock(domain);
	return ret;
}

int eventlog_enable_rule_add(struct eventlog_subscriber *subscriber,
			     struct eventlog_subscriber_rule *rule)
{
	struct eventlog_domain *domain = subscriber->domain;
	const struct eventlog_provider *sets;
	struct eventlog_event *filtered;
	unsigned long descriptor = 0;
	int more, ret = 0;

	lockdep_assert_held(&domain->update_lock);
	eventlog_domain_lock(domain);
	list_add_tail(&rule->node, &subscriber->rules);
	list_add_tail(&rule->place.node, &domain->rules);
	domain->rules_added++;
	eventlog_domain_unlock(domain);
	do {
		cond_resched();
		eventlog_domain_lock(domain);
		more = eventlog_rule_add_batch(rule, &descriptor, &filtered, &sets);
		eventlog_domain_unlock(domain);
		if (filtered) {
			ret = eventlog_rule_add_filtered(rule, filtered, sets);
			eventlog_event_release(filtered);
		}
		if (more > 0 && !ret && fatal_signal_pending(current))
			ret = -EINTR;
	} while (more > 0 && !ret);
	ret = ret ?: more;
	if (!ret)
		return 0;
	eventlog_enable_rule_remove(rule);
	eventlog_domain_lock(domain);
	list_del(&rule->node);
	eventlog_domain_unlock(domain);
	return ret;
}

/* Takes a rule out of the lists, so that it is not bound any more. */
static void eventlog_rule_close(struct eventlog_subscriber_rule *rule)
{
	list_del(&rule->place.node);
	rule->removed = true;
}

void eventlog_enable_rule_remove(struct eventlog_subscriber_rule *rule)
{
	struct eventlog_domain *domain = rule->subscriber->domain;
	struct eventlog_binding *binding;
	struct eventlog_sink *sink;

	lockdep_assert_held(&domain->update_lock);
	eventlog_domain_lock(domain);
	eventlog_rule_close(rule);
	while ((binding = list_first_entry_or_null(&rule->bindings, struct eventlog_binding,
						   rule_node))) {
		sink = binding->sink->event ? binding->sink : NULL;
		eventlog_binding_free(binding);
		if (sink && list_empty(&sink->bindings))
			eventlog_sink_remove(sink);
		else if (sink)
			eventlog_sink_shrink(sink);
		eventlog_domain_pause(domain);
	}
	eventlog_domain_unlock(domain);
}

void eventlog_enable_subscriber_remove(struct eventlog_subscriber *subscriber)
{
	struct eventlog_domain *domain = subscriber->domain;
	struct eventlog_subscriber_rule *rule;
	struct eventlog_binding *binding;

	lockdep_assert_held(&domain->update_lock);
	eventlog_domain_lock(domain);
	list_for_each_entry(rule, &subscriber->rules, node) {
		eventlog_domain_work(domain, 1);
		eventlog_rule_close(rule);
		while ((binding = list_first_entry_or_null(&rule->bindings,
							   struct eventlog_binding, rule_node))) {
			/* Its other bindings are freed with their rules. */
			if (binding->sink->event)
				eventlog_sink_remove(binding->sink);
			eventlog_binding_free(binding);
			eventlog_domain_pause(domain);
		}
		eventlog_domain_pause(domain);
	}
	eventlog_domain_unlock(domain);
}
