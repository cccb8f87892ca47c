/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-only */
/*
 * The types of fields: a table of those without a parameter, which schemas, command
 * strings, filters, markers and trace events share, and the parser of all types.  The
 * table is constant; all functions may be called in any context.
 */
#ifndef EVENTLOG_COMMON_FIELD_TYPE_H
#define EVENTLOG_COMMON_FIELD_TYPE_H

#include "common/platform.h"

/* How a field is stored.  The values are those of libelog's enum elog_type. */
enum eventlog_field_kind {
	EVENTLOG_KIND_UNSIGNED,
	EVENTLOG_KIND_SIGNED,
	EVENTLOG_KIND_BOOL,
	EVENTLOG_KIND_CHARS,		/* char[N] */
	EVENTLOG_KIND_OCTETS,		/* u8[N] */
	EVENTLOG_KIND_STRING,		/* a __data_loc word, or a __rel_loc word */
	EVENTLOG_KIND_BYTES,		/* likewise */
	EVENTLOG_KIND_IPV4,
	EVENTLOG_KIND_IPV6,
	EVENTLOG_KIND_PORT,		/* network byte order */
	EVENTLOG_KIND_MAC,
	EVENTLOG_KIND_TIME,
	EVENTLOG_KIND_DURATION,
	EVENTLOG_KIND_PTR,
	EVENTLOG_KIND_ENUM,
	EVENTLOG_KIND_FLAGS,
	EVENTLOG_KIND_STRUCT,
};

/* Indices into the table.  The first ones are those of enum eventlog_marker_type. */
enum eventlog_field_type_index {
	EVENTLOG_TYPE_U8 = 1,
	EVENTLOG_TYPE_U16,
	EVENTLOG_TYPE_U32,
	EVENTLOG_TYPE_U64,
	EVENTLOG_TYPE_S8,
	EVENTLOG_TYPE_S16,
	EVENTLOG_TYPE_S32,
	EVENTLOG_TYPE_S64,
	EVENTLOG_TYPE_BOOL,
	EVENTLOG_TYPE_PTR,
	EVENTLOG_TYPE_TIME,
	EVENTLOG_TYPE_DURATION,
	EVENTLOG_TYPE_IPV4,
	EVENTLOG_TYPE_PORT,
	EVENTLOG_TYPE_STRING,
	EVENTLOG_TYPE_IPV6,
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
 * @name_bytes: length of @name
 * @kind: enum eventlog_field_kind
 * @bytes: size in the fixed part of a payload
 * @relative: the offset of strings and bytes counts from behind the word
 */
struct eventlog_field_type {
	const char *name;
	const char *c_name;
	const char *trace_name;
	u8 name_bytes;
	u8 kind;
	u8 bytes;
	bool relative;
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
 * eventlog_field_type_is_integer() - test whether a type is one of u8 to u64, s8 to s64
 * @index: index into eventlog_field_types, or 0
 */
static inline bool eventlog_field_type_is_integer(unsigned int index)
{
	return index && index <= EVENTLOG_TYPE_S64;
}

/**
 * eventlog_integer_load() - read an integer of 1, 2, 4 or 8 bytes, in native byte order
 * @from: need not be aligned
 * @bytes: its size; 6: a mac address, as the first bytes of a u64
 * @is_signed: extend its sign
 */
static inline u64 eventlog_integer_load(const u8 *from, size_t bytes, bool is_signed)
{
	u64 number = 0;

	switch (bytes) {
	case 1:
		return is_signed ? (u64)(s8)*from : *from;
	case 2:
		number = get_unaligned((const u16 *)from);
		return is_signed ? (u64)(s16)number : number;
	case 4:
		number = get_unaligned((const u32 *)from);
		return is_signed ? (u64)(s32)number : number;
	case 6:
		memcpy(&number, from, 6);
		return number;
	default:
		return get_unaligned((const u64 *)from);
	}
}

/**
 * eventlog_field_value() - sign- or zero-extend a value according to its type
 * @type: index into eventlog_field_types, of a marker's type
 * @value: the value; bits beyond the size of the type are ignored.  For a string, its
 *	address
 *
 * Return: the extended value; for a string, @value unchanged.
 */
u64 eventlog_field_value(u8 type, u64 value);

/**
 * struct eventlog_field_shape - how a field of any type is stored
 * @kind: enum eventlog_field_kind
 * @type: index into eventlog_field_types of the type, or of the integer of an enum or
 *	flags type; 0: there is none
 * @is_signed: signed number
 * @relative: as in struct eventlog_field_type
 * @bytes: size in the fixed part of a payload
 * @name: name of the enum, flags type or struct, or the elements of an array; not
 *	NUL-terminated
 * @name_bytes: length of @name
 * @rest: what follows @name: a size, or an integer type; not NUL-terminated
 * @rest_bytes: length of @rest
 */
struct eventlog_field_shape {
	u8 kind;
	u8 type;
	bool is_signed;
	bool relative;
	u32 bytes;
	const char *name;
	size_t name_bytes;
	const char *rest;
	size_t rest_bytes;
};

/* What is wrong with a type. */
enum eventlog_type_error {
	EVENTLOG_TYPE_VALID,
	EVENTLOG_TYPE_UNKNOWN,
	EVENTLOG_TYPE_ELEMENT,		/* an array, but not of char or u8 */
	EVENTLOG_TYPE_NO_SIZE,		/* a struct without a size */
	EVENTLOG_TYPE_SIZE,		/* not 1 to EVENTLOG_PAYLOAD_MAX */
	EVENTLOG_TYPE_TAG,		/* the name of a struct is not an identifier */
	EVENTLOG_TYPE_NO_INTEGER,	/* an enum or flags type without an integer type */
	EVENTLOG_TYPE_INTEGER,		/* not an integer type, or one with a sign for flags */
};

/**
 * eventlog_field_shape_parse() - parse a type of the schema language
 * @type: the type; need not be NUL-terminated, and may have any content
 * @length: length of @type
 * @shape: filled in; the caller looks up the name of an enum or flags type
 *
 * Return: EVENTLOG_TYPE_VALID, or what is wrong.
 */
enum eventlog_type_error eventlog_field_shape_parse(const char *type, size_t length,
						    struct eventlog_field_shape *shape);

/* Does the field have the members of an enum or flags type? */
static inline bool eventlog_shape_has_set(const struct eventlog_field_shape *shape)
{
	return shape->kind == EVENTLOG_KIND_ENUM || shape->kind == EVENTLOG_KIND_FLAGS;
}

/* The largest value of an integer, enum or flags field. */
static inline u64 eventlog_shape_largest(const struct eventlog_field_shape *shape)
{
	return U64_MAX >> (64 - shape->bytes * 8 + shape->is_signed);
}

/* The absolute value of its lowest one. */
static inline u64 eventlog_shape_lowest(const struct eventlog_field_shape *shape)
{
	return shape->is_signed ? eventlog_shape_largest(shape) + 1 : 0;
}

#endif /* EVENTLOG_COMMON_FIELD_TYPE_H */
