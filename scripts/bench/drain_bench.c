// SPDX-License-Identifier: GPL-2.0-only
/*
 * Helper of drain-guest: emits events of kernel code with eventlog_bench_events.ko,
 * and reads the number of instructions.  In that machine the CPU's counter counts a
 * nanosecond for each instruction; it also counts idle time, which is subtracted.
 *
 *	drain_bench emit wide|trace_wide COUNT
 *	drain_bench pace wide|trace_wide RATE MILLISECONDS
 *	drain_bench counter
 *
 * pace emits RATE events a second, divided among the CPUs, and prints the actual
 * rate.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "eventlog_bench.h"

static int emit(unsigned int event, unsigned long count)
{
	struct eventlog_bench_emit batch = { .event = event };
	int fd = open("/dev/eventlog_bench_events", O_RDWR | O_CLOEXEC);

	int failed = fd < 0;

	for (; !failed && count; count -= batch.count) {
		batch.count = count < EVENTLOG_BENCH_COUNT_MAX ?
			      count : EVENTLOG_BENCH_COUNT_MAX;
		failed = ioctl(fd, EVENTLOG_BENCH_IOC_EMIT, &batch) != 0;
	}
	if (failed)
		perror("/dev/eventlog_bench_events");
	if (fd >= 0)
		close(fd);
	return failed;
}

static uint64_t monotonic(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int pace_cpu(int cpu, unsigned int event, double rate, uint64_t duration)
{
	uint64_t started = monotonic(), elapsed = 0, done = 0, due;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return 1;
	while (elapsed < duration) {
		due = (uint64_t)(rate * (double)elapsed / 1e9);
		if (due > done && emit(event, due - done))
			return 1;
		done = due;
		/* Let the draining process run. */
		usleep(500);
		elapsed = monotonic() - started;
	}
	return 0;
}

static int pace(unsigned int event, double rate, uint64_t duration)
{
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN), cpu, status, failed = 0;
	uint64_t started = monotonic();

	for (cpu = 0; cpu < cpus; cpu++)
		if (!fork())
			_exit(pace_cpu(cpu, event, rate / cpus, duration));
	for (cpu = 0; cpu < cpus; cpu++)
		failed |= wait(&status) < 0 || status;
	printf("%.0f\n", rate * (double)duration / (double)(monotonic() - started));
	return failed;
}

/* Idle time in nanoseconds, as the kernel accounts it. */
static uint64_t idle(void)
{
	FILE *file = fopen("/proc/timer_list", "re");
	uint64_t sum = 0, value;
	char line[256];

	if (!file) {
		perror("/proc/timer_list");
		exit(1);
	}
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, " .idle_sleeptime : %" SCNu64, &value) == 1 ||
		    sscanf(line, " .iowait_sleeptime : %" SCNu64, &value) == 1)
			sum += value;
	fclose(file);
	return sum;
}

int main(int count, char **arguments)
{
	if (count == 2 && !strcmp(arguments[1], "counter"))
		return printf("%" PRIu64 "\n",
			      (uint64_t)__builtin_ia32_rdtsc() - idle()) < 0;
	if (count == 4 && !strcmp(arguments[1], "emit"))
		return emit(!strcmp(arguments[2], "wide") ? EVENTLOG_BENCH_WIDE :
			    EVENTLOG_BENCH_TRACE_WIDE,
			    strtoul(arguments[3], NULL, 10));
	if (count == 5 && !strcmp(arguments[1], "pace"))
		return pace(!strcmp(arguments[2], "wide") ? EVENTLOG_BENCH_WIDE :
			    EVENTLOG_BENCH_TRACE_WIDE, atof(arguments[3]),
			    strtoull(arguments[4], NULL, 10) * 1000000);
	fputs("usage: drain_bench emit wide|trace_wide COUNT |\n"
	      "       pace wide|trace_wide RATE MILLISECONDS | counter\n", stderr);
	return 2;
}
