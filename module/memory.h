/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counted allocations.  All memory that eventlog allocates and frees itself goes
 * through here, so that unloading can report what was not freed.  The counter is
 * atomic; there is no lock.
 */
#ifndef EVENTLOG_MEMORY_H
#define EVENTLOG_MEMORY_H

#include <linux/types.h>

struct page;

/**
 * enum eventlog_charge - who pays for memory, and what happens at the limit of a memory cgroup
 * @EVENTLOG_CHARGE_NONE: it is not charged
 * @EVENTLOG_CHARGE_CALLER: the calling process.  At the limit of its cgroup, memory is reclaimed
 *	once, and otherwise the allocation fails: others may wait for the lock
 * @EVENTLOG_CHARGE_OTHER: the active memory cgroup, which need not be the caller's.  At its limit
 *	the allocation fails at once: the caller must not reclaim the memory of another cgroup
 */
enum eventlog_charge {
	EVENTLOG_CHARGE_NONE,
	EVENTLOG_CHARGE_CALLER,
	EVENTLOG_CHARGE_OTHER,
};

/**
 * eventlog_alloc() - allocate zeroed memory, charged to the calling process
 * @bytes: any size; large memory may not be physically contiguous
 *
 * Process context, may sleep.  Never warns; large sizes never invoke the OOM killer.
 *
 * Return: the memory, for eventlog_free(), or NULL.
 */
void *eventlog_alloc(size_t bytes) __must_check;

/**
 * eventlog_alloc_locked() - allocate zeroed memory that is not charged
 * @bytes: any size; for small memory that is limited otherwise, and for memory that is
 *	freed before the call returns
 *
 * For the holder of domain->lock: a charged allocation of a process whose memory cgroup
 * is at its limit would reclaim that cgroup's memory while all others wait for the lock.
 *
 * Process context, may sleep.  Never warns.
 *
 * Return: the memory, for eventlog_free(), or NULL.
 */
void *eventlog_alloc_locked(size_t bytes) __must_check;

/**
 * eventlog_alloc_as() - eventlog_alloc_locked() that may charge
 * @bytes: any size
 * @charge: whether the memory is charged
 *
 * Process context, may sleep.  Never warns.
 *
 * Return: the memory, for eventlog_free(), or NULL.
 */
void *eventlog_alloc_as(size_t bytes, enum eventlog_charge charge) __must_check;

/**
 * eventlog_alloc_atomic() - allocate zeroed memory, charged to the calling process, at once
 * @bytes: a small size
 *
 * Task context; preemption may be disabled, unless the kernel is PREEMPT_RT.  Never warns.
 *
 * Return: the memory, for eventlog_free(), or NULL.
 */
void *eventlog_alloc_atomic(size_t bytes) __must_check;

/**
 * eventlog_alloc_bytes() - the memory that an allocation takes
 * @bytes: its size
 *
 * Return: what the allocator reserves for it at most.
 */
size_t eventlog_alloc_bytes(size_t bytes);

/**
 * eventlog_free() - free memory of one of these functions
 * @memory: the memory, or NULL
 *
 * Any context but NMI.
 */
void eventlog_free(const void *memory);

/**
 * eventlog_alloc_page() - allocate a zeroed page that user space may map
 * @node: NUMA node
 *
 * Process context, may sleep; charged to the calling process if the kernel allows
 * a charged page to be mapped.
 *
 * Return: the page, for eventlog_free_page(), or NULL.
 */
struct page *eventlog_alloc_page(int node) __must_check;

/**
 * eventlog_free_page() - drop the reference of eventlog_alloc_page()
 * @page: the page; mappings have references of their own
 */
void eventlog_free_page(struct page *page);

/**
 * eventlog_allocations_left() - number of allocations that were not freed
 *
 * Only exact at unload, when nothing can allocate any more.
 */
long eventlog_allocations_left(void);

#endif /* EVENTLOG_MEMORY_H */
