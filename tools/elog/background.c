// SPDX-License-Identifier: GPL-2.0-only
/*
 * Going on in the background: see background.h.
 *
 * The directory is /run/eventlog for root, XDG_RUNTIME_DIR/eventlog for others.
 * A file there is named by a hash of what is written to, and holds the process,
 * that name, and at the end the exit status. Its lock is held as long as the
 * process runs: only then the number of the process means anything. Beside it
 * is what the process said on stderr.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "background.h"

#define SUFFIX		".capture"
#define LOG_SUFFIX	".log"

struct background {
	char *path;
	int fd;			/* locked */
	int log;
	int report;		/* to the process that was called; -1: told */
};

/* ------------------------------------------------------------------------
 * The directory
 */

static char *directory(void)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char *path;
	int ret;

	if (!geteuid())
		return strdup("/run/eventlog");
	if (runtime && *runtime == '/')
		ret = asprintf(&path, "%s/eventlog", runtime);
	else
		ret = asprintf(&path, "/tmp/eventlog-%u", geteuid());
	return ret < 0 ? NULL : path;
}

/* Nobody else may write there: what is there tells whom to signal. */
static int make_directory(const char *path)
{
	struct stat stat;

	if (mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	if (lstat(path, &stat))
		return -errno;
	if (!S_ISDIR(stat.st_mode) || stat.st_uid != geteuid() ||
	    stat.st_mode & (S_IWGRP | S_IWOTH))
		return -EPERM;
	return 0;
}

/* The absolute name of what may not exist yet; the caller frees it. */
static char *absolute(const char *target)
{
	const char *slash = strrchr(target, '/'), *base;
	char *parent, *real, *path = NULL;

	real = realpath(target, NULL);
	if (real)
		return real;
	base = slash ? slash + 1 : target;
	if (!slash)
		parent = strdup(".");
	else
		parent = strndup(target, slash == target ? 1 : (size_t)(slash - target));
	real = parent ? realpath(parent, NULL) : NULL;
	free(parent);
	if (real && asprintf(&path, "%s/%s", strcmp(real, "/") ? real : "",
			     base) < 0)
		path = NULL;
	free(real);
	return path;
}

static char *path_for(const char *directory, const char *target)
{
	uint64_t hash = 0xcbf29ce484222325ULL;
	char *path;

	for (; *target; target++)
		hash = (hash ^ (unsigned char)*target) * 0x100000001b3ULL;
	if (asprintf(&path, "%s/%016" PRIx64 SUFFIX, directory, hash) < 0)
		return NULL;
	return path;
}

static char *log_for(const char *path)
{
	char *log;

	return asprintf(&log, "%s" LOG_SUFFIX, path) < 0 ? NULL : log;
}

/* ------------------------------------------------------------------------
 * In the background
 */

/* Return: a locked file of this name, -EBUSY: it is locked, or another errno. */
static int open_locked(const char *path)
{
	struct stat now, then;
	int fd, ret;

	for (;;) {
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd < 0)
			return -errno;
		if (flock(fd, LOCK_EX | LOCK_NB)) {
			ret = errno == EWOULDBLOCK ? -EBUSY : -errno;
			close(fd);
			return ret;
		}
		/* The one that had it may have removed it just now. */
		if (!fstat(fd, &then) && !stat(path, &now) &&
		    now.st_ino == then.st_ino)
			return fd;
		close(fd);
	}
}

static int open_files(struct background *background, const char *target)
{
	char *parent = directory(), *name = absolute(target), *log = NULL;
	int ret = -ENOMEM;

	if (!name)
		ret = -errno;
	if (!parent || !name)
		goto out;
	ret = make_directory(parent);
	if (ret) {
		complain("%s: %s", parent, strerror(-ret));
		goto told;
	}
	background->path = path_for(parent, name);
	log = background->path ? log_for(background->path) : NULL;
	if (!log) {
		ret = -ENOMEM;
		goto out;
	}
	background->fd = open_locked(background->path);
	if (background->fd == -EBUSY) {
		complain("%s: a capture in the background writes to it", target);
		note("elog stop %s", target);
		ret = -EBUSY;
		goto told;
	}
	ret = background->fd < 0 ? background->fd : 0;
	if (!ret) {
		background->log = open(log, O_WRONLY | O_CREAT | O_TRUNC |
				       O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (background->log < 0)
			ret = -errno;
	}
	if (!ret && (ftruncate(background->fd, 0) ||
		     dprintf(background->fd, "%d\n%s\n", getpid(), name) < 0))
		ret = -errno;
out:
	if (ret)
		complain("%s: %s", target, strerror(-ret));
told:
	free(parent);
	free(name);
	free(log);
	return ret;
}

static void free_background(struct background *background)
{
	if (!background)
		return;
	if (background->fd >= 0)
		close(background->fd);
	if (background->log >= 0)
		close(background->log);
	if (background->report >= 0)
		close(background->report);
	free(background->path);
	free(background);
}

/* In the process that was called. */
static int wait_for_child(int report, pid_t child, const char *target)
{
	unsigned char status;
	ssize_t got;

	do {
		got = read(report, &status, 1);
	} while (got < 0 && errno == EINTR);
	close(report);
	if (got != 1) {
		complain("the process in the background has ended");
		return STATUS_ERROR;
	}
	if (!status)
		fprintf(stderr, "elog: process %d captures; elog stop %s ends it\n",
			child, target);
	return status;
}

int background_start(struct background **result, const struct options *options,
		     int *status)
{
	const char *target = options->split ? options->split : options->output;
	struct background *background = calloc(1, sizeof(*background));
	int report[2], ret;
	pid_t child;

	*status = STATUS_ERROR;
	if (!background || pipe2(report, O_CLOEXEC)) {
		complain("%s", strerror(errno));
		free(background);
		return -ENOMEM;
	}
	background->fd = -1;
	background->log = -1;
	background->report = report[1];
	child = fork();
	if (child < 0) {
		ret = -errno;
		complain("fork: %s", strerror(-ret));
		close(report[0]);
		free_background(background);
		return ret;
	}
	if (child) {
		close(report[1]);
		background->report = -1;
		free_background(background);
		*status = wait_for_child(report[0], child, target);
		return 1;
	}
	close(report[0]);
	setsid();
	ret = open_files(background, target);
	if (ret) {
		background_end(background, STATUS_ERROR);
		return ret;
	}
	*result = background;
	return 0;
}

static void tell(struct background *background, int status)
{
	unsigned char byte = (unsigned char)status;

	if (background->report < 0)
		return;
	(void)!write(background->report, &byte, 1);
	close(background->report);
	background->report = -1;
}

void background_ready(struct background *background)
{
	int null;

	if (!background)
		return;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		close(null);
	}
	tell(background, STATUS_OK);
	dup2(background->log, STDERR_FILENO);
}

