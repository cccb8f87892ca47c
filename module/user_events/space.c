// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address spaces of processes: see space.h.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>

#include "compat.h"

#if EVENTLOG_TRACE_EVENTS

#include "core/user.h"
#include "memory.h"
#include "user_events/bit.h"
#include "user_events/enabler.h"
#include "user_events/space.h"
#include "user_events/set.h"

/* How often a page is faulted in before its bit is given up until the next change. */
#define UE_FAULTS_MAX 10
/* How often a locked page is tried again, about once in a jiffy. */
#define UE_LOCKED_MAX 1000
/* Most work items of one owner, and of the one without limits. */
#define UE_WORKS_MAX 4
#define UE_WORKS_MAX_UNLIMITED 16
/* Most children that wait for the first look at their bits: each may have exited already. */
#define UE_FRESH_MAX 1024
#define UE_FRESH_MAX_UNLIMITED 16384
/*
 * Structs for forks when there is no memory.  The probe runs with preemption disabled, and
 * PREEMPT_RT allocates no memory then: there, all children take one of these.
 */
#define UE_SPARES (IS_ENABLED(CONFIG_PREEMPT_RT) ? 1024 : 64)

/**
 * struct ue_owner - the user of address spaces; under ue_table_lock
 * @node: in the table
 * @user: the user, referred to, or NULL
 * @references: of address spaces, sets and calls
 * @working: address spaces whose work item is queued or running
 * @fresh: address spaces that are fresh
 * @waiting: &struct ue_space.work_node
 */
struct ue_owner {
	struct hlist_node node;
	struct eventlog_user *user;
	unsigned int references;
	unsigned int working;
	unsigned int fresh;
	struct list_head waiting;
};

struct workqueue_struct *ue_queue;

/* Under ue_table_lock. */
static DEFINE_HASHTABLE(ue_spaces, 12);
static DEFINE_HASHTABLE(ue_owners, 6);
static LIST_HEAD(ue_all);
static LIST_HEAD(ue_spares);
static unsigned int ue_spare_count;

static atomic_t ue_space_count;
static atomic_long_t ue_lost;

static void ue_space_work(struct work_struct *work);

/* ---- owners ---- */

static struct ue_owner *ue_owner_find(const struct eventlog_user *user)
{
	struct ue_owner *owner;

	hash_for_each_possible(ue_owners, owner, node, (unsigned long)user)
		if (owner->user == user)
			return owner;
	return NULL;
}

struct ue_owner *ue_owner_get(struct eventlog_user *user)
{
	struct ue_owner *owner, *spare = eventlog_alloc(sizeof(*spare));

	if (!spare)
		return NULL;
	spare->user = user;
	INIT_LIST_HEAD(&spare->waiting);
	raw_spin_lock(&ue_table_lock);
	owner = ue_owner_find(user);
	if (!owner) {
		owner = spare;
		eventlog_user_get(user);
		hash_add(ue_owners, &owner->node, (unsigned long)user);
	}
	owner->references++;
	raw_spin_unlock(&ue_table_lock);
	if (owner != spare)
		eventlog_free(spare);
	return owner;
}

struct ue_owner *ue_owner_ref(struct ue_owner *owner)
{
	raw_spin_lock(&ue_table_lock);
	owner->references++;
	raw_spin_unlock(&ue_table_lock);
	return owner;
}

void ue_owner_put(struct ue_owner *owner)
{
	bool last;

	raw_spin_lock(&ue_table_lock);
	last = !--owner->references;
	if (last)
		hash_del(&owner->node);
	raw_spin_unlock(&ue_table_lock);
	if (!last)
		return;
	eventlog_user_put(owner->user);
	eventlog_free(owner);
}

/* Takes what a child needs of the owner's limits. */
static bool ue_owner_admit(struct ue_owner *owner)
{
	unsigned int most = owner->user ? UE_FRESH_MAX : UE_FRESH_MAX_UNLIMITED;

	lockdep_assert_held(&ue_table_lock);
	if (owner->fresh >= most ||
	    !eventlog_user_charge(owner->user, EVENTLOG_QUOTA_REGISTRATIONS, 1))
		return false;
	owner->fresh++;
	return true;
}

/* Gives back what ue_owner_admit() took. */
static void ue_owner_forget(struct ue_owner *owner)
{
	lockdep_assert_held(&ue_table_lock);
	owner->fresh--;
	eventlog_user_uncharge(owner->user, EVENTLOG_QUOTA_REGISTRATIONS, 1);
}

