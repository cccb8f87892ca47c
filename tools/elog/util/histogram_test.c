// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of histogram.c. Prints TAP.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "libelog/util/tap.h"
#include "util/histogram.h"

static struct histogram histogram, other;

static void clear(void)
{
	histogram_clear(&histogram);
	histogram_clear(&other);
}

static void test_buckets(void)
{
	static const uint64_t last = UINT64_MAX;
	uint64_t value, next;
	size_t i;

	check_equal(histogram_bucket(0), 0);
	check_equal(histogram_bucket(999), 999);
	check_equal(histogram_bucket(1000), 1000);
	check_equal(histogram_bucket(1009), 1000);
	check_equal(histogram_bucket(1010), 1001);
	check_equal(histogram_bucket(last), HISTOGRAM_BUCKETS - 1 - (999 - 184));
	/* Buckets are adjacent up to the largest value. */
	for (i = 0; i <= histogram_bucket(last); i++) {
		value = histogram_from(i);
		check(histogram_bucket(value) == i);
		check(histogram_bucket(histogram_to(i)) == i);
		check(i == histogram_bucket(last) ? histogram_to(i) == last :
		      histogram_to(i) + 1 == histogram_from(i + 1));
		/* A bucket is at most 1 % of its values wide. */
		check(histogram_to(i) - value <= value / 100);
	}
	/* Powers of ten, and the values just below. */
	for (value = 1; value <= last / 10; value = next) {
		next = value * 10;
		check(histogram_bucket(value - 1) < histogram_bucket(value));
		check(histogram_from(histogram_bucket(value)) == value);
	}
	check(histogram_from(HISTOGRAM_BUCKETS - 1) == last);
}

static void test_edges(void)
{
	static const enum histogram_steps steps[] = {
		HISTOGRAM_STEPS_5, HISTOGRAM_STEPS_10,
	};
	uint64_t edge, before;
	unsigned int row;
	size_t i;

	for (i = 0; i < 2; i++) {
		before = 0;
		check_equal(histogram_edge(0, steps[i]), 0);
		check_equal(histogram_edge(1, steps[i]), 1);
		check_equal(histogram_edge(1 + 2 * steps[i], steps[i]), 100);
		check_equal(histogram_edge(1 + 9 * steps[i], steps[i]), 1000000000);
		for (row = 0; row < 500; row++) {
			edge = histogram_edge(row, steps[i]);
			check(edge >= before);
			/* An edge of a row is an edge of a bucket. */
			if (edge != UINT64_MAX)
				check(histogram_from(histogram_bucket(edge)) == edge);
			/* Rows are finer than powers of two if there are integers between. */
			if (before >= 4 && edge != UINT64_MAX)
				check(edge / 2 < before);
			before = edge;
		}
		check(before == UINT64_MAX);
	}
	check_equal(histogram_edge(1 + 3 * 10 + 1, HISTOGRAM_STEPS_10), 1250);
	check_equal(histogram_edge(1 + 3 * 5 + 1, HISTOGRAM_STEPS_5), 1600);
}

static void test_empty(void)
{
	check_equal(histogram_quantile(&histogram, 500), 0);
	check(histogram_mean(&histogram) == 0);
	check_equal(histogram_between(&histogram, 0, UINT64_MAX), 0);
}

static void test_exact(void)
{
	unsigned int i;

	/* 1 to 1000: values up to 999 are exact. */
	for (i = 1000; i; i--)
		histogram_add(&histogram, i);
	check_equal(histogram.count, 1000);
	check_equal(histogram.min, 1);
	check_equal(histogram.max, 1000);
	check(histogram_mean(&histogram) == 500.5);
	check_equal(histogram_quantile(&histogram, 1), 1);
	check_equal(histogram_quantile(&histogram, 500), 500);
	check_equal(histogram_quantile(&histogram, 900), 900);
	check_equal(histogram_quantile(&histogram, 999), 999);
	check_equal(histogram_quantile(&histogram, 1000), 1000);
	check_equal(histogram_between(&histogram, 0, 100), 99);
	check_equal(histogram_between(&histogram, 100, 200), 100);
	check_equal(histogram_between(&histogram, 800, UINT64_MAX), 201);
	check_equal(histogram_between(&histogram, 200, 200), 0);
}

