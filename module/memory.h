/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counted allocations.  Everything eventlog allocates and does not hand to a
 * kernel subsystem to free goes through here, so that unloading can tell
 * whether something was left.  The counter is atomic; no lock.
 */
#ifndef EVENTLOG_MEMORY_H
#define EVENTLOG_MEMORY_H

#include <linux/types.h>

struct page;

/**
 * eventlog_alloc() - allocate zeroed memory, charged to the calling process
 * @bytes: size; any, large ones need not be physically contiguous
 *
 * Process context, may sleep.  Never warns and never invokes the OOM killer
 * for large sizes.
 *
 * Return: the memory, to be given to eventlog_free(), or NULL.
 */
void *eventlog_alloc(size_t bytes) __must_check;

/**
 * eventlog_alloc_nofail() - allocate zeroed memory, uncharged, where failing is no option
 * @bytes: size, small: for use where something is being taken down
 *
 * Process context, may sleep.
 *
 * Return: the memory, to be given to eventlog_free().
 */
void *eventlog_alloc_nofail(size_t bytes) __must_check;

/**
 * eventlog_free() - free what eventlog_alloc() or eventlog_alloc_nofail() gave
 * @memory: the memory, or NULL
 *
 * Any context but NMI.
 */
void eventlog_free(const void *memory);

/**
 * eventlog_alloc_page() - allocate a zeroed page that user space may map
 * @node: NUMA node
 *
 * Process context, may sleep; charged to the calling process where the kernel
 * allows a charged page to be mapped.
 *
 * Return: the page, to be given to eventlog_free_page(), or NULL.
 */
struct page *eventlog_alloc_page(int node) __must_check;

/**
 * eventlog_free_page() - drop the reference eventlog_alloc_page() gave
 * @page: the page; mappings hold references of their own
 */
void eventlog_free_page(struct page *page);

/**
 * eventlog_allocations_left() - how many allocations are outstanding
 *
 * Meaningful only when nothing can allocate any more: at unload.
 */
long eventlog_allocations_left(void);

#endif /* EVENTLOG_MEMORY_H */
