// SPDX-License-Identifier: GPL-2.0-only
/*
 * Register, unregister and change: see enabler.h.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "compat.h"

#if EVENTLOG_TRACE_EVENTS

#include "memory.h"
#include "user_events/bit.h"
#include "user_events/enabler.h"
#include "user_events/event.h"
#include "user_events/space.h"
#include "user_events/process.h"
#include "user_events/set.h"

/* How often a call faults in a page. */
#define UE_FAULTS_MAX 10
/* How often it tries a locked page again, about once in a jiffy. */
#define UE_LOCKED_MAX 1000
/* Events that were enabled or disabled, the last one first; under the lock, taken last. */
static DEFINE_SPINLOCK(ue_dirty_lock);
static LIST_HEAD(ue_dirty);
/* The number of changes of events. */
static unsigned long ue_round;

/* Sets whose address spaces have to look at bits; under ue_mutex. */
static LIST_HEAD(ue_sets_deferred);
/* The module is being unloaded; changes under ue_mutex. */
static bool ue_exiting;

static void ue_work_run(struct work_struct *work);
static DECLARE_WORK(ue_work, ue_work_run);

void ue_work_queue(void)
{
	/* Not on the queue whose work items may be stuck. */
	if (!READ_ONCE(ue_exiting))
		queue_work(system_unbound_wq, &ue_work);
}

/* ---- changes ---- */

void ue_enablers_changed(struct eventlog_watch *watch)
{
	spin_lock(&ue_dirty_lock);
	/* The event's listeners have changed before that. */
	smp_store_release(&watch->round, ++ue_round);
	if (list_empty(&watch->dirty_node))
		refcount_inc(&watch->holders);
	list_move(&watch->dirty_node, &ue_dirty);
	spin_unlock(&ue_dirty_lock);
}

void ue_enablers_forget(struct eventlog_watch *watch)
{
	bool dirty;

	spin_lock(&ue_dirty_lock);
	dirty = !list_empty(&watch->dirty_node);
	list_del_init(&watch->dirty_node);
	spin_unlock(&ue_dirty_lock);
	if (dirty)
		ue_watch_put(watch);
}

static struct eventlog_watch *ue_dirty_take(void)
{
	struct eventlog_watch *watch;

	spin_lock(&ue_dirty_lock);
	watch = list_first_entry_or_null(&ue_dirty, struct eventlog_watch, dirty_node);
	if (watch)
		list_del_init(&watch->dirty_node);
	spin_unlock(&ue_dirty_lock);
	return watch;
}

/* Puts an event that is not done behind the others, with the hold of ue_dirty_take(). */
static void ue_dirty_return(struct eventlog_watch *watch)
{
	bool again;

	spin_lock(&ue_dirty_lock);
	again = list_empty(&watch->dirty_node);
	if (again)
		list_add_tail(&watch->dirty_node, &ue_dirty);
	spin_unlock(&ue_dirty_lock);
	if (!again)
		ue_watch_put(watch);
}

/* Writes the bit now, or has a work item do it. */
static void ue_bit_show(struct ue_space *space,
			const struct ue_enabler *enabler, unsigned long round)
{
	struct mm_struct *mm = space->mm;
	int ret = -EAGAIN;

	if (!mmget_not_zero(mm))
		return;
	if (mmap_read_trylock(mm)) {
		ret = ue_bit_write(mm, &enabler->bit, ue_wanted(enabler->watch), false);
		mmap_read_unlock(mm);
	}
	mmput_async(mm);
	/* Its work item looks at all bits of the event: do not have it start again. */
	if (ret && space->round != round)
		ue_space_defer(space, round);
}

/* Has the address spaces of a set look at their bits, once for all bits of a changed event. */
static void ue_set_defer(struct ue_set *set, unsigned long round)
{
	if (set->last == round)
		return;
	set->last = round;
	if (list_empty(&set->node) || (long)(round - set->since) < 0)
		set->since = round;
	if (list_empty(&set->node))
		list_add_tail(&set->node, &ue_sets_deferred);
	/* All address spaces are behind now: the order of the list is right. */
	set->round++;
}

/* Shows an event's state in all address spaces of the set.  Returns the number of steps. */
static unsigned int ue_enabler_show(struct ue_enabler *enabler)
{
	/* Read before the event's listeners. */
	unsigned long round = smp_load_acquire(&enabler->watch->round);
	struct ue_set *set = enabler->set;
	struct ue_space *space;
	unsigned int steps = 1;

	if (ue_set_crowded(set)) {
		ue_set_defer(set, round);
		enabler->round = round;
		return steps;
	}
	/* Nothing but fork, at the end of the list, changes it. */
	list_for_each_entry_rcu(space, &set->spaces, set_node, lockdep_is_held(&ue_mutex)) {
		ue_bit_show(space, enabler, round);
		steps++;
	}
	enabler->round = round;
	return steps;
}

