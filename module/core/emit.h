/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Emission: the hot path.  No lock, no allocation, no sleep, no printk.
 */
#ifndef EVENTLOG_EMIT_H
#define EVENTLOG_EMIT_H

#include <linux/cpumask.h>
#include <linux/eventlog.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/types.h>

#include "compat.h"

struct eventlog_event;

/** eventlog_context() - what is running here; preemption is off */
static __always_inline enum eventlog_context eventlog_context(void)
{
	if (likely(in_task()))
		return EVENTLOG_CONTEXT_TASK;
	if (in_nmi())
		return EVENTLOG_CONTEXT_NMI;
	return in_hardirq() ? EVENTLOG_CONTEXT_HARDIRQ : EVENTLOG_CONTEXT_SOFTIRQ;
}

/**
 * eventlog_watched() - may what RCU protects be looked at here
 *
 * Any context, preemption off.  Not in the idle loop, nor on a CPU that is just
 * starting.
 */
static __always_inline bool eventlog_watched(void)
{
	return likely(rcu_is_watching() && cpu_online(raw_smp_processor_id()));
}

/**
 * struct eventlog_emission - an event on its way, the same for all who get it
 * @event: its definition
 * @session: chosen by the provider, 0: none
 * @parts: the payload in pieces, if there is a @count
 * @payload: else in one
 * @count: of @parts
 * @bytes: of the whole payload
 * @context: where it is emitted
 *
 * Everything on the way to rings that has one is inlined into the few functions
 * that begin an emission, which know what there is: it need not be in memory,
 * unless a callback or a tracer wants it.  They get a copy that is made member by
 * member: one made in whole words of what was just stored in halves waits for the
 * stores, longer than all else takes.
 */
struct eventlog_emission {
	const struct eventlog_event *event;
	u64 session;
	const struct eventlog_part *parts;
	const void *payload;
	unsigned int count;
	u32 bytes;
	enum eventlog_context context;
};

/*
 * Copies what does not overlap.  Most payloads are small, and copied in fewer
 * instructions than a call takes: first and last words, which may have bytes in
 * common.
 */
static __always_inline void eventlog_copy(u8 *to, const u8 *from, u32 bytes)
{
	u64 first, last, second, third;

	if (bytes < sizeof(u64) || bytes > 4 * sizeof(u64)) {
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
 * eventlog_payload_copy() - put a payload together
 * @emission: the event
 * @to: room for all of it
 *
 * Any context.
 */
static __always_inline void eventlog_payload_copy(const struct eventlog_emission *emission, u8 *to)
{
	const struct eventlog_part *part;

	if (!emission->count)
		eventlog_copy(to, emission->payload, emission->bytes);
	for (part = emission->parts; part < emission->parts + emission->count; part++) {
		memcpy(to, part->data, part->bytes);
		to += part->bytes;
		/* Ours, whatever has become of the string since it was measured. */
		if (part->string)
			*to++ = '\0';
	}
}

/**
 * eventlog_emit() - give an event to every subscriber that wants it
 * @event: a definition the caller keeps alive, by RCU or otherwise
 * @session: chosen by the provider, 0: none
 * @payload: kernel memory that will not fault, valid for the event's layout
 * @bytes: its size, at most EVENTLOG_PAYLOAD_MAX
 *
 * Any context.  A subscriber that cannot take the event has the loss counted.
 */
void eventlog_emit(const struct eventlog_event *event, u64 session, const void *payload,
		   u32 bytes);

#endif /* EVENTLOG_EMIT_H */
