/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Finding where to begin to read: see seek.c.
 */
#ifndef LIBELOG_SEEK_H
#define LIBELOG_SEEK_H

#include "file/blocks.h"

/**
 * elog_file_block_at() - read a block from where it is said to be
 * @fd: the file
 * @offset: in it
 * @most: bytes of the body as it is stored
 * @header: filled in, in this machine's order
 * @body: set to the body, which the caller frees; NULL after an error
 *
 * Return: 0; -EBADMSG there is none whose checksums are right, or a larger one;
 * -ENOMEM; a negative errno of pread(2).
 */
int elog_file_block_at(int fd, uint64_t offset, uint32_t most,
		       struct elog_block_header *header, unsigned char **body);

/**
 * struct elog_seek_plan - how to begin to read in the middle
 * @base: where the file begins for the reader; all other offsets are from there
 * @part: of the FILE block of the part to begin with
 * @position: where to read on behind the SYNC block that says @wall_offset;
 *	0: from @part on
 * @wall_offset: CLOCK_REALTIME - CLOCK_MONOTONIC there, ns
 * @blocks: of what is to be read before, SCHEMA and PROCESSES blocks, ascending
 * @block_count: of @blocks
 * @cpus: where their rings are, and what was lost: struct elog_block_cpu as they
 *	are stored
 * @cpu_count: of @cpus
 * @bytes_read: to find this out
 */
struct elog_seek_plan {
	uint64_t base;
	uint64_t part;
	uint64_t position;
	int64_t wall_offset;
	uint64_t *blocks;
	size_t block_count;
	void *cpus;
	size_t cpu_count;
	uint64_t bytes_read;
};

/**
 * elog_seek_plan() - find where to begin
 * @plan: filled in, for elog_seek_plan_free() in any case
 * @fd: the file, from where it stands on, where it is left
 * @from: CLOCK_REALTIME ns: what is earlier may be left out
 *
 * Return: 0, also for what cannot be sought in: then at its beginning; -ENOMEM; a
 * negative errno of pread(2).
 */
int elog_seek_plan(struct elog_seek_plan *plan, int fd, uint64_t from);

/** elog_seek_plan_free() - free what it has */
void elog_seek_plan_free(struct elog_seek_plan *plan);

#endif /* LIBELOG_SEEK_H */
