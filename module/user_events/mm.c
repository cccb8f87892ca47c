// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memories of processes: see mm.h.
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
#include "user_events/mm.h"
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
 * Memories for forks when there is no memory.  The probe runs with preemption disabled, and
 * PREEMPT_RT allocates no memory then: there, all children take one of these.
 */
#define UE_SPARES (IS_ENABLED(CONFIG_PREEMPT_RT) ? 1024 : 64)

/**
 * struct eventlog_ue_owner - the user of memories; under eventlog_ue_table_lock
 * @node: in the table
 * @user: the user, referred to, or NULL
 * @references: of memories, sets and calls
 * @working: memories whose work item is queued or running
 * @fresh: memories that are fresh
 * @waiting: &struct eventlog_ue_memory.work_node
 */
struct eventlog_ue_owner {
	struct hlist_node node;
	struct eventlog_user *user;
	unsigned int references;
	unsigned int working;
	unsigned int fresh;
	struct list_head waiting;
};

struct workqueue_struct *eventlog_ue_queue;

/* Under eventlog_ue_table_lock. */
static DEFINE_HASHTABLE(ue_memories, 12);
static DEFINE_HASHTABLE(ue_owners, 6);
static LIST_HEAD(ue_all);
static LIST_HEAD(ue_spares);
static unsigned int ue_spare_count;

static atomic_t ue_memory_count;
static atomic_long_t ue_lost;

static void ue_memory_work(struct work_struct *work);

/* ---- owners ---- */

static struct eventlog_ue_owner *ue_owner_find(const struct eventlog_user *user)
{
	struct eventlog_ue_owner *owner;

	hash_for_each_possible(ue_owners, owner, node, (unsigned long)user)
		if (owner->user == user)
			return owner;
	return NULL;
}

struct eventlog_ue_owner *eventlog_ue_owner_get(struct eventlog_user *user)
{
	struct eventlog_ue_owner *owner, *spare = eventlog_alloc(sizeof(*spare));

	if (!spare)
		return NULL;
	spare->user = user;
	INIT_LIST_HEAD(&spare->waiting);
	raw_spin_lock(&eventlog_ue_table_lock);
	owner = ue_owner_find(user);
	if (!owner) {
		owner = spare;
		eventlog_user_get(user);
		hash_add(ue_owners, &owner->node, (unsigned long)user);
	}
	owner->references++;
	raw_spin_unlock(&eventlog_ue_table_lock);
	if (owner != spare)
		eventlog_free(spare);
	return owner;
}

struct eventlog_ue_owner *eventlog_ue_owner_ref(struct eventlog_ue_owner *owner)
{
	raw_spin_lock(&eventlog_ue_table_lock);
	owner->references++;
	raw_spin_unlock(&eventlog_ue_table_lock);
	return owner;
}

void eventlog_ue_owner_put(struct eventlog_ue_owner *owner)
{
	bool last;

	raw_spin_lock(&eventlog_ue_table_lock);
	last = !--owner->references;
	if (last)
		hash_del(&owner->node);
	raw_spin_unlock(&eventlog_ue_table_lock);
	if (!last)
		return;
	eventlog_user_put(owner->user);
	eventlog_free(owner);
}

/* Takes what a child needs of the owner's limits. */
static bool ue_owner_admit(struct eventlog_ue_owner *owner)
{
	unsigned int most = owner->user ? UE_FRESH_MAX : UE_FRESH_MAX_UNLIMITED;

	lockdep_assert_held(&eventlog_ue_table_lock);
	if (owner->fresh >= most ||
	    !eventlog_user_charge(owner->user, EVENTLOG_QUOTA_REGISTRATIONS, 1))
		return false;
	owner->fresh++;
	return true;
}

/* Gives back what ue_owner_admit() took. */
static void ue_owner_forget(struct eventlog_ue_owner *owner)
{
	lockdep_assert_held(&eventlog_ue_table_lock);
	owner->fresh--;
	eventlog_user_uncharge(owner->user, EVENTLOG_QUOTA_REGISTRATIONS, 1);
}

