// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog report: one page of HTML about files: rate, latency, slowest sessions, losses. The
 * file is replaced at the end, so that it is whole or as it was.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/verb.h"
#include "export/report_page.h"
#include "output/output.h"
#include "util/output_file.h"
#include "util/signals.h"

static bool to_stdout(const struct options *options)
{
	return !options->output || !strcmp(options->output, "-");
}

static int check_options(const struct options *options)
{
	if (!options->argument_count) {
		elog_error("FILE is missing");
		elog_hint("try: elog report --help");
		return -EINVAL;
	}
	if (!options->output && isatty(STDOUT_FILENO)) {
		elog_error("the page is not for a terminal: add -o FILE");
		return -EINVAL;
	}
	if (!to_stdout(options) &&
	    output_is_input(options->output, options->arguments, options->argument_count)) {
		elog_error("%s: is an input file, and would be overwritten", options->output);
		return -EINVAL;
	}
	return to_stdout(options) || !output_refuse(options->output) ? 0 : -EINVAL;
}

static int write_page(const struct options *options, const struct elog_text *text)
{
	struct stat now;
	int ret;

	if (text->error)
		ret = text->error;
	else if (to_stdout(options))
		ret = output_write(STDOUT_FILENO, text->data, text->size);
	else if (!stat(options->output, &now) && !S_ISREG(now.st_mode))
		/* A device or a pipe stays what it is. */
		ret = output_write_file(options->output, text);
	else
		ret = output_replace(options->output, text, false);
	/* The reader of a pipe has seen enough. */
	if (ret == -EPIPE)
		ret = 0;
	if (ret)
		elog_error("cannot write to %s: %s", to_stdout(options) ? "stdout" :
			   options->output, strerror(-ret));
	return ret;
}

static int make_report(const struct options *options, struct report_data *data)
{
	struct elog_text text = { 0 };
	struct visit *visit;
	int ret;

	if (visit_open(&visit, &options->visit, &report_ops, data))
		return STATUS_ERROR;
	ret = visit_run(visit);
	if (!ret)
		ret = report_sessions(data, visit_has_failed(visit));
	if (ret == -E2BIG) {
		elog_error("the files have more than %d kinds of events", VISIT_KINDS_MAX);
	} else if (ret < 0) {
		elog_error("%s", strerror(-ret));
	} else if (!ret && data->file_count) {
		report_page(data, visit, &text);
		ret = write_page(options, &text);
	}
	/* Without a segment no file could be read, which was printed: there is no page. */
	elog_text_free(&text);
	ret = visit_finish(visit, ret);
	visit_close(visit);
	return ret;
}

static int run_report(const struct options *options)
{
	struct report_data *data;
	int ret;

	if (check_options(options))
		return STATUS_ERROR;
	signal(SIGPIPE, SIG_IGN);
	if (report_data_open(&data, &options->visit)) {
		elog_error("out of memory");
		return STATUS_ERROR;
	}
	data->utc = options->print.time == TIME_UNIVERSAL;
	ret = make_report(options, data);
	report_data_close(data);
	return ret;
}

static const struct verb_option report_options[] = {
	{ 'o', "write the page to FILE, which is replaced at the end; -: stdout" },
	{ OPTION_SPAN, NULL },
	{ OPTION_BY, "START and END have equal values of these, instead of the same\n"
	  "session: names of fields, session, pid, tid, cpu, separated by\n"
	  "commas" },
	{ OPTION_PENDING, "keep at most N STARTs that wait for their END; default 131072" },
	{ 'e', NULL }, { 'k', NULL }, { 'l', NULL }, { 's', NULL },
	{ 'p', NULL }, { 't', NULL }, { 'C', NULL }, { 'f', NULL },
	{ OPTION_HOST, NULL }, { OPTION_SINCE, NULL }, { OPTION_UNTIL, NULL }, { OPTION_AROUND, NULL },
	{ 'n', NULL }, { OPTION_ZONE, NULL },
	{ 'q', "no summary, no progress" },
	{ 0, NULL },
};

const struct verb verb_report = {
	.name = "report",
	.summary = "make a page of charts of files that capture -o wrote",
	.usage = "[OPTION...] FILE... -o PAGE",
	.description =
	"Writes one page of HTML about the events of FILE: their rate, the latency of spans\n"
	"over time with percentiles, its distribution, the slowest sessions and their events,\n"
	"the most frequent events and processes, and losses where they happened. The page\n"
	"needs no other file and no network: open it in a browser, mail it, print it.\n"
	"- is the standard input. Several files are merged by wall-clock time.\n"
	"\n"
	"Exit status: 0 success; 1 an error, or a FILE was damaged; 2 events were lost\n"
	"during the capture.\n",
	.options = report_options,
	.run = run_report,
};
