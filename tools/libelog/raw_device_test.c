// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tests of reading rings as raw data with the kernel module: a flush that does not block,
 * and parts of a consumer on several threads. Prints TAP.
 *
 * Needs root and the module.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elog.h"
#include "format/merge.h"
#include "unexported/consumer.h"
#include "util/tap.h"
#include "util/util.h"

#define NUMBERS		3000	/* of each writer */
#define PARTS		2

static struct elog_producer *producer;
static struct elog_event *event;

/* These tests know the ring of each event: that of the CPU. */
static const struct elog_producer_options no_rings = {
	.size = sizeof(no_rings), .flags = ELOG_PRODUCER_NO_RINGS,
};

static struct elog_consumer *subscribe_to(uint64_t ring_bytes, uint32_t sub_buffers)
{
	const struct elog_consumer_options options = {
		.size = sizeof(options),
		.ring_bytes = ring_bytes,
		.sub_buffers = sub_buffers,
	};
	const struct elog_rule rule = { .size = sizeof(rule), .provider = "raw_test" };
	struct elog_consumer *consumer = NULL;

	check_equal(elog_consumer_open(&consumer, &options), 0);
	if (!consumer) {
		printf("Bail out! cannot subscribe\n");
		exit(1);
	}
	check_equal(elog_consumer_rule_add(consumer, &rule, NULL), 0);
	check_equal(elog_producer_open(&producer, &no_rings), 0);
	check_equal(elog_event_register(producer, "raw_test", "e u32 number", 0, 0, 0, &event),
		    0);
	return consumer;
}

static struct elog_consumer *subscribe(uint64_t ring_bytes)
{
	return subscribe_to(ring_bytes, 0);
}

static void unsubscribe(struct elog_consumer *consumer)
{
	elog_producer_close(producer);
	elog_consumer_close(consumer);
}

static struct elog_consumer *open_part(const struct elog_consumer *consumer, uint32_t number,
				       uint32_t parts)
{
	const struct elog_part_options options = {
		.size = sizeof(options), .part = number, .parts = parts,
	};
	struct elog_consumer *part = NULL;

	check_equal(elog_consumer_part_open(&part, consumer, &options), 0);
	return part;
}

static int write_number(uint32_t number)
{
	const struct iovec part = { .iov_base = &number, .iov_len = sizeof(number) };

	return elog_event_write(event, 0, &part, 1);
}

static bool pin(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return !sched_setaffinity(0, sizeof(set), &set);
}

/* How often each number was read; the numbers of all writers differ. */
static unsigned char seen[PARTS * NUMBERS];

/* Count the events of some records. Return: their number. */
static unsigned int see_records(const unsigned char *at, size_t size)
{
	const unsigned char *end = at + size;
	struct eventlog_record record;
	unsigned int events = 0;
	uint32_t number;

	for (; at < end; at += elog_record_bytes(record.size_flags)) {
		memcpy(&record, at, (size_t)(end - at) < sizeof(record) ? 8 : sizeof(record));
		if (elog_record_type(record.size_flags) != EVENTLOG_RECORD_EVENT)
			continue;
		memcpy(&number, at + sizeof(record), sizeof(number));
		if (number < sizeof(seen))
			__atomic_add_fetch(&seen[number], 1, __ATOMIC_RELAXED);
		events++;
	}
	return events;
}

/* Read all rings of a consumer once. Return: the number of events. */
static unsigned int drain(struct elog_consumer *consumer, unsigned int part, unsigned int parts)
{
	unsigned int ring, events = 0;
	uint64_t position;
	const void *data;
	size_t size;

	for (ring = part; ring < elog_consumer_rings(consumer); ring += parts) {
		while (elog_consumer_raw(consumer, ring, &data, &size, &position) > 0) {
			events += see_records(data, size);
			check_equal(elog_consumer_raw_release(consumer, ring, size), 0);
		}
	}
	return events;
}

static uint64_t clock_of_records(void)
{
	return elog_clock_read(CLOCK_MONOTONIC) - (uint64_t)elog_time_offset();
}

