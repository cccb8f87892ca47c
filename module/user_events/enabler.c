// SPDX-License-Identifier: GPL-2.0-only
/*
 * Enablers: see enabler.h.
 */
#include <linux/delay.h>
#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>

#include "compat.h"

#if EVENTLOG_TRACE_EVENTS

#include "core/user.h"
#include "memory.h"
#include "user_events/bit.h"
#include "user_events/enabler.h"
#include "user_events/event.h"
#include "user_events/process.h"

/* How often a page is faulted in before its bit is given up until the next change. */
#define UE_FAULTS_MAX 10
/* How often a locked page is tried again, about once in a jiffy. */
#define UE_LOCKED_MAX 1000
/* Most work items of one user, and of all users without limits. */
#define UE_WORKS_MAX 4
#define UE_WORKS_MAX_UNLIMITED 16

DEFINE_MUTEX(eventlog_ue_lock);
struct workqueue_struct *eventlog_ue_queue;

static DEFINE_HASHTABLE(ue_memories, 10);
static atomic_t ue_memory_count;
static LIST_HEAD(ue_waiting);
static LIST_HEAD(ue_working);

/* Events that were enabled or disabled; taken last. */
static DEFINE_SPINLOCK(ue_dirty_lock);
static LIST_HEAD(ue_dirty);

/**
 * struct eventlog_ue_enabler - a bit that shows whether an event is enabled
 * @node: in the memory's enablers
 * @event_node: in the event's enablers
 * @memory: the memory
 * @watch: the event
 * @use: the registration of the event; its user is referred to
 * @bit: where it is
 * @shown: its value: 0, 1; -1: unknown
 * @failed: it cannot be written; try again when the event changes
 * @faults: how often its page was faulted in since the event changed
 */
struct eventlog_ue_enabler {
	struct rb_node node;
	struct list_head event_node;
	struct eventlog_ue_memory *memory;
	struct eventlog_watch *watch;
	struct eventlog_event_use use;
	struct eventlog_ue_bit bit;
	s8 shown;
	bool failed;
	u8 faults;
};

static void ue_memory_work(struct work_struct *work);

static bool ue_wanted(const struct eventlog_watch *watch)
{
	return rcu_access_pointer(watch->event->listeners);
}

/* ---- enablers ---- */

static int ue_bit_compare(const struct eventlog_ue_bit *a, const struct eventlog_ue_bit *b)
{
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return (int)a->bit - b->bit;
}

static struct eventlog_ue_enabler *ue_enabler_of(struct rb_node *node)
{
	return rb_entry_safe(node, struct eventlog_ue_enabler, node);
}

static struct eventlog_ue_enabler *ue_enabler_find(const struct eventlog_ue_memory *memory,
						   const struct eventlog_ue_bit *bit)
{
	struct rb_node *node = memory ? memory->enablers.rb_node : NULL;

	while (node) {
		struct eventlog_ue_enabler *enabler = ue_enabler_of(node);
		int order = ue_bit_compare(bit, &enabler->bit);

		if (!order)
			return enabler;
		node = order < 0 ? node->rb_left : node->rb_right;
	}
	return NULL;
}

/* The bit has no enabler yet. */
static void ue_enabler_insert(struct eventlog_ue_memory *memory,
			      struct eventlog_ue_enabler *enabler)
{
	struct rb_node **link = &memory->enablers.rb_node, *parent = NULL;

	lockdep_assert_held(&eventlog_ue_lock);
	while (*link) {
		parent = *link;
		link = ue_bit_compare(&enabler->bit, &ue_enabler_of(parent)->bit) < 0 ?
			&parent->rb_left : &parent->rb_right;
	}
	rb_link_node(&enabler->node, parent, link);
	rb_insert_color(&enabler->node, &memory->enablers);
	list_add_tail(&enabler->event_node, &enabler->watch->enablers);
	enabler->memory = memory;
}

/* Fills in an enabler, which is in no list yet.  Returns false if the user is at its limit. */
static bool ue_enabler_begin(struct eventlog_ue_enabler *enabler, struct eventlog_watch *watch,
			     struct eventlog_user *user, const struct eventlog_ue_bit *bit)
{
	if (!eventlog_user_charge(user, EVENTLOG_QUOTA_REGISTRATIONS, 1))
		return false;
	enabler->watch = watch;
	enabler->use.user = eventlog_user_get(user);
	enabler->bit = *bit;
	enabler->shown = -1;
	eventlog_ue_event_use(watch, &enabler->use);
	return true;
}

