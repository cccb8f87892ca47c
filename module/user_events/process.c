// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fork, exec and exit: see process.h.
 */
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

#include "compat.h"

#if EVENTLOG_TRACE_EVENTS

#include <trace/events/sched.h>

#include "providers/hook.h"
#include "user_events/space.h"
#include "user_events/process.h"

/* The longest time between two looks at address spaces whose process may be exiting. */
#define UE_PURGE_MAX (10 * HZ)
/* Address spaces that are looked at in a jiffy. */
#define UE_PURGE_RATE 256

static unsigned long ue_purge_delay;

static void ue_purge_work_run(struct work_struct *work);
static DECLARE_DELAYED_WORK(ue_purge_work, ue_purge_work_run);

static bool ue_has_spaces(void)
{
	return ue_spaces_count();
}

/* The child does not run yet. */
static void ue_probe_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	if (ue_has_spaces() && child->mm && child->mm != parent->mm)
		ue_space_fork(parent->mm, child->mm);
}

/* ---- exec and exit ---- */

/* Something else that looks at an address space may be its last user: look again and again. */
static void ue_purge_work_run(struct work_struct *work)
{
	unsigned int left = ue_spaces_count();
	unsigned long delay;
	bool exited = false;

	while (left) {
		unsigned int count = min_t(unsigned int, left, UE_BATCH);

		exited |= ue_spaces_purge(count);
		left -= count;
		cond_resched();
	}
	delay = READ_ONCE(ue_purge_delay);
	if (!ue_has_spaces() || (!exited && delay >= HZ))
		return;
	WRITE_ONCE(ue_purge_delay, min(2 * delay, UE_PURGE_MAX));
	queue_delayed_work(system_unbound_wq, &ue_purge_work, delay);
}

/* Each exit on the machine has all of them looked at, so that takes longer if there are many. */
static void ue_purge_soon(void)
{
	unsigned long delay = 1 + ue_spaces_count() / UE_PURGE_RATE;
	bool later = READ_ONCE(ue_purge_delay) > 2 * delay;

	WRITE_ONCE(ue_purge_delay, delay);
	if (later)
		mod_delayed_work(system_unbound_wq, &ue_purge_work, delay);
	else
		queue_delayed_work(system_unbound_wq, &ue_purge_work, delay);
}

static void ue_probe_exec(void *data, struct task_struct *task, pid_t old,
			  struct linux_binprm *program)
{
	if (ue_has_spaces())
		ue_purge_soon();
}

/* Newer kernels call the probe while the task still has its memory. */
static void ue_exited(const struct task_struct *task)
{
	struct ue_space *space;

	if (!ue_has_spaces() || task->flags & PF_KTHREAD)
		return;
	rcu_read_lock();
	space = task->mm ? ue_space_find(task->mm) : NULL;
	if (space)
		WRITE_ONCE(space->exited, true);
	rcu_read_unlock();
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

int ue_process_init(void)
{
	struct eventlog_hook *hook;

	eventlog_hooks_find(ue_hooks);
	for (hook = ue_hooks; hook->name; hook++)
		if (!hook->point)
			return -ENOENT;
	ue_purge_delay = 1;
	return 0;
}

/* A fork that has passed its tracepoint before copied the memory before the first bit is set. */
int ue_process_watch(void)
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

void ue_process_exit(void)
{
	ue_hooks_unset();
	cancel_delayed_work_sync(&ue_purge_work);
}

#endif /* EVENTLOG_TRACE_EVENTS */
