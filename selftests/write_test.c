// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of writing events: what is rejected, that a rejected payload leaves nothing but a
 * count, and that the consumer gets the payload that was written.
 */
#include <fcntl.h>
#include <limits.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eventlog_common.h"

/* Room for the largest record in each of two sub-buffers. */
#define LARGE_RING (8 * EVENTLOG_PAYLOAD_MAX)

/* A producer of one event and a consumer that subscribes to it. */
struct fixture {
	int fd;
	__u64 invalid;	/* events that were counted as such so far */
	struct eventlog_register event;
	struct consumer consumer;
};

static void set_up_with(struct fixture *fixture, const char *command, __u32 flags)
{
	fixture->fd = device_open();
	fixture->invalid = 0;
	fixture->event = register_request(command);
	fixture->event.flags = flags;
	register_with(fixture->fd, &fixture->event);
	consumer_open(&fixture->consumer, LARGE_RING);
	rule_add(fixture->consumer.fd, NULL, NULL);
}

static void set_up(struct fixture *fixture, const char *command)
{
	set_up_with(fixture, command, 0);
}

static void tear_down(struct fixture *fixture)
{
	consumer_close(&fixture->consumer);
	close(fixture->fd);
}

/* Nothing was delivered or lost; since the last check, so many events were invalid. */
static void check_invalid(struct fixture *fixture, unsigned int invalid)
{
	struct eventlog_stat counts = {
		.size = sizeof(counts), .ring = EVENTLOG_RINGS_ALL,
		.descriptor = fixture->event.descriptor,
	};
	struct record record;

	fixture->invalid += invalid;
	flush(fixture->consumer.fd);
	CHECK(!consumer_next(&fixture->consumer, &record));
	CHECK_OK(ioctl(fixture->consumer.fd, EVENTLOG_IOC_STAT, &counts));
	CHECK_EQ(counts.lost[EVENTLOG_LOST_ABORTED], fixture->invalid);
	CHECK_EQ(counts.event_lost, fixture->invalid);
	counts = stat_all(fixture->consumer.fd);
	CHECK_EQ(counts.lost[EVENTLOG_LOST_ABORTED], fixture->invalid);
	CHECK_EQ(lost_sum(counts.lost), fixture->invalid);
}

static void check_nothing(struct fixture *fixture)
{
	check_invalid(fixture, 0);
}

/* There is exactly one record, with this payload. */
static void check_payload(struct fixture *fixture, const void *payload, size_t bytes)
{
	struct record record;
	size_t i;

	consumer_one(&fixture->consumer, &record);
	CHECK_EQ(record.header->descriptor, fixture->event.descriptor);
	CHECK_EQ(record.bytes, ALIGN_UP(bytes, 8));
	CHECK(!memcmp(record.payload, payload, bytes));
	for (i = bytes; i < record.bytes; i++)
		CHECK_EQ(record.payload[i], 0);
}

static void fill(unsigned char *bytes, size_t count, __u64 seed)
{
	for (; count; count--)
		*bytes++ = test_random(&seed) >> 56 | 1;
}

/* ------------------------------------------------------------------------
 * Rejected writes
 */

/* The event is disabled: EBADF, whatever else is wrong. Nothing is counted. */
TEST(disabled_event_is_ebadf)
{
	struct eventlog_register event;
	struct consumer consumer;
	int fd = device_open();
	__u32 rule;

	event = register_event(fd, "quiet u32 value; __data_loc char[] text");
	CHECK_ERRNO(emit(fd, event.write_index, "", 0), EBADF);
	CHECK_ERRNO(emit(fd, event.write_index, "12345678", 8), EBADF);
	CHECK_ERRNO(emit(fd, event.write_index, pages_unmapped(), 8), EBADF);
	CHECK_ERRNO(emit(fd, event.write_index, pages_map(1 << 20), 1 << 20), EBADF);

	/* Errors that are found before that test. */
	CHECK_ERRNO(write(fd, &event.write_index, 3), EINVAL);
	CHECK_ERRNO(write(fd, pages_unmapped(), 8), EFAULT);
	CHECK_ERRNO(emit(fd, event.write_index + 1, "", 0), ENOENT);

	consumer_open(&consumer, LARGE_RING);
	CHECK_ERRNO(emit(fd, event.write_index, "12345678", 8), EBADF);
	rule = rule_add(consumer.fd, NULL, "loud");
	CHECK_ERRNO(emit(fd, event.write_index, "12345678", 8), EBADF);
	rule_add(consumer.fd, NULL, "quiet");
	CHECK_ERRNO(emit(fd, event.write_index, "1234567", 7), EINVAL);
	CHECK_OK(try_rule_delete(consumer.fd, rule));
	CHECK_ERRNO(emit(fd, event.write_index, "1234567", 7), EINVAL);
	CHECK_EQ(stat_all(consumer.fd).lost[EVENTLOG_LOST_ABORTED], 2);
	consumer_close(&consumer);
	CHECK_ERRNO(emit(fd, event.write_index, "1234567", 7), EBADF);
	close(fd);
}

TEST(write_without_an_index)
{
	struct fixture fixture;
	size_t bytes;

	set_up(&fixture, "event");
	for (bytes = 0; bytes < 4; bytes++)
		CHECK_ERRNO(write(fixture.fd, &fixture.event.write_index, bytes), EINVAL);
	check_nothing(&fixture);
	tear_down(&fixture);
}

