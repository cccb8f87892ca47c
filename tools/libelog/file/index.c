// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The INDEX blocks of a writer, which let a reader start in the middle: see elog(5).
 *
 * From time to time, right behind a SYNC block, the writer takes a checkpoint: the
 * position and the losses of each stream, and the earlier blocks that a reader needs.
 * Records before the checkpoint may be later than the time of its SYNC. So the INDEX
 * block is written behind the first SYNC whose time is later than all of them. Then the
 * writer also knows the clocks for all records that the reader omits. The writer never
 * seeks back.
 *
 * If memory is short, or there are too many blocks to list, the part gets no further
 * INDEX blocks, and everything else works. No locks and nothing global: an index
 * belongs to one writer.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "elog.h"
#include "file/blocks.h"
#include "file/index.h"
#include "format/merge.h"

#define INTERVAL_BYTES	(1U << 20)
/* An INDEX block takes at most this fraction of the file. */
#define INTERVAL_TIMES	32

void elog_index_init(struct elog_index *index, int64_t wall_offset)
{
	memset(index, 0, sizeof(*index));
	index->interval = INTERVAL_BYTES;
	index->due = INTERVAL_BYTES;
	index->wall_offset = wall_offset;
}

void elog_index_free(struct elog_index *index)
{
	free(index->blocks);
	free(index->streams);
	free(index->body);
	index->blocks = NULL;
	index->streams = NULL;
	index->stream_room = 0;
	index->body = NULL;
}

static void give_up(struct elog_index *index)
{
	elog_index_free(index);
	index->given_up = true;
}

void elog_index_block(struct elog_index *index, uint64_t offset)
{
	size_t room = index->block_room ? 2 * index->block_room : 64;
	uint64_t *larger;

	if (index->given_up)
		return;
	if (index->block_count == index->block_room) {
		larger = room > ELOG_INDEX_BLOCKS_MAX ? NULL :
			 realloc(index->blocks, room * sizeof(*larger));
		if (!larger) {
			give_up(index);
			return;
		}
		index->blocks = larger;
		index->block_room = room;
	}
	index->blocks[index->block_count++] = htole64(offset);
}

/* ELOG_STREAM_NONE is the first one. Return: NULL if memory is short. */
static struct elog_index_stream *get_stream(struct elog_index *index, uint32_t cpu,
					    uint32_t stream)
{
	size_t number = stream == ELOG_STREAM_NONE ? 0 : (size_t)stream + 1, room;
	struct elog_index_stream *larger;

	if (number >= index->stream_room) {
		room = index->stream_room ? index->stream_room : 8;
		while (room <= number)
			room *= 2;
		larger = realloc(index->streams, room * sizeof(*larger));
		if (!larger) {
			give_up(index);
			return NULL;
		}
		memset(larger + index->stream_room, 0,
		       (room - index->stream_room) * sizeof(*larger));
		index->streams = larger;
		index->stream_room = room;
	}
	if (!index->streams[number].there)
		index->streams[number].position = UINT64_MAX;
	index->streams[number].there = true;
	index->streams[number].cpu = cpu;
	return &index->streams[number];
}

/* The counts only grow. */
static void raise_losses(struct elog_index *index, struct elog_index_stream *entry,
			 const uint64_t *lost, uint32_t count)
{
	uint32_t cause;

	for (cause = 0; cause < count; cause++)
		if (lost[cause] > entry->lost[cause])
			entry->lost[cause] = lost[cause];
	if (count > index->causes)
		index->causes = count;
}

void elog_index_records(struct elog_index *index, uint32_t cpu, uint32_t stream,
			const void *data, size_t size, uint64_t position,
			const struct elog_index_info *info)
{
	struct elog_ring_reader ring = {
		.data = data,
		.data_bytes = 1ULL << 63,
		.sub_buffer_bytes = 1ULL << 63,
		.end = size,
	};
	struct elog_index_stream *entry;
	struct elog_item item;
	uint32_t size_flags;

	entry = index->given_up ? NULL : get_stream(index, cpu, stream);
	if (!entry)
		return;
	entry->position = position + size;
	if (info) {
		ring.key = info->newest;
		raise_losses(index, entry, info->lost, info->lost_count);
		ring.position = ring.end;
	}
	while (elog_ring_peek(&ring) > 0) {
		memcpy(&size_flags, ring.data + ring.position, sizeof(size_flags));
		if (elog_record_type(size_flags) != EVENTLOG_RECORD_LOST) {
			ring.position += ring.size;
			continue;
		}
		elog_ring_take(&ring, &item);
		raise_losses(index, entry, ring.lost, item.lost_count);
	}
	if (ring.key > index->newest)
		index->newest = ring.key;
}

