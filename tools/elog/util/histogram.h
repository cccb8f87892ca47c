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
 * struct histogram - numbers of durations; all zero when empty
 * @count: number of durations
 * @sum: their sum, low 64 bits
 * @sum_high: their sum, high 64 bits
 * @min: the shortest
 * @max: the longest
 * @buckets: numbers of durations, by histogram_bucket()
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

/** histogram_merge() - add the durations of @other */
void histogram_merge(struct histogram *histogram, const struct histogram *other);

/** histogram_clear() - remove all durations */
void histogram_clear(struct histogram *histogram);

/** histogram_mean() - the mean, as exact as a double; 0 if empty */
double histogram_mean(const struct histogram *histogram);

/**
 * quantile_rank() - the nearest rank of a quantile, from 1 on
 * @count: number of values, at least 1
 * @part: how many of @whole are at or below the quantile
 * @whole: at most 10^6
 */
static inline uint64_t quantile_rank(uint64_t count, unsigned int part, unsigned int whole)
{
	const uint64_t rank = count / whole * part +
			      (count % whole * part + whole - 1) / whole;

	return rank ? rank : 1;
}

/**
 * histogram_quantile() - a nearest-rank quantile
 * @histogram: the histogram
 * @thousandths: which one, 1 to 1000: 999 is the percentile 99.9
 *
 * Return: the middle of the bucket that contains the quantile, limited to the shortest
 * and the longest duration; 0 if empty.
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
	HISTOGRAM_STEPS_5 = 5,		/* each about 1.6 times the previous one */
	HISTOGRAM_STEPS_10 = 10,	/* each about 1.25 times the previous one */
};

/**
 * histogram_edge() - the smallest value of a row
 * @row: 0 begins at 0, 1 at 1; below 1000 several rows may begin at the same value, and
 *	all but the last of them are empty
 * @steps: rows per power of ten
 *
 * An edge of a row is an edge of a bucket, so the counts of rows are exact.
 *
 * Return: the value; UINT64_MAX after the last row.
 */
uint64_t histogram_edge(unsigned int row, enum histogram_steps steps);

/** histogram_between() - number of durations from the edge @from to below the edge @below */
uint64_t histogram_between(const struct histogram *histogram, uint64_t from,
			   uint64_t below);

#endif /* HISTOGRAM_H */
