/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sets of enablers.
 *
 * An enabler is a bit that shows whether an event is enabled.  A set has the enablers of one
 * or more memories (see mm.h): a process that forks and its child have the same set, so that
 * fork need not copy it.  A set with more than one holder never changes.  Code that
 * changes the enablers of one of these memories first makes a copy for it, without a lock.
 *
 * eventlog_ue_mutex protects sets and enablers.  eventlog_ue_table_lock, a raw spin lock that
 * is taken last, protects what fork changes: which memories hold a set.  Code that changes a
 * set's list of memories has both; the probe of fork, which only adds, has the spin lock.
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

struct eventlog_ue_owner;
struct eventlog_user;

/* The most that one hold of eventlog_ue_mutex or of a memory's lock does: bits, memories. */
#define EVENTLOG_UE_BATCH 128

extern struct mutex eventlog_ue_mutex;
extern struct eventlog_steps eventlog_ue_steps;
extern raw_spinlock_t eventlog_ue_table_lock;

/* eventlog_ue_lock() - take eventlog_ue_mutex; event_mutex may be held */
static inline void eventlog_ue_lock(void)
{
	mutex_lock(&eventlog_ue_mutex);
	eventlog_steps_begin(&eventlog_ue_steps);
}

static inline void eventlog_ue_unlock(void)
{
	eventlog_steps_end(&eventlog_ue_steps, EVENTLOG_STEPS_USER_EVENTS);
	mutex_unlock(&eventlog_ue_mutex);
}

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
 * struct eventlog_ue_enabler - a bit that shows whether an event is enabled
 * @node: in the set's enablers
 * @event_node: in the event's enablers
 * @set: the set
 * @watch: the event
 * @use: the registration of the event; its user is referred to
 * @bit: where it is
 * @round: the event's last change that was carried out, see &eventlog_watch.round
 */
struct eventlog_ue_enabler {
	struct rb_node node;
	struct list_head event_node;
	struct eventlog_ue_set *set;
	struct eventlog_watch *watch;
	struct eventlog_event_use use;
	struct eventlog_ue_bit bit;
	unsigned long round;
};

/**
 * struct eventlog_ue_set - enablers that memories share
 * @owner: of its memories, referred to
 * @enablers: &struct eventlog_ue_enabler.node, by address and bit
 * @count: their number
 * @holders: memories, and calls that copy it; under eventlog_ue_table_lock
 * @memories: &struct eventlog_ue_memory.set_node
 * @node: in the list of sets whose memories have to look at their bits, or of those
 *	that have no holder
 * @round: number of the last such look; memories at the end of the list know it
 * @since: the first change that they have to look for
 * @last: the last one
 */
struct eventlog_ue_set {
	struct eventlog_ue_owner *owner;
	struct rb_root enablers;
	unsigned int count;
	unsigned int holders;
	struct list_head memories;
	struct list_head node;
	unsigned long round;
	unsigned long since;
	unsigned long last;
};

/**
 * eventlog_ue_enabler_new() - make an enabler that is in no set
 * @watch: the event; the caller has a registration
 * @user: who registers
 * @bit: where it is
 *
 * Process context; no lock is held.
 *
 * Return: the enabler, or ERR_PTR: -ENOMEM; -EMFILE: the user has too many registrations.
 */
struct eventlog_ue_enabler *eventlog_ue_enabler_new(struct eventlog_watch *watch,
						    struct eventlog_user *user,
						    const struct eventlog_ue_bit *bit);

/**
 * eventlog_ue_enabler_free() - free an enabler that is in no set
 * @enabler: the enabler, or NULL
 *
 * Takes domain->lock; no lock is held.
 */
void eventlog_ue_enabler_free(struct eventlog_ue_enabler *enabler);

/**
 * eventlog_ue_enabler_find() - find the enabler of a bit
 * @set: the set; eventlog_ue_mutex is held
 * @bit: its size does not matter
 *
 * Return: the enabler, or NULL.
 */
