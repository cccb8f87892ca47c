/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel stacks of threads that did not run for long: where in the kernel they waited.
 *
 * A thread that is being switched in does not run yet, so its stack is complete and does not
 * change: it is read then, and not later, when the thread may be elsewhere.  The event carries
 * the number of the stack.  What it looks like is another event, which a worker emits, once for
 * each capture: names of functions, and no address.
 *
 * Only those who may subscribe in the root see these events: who has CAP_PERFMON may see kernel
 * stacks.  They are never delivered to instances.
 */
#ifndef EVENTLOG_SCHED_STACK_H
#define EVENTLOG_SCHED_STACK_H

#include <linux/compiler.h>
#include <linux/time64.h>
#include <linux/types.h>

struct eventlog_thread;
struct task_struct;

/* The parameter stack_us; 0: no stacks. */
extern unsigned int sched_stack_us;

/* The slow half of sched_stack(). */
u32 sched_stack_take(const struct eventlog_thread *thread, struct task_struct *task);

/**
 * sched_stack() - number of the kernel stack of a thread that was blocked
 * @thread: its entry
 * @task: the thread, which is being switched in and is not the current task
 * @time: how long it did not run, ns
 *
 * Unwinds a stack of at most 32 frames if @time is long enough, which takes some thousand
 * instructions.
 *
 * Context: interrupts off; the lock of the run queue may be held.
 *
 * Return: the number; 0: @time is too short, no one listens to the event stack, the user has
 * too many, too many others wait to be emitted, or the kernel cannot unwind this stack.
 */
static __always_inline u32 sched_stack(const struct eventlog_thread *thread,
				       struct task_struct *task, u64 time)
{
	const unsigned int least = READ_ONCE(sched_stack_us);

	if (!least || time < (u64)least * NSEC_PER_USEC)
		return 0;
	return sched_stack_take(thread, task);
}

/**
 * sched_stacks_listen() - begin or end to take stacks
 * @wanted: someone listens to both events, those with numbers and those with the stacks
 *
 * Process context, sleeps; one at a time.  At the end of a period, the caller has removed the
 * probes that call sched_stack(), but some may still run.
 */
void sched_stacks_listen(bool wanted);

/**
 * sched_stacks_again() - emit each stack that is used from now on again
 *
 * For a capture that has just begun.  Any context.
 */
void sched_stacks_again(void);

/** sched_stacks_init() - before the provider is registered.  Return: 0, or an error number */
int sched_stacks_init(void);

/** sched_stacks_exit() - after sched_stacks_listen(false), or without it */
void sched_stacks_exit(void);

#endif /* EVENTLOG_SCHED_STACK_H */
