// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the limits of a user: a user without capabilities reaches each limit and gets
 * the documented error; other users are not affected.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mapped_common.h"
#include "module_common.h"

/* A file that a user without rights has opened. */
static int device_open_as(uid_t uid)
{
	int fd;

	CHECK_OK(seteuid(uid));
	fd = device_open();
	CHECK_OK(seteuid(0));
	return fd;
}

TEST(no_limits_for_root)
{
	int fd;
	__u32 i;

	load("");
	fd = device_open();
	register_event(fd, "quota u32 x");
	for (i = 0; i < EVENTLOG_QUOTAS; i++) {
		CHECK_EQ(quota(fd, i).limit, ~0ULL);
		CHECK_EQ(quota(fd, i).use, 0);
		CHECK_EQ(quota(fd, i).denied, 0);
	}
	close(fd);
}

static void reach_events(void)
{
	int fd = device_open(), other = device_open();
	__u64 denied = quota(fd, EVENTLOG_QUOTA_EVENTS).denied;

	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_EVENTS).limit, 8);
	CHECK_EQ(register_many(fd, "mine", EDQUOT), 8);
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_EVENTS).use, 8);
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_EVENTS).denied, denied + 1);
	/* Another file of the user has the same limit; what exists can be shared. */
	CHECK_ERRNO(try_register(other, "one_more"), EDQUOT);
	CHECK_OK(try_register(other, "mine_0 u32 x"));
	CHECK_EQ(quota(other, EVENTLOG_QUOTA_EVENTS).use, 8);
	CHECK_EQ(quota(other, EVENTLOG_QUOTA_REGISTRATIONS).use, 9);
	close(fd);
	CHECK_EQ(quota(other, EVENTLOG_QUOTA_EVENTS).use, 1);
	CHECK_EQ(quota(other, EVENTLOG_QUOTA_REGISTRATIONS).use, 1);
	CHECK_EQ(register_many(other, "others", EDQUOT), 7);
	close(other);
}

TEST(events)
{
	int fd;

	load_open("user_events_max=8");
	as_user(USER, reach_events);
	as_user(USER, reach_events);
	as_user(OTHER, reach_events);
	fd = device_open();
	CHECK_OK(try_register(fd, "of_root"));
	CHECK_EQ(status_now("Active: "), 1);
	close(fd);
}

/* A user cannot use up another one's limits by registering what that one has made. */
TEST(events_held_by_others)
{
	int mine, others, root, i;

	load_open("user_events_max=4");
	mine = device_open_as(USER);
	others = device_open_as(OTHER);
	for (i = 0; i < 3; i++) {
		CHECK_OK(try_register_number(mine, "shared", i));
		CHECK_OK(try_register_number(others, "shared", i));
	}
	CHECK_EQ(quota(mine, EVENTLOG_QUOTA_EVENTS).use, 3);
	CHECK_EQ(quota(others, EVENTLOG_QUOTA_EVENTS).use, 0);
	/* The other one has room for two of them. */
	CHECK_OK(try_register_number(others, "own", 0));
	CHECK_OK(try_register_number(others, "own", 1));
	close(mine);
	mine = device_open_as(USER);
	CHECK_EQ(quota(mine, EVENTLOG_QUOTA_EVENTS).use, 1);
	CHECK_EQ(quota(others, EVENTLOG_QUOTA_EVENTS).use, 4);
	CHECK_ERRNO(try_register(others, "one_more"), EDQUOT);
	/* Root takes over without a limit. */
	root = device_open();
	for (i = 0; i < 3; i++)
		CHECK_OK(try_register_number(root, "shared", i));
	close(others);
	CHECK_EQ(quota(mine, EVENTLOG_QUOTA_EVENTS).use, 0);
	CHECK_EQ(status_now("Active: "), 3);
	close(root);
	CHECK_EQ(register_many(mine, "mine", EDQUOT), 4);
	close(mine);
}

