/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the parts of ring_stress: the ring under test with the writer's own
 * account of it (ring_writer.c), the consumer that checks every byte
 * (ring_checker.c), and the interrupts that create nested writers
 * (ring_interrupt.c).
 *
 * One thread writes a struct test_ring, and so do the signal handlers that run on
 * it: they simulate softirq, hardirq and NMI.  A struct checker belongs to the
 * consumer's thread.  The two share the ring's pages, like the kernel and a
 * consumer, and the members below that are marked atomic.
 */
#ifndef RING_TEST_H
#define RING_TEST_H

#include "ring/ring.h"

#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif
#ifndef UNDER_TSAN
#define UNDER_TSAN 0
#endif

#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_ASAN 1
#endif
#endif
#ifndef UNDER_ASAN
#define UNDER_ASAN 0
#endif

/* Maximum depth of nested writers, with the outermost one; the ring accepts 7. */
#define TEST_DEPTHS 12

/* A payload is a part of this pool, so its offset determines its bytes. */
#define TEST_POOL_BYTES (1U << 18)

extern u8 test_pool[TEST_POOL_BYTES];

/**
 * test_fail() - print a message and end the process
 * @format: as printf()
 *
 * Any context, also signal handlers.
 */
void test_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/**
 * test_random() - the next number of a sequence
 * @state: must not be 0
 */
static inline u32 test_random(u32 *state)
{
	u32 value = *state;

	value ^= value << 13;
	value ^= value >> 17;
	value ^= value << 5;
	*state = value;
	return value;
}

/**
 * struct test_geometry - layout of a ring
 * @page_bytes: size of each of the two pages before the data
 * @sub_buffer_bytes: a power of two; may be smaller than a page
 * @sub_buffers: a power of two
 * @overwrite: overwrite mode, else discard mode
 * @locked: written under a lock; always the case if EVENTLOG_RING_LOCKLESS is 0
 * @start: initial value of all positions, a multiple of 8
 */
struct test_geometry {
	u32 page_bytes;
	u32 sub_buffer_bytes;
	u32 sub_buffers;
	bool overwrite;
	bool locked;
	u64 start;
};

/* The clock of a writer. */
enum test_clock {
	TEST_CLOCK_COUNTS,	/* counts the readings */
	TEST_CLOCK_STUMBLES,	/* the same, but sometimes steps back a little */
	TEST_CLOCK_RUNS,	/* the machine's clock, but sometimes steps back a little */
};

/**
 * struct test_ring - a ring and the writer's account of it
 * @ring: ring under test
 * @geometry: its layout
 * @number: stored in each record; below 32
 * @mapping: the pages; an inaccessible page follows
 * @mapping_bytes: their size without that page
 * @clock: result of eventlog_ring_clock() for this writer
 * @ticks: number of readings of the clock
 * @breakpoints: interrupt_at() interrupts this writer
 * @in_clock: called at each reading of the clock, or NULL
 * @depth: current depth of nested writers
 * @outermost: result of eventlog_ring_commit() for the last event
 * @in_flight: by depth: the ring's nest that this writer found, and the position of
 *	its record; 0 bytes if it has no record yet
 * @attempted: by depth: number of events
 * @rejected: by depth: events that were lost
 * @placed: by depth: events that were committed
 * @nested: events placed while another one was being written (atomic)
 * @floor: minimum time of later records (atomic; written by the consumer)
 * @section: odd while an outermost writer is between reading the floor and
 *	publishing, if @sections is set (atomic)
 * @sections: maintain @section
 * @quiet: no event is news
 * @kind: of the events, below TEST_KINDS; only an outermost writer changes it
 * @known: the kind that the last news told
 * @random: by depth: state of the random numbers
 */
struct test_ring {
	struct eventlog_ring ring;
	struct test_geometry geometry;
	unsigned int number;
	u8 *mapping;
	size_t mapping_bytes;
	enum test_clock clock;
	u64 ticks;
	bool breakpoints;
	void (*in_clock)(struct test_ring *test);

	u32 depth;
	bool outermost;
	struct {
		u32 nest;
		u32 offset;
		u32 bytes;
	} in_flight[TEST_DEPTHS];
	u64 attempted[TEST_DEPTHS];
	u64 rejected[TEST_DEPTHS];
	u64 placed[TEST_DEPTHS];
	u64 nested;
	u64 floor;
	u64 section;
	bool sections;
	bool quiet;
	u32 kind;
	u32 known;
	u32 random[TEST_DEPTHS];
};

/* The ring that this thread writes. */
extern __thread struct test_ring *test_current;

