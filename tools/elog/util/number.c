// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers on the command line: see tool.h.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/tool.h"

bool number_matches(const struct number_list *list, uint64_t value)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (list->values[i] == value)
			return true;
	return !list->count;
}

int number_base(const char *text)
{
	text += *text == '-';
	return text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
}

bool parse_unsigned(const char *text, uint64_t most, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*value = strtoull(text, &end, number_base(text));
	return !errno && !*end && *value <= most;
}

bool parse_size(const char *text, uint64_t *value)
{
	static const char units[] = "KMG";
	const char *unit;
	unsigned int shift = 0;
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*value = strtoull(text, &end, number_base(text));
	if (errno)
		return false;
	if (*end) {
		unit = strchr(units, toupper((unsigned char)*end));
		if (!unit || end[1])
			return false;
		shift = 10 * (unsigned int)(unit - units + 1);
	}
	if (*value > UINT64_MAX >> shift)
		return false;
	*value <<= shift;
	return true;
}
