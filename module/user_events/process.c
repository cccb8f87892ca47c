// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fork, exec and exit: see process.h.
 */
#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "compat.h"

#if EVENTLOG_TRACE_EVENTS

#include <trace/events/sched.h>

#include "memory.h"
#include "providers/hook.h"
#include "user_events/enabler.h"
#include "user_events/process.h"

/*
 * Forks that can be noted when there is no memory.  The probe runs with preemption disabled,
 * and PREEMPT_RT allocates no memory then: all forks that wait for the worker are of these.
 */
#define UE_FORKS_RESERVE (IS_ENABLED(CONFIG_PREEMPT_RT) ? 4096 : 256)
/* The longest time between two looks at memories whose process may be exiting. */
#define UE_PURGE_MAX (10 * HZ)

/**
 * struct ue_fork - a fork in progress
 * @node: in the list of them, or that of free ones
 * @parent: the parent's, referred to
 * @mm: the child's, referred to
 * @reserve: one of UE_FORKS_RESERVE
 */
struct ue_fork {
	struct list_head node;
	struct mm_struct *parent;
	struct mm_struct *mm;
	bool reserve;
};

/* Under the lock, except @ue_forks_reserve.  The lock is raw for the probe on PREEMPT_RT. */
static DEFINE_RAW_SPINLOCK(ue_forks_lock);
static LIST_HEAD(ue_forks);
static LIST_HEAD(ue_forks_free);
static struct ue_fork *ue_forks_reserve;
static atomic_long_t ue_forks_lost;
static unsigned long ue_purge_delay;

static void ue_forks_work_run(struct work_struct *work);
static void ue_purge_work_run(struct work_struct *work);
static void ue_purge_soon(void);
static DECLARE_DELAYED_WORK(ue_forks_work, ue_forks_work_run);
static DECLARE_DELAYED_WORK(ue_purge_work, ue_purge_work_run);

/* ---- fork ---- */

/* Any context; NULL: there is no memory. */
static struct ue_fork *ue_fork_new(void)
{
	struct ue_fork *fork = NULL;
	unsigned long flags;

	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		fork = kzalloc(sizeof(*fork), GFP_ATOMIC | __GFP_NOWARN);
	if (fork)
		return fork;
	raw_spin_lock_irqsave(&ue_forks_lock, flags);
	fork = list_first_entry_or_null(&ue_forks_free, struct ue_fork, node);
	if (fork)
		list_del(&fork->node);
	raw_spin_unlock_irqrestore(&ue_forks_lock, flags);
	return fork;
}

static void ue_fork_end(struct ue_fork *fork)
{
	mmdrop(fork->parent);
	mmdrop(fork->mm);
	if (!fork->reserve) {
		kfree(fork);
		return;
	}
	raw_spin_lock_irq(&ue_forks_lock);
	list_add(&fork->node, &ue_forks_free);
	raw_spin_unlock_irq(&ue_forks_lock);
}

static struct ue_fork *ue_fork_first(void)
{
	struct ue_fork *fork;

	raw_spin_lock_irq(&ue_forks_lock);
	fork = list_first_entry_or_null(&ue_forks, struct ue_fork, node);
	raw_spin_unlock_irq(&ue_forks_lock);
	return fork;
}

static void ue_fork_unlink(struct ue_fork *fork)
{
	raw_spin_lock_irq(&ue_forks_lock);
	list_del(&fork->node);
	raw_spin_unlock_irq(&ue_forks_lock);
}

void eventlog_ue_forks_take(void)
{
	struct eventlog_ue_memory *parent;
	struct ue_fork *fork;

	lockdep_assert_held(&eventlog_ue_lock);
	while ((fork = ue_fork_first())) {
		/*
		 * Forks are in order: the enablers of the parent exist by now.  A child that
		 * has exited gets enablers as well, because it may have forked before.
		 */
		parent = eventlog_ue_memory_find(fork->parent);
		if (parent && eventlog_ue_memory_copy(parent, fork->mm)) {
			/* There is no memory: try again later, in the same order. */
			queue_delayed_work(eventlog_ue_queue, &ue_forks_work, HZ / 10);
			return;
		}
		if (!atomic_read(&fork->mm->mm_users))
			ue_purge_soon();
		ue_fork_unlink(fork);
		ue_fork_end(fork);
		cond_resched();
	}
}

static void ue_forks_work_run(struct work_struct *work)
{
	mutex_lock(&eventlog_ue_lock);
	eventlog_ue_forks_take();
	mutex_unlock(&eventlog_ue_lock);
}

/*
 * May a process have enablers?  A child that forks at once does not have those of its own
 * parent yet, so any fork matters while one is in progress.  Look at the list first: a fork
 * leaves it after the child's memory is in the table.
 */
static bool ue_fork_matters(const struct mm_struct *parent)
{
	unsigned long flags;
	bool matters;

	raw_spin_lock_irqsave(&ue_forks_lock, flags);
	matters = !list_empty(&ue_forks);
	raw_spin_unlock_irqrestore(&ue_forks_lock, flags);
	rcu_read_lock();
	matters |= !!eventlog_ue_memory_find(parent);
	rcu_read_unlock();
	return matters;
}

static void ue_probe_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	struct ue_fork *fork;
	unsigned long flags;

	if (eventlog_ue_memories_empty() || !child->mm || child->mm == parent->mm ||
	    !ue_fork_matters(parent->mm))
		return;
	fork = ue_fork_new();
	if (!fork) {
		atomic_long_inc(&ue_forks_lost);
		return;
	}
	fork->parent = parent->mm;
	fork->mm = child->mm;
	mmgrab(fork->parent);
	mmgrab(fork->mm);
	raw_spin_lock_irqsave(&ue_forks_lock, flags);
	list_add_tail(&fork->node, &ue_forks);
	raw_spin_unlock_irqrestore(&ue_forks_lock, flags);
	queue_delayed_work(eventlog_ue_queue, &ue_forks_work, 0);
}

