// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trace events: see trace_event.h.
 */
#define pr_fmt(format) "eventlog: " format

#include <linux/delay.h>
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
#include "core/enable.h"
#include "core/event.h"
#include "memory.h"
#include "core/provider.h"
#include "core/text.h"
#include "trace/attach.h"
#include "trace/layout.h"
#include "trace/lock.h"

#if EVENTLOG_TRACE_EVENTS

/* A record's size in ftrace's ring; what is larger it drops without a word. */
#define EVENTLOG_FTRACE_RECORD_MAX 4064

/* How many are added and removed at once: ftrace's mutex is held all the while. */
#define EVENTLOG_TRACE_BATCH 64

/* How long one that has ended waits for others, or to be wanted again. */
#define EVENTLOG_TRACE_REMOVAL (HZ / 10)

/* How long what is attached without our being told keeps an ended trace event. */
#define EVENTLOG_TRACE_RETRY HZ

/**
 * struct eventlog_tracers - who is attached to a trace event; constant
 * @rcu: frees it
 * @trace: the trace event
 * @perf: perf is, perhaps on behalf of BPF
 * @count: of @files
 * @files: one for each of ftrace's instances that records it
 */
struct eventlog_tracers {
	struct rcu_head rcu;
	struct eventlog_trace_event *trace;
	bool perf;
	unsigned int count;
	struct trace_event_file *files[];
};

/**
 * struct eventlog_trace_event - a trace event, or the memory of one
 * @call: ftrace's
 * @class: ftrace's
 * @tracepoint: has a name and nothing else: BPF asks for that
 * @layout: what it looks like while ftrace knows it; changed by the worker,
 *	under event_mutex
 * @tracers: who is attached; RCU, under domain->lock; NULL: nobody
 * @lost_ftrace: events too large for ftrace
 * @lost_perf: events too large for perf
 * @event: whose it is; NULL: it is to go, or has gone; under domain->lock
 * @prepared: what it is to look like when it is added
 * @key: which definition it is made for
 * @key_node: in the table of those
 * @all_node: in the list of all
 * @node: in the list of those to be looked at, of those to be had, or a batch
 * @busy: in a batch
 * @attached_pin: pins the module because somebody is attached
 * @pinned: pins the module because somebody could be, unseen
 * @wished: in a batch: it is to be there
 * @suffix: in a batch: for a unique name
 * @foreign: in a batch: somebody else has an event of that name
 * @failed: in a batch: ftrace would not have it
 * @refused: in a batch: ftrace would not let go of it
 * @added: ftrace knows it; the worker's
 * @name_node: in the table of names, while @added; the worker's
 */
struct eventlog_trace_event {
	struct trace_event_call call;
	struct trace_event_class class;
	struct tracepoint tracepoint;
	struct eventlog_trace_layout *layout;
	struct eventlog_tracers __rcu *tracers;
	atomic_long_t lost_ftrace;
	atomic_long_t lost_perf;
	struct eventlog_event *event;
	struct eventlog_trace_layout *prepared;
	u64 key;
	struct hlist_node key_node;
	struct list_head all_node;
	struct list_head node;
	bool busy;
	bool attached_pin;
	bool pinned;
	bool wished;
	u32 suffix;
	bool foreign;
	bool failed;
	bool refused;
	bool added;
	struct hlist_node name_node;
};

static void eventlog_trace_work(struct work_struct *work);
static void eventlog_trace_tell(struct work_struct *work);

/* Under the root domain's lock, but for @names, which is the worker's. */
static struct {
	unsigned int events_max;
	unsigned int count;	/* of @all */
	unsigned int unmade;	/* living definitions without one */
	struct list_head all;
	struct list_head todo;	/* to be looked at by the worker */
	struct list_head free;	/* unknown to ftrace, whose memory may be had, oldest first */
	DECLARE_HASHTABLE(keys, 10);
	DECLARE_HASHTABLE(names, 10);
	struct workqueue_struct *queue;
	struct delayed_work work;
	struct work_struct tell;
} eventlog_traces = {
	.all = LIST_HEAD_INIT(eventlog_traces.all),
	.todo = LIST_HEAD_INIT(eventlog_traces.todo),
	.free = LIST_HEAD_INIT(eventlog_traces.free),
	.work = __DELAYED_WORK_INITIALIZER(eventlog_traces.work, eventlog_trace_work, 0),
	.tell = __WORK_INITIALIZER(eventlog_traces.tell, eventlog_trace_tell),
};

