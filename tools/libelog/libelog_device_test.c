// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tests of libelog with the kernel module: producers that outlive the module,
 * threads, forks, full and wrapping rings, CPUs that come online later. Prints TAP.
 *
 * Needs root, and the path of eventlog.ko in EVENTLOG_KO: the tests load and remove
 * it and leave it loaded.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "elog.h"
#include "util/tap.h"
#include "util/util.h"

#define PAUSE_NS	10000000
#define PAUSES_MAX	1000	/* 10 s; then a wait fails */

static void pause_shortly(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
}

static const char *module_path;

static int load_module(const char *parameters)
{
	int fd = open(module_path, O_RDONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = (int)syscall(SYS_finit_module, fd, parameters, 0) ? -errno : 0;
	close(fd);
	return ret;
}

static int remove_module(void)
{
	return (int)syscall(SYS_delete_module, "eventlog", O_NONBLOCK) ?
	       -errno : 0;
}

static void reload_module_with(const char *parameters)
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
static void reload_module(void)
{
	reload_module_with("");
}

/* Used by subscribe(). */
static uint64_t backlog_bytes;

static struct elog_consumer *subscribe(uint64_t ring_bytes)
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

static struct elog_event *add_event(struct elog_producer *producer,
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

static bool becomes_enabled(const struct elog_event *event)
{
	unsigned int pauses;

	for (pauses = 0; pauses < PAUSES_MAX; pauses++) {
		if (elog_event_enabled(event))
			return true;
		pause_shortly();
	}
	return false;
}

static int write_number(const struct elog_event *event, uint64_t session,
			uint32_t number)
{
	struct iovec part = { .iov_base = &number, .iov_len = sizeof(number) };

	return elog_event_write(event, session, &part, 1);
}

static uint32_t number_of(const struct elog_item *item)
{
	uint32_t number = UINT32_MAX;

	if (item->payload_size >= sizeof(number))
		memcpy(&number, item->payload, sizeof(number));
	return number;
}

/* The payload, and zeroes up to a multiple of 8. */
static bool is_payload(const struct elog_item *item, const void *data,
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
static unsigned int read_batch(struct elog_consumer *consumer,
			       struct elog_item *item)
{
	static unsigned char payload[EVENTLOG_PAYLOAD_MAX + 8];
	struct elog_item next;
	unsigned int count = 0;

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

/* Without the module a device node may still exist: the administrator can create one. */
static bool is_absence(int error)
{
	return error == -ENOENT || error == -ENXIO || error == -ENODEV;
}

static void test_absent_module(void)
{
	const struct elog_schema_event *schema;
	struct elog_event *event, *wrong;
	struct elog_producer *producer;
	struct elog_consumer *consumer;
	struct elog_item item;

	check_equal(remove_module(), 0);
	check(is_absence(elog_consumer_open(&consumer, NULL)));
	check_equal(elog_producer_open(&producer, NULL), 0);
	check(is_absence(elog_producer_connect(producer)));
	event = add_event(producer, "event u32 number");
	wrong = add_event(producer, "event long number");
	check(!elog_event_enabled(event));
	check_equal(write_number(event, 0, 1), -EBADF);

	/* The producer connects by itself. */
	check_equal(load_module(""), 0);
	consumer = subscribe(1 << 16);
	check(becomes_enabled(event));
	check_equal(elog_event_error(event), 0);
	check_equal(elog_event_error(wrong), -EINVAL);
	check(!elog_event_enabled(wrong));
	check_equal(write_number(wrong, 0, 1), -EBADF);
	check_equal(write_number(event, 5, 42), 0);
	check_equal(elog_consumer_pending(consumer), 1);
	check_equal(read_batch(consumer, &item), 1);
	check_equal(number_of(&item), 42);
	check_equal(item.session, 5);
	check_equal(item.pid, getpid());
	check_equal(item.tid, gettid());
	check_equal(item.descriptor, elog_event_descriptor(event));
	check_equal(elog_consumer_describe(consumer, item.descriptor, &schema), 0);
	check_string(schema->name, "event");
	check_string(schema->provider->name, "libelog_test");
	check_equal(elog_consumer_describe(consumer, UINT32_MAX, &schema), -ENOENT);
	check_equal(elog_consumer_pending(consumer), 0);
	elog_consumer_close(consumer);
	check(!elog_event_enabled(event));

	/* An open file pins the module, a released one does not. */
	check_equal(remove_module(), -EAGAIN);
	elog_producer_release(producer, UINT_MAX);
	check_equal(write_number(event, 0, 1), -EBADF);
	check_equal(remove_module(), 0);
	check(is_absence(elog_producer_connect(producer)));
	check_equal(load_module(""), 0);
	consumer = subscribe(1 << 16);
	/* This producer gets the same write indexes again. */
	check_equal(elog_producer_connect(producer), 0);
	check(elog_event_enabled(event));
	check_equal(write_number(event, 6, 43), 0);
	check_equal(read_batch(consumer, &item), 1);
	check_equal(number_of(&item), 43);

	/* Unregistering one event does not affect the others. */
	elog_event_unregister(wrong);
	wrong = add_event(producer, "event u32 number");
	check(elog_event_enabled(wrong));
	elog_event_unregister(event);
	check_equal(write_number(wrong, 7, 44), 0);
	check_equal(read_batch(consumer, &item), 1);
	check_equal(number_of(&item), 44);
	elog_producer_close(producer);
	elog_consumer_close(consumer);
	check_equal(remove_module(), 0);
}

static void test_fork(void)
{
	struct elog_consumer *consumer = subscribe(1 << 16);
	struct elog_event *event, *own;
	struct elog_producer *producer;
	struct elog_item item;
	pid_t child;
	int status = -1;

	check_equal(elog_producer_open(&producer, NULL), 0);
	event = add_event(producer, "event u32 number");
	check(elog_event_enabled(event));
	child = fork();
	if (!child) {
		/* The child connects with a file of its own when it uses the event. */
		if (elog_event_error(event) != -ENOTCONN ||
		    !elog_event_enabled(event) || write_number(event, 0, 1))
			_exit(1);
		if (elog_event_register(producer, "libelog_child", "own", 0, 0,
					0, &own) ||
		    elog_event_write(own, 0, NULL, 0))
			_exit(2);
		elog_event_unregister(event);
		elog_producer_close(producer);
		_exit(0);
	}
	check_equal(waitpid(child, &status, 0), child);
	check_equal(status, 0);
	check_equal(read_batch(consumer, &item), 2);
	check_equal(item.pid, child);
	/* The child unregistered the event, the parent did not. */
	check(elog_event_enabled(event));
	check_equal(write_number(event, 0, 2), 0);
	check_equal(read_batch(consumer, &item), 1);
	check_equal(item.pid, getpid());
	elog_producer_close(producer);
	elog_consumer_close(consumer);
}

/* What eventlog-gen -u makes, of one event each. */
static const unsigned char disabled_byte;
#define TYPED_EVENT(name, schema) \
	static struct elog_typed_event name = { &disabled_byte, NULL, schema }
#define TYPED_HEAD "eventlog 1\nprovider libelog_typed\n"

TYPED_EVENT(typed_number, TYPED_HEAD "event 1 number info -\n\tduration took\n");
TYPED_EVENT(typed_text, TYPED_HEAD "event 2 text info -\n\tstring text\n");
TYPED_EVENT(typed_wrong, TYPED_HEAD "event 3 wrong info -\n\tu24 number\n");

static struct elog_typed_event *const typed_events[] = {
	&typed_number, &typed_text, &typed_wrong,
};

static int write_typed_number(uint64_t session, uint64_t took)
{
	struct iovec parts[2];

	if (!elog_typed_event_enabled(&typed_number) || !elog_typed_event_ready(&typed_number))
		return -EBADF;
	parts[1].iov_base = &took;
	parts[1].iov_len = sizeof(took);
	return elog_typed_event_write(&typed_number, session, parts, 2, sizeof(took));
}

static int write_typed_text(const char *text, size_t fixed)
{
	struct iovec parts[3];
	size_t end = fixed;
	uint32_t word = elog_part_string(&parts[2], text, &end);

	parts[1].iov_base = &word;
	parts[1].iov_len = sizeof(word);
	return elog_typed_event_write(&typed_text, 0, parts, 3, end);
}

static void test_typed_events(void)
{
	static char text[EVENTLOG_PAYLOAD_MAX + 1];
	struct elog_consumer *consumer;
	struct elog_producer *producer;
	struct elog_event *event;
	struct elog_item item;
	pid_t child;
	int status = -1;

	/* Nothing is registered: events can be tested. */
	check(!elog_typed_event_enabled(&typed_number));
	check(!elog_typed_event_ready(&typed_number));
	check_equal(elog_typed_event_write(&typed_number, 0, NULL, 0, 0), -EBADF);

	/* If one is wrong, none is registered. */
	consumer = subscribe(1 << 18);
	check_equal(elog_producer_open(&producer, NULL), 0);
	check_equal(elog_event_register(producer, NULL, typed_text.schema, 0, 0,
					EVENTLOG_REGISTER_SCHEMA, &event), -EINVAL);
	check_equal(elog_event_register_schema(producer, typed_wrong.schema, 0, &event), -EINVAL);
	check_equal(elog_typed_events_register(producer, typed_events, 3), -EINVAL);
	check(!typed_number.event && !typed_text.event && !typed_wrong.event);
	check(!elog_typed_event_enabled(&typed_number));
	check_equal(elog_typed_events_register(producer, typed_events, 2), 0);
	check_equal(elog_typed_events_register(producer, typed_events, 1), -EBUSY);

	check_equal(write_typed_number(7, 1500), 0);
	check_equal(write_typed_text(NULL, 4), 0);
	memset(text, 'x', EVENTLOG_PAYLOAD_MAX);
	check_equal(write_typed_text(text, 4), -E2BIG);
	text[EVENTLOG_PAYLOAD_MAX - 5] = '\0';
	check_equal(write_typed_text(text, 4), 0);
	check_equal(elog_typed_event_write(&typed_text, 0, NULL, IOV_MAX + 1, 4), -EINVAL);
	check_equal(elog_typed_event_write(&typed_text, 0, NULL, 0, 0), -EINVAL);
	check_equal(read_batch(consumer, &item), 3);

	/* A released producer enables nothing, and connects again. */
	elog_producer_release(producer, UINT_MAX);
	check_equal(write_typed_number(0, 1), -EBADF);
	check_equal(elog_producer_connect(producer), 0);
	check_equal(write_typed_number(8, 2), 0);
	check_equal(read_batch(consumer, &item), 1);
	check_equal(item.session, 8);

	/* The child of a fork has its own. */
	child = fork();
	if (!child) {
		if (write_typed_number(9, 3))
			_exit(1);
		elog_typed_events_unregister(typed_events, 2);
		_exit(elog_typed_event_enabled(&typed_number) ? 2 : 0);
	}
	check_equal(waitpid(child, &status, 0), child);
	check_equal(status, 0);
	check_equal(read_batch(consumer, &item), 1);
	check_equal(item.pid, child);
	check_equal(write_typed_number(0, 4), 0);

	/* Unregistered with the producer, or before. */
	elog_producer_close(producer);
	check(!elog_typed_event_enabled(&typed_number));
	check_equal(elog_producer_open(&producer, NULL), 0);
	check_equal(elog_typed_events_register(producer, typed_events, 2), 0);
	check(elog_typed_event_enabled(&typed_text));
	elog_typed_events_unregister(typed_events, 2);
	check(!elog_typed_event_enabled(&typed_text));
	elog_producer_close(producer);
	elog_consumer_close(consumer);
}

/* An event beyond a limit is registered when another one has ended. */
static void check_limit(const char *parameters, uid_t user, int error)
{
	struct elog_event *first, *second, *third, *none = NULL;
	struct elog_consumer *consumer;
	struct elog_producer *producer;
	struct elog_item item;

	reload_module_with(parameters);
	consumer = subscribe(1 << 16);
	check_equal(seteuid(user), 0);
	check_equal(elog_producer_open(&producer, NULL), 0);
	check_equal(seteuid(0), 0);
	first = add_event(producer, "first u32 number");
	second = add_event(producer, "second u32 number");
	check_equal(elog_event_error(first), 0);
	check_equal(elog_event_error(second), error);
	check_equal(elog_event_descriptor(second), 0);
	check(!elog_event_enabled(second));
	check_equal(write_number(second, 0, 1), -EBADF);
	/* Who makes a persistent event gets the error, and so does one with another error. */
	check_equal(elog_event_register(producer, "libelog_test", "third u32 number", 0, 0,
					EVENTLOG_REGISTER_PERSIST, &none), user ? -EPERM : error);
	check_equal(elog_event_register(producer, "libelog_test", "third u33 number", 0, 0, 0,
					&none), -EINVAL);
	/* The same definition needs no more room. */
	third = add_event(producer, "first u32 number");
	check_equal(elog_event_error(third), 0);
	check_equal(write_number(first, 1, 1), 0);
	elog_event_unregister(first);
	check(!elog_event_enabled(second));
	elog_event_unregister(third);
	check(becomes_enabled(second));
	check_equal(elog_event_error(second), 0);
	check_equal(write_number(second, 2, 2), 0);
	check_equal(read_batch(consumer, &item), 2);
	check_equal(item.session, 2);

	/* So it is if the limit was reached when the producer connected. */
	first = add_event(producer, "first u32 number");
	check_equal(elog_event_error(first), error);
	elog_producer_release(producer, 0);
	check_equal(seteuid(user), 0);
	check_equal(elog_producer_connect(producer), 0);
	check_equal(seteuid(0), 0);
	check(!elog_event_error(first) != !elog_event_error(second));
	third = elog_event_error(first) ? first : second;
	elog_event_unregister(third == first ? second : first);
	check(becomes_enabled(third));
	check_equal(write_number(third, 3, 3), 0);
	check_equal(read_batch(consumer, &item), 1);
	elog_producer_close(producer);
	elog_consumer_close(consumer);
}

static void test_limit_of_system(void)
{
	check_limit("events_max=1", 0, -ENOSPC);
}

static void test_limit_of_user(void)
{
	check_limit("mode=0666 user_events_max=1", 1000, -EDQUOT);
}

/* Replace each byte of a schema: what the kernel accepts, consumers must be able to read. */
static void test_changed_schemas(void)
{
	static const char schema[] =
		"eventlog 1\nprovider libelog_typed \"a \\\"b\\\" \xc3\xa9\"\n"
		"keyword k 0x1 \"c\"\nkeyword m 0x6\nenum e\n\t1 A\n\t-2 B \"d\"\n"
		"flags f\n\t0x0 N\n\t0x10 C\n"
		"event 1 changed info k,0x100 \"e\"\n\tenum:e:s8 a \"f\"\n\tflags:f:u16 b as hex\n"
		"\tchar[8] c\n\tu8[4] d\n\tstruct:s:16 e\n\tstring g\n";
	static const char bytes[] = "\n\t\r \"\\#0:a-\x80";
	unsigned int accepted = 0, unread = 0;
	struct elog_producer *producer;
	char changed[sizeof(schema)];
	struct elog_event *event;
	struct elog_schema *read;
	size_t i, k;

	check_equal(elog_producer_open(&producer, NULL), 0);
	for (i = 0; i < sizeof(schema) - 1; i++) {
		for (k = 0; k < sizeof(bytes); k++) {
			memcpy(changed, schema, sizeof(schema));
			changed[i] = bytes[k];
			if (elog_event_register_schema(producer, changed, 0, &event))
				continue;
			accepted++;
			if (elog_schema_parse(changed, strlen(changed), &read, NULL)) {
				printf("# the kernel accepts: %s\n", changed);
				unread++;
			} else {
				elog_schema_free(read);
			}
			elog_event_unregister(event);
		}
	}
	/* At least those where the byte is the same. */
	check(accepted > 30);
	check_equal(unread, 0);
	elog_producer_close(producer);
}

static void test_rejected_payloads(void)
{
	struct elog_consumer *consumer = subscribe(1 << 20);
	const uint32_t outside = 16U << 16 | 4, open_end = 1U << 16 | 4;
	char *large = calloc(1, EVENTLOG_PAYLOAD_MAX + 1);
	struct elog_event *number, *string;
	struct elog_producer *producer;
	struct elog_payload payload;
	struct iovec parts[3];
	struct elog_item item;
	void *unreadable = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	check(unreadable != MAP_FAILED);
	check_equal(elog_producer_open(&producer, NULL), 0);
	number = add_event(producer, "number u32 number");
	string = add_event(producer, "string __data_loc char[] s");
	check_equal(elog_event_write(number, 0, NULL, 0), -EINVAL);
	parts[0] = (struct iovec){ (void *)&outside, 4 };
	check_equal(elog_event_write(string, 0, parts, 1), -EBADMSG);
	parts[0] = (struct iovec){ (void *)&open_end, 4 };
	parts[1] = (struct iovec){ (void *)"x", 1 };
	check_equal(elog_event_write(string, 0, parts, 2), -EBADMSG);
	parts[0] = (struct iovec){ large, EVENTLOG_PAYLOAD_MAX + 1 };
	check_equal(elog_event_write(number, 0, parts, 1), -E2BIG);
	parts[0] = (struct iovec){ NULL, 4 };
	errno = 1234;
	check_equal(elog_event_write(number, 0, parts, 1), -EFAULT);
	parts[0] = (struct iovec){ large, 4 };
	parts[1] = (struct iovec){ NULL, 4 };
	check_equal(elog_event_write(number, 0, parts, 2), -EFAULT);
	/* The library copies small payloads; sizes must not overflow. */
	parts[0] = (struct iovec){ large, 200 };
	parts[1] = (struct iovec){ unreadable, 57 };
	check_equal(elog_event_write(number, 0, parts, 2), -EFAULT);
	parts[1] = (struct iovec){ large, SIZE_MAX - 199 };
	parts[2] = (struct iovec){ large, 4 };
	check(elog_event_write(number, 0, parts, 3) < 0);
	check_equal(errno, 1234);
	elog_payload_init(&payload, large, 3);
	elog_payload_u32(&payload, 1);
	check_equal(elog_event_emit(number, 0, &payload), -ENOBUFS);
	check_equal(read_batch(consumer, &item), 0);

	parts[0] = (struct iovec){ large, EVENTLOG_PAYLOAD_MAX };
	check_equal(elog_event_write(number, 0, parts, 1), 0);
	check_equal(read_batch(consumer, &item), 1);
	check_equal(item.payload_size, EVENTLOG_PAYLOAD_MAX);
	elog_payload_init(&payload, large, 100);
	elog_payload_string(&payload, "text");
	check_equal(elog_event_emit(string, 0, &payload), 0);
	check_equal(read_batch(consumer, &item), 1);
	check(is_payload(&item, large, 9));
	elog_producer_close(producer);
	elog_consumer_close(consumer);
	munmap(unreadable, 4096);
	free(large);
}

/* Write @size bytes in @count parts; the last ones are empty if there are more. */
static int write_in_parts(const struct elog_event *event, const unsigned char *bytes, size_t size,
			  unsigned int count)
{
	const size_t each = (size + count - 1) / count;
	struct iovec parts[ELOG_IOV_MAX];
	unsigned int i;

	for (i = 0; i < count; i++) {
		const size_t part = size < each ? size : each;

		parts[i].iov_base = part ? (void *)(uintptr_t)bytes : NULL;
		parts[i].iov_len = part;
		bytes += part;
		size -= part;
	}
	return elog_event_write(event, count, parts, count);
}

/* The library copies small payloads to one place, and passes parts of others. */
static void test_payload_sizes(void)
{
	static const size_t sizes[] = { 4, 5, 17, 254, 255, 256, 257, 258, 499, 500, 501, 5000 };
	static const unsigned int counts[] = { 1, 2, 3, ELOG_IOV_MAX };
	struct elog_consumer *consumer = subscribe(1 << 20);
	unsigned char bytes[5000], typed[4 + 500];
	struct elog_producer *producer;
	struct elog_event *event;
	struct elog_item item;
	char text[500];
	uint32_t word;
	size_t i, k;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 7);
	memset(text, 'x', sizeof(text));
	check_equal(elog_producer_open(&producer, NULL), 0);
	event = add_event(producer, "sized u32 number");
	check_equal(elog_typed_events_register(producer, &typed_events[1], 1), 0);
	for (i = 0; i < ELOG_ARRAY_SIZE(sizes); i++)
		for (k = 0; k < ELOG_ARRAY_SIZE(counts); k++)
			check_equal(write_in_parts(event, bytes, sizes[i], counts[k]), 0);
	/* With the word before it and its NUL, the string has 254 to 259 bytes. */
	for (i = 249; i < 255; i++) {
		text[i] = '\0';
		check_equal(write_typed_text(text, 4), 0);
		text[i] = 'x';
	}
	check_equal(elog_consumer_flush(consumer), 0);
	for (i = 0; i < ELOG_ARRAY_SIZE(sizes); i++) {
		for (k = 0; k < ELOG_ARRAY_SIZE(counts); k++) {
			check_equal(elog_consumer_next(consumer, &item), 1);
			check_equal(item.session, counts[k]);
			check(is_payload(&item, bytes, sizes[i]));
		}
	}
	for (i = 249; i < 255; i++) {
		word = (uint32_t)(i + 1) << 16 | 4;
		memcpy(typed, &word, sizeof(word));
		memcpy(typed + 4, text, i);
		typed[4 + i] = '\0';
		check_equal(elog_consumer_next(consumer, &item), 1);
		check(is_payload(&item, typed, 4 + i + 1));
	}
	check_equal(elog_consumer_next(consumer, &item), 0);
	elog_typed_events_unregister(&typed_events[1], 1);
	elog_producer_close(producer);
	elog_consumer_close(consumer);
}

#define SHARED	100

/* The kernel reads the clock once an event, and may raise a time in one of the rings. */
static void test_shared_time(void)
{
	struct elog_consumer *first = subscribe(1 << 18), *second = subscribe(1 << 18);
	struct elog_item item, other;
	struct elog_producer *producer;
	struct elog_event *event;
	unsigned int same = 0;
	uint32_t i;

	check_equal(elog_producer_open(&producer, NULL), 0);
	event = add_event(producer, "shared u32 number");
	for (i = 0; i < SHARED; i++)
		check_equal(write_number(event, 0, i), 0);
	check_equal(elog_consumer_flush(first), 0);
	check_equal(elog_consumer_flush(second), 0);
	for (i = 0; i < SHARED; i++) {
		check_equal(elog_consumer_next(first, &item), 1);
		check_equal(elog_consumer_next(second, &other), 1);
		check_equal(number_of(&item), i);
		check_equal(number_of(&other), i);
		same += item.time == other.time;
	}
	check(same > SHARED / 2);
	elog_producer_close(producer);
	elog_consumer_close(first);
	elog_consumer_close(second);
}

#define WRITERS		4
#define NUMBERS		5000

static struct elog_event *shared_event;
static struct elog_producer *shared_producer;
static unsigned int writers_left;	/* atomic */

static void *write_numbers(void *argument)
{
	uint64_t session = (uintptr_t)argument;
	long wrong = 0;
	uint32_t i;

	for (i = 0; i < NUMBERS; i++) {
		wrong += write_number(shared_event, session, i) != 0;
		if (i % 64 == 0)
			sched_yield();
	}
	__atomic_sub_fetch(&writers_left, 1, __ATOMIC_SEQ_CST);
	return (void *)wrong;
}

/* Events of threads on all CPUs arrive in order, and every event is delivered or counted. */
static void write_and_read(uint64_t ring_bytes)
{
	struct elog_consumer *consumer = subscribe(ring_bytes);
	uint64_t seen = 0, lost = 0, previous = 0, wrong = 0;
	uint32_t next[WRITERS + 1] = { 0 }, number;
	pthread_t threads[WRITERS];
	struct eventlog_stat stat = { .size = sizeof(stat) };
	struct elog_item item;
	unsigned int i, cause;
	void *result;
	bool last;
	int ret;

	check_equal(elog_producer_open(&shared_producer, NULL), 0);
	shared_event = add_event(shared_producer, "event u32 number");
	writers_left = WRITERS;
	for (i = 0; i < WRITERS; i++)
		check_equal(pthread_create(&threads[i], NULL, write_numbers,
					   (void *)(uintptr_t)(i + 1)), 0);
	do {
		last = !__atomic_load_n(&writers_left, __ATOMIC_SEQ_CST);
		ret = elog_consumer_wait(consumer, last ? 0 : 100, NULL);
		check(ret >= 0);
		check_equal(elog_consumer_flush(consumer), 0);
		while ((ret = elog_consumer_next(consumer, &item)) > 0) {
			if (item.type == ELOG_ITEM_LOST) {
				for (cause = 0; cause < item.lost_count; cause++)
					lost += item.lost[cause];
				continue;
			}
			seen++;
			wrong += item.time < previous ||
				 item.time >= elog_consumer_time(consumer);
			previous = item.time;
			if (item.session < 1 || item.session > WRITERS) {
				wrong++;
				continue;
			}
			/* A thread's numbers increase, whatever CPU it was on. */
			number = number_of(&item);
			wrong += number < next[item.session];
			next[item.session] = number + 1;
		}
		check_equal(ret, 0);
	} while (!last);
	for (i = 0; i < WRITERS; i++) {
		pthread_join(threads[i], &result);
		check_equal((long)result, 0);
	}
	check_equal(wrong, 0);
	check_equal(seen + lost, WRITERS * NUMBERS);
	check_equal(elog_consumer_stat(consumer, EVENTLOG_RINGS_ALL, 0, &stat), 0);
	check_equal(stat.records, seen);
	check_equal(stat.lost[EVENTLOG_LOST_NO_ROOM], lost);
	check_equal(elog_consumer_stat(consumer, EVENTLOG_RINGS_ALL,
				       elog_event_descriptor(shared_event), &stat),
		    0);
	check_equal(stat.event_lost, lost);
	check_equal(elog_consumer_stat(consumer, EVENTLOG_RINGS_ALL, UINT32_MAX,
				       &stat), -ENOENT);
	check_equal(elog_consumer_pending(consumer), 0);
	printf("# %llu seen, %llu lost\n", (unsigned long long)seen,
	       (unsigned long long)lost);
	elog_producer_close(shared_producer);
	elog_consumer_close(consumer);
}

static void test_threads(void)
{
	write_and_read(1 << 22);
	write_and_read(1 << 15);
}

/* Small rings that are read after each write wrap many times. */
static void test_wrap(void)
{
	struct elog_consumer *consumer = subscribe(8192);
	struct elog_producer *producer;
	struct elog_event *event;
	unsigned char buffer[600];
	struct iovec part = { .iov_base = buffer };
	struct elog_item item;
	unsigned int i;

	check_equal(elog_producer_open(&producer, NULL), 0);
	event = add_event(producer, "event");
	for (i = 0; i < 200; i++) {
		part.iov_len = i * 7 % sizeof(buffer);
		memset(buffer, (int)i, sizeof(buffer));
		check_equal(elog_event_write(event, i, &part, 1), 0);
		/* Each batch has exactly the new event. */
		check_equal(read_batch(consumer, &item), 1);
		check_equal(item.session, i);
		check(is_payload(&item, buffer, part.iov_len));
	}
	check_equal(read_batch(consumer, &item), 0);
	elog_producer_close(producer);
	elog_consumer_close(consumer);
}

static void test_loss(void)
{
	struct elog_consumer *consumer = subscribe(8192);
	struct elog_item item = { 0 };
	struct elog_producer *producer;
	uint64_t seen, lost = 0;
	struct elog_event *event;
	unsigned int i;

	check_equal(elog_producer_open(&producer, NULL), 0);
	event = add_event(producer, "event u32 number");
	for (i = 0; i < 2000; i++)
		check_equal(write_number(event, 0, i), 0);
	/* A loss wakes the reader and is reported even if no record follows. */
	check_equal(elog_consumer_wait(consumer, 10000, NULL), 1);
	check_equal(elog_consumer_flush(consumer), 0);
	memset(&item, 0xff, sizeof(item));
	for (seen = 0; elog_consumer_next(consumer, &item) > 0;) {
		for (i = 0; i < 4; i++)
			check_equal(item.reserved[i], 0);
		if (item.type == ELOG_ITEM_EVENT)
			seen++;
		else
			lost += item.lost[EVENTLOG_LOST_NO_ROOM];
	}
	check(seen > 100 && lost > 0);
	check_equal(seen + lost, 2000);
	/* It is reported once; then nothing is pending. */
	check_equal(elog_consumer_pending(consumer), 0);
	if (!backlog_bytes)
		check_equal(elog_consumer_wait(consumer, 0, NULL), 0);
	check_equal(write_number(event, 0, 2000), 0);
	check_equal(read_batch(consumer, &item), 1);
	check_equal(item.type, ELOG_ITEM_EVENT);
	check_equal(number_of(&item), 2000);
	elog_producer_close(producer);
	elog_consumer_close(consumer);
}

/* Threads write while another thread releases the device and connects again. */
static void *write_on(void *argument)
{
	long delivered = 0;
	int ret;

	while (!__atomic_load_n((bool *)argument, __ATOMIC_RELAXED)) {
		ret = write_number(shared_event, 0, 7);
		delivered += !ret;
		if (ret && ret != -EBADF)
			return (void *)-1L;
	}
	return (void *)delivered;
}

static void test_release_under_load(void)
{
	struct elog_consumer *consumer = subscribe(1 << 16);
	long delivered = 0, read = 0;
	pthread_t threads[WRITERS];
	struct eventlog_stat stat = { .size = sizeof(stat) };
	struct elog_item item;
	bool stop = false;
	unsigned int i;
	void *result;

	check_equal(elog_producer_open(&shared_producer, NULL), 0);
	shared_event = add_event(shared_producer, "event u32 number");
	for (i = 0; i < WRITERS; i++)
		check_equal(pthread_create(&threads[i], NULL, write_on, &stop), 0);
	for (i = 0; i < 50; i++) {
		elog_producer_release(shared_producer, UINT_MAX);
		check_equal(elog_event_error(shared_event), -ENOTCONN);
		check_equal(elog_producer_connect(shared_producer), 0);
		check_equal(elog_event_error(shared_event), 0);
		read += read_batch(consumer, &item);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < WRITERS; i++) {
		pthread_join(threads[i], &result);
		check((long)result >= 0);
		delivered += (long)result;
	}
	read += read_batch(consumer, &item);
	check_equal(elog_consumer_stat(consumer, EVENTLOG_RINGS_ALL, 0, &stat), 0);
	check_equal(stat.records, read);
	check_equal(stat.records + stat.lost[EVENTLOG_LOST_NO_ROOM], delivered);
	check(delivered > 0);
	elog_producer_close(shared_producer);
	elog_consumer_close(consumer);
}

static bool set_online(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good;

	if (fd < 0)
		return false;
	good = write(fd, value, 1) == 1;
	close(fd);
	return good;
}

/* The ring of a CPU that comes online later is mapped when it is needed. */
static void test_new_cpu(void)
{
	static const char path[] = "/sys/devices/system/cpu/cpu1/online";
	/* The CPU of an event from a thread's ring is not known. */
	const struct elog_producer_options options = {
		.size = sizeof(options), .flags = ELOG_PRODUCER_NO_RINGS,
	};
	struct elog_consumer *consumer;
	struct elog_producer *producer;
	struct elog_event *event;
	struct elog_item item;
	cpu_set_t all, one;

	if (!set_online(path, "0")) {
		printf("# cpu1 cannot be taken offline: nothing tested\n");
		return;
	}
	consumer = subscribe(1 << 16);
	check_equal(elog_producer_open(&producer, &options), 0);
	event = add_event(producer, "event u32 number");
	check_equal(write_number(event, 0, 1), 0);
	check_equal(read_batch(consumer, &item), 1);
	check_equal(elog_consumer_pending(consumer), 0);
	check(set_online(path, "1"));

	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&one);
	CPU_SET(1, &one);
	check_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	check_equal(write_number(event, 0, 2), 0);
	check_equal(elog_consumer_pending(consumer), 1);
	check_equal(read_batch(consumer, &item), 1);
	check_equal(item.cpu, 1);
	check_equal(number_of(&item), 2);
	CPU_SET(1, &all);
	sched_setaffinity(0, sizeof(all), &all);
	check_equal(elog_consumer_pending(consumer), 0);
	elog_producer_close(producer);
	elog_consumer_close(consumer);
}

/* With more schema texts than the cache keeps, a dropped one is read again. */
static void test_many_definitions(void)
{
	/* Long names make long texts with few fields. */
	enum { EVENTS = 1400, FIELDS = 55, NAME = 63 };
	static uint32_t descriptors[EVENTS];
	const struct elog_schema_event *schema;
	uint64_t generation;
	static char command[FIELDS * (NAME + 8) + 32];
	struct elog_consumer *consumer;
	struct elog_producer *producer;
	struct elog_event *event;
	unsigned int i, field;
	size_t size;
	char name[16];

	consumer = subscribe(1 << 16);
	check_equal(elog_producer_open(&producer, NULL), 0);
	for (i = 0; i < EVENTS; i++) {
		size = (size_t)snprintf(command, sizeof(command), "event%u", i);
		for (field = 0; field < FIELDS; field++)
			size += (size_t)snprintf(command + size, sizeof(command) - size,
						 " u8 field%0*u;", NAME - 5, field);
		event = add_event(producer, command);
		descriptors[i] = elog_event_descriptor(event);
		elog_event_unregister(event);
	}
	generation = elog_consumer_generation(consumer);
	for (i = 0; i < 2 * EVENTS; i++) {
		snprintf(name, sizeof(name), "event%u", i % EVENTS);
		schema = NULL;
		check_equal(elog_consumer_describe(consumer,
						   descriptors[i % EVENTS],
						   &schema), 0);
		if (!schema)
			break;
		check_string(schema->name, name);
		check_equal(schema->field_count, FIELDS);
	}
	check(elog_consumer_generation(consumer) != generation);
	check_equal(elog_consumer_describe(consumer, UINT32_MAX, &schema), -ENOENT);
	elog_producer_close(producer);
	elog_consumer_close(consumer);
}

/* The rings of shards are the last ones, and have no CPU; parts divide them, too. */
static void test_shards(void)
{
	const struct elog_part_options half = { .size = sizeof(half), .part = 1, .parts = 2 };
	struct elog_consumer *consumer = subscribe(1 << 16), *part = NULL;
	unsigned int rings = elog_consumer_rings(consumer), ring, cpus;
	uint64_t position;
	const void *data;
	size_t size;

	check(elog_consumer_shards(consumer) >= 1 && elog_consumer_shards(consumer) < rings);
	cpus = rings - elog_consumer_shards(consumer);
	check_equal(elog_consumer_ring_cpu(consumer, 0), 0);
	for (ring = 0; ring < cpus; ring++)
		check(elog_consumer_ring_cpu(consumer, ring) == ring ||
		      elog_consumer_ring_cpu(consumer, ring) == EVENTLOG_CPU_UNKNOWN);
	for (; ring < rings; ring++) {
		check_equal(elog_consumer_ring_cpu(consumer, ring), EVENTLOG_CPU_UNKNOWN);
		check_equal(elog_consumer_raw(consumer, ring, &data, &size, &position), 0);
	}
	check_equal(elog_consumer_raw(consumer, rings, &data, &size, &position), -EINVAL);
	check_equal(elog_consumer_part_open(&part, consumer, &half), 0);
	for (ring = 0; part && ring < rings; ring++)
		check_equal(elog_consumer_raw(part, ring, &data, &size, &position),
			    ring % 2 ? 0 : -EINVAL);
	check(part && elog_consumer_shards(part) == elog_consumer_shards(consumer));
	elog_consumer_close(part);
	elog_consumer_close(consumer);
}

/* A subscriber without rings only enables events. */
static void test_no_rings(void)
{
	struct elog_consumer_options options = {
		.size = sizeof(options), .flags = ELOG_CONSUMER_NO_RINGS,
	};
	const struct elog_rule rule = {
		.size = sizeof(rule), .provider = "libelog_*",
	};
	struct elog_consumer *consumer = NULL;
	const struct elog_schema_event *schema;
	struct elog_producer *producer;
	struct elog_event *event;
	struct eventlog_stat stat = { .size = sizeof(stat) };
	struct elog_item item;

	options.ring_bytes = 1 << 16;
	check_equal(elog_consumer_open(&consumer, &options), -EINVAL);
	options.ring_bytes = 0;
	options.watermark = 1;
	check_equal(elog_consumer_open(&consumer, &options), -EINVAL);
	options.watermark = 0;
	options.flags |= ELOG_CONSUMER_OVERWRITE;
	check_equal(elog_consumer_open(&consumer, &options), -EINVAL);
	options.flags = ELOG_CONSUMER_NO_RINGS;
	check_equal(elog_consumer_open(&consumer, &options), 0);
	if (!consumer)
		return;
	check_equal(elog_consumer_rule_add(consumer, &rule, NULL), 0);
	check_equal(elog_producer_open(&producer, NULL), 0);
	event = add_event(producer, "enabled u32 number");
	check(becomes_enabled(event));
	check_equal(write_number(event, 0, 1), 0);
	check_equal(elog_consumer_rings(consumer), 0);
	check_equal(elog_consumer_shards(consumer), 0);
	check_equal(elog_consumer_ring_cpu(consumer, 0), EVENTLOG_CPU_UNKNOWN);
	check_equal(elog_consumer_wait(consumer, 0, NULL), 0);
	check_equal(elog_consumer_pending(consumer), 0);
	check_equal(elog_consumer_flush(consumer), 0);
	check_equal(elog_consumer_next(consumer, &item), 0);
	check_equal(elog_consumer_stat(consumer, EVENTLOG_RINGS_ALL, 0, &stat), 0);
	check_equal(stat.records, 0);
	check_equal(stat.lost[EVENTLOG_LOST_NO_MEMORY], 0);
	check_equal(elog_consumer_describe(consumer, elog_event_descriptor(event),
					   &schema), 0);
	elog_consumer_close(consumer);
	check(!elog_event_enabled(event));
	elog_producer_close(producer);
}

/* A persistent event stays until it is deleted; DELETE removes all definitions or none. */
static void test_delete(void)
{
	static const char *const commands[] = { "lasting u32 x", "lasting u64 x" };
	struct elog_event *events[ELOG_ARRAY_SIZE(commands)] = { 0 };
	struct eventlog_describe request = { .size = sizeof(request) };
	struct elog_producer *producer;
	int fd = elog_device_open(NULL);
	unsigned int i;
	char *text;

	check(fd >= 0);
	check_equal(elog_producer_open(&producer, NULL), 0);
	for (i = 0; i < ELOG_ARRAY_SIZE(commands); i++)
		check_equal(elog_event_register(producer, "libelog_test", commands[i],
						0, 0, EVENTLOG_REGISTER_PERSIST,
						&events[i]), 0);
	request.descriptor = elog_event_descriptor(events[0]);
	elog_event_unregister(events[0]);
	check_equal(elog_device_delete(fd, "libelog_test", "lasting"), -EBUSY);
	elog_event_unregister(events[1]);
	check_equal(elog_device_describe(fd, &request, &text), 0);
	check(request.state & EVENTLOG_DESCRIBED_PERSIST);
	free(text);
	check_equal(elog_device_delete(fd, NULL, "lasting"), -ENOENT);
	/* A name, not a glob. */
	check_equal(elog_device_delete(fd, "libelog_test", "last*"), -ENOENT);
	check_equal(elog_device_delete(fd, "libelog_test", "last\n"), -EINVAL);
	check_equal(elog_device_delete(fd, "libelog_test", "lasting"), 0);
	check_equal(elog_device_delete(fd, "libelog_test", "lasting"), -ENOENT);
	check_equal(elog_device_describe(fd, &request, &text), -ENOENT);
	elog_producer_close(producer);
	close(fd);
}

/* With a backlog of any size everything works as without. */
static void test_with_backlog(void)
{
	static const uint64_t sizes[] = { 1, 1 << 15, 1 << 22 };
	size_t i;

	for (i = 0; i < ELOG_ARRAY_SIZE(sizes); i++) {
		backlog_bytes = sizes[i];
		test_rejected_payloads();
		test_wrap();
		/* The largest backlog holds all events, so nothing is lost. */
		if (sizes[i] <= 1 << 15)
			test_loss();
		test_threads();
		test_new_cpu();
		/* The cache of definitions does not depend on the size. */
		if (sizes[i] == 1 << 15)
			test_many_definitions();
	}
	backlog_bytes = 0;
}

/* The backlog holds more than a ring, with the definition and the thread's name. */
static void test_backlog(void)
{
	enum { CHUNK = 256, CHUNKS = 16 };
	struct elog_processes *processes = elog_processes_new();
	struct elog_consumer_options options = {
		.size = sizeof(options),
		.ring_bytes = 1 << 16,
		.watermark = 1 << 13,
		.backlog_bytes = 1 << 18,
		.processes = processes,
	};
	const struct elog_rule rule = {
		.size = sizeof(rule), .provider = "libelog_*",
	};
	struct eventlog_describe request = { .size = sizeof(request) };
	uint64_t position, counts[EVENTLOG_LOST_CAUSES];
	struct elog_consumer *consumer;
	struct elog_producer *producer;
	uint32_t next = 0, wrong = 0;
	struct elog_event *event;
	struct elog_item item;
	cpu_set_t all, one;
	const void *data;
	unsigned int i;
	char *text;
	size_t size;

	options.flags = ELOG_CONSUMER_OVERWRITE;
	check_equal(elog_consumer_open(&consumer, &options), -EINVAL);
	options.flags = 0;
	options.backlog_bytes = ELOG_BACKLOG_MAX + 1;
	check_equal(elog_consumer_open(&consumer, &options), -EINVAL);
	options.backlog_bytes = 1 << 18;
	check_equal(elog_consumer_open(&consumer, &options), 0);
	check_equal(elog_consumer_rule_add(consumer, &rule, NULL), 0);
	check_equal(elog_consumer_raw(consumer, 0, &data, &size, &position), -EINVAL);
	check_equal(elog_consumer_raw_release(consumer, 0, 0), -EINVAL);
	check_equal(elog_consumer_raw_flush(consumer), -EINVAL);
	check_equal(elog_consumer_raw_lost(consumer, 0, counts, EVENTLOG_LOST_CAUSES), -EINVAL);

	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	check_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	check_equal(elog_producer_open(&producer, NULL), 0);
	event = add_event(producer, "event u32 number");
	request.descriptor = elog_event_descriptor(event);
	for (i = 0; i < CHUNK * CHUNKS; i++) {
		check_equal(write_number(event, 0, i), 0);
		if (i % CHUNK == CHUNK - 1)
			check_equal(elog_consumer_wait(consumer, 60000, NULL), 1);
	}
	sched_setaffinity(0, sizeof(all), &all);
	elog_event_unregister(event);
	check_equal(elog_consumer_pending(consumer), 1);
	check_equal(elog_consumer_flush(consumer), 0);
	while (elog_consumer_next(consumer, &item) > 0) {
		wrong += item.type != ELOG_ITEM_EVENT || number_of(&item) != next++;
		/* Try the last record of each chunk. */
		if (next % CHUNK == 0)
			check_equal(elog_consumer_definition(consumer, &request, &text), 0);
		else
			continue;
		check(strstr(text, "event") && request.provider_id);
		free(text);
	}
	check_equal(wrong, 0);
	check_equal(next, CHUNK * CHUNKS);
	check_equal(elog_consumer_pending(consumer), 0);
	check_string(elog_processes_name(processes, (uint32_t)getpid(),
					 (uint32_t)getpid()), "libelog_device_");
	request.descriptor = UINT32_MAX;
	check_equal(elog_consumer_definition(consumer, &request, &text), -ENOENT);

	/* Close the consumer while its backlog holds events. */
	event = add_event(producer, "event u32 number");
	check_equal(write_number(event, 0, 0), 0);
	check_equal(read_batch(consumer, &item), 1);
	for (i = 0; i < 3 * CHUNK; i++)
		check_equal(write_number(event, 0, i), 0);
	elog_producer_close(producer);
	elog_consumer_close(consumer);
	elog_processes_free(processes);
}

/* Room for a struct that a newer program has, filled to notice wrong writes. */
union sized {
	uint32_t size;
	struct eventlog_version version;
	struct eventlog_counts counts;
	struct eventlog_stat stat;
	struct eventlog_describe describe;
	unsigned char bytes[512];
};

static void set_size(union sized *sized, size_t size)
{
	memset(sized, 0xa5, sizeof(*sized));
	sized->size = (uint32_t)size;
}

/* The first @size bytes are those of @whole, or 0 behind its size. */
static bool is_cut(const union sized *sized, size_t size, const union sized *whole)
{
	size_t i;

	for (i = sizeof(uint32_t); i < size; i++)
		if (sized->bytes[i] != (i < whole->size ? whole->bytes[i] : 0))
			return false;
	for (; i < sizeof(*sized); i++)
		if (sized->bytes[i] != 0xa5)
			return false;
	return sized->size == size;
}

/* What is behind the size that the caller sets belongs to the caller. */
static void test_sizes(void)
{
	const struct elog_rule rule = { .size = sizeof(rule), .provider = "libelog_*" };
	union sized sized, whole;
	struct elog_consumer *consumer;
	struct elog_producer *producer;
	struct elog_event *event;
	char *text;
	size_t size;
	int fd;

	check_equal(elog_consumer_open(&consumer, NULL), 0);
	check_equal(elog_consumer_rule_add(consumer, &rule, NULL), 0);
	check_equal(elog_producer_open(&producer, NULL), 0);
	event = add_event(producer, "sized u32 number");
	check_equal(write_number(event, 0, 1), 0);
	fd = elog_consumer_fd(consumer);

	set_size(&whole, sizeof(whole.version));
	check_equal(elog_device_version(fd, &whole.version), 0);
	check_equal(whole.version.abi, EVENTLOG_ABI_VERSION);
	for (size = 8; size < 300; size += 4) {
		set_size(&sized, size);
		check_equal(elog_device_version(fd, &sized.version), 0);
		check(is_cut(&sized, size, &whole));
	}
	set_size(&whole, sizeof(whole.counts));
	check_equal(elog_device_counts(fd, &whole.counts), 0);
	check(whole.counts.events > 0);
	for (size = 32; size < 300; size += 4) {
		set_size(&sized, size);
		check_equal(elog_device_counts(fd, &sized.counts), 0);
		check(is_cut(&sized, size, &whole));
	}
	set_size(&whole, sizeof(whole.stat));
	check_equal(elog_consumer_stat(consumer, EVENTLOG_RINGS_ALL, 0, &whole.stat), 0);
	check_equal(whole.stat.records, 1);
	for (size = 200; size < 400; size += 4) {
		set_size(&sized, size);
		check_equal(elog_consumer_stat(consumer, EVENTLOG_RINGS_ALL, 0, &sized.stat), 0);
		check(is_cut(&sized, size, &whole));
	}
	set_size(&sized, 196);
	check_equal(elog_consumer_stat(consumer, EVENTLOG_RINGS_ALL, 0, &sized.stat), -EINVAL);
	check(sized.bytes[4] == 0xa5);
	set_size(&sized, 7);
	check_equal(elog_device_version(fd, &sized.version), -EINVAL);
	set_size(&sized, 31);
	check_equal(elog_device_counts(fd, &sized.counts), -EINVAL);

	memset(&whole, 0, sizeof(whole));
	whole.size = sizeof(whole.describe);
	whole.describe.descriptor = elog_event_descriptor(event);
	check_equal(elog_device_describe(fd, &whole.describe, &text), 0);
	free(text);
	check(whole.describe.provider_id > 0);
	for (size = 36; size < 300; size += 4) {
		set_size(&sized, size);
		memset(sized.bytes + sizeof(uint32_t), 0, size - sizeof(uint32_t));
		sized.describe.descriptor = elog_event_descriptor(event);
		check_equal(elog_device_describe(fd, &sized.describe, &text), 0);
		check(is_cut(&sized, size, &whole));
		free(text);
	}
	sized.bytes[size - 5] = 1;
	check_equal(elog_device_describe(fd, &sized.describe, &text), -E2BIG);
	sized.size = 35;
	check_equal(elog_device_describe(fd, &sized.describe, &text), -EINVAL);
	elog_producer_close(producer);
	elog_consumer_close(consumer);
}

int main(void)
{
	static const struct test tests[] = {
		{ "a producer survives the absence of the module", test_absent_module },
		{ "a forked child uses a file of its own", test_fork },
		{ "typed events", test_typed_events },
		{ "an event waits until the system has room", test_limit_of_system },
		{ "an event waits until its user has room", test_limit_of_user },
		{ "changed schemas are rejected, or can be read", test_changed_schemas },
		{ "bad payloads are rejected", test_rejected_payloads },
		{ "small and large payloads, in one part or many", test_payload_sizes },
		{ "an event has the same time in several rings", test_shared_time },
		{ "rings wrap", test_wrap },
		{ "a loss is reported once", test_loss },
		{ "several threads write in order", test_threads },
		{ "the device is released under load", test_release_under_load },
		{ "a CPU comes online", test_new_cpu },
		{ "dropped definitions are read again", test_many_definitions },
		{ "rings of shards", test_shards },
		{ "a subscriber without rings", test_no_rings },
		{ "a persistent event is deleted", test_delete },
		{ "results stay within the caller's structs", test_sizes },
		{ "everything works with a backlog", test_with_backlog },
		{ "a backlog holds more than a ring", test_backlog },
	};

	module_path = getenv("EVENTLOG_KO");
	if (geteuid() || !module_path) {
		printf("TAP version 13\n1..0 # SKIP needs root and EVENTLOG_KO\n");
		return 0;
	}
	return run_tests(tests, ELOG_ARRAY_SIZE(tests), reload_module);
}
