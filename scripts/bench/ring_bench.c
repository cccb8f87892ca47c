// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints the cost of an event in the ring: ring.h and ring.c as the kernel has them,
 * timed in user space, compared with a plain copy, with a LOCKed
 * compare-and-exchange, and with LTTng-UST, all in one run.
 *
 * The machine may be shared.  Therefore the program stays on one CPU, batches of all
 * columns alternate, and the fastest batch counts.  One thread does everything,
 * except that measuring two threads adds a second one on another CPU, with a ring of
 * its own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "bench_rows.h"
#include "lttng_loop.h"
#include "ring_loop.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define PAGE_BYTES 4096
#define RING_BYTES (1U << 18)
#define BATCH_EVENTS 1000
#define WARM_UP_BATCHES 20
#define PAIR_EVENTS 4000
#define BATCH_EXCHANGES 4000

/* The bars, and the row they are measured in. */
#define BAR_CLOCK 1
#define BAR_ROW 2
#define BAR_BYTES payloads[BAR_ROW]
#define BAR_EXCHANGES 2.0
#define BAR_SCALING 1.9

static const u32 payloads[] = { 0, 12, 32, 64, 256, 1024, 4096 };

static const struct bench_clock {
	const char *name;
	const struct bench_loops *local;
	const struct bench_loops *locked;
	bool lttng;
} clocks[] = {
	{ "none", &bench_loops_none, &bench_loops_none_locked, false },
	{ "tsc", &bench_loops_tsc, &bench_loops_tsc_locked, false },
	/* The clock of LTTng, which cannot be changed. */
	{ "monotonic", &bench_loops_monotonic, &bench_loops_monotonic_locked, true },
};

enum contestant {
	FLOOR,
	DISCARD,
	OVERWRITE,
	LOCKED,
	LTTNG,
	CONTESTANTS,
};

static const struct {
	const char *name;
	const char *text;
} contestants[CONTESTANTS] = {
	[FLOOR] = { "floor", "clock and copy, no ring" },
	[DISCARD] = { "discard", "ring in user space, discard" },
	[OVERWRITE] = { "overwrite", "ring in user space, overwrite" },
	[LOCKED] = { "locked", "ring in user space, discard, LOCKed" },
	[LTTNG] = { "lttng", "complete LTTng-UST tracepoint" },
};

static unsigned int batches = 400;

static u64 now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (u64)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Called only by the locked ring, which is not measured. */
u64 eventlog_ring_clock(void)
{
	return now();
}

/* ---- buffers ---- */

static void *pages(size_t bytes)
{
	void *address = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (address == MAP_FAILED)
		fail("no memory: %s", strerror(errno));
	return address;
}

static struct eventlog_ring *ring_new(bool overwrite)
{
	struct eventlog_ring *ring = aligned_alloc(64, sizeof(*ring));

	if (!ring)
		fail("no memory");
	eventlog_ring_init(ring, pages(2 * PAGE_BYTES + RING_BYTES), PAGE_BYTES, RING_BYTES,
			   RING_BYTES / 2, 0, overwrite, false);
	return ring;
}

static struct eventlog_ring_consumer *ring_consumer(struct eventlog_ring *ring)
{
	return (void *)((u8 *)ring->header + PAGE_BYTES);
}

static u8 payload_bytes[4096];

static struct bench_source source_of(u32 bytes)
{
	return (struct bench_source){
		.session = 0x1100000018,
		.descriptor = 17,
		.pid = getpid(),
		.tid = gettid(),
		.payload = payload_bytes,
		.bytes = bytes,
	};
}

/* The consumer advances by a quarter of the ring at a time. */
static u32 release_of(u32 bytes)
{
	return RING_BYTES / 4 / eventlog_ring_record_bytes(bytes);
}

static void emit(const struct bench_loops *loops, struct eventlog_ring *ring,
		 const struct bench_source *source, u32 count)
{
	u32 release = ring->overwrite ? 0 : release_of(source->bytes);

	if (loops->emit(ring, ring_consumer(ring), source, count, release) != count)
		fail("the ring lost events: nothing was measured");
}

/* ---- numbers ---- */

static int compare(const void *left, const void *right)
{
	double difference = *(const double *)left - *(const double *)right;

	return (difference > 0) - (difference < 0);
}

/* Sorts, so that the first is the minimum. */
static double median(double *values, unsigned int count)
{
	qsort(values, count, sizeof(*values), compare);
	return values[count / 2];
}

static double *numbers(unsigned int count)
{
	double *values = calloc(count, sizeof(*values));

	if (!values)
		fail("no memory");
	return values;
}

