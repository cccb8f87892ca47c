// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stresses the ring's core, ring.h and ring.c as the kernel uses them, in user
 * space: writers that are interrupted at every instruction, and consumers that are
 * slow or store wrong positions.  Every byte read is checked and every event is
 * accounted for.  Prints TAP.
 *
 *	ring_stress [-l] [-x] [-c CASE]... [-t PERCENT] [-s SEED]
 *
 * It is built plain, with AddressSanitizer and UndefinedBehaviorSanitizer, and with
 * ThreadSanitizer; and all three also as for a 32-bit machine, where every ring is
 * locked and positions are stored in halves.  A reordering of memory accesses that
 * this machine's processor never does cannot be seen here; the models cover those.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ring_test.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* The limit detects hangs. */
#define CASE_SECONDS 60

static u32 seed = 1;
/* Share of the durations below; 100 is for finding mutants, and a check runs six builds. */
static unsigned int percent = 50;
static unsigned int places;

static u64 now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (u64)time.tv_sec * 1000000000 + time.tv_nsec;
}

static u64 after(unsigned int milliseconds)
{
	return now() + (u64)milliseconds * percent * 10000;
}

#define CHECK(condition)								\
	do {										\
		if (!(condition))							\
			test_fail("%s:%d: %s", __FILE__, __LINE__, #condition);		\
	} while (0)

/* Prints how often a case saw something and fails if it never did. */
static void saw(u64 count, const char *what)
{
	printf("#\t%llu %s\n", (unsigned long long)count, what);
	if (!count) {
		fflush(stdout);
		test_fail("no %s: the case tested nothing", what);
	}
}

/* ---- one writer and no interrupts: exact results ---- */

static const struct test_geometry small = {
	.page_bytes = 1024, .sub_buffer_bytes = 256, .sub_buffers = 2,
};

static void case_geometry(void)
{
	static const struct test_geometry geometry = {
		.page_bytes = 4096, .sub_buffer_bytes = 8192, .sub_buffers = 4, .overwrite = true,
	};
	struct test_ring test;
	unsigned int i;

	test_ring_open(&test, 3, &geometry, seed);
	test_ring_intact(&test);
	CHECK(test.ring.header->data_offset == 8192);
	CHECK((u8 *)test.ring.consumer == test.mapping + 4096);
	CHECK(!test.ring.header->records && !test.ring.header->lost_total);
	for (i = 0; i < EVENTLOG_LOST_CAUSES; i++)
		CHECK(!test.ring.header->lost[i]);
	CHECK(eventlog_ring_unread(&test.ring) == 0);
	CHECK(!eventlog_ring_unseen_loss(&test.ring));
	test_ring_close(&test);
}

/* Every record size in both modes; the largest record has a lost record before it. */
static void case_sizes(void)
{
	static const u32 sub_buffers[] = { 256, 4096, 1U << 17 };
	unsigned int i, mode, place;
	struct checker checker;
	struct test_ring test;
	u32 payload, step;

	for (i = 0; i < 2 * ARRAY_SIZE(sub_buffers); i++) {
		struct test_geometry geometry = {
			.page_bytes = 4096, .sub_buffer_bytes = sub_buffers[i / 2],
			.sub_buffers = 2, .overwrite = i % 2,
		};

		mode = i % 2;
		test_ring_open(&test, mode, &geometry, seed);
		checker_open(&checker, &test);
		test_current = &test;
		step = sub_buffers[i / 2] > 4096 ? 509 : 1 + 10 * UNDER_TSAN;
		for (payload = 0; payload < test_payload_max(&test); payload += step) {
			CHECK(test_emit(&test, payload));
			checker_take(&checker, ~0U, true);
		}
		CHECK(checker.events && !test.ring.header->lost_total);
		/* A record that fits always fits, at any position, with or without lost record. */
		for (place = 0; place < sub_buffers[i / 2] && place < 4096;
		     place += UNDER_TSAN ? 56 : 8) {
			u64 lost = test.ring.header->lost_total;

			test_ring_restart(&test, (1ULL << 32) - place);
			checker_restart(&checker);
			lost = 0;
			if (test_payload_max(&test) < EVENTLOG_PAYLOAD_MAX) {
				CHECK(!test_emit(&test, test_payload_max(&test) + 1));
				lost = 1;
			}
			CHECK(test.ring.header->lost[EVENTLOG_LOST_TOO_LARGE] == lost);
			CHECK(test_emit(&test, test_payload_max(&test)));
			CHECK(checker_take(&checker, ~0U, true));
			CHECK(checker.reported[EVENTLOG_LOST_TOO_LARGE] == lost);
			checker_finish(&checker, &test);
		}
		checker_close(&checker);
		test_ring_close(&test);
	}
}

/* A ring holds as many bytes as its size, and no more. */
static void case_full(void)
{
	struct checker checker;
	struct test_ring test;
	unsigned int i;

	test_ring_open(&test, 0, &small, seed);
	checker_open(&checker, &test);
	test_current = &test;
	for (i = 0; i < 3; i++) {
		static const u64 starts[] = { 0, (1ULL << 32) - 256, -256ULL };

		test_ring_restart(&test, starts[i]);
		checker_restart(&checker);
		while (test.placed[0] < 8)
			CHECK(test_emit(&test, 32));
		CHECK(eventlog_ring_unread(&test.ring) == 512);
		CHECK(!test_emit(&test, 0));
		CHECK(test.ring.header->lost[EVENTLOG_LOST_NO_ROOM] == 1);
		CHECK(eventlog_ring_unseen_loss(&test.ring));
		/* 64 and 128 bytes are free: too few for a lost record and an event. */
		CHECK(checker_take(&checker, 1, true) == 1);
		CHECK(!test_emit(&test, 0));
		CHECK(checker_take(&checker, 1, true) == 1);
		CHECK(!test_emit(&test, 0));
		CHECK(checker_take(&checker, 1, true) == 1);
		CHECK(test_emit(&test, 0));
		CHECK(test.ring.header->lost[EVENTLOG_LOST_NO_ROOM] == 3);
		CHECK(eventlog_ring_unread(&test.ring) == 512);
		CHECK(checker_take(&checker, ~0U, true) == 7);
		CHECK(checker.reported_total == 3);
		checker_finish(&checker, &test);
	}
	checker_close(&checker);
	test_ring_close(&test);
}

/*
 * Without interrupts, the metadata knows each number of events, and each news.  Four events
 * of 256 bytes leave no space to pad, those of 240 bytes do.
 */
static void case_metadata(void)
{
	static const struct test_geometry geometry = {
		.page_bytes = 1024, .sub_buffer_bytes = 1024, .sub_buffers = 4,
	};
	static const u32 payloads[] = { 224, 208 };
	const struct eventlog_sub_buffer *meta;
	struct checker checker;
	struct test_ring test;
	unsigned int i, k;
	u64 start;

	test_ring_open(&test, 0, &geometry, seed);
	checker_open(&checker, &test);
	test_current = &test;
	CHECK(test.ring.header->meta_offset == sizeof(struct eventlog_ring_header));
	CHECK(test.ring.header->meta_bytes == sizeof(struct eventlog_sub_buffer));
	for (i = 0; i < 4; i++) {
		start = i / 2 * ((1ULL << 32) - 4096);
		test_ring_restart(&test, start);
		checker_restart(&checker);
		for (k = 0; k < 40; k++) {
			CHECK(test_emit(&test, payloads[i % 2]));
			meta = &test.ring.meta[k / 4 % 4];
			CHECK(meta->position == (u32)(start + k / 4 * 1024));
			CHECK(meta->records == k / 4 * 4);
			CHECK(checker_take(&checker, ~0U, true));
		}
		CHECK(checker.counted == 9);
		CHECK(checker.news > 0);
		checker_finish(&checker, &test);
	}
	/* News of an earlier round are older than all records. */
	for (k = 0; k < 16; k++) {
		meta = &test.ring.meta[k / 4 % 4];
		((struct eventlog_sub_buffer *)meta)->news = test.ring.header->head - 1024;
	}
	test.quiet = true;
	for (k = 0; k < 4; k++) {
		CHECK(test_emit(&test, 800));
		checker_take(&checker, ~0U, true);
		meta = &test.ring.meta[(u32)(checker.position - 8) / 1024 % 4];
		CHECK((int)(meta->news - meta->position) == -EVENTLOG_RECORD_ALIGN);
	}
	checker_close(&checker);
	test_ring_close(&test);
}

/* A page without room for it has no metadata, and the ring works. */
static void case_no_metadata(void)
{
	static const struct test_geometry geometry = {
		.page_bytes = 512, .sub_buffer_bytes = 256, .sub_buffers = 2,
	};
	struct checker checker;
	struct test_ring test;
	unsigned int i;

	test_ring_open(&test, 0, &geometry, seed);
	checker_open(&checker, &test);
	test_current = &test;
	CHECK(!test.ring.header->meta_offset && !test.ring.header->meta_bytes);
	for (i = 0; i < 20; i++) {
		CHECK(test_emit(&test, i));
		CHECK(!test_emit(&test, 256));
		checker_take(&checker, ~0U, true);
	}
	checker_finish(&checker, &test);
	checker_close(&checker);
	test_ring_close(&test);
}

/* A loss is reported once. */
static void case_markers(void)
{
	struct checker checker;
	struct test_ring test;
	unsigned int i;

	test_ring_open(&test, 0, &small, seed);
	checker_open(&checker, &test);
	test_current = &test;
	CHECK(test_emit(&test, 5));
	CHECK(checker_take(&checker, ~0U, true) == 1 && !checker.markers);
	for (i = 1; i <= 100; i++) {
		CHECK(!test_emit(&test, 4096));
		CHECK(!test_emit(&test, 256));
		CHECK(test_emit(&test, 1));
		CHECK(test_emit(&test, 0));
		checker_take(&checker, ~0U, true);
		CHECK(checker.reported[EVENTLOG_LOST_TOO_LARGE] == 2 * i);
		CHECK(checker.markers == i);
	}
	checker_finish(&checker, &test);
	checker_close(&checker);
	test_ring_close(&test);
}

/* Recursion, as caused by a probe in the clock, is limited. */
static unsigned int deepest;

static void emit_deeper(struct test_ring *test)
{
	u32 depth = test->depth;

	/* Each depth emits once: a retry of an outer writer does not recurse again. */
	if (depth <= deepest)
		return;
	deepest = depth;
	/* All outer writers are in the ring's code too; one of them holds the lock. */
	CHECK(test_emit(test, 0) == (!test->ring.locked && depth < EVENTLOG_RING_DEPTH_MAX));
	/* Only the outermost writer may wake a poller. */
	CHECK(!test->outermost);
}

static void case_depth(void)
{
	struct test_geometry geometry = small;
	struct checker checker;
	struct test_ring test;
	unsigned int i;

	geometry.sub_buffer_bytes = 4096;
	for (i = 0; i < 4; i++) {
		enum eventlog_lost cause;

		geometry.overwrite = i % 2;
		geometry.locked = i / 2;
		test_ring_open(&test, 0, &geometry, seed);
		checker_open(&checker, &test);
		test_current = &test;
		cause = test.ring.locked ? EVENTLOG_LOST_NESTED : EVENTLOG_LOST_DEPTH;
		test.in_clock = emit_deeper;
		deepest = 0;
		CHECK(test_emit(&test, 0));
		CHECK(deepest == (test.ring.locked ? 1 : EVENTLOG_RING_DEPTH_MAX));
		CHECK(test.ring.header->lost[cause] == test.ring.header->lost_total);
		CHECK(test.ring.header->lost_total);
		test.in_clock = NULL;
		checker_take(&checker, ~0U, true);
		checker_finish(&checker, &test);
		saw(checker.events, "events");
		checker_close(&checker);
		test_ring_close(&test);
	}
}

/*
 * A word of the header is read while it is written: each value read was written, and
 * values never decrease.  Every other step crosses a multiple of 4 GiB.
 */
#define WORD_STEP 0x90000001ULL

static struct words {
	u64 word;
	u32 upper;
	bool done;	/* atomic */
} words;

static void *write_words(void *argument)
{
	u64 deadline = after(500), crossings = 0;

	(void)argument;
	while (crossings % 4096 || now() < deadline) {
		eventlog_word_write(&words.word, &words.upper, words.word + WORD_STEP);
		crossings++;
	}
	smp_store_release(&words.done, true);
	return NULL;
}

static void case_words(void)
{
	u64 value, last = 0, reads = 0, news = 0;
	pthread_t writer;
	bool done;

	if (pthread_create(&writer, NULL, write_words, NULL))
		test_fail("cannot create a thread");
	do {
		done = smp_load_acquire(&words.done);
		value = eventlog_word_read(&words.word, &words.upper);
		if (value % WORD_STEP || value < last)
			test_fail("read %#llx after %#llx", (unsigned long long)value,
				  (unsigned long long)last);
		news += value != last;
		reads++;
		last = value;
	} while (!done);
	pthread_join(writer, NULL);
	CHECK(last == words.word);
	saw(reads, "reads");
	saw(news, "values");
}

/* ---- one writer, interrupted at chosen instructions ---- */

/* Finds the instructions; the checks in test_emit() apply too. */
static void case_trace(void)
{
	interrupts_find();
}

/* What the consumer does when it runs. */
enum behaviour {
	KEEPS_UP,	/* reads everything and stores its position */
	STALLS,		/* reads, but does not store its position */
	LIES,		/* stores wrong positions */
	BEHAVIOURS,
};

enum room {
	EMPTY,		/* everything has been read */
	TIGHT,		/* free: the rest of the sub-buffer and one more record */
	FULL,		/* free: the rest of the sub-buffer */
	ROOMS,
};

struct scenario {
	bool overwrite;
	enum behaviour behaviour;
	enum room room;
	u32 left;		/* bytes left in the sub-buffer */
	bool loss;		/* one event was lost earlier */
	u32 nested_payload;
	unsigned int burst;	/* events per interrupt: one, or more than the ring holds */
	u64 start;
};

/* Size of the interrupted event's payload. */
#define OUTER_PAYLOAD 24

static struct step {
	struct scenario scenario;
	struct test_ring tests[2];	/* by mode */
	struct checker checkers[2];
	struct checker *checker;
	u32 random;
	unsigned int next[2];		/* places of the next interrupts */
	unsigned int next_count;
	bool sequential;		/* interrupts follow each other instead of nesting */
} step;

static void look(struct test_ring *test)
{
	struct eventlog_ring_consumer *consumer = step.checker->consumer;
	u32 data_bytes = test->ring.data_bytes;

	switch (step.scenario.behaviour) {
	case KEEPS_UP:
		checker_take(step.checker, ~0U, true);
		break;
	case STALLS:
		checker_take(step.checker, ~0U, false);
		break;
	default:
		if (test_random(&step.random) & 1)
			consumer->position = test_random(&step.random);
		else
			consumer->position = (u32)test->ring.header->head +
					     test_random(&step.random) % (4 * data_bytes) -
					     2 * data_bytes;
		break;
	}
}

static void interrupt_step(struct test_ring *test);

static void next_interrupt(void)
{
	if (step.next_count)
		interrupt_at(step.next[--step.next_count], interrupt_step);
}

static void interrupt_step(struct test_ring *test)
{
	unsigned int i;

	look(test);
	if (!step.sequential)
		next_interrupt();
	for (i = 0; i < step.scenario.burst; i++)
		test_emit(test, step.scenario.nested_payload);
	if (!step.sequential)
		interrupt_cancel();
	look(test);
	if (step.sequential)
		next_interrupt();
}

/* Prepares the ring for the scenario. */
static void prepare(struct test_ring *test, const struct scenario *scenario)
{
	u32 sub_buffer = test->geometry.sub_buffer_bytes;

	if (scenario->room == EMPTY) {
		test_ring_restart(test, scenario->start + sub_buffer - scenario->left);
		checker_restart(step.checker);
	} else {
		test_ring_restart(test, scenario->start);
		checker_restart(step.checker);
		/* 256 + 256 and, in the second sub-buffer, 256 + 256 - left. */
		CHECK(test_emit(test, 224) && test_emit(test, 224) && test_emit(test, 224));
		if (scenario->left < 256)
			CHECK(test_emit(test, 224 - scenario->left));
		if (scenario->room == TIGHT)
			CHECK(checker_take(step.checker, 1, true) == 1);
	}
	if (scenario->loss)
		CHECK(!test_emit(test, sub_buffer));
}

/* Returns whether the interrupt happened. */
static bool run_scenario(const struct scenario *scenario, unsigned int place)
{
	struct test_ring *test = &step.tests[scenario->overwrite];
	bool reached;

	step.scenario = *scenario;
	step.checker = &step.checkers[scenario->overwrite];
	test_current = test;
	prepare(test, scenario);
	interrupt_at(place, interrupt_step);
	test_emit(test, OUTER_PAYLOAD);
	reached = !interrupt_cancel();
	if (!scenario->overwrite && scenario->behaviour == STALLS)
		smp_store_release(&step.checker->consumer->position,
				  (u32)step.checker->position);
	if (!scenario->overwrite && scenario->behaviour == LIES)
		checker_skip(step.checker);
	checker_finish(step.checker, test);
	return reached;
}

static void step_open(bool locked)
{
	struct test_geometry geometry = {
		.page_bytes = 1024, .sub_buffer_bytes = 512, .sub_buffers = 2, .locked = locked,
	};
	unsigned int mode;

	step.random = seed;
	for (mode = 0; mode < 2; mode++) {
		geometry.overwrite = mode;
		test_ring_open(&step.tests[mode], mode, &geometry, seed);
		step.tests[mode].clock = TEST_CLOCK_STUMBLES;
		checker_open(&step.checkers[mode], &step.tests[mode]);
	}
}

#define LEFTS 4
#define SCENARIOS (2 * BEHAVIOURS * ROOMS * LEFTS * 2 * 2 * 2)

static struct scenario scenario_number(unsigned int number)
{
	static const u32 lefts[LEFTS] = { 512, 64, 40, 8 };
	static const u64 starts[] = { 1ULL << 20, (1ULL << 32) - 1024, -1024ULL, -512ULL };
	struct scenario scenario;

	scenario.start = starts[number % ARRAY_SIZE(starts)];
	scenario.overwrite = number % 2;
	number /= 2;
	scenario.loss = number % 2;
	number /= 2;
	scenario.nested_payload = number % 2 * 40;
	number /= 2;
	scenario.burst = number % 2 ? 24 : 1;
	number /= 2;
	scenario.behaviour = number % BEHAVIOURS;
	number /= BEHAVIOURS;
	scenario.room = number % ROOMS;
	number /= ROOMS;
	scenario.left = lefts[number % LEFTS];
	if (scenario.room != EMPTY && scenario.left == 512)
		scenario.left = 256;
	return scenario;
}

/* Instrumented code has many instructions. */
#define STRIDE (UNDER_ASAN || UNDER_TSAN ? 7 : 1)

/* Every scenario is interrupted once at every instruction. */
static void case_step(void)
{
	unsigned int number, place;
	u64 reached = 0, runs = 0;

	step_open(false);
	for (number = 0; number < SCENARIOS; number++) {
		struct scenario scenario = scenario_number(number);

		for (place = number % STRIDE; place < places; place += STRIDE) {
			reached += run_scenario(&scenario, place);
			runs++;
			/* A lost record, two paddings and two events fit. */
			if (scenario.room == EMPTY && scenario.behaviour == KEEPS_UP &&
			    !scenario.overwrite && scenario.burst == 1 &&
			    !step.tests[0].ring.locked &&
			    test_sum(step.tests[0].rejected) != scenario.loss)
				test_fail("a ring with room rejected an event");
		}
	}
	printf("#\t%u scenarios, %u instructions\n", SCENARIOS, places);
	saw(runs, "runs");
	saw(reached, "runs interrupted");
}

/* Two or three interrupts, nested or one after the other. */
static void step_again(void)
{
	u64 deadline = after(3000), runs = 0, twice = 0, thrice = 0;
	unsigned int i;

	while (now() < deadline || !thrice) {
		for (i = 0; i < 256; i++) {
			struct scenario scenario =
				scenario_number(test_random(&step.random) % SCENARIOS);
			unsigned int count = 1 + test_random(&step.random) % 2;

			step.next[0] = test_random(&step.random) % places;
			step.next[1] = test_random(&step.random) % places;
			step.sequential = test_random(&step.random) & 1;
			step.next_count = count;
			runs++;
			if (!run_scenario(&scenario, test_random(&step.random) % places) ||
			    step.next_count)
				continue;
			twice += count == 1;
			thrice += count == 2;
		}
	}
	saw(runs, "runs");
	saw(twice, "runs interrupted twice");
	saw(thrice, "runs interrupted three times");
}

/*
 * Two interrupts a few instructions apart.  The consumer sees what the first one wrote, and
 * then what the interrupted writer stores later, such as a smaller value of committed.
 */
#define APART_MAX 3

static void step_twice(void)
{
	unsigned int number, place, apart;
	u64 twice = 0;

	step.sequential = true;
	for (number = 0; number < SCENARIOS; number++) {
		struct scenario scenario = scenario_number(number);

		if (scenario.room != EMPTY || scenario.behaviour != KEEPS_UP)
			continue;
		for (place = number % STRIDE; place < places; place += STRIDE) {
			for (apart = 1; apart <= APART_MAX && place + apart < places; apart++) {
				step.next[0] = place + apart;
				step.next_count = 1;
				if (run_scenario(&scenario, place))
					twice += !step.next_count;
			}
		}
	}
	saw(twice, "runs interrupted at neighbouring instructions");
}

static void case_step_again(void)
{
	step_open(false);
	step_twice();
	step_again();
}

static void case_step_locked(void)
{
	step_open(true);
	step_again();
}

/* ---- concurrent writers and consumers ---- */

/* Properties of a load. */
#define LOAD_HOSTILE	(1U << 0) /* the consumer stores wrong positions, later it reads */
#define LOAD_FLUSH	(1U << 1) /* the consumer flushes */
#define LOAD_PAUSES	(1U << 2) /* writer and consumer alternate */
#define LOAD_TIMERS	(1U << 3) /* two rings, interrupts by timers only */

struct load {
	struct test_geometry geometry;
	unsigned int flags;
	unsigned int milliseconds;
};

struct station {
	const struct load *load;
	struct test_ring test;
	struct checker checker;
	pthread_t writer;
	pthread_t reader;
	u32 random;		/* for the writer */
	bool stop;		/* atomic: the writer must end */
	bool done;		/* atomic: the writer has ended */
	u32 turn;		/* LOAD_PAUSES, atomic: 0 the writer's, 1 the reader's */
	u64 lapped;		/* atomic: copy of the checker's count */
	u64 flushes;		/* atomic */
	u64 lies;		/* atomic */
};

static u32 some_payload(struct test_ring *test, u32 *random)
{
	u32 number = test_random(random), most = test_payload_max(test);

	switch (number % 16) {
	case 0:
	case 1:
	case 2:
		return 0;
	case 3:
		return number / 16 % (most + 1);
	case 4:
		/* Sometimes too large. */
		return number / 16 % 16 ? most : most + 1;
	default:
		return number / 16 % (most < 100 ? most : 100);
	}
}

static void interrupt_load(struct test_ring *test)
{
	u32 depth = READ_ONCE(test->depth);
	u32 *random = &test->random[depth];
	u32 events = 1 + test_random(random) % 4;
	bool again;

	if (depth >= EVENTLOG_RING_DEPTH_MAX - 2) {
		test_emit(test, 0);
		return;
	}
	/* Sometimes enough events to wrap a small ring. */
	if (!(test_random(random) % 8))
		events = test->ring.data_bytes / 32 % 256 + 2;
	while (events--) {
		again = test->breakpoints && depth < 3 && !(test_random(random) % 4);
		if (again)
			interrupt_at(test_random(random) % places, interrupt_load);
		test_emit(test, some_payload(test, random));
		if (again)
			interrupt_cancel();
	}
}

static void emit_in_clock(struct test_ring *test)
{
	u32 depth = test->depth;

	if (depth < 3 && !(test_random(&test->random[depth]) % 64))
		test_emit(test, some_payload(test, &test->random[depth]));
}

static void *write_load(void *argument)
{
	struct station *station = argument;
	struct test_ring *test = &station->test;
	bool timers = station->load->flags & LOAD_TIMERS && !UNDER_TSAN;
	bool pauses = station->load->flags & LOAD_PAUSES;
	unsigned int events, delay;

	test_current = test;
	if (timers)
		interrupts_start(interrupt_load);
	while (!READ_ONCE(station->stop)) {
		while (pauses && !READ_ONCE(station->stop) &&
		       smp_load_acquire(&station->turn))
			sched_yield();
		/* Stopped during the reader's turn: do not write, it may be reading. */
		if (pauses && smp_load_acquire(&station->turn))
			break;
		for (events = test_random(&station->random) % 64; events; events--) {
			if (test->breakpoints && !(test_random(&station->random) % 4))
				interrupt_at(test_random(&station->random) % places,
					     interrupt_load);
			test_emit(test, some_payload(test, &station->random));
		}
		if (test->breakpoints)
			interrupt_cancel();
		if (pauses)
			smp_store_release(&station->turn, 1);
		/* Give the reader time, or it would see only full rings. */
		delay = test_random(&station->random) % 4 && !test->geometry.overwrite ? 50 : 0;
		while (delay-- && eventlog_ring_unread(&test->ring) > test->ring.data_bytes / 4)
			sched_yield();
	}
	if (timers)
		interrupts_stop();
	smp_store_release(&station->done, true);
	return NULL;
}

static void lie(struct station *station)
{
	struct eventlog_ring_consumer *consumer = (void *)station->test.ring.consumer;
	u32 *random = &station->test.random[TEST_DEPTHS - 1];
	u32 head = READ_ONCE(station->test.ring.header->head);
	u32 data_bytes = station->test.ring.data_bytes, position;

	switch (test_random(random) % 8) {
	case 0:
		position = test_random(random);
		break;
	case 1:
		position = head + data_bytes;
		break;
	case 2:
		position = head - data_bytes;
		break;
	case 3:
		position = head + test_random(random) % data_bytes;
		break;
	case 4:
		position = head - test_random(random) % data_bytes;
		break;
	case 5:
		position = head + (1U << 31);
		break;
	default:
		/* Everything is read: the only lie that gives the writer unlimited room. */
		position = head;
		break;
	}
	WRITE_ONCE(consumer->position, position);
	WRITE_ONCE(consumer->lost_seen, test_random(random));
	WRITE_ONCE(station->lies, station->lies + 1);
}

/*
 * As subscriber.c does it: raise the floor and wait for a grace period, which is the
 * section of the only writer here.  The time may be ahead of the writer's clock, as
 * another CPU's clock may be.
 */
static void flush(struct station *station, u32 *random)
{
	struct checker *checker = &station->checker;
	struct test_ring *test = &station->test;
	u64 time = test_machine_clock() + test_random(random) % 4096, section;

	if (time < test->floor)
		time = test->floor;
	WRITE_ONCE(test->floor, time);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	section = smp_load_acquire(&test->section);
	while (section & 1 && smp_load_acquire(&test->section) == section)
		sched_yield();
	checker->promised_position = eventlog_word_read(&checker->header->committed,
						&checker->header->committed_upper);
	checker->promised_time = time;
	WRITE_ONCE(station->flushes, station->flushes + 1);
}

/* Has the writer found the ring full or, in overwrite mode, passed the reader? */
static bool has_overrun(const struct station *station)
{
	const struct eventlog_ring_header *header = station->test.ring.header;

	return station->load->geometry.overwrite ?
		READ_ONCE(station->lapped) : READ_ONCE(header->lost[EVENTLOG_LOST_NO_ROOM]);
}

static void *read_load(void *argument)
{
	struct station *station = argument;
	struct checker *checker = &station->checker;
	unsigned int flags = station->load->flags, taken, pause;
	u32 random = station->test.number + seed;
	bool done;

	do {
		done = smp_load_acquire(&station->done);
		if (flags & LOAD_HOSTILE) {
			lie(station);
			continue;
		}
		if (flags & LOAD_PAUSES && !smp_load_acquire(&station->turn)) {
			sched_yield();
			continue;
		}
		if (flags & LOAD_FLUSH && !(test_random(&random) % 16))
			flush(station, &random);
		taken = checker_take(checker, 1 + test_random(&random) % 128, true);
		WRITE_ONCE(station->lapped, checker->lapped);
		if (flags & LOAD_PAUSES)
			smp_store_release(&station->turn, 0);
		/*
		 * Sometimes wait until the writer has filled the ring or passed the reader,
		 * however long that takes: a writer that is not faster than the reader would
		 * never do so.  Do not wait when they alternate or the writer has ended.
		 */
		pause = test_random(&random) % 64 ? 0 : 50;
		while (pause && READ_ONCE(checker->header->head) - checker->position <
				station->test.ring.data_bytes) {
			sched_yield();
			if (flags & LOAD_PAUSES || has_overrun(station) ||
			    smp_load_acquire(&station->done))
				pause--;
		}
		if (!taken)
			sched_yield();
	} while (!done);
	return NULL;
}

static bool interrupted(const struct station *station)
{
	return station->test.breakpoints || station->load->flags & LOAD_TIMERS;
}

/* Events in interrupts: nested in other events or, in a locked ring, rejected. */
static u64 interruptions(const struct station *station)
{
	const struct eventlog_ring_header *header = station->test.ring.header;

	return station->test.ring.locked ? READ_ONCE(header->lost[EVENTLOG_LOST_NESTED]) :
					   READ_ONCE(station->test.nested);
}

/* Has the load exercised what it is meant to test? */
static bool has_shown(const struct station *station)
{
	const struct eventlog_ring_header *header = station->test.ring.header;
	const struct load *load = station->load;
	bool small_ring = load->geometry.sub_buffer_bytes * load->geometry.sub_buffers < 4096;

	if (READ_ONCE(header->records) < 1000)
		return false;
	if (interrupted(station) && !interruptions(station))
		return false;
	/* On a busy machine the consumer may not have run yet. */
	if ((load->flags & LOAD_FLUSH && !READ_ONCE(station->flushes)) ||
	    (load->flags & LOAD_HOSTILE && !READ_ONCE(station->lies)))
		return false;
	if (load->geometry.overwrite && !(load->flags & (LOAD_HOSTILE | LOAD_PAUSES)))
		return has_overrun(station);
	if (load->flags & LOAD_HOSTILE && small_ring && station->test.breakpoints &&
	    !station->test.ring.locked)
		return READ_ONCE(header->lost[EVENTLOG_LOST_GUARD]);
	return load->geometry.overwrite || has_overrun(station);
}

static void run_load(struct station *stations, unsigned int rings, const struct load *load)
{
	const struct timespec tick = { .tv_nsec = 1000000 };
	u64 deadline = after(load->milliseconds);
	struct station *station;

	for (station = stations; station < stations + rings; station++) {
		station->load = load;
		station->stop = false;
		station->done = false;
		station->turn = 0;
		station->random = seed * 7919 + station->test.number + 1;
		if (pthread_create(&station->reader, NULL, read_load, station) ||
		    pthread_create(&station->writer, NULL, write_load, station))
			test_fail("cannot create a thread");
	}
	for (station = stations; station < stations + rings; station++) {
		while (now() < deadline || !has_shown(station))
			nanosleep(&tick, NULL);
	}
	for (station = stations; station < stations + rings; station++) {
		WRITE_ONCE(station->stop, true);
		pthread_join(station->writer, NULL);
		pthread_join(station->reader, NULL);
	}
}

static void case_load(const struct load *load)
{
	unsigned int rings = load->flags & LOAD_TIMERS ? 2 : 1;
	struct station *stations = calloc(rings, sizeof(*stations));
	struct load honest = *load;
	unsigned int i, cause;

	if (!stations)
		test_fail("out of memory");
	for (i = 0; i < rings; i++) {
		struct station *station = &stations[i];

		test_ring_open(&station->test, i, &load->geometry, seed + i);
		checker_open(&station->checker, &station->test);
		station->test.clock = TEST_CLOCK_RUNS;
		station->test.sections = load->flags & LOAD_FLUSH;
		/* See trace_mode(). */
		station->test.breakpoints = places && !(load->flags & LOAD_TIMERS) &&
					    !(UNDER_TSAN && station->test.ring.locked);
		if (load->flags & LOAD_TIMERS)
			station->test.in_clock = emit_in_clock;
	}
	run_load(stations, rings, load);
	if (load->flags & LOAD_HOSTILE) {
		/* Wrong positions do no lasting damage: the ring can be read correctly again. */
		for (i = 0; i < rings; i++) {
			test_ring_intact(&stations[i].test);
			saw(stations[i].lies, "lies");
			if (!load->geometry.overwrite)
				checker_skip(&stations[i].checker);
		}
		honest.flags &= ~LOAD_HOSTILE;
		if (load->geometry.overwrite && UNDER_TSAN)
			honest.flags |= LOAD_PAUSES;
		honest.milliseconds /= 4;
		run_load(stations, rings, &honest);
	}
	for (i = 0; i < rings; i++) {
		struct station *station = &stations[i];
		const struct eventlog_ring_header *header = station->test.ring.header;

		station->test.in_clock = NULL;
		checker_finish(&station->checker, &station->test);
		saw(header->records, "events placed");
		saw(station->checker.events, "events read");
		if (!load->geometry.overwrite && !(load->flags & LOAD_HOSTILE))
			saw(station->checker.counted, "sub-buffers with a known number of events");
		if (interrupted(station))
			saw(interruptions(station), "nested events");
		if (load->flags & LOAD_FLUSH)
			saw(station->flushes, "flushes");
		if (station->checker.lapped)
			saw(station->checker.lapped, "times overtaken");
		for (cause = 0; cause < EVENTLOG_LOST_CAUSES; cause++) {
			if (header->lost[cause])
				printf("#\t%llu lost by cause %u\n",
				       (unsigned long long)header->lost[cause], cause);
		}
		/* The start was chosen so that positions have crossed a limit of 32 or 64 bits. */
		if (load->geometry.start)
			CHECK(header->head >> 32 != load->geometry.start >> 32);
		checker_close(&station->checker);
		test_ring_close(&station->test);
	}
	free(stations);
}

/* ---- TAP ---- */

struct test_case {
	const char *name;
	void (*run)(void);
	bool stepping;		/* needs the places of instructions */
	struct load load;	/* if run is NULL */
};

#define LOAD(text, overwrites, page, sub_buffer, count, from, how, time)		\
	{ .name = text, .load = { .geometry = { .page_bytes = page,			\
	  .sub_buffer_bytes = sub_buffer, .sub_buffers = count, .overwrite = overwrites, \
	  .start = from }, .flags = how, .milliseconds = time } }

#define LOCKED(text, overwrites, page, sub_buffer, count, from, how, time)		\
	{ .name = text, .load = { .geometry = { .page_bytes = page, .locked = true,	\
	  .sub_buffer_bytes = sub_buffer, .sub_buffers = count, .overwrite = overwrites, \
	  .start = from }, .flags = how, .milliseconds = time } }

#define END_32 (1ULL << 32)

static const struct test_case cases[] = {
	{ .name = "geometry", .run = case_geometry },
	{ .name = "sizes", .run = case_sizes },
	{ .name = "full", .run = case_full },
	{ .name = "metadata", .run = case_metadata },
	{ .name = "no_metadata", .run = case_no_metadata },
	{ .name = "markers", .run = case_markers },
	{ .name = "depth", .run = case_depth },
	{ .name = "words", .run = case_words },
	{ .name = "trace", .run = case_trace },
	{ .name = "step", .run = case_step, .stepping = true },
	{ .name = "step_again", .run = case_step_again, .stepping = true },
	{ .name = "step_locked", .run = case_step_locked, .stepping = true },
	LOAD("discard_2x256", false, 1024, 256, 2, END_32 - 1024, 0, 1000),
	LOAD("discard_2x4096", false, 4096, 4096, 2, -8192ULL, 0, 700),
	LOAD("discard_16x512", false, 1024, 512, 16, END_32 - 520, 0, 700),
	LOAD("discard_256x4096", false, 4096, 4096, 256, END_32 - 8, 0, 700),
	LOAD("discard_4x131072", false, 4096, 131072, 4, -4096ULL, 0, 700),
	LOAD("overwrite_2x256", true, 1024, 256, 2, END_32 - 1024, 0, 1000),
	LOAD("overwrite_2x4096", true, 4096, 4096, 2, -8192ULL, 0, 700),
	LOAD("overwrite_256x256", true, 4096, 256, 256, END_32 - 264, 0, 700),
	LOAD("overwrite_4x131072", true, 4096, 131072, 4, -4096ULL, 0, 700),
	LOAD("overwrite_paused", true, 4096, 4096, 8, END_32 - 2048, LOAD_PAUSES, 700),
	LOAD("hostile_discard_2x256", false, 1024, 256, 2, 0, LOAD_HOSTILE, 1000),
	LOAD("hostile_discard_8x4096", false, 4096, 4096, 8, 0, LOAD_HOSTILE, 700),
	LOAD("hostile_overwrite_2x256", true, 1024, 256, 2, 0, LOAD_HOSTILE, 1000),
	LOAD("flush_discard", false, 4096, 4096, 4, 0, LOAD_FLUSH, 700),
	LOAD("flush_overwrite", true, 4096, 4096, 4, 0, LOAD_FLUSH, 700),
	LOAD("timers_discard", false, 4096, 4096, 2, 0, LOAD_TIMERS, 1500),
	LOAD("timers_overwrite", true, 4096, 4096, 2, 0, LOAD_TIMERS, 1500),
	LOCKED("locked_discard_2x256", false, 1024, 256, 2, END_32 - 1024, 0, 700),
	LOCKED("locked_discard_16x512", false, 1024, 512, 16, -520ULL, 0, 700),
	LOCKED("locked_overwrite_2x256", true, 1024, 256, 2, END_32 - 1024, 0, 700),
	LOCKED("locked_paused", true, 4096, 4096, 8, END_32 - 2048, LOAD_PAUSES, 700),
	LOCKED("locked_hostile_2x256", false, 1024, 256, 2, 0, LOAD_HOSTILE, 700),
	LOCKED("locked_flush", false, 4096, 4096, 4, 0, LOAD_FLUSH, 700),
	LOCKED("locked_timers_discard", false, 4096, 4096, 2, 0, LOAD_TIMERS, 1000),
	LOCKED("locked_timers_overwrite", true, 4096, 4096, 2, 0, LOAD_TIMERS, 1000),
};

static const char *skipped(const struct test_case *test_case)
{
	const struct load *load = &test_case->load;

	if (test_case->stepping && !places)
		return "the places of instructions are unknown";
	if (UNDER_TSAN && test_case->run == case_step_locked)
		return "lock operations cannot be interrupted everywhere";
	/* See ring_checker.c. */
	if (UNDER_TSAN && !test_case->run && load->geometry.overwrite &&
	    !(load->flags & (LOAD_PAUSES | LOAD_HOSTILE)))
		return "in overwrite mode reads and writes race by design";
	return NULL;
}

/* Runs a case in a process of its own; whatever happens is one line of output. */
static bool run_case(const struct test_case *test_case, unsigned int number)
{
	const char *skip = skipped(test_case);
	u64 begin = now();
	int status;
	pid_t child;

	if (skip) {
		printf("ok %u %s # SKIP %s\n", number, test_case->name, skip);
		return true;
	}
	fflush(stdout);
	child = fork();
	if (child < 0)
		test_fail("fork failed");
	if (!child) {
		alarm(CASE_SECONDS);
		if (test_case->run)
			test_case->run();
		else
			case_load(&test_case->load);
		exit(0);
	}
	while (waitpid(child, &status, 0) < 0)
		;
	if (WIFSIGNALED(status))
		printf("# %s\n", WTERMSIG(status) == SIGALRM ?
		       "hangs" : strsignal(WTERMSIG(status)));
	if (test_case->run == case_trace) {
		places = interrupts_places();
		printf("#\t%u instructions found\n", places);
	}
	printf("%s %u %s # %llu ms\n", status ? "not ok" : "ok", number, test_case->name,
	       (unsigned long long)((now() - begin) / 1000000));
	fflush(stdout);
	return !status;
}

static bool chosen(const struct test_case *test_case, char **names, unsigned int count)
{
	unsigned int i;

	/* The other cases need this one. */
	if (test_case->run == case_trace)
		return true;
	for (i = 0; i < count; i++) {
		if (!strcmp(names[i], test_case->name))
			return true;
	}
	return !count;
}

int main(int argc, char **argv)
{
	unsigned int i, number = 0, failed = 0, count = 0;
	bool stop = false, list = false;
	char *names[ARRAY_SIZE(cases)];
	u32 random = 1;
	int option;

	while ((option = getopt(argc, argv, "lxc:t:s:")) != -1) {
		if (option == 'l') {
			list = true;
		} else if (option == 'x') {
			stop = true;
		} else if (option == 'c' && count < ARRAY_SIZE(names)) {
			names[count++] = optarg;
		} else if (option == 't' && atoi(optarg) > 0) {
			percent = atoi(optarg);
		} else if (option == 's' && atoi(optarg) > 0) {
			seed = atoi(optarg);
		} else {
			fprintf(stderr, "usage: %s [-l] [-x] [-c CASE]... [-t PERCENT] [-s SEED]\n",
				argv[0]);
			return 2;
		}
	}
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		if (!chosen(&cases[i], names, count))
			continue;
		number++;
		if (list)
			puts(cases[i].name);
	}
	if (list)
		return 0;
	if (number < 1 + count) {
		fprintf(stderr, "%s: no such case\n", argv[0]);
		return 2;
	}
	for (i = 0; i < sizeof(test_pool); i++)
		test_pool[i] = test_random(&random) >> 24 | 1;
	interrupts_open();

	printf("TAP version 13\n1..%u\n", number);
	for (i = 0, number = 0; i < ARRAY_SIZE(cases); i++) {
		if (!chosen(&cases[i], names, count))
			continue;
		if (!run_case(&cases[i], ++number)) {
			failed++;
			if (stop) {
				printf("Bail out! stopped after a failure\n");
				break;
			}
		}
	}
	printf("# %u failed\n", failed);
	return failed ? 1 : 0;
}
