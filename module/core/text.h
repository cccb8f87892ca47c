/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A text of unknown length that is written twice: once without a buffer, to
 * learn its size.  Belongs to its caller; no locks.
 */
#ifndef EVENTLOG_TEXT_H
#define EVENTLOG_TEXT_H

#include <linux/types.h>

/**
 * struct eventlog_text - see the top of the file
 * @buffer: NULL while the size is being learnt
 * @room: bytes there, NUL included
 * @bytes: of the text so far, NUL not included
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
 * Any context.
 */
__printf(2, 3) void eventlog_text_print(struct eventlog_text *text, const char *format, ...);

/**
 * eventlog_text_quote() - append a blank and a string of the schema language
 * @text: the text
 * @string: what it says; NULL or empty: nothing is appended
 */
void eventlog_text_quote(struct eventlog_text *text, const char *string);

/**
 * eventlog_text_make() - write a text
 * @write: writes it, the same each time
 * @context: for @write
 * @bytes: set to the text's size, NUL not included; may be NULL
 *
 * Process context.
 *
 * Return: the text, to be given to eventlog_free(), or NULL (no memory).
 */
char *eventlog_text_make(void (*write)(struct eventlog_text *text, const void *context),
			 const void *context, size_t *bytes);

#endif /* EVENTLOG_TEXT_H */
