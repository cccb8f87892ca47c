// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tracepoint eventlog_emit: see trace_point.h.
 *
 * A BPF program gets the payload as one contiguous buffer.  A payload of several parts
 * is assembled in a buffer per CPU and context.  The buffers are allocated when a probe
 * is attached for the first time.
 */
#include <linux/percpu.h>
#include <linux/sched.h>

#include "core/emit.h"
#include "memory.h"
#include "ring/ring_platform.h"

#define CREATE_TRACE_POINTS
#include "core/trace_point.h"

/* Maximum size of a payload assembled from parts; documented in eventlog(4). */
#define EVENTLOG_JOINED_MAX 4096

/* Buffers of one CPU, one per context. */
struct eventlog_joined {
	bool busy[EVENTLOG_CONTEXT_NMI + 1];
	u8 payload[EVENTLOG_CONTEXT_NMI + 1][EVENTLOG_JOINED_MAX];
};

/* Indexed by CPU.  The lock of the tracepoint code serialises its allocation. */
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

/*
 * Returns the buffers of this CPU, or NULL if the one for @context is in use: a program
 * that reads it has emitted an event.
 */
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

/* Hits the tracepoint with the assembled payload, truncated to the size of the buffer. */
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
