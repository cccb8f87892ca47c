// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog capture: subscribe, and print events in the order of their times or
 * write them to files.
 *
 * The loop sleeps until a ring is half full or 100 ms are over, and then, if
 * there is anything, handles one batch. It ends on SIGINT, SIGTERM or SIGHUP,
 * after -n events, after -d seconds, when stdout is closed, or when COMMAND
 * has ended; except in the second and fourth case what was written until then
 * is handled.
 *
 * With --overwrite it is a flight recorder: the rings are left to themselves,
 * and what they hold is handled as one batch on SIGUSR1, when a trigger was
 * emitted, and at the end. A second consumer, opened after the first so that an
 * event reaches it last, waits for triggers.
 *
 * With -o the rings go to the file as they are, by saver.c; if not all they
 * have is for the file, event by event, by picker.c.
 *
 * What is handled event by event takes longer than the rings last, all the more if
 * who reads the output is slow. So another thread, the library's, takes it off the
 * rings meanwhile: the consumer has a backlog. A flight recorder needs none.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "background.h"
#include "picker.h"
#include "printer.h"
#include "saver.h"
#include "signals.h"

#define BATCH_MS	100
#define SYNC_NS		200000000ULL	/* from one SYNC block to the next */
#define REPORT_NS	10000000000ULL	/* from one line about loss to the next */
#define FROZEN_BYTES	(256U << 20) /* kept back while writers are held up */
#define SUB_BUFFER_BYTES 131072	/* of a flight recorder, if it is that large */
#define SUB_BUFFERS_MAX	16
#define RING_BYTES	(1U << 20) /* of a ring, by default */
#define BACKLOG_RINGS	4	/* a backlog has room for as much as so many rings */
#define THREADS		16384	/* names remembered to be in a file */
#define SPLIT_THREADS	64	/* in each of many files */

struct capture {
	const struct options *options;
	struct live live;
	struct elog_consumer *trigger;	/* NULL: there are no triggers */
	struct background *background;
	struct recording_setup setup;

	/* One of these takes the events; the last two take them from @source. */
	struct saver *saver;
	struct picker *picker;
	struct printer *printer;
	struct source *source;
	struct output output;

	unsigned int snapshots;		/* so far */
	int rotations_seen;
	uint64_t reported;		/* when loss was, CLOCK_MONOTONIC ns */
	uint64_t lost_reported;
	uint64_t shown;
	bool enough;			/* -n is reached */
	bool closed;			/* nobody takes more */
	bool damaged;			/* a ring was: records are missing */
	bool file_failed;		/* writing it did */
	bool told;			/* why it did */
	int error;			/* or reading the rings did */
};

static bool is_going(const struct capture *capture)
{
	return !capture->enough && !capture->closed && !capture->error;
}

/* Told to stop for the second time: a reader that does not read is given up. */
static bool gives_up(void *context)
{
	(void)context;
	return signals_stops() > 1;
}

/* What writing to a file has come to. */
static void note_written(struct capture *capture, int ret)
{
	if (ret == -EPIPE || ret == -EINTR) {
		capture->closed = true;
	} else if (ret) {
		capture->error = ret;
		capture->file_failed = true;
	}
}

/* What printing has come to. */
static void note_printed(struct capture *capture)
{
	capture->closed |= capture->output.closed;
	if (capture->output.error)
		capture->error = capture->output.error;
}

static void flush_output(struct capture *capture)
{
	output_flush(&capture->output);
	note_printed(capture);
}

/* ------------------------------------------------------------------------
 * Event by event
 */

static void take_entry(struct capture *capture, const struct entry *entry)
{
	bool event = entry->item.type == ELOG_ITEM_EVENT;
	int ret;

	if (capture->picker) {
		ret = picker_add(capture->picker, entry);
		if (ret)
			note_written(capture, ret);
	} else if (event) {
		printer_event(capture->printer, entry);
	} else {
		printer_lost(capture->printer, entry);
	}
	if (event) {
		capture->shown++;
		capture->enough = capture->shown == capture->options->count;
	}
	note_printed(capture);
}

/*
 * Handle the batch that has been begun. Files are written meanwhile: whoever
 * does not read a pipe is not to keep us from being told to stop.
 */
static void take_batch(struct capture *capture)
{
	struct entry entry;
	int ret;

	if (capture->picker)
		signals_let_in();
	while (is_going(capture)) {
		ret = source_next(capture->source, &entry);
		if (!ret)
			break;
		if (ret > 0) {
			take_entry(capture, &entry);
		} else if (ret == -EBADMSG) {
			capture->damaged = true;
			if (capture->printer)
				printer_remark(capture->printer,
					"a ring was damaged: records are missing");
		} else {
			capture->error = ret;
		}
	}
	if (capture->picker)
		signals_hold();
}

