// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of FLUSH: no record with a time before the returned one appears later.
 * consumer_next() also checks the order of the records in each ring.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mapped_common.h"

#define RING_BYTES (1 << 18)

struct writer {
	int fd;
	__u32 index;
	unsigned int cpu;
	bool roams;		/* moves from CPU to CPU */
	bool *stop;
	__u64 written;
};

/* The payload of an event: the time just before the write. */
struct stamp {
	__u64 time;
	unsigned char filler[1000];
};

static void *write_stamps(void *argument)
{
	struct writer *writer = argument;
	__u64 seed = (unsigned long)writer, written = 0;
	unsigned int cpus[64], count;
	struct stamp stamp = { 0 };

	count = cpus_allowed(cpus, ARRAY_SIZE(cpus));
	cpu_pin(cpus[writer->cpu % count]);
	while (!__atomic_load_n(writer->stop, __ATOMIC_ACQUIRE)) {
		if (writer->roams && test_random(&seed) % 16 == 0)
			cpu_pin(cpus[test_random(&seed) % count]);
		stamp.time = clock_now();
		CHECK_OK(emit(writer->fd, writer->index, &stamp,
			      8 + test_random(&seed) % (sizeof(stamp) - 8)));
		__atomic_store_n(&writer->written, ++written, __ATOMIC_RELEASE);
	}
	return NULL;
}

struct load {
	struct writer writers[4];
	pthread_t threads[4];
	bool stop;
};

static void load_start(struct load *load)
{
	unsigned int i;

	memset(load, 0, sizeof(*load));
	for (i = 0; i < ARRAY_SIZE(load->writers); i++) {
		struct writer *writer = &load->writers[i];

		writer->fd = device_open();
		writer->index = register_event(writer->fd, "stamp u64 time").write_index;
		writer->cpu = i;
		writer->roams = i % 2;
		writer->stop = &load->stop;
		CHECK_EQ(pthread_create(&load->threads[i], NULL, write_stamps, writer), 0);
	}
}

static void load_stop(struct load *load)
{
	unsigned int i;

	__atomic_store_n(&load->stop, true, __ATOMIC_RELEASE);
	for (i = 0; i < ARRAY_SIZE(load->writers); i++) {
		CHECK_EQ(pthread_join(load->threads[i], NULL), 0);
		close(load->writers[i].fd);
	}
}

static __u64 load_written(const struct load *load)
{
	__u64 sum = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(load->writers); i++)
		sum += __atomic_load_n(&load->writers[i].written, __ATOMIC_ACQUIRE);
	return sum;
}

/* Reads all records; the writer's stamp is never later than the record's time. */
static unsigned int take_all(struct consumer *consumer)
{
	unsigned int count = 0;
	struct record record;
	__u64 stamp;

	while (consumer_next(consumer, &record)) {
		memcpy(&stamp, record.payload, sizeof(stamp));
		CHECK(stamp <= record.header->time);
		count++;
	}
	return count;
}

/*
 * Records that are visible when FLUSH returns may have any time; records that become
 * visible later must have at least the returned time.
 */
static void take_after_flush(struct consumer *consumer, __u64 *count)
{
	__u64 time;

	*count += take_all(consumer);
	time = flush(consumer->fd);
	consumer_hold(consumer, time);
	*count += take_all(consumer);
}

TEST(nothing_older_appears_after_flush)
{
	struct consumer consumer;
	struct load load;
	__u64 count = 0;
	unsigned int round;

	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, "stamp");
	load_start(&load);
	for (round = 0; round < 400; round++) {
		const __u64 written = load_written(&load);

		take_after_flush(&consumer, &count);
		WAIT_FOR(load_written(&load) > written);
	}
	load_stop(&load);
	count += take_all(&consumer);
	CHECK_EQ(count + lost_sum(stat_all(consumer.fd).lost), load_written(&load));
	CHECK(count > 400);
	test_print("%llu events, %llu lost", (unsigned long long)count,
		   (unsigned long long)lost_sum(stat_all(consumer.fd).lost));
	consumer_close(&consumer);
}

