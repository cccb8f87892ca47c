// SPDX-License-Identifier: GPL-2.0-only
/*
 * What drain-guest needs besides a shell: emits events of kernel code, by
 * eventlog_bench_events.ko, and reads how much the processor has done: its
 * counter, which in that machine counts a nanosecond with each instruction, less
 * the time it had nothing to do, when the machine moves the counter on.
 *
 *	drain_bench emit wide|trace_wide COUNT
 *	drain_bench counter
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "eventlog_bench.h"

static int emit(unsigned int event, unsigned long count)
{
	struct eventlog_bench_emit batch = { .event = event };
	int fd = open("/dev/eventlog_bench_events", O_RDWR | O_CLOEXEC);

	for (; fd >= 0 && count; count -= batch.count) {
		batch.count = count < EVENTLOG_BENCH_COUNT_MAX ?
			      count : EVENTLOG_BENCH_COUNT_MAX;
		if (ioctl(fd, EVENTLOG_BENCH_IOC_EMIT, &batch))
			fd = -1;
	}
	if (fd < 0)
		perror("/dev/eventlog_bench_events");
	return fd < 0;
}

/* The kernel's own account of idle time, to the nanosecond. */
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
	fputs("usage: drain_bench emit wide|trace_wide COUNT | counter\n", stderr);
	return 2;
}