struct result {
	double minimum;
	double median;
};

static struct result result_of(double *values)
{
	double middle = median(values, batches);

	return (struct result){ values[0], middle };
}

/* ---- pinning ---- */

static int cpus[2] = { -1, -1 };

static void find_cpus(void)
{
	unsigned int found = 0;
	cpu_set_t set;
	int cpu;

	if (sched_getaffinity(0, sizeof(set), &set))
		fail("sched_getaffinity: %s", strerror(errno));
	for (cpu = 0; cpu < CPU_SETSIZE && found < ARRAY_SIZE(cpus); cpu++) {
		if (CPU_ISSET(cpu, &set))
			cpus[found++] = cpu;
	}
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("sched_setaffinity: %s", strerror(errno));
}

/* ---- one thread ---- */

static struct eventlog_ring *rings[CONTESTANTS];
static u8 *floor_data;
static u32 floor_position;
static struct result results[ARRAY_SIZE(clocks)][ARRAY_SIZE(payloads)][CONTESTANTS];

/* The cost of a compare-and-exchange: the bar's unit. */
enum {
	EXCHANGE,
	EXCHANGE_LOCKED,
	EXCHANGE_CHAIN,
	EXCHANGE_CHAIN_LOCKED,
	EXCHANGES,
};

static u32 run_exchange(u64 *line)
{
	return bench_loops_none.exchange(line, BATCH_EXCHANGES);
}

static u32 run_exchange_locked(u64 *line)
{
	return bench_loops_none_locked.exchange(line, BATCH_EXCHANGES);
}

static u32 run_exchange_chain(u64 *line)
{
	return bench_loops_none.exchange_chain(line, BATCH_EXCHANGES);
}

static u32 run_exchange_chain_locked(u64 *line)
{
	return bench_loops_none_locked.exchange_chain(line, BATCH_EXCHANGES);
}

static const struct {
	const char *name;
	const char *text;
	u32 (*run)(u64 *line);
} exchanges[EXCHANGES] = {
	[EXCHANGE] = { "exchange", "compare-and-exchange", run_exchange },
	[EXCHANGE_LOCKED] = { "exchange_locked", "compare-and-exchange, LOCKed",
			      run_exchange_locked },
	[EXCHANGE_CHAIN] = { "exchange_chain", "compare-and-exchange, dependent",
			     run_exchange_chain },
	[EXCHANGE_CHAIN_LOCKED] = { "exchange_chain_locked",
				    "compare-and-exchange, dependent, LOCKed",
				    run_exchange_chain_locked },
};

static struct result exchange_results[EXCHANGES];

/* One batch; returns ns an event. */
static double batch(const struct bench_clock *clock, enum contestant contestant,
		    const struct bench_source *source)
{
	u64 begin = now();

	switch (contestant) {
	case FLOOR:
		floor_position = clock->local->copy(floor_data, RING_BYTES, floor_position,
						    source, BATCH_EVENTS);
		break;
	case DISCARD:
	case OVERWRITE:
		emit(clock->local, rings[contestant], source, BATCH_EVENTS);
		break;
	case LOCKED:
		emit(clock->locked, rings[contestant], source, BATCH_EVENTS);
		break;
	case LTTNG:
		lttng_loop(source->bytes, source->payload, BATCH_EVENTS);
		break;
	case CONTESTANTS:
		break;
	}
	return (double)(now() - begin) / BATCH_EVENTS;
}

/* The reason why a column is not measured, or NULL. */
static const char *missing(const struct bench_clock *clock, enum contestant contestant, u32 bytes)
{
	if (contestant == LTTNG)
		return clock->lttng ? lttng_loop_missing(bytes) : "LTTng has its own clock";
#ifndef __x86_64__
	if (contestant == LOCKED)
		return "this processor has no LOCK prefix";
#endif
	return NULL;
}

/* LTTng has its own clock. */
static bool has_row(const struct bench_clock *clock, enum contestant contestant)
{
	return contestant != LTTNG || clock->lttng;
}

static const char *row_key(const struct bench_clock *clock, enum contestant contestant, u32 bytes)
{
	static char key[64];

	snprintf(key, sizeof(key), "%s_%s_%u", contestants[contestant].name, clock->name, bytes);
	return key;
}

