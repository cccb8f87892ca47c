/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The timed loops.  ring_loop.c is compiled once for each clock and each kind of
 * compare-and-exchange, so that both are inlined as in the kernel.  Each build
 * defines a struct bench_loops.
 */
#ifndef BENCH_RING_LOOP_H
#define BENCH_RING_LOOP_H

#include "ring/ring.h"

/**
 * struct bench_source - an event's values, which the compiler must not know
 * @session: of the record
 * @descriptor: of the record
 * @pid: of the record
 * @tid: of the record
 * @payload: its bytes
 * @bytes: their number
 */
struct bench_source {
	u64 session;
	u32 descriptor;
	u32 pid;
	u32 tid;
	const void *payload;
	u32 bytes;
};

/**
 * struct bench_loops - one build of the loops
 * @emit: writes @count events to the ring as the module does.  Every @release events
 *	and at the end, the consumer's position moves to committed (0: never).
 *	Returns the number of events placed.
 * @copy: the floor: reads the clock and copies header and payload @count times into
 *	a buffer of @size bytes, starting at @position.  Returns the next position.
 * @exchange: @count compare-and-exchanges of the words of a cache line, one after the
 *	other; none depends on another.  Returns the number of failures.
 * @exchange_chain: the same with one word: each one waits for the last one.
 */
struct bench_loops {
	u64 (*emit)(struct eventlog_ring *ring, struct eventlog_ring_consumer *consumer,
		    const struct bench_source *source, u32 count, u32 release);
	u32 (*copy)(u8 *data, u32 size, u32 position, const struct bench_source *source,
		    u32 count);
	u32 (*exchange)(u64 *line, u32 count);
	u32 (*exchange_chain)(u64 *word, u32 count);
};

/* Words of a cache line. */
#define BENCH_LINE_WORDS 8

extern const struct bench_loops bench_loops_none, bench_loops_none_locked;
extern const struct bench_loops bench_loops_tsc, bench_loops_tsc_locked;
extern const struct bench_loops bench_loops_monotonic, bench_loops_monotonic_locked;

#endif /* BENCH_RING_LOOP_H */
