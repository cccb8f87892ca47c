/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the time of a session went: what its threads waited for, how long, and who ended the
 * waits; and what these waited for meanwhile. Memory is bounded, whatever a file says.
 */
#ifndef WHY_H
#define WHY_H

#include "input/interval.h"
#include "libelog/util/map.h"
#include "output/print_settings.h"

#define WHY_HOLDERS_MAX	8	/* in a chain */
#define WHY_SPANS_MAX	64

/**
 * struct why_thread - another thread that ended waits
 * @tid: 0: none, but an interrupt, or it is not known
 * @how: INTERVAL_*
 * @name: its name
 * @provider: of its session
 * @session: 0: none
 */
struct why_thread {
	uint32_t tid;
	unsigned int how;
	char name[INTERVAL_NAME];
	char provider[EVENTLOG_NAME_MAX];
	uint64_t session;
};

/**
 * struct why_holder - what a thread did in a while in which another one waited for it
 * @thread: the thread
 * @length: of that while, ns
 * @waits: time by cause in it, ns. Without any, and without a session of @thread, what it did is
 *	not known
 * @ended: the cause of the wait that it ended
 */
struct why_holder {
	struct why_thread thread;
	enum interval_cause ended;
	uint64_t length;
	uint64_t waits[INTERVAL_CAUSES];
};

/**
 * struct why_waker - who ended waits of a session
 * @thread: the thread
 * @time: that the waits took, ns
 * @longest: of the waits
 * @holders: what it did during the longest one, and who ended the longest of its own waits in
 *	that time, and so on
 * @holder_count: of @holders
 */
struct why_waker {
	struct why_thread thread;
	uint64_t time;
	uint64_t longest;
	struct why_holder holders[WHY_HOLDERS_MAX];
	unsigned int holder_count;
};

/** struct why_call - time in a system call */
struct why_call {
	int number;
	uint64_t time;
};

/**
 * struct why_stack - time in one place of the kernel
 * @number: of the stack
 * @time: of the waits, ns
 * @frames: what it looks like; NULL: not known
 */
struct why_stack {
	uint32_t number;
	uint64_t time;
	const char *frames;
};

/**
 * struct why_wait - what threads of a session waited for
 * @time: ns
 * @count: of the intervals
 * @calls: system calls, in the order in which they were seen
 * @call_count: of @calls
 * @wakers: likewise
 * @waker_count: of @wakers
 * @stacks: likewise, of long waits
 * @stack_count: of @stacks
 */
struct why_wait {
	uint64_t time;
	uint64_t count;
	struct why_call *calls;
	size_t call_count;
	struct why_waker *wakers;
	size_t waker_count;
	struct why_stack *stacks;
	size_t stack_count;
};

/**
 * struct why_session - a session
 * @provider: "?": not known
 * @scope: of its host and boot
 * @instance: of the provider; "": none
 * @host: name of the host; "": not known
 * @boot: id of the boot; likewise
 * @number: of the session
 * @from: only what was in a span of it counts, which began then, CLOCK_MONOTONIC ns
 * @to: and ended then
 * @start: name of the event that began the span; "": any START
 * @event: the name of that event; "": there is none
 * @fields: its fields, in the output format; NULL: it has none
 * @spans: that began in the session, or in the span, which is one of them
 * @machine: kind of machine, for the numbers of system calls; likewise
 * @first: its first event, or the start of an interval, CLOCK_REALTIME ns
 * @last: its last one
 * @events: of programs
 * @intervals: of sched, also those in sums
 * @waits: by cause
 * @threads: struct why_span, by tid
 */
struct why_session {
	char provider[EVENTLOG_NAME_MAX];
	uint64_t scope;
	char instance[EVENTLOG_NAME_MAX];
	char host[65];
	char boot[40];
	uint64_t number;
	uint64_t from;
	uint64_t to;
	char start[EVENTLOG_NAME_MAX];
	char event[EVENTLOG_NAME_MAX];
	char *fields;
	uint64_t spans;
	char machine[16];
	int64_t first;
	int64_t last;
	uint64_t events;
	uint64_t intervals;
	struct why_wait waits[INTERVAL_CAUSES];
	struct elog_map threads;
};

/**
 * struct why_times - the time of a session
 * @wall: of its span, or from its first to its last event, ns
 * @threads: that worked on it
 * @thread_time: the time from the first to the last event of each thread, in all
 * @on_cpu: the part of it that is no interval; 0 if there is no interval: see @unknown
 * @unknown: likewise, if no interval tells that the threads work on the session
 * @none: when no thread worked on it
 */
struct why_times {
	uint64_t wall;
	uint64_t threads;
	uint64_t thread_time;
	uint64_t on_cpu;
	uint64_t unknown;
	uint64_t none;
};

struct why;

/**
 * why_open() - begin
 * @why: set
 * @json: the format of fields: text or JSON
 * @provider: of the session; NULL: any
 * @number: of the session; 0: spans of why_add_span(), instead of a session
 *
 * Return: 0, -ENOMEM.
 */
int why_open(struct why **why, bool json, const char *provider, uint64_t number);

/**
 * why_add_span() - add a span of a session
 * @why: open; at most WHY_SPANS_MAX times
 * @provider: of the session
 * @instance: that it is of; "": none
 * @boot: id of the boot; "": not known
 * @start: name of the event that began the span
 * @number: of the session
 * @from: when it began, CLOCK_MONOTONIC ns
 * @to: when it ended
 */
void why_add_span(struct why *why, const char *provider, const char *instance, const char *boot,
		  const char *start, uint64_t number, uint64_t from, uint64_t to);

/** why_close() - free everything; NULL is allowed */
void why_close(struct why *why);

/**
 * why_take() - take an event, in the order of time
 * @why: open
 * @entry: any event
 * @is_start: it starts a span
 *
 * Return: 0, -ENOMEM.
 */
int why_take(struct why *why, const struct entry *entry, bool is_start);

/** why_knows() - was there an event of the provider sched? Without, all time is unknown */
bool why_knows(const struct why *why);

/**
 * why_find() - find the session or the spans, when there are no more events
 * @why: open
 * @quiet: no hints
 * @count: set to how many there are
 *
 * Return: the first one; NULL, after an error message.
 */
struct why_session *why_find(struct why *why, bool quiet, size_t *count);

/** why_times() - add up the time of a session */
struct why_times why_times(const struct why_session *session);

/**
 * why_print() - print a session
 * @session: the session, whose arrays are sorted then
 * @settings: how; text or JSON
 * @lost: lost events in the file
 * @text: to append to
 */
void why_print(struct why_session *session, const struct print_settings *settings, uint64_t lost,
	       struct elog_text *text);

#endif /* WHY_H */
