/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The types that a field without parameters can have: one table for schemas,
 * command strings, filters, markers and trace events.  Constant, no locks.
 */
#ifndef EVENTLOG_FIELD_TYPES_H
#define EVENTLOG_FIELD_TYPES_H

#include <linux/eventlog_marker.h>
#include <linux/types.h>

/* How the bytes of a field are read.  The table has no entry for types with a parameter. */
enum eventlog_field_kind {
	EVENTLOG_KIND_NUMBER,
	EVENTLOG_KIND_PORT,		/* in network byte order */
	EVENTLOG_KIND_IPV4,
	EVENTLOG_KIND_IPV6,
	EVENTLOG_KIND_MAC,
	EVENTLOG_KIND_STRING,		/* a word that says where the string is */
	EVENTLOG_KIND_BYTES,
	EVENTLOG_KIND_STRING_REL,	/* likewise, relative to the word */
	EVENTLOG_KIND_BYTES_REL,
	EVENTLOG_KIND_CHARS,		/* char[N] */
	EVENTLOG_KIND_ARRAY,		/* u8[N] */
	EVENTLOG_KIND_STRUCT,
	EVENTLOG_KIND_ENUM,
	EVENTLOG_KIND_FLAGS,
};

/* Indices into the table: enum eventlog_marker_type, and these types, which no marker has. */
enum eventlog_field_type_index {
	EVENTLOG_TYPE_IPV6 = EVENTLOG_MARKER_TYPES,
	EVENTLOG_TYPE_MAC,
	EVENTLOG_TYPE_BYTES,
	EVENTLOG_TYPE_STRING_REL,
	EVENTLOG_TYPE_BYTES_REL,
	EVENTLOG_FIELD_TYPES
};

/**
 * struct eventlog_field_type - a type without a parameter
 * @name: in the schema language
 * @c_name: an integer's name in C, which a command string may use; or NULL
 * @trace_name: the type that ftrace shows; ftrace takes a type for a string if
 *	it contains "char" and a bracket
 * @kind: enum eventlog_field_kind
 * @bytes: its size in the fixed part of a payload
 * @is_signed: it is a signed number
 * @hex: it is shown in hexadecimal
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
 * @name: need not end with a NUL
 * @length: bytes of @name
 *
 * Return: the index into eventlog_field_types, or 0 if there is no such type.
 */
unsigned int eventlog_field_type_find(const char *name, size_t length);

/**
 * eventlog_field_type_is_integer() - is it one of u8 to s64
 * @index: into eventlog_field_types, or 0
 */
static inline bool eventlog_field_type_is_integer(unsigned int index)
{
	return index && index <= EVENTLOG_MARKER_S64;
}

/**
 * eventlog_field_value() - extend a value as its type says
 * @type: enum eventlog_marker_type
 * @value: the bits above the type's size may be anything; a string's address
 *
 * Any context.
 *
 * Return: the value, sign- or zero-extended; a string's address as it is.
 */
u64 eventlog_field_value(u8 type, u64 value);

#endif /* EVENTLOG_FIELD_TYPES_H */
