// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Names of threads: a table by thread id, filled from the kernel's events and from /proc.
 *
 * The name that the kernel has kept of a thread with events is the right one: /proc is
 * not read for this thread, whose id may belong to another thread by now. Otherwise the
 * name is read from /proc when the thread is first seen, and again after a second,
 * because threads change their names (with each exec, for example) and ids are reused. If
 * a thread has exited, its name stays. When the table is full, the thread that was added
 * or named longest ago is removed.
 *
 * No locks: a table belongs to one thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "elog.h"
#include "util/map.h"
#include "util/process.h"
#include "util/util.h"

#define THREADS_MAX	16384
#define THREADS_MAX_OFFLINE (1U << 19)	/* forgotten names cannot be read again */
#define RECENT		256
#define REFRESH_NS	1000000000ULL

struct thread {
	uint32_t pid;
	uint32_t tid;
	uint64_t read_at;	/* CLOCK_MONOTONIC_COARSE, ns; 0: read it again */
	uint64_t named_at;	/* time of the event that had the name; 0: from /proc */
	char name[ELOG_COMM_SIZE];
};

struct elog_processes {
	bool offline;		/* do not read /proc */
	struct elog_map threads;	/* by thread id */
	struct thread *recent[RECENT];	/* by the lower bits of the thread id */
};

struct elog_processes *elog_processes_new(void)
{
	struct elog_processes *processes = calloc(1, sizeof(*processes));

	if (!processes)
		return NULL;
	elog_map_init(&processes->threads, sizeof(struct thread));
	/* Now the map has memory for at least one thread, which add() relies on. */
	if (!elog_map_insert(&processes->threads, elog_map_integer(0))) {
		free(processes);
		return NULL;
	}
	elog_map_clear(&processes->threads);
	return processes;
}

struct elog_processes *elog_processes_new_offline(void)
{
	struct elog_processes *processes = elog_processes_new();

	if (processes)
		processes->offline = true;
	return processes;
}

void elog_processes_free(struct elog_processes *processes)
{
	if (processes)
		elog_map_free(&processes->threads);
	free(processes);
}

static void remove_oldest(struct elog_processes *processes)
{
	struct thread *oldest = elog_map_first(&processes->threads);
	struct thread **recent = &processes->recent[oldest->tid % RECENT];

	if (*recent == oldest)
		*recent = NULL;
	elog_map_remove(&processes->threads, oldest);
}

/* Add a thread. If memory is short, remove all others first. */
static struct thread *add(struct elog_processes *processes, uint32_t tid)
{
	uint32_t limit = processes->offline ? THREADS_MAX_OFFLINE : THREADS_MAX;
	struct thread *thread;

	if (processes->threads.count >= limit)
		remove_oldest(processes);
	thread = elog_map_insert(&processes->threads, elog_map_integer(tid));
	if (!thread) {
		memset(processes->recent, 0, sizeof(processes->recent));
		elog_map_clear(&processes->threads);
		thread = elog_map_insert(&processes->threads, elog_map_integer(tid));
	}
	thread->tid = tid;
	return thread;
}

/* The thread of this id, whichever process it belongs to. */
static struct thread *find_id(struct elog_processes *processes, uint32_t tid)
{
	struct thread **recent = &processes->recent[tid % RECENT], *thread = *recent;

	/* Printing an event looks up its thread, so most of them must be found here. */
	if (!thread || thread->tid != tid) {
		thread = elog_map_find(&processes->threads, elog_map_integer(tid));
		if (!thread)
			thread = add(processes, tid);
		*recent = thread;
	}
	return thread;
}

static struct thread *find(struct elog_processes *processes, uint32_t pid,
			   uint32_t tid)
{
	struct thread *thread = find_id(processes, tid);

	if (thread->pid != pid) {
		thread->pid = pid;
		thread->read_at = 0;
		thread->named_at = 0;
		thread->name[0] = '\0';
	}
	return thread;
}

static void set_name(struct thread *thread, const char *name, size_t size)
{
	if (size >= sizeof(thread->name))
		size = sizeof(thread->name) - 1;
	memcpy(thread->name, name, size);
	thread->name[size] = '\0';
}

static bool read_comm(const char *path, char *name)
{
	char line[ELOG_COMM_SIZE + 1];
	ssize_t size;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	size = read(fd, line, sizeof(line));
	close(fd);
	if (size <= 0)
		return false;
	if (line[size - 1] == '\n')
		size--;
	if (size >= ELOG_COMM_SIZE)
		size = ELOG_COMM_SIZE - 1;
	memcpy(name, line, (size_t)size);
	name[size] = '\0';
	return true;
}

bool elog_process_read_name(uint32_t pid, uint32_t tid, char *name, bool *guessed)
{
	char path[64];

	*guessed = false;
	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", pid, tid);
	if (read_comm(path, name))
		return true;
	*guessed = true;
	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	return read_comm(path, name);
}

static void invent_name(struct thread *thread)
{
	char name[ELOG_COMM_SIZE];
	int size = snprintf(name, sizeof(name), ":%u", thread->tid);

	set_name(thread, name, (size_t)size);
}

/* If the thread has exited, use its process's name. */
static void read_name(struct thread *thread)
{
	char name[ELOG_COMM_SIZE];
	bool guessed;

	if (!thread->tid) {
		set_name(thread, "swapper", strlen("swapper"));
		return;
	}
	if (!elog_process_read_name(thread->pid, thread->tid, name, &guessed)) {
		if (!thread->name[0])
			invent_name(thread);
	} else if (!guessed || !thread->name[0]) {
		set_name(thread, name, strlen(name));
	}
}

const char *elog_processes_name(struct elog_processes *processes, uint32_t pid,
				uint32_t tid)
{
	struct thread *thread = find(processes, pid, tid);
	uint64_t now;

	if (processes->offline) {
		if (!thread->name[0])
			invent_name(thread);
		return thread->name;
	}
	if (thread->named_at)
		return thread->name;
	now = elog_clock_read(CLOCK_MONOTONIC_COARSE);
	if (!thread->read_at || now - thread->read_at > REFRESH_NS) {
		read_name(thread);
		thread->read_at = now;
	}
	return thread->name;
}

void elog_processes_learn(struct elog_processes *processes, uint32_t pid,
			  uint32_t tid, const char *name)
{
	struct thread *thread = find(processes, pid, tid);

	set_name(thread, name, strlen(name));
	thread->read_at = 0;
}

bool elog_processes_due(struct elog_processes *processes, uint32_t pid,
			uint32_t tid, uint64_t now)
{
	struct thread *thread = find(processes, pid, tid);

	if (thread->named_at || (thread->read_at && now - thread->read_at < REFRESH_NS))
		return false;
	thread->read_at = now;
	return true;
}

void elog_processes_update(struct elog_processes *processes, uint32_t pid,
			   uint32_t tid, const char *name, bool guessed)
{
	struct thread *thread = find(processes, pid, tid);

	if (!thread->named_at && (!guessed || !thread->name[0]))
		set_name(thread, name, strlen(name));
	thread->read_at = elog_clock_read(CLOCK_MONOTONIC_COARSE);
}

void elog_processes_keep(struct elog_processes *processes, const struct eventlog_name *name)
{
	struct thread *thread = find_id(processes, name->tid);

	/* Each CPU has a name of the thread, and the latest counts. */
	if (name->time < thread->named_at)
		return;
	thread = find(processes, name->pid, name->tid);
	thread->named_at = name->time ? name->time : 1;
	set_name(thread, name->comm, strnlen(name->comm, sizeof(name->comm)));
	elog_map_touch(&processes->threads, thread);
}
