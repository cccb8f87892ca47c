/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The 64-bit words of a ring's header: positions and counts that only grow.  One CPU
 * writes them while other CPUs read them.
 *
 * A 64-bit machine stores a word with one instruction.  A 32-bit machine stores two
 * halves, and a reader between the two stores would be wrong by 4 GiB.  Therefore,
 * if the header has EVENTLOG_RING_SPLIT, each word has a copy of its upper half.  The
 * writer stores the upper half, the lower half, then the copy.  The reader loads them
 * in reverse order and retries until upper half and copy are equal.  Then the copy
 * proves that the lower half was stored after this upper half, and the upper half,
 * which is loaded last, proves that the writer had not yet started on the next one.
 * Reading the upper half twice is not enough: both loads may precede, or both may
 * follow, its store.
 *
 * A 32-bit writer holds the ring's lock.  A reader retries only when a word crosses a
 * multiple of 4 GiB.  It must not interrupt the writer, or it would retry for ever.
 */
#ifndef EVENTLOG_RING_WORDS_H
#define EVENTLOG_RING_WORDS_H

#include "ring/ring_platform.h"

#if EVENTLOG_RING_LOCKLESS

/**
 * eventlog_word_write() - store a word with release semantics
 * @word: the word
 * @upper: copy of its upper half
 * @value: not less than the current value
 *
 * Context: only the one writer of the word.
 */
static __always_inline void eventlog_word_write(u64 *word, u32 *upper, u64 value)
{
	(void)upper;
	smp_store_release(word, value);
}

/**
 * eventlog_word_read() - load a word with acquire semantics
 * @word: the word
 * @upper: copy of its upper half
 *
 * Context: any that cannot have interrupted the writer.
 *
 * Return: the value of the word.
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
