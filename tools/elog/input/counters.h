/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts of events by provider, event, session, process, CPU, instance or host, for elog stat
 * and elog top. The number of rows is limited: beyond the limit, the rows that were seen longest
 * ago are folded into one.
 */
#ifndef COUNTERS_H
#define COUNTERS_H

#include "input/source.h"
#include "libelog/util/map.h"

#define COUNTERS_HISTORY	30	/* intervals that a row remembers */
#define COUNTERS_ROWS	65536	/* at most, by default */
#define COUNTERS_SIZES	18	/* of payloads: by powers of two, 65536 at most */

/** enum counters_by - what the events of a row have in common */
enum counters_by {
	COUNTERS_BY_EVENT,
	COUNTERS_BY_PROVIDER,
	COUNTERS_BY_SESSION,
	COUNTERS_BY_PID,
	COUNTERS_BY_CPU,
	COUNTERS_BY_INSTANCE,
	COUNTERS_BY_HOST,
	COUNTERS_BYS,
};

/** enum counters_order - what rows are sorted by: numbers descending, names ascending */
enum counters_order {
	COUNTERS_ORDER_EVENTS,
	COUNTERS_ORDER_BYTES,
	COUNTERS_ORDER_RATE,
	COUNTERS_ORDER_BYTE_RATE,
	COUNTERS_ORDER_LOST,
	COUNTERS_ORDER_NAME,
};

/**
 * struct counter_row - events that are counted together
 * @provider: the provider, by event, provider and session; "?": unknown. By instance, its
 *	name; "-": the root
 * @event: by event, the event, or "#N" if unknown; by pid, the process's name, whose bytes
 *	are visible characters; "": not known
 * @host: by host, or with @hosts of the counters; "-": not known; otherwise NULL
 * @number: the session, the process, or the CPU
 * @serial: changes when the row is used for something else; see struct cached_event
 * @level: the most severe level
 * @events: number of events
 * @bytes: bytes of payloads
 * @lost: number of lost events; see counters_knows_lost()
 * @invalid: number of invalid records, which are no lost events; known if @lost is
 * @rate: events per second between the last two marks
 * @byte_rate: bytes per second between the last two marks
 * @marked_events: @events at the last mark
 * @marked_bytes: @bytes at the last mark
 * @history: events between marks, the last one at counters_history_at()
 * @sizes: COUNTERS_SIZES numbers of events, by bytes of payload: 0, 1, 2 to 3, 4 to 7,
 *	...; NULL: unknown
 * @seen: the order in which rows had their last events
 * @last: time of the last event, CLOCK_MONOTONIC ns
 * @wall_offset: CLOCK_REALTIME - CLOCK_MONOTONIC at @last, ns
 */
struct counter_row {
	char provider[EVENTLOG_NAME_MAX];
	char event[EVENTLOG_NAME_MAX];
	const char *host;
	uint64_t number;
	uint64_t serial;
	unsigned int level;
	uint64_t events;
	uint64_t bytes;
	uint64_t lost;
	uint64_t invalid;
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
 * struct counters - counts of events; anyone may read them, counters.c writes them
 * @by: what the events of a row have in common
 * @hosts: they are also of the same host; the owner sets this before the first event
 * @host_count: number of hosts that were seen, by host or with @hosts
 * @limit: maximum number of rows
 * @count: number of @rows
 * @rows: the rows, in the order of the last counters_sort()
 * @others: the folded rows, if @folded
 * @folded: how often a row was folded; the same row may be counted again
 * @total: all rows together; its lost and invalid are the sums of @lost
 * @lost: lost events by cause
 * @rejected: live: events that the filter in the kernel has rejected
 * @first: time of the first event, CLOCK_REALTIME ns
 * @final: time of the last event, CLOCK_REALTIME ns
 * @marks: number of calls of counters_mark()
 */
struct counters {
	enum counters_by by;
	bool hosts;
	size_t host_count;
	size_t limit;
	size_t count;
	struct counter_row **rows;
	struct counter_row others;
	uint64_t folded;
	struct counter_row total;
	uint64_t lost[ELOG_LOST_CAUSES_MAX];
	uint64_t rejected;
	int64_t first;
	int64_t final;
	unsigned int marks;

