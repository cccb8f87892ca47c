/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The shares that causes have of the time of pairs, for elog latency --why.
 */
#ifndef SHARES_H
#define SHARES_H

#include "input/interval.h"
#include "util/histogram.h"

/**
 * struct shares - shares of pairs; zero when empty
 * @pairs: number of pairs
 * @sums: by cause: the sum of the shares that it has of each pair
 */
struct shares {
	uint64_t pairs;
	double sums[INTERVAL_CAUSES];
};

/**
 * shares_add() - add a pair
 * @shares: to add to
 * @waits: time by cause, ns
 * @duration: of the pair, ns
 */
void shares_add(struct shares *shares, const uint64_t waits[INTERVAL_CAUSES], uint64_t duration);

/**
 * shares_slowest() - the slowest hundredth
 * @buckets: the shares of the pairs in each bucket of a histogram
 * @pairs: in all of them
 *
 * Return: of the last buckets that together have a hundredth of the pairs, at least.
 */
struct shares shares_slowest(const struct shares buckets[HISTOGRAM_BUCKETS], uint64_t pairs);

/** shares_put_text() - append "disk 81.2 %, on CPU 18.8 %" */
void shares_put_text(const struct shares *shares, struct elog_text *text);

/** shares_put_json() - append {"disk":0.812,...,"on CPU":0.188} */
void shares_put_json(const struct shares *shares, struct elog_text *text);

#endif /* SHARES_H */
