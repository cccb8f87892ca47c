// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tests of libelog that need no kernel module: parser, decoder, formatting,
 * payloads, merge, and producers without a device. Prints TAP. Buffers have exactly
 * the given size, so that sanitizers find accesses beyond it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "elog.h"
#include "format/merge.h"
#include "util/abi.h"
#include "util/process.h"
#include "util/tap.h"
#include "util/text.h"
#include "util/test_random.h"
#include "util/util.h"

static const char good_schema[] =
	"# a comment\n"
	"eventlog 1\r\n"
	"\n"
	"provider tcp \"TCP \\\"connections\\\"\"	# trailing comment\n"
	"keyword conn 0x1 \"connection life cycle\"\n"
	"keyword data 0x6\n"
	"enum state \"states\"\n"
	"	1 ESTABLISHED \"up\"\n"
	"	-2 SYN_SENT\n"
	"flags tcpflags\n"
	"	0 NONE\n"
	"	0x1 FIN\n"
	"	0x2 SYN\n"
	"event 1 state_change info conn,data,0x100 \"a socket changed state\"\n"
	"	enum:state:s8 old\n"
	"	flags:tcpflags:u16 bits\n"
	"	u32 rtt as hex \"smoothed\"\n"
	"	string peer\n"
	"	bytes:rel data\n"
	"	ipv4 source\n"
	"	ipv6 destination\n"
	"	port port\n"
	"	mac mac\n"
	"	duration took\n"
	"	time when\n"
	"	ptr sk\n"
	"	bool last\n"
	"	char[8] name\n"
	"	u8[4] key\n"
	"	struct:sockaddr:16 address\n"
	"	s64 delta as dec\n"
	"event 2 closed error -\n"
	"\n"
	"provider other.one-2\n"
	"event 1 closed verbose 0xffffffffffffffff\n";

static struct elog_schema *parse(const char *text)
{
	struct elog_schema_error error = { 0 };
	struct elog_schema *schema = NULL;
	int ret = elog_schema_parse(text, strlen(text), &schema, &error);

	if (ret) {
		fail(__FILE__, __LINE__, "line %u: %s (%d)", error.line,
		     error.message, ret);
		printf("Bail out! a schema that must parse does not\n");
		exit(1);
	}
	return schema;
}

static bool is_zero(const void *data, size_t size)
{
	const unsigned char *bytes = data;

	while (size && !bytes[size - 1])
		size--;
	return !size;
}

/* Structs in the memory of programs that have no size. */
#if __SIZEOF_POINTER__ == 8
_Static_assert(sizeof(struct elog_item) == 128, "never changes");
_Static_assert(sizeof(struct elog_value) == 64, "never changes");
_Static_assert(sizeof(struct elog_payload) == 56, "never changes");
_Static_assert(sizeof(struct elog_text) == 48, "never changes");
_Static_assert(sizeof(struct elog_expression_error) == 176, "never changes");
_Static_assert(sizeof(struct elog_schema_error) == 176, "never changes");
_Static_assert(sizeof(struct elog_writer_loss) == 24, "never changes");
#endif

/* Structs in the caller's memory have reserved members, which are 0 so far. */
static void test_reserved(void)
{
	struct elog_schema *schema = parse(good_schema), *none = NULL;
	struct elog_expression_error expression_error;
	struct elog_schema_error schema_error;
	struct elog_expression *expression;
	struct elog_payload payload;
	struct elog_value value;
	char bytes[64] = { 0 };

	memset(&value, 0xff, sizeof(value));
	elog_decode(schema->providers[0]->events[0]->fields[0], bytes,
		    sizeof(bytes), &value);
	check(is_zero(value.reserved, sizeof(value.reserved)));
	memset(&payload, 0xff, sizeof(payload));
	elog_payload_init(&payload, bytes, sizeof(bytes));
	check(is_zero(payload.reserved, sizeof(payload.reserved)));
	memset(&schema_error, 0xff, sizeof(schema_error));
	check_equal(elog_schema_parse("eventlog", 8, &none, &schema_error), -EINVAL);
	check(is_zero(schema_error.reserved, sizeof(schema_error.reserved)));
	memset(&expression_error, 0xff, sizeof(expression_error));
	check_equal(elog_expression_parse("a >", &expression, &expression_error),
		    -EINVAL);
	check(is_zero(expression_error.reserved, sizeof(expression_error.reserved)));
	elog_schema_free(schema);
}

static void test_schema(void)
{
	struct elog_schema *schema = parse(good_schema);
	const struct elog_schema_provider *tcp = schema->providers[0];
	const struct elog_schema_event *event = tcp->events[0];

	check_equal(schema->provider_count, 2);
	check_string(tcp->name, "tcp");
	check_string(tcp->description, "TCP \"connections\"");
	check_equal(tcp->keyword_count, 2);
	check_equal(tcp->keywords[1]->value, 6);
	check_equal(tcp->set_count, 2);
	check(tcp->sets[1]->flags && !tcp->sets[0]->flags);
	check_string(tcp->sets[0]->description, "states");
	check_string(tcp->sets[0]->names[0]->description, "up");
	check_equal(tcp->sets[0]->names[1]->value, -2);
	check_equal(tcp->event_count, 2);
	check_equal(event->keywords, 0x107);
	check_equal(event->level, EVENTLOG_LEVEL_INFO);
	check_equal(event->field_count, 17);
	check_equal(event->fields[0]->is_signed, true);
	check_equal(event->fields[1]->offset, 1);
	check_equal(event->fields[2]->display, ELOG_DISPLAY_HEX);
	check_string(event->fields[2]->description, "smoothed");
	check_equal(event->fields[4]->relative, true);
	check_string(event->fields[15]->type_name, "struct:sockaddr:16");
	check_equal(event->fields[16]->offset, event->fixed_size - 8);
	check_equal(event->fixed_size,
		    1 + 2 + 4 + 4 + 4 + 4 + 16 + 2 + 6 + 8 + 8 + 8 + 1 + 8 + 4 +
		    16 + 8);
	check(event->provider == tcp);
	check_equal(tcp->events[1]->field_count, 0);
	check_string(schema->providers[1]->name, "other.one-2");
	check_equal(schema->providers[1]->events[0]->keywords, -1);
	elog_schema_free(schema);

	/* Only the version, without a newline at the end. */
	elog_schema_free(parse("eventlog 1"));
	elog_schema_free(NULL);
}

#define HEAD "eventlog 1\nprovider p\n"
#define EVENT HEAD "event 1 e info -\n"

#define NAME_64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define NAME_255 NAME_64 NAME_64 NAME_64 \
	"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

/* Names of providers and events may be quoted strings of printable characters. */
static void test_quoted_names(void)
{
	struct elog_schema *schema = parse("eventlog 1\nprovider \"a \\\"b\\\\\"\n"
					   "event 1 \"x/y *\" critical -\n"
					   "event 2 \"" NAME_255 "\" verbose -\n"
					   "event 3 " NAME_64 " info -\n");

	check_string(schema->providers[0]->name, "a \"b\\");
	check_equal(schema->providers[0]->event_count, 3);
	check_string(schema->providers[0]->events[0]->name, "x/y *");
	check_equal(schema->providers[0]->events[0]->level, EVENTLOG_LEVEL_CRITICAL);
	check_string(schema->providers[0]->events[1]->name, NAME_255);
	check_string(schema->providers[0]->events[2]->name, NAME_64);
	elog_schema_free(schema);
}

