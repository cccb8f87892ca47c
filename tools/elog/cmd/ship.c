// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog ship: send the files of captures to a stream of NATS JetStream, while elog capture
 * writes them.
 *
 * The loop reads, sends and takes replies, for at most POLL_MS. Once a second it stores the
 * positions. A signal to stop ends the reading; then the loop waits for the replies, for a
 * limited time: what has none is sent again by the next elog ship.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/verb.h"
#include "fleet/shipper.h"
#include "fleet/stream_create.h"
#include "fleet/stream_status.h"
#include "input/live.h"
#include "input/parts.h"
#include "input/source.h"
#include "nats/stream.h"
#include "output/metrics.h"
#include "util/array.h"
#include "util/background.h"
#include "util/signals.h"

#define POLL_MS		100
#define SECOND_NS	1000000000ULL
#define METRICS_NS	(15 * SECOND_NS)
#define END_NS		(5 * SECOND_NS)	/* for the last replies, after a signal */
#define AGAIN_NS	(60 * SECOND_NS)	/* until the same error is printed again */

/* A capture that is sent: one FILE, with the files of all writers. */
struct capture {
	char *path;
	unsigned int parts;
};

struct ship {
	const struct options *options;
	const struct transport_ops *ops;
	struct transport *transport;
	struct shipper *shipper;
	struct capture *captures;
	size_t capture_count;
	uint64_t started;
	uint64_t due;		/* of the next second's work */
	uint64_t metrics_due;
	bool terminal;		/* show the status line */
	bool shown;
	bool connected;		/* when it was last checked */
	char reported[TRANSPORT_WHY_MAX];	/* the last error that was printed */
	uint64_t reported_at;
};

/* Without a FILE, --create-stream sends nothing. */
static bool only_creates(const struct options *options)
{
	return options->stream.report && options->argument_count == 1;
}

static void clear_line(struct ship *ship)
{
	if (ship->shown)
		fputs("\r\033[K", stderr);
	ship->shown = false;
}

/* Print an error that may come many times a second. */
static void report(struct ship *ship, const char *why)
{
	const uint64_t now = monotonic();

	if (!strcmp(why, ship->reported) && now - ship->reported_at < AGAIN_NS)
		return;
	snprintf(ship->reported, sizeof(ship->reported), "%s", why);
	ship->reported_at = now;
	clear_line(ship);
	elog_error("%s", why);
}

/* Let signals in for a moment. Return: whether one requested to stop. */
static bool is_stopped(void)
{
	signals_let_in();
	signals_hold();
	return signals_stops();
}

/* ------------------------------------------------------------------------
 * Captures
 */

static int add_capture(struct ship *ship, const char *path)
{
	struct capture *larger = array_grow(ship->captures, ship->capture_count, sizeof(*larger));
	struct stat found;

	/* As the directory of elog capture --split, or a pipe: it would wait for ever. */
	if (!stat(path, &found) && !S_ISREG(found.st_mode)) {
		elog_error("%s: not a regular file", path);
		return -EINVAL;
	}
	if (larger) {
		ship->captures = larger;
		larger[ship->capture_count] = (struct capture){ .path = strdup(path) };
	}
	if (!larger || !larger[ship->capture_count].path) {
		elog_error("out of memory");
		return -ENOMEM;
	}
	ship->capture_count++;
	return 0;
}

static int add_background(const struct background_info *info, void *context)
{
	return background_process(info) ? add_capture(context, info->target) : 0;
}

/*
 * Send the files of further writers when they appear.
 *
 * Return: 0 or a negative errno, and the reason was printed.
 */
static int find_parts(struct ship *ship)
{
	const struct time_spec *from = &ship->options->from;
	const int64_t *since = from->kind == TIME_SPEC_NONE ? NULL : &from->time;
	struct capture *capture;
	char *name;
	size_t i;
	int ret;

	for (i = 0; i < ship->capture_count; i++) {
		capture = &ship->captures[i];
		for (;;) {
			name = parts_name(capture->path, capture->parts);
			if (!name) {
				elog_error("out of memory");
				return -ENOMEM;
			}
			ret = capture->parts >= ELOG_WRITER_FILES_MAX ||
			      (capture->parts && access(name, F_OK));
			free(name);
			if (ret)
				break;
			ret = shipper_add(ship->shipper, capture->path, capture->parts, since);
			if (ret)
				return ret;
			capture->parts++;
		}
	}
	return 0;
}

