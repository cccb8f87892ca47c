// SPDX-License-Identifier: GPL-2.0-only
/*
 * Definitions and their trace events: see definition.h.
 */
#include <linux/hashtable.h>
#include <linux/mutex.h>
#include <linux/ratelimit.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat.h"
#include "core/domain.h"
#include "core/event.h"
#include "core/user.h"
#include "memory.h"
#include "trace/attach.h"
#include "trace/definition.h"
#include "trace/enable.h"
#include "trace/layout.h"
#include "trace/worker.h"

#if EVENTLOG_TRACE_EVENTS

/* Limits how often plain trace events are removed where that is not safe. */
static DEFINE_RATELIMIT_STATE(eventlog_trace_removals, 60 * HZ, 256);

/*
 * Sets the definition of a trace event.  Only one without a definition can be found by its key:
 * live definitions that differ in their descriptions have the same key, and a user may make many.
 */
static void eventlog_trace_event_set(struct eventlog_trace_event *trace,
				     struct eventlog_event *event)
{
	trace->event = event;
	WRITE_ONCE(trace->domain, event ? event->domain : NULL);
	if (event)
		hash_del(&trace->key_node);
	else
		hash_add(eventlog_traces.keys, &trace->key_node, trace->key);
}

/* ---- definitions without a trace event ---- */

/* Remembers a live definition that has no trace event. */
static void eventlog_trace_unmade_add(struct eventlog_event *event)
{
	event->trace.unmade = true;
	list_add_tail(&event->trace.unmade_node, &eventlog_traces.unmade_list);
	eventlog_traces.unmade++;
	WRITE_ONCE(event->domain->trace_unmade, event->domain->trace_unmade + 1);
}

static void eventlog_trace_unmade_remove(struct eventlog_event *event)
{
	if (!event->trace.unmade)
		return;
	event->trace.unmade = false;
	list_del(&event->trace.unmade_node);
	eventlog_traces.unmade--;
	WRITE_ONCE(event->domain->trace_unmade, event->domain->trace_unmade - 1);
}

void eventlog_trace_forget_event(struct eventlog_trace_event *trace)
{
	if (!trace->event)
		return;
	trace->event->trace.event = NULL;
	eventlog_trace_unmade_add(trace->event);
	eventlog_trace_event_set(trace, NULL);
}

/*
 * Is there room for one more?  One in EVENTLOG_EVENTS_RESERVED is for the kernel and users
 * without limits.  A user has a quarter, and all instances a half, because the root may
 * delete and create them.  Without the lock it is a guess.
 */
static bool eventlog_trace_room(const struct eventlog_user *user, bool of_instance)
{
	unsigned int used = READ_ONCE(eventlog_traces.count) -
			    READ_ONCE(eventlog_traces.free_count);
	unsigned int most = eventlog_traces.events_max;

	if (user && READ_ONCE(user->trace_events) >= DIV_ROUND_UP(most, 4))
		return false;
	if (of_instance && READ_ONCE(eventlog_traces.instances) >= DIV_ROUND_UP(most, 2))
		return false;
	return used < most - (user ? most / EVENTLOG_EVENTS_RESERVED : 0);
}

static bool eventlog_trace_event_room(const struct eventlog_event *event)
{
	return eventlog_trace_room(event->user, event->domain->id);
}

/* ---- trace events by definition ---- */

static u64 eventlog_trace_text_hash(const char *text)
{
	return text ? siphash(text, strlen(text), &eventlog_root_domain.hash_key) : 0;
}

/* What makes the trace event of a definition different, except texts and keywords. */
static u64 eventlog_trace_traits(const struct eventlog_event *event)
{
	const bool trusted = event->provider->preamble;

	return event->level | (u64)event->trace.flags << 8 | (u64)trusted << 16;
}

/*
 * Equal for equal definitions of providers of the same name in the root, or in instances of the
 * same name: a container may get a new instance while it is traced.  The description, which may
 * be a marker's place, makes no difference: a program may be compiled again while it is traced.
 */
static u64 eventlog_trace_key(const struct eventlog_event *event)
{
	const siphash_key_t *secret = &eventlog_root_domain.hash_key;

	return siphash_4u64(siphash_2u64(eventlog_trace_text_hash(event->domain->trace_group),
					 eventlog_trace_text_hash(event->provider->name), secret),
			    eventlog_trace_text_hash(event->name),
			    eventlog_trace_text_hash(eventlog_fields_lines(event->fields_text)) ^
			    eventlog_trace_traits(event) ^
			    eventlog_trace_text_hash(event->types),
			    eventlog_trace_text_hash(eventlog_event_preamble(event)) ^ event->keywords,
			    secret);
}

