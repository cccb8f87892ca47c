// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of DESCRIBE and of LIST of definitions: texts, states, positions and buffers.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter_common.h"

#define RING_BYTES (4 * page_size())

static const char *const level_names[] = {
	[EVENTLOG_LEVEL_CRITICAL] = "critical",
	[EVENTLOG_LEVEL_ERROR] = "error",
	[EVENTLOG_LEVEL_WARNING] = "warning",
	[EVENTLOG_LEVEL_NOTICE] = "notice",
	[EVENTLOG_LEVEL_INFO] = "info",
	[EVENTLOG_LEVEL_DEBUG] = "debug",
	[EVENTLOG_LEVEL_VERBOSE] = "verbose",
};

/* The schema text without the event's id, which goes to *id: the kernel chooses it. */
static char *describe_without_id(int fd, __u32 descriptor, unsigned int *id)
{
	char *text = describe(fd, descriptor, NULL), *number, *end;

	if (!text)
		test_fail(__FILE__, __LINE__, "DESCRIBE %u: %s", descriptor,
			  test_errno_name(errno));
	number = strstr(text, "\nevent ");
	CHECK(number);
	number += strlen("\nevent ");
	*id = strtoul(number, &end, 10);
	CHECK(end > number && *end == ' ');
	memmove(number, end + 1, strlen(end));
	return text;
}

TEST(describe_text)
{
	static const struct {
		const char *command;
		const char *provider;
		__u64 keywords;
		unsigned int level;
		const char *text;
	} cases[] = {
		{ "bare", NULL, 0, 0,
		  "eventlog 1\nprovider user\nevent bare info -\n" },
		{ "request u32 id;char[16] path", "web.shop-1", 0x30, EVENTLOG_LEVEL_ERROR,
		  "eventlog 1\nprovider web.shop-1\nevent request error 0x30\n"
		  "\tu32 id\n\tchar[16] path\n" },
		{ "everything u8 a;u16 b;u32 c;u64 d;s8 e;s16 f;s32 g;s64 h;"
		  "char i;unsigned char j;short k;unsigned short l;int m;unsigned int n;"
		  "char[7] o;unsigned char[9] p;__data_loc char[] q;__rel_loc char[] r;"
		  "__data_loc unsigned char[] s;__rel_loc unsigned char[] t;struct point u 24;",
		  NULL, 0x8000000000000001ULL, EVENTLOG_LEVEL_VERBOSE,
		  "eventlog 1\nprovider user\nevent everything verbose 0x8000000000000001\n"
		  "\tu8 a\n\tu16 b\n\tu32 c\n\tu64 d\n\ts8 e\n\ts16 f\n\ts32 g\n\ts64 h\n"
		  "\ts8 i\n\tu8 j\n\ts16 k\n\tu16 l\n\ts32 m\n\tu32 n\n"
		  "\tchar[7] o\n\tu8[9] p\n\tstring q\n\tstring:rel r\n"
		  "\tbytes s\n\tbytes:rel t\n\tstruct:point:24 u\n" },
	};
	struct eventlog_register request;
	int fd = device_open();
	unsigned int i, id;
	char *text, want[256];

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		request = register_request(cases[i].command);
		request.provider = PTR(cases[i].provider);
		request.keywords = cases[i].keywords;
		request.level = cases[i].level;
		register_with(fd, &request);
		text = describe_without_id(fd, request.descriptor, &id);
		test_note("\"%.250s\"", text);
		CHECK(!strcmp(text, cases[i].text));
		free(text);
	}
	for (i = EVENTLOG_LEVEL_CRITICAL; i <= EVENTLOG_LEVEL_VERBOSE; i++) {
		request = register_request("leveled");
		request.level = i;
		register_with(fd, &request);
		snprintf(want, sizeof(want),
			 "eventlog 1\nprovider user\nevent leveled %s -\n", level_names[i]);
		text = describe_without_id(fd, request.descriptor, &id);
		test_note("\"%.250s\"", text);
		CHECK(!strcmp(text, want));
		free(text);
	}
	close(fd);
}

