// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of overwrite mode: which records a paused ring holds, PAUSE, and reading a
 * ring while it is written.
 */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eventlog_common.h"

#define PAYLOAD_MAX 400

static int try_pause(int fd, __u32 paused)
{
	struct eventlog_pause request = { .size = sizeof(request), .paused = paused };

	return ioctl(fd, EVENTLOG_IOC_PAUSE, &request);
}

static void overwriting_open(struct consumer *consumer, __u64 ring_bytes, __u32 sub_buffers)
{
	struct eventlog_subscribe request = subscribe_request(ring_bytes);

	request.flags = EVENTLOG_SUBSCRIBE_OVERWRITE;
	request.sub_buffers = sub_buffers;
	consumer_open_with(consumer, &request);
}

/* An event carries its number and its size; every further byte is the number's low byte. */
struct numbered {
	__u64 number;
	__u64 bytes;
	unsigned char fill[PAYLOAD_MAX];
};

static size_t numbered_make(struct numbered *event, __u64 number)
{
	event->number = number;
	event->bytes = number * 37 % PAYLOAD_MAX;
	memset(event->fill, number, event->bytes);
	return offsetof(struct numbered, fill) + event->bytes;
}

static bool numbered_whole(const struct numbered *event, size_t bytes)
{
	size_t used = offsetof(struct numbered, fill) + event->bytes, i;

	if (event->bytes != event->number * 37 % PAYLOAD_MAX || bytes != ALIGN_UP(used, 8))
		return false;
	for (i = 0; i < event->bytes; i++)
		if (event->fill[i] != (unsigned char)event->number)
			return false;
	return true;
}

static void emit_numbered(int fd, __u32 index, __u64 first, __u64 count)
{
	struct numbered event;
	__u64 i;

	for (i = first; i < first + count; i++)
		CHECK_OK(emit(fd, index, &event, numbered_make(&event, i)));
}

/* Start of the oldest sub-buffer that is whole. */
static __u64 oldest(const struct eventlog_ring_header *header, __u64 head)
{
	if (head <= header->data_bytes)
		return 0;
	return (head - header->data_bytes + header->sub_buffer_bytes - 1) &
	       ~(header->sub_buffer_bytes - 1);
}

/* Makes consumer_next() start at the oldest record of a paused ring. */
static void rewind_rings(struct consumer *consumer)
{
	unsigned int cpu;

	for (cpu = 0; cpu < consumer->setup.rings; cpu++) {
		struct ring *ring = &consumer->rings[cpu];

		if (!ring->header)
			continue;
		CHECK_EQ(ring->header->head, ring->header->committed);
		ring->position = oldest(ring->header, ring->header->head);
		ring->limit = ring->position;
	}
}

TEST(pause_errnos)
{
	struct eventlog_pause request = { .size = sizeof(request) };
	struct consumer consumer;
	int fd = device_open();

	CHECK_ERRNO(try_pause(fd, 1), EINVAL);
	register_event(fd, "pause u32 a");
	CHECK_ERRNO(try_pause(fd, 1), EINVAL);
	overwriting_open(&consumer, 2 * page_size(), 0);
	CHECK_ERRNO(try_pause(consumer.fd, 2), EINVAL);
	CHECK_ERRNO(try_pause(consumer.fd, -1), EINVAL);
	CHECK_ERRNO(ioctl(consumer.fd, EVENTLOG_IOC_PAUSE, NULL), EFAULT);
	request.size = 4;
	CHECK_ERRNO(ioctl(consumer.fd, EVENTLOG_IOC_PAUSE, &request), EINVAL);
	CHECK_OK(try_pause(consumer.fd, 0));
	CHECK_OK(try_pause(consumer.fd, 1));
	CHECK_OK(try_pause(consumer.fd, 1));
	CHECK_OK(try_pause(consumer.fd, 0));
	consumer_close(&consumer);
	close(fd);
}

