/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why a thread was blocked.  No lock; the only state is a count of each CPU.
 */
#ifndef EVENTLOG_SCHED_CAUSE_H
#define EVENTLOG_SCHED_CAUSE_H

#include <linux/percpu.h>
#include <linux/types.h>

struct eventlog_interval;
struct task_struct;

/* How often a CPU has become idle while there is a listener; written by the CPU's switches. */
DECLARE_PER_CPU(u32, sched_idles);

/*
 * For all: @task is a thread of a process that is being switched in, or the current one;
 * @interval is complete.  They read the registers of the task at its entry to the kernel, and the
 * type of the file that its system call waits for.  Another thread may have closed that file
 * meanwhile: then the result may be that of another file of the process.
 *
 * Context: the lock of the run queue may be held.
 */

/**
 * sched_cause() - find out why a thread did not run
 * @task: the thread
 * @interval: in which it did not
 *
 * Return: EVENTLOG_SCHED_CAUSE_*, of the schema.
 */
u8 sched_cause(struct task_struct *task, const struct eventlog_interval *interval);

/**
 * sched_argument() - find out what exactly a thread waited for
 * @task: the thread
 * @interval: in which it did not run
 * @cause: of sched_cause()
 * @call: set to the number of the system call that it is in; -1: none, or one of another ABI than
 *	the kernel's own
 *
 * Return: as arg in the schema.
 */
u64 sched_argument(struct task_struct *task, const struct eventlog_interval *interval, u8 cause,
		   s16 *call);

#endif /* EVENTLOG_SCHED_CAUSE_H */
