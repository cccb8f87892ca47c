// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of REGISTER with a schema: which texts are accepted and what DESCRIBE returns,
 * sharing of definitions, sizes of payloads, and filters by the names in a schema.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "filter_common.h"

#define RING_BYTES (16 * page_size())
#define HEAD "eventlog 1\nprovider shop\n"
#define EVENT "event 7 sold notice -\n"

static const char everything[] =
	"eventlog 1\n"
	"provider shop \"a \\\"corner\\\" shop, \xe2\x86\x92 caf\xc3\xa9\"\n"
	"keyword till 0x1 \"payments\"\n"
	"keyword stock 0x6\n"
	"enum fruit \"kinds\"\n"
	"\t1 APPLE \"red\"\n"
	"\t-2 PEAR\n"
	"flags how\n"
	"\t0x0 NONE\n"
	"\t0x1 CARD\n"
	"\t0x2 GIFT \"wrapped\"\n"
	"enum wide\n"
	"\t18446744073709551615 ALL\n"
	"event 7 sold notice till,0x100 \"something was sold\"\n"
	"\tenum:fruit:s8 fruit \"what\"\n"
	"\tflags:how:u16 how as hex\n"
	"\tenum:wide:u64 wide\n"
	"\tduration took \"at the till\"\n"
	"\ttime when as dec\n"
	"\tipv4 source\n"
	"\tipv6 destination\n"
	"\tport port\n"
	"\tmac mac\n"
	"\tptr pointer\n"
	"\tbool paid\n"
	"\tchar[8] name\n"
	"\tu8[4] key\n"
	"\tstruct:till_state:16 state\n"
	"\ts64 delta\n"
	"\tstring note \"a # in a string\"\n"
	"\tbytes data\n";

static struct eventlog_register schema_request(const char *schema)
{
	struct eventlog_register request = register_request(schema);

	request.flags = EVENTLOG_REGISTER_SCHEMA;
	request.provider = 0;
	request.keywords = 0;
	request.level = 0;
	return request;
}

static int try_schema(int fd, const char *schema)
{
	struct eventlog_register request = schema_request(schema);

	return ioctl(fd, EVENTLOG_IOC_REGISTER, &request);
}

static struct eventlog_register register_schema(int fd, const char *schema)
{
	struct eventlog_register request = schema_request(schema);

	register_with(fd, &request);
	return request;
}

TEST(describe_returns_the_schema)
{
	int fd = device_open();
	struct eventlog_register event = register_schema(fd, everything);
	char *text = describe(fd, event.descriptor, NULL);

	CHECK(text && !strcmp(text, everything));
	CHECK_EQ(event.level, EVENTLOG_LEVEL_NOTICE);
	CHECK_EQ(event.keywords, 0x101);
	free(text);
	close(fd);
}

TEST(the_smallest_schema_is_accepted)
{
	const char *schema = HEAD "event 4294967295 a verbose -\n";
	int fd = device_open();
	struct eventlog_register event = register_schema(fd, schema);
	char *text = describe(fd, event.descriptor, NULL);

	CHECK(text && !strcmp(text, schema));
	free(text);
	close(fd);
}

/* Attributes are kept, and events that differ in them are not the same. */
TEST(attributes_are_kept)
{
	static const char *const schemas[] = {
		HEAD "event 1 a info -\n", HEAD "event 1 a info - start\n",
		HEAD "event 1 a info - end\n", HEAD "event 1 a info - start \"text\"\n\tu32 b\n",
		HEAD "keyword k 0x1\nevent 1 start info k,0x2 end \"start\"\n",
	};
	__u32 descriptors[ARRAY_SIZE(schemas)];
	int fd = device_open();
	unsigned int i, k;
	char *text;

	for (i = 0; i < ARRAY_SIZE(schemas); i++) {
		descriptors[i] = register_schema(fd, schemas[i]).descriptor;
		text = describe(fd, descriptors[i], NULL);
		test_note("%s", text);
		CHECK(text && !strcmp(text, schemas[i]));
		free(text);
		for (k = 0; k < i; k++)
			CHECK(descriptors[k] != descriptors[i]);
	}
	close(fd);
}