static void sync_picker(struct capture *capture)
{
	bool rotate = signals_rotations() != capture->rotations_seen;
	int ret;

	capture->rotations_seen = signals_rotations();
	signals_let_in();
	ret = picker_sync(capture->picker,
			  elog_consumer_time(capture->live.consumer), rotate);
	signals_hold();
	note_written(capture, ret);
}

static void flush_batch(struct capture *capture)
{
	int ret;

	ret = flush_consumer(capture->live.consumer);
	if (ret) {
		capture->error = ret;
		return;
	}
	take_batch(capture);
	if (capture->printer)
		flush_output(capture);
	else if (!capture->closed && !capture->error)
		sync_picker(capture);
}

/* ------------------------------------------------------------------------
 * The flight recorder
 */

/*
 * Events are held up, and lost, only while they are turned into text or records,
 * not while that is written, unless it is more than FROZEN_BYTES.
 */
static void take_snapshot(struct capture *capture, const char *reason)
{
	struct elog_consumer *consumer = capture->live.consumer;
	size_t limit = capture->output.limit;
	char heading[64];
	int ret;

	snprintf(heading, sizeof(heading), "snapshot %u: %s",
		 ++capture->snapshots, reason);
	if (capture->printer)
		printer_remark(capture->printer, heading);
	ret = elog_consumer_pause(consumer);
	if (ret) {
		capture->error = ret;
		return;
	}
	capture->output.limit = FROZEN_BYTES;
	take_batch(capture);
	capture->output.limit = limit;
	ret = elog_consumer_resume(consumer);
	if (ret)
		capture->error = ret;
	if (capture->printer)
		flush_output(capture);
	else if (!capture->closed && !capture->error)
		sync_picker(capture);
}

/* As many sub-buffers as leave room for the largest event: only one is lost at a time. */
static uint32_t recorder_sub_buffers(uint64_t ring_bytes)
{
	uint32_t count = 2;

	while (count < SUB_BUFFERS_MAX && ring_bytes / count > SUB_BUFFER_BYTES)
		count *= 2;
	return count;
}

static int open_trigger(struct capture *capture)
{
	const struct options *options = capture->options;
	struct elog_consumer_options consumer_options = {
		.size = sizeof(consumer_options),
		.ring_bytes = 2 * (uint64_t)sysconf(_SC_PAGESIZE),
		.watermark = 1,
	};
	int ret;

	ret = elog_consumer_open(&capture->trigger, &consumer_options);
	if (ret) {
		explain_trouble(ret, PURPOSE_CONSUME);
		return ret;
	}
	return rules_add_globs(capture->trigger, options->triggers,
			       options->trigger_count);
}

/* Wait for a trigger, a signal, or the end of -d. */
static int wait_for_snapshot(struct capture *capture)
{
	int milliseconds = live_left(&capture->live, -1);

	if (capture->trigger)
		return elog_consumer_wait(capture->trigger, milliseconds,
					  signals_mask());
	signals_sleep(milliseconds);
	return 0;
}

/* Forget the triggers that there were: one snapshot is for all of them. */
static int drain_trigger(struct capture *capture)
{
	struct elog_item item;
	int ret;

	ret = flush_consumer(capture->trigger);
	if (ret)
		return ret;
	while (elog_consumer_next(capture->trigger, &item))
		;
	return 0;
}

/*
 * Everything that a signal may have said is looked at before sleeping: signals
 * are let in while a snapshot is written, too, and the sleep has no end.
 */
static void run_recorder(struct capture *capture)
{
	int asked_seen = 0, ret;

	while (is_going(capture)) {
		if (live_over(&capture->live)) {
			take_snapshot(capture, "the end");
			return;
		}
		if (asked_seen != signals_snapshots()) {
			asked_seen = signals_snapshots();
			take_snapshot(capture, "asked for");
			continue;
		}
		if (capture->picker &&
		    capture->rotations_seen != signals_rotations()) {
			sync_picker(capture);
			continue;
		}
		ret = wait_for_snapshot(capture);
		if (ret > 0) {
			ret = drain_trigger(capture);
			if (!ret)
				take_snapshot(capture, "triggered");
		}
		if (ret < 0 && ret != -EINTR)
			capture->error = ret;
	}
}

/* ------------------------------------------------------------------------
 * The loops
 */

