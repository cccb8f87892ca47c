/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of field types without a parameter, shared by schemas, command strings,
 * filters, markers and trace events.  It is constant; there are no locks.
 */
#ifndef EVENTLOG_FIELD_TYPES_H
#define EVENTLOG_FIELD_TYPES_H

#include <linux/eventlog_marker.h>
#include <linux/types.h>

/* How a field is stored and printed.  Kinds without an entry in the table come last. */
enum eventlog_field_kind {
	EVENTLOG_KIND_NUMBER,
	EVENTLOG_KIND_PORT,		/* network byte order */
	EVENTLOG_KIND_IPV4,
	EVENTLOG_KIND_IPV6,
	EVENTLOG_KIND_MAC,
	EVENTLOG_KIND_STRING,		/* a __data_loc word */
	EVENTLOG_KIND_BYTES,		/* a __data_loc word */
	EVENTLOG_KIND_STRING_REL,	/* a __rel_loc word */
	EVENTLOG_KIND_BYTES_REL,	/* a __rel_loc word */
	EVENTLOG_KIND_CHARS,		/* char[N] */
	EVENTLOG_KIND_ARRAY,		/* u8[N] */
	EVENTLOG_KIND_STRUCT,
	EVENTLOG_KIND_ENUM,
	EVENTLOG_KIND_FLAGS,
};

/* Indices into the table continue enum eventlog_marker_type; markers do not have these. */
enum eventlog_field_type_index {
	EVENTLOG_TYPE_IPV6 = EVENTLOG_MARKER_TYPES,
	EVENTLOG_TYPE_MAC,
	EVENTLOG_TYPE_BYTES,
	EVENTLOG_TYPE_STRING_REL,
	EVENTLOG_TYPE_BYTES_REL,
	EVENTLOG_FIELD_TYPES
};

/**
 * struct eventlog_field_type - a field type without a parameter
 * @name: name in the schema language
 * @c_name: name of an integer type in C, allowed in command strings; or NULL
 * @trace_name: name in ftrace, which treats a field as a string if its type contains
 *	"char" and a bracket
 * @kind: enum eventlog_field_kind
 * @bytes: size in the fixed part of a payload
 * @is_signed: signed number
 * @hex: number that is printed in hexadecimal
 */
struct eventlog_field_type {
	const char *name;
	const char *c_name;
	const char *trace_name;
	u8 kind;
	u8 bytes;
	bool is_signed;
	bool hex;
};

/* Entry 0 is unused. */
extern const struct eventlog_field_type eventlog_field_types[EVENTLOG_FIELD_TYPES];

/**
 * eventlog_field_type_find() - find a type by its name in the schema language
 * @name: the name; need not be NUL-terminated
 * @length: length of @name
 *
 * Return: the index into eventlog_field_types, or 0 if there is no such type.
 */
unsigned int eventlog_field_type_find(const char *name, size_t length);

/**
 * struct eventlog_field_shape - how a field of any type is stored
 * @kind: enum eventlog_field_kind
 * @type: index into eventlog_field_types of the type, or of the integer of an enum or
 *	flags type; 0: there is none
 * @bytes: size in the fixed part of a payload
 * @is_signed: signed number
 * @set: name of the enum or flags type; not NUL-terminated; else NULL
 * @set_bytes: length of @set
 */
struct eventlog_field_shape {
	u8 kind;
	u8 type;
	u32 bytes;
	bool is_signed;
	const char *set;
	u32 set_bytes;
};

/**
 * eventlog_field_shape_parse() - parse a type of the schema language
 * @type: the type, which was valid when the event was registered; need not be
 *	NUL-terminated
 * @length: length of @type
 * @shape: filled in
 *
 * Return: false: there is no such type.
 */
bool eventlog_field_shape_parse(const char *type, size_t length,
				struct eventlog_field_shape *shape);

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
 * eventlog_field_type_is_integer() - test whether a type is one of u8 to u64, s8 to s64
 * @index: index into eventlog_field_types, or 0
 *
 * Return: true for an integer type.
 */
static inline bool eventlog_field_type_is_integer(unsigned int index)
{
	return index && index <= EVENTLOG_MARKER_S64;
}

/**
 * eventlog_field_value() - sign- or zero-extend a value according to its type
 * @type: enum eventlog_marker_type
 * @value: the value; bits beyond the size of the type are ignored.  For a string, its
 *	address
 *
 * Context: any.
 *
 * Return: the extended value; for a string, @value unchanged.
 */
u64 eventlog_field_value(u8 type, u64 value);

#endif /* EVENTLOG_FIELD_TYPES_H */