/* Frees an enabler that is in no list. */
static void ue_enabler_end(struct eventlog_ue_enabler *enabler)
{
	struct eventlog_user *user = enabler->use.user;

	eventlog_ue_event_put(enabler->watch, &enabler->use);
	eventlog_user_uncharge(user, EVENTLOG_QUOTA_REGISTRATIONS, 1);
	eventlog_user_put(user);
	eventlog_free(enabler);
}

static void ue_enabler_remove(struct eventlog_ue_enabler *enabler)
{
	lockdep_assert_held(&eventlog_ue_lock);
	rb_erase(&enabler->node, &enabler->memory->enablers);
	list_del(&enabler->event_node);
	ue_enabler_end(enabler);
}

/* ---- memories ---- */

struct eventlog_ue_memory *eventlog_ue_memory_find(const struct mm_struct *mm)
{
	struct eventlog_ue_memory *memory;

	hash_for_each_possible_rcu(ue_memories, memory, node, (unsigned long)mm,
				   lockdep_is_held(&eventlog_ue_lock))
		if (memory->mm == mm)
			return memory;
	return NULL;
}

bool eventlog_ue_memories_empty(void)
{
	return !atomic_read(&ue_memory_count);
}

static void ue_memory_free_rcu(struct rcu_head *rcu)
{
	eventlog_free(container_of(rcu, struct eventlog_ue_memory, rcu));
}

void eventlog_ue_memory_put(struct eventlog_ue_memory *memory)
{
	if (refcount_dec_and_test(&memory->holders))
		call_rcu(&memory->rcu, ue_memory_free_rcu);
}

/* Adds a memory, which the caller has allocated, to the table. */
static void ue_memory_add(struct eventlog_ue_memory *memory, struct mm_struct *mm,
			  struct eventlog_user *user)
{
	lockdep_assert_held(&eventlog_ue_lock);
	mmgrab(mm);
	memory->mm = mm;
	memory->user = eventlog_user_get(user);
	memory->enablers = RB_ROOT;
	INIT_WORK(&memory->work, ue_memory_work);
	INIT_LIST_HEAD(&memory->work_node);
	refcount_set(&memory->holders, 1);
	hash_add_rcu(ue_memories, &memory->node, (unsigned long)mm);
	atomic_inc(&ue_memory_count);
}

/* It is neither in the table nor working. */
static void ue_memory_release(struct eventlog_ue_memory *memory)
{
	eventlog_user_put(memory->user);
	mmdrop(memory->mm);
	eventlog_ue_memory_put(memory);
}

static bool ue_memory_dropped(const struct eventlog_ue_memory *memory)
{
	return hlist_unhashed(&memory->node);
}

static void ue_memory_drop(struct eventlog_ue_memory *memory)
{
	struct rb_node *node;

	lockdep_assert_held(&eventlog_ue_lock);
	while ((node = rb_first(&memory->enablers)))
		ue_enabler_remove(ue_enabler_of(node));
	/* The fork probe may be reading the node. */
	hlist_del_init_rcu(&memory->node);
	atomic_dec(&ue_memory_count);
	if (memory->working)
		return;
	list_del_init(&memory->work_node);
	ue_memory_release(memory);
}

/* ---- work items ---- */

/* May one more work item of a user run? */
static bool ue_work_allowed(const struct eventlog_user *user)
{
	unsigned int most = user ? UE_WORKS_MAX : UE_WORKS_MAX_UNLIMITED;
	const struct eventlog_ue_memory *memory;

	list_for_each_entry(memory, &ue_working, work_node)
		if (memory->user == user && !--most)
			return false;
	return true;
}

/* A stuck work item must not make unloading wait for ever, so each pins the module. */
static void ue_works_start(void)
{
	struct eventlog_ue_memory *memory, *next;

	list_for_each_entry_safe(memory, next, &ue_waiting, work_node) {
		if (!ue_work_allowed(memory->user))
			continue;
		if (!try_module_get(THIS_MODULE))
			return;
		memory->working = true;
		list_move_tail(&memory->work_node, &ue_working);
		queue_work(eventlog_ue_queue, &memory->work);
	}
}

static void ue_memory_defer(struct eventlog_ue_memory *memory)
{
	if (!list_empty(&memory->work_node))
		return;
	list_add_tail(&memory->work_node, &ue_waiting);
	ue_works_start();
}

