/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts of events by provider, event, session, process or CPU, for elog stat and elog
 * top. Counting formats nothing. The number of rows is limited: beyond that, the rows
 * that were seen longest ago are folded into one.
 */
#ifndef COUNTERS_H
#define COUNTERS_H

#include "input/source.h"
#include "libelog/util/map.h"

#define COUNTERS_HISTORY	30	/* marks that a row remembers */
#define COUNTERS_ROWS	65536	/* at most, by default */
#define COUNTERS_SIZES	18	/* of payloads: by powers of two, 65536 at most */

/** enum counters_by - the property that a row counts events by */
enum counters_by {
	COUNTERS_BY_EVENT,
	COUNTERS_BY_PROVIDER,
	COUNTERS_BY_SESSION,
	COUNTERS_BY_PID,
	COUNTERS_BY_CPU,
	COUNTERS_BYS,
};

/** enum counters_order - the order of rows; numbers are in descending order */
enum counters_order {
	COUNTERS_ORDER_EVENTS,
	COUNTERS_ORDER_BYTES,
	COUNTERS_ORDER_RATE,
	COUNTERS_ORDER_BYTE_RATE,
	COUNTERS_ORDER_LOST,
	COUNTERS_ORDER_NAME,
};

/**
 * struct counter_row - the counts of one event, provider, session, process or CPU
 * @provider: the provider, by event, provider and session; "?": unknown
 * @event: the event, by event, "#N": unknown; by pid: the process's name when it
 *	was first seen, which may contain any characters
 * @number: the session, the process, or the CPU
 * @serial: changes when the row is reused; see struct cached_event
 * @level: the most severe one
 * @events: number of events
 * @bytes: of payloads
 * @lost: number of lost events; see counters_knows_lost()
 * @rate: events a second between the last two marks
 * @byte_rate: likewise, bytes
 * @marked_events: @events at the last mark
 * @marked_bytes: @bytes then
 * @history: events between marks, the last one at counters_history_at()
 * @sizes: counts by size of payload: COUNTERS_SIZES counts, of 0 bytes, of 1, 2 to 3,
 *	4 to 7, ...; NULL: unknown
 * @seen: order in which rows had their last event
 * @last: time of that, CLOCK_MONOTONIC ns
 * @wall_offset: CLOCK_REALTIME - CLOCK_MONOTONIC then, ns
 */
struct counter_row {
	char provider[EVENTLOG_NAME_MAX];
	char event[EVENTLOG_NAME_MAX];
	uint64_t number;
	uint64_t serial;
	unsigned int level;
	uint64_t events;
	uint64_t bytes;
	uint64_t lost;
	double rate;
	double byte_rate;
	uint64_t marked_events;
	uint64_t marked_bytes;
	uint64_t seen;
	uint64_t last;
	int64_t wall_offset;
	uint32_t history[COUNTERS_HISTORY];
	uint64_t *sizes;
};

/**
 * struct counters - the counts; callers only read them
 * @by: the property that rows are by
 * @limit: maximum number of rows
 * @count: of @rows
 * @rows: in the order of the last counters_sort()
 * @others: the folded rows, if @folded
 * @folded: how many rows were folded; a row may be folded more than once
 * @total: of all rows; its lost is the sum of @lost
 * @lost: by cause
 * @first: time of the first event, CLOCK_REALTIME ns
 * @final: time of the last event, likewise
 * @marks: number of calls of counters_mark()
 */
struct counters {
	enum counters_by by;
	size_t limit;
	size_t count;
	struct counter_row **rows;
	struct counter_row others;
	uint64_t folded;
	struct counter_row total;
	uint64_t lost[EVENTLOG_LOST_CAUSES];
	int64_t first;
	int64_t final;
	unsigned int marks;

