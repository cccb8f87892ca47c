// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slices that have ended: see perfetto_held.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/perfetto_state.h"

static void free_slice(struct perfetto_slice *slice)
{
	if (slice)
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

	perfetto_put_event(perfetto, names, SLICE_BEGIN, names->span, slice->track, slice->start,
			   slice->fields, slice->first);
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
	free_slice(*place);
	*place = NULL;
}

void perfetto_held_add(struct perfetto *perfetto, struct perfetto_slice *slice)
{
	struct perfetto_slice **place = &perfetto->held.slices[perfetto->held.count++ %
							       PERFETTO_HELD];

	put_place(perfetto, place);
	*place = slice;
}

struct perfetto_slice *perfetto_held_find(const struct perfetto_held *held,
					  struct elog_map_key session)
{
	struct perfetto_slice *slice;
	uint64_t i;

	for (i = 1; i <= held->count && i <= PERFETTO_HELD; i++) {
		slice = held->slices[(held->count - i) % PERFETTO_HELD];
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
		free_slice(held->slices[i]);
}
