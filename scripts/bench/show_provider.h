/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * LTTng-UST's side of show_events: the same event.  Its headers include this file
 * several times over.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER eventlog_show
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "show_provider.h"

#if !defined(BENCH_SHOW_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_SHOW_PROVIDER_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(eventlog_show, request_end,
	LTTNG_UST_TP_ARGS(uint64_t, connection, uint32_t, status, uint64_t, bytes,
			  const char *, path),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, connection, connection)
		lttng_ust_field_integer(uint32_t, status, status)
		lttng_ust_field_integer(uint64_t, bytes, bytes)
		lttng_ust_field_string(path, path)))

#endif /* BENCH_SHOW_PROVIDER_H */

#include <lttng/tracepoint-event.h>
