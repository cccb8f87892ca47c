/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The wall-clock time of what has a time of CLOCK_MONOTONIC. No state.
 */
#ifndef WALL_TIME_H
#define WALL_TIME_H

#include <stdint.h>

/** wall_time() - CLOCK_REALTIME, ns; INT64_MAX, in the year 2262, is also what is later */
static inline int64_t wall_time(uint64_t time, int64_t wall_offset)
{
	int64_t wall;

	/* The sum is never too small. */
	return __builtin_add_overflow(time, wall_offset, &wall) ? INT64_MAX : wall;
}

#endif /* WALL_TIME_H */