/* A stuck work item must not make unloading wait for ever, so each pins the module. */
static void ue_owner_start(struct ue_owner *owner)
{
	unsigned int most = owner->user ? UE_WORKS_MAX : UE_WORKS_MAX_UNLIMITED;
	struct ue_space *space;

	lockdep_assert_held(&ue_table_lock);
	while (owner->working < most && !list_empty(&owner->waiting)) {
		if (!try_module_get(THIS_MODULE))
			return;
		space = list_first_entry(&owner->waiting, struct ue_space, work_node);
		list_del_init(&space->work_node);
		space->working = true;
		owner->working++;
		queue_work(ue_queue, &space->work);
	}
}

/* ---- the table ---- */

struct ue_space *ue_space_find(const struct mm_struct *mm)
{
	struct ue_space *space;

	hash_for_each_possible_rcu(ue_spaces, space, node, (unsigned long)mm,
				   lockdep_is_held(&ue_mutex) ||
				   lockdep_is_held(&ue_table_lock))
		if (space->mm == mm)
			return space;
	return NULL;
}

unsigned int ue_spaces_count(void)
{
	return atomic_read(&ue_space_count);
}

struct ue_space *ue_spaces_first(void)
{
	struct ue_space *space;

	/* Fork adds to the list. */
	raw_spin_lock(&ue_table_lock);
	space = list_first_entry_or_null(&ue_all, struct ue_space, all_node);
	raw_spin_unlock(&ue_table_lock);
	return space;
}

struct ue_space *ue_space_new(void)
{
	return eventlog_alloc(sizeof(struct ue_space));
}

static void ue_space_join(struct ue_space *space, struct ue_set *set)
{
	lockdep_assert_held(&ue_table_lock);
	space->set = set;
	space->set_round = set->round;
	set->holders++;
	/* The holder of ue_mutex may be reading the list. */
	list_add_tail_rcu(&space->set_node, &set->spaces);
}

static void ue_space_publish(struct ue_space *space, struct mm_struct *mm, struct ue_set *set)
{
	lockdep_assert_held(&ue_table_lock);
	mmgrab(mm);
	space->mm = mm;
	space->owner = set->owner;
	space->owner->references++;
	INIT_WORK(&space->work, ue_space_work);
	INIT_LIST_HEAD(&space->work_node);
	ue_space_join(space, set);
	list_add_tail(&space->all_node, &ue_all);
	hash_add_rcu(ue_spaces, &space->node, (unsigned long)mm);
	atomic_inc(&ue_space_count);
}

void ue_space_add(struct ue_space *space, struct ue_set *set)
{
	lockdep_assert_held(&ue_mutex);
	raw_spin_lock(&ue_table_lock);
	ue_space_publish(space, current->mm, set);
	raw_spin_unlock(&ue_table_lock);
}

static void ue_space_free_rcu(struct rcu_head *rcu)
{
	eventlog_free(container_of(rcu, struct ue_space, rcu));
}

/* It is neither in the table nor working. */
static void ue_space_release(struct ue_space *space)
{
	mmdrop(space->mm);
	ue_owner_put(space->owner);
	/* A probe may be reading it. */
	call_rcu(&space->rcu, ue_space_free_rcu);
}

static bool ue_space_dropped(const struct ue_space *space)
{
	return hlist_unhashed(&space->node);
}

static void ue_space_settled(struct ue_space *space)
{
	lockdep_assert_held(&ue_table_lock);
	if (space->fresh)
		space->owner->fresh--;
	space->fresh = false;
}

void ue_space_drop(struct ue_space *space)
{
	struct ue_owner *owner = space->owner;
	bool working;

	lockdep_assert_held(&ue_mutex);
	raw_spin_lock(&ue_table_lock);
	hlist_del_init_rcu(&space->node);
	list_del(&space->all_node);
	list_del(&space->set_node);
	ue_space_settled(space);
	working = space->working;
	if (!working)
		list_del_init(&space->work_node);
	raw_spin_unlock(&ue_table_lock);
	atomic_dec(&ue_space_count);
	if (space->child)
		eventlog_user_uncharge(owner->user, EVENTLOG_QUOTA_REGISTRATIONS, 1);
	ue_set_put(space->set);
	space->set = NULL;
	if (!working)
		ue_space_release(space);
}

bool ue_space_exclusive(const struct ue_space *space)
{
	bool exclusive;

	lockdep_assert_held(&ue_mutex);
	raw_spin_lock(&ue_table_lock);
	exclusive = space->set->holders == 1;
	raw_spin_unlock(&ue_table_lock);
	return exclusive;
}

void ue_space_rotate(struct ue_space *space)
{
	lockdep_assert_held(&ue_mutex);
	raw_spin_lock(&ue_table_lock);
	space->set_round = space->set->round;
	list_move_tail(&space->set_node, &space->set->spaces);
	raw_spin_unlock(&ue_table_lock);
}