TEST(write_without_all_fields)
{
	static const unsigned char payload[64] = { 0 };
	struct fixture fixture;
	size_t bytes;

	set_up(&fixture, "event u32 a; u8 b; u64 c; char[16] d");
	for (bytes = 0; bytes < 29; bytes++)
		CHECK_ERRNO(emit(fixture.fd, fixture.event.write_index, payload, bytes), EINVAL);
	check_invalid(&fixture, 29);
	for (; bytes <= sizeof(payload); bytes++) {
		CHECK_EQ(emit(fixture.fd, fixture.event.write_index, payload, bytes), bytes + 4);
		check_payload(&fixture, payload, bytes);
	}
	tear_down(&fixture);
}

TEST(incomplete_session_is_rejected)
{
	struct {
		__u32 index;
		__u64 session;
		__u32 value;
	} __attribute__((packed)) bytes = { .session = 0x0123456789abcdefULL, .value = 77 };
	struct fixture fixture;
	struct record record;
	size_t count;

	set_up_with(&fixture, "event u32 value", EVENTLOG_REGISTER_SESSION);
	bytes.index = fixture.event.write_index;
	for (count = 4; count < sizeof(bytes); count++)
		CHECK_ERRNO(write(fixture.fd, &bytes, count), EINVAL);
	check_invalid(&fixture, 12);
	CHECK_EQ(write(fixture.fd, &bytes, sizeof(bytes)), sizeof(bytes));
	consumer_one(&fixture.consumer, &record);
	CHECK_EQ(record.header->session, bytes.session);
	CHECK(!memcmp(record.payload, &bytes.value, 4));
	CHECK_EQ(record.bytes, 8);
	tear_down(&fixture);

	/* Without fields the session is the whole message. */
	set_up_with(&fixture, "bare", EVENTLOG_REGISTER_SESSION);
	bytes.index = fixture.event.write_index;
	CHECK_ERRNO(write(fixture.fd, &bytes, 4), EINVAL);
	CHECK_ERRNO(write(fixture.fd, &bytes, 11), EINVAL);
	check_invalid(&fixture, 2);
	CHECK_EQ(write(fixture.fd, &bytes, 12), 12);
	consumer_one(&fixture.consumer, &record);
	CHECK_EQ(record.header->session, bytes.session);
	CHECK_EQ(record.bytes, 0);
	tear_down(&fixture);
}

