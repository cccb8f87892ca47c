// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tracepoint: see trace_point.h.
 *
 * BPF programs see a payload in one piece.  One that comes in pieces is put
 * together in memory that each CPU has for each context it may be emitted in;
 * that is there from the first attachment on.
 */
#include <linux/percpu.h>
#include <linux/sched.h>

#include "core/emit.h"
#include "memory.h"
#include "ring/ring_platform.h"

#define CREATE_TRACE_POINTS
#include "core/trace_point.h"

/* What programs see of a payload in pieces; eventlog(4) names it. */
#define EVENTLOG_JOINED_MAX 4096

/* What a CPU has: a payload for each context. */
struct eventlog_joined {
	bool busy[EVENTLOG_CONTEXT_NMI + 1];
	u8 payload[EVENTLOG_CONTEXT_NMI + 1][EVENTLOG_JOINED_MAX];
};

/* By CPU; the tracepoint's lock serialises who makes it. */
static struct eventlog_joined **eventlog_joined;

int eventlog_trace_point_attach(void)
{
	struct eventlog_joined **joined;
	unsigned int cpu;

	if (eventlog_joined)
		return 0;
	joined = eventlog_alloc(nr_cpu_ids * sizeof(*joined));
	if (!joined)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		joined[cpu] = eventlog_alloc(sizeof(*joined[cpu]));
		if (!joined[cpu])
			goto err_free;
	}
	smp_store_release(&eventlog_joined, joined);
	return 0;

err_free:
	for_each_possible_cpu(cpu)
		eventlog_free(joined[cpu]);
	eventlog_free(joined);
	return -ENOMEM;
}

void eventlog_trace_point_exit(void)
{
	unsigned int cpu;

	if (!eventlog_joined)
		return;
	for_each_possible_cpu(cpu)
		eventlog_free(eventlog_joined[cpu]);
	eventlog_free(eventlog_joined);
}

/* This CPU's, unless a program that looks at one makes an event itself. */
static struct eventlog_joined *eventlog_joined_get(enum eventlog_context context)
{
	struct eventlog_joined **all = smp_load_acquire(&eventlog_joined);
	struct eventlog_joined *joined = all ? all[smp_processor_id()] : NULL;

	if (!joined || joined->busy[context])
		return NULL;
	WRITE_ONCE(joined->busy[context], true);
	barrier();
	return joined;
}

/* With the payload in pieces put together, as much as fits. */
static void eventlog_trace_point_parts(const struct eventlog_emission *emission,
				       const struct eventlog_emitted *emitted)
{
	struct eventlog_joined *joined = eventlog_joined_get(emission->context);
	const struct eventlog_delivery delivery = {
		.parts = emission->parts, .count = emission->count,
	};
	u8 *payload = joined ? joined->payload[emission->context] : NULL;
	u32 bytes = 0;

	if (joined)
		bytes = eventlog_delivery_copy(&delivery, payload, EVENTLOG_JOINED_MAX);
	trace_eventlog_emit(emitted, payload, bytes, emission->event);
	barrier();
	if (joined)
		WRITE_ONCE(joined->busy[emission->context], false);
}

noinline notrace void eventlog_trace_point_emit(const struct eventlog_emission *emission)
{
	const struct eventlog_event *event = emission->event;
	const struct eventlog_emitted emitted = {
		.time = eventlog_ring_clock(),
		.session = emission->session,
		.keywords = event->keywords,
		.descriptor = event->descriptor,
		.event_id = event->id,
		.pid = current->tgid,
		.tid = current->pid,
		.bytes = emission->bytes,
		.provider_id = event->provider->id,
		.level = event->level,
		.context = emission->context,
	};

	if (emission->count)
		eventlog_trace_point_parts(emission, &emitted);
	else
		trace_eventlog_emit(&emitted, emission->payload, emission->bytes, event);
}
