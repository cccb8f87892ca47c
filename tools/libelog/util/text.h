/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Strings that grow: functions on struct elog_text that the library does not export.
 * elog uses those before elog_text_grow().
 */
#ifndef LIBELOG_UTIL_TEXT_H
#define LIBELOG_UTIL_TEXT_H

#include <string.h>

#include "elog.h"

/** elog_text_put() - append @size bytes of @data unchanged */
void elog_text_put(struct elog_text *text, const void *data, size_t size);

/** elog_text_string() - append a string unchanged */
void elog_text_string(struct elog_text *text, const char *string);

/** elog_text_unsigned() - append @value in decimal, padded with @fill to @width */
void elog_text_unsigned(struct elog_text *text, uint64_t value,
			unsigned int width, char fill);

/** elog_is_exact() - can a double hold all integers up to this one? */
static inline bool elog_is_exact(uint64_t value, bool is_signed)
{
	return (is_signed && (int64_t)value < 0 ? 0 - value : value) <= 1ULL << 53;
}

/**
 * elog_text_json_integer() - append an integer as JSON
 * @text: to append to
 * @value: the integer
 * @is_signed: it is signed
 *
 * Beyond 2^53 it is a string of its digits: many programs keep numbers as doubles.
 */
void elog_text_json_integer(struct elog_text *text, uint64_t value, bool is_signed);

/** elog_text_hex() - append @value in hexadecimal, with at least @width digits */
void elog_text_hex(struct elog_text *text, uint64_t value, unsigned int width);

