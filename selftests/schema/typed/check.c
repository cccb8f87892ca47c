// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares what eventlog-gen makes of schemas with libelog: the fields of payloads with
 * those of elog_payload_*(), text with that of elog_format_fields(). Stands in for the part of
 * libelog that writes to the device. Called by typed_test.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define SESSION		0x1234567890ULL
#define ROUNDS		60
#define STRING_MAX	48

struct elog_payload expected;
static unsigned char expected_bytes[2 * EVENTLOG_PAYLOAD_MAX];
static unsigned char emitted[2 * EVENTLOG_PAYLOAD_MAX];
static unsigned char payload[2 * EVENTLOG_PAYLOAD_MAX];
static size_t emitted_size;
static const char *emitted_schema;
static enum eventlog_attribute attribute;
static const char *file_name;
static struct elog_schema *reference;
static const unsigned char enabled_byte = EVENTLOG_STATUS_ENABLED;

static void __attribute__((noreturn, format(printf, 1, 2))) fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	printf("%s: ", file_name);
	vprintf(format, arguments);
	printf("\n");
	va_end(arguments);
	exit(1);
}

/* ---- random arguments ---- */

static uint64_t state = 88172645463325252ULL;

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Small and large ones, and those with a few bits. */
uint64_t next_number(void)
{
	return next() % 4 ? next() >> next() % 64 : next() % 8;
}

const char *next_string(void)
{
	static const char *const strings[] = {
		"", "plain", "\"quoted\" \\ \n\t\r\x01\x7f", "gr\303\266\303\237e \342\206\222",
		"\360\237\230\200", "cut \342\206", "\355\240\200", "\302\205", "\303", "\200x",
		"\364\217\277\277\364\220\200\200\370", "a longer one, a longer one, a longer one",
		"\342\200\256 left", "\342\201\246\342\201\252", "\330\234\342\200\215",
	};

	return strings[next() % (sizeof(strings) / sizeof(strings[0]))];
}

/* Enough for the largest field of the corpus, of 65536 bytes. */
const void *next_bytes(void)
{
	static unsigned char bytes[EVENTLOG_PAYLOAD_MAX];
	size_t i;

	for (i = 0; i < 64; i++)
		bytes[i] = next() % 3 ? (unsigned char)next() : 0;
	return bytes;
}

/* ---- the part of libelog that writes ---- */

bool elog_typed_event_ready(const struct elog_typed_event *event)
{
	return event->event;
}

int elog_typed_events_register(struct elog_producer *producer,
			       struct elog_typed_event *const *events, unsigned int count)
{
	unsigned int i;

	(void)producer;
	for (i = 0; i < count; i++) {
		if (*events[i]->status)
			fail("an event is enabled before it is registered");
		events[i]->event = (struct elog_event *)events[i];
		events[i]->status = &enabled_byte;
	}
	return 0;
}

void elog_typed_events_unregister(struct elog_typed_event *const *events, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		events[i]->event = NULL;
}

int elog_typed_event_write(const struct elog_typed_event *event, uint64_t session,
			   struct iovec *iov, unsigned int count, size_t size)
{
	unsigned int i;

	if (session != SESSION)
		fail("the session is %#llx", (unsigned long long)session);
	if (emitted_schema)
		fail("two events are emitted");
	emitted_schema = event->schema;
	emitted_size = 0;
	for (i = 1; i < count; i++) {
		memcpy(emitted + emitted_size, iov[i].iov_base, iov[i].iov_len);
		emitted_size += iov[i].iov_len;
	}
	if (size != emitted_size)
		fail("size is %zu, the parts have %zu", size, emitted_size);
	return 7;
}

void elog_typed_event_begin(const struct elog_typed_event *event, uint64_t session)
{
	if (emitted_schema || attribute || session != SESSION)
		fail("%s: its session begins in the wrong place", event->schema);
	attribute = EVENTLOG_ATTRIBUTE_START;
}

void elog_typed_event_end(const struct elog_typed_event *event, uint64_t session)
{
	if (emitted_schema != event->schema || attribute || session != SESSION)
		fail("%s: its session ends in the wrong place", event->schema);
	attribute = EVENTLOG_ATTRIBUTE_END;
}

/* ---- checks ---- */

static struct elog_schema *parse(const char *text, size_t size)
{
	struct elog_schema_error error;
	struct elog_schema *schema;

