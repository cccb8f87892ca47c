// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog capture: subscribe, and print events by time, write them to files, or send them.
 *
 * The loop sleeps until a ring is half full, or for 100 ms, and then handles one batch of
 * events. It ends on SIGINT, SIGTERM or SIGHUP, after -n events, after -d seconds, when stdout is
 * closed, or when COMMAND has ended. Events that were emitted before the end are still handled,
 * except after -n and when stdout is closed.
 *
 * With --overwrite, elog capture is a flight recorder. On SIGUSR1, on a trigger, and at the end,
 * it handles all events in the rings as one batch. A second consumer waits for triggers. It is
 * opened after the first one, so that an event reaches that one first.
 *
 * A raw writer copies whole rings. A parallel writer does this on several threads; then the
 * loop only calls FLUSH and ends the capture. The other writers and the printer handle one
 * event at a time. They may be slower than the producers, especially if the reader of the
 * output is slow. So their consumer has a backlog, which a thread of the library fills from
 * the rings. A flight recorder needs no backlog.
 *
 * If the disk is full or fails, the writer waits: an event that it did not take is held here,
 * and all others stay in the rings and in the backlog.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/capture_check.h"
#include "cmd/verb.h"
#include "export/export.h"
#include "input/missing.h"
#include "output/printer.h"
#include "record/stall.h"
#include "record/writer.h"
#include "util/background.h"
#include "util/engine.h"
#include "util/signals.h"

#define BATCH_MS	100
#define SYNC_NS		200000000ULL	/* from one SYNC block to the next */
#define REPORT_NS	10000000000ULL	/* from one line about loss to the next */
#define DISK_MS		1000	/* a flight recorder tries again to write after this */
#define FROZEN_BYTES	(256U << 20) /* of output, buffered while the rings are frozen */
#define SUB_BUFFER_BYTES 131072	/* if the rings are large enough */
#define SUB_BUFFERS_MAX	16	/* of a flight recorder */
#define RING_BYTES	(1U << 20) /* of a ring, by default */
#define ENGINE_RING_BYTES (4U << 20) /* likewise: an engine has one for all CPUs */
#define BACKLOG_RINGS	4	/* the size of a backlog, in rings */

struct capture {
	const struct options *options;
	struct live live;
	struct elog_consumer *trigger;	/* NULL: there are no triggers */
	struct background *background;

	/* Events go to one of these. A raw writer needs no @visit. */
	struct writer *writer;
	struct printer *printer;
	struct export export;		/* if it has a visit */
	struct visit_settings settings;
	struct visit *visit;
	struct output output;
	struct stall stall;

	unsigned int snapshots;		/* so far */
	int rotations_seen;
	bool aged;			/* --rotate requests a new file because of its age */
	uint64_t synced;		/* time of a raw writer's last SYNC, CLOCK_MONOTONIC ns */
	uint64_t reported;		/* time of the last report of losses, likewise */
	uint64_t lost_reported;
	uint64_t shown;			/* events printed or written */
	uint64_t unwritten;		/* events received and not written: @error, @given_up */
	bool enough;			/* -n is reached */
	bool closed;			/* the reader of the output is gone, or @given_up */
	bool given_up;			/* it did not read until the second signal */
	bool damaged;			/* a ring was damaged: records are missing */
	int error;			/* of the rings, the output or a file */
	bool file_failed;		/* @error is of a file */
	bool unsent;			/* the receiver does not have everything */
	bool returns;			/* it goes on when a replaced module is back */
};

static bool is_going(const struct capture *capture)
{
	return !capture->enough && !capture->closed && !capture->error;
}

/* Handle the result of writing to a file. */
static void check_written(struct capture *capture, int ret)
{
	if (ret == -EPIPE || ret == -EINTR) {
		capture->closed = true;
		capture->given_up |= ret == -EINTR;
	} else if (ret) {
		capture->error = ret;
		capture->file_failed = true;
	}
}

/* Handle the result of printing. */
static void check_printed(struct capture *capture)
{
	capture->closed |= capture->output.closed;
	capture->given_up |= capture->output.given_up;
	if (capture->output.error)
		capture->error = capture->output.error;
}

/* Was a new file requested since the last take_rotation()? */
static bool rotation_requested(const struct capture *capture)
{
	return capture->aged || capture->rotations_seen != signals_rotations();
}

