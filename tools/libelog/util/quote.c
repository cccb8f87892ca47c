// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Strings for other programs: as JSON, and as cells of comma-separated values.
 *
 * The text is valid whatever a string contains. The thread that has the struct
 * elog_text calls everything here.
 */
#include <string.h>

#include "elog.h"
#include "util/text.h"

static void put_escape(struct elog_text *text, unsigned char byte)
{
	static const char plain[] = "\"\\\n\t\r\b\f";
	static const char letters[] = "\"\\ntrbf";
	const char *found = byte ? strchr(plain, byte) : NULL;
	char escape[6] = "\\u00";

	if (found) {
		escape[1] = letters[found - plain];
		elog_text_put(text, escape, 2);
		return;
	}
	elog_put_octets(escape + 4, &byte, 1, '\0');
	elog_text_put(text, escape, 6);
}

/* Append a replacement for the character at @from; return its end. */
static const unsigned char *put_other(struct elog_text *text,
				      const unsigned char *from,
				      const unsigned char *end)
{
	const size_t size = elog_direction_size(from, end);
	unsigned int character;

	if (*from < 0x80) {
		put_escape(text, *from);
		return from + 1;
	}
	if (size) {
		character = size == 2 ? (from[0] & 0x1fU) << 6 | (from[1] & 0x3fU) :
			    (from[0] & 0xfU) << 12 | (from[1] & 0x3fU) << 6 | (from[2] & 0x3fU);
		elog_text_printf(text, "\\u%04x", character);
		return from + size;
	}
	/* U+0080 to U+009F control terminals, like the characters below a space. */
	if (from[0] == 0xc2 && end - from > 1 && from[1] >= 0x80 && from[1] < 0xa0) {
		put_escape(text, from[1]);
		return from + 2;
	}
	elog_text_put(text, "\xef\xbf\xbd", 3);
	return from + 1;
}

void elog_text_json_string(struct elog_text *text, const char *data, size_t size)
{
	elog_text_between_quotes(text, data, size, put_other);
}

void elog_text_csv(struct elog_text *text, const char *data, size_t size)
{
	const char *end = data + size, *from = data, *quote;

	while (from < end && *from != '"' && *from != ',' && *from != '\n' &&
	       *from != '\r')
		from++;
	if (from == end) {
		elog_text_put(text, data, size);
		return;
	}
	elog_text_character(text, '"');
	while ((quote = memchr(data, '"', (size_t)(end - data)))) {
		elog_text_put(text, data, (size_t)(quote + 1 - data));
		elog_text_character(text, '"');
		data = quote + 1;
	}
	elog_text_put(text, data, (size_t)(end - data));
	elog_text_character(text, '"');
}