static struct eventlog_domain *const eventlog_trace_domain = &eventlog_root_domain;

static void eventlog_trace_pin(bool *pinned, bool pin)
{
	if (*pinned == pin)
		return;
	if (!pin)
		module_put(THIS_MODULE);
	*pinned = pin && try_module_get(THIS_MODULE);
}

/* ---- attaching ---- */

static struct eventlog_tracers *eventlog_tracers_of(const struct eventlog_trace_event *trace)
{
	return rcu_dereference_protected(trace->tracers,
					 lockdep_is_held(&eventlog_trace_domain->lock));
}

struct eventlog_trace_event *eventlog_trace_event_attached(const struct eventlog_event *event)
{
	return event->trace && rcu_access_pointer(event->trace->tracers) ? event->trace : NULL;
}

/* Something holds it without our being told: an eprobe, or another event's trigger. */
static bool eventlog_trace_held(const struct eventlog_trace_event *trace)
{
	return atomic_read(&trace->call.refcnt);
}

bool eventlog_trace_event_busy(const struct eventlog_event *event)
{
	return eventlog_trace_event_attached(event) ||
	       (event->trace && eventlog_trace_held(event->trace));
}

static void eventlog_tracers_free_rcu(struct rcu_head *rcu)
{
	eventlog_free(container_of(rcu, struct eventlog_tracers, rcu));
}

/* Replaces who is attached; the event then is wanted, or no longer. */
static void eventlog_tracers_replace(struct eventlog_trace_event *trace,
				     struct eventlog_tracers *tracers)
{
	struct eventlog_tracers *old = eventlog_tracers_of(trace);

	rcu_assign_pointer(trace->tracers, tracers);
	if (trace->event)
		rcu_assign_pointer(trace->event->tracers, tracers);
	if (trace->event && !old != !tracers)
		eventlog_enable_tracers_changed(trace->event);
	if (old)
		call_rcu(&old->rcu, eventlog_tracers_free_rcu);
}

/* One more: @file, or perf if it is NULL. */
static int eventlog_trace_attach(struct eventlog_trace_event *trace, struct trace_event_file *file)
{
	struct eventlog_tracers *old = eventlog_tracers_of(trace), *tracers;
	unsigned int count = old ? old->count : 0;

	tracers = eventlog_alloc(struct_size(tracers, files, count + 1));
	if (!tracers)
		return -ENOMEM;
	eventlog_trace_pin(&trace->attached_pin, true);
	if (!trace->attached_pin) {
		eventlog_free(tracers);
		return -ENODEV;
	}
	tracers->trace = trace;
	tracers->perf = !file || (old && old->perf);
	if (old)
		memcpy(tracers->files, old->files, count * sizeof(file));
	if (file)
		tracers->files[count++] = file;
	tracers->count = count;
	eventlog_tracers_replace(trace, tracers);
	return 0;
}

static void eventlog_trace_todo(struct eventlog_trace_event *trace)
{
	if (trace->busy)
		return;
	list_move_tail(&trace->node, &eventlog_traces.todo);
	if (trace->event)
		mod_delayed_work(eventlog_traces.queue, &eventlog_traces.work, 0);
	else
		queue_delayed_work(eventlog_traces.queue, &eventlog_traces.work,
				   EVENTLOG_TRACE_REMOVAL);
}

static void eventlog_trace_detach(struct eventlog_trace_event *trace, struct trace_event_file *file)
{
	struct eventlog_tracers *old = eventlog_tracers_of(trace), *tracers = NULL;
	unsigned int i;

	if (!old)
		return;
	if (old->count + old->perf > 1) {
		tracers = eventlog_alloc_nofail(struct_size(tracers, files, old->count));
		tracers->trace = trace;
		tracers->perf = file && old->perf;
		for (i = 0; i < old->count; i++)
			if (old->files[i] != file)
				tracers->files[tracers->count++] = old->files[i];
	}
	eventlog_tracers_replace(trace, tracers);
	if (tracers)
		return;
	eventlog_trace_pin(&trace->attached_pin, false);
	if (!trace->event)
		eventlog_trace_todo(trace);
}

