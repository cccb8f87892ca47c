// SPDX-License-Identifier: GPL-2.0-only
/*
 * eventlog_bench_lttng.ko: LTTng probe for the tracepoints of the benchmark.
 */
#include <linux/module.h>
#include <lttng/tracer.h>

/* The tracepoints: with them, the compiler checks the types of the probe. */
#include "eventlog_bench_trace.h"

#define LTTNG_PACKAGE_BUILD
#define CREATE_TRACE_POINTS
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE eventlog_bench_lttng
#include "eventlog_bench_lttng.h"

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("eventlog benchmark: LTTng probe for the tracepoints");
