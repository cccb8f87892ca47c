// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fields of events as attributes of OpenTelemetry: see otlp_fields.h.
 */
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "export/otlp_fields.h"

const char *const otlp_our_keys[OURS] = {
	"thread.id", "thread.name", "cpu.logical_number", "eventlog.session",
	"eventlog.instance",
};

/* ------------------------------------------------------------------------
 * Attributes
 */

/* OpenTelemetry has no unsigned integers: what is too large for a signed one is text. */
static void put_value(struct otlp_batch *batch, struct elog_text *text,
		      const struct elog_schema_field *field, const struct elog_value *value)
{
	const bool fits = value->integer <= INT64_MAX;

	switch (field->type) {
	case ELOG_TYPE_SIGNED:
	case ELOG_TYPE_SECONDS:
		pb_uint(text, VALUE_INT, value->integer);
		return;
	case ELOG_TYPE_FLOAT:
		pb_fixed64(text, VALUE_DOUBLE, value->integer);
		return;
	case ELOG_TYPE_BOOL:
		pb_uint(text, value->integer > 1 ? VALUE_INT : VALUE_BOOL, value->integer);
		return;
	case ELOG_TYPE_UNSIGNED:
	case ELOG_TYPE_TIME:
	case ELOG_TYPE_DURATION:
	case ELOG_TYPE_PORT:
		if (fits) {
			pb_uint(text, VALUE_INT, value->integer);
			return;
		}
		batch->value.size = 0;
		elog_text_unsigned(&batch->value, value->integer, 1, ' ');
		break;
	case ELOG_TYPE_CHARS:
	case ELOG_TYPE_STRING:
		otlp_put_text(batch, text, VALUE_STRING, value->data, value->size);
		return;
	default:
		batch->value.size = 0;
		elog_format_value(&batch->value, field, value);
		break;
	}
	pb_bytes(text, VALUE_STRING, batch->value.data, batch->value.size);
}

static void put_payload(struct otlp_batch *batch, struct elog_text *text, unsigned int number,
			const struct elog_item *item)
{
	size_t value, attribute = otlp_open_attribute(text, number, "payload", &value), i;

	batch->value.size = 0;
	for (i = 0; i < item->payload_size; i++)
		elog_text_hex(&batch->value, ((const unsigned char *)item->payload)[i], 2);
	pb_bytes(text, VALUE_STRING, batch->value.data, batch->value.size);
	pb_close(text, value);
	pb_close(text, attribute);
}

size_t otlp_put_fields(struct otlp_batch *batch, struct elog_text *text, unsigned int number,
		       const struct visit_event *event)
{
	const struct elog_schema_event *schema = event->entry->cached->event;
	const struct elog_item *item = &event->entry->item;
	const struct otlp_names *names = event->kind->data;
	size_t attribute, inner, i, from = 0, count = 0;
	struct elog_value value;

	if (!schema) {
		put_payload(batch, text, number, item);
		return 1;
	}
	for (i = 0; i < names->count; from = names->ends[i++]) {
		if (elog_decode(schema->fields[i], item->payload, item->payload_size, &value))
			continue;
		attribute = pb_open(text, number);
		elog_text_put(text, names->keys.data + from, names->ends[i] - from);
		inner = pb_open(text, ATTRIBUTE_VALUE);
		put_value(batch, text, schema->fields[i], &value);
		pb_close(text, inner);
		pb_close(text, attribute);
		count++;
	}
	return count;
}

size_t otlp_put_ours(struct otlp_batch *batch, struct elog_text *text, unsigned int number,
		     const struct visit_event *event)
{
	const struct elog_item *item = &event->entry->item;
	const struct otlp_names *names = event->kind->data;
	size_t count = 0;
	char session[2 + ELOG_HEX_MAX + 1] = "0x";

	if (item->tid && !names->replaced[OUR_TID] && ++count)
		otlp_put_number(text, number, otlp_our_keys[OUR_TID], item->tid);
	if (item->tid && !names->replaced[OUR_COMM] && ++count)
		otlp_put_string(batch, text, number, otlp_our_keys[OUR_COMM],
				thread_name(event->entry));
	if (item->cpu != EVENTLOG_CPU_UNKNOWN && !names->replaced[OUR_CPU] && ++count)
		otlp_put_number(text, number, otlp_our_keys[OUR_CPU], item->cpu);
	if (item->session && !names->replaced[OUR_SESSION] && ++count) {
		*elog_put_hex(session + 2, item->session) = '\0';
		otlp_put_string(batch, text, number, otlp_our_keys[OUR_SESSION], session);
	}
	if (item->instance && !names->replaced[OUR_INSTANCE] && ++count)
		otlp_put_string(batch, text, number, otlp_our_keys[OUR_INSTANCE],
				item->instance);
	return count;
}

/* ------------------------------------------------------------------------
 * Kinds
 */

void otlp_free_names(struct otlp_names *names)
{
	if (!names)
		return;
	elog_text_free(&names->name);
	elog_text_free(&names->keys);
	free(names->ends);
	free(names);
}

static void see_field(struct otlp_names *names, const struct elog_schema_field *field)
{
	size_t i;

	if (!strcmp(field->name, "trace_id"))
		names->trace_field = "trace_id";
	if (!strcmp(field->name, "span_id"))
		names->span_field = "span_id";
	for (i = 0; i < OURS; i++)
		names->replaced[i] |= !strcmp(field->name, otlp_our_keys[i]);
}

struct otlp_names *otlp_new_names(struct otlp_batch *batch, const struct visit_event *event)
{
	const struct elog_schema_event *schema = event->entry->cached->event;
	struct otlp_names *names = calloc(1, sizeof(*names));
	size_t i;

	if (!names)
		return NULL;
	names->count = schema ? schema->field_count : 0;
	names->ends = calloc(names->count + 1, sizeof(*names->ends));
	names->provider = otlp_batch_provider(batch, event->kind->provider);
	elog_text_utf8(&names->name, event->kind->name, strlen(event->kind->name));
	for (i = 0; names->ends && i < names->count; i++) {
		otlp_put_text(batch, &names->keys, ATTRIBUTE_KEY, schema->fields[i]->name,
			      strlen(schema->fields[i]->name));
		names->ends[i] = names->keys.size;
		see_field(names, schema->fields[i]);
	}
	if (names->ends && names->provider && !names->name.error && !names->keys.error)
		return names;
	otlp_free_names(names);
	return NULL;
}
