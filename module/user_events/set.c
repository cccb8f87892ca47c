// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sets of enablers: see set.h.
 */
#include <linux/err.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "compat.h"

#if EVENTLOG_TRACE_EVENTS

#include "core/user.h"
#include "memory.h"
#include "user_events/enabler.h"
#include "user_events/space.h"
#include "user_events/set.h"

DEFINE_MUTEX(ue_mutex);
struct eventlog_steps ue_steps;
DEFINE_RAW_SPINLOCK(ue_table_lock);

/* More address spaces than that have their work items write the bits of a set. */
#define UE_SHARED_MAX 16

/* Sets that nothing holds. */
static LIST_HEAD(ue_sets_dropped);

/* ---- enablers ---- */

struct ue_enabler *ue_enabler_new(struct eventlog_watch *watch,
				  struct eventlog_user *user,
				  const struct ue_bit *bit)
{
	struct ue_enabler *enabler = eventlog_alloc(sizeof(*enabler));

	if (!enabler)
		return ERR_PTR(-ENOMEM);
	if (!eventlog_user_charge(user, EVENTLOG_QUOTA_REGISTRATIONS, 1)) {
		eventlog_free(enabler);
		return ERR_PTR(-EMFILE);
	}
	enabler->watch = watch;
	enabler->use.user = eventlog_user_get(user);
	enabler->bit = *bit;
	ue_event_use(watch, &enabler->use);
	return enabler;
}

void ue_enabler_free(struct ue_enabler *enabler)
{
	struct eventlog_user *user;

	if (!enabler)
		return;
	user = enabler->use.user;
	ue_event_put(enabler->watch, &enabler->use);
	eventlog_user_uncharge(user, EVENTLOG_QUOTA_REGISTRATIONS, 1);
	eventlog_user_put(user);
	eventlog_free(enabler);
}

static int ue_bit_compare(const struct ue_bit *a, const struct ue_bit *b)
{
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return (int)a->bit - b->bit;
}

static struct ue_enabler *ue_enabler_of(struct rb_node *node)
{
	return rb_entry_safe(node, struct ue_enabler, node);
}

struct ue_enabler *ue_enabler_from(const struct ue_set *set, const struct ue_bit *bit)
{
	struct ue_enabler *found = NULL;
	struct rb_node *node = set->enablers.rb_node;

	while (node) {
		struct ue_enabler *enabler = ue_enabler_of(node);

		if (ue_bit_compare(bit, &enabler->bit) > 0) {
			node = node->rb_right;
			continue;
		}
		found = enabler;
		node = node->rb_left;
	}
	return found;
}

struct ue_enabler *ue_enabler_find(const struct ue_set *set, const struct ue_bit *bit)
{
	struct ue_enabler *enabler = ue_enabler_from(set, bit);

	return enabler && !ue_bit_compare(bit, &enabler->bit) ? enabler : NULL;
}

void ue_enabler_insert(struct ue_set *set, struct ue_enabler *enabler, unsigned long round)
{
	struct rb_node **link = &set->enablers.rb_node, *parent = NULL;

	lockdep_assert_held(&ue_mutex);
	while (*link) {
		parent = *link;
		link = ue_bit_compare(&enabler->bit, &ue_enabler_of(parent)->bit) < 0 ?
			&parent->rb_left : &parent->rb_right;
	}
	rb_link_node(&enabler->node, parent, link);
	rb_insert_color(&enabler->node, &set->enablers);
	set->count++;
	enabler->set = set;
	enabler->round = round;
	/* Those that know the last change are at the end. */
	if (round == READ_ONCE(enabler->watch->round))
		list_add_tail(&enabler->event_node, &enabler->watch->enablers);
	else
		list_add(&enabler->event_node, &enabler->watch->enablers);
}

void ue_enabler_unlink(struct ue_enabler *enabler)
{
	lockdep_assert_held(&ue_mutex);
	rb_erase(&enabler->node, &enabler->set->enablers);
	enabler->set->count--;
	list_del(&enabler->event_node);
}

/* ---- sets ---- */

struct ue_set *ue_set_new(struct ue_owner *owner, bool nofail)
{
	struct ue_set *set = nofail ? NULL : eventlog_alloc(sizeof(*set));

