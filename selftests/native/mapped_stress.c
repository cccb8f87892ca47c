// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stress test of the producer's side of mapped rings (mapped_ring.h of libelog) on
 * ordinary memory.  Prints TAP.
 *
 * A ring has one thread that emits and one drain, which is another thread, or the same
 * thread between two instructions.  The drain checks each byte.  Each event has a source
 * (0: the thread, 1: its signal handlers) and a number; what does not get into the ring is
 * counted instead.  So each number is in the ring exactly once, or counted.
 *
 * On x86-64, the trap flag makes the CPU raise SIGTRAP after each instruction: the handler
 * then emits, drains, leaves by siglongjmp(), or does what a fork does to the ring.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "producer/mapped_ring.h"
#include "ring_test.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define DATA_BYTES 8192u
#define HEADER_BYTES 4096u
#define WORDS_MAX 40
#define SOURCES 2
#define THREADS 3
#define THREAD_EVENTS (UNDER_TSAN || UNDER_ASAN ? 60000 : 300000)

/* An event: @words determines its size. */
struct body {
	u64 number;
	u64 words[WORDS_MAX];
};

struct test {
	struct elog_mapped_ring ring;
	struct eventlog_mapped_header *header;
	u8 *mapping;
	u64 clock;
	u64 attempted[SOURCES];
	u64 refused[SOURCES];	/* full or busy */
	/* The drain's. */
	u32 tail;
	u64 taken[SOURCES];
	u64 next[SOURCES];
	u64 time;
	u32 stop;		/* atomic */
};

void test_fail(const char *format, ...)
{
	va_list arguments;

	printf("not ok - ");
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	exit(1);
}

static uint64_t test_clock(const struct elog_mapped_ring *ring)
{
	return ++((struct test *)(uintptr_t)ring)->clock;
}

static u64 word_of(u64 number, unsigned int i)
{
	return (number + i) * 0x9e3779b97f4a7c15ULL;
}

/* Sizes of payloads: mostly small; 0 to 7 bytes behind the last word. */
static u32 bytes_of(u64 number)
{
	return 8 + 8 * (number * 7 % (number % 5 ? 8 : WORDS_MAX)) + number % 8;
}

static void compose(struct body *body, u64 number)
{
	unsigned int i;

	body->number = number;
	for (i = 0; i < WORDS_MAX; i++)
		body->words[i] = word_of(number, i);
}

static void count_result(struct test *test, unsigned int source, enum elog_mapped_result result)
{
	if (result != ELOG_MAPPED_DONE && result != ELOG_MAPPED_ASKED)
		test->refused[source]++;
}

static enum elog_mapped_result emit(struct test *test, unsigned int source)
{
	const u64 number = test->attempted[source]++;
	enum elog_mapped_result result;
	struct body body;

	compose(&body, number);
	result = elog_mapped_emit(&test->ring, 1 + source, number, &body, bytes_of(number),
				  test_clock);
	count_result(test, source, result);
	return result;
}

static void check_record(struct test *test, const u8 *at, u32 bytes)
{
	const struct eventlog_mapped_record *record = (const void *)at;
	unsigned int source = record->write_index - 1, i;
	struct body body;

	if (source >= SOURCES || bytes != sizeof(*record) + bytes_of(record->session))
		test_fail("a record is torn: index %u, %u bytes", record->write_index, bytes);
	memcpy(&body, record + 1, bytes - sizeof(*record));
	if (body.number != record->session)
		test_fail("a record has another one's payload");
	for (i = 0; 8 + 8 * (i + 1) <= bytes - sizeof(*record); i++)
		if (body.words[i] != word_of(body.number, i))
			test_fail("a payload is torn");
	if (body.number < test->next[source] || record->time <= test->time)
		test_fail("records are out of order");
	test->next[source] = body.number + 1;
	test->time = record->time;
	test->taken[source]++;
}

/* Takes what is committed, as the kernel does. */
static bool drain(struct test *test)
{
	u32 committed = __atomic_load_n(&test->header->committed, __ATOMIC_ACQUIRE);
	u32 left = committed - test->tail;

	if (left > DATA_BYTES || committed % 8)
		test_fail("committed is %u, taken are %u", committed, test->tail);
	for (left = committed - test->tail; left;) {
		const u32 offset = test->tail & (DATA_BYTES - 1), to_end = DATA_BYTES - offset;
		const u8 *at = test->mapping + HEADER_BYTES + offset;
		u32 words[2], need;

		memcpy(words, at, sizeof(words));
		need = (words[0] + 7) & ~7U;
		if (need < 8 || need > left || need > to_end || (!words[1] && need != to_end))
			test_fail("size %u of %u bytes", words[0], left);
		if (words[1])
			check_record(test, at, words[0]);
		test->tail += need;
		left -= need;
	}
	if (test->tail == __atomic_load_n(&test->header->position, __ATOMIC_RELAXED))
		return false;
	__atomic_store_n(&test->header->position, test->tail, __ATOMIC_RELEASE);
	return true;
}

