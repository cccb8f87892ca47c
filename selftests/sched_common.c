// SPDX-License-Identifier: GPL-2.0-only
/*
 * eventlog_sched.ko, for tests: see sched_common.h.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "sched_common.h"

void sched_load(const char *parameters)
{
	if (!access("/sys/module/eventlog_sched/initstate", F_OK))
		CHECK_OK(module_unload("eventlog_sched"));
	module_insert_built("module/sched/eventlog_sched.ko", parameters);
}

void sched_unload(void)
{
	CHECK_OK(module_unload("eventlog_sched"));
}

void sched_watch_open(struct sched_watch *watch, const char *parameters)
{
	memset(watch, 0, sizeof(*watch));
	sched_load(parameters);
	watch->fd = device_open();
	watch->event = register_event(watch->fd, "request u32 id");
	mapped_consumer_open(&watch->consumer, 1 << 20);
	rule_add(watch->consumer.fd, "sched", NULL);
}

void sched_watch_close(struct sched_watch *watch)
{
	consumer_close(&watch->consumer);
	close(watch->fd);
	sched_unload();
}

void session_set(struct mapped *ring, __u32 of, __u64 session)
{
	volatile struct eventlog_mapped_header *header = ring->header;

	header->session_of = 0;
	header->session = session;
	header->session_of = of;
}

void sleep_once(void)
{
	const struct timespec time = { .tv_nsec = 1000000 };
	struct rusage before, after;

	CHECK_OK(getrusage(RUSAGE_THREAD, &before));
	do {
		/* pause: the sleep itself is what the test is about */
		CHECK_OK(nanosleep(&time, NULL));
		CHECK_OK(getrusage(RUSAGE_THREAD, &after));
	} while (after.ru_nvcsw == before.ru_nvcsw);
}