void background_end(struct background *background, int status)
{
	if (!background)
		return;
	if (background->fd >= 0) {
		dprintf(background->fd, "%d\n", status);
		unlink(background->path);
	}
	tell(background, status ? status : STATUS_ERROR);
	free_background(background);
}

/* ------------------------------------------------------------------------
 * From the foreground
 */

static int call_for(const char *path,
		    int (*call)(const struct background_info *info, void *context),
		    void *context)
{
	struct background_info info = { .path = path };
	char text[PATH_MAX + 32], *line;
	ssize_t size;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	size = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (size <= 0)
		return 0;
	text[size] = '\0';
	line = strchr(text, '\n');
	info.pid = (pid_t)atoi(text);
	if (!line || info.pid <= 0)
		return 0;
	line[1 + strcspn(line + 1, "\n")] = '\0';
	info.target = line + 1;
	return call(&info, context);
}

int background_each(int (*call)(const struct background_info *info, void *context),
		    void *context)
{
	char *parent = directory(), *path;
	const struct dirent *entry;
	size_t length;
	int ret = 0;
	DIR *files;

	if (!parent)
		return -ENOMEM;
	files = opendir(parent);
	if (!files)
		ret = errno == ENOENT ? 0 : -errno;
	while (!ret && files && (entry = readdir(files))) {
		length = strlen(entry->d_name);
		if (length < strlen(SUFFIX) ||
		    strcmp(entry->d_name + length - strlen(SUFFIX), SUFFIX))
			continue;
		if (asprintf(&path, "%s/%s", parent, entry->d_name) < 0) {
			ret = -ENOMEM;
			break;
		}
		ret = call_for(path, call, context);
		free(path);
	}
	if (files)
		closedir(files);
	free(parent);
	return ret;
}

bool background_same(const struct background_info *info, const char *target)
{
	char *name = absolute(target);
	bool same = name && !strcmp(name, info->target);

	free(name);
	return same;
}

/* What it said, after its lock was given up. */
static void repeat_log(const char *path)
{
	char *log = log_for(path), text[4096];
	ssize_t size;
	int fd;

	if (!log)
		return;
	fd = open(log, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	while (fd >= 0 && (size = read(fd, text, sizeof(text))) > 0)
		fwrite(text, 1, (size_t)size, stderr);
	if (fd >= 0)
		close(fd);
	unlink(log);
	free(log);
}

/* The last of three lines; none: it was killed. */
static int read_status(int fd)
{
	char text[PATH_MAX + 32], *line;
	ssize_t size;

	size = pread(fd, text, sizeof(text) - 1, 0);
	if (size <= 0)
		return -1;
	text[size] = '\0';
	line = strchr(text, '\n');
	line = line ? strchr(line + 1, '\n') : NULL;
	return line && line[1] ? atoi(line + 1) : -1;
}

int background_stop(const struct background_info *info, bool quiet)
{
	int fd, status;

	fd = open(info->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0) {
		complain("%s: it has ended just now", info->target);
		return STATUS_ERROR;
	}
	/* Who has the lock is the process; nobody else can be. */
	if (flock(fd, LOCK_SH | LOCK_NB)) {
		if (kill(info->pid, SIGTERM)) {
			complain("process %d: %s", info->pid, strerror(errno));
			close(fd);
			return STATUS_ERROR;
		}
		while (flock(fd, LOCK_SH) && errno == EINTR)
			;
	}
	status = read_status(fd);
	if (!quiet)
		repeat_log(info->path);
	if (status < 0) {
		complain("%s: process %d ended without saying why", info->target,
			 info->pid);
		unlink(info->path);
		status = STATUS_ERROR;
	}
	close(fd);
	return status;
}
