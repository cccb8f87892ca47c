// SPDX-License-Identifier: GPL-2.0-only
/*
 * The worker that makes ftrace know trace events: see trace.h and worker.h.
 */
#define pr_fmt(format) "eventlog: " format

#include <linux/delay.h>
#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/module.h>
#include <linux/ratelimit.h>
#include <linux/siphash.h>
#include <linux/trace_events.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "core/domain.h"
#include "core/emit.h"
#include "core/event.h"
#include "core/provider.h"
#include "core/user.h"
#include "memory.h"
#include "trace/attach.h"
#include "trace/definition.h"
#include "trace/enable.h"
#include "trace/files.h"
#include "trace/layout.h"
#include "trace/lock.h"
#include "trace/trace.h"
#include "trace/worker.h"

#if EVENTLOG_TRACE_EVENTS

/* Delay of a removal: others may join the batch, or the definition may come back. */
#define EVENTLOG_TRACE_REMOVAL (HZ / 10)

/* Interval of attempts to remove a trace event that something unknown holds. */
#define EVENTLOG_TRACE_RETRY HZ

/* How often a removal is tried again soon because a file is in use, which mostly is short. */
#define EVENTLOG_TRACE_TRIES 100

/* Most seconds of idle time: in jiffies, it must not wrap. */
#define EVENTLOG_TRACE_IDLE_MAX 1000000

/* Limits how often idle trace events are removed because their name is needed. */
static DEFINE_RATELIMIT_STATE(eventlog_trace_takeovers, 60 * HZ, 64);

static void eventlog_trace_idle_work(struct work_struct *work);
static void eventlog_trace_work(struct work_struct *work);

struct eventlog_traces eventlog_traces = {
	.lock = __MUTEX_INITIALIZER(eventlog_traces.lock),
	.unmade_list = LIST_HEAD_INIT(eventlog_traces.unmade_list),
	.all = LIST_HEAD_INIT(eventlog_traces.all),
	.todo = LIST_HEAD_INIT(eventlog_traces.todo),
	.idle = LIST_HEAD_INIT(eventlog_traces.idle),
	.free = LIST_HEAD_INIT(eventlog_traces.free),
	.work = __DELAYED_WORK_INITIALIZER(eventlog_traces.work, eventlog_trace_work, 0),
	.idle_work = __DELAYED_WORK_INITIALIZER(eventlog_traces.idle_work,
						eventlog_trace_idle_work, 0),
};

/*
 * Must a trace event without definition be idle first?  Not if the module is pinned by it, or
 * its removal has begun.
 */
static bool eventlog_trace_waits(const struct eventlog_trace_event *trace)
{
	return trace->added && !trace->event && !trace->of_kernel && !trace->abandoned &&
	       !trace->pinned && !trace->closed && !trace->idle_over && !eventlog_traces.stopping &&
	       READ_ONCE(*eventlog_traces.idle_seconds);
}

static void eventlog_trace_idle(struct eventlog_trace_event *trace)
{
	unsigned long delay = min_t(unsigned int, READ_ONCE(*eventlog_traces.idle_seconds),
				    EVENTLOG_TRACE_IDLE_MAX) * HZ;

	trace->idle_until = jiffies + delay;
	list_move_tail(&trace->node, &eventlog_traces.idle);
	queue_delayed_work(eventlog_traces.queue, &eventlog_traces.idle_work, delay);
}

/* Gives trace events that have been idle for long enough to the worker. */
static void eventlog_trace_idle_work(struct work_struct *work)
{
	struct eventlog_trace_event *trace, *next;

	eventlog_traces_lock();
	list_for_each_entry_safe(trace, next, &eventlog_traces.idle, node) {
		if (time_before(jiffies, trace->idle_until)) {
			queue_delayed_work(eventlog_traces.queue, &eventlog_traces.idle_work,
					   trace->idle_until - jiffies);
			break;
		}
		trace->idle_over = true;
		eventlog_trace_schedule(trace);
	}
	eventlog_traces_unlock();
}

