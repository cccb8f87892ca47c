// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which span is inside which, whatever the order is in which spans end, also if one ends twice; and
 * how many spans a walk looks at when very many are open. Prints TAP.
 */
#include <stdlib.h>

#include "export/nesting.h"
#include "libelog/util/tap.h"
#include "libelog/util/test_random.h"

#define SPANS	100000

static struct nest nests[SPANS];

/* Let a session and a thread have so many open spans. */
static void open_spans(struct nesting *nesting, unsigned int count)
{
	unsigned int i;

	nesting_init(nesting);
	for (i = 0; i < count; i++) {
		nests[i] = (struct nest){
			.key = { elog_map_integer(1), elog_map_integer(2) },
			.has_key = { true, true }, .kind = &nests[i],
		};
		check_equal(nesting_start(nesting, &nests[i]), 0);
	}
}

/* The walk has the innermost ones, which are the last of the array. */
static void check_walk(const struct nesting *nesting, unsigned int count)
{
	struct nest_walk walk = nesting_walk(nesting, elog_map_integer(1));
	unsigned int steps = 0;
	struct nest *nest;

	while ((nest = nesting_next(&walk)))
		check(nest == &nests[count - ++steps]);
	check_equal(steps, count < NESTING_WALK ? count : NESTING_WALK);
}

static void test_walk(void)
{
	static const unsigned int counts[] = {
		0, 1, 2, NESTING_WALK - 1, NESTING_WALK, NESTING_WALK + 1, SPANS,
	};
	struct nesting nesting;
	size_t i;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		open_spans(&nesting, counts[i]);
		check_walk(&nesting, counts[i]);
		nesting_free(&nesting);
	}
}

/* They end in any order. */
static void test_first_and_last(void)
{
	const unsigned int count = 300;
	unsigned int first = 0, last = count - 1, ended;
	bool is_open[300];
	struct nesting nesting;

	open_spans(&nesting, count);
	memset(is_open, true, sizeof(is_open));
	for (;;) {
		while (first < count && !is_open[first])
			first++;
		if (first == count)
			break;
		while (!is_open[last])
			last--;
		check(nesting_outermost(&nesting, elog_map_integer(1)) == &nests[first]);
		check(nesting_innermost(&nesting, elog_map_integer(1)) == &nests[last]);
		ended = first + (unsigned int)random_number(last - first + 1);
		if (is_open[ended])
			nesting_end(&nesting, &nests[ended]);
		is_open[ended] = false;
	}
	check(!nesting_outermost(&nesting, elog_map_integer(1)));
	check(!nesting_innermost(&nesting, elog_map_integer(1)));
	check_equal(nesting.maps[NEST_SESSION].count, 0);
	nesting_free(&nesting);
}

/* The second time, the spans that were around it may be gone. */
static void test_end_twice(void)
{
	struct nesting nesting;

	open_spans(&nesting, 2);
	nests[1].unseen = true;
	nesting_end(&nesting, &nests[1]);
	check(nests[0].unseen);
	nests[0].unseen = false;
	nesting_end(&nesting, &nests[1]);
	check(!nests[0].unseen);
	nesting_free(&nesting);
}

int main(void)
{
	static const struct test tests[] = {
		{ "a walk ends after a limited number of spans", test_walk },
		{ "the first and the last one that are open", test_first_and_last },
		{ "a span that has ended is not read when it ends again", test_end_twice },
	};

	seed_random();
	return run_tests(tests, sizeof(tests) / sizeof(tests[0]), NULL);
}