TEST(large_payload_is_rejected)
{
	const size_t huge = 1UL << 30;
	struct fixture fixture;
	char *payload;

	set_up(&fixture, "event");
	payload = mmap(NULL, huge, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CHECK(payload != MAP_FAILED);
	CHECK_ERRNO(emit(fixture.fd, fixture.event.write_index, payload, EVENTLOG_PAYLOAD_MAX + 1),
		    E2BIG);
	CHECK_ERRNO(emit(fixture.fd, fixture.event.write_index, payload, huge), E2BIG);
	/* Whether the payload is mapped or not. */
	CHECK_ERRNO(emit(fixture.fd, fixture.event.write_index, pages_unmapped(),
			 EVENTLOG_PAYLOAD_MAX + 1), E2BIG);
	check_invalid(&fixture, 3);
	CHECK_EQ(emit(fixture.fd, fixture.event.write_index, payload, EVENTLOG_PAYLOAD_MAX),
		 EVENTLOG_PAYLOAD_MAX + 4);
	check_payload(&fixture, payload, EVENTLOG_PAYLOAD_MAX);
	tear_down(&fixture);

	/* The session does not count towards the limit. */
	set_up_with(&fixture, "event", EVENTLOG_REGISTER_SESSION);
	CHECK_EQ(emit_session(fixture.fd, fixture.event.write_index, 1, payload,
			      EVENTLOG_PAYLOAD_MAX), EVENTLOG_PAYLOAD_MAX + 12);
	check_payload(&fixture, payload, EVENTLOG_PAYLOAD_MAX);
	CHECK_ERRNO(emit_session(fixture.fd, fixture.event.write_index, 1, payload,
				 EVENTLOG_PAYLOAD_MAX + 1), E2BIG);
	check_invalid(&fixture, 1);
	tear_down(&fixture);
}

/* ------------------------------------------------------------------------
 * Fields of variable size
 */
static __u32 word(__u32 size, __u32 offset)
{
	return size << 16 | offset;
}

struct dynamic_case {
	__u32 size;
	__u32 offset;
	const char *rest;	/* the payload after the word */
	size_t bytes;		/* its size */
	int error;
};

static void try_dynamic(struct fixture *fixture, const struct dynamic_case *try)
{
	unsigned char payload[64];
	__u32 first = word(try->size, try->offset);

	test_note("size %u, offset %u, %zu bytes after the word", try->size, try->offset,
		  try->bytes);
	memcpy(payload, &first, 4);
	memcpy(payload + 4, try->rest, try->bytes);
	if (try->error) {
		CHECK_ERRNO(emit(fixture->fd, fixture->event.write_index, payload, 4 + try->bytes),
			    try->error);
		check_invalid(fixture, 1);
	} else {
		CHECK_EQ(emit(fixture->fd, fixture->event.write_index, payload, 4 + try->bytes),
			 8 + try->bytes);
		check_payload(fixture, payload, 4 + try->bytes);
	}
}

static void try_all_dynamic(const char *command, const struct dynamic_case *cases, size_t count)
{
	struct fixture fixture;

	set_up(&fixture, command);
	while (count--)
		try_dynamic(&fixture, cases++);
	tear_down(&fixture);
}

#define TRY_ALL_DYNAMIC(command, cases) try_all_dynamic(command, cases, ARRAY_SIZE(cases))

TEST(strings_data_loc)
{
	static const struct dynamic_case cases[] = {
		{ 0, 4, "abc", 4, EBADMSG },		/* no size */
		{ 0, 8, "abc", 4, EBADMSG },
		{ 0, 0, "", 0, EBADMSG },
		{ 3, 4, "abc", 4, EBADMSG },		/* no terminator */
		{ 1, 4, "abc", 4, EBADMSG },
		{ 4, 4, "abcd", 4, EBADMSG },
		{ 5, 4, "abc\0", 4, EBADMSG },		/* one byte too long */
		{ 4, 5, "abc\0", 4, EBADMSG },
		{ 1, 8, "abc\0", 4, EBADMSG },		/* at the end */
		{ 1, 9, "abc\0", 4, EBADMSG },		/* beyond the end */
		{ 1, 0xffff, "abc\0", 4, EBADMSG },
		{ 0xffff, 4, "abc\0", 4, EBADMSG },
		{ 0xffff, 0xffff, "abc\0", 4, EBADMSG },
		{ 0xffff, 1, "abc\0", 4, EBADMSG },
		{ 1, 3, "abc\0", 4, EBADMSG },		/* ends within the word itself */
		{ 4, 4, "abc\0", 4, 0 },
		{ 1, 4, "\0", 1, 0 },
		{ 1, 7, "abc\0", 4, 0 },
		{ 2, 6, "abc\0", 4, 0 },
		{ 4, 4, "abc\0xyz", 7, 0 },		/* bytes that no field uses */
		{ 4, 7, "xyzabc\0", 7, 0 },
		{ 4, 4, "a\0c\0", 4, 0 },		/* only the last byte must be zero */
	};

	TRY_ALL_DYNAMIC("event __data_loc char[] text", cases);
}

TEST(strings_rel_loc)
{
	static const struct dynamic_case cases[] = {
		{ 0, 0, "abc", 4, EBADMSG },
		{ 0, 4, "abc", 4, EBADMSG },
		{ 0, 0, "", 0, EBADMSG },
		{ 3, 0, "abc", 4, EBADMSG },
		{ 5, 0, "abc\0", 4, EBADMSG },
		{ 4, 1, "abc\0", 4, EBADMSG },
		{ 1, 4, "abc\0", 4, EBADMSG },
		{ 1, 5, "abc\0", 4, EBADMSG },
		{ 0xffff, 0xffff, "abc\0", 4, EBADMSG },
		{ 1, 0xffff, "abc\0", 4, EBADMSG },
		{ 1, 0xfffc, "abc\0", 4, EBADMSG },
		{ 4, 0, "abc\0", 4, 0 },
		{ 1, 3, "abc\0", 4, 0 },
		{ 1, 0, "\0", 1, 0 },
		{ 4, 3, "xyzabc\0", 7, 0 },
	};

	TRY_ALL_DYNAMIC("event __rel_loc char[] text", cases);
}

TEST(bytes_data_loc)
{
	static const struct dynamic_case cases[] = {
		{ 1, 8, "abcd", 4, EBADMSG },
		{ 5, 4, "abcd", 4, EBADMSG },
		{ 4, 5, "abcd", 4, EBADMSG },
		{ 0, 9, "abcd", 4, EBADMSG },
		{ 0, 5, "", 0, EBADMSG },
		{ 0, 0xffff, "abcd", 4, EBADMSG },
		{ 0xffff, 0xffff, "abcd", 4, EBADMSG },
		{ 0, 4, "", 0, 0 },
		{ 0, 0, "", 0, 0 },
		{ 0, 8, "abcd", 4, 0 },
		{ 4, 4, "abcd", 4, 0 },
		{ 8, 0, "abcd", 4, 0 },
		{ 1, 7, "abcd", 4, 0 },
	};

	TRY_ALL_DYNAMIC("event __data_loc unsigned char[] data", cases);
}

TEST(bytes_rel_loc)
{
	static const struct dynamic_case cases[] = {
		{ 1, 4, "abcd", 4, EBADMSG },
		{ 5, 0, "abcd", 4, EBADMSG },
		{ 0, 5, "abcd", 4, EBADMSG },
		{ 0, 1, "", 0, EBADMSG },
		{ 0xffff, 0xffff, "abcd", 4, EBADMSG },
		{ 0, 0, "", 0, 0 },
		{ 0, 4, "abcd", 4, 0 },
		{ 4, 0, "abcd", 4, 0 },
		{ 1, 3, "abcd", 4, 0 },
	};

	TRY_ALL_DYNAMIC("event __rel_loc unsigned char[] data", cases);
}

/* Every dynamic field is checked, at any position. */
TEST(all_dynamic_fields_are_checked)
{
	struct payload {
		__u8 first;
		__u32 data_string;
		__u16 second;
		__u32 rel_string;
		__u32 data_bytes;
		__u32 rel_bytes;
		__u8 third;
		char text[16];
	} __attribute__((packed)) good = {
		.data_string = word(4, offsetof(struct payload, text)),
		.rel_string = word(5, offsetof(struct payload, text) + 4 -
				   offsetof(struct payload, data_bytes)),
		.data_bytes = word(4, offsetof(struct payload, text) + 9),
		.rel_bytes = word(3, offsetof(struct payload, text) + 13 -
				  offsetof(struct payload, third)),
		.text = "abc\0defg\0bytesXY",
	}, bad;
	static const size_t words[] = {
		offsetof(struct payload, data_string), offsetof(struct payload, rel_string),
		offsetof(struct payload, data_bytes), offsetof(struct payload, rel_bytes),
	};
	struct fixture fixture;
	unsigned int i, change;
	__u32 value;

	set_up(&fixture, "event u8 first;__data_loc char[] data_string;u16 second;"
	       "__rel_loc char[] rel_string;__data_loc unsigned char[] data_bytes;"
	       "__rel_loc unsigned char[] rel_bytes;u8 third");
	CHECK_OK(emit(fixture.fd, fixture.event.write_index, &good, sizeof(good)));
	check_payload(&fixture, &good, sizeof(good));
	for (i = 0; i < ARRAY_SIZE(words); i++)
		for (change = 0; change < 3; change++) {
			test_note("word %u change %u", i, change);
			bad = good;
			memcpy(&value, (char *)&bad + words[i], 4);
			if (change == 0)
				value += 16;		/* runs over the end */
			else if (change == 1)
				value += 17 << 16;	/* longer than the payload */
			else if (i < 2)
				value -= 1 << 16;	/* without its terminator */
			else
				continue;
			memcpy((char *)&bad + words[i], &value, 4);
			CHECK_ERRNO(emit(fixture.fd, fixture.event.write_index, &bad, sizeof(bad)),
				    EBADMSG);
			check_invalid(&fixture, 1);
		}

	/* The payload lacks the last byte of the last field. */
	CHECK_ERRNO(emit(fixture.fd, fixture.event.write_index, &good, sizeof(good) - 1), EBADMSG);
	check_invalid(&fixture, 1);
	tear_down(&fixture);
}

/* Dynamic fields at the limits of 16-bit size and offset. */
TEST(large_dynamic_fields)
{
	unsigned char *payload = pages_map(EVENTLOG_PAYLOAD_MAX + page_size());
	struct fixture fixture;
	__u32 value;

	set_up(&fixture, "event __data_loc char[] text");
	memset(payload, 'x', EVENTLOG_PAYLOAD_MAX);
	value = word(0xffff, 1);
	memcpy(payload, &value, 4);
	CHECK_ERRNO(emit(fixture.fd, fixture.event.write_index, payload, EVENTLOG_PAYLOAD_MAX),
		    EBADMSG);
	payload[EVENTLOG_PAYLOAD_MAX - 1] = '\0';
	CHECK_OK(emit(fixture.fd, fixture.event.write_index, payload, EVENTLOG_PAYLOAD_MAX));
	check_payload(&fixture, payload, EVENTLOG_PAYLOAD_MAX);
	value = word(0xffff, 2);
	memcpy(payload, &value, 4);
	CHECK_ERRNO(emit(fixture.fd, fixture.event.write_index, payload, EVENTLOG_PAYLOAD_MAX),
		    EBADMSG);
	value = word(1, 0xffff);
	memcpy(payload, &value, 4);
	CHECK_OK(emit(fixture.fd, fixture.event.write_index, payload, EVENTLOG_PAYLOAD_MAX));
	check_payload(&fixture, payload, EVENTLOG_PAYLOAD_MAX);
	CHECK_ERRNO(emit(fixture.fd, fixture.event.write_index, payload, EVENTLOG_PAYLOAD_MAX - 1),
		    EBADMSG);
	check_invalid(&fixture, 3);
	tear_down(&fixture);

	/* A relative offset can reach 65535 bytes beyond its word, outside any payload. */
	set_up(&fixture, "event char[65532] filler; __rel_loc unsigned char[] data");
	value = word(0, 0);
	memcpy(payload + EVENTLOG_PAYLOAD_MAX - 4, &value, 4);
	CHECK_OK(emit(fixture.fd, fixture.event.write_index, payload, EVENTLOG_PAYLOAD_MAX));
	check_payload(&fixture, payload, EVENTLOG_PAYLOAD_MAX);
	value = word(0xffff, 0xffff);
	memcpy(payload + EVENTLOG_PAYLOAD_MAX - 4, &value, 4);
	CHECK_ERRNO(emit(fixture.fd, fixture.event.write_index, payload, EVENTLOG_PAYLOAD_MAX),
		    EBADMSG);
	check_invalid(&fixture, 1);
	tear_down(&fixture);
}

/* ------------------------------------------------------------------------
 * Vectors
 */
TEST(vectors_of_any_shape)
{
	unsigned char bytes[4 + 8 + 1012];
	struct iovec *vector = calloc(IOV_MAX, sizeof(*vector));
	struct fixture fixture;
	struct record record;
	__u64 session = 0xfeedfacecafebeefULL, seed = test_seed();
	unsigned int round, i;
	size_t at, step;

	set_up_with(&fixture, "event u64 value", EVENTLOG_REGISTER_SESSION);
	memcpy(bytes, &fixture.event.write_index, 4);
	memcpy(bytes + 4, &session, 8);
	fill(bytes + 12, sizeof(bytes) - 12, seed);

	/* As many elements as allowed, of a byte each. */
	for (i = 0; i < IOV_MAX; i++)
		vector[i] = (struct iovec){ bytes + i, 1 };
	CHECK_EQ(writev(fixture.fd, vector, IOV_MAX), IOV_MAX);
	check_payload(&fixture, bytes + 12, IOV_MAX - 12);

	/* Empty elements at random places, with bad addresses. */
	for (round = 0; round < 200; round++) {
		unsigned int count = 0;

		for (at = 0; at < sizeof(bytes) && count < IOV_MAX - 1; at += step) {
			if (test_random(&seed) % 3 == 0)
				vector[count++] = (struct iovec){ (void *)16, 0 };
			step = test_random(&seed) % (round + 2);
			if (step > sizeof(bytes) - at)
				step = sizeof(bytes) - at;
			vector[count++] = (struct iovec){ bytes + at, step };
		}
		if (at < 20)
			continue;
		CHECK_EQ(writev(fixture.fd, vector, count), at);
		consumer_one(&fixture.consumer, &record);
		CHECK_EQ(record.header->session, session);
		CHECK(!memcmp(record.payload, bytes + 12, at - 12));
	}

	/* write() acts as a vector of one element. */
	CHECK_EQ(write(fixture.fd, bytes, sizeof(bytes)), sizeof(bytes));
	check_payload(&fixture, bytes + 12, sizeof(bytes) - 12);
	tear_down(&fixture);
	free(vector);
}

/* An unmapped element anywhere: EFAULT, and nothing is delivered. */
TEST(vectors_partly_unmapped)
{
	static const size_t sizes[] = { 8, 64, 500, 4096, 60000 };
	void *hole = pages_unmapped();
	struct fixture fixture;
	unsigned char *good = pages_map(EVENTLOG_PAYLOAD_MAX);
	unsigned int size, where;

	set_up(&fixture, "event u64 value");
	memset(good, 0x5a, EVENTLOG_PAYLOAD_MAX);
	for (size = 0; size < ARRAY_SIZE(sizes); size++)
		for (where = 0; where < 4; where++) {
			struct iovec vector[] = {
				{ &fixture.event.write_index, 4 },
				{ good, sizes[size] / 2 },
				{ good, 8 },
				{ good, sizes[size] / 2 },
			};

			test_note("size %zu, element %u", sizes[size], where);
			vector[where].iov_base = hole;
			CHECK_ERRNO(writev(fixture.fd, vector, ARRAY_SIZE(vector)), EFAULT);
			check_nothing(&fixture);
			vector[where].iov_base = edge_buffer(1);
			if (vector[where].iov_len == 1)
				continue;
			CHECK_ERRNO(writev(fixture.fd, vector, ARRAY_SIZE(vector)), EFAULT);
			check_nothing(&fixture);
		}

	/* The memory ends within the write index or the session. */
	for (where = 0; where < 4; where++) {
		unsigned char *edge = edge_buffer(where ? where : 1) + !where;

		memcpy(edge, &fixture.event.write_index, where);
		CHECK_ERRNO(write(fixture.fd, edge, 64), EFAULT);
	}
	check_nothing(&fixture);
	tear_down(&fixture);

	set_up_with(&fixture, "event", EVENTLOG_REGISTER_SESSION);
	for (where = 4; where < 12; where++) {
		unsigned char *edge = edge_buffer(where);

		memcpy(edge, &fixture.event.write_index, 4);
		memset(edge + 4, 0, where - 4);
		CHECK_ERRNO(write(fixture.fd, edge, 64), EFAULT);
	}
	check_nothing(&fixture);

	/* A payload that ends at the last mapped byte works. */
	good = edge_buffer(64);
	memset(good, 0, 64);
	memcpy(good, &fixture.event.write_index, 4);
	CHECK_EQ(write(fixture.fd, good, 64), 64);
	check_payload(&fixture, good + 12, 52);
	tear_down(&fixture);
}

TEST(unmapped_vector_array)
{
	struct fixture fixture;

	set_up(&fixture, "event");
	CHECK_ERRNO(writev(fixture.fd, pages_unmapped(), 2), EFAULT);
	check_nothing(&fixture);
	tear_down(&fixture);
}

/* ------------------------------------------------------------------------
 * Payloads that are not in memory yet
 */
static void check_faulted(struct fixture *fixture, const void *cold, const void *same, size_t bytes)
{
	CHECK_EQ(emit(fixture->fd, fixture->event.write_index, cold, bytes), bytes + 4);
	check_payload(fixture, same, bytes);
}

TEST(payload_from_file)
{
	static const size_t sizes[] = { 16, 200, 4096, 9000, EVENTLOG_PAYLOAD_MAX };
	unsigned char *warm = pages_map(EVENTLOG_PAYLOAD_MAX);
	struct fixture fixture;
	unsigned int i;
	void *cold;
	int file;

	set_up(&fixture, "event");
	fill(warm, EVENTLOG_PAYLOAD_MAX, 1);
	file = CHECK_OK(memfd_create("payload", MFD_CLOEXEC));
	CHECK_EQ(write(file, warm, EVENTLOG_PAYLOAD_MAX), EVENTLOG_PAYLOAD_MAX);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		test_note("%zu bytes, shared", sizes[i]);
		cold = mmap(NULL, EVENTLOG_PAYLOAD_MAX, PROT_READ, MAP_SHARED, file, 0);
		CHECK(cold != MAP_FAILED);
		check_faulted(&fixture, cold, warm, sizes[i]);
		CHECK_OK(munmap(cold, EVENTLOG_PAYLOAD_MAX));

		test_note("%zu bytes, private", sizes[i]);
		cold = mmap(NULL, EVENTLOG_PAYLOAD_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE, file,
			    0);
		CHECK(cold != MAP_FAILED);
		check_faulted(&fixture, cold, warm, sizes[i]);
		CHECK_OK(munmap(cold, EVENTLOG_PAYLOAD_MAX));
	}

	/* Mapped memory beyond the end of the file: EFAULT. */
	CHECK_OK(ftruncate(file, 0));
	cold = mmap(NULL, EVENTLOG_PAYLOAD_MAX, PROT_READ, MAP_SHARED, file, 0);
	CHECK(cold != MAP_FAILED);
	CHECK_ERRNO(emit(fixture.fd, fixture.event.write_index, cold, 100), EFAULT);
	CHECK_ERRNO(emit(fixture.fd, fixture.event.write_index, cold, 60000), EFAULT);
	check_nothing(&fixture);
	close(file);
	tear_down(&fixture);
}

