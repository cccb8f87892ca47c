// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Starting to read in the middle of a file, at the place that seek.c finds, in the same
 * state as if everything before had been read.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elog.h"
#include "file/reader.h"
#include "file/seek.h"

/* Apply a block at another place than the input's. Return: 0 or a negative errno. */
static int apply_at(struct elog_reader *reader, uint64_t base,
		    uint64_t offset, uint32_t types)
{
	struct elog_block_header header;
	struct elog_item item;
	unsigned char *body;
	int ret;

	ret = elog_block_at(reader->input.fd, base + offset, ELOG_BLOCK_MAX,
				 &header, &body);
	if (ret)
		return ret;
	reader->input.bytes_read += sizeof(header) + header.size;
	elog_block_set(reader, &header, body, offset);
	reader->block.preloaded = true;
	ret = header.type < 32 && 1U << header.type & types ?
	      elog_block_apply(reader, &item) : -EBADMSG;
	free(body);
	reader->block.there = false;
	return ret;
}

/* Set the position of a stream from an INDEX block. Return: 0 or a negative errno. */
static int set_stream(struct elog_reader *reader, const unsigned char *stored,
		      const struct elog_seek_plan *plan)
{
	struct elog_ring_reader *ring = &reader->no_ring;
	struct elog_block_stream entry;
	struct stream *stream;
	unsigned int i;

	memcpy(&entry, stored, sizeof(entry));
	entry.stream = le32toh(entry.stream);
	entry.position = le64toh(entry.position);
	if (entry.stream != ELOG_STREAM_NONE) {
		if (entry.stream >= ELOG_FILE_STREAMS_MAX)
			return -EBADMSG;
		stream = elog_stream_get(reader, entry.stream);
		if (!stream)
			return -ENOMEM;
		ring = &stream->ring;
		stream->known = entry.position != UINT64_MAX;
		stream->position = entry.position;
		stream->gaps = reader->gaps;
	}
	memcpy(ring->lost, stored + plan->fixed_size, plan->causes * sizeof(ring->lost[0]));
	for (i = 0; i < plan->causes; i++)
		ring->lost[i] = le64toh(ring->lost[i]);
	return 0;
}

/* Get into the state behind the plan's position. */
static int begin_at(struct elog_reader *reader,
		    const struct elog_seek_plan *plan)
{
	size_t i;
	int ret;

	ret = apply_at(reader, plan->base, plan->part, 1U << ELOG_BLOCK_FILE);
	for (i = 0; !ret && i < plan->block_count; i++) {
		ret = apply_at(reader, plan->base, plan->blocks[i],
			       1U << ELOG_BLOCK_SCHEMA |
			       1U << ELOG_BLOCK_PROCESSES |
			       1U << ELOG_BLOCK_INSTANCE);
		/* Overlapping blocks could be more than the file. */
		if (reader->input.bytes_read > plan->bytes_read + plan->position)
			ret = -EBADMSG;
	}
	for (i = 0; !ret && i < plan->stream_count; i++)
		ret = set_stream(reader, (const unsigned char *)plan->streams +
				 i * elog_block_entry_size(plan->fixed_size, plan->causes),
				 plan);
	/* The first SYNC is before this. */
	reader->continues = false;
	reader->wall_offset = plan->wall_offset;
	/* END counts the omitted records, too. */
	reader->counted = false;
	reader->any = true;
	return ret;
}

/* Get into the state of a new reader. */
static int begin_again(struct elog_reader *reader)
{
	int ret;

	ret = elog_part_start(reader);
	free(reader->info);
	reader->info = NULL;
	reader->wall_offset = 0;
	reader->in_part = false;
	reader->any = false;
	reader->new_part = false;
	reader->damages = 0;
	reader->gaps = 0;
	reader->part_damages = 0;
	memset(reader->damage, 0, sizeof(reader->damage));
	reader->damaged = false;
	return ret;
}

int elog_reader_seek(struct elog_reader *reader, uint64_t from)
{
	struct elog_seek_plan plan;
	uint64_t at;
	int ret;

	if (reader->input.bytes_read || reader->over)
		return -EINVAL;
	if (reader->input.callback.read)
		return 0;
	ret = elog_seek_plan(&plan, reader->input.fd, from);
	if (ret && ret != -ENOMEM) {
		/* The index cannot be read: do not seek. */
		elog_seek_plan_free(&plan);
		return ret;
	}
	reader->input.bytes_read = plan.bytes_read;
	at = plan.part;
	if (!ret && plan.position) {
		ret = begin_at(reader, &plan);
		if (!ret) {
			at = plan.position;
		} else if (ret != -ENOMEM) {
			/* A block differs from the index: read everything. */
			at = 0;
			ret = begin_again(reader);
		}
	}
	if (!ret && at) {
		if (lseek(reader->input.fd, (off_t)(plan.base + at), SEEK_SET) < 0)
			ret = -errno;
		reader->input.offset = at;
	}
	elog_seek_plan_free(&plan);
	if (ret)
		reader->error = ret;
	return ret;
}
