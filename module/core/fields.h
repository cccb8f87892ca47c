/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fields of events of processes: parses a command string into a layout, which payloads
 * are validated against, and into schema text.  No state, no locks.
 */
#ifndef EVENTLOG_FIELDS_H
#define EVENTLOG_FIELDS_H

#include <linux/errno.h>
#include <linux/string.h>
#include <linux/types.h>
#include <uapi/linux/eventlog.h>

#include "common/word.h"

/**
 * struct eventlog_dynamic - a __data_loc or __rel_loc word
 * @position: offset of the word in the payload
 * @base: offset in the payload that the word's offset is relative to
 * @string: the data is a string and must end with a NUL
 */
struct eventlog_dynamic {
	u32 position;
	u32 base;
	bool string;
};

/**
 * struct eventlog_layout - layout of a payload
 * @fixed_bytes: size of the fixed part
 * @dynamic_count: number of @dynamic
 * @dynamic: the words of dynamic fields
 */
struct eventlog_layout {
	u32 fixed_bytes;
	u32 dynamic_count;
	struct eventlog_dynamic dynamic[];
};

struct eventlog_tables;

/**
 * struct eventlog_fields - a parsed command or schema
 * @name: name of the event; not owned, part of the command or of @tables
 * @text: the fields in the schema language, one per line, after a line with the quoted
 *	description if there is one; the whole statement of a schema; owned
 * @layout: the layout of the payload; owned
 * @tables: the schema; NULL for a command; owned
 * @types: the fields' types as the trace event shows them, one a line; NULL: those of
 *	@text; owned
 * @trace_flags: EVENTLOG_TRACE_*
 */
struct eventlog_fields {
	const char *name;
	char *text;
	struct eventlog_layout *layout;
	struct eventlog_tables *tables;
	char *types;
	unsigned int trace_flags;
};

/**
 * eventlog_fields_parse() - parse a command string
 * @command: the string; modified
 * @described: it may have a description
 * @fields: output; on success the caller frees it with eventlog_fields_free()
 *
 * Context: process context.
 *
 * Return: 0; -EINVAL: syntax error; -E2BIG: too many fields, or the fixed part is
 * larger than EVENTLOG_PAYLOAD_MAX; -ENOMEM.
 */
int eventlog_fields_parse(char *command, bool described, struct eventlog_fields *fields);

/**
 * eventlog_fields_lines() - get the lines of a text behind its description
 * @text: as in &struct eventlog_fields
 */
static inline const char *eventlog_fields_lines(const char *text)
{
	return *text == '"' ? strchr(text, '\n') + 1 : text;
}

/**
 * eventlog_fields_free() - free the members of a parsed command
 * @fields: parsed; members that were moved elsewhere are NULL
 */
void eventlog_fields_free(struct eventlog_fields *fields);

/**
 * eventlog_name_valid() - test whether processes may use a name
 * @name: name of a provider or an event: printable ASCII characters, less than
 *	EVENTLOG_NAME_MAX
 *
 * Return: true if it is valid.
 */
static inline bool eventlog_name_valid(const char *name)
{
	return eventlog_printable_valid(name);
}

/**
 * eventlog_fields_name_valid() - test whether a name is an identifier of valid length
 * @name: name of a field, or of an event of a kernel provider
 *
 * Return: true if it is valid.
 */
static inline bool eventlog_fields_name_valid(const char *name)
{
	return eventlog_identifier_valid(name, strnlen(name, EVENTLOG_FIELD_NAME_MAX), "");
}

/**
 * eventlog_provider_name_valid() - test whether a kernel provider may use a name
 * @name: its name: like an identifier, but '.' and '-' are allowed after the
 *	first character
 *
 * Return: true if it is valid.
 */
static inline bool eventlog_provider_name_valid(const char *name)
{
	return eventlog_identifier_valid(name, strnlen(name, EVENTLOG_FIELD_NAME_MAX), ".-");
}

/* Validates the words of a payload whose fixed part is complete. */
int eventlog_dynamic_validate(const struct eventlog_layout *layout, const u8 *payload, u32 bytes);

/**
 * eventlog_layout_validate() - validate a payload against its layout
 * @layout: the layout
 * @payload: a copy in kernel memory, which user space cannot change
 * @bytes: size of @payload
 *
 * Context: any.
 *
 * Return: 0; -EINVAL: the fixed part is incomplete; -EBADMSG: a dynamic field exceeds
 * the payload, or a string is not terminated.
 */
static __always_inline int eventlog_layout_validate(const struct eventlog_layout *layout,
						    const u8 *payload, u32 bytes)
{
	if (bytes < layout->fixed_bytes)
		return -EINVAL;
	return layout->dynamic_count ? eventlog_dynamic_validate(layout, payload, bytes) : 0;
}

#endif /* EVENTLOG_FIELDS_H */
