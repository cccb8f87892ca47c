// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tests of the decoding of eventheader records, which are written here byte by byte: each
 * encoding and format in both byte orders, extensions, damage, every truncation, and random
 * changes. Prints TAP. Buffers have exactly the given size.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elog.h"
#include "util/tap.h"
#include "util/text.h"
#include "util/test_random.h"
#include "util/util.h"

#define LITTLE	0x07		/* 64-bit pointers, little endian, extensions */
#define BIG	0x04		/* 32-bit pointers, big endian, extensions */

/* A record that is being written. */
struct bytes {
	unsigned char data[4096];
	size_t size;
	bool big;
};

static struct elog_eventheader *decoder;

static void put(struct bytes *bytes, const void *data, size_t size)
{
	memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
}

static void put_number(struct bytes *bytes, uint64_t value, unsigned int size)
{
	unsigned int i;

	for (i = 0; i < size; i++)
		bytes->data[bytes->size++] =
			(unsigned char)(value >> 8 * (bytes->big ? size - 1 - i : i));
}

static void put_header(struct bytes *bytes, unsigned int flags, unsigned int level)
{
	memset(bytes, 0, sizeof(*bytes));
	bytes->big = !(flags & 2);
	put_number(bytes, flags, 1);
	put_number(bytes, 0, 1);
	put_number(bytes, 0, 2);
	put_number(bytes, 0, 2);
	put_number(bytes, 0, 1);
	put_number(bytes, level, 1);
}

static void put_extension(struct bytes *bytes, unsigned int kind, const void *data, size_t size)
{
	put_number(bytes, size, 2);
	put_number(bytes, kind, 2);
	put(bytes, data, size);
}

static struct elog_schema *parse(const char *name, const char *first)
{
	struct elog_schema_error error;
	struct elog_schema *schema = NULL;
	char text[600];
	int size;

	size = snprintf(text, sizeof(text), "eventlog 1\nprovider user_events\n"
			"event 1 \"%s\" info -\n\tu8 %s\n\tu8 version\n\tu16 id\n\tu16 tag\n"
			"\tu8 opcode\n\tu8 level\n", name, first);
	if (elog_schema_parse(text, (size_t)size, &schema, &error)) {
		printf("Bail out! %s\n", error.message);
		exit(1);
	}
	return schema;
}

static const struct elog_schema_event *event_of(const struct elog_schema *schema)
{
	return schema->providers[0]->events[0];
}

static struct elog_schema *prov;	/* Prov_L4K1f */

/* Decode exactly @size bytes. The result is "provider/event level keywords: fields". */
static const char *decode(const void *data, size_t size, bool json)
{
	static struct elog_text text;
	struct elog_eventheader_record record;
	unsigned char *exact = malloc(size + !size);
	const struct elog_schema_event *event;
	int ret;

	if (size)
		memcpy(exact, data, size);
	ret = elog_eventheader_decode(decoder, event_of(prov), exact, size, &record);
	free(exact);
	text.size = 0;
	if (ret) {
		elog_text_printf(&text, "error %d", ret);
		return text.data;
	}
	event = record.event;
	exact = malloc(record.payload_size);
	memcpy(exact, record.payload, record.payload_size);
	if (!json)
		elog_text_printf(&text, "%s/%s %u %#llx: ", event->provider->name, event->name,
				 event->level, (unsigned long long)event->keywords);
	if (json)
		elog_format_json_fields(&text, event, exact, record.payload_size);
	else
		elog_format_fields(&text, event, exact, record.payload_size);
	free(exact);
	elog_text_put(&text, "", 0);
	return text.data ? text.data : "";
}

/* Write a record with the event "E" and one field "f", whose type and data are given. */
static void put_field(struct bytes *bytes, unsigned int flags, const char *type,
		      size_t type_size, const char *data, size_t size)
{
	char metadata[200] = "E\0f";
	size_t at = 4;

	memcpy(metadata + at, type, type_size);
	put_header(bytes, flags, 4);
	put_extension(bytes, 1, metadata, at + type_size);
	put(bytes, data, size);
}

struct field_case {
	const char *type;
	size_t type_size;
	const char *data;
	size_t size;
	const char *text;
	const char *json;
};

#define TYPE(string)	string, sizeof(string) - 1

static void check_fields(const struct field_case *cases, size_t count, unsigned int flags)
{
	char expected[400];
	struct bytes bytes;
	size_t i;

	for (i = 0; i < count; i++) {
		put_field(&bytes, flags, cases[i].type, cases[i].type_size, cases[i].data,
			  cases[i].size);
		snprintf(expected, sizeof(expected), "Prov/E 5 0x1f: f=%s", cases[i].text);
		check_string(decode(bytes.data, bytes.size, false), expected);
		snprintf(expected, sizeof(expected), "\"f\":%s", cases[i].json);
		check_string(decode(bytes.data, bytes.size, true), expected);
	}
}