/**
 * test_machine_clock() - the clock of TEST_CLOCK_RUNS
 */
u64 test_machine_clock(void);

/**
 * test_ring_open() - map a ring
 * @test: filled in
 * @number: number of the ring
 * @geometry: copied
 * @seed: for its random numbers, not 0
 */
void test_ring_open(struct test_ring *test, unsigned int number,
		    const struct test_geometry *geometry, u32 seed);

/**
 * test_ring_restart() - reset a ring in the same pages
 * @test: an open ring without other users
 * @start: new start position
 *
 * Fills the data with bytes that no valid record contains.
 */
void test_ring_restart(struct test_ring *test, u64 start);

/**
 * test_ring_close() - unmap a ring
 * @test: an open ring
 */
void test_ring_close(struct test_ring *test);

/**
 * test_ring_intact() - fail if bytes were written that no one may write
 * @test: the ring; any thread may call this at any time
 */
void test_ring_intact(const struct test_ring *test);

/**
 * test_emit() - write one event
 * @test: this thread's ring
 * @payload: size in bytes
 *
 * Any context of the ring's thread.  Checks what the writer can see: that its record
 * does not overlap another one and was not changed by other writers, and, for the
 * outermost writer, that all whole records are published.
 *
 * Return: whether the event was placed.
 */
bool test_emit(struct test_ring *test, u32 payload);

/**
 * test_payload_max() - the largest payload that fits in a sub-buffer
 * @test: the ring
 */
static inline u32 test_payload_max(const struct test_ring *test)
{
	u32 bytes = test->geometry.sub_buffer_bytes - EVENTLOG_RING_MARKER_BYTES -
		    (u32)sizeof(struct eventlog_record);

	return bytes < EVENTLOG_PAYLOAD_MAX ? bytes : EVENTLOG_PAYLOAD_MAX;
}

/**
 * test_may_lose() - whether this cause of loss is possible in a test
 * @test: the ring
 * @cause: the cause
 */
static inline bool test_may_lose(const struct test_ring *test, enum eventlog_lost cause)
{
	switch (cause) {
	case EVENTLOG_LOST_NO_ROOM:
	case EVENTLOG_LOST_TOO_LARGE:
		return true;
	case EVENTLOG_LOST_GUARD:
	case EVENTLOG_LOST_DEPTH:
		return !test->ring.locked;
	case EVENTLOG_LOST_NESTED:
		return test->ring.locked;
	default:
		return false;
	}
}

/**
 * test_sum() - sum of a counter over all depths
 * @counts: values by depth
 */
static inline u64 test_sum(const u64 *counts)
{
	u64 sum = 0;
	unsigned int depth;

	for (depth = 0; depth < TEST_DEPTHS; depth++)
		sum += READ_ONCE(counts[depth]);
	return sum;
}

/* Checksum of a record's header, stored in its tid. */
static inline u32 test_header_sum(const struct eventlog_record *record)
{
	u64 sum = record->size_flags * 0x9e3779b97f4a7c15ULL;

	sum = (sum ^ (sum >> 29) ^ record->descriptor) * 0xbf58476d1ce4e5b9ULL;
	sum = (sum ^ (sum >> 32) ^ record->time) * 0x94d049bb133111ebULL;
	sum = (sum ^ (sum >> 30) ^ record->session) * 0x9e3779b97f4a7c15ULL;
	sum = (sum ^ (sum >> 31) ^ record->pid) * 0xbf58476d1ce4e5b9ULL;
	return sum ^ (sum >> 32);
}

/*
 * Contents of an event's header in the tests:
 *	descriptor	depth (4 bits), number of the ring (5), offset of the payload
 *			in the pool in units of 8 bytes (15), kind (6), whether the record is news (1)
 *	session		sequence number at its depth, from 1 (low half); number of
 *			events lost before this one was attempted (high half)
 *	pid		size of the payload
 *	tid		test_header_sum() of the rest
 */
#define TEST_DEPTH(descriptor) ((descriptor) & 15)
#define TEST_NUMBER(descriptor) ((descriptor) >> 4 & 31)
#define TEST_OFFSET(descriptor) (((descriptor) >> 9 & 0x7fff) * 8)
#define TEST_KIND_SHIFT 24
#define TEST_KINDS 64
#define TEST_KIND(descriptor) ((descriptor) >> TEST_KIND_SHIFT & (TEST_KINDS - 1))
#define TEST_NEWS (1U << 31)

