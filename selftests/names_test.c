// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of LIST of names: the names of threads that have records in a ring, of threads that
 * have exited, too.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eventlog_common.h"

#define RING_BYTES (16 * page_size())

static int try_names(int fd, unsigned int cpu, __u64 since, struct eventlog_name *names,
		     __u32 *count)
{
	struct eventlog_list list = list_request(EVENTLOG_LIST_NAMES, names,
						 *count * sizeof(*names));
	int ret;

	list.ring = cpu;
	list.since = since;
	ret = ioctl(fd, EVENTLOG_IOC_LIST, &list);
	if (!ret) {
		CHECK_EQ(list.buffer_size, list.count * sizeof(*names));
		*count = list.count;
	}
	return ret;
}

/* All names of a CPU. */
static unsigned int names_of(int fd, unsigned int cpu, __u64 since, struct eventlog_name *names)
{
	__u32 count = EVENTLOG_NAMES_MAX;

	CHECK_OK(try_names(fd, cpu, since, names, &count));
	CHECK(count <= EVENTLOG_NAMES_MAX);
	return count;
}

/* Writes an event with this name of the thread, on this CPU. */
static void write_as(int fd, __u32 index, unsigned int cpu, const char *name)
{
	cpu_pin(cpu);
	CHECK_OK(prctl(PR_SET_NAME, name));
	CHECK_OK(emit(fd, index, "", 0));
}

TEST(names_rejects_bad_values)
{
	struct eventlog_list list = list_request(EVENTLOG_LIST_NAMES, NULL, 0);
	struct eventlog_subscribe subscribe = subscribe_request(0);
	struct eventlog_name names[2];
	struct eventlog_register event;
	struct consumer consumer;
	unsigned int cpus[1];
	int fd = device_open(), empty = device_open();
	__u32 count;

	/* Neither a file without a role, nor a producer. */
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_LIST, &list), EINVAL);
	event = register_event(fd, "event");
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_LIST, &list), EINVAL);
	/* No rings. */
	CHECK_OK(ioctl(empty, EVENTLOG_IOC_SUBSCRIBE, &subscribe));
	CHECK_ERRNO(ioctl(empty, EVENTLOG_IOC_LIST, &list), ENXIO);
	close(empty);

	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, NULL);
	CHECK(cpus_allowed(cpus, 1));
	list.ring = cpus[0];
	CHECK_OK(ioctl(consumer.fd, EVENTLOG_IOC_LIST, &list));
	CHECK_EQ(list.count, 0);
	CHECK_EQ(list.cursor, 0);
	count = 2;
	CHECK_ERRNO(try_names(consumer.fd, consumer.setup.rings, 0, names, &count), ENXIO);
	CHECK_ERRNO(try_names(consumer.fd, -1, 0, names, &count), ENXIO);

	/* Too little room: the size needed, and no names. */
	write_as(fd, event.write_index, cpus[0], "another");
	memset(names, 0xa5, sizeof(names));
	list.buffer = PTR(names);
	list.buffer_size = sizeof(names[0]) - 1;
	CHECK_ERRNO(ioctl(consumer.fd, EVENTLOG_IOC_LIST, &list), EMSGSIZE);
	CHECK_EQ(list.buffer_size, sizeof(names[0]));
	CHECK_EQ(names[0].tid, 0xa5a5a5a5);
	CHECK_ERRNO(try_names(consumer.fd, cpus[0], 0, pages_unmapped(), &count), EFAULT);
	CHECK_ERRNO(try_names(consumer.fd, cpus[0], 0, NULL, &count), EFAULT);
	CHECK_OK(try_names(consumer.fd, cpus[0], 0, names, &count));
	CHECK_EQ(count, 1);
	CHECK_EQ(names[0].size, sizeof(names[0]));
	CHECK_EQ(names[0].text_offset, sizeof(names[0]));
	CHECK_EQ(names[1].tid, 0xa5a5a5a5);
	consumer_close(&consumer);
	close(fd);
}