static void test_values(void)
{
	static const struct field_case cases[] = {
		{ TYPE("\x02"), TYPE("\xfe"), "254", "254" },
		{ TYPE("\x82\x01"), TYPE("\xfe"), "254", "254" },
		{ TYPE("\x82\x02"), TYPE("\xfe"), "-2", "-2" },
		{ TYPE("\x82\x03"), TYPE("\xfe"), "0xfe", "\"0xfe\"" },
		{ TYPE("\x82\x07"), TYPE("\0"), "false", "false" },
		{ TYPE("\x82\x07"), TYPE("\1"), "true", "true" },
		{ TYPE("\x82\x07"), TYPE("\xff"), "255", "255" },
		{ TYPE("\x82\x09"), TYPE("\xfe"), "fe", "\"fe\"" },
		{ TYPE("\x82\x0a"), TYPE("\xe9"), "\"\xc3\xa9\"", "\"\xc3\xa9\"" },
		{ TYPE("\x03"), TYPE("\xfe\xff"), "65534", "65534" },
		{ TYPE("\x83\x02"), TYPE("\xfe\xff"), "-2", "-2" },
		{ TYPE("\x83\x03"), TYPE("\x34\x12"), "0x1234", "\"0x1234\"" },
		{ TYPE("\x83\x07"), TYPE("\1\0"), "true", "true" },
		{ TYPE("\x83\x07"), TYPE("\x60\xea"), "60000", "60000" },
		{ TYPE("\x83\x09"), TYPE("\x34\x12"), "3412", "\"3412\"" },
		{ TYPE("\x83\x0b"), TYPE("\xac\x20"), "\"\xe2\x82\xac\"", "\"\xe2\x82\xac\"" },
		{ TYPE("\x83\x10"), TYPE("\x1f\x90"), "8080", "8080" },
		{ TYPE("\x04"), TYPE("\xfe\xff\xff\xff"), "4294967294", "4294967294" },
		{ TYPE("\x84\x02"), TYPE("\xfe\xff\xff\xff"), "-2", "-2" },
		{ TYPE("\x84\x03"), TYPE("\1\2\3\4"), "0x4030201", "\"0x4030201\"" },
		{ TYPE("\x84\x04"), TYPE("\2\0\0\0"), "ENOENT", "\"ENOENT\"" },
		{ TYPE("\x84\x04"), TYPE("\xff\xff\xff\xff"), "-1", "-1" },
		{ TYPE("\x84\x05"), TYPE("\1\2\0\0"), "513", "513" },
		{ TYPE("\x84\x06"), TYPE("\0\0\0\0"), "1970-01-01T00:00:00Z",
		  "\"1970-01-01T00:00:00Z\"" },
		{ TYPE("\x84\x06"), TYPE("\xff\xff\xff\xff"), "1969-12-31T23:59:59Z",
		  "\"1969-12-31T23:59:59Z\"" },
		{ TYPE("\x84\x07"), TYPE("\0\0\0\0"), "false", "false" },
		{ TYPE("\x84\x07"), TYPE("\0\0\0\x80"), "-2147483648", "-2147483648" },
		{ TYPE("\x84\x08"), TYPE("\0\0\xc0\x3f"), "1.5", "1.5" },
		{ TYPE("\x84\x08"), TYPE("\xcd\xcc\xcc\x3d"), "0.1", "0.1" },
		{ TYPE("\x84\x08"), TYPE("\0\0\x80\x7f"), "inf", "\"Infinity\"" },
		{ TYPE("\x84\x09"), TYPE("\1\2\3\4"), "01020304", "\"01020304\"" },
		{ TYPE("\x84\x0b"), TYPE("\0\xf6\1\0"), "\"\xf0\x9f\x98\x80\"",
		  "\"\xf0\x9f\x98\x80\"" },
		{ TYPE("\x84\x11"), TYPE("\x7f\0\0\1"), "127.0.0.1", "\"127.0.0.1\"" },
		{ TYPE("\x84\x12"), TYPE("\x7f\0\0\1"), "127.0.0.1", "\"127.0.0.1\"" },
		{ TYPE("\x05"), TYPE("\xff\xff\xff\xff\xff\xff\xff\xff"), "18446744073709551615",
		  "\"18446744073709551615\"" },
		{ TYPE("\x85\x02"), TYPE("\xff\xff\xff\xff\xff\xff\xff\xff"), "-1", "-1" },
		{ TYPE("\x85\x06"), TYPE("\x80\x51\1\0\0\0\0\0"), "1970-01-02T00:00:00Z",
		  "\"1970-01-02T00:00:00Z\"" },
		{ TYPE("\x85\x06"), TYPE("\xff\xff\xff\xff\xff\xff\xff\x7f"),
		  "9223372036854775807", "\"9223372036854775807\"" },
		{ TYPE("\x85\x08"), TYPE("\0\0\0\0\0\0\x04\xc0"), "-2.5", "-2.5" },
		{ TYPE("\x85\x08"), TYPE("\x9a\x99\x99\x99\x99\x99\xb9\x3f"), "0.1", "0.1" },
		{ TYPE("\x85\x08"), TYPE("\0\0\0\0\0\0\xf8\x7f"), "nan", "\"NaN\"" },
		{ TYPE("\x85\x08"), TYPE("\0\0\0\0\0\0\xf0\xff"), "-inf", "\"-Infinity\"" },
		{ TYPE("\x85\x09"), TYPE("\1\2\3\4\5\6\7\x08"), "0102030405060708",
		  "\"0102030405060708\"" },
		{ TYPE("\x06"), TYPE("0123456789abcdef"), "30313233343536373839616263646566",
		  "\"30313233343536373839616263646566\"" },
		{ TYPE("\x86\x0f"), TYPE("0123456789abcdef"),
		  "\"30313233-3435-3637-3839-616263646566\"",
		  "\"30313233-3435-3637-3839-616263646566\"" },
		{ TYPE("\x86\x12"), TYPE("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1"), "::1", "\"::1\"" },
		/* A format that the size does not have: the default. A tag is skipped. */
		{ TYPE("\x82\x08"), TYPE("\7"), "7", "7" },
		{ TYPE("\x83\x04"), TYPE("\2\0"), "2", "2" },
		{ TYPE("\x85\x04"), TYPE("\2\0\0\0\0\0\0\0"), "2", "2" },
		{ TYPE("\x84\x7f"), TYPE("\2\0\0\0"), "2", "2" },
		{ TYPE("\x86\x01"), TYPE("0000000000000000"), "30303030303030303030303030303030",
		  "\"30303030303030303030303030303030\"" },
		{ TYPE("\x82\x82\x12\x34"), TYPE("\xfe"), "-2", "-2" },
	};

	check_fields(cases, ELOG_ARRAY_SIZE(cases), LITTLE);
}

static void test_big_endian(void)
{
	static const struct field_case cases[] = {
		{ TYPE("\x03"), TYPE("\x12\x34"), "4660", "4660" },
		{ TYPE("\x84\x02"), TYPE("\xff\xff\xff\xfe"), "-2", "-2" },
		{ TYPE("\x85\x03"), TYPE("\1\2\3\4\5\6\7\x08"), "0x102030405060708",
		  "\"0x102030405060708\"" },
		{ TYPE("\x84\x08"), TYPE("\x3f\xc0\0\0"), "1.5", "1.5" },
		{ TYPE("\x84\x06"), TYPE("\0\1\x51\x80"), "1970-01-02T00:00:00Z",
		  "\"1970-01-02T00:00:00Z\"" },
		/* These do not depend on the byte order. */
		{ TYPE("\x83\x10"), TYPE("\x1f\x90"), "8080", "8080" },
		{ TYPE("\x84\x11"), TYPE("\x7f\0\0\1"), "127.0.0.1", "\"127.0.0.1\"" },
		{ TYPE("\x84\x09"), TYPE("\1\2\3\4"), "01020304", "\"01020304\"" },
		{ TYPE("\x08"), TYPE("\x20\xac\0\0"), "\"\xe2\x82\xac\"", "\"\xe2\x82\xac\"" },
		{ TYPE("\x0c"), TYPE("\0\1\0\1\xf6\0"), "\"\xf0\x9f\x98\x80\"",
		  "\"\xf0\x9f\x98\x80\"" },
		{ TYPE("\x23\0\2"), TYPE("\0\1\0\2"), "[1,2]", "[1,2]" },
		{ TYPE("\x43"), TYPE("\0\1\1\0"), "[256]", "[256]" },
	};

	check_fields(cases, ELOG_ARRAY_SIZE(cases), BIG);
}