static int find_captures(struct ship *ship)
{
	const struct options *options = ship->options;
	int ret = 0, i;

	if (only_creates(options))
		return 0;
	for (i = 1; !ret && i < options->argument_count; i++)
		ret = add_capture(ship, options->arguments[i]);
	if (!ret && options->argument_count == 1)
		ret = background_each(add_background, ship);
	if (!ret && !ship->capture_count) {
		elog_error("FILE is missing, and there is no capture in the background");
		ret = -ENOENT;
	}
	return ret;
}

/* ------------------------------------------------------------------------
 * The status line and the metrics
 */

static void show_line(struct ship *ship, const struct shipper_counts *counts)
{
	const uint64_t elapsed = monotonic() - ship->started;

	if (!ship->terminal)
		return;
	ship->shown = true;
	fprintf(stderr, "\r\033[K%s%" PRIu64 " MiB sent, %.1f MB/s, %" PRIu64
		" KiB to send, %" PRIu64 " waiting, %" PRIu64 " sent again, %" PRIu64 " gap%s",
		ship->connected ? "" : "no connection; ", counts->bytes >> 20,
		(double)counts->bytes * 1e3 / (double)(elapsed ? elapsed : 1), counts->lag >> 10,
		counts->waiting, counts->resent, counts->gaps, plural(counts->gaps));
}

static void put_metrics(const struct ship *ship, const struct shipper_counts *counts,
			struct elog_text *text)
{
	const struct metric metrics[] = {
		{ "eventlog_ship_connected", "gauge", "1 if there is a connection to a server.",
		  ship->connected },
		{ "eventlog_ship_lag_bytes", "gauge",
		  "Bytes of files that the stream has not stored yet.", counts->lag },
		{ "eventlog_ship_waiting", "gauge", "Messages without a reply.",
		  counts->waiting },
		{ "eventlog_ship_messages_total", "counter",
		  "Number of messages that the stream has stored.", counts->messages },
		{ "eventlog_ship_bytes_total", "counter", "Bytes of these messages.",
		  counts->bytes },
		{ "eventlog_ship_resent_total", "counter",
		  "Number of messages that were sent again, because no reply came.",
		  counts->resent },
		{ "eventlog_ship_duplicates_total", "counter",
		  "Number of messages that the stream had already.", counts->duplicates },
		{ "eventlog_ship_refused_total", "counter",
		  "Number of messages that the stream refused.", counts->refused },
		{ "eventlog_ship_gaps_total", "counter",
		  "Number of times that files were removed before they were sent.",
		  counts->gaps },
		{ "eventlog_ship_stored_seconds", "gauge",
		  "Time since 1970 when the stream last stored a message; 0: never.",
		  (uint64_t)counts->stored / SECOND_NS },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(metrics); i++)
		metrics_put_one(text, &metrics[i]);
}

static int write_metrics(struct ship *ship, const struct shipper_counts *counts)
{
	struct elog_text text = { 0 };
	int ret;

	if (!ship->options->output)
		return 0;
	put_metrics(ship, counts, &text);
	ret = metrics_write(ship->options->output, &text);
	elog_text_free(&text);
	if (ret) {
		clear_line(ship);
		elog_error("%s: %s", ship->options->output, strerror(-ret));
	}
	return ret;
}

/* ------------------------------------------------------------------------
 * The connection
 */

/* Is the stream to be created unless it exists? */
static bool creates(const struct options *options)
{
	const struct stream_wanted *wanted = &options->stream;

	return wanted->report || wanted->replicas || wanted->max_age || wanted->max_bytes;
}

/* As connect_first(). If nothing is sent, a stream with other limits is an error. */
static int create_stream(struct ship *ship)
{
	const struct options *options = ship->options;
	int ret;

	if (!creates(options))
		return 0;
	ret = stream_create(ship->ops, ship->transport, options->arguments[0], &options->stream,
			    options->quiet);
	return ret == -EEXIST && !only_creates(options) ? 0 : ret;
}

