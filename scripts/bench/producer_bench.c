// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints the cost of an event that a thread emits to its ring: mapped_ring.h and emit.c as
 * libelog has them, on ordinary memory, compared with a plain copy and with LTTng-UST, all in
 * one run.  The kernel's work, which it does later, is not in it.
 *
 * The machine may be shared.  Therefore batches of all rows alternate, and the fastest batch
 * counts.  A batch never fills the ring; between batches, everything is taken.  Percentiles are of
 * short bursts: see bursts.h.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <elog.h>

#include "bench_rows.h"
#include "bursts.h"
#include "lttng_loop.h"
#include "producer/mapped_ring.h"
#include "producer/rings.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define HEADER_BYTES 4096
#define DATA_BYTES (1U << 18)
#define BATCH_EVENTS 800
#define WARM_UP_BATCHES 20
#define PAIR_BATCHES 200

static const uint32_t payloads[] = { 0, 32, 256 };
#define BAR_PAYLOAD 1

static unsigned int batches = 400;
static unsigned char payload[256];

static uint64_t clock_now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* ---- the clocks of an event ---- */

static inline uint64_t clock_tsc(const struct elog_mapped_ring *ring)
{
	(void)ring;
	return __builtin_ia32_rdtsc();
}

static inline uint64_t clock_vdso(const struct elog_mapped_ring *ring)
{
	return clock_now(CLOCK_MONOTONIC) + (uint64_t)ring->time_offset;
}

/* ---- rows ---- */

/* A thread's ring, a buffer of the same size, and an event that is in the ring. */
struct side {
	struct elog_mapped_ring ring;
	unsigned char *buffer;
	uint32_t position;
};

static struct side side;
static const unsigned char enabled_byte = EVENTLOG_STATUS_ENABLED, disabled_byte;
static const unsigned char *volatile plain_byte = &disabled_byte;
static struct elog_event *event_on, *event_off;

static void *pages(size_t bytes)
{
	void *address = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (address == MAP_FAILED)
		fail("no memory: %s", strerror(errno));
	return address;
}

static void side_open(struct side *opened)
{
	memset(opened, 0, sizeof(*opened));
	opened->ring.header = pages(HEADER_BYTES + DATA_BYTES);
	opened->ring.mask = DATA_BYTES - 1;
	opened->ring.data_offset = HEADER_BYTES;
	opened->buffer = pages(DATA_BYTES);
}

/* The drain. */
static void take(struct side *of)
{
	of->ring.header->position = of->ring.header->committed;
}

#define FLOOR(name, clock)								\
static __attribute__((noinline)) void name(struct side *of, uint32_t bytes, uint32_t count) \
{											\
	const uint32_t need = elog_mapped_need(bytes);					\
	struct eventlog_mapped_record *record;						\
											\
	for (; count; count--) {							\
		if (of->position + need > DATA_BYTES)					\
			of->position = 0;						\
		record = (void *)(of->buffer + of->position);				\
		record->size = (uint32_t)sizeof(*record) + bytes;			\
		record->write_index = 5;						\
		record->time = clock(&of->ring);					\
		record->session = 7;							\
		elog_mapped_copy((unsigned char *)(record + 1), payload, bytes);	\
		of->position += need;							\
		elog_mapped_fence();							\
	}										\
}

#define EMIT(name, clock)								\
static __attribute__((noinline)) void name(struct side *of, uint32_t bytes, uint32_t count) \
{											\
	for (; count; count--)								\
		if (elog_mapped_emit(&of->ring, 5, 7, payload, bytes, clock) !=		\
		    ELOG_MAPPED_DONE)							\
			fail("an event was not put in the ring");			\
}

FLOOR(floor_tsc, clock_tsc)
FLOOR(floor_vdso, clock_vdso)
EMIT(emit_tsc, clock_tsc)
EMIT(emit_vdso, clock_vdso)

