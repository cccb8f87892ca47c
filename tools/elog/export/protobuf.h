/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages of protocol buffers: all that an export needs of them. They are appended to a
 * text, and the short ones that a receiver answers are read.
 */
#ifndef PROTOBUF_H
#define PROTOBUF_H

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "util/tool.h"

#define PB_VARINT_MAX	10	/* bytes */
#define PB_LENGTH_BYTES	4	/* of a message: room that is kept for its length */

enum pb_type { PB_VARINT = 0, PB_FIXED64 = 1, PB_BYTES = 2, PB_FIXED32 = 5 };

/** pb_put_varint() - put a number to a place with PB_VARINT_MAX bytes of room; return its end */
static inline char *pb_put_varint(char *to, uint64_t value)
{
	for (; value > 127; value >>= 7)
		*to++ = (char)(value | 128);
	*to++ = (char)value;
	return to;
}

/** pb_uint() - append a field that is a number */
static inline void pb_uint(struct elog_text *text, unsigned int field, uint64_t value)
{
	char *room = elog_text_room(text, (size_t)2 * PB_VARINT_MAX);

	if (!room)
		return;
	room = pb_put_varint(room, field << 3);
	elog_text_advance(text, pb_put_varint(room, value));
}

/** pb_fixed64() - append a field that is 8 bytes */
static inline void pb_fixed64(struct elog_text *text, unsigned int field, uint64_t value)
{
	char *room = elog_text_room(text, PB_VARINT_MAX + sizeof(value));
	unsigned int i;

	if (!room)
		return;
	room = pb_put_varint(room, field << 3 | PB_FIXED64);
	for (i = 0; i < sizeof(value); i++)
		*room++ = (char)(value >> 8 * i);
	elog_text_advance(text, room);
}

/** pb_bytes() - append a field that is bytes, a string or a message */
static inline void pb_bytes(struct elog_text *text, unsigned int field, const void *data,
			    size_t size)
{
	char *room = elog_text_room(text, 2 * PB_VARINT_MAX + size);

	if (!room)
		return;
	room = pb_put_varint(room, field << 3 | PB_BYTES);
	room = pb_put_varint(room, size);
	elog_text_advance(text, elog_copy(room, data, size));
}

/** pb_string() - append a field that is a string */
static inline void pb_string(struct elog_text *text, unsigned int field, const char *string)
{
	pb_bytes(text, field, string, strlen(string));
}

/**
 * pb_open() - begin a field that is a message
 * @text: the text
 * @field: its number
 *
 * Its length is not known yet, so it gets a fixed room, in a longer form than necessary.
 *
 * Return: for pb_close().
 */
static inline size_t pb_open(struct elog_text *text, unsigned int field)
{
	char *room = elog_text_room(text, PB_VARINT_MAX + PB_LENGTH_BYTES);

	if (!room)
		return 0;
	room = pb_put_varint(room, field << 3 | PB_BYTES);
	memset(room, 0, PB_LENGTH_BYTES);
	elog_text_advance(text, room + PB_LENGTH_BYTES);
	return text->size;
}

/** pb_close() - end the message that pb_open() began; it has less than 256 MiB */
static inline void pb_close(struct elog_text *text, size_t from)
{
	size_t size = text->size - from;
	char *length = text->data + from - PB_LENGTH_BYTES;

	if (text->error)
		return;
	length[0] = (char)(size | 128);
	length[1] = (char)(size >> 7 | 128);
	length[2] = (char)(size >> 14 | 128);
	length[3] = (char)(size >> 21 & 127);
}

/**
 * struct pb_field - a field that was read
 * @number: of the field
 * @type: of its value
 * @value: of PB_VARINT; else 0
 * @data: of PB_BYTES; else NULL
 * @size: bytes of @data
 */
struct pb_field {
	uint64_t number;
	enum pb_type type;
	uint64_t value;
	const char *data;
	size_t size;
};

/** pb_get_varint() - read a number before @end; return its end, or NULL */
static inline const char *pb_get_varint(const char *from, const char *end, uint64_t *value)
{
	unsigned int shift;

	*value = 0;
	for (shift = 0; from < end && shift < 64; shift += 7) {
		*value |= (uint64_t)(*from & 127) << shift;
		if (!(*from++ & 128))
			return from;
	}
	return NULL;
}

/**
 * pb_next() - read a field of a message, which may be anything
 * @from: where to read; set to the end of the field
 * @end: of the message
 * @field: filled in
 *
 * Return: 1; 0 at the end; -EBADMSG: this is no message.
 */
static inline int pb_next(const char **from, const char *end, struct pb_field *field)
{
	const char *at = *from;
	uint64_t tag, size = 0;

	if (at == end)
		return 0;
	memset(field, 0, sizeof(*field));
	at = pb_get_varint(at, end, &tag);
	if (!at || !(tag >> 3))
		return -EBADMSG;
	field->number = tag >> 3;
	field->type = tag & 7;
	switch (field->type) {
	case PB_VARINT:
		at = pb_get_varint(at, end, &field->value);
		break;
	case PB_FIXED64:
		size = 8;
		break;
	case PB_FIXED32:
		size = 4;
		break;
	case PB_BYTES:
		at = pb_get_varint(at, end, &size);
		field->data = at;
		field->size = size;
		break;
	default:
		return -EBADMSG;
	}
	if (!at || size > (uint64_t)(end - at))
		return -EBADMSG;
	*from = at + size;
	return 1;
}

#endif /* PROTOBUF_H */