/* Return: 0; -EINTR: a signal; or another negative errno, and the reason was printed. */
static int connect_first(struct ship *ship)
{
	const struct options *options = ship->options;
	const char *url = options->arguments[0];
	char why[TRANSPORT_WHY_MAX];
	int ret;

	for (;;) {
		ret = ship->ops->open(&ship->transport, url, why);
		if (ret != -EAGAIN)
			break;
		/* A machine may start before its servers do. */
		report(ship, why);
		if (options->once)
			return ret;
		signals_sleep(1000);
		if (signals_stops())
			return -EINTR;
	}
	if (ret) {
		elog_error("%s", why);
		return ret;
	}
	ret = create_stream(ship);
	if (ret)
		return ret;
	ship->connected = true;
	shipper_connect(ship->shipper, ship->ops, ship->transport);
	return 0;
}

/* Print when the connection is lost, and when it is back. Return: false: it is closed. */
static bool check_connection(struct ship *ship)
{
	const enum transport_state state = ship->ops->state(ship->transport);
	const bool connected = state == TRANSPORT_CONNECTED;
	char why[TRANSPORT_WHY_MAX];

	if (ship->ops->take_error(ship->transport, why))
		report(ship, why);
	if (connected != ship->connected && !ship->options->quiet) {
		clear_line(ship);
		elog_error(connected ? "connected again" : "lost the connection");
	}
	ship->connected = connected;
	if (state == TRANSPORT_CLOSED)
		elog_error("the servers have closed the connection");
	return state != TRANSPORT_CLOSED;
}

/* ------------------------------------------------------------------------
 * The loop
 */

/* The work of each second. Return: 0 or a negative errno, and the reason was printed. */
static int each_second(struct ship *ship)
{
	struct shipper_counts counts;
	const uint64_t now = monotonic();
	int ret;

	if (now < ship->due)
		return 0;
	ship->due = now + SECOND_NS;
	if (!check_connection(ship))
		return -EIO;
	ret = shipper_save(ship->shipper);
	if (!ret)
		ret = find_parts(ship);
	shipper_count(ship->shipper, &counts);
	show_line(ship, &counts);
	if (!ret && now >= ship->metrics_due) {
		ship->metrics_due = now + METRICS_NS;
		ret = write_metrics(ship, &counts);
	}
	return ret;
}

/* Return: 0 or a negative errno, and the reason was printed. */
static int run_loop(struct ship *ship)
{
	char why[TRANSPORT_WHY_MAX] = "";
	uint64_t stopped = 0;
	int ret;

	for (;;) {
		if (is_stopped() && !stopped)
			stopped = monotonic();
		ret = shipper_run(ship->shipper, !stopped, POLL_MS, why);
		if (ret < 0 && ship->options->once)
			return ret;
		if (*why)
			report(ship, why);
		*why = '\0';
		ret = each_second(ship);
		if (ret)
			return ret;
		if (ship->options->once && shipper_is_idle(ship->shipper))
			return 0;
		if (stopped && (signals_stops() > 1 || monotonic() - stopped > END_NS ||
				!shipper_waits(ship->shipper)))
			return 0;
	}
}

/* Return: an exit status. */
static int summarize(struct ship *ship, int ret)
{
	struct shipper_counts counts;

	if (shipper_save(ship->shipper))
		ret = -EIO;
	shipper_count(ship->shipper, &counts);
	clear_line(ship);
	if (write_metrics(ship, &counts))
		ret = -EIO;
	if (!ship->options->quiet)
		fprintf(stderr, "elog: %" PRIu64 " message%s, %" PRIu64 " byte%s, sent again %"
			PRIu64 ", duplicates %" PRIu64 ", refused %" PRIu64 ", gaps %" PRIu64
			", not sent %" PRIu64 " byte%s\n", counts.messages,
			plural(counts.messages), counts.bytes, plural(counts.bytes),
			counts.resent, counts.duplicates, counts.refused, counts.gaps, counts.lag,
			plural(counts.lag));
	return ret ? STATUS_ERROR : counts.gaps ? STATUS_LOST : STATUS_OK;
}

/* Messages only have a subject, so the URL cannot choose the stream that stores them. */
static bool is_default_stream(const char *url)
{
	char name[STREAM_NAME_BYTES];
	char *servers = stream_split_url(url, name);
	const bool valid = servers && !strcmp(name, STREAM_DEFAULT);

	if (servers && !valid)
		elog_error("'%s': the stream is always " STREAM_DEFAULT ", except with --status",
			   url);
	free(servers);
	return valid;
}

