// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of shards with honest producers: what a thread puts into its ring arrives as it
 * was, with its time, whatever the other rings of the shard contain.  mapped_test has the
 * tests of producers that break the rules.
 *
 * An honest record may be late: its thread reads the clock, and a pass of the kernel comes
 * before the record is committed.  The kernel then changes its time.  So the rings of these
 * tests sleep while their threads run, and FLUSH takes everything in one pass.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mapped_common.h"

#define RINGS_OF_SHARD 5
#define SHARDS_MAX 8
#define THREADS_MAX (RINGS_OF_SHARD * SHARDS_MAX)
#define STAMPS 400
#define ROUNDS 10
#define RING_BYTES (1 << 20)

/* A ring, and who fills it. */
struct emitter {
	unsigned int number;
	__u32 write_index;
	__u32 sent;
	__u64 seed;
	struct mapped ring;
	pthread_t thread;
};

/* The payload: who has emitted it, and when. */
struct stamped {
	__u32 emitter;
	__u32 number;
	__u64 time;
};

static pthread_barrier_t barrier;

static void put_stamp(struct emitter *emitter)
{
	const struct stamped stamped = {
		.emitter = emitter->number, .number = emitter->sent++,
		.time = mapped_time(&emitter->ring),
	};
	const struct eventlog_mapped_record record = {
		.write_index = emitter->write_index, .time = stamped.time,
	};

	CHECK(mapped_put(&emitter->ring, record, &stamped, sizeof(stamped)));
}

static void *put_stamps(void *argument)
{
	struct emitter *emitter = argument;
	__u64 seed = emitter->seed;

	pthread_barrier_wait(&barrier);
	while (emitter->sent < STAMPS) {
		if (test_random(&seed) % 4 == 0)
			sched_yield();
		put_stamp(emitter);
	}
	return NULL;
}

/* Threads fill the rings at the same time. */
static void fill_with_threads(struct emitter *emitters, unsigned int count)
{
	__u64 seed = test_seed();
	unsigned int i;

	CHECK_EQ(pthread_barrier_init(&barrier, NULL, count), 0);
	for (i = 0; i < count; i++)
		emitters[i].seed = test_random(&seed);
	for (i = 0; i < count; i++)
		CHECK_EQ(pthread_create(&emitters[i].thread, NULL, put_stamps, &emitters[i]), 0);
	for (i = 0; i < count; i++)
		CHECK_EQ(pthread_join(emitters[i].thread, NULL), 0);
	pthread_barrier_destroy(&barrier);
}

/* One thread fills them in random order: on one CPU, threads seldom take turns. */
static void fill_in_turns(struct emitter *emitters, unsigned int count)
{
	__u64 seed = test_seed();
	unsigned int left = count * STAMPS, i;

	while (left) {
		i = test_random(&seed) % count;
		if (emitters[i].sent == STAMPS)
			continue;
		put_stamp(&emitters[i]);
		left--;
	}
}

/* All records have arrived, none was changed, and each ring of the subscriber is in order. */
static void check_stamps(struct consumer *consumer, unsigned int emitters)
{
	__u32 next[THREADS_MAX] = { 0 };
	struct stamped stamped;
	struct record record;
	unsigned int i;

	while (consumer_next(consumer, &record)) {
		CHECK_EQ(record.bytes, sizeof(stamped));
		memcpy(&stamped, record.payload, sizeof(stamped));
		CHECK(stamped.emitter < emitters);
		test_note("record %u of emitter %u", stamped.number, stamped.emitter);
		CHECK_EQ(stamped.number, next[stamped.emitter]);
		CHECK_EQ(record.header->time, stamped.time);
		CHECK_EQ(record.header->size_flags & ~EVENTLOG_RECORD_SIZE_MASK,
			 EVENTLOG_RECORD_FLAG_MAPPED);
		next[stamped.emitter]++;
	}
	for (i = 0; i < emitters; i++)
		CHECK_EQ(next[i], STAMPS);
}

static void check_rounds(void (*fill)(struct emitter *emitters, unsigned int count))
{
	struct emitter *emitters = calloc(THREADS_MAX, sizeof(*emitters));
	struct consumer consumer;
	unsigned int count, round, i;
	__u32 write_index;
	int fd = device_open();

	CHECK(emitters);
	write_index = register_event(fd, "stamped u32 emitter; u32 number; u64 time").write_index;
	mapped_consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, "stamped");
	CHECK(consumer.setup.shards <= SHARDS_MAX);
	/* The rings of a user are spread evenly. */
	count = consumer.setup.shards * RINGS_OF_SHARD;
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < count; i++) {
			emitters[i] = (struct emitter){ .number = i, .write_index = write_index };
			mapped_attach(&emitters[i].ring, fd, 8 * mapped_least_bytes());
		}
		fill(emitters, count);
		/* Nothing was taken before. */
		for (i = 0; i < count; i++)
			CHECK_EQ(mapped_ask(&emitters[i].ring), EVENTLOG_MAPPED_ASK_KICK);
		flush(consumer.fd);
		check_stamps(&consumer, count);
		for (i = 0; i < count; i++)
			mapped_unmap(&emitters[i].ring);
	}
	CHECK_EQ(lost_sum(stat_all(consumer.fd).lost), 0);
	consumer_close(&consumer);
	free(emitters);
	close(fd);
}

TEST(honest_records_keep_their_times)
{
	check_rounds(fill_in_turns);
}

TEST(honest_records_of_threads_keep_their_times)
{
	check_rounds(fill_with_threads);
}

/*
 * A registration without session.  A producer may leave anything in the session of its
 * record: neither a reader nor a rule sees it.
 */
TEST(without_registration_there_is_no_session)
{
	const __u64 sessions[] = { 1, 7, 1ULL << 63, ~0ULL };
	struct eventlog_rule rule = rule_request(NULL, "plain");
	struct eventlog_mapped_record header;
	struct consumer all, of_session;
	struct mapped ring;
	struct record record;
	int fd = device_open();
	unsigned int i;

	header = (struct eventlog_mapped_record){
		.write_index = register_event(fd, "plain u64 number").write_index,
	};
	mapped_attach(&ring, fd, mapped_least_bytes());
	mapped_consumer_open(&all, RING_BYTES);
	rule_add(all.fd, NULL, "plain");
	rule.flags = EVENTLOG_RULE_SESSION;
	rule.session = 7;
	mapped_consumer_open(&of_session, RING_BYTES);
	rule_add_with(of_session.fd, &rule);
	for (i = 0; i < ARRAY_SIZE(sessions); i++) {
		header.time = mapped_time(&ring);
		header.session = sessions[i];
		CHECK(mapped_put(&ring, header, &sessions[i], sizeof(sessions[i])));
		CHECK_EQ(mapped_kick(&ring), 8);
		consumer_one(&all, &record);
		CHECK_EQ(record.header->session, 0);
	}
	CHECK_EQ(consumer_skip(&of_session), 0);
	mapped_unmap(&ring);
	consumer_close(&of_session);
	consumer_close(&all);
	close(fd);
}
