// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events of a live run, batch by batch: see source_state.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "input/source_state.h"

/*
 * struct live_source - the state
 * @source: what all sources have
 * @live: the run
 * @events: definitions of all its subscriptions
 * @batch: time of the live batch that @wall_offset is of
 * @wall_offset: if it is not known when the clock was set
 */
struct live_source {
	struct source source;
	struct live *live;
	struct known_events events;
	uint64_t batch;
	int64_t wall_offset;
};

static struct live_source *to_live(struct source *source)
{
	return (struct live_source *)source;
}

/* Without the times when the clock was set, a batch has one offset. */
static int64_t wall_offset_at(struct live_source *source, uint64_t time)
{
	if (source->live->steps)
		return clock_steps_offset(source->live->steps, time);
	if (!source->batch || elog_consumer_time(source->live->consumer) != source->batch) {
		source->batch = elog_consumer_time(source->live->consumer);
		source->wall_offset = wall_offset();
	}
	return source->wall_offset;
}

static int select_item(struct live_source *source, struct entry *entry)
{
	switch (entry->item.type) {
	case ELOG_ITEM_EVENT:
		return source_select_event(&source->source, &source->events,
					   live_generation(source->live), entry);
	case ELOG_ITEM_LOST:
		return source_select_loss(&source->source, entry);
	default:
		return 1;
	}
}

static int next_of_batch(struct source *source, struct entry *entry)
{
	struct live_source *live_source = to_live(source);
	struct live *live = live_source->live;
	int ret;

	entry->reader = NULL;
	entry->file = NULL;
	entry->host = NULL;
	entry->host_name = NULL;
	entry->machine_id = NULL;
	entry->boot_id = NULL;
	entry->processes = live->processes;
	do {
		ret = live_next(live, &entry->item);
		if (ret <= 0)
			return ret;
		entry->wall_offset = wall_offset_at(live_source, entry->item.time);
		ret = select_item(live_source, entry);
	} while (!ret);
	return ret;
}

static int wait_for_batch(struct source *source, int most, bool *over)
{
	struct live *live = to_live(source)->live;
	int ret;

	ret = live_wait(live, most, over);
	if (ret < 0)
		return ret;
	/* At the end FLUSH waits for records that are being emitted. */
	if (!ret && !*over)
		return 0;
	return live_flush(live) ? : 1;
}

/*
 * The kernel rejects an event whose fields have other types than -f requires, so it was
 * not seen. Find out whether there are such definitions.
 */
static bool try_definitions(struct source *source)
{
	struct eventlog_definition definition = { .size = sizeof(definition) };
	struct elog_consumer *consumer = to_live(source)->live->consumer;
	const struct elog_schema_event *event;
	struct eventlog_stat stat = { .size = sizeof(stat) };
	struct elog_list *list;
	const char *schema;

	if (!to_live(source)->live->filter ||
	    elog_consumer_stat(consumer, EVENTLOG_RINGS_ALL, 0, &stat) || !stat.incompatible ||
	    elog_list_open(elog_consumer_fd(consumer), EVENTLOG_LIST_DEFINITIONS, 0, &list))
		return false;
	while (!elog_list_next(list, &definition, &schema))
		if (!elog_consumer_describe(consumer, definition.descriptor, &event))
			selection_try(source->selection, event);
	elog_list_close(list);
	return false;
}

static void close_live(struct source *source)
{
	known_events_clear(&to_live(source)->events, source);
}

static int describe(void *live, uint32_t descriptor, const struct elog_schema_event **event)
{
	return elog_consumer_describe(live_current(live), descriptor, event);
}

static uint64_t generation_now(void *live)
{
	return live_generation(live);
}

static const struct source_ops live_ops = {
	.next = next_of_batch,
	.wait = wait_for_batch,
	.finish = try_definitions,
	.close = close_live,
};

int source_open_live(struct source **result, struct live *live)
{
	struct live_source *source = calloc(1, sizeof(*source));
	const bool decided = live->filter && live->filter->exact && !live->undecided;
	int ret;

	if (!source) {
		elog_error("out of memory");
		return -ENOMEM;
	}
	ret = source_init(&source->source, &live_ops, live->spec, true, decided);
	if (ret) {
		free(source);
		return ret;
	}
	source->source.read = true;
	source->live = live;
	source->events.describe = describe;
	source->events.generation_now = generation_now;
	source->events.context = live;
	elog_map_init(&source->events.cache, sizeof(struct cached_event));
	selection_start(source->source.selection, realtime_now());
	*result = &source->source;
	return 0;
}