/* An event that ended and comes back counts again; without room it stays as it was. */
TEST(events_that_come_back)
{
	struct eventlog_register event;
	struct consumer watcher;
	int fd;

	load_open("user_events_max=2");
	consumer_open(&watcher, 0);
	rule_add(watcher.fd, NULL, NULL);
	fd = device_open_as(USER);
	event = register_event(fd, "returns u32 x");
	CHECK_OK(try_unregister(fd, event.write_index));
	CHECK_EQ(register_many(fd, "other", EDQUOT), 2);
	CHECK_ERRNO(try_register(fd, "returns u32 x"), EDQUOT);
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_EVENTS).use, 2);
	close(fd);
	fd = device_open_as(USER);
	CHECK_EQ(register_event(fd, "returns u32 x").descriptor, event.descriptor);
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_EVENTS).use, 1);
	close(fd);
	consumer_close(&watcher);
}

static void reach_nothing(void)
{
	int fd = device_open();

	CHECK_ERRNO(try_register(fd, "none"), EDQUOT);
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_EVENTS).limit, 0);
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_EVENTS).denied, 1);
	CHECK(quota(fd, EVENTLOG_QUOTA_REGISTRATIONS).limit > 0);
	close(fd);
}

/* The limit 0 is not the default. */
TEST(no_events)
{
	load_open("user_events_max=0");
	as_user(USER, reach_nothing);
}

static void hold_events(void)
{
	int fd = device_open();

	CHECK_EQ(register_many(fd, "held", ENOSPC), 60);
	close(fd);
}

/* One in 16 events is kept for root. */
TEST(reserve_of_root)
{
	int fd;

	load_open("events_max=64 user_events_max=1000");
	as_user(USER, hold_events);
	fd = device_open();
	CHECK_EQ(register_many(fd, "of_root", ENOSPC), 64);
	close(fd);
}

static void define_quickly(void)
{
	const __u64 begin = clock_now();
	int fd = device_open();
	unsigned int count = register_many(fd, "quick", EDQUOT);

	/* As many as in four seconds at once, and those that were allowed since. */
	CHECK(count >= 40);
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_DEFINITIONS).limit, 10);
	CHECK(quota(fd, EVENTLOG_QUOTA_DEFINITIONS).denied >= 1);
	/* What exists is no new definition. */
	CHECK_OK(try_register(fd, "quick_0 u32 x"));
	close(fd);
	/* Closing everything does not help, waiting does: ten are allowed each second. */
	fd = device_open();
	count += register_many(fd, "again", EDQUOT);
	CHECK(count <= 41 + (clock_now() - begin) / 100000000);
	WAIT_FOR(!try_register(fd, "later"));
	close(fd);
}

TEST(definitions_in_a_second)
{
	int fd;

	load_open("user_definitions_max=10");
	as_user(USER, define_quickly);
	as_user(OTHER, define_quickly);
	fd = device_open();
	CHECK_OK(try_register(fd, "of_root"));
	close(fd);
}

static void reach_registrations(void)
{
	int fd = device_open(), other = device_open();
	unsigned int i;

	for (i = 0; i < 20; i++)
		CHECK_OK(try_register(i % 2 ? fd : other, "same u32 x"));
	CHECK_ERRNO(try_register(fd, "same u32 x"), EDQUOT);
	CHECK_ERRNO(try_register(other, "same u32 x"), EDQUOT);
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_REGISTRATIONS).use, 20);
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_EVENTS).use, 1);
	close(other);
	CHECK_OK(try_register(fd, "same u32 x"));
	close(fd);
}

TEST(registrations)
{
	load_open("user_registrations_max=20");
	as_user(USER, reach_registrations);
	as_user(OTHER, reach_registrations);
}

static void churn(void)
{
	unsigned int i;
	int fd;

	for (i = 0; i < 100; i++) {
		fd = device_open();
		CHECK_OK(try_register_number(fd, "churned", i));
		close(fd);
	}
	fd = device_open();
	CHECK(quota(fd, EVENTLOG_QUOTA_RETAINED_BYTES).use <= 16384);
	CHECK(quota(fd, EVENTLOG_QUOTA_RETAINED_BYTES).use > 8192);
	close(fd);
}

/* At the limit, the oldest texts of the user's own ended events are freed. */
TEST(retained_bytes)
{
	struct consumer consumer;
	int fd;

	load_open("user_retained_bytes_max=16384");
	consumer_open(&consumer, 1 << 16);
	fd = device_open();
	register_event(fd, "of_root u32 x");
	close(fd);
	as_user(USER, churn);
	CHECK(info_of(consumer.fd).retained > 8 && info_of(consumer.fd).retained < 50);
	consumer_close(&consumer);
	fd = device_open();
	CHECK_EQ(info_of(fd).retained, 0);
	close(fd);
}