/* Without a reader the ring holds the last events without a gap. */
static void keeps_newest(__u64 ring_bytes, __u32 sub_buffers, __u64 count)
{
	struct eventlog_register event;
	struct consumer consumer;
	struct record record;
	unsigned int cpu;
	__u64 next = 0, kept = 0, sub_buffer;
	int fd = device_open();

	cpus_allowed(&cpu, 1);
	cpu_pin(cpu);
	event = register_event(fd, "newest u64 number; u64 bytes");
	overwriting_open(&consumer, ring_bytes, sub_buffers);
	rule_add(consumer.fd, NULL, "newest");
	emit_numbered(fd, event.write_index, 0, count);
	CHECK_EQ(lost_sum(stat_all(consumer.fd).lost), 0);
	CHECK_EQ(stat_all(consumer.fd).records, count);

	CHECK_OK(try_pause(consumer.fd, 1));
	rewind_rings(&consumer);
	while (consumer_next(&consumer, &record)) {
		const struct numbered *numbered = (const void *)record.payload;

		CHECK(numbered_whole(numbered, record.bytes));
		if (next)
			CHECK_EQ(numbered->number, next);
		next = numbered->number + 1;
		kept += sizeof(*record.header) + record.bytes;
	}
	CHECK_EQ(next, count);
	/* All sub-buffers but the one being overwritten, less the padding in them. */
	sub_buffer = consumer.rings[cpu].header->sub_buffer_bytes;
	CHECK(kept >= ring_bytes - sub_buffer - ring_bytes / sub_buffer * 512);
	consumer_close(&consumer);
	close(fd);
}

TEST(smallest_ring_keeps_the_newest)
{
	keeps_newest(2 * page_size(), 2, 500);
}

TEST(many_sub_buffers_keep_the_newest)
{
	keeps_newest(64 * page_size(), 64, 3000);
}

TEST(ring_that_is_not_full)
{
	struct eventlog_register event;
	struct consumer consumer;
	int fd = device_open();

	event = register_event(fd, "newest u64 number; u64 bytes");
	overwriting_open(&consumer, 64 * page_size(), 0);
	rule_add(consumer.fd, NULL, "newest");
	emit_numbered(fd, event.write_index, 0, 20);
	CHECK_OK(try_pause(consumer.fd, 1));
	rewind_rings(&consumer);
	CHECK_EQ(consumer_skip(&consumer), 20);
	consumer_close(&consumer);
	close(fd);
}

TEST(pause_counts_losses)
{
	struct eventlog_register event;
	struct consumer consumer;
	struct eventlog_stat counts;
	int fd = device_open();

	event = register_event(fd, "newest u64 number; u64 bytes");
	overwriting_open(&consumer, 64 * page_size(), 0);
	rule_add(consumer.fd, NULL, "newest");
	emit_numbered(fd, event.write_index, 0, 5);
	CHECK_OK(try_pause(consumer.fd, 1));
	emit_numbered(fd, event.write_index, 5, 7);
	counts = stat_all(consumer.fd);
	CHECK_EQ(counts.records, 5);
	CHECK_EQ(counts.lost[EVENTLOG_LOST_PAUSED], 7);
	CHECK_EQ(lost_sum(counts.lost), 7);
	CHECK_EQ(stat_event_lost(consumer.fd, event.descriptor), 7);
	CHECK_OK(try_pause(consumer.fd, 0));
	emit_numbered(fd, event.write_index, 12, 3);
	CHECK_EQ(stat_all(consumer.fd).records, 8);
	CHECK_EQ(consumer_skip(&consumer), 8);
	consumer_close(&consumer);
	close(fd);
}

/* PAUSE works in discard mode too and does not affect other subscribers. */
TEST(pause_affects_one_subscriber)
{
	struct consumer paused, other;
	struct eventlog_register event;
	int fd = device_open();

	event = register_event(fd, "newest u64 number; u64 bytes");
	consumer_open(&paused, 64 * page_size());
	consumer_open(&other, 64 * page_size());
	rule_add(paused.fd, NULL, "newest");
	rule_add(other.fd, NULL, "newest");
	CHECK_OK(try_pause(paused.fd, 1));
	emit_numbered(fd, event.write_index, 0, 10);
	CHECK_EQ(consumer_skip(&paused), 0);
	CHECK_EQ(consumer_skip(&other), 10);
	consumer_close(&paused);
	consumer_close(&other);
	close(fd);
}

