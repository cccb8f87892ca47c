// SPDX-License-Identifier: GPL-2.0-only
/*
 * The same events through LTTng-UST: see lttng_loop.h.  Without its headers it is
 * not measured, and the table says so.
 */
#include <stddef.h>
#include <stdlib.h>

#include "lttng_loop.h"

#if __has_include(<lttng/tracepoint.h>)

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_provider.h"

#define EACH_SIZE(what) what(0) what(12) what(32) what(64) what(256) what(1024) what(4096)

void lttng_loop(uint32_t bytes, const void *payload, uint32_t count)
{
	switch (bytes) {
#define EMIT(size)									\
	case size:									\
		for (; count; count--)							\
			lttng_ust_tracepoint(eventlog_bench, bytes_##size, payload);	\
		break;
	EACH_SIZE(EMIT)
	}
}

const char *lttng_loop_missing(uint32_t bytes)
{
	const char *reason = getenv("BENCH_NO_LTTNG");

	switch (bytes) {
#define TEST(size)									\
	case size:									\
		if (lttng_ust_tracepoint_enabled(eventlog_bench, bytes_##size))		\
			return NULL;							\
		break;
	EACH_SIZE(TEST)
	}
	return reason ? reason : "no LTTng session records it";
}

#else

void lttng_loop(uint32_t bytes, const void *payload, uint32_t count)
{
	(void)bytes;
	(void)payload;
	(void)count;
}

const char *lttng_loop_missing(uint32_t bytes)
{
	(void)bytes;
	return "built without LTTng's headers (liblttng-ust-dev)";
}

#endif
