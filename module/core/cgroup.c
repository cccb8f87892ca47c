// SPDX-License-Identifier: GPL-2.0
/*
 * Cgroups of rules: see cgroup.h.
 */
#include <linux/err.h>
#include <linux/limits.h>

#include "core/cgroup.h"

#ifdef CONFIG_CGROUPS
int eventlog_cgroup_get(u32 fd, struct eventlog_cgroup *cgroup)
{
	struct cgroup *found;
	int ret = 0;

	if (fd > INT_MAX)
		return -EBADF;
	found = cgroup_get_from_fd((int)fd);
	if (IS_ERR(found))
		return PTR_ERR(found);
	/* Before 6.1, it also finds those of version 1. */
	if (found->root == &cgrp_dfl_root)
		*cgroup = (struct eventlog_cgroup){ cgroup_id(found), found->level };
	else
		ret = -EBADF;
	cgroup_put(found);
	return ret;
}
#endif
