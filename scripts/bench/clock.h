/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clock of one build of ring_loop.c, inlined into the ring as in the kernel.
 * BENCH_CLOCK is none, tsc or monotonic.  Included by ring_platform.h.
 */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include <time.h>

#define BENCH_CLOCK_NONE 0
#define BENCH_CLOCK_TSC 1
#define BENCH_CLOCK_MONOTONIC 2

static __always_inline u64 bench_tsc(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	u64 count;

	asm volatile("mrs %0, cntvct_el0" : "=r"(count));
	return count;
#else
#error "no counter known for this CPU"
#endif
}

static __always_inline u64 bench_monotonic(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (u64)time.tv_sec * 1000000000 + time.tv_nsec;
}

static __always_inline u64 eventlog_ring_clock(void)
{
#if BENCH_CLOCK == BENCH_CLOCK_TSC
	return bench_tsc();
#elif BENCH_CLOCK == BENCH_CLOCK_MONOTONIC
	return bench_monotonic();
#else
	return 0;
#endif
}

#endif /* BENCH_CLOCK_H */