TEST(other_members_must_be_zero)
{
	struct eventlog_register request = schema_request(everything);
	int fd = device_open();

	request.provider = PTR("shop");
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_REGISTER, &request), EINVAL);
	request = schema_request(everything);
	request.keywords = 1;
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_REGISTER, &request), EINVAL);
	request = schema_request(everything);
	request.level = EVENTLOG_LEVEL_NOTICE;
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_REGISTER, &request), EINVAL);
	request = schema_request(everything);
	request.command = PTR(pages_unmapped());
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_REGISTER, &request), EFAULT);
	close(fd);
}

/* Each of these differs from a schema that is accepted in one place. */
TEST(invalid_schemas_are_einval)
{
	static const char *const schemas[] = {
		"", "\n", "eventlog 1", "eventlog 1\n", "eventlog 2\nprovider shop\n" EVENT,
		"eventlog  1\nprovider shop\n" EVENT, "eventlog 1\nprovider shop",
		HEAD, HEAD "keyword a 0x1\n", "eventlog 1\n" EVENT,
		"eventlog 1\nprovider\n" EVENT, "eventlog 1\nprovider \n" EVENT,
		"eventlog 1\nprovider 1shop\n" EVENT, "eventlog 1\nprovider \"a shop\"\n" EVENT,
		"eventlog 1\nprovider shop shop\n" EVENT,
		"eventlog 1\nprovider shop \"\n" EVENT, "eventlog 1\nprovider shop \"a\" b\n" EVENT,
		"eventlog 1\nprovider shop \"a\\n\"\n" EVENT,
		"eventlog 1\nprovider shop \"a\\\n" EVENT,
		"eventlog 1\nprovider shop \"\x01\"\n" EVENT,
		"eventlog 1\nprovider shop \"\xff\"\n" EVENT,
		"eventlog 1\nprovider shop \"\xc2\x80\"\n" EVENT,
		"eventlog 1\nprovider shop \"\xc0\xaf\"\n" EVENT,
		"eventlog 1\nprovider shop \"\xed\xa0\x80\"\n" EVENT,
		"eventlog 1\nprovider shop \"\xf4\x90\x80\x80\"\n" EVENT,
		"eventlog 1\nprovider shop \"\xe2\x82\"\n" EVENT, "eventlog 1\nprovider shop \"\xc3",
		HEAD "provider other\n" EVENT, HEAD "\n" EVENT, HEAD "# comment\n" EVENT,
		HEAD EVENT "\r\n", HEAD "event 7 sold notice - \n", HEAD "event 7 sold notice -",
		HEAD " event 7 sold notice -\n", HEAD "event  7 sold notice -\n",
		HEAD "event 0 sold notice -\n", HEAD "event 4294967296 sold notice -\n",
		HEAD "event 07 sold notice -\n", HEAD "event +7 sold notice -\n",
		HEAD "event 7 sold loud -\n", HEAD "event 7 sold notice\n",
		HEAD "event 7 sold notice till\n", HEAD "event 7 sold notice 0x1,\n",
		HEAD "event 7 sold notice - begin\n", HEAD "event 7 sold notice - Start\n",
		HEAD "event 7 sold notice - start end\n", HEAD "event 7 sold notice - start \n",
		HEAD "event 7 sold notice -  start\n", HEAD "event 7 sold notice start\n",
		HEAD "event 7 sold notice - \"text\" start\n", HEAD "event 7 sold start -\n",
		HEAD "event 7 so-ld notice -\n", HEAD "event 7 so\xc3\xa9ld notice -\n",
		HEAD EVENT EVENT, HEAD EVENT "keyword late 0x1\n", HEAD EVENT "enum late\n",
		HEAD "\tu32 early\n" EVENT, HEAD "keyword a 0x1\n\t1 A\n" EVENT,
		HEAD "keyword a 0x0\n" EVENT, HEAD "keyword a 0x1\nkeyword a 0x2\n" EVENT,
		HEAD "keyword a 0x1\nkeyword b 0x1\n" EVENT, HEAD "keyword a 0x10000000000000000\n" EVENT,
		HEAD "keyword a\n" EVENT, HEAD "enum a\nenum a\n" EVENT, HEAD "enum\n" EVENT,
		HEAD "enum a\n\t1 A\n\t1 B\n" EVENT, HEAD "enum a\n\t1 A\n\t2 A\n" EVENT,
		HEAD "enum a\n\t-0 A\n" EVENT, HEAD "enum a\n\t-9223372036854775809 A\n" EVENT,
		HEAD "enum a\n\tx A\n" EVENT, HEAD "enum a\n\t1\n" EVENT, HEAD "flags a\n\t-1 A\n" EVENT,
		HEAD EVENT "\tu32\n", HEAD EVENT "\tu32 a b\n", HEAD EVENT "\tu24 a\n",
		HEAD EVENT "\tu32 a\n\tu32 a\n", HEAD EVENT "\tu32 a as\n", HEAD EVENT "\tu32 a as oct\n",
		HEAD EVENT "\tu32 1a\n", HEAD EVENT "\t\tu32 a\n", HEAD EVENT "\tchar[0] a\n",
		HEAD EVENT "\tchar[65537] a\n", HEAD EVENT "\tchar[99999999999] a\n",
		HEAD EVENT "\tchar[08] a\n", HEAD EVENT "\tu8[] a\n", HEAD EVENT "\tu16[4] a\n",
		HEAD EVENT "\tu8[65536] a\n\tu8 b\n", HEAD EVENT "\tstruct::4 a\n",
		HEAD EVENT "\tstruct:a-b:4 a\n", HEAD EVENT "\tstruct:a a\n",
		HEAD EVENT "\tstring:rel a\n", HEAD EVENT "\tbytes:rel a\n",
		HEAD EVENT "\tenum:fruit:u8 a\n", HEAD "enum fruit\n" EVENT "\tflags:fruit:u8 a\n",
		HEAD "flags how\n" EVENT "\tflags:how:s8 a\n", HEAD "enum fruit\n" EVENT "\tenum:fruit a\n",
		HEAD "enum fruit\n" EVENT "\tenum:fruit:bool a\n",
		HEAD "enum fruit\n" EVENT "\tenum:fruit:ipv6 a\n", HEAD EVENT "\tu32  a\n",
		HEAD EVENT "\t u32 a\n", HEAD EVENT "\tu32\ta\n", HEAD EVENT "\tu32 \"a\"\n",
		HEAD "enum fruit\n\t256 A\n" EVENT "\tenum:fruit:u8 a\n",
		HEAD "enum fruit\n\t128 A\n" EVENT "\tenum:fruit:s8 a\n",
		HEAD "enum fruit\n\t-129 A\n" EVENT "\tenum:fruit:s8 a\n",
		HEAD "enum fruit\n\t-1 A\n" EVENT "\tenum:fruit:u64 a\n",
		HEAD "enum fruit\n\t18446744073709551615 A\n" EVENT "\tenum:fruit:s64 a\n",
	};
	long before = status_now("Active: ");
	int fd = device_open();
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(schemas); i++) {
		test_note("%u: %s", i, schemas[i]);
		CHECK_ERRNO(try_schema(fd, schemas[i]), EINVAL);
	}
	CHECK_EQ(status_now("Active: "), before);
	close(fd);
}