/* The same with a slow consumer and full rings. */
TEST(nothing_older_appears_in_full_rings)
{
	struct consumer consumer;
	struct load load;
	__u64 count = 0;
	unsigned int round;

	consumer_open(&consumer, 2 * page_size());
	rule_add(consumer.fd, NULL, "stamp");
	load_start(&load);
	for (round = 0; round < 200; round++) {
		const __u64 written = load_written(&load);

		take_after_flush(&consumer, &count);
		WAIT_FOR(load_written(&load) > written + 100);
	}
	load_stop(&load);
	count += take_all(&consumer);
	CHECK_EQ(count + lost_sum(stat_all(consumer.fd).lost), load_written(&load));
	CHECK(lost_sum(stat_all(consumer.fd).lost));
	consumer_close(&consumer);
}

/* Events written before the call of FLUSH are visible when it returns. */
TEST(everything_older_is_visible)
{
	struct consumer consumer;
	struct eventlog_register event;
	struct record record;
	unsigned int cpus[64], count, round;
	int fd = device_open();
	__u64 time;

	count = cpus_allowed(cpus, ARRAY_SIZE(cpus));
	event = register_event(fd, "event u64 number");
	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, NULL);
	for (round = 0; round < 200; round++) {
		__u64 number = round;

		cpu_pin(cpus[round % count]);
		CHECK_OK(emit(fd, event.write_index, &number, sizeof(number)));
		cpu_pin(cpus[round / 2 % count]);
		time = flush(consumer.fd);
		consumer_one(&consumer, &record);
		CHECK(record.header->time <= time);
		CHECK(!memcmp(record.payload, &number, sizeof(number)));
	}
	consumer_close(&consumer);
	close(fd);
}

/* Several threads flush at once, some of them the same file; each call keeps its promise. */
struct flusher {
	struct consumer consumer;
	bool *stop;
	unsigned int rounds;
};

static void *flush_on(void *argument)
{
	struct flusher *flusher = argument;
	__u64 count = 0, before = 0, time;

	while (!__atomic_load_n(flusher->stop, __ATOMIC_ACQUIRE)) {
		take_after_flush(&flusher->consumer, &count);
		time = flush(flusher->consumer.fd);
		CHECK(time >= before);
		before = time;
		__atomic_fetch_add(&flusher->rounds, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void *flush_only(void *argument)
{
	struct flusher *flusher = argument;

	while (!__atomic_load_n(flusher->stop, __ATOMIC_ACQUIRE))
		flush(flusher->consumer.fd);
	return NULL;
}

TEST(several_callers_flush)
{
	struct flusher flushers[3];
	pthread_t threads[ARRAY_SIZE(flushers) + 1];
	bool stop = false;
	struct load load;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(flushers); i++) {
		flushers[i] = (struct flusher){ .stop = &stop };
		consumer_open(&flushers[i].consumer, RING_BYTES);
		rule_add(flushers[i].consumer.fd, NULL, NULL);
	}
	load_start(&load);
	for (i = 0; i < ARRAY_SIZE(flushers); i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, flush_on, &flushers[i]), 0);
	CHECK_EQ(pthread_create(&threads[i], NULL, flush_only, &flushers[0]), 0);
	for (i = 0; i < ARRAY_SIZE(flushers); i++)
		WAIT_FOR(__atomic_load_n(&flushers[i].rounds, __ATOMIC_ACQUIRE) >= 30);
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		CHECK_EQ(pthread_join(threads[i], NULL), 0);
	load_stop(&load);
	for (i = 0; i < ARRAY_SIZE(flushers); i++)
		consumer_close(&flushers[i].consumer);
}

/* The caller of FLUSH is killed at random points, with and without other callers. */
TEST(flush_can_be_killed)
{
	struct consumer consumer;
	struct load load;
	unsigned int round;
	int ready[2];
	pid_t child;
	char byte;

	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, NULL);
	load_start(&load);
	CHECK_OK(pipe(ready));
	for (round = 0; round < 50; round++) {
		child = test_fork();
		if (!child) {
			struct consumer own;

			consumer_open(&own, RING_BYTES);
			rule_add(own.fd, NULL, NULL);
			for (;;) {
				flush(round % 2 ? own.fd : consumer.fd);
				if (write(ready[1], "", 1) != 1)
					_exit(1);
			}
		}
		while (read(ready[0], &byte, 1) != 1)
			;
		CHECK_OK(kill(child, SIGKILL));
		test_join_signal(child, SIGKILL);
		take_all(&consumer);
	}
	load_stop(&load);
	consumer_close(&consumer);
}

