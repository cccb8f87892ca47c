// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of starts.c. Prints TAP.
 */
#include <stdlib.h>

#include "libelog/util/tap.h"
#include "util/starts.h"

/* Many keys in one chain: their low bits are equal. */
static struct siphash key_of(uint64_t number)
{
	return (struct siphash){ { number << 60 | (number >> 4 & 7), number } };
}

static int add(struct starts *starts, uint64_t number, uint64_t time)
{
	const struct siphash key = key_of(number);
	const struct start start = { .time = time, .session = number };

	return starts_add(starts, &key, &start);
}

/* Return: its time; 0: there is none. */
static uint64_t take(struct starts *starts, uint64_t number)
{
	const struct siphash key = key_of(number);
	struct start start;

	if (!starts_take(starts, &key, &start))
		return 0;
	check_equal(start.session, number);
	return start.time;
}

static void test_pairs(void)
{
	struct starts *starts = starts_open(100);

	check_equal(take(starts, 1), 0);
	check_equal(add(starts, 1, 10), STARTS_ADDED);
	check_equal(add(starts, 2, 11), STARTS_ADDED);
	check_equal(starts_count(starts), 2);
	check_equal(take(starts, 1), 10);
	check_equal(take(starts, 1), 0);
	check_equal(take(starts, 2), 11);
	check_equal(starts_count(starts), 0);
	starts_close(starts);
	starts_close(NULL);
}

static void test_replaced(void)
{
	struct starts *starts = starts_open(3);

	add(starts, 1, 10);
	add(starts, 2, 11);
	add(starts, 3, 12);
	/* It is now the newest, and room for it there was. */
	check_equal(add(starts, 1, 13), STARTS_REPLACED);
	check_equal(starts_count(starts), 3);
	check_equal(add(starts, 4, 14), STARTS_EVICTED);
	check_equal(take(starts, 2), 0);
	check_equal(take(starts, 1), 13);
	starts_close(starts);
}

static void test_full(void)
{
	const uint32_t most = 1024;
	struct starts *starts = starts_open(most);
	uint64_t i;

	for (i = 1; i <= most; i++)
		check_equal(add(starts, i, i), STARTS_ADDED);
	for (; i <= 3 * most; i++)
		check_equal(add(starts, i, i), STARTS_EVICTED);
	check_equal(starts_count(starts), most);
	check_equal(take(starts, 2 * most), 0);
	for (i = 2 * most + 1; i <= 3 * most; i++)
		check_equal(take(starts, i), i);
	check_equal(starts_count(starts), 0);
	starts_close(starts);
}

static void test_forget(void)
{
	struct starts *starts = starts_open(1000);
	uint64_t i;

	starts_forget(starts);
	for (i = 1; i <= 300; i++)
		add(starts, i, i);
	take(starts, 7);
	starts_forget(starts);
	check_equal(starts_count(starts), 0);
	for (i = 1; i <= 300; i++)
		check_equal(take(starts, i), 0);
	for (i = 1; i <= 1000; i++)
		check_equal(add(starts, i, 2 * i), STARTS_ADDED);
	for (i = 1; i <= 1000; i++)
		check_equal(take(starts, i), 2 * i);
	starts_close(starts);
}

/* Against an array that is as large as there are keys. */
static void test_any(void)
{
	static uint64_t model[2000];
	struct starts *starts = starts_open(2000);
	uint64_t random = 88172645463325252ULL, time, number;
	uint32_t count = 0;

	for (time = 1; time < 200000; time++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		number = random % 2000;
		if (random >> 32 & 1) {
			check_equal(add(starts, number, time), model[number] ?
				    STARTS_REPLACED : STARTS_ADDED);
			count += !model[number];
			model[number] = time;
		} else {
			check_equal(take(starts, number), model[number]);
			count -= model[number] != 0;
			model[number] = 0;
		}
		check_equal(starts_count(starts), count);
	}
	starts_close(starts);
}

int main(void)
{
	static const struct test tests[] = {
		{ "what was added is taken, once", test_pairs },
		{ "a second one of a key replaces the first", test_replaced },
		{ "when it is full the oldest goes", test_full },
		{ "forgetting", test_forget },
		{ "any order", test_any },
	};

	return run_tests(tests, sizeof(tests) / sizeof(*tests), NULL);
}
