/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A cgroup with a limit of memory or of CPU time, for tests: one at a time.  A function fails the test when something goes
 * wrong.
 */
#ifndef CGROUP_COMMON_H
#define CGROUP_COMMON_H

#include "eventlog_common.h"

/** cgroup_make() - make a memory cgroup with a limit; skips the test without memory cgroups */
void cgroup_make(size_t bytes);

/** cgroup_make_cpu() - make a cgroup with this in cpu.max; skips the test without CPU cgroups */
void cgroup_make_cpu(const char *max);

/** cgroup_remove() - remove it, once its processes have ended */
void cgroup_remove(void);

/** cgroup_number() - read a number from one of its files */
long cgroup_number(const char *name);

/** cgroup_enter() - move this process to it */
void cgroup_enter(void);

#endif /* CGROUP_COMMON_H */
