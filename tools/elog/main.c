// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog: the command. Finds the verb; the rest is in the verbs' own files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/verb.h"

static const struct verb *const verbs[] = {
	&verb_capture, &verb_show, &verb_stop, &verb_stat, &verb_top, &verb_latency,
	&verb_list, &verb_marker, &verb_info, &verb_emit, &verb_create, &verb_delete,
};

void print_version(void)
{
	printf("elog %s (ABI %d)\n", tool_version(), EVENTLOG_ABI_VERSION);
}

static void usage(FILE *file)
{
	size_t i;

	fputs("usage: elog VERB [OPTION...] [ARGUMENT...]\n"
	      "\n"
	      "Structured events of programs and of the kernel, as eventlog.ko carries them.\n"
	      "\n", file);
	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		fprintf(file, "  %-10s %s\n", verbs[i]->name, verbs[i]->summary);
	fputs("\n"
	      "  elog VERB --help tells about a verb\n"
	      "  elog -V, --version tells the version\n"
	      "\n"
	      "Exit status: 0 all is well, 1 an error, 2 events were lost.\n", file);
}

static const struct verb *find_verb(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(verbs[i]->name, name))
			return verbs[i];
	return NULL;
}

/* What was printed and cannot be written is an error like any other. */
static int finish(int status)
{
	if (fflush(stdout) || ferror(stdout)) {
		elog_error("cannot write to stdout");
		return status ? status : STATUS_ERROR;
	}
	return status;
}

int main(int count, char **arguments)
{
	struct options options = { 0 };
	const struct verb *verb;
	int status;

	if (count < 2) {
		usage(stderr);
		return STATUS_ERROR;
	}
	if (!strcmp(arguments[1], "-h") || !strcmp(arguments[1], "--help") ||
	    !strcmp(arguments[1], "help")) {
		usage(stdout);
		return finish(STATUS_OK);
	}
	if (!strcmp(arguments[1], "-V") || !strcmp(arguments[1], "--version")) {
		print_version();
		return finish(STATUS_OK);
	}
	verb = find_verb(arguments[1]);
	if (!verb) {
		elog_error("there is no verb '%s'", arguments[1]);
		usage(stderr);
		return STATUS_ERROR;
	}
	elog_error_prefix(verb->name);
	status = parse_options(verb, count - 1, arguments + 1, &options);
	if (status < 0)
		status = verb->run(&options);
	free_options(&options);
	return finish(status);
}