void ue_space_move(struct ue_space *space, struct ue_set *set)
{
	struct ue_set *old = space->set;

	lockdep_assert_held(&ue_mutex);
	raw_spin_lock(&ue_table_lock);
	list_del(&space->set_node);
	ue_space_join(space, set);
	raw_spin_unlock(&ue_table_lock);
	ue_set_put(old);
	/* Changes may have been carried out for either set only. */
	space->all = true;
	ue_space_defer(space, 0);
}

bool ue_spaces_purge(unsigned int count)
{
	struct ue_space *space;
	bool exited = false;
	unsigned int i;

	ue_lock();
	for (i = 0; i < count && (space = ue_spaces_first()); i++) {
		if (!atomic_read(&space->mm->mm_users)) {
			ue_space_drop(space);
			continue;
		}
		exited |= READ_ONCE(space->exited);
		raw_spin_lock(&ue_table_lock);
		list_move_tail(&space->all_node, &ue_all);
		raw_spin_unlock(&ue_table_lock);
	}
	eventlog_steps_add(&ue_steps, i);
	ue_unlock();
	return exited;
}

/* ---- fork ---- */

unsigned long ue_children_lost(void)
{
	return atomic_long_read(&ue_lost);
}

void ue_child_lose(void)
{
	atomic_long_inc(&ue_lost);
}

static struct ue_space *ue_spare_take(void)
{
	struct ue_space *space;

	lockdep_assert_held(&ue_table_lock);
	space = list_first_entry_or_null(&ue_spares, struct ue_space, all_node);
	if (space) {
		list_del(&space->all_node);
		ue_spare_count--;
	}
	return space;
}

/* They are not charged, but limited as registrations, once a child has them. */
void ue_spares_fill(void)
{
	struct ue_space *space;

	while (READ_ONCE(ue_spare_count) < UE_SPARES) {
		space = eventlog_alloc_locked(sizeof(*space));
		if (!space)
			return;
		raw_spin_lock(&ue_table_lock);
		list_add(&space->all_node, &ue_spares);
		ue_spare_count++;
		raw_spin_unlock(&ue_table_lock);
		cond_resched();
	}
}

void ue_spares_free(void)
{
	struct ue_space *space;

	do {
		raw_spin_lock(&ue_table_lock);
		space = ue_spare_take();
		raw_spin_unlock(&ue_table_lock);
		eventlog_free(space);
	} while (space);
}

/* Returns false if the child is lost; then *@space is still the caller's. */
static bool ue_space_add_child(const struct ue_space *parent, struct mm_struct *child,
			   struct ue_space **space)
{
	struct ue_space *added;

	lockdep_assert_held(&ue_table_lock);
	if (!ue_owner_admit(parent->owner))
		return false;
	added = *space ?: ue_spare_take();
	if (!added) {
		ue_owner_forget(parent->owner);
		return false;
	}
	added->child = true;
	added->fresh = true;
	/* The parent's bits may have changed since they were copied. */
	added->all = true;
	ue_space_publish(added, child, parent->set);
	list_add_tail(&added->work_node, &added->owner->waiting);
	ue_owner_start(added->owner);
	*space = NULL;
	return true;
}

void ue_space_fork(const struct mm_struct *parent, struct mm_struct *child)
{
	struct ue_space *space = NULL;
	const struct ue_space *found;
	bool follows, wants_spares;

	rcu_read_lock();
	found = ue_space_find(parent);
	rcu_read_unlock();
	if (!found)
		return;
	/* Charged to the parent. */
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		space = eventlog_alloc_atomic(sizeof(*space));
	raw_spin_lock(&ue_table_lock);
	/* Another thread may have unregistered the last bit. */
	found = ue_space_find(parent);
	follows = !found || ue_space_add_child(found, child, &space);
	wants_spares = ue_spare_count <= UE_SPARES / 2;
	raw_spin_unlock(&ue_table_lock);
	if (!follows)
		ue_child_lose();
	if (wants_spares)
		ue_work_queue();
	eventlog_free(space);
}

/* ---- work items ---- */

void ue_space_defer(struct ue_space *space, unsigned long round)
{
	bool idle;

	lockdep_assert_held(&ue_mutex);
	raw_spin_lock(&ue_table_lock);
	idle = !space->working && list_empty(&space->work_node);
	if (idle || (long)(round - space->since) < 0)
		space->since = round;
	space->round = round;
	if (idle)
		list_add_tail(&space->work_node, &space->owner->waiting);
	space->again |= space->working;
	ue_owner_start(space->owner);
	raw_spin_unlock(&ue_table_lock);
}