/* Who only looks at a log afterwards is to learn when it was. */
static void report_loss(struct capture *capture)
{
	struct eventlog_stat stat;
	uint64_t lost, now = monotonic();

	if (capture->options->quiet || now - capture->reported < REPORT_NS)
		return;
	capture->reported = now;
	if (live_lost(&capture->live, &stat, &lost) ||
	    lost == capture->lost_reported)
		return;
	fprintf(stderr, "elog: %" PRIu64 " more events were lost, %" PRIu64
		" in all\n", lost - capture->lost_reported, lost);
	capture->lost_reported = lost;
}

static void run_loop(struct capture *capture)
{
	bool over = false;
	int ret;

	while (!over && is_going(capture)) {
		ret = live_wait(&capture->live, BATCH_MS, &over);
		if (ret < 0) {
			capture->error = ret;
			return;
		}
		/* At the end FLUSH waits for what is being written just now. */
		if (ret || over ||
		    capture->rotations_seen != signals_rotations())
			flush_batch(capture);
		if (capture->picker)
			report_loss(capture);
	}
}

/* Write to the file, by one of the functions; signals are let in meanwhile. */
static void save(struct capture *capture, int (*write_more)(struct saver *))
{
	const struct recording *recording;

	if (capture->closed || capture->error)
		return;
	signals_let_in();
	note_written(capture, write_more(capture->saver));
	signals_hold();
	capture->damaged |= saver_damaged(capture->saver);
	recording = saver_recording(capture->saver);
	capture->shown = recording_records(recording);
	capture->enough = capture->options->count &&
			  capture->shown >= capture->options->count;
}

static int sync_file(struct saver *saver)
{
	return saver_sync(saver, false);
}

static int rotate_file(struct saver *saver)
{
	return saver_sync(saver, true);
}

static void run_saver(struct capture *capture)
{
	uint64_t synced = monotonic();
	bool over = false;
	int ret;

	while (is_going(capture)) {
		ret = live_wait(&capture->live, BATCH_MS, &over);
		if (ret < 0) {
			capture->error = ret;
			return;
		}
		if (over)
			break;
		if (capture->rotations_seen != signals_rotations()) {
			capture->rotations_seen = signals_rotations();
			save(capture, rotate_file);
			synced = monotonic();
		} else if (monotonic() - synced >= SYNC_NS &&
			   (ret || saver_pending(capture->saver))) {
			save(capture, sync_file);
			synced = monotonic();
		} else if (ret) {
			save(capture, saver_drain);
		}
		report_loss(capture);
	}
	save(capture, saver_end);
}

static void run_picker(struct capture *capture)
{
	if (capture->options->overwrite)
		run_recorder(capture);
	else
		run_loop(capture);
	if (!capture->closed && !capture->error) {
		signals_let_in();
		note_written(capture, picker_end(capture->picker));
		signals_hold();
	}
	/* What was not written is not there. */
	capture->shown = picker_records(capture->picker);
}

/* ------------------------------------------------------------------------
 * The end
 */

/* Return: how many events were lost. */
static uint64_t summarize(struct capture *capture)
{
	const struct options *options = capture->options;
	struct live *live = &capture->live;
	uint64_t counts[EVENTLOG_LOST_CAUSES], lost, elapsed;
	struct elog_text causes = { 0 };
	struct eventlog_stat stat;
	bool known = !live_lost(live, &stat, &lost);
	unsigned int i;

	/* What went wrong before is what is told. */
	if (!known && !capture->error)
		capture->error = -EIO;
	if (options->quiet || !known)
		return lost;
	for (i = 0; i < EVENTLOG_LOST_CAUSES; i++)
		counts[i] = stat.lost[i];
	put_causes(counts, &causes);
	elapsed = live->ended - live->started;
	fprintf(stderr, "elog: %" PRIu64 " event%s in %" PRIu64 ".%03" PRIu64
		" s, %.0f/s, ", capture->shown, capture->shown == 1 ? "" : "s",
		elapsed / 1000000000, elapsed / 1000000 % 1000,
		elapsed ? (double)capture->shown * 1e9 / (double)elapsed : 0);
	if (options->split)
		fprintf(stderr, "%" PRIu64 " files, ",
			picker_files(capture->picker));
	if (capture->picker)
		fprintf(stderr, "%" PRIu64 " bytes, ", picker_size(capture->picker));
	if (capture->saver)
		fprintf(stderr, "%" PRIu64 " bytes, ",
			recording_size(saver_recording(capture->saver)));
	fprintf(stderr, "lost %" PRIu64 "%s\n", lost,
		causes.data ? causes.data : "");
	if (lost)
		live_print_lost(live);
	if (options->verbose)
		fprintf(stderr, "elog: %" PRIu64 " records, %" PRIu64
			" bytes placed in the rings\n",
			(uint64_t)stat.records, (uint64_t)stat.bytes);
	elog_text_free(&causes);
	return lost;
}

