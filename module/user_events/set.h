/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sets of enablers.
 *
 * An enabler is a bit that shows whether an event is enabled.  A set has the enablers of one
 * or more address spaces (see space.h): a process that forks and its child have the same set,
 * so that fork need not copy it.  A set with more than one holder never changes.  Code that
 * changes the enablers of one of these address spaces first makes a copy for it, without a lock.
 *
 * ue_mutex protects sets and enablers.  ue_table_lock, a raw spin lock that
 * is taken last, protects what fork changes: which address spaces hold a set.  Code that changes a
 * set's list of address spaces has both; the probe of fork, which only adds, has the spin lock.
 */
#ifndef EVENTLOG_USER_EVENTS_SET_H
#define EVENTLOG_USER_EVENTS_SET_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "core/event.h"
#include "core/steps.h"
#include "user_events/event.h"

struct ue_owner;
struct eventlog_user;

/* The most that one hold of ue_mutex or of mmap_lock does: bits, address spaces. */
#define UE_BATCH 128

extern struct mutex ue_mutex;
extern struct eventlog_steps ue_steps;
extern raw_spinlock_t ue_table_lock;

/* ue_lock() - take ue_mutex; event_mutex may be held */
static inline void ue_lock(void)
{
	mutex_lock(&ue_mutex);
	eventlog_steps_begin(&ue_steps);
}

static inline void ue_unlock(void)
{
	eventlog_steps_end(&ue_steps, EVENTLOG_STEPS_USER_EVENTS);
	mutex_unlock(&ue_mutex);
}

/**
 * struct ue_bit - a bit in an address space
 * @address: of a u32 or u64, aligned
 * @bytes: 4 or 8
 * @bit: in native byte order
 */
struct ue_bit {
	unsigned long address;
	u8 bytes;
	u8 bit;
};

/**
 * struct ue_enabler - a bit that shows whether an event is enabled
 * @node: in the set's enablers
 * @event_node: in the event's enablers
 * @set: the set
 * @watch: the event
 * @use: the registration of the event; its user is referred to
 * @bit: where it is
 * @round: the event's last change that was carried out, see &eventlog_watch.round
 */
struct ue_enabler {
	struct rb_node node;
	struct list_head event_node;
	struct ue_set *set;
	struct eventlog_watch *watch;
	struct eventlog_event_use use;
	struct ue_bit bit;
	unsigned long round;
};

/**
 * struct ue_set - enablers that address spaces share
 * @owner: of its address spaces, referred to
 * @enablers: &struct ue_enabler.node, by address and bit
 * @count: their number
 * @holders: address spaces, and calls that copy it; under ue_table_lock
 * @spaces: &struct ue_space.set_node
 * @node: in the list of sets whose address spaces have to look at their bits, or of those
 *	that have no holder
 * @round: number of the last such look; address spaces at the end of the list know it
 * @since: the first change that they have to look for
 * @last: the last one
 */
struct ue_set {
	struct ue_owner *owner;
	struct rb_root enablers;
	unsigned int count;
	unsigned int holders;
	struct list_head spaces;
	struct list_head node;
	unsigned long round;
	unsigned long since;
	unsigned long last;
};

/**
 * ue_enabler_new() - make an enabler that is in no set
 * @watch: the event; the caller has a registration
 * @user: who registers
 * @bit: where it is
 *
 * Process context; no lock is held.
 *
 * Return: the enabler, or ERR_PTR: -ENOMEM; -EMFILE: the user has too many registrations.
 */
struct ue_enabler *ue_enabler_new(struct eventlog_watch *watch,
				  struct eventlog_user *user,
				  const struct ue_bit *bit);

/**
 * ue_enabler_free() - free an enabler that is in no set
 * @enabler: the enabler, or NULL
 *
 * Takes domain->lock; no lock is held.
 */
void ue_enabler_free(struct ue_enabler *enabler);

/**
 * ue_enabler_find() - find the enabler of a bit
 * @set: the set; ue_mutex is held
 * @bit: its size does not matter
 *
 * Return: the enabler, or NULL.
 */
struct ue_enabler *ue_enabler_find(const struct ue_set *set, const struct ue_bit *bit);

/**
 * ue_enabler_from() - find the first enabler at a bit or behind it
 * @set: the set; ue_mutex is held
 * @bit: its size does not matter
 *
 * Return: the enabler, or NULL.
 */
struct ue_enabler *ue_enabler_from(const struct ue_set *set, const struct ue_bit *bit);

/* The next enabler of the same set, or NULL. */
static inline struct ue_enabler *
ue_enabler_next(const struct ue_enabler *enabler)
{
	return rb_entry_safe(rb_next(&enabler->node), struct ue_enabler, node);
}

/**
 * ue_enabler_insert() - put an enabler into a set
 * @set: no one shares it; ue_mutex is held
 * @enabler: of a bit that has none there
 * @round: the last change of the event that the bit may show
 */
void ue_enabler_insert(struct ue_set *set, struct ue_enabler *enabler, unsigned long round);

/**
 * ue_enabler_unlink() - take an enabler out of its set
 * @enabler: no one shares the set; ue_mutex is held
 */
void ue_enabler_unlink(struct ue_enabler *enabler);

/**
 * ue_set_new() - make an empty set that nothing holds
 * @owner: of its address spaces; gets a reference
 * @nofail: wait for memory, which is not charged, for a call that must not fail
 *
 * Process context.
 *
 * Return: the set, or NULL.
 */
struct ue_set *ue_set_new(struct ue_owner *owner, bool nofail);

/**
 * ue_set_free() - free an empty set that nothing holds
 * @set: the set
 *
 * Process context.
 */
void ue_set_free(struct ue_set *set);

/**
 * ue_set_hold() - become a holder of a set
 * @set: an address space holds it; ue_mutex is held
 *
 * Return: @set, for ue_set_put().
 */
struct ue_set *ue_set_hold(struct ue_set *set);

/**
 * ue_set_crowded() - has a set so many address spaces that work items write its bits
 * @set: the set; ue_mutex is held
 */
bool ue_set_crowded(const struct ue_set *set);

/**
 * ue_set_copy() - make a copy of a set that nothing holds
 * @set: the caller is a holder
 * @without: leave this bit out; NULL: none
 * @lossy: leave out what the user's limit or memory does not allow, rather than fail
 * @lost: set to true if something was left out
 *
 * Process context; no lock is held.
 *
 * Return: the copy, for ue_set_drop(), or ERR_PTR: -ENOMEM; -EMFILE: the user has
 * too many registrations; -EINTR: a fatal signal.
 */
struct ue_set *ue_set_copy(struct ue_set *set,
			   const struct ue_bit *without, bool lossy,
			   bool *lost);

/**
 * ue_set_drop() - let a work item free a set
 * @set: nothing holds it; ue_mutex is held
 */
void ue_set_drop(struct ue_set *set);

/**
 * ue_set_put() - let go of a set as one of its holders
 * @set: the set; ue_mutex is held
 */
void ue_set_put(struct ue_set *set);

/**
 * ue_sets_free() - free some enablers of sets that were dropped
 *
 * Process context; no lock is held.
 *
 * Return: true: more are left.
 */
bool ue_sets_free(void);

#endif /* EVENTLOG_USER_EVENTS_SET_H */