/* Names that do not fit come with the next call. */
TEST(names_in_several_calls)
{
	struct eventlog_list list;
	struct eventlog_name name;
	struct eventlog_register event;
	struct consumer consumer;
	unsigned int cpus[1], count = 0, i;
	int fd = device_open();
	pid_t child;

	CHECK(cpus_allowed(cpus, 1));
	event = register_event(fd, "event");
	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, NULL);
	for (i = 0; i < 3; i++) {
		child = test_fork();
		if (!child) {
			write_as(fd, event.write_index, cpus[0], "one of several");
			_exit(0);
		}
		test_join(child);
	}
	list = list_request(EVENTLOG_LIST_NAMES, &name, 0);
	list.ring = cpus[0];
	do {
		list.buffer_size = sizeof(name);
		CHECK_OK(ioctl(consumer.fd, EVENTLOG_IOC_LIST, &list));
		CHECK(list.count <= 1);
		CHECK(!list.count || !strcmp(name.comm, "one of several"));
		count += list.count;
	} while (list.cursor);
	CHECK_EQ(count, 3);
	consumer_close(&consumer);
	close(fd);
}

TEST(names_of_threads_that_have_exited)
{
	struct eventlog_name names[EVENTLOG_NAMES_MAX];
	struct eventlog_register event;
	struct consumer consumer;
	struct record record;
	unsigned int cpus[1];
	int fd = device_open();
	pid_t silent, child;
	__u64 time;

	CHECK(cpus_allowed(cpus, 1));
	event = register_event(fd, "event");
	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, NULL);
	CHECK_EQ(names_of(consumer.fd, cpus[0], 0, names), 0);
	silent = test_fork();
	if (!silent)
		_exit(0);
	test_join(silent);
	child = test_fork();
	if (!child) {
		write_as(fd, event.write_index, cpus[0], "before");
		write_as(fd, event.write_index, cpus[0], "fifteen letters");
		_exit(0);
	}
	test_join(child);
	/* Only the thread with records, and its last name. */
	CHECK_EQ(names_of(consumer.fd, cpus[0], 0, names), 1);
	CHECK_EQ(names[0].pid, child);
	CHECK_EQ(names[0].tid, child);
	CHECK(!strcmp(names[0].comm, "fifteen letters"));
	CHECK(consumer_next(&consumer, &record));
	CHECK(record.header->time <= names[0].time);
	CHECK(consumer_next(&consumer, &record));
	CHECK_EQ(record.header->time, names[0].time);
	time = names[0].time;
	CHECK_EQ(names_of(consumer.fd, cpus[0], time, names), 1);
	CHECK_EQ(names_of(consumer.fd, cpus[0], time + 1, names), 0);
	CHECK_EQ(names_of(consumer.fd, cpus[0], -1ULL, names), 0);

	/* The same name again changes nothing. */
	write_as(fd, event.write_index, cpus[0], "parent");
	CHECK_EQ(names_of(consumer.fd, cpus[0], time + 1, names), 1);
	CHECK_EQ(names[0].tid, thread_id());
	time = names[0].time;
	write_as(fd, event.write_index, cpus[0], "parent");
	CHECK_EQ(names_of(consumer.fd, cpus[0], time + 1, names), 0);
	CHECK_EQ(names_of(consumer.fd, cpus[0], 0, names), 2);
	consumer_close(&consumer);
	close(fd);
}

/* A subscriber learns no names of threads whose events it does not get. */
TEST(names_belong_to_the_subscriber)
{
	struct eventlog_name names[EVENTLOG_NAMES_MAX];
	struct consumer all, other;
	struct eventlog_register event;
	unsigned int cpus[1];
	int fd = device_open();
	pid_t child;

	CHECK(cpus_allowed(cpus, 1));
	event = register_event(fd, "event");
	consumer_open(&all, RING_BYTES);
	rule_add(all.fd, NULL, NULL);
	consumer_open(&other, RING_BYTES);
	rule_add(other.fd, NULL, "another");
	write_as(fd, event.write_index, cpus[0], "writer");
	CHECK_EQ(names_of(all.fd, cpus[0], 0, names), 1);
	CHECK_EQ(names_of(other.fd, cpus[0], 0, names), 0);
	consumer_close(&other);

	/* Threads outside the subscriber's pid namespace have no id there. */
	if (unshare(CLONE_NEWPID))
		SKIP("unshare: %s", test_errno_name(errno));
	child = test_fork();
	if (!child) {
		consumer_open(&other, RING_BYTES);
		rule_add(other.fd, NULL, NULL);
		write_as(fd, event.write_index, cpus[0], "inside");
		CHECK_EQ(names_of(other.fd, cpus[0], 0, names), 1);
		CHECK_EQ(names[0].tid, 1);
		CHECK_EQ(names[0].pid, 1);
		CHECK(!strcmp(names[0].comm, "inside"));
		consumer_close(&other);
		_exit(0);
	}
	test_join(child);
	CHECK_EQ(names_of(all.fd, cpus[0], 0, names), 2);
	consumer_close(&all);
	close(fd);
}

