// SPDX-License-Identifier: GPL-2.0-only
/*
 * Points in time, and time spans: see time_spec.h.
 */
#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libelog/util/span.h"
#include "util/time_spec.h"

#define SECOND	1000000000LL
#define DAY	86400
#define MOST	(INT64_MAX / 2)	/* sums of two of these do not overflow */

/* Parse a span, or a number of seconds if it must be @bare. Return: where it is wrong, or NULL. */
static const char *parse_span(const char *text, size_t size, bool bare, int64_t *nanoseconds)
{
	struct elog_span span;

	if (elog_span_parse(text, size, SECOND, &span))
		return span.wrong;
	if (span.is_size || (bare && !span.is_bare))
		return text + strspn(text, "0123456789. ");
	*nanoseconds = (int64_t)span.value;
	return *nanoseconds < 0 || *nanoseconds > MOST ? text : NULL;
}

const char *time_span_parse(const char *text, int64_t *nanoseconds)
{
	return parse_span(text, strlen(text), false, nanoseconds);
}

int64_t realtime_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * SECOND + now.tv_nsec;
}

/*
 * Parse a date or a time of day; strptime() alone also accepts blanks and missing zeros.
 * Return: the text behind it, or NULL and @time is unchanged.
 */
static const char *parse_format(const char *text, const char *format, struct tm *time)
{
	struct tm parsed = *time;
	const char *behind = strptime(text, format, &parsed);
	char canonical[32];
	size_t size;

	if (!behind)
		return NULL;
	size = strftime(canonical, sizeof(canonical), format, &parsed);
	if (size != (size_t)(behind - text) || memcmp(canonical, text, size))
		return NULL;
	*time = parsed;
	return behind;
}

/* "HH:MM[:SS[.FRACTION]]"; @fraction in ns */
static const char *parse_clock(const char *text, struct tm *time, int64_t *fraction)
{
	const char *behind = parse_format(text, "%H:%M:%S", time);
	size_t size;

	if (!behind)
		return parse_format(text, "%H:%M", time);
	size = *behind == '.' ? 1 + strspn(behind + 1, "0123456789") : 0;
	return size && parse_span(behind, size, true, fraction) ? NULL : behind + size;
}

/* "Z", "+HH:MM" or "+HHMM"; @east in seconds. */
static bool parse_zone(const char *text, long *east)
{
	struct tm time = { 0 };
	const char *end = strptime(text, "%z", &time);

	*east = time.tm_gmtoff;
	return end && !*end && !isspace((unsigned char)*text) && labs(*east) < 15 * 3600;
}

static long offset_at(time_t seconds)
{
	struct tm local = { 0 };

	localtime_r(&seconds, &local);
	return local.tm_gmtoff;
}

/*
 * A local time: the first one if it happens twice, when the clock is set back; and if it never
 * happens, the time when the clock was advanced. mktime() may return any.
 */
static time_t from_local(struct tm *time)
{
	const time_t universal = timegm(time);
	time_t from = universal - DAY, to = universal + DAY, middle;
	const long before = offset_at(from), after = offset_at(to);

	if (offset_at(universal - before) == before)
		return universal - before;
	if (offset_at(universal - after) == after)
		return universal - after;
	while (to - from > 1) {
		middle = from + (to - from) / 2;
		if (offset_at(middle) == before)
			from = middle;
		else
			to = middle;
	}
	return to;
}

/* "today" and "yesterday", or a date. As parse_format(). */
static const char *parse_day(const char *text, struct tm *time)
{
	if (!strncmp(text, "today", strlen("today")))
		return text + strlen("today");
	if (strncmp(text, "yesterday", strlen("yesterday")))
		return parse_format(text, "%Y-%m-%d", time);
	time->tm_mday--;
	return text + strlen("yesterday");
}

/* "[DAY][ TIME][ZONE]". Return: where it is wrong, or NULL. */
static const char *parse_date(const char *text, int64_t *result)
{
	time_t now = (time_t)(realtime_now() / SECOND);
	const char *behind, *clock = text;
	int64_t fraction = 0, seconds;
	struct tm time, given;
	long east = 0;

	localtime_r(&now, &time);
	time.tm_hour = 0;
	time.tm_min = 0;
	time.tm_sec = 0;
	behind = parse_day(text, &time);
	if (behind && (*behind == ' ' || *behind == 'T'))
		clock = behind + 1;
	if (!behind || clock > text)
		behind = parse_clock(clock, &time, &fraction);
	if (!behind || time.tm_sec > 59)
		return clock;
	if (*behind && !parse_zone(behind, &east))
		return behind;
	given = time;
	seconds = *behind ? timegm(&time) - east : from_local(&time);
	/* Reject the 31st of a month that has 30 days; yesterday may be the 0th. */
	if (time.tm_mday != given.tm_mday && given.tm_mday)
		return text;
	*result = (int64_t)seconds * SECOND + fraction;
	return seconds > -MOST / SECOND && seconds < MOST / SECOND ? NULL : text;
}

const char *time_spec_parse(const char *text, struct time_spec *spec)
{
	static const char ago[] = " ago";
	const size_t size = strlen(text), before = size - strlen(ago);
	const char *wrong;
	int64_t span;

	spec->kind = TIME_SPEC_WALL;
	spec->time = realtime_now();
	if (!strcmp(text, "now"))
		return NULL;
	if (*text == '-' || (size > strlen(ago) && !strcmp(text + before, ago))) {
		wrong = *text == '-' ? time_span_parse(text + 1, &span) :
				       parse_span(text, before, false, &span);
		if (!wrong)
			spec->time -= span;
		return wrong;
	}
	if (*text == '@')
		return parse_span(text + 1, size - 1, true, &spec->time);
	if (*text == '+') {
		spec->kind = TIME_SPEC_START;
		return time_span_parse(text + 1, &spec->time);
	}
	wrong = parse_span(text, size, true, &spec->time);
	if (!wrong)
		spec->kind = TIME_SPEC_MONOTONIC;
	if (!wrong || (isdigit((unsigned char)*text) && !strpbrk(text, ":-")))
		return wrong;
	return parse_date(text, &spec->time);
}

const char *time_spec_parse_around(const char *text, struct time_spec *since,
				   struct time_spec *until)
{
	static const char plus_minus[] = "\xc2\xb1";
	const char *between = strstr(text, plus_minus), *wrong;
	char middle[64];
	int64_t span;
	size_t length;

	if (!between)
		between = strstr(text, "+-");
	length = between ? (size_t)(between - text) : 0;
	if (!length || length >= sizeof(middle))
		return text;
	wrong = time_span_parse(between + 2, &span);
	if (wrong)
		return wrong;
	memcpy(middle, text, length);
	middle[length] = '\0';
	wrong = time_spec_parse(middle, since);
	if (wrong)
		return text + (wrong - middle);
	*until = *since;
	since->time -= span;
	until->time += span;
	return NULL;
}

void date_set(struct date *date, int64_t second)
{
	time_t time = (time_t)second;
	struct tm broken;

	if (date->second == second && *date->text)
		return;
	date->second = second;
	if (!(date->utc ? gmtime_r(&time, &broken) : localtime_r(&time, &broken)))
		memset(&broken, 0, sizeof(broken));
	strftime(date->text, sizeof(date->text), "%Y-%m-%dT%H:%M:%S", &broken);
	strftime(date->zone, sizeof(date->zone), date->utc ? "Z" : "%z", &broken);
	/* "+hhmm" is not ISO 8601's extended form. */
	if (strlen(date->zone) == 5) {
		memmove(date->zone + 4, date->zone + 3, 3);
		date->zone[3] = ':';
	}
}
