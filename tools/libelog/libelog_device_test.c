// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tests of libelog with the kernel module: producers that outlive the module, forks, limits,
 * definitions, and the structs of the device's functions. Prints TAP.
 */
#include <limits.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "util/test_device.h"
#include "util/struct.h"
#include "util/util.h"

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

/* Create an instance that can be opened as /dev/eventlog-NAME, and return its id. */
static uint32_t create_instance(const char *name)
{
	struct eventlog_instance_create request = { .size = sizeof(request), .mode = 0600 };
	int fd = elog_device_open(EVENTLOG_DEVICE), instance;

	instance = elog_instance_create(fd, name, &request);
	check(instance >= 0);
	close(instance);
	close(fd);
	return request.id;
}

static void delete_instance(uint32_t id)
{
	int fd = elog_device_open(EVENTLOG_DEVICE);

	check_equal(elog_instance_delete(fd, id), 0);
	close(fd);
}

static void test_instances(void)
{
	struct eventlog_instance_create request = { .size = sizeof(request), .mode = 0600 };
	struct eventlog_instance_info next = { .size = sizeof(next) };
	int fd = elog_device_open(EVENTLOG_DEVICE), instance, other;
	struct elog_list *list;
	const char *name;

	request.size = 4;
	check_equal(elog_instance_create(fd, "one", &request), -EINVAL);
	request.size = sizeof(request);
	check_equal(elog_instance_create(fd, "/", &request), -EINVAL);
	check_equal(elog_instance_create(fd, NULL, &request), -EFAULT);
	check_equal(elog_list_open(fd, EVENTLOG_LIST_INSTANCES, 0, &list), 0);
	check_equal(elog_list_next(list, &next, &name), -ENOENT);
	elog_list_close(list);
	check_equal(elog_instance_delete(fd, 0), -ENOENT);
	check_equal(elog_instance_open(fd, 1), -ENOENT);
	/* Another file of the root. */
	other = elog_instance_open(fd, 0);
	check(other >= 0);
	close(other);

	instance = elog_instance_create(fd, "one", &request);
	check(instance >= 0);
	check_equal(elog_instance_create(fd, "one", &request), -EEXIST);
	check_equal(elog_list_open(fd, EVENTLOG_LIST_INSTANCES, 0, &list), 0);
	next.size = 7;
	check_equal(elog_list_next(list, &next, &name), -EINVAL);
	next.size = sizeof(next);
	check_equal(elog_list_next(list, &next, &name), 0);
	check(!strcmp(name, "one"));
	check_equal(next.size, sizeof(next));
	check_equal(next.id, request.id);
	check_equal(next.mode, 0600);
	check_equal(next.files, 1);
	check_equal(elog_list_next(list, &next, NULL), -ENOENT);
	elog_list_close(list);
	check_equal(elog_list_open(fd, EVENTLOG_LIST_INSTANCES, request.id, &list), 0);
	check_equal(elog_list_next(list, &next, NULL), -ENOENT);
	elog_list_close(list);

	/* A file of the instance opens others, and manages nothing. */
	other = elog_instance_open(instance, 0);
	check(other >= 0);
	close(other);
	check_equal(elog_instance_create(instance, "two", &request), -EPERM);
	check_equal(elog_instance_delete(instance, request.id), -EPERM);
	check_equal(elog_instance_delete(fd, request.id), 0);
	check_equal(elog_instance_delete(fd, request.id), -ENOENT);
	check_equal(elog_instance_open(fd, request.id), -ENOENT);
	check_equal(elog_instance_open(instance, 0), -ENODEV);
	close(instance);
	close(fd);
}

/* Subscribe to all events of an instance. */
static struct elog_consumer *subscribe_instance(const char *device)
{
	const struct elog_consumer_options options = {
		.size = sizeof(options), .ring_bytes = 1 << 16, .device = device,
	};
	const struct elog_rule rule = { .size = sizeof(rule) };
	struct elog_consumer *consumer = NULL;

	check_equal(elog_consumer_open(&consumer, &options), 0);
	if (!consumer)
		exit(1);
	check_equal(elog_consumer_rule_add(consumer, &rule, NULL), 0);
	return consumer;
}

/*
 * A producer outlives an instance, with and without rings, and uses the next one. The second
 * time, $ELOG_DEVICE names the device.
 */
