// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog stat: count live events or the events of files, and print a table, or counts
 * for Prometheus.
 *
 * The live loop sleeps until a ring is half full, or for 100 ms, then counts one batch.
 * It reads only the headers of events, unless there is -f.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/kernel_counts.h"
#include "cmd/verb.h"
#include "export/visit.h"
#include "input/missing.h"
#include "output/metrics.h"
#include "output/output.h"
#include "output/report.h"
#include "util/output_file.h"
#include "util/signals.h"

#define BATCH_MS	100
#define INTERVAL_MIN	10000000ULL	/* ns */

struct stat_run {
	const struct options *options;
	struct print_settings print;	/* of @options, with a format of time */
	enum counters_order order;
	struct live live;
	bool from_files;
	struct visit_settings settings;
	struct visit *visit;		/* NULL with --bpf */
	struct kernel_counts *kernel;	/* --bpf */
	struct counters *counters;
	struct output output;		/* stdout or the text of the file */
	int file;			/* of -o; -1: none */
	uint64_t printed;		/* time of the last table, CLOCK_MONOTONIC ns */
	uint64_t span;			/* the time of counting, ns */
	bool continued;			/* a table was printed before */
	bool is_present;		/* --follow: what was there at the start was read */
	bool failed;			/* and the error was printed */
};

/* ------------------------------------------------------------------------
 * Printing
 */

static bool to_file(const struct options *options)
{
	return options->output && strcmp(options->output, "-");
}

static int write_file(struct stat_run *run)
{
	const struct elog_text *text = &run->output.text;

	if (text->error)
		return text->error;
	if (run->options->print.format == FORMAT_PROMETHEUS)
		return metrics_write(run->options->output, text);
	return output_write(run->file, text->data, text->size);
}

/* Return: 0; -EPIPE: the reader is gone, or the error was printed; or another error. */
static int print(struct stat_run *run, uint64_t interval)
{
	const struct report report = {
		.settings = &run->print, .span = run->span, .interval = interval,
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
		return run->output.closed ? -EPIPE : run->output.error;
	}
	ret = write_file(run);
	run->output.text.size = 0;
	if (!ret)
		return 0;
	elog_error("%s: %s", run->options->output, strerror(-ret));
	run->failed = true;
	return -EPIPE;
}

/* ------------------------------------------------------------------------
 * Counting
 */

static int count_event(void *context, struct visit_event *event)
{
	struct stat_run *run = context;
	struct counter_row *row;

	return counters_add(run->counters, event->entry, &row);
}

static int count_loss(void *context, const struct entry *entry, uint64_t count)
{
	struct stat_run *run = context;

	(void)count;
	return counters_add_lost(run->counters, entry, run->from_files);
}

/* Read losses from the kernel; with --bpf, all counts. */
static int read_kernel(struct stat_run *run)
{
	return run->kernel ? kernel_counts_read(run->kernel, run->counters) :
			     counters_read_lost(run->counters, &run->live);
}

/* The time from the first event to the last; times in a file may be anything. */
static uint64_t events_span(const struct counters *counters)
{
	return (uint64_t)counters->final - (uint64_t)counters->first;
}

static int end_interval(struct stat_run *run)
{
	uint64_t now = monotonic();
	int ret = run->from_files ? 0 : read_kernel(run);

	counters_mark(run->counters, now);
	/* How fast a file is read is no rate of its events. */
	if (run->from_files && !run->is_present)
		counters_rates(run->counters, events_span(run->counters));
	run->span = now - run->live.started;
	if (!ret)
		ret = print(run, now - run->printed);
	run->printed = now;
	return ret;
}

static int look_at_interval(void *context, bool over)
{
	struct stat_run *run = context;
	const uint64_t interval = run->options->interval;

	/* Rates are of what is added from now on. */
	if (run->from_files && !run->is_present && run->visit->drained) {
		counters_mark(run->counters, monotonic());
		counters_rates(run->counters, events_span(run->counters));
		run->is_present = true;
	}
	return !over && interval && monotonic() - run->printed >= interval ?
	       end_interval(run) : 0;
}

static int look_while_reading(void *context, const struct entry *entry)
{
	struct stat_run *run = context;

	(void)entry;
	return run->from_files && run->options->interval &&
	       monotonic() - run->printed >= run->options->interval ? end_interval(run) : 0;
}

