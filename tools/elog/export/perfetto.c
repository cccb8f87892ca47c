// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog export --format perfetto: a trace for ui.perfetto.dev and for Perfetto's trace
 * processor. A span is a slice; the slices of a provider share lanes (lanes.h), and a span that is
 * inside another one (nesting.h) is on its lane, as are the intervals in which its threads did not
 * run (perfetto_waits.c). All other events are instants on the track of their thread, and losses
 * are instants on tracks of their own.
 *
 * A slice is written when it has ended, so that it is certain, and a while later
 * (perfetto_held.h): Perfetto sorts by time. Until then its START's fields and the times of its
 * waits are kept, in PENDING_BYTES at most for each of both; beyond that, the START is written as
 * an instant, or the span lacks the times.
 *
 * Times are those of the first boot's CLOCK_MONOTONIC, or of CLOCK_REALTIME if there are
 * several files.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/perfetto_state.h"

static int take_segment(void *context, const struct entry *entry)
{
	struct export *export = context;
	struct perfetto *perfetto = export->state;

	return perfetto_find_boot(perfetto, entry) ? : sink_commit(&export->sink);
}

/* Open a span: on the lane of the span that it is inside of, or on one of its own. */
static int open_span(struct perfetto *perfetto, const struct visit_event *event,
		     struct perfetto_start *start)
{
	const struct elog_item *item = &event->entry->item;
	const struct perfetto_start *parent;
	struct nest *outer;
	int ret;

	start->nest = (struct nest){
		.key = { event->match.key, elog_map_pair(perfetto->boot->id, thread_key(item)) },
		.has_key = { true, item->tid }, .kind = start->names,
	};
	ret = nesting_start(&perfetto->nesting, &start->nest);
	if (ret)
		return ret;
	outer = nesting_parent(&start->nest);
	parent = outer ? perfetto_start_of(outer) : NULL;
	start->group = parent ? parent->group : start->names->group;
	start->session = parent ? parent->session : event->match.key;
	ret = lanes_start(&start->group->lanes, start->session, perfetto->now);
	if (ret)
		nesting_end(&perfetto->nesting, &start->nest);
	return ret;
}

static int begin_slice(struct perfetto *perfetto, const struct visit_event *event)
{
	const struct perfetto_names *names = event->kind->data;
	uint64_t track = perfetto_thread_track(perfetto, event->entry);
	struct perfetto_start *start;
	bool full;
	int ret;

	if (!track)
		return -ENOMEM;
	perfetto_make_fields(perfetto, event, true);
	full = perfetto->pending + perfetto->fields.size > PENDING_BYTES;
	start = malloc(sizeof(*start) + (full ? 0 : perfetto->fields.size));
	if (!start)
		return -ENOMEM;
	start->names = names;
	start->waits = NULL;
	start->refused = false;
	ret = open_span(perfetto, event, start);
	if (ret) {
		free(start);
		return ret;
	}
	start->time = perfetto->now;
	start->kept = (struct perfetto_kept){ .until = start->time };
	start->track = track;
	start->tid = event->entry->item.tid;
	event->match.start->data = start;
	start->size = full ? SIZE_MAX : perfetto->fields.size;
	if (full)
		return perfetto_put_instant(perfetto, event);
	perfetto->pending += start->size;
	if (start->size)
		memcpy(start->fields, perfetto->fields.data, start->size);
	return 0;
}

static void free_start(struct perfetto *perfetto, struct perfetto_start *start)
{
	nesting_end(&perfetto->nesting, &start->nest);
	perfetto_held_release(perfetto, &start->kept);
	if (start->size != SIZE_MAX)
		perfetto->pending -= start->size;
	perfetto->pending_waits -= start->waits ? sizeof(*start->waits) : 0;
	free(start->waits);
	free(start);
}

