// SPDX-License-Identifier: GPL-2.0-only
/*
 * The processes that use the device: see users.h.
 *
 * Who has registered events is known to the module. All others, such as subscribers, are found in
 * /proc, where a file of an instance may have any name: so its device number counts.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "upgrade/users.h"
#include "util/array.h"
#include "util/tool.h"

#define ANONYMOUS "anon_inode:[eventlog]"

/* The device numbers of the root, and the major number of instances. */
struct numbers {
	dev_t root;
	unsigned int major;
};

static struct user *find_or_add(struct users *users, pid_t pid)
{
	struct user *user, *larger;
	char path[64];
	FILE *file;
	size_t i;

	for (i = 0; i < users->count; i++)
		if (users->users[i].pid == pid)
			return &users->users[i];
	larger = array_grow(users->users, users->count, sizeof(*larger));
	if (!larger)
		return NULL;
	users->users = larger;
	user = &larger[users->count++];
	*user = (struct user){ .pid = pid, .name = "?" };
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	if (file && fgets(user->name, sizeof(user->name), file))
		user->name[strcspn(user->name, "\n")] = '\0';
	if (file)
		fclose(file);
	for (i = 0; user->name[i]; i++)
		if (!isprint((unsigned char)user->name[i]))
			user->name[i] = '?';
	return user;
}

/* ------------------------------------------------------------------------
 * Who has registered events
 */

static int add_registered(struct users *users, int fd)
{
	struct eventlog_registration_info info = { .size = sizeof(info) };
	struct elog_list *list;
	struct user *user;
	const char *text;
	int ret;

	ret = elog_list_open(fd, EVENTLOG_LIST_REGISTRATIONS, 0, &list);
	if (ret)
		return ret;
	while (!(ret = elog_list_next(list, &info, &text))) {
		/* 0: the process has ended, and another one has its file; /proc shows that one. */
		user = info.pid ? find_or_add(users, (pid_t)info.pid) : NULL;
		if (user)
			user->registers = true;
		info.size = sizeof(info);
	}
	elog_list_close(list);
	return ret == -ENOENT ? 0 : ret;
}

int users_of_events(struct users *users, int fd)
{
	struct eventlog_instance_info info = { .size = sizeof(info) };
	struct elog_list *list;
	const char *text;
	int ret, instance;

	ret = add_registered(users, fd);
	if (ret)
		return ret;
	ret = elog_list_open(fd, EVENTLOG_LIST_INSTANCES, 0, &list);
	if (ret)
		return ret;
	while (!elog_list_next(list, &info, &text)) {
		instance = elog_instance_open(fd, info.id);
		if (instance >= 0) {
			add_registered(users, instance);
			close(instance);
		}
		info.size = sizeof(info);
	}
	elog_list_close(list);
	return 0;
}

/* ------------------------------------------------------------------------
 * Who has the device open
 */

static unsigned int instances_major(void)
{
	unsigned int number, major = 0;
	char line[128], name[64];
	FILE *file = fopen("/proc/devices", "re");

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%u %63s", &number, name) == 2 && !strcmp(name, "eventlog"))
			major = number;
	if (file)
		fclose(file);
	return major;
}

static bool is_device(int directory, const char *name, const struct numbers *numbers)
{
	struct stat stat;

	return !fstatat(directory, name, &stat, 0) && S_ISCHR(stat.st_mode) &&
	       (stat.st_rdev == numbers->root ||
		(numbers->major && major(stat.st_rdev) == numbers->major));
}

static void look_at_file(struct users *users, pid_t pid, int directory, const char *name,
			 const struct numbers *numbers)
{
	char target[256];
	ssize_t length = readlinkat(directory, name, target, sizeof(target) - 1);
	bool is_user_events, is_ours;
	struct user *user;

	if (length <= 0)
		return;
	target[length] = '\0';
	is_user_events = strstr(target, "/user_events_data") ||
			 strstr(target, "/user_events_status");
	is_ours = !strcmp(target, ANONYMOUS) ||
		  (*target == '/' && is_device(directory, name, numbers));
	if (!is_user_events && !is_ours)
		return;
	user = find_or_add(users, pid);
	if (!user)
		return;
	user->holds |= is_ours;
	user->by_user_events |= is_user_events;
}

static void look_at_files(struct users *users, pid_t pid, const struct numbers *numbers)
{
	struct dirent *entry;
	char path[64];
	DIR *files;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	files = opendir(path);
	while (files && (entry = readdir(files)))
		if (isdigit((unsigned char)*entry->d_name))
			look_at_file(users, pid, dirfd(files), entry->d_name, numbers);
	if (files)
		closedir(files);
}

/* Is it the device, or an instance, according to a line of /proc/PID/maps? */
static bool maps_device(char *line)
{
	static const char deleted[] = " (deleted)";
	int path = 0;
	size_t length;

	sscanf(line, "%*s %*s %*s %*s %*s %n", &path);
	line += path;
	length = strcspn(line, "\n");
	if (length >= strlen(deleted) &&
	    !strncmp(line + length - strlen(deleted), deleted, strlen(deleted)))
		length -= strlen(deleted);
	line[length] = '\0';
	return !strcmp(line, EVENTLOG_DEVICE) || !strcmp(line, ANONYMOUS) ||
	       !strncmp(line, EVENTLOG_DEVICE "-", strlen(EVENTLOG_DEVICE "-"));
}

/* A mapping keeps the device, too, after its file was closed. */
static void look_at_mappings(struct users *users, pid_t pid)
{
	bool holds = false, has_library = false;
	struct user *user = NULL;
	char path[64], *line = NULL;
	size_t room = 0, i;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	file = fopen(path, "re");
	while (file && getline(&line, &room, file) > 0) {
		has_library |= strstr(line, "/libelog.so") != NULL;
		holds |= maps_device(line);
	}
	if (file)
		fclose(file);
	free(line);
	for (i = 0; i < users->count; i++)
		if (users->users[i].pid == pid)
			user = &users->users[i];
	if (!user && holds)
		user = find_or_add(users, pid);
	if (!user)
		return;
	user->holds |= holds;
	user->has_library |= has_library;
}

int users_of_device(struct users *users)
{
	struct numbers numbers = { .major = instances_major() };
	struct dirent *entry;
	struct stat stat_root;
	DIR *processes;
	size_t i;
	pid_t pid;

	for (i = 0; i < users->count; i++)
		users->users[i].holds = false;
	if (!stat(EVENTLOG_DEVICE, &stat_root))
		numbers.root = stat_root.st_rdev;
	processes = opendir("/proc");
	if (!processes)
		return -errno;
	while ((entry = readdir(processes))) {
		pid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (pid <= 0 || pid == getpid())
			continue;
		look_at_files(users, pid, &numbers);
		look_at_mappings(users, pid);
	}
	closedir(processes);
	for (i = 0; i < users->count; i++) {
		users->users[i].left |= !users->users[i].holds;
		users->users[i].holds = !users->users[i].left;
	}
	return 0;
}

void users_free(struct users *users)
{
	free(users->users);
	*users = (struct users){ 0 };
}
