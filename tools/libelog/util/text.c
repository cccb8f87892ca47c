// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Text: strings that grow.
 *
 * The thread that has the struct elog_text calls everything here.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elog.h"
#include "common/word.h"
#include "util/text.h"
#include "util/util.h"

static const char hex_digits[] = "0123456789abcdef";

static const char decimal_pairs[] =
	"00010203040506070809101112131415161718192021222324"
	"25262728293031323334353637383940414243444546474849"
	"50515253545556575859606162636465666768697071727374"
	"75767778798081828384858687888990919293949596979899";

char *elog_text_grow(struct elog_text *text, size_t size)
{
	size_t capacity = text->capacity ? text->capacity : 256;
	char *larger;

	if (text->error)
		return NULL;
	if (text->reserved[0] == ELOG_TEXT_FIXED)
		goto no_memory;
	if (size >= SIZE_MAX / 2 - text->size)
		goto no_memory;	/* Not covered: no object is so large, but a size may be wrong. */
	if (text->size + size + 1 > text->capacity) {
		while (capacity < text->size + size + 1)
			capacity *= 2;
		larger = realloc(text->data, capacity);
		if (!larger)
			goto no_memory;
		text->data = larger;
		text->capacity = capacity;
	}
	return text->data + text->size;

no_memory:
	text->error = -ENOMEM;
	return NULL;
}

void elog_text_free(struct elog_text *text)
{
	free(text->data);
	memset(text, 0, sizeof(*text));
}

void elog_text_put(struct elog_text *text, const void *data, size_t size)
{
	char *room = elog_text_room(text, size);

	if (room)
		elog_text_advance(text, elog_copy(room, data, size));
}

void elog_text_string(struct elog_text *text, const char *string)
{
	elog_text_put(text, string, strlen(string));
}

static unsigned int decimal_digits(uint64_t value)
{
	static const uint64_t powers[] = {
		1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000,
		1000000000, 10000000000, 100000000000, 1000000000000,
		10000000000000, 100000000000000, 1000000000000000,
		10000000000000000, 100000000000000000, 1000000000000000000,
		10000000000000000000U,
	};
	unsigned int bits = 64 - (unsigned int)__builtin_clzll(value | 1);
	unsigned int count = bits * 1233 >> 12;	/* times log10(2), rounded down */

	return count + (value >= powers[count]) + !value;
}

/* Write the digits backwards from @end. */
static void put_digits(char *end, uint64_t value)
{
	while (value >= 100) {
		end -= 2;
		memcpy(end, decimal_pairs + value % 100 * 2, 2);
		value /= 100;
	}
	if (value >= 10)
		memcpy(end - 2, decimal_pairs + value * 2, 2);
	else
		end[-1] = (char)('0' + value);
}

char *elog_put_decimal(char *to, uint64_t value)
{
	to += decimal_digits(value);
	put_digits(to, value);
	return to;
}

static unsigned int hex_digit_count(uint64_t value)
{
	return (67 - (unsigned int)__builtin_clzll(value | 1)) / 4;
}

char *elog_put_hex(char *to, uint64_t value)
{
	char *end = to + hex_digit_count(value);

	to = end;
	do {
		*--to = hex_digits[value & 15];
		value >>= 4;
	} while (value);
	return end;
}

char *elog_put_octets(char *to, const unsigned char *bytes, size_t size,
		      char between)
{
	size_t i;

	for (i = 0; i < size; i++) {
		if (i && between)
			*to++ = between;
		*to++ = hex_digits[bytes[i] >> 4];
		*to++ = hex_digits[bytes[i] & 15];
	}
	return to;
}

char *elog_put_address(char *to, const unsigned char *bytes, size_t size)
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
	unsigned int i;

	if (size == 16 && !memcmp(bytes, mapped, sizeof(mapped))) {
		bytes += sizeof(mapped);
		size = 4;
	}
	if (size == 4) {
		for (i = 0; i < 4; i++) {
			if (i)
				*to++ = '.';
			to = elog_put_decimal(to, bytes[i]);
		}
		return to;
	}
	/* ELOG_ADDRESS_MAX is enough for all addresses. */
	inet_ntop(AF_INET6, bytes, to, ELOG_ADDRESS_MAX);
	return to + strlen(to);
}

