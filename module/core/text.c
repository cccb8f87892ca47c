// SPDX-License-Identifier: GPL-2.0-only
/*
 * Texts: see text.h.
 */
#include <linux/kernel.h>

#include "memory.h"
#include "core/text.h"

void eventlog_text_print(struct eventlog_text *text, const char *format, ...)
{
	size_t room = text->room > text->bytes ? text->room - text->bytes : 0;
	va_list args;

	va_start(args, format);
	text->bytes += vsnprintf(room ? text->buffer + text->bytes : NULL, room, format, args);
	va_end(args);
}

void eventlog_text_quote(struct eventlog_text *text, const char *string)
{
	if (!string || !*string)
		return;
	eventlog_text_print(text, " \"");
	for (; *string; string++)
		eventlog_text_print(text, *string == '"' || *string == '\\' ? "\\%c" : "%c",
				    *string);
	eventlog_text_print(text, "\"");
}

char *eventlog_text_make(void (*write)(struct eventlog_text *text, const void *context),
			 const void *context, size_t *bytes)
{
	struct eventlog_text text = {};

	write(&text, context);
	text.room = text.bytes + 1;
	text.bytes = 0;
	text.buffer = eventlog_alloc(text.room);
	if (text.buffer)
		write(&text, context);
	/* What is counted elsewhere may have grown in between: cut off, not overrun. */
	if (bytes)
		*bytes = min(text.bytes, text.room - 1);
	return text.buffer;
}