void eventlog_trace_user_set(struct eventlog_trace_event *trace, struct eventlog_user *user)
{
	struct eventlog_user *old = trace->user;

	trace->user = eventlog_user_get(user);
	if (user)
		user->trace_events++;
	if (!old)
		return;
	old->trace_events--;
	eventlog_user_uncharge(old, EVENTLOG_QUOTA_TRACE_BYTES, trace->bytes);
	eventlog_user_put(old);
}

/* Is a trace event in a group whose name has this hash? */
static bool eventlog_trace_group_exists(u64 hash)
{
	const struct eventlog_trace_event *trace;

	hash_for_each_possible(eventlog_traces.groups, trace, group_node, hash)
		if (trace->group_hash == hash)
			return true;
	return false;
}

/* A trace event whose definition has ended. */
static struct eventlog_trace_event *eventlog_trace_find(u64 key)
{
	struct eventlog_trace_event *trace;

	hash_for_each_possible(eventlog_traces.keys, trace, key_node, key) {
		eventlog_steps_add(&eventlog_traces.steps, 1);
		if (trace->key == key)
			return trace;
	}
	return NULL;
}

/* Memory for a trace event: new, or that of a free one. */
static struct eventlog_trace_event *eventlog_trace_new(void)
{
	struct eventlog_trace_event *trace;

	if (eventlog_traces.count < eventlog_traces.events_max) {
		trace = eventlog_alloc_locked(sizeof(*trace));
		if (!trace)
			return NULL;
		eventlog_traces.count++;
		list_add_tail(&trace->all_node, &eventlog_traces.all);
		INIT_LIST_HEAD(&trace->node);
		INIT_LIST_HEAD(&trace->changed_node);
		return trace;
	}
	trace = list_first_entry_or_null(&eventlog_traces.free, struct eventlog_trace_event, node);
	if (!trace)
		return NULL;
	list_del_init(&trace->node);
	eventlog_traces.free_count--;
	return trace;
}

/* Sets *@layout to NULL if it keeps it. */
static struct eventlog_trace_event *eventlog_trace_make(const struct eventlog_event *event, u64 key,
							struct eventlog_trace_layout **layout)
{
	struct eventlog_trace_event *trace;
	u64 group_hash;
	size_t bytes;

	if (!*layout || !eventlog_trace_event_room(event))
		return NULL;
	group_hash = eventlog_trace_text_hash((*layout)->group);
	bytes = kmalloc_size_roundup(sizeof(*trace)) + eventlog_trace_layout_bytes(*layout);
	if (!eventlog_trace_group_exists(group_hash))
		bytes += eventlog_trace_group_bytes(*layout);
	if (!eventlog_user_charge(event->user, EVENTLOG_QUOTA_TRACE_BYTES, bytes))
		return NULL;
	trace = eventlog_trace_new();
	if (!trace) {
		eventlog_user_uncharge(event->user, EVENTLOG_QUOTA_TRACE_BYTES, bytes);
		return NULL;
	}
	trace->bytes = bytes;
	eventlog_trace_user_set(trace, event->user);
	trace->group_hash = group_hash;
	hash_add(eventlog_traces.groups, &trace->group_node, group_hash);
	trace->of_instance = event->domain->id;
	eventlog_traces.instances += trace->of_instance;
	trace->prepared = *layout;
	*layout = NULL;
	trace->key = key;
	atomic_long_set(&trace->lost_ftrace, 0);
	atomic_long_set(&trace->lost_perf, 0);
	return trace;
}

/* Makes the worker look for definitions without a trace event that can get one now. */
static void eventlog_trace_try_unmade(void)
{
	eventlog_traces.untried = eventlog_traces.unmade;
	queue_delayed_work(eventlog_traces.queue, &eventlog_traces.work, EVENTLOG_TRACE_MAKE_UP);
}

/* Counts a trace event for another user, unless that user is at its limit. */
static bool eventlog_trace_recharge(struct eventlog_trace_event *trace, struct eventlog_user *user)
{
	if (trace->user == user)
		return true;
	if (user && user->trace_events >= DIV_ROUND_UP(eventlog_traces.events_max, 4))
		return false;
	if (!eventlog_user_charge(user, EVENTLOG_QUOTA_TRACE_BYTES, trace->bytes))
		return false;
	eventlog_trace_user_set(trace, user);
	eventlog_trace_try_unmade();
	return true;
}

