/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The INDEX blocks of a writer: see index.c.
 */
#ifndef LIBELOG_INDEX_H
#define LIBELOG_INDEX_H

#include "file/blocks.h"

struct elog_index_stream {
	bool there;
	uint32_t cpu;
	uint64_t position;	/* UINT64_MAX: not known */
	uint64_t lost[ELOG_LOST_CAUSES_MAX];
};

/**
 * struct elog_index_info - properties of a sequence of records
 * @newest: no record is later than this, CLOCK_MONOTONIC ns
 * @lost: losses by cause that the stream's records report so far, including these
 * @lost_count: elements of @lost
 */
struct elog_index_info {
	uint64_t newest;
	const uint64_t *lost;
	uint32_t lost_count;
};

/**
 * struct elog_index - the data for INDEX blocks
 * @interval: bytes of the file between two checkpoints
 * @due: size of the file at which the next checkpoint is due
 * @given_up: write no more INDEX blocks
 * @last: offset of the last INDEX block, 0: none
 * @latest: CLOCK_REALTIME ns: nothing written so far is later
 * @newest: the newest time of records, CLOCK_MONOTONIC ns
 * @wall_offset: of the last SYNC block, or of FILE
 * @blocks: offsets of SCHEMA and PROCESSES blocks since the last checkpoint, in the
 *	stored form
 * @block_count: elements of @blocks
 * @block_room: room for @blocks
 * @streams: the first is ELOG_STREAM_NONE
 * @stream_room: elements of @streams
 * @causes: counts of losses that were passed so far, of each stream
 * @body: of the next INDEX block; NULL: there is no checkpoint
 * @body_size: bytes of @body
 * @body_newest: @newest at the checkpoint
 * @body_latest: as @latest, for everything before the checkpoint
 */
struct elog_index {
	uint64_t interval;
	uint64_t due;
	bool given_up;
	uint64_t last;
	uint64_t latest;
	uint64_t newest;
	int64_t wall_offset;
	uint64_t *blocks;
	size_t block_count;
	size_t block_room;
	struct elog_index_stream *streams;
	size_t stream_room;
	uint32_t causes;
	unsigned char *body;
	size_t body_size;
	uint64_t body_newest;
	uint64_t body_latest;
};

/** elog_index_init() - start an index; FILE was written with @wall_offset */
void elog_index_init(struct elog_index *index, int64_t wall_offset);

/** elog_index_free() - free the data */
void elog_index_free(struct elog_index *index);

/** elog_index_block() - note that a SCHEMA, PROCESSES or INSTANCE block was written at @offset */
void elog_index_block(struct elog_index *index, uint64_t offset);

/** elog_index_records() - note that @size bytes of a stream at @position were written */
void elog_index_records(struct elog_index *index, uint32_t cpu, uint32_t stream,
			const void *data, size_t size, uint64_t position,
			const struct elog_index_info *info);

/** elog_index_losses() - note that a SYNC block with these losses of a stream was written */
void elog_index_losses(struct elog_index *index, uint32_t cpu, uint32_t stream,
		       const uint64_t *lost, uint32_t count);

/**
 * elog_index_sync() - note that a SYNC block was written
 * @index: the index
 * @sync: its offset
 * @position: the offset behind it
 * @time: its time
 * @wall_offset: its CLOCK_REALTIME - CLOCK_MONOTONIC
 *
 * Return: true if an INDEX block must be written now.
 */
bool elog_index_sync(struct elog_index *index, uint64_t sync, uint64_t position,
		     uint64_t time, int64_t wall_offset);

/**
 * elog_index_finish() - complete the body of the INDEX block
 * @index: the index
 * @offset: of the block
 * @size: set to bytes of the body
 *
 * Return: the body, valid until elog_index_written().
 */
const void *elog_index_finish(struct elog_index *index, uint64_t offset,
			      size_t *size);

/** elog_index_written() - note that the INDEX block was written at @offset */
void elog_index_written(struct elog_index *index, uint64_t offset);

/** elog_index_end() - fill in the members of END, which will be at @offset */
void elog_index_end(const struct elog_index *index, uint64_t offset,
		    struct elog_block_end *end);

/** elog_wall_time() - get @time + @offset, without overflow */
uint64_t elog_wall_time(uint64_t time, int64_t offset);

/** elog_writer_interval() - set the bytes between checkpoints, for tests */
void elog_writer_interval(struct elog_writer *writer, uint64_t bytes);

#endif /* LIBELOG_INDEX_H */