/* A stuck work item must not make unloading wait for ever, so each pins the module. */
static void ue_owner_start(struct eventlog_ue_owner *owner)
{
	unsigned int most = owner->user ? UE_WORKS_MAX : UE_WORKS_MAX_UNLIMITED;
	struct eventlog_ue_memory *memory;

	lockdep_assert_held(&eventlog_ue_table_lock);
	while (owner->working < most && !list_empty(&owner->waiting)) {
		if (!try_module_get(THIS_MODULE))
			return;
		memory = list_first_entry(&owner->waiting, struct eventlog_ue_memory, work_node);
		list_del_init(&memory->work_node);
		memory->working = true;
		owner->working++;
		queue_work(eventlog_ue_queue, &memory->work);
	}
}

/* ---- the table ---- */

struct eventlog_ue_memory *eventlog_ue_memory_find(const struct mm_struct *mm)
{
	struct eventlog_ue_memory *memory;

	hash_for_each_possible_rcu(ue_memories, memory, node, (unsigned long)mm,
				   lockdep_is_held(&eventlog_ue_mutex) ||
				   lockdep_is_held(&eventlog_ue_table_lock))
		if (memory->mm == mm)
			return memory;
	return NULL;
}

unsigned int eventlog_ue_memories_count(void)
{
	return atomic_read(&ue_memory_count);
}

struct eventlog_ue_memory *eventlog_ue_memories_first(void)
{
	struct eventlog_ue_memory *memory;

	/* Fork adds to the list. */
	raw_spin_lock(&eventlog_ue_table_lock);
	memory = list_first_entry_or_null(&ue_all, struct eventlog_ue_memory, all_node);
	raw_spin_unlock(&eventlog_ue_table_lock);
	return memory;
}

struct eventlog_ue_memory *eventlog_ue_memory_new(void)
{
	return eventlog_alloc(sizeof(struct eventlog_ue_memory));
}

static void ue_memory_join(struct eventlog_ue_memory *memory, struct eventlog_ue_set *set)
{
	lockdep_assert_held(&eventlog_ue_table_lock);
	memory->set = set;
	memory->set_round = set->round;
	set->holders++;
	/* The holder of eventlog_ue_mutex may be reading the list. */
	list_add_tail_rcu(&memory->set_node, &set->memories);
}

static void ue_memory_publish(struct eventlog_ue_memory *memory, struct mm_struct *mm,
			      struct eventlog_ue_set *set)
{
	lockdep_assert_held(&eventlog_ue_table_lock);
	mmgrab(mm);
	memory->mm = mm;
	memory->owner = set->owner;
	memory->owner->references++;
	INIT_WORK(&memory->work, ue_memory_work);
	INIT_LIST_HEAD(&memory->work_node);
	ue_memory_join(memory, set);
	list_add_tail(&memory->all_node, &ue_all);
	hash_add_rcu(ue_memories, &memory->node, (unsigned long)mm);
	atomic_inc(&ue_memory_count);
}

void eventlog_ue_memory_add(struct eventlog_ue_memory *memory, struct eventlog_ue_set *set)
{
	lockdep_assert_held(&eventlog_ue_mutex);
	raw_spin_lock(&eventlog_ue_table_lock);
	ue_memory_publish(memory, current->mm, set);
	raw_spin_unlock(&eventlog_ue_table_lock);
}

static void ue_memory_free_rcu(struct rcu_head *rcu)
{
	eventlog_free(container_of(rcu, struct eventlog_ue_memory, rcu));
}

/* It is neither in the table nor working. */
static void ue_memory_release(struct eventlog_ue_memory *memory)
{
	mmdrop(memory->mm);
	eventlog_ue_owner_put(memory->owner);
	/* A probe may be reading it. */
	call_rcu(&memory->rcu, ue_memory_free_rcu);
}

static bool ue_memory_dropped(const struct eventlog_ue_memory *memory)
{
	return hlist_unhashed(&memory->node);
}

static void ue_memory_settled(struct eventlog_ue_memory *memory)
{
	lockdep_assert_held(&eventlog_ue_table_lock);
	if (memory->fresh)
		memory->owner->fresh--;
	memory->fresh = false;
}

