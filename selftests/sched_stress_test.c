// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads and unloads eventlog_sched.ko, and begins and ends captures of its events, while threads
 * with sessions wake each other, sleep, change their sessions and rings, and exit, in the root and
 * in instances that are deleted.  Each event must be possible; the kernel looks for the rest.
 *
 * With EVENTLOG_STRESS_SECONDS it runs for that long.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "instance_common.h"
#include "mapped_common.h"
#include "module_common.h"
#include "sched_common.h"

#define RING_BYTES (1 << 20)
#define ROUNDS 10
#define PLAYERS 4
#define CAUSES 13
#define HOUR 3600000000000ULL

static bool stop;
static int root_fd;
static __u32 root_of;

static bool is_stopped(void)
{
	return __atomic_load_n(&stop, __ATOMIC_RELAXED);
}

static void sleep_shortly(void)
{
	const struct timespec time = { .tv_nsec = 100000 };

	/* pause: to be blocked is what the test is about */
	nanosleep(&time, NULL);
}

/* A thread that hands a byte on, as long as there is one before it. */
struct player {
	pthread_t thread;
	int from, to;
};

static void *player_run(void *argument)
{
	const struct player *player = argument;
	struct mapped ring;
	unsigned int i;
	char byte;

	mapped_attach(&ring, root_fd, mapped_least_bytes());
	for (i = 1; !is_stopped(); i++) {
		session_set(&ring, i % 5 ? root_of : 0, SESSION + i / 3);
		if (read(player->from, &byte, 1) != 1)
			break;
		if (i % 7 == 0)
			sched_yield();
		if (i % 11 == 0)
			sleep_shortly();
		if (i % 100 == 0) {
			mapped_unmap(&ring);
			mapped_attach(&ring, root_fd, mapped_least_bytes());
		}
		if (write(player->to, &byte, 1) != 1)
			break;
	}
	/* Those after it find the end of the file; it exits with the session and the ring. */
	close(player->to);
	return NULL;
}

static void players_start(struct player *players)
{
	int ends[PLAYERS][2];
	unsigned int i;

	for (i = 0; i < PLAYERS; i++)
		CHECK_OK(pipe(ends[i]));
	for (i = 0; i < PLAYERS; i++) {
		players[i].from = ends[i][0];
		players[i].to = ends[(i + 1) % PLAYERS][1];
	}
	/* Two of them run at a time. */
	CHECK_EQ(write(ends[0][1], "x", 1), 1);
	CHECK_EQ(write(ends[PLAYERS / 2][1], "x", 1), 1);
	for (i = 0; i < PLAYERS; i++)
		CHECK_EQ(pthread_create(&players[i].thread, NULL, player_run, &players[i]), 0);
}

/* A thread of an instance, which exits with its session. */
static void *visitor_run(void *argument)
{
	const int fd = *(const int *)argument;
	const __u32 of = register_event(fd, "visit u32 x").descriptor;
	struct mapped ring;
	unsigned int i;

	mapped_attach(&ring, fd, mapped_least_bytes());
	for (i = 0; i < 4; i++) {
		session_set(&ring, i % 2 ? of : root_of, SESSION + i);
		sleep_shortly();
	}
	return NULL;
}

/* Makes and deletes instances; the last thread of each has a session until it is deleted. */
static void *visits_run(void *unused)
{
	struct mapped ring;
	pthread_t visitor;
	__u32 id, of;
	int fd;

	while (!is_stopped()) {
		fd = create("visited", &id);
		CHECK_EQ(pthread_create(&visitor, NULL, visitor_run, &fd), 0);
		CHECK_EQ(pthread_join(visitor, NULL), 0);
		of = register_event(fd, "visits u32 x").descriptor;
		mapped_attach(&ring, fd, mapped_least_bytes());
		session_set(&ring, of, SESSION);
		sleep_shortly();
		delete_instance(id);
		sleep_shortly();
		close(fd);
		mapped_unmap(&ring);
	}
	return unused;
}

static void check_off(const struct record *record)
{
	struct off off;

	memcpy(&off, record->payload, sizeof(off));
	CHECK(off.of);
	CHECK(off.cause >= 1 && off.cause <= CAUSES);
	CHECK(off.blocked < HOUR && off.runnable < HOUR);
	CHECK(off.by_tid || (!off.by_of && !off.by[0]));
	CHECK(off.by_of || !off.by_session);
}

static void check_sum(const struct record *record)
{
	struct sum sum;
	unsigned int i;

	memcpy(&sum, record->payload, sizeof(sum));
	CHECK(sum.of && sum.count && sum.runnable < HOUR);
	for (i = 0; i < ARRAY_SIZE(sum.causes); i++)
		CHECK(sum.causes[i] < HOUR);
}

static unsigned int check_events(struct consumer *consumer)
{
	struct record record;
	unsigned int count = 0;

	flush(consumer->fd);
	while (consumer_next(consumer, &record)) {
		count++;
		/* Stacks are of no session. */
		if (!record.header->session)
			continue;
		if (record.bytes >= sizeof(struct sum))
			check_sum(&record);
		else if (record.bytes >= sizeof(struct off))
			check_off(&record);
	}
	return count;
}

/* Unloads the module before or after the capture ends. */
static unsigned int capture(unsigned int round)
{
	struct consumer consumer;
	unsigned int count, i;

	sched_load(round % 2 ? "min_us=10" : "min_us=100");
	mapped_consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, "sched", NULL);
	for (i = 0; i < 20; i++)
		sleep_shortly();
	if (round % 4 < 2)
		sched_unload();
	count = check_events(&consumer);
	consumer_close(&consumer);
	if (round % 4 >= 2)
		sched_unload();
	return count;
}

TEST_WITHIN(captures_and_modules_change, 900)
{
	struct player players[PLAYERS];
	unsigned int round, count = 0, i;
	pthread_t visits;

	root_fd = device_open();
	root_of = register_event(root_fd, "play u32 x").descriptor;
	players_start(players);
	CHECK_EQ(pthread_create(&visits, NULL, visits_run, NULL), 0);
	for (round = 0; round < ROUNDS || test_has_time(); round++)
		count += capture(round);
	test_print("%u captures, %u events", round, count);
	CHECK(count);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	CHECK_EQ(pthread_join(visits, NULL), 0);
	for (i = 0; i < PLAYERS; i++) {
		CHECK_EQ(pthread_join(players[i].thread, NULL), 0);
		close(players[i].from);
	}
	close(root_fd);
}
