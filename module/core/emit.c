// SPDX-License-Identifier: GPL-2.0-only
/*
 * Emission: see emit.h.
 */
#include <linux/eventlog.h>
#include <linux/cpumask.h>
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "compat.h"
#include "core/cgroup.h"
#include "core/comms.h"
#include "core/emit.h"
#include "core/event.h"
#include "core/filter.h"
#include "core/joined.h"
#include "core/sink.h"
#include "core/subscriber.h"
#include "core/thread.h"
#include "core/trace_point.h"

#if EVENTLOG_TRACE_EVENTS
DEFINE_STATIC_CALL_NULL(eventlog_trace_emit, eventlog_trace_emit_function);
#define eventlog_emit_to_tracers(emission) static_call_cond(eventlog_trace_emit)(emission)
#else
#define eventlog_emit_to_tracers(emission) do { } while (0)
#endif

/* The process of the emitter in @namespace, see eventlog_emitter_ids(). */
static __always_inline u32 eventlog_emitter_pid(const struct eventlog_emitter *emitter,
						struct pid_namespace *namespace)
{
	if (unlikely(emitter))
		return namespace == &init_pid_ns ? pid_nr(emitter->process) :
						   pid_nr_ns(emitter->process, namespace);
	return likely(namespace == &init_pid_ns) ? current->tgid :
						   task_tgid_nr_ns(current, namespace);
}

struct eventlog_ids {
	u32 pid;
	u32 tid;
};

/*
 * The ids of the emitter in @namespace; NULL is the current task, for which the initial
 * namespace needs no look-up.
 */
static __always_inline struct eventlog_ids
eventlog_emitter_ids(const struct eventlog_emitter *emitter, struct pid_namespace *namespace)
{
	if (likely(!emitter && namespace == &init_pid_ns))
		return (struct eventlog_ids){ current->tgid, current->pid };
	if (namespace == &init_pid_ns)
		return (struct eventlog_ids){ pid_nr(emitter->process), pid_nr(emitter->thread) };
	return (struct eventlog_ids){
		.pid = eventlog_emitter_pid(emitter, namespace),
		.tid = emitter ? pid_nr_ns(emitter->thread, namespace) :
				 task_pid_nr_ns(current, namespace),
	};
}

/* Does the event come from a producer ring, and so belong to a shard? */
static __always_inline bool eventlog_emitted_earlier(const struct eventlog_emitter *emitter)
{
	return unlikely(emitter) && emitter->time;
}

static __always_inline const char *eventlog_emitter_comm(const struct eventlog_emitter *emitter)
{
	return unlikely(emitter) ? emitter->comm : current->comm;
}

/* The thread of an event that is delivered later may have ended, and then is in no cgroup. */
static noinline notrace bool eventlog_rule_has_emitter(const struct eventlog_subscriber_rule *rule,
						       const struct eventlog_emitter *emitter)
{
	struct task_struct *task = current;
	bool has;

	if (likely(!emitter))
		return eventlog_cgroup_contains(&rule->cgroup, task);
	rcu_read_lock();
	task = pid_task(emitter->thread, PIDTYPE_PID);
	has = task && eventlog_cgroup_contains(&rule->cgroup, task);
	rcu_read_unlock();
	return has;
}

static __always_inline bool eventlog_rule_selects(const struct eventlog_subscriber_rule *rule,
						  const struct eventlog_subscriber *subscriber,
						  u64 session,
						  const struct eventlog_emitter *emitter)
{
	if (rule->flags & EVENTLOG_RULE_SESSION && rule->session != session)
		return false;
	if (rule->flags & EVENTLOG_RULE_PID &&
	    rule->pid != eventlog_emitter_pid(emitter, subscriber->pid_namespace))
		return false;
	return !(rule->flags & EVENTLOG_RULE_CGROUP) || eventlog_rule_has_emitter(rule, emitter);
}

/* Delivers the events 1, N + 1, 2N + 1, ...: a rare event is seen at least once. */
static __always_inline bool eventlog_rule_takes_sample(struct eventlog_subscriber_rule *rule)
{
	return !rule->sample ||
	       !(((u32)atomic_inc_return_relaxed(&rule->sampled) - 1) % rule->sample);
}

