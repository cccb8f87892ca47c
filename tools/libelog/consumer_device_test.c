// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tests of libelog's consumers with the kernel module: payloads, threads, full and wrapping
 * rings, the backlog, CPUs that come online later. Prints TAP.
 */
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include "util/test_device.h"
#include "util/util.h"

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
		for (i = 0; i < 3; i++)
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
	struct elog_consumer *consumer;
	struct elog_producer *producer;
	uint32_t next = 0, wrong = 0;
	struct elog_event *event;
	struct elog_item item;
	cpu_set_t all, one;
	unsigned int i;
	char *text;

	options.flags = ELOG_CONSUMER_OVERWRITE;
	check_equal(elog_consumer_open(&consumer, &options), -EINVAL);
	options.flags = 0;
	options.backlog_bytes = ELOG_BACKLOG_MAX + 1;
	check_equal(elog_consumer_open(&consumer, &options), -EINVAL);
	options.backlog_bytes = 1 << 18;
	check_equal(elog_consumer_open(&consumer, &options), 0);
	check_equal(elog_consumer_rule_add(consumer, &rule, NULL), 0);

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
					 (uint32_t)getpid()), "consumer_device");
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

int main(void)
{
	static const struct test tests[] = {
		{ "bad payloads are rejected", test_rejected_payloads },
		{ "an event has the same time in several rings", test_shared_time },
		{ "rings wrap", test_wrap },
		{ "a loss is reported once", test_loss },
		{ "several threads write in order", test_threads },
		{ "the device is released under load", test_release_under_load },
		{ "a CPU comes online", test_new_cpu },
		{ "dropped definitions are read again", test_many_definitions },
		{ "a subscriber without rings", test_no_rings },
		{ "everything works with a backlog", test_with_backlog },
		{ "a backlog holds more than a ring", test_backlog },
	};

	return run_device_tests(tests, ELOG_ARRAY_SIZE(tests));
}