void eventlog_ue_memory_drop(struct eventlog_ue_memory *memory)
{
	struct eventlog_ue_owner *owner = memory->owner;
	bool working;

	lockdep_assert_held(&eventlog_ue_mutex);
	raw_spin_lock(&eventlog_ue_table_lock);
	hlist_del_init_rcu(&memory->node);
	list_del(&memory->all_node);
	list_del(&memory->set_node);
	ue_memory_settled(memory);
	working = memory->working;
	if (!working)
		list_del_init(&memory->work_node);
	raw_spin_unlock(&eventlog_ue_table_lock);
	atomic_dec(&ue_memory_count);
	if (memory->child)
		eventlog_user_uncharge(owner->user, EVENTLOG_QUOTA_REGISTRATIONS, 1);
	eventlog_ue_set_put(memory->set);
	memory->set = NULL;
	if (!working)
		ue_memory_release(memory);
}

bool eventlog_ue_memory_exclusive(const struct eventlog_ue_memory *memory)
{
	bool exclusive;

	lockdep_assert_held(&eventlog_ue_mutex);
	raw_spin_lock(&eventlog_ue_table_lock);
	exclusive = memory->set->holders == 1;
	raw_spin_unlock(&eventlog_ue_table_lock);
	return exclusive;
}

void eventlog_ue_memory_rotate(struct eventlog_ue_memory *memory)
{
	lockdep_assert_held(&eventlog_ue_mutex);
	raw_spin_lock(&eventlog_ue_table_lock);
	memory->set_round = memory->set->round;
	list_move_tail(&memory->set_node, &memory->set->memories);
	raw_spin_unlock(&eventlog_ue_table_lock);
}

void eventlog_ue_memory_move(struct eventlog_ue_memory *memory, struct eventlog_ue_set *set)
{
	struct eventlog_ue_set *old = memory->set;

	lockdep_assert_held(&eventlog_ue_mutex);
	raw_spin_lock(&eventlog_ue_table_lock);
	list_del(&memory->set_node);
	ue_memory_join(memory, set);
	raw_spin_unlock(&eventlog_ue_table_lock);
	eventlog_ue_set_put(old);
	/* Changes may have been carried out for either set only. */
	memory->all = true;
	eventlog_ue_memory_defer(memory, 0);
}

bool eventlog_ue_memories_purge(unsigned int count)
{
	struct eventlog_ue_memory *memory;
	bool exited = false;
	unsigned int i;

	eventlog_ue_lock();
	for (i = 0; i < count && (memory = eventlog_ue_memories_first()); i++) {
		if (!atomic_read(&memory->mm->mm_users)) {
			eventlog_ue_memory_drop(memory);
			continue;
		}
		exited |= READ_ONCE(memory->exited);
		raw_spin_lock(&eventlog_ue_table_lock);
		list_move_tail(&memory->all_node, &ue_all);
		raw_spin_unlock(&eventlog_ue_table_lock);
	}
	eventlog_steps_add(&eventlog_ue_steps, i);
	eventlog_ue_unlock();
	return exited;
}

/* ---- fork ---- */

unsigned long eventlog_ue_children_lost(void)
{
	return atomic_long_read(&ue_lost);
}

void eventlog_ue_child_lose(void)
{
	atomic_long_inc(&ue_lost);
}

static struct eventlog_ue_memory *ue_spare_take(void)
{
	struct eventlog_ue_memory *memory;

	lockdep_assert_held(&eventlog_ue_table_lock);
	memory = list_first_entry_or_null(&ue_spares, struct eventlog_ue_memory, all_node);
	if (memory) {
		list_del(&memory->all_node);
		ue_spare_count--;
	}
	return memory;
}

/* They are not charged, but limited as registrations, once a child has them. */
void eventlog_ue_spares_fill(void)
{
	struct eventlog_ue_memory *memory;

	while (READ_ONCE(ue_spare_count) < UE_SPARES) {
		memory = eventlog_alloc_locked(sizeof(*memory));
		if (!memory)
			return;
		raw_spin_lock(&eventlog_ue_table_lock);
		list_add(&memory->all_node, &ue_spares);
		ue_spare_count++;
		raw_spin_unlock(&eventlog_ue_table_lock);
		cond_resched();
	}
}

