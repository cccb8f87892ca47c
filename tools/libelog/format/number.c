// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Numbers in expressions: decimal, hexadecimal, with a unit. Pure functions of their
 * arguments.
 */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>

#include "elog.h"
#include "format/expression.h"
#include "util/util.h"

/* Get the factor of a unit, or 0. */
static uint64_t unit_factor(const char *unit)
{
	static const struct {
		const char *name;
		uint64_t factor;
	} units[] = {
		{ "", 1 }, { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 },
		{ "s", 1000000000 }, { "K", 1 << 10 }, { "M", 1 << 20 },
		{ "G", 1 << 30 },
	};
	size_t i;

	for (i = 0; i < ELOG_ARRAY_SIZE(units); i++)
		if (!strcmp(unit, units[i].name))
			return units[i].factor;
	return 0;
}

/*
 * Multiply the digits behind a point with a unit: 5 of "1.5ms" is 500000. After
 * removing trailing zeros, nine digits are precise enough for all units.
 */
static bool parse_fraction(const char *digits, size_t count, uint64_t factor,
			   uint64_t *value)
{
	uint64_t numerator = 0, denominator = 1;

	while (count && digits[count - 1] == '0')
		count--;
	if (count > 9)
		return false;
	for (; count; count--) {
		numerator = numerator * 10 + (uint64_t)(*digits++ - '0');
		denominator *= 10;
	}
	if (numerator * factor % denominator)
		return false;
	*value = numerator * factor / denominator;
	return true;
}

int elog_number_parse(const char *text, struct number *number)
{
	const char *digits, *end, *point = NULL;
	uint64_t value = 0, factor, fraction = 0;
	bool overflow = false;
	int base = 10;

	number->negative = *text == '-';
	if (number->negative)
		text++;
	if (text[0] == '0' && text[1] == 'x' && eventlog_hex_digit(text[2]) >= 0) {
		base = 16;
		text += 2;
	}
	digits = text;
	for (; base == 16 ? eventlog_hex_digit(*text) >= 0 : eventlog_is_digit(*text); text++) {
		overflow |= __builtin_mul_overflow(value, (uint64_t)base, &value);
		overflow |= __builtin_add_overflow(value, (uint64_t)eventlog_hex_digit(*text),
						   &value);
	}
	if (text == digits)
		return -EINVAL;
	end = text;
	if (base == 10 && *text == '.' && eventlog_is_digit(text[1])) {
		point = text++;
		while (eventlog_is_digit(*text))
			text++;
		end = text;
	}
	factor = unit_factor(text);
	if (!factor || (*text && base == 16) || (point && !*text))
		return -EINVAL;
	overflow |= __builtin_mul_overflow(value, factor, &value);
	if (point && !parse_fraction(point + 1, (size_t)(end - point - 1), factor,
				     &fraction))
		return -ERANGE;
	overflow |= __builtin_add_overflow(value, fraction, &value);
	if (overflow || (number->negative && value > (uint64_t)INT64_MAX + 1))
		return -ERANGE;
	number->negative &= value != 0;
	number->magnitude = value;
	return 0;
}

/* The point of strtod() depends on the locale of the program. */
bool elog_float_parse(const char *text, double *number)
{
	locale_t locale;
	char *end;

	if (!*text || text[strspn(text, "+-.0123456789eE")])
		return false;
	locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!locale)
		return false;
	*number = strtod_l(text, &end, locale);
	freelocale(locale);
	return !*end;
}