/*
 * Shows an event's state with the next enablers: those that know the last change are at the
 * end of the list.  Returns the number of steps, at most about @most, and 0 when all know it.
 */
static unsigned int ue_watch_show(struct eventlog_watch *watch, unsigned int most)
{
	struct ue_enabler *enabler;
	unsigned int steps = 0;

	while (steps < most && !list_empty(&watch->enablers)) {
		enabler = list_first_entry(&watch->enablers, struct ue_enabler, event_node);
		if (enabler->round == READ_ONCE(watch->round))
			break;
		steps += ue_enabler_show(enabler);
		list_move_tail(&enabler->event_node, &watch->enablers);
	}
	return steps;
}

/* Writes some bits of events that have changed.  Returns true if there may be more. */
static bool ue_dirty_show(void)
{
	struct eventlog_watch *watch;
	unsigned int steps = 0, more;

	lockdep_assert_held(&ue_mutex);
	while (steps < UE_BATCH && (watch = ue_dirty_take())) {
		more = ue_watch_show(watch, UE_BATCH - steps);
		steps += more + 1;
		/* An event without enablers may end at any time. */
		if (steps >= UE_BATCH && !list_empty(&watch->enablers))
			ue_dirty_return(watch);
		else
			ue_watch_put(watch);
	}
	eventlog_steps_add(&ue_steps, steps);
	return steps >= UE_BATCH;
}

/* Also if there are no address spaces: the first one may be about to be added. */
void ue_enablers_settle(void)
{
	ue_lock();
	if (!ue_exiting && (ue_dirty_show() || !list_empty(&ue_sets_deferred)))
		ue_work_queue();
	ue_unlock();
}

/* Defers some address spaces of the first set.  Returns true if there may be more. */
static bool ue_sets_defer(void)
{
	struct ue_space *space;
	struct ue_set *set;
	unsigned int i;

	lockdep_assert_held(&ue_mutex);
	set = list_first_entry_or_null(&ue_sets_deferred, struct ue_set, node);
	if (!set)
		return false;
	for (i = 0; i < UE_BATCH && !list_empty(&set->spaces); i++) {
		space = list_first_entry(&set->spaces, struct ue_space, set_node);
		if (space->set_round == set->round)
			break;
		ue_space_defer(space, set->since);
		ue_space_rotate(space);
	}
	eventlog_steps_add(&ue_steps, i);
	if (i == UE_BATCH)
		list_move_tail(&set->node, &ue_sets_deferred);
	else
		list_del_init(&set->node);
	return true;
}

/* One batch under each hold of the lock; events, sets and users take their chances equally. */
static void ue_work_run(struct work_struct *work)
{
	bool more;

	do {
		/* Each time: PREEMPT_RT needs them for all children. */
		ue_spares_fill();
		ue_lock();
		more = ue_dirty_show();
		ue_unlock();
		ue_lock();
		more |= ue_sets_defer();
		ue_unlock();
		more |= ue_sets_free();
		cond_resched();
	} while (more);
}

/* ---- register and unregister ---- */

bool ue_enabler_exists(const struct ue_bit *bit)
{
	struct ue_space *space;
	bool exists;

	ue_lock();
	space = ue_space_find(current->mm);
	exists = space && ue_enabler_find(space->set, bit);
	ue_unlock();
	return exists;
}

/**
 * struct ue_call - a call that registers or unregisters a bit of its process
 * @bit: which one
 * @user: who registers
 * @adds: registers
 * @gives_up: removes the enabler even if the bit cannot be written
 * @enabler: to add, or removed: it is freed at the end
 * @space: for a process that has none
 * @set: an empty set for @space
 * @original: the shared set of the process; held
 * @copy: its copy without @bit
 */
struct ue_call {
	struct ue_bit bit;
	struct eventlog_user *user;
	bool adds;
	bool gives_up;
	struct ue_enabler *enabler;
	struct ue_space *space;
	struct ue_set *set;
	struct ue_set *original;
	struct ue_set *copy;
};

static void ue_call_drop_copy(struct ue_call *call)
{
	if (!call->original)
		return;
	ue_lock();
	if (call->copy)
		ue_set_drop(call->copy);
	ue_set_put(call->original);
	ue_unlock();
	call->copy = NULL;
	call->original = NULL;
}

static void ue_call_end(struct ue_call *call)
{
	ue_call_drop_copy(call);
	ue_enabler_free(call->enabler);
	if (call->set)
		ue_set_free(call->set);
	eventlog_free(call->space);
}