TEST(a_reserved_provider_is_eperm)
{
	int fd = device_open();

	CHECK_ERRNO(try_schema(fd, "eventlog 1\nprovider user_events\n" EVENT), EPERM);
	close(fd);
}

/* Writes text, then COUNT numbered lines, then an end. */
static char *long_schema(const char *head, unsigned int count, const char *line, const char *end)
{
	size_t room = strlen(head) + count * (strlen(line) + 16) + strlen(end) + 1, at;
	char *text = malloc(room);
	unsigned int i;

	CHECK(text);
	at = snprintf(text, room, "%s", head);
	for (i = 0; i < count; i++)
		at += snprintf(text + at, room - at, line, i, i);
	snprintf(text + at, room - at, "%s", end);
	return text;
}

TEST(limits_of_schemas)
{
	int fd = device_open();
	char *text = long_schema(HEAD EVENT, 256, "\tu8 f%u\n", "");

	CHECK_OK(try_schema(fd, text));
	free(text);
	text = long_schema(HEAD EVENT, 257, "\tu8 f%u\n", "");
	CHECK_ERRNO(try_schema(fd, text), E2BIG);
	free(text);
	/* 2048 lines with the first two and the event. */
	text = long_schema(HEAD "enum e\n", 2044, "\t%u m%u\n", EVENT);
	CHECK_OK(try_schema(fd, text));
	free(text);
	text = long_schema(HEAD "enum e\n", 2045, "\t%u m%u\n", EVENT);
	CHECK_ERRNO(try_schema(fd, text), E2BIG);
	free(text);
	/* The largest text, with its NUL, and one byte more. */
	text = malloc(EVENTLOG_SCHEMA_MAX + 1);
	CHECK(text);
	memset(text, 'x', EVENTLOG_SCHEMA_MAX + 1);
	memcpy(text, "eventlog 1\nprovider shop \"", strlen("eventlog 1\nprovider shop \""));
	strcpy(text + EVENTLOG_SCHEMA_MAX - strlen("\"\n" EVENT) - 1, "\"\n" EVENT);
	CHECK_OK(try_schema(fd, text));
	strcpy(text + EVENTLOG_SCHEMA_MAX - strlen("\"\n" EVENT), "\"\n" EVENT);
	text[EVENTLOG_SCHEMA_MAX - strlen("\"\n" EVENT) - 1] = 'x';
	CHECK_ERRNO(try_schema(fd, text), E2BIG);
	free(text);
	close(fd);
}

