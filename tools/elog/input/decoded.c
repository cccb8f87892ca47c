// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decoding of records that have an eventheader: see decoded.h. A decoder belongs to one
 * input of a source; no locks.
 */
#include <errno.h>
#include <stdlib.h>

#include "input/decoded.h"
#include "input/names.h"

struct decoded {
	struct elog_eventheader *decoder;
	uint64_t generation;
	struct elog_map cache;		/* struct cached_event, by the address of the schema */
};

void decoded_free(struct decoded *decoded, struct selection *selection)
{
	if (!decoded)
		return;
	selection_clear(selection, &decoded->cache);
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
	*result = elog_map_find_integer(&decoded->cache, (uintptr_t)event);
	if (*result)
		return 0;
	names_see(names, event);
	return selection_cache(selection, &decoded->cache, (uintptr_t)event, recorded, event,
			       result);
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
		selection_clear(selection, &decoded->cache);
	decoded->generation = record.generation;
	ret = find_cached(decoded, selection, names, recorded, record.event, &entry->cached);
	if (ret)
		return ret;
	entry->item.payload = record.payload;
	entry->item.payload_size = record.payload_size;
	return 0;
}
