/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Emission, the hot path: no lock, no allocation, no sleep, no printk().  Any
 * context, including NMI.
 */
#ifndef EVENTLOG_EMIT_H
#define EVENTLOG_EMIT_H

#include <linux/cpumask.h>
#include <linux/eventlog.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include <linux/types.h>

#include "compat.h"

struct eventlog_event;
struct pid;

/* The context that is running on this CPU; preemption is off. */
static __always_inline enum eventlog_context eventlog_context(void)
{
	if (likely(in_task()))
		return EVENTLOG_CONTEXT_TASK;
	if (in_nmi())
		return EVENTLOG_CONTEXT_NMI;
	return in_hardirq() ? EVENTLOG_CONTEXT_HARDIRQ : EVENTLOG_CONTEXT_SOFTIRQ;
}

/**
 * eventlog_watched() - is RCU watching this CPU
 *
 * Any context, preemption off.
 *
 * RCU watches a CPU that is online, except in the idle loop, in user mode, and in the code
 * that enters and leaves the kernel, which emits nothing and in which no probe can be set.
 * So only an idle task, or what has interrupted it, must ask RCU.
 *
 * Return: false in the idle loop and on a CPU that is just starting, where nothing
 * that RCU protects may be read.
 */
static __always_inline bool eventlog_watched(void)
{
	return likely(cpu_online(raw_smp_processor_id()) &&
		      (likely(!is_idle_task(current)) || rcu_is_watching()));
}

/**
 * struct eventlog_emitter - the thread of an event, if that is not the current one
 * @process: its process
 * @thread: the thread
 * @comm: its name, TASK_COMM_LEN bytes, which may be changing
 * @shard: the shard that delivers the event; the caller holds its lock
 * @time: the time of the event; 0: now, for the ring of this CPU
 * @claimed: the time that the thread stated, before any change
 * @latest: the latest time of a record of the thread in a ring of any subscriber
 */
struct eventlog_emitter {
	struct pid *process;
	struct pid *thread;
	const char *comm;
	unsigned int shard;
	u64 time;
	u64 claimed;
	u64 latest;
};

/**
 * struct eventlog_emission - an event that is being emitted
 * @event: its definition
 * @session: chosen by the provider, 0: none
 * @time: the clock, for rings; 0: not read yet
 * @parts: the parts of the payload, unless @count is 0
 * @payload: the payload, if @count is 0
 * @count: number of @parts
 * @bytes: size of the whole payload
 * @context: where it is emitted
 * @emitter: who emitted it, if it is not the current task; NULL: it is
 * @latest: is raised to the times of its records; NULL: not needed
 * @shared: state that events of any thread refer to: see @rundown_keywords of struct
 *	eventlog_provider; found out on the slow way
 *
 * All functions on the way to the first ring that take one are inlined into the few
 * functions that begin an emission, so that the compiler keeps it in registers.  What
 * follows gets one in memory, made from the single members.
 */
struct eventlog_emission {
	const struct eventlog_event *event;
	u64 session;
	u64 time;
	const struct eventlog_part *parts;
	const void *payload;
	unsigned int count;
	u32 bytes;
	enum eventlog_context context;
	const struct eventlog_emitter *emitter;
	u64 *latest;
	bool shared;
};

#if EVENTLOG_TRACE_EVENTS
/*
 * Delivers an event to tracers: any context, preemption off.  trace/ sets it once,
 * at load; only events that a tracer is attached to call it.
 */
typedef void eventlog_trace_emit_function(const struct eventlog_emission *emission);
DECLARE_STATIC_CALL(eventlog_trace_emit, eventlog_trace_emit_function);
#endif

/* As eventlog_copy(), for up to seven bytes. */
static __always_inline void eventlog_copy_few(u8 *to, const u8 *from, u32 bytes)
{
	if (bytes >= sizeof(u32)) {
		u32 first = get_unaligned((const u32 *)from);
		u32 last = get_unaligned((const u32 *)(from + bytes - sizeof(u32)));

		put_unaligned(first, (u32 *)to);
		put_unaligned(last, (u32 *)(to + bytes - sizeof(u32)));
	} else if (bytes) {
		u8 first = from[0], middle = from[bytes / 2], last = from[bytes - 1];

		to[0] = first;
		to[bytes / 2] = middle;
		to[bytes - 1] = last;
	}
}

/*
 * Like memcpy().  Most payloads and strings are small: copying the first and the last words,
 * which may overlap, takes fewer instructions than a call.
 */
static __always_inline void eventlog_copy(u8 *to, const u8 *from, u32 bytes)
{
	u64 first, last, second, third;

	if (bytes < sizeof(u64)) {
		eventlog_copy_few(to, from, bytes);
		return;
	}
	if (unlikely(bytes > 4 * sizeof(u64))) {
		memcpy(to, from, bytes);
		return;
	}
	first = get_unaligned((const u64 *)from);
	last = get_unaligned((const u64 *)(from + bytes - sizeof(u64)));
	if (bytes > 2 * sizeof(u64)) {
		second = get_unaligned((const u64 *)(from + sizeof(u64)));
		third = get_unaligned((const u64 *)(from + bytes - 2 * sizeof(u64)));
		put_unaligned(second, (u64 *)(to + sizeof(u64)));
		put_unaligned(third, (u64 *)(to + bytes - 2 * sizeof(u64)));
	}
	put_unaligned(first, (u64 *)to);
	put_unaligned(last, (u64 *)(to + bytes - sizeof(u64)));
}

