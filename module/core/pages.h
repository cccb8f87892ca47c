/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that user space maps: the pages of rings.  There is one limit for the pages of
 * all rings, of which users with limits cannot take the last sixteenth.  Atomic counters; no
 * lock.
 */
#ifndef EVENTLOG_PAGES_H
#define EVENTLOG_PAGES_H

#include <linux/mm_types.h>
#include <linux/types.h>

struct eventlog_user;

/**
 * struct eventlog_pages - pages of one ring
 * @pages: the pages that user space maps
 * @count: their number
 * @counted: how many count for the limit
 * @address: the kernel's contiguous mapping of them
 */
struct eventlog_pages {
	struct page **pages;
	unsigned int count;
	unsigned int counted;
	void *address;
};

/**
 * eventlog_pages_init() - set the limit, at load
 * @max: limit of the pages of all rings
 */
void eventlog_pages_init(unsigned long max);

/**
 * eventlog_pages_alloc() - allocate zeroed pages, charged to the calling process
 * @pages: zeroed
 * @count: how many
 * @node: NUMA node, or NUMA_NO_NODE
 * @user: whose ring it is; NULL: a user without limits
 *
 * Process context, may sleep.  A fatal signal ends it.
 *
 * Return: 0 or -ENOMEM; in both cases eventlog_pages_free() is needed.
 */
int eventlog_pages_alloc(struct eventlog_pages *pages, unsigned int count, int node,
			 const struct eventlog_user *user);

/**
 * eventlog_pages_free() - drop the kernel's mapping of pages, and its references to them
 * @pages: pages that nothing in the kernel uses any more; mappings have references
 *
 * Pages are never used again for another ring: the process may have kept references.
 */
void eventlog_pages_free(struct eventlog_pages *pages);

/**
 * eventlog_pages_map() - map pages to user space
 * @pages: the pages
 * @first: the first page to map
 * @vma: the mapping; as many pages as it is long exist from @first on
 *
 * Return: 0 or an error of vm_insert_pages().
 */
int eventlog_pages_map(const struct eventlog_pages *pages, unsigned int first,
		       struct vm_area_struct *vma);

#endif /* EVENTLOG_PAGES_H */
