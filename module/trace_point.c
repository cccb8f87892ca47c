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

#include "emit.h"
#include "memory.h"
#include "ring_platform.h"

#define CREATE_TRACE_POINTS
#include "trace_point.h"

/* What programs see of a payload in pieces; eventlog(4) names it. */
#define EVENTLOG_JOINED_MAX 4096

#define EVENTLOG_CONTEXTS (EVENTLOG_CONTEXT_NMI + 1)

/* By CPU and context; the tracepoint's lock serialises who makes it. */
static u8 **eventlog_joined;

/* Called for the first who attaches. */
int eventlog_trace_point_attach(void)
{
	u8 **joined;
	unsigned int cpu;

	if (eventlog_joined)
		return 0;
	joined = eventlog_alloc(nr_cpu_ids * sizeof(*joined));
	if (!joined)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		joined[cpu] = eventlog_alloc(EVENTLOG_CONTEXTS * EVENTLOG_JOINED_MAX);
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

void eventlog_trace_point_detach(void)
{
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

/* The payload in one piece, or as much of it as fits. */
static const void *eventlog_payload_join(const struct eventlog_emission *emission, u32 *bytes)
{
	u8 **joined = smp_load_acquire(&eventlog_joined);
	const struct eventlog_delivery delivery = {
		.parts = emission->parts, .count = emission->count,
	};
	u8 *to;

	*bytes = emission->bytes;
	if (emission->count <= 1 && (!emission->count || !emission->parts->string))
		return emission->payload;
	*bytes = 0;
	if (!joined)
		return NULL;
	to = joined[smp_processor_id()] + emission->context * EVENTLOG_JOINED_MAX;
	*bytes = eventlog_delivery_copy(&delivery, to, EVENTLOG_JOINED_MAX);
	return to;
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
	u32 bytes;
	const void *payload = eventlog_payload_join(emission, &bytes);

	trace_eventlog_emit(&emitted, payload, bytes, event);
}
