/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-only */
/*
 * Names of markers and of their fields, which are made of source text.  Pure functions of
 * their arguments, in any context.
 */
#ifndef EVENTLOG_COMMON_MARKER_NAME_H
#define EVENTLOG_COMMON_MARKER_NAME_H

#include "common/platform.h"

/**
 * eventlog_marker_name_write() - make an identifier of an expression
 * @to: room for @most + 2 bytes, the NUL included
 * @most: an expression that makes a longer name is cut
 * @text: the expression; need not be NUL-terminated
 * @length: length of @text
 *
 * Return: the length of the name.
 */
size_t eventlog_marker_name_write(char *to, size_t most, const char *text, size_t length);

/**
 * struct eventlog_marker_field - a field in a marker's text; not NUL-terminated
 * @name: its name; NULL: it is named after the expression
 * @name_bytes: length of @name
 * @expression: its value
 * @expression_bytes: length of @expression
 */
struct eventlog_marker_field {
	const char *name;
	size_t name_bytes;
	const char *expression;
	size_t expression_bytes;
};

/**
 * eventlog_marker_field_take() - parse the next field of a marker
 * @text: FIELD(type, expression) or FIELD_NAMED(type, name, expression), and others; moved
 *	behind the field
 * @field: set
 */
void eventlog_marker_field_take(const char **text, struct eventlog_marker_field *field);

#endif /* EVENTLOG_COMMON_MARKER_NAME_H */
