/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why a thread was blocked.  No state and no lock.
 */
#ifndef EVENTLOG_SCHED_CAUSE_H
#define EVENTLOG_SCHED_CAUSE_H

#include <linux/types.h>

struct eventlog_interval;
struct task_struct;

/**
 * struct sched_reason - why a thread did not run
 * @cause: EVENTLOG_SCHED_CAUSE_*, of the schema
 * @call: number of the system call that it is in; -1: none, or one of another ABI than the
 *	kernel's own
 * @arg: as in the schema
 */
struct sched_reason {
	u8 cause;
	s16 call;
	u64 arg;
};

/**
 * sched_reason() - find out why a thread did not run
 * @task: a thread of a process that is being switched in, or the current one
 * @interval: complete
 *
 * Reads the registers of the task at its entry to the kernel, and the type of the file that its
 * system call waits for.  Another thread may have closed that file meanwhile: then the result may
 * be that of another file of the process.
 *
 * Context: the lock of the run queue may be held.
 */
struct sched_reason sched_reason(struct task_struct *task,
				 const struct eventlog_interval *interval);

#endif /* EVENTLOG_SCHED_CAUSE_H */