/* The longest possible command is read back whole. */
TEST(describe_long_text)
{
	static char command[EVENTLOG_COMMAND_MAX], want[16 * EVENTLOG_COMMAND_MAX];
	struct eventlog_register registration;
	int fd = device_open(), bytes, want_bytes, i;
	unsigned int id;
	char *text;

	bytes = sprintf(command, "long_text ");
	want_bytes = sprintf(want, "eventlog 1\nprovider user\nevent long_text info -\n");
	for (i = 0; bytes + 16 < EVENTLOG_COMMAND_MAX && i < EVENTLOG_FIELDS_MAX; i++) {
		bytes += sprintf(command + bytes, "u8 %s%d;", i % 2 ? "f" : "field", i);
		want_bytes += sprintf(want + want_bytes, "\tu8 %s%d\n", i % 2 ? "f" : "field", i);
	}
	registration = register_event(fd, command);
	text = describe_without_id(fd, registration.descriptor, &id);
	CHECK(!strcmp(text, want));
	free(text);
	close(fd);
}

TEST(describe_checks_its_buffer)
{
	struct eventlog_describe request = { .size = sizeof(request) };
	struct eventlog_register registration;
	int fd = device_open(), none = device_open_for(O_RDONLY);
	char text[256], *edge;
	__u32 size;

	CHECK_ERRNO(ioctl(none, EVENTLOG_IOC_DESCRIBE, &request), ENOENT);
	request.descriptor = 0xffffffff;
	CHECK_ERRNO(ioctl(none, EVENTLOG_IOC_DESCRIBE, &request), ENOENT);

	registration = register_event(fd, "described u32 value");
	request.descriptor = registration.descriptor + 1;
	CHECK_ERRNO(ioctl(none, EVENTLOG_IOC_DESCRIBE, &request), ENOENT);

	/* The call returns the size and touches neither the text nor the descriptor. */
	request.descriptor = registration.descriptor;
	CHECK_ERRNO(ioctl(none, EVENTLOG_IOC_DESCRIBE, &request), EMSGSIZE);
	size = request.text_size;
	CHECK(size > 1);
	memset(text, 0xa5, sizeof(text));
	request.text = PTR(text);
	for (request.text_size = 1; request.text_size < size; request.text_size++) {
		__u32 given = request.text_size;

		CHECK_ERRNO(ioctl(none, EVENTLOG_IOC_DESCRIBE, &request), EMSGSIZE);
		CHECK_EQ(request.text_size, size);
		CHECK_EQ(request.descriptor, registration.descriptor);
		CHECK_EQ((unsigned char)text[0], 0xa5);
		request.text_size = given;
	}
	CHECK_OK(ioctl(none, EVENTLOG_IOC_DESCRIBE, &request));
	CHECK_EQ(strlen(text) + 1, size);
	CHECK_EQ((unsigned char)text[size], 0xa5);

	/* With more room than needed, the call returns the size it used. */
	request.text_size = sizeof(text);
	CHECK_OK(ioctl(none, EVENTLOG_IOC_DESCRIBE, &request));
	CHECK_EQ(request.text_size, size);
	request.text_size = 0xffffffff;
	CHECK_OK(ioctl(none, EVENTLOG_IOC_DESCRIBE, &request));
	CHECK_EQ(request.text_size, size);

	request.text = 0;
	CHECK_ERRNO(ioctl(none, EVENTLOG_IOC_DESCRIBE, &request), EFAULT);
	request.text = PTR(pages_unmapped());
	CHECK_ERRNO(ioctl(none, EVENTLOG_IOC_DESCRIBE, &request), EFAULT);
	edge = edge_buffer(size);
	request.text = PTR(edge + 1);
	request.text_size = size;
	CHECK_ERRNO(ioctl(none, EVENTLOG_IOC_DESCRIBE, &request), EFAULT);
	request.text = PTR(edge);
	request.text_size = size;
	CHECK_OK(ioctl(none, EVENTLOG_IOC_DESCRIBE, &request));
	close(fd);
	close(none);
}

