/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of ring_stress share: the ring under test with the writer's
 * own account of it (ring_writer.c), the consumer that checks every byte
 * (ring_checker.c), and the interrupts that make nested writers
 * (ring_interrupt.c).
 *
 * A struct test_ring is written by one thread, and by the signal handlers that
 * run on it: they stand for the softirq, the hardirq and the NMI.  A struct
 * checker belongs to one thread, the consumer.  The two meet in the ring's
 * pages, as the kernel and its consumer do, and nowhere else; what else crosses
 * is said to be atomic below.
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

/* Writers inside one another, the outermost included; the ring takes 7. */
#define TEST_DEPTHS 12

/* Payloads are pieces of this pool, so any payload can be told from its place in it. */
#define TEST_POOL_BYTES (1U << 18)

extern u8 test_pool[TEST_POOL_BYTES];

/**
 * test_fail() - say what is wrong and end the process
 * @format: as printf()
 *
 * Any context, signal handlers included.
 */
void test_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/**
 * test_random() - the next number of a sequence
 * @state: not 0
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
 * struct test_geometry - how a ring is laid out
 * @page_bytes: of each of the two pages before the data
 * @sub_buffer_bytes: a power of two; the core does not need a page
 * @sub_buffers: their number, a power of two
 * @overwrite: mode
 * @locked: written under a lock; where EVENTLOG_RING_LOCKLESS is 0 all are
 * @start: the position all counters start at, a multiple of 8
 */
struct test_geometry {
	u32 page_bytes;
	u32 sub_buffer_bytes;
	u32 sub_buffers;
	bool overwrite;
	bool locked;
	u64 start;
};

/* What the clock of a writer does. */
enum test_clock {
	TEST_CLOCK_COUNTS,	/* counts its readings */
	TEST_CLOCK_STUMBLES,	/* the same, now and then stepping back a little */
	TEST_CLOCK_RUNS,	/* the machine's; now and then stepping back a little */
};

/**
 * struct test_ring - a ring and the writer's account of it
 * @ring: under test
 * @geometry: as made
 * @number: told in each record; below 32
 * @mapping: the pages, the last one fenced off by an inaccessible page
 * @mapping_bytes: their size, without the fence
 * @clock: what eventlog_ring_clock() does for this writer
 * @ticks: readings of the clock
 * @breakpoints: this writer is interrupted by interrupt_at()
 * @in_clock: called by each reading of the clock, or NULL
 * @depth: writers inside, as the writers themselves count
 * @outermost: what eventlog_ring_commit() said of the last event
 * @in_flight: by depth: the ring's nest as this writer found it, and where its
 *	record lies; no bytes: it has none yet
 * @attempted: by depth: events
 * @refused: by depth: events that got no room
 * @placed: by depth: events committed
 * @nested: events placed while another was being written (atomic)
 * @floor: no later record is before it (atomic; written by the consumer)
 * @section: odd while an outermost writer is between reading the floor and
 *	publishing, if sections is set (atomic)
 * @sections: keep section
 * @random: by depth
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
	u64 refused[TEST_DEPTHS];
	u64 placed[TEST_DEPTHS];
	u64 nested;
	u64 floor;
	u64 section;
	bool sections;
	u32 random[TEST_DEPTHS];
};

/* The ring this thread writes to. */
extern __thread struct test_ring *test_current;

/**
 * test_machine_clock() - what TEST_CLOCK_RUNS starts from
 */
u64 test_machine_clock(void);

/**
 * test_ring_open() - map a ring
 * @test: to be filled in
 * @number: the ring's
 * @geometry: copied
 * @seed: of its random numbers, not 0
 */
void test_ring_open(struct test_ring *test, unsigned int number,
		    const struct test_geometry *geometry, u32 seed);

/**
 * test_ring_restart() - begin anew in the same pages
 * @test: opened; nobody else uses it
 * @start: new start position
 *
 * The data is filled with what no record may show.
 */
void test_ring_restart(struct test_ring *test, u64 start);

/**
 * test_ring_close() - unmap
 * @test: opened
 */
void test_ring_close(struct test_ring *test);

/**
 * test_ring_intact() - fail if something was written that is nobody's to write
 * @test: the ring; any thread, at any time
 */
void test_ring_intact(const struct test_ring *test);

/**
 * test_emit() - write one event
 * @test: this thread's ring
 * @payload: bytes
 *
 * Any context of the ring's thread.  Checks what a writer can see: that no
 * other's record is where its own was placed, that nobody wrote into it, and,
 * outermost, that all that is whole can be seen.
 *
 * Return: whether it was placed.
 */
bool test_emit(struct test_ring *test, u32 payload);

/**
 * test_payload_max() - the most that fits a sub-buffer
 * @test: the ring
 */
static inline u32 test_payload_max(const struct test_ring *test)
{
	u32 bytes = test->geometry.sub_buffer_bytes - EVENTLOG_RING_MARKER_BYTES -
		    (u32)sizeof(struct eventlog_record);

	return bytes < EVENTLOG_PAYLOAD_MAX ? bytes : EVENTLOG_PAYLOAD_MAX;
}