/* Milliseconds until the next table or batch; -1: there is none. */
static int left(void *context)
{
	const struct stat_run *run = context;
	const uint64_t interval = run->options->interval;
	const int most = run->kernel ? INT_MAX : BATCH_MS;

	if (!interval)
		return run->kernel ? -1 : most;
	return time_left(run->printed, interval, most);
}

static const struct visit_ops stat_ops = {
	.event = count_event,
	.lost = count_loss,
	.sync = look_while_reading,
	.idle = look_at_interval,
	.left = left,
};

static int count_files(struct stat_run *run)
{
	int ret;

	run->live.started = monotonic();
	run->printed = run->live.started;
	ret = visit_run(run->visit);
	run->span = events_span(run->counters);
	counters_rates(run->counters, run->span);
	return ret || visit_is_unreadable(run->visit) ? ret : print(run, 0);
}

/* The kernel counts meanwhile. */
static int wait_for_end(struct stat_run *run)
{
	bool over = false;
	int ret = 0;

	while (!over && ret >= 0) {
		ret = live_wait(&run->live, left(run), &over);
		if (ret >= 0)
			ret = look_at_interval(run, over);
	}
	return ret;
}

static int count_live(struct stat_run *run)
{
	const struct options *options = run->options;
	struct live *live = &run->live;
	int ret = 0, error;

	run->printed = live->started;
	/* Write the file at once: readers need not wait, and errors show now. */
	if (options->interval && to_file(options) &&
	    options->print.format == FORMAT_PROMETHEUS)
		ret = end_interval(run);
	if (!ret)
		ret = run->kernel ? wait_for_end(run) : visit_run(run->visit);
	live->failed = ret && ret != -EPIPE;
	live_end(live);
	run->span = live->ended - live->started;
	error = read_kernel(run);
	counters_rates(run->counters, run->span);
	return ret ? : error ? : print(run, 0);
}

/* ------------------------------------------------------------------------
 * The end
 */

