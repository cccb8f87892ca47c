// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of time_bins.c. Prints TAP.
 */
#include <stdlib.h>

#include "export/time_bins.h"
#include "libelog/util/tap.h"
#include "libelog/util/test_random.h"

#define TIMES	2000

static struct time_bins bins;
static struct time_table table;

static void clear(void)
{
	seed_random();
	time_table_free(&table);
	memset(&bins, 0, sizeof(bins));
	memset(&table, 0, sizeof(table));
	check_equal(time_table_add(&bins, &table, 2), 0);
}

static void add(int64_t wall)
{
	unsigned int bin = time_bins_find(&bins, wall);

	check(bin < bins.used && bins.used <= TIME_BINS);
	++*time_table_at(&table, bin, 1);
}

/* Each column has the times that are in it, and no other column has any. */
static void check_counts(const int64_t *walls, size_t count)
{
	uint64_t expected[TIME_BINS] = { 0 };
	unsigned int bin;
	size_t i;

	for (i = 0; i < count; i++)
		expected[time_bins_find(&bins, walls[i])]++;
	for (bin = 0; bin < TIME_BINS; bin++) {
		check_equal(*time_table_at(&table, bin, 0), 0);
		check_equal(*time_table_at(&table, bin, 1), expected[bin]);
	}
}

static void test_one(void)
{
	const int64_t wall = 1234567890123456789;

	bins.shift = 10;
	add(wall);
	add(wall);
	check_equal(bins.used, 1);
	check_equal(bins.shift, 10);
	check(time_bins_start(&bins, wall) <= 0 && time_bins_start(&bins, wall) > -1024);
	check_counts((int64_t []){ wall, wall }, 2);
}

static void test_forward(void)
{
	int64_t walls[TIMES];
	size_t i;

	for (i = 0; i < TIMES; i++) {
		walls[i] = 1000000 + (int64_t)i * 12345;
		add(walls[i]);
	}
	check(bins.used > TIME_BINS / 2);
	check_counts(walls, TIMES);
}

static void test_backward(void)
{
	int64_t walls[TIMES];
	size_t i;

	for (i = 0; i < TIMES; i++) {
		walls[i] = 1000000 - (int64_t)i * 12345;
		add(walls[i]);
	}
	check(bins.used > TIME_BINS / 2);
	check_counts(walls, TIMES);
}

/* Any times, in any order, in any range. */
static void test_random(void)
{
	int64_t walls[TIMES];
	unsigned int bits;
	size_t i;

	for (bits = 1; bits < 64; bits++) {
		clear();
		for (i = 0; i < TIMES; i++) {
			walls[i] = (int64_t)random_number(1ULL << bits) - (1LL << (bits - 1));
			add(walls[i]);
		}
		check_counts(walls, TIMES);
	}
}

static void test_extremes(void)
{
	static const int64_t walls[] = { 0, INT64_MAX, INT64_MIN, -1, 1 };
	size_t i;

	for (i = 0; i < 5; i++)
		add(walls[i]);
	check_counts(walls, 5);
	check(time_bins_start(&bins, INT64_MIN) == 0);
	check(time_bins_start(&bins, INT64_MAX) < -1.8e19);
}

int main(void)
{
	static const struct test tests[] = {
		{ "one time has one column", test_one },
		{ "columns become wider as time goes on", test_forward },
		{ "columns are inserted for times that step back", test_backward },
		{ "random times are counted in their columns", test_random },
		{ "the earliest and the latest time fit", test_extremes },
	};
	int ret = run_tests(tests, sizeof(tests) / sizeof(*tests), clear);

	time_table_free(&table);
	return ret;
}