static void test_deleted_instance(void)
{
	static const char device[] = "/dev/eventlog-libelog";
	struct elog_producer_options options = { .size = sizeof(options) };
	struct elog_consumer *consumer, *next;
	struct elog_producer *producer;
	struct elog_event *event;
	struct elog_item item;
	uint32_t id, round, i;

	for (round = 0; round < 2; round++) {
		options.flags = round ? ELOG_PRODUCER_NO_RINGS : 0;
		options.device = round ? NULL : device;
		if (round)
			setenv("ELOG_DEVICE", device, 1);
		check_equal(elog_producer_open(&producer, &options), 0);
		event = add_event(producer, "event u32 number");
		check(!elog_event_enabled(event));
		id = create_instance("libelog");
		check_equal(elog_producer_connect(producer), 0);
		consumer = subscribe_instance(options.device);
		check(becomes_enabled(event));
		/* So many that the thread gets a ring. */
		for (i = 0; i < 100; i++)
			check_equal(write_number(event, 0, i), 0);
		delete_instance(id);
		check_equal(elog_consumer_wait(consumer, -1, NULL), -ENODEV);
		check_equal(read_batch(consumer, &item), 100);
		check_equal(number_of(&item), 99);

		check_equal(write_number(event, 0, 100), -ENODEV);
		check(!elog_event_enabled(event));
		check_equal(write_number(event, 0, 101), -EBADF);
		id = create_instance("libelog");
		next = subscribe_instance(device);
		check(becomes_enabled(event));
		check_equal(write_number(event, 0, 102), 0);
		check_equal(read_batch(next, &item), 1);
		check_equal(number_of(&item), 102);
		elog_consumer_close(consumer);
		elog_consumer_close(next);
		elog_producer_close(producer);
		delete_instance(id);
	}
	/* An empty variable is as none. */
	setenv("ELOG_DEVICE", "", 1);
	check_equal(elog_producer_open(&producer, NULL), 0);
	check_equal(elog_producer_connect(producer), 0);
	elog_producer_close(producer);
	unsetenv("ELOG_DEVICE");
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

/* Every call of the program and of the library is this one. */
static bool is_old_module;

int ioctl(int fd, unsigned long request, ...)
{
	const struct eventlog_register *registration;
	const char *line;
	va_list arguments;

	va_start(arguments, request);
	registration = va_arg(arguments, void *);
	va_end(arguments);
	/* What the first modules do with an attribute. */
	if (is_old_module && request == EVENTLOG_IOC_REGISTER) {
		line = strstr((const char *)(uintptr_t)registration->command, "\nevent ");
		if (line && strstr(line, " - start")) {
			errno = EINVAL;
			return -1;
		}
	}
	return (int)syscall(SYS_ioctl, fd, request, registration);
}

static void check_attribute(struct elog_producer *producer, const char *schema,
			    unsigned int attribute)
{
	struct elog_consumer *consumer = subscribe(1 << 16);
	const struct elog_schema_event *seen;
	struct elog_event *event;
	struct elog_item item;

	check_equal(elog_event_register_schema(producer, schema, 0, &event), 0);
	check_equal(elog_event_write(event, 5, NULL, 0), 0);
	check_equal(read_batch(consumer, &item), 1);
	check_equal(elog_consumer_describe(consumer, item.descriptor, &seen), 0);
	check(!strcmp(seen->name, "start") && !strcmp(seen->description, "start"));
	check_equal(seen->attribute, attribute);
	elog_event_unregister(event);
	elog_consumer_close(consumer);
}

/* An older module gets the schema without the word that it does not know. */
static void test_attributes(void)
{
	const char *schema = TYPED_HEAD "event 1 start info - start \"start\"\n";
	struct elog_producer *producer;
	struct elog_event *event;

	check_equal(elog_producer_open(&producer, NULL), 0);
	check_attribute(producer, schema, EVENTLOG_ATTRIBUTE_START);
	is_old_module = true;
	check_attribute(producer, schema, 0);
	/* Nothing else is left out. */
	check_equal(elog_event_register_schema(producer, TYPED_HEAD "event 1 a info - started\n", 0,
					       &event), -EINVAL);
	is_old_module = false;
	elog_producer_close(producer);
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

#define DEFINITIONS	1000

/* A list has what elog_device_describe() returns, in the same order. */
static void check_definitions(int fd)
{
	struct eventlog_describe request = { .size = sizeof(request) };
	struct eventlog_definition definition = { .size = sizeof(definition) };
	struct elog_list *definitions;
	unsigned int count = 0;
	const char *listed;
	char *text;
	int ret;

	check_equal(elog_list_open(fd, EVENTLOG_LIST_DEFINITIONS, 0, &definitions), 0);
	while (!(ret = elog_list_next(definitions, &definition, &listed))) {
		request.descriptor = definition.descriptor;
		check_equal(elog_device_describe(fd, &request, &text), 0);
		check_equal(definition.state, request.state);
		check_equal(definition.provider_id, request.provider_id);
		check_equal(strlen(listed) + 1, request.text_size);
		check(!strcmp(listed, text));
		free(text);
		count++;
	}
	check_equal(ret, -ENOENT);
	check_equal(count, DEFINITIONS + 1);
	check_equal(elog_list_next(definitions, &definition, &listed), -ENOENT);
	definition.size = sizeof(struct eventlog_element) - 1;
	check_equal(elog_list_next(definitions, &definition, &listed), -EINVAL);
	elog_list_close(definitions);
}

static void test_definitions(void)
{
	static char schema[EVENTLOG_SCHEMA_MAX];
	static const char end[] = "\"\nevent 7 long info -\n";
	struct elog_producer *producer;
	struct elog_event *event;
	int fd = elog_device_open(NULL);
	char command[64];
	unsigned int i;

	check_equal(elog_producer_open(&producer, NULL), 0);
	for (i = 0; i < DEFINITIONS; i++) {
		snprintf(command, sizeof(command), "listed_%u u32 x", i);
		check_equal(elog_event_register(producer, "libelog_test", command, 0, 0, 0,
						&event), 0);
	}
	/* One that is larger than the buffer of the library. */
	memset(schema, 'x', sizeof(schema));
	memcpy(schema, TYPED_HEAD, strlen(TYPED_HEAD) - 1);
	memcpy(schema + strlen(TYPED_HEAD) - 1, " \"", 2);
	memcpy(schema + sizeof(schema) - sizeof(end), end, sizeof(end));
	check_equal(elog_event_register_schema(producer, schema, 0, &event), 0);
	check_definitions(fd);
	elog_producer_close(producer);
	close(fd);
}

/* Room for a struct that a newer program has, filled to notice wrong writes. */
union sized {
	uint32_t size;
	struct eventlog_info info;
	struct eventlog_stat stat;
	struct eventlog_describe describe;
	unsigned char bytes[1024];
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

	set_size(&whole, sizeof(whole.info));
	check_equal(elog_device_info(fd, &whole.info), 0);
	check_equal(whole.info.abi, EVENTLOG_ABI_VERSION);
	check(whole.info.events > 0);
	for (size = 8; size < 600; size += 4) {
		set_size(&sized, size);
		check_equal(elog_device_info(fd, &sized.info), 0);
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
	check_equal(elog_device_info(fd, &sized.info), -EINVAL);

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

#define WRONG_WAYS 6

/* Emit "event u32 number; __data_loc char[] text" with wrong arguments, in one of the ways. */
static int emit_wrong(const struct elog_event *event, unsigned int way)
{
	static char large[EVENTLOG_PAYLOAD_MAX];
	uint32_t fields[2] = { 1, 1 << 16 | 9 };
	struct iovec parts[ELOG_IOV_MAX + 1] = {
		{ fields, sizeof(fields) }, { large, sizeof(large) },
	};
	struct elog_payload payload;
	char buffer[16];

	switch (way) {
	case 0:		/* too many parts */
		return elog_event_write(event, 0, parts, ELOG_IOV_MAX + 1);
	case 1:		/* a field is missing */
		parts[0].iov_len = 4;
		return elog_event_write(event, 0, parts, 1);
	case 2:		/* the text is outside */
		return elog_event_write(event, 0, parts, 1);
	case 3:
		return elog_event_write(event, 0, parts, 2);
	case 4:		/* the buffer has no room for the text */
		elog_payload_init(&payload, buffer, sizeof(buffer));
		elog_payload_u32(&payload, 1);
		elog_payload_string(&payload, "a text");
		return elog_event_emit(event, 0, &payload);
	default:	/* a binding has found it */
		elog_event_invalid(event);
		return 0;
	}
}

static int emit_right(const struct elog_event *event)
{
	uint32_t fields[3] = { 1, 1 << 16 | 8, 0 };
	struct iovec part = { fields, sizeof(fields) };

	return elog_event_write(event, 0, &part, 1);
}

/* Records are counted at once, or when the ring is drained, before read_batch() returns. */
static void check_invalid(struct elog_consumer *consumer, const struct elog_event *event,
			  uint64_t invalid)
{
	struct eventlog_stat stat = { .size = sizeof(stat) };
	struct elog_item item;

	read_batch(consumer, &item);
	check_equal(elog_consumer_stat(consumer, EVENTLOG_RINGS_ALL,
				       elog_event_descriptor(event), &stat), 0);
	check_equal(stat.lost[EVENTLOG_LOST_ABORTED], invalid);
	check_equal(stat.event_lost, invalid);
	check_equal(elog_consumer_stat(consumer, EVENTLOG_RINGS_ALL, 0, &stat), 0);
	check_equal(stat.lost[EVENTLOG_LOST_ABORTED], invalid);
}

/*
 * Wrong arguments, by the way in which the event is emitted. The thread has a ring after some
 * events, unless ELOG_STRICT=1.
 */
static void test_invalid(void)
{
	static const int results[][WRONG_WAYS] = {
		/* disabled */
		{ -EINVAL, -EBADF, -EBADF, -EBADF, -ENOBUFS, 0 },
		/* with write(2), or strict */
		{ -EINVAL, -EINVAL, -EBADMSG, -E2BIG, -ENOBUFS, 0 },
		/* to a ring */
		{ -EINVAL, 0, 0, -E2BIG, -ENOBUFS, 0 },
	};
	struct elog_producer *producer;
	struct elog_consumer *consumer;
	const char *rings = getenv("ELOG_RINGS");
	struct elog_event *event;
	unsigned int strict, i;

	unsetenv("ELOG_RINGS");
	for (strict = 0; strict < 2; strict++) {
		setenv("ELOG_STRICT", strict ? "1" : "0", 1);
		check_equal(elog_producer_open(&producer, NULL), 0);
		event = add_event(producer, "event u32 number; __data_loc char[] text");
		for (i = 0; i < WRONG_WAYS; i++)
			check_equal(emit_wrong(event, i), results[0][i]);
		consumer = subscribe(1 << 20);
		check_invalid(consumer, event, 0);
		for (i = 0; i < WRONG_WAYS; i++)
			check_equal(emit_wrong(event, i), results[1][i]);
		check_invalid(consumer, event, WRONG_WAYS);
		for (i = 0; i < 64; i++)
			check_equal(emit_right(event), 0);
		check_invalid(consumer, event, WRONG_WAYS);
		for (i = 0; i < WRONG_WAYS; i++)
			check_equal(emit_wrong(event, i), results[strict ? 1 : 2][i]);
		check_invalid(consumer, event, 2 * WRONG_WAYS);
		/* The thread's ring has events. */
		check_equal(emit_right(event), 0);
		check_equal(emit_wrong(event, 3), -E2BIG);
		check_invalid(consumer, event, 2 * WRONG_WAYS + 1);
		elog_consumer_close(consumer);
		elog_producer_close(producer);
	}
	unsetenv("ELOG_STRICT");
	if (rings)
		setenv("ELOG_RINGS", rings, 1);
}

int main(void)
{
	static const struct test tests[] = {
		{ "a producer survives the absence of the module", test_absent_module },
		{ "instances are created, listed, opened and deleted", test_instances },
		{ "a producer outlives an instance", test_deleted_instance },
		{ "a forked child uses a file of its own", test_fork },
		{ "typed events", test_typed_events },
		{ "attributes of events, also with an old module", test_attributes },
		{ "an event waits until the system has room", test_limit_of_system },
		{ "an event waits until its user has room", test_limit_of_user },
		{ "changed schemas are rejected, or can be read", test_changed_schemas },
		{ "small and large payloads, in one part or many", test_payload_sizes },
		{ "wrong arguments are dropped and counted", test_invalid },
		{ "a persistent event is deleted", test_delete },
		{ "all definitions are listed, also with an old module", test_definitions },
		{ "results stay within the caller's structs", test_sizes },
	};

	return run_device_tests(tests, ELOG_ARRAY_SIZE(tests));
}
