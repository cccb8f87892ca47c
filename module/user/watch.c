// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that exit or execute another program: see watch.h.
 */
#include <linux/errno.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <trace/events/sched.h>

#include "compat.h"
#include "core/thread.h"
#include "providers/hook.h"
#include "user/watch.h"

/*
 * Before anything of the task changes: what another process writes to the thread's ring from then
 * on does not get the name, the rights or the ids of the new program.
 */
static void __maybe_unused eventlog_watch_on_exec(void *unused, struct task_struct *task,
						  struct linux_binprm *program)
{
	eventlog_thread_leave(true);
}

/* Before the new program begins. */
static void __maybe_unused eventlog_watch_on_exec_late(void *unused, struct task_struct *task,
						       pid_t old, struct linux_binprm *program)
{
	eventlog_thread_leave(true);
}

static void __maybe_unused eventlog_watch_on_exit(void *unused, struct task_struct *task)
{
	eventlog_thread_leave(false);
}

static void __maybe_unused eventlog_watch_on_exit_group(void *unused, struct task_struct *task,
							bool group_dead)
{
	eventlog_thread_leave(false);
}

/* Protects the hooks while the module can be used. */
static DEFINE_MUTEX(eventlog_watch_lock);

static struct eventlog_hook eventlog_watch_hooks[] = {
#if EVENTLOG_PREPARE_EXEC
	EVENTLOG_HOOK(sched_prepare_exec, eventlog_watch_on_exec),
#else
	EVENTLOG_HOOK(sched_process_exec, eventlog_watch_on_exec_late),
#endif
	EVENTLOG_HOOK_EITHER(sched_process_exit, eventlog_watch_on_exit,
			     eventlog_watch_on_exit_group),
	{},
};

/* All hooks are registered; set once. */
static bool eventlog_watch_complete;

void eventlog_watch_init(void)
{
	eventlog_hooks_find(eventlog_watch_hooks);
}

void eventlog_watch_exit(void)
{
	struct eventlog_hook *hook;

	for (hook = eventlog_watch_hooks; hook->name; hook++)
		eventlog_hook_set(hook, false);
	tracepoint_synchronize_unregister();
}

int eventlog_watch(void)
{
	struct eventlog_hook *hook;
	int ret = 0;

	if (smp_load_acquire(&eventlog_watch_complete))
		return 0;
	mutex_lock(&eventlog_watch_lock);
	for (hook = eventlog_watch_hooks; hook->name; hook++) {
		eventlog_hook_set(hook, true);
		if (!hook->hooked)
			ret = hook->point ? -ENOMEM : -EOPNOTSUPP;
	}
	if (!ret)
		smp_store_release(&eventlog_watch_complete, true);
	mutex_unlock(&eventlog_watch_lock);
	return ret;
}