static void test_schema_errors(void)
{
	static const struct {
		const char *text;
		unsigned int line;
		const char *message;
	} cases[] = {
		{ "", 1, "begins with" },
		{ "# nothing\n", 2, "begins with" },
		{ "provider p\n", 1, "begins with" },
		{ "\"eventlog\" 1\n", 1, "begins with" },
		{ "eventlog\n", 1, "version is missing" },
		{ "eventlog x\n", 1, "not a number" },
		{ "eventlog 1 2\n", 1, "not expected" },
		{ "eventlog 1\nevent 1 e info -\n", 2, "needs a provider" },
		{ "eventlog 1\n\tu8 f\n", 2, "belongs below" },
		{ "eventlog 1\nprovider\n", 2, "name is missing" },
		{ "eventlog 1\nprovider \"\"\n", 2, "not a name" },
		{ "eventlog 1\nprovider \"\303\244\"\n", 2, "not a name" },
		{ "eventlog 1\nprovider \"a\tb\"\n", 2, "not a name" },
		{ HEAD "event 1 \"\" info -\n", 3, "not a name" },
		{ HEAD "event 1 \"" NAME_255 "x\" info -\n", 3, "not a name" },
		{ HEAD "event 1 e.f info -\n", 3, "not a name" },
		{ HEAD "keyword \"k\" 1\n", 3, "name is missing" },
		{ EVENT "\tu8 \"f\"\n", 4, "name is missing" },
		{ EVENT "\tu8 " NAME_255 "a\n", 4, "not a name" },
		{ "eventlog 1\nprovider 1p\n", 2, "not a name" },
		{ "eventlog 1\nprovider p/q\n", 2, "not a name" },
		{ "eventlog 1\nprovider p q\n", 2, "not expected" },
		{ "eventlog 1\nprovider p \"open\n", 2, "does not end" },
		{ "eventlog 1\nprovider p \"\\n\"\n", 2, "backslash" },
		{ "eventlog 1\nprovider p \"\033[2J\"\n", 2, "control" },
		{ "eventlog 1\nprovider p\033\n", 2, "character" },
		{ "eventlog 1\nprovider p \"a\" \"b\"\n", 2, "not expected" },
		{ "eventlog 1\n\"p\"\n", 2, "string is not expected" },
		{ "eventlog 1\nprovider " NAME_255 "a\n", 2, "not a name" },
		{ HEAD "verbs v\n", 3, "not a statement" },
		{ HEAD "keyword k\n", 3, "mask is missing" },
		{ HEAD "keyword k 0\n", 3, "needs a bit" },
		{ HEAD "keyword k -1\n", 3, "not a number" },
		{ HEAD "keyword k 010\n", 3, "not a number" },
		{ HEAD "keyword k 0x\n", 3, "not a number" },
		{ HEAD "keyword k 0X1\n", 3, "not a number" },
		{ HEAD "keyword k 0x0x1\n", 3, "not a number" },
		{ HEAD "keyword k 0x10000000000000000\n", 3, "not a number" },
		{ HEAD "keyword k 1 \"\377\"\n", 3, "not UTF-8" },
		{ HEAD "keyword k 1 \"\303\"\n", 3, "not UTF-8" },
		{ HEAD "keyword k 1 # \377\n", 3, "not UTF-8" },
		{ HEAD "keyword k 1 \"\302\205\"\n", 3, "not UTF-8" },
		{ HEAD "keyword k 1 \"\177\"\n", 3, "control" },
		{ HEAD "keyword k 1\nkeyword k 2\n", 4, "twice" },
		{ HEAD "enum s\n\tx A\n", 4, "not a number" },
		{ HEAD "enum s\n\t1\n", 4, "name is missing" },
		{ HEAD "enum s\n\t1 A\n\t1 B\n", 5, "two names" },
		{ HEAD "enum s\n\t1 A\n\t2 A\n", 5, "twice" },
		{ HEAD "enum s\n\t-1 A\n\t0xffffffffffffffff B\n", 5, "two names" },
		{ HEAD "enum s\n\t-0 A\n", 4, "not a number" },
		{ HEAD "enum s\n\t-01 A\n", 4, "not a number" },
		{ HEAD "enum s\n\t-0x1 A\n", 4, "not a number" },
		{ HEAD "enum s\n\t-9223372036854775809 A\n", 4, "not a number" },
		{ HEAD "flags s\n\t-1 A\n", 4, "not a number" },
		{ HEAD "enum s\nflags s\n", 4, "twice" },
		{ HEAD "enum s\n\t99999999999999999999 A\n", 4, "not a number" },
		{ HEAD "event\n", 3, "id is missing" },
		{ HEAD "event 4294967296 e info -\n", 3, "1 to 4294967295" },
		{ HEAD "event 0 e info -\n", 3, "1 to 4294967295" },
		{ HEAD "event -1 e info -\n", 3, "not a number" },
		{ HEAD "event 1 e info -1\n", 3, "no keyword" },
		{ HEAD "event 1\n", 3, "name is missing" },
		{ HEAD "event 1 e\n", 3, "level is missing" },
		{ HEAD "event 1 e loud -\n", 3, "not a level" },
		{ HEAD "event 1 e warn -\n", 3, "not a level" },
		{ HEAD "event 1 e info\n", 3, "keywords are missing" },
		{ HEAD "event 1 e info \"text\"\n", 3, "keywords are missing" },
		{ HEAD "event 1 e info k\n", 3, "no keyword" },
		{ HEAD "event 1 e info 1,\n", 3, "no keyword" },
		{ HEAD "event 1 e info - -\n", 3, "'-' is not start or end" },
		{ HEAD "event 1 e info - Start\n", 3, "'Start' is not start or end" },
		{ HEAD "event 1 e info - start end\n", 3, "'end' is not expected" },
		{ HEAD "event 1 e info - \"text\" end\n", 3, "'end' is not expected" },
		{ EVENT "event 2 e info -\n", 4, "twice" },
		{ EVENT "event 1 f info -\n", 4, "two events" },
		{ EVENT "\tu8\n", 4, "name is missing" },
		{ EVENT "\t\"u8\" f\n", 4, "type is missing" },
		{ EVENT "\tu9 f\n", 4, "no type" },
		{ EVENT "\tlong f\n", 4, "no type" },
		{ EVENT "\tu8 f\n\tu8 f\n", 5, "twice" },
		{ EVENT "\tu8 f as\n", 4, "dec or hex" },
		{ EVENT "\tu8 f as oct\n", 4, "dec or hex" },
		{ EVENT "\tu8 f as \"hex\"\n", 4, "dec or hex" },
		{ EVENT "\tu8 f is hex\n", 4, "not expected" },
		{ EVENT "\tu8 f as hex as hex\n", 4, "not expected" },
		{ EVENT "\tchar[0] f\n", 4, "not a size" },
		{ EVENT "\tchar[-1] f\n", 4, "not a size" },
		{ EVENT "\tchar[] f\n", 4, "not a size" },
		{ EVENT "\tchar[65537] f\n", 4, "not a size" },
		{ EVENT "\tchar[4 f\n", 4, "no type" },
		{ EVENT "\tu32[4] f\n", 4, "arrays are" },
		{ EVENT "\tstruct:x f\n", 4, "needs a size" },
		{ EVENT "\tstruct::4 f\n", 4, "not a name" },
		{ EVENT "\tstruct:x:0 f\n", 4, "not a size" },
		{ EVENT "\tenum:x f\n", 4, "needs an integer" },
		{ EVENT "\tenum:x:u8 f\n", 4, "no enum" },
		{ EVENT "\tenum:x:bool f\n", 4, "not an integer" },
		{ EVENT "\tflags:x:s8 f\n", 4, "not an integer" },
		{ HEAD "enum s\n\t256 A\nevent 1 e info -\n\tenum:s:u8 f\n", 6,
		  "does not fit" },
		{ HEAD "enum s\n\t-1 A\nevent 1 e info -\n\tenum:s:u8 f\n", 6,
		  "does not fit" },
		{ HEAD "enum s\n\t128 A\nevent 1 e info -\n\tenum:s:s8 f\n", 6,
		  "does not fit" },
		{ HEAD "enum s\n\t-1 A\nevent 1 e info -\n\tenum:s:u64 f\n", 6,
		  "does not fit" },
		{ HEAD "enum s\n\t255 A\nevent 1 e info -\n\tenum:s:s8 f\n", 6,
		  "does not fit" },
		{ HEAD "enum s\n\t-129 A\nevent 1 e info -\n\tenum:s:s8 f\n", 6,
		  "does not fit" },
		{ HEAD "enum s\n\t0x8000000000000000 A\nevent 1 e info -\n\tenum:s:s64 f\n",
		  6, "does not fit" },
		{ HEAD "enum s\nevent 1 e info -\n\tflags:s:u8 f\n", 5,
		  "no flags type" },
		{ EVENT "\tchar[65536] f\n\tu8 g\n", 5, "larger" },
		{ EVENT "\tu8 f as hex \"d\" a b c d e\n", 4, "too long" },
	};
	struct elog_schema_error error;
	struct elog_schema *schema;
	struct elog_text text = { 0 };
	unsigned int i;
	int ret;

	for (i = 0; i < ELOG_ARRAY_SIZE(cases); i++) {
		memset(&error, 0, sizeof(error));
		schema = NULL;
		ret = elog_schema_parse(cases[i].text, strlen(cases[i].text),
					&schema, &error);
		if (ret != -EINVAL || error.line != cases[i].line ||
		    !strstr(error.message, cases[i].message))
			fail(__FILE__, __LINE__, "case %u: %d, line %u: %s", i,
			     ret, error.line, error.message);
		elog_schema_free(ret ? NULL : schema);
	}
	ret = elog_schema_parse("eventlog 2\n", 11, &schema, &error);
	check_equal(ret, -EPROTONOSUPPORT);
	ret = elog_schema_parse("eventlog 1\nx", 12, &schema, NULL);
	check_equal(ret, -EINVAL);
	elog_schema_free(parse(HEAD "enum s\n\t-128 A\n\t127 B\n"
			       "event 4294967295 e info 0x0\n\tenum:s:s8 f\n"));
	elog_schema_free(parse(HEAD "enum s\n\t-9223372036854775808 A\n"
			       "event 1 e info -\n\tenum:s:s64 f\n"));
	elog_schema_free(parse(HEAD "enum s \"\303\251\"\n\t18446744073709551615 A\n"
			       "event 1 e info -\n\tenum:s:u64 f\n"));
	ret = elog_schema_parse("eventlog 1\n\0", 12, &schema, &error);
	check_equal(ret, -EINVAL);

	elog_text_string(&text, EVENT);
	for (i = 0; i < EVENTLOG_FIELDS_MAX; i++)
		elog_text_printf(&text, "\tu8 f%u\n", i);
	ret = elog_schema_parse(text.data, text.size, &schema, &error);
	check_equal(ret, 0);
	check_equal(schema->providers[0]->events[0]->field_count,
		    EVENTLOG_FIELDS_MAX);
	elog_schema_free(schema);
	elog_text_string(&text, "\tu8 g\n");
	ret = elog_schema_parse(text.data, text.size, &schema, &error);
	check_equal(ret, -EINVAL);
	check(strstr(error.message, "more than 256"));
	elog_text_free(&text);
}

