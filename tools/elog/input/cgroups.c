// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cgroups of --cgroup and --unit: see cgroups.h.
 *
 * systemd gives each unit a cgroup with the unit's name. It is found in the file system, so
 * that neither D-Bus nor systemd is needed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "input/cgroups.h"

#define DEPTH_MAX	32	/* of cgroups in which a unit is sought */
#define LISTED_MAX	8	/* cgroups of one unit in a message */

/* Where cgroup2 is mounted first; the caller frees it. Return: NULL: nowhere. */
static char *find_mount(void)
{
	const struct mntent *entry;
	char *directory = NULL;
	FILE *mounts;

	mounts = setmntent("/proc/self/mounts", "re");
	while (mounts && !directory && (entry = getmntent(mounts)))
		if (!strcmp(entry->mnt_type, "cgroup2"))
			directory = strdup(entry->mnt_dir);
	if (mounts)
		endmntent(mounts);
	if (!directory)
		elog_error("--cgroup and --unit need cgroups of version 2, and none are mounted");
	return directory;
}

static int open_directory(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs status;

	if (fd < 0)
		return -errno;
	if (!fstatfs(fd, &status) && status.f_type == CGROUP2_SUPER_MAGIC)
		return fd;
	close(fd);
	return -ENOTDIR;
}

/* "system.slice", "/system.slice", as systemd-cgls prints it, or the whole path. */
static int open_path(const char *mount, const char *path)
{
	const size_t size = strlen(mount);
	char *whole;
	int ret;

	if (!strncmp(path, mount, size) && (!path[size] || path[size] == '/'))
		whole = strdup(path);
	else if (asprintf(&whole, "%s/%s", mount, path + strspn(path, "/")) < 0)
		whole = NULL;
	ret = whole ? open_directory(whole) : -ENOMEM;
	if (ret == -ENOENT) {
		elog_error("no cgroup '%s' in %s", path, mount);
		elog_hint("systemd-cgls shows the cgroups");
	} else if (ret < 0) {
		elog_error("%s: %s", whole ? whole : path, ret == -ENOTDIR ?
			   "not a cgroup of version 2" : strerror(-ret));
	}
	free(whole);
	return ret;
}

/* The cgroups with a name. */
struct found {
	const char *name;
	size_t count;
	char *paths[LISTED_MAX];
};

/* Does not go below a cgroup that has the name. Return: 0 or -ENOMEM. */
static int find_units(struct found *found, const char *path, unsigned int depth)
{
	DIR *directory = depth < DEPTH_MAX ? opendir(path) : NULL;
	const struct dirent *entry;
	char *below;
	int ret = 0;

	/* A cgroup may be removed meanwhile. */
	while (!ret && directory && (entry = readdir(directory))) {
		if (entry->d_type != DT_DIR || *entry->d_name == '.')
			continue;
		if (asprintf(&below, "%s/%s", path, entry->d_name) < 0) {
			ret = -ENOMEM;
			break;
		}
		if (strcmp(entry->d_name, found->name))
			ret = find_units(found, below, depth + 1);
		else if (found->count++ < LISTED_MAX)
			found->paths[found->count - 1] = below;
		if (!found->count || found->count > LISTED_MAX ||
		    found->paths[found->count - 1] != below)
			free(below);
	}
	if (directory)
		closedir(directory);
	return ret;
}

static bool has_suffix(const char *unit)
{
	static const char *const suffixes[] = {
		".service", ".scope", ".slice", ".socket", ".mount", ".swap",
	};
	const size_t size = strlen(unit);
	size_t i, length;

	for (i = 0; i < ARRAY_SIZE(suffixes); i++) {
		length = strlen(suffixes[i]);
		if (size > length && !strcmp(unit + size - length, suffixes[i]))
			return true;
	}
	return false;
}

static int open_found(const struct found *found)
{
	size_t i;
	int ret;

	if (found->count == 1) {
		ret = open_directory(found->paths[0]);
		if (ret < 0)
			elog_error("%s: %s", found->paths[0], strerror(-ret));
		return ret;
	}
	if (!found->count) {
		elog_error("the unit '%s' does not run: no cgroup has this name", found->name);
		elog_hint("systemctl status '%s'; or: systemctl list-units", found->name);
		return -ENOENT;
	}
	elog_error("%zu units are called '%s': choose with --cgroup", found->count, found->name);
	for (i = 0; i < found->count && i < LISTED_MAX; i++)
		elog_hint("--cgroup %s", found->paths[i]);
	return -EEXIST;
}

static int open_unit(const char *mount, const char *unit)
{
	struct found found = { 0 };
	char *name, *path = NULL;
	size_t i;
	int ret = -ENOMEM;

	if (asprintf(&name, "%s%s", unit, has_suffix(unit) ? "" : ".service") < 0)
		name = NULL;
	/* Most units are there. */
	if (name && asprintf(&path, "%s/system.slice/%s", mount, name) < 0)
		path = NULL;
	if (path)
		ret = open_directory(path);
	if (ret == -ENOENT) {
		found.name = name;
		ret = find_units(&found, mount, 0);
		ret = ret ? ret : open_found(&found);
	} else if (ret < 0) {
		elog_error("the unit '%s': %s", unit, strerror(-ret));
	}
	for (i = 0; i < found.count && i < LISTED_MAX; i++)
		free(found.paths[i]);
	free(path);
	free(name);
	return ret;
}

int cgroup_open(const struct selection_spec *spec, size_t index)
{
	char *mount = find_mount();
	int ret;

	if (!mount)
		return -ENOENT;
	if (index < spec->cgroups.count)
		ret = open_path(mount, spec->cgroups.strings[index]);
	else
		ret = open_unit(mount, spec->units.strings[index - spec->cgroups.count]);
	free(mount);
	return ret;
}