/* Hold the slice of a span that has ended. */
static int end_slice(struct perfetto *perfetto, const struct visit_event *event)
{
	const struct span *span = &event->match.span;
	struct perfetto_start *start = span->data;
	const size_t first = start->size == SIZE_MAX ? 0 : start->size;
	const uint64_t end = start->time + span->duration;
	struct elog_text *fields = &perfetto->fields;
	struct nest *outer = nesting_parent(&start->nest);
	struct perfetto_slice *slice;
	uint64_t track;

	track = perfetto_lane_track(perfetto, start->group,
				    lanes_end(&start->group->lanes, start->session, start->time,
					      end));
	ended_add(&perfetto->waits.ended, start->nest.key[NEST_SESSION], start->time, end, &track,
		  sizeof(track));
	perfetto_make_fields(perfetto, event, false);
	slice = malloc(sizeof(*slice) + first + fields->size);
	if (slice) {
		*slice = (struct perfetto_slice){
			.names = start->names, .session = start->nest.key[NEST_SESSION],
			.track = track, .start = start->time, .end = end, .waits = start->waits,
			.refused = start->refused || start->nest.unseen,
			.depth = start->kept.depth, .inner = start->kept.first, .first = first,
			.size = first + fields->size,
		};
		elog_copy(elog_copy(slice->fields, start->fields, first), fields->data,
			  fields->size);
		perfetto->pending_waits -= start->waits ? sizeof(*start->waits) : 0;
		start->waits = NULL;
		if (slice->waits)
			waits_see(slice->waits, event->entry->item.tid, end);
		start->kept.first = NULL;
		perfetto_held_add(perfetto, slice, outer ? &perfetto_start_of(outer)->kept : NULL);
	}
	free_start(perfetto, start);
	return slice ? 0 : -ENOMEM;
}

/* What neither starts nor ends a span. */
static int put_other(struct export *export, struct visit_event *event)
{
	struct perfetto *perfetto = export->state;
	struct interval interval;
	struct interval_sum sum;
	int ret;

	if (interval_read(event->entry, &interval))
		return perfetto_put_wait(export, event, &interval);
	ret = perfetto_put_instant(perfetto, event);
	if (!ret && interval_read_sum(event->entry, &sum))
		ret = perfetto_add_sum(export, event->entry, &sum);
	return ret;
}

static int take_event(void *context, struct visit_event *event)
{
	struct export *export = context;
	struct perfetto *perfetto = export->state;
	int ret;

	ret = perfetto_set_time(perfetto, event->entry);
	if (ret)
		return ret;
	if (!event->kind->data)
		event->kind->data = perfetto_new_names(perfetto, event);
	if (!event->kind->data)
		return -ENOMEM;
	if (event->match.ended)
		ret = end_slice(perfetto, event);
	if (!ret && event->match.start)
		ret = begin_slice(perfetto, event);
	else if (!ret && !event->match.ended)
		ret = put_other(export, event);
	if (!ret)
		ret = perfetto->value.error ? : perfetto->fields.error;
	return ret ? : sink_commit(&export->sink);
}

/* A START without END is an instant. */
static void drop_start(void *context, struct span *span)
{
	struct export *export = context;
	struct perfetto *perfetto = export->state;
	struct perfetto_start *start = span->data;

	if (!start)
		return;
	lanes_drop(&start->group->lanes, start->session, start->time, perfetto->now);
	if (start->size != SIZE_MAX)
		perfetto_put_event(perfetto, start->names, INSTANT, start->names->event,
				   start->track, start->time, start->fields, start->size);
	free_start(perfetto, start);
	sink_commit(&export->sink);
}

static void put_count(struct elog_text *text, const char *name, uint64_t count)
{
	size_t message = pb_open(text, EVENT_ANNOTATION);

	pb_string(text, ANNOTATION_NAME, name);
	pb_uint(text, ANNOTATION_UINT, count);
	pb_close(text, message);
}

