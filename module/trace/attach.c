// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracers of an event: see attach.h.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/perf_event.h>
#include <linux/string.h>

#include "compat.h"
#include "core/domain.h"
#include "core/emit.h"
#include "core/enable.h"
#include "core/event.h"
#include "core/ops.h"
#include "core/provider.h"
#include "core/text.h"
#include "memory.h"
#include "trace/attach.h"
#include "trace/definition.h"
#include "trace/layout.h"
#include "trace/worker.h"

#if EVENTLOG_TRACE_EVENTS

/* Largest record of ftrace's ring; ftrace drops larger ones without counting them. */
#define EVENTLOG_FTRACE_RECORD_MAX 4064

void eventlog_trace_pin(bool *pinned, bool pin)
{
	if (*pinned == pin)
		return;
	if (!pin)
		module_put(THIS_MODULE);
	*pinned = pin && try_module_get(THIS_MODULE);
}

/* ---- attach and detach ---- */

struct eventlog_tracers *eventlog_tracers_get(const struct eventlog_trace_event *trace)
{
	return rcu_dereference_protected(trace->tracers,
					 lockdep_is_held(&eventlog_traces.lock));
}

bool eventlog_trace_held(const struct eventlog_trace_event *trace)
{
	return atomic_read(&trace->call.refcnt);
}

static void eventlog_tracers_free_rcu(struct rcu_head *rcu)
{
	eventlog_free(container_of(rcu, struct eventlog_tracers, rcu));
}

/* Sets what is attached; the first tracer enables the event, the last one disables it. */
static void eventlog_tracers_replace(struct eventlog_trace_event *trace,
				     struct eventlog_tracers *tracers)
{
	struct eventlog_tracers *old = eventlog_tracers_get(trace);

	rcu_assign_pointer(trace->tracers, tracers);
	if (trace->event)
		rcu_assign_pointer(trace->event->trace.tracers, tracers);
	if (trace->event && !old != !tracers)
		eventlog_enable_tracers_changed(trace->event);
	if (old)
		call_rcu(&old->rcu, eventlog_tracers_free_rcu);
}

/* Attaches ftrace's @file, or perf if it is NULL. */
static int eventlog_trace_attach(struct eventlog_trace_event *trace, struct trace_event_file *file)
{
	struct eventlog_tracers *old = eventlog_tracers_get(trace), *tracers;
	unsigned int count = old ? old->count : 0;

	tracers = eventlog_alloc_locked(struct_size(tracers, files, count + 1));
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

static void eventlog_trace_detach(struct eventlog_trace_event *trace, struct trace_event_file *file)
{
	struct eventlog_tracers *old = eventlog_tracers_get(trace), *tracers = NULL;
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
		eventlog_trace_schedule(trace);
}

/*
 * Notifies kernel providers without enable(), among them markers, before the tracer
 * continues, so that it misses nothing.  A work item notifies the others, because their
 * enable() may need event_mutex; likewise if another change is under way, whose thread
 * may be waiting for event_mutex.
 */
static void eventlog_trace_notify(void)
{
	if (!eventlog_update_try(&eventlog_root_domain))
		eventlog_trace_notify_later();
}

/* Under event_mutex; @file is NULL for perf. */
static int eventlog_trace_change(struct eventlog_trace_event *trace, bool attach,
				 struct trace_event_file *file)
{
	struct eventlog_domain *domain;
	int reader, ret = 0;
	bool changed;

	domain = eventlog_trace_lock(trace, &reader);
	if (attach)
		ret = eventlog_trace_attach(trace, file);
	else
		eventlog_trace_detach(trace, file);
	changed = domain && !list_empty(&domain->dirty_providers);
	eventlog_trace_unlock(domain, reader);
	eventlog_watch_settle();
	if (changed)
		eventlog_trace_notify();
	return ret;
}

int eventlog_trace_reg(struct trace_event_call *call, enum trace_reg type, void *data)
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

/* ---- deliver ---- */

static void eventlog_trace_patch(const struct eventlog_trace_layout *layout, u8 *payload)
{
	unsigned int i;

	for (i = 0; i < layout->patch_count; i++) {
		u8 *at = payload + layout->patches[i].position;

		/* A payload is too small for the sum to overflow into the upper half. */
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
	 * The memory of a BPF program may have changed since it was validated, and
	 * ftrace and perf trust the words of dynamic fields: clear all fields then.
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
	/* trace_event_buffer_reserve() fills it; initializing it first takes longer. */
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
	/* perf puts a 32-bit size before the record and requires the sum to be aligned. */
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
	/* perf's buffer has stale bytes: clear the rest. */
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
	tracers = rcu_dereference_sched(emission->event->trace.tracers);
	for (i = 0; tracers && i < tracers->count; i++)
		eventlog_trace_to_ftrace(tracers->trace, tracers->files[i], emission);
	if (tracers && tracers->perf)
		eventlog_trace_to_perf(tracers->trace, emission);
	eventlog_tracers_unlock();
}

/* ---- status ---- */

void eventlog_trace_status(struct eventlog_text *text, const struct eventlog_event *event)
{
	const struct eventlog_trace_event *trace;
	const struct eventlog_tracers *tracers;

	mutex_lock(&eventlog_traces.lock);
	trace = event->trace.event;
	tracers = trace ? eventlog_tracers_get(trace) : NULL;
	if (tracers && tracers->count)
		eventlog_text_print(text, " ftrace");
#ifdef CONFIG_PERF_EVENTS
	if (tracers && tracers->perf)
		eventlog_text_print(text, bpf_prog_array_valid((void *)&trace->call) ? " bpf" :
										       " perf");
#endif
	mutex_unlock(&eventlog_traces.lock);
}

void eventlog_trace_lost(const struct eventlog_event *event, u64 *ftrace, u64 *perf)
{
	const struct eventlog_trace_event *trace;

	mutex_lock(&eventlog_traces.lock);
	trace = event->trace.event;
	*ftrace = trace ? (unsigned long)atomic_long_read(&trace->lost_ftrace) : 0;
	*perf = trace ? (unsigned long)atomic_long_read(&trace->lost_perf) : 0;
	mutex_unlock(&eventlog_traces.lock);
}

#endif /* EVENTLOG_TRACE_EVENTS */