/* The parent writes while a child in another pid namespace subscribes. */
TEST(names_of_other_namespaces_are_hidden)
{
	struct eventlog_name names[EVENTLOG_NAMES_MAX];
	struct eventlog_register event;
	struct consumer inside;
	struct record record;
	unsigned int cpus[1];
	int fd = device_open(), to_child[2], to_parent[2];
	pid_t child;
	char byte;

	CHECK(cpus_allowed(cpus, 1));
	event = register_event(fd, "event");
	CHECK_OK(pipe(to_child));
	CHECK_OK(pipe(to_parent));
	if (unshare(CLONE_NEWPID))
		SKIP("unshare: %s", test_errno_name(errno));
	child = test_fork();
	if (!child) {
		consumer_open(&inside, RING_BYTES);
		rule_add(inside.fd, NULL, NULL);
		CHECK_EQ(write(to_parent[1], "", 1), 1);
		CHECK_EQ(read(to_child[0], &byte, 1), 1);
		consumer_one(&inside, &record);
		CHECK_EQ(record.header->tid, 0);
		CHECK_EQ(names_of(inside.fd, cpus[0], 0, names), 0);
		consumer_close(&inside);
		_exit(0);
	}
	CHECK_EQ(read(to_parent[0], &byte, 1), 1);
	write_as(fd, event.write_index, cpus[0], "outside");
	CHECK_EQ(write(to_child[1], "", 1), 1);
	test_join(child);
	close(fd);
}

struct race {
	int fd;
	__u32 index;
	unsigned int cpu;
	unsigned int writers;
	bool stop;
};

static void name_thread(char name[16], pid_t tid)
{
	snprintf(name, 16, "%08x-%d", tid * 2654435761U, tid % 100000);
}

static void *write_once(void *argument)
{
	struct race *race = argument;
	char name[16];

	name_thread(name, thread_id());
	write_as(race->fd, race->index, race->cpu, name);
	return NULL;
}

static void *write_many(void *argument)
{
	struct race *race = argument;
	pthread_t threads[8];
	unsigned int i;

	for (race->writers = 0; race->writers < 600; race->writers += ARRAY_SIZE(threads)) {
		for (i = 0; i < ARRAY_SIZE(threads); i++)
			CHECK_EQ(pthread_create(&threads[i], NULL, write_once, race), 0);
		for (i = 0; i < ARRAY_SIZE(threads); i++)
			pthread_join(threads[i], NULL);
	}
	__atomic_store_n(&race->stop, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Threads replace each other while the names are read: each name is whole. */
TEST(names_are_whole)
{
	struct eventlog_name names[EVENTLOG_NAMES_MAX];
	unsigned int cpus[2], count, i;
	struct eventlog_register event;
	struct race race = { .fd = device_open() };
	struct consumer consumer;
	pthread_t writer;
	char name[16];
	bool stop;

	event = register_event(race.fd, "event");
	race.index = event.write_index;
	count = cpus_allowed(cpus, 2);
	race.cpu = cpus[count - 1];
	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, NULL);
	cpu_pin(cpus[0]);
	CHECK_EQ(pthread_create(&writer, NULL, write_many, &race), 0);
	do {
		stop = __atomic_load_n(&race.stop, __ATOMIC_ACQUIRE);
		count = names_of(consumer.fd, race.cpu, 0, names);
		for (i = 0; i < count; i++) {
			CHECK_EQ(names[i].pid, getpid());
			name_thread(name, names[i].tid);
			CHECK(!strcmp(names[i].comm, name));
		}
		consumer_skip(&consumer);
	} while (!stop);
	pthread_join(writer, NULL);
	/* There were more threads than there is room for. */
	CHECK(count > EVENTLOG_NAMES_MAX / 2);
	consumer_close(&consumer);
	close(race.fd);
}