/* Names are found by hashing: a linear search would take very long. */
static void test_schema_large(void)
{
	const unsigned int count = 50000;
	struct elog_text text = { 0 };
	struct elog_schema *schema;
	unsigned int i;

	elog_text_string(&text, HEAD);
	for (i = 0; i < count; i++)
		elog_text_printf(&text, "keyword k%u %u\nenum s%u\n\t%u A\n", i, i + 1, i, i);
	elog_text_string(&text, "enum large\n");
	for (i = 0; i < count; i++)
		elog_text_printf(&text, "\t%u A%u\n", i, i);
	for (i = 0; i < count; i++)
		elog_text_printf(&text, "event %u e%u info k%u\n\tenum:s%u:u16 a\n"
				 "\tenum:large:u16 b\n", i + 1, i, count - 1, count - 1);
	schema = parse(text.data);
	check_equal(schema->providers[0]->event_count, count);
	check_equal(schema->providers[0]->events[count - 1]->keywords, count);
	check_equal(schema->providers[0]->events[0]->fields[0]->set->names[0]->value,
		    count - 1);
	elog_schema_free(schema);
	elog_text_free(&text);
}

/* Names and values are unique, whether the parser searches one by one or in its map. */
static void test_schema_unique(void)
{
	enum { COUNT = 40 };
	static const unsigned int olds[] = { 1, 2, 24, 25, 39 };
	struct elog_schema_error error;
	struct elog_text text = { 0 };
	struct elog_schema *schema;
	unsigned int i, value, old;
	bool name;

	for (i = 0; i < 2 * ELOG_ARRAY_SIZE(olds); i++) {
		old = olds[i / 2];
		name = i % 2;
		elog_text_string(&text, HEAD "enum s\n");
		for (value = 1; value < COUNT; value++)
			elog_text_printf(&text, "\t%u V%u\n", value, value);
		elog_text_printf(&text, "\t%u V%u\n", name ? COUNT : old, name ? old : COUNT);
		check_equal(elog_schema_parse(text.data, text.size, &schema, &error), -EINVAL);
		check(strstr(error.message, name ? "is defined twice" : "has two names"));
		elog_text_free(&text);
	}
	elog_text_string(&text, HEAD);
	for (i = 1; i <= COUNT; i++)
		elog_text_printf(&text, "keyword k%u %u\n", i, i);
	for (i = 1; i <= COUNT; i++)
		elog_text_printf(&text, "event %u e%u info k%u\n", i, i, i);
	schema = parse(text.data);
	check_equal(schema->providers[0]->event_count, COUNT);
	for (i = 1; i <= COUNT; i++)
		check_equal(schema->providers[0]->events[i - 1]->keywords, i);
	elog_schema_free(schema);
	elog_text_free(&text);
}

/* A schema with a changed, added or removed byte is parsed or rejected, without harm. */
static void test_schema_mutations(void)
{
	const size_t size = sizeof(good_schema) - 1;
	struct elog_schema_error error;
	struct elog_schema *schema;
	unsigned int i, parsed = 0;
	char *copy;
	size_t cut;
	int ret;

	for (i = 0; i < 20000; i++) {
		cut = i % 3 ? size : random_number(size);
		copy = malloc(cut + 1);
		memcpy(copy, good_schema, cut);
		if (cut && i % 3 == 1)
			copy[random_number(cut)] = (char)random_number(256);
		if (cut && i % 3 == 2)
			copy[random_number(cut)] = "\n\t \"#,:[]-"[random_number(10)];
		ret = elog_schema_parse(copy, cut, &schema, &error);
		if (!ret) {
			elog_schema_free(schema);
			parsed++;
		} else {
			check(ret == -EINVAL || ret == -EPROTONOSUPPORT);
			check(error.line && error.message[0]);
		}
		free(copy);
	}
	check(parsed > 100 && parsed < 19900);
}

static const struct elog_schema_event *first_event(const struct elog_schema *schema)
{
	return schema->providers[0]->events[0];
}

static void test_payload(void)
{
	struct elog_schema *schema =
		parse(EVENT "\tu8 a\n\tstring s\n\tu16 b\n\tbytes:rel d\n\tu32 c\n"
		      "\tchar[4] name\n\tstring:rel r\n\tu64 e\n\tu8[2] raw\n"
		      "\tstring empty\n\tbytes none\n");
	const struct elog_schema_event *event = first_event(schema);
	struct elog_payload payload;
	struct elog_text text = { 0 };
	size_t needed = 0, capacity;
	unsigned char *buffer, *source;
	ssize_t size;

	for (capacity = 0; capacity < 200; capacity++) {
		buffer = malloc(capacity + !capacity);
		elog_payload_init(&payload, buffer, capacity);
		elog_payload_u8(&payload, 0xfe);
		elog_payload_string(&payload, "hello");
		elog_payload_u16(&payload, 0xfedc);
		elog_payload_bytes_rel(&payload, "\1\2\3", 3);
		elog_payload_u32(&payload, 0xfedcba98);
		elog_payload_chars(&payload, "abcdef", 4);
		elog_payload_string_rel(&payload, "wor ld");
		elog_payload_u64(&payload, 0xfedcba9876543210);
		elog_payload_raw(&payload, "\xab\xcd", 2);
		elog_payload_string(&payload, "");
		elog_payload_bytes(&payload, NULL, 0);
		size = elog_payload_end(&payload);
		if (size < 0) {
			check_equal(size, -ENOBUFS);
			check(!needed);
			free(buffer);
			continue;
		}
		if (!needed)
			needed = capacity;
		check_equal(size, event->fixed_size + 6 + 3 + 7 + 1);
		text.size = 0;
		elog_format_fields(&text, event, buffer, (size_t)size);
		check_string(text.data,
			     "a=254 s=\"hello\" b=65244 d=010203 c=4275878552 "
			     "name=\"abcd\" r=\"wor ld\" e=18364758544493064720 "
			     "raw=abcd empty=\"\" none=");
		free(buffer);
	}
	/* 8 more bytes for each of the five dynamic fields. */
	check_equal(needed, event->fixed_size + 17 + 5 * 8);
	elog_schema_free(schema);
	elog_text_free(&text);

	buffer = malloc(200000);
	source = calloc(1, 65536);
	elog_payload_init(&payload, buffer, 200000);
	elog_payload_bytes(&payload, source, 65536);
	check_equal(elog_payload_end(&payload), -E2BIG);
	elog_payload_init(&payload, buffer, 200000);
	elog_payload_bytes(&payload, source, 65535);
	check_equal(elog_payload_end(&payload), -E2BIG);
	elog_payload_init(&payload, buffer, 200000);
	elog_payload_bytes(&payload, source, 65532);
	check_equal(elog_payload_end(&payload), 65536);
	elog_payload_init(&payload, buffer, 200000);
	elog_payload_raw(&payload, source, 65532);
	elog_payload_string(&payload, "");
	check_equal(elog_payload_end(&payload), -E2BIG);
	elog_payload_init(&payload, buffer, 200000);
	elog_payload_integer(&payload, 0, 3);
	elog_payload_u8(&payload, 0);
	check_equal(elog_payload_end(&payload), -EINVAL);
	elog_payload_init(&payload, buffer, 0);
	check_equal(elog_payload_end(&payload), 0);
	free(buffer);
	free(source);
}