/* While a flush lasts, records can be read. It ends elog_consumer_wait(). */
static void test_flush(void)
{
	struct elog_consumer *consumer = subscribe(1 << 16);
	unsigned int i, events = 0;
	uint64_t before;
	int ret;

	check_equal(elog_consumer_raw_flush_end(consumer), -EINVAL);
	for (i = 0; i < 5; i++) {
		before = clock_of_records();
		check_equal(write_number(2 * i), 0);
		check_equal(elog_consumer_raw_flush_start(consumer), 0);
		check_equal(elog_consumer_raw_flush_start(consumer), -EBUSY);
		check_equal(write_number(2 * i + 1), 0);
		events += drain(consumer, 0, 1);
		check_equal(events, 2 * i + 2);
		while (!(ret = elog_consumer_raw_flush_end(consumer)))
			check(elog_consumer_wait(consumer, 60000, NULL) == 1);
		check_equal(ret, 1);
		check(elog_consumer_time(consumer) > before);
		check(elog_consumer_time(consumer) <= clock_of_records());
		check_equal(elog_consumer_raw_flush_end(consumer), -EINVAL);
	}
	/* The end of a flush is something to read. An earlier one may have left a wakeup. */
	check_equal(elog_consumer_pending(consumer), 0);
	check_equal(elog_consumer_raw_flush_start(consumer), 0);
	while (!elog_consumer_pending(consumer))
		check_equal(elog_consumer_wait(consumer, 60000, NULL), 1);
	check_equal(elog_consumer_pending(consumer), 1);
	check_equal(elog_consumer_raw_flush_end(consumer), 1);
	check_equal(elog_consumer_pending(consumer), 0);
	/* Close it during a flush. */
	check_equal(elog_consumer_raw_flush_start(consumer), 0);
	unsubscribe(consumer);
}

static void *wake(void *consumer)
{
	elog_consumer_wake(consumer);
	return NULL;
}

static void test_wake(void)
{
	struct elog_consumer_options options = { .size = sizeof(options) };
	struct elog_consumer *consumer;
	pthread_t thread;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		options.backlog_bytes = i << 16;
		check_equal(elog_consumer_open(&consumer, &options), 0);
		check_equal(pthread_create(&thread, NULL, wake, consumer), 0);
		check_equal(elog_consumer_wait(consumer, -1, NULL), 1);
		pthread_join(thread, NULL);
		check_equal(elog_consumer_wait(consumer, 0, NULL), 0);
		elog_consumer_close(consumer);
	}
}

/* The rings of shards are the last ones, and have no CPU; parts divide them, too. */
static void test_shards(void)
{
	const struct elog_part_options half = { .size = sizeof(half), .part = 1, .parts = 2 };
	struct elog_consumer *consumer = subscribe(1 << 16), *part = NULL;
	unsigned int rings = elog_consumer_rings(consumer), ring, cpus;
	uint64_t position;
	const void *data;
	size_t size;

	check(elog_consumer_shards(consumer) >= 1 && elog_consumer_shards(consumer) < rings);
	cpus = rings - elog_consumer_shards(consumer);
	check_equal(elog_consumer_ring_cpu(consumer, 0), 0);
	for (ring = 0; ring < cpus; ring++)
		check(elog_consumer_ring_cpu(consumer, ring) == ring ||
		      elog_consumer_ring_cpu(consumer, ring) == EVENTLOG_CPU_UNKNOWN);
	for (; ring < rings; ring++) {
		check_equal(elog_consumer_ring_cpu(consumer, ring), EVENTLOG_CPU_UNKNOWN);
		check_equal(elog_consumer_raw(consumer, ring, &data, &size, &position), 0);
	}
	check_equal(elog_consumer_raw(consumer, rings, &data, &size, &position), -EINVAL);
	check_equal(elog_consumer_part_open(&part, consumer, &half), 0);
	for (ring = 0; part && ring < rings; ring++)
		check_equal(elog_consumer_raw(part, ring, &data, &size, &position),
			    ring % 2 ? 0 : -EINVAL);
	check(part && elog_consumer_shards(part) == elog_consumer_shards(consumer));
	elog_consumer_close(part);
	unsubscribe(consumer);
}

