// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts what listing all definitions takes, for scripts/bench/list: registers events, then
 * reads their definitions in several ways.  One thread.
 *
 *	list_bench [--batches N] [--rows FILE] ELOG
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/eventlog.h>

#include "bench_rows.h"

#define EVENTS 30000
#define BUFFER_BYTES 32768

static const char help[] = "usage: list_bench [--batches N] [--rows FILE] ELOG\n";

static const char *elog;

static int open_device(void)
{
	int fd = open(EVENTLOG_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		fail("%s: %s", EVENTLOG_DEVICE, strerror(errno));
	return fd;
}

static uint32_t descriptors[EVENTS];

static void register_events(int fd)
{
	struct eventlog_register request;
	char command[128];
	unsigned int i;

	for (i = 0; i < EVENTS; i++) {
		snprintf(command, sizeof(command),
			 "request_%u u32 status; u64 bytes; s32 worker; char[16] method; "
			 "__data_loc char[] path", i);
		request = (struct eventlog_register){
			.size = sizeof(request),
			.command = (uintptr_t)command,
		};
		if (ioctl(fd, EVENTLOG_IOC_REGISTER, &request))
			fail("REGISTER of event %u: %s", i, strerror(errno));
		descriptors[i] = request.descriptor;
	}
}

static void check_count(unsigned int count)
{
	if (count != EVENTS)
		fail("read %u of %u definitions", count, EVENTS);
}

static void describe_all(int fd)
{
	static char text[BUFFER_BYTES];
	struct eventlog_describe request = { .size = sizeof(request), .text = (uintptr_t)text };
	unsigned int i;

	for (i = 0; i < EVENTS; i++) {
		request.descriptor = descriptors[i];
		request.text_size = sizeof(text);
		if (ioctl(fd, EVENTLOG_IOC_DESCRIBE, &request))
			fail("DESCRIBE of event %u: %s", i, strerror(errno));
	}
}

static void read_definitions(int fd)
{
	static char buffer[BUFFER_BYTES];
	struct eventlog_list request = {
		.size = sizeof(request), .kind = EVENTLOG_LIST_DEFINITIONS,
		.buffer = (uintptr_t)buffer,
	};
	unsigned int count = 0;

	do {
		request.buffer_size = sizeof(buffer);
		if (ioctl(fd, EVENTLOG_IOC_LIST, &request))
			fail("LIST: %s", strerror(errno));
		count += request.count;
	} while (request.cursor);
	check_count(count);
}

static void read_status(int fd)
{
	static char text[BUFFER_BYTES];
	ssize_t bytes;

	(void)fd;
	fd = open_device();
	while ((bytes = read(fd, text, sizeof(text))) > 0)
		;
	if (bytes < 0)
		fail("status listing: %s", strerror(errno));
	close(fd);
}

static void run_elog(const char *format)
{
	pid_t child = fork();
	int status;

	if (child < 0)
		fail("fork: %s", strerror(errno));
	if (!child) {
		if (dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO) == STDOUT_FILENO)
			execl(elog, elog, "list", "--format", format, (char *)NULL);
		_exit(127);
	}
	if (waitpid(child, &status, 0) != child || status)
		fail("%s list: status %d", elog, status);
}

static void list_text(int fd)
{
	(void)fd;
	run_elog("text");
}

static void list_json(int fd)
{
	(void)fd;
	run_elog("json");
}

static const struct row {
	const char *key;
	const char *text;
	void (*run)(int fd);
} rows[] = {
	{ "describe", "read all definitions, one with each call (DESCRIBE)", describe_all },
	{ "definitions", "read all definitions, many with each call (LIST)",
	  read_definitions },
	{ "status", "read the status listing, which has no schemas", read_status },
	{ "list", "elog list", list_text },
	{ "list_json", "elog list --format json", list_json },
};

static double used_by(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e9 +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3;
}

/* CPU time in ns: the clock would count the time in which the guest waits for files, too. */
static double now(void)
{
	return used_by(RUSAGE_SELF) + used_by(RUSAGE_CHILDREN);
}

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

int main(int argc, char **argv)
{
	static const struct option options[] = { ROWS_OPTIONS, { NULL, 0, NULL, 0 } };
	unsigned int batches = 5, i, j;
	double *times, begin;
	int option, fd;

	while ((option = getopt_long(argc, argv, ROWS_LETTERS, options, NULL)) >= 0)
		rows_option(option, help, &batches);
	if (optind + 1 != argc)
		fail("the path of elog is missing");
	elog = argv[optind];
	times = calloc(batches, sizeof(*times));
	if (!times)
		fail("out of memory");
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		rows_declare(rows[i].key, "instructions", "%s", rows[i].text);
	fd = open_device();
	register_events(fd);
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		rows[i].run(fd);
		for (j = 0; j < batches; j++) {
			begin = now();
			rows[i].run(fd);
			times[j] = (now() - begin) / EVENTS;
		}
		qsort(times, batches, sizeof(*times), compare_doubles);
		rows_value(rows[i].key, times[0], times[batches / 2]);
	}
	close(fd);
	free(times);
	rows_close();
	return 0;
}
