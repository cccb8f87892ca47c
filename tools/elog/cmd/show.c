// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog show: print the events of files as elog capture prints them. Files are not
 * trusted; damage is reported on stderr.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/verb.h"
#include "output/printer.h"
#include "output/progress.h"
#include "output/sessions.h"
#include "util/signals.h"

#define FLUSH_NS	50000000ULL

struct show {
	const struct options *options;
	struct source *source;
	struct output output;
	struct printer *printer;
	struct sessions *sessions;	/* NULL: print the events */
	struct progress progress;
	uint64_t flush;			/* earliest next flush, CLOCK_MONOTONIC ns */
	uint64_t shown;
	uint64_t lost[ELOG_LOST_CAUSES_MAX];
	bool enough;			/* -n is reached */
	bool failed;
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

static void show_event(struct show *show, const struct entry *entry)
{
	int ret;

	if (show->sessions) {
		ret = sessions_add(show->sessions, entry);
		if (ret)
			show->output.error = ret;
	} else {
		printer_event(show->printer, entry);
	}
	show->shown++;
	show->enough = show->shown == show->options->count;
}

static void show_loss(struct show *show, const struct entry *entry)
{
	add_causes(show->lost, &entry->item);
	if (!show->sessions)
		printer_lost(show->printer, entry);
}

static void show_entry(struct show *show, const struct entry *entry)
{
	switch (entry->item.type) {
	case ELOG_ITEM_EVENT:
		show_event(show, entry);
		break;
	case ELOG_ITEM_LOST:
		show_loss(show, entry);
		break;
	case ELOG_ITEM_PART:
		if (show->options->verbose) {
			output_flush(&show->output);
			progress_clear(&show->progress);
			print_segment(entry);
		}
		break;
	case ELOG_ITEM_SYNC:
		/* The next one may take long, or be one of very many. */
		if (monotonic() >= show->flush) {
			output_flush(&show->output);
			show->flush = monotonic() + FLUSH_NS;
		}
		progress_update(&show->progress, show->source, show->shown);
		break;
	case ELOG_ITEM_DAMAGE:
		output_flush(&show->output);
		progress_clear(&show->progress);
		source_print_damage(entry);
		break;
	}
}

static void show_all(struct show *show)
{
	struct entry entry;
	bool over;
	int ret;

	while (!show->enough && !show->output.closed && !show->output.error &&
	       !signals_stops()) {
		ret = source_next(show->source, &entry);
		if (ret > 0) {
			show_entry(show, &entry);
			continue;
		}
		if (ret != -EAGAIN) {
			show->failed |= ret < 0;
			if (ret < 0)
				elog_error("%s", strerror(-ret));
			return;
		}
		output_flush(&show->output);
		source_wait(show->source, -1, &over);
	}
}

static int summarize(struct show *show)
{
	struct elog_text causes = { 0 };
	uint64_t lost = put_causes(show->lost, ELOG_LOST_CAUSES_MAX, &causes);

	/* Of what was printed, a reader such as head(1) may have taken any part. */
	if (!show->options->quiet && !show->output.closed)
		fprintf(stderr, "elog: %" PRIu64 " event%s, lost %" PRIu64 "%s\n",
			show->shown, show->shown == 1 ? "" : "s", lost,
			causes.data ? causes.data : "");
	elog_text_free(&causes);
	show->failed |= source_failed(show->source);
	show->failed |= source_finish(show->source);
	if (show->failed)
		return STATUS_ERROR;
	return lost ? STATUS_LOST : STATUS_OK;
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
	if (options->session_summary && options->print.fields) {
		elog_error("--fields does not go with --session-summary");
		return -EINVAL;
	}
	return 0;
}

static int run_show(const struct options *options)
{
	struct show show = { .options = options };
	int ret = STATUS_ERROR, error;

	if (check_options(options))
		return STATUS_ERROR;
	if (source_open_files(&show.source, &options->select, &options->source,
			      options->arguments, options->argument_count))
		return STATUS_ERROR;
	output_open(&show.output, options->color, options->separated);
	if (source_follows(show.source))
		signals_catch(0);
	if (!options->source.follow && !options->no_pager)
		output_page(&show.output);
	progress_start(&show.progress, !options->quiet && !options->source.follow, &show.output);
	if (options->session_summary ? sessions_open(&show.sessions, &options->print) :
	    printer_open(&show.printer, &options->print, &show.output))
		goto out;
	signal(SIGPIPE, SIG_IGN);
	show_all(&show);
	progress_clear(&show.progress);
	if (show.sessions && sessions_print(show.sessions, &show.output)) {
		elog_error("out of memory");
		show.failed = true;
	}
	error = output_close(&show.output);
	if (error) {
		if (error == -ECHILD)
			elog_error("there is no such pager");
		else
			elog_error("cannot write to stdout: %s", strerror(-error));
		show.failed = true;
	}
	ret = summarize(&show);
out:
	output_close(&show.output);
	printer_close(show.printer);
	sessions_close(show.sessions);
	source_close(show.source);
	return ret;
}

static const struct verb_option show_options[] = {
	{ 'e', NULL }, { 'k', NULL }, { 'l', NULL }, { 's', NULL },
	{ 'p', NULL }, { 't', NULL }, { 'C', NULL }, { 'f', NULL },
	{ OPTION_HOST, NULL }, { OPTION_SINCE, NULL }, { OPTION_UNTIL, NULL }, { OPTION_AROUND, NULL },
	{ 'n', NULL }, { OPTION_TIME, NULL }, { OPTION_IDS, NULL },
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
