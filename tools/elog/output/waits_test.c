// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits of spans with one thread, with several, and with sums. Prints TAP.
 */
#include "libelog/util/tap.h"
#include "output/waits.h"

static struct interval wait_of(uint32_t tid, enum interval_cause cause, uint64_t blocked,
			       uint64_t runnable)
{
	return (struct interval){ .tid = tid, .cause = cause, .blocked = blocked,
				  .runnable = runnable };
}

static void add(struct waits *waits, struct interval interval, uint64_t end)
{
	waits_add(waits, &interval, end);
}

static void test_one_thread(void)
{
	struct waits waits = { .thread_count = 0 };

	waits_see(&waits, 1, 1000);
	add(&waits, wait_of(1, INTERVAL_DISK, 300, 20), 1400);
	add(&waits, wait_of(1, INTERVAL_PREEMPTED, 0, 80), 1500);
	waits_see(&waits, 1, 2000);
	check_equal(waits.times[INTERVAL_DISK], 300);
	check_equal(waits.times[INTERVAL_RUNNABLE], 20);
	check_equal(waits.times[INTERVAL_PREEMPTED], 80);
	check_equal(waits_whole(&waits, 1000), 1000);
	check_equal(waits_on_cpu(&waits, 1000), 600);
}

/* One hands the work to another one: no time is counted twice. */
static void test_handed_over(void)
{
	struct waits waits = { .thread_count = 0 };

	waits_see(&waits, 1, 1000);
	add(&waits, wait_of(2, INTERVAL_DISK, 500, 0), 1600);
	waits_see(&waits, 2, 2000);
	check_equal(waits_whole(&waits, 1000), 1000);
	check_equal(waits_on_cpu(&waits, 1000), 500);
}

static void test_same_time(void)
{
	struct waits waits = { .thread_count = 0 };
	uint32_t tid;

	waits_see(&waits, 1, 1000);
	add(&waits, wait_of(2, INTERVAL_DISK, 700, 0), 1800);
	add(&waits, wait_of(1, INTERVAL_FUTEX, 800, 0), 1900);
	waits_see(&waits, 2, 1900);
	waits_see(&waits, 1, 2000);
	check_equal(waits_whole(&waits, 1000), 1800);
	check_equal(waits_on_cpu(&waits, 1000), 300);
	/* More than are known. */
	for (tid = 3; tid < 20; tid++)
		add(&waits, wait_of(tid, INTERVAL_SLEEP, 900, 0), 1950);
	check_equal(waits.thread_count, WAITS_THREADS);
	check_equal(waits_whole(&waits, 1000) >= 1500 + 17 * 900, true);
	check_equal(waits_on_cpu(&waits, 1000) <= 300, true);
}

static void test_sums(void)
{
	struct waits waits = { .thread_count = 0 };
	struct interval_sum sum = { .tid = 1 };

	check_equal(waits_take(&waits, &sum, 1000), false);
	waits_see(&waits, 1, 1000);
	add(&waits, wait_of(1, INTERVAL_DISK, 400, 0), 1500);
	sum.times[INTERVAL_FUTEX] = 200;
	sum.times[INTERVAL_RUNNABLE] = 100;
	check_equal(waits_take(&waits, &sum, 1000), true);
	check_equal(waits.times[INTERVAL_FUTEX], 200);
	check_equal(waits.times[INTERVAL_RUNNABLE], 100);
	check_equal(sum.times[INTERVAL_FUTEX], 0);
	check_equal(waits_on_cpu(&waits, 1000), 300);
	/* The span has no room for all of it: the rest was elsewhere. */
	sum.times[INTERVAL_FUTEX] = 1ULL << 56;
	sum.times[INTERVAL_SLEEP] = 1ULL << 56;
	check_equal(waits_take(&waits, &sum, 1000), true);
	check_equal(waits.times[INTERVAL_FUTEX], 350);
	check_equal(waits.times[INTERVAL_SLEEP], 150);
	check_equal(sum.times[INTERVAL_SLEEP], (1ULL << 56) - 150);
	check_equal(waits_on_cpu(&waits, 1000), 0);
	check_equal(waits_whole(&waits, 1000), 1000);
	/* A thread that only has short waits, at the same time. */
	sum = (struct interval_sum){ .tid = 2, .times[INTERVAL_PIPE] = 600 };
	check_equal(waits_take(&waits, &sum, 1000), true);
	check_equal(waits_whole(&waits, 1000), 1600);
}

static void test_clip(void)
{
	struct interval interval = wait_of(1, INTERVAL_DISK, 300, 20);

	waits_clip(&interval, 400);
	check_equal(interval_time(&interval), 320);
	waits_clip(&interval, 100);
	check_equal(interval.blocked, 80);
	check_equal(interval.runnable, 20);
	waits_clip(&interval, 7);
	check_equal(interval.blocked, 0);
	check_equal(interval.runnable, 7);
}

int main(void)
{
	static const struct test tests[] = {
		{ "one thread: waits and the rest are the span", test_one_thread },
		{ "work that is handed over", test_handed_over },
		{ "several threads at the same time", test_same_time },
		{ "sums of short waits", test_sums },
		{ "what was before a span is cut off", test_clip },
	};

	return run_tests(tests, sizeof(tests) / sizeof(tests[0]), NULL);
}
