// SPDX-License-Identifier: GPL-2.0-only
/*
 * Helper of the benchmarks that write to files in a guest: emits events of kernel
 * code with eventlog_bench_events.ko, and reads the number of instructions or the CPU
 * time.  In a machine that counts instructions, the CPU's counter counts a nanosecond
 * for each instruction; it also counts idle time, which is subtracted.
 *
 *	drain_bench emit wide|trace_wide COUNT
 *	drain_bench pace wide|trace_wide RATE MILLISECONDS [PRODUCERS]
 *	drain_bench counter
 *	drain_bench drained STATS COUNT
 *	drain_bench busy
 *
 * pace emits RATE events a second, 0 for as many as possible, divided among processes
 * (one for each CPU unless PRODUCERS is given) that are spread over the CPUs, and
 * prints the actual rate and the number of events.  drained waits until ftrace's
 * buffer of a CPU, of which STATS is the file "stats", has at most COUNT events, and
 * prints the counter.  busy prints the nanoseconds that all CPUs were not idle.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
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

/* Events of a batch at full speed. */
#define FULL_SPEED_BATCH 100

/* One producer. Returns the number of events, or -1. */
static long produce(int cpu, unsigned int event, double rate, uint64_t duration)
{
	uint64_t started = monotonic(), elapsed = 0, done = 0, due;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return -1;
	while (elapsed < duration) {
		due = rate > 0 ? (uint64_t)(rate * (double)elapsed / 1e9) :
		      done + FULL_SPEED_BATCH;
		if (due > done && emit(event, due - done))
			return -1;
		done = due;
		/* Let the draining process run; a burst of each producer is emitted at once. */
		if (rate > 0)
			usleep(2000);
		elapsed = monotonic() - started;
	}
	return (long)done;
}

static int pace(unsigned int event, double rate, uint64_t duration, int producers)
{
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN), producer, status, failed = 0;
	uint64_t started, elapsed;
	long *done, sum = 0;

	if (producers <= 0)
		producers = cpus;
	done = mmap(NULL, (size_t)producers * sizeof(*done), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (done == MAP_FAILED) {
		perror("drain_bench");
		return 1;
	}
	started = monotonic();
	for (producer = 0; producer < producers; producer++) {
		if (fork())
			continue;
		done[producer] = produce(producer % cpus, event, rate / producers, duration);
		_exit(done[producer] < 0);
	}
	for (producer = 0; producer < producers; producer++)
		failed |= wait(&status) < 0 || status;
	elapsed = monotonic() - started;
	for (producer = 0; producer < producers; producer++)
		sum += done[producer];
	printf("%.0f %ld\n", (double)sum * 1e9 / (double)elapsed, sum);
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

static uint64_t counter(void)
{
	return (uint64_t)__builtin_ia32_rdtsc() - idle();
}

#define DRAINED_LIMIT 30000000000ULL

static int print_drained(const char *path, uint64_t count)
{
	uint64_t entries = UINT64_MAX, started = monotonic();
	FILE *file;

	for (;;) {
		file = fopen(path, "re");
		if (!file || fscanf(file, "entries: %" SCNu64, &entries) != 1) {
			perror(path);
			return 1;
		}
		fclose(file);
		if (entries <= count)
			break;
		if (monotonic() - started > DRAINED_LIMIT) {
			fprintf(stderr, "%s: still %" PRIu64 " events\n", path, entries);
			return 1;
		}
		usleep(2000);
	}
	return printf("%" PRIu64 "\n", counter()) < 0;
}

static int print_busy(void)
{
	uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);

	return printf("%" PRIu64 "\n", cpus * monotonic() - idle()) < 0;
}

static unsigned int event_of(const char *name)
{
	return !strcmp(name, "wide") ? EVENTLOG_BENCH_WIDE : EVENTLOG_BENCH_TRACE_WIDE;
}

int main(int count, char **arguments)
{
	if (count == 2 && !strcmp(arguments[1], "counter"))
		return printf("%" PRIu64 "\n", counter()) < 0;
	if (count == 2 && !strcmp(arguments[1], "busy"))
		return print_busy();
	if (count == 4 && !strcmp(arguments[1], "drained"))
		return print_drained(arguments[2], strtoull(arguments[3], NULL, 10));
	if (count == 4 && !strcmp(arguments[1], "emit"))
		return emit(event_of(arguments[2]), strtoul(arguments[3], NULL, 10));
	if ((count == 5 || count == 6) && !strcmp(arguments[1], "pace"))
		return pace(event_of(arguments[2]), atof(arguments[3]),
			    strtoull(arguments[4], NULL, 10) * 1000000,
			    count == 6 ? atoi(arguments[5]) : 0);
	fputs("usage: drain_bench emit wide|trace_wide COUNT |\n"
	      "       pace wide|trace_wide RATE MILLISECONDS [PRODUCERS] |\n"
	      "       counter | drained STATS COUNT | busy\n", stderr);
	return 2;
}