/* Inaccessible pages surround the mapping. */
static void test_open(struct test *test, u32 start)
{
	const size_t bytes = HEADER_BYTES + DATA_BYTES;
	u8 *around = mmap(NULL, bytes + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(test, 0, sizeof(*test));
	if (around == MAP_FAILED ||
	    mprotect(around + 4096, bytes, PROT_READ | PROT_WRITE))
		test_fail("no memory");
	test->mapping = around + 4096;
	test->header = (void *)test->mapping;
	test->header->committed = start;
	test->header->position = start;
	test->tail = start;
	test->ring.mask = DATA_BYTES - 1;
	test->ring.data_offset = HEADER_BYTES;
	test->ring.head = start;
	test->ring.limit = start;
	test->ring.header = test->header;
}

static void test_close(struct test *test)
{
	unsigned int source;

	drain(test);
	for (source = 0; source < SOURCES; source++)
		if (test->attempted[source] != test->taken[source] + test->refused[source])
			test_fail("source %u: %llu attempted, %llu taken, %llu refused", source,
				  (unsigned long long)test->attempted[source],
				  (unsigned long long)test->taken[source],
				  (unsigned long long)test->refused[source]);
	munmap(test->mapping - 4096, HEADER_BYTES + DATA_BYTES + 8192);
}

/* ---- a drain on another thread, signals of a timer ---- */

static __thread struct test *of_thread;

static void on_timer(int signal)
{
	(void)signal;
	if (of_thread) {
		emit(of_thread, 1);
		emit(of_thread, 1);
	}
}

static void *drain_thread(void *argument)
{
	struct test *test = argument;

	while (!__atomic_load_n(&test->stop, __ATOMIC_ACQUIRE))
		if (!drain(test))
			sched_yield();
	return NULL;
}

static void *emit_thread(void *argument)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
	const struct itimerspec period = { { 0, 50000 }, { 0, 50000 } };
	struct test *test = argument;
	timer_t timer;
	u64 i;

	of_thread = test;
	event._sigev_un._tid = gettid();
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) ||
	    timer_settime(timer, 0, &period, NULL))
		test_fail("cannot create a timer");
	for (i = 0; i < THREAD_EVENTS; i++)
		if (emit(test, 0) == ELOG_MAPPED_FULL)
			sched_yield();
	timer_delete(timer);
	of_thread = NULL;
	__atomic_store_n(&test->stop, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void test_threads(void)
{
	static struct test tests[THREADS];
	pthread_t emitters[THREADS], drains[THREADS];
	struct sigaction action = { .sa_handler = on_timer, .sa_flags = SA_RESTART };
	sigset_t all, none;
	unsigned int i;

	sigaction(SIGUSR1, &action, NULL);
	sigfillset(&all);
	for (i = 0; i < THREADS; i++) {
		/* Positions pass 2^32 on the way. */
		test_open(&tests[i], i * 0x80000000U - 65536);
		pthread_sigmask(SIG_SETMASK, &all, &none);
		pthread_create(&drains[i], NULL, drain_thread, &tests[i]);
		pthread_sigmask(SIG_SETMASK, &none, NULL);
		pthread_create(&emitters[i], NULL, emit_thread, &tests[i]);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(emitters[i], NULL);
		pthread_join(drains[i], NULL);
		if (!tests[i].taken[0])
			test_fail("a drain took nothing");
		test_close(&tests[i]);
	}
}

/* ---- chosen positions ---- */

static const u8 zeros[DATA_BYTES];

/* Emits events of one size until the ring has no room. */
static unsigned int fill(struct test *test, u32 bytes)
{
	unsigned int count = 0;

	while (elog_mapped_emit(&test->ring, 1, 0, zeros, bytes, test_clock) <= ELOG_MAPPED_ASKED)
		count++;
	return count;
}

static void expect(u64 actual, u64 expected, const char *what)
{
	if (actual != expected)
		test_fail("%s: %llu, not %llu", what, (unsigned long long)actual,
			  (unsigned long long)expected);
}

/* Nothing is checked by drain() here: the payloads are zeros. */
static void take_all(struct test *test)
{
	test->tail = test->header->committed;
	test->header->position = test->tail;
}

static void test_ends(void)
{
	struct test test;

	/* 64 bytes a record: the last one ends exactly at the end of the ring. */
	test_open(&test, 0);
	expect(fill(&test, 40), 128, "records of 64 bytes");
	expect(test.header->committed, DATA_BYTES, "committed");
	expect(fill(&test, 0), 0, "records in a full ring");
	take_all(&test);
	expect(fill(&test, 40), 128, "records of 64 bytes in the second round");
	take_all(&test);
	/* 8 bytes are left, which become padding. */
	expect(fill(&test, 264 - 24), 31, "records of 264 bytes");
	expect(test.header->committed, 3 * DATA_BYTES, "committed");
	take_all(&test);
	expect(elog_mapped_emit(&test.ring, 1, 0, zeros, DATA_BYTES / 2 - 24, test_clock),
	       ELOG_MAPPED_DONE, "half of the ring");
	expect(test.header->committed, 3 * DATA_BYTES + DATA_BYTES / 2, "committed");
	expect(elog_mapped_emit(&test.ring, 1, 0, zeros, DATA_BYTES / 2 - 23, test_clock),
	       ELOG_MAPPED_FULL, "more than half of the ring");
	take_all(&test);
	test_close(&test);
}

/* A full ring whose rest is too short becomes usable when the kernel has taken part of it. */
static void test_part(void)
{
	struct test test;
	u32 offset;

	test_open(&test, 0);
	expect(fill(&test, 40), 128, "records of 64 bytes");
	for (offset = 64; offset <= DATA_BYTES; offset += 64) {
		test.header->position = offset;
		expect(fill(&test, 40), 1, "records in the room of one");
	}
	expect(fill(&test, 40), 0, "records in a full ring");
	take_all(&test);
	test_close(&test);
}

/* The inaccessible pages show that nothing is written elsewhere. */
static void test_scribbled(void)
{
	u32 random = 1, i;
	struct test test;

	test_open(&test, 0);
	for (i = 0; i < 200000; i++) {
		u32 value = test_random(&random);

		test.header->position = i % 3 ? value : test.ring.head - value % DATA_BYTES;
		if (i % 5 == 0)
			test.header->committed = value;
		if (i % 7 == 0)
			test.header->ask = value;
		elog_mapped_emit(&test.ring, 1, 0, zeros, value % (DATA_BYTES / 2), test_clock);
		if (test.ring.limit - test.ring.head > DATA_BYTES)
			test_fail("more room than the ring has");
	}
	test.tail = 0;
	test.header->committed = 0;
	test.header->position = 0;
	test_close(&test);
}

/* ---- a signal at each instruction ---- */

#if defined(__x86_64__) && !UNDER_TSAN

#define TRAP_FLAG 0x100ULL
/* A trap takes microseconds, and instrumented code has many instructions. */
#define STRIDE (UNDER_ASAN ? 11 : 1)

static struct test *stepped;
static void (*at_step)(struct test *test);
static volatile unsigned int step, step_wanted;
static sigjmp_buf before;

static void on_step(int signal, siginfo_t *info, void *context)
{
	greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];

	(void)signal;
	(void)info;
	if (!stepped)
		return;
	step++;
	if (step_wanted && step != step_wanted)
		return;
	if (step_wanted)
		*flags &= ~(greg_t)TRAP_FLAG;
	at_step(stepped);
}

