// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of EVENTLOG_WRITE_SESSION with eventlog_sched.ko: a thread without a ring has the same
 * events as one with a ring, they end when the session, the thread or the file does, and what is
 * wrong changes nothing.
 *
 * Which features meet:
 *	rings		a thread that has one, gets one, unmaps one
 *	files		two of one thread, closed by another thread, of another process
 *	threads		exit; fork.  execve and the limit of a user: see quota_test.c
 *	captures	unloading while threads have sessions
 *	instances	have no sessions; a ring of one, and a file of the root
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "instance_common.h"
#include "mapped_common.h"
#include "sched_common.h"

#define RING_BYTES (1 << 20)
#define SLEEP 10	/* EVENTLOG_SCHED_CAUSE_SLEEP */
#define PIPE 8

static void session_enter(const struct sched_watch *watch, __u64 session)
{
	CHECK_EQ(session_write(watch->fd, watch->event.descriptor, session), 16);
}

static void session_leave(const struct sched_watch *watch)
{
	CHECK_EQ(session_write(watch->fd, 0, 0), 16);
}

/* Events of a thread and a cause since the last call, all of @session. */
static unsigned int offs_of(struct sched_watch *watch, pid_t tid, unsigned int cause, __u64 session)
{
	struct record record;
	unsigned int count = 0;
	struct off off;

	flush(watch->consumer.fd);
	while (consumer_next(&watch->consumer, &record)) {
		if (record.bytes < sizeof(off) || record.bytes > sizeof(off) + 7)
			continue;
		memcpy(&off, record.payload, sizeof(off));
		if (record.header->tid != (__u32)tid || off.cause != cause)
			continue;
		CHECK_EQ(record.header->session, session);
		CHECK_EQ(off.of, watch->event.descriptor);
		count++;
	}
	return count;
}

/* Events of this thread, which sleeps once. */
static unsigned int sleep_and_count(struct sched_watch *watch, __u64 session)
{
	sleep_once();
	return offs_of(watch, thread_id(), SLEEP, session);
}

TEST(session_without_ring)
{
	struct sched_watch watch;

	sched_watch_open(&watch, "min_us=10");
	CHECK_EQ(sleep_and_count(&watch, 0), 0);
	session_enter(&watch, SESSION);
	CHECK(sleep_and_count(&watch, SESSION));
	session_enter(&watch, SESSION + 1);
	CHECK(sleep_and_count(&watch, SESSION + 1));
	session_leave(&watch);
	CHECK_EQ(sleep_and_count(&watch, 0), 0);
	/* A number alone is no session. */
	CHECK_EQ(session_write(watch.fd, 0, SESSION), 16);
	CHECK_EQ(sleep_and_count(&watch, 0), 0);
	sched_watch_close(&watch);
}

/* Each of them fails, and the session stays as it is. */
TEST(wrong_writes_change_nothing)
{
	struct {
		struct eventlog_write_session message;
		char rest[64];
	} large = { .message = { EVENTLOG_WRITE_SESSION, 1, 1 } };
	__u32 batch[6] = { EVENTLOG_WRITE_BATCH, 16, EVENTLOG_WRITE_SESSION, 1, 1, 0 };
	struct iovec parts[3] = { { &large, 1 }, { (char *)&large + 1, 8 }, { NULL, 0 } };
	char *end = (char *)pages_map(2 * page_size()) + page_size();
	struct sched_watch watch;
	size_t bytes;
	__u32 id;
	int fd;

	sched_watch_open(&watch, "min_us=10");
	session_enter(&watch, SESSION);
	for (bytes = 0; bytes <= sizeof(large); bytes++)
		if (bytes != sizeof(large.message))
			CHECK_ERRNO(write(watch.fd, &large, bytes), EINVAL);
	CHECK_ERRNO(write(watch.fd, pages_map(1 << 20), 1 << 20), ENOENT);
	CHECK_ERRNO(write(watch.fd, batch, sizeof(batch)), EINVAL);
	/* Unreadable: all of it, all but the index, the last byte. */
	CHECK_ERRNO(write(watch.fd, pages_unmapped(), 16), EFAULT);
	CHECK_OK(mprotect(end, page_size(), PROT_NONE));
	memcpy(end - 4, &large, 4);
	CHECK_ERRNO(write(watch.fd, end - 4, 16), EFAULT);
	memcpy(end - 15, &large, 15);
	CHECK_ERRNO(write(watch.fd, end - 15, 16), EFAULT);
	/* No producer, a subscriber, an instance. */
	fd = device_open();
	CHECK_ERRNO(session_write(fd, 1, 1), EINVAL);
	close(fd);
	CHECK_ERRNO(session_write(watch.consumer.fd, 1, 1), EINVAL);
	fd = create("written", &id);
	register_event(fd, "inside u32 x");
	CHECK_ERRNO(session_write(fd, 1, 1), EOPNOTSUPP);
	CHECK_ERRNO(session_write(fd, 0, 0), EOPNOTSUPP);
	close(fd);
	delete_instance(id);
	CHECK(sleep_and_count(&watch, SESSION));
	/* In parts, it is the same as in one. */
	large.message.session_of = watch.event.descriptor;
	large.message.session = SESSION + 1;
	parts[2] = (struct iovec){ (char *)&large + 9, 7 };
	CHECK_EQ(writev(watch.fd, parts, 3), 16);
	CHECK(sleep_and_count(&watch, SESSION + 1));
	sched_watch_close(&watch);
}

