/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * LTTng-UST's side: a tracepoint for each payload, an array of bytes.  Its
 * headers include this file several times over.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER eventlog_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng_provider.h"

#if !defined(BENCH_LTTNG_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_PROVIDER_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(eventlog_bench, bytes_0,
	LTTNG_UST_TP_ARGS(const unsigned char *, bytes),
	LTTNG_UST_TP_FIELDS())

#define BENCH_TRACEPOINT(size)								\
	LTTNG_UST_TRACEPOINT_EVENT(eventlog_bench, bytes_##size,			\
		LTTNG_UST_TP_ARGS(const unsigned char *, bytes),			\
		LTTNG_UST_TP_FIELDS(lttng_ust_field_array(unsigned char, payload, bytes, size)))

BENCH_TRACEPOINT(12)
BENCH_TRACEPOINT(32)
BENCH_TRACEPOINT(64)
BENCH_TRACEPOINT(256)
BENCH_TRACEPOINT(1024)
BENCH_TRACEPOINT(4096)

#endif /* BENCH_LTTNG_PROVIDER_H */

#include <lttng/tracepoint-event.h>