static void step_through(bool on)
{
	u64 flags = __builtin_ia32_readeflags_u64();

	__builtin_ia32_writeeflags_u64(on ? flags | TRAP_FLAG : flags & ~TRAP_FLAG);
}

/* Calls @handler after the instruction with this number (0: each one) of an emission. */
static void emit_stepped(struct test *test, void (*handler)(struct test *test), unsigned int number)
{
	const u64 event = test->attempted[0]++;
	enum elog_mapped_result result;
	struct body body;

	compose(&body, event);
	at_step = handler;
	step_wanted = number;
	step = 0;
	stepped = test;
	step_through(true);
	result = elog_mapped_emit(&test->ring, 1, event, &body, bytes_of(event), test_clock);
	step_through(false);
	stepped = NULL;
	count_result(test, 0, result);
}

static void step_emits(struct test *test)
{
	emit(test, 1);
}

static void step_drains(struct test *test)
{
	drain(test);
}

static void step_emits_and_drains(struct test *test)
{
	emit(test, 1);
	drain(test);
	emit(test, 1);
}

static void step_leaves(struct test *test)
{
	(void)test;
	siglongjmp(before, 1);
}

static void step_forks(struct test *test)
{
	memset(&test->ring, 0, sizeof(test->ring));
}

/* With room; around the end of the ring, with padding and without; the same in a full ring. */
static void for_each_start(void (*run)(u32 used, u32 kept))
{
	static const u32 ends[] = { 8, 24, 32, 40 };
	unsigned int i;

	run(0, 0);
	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		run(DATA_BYTES - ends[i], 0);
		run(DATA_BYTES - ends[i], DATA_BYTES - ends[i]);
	}
	run(DATA_BYTES, 0);
	run(DATA_BYTES, DATA_BYTES);
}