/* What a process that has no memory yet needs. */
static int ue_call_alloc(struct ue_call *call)
{
	struct ue_owner *owner;

	if (!call->adds || call->set)
		return 0;
	call->space = call->space ?: ue_space_new();
	owner = call->space ? ue_owner_get(call->user) : NULL;
	if (!owner)
		return -ENOMEM;
	call->set = ue_set_new(owner, false);
	ue_owner_put(owner);
	return call->set ? 0 : -ENOMEM;
}

/* Is a copy of the address space's set needed to add or remove the bit? */
static bool ue_call_needs_copy(const struct ue_call *call, const struct ue_space *space)
{
	bool exists = ue_enabler_find(space->set, &call->bit);

	if (ue_space_exclusive(space))
		return false;
	return call->adds ? !exists : exists && space->set->count > 1;
}

/*
 * Makes what the call needs, without a lock.  A call that removes a bit does not fail for want
 * of memory or registrations, because the program may use the word for something else: other
 * bits are lost then.
 */
static int ue_call_prepare(struct ue_call *call)
{
	struct ue_space *space;
	struct ue_set *copy;
	bool lost = false;

	ue_call_drop_copy(call);
	ue_lock();
	space = ue_space_find(current->mm);
	if (space && ue_call_needs_copy(call, space))
		call->original = ue_set_hold(space->set);
	ue_unlock();
	if (!space)
		return ue_call_alloc(call);
	if (!call->original)
		return 0;
	copy = ue_set_copy(call->original, &call->bit, !call->adds, &lost);
	if (lost)
		ue_child_lose();
	if (IS_ERR(copy))
		return PTR_ERR(copy);
	call->copy = copy;
	return 0;
}

/* Does the call have a copy of the set that the address space has now? */
static bool ue_call_has_copy(const struct ue_call *call, const struct ue_space *space)
{
	return call->copy && space->set == call->original;
}

static void ue_call_move(struct ue_call *call, struct ue_space *space)
{
	ue_space_move(space, call->copy);
	call->copy = NULL;
}

/* May the address space's set be changed, now that the address space may have the copy? */
static bool ue_call_owns(struct ue_call *call, struct ue_space *space)
{
	if (ue_space_exclusive(space))
		return true;
	if (!ue_call_has_copy(call, space))
		return false;
	ue_call_move(call, space);
	return true;
}

static int ue_call_add(struct ue_call *call, struct ue_space *space)
{
	unsigned long round;
	int ret;

	if (space && ue_enabler_find(space->set, &call->bit))
		return -EADDRINUSE;
	if (space ? !ue_call_owns(call, space) : !call->set)
		return -ESTALE;
	/* Read before the event's listeners. */
	round = smp_load_acquire(&call->enabler->watch->round);
	ret = ue_bit_write(current->mm, &call->bit, ue_wanted(call->enabler->watch), false);
	if (ret)
		return ret;
	if (!space) {
		space = call->space;
		ue_space_add(space, call->set);
		call->space = NULL;
		call->set = NULL;
	}
	ue_enabler_insert(space->set, call->enabler, round);
	call->enabler = NULL;
	return 0;
}

static int ue_call_remove(struct ue_call *call, struct ue_space *space)
{
	struct ue_enabler *enabler = space ? ue_enabler_find(space->set, &call->bit) : NULL;
	bool exclusive, last;
	int ret;

	if (!enabler)
		return -ENOENT;
	exclusive = ue_space_exclusive(space);
	last = space->set->count == 1;
	if (!exclusive && !last && !ue_call_has_copy(call, space))
		return -ESTALE;
	/*
	 * Under one hold of mmap_lock, which fork needs: a fork that copies the memory afterwards
	 * copies no bit that has no enabler.  A fork that copied it before, and whose probe runs
	 * after this, still gives its child the bit without an enabler.
	 */
	call->bit = enabler->bit;
	ret = ue_bit_write(current->mm, &call->bit, false, false);
	if (ret && !call->gives_up)
		return ret;
	if (exclusive) {
		ue_enabler_unlink(enabler);
		call->enabler = enabler;
	} else if (!last) {
		/* The copy does not have it. */
		ue_call_move(call, space);
	}
	if (last)
		ue_space_drop(space);
	return ret;
}

/* Makes the change under the caller's mmap_lock, and faults in the page of the bit on -EFAULT. */
static int ue_call_try_once(struct ue_call *call, int *fault)
{
	struct mm_struct *mm = current->mm;
	struct ue_space *space;
	int ret;

	if (mmap_read_lock_killable(mm))
		return -EINTR;
	ue_lock();
	space = ue_space_find(mm);
	ret = call->adds ? ue_call_add(call, space) : ue_call_remove(call, space);
	eventlog_steps_add(&ue_steps, 1);
	ue_unlock();
	if (ret == -EFAULT && !call->gives_up)
		*fault = ue_bit_fault_in(mm, &call->bit);
	mmap_read_unlock(mm);
	return ret;
}

