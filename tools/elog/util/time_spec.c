// SPDX-License-Identifier: GPL-2.0-only
/*
 * Points in time, and time spans: see time_spec.h.
 */
#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/time_spec.h"

#define SECOND	1000000000LL
#define DAY	86400
#define MOST	(INT64_MAX / 2)	/* sums of two of these do not overflow */

static const struct {
	const char *name;
	int64_t nanoseconds;
} units[] = {
	{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", SECOND },
	{ "m", 60 * SECOND }, { "min", 60 * SECOND }, { "h", 3600 * SECOND },
	{ "d", 86400 * SECOND },
};

/*
 * Parse a decimal number of @unit ns, exactly. Return: the text behind it, or NULL.
 */
static const char *parse_decimal(const char *text, int64_t unit, int64_t *result)
{
	const int64_t most = MOST / unit;
	int64_t whole = 0, fraction = 0, scale = unit;
	const char *from = text;

	for (; isdigit((unsigned char)*text); text++) {
		if (whole > (most - (*text - '0')) / 10)
			return NULL;
		whole = whole * 10 + (*text - '0');
	}
	if (*text == '.') {
		for (text++; isdigit((unsigned char)*text); text++) {
			fraction += (*text - '0') * (scale / 10);
			scale /= 10;
		}
	}
	*result = whole * unit + fraction;
	return text > from && (text > from + 1 || *from != '.') ? text : NULL;
}

bool time_span_parse(const char *text, int64_t *nanoseconds)
{
	int64_t part, unit;
	const char *number;
	size_t digits, letters, i;

	*nanoseconds = 0;
	if (!*text)
		return false;
	while (*text) {
		number = text;
		digits = strspn(number, "0123456789.");
		letters = strspn(number + digits, "abcdefghijklmnopqrstuvwxyz");
		unit = letters ? 0 : SECOND;
		for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
			if (strlen(units[i].name) == letters &&
			    !strncmp(units[i].name, number + digits, letters))
				unit = units[i].nanoseconds;
		if (!digits || !unit ||
		    parse_decimal(number, unit, &part) != number + digits)
			return false;
		*nanoseconds += part;
		if (*nanoseconds > MOST)
			return false;
		text = number + digits + letters;
	}
	return true;
}

int64_t realtime_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * SECOND + now.tv_nsec;
}

/* Local midnight, @days before today. */
static int64_t midnight(int days)
{
	time_t now = (time_t)(realtime_now() / SECOND);
	struct tm local;

	localtime_r(&now, &local);
	local.tm_hour = 0;
	local.tm_min = 0;
	local.tm_sec = 0;
	local.tm_mday -= days;
	local.tm_isdst = -1;
	return (int64_t)mktime(&local) * SECOND;
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

/* "HH:MM[:SS[.FRACTION]]" */
static const char *parse_clock(const char *text, struct tm *time, int64_t *fraction)
{
	const char *behind = parse_format(text, "%H:%M:%S", time);

	if (!behind)
		return parse_format(text, "%H:%M", time);
	return *behind == '.' ? parse_decimal(behind, SECOND, fraction) : behind;
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

/* "[DATE][ TIME][ZONE]" */
static bool parse_date(const char *text, int64_t *result)
{
	time_t now = (time_t)(realtime_now() / SECOND);
	const char *behind;
	int64_t fraction = 0, seconds;
	struct tm time, given;
	long east = 0;

	localtime_r(&now, &time);
	time.tm_hour = 0;
	time.tm_min = 0;
	time.tm_sec = 0;
	behind = parse_format(text, "%Y-%m-%d", &time);
	if (behind && (*behind == ' ' || *behind == 'T'))
		behind = parse_clock(behind + 1, &time, &fraction);
	else if (!behind)
		behind = parse_clock(text, &time, &fraction);
	if (!behind || time.tm_sec > 59 || (*behind && !parse_zone(behind, &east)))
		return false;
	given = time;
	seconds = *behind ? timegm(&time) - east : from_local(&time);
	/* Reject the 31st of a month that has 30 days. */
	if (time.tm_mday != given.tm_mday)
		return false;
	*result = (int64_t)seconds * SECOND + fraction;
	return seconds > -MOST / SECOND && seconds < MOST / SECOND;
}

bool time_spec_parse(const char *text, struct time_spec *spec)
{
	const char *end;
	int64_t span;

	spec->kind = TIME_SPEC_WALL;
	if (!strcmp(text, "now")) {
		spec->time = realtime_now();
		return true;
	}
	if (!strcmp(text, "today") || !strcmp(text, "yesterday")) {
		spec->time = midnight(*text == 'y');
		return true;
	}
	switch (*text) {
	case '@':
		end = parse_decimal(text + 1, SECOND, &spec->time);
		return end && !*end;
	case '-':
		if (!time_span_parse(text + 1, &span))
			return false;
		spec->time = realtime_now() - span;
		return true;
	case '+':
		spec->kind = TIME_SPEC_START;
		return time_span_parse(text + 1, &spec->time);
	default:
		break;
	}
	end = parse_decimal(text, SECOND, &spec->time);
	if (end && !*end) {
		spec->kind = TIME_SPEC_MONOTONIC;
		return true;
	}
	return parse_date(text, &spec->time);
}

bool time_spec_parse_around(const char *text, struct time_spec *since,
			    struct time_spec *until)
{
	static const char plus_minus[] = "\xc2\xb1";
	const char *between = strstr(text, plus_minus);
	char middle[64];
	int64_t span;
	size_t length;

	if (!between)
		between = strstr(text, "+-");
	if (!between || between == text || !time_span_parse(between + 2, &span))
		return false;
	length = (size_t)(between - text);
	if (length >= sizeof(middle))
		return false;
	memcpy(middle, text, length);
	middle[length] = '\0';
	if (!time_spec_parse(middle, since))
		return false;
	*until = *since;
	since->time -= span;
	until->time += span;
	return true;
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
