// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files that elog writes: see output_file.h.
 *
 * The kernel does not say who holds such a lock, so the holder is found in /proc: a process that
 * has the file open, and whose file has a lock. That of another user or of another pid
 * namespace is not found.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "libelog/file/blocks.h"
#include "util/background.h"
#include "util/output_file.h"
#include "util/rename.h"
#include "util/signals.h"

#define HEAD_BYTES	32
#define QUIET_SECONDS	10	/* without locks: a file that is older has no writer */

/* ------------------------------------------------------------------------
 * Who holds a lock
 */

/* A process that holds a lock. */
struct holder {
	const struct stat *file;
	pid_t pid;		/* 0: not found */
	char verb[32];		/* of elog, or its name */
	char *background;	/* the target of elog stop, or NULL */
};

static bool has_lock(const char *pid, const char *number)
{
	char path[80], line[256];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.16s/fdinfo/%.16s", pid, number);
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file))
		found = !strncmp(line, "lock:", 5);
	if (file)
		fclose(file);
	return found;
}

static bool holds(const struct holder *holder, const char *pid)
{
	struct stat open_file;
	const struct dirent *entry;
	bool found = false;
	char path[64];
	DIR *files;

	snprintf(path, sizeof(path), "/proc/%.16s/fd", pid);
	files = opendir(path);
	while (files && !found && (entry = readdir(files)))
		found = isdigit((unsigned char)*entry->d_name) &&
			!fstatat(dirfd(files), entry->d_name, &open_file, 0) &&
			open_file.st_ino == holder->file->st_ino &&
			open_file.st_dev == holder->file->st_dev && has_lock(pid, entry->d_name);
	if (files)
		closedir(files);
	return found;
}

/* "elog capture" of its command line, or else only the name of the program. */
static void read_verb(struct holder *holder, const char *pid)
{
	char path[64], command[256] = "";
	const char *program = command, *verb;
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "/proc/%.16s/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	size = fd < 0 ? 0 : read(fd, command, sizeof(command) - 2);
	if (fd >= 0)
		close(fd);
	/* There are two NULs behind it. */
	verb = size > 0 ? command + strlen(command) + 1 : command;
	if (strrchr(program, '/'))
		program = strrchr(program, '/') + 1;
	if (islower((unsigned char)*verb))
		snprintf(holder->verb, sizeof(holder->verb), "%.16s %.14s", program, verb);
	else
		snprintf(holder->verb, sizeof(holder->verb), "%.31s", program);
}

static int see_background(const struct background_info *info, void *context)
{
	struct holder *holder = context;

	if (background_process(info) != holder->pid)
		return 0;
	holder->background = strdup(info->target);
	return 1;
}

static void find_holder(struct holder *holder)
{
	const struct dirent *entry;
	DIR *processes = opendir("/proc");

	while (processes && !holder->pid && (entry = readdir(processes))) {
		if (!isdigit((unsigned char)*entry->d_name) || !holds(holder, entry->d_name))
			continue;
		holder->pid = (pid_t)atoi(entry->d_name);
		read_verb(holder, entry->d_name);
	}
	if (processes)
		closedir(processes);
	if (holder->pid)
		background_each(see_background, holder);
}

/* Return: false: no holder was found. */
static bool explain_holder(const struct stat *file, const char *path)
{
	struct holder holder = { .file = file };

	find_holder(&holder);
	if (!holder.pid)
		return false;
	elog_error("%s: process %d (%s) writes to it", path, (int)holder.pid, holder.verb);
	if (holder.background)
		elog_hint("elog stop %s", holder.background);
	else
		elog_hint("this ends it: kill -INT %d", (int)holder.pid);
	free(holder.background);
	return true;
}

/* ------------------------------------------------------------------------
 * Locks
 */

int output_lock(int fd, const char *path)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	struct stat stat;

	if (fstat(fd, &stat) || !S_ISREG(stat.st_mode) || !fcntl(fd, F_OFD_SETLK, &lock))
		return 0;
	if (errno != EAGAIN && errno != EACCES)
		return 0;
	if (!explain_holder(&stat, path))
		elog_error("%s: another process writes to it", path);
	return -EBUSY;
}