static void eventlog_trace_event_recharge(struct eventlog_event *event)
{
	lockdep_assert_held(&event->domain->lock);
	eventlog_traces_lock();
	if (event->trace.event)
		eventlog_trace_recharge(event->trace.event, event->user);
	eventlog_traces_unlock();
}

/* Could a trace event be made for this definition?  Without the locks it is a guess. */
static bool eventlog_trace_possible(const struct eventlog_event *event)
{
	return eventlog_trace_event_room(event) &&
	       eventlog_user_room(event->user, EVENTLOG_QUOTA_TRACE_BYTES);
}

static struct eventlog_trace_layout *
eventlog_trace_event_prepare(const struct eventlog_event *event)
{
	if (!event->domain->trace_group || !eventlog_trace_possible(event))
		return NULL;
	return eventlog_trace_layout_new(event);
}

/*
 * The table and the domain are locked.  @layout was made without the table's lock: it allocates
 * memory, and its length is that of the definition.
 */
static void eventlog_trace_event_add_locked(struct eventlog_event *event, u64 key,
					    struct eventlog_trace_layout **layout)
{
	struct eventlog_trace_event *trace = eventlog_trace_find(key);

	if (!trace)
		trace = eventlog_trace_make(event, key, layout);
	else if (!eventlog_trace_recharge(trace, event->user))
		trace = NULL;
	if (!trace) {
		eventlog_trace_unmade_add(event);
		return;
	}
	/*
	 * It may be pinned for its last definition, which was traced when it ended.  A definition
	 * that was made persistent while there was no room pins it now.
	 */
	eventlog_trace_pin(&trace->pinned, event->persistent);
	trace->uses++;
	trace->stays = false;
	eventlog_trace_event_set(trace, event);
	event->trace.event = trace;
	rcu_assign_pointer(event->trace.tracers, eventlog_tracers_get(trace));
	eventlog_trace_schedule(trace);
}

static void eventlog_trace_event_add(struct eventlog_event *event,
				     struct eventlog_trace_layout **layout)
{
	struct eventlog_trace_layout *made = NULL;
	bool late;
	u64 key;

	lockdep_assert_held(&event->domain->lock);
	if (!event->domain->trace_group)
		return;
	key = eventlog_trace_key(event);
	if (!layout && eventlog_trace_possible(event))
		made = eventlog_trace_layout_new(event);
	/* There was no room or memory when the layout was to be prepared. */
	late = layout && !*layout;
	eventlog_traces_lock();
	eventlog_trace_event_add_locked(event, key, layout ?: &made);
	if (late && event->trace.unmade && eventlog_trace_possible(event))
		eventlog_trace_try_unmade();
	eventlog_traces_unlock();
	eventlog_trace_layout_free(made);
}

/*
 * Does the trace event of an event that ends stay?  Programs that use plain ones expect their
 * names to be free soon.
 */
static bool eventlog_trace_stays(const struct eventlog_event *event)
{
	if (!EVENTLOG_TRACE_POOL)
		return false;
	return !(event->trace.flags & EVENTLOG_TRACE_PLAIN) ||
	       (!EVENTLOG_TRACE_FILES && !__ratelimit(&eventlog_trace_removals));
}

static void eventlog_trace_event_remove(struct eventlog_event *event)
{
	struct eventlog_trace_event *trace;
	bool held;

	lockdep_assert_held(&event->domain->lock);
	if (!event->domain->trace_group)
		return;
	eventlog_traces_lock();
	eventlog_trace_unmade_remove(event);
	trace = event->trace.event;
	if (!trace)
		goto out;
	event->trace.event = NULL;
	RCU_INIT_POINTER(event->trace.tracers, NULL);
	eventlog_trace_event_set(trace, NULL);
	eventlog_trace_enable_drop(trace);
	/* ftrace does not report when a hold ends: the worker looks, and unpins the module. */
	held = eventlog_trace_held(trace);
	trace->stays = !held && eventlog_trace_stays(event);
	eventlog_trace_pin(&trace->pinned, held);
	eventlog_trace_schedule(trace);
out:
	eventlog_traces_unlock();
}

