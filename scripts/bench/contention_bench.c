// SPDX-License-Identifier: GPL-2.0-only
/*
 * Helper of contention-guest: measures the time of calls that take locks of the whole
 * system, or attacks: makes as many calls as it can, as a user without rights.
 *
 *	contention_bench time register|FILE CPU SECONDS
 *	contention_bench attack hold|busy|listing|definitions|wide|churn CPU UID
 *
 * time prints the number of calls, their mean and the longest one, in us.  register is
 * REGISTER and UNREGISTER of an event; for a FILE of tracefs, a call writes 1 and then 0 to
 * it.  time sleeps between calls, and makes at least a few.
 *
 * attack runs until SIGTERM.  It prints on stderr how many calls it has made, and how many
 * of them a quota denied.  busy makes no calls, but keeps the CPU busy; hold registers events
 * that the others can list.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <linux/eventlog.h>

#define REST_US 1000
#define LEAST_CALLS 3
#define LISTED 1000

static volatile sig_atomic_t ended;

static void on_signal(int number)
{
	(void)number;
	ended = 1;
}

static void fail(const char *what)
{
	fprintf(stderr, "contention_bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int open_file(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	if (fd < 0)
		fail(path);
	return fd;
}

/* Returns 0, or an errno that is not a failure: a limit. */
static int register_event(int fd, const char *command, uint32_t *index)
{
	struct eventlog_register request = {
		.size = sizeof(request),
		.command = (uintptr_t)command,
		.provider = (uintptr_t)"contention",
	};

	if (ioctl(fd, EVENTLOG_IOC_REGISTER, &request)) {
		if (errno != EDQUOT && errno != ENOSPC)
			fail("REGISTER");
		return errno;
	}
	*index = request.write_index;
	return 0;
}

static void unregister_event(int fd, uint32_t index)
{
	struct eventlog_unregister request = { .size = sizeof(request), .write_index = index };

	if (ioctl(fd, EVENTLOG_IOC_UNREGISTER, &request))
		fail("UNREGISTER");
}

static void victim_call(int fd, bool registers)
{
	uint32_t index;

	if (!registers) {
		if (pwrite(fd, "1", 1, 0) != 1 || pwrite(fd, "0", 1, 0) != 1)
			fail("write to tracefs");
	} else if (register_event(fd, "victim u32 number; u64 size", &index)) {
		fail("REGISTER of the victim");
	} else {
		unregister_event(fd, index);
	}
}

static void time_calls(const char *what, uint64_t until)
{
	bool registers = !strcmp(what, "register");
	int fd = open_file(registers ? EVENTLOG_DEVICE : what, registers ? O_RDWR : O_WRONLY);
	uint64_t calls = 0, sum = 0, worst = 0, begin, ns;

	victim_call(fd, registers);
	while ((begin = now_ns()) < until || calls < LEAST_CALLS) {
		victim_call(fd, registers);
		ns = now_ns() - begin;
		calls++;
		sum += ns;
		worst = ns > worst ? ns : worst;
		usleep(REST_US);
	}
	printf("%" PRIu64 " %.1f %.1f\n", calls, (double)sum / (double)calls / 1000,
	       (double)worst / 1000);
}

/* The definition with the most fields. */
static void wide_command(char *command, unsigned int number)
{
	size_t bytes = (size_t)sprintf(command, "wide_%u ", number);
	unsigned int i;

	for (i = 0; i < EVENTLOG_FIELDS_MAX; i++)
		bytes += (size_t)sprintf(command + bytes, "u8 field_%u;", i);
}

/* Reads the whole listing, in the smallest parts that make sense for an attack. */
static void attack_listing(int fd, uint64_t *calls)
{
	static char text[4096];
	off_t offset = 0;
	ssize_t bytes;

	while ((bytes = pread(fd, text, sizeof(text), offset)) > 0) {
		offset += bytes;
		++*calls;
	}
	if (bytes < 0)
		fail("read of the listing");
}

/* Reads all definitions that the user may see, with as many calls as possible. */
static void attack_definitions(int fd, uint64_t *calls)
{
	static char buffer[4096];
	struct eventlog_definitions request = {
		.size = sizeof(request), .buffer = (uintptr_t)buffer,
	};

	do {
		request.buffer_size = sizeof(buffer);
		++*calls;
	} while (!ioctl(fd, EVENTLOG_IOC_DEFINITIONS, &request));
	if (errno != ENOENT)
		fail("DEFINITIONS");
}

static void attack(const char *kind, unsigned int uid)
{
	static char command[2 * EVENTLOG_COMMAND_MAX];
	bool listing = !strcmp(kind, "listing"), wide = !strcmp(kind, "wide");
	bool definitions = !strcmp(kind, "definitions");
	uint64_t calls = 0, denied = 0;
	unsigned int number = 0;
	uint32_t index;
	bool hold = !strcmp(kind, "hold");
	int fd;

	if (!strcmp(kind, "busy")) {
		while (!ended)
			;
		return;
	}
	if (!hold && !listing && !definitions && !wide && strcmp(kind, "churn")) {
		errno = EINVAL;
		fail(kind);
	}
	if (setgid(uid) || setuid(uid))
		fail("setuid");
	fd = open_file(EVENTLOG_DEVICE, O_RDWR);
	while (!ended) {
		if (listing || definitions) {
			listing ? attack_listing(fd, &calls) : attack_definitions(fd, &calls);
			continue;
		}
		if (hold && number == LISTED) {
			usleep(100000);
			continue;
		}
		number++;
		if (wide)
			wide_command(command, number);
		else
			snprintf(command, sizeof(command), "%s_%u u32 number", kind, number);
		calls++;
		if (register_event(fd, command, &index))
			denied++;
		else if (!hold)
			unregister_event(fd, index);
	}
	fprintf(stderr, "%s: %" PRIu64 " calls, %" PRIu64 " denied\n", kind, calls, denied);
}

int main(int argc, char **argv)
{
	cpu_set_t set;

	if (argc != 5) {
		fprintf(stderr, "usage: contention_bench time|attack WHAT CPU SECONDS|UID\n");
		return 2;
	}
	CPU_ZERO(&set);
	CPU_SET((unsigned int)atoi(argv[3]), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("sched_setaffinity");
	signal(SIGTERM, on_signal);
	if (!strcmp(argv[1], "time"))
		time_calls(argv[2], now_ns() + (uint64_t)(atof(argv[4]) * 1e9));
	else
		attack(argv[2], (unsigned int)atoi(argv[4]));
	return 0;
}
