// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Text for readers that refuse what is not UTF-8: see elog_text_utf8() in util/text.h.
 */
#include "common/word.h"
#include "util/text.h"

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