static void write_events(struct side *of, uint32_t bytes, uint32_t count, uint32_t cycles)
{
	struct iovec part = { payload, bytes };

	of->ring.cycles = cycles;
	elog_thread_rings.rings[0] = &of->ring;
	for (; count; count--)
		if (elog_event_write(event_on, 7, &part, 1))
			fail("an event was not put in the ring");
}

static void library_tsc(struct side *of, uint32_t bytes, uint32_t count)
{
	write_events(of, bytes, count, 1);
}

static void library_vdso(struct side *of, uint32_t bytes, uint32_t count)
{
	write_events(of, bytes, count, 0);
}

static void lttng(struct side *of, uint32_t bytes, uint32_t count)
{
	(void)of;
	lttng_loop(bytes, payload, count);
}

static __attribute__((noinline)) void test_plain(struct side *of, uint32_t bytes, uint32_t count)
{
	const unsigned char *byte = plain_byte;

	(void)of;
	(void)bytes;
	for (; count; count--) {
		if (__builtin_expect(__atomic_load_n(byte, __ATOMIC_RELAXED), 0))
			fail("the byte changed");
		elog_mapped_fence();
	}
}

static __attribute__((noinline)) void test_event(struct side *of, uint32_t bytes, uint32_t count)
{
	struct elog_event *event = event_off;

	(void)of;
	(void)bytes;
	for (; count; count--) {
		if (elog_event_enabled(event))
			fail("the event is enabled");
		elog_mapped_fence();
	}
}

enum {
	FLOOR_TSC, INLINE_TSC, LIBRARY_TSC, FLOOR_VDSO, INLINE_VDSO, LIBRARY_VDSO, LTTNG,
	TEST_PLAIN, TEST_EVENT, ROWS,
};

static const struct {
	const char *name;
	const char *text;
	void (*run)(struct side *of, uint32_t bytes, uint32_t count);
	bool once;	/* the payload does not matter */
} rows[ROWS] = {
	[FLOOR_TSC] = { "floor_tsc", "TSC and copy, no ring", floor_tsc, false },
	[INLINE_TSC] = { "inline_tsc", "mapped ring, TSC, inline", emit_tsc, false },
	[LIBRARY_TSC] = { "library_tsc", "elog_event_write(), TSC", library_tsc, false },
	[FLOOR_VDSO] = { "floor_vdso", "vDSO clock and copy, no ring", floor_vdso, false },
	[INLINE_VDSO] = { "inline_vdso", "mapped ring, vDSO clock, inline", emit_vdso, false },
	[LIBRARY_VDSO] = { "library_vdso", "elog_event_write(), vDSO clock", library_vdso, false },
	[LTTNG] = { "lttng", "LTTng-UST tracepoint", lttng, false },
	[TEST_PLAIN] = { "test_plain", "load and test of a byte", test_plain, true },
	[TEST_EVENT] = { "test_event", "elog_event_enabled(), disabled", test_event, true },
};

static double minima[ROWS][ARRAY_SIZE(payloads)];
static const char *lttng_mode = "overwrite";

static const char *key_of(unsigned int row, unsigned int size)
{
	static char key[64];

	if (rows[row].once)
		snprintf(key, sizeof(key), "%s", rows[row].name);
	else
		snprintf(key, sizeof(key), "%s%s%s_%u", rows[row].name, row == LTTNG ? "_" : "",
			 row == LTTNG ? lttng_mode : "", payloads[size]);
	return key;
}

static bool is_measured(unsigned int row, unsigned int size)
{
	return !rows[row].once || size == BAR_PAYLOAD;
}

static int compare(const void *left, const void *right)
{
	double difference = *(const double *)left - *(const double *)right;

	return (difference > 0) - (difference < 0);
}