void eventlog_ue_spares_free(void)
{
	struct eventlog_ue_memory *memory;

	do {
		raw_spin_lock(&eventlog_ue_table_lock);
		memory = ue_spare_take();
		raw_spin_unlock(&eventlog_ue_table_lock);
		eventlog_free(memory);
	} while (memory);
}

/* Returns false if the child is lost; then *@memory is still the caller's. */
static bool ue_memory_fork(const struct eventlog_ue_memory *parent, struct mm_struct *child,
			   struct eventlog_ue_memory **memory)
{
	struct eventlog_ue_memory *added;

	lockdep_assert_held(&eventlog_ue_table_lock);
	if (!ue_owner_admit(parent->owner))
		return false;
	added = *memory ?: ue_spare_take();
	if (!added) {
		ue_owner_forget(parent->owner);
		return false;
	}
	added->child = true;
	added->fresh = true;
	/* The parent's bits may have changed since they were copied. */
	added->all = true;
	ue_memory_publish(added, child, parent->set);
	list_add_tail(&added->work_node, &added->owner->waiting);
	ue_owner_start(added->owner);
	*memory = NULL;
	return true;
}

void eventlog_ue_memory_fork(const struct mm_struct *parent, struct mm_struct *child)
{
	struct eventlog_ue_memory *memory = NULL;
	const struct eventlog_ue_memory *found;
	bool follows, wants_spares;

	rcu_read_lock();
	found = eventlog_ue_memory_find(parent);
	rcu_read_unlock();
	if (!found)
		return;
	/* Charged to the parent. */
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		memory = eventlog_alloc_atomic(sizeof(*memory));
	raw_spin_lock(&eventlog_ue_table_lock);
	/* Another thread may have unregistered the last bit. */
	found = eventlog_ue_memory_find(parent);
	follows = !found || ue_memory_fork(found, child, &memory);
	wants_spares = ue_spare_count <= UE_SPARES / 2;
	raw_spin_unlock(&eventlog_ue_table_lock);
	if (!follows)
		eventlog_ue_child_lose();
	if (wants_spares)
		eventlog_ue_work_queue();
	eventlog_free(memory);
}

/* ---- work items ---- */

void eventlog_ue_memory_defer(struct eventlog_ue_memory *memory, unsigned long round)
{
	bool idle;

	lockdep_assert_held(&eventlog_ue_mutex);
	raw_spin_lock(&eventlog_ue_table_lock);
	idle = !memory->working && list_empty(&memory->work_node);
	if (idle || (long)(round - memory->since) < 0)
		memory->since = round;
	memory->round = round;
	if (idle)
		list_add_tail(&memory->work_node, &memory->owner->waiting);
	memory->again |= memory->working;
	ue_owner_start(memory->owner);
	raw_spin_unlock(&eventlog_ue_table_lock);
}

static void ue_memory_rewind(struct eventlog_ue_memory *memory, bool faulting)
{
	memory->next = (struct eventlog_ue_bit){};
	memory->faults = 0;
	memory->missed = false;
	memory->again = false;
	memory->faulting = faulting;
}

/*
 * Ends the work item.  If events changed meanwhile, the memory waits again, behind the owner's
 * others, which would wait for ever if events changed all the time.
 */
static void ue_memory_done(struct eventlog_ue_memory *memory)
{
	struct eventlog_ue_owner *owner = memory->owner;
	bool dropped = ue_memory_dropped(memory);
	bool again = memory->again && !dropped;

	lockdep_assert_held(&eventlog_ue_mutex);
	ue_memory_rewind(memory, false);
	memory->all &= again;
	raw_spin_lock(&eventlog_ue_table_lock);
	ue_memory_settled(memory);
	memory->working = false;
	owner->working--;
	if (again)
		list_add_tail(&memory->work_node, &owner->waiting);
	ue_owner_start(owner);
	raw_spin_unlock(&eventlog_ue_table_lock);
	if (dropped)
		ue_memory_release(memory);
}