TEST(payload_of_zero_pages)
{
	unsigned char *zero = pages_map(EVENTLOG_PAYLOAD_MAX);
	unsigned char *cold = pages_map(EVENTLOG_PAYLOAD_MAX);
	struct fixture fixture;

	set_up(&fixture, "event");
	memset(zero, 0, EVENTLOG_PAYLOAD_MAX);
	check_faulted(&fixture, cold, zero, 100);
	CHECK_OK(madvise(cold, EVENTLOG_PAYLOAD_MAX, MADV_DONTNEED));
	check_faulted(&fixture, cold, zero, EVENTLOG_PAYLOAD_MAX);
	memset(cold, 0x77, EVENTLOG_PAYLOAD_MAX);
	CHECK_OK(madvise(cold, EVENTLOG_PAYLOAD_MAX, MADV_DONTNEED));
	check_faulted(&fixture, cold + 123, zero, 50000);
	tear_down(&fixture);
}

TEST(payload_copied_on_write)
{
	unsigned char *shared = pages_map(EVENTLOG_PAYLOAD_MAX);
	struct fixture fixture;
	pid_t child;

	set_up(&fixture, "event");
	fill(shared, EVENTLOG_PAYLOAD_MAX, 2);
	child = test_fork();
	if (!child) {
		CHECK_EQ(emit(fixture.fd, fixture.event.write_index, shared, 50000), 50004);
		_exit(0);
	}
	test_join(child);
	check_payload(&fixture, shared, 50000);
	tear_down(&fixture);
}

