/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Reading the header of a ring while the kernel writes it. Any thread may call these
 * functions.
 */
#ifndef LIBELOG_RING_H
#define LIBELOG_RING_H

#include "elog.h"

/**
 * elog_load_word() - read a 64-bit word that the kernel may be writing, with acquire
 * @header: of the ring
 * @word: a word of the header, which only grows
 * @upper: the copy of its upper half in the header
 *
 * A 32-bit process cannot read 64 bits at once, and a 32-bit kernel cannot write them:
 * see EVENTLOG_RING_SPLIT.
 */
static inline uint64_t elog_load_word(const struct eventlog_ring_header *header,
				      const __u64 *word, const __u32 *upper)
{
#if __SIZEOF_POINTER__ >= 8
	(void)header;
	(void)upper;
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
#else
	const uint32_t *half = (const uint32_t *)(const void *)word;
	const int high = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	uint32_t copy, low;

	if (!(header->flags & EVENTLOG_RING_SPLIT))
		upper = &half[high];
	do {
		copy = __atomic_load_n(upper, __ATOMIC_ACQUIRE);
		low = __atomic_load_n(&half[!high], __ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&half[high], __ATOMIC_ACQUIRE) != copy);
	return (uint64_t)copy << 32 | low;
#endif
}

/**
 * elog_load_position() - read the lower half of a position, with acquire
 * @address: the position
 *
 * This half is enough for the reader of a discarding ring, because a ring is smaller
 * than 2 GiB.
 */
static inline uint32_t elog_load_position(const __u64 *address)
{
#if __SIZEOF_POINTER__ >= 8
	return (uint32_t)__atomic_load_n(address, __ATOMIC_ACQUIRE);
#else
	const uint32_t *half = (const uint32_t *)(const void *)address;

	return __atomic_load_n(&half[__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__],
			       __ATOMIC_ACQUIRE);
#endif
}

/**
 * elog_header_committed() - get the position up to which a discarding ring is complete
 * @header: the ring's
 * @before: an earlier result, at most 2 GiB ago
 *
 * The position may step back for an instant. The result never does.
 */
static inline uint64_t elog_header_committed(const struct eventlog_ring_header *header,
					     uint64_t before)
{
	uint32_t low = elog_load_position(&header->committed);
	int32_t ahead = (int32_t)(low - (uint32_t)before);

	return ahead > 0 ? before + (uint32_t)ahead : before;
}

/** elog_header_lost() - get the losses of a ring so far, for one of the causes */
static inline uint64_t elog_header_lost(const struct eventlog_ring_header *header,
					unsigned int cause)
{
	return elog_load_word(header, &header->lost[cause],
			      &header->lost_upper[cause]);
}

/**
 * elog_header_see_losses() - read the losses of a ring, and mark them as seen
 * @header: the ring's
 * @consumer: the page on which they are marked
 * @counts: filled in, by cause
 *
 * poll() does not report losses that are marked as seen. The mark is the sum of the
 * counts, not lost_total: that may be behind the counts, and when it catches up, poll()
 * would report losses that were already read.
 */
static inline void elog_header_see_losses(const struct eventlog_ring_header *header,
					  struct eventlog_ring_consumer *consumer,
					  uint64_t *counts)
{
	uint32_t total = 0;
	unsigned int i;

	for (i = 0; i < EVENTLOG_LOST_CAUSES; i++) {
		counts[i] = elog_header_lost(header, i);
		total += (uint32_t)counts[i];
	}
	__atomic_store_n(&consumer->lost_seen, total, __ATOMIC_RELAXED);
}

#endif /* LIBELOG_RING_H */
