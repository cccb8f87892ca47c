// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-only
/*
 * Names of markers and of their fields: see marker_name.h.
 */
#include "common/marker_name.h"
#include "common/word.h"

size_t eventlog_marker_name_write(char *to, size_t most, const char *text, size_t length)
{
	size_t bytes = 0, i;

	for (i = 0; i < length && bytes < most; i++) {
		if (!bytes && eventlog_is_digit(text[i]))
			to[bytes++] = '_';
		if (eventlog_is_name_char(text[i]))
			to[bytes++] = text[i];
		else if (bytes && to[bytes - 1] != '_')
			to[bytes++] = '_';
	}
	while (bytes > 1 && to[bytes - 1] == '_')
		bytes--;
	if (!bytes)
		to[bytes++] = '_';
	to[bytes] = '\0';
	return bytes;
}

/* The end of a macro's argument in source text: a comma, a parenthesis or a NUL. */
static const char *eventlog_argument_end(const char *text)
{
	unsigned int depth = 0;
	char quote = '\0';

	for (; *text; text++) {
		if (*text == '\\' && text[1])
			text++;
		else if (quote)
			quote = *text == quote ? '\0' : quote;
		else if (*text == '"' || *text == '\'')
			quote = *text;
		else if (*text == '(')
			depth++;
		else if (!depth && (*text == ',' || *text == ')'))
			break;
		else if (*text == ')')
			depth--;
	}
	return text;
}

/* The next argument, if there is one at this comma. */
static const char *eventlog_argument_next(const char *text)
{
	return *text == ',' ? text + 1 + strspn(text + 1, " \t") : text;
}

void eventlog_marker_field_take(const char **text, struct eventlog_marker_field *field)
{
	const char *at = *text + strspn(*text, ", "), *open = strchrnul(at, '('), *end;
	bool named = open - at >= 6 && !strncmp(open - 6, "_NAMED", 6);

	memset(field, 0, sizeof(*field));
	at = *open ? eventlog_argument_end(open + 1) : open;
	if (named && *at == ',') {
		field->name = eventlog_argument_next(at);
		at = eventlog_argument_end(field->name);
		field->name_bytes = at - field->name;
	}
	field->expression = eventlog_argument_next(at);
	/* The expression may contain commas: it is all that is left. */
	for (end = eventlog_argument_end(field->expression); *end == ',';)
		end = eventlog_argument_end(end + 1);
	field->expression_bytes = end - field->expression;
	*text = *end ? end + 1 : end;
}
