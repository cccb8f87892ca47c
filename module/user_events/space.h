/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Address spaces of processes that have enablers.
 *
 * An address space is an mm_struct: that of all threads of a process, and of nothing else; a
 * program that is executed gets a new one.  A child's address space is added by the probe of
 * fork, before the child runs: it shares the parent's set of enablers, see set.h.
 *
 * Bits are written without a page fault, under mmap_lock.  If a page is missing or shared, or
 * the lock is taken, a work item of the address space looks at the bits one batch after the
 * other, and faults pages in.  So does the work item of a new child.  Such a work item may wait
 * for a file system in user space for ever, so each owner has few of them at a time, and each
 * keeps the module loaded.  An owner is a user (see core/user.h).
 *
 * Locks: see set.h.  The holder of ue_mutex never waits for the mmap_lock of an address space,
 * except that of its own process, which it takes first.
 */
#ifndef EVENTLOG_USER_EVENTS_SPACE_H
#define EVENTLOG_USER_EVENTS_SPACE_H

#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "user_events/set.h"

struct ue_owner;
struct eventlog_user;
struct mm_struct;

extern struct workqueue_struct *ue_queue;

/**
 * struct ue_space - the address space of a process that has enablers
 * @node: in the table; read under RCU
 * @all_node: in the list of all; changed under both locks, added to under the spin lock
 * @mm: the address space; referred to, but not kept from being emptied
 * @owner: whose work items its faults are, referred to
 * @set: its enablers; changed under both locks
 * @set_node: in the set's address spaces
 * @set_round: the set's last look that is under way or has been
 * @child: it was added by fork, and is charged to the owner as a registration
 * @fresh: its work item has not looked at all bits since then
 * @exited: a thread has exited: the address space may end soon
 * @work: looks at bits
 * @work_node: in the owner's list of address spaces that wait for their work item
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
 * The fields from @all on are under ue_mutex.
 */
struct ue_space {
	struct hlist_node node;
	struct list_head all_node;
	struct mm_struct *mm;
	struct ue_owner *owner;
	struct ue_set *set;
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
	struct ue_bit next;
	unsigned int faults;
	struct rcu_head rcu;
};

/**
 * ue_owner_get() - find or make the owner of a user's address spaces
 * @user: the user, or NULL: those without limits
 *
 * Process context; no lock is held.
 *
 * Return: the owner, for ue_owner_put(), or NULL.
 */
struct ue_owner *ue_owner_get(struct eventlog_user *user);

/**
 * ue_owner_ref() - take one more reference
 * @owner: referred to by the caller
 *
 * Return: @owner.
 */
struct ue_owner *ue_owner_ref(struct ue_owner *owner);

/**
 * ue_owner_put() - drop a reference
 * @owner: the owner
 *
 * Process context.
 */
void ue_owner_put(struct ue_owner *owner);

/**
 * ue_space_find() - find the struct of an mm_struct
 * @mm: the mm_struct, or NULL
 *
 * Under one of the locks or RCU.
 *
 * Return: the address space, or NULL.
 */
struct ue_space *ue_space_find(const struct mm_struct *mm);

/**
 * ue_space_new() - allocate the struct of an address space
 *
 * Process context; charged to the caller.
 *
 * Return: the address space, for eventlog_free() or ue_space_add(), or NULL.
 */
struct ue_space *ue_space_new(void);

/**
 * ue_space_add() - add the caller's address space to the table
 * @space: of ue_space_new()
 * @set: its set, which nothing holds
 *
 * ue_mutex is held, and the table has no such address space.
 */
void ue_space_add(struct ue_space *space, struct ue_set *set);

/**
 * ue_space_fork() - let a child follow its parent
 * @parent: the parent's address space, as ue_space_find() looks it up
 * @child: the child's
 *
 * Takes a time that does not depend on the number of enablers.  The child is counted as lost
 * if there is no memory, the owner has too many registrations, or too many of its children
 * wait for their work item.
 *
 * Called with preemption disabled, before the child runs.
 */
void ue_space_fork(const struct mm_struct *parent, struct mm_struct *child);

/**
 * ue_space_exclusive() - may an address space's set be changed
 * @space: the address space; ue_mutex is held
 *
 * A fork at the same time may share the set right after that.  The child then has what the
 * caller changes, or not, as for any two threads that do not wait for each other.
 */
bool ue_space_exclusive(const struct ue_space *space);

/**
 * ue_space_move() - give an address space another set with the same bits
 * @space: the address space; ue_mutex is held
 * @set: a copy of its set, which nothing holds
 */
void ue_space_move(struct ue_space *space, struct ue_set *set);

/**
 * ue_space_drop() - forget an address space and its enablers
 * @space: in the table; ue_mutex is held
 */
void ue_space_drop(struct ue_space *space);

/**
 * ue_space_defer() - have an address space's work item look at bits
 * @space: in the table; ue_mutex is held
 * @round: of the event's change to look for, see &eventlog_watch.round
 */
void ue_space_defer(struct ue_space *space, unsigned long round);

/**
 * ue_space_rotate() - move an address space to the end of its set's list
 * @space: it knows that it has to look at its bits; ue_mutex is held
 */
void ue_space_rotate(struct ue_space *space);

/**
 * ue_spaces_purge() - drop address spaces without users
 * @count: look at so many address spaces
 *
 * No lock is held.
 *
 * Return: true if another one may end soon.
 */
bool ue_spaces_purge(unsigned int count);

/**
 * ue_spaces_count() - the number of address spaces; a guess without a lock
 */
unsigned int ue_spaces_count(void);

/**
 * ue_spaces_first() - any address space, or NULL
 *
 * ue_mutex is held.
 */
struct ue_space *ue_spaces_first(void);

/**
 * ue_children_lost() - children whose bits do not, or not all, follow their parent's
 *
 * Return: how many, since the module was loaded.
 */
unsigned long ue_children_lost(void);

/* ue_child_lose() - count one; any context */
void ue_child_lose(void);

/**
 * ue_spares_fill() - allocate structs for forks without memory
 *
 * Process context; no lock is held.
 */
void ue_spares_fill(void);

/**
 * ue_spares_free() - free them, at unload
 */
void ue_spares_free(void);

#endif /* EVENTLOG_USER_EVENTS_SPACE_H */