static void churn_of_other(void)
{
	unsigned int i;
	int fd;

	for (i = 0; i < 100; i++) {
		fd = device_open();
		CHECK_OK(try_register_number(fd, "churned", i));
		/* The first one registers it again and again. */
		CHECK_OK(try_register(fd, "precious u32 x"));
		close(fd);
	}
}

/* The text of an ended event counts for its maker, and only texts of that user are freed. */
TEST(retained_texts_of_others)
{
	struct eventlog_register event;
	struct consumer consumer;
	__u64 use;
	int fd;

	load_open("user_retained_bytes_max=8192 events_max=64 user_events_max=8");
	consumer_open(&consumer, 1 << 16);
	fd = device_open_as(USER);
	event = register_event(fd, "precious u32 x");
	close(fd);
	fd = device_open_as(USER);
	use = quota(fd, EVENTLOG_QUOTA_RETAINED_BYTES).use;
	CHECK(use > 0);
	as_user(OTHER, churn_of_other);
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_RETAINED_BYTES).use, use);
	CHECK_EQ(register_event(fd, "precious u32 x").descriptor, event.descriptor);
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_RETAINED_BYTES).use, 0);
	close(fd);
	consumer_close(&consumer);
}

/* Counters that subscribers keep of an ended event count as well. */
TEST(retained_counters)
{
	struct consumer consumers[3];
	__u64 use[2];
	int fd, i;

	load_open("");
	consumer_open(&consumers[2], 1 << 16);
	fd = device_open_as(USER);
	for (i = 0; i < 2; i++) {
		consumer_open(&consumers[i], 1 << 16);
		rule_add(consumers[i].fd, NULL, NULL);
		CHECK_OK(try_register(fd, "counted u32 x"));
		close(fd);
		fd = device_open_as(USER);
		use[i] = quota(fd, EVENTLOG_QUOTA_RETAINED_BYTES).use;
	}
	CHECK(use[1] > use[0]);
	for (i = 0; i < 3; i++)
		consumer_close(&consumers[i]);
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_RETAINED_BYTES).use, 0);
	close(fd);
}

static void reach_trace_events(void)
{
	int fd = device_open();
	unsigned int i;

	__u64 use = 0;

	for (i = 0; i < 10; i++) {
		CHECK_OK(try_register_number(fd, "traced", i));
		if (i == 2)
			use = quota(fd, EVENTLOG_QUOTA_TRACE_BYTES).use;
	}
	CHECK(use);
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_TRACE_BYTES).use, use);
	CHECK_EQ(status_now("Not in tracefs: "), 7);
	close(fd);
	/* The events no longer count when tracefs has removed them. */
	fd = device_open();
	if (trace_events_stay())
		CHECK_EQ(quota(fd, EVENTLOG_QUOTA_TRACE_BYTES).use, use);
	else
		WAIT_FOR(!quota(fd, EVENTLOG_QUOTA_TRACE_BYTES).use);
	close(fd);
}

TEST(trace_events)
{
	/* A quarter for each user, and one more reserved for root. */
	load_open("trace_events_max=12");
	as_user(USER, reach_trace_events);
	as_user(OTHER, reach_trace_events);
}

static bool in_tracefs(const char *name)
{
	char path[300];

	snprintf(path, sizeof(path), TRACE_EVENTS "/%s/%s/format", trace_group(), name);
	return !access(path, F_OK);
}

/* Bytes of the slabs' objects that are free: what was freed before may be used again. */
static long long slab_bytes_free(void)
{
	FILE *file = fopen("/proc/slabinfo", "re");
	long long active, all, size, bytes = 0;
	char line[256];

	if (!file && errno == ENOENT)
		SKIP("no /proc/slabinfo");
	CHECK(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%*s %lld %lld %lld", &active, &all, &size) == 3)
			bytes += (all - active) * size;
	fclose(file);
	return bytes;
}

/* Bytes that the kernel's allocators of small and of large memory have given out. */
static long long kernel_bytes(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	long long slab = -1, large = -1;
	char line[128];

	CHECK(file);
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "Slab: %lld", &slab);
		sscanf(line, "VmallocUsed: %lld", &large);
	}
	fclose(file);
	CHECK(slab >= 0 && large >= 0);
	return (slab + large) * 1024 - slab_bytes_free();
}

