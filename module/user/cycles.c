// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the cycle counter: see cycles.h.  Any context, no locks.
 */
#include <linux/ktime.h>
#include <linux/timekeeping.h>
#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)
#include <asm/tsc.h>
#endif

#include "compat.h"
#include "user/cycles.h"

#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)

bool eventlog_cycles_usable(void)
{
	struct system_time_snapshot snapshot;
	u64 before, after;

	/* The values of the clocksource are those of the counter. */
	before = rdtsc_ordered();
	ktime_get_snapshot_id(CLOCK_MONOTONIC, &snapshot);
	after = rdtsc_ordered();
	return tsc_khz && snapshot.cycles >= before && snapshot.cycles <= after;
}

/* Tries again if it was interrupted in between. */
struct eventlog_anchor eventlog_anchor_take(void)
{
	struct eventlog_anchor anchor = {};
	u64 before, after, time, least = U64_MAX;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		before = rdtsc_ordered();
		time = ktime_get_ns();
		after = rdtsc_ordered();
		if (after - before >= least)
			continue;
		least = after - before;
		anchor.cycles = before + least / 2;
		anchor.time = time;
	}
	return anchor;
}

u64 eventlog_cycles_now(void)
{
	return rdtsc_ordered();
}

u32 eventlog_cycles_khz(void)
{
	return tsc_khz;
}

#else

bool eventlog_cycles_usable(void)
{
	return false;
}

struct eventlog_anchor eventlog_anchor_take(void)
{
	return (struct eventlog_anchor){};
}

u64 eventlog_cycles_now(void)
{
	return 0;
}

u32 eventlog_cycles_khz(void)
{
	return 1;
}

#endif