static double batch(unsigned int row, unsigned int size)
{
	uint64_t begin;
	double value;

	begin = clock_now(CLOCK_MONOTONIC);
	rows[row].run(&side, payloads[size], BATCH_EVENTS);
	value = (double)(clock_now(CLOCK_MONOTONIC) - begin) / BATCH_EVENTS;
	take(&side);
	return value;
}

static void measure(unsigned int size, bool only_lttng)
{
	double *values[ROWS];
	unsigned int row, i;

	for (row = 0; row < ROWS; row++)
		values[row] = calloc(batches, sizeof(double));
	for (i = 0; i < WARM_UP_BATCHES + batches; i++) {
		for (row = 0; row < ROWS; row++) {
			double value;

			if (!is_measured(row, size) || (only_lttng && row != LTTNG) ||
			    (row == LTTNG && lttng_loop_missing(payloads[size])))
				continue;
			value = batch(row, size);
			if (i >= WARM_UP_BATCHES)
				values[row][i - WARM_UP_BATCHES] = value;
		}
	}
	for (row = 0; row < ROWS; row++) {
		if (!is_measured(row, size) || (only_lttng && row != LTTNG)) {
			;
		} else if (row == LTTNG && lttng_loop_missing(payloads[size])) {
			rows_not_run(key_of(row, size), lttng_loop_missing(payloads[size]));
		} else {
			qsort(values[row], batches, sizeof(double), compare);
			minima[row][size] = values[row][0];
			rows_value(key_of(row, size), values[row][0], values[row][batches / 2]);
		}
		free(values[row]);
	}
}

/* ---- instructions ---- */

static volatile unsigned int steps;

static void on_step(int signal)
{
	(void)signal;
	steps++;
}

static unsigned int step(unsigned int row, uint32_t count)
{
	unsigned long long flags = __builtin_ia32_readeflags_u64();

	steps = 0;
	__builtin_ia32_writeeflags_u64(flags | 0x100);
	rows[row].run(&side, payloads[BAR_PAYLOAD], count);
	__builtin_ia32_writeeflags_u64(flags & ~0x100ULL);
	take(&side);
	return steps;
}

/* Of the loop around an event: a subtraction and a jump. */
#define LOOP_INSTRUCTIONS 2

static double instructions(unsigned int row)
{
	struct sigaction action = { .sa_handler = on_step };

	sigaction(SIGTRAP, &action, NULL);
	return (step(row, 101) - step(row, 1)) / 100.0 - LOOP_INSTRUCTIONS;
}

/* ---- two threads ---- */

static uint32_t starts;		/* atomic */

/* CPU time of an event, because the machine may have fewer CPUs for us than threads. */
static void *run_alone(void *argument)
{
	double *least = argument;
	struct side own;
	unsigned int i;
	uint64_t begin;

	side_open(&own);
	__atomic_fetch_sub(&starts, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&starts, __ATOMIC_SEQ_CST))
		sched_yield();
	*least = 1e9;
	for (i = 0; i < PAIR_BATCHES; i++) {
		double value;

		begin = clock_now(CLOCK_THREAD_CPUTIME_ID);
		emit_tsc(&own, payloads[BAR_PAYLOAD], BATCH_EVENTS);
		value = (double)(clock_now(CLOCK_THREAD_CPUTIME_ID) - begin) / BATCH_EVENTS;
		if (value < *least)
			*least = value;
		take(&own);
	}
	return NULL;
}

static double run_threads(unsigned int count)
{
	double least[2], most = 0;
	pthread_t threads[2];
	unsigned int i;

	starts = count;
	for (i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, run_alone, &least[i]))
			fail("cannot create a thread");
	for (i = 0; i < count; i++) {
		pthread_join(threads[i], NULL);
		most = least[i] > most ? least[i] : most;
	}
	return most;
}

/* ---- percentiles ---- */

static void *open_side(void)
{
	struct side *opened = malloc(sizeof(*opened));

	if (!opened)
		fail("no memory");
	side_open(opened);
	return opened;
}