static void test_strings(void)
{
	static const struct field_case cases[] = {
		{ TYPE("\x07"), TYPE("caf\xc3\xa9\0"), "\"caf\xc3\xa9\"", "\"caf\xc3\xa9\"" },
		{ TYPE("\x07"), TYPE("\0"), "\"\"", "\"\"" },
		{ TYPE("\x87\x0a"), TYPE("caf\xe9\0"), "\"caf\xc3\xa9\"", "\"caf\xc3\xa9\"" },
		{ TYPE("\x87\x09"), TYPE("ab\0"), "6162", "\"6162\"" },
		{ TYPE("\x87\x0d"), TYPE("<x/>\0"), "\"<x/>\"", "\"<x/>\"" },
		{ TYPE("\x87\x0e"), TYPE("{}\0"), "\"{}\"", "\"{}\"" },
		{ TYPE("\x87\x0c"), TYPE("\xef\xbb\xbfx\0"), "\"x\"", "\"x\"" },
		{ TYPE("\x08"), TYPE("a\0\xac\x20\0\0"), "\"a\xe2\x82\xac\"",
		  "\"a\xe2\x82\xac\"" },
		{ TYPE("\x08"), TYPE("\x3d\xd8\0\xde\0\0"), "\"\xf0\x9f\x98\x80\"",
		  "\"\xf0\x9f\x98\x80\"" },
		/* Half of a surrogate pair is not hidden. */
		{ TYPE("\x08"), TYPE("\x3d\xd8\0\0"), "\"\\xed\\xa0\\xbd\"",
		  "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ TYPE("\x88\x0c"), TYPE("\xfe\xff\0a\0\0"), "\"a\"", "\"a\"" },
		{ TYPE("\x88\x0c"), TYPE("\xff\xfe" "a\0\0\0"), "\"a\"", "\"a\"" },
		{ TYPE("\x88\x09"), TYPE("a\0\0\0"), "6100", "\"6100\"" },
		{ TYPE("\x09"), TYPE("a\0\0\0\0\0\0\0"), "\"a\"", "\"a\"" },
		{ TYPE("\x0a"), TYPE("\4\0a\0b\n"), "\"a\\x00b\\n\"", "\"a\\u0000b\\n\"" },
		{ TYPE("\x0a"), TYPE("\0\0"), "\"\"", "\"\"" },
		{ TYPE("\x8a\x09"), TYPE("\2\0\1\2"), "0102", "\"0102\"" },
		{ TYPE("\x8a\x0a"), TYPE("\1\0\xe9"), "\"\xc3\xa9\"", "\"\xc3\xa9\"" },
		{ TYPE("\x8a\x0c"), TYPE("\4\0\xff\xfe" "a\0"), "\"a\"", "\"a\"" },
		{ TYPE("\x8a\x0c"), TYPE("\x08\0\0\0\xfe\xff\0\0\0a"), "\"a\"", "\"a\"" },
		{ TYPE("\x0b"), TYPE("\2\0a\0\xac\x20"), "\"a\xe2\x82\xac\"",
		  "\"a\xe2\x82\xac\"" },
		{ TYPE("\x0c"), TYPE("\1\0\xff\xff\xff\xff"), "\"\xef\xbf\xbd\"",
		  "\"\xef\xbf\xbd\"" },
		{ TYPE("\x0d"), TYPE("\2\0\xab\xcd"), "abcd", "\"abcd\"" },
		{ TYPE("\x8d\x0b"), TYPE("\2\0ab"), "\"ab\"", "\"ab\"" },
		{ TYPE("\x8d\x0f"), TYPE("\x10\0" "0123456789abcdef"),
		  "\"30313233-3435-3637-3839-616263646566\"",
		  "\"30313233-3435-3637-3839-616263646566\"" },
		{ TYPE("\x8d\x0f"), TYPE("\1\0\x7f"), "\"7f\"", "\"7f\"" },
		{ TYPE("\x8d\x12"), TYPE("\4\0\x7f\0\0\1"), "\"127.0.0.1\"", "\"127.0.0.1\"" },
	};

	check_fields(cases, ELOG_ARRAY_SIZE(cases), LITTLE);
}