static void declare_rows(void)
{
	unsigned int clock, payload, contestant, kind;

	for (clock = 0; clock < ARRAY_SIZE(clocks); clock++) {
		for (payload = 0; payload < ARRAY_SIZE(payloads); payload++) {
			for (contestant = 0; contestant < CONTESTANTS; contestant++) {
				if (!has_row(&clocks[clock], contestant))
					continue;
				rows_declare(row_key(&clocks[clock], contestant, payloads[payload]),
					     "ns", "%s, clock %s, %u bytes",
					     contestants[contestant].text, clocks[clock].name,
					     payloads[payload]);
			}
		}
	}
	for (kind = 0; kind < EXCHANGES; kind++)
		rows_declare(exchanges[kind].name, "ns", "%s", exchanges[kind].text);
	rows_declare("two_threads_floor", "ns", "two threads, each with copies, an event of both");
	rows_declare("two_threads", "ns", "two threads, each with a ring, an event of both");
}

static void measure(unsigned int clock_index, unsigned int payload_index)
{
	const struct bench_clock *clock = &clocks[clock_index];
	u32 bytes = payloads[payload_index];
	struct bench_source source = source_of(bytes);
	double *values[CONTESTANTS];
	unsigned int contestant, i;

	for (contestant = 0; contestant < CONTESTANTS; contestant++)
		values[contestant] = numbers(batches);
	for (i = 0; i < WARM_UP_BATCHES + batches; i++) {
		for (contestant = 0; contestant < CONTESTANTS; contestant++) {
			double value;

			if (missing(clock, contestant, bytes))
				continue;
			value = batch(clock, contestant, &source);
			if (i >= WARM_UP_BATCHES)
				values[contestant][i - WARM_UP_BATCHES] = value;
		}
	}
	for (contestant = 0; contestant < CONTESTANTS; contestant++) {
		const char *key = row_key(clock, contestant, bytes);
		const char *reason = missing(clock, contestant, bytes);
		struct result *result = &results[clock_index][payload_index][contestant];

		if (!has_row(clock, contestant)) {
			;
		} else if (reason) {
			rows_not_run(key, reason);
		} else {
			*result = result_of(values[contestant]);
			rows_value(key, result->minimum, result->median);
		}
		free(values[contestant]);
	}
}

static void measure_exchange(void)
{
	u64 *line = aligned_alloc(64, BENCH_LINE_WORDS * sizeof(*line));
	double *values[EXCHANGES];
	unsigned int i, kind;
	u64 begin;

	if (!line)
		fail("no memory");
	memset(line, 0, BENCH_LINE_WORDS * sizeof(*line));
	for (kind = 0; kind < EXCHANGES; kind++)
		values[kind] = numbers(batches);
	for (i = 0; i < batches; i++) {
		for (kind = 0; kind < EXCHANGES; kind++) {
			begin = now();
			if (exchanges[kind].run(line))
				fail("an exchange failed");
			values[kind][i] = (double)(now() - begin) / BATCH_EXCHANGES;
		}
	}
	for (kind = 0; kind < EXCHANGES; kind++) {
		exchange_results[kind] = result_of(values[kind]);
		rows_value(exchanges[kind].name, exchange_results[kind].minimum,
			   exchange_results[kind].median);
		free(values[kind]);
	}
	free(line);
}

/* ---- two threads ---- */

/*
 * The second thread sleeps while the first is measured alone.  After it is woken, it
 * sets ready.  Both start at the time that the first one then sets, and each sets
 * done at its end.
 */
struct partner {
	sem_t wake;
	bool copying;
	bool quit;
	u32 ready;	/* atomic */
	u32 done;	/* atomic */
	u64 begin;	/* atomic; 0: not set yet */
	u64 end;
};

/* What one of the two threads writes to. */
struct side {
	struct eventlog_ring *ring;
	u8 *data;
	u32 position;
};

static void side_open(struct side *side)
{
	side->ring = ring_new(false);
	side->data = pages(RING_BYTES);
	side->position = 0;
}

static void side_run(struct side *side, bool copying, const struct bench_source *source)
{
	if (copying)
		side->position = bench_loops_tsc.copy(side->data, RING_BYTES, side->position,
						      source, PAIR_EVENTS);
	else
		emit(&bench_loops_tsc, side->ring, source, PAIR_EVENTS);
}

static u64 side_run_at(struct side *side, bool copying, const struct bench_source *source,
		       u64 begin)
{
	while (now() < begin)
		;
	side_run(side, copying, source);
	return now();
}

static void *partner_main(void *argument)
{
	struct bench_source source = source_of(BAR_BYTES);
	struct partner *partner = argument;
	struct side side;
	u64 begin;

	pin(cpus[1]);
	side_open(&side);
	for (;;) {
		while (sem_wait(&partner->wake))
			;
		if (partner->quit)
			return NULL;
		__atomic_store_n(&partner->ready, 1, __ATOMIC_RELEASE);
		do {
			begin = __atomic_load_n(&partner->begin, __ATOMIC_ACQUIRE);
		} while (!begin);
		partner->end = side_run_at(&side, partner->copying, &source, begin);
		__atomic_store_n(&partner->done, 1, __ATOMIC_RELEASE);
	}
}