static void test_few(void)
{
	/* Nearest rank: one value is every quantile; the median of three is the second. */
	histogram_add(&histogram, 123456);
	check_equal(histogram_quantile(&histogram, 1), 123456);
	check_equal(histogram_quantile(&histogram, 999), 123456);
	histogram_add(&histogram, 5);
	histogram_add(&histogram, 7);
	check_equal(histogram_quantile(&histogram, 333), 5);
	check_equal(histogram_quantile(&histogram, 334), 7);
	check_equal(histogram_quantile(&histogram, 500), 7);
	check_equal(histogram_quantile(&histogram, 900), 123456);
}

static int compare(const void *one, const void *other_one)
{
	const uint64_t *a = one, *b = other_one;

	return *a < *b ? -1 : *a > *b;
}

/* Random values of all sizes, compared with a sorted array. */
static void test_error(void)
{
	static const unsigned int thousandths[] = { 1, 10, 500, 900, 990, 999, 1000 };
	static uint64_t values[20011];
	const size_t count = sizeof(values) / sizeof(*values);
	uint64_t random = 88172645463325252ULL, exact, reported, error;
	size_t i;

	for (i = 0; i < count; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		values[i] = random >> (random % 60);
		histogram_add(&histogram, values[i]);
	}
	qsort(values, count, sizeof(*values), compare);
	for (i = 0; i < sizeof(thousandths) / sizeof(*thousandths); i++) {
		exact = values[(count * thousandths[i] + 999) / 1000 - 1];
		reported = histogram_quantile(&histogram, thousandths[i]);
		error = reported > exact ? reported - exact : exact - reported;
		if (error > exact / 200)
			fail(__FILE__, __LINE__, "%u/1000 is %" PRIu64
			     ", not %" PRIu64, thousandths[i], reported, exact);
	}
	check(histogram.min == values[0]);
	check(histogram.max == values[count - 1]);
}

static void test_sums(void)
{
	int i;

	/* The sum exceeds 64 bits. */
	for (i = 0; i < 5; i++)
		histogram_add(&histogram, UINT64_MAX);
	check_equal(histogram.sum_high, 4);
	check(histogram_mean(&histogram) == 0x1p64);
	check(histogram_quantile(&histogram, 500) == UINT64_MAX);
	check_equal(histogram_between(&histogram, 0, UINT64_MAX), 5);
	histogram_merge(&other, &histogram);
	histogram_merge(&other, &histogram);
	check_equal(other.sum_high, 9);
	check_equal(other.count, 10);
}

static void test_merge(void)
{
	histogram_add(&histogram, 10);
	histogram_merge(&histogram, &other);
	check_equal(histogram.min, 10);
	histogram_add(&other, 3);
	histogram_add(&other, 3000);
	histogram_merge(&histogram, &other);
	check_equal(histogram.count, 3);
	check_equal(histogram.min, 3);
	check_equal(histogram.max, 3000);
	check(histogram_mean(&histogram) > 1004.3 &&
	      histogram_mean(&histogram) < 1004.4);
	check_equal(histogram_quantile(&histogram, 500), 10);
	histogram_clear(&histogram);
	check_equal(histogram.count, 0);
	check_equal(histogram_between(&histogram, 0, UINT64_MAX), 0);
}

int main(void)
{
	static const struct test tests[] = {
		{ "buckets are adjacent and narrow", test_buckets },
		{ "edges of rows are edges of buckets", test_edges },
		{ "an empty histogram", test_empty },
		{ "values up to 999 are exact", test_exact },
		{ "quantiles of few values use the nearest rank", test_few },
		{ "quantiles are within 0.5 percent", test_error },
		{ "sums of more than 64 bits", test_sums },
		{ "merging and clearing", test_merge },
	};

	return run_tests(tests, sizeof(tests) / sizeof(*tests), clear);
}
