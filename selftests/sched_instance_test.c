// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of eventlog_sched.ko and instances: a capture of the root sees what threads of an instance
 * wait for, under the descriptors of the instance; programs of an instance learn that sessions are
 * of interest; and an instance can neither see the threads of others nor add its time to their
 * sessions.
 *
 * Which features meet:
 *	captures	of the root, of the instance
 *	descriptors	of the instance, of the root, of another instance, of none
 *	wakers		of the root by an instance
 *	instances	made before and after the capture began, deleted while threads have a session
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "instance_common.h"
#include "mapped_common.h"
#include "module_common.h"
#include "sched_common.h"

#define RING_BYTES (1 << 20)
#define CAUSE_PIPE 8
#define CAUSE_SLEEP 10

/* A producer with a ring: of an instance, or of the root, whose id is 0. */
struct program {
	int fd;
	__u32 id;
	struct eventlog_register event;
	struct mapped ring;
};

static void program_open(struct program *program, int fd, __u32 id)
{
	program->fd = fd;
	program->id = id;
	program->event = register_event(fd, "request u32 id");
	mapped_attach(&program->ring, fd, mapped_least_bytes());
}

static void program_open_inside(struct program *program, const char *instance)
{
	__u32 id;
	int fd = create(instance, &id);

	program_open(program, fd, id);
}

static void program_close(struct program *program)
{
	mapped_unmap(&program->ring);
	close(program->fd);
	if (program->id)
		delete_instance(program->id);
}

static void capture_open(struct consumer *consumer)
{
	mapped_consumer_open(consumer, RING_BYTES);
	rule_add(consumer->fd, "sched", NULL);
}

/* The next interval of the thread with the cause; false: there is none. */
static bool off_find(struct consumer *consumer, __u32 tid, __u8 cause, struct off *off)
{
	struct record record;

	flush(consumer->fd);
	while (consumer_next(consumer, &record)) {
		if (record.header->tid != tid || record.bytes < sizeof(*off) ||
		    record.bytes > sizeof(*off) + 7)
			continue;
		memcpy(off, record.payload, sizeof(*off));
		CHECK_EQ(record.header->session, SESSION);
		if (off->cause == cause)
			return true;
	}
	return false;
}

static unsigned int sleep_and_count(struct consumer *consumer)
{
	sleep_once();
	flush(consumer->fd);
	return consumer_skip(consumer);
}

TEST(capture_of_the_root_sees_an_instance)
{
	struct eventlog_subscribe request;
	struct consumer root, own;
	struct program inside;
	struct off off;

	sched_load("min_us=10 stack_us=0");
	capture_open(&root);
	program_open_inside(&inside, "sched");
	CHECK(info_of(inside.fd).features & EVENTLOG_FEATURE_SESSIONS);
	request = subscribe_request(RING_BYTES);
	consumer_open_file(&own, open_instance(inside.fd), &request);
	rule_add(own.fd, NULL, NULL);
	session_set(&inside.ring, inside.event.descriptor, SESSION);
	sleep_once();
	session_set(&inside.ring, 0, 0);
	CHECK(off_find(&root, thread_id(), CAUSE_SLEEP, &off));
	CHECK_EQ(off.of, inside.event.descriptor);
	/* The provider sched belongs to the host. */
	flush(own.fd);
	CHECK_EQ(consumer_skip(&own), 0);
	consumer_close(&own);
	program_close(&inside);
	consumer_close(&root);
	sched_unload();
}

TEST(instance_has_sessions_of_its_own_providers_only)
{
	struct program outside, inside, other;
	struct consumer root;
	struct off off;

	sched_load("min_us=10 stack_us=0");
	capture_open(&root);
	program_open(&outside, device_open(), 0);
	program_open_inside(&other, "other");
	/* The last ring of the thread counts. */
	program_open_inside(&inside, "sched");
	session_set(&inside.ring, outside.event.descriptor, SESSION);
	CHECK_EQ(sleep_and_count(&root), 0);
	session_set(&inside.ring, other.event.descriptor, SESSION);
	CHECK_EQ(sleep_and_count(&root), 0);
	session_set(&inside.ring, ~0U, SESSION);
	CHECK_EQ(sleep_and_count(&root), 0);
	session_set(&inside.ring, inside.event.descriptor, SESSION);
	sleep_once();
	CHECK(off_find(&root, thread_id(), CAUSE_SLEEP, &off));
	CHECK_EQ(off.of, inside.event.descriptor);
	/* What was right once is not right for ever. */
	session_set(&inside.ring, outside.event.descriptor, SESSION);
	consumer_skip(&root);
	CHECK_EQ(sleep_and_count(&root), 0);
	session_set(&inside.ring, 0, 0);
	program_close(&inside);
	program_close(&other);
	program_close(&outside);
	consumer_close(&root);
	sched_unload();
}