TEST(describe_state)
{
	struct eventlog_register plain, persistent;
	struct consumer consumer;
	int fd = device_open();
	__u32 state, rule;

	plain = register_event(fd, "plain");
	persistent = register_persistent(fd, NULL, "persistent");
	free(describe(fd, plain.descriptor, &state));
	CHECK_EQ(state, EVENTLOG_DESCRIBED_LIVE);
	free(describe(fd, persistent.descriptor, &state));
	CHECK_EQ(state, EVENTLOG_DESCRIBED_LIVE | EVENTLOG_DESCRIBED_PERSIST);
	consumer_open(&consumer, RING_BYTES);
	rule = rule_add(consumer.fd, NULL, "p*");
	free(describe(fd, plain.descriptor, &state));
	CHECK_EQ(state, EVENTLOG_DESCRIBED_LIVE | EVENTLOG_DESCRIBED_ENABLED);
	free(describe(fd, persistent.descriptor, &state));
	CHECK_EQ(state, EVENTLOG_DESCRIBED_LIVE | EVENTLOG_DESCRIBED_ENABLED |
		 EVENTLOG_DESCRIBED_PERSIST);
	CHECK_OK(try_rule_delete(consumer.fd, rule));
	free(describe(consumer.fd, plain.descriptor, &state));
	CHECK_EQ(state, EVENTLOG_DESCRIBED_LIVE);
	consumer_close(&consumer);
	CHECK_OK(try_unregister(fd, persistent.write_index));
	CHECK_OK(try_delete(fd, NULL, "persistent"));
	close(fd);
}

/* Checks why the event must be written, and which process is a reason. */
static void check_sync(int fd, const struct eventlog_register *event, __u32 sync, __u32 pid)
{
	struct eventlog_describe request = {
		.size = sizeof(request), .descriptor = event->descriptor,
		.sync = ~0U, .sync_pid = ~0U,
	};
	char text[256];

	request.text = PTR(text);
	request.text_size = sizeof(text);
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_DESCRIBE, &request));
	CHECK_EQ(request.sync, sync);
	CHECK_EQ(request.sync_pid, pid);
}

TEST(describe_says_who_needs_write)
{
	const struct filter_term term = {
		.name = "comm", .flags = EVENTLOG_TERM_COMMON | EVENTLOG_TERM_STRING,
		.operation = EVENTLOG_TERM_OP_EQUAL, .string = "name",
	};
	struct eventlog_subscribe mapped = subscribe_request(RING_BYTES);
	struct eventlog_rule rule = rule_request(NULL, "event");
	struct filter *filter = malloc(sizeof(*filter));
	struct consumer passive, old, new;
	struct eventlog_register event;
	int fd = device_open();
	pid_t child;

	CHECK(filter);
	event = register_event(fd, "event");
	check_sync(fd, &event, 0, 0);
	consumer_open(&passive, 0);
	rule_add(passive.fd, NULL, "event");
	mapped.flags = EVENTLOG_SUBSCRIBE_MAPPED;
	consumer_open_with(&new, &mapped);
	rule_add(new.fd, NULL, "event");
	check_sync(fd, &event, 0, 0);
	consumer_open(&old, RING_BYTES);
	rule_add(old.fd, NULL, "event");
	check_sync(fd, &event, EVENTLOG_SYNC_RINGS, getpid());
	consumer_close(&new);
	consumer_open_with(&new, &mapped);
	rule.filter = filter_fill(filter, &term, 1, NULL);
	rule_add_with(new.fd, &rule);
	check_sync(fd, &event, EVENTLOG_SYNC_RINGS | EVENTLOG_SYNC_FILTER, getpid());
	consumer_close(&old);
	check_sync(fd, &event, EVENTLOG_SYNC_FILTER, getpid());
	/* Without capabilities, the subscriber is hidden. */
	child = test_fork();
	if (!child) {
		capabilities_keep(0);
		fd = device_open();
		event = register_event(fd, "event");
		check_sync(fd, &event, EVENTLOG_SYNC_FILTER, 0);
		_exit(0);
	}
	test_join(child);
	consumer_close(&new);
	check_sync(fd, &event, 0, 0);
	consumer_close(&passive);
	free(filter);
	close(fd);
}