/* Another thread provides the page while the write waits for it (userfaultfd). */
struct fault_server {
	int fd;
	void *page;
	const void *content;
};

static void *serve_fault(void *argument)
{
	struct fault_server *server = argument;
	struct uffd_msg message;
	struct uffdio_copy copy = {
		.dst = PTR(server->page), .src = PTR(server->content), .len = page_size(),
	};

	CHECK_EQ(read(server->fd, &message, sizeof(message)), sizeof(message));
	CHECK_EQ(message.event, UFFD_EVENT_PAGEFAULT);
	CHECK_OK(ioctl(server->fd, UFFDIO_COPY, &copy));
	return NULL;
}

TEST(payload_from_user_fault)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	unsigned char *content = pages_map(page_size());
	struct fault_server server;
	struct fixture fixture;
	pthread_t thread;
	size_t bytes;

	server.fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (server.fd < 0)
		SKIP("userfaultfd: %s", test_errno_name(errno));
	CHECK_OK(ioctl(server.fd, UFFDIO_API, &api));
	set_up(&fixture, "event");
	fill(content, page_size(), 3);
	for (bytes = 8; bytes <= page_size(); bytes *= 8) {
		server.page = pages_map(page_size());
		server.content = content;
		range.range.start = PTR(server.page);
		range.range.len = page_size();
		CHECK_OK(ioctl(server.fd, UFFDIO_REGISTER, &range));
		CHECK_EQ(pthread_create(&thread, NULL, serve_fault, &server), 0);
		CHECK_EQ(emit(fixture.fd, fixture.event.write_index, server.page, bytes),
			 bytes + 4);
		CHECK_EQ(pthread_join(thread, NULL), 0);
		check_payload(&fixture, content, bytes);
	}
	close(server.fd);
	tear_down(&fixture);
}