TEST(thread_that_has_a_ring)
{
	struct sched_watch watch;
	struct mapped first, second;

	sched_watch_open(&watch, "min_us=10");
	mapped_attach(&first, watch.fd, mapped_least_bytes());
	session_enter(&watch, SESSION);
	CHECK_EQ(first.header->session_of, watch.event.descriptor);
	CHECK_EQ(first.header->session, SESSION);
	CHECK(sleep_and_count(&watch, SESSION));
	session_leave(&watch);
	CHECK_EQ(first.header->session_of, 0);
	/* The last one counts. */
	mapped_attach(&second, watch.fd, mapped_least_bytes());
	session_enter(&watch, SESSION);
	CHECK_EQ(first.header->session_of, 0);
	CHECK_EQ(second.header->session, SESSION);
	mapped_unmap(&second);
	CHECK_EQ(sleep_and_count(&watch, 0), 0);
	/* Without a ring that counts. */
	session_enter(&watch, SESSION);
	CHECK_EQ(first.header->session_of, 0);
	CHECK(sleep_and_count(&watch, SESSION));
	mapped_unmap(&first);
	CHECK(sleep_and_count(&watch, SESSION));
	sched_watch_close(&watch);
}

/* A session of the root has no effect there, so the write fails; what the thread has goes on. */
TEST(thread_whose_ring_is_of_an_instance)
{
	struct eventlog_register event;
	struct sched_watch watch;
	struct mapped ring;
	int inside;
	__u32 id;

	sched_watch_open(&watch, "min_us=10");
	session_enter(&watch, SESSION);
	inside = create("ringed", &id);
	event = register_event(inside, "inside u32 x");
	mapped_attach(&ring, inside, mapped_least_bytes());
	session_set(&ring, event.descriptor, SESSION + 1);
	CHECK_ERRNO(session_write(watch.fd, watch.event.descriptor, SESSION + 2), EOPNOTSUPP);
	CHECK_ERRNO(session_write(watch.fd, ~0U, SESSION + 2), EOPNOTSUPP);
	CHECK_EQ(ring.header->session_of, event.descriptor);
	CHECK_EQ(ring.header->session, SESSION + 1);
	/* One of the instance is stored, and any file ends it. */
	CHECK_EQ(session_write(watch.fd, event.descriptor, SESSION + 2), 16);
	CHECK_EQ(ring.header->session, SESSION + 2);
	CHECK_EQ(session_write(watch.fd, 0, 0), 16);
	CHECK_EQ(ring.header->session_of, 0);
	/* After the ring, there is no instance that the session is not of. */
	mapped_unmap(&ring);
	session_enter(&watch, SESSION);
	CHECK(sleep_and_count(&watch, SESSION));
	close(inside);
	delete_instance(id);
	sched_watch_close(&watch);
}

