// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of EVENTLOG_WRITE_BATCH: several events in one write().  Each event is delivered
 * whole and in order, or not at all, and the result says how far the call came.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "eventlog_common.h"

#define RING_BYTES (1 << 20)
#define BATCH_MAX (512 << 10)

/* A producer, its subscriber, and a batch. */
struct fixture {
	int fd;
	__u32 number;		/* write_index of "number u64 number" */
	__u32 text;		/* of "text __data_loc char[] text" */
	__u32 disabled;
	__u32 session;		/* of "session u64 number", with a session */
	__u32 number_descriptor;
	struct consumer consumer;
	unsigned char *batch;
	size_t bytes;
	__u64 invalid;		/* failures that are counted as such */
	__u64 sent;		/* the next number */
	__u64 received;
};

static void set_up(struct fixture *fixture)
{
	struct eventlog_register session = register_request("session u64 number"), number;

	memset(fixture, 0, sizeof(*fixture));
	fixture->fd = device_open();
	number = register_event(fixture->fd, "number u64 number");
	fixture->number = number.write_index;
	fixture->number_descriptor = number.descriptor;
	fixture->text = register_event(fixture->fd, "text __data_loc char[] text").write_index;
	fixture->disabled = register_event(fixture->fd, "disabled u64 number").write_index;
	session.flags = EVENTLOG_REGISTER_SESSION;
	register_with(fixture->fd, &session);
	fixture->session = session.write_index;
	consumer_open(&fixture->consumer, RING_BYTES);
	rule_add(fixture->consumer.fd, NULL, "[nst]*");
	fixture->batch = malloc(BATCH_MAX);
	CHECK(fixture->batch);
}

static void tear_down(struct fixture *fixture)
{
	const struct eventlog_stat counts = stat_all(fixture->consumer.fd);

	CHECK_EQ(counts.lost[EVENTLOG_LOST_ABORTED], fixture->invalid);
	CHECK_EQ(lost_sum(counts.lost), fixture->invalid);
	free(fixture->batch);
	consumer_close(&fixture->consumer);
	close(fixture->fd);
}

static void append(struct fixture *fixture, const void *data, size_t bytes)
{
	CHECK(fixture->bytes + bytes <= BATCH_MAX);
	if (bytes)
		memcpy(fixture->batch + fixture->bytes, data, bytes);
	fixture->bytes += bytes;
}

static void append_word(struct fixture *fixture, __u32 word)
{
	append(fixture, &word, sizeof(word));
}

static void batch_begin(struct fixture *fixture)
{
	fixture->bytes = 0;
	append_word(fixture, EVENTLOG_WRITE_BATCH);
}

static void batch_add(struct fixture *fixture, __u32 index, const void *payload, size_t bytes)
{
	append_word(fixture, sizeof(index) + bytes);
	append_word(fixture, index);
	append(fixture, payload, bytes);
}

/* Adds the next numbered event. */
static void batch_number(struct fixture *fixture)
{
	batch_add(fixture, fixture->number, &fixture->sent, sizeof(fixture->sent));
	fixture->sent++;
}

static ssize_t batch_write(struct fixture *fixture)
{
	return write(fixture->fd, fixture->batch, fixture->bytes);
}

/* All numbered events so far have arrived, and nothing else. */
static void check_numbers(struct fixture *fixture)
{
	struct record record;
	__u64 number;

	while (consumer_next(&fixture->consumer, &record)) {
		CHECK_EQ(record.header->descriptor, fixture->number_descriptor);
		CHECK_EQ(record.bytes, sizeof(number));
		memcpy(&number, record.payload, sizeof(number));
		CHECK_EQ(number, fixture->received);
		fixture->received++;
	}
	CHECK_EQ(fixture->received, fixture->sent);
}

