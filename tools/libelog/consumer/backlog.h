/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Records that were taken off the rings and are not read yet: see backlog.c.
 */
#ifndef LIBELOG_BACKLOG_H
#define LIBELOG_BACKLOG_H

#include "elog.h"
#include "format/merge.h"

/**
 * struct elog_chunk - records of one CPU, one behind the other
 * @next: of those that wait; for who has it, to use
 * @serial: those made later have larger ones
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
 * elog_backlog_open() - begin to take records off rings
 * @backlog: set to the new backlog, whose thread runs
 * @fd: the subscriber
 * @cpus: the rings that there may be
 * @bytes: how many of each may wait
 * @watermark: so many bytes of one end elog_backlog_wait()
 * @processes: told the names of threads, by elog_backlog_next(); or NULL
 *
 * The reader's functions are all others but those that say otherwise.
 *
 * Return: 0, or a negative errno.
 */
int elog_backlog_open(struct elog_backlog **backlog, int fd, unsigned int cpus,
		      uint64_t bytes, uint64_t watermark,
		      struct elog_processes *processes);

/** elog_backlog_close() - end its thread, free everything; NULL is fine */
void elog_backlog_close(struct elog_backlog *backlog);

/**
 * elog_backlog_add() - there is a ring
 * @backlog: the backlog
 * @ring: over it; copied
 * @header: mapped until the backlog is closed, as is
 * @consumer: what the kernel is told there
 */
void elog_backlog_add(struct elog_backlog *backlog,
		      const struct elog_ring_reader *ring,
		      const struct eventlog_ring_header *header,
		      struct eventlog_ring_consumer *consumer);

/**
 * elog_backlog_next() - go on to the next records of a ring
 * @backlog: the backlog
 * @cpu: the ring's; all that was got of it before was read
 * @chunk: set to them, for elog_backlog_free()
 *
 * If none wait they come from the ring itself.
 *
 * Return: 1; 0 there are none; -EBADMSG the ring was damaged, go on; -ENOMEM.
 */
int elog_backlog_next(struct elog_backlog *backlog, unsigned int cpu,
		      struct elog_chunk **chunk);

/** elog_backlog_free() - give back chunks: @chunks and all that are ->next */
void elog_backlog_free(struct elog_backlog *backlog, struct elog_chunk *chunks);

/** elog_backlog_pending() - has elog_backlog_next() anything to say? */
bool elog_backlog_pending(struct elog_backlog *backlog, unsigned int cpu);

/**
 * elog_backlog_wait() - sleep until a ring was at its watermark, or something lost
 * @backlog: the backlog
 * @limit: how long; NULL: for ever
 * @mask: as for ppoll(2)
 *
 * Return: 1, 0, or a negative errno, as elog_consumer_wait().
 */
int elog_backlog_wait(struct elog_backlog *backlog, const struct timespec *limit,
		      const sigset_t *mask);

/**
 * elog_backlog_definition() - the definition of an event that was read or waits
 * @backlog: the backlog
 * @request: the descriptor; filled in
 * @text: set to its schema, which the caller frees
 *
 * Return: 0; -ENOENT there was none, or nobody looked; -ENOMEM.
 */
int elog_backlog_definition(struct elog_backlog *backlog,
			    struct eventlog_describe *request, char **text);

#endif /* LIBELOG_BACKLOG_H */
