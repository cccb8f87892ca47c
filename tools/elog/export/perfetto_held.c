// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slices that have ended: see perfetto_held.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/perfetto_state.h"

static size_t bytes_of(const struct perfetto_slice *slice)
{
	return sizeof(*slice) + slice->size;
}

/* No deeper than PERFETTO_DEPTH. */
static void free_slice(struct perfetto_held *held, struct perfetto_slice *slice)
{
	struct perfetto_slice *inner, *next;

	if (!slice)
		return;
	for (inner = slice->inner; inner; inner = next) {
		next = inner->next;
		held->kept -= bytes_of(inner);
		free_slice(held, inner);
	}
	if (held->recent[slice->recent] == slice)
		held->recent[slice->recent] = NULL;
	free(slice->waits);
	free(slice);
}

static void put_number(struct elog_text *text, const char *cause, uint64_t time)
{
	size_t message = pb_open(text, EVENT_ANNOTATION);
	char name[48];

	snprintf(name, sizeof(name), "elog.why.%s_ns", cause);
	pb_string(text, ANNOTATION_NAME, name);
	pb_uint(text, ANNOTATION_UINT, time);
	pb_close(text, message);
}

/* The same names as in OTLP. */
static void put_waits(struct elog_text *text, const struct perfetto_slice *slice)
{
	const uint64_t duration = slice->end - slice->start;
	const struct waits *waits = slice->waits;
	unsigned int i;

	for (i = 0; i < INTERVAL_CAUSES; i++)
		if (waits->times[i])
			put_number(text, interval_cause_name(i), waits->times[i]);
	put_number(text, "on_cpu", waits_on_cpu(waits, duration));
	if (waits_whole(waits, duration) > duration)
		put_number(text, "thread_time", waits_whole(waits, duration));
}

static void put_slice(struct perfetto *perfetto, const struct perfetto_slice *slice)
{
	const struct perfetto_names *names = slice->names;
	struct elog_text *fields = &perfetto->fields;
	const struct perfetto_slice *inner;

	perfetto_put_event(perfetto, names, SLICE_BEGIN, names->span, slice->track, slice->start,
			   slice->fields, slice->first);
	for (inner = slice->inner; inner; inner = inner->next)
		put_slice(perfetto, inner);
	fields->size = 0;
	elog_text_put(fields, slice->fields + slice->first, slice->size - slice->first);
	if (slice->waits && !slice->refused)
		put_waits(fields, slice);
	perfetto_put_event(perfetto, names, SLICE_END, names->span, slice->track, slice->end,
			   fields->data, fields->size);
}

/* Writes what is in a place of the ring, if there is something. */
static void put_place(struct perfetto *perfetto, struct perfetto_slice **place)
{
	if (*place)
		put_slice(perfetto, *place);
	free_slice(&perfetto->held, *place);
	*place = NULL;
}

static void hold(struct perfetto *perfetto, struct perfetto_slice *slice)
{
	struct perfetto_slice **place = &perfetto->held.slices[perfetto->held.count++ %
							       PERFETTO_HELD];

	put_place(perfetto, place);
	*place = slice;
}

static void keep(struct perfetto_held *held, struct perfetto_slice *slice,
		 struct perfetto_kept *outer)
{
	if (outer->last)
		outer->last->next = slice;
	else
		outer->first = slice;
	outer->last = slice;
	if (outer->until < slice->end)
		outer->until = slice->end;
	if (outer->depth <= slice->depth)
		outer->depth = slice->depth + 1;
	held->kept += bytes_of(slice);
}

void perfetto_held_add(struct perfetto *perfetto, struct perfetto_slice *slice,
		       struct perfetto_kept *outer)
{
	struct perfetto_held *held = &perfetto->held;

	slice->recent = held->ended++ % PERFETTO_HELD;
	held->recent[slice->recent] = slice;
	if (outer && slice->start <= outer->until && slice->depth < PERFETTO_DEPTH &&
	    held->kept < PENDING_BYTES)
		keep(held, slice, outer);
	else
		hold(perfetto, slice);
}

void perfetto_held_release(struct perfetto *perfetto, struct perfetto_kept *kept)
{
	struct perfetto_slice *slice, *next;

	for (slice = kept->first; slice; slice = next) {
		next = slice->next;
		slice->next = NULL;
		perfetto->held.kept -= bytes_of(slice);
		hold(perfetto, slice);
	}
	kept->first = kept->last = NULL;
}

struct perfetto_slice *perfetto_held_find(const struct perfetto_held *held,
					  struct elog_map_key session)
{
	struct perfetto_slice *slice;
	uint64_t i;

	for (i = 1; i <= held->ended && i <= PERFETTO_HELD; i++) {
		slice = held->recent[(held->ended - i) % PERFETTO_HELD];
		if (slice && !memcmp(&slice->session, &session, sizeof(session)))
			return slice;
	}
	return NULL;
}

void perfetto_held_put(struct perfetto *perfetto)
{
	uint64_t i;

	for (i = 0; i < PERFETTO_HELD; i++)
		put_place(perfetto, &perfetto->held.slices[(perfetto->held.count + i) %
							   PERFETTO_HELD]);
}

void perfetto_held_close(struct perfetto_held *held)
{
	uint64_t i;

	for (i = 0; i < PERFETTO_HELD; i++)
		free_slice(held, held->slices[i]);
}