static bool ue_enabler_changed(const struct eventlog_ue_memory *memory,
			       const struct eventlog_ue_enabler *enabler)
{
	return memory->all || (long)(READ_ONCE(enabler->watch->round) - memory->since) >= 0;
}

/*
 * Looks at the next bits; the memory's lock is held.
 *
 * Return: 0: all bits are done; -EINPROGRESS: there are more; else the errno of
 * eventlog_ue_bit_write() for &memory->next, whose page must be faulted in.
 */
static int ue_memory_scan(struct eventlog_ue_memory *memory, struct eventlog_steps *steps)
{
	struct eventlog_ue_enabler *enabler;
	unsigned int i;
	int ret;

	enabler = eventlog_ue_enabler_from(memory->set, &memory->next);
	for (i = 0; enabler && i < EVENTLOG_UE_BATCH; i++) {
		eventlog_steps_add(&eventlog_ue_steps, 1);
		eventlog_steps_add(steps, 1);
		ret = 0;
		if (ue_enabler_changed(memory, enabler))
			ret = eventlog_ue_bit_write(memory->mm, &enabler->bit,
						    eventlog_ue_wanted(enabler->watch), true);
		if (ret && memory->faulting) {
			memory->next = enabler->bit;
			return ret;
		}
		memory->missed |= ret;
		memory->faults = 0;
		enabler = eventlog_ue_enabler_next(enabler);
	}
	if (enabler) {
		memory->next = enabler->bit;
		return -EINPROGRESS;
	}
	return 0;
}

/* As ue_memory_scan(); 0: the work is done, and @memory may be freed. */
static int ue_memory_look(struct eventlog_ue_memory *memory, bool alive,
			  struct eventlog_steps *steps)
{
	bool dropped = ue_memory_dropped(memory);
	int ret = 0;

	if (!dropped && !alive)
		eventlog_ue_memory_drop(memory);
	else if (!dropped)
		ret = ue_memory_scan(memory, steps);
	if (ret)
		return ret;
	/* Even if events changed meanwhile, which may go on for ever. */
	if (!ue_memory_dropped(memory) && memory->missed) {
		ue_memory_rewind(memory, true);
		return -EINPROGRESS;
	}
	ue_memory_done(memory);
	return 0;
}

/* Counts that the page of the next bit was faulted in, or gives the bit up. */
static void ue_memory_faulted(struct eventlog_ue_memory *memory, bool failed)
{
	if (!failed && ++memory->faults <= UE_FAULTS_MAX)
		return;
	memory->next.bit++;
	memory->faults = 0;
}

/* Returns false when nothing is left to do.  Then @memory may be freed. */
static bool ue_memory_step(struct eventlog_ue_memory *memory, unsigned int *locked)
{
	struct mm_struct *mm = memory->mm;
	bool alive = mmget_not_zero(mm), failed = false;
	struct eventlog_steps steps;
	int ret;

	if (alive)
		mmap_read_lock(mm);
	eventlog_steps_begin(&steps);
	eventlog_ue_lock();
	ret = ue_memory_look(memory, alive, &steps);
	eventlog_ue_unlock();
	/* Only this work item changes the next bit. */
	if (ret == -EFAULT)
		failed = eventlog_ue_bit_fault_in(mm, &memory->next);
	eventlog_steps_end(&steps, EVENTLOG_STEPS_MMAP);
	if (alive) {
		mmap_read_unlock(mm);
		mmput_async(mm);
	}
	if (ret == -EAGAIN && ++*locked <= UE_LOCKED_MAX)
		msleep(1);
	else if (ret == -EFAULT || ret == -EAGAIN)
		ue_memory_faulted(memory, failed || ret == -EAGAIN);
	cond_resched();
	return ret;
}

static void ue_memory_work(struct work_struct *work)
{
	struct eventlog_ue_memory *memory = container_of(work, struct eventlog_ue_memory, work);
	struct mm_struct *mm = memory->mm;
	unsigned int locked = 0;

	mmgrab(mm);
	while (ue_memory_step(memory, &locked))
		;
	mmdrop(mm);
	/* Unloading waits until the queue is empty. */
	module_put(THIS_MODULE);
}

#endif /* EVENTLOG_TRACE_EVENTS */
