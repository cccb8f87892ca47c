/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of event_bench_eventlog_schema.src as tracepoints: one copy per tracer, so
 * that none is switched on or off while it is measured.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM eventlog_bench

#if !defined(EVENTLOG_BENCH_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define EVENTLOG_BENCH_TRACE_H

#include <linux/tracepoint.h>

#include "../compat.h"

DECLARE_EVENT_CLASS(eventlog_bench_fixed,

	TP_PROTO(u64 a, u64 b, u32 c, u32 d, u64 e),

	TP_ARGS(a, b, c, d, e),

	TP_STRUCT__entry(
		__field(u64, a)
		__field(u64, b)
		__field(u32, c)
		__field(u32, d)
		__field(u64, e)
	),

	TP_fast_assign(
		__entry->a = a;
		__entry->b = b;
		__entry->c = c;
		__entry->d = d;
		__entry->e = e;
	),

	TP_printk("a=%llu b=%llu c=%u d=%u e=%llu", __entry->a, __entry->b, __entry->c,
		  __entry->d, __entry->e)
);

DECLARE_EVENT_CLASS(eventlog_bench_text,

	TP_PROTO(u64 a, u64 b, u32 c, const char *name),

	TP_ARGS(a, b, c, name),

	TP_STRUCT__entry(
		__field(u64, a)
		__field(u64, b)
		__field(u32, c)
		__string(name, name)
	),

	TP_fast_assign(
		__entry->a = a;
		__entry->b = b;
		__entry->c = c;
		eventlog_assign_str(name, name);
	),

	TP_printk("a=%llu b=%llu c=%u name=%s", __entry->a, __entry->b, __entry->c,
		  __get_str(name))
);

#define EVENTLOG_BENCH_FIXED(event)					\
	DEFINE_EVENT(eventlog_bench_fixed, event,			\
		     TP_PROTO(u64 a, u64 b, u32 c, u32 d, u64 e),	\
		     TP_ARGS(a, b, c, d, e))

#define EVENTLOG_BENCH_TEXT(event)					\
	DEFINE_EVENT(eventlog_bench_text, event,			\
		     TP_PROTO(u64 a, u64 b, u32 c, const char *name),	\
		     TP_ARGS(a, b, c, name))

EVENTLOG_BENCH_FIXED(eventlog_bench_fixed_off);
EVENTLOG_BENCH_FIXED(eventlog_bench_fixed_own);
EVENTLOG_BENCH_FIXED(eventlog_bench_fixed_mono);
EVENTLOG_BENCH_FIXED(eventlog_bench_fixed_lttng);
EVENTLOG_BENCH_TEXT(eventlog_bench_text_off);
EVENTLOG_BENCH_TEXT(eventlog_bench_text_own);
EVENTLOG_BENCH_TEXT(eventlog_bench_text_mono);
EVENTLOG_BENCH_TEXT(eventlog_bench_text_lttng);

TRACE_EVENT(eventlog_bench_wide,

	TP_PROTO(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h),

	TP_ARGS(a, b, c, d, e, f, g, h),

	TP_STRUCT__entry(
		__field(u64, a)
		__field(u64, b)
		__field(u64, c)
		__field(u64, d)
		__field(u64, e)
		__field(u64, f)
		__field(u64, g)
		__field(u64, h)
	),

	TP_fast_assign(
		__entry->a = a;
		__entry->b = b;
		__entry->c = c;
		__entry->d = d;
		__entry->e = e;
		__entry->f = f;
		__entry->g = g;
		__entry->h = h;
	),

	TP_printk("a=%llu b=%llu c=%llu d=%llu e=%llu f=%llu g=%llu h=%llu", __entry->a,
		  __entry->b, __entry->c, __entry->d, __entry->e, __entry->f, __entry->g,
		  __entry->h)
);

#undef EVENTLOG_BENCH_FIXED
#undef EVENTLOG_BENCH_TEXT

#endif /* EVENTLOG_BENCH_TRACE_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE eventlog_bench_trace
#include <trace/define_trace.h>
