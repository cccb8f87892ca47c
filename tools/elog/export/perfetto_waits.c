// SPDX-License-Identifier: GPL-2.0-only
/*
 * The intervals in which threads did not run, in a trace of Perfetto: see perfetto_waits.h.
 *
 * An interval is known when it ends, and its slices are written then: one until the thread was
 * woken, which has the fields of the event, and one until it ran.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/perfetto_state.h"
#include "util/system_calls.h"

#define WAKES	INTERVAL_CAUSES		/* name of the event at the beginning of a flow */

/* Where something is drawn. */
struct place {
	uint64_t track;
	uint64_t from;
	uint64_t to;
};

void perfetto_waits_open(struct perfetto_waits *waits)
{
	elog_map_init(&waits->thread_ends, sizeof(uint64_t));
}

void perfetto_waits_close(struct perfetto_waits *waits)
{
	elog_map_free(&waits->thread_ends);
	elog_text_free(&waits->fields);
}

/* Return: the number of the name of a cause, or of WAKES. */
static uint64_t name_of(struct perfetto *perfetto, unsigned int what)
{
	struct elog_text *text = perfetto->text;
	size_t packet, message;
	unsigned int i;

	if (!perfetto->waits.names) {
		perfetto->waits.names = perfetto->next_name;
		packet = perfetto_open_packet(perfetto, FLAG_NEEDS_STATE);
		message = pb_open(text, PACKET_INTERNED);
		for (i = 0; i < INTERVAL_CAUSES; i++)
			perfetto_intern(perfetto, INTERNED_EVENT, interval_cause_name(i));
		perfetto_intern(perfetto, INTERNED_EVENT, "wakes");
		pb_close(text, message);
		pb_close(text, packet);
	}
	return perfetto->waits.names + what;
}

/* ------------------------------------------------------------------------
 * Places
 */

/* Return: 1; 0: the session is not known; -ENOMEM. May drop the definition of the event. */
static int session_key(struct export *export, const struct entry *entry, uint32_t of,
		       uint64_t session, struct elog_map_key *key)
{
	return spans_session_of(&export->visit->spans, entry,
				interval_provider(entry, export->visit->live, of), session, key);
}

/* The first and the last span of a session that are open; false: there are none. */
static bool find_open(struct perfetto *perfetto, struct elog_map_key key,
		      const struct perfetto_start **outer, const struct perfetto_start **inner)
{
	struct nest *nest = nesting_innermost(&perfetto->nesting, key);

	if (!nest)
		return false;
	*inner = perfetto_start_of(nest);
	*outer = perfetto_start_of(nesting_outermost(&perfetto->nesting, key));
	return true;
}

/*
 * Find the place of an interval: on the lane of its session, inside of its spans. Return: 1; 0: it
 * has none there.
 */
static int place_in_session(struct export *export, const struct entry *entry,
			    const struct interval *interval, struct place *place)
{
	const struct perfetto_start *outer, *inner;
	struct perfetto *perfetto = export->state;
	struct place cut = *place;
	struct elog_map_key key;
	int ret;

	if (!perfetto->nesting.maps[NEST_SESSION].count)
		return 0;
	ret = session_key(export, entry, interval->of, interval->session, &key);
	if (ret <= 0 || !find_open(perfetto, key, &outer, &inner))
		return ret < 0 ? ret : 0;
	/*
	 * What was before the span is not in it. The span's slice is written later, so this one
	 * must not begin at the same time: it would be the outer one.
	 */
	if (cut.from <= outer->time)
		cut.from = outer->time + 1;
	if (cut.from >= cut.to ||
	    !lanes_fit(&inner->group->lanes, inner->session, cut.from, cut.to))
		return 0;
	cut.track = perfetto_lane_track(perfetto, inner->group,
					lanes_find(&inner->group->lanes, inner->session));
	*place = cut;
	return 1;
}

/* A thread has one interval after the other, unless a file lies. Return: as place_in_session(). */
static int place_in_thread(struct export *export, const struct entry *entry,
			   struct place *place)
{
	struct perfetto *perfetto = export->state;
	uint64_t *end;

	place->track = perfetto_thread_track(perfetto, entry);
	if (!place->track)
		return -ENOMEM;
	end = elog_map_get(&perfetto->waits.thread_ends, elog_map_integer(place->track));
	if (!end)
		return -ENOMEM;
	if (place->from < *end)
		place->from = *end;
	if (place->from >= place->to)
		return 0;
	*end = place->to;
	return 1;
}