/* Counted bytes with the format of a value: it has one of some sizes, or there is none. */
static void test_optional(void)
{
	static const struct field_case cases[] = {
		{ TYPE("\x8a\x01"), TYPE("\4\0\1\2\0\0"), "513", "513" },
		{ TYPE("\x8d\x01"), TYPE("\1\0\xfe"), "254", "254" },
		{ TYPE("\x8d\x01"), TYPE("\2\0\xfe\xff"), "65534", "65534" },
		{ TYPE("\x8d\x01"), TYPE("\x08\0\xff\xff\xff\xff\xff\xff\xff\xff"),
		  "18446744073709551615", "\"18446744073709551615\"" },
		{ TYPE("\x8d\x01"), TYPE("\0\0"), "null", "null" },
		{ TYPE("\x8a\x01"), TYPE("\0\0"), "null", "null" },
		{ TYPE("\x8d\x02"), TYPE("\1\0\xfe"), "-2", "-2" },
		{ TYPE("\x8d\x02"), TYPE("\2\0\xfe\xff"), "-2", "-2" },
		{ TYPE("\x8d\x02"), TYPE("\x08\0\xfe\xff\xff\xff\xff\xff\xff\xff"), "-2",
		  "-2" },
		{ TYPE("\x8d\x03"), TYPE("\2\0\x34\x12"), "0x1234", "\"0x1234\"" },
		{ TYPE("\x8d\x04"), TYPE("\4\0\2\0\0\0"), "ENOENT", "\"ENOENT\"" },
		{ TYPE("\x8a\x04"), TYPE("\0\0"), "null", "null" },
		{ TYPE("\x8d\x05"), TYPE("\4\0\1\2\0\0"), "513", "513" },
		{ TYPE("\x8a\x06"), TYPE("\4\0\0\0\0\0"), "1970-01-01T00:00:00Z",
		  "\"1970-01-01T00:00:00Z\"" },
		{ TYPE("\x8d\x06"), TYPE("\x08\0\x80\x51\1\0\0\0\0\0"),
		  "1970-01-02T00:00:00Z", "\"1970-01-02T00:00:00Z\"" },
		{ TYPE("\x8d\x07"), TYPE("\1\0\1"), "true", "true" },
		{ TYPE("\x8d\x07"), TYPE("\1\0\xff"), "255", "255" },
		{ TYPE("\x8d\x07"), TYPE("\4\0\0\0\0\x80"), "-2147483648", "-2147483648" },
		{ TYPE("\x8d\x07"), TYPE("\0\0"), "null", "null" },
		{ TYPE("\x8d\x08"), TYPE("\4\0\xcd\xcc\xcc\x3d"), "0.1", "0.1" },
		{ TYPE("\x8a\x08"), TYPE("\x08\0\x9a\x99\x99\x99\x99\x99\xb9\x3f"), "0.1",
		  "0.1" },
		{ TYPE("\x8d\x10"), TYPE("\2\0\x1f\x90"), "8080", "8080" },
		{ TYPE("\x8a\x10"), TYPE("\0\0"), "null", "null" },
		{ TYPE("\x8a\x0f"), TYPE("\0\0"), "null", "null" },
		{ TYPE("\x8d\x11"), TYPE("\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1"),
		  "\"::1\"", "\"::1\"" },
		{ TYPE("\x8d\x12"), TYPE("\0\0"), "null", "null" },
		/* Sizes that the format does not have. */
		{ TYPE("\x8d\x01"), TYPE("\3\0\1\2\3"), "010203", "\"010203\"" },
		{ TYPE("\x8a\x04"), TYPE("\2\0\1\2"), "0102", "\"0102\"" },
		{ TYPE("\x8d\x06"), TYPE("\1\0\1"), "01", "\"01\"" },
		{ TYPE("\x8d\x07"), TYPE("\x08\0\1\2\3\4\5\6\7\x08"), "0102030405060708",
		  "\"0102030405060708\"" },
		{ TYPE("\x8d\x08"), TYPE("\2\0\1\2"), "0102", "\"0102\"" },
		{ TYPE("\x8d\x10"), TYPE("\1\0\1"), "01", "\"01\"" },
		/* Other strings have no such formats. */
		{ TYPE("\x87\x01"), TYPE("1\0"), "\"1\"", "\"1\"" },
		{ TYPE("\x8b\x01"), TYPE("\1\0" "1\0"), "\"1\"", "\"1\"" },
		/* In arrays. */
		{ TYPE("\xcd\x02"), TYPE("\4\0\1\0\xff\0\0\2\0\1\0\3\0\1\2\3"),
		  "[-1,null,1,\"010203\"]", "[-1,null,1,\"010203\"]" },
		{ TYPE("\xcd\x12"), TYPE("\2\0\0\0\4\0\x7f\0\0\1"),
		  "[null,\"127.0.0.1\"]", "[null,\"127.0.0.1\"]" },
	};
	static const struct field_case big[] = {
		{ TYPE("\x8d\x01"), TYPE("\0\2\x12\x34"), "4660", "4660" },
		{ TYPE("\x8d\x08"), TYPE("\0\4\x3f\xc0\0\0"), "1.5", "1.5" },
		{ TYPE("\x8d\x10"), TYPE("\0\2\x1f\x90"), "8080", "8080" },
		{ TYPE("\x8d\x01"), TYPE("\0\3\1\2\3"), "010203", "\"010203\"" },
		{ TYPE("\xcd\x02"), TYPE("\0\1\0\2\xff\xfe"), "[-2]", "[-2]" },
	};

	check_fields(cases, ELOG_ARRAY_SIZE(cases), LITTLE);
	check_fields(big, ELOG_ARRAY_SIZE(big), BIG);
}

static void test_arrays(void)
{
	static const struct field_case cases[] = {
		{ TYPE("\x22\3\0"), TYPE("\1\2\3"), "[1,2,3]", "[1,2,3]" },
		{ TYPE("\xa3\x03\2\0"), TYPE("\1\0\2\0"), "[\"0x1\",\"0x2\"]",
		  "[\"0x1\",\"0x2\"]" },
		{ TYPE("\x42"), TYPE("\0\0"), "[]", "[]" },
		{ TYPE("\x44"), TYPE("\2\0\1\0\0\0\2\0\0\0"), "[1,2]", "[1,2]" },
		{ TYPE("\xc4\x08"), TYPE("\2\0\0\0\xc0\x3f\0\0\xc0\x7f"), "[1.5,\"NaN\"]",
		  "[1.5,\"NaN\"]" },
		{ TYPE("\xc2\x07"), TYPE("\2\0\0\1"), "[false,true]", "[false,true]" },
		{ TYPE("\xc4\x04"), TYPE("\1\0\2\0\0\0"), "[\"ENOENT\"]", "[\"ENOENT\"]" },
		{ TYPE("\xc4\x11"), TYPE("\1\0\x7f\0\0\1"), "[\"127.0.0.1\"]",
		  "[\"127.0.0.1\"]" },
		{ TYPE("\x47"), TYPE("\2\0a\0\"\x1b\0"), "[\"a\",\"\\\"\\u001b\"]",
		  "[\"a\",\"\\\"\\u001b\"]" },
		{ TYPE("\x2b\1\0"), TYPE("\1\0\xac\x20"), "[\"\xe2\x82\xac\"]",
		  "[\"\xe2\x82\xac\"]" },
		{ TYPE("\xcd\x09"), TYPE("\1\0\2\0\1\2"), "[\"0102\"]", "[\"0102\"]" },
		{ TYPE("\xc1\2x\0\2y\0\x42"), TYPE("\2\0\1\0\0\2\1\0\3"),
		  "[{\"x\":1,\"y\":[]},{\"x\":2,\"y\":[3]}]",
		  "[{\"x\":1,\"y\":[]},{\"x\":2,\"y\":[3]}]" },
		{ TYPE("\xa1\1\1\0in\0\x81\1z\0\2"), TYPE("\7"), "[{\"in\":{\"z\":7}}]",
		  "[{\"in\":{\"z\":7}}]" },
	};

	check_fields(cases, ELOG_ARRAY_SIZE(cases), LITTLE);
}

