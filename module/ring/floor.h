/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A subscriber's floor: the time before which no more records may be placed.
 *
 * Raised by FLUSH, under a lock of the caller's; read by every emission, in any
 * context.  A 32-bit machine reads 64 bits in two, and what it reads must be a
 * time that was stored: too low a floor breaks an earlier FLUSH's promise, too
 * high a one dates records into the future.  An NMI may read on top of the
 * store, so it cannot wait for its end: the times take turns in two places, and
 * the one being stored is never the one to be read.
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
 * eventlog_floor_read() - the present floor
 * @floor: the floor
 *
 * Any context, preemption off.  A 32-bit machine repeats when it was raised meanwhile.
 *
 * Return: the time, ns of CLOCK_MONOTONIC.
 */
static __always_inline u64 eventlog_floor_read(const struct eventlog_floor *floor)
{
	return READ_ONCE(floor->time);
}

/**
 * eventlog_floor_raise() - set a new floor
 * @floor: the floor
 * @time: not less than the present one
 *
 * Under a lock that all who raise it take.
 */
static inline void eventlog_floor_raise(struct eventlog_floor *floor, u64 time)
{
	WRITE_ONCE(floor->time, time);
}

#else

/**
 * struct eventlog_floor - the floor, initially zero
 * @time: the present one and the one before or after
 * @turn: the lowest bit says which is present
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

	/* Who reads any of this must find, when it looks again, that the turn has passed on. */
	smp_wmb();
	WRITE_ONCE(floor->time[turn & 1], time);
	smp_store_release(&floor->turn, turn);
}

#endif

#endif /* EVENTLOG_FLOOR_H */
