// SPDX-License-Identifier: GPL-2.0-only
/*
 * Renaming files: see rename.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "util/rename.h"

int rename_new(const char *from, const char *to)
{
	struct stat stat;

	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	/* Unknown to the file system or the kernel, or denied in a sandbox. */
	if (errno != EINVAL && errno != ENOSYS && errno != EPERM)
		return -errno;
	if (!lstat(to, &stat))
		return -EEXIST;
	return rename(from, to) ? -errno : 0;
}