/* Definitions are shared only if the whole text is the same. */
TEST(equal_schemas_share_a_definition)
{
	static const char *const others[] = {
		HEAD EVENT "\tu32 price\n",
		HEAD EVENT "\tu32 price \"in cents\"\n",
		HEAD "keyword till 0x1\n" EVENT "\tu32 price\n",
		"eventlog 1\nprovider shop \"a shop\"\n" EVENT "\tu32 price\n",
		HEAD "event 8 sold notice -\n\tu32 price\n",
	};
	struct eventlog_register events[ARRAY_SIZE(others)], command, same;
	int one = device_open(), other = device_open();
	unsigned int i, k;

	command = register_request("sold u32 price");
	command.provider = PTR("shop");
	command.level = EVENTLOG_LEVEL_NOTICE;
	register_with(one, &command);
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		events[i] = register_schema(one, others[i]);
		CHECK(events[i].descriptor != command.descriptor);
		for (k = 0; k < i; k++)
			CHECK(events[i].descriptor != events[k].descriptor);
		same = register_schema(other, others[i]);
		CHECK_EQ(same.descriptor, events[i].descriptor);
	}
	close(one);
	close(other);
}

TEST(payloads_are_checked)
{
	int fd = device_open();
	struct eventlog_register event = register_schema(fd, HEAD EVENT "\tport port\n\tstring text\n");
	struct consumer consumer;
	unsigned char payload[] = "\0\x50\0\0\0\0ab";
	__u32 word = 3U << 16 | 6;

	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, "shop", "sold");
	CHECK_ERRNO(emit(fd, event.write_index, payload, 5), EINVAL);
	CHECK_ERRNO(emit(fd, event.write_index, payload, sizeof(payload)), EBADMSG);
	memcpy(payload + 2, &word, sizeof(word));
	CHECK_EQ(emit(fd, event.write_index, payload, sizeof(payload)), (ssize_t)sizeof(payload) + 4);
	CHECK_ERRNO(emit(fd, event.write_index, payload, sizeof(payload) - 1), EBADMSG);
	consumer_close(&consumer);
	close(fd);
}

