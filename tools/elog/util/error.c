// SPDX-License-Identifier: GPL-2.0-only
/*
 * Error messages: see tool.h.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/tool.h"

static const char *verb_name;

const char *tool_version(void)
{
	return ELOG_VERSION;
}

void elog_error_prefix(const char *verb)
{
	verb_name = verb;
}

/*
 * Print a line, with one system call: other threads print, too. Replace control characters:
 * names of files may contain any.
 */
static void print_line(const char *before, const char *verb, const char *between,
		       const char *format, va_list arguments)
{
	unsigned char line[4096], *at, *end;
	size_t direction;

	vsnprintf((char *)line, sizeof(line), format, arguments);
	end = line + strlen((char *)line);
	for (at = line; *at; at++) {
		direction = elog_direction_size(at, end);
		if (direction) {
			memset(at, '?', direction);
			at += direction - 1;
		} else if (*at < ' ' || *at == 0x7f ||
			   (*at == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0)) {
			*at = '?';
		}
	}
	fprintf(stderr, "%s%s%s%s\n", before, verb, between, line);
}

void elog_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_line(verb_name ? "elog " : "elog", verb_name ? verb_name : "", ": ", format,
		   arguments);
	va_end(arguments);
}

void elog_hint(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_line("  ", "", "", format, arguments);
	va_end(arguments);
}