/* Tries again after the page of the bit was faulted in, or while it is locked. */
static int ue_call_try(struct ue_call *call)
{
	unsigned int faults = 0, locked = 0;
	int ret, fault = 0;

	do {
		ret = ue_call_try_once(call, &fault);
		if (ret && fatal_signal_pending(current))
			return -EINTR;
		if (ret == -EAGAIN)
			schedule_timeout_killable(1);
	} while ((ret == -EFAULT && !fault && ++faults <= UE_FAULTS_MAX) ||
		 (ret == -EAGAIN && ++locked <= UE_LOCKED_MAX));
	if ((ret == -EFAULT || ret == -EAGAIN) && !call->adds) {
		call->gives_up = true;
		ret = ue_call_try_once(call, &fault);
	}
	return ret == -EAGAIN ? -EFAULT : ret;
}

/* Another thread may change or fork the process between the two. */
static int ue_call_run(struct ue_call *call)
{
	int ret;

	do {
		ret = ue_call_prepare(call) ?: ue_call_try(call);
	} while (ret == -ESTALE);
	ue_call_end(call);
	return ret;
}

int ue_enabler_add(struct eventlog_watch *watch, struct eventlog_user *user,
		   const struct ue_bit *bit)
{
	struct ue_call call = { .bit = *bit, .user = user, .adds = true };
	struct ue_enabler *enabler;
	int ret;

	ret = ue_process_watch();
	if (ret)
		return ret;
	ue_spares_fill();
	enabler = ue_enabler_new(watch, user, bit);
	if (IS_ERR(enabler))
		return PTR_ERR(enabler);
	call.enabler = enabler;
	return ue_call_run(&call);
}

int ue_enabler_remove(const struct ue_bit *bit)
{
	struct ue_call call = { .bit = *bit };

	return ue_call_run(&call);
}

/* ---- unload ---- */

/* Clears a bit of another process. */
static void ue_bit_clear(struct mm_struct *mm, const struct ue_bit *bit)
{
	unsigned int faults = 0, locked = 0;
	int ret, fault = 0;

	do {
		if (mmap_read_lock_killable(mm))
			return;
		ret = ue_bit_write(mm, bit, false, true);
		if (ret == -EFAULT)
			fault = ue_bit_fault_in(mm, bit);
		mmap_read_unlock(mm);
		if (ret == -EAGAIN)
			schedule_timeout_killable(1);
	} while (!fatal_signal_pending(current) &&
		 ((ret == -EFAULT && !fault && ++faults <= UE_FAULTS_MAX) ||
		  (ret == -EAGAIN && ++locked <= UE_LOCKED_MAX)));
}

/* A bit of an event that was never enabled or disabled is as it was when it was registered. */
static bool ue_enabler_has_shown(const struct ue_enabler *enabler)
{
	return READ_ONCE(enabler->watch->round) || ue_wanted(enabler->watch);
}

/* Clears bits of a process; the caller holds the set, and nothing else changes it. */
static void ue_set_clear(struct ue_set *set, struct mm_struct *mm)
{
	struct ue_enabler *enabler;

	if (!mmget_not_zero(mm))
		return;
	enabler = ue_enabler_from(set, &(struct ue_bit){});
	for (; enabler; enabler = ue_enabler_next(enabler)) {
		if (ue_enabler_has_shown(enabler))
			ue_bit_clear(mm, &enabler->bit);
		cond_resched();
	}
	mmput_async(mm);
}

/* Tracers may still enable events, so an address space is dropped before its bits are cleared. */
static bool ue_space_clear(void)
{
	struct ue_space *space;
	struct ue_set *set;
	struct mm_struct *mm;

	ue_lock();
	space = ue_spaces_first();
	if (space) {
		mm = space->mm;
		mmgrab(mm);
		set = ue_set_hold(space->set);
		ue_space_drop(space);
	}
	ue_unlock();
	if (!space)
		return false;
	ue_set_clear(set, mm);
	mmdrop(mm);
	ue_lock();
	ue_set_put(set);
	ue_unlock();
	return true;
}

void ue_enablers_exit(void)
{
	/* Nothing queues the work item from now on: ue_enablers_settle() has the lock. */
	ue_lock();
	WRITE_ONCE(ue_exiting, true);
	ue_unlock();
	while (ue_space_clear())
		;
	cancel_work_sync(&ue_work);
	while (ue_sets_free())
		;
	ue_spares_free();
}

#endif /* EVENTLOG_TRACE_EVENTS */
