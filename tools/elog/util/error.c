// SPDX-License-Identifier: GPL-2.0-only
/*
 * Error messages: see tool.h.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "util/tool.h"

#define LINE_BYTES	(2 * PATH_MAX + 512)	/* a message has two paths at most */

static const char *verb_name;

/* Errors of the system that mean a limit, which strerror(3) does not name. */
static const struct limit {
	int error;
	int resource;		/* -1: it is none of setrlimit(2) */
	const char *what;
} limits[] = {
	{ EMFILE, RLIMIT_NOFILE, "open files of a process, RLIMIT_NOFILE (ulimit -n)," },
	{ ENFILE, -1, "the limit of the system is fs.file-max, see sysctl(8)" },
	{ EFBIG, RLIMIT_FSIZE, "bytes of a file, RLIMIT_FSIZE (ulimit -f)," },
	{ EAGAIN, RLIMIT_NPROC, "threads of a user, RLIMIT_NPROC (ulimit -u)," },
	{ ENAMETOOLONG, -1, "a path has 4095 bytes at most, and each name in it 255" },
};

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
static const struct limit *print_line(const char *before, const char *verb, const char *between,
				      const char *format, va_list arguments)
{
	unsigned char line[LINE_BYTES], *at, *end;
	size_t direction, i;

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
	for (i = 0; i < ARRAY_SIZE(limits); i++)
		if (strstr((char *)line, strerror(limits[i].error)))
			return &limits[i];
	return NULL;
}

/* Once for each. */
static void hint_limit(const struct limit *limit)
{
	static bool hinted[ARRAY_SIZE(limits)];
	struct rlimit now;

	if (__atomic_exchange_n(&hinted[limit - limits], true, __ATOMIC_RELAXED))
		return;
	if (limit->resource < 0)
		elog_hint("%s", limit->what);
	else if (!getrlimit(limit->resource, &now) && now.rlim_cur != RLIM_INFINITY)
		elog_hint("the limit of %s is %llu", limit->what,
			  (unsigned long long)now.rlim_cur);
}

void elog_error(const char *format, ...)
{
	const struct limit *limit;
	va_list arguments;

	va_start(arguments, format);
	limit = print_line(verb_name ? "elog " : "elog", verb_name ? verb_name : "", ": ", format,
			   arguments);
	va_end(arguments);
	if (limit)
		hint_limit(limit);
}

void elog_hint(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_line("  ", "", "", format, arguments);
	va_end(arguments);
}