/* Format a payload of exactly @size bytes, so that sanitizers find overruns. */
static const char *format(struct elog_text *text, const char *fields,
			  const void *bytes, size_t size)
{
	struct elog_text schema_text = { 0 };
	struct elog_schema *schema;
	void *exact = malloc(size + !size);

	elog_text_printf(&schema_text, HEAD
			 "enum state\n\t1 ONE\n\t-2 TWO\n"
			 "flags bits\n\t0 NONE\n\t1 A\n\t6 BC\n"
			 "flags nameless\n\t1 A\n"
			 "event 1 e info -\n%s", fields);
	schema = parse(schema_text.data);
	memcpy(exact, bytes, size);
	text->size = 0;
	elog_format_fields(text, first_event(schema), exact, size);
	free(exact);
	elog_schema_free(schema);
	elog_text_free(&schema_text);
	return text->data;
}

static void test_format(void)
{
	struct elog_text text = { 0 };
	const uint64_t durations[] = {
		0, 999, 1000, 1234567, 999999999, 61000000000,
	};
	const int64_t low = INT64_MIN;

	check_string(format(&text, "\ts8 a\n\ts16 b\n\ts32 c\n",
			    "\xff\xff\xff\xff\xff\xff\xff", 7),
		     "a=-1 b=-1 c=-1");
	check_string(format(&text, "\ts64 a\n", &low, 8),
		     "a=-9223372036854775808");
	check_string(format(&text, "\ts8 a as hex\n\tu8 b as hex\n", "\xfe\x0a", 2),
		     "a=0xfe b=0xa");
	check_string(format(&text, "\tbool a\n\tbool b\n\tbool c as dec\n",
			    "\0\1\2", 3), "a=false b=true c=2");
	check_string(format(&text, "\tenum:state:s8 a\n\tenum:state:s8 b\n"
			    "\tenum:state:s8 c\n\tenum:state:s8 d as dec\n",
			    "\1\xfe\xfd\1", 4), "a=ONE b=TWO c=-3 d=1");
	check_string(format(&text, "\tflags:bits:u8 a\n\tflags:bits:u8 b\n"
			    "\tflags:bits:u8 c\n\tflags:bits:u8 d\n"
			    "\tflags:bits:u8 e as hex\n\tflags:nameless:u8 f\n"
			    "\tflags:nameless:u8 g\n",
			    "\0\7\x83\2\7\0\4", 7),
		     "a=NONE b=A|BC c=A|0x82 d=0x2 e=0x7 f=0 g=0x4");
	check_string(format(&text, "\tipv4 a\n\tipv6 b\n\tport c\n\tmac d\n",
			    "\x7f\0\0\1" "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1"
			    "\x01\xbb" "\0\x11\x22\xaa\xbb\xcc", 28),
		     "a=127.0.0.1 b=::1 c=443 d=00:11:22:aa:bb:cc");
	/* An IPv4 address in 16 bytes is one only behind ::ffff; other bytes stay bytes. */
	check_string(format(&text, "\tipv6 a\n\tipv6 b\n\tu8[16] c\n",
			    "\0\0\0\0\0\0\0\0\0\0\xff\xff\1\2\3\4"
			    "\0\0\0\0\0\0\0\0\0\1\xff\xff\1\2\3\4"
			    "\0\0\0\0\0\0\0\0\0\0\xff\xff\1\2\3\4", 48),
		     "a=1.2.3.4 b=::1:ffff:102:304 c=00000000000000000000ffff01020304");
	check_string(format(&text, "\tduration a\n\tduration b\n\tduration c\n"
			    "\tduration d\n\tduration e\n\tduration f\n",
			    durations, sizeof(durations)),
		     "a=0ns b=999ns c=1.000us d=1.234ms e=999.999ms f=61.000s");
	check_string(format(&text, "\ttime a\n\tptr b\n\tduration c as dec\n",
			    &durations[3], 24),
		     "a=0.001234567 b=0x3b9ac9ff c=61000000000");
	check_string(format(&text, "\tstruct:x:3 a\n\tchar[3] b\n\tchar[3] c\n",
			    "\1\2\3abcd\0e", 9),
		     "a=010203 b=\"abc\" c=\"d\"");

	/* Control characters, and a NUL that ends the string early. */
	check_string(format(&text, "\tchar[9] a\n",
			    "\"\\\n\t\r\033\x7f\x01", 9),
		     "a=\"\\\"\\\\\\n\\t\\r\\x1b\\x7f\\x01\"");
	/* UTF-8: valid; C1, overlong, surrogate, out of range, incomplete. */
	check_string(format(&text, "\tchar[9] a\n",
			    "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 9),
		     "a=\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
	check_string(format(&text, "\tchar[6] a\n", "\xc2\x9b\xc0\xaf\xff\xc3", 6),
		     "a=\"\\xc2\\x9b\\xc0\\xaf\\xff\\xc3\"");
	check_string(format(&text, "\tchar[7] a\n",
			    "\xed\xa0\x80\xf4\x90\x80\x80", 7),
		     "a=\"\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80\"");
	elog_text_free(&text);
}

static void test_decode_bounds(void)
{
	struct elog_schema *schema;
	struct elog_text text = { 0 };
	struct elog_value value;
	unsigned char *exact;
	unsigned int i;
	size_t size, k;

	/* size << 16 | offset */
	check_string(format(&text, "\tstring a\n", "\4\0\4\0abc", 8),
		     "a=\"abc\"");
	check_string(format(&text, "\tstring a\n", "\4\0\4\0abcd", 8),
		     "a=<4 bytes at 4 without end>");
	check_string(format(&text, "\tstring a\n", "\4\0\5\0abc", 8),
		     "a=<5 bytes at 4: outside>");
	check_string(format(&text, "\tstring a\n", "\5\0\4\0abc", 8),
		     "a=<4 bytes at 5: outside>");
	check_string(format(&text, "\tstring a\n", "\xff\xff\xff\xff", 4),
		     "a=<65535 bytes at 65535: outside>");
	check_string(format(&text, "\tstring a\n", "\4\0\0\0", 4),
		     "a=<0 bytes at 4 without end>");
	check_string(format(&text, "\tbytes a\n", "\4\0\0\0", 4), "a=");
	check_string(format(&text, "\tbytes a\n", "\5\0\0\0", 4),
		     "a=<0 bytes at 5: outside>");
	check_string(format(&text, "\tbytes:rel a\n", "\0\0\1\0\xee", 5), "a=ee");
	check_string(format(&text, "\tbytes:rel a\n", "\0\0\2\0\xee", 5),
		     "a=<2 bytes at 4: outside>");
	check_string(format(&text, "\tbytes:rel a\n", "\xff\xff\xff\xff", 4),
		     "a=<65535 bytes at 65539: outside>");
	check_string(format(&text, "\tu32 a\n\tu8 b\n", "\1\0\0", 3),
		     "a=<truncated> b=<truncated>");

	schema = parse(good_schema);
	for (i = 0; i < 20000; i++) {
		size = random_number(160);
		exact = malloc(size + !size);
		for (k = 0; k < size; k++)
			exact[k] = random_number(4) ?
				(unsigned char)random_number(size + 1) : 0;
		text.size = 0;
		elog_format_fields(&text, first_event(schema), exact, size);
		for (k = 0; k < first_event(schema)->field_count; k++) {
			elog_decode(first_event(schema)->fields[k], exact, size,
				    &value);
			if (!value.error && value.data)
				check((unsigned char *)value.data >= exact &&
				      (unsigned char *)value.data + value.size <=
				      exact + size);
		}
		for (k = 0; k < text.size; k++)
			check((unsigned char)text.data[k] >= ' ');
		free(exact);
	}
	elog_schema_free(schema);
	elog_text_free(&text);
}

#define RINGS		5
#define RING_BYTES	4096
#define SUB_BYTES	2048

struct test_ring {
	struct elog_ring_reader reader;
	unsigned char *data;
	uint64_t written;
	uint64_t time;		/* time of the last record */
	uint64_t sequence;	/* records written */
	uint64_t read;		/* records read */
	uint64_t lost;
	uint64_t key;		/* sort key of the last record */
};

static void put_header(unsigned char *at, uint32_t size, uint32_t type,
		       uint64_t time, unsigned int cpu, uint64_t sequence)
{
	struct eventlog_record record = {
		.size_flags = size | type << EVENTLOG_RECORD_TYPE_SHIFT |
			      2U << EVENTLOG_RECORD_CONTEXT_SHIFT,
		.descriptor = cpu + 1,
		.time = time,
		.session = sequence,
		.pid = cpu,
		.tid = cpu + 100,
	};

	memset(at, 0, (size + 7) & ~7U);
	memcpy(at, &record, type == EVENTLOG_RECORD_PADDING ? 8 : sizeof(record));
}

/* Write one record like the kernel; returns false if there is no room. */
static bool write_record(struct test_ring *ring, uint32_t payload, bool lost)
{
	const uint32_t marker = sizeof(struct eventlog_record) +
				sizeof(struct eventlog_lost_counts);
	uint32_t size = sizeof(struct eventlog_record) + payload;
	uint32_t need = ((size + 7) & ~7U) + (lost ? marker : 0);
	uint32_t rest = SUB_BYTES - (uint32_t)(ring->written % SUB_BYTES);
	uint32_t padding = rest < need ? rest : 0;
	struct eventlog_lost_counts counts = { { 0 } };
	unsigned char *at;

	if (ring->written + padding + need - ring->reader.position > RING_BYTES)
		return false;
	if (padding) {
		at = ring->data + ring->written % RING_BYTES;
		put_header(at, padding, EVENTLOG_RECORD_PADDING, 0, 0, 0);
		ring->written += padding;
	}
	if (lost) {
		at = ring->data + ring->written % RING_BYTES;
		put_header(at, marker, EVENTLOG_RECORD_LOST, ring->time,
			   ring->reader.cpu, 0);
		counts.lost[EVENTLOG_LOST_NO_ROOM] = ring->lost;
		memcpy(at + sizeof(struct eventlog_record), &counts,
		       sizeof(counts));
		ring->written += marker;
	}
	at = ring->data + ring->written % RING_BYTES;
	put_header(at, size, EVENTLOG_RECORD_EVENT, ring->time, ring->reader.cpu,
		   ring->sequence++);
	memset(at + sizeof(struct eventlog_record), (int)payload, payload);
	ring->written += (size + 7) & ~7U;
	return true;
}

static void check_item(struct test_ring *ring, const struct elog_item *item,
		       uint64_t *previous, uint64_t before, uint64_t *lost)
{
	const unsigned char *payload = item->payload;

	/* The time may be less than the key, if it follows a record with a later time. */
	if (item->time > ring->key)
		ring->key = item->time;
	check(ring->key >= *previous && ring->key < before);
	*previous = ring->key;
	if (item->type == ELOG_ITEM_LOST) {
		check(item->lost[EVENTLOG_LOST_NO_ROOM] > 0);
		*lost += item->lost[EVENTLOG_LOST_NO_ROOM];
		return;
	}
	check_equal(item->session, ring->read);
	check_equal(item->context, EVENTLOG_CONTEXT_HARDIRQ);
	check_equal(item->descriptor, item->cpu + 1);
	check_equal(item->tid, item->pid + 100);
	check(!item->payload_size ||
	      (payload[0] == (unsigned char)item->payload_size &&
	       payload[item->payload_size - 1] == payload[0]));
	ring->read++;
}

static void test_merge(void)
{
	struct elog_ring_reader *order[RINGS], *reader;
	struct elog_merge merge = { .rings = order };
	uint64_t before = 0, clock = 1000, previous = 0, lost = 0, expected = 0;
	struct test_ring rings[RINGS], *ring;
	struct elog_item item;
	unsigned int i, round, batch = 0;

	memset(rings, 0, sizeof(rings));
	for (i = 0; i < RINGS; i++) {
		rings[i].data = malloc(RING_BYTES);
		rings[i].reader.data = rings[i].data;
		rings[i].reader.data_bytes = RING_BYTES;
		rings[i].reader.sub_buffer_bytes = SUB_BYTES;
		rings[i].reader.cpu = i;
		rings[i].reader.stream = i;
		/* Various start positions, one of which wraps. */
		rings[i].written = i == 1 ? 0ULL - 3 * RING_BYTES :
				   i == 2 ? (1ULL << 32) - RING_BYTES : 0;
		rings[i].reader.position = rings[i].written;
		rings[i].reader.end = rings[i].written;
	}
	for (round = 0; round < 3000; round++) {
		for (i = (unsigned int)random_number(60); i; i--) {
			ring = &rings[random_number(RINGS)];
			clock += random_number(3);
			/* Ring 3 has decreasing times. */
			ring->time = clock - (ring == &rings[3] ?
					      random_number(20) : 0);
			if (!random_number(8))
				ring->lost += random_number(3);
			if (!write_record(ring, (uint32_t)random_number(120),
					  random_number(4) == 0))
				ring->lost++;
		}
		/* Like FLUSH: later records are not older than this. */
		before = clock - random_number(10);
		clock += 25;
		merge.count = 0;
		for (i = 0; i < RINGS; i++) {
			rings[i].reader.end = rings[i].written;
			check(elog_merge_add(&merge, &rings[i].reader, before) >= 0);
		}
		/* Sometimes stop reading before the end. */
		batch = (unsigned int)random_number(100);
		previous = 0;
		while ((reader = elog_merge_first(&merge)) && batch--) {
			ring = elog_container_of(reader, struct test_ring, reader);
			if (elog_ring_take(reader, &item))
				check_item(ring, &item, &previous, before, &lost);
			check_equal(elog_merge_update(&merge, before), 0);
		}
		if (!reader)
			for (i = 0; i < RINGS; i++)
				check(elog_ring_peek(&rings[i].reader) == 0 ||
				      rings[i].reader.key >= before);
	}
	/* Read the rest, and the losses after the last record. */
	merge.count = 0;
	previous = 0;
	for (i = 0; i < RINGS; i++)
		elog_merge_add(&merge, &rings[i].reader, UINT64_MAX);
	while ((reader = elog_merge_first(&merge))) {
		ring = elog_container_of(reader, struct test_ring, reader);
		if (elog_ring_take(reader, &item))
			check_item(ring, &item, &previous, UINT64_MAX, &lost);
		elog_merge_update(&merge, UINT64_MAX);
	}
	for (i = 0; i < RINGS; i++) {
		uint64_t counts[EVENTLOG_LOST_CAUSES] = { rings[i].lost };

		if (elog_ring_lost(&rings[i].reader, counts, EVENTLOG_LOST_CAUSES,
				   &item))
			lost += item.lost[EVENTLOG_LOST_NO_ROOM];
		check(!elog_ring_lost(&rings[i].reader, counts, EVENTLOG_LOST_CAUSES,
				   &item));
		expected += rings[i].lost;
		check_equal(rings[i].read, rings[i].sequence);
		check(rings[i].sequence > 1000);
		free(rings[i].data);
	}
	check_equal(lost, expected);
	check(expected > 100);
}

/* At equal times: rings of no CPU, then the lower stream; within a ring, nothing changes. */
static void test_merge_equal(void)
{
	static const unsigned int cpus[] = { 0, 1, EVENTLOG_CPU_UNKNOWN, EVENTLOG_CPU_UNKNOWN };
	static const uint32_t expected[] = { 2, 2, 3, 3, 0, 0, 1, 1 };
	const struct eventlog_record records[2] = {
		{ .size_flags = sizeof(*records), .time = 7 },
		{ .size_flags = sizeof(*records), .time = 7 },
	};
	struct elog_ring_reader rings[ELOG_ARRAY_SIZE(cpus)], *order[ELOG_ARRAY_SIZE(cpus)];
	struct elog_merge merge = { .rings = order };
	struct elog_item item;
	unsigned int i;

	memset(rings, 0, sizeof(rings));
	for (i = 0; i < ELOG_ARRAY_SIZE(cpus); i++) {
		rings[i].data = (const unsigned char *)records;
		rings[i].data_bytes = RING_BYTES;
		rings[i].sub_buffer_bytes = SUB_BYTES;
		rings[i].cpu = cpus[i];
		rings[i].stream = i;
		rings[i].end = sizeof(records);
		check_equal(elog_merge_add(&merge, &rings[i], 8), 1);
	}
	for (i = 0; i < ELOG_ARRAY_SIZE(expected); i++) {
		check(elog_ring_take(elog_merge_first(&merge), &item));
		check_equal(item.stream, expected[i]);
		check_equal(item.cpu, cpus[expected[i]]);
		check_equal(item.flags, 0);
		check_equal(elog_merge_update(&merge, 8), 0);
	}
	check(!elog_merge_first(&merge));
}

/* A loss is reported where it happened: before the event that follows. */
static void test_lost_records(void)
{
	struct {
		struct eventlog_record header;
		struct eventlog_lost_counts counts;
		struct eventlog_record event;
	} records[2];
	struct elog_ring_reader reader = {
		.data = (const unsigned char *)records, .data_bytes = RING_BYTES,
		.sub_buffer_bytes = SUB_BYTES, .end = sizeof(records),
	};
	struct elog_item item;
	unsigned int i;

	memset(records, 0, sizeof(records));
	for (i = 0; i < ELOG_ARRAY_SIZE(records); i++) {
		records[i].header.size_flags =
			(sizeof(records[i].header) + sizeof(records[i].counts)) |
			EVENTLOG_RECORD_LOST << EVENTLOG_RECORD_TYPE_SHIFT;
		/* The counts never decrease. */
		records[i].counts.lost[EVENTLOG_LOST_NO_ROOM] = 3 + 2 * i;
		records[i].event.size_flags = sizeof(records[i].event);
		records[i].event.descriptor = i + 1;
	}
	for (i = 0; i < ELOG_ARRAY_SIZE(records); i++) {
		check_equal(elog_ring_peek(&reader), 1);
		check(elog_ring_take(&reader, &item));
		check_equal(item.type, ELOG_ITEM_LOST);
		check(item.lost && item.lost[EVENTLOG_LOST_NO_ROOM] == (i ? 2 : 3));
		check_equal(elog_ring_peek(&reader), 1);
		check(elog_ring_take(&reader, &item));
		check_equal(item.type, ELOG_ITEM_EVENT);
		check_equal(item.descriptor, i + 1);
	}
	check_equal(elog_ring_peek(&reader), 0);
}

/* Bytes that the kernel never writes are detected and skipped, without an overrun. */
static void test_damaged_rings(void)
{
	static const struct {
		uint32_t size_flags;
		uint64_t written;
	} cases[] = {
		{ 0, 64 },			/* no record */
		{ 7, 64 },
		{ 24, 64 },			/* an event without a complete header */
		{ 64, 32 },			/* beyond the end */
		{ SUB_BYTES + 8, RING_BYTES },	/* crosses a sub-buffer */
		{ EVENTLOG_RECORD_SIZE_MASK, RING_BYTES },
		{ 64, RING_BYTES + 64 },	/* wrong end */
		{ 64, 4 },
	};
	struct elog_ring_reader reader, *order[1];
	struct elog_merge merge = { .rings = order };
	struct elog_item item;
	unsigned char *data;
	unsigned int i, k, damaged = 0;
	int ret;

	data = calloc(1, RING_BYTES);
	for (i = 0; i < ELOG_ARRAY_SIZE(cases); i++) {
		memset(&reader, 0, sizeof(reader));
		reader.data = data;
		reader.data_bytes = RING_BYTES;
		reader.sub_buffer_bytes = SUB_BYTES;
		reader.end = cases[i].written;
		memcpy(data, &cases[i].size_flags, 4);
		check_equal(elog_ring_peek(&reader), -EBADMSG);
		check_equal(reader.position, reader.end);
		check_equal(elog_ring_peek(&reader), 0);
	}
	for (i = 0; i < 20000; i++) {
		memset(&reader, 0, sizeof(reader));
		reader.data = data;
		reader.data_bytes = RING_BYTES;
		reader.sub_buffer_bytes = SUB_BYTES;
		reader.position = random_number(1 << 20) & ~7ULL;
		reader.end = reader.position + (random_number(RING_BYTES) & ~7ULL);
		for (k = 0; k < RING_BYTES; k += 8) {
			uint64_t word = random_number(UINT64_MAX);

			if (random_number(4))
				word = 8 * random_number(20) |
				       random_number(4) << 24;
			memcpy(data + k, &word, sizeof(word));
		}
		merge.count = 0;
		ret = elog_merge_add(&merge, &reader, UINT64_MAX);
		damaged += ret < 0;
		while (elog_merge_first(&merge)) {
			elog_ring_take(&reader, &item);
			if (item.payload_size)
				check((unsigned char *)item.payload >= data &&
				      (unsigned char *)item.payload +
				      item.payload_size <= data + RING_BYTES);
			damaged += elog_merge_update(&merge, UINT64_MAX) < 0;
		}
	}
	check(damaged > 1000);
	free(data);
}

/* A newer kernel: unknown types of records are skipped by size, unknown bits are ignored. */
static void test_newer_records(void)
{
	struct eventlog_record event = {
		.size_flags = (sizeof(event) + 8) | EVENTLOG_CONTEXT_NMI <<
			      EVENTLOG_RECORD_CONTEXT_SHIFT | EVENTLOG_RECORD_FLAG_MAPPED |
			      EVENTLOG_RECORD_FLAG_ADJUSTED | 0xf0000000U,
		.descriptor = 3, .time = 5,
	};
	uint64_t data[RING_BYTES / 8] = { 0 };
	struct elog_ring_reader reader = {
		.data = (const unsigned char *)data, .data_bytes = RING_BYTES,
		.sub_buffer_bytes = SUB_BYTES,
	};
	struct elog_item item;
	unsigned int type, word = 0;
	uint32_t size_flags;

	for (type = EVENTLOG_RECORD_LOST + 1; type < 16; type++) {
		/* Some have only the first 8 bytes, others end within a word. */
		size_flags = (type & 1 ? 8 : 21) | type << EVENTLOG_RECORD_TYPE_SHIFT | 1U << 31;
		memcpy(&data[word], &size_flags, sizeof(size_flags));
		word += type & 1 ? 1 : 3;
	}
	memcpy(&data[word], &event, sizeof(event));
	data[word + sizeof(event) / 8] = 0x1234;
	reader.end = 8 * (word + 1) + sizeof(event);

	check_equal(elog_ring_peek(&reader), 1);
	check(elog_ring_take(&reader, &item));
	check_equal(item.type, ELOG_ITEM_EVENT);
	check_equal(item.context, EVENTLOG_CONTEXT_NMI);
	check_equal(item.descriptor, 3);
	check_equal(item.time, 5);
	check_equal(item.flags, EVENTLOG_RECORD_FLAG_MAPPED | EVENTLOG_RECORD_FLAG_ADJUSTED);
	check_equal(item.payload_size, 8);
	check(!memcmp(item.payload, &data[word + sizeof(event) / 8], 8));
	check_equal(reader.position, reader.end);
	check_equal(elog_ring_peek(&reader), 0);
}

static void test_text(void)
{
	struct elog_text text = { 0 };
	unsigned int i;

	elog_text_unsigned(&text, 0, 1, ' ');
	elog_text_unsigned(&text, UINT64_MAX, 3, ' ');
	elog_text_unsigned(&text, 42, 5, '0');
	elog_text_hex(&text, 0, 1);
	elog_text_hex(&text, 0xbeef, 6);
	elog_text_hex(&text, UINT64_MAX, 4);
	check_string(text.data, "018446744073709551615000420" "00beef"
		     "ffffffffffffffff");
	text.size = 0;
	elog_text_printf(&text, "%s %d", "a", 7);
	elog_text_put(&text, "", 0);
	check_string(text.data, "a 7");
	text.size = 0;
	for (i = 0; i < 10000; i++)
		elog_text_string(&text, "0123456789");
	check_equal(text.size, 100000);
	check_equal(strlen(text.data), 100000);
	check_equal(text.error, 0);
	elog_text_put(&text, "x", SIZE_MAX / 2);
	check_equal(text.error, -ENOMEM);
	elog_text_free(&text);
	check_equal(elog_level_parse("warning"), EVENTLOG_LEVEL_WARNING);
	check_equal(elog_level_parse("warn"), EVENTLOG_LEVEL_WARNING);
	check_equal(elog_level_parse("wanr"), 0);
	check_equal(elog_level_parse("critical"), 1);
	check_string(elog_level_name(1), "critical");
	check_string(elog_level_name(7), "verbose");
	check(!elog_level_name(0) && !elog_level_name(8));
	check_string(elog_lost_name(0), "no room");
	check_string(elog_lost_name(EVENTLOG_LOST_PAUSED), "paused");
	check_string(elog_lost_name(EVENTLOG_LOST_AWAY), "away");
	check_string(elog_lost_name(EVENTLOG_LOST_QUOTA), "quota");
	check_string(elog_lost_name(EVENTLOG_LOST_LATE), "late");
	check_string(elog_lost_name(EVENTLOG_LOST_UNMAPPED), "unmapped");
	check(!elog_lost_name(EVENTLOG_LOST_UNMAPPED + 1));
	check(!elog_lost_name(EVENTLOG_LOST_CAUSES - 1));
	check_string(elog_lost_name(ELOG_LOST_NOT_WRITTEN), "not written");
	check_string(elog_lost_name(ELOG_LOST_REMOVED), "removed");
	check(!elog_lost_name(ELOG_LOST_REMOVED + 1));
}

/* Strings of any length with one special byte at any position. */
static void test_short_strings(void)
{
	static const struct {
		char byte;
		const char *shown;
	} others[] = {
		{ '"', "\\\"" }, { '\\', "\\\\" }, { '\x1f', "\\x1f" },
		{ '\x7f', "\\x7f" }, { '\x80', "\\x80" }, { '~', "~" },
	};
	struct elog_text text = { 0 }, expected = { 0 };
	size_t size, at, i, other;
	char *exact;

	for (size = 1; size <= 70; size++) {
		/* Allocated in the exact size, so that sanitizers find overruns. */
		exact = malloc(size);
		for (other = 0; other < ELOG_ARRAY_SIZE(others); other++) {
			for (at = 0; at < size; at++) {
				for (i = 0; i < size; i++)
					exact[i] = (char)('a' + i % 26);
				exact[at] = others[other].byte;
				text.size = 0;
				expected.size = 0;
				elog_text_quoted(&text, exact, size);
				elog_text_printf(&expected, "\"%.*s%s%.*s\"", (int)at,
						 exact, others[other].shown,
						 (int)(size - at - 1), exact + at + 1);
				check_string(text.data, expected.data);
				text.size = 0;
				elog_text_put(&text, exact, size);
				check_equal(text.size, size);
				check(!memcmp(text.data, exact, size));
			}
		}
		free(exact);
	}
	elog_text_free(&text);
	elog_text_free(&expected);
}

static void test_processes(void)
{
	struct elog_processes *processes = elog_processes_new();
	uint32_t pid = (uint32_t)getpid(), tid = (uint32_t)gettid(), i;
	const uint64_t second = 1000000000;
	unsigned int turn, due = 0;

	prctl(PR_SET_NAME, "some name");
	check_string(elog_processes_name(processes, pid, tid), "some name");
	check_string(elog_processes_name(processes, 0, 0), "swapper");
	/* No thread can have this id. */
	check_string(elog_processes_name(processes, 1U << 30, 1U << 30),
		     ":1073741824");
	/* The thread is gone, its process is not. */
	check_string(elog_processes_name(processes, pid, (1U << 30) + 1),
		     "some name");
	elog_processes_learn(processes, 1U << 30, 1U << 30, "learnt and too long");
	check_string(elog_processes_name(processes, 1U << 30, 1U << 30),
		     "learnt and too ");
	for (i = 0; i < 100000; i++)
		elog_processes_learn(processes, i + (1U << 29), i, "x");
	check_string(elog_processes_name(processes, pid, tid), "some name");
	elog_processes_free(processes);
	elog_processes_free(NULL);

	/* Each thread is due once a second, in any order and with any ids. */
	processes = elog_processes_new();
	for (turn = 0; turn < 4; turn++)
		for (i = 1; i <= 4096; i++)
			due += elog_processes_due(processes, i, i << 10, second / 2 +
						  (uint64_t)turn);
	check_equal(due, 4096);
	check(elog_processes_due(processes, 1, 1 << 10, 2 * second));
	check(!elog_processes_due(processes, 1, 1 << 10, 2 * second));
	check(elog_processes_due(processes, 2, 1 << 10, 2 * second));
	elog_processes_free(processes);
}

/* Names from the kernel replace all others, and the latest one counts. */
static void test_kept_names(void)
{
	struct elog_processes *processes = elog_processes_new();
	uint32_t pid = (uint32_t)getpid(), tid = (uint32_t)gettid(), i;
	const struct eventlog_name names[] = {
		{ .time = 5, .pid = pid, .tid = tid, .comm = "from the kernel" },
		{ .time = 4, .pid = pid, .tid = tid, .comm = "an earlier one" },
		{ .time = 4, .pid = 1, .tid = tid, .comm = "another process" },
	};
	const struct eventlog_name full = {
		.time = 6, .pid = 7, .tid = 7, .comm = "sixteen letters!",
	};
	struct eventlog_name many = { .pid = 1U << 30, .comm = "many" };

	check_equal(prctl(PR_SET_NAME, "in /proc"), 0);
	check_string(elog_processes_name(processes, pid, tid), "in /proc");
	for (i = 0; i < ELOG_ARRAY_SIZE(names); i++) {
		elog_processes_keep(processes, &names[i]);
		check_string(elog_processes_name(processes, pid, tid), "from the kernel");
	}
	elog_processes_update(processes, pid, tid, "read before", false);
	check_string(elog_processes_name(processes, pid, tid), "from the kernel");
	check(!elog_processes_due(processes, pid, tid, UINT64_MAX));
	elog_processes_keep(processes, &full);
	check_string(elog_processes_name(processes, 7, 7), "sixteen letters");
	/* The id belongs to another process now, whose name the kernel has not kept. */
	check_string(elog_processes_name(processes, 1U << 30, 7), ":7");

	/* A full table forgets the oldest names, not all. */
	for (i = 1; i <= 100000; i++) {
		many.time = i;
		many.tid = i + (1U << 30);
		elog_processes_keep(processes, &many);
	}
	for (i = 100000; i > 100000 - 16000; i--)
		check_string(elog_processes_name(processes, 1U << 30, i + (1U << 30)),
			     "many");
	check_string(elog_processes_name(processes, 1U << 30, 1 + (1U << 30)),
		     ":1073741825");
	elog_processes_free(processes);
}

#define SESSIONS 1000

static uint64_t session_of_handler;

static void make_session(int signal)
{
	(void)signal;
	session_of_handler = elog_session_new();
}

static void *make_sessions(void *context)
{
	uint64_t *sessions = context;
	unsigned int i;

	for (i = 0; i < SESSIONS; i++)
		sessions[i] = elog_session_new();
	return NULL;
}

static int compare_sessions(const void *one, const void *other)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return a < b ? -1 : a > b;
}

/* Make sessions in a child, as some other call than fork() makes it; 0: fork(). */
static void make_in_child(long call, uint64_t *sessions)
{
	int ends[2], status;
	pid_t child;

	check_equal(pipe(ends), 0);
	child = call ? (pid_t)syscall(call, SIGCHLD, 0, 0, 0, 0) : fork();
	if (!child) {
		make_sessions(sessions);
		_exit(write(ends[1], sessions, SESSIONS * sizeof(*sessions)) !=
		      (ssize_t)(SESSIONS * sizeof(*sessions)));
	}
	check_equal(read(ends[0], sessions, SESSIONS * sizeof(*sessions)),
		    (long long)(SESSIONS * sizeof(*sessions)));
	check_equal(waitpid(child, &status, 0), child);
	check_equal(status, 0);
	close(ends[0]);
	close(ends[1]);
}

/* Numbers of threads, children, children of raw calls and signal handlers differ. */
static void test_sessions(void)
{
	static uint64_t sessions[6 * SESSIONS + 1];
	const size_t count = ELOG_ARRAY_SIZE(sessions);
	pthread_t threads[3];
	size_t i;

	errno = ERANGE;
	make_sessions(sessions);
	check_equal(errno, ERANGE);
	for (i = 1; i < SESSIONS; i++)
		check_equal(sessions[i] << 1, (sessions[i - 1] << 1) + 2);
	make_in_child(0, sessions + SESSIONS);
	make_in_child(SYS_clone, sessions + 2 * SESSIONS);
	for (i = 0; i < 3; i++)
		check_equal(pthread_create(&threads[i], NULL, make_sessions,
					   sessions + (3 + i) * SESSIONS), 0);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	check(signal(SIGUSR1, make_session) != SIG_ERR);
	check_equal(raise(SIGUSR1), 0);
	sessions[count - 1] = session_of_handler;
	for (i = 0; i < count; i++)
		check(sessions[i] >> 63);
	qsort(sessions, count, sizeof(sessions[0]), compare_sessions);
	for (i = 1; i < count; i++)
		check(sessions[i] != sessions[i - 1]);
}

static char device[64];

static void *write_events(void *argument)
{
	const struct elog_event *event = argument;
	unsigned int i;
	long wrong = 0;

	for (i = 0; i < 100000; i++)
		wrong += elog_event_write(event, 0, NULL, 0) != -EBADF;
	return (void *)wrong;
}

/*
 * Without the module, without permission or with another device, a producer has
 * disabled events. libelog_device_test has the tests with the module.
 */
static void test_producer_alone(void)
{
	const struct elog_producer_options options = {
		.size = sizeof(options),
		.device = device,
	}, wrong = { .size = sizeof(wrong), .flags = 2 };
	struct iovec parts[ELOG_IOV_MAX + 1] = { { 0 } };
	struct elog_event *event, *second;
	struct elog_producer *producer;
	pthread_t threads[4];
	unsigned int i;
	void *result;
	pid_t child;
	int status = -1;

	snprintf(device, sizeof(device), "/tmp/libelog_test.%d", (int)getpid());
	check_equal(elog_producer_open(&producer, &wrong), -EINVAL);
	check_equal(elog_producer_open(&producer, &options), 0);
	check_equal(elog_producer_connect(producer), -ENOENT);
	check_equal(elog_event_register(producer, "p", "e u32 a", 0, 0, 0, &event), 0);
	check_equal(elog_event_error(event), -ENOTCONN);
	check_equal(elog_event_descriptor(event), 0);
	check(!elog_event_enabled(event));
	check_equal(elog_event_write(event, 0, NULL, 0), -EBADF);
	check_equal(elog_event_write(event, 0, parts, ELOG_IOV_MAX + 1), -EINVAL);

	/* The file can be opened, but it is another device. */
	check_equal(symlink("/dev/null", device), 0);
	check_equal(elog_producer_connect(producer), 0);
	check_equal(elog_event_error(event), -ENOTTY);
	check(!elog_event_enabled(event));
	check_equal(elog_event_register(producer, NULL, "f", 0, 0, 0, &second),
		    -ENOTTY);

	child = fork();
	if (!child) {
		/* The child is disconnected and connects with a file of its own. */
		status = elog_event_error(event) != -ENOTCONN;
		status |= elog_event_enabled(event) << 1;
		status |= (elog_event_error(event) != -ENOTTY) << 2;
		elog_producer_close(producer);
		_exit(status);
	}
	check(child > 0 && waitpid(child, &status, 0) == child);
	check_equal(status, 0);

	for (i = 0; i < ELOG_ARRAY_SIZE(threads); i++)
		check_equal(pthread_create(&threads[i], NULL, write_events, event), 0);
	for (i = 0; i < 1000; i++) {
		elog_producer_release(producer, i % 2 ? UINT_MAX : 0);
		if (i % 3)
			elog_producer_connect(producer);
	}
	for (i = 0; i < ELOG_ARRAY_SIZE(threads); i++) {
		pthread_join(threads[i], &result);
		check_equal((long)result, 0);
	}

	unlink(device);
	elog_producer_release(producer, UINT_MAX);
	check_equal(elog_event_error(event), -ENOTCONN);
	check_equal(symlink("/dev/null", device), 0);
	check(!elog_event_enabled(event));
	check_equal(elog_event_error(event), -ENOTCONN);
	elog_producer_release(producer, 0);
	check(!elog_event_enabled(event));
	check_equal(elog_event_error(event), -ENOTTY);
	unlink(device);

	check_equal(elog_event_register(producer, "p", "g", 0, 0, 0, &second),
		    -ENOTTY);
	elog_event_unregister(event);
	elog_event_unregister(NULL);
	elog_producer_close(producer);
	elog_producer_close(NULL);
}

static void test_consumer_alone(void)
{
	const struct elog_consumer_options missing = {
		.size = sizeof(missing), .device = "/nonexistent/eventlog",
	}, other = {
		.size = sizeof(other), .device = "/dev/null",
	}, wrong = { .size = 7 }, shorter = {
		.size = offsetof(struct elog_consumer_options, backlog_bytes),
		.device = "/dev/null",
		.backlog_bytes = UINT64_MAX,
	};
	struct {
		struct elog_consumer_options options;
		uint64_t more;
	} longer = {
		.options = { .size = sizeof(longer), .device = "/dev/null" },
	};
	struct elog_consumer *consumer;
	struct eventlog_info info = { .size = sizeof(info) };
	int fd;

	check_equal(elog_consumer_open(&consumer, &missing), -ENOENT);
	check_equal(elog_consumer_open(&consumer, &other), -ENOTTY);
	check_equal(elog_consumer_open(&consumer, &wrong), -EINVAL);
	check_equal(elog_consumer_open(&consumer, &shorter), -ENOTTY);
	check_equal(elog_consumer_open(&consumer, &longer.options), -ENOTTY);
	longer.more = 1ULL << 63;
	check_equal(elog_consumer_open(&consumer, &longer.options), -E2BIG);
	elog_consumer_close(NULL);
	check_equal(elog_device_open("/nonexistent/eventlog"), -ENOENT);
	fd = elog_device_open("/dev/null");
	check(fd >= 0);
	check_equal(elog_device_info(fd, &info), -ENOTTY);
	info.size = 7;
	check_equal(elog_device_info(fd, &info), -EINVAL);
	check_equal(elog_device_check(fd), 0);
	close(fd);
	check_equal(elog_abi_check(EVENTLOG_ABI_VERSION), 0);
	check_equal(elog_abi_check(EVENTLOG_ABI_VERSION - 1), -EPROTONOSUPPORT);
	check_equal(elog_abi_check(EVENTLOG_ABI_VERSION + 1), -EPROTONOSUPPORT);
	check_equal(elog_abi_check(0), -EPROTONOSUPPORT);
	check_equal(elog_abi_check(UINT32_MAX), -EPROTONOSUPPORT);
}

int main(void)
{
	static const struct test tests[] = {
		{ "text buffers", test_text },
		{ "short strings are quoted", test_short_strings },
		{ "a schema is parsed", test_schema },
		{ "names in a schema may be quoted", test_quoted_names },
		{ "schema errors are reported with their line", test_schema_errors },
		{ "a large schema is parsed quickly", test_schema_large },
		{ "names and values of a schema are unique", test_schema_unique },
		{ "mutated schemas do no harm", test_schema_mutations },
		{ "payloads are built and decoded", test_payload },
		{ "values are formatted", test_format },
		{ "decoding stays within the payload", test_decode_bounds },
		{ "rings are merged by time", test_merge },
		{ "at equal times, events from producer rings are first", test_merge_equal },
		{ "a loss is reported before the next event", test_lost_records },
		{ "damaged rings are detected", test_damaged_rings },
		{ "records of a newer kernel are skipped or read", test_newer_records },
		{ "names of processes", test_processes },
		{ "names from the kernel", test_kept_names },
		{ "numbers of sessions are unique", test_sessions },
		{ "reserved members are zero", test_reserved },
		{ "a producer without the module", test_producer_alone },
		{ "a consumer without the module", test_consumer_alone },
	};

	return run_tests(tests, ELOG_ARRAY_SIZE(tests), seed_random);
}
