// SPDX-License-Identifier: GPL-2.0-only
/*
 * The worker that makes ftrace know trace events: see trace.h and worker.h.
 */
#define pr_fmt(format) "eventlog: " format

#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/module.h>
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

/* Interval of attempts to remove a trace event that something holds, or a file of which. */
#define EVENTLOG_TRACE_RETRY (HZ / 10)

/* How often a removal is tried again soon because a file is in use, which mostly is short. */
#define EVENTLOG_TRACE_TRIES 100

/* How long unloading waits for files in use. */
#define EVENTLOG_TRACE_FILES_WAIT HZ

static void eventlog_trace_work(struct work_struct *work);

struct eventlog_traces eventlog_traces = {
	.lock = __MUTEX_INITIALIZER(eventlog_traces.lock),
	.unmade_list = LIST_HEAD_INIT(eventlog_traces.unmade_list),
	.all = LIST_HEAD_INIT(eventlog_traces.all),
	.todo = LIST_HEAD_INIT(eventlog_traces.todo),
	.free = LIST_HEAD_INIT(eventlog_traces.free),
	.work = __DELAYED_WORK_INITIALIZER(eventlog_traces.work, eventlog_trace_work, 0),
};

/*
 * Does ftrace know a trace event, and must not forget it?  Then a definition that ends and comes
 * back causes no work under event_mutex.
 */
static bool eventlog_trace_rests(const struct eventlog_trace_event *trace)
{
	return trace->added && !trace->closed &&
	       (trace->event || (trace->stays && !eventlog_traces.stopping));
}