static void test_wrong_parts(void)
{
	struct elog_consumer_options options = { .size = sizeof(options) };
	struct elog_part_options part_options = {
		.size = sizeof(part_options), .parts = PARTS,
	};
	struct elog_consumer *consumer = subscribe(1 << 16), *part, *none;
	uint64_t position, lost;
	const void *data;
	size_t size;

	part = open_part(consumer, 1, PARTS);
	check_equal(elog_consumer_raw(part, 0, &data, &size, &position), -EINVAL);
	check_equal(elog_consumer_raw_release(part, 0, 0), -EINVAL);
	check_equal(elog_consumer_raw_lost(part, 0, &lost, 1), -EINVAL);
	check_equal(elog_consumer_raw_lost(part, ELOG_STREAM_NONE, &lost, 1), -EINVAL);
	check_equal(elog_consumer_part_open(&none, part, &part_options), -EINVAL);
	part_options.part = PARTS;
	check_equal(elog_consumer_part_open(&none, consumer, &part_options), -EINVAL);
	part_options.parts = 0;
	part_options.part = 0;
	check_equal(elog_consumer_part_open(&none, consumer, &part_options), -EINVAL);
	part_options.parts = PARTS;
	part_options.reserved = 1;
	check_equal(elog_consumer_part_open(&none, consumer, &part_options), -EINVAL);
	part_options.reserved = 0;
	elog_consumer_close(part);
	unsubscribe(consumer);

	options.flags = ELOG_CONSUMER_OVERWRITE;
	check_equal(elog_consumer_open(&consumer, &options), 0);
	check_equal(elog_consumer_part_open(&none, consumer, &part_options), -EINVAL);
	check_equal(elog_consumer_raw_flush_start(consumer), -EINVAL);
	elog_consumer_close(consumer);
	options.flags = ELOG_CONSUMER_NO_RINGS;
	check_equal(elog_consumer_open(&consumer, &options), 0);
	check_equal(elog_consumer_part_open(&none, consumer, &part_options), -EINVAL);
	check_equal(elog_consumer_shards(consumer), 0);
	check_equal(elog_consumer_ring_cpu(consumer, 0), EVENTLOG_CPU_UNKNOWN);
	elog_consumer_close(consumer);
	options.flags = 0;
	options.backlog_bytes = 1;
	check_equal(elog_consumer_open(&consumer, &options), 0);
	check_equal(elog_consumer_part_open(&none, consumer, &part_options), -EINVAL);
	check_equal(elog_consumer_raw_flush_start(consumer), -EINVAL);
	check_equal(elog_consumer_raw(consumer, 0, &data, &size, &position), -EINVAL);
	check_equal(elog_consumer_raw_release(consumer, 0, 0), -EINVAL);
	check_equal(elog_consumer_raw_lost(consumer, 0, &lost, 1), -EINVAL);
	elog_consumer_close(consumer);
}

/* A part does not wake because of another part's ring. It outlives the consumer. */
static void test_watermark(void)
{
	struct elog_consumer *consumer = subscribe(1 << 13), *parts[PARTS];
	cpu_set_t all;
	uint32_t i;

	for (i = 0; i < PARTS; i++)
		parts[i] = open_part(consumer, i, PARTS);
	sched_getaffinity(0, sizeof(all), &all);
	check(pin(0));
	for (i = 0; i < 110; i++)
		check_equal(write_number(i), 0);
	sched_setaffinity(0, sizeof(all), &all);
	check_equal(elog_consumer_wait(parts[0], 60000, NULL), 1);
	check_equal(elog_consumer_wait(parts[1], 10, NULL), 0);
	elog_consumer_wake(parts[1]);
	check_equal(elog_consumer_wait(parts[1], -1, NULL), 1);
	unsubscribe(consumer);
	check_equal(drain(parts[1], 1, PARTS), 0);
	check_equal(drain(parts[0], 0, PARTS), 110);
	/* The last descriptor of the subscription is closed here. */
	for (i = 0; i < PARTS; i++)
		elog_consumer_close(parts[i]);
}