/* Frees what the kernel keeps only as a cache. */
static void synchronize_memory(void)
{
	CHECK_OK(file_write("/proc/sys/vm/drop_caches", "2"));
}

/* Trace events of ended events stay, with what is attached to them, and count for their users. */
TEST(trace_events_that_stay)
{
	struct eventlog_register third;
	struct consumer consumer;
	__u32 value = 7;
	int fd, other;
	char path[300], name[64];
	__u64 both, one;
	long id;

	load_open("trace_events_max=8");
	if (!trace_events_exist())
		SKIP("this kernel has no trace events for modules");
	if (!trace_events_stay())
		SKIP("this kernel removes trace events safely");
	fd = device_open_as(USER);
	CHECK_OK(try_register(fd, "stays_again u32 x"));
	CHECK_OK(try_register(fd, "stays_changed u32 x"));
	WAIT_FOR(in_tracefs("stays_again") && in_tracefs("stays_changed"));
	snprintf(path, sizeof(path), TRACE_EVENTS "/%s/stays_again/id", trace_group());
	id = file_number(path);
	close(fd);
	fd = device_open_as(USER);
	both = quota(fd, EVENTLOG_QUOTA_TRACE_BYTES).use;
	/* There is no room for a third one, which works otherwise. */
	consumer_open(&consumer, 1 << 16);
	rule_add(consumer.fd, NULL, NULL);
	third = register_event(fd, "stays_third u32 x");
	CHECK_EQ(status_now("Not in tracefs: "), 1);
	CHECK_OK(emit(fd, third.write_index, &value, sizeof(value)));
	consumer_one(&consumer, &(struct record){});
	consumer_close(&consumer);
	CHECK(!in_tracefs("stays_third"));
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_TRACE_BYTES).use, both);
	/* The same definition gets it back; it counts for another user, so there is room now. */
	other = device_open_as(OTHER);
	CHECK_OK(try_register(other, "stays_again u32 x"));
	one = quota(other, EVENTLOG_QUOTA_TRACE_BYTES).use;
	CHECK(one && one < both);
	WAIT_FOR(in_tracefs("stays_third"));
	CHECK_EQ(file_number(path), id);
	CHECK(quota(fd, EVENTLOG_QUOTA_TRACE_BYTES).use > both - one);
	both = quota(fd, EVENTLOG_QUOTA_TRACE_BYTES).use;
	/* A changed definition does not take the name, nor the trace event of another user. */
	third = register_event(other, "stays_changed u64 x");
	snprintf(name, sizeof(name), "stays_changed.%x", third.descriptor);
	WAIT_FOR(in_tracefs(name));
	CHECK(in_tracefs("stays_changed"));
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_TRACE_BYTES).use, both);
	close(other);
	close(fd);
	/* Unloading the module removes them. */
	load_open("");
	CHECK(!in_tracefs("stays_again") && !in_tracefs("stays_changed"));
}

/* Registers events with so many fields; returns the bytes of memory that they take. */
static long long take_trace_events(int fd, unsigned int fields, unsigned int events)
{
	char command[EVENTLOG_COMMAND_MAX], name[64];
	long long before;
	unsigned int i, j, bytes;

	synchronize_memory();
	before = kernel_bytes();
	for (i = 0; i < events; i++) {
		bytes = sprintf(command, "measured_%u", i);
		for (j = 0; j < fields; j++)
			bytes += sprintf(command + bytes, "%s u64 f%u", j ? ";" : "", j);
		CHECK_OK(try_register(fd, command));
	}
	snprintf(name, sizeof(name), "measured_%u", events - 1);
	if (status_now("Not in tracefs: ") < 0)
		WAIT_FOR(in_tracefs(name));
	synchronize_memory();
	return kernel_bytes() - before;
}

