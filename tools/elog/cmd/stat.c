// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog stat: count live events or the events of files, and print a table, or counts
 * for Prometheus.
 *
 * The live loop sleeps until a ring is half full, or for 100 ms, then counts one batch.
 * It reads only the headers of events, unless there is -f.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/kernel_counts.h"
#include "cmd/verb.h"
#include "input/missing.h"
#include "output/metrics.h"
#include "output/output.h"
#include "output/progress.h"
#include "output/report.h"
#include "util/signals.h"

#define BATCH_MS	100
#define INTERVAL_MIN	10000000ULL	/* ns */

struct stat_run {
	const struct options *options;
	enum counters_order order;
	struct live live;
	bool from_files;
	struct source *source;
	struct kernel_counts *kernel;	/* --bpf: instead of a source */
	struct counters *counters;
	struct output output;		/* stdout or the text of the file */
	int file;			/* of -o; -1: none */
	struct progress progress;
	uint64_t printed;		/* time of the last table, CLOCK_MONOTONIC ns */
	bool continued;			/* a table was printed before */
	bool enough;			/* -n is reached */
	bool damaged;			/* a ring was damaged */
	bool failed;			/* and the error was printed */
	int error;			/* to be printed at the end */
};

static bool is_going(const struct stat_run *run)
{
	return !run->enough && !run->failed && !run->error && !run->output.closed;
}

/* ------------------------------------------------------------------------
 * Printing
 */

static bool to_file(const struct options *options)
{
	return options->output && strcmp(options->output, "-");
}

static int write_all(struct stat_run *run)
{
	const struct elog_text *text = &run->output.text;

	if (text->error)
		return text->error;
	if (run->options->print.format == FORMAT_PROMETHEUS)
		return metrics_write(run->options->output, text);
	return output_write(run->file, text->data, text->size);
}

/* Allow signals meanwhile: a pipe may have no reader. */
static int write_file(struct stat_run *run)
{
	int ret;

	signals_let_in();
	ret = write_all(run);
	signals_hold();
	return ret;
}

static void print(struct stat_run *run, uint64_t span, uint64_t interval)
{
	const struct report report = {
		.settings = &run->options->print, .span = span, .interval = interval,
		.repeated = run->options->interval, .continued = run->continued,
	};
	int ret;

	run->continued = true;
	if (run->options->print.format == FORMAT_PROMETHEUS) {
		metrics_put(run->counters, !run->from_files, &run->output.text);
	} else {
		counters_sort(run->counters, run->order);
		report_rows(&report, run->counters, &run->output.text);
	}
	if (!to_file(run->options)) {
		output_flush(&run->output);
		return;
	}
	ret = write_file(run);
	run->output.text.size = 0;
	if (!ret)
		return;
	elog_error("%s: %s", run->options->output, strerror(-ret));
	run->failed = true;
}

/* ------------------------------------------------------------------------
 * Counting
 */

static void take(struct stat_run *run, const struct entry *entry)
{
	struct counter_row *row;

	switch (entry->item.type) {
	case ELOG_ITEM_EVENT:
		run->error = counters_add(run->counters, entry, &row);
		run->enough = run->counters->total.events == run->options->count;
		break;
	case ELOG_ITEM_LOST:
		run->error = counters_add_lost(run->counters, &entry->item,
					       run->from_files);
		break;
	case ELOG_ITEM_SYNC:
		progress_update(&run->progress, run->source,
				run->counters->total.events);
		break;
	case ELOG_ITEM_DAMAGE:
		progress_clear(&run->progress);
		source_print_damage(entry);
		break;
	case ELOG_ITEM_PART:
		break;
	}
}

/* Take all events of the files, or of a live batch. */
static void take_all(struct stat_run *run)
{
	struct entry entry;
	int ret;

	while (is_going(run)) {
		ret = source_next(run->source, &entry);
		if (!ret)
			return;
		if (ret > 0)
			take(run, &entry);
		else if (ret == -EBADMSG)
			run->damaged = true;
		else
			run->error = ret;
	}
}