/* ---- exec and exit ---- */

/* Something else that looks at a memory may be its last user: look again and again. */
static void ue_purge_work_run(struct work_struct *work)
{
	unsigned long delay;
	bool exited;

	mutex_lock(&eventlog_ue_lock);
	eventlog_ue_forks_take();
	exited = eventlog_ue_memories_purge();
	mutex_unlock(&eventlog_ue_lock);
	delay = READ_ONCE(ue_purge_delay);
	if (eventlog_ue_memories_empty() || (!exited && delay >= HZ))
		return;
	WRITE_ONCE(ue_purge_delay, min(2 * delay, UE_PURGE_MAX));
	queue_delayed_work(eventlog_ue_queue, &ue_purge_work, delay);
}

static void ue_purge_soon(void)
{
	if (READ_ONCE(ue_purge_delay) > 2) {
		WRITE_ONCE(ue_purge_delay, 1);
		mod_delayed_work(eventlog_ue_queue, &ue_purge_work, 1);
	} else {
		WRITE_ONCE(ue_purge_delay, 1);
		queue_delayed_work(eventlog_ue_queue, &ue_purge_work, 1);
	}
}

static void ue_probe_exec(void *data, struct task_struct *task, pid_t old,
			  struct linux_binprm *program)
{
	if (!eventlog_ue_memories_empty())
		ue_purge_soon();
}

/* The memory of a process, with a hold, or NULL. */
static struct eventlog_ue_memory *ue_memory_hold(const struct mm_struct *mm)
{
	struct eventlog_ue_memory *memory;

	rcu_read_lock();
	memory = mm ? eventlog_ue_memory_find(mm) : NULL;
	if (memory && !refcount_inc_not_zero(&memory->holders))
		memory = NULL;
	rcu_read_unlock();
	return memory;
}

/* Newer kernels call the probe while the task still has its memory. */
static void ue_exited(const struct task_struct *task)
{
	struct eventlog_ue_memory *memory;

	if (eventlog_ue_memories_empty() || task->flags & PF_KTHREAD)
		return;
	memory = ue_memory_hold(task->mm);
	if (memory) {
		WRITE_ONCE(memory->exited, true);
		eventlog_ue_memory_put(memory);
	}
	ue_purge_soon();
}

static void ue_probe_exit(void *data, struct task_struct *task)
{
	ue_exited(task);
}

static void ue_probe_exit_group(void *data, struct task_struct *task, bool group_dead)
{
	ue_exited(task);
}

/* Protects the hooks while the module can be used. */
static DEFINE_MUTEX(ue_hooks_lock);

static struct eventlog_hook ue_hooks[] = {
	EVENTLOG_HOOK(sched_process_fork, ue_probe_fork),
	EVENTLOG_HOOK(sched_process_exec, ue_probe_exec),
	EVENTLOG_HOOK_EITHER(sched_process_exit, ue_probe_exit, ue_probe_exit_group),
	{}
};

/* ---- load and unload ---- */

int eventlog_ue_process_init(void)
{
	struct eventlog_hook *hook;
	unsigned int i;

	eventlog_hooks_find(ue_hooks);
	for (hook = ue_hooks; hook->name; hook++)
		if (!hook->point)
			return -ENOENT;
	ue_purge_delay = 1;
	ue_forks_reserve = eventlog_alloc(UE_FORKS_RESERVE * sizeof(*ue_forks_reserve));
	if (!ue_forks_reserve)
		return -ENOMEM;
	for (i = 0; i < UE_FORKS_RESERVE; i++) {
		ue_forks_reserve[i].reserve = true;
		list_add_tail(&ue_forks_reserve[i].node, &ue_forks_free);
	}
	return 0;
}

/* A fork that has passed its tracepoint before copied the memory before the first bit is set. */
int eventlog_ue_process_watch(void)
{
	struct eventlog_hook *hook;
	int ret = 0;

	mutex_lock(&ue_hooks_lock);
	for (hook = ue_hooks; hook->name; hook++) {
		eventlog_hook_set(hook, true);
		if (!hook->hooked)
			ret = -ENOMEM;
	}
	mutex_unlock(&ue_hooks_lock);
	return ret;
}

static void ue_hooks_unset(void)
{
	struct eventlog_hook *hook;

	for (hook = ue_hooks; hook->name; hook++)
		eventlog_hook_set(hook, false);
	tracepoint_synchronize_unregister();
}

unsigned long eventlog_ue_forks_lost(void)
{
	return atomic_long_read(&ue_forks_lost);
}

void eventlog_ue_process_exit(void)
{
	struct ue_fork *fork;

	ue_hooks_unset();
	/* Tracers may still take forks, and nothing queues a work item when there are none. */
	mutex_lock(&eventlog_ue_lock);
	eventlog_ue_forks_take();
	while ((fork = ue_fork_first())) {
		ue_fork_unlink(fork);
		ue_fork_end(fork);
	}
	mutex_unlock(&eventlog_ue_lock);
	cancel_delayed_work_sync(&ue_purge_work);
	cancel_delayed_work_sync(&ue_forks_work);
	eventlog_free(ue_forks_reserve);
}

#endif /* EVENTLOG_TRACE_EVENTS */
