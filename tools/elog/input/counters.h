/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts of events by provider, event, session, process or CPU: what elog stat
 * and elog top show. Counting formats nothing. There is a limit to how many are
 * told apart; those that were seen longest ago become one row beyond it.
 */
#ifndef COUNTERS_H
#define COUNTERS_H

#include "input/source.h"
#include "libelog/util/map.h"

#define COUNTERS_HISTORY	30	/* marks that a row remembers */
#define COUNTERS_ROWS	65536	/* at most, by default */
#define COUNTERS_SIZES	18	/* of payloads: by powers of two, 65536 at most */

/** enum counters_by - what events have in common that are counted together */
enum counters_by {
	COUNTERS_BY_EVENT,
	COUNTERS_BY_PROVIDER,
	COUNTERS_BY_SESSION,
	COUNTERS_BY_PID,
	COUNTERS_BY_CPU,
	COUNTERS_BYS,
};

/** enum counters_order - what rows are sorted by, the largest first but for names */
enum counters_order {
	COUNTERS_ORDER_EVENTS,
	COUNTERS_ORDER_BYTES,
	COUNTERS_ORDER_RATE,
	COUNTERS_ORDER_BYTE_RATE,
	COUNTERS_ORDER_LOST,
	COUNTERS_ORDER_NAME,
};

/**
 * struct counter_row - what was counted together
 * @provider: the provider, by event, provider and session; "?": unknown
 * @event: the event, by event, "#N": unknown; by pid: the process's name when it
 *	was first seen, which may hold anything
 * @number: the session, the process, or the CPU
 * @serial: another one once the row is of something else; see struct cached_event
 * @level: the worst
 * @events: how many
 * @bytes: of payloads
 * @lost: how many were lost; see counters_knows_lost()
 * @rate: events a second between the last two marks
 * @byte_rate: likewise, bytes
 * @marked_events: @events at the last mark
 * @marked_bytes: @bytes then
 * @history: events between marks, the last one at counters_history_at()
 * @sizes: by size of their payloads: COUNTERS_SIZES counts, of 0 bytes, of 1, 2 to 3,
 *	4 to 7, ...; NULL: not known
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
 * struct counters - the counts; to be read by anybody, written by counters.c
 * @by: what they are by
 * @limit: how many rows there are at most
 * @count: of @rows
 * @rows: in the order of the last counters_sort()
 * @others: what became one row, if @folded
 * @folded: how often a row did; one may come again
 * @total: of all rows; its lost is the sum of @lost
 * @lost: by cause
 * @first: when the first event was, CLOCK_REALTIME ns
 * @final: when the last event was, likewise
 * @marks: how often counters_mark() was called
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
	uint64_t lost_asked;		/* sum of @lost when events were asked for */
	struct counter_loss *losses;	/* what they said then, by descriptor */
	size_t loss_count;
	bool knows_lost;
};

/**
 * counters_open() - nothing counted yet
 * @counters: set to the new counters
 * @by: what by
 * @limit: rows at most, 8 or more
 * @now: CLOCK_MONOTONIC ns, the first mark
 *
 * Return: 0 or -ENOMEM.
 */
int counters_open(struct counters **counters, enum counters_by by, size_t limit, uint64_t now);

/** counters_close() - free it; NULL is fine. What points to rows is invalid then */
void counters_close(struct counters *counters);

/** counters_clear() - count anew, by something else perhaps; see counters_open() */
void counters_clear(struct counters *counters, enum counters_by by, uint64_t now);

/**
 * counters_add() - count an event
 * @counters: the counters
 * @entry: the event; of its definition the row is remembered
 * @row: set to where it was counted
 *
 * Return: 0 or -ENOMEM.
 */
int counters_add(struct counters *counters, const struct entry *entry,
		 struct counter_row **row);

/**
 * struct counter_totals - events that somebody else has counted
 * @events: how many, not 0
 * @bytes: of payloads
 * @sizes: COUNTERS_SIZES counts
 */
struct counter_totals {
	uint64_t events;
	uint64_t bytes;
	const uint64_t *sizes;
};

/**
 * counters_restart() - all that was counted is going to be told anew, by counters_add_counts()
 * @counters: by event, provider or cpu
 *
 * Rows stay, and so does what rates are computed from.
 */
void counters_restart(struct counters *counters);

/**
 * counters_add_counts() - count many events at once
 * @counters: restarted
 * @entry: the last one of them; its @cached is NULL: of nobody knows what
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
 * @causes: count it by cause, which counters_ask_lost() does otherwise
 *
 * Return: 0 or -ENOMEM.
 */
int counters_add_lost(struct counters *counters, const struct elog_item *item, bool causes);

/**
 * counters_ask_lost() - ask the kernel what was lost, by cause and by event
 * @counters: the counters
 * @consumer: the subscription all its events are from
 *
 * Looks at every definition, if there is more than the last time.
 *
 * Return: 0 or a negative errno.
 */
int counters_ask_lost(struct counters *counters, struct elog_consumer *consumer);

/** counters_knows_lost() - is lost known for each row? */
bool counters_knows_lost(const struct counters *counters);

/** counters_mark() - fill in rates since the last mark, and begin anew */
void counters_mark(struct counters *counters, uint64_t now);

/** counters_rates() - fill in rates of everything in so many ns */
void counters_rates(struct counters *counters, uint64_t span);

/** counters_history_at() - the index in history of the last mark */
unsigned int counters_history_at(const struct counters *counters);

/** counters_sort() - sort the rows; equal ones by name */
void counters_sort(struct counters *counters, enum counters_order order);

/**
 * counters_name() - what to call a row in text
 * @counters: the counters
 * @row: its row, its others or its total
 * @buffer: where
 * @size: bytes of it; COUNTERS_NAME_MAX is enough
 *
 * Return: @buffer, without control characters.
 */
const char *counters_name(const struct counters *counters, const struct counter_row *row,
			  char *buffer, size_t size);

#define COUNTERS_NAME_MAX	(2 * EVENTLOG_NAME_MAX + 1)

/** counters_by_name() - "event", "provider", ... */
const char *counters_by_name(enum counters_by by);

/** counters_by_parse() - take the argument of --by, NULL: by event; false: it is told */
bool counters_by_parse(const char *text, enum counters_by *by);

#endif /* COUNTERS_H */
