// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Holding the records of a file, by stream, until a SYNC block says what is complete, and
 * merging them in batches, as a consumer does with rings.
 *
 * Memory: the held records have a limit, and so has the memory kept for later blocks.
 * No locks and nothing global: a reader belongs to one thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elog.h"
#include "file/reader.h"
#include "file/swap.h"
#include "util/util.h"

#define SPARE_BYTES_MAX	(4U << 20)	/* of all spares */

/*
 * Blocks are similar. Without spares, the C library would return their memory to the
 * kernel, and get it again page by page.
 */
void elog_chunks_free(struct elog_reader *reader, struct chunk **list)
{
	struct chunk *chunk;

	while ((chunk = *list)) {
		*list = chunk->next;
		reader->chunk_bytes -= chunk->room + sizeof(*chunk);
		if (reader->over || reader->spare_count == SPARES_MAX ||
		    chunk->room > SPARE_BYTES_MAX - reader->spare_bytes) {
			free(chunk);
			continue;
		}
		reader->spare_bytes += chunk->room;
		reader->spares[reader->spare_count++] = chunk;
	}
}

static struct chunk *take_spare(struct elog_reader *reader, size_t number)
{
	struct chunk *chunk = reader->spares[number];

	reader->spare_bytes -= chunk->room;
	reader->spare_count--;
	memmove(reader->spares + number, reader->spares + number + 1,
		(reader->spare_count - number) * sizeof(*reader->spares));
	return chunk;
}

void elog_spares_free(struct elog_reader *reader)
{
	while (reader->spare_count)
		free(take_spare(reader, reader->spare_count - 1));
}

/* Use the latest spare of a suitable size, or new memory. */
static struct chunk *new_chunk(struct elog_reader *reader, size_t size)
{
	struct chunk *chunk;
	size_t i;

	for (i = reader->spare_count; i--; ) {
		chunk = reader->spares[i];
		if (chunk->room >= size && chunk->room / 4 <= size)
			return take_spare(reader, i);
	}
	/* Replace the oldest spare, which may have the wrong size. */
	if (reader->spare_count)
		free(take_spare(reader, 0));
	chunk = malloc(sizeof(*chunk) + size + size / 16);
	if (chunk)
		chunk->room = size + size / 16;
	return chunk;
}

void elog_streams_forget(struct elog_reader *reader)
{
	size_t i;

	for (i = 0; i < reader->stream_count; i++) {
		if (!reader->streams[i])
			continue;
		elog_chunks_free(reader, &reader->streams[i]->first);
		free(reader->streams[i]);
		reader->streams[i] = NULL;
	}
	reader->stream_count = 0;
	memset(reader->no_ring.lost, 0, sizeof(reader->no_ring.lost));
}

static int make_room_for_stream(struct elog_reader *reader, unsigned int number)
{
	unsigned int room = reader->stream_room ? reader->stream_room : 8;
	struct elog_ring_reader **rings;
	struct stream **streams;

	if (number < reader->stream_room)
		return 0;
	while (room <= number)
		room *= 2;
	rings = realloc(reader->merge.rings, room * sizeof(*rings));
	if (!rings)
		return -ENOMEM;
	reader->merge.rings = rings;
	streams = realloc(reader->streams, room * sizeof(*streams));
	if (!streams)
		return -ENOMEM;
	reader->streams = streams;
	memset(streams + reader->stream_room, 0,
	       (room - reader->stream_room) * sizeof(*streams));
	reader->stream_room = room;
	return 0;
}

struct stream *elog_stream_get(struct elog_reader *reader, unsigned int number)
{
	struct stream *stream;

	if (make_room_for_stream(reader, number))
		return NULL;
	stream = reader->streams[number];
	if (stream)
		return stream;
	stream = calloc(1, sizeof(*stream));
	if (!stream)
		return NULL;
	/* A block is like a ring that is read once, from its beginning. */
	stream->ring.data_bytes = 1ULL << 63;
	stream->ring.sub_buffer_bytes = 1ULL << 63;
	stream->ring.cpu = EVENTLOG_CPU_UNKNOWN;
	stream->ring.stream = number;
	reader->streams[number] = stream;
	if (number >= reader->stream_count)
		reader->stream_count = number + 1;
	return stream;
}

int elog_stream_append(struct elog_reader *reader, struct stream *stream, unsigned int cpu,
		       const char *instance, const unsigned char *data, size_t size)
{
	struct chunk *chunk = new_chunk(reader, size);

	if (!chunk)
		return -ENOMEM;
	chunk->next = NULL;
	chunk->offset = reader->block.offset;
	chunk->cpu = cpu;
	chunk->instance = instance;
	chunk->swapped = (reader->block.flags & ELOG_BLOCK_BIG_ENDIAN) !=
			ELOG_BLOCK_NATIVE;
	chunk->size = size;
	memcpy(chunk->data, data, size);
	reader->chunk_bytes += sizeof(*chunk) + chunk->room;
	if (stream->first)
		stream->last->next = chunk;
	else
		stream->first = chunk;
	stream->last = chunk;
	return 0;
}