static bool take_rotation(struct capture *capture)
{
	const bool requested = rotation_requested(capture);

	capture->rotations_seen = signals_rotations();
	capture->aged = false;
	return requested;
}

static void flush_output(struct capture *capture)
{
	output_flush(&capture->output);
	check_printed(capture);
}

/* ------------------------------------------------------------------------
 * Event by event
 */

/* Return: 0; -EPIPE: the reader of the output is gone; or another error. */
static int sink_state(const struct capture *capture)
{
	return capture->error ? : capture->closed ? -EPIPE : 0;
}

/* @ret: of writer_add() */
static int see_written(struct capture *capture, int ret)
{
	if (ret == -EAGAIN)
		return ret;
	check_written(capture, ret);
	return sink_state(capture);
}

static int write_event(void *context, struct visit_event *event)
{
	struct capture *capture = context;

	return see_written(capture, writer_add(capture->writer, event->entry));
}

static int write_loss(void *context, const struct entry *entry, uint64_t count)
{
	struct capture *capture = context;

	(void)count;
	return see_written(capture, writer_add(capture->writer, entry));
}

static int see_printed(struct capture *capture)
{
	output_check(&capture->output);
	check_printed(capture);
	return sink_state(capture);
}

static int print_event(void *context, struct visit_event *event)
{
	struct capture *capture = context;

	printer_event(capture->printer, event->entry, NULL);
	return see_printed(capture);
}

static int print_loss(void *context, const struct entry *entry, uint64_t count)
{
	struct capture *capture = context;

	(void)count;
	printer_lost(capture->printer, entry);
	return see_printed(capture);
}

static int print_damage(void *context)
{
	struct capture *capture = context;

	printer_remark(capture->printer, "a ring was damaged: records are missing");
	return see_printed(capture);
}

static const struct visit_ops write_ops = { .event = write_event, .lost = write_loss };
static const struct visit_ops print_ops = {
	.event = print_event, .lost = print_loss, .broken = print_damage,
};

/*
 * Handle the batch that was started. Allow signals while writing to a file: the file may
 * be a pipe whose reader is stuck, and a signal must still end the capture. If the writer
 * waits, the next call continues.
 */
static void take_batch(struct capture *capture)
{
	int ret = 0;

	if (capture->writer)
		signals_let_in();
	if (is_going(capture))
		ret = visit_batch(capture->visit);
	if (capture->writer)
		signals_hold();
	capture->shown = capture->visit->events - capture->visit->held;
	capture->enough = capture->visit->enough && !capture->visit->held;
	capture->damaged = capture->visit->damaged;
	if (ret < 0 && ret != -EPIPE && ret != -EAGAIN)
		capture->error = ret;
}

static void sync_file(struct capture *capture)
{
	bool rotate = take_rotation(capture);

	signals_let_in();
	check_written(capture, writer_sync(capture->writer, rotate));
	signals_hold();
}

/* Flush the output or the file, or send what waits for long. */
static void flush_sink(struct capture *capture)
{
	if (capture->printer)
		flush_output(capture);
	else if (capture->export.visit && !capture->error)
		capture->error = export_otlp.ops.sync(&capture->export, NULL);
	else if (!capture->closed && !capture->error)
		sync_file(capture);
}

static void flush_batch(struct capture *capture)
{
	int ret;

	ret = live_flush(&capture->live);
	if (ret) {
		capture->error = ret;
		return;
	}
	take_batch(capture);
	flush_sink(capture);
}

/* Continue a batch after the writer has waited. @over: this is the last call. */
static void continue_batch(struct capture *capture, bool over)
{
	capture->writer->wait.final = over;
	if (!writer_waits(capture->writer))
		take_batch(capture);
	if (over && !capture->visit->held && is_going(capture))
		flush_batch(capture);
	else if (!capture->visit->held)
		flush_sink(capture);
}

/* ------------------------------------------------------------------------
 * The flight recorder
 */

/*
 * The rings are frozen while their events are converted to text or records. Events emitted
 * meanwhile are lost. The output is written afterwards, except what exceeds FROZEN_BYTES.
 */