/* A thread of an instance that ends the wait of one of the root. */
struct waker {
	pthread_t thread;
	pid_t waits, tid;
	const struct mapped *ring;
	__u32 of;
	int fd, end;
};

static void *waker_run(void *argument)
{
	struct waker *waker = argument;
	struct mapped ring;

	mapped_attach(&ring, waker->fd, mapped_least_bytes());
	session_set(&ring, waker->of, SESSION + 1);
	__atomic_store_n(&waker->tid, thread_id(), __ATOMIC_RELEASE);
	/* Once it works on the session, it sleeps in one place only. */
	WAIT_FOR(__atomic_load_n(&waker->ring->header->session_of, __ATOMIC_ACQUIRE));
	WAIT_FOR(thread_sleeps(waker->waits));
	CHECK_EQ(write(waker->end, "x", 1), 1);
	session_set(&ring, 0, 0);
	mapped_unmap(&ring);
	return NULL;
}

/* Waits for a byte of a thread of an instance that says it works for @of. */
static struct off wait_for_waker(struct consumer *root, struct program *outside,
				 const struct program *inside, __u32 of)
{
	struct waker waker = {
		.waits = thread_id(), .ring = &outside->ring, .of = of, .fd = inside->fd,
	};
	struct off off;
	int ends[2];
	char byte;

	CHECK_OK(pipe(ends));
	waker.end = ends[1];
	CHECK_EQ(pthread_create(&waker.thread, NULL, waker_run, &waker), 0);
	WAIT_FOR(__atomic_load_n(&waker.tid, __ATOMIC_ACQUIRE));
	session_set(&outside->ring, outside->event.descriptor, SESSION);
	CHECK_EQ(read(ends[0], &byte, 1), 1);
	session_set(&outside->ring, 0, 0);
	CHECK_EQ(pthread_join(waker.thread, NULL), 0);
	CHECK(off_find(root, thread_id(), CAUSE_PIPE, &off));
	CHECK_EQ(off.of, outside->event.descriptor);
	CHECK_EQ(off.by_tid, waker.tid);
	close(ends[0]);
	close(ends[1]);
	return off;
}

TEST(waker_of_an_instance_has_a_session_of_the_instance)
{
	struct program outside, inside;
	struct consumer root;
	struct off off;

	sched_load("min_us=10 stack_us=0");
	capture_open(&root);
	program_open_inside(&inside, "sched");
	program_open(&outside, device_open(), 0);
	off = wait_for_waker(&root, &outside, &inside, inside.event.descriptor);
	CHECK_EQ(off.by_of, inside.event.descriptor);
	CHECK_EQ(off.by_session, SESSION + 1);
	off = wait_for_waker(&root, &outside, &inside, outside.event.descriptor);
	CHECK_EQ(off.by_of, 0);
	CHECK_EQ(off.by_session, 0);
	program_close(&outside);
	program_close(&inside);
	consumer_close(&root);
	sched_unload();
}

TEST(deleted_instance_has_no_sessions)
{
	struct program inside;
	struct consumer root;

	sched_load("min_us=10 stack_us=0");
	capture_open(&root);
	program_open_inside(&inside, "sched");
	session_set(&inside.ring, inside.event.descriptor, SESSION);
	CHECK(sleep_and_count(&root) > 0);
	delete_instance(inside.id);
	inside.id = 0;
	flush(root.fd);
	consumer_skip(&root);
	CHECK_EQ(sleep_and_count(&root), 0);
	program_close(&inside);
	consumer_close(&root);
	sched_unload();
}

TEST(programs_of_instances_learn_that_sessions_are_of_interest)
{
	struct program early, late;
	struct status_map early_map, late_map;
	struct consumer root;

	sched_load("min_us=10 stack_us=0");
	program_open_inside(&early, "early");
	early_map = status_map(early.fd, &early.event);
	CHECK_EQ(status_get(&early_map, &early.event), 0);
	capture_open(&root);
	WAIT_FOR(status_get(&early_map, &early.event) == EVENTLOG_STATUS_SESSION);
	program_open_inside(&late, "late");
	late_map = status_map(late.fd, &late.event);
	CHECK_EQ(status_get(&late_map, &late.event), EVENTLOG_STATUS_SESSION);
	consumer_close(&root);
	WAIT_FOR(!status_get(&early_map, &early.event));
	WAIT_FOR(!status_get(&late_map, &late.event));
	program_close(&late);
	program_close(&early);
	sched_unload();
}
