/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Types of fields without parameters: one table for schemas and markers.
 */
#ifndef LIBELOG_TYPES_H
#define LIBELOG_TYPES_H

#include "elog.h"

/* Indexes of elog_plain_types. */
enum elog_plain_type_index {
	ELOG_PLAIN_U8,
	ELOG_PLAIN_U16,
	ELOG_PLAIN_U32,
	ELOG_PLAIN_U64,
	ELOG_PLAIN_S8,
	ELOG_PLAIN_S16,
	ELOG_PLAIN_S32,
	ELOG_PLAIN_S64,
	ELOG_PLAIN_BOOL,
	ELOG_PLAIN_STRING,
	ELOG_PLAIN_STRING_REL,
	ELOG_PLAIN_BYTES,
	ELOG_PLAIN_BYTES_REL,
	ELOG_PLAIN_IPV4,
	ELOG_PLAIN_IPV6,
	ELOG_PLAIN_PORT,
	ELOG_PLAIN_MAC,
	ELOG_PLAIN_TIME,
	ELOG_PLAIN_DURATION,
	ELOG_PLAIN_PTR,
	ELOG_PLAIN_TYPES,
};

/**
 * struct elog_plain_type - a type of fields that has no parameters
 * @name: in the schema language
 * @type: what it is
 * @size: bytes in the fixed part of a payload
 * @relative: the offset of strings and bytes counts from behind the word
 */
struct elog_plain_type {
	const char *name;
	enum elog_type type;
	unsigned int size;
	bool relative;
};

extern const struct elog_plain_type elog_plain_types[ELOG_PLAIN_TYPES];

/** elog_plain_type_find() - the type of that name, or NULL */
const struct elog_plain_type *elog_plain_type_find(const char *name);

/** elog_type_is_integer() - is it a plain integer, signed or not? */
static inline bool elog_type_is_integer(enum elog_type type)
{
	return type == ELOG_TYPE_UNSIGNED || type == ELOG_TYPE_SIGNED;
}

#endif /* LIBELOG_TYPES_H */
