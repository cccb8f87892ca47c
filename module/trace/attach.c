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
#include "core/emit.h"
#include "core/event.h"
#include "core/text.h"
#include "memory.h"
#include "trace/attach.h"
#include "trace/enable.h"
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
	return trace->call.flags & TRACE_EVENT_FL_DYNAMIC && atomic_read(&trace->call.refcnt);
}

static void eventlog_tracers_free_rcu(struct rcu_head *rcu)
{
	eventlog_free(container_of(rcu, struct eventlog_tracers, rcu));
}

static void eventlog_tracers_replace(struct eventlog_trace_event *trace,
				     struct eventlog_tracers *tracers)
{
	struct eventlog_tracers *old = eventlog_tracers_get(trace);

	rcu_assign_pointer(trace->tracers, tracers);
	if (trace->event)
		rcu_assign_pointer(trace->event->trace.tracers, tracers);
	if (old)
		call_rcu(&old->rcu, eventlog_tracers_free_rcu);
}

/* The slot of @file, or the number of slots. */
static unsigned int eventlog_tracers_find(const struct eventlog_tracers *tracers,
					  const struct trace_event_file *file)
{
	unsigned int slot = 0;

	while (slot < tracers->slots && tracers->files[slot] != file)
		slot++;
	eventlog_steps_add(&eventlog_traces.steps, slot + 1);
	return slot;
}

/* Adds ftrace's @file, or perf if it is NULL; there is a free slot. */
static void eventlog_tracers_add(struct eventlog_tracers *tracers, struct trace_event_file *file)
{
	if (file) {
		/* Emission must find the file initialised. */
		smp_store_release(&tracers->files[eventlog_tracers_find(tracers, NULL)], file);
		tracers->used++;
	} else {
		/* Emission must find the lists of counters that perf has set in the call. */
		smp_store_release(&tracers->perf, true);
	}
}

/* Attaches ftrace's @file, or perf if it is NULL. */
static int eventlog_trace_attach(struct eventlog_trace_event *trace, struct trace_event_file *file)
{
	struct eventlog_tracers *old = eventlog_tracers_get(trace), *tracers;
	unsigned int slots = old ? 2 * old->slots : 1;

	if (old && (!file || old->used < old->slots)) {
		eventlog_tracers_add(old, file);
		return 0;
	}
	tracers = eventlog_alloc_locked(struct_size(tracers, files, slots));
	if (!tracers)
		return -ENOMEM;
	eventlog_trace_pin(&trace->attached_pin, true);
	/* Not covered: only between the start of an unload and the removal of the trace events. */
	if (!trace->attached_pin) {
		eventlog_free(tracers);
		return -ENODEV;
	}
	tracers->trace = trace;
	tracers->slots = slots;
	if (old) {
		memcpy(tracers->files, old->files, flex_array_size(old, files, old->slots));
		tracers->used = old->used;
		tracers->perf = old->perf;
	}
	eventlog_tracers_add(tracers, file);
	eventlog_tracers_replace(trace, tracers);
	return 0;
}

/*
 * Needs no memory, because detaching cannot fail.  ftrace waits for emissions before it frees
 * the file.
 */
static void eventlog_trace_detach(struct eventlog_trace_event *trace, struct trace_event_file *file)
{
	struct eventlog_tracers *tracers = eventlog_tracers_get(trace);
	unsigned int slot;

	if (!tracers)
		return;
	if (file) {
		slot = eventlog_tracers_find(tracers, file);
		if (slot == tracers->slots)
			return;
		WRITE_ONCE(tracers->files[slot], NULL);
		tracers->used--;
	} else {
		WRITE_ONCE(tracers->perf, false);
	}
	if (tracers->used || tracers->perf)
		return;
	eventlog_tracers_replace(trace, NULL);
	eventlog_trace_pin(&trace->attached_pin, false);
	if (!trace->event)
		eventlog_trace_schedule(trace);
}

/* Under event_mutex, which also protects the steps; @file is NULL for perf. */
static int eventlog_trace_change(struct eventlog_trace_event *trace, bool attach,
				 struct trace_event_file *file)
{
	static struct eventlog_steps steps;
	bool attached;
	int ret = 0;

	eventlog_steps_begin(&steps);
	eventlog_traces_lock();
	attached = eventlog_tracers_get(trace);
	if (attach)
		ret = eventlog_trace_attach(trace, file);
	else
		eventlog_trace_detach(trace, file);
	attached ^= !!eventlog_tracers_get(trace);
	eventlog_steps_add_all(&steps, &eventlog_traces.steps);
	eventlog_traces_unlock();
	if (attached)
		eventlog_trace_enable(trace, &steps);
	eventlog_steps_end(&steps, EVENTLOG_STEPS_EVENT_MUTEX);
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
	for (i = 0; tracers && i < tracers->slots; i++) {
		struct trace_event_file *file = READ_ONCE(tracers->files[i]);

		if (file)
			eventlog_trace_to_ftrace(tracers->trace, file, emission);
	}
	if (tracers && smp_load_acquire(&tracers->perf))
		eventlog_trace_to_perf(tracers->trace, emission);
	eventlog_tracers_unlock();
}

/* ---- status ---- */

void eventlog_trace_status(struct eventlog_text *text, const struct eventlog_event *event)
{
	const struct eventlog_trace_event *trace;
	const struct eventlog_tracers *tracers;

	eventlog_traces_lock();
	trace = event->trace.event;
	tracers = trace ? eventlog_tracers_get(trace) : NULL;
	if (tracers && tracers->used)
		eventlog_text_print(text, " ftrace");
#ifdef CONFIG_PERF_EVENTS
	if (tracers && tracers->perf)
		eventlog_text_print(text, bpf_prog_array_valid((void *)&trace->call) ? " bpf" :
										       " perf");
#endif
	eventlog_traces_unlock();
}

void eventlog_trace_lost(const struct eventlog_event *event, u64 *ftrace, u64 *perf)
{
	const struct eventlog_trace_event *trace;

	eventlog_traces_lock();
	trace = event->trace.event;
	*ftrace = trace ? (unsigned long)atomic_long_read(&trace->lost_ftrace) : 0;
	*perf = trace ? (unsigned long)atomic_long_read(&trace->lost_perf) : 0;
	eventlog_traces_unlock();
}

#endif /* EVENTLOG_TRACE_EVENTS */