/* A text outlives its definition while a subscriber from its lifetime is open. */
TEST(describe_after_the_definition_ended)
{
	struct eventlog_register registration;
	struct consumer witness, other, late;
	int fd = device_open(), reader = device_open();
	char *before, *after;
	__u32 state;

	consumer_open(&witness, 0);
	consumer_open(&other, RING_BYTES);
	registration = register_event(fd, "mortal u32 value");
	before = describe(reader, registration.descriptor, NULL);
	CHECK(before);
	close(fd);
	WAIT_FOR(!status_now("Active: "));
	consumer_open(&late, RING_BYTES);

	after = describe(reader, registration.descriptor, &state);
	CHECK(after && !strcmp(before, after));
	CHECK_EQ(state & (EVENTLOG_DESCRIBED_LIVE | EVENTLOG_DESCRIBED_ENABLED), 0);
	free(after);
	consumer_close(&other);
	after = describe(reader, registration.descriptor, NULL);
	CHECK(after && !strcmp(before, after));
	free(after);
	consumer_close(&witness);

	/* A subscriber that came later does not keep the text. */
	for (;;) {
		after = describe(reader, registration.descriptor, NULL);
		if (!after)
			break;
		free(after);
		test_pause();
	}
	CHECK_EQ(errno, ENOENT);
	consumer_close(&late);

	/* Without a subscriber the text goes with its definition. */
	fd = device_open();
	registration = register_event(fd, "mortal u32 value");
	close(fd);
	for (;;) {
		after = describe(reader, registration.descriptor, NULL);
		if (!after)
			break;
		free(after);
		test_pause();
	}
	CHECK_EQ(errno, ENOENT);
	close(reader);
	free(before);
}

TEST(describe_provider_ids)
{
	struct eventlog_describe request = { .size = sizeof(request) };
	static const char *const providers[] = { NULL, "first", "second", "first", "third" };
	__u32 ids[ARRAY_SIZE(providers)];
	unsigned int events[ARRAY_SIZE(providers)], i, j;
	struct eventlog_register registration;
	int fd = device_open();
	char text[256], command[32];

	for (i = 0; i < ARRAY_SIZE(providers); i++) {
		snprintf(command, sizeof(command), "event_%u", i);
		registration = register_request(command);
		registration.provider = PTR(providers[i]);
		register_with(fd, &registration);
		request.descriptor = registration.descriptor;
		request.text = PTR(text);
		request.text_size = sizeof(text);
		CHECK_OK(ioctl(fd, EVENTLOG_IOC_DESCRIBE, &request));
		ids[i] = request.provider_id;
		CHECK(ids[i] >= 1 && ids[i] <= 65535);
		free(describe_without_id(fd, registration.descriptor, &events[i]));
	}
	for (i = 0; i < ARRAY_SIZE(providers); i++)
		for (j = 0; j < i; j++)
			if (i == 3 && j == 1) {
				CHECK_EQ(ids[i], ids[j]);
				CHECK(events[i] != events[j]);
			} else {
				CHECK(ids[i] != ids[j]);
			}
	close(fd);
}

/* ------------------------------------------------------------------------
 * LIST of definitions
 */
static struct eventlog_list definitions_request(void *buffer, __u32 bytes)
{
	return list_request(EVENTLOG_LIST_DEFINITIONS, buffer, bytes);
}