void eventlog_trace_schedule(struct eventlog_trace_event *trace)
{
	if (trace->busy)
		return;
	if (eventlog_trace_waits(trace)) {
		eventlog_trace_idle(trace);
		return;
	}
	list_move_tail(&trace->node, &eventlog_traces.todo);
	if (trace->event)
		mod_delayed_work(eventlog_traces.queue, &eventlog_traces.work, 0);
	else
		queue_delayed_work(eventlog_traces.queue, &eventlog_traces.work,
				   EVENTLOG_TRACE_REMOVAL);
}

/* ---- the worker ---- */

static enum print_line_t eventlog_trace_print(struct trace_iterator *iter, int flags,
					      struct trace_event *event)
{
	const struct eventlog_trace_event *trace =
		container_of(event, struct eventlog_trace_event, call.event);

	eventlog_trace_layout_print(trace->layout, &iter->seq, iter->ent, iter->ent_size);
	return trace_handle_return(&iter->seq);
}

static struct trace_event_functions eventlog_trace_functions = {
	.trace = eventlog_trace_print,
};

/* Is the name taken by an event that is not eventlog's?  Without event_mutex. */
static bool eventlog_trace_name_foreign(const struct eventlog_trace_layout *layout)
{
	struct trace_event_file *file;

	/* Files that each group has. */
	if (!strcmp(layout->name, "enable") || !strcmp(layout->name, "filter"))
		return true;
	file = trace_get_event_file(NULL, layout->group, layout->name);
	if (IS_ERR(file))
		return false;
	trace_put_event_file(file);
	return true;
}

static u64 eventlog_trace_name_hash(const struct eventlog_trace_layout *layout)
{
	return siphash(layout->name, strlen(layout->name), &eventlog_root_domain.hash_key);
}

/* The trace event that ftrace knows by the name of a layout, or NULL. */
static struct eventlog_trace_event *
eventlog_trace_name_find(const struct eventlog_trace_layout *layout)
{
	u64 hash = eventlog_trace_name_hash(layout);
	struct eventlog_trace_event *trace;

	hash_for_each_possible(eventlog_traces.names, trace, name_node, hash)
		if (!strcmp(trace->layout->name, layout->name) &&
		    !strcmp(trace->layout->group, layout->group))
			return trace;
	return NULL;
}

/* Under event_mutex, and ftrace does not know the trace event. */
static void eventlog_trace_install(struct eventlog_trace_event *trace)
{
	struct eventlog_trace_layout *layout = trace->layout;
	size_t bytes = strlen(layout->name);

	if (layout->unique || trace->foreign || eventlog_trace_name_find(layout))
		snprintf(layout->name + bytes, EVENTLOG_TRACE_SUFFIX + 1, ".%x", trace->suffix);

	trace->tracepoint.name = layout->name;
	trace->class = (struct trace_event_class){
		.system = layout->group,
		.reg = eventlog_trace_reg,
		.fields_array = layout->ftrace_fields,
	};
	INIT_LIST_HEAD(&trace->class.fields);
	trace->call = (struct trace_event_call){
		.class = &trace->class,
		.tp = &trace->tracepoint,
		.event.funcs = &eventlog_trace_functions,
		.print_fmt = layout->print_fmt,
		.flags = TRACE_EVENT_FL_TRACEPOINT | TRACE_EVENT_FL_DYNAMIC,
	};
}

/* Likewise.  An open "format" file may still refer to it: leave it empty, but valid. */
static void eventlog_trace_uninstall(struct eventlog_trace_event *trace)
{
	trace->class.system = "";
	trace->class.fields_array = NULL;
	trace->tracepoint.name = "";
	trace->call.print_fmt = "";
	eventlog_trace_layout_free(trace->layout);
	trace->layout = NULL;
}

