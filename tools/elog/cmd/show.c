// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog show: print the events of files as elog capture prints them. Files are not
 * trusted; damage is reported on stderr.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cmd/verb.h"
#include "export/visit.h"
#include "output/printer.h"
#include "output/sessions.h"
#include "output/tail.h"

#define FLUSH_NS	50000000ULL

struct show {
	const struct options *options;
	struct visit *visit;
	struct output output;
	struct printer *printer;
	struct sessions *sessions;	/* NULL: print the events */
	bool keeps;			/* --tail: nothing is printed yet */
	struct tail tail;
	uint64_t flush;			/* earliest next flush, CLOCK_MONOTONIC ns */
};

static void print_segment(const struct entry *entry)
{
	static const char *const keys[] = {
		"host", "machine", "kernel", "elog", "command",
	};
	struct elog_text text = { 0 };
	const char *value;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		value = elog_reader_info(entry->reader, keys[i]);
		if (!value)
			continue;
		elog_text_printf(&text, " %s=", keys[i]);
		elog_text_quoted(&text, value, strlen(value));
	}
	fprintf(stderr, "elog: %s:%s\n", entry->file, text.data ? text.data : "");
	elog_text_free(&text);
}

/* -EPIPE: the reader has seen enough. */
static int output_state(const struct show *show)
{
	return show->output.closed ? -EPIPE : show->output.error;
}

/* @from: where the line of an event or of a loss begins in the output */
static int take_line(struct show *show, bool is_loss, size_t from)
{
	int ret = show->keeps ? tail_take(&show->tail, is_loss, &show->output.text, from) : 0;

	output_check(&show->output);
	return ret ? : output_state(show);
}

static int show_event(void *context, struct visit_event *event)
{
	struct show *show = context;
	const size_t from = show->output.text.size;

	if (show->sessions)
		return sessions_add(show->sessions, event->entry);
	printer_event(show->printer, event->entry, NULL);
	return take_line(show, false, from);
}

static int show_loss(void *context, const struct entry *entry, uint64_t count)
{
	struct show *show = context;
	const size_t from = show->output.text.size;

	(void)count;
	if (!show->sessions)
		printer_lost(show->printer, entry);
	return take_line(show, true, from);
}

static void put_tail(struct show *show)
{
	tail_put(&show->tail, &show->output.text);
	show->keeps = false;
}

static int flush(void *context, bool over)
{
	struct show *show = context;

	(void)over;
	output_flush(&show->output);
	return output_state(show);
}

static int flush_at_end(void *context, bool over)
{
	struct show *show = context;

	/* What is there was read: the rest follows. */
	if (show->visit->drained && show->options->source.follow)
		put_tail(show);
	return flush(show, over);
}

static int show_segment(void *context, const struct entry *entry)
{
	struct show *show = context;
	int ret;

	if (!show->options->verbose)
		return 0;
	ret = flush(show, false);
	progress_clear(&show->visit->progress);
	print_segment(entry);
	return ret;
}

/* The next one may take long, or be one of very many. */
static int sync_output(void *context, const struct entry *entry)
{
	struct show *show = context;

	(void)entry;
	if (monotonic() < show->flush)
		return 0;
	show->flush = monotonic() + FLUSH_NS;
	return flush(show, false);
}

/* It is printed behind the events before it. */
static int flush_before_damage(void *context, const struct entry *entry)
{
	(void)entry;
	return flush(context, false);
}

static const struct visit_ops show_ops = {
	.segment = show_segment,
	.event = show_event,
	.lost = show_loss,
	.damage = flush_before_damage,
	.sync = sync_output,
	.idle = flush_at_end,
};

