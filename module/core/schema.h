/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Conversion of definitions and of the tables of kernel providers to schema text, and
 * validation of these tables.  No state, no locks of its own.
 */
#ifndef EVENTLOG_SCHEMA_H
#define EVENTLOG_SCHEMA_H

#include <linux/types.h>

#include "common/field_type.h"

struct eventlog_event;
struct eventlog_layout;
struct eventlog_fields;
struct eventlog_provider;
struct eventlog_provider_event;
struct eventlog_set;
struct eventlog_text;

/* The owner of a provider that is part of struct eventlog_tables. */
#define EVENTLOG_OWNER_PROCESS ((struct module *)-1L)

/**
 * eventlog_schema_write() - append the schema of one definition
 * @text: the text
 * @event: struct eventlog_event; the caller holds domain->lock
 *
 * Context: any.
 */
void eventlog_schema_write(struct eventlog_text *text, const void *event);

/**
 * eventlog_schema_text() - write a complete schema for one definition
 * @event: the definition; the caller holds domain->lock
 * @bytes: output: size of the text, NUL included
 *
 * Context: process context.
 *
 * Return: the text, which the caller frees with eventlog_free(), or NULL if out of
 * memory.
 */
char *eventlog_schema_text(const struct eventlog_event *event, u32 *bytes);

/**
 * eventlog_set_find() - find the enum or flags type of a field
 * @provider: has the types; NULL: there are none
 * @shape: the field
 *
 * Context: any.
 *
 * Return: NULL: there is no such type.
 */
const struct eventlog_set *eventlog_set_find(const struct eventlog_provider *provider,
					     const struct eventlog_field_shape *shape);

/**
 * eventlog_schema_check() - check the tables of a provider
 * @provider: the provider; its owner is EVENTLOG_OWNER_PROCESS if it is a process's
 *
 * Context: process context.
 *
 * Return: 0; -EINVAL: a table is malformed, for a kernel provider the kernel log says
 * where; -ENOMEM.
 */
int eventlog_schema_check(const struct eventlog_provider *provider);

/**
 * eventlog_schema_preamble() - write the part of a schema behind the provider's name
 * @provider: a provider that eventlog_schema_check() accepted
 *
 * Context: process context.
 *
 * Return: description, keywords and sets, which the caller frees with eventlog_free(),
 * or NULL if out of memory.
 */
char *eventlog_schema_preamble(const struct eventlog_provider *provider);

/**
 * eventlog_schema_fields() - make schema text and layout of an event of a kernel provider
 * @provider: a provider that eventlog_schema_check() accepted
 * @source: one of its events
 * @fields: output; on success the caller frees it with eventlog_fields_free()
 *
 * Context: process context.
 *
 * Return: 0 or -ENOMEM.
 */
int eventlog_schema_fields(const struct eventlog_provider *provider,
			   const struct eventlog_provider_event *source,
			   struct eventlog_fields *fields);

/**
 * eventlog_schema_layout() - make the layout of an event
 * @provider: a provider that eventlog_schema_check() accepted
 * @source: one of its events
 *
 * Context: process context.
 *
 * Return: the layout, for eventlog_free(); or NULL if out of memory.
 */
struct eventlog_layout *eventlog_schema_layout(const struct eventlog_provider *provider,
					       const struct eventlog_provider_event *source);

/**
 * struct eventlog_field_line - a field in the schema text of an event
 * @type: its type; not NUL-terminated
 * @type_length: length of @type
 * @name: its name; not NUL-terminated
 * @name_length: length of @name
 */
struct eventlog_field_line {
	const char *type;
	size_t type_length;
	const char *name;
	size_t name_length;
};

/**
 * eventlog_field_line_next() - get the next field of a schema text
 * @text: lines of an event
 * @line: set to the first field
 *
 * Return: the text behind the field; NULL: there are no more fields.
 */
const char *eventlog_field_line_next(const char *text, struct eventlog_field_line *line);

/**
 * eventlog_shape_is_canonical() - is a type written as it is in listings
 * @shape: from eventlog_field_shape_parse(), which allows hexadecimal sizes, too
 */
static inline bool eventlog_shape_is_canonical(const struct eventlog_field_shape *shape)
{
	return !shape->rest || *shape->rest != '0';
}

#endif /* EVENTLOG_SCHEMA_H */
