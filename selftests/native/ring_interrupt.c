// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts for ring_stress: see ring_test.h.
 *
 * Signals simulate interrupts: a handler runs on the writer's own thread, above
 * whatever the writer was doing, and ends before the writer continues.  There are
 * two sources.
 *
 * Timers, at two levels: they interrupt at any instruction, but only a few thousand
 * times a second.
 *
 * A breakpoint at a chosen instruction: this takes a microsecond, so all
 * instructions of the ring's code can be tried, and all pairs of them.  Stepping
 * through the code once finds the instructions.  ThreadSanitizer's runtime delays
 * signals from timers, but not these.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "ring_test.h"

/* Nanoseconds between two signals, for each level. */
#define LOWER_PERIOD 47000
#define HIGHER_PERIOD 61000

#define PLACES_MAX 16384

bool interrupts_tracing;

static __thread void (*timer_handler)(struct test_ring *test);
static __thread timer_t timers[2];

static void on_timer(int signal)
{
	int error = errno;

	(void)signal;
	if (timer_handler)
		timer_handler(test_current);
	errno = error;
}

void interrupts_start(void (*handler)(struct test_ring *test))
{
	static const long periods[2] = { LOWER_PERIOD, HIGHER_PERIOD };
	static const int signals[2] = { SIGUSR1, SIGUSR2 };
	struct sigaction action = { .sa_handler = on_timer, .sa_flags = SA_RESTART };
	unsigned int level;

	timer_handler = handler;
	for (level = 0; level < 2; level++) {
		struct itimerspec period = {
			.it_value = { .tv_nsec = periods[level] },
			.it_interval = { .tv_nsec = periods[level] },
		};
		struct sigevent event = {
			.sigev_notify = SIGEV_THREAD_ID,
			.sigev_signo = signals[level],
		};

		/* The higher level also blocks the lower one. */
		sigemptyset(&action.sa_mask);
		sigaddset(&action.sa_mask, signals[0]);
		sigaddset(&action.sa_mask, signals[level]);
		event._sigev_un._tid = syscall(SYS_gettid);
		if (sigaction(signals[level], &action, NULL) ||
		    timer_create(CLOCK_MONOTONIC, &event, &timers[level]) ||
		    timer_settime(timers[level], 0, &period, NULL))
			test_fail("cannot create a timer");
	}
}

void interrupts_stop(void)
{
	timer_delete(timers[0]);
	timer_delete(timers[1]);
	/* A signal may still be pending. */
	timer_handler = NULL;
}

#ifdef __x86_64__

#define TRAP_FLAG 0x100
#define BREAKPOINT 0xcc

/* The program's code, as the linker placed it. */
extern u8 __executable_start[], etext[];

/* Shared with the process that finds the instructions. */
static struct table {
	unsigned int count;
	uintptr_t places[PLACES_MAX];
	u8 originals[PLACES_MAX];
} *table;

/*
 * The only breakpoint: its index in the table, or NO_PLACE.  A writer with a timer may
 * run into it, or set and remove others, between any two steps below: so code bytes
 * are always written from the table, and a trap at any place is valid.
 */
#define NO_PLACE PLACES_MAX

static volatile unsigned int breakpoint = NO_PLACE;
static void (*volatile breakpoint_handler)(struct test_ring *test);

/*
 * ThreadSanitizer has no shadow memory for code and must not look for it. A step may end in its
 * runtime, while that has a lock which instrumented code would take again.
 */
#define NO_TSAN __attribute__((no_sanitize("thread")))

NO_TSAN static void write_code(unsigned int place, u8 byte)
{
	barrier();
	*(volatile u8 *)table->places[place] = byte;
	barrier();
}

NO_TSAN static unsigned int find_place(uintptr_t address)
{
	unsigned int place = breakpoint;

	if (place != NO_PLACE && table->places[place] == address)
		return place;
	for (place = 0; place < table->count; place++) {
		if (table->places[place] == address)
			return place;
	}
	return NO_PLACE;
}

NO_TSAN static void note_place(uintptr_t address)
{
	if (address < (uintptr_t)__executable_start || address >= (uintptr_t)etext ||
	    find_place(address) != NO_PLACE)
		return;
	if (table->count == PLACES_MAX)
		test_fail("more than %u instructions", PLACES_MAX);
	table->originals[table->count] = *(u8 *)address;
	table->places[table->count++] = address;
}

NO_TSAN static void on_trap(int signal, siginfo_t *info, void *context)
{
	greg_t *rip = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	int error = errno;
	unsigned int place;

	(void)signal;
	if (info->si_code == TRAP_TRACE) {
		note_place(*rip);
		return;
	}
	place = find_place(*rip - 1);
	if (place == NO_PLACE)
		test_fail("unexpected trap at %#llx", (unsigned long long)*rip);
	breakpoint = NO_PLACE;
	write_code(place, table->originals[place]);
	--*rip;
#if UNDER_TSAN
	/* ThreadSanitizer's runtime blocks every signal in a handler. */
	sigset_t traps;

	sigemptyset(&traps);
	sigaddset(&traps, SIGTRAP);
	pthread_sigmask(SIG_UNBLOCK, &traps, NULL);
#endif
	/* The consumer's thread can hit it in a function that both threads use. */
	if (test_current)
		breakpoint_handler(test_current);
	errno = error;
}