static bool check_arguments(const struct options *options)
{
	const char *url = options->argument_count ? options->arguments[0] : NULL;

	if (!url) {
		elog_error("the URL of a server is missing: nats://HOST");
		return false;
	}
	if (!stream_check_url(url))
		return false;
	if (options->status && (options->argument_count > 1 || creates(options) ||
				options->output || options->state || options->once)) {
		elog_error("--status: sends nothing, and takes only --from, --format and -q");
		return false;
	}
	if (!options->status && !is_default_stream(url))
		return false;
	if (!options->status && options->print.format != FORMAT_TEXT) {
		elog_error("--format is for --status");
		return false;
	}
	if (only_creates(options) && (options->output || options->state || options->once ||
				      options->from.kind != TIME_SPEC_NONE)) {
		elog_error("--create-stream: sends nothing without FILE, and does not take "
			   "--from, --once, --state and -o then");
		return false;
	}
	return true;
}

static int run_status(const struct options *options)
{
	const struct status_settings settings = {
		.url = options->arguments[0],
		.since = options->from.kind == TIME_SPEC_WALL ? options->from.time : 0,
		.format = options->print.format, .color = options->color,
		.quiet = options->quiet,
	};

	signals_catch(0);
	return stream_status(&settings);
}

static int run_ship(const struct options *options)
{
	struct ship ship = { .options = options, .started = monotonic() };
	int ret, status = STATUS_ERROR;
	size_t i;

	if (!check_arguments(options)) {
		elog_hint("try: elog ship --help");
		return STATUS_ERROR;
	}
	if (options->status)
		return run_status(options);
	ship.ops = transport_load();
	if (!ship.ops)
		return STATUS_ERROR;
	/* All captures have open files, and the library as many as there are servers. */
	source_allow_files(UINT_MAX);
	ship.terminal = isatty(STDERR_FILENO) && !options->quiet;
	/* Before the library starts threads: signals are for this one. */
	signals_catch(0);
	ship.shipper = shipper_new(options->state);
	if (!ship.shipper)
		elog_error("out of memory");
	else if (!find_captures(&ship) && !find_parts(&ship)) {
		ret = connect_first(&ship);
		if (ret == -EINTR || (!ret && only_creates(options)))
			status = STATUS_OK;
		else if (!ret)
			status = summarize(&ship, run_loop(&ship));
	}
	ship.ops->close(ship.transport);
	shipper_free(ship.shipper);
	for (i = 0; i < ship.capture_count; i++)
		free(ship.captures[i].path);
	free(ship.captures);
	return status;
}

static const struct verb_option ship_options[] = {
	{ OPTION_CREATE_STREAM, NULL },
	{ OPTION_MAX_AGE, NULL },
	{ OPTION_MAX_BYTES, NULL },
	{ OPTION_REPLICAS, NULL },
	{ OPTION_STATUS, NULL },
	{ OPTION_FORMAT, "of --status: text (default), json, csv" },
	{ OPTION_FROM, NULL },
	{ OPTION_ONCE, NULL },
	{ OPTION_STATE, NULL },
	{ 'o', "every 15 seconds, write counters for Prometheus to FILE" },
	{ 'q', "no status, no summary" },
	{ 0, NULL },
};

const struct verb verb_ship = {
	.name = "ship",
	.summary = "send files of captures to servers of NATS JetStream",
	.usage = "[OPTION...] nats://HOST[:PORT][,HOST...] [FILE...]",
	.description =
	"Sends the FILEs of elog capture -o to a stream of NATS JetStream, also the older files\n"
	"of --rotate and those of --writers, and follows them until it gets a signal. Without\n"
	"FILE, sends those of all captures of this user in the background. The capture never\n"
	"waits for elog ship.\n"
	"\n"
	"elog ship continues where it has ended, also after a crash. It sends a part of a file\n"
	"again until the stream has stored it. The stream drops what it has already.\n"
	"\n"
	"With --create-stream, it first creates the stream ELOG, once for all hosts; then it\n"
	"sends nothing unless there is a FILE. With --status, it prints what the stream has.\n"
	"\n"
	"NATS_USER and NATS_PASSWORD, NATS_TOKEN, or NATS_CREDS, the name of a file, are for\n"
	"logging in; NATS_CA, NATS_CERT and NATS_KEY, names of files, for TLS.\n"
	"\n"
	"Exit status: 0 success; 1 an error; 2 files were removed before they were sent, or have\n"
	"no valid beginning; with --status, something is missing in the stream.\n",
	.options = ship_options,
	.formats = 1U << FORMAT_TEXT | 1U << FORMAT_JSON | 1U << FORMAT_CSV,
	.run = run_ship,
};