static void eventlog_trace_tell(struct work_struct *work)
{
	mutex_lock(&eventlog_trace_domain->update_lock);
	eventlog_providers_update(eventlog_trace_domain, NULL, NULL);
	mutex_unlock(&eventlog_trace_domain->update_lock);
}

/*
 * Kernel providers are told before the tracer goes on, so that it misses
 * nothing; unless they are being told of something already, by one who may be
 * waiting for event_mutex.
 */
static void eventlog_trace_tell_now(void)
{
	if (!mutex_trylock(&eventlog_trace_domain->update_lock)) {
		queue_work(eventlog_traces.queue, &eventlog_traces.tell);
		return;
	}
	eventlog_providers_update(eventlog_trace_domain, NULL, NULL);
	mutex_unlock(&eventlog_trace_domain->update_lock);
}

/* Under event_mutex; @file is NULL for perf. */
static int eventlog_trace_change(struct eventlog_trace_event *trace, bool attach,
				 struct trace_event_file *file)
{
	bool changed;
	int ret = 0;

	mutex_lock(&eventlog_trace_domain->lock);
	if (attach)
		ret = eventlog_trace_attach(trace, file);
	else
		eventlog_trace_detach(trace, file);
	changed = !list_empty(&eventlog_trace_domain->changed_providers);
	mutex_unlock(&eventlog_trace_domain->lock);
	if (changed)
		eventlog_trace_tell_now();
	return ret;
}

/*
 * For all but the four below ftrace may call from the scheduler, with its locks
 * held: perf's counters come and go with their tasks.
 */
static int eventlog_trace_reg(struct trace_event_call *call, enum trace_reg type, void *data)
{
	struct eventlog_trace_event *trace = container_of(call, struct eventlog_trace_event, call);

	switch (type) {
	case TRACE_REG_REGISTER:
	case TRACE_REG_UNREGISTER:
		return eventlog_trace_change(trace, type == TRACE_REG_REGISTER, data);
#ifdef CONFIG_PERF_EVENTS
	case TRACE_REG_PERF_REGISTER:
	case TRACE_REG_PERF_UNREGISTER:
		return eventlog_trace_change(trace, type == TRACE_REG_PERF_REGISTER, NULL);
#endif
	default:
		return 0;
	}
}

/* ---- delivering ---- */

static void eventlog_trace_patch(const struct eventlog_trace_layout *layout, u8 *payload)
{
	unsigned int i;

	for (i = 0; i < layout->patch_count; i++) {
		u8 *at = payload + layout->patches[i].position;

		/* The payload is small enough for the sum to stay in the lower half. */
		if (layout->patches[i].fix == EVENTLOG_TRACE_FIX_WORD)
			put_unaligned(get_unaligned((u32 *)at) + layout->header_bytes, (u32 *)at);
		else
			put_unaligned(be16_to_cpu(get_unaligned((__be16 *)at)), (u16 *)at);
	}
}

static void eventlog_trace_fill(const struct eventlog_trace_layout *layout, void *record,
				const struct eventlog_emission *emission)
{
	u8 *payload = record + layout->header_bytes;

	if (layout->session)
		put_unaligned(emission->session, (u64 *)(record + sizeof(struct trace_entry)));
	eventlog_payload_copy(emission, payload);
	/*
	 * A BPF program's memory may have changed since it was validated, and ftrace
	 * and perf trust what words of dynamic fields say: then all are empty.
	 */
	if (layout->validate &&
	    unlikely(eventlog_layout_validate(emission->event->layout, payload, emission->bytes)))
		memset(payload, 0, emission->bytes);
	eventlog_trace_patch(layout, payload);
}

