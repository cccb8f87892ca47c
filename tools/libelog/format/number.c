// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Numbers in expressions: decimal, hexadecimal, with a unit. Pure functions of their
 * arguments.
 */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "elog.h"
#include "format/expression.h"
#include "util/span.h"

/* Parse "5", "1.5K" or "1h30m". Return: as elog_number_parse(). */
static int parse_decimal(const char *text, uint64_t *value)
{
	struct elog_span span;
	int ret = elog_span_parse(text, strlen(text), 1, &span);

	*value = span.value;
	if (ret || (span.is_bare && strchr(text, '.')))
		return ret ? : -EINVAL;
	return span.is_rounded ? -ERANGE : 0;
}

static int parse_hexadecimal(const char *text, uint64_t *value)
{
	bool overflow = false;

	for (*value = 0; eventlog_hex_digit(*text) >= 0; text++) {
		overflow |= *value > UINT64_MAX >> 4;
		*value = *value << 4 | (uint64_t)eventlog_hex_digit(*text);
	}
	return *text ? -EINVAL : overflow ? -ERANGE : 0;
}

int elog_number_parse(const char *text, struct number *number)
{
	uint64_t value;
	int ret;

	number->negative = *text == '-';
	text += number->negative;
	if (text[0] == '0' && text[1] == 'x' && eventlog_hex_digit(text[2]) >= 0)
		ret = parse_hexadecimal(text + 2, &value);
	else
		ret = eventlog_is_digit(*text) ? parse_decimal(text, &value) : -EINVAL;
	if (ret)
		return ret;
	if (number->negative && value > (uint64_t)INT64_MAX + 1)
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