/* In the other outputs, names have few characters. */
static void test_json_names(void)
{
	static const char metadata[] =
		"E\0" "a b\0\2" "a_b\0\2" "a b;tag=1\0\2" "\"1/3\"\0\2" "caf\xc3\xa9\xff\0\2"
		"event_id\0\2" "s t\0\x81\1u v\0\2"
		"l\0\xa1\3\1\0x y\0\2x y\0\2" "in\0\x81\1x y\0\2";
	struct bytes bytes;

	put_header(&bytes, LITTLE, 4);
	bytes.data[2] = 9;
	put_extension(&bytes, 1, metadata, sizeof(metadata) - 1);
	put(&bytes, "\1\2\3\4\5\6\7\x08\x09\x0a", 10);
	check_string(decode(bytes.data, bytes.size, false), "Prov/E 5 0x1f: a_b=1 a_b_2=2 a_b_3=3 "
		     "_1_3_=4 caf___=5 event_id=6 s_t.u_v=7 "
		     "l=[{\"x y\":8,\"x y_10\":9,\"in\":{\"x y\":10}}] event_id_13=9");
	check_string(decode(bytes.data, bytes.size, true), "\"a b\":1,\"a_b\":2,\"a b_3\":3,"
		     "\"\\\"1/3\\\"\":4,\"caf\xc3\xa9\xef\xbf\xbd\":5,\"event_id\":6,"
		     "\"s t.u v\":7,\"l\":[{\"x y\":8,\"x y_10\":9,\"in\":{\"x y\":10}}],"
		     "\"event_id_13\":9");
}

/* Fields are found by names with points; names that occur twice differ. */
static void test_structs(void)
{
	static const char metadata[] =
		"Hello;attribute=a;;b\0"
		"one;x=y\0\x02"
		"st\0\x81\x02" "a b\0\x02" "in\0\x81\x01" "c\0\x02"
		"one\0\x02" "\0\x02" "9-z\0\x02";
	struct bytes bytes;

	put_header(&bytes, LITTLE, 4);
	put_extension(&bytes, 1, metadata, sizeof(metadata) - 1);
	put(&bytes, "\1\2\3\4\5\6", 6);
	check_string(decode(bytes.data, bytes.size, false),
		     "Prov/Hello 5 0x1f: one=1 st.a_b=2 st.in.c=3 one_4=4 _=5 _9_z=6");
}

static void test_header(void)
{
	struct bytes bytes;

	put_header(&bytes, LITTLE, 2);
	bytes.data[1] = 9;
	bytes.data[2] = 0x34;
	bytes.data[3] = 0x12;
	bytes.data[4] = 1;
	bytes.data[6] = 1;
	put_extension(&bytes, 0x8002, "0123456789abcdefFEDCBA9876543210", 32);
	put_extension(&bytes, 0x8123, "?", 1);
	put_extension(&bytes, 1, "E", 2);
	check_string(decode(bytes.data, bytes.size, false), "Prov/E 5 0x1f: event_id=4660 "
		     "event_version=9 event_tag=1 opcode=activity_start header_level=2 "
		     "activity_id=\"30313233-3435-3637-3839-616263646566\" "
		     "related_activity_id=\"46454443-4241-3938-3736-353433323130\"");
	put_header(&bytes, BIG, 4);
	bytes.data[2] = 0x12;
	bytes.data[3] = 0x34;
	bytes.data[6] = 77;
	put_extension(&bytes, 0x8001, "E\0opcode\0\2", 10);
	put_extension(&bytes, 2, "id", 2);
	put(&bytes, "\5", 1);
	check_string(decode(bytes.data, bytes.size, false), "Prov/E 5 0x1f: opcode=5 "
		     "event_id=4660 opcode_2=77 activity_id=\"6964\"");
	/* Nothing says what the data is. */
	put_header(&bytes, LITTLE & ~4, 4);
	put(&bytes, "\1\2", 2);
	check_string(decode(bytes.data, bytes.size, false), "Prov/Prov_L4K1f 5 0x1f: "
		     "undecoded_at=8 undecoded=0102");
	/* Zeroes up to a multiple of 8 are no data; more zeroes, and other bytes, are. */
	put_header(&bytes, LITTLE, 4);
	put_extension(&bytes, 1, "E\0f\0\2", 5);
	put(&bytes, "\1\0\0\0\0\0\0", 7);
	check_equal(bytes.size % 8, 0);
	check_string(decode(bytes.data, bytes.size, false), "Prov/E 5 0x1f: f=1");
	bytes.data[bytes.size - 1] = 5;
	check_string(decode(bytes.data, bytes.size, false), "Prov/E 5 0x1f: f=1 "
		     "undecoded_at=18 undecoded=000000000005");
	bytes.data[bytes.size - 1] = 0;
	put(&bytes, "\0\0\0\0\0\0\0", 8);
	check_string(decode(bytes.data, bytes.size, false), "Prov/E 5 0x1f: f=1 "
		     "undecoded_at=18 undecoded=0000000000000000000000000000");
	/* Names of events are printable. */
	put_header(&bytes, LITTLE, 4);
	put_extension(&bytes, 1, "a b\n\xc3\xa9", 7);
	check_string(decode(bytes.data, bytes.size, false), "Prov/a b\\x0a\\xc3\\xa9 5 0x1f: ");
}