/* What is charged for trace events is the memory that the kernel takes, and is not exceeded. */
TEST(memory_of_trace_events)
{
	static const unsigned int fields[] = { 1, EVENTLOG_FIELDS_MAX }, events[] = { 800, 100 };
	long long without, with, use, limit;
	char parameters[64];
	unsigned int i;
	int fd;

	/* Red zones, or KASAN. */
	if (file_number("/sys/kernel/slab/kmalloc-64/slab_size") > 64)
		SKIP("debugging of the slab allocator makes all objects larger");
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		load_open("user_trace_bytes_max=0");
		if (!trace_events_exist())
			SKIP("this kernel has no trace events for modules");
		fd = device_open_as(USER);
		without = take_trace_events(fd, fields[i], events[i]);
		CHECK_EQ(quota(fd, EVENTLOG_QUOTA_TRACE_BYTES).use, 0);
		CHECK_EQ(status_now("Not in tracefs: "), events[i]);
		close(fd);
		load_open("");
		fd = device_open_as(USER);
		with = take_trace_events(fd, fields[i], events[i]);
		CHECK_EQ(status_now("Not in tracefs: "), -1);
		use = quota(fd, EVENTLOG_QUOTA_TRACE_BYTES).use;
		close(fd);
		test_note("%u fields: took %lld bytes, charged %lld", fields[i], with - without,
			  use);
		/* A tenth, and what the allocator keeps in reserve. */
		CHECK(with - without <= use + use / 10 + (256 << 10));
		CHECK(with - without >= use - use / 10 - (256 << 10));
	}
	/* The limit is not exceeded. */
	limit = use / events[1] * 3 + 4000;
	sprintf(parameters, "user_trace_bytes_max=%lld", limit);
	load_open(parameters);
	fd = device_open_as(USER);
	take_trace_events(fd, EVENTLOG_FIELDS_MAX, 10);
	CHECK(quota(fd, EVENTLOG_QUOTA_TRACE_BYTES).use <= (__u64)limit);
	CHECK(quota(fd, EVENTLOG_QUOTA_TRACE_BYTES).denied);
	CHECK_EQ(status_now("Not in tracefs: "), 7);
	close(fd);
}

static void reach_ring_bytes(void)
{
	const unsigned int most = 4;
	struct eventlog_attach attach;
	struct mapped rings[4];
	__u64 bytes;
	unsigned int i;
	int fd = device_open();

	register_event(fd, "event");
	for (i = 0; i < most; i++)
		mapped_attach(&rings[i], fd, 2 * page_size());
	bytes = quota(fd, EVENTLOG_QUOTA_RING_BYTES).use;
	CHECK_EQ(bytes, most * 3 * page_size());
	attach = attach_request(2 * page_size());
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_ATTACH, &attach), EDQUOT);
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_RINGS).use, most);
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_RINGS).denied, 0);
	/* A ring counts until nothing maps it. */
	CHECK_OK(try_detach(fd, rings[0].attach.ring));
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_RING_BYTES).use, bytes);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_ATTACH, &attach), EDQUOT);
	mapped_unmap(&rings[0]);
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_RING_BYTES).use, bytes - 3 * page_size());
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_ATTACH, &attach));
	close(fd);
	for (i = 1; i < most; i++)
		mapped_unmap(&rings[i]);
	fd = device_open();
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_RING_BYTES).use, 0);
	close(fd);
}

/* Memory of 64 KiB and more is not allocated in the same way. */
static void give_back_large_ring(void)
{
	const size_t bytes = 1 << 20;
	int fd = device_open();
	struct mapped ring;

	register_event(fd, "event");
	mapped_attach(&ring, fd, bytes);
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_RING_BYTES).use, bytes + page_size());
	mapped_unmap(&ring);
	close(fd);
	fd = device_open();
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_RING_BYTES).use, 0);
	close(fd);
}

TEST(memory_of_producer_rings)
{
	char parameters[64];

	snprintf(parameters, sizeof(parameters), "user_ring_memory_max=%zu",
		 12 * page_size() + 100);
	load_open(parameters);
	as_user(USER, reach_ring_bytes);
	as_user(USER, reach_ring_bytes);
	as_user(OTHER, reach_ring_bytes);
	load_open("user_ring_memory_max=2097152");
	as_user(USER, give_back_large_ring);
}

