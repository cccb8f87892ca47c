/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Builds a text of unknown size in two passes: the first one, without a buffer,
 * determines the size.  A text belongs to its caller; there are no locks.
 */
#ifndef EVENTLOG_TEXT_H
#define EVENTLOG_TEXT_H

#include <linux/types.h>

/**
 * struct eventlog_text - a text that is being written
 * @buffer: destination, NULL in the first pass
 * @room: size of @buffer, NUL included
 * @bytes: size of the text so far, without NUL
 */
struct eventlog_text {
	char *buffer;
	size_t room;
	size_t bytes;
};

/**
 * eventlog_text_print() - append to a text
 * @text: the text
 * @format: as for printf
 *
 * Context: any.
 */
__printf(2, 3) void eventlog_text_print(struct eventlog_text *text, const char *format, ...);

/**
 * eventlog_text_quote() - append a blank and a quoted string of the schema language
 * @text: the text
 * @string: content of the string; nothing is appended if it is NULL or empty
 *
 * Context: any.
 */
void eventlog_text_quote(struct eventlog_text *text, const char *string);

/**
 * eventlog_text_name() - append the name of a provider or an event
 * @text: the text
 * @name: valid
 * @plain: characters that it may have without quotes, beside those of identifiers
 *
 * Context: any.
 */
void eventlog_text_name(struct eventlog_text *text, const char *name, const char *plain);

/* What names of providers and of events may have without quotes. */
#define EVENTLOG_PROVIDER_PLAIN ".-"
#define EVENTLOG_EVENT_PLAIN ""

/**
 * eventlog_text_make() - write a text
 * @write: function that writes the text; called twice
 * @context: argument of @write
 * @bytes: output: size of the text, without NUL; may be NULL
 * @alloc: eventlog_alloc or eventlog_alloc_locked
 *
 * Context: process context.
 *
 * Return: the text, which the caller frees with eventlog_free(), or NULL if out of
 * memory.
 */
char *eventlog_text_make(void (*write)(struct eventlog_text *text, const void *context),
			 const void *context, size_t *bytes, void *(*alloc)(size_t bytes));

#endif /* EVENTLOG_TEXT_H */