bool output_explain_writer(const char *path)
{
	struct stat file;

	return !stat(path, &file) && S_ISREG(file.st_mode) && explain_holder(&file, path);
}

bool output_is_locked(int fd)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	struct stat stat;

	if (!fcntl(fd, F_OFD_GETLK, &lock))
		return lock.l_type != F_UNLCK;
	/* A file system without locks. */
	return !fstat(fd, &stat) && S_ISREG(stat.st_mode) &&
	       time(NULL) - stat.st_mtim.tv_sec < QUIET_SECONDS;
}

/* ------------------------------------------------------------------------
 * What a file contains
 */

int output_reopen(int fd)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

bool output_is_at(int fd, const char *path)
{
	struct stat now, then;

	return !fstat(fd, &then) && !stat(path, &now) &&
	       now.st_ino == then.st_ino && now.st_dev == then.st_dev;
}

enum output_kind output_kind(int fd)
{
	static const unsigned char magic[] = ELOG_FILE_MAGIC, zeros[HEAD_BYTES];
	enum output_kind kind = OUTPUT_FOREIGN;
	struct elog_reader *reader = NULL;
	unsigned char head[HEAD_BYTES];
	struct elog_item item;
	struct stat stat;
	ssize_t size;
	int file;

	if (fstat(fd, &stat) || !S_ISREG(stat.st_mode) || !stat.st_size)
		return OUTPUT_EMPTY;
	file = output_reopen(fd);
	if (file < 0)
		return OUTPUT_FOREIGN;
	size = pread(file, head, sizeof(head), 0);
	/* Zeros, or a part of the first block, are what a crash of the machine leaves. */
	if (size > 0 && (!memcmp(head, magic, (size_t)size < sizeof(magic) - 1 ? (size_t)size :
				 sizeof(magic) - 1) || !memcmp(head, zeros, (size_t)size)))
		kind = OUTPUT_UNREADABLE;
	if (kind == OUTPUT_UNREADABLE && !elog_reader_open(&reader, file) &&
	    elog_reader_next(reader, &item) == 1 && item.type == ELOG_ITEM_PART)
		kind = OUTPUT_RECORDING;
	elog_reader_close(reader);
	close(file);
	return kind;
}

static bool is_recording(int fd)
{
	const enum output_kind kind = output_kind(fd);

	return kind == OUTPUT_RECORDING || kind == OUTPUT_UNREADABLE;
}

static void explain_recording(const char *path)
{
	elog_error("%s: is a recording, and would be overwritten", path);
}

const char *output_obstacle(const char *path)
{
	const char *obstacle = NULL;
	struct stat stat;
	int fd;

	if (lstat(path, &stat))
		return errno == ENOENT ? NULL : strerror(errno);
	if (!S_ISREG(stat.st_mode))
		return "it is no regular file";
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return strerror(errno);
	if (output_kind(fd) == OUTPUT_FOREIGN)
		obstacle = "it is no recording";
	else if (output_is_locked(fd))
		obstacle = "it is being written";
	close(fd);
	return obstacle;
}

int output_rename(const char *from, const char *to, const char **obstacle)
{
	int ret = rename_new(from, to);

	*obstacle = ret == -EEXIST ? output_obstacle(to) : NULL;
	if (ret == -EEXIST && !*obstacle)
		ret = rename(from, to) ? -errno : 0;
	return ret;
}

bool output_refuse(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	const bool refused = fd >= 0 && is_recording(fd);

	if (fd >= 0)
		close(fd);
	if (refused)
		explain_recording(path);
	return refused;
}

int output_create(const char *path)
{
	int fd = signals_open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
	int ret = 0;
	struct stat stat;

	if (fd < 0) {
		elog_error("%s: %s", path, strerror(-fd));
		return fd;
	}
	ret = output_lock(fd, path);
	if (!ret && is_recording(fd)) {
		explain_recording(path);
		ret = -EEXIST;
	}
	if (!ret && !fstat(fd, &stat) && S_ISREG(stat.st_mode) && stat.st_size &&
	    ftruncate(fd, 0)) {
		ret = -errno;
		elog_error("%s: %s", path, strerror(-ret));
	}
	if (!ret)
		return fd;
	close(fd);
	return ret;
}
