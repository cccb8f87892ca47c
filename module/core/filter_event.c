// SPDX-License-Identifier: GPL-2.0-only
/*
 * Binding of filters to events: finds fields in the schema lines of an event.  See
 * filter.h.
 */
#include <linux/err.h>
#include <linux/eventlog.h>
#include <linux/overflow.h>
#include <linux/string.h>

#include "core/field_types.h"
#include "core/filter.h"
#include "memory.h"

/* A field of the event. */
struct eventlog_event_field {
	const char *name;
	size_t name_length;
	struct eventlog_operand operand;
};

/* The fields of the event, parsed once for all terms. */
struct eventlog_event_fields {
	unsigned int count;
	struct eventlog_event_field fields[];
};

static void eventlog_event_field_set(struct eventlog_operand *operand,
				     const struct eventlog_field_shape *shape,
				     const struct eventlog_provider *provider)
{
	const struct eventlog_set *set;
	unsigned int i;

	for (i = 0; provider && i < provider->set_count; i++) {
		set = &provider->sets[i];
		if (set->flags != (shape->kind == EVENTLOG_KIND_FLAGS) ||
		    strlen(set->name) != shape->set_bytes ||
		    memcmp(set->name, shape->set, shape->set_bytes))
			continue;
		operand->values = set->values;
		operand->value_count = set->value_count;
	}
}

static bool eventlog_kind_is_dynamic(u8 kind)
{
	return kind == EVENTLOG_KIND_STRING || kind == EVENTLOG_KIND_BYTES ||
	       kind == EVENTLOG_KIND_STRING_REL || kind == EVENTLOG_KIND_BYTES_REL;
}

static struct eventlog_event_fields *
eventlog_event_fields_parse(const char *text, const struct eventlog_provider *provider)
{
	struct eventlog_event_fields *table;
	struct eventlog_field_shape shape;
	struct eventlog_field_line line;
	unsigned int count = 0;
	const char *next;
	u32 position = 0;

	for (next = text; (next = eventlog_field_line_next(next, &line));)
		count++;
	table = eventlog_alloc_locked(struct_size(table, fields, count));
	if (!table)
		return NULL;
	for (next = text; (next = eventlog_field_line_next(next, &line));) {
		struct eventlog_event_field *field = &table->fields[table->count];
		struct eventlog_operand *operand = &field->operand;

		/* Without the size of a field, the positions behind it are not known. */
		if (!eventlog_field_shape_parse(line.type, line.type_length, &shape))
			break;
		field->name = line.name;
		field->name_length = line.name_length;
		operand->source = eventlog_kind_is_dynamic(shape.kind) ? EVENTLOG_SOURCE_DYNAMIC :
									 EVENTLOG_SOURCE_FIXED;
		operand->kind = shape.kind;
		operand->type = shape.type;
		operand->is_signed = shape.is_signed;
		operand->relative = shape.kind == EVENTLOG_KIND_STRING_REL ||
				    shape.kind == EVENTLOG_KIND_BYTES_REL;
		operand->position = position;
		operand->bytes = shape.bytes;
		if (shape.set)
			eventlog_event_field_set(operand, &shape, provider);
		position += shape.bytes;
		table->count++;
	}
	return table;
}

static int eventlog_event_field_find(const void *of, const char *name,
				     struct eventlog_operand *operand)
{
	const struct eventlog_event_fields *table = of;
	size_t length = strlen(name);
	unsigned int i;

	for (i = 0; i < table->count; i++) {
		const struct eventlog_event_field *field = &table->fields[i];

		if (field->name_length != length || memcmp(field->name, name, length))
			continue;
		*operand = field->operand;
		return 0;
	}
	return -ENOENT;
}

struct eventlog_predicate *eventlog_predicate_bind_event(struct eventlog_expression *expression,
							 const char *fields_text,
							 const struct eventlog_provider *provider,
							 bool charged)
{
	struct eventlog_subject subject = {
		.find = eventlog_event_field_find, .charged = charged,
	};
	struct eventlog_event_fields *table;
	struct eventlog_predicate *predicate;

	table = eventlog_event_fields_parse(fields_text, provider);
	if (!table)
		return NULL;
	subject.of = table;
	predicate = eventlog_predicate_bind(expression, &subject);
	eventlog_free(table);
	return predicate;
}