static void count_files(struct stat_run *run)
{
	const struct counters *counters = run->counters;
	uint64_t span;

	progress_start(&run->progress, !run->options->quiet, &run->output);
	take_all(run);
	progress_clear(&run->progress);
	/* Times in a file may be anything. */
	span = (uint64_t)counters->final - (uint64_t)counters->first;
	counters_rates(run->counters, span);
	if (!run->error && !source_is_unreadable(run->source))
		print(run, span, 0);
	run->live.ended = span;
}

/* Read losses from the kernel; with --bpf, all counts. */
static void read_kernel(struct stat_run *run)
{
	int ret = run->kernel ? kernel_counts_read(run->kernel, run->counters) :
				counters_read_lost(run->counters, &run->live);

	if (ret && !run->error)
		run->error = ret;
}

static void end_interval(struct stat_run *run)
{
	uint64_t now = monotonic();

	read_kernel(run);
	counters_mark(run->counters, now);
	if (!run->error)
		print(run, now - run->live.started, now - run->printed);
	run->printed = now;
}

/* Milliseconds until the next table or batch; -1: there is none. */
static int left(const struct stat_run *run)
{
	uint64_t interval = run->options->interval, passed;
	int most = run->kernel ? INT_MAX : BATCH_MS;

	if (!interval)
		return run->kernel ? -1 : most;
	passed = monotonic() - run->printed;
	if (passed >= interval)
		return 0;
	passed = (interval - passed + 999999) / 1000000;
	return passed < (uint64_t)most ? (int)passed : most;
}

static void count_batch(struct stat_run *run)
{
	int ret;

	ret = live_flush(&run->live);
	if (ret)
		run->error = ret;
	take_all(run);
}

static void count_live(struct stat_run *run)
{
	const struct options *options = run->options;
	struct live *live = &run->live;
	bool over = false;
	int ret;

	run->printed = live->started;
	/* Write the file at once: readers need not wait, and errors show now. */
	if (options->interval && to_file(options) &&
	    options->print.format == FORMAT_PROMETHEUS)
		end_interval(run);
	while (!over && is_going(run)) {
		ret = live_wait(live, left(run), &over);
		if (ret < 0)
			run->error = ret;
		/* At the end FLUSH waits for records that are being emitted. */
		else if (!run->kernel && (ret || over))
			count_batch(run);
		if (!over && is_going(run) && options->interval &&
		    monotonic() - run->printed >= options->interval)
			end_interval(run);
	}
	live_end(live);
	read_kernel(run);
	counters_rates(run->counters, live->ended - live->started);
	if (!run->error && !run->failed)
		print(run, live->ended - live->started, 0);
	live->ended -= live->started;
}

/* ------------------------------------------------------------------------
 * The end
 */

static void summarize(struct stat_run *run)
{
	const struct report report = {
		.span = run->live.ended, .by_kernel = run->options->bpf,
	};
	struct elog_text text = { 0 };

	if (run->options->quiet)
		return;
	report_summary(&report, run->counters, &text);
	fprintf(stderr, "elog: %s", text.data ? text.data : "\n");
	live_print_rejected(&run->live);
	if (!run->from_files)
		missing_report(&run->live, run->counters->total.events);
	elog_text_free(&text);
}

static int final_status(struct stat_run *run)
{
	int ret = command_status(&run->live.command, run->options->quiet);

	if (!run->error)
		run->error = run->output.error;
	if (run->error)
		elog_error("%s", strerror(-run->error));
	run->failed |= !run->error && live_deleted(&run->live);
	run->failed |= live_failed(&run->live);
	run->failed |= run->source && source_finish(run->source);
	run->failed |= run->from_files && source_failed(run->source);
	if (run->error || run->failed)
		return STATUS_ERROR;
	if (!ret && (run->counters->total.lost || run->damaged))
		ret = STATUS_LOST;
	return ret;
}

/* ------------------------------------------------------------------------
 * The beginning
 */