static void test_damage(void)
{
	static const struct {
		const char *metadata;
		size_t size;
		const char *data;
		size_t data_size;
		const char *text;
	} cases[] = {
		{ TYPE(""), TYPE("\1"), "Prov_L4K1f 5 0x1f: metadata_at=12 metadata= "
		  "undecoded_at=12 undecoded=01" },
		{ TYPE("E"), TYPE("\1"), "Prov_L4K1f 5 0x1f: metadata_at=12 metadata=45 "
		  "undecoded_at=13 undecoded=01" },
		/* More data than fields. */
		{ TYPE("E\0f\0\2"), TYPE("\1\2\3"), "E 5 0x1f: f=1 undecoded_at=18 "
		  "undecoded=0203" },
		/* Unknown encodings: 0, and above the last one. */
		{ TYPE("E\0a\0\2f\0\0b\0\2"), TYPE("\1\2\3"), "E 5 0x1f: a=1 metadata_at=17 "
		  "metadata=660000620002 undecoded_at=24 undecoded=0203" },
		{ TYPE("E\0f\0\x0e"), TYPE("\1"), "E 5 0x1f: metadata_at=14 metadata=66000e "
		  "undecoded_at=17 undecoded=01" },
		{ TYPE("E\0f\0\x1f"), TYPE("\1"), "E 5 0x1f: metadata_at=14 metadata=66001f "
		  "undecoded_at=17 undecoded=01" },
		/* Both kinds of arrays; an empty one; an empty struct. */
		{ TYPE("E\0f\0\x62\1\0"), TYPE("\1"), "E 5 0x1f: metadata_at=14 "
		  "metadata=6600620100 undecoded_at=19 undecoded=01" },
		{ TYPE("E\0f\0\x22\0\0"), TYPE("\1"), "E 5 0x1f: metadata_at=14 "
		  "metadata=6600220000 undecoded_at=19 undecoded=01" },
		{ TYPE("E\0f\0\x81\0"), TYPE("\1"), "E 5 0x1f: metadata_at=14 "
		  "metadata=66008100 undecoded_at=18 undecoded=01" },
		{ TYPE("E\0f\0\1"), TYPE("\1"), "E 5 0x1f: metadata_at=14 "
		  "metadata=660001 undecoded_at=17 undecoded=01" },
		/* A struct may have fewer fields than it declares, but not none. */
		{ TYPE("E\0s\0\x81\2a\0\2"), TYPE("\1"), "E 5 0x1f: s.a=1" },
		{ TYPE("E\0a\0\2s\0\xc1\2b\0\2"), TYPE("\1\1\0\3"), "E 5 0x1f: a=1 "
		  "s=[{\"b\":3}]" },
		{ TYPE("E\0s\0\x81\2t\0\x81\2a\0\2"), TYPE("\1"), "E 5 0x1f: s.t.a=1" },
		{ TYPE("E\0s\0\x81\2"), TYPE("\1"), "E 5 0x1f: metadata_at=18 metadata= "
		  "undecoded_at=18 undecoded=01" },
		/* A damaged one; in an array, none of it can be decoded. */
		{ TYPE("E\0s\0\x81\2a\0\2b"), TYPE("\1"), "E 5 0x1f: s.a=1 metadata_at=21 "
		  "metadata=62" },
		{ TYPE("E\0a\0\2s\0\xc1\2b\0\2c"), TYPE("\1\1\0\3"), "E 5 0x1f: a=1 "
		  "metadata_at=17 metadata=7300c10262000263 undecoded_at=26 undecoded=010003" },
		/* Data that ends early. */
		{ TYPE("E\0a\0\2f\0\4g\0\2"), TYPE("\1\2\3"), "E 5 0x1f: a=1 f=<truncated> "
		  "g=<truncated> undecoded_at=24 undecoded=0203" },
		{ TYPE("E\0f\0\7"), TYPE("ab"), "E 5 0x1f: f=<truncated> undecoded_at=17 "
		  "undecoded=6162" },
		{ TYPE("E\0f\0\x08"), TYPE("ab\0"), "E 5 0x1f: f=<truncated> undecoded_at=17 "
		  "undecoded=616200" },
		{ TYPE("E\0f\0\x0c"), TYPE("\xff\xff" "a"), "E 5 0x1f: f=<truncated> "
		  "undecoded_at=17 undecoded=ffff61" },
		{ TYPE("E\0f\0\x44"), TYPE("\xff\xff\1\0\0\0"), "E 5 0x1f: f=<truncated> "
		  "undecoded_at=17 undecoded=ffff01000000" },
	};
	char expected[300];
	struct bytes bytes;
	size_t i;

	for (i = 0; i < ELOG_ARRAY_SIZE(cases); i++) {
		put_header(&bytes, LITTLE, 4);
		put_extension(&bytes, 1, cases[i].metadata, cases[i].size);
		put(&bytes, cases[i].data, cases[i].data_size);
		snprintf(expected, sizeof(expected), "Prov/%s", cases[i].text);
		check_string(decode(bytes.data, bytes.size, false), expected);
	}
	/* Extensions that end behind the record, and a chain without an end. */
	put_header(&bytes, LITTLE, 4);
	put_number(&bytes, 9, 2);
	put_number(&bytes, 1, 2);
	check_string(decode(bytes.data, bytes.size, false), "Prov/Prov_L4K1f 5 0x1f: "
		     "undecoded_at=8 undecoded=09000100");
	put_header(&bytes, LITTLE, 4);
	put_extension(&bytes, 0x8001, "E\0f\0\2", 5);
	put(&bytes, "\1", 1);
	check_string(decode(bytes.data, bytes.size, false), "Prov/E 5 0x1f: f=<truncated> "
		     "undecoded_at=17 undecoded=01");
	check_string(decode("\7\0\0\0\0\0\0", 7, false), "Prov/Prov_L4K1f 5 0x1f: "
		     "undecoded_at=0 undecoded=07000000000000");
	check_string(decode("", 0, false), "Prov/Prov_L4K1f 5 0x1f: ");
}

