// SPDX-License-Identifier: GPL-2.0-only
/*
 * Building of texts: see text.h.
 */
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/string.h>

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

static void eventlog_text_string(struct eventlog_text *text, const char *string)
{
	eventlog_text_print(text, "\"");
	for (; *string; string++)
		eventlog_text_print(text, *string == '"' || *string == '\\' ? "\\%c" : "%c",
				    *string);
	eventlog_text_print(text, "\"");
}

void eventlog_text_quote(struct eventlog_text *text, const char *string)
{
	if (!string || !*string)
		return;
	eventlog_text_print(text, " ");
	eventlog_text_string(text, string);
}

void eventlog_text_name(struct eventlog_text *text, const char *name, const char *plain)
{
	const char *c = name;

	if (isalpha(*c) || *c == '_')
		while (*c && (isalnum(*c) || *c == '_' || strchr(plain, *c)))
			c++;
	if (*c)
		eventlog_text_string(text, name);
	else
		eventlog_text_print(text, "%s", name);
}

char *eventlog_text_make(void (*write)(struct eventlog_text *text, const void *context),
			 const void *context, size_t *bytes, void *(*alloc)(size_t bytes))
{
	struct eventlog_text text = {};

	write(&text, context);
	text.room = text.bytes + 1;
	text.bytes = 0;
	text.buffer = alloc(text.room);
	if (text.buffer)
		write(&text, context);
	/*
	 * Counters that are part of the text may have grown since the first pass.  Then
	 * the text is truncated.
	 */
	if (bytes)
		*bytes = min(text.bytes, text.room - 1);
	return text.buffer;
}
