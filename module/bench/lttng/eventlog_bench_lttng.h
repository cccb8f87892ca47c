/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tracepoints of ../eventlog_bench_trace.h with the same fields, in the macros of
 * LTTng.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM eventlog_bench

#if !defined(EVENTLOG_BENCH_LTTNG_H) || defined(TRACE_HEADER_MULTI_READ)
#define EVENTLOG_BENCH_LTTNG_H

#include <lttng/tracepoint-event.h>

LTTNG_TRACEPOINT_EVENT(eventlog_bench_fixed_lttng,
	TP_PROTO(u64 a, u64 b, u32 c, u32 d, u64 e),
	TP_ARGS(a, b, c, d, e),
	TP_FIELDS(
		ctf_integer(u64, a, a)
		ctf_integer(u64, b, b)
		ctf_integer(u32, c, c)
		ctf_integer(u32, d, d)
		ctf_integer(u64, e, e)
	)
)

LTTNG_TRACEPOINT_EVENT(eventlog_bench_text_lttng,
	TP_PROTO(u64 a, u64 b, u32 c, const char *name),
	TP_ARGS(a, b, c, name),
	TP_FIELDS(
		ctf_integer(u64, a, a)
		ctf_integer(u64, b, b)
		ctf_integer(u32, c, c)
		ctf_string(name, name)
	)
)

LTTNG_TRACEPOINT_EVENT(eventlog_bench_wide,
	TP_PROTO(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h),
	TP_ARGS(a, b, c, d, e, f, g, h),
	TP_FIELDS(
		ctf_integer(u64, a, a)
		ctf_integer(u64, b, b)
		ctf_integer(u64, c, c)
		ctf_integer(u64, d, d)
		ctf_integer(u64, e, e)
		ctf_integer(u64, f, f)
		ctf_integer(u64, g, g)
		ctf_integer(u64, h, h)
	)
)

#endif /* EVENTLOG_BENCH_LTTNG_H */

#include <lttng/define_trace.h>
