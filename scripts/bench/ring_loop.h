/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The loops that are timed.  ring_loop.c is compiled once for each clock and
 * each kind of compare-and-exchange, so that both are inlined as in the kernel;
 * what a build offers is in its struct bench_loops.
 */
#ifndef BENCH_RING_LOOP_H
#define BENCH_RING_LOOP_H

#include "ring/ring.h"

/**
 * struct bench_source - what an event is made of; the compiler knows none of it
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
 * @emit: writes @count events to the ring as the module does; every @release
 *	events, and at the end, the consumer's position moves up to all that is
 *	committed (0: never).  Returns how many were placed.
 * @copy: the floor: reads the clock and copies header and payload @count times
 *	into a buffer of @size bytes, from @position on.  Returns the position
 *	it got to.
 * @exchange: @count compare-and-exchanges of a cache line's words in turn, none
 *	of which waits for another.  Returns how often one failed.
 * @exchange_chain: the same, all of one word: each waits for the one before it.
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
