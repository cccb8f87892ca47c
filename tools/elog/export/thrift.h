/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Structures in the compact protocol of Thrift, appended to a text: all that the metadata
 * of Parquet needs of it.
 */
#ifndef THRIFT_H
#define THRIFT_H

#include <string.h>

#include "export/protobuf.h"

#define THRIFT_DEPTH	8

/* Types of fields and of elements. */
enum thrift_type {
	THRIFT_TRUE = 1,
	THRIFT_I32 = 5,
	THRIFT_I64 = 6,
	THRIFT_BINARY = 8,
	THRIFT_LIST = 9,
	THRIFT_STRUCT = 12,
};

/**
 * struct thrift - a structure being written
 * @text: where to
 * @depth: of nested structures
 * @last: the last field of each
 */
struct thrift {
	struct elog_text text;
	unsigned int depth;
	int last[THRIFT_DEPTH];
};

static inline void thrift_varint(struct thrift *thrift, uint64_t value)
{
	char *room = elog_text_room(&thrift->text, PB_VARINT_MAX);

	if (room)
		elog_text_advance(&thrift->text, pb_put_varint(room, value));
}

static inline void thrift_signed(struct thrift *thrift, int64_t value)
{
	thrift_varint(thrift, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

/** thrift_field() - begin a field; THRIFT_TRUE is a whole one. Numbers ascend by 15 at most */
static inline void thrift_field(struct thrift *thrift, int field, enum thrift_type type)
{
	int *last = &thrift->last[thrift->depth];

	elog_text_character(&thrift->text, (char)((field - *last) << 4 | (int)type));
	*last = field;
}

static inline void thrift_i32(struct thrift *thrift, int field, int64_t value)
{
	thrift_field(thrift, field, THRIFT_I32);
	thrift_signed(thrift, value);
}

static inline void thrift_i64(struct thrift *thrift, int field, int64_t value)
{
	thrift_field(thrift, field, THRIFT_I64);
	thrift_signed(thrift, value);
}

/** thrift_element() - an element of a list of strings */
static inline void thrift_element(struct thrift *thrift, const char *string)
{
	thrift_varint(thrift, strlen(string));
	elog_text_string(&thrift->text, string);
}

static inline void thrift_string(struct thrift *thrift, int field, const char *string)
{
	thrift_field(thrift, field, THRIFT_BINARY);
	thrift_element(thrift, string);
}

/** thrift_list() - begin a list, whose elements follow */
static inline void thrift_list(struct thrift *thrift, int field, enum thrift_type type,
			       size_t count)
{
	thrift_field(thrift, field, THRIFT_LIST);
	if (count < 15) {
		elog_text_character(&thrift->text, (char)(count << 4 | type));
	} else {
		elog_text_character(&thrift->text, (char)(0xf0 | type));
		thrift_varint(thrift, count);
	}
}

/** thrift_open() - begin a structure: a field, or with 0 an element of a list */
static inline void thrift_open(struct thrift *thrift, int field)
{
	if (field)
		thrift_field(thrift, field, THRIFT_STRUCT);
	thrift->last[++thrift->depth] = 0;
}

/** thrift_close() - end the structure */
static inline void thrift_close(struct thrift *thrift)
{
	elog_text_character(&thrift->text, 0);
	thrift->depth--;
}

#endif /* THRIFT_H */
