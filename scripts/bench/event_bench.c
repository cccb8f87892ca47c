// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints a table of the cost of an event of kernel code.  Run as root in a kernel
 * with eventlog.ko and eventlog_bench_events.ko loaded.  The module emits a batch of
 * events for each ioctl.  This program sets up subscribers and tracers, and runs
 * batches of all rows alternately.  The fastest batch of a row counts, minus that of
 * an empty loop.
 *
 * scripts/bench/kernel runs it to measure time, scripts/bench/instructions to count
 * instructions in an emulated machine, with LTTng.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventlog_bench.h"
#include "kernel_common.h"

#define PROVIDER "event_bench"
#define BATCH_EVENTS 500

/* An empty iteration is an addition, a comparison and a jump. */
#define LOOP_INSTRUCTIONS_MAX 4

/* The payloads: 32 bytes of numbers; 20 bytes and a string of 15 letters. */
enum payload {
	PAYLOAD_FIXED,
	PAYLOAD_TEXT,
	PAYLOADS,
};

static const char *const payload_names[PAYLOADS] = { "fixed", "text" };
static const char *const payload_texts[PAYLOADS] = { "32 bytes", "a string" };

/**
 * struct contestant - a row of the table
 * @name: for the JSON
 * @text: for the table
 * @events: by payload: enum eventlog_bench_event
 * @subscriber: reads its rings after each batch; NULL: none
 * @minimum: by payload: cost of an event
 * @median: by payload: the same
 */
struct contestant {
	const char *name;
	const char *text;
	unsigned int events[PAYLOADS];
	struct subscriber *subscriber;
	double minimum[PAYLOADS];
	double median[PAYLOADS];
};

static struct subscriber discard, overwrite;

static struct contestant rows[] = {
	{ "nothing", "the loop alone",
	  { EVENTLOG_BENCH_NOTHING, EVENTLOG_BENCH_NOTHING } },
	{ "off", "eventlog, not wanted",
	  { EVENTLOG_BENCH_FIXED_OFF, EVENTLOG_BENCH_TEXT_OFF } },
	{ "trace_off", "TRACE_EVENT, not wanted",
	  { EVENTLOG_BENCH_TRACE_FIXED_OFF, EVENTLOG_BENCH_TRACE_TEXT_OFF } },
	{ "discard", "eventlog, discard ring",
	  { EVENTLOG_BENCH_FIXED_DISCARD, EVENTLOG_BENCH_TEXT_DISCARD }, &discard },
	{ "overwrite", "eventlog, overwrite ring",
	  { EVENTLOG_BENCH_FIXED_OVERWRITE, EVENTLOG_BENCH_TEXT_OVERWRITE }, &overwrite },
	{ "trace_own", "TRACE_EVENT into ftrace",
	  { EVENTLOG_BENCH_TRACE_FIXED_OWN, EVENTLOG_BENCH_TRACE_TEXT_OWN } },
	{ "trace_mono", "TRACE_EVENT, same clock",
	  { EVENTLOG_BENCH_TRACE_FIXED_MONO, EVENTLOG_BENCH_TRACE_TEXT_MONO } },
	{ "lttng", "TRACE_EVENT into LTTng",
	  { EVENTLOG_BENCH_TRACE_FIXED_LTTNG, EVENTLOG_BENCH_TRACE_TEXT_LTTNG } },
};

/* The last row, only with --lttng. */
#define ROW_LTTNG (ARRAY_SIZE(rows) - 1)

static unsigned int batches = 200;
static unsigned int row_count = ROW_LTTNG;
static bool instructions;
static int bench_fd;

static struct contestant *row_named(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	}
	fail("no row %s", name);
}

/* ---- measuring ---- */

static void enable_tracepoint(const char *tracing, const char *clock)
{
	unsigned int payload;
	char path[200];

	for (payload = 0; payload < PAYLOADS; payload++) {
		snprintf(path, sizeof(path), "%sevents/eventlog_bench/eventlog_bench_%s_%s/enable",
			 tracing, payload_names[payload], clock);
		write_text(path, "1");
	}
}