void elog_index_losses(struct elog_index *index, uint32_t cpu, uint32_t stream,
		       const uint64_t *lost, uint32_t count)
{
	struct elog_index_stream *entry = NULL;

	if (count && !index->given_up)
		entry = get_stream(index, cpu, stream);
	if (entry)
		raise_losses(index, entry, lost, count);
}

uint64_t elog_wall_time(uint64_t time, int64_t offset)
{
	uint64_t less = -(uint64_t)offset;

	if (offset < 0)
		return time > less ? time - less : 0;
	return time > UINT64_MAX - (uint64_t)offset ? UINT64_MAX :
						      time + (uint64_t)offset;
}

static void raise_to(uint64_t *latest, uint64_t time, int64_t offset)
{
	uint64_t wall = elog_wall_time(time, offset);

	if (wall > *latest)
		*latest = wall;
}

/* Take a checkpoint: fill in what is already known of the block. */
static void take(struct elog_index *index, uint64_t sync, uint64_t position,
		 uint64_t time)
{
	struct elog_block_index head = {
		.position = htole64(position),
		.sync = htole64(sync),
		.time = htole64(time),
		.blocks = htole32((uint32_t)index->block_count),
		.causes = htole32(index->causes),
		.fixed_size = htole32(sizeof(struct elog_block_stream)),
		.offset = htole32(sizeof(head)),
	};
	size_t size = sizeof(head) + index->block_count * sizeof(uint64_t), at, i;
	const struct elog_index_stream *from;
	struct elog_block_stream stream;
	uint32_t streams = 0, cause;
	uint64_t lost;

	for (i = 0; i < index->stream_room; i++)
		streams += index->streams[i].there;
	head.streams = htole32(streams);
	at = size;
	size += streams * elog_block_entry_size(sizeof(stream), index->causes);
	index->body = malloc(size);
	if (!index->body) {
		give_up(index);
		return;
	}
	index->body_size = size;
	memcpy(index->body, &head, sizeof(head));
	if (index->block_count)
		memcpy(index->body + sizeof(head), index->blocks,
		       index->block_count * sizeof(uint64_t));
	for (i = 0; i < index->stream_room; i++) {
		from = &index->streams[i];
		if (!from->there)
			continue;
		stream.cpu = htole32(from->cpu);
		stream.stream = htole32(i ? (uint32_t)i - 1 : ELOG_STREAM_NONE);
		stream.position = htole64(from->position);
		memcpy(index->body + at, &stream, sizeof(stream));
		at += sizeof(stream);
		for (cause = 0; cause < index->causes; cause++) {
			lost = htole64(from->lost[cause]);
			memcpy(index->body + at, &lost, sizeof(lost));
			at += sizeof(lost);
		}
	}
	index->block_count = 0;
	index->body_newest = index->newest;
	index->body_latest = index->latest;
	index->due = position + (INTERVAL_TIMES * size > index->interval ?
				 INTERVAL_TIMES * size : index->interval);
}

bool elog_index_sync(struct elog_index *index, uint64_t sync, uint64_t position,
		     uint64_t time, int64_t wall_offset)
{
	uint64_t newest = index->newest > time ? index->newest : time;

	/* A reader may return records before it has read this SYNC. */
	raise_to(&index->latest, newest, index->wall_offset);
	raise_to(&index->latest, newest, wall_offset);
	index->wall_offset = wall_offset;
	if (index->given_up)
		return false;
	if (!index->body && position >= index->due)
		take(index, sync, position, time);
	if (!index->body)
		return false;
	raise_to(&index->body_latest, index->body_newest, wall_offset);
	return time > index->body_newest;
}

const void *elog_index_finish(struct elog_index *index, uint64_t offset,
			      size_t *size)
{
	struct elog_block_index head;

	memcpy(&head, index->body, sizeof(head));
	head.part = htole64(offset);
	head.previous = htole64(index->last);
	head.latest = htole64(index->body_latest);
	memcpy(index->body, &head, sizeof(head));
	*size = index->body_size;
	return index->body;
}

void elog_index_written(struct elog_index *index, uint64_t offset)
{
	index->last = offset;
	free(index->body);
	index->body = NULL;
}

void elog_index_end(const struct elog_index *index, uint64_t offset,
		    struct elog_block_end *end)
{
	uint64_t latest = index->latest;

	raise_to(&latest, index->newest, index->wall_offset);
	/* Without the times of records, the latest time is not known. */
	if (index->given_up)
		latest = UINT64_MAX;
	end->part = htole64(offset);
	end->index = htole64(index->last);
	end->latest = htole64(latest);
}