static void eventlog_trace_add(struct eventlog_trace_event *trace)
{
	trace->failed = true;
	trace->layout = trace->prepared;
	trace->prepared = NULL;
	eventlog_trace_install(trace);
	if (!register_trace_event(&trace->call.event))
		goto err_uninstall;
	if (trace_add_event_call(&trace->call))
		goto err_unregister;
	trace->failed = false;
	trace->added = true;
	hash_add(eventlog_traces.names, &trace->name_node,
		 eventlog_trace_name_hash(trace->layout));
	return;

err_unregister:
	unregister_trace_event(&trace->call.event);
err_uninstall:
	eventlog_trace_uninstall(trace);
}

/* May it be removed?  Under event_mutex, so that nothing can attach. */
static bool eventlog_trace_removable(const struct eventlog_trace_event *trace)
{
	return trace->added && !trace->needed && !READ_ONCE(trace->event) &&
	       READ_ONCE(trace->uses) == trace->uses_seen &&
	       !rcu_access_pointer(trace->tracers) && !eventlog_trace_held(trace);
}

/* Its files are closed until it is removed, or its removal is given up. */
static void eventlog_trace_remove(struct eventlog_trace_event *trace)
{
	bool removable = eventlog_trace_removable(trace);

	if (removable) {
		trace->closed = true;
		if (eventlog_trace_files_close(&trace->call))
			return;
		trace->busy_in_ftrace = trace_remove_event_call(&trace->call);
	}
	if (!removable || trace->busy_in_ftrace) {
		if (trace->closed)
			eventlog_trace_files_open(&trace->call);
		trace->closed = false;
		return;
	}
	trace->closed = false;
	trace->added = false;
	hash_del(&trace->name_node);
	eventlog_trace_uninstall(trace);
}

/* Removes and adds the trace events of a batch; called by eventlog_trace_locked(). */
static void eventlog_trace_apply(void *argument)
{
	struct list_head *batch = argument;
	struct eventlog_trace_event *trace;

	/* Remove first: the names may be needed. */
	list_for_each_entry(trace, batch, node)
		eventlog_trace_remove(trace);
	list_for_each_entry(trace, batch, node)
		if (trace->needed && !trace->added)
			eventlog_trace_add(trace);
}

/* Makes its memory available to other trace events. */
static void eventlog_trace_free(struct eventlog_trace_event *trace)
{
	list_move_tail(&trace->node, &eventlog_traces.free);
	eventlog_traces.free_count++;
	eventlog_user_uncharge(trace->user, EVENTLOG_QUOTA_TRACE_EVENTS, 1);
	eventlog_user_put(trace->user);
	trace->user = NULL;
	hash_del(&trace->key_node);
	eventlog_trace_layout_free(trace->prepared);
	trace->prepared = NULL;
	eventlog_trace_pin(&trace->pinned, false);
	eventlog_traces.untried = eventlog_traces.unmade;
}

/* When the worker must run again. */
enum eventlog_trace_again {
	AGAIN_NEVER,
	AGAIN_LATER,
	AGAIN_SOON,
	AGAIN_NOW,
};

static const unsigned long eventlog_trace_delays[] = {
	[AGAIN_LATER] = EVENTLOG_TRACE_RETRY,
	[AGAIN_SOON] = EVENTLOG_TRACE_MAKE_UP,
	[AGAIN_NOW] = 0,
};

/*
 * After a batch: a file was in use, so the trace event was not removed.  It is tried again, or
 * its files are opened again if it is needed or traced by now.
 */
static enum eventlog_trace_again eventlog_trace_settle_closed(struct eventlog_trace_event *trace)
{
	list_move_tail(&trace->node, &eventlog_traces.todo);
	if (trace->event || rcu_access_pointer(trace->tracers))
		return AGAIN_NOW;
	if (trace->tries < EVENTLOG_TRACE_TRIES) {
		trace->tries++;
		return AGAIN_SOON;
	}
	eventlog_trace_pin(&trace->pinned, true);
	return AGAIN_LATER;
}

/*
 * After a batch: a trace event that is as it should be leaves the worker's list.  If
 * it should be different by now, or something still holds it, it stays on the list.
 */