struct sleeper {
	pthread_t thread;
	int fd;
	pid_t tid;
	int result;
};

static void *sleep_in_poll(void *argument)
{
	struct sleeper *sleeper = argument;
	struct pollfd request = { .fd = sleeper->fd, .events = POLLIN };

	__atomic_store_n(&sleeper->tid, thread_id(), __ATOMIC_RELEASE);
	sleeper->result = poll(&request, 1, -1);
	return NULL;
}

/* A loss wakes a sleeping reader, whatever its cause. */
TEST(loss_in_a_pause_wakes_poll)
{
	struct eventlog_register event;
	struct sleeper sleeper = { 0 };
	struct consumer consumer;
	int fd = device_open();

	event = register_event(fd, "newest u64 number; u64 bytes");
	consumer_open(&consumer, 2 * page_size());
	rule_add(consumer.fd, NULL, "newest");
	CHECK_OK(try_pause(consumer.fd, 1));
	sleeper.fd = consumer.fd;
	CHECK(!pthread_create(&sleeper.thread, NULL, sleep_in_poll, &sleeper));
	WAIT_FOR(__atomic_load_n(&sleeper.tid, __ATOMIC_ACQUIRE));
	WAIT_FOR(thread_sleeps(sleeper.tid));
	emit_numbered(fd, event.write_index, 0, 1);
	CHECK(!pthread_join(sleeper.thread, NULL));
	CHECK_EQ(sleeper.result, 1);
	consumer_close(&consumer);
	close(fd);
}

struct writer {
	pthread_t thread;
	int fd;
	__u32 index;
	unsigned int cpu;
	bool stop;
	__u64 written;
};

static void *write_numbered(void *argument)
{
	struct writer *writer = argument;

	cpu_pin(writer->cpu);
	while (!__atomic_load_n(&writer->stop, __ATOMIC_RELAXED))
		emit_numbered(writer->fd, writer->index, writer->written++, 1);
	return NULL;
}

/* Reads a ring once while it is written, as the ABI describes; returns the valid records. */
static unsigned int read_running(const struct ring *ring, __u64 *next)
{
	const struct eventlog_ring_header *header = ring->header;
	const __u64 size = header->data_bytes, sub_buffer = header->sub_buffer_bytes;
	__u64 committed = RING_LOAD(header, committed);
	__u64 position = oldest(header, committed), head;
	unsigned char copy[sizeof(struct eventlog_record) + sizeof(struct numbered) + 64]
		__attribute__((aligned(8)));
	unsigned int whole = 0;

	while ((__s64)(committed - position) > 0) {
		const unsigned char *data = ring->data + (position & (size - 1));
		const struct eventlog_record *record = (const void *)copy;
		__u32 flags = __atomic_load_n((const __u32 *)data, __ATOMIC_RELAXED);
		__u64 bytes = flags & EVENTLOG_RECORD_SIZE_MASK;
		__u64 left = sub_buffer - (position & (sub_buffer - 1));

		/* The bytes may be garbage until head confirms them. */
		if (bytes > left)
			bytes = left;
		memcpy(copy, data, bytes < sizeof(copy) ? bytes : sizeof(copy));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		head = RING_LOAD(header, head);
		if (head - position > size) {
			position = (head - size / 2 + sub_buffer - 1) & ~(sub_buffer - 1);
			committed = RING_LOAD(header, committed);
			continue;
		}
		CHECK(bytes >= 8 && bytes % 8 == 0);
		position += bytes;
		if ((flags & EVENTLOG_RECORD_TYPE_MASK) >> EVENTLOG_RECORD_TYPE_SHIFT !=
		    EVENTLOG_RECORD_EVENT)
			continue;
		CHECK(numbered_whole((const void *)(record + 1), bytes - sizeof(*record)));
		CHECK(((const struct numbered *)(record + 1))->number >= *next);
		*next = ((const struct numbered *)(record + 1))->number + 1;
		whole++;
	}
	return whole;
}