static void emit_library(void *context, uint32_t count)
{
	library_tsc(context, payloads[BAR_PAYLOAD], count);
}

static void emit_lttng(void *context, uint32_t count)
{
	lttng(context, payloads[BAR_PAYLOAD], count);
}

static void take_side(void *context)
{
	take(context);
}

static const struct burst_log library_burst = { open_side, emit_library, take_side };
static const struct burst_log lttng_burst = { open_side, emit_lttng, NULL };

static const struct {
	const char *name;
	const char *text;
} burst_rows[] = {
	{ "library", "elog_event_write(), TSC, 32 bytes" },
	{ "lttng", "LTTng-UST tracepoint, 32 bytes" },
	{ "spdlog", "spdlog, asynchronous, 3 numbers" },
};

static const unsigned int burst_threads[] = { 1, BURST_THREADS };

static const char *burst_key(unsigned int row, unsigned int threads, unsigned int percentile)
{
	static char key[64];

	snprintf(key, sizeof(key), "burst_%s_%u_p%u", burst_rows[row].name, threads,
		 burst_percentiles[percentile]);
	return key;
}

static void declare_bursts(void)
{
	unsigned int row, i, k;

	for (row = 0; row < ARRAY_SIZE(burst_rows); row++)
		for (i = 0; i < ARRAY_SIZE(burst_threads); i++)
			for (k = 0; k < BURST_PERCENTILES; k++)
				rows_declare(burst_key(row, burst_threads[i], k), "ns",
					     "%s, %u threads, percentile %.1f",
					     burst_rows[row].text, burst_threads[i],
					     burst_percentiles[k] / 10.0);
}

static void add_bursts(void)
{
	const char *lttng_missing = lttng_loop_missing(payloads[BAR_PAYLOAD]);
	const struct burst_log *logs[] = {
		&library_burst, lttng_missing ? NULL : &lttng_burst, spdlog_burst(),
	};
	const char *reasons[] = { NULL, lttng_missing, "spdlog is not installed" };
	unsigned int row, i, k;

	printf("\n%-34s %8s %8s %8s %8s\n", "ns an event, bursts of 20", "threads", "50 %",
	       "95 %", "99.9 %");
	for (row = 0; row < ARRAY_SIZE(burst_rows); row++) {
		for (i = 0; i < ARRAY_SIZE(burst_threads); i++) {
			double result[BURST_PERCENTILES];

			if (logs[row])
				bursts_measure(logs[row], burst_threads[i], batches * 25, result);
			for (k = 0; k < BURST_PERCENTILES; k++) {
				const char *key = burst_key(row, burst_threads[i], k);

				if (logs[row])
					rows_value(key, result[k], result[k]);
				else
					rows_not_run(key, reasons[row]);
			}
			if (logs[row])
				printf("%-34s %8u %8.1f %8.1f %8.1f\n", burst_rows[row].text,
				       burst_threads[i], result[0], result[1], result[2]);
		}
	}
}

/* ---- main ---- */

static struct elog_event *event_with(const unsigned char *status)
{
	const struct elog_producer_options options = {
		.size = sizeof(options), .device = "/nonexistent",
	};
	static struct elog_producer *producer;
	struct elog_event *event;

	if ((!producer && elog_producer_open(&producer, &options)) ||
	    elog_event_register(producer, "bench", "event u64 number", 0, 0, 0, &event))
		fail("cannot register an event");
	event->status = status;
	return event;
}