struct reader {
	pthread_t thread;
	struct elog_consumer *part;
	unsigned int number;
	const struct eventlog_flush *flush;	/* not NULL: the writers have ended; atomic */
	unsigned int events;
	uint64_t lost;
};

static void *read_part(void *argument)
{
	struct reader *reader = argument;
	const struct eventlog_flush *flush = NULL;
	uint64_t lost[EVENTLOG_LOST_CAUSES];
	unsigned int ring, i;

	while (!flush) {
		elog_consumer_wait(reader->part, 1000, NULL);
		flush = __atomic_load_n(&reader->flush, __ATOMIC_ACQUIRE);
		if (flush) {
			check_equal(elog_consumer_raw_flushed(reader->part, flush), 0);
			check_equal(elog_consumer_time(reader->part), flush->time);
		}
		reader->events += drain(reader->part, reader->number, PARTS);
	}
	for (ring = reader->number; ring < elog_consumer_rings(reader->part); ring += PARTS) {
		check_equal(elog_consumer_raw_lost(reader->part, ring, lost,
						   EVENTLOG_LOST_CAUSES), 1);
		for (i = 0; i < EVENTLOG_LOST_CAUSES; i++)
			reader->lost += lost[i];
	}
	check_equal(elog_consumer_pending(reader->part), 0);
	return NULL;
}

struct writer {
	pthread_t thread;
	unsigned int number;
};

static void *write_numbers(void *argument)
{
	const struct writer *writer = argument;
	uint32_t i;

	pin(writer->number);
	for (i = 0; i < NUMBERS; i++) {
		check_equal(write_number(writer->number * NUMBERS + i), 0);
		if (i % 64 == 0)
			sched_yield();
	}
	return NULL;
}

/* Parts read at the same time: every event is read once, or counted as lost. */
static void read_in_parallel(uint64_t ring_bytes)
{
	struct eventlog_flush flush = { .size = sizeof(flush) };
	struct elog_consumer *consumer = subscribe(ring_bytes);
	struct reader readers[PARTS] = { 0 };
	struct writer writers[PARTS] = { 0 };
	unsigned int i, missing = 0, twice = 0;
	uint64_t events = 0, lost = 0;

	memset(seen, 0, sizeof(seen));
	for (i = 0; i < PARTS; i++) {
		readers[i].number = i;
		readers[i].part = open_part(consumer, i, PARTS);
		writers[i].number = i;
		check_equal(pthread_create(&readers[i].thread, NULL, read_part, &readers[i]), 0);
		check_equal(pthread_create(&writers[i].thread, NULL, write_numbers,
					   &writers[i]), 0);
	}
	for (i = 0; i < PARTS; i++)
		pthread_join(writers[i].thread, NULL);
	check_equal(elog_consumer_flush_wait(consumer, &flush), 0);
	for (i = 0; i < PARTS; i++) {
		__atomic_store_n(&readers[i].flush, &flush, __ATOMIC_RELEASE);
		elog_consumer_wake(readers[i].part);
	}
	for (i = 0; i < PARTS; i++) {
		pthread_join(readers[i].thread, NULL);
		events += readers[i].events;
		lost += readers[i].lost;
		elog_consumer_close(readers[i].part);
	}
	for (i = 0; i < sizeof(seen); i++) {
		missing += !seen[i];
		twice += seen[i] > 1;
	}
	check_equal(twice, 0);
	check_equal(missing, lost);
	check_equal(events + lost, PARTS * NUMBERS);
	printf("# %llu events, %llu lost\n", (unsigned long long)events,
	       (unsigned long long)lost);
	unsubscribe(consumer);
}