	/* Not __GFP_NOFAIL: before 5.17 kvmalloc() did not heed it. */
	while (!set && nofail) {
		set = eventlog_alloc_locked(sizeof(*set));
		if (!set)
			schedule_timeout_uninterruptible(1);
	}
	if (!set)
		return NULL;
	set->owner = ue_owner_ref(owner);
	set->enablers = RB_ROOT;
	INIT_LIST_HEAD(&set->spaces);
	INIT_LIST_HEAD(&set->node);
	return set;
}

void ue_set_free(struct ue_set *set)
{
	ue_owner_put(set->owner);
	eventlog_free(set);
}

struct ue_set *ue_set_hold(struct ue_set *set)
{
	lockdep_assert_held(&ue_mutex);
	raw_spin_lock(&ue_table_lock);
	set->holders++;
	raw_spin_unlock(&ue_table_lock);
	return set;
}

bool ue_set_crowded(const struct ue_set *set)
{
	bool crowded;

	lockdep_assert_held(&ue_mutex);
	raw_spin_lock(&ue_table_lock);
	crowded = set->holders > UE_SHARED_MAX;
	raw_spin_unlock(&ue_table_lock);
	return crowded;
}

/* Adds a copy of an enabler to a set; what it allocates is charged to the caller. */
static int ue_set_copy_one(struct ue_set *copy, const struct ue_enabler *old)
{
	struct ue_enabler *enabler;

	enabler = ue_enabler_new(old->watch, old->use.user, &old->bit);
	if (IS_ERR(enabler))
		return PTR_ERR(enabler);
	ue_lock();
	/* Whatever changes: the address space looks at all bits when it has the copy. */
	ue_enabler_insert(copy, enabler, READ_ONCE(old->watch->round));
	eventlog_steps_add(&ue_steps, 1);
	ue_unlock();
	return 0;
}

struct ue_set *ue_set_copy(struct ue_set *set,
			   const struct ue_bit *without, bool lossy,
			   bool *lost)
{
	struct ue_set *copy;
	const struct ue_enabler *enabler;
	struct rb_node *node;
	int ret;

	copy = ue_set_new(set->owner, lossy);
	if (!copy)
		return ERR_PTR(-ENOMEM);
	/* The caller holds it, so no one changes it. */
	for (node = rb_first(&set->enablers); node; node = rb_next(node)) {
		enabler = ue_enabler_of(node);
		if (without && !ue_bit_compare(without, &enabler->bit))
			continue;
		ret = fatal_signal_pending(current) ? -EINTR : ue_set_copy_one(copy, enabler);
		if (ret && (!lossy || ret == -EINTR))
			goto err_drop;
		*lost |= !!ret;
		cond_resched();
	}
	return copy;

err_drop:
	ue_lock();
	ue_set_drop(copy);
	ue_unlock();
	return ERR_PTR(ret);
}

void ue_set_drop(struct ue_set *set)
{
	lockdep_assert_held(&ue_mutex);
	list_move_tail(&set->node, &ue_sets_dropped);
	ue_work_queue();
}

void ue_set_put(struct ue_set *set)
{
	bool last;

	raw_spin_lock(&ue_table_lock);
	last = !--set->holders;
	raw_spin_unlock(&ue_table_lock);
	if (last)
		ue_set_drop(set);
}

/* Unlinks some enablers of the first dropped set; frees them without the lock. */
bool ue_sets_free(void)
{
	struct ue_enabler *enabler, *next;
	struct ue_set *set;
	unsigned int i;
	LIST_HEAD(list);

	ue_lock();
	set = list_first_entry_or_null(&ue_sets_dropped, struct ue_set, node);
	for (i = 0; set && i < UE_BATCH && set->count; i++) {
		enabler = ue_enabler_of(rb_first(&set->enablers));
		ue_enabler_unlink(enabler);
		list_add_tail(&enabler->event_node, &list);
	}
	eventlog_steps_add(&ue_steps, i);
	if (set && set->count)
		list_move_tail(&set->node, &ue_sets_dropped);
	else if (set)
		list_del(&set->node);
	ue_unlock();
	if (!set)
		return false;
	list_for_each_entry_safe(enabler, next, &list, event_node) {
		ue_enabler_free(enabler);
		cond_resched();
	}
	/* Only this function changes a dropped set. */
	if (!set->count)
		ue_set_free(set);
	return true;
}

#endif /* EVENTLOG_TRACE_EVENTS */
