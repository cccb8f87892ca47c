// SPDX-License-Identifier: GPL-2.0-only
/*
 * eventlog_proc.ko: a provider of events for fork, exec and exit of processes.
 *
 * The session is the pid in the initial pid namespace.  The events come from tracepoints
 * of the scheduler, which are hooked only while an event that needs them is enabled.
 * The module has no state besides the hooks; eventlog serialises enable().
 */
#define pr_fmt(format) "eventlog_proc: " format

#include <linux/binfmts.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/seqlock.h>
#include <trace/events/sched.h>

#include "hook.h"

#define EVENTLOG_PROC_DEFINE
#include "proc_eventlog.h"

static u64 proc_age(const struct task_struct *task)
{
	return ktime_get_boottime_ns() - task->group_leader->start_boottime;
}

/*
 * Returns the CPU time of a process in ns, including threads that have exited.  A thread
 * that exits meanwhile is counted once, unless threads exit so fast that ten attempts
 * fail to read a consistent sum.
 */
static u64 proc_cpu_time(const struct task_struct *task)
{
	struct signal_struct *signal = task->signal;
	const struct task_struct *thread;
	unsigned int sequence, tries = 0;
	u64 time;

	rcu_read_lock();
	do {
		sequence = raw_read_seqcount(&signal->stats_lock.seqcount);
		time = signal->sum_sched_runtime;
		for_each_thread(task, thread)
			time += READ_ONCE(thread->se.sum_exec_runtime);
	} while (read_seqcount_retry(&signal->stats_lock.seqcount, sequence) && ++tries < 10);
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

static void proc_ended(const struct task_struct *task)
{
	int code;

	if (!eventlog_proc_exit_enabled())
		return;
	/* The status that wait() returns: that of the group if it was terminated as a whole. */
	code = task->signal->flags & SIGNAL_GROUP_EXIT ? task->signal->group_exit_code :
							 task->group_leader->exit_code;
	eventlog_proc_exit(task->tgid, code >> 8, code & 0x7f, code & 0x80,
			   task->group_leader->comm, proc_age(task), proc_cpu_time(task));
}

static void __maybe_unused proc_on_exit_group(void *unused, struct task_struct *task,
					      bool group_dead)
{
	if (group_dead)
		proc_ended(task);
	else
		eventlog_proc_thread_exit(task->tgid, task->pid, task->comm);
}

/*
 * Earlier kernels do not pass whether this is the last thread of the process.  Two
 * threads that exit at the same time may both see that no other thread is alive; then
 * the event is emitted twice, which is better than never.
 */
static void __maybe_unused proc_on_exit(void *unused, struct task_struct *task)
{
	proc_on_exit_group(unused, task, !atomic_read(&task->signal->live));
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
	[HOOK_FORK] = EVENTLOG_HOOK(sched_process_fork, proc_on_fork),
	[HOOK_EXEC] = EVENTLOG_HOOK(sched_process_exec, proc_on_exec),
	[HOOK_EXIT] = EVENTLOG_HOOK_EITHER(sched_process_exit, proc_on_exit, proc_on_exit_group),
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
	/* This calls proc_enable(), which removes all hooks. */
	eventlog_provider_unregister(&eventlog_proc);
	tracepoint_synchronize_unregister();
}

module_init(eventlog_proc_init);
module_exit(eventlog_proc_exit_module);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The eventlog developers");
MODULE_DESCRIPTION("eventlog provider: fork, exec and exit of processes");
MODULE_VERSION(EVENTLOG_RELEASE);
