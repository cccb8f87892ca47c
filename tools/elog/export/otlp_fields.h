/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fields of events as attributes of OpenTelemetry, and what the events of a kind have in
 * common.
 */
#ifndef OTLP_FIELDS_H
#define OTLP_FIELDS_H

#include "export/otlp_batch.h"
#include "export/visit.h"

/* What an event has besides its fields. A field of the same name replaces it. */
enum { OUR_TID, OUR_COMM, OUR_CPU, OUR_SESSION, OUR_INSTANCE, OURS };

extern const char *const otlp_our_keys[OURS];

/**
 * struct otlp_names - what a kind's events have in common; data of the kind
 * @provider: of the kind
 * @name: of the kind, as UTF-8
 * @keys: of the fields, each as the first field of an attribute
 * @ends: of each field, where it ends in @keys
 * @count: of @ends
 * @trace_field: the field that has the trace; NULL: none
 * @span_field: the field that has the span in which the event happened; NULL: none
 * @replaced: our keys that are names of fields
 * @start: the kind of START that is compared last
 * @overlaps: it has fields that this kind has, too
 */
struct otlp_names {
	struct otlp_provider *provider;
	struct elog_text name;
	struct elog_text keys;
	size_t *ends;
	size_t count;
	const char *trace_field;
	const char *span_field;
	bool replaced[OURS];
	const struct otlp_names *start;
	bool overlaps;
};

/** otlp_new_names() - make the data of an event's kind; NULL: no memory */
struct otlp_names *otlp_new_names(struct otlp_batch *batch, const struct visit_event *event);

/** otlp_free_names() - free it; NULL is allowed */
void otlp_free_names(struct otlp_names *names);

/**
 * otlp_put_fields() - append the fields of an event, but those that cannot be decoded
 * @batch: for its buffer
 * @text: to append to
 * @number: of the field that has attributes
 * @event: whose kind has data
 *
 * Return: how many there are.
 */
size_t otlp_put_fields(struct otlp_batch *batch, struct elog_text *text, unsigned int number,
		       const struct visit_event *event);

/** otlp_put_ours() - append what an event has besides its fields; likewise */
size_t otlp_put_ours(struct otlp_batch *batch, struct elog_text *text, unsigned int number,
		     const struct visit_event *event);

#endif /* OTLP_FIELDS_H */