/* Both threads at once; returns the time from the common start to the later end. */
static u64 run_both(struct partner *partner, struct side *side, bool copying,
		    const struct bench_source *source)
{
	u64 begin, end;

	partner->copying = copying;
	partner->ready = 0;
	partner->done = 0;
	partner->begin = 0;
	sem_post(&partner->wake);
	while (!__atomic_load_n(&partner->ready, __ATOMIC_ACQUIRE))
		;
	begin = now() + 2000;
	__atomic_store_n(&partner->begin, begin, __ATOMIC_RELEASE);
	end = side_run_at(side, copying, source, begin);
	while (!__atomic_load_n(&partner->done, __ATOMIC_ACQUIRE))
		;
	if (partner->end > end)
		end = partner->end;
	return end - begin;
}

struct scaling {
	double minima;	/* fastest batch alone / fastest together */
	double median;	/* of the pairs */
};

static struct scaling measure_scaling(struct partner *partner, struct side *side, bool copying)
{
	double *alone = numbers(batches), *both = numbers(batches), *ratio = numbers(batches);
	struct bench_source source = source_of(BAR_BYTES);
	struct scaling scaling;
	unsigned int i, round;
	u64 begin;

	/* The first round warms up. */
	for (round = 0; round < 2; round++) {
		for (i = 0; i < batches; i++) {
			begin = now() + 2000;
			alone[i] = side_run_at(side, copying, &source, begin) - begin;
			both[i] = run_both(partner, side, copying, &source);
			ratio[i] = 2 * alone[i] / both[i];
		}
	}
	scaling.median = median(ratio, batches);
	median(alone, batches);
	median(both, batches);
	scaling.minima = 2 * alone[0] / both[0];
	/* Two events in the time of a pair. */
	rows_value(copying ? "two_threads_floor" : "two_threads", both[0] / (2 * PAIR_EVENTS),
		   both[batches / 2] / (2 * PAIR_EVENTS));
	free(alone);
	free(both);
	free(ratio);
	return scaling;
}

/* ---- the table ---- */

static void print_value(bool present, double value, int width)
{
	if (present)
		printf("%*.1f", width, value);
	else
		printf("%*s", width, "-");
}

static void print_table(void)
{
	unsigned int clock, payload, contestant;

	printf("%-10s %5s %8s %8s %8s %9s %8s %8s   %8s %8s %8s\n", "", "", "", "", "discard", "",
	       "", "", "discard", "LOCKed", "LTTng");
	printf("%-10s %5s %8s %8s %8s %9s %8s %8s   %8s %8s %8s\n", "clock", "bytes", "floor",
	       "discard", "median", "overwrite", "LOCKed", "LTTng", "/ floor", "/discard",
	       "/discard");
	for (clock = 0; clock < ARRAY_SIZE(clocks); clock++) {
		for (payload = 0; payload < ARRAY_SIZE(payloads); payload++) {
			const struct result *row = results[clock][payload];
			bool present[CONTESTANTS];

			for (contestant = 0; contestant < CONTESTANTS; contestant++)
				present[contestant] = !missing(&clocks[clock], contestant,
							       payloads[payload]);
			printf("%-10s %5u", clocks[clock].name, payloads[payload]);
			print_value(true, row[FLOOR].minimum, 9);
			print_value(true, row[DISCARD].minimum, 9);
			print_value(true, row[DISCARD].median, 9);
			print_value(true, row[OVERWRITE].minimum, 10);
			print_value(present[LOCKED], row[LOCKED].minimum, 9);
			print_value(present[LTTNG], row[LTTNG].minimum, 9);
			printf("  ");
			print_value(true, row[DISCARD].minimum / row[FLOOR].minimum, 9);
			print_value(present[LOCKED], row[LOCKED].minimum / row[DISCARD].minimum,
				    9);
			print_value(present[LTTNG], row[LTTNG].minimum / row[DISCARD].minimum, 9);
			putchar('\n');
		}
	}
	for (contestant = 0; contestant < CONTESTANTS; contestant++) {
		const char *reason = missing(&clocks[ARRAY_SIZE(clocks) - 1], contestant,
					     BAR_BYTES);

		if (reason)
			printf("%s: not run: %s\n", contestants[contestant].text, reason);
	}
	printf("\ncompare-and-exchange: %.2f ns, LOCKed %.2f ns; dependent on the one before: "
	       "%.2f ns, LOCKed %.2f ns\n", exchange_results[EXCHANGE].minimum,
	       exchange_results[EXCHANGE_LOCKED].minimum, exchange_results[EXCHANGE_CHAIN].minimum,
	       exchange_results[EXCHANGE_CHAIN_LOCKED].minimum);
	for (clock = 0; clock < ARRAY_SIZE(clocks); clock++) {
		const struct result *row = results[clock][BAR_ROW];

		printf("%u bytes, clock %s: the ring adds %.2f ns to the floor\n", BAR_BYTES,
		       clocks[clock].name, row[DISCARD].minimum - row[FLOOR].minimum);
	}
}

