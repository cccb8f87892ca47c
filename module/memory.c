// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counted allocations: see memory.h.
 */
#include <linux/atomic.h>
#include <linux/gfp.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "compat.h"
#include "memory.h"

static atomic_long_t eventlog_allocations = ATOMIC_LONG_INIT(0);

static void *eventlog_alloc_flags(size_t bytes, gfp_t flags)
{
	void *memory = kvzalloc(bytes, flags | __GFP_NOWARN);

	if (memory)
		atomic_long_inc(&eventlog_allocations);
	return memory;
}

void *eventlog_alloc(size_t bytes)
{
	return eventlog_alloc_flags(bytes, GFP_KERNEL_ACCOUNT);
}

void *eventlog_alloc_locked(size_t bytes)
{
	return eventlog_alloc_flags(bytes, GFP_KERNEL);
}

void *eventlog_alloc_as(size_t bytes, enum eventlog_charge charge)
{
	switch (charge) {
	case EVENTLOG_CHARGE_CALLER:
		return eventlog_alloc_flags(bytes, GFP_KERNEL_ACCOUNT | __GFP_NORETRY);
	case EVENTLOG_CHARGE_OTHER:
		return eventlog_alloc_flags(bytes, GFP_NOWAIT | __GFP_ACCOUNT);
	default:
		return eventlog_alloc_flags(bytes, GFP_KERNEL);
	}
}

void *eventlog_alloc_atomic(size_t bytes)
{
	void *memory = kzalloc(bytes, GFP_ATOMIC | __GFP_ACCOUNT | __GFP_NOWARN);

	if (memory)
		atomic_long_inc(&eventlog_allocations);
	return memory;
}

size_t eventlog_alloc_bytes(size_t bytes)
{
	if (!bytes)
		return 0;
	/* These two sizes are between powers of two. */
	if (bytes > 64 && bytes <= 96 && ARCH_KMALLOC_MINALIGN <= 32)
		return 96;
	if (bytes > 128 && bytes <= 192 && ARCH_KMALLOC_MINALIGN <= 64)
		return 192;
	return max_t(size_t, roundup_pow_of_two(bytes), ARCH_KMALLOC_MINALIGN);
}

void eventlog_free(const void *memory)
{
	if (!memory)
		return;
	atomic_long_dec(&eventlog_allocations);
	kvfree(memory);
}

struct page *eventlog_alloc_page(int node)
{
	struct page *page = alloc_pages_node(node, EVENTLOG_GFP_MAPPED | __GFP_ZERO |
					     __GFP_NOWARN | __GFP_RETRY_MAYFAIL, 0);

	if (page)
		atomic_long_inc(&eventlog_allocations);
	return page;
}

void eventlog_free_page(struct page *page)
{
	atomic_long_dec(&eventlog_allocations);
	__free_page(page);
}

long eventlog_allocations_left(void)
{
	return atomic_long_read(&eventlog_allocations);
}