void interrupts_trace(bool on)
{
	u64 flags = __builtin_ia32_readeflags_u64();

	if (on)
		flags |= TRAP_FLAG;
	else
		flags &= ~(u64)TRAP_FLAG;
	__builtin_ia32_writeeflags_u64(flags);
}

void interrupt_at(unsigned int place, void (*handler)(struct test_ring *test))
{
	interrupt_cancel();
	breakpoint_handler = handler;
	breakpoint = place;
	write_code(place, BREAKPOINT);
}

bool interrupt_cancel(void)
{
	unsigned int place = breakpoint;

	if (place == NO_PLACE)
		return false;
	write_code(place, table->originals[place]);
	breakpoint = NO_PLACE;
	return true;
}

/* ---- finding the instructions ---- */

static void emit_in_clock(struct test_ring *test)
{
	interrupts_tracing = false;
	test->in_clock = NULL;
	test_emit(test, 0);
}

/* Fills the ring and wraps around; some events are rejected. */
static void emit_round(struct test_ring *test)
{
	unsigned int events;

	interrupts_tracing = false;
	test->in_clock = NULL;
	for (events = test->ring.data_bytes / 48 + 2; events; events--)
		test_emit(test, 16);
}

static u32 deepest;

/* Each depth emits once, however often the outer writers retry. */
static void emit_deeper(struct test_ring *test)
{
	interrupts_tracing = false;
	if (test->depth <= deepest)
		return;
	deepest = test->depth;
	test_emit(test, 0);
}

static void trace(struct test_ring *test, u32 payload, void (*in_clock)(struct test_ring *test))
{
	test->in_clock = in_clock;
	interrupts_tracing = true;
	test_emit(test, payload);
	interrupts_tracing = false;
	interrupts_trace(false);
	test->in_clock = NULL;
}

static void trace_mode(bool overwrite, bool locked)
{
	struct test_geometry geometry = {
		.page_bytes = 1024, .sub_buffer_bytes = 256, .sub_buffers = 2,
		.overwrite = overwrite, .locked = locked,
	};
	struct test_ring test;
	u32 payload;

	test_ring_open(&test, 0, &geometry, 1);
	/*
	 * ThreadSanitizer's runtime takes locks of its own around lock operations, and a
	 * trap inside would deadlock.
	 */
	if (UNDER_TSAN && test.ring.locked)
		goto out;
	test_current = &test;
	test.clock = TEST_CLOCK_STUMBLES;
	/* Cover padding, lost records and full rings, payloads of one word and of many. */
	for (payload = 0; payload <= test_payload_max(&test) + 8; payload += UNDER_TSAN ? 34 : 17) {
		trace(&test, payload, NULL);
		if (payload % 3 == 0)
			test_ring_restart(&test, 0);
	}
		/* Each step is a trap and instrumented code has many: limit them. */
	if (UNDER_TSAN)
		goto out;
	test_ring_restart(&test, 0);
	test.floor = 1000000;
	trace(&test, 0, NULL);
	trace(&test, 0, emit_in_clock);
	test_ring_restart(&test, 0);
	trace(&test, 0, emit_round);
	test_ring_restart(&test, 0);
	deepest = 0;
	trace(&test, 0, emit_deeper);
out:
	test_current = NULL;
	test_ring_close(&test);
}

void interrupts_find(void)
{
	trace_mode(false, false);
	trace_mode(true, false);
	trace_mode(false, true);
	trace_mode(true, true);
}

void interrupts_open(void)
{
	struct sigaction action = {
		.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART,
	};

	table = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	sigemptyset(&action.sa_mask);
	if (table == MAP_FAILED || sigaction(SIGTRAP, &action, NULL))
		test_fail("out of memory, or no handler for SIGTRAP");
}

unsigned int interrupts_places(void)
{
	uintptr_t page = sysconf(_SC_PAGESIZE), begin = UINTPTR_MAX, end = 0;
	unsigned int i;

	for (i = 0; i < table->count; i++) {
		if (table->places[i] < begin)
			begin = table->places[i];
		if (table->places[i] > end)
			end = table->places[i];
	}
	if (!end)
		return 0;
	begin &= ~(page - 1);
	end = (end & ~(page - 1)) + page;
	/* The system may forbid writable code. */
	if (mprotect((void *)begin, end - begin, PROT_READ | PROT_WRITE | PROT_EXEC))
		return 0;
	return table->count;
}

#else

void interrupts_open(void)
{
}

void interrupts_find(void)
{
}

unsigned int interrupts_places(void)
{
	return 0;
}

void interrupts_trace(bool on)
{
	(void)on;
}

void interrupt_at(unsigned int place, void (*handler)(struct test_ring *test))
{
	(void)place;
	(void)handler;
}

bool interrupt_cancel(void)
{
	return false;
}

#endif
