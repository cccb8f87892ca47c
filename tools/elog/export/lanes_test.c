// SPDX-License-Identifier: GPL-2.0-only
/*
 * Spans on lanes: on each lane they follow each other, or are within each other. Prints
 * TAP.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "export/lanes.h"
#include "libelog/util/tap.h"
#include "libelog/util/test_random.h"

#define SESSIONS	20
#define SPANS		20000
#define OPEN_MAX	12	/* of a session: more than are known */

struct drawn {
	uint64_t start;
	uint64_t end;
	uint32_t lane;
};

static struct drawn drawn[SPANS];
static size_t drawn_count;
static uint64_t open_spans[SESSIONS][OPEN_MAX];
static unsigned int open_count[SESSIONS];

static bool cross(const struct drawn *one, const struct drawn *other)
{
	return one->lane == other->lane &&
	       ((one->start < other->start && other->start < one->end && one->end < other->end) ||
		(other->start < one->start && one->start < other->end && other->end < one->end));
}

/* End or drop a span of a session: mostly the last one, as programs do. */
static void close_span(struct lanes *lanes, unsigned int session, uint64_t now)
{
	struct elog_map_key key = elog_map_pair(1, session);
	unsigned int at = open_count[session] - 1, i;
	uint64_t start;

	if (!(random_number(4)))
		at = (unsigned int)random_number(open_count[session]);
	start = open_spans[session][at];
	for (i = at + 1; i < open_count[session]; i++)
		open_spans[session][i - 1] = open_spans[session][i];
	open_count[session]--;
	if (!(random_number(8))) {
		lanes_drop(lanes, key, start, now);
		return;
	}
	drawn[drawn_count++] = (struct drawn){
		start, now, lanes_end(lanes, key, start, now)
	};
}

/* What has an arbitrary start, and ends now. */
static void fit_wait(struct lanes *lanes, unsigned int session, uint64_t now)
{
	struct elog_map_key key = elog_map_pair(1, session);
	uint64_t start = open_spans[session][0];

	start += random_number(now - start + 1);
	if (start < now && lanes_fit(lanes, key, start, now))
		drawn[drawn_count++] = (struct drawn){ start, now, lanes_find(lanes, key) };
}

static void test_random_spans(void)
{
	struct lanes lanes;
	unsigned int session, wrong = 0;
	uint64_t now = 0;
	size_t i, j;

	lanes_init(&lanes);
	while (drawn_count < SPANS / 8) {
		now++;
		session = (unsigned int)random_number(SESSIONS);
		if (open_count[session] && !random_number(3))
			fit_wait(&lanes, session, now);
		else if (open_count[session] && (random_number(2) ||
					    open_count[session] == OPEN_MAX)) {
			close_span(&lanes, session, now);
		} else {
			check_equal(lanes_start(&lanes, elog_map_pair(1, session), now), 0);
			open_spans[session][open_count[session]++] = now;
		}
	}
	for (i = 0; i < drawn_count; i++)
		for (j = 0; j < i; j++)
			wrong += cross(&drawn[i], &drawn[j]);
	check_equal(wrong, 0);
	lanes_free(&lanes);
}

/* Spans that are within each other share the lane of the session. */
static void test_nested_spans(void)
{
	const struct elog_map_key key = elog_map_pair(1, 1), other = elog_map_pair(1, 2);
	struct lanes lanes;
	uint32_t lane;

	lanes_init(&lanes);
	check_equal(lanes_start(&lanes, key, 1), 0);
	check_equal(lanes_start(&lanes, key, 2), 0);
	lane = lanes_end(&lanes, key, 2, 3);
	check_equal(lanes_start(&lanes, key, 4), 0);
	check_equal(lanes_start(&lanes, key, 5), 0);
	check_equal(lanes_end(&lanes, key, 5, 6), lane);
	check_equal(lanes_end(&lanes, key, 4, 7), lane);
	check_equal(lanes_end(&lanes, key, 1, 8), lane);
	check_equal(lanes_start(&lanes, other, 9), 0);
	check_equal(lanes_end(&lanes, other, 9, 10), lane);
	check_equal(lanes.count, 1);
	lanes_free(&lanes);
}

/* What is drawn in a span does not cross what began or ended meanwhile. */
static void test_waits(void)
{
	const struct elog_map_key key = elog_map_pair(1, 1);
	struct lanes lanes;

	lanes_init(&lanes);
	check_equal(lanes_start(&lanes, key, 1), 0);
	check_equal(lanes_fit(&lanes, key, 1, 3), false);
	check_equal(lanes_fit(&lanes, key, 2, 3), true);
	check_equal(lanes_fit(&lanes, key, 3, 5), false);
	check_equal(lanes_fit(&lanes, key, 4, 5), true);
	check_equal(lanes_start(&lanes, key, 6), 0);
	check_equal(lanes_fit(&lanes, key, 5, 7), false);
	check_equal(lanes_end(&lanes, key, 6, 8), lanes_find(&lanes, key));
	check_equal(lanes_fit(&lanes, key, 8, 10), false);
	check_equal(lanes_fit(&lanes, key, 9, 10), true);
	lanes_free(&lanes);
}

/* Another capture may begin at an earlier time. */
static void test_time_goes_back(void)
{
	const struct elog_map_key key = elog_map_pair(1, 1), other = elog_map_pair(2, 1);
	struct lanes lanes;
	uint32_t lane;

	lanes_init(&lanes);
	check_equal(lanes_start(&lanes, key, 10), 0);
	lane = lanes_end(&lanes, key, 10, 20);
	check_equal(lanes_start(&lanes, other, 15), 0);
	check_equal(lanes_end(&lanes, other, 15, 25) != lane, 1);
	lanes_free(&lanes);
}

/* A span that ends after the one that it began in is drawn elsewhere. */
static void test_crossing_spans(void)
{
	const struct elog_map_key key = elog_map_pair(1, 1);
	struct lanes lanes;
	uint32_t lane;

	lanes_init(&lanes);
	check_equal(lanes_start(&lanes, key, 1), 0);
	check_equal(lanes_start(&lanes, key, 2), 0);
	lane = lanes_end(&lanes, key, 1, 3);
	check_equal(lanes_end(&lanes, key, 2, 4) != lane, 1);
	check_equal(lanes.count, 2);
	check_equal(lanes.sessions.count, 0);
	check_equal(lanes.free_count, 2);
	lanes_free(&lanes);
}

int main(void)
{
	static const struct test tests[] = {
		{ "spans within each other share a lane", test_nested_spans },
		{ "a span that crosses another has another lane", test_crossing_spans },
		{ "a wait does not cross a span, or another wait", test_waits },
		{ "a lane is not used for an earlier time", test_time_goes_back },
		{ "no two spans of a lane cross", test_random_spans },
	};

	return run_tests(tests, sizeof(tests) / sizeof(tests[0]), seed_random);
}
