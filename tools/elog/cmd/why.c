// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog why: says where the time of a session went. Reads files to their end: output/why.c
 * collects what concerns the session.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cmd/verb.h"
#include "export/visit.h"
#include "output/output.h"
#include "output/why.h"
#include "util/session_number.h"

static int take_event(void *why, struct visit_event *event)
{
	return why_take(why, event->entry);
}

static const struct visit_ops why_ops = {
	.event = take_event,
};

/*
 * Parses [PROVIDER:]SESSION. Return: 0 or -EINVAL, after a message.
 */
static int parse_session(const char *text, char provider[EVENTLOG_NAME_MAX], uint64_t *session)
{
	const char *colon = strrchr(text, ':');
	const char *number = colon ? colon + 1 : text;
	const size_t length = colon ? (size_t)(colon - text) : 0;

	if ((colon && !length) || length >= EVENTLOG_NAME_MAX ||
	    !session_parse(number, session) || !*session) {
		elog_error("invalid session '%s': must be [PROVIDER:]NUMBER, for example "
			   "shop:0x3ea", text);
		return -EINVAL;
	}
	memcpy(provider, text, length);
	provider[length] = '\0';
	return 0;
}

static int check_arguments(const struct options *options)
{
	if (options->argument_count >= 2)
		return 0;
	elog_error("%s is missing", options->argument_count ? "FILE" : "SESSION");
	elog_hint("try: elog why --help");
	return -EINVAL;
}

static int print(struct why *why, const struct visit *visit, const struct options *options)
{
	const uint64_t lost = sum_causes(visit->lost, ELOG_LOST_CAUSES_MAX);
	struct print_settings settings = options->print;
	struct why_session *session;
	struct output output;
	int ret;

	if (visit_is_unreadable(visit))
		return -EIO;
	session = why_find(why, options->quiet);
	if (!session)
		return -ENOENT;
	output_open(&output, COLOR_NEVER, false);
	settings.verbose = options->verbose;
	why_print(session, &settings, lost, &output.text);
	ret = output_close(&output);
	if (ret)
		elog_error("cannot write to stdout: %s", strerror(-ret));
	/* why_find() has said so. */
	return ret ? : why_knows(why) ? 0 : -ENOENT;
}

static int run(struct why *why, const struct options *options)
{
	struct visit_settings settings = options->visit;
	struct visit *visit;
	int ret;

	settings.spans = NULL;
	settings.names = options->arguments + 1;
	settings.name_count = options->argument_count - 1;
	settings.to_stdout = true;
	if (visit_open(&visit, &settings, &why_ops, why))
		return STATUS_ERROR;
	ret = visit_run(visit);
	if (ret)
		elog_error("%s", strerror(-ret));
	else
		ret = print(why, visit, options);
	visit->silent = true;
	ret = visit_finish(visit, ret);
	visit_close(visit);
	return ret;
}

static int run_why(const struct options *options)
{
	char provider[EVENTLOG_NAME_MAX];
	uint64_t session;
	struct why *why;
	int ret;

	if (check_arguments(options) ||
	    parse_session(options->arguments[0], provider, &session))
		return STATUS_ERROR;
	if (why_open(&why, *provider ? provider : NULL, session)) {
		elog_error("out of memory");
		return STATUS_ERROR;
	}
	signal(SIGPIPE, SIG_IGN);
	ret = run(why, options);
	why_close(why);
	return ret;
}

static const struct verb_option why_options[] = {
	{ OPTION_HOST, NULL }, { OPTION_SINCE, NULL }, { OPTION_UNTIL, NULL },
	{ OPTION_AROUND, NULL },
	{ OPTION_FORMAT, "text (default), or json: one object per line" },
	{ 'q', "no progress, no hints" },
	{ 'v', "whole kernel stacks" },
	{ 0, NULL },
};

const struct verb verb_why = {
	.name = "why",
	.summary = "say where the time of a session went",
	.usage = "[OPTION...] [PROVIDER:]SESSION FILE...",
	.description =
	"Adds up what the threads that worked on a session waited for, and says who ended the\n"
	"waits, and what these threads waited for meanwhile. FILE has the events of the\n"
	"program and of the provider sched, for example those of:\n"
	"  modprobe eventlog_sched && elog capture -e sched -e shop -o FILE\n"
	"- is the standard input. Several files are merged by wall-clock time.\n"
	"\n"
	"Below a wait of a millisecond or more is where in the kernel it was.\n"
	"\n"
	"The rest of the time a thread was on a CPU, or did something else; without a wait of\n"
	"the session, this is unknown. Programs say which session a thread works on: see\n"
	"elog_session_enter(3).\n"
	"\n"
	"Exit status: 0 success; 1 an error, there is no such session, no event of sched, or a\n"
	"FILE was damaged; 2 events were lost during the capture.\n",
	.options = why_options,
	.formats = 1U << FORMAT_TEXT | 1U << FORMAT_JSON,
	.run = run_why,
};
