// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the benchmarks that run in a kernel share: see kernel_common.h.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel_common.h"

int open_or_fail(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	if (fd < 0)
		fail("%s: %s", path, strerror(errno));
	return fd;
}

void ioctl_or_fail(int fd, unsigned long command, void *argument, const char *what)
{
	if (ioctl(fd, command, argument) < 0)
		fail("%s: %s", what, strerror(errno));
}

void write_text(const char *path, const char *text)
{
	int fd = open_or_fail(path, O_WRONLY);

	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		fail("%s: %s", path, strerror(errno));
	close(fd);
}

int compare_doubles(const void *left, const void *right)
{
	double difference = *(const double *)left - *(const double *)right;

	return (difference > 0) - (difference < 0);
}

/* ---- subscribers ---- */

void subscriber_rule(struct subscriber *subscriber, const char *provider, const char *event)
{
	struct eventlog_rule rule = { .size = sizeof(rule) };

	rule.provider = (uintptr_t)provider;
	rule.event = (uintptr_t)event;
	ioctl_or_fail(subscriber->fd, EVENTLOG_IOC_RULE_ADD, &rule, "RULE_ADD");
}

void subscriber_open(struct subscriber *subscriber, unsigned int flags, const char *provider,
		     const char *event)
{
	struct eventlog_subscribe request = {
		.size = sizeof(request),
		.flags = flags,
		.ring_bytes = RING_BYTES,
		.watermark = RING_BYTES,
	};
	unsigned int cpu;
	char *ring;

	subscriber->fd = open_or_fail("/dev/eventlog", O_RDWR);
	ioctl_or_fail(subscriber->fd, EVENTLOG_IOC_SUBSCRIBE, &request, "SUBSCRIBE");
	subscriber->cpus = request.rings < CPUS_MAX ? request.rings : CPUS_MAX;
	for (cpu = 0; cpu < subscriber->cpus; cpu++) {
		off_t offset = request.ring_offset + cpu * request.ring_stride;
		void *page;

		ring = mmap(NULL, request.ring_stride, PROT_READ, MAP_SHARED, subscriber->fd,
			    offset);
		/* A CPU that was never up has no ring. */
		if (ring == MAP_FAILED && errno == ENXIO)
			continue;
		page = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE, MAP_SHARED,
			    subscriber->fd, offset + getpagesize());
		if (ring == MAP_FAILED || page == MAP_FAILED)
			fail("cannot map a ring: %s", strerror(errno));
		subscriber->headers[cpu] = (void *)ring;
		subscriber->consumers[cpu] = page;
	}
	subscriber_rule(subscriber, provider, event);
}

void subscriber_read(struct subscriber *subscriber)
{
	unsigned int cpu;

	for (cpu = 0; cpu < subscriber->cpus; cpu++) {
		if (subscriber->headers[cpu])
			__atomic_store_n(&subscriber->consumers[cpu]->position,
					 (__u32)__atomic_load_n(&subscriber->headers[cpu]->committed,
								__ATOMIC_ACQUIRE),
					 __ATOMIC_RELEASE);
	}
}

void subscriber_check(struct subscriber *subscriber, const char *name, __u64 records)
{
	struct eventlog_stat stat = { .size = sizeof(stat), .ring = EVENTLOG_RINGS_ALL };
	unsigned int cause;

	ioctl_or_fail(subscriber->fd, EVENTLOG_IOC_STAT, &stat, "STAT");
	for (cause = 0; cause < EVENTLOG_LOST_CAUSES; cause++) {
		if (stat.lost[cause])
			fail("%s: events were lost: nothing was measured", name);
	}
	if (stat.records != records)
		fail("%s: %llu records of %llu", name, (unsigned long long)stat.records,
		     (unsigned long long)records);
}

/* ---- ftrace ---- */

void tracing_open(void)
{
	char kilobytes[16];

	snprintf(kilobytes, sizeof(kilobytes), "%u", RING_BYTES / 1024);
	if (mkdir(MONO_TRACING, 0700) && errno != EEXIST)
		fail(MONO_TRACING ": %s", strerror(errno));
	write_text(TRACING "buffer_size_kb", kilobytes);
	write_text(MONO_TRACING "buffer_size_kb", kilobytes);
	write_text(MONO_TRACING "trace_clock", "mono");
}

/* Events written to the buffers, including overwritten ones. */
static unsigned long long tracing_entries(const char *tracing)
{
	unsigned long long entries, overrun, sum = 0;
	unsigned int cpu;
	char path[200];
	FILE *stats;

	for (cpu = 0;; cpu++) {
		snprintf(path, sizeof(path), "%sper_cpu/cpu%u/stats", tracing, cpu);
		stats = fopen(path, "r");
		if (!stats)
			break;
		if (fscanf(stats, "entries: %llu overrun: %llu", &entries, &overrun) != 2)
			fail("%s: not understood", path);
		fclose(stats);
		sum += entries + overrun;
	}
	return sum;
}

void tracing_check(const char *tracing, unsigned long long events)
{
	unsigned long long entries = tracing_entries(tracing);

	if (entries != events)
		fail("%s: %llu events of %llu: nothing was measured", tracing, entries, events);
}
