// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog: the command. Finds and runs the verb; each verb has a file in cmd/.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/verb.h"
#include "util/nearest.h"
#include "util/stdio.h"

static const struct verb *const verbs[] = {
	&verb_capture, &verb_show, &verb_report, &verb_stop, &verb_stat, &verb_top, &verb_latency,
	&verb_why, &verb_export, &verb_sql, &verb_list, &verb_marker, &verb_info, &verb_emit,
	&verb_create, &verb_delete, &verb_ship, &verb_upgrade, &verb_engine,
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
	      "Structured events of programs and of the kernel, through eventlog.ko.\n"
	      "\n", file);
	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		fprintf(file, "  %-10s %s\n", verbs[i]->name, verbs[i]->summary);
	fputs("\n"
	      "  elog help VERB       print the help of a verb, as does elog VERB --help\n"
	      "  elog -V, --version   print the version\n"
	      "\n"
	      "Verbs and long options may be abbreviated, if the abbreviation is unique.\n"
	      "\n"
	      "Exit status: 0 success, 1 an error, 2 events were lost.\n", file);
}

/* Words of other tools for what ours do. */
static const struct {
	const char *word;
	const char *ours;
} other_words[] = {
	{ "record", "elog capture -o FILE records" },
	{ "start", "elog capture --background -o FILE starts a recording" },
	{ "trace", "elog capture prints events as they happen" },
	{ "script", "elog show FILE prints a recording" },
	{ "log", "elog show FILE prints a recording" },
	{ "print", "elog show FILE prints a recording" },
	{ "dump", "elog show FILE prints a recording" },
	{ "tail", "elog show --tail N FILE prints the last events, --follow also new ones" },
	{ "follow", "elog show --follow FILE prints new events, too" },
	{ "query", "elog sql FILE QUERY answers a query" },
	{ "count", "elog stat counts events" },
	{ "convert", "elog export writes other formats" },
	{ "enable", "elog marker enable enables markers; elog capture, events" },
};

/*
 * Find a verb, or the only one that starts with @name. Return: its index in verbs[];
 * ARRAY_SIZE(verbs): help; -1: none, and a message was printed.
 */
static int find_verb(const char *name)
{
	const char *names[ARRAY_SIZE(verbs) + 1];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		names[i] = verbs[i]->name;
	names[i] = "help";
	for (i = 0; i < ARRAY_SIZE(other_words); i++) {
		if (strcmp(name, other_words[i].word))
			continue;
		elog_error("no verb '%s'; %s", name, other_words[i].ours);
		return -1;
	}
	return choice_abbreviated(names, ARRAY_SIZE(names), name, "verb");
}

/* Failing to write stdout is an error, too. */
static int finish(int status)
{
	if (fflush(stdout) || ferror(stdout)) {
		elog_error("cannot write to stdout");
		return status ? status : STATUS_ERROR;
	}
	return status;
}

/* elog help [VERB] */
static int help(int count, char **arguments)
{
	int verb = ARRAY_SIZE(verbs);

	if (count > 1) {
		elog_error("unexpected argument '%s'", arguments[1]);
		return STATUS_ERROR;
	}
	if (count && *arguments[0] != '-')
		verb = find_verb(arguments[0]);
	if (verb < 0)
		return STATUS_ERROR;
	if (verb < (int)ARRAY_SIZE(verbs))
		print_help(verbs[verb]);
	else
		usage(stdout);
	return STATUS_OK;
}

int main(int count, char **arguments)
{
	struct options options = { 0 };
	int verb, status;

	stdio_open();
	if (count < 2) {
		usage(stderr);
		return STATUS_ERROR;
	}
	if (!strcmp(arguments[1], "-h") || !strcmp(arguments[1], "--help")) {
		usage(stdout);
		return finish(STATUS_OK);
	}
	if (!strcmp(arguments[1], "-V") || !strcmp(arguments[1], "--version")) {
		print_version();
		return finish(STATUS_OK);
	}
	verb = find_verb(arguments[1]);
	if (verb < 0)
		return STATUS_ERROR;
	if (verb == ARRAY_SIZE(verbs))
		return finish(help(count - 2, arguments + 2));
	elog_error_prefix(verbs[verb]->name);
	status = parse_options(verbs[verb], count - 1, arguments + 1, &options);
	if (status < 0)
		status = verbs[verb]->run(&options);
	free_options(&options);
	return finish(status);
}
