/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bits in the memory of processes, which show whether events are enabled.
 *
 * An enabler is a bit in a memory (an mm_struct); the memory is that of all threads of a
 * process, and of nothing else: a program that is executed gets a new one.  Bits are
 * written without a page fault, under the lock.  If a page is missing or shared, a work item
 * of the memory faults it in and tries again.  Such a work item may wait for a file system in
 * user space for ever, so each user has few of them at a time, and each pins the module.
 *
 * eventlog_ue_lock, a mutex, protects memories and enablers.  Its holder never waits for the
 * lock of a memory, except that of its own process, which it takes first.
 */
#ifndef EVENTLOG_USER_EVENTS_ENABLER_H
#define EVENTLOG_USER_EVENTS_ENABLER_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "core/event.h"

struct eventlog_user;
struct mm_struct;

extern struct mutex eventlog_ue_lock;
extern struct workqueue_struct *eventlog_ue_queue;

/**
 * struct eventlog_ue_bit - a bit in a memory
 * @address: of a u32 or u64, aligned
 * @bytes: 4 or 8
 * @bit: in native byte order
 */
struct eventlog_ue_bit {
	unsigned long address;
	u8 bytes;
	u8 bit;
};

/**
 * struct eventlog_ue_memory - the memory of a process that has enablers
 * @node: in the table; read under RCU
 * @mm: the memory; referred to, but not kept from being emptied
 * @user: whose work items its faults are, with a reference; NULL: one without limits
 * @enablers: &struct eventlog_ue_enabler.node, by address and bit
 * @exited: a thread has exited: the memory may end soon
 * @work: faults pages in
 * @work_node: in the list of memories that wait for their work item, or in that of those
 *	whose work item is queued or running
 * @working: it is queued or running
 * @holders: the table's, and those of probes that look at it
 * @rcu: frees it
 */
struct eventlog_ue_memory {
	struct hlist_node node;
	struct mm_struct *mm;
	struct eventlog_user *user;
	struct rb_root enablers;
	bool exited;
	struct work_struct work;
	struct list_head work_node;
	bool working;
	refcount_t holders;
	struct rcu_head rcu;
};

/**
 * eventlog_ue_memory_find() - find the memory of an mm_struct
 * @mm: the mm_struct, or NULL
 *
 * Under the lock or RCU.
 *
 * Return: the memory, or NULL.
 */
struct eventlog_ue_memory *eventlog_ue_memory_find(const struct mm_struct *mm);

/**
 * eventlog_ue_memory_put() - drop a hold
 * @memory: freed with the last one
 *
 * Any context.
 */
void eventlog_ue_memory_put(struct eventlog_ue_memory *memory);

/**
 * eventlog_ue_memory_copy() - make a child's enablers
 * @parent: the memory that was copied; the lock is held
 * @mm: the copy
 *
 * A user's limit of registrations counts these as well.  What is beyond it stays as it was
 * in the child.
 *
 * Return: 0, or -ENOMEM: nothing was made.
 */
int eventlog_ue_memory_copy(struct eventlog_ue_memory *parent, struct mm_struct *mm);

/**
 * eventlog_ue_memories_purge() - drop memories without users
 *
 * The lock is held.
 *
 * Return: true if another one may end soon.
 */
bool eventlog_ue_memories_purge(void);

/* Are there no memories?  A guess without the lock. */
bool eventlog_ue_memories_empty(void);

/**
 * eventlog_ue_memories_clear() - clear all bits and drop all memories, at unload
 *
 * No lock is held, and nothing else runs.  May wait for a process; a fatal signal ends that.
 */
void eventlog_ue_memories_clear(void);

/**
 * eventlog_ue_enabler_exists() - does the caller's memory have an enabler for a bit
 * @bit: its size does not matter
 *
 * Process context; no lock is held.
 */
bool eventlog_ue_enabler_exists(const struct eventlog_ue_bit *bit);

/**
 * eventlog_ue_enabler_add() - make an enabler in the caller's memory and set its bit
 * @watch: the event; the caller has a registration
 * @user: who registers
 * @bit: valid
 *
 * Process context; no lock is held.
 *
 * Return: 0; -EADDRINUSE: the bit has an enabler; -EFAULT: it cannot be written; -EMFILE:
 * the user has too many registrations; -ENOMEM; -EINTR: a fatal signal.
 */
int eventlog_ue_enabler_add(struct eventlog_watch *watch, struct eventlog_user *user,
			    const struct eventlog_ue_bit *bit);

/**
 * eventlog_ue_enabler_remove() - remove an enabler of the caller's memory, clear its bit
 * @bit: its size is not used
 *
 * Process context; no lock is held.
 *
 * Return: 0; -ENOENT; -EFAULT: removed, but the bit cannot be written; -EINTR.
 */
int eventlog_ue_enabler_remove(const struct eventlog_ue_bit *bit);

/* For &struct eventlog_watch_ops. */
void eventlog_ue_enablers_changed(struct eventlog_watch *watch);

/**
 * eventlog_ue_enablers_forget() - the event ends: forget that it changed
 * @watch: the event; domain->lock is held
 */
void eventlog_ue_enablers_forget(struct eventlog_watch *watch);

/**
 * eventlog_ue_enablers_sync() - write the bits of all events that have changed
 *
 * The lock is held.
 */
void eventlog_ue_enablers_sync(void);

#endif /* EVENTLOG_USER_EVENTS_ENABLER_H */