/** elog_text_printf() - append what printf() would print */
void elog_text_printf(struct elog_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * elog_text_quoted() - append a string in double quotes
 * @text: the text
 * @data: the string
 * @size: bytes of it; it may contain NULs
 *
 * Quotes, backslashes, control characters and bytes that are not UTF-8 become
 * backslash sequences, and so do the characters that change the direction of text. So
 * the string cannot contain its own end, and cannot control the terminal.
 */
void elog_text_quoted(struct elog_text *text, const char *data, size_t size);

/**
 * elog_text_visible() - append a string for a terminal, without quotes around it
 * @text: the text
 * @data: the string
 * @size: bytes of it; it may contain NULs
 *
 * Like elog_text_quoted(), but quotes and backslashes stay as they are. So two strings
 * may look the same.
 */
void elog_text_visible(struct elog_text *text, const char *data, size_t size);

/**
 * elog_text_json_string() - append a string as JSON, with its quotes
 * @text: the text
 * @data: the string
 * @size: bytes of it; it may contain NULs
 *
 * The result is always valid JSON in UTF-8. Control characters, including U+0080 to
 * U+009F, and characters that change the direction of text are escaped. Each byte that
 * is not UTF-8 becomes U+FFFD.
 */
void elog_text_json_string(struct elog_text *text, const char *data, size_t size);

/**
 * elog_text_csv() - append a cell of comma-separated values, as RFC 4180 says
 * @text: the text
 * @data: the cell
 * @size: bytes of it
 *
 * The cell is quoted only if it contains a quote, a comma or a line break; nothing
 * else is changed. This does not protect against spreadsheets, which take a cell that
 * begins with "=" for a formula.
 */
void elog_text_csv(struct elog_text *text, const char *data, size_t size);

/**
 * elog_text_utf8() - append a string as valid UTF-8
 * @text: the text
 * @data: the string
 * @size: bytes of it
 *
 * Each byte that is not part of a character, or begins one of the control characters
 * U+0080 to U+009F, becomes U+FFFD.
 */
void elog_text_utf8(struct elog_text *text, const char *data, size_t size);

/** elog_text_unicode() - append a character as UTF-8; U+FFFD for a number above 0x10ffff */
void elog_text_unicode(struct elog_text *text, uint32_t character);

/** elog_is_text() - is this valid UTF-8 without NUL? */
bool elog_is_text(const char *text, const char *end);

/* In the first reserved member of a text: the memory is not from malloc() and cannot grow. */
#define ELOG_TEXT_FIXED	1

/** elog_text_grow() - elog_text_room() for when there is no room */
char *elog_text_grow(struct elog_text *text, size_t size);

/**
 * elog_text_room() - get room for characters to append, and a NUL
 * @text: the text
 * @size: bytes, at most
 *
 * Return: the room, for elog_text_advance(); NULL if memory was short.
 */
static inline char *elog_text_room(struct elog_text *text, size_t size)
{
	if (text->error || text->capacity - text->size <= size)
		return elog_text_grow(text, size);
	return text->data + text->size;
}

/** elog_text_advance() - append the characters before @end */
static inline void elog_text_advance(struct elog_text *text, char *end)
{
	*end = '\0';
	text->size = (size_t)(end - text->data);
}

/**
 * elog_copy() - memcpy() that is fast for short sizes
 * @to: room for @size bytes
 * @from: the bytes
 * @size: bytes of @from
 *
 * For a name or a word, a call takes longer than the copying. Up to 32 bytes are
 * copied as the first and the last 16 bytes (or 8, or 4), which may overlap.
 *
 * Return: the end of the copy.
 */
static inline char *elog_copy(char *to, const void *from, size_t size)
{
	const char *bytes = from;
	char ends[2][16];
	uint64_t words[2];
	uint32_t halves[2];

	if (size > 32) {
		memcpy(to, from, size);
	} else if (size >= 16) {
		memcpy(ends[0], bytes, 16);
		memcpy(ends[1], bytes + size - 16, 16);
		memcpy(to, ends[0], 16);
		memcpy(to + size - 16, ends[1], 16);
	} else if (size >= 8) {
		memcpy(&words[0], bytes, 8);
		memcpy(&words[1], bytes + size - 8, 8);
		memcpy(to, &words[0], 8);
		memcpy(to + size - 8, &words[1], 8);
	} else if (size >= 4) {
		memcpy(&halves[0], bytes, 4);
		memcpy(&halves[1], bytes + size - 4, 4);
		memcpy(to, &halves[0], 4);
		memcpy(to + size - 4, &halves[1], 4);
	} else if (size) {
		to[0] = bytes[0];
		to[size / 2] = bytes[size / 2];
		to[size - 1] = bytes[size - 1];
	}
	return to + size;
}

static inline void elog_text_character(struct elog_text *text, char character)
{
	char *room = elog_text_room(text, 1);

	if (!room)
		return;
	*room = character;
	elog_text_advance(text, room + 1);
}

/* Digits of the largest number of 64 bits. */
#define ELOG_DECIMAL_MAX	20
#define ELOG_HEX_MAX		16

/** elog_put_decimal() - write a number in decimal; return the end of it */
char *elog_put_decimal(char *to, uint64_t value);

/** elog_put_hex() - write a number in hexadecimal; return the end of it */
char *elog_put_hex(char *to, uint64_t value);

/**
 * elog_put_octets() - write two hexadecimal digits per byte, separated by @between
 * unless it is NUL
 */
char *elog_put_octets(char *to, const unsigned char *bytes, size_t size,
		      char between);

/**
 * elog_put_address() - write an address
 * @to: room for ELOG_ADDRESS_MAX characters
 * @bytes: in network byte order
 * @size: 4 or 16
 *
 * ::ffff:a.b.c.d is an IPv4 address, and is written as a.b.c.d.
 *
 * Return: the end of the address.
 */
char *elog_put_address(char *to, const unsigned char *bytes, size_t size);

#define ELOG_ADDRESS_MAX	48

/**
 * elog_text_between_quotes() - append a string in double quotes
 * @text: the text
 * @data: the string
 * @size: bytes of it
 * @put_other: appends a replacement for the character at @from, which must not be
 *	printed; returns the end of the character
 */
void elog_text_between_quotes(struct elog_text *text, const char *data, size_t size,
			      const unsigned char *(*put_other)(struct elog_text *text,
								const unsigned char *from,
								const unsigned char *end));

/**
 * elog_plain_end() - find the first byte that is not printable ASCII, or needs an
 * escape, or @end
 */
const unsigned char *elog_plain_end(const unsigned char *from,
				    const unsigned char *end);

/**
 * elog_direction_size() - get the bytes of a character that changes the direction of text
 * @from: its first byte
 * @end: end of the string, above @from
 *
 * These are U+061C, U+200E, U+200F, U+202A to U+202E and U+2066 to U+2069. On a terminal
 * they can show the parts of a line in another order.
 *
 * Return: 2 or 3; 0: it is another character.
 */
size_t elog_direction_size(const unsigned char *from, const unsigned char *end);

#endif /* LIBELOG_UTIL_TEXT_H */