static void add_rule(int fd)
{
	rule_add(fd, NULL, "never");
}

/*
 * Kills a child whose call delivers the events of a producer ring, once it has taken some.  Returns
 * whether it was killed before it had taken all; the signal may have come too late.
 */
static bool killed_while_it_delivers(void (*call)(int fd))
{
	const struct timespec moment = { .tv_nsec = 20000 };
	const struct sched_param idle = { 0 };
	struct eventlog_mapped_record record = { 0 };
	struct consumer consumer;
	unsigned int sent = 0, received = 0;
	struct mapped ring;
	bool in_time;
	__u32 rule;
	pid_t child;
	int fd;

	mapped_consumer_open(&consumer, 1 << 21);
	rule_add(consumer.fd, NULL, "number");
	rule = rule_add(consumer.fd, NULL, "never");
	fd = device_open();
	record.write_index = register_event(fd, "number u32 number").write_index;
	mapped_attach(&ring, fd, EVENTLOG_MAPPED_BYTES_MAX);
	record.time = mapped_time(&ring);
	while (mapped_put(&ring, record, &sent, sizeof(sent)))
		sent++;
	child = test_fork();
	if (!child) {
		/* So that the parent can stop it on one CPU, where the kernel is not preempted. */
		CHECK_OK(sched_setscheduler(0, SCHED_IDLE, &idle));
		call(consumer.fd);
		pause();
	}
	while (!__atomic_load_n(&ring.header->position, __ATOMIC_ACQUIRE))
		nanosleep(&moment, NULL);	/* pause: the child needs the CPU, too */
	CHECK_OK(kill(child, SIGKILL));
	test_join_signal(child, SIGKILL);
	in_time = !mapped_taken(&ring);
	/* It has not added a rule.  Each event arrives once. */
	if (in_time)
		CHECK_EQ(rule_add(consumer.fd, NULL, "never"), rule + 1);
	flush(consumer.fd);
	for (struct record next; consumer_next(&consumer, &next); received++)
		CHECK(!memcmp(next.payload, &received, sizeof(received)));
	CHECK_EQ(received, sent);
	mapped_unmap(&ring);
	close(fd);
	consumer_close(&consumer);
	return in_time;
}

static void flush_once(int fd)
{
	flush(fd);
}

TEST(killed_while_it_delivers)
{
	void (*const calls[])(int fd) = { flush_once, add_rule };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		WAIT_FOR(killed_while_it_delivers(calls[i]));
}

/* A signal that is not fatal does not interrupt FLUSH. */
static void on_signal(int number)
{
	(void)number;
}

static void *send_signals(void *argument)
{
	struct flusher *flusher = argument;

	while (!__atomic_load_n(flusher->stop, __ATOMIC_ACQUIRE)) {
		CHECK_OK(kill(getpid(), SIGUSR1));
		sched_yield();
	}
	return NULL;
}

TEST(signals_do_not_interrupt_flush)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct flusher flusher = { .rounds = 0 };
	bool stop = false;
	pthread_t thread;
	unsigned int round;

	CHECK_OK(sigaction(SIGUSR1, &action, NULL));
	consumer_open(&flusher.consumer, RING_BYTES);
	flusher.stop = &stop;
	CHECK_EQ(pthread_create(&thread, NULL, send_signals, &flusher), 0);
	for (round = 0; round < 100; round++)
		flush(flusher.consumer.fd);
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	consumer_close(&flusher.consumer);
}
