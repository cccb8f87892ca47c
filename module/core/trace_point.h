/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tracepoint eventlog:eventlog_emit.  Every enabled event hits it.  It is for BPF
 * programs, which cannot name an event created at run time: SEC("raw_tp/eventlog_emit")
 * and SEC("tp_btf/eventlog_emit").  Attaching to it does not enable any event.  See
 * struct eventlog_emitted in uapi/linux/eventlog.h.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM eventlog

#if !defined(EVENTLOG_TRACE_POINT_H) || defined(TRACE_HEADER_MULTI_READ)
#define EVENTLOG_TRACE_POINT_H

#include <linux/tracepoint.h>
#include <uapi/linux/eventlog.h>

#include "compat.h"
#include "core/event.h"

struct eventlog_emission;

/**
 * eventlog_trace_point_emit() - hit the tracepoint
 * @emission: the event
 *
 * Call it only if trace_eventlog_emit_enabled().
 *
 * Context: any, preemption disabled.
 */
void eventlog_trace_point_emit(const struct eventlog_emission *emission);

/* Called by the tracepoint code, serialised, when the first probe is attached. */
int eventlog_trace_point_attach(void);

TRACE_EVENT_FN(eventlog_emit,

	TP_PROTO(const struct eventlog_emitted *emitted, const void *payload, u64 bytes,
		 const struct eventlog_event *event),

	TP_ARGS(emitted, payload, bytes, event),

	TP_STRUCT__entry(
		__field(u32, descriptor)
		__field(u32, bytes)
		__field(u64, session)
		__string(provider, event->provider->name)
		__string(event, event->name)
	),

	TP_fast_assign(
		__entry->descriptor = emitted->descriptor;
		__entry->bytes = emitted->bytes;
		__entry->session = emitted->session;
		eventlog_assign_str(provider, event->provider->name);
		eventlog_assign_str(event, event->name);
	),

	TP_printk("%s/%s descriptor=%u bytes=%u session=%llu", __get_str(provider),
		  __get_str(event), __entry->descriptor, __entry->bytes, __entry->session),

	eventlog_trace_point_attach, NULL
);

#endif /* EVENTLOG_TRACE_POINT_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH core
#define TRACE_INCLUDE_FILE trace_point
#include <trace/define_trace.h>
