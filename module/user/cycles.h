/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Times from cycle counters.  A thread that stamps its records with the time stamp counter
 * of the CPU saves most of what the clock costs.  The module converts the values when it
 * drains: it reads the counter and the clock together in each pass, and places a value
 * between two of these anchors.
 *
 * No lock: struct eventlog_cycles is protected by its shard's lock.  Called by shard.c, and
 * by a test in user space, which defines what math64.h has, and does not read the counter.
 */
#ifndef EVENTLOG_CYCLES_H
#define EVENTLOG_CYCLES_H

#ifdef __KERNEL__
#include <linux/math64.h>
#include <linux/types.h>
#endif

/* Anchors further apart say little about the clock's rate in between: it is adjusted. */
#define EVENTLOG_CYCLES_SPAN 100000000ULL

/* The rate is measured over at least so much, because an anchor is not exact. */
#define EVENTLOG_CYCLES_BASE 10000000ULL

/**
 * struct eventlog_anchor - two clocks at one moment
 * @cycles: the counter
 * @time: CLOCK_MONOTONIC in nanoseconds
 */
struct eventlog_anchor {
	u64 cycles;
	u64 time;
};

/**
 * struct eventlog_cycles - how to convert
 * @nominal: nanoseconds of a cycle, << 32, as the kernel has calibrated the counter
 * @rate: the same as measured; near @nominal
 * @slope: the same between @last and @newest
 * @base: where the measurement of @rate began
 * @last: the anchor before @newest, or @newest if that one is long ago
 * @newest: the latest anchor
 */
struct eventlog_cycles {
	u64 nominal;
	u64 rate;
	u64 slope;
	struct eventlog_anchor base;
	struct eventlog_anchor last;
	struct eventlog_anchor newest;
};

/**
 * eventlog_cycles_init() - begin
 * @cycles: all of it is set
 * @khz: frequency of the counter
 * @now: the first anchor
 */
static inline void eventlog_cycles_init(struct eventlog_cycles *cycles, u32 khz,
					struct eventlog_anchor now)
{
	cycles->nominal = div64_u64(1000000ULL << 32, khz);
	cycles->rate = cycles->nominal;
	cycles->slope = cycles->nominal;
	cycles->base = now;
	cycles->last = now;
	cycles->newest = now;
}

/* The rate between two anchors, or 0 if it is not near @nominal. */
static inline u64 eventlog_cycles_measure(u64 nominal, struct eventlog_anchor from,
					  struct eventlog_anchor to)
{
	u64 time = to.time - from.time, cycles = to.cycles - from.cycles, rate;

	while (time >> 31) {
		time >>= 1;
		cycles >>= 1;
	}
	if (!cycles)
		return 0;
	rate = div64_u64(time << 32, cycles);
	return rate - nominal + (nominal >> 10) > nominal >> 9 ? 0 : rate;
}

/**
 * eventlog_cycles_update() - set the latest anchor
 * @cycles: how to convert
 * @now: an anchor that was taken now
 */
static inline void eventlog_cycles_update(struct eventlog_cycles *cycles,
					  struct eventlog_anchor now)
{
	struct eventlog_anchor last = cycles->newest;
	u64 rate;

	/* The counter may start again when the system wakes up. */
	if (now.cycles <= last.cycles || now.time < last.time) {
		cycles->base = now;
		cycles->last = now;
		cycles->newest = now;
		return;
	}
	if (now.time - cycles->base.time >= EVENTLOG_CYCLES_BASE) {
		rate = eventlog_cycles_measure(cycles->nominal, cycles->base, now);
		if (rate)
			cycles->rate = rate;
		cycles->base = now;
	}
	cycles->last = last;
	cycles->newest = now;
	if (now.time - last.time < EVENTLOG_CYCLES_SPAN)
		cycles->slope = div64_u64((now.time - last.time) << 32, now.cycles - last.cycles);
	else
		cycles->last = now;
}

/**
 * eventlog_cycles_time() - convert a value of the counter
 * @cycles: how to convert
 * @value: any number
 *
 * Later values have later times, as long as the anchors are the same.
 *
 * Return: the time, not after that of the latest anchor.
 */
static inline u64 eventlog_cycles_time(const struct eventlog_cycles *cycles, u64 value)
{
	const struct eventlog_anchor *last = &cycles->last;
	u64 time, before;

	if (value >= cycles->newest.cycles)
		return cycles->newest.time;
	if (value >= last->cycles) {
		time = last->time + mul_u64_u64_shr(value - last->cycles, cycles->slope, 32);
		return time < cycles->newest.time ? time : cycles->newest.time;
	}
	before = mul_u64_u64_shr(last->cycles - value, cycles->rate, 32);
	return before < last->time ? last->time - before : 0;
}

/**
 * eventlog_cycles_usable() - can threads use the cycle counter of the CPU as a clock
 *
 * Process context.
 *
 * Return: whether it is the kernel's clocksource.
 */
bool eventlog_cycles_usable(void);

/** eventlog_anchor_take() - read the counter and the clock together */
struct eventlog_anchor eventlog_anchor_take(void);

/** eventlog_cycles_now() - read the counter; 0 if it is not usable */
u64 eventlog_cycles_now(void);

/** eventlog_cycles_khz() - the frequency of the counter, as the kernel has calibrated it */
u32 eventlog_cycles_khz(void);

#endif /* EVENTLOG_CYCLES_H */