struct eventlog_ue_enabler *eventlog_ue_enabler_find(const struct eventlog_ue_set *set,
						     const struct eventlog_ue_bit *bit);

/**
 * eventlog_ue_enabler_from() - find the first enabler at a bit or behind it
 * @set: the set; eventlog_ue_mutex is held
 * @bit: its size does not matter
 *
 * Return: the enabler, or NULL.
 */
struct eventlog_ue_enabler *eventlog_ue_enabler_from(const struct eventlog_ue_set *set,
						     const struct eventlog_ue_bit *bit);

/* The next enabler of the same set, or NULL. */
static inline struct eventlog_ue_enabler *
eventlog_ue_enabler_next(const struct eventlog_ue_enabler *enabler)
{
	return rb_entry_safe(rb_next(&enabler->node), struct eventlog_ue_enabler, node);
}

/**
 * eventlog_ue_enabler_insert() - put an enabler into a set
 * @set: no one shares it; eventlog_ue_mutex is held
 * @enabler: of a bit that has none there
 * @round: the last change of the event that the bit may show
 */
void eventlog_ue_enabler_insert(struct eventlog_ue_set *set, struct eventlog_ue_enabler *enabler,
				unsigned long round);

/**
 * eventlog_ue_enabler_unlink() - take an enabler out of its set
 * @enabler: no one shares the set; eventlog_ue_mutex is held
 */
void eventlog_ue_enabler_unlink(struct eventlog_ue_enabler *enabler);

/**
 * eventlog_ue_set_new() - make an empty set that nothing holds
 * @owner: of its memories; gets a reference
 * @nofail: wait for memory, which is not charged, for a call that must not fail
 *
 * Process context.
 *
 * Return: the set, or NULL.
 */
struct eventlog_ue_set *eventlog_ue_set_new(struct eventlog_ue_owner *owner, bool nofail);

/**
 * eventlog_ue_set_free() - free an empty set that nothing holds
 * @set: the set
 *
 * Process context.
 */
void eventlog_ue_set_free(struct eventlog_ue_set *set);

/**
 * eventlog_ue_set_hold() - become a holder of a set
 * @set: a memory holds it; eventlog_ue_mutex is held
 *
 * Return: @set, for eventlog_ue_set_put().
 */
struct eventlog_ue_set *eventlog_ue_set_hold(struct eventlog_ue_set *set);

/**
 * eventlog_ue_set_crowded() - has a set so many memories that work items write its bits
 * @set: the set; eventlog_ue_mutex is held
 */
bool eventlog_ue_set_crowded(const struct eventlog_ue_set *set);

/**
 * eventlog_ue_set_copy() - make a copy of a set that nothing holds
 * @set: the caller is a holder
 * @without: leave this bit out; NULL: none
 * @lossy: leave out what the user's limit or memory does not allow, rather than fail
 * @lost: set to true if something was left out
 *
 * Process context; no lock is held.
 *
 * Return: the copy, for eventlog_ue_set_drop(), or ERR_PTR: -ENOMEM; -EMFILE: the user has
 * too many registrations; -EINTR: a fatal signal.
 */
struct eventlog_ue_set *eventlog_ue_set_copy(struct eventlog_ue_set *set,
					     const struct eventlog_ue_bit *without, bool lossy,
					     bool *lost);

/**
 * eventlog_ue_set_drop() - let a work item free a set
 * @set: nothing holds it; eventlog_ue_mutex is held
 */
void eventlog_ue_set_drop(struct eventlog_ue_set *set);

/**
 * eventlog_ue_set_put() - let go of a set as one of its holders
 * @set: the set; eventlog_ue_mutex is held
 */
void eventlog_ue_set_put(struct eventlog_ue_set *set);

/**
 * eventlog_ue_sets_free() - free some enablers of sets that were dropped
 *
 * Process context; no lock is held.
 *
 * Return: true: more are left.
 */
bool eventlog_ue_sets_free(void);

#endif /* EVENTLOG_USER_EVENTS_SET_H */
