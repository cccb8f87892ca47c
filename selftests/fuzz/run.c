// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the programs of kernel_fuzz.c.
 *
 * A program is run by a process of root, which makes the calls of thread 0 and then forks a
 * process of another user, with its files and mappings.  Each has two threads.  Unless the
 * program races, each call waits for the one before it, for a short time.
 */
#include <grp.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/kcov.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <string.h>

#include "run.h"

#define OTHER_UID	65534
#define TURN_MS		40	/* for the call before */
#define PROGRAM_MS	3000	/* then the processes are killed */
#define DEATH_MS	30000	/* they must have ended then */

struct shared *shared;
struct process process;
static const struct fuzz_program *running;
static const struct fuzz_coverage *kcov;

static unsigned long now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000UL + time.tv_nsec / 1000000;
}

/* ------------------------------------------------------------------------
 * Threads
 */

static void wait_for_turn(int index)
{
	const struct timespec step = { .tv_nsec = 5000000 };
	const unsigned long end = now_ms() + TURN_MS;
	int turn;

	while ((turn = __atomic_load_n(&shared->turn, __ATOMIC_ACQUIRE)) < index && now_ms() < end)
		syscall(SYS_futex, &shared->turn, FUTEX_WAIT, turn, &step, NULL, 0);
}

static void pass_turn(int index)
{
	int turn = __atomic_load_n(&shared->turn, __ATOMIC_RELAXED);

	while (turn <= index &&
	       !__atomic_compare_exchange_n(&shared->turn, &turn, index + 1, false,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	syscall(SYS_futex, &shared->turn, FUTEX_WAKE, 100, NULL, NULL, 0);
}

static void begin_coverage(unsigned int number)
{
	if (kcov[number].fd >= 0)
		ioctl(kcov[number].fd, KCOV_ENABLE, KCOV_TRACE_PC);
}

static void end_coverage(unsigned int number)
{
	if (kcov[number].fd >= 0)
		ioctl(kcov[number].fd, KCOV_DISABLE, 0);
}

/* With few mappings: each one takes time in fork() and exit(). */
static void prepare(struct thread *thread)
{
	thread->memory = mmap(NULL, MEMORY_BYTES + 4096, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (thread->memory == MAP_FAILED ||
	    mprotect(thread->memory + MEMORY_BYTES, 4096, PROT_NONE))
		_exit(1);
}

static void make_calls(struct thread *thread, unsigned int number)
{
	unsigned int i;

	for (i = 0; i < running->count; i++) {
		if (running->calls[i].thread != number)
			continue;
		if (number && !(running->flags & FUZZ_RACE))
			wait_for_turn(i);
		make_call(thread, &running->calls[i]);
		pass_turn(i);
	}
}

static void *run_second(void *argument)
{
	struct thread *thread = argument;

	prepare(thread);
	begin_coverage(thread->number);
	make_calls(thread, thread->number);
	end_coverage(thread->number);
	return NULL;
}

static bool has_thread(unsigned int number)
{
	unsigned int i;

	for (i = 0; i < running->count; i++)
		if (running->calls[i].thread == number)
			return true;
	return false;
}

/* The calls of two threads; then all is closed, so that this is covered as well. */
static void run_threads(struct thread *first, unsigned int number)
{
	struct thread second = { .number = number + 1, .root = first->root };
	pthread_t thread;
	bool started;
	unsigned int i;

	started = has_thread(number + 1) && !pthread_create(&thread, NULL, run_second, &second);
	make_calls(first, number);
	if (started)
		pthread_join(thread, NULL);
	for (i = 0; i < MAPS; i++)
		if (process.maps[i].address)
			munmap(process.maps[i].address, process.maps[i].length);
	for (i = 0; i < SLOTS; i++)
		if (process.slots[i] >= 0)
			close(process.slots[i]);
	end_coverage(number);
	_exit(0);
}

static void become_other_user(void)
{
	if (setgroups(0, NULL) || setgid(OTHER_UID) || setuid(OTHER_UID))
		_exit(1);
	prctl(PR_SET_DUMPABLE, 1);
	if (running->flags & FUZZ_NAMESPACE && unshare(CLONE_NEWUSER))
		_exit(0);
}

static void run_other(void)
{
	struct thread thread = { .number = 3 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	become_other_user();
	shared->pids[1] = getpid();
	prepare(&thread);
	begin_coverage(3);
	run_threads(&thread, 3);
}

static void run_root(void)
{
	struct thread thread = { .number = 1, .root = true };
	pid_t pid;

	catch_faults();
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	shared->pids[0] = getpid();
	prepare(&thread);
	begin_coverage(1);
	make_calls(&thread, 0);
	if (has_thread(3) || has_thread(4)) {
		pid = fork();
		if (!pid)
			run_other();
	}
	run_threads(&thread, 1);
}

/* ------------------------------------------------------------------------
 * Programs
 */

/* Wait until all children have ended. Return: false: they have not. */
static bool wait_for_children(unsigned long milliseconds)
{
	const unsigned long end = now_ms() + milliseconds;
	unsigned int pause = 200;
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) >= 0) {
		if (pid)
			continue;
		if (now_ms() >= end)
			return false;
		usleep(pause);
		pause += pause < 5000 ? pause : 0;
	}
	return true;
}

bool fuzz_run(const struct fuzz_program *program, const struct fuzz_coverage *coverage)
{
	pid_t pid;
	unsigned int i;

	if (!shared) {
		shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		process.bits = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (shared == MAP_FAILED || process.bits == MAP_FAILED)
			exit(1);
		process.cgroup = open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		for (i = 0; i < SLOTS; i++)
			process.slots[i] = -1;
		/* The other process becomes this one's child when its parent ends. */
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	}
	memset(shared, 0, sizeof(*shared));
	running = program;
	kcov = coverage;
	pid = fork();
	if (!pid)
		run_root();
	if (pid < 0)
		return true;
	if (wait_for_children(PROGRAM_MS)) {
		remove_rest();
		return true;
	}
	/* Both, and what they have forked, are in no group of their own. */
	kill(shared->pids[0], SIGKILL);
	if (shared->pids[1])
		kill(shared->pids[1], SIGKILL);
	if (!wait_for_children(DEATH_MS))
		return false;
	remove_rest();
	return true;
}
