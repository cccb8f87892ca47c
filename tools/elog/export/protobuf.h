/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages of protocol buffers, appended to a text: all that an export needs of them.
 */
#ifndef PROTOBUF_H
#define PROTOBUF_H

#include <string.h>

#include "util/tool.h"

#define PB_VARINT_MAX	10	/* bytes */
#define PB_LENGTH_BYTES	4	/* of a message: room that is kept for its length */

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

/** pb_bytes() - append a field that is bytes, a string or a message */
static inline void pb_bytes(struct elog_text *text, unsigned int field, const void *data,
			    size_t size)
{
	char *room = elog_text_room(text, 2 * PB_VARINT_MAX + size);

	if (!room)
		return;
	room = pb_put_varint(room, field << 3 | 2);
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
	room = pb_put_varint(room, field << 3 | 2);
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

#endif /* PROTOBUF_H */