static void summarize(struct stat_run *run)
{
	const struct report report = {
		.span = run->span, .by_kernel = run->options->bpf,
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

static int final_status(struct stat_run *run, int error)
{
	const uint64_t lost = run->counters->total.lost;
	bool failed = run->failed;

	if (!error || error == -EPIPE)
		error = run->output.error;
	if (error)
		elog_error("%s", strerror(-error));
	failed |= error;
	if (run->visit)
		return visit_status(run->visit, failed, lost);
	if (failed || live_deleted(&run->live) || live_failed(&run->live))
		return STATUS_ERROR;
	return command_status(&run->live.command, run->options->quiet) ? :
	       lost ? STATUS_LOST : STATUS_OK;
}

/* ------------------------------------------------------------------------
 * The beginning
 */

/* Return: an option that makes no sense for files, or NULL. */
static const char *only_live(const struct options *options)
{
	const bool follow = options->source.follow;

	if (options->live.instances)
		return "--instances";
	if (options->live.duration && !follow)
		return "-d";
	if (options->interval && !follow)
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
	if (options->select.cgroups.count || options->select.units.count)
		return "--cgroup or --unit";
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
		if (options->live.duration || options->interval)
			elog_hint("add --follow to wait for more events of the FILE");
		return -EINVAL;
	}
	if (options->source.follow && (!run->from_files || options->argument_count != 1)) {
		elog_error("--follow needs exactly one FILE");
		return -EINVAL;
	}
	if (by == COUNTERS_BY_HOST && !run->from_files) {
		elog_error("--by host needs a FILE, or the URL of a stream");
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
		elog_error("--time must be mono, wall or utc; delta is for events");
		return -EINVAL;
	}
	if (options->interval && options->interval < INTERVAL_MIN) {
		elog_error("--interval must be at least 10ms");
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

	/* It is replaced by renaming. */
	if (to_file(run->options) && run->options->print.format == FORMAT_PROMETHEUS)
		return output_refuse(path) ? -EINVAL : 0;
	if (!to_file(run->options))
		return 0;
	if (run->from_files && output_is_input(path, run->options->visit.names,
					       run->options->visit.name_count)) {
		elog_error("%s: is an input file, and would be overwritten", path);
		return -EINVAL;
	}
	run->file = output_create(path);
	return run->file < 0 ? -EINVAL : 0;
}

static int open_source(struct stat_run *run)
{
	static const struct elog_consumer_options no_rings = {
		.size = sizeof(no_rings), .flags = ELOG_CONSUMER_NO_RINGS,
	};
	const struct options *options = run->options;

	run->settings = options->visit;
	run->settings.spans = NULL;
	run->settings.whole = false;
	run->settings.duration = options->live.duration;
	run->settings.to_stdout = !to_file(options);
	if (run->from_files)
		return visit_open(&run->visit, &run->settings, &stat_ops, run);
	signals_catch(0);
	if (live_open(&run->live, &options->select, &options->live,
		      options->bpf ? &no_rings : NULL))
		return -EINVAL;
	if (options->bpf)
		return kernel_counts_open(&run->kernel, &run->live);
	return visit_open_live(&run->visit, &run->settings, &run->live, &stat_ops, run);
}

static int run_stat(const struct options *options)
{
	struct stat_run run = {
		.options = options,
		.print = options->print,
		.from_files = options->argument_count && !options->separated,
		.file = -1,
	};
	int ret = STATUS_ERROR;
	enum counters_by by;

	if (!counters_by_parse(options->by, &by) ||
	    !counters_order_parse(options->sort, false, &run.order) || check_options(&run, by))
		return STATUS_ERROR;
	/* Of several hosts, monotonic times cannot be compared. */
	if (options->print.time == TIME_DEFAULT && (by == COUNTERS_BY_HOST || options->print.hosts))
		run.print.time = TIME_WALL;
	signal(SIGPIPE, SIG_IGN);
	output_open(&run.output, options->color, options->separated);
	if (counters_open(&run.counters, by, COUNTERS_ROWS, monotonic())) {
		elog_error("out of memory");
		goto out;
	}
	if (open_source(&run) || open_file(&run))
		goto out;
	if (run.from_files) {
		ret = count_files(&run);
	} else {
		ret = live_start(&run.live);
		if (ret)
			goto out;
		if (!options->separated && options->verbose)
			fputs("elog: counting\n", stderr);
		ret = count_live(&run);
	}
	summarize(&run);
	ret = final_status(&run, ret);
out:
	visit_close(run.visit);
	kernel_counts_close(run.kernel);
	counters_close(run.counters);
	output_close(&run.output);
	live_close(&run.live);
	if (run.file >= 0)
		close(run.file);
	return live_outlast(&run.live, ret);
}

static const struct verb_option stat_options[] = {
	{ OPTION_BY, "count by event (default), provider, session, pid, cpu,\n"
	  "instance or host" },
	{ OPTION_SORT, "events (default), bytes, rate, lost or name" },
	{ OPTION_BPF, NULL },
	{ OPTION_INTERVAL, "print the counts so far in this interval, with rates\n"
	  "since the last time; with FILE: needs --follow" },
	{ OPTION_FOLLOW, NULL },
	{ OPTION_FORMAT, "text (default), json: one object per line, csv, or prometheus" },
	{ 'o', "write to FILE instead of stdout; with --format prometheus\n"
	  "replace it atomically" },
	{ 'e', NULL }, { 'k', NULL }, { 'l', NULL }, { 's', NULL },
	{ 'p', NULL }, { OPTION_UNIT, NULL }, { OPTION_CGROUP, NULL },
	{ 't', NULL }, { 'C', NULL }, { 'f', NULL },
	{ OPTION_HOST, NULL }, { OPTION_SINCE, NULL }, { OPTION_UNTIL, NULL }, { OPTION_AROUND, NULL },
	{ OPTION_SAMPLE, NULL }, { 'n', NULL }, { 'd', NULL },
	{ OPTION_PER_CPU_BYTES, NULL },
	{ OPTION_TIME, "time of the last event: seconds of the monotonic clock,\n"
	  "local time, or UTC; default mono, for several hosts wall" },
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
	"runs. With FILE, counts the events of files that elog capture -o wrote; with\n"
	"--follow, also those that a file, or the stream nats://HOST, gets later. Prints a\n"
	"table:\n"
	"  LEVEL EVENTS EVENTS/S BYTES BYTES/S LOST INVALID LAST EVENT\n"
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