/* Structs in structs, up to the limit and beyond; as many fields as metadata can have. */
static void test_limits(void)
{
	unsigned char *data = malloc(65536 + 12), *at;
	struct elog_eventheader_record record;
	unsigned int depth, i;
	struct bytes bytes;
	const char *text;

	for (depth = 8; depth <= 9; depth++) {
		char metadata[100] = "E";
		size_t size = 2;

		for (i = 0; i < depth; i++, size += 4)
			memcpy(metadata + size, "s\0\x81\1", 4);
		memcpy(metadata + size, "f\0\2", 3);
		put_header(&bytes, LITTLE, 4);
		put_extension(&bytes, 1, metadata, size + 3);
		put(&bytes, "\7", 1);
		text = decode(bytes.data, bytes.size, false);
		if (depth == 8)
			check_string(text, "Prov/E 5 0x1f: s.s.s.s.s.s.s.s.f=7");
		else
			check(!strncmp(text, "Prov/E 5 0x1f: metadata_at=", 27));
	}
	/* Each field takes two bytes of the metadata. */
	at = data;
	memcpy(at, "\7\0\0\0\0\0\0\4\xfe\xff\1\0E\0", 14);
	for (at += 14; at < data + 12 + 0xfffe; at += 2)
		memcpy(at, "\0\2", 2);
	check_equal(elog_eventheader_decode(decoder, event_of(prov), data, 12 + 0xfffe, &record),
		    0);
	check_equal(record.event->field_count, 1024 + 2);
	/* An array in an array of structs; the text would be longer than the limit. */
	memset(data, 0, 65536);
	memcpy(data, "\7\0\0\0\0\0\0\4\x50\0\1\0E\0f\0\xc1\1", 18);
	memset(data + 18, 'n', 73);
	memcpy(data + 91, "\0\2\xff\xff", 4);
	data[8] = 12 + 69;
	check_equal(elog_eventheader_decode(decoder, event_of(prov), data, 65536, &record), 0);
	check(record.payload_size < (1 << 20) + 2 * 65536);
	check_string(record.event->fields[record.event->field_count - 1]->name, "undecoded");
	free(data);
}

static void test_names(void)
{
	static const struct {
		const char *name;
		bool is_eventheader;
		unsigned int level;
		uint64_t keywords;
	} names[] = {
		{ "A_L1K0", true, EVENTLOG_LEVEL_CRITICAL, 0 },
		{ "A_L2Kff", true, EVENTLOG_LEVEL_ERROR, 0xff },
		{ "A_L3K1Ggroup1", true, EVENTLOG_LEVEL_WARNING, 1 },
		{ "A_B_L5Kffffffffffffffff", true, EVENTLOG_LEVEL_VERBOSE, UINT64_MAX },
		{ "_L1K1", true, EVENTLOG_LEVEL_CRITICAL, 1 },
		{ "A_LffK1", true, EVENTLOG_LEVEL_INFO, 1 },
		{ "A", false, 0, 0 }, { "A_L0K1", false, 0, 0 }, { "A_LK1", false, 0, 0 },
		{ "A_L1", false, 0, 0 }, { "A_L1K", false, 0, 0 }, { "A_L1K1g", false, 0, 0 },
		{ "A_L1KF", false, 0, 0 }, { "A_l1k1", false, 0, 0 }, { "AL1K1", false, 0, 0 },
		{ "A_L1K10000000000000000", false, 0, 0 }, { "A_L100K1", false, 0, 0 },
		{ "A_L1K1_x", false, 0, 0 },
	};
	struct elog_eventheader_record record;
	struct elog_schema *schema;
	size_t i;
	int ret;

	for (i = 0; i < ELOG_ARRAY_SIZE(names); i++) {
		schema = parse(names[i].name, "eventheader_flags");
		check_equal(elog_is_eventheader(event_of(schema)), names[i].is_eventheader);
		ret = elog_eventheader_decode(decoder, event_of(schema), "\7\0\0\0\0\0\0\1", 8,
					      &record);
		check_equal(ret, names[i].is_eventheader ? 0 : -EINVAL);
		if (!ret) {
			check_equal(record.event->level, names[i].level);
			check(record.event->keywords == names[i].keywords);
		}
		elog_schema_free(schema);
	}
	check(!elog_is_eventheader(NULL));
	schema = parse("A_L1K1", "flags");
	check(!elog_is_eventheader(event_of(schema)));
	elog_schema_free(schema);
}

/* Conditions on decoded fields. */
static void test_expressions(void)
{
	static const struct {
		const char *expression;
		int result;		/* true, false, or the error of elog_expression_bind() */
	} cases[] = {
		{ "n == 3", true }, { "n > 3", false }, { "s.x == 4", true },
		{ "text == hi", true }, { "text ~ \"^h\"", true }, { "text != hi", false },
		{ "number > 1.25 && number < 1.75", true }, { "number == 1.5", true },
		{ "number != 1.5", false }, { "number >= 2", false }, { "number", true },
		{ "number == x", -EINVAL }, { "number ~ x", -EINVAL }, { "number & 1", -EINVAL },
		{ "number == \"1.5\"", -EINVAL },
		{ "error == ENOENT", true }, { "error == 2", true }, { "error != ENOENT", false },
		{ "error == ENOTHING", -EINVAL },
		{ "some == 513", true }, { "some > 513", false }, { "none == 0", false },
		{ "none != 0", false }, { "none", false }, { "odd == 1", false },
		{ "list == \"[1,2]\"", true }, { "list ~ 2", true }, { "list > 1", -EINVAL },
		{ "when > 86399 && when < 86401", true }, { "gone == 1", -ENOENT },
		{ "provider == Prov && event == E && level == info", true },
		{ "keywords & 0x10", true }, { "event == F", -ENOENT },
	};
	static const char metadata[] =
		"E\0n\0\2s\0\x81\1x\0\2text\0\7number\0\x84\x08" "error\0\x84\x04" "list\0\x42"
		"when\0\x84\6" "some\0\x8d\1" "none\0\x8d\1" "odd\0\x8d\1";
	struct elog_eventheader_record record;
	struct elog_expression *expression;
	struct elog_expression_error error;
	struct elog_predicate *predicate;
	struct elog_item item = { 0 };
	struct elog_filter *filter;
	struct bytes bytes;
	size_t i;
	int ret;

	/* The kernel does not accept such a name. */
	check_equal(elog_expression_parse("s.x == 4 && n > 2", &expression, &error), 0);
	check_equal(elog_expression_compile((const struct elog_expression *const *)&expression, 1,
					    0, &filter, NULL), 0);
	check_string(filter->text, "n > 2");
	check(!filter->exact);
	elog_filter_free(filter);
	check_equal(elog_expression_compile((const struct elog_expression *const *)&expression, 1,
					    ELOG_FILTER_WHOLE, &filter, &error), -EINVAL);
	check_string(error.message, "the kernel cannot compare a field of a struct");
	elog_expression_free(expression);

	put_header(&bytes, LITTLE, 4);
	put_extension(&bytes, 1, metadata, sizeof(metadata) - 1);
	put(&bytes, "\3\4hi\0\0\0\xc0\x3f\2\0\0\0\2\0\1\2\x80\x51\1\0"
	    "\2\0\1\2\0\0\3\0\1\0\0", 32);
	check_equal(elog_eventheader_decode(decoder, event_of(prov), bytes.data, bytes.size,
					    &record), 0);
	item.payload = record.payload;
	item.payload_size = record.payload_size;
	for (i = 0; i < ELOG_ARRAY_SIZE(cases); i++) {
		ret = elog_expression_parse(cases[i].expression, &expression, &error);
		if (ret) {
			fail(__FILE__, __LINE__, "%s: %s", cases[i].expression, error.message);
			continue;
		}
		ret = elog_expression_bind(expression, record.event, &predicate, &error);
		if (!ret)
			ret = elog_predicate_match(predicate, &item, NULL);
		if (ret != cases[i].result)
			fail(__FILE__, __LINE__, "%s: %d", cases[i].expression, ret);
		elog_predicate_free(predicate);
		elog_expression_free(expression);
	}
}