static enum eventlog_trace_again eventlog_trace_settle(struct eventlog_trace_event *trace)
{
	trace->busy = false;
	/* The definition came back while its trace event was being removed. */
	if (trace->event && !trace->added && !trace->prepared)
		trace->prepared = eventlog_trace_layout_new(trace->event);
	if (trace->failed || (trace->event && !trace->added && !trace->prepared))
		eventlog_trace_forget_event(trace);
	if (trace->closed)
		return eventlog_trace_settle_closed(trace);
	trace->tries = 0;

	if (!trace->added && !trace->event) {
		eventlog_trace_free(trace);
		return AGAIN_NEVER;
	}
	if (trace->added == !!trace->event) {
		list_del_init(&trace->node);
		return AGAIN_NEVER;
	}
	/* It could not be removed: detaching the known tracer schedules it again. */
	if (trace->added && !trace->needed && rcu_access_pointer(trace->tracers)) {
		trace->idle_over = false;
		list_del_init(&trace->node);
		return AGAIN_NEVER;
	}
	/* The definition has just ended. */
	if (eventlog_trace_waits(trace)) {
		eventlog_trace_idle(trace);
		return AGAIN_NEVER;
	}
	list_move_tail(&trace->node, &eventlog_traces.todo);
	/* Without an attempt to remove it, the definition came back for a moment: try at once. */
	if (trace->added && (trace->busy_in_ftrace || eventlog_trace_held(trace))) {
		eventlog_trace_pin(&trace->pinned, true);
		return AGAIN_LATER;
	}
	return AGAIN_NOW;
}

/* Makes ftrace know, or forget, the trace events of a batch.  Takes event_mutex. */
static int eventlog_trace_batch(struct list_head *batch, bool remove)
{
	struct eventlog_trace_event *trace;

	if (list_empty(batch))
		return 0;
	/*
	 * Wait for emissions that may be using files which ftrace will free, before event_mutex
	 * is taken, which all of tracing needs.  A trace event that is used meanwhile stays.
	 */
	if (remove) {
		tracepoint_synchronize_unregister();
		synchronize_rcu();
	}
	list_for_each_entry(trace, batch, node)
		trace->foreign = trace->needed && !trace->added &&
				 !eventlog_trace_name_find(trace->prepared) &&
				 eventlog_trace_name_foreign(trace->prepared);
	return eventlog_trace_locked(eventlog_trace_apply, batch);
}

static void eventlog_trace_batch_add(struct list_head *batch, struct eventlog_trace_event *trace)
{
	list_move_tail(&trace->node, batch);
	trace->busy = true;
	trace->failed = false;
	trace->busy_in_ftrace = false;
	trace->needed = trace->event;
	trace->suffix = trace->event ? trace->event->descriptor : 0;
	trace->uses_seen = trace->uses;
}

/* The idle trace event whose name another one needs, if it may be removed; or NULL. */
static struct eventlog_trace_event *
eventlog_trace_name_holder(const struct eventlog_trace_event *trace)
{
	struct eventlog_trace_event *holder = NULL;

	if (trace->needed && !trace->added)
		holder = eventlog_trace_name_find(trace->prepared);
	if (!holder || holder->busy || !eventlog_trace_waits(holder) ||
	    rcu_access_pointer(holder->tracers) || !__ratelimit(&eventlog_trace_takeovers))
		return NULL;
	return holder;
}

