/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The shares that causes have of the time of pairs, for elog latency --why.
 */
#ifndef SHARES_H
#define SHARES_H

#include "output/waits.h"
#include "util/histogram.h"

/**
 * struct shares - shares of pairs; zero when empty
 * @pairs: number of pairs
 * @known: of these, how many had waits. If none had, no thread may have said that it works on them:
 *	then their time is unknown
 * @several: of these, threads of how many worked at the same time
 * @sums: by cause: the sum of the shares that it has of each pair
 */
struct shares {
	uint64_t pairs;
	uint64_t known;
	uint64_t several;
	double sums[INTERVAL_CAUSES];
};

/**
 * shares_add() - add a pair
 * @shares: to add to
 * @waits: of the pair
 * @duration: of the pair, ns
 */
void shares_add(struct shares *shares, const struct waits *waits, uint64_t duration);

/** shares_remove() - the opposite, with the same arguments: more waits of the pair are known */
void shares_remove(struct shares *shares, const struct waits *waits, uint64_t duration);

/**
 * shares_slowest() - the slowest hundredth
 * @buckets: the shares of the pairs in each bucket of a histogram
 * @pairs: in all of them
 *
 * Return: of the last buckets that together have a hundredth of the pairs, at least.
 */
struct shares shares_slowest(const struct shares buckets[HISTOGRAM_BUCKETS], uint64_t pairs);

/** SHARES_PARTS - parts of the time: each cause, then SHARES_ON_CPU and SHARES_UNKNOWN */
enum {
	SHARES_ON_CPU = INTERVAL_CAUSES,
	SHARES_UNKNOWN,
	SHARES_PARTS,
};

/** shares_get() - the mean share of a part, up to SHARES_PARTS */
double shares_get(const struct shares *shares, unsigned int part);

/** shares_put_text() - append "disk 81.2 %, on CPU 18.8 %" */
void shares_put_text(const struct shares *shares, struct elog_text *text);

/** shares_put_json() - append {"disk":0.812,...,"on CPU":0.188,"unknown":0} */
void shares_put_json(const struct shares *shares, struct elog_text *text);

#endif /* SHARES_H */