/**
 * test_may_lose() - can an event be lost for this cause?
 * @test: the ring
 * @cause: why
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
 * test_sum() - a counter over all depths
 * @counts: by depth
 */
static inline u64 test_sum(const u64 *counts)
{
	u64 sum = 0;
	unsigned int depth;

	for (depth = 0; depth < TEST_DEPTHS; depth++)
		sum += READ_ONCE(counts[depth]);
	return sum;
}

/* Tells a record's header from any other: kept in its tid. */
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
 * What an event's header says here.
 *	descriptor	its depth (4 bits), its ring (5), where in the pool its
 *			payload begins, in eights (15)
 *	session		its number among those of its depth, from 1 (low half),
 *			the events lost before it was tried (high half)
 *	pid		bytes of its payload
 *	tid		test_header_sum() of the rest
 */
#define TEST_DEPTH(descriptor) ((descriptor) & 15)
#define TEST_NUMBER(descriptor) ((descriptor) >> 4 & 31)
#define TEST_OFFSET(descriptor) (((descriptor) >> 9) * 8)

/**
 * struct checker - a consumer that trusts nothing
 * @test: the ring; only geometry and number are looked at
 * @header: its pages, as mapped
 * @consumer: likewise
 * @data: likewise
 * @position: read up to here
 * @time: of the last record
 * @told: losses told by lost records, by cause
 * @told_total: their sum
 * @sequence: by depth: the last event seen
 * @missing: events known to be missing by gaps in their numbers
 * @promised_position: records from here on ...
 * @promised_time: ... are not before this
 * @events: events read
 * @markers: lost records read
 * @paddings: padding records read
 * @lapped: times an overwriting writer was faster
 * @copy: for overwrite mode, a sub-buffer
 */
struct checker {
	const struct test_ring *test;
	const struct eventlog_ring_header *header;
	struct eventlog_ring_consumer *consumer;
	const u8 *data;
	u64 position;
	u64 time;
	u64 told[EVENTLOG_LOST_CAUSES];
	u64 told_total;
	u64 sequence[TEST_DEPTHS];
	u64 missing;
	u64 promised_position;
	u64 promised_time;
	u64 events;
	u64 markers;
	u64 paddings;
	u64 lapped;
	u64 *copy;
};

/**
 * checker_open() - a consumer at the ring's start
 * @checker: to be filled in
 * @test: nobody writes yet
 */
void checker_open(struct checker *checker, const struct test_ring *test);

/**
 * checker_restart() - the ring was restarted
 * @checker: opened
 */
void checker_restart(struct checker *checker);

/**
 * checker_close() - give its memory back
 * @checker: opened
 */
void checker_close(struct checker *checker);

/**
 * checker_take() - read and check what there is
 * @checker: opened
 * @records: at most as many
 * @release: discard mode: tell the writer, once, at the end
 *
 * Any context of the consumer's thread.
 *
 * Return: records read, of any type.
 */
unsigned int checker_take(struct checker *checker, unsigned int records, bool release);

/**
 * checker_skip() - go on behind everything published
 * @checker: opened, discard mode; nobody writes
 *
 * For a consumer that has lied about its position: what it could have read is
 * not known.  Counts as overtaken.
 */
void checker_skip(struct checker *checker);

/**
 * checker_finish() - compare with the writer's account
 * @checker: opened
 * @test: its ring; nobody is writing any more and there is room for an event
 *
 * Emits a last event, so that every loss is told, and reads to the end.
 */
void checker_finish(struct checker *checker, struct test_ring *test);

/* ---- interrupts ---- */

/**
 * interrupts_open() - get ready
 *
 * Once, before anything else here.
 */
void interrupts_open(void);

/**
 * interrupts_find() - find the places where a writer can be interrupted
 *
 * Writes events to rings of its own, stepping through the code instruction by
 * instruction: those of the ring, with all branches taken.  The places are
 * known to the process that called interrupts_open() even if this is a child.
 */
void interrupts_find(void);

/**
 * interrupts_places() - how many were found
 *
 * To be called by the process that will start those that interrupt.
 *
 * Return: their number; 0 where they cannot be known or used.
 */
unsigned int interrupts_places(void);

/**
 * interrupt_at() - interrupt this thread's writer once
 * @place: below interrupts_places()
 * @handler: run there, before that instruction, as an interrupt
 *
 * Takes the place of an interrupt that has not happened yet.  Only one thread
 * may use it at a time: it is the code that is changed.
 */
void interrupt_at(unsigned int place, void (*handler)(struct test_ring *test));

/**
 * interrupt_cancel() - no more
 *
 * Return: whether one was still to come.
 */
bool interrupt_cancel(void);

/**
 * interrupts_start() - interrupt this thread's writer now and then, by timers
 * @handler: run as an interrupt
 *
 * Two levels: the higher interrupts the lower one as well.
 */
void interrupts_start(void (*handler)(struct test_ring *test));

/**
 * interrupts_stop() - by the same thread
 */
void interrupts_stop(void);

/* While interrupts_find() is at it, test_emit() says when it is in the ring's code. */
extern bool interrupts_tracing;
void interrupts_trace(bool on);

#endif /* RING_TEST_H */
