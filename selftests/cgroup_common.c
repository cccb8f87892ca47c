// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cgroup for tests: see cgroup_common.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup_common.h"

static char cgroup_path[64];

static char *cgroup_file(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", cgroup_path, name);
	return path;
}

static void cgroup_make_with(const char *controller, const char *file, const char *text)
{
	char mount_point[] = "/tmp/cgroup.XXXXXX";

	CHECK(mkdtemp(mount_point));
	if (mount("none", mount_point, "cgroup2", 0, NULL)) {
		rmdir(mount_point);
		SKIP("no cgroup2: %s", test_errno_name(errno));
	}
	snprintf(cgroup_path, sizeof(cgroup_path), "%s", mount_point);
	file_write(cgroup_file("cgroup.subtree_control"), controller);
	/* A test that fails leaves its cgroup. */
	snprintf(cgroup_path, sizeof(cgroup_path), "%s/test-%d", mount_point, getpid());
	CHECK_OK(mkdir(cgroup_path, 0755));
	if (access(cgroup_file(file), F_OK)) {
		rmdir(cgroup_path);
		umount(mount_point);
		rmdir(mount_point);
		SKIP("no %s in cgroups", file);
	}
	CHECK_OK(file_write(cgroup_file(file), text));
}

void cgroup_make(size_t bytes)
{
	char text[32];

	snprintf(text, sizeof(text), "%zu", bytes);
	cgroup_make_with("+memory", "memory.max", text);
	file_write(cgroup_file("memory.swap.max"), "0");
}

void cgroup_make_cpu(const char *max)
{
	cgroup_make_with("+cpu", "cpu.max", max);
}

void cgroup_remove(void)
{
	WAIT_FOR(!rmdir(cgroup_path));
	*strrchr(cgroup_path, '/') = '\0';
	CHECK_OK(umount(cgroup_path));
	CHECK_OK(rmdir(cgroup_path));
}

long cgroup_number(const char *name)
{
	return file_number(cgroup_file(name));
}

void cgroup_enter(void)
{
	CHECK_OK(file_write(cgroup_file("cgroup.procs"), "0"));
}