/* Rings, and threads that have a session and no ring. */
static void reach_rings(void)
{
	const __u64 denied = 2;
	struct eventlog_attach attach = attach_request(mapped_least_bytes());
	int fd = device_open(), other = device_open();
	struct mapped rings[2];
	pid_t child;

	register_event(fd, "event");
	register_event(other, "event");
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_RINGS).limit, 3);
	CHECK_EQ(session_write(other, 1, 1), 16);
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_RINGS).use, 1);
	/* The first one takes the place of the session. */
	mapped_attach(&rings[0], fd, mapped_least_bytes());
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_RINGS).use, 1);
	mapped_attach(&rings[1], other, mapped_least_bytes());
	child = test_fork();
	if (!child) {
		CHECK_EQ(session_write(fd, 1, 1), 16);
		CHECK_EQ(quota(fd, EVENTLOG_QUOTA_RINGS).use, 3);
		CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_ATTACH, &attach), EDQUOT);
		/* Another session of the thread is not one more. */
		CHECK_EQ(session_write(other, 2, 2), 16);
		_exit(0);
	}
	test_join(child);
	WAIT_FOR(quota(fd, EVENTLOG_QUOTA_RINGS).use == 2);
	attach = attach_request(mapped_least_bytes());
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_ATTACH, &attach));
	child = test_fork();
	if (!child) {
		CHECK_ERRNO(session_write(fd, 1, 1), EDQUOT);
		_exit(0);
	}
	test_join(child);
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_RINGS).denied, denied);
	/* A ring that is taken over is not one more. */
	attach.ring = rings[0].attach.ring;
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_ATTACH, &attach));
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_RINGS).use, 3);
	mapped_unmap(&rings[0]);
	mapped_unmap(&rings[1]);
	close(fd);
	WAIT_FOR(quota(other, EVENTLOG_QUOTA_RINGS).use == 0);
	close(other);
}

TEST(number_of_rings)
{
	load_open("user_rings_max=3");
	as_user(USER, reach_rings);
	as_user(OTHER, reach_rings);
}

/* ---- sessions of threads without a ring ---- */

static __u64 session_bytes(int fd)
{
	return quota(fd, EVENTLOG_QUOTA_RING_BYTES).use;
}

/* A thread that has written a session by a file, until it may end. */
struct session_thread {
	pthread_t thread;
	int fd;
	bool may_end;
	bool is_ready;
};

static void *session_thread_run(void *argument)
{
	struct session_thread *thread = argument;

	CHECK_EQ(session_write(thread->fd, 1, 7), 16);
	__atomic_store_n(&thread->is_ready, true, __ATOMIC_RELEASE);
	WAIT_FOR(__atomic_load_n(&thread->may_end, __ATOMIC_ACQUIRE));
	return NULL;
}

static void session_thread_start(struct session_thread *thread, int fd)
{
	*thread = (struct session_thread){ .fd = fd };
	CHECK_EQ(pthread_create(&thread->thread, NULL, session_thread_run, thread), 0);
	WAIT_FOR(__atomic_load_n(&thread->is_ready, __ATOMIC_ACQUIRE));
}

static void session_thread_end(struct session_thread *thread)
{
	__atomic_store_n(&thread->may_end, true, __ATOMIC_RELEASE);
	CHECK_EQ(pthread_join(thread->thread, NULL), 0);
}

