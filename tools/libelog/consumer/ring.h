/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Reading what a kernel writes to a ring's header meanwhile. Any thread may.
 */
#ifndef LIBELOG_RING_H
#define LIBELOG_RING_H

#include "elog.h"

/**
 * elog_load_word() - read a word that a kernel may be writing, with acquire
 * @header: of the ring
 * @word: a word of the header, which only grows
 * @upper: its copy in the header
 *
 * A 32-bit process cannot read 64 bits at once, nor can a 32-bit kernel write
 * them: see EVENTLOG_RING_SPLIT.
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
 * elog_load_position() - read the low half of a position, with acquire
 * @address: the position
 *
 * That half is all a discarding ring's reader needs: a ring is smaller than 2 GiB.
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
 * elog_header_committed() - how far a discarding ring is whole
 * @header: the ring's
 * @before: how far it was, at most 2 GiB ago
 *
 * A position behind that is one that stepped back for an instant.
 */
static inline uint64_t elog_header_committed(const struct eventlog_ring_header *header,
					     uint64_t before)
{
	uint32_t low = elog_load_position(&header->committed);
	int32_t ahead = (int32_t)(low - (uint32_t)before);

	return ahead > 0 ? before + (uint32_t)ahead : before;
}

/** elog_header_lost() - how many a ring has lost so far, for one of the causes */
static inline uint64_t elog_header_lost(const struct eventlog_ring_header *header,
					unsigned int cause)
{
	return elog_load_word(header, &header->lost[cause],
			      &header->lost_upper[cause]);
}

/**
 * elog_header_see_losses() - read what a ring has lost, and let poll() be quiet
 * @header: the ring's
 * @consumer: the ring's, where it is told
 * @counts: filled in, by cause
 *
 * poll() is to be quiet about what is known, and not about what is not. That is
 * the counts' sum: lost_total may be behind them, and would then be ahead of
 * lost_seen for as long as there is nothing new to read.
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
