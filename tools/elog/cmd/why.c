// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog why: says where the time of a session went, or that of the slowest spans. Reads files to
 * their end: output/why.c collects what concerns the session. Which spans are the slowest is known
 * only at the end, so for these the files are read twice.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/verb.h"
#include "export/report_page.h"
#include "output/output.h"
#include "output/why.h"
#include "util/session_number.h"

/* The slowest spans. */
struct slowest {
	struct slow_span spans[WHY_SPANS_MAX];
	unsigned int count;
	unsigned int most;
};

static int take_event(void *why, struct visit_event *event)
{
	static const struct spans no_rules;
	static struct span_role start = { .is_start = true }, other;
	struct cached_event *cached = event->entry->cached;
	struct span_role role;

	if (!cached->row) {
		spans_find_role(&no_rules, cached->event, &role);
		cached->row = role.is_start ? &start : &other;
	}
	return why_take(why, event->entry, cached->row == &start);
}

static const struct visit_ops why_ops = {
	.event = take_event,
};

static int take_span(void *context, struct visit_event *event)
{
	struct slowest *slowest = context;

	/* Session 0 is none: its events have nothing in common. */
	if (event->match.ended && event->match.span.session)
		slowest->count = report_add_slow(slowest->spans, slowest->count, slowest->most,
						 event);
	return 0;
}

static const struct visit_ops span_ops = {
	.event = take_span,
};

/*
 * Parses [PROVIDER:]SESSION. @session: 0: it is a FILE. Return: 0 or -EINVAL, after a message.
 */
static int parse_session(const char *text, char provider[EVENTLOG_NAME_MAX], uint64_t *session)
{
	const char *colon = strrchr(text, ':');
	const char *number = colon ? colon + 1 : text;
	const size_t length = colon ? (size_t)(colon - text) : 0;

	if ((strchr(text, '/') || !session_parse(number, session)) && source_is_file(text)) {
		*session = 0;
		return 0;
	}
	if ((colon && !length) || length >= EVENTLOG_NAME_MAX ||
	    !session_parse(number, session) || !*session) {
		elog_error("invalid session '%s': must be [PROVIDER:]NUMBER, for example "
			   "shop:0x3ea; and there is no file of this name", text);
		return -EINVAL;
	}
	memcpy(provider, text, length);
	provider[length] = '\0';
	return 0;
}

static int check_arguments(const struct options *options, uint64_t session)
{
	if (session && options->argument_count < 2) {
		elog_error("FILE is missing");
		elog_hint("try: elog why --help");
	} else if (session && options->slowest) {
		elog_error("SESSION and --slowest exclude each other");
	} else if (options->slowest > WHY_SPANS_MAX) {
		elog_error("--slowest: %u at most", WHY_SPANS_MAX);
	} else if (!session && !report_lists(&options->visit)) {
		elog_error("the standard input cannot be read twice: name a SESSION, or a FILE");
	} else {
		return 0;
	}
	return -EINVAL;
}

/* The command that prints the events of a session. */
static void say_next(const struct why_session *session, const struct visit_settings *settings)
{
	char verb[64];

	snprintf(verb, sizeof(verb), "show -s 0x%" PRIx64, session->number);
	report_next(settings, verb);
}

static int print(struct why *why, const struct visit *visit, const struct options *options)
{
	const uint64_t lost = sum_causes(visit->lost, ELOG_LOST_CAUSES_MAX);
	struct print_settings settings = options->print;
	struct why_session *session;
	struct output output;
	size_t count, i;
	int ret;

	session = why_find(why, options->quiet, &count);
	if (!session)
		return -ENOENT;
	output_open(&output, COLOR_NEVER, false);
	settings.verbose = options->verbose;
	for (i = 0; i < count; i++) {
		if (i && settings.format == FORMAT_TEXT)
			elog_text_string(&output.text, "\n");
		why_print(&session[i], &settings, lost, &output.text);
	}
	ret = output_close(&output);
	if (ret)
		elog_error("cannot write to stdout: %s", strerror(-ret));
	else if (settings.format == FORMAT_TEXT)
		say_next(session, visit->settings);
	/* why_find() has said so. */
	return ret ? : why_knows(why) ? 0 : -ENOENT;
}