/* As eventlog_rules_pass(), for an event that has rules. */
static noinline notrace int eventlog_some_rule_passes(const struct eventlog_listener *entry,
						      unsigned int count, u64 session)
{
	unsigned int i;

	if (READ_ONCE(entry->filtered))
		return -1;
	for (i = 0; i < count; i++) {
		struct eventlog_subscriber_rule *rule = READ_ONCE(entry->rules[i].rule);

		if (eventlog_rule_selects(rule, entry->subscriber, session, NULL) &&
		    eventlog_rule_takes_sample(rule))
			return 1;
	}
	return 0;
}

/*
 * Does the event of the current task pass one of the rules?
 *
 * Return: 1 or 0; -1: one of them has a filter, see eventlog_conditions_pass().
 */
static __always_inline int eventlog_rules_pass(const struct eventlog_listener *entry, u64 session)
{
	unsigned int count = READ_ONCE(entry->rule_count);

	return likely(!count) ? 1 : eventlog_some_rule_passes(entry, count, session);
}

/*
 * The time of the event in rings.  Reads the clock once, however many rings there are, and
 * only if there is one: events that all rules reject need no time.  It is read before all
 * else that the ring needs, which the compiler would have to save during the call.
 */
static __always_inline u64 eventlog_emission_time(struct eventlog_emission *emission)
{
	if (!emission->time) {
		emission->time = eventlog_ring_clock();
		/* The time is never 0, so the ring, which is inlined, need not test it. */
		if (!emission->time)
			__builtin_unreachable();
	}
	return emission->time;
}

