/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rule that makes pairs of events, for elog latency and for the spans of exports. A
 * START is pending, in a table of bounded size, until an END with the same key comes.
 *
 * Only what is certain to be a pair is counted as one. Where events were lost, or a
 * capture began that knows nothing of what was before, the pending STARTs are
 * forgotten: the next END may belong to a START that is missing.
 */
#ifndef PAIRING_H
#define PAIRING_H

#include "input/source.h"
#include "libelog/util/map.h"

#define PAIRING_GAPS_MAX	4096
#define PAIRING_CAPTURES	16	/* captures with several files that are known */
#define PAIRING_CAPTURE_SIZE	20	/* their names, with NUL */

/**
 * struct pair_counts - numbers of events
 * @starts: events that were START; for the caller
 * @ends: events that were END; for the caller
 * @unpaired_starts: STARTs without END, as far as known
 * @unpaired_ends: ENDs without START
 * @restarted: STARTs that replaced a pending one with the same key
 * @forgotten: STARTs that were pending when events were lost
 * @unkeyed: events that lack what is paired by; for the caller
 * @dropped: STARTs that were dropped because too many others were pending
 */
struct pair_counts {
	uint64_t starts;
	uint64_t ends;
	uint64_t unpaired_starts;
	uint64_t unpaired_ends;
	uint64_t restarted;
	uint64_t forgotten;
	uint64_t unkeyed;
	uint64_t dropped;
};

/**
 * struct pairing - the pending STARTs
 * @pending: values of the caller's size, whose first member is the time, a uint64_t
 * @pending_max: how many may be pending
 * @many_files: events come from several files
 * @counts: what was found
 * @drop: called for a START that never gets an END, before it is removed; may be NULL
 * @context: for @drop
 *
 * The rest belongs to pairing.c.
 */
struct pairing {
	struct elog_map pending;
	uint32_t pending_max;
	bool many_files;
	struct pair_counts counts;
	void (*drop)(void *context, void *start);
	void *context;

	int64_t gaps[PAIRING_GAPS_MAX];	/* CLOCK_REALTIME ns, the earliest last */
	size_t gap_count;
	char captures[PAIRING_CAPTURES][PAIRING_CAPTURE_SIZE];	/* a ring */
	size_t capture_count;
};

/**
 * pairing_init() - no STARTs are pending
 * @pairing: zeroed
 * @value_size: bytes that are kept of a START
 * @pending_max: how many may be pending
 * @many_files: events come from several files
 *
 * Allocates nothing and cannot fail.
 */
void pairing_init(struct pairing *pairing, size_t value_size, uint32_t pending_max,
		  bool many_files);

/** pairing_free() - free what it has; drops the pending STARTs */
void pairing_free(struct pairing *pairing);

/**
 * pairing_match() - find out what the events of a definition are
 * @globs: of START and END, PROVIDER/EVENT
 * @event: the definition; NULL: unknown
 * @is_start: set
 * @is_end: set; both: its events are START and END
 *
 * If both globs match an event that has an attribute, the attribute decides, unless a glob is
 * the name of the event.
 */
void pairing_match(char *const *globs, const struct elog_schema_event *event, bool *is_start,
		   bool *is_end);

/**
 * pairing_start() - take an event that is a START
 * @pairing: the pending STARTs
 * @key: its key
 * @time: CLOCK_MONOTONIC ns
 *
 * Return: the value of the START, whose time is set; of a new key all else is zero. NULL:
 * no memory.
 */
void *pairing_start(struct pairing *pairing, struct elog_map_key key, uint64_t time);

/**
 * pairing_end() - take an event that may be an END
 * @pairing: the pending STARTs
 * @key: its key
 * @time: CLOCK_MONOTONIC ns
 * @is_start: it is a START, too: then it may be the first
 *
 * Return: the START of the pair, which is not pending any longer and can be read until the
 * next call of pairing_start(); NULL: this is no END.
 */
void *pairing_end(struct pairing *pairing, struct elog_map_key key, uint64_t time,
		  bool is_start);

/**
 * pairing_pass_time() - forget the pending STARTs if a capture begins by then
 * @pairing: the pending STARTs
 * @wall: time of the next event, CLOCK_REALTIME ns
 */
void pairing_pass_time(struct pairing *pairing, int64_t wall);

/** pairing_begin_segment() - take ELOG_ITEM_PART of a file */
void pairing_begin_segment(struct pairing *pairing, const struct entry *entry);

/** pairing_finish() - no END comes any more: drop the pending STARTs as unpaired */
void pairing_finish(struct pairing *pairing);

/** pairing_forget() - forget the pending STARTs: events are missing */
void pairing_forget(struct pairing *pairing);

#endif /* PAIRING_H */