static void take_snapshot(struct capture *capture, const char *reason)
{
	size_t limit = capture->output.limit;
	char heading[64];
	int ret;

	snprintf(heading, sizeof(heading), "snapshot %u: %s",
		 ++capture->snapshots, reason);
	if (capture->printer)
		printer_remark(capture->printer, heading);
	ret = live_pause(&capture->live);
	if (ret) {
		capture->error = ret;
		return;
	}
	capture->output.limit = FROZEN_BYTES;
	/* The disk may work again. */
	if (capture->writer)
		capture->writer->wait.retry = 0;
	take_batch(capture);
	capture->output.limit = limit;
	ret = live_resume(&capture->live);
	if (ret)
		capture->error = ret;
	flush_sink(capture);
	/* From here on events are kept again. */
	if (!capture->options->separated && capture->options->verbose && !capture->error)
		fprintf(stderr, "elog: %s\n", heading);
}

/*
 * Use many sub-buffers: the kernel overwrites a whole sub-buffer at a time, and a raw writer
 * writes a whole one without looking at its records. Each must hold the largest event.
 */
static uint32_t sub_buffers(uint64_t ring_bytes, uint32_t most)
{
	uint32_t count = 2;

	while (count < most && ring_bytes / count > SUB_BUFFER_BYTES)
		count *= 2;
	return count;
}

static int open_trigger(struct capture *capture)
{
	int ret = instances_open_trigger(&capture->live, 0, &capture->trigger);

	if (ret && !capture->trigger)
		explain_device_error(ret, PURPOSE_CONSUME);
	return ret;
}

/* Wait for a trigger, a signal, or the end of -d. */
static int wait_for_snapshot(struct capture *capture)
{
	const struct writer *writer = capture->writer;
	int most = writer && writer->wait.error ? DISK_MS : writer ? writer_age_ms(writer) : -1;
	bool over;
	int ret;

	if (!capture->trigger) {
		live_sleep(&capture->live, most, &over);
		return 0;
	}
	if (capture->live.instances && (most < 0 || most > INSTANCES_LOOK_MS))
		most = INSTANCES_LOOK_MS;
	ret = instances_wait_trigger(&capture->live, capture->trigger,
				     live_left(&capture->live, most));
	instances_look(&capture->live);
	capture->live.deleted |= ret == -ENODEV;
	return ret == -ENODEV ? 0 : ret;
}

/*
 * Before each sleep without a limit, check everything that signals can request, because
 * signals also arrive while a snapshot is written.
 */
