// SPDX-License-Identifier: GPL-2.0-only
/*
 * The spans that ended last: see ended.h.
 */
#include <string.h>

#include "export/ended.h"

void ended_add(struct ended *ended, struct elog_map_key session, uint64_t from, uint64_t to,
	       const void *id, size_t size)
{
	struct ended_span *span = &ended->spans[ended->count++ % ENDED_MAX];

	span->session = session;
	span->from = from;
	span->to = to;
	memcpy(span->id, id, size);
}

const char *ended_find(const struct ended *ended, struct elog_map_key session, uint64_t time)
{
	const struct ended_span *span;
	uint64_t i;

	for (i = 1; i <= ended->count && i <= ENDED_MAX; i++) {
		span = &ended->spans[(ended->count - i) % ENDED_MAX];
		if (!memcmp(&span->session, &session, sizeof(session)) && span->from <= time &&
		    time <= span->to)
			return span->id;
	}
	return NULL;
}