/**
 * eventlog_payload_copy() - copy the parts of a payload to one place
 * @emission: the event
 * @to: room for the whole payload
 *
 * Any context.
 */
static __always_inline void eventlog_payload_copy(const struct eventlog_emission *emission, u8 *to)
{
	const struct eventlog_part *part;

	if (!emission->count)
		eventlog_copy(to, emission->payload, emission->bytes);
	for (part = emission->parts; part < emission->parts + emission->count; part++) {
		eventlog_copy(to, part->data, part->bytes);
		to += part->bytes;
		/* Add the NUL: the string may have changed since it was measured. */
		if (part->string)
			*to++ = '\0';
	}
}

/**
 * eventlog_emit() - deliver an event to all its listeners
 * @event: a definition that cannot go away, because of RCU or a reference
 * @session: chosen by the provider, 0: none
 * @payload: kernel memory that does not fault, valid for the event's layout
 * @bytes: its size, at most EVENTLOG_PAYLOAD_MAX
 *
 * Any context.  A loss is counted for each subscriber that cannot take the event.
 */
void eventlog_emit(const struct eventlog_event *event, u64 session, const void *payload,
		   u32 bytes);

/**
 * eventlog_emit_later() - deliver an event from a producer ring
 * @event: as for eventlog_emit(), and so are @session, @payload and @bytes
 * @session: chosen by the provider, 0: none
 * @payload: kernel memory that does not fault, valid for the event's layout
 * @bytes: its size, at most EVENTLOG_PAYLOAD_MAX
 * @emitter: who emitted it, and when; its latest time is updated
 *
 * Tracers do not get it: what was emitted after they were attached went through
 * eventlog_emit().  A subscriber without shard rings gets it as if it were emitted now.
 *
 * Process context; the caller holds the lock of the shard.
 */
void eventlog_emit_later(const struct eventlog_event *event, u64 session, const void *payload,
			 u32 bytes, struct eventlog_emitter *emitter);

/**
 * eventlog_emit_after() - deliver an event after those of a producer ring
 * @event: as for eventlog_emit(), and so are @session, @payload and @bytes
 * @session: chosen by the provider, 0: none
 * @payload: kernel memory that does not fault, valid for the event's layout
 * @bytes: its size, at most EVENTLOG_PAYLOAD_MAX
 * @latest: the latest time of the ring's events; is raised to the times of this one
 *
 * The time in each ring is after @latest, and not before any time that the current task
 * has read from CLOCK_MONOTONIC.  A clock alone would not do: emission reads another one,
 * which differs for a moment when the kernel adjusts it.
 *
 * Process context; the caller holds the lock of the shard.
 */
void eventlog_emit_after(const struct eventlog_event *event, u64 session, const void *payload,
			 u32 bytes, u64 *latest);

/**
 * eventlog_emit_invalid() - count an event that a program emitted with a wrong payload
 * @event: as for eventlog_emit()
 * @emitter: who emitted it, for an event of a producer ring; NULL: the current task
 *
 * Each subscriber with rings that listens to the event counts it, whatever its rules select.
 *
 * Context: as for eventlog_emit(), or with @emitter as for eventlog_emit_later().
 */
void eventlog_emit_invalid(const struct eventlog_event *event,
			   const struct eventlog_emitter *emitter);

/**
 * eventlog_emit_lost_to() - count losses for one subscriber
 * @subscriber: with rings
 * @cause: why
 * @count: how many
 *
 * If the CPU has no ring, the cause is EVENTLOG_LOST_NO_MEMORY: consumers look for losses of other
 * causes in rings only.  Context: as for eventlog_emit().
 */
void eventlog_emit_lost_to(struct eventlog_subscriber *subscriber, enum eventlog_lost cause,
			   u32 count);

/**
 * eventlog_emit_missed() - count events that a program could not emit
 * @event: as for eventlog_emit()
 * @count: how many
 *
 * Each subscriber with rings that listens to the event counts them, if one of its rules selects
 * the current task.  Rules for a session select none, and filters are not evaluated.  Process
 * context.
 *
 * Return: how many subscribers these are.
 */
unsigned int eventlog_emit_missed(const struct eventlog_event *event, u32 count);

/**
 * eventlog_emit_late() - count events that a thread did not wait to emit
 * @event: as for eventlog_emit()
 * @count: how many
 * @emitter: the thread
 *
 * As eventlog_emit_missed(), for rules that select @emitter.
 *
 * Context: as for eventlog_emit_later().
 */
void eventlog_emit_late(const struct eventlog_event *event, u32 count,
			const struct eventlog_emitter *emitter);

#endif /* EVENTLOG_EMIT_H */