/* Return: an option that makes no sense for files, or NULL. */
static const char *only_live(const struct options *options)
{
	if (options->live.instances)
		return "--instances";
	if (options->live.duration)
		return "-d";
	if (options->interval)
		return "--interval";
	if (options->select.sample)
		return "--sample";
	if (options->live.ring_bytes)
		return "--per-cpu-bytes";
	return NULL;
}

/* Return: an option that needs single events, not counts; or NULL. */
static const char *not_counted(const struct options *options, enum counters_by by)
{
	if (by == COUNTERS_BY_SESSION || by == COUNTERS_BY_PID || by == COUNTERS_BY_INSTANCE)
		return "--by session, pid or instance";
	if (options->live.instances)
		return "--instances";
	if (options->select.sessions.count)
		return "-s";
	if (options->select.pids.count)
		return "-p";
	if (options->select.tids.count)
		return "-t";
	if (options->select.expressions.count)
		return "-f";
	if (options->select.since.kind || options->select.until.kind)
		return "--since, --until or --around";
	if (options->select.sample)
		return "--sample";
	if (options->count)
		return "-n";
	if (options->live.ring_bytes)
		return "--per-cpu-bytes";
	return NULL;
}

static int check_options(const struct stat_run *run, enum counters_by by)
{
	const struct options *options = run->options;

	if (options->separated && options->argument_count > options->command_count) {
		elog_error("FILE and COMMAND exclude each other");
		return -EINVAL;
	}
	if (options->separated && !options->argument_count) {
		elog_error("no command follows --");
		return -EINVAL;
	}
	if (run->from_files && only_live(options)) {
		elog_error("%s does not go with a FILE", only_live(options));
		return -EINVAL;
	}
	if (run->from_files && options->bpf) {
		elog_error("--bpf does not go with a FILE");
		return -EINVAL;
	}
	if (options->bpf && not_counted(options, by)) {
		elog_error("%s does not go with --bpf: it counts by definition and CPU",
			   not_counted(options, by));
		return -EINVAL;
	}
	if (options->print.time == TIME_DELTA) {
		elog_error("--time must be mono or wall; delta is for events");
		return -EINVAL;
	}
	if (options->interval && options->interval < INTERVAL_MIN) {
		elog_error("--interval must be at least 0.01");
		return -EINVAL;
	}
	if (options->interval && options->print.format == FORMAT_PROMETHEUS &&
	    !to_file(options)) {
		elog_error("--interval with --format prometheus needs a file: add -o FILE");
		return -EINVAL;
	}
	return 0;
}

/* Open the file of -o. metrics_write() opens its file itself. */
static int open_file(struct stat_run *run)
{
	const char *path = run->options->output;

	if (!to_file(run->options) || run->options->print.format == FORMAT_PROMETHEUS)
		return 0;
	if (output_is_input(path, run->options->visit.names, run->options->visit.name_count)) {
		elog_error("%s: is an input file, and would be overwritten", path);
		return -EINVAL;
	}
	signals_let_in();
	run->file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY,
			 0666);
	signals_hold();
	if (run->file >= 0)
		return 0;
	elog_error("%s: %s", path, strerror(errno));
	return -EINVAL;
}

static int open_source(struct stat_run *run)
{
	static const struct elog_consumer_options no_rings = {
		.size = sizeof(no_rings), .flags = ELOG_CONSUMER_NO_RINGS,
	};
	const struct options *options = run->options;

	if (run->from_files)
		return source_open_files(&run->source, &options->select, &options->source,
					 options->arguments, options->argument_count);
	signals_catch(0);
	if (live_open(&run->live, &options->select, &options->live,
		      options->bpf ? &no_rings : NULL))
		return -EINVAL;
	if (options->bpf)
		return kernel_counts_open(&run->kernel, &run->live);
	return source_open_live(&run->source, &run->live);
}

