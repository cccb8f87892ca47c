// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Spans of time as users write them: see span.h. Pure functions of their arguments.
 */
#include <errno.h>
#include <string.h>

#include "common/word.h"
#include "util/span.h"
#include "util/util.h"

#define SECOND		1000000000ULL
#define SCALE_MAX	1000000000	/* nine digits of a fraction are precise enough */

/* Names of three letters and more may have an "s". */
static const struct {
	const char *name;
	uint64_t value;
} units[] = {
	{ "ns", 1 }, { "us", 1000 }, { "\xc2\xb5s", 1000 }, { "\xce\xbcs", 1000 },
	{ "ms", 1000000 }, { "s", SECOND }, { "sec", SECOND }, { "second", SECOND },
	{ "m", 60 * SECOND }, { "min", 60 * SECOND }, { "minute", 60 * SECOND },
	{ "h", 3600 * SECOND }, { "hour", 3600 * SECOND },
	{ "d", 86400 * SECOND }, { "day", 86400 * SECOND },
	{ "w", 604800 * SECOND }, { "week", 604800 * SECOND },
	{ "K", 1 << 10 }, { "M", 1 << 20 }, { "G", 1 << 30 },
};

struct decimal {
	uint64_t whole;		/* before the point */
	uint64_t fraction;	/* the first nine digits behind it; of @scale, a power of ten */
	uint64_t scale;
	bool is_large;		/* @whole does not fit */
	bool is_fine;		/* there are other digits than 0 behind these nine */
};

static const char *skip_blanks(const char *text, const char *end)
{
	while (text < end && *text == ' ')
		text++;
	return text;
}

/* Return: the nanoseconds or bytes of a unit; 0: there is none with this name. */
static uint64_t find_unit(const char *name, size_t size)
{
	size_t i, length;

	for (i = 0; i < ELOG_ARRAY_SIZE(units); i++) {
		length = strlen(units[i].name);
		if (size >= length && !memcmp(name, units[i].name, length) &&
		    (size == length || (size == length + 1 && length > 2 && name[length] == 's')))
			return units[i].value;
	}
	return 0;
}

/* Parse digits, perhaps with a point. Return: the text behind them; @text if there is no digit. */
static const char *parse_decimal(const char *text, const char *end, struct decimal *decimal)
{
	const char *at = text, *point;

	*decimal = (struct decimal){ .scale = 1 };
	for (; at < end && eventlog_is_digit(*at); at++) {
		decimal->is_large |= __builtin_mul_overflow(decimal->whole, 10, &decimal->whole);
		decimal->is_large |= __builtin_add_overflow(decimal->whole, *at - '0',
							    &decimal->whole);
	}
	if (at == end || *at != '.')
		return at;
	point = at++;
	for (; at < end && eventlog_is_digit(*at); at++) {
		if (decimal->scale < SCALE_MAX) {
			decimal->fraction = decimal->fraction * 10 + (uint64_t)(*at - '0');
			decimal->scale *= 10;
		} else {
			decimal->is_fine |= *at != '0';
		}
	}
	return point == text && at == point + 1 ? text : at;
}

/* Add a multiple of a number, rounded down. Return: false: it does not fit. */
static bool add_part(struct elog_span *span, const struct decimal *decimal, uint64_t unit)
{
	/* Neither product overflows: both are less than 10^18 or @unit. */
	const uint64_t rest = decimal->fraction * (unit % decimal->scale);
	const uint64_t part = decimal->fraction * (unit / decimal->scale) + rest / decimal->scale;
	uint64_t whole;

	span->is_rounded |= decimal->is_fine || rest % decimal->scale;
	return !decimal->is_large && !__builtin_mul_overflow(decimal->whole, unit, &whole) &&
	       !__builtin_add_overflow(whole, part, &whole) &&
	       !__builtin_add_overflow(span->value, whole, &span->value);
}

int elog_span_parse(const char *text, size_t size, uint64_t unit, struct elog_span *span)
{
	const char *at = text, *end = text + size, *number, *name;
	struct decimal decimal;

	*span = (struct elog_span){ 0 };
	do {
		span->wrong = number = at == text ? text : skip_blanks(at, end);
		at = parse_decimal(number, end, &decimal);
		if (at == number || span->is_size)
			return -EINVAL;
		span->is_bare = number == text && at == end;
		span->wrong = name = skip_blanks(at, end);
		for (at = name; at < end && !eventlog_is_digit(*at) && *at != '.' && *at != ' ';
		     at++)
			;
		if (!span->is_bare)
			unit = find_unit(name, (size_t)(at - name));
		span->is_size = !span->is_bare && unit && *name >= 'A' && *name <= 'Z';
		if (!unit || (span->is_size && number > text))
			return -EINVAL;
		if (!add_part(span, &decimal, unit)) {
			span->wrong = number;
			return -ERANGE;
		}
	} while (at < end);
	return 0;
}
