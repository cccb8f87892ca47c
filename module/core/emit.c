// SPDX-License-Identifier: GPL-2.0-only
/*
 * Emission: see emit.h.
 */
#include <linux/eventlog.h>
#include <linux/cpumask.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "compat.h"
#include "core/emit.h"
#include "core/event.h"
#include "core/subscriber.h"
#include "core/trace_point.h"

#if EVENTLOG_TRACE_EVENTS
DEFINE_STATIC_CALL_NULL(eventlog_trace_emit, eventlog_trace_emit_function);
#define eventlog_emit_to_tracers(emission) static_call_cond(eventlog_trace_emit)(emission)
#else
#define eventlog_emit_to_tracers(emission) do { } while (0)
#endif

/* The ids of the current task in @namespace; the initial namespace needs no look-up. */
static __always_inline u32 eventlog_current_pid(struct pid_namespace *namespace)
{
	return likely(namespace == &init_pid_ns) ? current->tgid :
						   task_tgid_nr_ns(current, namespace);
}

static __always_inline u32 eventlog_current_tid(struct pid_namespace *namespace)
{
	return likely(namespace == &init_pid_ns) ? current->pid :
						   task_pid_nr_ns(current, namespace);
}

/* Does the event pass one of the rules?  Each rule in the array has a condition to test. */
static bool eventlog_rules_pass(const struct eventlog_listener *entry, u64 session)
{
	unsigned int i;

	for (i = 0; i < entry->rule_count; i++) {
		struct eventlog_subscriber_rule *rule = entry->rules[i];

		if (rule->flags & EVENTLOG_RULE_SESSION && rule->session != session)
			continue;
		if (rule->flags & EVENTLOG_RULE_PID &&
		    rule->pid != eventlog_current_pid(entry->subscriber->pid_namespace))
			continue;
		/* Deliver the events 1, N + 1, 2N + 1, ...: a rare event is seen at least once. */
		if (rule->sample &&
		    ((u32)atomic_inc_return_relaxed(&rule->sampled) - 1) % rule->sample)
			continue;
		return true;
	}
	return false;
}

static __always_inline void eventlog_emit_to_ring(const struct eventlog_emission *emission,
						  const struct eventlog_listener *entry,
						  unsigned int cpu)
{
	struct eventlog_subscriber *subscriber = entry->subscriber;
	struct eventlog_ring_slot slot __uninitialized;
	struct eventlog_cpu_ring *cpu_ring;
	struct eventlog_record *record;

	cpu_ring = smp_load_acquire(&subscriber->rings[cpu]);
	if (unlikely(!cpu_ring)) {
		atomic_long_inc(&subscriber->lost[EVENTLOG_LOST_NO_MEMORY]);
		atomic_long_inc(&entry->stats->lost);
		return;
	}
	if (unlikely(READ_ONCE(subscriber->paused))) {
		eventlog_ring_drop(&cpu_ring->ring, EVENTLOG_LOST_PAUSED);
		goto lost;
	}
	if (unlikely(emission->bytes > EVENTLOG_PAYLOAD_MAX)) {
		eventlog_ring_drop(&cpu_ring->ring, EVENTLOG_LOST_TOO_LARGE);
		goto lost;
	}
	if (unlikely(!eventlog_ring_reserve(&cpu_ring->ring, emission->bytes,
					    eventlog_floor_read(&subscriber->floor), &slot)))
		goto lost;
	record = slot.record;
	record->size_flags |= emission->context << EVENTLOG_RECORD_CONTEXT_SHIFT;
	record->descriptor = emission->event->descriptor;
	record->session = emission->session;
	record->pid = eventlog_current_pid(subscriber->pid_namespace);
	record->tid = eventlog_current_tid(subscriber->pid_namespace);
	eventlog_payload_copy(emission, (u8 *)(record + 1));
	if (eventlog_ring_commit(&cpu_ring->ring, &slot))
		eventlog_subscriber_wake(cpu_ring);
	return;

lost:
	atomic_long_inc(&entry->stats->lost);
	eventlog_subscriber_wake(cpu_ring);
}

/* Nesting depth of callbacks on this CPU. */
static DEFINE_PER_CPU(unsigned int, eventlog_callbacks_deep);

/*
 * The depth and the mask of contexts need not be atomic, because a context that
 * interrupts another one restores them before it returns.
 */
static void eventlog_emit_to_callback(const struct eventlog_emission *emission,
				      const struct eventlog_part *parts, unsigned int count,
				      struct eventlog_subscriber *subscriber)
{
	struct eventlog_callback *callback = subscriber->callback;
	u8 *calling = this_cpu_ptr(subscriber->calling);
	unsigned int *deep = this_cpu_ptr(&eventlog_callbacks_deep);
	u8 context = 1 << emission->context;
	struct eventlog_delivery delivery;
	enum eventlog_lost cause;

	cause = EVENTLOG_LOST_TOO_LARGE;
	if (unlikely(emission->bytes > EVENTLOG_PAYLOAD_MAX))
		goto lost;
	cause = EVENTLOG_LOST_NESTED;
	if (emission->context == EVENTLOG_CONTEXT_NMI && !(callback->flags & EVENTLOG_CALLBACK_NMI))
		goto lost;
	if (READ_ONCE(*calling) & context)
		goto lost;
	cause = EVENTLOG_LOST_DEPTH;
	if (READ_ONCE(*deep) >= EVENTLOG_CALLBACK_DEPTH)
		goto lost;

