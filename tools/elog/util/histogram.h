/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How often which duration was: durations are counted by their first three
 * decimal digits, so that the size of a histogram is constant, all digits up to
 * 999 are kept, and what is told of larger ones is at most 0.5 % wrong.
 */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

/* 0 to 999, and 900 for each further power of ten up to 10^19. */
#define HISTOGRAM_BUCKETS	(1000 + 17 * 900)

/**
 * struct histogram - counts of durations; all zero: none
 * @count: how many
 * @sum: of all, low part
 * @sum_high: how often @sum went over
 * @min: the shortest
 * @max: the longest
 * @buckets: how many of each
 */
struct histogram {
	uint64_t count;
	uint64_t sum;
	uint64_t sum_high;
	uint64_t min;
	uint64_t max;
	uint64_t buckets[HISTOGRAM_BUCKETS];
};

/** histogram_add() - count a duration */
void histogram_add(struct histogram *histogram, uint64_t value);

/** histogram_merge() - add all that @other has */
void histogram_merge(struct histogram *histogram, const struct histogram *other);

/** histogram_clear() - forget all */
void histogram_clear(struct histogram *histogram);

/** histogram_mean() - the mean, exact but for the digits of a double; 0: of none */
double histogram_mean(const struct histogram *histogram);

/**
 * histogram_quantile() - what so many are not longer than
 * @histogram: the histogram
 * @thousandths: of all, 1 to 1000: 999 is the percentile 99.9
 *
 * Return: the middle of the bucket that has the nearest-rank quantile, never
 * beyond the shortest and the longest; 0: there are none.
 */
uint64_t histogram_quantile(const struct histogram *histogram,
			    unsigned int thousandths);

/** histogram_bucket() - the bucket that counts @value */
size_t histogram_bucket(uint64_t value);

/** histogram_from() - the smallest value of a bucket */
uint64_t histogram_from(size_t bucket);

/** histogram_to() - the largest value of a bucket */
uint64_t histogram_to(size_t bucket);

/** enum histogram_steps - how a power of ten is divided into rows */
enum histogram_steps {
	HISTOGRAM_STEPS_5 = 5,		/* each 1.6 times the one before, or so */
	HISTOGRAM_STEPS_10 = 10,	/* 1.25 times */
};

/**
 * histogram_edge() - the smallest value of a row
 * @row: 0 begins at 0, 1 at 1; several rows may begin at the same value below
 *	1000: all but the last of these are empty
 * @steps: of a power of ten
 *
 * Edges are edges of buckets, too: counts of rows are exact.
 *
 * Return: the value; UINT64_MAX behind the last row.
 */
uint64_t histogram_edge(unsigned int row, enum histogram_steps steps);

/** histogram_between() - how many are at least @from and less than @below, edges */
uint64_t histogram_between(const struct histogram *histogram, uint64_t from,
			   uint64_t below);

#endif /* HISTOGRAM_H */