/* Filters compare a port in host byte order, an address, and names. */
TEST(filters_know_the_types)
{
	static const struct filter_term terms[] = {
		{ .name = "fruit", .operation = EVENTLOG_TERM_OP_EQUAL,
		  .flags = EVENTLOG_TERM_STRING, .string = "PEAR" },
		{ .name = "how", .operation = EVENTLOG_TERM_OP_BITS,
		  .flags = EVENTLOG_TERM_STRING, .string = "GIFT" },
		{ .name = "port", .operation = EVENTLOG_TERM_OP_EQUAL,
		  .flags = EVENTLOG_TERM_NUMBER, .number = 80 },
		{ .name = "source", .operation = EVENTLOG_TERM_OP_EQUAL,
		  .flags = EVENTLOG_TERM_IPV4, .address = "10.0.0.1", .mask = "255.255.255.255" },
	};
	const char *schema =
		HEAD "enum fruit\n\t1 APPLE\n\t-2 PEAR\nflags how\n\t0x1 CARD\n\t0x2 GIFT\n" EVENT
		"\tenum:fruit:s8 fruit\n\tflags:how:u8 how\n\tport port\n\tipv4 source\n";
	unsigned char payload[8] = { 0xfe, 3, 0, 80, 10, 0, 0, 1 };
	struct eventlog_register event;
	int fd = device_open(), change;
	struct consumer consumer;
	struct filter filter;
	struct record record;
	unsigned int i;

	event = register_schema(fd, schema);
	for (i = 0; i < ARRAY_SIZE(terms); i++) {
		struct eventlog_rule rule = rule_request("shop", "sold");

		test_note("%s", terms[i].name);
		consumer_open(&consumer, RING_BYTES);
		rule.filter = filter_fill(&filter, &terms[i], 1, NULL);
		CHECK_OK(ioctl(consumer.fd, EVENTLOG_IOC_RULE_ADD, &rule));
		change = i < 2 ? (int)i : i == 2 ? 2 : 7;
		payload[change] ^= 3;
		CHECK(emit(fd, event.write_index, payload, sizeof(payload)) > 0);
		payload[change] ^= 3;
		CHECK(emit(fd, event.write_index, payload, sizeof(payload)) > 0);
		CHECK(consumer_next(&consumer, &record));
		CHECK(!memcmp(record.payload, payload, sizeof(payload)));
		CHECK(!consumer_next(&consumer, &record));
		consumer_close(&consumer);
	}
	close(fd);
}

/* The text stays as long as a subscriber that may need it. */
TEST(text_is_retained_for_subscribers)
{
	struct eventlog_register event;
	struct consumer consumer;
	int fd = device_open();
	char *text;

	consumer_open(&consumer, RING_BYTES);
	event = register_schema(fd, everything);
	close(fd);
	text = describe(consumer.fd, event.descriptor, NULL);
	CHECK(text && !strcmp(text, everything));
	free(text);
	consumer_close(&consumer);
}

TEST(a_schema_may_persist)
{
	struct eventlog_register request = schema_request(everything), again;
	int fd = device_open();

	request.flags |= EVENTLOG_REGISTER_PERSIST | EVENTLOG_REGISTER_SESSION;
	register_with(fd, &request);
	close(fd);
	fd = device_open();
	again = register_schema(fd, everything);
	CHECK_EQ(again.descriptor, request.descriptor);
	CHECK_OK(try_unregister(fd, again.write_index));
	CHECK_OK(try_delete(fd, "shop", "sold"));
	close(fd);
}
