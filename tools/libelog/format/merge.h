/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Reading records in memory, and merging them by time: see merge.c.
 */
#ifndef LIBELOG_MERGE_H
#define LIBELOG_MERGE_H

#include "elog.h"

/* The bits of a record that struct elog_item has as flags. */
#define ELOG_RECORD_FLAGS (EVENTLOG_RECORD_FLAG_MAPPED | EVENTLOG_RECORD_FLAG_ADJUSTED)

/** elog_record_bytes() - bytes to the next record, with up to 7 bytes of padding */
static inline uint32_t elog_record_bytes(uint32_t size_flags)
{
	uint32_t size = size_flags & EVENTLOG_RECORD_SIZE_MASK;

	return (size + EVENTLOG_RECORD_ALIGN - 1) &
	       ~(uint32_t)(EVENTLOG_RECORD_ALIGN - 1);
}

/** elog_record_type() - the type of a record */
static inline enum eventlog_record_type elog_record_type(uint32_t size_flags)
{
	return (enum eventlog_record_type)
	       ((size_flags & EVENTLOG_RECORD_TYPE_MASK) >>
		EVENTLOG_RECORD_TYPE_SHIFT);
}

/**
 * struct elog_ring_reader - reads records in place
 * @data: the ring's bytes
 * @data_bytes: bytes of @data, a power of two
 * @sub_buffer_bytes: no record crosses a multiple of these, a power of two
 * @position: of the next record; never wraps
 * @end: end of the complete records; @end - @position <= @data_bytes
 * @cpu: for struct elog_item
 * @stream: likewise; at equal keys, a ring of no CPU is first, then the lower stream
 * @swapped: its records are in the other byte order
 * @key: sort key of the record at @position, set by elog_ring_peek(): its time, or the
 *	previous key if that is larger
 * @size: bytes from it to the next record
 * @lost: the counts reported so far
 * @news: the counts of the last item
 *
 * Independent of mappings, kernels and positions that others write.
 */
struct elog_ring_reader {
	const unsigned char *data;
	uint64_t data_bytes;
	uint64_t sub_buffer_bytes;
	uint64_t position;
	uint64_t end;
	unsigned int cpu;
	uint32_t stream;
	bool swapped;
	uint64_t key;
	uint32_t size;
	uint64_t lost[ELOG_LOST_CAUSES_MAX];
	uint64_t news[ELOG_LOST_CAUSES_MAX];
};

/**
 * elog_ring_peek() - go to the next event or lost record
 * @ring: skips its padding, and records of unknown types
 *
 * Return: 1 there is one at @ring->position; 0 there is none before @ring->end;
 * -EBADMSG the bytes are not records: everything before @ring->end was skipped.
 */
int elog_ring_peek(struct elog_ring_reader *ring);

/**
 * elog_ring_take() - decode the record that elog_ring_peek() found, and skip it
 * @ring: the ring
 * @item: filled in; the payload stays in the ring, unchanged
 *
 * Return: true, or false for a lost record without new losses.
 */
bool elog_ring_take(struct elog_ring_reader *ring, struct elog_item *item);

/**
 * elog_ring_lost() - report counts that did not come from a record
 * @ring: the ring
 * @counts: cumulative, by cause
 * @count: elements of @counts, at most ELOG_LOST_CAUSES_MAX
 * @item: filled in, except the time; the losses stay in the ring until the next ones
 *
 * Return: true if there are new losses.
 */
bool elog_ring_lost(struct elog_ring_reader *ring, const uint64_t *counts,
		    unsigned int count, struct elog_item *item);

/**
 * elog_ring_span() - get the bytes of contiguous records
 * @ring: its record at @ring->position is the first of them
 *
 * Return: bytes, with padding and lost records; 0 there is nothing before @ring->end;
 * -EBADMSG the positions are not valid.
 */
ssize_t elog_ring_span(const struct elog_ring_reader *ring);

/**
 * struct elog_merge - rings sorted by the key of their next record
 * @rings: a heap, the smallest key first; room for all rings, owned by the caller
 * @count: rings in it: those that have a record
 */
struct elog_merge {
	struct elog_ring_reader **rings;
	size_t count;
};

/**
 * elog_merge_add() - add a ring
 * @merge: the merge, without @ring
 * @ring: the ring
 * @before: records with this key or a larger one stay in their ring
 *
 * Return: 1 it was added; 0 it has no such record; -EBADMSG as elog_ring_peek().
 */
int elog_merge_add(struct elog_merge *merge, struct elog_ring_reader *ring,
		   uint64_t before);

/**
 * elog_merge_first() - get the ring that has the oldest record
 * @merge: the merge
 *
 * Return: the ring, for elog_ring_take(); NULL: there is none.
 */
struct elog_ring_reader *elog_merge_first(const struct elog_merge *merge);

/**
 * elog_merge_update() - continue after the first ring's record was taken
 * @merge: the merge
 * @before: as given to elog_merge_add()
 *
 * Return: 0, or -EBADMSG: the rest of the ring was damaged, and the ring was removed.
 */
int elog_merge_update(struct elog_merge *merge, uint64_t before);

#endif /* LIBELOG_MERGE_H */
