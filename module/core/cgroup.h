/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cgroups of rules: a rule keeps the id of a cgroup and no reference, so that it does not keep
 * a cgroup that was removed.  Ids are not used again.  Only the unified hierarchy, version 2.
 */
#ifndef EVENTLOG_CORE_CGROUP_H
#define EVENTLOG_CORE_CGROUP_H

#include <linux/cgroup.h>
#include <linux/sched.h>
#include <linux/types.h>

#include "compat.h"

/**
 * struct eventlog_cgroup - a cgroup
 * @id: as the kernel numbers it
 * @level: its depth; 0: the root of the hierarchy
 */
struct eventlog_cgroup {
	u64 id;
	int level;
};

#ifdef CONFIG_CGROUPS
#define EVENTLOG_CGROUPS 1

/**
 * eventlog_cgroup_get() - find out which cgroup an open directory is
 * @fd: of the current process
 * @cgroup: filled in
 *
 * May sleep.
 *
 * Return: 0; -EBADF: @fd is not open, or no cgroup of the unified hierarchy; or another
 * negative errno.
 */
int eventlog_cgroup_get(u32 fd, struct eventlog_cgroup *cgroup);

/**
 * eventlog_cgroup_contains() - is a task in a cgroup, or in one below it?
 * @cgroup: the cgroup, which may have been removed
 * @task: the task
 *
 * Any context, in a critical section of RCU or with preemption disabled.  Takes the same time
 * at every depth.
 */
static __always_inline bool eventlog_cgroup_contains(const struct eventlog_cgroup *cgroup,
						     struct task_struct *task)
{
	const struct cgroup *own = task_dfl_cgroup(task);

	return own->level >= cgroup->level &&
	       eventlog_cgroup_ancestor_id(own, cgroup->level) == cgroup->id;
}
#else
#define EVENTLOG_CGROUPS 0

static inline int eventlog_cgroup_get(u32 fd, struct eventlog_cgroup *cgroup)
{
	return -EINVAL;
}

static inline bool eventlog_cgroup_contains(const struct eventlog_cgroup *cgroup,
					    struct task_struct *task)
{
	return false;
}
#endif

#endif /* EVENTLOG_CORE_CGROUP_H */
