// SPDX-License-Identifier: LGPL-2.1-only
/*
 * UTF-8: see elog_text_unicode(), and elog_text_utf8() for readers that refuse what is not UTF-8,
 * in util/text.h.
 */
#include "common/word.h"
#include "util/text.h"

void elog_text_unicode(struct elog_text *text, uint32_t character)
{
	char *to = elog_text_room(text, 4);

	if (!to)
		return;
	if (character > 0x10ffff)
		character = 0xfffd;
	if (character < 0x80) {
		*to++ = (char)character;
		elog_text_advance(text, to);
		return;
	}
	if (character < 0x800) {
		*to++ = (char)(0xc0 | character >> 6);
	} else if (character < 0x10000) {
		*to++ = (char)(0xe0 | character >> 12);
		*to++ = (char)(0x80 | (character >> 6 & 0x3f));
	} else {
		*to++ = (char)(0xf0 | character >> 18);
		*to++ = (char)(0x80 | (character >> 12 & 0x3f));
		*to++ = (char)(0x80 | (character >> 6 & 0x3f));
	}
	*to++ = (char)(0x80 | (character & 0x3f));
	elog_text_advance(text, to);
}

void elog_text_utf8(struct elog_text *text, const char *data, size_t size)
{
	const unsigned char *from = (const unsigned char *)data, *end = from + size, *plain = from;
	size_t step;

	while ((from = elog_plain_end(from, end)) != end) {
		step = *from < 0x80 ? 1 : eventlog_utf8_bytes(from, end);
		if (step) {
			from += step;
			continue;
		}
		elog_text_put(text, plain, (size_t)(from - plain));
		elog_text_string(text, "\xef\xbf\xbd");
		plain = ++from;
	}
	elog_text_put(text, plain, (size_t)(from - plain));
}
