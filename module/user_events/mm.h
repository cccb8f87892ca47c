/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memories of processes that have enablers.
 *
 * A memory is an mm_struct: that of all threads of a process, and of nothing else; a program
 * that is executed gets a new one.  A child's memory is added by the probe of fork, before
 * the child runs: it shares the parent's set of enablers, see set.h.
 *
 * Bits are written without a page fault, under the memory's lock.  If a page is missing or
 * shared, or the lock is taken, a work item of the memory looks at the bits one batch after
 * the other, and faults pages in.  So does the work item of a new child.  Such a work item
 * may wait for a file system in user space for ever, so each owner has few of them at a
 * time, and each pins the module.  An owner is a user (see core/user.h).
 *
 * Locks: see set.h.  The holder of eventlog_ue_mutex never waits for the lock of a memory,
 * except that of its own process, which it takes first.
 */
#ifndef EVENTLOG_USER_EVENTS_MM_H
#define EVENTLOG_USER_EVENTS_MM_H

#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "user_events/set.h"

struct eventlog_ue_owner;
struct eventlog_user;
struct mm_struct;

extern struct workqueue_struct *eventlog_ue_queue;

/**
 * struct eventlog_ue_memory - the memory of a process that has enablers
 * @node: in the table; read under RCU
 * @all_node: in the list of all; changed under both locks, added to under the spin lock
 * @mm: the memory; referred to, but not kept from being emptied
 * @owner: whose work items its faults are, referred to
 * @set: its enablers; changed under both locks
 * @set_node: in the set's memories
 * @set_round: the set's last look that is under way or has been
 * @child: it was added by fork, and is charged to the owner as a registration
 * @fresh: its work item has not looked at all bits since then
 * @exited: a thread has exited: the memory may end soon
 * @work: looks at bits
 * @work_node: in the owner's list of memories that wait for their work item
 * @working: the work item is queued or running
 * @all: look at all bits, not only at those of events that changed
 * @again: an event changed since the work item began: look again from the first bit
 * @faulting: fault pages in; before, all bits that can be written are written
 * @missed: a bit could not be written
 * @since: look at events that have changed since this round
 * @round: the last round to look for
 * @next: the next bit to look at
 * @faults: how often its page was faulted in
 * @rcu: frees it
 *
 * The fields from @all on are under eventlog_ue_mutex.
 */
struct eventlog_ue_memory {
	struct hlist_node node;
	struct list_head all_node;
	struct mm_struct *mm;
	struct eventlog_ue_owner *owner;
	struct eventlog_ue_set *set;
	struct list_head set_node;
	unsigned long set_round;
	bool child;
	bool fresh;
	bool exited;
	struct work_struct work;
	struct list_head work_node;
	bool working;
	bool all;
	bool again;
	bool faulting;
	bool missed;
	unsigned long since;
	unsigned long round;
	struct eventlog_ue_bit next;
	unsigned int faults;
	struct rcu_head rcu;
};

/**
 * eventlog_ue_owner_get() - find or make the owner of a user's memories
 * @user: the user, or NULL: those without limits
 *
 * Process context; no lock is held.
 *
 * Return: the owner, for eventlog_ue_owner_put(), or NULL.
 */
struct eventlog_ue_owner *eventlog_ue_owner_get(struct eventlog_user *user);

/**
 * eventlog_ue_owner_ref() - take one more reference
 * @owner: referred to by the caller
 *
 * Return: @owner.
 */
struct eventlog_ue_owner *eventlog_ue_owner_ref(struct eventlog_ue_owner *owner);

/**
 * eventlog_ue_owner_put() - drop a reference
 * @owner: the owner
 *
 * Process context.
 */
void eventlog_ue_owner_put(struct eventlog_ue_owner *owner);

/**
 * eventlog_ue_memory_find() - find the memory of an mm_struct
 * @mm: the mm_struct, or NULL
 *
 * Under one of the locks or RCU.
 *
 * Return: the memory, or NULL.
 */