	/* Used by counters.c only. */
	struct elog_map map;		/* the rows */
	struct counter_row *recent;	/* the row of the previous event, or NULL */
	uint64_t serial;
	uint64_t marked;		/* time of the last mark, CLOCK_MONOTONIC ns */
	uint64_t lost_read;		/* sum of @lost when @losses was updated */
	struct elog_map losses;		/* of events, by descriptor */
	struct elog_map host_names;	/* char *: rows and @host point to them */
	const char *host;		/* of the last event or loss; NULL: it does not matter */
	struct elog_text name;		/* of the process of the last event */
	bool knows_lost;
};

/**
 * counters_open() - make empty counters
 * @counters: set to the new counters
 * @by: what the events of a row have in common
 * @limit: maximum number of rows, 8 or more
 * @now: time of the first mark, CLOCK_MONOTONIC ns
 *
 * Return: 0 or -ENOMEM.
 */
int counters_open(struct counters **counters, enum counters_by by, size_t limit, uint64_t now);

/** counters_close() - free the counters and their rows; NULL is fine */
void counters_close(struct counters *counters);

/** counters_clear() - remove all rows; the parameters are those of counters_open() */
void counters_clear(struct counters *counters, enum counters_by by, uint64_t now);

/**
 * counters_add() - count an event
 * @counters: the counters
 * @entry: the event; its cached definition remembers the row
 * @row: set to the row that counts it
 *
 * Return: 0 or -ENOMEM.
 */
int counters_add(struct counters *counters, const struct entry *entry,
		 struct counter_row **row);

/**
 * struct counter_totals - events that were counted elsewhere
 * @events: number of events, not 0
 * @bytes: bytes of their payloads
 * @sizes: COUNTERS_SIZES numbers of events, as in struct counter_row
 */
struct counter_totals {
	uint64_t events;
	uint64_t bytes;
	const uint64_t *sizes;
};

/**
 * counters_restart() - set all counts to 0, before calls of counters_add_counts()
 * @counters: by event, provider or cpu
 *
 * Rows stay, and so do the marks that rates are computed from.
 */
void counters_restart(struct counters *counters);

/**
 * counters_add_counts() - count many events at once
 * @counters: restarted
 * @entry: the last of them; with a NULL @cached, their definitions are unknown
 * @counts: the counts
 *
 * Return: 0 or -ENOMEM.
 */
int counters_add_counts(struct counters *counters, const struct entry *entry,
			const struct counter_totals *counts);

/**
 * counters_add_lost() - count a loss
 * @counters: the counters
 * @entry: the loss
 * @causes: count it by cause, too; false if counters_read_lost() does
 *
 * Return: 0 or -ENOMEM.
 */
int counters_add_lost(struct counters *counters, const struct entry *entry, bool causes);

/**
 * counters_read_lost() - ask the kernel what was lost or invalid, by cause and by event
 * @counters: the counters
 * @live: the run that all events come from
 *
 * Asks for every definition if more was lost than the last time.
 *
 * Return: 0 or a negative errno.
 */
int counters_read_lost(struct counters *counters, const struct live *live);

/** counters_add_instance() - by instance: have a row for one without events; 0 or -ENOMEM */
int counters_add_instance(struct counters *counters, const char *name);

/** counters_knows_lost() - is the number of lost events of each row known? */
bool counters_knows_lost(const struct counters *counters);

/** counters_mark() - compute rates since the last mark, and set a mark */
void counters_mark(struct counters *counters, uint64_t now);

/** counters_rates() - compute rates over the whole time, @span ns */
void counters_rates(struct counters *counters, uint64_t span);

/** counters_history_at() - the index of the last mark in the history of rows */
unsigned int counters_history_at(const struct counters *counters);

/** counters_sort() - sort the rows; rows with equal numbers by name */
void counters_sort(struct counters *counters, enum counters_order order);

/**
 * counters_name() - the name of a row, as text
 * @counters: the counters
 * @row: one of their rows, their others or their total
 * @buffer: takes the name
 * @size: size of @buffer; COUNTERS_NAME_MAX is enough
 *
 * Return: @buffer, without control characters.
 */
const char *counters_name(const struct counters *counters, const struct counter_row *row,
			  char *buffer, size_t size);

/** counters_host() - the host of a row, as text; likewise */
const char *counters_host(const struct counter_row *row, char *buffer, size_t size);

#define COUNTERS_NAME_MAX	(2 * EVENTLOG_NAME_MAX + 1)

/** counters_by_name() - "event", "provider", ... */
const char *counters_by_name(enum counters_by by);

/** counters_by_parse() - parse --by, NULL: by event; false after an error message */
bool counters_by_parse(const char *text, enum counters_by *by);

/**
 * counters_order_parse() - parse --sort
 * @text: its argument; NULL: the default
 * @rates: "bytes" means their rate, and the default is the rate of events
 * @order: set to the order
 *
 * Return: false after an error message.
 */
bool counters_order_parse(const char *text, bool rates, enum counters_order *order);

#endif /* COUNTERS_H */
