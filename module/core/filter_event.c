// SPDX-License-Identifier: GPL-2.0-only
/*
 * Binding of filters to events: finds fields in the schema lines of an event.  See
 * filter.h.
 */
#include <linux/err.h>
#include <linux/eventlog.h>
#include <linux/overflow.h>
#include <linux/string.h>

#include "common/field_type.h"
#include "core/filter.h"
#include "core/schema.h"
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
		if (eventlog_field_shape_parse(line.type, line.type_length, &shape))
			break;
		field->name = line.name;
		field->name_length = line.name_length;
		eventlog_operand_field(operand, &shape, position);
		if (eventlog_shape_has_set(&shape))
			operand->set = eventlog_set_find(provider, &shape);
		if (operand->set)
			operand->member = eventlog_set_member;
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
							 enum eventlog_charge charge)
{
	struct eventlog_subject subject = { .find = eventlog_event_field_find };
	struct eventlog_event_fields *table;
	struct eventlog_predicate *predicate;

	table = eventlog_event_fields_parse(fields_text, provider);
	if (!table)
		return NULL;
	subject.of = table;
	predicate = eventlog_predicate_bind(expression, &subject, false, charge);
	eventlog_free(table);
	return predicate;
}