TEST(list_checks_its_buffer)
{
	struct eventlog_list request = definitions_request(NULL, 0);
	int fd = device_open(), none = device_open_for(O_RDONLY);
	struct eventlog_register registration;
	struct eventlog_definition *definition;
	char buffer[512], *edge, *text;
	__u32 size, given, end, i;

	/* Nothing, or nothing more, is the end. */
	CHECK_OK(ioctl(none, EVENTLOG_IOC_LIST, &request));
	CHECK_EQ(request.count, 0);
	registration = register_event(fd, "described u32 value");
	for (i = 0; i < 4; i++) {
		static const __u64 behind[] = { 0, 0xffffffff, 0x100000000, ~0ULL };

		request.cursor = behind[i] ?: registration.descriptor;
		CHECK_OK(ioctl(none, EVENTLOG_IOC_LIST, &request));
		CHECK_EQ(request.count, 0);
		CHECK_EQ(request.cursor, 0);
	}

	/* Too little room: the call returns the size and touches nothing else. */
	CHECK_ERRNO(ioctl(none, EVENTLOG_IOC_LIST, &request), EMSGSIZE);
	size = request.buffer_size;
	CHECK(size > sizeof(*definition) && size % EVENTLOG_LIST_ALIGN == 0);
	memset(buffer, 0xa5, sizeof(buffer));
	for (given = 1; given < size; given++) {
		request = definitions_request(buffer, given);
		CHECK_ERRNO(ioctl(none, EVENTLOG_IOC_LIST, &request), EMSGSIZE);
		CHECK_EQ(request.buffer_size, size);
		CHECK_EQ(request.cursor, 0);
		CHECK_EQ(request.count, 0);
		CHECK_EQ((unsigned char)buffer[0], 0xa5);
	}
	for (given = size; given <= size + 8; given += 8) {
		memset(buffer, 0xa5, sizeof(buffer));
		request = definitions_request(buffer, given);
		CHECK_OK(ioctl(none, EVENTLOG_IOC_LIST, &request));
		CHECK_EQ(request.buffer_size, size);
		CHECK_EQ(request.cursor, 0);
		CHECK_EQ(request.count, 1);
		CHECK_EQ((unsigned char)buffer[size], 0xa5);
		definition = (void *)buffer;
		CHECK_EQ(definition->size, size);
		CHECK_EQ(definition->text_offset, sizeof(*definition));
		CHECK_EQ(definition->descriptor, registration.descriptor);
		CHECK_EQ(definition->state, EVENTLOG_DESCRIBED_LIVE);
		CHECK_EQ(definition->instance, 0);
		text = describe(none, registration.descriptor, NULL);
		CHECK(!strcmp(buffer + definition->text_offset, text));
		end = definition->text_offset + strlen(text) + 1;
		CHECK(size - end < EVENTLOG_LIST_ALIGN);
		for (i = end; i < size; i++)
			CHECK_EQ(buffer[i], 0);
		free(text);
	}

	request = definitions_request(NULL, sizeof(buffer));
	CHECK_ERRNO(ioctl(none, EVENTLOG_IOC_LIST, &request), EFAULT);
	request = definitions_request(pages_unmapped(), 0xffffffff);
	CHECK_ERRNO(ioctl(none, EVENTLOG_IOC_LIST, &request), EFAULT);
	edge = edge_buffer(size);
	request = definitions_request(edge + 1, size);
	CHECK_ERRNO(ioctl(none, EVENTLOG_IOC_LIST, &request), EFAULT);
	CHECK_EQ(request.count, 0);
	/* The buffer needs no alignment, and may be smaller than the caller says. */
	edge = edge_buffer(size + 1);
	request = definitions_request(edge, 0xffffffff);
	CHECK_OK(ioctl(none, EVENTLOG_IOC_LIST, &request));
	CHECK_EQ(request.count, 1);
	close(fd);
	close(none);
}