/* Make room for @count digits, padded to @width. */
static char *pad(struct elog_text *text, unsigned int count, unsigned int width,
		 char fill)
{
	unsigned int size = width > count ? width : count;
	char *room = elog_text_room(text, size);

	if (!room)
		return NULL;
	if (size > count)
		memset(room, fill, size - count);
	elog_text_advance(text, room + size);
	return room + (size - count);
}

void elog_text_unsigned(struct elog_text *text, uint64_t value,
			unsigned int width, char fill)
{
	unsigned int count = decimal_digits(value);
	char *to = pad(text, count, width, fill);

	if (to)
		put_digits(to + count, value);
}

void elog_text_json_integer(struct elog_text *text, uint64_t value, bool is_signed)
{
	const bool negative = is_signed && (int64_t)value < 0;
	const bool exact = elog_is_exact(value, is_signed);

	if (!exact)
		elog_text_character(text, '"');
	if (negative)
		elog_text_character(text, '-');
	elog_text_unsigned(text, negative ? 0 - value : value, 1, ' ');
	if (!exact)
		elog_text_character(text, '"');
}

void elog_text_hex(struct elog_text *text, uint64_t value, unsigned int width)
{
	char *to = pad(text, hex_digit_count(value), width, '0');

	if (to)
		elog_put_hex(to, value);
}

void elog_text_printf(struct elog_text *text, const char *format, ...)
{
	va_list arguments;
	char *room;
	int size;

	va_start(arguments, format);
	size = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (size < 0) {
		/* Not covered: the result would have 2 GiB. */
		text->error = -EINVAL;
		return;
	}
	room = elog_text_room(text, (size_t)size);
	if (!room)
		return;
	va_start(arguments, format);
	vsnprintf(room, (size_t)size + 1, format, arguments);
	va_end(arguments);
	elog_text_advance(text, room + size);
}

size_t elog_direction_size(const unsigned char *from, const unsigned char *end)
{
	if (end - from >= 2 && from[0] == 0xd8 && from[1] == 0x9c)
		return 2;
	if (end - from < 3 || from[0] != 0xe2)
		return 0;
	if (from[1] == 0x80 && (from[2] == 0x8e || from[2] == 0x8f ||
				(from[2] >= 0xaa && from[2] <= 0xae)))
		return 3;
	return from[1] == 0x81 && from[2] >= 0xa6 && from[2] <= 0xa9 ? 3 : 0;
}

/* The bytes of a character beyond ASCII that may be printed, or 0. */
static size_t visible_size(const unsigned char *from, const unsigned char *end)
{
	return elog_direction_size(from, end) ? 0 : eventlog_utf8_bytes(from, end);
}

static const unsigned char *put_escape(struct elog_text *text,
				       const unsigned char *from,
				       const unsigned char *end)
{
	static const char plain[] = "\"\\\n\t\r";
	static const char letters[] = "\"\\ntr";
	const char *found = *from ? strchr(plain, *from) : NULL;
	char escape[4] = "\\x";

	(void)end;
	if (found) {
		escape[1] = letters[found - plain];
		elog_text_put(text, escape, 2);
		return from + 1;
	}
	escape[2] = hex_digits[*from >> 4];
	escape[3] = hex_digits[*from & 15];
	elog_text_put(text, escape, 4);
	return from + 1;
}

#define EACH_BYTE(byte)		(0x0101010101010101ULL * (byte))
#define ZERO_BYTES(word)	(((word) - EACH_BYTE(0x01)) & ~(word) & EACH_BYTE(0x80))

