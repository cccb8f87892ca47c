/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of the provider sched: intervals in which a thread that worked on a session did not
 * run. Files are not trusted: any value may be anything, but no sum of a few of them overflows.
 */
#ifndef INTERVAL_H
#define INTERVAL_H

#include "input/source.h"

/* Why a thread did not run, as in the schema; 0 is the time from its wake-up until it ran. */
enum interval_cause {
	INTERVAL_RUNNABLE,
	INTERVAL_PREEMPTED,
	INTERVAL_THROTTLED,
	INTERVAL_YIELD,
	INTERVAL_FUTEX,
	INTERVAL_DISK,
	INTERVAL_FILE,
	INTERVAL_SOCKET,
	INTERVAL_PIPE,
	INTERVAL_FAULT,
	INTERVAL_SLEEP,
	INTERVAL_POLL,
	INTERVAL_STOPPED,
	INTERVAL_OTHER,
	INTERVAL_CAUSES,
};

#define INTERVAL_NAME	17	/* bytes of a thread's name, with NUL */

/* Flags of struct interval.how. */
#define INTERVAL_IRQ		0x2
#define INTERVAL_SOFTIRQ	0x4
#define INTERVAL_KTHREAD	0x8

/**
 * struct interval - an event off
 * @end: when the thread ran again, CLOCK_REALTIME ns
 * @blocked: time until it was woken, ns
 * @runnable: time from then on, ns
 * @cause: why
 * @how: who woke it: INTERVAL_*
 * @call: number of the system call; negative: none
 * @tid: the thread
 * @by_tid: thread that woke it, or got its CPU; 0: none
 * @by: its name
 * @of: descriptor of an event of the session's provider
 * @by_of: the same of @by_session
 * @session: of the thread
 * @by_session: of @by_tid; 0: none
 * @stack: number of its kernel stack; 0: not known
 */
struct interval {
	int64_t end;
	uint64_t blocked;
	uint64_t runnable;
	enum interval_cause cause;
	unsigned int how;
	int call;
	uint32_t tid;
	uint32_t by_tid;
	char by[INTERVAL_NAME];
	uint32_t of;
	uint32_t by_of;
	uint64_t session;
	uint64_t by_session;
	uint32_t stack;
};

/**
 * struct interval_sum - an event sum: what short intervals have in all
 * @of: as in struct interval
 * @session: likewise
 * @tid: likewise
 * @count: of the intervals
 * @times: by cause, ns
 */
struct interval_sum {
	uint32_t of;
	uint64_t session;
	uint32_t tid;
	uint64_t count;
	uint64_t times[INTERVAL_CAUSES];
};

/**
 * struct interval_stack - an event stack
 * @number: of the stack
 * @frames: its frames, with ; between them; any bytes, in the payload of the event
 * @size: of @frames
 */
struct interval_stack {
	uint32_t number;
	const char *frames;
	size_t size;
};

/** interval_time() - how long the thread did not run */
static inline uint64_t interval_time(const struct interval *interval)
{
	return interval->blocked + interval->runnable;
}

/** interval_begin() - when it began, CLOCK_REALTIME ns; INT64_MIN: before that */
static inline int64_t interval_begin(const struct interval *interval)
{
	int64_t wall;

	return __builtin_sub_overflow(interval->end, interval_time(interval), &wall) ? INT64_MIN :
										     wall;
}

/**
 * interval_cut() - cut off what is not in a span
 * @interval: changed
 * @end: of the interval, CLOCK_MONOTONIC ns
 * @from: when the span began, likewise
 * @to: when it ended
 *
 * Return: when the rest of the interval ends.
 */
uint64_t interval_cut(struct interval *interval, uint64_t end, uint64_t from, uint64_t to);

/**
 * interval_cut_sum() - the same for a sum, whose intervals may have been at any time
 * @sum: changed
 * @since: when the sum before it was emitted; 0: not known
 * @now: when it was emitted
 * @from: when the span began, likewise
 * @to: when it ended
 *
 * Return: false: nothing is left.
 */
bool interval_cut_sum(struct interval_sum *sum, uint64_t since, uint64_t now, uint64_t from,
		      uint64_t to);

/** interval_waits() - was the thread blocked, and did not just wait for a CPU? */
static inline bool interval_waits(const struct interval *interval)
{
	return interval->cause > INTERVAL_YIELD;
}

/** interval_cause_name() - "disk" and the like */
const char *interval_cause_name(enum interval_cause cause);

/** interval_is_event() - is a definition one of the provider sched? NULL: no */
bool interval_is_event(const struct elog_schema_event *event);

/** interval_read() - read an event off; false: it is another one */
bool interval_read(const struct entry *entry, struct interval *interval);

/** interval_read_sum() - read an event sum; false: it is another one */
bool interval_read_sum(const struct entry *entry, struct interval_sum *sum);

/** interval_read_stack() - read an event stack; false: it is another one */
bool interval_read_stack(const struct entry *entry, struct interval_stack *stack);

/**
 * interval_provider() - the provider of a session
 * @entry: the event off or sum
 * @live: where it is from; NULL: a file
 * @of: of the session
 *
 * May drop the definition of the event.
 *
 * Return: its name, valid until the next item; "?": it has no event in the file.
 */
const char *interval_provider(const struct entry *entry, const struct live *live, uint32_t of);

#endif /* INTERVAL_H */