	delivery = (struct eventlog_delivery){
		.descriptor = emission->event->descriptor,
		.context = emission->context,
		.time = eventlog_ring_clock(),
		.session = emission->session,
		.pid = current->tgid,
		.tid = current->pid,
		.bytes = emission->bytes,
		.parts = parts,
		.count = count,
	};
	WRITE_ONCE(*calling, *calling | context);
	WRITE_ONCE(*deep, *deep + 1);
	barrier();
	callback->deliver(callback, &delivery);
	barrier();
	WRITE_ONCE(*deep, *deep - 1);
	WRITE_ONCE(*calling, *calling & ~context);
	return;

lost:
	atomic_long_inc(&subscriber->lost[cause]);
}

/* Not inlined: most events have no callbacks. */
static noinline notrace void eventlog_emit_to_callbacks(const struct eventlog_emission *emission,
							const struct eventlog_listeners *listeners,
							const struct eventlog_subscriber *only)
{
	const struct eventlog_part whole = { .data = emission->payload, .bytes = emission->bytes };
	const struct eventlog_part *parts = emission->count ? emission->parts : &whole;
	unsigned int i;

	for (i = listeners->count; i < listeners->called; i++) {
		const struct eventlog_listener *entry = &listeners->entries[i];

		if (only && entry->subscriber != only)
			continue;
		if (!entry->rule_count || eventlog_rules_pass(entry, emission->session))
			eventlog_emit_to_callback(emission, parts, emission->count ?: 1,
						  entry->subscriber);
	}
}

/*
 * The caller has disabled preemption.  Therefore the function is an RCU read-side
 * section, and the writers of a CPU's rings nest strictly.  The caller has set all
 * members of @emission except event and context.
 */
static __always_inline void eventlog_emit_to_all(const struct eventlog_event *event,
						 struct eventlog_emission emission)
{
	const struct eventlog_listeners *listeners = rcu_dereference_sched(event->listeners);
	const struct eventlog_subscriber *only = NULL;
	unsigned int cpu, i;

	if (!listeners)
		return;
	emission.event = event;
	emission.context = eventlog_context();
	if (unlikely(event->state_dump) && emission.context == EVENTLOG_CONTEXT_TASK &&
	    READ_ONCE(event->provider->dump_task) == current)
		only = READ_ONCE(event->provider->dump_subscriber);
	if (trace_eventlog_emit_enabled()) {
		const struct eventlog_emission copy = emission;

		eventlog_trace_point_emit(&copy);
	}
	cpu = smp_processor_id();
	for (i = 0; i < listeners->count; i++) {
		const struct eventlog_listener *entry = &listeners->entries[i];

		if (unlikely(only) && entry->subscriber != only)
			continue;
		if (!entry->rule_count || eventlog_rules_pass(entry, emission.session))
			eventlog_emit_to_ring(&emission, entry, cpu);
	}
	if (unlikely(listeners->others)) {
		const struct eventlog_emission copy = emission;

		if (listeners->traced && !only)
			eventlog_emit_to_tracers(&copy);
		if (listeners->called > listeners->count)
			eventlog_emit_to_callbacks(&copy, listeners, only);
	}
}

void eventlog_emit(const struct eventlog_event *event, u64 session, const void *payload,
		   u32 bytes)
{
	preempt_disable_notrace();
	eventlog_emit_to_all(event, (struct eventlog_emission){
		.session = session, .payload = payload, .bytes = bytes,
	});
	preempt_enable_notrace();
}

/*
 * Begin an emission of a kernel provider, and disable preemption.  If RCU is not
 * watching, count a loss and return NULL.
 */
static __always_inline const struct eventlog_event *
eventlog_source_begin(struct eventlog_provider_event *source)
{
	preempt_disable_notrace();
	if (!eventlog_watched()) {
		atomic_long_inc(&source->lost_rcu_idle);
		return NULL;
	}
	return rcu_dereference_sched(source->event);
}

notrace void eventlog_provider_emit(struct eventlog_provider_event *source, u64 session,
				    const void *fields, u32 bytes)
{
	const struct eventlog_event *event = eventlog_source_begin(source);

	if (likely(event))
		eventlog_emit_to_all(event, (struct eventlog_emission){
			.session = session, .payload = fields, .bytes = bytes,
		});
	preempt_enable_notrace();
}
EXPORT_SYMBOL_GPL(eventlog_provider_emit);

notrace void eventlog_provider_emit_parts(struct eventlog_provider_event *source, u64 session,
					  const struct eventlog_part *parts, unsigned int count)
{
	const struct eventlog_event *event = eventlog_source_begin(source);
	unsigned int i;
	u32 bytes = 0;

	if (likely(event)) {
		/* @bytes cannot overflow: at most EVENTLOG_FIELDS_MAX + 1 parts of 64 KiB. */
		for (i = 0; i < count; i++)
			bytes += parts[i].bytes + parts[i].string;
		eventlog_emit_to_all(event, (struct eventlog_emission){
			.session = session, .payload = parts->data, .parts = parts,
			.count = count, .bytes = bytes,
		});
	}
	preempt_enable_notrace();
}
EXPORT_SYMBOL_GPL(eventlog_provider_emit_parts);