/* A record that head confirms is whole and in order. */
TEST(ring_is_read_while_written)
{
	unsigned int cpus[2], count = cpus_allowed(cpus, 2), pass, whole = 0;
	struct eventlog_register event;
	struct writer writer = { 0 };
	struct consumer consumer;

	writer.fd = device_open();
	event = register_event(writer.fd, "newest u64 number; u64 bytes");
	writer.index = event.write_index;
	writer.cpu = cpus[0];
	overwriting_open(&consumer, 4 * page_size(), 4);
	rule_add(consumer.fd, NULL, "newest");
	CHECK(!pthread_create(&writer.thread, NULL, write_numbered, &writer));
	if (count > 1)
		cpu_pin(cpus[1]);
	for (pass = 0; pass < 2000 || whole < 2000; pass++) {
		__u64 next = 0;

		whole += read_running(&consumer.rings[writer.cpu], &next);
	}
	__atomic_store_n(&writer.stop, true, __ATOMIC_RELAXED);
	pthread_join(writer.thread, NULL);
	CHECK_EQ(stat_all(consumer.fd).records, writer.written);
	consumer_close(&consumer);
	close(writer.fd);
}

/* After PAUSE has returned, the ring does not change. */
TEST(paused_rings_do_not_change)
{
	unsigned int cpus[2], count = cpus_allowed(cpus, 2), pass;
	struct eventlog_register event;
	struct writer writer = { 0 };
	struct consumer consumer;
	struct record record;

	writer.fd = device_open();
	event = register_event(writer.fd, "newest u64 number; u64 bytes");
	writer.index = event.write_index;
	writer.cpu = cpus[count - 1];
	overwriting_open(&consumer, 4 * page_size(), 4);
	rule_add(consumer.fd, NULL, "newest");
	CHECK(!pthread_create(&writer.thread, NULL, write_numbered, &writer));
	for (pass = 0; pass < 20; pass++) {
		struct ring *ring = &consumer.rings[writer.cpu];
		__u64 next = 0, reported = 0, head;

		WAIT_FOR(stat_all(consumer.fd).bytes > (pass + 1) * 4 * page_size());
		CHECK_OK(try_pause(consumer.fd, 1));
		head = ring->header->head;
		rewind_rings(&consumer);
		while (consumer_next(&consumer, &record)) {
			const struct numbered *numbered = (const void *)record.payload;

			/*
			 * A gap was lost in an earlier pause, and a lost record precedes
			 * the event; the counts continue from the previous lost record,
			 * unless it was overwritten.
			 */
			CHECK(numbered_whole(numbered, record.bytes));
			CHECK(numbered->number >= next);
			CHECK(!next || numbered->number == next || lost_sum(ring->lost) > reported);
			if (next && reported)
				CHECK_EQ(numbered->number - next, lost_sum(ring->lost) - reported);
			next = numbered->number + 1;
			reported = lost_sum(ring->lost);
		}
		CHECK(next);
		CHECK_EQ(ring->header->head, head);
		/* The next pass reads some records again. */
		ring->last_time = 0;
		memset(ring->lost, 0, sizeof(ring->lost));
		CHECK_OK(try_pause(consumer.fd, 0));
	}
	__atomic_store_n(&writer.stop, true, __ATOMIC_RELAXED);
	pthread_join(writer.thread, NULL);
	CHECK_EQ(stat_all(consumer.fd).records + lost_sum(stat_all(consumer.fd).lost),
		 writer.written);
	CHECK_EQ(lost_sum(stat_all(consumer.fd).lost),
		 stat_all(consumer.fd).lost[EVENTLOG_LOST_PAUSED]);
	consumer_close(&consumer);
	close(writer.fd);
}