/* ------------------------------------------------------------------------
 * Delivered events
 */
TEST(every_size_is_delivered)
{
	unsigned char *pages = pages_map(EVENTLOG_PAYLOAD_MAX + 2 * page_size());
	struct fixture fixture;
	size_t bytes, shift;

	set_up(&fixture, "event");
	fill(pages, EVENTLOG_PAYLOAD_MAX + page_size(), test_seed());
	for (bytes = 0; bytes <= 4096; bytes++) {
		shift = bytes * 7 % 61;
		test_note("%zu bytes from %zu", bytes, shift);
		CHECK_EQ(emit(fixture.fd, fixture.event.write_index, pages + shift, bytes),
			 bytes + 4);
		check_payload(&fixture, pages + shift, bytes);
	}
	for (bytes = EVENTLOG_PAYLOAD_MAX - 20; bytes <= EVENTLOG_PAYLOAD_MAX; bytes++) {
		shift = bytes % 17;
		CHECK_EQ(emit(fixture.fd, fixture.event.write_index, pages + shift, bytes),
			 bytes + 4);
		check_payload(&fixture, pages + shift, bytes);
	}
	CHECK_EQ(lost_sum(stat_all(fixture.consumer.fd).lost), 0);
	tear_down(&fixture);
}

/* Several records of mixed sizes in the ring at once, over many laps of the ring. */
TEST(mixed_sizes_are_delivered)
{
	enum { BATCH = 8, ROUNDS = 300 };
	unsigned char *pages = pages_map(EVENTLOG_PAYLOAD_MAX + page_size());
	size_t sizes[BATCH], shifts[BATCH];
	__u64 seed = test_seed();
	struct fixture fixture;
	struct record record;
	unsigned int round, i, cpus[1];

	CHECK(cpus_allowed(cpus, 1));
	cpu_pin(cpus[0]);
	set_up(&fixture, "event");
	fill(pages, EVENTLOG_PAYLOAD_MAX + page_size(), seed);
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < BATCH; i++) {
			sizes[i] = test_random(&seed) % (round % 10 ? 300 : 30000);
			shifts[i] = test_random(&seed) % page_size();
			CHECK_EQ(emit(fixture.fd, fixture.event.write_index, pages + shifts[i],
				      sizes[i]), sizes[i] + 4);
		}
		for (i = 0; i < BATCH; i++) {
			CHECK(consumer_next(&fixture.consumer, &record));
			CHECK_EQ(record.cpu, cpus[0]);
			CHECK_EQ(record.bytes, ALIGN_UP(sizes[i], 8));
			CHECK(!memcmp(record.payload, pages + shifts[i], sizes[i]));
			for (; sizes[i] < record.bytes; sizes[i]++)
				CHECK_EQ(record.payload[sizes[i]], 0);
		}
		CHECK(!consumer_next(&fixture.consumer, &record));
	}
	CHECK_EQ(lost_sum(stat_all(fixture.consumer.fd).lost), 0);
	tear_down(&fixture);
}

