// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages of rings: see pages.h.
 */
#include <linux/atomic.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/vmalloc.h>

#include "core/pages.h"
#include "memory.h"

/* One in so many pages is kept for users without limits. */
#define EVENTLOG_PAGES_RESERVED 16

static unsigned long eventlog_pages_max;
static atomic_long_t eventlog_pages_count = ATOMIC_LONG_INIT(0);

void eventlog_pages_init(unsigned long max)
{
	eventlog_pages_max = max;
}

int eventlog_pages_alloc(struct eventlog_pages *pages, unsigned int count, int node,
			 const struct eventlog_user *user)
{
	unsigned long max = eventlog_pages_max;

	if (user)
		max -= max / EVENTLOG_PAGES_RESERVED;
	pages->counted = count;
	if (atomic_long_add_return(count, &eventlog_pages_count) > max)
		return -ENOMEM;
	pages->pages = eventlog_alloc(count * sizeof(*pages->pages));
	if (!pages->pages)
		return -ENOMEM;
	for (; pages->count < count; pages->count++) {
		if (fatal_signal_pending(current))
			return -ENOMEM;
		pages->pages[pages->count] = eventlog_alloc_page(node);
		if (!pages->pages[pages->count])
			return -ENOMEM;
		cond_resched();
	}
	pages->address = vmap(pages->pages, count, VM_MAP, PAGE_KERNEL);
	return pages->address ? 0 : -ENOMEM;
}

void eventlog_pages_free(struct eventlog_pages *pages)
{
	unsigned int i;

	if (pages->address)
		vunmap(pages->address);
	for (i = 0; i < pages->count; i++)
		eventlog_free_page(pages->pages[i]);
	eventlog_free(pages->pages);
	atomic_long_sub(pages->counted, &eventlog_pages_count);
}

int eventlog_pages_map(const struct eventlog_pages *pages, unsigned int first,
		       struct vm_area_struct *vma)
{
	unsigned long count = vma_pages(vma);

	return vm_insert_pages(vma, vma->vm_start, pages->pages + first, &count);
}