/*
 * A ring whose first @used bytes were written. The kernel has not given back the last @kept
 * of them, although the drain is behind them: it does that when it is called.
 */
static void open_at(struct test *test, u32 used, u32 kept)
{
	test_open(test, used);
	test->header->position = used - kept;
}

static void run_steps(u32 used, u32 kept)
{
	static void (*const handlers[])(struct test *test) = {
		step_emits, step_drains, step_emits_and_drains,
	};
	unsigned int i, number = 1 + used % STRIDE;
	struct test test;

	for (i = 0; i < ARRAY_SIZE(handlers); i++) {
		open_at(&test, used, kept);
		emit_stepped(&test, handlers[i], 0);
		test_close(&test);
	}
	/* At one instruction only. */
	do {
		open_at(&test, used, kept);
		emit_stepped(&test, step_emits_and_drains, number);
		emit(&test, 0);
		test_close(&test);
		number += STRIDE;
	} while (step >= number - STRIDE);
}

static void test_steps(void)
{
	for_each_start(run_steps);
}

static void run_leave(u32 used, u32 kept)
{
	static volatile unsigned int number;
	static struct test test;

	for (number = 1 + used % STRIDE;; number += STRIDE) {
		open_at(&test, used, kept);
		if (!sigsetjmp(before, 1)) {
			emit_stepped(&test, step_leaves, number);
			break;
		}
		step_through(false);
		stepped = NULL;
		if (test.ring.busy) {
			if (emit(&test, 1) != ELOG_MAPPED_BUSY)
				test_fail("an emission was left, but the ring is not busy");
			elog_mapped_recover(&test.ring);
		}
		test.header->position = test.header->committed;
		emit(&test, 0);
		drain(&test);
		/* What was left is lost, or was committed. */
		test.refused[0] = test.attempted[0] - test.taken[0];
		if (test.refused[0] > 1)
			test_fail("an event was lost behind the one that was left");
		test_close(&test);
	}
	if (number < 15)
		test_fail("only %u instructions", number);
	test_close(&test);
}

static void test_leave(void)
{
	for_each_start(run_leave);
}

static void run_fork(u32 used, u32 kept)
{
	unsigned int number = 1 + used % STRIDE;
	struct test test;

	do {
		open_at(&test, used, kept);
		emit_stepped(&test, step_forks, number);
		/* What the child then writes to the header is harmless. */
		test.tail = test.header->committed = test.header->position = 0;
		test.taken[0] = test.attempted[0];
		test.refused[0] = 0;
		test_close(&test);
		number += STRIDE;
	} while (step >= number - STRIDE);
}

static void test_fork(void)
{
	struct test test;

	for_each_start(run_fork);
	test_open(&test, 0);
	step_forks(&test);
	expect(emit(&test, 0), ELOG_MAPPED_FULL, "an event without a ring");
	test_close(&test);
}

static void prepare_steps(void)
{
	struct sigaction action = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO };

	sigaction(SIGTRAP, &action, NULL);
}

#else

#define SKIPPED " # SKIP needs x86-64, and no ThreadSanitizer"

static void test_steps(void)
{
}

static void test_leave(void)
{
}

static void test_fork(void)
{
}

static void prepare_steps(void)
{
}

#endif

#ifndef SKIPPED
#define SKIPPED ""
#endif

int main(void)
{
	static const struct {
		const char *name;
		void (*run)(void);
		const char *skipped;
	} tests[] = {
		{ "records end exactly at the end of the ring", test_ends, "" },
		{ "the room that the kernel gives back is used at once", test_part, "" },
		{ "a header that was overwritten does no harm", test_scribbled, "" },
		{ "a drain on another thread and signals of a timer", test_threads, "" },
		{ "a signal at each instruction", test_steps, SKIPPED },
		{ "siglongjmp() at each instruction", test_leave, SKIPPED },
		{ "a fork at each instruction", test_fork, SKIPPED },
	};
	unsigned int i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n1..%zu\n", ARRAY_SIZE(tests));
	prepare_steps();
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		tests[i].run();
		printf("ok %u %s%s\n", i + 1, tests[i].name, tests[i].skipped);
	}
	return 0;
}
