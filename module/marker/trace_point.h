/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The static tracepoint that every marker hits whose handler PROBE is on: what
 * a BPF program attaches to, with the marker and its values as arguments.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM eventlog

#if !defined(EVENTLOG_MARKER_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define EVENTLOG_MARKER_TRACE_H

#include <linux/eventlog_marker.h>
#include <linux/tracepoint.h>

#include "compat.h"

TRACE_EVENT(eventlog_marker,

	TP_PROTO(const struct eventlog_marker *marker, const u64 *values),

	TP_ARGS(marker, values),

	TP_STRUCT__entry(
		__field(u64, id)
		__string(place, marker->event.description)
	),

	TP_fast_assign(
		__entry->id = marker->id;
		eventlog_assign_str(place, marker->event.description);
	),

	TP_printk("id=%016llx place=%s", __entry->id, __get_str(place))
);

#endif /* EVENTLOG_MARKER_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH marker
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace_point
#include <trace/define_trace.h>
