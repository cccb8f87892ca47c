// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decoding of records that have an eventheader: see decoded.h. A decoder belongs to one
 * input of a source; no locks.
 */
#include <errno.h>
#include <stdlib.h>

#include "input/decoded.h"
#include "input/names.h"
#include "libelog/util/map.h"

struct decoded {
	struct elog_eventheader *decoder;
	uint64_t generation;
	struct elog_map cache;		/* struct cached_event, by the address of the schema */
};

static void clear(struct decoded *decoded, struct selection *selection)
{
	struct cached_event *cached;

	elog_map_for_each(&decoded->cache, cached)
		selection_unbind(selection, cached);
	elog_map_free(&decoded->cache);
}

void decoded_free(struct decoded *decoded, struct selection *selection)
{
	if (!decoded)
		return;
	clear(decoded, selection);
	elog_eventheader_close(decoded->decoder);
	free(decoded);
}

static int open_decoder(struct decoded **result)
{
	struct decoded *decoded = calloc(1, sizeof(*decoded));
	int ret;

	if (!decoded)
		return -ENOMEM;
	elog_map_init(&decoded->cache, sizeof(struct cached_event));
	ret = elog_eventheader_open(&decoded->decoder);
	if (ret)
		free(decoded);
	else
		*result = decoded;
	return ret;
}

static int find_cached(struct decoded *decoded, struct selection *selection,
		       struct names *names, const struct elog_schema_event *recorded,
		       const struct elog_schema_event *event, struct cached_event **result)
{
	struct cached_event *cached;
	int ret;

	cached = elog_map_find_integer(&decoded->cache, (uintptr_t)event);
	if (!cached) {
		cached = elog_map_insert(&decoded->cache, elog_map_integer((uintptr_t)event));
		if (!cached)
			return -ENOMEM;
		names_see(names, event);
		ret = selection_bind(selection, recorded, event, cached);
		if (ret) {
			selection_unbind(selection, cached);
			elog_map_remove(&decoded->cache, cached);
			return ret;
		}
	}
	*result = cached;
	return 0;
}

int decoded_event(struct decoded **place, struct selection *selection, struct names *names,
		  struct entry *entry)
{
	const struct elog_schema_event *recorded = entry->cached->event;
	struct elog_eventheader_record record;
	struct decoded *decoded;
	int ret;

	ret = *place ? 0 : open_decoder(place);
	if (ret)
		return ret;
	decoded = *place;
	ret = elog_eventheader_decode(decoded->decoder, recorded, entry->item.payload,
				      entry->item.payload_size, &record);
	if (ret)
		return ret;
	if (record.generation != decoded->generation)
		clear(decoded, selection);
	decoded->generation = record.generation;
	ret = find_cached(decoded, selection, names, recorded, record.event, &entry->cached);
	if (ret)
		return ret;
	entry->item.payload = record.payload;
	entry->item.payload_size = record.payload_size;
	return 0;
}