static void test_parallel(void)
{
	read_in_parallel(1 << 20);
	read_in_parallel(1 << 13);
}

/* Parts can also be read in the order of time. Losses without ring belong to part 0. */
static void test_in_order(void)
{
	struct elog_consumer *consumer = subscribe(1 << 16), *parts[PARTS];
	unsigned int i, k, events = 0;
	struct elog_item item;
	uint64_t time;
	cpu_set_t all;
	int pending;

	for (i = 0; i < PARTS; i++)
		parts[i] = open_part(consumer, i, PARTS);
	sched_getaffinity(0, sizeof(all), &all);
	for (i = 0; i < 100; i++) {
		pin(i % PARTS);
		check_equal(write_number(i), 0);
	}
	sched_setaffinity(0, sizeof(all), &all);
	for (i = 0; i < PARTS; i++) {
		/* Without a second CPU, part 1 has no records. */
		pending = elog_consumer_pending(parts[i]);
		check_equal(elog_consumer_flush(parts[i]), 0);
		for (k = 0, time = 0; elog_consumer_next(parts[i], &item) > 0; k++) {
			check_equal(item.type, ELOG_ITEM_EVENT);
			check_equal(item.stream % PARTS, i);
			check(item.time >= time);
			time = item.time;
		}
		check_equal(pending, k > 0);
		events += k;
		check_equal(elog_consumer_pending(parts[i]), 0);
		elog_consumer_close(parts[i]);
	}
	check_equal(events, 100);
	unsubscribe(consumer);
}

#define SUB_BYTES	4096
#define SUB_EVENTS	(SUB_BYTES / 40)	/* of 4 bytes each */

static void write_many(unsigned int count)
{
	while (count--)
		check_equal(write_number(0), 0);
}

/* What a ring has, as far as the kernel knows it. */
struct known {
	uint32_t records;	/* events that were read so far */
	uint32_t blocks;
	uint32_t looks;		/* blocks that have something new */
	uint32_t lost;		/* lost records that were read */
};

/* Does a record between the bytes @from and @to have this type and descriptor? */
static bool has_record(const unsigned char *data, size_t from, size_t to, uint32_t type,
		       uint32_t descriptor)
{
	struct eventlog_record record;
	size_t at;

	for (at = 0; at < to; at += elog_record_bytes(record.size_flags)) {
		memcpy(&record, data + at, to - at < sizeof(record) ? 8 : sizeof(record));
		if (at >= from && elog_record_type(record.size_flags) == type &&
		    (!descriptor || record.descriptor == descriptor))
			return true;
	}
	return false;
}

/*
 * Read what the kernel knows. Behind the bytes to look at, no record has the descriptor
 * @strange. Return: of elog_consumer_raw_meta(), when it was not 1.
 */
static int read_known(struct elog_consumer *consumer, struct known *known, uint32_t strange)
{
	struct elog_raw_meta meta;
	uint64_t position;
	const void *data;
	size_t size;
	int ret;

	while (elog_consumer_raw(consumer, 0, &data, &size, &position) == 1) {
		meta = (struct elog_raw_meta){ .size = sizeof(meta) };
		ret = elog_consumer_raw_meta(consumer, 0, &meta);
		if (ret != 1)
			return ret;
		check(meta.bytes <= size && meta.look <= meta.bytes);
		check(!((position + meta.bytes) % SUB_BYTES));
		known->records += see_records(data, meta.bytes);
		check_equal(meta.records, known->records);
		check(!strange || !has_record(data, meta.look, meta.bytes, EVENTLOG_RECORD_EVENT,
					       strange));
		check(!has_record(data, meta.look, meta.bytes, EVENTLOG_RECORD_LOST, 0));
		known->lost += has_record(data, 0, meta.bytes, EVENTLOG_RECORD_LOST, 0);
		known->blocks++;
		known->looks += meta.look > 0;
		check_equal(elog_consumer_raw_release(consumer, 0, meta.bytes), 0);
	}
	return 0;
}

