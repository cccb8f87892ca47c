// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the verbs that load BPF programs share: see bpf_load.h.
 */
#ifdef ELOG_BPF

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "bpf/bpf_load.h"

/* The verifier's log has many lines; names in it are whatever a file says. */
static int put_message(const char *format, va_list arguments)
{
	char *text, *at;

	if (vasprintf(&text, format, arguments) < 0)
		return 0;
	for (at = text; *at; at++)
		if ((*at > 0 && *at < ' ' && *at != '\n' && *at != '\t') || *at == 0x7f)
			*at = '?';
	fprintf(stderr, "  %s", text);
	free(text);
	return 0;
}

static int say_warnings(enum libbpf_print_level level, const char *format,
			va_list arguments)
{
	/* It then does what it was to do: of a ring's type the kernel knows nothing. */
	if (level != LIBBPF_WARN || strstr(format, "Retrying without BTF"))
		return 0;
	return put_message(format, arguments);
}

static int say_more(enum libbpf_print_level level, const char *format,
		    va_list arguments)
{
	return level == LIBBPF_DEBUG ? 0 : put_message(format, arguments);
}

void bpf_say(bool verbose)
{
	libbpf_set_print(verbose ? say_more : say_warnings);
}

void bpf_hush(void)
{
	libbpf_set_print(NULL);
}

void bpf_explain(const char *what, int error)
{
	char text[128];

	libbpf_strerror(error, text, sizeof(text));
	elog_error("%s: %s", what, text);
	if (error == -EPERM)
		elog_hint("run elog as root, with sudo: BPF programs need the capabilities CAP_BPF and CAP_PERFMON");
}

#endif /* ELOG_BPF */