/* The track of who ended a wait, at that time. Return: as place_in_session(). */
static int find_waker(struct export *export, const struct entry *entry,
		      const struct interval *interval, uint64_t time, uint64_t *track)
{
	const struct perfetto_start *outer, *inner;
	struct perfetto *perfetto = export->state;
	const char *ended = NULL;
	struct elog_map_key key;
	int ret;

	*track = 0;
	if (!interval->by_session || !interval_waits(interval))
		return 0;
	ret = session_key(export, entry, interval->by_of, interval->by_session, &key);
	if (ret < 0)
		return ret;
	if (ret && find_open(perfetto, key, &outer, &inner) && outer->time <= time)
		*track = perfetto_lane_track(perfetto, inner->group,
					     lanes_find(&inner->group->lanes, inner->session));
	else if (ret)
		ended = ended_find(&perfetto->waits.ended, key, time);
	if (ended)
		memcpy(track, ended, sizeof(*track));
	if (!*track)
		*track = perfetto_known_thread(perfetto, interval->by_tid);
	return *track != 0;
}

/* ------------------------------------------------------------------------
 * Times of spans
 */

/*
 * Let a span have waits, unless those of the pending spans take too much: then it never has any, as
 * some would be missing. Return: 0 or -ENOMEM.
 */
static int get_waits(struct perfetto *perfetto, struct perfetto_start *start)
{
	if (start->waits || start->refused)
		return 0;
	start->refused = perfetto->pending_waits > PENDING_BYTES;
	if (start->refused)
		return 0;
	start->waits = calloc(1, sizeof(*start->waits));
	if (!start->waits)
		return -ENOMEM;
	perfetto->pending_waits += sizeof(*start->waits);
	waits_see(start->waits, start->tid, start->time);
	return 0;
}

static uint64_t since(const struct perfetto *perfetto, const struct perfetto_start *start)
{
	return perfetto->now > start->time ? perfetto->now - start->time : 0;
}

/*
 * The next span of a walk. @start: set, and has waits, unless they are refused; NULL: there is
 * none. Return: 0 or -ENOMEM.
 */
static int next_start(struct perfetto *perfetto, struct nest_walk *walk,
		      struct perfetto_start **start)
{
	struct nest *nest = nesting_next(walk);

	*start = nest ? perfetto_start_of(nest) : NULL;
	return nest ? get_waits(perfetto, *start) : 0;
}

/* The spans that the session is inside of get the times. Return: 0 or -ENOMEM. */
static int add_times(struct export *export, const struct entry *entry,
		     const struct interval *interval)
{
	struct perfetto *perfetto = export->state;
	struct perfetto_start *start;
	struct elog_map_key key;
	struct nest_walk walk;
	struct interval part;
	int ret;

	if (!perfetto->nesting.maps[NEST_SESSION].count)
		return 0;
	ret = session_key(export, entry, interval->of, interval->session, &key);
	if (ret <= 0)
		return ret;
	walk = nesting_walk(&perfetto->nesting, key);
	while (!(ret = next_start(perfetto, &walk, &start)) && start) {
		part = *interval;
		waits_clip(&part, since(perfetto, start));
		if (start->waits)
			waits_add(start->waits, &part, perfetto->now);
	}
	return ret;
}

/*
 * What open spans have no room for was in the one that ended last. Spans that have no waits take
 * their part, too.
 */
int perfetto_add_sum(struct export *export, const struct entry *entry,
		     const struct interval_sum *sum)
{
	struct interval_sum left = *sum;
	struct perfetto *perfetto = export->state;
	struct perfetto_start *start;
	struct perfetto_slice *slice;
	struct elog_map_key key;
	struct nest_walk walk;
	struct waits unseen;
	int ret;

	ret = session_key(export, entry, sum->of, sum->session, &key);
	if (ret <= 0)
		return ret;
	walk = nesting_walk(&perfetto->nesting, key);
	while (!(ret = next_start(perfetto, &walk, &start)) && start) {
		left = *sum;
		unseen = (struct waits){ 0 };
		waits_take(start->waits ? : &unseen, &left, since(perfetto, start));
	}
	/* What the outer spans take is not known if the walk did not reach them. */
	if (ret || nesting_cut(&walk))
		return ret;
	slice = perfetto_held_find(&perfetto->held, key);
	if (!slice || slice->refused)
		return 0;
	if (!slice->waits)
		slice->waits = calloc(1, sizeof(*slice->waits));
	if (!slice->waits)
		return -ENOMEM;
	waits_take(slice->waits, &left, slice->end - slice->start);
	return 0;
}

/* ------------------------------------------------------------------------
 * Slices
 */

struct slice {
	const struct perfetto_names *names;
	uint64_t name;
	uint64_t track;
	const struct elog_text *fields;
	unsigned int flow_field;
	uint64_t flow;			/* 0: none */
};