	if (elog_schema_parse(text, size, &schema, &error))
		fail("line %u: %s", error.line, error.message);
	return schema;
}

void begin_schema(const char *file)
{
	static char text[1 << 20];
	FILE *stream = fopen(file, "r");

	file_name = file;
	elog_schema_free(reference);
	if (!stream)
		fail("cannot be read");
	reference = parse(text, fread(text, 1, sizeof(text), stream));
	fclose(stream);
}

void begin_event(void)
{
	emitted_schema = NULL;
	attribute = 0;
	elog_payload_init(&expected, expected_bytes, sizeof(expected_bytes));
}

static const struct elog_schema_event *find(const struct elog_schema *schema, const char *name)
{
	const struct elog_schema_provider *provider = schema->providers[0];
	size_t i;

	for (i = 0; i < provider->event_count; i++)
		if (!strcmp(provider->events[i]->name, name))
			return provider->events[i];
	fail("has no event %s", name);
}

/* The text is that of libelog, and the same up to its end in a smaller buffer. */
static void compare_text(const struct elog_schema_event *event, text_function function,
			 const void *bytes, size_t size)
{
	static char buffer[8 * EVENTLOG_PAYLOAD_MAX];
	struct elog_text text = { 0 };
	size_t length, room;

	elog_format_fields(&text, event, bytes, size);
	length = function(buffer, sizeof(buffer), bytes, size);
	if (length != text.size || memcmp(buffer, text.data ? text.data : "", length) ||
	    buffer[length])
		fail("%s: the text is\n%s\nand that of libelog\n%.*s", event->name, buffer,
		     (int)text.size, text.data ? text.data : "");
	room = next() % (length + 2);
	memset(buffer, 'x', room + 1);
	if (function(buffer, room, bytes, size) != length || buffer[room] != 'x' ||
	    (room && buffer[room <= length ? room - 1 : length]) ||
	    (room && memcmp(buffer, text.data ? text.data : "", room <= length ? room - 1 : length)))
		fail("%s: the text is wrong in a buffer of %zu bytes", event->name, room);
	elog_text_free(&text);
}

/* Random bytes; some of the words are such that strings are inside of the payload. */
static size_t random_payload(const struct elog_schema_event *event)
{
	size_t size = event->fixed_size + next() % STRING_MAX, i;
	uint32_t word;

	for (i = 0; i < size; i++)
		payload[i] = next() % 4 ? (unsigned char)next() : (unsigned char)(next() % 4);
	for (i = 0; i < event->field_count; i++) {
		if (event->fields[i]->type != ELOG_TYPE_STRING &&
		    event->fields[i]->type != ELOG_TYPE_BYTES)
			continue;
		word = (uint32_t)(next() % STRING_MAX << 16 | next() % (size + 8));
		memcpy(payload + event->fields[i]->offset, &word, sizeof(word));
	}
	return next() % 4 ? size : next() % (size + 1);
}

void end_event(const char *name, int result, text_function text)
{
	const struct elog_schema_event *event = find(reference, name);
	ssize_t size = elog_payload_end(&expected);
	struct elog_text one = { 0 }, other = { 0 };
	struct elog_schema *own;
	unsigned int round;

	if (result != 7 || !emitted_schema)
		fail("%s: not emitted", name);
	if (attribute != event->attribute)
		fail("%s: does not begin or end its session", name);
	/* Strings and bytes may be in any order, so compare what libelog reads. */
	elog_format_fields(&one, event, expected_bytes, size > 0 ? (size_t)size : 0);
	elog_format_fields(&other, event, emitted, emitted_size);
	if (size < 0 || (size_t)size != emitted_size || one.size != other.size ||
	    (one.size && memcmp(one.data, other.data, one.size)))
		fail("%s: the payload of %zu bytes is\n%.*s\nand not, of %zd bytes,\n%.*s", name,
		     emitted_size, (int)other.size, other.data ? other.data : "", size,
		     (int)one.size, one.data ? one.data : "");
	elog_text_free(&one);
	elog_text_free(&other);
	own = parse(emitted_schema, strlen(emitted_schema));
	if (own->providers[0]->event_count != 1)
		fail("%s: its schema has other events", name);
	compare_text(event, text, emitted, emitted_size);
	compare_text(find(own, name), text, emitted, emitted_size);
	for (round = 0; round < (event->field_count > 64 ? 4 : ROUNDS); round++)
		compare_text(event, text, payload, random_payload(event));
	elog_schema_free(own);
}
