/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slices that have ended, until many more have: a thread says what its short waits are in all when
 * it leaves the session, which is mostly after the END. They are written in the order in which they
 * have ended, but Perfetto takes what comes first for the outer one of two that begin at the same
 * time: a slice that begins with its outer one, or right after one that does, waits for that.
 */
#ifndef PERFETTO_HELD_H
#define PERFETTO_HELD_H

#include "libelog/util/map.h"
#include "output/waits.h"

#define PERFETTO_HELD	256
#define PERFETTO_DEPTH	32	/* of slices that wait for their outer ones */

struct perfetto;
struct perfetto_names;

/**
 * struct perfetto_slice - a slice that has ended
 * @names: of its START
 * @session: of its START
 * @track: where it is
 * @start: in the trace
 * @end: likewise
 * @waits: of its threads; NULL: none
 * @refused: some waits were left out, so that it has no times
 * @depth: levels of slices in @inner
 * @recent: its place in struct perfetto_held
 * @inner: those that waited for it, the first one
 * @next: in the list of its outer one
 * @first: bytes of annotations of START in @fields
 * @size: bytes of @fields
 * @fields: annotations of START, then those of END
 */
struct perfetto_slice {
	const struct perfetto_names *names;
	struct elog_map_key session;
	uint64_t track;
	uint64_t start;
	uint64_t end;
	struct waits *waits;
	bool refused;
	unsigned int depth;
	uint64_t recent;
	struct perfetto_slice *inner;
	struct perfetto_slice *next;
	size_t first;
	size_t size;
	char fields[];
};

/**
 * struct perfetto_kept - the slices that wait for an open span
 * @until: one that begins here at the latest waits: initially the start of the span
 * @depth: the greatest depth of a slice, plus one; 0: there is none
 * @first: they, in the order in which they ended
 * @last: the last one
 */
struct perfetto_kept {
	uint64_t until;
	unsigned int depth;
	struct perfetto_slice *first;
	struct perfetto_slice *last;
};

/**
 * struct perfetto_held - the last slices; zero when there are none
 * @slices: a ring in the order in which they will be written, and
 * @count: how many came into it
 * @recent: a ring in the order in which they ended, and
 * @ended: how many did
 * @kept: bytes of those that wait for others
 */
struct perfetto_held {
	struct perfetto_slice *slices[PERFETTO_HELD];
	uint64_t count;
	struct perfetto_slice *recent[PERFETTO_HELD];
	uint64_t ended;
	size_t kept;
};

/**
 * perfetto_held_add() - add a slice that has ended; may write the oldest one
 * @perfetto: the state
 * @slice: is owned from now on
 * @outer: what waits for the span that it is inside of; NULL: there is no such span
 */
void perfetto_held_add(struct perfetto *perfetto, struct perfetto_slice *slice,
		       struct perfetto_kept *outer);

/** perfetto_held_release() - the span is no slice: nothing waits for it any more */
void perfetto_held_release(struct perfetto *perfetto, struct perfetto_kept *kept);

/** perfetto_held_find() - the slice of a session that ended last, or NULL */
struct perfetto_slice *perfetto_held_find(const struct perfetto_held *held,
					  struct elog_map_key session);

/** perfetto_held_put() - write all */
void perfetto_held_put(struct perfetto *perfetto);

/** perfetto_held_close() - free all */
void perfetto_held_close(struct perfetto_held *held);

#endif /* PERFETTO_HELD_H */