/* The definitions have lost their trace events: wait for those who found the domain before. */
static void eventlog_trace_abandon(const struct eventlog_domain *domain)
{
	if (domain->trace_group)
		eventlog_trace_enable_settle();
}

static void eventlog_trace_event_persist(struct eventlog_event *event)
{
	lockdep_assert_held(&event->domain->lock);
	eventlog_traces_lock();
	if (event->trace.event)
		eventlog_trace_pin(&event->trace.event->pinned, true);
	eventlog_traces_unlock();
}

static bool eventlog_trace_event_busy(const struct eventlog_event *event)
{
	bool busy = rcu_access_pointer(event->trace.tracers);

	eventlog_traces_lock();
	if (event->trace.event)
		busy |= eventlog_trace_held(event->trace.event);
	eventlog_traces_unlock();
	return busy;
}

/* Batches are small: the worker may have to run several times. */
static void eventlog_trace_event_wait(const struct eventlog_event *event)
{
	unsigned int tries = READ_ONCE(eventlog_traces.count) + 3;
	const struct eventlog_trace_event *trace;
	bool done;

	for (;;) {
		eventlog_traces_lock();
		trace = event ? event->trace.event : NULL;
		done = event ? !trace || (trace->added && !trace->busy) :
			       list_empty(&eventlog_traces.todo) && !eventlog_traces.working;
		eventlog_traces_unlock();
		if (done || !tries--)
			break;
		mod_delayed_work(eventlog_traces.queue, &eventlog_traces.work, 0);
		flush_delayed_work(&eventlog_traces.work);
		/* A file that is in use prevents removals, mostly for a short time. */
		if (!event)
			schedule_timeout_uninterruptible(1);
	}
}

/* Makes a trace event for a definition, unless its user is at a limit; the domain is locked. */
static void eventlog_trace_make_up_one(struct eventlog_event *event)
{
	struct eventlog_trace_layout *layout = NULL;
	u64 key;

	eventlog_trace_unmade_remove(event);
	/* The domain is locked, so the event stays. */
	eventlog_traces_unlock();
	key = eventlog_trace_key(event);
	if (eventlog_trace_possible(event))
		layout = eventlog_trace_layout_new(event);
	eventlog_traces_lock();
	eventlog_trace_event_add_locked(event, key, &layout);
	eventlog_trace_layout_free(layout);
}

void eventlog_trace_make_up(void)
{
	struct eventlog_domain *domain;
	struct eventlog_event *event;
	unsigned int tries = 0;

	eventlog_traces.untried = min(eventlog_traces.untried, eventlog_traces.unmade);
	for (; eventlog_traces.untried && tries < EVENTLOG_TRACE_BATCH; tries++) {
		event = list_first_entry_or_null(&eventlog_traces.unmade_list,
						 struct eventlog_event, trace.unmade_node);
		if (!event || !eventlog_trace_room(NULL, false)) {
			eventlog_traces.untried = 0;
			break;
		}
		eventlog_steps_add(&eventlog_traces.steps, 1);
		domain = event->domain;
		/*
		 * It comes first in the order of locks.  Continue with other domains: the owner of
		 * an instance can keep its lock busy.  The worker tries this one again soon.
		 */
		if (!eventlog_domain_trylock(domain)) {
			list_move_tail(&event->trace.unmade_node, &eventlog_traces.unmade_list);
			eventlog_traces.untried = eventlog_traces.unmade;
			continue;
		}
		eventlog_traces.untried--;
		eventlog_trace_make_up_one(event);
		/* The table is locked, therefore the domain cannot be freed yet. */
		eventlog_domain_unlock(domain);
	}
}

/* ---- for core/ ---- */

const struct eventlog_trace_ops eventlog_trace_definition_ops = {
	.prepare = eventlog_trace_event_prepare,
	.add = eventlog_trace_event_add,
	.layout_free = eventlog_trace_layout_free,
	.remove = eventlog_trace_event_remove,
	.abandon = eventlog_trace_abandon,
	.recharge = eventlog_trace_event_recharge,
	.persist = eventlog_trace_event_persist,
	.busy = eventlog_trace_event_busy,
	.lost = eventlog_trace_lost,
	.status = eventlog_trace_status,
	.wait = eventlog_trace_event_wait,
};

void eventlog_trace_definitions_init(void)
{
	ratelimit_set_flags(&eventlog_trace_removals, RATELIMIT_MSG_ON_RELEASE);
}

#endif /* EVENTLOG_TRACE_EVENTS */