TEST(events_arrive_whole_and_in_order)
{
	const size_t sizes[] = { 1, 8, 500, 508, 512, 513, 5000, 60000 };
	const __u64 session[] = { 77, 12 };
	struct fixture fixture;
	struct record record;
	unsigned char *text;
	__u32 location;
	unsigned int i;

	set_up(&fixture);
	text = malloc(1 << 16);
	CHECK(text);
	/* consumer_next() reads ring by ring. */
	cpu_pin(0);
	batch_begin(&fixture);
	batch_add(&fixture, fixture.session, session, sizeof(session));
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		location = sizes[i] << 16 | sizeof(location);
		memcpy(text, &location, sizeof(location));
		memset(text + 4, 'a' + i, sizes[i]);
		text[4 + sizes[i] - 1] = '\0';
		batch_add(&fixture, fixture.text, text, sizeof(location) + sizes[i]);
	}
	CHECK_EQ(batch_write(&fixture), (ssize_t)fixture.bytes);
	CHECK(consumer_next(&fixture.consumer, &record));
	CHECK_EQ(record.header->session, 77);
	CHECK(!memcmp(record.payload, &session[1], 8));
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		CHECK(consumer_next(&fixture.consumer, &record));
		CHECK_EQ(record.header->session, 0);
		CHECK_EQ(record.header->pid, getpid());
		CHECK_EQ(record.bytes, ALIGN_UP(4 + sizes[i], 8));
		memset(text, 'a' + i, sizes[i]);
		CHECK(!memcmp(record.payload + 4, text, sizes[i] - 1));
	}
	CHECK(!consumer_next(&fixture.consumer, &record));
	free(text);
	tear_down(&fixture);
}

TEST(thousands_of_events_in_pieces)
{
	struct fixture fixture;
	struct iovec parts[64];
	__u64 seed = test_seed();
	unsigned int i;
	size_t used;

	set_up(&fixture);
	cpu_pin(0);
	batch_begin(&fixture);
	for (i = 0; i < 5000; i++)
		batch_number(&fixture);
	for (used = 0, i = 0; i < ARRAY_SIZE(parts); i++) {
		parts[i].iov_base = fixture.batch + used;
		parts[i].iov_len = i + 1 == ARRAY_SIZE(parts) ? fixture.bytes - used :
				   test_random(&seed) % (fixture.bytes / ARRAY_SIZE(parts));
		used += parts[i].iov_len;
	}
	CHECK_EQ(writev(fixture.fd, parts, ARRAY_SIZE(parts)), (ssize_t)fixture.bytes);
	check_numbers(&fixture);
	tear_down(&fixture);
}

TEST(disabled_events_are_skipped)
{
	static unsigned char large[5000];
	struct fixture fixture;
	__u64 number = 1;

	set_up(&fixture);
	cpu_pin(0);
	batch_begin(&fixture);
	batch_add(&fixture, fixture.disabled, &number, sizeof(number));
	CHECK_EQ(batch_write(&fixture), (ssize_t)fixture.bytes);
	batch_add(&fixture, fixture.disabled, large, sizeof(large));
	batch_number(&fixture);
	batch_add(&fixture, fixture.disabled, large, sizeof(large));
	/* Nothing of it is checked: it may be invalid. */
	batch_add(&fixture, fixture.disabled, NULL, 0);
	batch_number(&fixture);
	batch_add(&fixture, fixture.disabled, &number, sizeof(number));
	CHECK_EQ(batch_write(&fixture), (ssize_t)fixture.bytes);
	check_numbers(&fixture);
	tear_down(&fixture);
}

/*
 * Appends something that fails to a batch: as its only event, and after another one.
 * Then the rest can be written on its own.
 */
static void check_failure(struct fixture *fixture, const void *bad, size_t bytes, int error)
{
	const __u32 batch = EVENTLOG_WRITE_BATCH;
	size_t done;

	batch_begin(fixture);
	append(fixture, bad, bytes);
	CHECK_ERRNO(batch_write(fixture), error);
	batch_begin(fixture);
	batch_number(fixture);
	done = fixture->bytes;
	append(fixture, bad, bytes);
	CHECK_EQ(batch_write(fixture), (ssize_t)done);
	check_numbers(fixture);
	memcpy(fixture->batch + done - sizeof(batch), &batch, sizeof(batch));
	CHECK_ERRNO(write(fixture->fd, fixture->batch + done - sizeof(batch),
			  fixture->bytes - done + sizeof(batch)), error);
}