static int final_status(struct capture *capture, uint64_t lost)
{
	int ret = command_status(&capture->live.command, capture->options->quiet);

	if (capture->file_failed) {
		if (!capture->told)
			complain("%s: %s", capture->picker ?
				 picker_path(capture->picker) :
				 capture->options->output, strerror(-capture->error));
		note("what was written before can be shown");
		return STATUS_ERROR;
	}
	if (capture->error) {
		complain("%s", strerror(-capture->error));
		return STATUS_ERROR;
	}
	if (capture->source && source_finish(capture->source))
		return STATUS_ERROR;
	if (capture->damaged && !capture->printer)
		complain("a ring was damaged: records are missing");
	if (!ret && (lost || capture->damaged))
		ret = STATUS_LOST;
	return ret;
}

/* ------------------------------------------------------------------------
 * The beginning
 */

static bool to_files(const struct options *options)
{
	return options->output || options->split;
}

/* What has no meaning in a file. Return: the option, or NULL. */
static const char *not_for_file(const struct options *options)
{
	if (options->time != TIME_MONO)
		return "--time";
	if (options->format != FORMAT_TEXT)
		return "--format";
	if (options->fields)
		return "--fields";
	return NULL;
}

/* What has no meaning without. Return: the option, or NULL. */
static const char *only_for_file(const struct options *options)
{
	if (options->append)
		return "--append";
	if (options->compress)
		return "--compress";
	if (options->rotate_size)
		return "--rotate";
	return NULL;
}

static int check_options(const struct options *options)
{
	if (to_files(options) && not_for_file(options)) {
		complain("%s does not go with %s", not_for_file(options),
			 options->output ? "-o" : "--split");
		note("the file has all; use it with elog show");
		return -EINVAL;
	}
	if (!to_files(options) && only_for_file(options)) {
		complain("%s is for a file: add -o FILE", only_for_file(options));
		return -EINVAL;
	}
	if (options->split && (options->output || options->rotate_size ||
			       options->overwrite)) {
		complain("%s does not go with --split", options->output ? "-o" :
			 options->rotate_size ? "--rotate" : "--overwrite");
		return -EINVAL;
	}
	if (options->rotate_size && !strcmp(options->output, "-")) {
		complain("--rotate is for a file that has a name");
		return -EINVAL;
	}
	if (options->background && (!to_files(options) || options->separated ||
				    (options->output && !strcmp(options->output, "-")))) {
		complain("--background is for a file, without COMMAND: add -o FILE or --split DIR");
		return -EINVAL;
	}
	if (options->argument_count && !options->separated) {
		complain("'%s' is not an option; a command goes behind --",
			 options->arguments[0]);
		note("try: elog capture --help");
		return -EINVAL;
	}
	if (options->separated && !options->argument_count) {
		complain("the command behind -- is missing");
		return -EINVAL;
	}
	if (options->trigger_count && !options->overwrite) {
		complain("--trigger is for a flight recorder: add --overwrite");
		return -EINVAL;
	}
	return 0;
}

/* Is all that comes out of the rings for the file, as it is? */
static bool takes_all(const struct options *options)
{
	return options->output && !options->overwrite && !options->tids.count &&
	       !options->cpus.count && !options->expression_count;
}

static int open_consumers(struct capture *capture)
{
	const struct options *options = capture->options;
	struct elog_consumer_options rings = {
		.size = sizeof(rings),
		.ring_bytes = options->per_cpu_bytes ? options->per_cpu_bytes :
						       RING_BYTES,
	};
	int ret;

	if (options->overwrite) {
		rings.flags = ELOG_CONSUMER_OVERWRITE;
		rings.sub_buffers = recorder_sub_buffers(rings.ring_bytes);
	} else if (!takes_all(options)) {
		rings.backlog_bytes = BACKLOG_RINGS * rings.ring_bytes;
		if (rings.backlog_bytes > ELOG_BACKLOG_MAX)
			rings.backlog_bytes = ELOG_BACKLOG_MAX;
	}
	/* Events come as soon as there are rules, before there is a file. */
	capture->setup.start = record_time(monotonic());
	ret = live_open(&capture->live, options, &rings);
	if (!ret && options->trigger_count)
		ret = open_trigger(capture);
	return ret;
}

