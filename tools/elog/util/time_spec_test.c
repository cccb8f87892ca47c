// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of time_spec.c, and of spans in libelog. Prints TAP.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libelog/util/span.h"
#include "libelog/util/tap.h"
#include "util/time_spec.h"
#include "util/tool.h"

#define SECOND	1000000000LL
#define MINUTE	(60 * SECOND)
#define HOUR	(60 * MINUTE)
#define DAY	(24 * HOUR)

struct sample {
	const char *text;
	int64_t nanoseconds;
	unsigned int column;	/* of the error; 0: it is right */
};

/* Also without a NUL behind it. */
static void check_span(const struct sample *sample)
{
	const size_t size = strlen(sample->text);
	char *copy = size ? malloc(size) : NULL;
	const char *wrong;
	struct elog_span span;
	int64_t value = -1;

	wrong = time_span_parse(sample->text, &value);
	if ((wrong ? wrong - sample->text + 1 : 0) != sample->column ||
	    (!wrong && value != sample->nanoseconds))
		fail(__FILE__, __LINE__, "'%s': %lld, column %td", sample->text,
		     (long long)value, wrong ? wrong - sample->text + 1 : 0);
	if (copy)
		memcpy(copy, sample->text, size);
	if (!elog_span_parse(copy, size, SECOND, &span) && !sample->column)
		check(span.value == (uint64_t)sample->nanoseconds);
	free(copy);
}

