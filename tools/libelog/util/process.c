// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Names of threads: a hash table by thread id, filled from /proc.
 *
 * A name is what the thread was called when it was first seen, refreshed once
 * a second, since threads change their names (every exec does) and ids are
 * reused. Of a thread that is gone the name stays. When the table is full it
 * starts over. No locks: a table belongs to one thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "elog.h"
#include "util/process.h"

#define SLOTS_MIN	64	/* powers of two, of which half are used */
#define SLOTS_MAX	32768
#define SLOTS_MAX_OFFLINE (1 << 20)	/* what is forgotten cannot be asked again */
#define REFRESH_NS	1000000000ULL

struct thread {
	uint32_t pid;
	uint32_t tid;
	bool used;
	uint64_t read_at;	/* CLOCK_MONOTONIC_COARSE, ns; 0: look again */
	char name[ELOG_COMM_SIZE];
};

struct elog_processes {
	bool offline;		/* there is no /proc to ask */
	uint64_t seed;
	size_t count;
	size_t slots;
	struct thread *threads;
};

struct elog_processes *elog_processes_new(void)
{
	struct elog_processes *processes = calloc(1, sizeof(*processes));

	if (!processes)
		return NULL;
	/* A file chooses its ids, but cannot know where memory is. */
	processes->seed = (uintptr_t)processes * 0x9e3779b97f4a7c15ULL;
	processes->slots = SLOTS_MIN;
	processes->threads = calloc(SLOTS_MIN, sizeof(*processes->threads));
	if (processes->threads)
		return processes;
	free(processes);
	return NULL;
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
		free(processes->threads);
	free(processes);
}

static uint64_t coarse_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static struct thread *find_slot(const struct elog_processes *processes,
				struct thread *threads, size_t slots, uint32_t tid)
{
	uint64_t hash = (tid ^ processes->seed) * 0x9e3779b97f4a7c15ULL;
	size_t slot;

	hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93ULL;
	slot = (size_t)(hash >> 32) & (slots - 1);
	while (threads[slot].used && threads[slot].tid != tid)
		slot = (slot + 1) & (slots - 1);
	return &threads[slot];
}

/* Make room; without memory, or when it is enough, by forgetting all. */
static void grow(struct elog_processes *processes)
{
	size_t slots = 2 * processes->slots, i;
	struct thread *larger = NULL, *thread;

	if (slots <= (processes->offline ? SLOTS_MAX_OFFLINE : SLOTS_MAX))
		larger = calloc(slots, sizeof(*larger));
	if (!larger) {
		memset(processes->threads, 0,
		       processes->slots * sizeof(*processes->threads));
		processes->count = 0;
		return;
	}
	for (i = 0; i < processes->slots; i++) {
		thread = &processes->threads[i];
		if (thread->used)
			*find_slot(processes, larger, slots, thread->tid) = *thread;
	}
	free(processes->threads);
	processes->threads = larger;
	processes->slots = slots;
}

static struct thread *find(struct elog_processes *processes, uint32_t pid,
			   uint32_t tid)
{
	struct thread *thread = find_slot(processes, processes->threads,
					  processes->slots, tid);

	if (!thread->used && processes->count >= processes->slots / 2) {
		grow(processes);
		thread = find_slot(processes, processes->threads, processes->slots,
				   tid);
	}
	if (!thread->used) {
		thread->used = true;
		processes->count++;
	}
	if (thread->tid != tid || thread->pid != pid) {
		thread->pid = pid;
		thread->tid = tid;
		thread->read_at = 0;
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

bool elog_process_ask(uint32_t pid, uint32_t tid, char *name, bool *guessed)
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

/* The process's name is the better guess for a thread that is gone. */
static void read_name(struct thread *thread)
{
	char name[ELOG_COMM_SIZE];
	bool guessed;

	if (!thread->tid) {
		set_name(thread, "swapper", strlen("swapper"));
		return;
	}
	if (!elog_process_ask(thread->pid, thread->tid, name, &guessed)) {
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
	now = coarse_time();
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

	if (thread->read_at && now - thread->read_at < REFRESH_NS)
		return false;
	thread->read_at = now;
	return true;
}

void elog_processes_tell(struct elog_processes *processes, uint32_t pid,
			 uint32_t tid, const char *name, bool guessed)
{
	struct thread *thread = find(processes, pid, tid);

	if (!guessed || !thread->name[0])
		set_name(thread, name, strlen(name));
	thread->read_at = coarse_time();
}