TEST(list_rejects_other_kinds)
{
	struct eventlog_list request = definitions_request(NULL, 0);
	int fd = device_open();
	__u32 i;

	for (i = 0; i < 32; i++) {
		request.kind = EVENTLOG_LIST_REGISTRATIONS + 1 + i;
		CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_LIST, &request), EINVAL);
		request.kind = 1U << i;
		if (request.kind > EVENTLOG_LIST_REGISTRATIONS)
			CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_LIST, &request), EINVAL);
	}
	/* Members that only another kind has. */
	request.kind = EVENTLOG_LIST_POLICIES;
	request.ring = 1;
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_LIST, &request), EINVAL);
	request.ring = 0;
	request.since = 1;
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_LIST, &request), EINVAL);
	request.since = 0;
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_LIST, &request));
	close(fd);
}

/* Checks that calls with such a buffer return what DESCRIBE returns, in order. */
static unsigned int check_definitions(int fd, char *buffer, __u32 bytes)
{
	struct eventlog_list request = definitions_request(buffer, bytes);
	unsigned int count = 0, i;
	__u32 last = 0, state;
	char *next, *text;

	do {
		request.buffer_size = bytes;
		CHECK_OK(ioctl(fd, EVENTLOG_IOC_LIST, &request));
		next = buffer;
		for (i = 0; i < request.count; i++) {
			const struct eventlog_definition *definition = (void *)next;

			CHECK(definition->descriptor > last);
			last = definition->descriptor;
			text = describe(fd, last, &state);
			CHECK(text);
			CHECK_EQ(definition->state, state);
			CHECK(!strcmp(next + definition->text_offset, text));
			free(text);
			next += definition->size;
		}
		CHECK_EQ(next - buffer, request.buffer_size);
		CHECK(!request.cursor || request.cursor >= last);
		count += request.count;
	} while (request.cursor);
	return count;
}

/* As many as a call looks at, and more. */
TEST(list_walks_definitions)
{
	enum { EVENTS = 1100, LARGEST = 1 << 20 };
	static const __u32 sizes[] = { 128, 1000, 1 << 16, LARGEST };
	int fd = device_open(), reader = device_open();
	char *buffer = malloc(LARGEST), command[64];
	struct consumer consumer;
	unsigned int i;

	register_persistent(fd, NULL, "persistent");
	for (i = 1; i < EVENTS; i++) {
		snprintf(command, sizeof(command), "%.*s_%u u32 x", 1 + i % 20,
			 "named_with_many_bytes", i);
		register_event(fd, command);
	}
	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, "n*");
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		CHECK_EQ(check_definitions(reader, buffer, sizes[i]), EVENTS);
	/* Ended definitions are there, too. */
	close(fd);
	WAIT_FOR(status_now("Active: ") == 1);
	CHECK_EQ(check_definitions(reader, buffer, LARGEST), EVENTS);
	CHECK_OK(try_delete(reader, NULL, "persistent"));
	consumer_close(&consumer);
	close(reader);
	free(buffer);
}

/* A definition that alone is larger than what the kernel takes for several. */
TEST(list_long_text)
{
	static const char before[] = "eventlog 1\nprovider shop \"", after[] = "\"\nevent 7 a info -\n";
	static char schema[EVENTLOG_SCHEMA_MAX], buffer[2 * EVENTLOG_SCHEMA_MAX];
	struct eventlog_register request = register_request(schema);
	struct eventlog_list definitions;
	int fd = device_open();

	memset(schema, 'x', sizeof(schema));
	memcpy(schema, before, strlen(before));
	memcpy(schema + sizeof(schema) - sizeof(after), after, sizeof(after));
	request.flags = EVENTLOG_REGISTER_SCHEMA;
	request.provider = request.level = 0;
	register_event(fd, "first");
	register_with(fd, &request);
	register_event(fd, "last");
	CHECK_EQ(check_definitions(fd, buffer, sizeof(buffer)), 3);
	definitions = definitions_request(buffer, sizeof(schema));
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_LIST, &definitions));
	CHECK_EQ(definitions.count, 1);
	definitions.buffer_size = sizeof(schema);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_LIST, &definitions), EMSGSIZE);
	CHECK_EQ(definitions.buffer_size, sizeof(schema) + sizeof(struct eventlog_definition));
	close(fd);
}