void eventlog_trace_schedule(struct eventlog_trace_event *trace)
{
	if (trace->busy)
		return;
	if (eventlog_trace_rests(trace)) {
		list_del_init(&trace->node);
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

/* Can a trace event with this layout be removed before the module is unloaded? */
static bool eventlog_trace_removed_live(const struct eventlog_trace_layout *layout)
{
	return !EVENTLOG_TRACE_POOL || layout->plain;
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
		.flags = TRACE_EVENT_FL_TRACEPOINT |
			 (eventlog_trace_removed_live(layout) ? TRACE_EVENT_FL_DYNAMIC : 0),
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
	/* Not covered: fails without memory, or when ftrace has 65535 types of events. */
	if (!register_trace_event(&trace->call.event))
		goto err_uninstall;
	/*
	 * Not covered: fails only for an event without a name.  If memory for a field is missing,
	 * ftrace reports no error.
	 */
	if (trace_add_event_call(&trace->call))
		goto err_unregister;
	/*
	 * What holds a trace event pins its module.  ftrace clears the pointer, and counts in the
	 * same place for an event that can be removed any time.  event_mutex is still held, so
	 * nothing has used the pointer.
	 */
	if (!eventlog_trace_removed_live(trace->layout))
		trace->call.module = THIS_MODULE;
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

/* Undoes the beginning of a removal. */
static void eventlog_trace_reopen(struct eventlog_trace_event *trace)
{
	if (trace->closed)
		eventlog_trace_files_open(&trace->call);
	trace->closed = 0;
}

/* Its files are closed until it is removed, or is used again. */
static void eventlog_trace_remove(struct eventlog_trace_event *trace)
{
	if (!eventlog_trace_removable(trace)) {
		eventlog_trace_reopen(trace);
		return;
	}
	trace->closed = min(trace->closed + 1, EVENTLOG_TRACE_TRIES);
	trace->in_use = true;
	/* Those who are opening a file need event_mutex: keep it closed, and try again. */
	if (!eventlog_trace_files_close(&trace->call) && !READ_ONCE(eventlog_traces.forced))
		return;
	if (trace_remove_event_call(&trace->call)) {
		eventlog_trace_reopen(trace);
		return;
	}
	trace->in_use = false;
	trace->closed = 0;
	trace->added = false;
	hash_del(&trace->name_node);
	eventlog_trace_uninstall(trace);
}

/* Steps under event_mutex that a trace event takes. */
static unsigned int eventlog_trace_steps(const struct eventlog_trace_event *trace)
{
	const struct eventlog_trace_layout *layout = trace->layout ?: trace->prepared;

	return 1 + (layout ? layout->field_count : 0);
}

/* Removes and adds the trace events of a batch; called by eventlog_trace_locked(). */
static void eventlog_trace_apply(void *argument)
{
	struct list_head *batch = argument;
	struct eventlog_trace_event *trace;
	struct eventlog_steps steps;

	eventlog_steps_begin(&steps);
	list_for_each_entry(trace, batch, node)
		eventlog_steps_add(&steps, eventlog_trace_steps(trace));
	/* Remove first: the names may be needed. */
	list_for_each_entry(trace, batch, node)
		eventlog_trace_remove(trace);
	list_for_each_entry(trace, batch, node)
		if (trace->needed && !trace->added)
			eventlog_trace_add(trace);
	eventlog_steps_end(&steps, EVENTLOG_STEPS_EVENT_MUTEX);
}

/* Makes its memory available to other trace events. */
static void eventlog_trace_free(struct eventlog_trace_event *trace)
{
	list_move_tail(&trace->node, &eventlog_traces.free);
	eventlog_traces.free_count++;
	eventlog_trace_user_set(trace, NULL);
	eventlog_traces.instances -= trace->of_instance;
	trace->of_instance = false;
	hash_del(&trace->key_node);
	hash_del(&trace->group_node);
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
	if (!trace->added && !trace->event) {
		eventlog_trace_free(trace);
		return AGAIN_NEVER;
	}
	if (eventlog_trace_rests(trace)) {
		list_del_init(&trace->node);
		return AGAIN_NEVER;
	}
	/* It could not be removed: detaching the known tracer schedules it again. */
	if (trace->added && !trace->needed && rcu_access_pointer(trace->tracers)) {
		list_del_init(&trace->node);
		return AGAIN_NEVER;
	}
	list_move_tail(&trace->node, &eventlog_traces.todo);
	/* Without an attempt to remove it, the definition came back for a moment: try at once. */
	if (trace->added && !trace->event && (trace->in_use || eventlog_trace_held(trace))) {
		eventlog_trace_pin(&trace->pinned, true);
		return trace->closed && trace->closed < EVENTLOG_TRACE_TRIES ? AGAIN_SOON :
									       AGAIN_LATER;
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
	if (remove && !eventlog_traces.stopping) {
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
	trace->in_use = false;
	trace->needed = trace->event;
	trace->suffix = trace->event ? trace->event->descriptor : 0;
	trace->uses_seen = trace->uses;
}

static void eventlog_trace_work(struct work_struct *work)
{
	enum eventlog_trace_again again = AGAIN_NEVER;
	struct eventlog_trace_event *trace, *next;
	unsigned int count = 0, steps = 0;
	bool remove = false, failed = false;
	LIST_HEAD(batch);
	int ret;

	eventlog_traces_lock();
	while (!list_empty(&eventlog_traces.todo)) {
		trace = list_first_entry(&eventlog_traces.todo, struct eventlog_trace_event, node);
		steps += eventlog_trace_steps(trace);
		if (++count > EVENTLOG_TRACE_BATCH ||
		    (count > 1 && steps > EVENTLOG_TRACE_BATCH_STEPS)) {
			again = AGAIN_NOW;
			break;
		}
		eventlog_trace_batch_add(&batch, trace);
		remove |= trace->added && !trace->needed;
	}
	eventlog_steps_add(&eventlog_traces.steps, count);
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
	/* A removal that was scheduled meanwhile must not delay what is due now. */
	if (again == AGAIN_NOW)
		mod_delayed_work(eventlog_traces.queue, &eventlog_traces.work, 0);
	else if (again != AGAIN_NEVER)
		queue_delayed_work(eventlog_traces.queue, &eventlog_traces.work,
				   eventlog_trace_delays[again]);
}

/* ---- load and unload ---- */

int eventlog_trace_init(unsigned int events_max)
{
	int ret;

	ret = eventlog_trace_files_init();
	if (ret)
		return ret;
	hash_init(eventlog_traces.keys);
	hash_init(eventlog_traces.groups);
	hash_init(eventlog_traces.names);
	eventlog_traces.events_max = events_max;
	eventlog_trace_definitions_init();
	eventlog_traces.queue = alloc_workqueue("eventlog", WQ_UNBOUND, 0);
	if (!eventlog_traces.queue)
		return -ENOMEM;
	eventlog_trace_lock_init();
	static_call_update(eventlog_trace_emit, eventlog_trace_emit);
	if (events_max)
		eventlog_root_domain.trace_group = "eventlog_";
	eventlog_trace_ops = &eventlog_trace_definition_ops;
	return 0;
}

/* Gives all trace events that ftrace knows to the worker; returns how many there are. */
static unsigned int eventlog_trace_remove_all(void)
{
	struct eventlog_trace_event *trace;
	unsigned int count = 0;

	eventlog_traces_lock();
	eventlog_traces.stopping = true;
	list_for_each_entry(trace, &eventlog_traces.all, all_node) {
		count += trace->added || trace->busy;
		if (trace->added && !trace->busy && list_empty(&trace->node))
			eventlog_trace_schedule(trace);
	}
	eventlog_traces_unlock();
	return count;
}

/*
 * Nothing is attached, or the module would be pinned.  One case is left: an eprobe that was made
 * on a trace event whose definition ended a tenth of a second ago, and which is about to be
 * removed.  Only removing the eprobe helps, so say it; elog upgrade looks for eprobes before.
 */
void eventlog_trace_exit(void)
{
	unsigned int left, last = UINT_MAX;
	unsigned long deadline = jiffies;
	bool warned = false;
	struct eventlog_trace_event *trace, *next;

	/* Nothing emits any more: the worker need not wait before each batch. */
	tracepoint_synchronize_unregister();
	synchronize_rcu();
	while ((left = eventlog_trace_remove_all())) {
		if (left < last) {
			last = left;
			deadline = jiffies + EVENTLOG_TRACE_FILES_WAIT;
		} else {
			schedule_timeout_uninterruptible(1);
		}
		if (time_after(jiffies, deadline) && !eventlog_traces.forced) {
			pr_info("files of %u events in tracefs are still open\n", left);
			WRITE_ONCE(eventlog_traces.forced, true);
			deadline = jiffies + EVENTLOG_TRACE_FILES_WAIT;
		} else if (time_after(jiffies, deadline) && !warned) {
			pr_warn("unloading waits for the removal of eprobes on %u events, see dynamic_events in tracefs\n",
				left);
			warned = true;
		}
		mod_delayed_work(eventlog_traces.queue, &eventlog_traces.work, 0);
		flush_delayed_work(&eventlog_traces.work);
	}
	cancel_delayed_work_sync(&eventlog_traces.work);
	eventlog_trace_enable_exit();
	destroy_workqueue(eventlog_traces.queue);
	eventlog_trace_lock_exit();
	list_for_each_entry_safe(trace, next, &eventlog_traces.all, all_node) {
		eventlog_trace_layout_free(trace->layout);
		eventlog_trace_layout_free(trace->prepared);
		eventlog_user_put(trace->user);
		eventlog_free(trace);
	}
}

#endif /* EVENTLOG_TRACE_EVENTS */