struct header_writer {
	struct fixture *fixture;
	unsigned int cpu;
	__u64 session;
	__u64 before;
	__u64 after;
	pid_t tid;
};

static void *write_for_header(void *argument)
{
	struct header_writer *writer = argument;

	cpu_pin(writer->cpu);
	writer->tid = thread_id();
	writer->before = clock_now();
	CHECK_OK(emit_session(writer->fixture->fd, writer->fixture->event.write_index,
			      writer->session, "payload", 8));
	writer->after = clock_now();
	return NULL;
}

TEST(record_header_is_correct)
{
	struct fixture fixture;
	struct header_writer writer = { .fixture = &fixture };
	const struct eventlog_record *header;
	struct record record;
	unsigned int cpus[64], count, round;
	pthread_t thread;

	count = cpus_allowed(cpus, ARRAY_SIZE(cpus));
	set_up_with(&fixture, "event", EVENTLOG_REGISTER_SESSION);
	for (round = 0; round < 20; round++) {
		writer.cpu = cpus[round % count];
		writer.session = round ? 1ULL << 63 | round : 0;
		CHECK_EQ(pthread_create(&thread, NULL, write_for_header, &writer), 0);
		CHECK_EQ(pthread_join(thread, NULL), 0);
		consumer_one(&fixture.consumer, &record);
		header = record.header;
		CHECK_EQ(header->size_flags, sizeof(*header) + 8);
		CHECK_EQ(header->descriptor, fixture.event.descriptor);
		CHECK_EQ(header->session, writer.session);
		CHECK_EQ(header->pid, getpid());
		CHECK_EQ(header->tid, writer.tid);
		CHECK(header->tid != header->pid);
		CHECK(header->time >= writer.before);
		CHECK(header->time <= writer.after);
		CHECK_EQ(record.cpu, writer.cpu);
	}
	tear_down(&fixture);
}

/* Events of several definitions on one file are told apart. */
TEST(several_events_on_one_file)
{
	enum { EVENTS = 50 };
	struct eventlog_register events[EVENTS];
	struct consumer consumer;
	struct record record;
	unsigned int round, i;
	char command[64];
	int fd = device_open();

	for (i = 0; i < EVENTS; i++) {
		snprintf(command, sizeof(command), "event_%u u32 value", i);
		events[i] = register_event(fd, command);
	}
	consumer_open(&consumer, LARGE_RING);
	rule_add(consumer.fd, NULL, "event_*");
	for (round = 0; round < 10; round++)
		for (i = 0; i < EVENTS; i++) {
			CHECK_OK(emit(fd, events[i].write_index, &i, sizeof(i)));
			consumer_one(&consumer, &record);
			CHECK_EQ(record.header->descriptor, events[i].descriptor);
			CHECK(!memcmp(record.payload, &i, sizeof(i)));
			CHECK_EQ(record.header->session, 0);
		}
	consumer_close(&consumer);
	close(fd);
}

/* ------------------------------------------------------------------------
 * Closed files and killed processes
 */
