/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interface of the benchmark modules: scripts/bench/kernel_bench.c uses
 * eventlog_bench.ko, scripts/bench/event_bench.c uses eventlog_bench_events.ko.  A call
 * measures one batch, so that the programs can alternate between the competitors.
 */
#ifndef EVENTLOG_BENCH_H
#define EVENTLOG_BENCH_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Maximum number of writes or events in a batch, and maximum size of a message. */
#define EVENTLOG_BENCH_COUNT_MAX 100000
#define EVENTLOG_BENCH_MESSAGE_MAX 4096

/* How to write; the array in eventlog_bench.c has one entry for each. */
enum eventlog_bench_method {
	EVENTLOG_BENCH_KVEC,	/* f_op->write_iter, from kernel memory */
	EVENTLOG_BENCH_UBUF,	/* f_op->write_iter, from the caller's memory */
	EVENTLOG_BENCH_WRITE,	/* f_op->write, from the caller's memory */
	EVENTLOG_BENCH_CLOCK,	/* no write: only read the clock of records */
	EVENTLOG_BENCH_METHODS,
};

/**
 * struct eventlog_bench_batch - a batch of writes
 * @method: enum eventlog_bench_method
 * @fd: the open file to write to
 * @message: const void *, the message of each write
 * @bytes: size of the message
 * @count: number of writes
 * @result: expected return value of each write; EIO if one differs
 * @nanoseconds: out: duration of the batch
 */
struct eventlog_bench_batch {
	__u32 method;
	__s32 fd;
	__u64 message;
	__u32 bytes;
	__u32 count;
	__s64 result;
	__u64 nanoseconds;
};

#define EVENTLOG_BENCH_IOC_BATCH _IOWR(0xE8, 0, struct eventlog_bench_batch)

/*
 * The events of eventlog_bench_events.ko; its array has one entry for each.  First those
 * of the provider event_bench, then tracepoints.  The events have fixed fields (FIXED) or
 * also a string (TEXT); the rest of the name is the kind of listener, OFF: none.
 */
enum eventlog_bench_event {
	EVENTLOG_BENCH_NOTHING,	/* the loop alone */
	EVENTLOG_BENCH_FIXED_OFF,
	EVENTLOG_BENCH_FIXED_DISCARD,
	EVENTLOG_BENCH_FIXED_OVERWRITE,
	EVENTLOG_BENCH_TEXT_OFF,
	EVENTLOG_BENCH_TEXT_DISCARD,
	EVENTLOG_BENCH_TEXT_OVERWRITE,
	EVENTLOG_BENCH_TRACE_FIXED_OFF,
	EVENTLOG_BENCH_TRACE_FIXED_OWN,
	EVENTLOG_BENCH_TRACE_FIXED_MONO,
	EVENTLOG_BENCH_TRACE_FIXED_LTTNG,
	EVENTLOG_BENCH_TRACE_TEXT_OFF,
	EVENTLOG_BENCH_TRACE_TEXT_OWN,
	EVENTLOG_BENCH_TRACE_TEXT_MONO,
	EVENTLOG_BENCH_TRACE_TEXT_LTTNG,
	EVENTLOG_BENCH_WIDE,		/* 64 bytes of numbers, to measure consumers */
	EVENTLOG_BENCH_TRACE_WIDE,
	EVENTLOG_BENCH_EVENTS,
};

/**
 * struct eventlog_bench_emit - a batch of events
 * @event: enum eventlog_bench_event
 * @count: number of events
 * @nanoseconds: out: duration of the batch
 * @cycles: out: duration of the batch in CPU cycles; 0 if there is no cycle counter
 */
struct eventlog_bench_emit {
	__u32 event;
	__u32 count;
	__u64 nanoseconds;
	__u64 cycles;
};

#define EVENTLOG_BENCH_IOC_EMIT _IOWR(0xE8, 1, struct eventlog_bench_emit)

#endif /* EVENTLOG_BENCH_H */
