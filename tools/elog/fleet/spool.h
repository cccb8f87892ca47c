/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading the files of a capture as bytes, from the oldest one on, while elog capture
 * writes and rotates them. It only reads, so it never disturbs the capture.
 *
 * A file is divided into chunks in a way that depends only on what it contains, so that a
 * reader that starts again, also after a crash, gets the same chunks. A chunk ends behind a
 * SYNC or END block, before a FILE block, and before a block that would make it larger than
 * SPOOL_CHUNK_MAX. A larger block is divided. Incomplete and damaged blocks are sent as they
 * are, when they cannot become complete any more.
 *
 * For one thread; no locks.
 */
#ifndef SPOOL_H
#define SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPOOL_CHUNK_MAX		(256U << 10)
#define SPOOL_ID_BYTES		33	/* of a file's id, with the NUL */
#define SPOOL_SUBJECT_BYTES	192
#define SPOOL_GAP		"?"	/* as the id of the file before: not known */

struct spool;

/**
 * struct spool_chunk - bytes of a file
 * @file: identifies the file on all machines
 * @previous: the file before it; "": none; SPOOL_GAP: files may be missing before it
 * @previous_size: bytes of that file
 * @subject: elog.MACHINE.BOOT.NAME
 * @offset: in the file
 * @size: bytes
 */
struct spool_chunk {
	char file[SPOOL_ID_BYTES];
	char previous[SPOOL_ID_BYTES];
	uint64_t previous_size;
	char subject[SPOOL_SUBJECT_BYTES];
	uint64_t offset;
	size_t size;
};

/**
 * struct spool_position - where to continue
 * @file: the file; "": at the oldest file
 * @offset: of a chunk in it
 * @previous: as spool_chunk.previous, which the first chunk of the file needs again
 * @previous_size: bytes of that file
 */
struct spool_position {
	char file[SPOOL_ID_BYTES];
	uint64_t offset;
	char previous[SPOOL_ID_BYTES];
	uint64_t previous_size;
};

/**
 * spool_open() - start to read a capture
 * @spool: set
 * @path: the file of -o, which need not exist yet
 * @part: which of the files of --writers
 *
 * Return: 0 or -ENOMEM.
 */
int spool_open(struct spool **spool, const char *path, unsigned int part);

/** spool_close() - free it; NULL is allowed */
void spool_close(struct spool *spool);

/** spool_name() - the name of the newest file */
const char *spool_name(const struct spool *spool);

/** spool_resume() - continue at a position; before the first spool_next() */
void spool_resume(struct spool *spool, const struct spool_position *position);

/** spool_since() - start with the first file that was written at this time or later */
void spool_since(struct spool *spool, int64_t realtime);

/**
 * spool_next() - get the next chunk
 * @spool: the spool
 * @data: room for SPOOL_CHUNK_MAX bytes; filled in
 * @chunk: filled in
 *
 * A file without a valid beginning is skipped, and counted as a gap, unless it is the newest.
 *
 * Return: 1; 0 there is none yet; or a negative errno: a file cannot be read.
 */
int spool_next(struct spool *spool, void *data, struct spool_chunk *chunk);

/** spool_searches() - has it not found the file to read next yet, although there may be one? */
bool spool_searches(const struct spool *spool);

/** spool_position() - what spool_next() reads next */
void spool_position(const struct spool *spool, struct spool_position *position);

/** spool_lag() - bytes that spool_next() has not read yet, in all files */
uint64_t spool_lag(const struct spool *spool);

/** spool_gaps() - how often files may have been removed or replaced before they were read */
uint64_t spool_gaps(const struct spool *spool);

#endif /* SPOOL_H */