static int open_sink(struct capture *capture)
{
	const struct options *options = capture->options;
	struct recording_setup *setup = &capture->setup;
	int ret;

	setup->options = options;
	setup->consumer = capture->live.consumer;
	setup->processes = capture->live.processes;
	setup->threads = options->split ? SPLIT_THREADS : THREADS;
	setup->told = &capture->told;
	setup->interrupted = gives_up;
	if (takes_all(options))
		return saver_open(&capture->saver, setup);
	ret = source_open_live(&capture->source, &capture->live);
	if (ret)
		return ret;
	if (to_files(options))
		return picker_open(&capture->picker, setup);
	return printer_open(&capture->printer, options, &capture->output);
}

static int run_capture(const struct options *options)
{
	struct capture capture = { .options = options };
	int ret = STATUS_ERROR;

	if (check_options(options))
		return STATUS_ERROR;
	signals_catch((options->overwrite ? SIGNALS_SNAPSHOT : 0) |
		      (options->rotate_size ? SIGNALS_ROTATE : 0));
	output_open(&capture.output, options);
	if (options->background &&
	    background_start(&capture.background, options, &ret))
		return ret;
	/* What is typed for is to be seen at once. */
	if (capture.output.terminal)
		capture.output.limit = 1;
	if (open_consumers(&capture) || open_sink(&capture))
		goto out;
	background_ready(capture.background);
	ret = live_start(&capture.live);
	if (ret)
		goto out;
	if (!options->separated && options->verbose)
		fputs("elog: capturing\n", stderr);
	if (capture.saver)
		run_saver(&capture);
	else if (capture.picker)
		run_picker(&capture);
	else if (options->overwrite)
		run_recorder(&capture);
	else
		run_loop(&capture);
	live_end(&capture.live);
	ret = final_status(&capture, summarize(&capture));
out:
	saver_close(capture.saver);
	picker_close(capture.picker);
	printer_close(capture.printer);
	source_close(capture.source);
	output_close(&capture.output);
	elog_consumer_close(capture.trigger);
	live_close(&capture.live);
	background_end(capture.background, ret);
	return ret;
}

static const struct verb_option capture_options[] = {
	{ 'e', NULL }, { 'k', NULL }, { 'l', NULL }, { 's', NULL },
	{ 'p', NULL }, { 't', NULL }, { 'C', NULL }, { 'f', NULL },
	{ OPTION_SAMPLE, NULL },
	{ 'n', NULL }, { 'd', NULL }, { OPTION_PER_CPU_BYTES, NULL },
	{ OPTION_OVERWRITE, NULL }, { OPTION_TRIGGER, NULL },
	{ OPTION_TIME, NULL },
	{ OPTION_FORMAT, "text (default), json: a line each, or csv" },
	{ OPTION_FIELDS, NULL }, { OPTION_COLOR, NULL },
	{ 'o', NULL }, { OPTION_APPEND, NULL }, { OPTION_COMPRESS, NULL },
	{ OPTION_ROTATE, NULL }, { OPTION_SPLIT, NULL },
	{ OPTION_BACKGROUND, NULL },
	{ 'q', "no summary" },
	{ 'v', "say when capturing has begun, and more in the summary" },
	{ 0, NULL },
};

const struct verb verb_capture = {
	.name = "capture",
	.summary = "print events as they happen, in the order of their times",
	.usage = "[OPTION...] [-- COMMAND [ARGUMENT...]]",
	.description =
	"Prints every event, or those that the options select, in one line each:\n"
	"  CPU TID COMM TIMESTAMP PROVIDER SESSION EVENT FIELD=VALUE...\n"
	"TID and SESSION are hexadecimal, a session of 0 is \"-\". A line that begins with\n"
	"\"#\" tells of events that were lost there. Ends with Ctrl-C, and prints a summary\n"
	"on stderr. With COMMAND, captures from before that starts until it has ended.\n"
	"\n"
	"With --overwrite it is a flight recorder: it prints nothing, and costs no more\n"
	"than the rings, until it is asked to, triggered, or ends.\n"
	"\n"
	"With -o or --split it prints nothing but the summary: elog show prints the files.\n"
	"With --rotate, SIGHUP begins a new file, too.\n"
	"\n"
	"Exit status: 0 all is well; 1 an error; 2 events were lost; if COMMAND failed,\n"
	"its status (128 + N if signal N ended it; 127 there is no such command, 126 it\n"
	"cannot be executed).\n",
	.options = capture_options,
	.formats = 1U << FORMAT_TEXT | 1U << FORMAT_JSON | 1U << FORMAT_CSV,
	.options_first = true,
	.run = run_capture,
};