	/* Of counters.c. */
	struct elog_map map;		/* the rows */
	struct counter_row *recent;	/* of the event before; NULL */
	uint64_t serial;
	uint64_t marked;		/* when, CLOCK_MONOTONIC ns */
	uint64_t lost_read;		/* sum of @lost when events were asked for */
	struct counter_loss *losses;	/* what they said then, by descriptor */
	size_t loss_count;
	bool knows_lost;
};

/**
 * counters_open() - create empty counters
 * @counters: set to the new counters
 * @by: the property
 * @limit: rows at most, 8 or more
 * @now: CLOCK_MONOTONIC ns, the first mark
 *
 * Return: 0 or -ENOMEM.
 */
int counters_open(struct counters **counters, enum counters_by by, size_t limit, uint64_t now);

/** counters_close() - free counters and their rows; NULL is allowed */
void counters_close(struct counters *counters);

/** counters_clear() - restart from zero, perhaps by another property */
void counters_clear(struct counters *counters, enum counters_by by, uint64_t now);

/**
 * counters_add() - count an event
 * @counters: the counters
 * @entry: the event; its cached definition remembers the row
 * @row: set to where it was counted
 *
 * Return: 0 or -ENOMEM.
 */
int counters_add(struct counters *counters, const struct entry *entry,
		 struct counter_row **row);

/**
 * struct counter_totals - events that the kernel has counted
 * @events: number of events, not 0
 * @bytes: of payloads
 * @sizes: COUNTERS_SIZES counts
 */
struct counter_totals {
	uint64_t events;
	uint64_t bytes;
	const uint64_t *sizes;
};

/**
 * counters_restart() - reset all counts before counters_add_counts()
 * @counters: by event, provider or cpu
 *
 * Rows and marks stay.
 */
void counters_restart(struct counters *counters);

/**
 * counters_add_counts() - count many events at once
 * @counters: restarted
 * @entry: the last one of them; its @cached is NULL: the definition is unknown
 * @counts: all of them
 *
 * Return: 0 or -ENOMEM.
 */
int counters_add_counts(struct counters *counters, const struct entry *entry,
			const struct counter_totals *counts);

/**
 * counters_add_lost() - count a loss
 * @counters: the counters
 * @item: the loss
 * @causes: also count it by cause, unless counters_read_lost() does
 *
 * Return: 0 or -ENOMEM.
 */
int counters_add_lost(struct counters *counters, const struct elog_item *item, bool causes);

/**
 * counters_read_lost() - read the kernel's losses, by cause and by event
 * @counters: the counters
 * @consumer: the subscription of all events
 *
 * Reads all definitions if there are new losses.
 *
 * Return: 0 or a negative errno.
 */
int counters_read_lost(struct counters *counters, struct elog_consumer *consumer);

/** counters_knows_lost() - is the lost count of each row known? */
bool counters_knows_lost(const struct counters *counters);

/** counters_mark() - compute rates since the last mark, and set a mark */
void counters_mark(struct counters *counters, uint64_t now);

/** counters_rates() - compute rates over a span of ns */
void counters_rates(struct counters *counters, uint64_t span);

/** counters_history_at() - the index in history of the last mark */
unsigned int counters_history_at(const struct counters *counters);

/** counters_sort() - sort the rows, equal ones by name */
void counters_sort(struct counters *counters, enum counters_order order);

/**
 * counters_name() - the name of a row in text
 * @counters: the counters
 * @row: a row, others or total
 * @buffer: set to the name
 * @size: bytes of it; COUNTERS_NAME_MAX is enough
 *
 * Return: @buffer, without control characters.
 */
const char *counters_name(const struct counters *counters, const struct counter_row *row,
			  char *buffer, size_t size);

#define COUNTERS_NAME_MAX	(2 * EVENTLOG_NAME_MAX + 1)

/** counters_by_name() - "event", "provider", ... */
const char *counters_by_name(enum counters_by by);

/** counters_by_parse() - parse --by, NULL: by event; false: an error was printed */
bool counters_by_parse(const char *text, enum counters_by *by);

#endif /* COUNTERS_H */