/* Read the rest of a sub-buffer that is not complete. */
static void read_rest(struct elog_consumer *consumer, struct known *known)
{
	uint64_t position;
	const void *data;
	size_t size;

	while (elog_consumer_raw(consumer, 0, &data, &size, &position) == 1) {
		known->records += see_records(data, size);
		known->lost += has_record(data, 0, size, EVENTLOG_RECORD_LOST, 0);
		check_equal(elog_consumer_raw_release(consumer, 0, size), 0);
	}
}

/* The kernel counts the events of complete sub-buffers, and tells what is new. */
static void test_meta(void)
{
	struct elog_consumer *consumer = subscribe_to(8 * SUB_BYTES, 8);
	const uint32_t number = 0;
	const struct iovec part = { .iov_base = (void *)&number, .iov_len = sizeof(number) };
	struct elog_raw_meta meta = { .size = 8 };
	struct known known = { 0 };
	struct elog_event *late;
	unsigned int round;
	uint32_t strange;

	check(pin(0));
	check_equal(elog_consumer_raw_meta(consumer, 0, &meta), -EINVAL);
	meta.size = sizeof(meta);
	check_equal(elog_consumer_raw_meta(consumer, 1U << 20, &meta), -EINVAL);
	write_many(1);
	check_equal(read_known(consumer, &known, 0), -EAGAIN);
	check_equal(known.blocks, 0);
	/* The event and this thread are new in the first record. */
	write_many(SUB_EVENTS);
	check_equal(read_known(consumer, &known, 0), -EAGAIN);
	check_equal(known.records, SUB_EVENTS);
	check_equal(known.looks, 1);
	/* Nothing is new, round the ring and while some of a sub-buffer was read already. */
	for (round = 0; round < 20; round++) {
		write_many(3 * SUB_EVENTS + 7);
		check_equal(read_known(consumer, &known, 0), -EAGAIN);
		if (round % 3 == 0)
			read_rest(consumer, &known);
	}
	check_equal(known.looks, 1);

	/* An event that is new later. */
	check_equal(elog_event_register(producer, "raw_test", "late u32 number", 0, 0, 0, &late),
		    0);
	strange = elog_event_descriptor(late);
	for (round = 0; round < 3; round++) {
		write_many(SUB_EVENTS / 2);
		check_equal(elog_event_write(late, 0, &part, 1), 0);
		write_many(2 * SUB_EVENTS);
		check_equal(read_known(consumer, &known, round ? 0 : strange), -EAGAIN);
		check_equal(known.looks, 2);
	}
	/* A thread changes its name. */
	pthread_setname_np(pthread_self(), "renamed");
	write_many(2 * SUB_EVENTS);
	check_equal(read_known(consumer, &known, 0), -EAGAIN);
	check_equal(known.looks, 3);

	/* Events are lost: poll(2) reports it until the ring was read to its end. */
	for (round = 0; write_number(0) == 0 && round < 20 * SUB_EVENTS; round++)
		;
	check_equal(read_known(consumer, &known, 0), 0);
	check_equal(known.looks, 3);
	read_rest(consumer, &known);
	write_many(2 * SUB_EVENTS);
	check_equal(read_known(consumer, &known, 0), -EAGAIN);
	check_equal(known.lost, 1);
	check_equal(known.looks, 4);
	elog_event_unregister(late);
	unsubscribe(consumer);
}

int main(void)
{
	static const struct test tests[] = {
		{ "a flush does not stop reading", test_flush },
		{ "a consumer can be woken", test_wake },
		{ "rings of shards", test_shards },
		{ "wrong parts are rejected", test_wrong_parts },
		{ "a part waits for its own rings", test_watermark },
		{ "parts read in parallel", test_parallel },
		{ "parts read in the order of time", test_in_order },
		{ "the kernel counts events, and tells what is new", test_meta },
	};

	if (geteuid()) {
		printf("TAP version 13\n1..0 # SKIP needs root\n");
		return 0;
	}
	return run_tests(tests, ELOG_ARRAY_SIZE(tests), NULL);
}