static void ue_space_rewind(struct ue_space *space, bool faulting)
{
	space->next = (struct ue_bit){};
	space->faults = 0;
	space->missed = false;
	space->again = false;
	space->faulting = faulting;
}

/*
 * Ends the work item.  If events changed meanwhile, the address space waits again, behind the
 * owner's others, which would wait for ever if events changed all the time.
 */
static void ue_space_done(struct ue_space *space)
{
	struct ue_owner *owner = space->owner;
	bool dropped = ue_space_dropped(space);
	bool again = space->again && !dropped;

	lockdep_assert_held(&ue_mutex);
	ue_space_rewind(space, false);
	space->all &= again;
	raw_spin_lock(&ue_table_lock);
	ue_space_settled(space);
	space->working = false;
	owner->working--;
	if (again)
		list_add_tail(&space->work_node, &owner->waiting);
	ue_owner_start(owner);
	raw_spin_unlock(&ue_table_lock);
	if (dropped)
		ue_space_release(space);
}

static bool ue_enabler_changed(const struct ue_space *space, const struct ue_enabler *enabler)
{
	return space->all || (long)(READ_ONCE(enabler->watch->round) - space->since) >= 0;
}

/*
 * Looks at the next bits; mmap_lock is held.
 *
 * Return: 0: all bits are done; -EINPROGRESS: there are more; else the errno of
 * ue_bit_write() for &space->next, whose page must be faulted in.
 */
static int ue_space_scan(struct ue_space *space, struct eventlog_steps *steps)
{
	struct ue_enabler *enabler;
	unsigned int i;
	int ret;

	enabler = ue_enabler_from(space->set, &space->next);
	for (i = 0; enabler && i < UE_BATCH; i++) {
		eventlog_steps_add(&ue_steps, 1);
		eventlog_steps_add(steps, 1);
		ret = 0;
		if (ue_enabler_changed(space, enabler))
			ret = ue_bit_write(space->mm, &enabler->bit,
					   ue_wanted(enabler->watch), true);
		if (ret && space->faulting) {
			space->next = enabler->bit;
			return ret;
		}
		space->missed |= ret;
		space->faults = 0;
		enabler = ue_enabler_next(enabler);
	}
	if (enabler) {
		space->next = enabler->bit;
		return -EINPROGRESS;
	}
	return 0;
}

/* As ue_space_scan(); 0: the work is done, and @space may be freed. */
static int ue_space_look(struct ue_space *space, bool alive, struct eventlog_steps *steps)
{
	bool dropped = ue_space_dropped(space);
	int ret = 0;

	if (!dropped && !alive)
		ue_space_drop(space);
	else if (!dropped)
		ret = ue_space_scan(space, steps);
	if (ret)
		return ret;
	/* Even if events changed meanwhile, which may go on for ever. */
	if (!ue_space_dropped(space) && space->missed) {
		ue_space_rewind(space, true);
		return -EINPROGRESS;
	}
	ue_space_done(space);
	return 0;
}

/* Counts that the page of the next bit was faulted in, or gives the bit up. */
static void ue_space_faulted(struct ue_space *space, bool failed)
{
	if (!failed && ++space->faults <= UE_FAULTS_MAX)
		return;
	space->next.bit++;
	space->faults = 0;
}

/* Returns false when nothing is left to do.  Then @space may be freed. */
static bool ue_space_step(struct ue_space *space, unsigned int *locked)
{
	struct mm_struct *mm = space->mm;
	bool alive = mmget_not_zero(mm), failed = false;
	struct eventlog_steps steps;
	int ret;

	if (alive)
		mmap_read_lock(mm);
	eventlog_steps_begin(&steps);
	ue_lock();
	ret = ue_space_look(space, alive, &steps);
	ue_unlock();
	/* Only this work item changes the next bit. */
	if (ret == -EFAULT)
		failed = ue_bit_fault_in(mm, &space->next);
	eventlog_steps_end(&steps, EVENTLOG_STEPS_MMAP);
	if (alive) {
		mmap_read_unlock(mm);
		mmput_async(mm);
	}
	if (ret == -EAGAIN && ++*locked <= UE_LOCKED_MAX)
		msleep(1);
	else if (ret == -EFAULT || ret == -EAGAIN)
		ue_space_faulted(space, failed || ret == -EAGAIN);
	cond_resched();
	return ret;
}

static void ue_space_work(struct work_struct *work)
{
	struct ue_space *space = container_of(work, struct ue_space, work);
	struct mm_struct *mm = space->mm;
	unsigned int locked = 0;

	mmgrab(mm);
	while (ue_space_step(space, &locked))
		;
	mmdrop(mm);
	/* Unloading waits until the queue is empty. */
	module_put(THIS_MODULE);
}

#endif /* EVENTLOG_TRACE_EVENTS */
