/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What threads waited for between the START and the END of a span: the parts of the intervals in
 * it, and sums of short ones.
 *
 * Several threads may work at the same time. Then the waits are parts of the time of all threads,
 * which is longer than the span. The time of a thread is the one from where it was first seen to
 * where it was last seen, as far as this is known; see also elog_why(1).
 */
#ifndef WAITS_H
#define WAITS_H

#include "input/interval.h"

#define WAITS_THREADS	4	/* the last one is for all others */

/**
 * struct waits_thread - a thread that was seen
 * @tid: the thread
 * @first: when it was seen first, ns
 * @last: when it was seen last
 * @off: the time that it waited in all
 */
struct waits_thread {
	uint32_t tid;
	uint64_t first;
	uint64_t last;
	uint64_t off;
};

/**
 * struct waits - the waits of a span; zero when it begins
 * @times: by cause, ns
 * @threads: those that were seen
 * @thread_count: of @threads
 */
struct waits {
	uint64_t times[INTERVAL_CAUSES];
	struct waits_thread threads[WAITS_THREADS];
	unsigned int thread_count;
};

/** waits_see() - a thread had an event of the span at this time; 0: it is no thread */
void waits_see(struct waits *waits, uint32_t tid, uint64_t time);

/**
 * waits_clip() - cut off what was before the span began
 * @interval: changed
 * @most: time from the beginning of the span to the end of the interval, ns
 */
void waits_clip(struct interval *interval, uint64_t most);

/**
 * waits_add() - add an interval
 * @waits: of the span
 * @interval: the part of it that is in the span
 * @end: when it ended, in the clock of waits_see()
 */
void waits_add(struct waits *waits, const struct interval *interval, uint64_t end);

/**
 * waits_take() - take from a sum what may have been in a span
 * @waits: of the span
 * @sum: what is left of it, afterwards
 * @duration: of the span, until now if it is not over
 *
 * When the intervals of a sum were is not known, but no thread waits longer than the span is.
 *
 * Return: false: nothing was left.
 */
bool waits_take(struct waits *waits, struct interval_sum *sum, uint64_t duration);

/** waits_whole() - the time of all threads of a span; at least its duration */
uint64_t waits_whole(const struct waits *waits, uint64_t duration);

/** waits_on_cpu() - the part of it that is no wait */
uint64_t waits_on_cpu(const struct waits *waits, uint64_t duration);

#endif /* WAITS_H */