static void ue_memory_done(struct eventlog_ue_memory *memory)
{
	memory->working = false;
	list_del_init(&memory->work_node);
	if (ue_memory_dropped(memory))
		ue_memory_release(memory);
	ue_works_start();
}

/*
 * Writes all bits that can be written; the memory's lock is held.
 *
 * Return: 0; else the errno of eventlog_ue_bit_write() for @bit, one that is left.
 */
static int ue_memory_write(struct eventlog_ue_memory *memory, struct eventlog_ue_bit *bit)
{
	struct rb_node *node;
	int ret, result = 0;

	for (node = rb_first(&memory->enablers); node; node = rb_next(node)) {
		struct eventlog_ue_enabler *enabler = ue_enabler_of(node);
		bool wanted = ue_wanted(enabler->watch);

		if (enabler->shown == wanted || enabler->failed)
			continue;
		ret = eventlog_ue_bit_write(memory->mm, &enabler->bit, wanted,
					    enabler->shown < 0);
		if (!ret)
			enabler->shown = wanted;
		if (!ret || result == -EFAULT)
			continue;
		result = ret;
		*bit = enabler->bit;
	}
	return result;
}

/* Notes that a bit's page was faulted in, or that it could not be. */
static void ue_memory_faulted(struct eventlog_ue_memory *memory, const struct eventlog_ue_bit *bit,
			      bool failed)
{
	struct eventlog_ue_enabler *enabler;

	mutex_lock(&eventlog_ue_lock);
	enabler = ue_enabler_find(memory, bit);
	if (enabler)
		enabler->failed = failed || ++enabler->faults > UE_FAULTS_MAX;
	mutex_unlock(&eventlog_ue_lock);
}