/* Return: the exit status. */
static int finish(struct show *show, int ret)
{
	bool failed = ret && ret != -EPIPE;

	put_tail(show);
	if (show->sessions && sessions_print(show->sessions, &show->output)) {
		elog_error("out of memory");
		failed = true;
	}
	if (ret && ret != -EPIPE && ret != show->output.error)
		elog_error("%s", strerror(-ret));
	ret = output_close(&show->output);
	if (ret == -ECHILD)
		elog_error("there is no such pager");
	else if (ret)
		elog_error("cannot write to stdout: %s", strerror(-ret));
	/* Of what was printed, a reader such as head(1) may have taken any part. */
	show->visit->silent = show->output.closed;
	return visit_finish(show->visit, failed || ret);
}

static int check_options(const struct options *options)
{
	if (!options->argument_count) {
		elog_error("FILE is missing");
		elog_hint("try: elog show --help");
		return -EINVAL;
	}
	if (options->source.follow && options->argument_count > 1) {
		elog_error("--follow needs exactly one FILE");
		return -EINVAL;
	}
	if (options->session_summary && (options->print.fields || options->tail)) {
		elog_error("%s does not go with --session-summary",
			   options->tail ? "--tail" : "--fields");
		return -EINVAL;
	}
	if (options->count && options->tail) {
		elog_error("-n does not go with --tail: it ends after the first events");
		return -EINVAL;
	}
	return 0;
}

static int run_show(const struct options *options)
{
	struct visit_settings settings = options->visit;
	struct show show = {
		.options = options,
		.keeps = options->tail,
		.tail.most = options->tail - 1,
	};
	int ret = STATUS_ERROR;

	if (check_options(options))
		return STATUS_ERROR;
	settings.spans = NULL;
	settings.whole = false;
	settings.to_stdout = true;
	if (visit_open(&show.visit, &settings, &show_ops, &show))
		return STATUS_ERROR;
	output_open(&show.output, options->color, options->separated);
	if (!options->source.follow && !options->no_pager)
		output_page(&show.output);
	if (options->session_summary ? sessions_open(&show.sessions, &options->print) :
	    printer_open(&show.printer, &options->print, &show.output.text, show.output.colour))
		goto out;
	signal(SIGPIPE, SIG_IGN);
	ret = finish(&show, visit_run(show.visit));
out:
	tail_put(&show.tail, NULL);
	output_close(&show.output);
	printer_close(show.printer);
	sessions_close(show.sessions);
	visit_close(show.visit);
	return ret;
}

static const struct verb_option show_options[] = {
	{ 'e', NULL }, { 'k', NULL }, { 'l', NULL }, { 's', NULL },
	{ 'p', NULL }, { 't', NULL }, { 'C', NULL }, { 'f', NULL },
	{ OPTION_HOST, NULL }, { OPTION_SINCE, NULL }, { OPTION_UNTIL, NULL }, { OPTION_AROUND, NULL },
	{ 'n', NULL }, { OPTION_TAIL, NULL }, { OPTION_TIME, NULL }, { OPTION_IDS, NULL },
	{ OPTION_FORMAT, "text (default), json: one object per line, or csv" },
	{ OPTION_FIELDS, NULL }, { OPTION_SESSION_SUMMARY, NULL },
	{ OPTION_FOLLOW, NULL }, { OPTION_COLOR, NULL }, { OPTION_NO_PAGER, NULL },
	{ 'q', "no summary, no progress" },
	{ 'v', "print the origin of each capture: host, kernel, command" },
	{ 0, NULL },
};

const struct verb verb_show = {
	.name = "show",
	.summary = "print the events of files that capture -o wrote",
	.usage = "[OPTION...] FILE...",
	.description =
	"Prints the events of FILE as elog capture prints them; - is the standard input.\n"
	"Several files are merged by wall-clock time; so are the captures that elog ship has\n"
	"sent, if FILE is nats://HOST[:PORT][,HOST...][/STREAM]. Damaged parts are skipped and\n"
	"reported. On a terminal, output goes through a pager.\n"
	"\n"
	"Exit status: 0 success; 1 an error, or a FILE was damaged; 2 events were lost\n"
	"during the capture.\n",
	.options = show_options,
	.formats = 1U << FORMAT_TEXT | 1U << FORMAT_JSON | 1U << FORMAT_CSV,
	.run = run_show,
};
