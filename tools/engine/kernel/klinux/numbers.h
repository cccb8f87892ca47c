/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers: tables of pointers by number, sets of numbers, bits. As in <linux/xarray.h>,
 * <linux/idr.h>, <linux/bitmap.h>; the functions of tables are in numbers.c.
 */
#ifndef KLINUX_NUMBERS_H
#define KLINUX_NUMBERS_H

#include "kernel/klinux/types.h"

/*
 * ---- tables ----
 *
 * A tree whose nodes have 64 places, as many levels as the largest number needs.
 */

/**
 * struct xarray - a table
 * @root: the node of the highest level, or NULL
 * @levels: how many levels there are
 * @first: the least number that xa_alloc() gives
 */
struct xarray {
	struct xa_node *root;
	unsigned int levels;
	unsigned int first;
};

#define XA_PLACES 64U

/**
 * struct xa_node - a node; the module counts its size for what a number takes
 * @slots: nodes of the level below, or entries; a number may be taken without an entry
 * @full: bit of each place where no number is free
 * @count: nodes below it, or numbers that are taken; it is not empty
 */
struct xa_node {
	void *slots[XA_PLACES];
	u64 full;
	unsigned int count;
};

struct klinux_limit {
	u32 min, max;
};

#define XA_FLAGS_ALLOC1 1
#define XA_FLAGS_ACCOUNT 0
#define XA_PRESENT 0
#define XA_LIMIT(least, most) ((struct klinux_limit){ least, most })
#define xa_is_err(entry) IS_ERR(entry)
#define xa_lock(table) ((void)(table))
#define xa_unlock(table) ((void)(table))

void xa_init_flags(struct xarray *table, unsigned int flags);
void xa_destroy(struct xarray *table);
void *xa_load(struct xarray *table, unsigned long index);
void *xa_store(struct xarray *table, unsigned long index, void *entry, gfp_t gfp);
void *xa_erase(struct xarray *table, unsigned long index);
int xa_reserve(struct xarray *table, unsigned long index, gfp_t gfp);
void xa_release(struct xarray *table, unsigned long index);
int xa_alloc(struct xarray *table, u32 *index, void *entry, struct klinux_limit limit, gfp_t gfp);
void *xa_find(struct xarray *table, unsigned long *index, unsigned long last, int filter);
void *xa_find_after(struct xarray *table, unsigned long *index, unsigned long last, int filter);

#define xa_for_each(table, index, entry) \
	for ((index) = 0, (entry) = xa_find(table, &(index), ULONG_MAX, XA_PRESENT); (entry); \
	     (entry) = xa_find_after(table, &(index), ULONG_MAX, XA_PRESENT))

/* ---- sets ---- */

struct ida {
	struct xarray numbers;
};

#define ida_init(set) xa_init_flags(&(set)->numbers, 0)
#define ida_destroy(set) xa_destroy(&(set)->numbers)
#define ida_free(set, number) ((void)xa_erase(&(set)->numbers, number))

static inline int ida_alloc_range(struct ida *set, unsigned int from, unsigned int to, gfp_t gfp)
{
	u32 number;
	int ret = xa_alloc(&set->numbers, &number, set, XA_LIMIT(from, to), gfp);

	return ret == -EBUSY ? -ENOSPC : ret ? ret : (int)number;
}

/* ---- bits ---- */

#define BITS_TO_LONGS(bits) DIV_ROUND_UP(bits, BITS_PER_LONG)
#define klinux_word(bit, bits) ((bits)[(bit) / BITS_PER_LONG])
#define klinux_mask(bit) (1UL << (bit) % BITS_PER_LONG)
#define set_bit(bit, bits) ((void)(klinux_word(bit, bits) |= klinux_mask(bit)))
#define clear_bit(bit, bits) ((void)(klinux_word(bit, bits) &= ~klinux_mask(bit)))
#define test_bit(bit, bits) (!!(klinux_word(bit, bits) & klinux_mask(bit)))
#define __set_bit(bit, bits) set_bit(bit, bits)
#define __clear_bit(bit, bits) clear_bit(bit, bits)

/* Programs read these bytes meanwhile. */
#define set_bit_le(bit, bits) \
	((void)__atomic_fetch_or((u8 *)(bits) + (bit) / 8, 1 << (bit) % 8, __ATOMIC_RELEASE))
#define clear_bit_le(bit, bits) \
	((void)__atomic_fetch_and((u8 *)(bits) + (bit) / 8, ~(1 << (bit) % 8), __ATOMIC_RELEASE))

static inline unsigned long klinux_find(const unsigned long *bits, unsigned long size,
					unsigned long from, bool value)
{
	while (from < size && test_bit(from, bits) != value)
		from++;
	return from;
}

#define find_first_zero_bit(bits, size) klinux_find(bits, size, 0, false)
#define for_each_set_bit(bit, bits, size) \
	for ((bit) = klinux_find(bits, size, 0, true); (bit) < (size); \
	     (bit) = klinux_find(bits, size, (bit) + 1, true))
#define for_each_clear_bit_from(bit, bits, size) \
	for ((bit) = klinux_find(bits, size, bit, false); (bit) < (size); \
	     (bit) = klinux_find(bits, size, (bit) + 1, false))

static inline void bitmap_set(unsigned long *bits, unsigned int from, unsigned int count)
{
	while (count--)
		set_bit(from + count, bits);
}

#endif /* KLINUX_NUMBERS_H */