/* Returns false when nothing is left to do.  Then @memory may be freed. */
static bool ue_memory_step(struct eventlog_ue_memory *memory, unsigned int *locked)
{
	struct mm_struct *mm = memory->mm;
	bool alive = mmget_not_zero(mm), failed = false;
	struct eventlog_ue_bit bit;
	int ret = 0;

	if (alive)
		mmap_read_lock(mm);
	mutex_lock(&eventlog_ue_lock);
	if (alive && !ue_memory_dropped(memory))
		ret = ue_memory_write(memory, &bit);
	if (!ret)
		ue_memory_done(memory);
	mutex_unlock(&eventlog_ue_lock);
	if (ret == -EFAULT)
		failed = eventlog_ue_bit_fault_in(mm, &bit);
	if (alive) {
		mmap_read_unlock(mm);
		mmput_async(mm);
	}
	if (ret == -EAGAIN && ++*locked <= UE_LOCKED_MAX)
		msleep(1);
	else if (ret)
		ue_memory_faulted(memory, &bit, failed || ret == -EAGAIN);
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

/* ---- changes ---- */

/* Writes the bit now, or has a work item do it. */
static void ue_enabler_write(struct eventlog_ue_enabler *enabler)
{
	struct mm_struct *mm = enabler->memory->mm;
	bool wanted = ue_wanted(enabler->watch);
	int ret = -EAGAIN;

	lockdep_assert_held(&eventlog_ue_lock);
	enabler->failed = false;
	enabler->faults = 0;
	if (enabler->shown == wanted || !mmget_not_zero(mm))
		return;
	if (mmap_read_trylock(mm)) {
		ret = eventlog_ue_bit_write(mm, &enabler->bit, wanted, enabler->shown < 0);
		mmap_read_unlock(mm);
	}
	mmput_async(mm);
	if (ret)
		ue_memory_defer(enabler->memory);
	else
		enabler->shown = wanted;
}

void eventlog_ue_enablers_changed(struct eventlog_watch *watch)
{
	spin_lock(&ue_dirty_lock);
	if (list_empty(&watch->dirty_node)) {
		refcount_inc(&watch->holders);
		list_add_tail(&watch->dirty_node, &ue_dirty);
	}
	spin_unlock(&ue_dirty_lock);
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

void eventlog_ue_enablers_forget(struct eventlog_watch *watch)
{
	bool dirty;

	spin_lock(&ue_dirty_lock);
	dirty = !list_empty(&watch->dirty_node);
	list_del_init(&watch->dirty_node);
	spin_unlock(&ue_dirty_lock);
	if (dirty)
		eventlog_ue_watch_put(watch);
}

void eventlog_ue_enablers_sync(void)
{
	struct eventlog_ue_enabler *enabler;
	struct eventlog_watch *watch;

	lockdep_assert_held(&eventlog_ue_lock);
	while ((watch = ue_dirty_take())) {
		/* The event is live while it has enablers. */
		list_for_each_entry(enabler, &watch->enablers, event_node) {
			ue_enabler_write(enabler);
			cond_resched();
		}
		eventlog_ue_watch_put(watch);
	}
}

/* ---- fork and exit ---- */

int eventlog_ue_memory_copy(struct eventlog_ue_memory *parent, struct mm_struct *mm)
{
	struct eventlog_ue_enabler *enabler;
	struct eventlog_ue_memory *memory;
	struct rb_node *node;

	lockdep_assert_held(&eventlog_ue_lock);
	/* The child may have registered events already. */
	if (RB_EMPTY_ROOT(&parent->enablers) || eventlog_ue_memory_find(mm))
		return 0;
	memory = eventlog_alloc_locked(sizeof(*memory));
	if (!memory)
		return -ENOMEM;
	ue_memory_add(memory, mm, parent->user);
	for (node = rb_first(&parent->enablers); node; node = rb_next(node)) {
		const struct eventlog_ue_enabler *old = ue_enabler_of(node);

		enabler = eventlog_alloc_locked(sizeof(*enabler));
		if (!enabler) {
			ue_memory_drop(memory);
			return -ENOMEM;
		}
		if (!ue_enabler_begin(enabler, old->watch, old->use.user, &old->bit)) {
			eventlog_free(enabler);
			continue;
		}
		ue_enabler_insert(memory, enabler);
		ue_enabler_write(enabler);
	}
	return 0;
}

bool eventlog_ue_memories_purge(void)
{
	struct eventlog_ue_memory *memory;
	struct hlist_node *next;
	bool exited = false;
	unsigned int i;

	lockdep_assert_held(&eventlog_ue_lock);
	hash_for_each_safe(ue_memories, i, next, memory, node) {
		if (!atomic_read(&memory->mm->mm_users))
			ue_memory_drop(memory);
		else
			exited |= READ_ONCE(memory->exited);
	}
	return exited;
}

/* ---- register and unregister ---- */

bool eventlog_ue_enabler_exists(const struct eventlog_ue_bit *bit)
{
	bool exists;

	mutex_lock(&eventlog_ue_lock);
	eventlog_ue_forks_take();
	exists = ue_enabler_find(eventlog_ue_memory_find(current->mm), bit);
	mutex_unlock(&eventlog_ue_lock);
	return exists;
}

/*
 * Calls @write under the lock of the caller's memory, and again after the page of @bit was
 * faulted in, as long as it returns -EFAULT or -EAGAIN.
 */
static int ue_write_own(int (*write)(struct eventlog_ue_bit *bit, void *context),
			struct eventlog_ue_bit *bit, void *context)
{
	unsigned int faults = 0, locked = 0;
	struct mm_struct *mm = current->mm;
	int ret, fault = 0;

	do {
		if (mmap_read_lock_killable(mm))
			return -EINTR;
		mutex_lock(&eventlog_ue_lock);
		eventlog_ue_forks_take();
		ret = write(bit, context);
		mutex_unlock(&eventlog_ue_lock);
		if (ret == -EFAULT)
			fault = eventlog_ue_bit_fault_in(mm, bit);
		mmap_read_unlock(mm);
		if (fatal_signal_pending(current))
			return ret ? -EINTR : 0;
		if (ret == -EAGAIN)
			schedule_timeout_killable(1);
	} while ((ret == -EFAULT && !fault && ++faults <= UE_FAULTS_MAX) ||
		 (ret == -EAGAIN && ++locked <= UE_LOCKED_MAX));
	return ret == -EAGAIN ? -EFAULT : ret;
}

/* What a registration has allocated, and not yet used. */
struct ue_addition {
	struct eventlog_ue_enabler *enabler;
	struct eventlog_ue_memory *memory;
};

static int ue_enabler_try_add(struct eventlog_ue_bit *bit, void *context)
{
	struct eventlog_ue_memory *memory = eventlog_ue_memory_find(current->mm);
	struct ue_addition *addition = context;
	struct eventlog_ue_enabler *enabler = addition->enabler;
	bool wanted = ue_wanted(enabler->watch);
	int ret;

	if (ue_enabler_find(memory, bit))
		return -EADDRINUSE;
	ret = eventlog_ue_bit_write(current->mm, bit, wanted, false);
	if (ret)
		return ret;
	enabler->shown = wanted;
	if (!memory) {
		memory = addition->memory;
		ue_memory_add(memory, current->mm, enabler->use.user);
		addition->memory = NULL;
	}
	ue_enabler_insert(memory, enabler);
	addition->enabler = NULL;
	return 0;
}

int eventlog_ue_enabler_add(struct eventlog_watch *watch, struct eventlog_user *user,
			    const struct eventlog_ue_bit *bit)
{
	struct ue_addition addition = {};
	struct eventlog_ue_bit copy = *bit;
	int ret;

	ret = eventlog_ue_process_watch();
	if (ret)
		return ret;
	ret = -ENOMEM;
	addition.memory = eventlog_alloc(sizeof(*addition.memory));
	addition.enabler = eventlog_alloc(sizeof(*addition.enabler));
	if (!addition.memory || !addition.enabler) {
		eventlog_free(addition.enabler);
		goto out;
	}
	ret = -EMFILE;
	if (!ue_enabler_begin(addition.enabler, watch, user, bit)) {
		eventlog_free(addition.enabler);
		goto out;
	}
	ret = ue_write_own(ue_enabler_try_add, &copy, &addition);
	if (addition.enabler)
		ue_enabler_end(addition.enabler);
out:
	eventlog_free(addition.memory);
	return ret;
}

static int ue_enabler_try_remove(struct eventlog_ue_bit *bit, void *context)
{
	struct eventlog_ue_memory *memory = eventlog_ue_memory_find(current->mm);
	struct eventlog_ue_enabler *enabler = ue_enabler_find(memory, bit);
	bool *removed = context;

	if (*removed && enabler)
		return 0;	/* another thread has registered it again */
	if (!*removed && !enabler)
		return -ENOENT;
	if (enabler) {
		*bit = enabler->bit;
		ue_enabler_remove(enabler);
		if (RB_EMPTY_ROOT(&memory->enablers))
			ue_memory_drop(memory);
	}
	*removed = true;
	return eventlog_ue_bit_write(current->mm, bit, false, false);
}

int eventlog_ue_enabler_remove(const struct eventlog_ue_bit *bit)
{
	struct eventlog_ue_bit copy = *bit;
	bool removed = false;

	return ue_write_own(ue_enabler_try_remove, &copy, &removed);
}

/* ---- unload ---- */

/* Clears a bit of another process. */
static void ue_bit_clear(struct mm_struct *mm, const struct eventlog_ue_bit *bit)
{
	unsigned int faults = 0, locked = 0;
	int ret, fault = 0;

	do {
		if (mmap_read_lock_killable(mm))
			return;
		ret = eventlog_ue_bit_write(mm, bit, false, true);
		if (ret == -EFAULT)
			fault = eventlog_ue_bit_fault_in(mm, bit);
		mmap_read_unlock(mm);
		if (ret == -EAGAIN)
			schedule_timeout_killable(1);
	} while (!fatal_signal_pending(current) &&
		 ((ret == -EFAULT && !fault && ++faults <= UE_FAULTS_MAX) ||
		  (ret == -EAGAIN && ++locked <= UE_LOCKED_MAX)));
}

static void ue_memory_clear(struct eventlog_ue_memory *memory)
{
	struct mm_struct *mm = memory->mm;
	struct rb_node *node;

	if (!mmget_not_zero(mm))
		return;
	for (node = rb_first(&memory->enablers); node; node = rb_next(node))
		if (ue_enabler_of(node)->shown)
			ue_bit_clear(mm, &ue_enabler_of(node)->bit);
	mmput_async(mm);
}

/* Takes all enablers out of their events' lists, so that nothing writes their bits. */
static void ue_enablers_detach(void)
{
	struct eventlog_ue_memory *memory;
	struct rb_node *node;
	unsigned int i;

	mutex_lock(&eventlog_ue_lock);
	hash_for_each(ue_memories, i, memory, node)
		for (node = rb_first(&memory->enablers); node; node = rb_next(node))
			list_del_init(&ue_enabler_of(node)->event_node);
	mutex_unlock(&eventlog_ue_lock);
}

void eventlog_ue_memories_clear(void)
{
	struct eventlog_ue_memory *memory;
	struct hlist_node *next;
	unsigned int i;

	ue_enablers_detach();
	hash_for_each_safe(ue_memories, i, next, memory, node) {
		ue_memory_clear(memory);
		mutex_lock(&eventlog_ue_lock);
		ue_memory_drop(memory);
		mutex_unlock(&eventlog_ue_lock);
	}
}

#endif /* EVENTLOG_TRACE_EVENTS */
