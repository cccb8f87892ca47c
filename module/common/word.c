// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-only
/*
 * Words of the schema language: see word.h.
 */
#include "common/word.h"

const char *const eventlog_level_names[EVENTLOG_LEVEL_VERBOSE + 1] = {
	[EVENTLOG_LEVEL_CRITICAL] = "critical",
	[EVENTLOG_LEVEL_ERROR] = "error",
	[EVENTLOG_LEVEL_WARNING] = "warning",
	[EVENTLOG_LEVEL_NOTICE] = "notice",
	[EVENTLOG_LEVEL_INFO] = "info",
	[EVENTLOG_LEVEL_DEBUG] = "debug",
	[EVENTLOG_LEVEL_VERBOSE] = "verbose",
};

const char *const eventlog_attribute_names[EVENTLOG_ATTRIBUTE_END + 1] = {
	[EVENTLOG_ATTRIBUTE_START] = "start",
	[EVENTLOG_ATTRIBUTE_END] = "end",
};

/* Returns the index of a name, or 0.  The element 0 has none. */
static unsigned int eventlog_name_find(const char *name, const char *const *names,
				       unsigned int last)
{
	unsigned int i;

	for (i = 1; name && i <= last; i++)
		if (!strcmp(name, names[i]))
			return i;
	return 0;
}

unsigned int eventlog_level_find(const char *name)
{
	return eventlog_name_find(name, eventlog_level_names, EVENTLOG_LEVEL_VERBOSE);
}

unsigned int eventlog_attribute_find(const char *name)
{
	return eventlog_name_find(name, eventlog_attribute_names, EVENTLOG_ATTRIBUTE_END);
}

bool eventlog_identifier_valid(const char *word, size_t length, const char *more)
{
	size_t i;

	if (!length || length >= EVENTLOG_FIELD_NAME_MAX || eventlog_is_digit(*word))
		return false;
	for (i = 0; i < length; i++)
		if (!eventlog_is_name_char(word[i]) && (!i || !word[i] || !strchr(more, word[i])))
			return false;
	return true;
}

bool eventlog_printable_valid(const char *name)
{
	size_t i;

	for (i = 0; i < EVENTLOG_NAME_MAX && name[i]; i++)
		if (name[i] < ' ' || name[i] > '~')
			return false;
	return i && i < EVENTLOG_NAME_MAX;
}

bool eventlog_digits_parse(const char *digits, size_t length, unsigned int base, u64 *number)
{
	const u64 most = base == 16 ? U64_MAX / 16 : U64_MAX / 10;
	u64 sum = 0;
	size_t i;

	for (i = 0; i < length; i++) {
		const int digit = eventlog_hex_digit(digits[i]);

		if (digit < 0 || digit >= (int)base || sum > most)
			return false;
		sum = sum * base + (unsigned int)digit;
		if (sum < (unsigned int)digit)
			return false;
	}
	*number = sum;
	return length;
}

bool eventlog_number_parse(const char *word, size_t length, u64 *number)
{
	if (length > 1 && word[0] == '0')
		return word[1] == 'x' && eventlog_digits_parse(word + 2, length - 2, 16, number);
	return eventlog_digits_parse(word, length, 10, number);
}

unsigned int eventlog_utf8_bytes(const u8 *from, const u8 *end)
{
	static const u32 smallest[] = { 0, 0, 0xa0, 0x800, 0x10000 };
	unsigned int bytes = 0, i;
	u32 character;

	if (*from >= 0xc0)
		bytes = *from < 0xe0 ? 2 : *from < 0xf0 ? 3 : *from < 0xf8 ? 4 : 0;
	if (!bytes || (size_t)(end - from) < bytes)
		return 0;
	character = *from & (0x7fU >> bytes);
	for (i = 1; i < bytes; i++) {
		if ((from[i] & 0xc0) != 0x80)
			return 0;
		character = character << 6 | (from[i] & 0x3f);
	}
	if (character < smallest[bytes] || character > 0x10ffff ||
	    (character >= 0xd800 && character < 0xe000))
		return 0;
	return bytes;
}
