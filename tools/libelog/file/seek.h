/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Finding where to start reading: see seek.c.
 */
#ifndef LIBELOG_SEEK_H
#define LIBELOG_SEEK_H

#include "file/blocks.h"

/**
 * elog_block_at() - read the block at an offset
 * @fd: the file
 * @offset: in it
 * @most: largest size of the stored body
 * @header: filled in, in native byte order
 * @body: set to the stored body, which the caller frees; NULL after an error
 *
 * Return: 0; -EBADMSG there is no valid block, or it is too large; -ENOMEM; a negative
 * errno of pread(2).
 */
int elog_block_at(int fd, uint64_t offset, uint32_t most,
		       struct elog_block_header *header, unsigned char **body);

/**
 * struct elog_seek_plan - how to start in the middle
 * @base: where the file begins for the reader; other offsets are from there
 * @part: of the FILE block of the first part to read
 * @position: where to continue, behind the SYNC block that has @wall_offset; 0: continue
 *	from @part
 * @wall_offset: CLOCK_REALTIME - CLOCK_MONOTONIC there, ns
 * @blocks: SCHEMA and PROCESSES blocks to read before, in ascending order
 * @block_count: elements of @blocks
 * @streams: positions and losses: struct elog_block_stream in the stored form
 * @stream_count: elements of @streams
 * @causes: counts of losses in each of them
 * @fixed_size: bytes of each before the counts
 * @bytes_read: by the search
 */
struct elog_seek_plan {
	uint64_t base;
	uint64_t part;
	uint64_t position;
	int64_t wall_offset;
	uint64_t *blocks;
	size_t block_count;
	void *streams;
	size_t stream_count;
	uint32_t causes;
	uint32_t fixed_size;
	uint64_t bytes_read;
};

/**
 * elog_seek_plan() - find out where to start
 * @plan: filled in; call elog_seek_plan_free() in any case
 * @fd: the file; its current position is the beginning, and does not change
 * @from: CLOCK_REALTIME ns: earlier records may be omitted
 *
 * Return: 0, also if @fd is not seekable: then the plan starts at the beginning;
 * -ENOMEM; a negative errno of pread(2).
 */
int elog_seek_plan(struct elog_seek_plan *plan, int fd, uint64_t from);

/** elog_seek_plan_free() - free the memory of a plan */
void elog_seek_plan_free(struct elog_seek_plan *plan);

#endif /* LIBELOG_SEEK_H */
