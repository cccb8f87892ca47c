/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What scripts/bench/kernel_bench.c asks eventlog_bench.ko to time, and
 * event_bench.c eventlog_bench_events.ko: one batch at a time, so that the
 * contestants can take turns.
 */
#ifndef EVENTLOG_BENCH_H
#define EVENTLOG_BENCH_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Writes or events of a batch at most, and bytes of a message. */
#define EVENTLOG_BENCH_COUNT_MAX 100000
#define EVENTLOG_BENCH_MESSAGE_MAX 4096

/* How the kernel is made to emit; the array in eventlog_bench.c has one entry for each. */
enum eventlog_bench_method {
	EVENTLOG_BENCH_KVEC,	/* f_op->write_iter, from the kernel's memory */
	EVENTLOG_BENCH_UBUF,	/* f_op->write_iter, from the caller's */
	EVENTLOG_BENCH_WRITE,	/* f_op->write, from the caller's */
	EVENTLOG_BENCH_CLOCK,	/* nothing is written: a record's clock is read */
	EVENTLOG_BENCH_METHODS,
};

/**
 * struct eventlog_bench_batch - a batch
 * @method: enum eventlog_bench_method
 * @fd: the open file that is written to
 * @message: const void *, what is written each time
 * @bytes: of the message
 * @count: writes
 * @result: what each write has to return; the batch is void (EIO) if one does not
 * @nanoseconds: out: what all of them took
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
 * What eventlog_bench_events.ko can emit; its array has one entry for each.  By
 * the provider event_bench, then by tracepoints: fixed fields, or a string behind
 * them, wanted by nobody or by whoever the name says.
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
	EVENTLOG_BENCH_WIDE,		/* 64 bytes of numbers, for who drains them */
	EVENTLOG_BENCH_TRACE_WIDE,
	EVENTLOG_BENCH_EVENTS,
};

/**
 * struct eventlog_bench_emit - a batch of events
 * @event: enum eventlog_bench_event
 * @count: how often
 * @nanoseconds: out: what all of them took
 * @cycles: out: the same by the processor's counter; 0 if it has none
 */
struct eventlog_bench_emit {
	__u32 event;
	__u32 count;
	__u64 nanoseconds;
	__u64 cycles;
};

#define EVENTLOG_BENCH_IOC_EMIT _IOWR(0xE8, 1, struct eventlog_bench_emit)

#endif /* EVENTLOG_BENCH_H */
