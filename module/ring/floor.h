/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A subscriber's floor: the minimum time of records that are still to be placed.
 *
 * FLUSH raises the floor, under a lock of the caller.  Every emission reads it, in any
 * context.  A 32-bit machine needs two loads to read 64 bits, and the result must be a
 * time that was stored: a lower floor would break the promise of an earlier FLUSH, a
 * higher one would give records a time in the future.  An NMI may interrupt the store
 * and cannot wait for its end.  Therefore the times alternate between two words, and
 * the word being stored is never the one to read.
 */
#ifndef EVENTLOG_FLOOR_H
#define EVENTLOG_FLOOR_H

#include <linux/compiler.h>
#include <linux/types.h>

#include <asm/barrier.h>

#ifdef CONFIG_64BIT

struct eventlog_floor {
	u64 time;
};

/**
 * eventlog_floor_read() - read the floor
 * @floor: the floor
 *
 * A 32-bit machine retries if the floor is raised meanwhile.
 *
 * Context: any, preemption disabled.
 *
 * Return: the time, CLOCK_MONOTONIC in ns.
 */
static __always_inline u64 eventlog_floor_read(const struct eventlog_floor *floor)
{
	return READ_ONCE(floor->time);
}

/**
 * eventlog_floor_raise() - raise the floor
 * @floor: the floor
 * @time: not less than the current floor
 *
 * Context: any; the caller holds the lock that serialises all writers.
 */
static inline void eventlog_floor_raise(struct eventlog_floor *floor, u64 time)
{
	WRITE_ONCE(floor->time, time);
}

#else

/**
 * struct eventlog_floor - the floor, initially zero
 * @time: the current time, and the previous or the next one
 * @turn: the lowest bit is the index of the current time
 */
struct eventlog_floor {
	u64 time[2];
	u32 turn;
};

static __always_inline u64 eventlog_floor_read(const struct eventlog_floor *floor)
{
	u32 turn;
	u64 time;

	do {
		turn = smp_load_acquire(&floor->turn);
		time = READ_ONCE(floor->time[turn & 1]);
		smp_rmb();
	} while (unlikely(READ_ONCE(floor->turn) != turn));
	return time;
}

static inline void eventlog_floor_raise(struct eventlog_floor *floor, u64 time)
{
	u32 turn = floor->turn + 1;

	/*
	 * Order the previous store of turn before this store of time: a reader that
	 * loads any half of the new time must find that turn has changed.
	 */
	smp_wmb();
	WRITE_ONCE(floor->time[turn & 1], time);
	smp_store_release(&floor->turn, turn);
}

#endif

#endif /* EVENTLOG_FLOOR_H */
