/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The state of a consumer, which the files of this folder share: consumer.c subscribes,
 * ordered.c merges the rings in the order of time, raw.c hands out their bytes, part.c
 * divides the rings among threads.
 *
 * A consumer belongs to one thread, unless elog/consumer.h says otherwise. It uses no
 * locks and no global data.
 */
#ifndef LIBELOG_STATE_H
#define LIBELOG_STATE_H

#include "elog.h"
#include "consumer/backlog.h"
#include "consumer/flusher.h"
#include "consumer/names.h"
#include "consumer/ring.h"
#include "format/merge.h"
#include "unexported/consumer.h"
#include "util/map.h"
#include "util/own_file.h"
#include "util/util.h"

struct ring {
	struct elog_ring_reader reader;	/* with a backlog: over @chunk, from 0 */
	struct elog_chunk *chunk;
	const struct eventlog_ring_header *header;	/* NULL: not mapped */
	struct eventlog_ring_consumer *consumer;
	const unsigned char *meta;	/* metadata of the sub-buffers; NULL: none */
	uint64_t released;	/* the position that the kernel knows */
	uint64_t named;		/* time of the newest name of a thread */
};

enum batch_state {
	BATCH_NONE,
	BATCH_RECORDS,
	BATCH_LOSSES,
};

struct elog_consumer {
	struct elog_own_file file;
	int wake;			/* ends elog_consumer_wait(); -1: there is a backlog */
	struct eventlog_subscribe subscribed;
	uint32_t generation;		/* of the mapped rings */
	unsigned int part;		/* has the rings whose number modulo @parts is this */
	unsigned int parts;		/* 1: one consumer has all rings */
	struct ring *rings;		/* subscribed.rings of them */

	enum batch_state state;
	uint64_t time;			/* of the last flush */
	uint64_t before;		/* the batch has the records before this */
	struct elog_flusher *flusher;	/* NULL: elog_consumer_raw_flush_start() was not called */
	struct elog_merge merge;
	struct ring *pending;		/* the caller uses its last record */
	bool damaged;			/* to be reported by the next call */
	int error;			/* to be returned by the next call */
	struct elog_processes *processes;	/* get the names of threads; or NULL */
	struct elog_backlog *backlog;	/* NULL: there is no backlog; else it gets the names */
	struct elog_chunk *spent;	/* to be freed by the next call */
	unsigned int next_ring;		/* BATCH_LOSSES: to be read next */
	struct elog_ring_reader no_ring; /* losses of CPUs without ring */

	struct elog_map described;	/* descriptor to schema; NULL: it has an error */
	uint64_t described_generation;	/* number of calls of forget_described() */
	size_t described_bytes;
};

/* The number of the file; -1: the program has closed it, and the other files of the consumer. */
static inline int consumer_file(const struct elog_consumer *consumer)
{
	return elog_file_fd(&consumer->file);
}

/** elog_ring_of() - get the ring of a reader */
static inline struct ring *elog_ring_of(struct elog_ring_reader *reader)
{
	return elog_container_of(reader, struct ring, reader);
}

/** elog_ring_committed() - get the position up to which the ring is complete */
static inline uint64_t elog_ring_committed(const struct ring *ring)
{
	return elog_header_committed(ring->header, ring->reader.end);
}

/** elog_ring_unread() - has the ring, or its backlog, unread records? */
static inline bool elog_ring_unread(const struct elog_consumer *consumer,
				    const struct ring *ring)
{
	if (!consumer->backlog)
		return elog_ring_committed(ring) != ring->reader.position;
	return ring->reader.position != ring->reader.end ||
	       elog_backlog_pending(consumer->backlog, ring->reader.stream);
}

/** elog_ring_learn_names() - get the new names of threads; a backlog does it itself */
static inline void elog_ring_learn_names(const struct elog_consumer *consumer,
					 struct ring *ring)
{
	if (!consumer->backlog)
		elog_names_learn(consumer_file(consumer), ring->reader.stream, &ring->named,
				 consumer->processes);
}

/** elog_ring_release() - return the space of records that were read to the kernel */
static inline void elog_ring_release(struct ring *ring)
{
	if (ring->released == ring->reader.position)
		return;
	ring->released = ring->reader.position;
	__atomic_store_n(&ring->consumer->position, (uint32_t)ring->released,
			 __ATOMIC_RELEASE);
}

/**
 * elog_ring_read_losses() - read the counts of lost events of a ring
 * @consumer: the consumer
 * @ring: its ring
 * @counts: filled in, by cause
 *
 * Then test whether the ring has unread records. If it has none, no record follows these
 * losses, because a record that was written after them would be unread. Otherwise a later
 * record holds the counts.
 *
 * Return: true if no record follows the losses.
 */
static inline bool elog_ring_read_losses(const struct elog_consumer *consumer,
					 struct ring *ring, uint64_t *counts)
{
	elog_header_see_losses(ring->header, ring->consumer, counts);
	return !elog_ring_unread(consumer, ring);
}

/** elog_consumer_map() - map new rings; return 0 or a negative errno */
int elog_consumer_map(struct elog_consumer *consumer);

/** elog_consumer_flushed() - take over the result of a FLUSH, and map new rings */
int elog_consumer_flushed(struct elog_consumer *consumer, const struct eventlog_flush *flush);

/** elog_ordered_free() - free the chunks that ordered.c holds */
void elog_ordered_free(struct elog_consumer *consumer);

/** elog_part_wait() - elog_consumer_wait() of one part of several */
int elog_part_wait(struct elog_consumer *consumer, int milliseconds, const sigset_t *mask);

/** elog_wait_once() - sleep until poll(2) reports something, or elog_consumer_wake() */
int elog_wait_once(struct elog_consumer *consumer, int milliseconds, const sigset_t *mask,
		   bool *woken);

#endif /* LIBELOG_STATE_H */
