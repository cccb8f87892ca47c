/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What tests of libelog with the kernel module share: loading the module, an event, reading
 * what was written. Each test program includes it once.
 *
 * Needs root, and the path of eventlog.ko in EVENTLOG_KO: the tests load and remove
 * it and leave it loaded.
 */
#ifndef LIBELOG_TEST_DEVICE_H
#define LIBELOG_TEST_DEVICE_H

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "elog.h"
#include "util/tap.h"

#define PAUSE_NS	10000000
#define PAUSES_MAX	1000	/* 10 s; then a wait fails */

static inline void pause_shortly(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
}

static const char *module_path;

static inline int load_module(const char *parameters)
{
	int fd = open(module_path, O_RDONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = (int)syscall(SYS_finit_module, fd, parameters, 0) ? -errno : 0;
	close(fd);
	return ret;
}

static inline int remove_module(void)
{
	return (int)syscall(SYS_delete_module, "eventlog", O_NONBLOCK) ?
	       -errno : 0;
}

static inline void reload_module_with(const char *parameters)
{
	unsigned int pauses;
	int ret = remove_module();

	for (pauses = 0; ret == -EAGAIN && pauses < PAUSES_MAX; pauses++) {
		/* A grace period or the like may still hold it. */
		pause_shortly();
		ret = remove_module();
	}
	if (ret && ret != -ENOENT)
		printf("# rmmod: %s\n", strerror(-ret));
	ret = load_module(parameters);
	if (ret)
		printf("# insmod: %s\n", strerror(-ret));
}

/* Reload the module, so that it is in its initial state. */
static inline void reload_module(void)
{
	reload_module_with("");
}

/* Used by subscribe(). */
static uint64_t backlog_bytes;

static inline struct elog_consumer *subscribe(uint64_t ring_bytes)
{
	const struct elog_consumer_options options = {
		.size = sizeof(options),
		.ring_bytes = ring_bytes,
		.backlog_bytes = backlog_bytes,
	};
	const struct elog_rule rule = {
		.size = sizeof(rule), .provider = "libelog_*",
	};
	struct elog_consumer *consumer = NULL;

	check_equal(elog_consumer_open(&consumer, &options), 0);
	if (!consumer) {
		printf("Bail out! cannot subscribe\n");
		exit(1);
	}
	check_equal(elog_consumer_rule_add(consumer, &rule, NULL), 0);
	return consumer;
}

static inline struct elog_event *add_event(struct elog_producer *producer,
				    const char *command)
{
	struct elog_event *event = NULL;

	check_equal(elog_event_register(producer, "libelog_test", command, 0, 0,
					0, &event), 0);
	if (!event) {
		printf("Bail out! cannot register\n");
		exit(1);
	}
	return event;
}

static inline bool becomes_enabled(const struct elog_event *event)
{
	unsigned int pauses;

	for (pauses = 0; pauses < PAUSES_MAX; pauses++) {
		if (elog_event_enabled(event))
			return true;
		pause_shortly();
	}
	return false;
}

static inline int write_number(const struct elog_event *event, uint64_t session,
			uint32_t number)
{
	struct iovec part = { .iov_base = &number, .iov_len = sizeof(number) };

	return elog_event_write(event, session, &part, 1);
}

static inline uint32_t number_of(const struct elog_item *item)
{
	uint32_t number = UINT32_MAX;

	if (item->payload_size >= sizeof(number))
		memcpy(&number, item->payload, sizeof(number));
	return number;
}

/* The payload, and zeroes up to a multiple of 8. */
static inline bool is_payload(const struct elog_item *item, const void *data,
		       size_t size)
{
	const unsigned char *payload = item->payload;
	size_t i;

	if (item->payload_size < size || item->payload_size >= size + 8 ||
	    memcmp(payload, data, size))
		return false;
	for (i = size; i < item->payload_size; i++)
		if (payload[i])
			return false;
	return true;
}

/*
 * Read one batch and return the number of events. @item is the last one, with a copy
 * of its payload, because reading on releases the payload to the consumer.
 */
static inline unsigned int read_batch(struct elog_consumer *consumer,
			       struct elog_item *item)
{
	static unsigned char payload[EVENTLOG_PAYLOAD_MAX + 8];
	struct elog_item next;
	unsigned int count = 0;

	memset(item, 0, sizeof(*item));
	check_equal(elog_consumer_flush(consumer), 0);
	while (elog_consumer_next(consumer, &next) > 0) {
		*item = next;
		count += item->type == ELOG_ITEM_EVENT;
		check(item->payload_size <= sizeof(payload));
		if (item->payload_size && item->payload_size <= sizeof(payload))
			memcpy(payload, item->payload, item->payload_size);
		item->payload = payload;
	}
	return count;
}

/* Run the tests, each with a module in its initial state; the status for exit(). */
static inline int run_device_tests(const struct test *tests, size_t count)
{
	module_path = getenv("EVENTLOG_KO");
	if (geteuid() || !module_path) {
		printf("TAP version 13\n1..0 # SKIP needs root and EVENTLOG_KO\n");
		return 0;
	}
	return run_tests(tests, count, reload_module);
}

#endif /* LIBELOG_TEST_DEVICE_H */
