/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Records that were taken from the rings and have not been read yet: see backlog.c.
 */
#ifndef LIBELOG_BACKLOG_H
#define LIBELOG_BACKLOG_H

#include "elog.h"
#include "format/merge.h"
#include "util/own_file.h"

/**
 * struct elog_chunk - a sequence of records of one ring
 * @next: in a queue; then for its owner
 * @serial: increases with each new chunk
 * @size: bytes of records
 * @capacity: of @data
 * @data: the records
 */
struct elog_chunk {
	struct elog_chunk *next;
	uint64_t serial;
	size_t size;
	size_t capacity;
	unsigned char data[] __attribute__((aligned(8)));
};

struct elog_backlog;

/**
 * elog_backlog_open() - start to take records from rings
 * @backlog: set to the new backlog, whose thread runs
 * @file: of the subscriber
 * @rings: the largest number of rings
 * @bytes: limit of waiting bytes, for each ring
 * @watermark: taken bytes of one ring that end elog_backlog_wait()
 * @processes: gets the names of threads, by elog_backlog_next(); or NULL
 *
 * All other functions belong to the reader, unless they say otherwise.
 *
 * Return: 0, or a negative errno.
 */
int elog_backlog_open(struct elog_backlog **backlog, const struct elog_own_file *file,
		      unsigned int rings, uint64_t bytes, uint64_t watermark,
		      struct elog_processes *processes);

/** elog_backlog_close() - end the thread and free everything; may be NULL */
void elog_backlog_close(struct elog_backlog *backlog);

/**
 * elog_backlog_add() - add a ring
 * @backlog: the backlog
 * @ring: reads the ring; copied
 * @header: mapped until the backlog is closed
 * @consumer: the page that the consumer writes, mapped as long as @header
 */
void elog_backlog_add(struct elog_backlog *backlog,
		      const struct elog_ring_reader *ring,
		      const struct eventlog_ring_header *header,
		      struct eventlog_ring_consumer *consumer);

/**
 * elog_backlog_next() - get the next chunk of a ring
 * @backlog: the backlog
 * @ring: its number; its previous chunk has been read
 * @chunk: set to the chunk, for elog_backlog_free()
 *
 * If no chunk waits, takes records from the ring itself.
 *
 * Return: 1; 0 there is none; -EBADMSG the ring was damaged, and the call may be
 * repeated; -ENOMEM.
 */
int elog_backlog_next(struct elog_backlog *backlog, unsigned int ring,
		      struct elog_chunk **chunk);

/** elog_backlog_free() - free a list of chunks */
void elog_backlog_free(struct elog_backlog *backlog, struct elog_chunk *chunks);

/** elog_backlog_pending() - has elog_backlog_next() anything to return? */
bool elog_backlog_pending(struct elog_backlog *backlog, unsigned int ring);

/**
 * elog_backlog_wait() - sleep until a ring is at its watermark, or has lost events
 * @backlog: the backlog
 * @milliseconds: at most; -1: no limit
 * @mask: as for ppoll(2)
 *
 * Return: 1, 0, or a negative errno, as elog_consumer_wait().
 */
int elog_backlog_wait(struct elog_backlog *backlog, int milliseconds, const sigset_t *mask);

/** elog_backlog_wake() - end elog_backlog_wait(); for any thread */
void elog_backlog_wake(struct elog_backlog *backlog);

/**
 * elog_backlog_definition() - get the definition of an event that was read or waits
 * @backlog: the backlog
 * @request: its descriptor is set; the rest is filled in
 * @text: set to its schema, which the caller frees
 *
 * Return: 0; -ENOENT there is none, or it is not known; -ENOMEM.
 */
int elog_backlog_definition(struct elog_backlog *backlog,
			    struct eventlog_describe *request, char **text);

#endif /* LIBELOG_BACKLOG_H */