/* Return: 0; 1 or -ENOENT after a message; or another negative errno. */
static int explain_spans(struct why *why, const struct visit *visit, struct slowest *slowest)
{
	const struct pair_counts *counts = &visit->spans.pairing.counts;
	unsigned int i;

	if (!slowest->count) {
		spans_explain_none(counts->starts, counts->ends);
		return -ENOENT;
	}
	for (i = 0; i < slowest->count; i++) {
		const struct slow_span *slow = &slowest->spans[i];

		why_add_span(why, slow->provider, slow->instance, slow->boot,
			     slow->span.role->start.name, slow->span.session, slow->span.time,
			     slow->span.time + slow->span.duration);
	}
	return visit_again(visit->settings, &why_ops, why, visit_has_failed(visit));
}

/* @slowest: find the session; NULL: it is known. Return: the exit status. */
static int run(struct why *why, const struct options *options, struct slowest *slowest)
{
	struct visit_settings settings = options->visit;
	struct visit *visit;
	int ret;

	if (!slowest) {
		settings.spans = NULL;
		settings.names++;
		settings.name_count--;
	}
	settings.to_stdout = true;
	if (visit_open(&visit, &settings, slowest ? &span_ops : &why_ops, slowest ?
		       (void *)slowest : why))
		return STATUS_ERROR;
	ret = visit_run(visit);
	if (!ret && visit_is_unreadable(visit))
		ret = 1;
	if (!ret && slowest)
		ret = explain_spans(why, visit, slowest);
	if (!ret)
		ret = print(why, visit, options);
	else if (ret == -E2BIG)
		elog_error("the files have more than %d kinds of events", VISIT_KINDS_MAX);
	else if (ret < 0 && ret != -ENOENT)
		elog_error("%s", strerror(-ret));
	if (slowest && !options->quiet)
		visit_print_spans(visit);
	visit->silent = true;
	ret = visit_finish(visit, ret);
	visit_close(visit);
	return ret;
}

static int run_why(const struct options *options)
{
	char provider[EVENTLOG_NAME_MAX];
	struct slowest *slowest = NULL;
	struct why *why = NULL;
	uint64_t session;
	int ret;

	if (!options->argument_count) {
		elog_error("FILE is missing");
		elog_hint("try: elog why --help");
		return STATUS_ERROR;
	}
	if (parse_session(options->arguments[0], provider, &session) ||
	    check_arguments(options, session))
		return STATUS_ERROR;
	if (!session) {
		slowest = calloc(1, sizeof(*slowest));
		if (slowest)
			slowest->most = options->slowest ? options->slowest : 1;
	}
	if ((!session && !slowest) ||
	    why_open(&why, options->print.format == FORMAT_JSON,
		     session && *provider ? provider : NULL, session)) {
		elog_error("out of memory");
		free(slowest);
		return STATUS_ERROR;
	}
	signal(SIGPIPE, SIG_IGN);
	ret = run(why, options, slowest);
	why_close(why);
	free(slowest);
	return ret;
}

static const struct verb_option why_options[] = {
	{ OPTION_SLOWEST, "without SESSION: the N slowest requests; default 1" },
	{ OPTION_PENDING, "without SESSION: keep at most N STARTs that wait for their END;\n"
	  "default 131072" },
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
	.usage = "[OPTION...] [[PROVIDER:]SESSION] FILE...",
	.description =
	"Adds up what the threads that worked on a session waited for, and says who ended the\n"
	"waits, and what these threads waited for meanwhile. Without SESSION, it explains the\n"
	"slowest request of FILE, or another span: what elog latency --slowest 1 FILE finds.\n"
	"FILE has the events of the program and of the provider sched, for example those of:\n"
	"  modprobe eventlog_sched && elog capture -e sched -e shop -o FILE\n"
	"- is the standard input. Several files are merged by wall-clock time.\n"
	"\n"
	"Below a wait of a millisecond or more is where in the kernel it was.\n"
	"\n"
	"The rest of the time a thread was on a CPU, or did something else; without a wait of\n"
	"the session, this is unknown. Programs say which session a thread works on: see\n"
	"elog_session_enter(3).\n"
	"\n"
	"Exit status: 0 success; 1 an error, there is no such session, no span, no event of\n"
	"sched, or a FILE was damaged; 2 events were lost during the capture.\n",
	.options = why_options,
	.formats = 1U << FORMAT_TEXT | 1U << FORMAT_JSON,
	.run = run_why,
};