static void test_spans(void)
{
	static const struct sample samples[] = {
		{ "0", 0, 0 }, { "5", 5 * SECOND, 0 }, { "1.5", 3 * SECOND / 2, 0 },
		{ ".5", SECOND / 2, 0 }, { "5.", 5 * SECOND, 0 }, { "007", 7 * SECOND, 0 },
		{ "1ns", 1, 0 }, { "1us", 1000, 0 }, { "2\xc2\xb5s", 2000, 0 },
		{ "2\xce\xbcs", 2000, 0 }, { "100ms", SECOND / 10, 0 }, { "1s", SECOND, 0 },
		{ "1.5s", 3 * SECOND / 2, 0 }, { "2sec", 2 * SECOND, 0 },
		{ "5m", 5 * MINUTE, 0 }, { "5min", 5 * MINUTE, 0 }, { "5mins", 5 * MINUTE, 0 },
		{ "5 minutes", 5 * MINUTE, 0 }, { "1 minute", MINUTE, 0 },
		{ "1h30m", 3 * HOUR / 2, 0 }, { "1h 30m", 3 * HOUR / 2, 0 },
		{ "1 hour 30 minutes", 3 * HOUR / 2, 0 }, { "1.5h", 3 * HOUR / 2, 0 },
		{ "30m1h", 3 * HOUR / 2, 0 }, { "1d", DAY, 0 }, { "2 days", 2 * DAY, 0 },
		{ "1w", 7 * DAY, 0 }, { "2weeks", 14 * DAY, 0 }, { "007m", 7 * MINUTE, 0 },
		/* What is finer than a nanosecond, or than nine digits, is left out. */
		{ "0.30000000000000004", 300000000, 0 }, { "1.5ns", 1, 0 },
		{ "0.000000001d", 86400, 0 }, { "0.999999999w", 7 * DAY - 604800, 0 },
		/* The largest one; and one more. */
		{ "4611686018427387903ns", INT64_MAX / 2, 0 },
		{ "4611686018427387904ns", 0, 1 }, { "4611686019", 0, 1 },
		{ "18446744073709551615ns", 0, 1 }, { "18446744073709551616ns", 0, 1 },
		{ "99999999999999999999999s", 0, 1 }, { "30501w", 0, 1 },
		{ "18446744073709551615ns 1ns", 0, 24 }, { "1d 99999999999d", 0, 4 },
		/* No span. */
		{ "", 0, 1 }, { " ", 0, 1 }, { "m", 0, 1 }, { ".", 0, 1 }, { ".s", 0, 1 },
		{ "-5m", 0, 1 }, { "+5m", 0, 1 }, { " 5m", 0, 1 }, { "5m ", 0, 4 }, { "5 ", 0, 3 },
		{ "5 parsecs", 0, 3 }, { "5mm", 0, 2 }, { "5M", 0, 2 }, { "5 K", 0, 3 },
		{ "1h5M", 0, 4 }, { "5M1h", 0, 3 },
		{ "5ss", 0, 2 },
		{ "5hs", 0, 2 }, { "1h30", 0, 5 }, { "30 1h", 0, 4 }, { "1,5s", 0, 2 },
		{ "1e9s", 0, 2 }, { "1e9", 0, 2 }, { "0x10", 0, 2 }, { "1.2.3s", 0, 4 },
		{ "1h-30m", 0, 2 }, { "1h,30m", 0, 2 }, { "5 minutes ago", 0, 11 },
		{ "5\xc2s", 0, 2 }, { "5\tm", 0, 2 }, { "infinity", 0, 1 }, { "nan", 0, 1 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(samples); i++)
		check_span(&samples[i]);
}

/* A time relative to now, up to a minute ago. */
static void check_before_now(const char *text, int64_t span)
{
	struct time_spec spec = { 0 };
	const char *wrong = time_spec_parse(text, &spec);
	const int64_t before = realtime_now() - span - spec.time;

	if (wrong || spec.kind != TIME_SPEC_WALL || before < 0 || before > MINUTE)
		fail(__FILE__, __LINE__, "'%s': %lld", text, (long long)spec.time);
}

static void test_before_now(void)
{
	check_before_now("now", 0);
	check_before_now("-0", 0);
	check_before_now("-5", 5 * SECOND);
	check_before_now("-5m", 5 * MINUTE);
	check_before_now("-1 hour 30 minutes", 3 * HOUR / 2);
	check_before_now("5 minutes ago", 5 * MINUTE);
	check_before_now("1h30m ago", 3 * HOUR / 2);
	check_before_now("0.5 days ago", DAY / 2);
}

static void check_time(const struct sample *sample, enum time_spec_kind kind)
{
	struct time_spec spec = { 0 };
	const char *wrong = time_spec_parse(sample->text, &spec);
	const unsigned int column = wrong ? (unsigned int)(wrong - sample->text) + 1 : 0;

	if (column != sample->column ||
	    (!wrong && (spec.kind != kind || spec.time != sample->nanoseconds)))
		fail(__FILE__, __LINE__, "'%s': kind %d, %lld, column %u", sample->text, spec.kind,
		     (long long)spec.time, column);
}

static void test_times(void)
{
	static const struct sample wall[] = {
		{ "@0", 0, 0 }, { "@1.5", 3 * SECOND / 2, 0 },
		{ "1970-01-01", 0, 0 }, { "1970-01-02", DAY, 0 },
		{ "1970-01-01T00:00:00.000000001Z", 1, 0 },
		{ "1970-01-01 02:00+02:00", 0, 0 }, { "1970-01-01T02:00+0200", 0, 0 },
		/* A time before 1970 is before all events. */
		{ "1969-12-31T23:59:59Z", -SECOND, 0 }, { "1900-01-01", -25567 * DAY, 0 },
		{ "1700-01-01", 0, 1 }, { "2200-01-01", 0, 1 },
		{ "@-5", 0, 2 }, { "@", 0, 2 }, { "@5m", 0, 3 }, { "@1e9", 0, 3 },
		{ "@99999999999", 0, 2 }, { "2026-02-30", 0, 1 }, { "2026-13-01", 0, 1 },
		{ "2026-1-01", 0, 1 }, { "2026-01-01x", 0, 11 }, { "2026-01-01 25:00", 0, 12 },
		{ "2026-01-01T12:00:00,5", 0, 20 }, { "12:00 UTC", 0, 6 }, { "24:00", 0, 1 },
		{ "12:00:60", 0, 1 }, { "12:00:00.", 0, 1 }, { "", 0, 1 }, { "now ", 0, 1 },
		{ "someday", 0, 1 }, { "yesterdayx", 0, 10 }, { "today 25:00", 0, 7 },
		{ "5m", 0, 2 }, { "5 parsecs", 0, 3 }, { "5 parsecs ago", 0, 3 },
		{ "5mm ago", 0, 2 }, { " ago", 0, 1 }, { "ago", 0, 1 }, { "-", 0, 2 },
		{ "--5m", 0, 2 }, { "-5x", 0, 3 }, { "-99999999999999999999ns", 0, 2 },
		{ "+", 0, 2 }, { "+5x", 0, 3 }, { "1e9", 0, 2 }, { "99999999999", 0, 1 },
	};
	static const struct sample start[] = {
		{ "+0", 0, 0 }, { "+1h30m", 3 * HOUR / 2, 0 }, { "+2 minutes", 2 * MINUTE, 0 },
	};
	static const struct sample monotonic[] = {
		{ "0", 0, 0 }, { "12.000000001", 12 * SECOND + 1, 0 },
	};
	size_t i;

	setenv("TZ", "UTC0", 1);
	tzset();
	for (i = 0; i < ARRAY_SIZE(wall); i++)
		check_time(&wall[i], TIME_SPEC_WALL);
	for (i = 0; i < ARRAY_SIZE(start); i++)
		check_time(&start[i], TIME_SPEC_START);
	for (i = 0; i < ARRAY_SIZE(monotonic); i++)
		check_time(&monotonic[i], TIME_SPEC_MONOTONIC);
}

/* A local time that there is not is when the clock is advanced; of two, it is the first. */
static void test_clock_changes(void)
{
	static const struct sample samples[] = {
		{ "2026-03-29T01:59:59", 1774745999 * SECOND, 0 },
		{ "2026-03-29T02:00", 1774746000 * SECOND, 0 },
		{ "2026-03-29 02:30", 1774746000 * SECOND, 0 },
		{ "2026-03-29 03:00", 1774746000 * SECOND, 0 },
		{ "2026-10-25 02:30", 1792888200 * SECOND, 0 },
		{ "2026-10-25 02:30+01:00", 1792891800 * SECOND, 0 },
	};
	size_t i;

	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	for (i = 0; i < ARRAY_SIZE(samples); i++)
		check_time(&samples[i], TIME_SPEC_WALL);
}

static int64_t time_of(const char *text)
{
	struct time_spec spec = { 0 };

	check(!time_spec_parse(text, &spec));
	return spec.time;
}

/* Yesterday may be of another month, and a day may have 23 or 25 hours, or begin at 01:00. */
static void test_days(void)
{
	static const char *const zones[] = {
		"UTC0", "CET-1CEST,M3.5.0,M10.5.0/3", "AAA5BBB,M3.2.0/0,M11.1.0/1",
	};
	int64_t today, span;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(zones); i++) {
		setenv("TZ", zones[i], 1);
		tzset();
		do {
			today = time_of("today");
			span = today - time_of("yesterday");
		} while (today != time_of("today"));
		check(span >= 23 * HOUR && span <= 25 * HOUR);
		check(today <= realtime_now() && today + 25 * HOUR > realtime_now());
		check_equal(time_of("today 23:00") > time_of("yesterday 23:00"), 1);
	}
}

static void test_around(void)
{
	struct time_spec since, until;
	const char *text = "12.5+-500ms";

	check(!time_spec_parse_around(text, &since, &until));
	check_equal(since.time, 12 * SECOND);
	check_equal(until.time, 13 * SECOND);
	check(!time_spec_parse_around("12\xc2\xb1" "1 minute", &since, &until));
	check_equal(until.time - since.time, 2 * MINUTE);
	text = "now+-5 parsecs";
	check_equal(time_spec_parse_around(text, &since, &until) - text, 7);
	text = "12x+-5";
	check_equal(time_spec_parse_around(text, &since, &until) - text, 2);
	text = "now";
	check_equal(time_spec_parse_around(text, &since, &until) - text, 0);
}

int main(void)
{
	static const struct test tests[] = {
		{ "spans have units, or are numbers of seconds", test_spans },
		{ "times before now", test_before_now },
		{ "dates, times of day, seconds", test_times },
		{ "the clock is advanced and set back", test_clock_changes },
		{ "today and yesterday begin at midnight", test_days },
		{ "a span around a time", test_around },
	};

	return run_tests(tests, ARRAY_SIZE(tests), NULL);
}
