// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog export: writes the events of files in formats that other programs open, or sends them
 * to a receiver. The formats are in export/.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/verb.h"
#include "export/export.h"
#include "output/output.h"

static const struct export_format *const formats[FORMATS] = {
	[FORMAT_JSONL] = &export_lines,
	[FORMAT_CSV] = &export_lines,
	[FORMAT_PERFETTO] = &export_perfetto,
	[FORMAT_PARQUET] = &export_parquet,
};

static int check_options(const struct options *options, const struct export_format *format)
{
	if (!options->argument_count) {
		elog_error("FILE is missing");
	} else if (options->otlp && options->print.format != FORMAT_TEXT) {
		elog_error("--format does not go with --otlp");
	} else if (options->otlp && options->output) {
		elog_error("-o does not go with --otlp");
	} else if (!format) {
		elog_error("--format is missing");
	} else if (format->directory && (!options->output || !strcmp(options->output, "-"))) {
		elog_error("--format parquet writes a directory, a file for each event: "
			   "add -o DIRECTORY");
	} else if (format->binary && (!options->output || !strcmp(options->output, "-")) &&
		   isatty(STDOUT_FILENO)) {
		elog_error("stdout is a terminal: add -o FILE");
	} else if (options->output &&
		   output_is_input(options->output, options->arguments, options->argument_count)) {
		elog_error("%s: is an input file, and would be overwritten", options->output);
		return -EINVAL;
	} else {
		return 0;
	}
	elog_hint("try: elog export --help");
	return -EINVAL;
}

/* Print why the output is not complete. Return: false if nothing failed. */
static bool print_error(const struct export *export, int error)
{
	const char *output = strcmp(export->output, "-") ? export->output : "stdout";

	/* Whoever closes a pipe has read enough. */
	if (!error || error == -EPIPE)
		return false;
	if (error == -EREMOTEIO)
		return true;
	if (error == -ENOMEM)
		elog_error("out of memory");
	else if (error == -E2BIG)
		elog_error("the files have more than %d kinds of events", VISIT_KINDS_MAX);
	else if (export->receiver)
		elog_error("later events are missing");
	else
		elog_error("%s: %s: events are missing from number %" PRIu64 " on; "
			   "what is in it is valid", output, strerror(-error),
			   export->visit->events);
	return true;
}

static int run(struct export *export, const struct export_format *format)
{
	const bool has_sink = !format->directory && !format->remote;
	int ret, error;

	if (has_sink && sink_open(&export->sink, export->output))
		return STATUS_ERROR;
	ret = format->open ? format->open(export) : 0;
	if (ret) {
		if (ret == -ENOMEM)
			elog_error("out of memory");
		return STATUS_ERROR;
	}
	ret = visit_run(export->visit);
	error = format->finish ? format->finish(export) : 0;
	ret = ret ? : error;
	if (has_sink) {
		error = sink_close(&export->sink);
		ret = ret ? : error;
	}
	return visit_finish(export->visit, print_error(export, ret));
}

static int run_export(const struct options *options)
{
	const struct export_format *format = options->otlp ? &export_otlp :
					     formats[options->print.format];
	struct export export = {
		.settings = &options->visit,
		.csv = options->print.format == FORMAT_CSV,
		.receiver = options->otlp,
		.output = options->output ? options->output : "-",
		.sink.fd = -1,
	};
	struct event_kind *kind;
	int ret = STATUS_ERROR;

	if (check_options(options, format))
		return STATUS_ERROR;
	signal(SIGPIPE, SIG_IGN);
	if (visit_open(&export.visit, &options->visit, &format->ops, &export))
		return STATUS_ERROR;
	ret = run(&export, format);
	if (export.sink.fd >= 0)
		sink_close(&export.sink);
	for (kind = export.visit->kinds; kind && format->close_kind; kind = kind->next)
		format->close_kind(kind);
	if (format->close)
		format->close(&export);
	visit_close(export.visit);
	return ret;
}

static const struct verb_option export_options[] = {
	{ OPTION_FORMAT, "jsonl: JSON Lines; csv: comma-separated values; perfetto: a\n"
	  "trace for ui.perfetto.dev; parquet: a directory with a table\n"
	  "for each event, and for spans and losses" },
	{ 'o', "write to FILE instead of stdout; with --format parquet, to the\n"
	  "directory FILE, which is new or empty" },
	{ OPTION_OTLP, "send log records and spans to this receiver of OpenTelemetry,\n"
	  "http[s]://HOST[:PORT][/PATH], instead of --format" },
	{ OPTION_SPAN, NULL },
	{ OPTION_BY, "START and END have equal values of these, instead of the same\n"
	  "session: names of fields, session, pid, tid, cpu, separated by\n"
	  "commas" },
	{ OPTION_PENDING, "keep at most N STARTs that wait for their END; default 131072" },
	{ 'e', NULL }, { 'k', NULL }, { 'l', NULL }, { 's', NULL },
	{ 'p', NULL }, { 't', NULL }, { 'C', NULL }, { 'f', NULL },
	{ OPTION_HOST, NULL }, { OPTION_SINCE, NULL }, { OPTION_UNTIL, NULL }, { OPTION_AROUND, NULL },
	{ 'n', NULL },
	{ 'q', "no summary, no progress" },
	{ 0, NULL },
};

const struct verb verb_export = {
	.name = "export",
	.summary = "write the events of files in formats of other programs",
	.usage = "--format FORMAT|--otlp URL [OPTION...] FILE...",
	.description =
	"Writes the events of FILEs, which elog capture -o wrote, in a format that other\n"
	"programs open, or sends them to a receiver; - is the standard input. Several files are\n"
	"merged by wall-clock time. Lost events are in the output where they were lost. Damaged\n"
	"parts are skipped and reported.\n"
	"\n"
	"Exit status: 0 success; 1 an error, or a FILE was damaged; 2 events were lost\n"
	"during the capture.\n",
	.options = export_options,
	.formats = 1U << FORMAT_JSONL | 1U << FORMAT_CSV | 1U << FORMAT_PERFETTO |
		   1U << FORMAT_PARQUET,
	.run = run_export,
};