static double batch(const struct contestant *row, unsigned int payload, unsigned int count)
{
	struct eventlog_bench_emit request = {
		.event = row->events[payload],
		.count = count,
	};

	ioctl_or_fail(bench_fd, EVENTLOG_BENCH_IOC_EMIT, &request, row->name);
	if (row->subscriber)
		subscriber_read(row->subscriber);
	return instructions ? request.cycles : request.nanoseconds;
}

/* A batch of one event gives the fixed cost of a batch. */
static void measure(unsigned int payload)
{
	double *values[ARRAY_SIZE(rows)], single[ARRAY_SIZE(rows)];
	unsigned int i, row;

	for (row = 0; row < row_count; row++) {
		values[row] = calloc(batches, sizeof(double));
		if (!values[row])
			fail("no memory");
	}
	for (i = 0; i < WARM_UP_BATCHES + batches; i++) {
		for (row = 0; row < row_count; row++) {
			double first = batch(&rows[row], payload, 1);
			double value = batch(&rows[row], payload, 1 + BATCH_EVENTS);

			if (i < WARM_UP_BATCHES)
				continue;
			values[row][i - WARM_UP_BATCHES] = value;
			if (i == WARM_UP_BATCHES || first < single[row])
				single[row] = first;
		}
	}
	for (row = 0; row < row_count; row++) {
		qsort(values[row], batches, sizeof(double), compare_doubles);
		rows[row].minimum[payload] = (values[row][0] - single[row]) / BATCH_EVENTS;
		rows[row].median[payload] = (values[row][batches / 2] - single[row]) / BATCH_EVENTS;
		free(values[row]);
		if (!row)
			continue;
		rows[row].minimum[payload] -= rows[0].minimum[payload];
		rows[row].median[payload] -= rows[0].median[payload];
	}
	if (instructions && (rows[0].minimum[payload] < 1 ||
			     rows[0].minimum[payload] > LOOP_INSTRUCTIONS_MAX))
		fail("an empty loop takes %.2f a turn: the counter does not count instructions",
		     rows[0].minimum[payload]);
}

/* All subscribers got all events. The caller checks the recording of LTTng. */
static void check_recorded(void)
{
	const __u64 events = (__u64)PAYLOADS * (WARM_UP_BATCHES + batches) * (2 + BATCH_EVENTS);

	subscriber_check(&discard, "discard", events);
	subscriber_check(&overwrite, "overwrite", events);
	tracing_check(TRACING, events);
	tracing_check(MONO_TRACING, events);
	if (row_count > ROW_LTTNG)
		printf("LTTng must have recorded %llu events\n", (unsigned long long)events);
}

/* ---- the table ---- */

static const char *unit(void)
{
	return instructions ? "instructions" : "ns";
}

static void print_table(const char *no_lttng)
{
	unsigned int row, payload;

	printf("%-32s", "an event of kernel code");
	for (payload = 0; payload < PAYLOADS; payload++)
		printf(" %11s (median)", payload_texts[payload]);
	putchar('\n');
	for (row = 0; row < row_count; row++) {
		printf("%-32s", rows[row].text);
		for (payload = 0; payload < PAYLOADS; payload++)
			printf(" %11.1f (%6.1f)", rows[row].minimum[payload],
			       rows[row].median[payload]);
		putchar('\n');
	}
	if (no_lttng)
		printf("%-32s not run: %s\n", rows[ROW_LTTNG].text, no_lttng);
	putchar('\n');
}

/* ---- results ---- */

static const char *row_key(unsigned int row, unsigned int payload)
{
	static char key[64];

	snprintf(key, sizeof(key), "%s_%s", rows[row].name, payload_names[payload]);
	return key;
}

