/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the benchmarks that run in a kernel share: errors, subscribers to
 * eventlog, ftrace.  One process and one thread.
 */
#ifndef KERNEL_COMMON_H
#define KERNEL_COMMON_H

#include <linux/eventlog.h>

#include "bench_rows.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define TRACING "/sys/kernel/tracing/"
/* A second ftrace instance, with eventlog's clock. */
#define MONO_TRACING TRACING "instances/eventlog_bench/"
#define RING_BYTES (1U << 20)
#define WARM_UP_BATCHES 20
#define CPUS_MAX 64

/* These call fail() with strerror(errno). */
int open_or_fail(const char *path, int flags);
void ioctl_or_fail(int fd, unsigned long command, void *argument, const char *what);
void write_text(const char *path, const char *text);

/* For qsort() of doubles. */
int compare_doubles(const void *left, const void *right);

/**
 * struct subscriber - an open subscription to the events of one contestant
 * @fd: the device
 * @cpus: number of rings
 * @headers: by CPU: page 0, or NULL
 * @consumers: by CPU: page 1
 */
struct subscriber {
	int fd;
	unsigned int cpus;
	const struct eventlog_ring_header *headers[CPUS_MAX];
	struct eventlog_ring_consumer *consumers[CPUS_MAX];
};

/**
 * subscriber_open() - subscribe to events; fails or returns
 * @subscriber: filled in
 * @flags: EVENTLOG_SUBSCRIBE_*
 * @provider: name
 * @event: glob
 *
 * A batch does not reach the watermark.
 */
void subscriber_open(struct subscriber *subscriber, unsigned int flags, const char *provider,
		     const char *event);

/**
 * subscriber_rule() - add a rule; fails or returns
 * @subscriber: open
 * @provider: name
 * @event: glob
 */
void subscriber_rule(struct subscriber *subscriber, const char *provider, const char *event);

/**
 * subscriber_read() - move the position as if everything was read
 * @subscriber: open
 */
void subscriber_read(struct subscriber *subscriber);

/**
 * subscriber_check() - fail unless all timed events were delivered
 * @subscriber: open
 * @name: for the message
 * @records: expected number; none may be lost
 */
void subscriber_check(struct subscriber *subscriber, const char *name, __u64 records);

/**
 * tracing_open() - create the second ftrace instance; size both buffers as the rings
 */
void tracing_open(void);

/**
 * tracing_check() - fail unless all timed events were recorded
 * @tracing: directory of an ftrace instance, with '/' at its end
 * @events: expected number, including overwritten events
 */
void tracing_check(const char *tracing, unsigned long long events);

#endif /* KERNEL_COMMON_H */