bool elog_streams_hold(const struct elog_reader *reader)
{
	size_t i;

	for (i = 0; i < reader->stream_count; i++)
		if (reader->streams[i] && reader->streams[i]->first)
			return true;
	return false;
}

/* Continue with a stream's next chunk. Return: false if there is none. */
static bool next_chunk(struct elog_reader *reader, struct stream *stream)
{
	struct chunk *used = stream->first;

	if (stream->begun) {
		stream->first = used->next;
		used->next = reader->spent;
		reader->spent = used;
		stream->begun = false;
	}
	if (!stream->first)
		return false;
	stream->begun = true;
	stream->ring.data = stream->first->data;
	stream->ring.cpu = stream->first->cpu;
	stream->ring.swapped = stream->first->swapped;
	stream->instance = stream->first->instance;
	stream->ring.position = 0;
	stream->ring.end = stream->first->size;
	return true;
}

/* Add a stream to the batch, with the chunk that has its next record. */
static void join(struct elog_reader *reader, struct stream *stream)
{
	uint64_t from;
	int ret;

	do {
		from = stream->ring.position;
		ret = elog_merge_add(&reader->merge, &stream->ring, reader->before);
		if (ret < 0)
			elog_damage_note(reader, ELOG_DAMAGE_RECORDS,
					 stream->first->offset, stream->ring.end - from);
	} while (ret <= 0 && stream->ring.position == stream->ring.end &&
		 next_chunk(reader, stream));
}

void elog_batch_start(struct elog_reader *reader, uint64_t before, bool final)
{
	size_t i;

	reader->before = before;
	reader->final = final;
	reader->drained = true;
	reader->merging = true;
	reader->merge.count = 0;
	for (i = 0; i < reader->stream_count; i++)
		if (reader->streams[i] && reader->streams[i]->first)
			join(reader, reader->streams[i]);
}

bool elog_batch_drain(struct elog_reader *reader)
{
	if (reader->drained || !elog_streams_hold(reader))
		return false;
	elog_batch_start(reader, UINT64_MAX, true);
	return true;
}

/* Records of the largest possible time are in no batch. */
static void end_batch(struct elog_reader *reader)
{
	struct stream *stream;
	size_t i;

	reader->merging = false;
	for (i = 0; reader->final && i < reader->stream_count; i++) {
		stream = reader->streams[i];
		if (!stream || !stream->first)
			continue;
		do {
			if (stream->begun)
				elog_damage_note(reader, ELOG_DAMAGE_RECORDS,
						 stream->first->offset,
						 stream->ring.end - stream->ring.position);
		} while (next_chunk(reader, stream));
		stream->ring.position = stream->ring.end;
		stream->last = NULL;
		stream->ring.key = 0;
	}
}

/*
 * A payload is in a held chunk, and is returned once. So change it in place. A payload
 * without schema is not changed. Return: 0 or -ENOMEM.
 */
static int swap_payload(struct elog_reader *reader,
			const struct elog_item *item)
{
	const struct elog_schema_event *event;
	int ret;

	ret = elog_reader_describe(reader, item->descriptor, &event);
	if (!ret)
		elog_swap_payload(event, (unsigned char *)item->payload,
				  item->payload_size);
	return ret == -ENOMEM ? ret : 0;
}

int elog_batch_next(struct elog_reader *reader, struct elog_item *item)
{
	struct elog_ring_reader *ring;
	bool news, swapped;
	struct stream *stream;
	size_t count;
	int ret;

	while ((ring = elog_merge_first(&reader->merge))) {
		uint64_t from;

		stream = elog_container_of(ring, struct stream, ring);
		news = elog_ring_take(ring, item);
		item->instance = stream->instance;
		swapped = ring->swapped;
		from = ring->position;
		count = reader->merge.count;
		ret = elog_merge_update(&reader->merge, reader->before);
		if (ret < 0)
			elog_damage_note(reader, ELOG_DAMAGE_RECORDS,
					 stream->first->offset, ring->end - from);
		if (reader->merge.count < count && ring->position == ring->end &&
		    next_chunk(reader, stream))
			join(reader, stream);
		if (!news)
			continue;
		if (item->type != ELOG_ITEM_EVENT)
			return 1;
		reader->records++;
		ret = swapped ? swap_payload(reader, item) : 0;
		return ret ? ret : 1;
	}
	end_batch(reader);
	return 0;
}