static void run_recorder(struct capture *capture)
{
	int requests_seen = 0, ret;

	while (is_going(capture)) {
		if (live_over(&capture->live)) {
			take_snapshot(capture, "the end");
			return;
		}
		if (requests_seen != signals_snapshots()) {
			requests_seen = signals_snapshots();
			take_snapshot(capture, "requested");
			continue;
		}
		if (capture->writer)
			capture->aged |= writer_check_age(capture->writer);
		if (capture->writer &&
		    (rotation_requested(capture) ||
		     (capture->writer->wait.error && !writer_waits(capture->writer)))) {
			sync_file(capture);
			continue;
		}
		if (capture->writer)
			stall_report(&capture->stall, capture->writer, capture->background, false);
		ret = wait_for_snapshot(capture);
		if (ret > 0) {
			/* One snapshot serves all triggers so far. */
			ret = instances_drain_trigger(&capture->live, capture->trigger);
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

/* Report losses as they happen, for readers of logs. */
static void report_loss(struct capture *capture)
{
	struct eventlog_stat stat = { .size = sizeof(stat) };
	uint64_t lost, more, now = monotonic();

	if (capture->options->quiet || now - capture->reported < REPORT_NS)
		return;
	capture->reported = now;
	if (live_lost(&capture->live, &stat, &lost) ||
	    lost == capture->lost_reported)
		return;
	more = lost - capture->lost_reported;
	fprintf(stderr, "elog: %" PRIu64 " more event%s lost, %" PRIu64 " in all\n", more,
		more == 1 ? " was" : "s were", lost);
	capture->lost_reported = lost;
}

/* Let a raw or parallel writer copy the rings. @ready: there are records in them. */
static void copy_rings(struct capture *capture, bool ready)
{
	struct writer *writer = capture->writer;
	bool rotate;
	int ret = 0;

	if (writer_waits(writer) && !writer->parallel)
		return;
	rotate = take_rotation(capture);
	signals_let_in();
	if (rotate || (monotonic() - capture->synced >= SYNC_NS &&
		       (ready || writer->pending))) {
		ret = writer_sync(writer, rotate);
		capture->synced = monotonic();
	} else if (ready || writer->parallel) {
		ret = writer_drain(writer);
	}
	signals_hold();
	check_written(capture, ret);
	capture->enough = capture->options->count &&
			  writer->records >= capture->options->count;
}

/* Has the writer not taken an item yet? */
static bool is_held(const struct capture *capture)
{
	return capture->visit && capture->visit->held;
}

/* The threads of a parallel writer wait themselves. If the disk is full, events are there. */
static int wait_for_events(struct capture *capture, bool *over)
{
	if (!capture->writer || (!capture->writer->parallel && !is_held(capture) &&
				 !writer_waits(capture->writer)))
		return live_wait(&capture->live, BATCH_MS, over);
	live_sleep(&capture->live, BATCH_MS, over);
	return 0;
}

static void run_loop(struct capture *capture)
{
	bool over = false;
	int ret;

	capture->synced = monotonic();
	while (!over && is_going(capture)) {
		ret = wait_for_events(capture, &over);
		if (ret < 0) {
			capture->error = ret;
			return;
		}
		if (capture->writer)
			capture->aged |= writer_check_age(capture->writer);
		if (!capture->visit)
			copy_rings(capture, ret > 0);
		else if (capture->visit->held)
			continue_batch(capture, over);
		else if (ret || over || rotation_requested(capture))
			/* At the end FLUSH waits for records that are being emitted. */
			flush_batch(capture);
		else if (capture->export.visit ||
			 (capture->writer && capture->writer->wait.error))
			flush_sink(capture);
		if (capture->writer)
			stall_report(&capture->stall, capture->writer, capture->background, false);
		if (capture->writer || capture->export.visit)
			report_loss(capture);
	}
	if (is_held(capture) && is_going(capture))
		continue_batch(capture, true);
}

/* Complete the files. */
static void end_writer(struct capture *capture)
{
	if (!capture->closed && !capture->error) {
		signals_let_in();
		check_written(capture, writer_end(capture->writer));
		signals_hold();
	}
	stall_report(&capture->stall, capture->writer, capture->background, true);
	capture->damaged |= capture->writer->damaged;
}

/* Send the rest. This takes a limited time, also if the receiver does not answer. */
static void end_export(struct capture *capture)
{
	const uint64_t skipped = capture->visit->skipped;
	int ret;

	visit_end(capture->export.visit);
	ret = export_otlp.finish(&capture->export);
	capture->unsent = ret == -EREMOTEIO || skipped;
	if (!capture->error && ret != -EREMOTEIO)
		capture->error = ret;
	if (skipped)
		elog_error("%" PRIu64 " event%s not sent: there are more than %d kinds",
			   skipped, skipped == 1 ? " was" : "s were", VISIT_KINDS_MAX);
	if (!capture->options->quiet)
		visit_print_spans(capture->export.visit);
}

/* The events in the rings and in the backlog that the options select. */
static uint64_t count_rest(struct capture *capture)
{
	static const struct visit_ops only_count;
	const uint64_t before = capture->visit->events - capture->visit->held;

	capture->visit->ops = &only_count;
	capture->visit->enough = false;
	capture->settings.count = 0;
	if (live_flush(&capture->live))
		return 0;
	visit_batch(capture->visit);
	return capture->visit->events - before;
}

/*
 * Correct the number of events: some that were taken are not in the output if writing
 * failed or was given up. Then also count those that were received and not even taken.
 */
static void count_events(struct capture *capture)
{
	const bool failed = capture->file_failed || capture->output.error || capture->given_up;
	const struct writer *writer = capture->writer;
	uint64_t received = capture->shown, lost;
	struct eventlog_stat stat;

	if (writer)
		capture->shown = writer->records;
	else if (capture->output.unwritten < capture->shown)
		capture->shown -= capture->output.unwritten;
	else
		capture->shown = 0;
	if (writer)
		capture->shown -= writer->gone < capture->shown ? writer->gone : capture->shown;
	if (!failed) {
		capture->unwritten = writer ? writer->missed : 0;
		return;
	}
	if (capture->visit)
		received += count_rest(capture);
	else
		received = live_lost(&capture->live, &stat, &lost) ? 0 : stat.records;
	if (writer)
		received -= writer->gone < received ? writer->gone : received;
	if (received > capture->shown)
		capture->unwritten = received - capture->shown;
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
	struct eventlog_stat stat = { .size = sizeof(stat) };
	bool known = !live_lost(live, &stat, &lost);
	unsigned int i;

	/* An earlier error is more useful than this one. */
	if (!known && !capture->error)
		capture->error = -EIO;
	if (options->quiet || !known)
		return lost;
	for (i = 0; i < EVENTLOG_LOST_CAUSES; i++)
		counts[i] = stat.lost[i];
	put_causes(counts, EVENTLOG_LOST_CAUSES, &causes);
	elapsed = live->ended - live->started;
	fprintf(stderr, "elog: %" PRIu64 " event%s in %" PRIu64 ".%03" PRIu64 " s, %.0f/s, ",
		capture->shown, plural(capture->shown),
		elapsed / 1000000000, elapsed / 1000000 % 1000,
		elapsed ? (double)capture->shown * 1e9 / (double)elapsed : 0);
	if (options->record.split)
		fprintf(stderr, "%" PRIu64 " file%s, ", capture->writer->files,
			plural(capture->writer->files));
	if (capture->writer)
		fprintf(stderr, "%" PRIu64 " byte%s, ", capture->writer->bytes,
			plural(capture->writer->bytes));
	if (capture->unwritten)
		fprintf(stderr, "%" PRIu64 " not written, ", capture->unwritten);
	if (capture->writer && capture->writer->gone)
		fprintf(stderr, "%" PRIu64 " removed by others, ", capture->writer->gone);
	fprintf(stderr, "lost %" PRIu64 "%s\n", lost, causes.data ? causes.data : "");
	if (lost || stat.lost[CAUSE_INVALID])
		live_print_lost(live);
	if (options->verbose)
		fprintf(stderr, "elog: %" PRIu64 " record%s, %" PRIu64
			" byte%s placed in the rings\n", (uint64_t)stat.records,
			plural(stat.records), (uint64_t)stat.bytes, plural(stat.bytes));
	live_print_rejected(live);
	missing_report(live, capture->shown + (capture->writer ? capture->writer->gone : 0));
	elog_text_free(&causes);
	return lost;
}

static int final_status(struct capture *capture, uint64_t lost)
{
	const struct options *options = capture->options;
	const char *path;

	if (capture->file_failed) {
		path = capture->writer->failed_path ? : options->output ? : options->record.split;
		if (!capture->writer->explained)
			elog_error("%s: %s", path, strerror(-capture->error));
		elog_hint("elog show can print the events that were written before the error");
		return STATUS_ERROR;
	}
	if (capture->error) {
		elog_error("%s", strerror(-capture->error));
		return STATUS_ERROR;
	}
	if (capture->damaged && !capture->printer)
		elog_error("a ring was damaged: records are missing");
	lost += capture->unwritten || capture->damaged || capture->unsent ||
		(capture->writer && capture->writer->gone);
	if (capture->visit)
		return visit_status(capture->visit, false, lost);
	if ((!capture->returns && live_deleted(&capture->live)) || live_failed(&capture->live))
		return STATUS_ERROR;
	return command_status(&capture->live.command, options->quiet) ? :
	       lost ? STATUS_LOST : STATUS_OK;
}

/* ------------------------------------------------------------------------
 * The beginning
 */

static int open_consumers(struct capture *capture)
{
	const struct options *options = capture->options;
	struct elog_consumer_options rings = {
		.size = sizeof(rings),
		.ring_bytes = options->live.ring_bytes ? options->live.ring_bytes :
			      options->live.instances ? INSTANCES_RING_BYTES :
			      engine_used() ? ENGINE_RING_BYTES : RING_BYTES,
	};
	int ret;

	if (options->record.overwrite) {
		rings.flags = ELOG_CONSUMER_OVERWRITE;
		rings.sub_buffers = sub_buffers(rings.ring_bytes, SUB_BUFFERS_MAX);
	} else if (writer_is_raw(&options->record, &options->select, &options->live)) {
		rings.sub_buffers = sub_buffers(rings.ring_bytes, EVENTLOG_SUB_BUFFERS_MAX);
	} else {
		rings.backlog_bytes = BACKLOG_RINGS * rings.ring_bytes;
		if (rings.backlog_bytes > ELOG_BACKLOG_MAX)
			rings.backlog_bytes = ELOG_BACKLOG_MAX;
	}
	ret = live_open(&capture->live, &options->select, &options->live, &rings);
	if (!ret && options->live.triggers.count)
		ret = open_trigger(capture);
	return ret;
}

static int open_sink(struct capture *capture, uint64_t start)
{
	const struct options *options = capture->options;
	const bool is_raw = writer_is_raw(&options->record, &options->select, &options->live);
	int ret = 0;

	capture->settings = options->visit;
	capture->settings.skip_kinds = true;
	if (!options->otlp)
		capture->settings.spans = NULL;
	if (options->otlp)
		ret = visit_open_live(&capture->visit, &capture->settings, &capture->live,
				      &export_otlp.ops, &capture->export);
	else if (!is_raw)
		ret = visit_open_live(&capture->visit, &capture->settings, &capture->live,
				      capture_to_files(options) ? &write_ops : &print_ops, capture);
	if (ret)
		return ret;
	if (options->otlp) {
		capture->export.visit = capture->visit;
		return export_otlp.open(&capture->export);
	}
	if (capture_to_files(options))
		return writer_open(&capture->writer, &options->record, &capture->live, start);
	return printer_open(&capture->printer, &options->print, &capture->output.text,
			    capture->output.colour);
}

static void close_export(struct capture *capture)
{
	struct visit *visit = capture->export.visit;
	struct event_kind *kind;

	if (!visit)
		return;
	visit_end(visit);
	for (kind = visit->kinds; kind; kind = kind->next)
		export_otlp.close_kind(kind);
	export_otlp.close(&capture->export);
}

/*
 * Can the capture go on in the same output after the module was replaced? Not if there is a limit
 * that its first part counts for.
 */
static bool may_return(const struct options *options)
{
	const struct record_settings *record = &options->record;

	return !options->count && !options->live.duration && !options->live.command &&
	       !record->overwrite && !record->split && !record->writers &&
	       !(record->output && !strcmp(record->output, "-"));
}

/* Runs until the end, or until the module is replaced. */
static int run_once(struct capture *capture)
{
	const struct options *options = capture->options;
	int ret = STATUS_ERROR;
	uint64_t start;

	output_open(&capture->output, options->color, options->separated);
	/* On a terminal, show each event immediately. */
	if (capture->output.terminal)
		capture->output.limit = 1;
	/* Take the start time now: events arrive when there are rules, before the file exists. */
	start = record_time(monotonic());
	if (open_consumers(capture) || open_sink(capture, start))
		goto out;
	background_ready(capture->background);
	ret = live_start(&capture->live);
	if (ret)
		goto out;
	if (!options->separated && options->verbose)
		fputs("elog: capturing\n", stderr);
	if (options->record.overwrite)
		run_recorder(capture);
	else
		run_loop(capture);
	if (capture->writer)
		end_writer(capture);
	capture->live.failed = capture->error && capture->error != -EPIPE;
	live_end(&capture->live);
	/* The summary counts what is written. */
	if (capture->printer)
		flush_output(capture);
	if (capture->export.visit)
		end_export(capture);
	count_events(capture);
	capture->returns = capture->live.asked && !capture->error && may_return(options);
	ret = final_status(capture, summarize(capture));
out:
	writer_close(capture->writer);
	printer_close(capture->printer);
	close_export(capture);
	visit_close(capture->visit);
	output_close(&capture->output);
	elog_consumer_close(capture->trigger);
	live_close(&capture->live);
	return live_outlast(&capture->live, ret);
}

static int run_capture(const struct options *given)
{
	struct background *background = NULL;
	struct options options = *given;
	int ret = STATUS_ERROR, lost = 0, status;
	struct capture capture = { .returns = false };

	if (capture_check(&options))
		return STATUS_ERROR;
	if (!engine_use(options.quiet))
		return STATUS_ERROR;
	signals_catch((options.record.overwrite ? SIGNALS_SNAPSHOT : 0) |
		      (options.record.rotate_size ? SIGNALS_ROTATE : 0));
	if (options.background &&
	    background_start(&background, options.record.split ? : options.output, &ret))
		return ret;
	do {
		capture = (struct capture){
			.options = &options,
			.background = background,
			.export = { .settings = &options.visit, .receiver = options.otlp,
				    .live = true },
		};
		status = run_once(&capture);
		if (status == STATUS_LOST)
			lost = status;
		/* A signal has ended the wait for the module. */
		if (!options.live.await || !signals_stops() || capture.live.started)
			ret = status;
		if (capture.returns && !options.quiet)
			fputs("elog: the kernel module is being replaced, waiting for it\n",
			      stderr);
		/* The rest goes to the same file. */
		options.record.append = true;
		options.live.await = true;
	} while (capture.returns && !signals_stops());
	ret = ret ? ret : lost;
	background_end(background, ret);
	return ret;
}

static const struct verb_option capture_options[] = {
	{ 'e', NULL }, { 'k', NULL }, { 'l', NULL }, { 's', NULL },
	{ 'p', NULL }, { OPTION_UNIT, NULL }, { OPTION_CGROUP, NULL },
	{ 't', NULL }, { 'C', NULL }, { 'f', NULL },
	{ OPTION_SAMPLE, NULL },
	{ 'n', NULL }, { 'd', NULL }, { OPTION_PER_CPU_BYTES, NULL },
	{ OPTION_OVERWRITE, NULL }, { OPTION_TRIGGER, NULL },
	{ OPTION_TIME, NULL }, { OPTION_IDS, NULL },
	{ OPTION_FORMAT, "text (default), json: one object per line, or csv" },
	{ OPTION_FIELDS, NULL }, { OPTION_COLOR, NULL },
	{ 'o', NULL }, { OPTION_APPEND, NULL }, { OPTION_COMPRESS, NULL },
	{ OPTION_ROTATE, NULL }, { OPTION_WRITERS, NULL }, { OPTION_SPLIT, NULL },
	{ OPTION_BACKGROUND, NULL },
	{ OPTION_OTLP, "send log records and spans to this receiver of OpenTelemetry,\n"
	  "http[s]://HOST[:PORT][/PATH], instead of printing them" },
	{ OPTION_SPAN, "with --otlp: make a span of each START and the next END, globs,\n"
	  "[PROVIDER/]EVENT; default: what schemas say, else from X_start\n"
	  "or X_begin to X_end, and X_open to X_close; may be repeated" },
	{ OPTION_BY, "with --otlp: START and END have equal values of these, instead\n"
	  "of the same session: names of fields, session, pid, tid, cpu,\n"
	  "separated by commas" },
	{ OPTION_PENDING, "with --otlp: keep at most N STARTs that wait for their END;\n"
	  "default 131072" },
	{ 'D', NULL }, { OPTION_OF_INSTANCES, NULL },
	{ 'q', "no summary, no warnings about names that no event has yet" },
	{ 'v', "print a line when capturing starts and, without a command, when a\n"
	  "snapshot is written, what the kernel decides of -f, and a longer\n"
	  "summary" },
	{ 0, NULL },
};

const struct verb verb_capture = {
	.name = "capture",
	.summary = "print live events in the order of their times, or write them to files",
	.usage = "[OPTION...] [-- COMMAND [ARGUMENT...]]",
	.description =
	"Prints all events, or those that the options select, one per line:\n"
	"  CPU TID COMM TIMESTAMP PROVIDER SESSION EVENT FIELD=VALUE...\n"
	"TID and SESSION are hexadecimal; \"-\" means no session. A line that starts with\n"
	"\"#\" reports lost events at that place. Ctrl-C ends it; a summary goes to stderr.\n"
	"With COMMAND, the capture begins before COMMAND starts and stops when COMMAND ends.\n"
	"\n"
	"With --overwrite it is a flight recorder: it only fills the rings, and prints them\n"
	"on SIGUSR1, on a trigger, and at the end.\n"
	"\n"
	"With -o or --split it prints only the summary; elog show prints the files. With\n"
	"--rotate, SIGHUP also starts a new file.\n"
	"\n"
	"Exit status: 0 success; 1 an error; 2 events were lost; if COMMAND failed, its\n"
	"status (128 + N if signal N ended it; 127 if it does not exist, 126 if it cannot\n"
	"be executed).\n",
	.options = capture_options,
	.formats = 1U << FORMAT_TEXT | 1U << FORMAT_JSON | 1U << FORMAT_CSV,
	.options_first = true,
	.run = run_capture,
};
