// SPDX-License-Identifier: GPL-2.0-only
/*
 * Running in the background: see background.h.
 *
 * The directory is /run/eventlog for root, XDG_RUNTIME_DIR/eventlog for others. The
 * name of a file there is a hash of the capture's target. The file contains the id of
 * the process, the target and, at the end, the exit status. If the disk was ever full or
 * failed, or segments were removed, a line "state" precedes that, with the members of struct
 * background_state. The process holds a lock on it as long as it runs; the id is valid only
 * while the file is locked. Another file beside it has the stderr of the process. Both files
 * remain until elog stop, or until the next capture to the same target.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libelog/util/util.h"
#include "util/background.h"
#include "util/output_file.h"
#include "util/signals.h"

#define SUFFIX		".capture"
#define LOG_SUFFIX	".log"
#define LOCK_TRIES	20
#define LOCK_MS		10
#define LOOK_MS		200
/* A process that does nothing for so long does not end by itself. */
#define IDLE_SECONDS	15

struct background {
	char *path;
	int fd;			/* locked */
	off_t size;		/* of its lines without state */
	int log;
	int report;		/* pipe to the parent; -1: closed */
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

/* No other user may write there: the files say which processes to signal. */
static int check_directory(const char *path)
{
	struct stat stat;

	if (lstat(path, &stat))
		return -errno;
	if (!S_ISDIR(stat.st_mode) || stat.st_uid != geteuid() ||
	    stat.st_mode & (S_IWGRP | S_IWOTH))
		return -EPERM;
	return 0;
}

static int make_directory(const char *path)
{
	if (mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	return check_directory(path);
}

/*
 * The absolute name of a target, which is the same before and after the target exists.
 * The caller frees it.
 */
static char *absolute(const char *target)
{
	size_t length = strlen(target);
	char *name, *base, *real, *path = NULL;
	struct stat stat_now;

	real = realpath(target, NULL);
	if (real && !stat(real, &stat_now) && S_ISDIR(stat_now.st_mode))
		return real;
	free(real);
	while (length > 1 && target[length - 1] == '/')
		length--;
	name = strndup(target, length);
	if (!name)
		return NULL;
	base = strrchr(name, '/');
	if (base) {
		*base = '\0';
		real = realpath(base == name ? "/" : name, NULL);
		/* The directory may be gone by the time that the capture is stopped. */
		if (!real && base != name)
			real = absolute(name);
	} else {
		real = realpath(".", NULL);
	}
	if (real && asprintf(&path, "%s/%s", strcmp(real, "/") ? real : "",
			     base ? base + 1 : name) < 0)
		path = NULL;
	free(real);
	free(name);
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

static void remove_files(const char *path)
{
	char *log = log_for(path);

	if (log)
		unlink(log);
	unlink(path);
	free(log);
}

/* ------------------------------------------------------------------------
 * In the background
 */

/* Return: a locked, empty file of this name; -EBUSY: it is locked; or another errno. */
static int open_locked(const char *path)
{
	struct stat then;
	int fd, ret, tries;

	for (;;) {
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd < 0)
			return -errno;
		/* Readers hold the lock only for a moment. */
		for (tries = 0; flock(fd, LOCK_EX | LOCK_NB); tries++) {
			if (errno == EWOULDBLOCK && tries < LOCK_TRIES) {
				signals_sleep(LOCK_MS);
				continue;
			}
			ret = errno == EWOULDBLOCK ? -EBUSY : -errno;
			close(fd);
			return ret;
		}
		/* It may have been removed before it was locked. */
		if (!fstat(fd, &then) && output_is_at(fd, path)) {
			if (!then.st_size)
				return fd;
			/* It belongs to a process that has ended. */
			unlink(path);
		}
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
	/* The file stores the name as a line. */
	ret = -EINVAL;
	if (strchr(name, '\n'))
		goto out;
	ret = make_directory(parent);
	if (ret) {
		elog_error("%s: %s", parent, strerror(-ret));
		goto explained;
	}
	background->path = path_for(parent, name);
	log = background->path ? log_for(background->path) : NULL;
	if (!log) {
		ret = -ENOMEM;
		goto out;
	}
	background->fd = open_locked(background->path);
	if (background->fd == -EBUSY) {
		elog_error("%s: a background capture writes to it", target);
		elog_hint("elog stop %s", target);
		ret = -EBUSY;
		goto explained;
	}
	ret = background->fd < 0 ? background->fd : 0;
	if (!ret) {
		background->log = open(log, O_WRONLY | O_CREAT | O_TRUNC |
				       O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (background->log < 0)
			ret = -errno;
	}
	if (!ret) {
		ret = dprintf(background->fd, "%d\n%s\n", getpid(), name);
		background->size = ret;
		ret = ret < 0 ? -errno : 0;
	}
out:
	if (ret)
		elog_error("%s: %s", target, strerror(-ret));
explained:
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

/* In the parent. */
static int wait_for_child(int report, pid_t child, const char *target)
{
	unsigned char status;
	ssize_t got;

	/* The child may block in opening a pipe that has no reader. */
	do {
		signals_let_in();
		got = read(report, &status, 1);
		signals_hold();
	} while (got < 0 && errno == EINTR && !signals_stops());
	close(report);
	if (got < 0) {
		kill(child, SIGTERM);
		return STATUS_ERROR;
	}
	if (got != 1) {
		elog_error("the background process has ended");
		return STATUS_ERROR;
	}
	if (!status)
		fprintf(stderr, "elog: process %d captures; elog stop %s ends it\n",
			child, target);
	return status;
}

int background_start(struct background **result, const char *target, int *status)
{
	struct background *background = calloc(1, sizeof(*background));
	int report[2], ret;
	pid_t child;

	*status = STATUS_ERROR;
	if (!background || pipe2(report, O_CLOEXEC)) {
		elog_error("%s", strerror(errno));
		free(background);
		return -ENOMEM;
	}
	background->fd = -1;
	background->log = -1;
	background->report = report[1];
	child = fork();
	if (child < 0) {
		ret = -errno;
		elog_error("fork: %s", strerror(-ret));
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

static void report(struct background *background, int status)
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
		if (null > STDERR_FILENO)
			close(null);
	}
	dup2(background->log, STDERR_FILENO);
	report(background, STATUS_OK);
}

/* One write(2) replaces the line, so all lines have the same length. */
void background_set_state(struct background *background, const struct background_state *state)
{
	char line[160];
	int size;

	size = snprintf(line, sizeof(line), "state %4d %20" PRIu64 " %20" PRIu64 " %20" PRIu64
			" %20" PRIu64 "\n", state->error, state->failures, state->removed, state->lost,
			state->expired);
	if (pwrite(background->fd, line, (size_t)size, background->size) == size)
		lseek(background->fd, 0, SEEK_END);
}

void background_end(struct background *background, int status)
{
	if (!background)
		return;
	/* The parent reports an early end. */
	if (background->fd >= 0 && background->report >= 0)
		remove_files(background->path);
	else if (background->fd >= 0)
		dprintf(background->fd, "%d\n", status);
	report(background, status ? status : STATUS_ERROR);
	free_background(background);
}

/* ------------------------------------------------------------------------
 * From the foreground
 */

/* The contents of a file. */
struct record {
	char text[PATH_MAX + 192];
	pid_t pid;
	const char *target;
	struct background_state state;
	int status;		/* -1: none yet */
};

static bool read_file(int fd, struct record *record)
{
	ssize_t size = pread(fd, record->text, sizeof(record->text) - 1, 0);
	char *line, *end;

	record->text[size > 0 ? size : 0] = '\0';
	record->pid = (pid_t)atoi(record->text);
	line = strchr(record->text, '\n');
	end = line ? strchr(line + 1, '\n') : NULL;
	if (record->pid <= 0 || !end)
		return false;
	record->target = line + 1;
	*end = '\0';
	memset(&record->state, 0, sizeof(record->state));
	/* A capture that an older elog started states no @expired. */
	if (sscanf(++end, "state %d %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
		   &record->state.error, &record->state.failures, &record->state.removed,
		   &record->state.lost, &record->state.expired) >= 4)
		end += strcspn(end, "\n") + 1;
	record->status = *end ? atoi(end) : -1;
	return true;
}

static int call_for(const char *path,
		    int (*call)(const struct background_info *info, void *context),
		    void *context)
{
	struct background_info info = { .path = path };
	struct record record;
	bool understood;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	understood = read_file(fd, &record);
	close(fd);
	if (!understood)
		return 0;
	info.target = record.target;
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
	ret = check_directory(parent);
	files = ret ? NULL : opendir(parent);
	if (!ret && !files)
		ret = -errno;
	if (ret == -ENOENT)
		ret = 0;
	else if (ret)
		elog_error("%s: %s", parent, strerror(-ret));
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

void background_get_state(const struct background_info *info, struct background_state *state)
{
	struct record record;
	int fd = open(info->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	memset(state, 0, sizeof(*state));
	if (fd < 0)
		return;
	if (read_file(fd, &record))
		*state = record.state;
	close(fd);
}

pid_t background_process(const struct background_info *info)
{
	struct record record;
	pid_t pid = 0;
	int fd;

	fd = open(info->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return 0;
	/* Only a locked file describes a running process. */
	if (flock(fd, LOCK_SH | LOCK_NB) && read_file(fd, &record))
		pid = record.pid;
	close(fd);
	return pid;
}

bool background_same(const struct background_info *info, const char *target)
{
	char *name = absolute(target);
	bool same = name && !strcmp(name, info->target);

	free(name);
	return same;
}

/* Print the messages of a process that has ended. */
static void print_log(const char *path)
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
	free(log);
}

/* What a process does, for who waits for its end. */
struct activity {
	char state;		/* as in proc(5) */
	uint64_t ticks;		/* of CPU time */
	uint64_t written;	/* bytes */
};

static bool read_text(const char *format, pid_t pid, char *text, size_t room)
{
	char path[32];
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), format, pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	size = read(fd, text, room - 1);
	close(fd);
	text[size > 0 ? size : 0] = '\0';
	return size > 0;
}

/* All its threads together. */
static struct activity activity_of(pid_t pid)
{
	struct activity activity = { 0 };
	uint64_t user, system;
	char text[512], *at;

	/* The name may contain anything. */
	at = read_text("/proc/%d/stat", pid, text, sizeof(text)) ? strrchr(text, ')') : NULL;
	if (at && sscanf(at + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64
			 " %" SCNu64, &activity.state, &user, &system) == 3)
		activity.ticks = user + system;
	at = read_text("/proc/%d/io", pid, text, sizeof(text)) ? strstr(text, "wchar:") : NULL;
	if (at)
		activity.written = strtoull(at + strlen("wchar:"), NULL, 10);
	return activity;
}

/*
 * Has it written something, does it wait for the disk, or twice for a CPU, or has it computed for
 * half of the time? One that waits for a reader wakes up from time to time, see signals.c.
 */
static bool is_active(const struct activity *now, const struct activity *before)
{
	const uint64_t half = (uint64_t)sysconf(_SC_CLK_TCK) * LOOK_MS / 1000 / 2;

	return now->written != before->written || now->state == 'D' ||
	       (now->state == 'R' && before->state == 'R') || now->ticks - before->ticks >= half;
}

/*
 * Wait for the lock, which a process holds until it ends.
 *
 * Return: 0; or the state of the process if it has done nothing for IDLE_SECONDS.
 */
static char wait_for_lock(int fd, pid_t pid)
{
	struct pollfd process = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
	uint64_t since = elog_clock_read(CLOCK_MONOTONIC);
	struct activity before = activity_of(pid), now = before;

	while (flock(fd, LOCK_SH | LOCK_NB)) {
		/* If it has ended, another one has the lock for a moment. */
		if (poll(&process, 1, LOOK_MS))
			poll(NULL, 0, LOCK_MS);
		now = activity_of(pid);
		if (is_active(&now, &before))
			since = elog_clock_read(CLOCK_MONOTONIC);
		else if (elog_clock_read(CLOCK_MONOTONIC) - since > IDLE_SECONDS * 1000000000ULL)
			break;
		before = now;
	}
	now.state = flock(fd, LOCK_SH | LOCK_NB) ? now.state : 0;
	if (process.fd >= 0)
		close(process.fd);
	return now.state;
}

/* Return: false if the process does not end; a message was printed. */
static bool wait_for_end(int fd, const struct background_info *info, pid_t pid)
{
	const char state = wait_for_lock(fd, pid);

	if (!state)
		return true;
	if (state == 'T' || state == 't') {
		elog_error("%s: process %d is stopped, and cannot end", info->target, pid);
		return false;
	}
	elog_error("%s: process %d was asked to end, but has written nothing for %d s",
		   info->target, pid, IDLE_SECONDS);
	elog_hint("if no one reads what it writes, this ends it at once: elog stop %s",
		  info->target);
	return false;
}

int background_stop(const struct background_info *info, bool quiet)
{
	struct record record;
	int fd;

	fd = open(info->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0) {
		elog_error("%s: another process has just ended it", info->target);
		return STATUS_ERROR;
	}
	/* Only the process that the file names can hold the lock. */
	if (flock(fd, LOCK_SH | LOCK_NB)) {
		/* With a status, it has ended, and the next one is about to start. */
		if (!read_file(fd, &record) ||
		    (record.status < 0 && kill(record.pid, SIGTERM))) {
			elog_error("%s: %s", info->target, strerror(errno));
			close(fd);
			return STATUS_ERROR;
		}
		/* It may be stopped. */
		if (record.status < 0)
			kill(record.pid, SIGCONT);
		if (!wait_for_end(fd, info, record.pid)) {
			close(fd);
			return STATUS_ERROR;
		}
	}
	if (!read_file(fd, &record))
		record.status = STATUS_ERROR;
	if (!quiet)
		print_log(info->path);
	if (record.status < 0) {
		elog_error("%s: process %d ended without an exit status", info->target,
			   record.pid);
		record.status = STATUS_ERROR;
	}
	if (output_is_at(fd, info->path))
		remove_files(info->path);
	close(fd);
	return record.status;
}