static int take_loss(void *context, const struct entry *entry, uint64_t count)
{
	struct export *export = context;
	struct perfetto *perfetto = export->state;
	const struct elog_item *item = &entry->item;
	struct elog_text *text = perfetto->text;
	size_t packet, message, i;
	uint64_t *track;
	char name[32];
	bool found;
	int ret;

	ret = perfetto_set_time(perfetto, entry);
	if (ret)
		return ret;
	if (!perfetto->lost_track) {
		perfetto->lost_track = perfetto->next_track++;
		perfetto_put_track(perfetto, perfetto->lost_track, 0, "lost events");
	}
	track = perfetto_find_track(perfetto, "lost", item->cpu, &found);
	if (!track)
		return -ENOMEM;
	if (!found) {
		if (item->cpu == EVENTLOG_CPU_UNKNOWN)
			strcpy(name, "unknown CPU");
		else
			snprintf(name, sizeof(name), "CPU %u", item->cpu);
		perfetto_put_track(perfetto, *track, perfetto->lost_track, name);
	}
	packet = perfetto_open_packet(perfetto, FLAG_NEEDS_STATE);
	pb_uint(text, PACKET_TIME, perfetto->now);
	message = pb_open(text, PACKET_TRACK_EVENT);
	pb_uint(text, EVENT_TYPE, INSTANT);
	pb_uint(text, EVENT_TRACK, *track);
	pb_string(text, EVENT_CATEGORY, EXPORT_PROVIDER);
	pb_string(text, EVENT_NAME, count ? "lost" : "invalid records");
	perfetto_put_origin(perfetto, text);
	perfetto_put_instance(perfetto, text, item);
	put_count(text, "count", count);
	if (invalid_records(item))
		put_count(text, "invalid", invalid_records(item));
	for (i = 0; i < item->lost_count; i++)
		if (item->lost[i] && i != CAUSE_INVALID)
			put_count(text, elog_lost_name((unsigned int)i) ? : "unknown",
				  item->lost[i]);
	pb_close(text, message);
	pb_close(text, packet);
	return sink_commit(&export->sink);
}

static int open_perfetto(struct export *export)
{
	struct perfetto *perfetto = calloc(1, sizeof(*perfetto));

	if (!perfetto)
		return -ENOMEM;
	export->state = perfetto;
	perfetto->text = &export->sink.text;
	perfetto->realtime = export->visit->spans.pairing.many_files;
	perfetto->next_name = 1;
	perfetto->next_track = 1;
	elog_map_init(&perfetto->boots, sizeof(struct perfetto_boot));
	elog_map_init(&perfetto->readers, sizeof(struct perfetto_boot *));
	elog_map_init(&perfetto->threads, sizeof(struct perfetto_thread));
	elog_map_init(&perfetto->tracks, sizeof(uint64_t));
	nesting_init(&perfetto->nesting);
	perfetto_waits_open(&perfetto->waits);
	perfetto_begin_trace(perfetto);
	return 0;
}

static int finish_perfetto(struct export *export)
{
	perfetto_held_put(export->state);
	return sink_commit(&export->sink);
}

static void close_names(struct event_kind *kind)
{
	free(kind->data);
}

static void close_perfetto(struct export *export)
{
	struct perfetto *perfetto = export->state;
	struct perfetto_group *group, *next;

	if (!perfetto)
		return;
	elog_map_free(&perfetto->boots);
	elog_map_free(&perfetto->readers);
	elog_map_free(&perfetto->threads);
	elog_map_free(&perfetto->tracks);
	for (group = perfetto->groups; group; group = next) {
		next = group->next;
		lanes_free(&group->lanes);
		free(group);
	}
	nesting_free(&perfetto->nesting);
	perfetto_waits_close(&perfetto->waits);
	perfetto_held_close(&perfetto->held);
	elog_text_free(&perfetto->value);
	elog_text_free(&perfetto->fields);
	free(perfetto);
}

const struct export_format export_perfetto = {
	.ops = {
		.segment = take_segment,
		.event = take_event,
		.lost = take_loss,
		.drop = drop_start,
	},
	.binary = true,
	.open = open_perfetto,
	.finish = finish_perfetto,
	.close_kind = close_names,
	.close = close_perfetto,
};
