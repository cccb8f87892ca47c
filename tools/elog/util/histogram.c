// SPDX-License-Identifier: GPL-2.0-only
/*
 * Histograms of durations: see histogram.h.
 */
#include <string.h>

#include "util/histogram.h"

#define EXACT		1000	/* each smaller value has a bucket */
#define PER_DECADE	900	/* buckets per power of ten: digits 100 to 999 */

size_t histogram_bucket(uint64_t value)
{
	uint64_t unit = 1;
	size_t decade = 0;

	/* In steps of three: divisions by a variable are slow. */
	while (value / 1000 / unit >= 100 && decade < 15) {
		unit *= 1000;
		decade += 3;
	}
	while (value / unit >= EXACT) {
		unit *= 10;
		decade++;
	}
	return decade * PER_DECADE + (size_t)(value / unit);
}

uint64_t histogram_from(size_t bucket)
{
	uint64_t unit = 1;
	size_t decade;

	if (bucket < EXACT)
		return bucket;
	decade = (bucket - EXACT) / PER_DECADE + 1;
	bucket -= decade * PER_DECADE;
	while (decade--)
		unit *= 10;
	/* The buckets after that of UINT64_MAX are always empty. */
	return bucket <= UINT64_MAX / unit ? bucket * unit : UINT64_MAX;
}

uint64_t histogram_to(size_t bucket)
{
	uint64_t next;

	if (bucket + 1 >= HISTOGRAM_BUCKETS)
		return UINT64_MAX;
	next = histogram_from(bucket + 1);
	return next == UINT64_MAX ? next : next - 1;
}

static void add_sum(struct histogram *histogram, uint64_t sum, uint64_t high)
{
	histogram->sum += sum;
	histogram->sum_high += high + (histogram->sum < sum);
}

void histogram_add(struct histogram *histogram, uint64_t value)
{
	if (!histogram->count || value < histogram->min)
		histogram->min = value;
	if (value > histogram->max)
		histogram->max = value;
	histogram->count++;
	add_sum(histogram, value, 0);
	histogram->buckets[histogram_bucket(value)]++;
}

void histogram_merge(struct histogram *histogram, const struct histogram *other)
{
	size_t i;

	if (!other->count)
		return;
	if (!histogram->count || other->min < histogram->min)
		histogram->min = other->min;
	if (other->max > histogram->max)
		histogram->max = other->max;
	histogram->count += other->count;
	add_sum(histogram, other->sum, other->sum_high);
	for (i = 0; i < HISTOGRAM_BUCKETS; i++)
		histogram->buckets[i] += other->buckets[i];
}

void histogram_clear(struct histogram *histogram)
{
	memset(histogram, 0, sizeof(*histogram));
}

double histogram_mean(const struct histogram *histogram)
{
	if (!histogram->count)
		return 0;
	return ((double)histogram->sum_high * 0x1p64 + (double)histogram->sum) /
	       (double)histogram->count;
}

uint64_t histogram_quantile(const struct histogram *histogram,
			    unsigned int thousandths)
{
	const uint64_t rank = quantile_rank(histogram->count, thousandths, 1000);
	uint64_t passed = 0, value;
	size_t i;

	if (!histogram->count)
		return 0;
	for (i = 0; i < HISTOGRAM_BUCKETS - 1; i++) {
		passed += histogram->buckets[i];
		if (passed >= rank)
			break;
	}
	value = histogram_from(i) + (histogram_to(i) - histogram_from(i)) / 2;
	if (value < histogram->min)
		return histogram->min;
	return value < histogram->max ? value : histogram->max;
}

uint64_t histogram_edge(unsigned int row, enum histogram_steps steps)
{
	/* Preferred numbers of ISO 3, with three digits. */
	static const unsigned int edges[] = {
		100, 125, 160, 200, 250, 320, 400, 500, 630, 800,
	};
	unsigned int decade, edge;
	uint64_t unit = 1;

	if (!row)
		return 0;
	decade = (row - 1) / steps;
	edge = edges[(row - 1) % steps * ((sizeof(edges) / sizeof(*edges)) / steps)];
	/* Below 100, round up to an integer. */
	for (; decade < 2; decade++)
		edge = (edge + 9) / 10;
	for (decade -= 2; decade; decade--) {
		if (unit > UINT64_MAX / 10)
			return UINT64_MAX;
		unit *= 10;
	}
	return edge <= UINT64_MAX / unit ? edge * unit : UINT64_MAX;
}

uint64_t histogram_between(const struct histogram *histogram, uint64_t from,
			   uint64_t below)
{
	uint64_t count = 0;
	size_t i, end;

	if (from >= below)
		return 0;
	/* UINT64_MAX is the end, not an edge. */
	end = below == UINT64_MAX ? HISTOGRAM_BUCKETS : histogram_bucket(below);
	for (i = histogram_bucket(from); i < end; i++)
		count += histogram->buckets[i];
	return count;
}
