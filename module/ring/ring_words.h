/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The 64-bit words of a ring's header: positions and counts that only grow,
 * written by one CPU and read by others while they are written.
 *
 * A 64-bit machine stores them at once.  A 32-bit one stores halves, and a
 * reader that met it between the two would be wrong by 4 GiB.  There (the
 * header says EVENTLOG_RING_SPLIT) each word has a copy of its upper half, and
 * the order is: upper half, lower half, copy.  A reader goes the other way and
 * starts again until upper half and copy agree: the copy it saw says that this
 * upper half's first lower half is in place, and the upper half it saw
 * afterwards that the next one's was not.  Reading the upper half twice instead
 * would not do: both readings may precede, or follow, its store.
 *
 * Writers hold the ring's lock.  All that a reader repeats is what a crossing of
 * 4 GiB spoils; it must not interrupt the writer, or it would repeat for ever.
 */
#ifndef EVENTLOG_RING_WORDS_H
#define EVENTLOG_RING_WORDS_H

#include "ring/ring_platform.h"

#if EVENTLOG_RING_LOCKLESS

/**
 * eventlog_word_write() - store a word, release
 * @word: not less than before
 * @upper: its copy
 * @value: to store
 *
 * Only by the one writer.
 */
static __always_inline void eventlog_word_write(u64 *word, u32 *upper, u64 value)
{
	(void)upper;
	smp_store_release(word, value);
}

/**
 * eventlog_word_read() - load a word, acquire
 * @word: the word
 * @upper: its copy
 *
 * Not from a context that may have interrupted the writer.
 */
static __always_inline u64 eventlog_word_read(const u64 *word, const u32 *upper)
{
	(void)upper;
	return smp_load_acquire(word);
}

#else /* halves */

#define EVENTLOG_WORD_HIGH (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

static __always_inline void eventlog_word_write(u64 *word, u32 *upper, u64 value)
{
	u32 *half = (u32 *)word;
	u32 high = value >> 32;

	if (likely(half[EVENTLOG_WORD_HIGH] == high)) {
		smp_store_release(&half[!EVENTLOG_WORD_HIGH], (u32)value);
		return;
	}
	WRITE_ONCE(half[EVENTLOG_WORD_HIGH], high);
	smp_store_release(&half[!EVENTLOG_WORD_HIGH], (u32)value);
	smp_store_release(upper, high);
}

static __always_inline u64 eventlog_word_read(const u64 *word, const u32 *upper)
{
	const u32 *half = (const u32 *)word;
	u32 copy, low;

	do {
		copy = smp_load_acquire(upper);
		low = smp_load_acquire(&half[!EVENTLOG_WORD_HIGH]);
	} while (unlikely(READ_ONCE(half[EVENTLOG_WORD_HIGH]) != copy));
	return (u64)copy << 32 | low;
}

#endif

#endif /* EVENTLOG_RING_WORDS_H */