/* A record with everything in it. */
static void put_all(struct bytes *bytes, unsigned int flags)
{
	static const char little[] =
		"Event;a=b\0u\0\x82\3s\0\x81\2t\0\7in\0\x81\1w\0\x88\x0c" "c\0\x8a\x0c"
		"b\0\x8d\x0f" "o\0\x8d\2n\0\x8a\x08" "a\0\xc1\2x\0\x44y\0\x47v\0\x26\1\0\0\x85\x88\1\2f\0\x49";
	struct bytes metadata = { .size = 0 };

	put(&metadata, little, sizeof(little) - 1);
	put_header(bytes, flags, 4);
	bytes->data[6] = 1;
	put_extension(bytes, 0x8002, "0123456789abcdef", 16);
	put_extension(bytes, 1, metadata.data, metadata.size);
	put(bytes, "\7text", 6);
	put_number(bytes, 0xfeff, 2);
	put_number(bytes, 'w', 2);
	put_number(bytes, 0, 2);
	put_number(bytes, 3, 2);
	put(bytes, "abc", 3);
	put_number(bytes, 2, 2);
	put(bytes, "\1\2", 2);
	put_number(bytes, 2, 2);
	put_number(bytes, 513, 2);
	put_number(bytes, 0, 2);
	put_number(bytes, 2, 2);
	put_number(bytes, 0, 2);
	put_number(bytes, 1, 2);
	put(bytes, "q", 2);
	put_number(bytes, 1, 2);
	put_number(bytes, 9, 4);
	put_number(bytes, 0, 2);
	put(bytes, "0123456789abcdef", 16);
	put_number(bytes, 0x3ff8000000000000, 8);
	put_number(bytes, 1, 2);
	put_number(bytes, 'z', 4);
	put_number(bytes, 0, 4);
}

static void test_truncation(void)
{
	static const char whole[] = "Prov/Event 5 0x1f: u=0x7 s.t=\"text\" s.in.w=\"w\" c=\"abc\" "
		"b=\"0102\" o=513 n=null a=[{\"x\":[],\"y\":[\"q\"]},{\"x\":[9],\"y\":[]}] "
		"v=[\"30313233343536373839616263646566\"] _=1.5 f=[\"z\"] "
		"opcode=activity_start activity_id=\"30313233-3435-3637-3839-616263646566\"";
	struct bytes bytes;
	unsigned int order;
	const char *text;
	size_t i;

	for (order = 0; order < 2; order++) {
		put_all(&bytes, order ? BIG : LITTLE);
		if (!order)
			check_string(decode(bytes.data, bytes.size, false), whole);
		for (i = 0; i < bytes.size; i++) {
			text = decode(bytes.data, i, false);
			check(strstr(text, "undecoded_at=") || strstr(text, "<truncated>") || !i);
			decode(bytes.data, i, true);
		}
	}
}

/* Whatever a record is, decoding ends, and reads and writes nothing out of bounds. */
static void test_random(void)
{
	struct bytes bytes;
	unsigned int i, j;
	size_t at;

	for (i = 0; i < 30000; i++) {
		put_all(&bytes, i & 1 ? BIG : LITTLE);
		for (j = 0; j < 1 + i % 7; j++) {
			at = random_number(bytes.size);
			bytes.data[at] = (unsigned char)(i % 3 ? random_number(256) :
							 bytes.data[at] ^ 1U << random_number(8));
		}
		check(strncmp(decode(bytes.data, 1 + random_number(bytes.size), i & 2), "error",
			      5));
	}
}

/* The decoder frees its schemas when there are many. */
static void test_cache(void)
{
	struct elog_eventheader_record first = { 0 }, again = { 0 };
	struct bytes bytes;
	char name[40];
	uint64_t i;

	put_field(&bytes, LITTLE, "\2", 1, "\1", 1);
	check_equal(elog_eventheader_decode(decoder, event_of(prov), bytes.data, bytes.size,
					    &first), 0);
	check_equal(elog_eventheader_decode(decoder, event_of(prov), bytes.data, bytes.size,
					    &again), 0);
	check(first.event == again.event && first.generation == again.generation);
	for (i = 0; i < 100000 && again.generation == first.generation; i++) {
		put_header(&bytes, LITTLE, 4);
		put_extension(&bytes, 1, name, (size_t)sprintf(name, "E%llu",
							       (unsigned long long)i) + 1);
		check_equal(elog_eventheader_decode(decoder, event_of(prov), bytes.data,
						    bytes.size, &again), 0);
	}
	check(again.generation != first.generation);
}

int main(void)
{
	static const struct test tests[] = {
		{ "values of each size and format", test_values },
		{ "big-endian records", test_big_endian },
		{ "strings of each encoding", test_strings },
		{ "values that may be absent", test_optional },
		{ "arrays, and arrays of structs", test_arrays },
		{ "names of fields in JSON", test_json_names },
		{ "structs, and names that occur twice", test_structs },
		{ "headers, activities, and unknown extensions", test_header },
		{ "damaged records: the rest is bytes", test_damage },
		{ "limits of nesting, fields and text", test_limits },
		{ "names of events", test_names },
		{ "conditions on decoded fields", test_expressions },
		{ "records that are cut at each byte", test_truncation },
		{ "records with random changes", test_random },
		{ "the cache of schemas is limited", test_cache },
	};
	int ret;

	if (elog_eventheader_open(&decoder))
		return 1;
	prov = parse("Prov_L4K1f", "eventheader_flags");
	ret = run_tests(tests, ELOG_ARRAY_SIZE(tests), seed_random);
	elog_schema_free(prov);
	elog_eventheader_close(decoder);
	return ret;
}