static void put_part(struct perfetto *perfetto, const struct slice *slice, unsigned int type,
		     uint64_t time)
{
	struct elog_text *text = perfetto->text;
	size_t packet = perfetto_open_packet(perfetto, FLAG_NEEDS_STATE), message;

	pb_uint(text, PACKET_TIME, time);
	message = pb_open(text, PACKET_TRACK_EVENT);
	pb_uint(text, EVENT_TYPE, type);
	pb_uint(text, EVENT_TRACK, slice->track);
	pb_uint(text, EVENT_NAME_ID, slice->name);
	pb_uint(text, EVENT_CATEGORY_ID, slice->names->category);
	if (type != SLICE_END) {
		elog_text_put(text, slice->fields->data, slice->fields->size);
		if (slice->flow)
			pb_fixed64(text, slice->flow_field, slice->flow);
	}
	pb_close(text, message);
	pb_close(text, packet);
}

static void put_slice(struct perfetto *perfetto, const struct slice *slice, uint64_t from,
		      uint64_t to)
{
	if (from == to) {
		put_part(perfetto, slice, INSTANT, to);
		return;
	}
	put_part(perfetto, slice, SLICE_BEGIN, from);
	put_part(perfetto, slice, SLICE_END, to);
}

static void put_string(struct perfetto *perfetto, const char *name, const char *string)
{
	struct elog_text *text = &perfetto->fields;
	size_t message = pb_open(text, EVENT_ANNOTATION);

	pb_string(text, ANNOTATION_NAME, name);
	perfetto->value.size = 0;
	elog_text_utf8(&perfetto->value, string, strlen(string));
	pb_bytes(text, ANNOTATION_STRING, perfetto->value.data, perfetto->value.size);
	pb_close(text, message);
}

/* Names of what the fields have as a number. */
static void put_names(struct export *export, const struct entry *entry,
		      const struct interval *interval)
{
	const char *call = interval->call < 0 ? NULL :
			   system_call_name(elog_reader_info(entry->reader, "machine"),
					    interval->call);
	char by[EVENTLOG_NAME_MAX + 24];

	if (call)
		put_string(export->state, "call_name", call);
	if (!interval->by_session)
		return;
	snprintf(by, sizeof(by), "%s:0x%" PRIx64,
		 interval_provider(entry, export->visit->live, interval->by_of),
		 interval->by_session);
	put_string(export->state, "by_session_name", by);
}

/* Put the slices of an interval in its place, and the flow from the track of who ended it. */
static void put_slices(struct perfetto *perfetto, const struct perfetto_names *names,
		       const struct interval *interval, const struct place *place,
		       uint64_t woken, uint64_t waker)
{
	struct slice slice = {
		.names = names, .name = name_of(perfetto, interval->cause),
		.track = place->track, .fields = &perfetto->fields,
	}, runs = slice, wakes = slice;

	if (!interval_waits(interval)) {
		put_slice(perfetto, &slice, place->from, place->to);
		return;
	}
	runs.name = name_of(perfetto, INTERVAL_RUNNABLE);
	runs.fields = &perfetto->waits.fields;
	if (waker) {
		runs.flow = ++perfetto->waits.next_flow;
		runs.flow_field = EVENT_FLOW_END;
		wakes = runs;
		wakes.name = name_of(perfetto, WAKES);
		wakes.track = waker;
		wakes.flow_field = EVENT_FLOW;
		put_part(perfetto, &wakes, INSTANT, woken);
	}
	put_slice(perfetto, &slice, place->from, woken);
	if (waker || woken < place->to)
		put_slice(perfetto, &runs, woken, place->to);
}

int perfetto_put_wait(struct export *export, const struct visit_event *event,
		      const struct interval *interval)
{
	struct perfetto *perfetto = export->state;
	const uint64_t now = perfetto->now, length = interval_time(interval);
	uint64_t woken = now - (interval->runnable < now ? interval->runnable : now), waker;
	struct place place = {
		.from = now - (length < now ? length : now), .to = now,
	};
	const struct entry *entry = event->entry;
	int ret;

	/* Its definition may go. */
	perfetto_make_fields(perfetto, event, true);
	ret = place_in_session(export, entry, interval, &place);
	if (!ret)
		ret = place_in_thread(export, entry, &place);
	if (ret < 0)
		return ret;
	/* It has no time of its own. */
	if (!ret)
		place.from = place.to;
	if (woken < place.from)
		woken = place.from;
	ret = find_waker(export, entry, interval, woken, &waker);
	if (ret < 0)
		return ret;
	put_names(export, entry, interval);
	perfetto->waits.fields.size = 0;
	perfetto_put_common(perfetto, &perfetto->waits.fields, &entry->item);
	put_slices(perfetto, event->kind->data, interval, &place, woken, waker);
	ret = add_times(export, entry, interval);
	return ret ? : perfetto->waits.fields.error;
}
