// SPDX-License-Identifier: GPL-2.0-only
/*
 * eventlog_proc.ko: the life of every process, as events.
 *
 * The session is the pid as init sees it.  Everything comes from the
 * scheduler's tracepoints, hooked while an event that needs them is wanted; the
 * module keeps nothing.
 */
#define pr_fmt(format) "eventlog_proc: " format

#include <linux/binfmts.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "hook.h"

#define EVENTLOG_PROC_DEFINE
#include "proc_eventlog.h"

static u64 proc_age(const struct task_struct *task)
{
	return ktime_get_boottime_ns() - task->group_leader->start_boottime;
}

/* Processor time of a process's threads, those included that have gone; ns. */
static u64 proc_cpu_time(const struct task_struct *task)
{
	u64 time = task->signal->sum_sched_runtime;
	const struct task_struct *thread;

	rcu_read_lock();
	for_each_thread(task, thread)
		time += READ_ONCE(thread->se.sum_exec_runtime);
	rcu_read_unlock();
	return time;
}

static void proc_on_fork(void *unused, struct task_struct *parent, struct task_struct *child)
{
	if (thread_group_leader(child))
		eventlog_proc_fork(child->tgid, parent->tgid, child->comm);
	else
		eventlog_proc_thread_start(child->tgid, child->pid, child->comm);
}

static void proc_on_exec(void *unused, struct task_struct *task, pid_t old_pid,
			 struct linux_binprm *program)
{
	eventlog_proc_exec(task->tgid, program->filename, task->comm);
}

/*
 * A process has ended when its last thread has.  Two that end at the same time
 * may both find themselves the last: rather twice than never.
 */
static void proc_on_exit(void *unused, struct task_struct *task)
{
	int code;

	if (atomic_read(&task->signal->live)) {
		eventlog_proc_thread_exit(task->tgid, task->pid, task->comm);
		return;
	}
	if (!eventlog_proc_exit_enabled())
		return;
	/* What wait() will tell: of the whole group, if it was ended as one. */
	code = task->signal->flags & SIGNAL_GROUP_EXIT ? task->signal->group_exit_code :
							 task->exit_code;
	eventlog_proc_exit(task->tgid, code >> 8, code & 0x7f, code & 0x80, task->comm,
			   proc_age(task), proc_cpu_time(task));
}

static void proc_rundown(struct eventlog_provider *provider)
{
	struct task_struct *task;

	rcu_read_lock();
	for_each_process(task)
		eventlog_proc_existing(task->tgid, rcu_dereference(task->real_parent)->tgid,
				       task->comm, proc_age(task));
	rcu_read_unlock();
}

enum {
	HOOK_FORK,
	HOOK_EXEC,
	HOOK_EXIT,
};

static struct eventlog_hook proc_hooks[] = {
	[HOOK_FORK] = { "sched_process_fork", proc_on_fork },
	[HOOK_EXEC] = { "sched_process_exec", proc_on_exec },
	[HOOK_EXIT] = { "sched_process_exit", proc_on_exit },
	{},
};

static void proc_enable(struct eventlog_provider *provider, u64 keywords, u32 level)
{
	eventlog_hook_set(&proc_hooks[HOOK_FORK], eventlog_proc_fork_enabled() ||
						  eventlog_proc_thread_start_enabled());
	eventlog_hook_set(&proc_hooks[HOOK_EXEC], eventlog_proc_exec_enabled());
	eventlog_hook_set(&proc_hooks[HOOK_EXIT], eventlog_proc_exit_enabled() ||
						  eventlog_proc_thread_exit_enabled());
}

static int __init eventlog_proc_init(void)
{
	eventlog_hooks_find(proc_hooks);
	eventlog_proc.rundown_keywords = EVENTLOG_PROC_KEYWORD_RUNDOWN;
	eventlog_proc.enable = proc_enable;
	eventlog_proc.rundown = proc_rundown;
	return eventlog_provider_register(&eventlog_proc);
}

static void __exit eventlog_proc_exit_module(void)
{
	/* Has everything unhooked. */
	eventlog_provider_unregister(&eventlog_proc);
	tracepoint_synchronize_unregister();
}

module_init(eventlog_proc_init);
module_exit(eventlog_proc_exit_module);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The eventlog developers");
MODULE_DESCRIPTION("The life of every process, as eventlog events");
MODULE_VERSION(EVENTLOG_RELEASE);