static void eventlog_trace_to_ftrace(struct eventlog_trace_event *trace,
				     struct trace_event_file *file,
				     const struct eventlog_emission *emission)
{
	const struct eventlog_trace_layout *layout = trace->layout;
	u32 bytes = layout->header_bytes + emission->bytes;
	/* Reserving fills it; clearing it first would cost more. */
	struct trace_event_buffer buffer __uninitialized;
	void *record;

	if (trace_trigger_soft_disabled(file))
		return;
	if (bytes > EVENTLOG_FTRACE_RECORD_MAX) {
		atomic_long_inc(&trace->lost_ftrace);
		return;
	}
	record = trace_event_buffer_reserve(&buffer, file, bytes);
	if (!record)
		return;
	eventlog_trace_fill(layout, record, emission);
	trace_event_buffer_commit(&buffer);
}

#ifdef CONFIG_PERF_EVENTS
static void eventlog_trace_to_perf(struct eventlog_trace_event *trace,
				   const struct eventlog_emission *emission)
{
	const struct eventlog_trace_layout *layout = trace->layout;
	struct trace_event_call *call = &trace->call;
	u32 bytes = layout->header_bytes + emission->bytes;
	struct hlist_head *head = this_cpu_ptr(call->perf_events);
	struct pt_regs *regs;
	void *record;
	int context;
	u32 size;

	if (!bpf_prog_array_valid(call) && hlist_empty(head))
		return;
	/* perf puts a size of 32 bits before it, and wants the sum aligned. */
	size = ALIGN(bytes + sizeof(u32), sizeof(u64)) - sizeof(u32);
	if (size > PERF_MAX_TRACE_SIZE) {
		atomic_long_inc(&trace->lost_perf);
		return;
	}
	record = perf_trace_buf_alloc(size, &regs, &context);
	if (!record)
		return;
	perf_fetch_caller_regs(regs);
	eventlog_trace_fill(layout, record, emission);
	/* No stale bytes, which perf's buffer has. */
	memset(record + bytes, 0, size - bytes);
	perf_trace_run_bpf_submit(record, size, context, call, 1, regs, head, NULL);
}
#else
static void eventlog_trace_to_perf(struct eventlog_trace_event *trace,
				   const struct eventlog_emission *emission) { }
#endif

void eventlog_trace_emit(const struct eventlog_emission *emission)
{
	const struct eventlog_tracers *tracers;
	unsigned int i;

	eventlog_tracers_lock();
	tracers = rcu_dereference_sched(emission->event->tracers);
	for (i = 0; tracers && i < tracers->count; i++)
		eventlog_trace_to_ftrace(tracers->trace, tracers->files[i], emission);
	if (tracers && tracers->perf)
		eventlog_trace_to_perf(tracers->trace, emission);
	eventlog_tracers_unlock();
}

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

/* ---- the worker ---- */

/* Does somebody else have an event of that name?  Without event_mutex. */
static bool eventlog_trace_name_foreign(const struct eventlog_trace_layout *layout)
{
	struct trace_event_file *file;

	/* A group's own files. */
	if (!strcmp(layout->name, "enable") || !strcmp(layout->name, "filter"))
		return true;
	file = trace_get_event_file(NULL, layout->group, layout->name);
	if (IS_ERR(file))
		return false;
	trace_put_event_file(file);
	return true;
}

static bool eventlog_trace_name_taken(const struct eventlog_trace_layout *layout, u64 hash)
{
	const struct eventlog_trace_event *trace;

	hash_for_each_possible(eventlog_traces.names, trace, name_node, hash)
		if (!strcmp(trace->layout->name, layout->name) &&
		    !strcmp(trace->layout->group, layout->group))
			return true;
	return false;
}

static u64 eventlog_trace_name_hash(const struct eventlog_trace_layout *layout)
{
	return siphash(layout->name, strlen(layout->name), &eventlog_trace_domain->hash_key);
}

