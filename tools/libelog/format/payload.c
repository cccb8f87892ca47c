// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Composing payloads.
 *
 * The fixed part grows from the start of the buffer. Dynamic data is parked at the end
 * of the buffer, each piece behind a header with the offset of its word.
 * elog_payload_end() moves the data down to the fixed part, which removes the headers,
 * and sets the words. So fields need not be counted in advance, and the number of
 * dynamic fields is not limited.
 *
 * A payload belongs to the thread that composes it.
 */
#include <errno.h>
#include <string.h>

#include "elog.h"

struct parked {
	uint32_t word;		/* offset of the __data_loc or __rel_loc word */
	uint16_t size;
	uint16_t relative;
};

#define DYNAMIC_MAX	0xffffU	/* what fits the word's size */

static void *take_fixed(struct elog_payload *payload, size_t size)
{
	void *room = payload->data + payload->fixed;

	if (payload->error)
		return NULL;
	if (size > payload->capacity - payload->fixed - payload->parked) {
		payload->error = -ENOBUFS;
		return NULL;
	}
	payload->fixed += size;
	return room;
}

void elog_payload_init(struct elog_payload *payload, void *buffer,
		       size_t capacity)
{
	payload->data = buffer;
	payload->capacity = capacity;
	payload->fixed = 0;
	payload->parked = 0;
	payload->error = 0;
	memset(payload->reserved, 0, sizeof(payload->reserved));
}

void elog_payload_raw(struct elog_payload *payload, const void *data,
		      size_t size)
{
	void *room = take_fixed(payload, size);

	if (room && size)
		memcpy(room, data, size);
}

void elog_payload_dynamic(struct elog_payload *payload, const void *data, size_t size,
			  bool relative)
{
	struct parked parked = {
		.word = (uint32_t)payload->fixed,
		.size = (uint16_t)size,
		.relative = relative,
	};
	unsigned char *room;

	if (size > DYNAMIC_MAX) {
		if (!payload->error)
			payload->error = -E2BIG;
		return;
	}
	if (!take_fixed(payload, sizeof(uint32_t)))
		return;
	if (sizeof(parked) + size >
	    payload->capacity - payload->fixed - payload->parked) {
		payload->error = -ENOBUFS;
		return;
	}
	payload->parked += sizeof(parked) + size;
	room = payload->data + payload->capacity - payload->parked;
	memcpy(room, &parked, sizeof(parked));
	if (size)
		memcpy(room + sizeof(parked), data, size);
}

ssize_t elog_payload_end(struct elog_payload *payload)
{
	size_t from = payload->capacity - payload->parked;
	size_t to = payload->fixed, offset;
	struct parked parked;
	uint32_t word;

	if (payload->error)
		return payload->error;
	while (from < payload->capacity) {
		memcpy(&parked, payload->data + from, sizeof(parked));
		from += sizeof(parked);
		offset = parked.relative ? to - parked.word - sizeof(word) : to;
		if (offset > DYNAMIC_MAX) {
			payload->error = -E2BIG;
			return payload->error;
		}
		memmove(payload->data + to, payload->data + from, parked.size);
		word = (uint32_t)parked.size << 16 | (uint32_t)offset;
		memcpy(payload->data + parked.word, &word, sizeof(word));
		from += parked.size;
		to += parked.size;
	}
	payload->fixed = to;
	payload->parked = 0;
	if (to > EVENTLOG_PAYLOAD_MAX)
		payload->error = -E2BIG;
	return payload->error ? payload->error : (ssize_t)to;
}