/* @lockless: the ring is known to be written without a lock; constant for the compiler. */
static __always_inline void eventlog_emit_to_ring(struct eventlog_emission *emission,
						  const struct eventlog_listener *entry,
						  bool lockless)
{
	const struct eventlog_emitter *emitter = emission->emitter;
	struct eventlog_subscriber *subscriber = entry->subscriber;
	const bool later = eventlog_emitted_earlier(emitter) && subscriber->shard_count;
	const u64 time = later ? emitter->time : eventlog_emission_time(emission);
	const unsigned int index = later ? subscriber->cpu_count + emitter->shard :
					   smp_processor_id();
	struct eventlog_cpu_ring *cpu_ring = smp_load_acquire(&subscriber->rings[index]);
	struct eventlog_ring_slot slot __uninitialized;
	struct eventlog_record *record;
	struct eventlog_ring *ring;
	struct eventlog_ids ids;
	u32 descriptor;

	if (unlikely(!cpu_ring)) {
		atomic_long_inc(&subscriber->lost[EVENTLOG_LOST_NO_MEMORY]);
		atomic_long_inc(&entry->stats->lost);
		return;
	}
	ring = &cpu_ring->ring;
	if (unlikely(READ_ONCE(subscriber->paused))) {
		eventlog_ring_drop(ring, EVENTLOG_LOST_PAUSED);
		goto lost;
	}
	if (unlikely(!eventlog_ring_reserve_as(ring, lockless, emission->bytes,
					       eventlog_floor_read(&subscriber->floor), time,
					       &slot)))
		goto lost;
	record = slot.record;
	record->size_flags |= emission->context << EVENTLOG_RECORD_CONTEXT_SHIFT;
	descriptor = emission->event->descriptor;
	record->descriptor = descriptor;
	record->session = emission->session;
	ids = eventlog_emitter_ids(emitter, subscriber->pid_namespace);
	record->pid = ids.pid;
	record->tid = ids.tid;
	if (unlikely(later))
		record->size_flags |= EVENTLOG_RECORD_FLAG_MAPPED |
			(record->time == emitter->claimed ? 0 : EVENTLOG_RECORD_FLAG_ADJUSTED);
	if (unlikely(emission->latest))
		*emission->latest = max(*emission->latest, record->time);
	if (eventlog_comms_keep(&cpu_ring->comms, record, ids.tid,
				eventlog_emitter_comm(emitter), descriptor))
		eventlog_ring_news(ring, record, slot.nest);
	eventlog_payload_copy(emission, (u8 *)(record + 1));
	if (eventlog_ring_commit_as(ring, lockless, &slot))
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
	const struct eventlog_ids ids = eventlog_emitter_ids(emission->emitter, &init_pid_ns);
	struct eventlog_delivery delivery;
	enum eventlog_lost cause;

	cause = EVENTLOG_LOST_TOO_LARGE;
	if (unlikely(emission->bytes > EVENTLOG_PAYLOAD_MAX))
		goto lost;
	cause = EVENTLOG_LOST_NESTED;
	/*
	 * The scheduler's locks may be held: as in NMI context, nothing can be woken.
	 * Not covered: UML has no NMIs.
	 */
	if ((emission->context == EVENTLOG_CONTEXT_NMI ||
	     (emission->emitter && !emission->emitter->time)) &&
	    !(callback->flags & EVENTLOG_CALLBACK_NMI))
		goto lost;
	if (READ_ONCE(*calling) & context)
		goto lost;
	cause = EVENTLOG_LOST_DEPTH;
	if (READ_ONCE(*deep) >= EVENTLOG_CALLBACK_DEPTH)
		goto lost;

	delivery = (struct eventlog_delivery){
		.descriptor = emission->event->descriptor,
		.context = emission->context,
		/* No earlier than that of events that were emitted by other callbacks. */
		.time = eventlog_emitted_earlier(emission->emitter) ? emission->emitter->time :
								      eventlog_ring_clock(),
		.session = emission->session,
		.pid = ids.pid,
		.tid = ids.tid,
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

/* ---- filters, callbacks and tracers: not inlined, because most events have none ---- */

/*
 * Assembles the payload in a buffer, if there is one that is large enough.  A string of a
 * kernel provider may change at any time, so a filter must not read it before it is
 * copied: otherwise rings could get a string that the filter would have rejected.  Rings,
 * callbacks and tracers get the payload from the buffer afterwards.  Without a buffer,
 * the filter reads the string where it is; each byte that it reads is in the payload.
 */
static notrace void eventlog_emission_join(struct eventlog_emission *emission)
{
	u8 *payload = NULL;

	if (emission->bytes <= EVENTLOG_JOINED_MAX)
		payload = eventlog_joined_get(emission->context);
	if (!payload)
		return;
	eventlog_payload_copy(emission, payload);
	emission->payload = payload;
	emission->count = 0;
}

/* Does the event pass the filter of a rule?  Counts it if not. */
static notrace bool eventlog_filter_passes(struct eventlog_emission *emission,
					   const struct eventlog_subscriber *subscriber,
					   const struct eventlog_subscriber_rule *rule,
					   const struct eventlog_predicate *predicate)
{
	const struct eventlog_ids ids = eventlog_emitter_ids(emission->emitter,
							     subscriber->pid_namespace);
	const struct eventlog_identity identity = {
		.session = emission->session,
		.cpu = eventlog_emitted_earlier(emission->emitter) ? EVENTLOG_CPU_UNKNOWN :
								     smp_processor_id(),
		.pid = ids.pid,
		.tid = ids.tid,
		.comm = eventlog_emitter_comm(emission->emitter),
	};
	struct eventlog_operands operands = {};
	enum eventlog_verdict verdict;

	/* The words of dynamic fields are not valid; the event will be counted as lost. */
	if (unlikely(emission->bytes > EVENTLOG_PAYLOAD_MAX))
		return true;
	if (emission->count && predicate->dynamic)
		eventlog_emission_join(emission);
	operands.payload = emission->payload;
	operands.bytes = emission->bytes;
	if (emission->count) {
		operands.bytes = emission->parts->bytes;
		operands.parts = emission->parts;
		operands.count = emission->count;
	}
	verdict = eventlog_predicate_evaluate(predicate, &operands, &identity);
	if (verdict == EVENTLOG_VERDICT_TRUE)
		return true;
	this_cpu_inc(rule->counts->rejected);
	if (verdict == EVENTLOG_VERDICT_INCOMPATIBLE)
		this_cpu_inc(rule->counts->incompatible);
	return false;
}

/* As eventlog_rules_pass(), for all rules.  May move the payload to a buffer. */
static notrace bool eventlog_conditions_pass(struct eventlog_emission *emission,
					     const struct eventlog_listener *entry)
{
	unsigned int count = READ_ONCE(entry->rule_count), i;

	/* Its subscriber may have been freed. */
	if (unlikely(READ_ONCE(entry->dead)))
		return false;
	if (!count)
		return true;
	for (i = 0; i < count; i++) {
		/* A rule may be replaced by one that never passes; its predicate stays. */
		struct eventlog_subscriber_rule *rule = READ_ONCE(entry->rules[i].rule);
		const struct eventlog_predicate *predicate = entry->rules[i].predicate;

		if ((emission->shared ? rule != eventlog_listener_rule_never.rule :
		     eventlog_rule_selects(rule, entry->subscriber, emission->session,
					   emission->emitter)) &&
		    (!predicate ||
		     eventlog_filter_passes(emission, entry->subscriber, rule, predicate)) &&
		    (emission->shared || eventlog_rule_takes_sample(rule)))
			return true;
	}
	return false;
}

static notrace void eventlog_emit_to_callbacks(struct eventlog_emission *emission,
					       const struct eventlog_listeners *listeners,
					       const struct eventlog_subscriber *only)
{
	const struct eventlog_part *parts;
	struct eventlog_part whole = {};
	unsigned int i;

	for (i = listeners->count; i < listeners->called; i++) {
		const struct eventlog_listener *entry = &listeners->entries[i];

		if ((only && entry->subscriber != only) ||
		    !eventlog_conditions_pass(emission, entry))
			continue;
		whole.data = emission->payload;
		whole.bytes = emission->bytes;
		parts = emission->count ? emission->parts : &whole;
		eventlog_emit_to_callback(emission, parts, emission->count ?: 1,
					  entry->subscriber);
	}
}

/*
 * Delivers to the rings from @first on, to tracers and to callbacks.  The caller has set all
 * members of @emission.
 */
static notrace void eventlog_emit_to_rest(struct eventlog_emission *emission,
					  const struct eventlog_listeners *listeners,
					  unsigned int first)
{
	const struct eventlog_event *event = emission->event;
	const struct eventlog_subscriber *only = NULL;
	const unsigned int count = emission->count;
	unsigned int i;

	if (event->state_dump && emission->context == EVENTLOG_CONTEXT_TASK) {
		if (READ_ONCE(event->provider->dump_task) == current)
			only = READ_ONCE(event->provider->dump_subscriber);
		else
			emission->shared = true;
	}
	if (!first && trace_eventlog_emit_enabled())
		eventlog_trace_point_emit(emission);
	for (i = first; i < listeners->count; i++) {
		const struct eventlog_listener *entry = &listeners->entries[i];

		if ((!only || entry->subscriber == only) &&
		    eventlog_conditions_pass(emission, entry))
			eventlog_emit_to_ring(emission, entry, false);
	}
	if (READ_ONCE(listeners->traced) && !only && !eventlog_emitted_earlier(emission->emitter))
		eventlog_emit_to_tracers(emission);
	eventlog_emit_to_callbacks(emission, listeners, only);
	if (emission->count != count)
		eventlog_joined_put(emission->context);
}

/*
 * Delivers to all from the ring @first on.  Its arguments are single values, so that the
 * caller keeps them in registers.
 */
static noinline notrace void eventlog_emit_slowly(const struct eventlog_event *event, u64 session,
						  const void *payload, u32 bytes,
						  const struct eventlog_part *parts,
						  unsigned int count,
						  const struct eventlog_listeners *listeners,
						  unsigned int first, u64 time)
{
	struct eventlog_emission emission = {
		.event = event, .session = session, .payload = payload, .bytes = bytes,
		.parts = parts, .count = count, .context = eventlog_context(), .time = time,
	};

	eventlog_emit_to_rest(&emission, listeners, first);
}

/*
 * Delivers to the rings behind the first one, which are lockless.  Its arguments are single
 * values, as above.
 */
static noinline notrace void eventlog_emit_to_more(const struct eventlog_event *event, u64 session,
						   const void *payload, u32 bytes,
						   const struct eventlog_part *parts,
						   unsigned int count,
						   const struct eventlog_listeners *listeners,
						   u64 time)
{
	struct eventlog_emission emission = {
		.event = event, .session = session, .payload = payload, .bytes = bytes,
		.parts = parts, .count = count, .context = eventlog_context(), .time = time,
	};
	unsigned int i;

	for (i = 1; i < listeners->count; i++) {
		int passes = eventlog_rules_pass(&listeners->entries[i], session);

		if (unlikely(passes < 0)) {
			eventlog_emit_slowly(event, session, payload, bytes, parts, count,
					     listeners, i, emission.time);
			return;
		}
		if (passes)
			eventlog_emit_to_ring(&emission, &listeners->entries[i], true);
	}
}

/*
 * The caller has disabled preemption.  Therefore the function is an RCU read-side
 * section, and the writers of a CPU's rings nest strictly.  The caller has set all
 * members of @emission except event, context and time.
 *
 * The hot path is that to one lockless ring: it has no loop, and no function gets the
 * address of a variable.
 */
static __always_inline void eventlog_emit_to_all(const struct eventlog_event *event,
						 struct eventlog_emission emission)
{
	const struct eventlog_listeners *listeners = rcu_dereference_sched(event->listeners);
	const struct eventlog_listener *entry;
	int passes;

	if (!listeners)
		return;
	if (!EVENTLOG_RING_LOCKLESS || unlikely(READ_ONCE(listeners->slow)) ||
	    trace_eventlog_emit_enabled())
		goto slow;
	entry = &listeners->entries[0];
	passes = eventlog_rules_pass(entry, emission.session);
	if (unlikely(passes < 0))
		goto slow;
	emission.time = 0;
	if (passes) {
		emission.event = event;
		emission.context = eventlog_context();
		eventlog_emit_to_ring(&emission, entry, true);
	}
	if (likely(listeners->count == 1))
		return;
	eventlog_emit_to_more(event, emission.session, emission.payload, emission.bytes,
			      emission.parts, emission.count, listeners, emission.time);
	return;
slow:
	eventlog_emit_slowly(event, emission.session, emission.payload, emission.bytes,
			     emission.parts, emission.count, listeners, 0, 0);
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

/* Delivers an event with an emitter or a time of its own.  Preemption is off. */
static void eventlog_emit_special(struct eventlog_emission *emission)
{
	const struct eventlog_listeners *listeners =
		rcu_dereference_sched(emission->event->listeners);

	if (listeners)
		eventlog_emit_to_rest(emission, listeners, 0);
}

void eventlog_emit_later(const struct eventlog_event *event, u64 session, const void *payload,
			 u32 bytes, struct eventlog_emitter *emitter)
{
	struct eventlog_emission emission = {
		.event = event, .session = session, .payload = payload, .bytes = bytes,
		.context = EVENTLOG_CONTEXT_TASK, .emitter = emitter, .latest = &emitter->latest,
	};

	preempt_disable_notrace();
	eventlog_emit_special(&emission);
	preempt_enable_notrace();
}

void eventlog_emit_after(const struct eventlog_event *event, u64 session, const void *payload,
			 u32 bytes, u64 *latest)
{
	struct eventlog_emission emission = {
		.event = event, .session = session, .payload = payload, .bytes = bytes,
		.context = EVENTLOG_CONTEXT_TASK, .latest = latest,
	};

	preempt_disable_notrace();
	emission.time = max(eventlog_ring_clock(), max(ktime_get_ns(), *latest) + 1);
	eventlog_emit_special(&emission);
	preempt_enable_notrace();
}

void eventlog_emit_invalid(const struct eventlog_event *event,
			   const struct eventlog_emitter *emitter)
{
	const struct eventlog_listeners *listeners;
	unsigned int cpu, i;

	preempt_disable_notrace();
	listeners = rcu_dereference_sched(event->listeners);
	for (i = 0; listeners && i < listeners->count; i++) {
		const struct eventlog_listener *entry = &listeners->entries[i];
		struct eventlog_subscriber *subscriber = entry->subscriber;
		struct eventlog_cpu_ring *cpu_ring;

		if (READ_ONCE(entry->dead))
			continue;
		cpu = smp_processor_id();
		if (emitter && subscriber->shard_count)
			cpu = subscriber->cpu_count + emitter->shard;
		cpu_ring = smp_load_acquire(&subscriber->rings[cpu]);
		/* A reader of @invalid and then of @lost never sees more of the former. */
		atomic_long_inc(&entry->stats->lost);
		smp_mb__after_atomic();
		atomic_long_inc(&entry->stats->invalid);
		if (cpu_ring) {
			eventlog_ring_drop(&cpu_ring->ring, EVENTLOG_LOST_ABORTED);
			eventlog_subscriber_wake(cpu_ring);
		} else {
			atomic_long_inc(&subscriber->lost[EVENTLOG_LOST_ABORTED]);
		}
	}
	preempt_enable_notrace();
}

/*
 * Would a rule select an event that was not emitted?  Its payload is not known: filters are not
 * evaluated.  Nor is its session, without @session: then rules for a session do not select it.
 */
static notrace bool eventlog_some_rule_selects(const struct eventlog_listener *entry,
					       const u64 *session,
					       const struct eventlog_emitter *emitter)
{
	unsigned int count = READ_ONCE(entry->rule_count), i;

	for (i = 0; i < count; i++) {
		const struct eventlog_subscriber_rule *rule = READ_ONCE(entry->rules[i].rule);

		if ((session || !(rule->flags & EVENTLOG_RULE_SESSION)) &&
		    eventlog_rule_selects(rule, entry->subscriber, session ? *session : 0, emitter))
			return true;
	}
	return !count;
}

notrace void eventlog_emit_lost_to(struct eventlog_subscriber *subscriber,
				   enum eventlog_lost cause, u32 count)
{
	struct eventlog_cpu_ring *cpu_ring;

	preempt_disable_notrace();
	cpu_ring = smp_load_acquire(&subscriber->rings[smp_processor_id()]);
	if (!cpu_ring)
		cause = EVENTLOG_LOST_NO_MEMORY;
	if (cpu_ring && eventlog_ring_drop_many(&cpu_ring->ring, cause, count))
		eventlog_subscriber_wake(cpu_ring);
	else
		atomic_long_add(count, &subscriber->lost[cause]);
	preempt_enable_notrace();
}

/*
 * Counts losses for each subscriber with rings and a rule that selects the emitter; returns how
 * many subscribers these are.
 */
static notrace unsigned int eventlog_emit_lost(const struct eventlog_event *event,
					       enum eventlog_lost cause, u32 count,
					       const u64 *session,
					       const struct eventlog_emitter *emitter)
{
	const struct eventlog_listeners *listeners;
	unsigned int i, counted = 0;

	preempt_disable_notrace();
	listeners = rcu_dereference_sched(event->listeners);
	for (i = 0; listeners && i < listeners->count; i++) {
		const struct eventlog_listener *entry = &listeners->entries[i];

		if (READ_ONCE(entry->dead) || !eventlog_some_rule_selects(entry, session, emitter))
			continue;
		counted++;
		atomic_long_add(count, &entry->stats->lost);
		eventlog_emit_lost_to(entry->subscriber, cause, count);
	}
	preempt_enable_notrace();
	return counted;
}

unsigned int eventlog_emit_missed(const struct eventlog_event *event, u32 count)
{
	return eventlog_emit_lost(event, EVENTLOG_LOST_AWAY, count, NULL, NULL);
}

void eventlog_emit_late(const struct eventlog_event *event, u32 count,
			const struct eventlog_emitter *emitter)
{
	eventlog_emit_lost(event, EVENTLOG_LOST_LATE, count, NULL, emitter);
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

/* As eventlog_emit_slowly(), for another thread. */
static noinline notrace void eventlog_emit_for_slowly(const struct eventlog_event *event,
						      const struct eventlog_listeners *listeners,
						      struct eventlog_emitter emitter, u64 session,
						      u64 time, const void *fields, u32 bytes)
{
	struct eventlog_emission emission = {
		.event = event, .session = session, .time = time, .payload = fields,
		.bytes = bytes, .context = eventlog_context(), .emitter = &emitter,
	};

	eventlog_emit_to_rest(&emission, listeners, 0);
}

/* Quick if there is one subscriber, without rules to test. */
notrace void eventlog_provider_emit_for(struct eventlog_provider_event *source,
					const struct eventlog_thread *thread,
					const struct task_struct *task, u64 session, u64 time,
					const void *fields, u32 bytes)
{
	const struct eventlog_emitter emitter = {
		.process = thread->process, .thread = thread->pid, .comm = task->comm,
	};
	const struct eventlog_event *event = eventlog_source_begin(source);
	const struct eventlog_listeners *listeners =
		likely(event) ? rcu_dereference_sched(event->listeners) : NULL;
	struct eventlog_emission emission = {
		.event = event, .session = session, .time = time, .payload = fields,
		.bytes = bytes, .context = eventlog_context(), .emitter = &emitter,
	};

	if (unlikely(!listeners))
		goto out;
	if (EVENTLOG_RING_LOCKLESS && likely(listeners->count == 1) &&
	    !READ_ONCE(listeners->slow) && !trace_eventlog_emit_enabled() &&
	    !READ_ONCE(listeners->entries[0].rule_count))
		eventlog_emit_to_ring(&emission, &listeners->entries[0], true);
	else
		eventlog_emit_for_slowly(event, listeners, emitter, session, time, fields, bytes);
out:
	preempt_enable_notrace();
}
EVENTLOG_EXPORT_TO(eventlog_provider_emit_for, EVENTLOG_SCHED);

notrace void eventlog_provider_lose(struct eventlog_provider_event *source,
				    const struct eventlog_thread *thread, u64 session,
				    enum eventlog_lost cause)
{
	const struct eventlog_emitter emitter = {
		.process = thread->process, .thread = thread->pid,
	};
	const struct eventlog_event *event = eventlog_source_begin(source);

	if (event)
		eventlog_emit_lost(event, cause, 1, &session, &emitter);
	preempt_enable_notrace();
}
EVENTLOG_EXPORT_TO(eventlog_provider_lose, EVENTLOG_SCHED);