struct closing {
	int fd;
	__u32 index;
	unsigned int written;
	bool stop;
};

static void *write_until_closed(void *argument)
{
	struct closing *closing = argument;

	while (!__atomic_load_n(&closing->stop, __ATOMIC_ACQUIRE)) {
		int fd = __atomic_load_n(&closing->fd, __ATOMIC_ACQUIRE);
		__u32 index = __atomic_load_n(&closing->index, __ATOMIC_ACQUIRE);
		ssize_t bytes = emit(fd, index, "payload", 8);

		if (bytes < 0)
			CHECK(errno == EBADF || errno == ENOENT || errno == EINVAL);
		else
			CHECK_EQ(bytes, 12);
		__atomic_fetch_add(&closing->written, bytes == 12, __ATOMIC_RELEASE);
	}
	return NULL;
}

TEST(close_while_writing)
{
	struct closing closing = { .fd = -1 };
	struct consumer consumer;
	pthread_t threads[2];
	unsigned int round, i, before;

	consumer_open(&consumer, LARGE_RING);
	rule_add(consumer.fd, NULL, NULL);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, write_until_closed, &closing), 0);
	for (round = 0; round < 200; round++) {
		int fd = device_open();

		__atomic_store_n(&closing.index, register_event(fd, "event u64 value").write_index,
				 __ATOMIC_RELEASE);
		before = __atomic_load_n(&closing.written, __ATOMIC_ACQUIRE);
		__atomic_store_n(&closing.fd, fd, __ATOMIC_RELEASE);
		WAIT_FOR(__atomic_load_n(&closing.written, __ATOMIC_ACQUIRE) >=
			 before + round % 20);
		if (round % 2)
			CHECK_OK(try_unregister(fd, closing.index));
		close(fd);
		consumer_skip(&consumer);
	}
	__atomic_store_n(&closing.stop, true, __ATOMIC_RELEASE);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		CHECK_EQ(pthread_join(threads[i], NULL), 0);
	consumer_close(&consumer);
}

TEST(killed_while_writing)
{
	struct consumer consumer;
	struct record record;
	unsigned int round, seen;
	pid_t child;

	consumer_open(&consumer, LARGE_RING);
	rule_add(consumer.fd, NULL, NULL);
	for (round = 0; round < 20; round++) {
		child = test_fork();
		if (!child) {
			int fd = device_open();
			struct eventlog_register event = register_event(fd, "doomed u64 value");
			unsigned char *payload = pages_map(40000);

			for (;;)
				CHECK_OK(emit(fd, event.write_index, payload, 8 + round * 2000));
		}
		for (seen = 0; seen < 10 + round; seen += consumer_skip(&consumer))
			test_pause();
		CHECK_OK(kill(child, SIGKILL));
		test_join_signal(child, SIGKILL);
		WAIT_FOR(!status_now("Active: "));
		flush(consumer.fd);
		while (consumer_next(&consumer, &record))
			CHECK_EQ(record.header->pid, child);
	}
	consumer_close(&consumer);
}

/* An inherited file keeps its registrations. */
TEST(inherited_file_can_write)
{
	char command[128], text[64];
	struct fixture fixture;
	struct record record;
	unsigned char index[4];
	int fd, ready[2], held[2];
	pid_t child;

	set_up(&fixture, "event");
	child = test_fork();
	if (!child) {
		CHECK_OK(emit(fixture.fd, fixture.event.write_index, "by child", 8));
		close(fixture.fd);
		_exit(0);
	}
	test_join(child);
	consumer_one(&fixture.consumer, &record);
	CHECK_EQ(record.header->pid, child);
	CHECK_EQ(record.header->tid, child);
	CHECK_OK(emit(fixture.fd, fixture.event.write_index, "still on", 8));
	consumer_one(&fixture.consumer, &record);
	CHECK_EQ(record.header->pid, getpid());

	/* Through exec(): the new program has only the file descriptor and the index. */
	memcpy(index, &fixture.event.write_index, 4);
	fd = CHECK_OK(dup(fixture.fd));
	CHECK(fd < 10);
	snprintf(command, sizeof(command), "printf '\\%03o\\%03o\\%03o\\%03o%%s' executed >&%d",
		 index[0], index[1], index[2], index[3], fd);
	child = test_fork();
	if (!child) {
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(1);
	}
	test_join(child);
	consumer_one(&fixture.consumer, &record);
	memcpy(text, record.payload, 8);
	CHECK(!memcmp(text, "executed", 8));
	CHECK_EQ(record.header->pid, child);
	close(fd);

	/* A close-on-exec file is released by exec() while the process lives on. */
	CHECK_OK(pipe(ready));
	CHECK_OK(pipe(held));
	child = test_fork();
	if (!child) {
		fd = device_open();
		register_event(fd, "short_lived");
		CHECK_EQ(write(ready[1], "", 1), 1);
		CHECK_OK(dup2(held[0], STDIN_FILENO));
		close(held[1]);
		execl("/bin/sh", "sh", "-c", "read line", (char *)NULL);
		_exit(1);
	}
	CHECK_EQ(read(ready[0], text, 1), 1);
	WAIT_FOR(status_now("Active: ") == 1);
	CHECK_EQ(waitpid(child, NULL, WNOHANG), 0);
	CHECK_EQ(write(held[1], "\n", 1), 1);
	test_join(child);
	tear_down(&fixture);
}
