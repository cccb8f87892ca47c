/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts of events by provider, event, session, process or CPU: what elog stat
 * and elog top show. Counting formats nothing. There is a limit to how many are
 * told apart; those that were seen longest ago become one row beyond it.
 */
#ifndef TALLY_H
#define TALLY_H

#include "input/source.h"
#include "util/siphash.h"

#define TALLY_HISTORY	30	/* marks that a row remembers */
#define TALLY_ROWS	65536	/* at most, by default */
#define TALLY_SIZES	18	/* of payloads: by powers of two, 65536 at most */

/** enum tally_by - what events have in common that are counted together */
enum tally_by {
	TALLY_BY_EVENT,
	TALLY_BY_PROVIDER,
	TALLY_BY_SESSION,
	TALLY_BY_PID,
	TALLY_BY_CPU,
	TALLY_BYS,
};

/** enum tally_order - what rows are sorted by, the largest first but for names */
enum tally_order {
	TALLY_ORDER_EVENTS,
	TALLY_ORDER_BYTES,
	TALLY_ORDER_RATE,
	TALLY_ORDER_BYTE_RATE,
	TALLY_ORDER_LOST,
	TALLY_ORDER_NAME,
};

/**
 * struct tally_row - what was counted together
 * @provider: the provider, by event, provider and session; "?": unknown
 * @event: the event, by event, "#N": unknown; by pid: the process's name when it
 *	was first seen, which may hold anything
 * @number: the session, the process, or the CPU
 * @serial: another one once the row is of something else; see struct known
 * @level: the worst
 * @events: how many
 * @bytes: of payloads
 * @lost: how many were lost; see tally_knows_lost()
 * @rate: events a second between the last two marks
 * @byte_rate: likewise, bytes
 * @marked_events: @events at the last mark
 * @marked_bytes: @bytes then
 * @history: events between marks, the last one at tally_history_at()
 * @sizes: by size of their payloads: TALLY_SIZES counts, of 0 bytes, of 1, 2 to 3,
 *	4 to 7, ...; NULL: not known
 * @seen: order in which rows had their last event
 * @last: time of that, CLOCK_MONOTONIC ns
 * @wall_offset: CLOCK_REALTIME - CLOCK_MONOTONIC then, ns
 */
struct tally_row {
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
	uint32_t history[TALLY_HISTORY];
	uint64_t *sizes;
};

/**
 * struct tally - the counts; to be read by anybody, written by tally.c
 * @by: what they are by
 * @limit: how many rows there are at most
 * @count: of @rows
 * @rows: in the order of the last tally_sort()
 * @others: what became one row, if @folded
 * @folded: how often a row did; one may come again
 * @secret: what the table is hashed with
 * @total: of all rows; its lost is the sum of @lost
 * @lost: by cause
 * @first: when the first event was, CLOCK_REALTIME ns
 * @final: when the last event was, likewise
 * @marks: how often tally_mark() was called
 */
struct tally {
	enum tally_by by;
	size_t limit;
	size_t count;
	struct tally_row **rows;
	struct tally_row others;
	uint64_t folded;
	struct siphash secret;
	struct tally_row total;
	uint64_t lost[EVENTLOG_LOST_CAUSES];
	int64_t first;
	int64_t final;
	unsigned int marks;

	/* Of tally.c. */
	size_t capacity;		/* of @rows */
	struct tally_row **table;	/* by hash */
	size_t table_size;
	struct tally_row **spare;	/* rows that are of nothing */
	size_t spare_count;
	struct tally_row *recent;	/* of the event before; NULL */
	uint64_t serial;
	uint64_t marked;		/* when, CLOCK_MONOTONIC ns */
	uint64_t lost_asked;		/* sum of @lost when events were asked for */
	struct tally_loss *losses;	/* what they said then, by descriptor */
	size_t loss_count;
	bool knows_lost;
};

/**
 * tally_open() - nothing counted yet
 * @tally: set to the new tally
 * @by: what by
 * @limit: rows at most, 8 or more
 * @now: CLOCK_MONOTONIC ns, the first mark
 *
 * Return: 0 or -ENOMEM.
 */
int tally_open(struct tally **tally, enum tally_by by, size_t limit, uint64_t now);

/** tally_close() - free it; NULL is fine. What points to rows is invalid then */
void tally_close(struct tally *tally);

/** tally_clear() - count anew, by something else perhaps; see tally_open() */
void tally_clear(struct tally *tally, enum tally_by by, uint64_t now);

/**
 * tally_add() - count an event
 * @tally: the tally
 * @entry: the event; of its definition the row is remembered
 * @row: set to where it was counted
 *
 * Return: 0 or -ENOMEM.
 */
int tally_add(struct tally *tally, const struct entry *entry,
	      struct tally_row **row);

/**
 * struct tally_counts - events that somebody else has counted
 * @events: how many, not 0
 * @bytes: of payloads
 * @sizes: TALLY_SIZES counts
 */
struct tally_counts {
	uint64_t events;
	uint64_t bytes;
	const uint64_t *sizes;
};

/**
 * tally_restart() - all that was counted is going to be told anew, by tally_add_counts()
 * @tally: by event, provider or cpu
 *
 * Rows stay, and so does what rates are computed from.
 */
void tally_restart(struct tally *tally);

/**
 * tally_add_counts() - count many events at once
 * @tally: restarted
 * @entry: the last one of them; its known is NULL: of nobody knows what
 * @counts: all of them
 *
 * Return: 0 or -ENOMEM.
 */
int tally_add_counts(struct tally *tally, const struct entry *entry,
		     const struct tally_counts *counts);

/**
 * tally_add_lost() - count a loss
 * @tally: the tally
 * @item: the loss
 * @causes: count it by cause, which tally_ask_lost() does otherwise
 *
 * Return: 0 or -ENOMEM.
 */
int tally_add_lost(struct tally *tally, const struct elog_item *item, bool causes);

/**
 * tally_ask_lost() - ask the kernel what was lost, by cause and by event
 * @tally: the tally
 * @consumer: the subscription all its events are from
 *
 * Looks at every definition, if there is more than the last time.
 *
 * Return: 0 or a negative errno.
 */
int tally_ask_lost(struct tally *tally, struct elog_consumer *consumer);

/** tally_knows_lost() - is lost known for each row? */
bool tally_knows_lost(const struct tally *tally);

/** tally_mark() - fill in rates since the last mark, and begin anew */
void tally_mark(struct tally *tally, uint64_t now);

/** tally_rates() - fill in rates of everything in so many ns */
void tally_rates(struct tally *tally, uint64_t span);

/** tally_history_at() - the index in history of the last mark */
unsigned int tally_history_at(const struct tally *tally);

/** tally_sort() - sort the rows; equal ones by name */
void tally_sort(struct tally *tally, enum tally_order order);

/**
 * tally_name() - what to call a row in text
 * @tally: the tally
 * @row: its row, its others or its total
 * @buffer: where
 * @size: bytes of it; TALLY_NAME_MAX is enough
 *
 * Return: @buffer, without control characters.
 */
const char *tally_name(const struct tally *tally, const struct tally_row *row,
		       char *buffer, size_t size);

#define TALLY_NAME_MAX	(2 * EVENTLOG_NAME_MAX + 1)

/** tally_by_name() - "event", "provider", ... */
const char *tally_by_name(enum tally_by by);

/** tally_by_parse() - take the argument of --by, NULL: by event; false: it is told */
bool tally_by_parse(const char *text, enum tally_by *by);

#endif /* TALLY_H */