/* Are all bytes printable ASCII that needs no escape? */
static bool is_plain(uint64_t word)
{
	uint64_t other = word | ((word - EACH_BYTE(' ')) & ~word);

	other |= ZERO_BYTES(word ^ EACH_BYTE('"'));
	other |= ZERO_BYTES(word ^ EACH_BYTE('\\'));
	other |= ZERO_BYTES(word ^ EACH_BYTE(0x7f));
	return !(other & EACH_BYTE(0x80));
}

const unsigned char *elog_plain_end(const unsigned char *from,
				    const unsigned char *end)
{
	size_t size = (size_t)(end - from);
	uint32_t halves[2];
	uint64_t word;

	for (; end - from >= 8; from += 8) {
		memcpy(&word, from, sizeof(word));
		if (!is_plain(word))
			break;
	}
	/* Test the rest together with bytes that were tested before, as one word. */
	if (end - from < 8 && size >= 4) {
		memcpy(&halves[0], size < 8 ? from : end - 8, sizeof(halves[0]));
		memcpy(&halves[1], end - 4, sizeof(halves[1]));
		if (is_plain((uint64_t)halves[0] << 32 | halves[1]))
			return end;
	}
	while (from < end && *from >= ' ' && *from < 0x7f && *from != '"' &&
	       *from != '\\')
		from++;
	return from;
}

void elog_text_between_quotes(struct elog_text *text, const char *data, size_t size,
			      const unsigned char *(*put_other)(struct elog_text *text,
								const unsigned char *from,
								const unsigned char *end))
{
	const unsigned char *from = (const unsigned char *)data;
	const unsigned char *end = from + size;
	const unsigned char *plain = from;
	char *room;
	size_t step;

	/* Most strings need no more than this. */
	room = elog_text_room(text, size + 2);
	if (!room)
		return;
	*room++ = '"';
	from = elog_plain_end(from, end);
	if (from == end) {
		room = elog_copy(room, data, size);
		*room++ = '"';
		elog_text_advance(text, room);
		return;
	}
	elog_text_advance(text, room);
	for (; from != end; from = elog_plain_end(from, end)) {
		step = *from < 0x80 ? 0 : visible_size(from, end);
		if (step) {
			from += step;
			continue;
		}
		elog_text_put(text, plain, (size_t)(from - plain));
		from = put_other(text, from, end);
		plain = from;
	}
	elog_text_put(text, plain, (size_t)(from - plain));
	elog_text_character(text, '"');
}

void elog_text_quoted(struct elog_text *text, const char *data, size_t size)
{
	elog_text_between_quotes(text, data, size, put_escape);
}

void elog_text_visible(struct elog_text *text, const char *data, size_t size)
{
	const unsigned char *from = (const unsigned char *)data;
	const unsigned char *end = from + size;
	const unsigned char *plain = from;
	size_t step;

	while ((from = elog_plain_end(from, end)) != end) {
		if (*from == '"' || *from == '\\')
			step = 1;
		else
			step = *from < 0x80 ? 0 : visible_size(from, end);
		if (step) {
			from += step;
			continue;
		}
		elog_text_put(text, plain, (size_t)(from - plain));
		from = put_escape(text, from, end);
		plain = from;
	}
	elog_text_put(text, plain, (size_t)(from - plain));
}

bool elog_is_text(const char *text, const char *end)
{
	const uint64_t ones = 0x0101010101010101, high = 0x8080808080808080;
	uint64_t word;
	size_t size;

	while (text < end) {
		/* Skip eight characters of ASCII: no byte is 0 or has its highest bit. */
		if (end - text >= 8) {
			memcpy(&word, text, sizeof(word));
			if (!((word | (word - ones)) & high)) {
				text += 8;
				continue;
			}
		}
		if (!*text)
			return false;
		size = (unsigned char)*text < 0x80 ? 1 :
		       eventlog_utf8_bytes((const unsigned char *)text,
					   (const unsigned char *)end);
		if (!size)
			return false;
		text += size;
	}
	return true;
}