struct eventlog_ue_memory *eventlog_ue_memory_find(const struct mm_struct *mm);

/**
 * eventlog_ue_memory_new() - allocate a memory
 *
 * Process context; charged to the caller.
 *
 * Return: the memory, for eventlog_free() or eventlog_ue_memory_add(), or NULL.
 */
struct eventlog_ue_memory *eventlog_ue_memory_new(void);

/**
 * eventlog_ue_memory_add() - add the caller's memory to the table
 * @memory: of eventlog_ue_memory_new()
 * @set: its set, which nothing holds
 *
 * eventlog_ue_mutex is held, and the table has no such memory.
 */
void eventlog_ue_memory_add(struct eventlog_ue_memory *memory, struct eventlog_ue_set *set);

/**
 * eventlog_ue_memory_fork() - let a child follow its parent
 * @parent: the parent's memory, as eventlog_ue_memory_find() looks it up
 * @child: the child's
 *
 * Takes a time that does not depend on the number of enablers.  The child is counted as lost
 * if there is no memory, the owner has too many registrations, or too many of its children
 * wait for their work item.
 *
 * Called with preemption disabled, before the child runs.
 */
void eventlog_ue_memory_fork(const struct mm_struct *parent, struct mm_struct *child);

/**
 * eventlog_ue_memory_exclusive() - may a memory's set be changed
 * @memory: the memory; eventlog_ue_mutex is held
 *
 * A fork at the same time may share the set right after that.  The child then has what the
 * caller changes, or not, as for any two threads that do not wait for each other.
 */
bool eventlog_ue_memory_exclusive(const struct eventlog_ue_memory *memory);

/**
 * eventlog_ue_memory_move() - give a memory another set with the same bits
 * @memory: the memory; eventlog_ue_mutex is held
 * @set: a copy of its set, which nothing holds
 */
void eventlog_ue_memory_move(struct eventlog_ue_memory *memory, struct eventlog_ue_set *set);

/**
 * eventlog_ue_memory_drop() - forget a memory and its enablers
 * @memory: in the table; eventlog_ue_mutex is held
 */
void eventlog_ue_memory_drop(struct eventlog_ue_memory *memory);

/**
 * eventlog_ue_memory_defer() - have a memory's work item look at bits
 * @memory: in the table; eventlog_ue_mutex is held
 * @round: of the event's change to look for, see &eventlog_watch.round
 */
void eventlog_ue_memory_defer(struct eventlog_ue_memory *memory, unsigned long round);

/**
 * eventlog_ue_memory_rotate() - move a memory to the end of its set's list
 * @memory: it knows that it has to look at its bits; eventlog_ue_mutex is held
 */
void eventlog_ue_memory_rotate(struct eventlog_ue_memory *memory);

/**
 * eventlog_ue_memories_purge() - drop memories without users
 * @count: look at so many memories
 *
 * No lock is held.
 *
 * Return: true if another one may end soon.
 */
bool eventlog_ue_memories_purge(unsigned int count);

/**
 * eventlog_ue_memories_count() - the number of memories; a guess without a lock
 */
unsigned int eventlog_ue_memories_count(void);

/**
 * eventlog_ue_memories_first() - any memory, or NULL
 *
 * eventlog_ue_mutex is held.
 */
struct eventlog_ue_memory *eventlog_ue_memories_first(void);

/**
 * eventlog_ue_children_lost() - children whose bits do not, or not all, follow their parent's
 *
 * Return: how many, since the module was loaded.
 */
unsigned long eventlog_ue_children_lost(void);

/* eventlog_ue_child_lose() - count one; any context */
void eventlog_ue_child_lose(void);

/**
 * eventlog_ue_spares_fill() - allocate memories for forks without memory
 *
 * Process context; no lock is held.
 */
void eventlog_ue_spares_fill(void);

/**
 * eventlog_ue_spares_free() - free them, at unload
 */
void eventlog_ue_spares_free(void);

#endif /* EVENTLOG_USER_EVENTS_MM_H */
