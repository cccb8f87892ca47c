/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Histograms of durations. Durations are counted by their first three decimal digits,
 * so a histogram has a constant size, is exact up to 999 ns, and its results are at
 * most 0.5 % wrong above that.
 */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

/* 0 to 999, and 900 for each further power of ten up to 10^19. */
#define HISTOGRAM_BUCKETS	(1000 + 17 * 900)

/**
 * struct histogram - counts of durations; all zero: empty
 * @count: number of durations
 * @sum: sum of all durations, low 64 bits
 * @sum_high: high 64 bits of the sum
 * @min: the shortest duration
 * @max: the longest duration
 * @buckets: counts
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

/** histogram_merge() - add the counts of @other */
void histogram_merge(struct histogram *histogram, const struct histogram *other);

/** histogram_clear() - reset all counts to zero */
void histogram_clear(struct histogram *histogram);

/** histogram_mean() - the mean, with the precision of a double; 0 if it is empty */
double histogram_mean(const struct histogram *histogram);

/**
 * histogram_quantile() - a quantile by nearest rank
 * @histogram: the histogram
 * @thousandths: 1 to 1000: 999 is the percentile 99.9
 *
 * Return: the middle of the bucket that contains the quantile, limited to the shortest
 * and the longest duration; 0 if it is empty.
 */
uint64_t histogram_quantile(const struct histogram *histogram,
			    unsigned int thousandths);

/** histogram_bucket() - the bucket that counts @value */
size_t histogram_bucket(uint64_t value);

/** histogram_from() - the smallest value of a bucket */
uint64_t histogram_from(size_t bucket);

/** histogram_to() - the largest value of a bucket */
uint64_t histogram_to(size_t bucket);

/** enum histogram_steps - number of rows for each power of ten */
enum histogram_steps {
	HISTOGRAM_STEPS_5 = 5,		/* a row spans a factor of about 1.6 */
	HISTOGRAM_STEPS_10 = 10,	/* about 1.25 */
};

/**
 * histogram_edge() - the smallest value of a row
 * @row: row 0 starts at 0, row 1 at 1; below 1000, several rows may start at the same
 *	value: all but the last of these are empty
 * @steps: rows for each power of ten
 *
 * Edges of rows are also edges of buckets, so the counts of rows are exact.
 *
 * Return: the value; UINT64_MAX after the last row.
 */
uint64_t histogram_edge(unsigned int row, enum histogram_steps steps);

/** histogram_between() - count durations from @from to below @below; both are edges */
uint64_t histogram_between(const struct histogram *histogram, uint64_t from,
			   uint64_t below);

#endif /* HISTOGRAM_H */