static void eventlog_trace_work(struct work_struct *work)
{
	enum eventlog_trace_again again = AGAIN_NEVER;
	struct eventlog_trace_event *trace, *next, *holder;
	bool remove = false, failed = false;
	unsigned int count = 0;
	LIST_HEAD(batch);
	int ret;

	eventlog_traces_lock();
	while (!list_empty(&eventlog_traces.todo)) {
		if (++count > EVENTLOG_TRACE_BATCH) {
			again = AGAIN_NOW;
			break;
		}
		trace = list_first_entry(&eventlog_traces.todo, struct eventlog_trace_event, node);
		eventlog_trace_batch_add(&batch, trace);
		holder = eventlog_trace_name_holder(trace);
		if (holder)
			eventlog_trace_batch_add(&batch, holder);
		remove |= holder || (trace->added && !trace->needed);
	}
	eventlog_traces.working = true;
	eventlog_traces_unlock();

	ret = eventlog_trace_batch(&batch, remove);

	eventlog_traces_lock();
	eventlog_traces.working = false;
	list_for_each_entry_safe(trace, next, &batch, node) {
		failed |= trace->failed;
		again = max(again, eventlog_trace_settle(trace));
	}
	/* event_mutex was not taken, for want of memory or because of a trigger: try again. */
	if (ret)
		again = min(again, AGAIN_LATER);
	/* What ftrace has just failed to add would probably fail again. */
	if (!failed)
		eventlog_trace_make_up();
	if (eventlog_traces.untried && again < AGAIN_SOON)
		again = failed ? AGAIN_LATER : AGAIN_SOON;
	eventlog_traces_unlock();
	if (again != AGAIN_NEVER)
		queue_delayed_work(eventlog_traces.queue, &eventlog_traces.work,
				   eventlog_trace_delays[again]);
}

/* ---- load and unload ---- */

int eventlog_trace_init(unsigned int events_max, const unsigned int *idle)
{
	int ret;

	hash_init(eventlog_traces.keys);
	hash_init(eventlog_traces.names);
	eventlog_traces.events_max = events_max;
	eventlog_traces.idle_seconds = idle;
	ratelimit_set_flags(&eventlog_trace_takeovers, RATELIMIT_MSG_ON_RELEASE);
	eventlog_trace_definitions_init();
	eventlog_traces.queue = alloc_workqueue("eventlog", WQ_UNBOUND, 0);
	if (!eventlog_traces.queue)
		return -ENOMEM;
	eventlog_trace_lock_init();
	ret = eventlog_trace_files_init();
	if (ret)
		goto err_queue;
	static_call_update(eventlog_trace_emit, eventlog_trace_emit);
	if (events_max)
		eventlog_root_domain.trace_group = "eventlog_";
	eventlog_trace_ops = &eventlog_trace_definition_ops;
	return 0;

err_queue:
	eventlog_trace_lock_exit();
	destroy_workqueue(eventlog_traces.queue);
	return ret;
}

static bool eventlog_trace_any_added(void)
{
	const struct eventlog_trace_event *trace;
	bool any = false;

	eventlog_traces_lock();
	list_for_each_entry(trace, &eventlog_traces.all, all_node)
		any |= trace->added || trace->busy;
	eventlog_traces_unlock();
	return any;
}

void eventlog_trace_exit(void)
{
	struct eventlog_trace_event *trace, *next;
	bool printed = false;

	eventlog_traces_lock();
	eventlog_traces.stopping = true;
	list_splice_tail_init(&eventlog_traces.idle, &eventlog_traces.todo);
	eventlog_traces_unlock();
	cancel_delayed_work_sync(&eventlog_traces.idle_work);
	for (;;) {
		mod_delayed_work(eventlog_traces.queue, &eventlog_traces.work, 0);
		flush_delayed_work(&eventlog_traces.work);
		if (!eventlog_trace_any_added())
			break;
		if (!printed)
			pr_info("waiting for tracers, or open files, of events that have ended\n");
		printed = true;
		msleep(20);
	}
	cancel_delayed_work_sync(&eventlog_traces.work);
	eventlog_trace_enable_exit();
	destroy_workqueue(eventlog_traces.queue);
	eventlog_trace_lock_exit();
	tracepoint_synchronize_unregister();
	synchronize_rcu();
	list_for_each_entry_safe(trace, next, &eventlog_traces.all, all_node) {
		eventlog_trace_layout_free(trace->layout);
		eventlog_trace_layout_free(trace->prepared);
		eventlog_user_put(trace->user);
		eventlog_free(trace);
	}
}

#endif /* EVENTLOG_TRACE_EVENTS */