/* Under event_mutex: nobody looks at what ftrace does not know. */
static void eventlog_trace_install(struct eventlog_trace_event *trace)
{
	struct eventlog_trace_layout *layout = trace->layout;
	size_t bytes = strlen(layout->name);

	if (trace->foreign || eventlog_trace_name_taken(layout, eventlog_trace_name_hash(layout)))
		snprintf(layout->name + bytes, sizeof(layout->name) - bytes, ".%x", trace->suffix);

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

/* Likewise; an open "format" file may still lead here, and finds nothing. */
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

/* May it be removed?  Under event_mutex nobody can attach. */
static bool eventlog_trace_removable(const struct eventlog_trace_event *trace)
{
	return trace->added && !trace->wished && !READ_ONCE(trace->event) &&
	       !rcu_access_pointer(trace->tracers) && !eventlog_trace_held(trace);
}

/* Makes of a batch what is wished, by eventlog_trace_locked(). */
static void eventlog_trace_apply(void *argument)
{
	struct list_head *batch = argument;
	struct eventlog_trace_event *trace;
	bool waited = false;

	/* Names come free before they are looked for. */
	list_for_each_entry(trace, batch, node) {
		if (!eventlog_trace_removable(trace))
			continue;
		/* Emissions that still look at files that ftrace will free. */
		if (!waited) {
			tracepoint_synchronize_unregister();
			synchronize_rcu();
			waited = true;
		}
		trace->refused = trace_remove_event_call(&trace->call);
		if (trace->refused)
			continue;
		trace->added = false;
		hash_del(&trace->name_node);
		eventlog_trace_uninstall(trace);
	}
	list_for_each_entry(trace, batch, node)
		if (trace->wished && !trace->added)
			eventlog_trace_add(trace);
}

static void eventlog_trace_forget_event(struct eventlog_trace_event *trace)
{
	if (!trace->event)
		return;
	trace->event->trace = NULL;
	trace->event->unmade = true;
	trace->event = NULL;
	eventlog_traces.unmade++;
}

/* Its memory may be had by others. */
static void eventlog_trace_free(struct eventlog_trace_event *trace)
{
	list_move_tail(&trace->node, &eventlog_traces.free);
	hash_del(&trace->key_node);
	eventlog_trace_layout_free(trace->prepared);
	trace->prepared = NULL;
	eventlog_trace_pin(&trace->pinned, false);
}

/* When a batch's trace events are to be looked at again. */
enum eventlog_trace_again {
	AGAIN_NEVER,
	AGAIN_LATER,
	AGAIN_NOW,
};

/*
 * After a batch: one that is as wished rests, one whose wish has changed
 * meanwhile is looked at again.
 */
static enum eventlog_trace_again eventlog_trace_settle(struct eventlog_trace_event *trace)
{
	trace->busy = false;
	/* Wanted again while it was removed. */
	if (trace->event && !trace->added && !trace->prepared)
		trace->prepared = eventlog_trace_layout_new(trace->event);
	if (trace->failed || (trace->event && !trace->added && !trace->prepared))
		eventlog_trace_forget_event(trace);

	if (!trace->added && !trace->event) {
		eventlog_trace_free(trace);
		return AGAIN_NEVER;
	}
	if (trace->added == !!trace->event) {
		list_del_init(&trace->node);
		return AGAIN_NEVER;
	}
	/* Removal was refused: who is attached and known says when that is over. */
	if (trace->added && !trace->wished && rcu_access_pointer(trace->tracers)) {
		list_del_init(&trace->node);
		return AGAIN_NEVER;
	}
	list_move_tail(&trace->node, &eventlog_traces.todo);
	/* One that was wanted again for a moment was not even tried. */
	if (trace->added && (trace->refused || eventlog_trace_held(trace))) {
		eventlog_trace_pin(&trace->pinned, true);
		return AGAIN_LATER;
	}
	return AGAIN_NOW;
}

/* Living definitions that there was no room for, now that there is. */
static void eventlog_trace_make_up(void)
{
	struct eventlog_event *event;
	unsigned long descriptor;

	if (!eventlog_traces.unmade || list_empty(&eventlog_traces.free))
		return;
	xa_for_each(&eventlog_trace_domain->definitions, descriptor, event) {
		cond_resched();
		if (!event->unmade)
			continue;
		if (list_empty(&eventlog_traces.free))
			break;
		event->unmade = false;
		eventlog_traces.unmade--;
		eventlog_trace_event_add(event);
		if (event->unmade)
			break;
	}
}

static void eventlog_trace_work(struct work_struct *work)
{
	struct eventlog_domain *domain = eventlog_trace_domain;
	enum eventlog_trace_again again = AGAIN_NEVER;
	struct eventlog_trace_event *trace, *next;
	unsigned int count = 0;
	LIST_HEAD(batch);
	int ret;

	mutex_lock(&domain->lock);
	list_for_each_entry_safe(trace, next, &eventlog_traces.todo, node) {
		if (++count > EVENTLOG_TRACE_BATCH) {
			again = AGAIN_NOW;
			break;
		}
		list_move_tail(&trace->node, &batch);
		trace->busy = true;
		trace->failed = false;
		trace->refused = false;
		trace->wished = trace->event;
		trace->suffix = trace->event ? trace->event->descriptor : 0;
	}
	mutex_unlock(&domain->lock);
	if (list_empty(&batch))
		return;

	list_for_each_entry(trace, &batch, node) {
		const struct eventlog_trace_layout *layout = trace->prepared;

		trace->foreign = trace->wished && !trace->added &&
				 !eventlog_trace_name_taken(layout, eventlog_trace_name_hash(layout)) &&
				 eventlog_trace_name_foreign(layout);
	}
	ret = eventlog_trace_locked(eventlog_trace_apply, &batch);

	mutex_lock(&domain->lock);
	list_for_each_entry_safe(trace, next, &batch, node)
		again = max(again, eventlog_trace_settle(trace));
	/* No memory, or a trigger on our event: that may pass. */
	if (ret)
		again = min(again, AGAIN_LATER);
	eventlog_trace_make_up();
	mutex_unlock(&domain->lock);
	if (again != AGAIN_NEVER)
		queue_delayed_work(eventlog_traces.queue, &eventlog_traces.work,
				   again == AGAIN_LATER ? EVENTLOG_TRACE_RETRY : 0);
}

/* ---- definitions coming and going ---- */

static u64 eventlog_trace_text_hash(const char *text)
{
	return text ? siphash(text, strlen(text), &eventlog_trace_domain->hash_key) : 0;
}

/* The same for the same definition, of the same provider's name. */
static u64 eventlog_trace_key(const struct eventlog_event *event)
{
	return siphash_4u64(eventlog_trace_text_hash(event->provider->name),
			    eventlog_trace_text_hash(event->name),
			    eventlog_trace_text_hash(event->fields_text) ^ event->level,
			    eventlog_trace_text_hash(event->provider->preamble) ^ event->keywords,
			    &eventlog_trace_domain->hash_key);
}

static struct eventlog_trace_event *eventlog_trace_find(u64 key)
{
	struct eventlog_trace_event *trace;

	hash_for_each_possible(eventlog_traces.keys, trace, key_node, key)
		if (trace->key == key && !trace->event)
			return trace;
	return NULL;
}

/* Memory for one more: new, or of one that has gone. */
static struct eventlog_trace_event *eventlog_trace_new(void)
{
	struct eventlog_trace_event *trace;

	if (eventlog_traces.count < eventlog_traces.events_max) {
		trace = eventlog_alloc(sizeof(*trace));
		if (!trace)
			return NULL;
		eventlog_traces.count++;
		list_add_tail(&trace->all_node, &eventlog_traces.all);
		INIT_LIST_HEAD(&trace->node);
		return trace;
	}
	trace = list_first_entry_or_null(&eventlog_traces.free, struct eventlog_trace_event, node);
	if (!trace)
		return NULL;
	list_del_init(&trace->node);
	return trace;
}

static struct eventlog_trace_event *eventlog_trace_make(const struct eventlog_event *event, u64 key)
{
	struct eventlog_trace_layout *layout = eventlog_trace_layout_new(event);
	struct eventlog_trace_event *trace;

	if (!layout)
		return NULL;
	trace = eventlog_trace_new();
	if (!trace) {
		eventlog_trace_layout_free(layout);
		return NULL;
	}
	trace->prepared = layout;
	trace->key = key;
	atomic_long_set(&trace->lost_ftrace, 0);
	atomic_long_set(&trace->lost_perf, 0);
	hash_add(eventlog_traces.keys, &trace->key_node, key);
	return trace;
}

void eventlog_trace_event_add(struct eventlog_event *event)
{
	struct eventlog_trace_event *trace;
	u64 key;

	lockdep_assert_held(&event->domain->lock);
	if (event->domain != eventlog_trace_domain || !eventlog_traces.events_max)
		return;
	key = eventlog_trace_key(event);
	trace = eventlog_trace_find(key) ?: eventlog_trace_make(event, key);
	if (!trace) {
		event->unmade = true;
		eventlog_traces.unmade++;
		return;
	}
	trace->event = event;
	event->trace = trace;
	rcu_assign_pointer(event->tracers, eventlog_tracers_of(trace));
	eventlog_trace_todo(trace);
}

void eventlog_trace_event_remove(struct eventlog_event *event)
{
	struct eventlog_trace_event *trace = event->trace;

	lockdep_assert_held(&event->domain->lock);
	if (event->unmade)
		eventlog_traces.unmade--;
	event->unmade = false;
	if (!trace)
		return;
	event->trace = NULL;
	RCU_INIT_POINTER(event->tracers, NULL);
	trace->event = NULL;
	eventlog_trace_pin(&trace->pinned, eventlog_trace_held(trace));
	eventlog_trace_todo(trace);
}

void eventlog_trace_event_persist(struct eventlog_event *event)
{
	lockdep_assert_held(&event->domain->lock);
	if (event->trace)
		eventlog_trace_pin(&event->trace->pinned, true);
}

/* ---- status ---- */

void eventlog_trace_status_users(struct eventlog_text *text,
				 const struct eventlog_trace_event *trace)
{
	const struct eventlog_tracers *tracers = eventlog_tracers_of(trace);

	if (tracers && tracers->count)
		eventlog_text_print(text, " ftrace");
#ifdef CONFIG_PERF_EVENTS
	if (tracers && tracers->perf)
		eventlog_text_print(text, bpf_prog_array_valid((void *)&trace->call) ? " bpf" :
										       " perf");
#endif
}

void eventlog_trace_event_lost(const struct eventlog_event *event, u64 *ftrace, u64 *perf)
{
	const struct eventlog_trace_event *trace = event->trace;

	*ftrace = trace ? (unsigned long)atomic_long_read(&trace->lost_ftrace) : 0;
	*perf = trace ? (unsigned long)atomic_long_read(&trace->lost_perf) : 0;
}

unsigned int eventlog_trace_unmade(void)
{
	return eventlog_traces.unmade;
}

/* ---- load and unload ---- */

int eventlog_trace_init(unsigned int events_max)
{
	hash_init(eventlog_traces.keys);
	hash_init(eventlog_traces.names);
	eventlog_traces.events_max = events_max;
	eventlog_traces.queue = alloc_workqueue("eventlog", WQ_UNBOUND, 0);
	if (!eventlog_traces.queue)
		return -ENOMEM;
	eventlog_trace_lock_init();
	return 0;
}

static bool eventlog_trace_any_added(void)
{
	const struct eventlog_trace_event *trace;
	bool any = false;

	mutex_lock(&eventlog_trace_domain->lock);
	list_for_each_entry(trace, &eventlog_traces.all, all_node)
		any |= trace->added || trace->busy;
	mutex_unlock(&eventlog_trace_domain->lock);
	return any;
}

void eventlog_trace_exit(void)
{
	struct eventlog_trace_event *trace, *next;
	bool told = false;

	for (;;) {
		mod_delayed_work(eventlog_traces.queue, &eventlog_traces.work, 0);
		flush_delayed_work(&eventlog_traces.work);
		if (!eventlog_trace_any_added())
			break;
		if (!told)
			pr_info("waiting for tracers to let go of events that have ended\n");
		told = true;
		msleep(20);
	}
	cancel_delayed_work_sync(&eventlog_traces.work);
	cancel_work_sync(&eventlog_traces.tell);
	destroy_workqueue(eventlog_traces.queue);
	eventlog_trace_lock_exit();
	tracepoint_synchronize_unregister();
	synchronize_rcu();
	list_for_each_entry_safe(trace, next, &eventlog_traces.all, all_node) {
		eventlog_trace_layout_free(trace->layout);
		eventlog_trace_layout_free(trace->prepared);
		eventlog_free(trace);
	}
}

#endif /* EVENTLOG_TRACE_EVENTS */
