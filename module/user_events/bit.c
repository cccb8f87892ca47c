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
#include "user_events/enabler.h"

static int ue_page_pin(struct mm_struct *mm, unsigned long address, unsigned int flags,
		       struct page **page)
{
	return eventlog_pin_page(mm, address, flags | FOLL_NOFAULT, page) == 1 ? 0 : -EFAULT;
}

static bool ue_word_test(const void *word, const struct eventlog_ue_bit *bit)
{
	if (bit->bytes == sizeof(u64))
		return READ_ONCE(*(const u64 *)word) & BIT_ULL(bit->bit);
	return READ_ONCE(*(const u32 *)word) & BIT(bit->bit);
}

/* The program may change other bits of the word at the same time. */
static void ue_word_write(void *word, const struct eventlog_ue_bit *bit, bool set)
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

static bool ue_bit_test(struct page *page, const struct eventlog_ue_bit *bit)
{
	void *address = kmap_local_page(page);
	bool set = ue_word_test(address + offset_in_page(bit->address), bit);

	kunmap_local(address);
	return set;
}

int eventlog_ue_bit_write(struct mm_struct *mm, const struct eventlog_ue_bit *bit, bool set,
			  bool look)
{
	struct folio *folio;
	struct page *page;
	void *address;
	bool same;

	if (look && !ue_page_pin(mm, bit->address, 0, &page)) {
		same = ue_bit_test(page, bit) == set;
		unpin_user_page(page);
		if (same)
			return 0;
	}
	if (ue_page_pin(mm, bit->address, FOLL_WRITE, &page))
		return -EFAULT;
	/*
	 * The lock keeps the page in its file while it is marked as dirty.  Do not wait for
	 * it: a file system in user space may hold it.
	 */
	folio = page_folio(page);
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

int eventlog_ue_bit_fault_in(struct mm_struct *mm, const struct eventlog_ue_bit *bit)
{
	bool unlocked = false;

	return fixup_user_fault(mm, bit->address, FAULT_FLAG_WRITE | FAULT_FLAG_REMOTE,
				&unlocked) ? -EFAULT : 0;
}

#endif /* EVENTLOG_TRACE_EVENTS */
