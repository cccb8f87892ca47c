// SPDX-License-Identifier: GPL-2.0-only
/*
 * Spans that have ended: see otlp_held.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/otlp_held.h"
#include "export/protobuf.h"

static void empty(struct otlp_held *held)
{
	held->first = NULL;
	held->end = &held->first;
	elog_map_free(&held->sessions);
}

static void free_span(struct otlp_span *span)
{
	otlp_waits_free(span->waits);
	free(span);
}

static int put_span(struct otlp_batch *batch, const struct otlp_span *span)
{
	struct elog_text *text = &span->group->records[OTLP_SPANS];
	const size_t from = text->size, record = pb_open(text, OTLP_RECORD);

	elog_text_put(text, span->record, span->size);
	otlp_waits_put(span->waits, !span->refused, span->duration, text);
	pb_close(text, record);
	batch->bytes -= span->bytes;
	return otlp_batch_end(batch, span->group, OTLP_SPANS, from);
}

/* Puts them to the batch, which is about to be sent. Return: 0 or -ENOMEM. */
static int put_all(void *context)
{
	struct otlp_held *held = context;
	struct otlp_span *span, *next;
	int ret = 0;

	for (span = held->first; span; span = next) {
		next = span->next;
		ret = put_span(held->batch, span) ? : ret;
		free_span(span);
	}
	empty(held);
	return ret;
}

void otlp_held_open(struct otlp_held *held, struct otlp_batch *batch)
{
	held->batch = batch;
	elog_map_init(&held->sessions, sizeof(struct otlp_span *));
	empty(held);
	batch->complete = put_all;
	batch->context = held;
}

void otlp_held_close(struct otlp_held *held)
{
	struct otlp_span *span, *next;

	for (span = held->first; span; span = next) {
		next = span->next;
		free_span(span);
	}
	elog_map_free(&held->sessions);
}

struct otlp_span *otlp_held_add(struct otlp_held *held, struct elog_map_key session,
				struct otlp_group *group, const struct elog_text *record)
{
	struct otlp_span **last = elog_map_get(&held->sessions, session), *span;

	span = last && !record->error ? malloc(sizeof(*span) + record->size) : NULL;
	if (!span)
		return NULL;
	*span = (struct otlp_span){ .group = group, .size = record->size };
	elog_copy(span->record, record->data, record->size);
	*last = span;
	*held->end = span;
	held->end = &span->next;
	otlp_held_count(held, span);
	return span;
}

struct otlp_span *otlp_held_find(const struct otlp_held *held, struct elog_map_key session)
{
	struct otlp_span *const *last = elog_map_find(&held->sessions, session);

	return last ? *last : NULL;
}

void otlp_held_count(struct otlp_held *held, struct otlp_span *span)
{
	held->batch->bytes -= span->bytes;
	span->bytes = sizeof(*span) + span->size + otlp_waits_size(span->waits);
	held->batch->bytes += span->bytes;
}
