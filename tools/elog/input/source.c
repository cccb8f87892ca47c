// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events of a verb: see source.h. This is what all kinds of sources share.
 *
 * A file or a subscription has descriptors of its own, and so a cache of definitions of
 * its own, which is cleared when descriptors change meaning.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "input/decoded.h"
#include "input/source_state.h"

#define SPARE_FILES	32	/* open files besides those of a source */

/* Hostile files may have as many descriptors as events, so the cache is bounded. */
#define EVENT_CACHE_MAX	131072

int source_init(struct source *source, const struct source_ops *ops,
		const struct selection_spec *spec, bool live, bool decided)
{
	source->ops = ops;
	source->spec = spec;
	return selection_open(&source->selection, spec, live, decided);
}

void source_allow_files(unsigned int count)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) ||
	    limit.rlim_cur == RLIM_INFINITY ||
	    limit.rlim_cur > (rlim_t)count + SPARE_FILES)
		return;
	limit.rlim_cur = (rlim_t)count + SPARE_FILES;
	if (limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

void source_close(struct source *source)
{
	if (!source)
		return;
	source->ops->close(source);
	selection_close(source->selection);
	names_close(source->names);
	free(source);
}

/* ------------------------------------------------------------------------
 * Definitions
 */

void known_events_clear(struct known_events *events, struct source *source)
{
	decoded_free(events->decoded, source->selection);
	events->decoded = NULL;
	selection_clear(source->selection, &events->cache);
}

static int describe(struct known_events *events, uint32_t descriptor,
		    const struct elog_schema_event **event)
{
	int ret = events->describe(events->context, descriptor, event);

	if (ret == -ENOMEM)
		return ret;
	if (ret)
		*event = NULL;
	return 0;
}

static int find_event(struct source *source, struct known_events *events, uint64_t now,
		      uint32_t descriptor, struct cached_event **result)
{
	const struct elog_schema_event *event;
	int ret;

	if (now != events->generation || events->cache.count >= EVENT_CACHE_MAX) {
		selection_clear(source->selection, &events->cache);
		events->generation = now;
	}
	*result = elog_map_find_integer(&events->cache, descriptor);
	if (*result)
		return 0;
	/* This may invalidate all cached definitions. */
	ret = describe(events, descriptor, &event);
	if (ret)
		return ret;
	now = events->generation_now(events->context);
	if (now != events->generation) {
		selection_clear(source->selection, &events->cache);
		events->generation = now;
	}
	/* Not cached: the definition may appear later. */
	if (!event) {
		memset(&events->unknown, 0, sizeof(events->unknown));
		*result = &events->unknown;
		return selection_bind(source->selection, NULL, NULL, &events->unknown);
	}
	names_see(source->names, event);
	return selection_cache(source->selection, &events->cache, descriptor, event, event,
			       result);
}

/* ------------------------------------------------------------------------
 * Items
 */

int source_select_event(struct source *source, struct known_events *events, uint64_t now,
			struct entry *entry)
{
	int ret;

	ret = find_event(source, events, now, entry->item.descriptor, &entry->cached);
	if (ret)
		return ret;
	entry->recorded = entry->item.payload;
	entry->recorded_size = entry->item.payload_size;
	if (entry->cached->is_eventheader)
		ret = decoded_event(&events->decoded, source->selection, source->names, entry);
	if (ret)
		return ret;
	return selection_match(source->selection, entry->cached, &entry->item,
			       entry->wall_offset, entry->processes);
}

/* An unknown CPU may be one of -C. */
bool source_select_loss(const struct source *source, const struct entry *entry)
{
	return selection_in_time(source->selection, &entry->item, entry->wall_offset) &&
	       (entry->item.cpu == EVENTLOG_CPU_UNKNOWN ||
		number_matches(&source->spec->cpus, entry->item.cpu));
}

int source_next(struct source *source, struct entry *entry)
{
	entry->cached = NULL;
	entry->unfinished = false;
	entry->recorded = NULL;
	entry->gap = NULL;
	return source->ops->next(source, entry);
}

int source_wait(struct source *source, int most, bool *over)
{
	return source->ops->wait(source, most, over);
}

bool source_failed(const struct source *source)
{
	return source->failed;
}

bool source_is_unreadable(const struct source *source)
{
	return source->failed && !source->read;
}

bool source_follows(const struct source *source)
{
	return source->following;
}

bool source_finish(struct source *source)
{
	bool failed = source->ops->finish(source);

	return selection_finish(source->selection) || failed;
}