static int run_stat(const struct options *options)
{
	struct stat_run run = {
		.options = options,
		.from_files = options->argument_count && !options->separated,
		.file = -1,
	};
	int ret = STATUS_ERROR;
	enum counters_by by;

	if (!counters_by_parse(options->by, &by) ||
	    !counters_order_parse(options->sort, false, &run.order) || check_options(&run, by))
		return STATUS_ERROR;
	signal(SIGPIPE, SIG_IGN);
	output_open(&run.output, options->color, options->separated);
	if (counters_open(&run.counters, by, COUNTERS_ROWS, monotonic())) {
		elog_error("out of memory");
		goto out;
	}
	if (open_source(&run) || open_file(&run))
		goto out;
	if (run.from_files) {
		count_files(&run);
	} else {
		ret = live_start(&run.live);
		if (ret)
			goto out;
		if (!options->separated && options->verbose)
			fputs("elog: counting\n", stderr);
		count_live(&run);
	}
	summarize(&run);
	ret = final_status(&run);
out:
	source_close(run.source);
	kernel_counts_close(run.kernel);
	counters_close(run.counters);
	output_close(&run.output);
	live_close(&run.live);
	if (run.file >= 0)
		close(run.file);
	return ret;
}

static const struct verb_option stat_options[] = {
	{ OPTION_BY, "count by event (default), provider, session, pid, cpu or\n"
	  "instance" },
	{ OPTION_SORT, "events (default), bytes, rate, lost or name" },
	{ OPTION_BPF, NULL },
	{ OPTION_INTERVAL, "print the counts so far in this interval, with rates\n"
	  "since the last time" },
	{ OPTION_FORMAT, "text (default), json: one object per line, csv, or prometheus" },
	{ 'o', "write to FILE instead of stdout; with --format prometheus\n"
	  "replace it atomically" },
	{ 'e', NULL }, { 'k', NULL }, { 'l', NULL }, { 's', NULL },
	{ 'p', NULL }, { 't', NULL }, { 'C', NULL }, { 'f', NULL },
	{ OPTION_HOST, NULL }, { OPTION_SINCE, NULL }, { OPTION_UNTIL, NULL }, { OPTION_AROUND, NULL },
	{ OPTION_SAMPLE, NULL }, { 'n', NULL }, { 'd', NULL },
	{ OPTION_PER_CPU_BYTES, NULL },
	{ OPTION_TIME, "time of the last event: seconds of the monotonic clock\n"
	  "(default), or local time" },
	{ 'D', NULL }, { OPTION_OF_INSTANCES, NULL },
	{ 'q', NULL },
	{ 'v', "print a line when counting starts, and what the kernel\n"
	  "decides of -f; with --bpf, also print the sizes of events" },
	{ 0, NULL },
};

const struct verb verb_stat = {
	.name = "stat",
	.summary = "count live events, or events of files",
	.usage = "[OPTION...] [FILE... | -- COMMAND [ARGUMENT...]]",
	.description =
	"Counts all events, or those that the options select, until Ctrl-C or while COMMAND\n"
	"runs. With FILE, counts the events of files that elog capture -o wrote. Prints a\n"
	"table:\n"
	"  EVENT LEVEL EVENTS EVENTS/S BYTES BYTES/S LOST INVALID LAST\n"
	"BYTES counts payloads, LEVEL is the most severe one, LAST is the time of the last\n"
	"event. INVALID counts events that a program emitted with wrong values. It and LOST\n"
	"are - if they are unknown. A summary goes to stderr.\n"
	"\n"
	"With --bpf, the kernel counts, and only the counts leave it: no event is lost, and\n"
	"counting can run permanently.\n"
	"\n"
	"With --format prometheus -o FILE.prom --interval 15, it keeps counts where the\n"
	"\"textfile\" collector of node_exporter finds them.\n"
	"\n"
	"Exit status: 0 success; 1 an error, or a FILE was damaged; 2 events were lost; if\n"
	"COMMAND failed, its status, as with elog capture.\n",
	.options = stat_options,
	.formats = 1U << FORMAT_TEXT | 1U << FORMAT_JSON | 1U << FORMAT_CSV |
		   1U << FORMAT_PROMETHEUS,
	.run = run_stat,
};
