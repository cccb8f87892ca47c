/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slices that have ended, until many more have: a thread says what its short waits are in all when
 * it leaves the session, which is mostly after the END. They are written in the order in which they
 * have ended.
 */
#ifndef PERFETTO_HELD_H
#define PERFETTO_HELD_H

#include "libelog/util/map.h"
#include "output/waits.h"

#define PERFETTO_HELD	256

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
	size_t first;
	size_t size;
	char fields[];
};

/** struct perfetto_held - the last slices: a ring; zero when there are none */
struct perfetto_held {
	struct perfetto_slice *slices[PERFETTO_HELD];
	uint64_t count;
};

/** perfetto_held_add() - add a slice, which is owned from now on; writes the oldest one */
void perfetto_held_add(struct perfetto *perfetto, struct perfetto_slice *slice);

/** perfetto_held_find() - the slice of a session that ended last, or NULL */
struct perfetto_slice *perfetto_held_find(const struct perfetto_held *held,
					  struct elog_map_key session);

/** perfetto_held_put() - write all */
void perfetto_held_put(struct perfetto *perfetto);

/** perfetto_held_close() - free all */
void perfetto_held_close(struct perfetto_held *held);

#endif /* PERFETTO_HELD_H */
