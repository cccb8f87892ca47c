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
#include "core/enable.h"
#include "core/event.h"
#include "core/subscriber.h"
#include "trace/attach.h"
#include "core/trace_point.h"

/* The numbers a subscriber knows the current task by; the root's need no look-up. */
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

/* Does any of the rules, of which each has something left to test, let the event through? */
static bool eventlog_rules_pass(const struct eventlog_wanted_entry *entry, u64 session)
{
	unsigned int i;

	for (i = 0; i < entry->rule_count; i++) {
		struct eventlog_subscriber_rule *rule = entry->rules[i];

		if (rule->flags & EVENTLOG_RULE_SESSION && rule->session != session)
			continue;
		if (rule->flags & EVENTLOG_RULE_PID &&
		    rule->pid != eventlog_current_pid(entry->subscriber->pid_namespace))
			continue;
		/* The 1st, the N+1st, …: a rare event shows at least once. */
		if (rule->sample &&
		    ((u32)atomic_inc_return_relaxed(&rule->sampled) - 1) % rule->sample)
			continue;
		return true;
	}
	return false;
}

static __always_inline void eventlog_emit_to_ring(const struct eventlog_emission *emission,
						  const struct eventlog_wanted_entry *entry,
						  unsigned int cpu)
{
	struct eventlog_subscriber *subscriber = entry->subscriber;
	struct eventlog_ring_slot slot __uninitialized;
	struct eventlog_cpu_ring *cpu_ring;
	struct eventlog_record *record;

	cpu_ring = smp_load_acquire(&subscriber->rings[cpu]);
	if (unlikely(!cpu_ring)) {
		atomic_long_inc(&subscriber->lost[EVENTLOG_LOST_NO_MEMORY]);
		atomic_long_inc(&entry->link->lost);
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
	atomic_long_inc(&entry->link->lost);
	eventlog_subscriber_wake(cpu_ring);
}

/* How many callbacks are being called on this CPU, one inside the other. */
static DEFINE_PER_CPU(unsigned int, eventlog_callbacks_deep);

/*
 * Contexts that interrupt one another restore what they find, so neither the
 * depth nor the contexts a callback is being called in need be atomic.
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

/* Off the way of an event that only rings want. */
static noinline notrace void eventlog_emit_to_callbacks(const struct eventlog_emission *emission,
							const struct eventlog_wanted *wanted,
							const struct eventlog_subscriber *only)
{
	const struct eventlog_part whole = { .data = emission->payload, .bytes = emission->bytes };
	const struct eventlog_part *parts = emission->count ? emission->parts : &whole;
	unsigned int i;

	for (i = wanted->count; i < wanted->called; i++) {
		const struct eventlog_wanted_entry *entry = &wanted->entries[i];

		if (only && entry->subscriber != only)
			continue;
		if (!entry->rule_count || eventlog_rules_pass(entry, emission->session))
			eventlog_emit_to_callback(emission, parts, emission->count ?: 1,
						  entry->subscriber);
	}
}

/*
 * Preemption is off: that is an RCU section, and a ring's nest counts on strictly
 * nested writers.  @emission has everything but event and context.
 */
static __always_inline void eventlog_emit_to_all(const struct eventlog_event *event,
						 struct eventlog_emission emission)
{
	const struct eventlog_wanted *wanted = rcu_dereference_sched(event->wanted);
	const struct eventlog_subscriber *only = NULL;
	unsigned int cpu, i;

	if (!wanted)
		return;
	emission.event = event;
	emission.context = eventlog_context();
	if (unlikely(event->rundown) && emission.context == EVENTLOG_CONTEXT_TASK &&
	    READ_ONCE(event->provider->rundown_by) == current)
		only = READ_ONCE(event->provider->rundown_for);
	if (trace_eventlog_emit_enabled()) {
		const struct eventlog_emission copy = emission;

		eventlog_trace_point_emit(&copy);
	}
	cpu = smp_processor_id();
	for (i = 0; i < wanted->count; i++) {
		const struct eventlog_wanted_entry *entry = &wanted->entries[i];

		if (unlikely(only) && entry->subscriber != only)
			continue;
		if (!entry->rule_count || eventlog_rules_pass(entry, emission.session))
			eventlog_emit_to_ring(&emission, entry, cpu);
	}
	if (unlikely(wanted->others)) {
		const struct eventlog_emission copy = emission;

		if (wanted->trace && !only)
			eventlog_trace_emit(&copy);
		if (wanted->called > wanted->count)
			eventlog_emit_to_callbacks(&copy, wanted, only);
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
 * An event of a kernel provider, which may be emitted from anywhere.  Where RCU
 * does not watch, as in the idle loop or on a CPU that is just starting, nothing
 * that it protects can be looked at.
 */
static __always_inline const struct eventlog_event *
eventlog_source_begin(struct eventlog_provider_event *source)
{
	preempt_disable_notrace();
	if (!eventlog_watched()) {
		atomic_long_inc(&source->lost_not_watching);
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
		/* At most EVENTLOG_FIELDS_MAX + 1 parts of 64 KiB: no wrapping. */
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