static void add_bars(const struct scaling *ring, const struct scaling *copy)
{
	const char *const two_threads = "ring, 32 bytes: throughput of two threads / one";
	const struct result *row = results[BAR_CLOCK][BAR_ROW];

	rows_bar("ring_adds", "at-most", BAR_EXCHANGES * exchange_results[EXCHANGE].minimum,
		 row[DISCARD].minimum - row[FLOOR].minimum,
		 "ns that the ring adds to clock and copy (32 bytes, TSC); limit: two exchanges");
	if (!ring) {
		rows_bar_unknown("two_threads", "at-least", BAR_SCALING, two_threads);
		return;
	}
	printf("two threads: %.2f times the throughput of one (median %.2f; plain copies %.2f)\n",
	       ring->minima, ring->median, copy->minima);
	rows_bar("two_threads", "at-least", BAR_SCALING, ring->minima, two_threads);
}

static const char help[] =
	"usage: ring_bench [--batches N] [--rows FILE]\n"
	"\n"
	"Times the ring in user space and prints a table: ns an event, the fastest of N\n"
	"batches (default 400).  No program has such a ring: an event of a process also\n"
	"costs a system call, which scripts/bench/process measures.\n"
	"\n"
	"  floor      the clock, and a copy of header and payload to a buffer of the ring's size\n"
	"  discard    the ring, keeping the oldest; its consumer advances a quarter at a time\n"
	"  overwrite  the ring, keeping the newest\n"
	"  LOCKed     discard, with a LOCK prefix on compare-and-exchange\n"
	"  LTTng      a complete tracepoint of LTTng-UST with an array of bytes, if a session\n"
	"             records it; scripts/bench/ring sets one up\n"
	"\n"
	"  --batches N    batches of each row\n"
	"  --rows FILE    append the results to FILE, for scripts/bench/rows.sh\n";

static void arguments(int argc, char **argv)
{
	static const struct option options[] = {
		ROWS_OPTIONS,
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, ROWS_LETTERS, options, NULL)) != -1)
		rows_option(option, help, &batches);
	if (optind < argc) {
		fputs(help, stderr);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct scaling ring_scaling, copy_scaling;
	struct partner partner = { 0 };
	unsigned int clock, payload;
	bool pair;
	pthread_t thread;
	struct side side;

	arguments(argc, argv);
	declare_rows();
	find_cpus();
	pin(cpus[0]);
	memset(payload_bytes, 0x5a, sizeof(payload_bytes));
	rings[DISCARD] = ring_new(false);
	rings[OVERWRITE] = ring_new(true);
	rings[LOCKED] = ring_new(false);
	floor_data = pages(RING_BYTES);

	printf("ns an event, fastest of %u batches of %u; rings of %u KiB\n\n", batches,
	       BATCH_EVENTS, RING_BYTES / 1024);
	for (clock = 0; clock < ARRAY_SIZE(clocks); clock++) {
		for (payload = 0; payload < ARRAY_SIZE(payloads); payload++)
			measure(clock, payload);
	}
	measure_exchange();
	pair = cpus[1] >= 0;
	if (pair) {
		sem_init(&partner.wake, 0, 0);
		if (pthread_create(&thread, NULL, partner_main, &partner))
			fail("cannot create a thread");
		side_open(&side);
		copy_scaling = measure_scaling(&partner, &side, true);
		ring_scaling = measure_scaling(&partner, &side, false);
		partner.quit = true;
		sem_post(&partner.wake);
		pthread_join(thread, NULL);
	} else {
		rows_not_run("two_threads_floor", "only one CPU is available");
		rows_not_run("two_threads", "only one CPU is available");
	}
	print_table();
	add_bars(pair ? &ring_scaling : NULL, &copy_scaling);
	rows_close();
	return 0;
}
