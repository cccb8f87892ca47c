/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Walking records that are in memory, and merging them by time: see merge.c.
 */
#ifndef LIBELOG_MERGE_H
#define LIBELOG_MERGE_H

#include "elog.h"

/** elog_record_bytes() - bytes from a record to the next one; up to 7 may be padding */
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
 * struct elog_ring_reader - reads records that are in place
 * @data: the ring's bytes
 * @data_bytes: how many, a power of two
 * @sub_buffer_bytes: records do not straddle multiples of these, a power of two
 * @position: of the record to read next; counts up for ever
 * @end: whole up to here; @end - @position <= @data_bytes
 * @cpu: for struct elog_item
 * @swapped: its records are in the other byte order
 * @key: what the record at @position is sorted by, once elog_ring_peek() said
 *	that there is one: its time, but never less than the record's before it
 * @size: bytes from it to the next one
 * @lost: the counts reported so far
 *
 * Knows nothing of mappings, kernels and positions that others write.
 */
struct elog_ring_reader {
	const unsigned char *data;
	uint64_t data_bytes;
	uint64_t sub_buffer_bytes;
	uint64_t position;
	uint64_t end;
	unsigned int cpu;
	bool swapped;
	uint64_t key;
	uint32_t size;
	uint64_t lost[EVENTLOG_LOST_CAUSES];
};

/**
 * elog_ring_peek() - step to the next event or lost record
 * @ring: its padding, and records of types unknown, are skipped
 *
 * Return: 1 there is one at @ring->position, 0 nothing before @ring->end,
 * -EBADMSG the bytes are not records: everything before @ring->end was skipped.
 */
int elog_ring_peek(struct elog_ring_reader *ring);

/**
 * elog_ring_take() - decode the record that elog_ring_peek() found, and step on
 * @ring: the ring
 * @item: filled in; the payload stays in the ring, as it is
 *
 * Return: true, or false for a lost record that tells nothing new.
 */
bool elog_ring_take(struct elog_ring_reader *ring, struct elog_item *item);

/**
 * elog_ring_lost() - report counts that came from elsewhere than a record
 * @ring: the ring
 * @counts: cumulative, by cause
 * @item: filled in but for the time
 *
 * Return: true if they tell something new.
 */
bool elog_ring_lost(struct elog_ring_reader *ring, const uint64_t *counts,
		    struct elog_item *item);

/**
 * elog_ring_span() - how many bytes of whole records lie in one piece
 * @ring: its record at @ring->position is the first of them
 *
 * Return: bytes, padding and lost records included; 0 nothing before
 * @ring->end; -EBADMSG that cannot be.
 */
ssize_t elog_ring_span(const struct elog_ring_reader *ring);

/**
 * struct elog_merge - rings by the key of their next record, smallest first
 * @rings: a heap; room for all rings, owned by the caller
 * @count: rings in it, which are the ones that have a record
 */
struct elog_merge {
	struct elog_ring_reader **rings;
	size_t count;
};

/**
 * elog_merge_add() - let a ring take part
 * @merge: the merge, not containing @ring
 * @ring: the ring
 * @before: records whose key is not smaller stay where they are
 *
 * Return: 1 or 0, whether it has such a record; -EBADMSG as elog_ring_peek().
 */
int elog_merge_add(struct elog_merge *merge, struct elog_ring_reader *ring,
		   uint64_t before);

/**
 * elog_merge_first() - the ring that has the oldest record
 * @merge: the merge
 *
 * Return: the ring, whose record is for elog_ring_take(); NULL: none is left.
 */
struct elog_ring_reader *elog_merge_first(const struct elog_merge *merge);

/**
 * elog_merge_update() - go on after the first ring's record was taken
 * @merge: the merge
 * @before: as given to elog_merge_add()
 *
 * Return: 0, or -EBADMSG: the ring's remainder was damaged, it takes part no
 * more.
 */
int elog_merge_update(struct elog_merge *merge, uint64_t before);

#endif /* LIBELOG_MERGE_H */