static void declare(bool only_lttng)
{
	unsigned int row, size;

	for (row = 0; row < ROWS; row++)
		for (size = 0; size < ARRAY_SIZE(payloads); size++)
			if (is_measured(row, size) && (!only_lttng || row == LTTNG))
				rows_declare(key_of(row, size), "ns", "%s%s%s%s, %u bytes",
					     rows[row].text, row == LTTNG ? " (" : "",
					     row == LTTNG ? lttng_mode : "",
					     row == LTTNG ? ")" : "", payloads[size]);
	if (only_lttng)
		return;
	rows_declare("inline_instructions", "instructions", "mapped ring, TSC, inline, 32 bytes");
	rows_declare("library_tsc_instructions", "instructions",
		     "elog_event_write(), TSC, 32 bytes");
	rows_declare("one_thread", "ns", "CPU time of an event, one thread");
	rows_declare("two_threads", "ns", "CPU time of an event, two threads");
	declare_bursts();
}

static void add_ratio(const char *key, double limit, unsigned int row, const char *text)
{
	if (minima[LTTNG][BAR_PAYLOAD] > 0)
		rows_bar(key, "at-least", limit,
			 minima[LTTNG][BAR_PAYLOAD] / minima[row][BAR_PAYLOAD], text);
	else
		rows_bar_unknown(key, "at-least", limit, text);
}

static void add_results(void)
{
	double count = instructions(INLINE_TSC), one = run_threads(1), two = run_threads(2);
	unsigned int row;

	rows_value("inline_instructions", count, count);
	rows_bar("inline_instructions", "at-most", 40, count,
		 "instructions of an event of 32 bytes, inline, TSC");
	count = instructions(LIBRARY_TSC);
	rows_value("library_tsc_instructions", count, count);
	rows_value("one_thread", one, one);
	rows_value("two_threads", two, two);
	rows_bar("two_threads", "at-most", 1.05, two / one,
		 "CPU time of an event: two threads / one");
	rows_bar("disabled", "at-most", 1.2,
		 minima[TEST_EVENT][BAR_PAYLOAD] / minima[TEST_PLAIN][BAR_PAYLOAD],
		 "test of a disabled event / test of a byte");
	add_ratio("inline_tsc", 5, INLINE_TSC, "32 bytes: LTTng-UST / ring, inline, TSC");
	add_ratio("library_tsc", 4.5, LIBRARY_TSC, "32 bytes: LTTng-UST / elog_event_write(), TSC");
	add_ratio("inline_vdso", 3, INLINE_VDSO, "32 bytes: LTTng-UST / ring, inline, vDSO clock");
	printf("%-34s %8s %8s %8s\n", "ns an event, fastest batch", "0", "32", "256");
	for (row = 0; row < ROWS; row++)
		printf("%-34s %8.1f %8.1f %8.1f\n", rows[row].text, minima[row][0], minima[row][1],
		       minima[row][2]);
}

static const char help[] =
	"usage: producer_bench [--batches N] [--lttng MODE] [--rows FILE]\n"
	"\n"
	"Times events that a thread puts in its ring, and prints a table: ns an event, the\n"
	"fastest of N batches (default 400).\n"
	"\n"
	"  --batches N    batches of each row\n"
	"  --lttng MODE   only the rows of LTTng-UST, whose session has this mode\n"
	"  --rows FILE    append the results to FILE, for scripts/bench/rows.sh\n";

int main(int argc, char **argv)
{
	static const struct option options[] = {
		ROWS_OPTIONS,
		{ "lttng", required_argument, NULL, 'l' },
		{ 0 },
	};
	bool only_lttng = false;
	unsigned int size;
	int option;

	while ((option = getopt_long(argc, argv, ROWS_LETTERS "l:", options, NULL)) != -1) {
		if (option != 'l') {
			rows_option(option, help, &batches);
			continue;
		}
		lttng_mode = optarg;
		only_lttng = true;
	}
	declare(only_lttng);
	memset(payload, 0x5a, sizeof(payload));
	side_open(&side);
	event_on = event_with(&enabled_byte);
	event_off = event_with(&disabled_byte);
	for (size = 0; size < ARRAY_SIZE(payloads); size++)
		measure(size, only_lttng);
	if (!only_lttng) {
		add_results();
		add_bursts();
	}
	rows_close();
	return 0;
}
