// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bits in the memory of processes: see bit.h.
 */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/pagemap.h>

#include "compat.h"

#if EVENTLOG_TRACE_EVENTS

#include "user_events/bit.h"
#include "user_events/set.h"

static bool ue_word_test(const void *word, const struct ue_bit *bit)
{
	if (bit->bytes == sizeof(u64))
		return READ_ONCE(*(const u64 *)word) & BIT_ULL(bit->bit);
	return READ_ONCE(*(const u32 *)word) & BIT(bit->bit);
}

/* The program may change other bits of the word at the same time. */
static void ue_word_write(void *word, const struct ue_bit *bit, bool set)
{
#ifdef CONFIG_64BIT
	if (bit->bytes == sizeof(u64)) {
		if (set)
			atomic64_or(BIT_ULL(bit->bit), word);
		else
			atomic64_andnot(BIT_ULL(bit->bit), word);
		return;
	}
#endif
	if (set)
		atomic_or(BIT(bit->bit), word);
	else
		atomic_andnot(BIT(bit->bit), word);
}

/*
 * Does the bit have this value?  The page is not pinned: a page that is shared after fork
 * cannot be pinned, and stays shared here.
 */
static bool ue_bit_is(struct mm_struct *mm, const struct ue_bit *bit, bool set)
{
	struct page *page;
	void *address;
	bool same;

	if (eventlog_get_page(mm, bit->address, FOLL_NOFAULT, &page) != 1)
		return false;
	address = kmap_local_page(page);
	same = ue_word_test(address + offset_in_page(bit->address), bit) == set;
	kunmap_local(address);
	put_page(page);
	return same;
}

int ue_bit_write(struct mm_struct *mm, const struct ue_bit *bit, bool set, bool look)
{
	struct folio *folio;
	struct page *page;
	void *address;

	if (look && ue_bit_is(mm, bit, set))
		return 0;
	/*
	 * Without a fault, only a page that the process may write to is found: not one that is
	 * shared until it is written.  mmap_lock keeps fork from sharing it now.
	 */
	if (eventlog_pin_page(mm, bit->address, FOLL_WRITE | FOLL_NOFAULT, &page) != 1)
		return -EFAULT;
	/*
	 * The lock keeps the page in its file while it is marked as dirty.  Do not wait for
	 * it: a file system in user space may hold it.
	 */
	folio = page_folio(page);
	/* Not covered: only at the moment when the kernel holds the lock to read or write a page. */
	if (!folio_trylock(folio)) {
		unpin_user_page(page);
		return -EAGAIN;
	}
	address = kmap_local_page(page);
	ue_word_write(address + offset_in_page(bit->address), bit, set);
	kunmap_local(address);
	flush_dcache_page(page);
	folio_mark_dirty(folio);
	folio_unlock(folio);
	unpin_user_page(page);
	return 0;
}

int ue_bit_fault_in(struct mm_struct *mm, const struct ue_bit *bit)
{
	bool unlocked = false;

	return fixup_user_fault(mm, bit->address, FAULT_FLAG_WRITE | FAULT_FLAG_REMOTE,
				&unlocked) ? -EFAULT : 0;
}

#endif /* EVENTLOG_TRACE_EVENTS */