TEST(thread_that_gets_a_ring)
{
	struct sched_watch watch;
	struct mapped ring;

	sched_watch_open(&watch, "min_us=10");
	session_enter(&watch, SESSION);
	mapped_attach(&ring, watch.fd, mapped_least_bytes());
	offs_of(&watch, thread_id(), SLEEP, SESSION);
	CHECK_EQ(sleep_and_count(&watch, 0), 0);
	session_set(&ring, watch.event.descriptor, SESSION);
	CHECK(sleep_and_count(&watch, SESSION));
	mapped_unmap(&ring);
	CHECK_EQ(sleep_and_count(&watch, 0), 0);
	sched_watch_close(&watch);
}

TEST(last_file_counts)
{
	struct sched_watch watch;
	int other = device_open();

	register_event(other, "other u32 x");
	sched_watch_open(&watch, "min_us=10");
	CHECK_EQ(session_write(other, watch.event.descriptor, SESSION), 16);
	session_enter(&watch, SESSION + 1);
	CHECK(sleep_and_count(&watch, SESSION + 1));
	/* Any file ends it. */
	CHECK_EQ(session_write(other, 0, 0), 16);
	CHECK_EQ(sleep_and_count(&watch, 0), 0);
	CHECK_EQ(session_write(other, watch.event.descriptor, SESSION), 16);
	CHECK(sleep_and_count(&watch, SESSION));
	close(other);
	CHECK_EQ(sleep_and_count(&watch, 0), 0);
	sched_watch_close(&watch);
}

/* The child has no session of its parent, and may have one by its parent's file. */
TEST(child_and_its_parents_file)
{
	struct sched_watch watch;
	pid_t child;

	sched_watch_open(&watch, "min_us=10");
	session_enter(&watch, SESSION);
	child = test_fork();
	if (!child) {
		sleep_once();
		_exit(0);
	}
	test_join(child);
	CHECK_EQ(offs_of(&watch, child, SLEEP, 0), 0);
	child = test_fork();
	if (!child) {
		session_enter(&watch, SESSION + 1);
		sleep_once();
		_exit(0);
	}
	test_join(child);
	CHECK(offs_of(&watch, child, SLEEP, SESSION + 1));
	CHECK(sleep_and_count(&watch, SESSION));
	sched_watch_close(&watch);
}

/* A thread that is blocked in read() while another one closes the file of its session. */
struct blocked {
	struct sched_watch *watch;
	int from;
	pid_t tid;
};

static void *block(void *argument)
{
	struct blocked *blocked = argument;
	char byte;

	session_enter(blocked->watch, SESSION);
	__atomic_store_n(&blocked->tid, thread_id(), __ATOMIC_RELEASE);
	CHECK_EQ(read(blocked->from, &byte, 1), 1);
	return NULL;
}

TEST(file_is_closed_while_a_thread_is_blocked)
{
	struct sched_watch watch;
	struct blocked blocked = { .watch = &watch };
	pthread_t thread;
	unsigned int round;
	int ends[2];

	sched_watch_open(&watch, "min_us=10");
	CHECK_OK(pipe(ends));
	blocked.from = ends[0];
	for (round = 0; round < 2; round++) {
		blocked.tid = 0;
		CHECK_EQ(pthread_create(&thread, NULL, block, &blocked), 0);
		WAIT_FOR(__atomic_load_n(&blocked.tid, __ATOMIC_ACQUIRE) &&
			 thread_sleeps(blocked.tid));
		if (round)
			close(watch.fd);
		CHECK_EQ(write(ends[1], "x", 1), 1);
		CHECK_EQ(pthread_join(thread, NULL), 0);
		CHECK_EQ(offs_of(&watch, blocked.tid, PIPE, SESSION), round ? 0 : 1);
	}
	close(ends[0]);
	close(ends[1]);
	watch.fd = device_open();
	sched_watch_close(&watch);
}

