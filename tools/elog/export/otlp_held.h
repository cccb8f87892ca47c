/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spans that have ended, until the batch is sent that they belong to: a thread says what its short
 * waits are in all when it leaves the session, which is mostly after the END.
 */
#ifndef OTLP_HELD_H
#define OTLP_HELD_H

#include "export/otlp_waits.h"

/**
 * struct otlp_span - a span that has ended
 * @waits: of its threads; NULL: none
 * @refused: some waits were left out, so that it has no times
 * @duration: ns
 * @group: where it goes
 * @next: the one that ended next
 * @size: bytes of @record
 * @bytes: that are counted in the batch
 * @record: the record, but for @waits
 */
struct otlp_span {
	struct otlp_waits *waits;
	bool refused;
	uint64_t duration;
	struct otlp_group *group;
	struct otlp_span *next;
	size_t size;
	size_t bytes;
	char record[];
};

/**
 * struct otlp_held - the spans that have ended
 * @batch: theirs
 * @first: the one that ended first
 * @end: where the next one goes
 * @sessions: struct otlp_span *, the last one of each session
 */
struct otlp_held {
	struct otlp_batch *batch;
	struct otlp_span *first;
	struct otlp_span **end;
	struct elog_map sessions;
};

/** otlp_held_open() - no spans; the batch puts them before it is sent */
void otlp_held_open(struct otlp_held *held, struct otlp_batch *batch);

/** otlp_held_close() - free all */
void otlp_held_close(struct otlp_held *held);

/**
 * otlp_held_add() - add a span that has ended
 * @held: the spans
 * @session: of the span
 * @group: where it goes
 * @record: encoded, but for its waits
 *
 * Return: the span, whose waits and duration may be set; NULL: no memory.
 */
struct otlp_span *otlp_held_add(struct otlp_held *held, struct elog_map_key session,
				struct otlp_group *group, const struct elog_text *record);

/** otlp_held_find() - the span of a session that ended last, or NULL */
struct otlp_span *otlp_held_find(const struct otlp_held *held, struct elog_map_key session);

/** otlp_held_count() - the waits of a span have changed: count their bytes in the batch */
void otlp_held_count(struct otlp_held *held, struct otlp_span *span);

#endif /* OTLP_HELD_H */
