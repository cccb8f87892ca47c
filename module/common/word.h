/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-only */
/*
 * Words of the schema language: names, numbers, levels, characters.  Pure functions of
 * their arguments, in any context.  None depends on a locale.
 */
#ifndef EVENTLOG_COMMON_WORD_H
#define EVENTLOG_COMMON_WORD_H

#include "common/platform.h"

/* The names of levels; the first one is NULL. */
extern const char *const eventlog_level_names[EVENTLOG_LEVEL_VERBOSE + 1];

/**
 * eventlog_level_find() - find a level by its name
 * @name: the name, or NULL
 *
 * Return: enum eventlog_level, or 0 if there is no such level.
 */
unsigned int eventlog_level_find(const char *name);

/* The names of attributes of events; the first one is NULL. */
extern const char *const eventlog_attribute_names[EVENTLOG_ATTRIBUTE_END + 1];

/**
 * eventlog_attribute_find() - find an attribute of events by its name
 * @name: the name, or NULL
 *
 * Return: enum eventlog_attribute, or 0 if there is no such attribute.
 */
unsigned int eventlog_attribute_find(const char *name);

static inline bool eventlog_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* May an identifier contain it? */
static inline bool eventlog_is_name_char(char c)
{
	return eventlog_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_';
}

/* The value of a hexadecimal digit; -1: it is none. */
static inline int eventlog_hex_digit(char c)
{
	if (eventlog_is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/**
 * eventlog_identifier_valid() - test whether a word is an identifier of valid length
 * @word: need not be NUL-terminated
 * @length: of @word; below EVENTLOG_FIELD_NAME_MAX in an identifier
 * @more: characters that it may have behind the first one, besides letters, digits and '_'
 */
bool eventlog_identifier_valid(const char *word, size_t length, const char *more);

/**
 * eventlog_printable_valid() - test whether a name may be written as a quoted string
 * @name: NUL-terminated: printable ASCII, at least one character and less than
 *	EVENTLOG_NAME_MAX
 */
bool eventlog_printable_valid(const char *name);

/**
 * eventlog_digits_parse() - parse digits
 * @digits: need not be NUL-terminated
 * @length: of @digits
 * @base: 10 or 16
 * @number: set
 *
 * Return: false: there are none, there is something else, or 64 bits are too few.
 */
bool eventlog_digits_parse(const char *digits, size_t length, unsigned int base, u64 *number);

/**
 * eventlog_number_parse() - parse a number: decimal without leading zeros, or 0x and digits
 * @word: need not be NUL-terminated
 * @length: of @word
 * @number: set
 *
 * Return: false: it is none, or 64 bits are too few.
 */
bool eventlog_number_parse(const char *word, size_t length, u64 *number);

/**
 * eventlog_utf8_bytes() - the bytes of a character of UTF-8 above U+009F
 * @from: the character
 * @end: of the text
 *
 * Return: their number; 0: it is malformed, a control character, or ASCII.
 */
unsigned int eventlog_utf8_bytes(const u8 *from, const u8 *end);

#endif /* EVENTLOG_COMMON_WORD_H */
