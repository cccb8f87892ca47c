/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The spans that ended last, for exports: who ended a wait may have ended its span, too, before the
 * thread ran that waited.
 */
#ifndef ENDED_H
#define ENDED_H

#include "libelog/util/map.h"

#define ENDED_MAX	256
#define ENDED_ID	24	/* bytes */

/**
 * struct ended - the last spans: a ring; zero when there are none
 * @spans: each has the key of its session, its time, and what the export calls it
 * @count: of all
 */
struct ended {
	struct ended_span {
		struct elog_map_key session;
		uint64_t from;
		uint64_t to;
		char id[ENDED_ID];
	} spans[ENDED_MAX];
	uint64_t count;
};

/** ended_add() - a span has ended; @size: bytes of @id, ENDED_ID at most */
void ended_add(struct ended *ended, struct elog_map_key session, uint64_t from, uint64_t to,
	       const void *id, size_t size);

/** ended_find() - the id of the last span that a session had at a time, or NULL */
const char *ended_find(const struct ended *ended, struct elog_map_key session, uint64_t time);

#endif /* ENDED_H */