TEST(first_failure_ends_the_batch)
{
	struct fixture fixture;
	unsigned char *large = calloc(1, EVENTLOG_PAYLOAD_MAX + 1000);
	__u32 words[5] = { 0 };
	__u32 i;

	CHECK(large);
	set_up(&fixture);
	cpu_pin(0);
	/* Too short for the size and an index, or for the size that it states. */
	words[0] = 12;
	words[1] = fixture.number;
	for (i = 1; i < 16; i++)
		check_failure(&fixture, words, i, EINVAL);
	for (words[0] = 0; words[0] < 4; words[0]++)
		check_failure(&fixture, words, 16, EINVAL);
	/* Sizes that wrap. */
	for (i = 1; i < 16; i++) {
		words[0] = -i;
		check_failure(&fixture, words, 16, EINVAL);
	}
	words[0] = 1U << 31;
	check_failure(&fixture, words, 16, EINVAL);
	/* The payload is too short. */
	words[0] = 11;
	check_failure(&fixture, words, 15, EINVAL);
	words[0] = 12;
	words[1] = fixture.session;
	check_failure(&fixture, words, 16, EINVAL);
	/* Indices, and batches in batches. */
	for (i = 0; i < 9; i++) {
		const struct {
			__u32 index;
			int error;
		} cases[] = {
			{ 0, ENOENT }, { fixture.session + 1, ENOENT }, { 0x7fffffff, ENOENT },
			{ 0x80000000, EINVAL }, { EVENTLOG_WRITE_BATCH, EINVAL },
			{ EVENTLOG_WRITE_KICK, EINVAL }, { 0xffffffff, EINVAL },
			{ 0x80000000 | fixture.number, EINVAL }, { EVENTLOG_WRITE_SESSION, EINVAL },
		};

		words[1] = cases[i].index;
		check_failure(&fixture, words, 16, cases[i].error);
	}
	/* A string outside of the payload; a payload that is too large. */
	words[0] = 8;
	words[1] = fixture.text;
	words[2] = 1 << 16 | 400;
	check_failure(&fixture, words, 12, EBADMSG);
	words[0] = 4 + EVENTLOG_PAYLOAD_MAX + 1;
	words[1] = fixture.number;
	memcpy(large, words, 8);
	check_failure(&fixture, large, 4 + words[0], E2BIG);
	/* Payloads, of which check_failure() writes each three times. */
	fixture.invalid = 4 * 3;
	free(large);
	tear_down(&fixture);
}

/* Memory that ends within a batch: what was before it is emitted. */
TEST(unreadable_memory_ends_the_batch)
{
	unsigned char *pages = pages_map(2 * page_size()), *start;
	struct fixture fixture;
	size_t readable, done;

	set_up(&fixture);
	cpu_pin(0);
	CHECK_OK(munmap(pages + page_size(), page_size()));
	batch_begin(&fixture);
	for (done = 0; done < 8; done++)
		batch_number(&fixture);
	fixture.sent = 0;
	for (readable = 0; readable < fixture.bytes; readable++) {
		done = readable >= 4 ? (readable - 4) / 16 : 0;
		start = pages + page_size() - readable;
		memcpy(start, fixture.batch, readable);
		if (done)
			CHECK_EQ(write(fixture.fd, start, fixture.bytes), 4 + 16 * done);
		else
			CHECK_ERRNO(write(fixture.fd, start, fixture.bytes), EFAULT);
		fixture.sent = done;
		fixture.received = 0;
		check_numbers(&fixture);
	}
	fixture.sent = fixture.received = 0;
	tear_down(&fixture);
}

struct scribbler {
	unsigned char *batch;
	size_t bytes;
	bool stop;
};

static void *scribble(void *argument)
{
	struct scribbler *scribbler = argument;
	__u64 seed = test_seed();

	while (!__atomic_load_n(&scribbler->stop, __ATOMIC_ACQUIRE)) {
		__u64 random = test_random(&seed);
		volatile __u32 *word = (__u32 *)(scribbler->batch + random % scribbler->bytes / 4 * 4);
		__u32 value = *word;

		*word = random >> 32;
		sched_yield();
		*word = value;
	}
	return NULL;
}

/* Another thread changes the batch: records are valid all the same. */
TEST(batch_changes_while_it_is_written)
{
	struct scribbler scribbler = { 0 };
	struct fixture fixture;
	struct record record;
	unsigned int round, i;
	pthread_t thread;
	ssize_t written;

	set_up(&fixture);
	batch_begin(&fixture);
	for (i = 0; i < 100; i++)
		batch_number(&fixture);
	scribbler.batch = fixture.batch;
	scribbler.bytes = fixture.bytes;
	CHECK_EQ(pthread_create(&thread, NULL, scribble, &scribbler), 0);
	for (round = 0; round < 500; round++) {
		written = batch_write(&fixture);
		CHECK(written <= (ssize_t)fixture.bytes);
		while (consumer_next(&fixture.consumer, &record))
			;
	}
	__atomic_store_n(&scribbler.stop, true, __ATOMIC_RELEASE);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	tear_down(&fixture);
}