/* One entry a thread, however often it writes; the limit; and nothing is left of a thread. */
TEST(sessions_of_threads_without_ring)
{
	struct session_thread threads[8];
	unsigned int i, most;
	struct mapped ring;
	int fd, other;
	pid_t child;
	__u64 one, denied;

	load_open("user_ring_memory_max=5000");
	fd = device_open_as(USER);
	other = device_open_as(USER);
	register_event(fd, "event");
	register_event(other, "event");
	CHECK_EQ(session_write(fd, 0, 1), 16);
	CHECK_EQ(session_bytes(fd), 0);
	for (i = 1; i < 1000; i++)
		CHECK_EQ(session_write(i % 2 ? fd : other, i, i), 16);
	one = session_bytes(fd);
	CHECK(one >= sizeof(struct eventlog_mapped_header) && one <= 2048);
	CHECK_EQ(session_write(fd, 0, 0), 16);
	CHECK_EQ(session_bytes(fd), one);

	most = 5000 / one - 1;
	CHECK(most && most < ARRAY_SIZE(threads));
	for (i = 0; i < most; i++)
		session_thread_start(&threads[i], i % 2 ? fd : other);
	CHECK_EQ(session_bytes(fd), (most + 1) * one);
	child = test_fork();
	if (!child) {
		CHECK_ERRNO(session_write(fd, 1, 1), EDQUOT);
		CHECK_EQ(session_write(fd, 0, 0), 16);
		_exit(0);
	}
	test_join(child);
	CHECK_EQ(session_bytes(fd), (most + 1) * one);
	/* At the limit, a thread can go on by any file of the user. */
	denied = quota(fd, EVENTLOG_QUOTA_RING_BYTES).denied;
	for (i = 0; i < 4; i++)
		CHECK_EQ(session_write(i % 2 ? fd : other, 2, 2), 16);
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_RING_BYTES).denied, denied);
	CHECK_EQ(session_bytes(fd), (most + 1) * one);
	for (i = 0; i < most; i++)
		session_thread_end(&threads[i]);
	WAIT_FOR(session_bytes(fd) == one);
	close(fd);
	/* The thread has written to the other one last. */
	CHECK_EQ(session_bytes(other), 0);
	CHECK_EQ(session_write(other, 1, 1), 16);
	CHECK_EQ(session_bytes(other), one);

	close(other);
	/* A ring takes the place of the entry. */
	load_open("");
	fd = device_open_as(USER);
	register_event(fd, "event");
	CHECK_EQ(session_write(fd, 1, 1), 16);
	mapped_attach(&ring, fd, mapped_least_bytes());
	CHECK_EQ(session_bytes(fd), ring.attach.length);
	CHECK_EQ(ring.header->session_of, 0);
	CHECK_EQ(session_write(fd, 3, 9), 16);
	CHECK_EQ(session_bytes(fd), ring.attach.length);
	CHECK_EQ(ring.header->session_of, 3);
	CHECK_EQ(ring.header->session, 9);
	mapped_unmap(&ring);
	CHECK_EQ(session_write(fd, 3, 9), 16);
	WAIT_FOR(session_bytes(fd) == one);
	close(fd);
}

/* By a thread that has a session, too, unless that is done already. */
static void *replace_program(void *fd)
{
	if (fd)
		CHECK_EQ(session_write(*(int *)fd, 1, 1), 16);
	execl("/bin/sleep", "sleep", "1000", NULL);
	_exit(1);
}

static bool is_replaced(pid_t process)
{
	char path[64], name[16] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", process);
	file = fopen(path, "r");
	CHECK(file);
	CHECK(fgets(name, sizeof(name), file));
	fclose(file);
	return !strcmp(name, "sleep\n");
}

/* The file stays open in the other program. */
static pid_t replace(int fd, bool by_thread)
{
	const pid_t child = test_fork();
	pthread_t thread;
	int copy;

	if (!child) {
		copy = CHECK_OK(dup(fd));
		CHECK_EQ(session_write(copy, 1, 1), 16);
		if (!by_thread)
			replace_program(NULL);
		CHECK_EQ(pthread_create(&thread, NULL, replace_program, &copy), 0);
		pthread_join(thread, NULL);
		_exit(1);
	}
	WAIT_FOR(is_replaced(child));
	return child;
}

TEST(sessions_end_when_a_program_is_replaced)
{
	pid_t children[2];
	__u64 one;
	int fd;

	load_open("");
	fd = device_open_as(USER);
	register_event(fd, "event");
	CHECK_EQ(session_write(fd, 1, 1), 16);
	one = session_bytes(fd);
	children[0] = replace(fd, false);
	WAIT_FOR(session_bytes(fd) == one);
	/* Another thread gets the id of the first one. */
	children[1] = replace(fd, true);
	WAIT_FOR(session_bytes(fd) == one);
	CHECK_OK(kill(children[0], SIGKILL));
	CHECK_OK(kill(children[1], SIGKILL));
	test_join_signal(children[0], SIGKILL);
	test_join_signal(children[1], SIGKILL);
	close(fd);
}

/* All uids of a user namespace count for its owner. */
static void reach_events_in_namespace(void)
{
	int fd = device_open();

	CHECK_EQ(register_many(fd, "outside", EDQUOT), 8);
	CHECK_OK(unshare(CLONE_NEWUSER));
	CHECK_ERRNO(try_register(fd, "inside"), EDQUOT);
	close(fd);
	fd = device_open();
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_EVENTS).limit, 8);
	CHECK_EQ(register_many(fd, "inside", EDQUOT), 8);
	close(fd);
}

TEST(user_namespaces)
{
	if (access("/proc/self/ns/user", F_OK))
		SKIP("no user namespaces");
	load_open("user_events_max=8");
	as_user(USER, reach_events_in_namespace);
}