/**
 * struct checker - a consumer that verifies everything
 * @test: the ring; only geometry and number are used
 * @header: its first page
 * @consumer: its second page
 * @data: its data
 * @position: position of the next record to read
 * @time: time of the last record
 * @reported: losses reported by lost records, by cause
 * @reported_total: their sum
 * @sequence: by depth: number of the last event
 * @missing: missing events, known from gaps in the numbers
 * @promised_position: records from this position on ...
 * @promised_time: ... are not older than this
 * @events: number of events read
 * @markers: number of lost records read
 * @paddings: number of padding records read
 * @lapped: how often an overwriting writer passed the reader
 * @based: @base is valid
 * @base: at the start of this sub-buffer: its records, and @events
 * @counted: number of sub-buffers whose number of events the kernel knew
 * @news: number of records that were news
 * @kind: 1 + the kind of the last event; 0: not known
 * @copy: overwrite mode: copy of a sub-buffer
 */
struct checker {
	const struct test_ring *test;
	const struct eventlog_ring_header *header;
	struct eventlog_ring_consumer *consumer;
	const u8 *data;
	u64 position;
	u64 time;
	u64 reported[EVENTLOG_LOST_CAUSES];
	u64 reported_total;
	u64 sequence[TEST_DEPTHS];
	u64 missing;
	u64 promised_position;
	u64 promised_time;
	u64 events;
	u64 markers;
	u64 paddings;
	u64 lapped;
	bool based;
	struct {
		u32 records;
		u64 events;
	} base;
	u64 counted;
	u64 news;
	u32 kind;
	u64 *copy;
};

/**
 * checker_open() - create a consumer at the start of a ring
 * @checker: filled in
 * @test: a ring that is not being written
 */
void checker_open(struct checker *checker, const struct test_ring *test);

/**
 * checker_restart() - start again after test_ring_restart()
 * @checker: an open checker
 */
void checker_restart(struct checker *checker);

/**
 * checker_close() - free a checker's memory
 * @checker: an open checker
 */
void checker_close(struct checker *checker);

/**
 * checker_take() - read and check records
 * @checker: an open checker
 * @records: maximum number of records
 * @release: discard mode: store the position once, at the end
 *
 * Any context of the consumer's thread.
 *
 * Return: number of records read, of any type.
 */
unsigned int checker_take(struct checker *checker, unsigned int records, bool release);

/**
 * checker_skip() - continue after everything that is published
 * @checker: an open checker, discard mode; the ring is not being written
 *
 * For a consumer that stored wrong positions: the data that it skipped may be
 * overwritten.  Counts as lapped.
 */
void checker_skip(struct checker *checker);

/**
 * checker_finish() - compare the records with the writer's account
 * @checker: an open checker
 * @test: its ring, which is no longer written and has room for an event
 *
 * Emits a last event, so that every loss is reported, and reads to the end.
 */
void checker_finish(struct checker *checker, struct test_ring *test);

/* ---- interrupts ---- */

/**
 * interrupts_open() - prepare for interrupts
 *
 * Call this once, before the other functions.
 */
void interrupts_open(void);

/**
 * interrupts_find() - find the instructions where a writer can be interrupted
 *
 * Writes events to rings of its own and single-steps through the code of the ring,
 * through all branches.  The process that called interrupts_open() gets the result
 * even if a child calls this function.
 */
void interrupts_find(void);

/**
 * interrupts_places() - number of instructions found
 *
 * Called by the process that starts the interrupted writers.
 *
 * Return: the number; 0 if the instructions cannot be found or changed.
 */
unsigned int interrupts_places(void);

/**
 * interrupt_at() - interrupt this thread's writer once
 * @place: below interrupts_places()
 * @handler: runs as an interrupt before the instruction
 *
 * Replaces an interrupt that has not happened yet.  Only one thread at a time may use
 * this, because it changes the code.
 */
void interrupt_at(unsigned int place, void (*handler)(struct test_ring *test));

/**
 * interrupt_cancel() - cancel a pending interrupt
 *
 * Return: whether an interrupt was pending.
 */
bool interrupt_cancel(void);

/**
 * interrupts_start() - interrupt this thread's writer by timers
 * @handler: runs as an interrupt
 *
 * There are two levels; the higher one can interrupt the lower one.
 */
void interrupts_start(void (*handler)(struct test_ring *test));

/**
 * interrupts_stop() - stop the timers; called by the same thread
 */
void interrupts_stop(void);

/* During interrupts_find(), test_emit() reports when it runs the ring's code. */
extern bool interrupts_tracing;
void interrupts_trace(bool on);

#endif /* RING_TEST_H */