/* What is stated only for the time with a listener ends with it; the rest goes on. */
TEST(sessions_end_with_the_last_listener)
{
	struct consumer second;
	struct status_map map;
	struct sched_watch watch;
	struct mapped ring;
	__u32 generation;

	sched_watch_open(&watch, "min_us=10");
	map = status_map(watch.fd, &watch.event);
	generation = *(volatile __u32 *)map.bytes;
	session_enter(&watch, SESSION);
	mapped_consumer_open(&second, RING_BYTES);
	rule_add(second.fd, "sched", NULL);
	consumer_close(&watch.consumer);
	CHECK_EQ(*(volatile __u32 *)map.bytes, generation);
	watch.consumer = second;
	CHECK(sleep_and_count(&watch, SESSION));
	consumer_close(&watch.consumer);
	CHECK(*(volatile __u32 *)map.bytes != generation);
	mapped_consumer_open(&watch.consumer, RING_BYTES);
	rule_add(watch.consumer.fd, "sched", NULL);
	CHECK_EQ(sleep_and_count(&watch, 0), 0);
	session_enter(&watch, SESSION);
	CHECK(sleep_and_count(&watch, SESSION));

	mapped_attach(&ring, watch.fd, mapped_least_bytes());
	session_set(&ring, watch.event.descriptor, SESSION);
	consumer_close(&watch.consumer);
	CHECK_EQ(ring.header->session_of, watch.event.descriptor);
	ring.header->session_flags = EVENTLOG_SESSION_LISTENED;
	mapped_consumer_open(&watch.consumer, RING_BYTES);
	rule_add(watch.consumer.fd, "sched", NULL);
	CHECK(sleep_and_count(&watch, SESSION));
	consumer_close(&watch.consumer);
	CHECK_EQ(ring.header->session_of, 0);
	mapped_consumer_open(&watch.consumer, RING_BYTES);
	mapped_unmap(&ring);
	sched_watch_close(&watch);
}

static void *sleep_and_exit(void *argument)
{
	session_enter(argument, SESSION);
	sleep_once();
	return (void *)(long)thread_id();
}

/* Also while the module is unloaded in between. */
TEST(threads_that_exit_with_a_session)
{
	struct sched_watch watch;
	pthread_t threads[4];
	unsigned int i, round;
	void *tid;

	sched_watch_open(&watch, "min_us=10");
	for (i = 0; i < 50; i++) {
		CHECK_EQ(pthread_create(&threads[0], NULL, sleep_and_exit, &watch), 0);
		CHECK_EQ(pthread_join(threads[0], &tid), 0);
		CHECK(offs_of(&watch, (long)tid, SLEEP, SESSION));
	}
	for (round = 0; round < 5; round++) {
		for (i = 0; i < ARRAY_SIZE(threads); i++)
			CHECK_EQ(pthread_create(&threads[i], NULL, sleep_and_exit, &watch), 0);
		consumer_close(&watch.consumer);
		sched_unload();
		for (i = 0; i < ARRAY_SIZE(threads); i++)
			CHECK_EQ(pthread_join(threads[i], NULL), 0);
		sched_load("min_us=10");
		mapped_consumer_open(&watch.consumer, RING_BYTES);
		rule_add(watch.consumer.fd, "sched", NULL);
	}
	sched_watch_close(&watch);
}

/* Many sessions that no one knows: a neighbour's events and losses stay the same. */
TEST(random_sessions_hurt_no_neighbour)
{
	struct eventlog_register event;
	struct consumer neighbour;
	__u64 seed = 1;
	struct sched_watch watch;
	unsigned int i;

	sched_watch_open(&watch, "min_us=10");
	event = register_event(watch.fd, "neighbour u32 x");
	consumer_open(&neighbour, RING_BYTES);
	rule_add(neighbour.fd, NULL, "neighbour");
	for (i = 0; i < 200000; i++) {
		const __u64 number = test_random(&seed);

		CHECK_EQ(session_write(watch.fd, number >> 32, number), 16);
		if (i % 2000 == 0) {
			sched_yield();
			CHECK_EQ(emit(watch.fd, event.write_index, &i, sizeof(i)), 8);
		}
	}
	session_leave(&watch);
	flush(neighbour.fd);
	CHECK_EQ(consumer_skip(&neighbour), 100);
	CHECK_EQ(lost_sum(stat_all(neighbour.fd).lost), 0);
	consumer_close(&neighbour);
	consumer_skip(&watch.consumer);
	sched_watch_close(&watch);
}