static void declare_rows(void)
{
	unsigned int row, payload;

	for (row = 0; row < ARRAY_SIZE(rows); row++) {
		for (payload = 0; payload < PAYLOADS; payload++)
			rows_declare(row_key(row, payload), unit(), "kernel event, %s, %s",
				     rows[row].text, payload_texts[payload]);
	}
}

static void add_results(const char *no_lttng)
{
	unsigned int row, payload;

	for (row = 0; row < ARRAY_SIZE(rows); row++) {
		for (payload = 0; payload < PAYLOADS; payload++) {
			if (row < row_count)
				rows_value(row_key(row, payload), rows[row].minimum[payload],
					   rows[row].median[payload]);
			else
				rows_not_run(row_key(row, payload),
					     no_lttng ? no_lttng : "LTTng does not record it");
		}
	}
}

static void add_bars(void)
{
	const char *const against_lttng = "kernel event, 32 bytes: eventlog / LTTng";
	const double event = row_named("discard")->minimum[PAYLOAD_FIXED];
	const double trace = row_named("trace_mono")->minimum[PAYLOAD_FIXED];

	rows_bar("event_ftrace", "below", 1, event / trace,
		 "kernel event, 32 bytes: eventlog / ftrace with the same clock");
	if (row_count > ROW_LTTNG)
		rows_bar("event_lttng", "below", 1,
			 event / rows[ROW_LTTNG].minimum[PAYLOAD_FIXED], against_lttng);
	else
		rows_bar_unknown("event_lttng", "below", 1, against_lttng);
	if (instructions)
		rows_bar("event_off", "at-most", 1, row_named("off")->minimum[PAYLOAD_FIXED],
			 "instructions of a kernel event that is not enabled");
}

static const char help[] =
	"usage: event_bench [--instructions] [--lttng | --no-lttng REASON] [--batches N]\n"
	"                   [--rows FILE]\n"
	"\n"
	"Times events of kernel code, with eventlog.ko and eventlog_bench_events.ko loaded,\n"
	"and prints a table: ns an event, the fastest of N batches (default 200).\n"
	"\n"
	"  --instructions      count instructions, with the CPU's counter\n"
	"  --lttng             LTTng records the events whose names end in _lttng\n"
	"  --no-lttng REASON   the reason why it does not, for the table\n"
	"  --batches N         batches of each row\n"
	"  --rows FILE         append the results to FILE, for scripts/bench/rows.sh\n";

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "instructions", no_argument, NULL, 'i' },
		{ "lttng", no_argument, NULL, 'l' },
		{ "no-lttng", required_argument, NULL, 'n' },
		ROWS_OPTIONS,
		{ 0 },
	};
	const char *no_lttng = NULL;
	unsigned int payload;
	int option;

	while ((option = getopt_long(argc, argv, "iln:" ROWS_LETTERS, options, NULL)) != -1) {
		switch (option) {
		case 'i':
			instructions = true;
			break;
		case 'l':
			row_count = ARRAY_SIZE(rows);
			break;
		case 'n':
			no_lttng = optarg;
			break;
		default:
			rows_option(option, help, &batches);
		}
	}
	declare_rows();
	bench_fd = open_or_fail("/dev/eventlog_bench_events", O_RDWR);
	subscriber_open(&discard, 0, PROVIDER, "*_discard");
	subscriber_open(&overwrite, EVENTLOG_SUBSCRIBE_OVERWRITE, PROVIDER, "*_overwrite");
	tracing_open();
	enable_tracepoint(TRACING, "own");
	enable_tracepoint(MONO_TRACING, "mono");

	printf("%s an event, fewest of %u batches of %u, the loop subtracted\n\n", unit(),
	       batches, BATCH_EVENTS);
	for (payload = 0; payload < PAYLOADS; payload++)
		measure(payload);
	check_recorded();
	print_table(no_lttng);
	add_results(no_lttng);
	add_bars();
	rows_close();
	return 0;
}
