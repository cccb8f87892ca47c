// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tracepoint eventlog_emit: see trace_point.h.
 *
 * A BPF program gets the payload as one contiguous buffer.  A payload of several parts
 * is assembled in a buffer of joined.h.
 */
#include <linux/percpu.h>
#include <linux/sched.h>

#include "core/emit.h"
#include "core/joined.h"
#include "ring/ring_platform.h"

#define CREATE_TRACE_POINTS
#include "core/trace_point.h"

int eventlog_trace_point_attach(void)
{
	return eventlog_joined_prepare();
}

/* Hits the tracepoint with the assembled payload, truncated to the size of the buffer. */
static void eventlog_trace_point_parts(const struct eventlog_emission *emission,
				       const struct eventlog_emitted *emitted)
{
	u8 *payload = eventlog_joined_get(emission->context);
	const struct eventlog_delivery delivery = {
		.parts = emission->parts, .count = emission->count,
	};
	u32 bytes = 0;

	if (payload)
		bytes = eventlog_delivery_copy(&delivery, payload, EVENTLOG_JOINED_MAX);
	trace_eventlog_emit(emitted, payload, bytes, emission->event);
	if (payload)
		eventlog_joined_put(emission->context);
}

/* Hits the tracepoint.  Emission of the root must not pay for the test of the domain. */
noinline notrace void eventlog_trace_point_emit(const struct eventlog_emission *emission)
{
	const struct eventlog_emitter *emitter = emission->emitter;
	const struct eventlog_event *event = emission->event;
	const u64 time = emission->time ?: emitter ? emitter->time : 0;
	const struct eventlog_emitted emitted = {
		.time = time ?: eventlog_ring_clock(),
		.session = emission->session,
		.keywords = event->keywords,
		.descriptor = event->descriptor,
		.event_id = event->id,
		.pid = emitter ? pid_nr(emitter->process) : current->tgid,
		.tid = emitter ? pid_nr(emitter->thread) : current->pid,
		.bytes = emission->bytes,
		.provider_id = event->provider->id,
		.level = event->level,
		.context = emission->context,
	};

	if (event->domain->id)
		return;
	if (emission->count)
		eventlog_trace_point_parts(emission, &emitted);
	else
		trace_eventlog_emit(&emitted, emission->payload, emission->bytes, event);
}
