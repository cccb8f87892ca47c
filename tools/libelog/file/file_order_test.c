// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tests of .elog files from machines of the other byte order: a file that was written
 * here is byte-swapped without the use of its schema, and must read the same. They need
 * no kernel module. Prints TAP.
 */
#include "file/file_source.h"

#define EVENTS	500

/* All types of fields. */
static const char typed[] =
	"eventlog 1\n"
	"provider order\n"
	"enum state\n"
	"	-2 LOW\n"
	"	1 ONE\n"
	"flags bits\n"
	"	0x1 FIRST\n"
	"	0x8000 LAST\n"
	"event 1 typed info -\n"
	"	u8 u8\n"
	"	u16 u16\n"
	"	u32 u32\n"
	"	u64 u64\n"
	"	s16 s16\n"
	"	s64 s64\n"
	"	bool yes\n"
	"	char[5] chars\n"
	"	u8[3] octets\n"
	"	string text\n"
	"	bytes data\n"
	"	bytes:rel more\n"
	"	ipv4 v4\n"
	"	ipv6 v6\n"
	"	port port\n"
	"	mac mac\n"
	"	time when\n"
	"	duration took\n"
	"	ptr at\n"
	"	enum:state:s32 state\n"
	"	flags:bits:u16 bits\n"
	"	struct:opaque:6 opaque\n"
	"	u32 last\n";

struct payload {
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;
	int16_t s16;
	int64_t s64;
	uint8_t yes;
	char chars[5];
	uint8_t octets[3];
	uint32_t text;
	uint32_t data;
	uint32_t more;
	uint8_t v4[4];
	uint8_t v6[16];
	uint8_t port[2];
	uint8_t mac[6];
	uint64_t when;
	uint64_t took;
	uint64_t at;
	int32_t state;
	uint16_t bits;
	uint8_t opaque[6];
	uint32_t last;
	char dynamic[24];
} __attribute__((packed));

#define MEMBER(name) { offsetof(struct payload, name), \
		       sizeof(((struct payload *)NULL)->name) }

static const struct {
	size_t offset;
	size_t size;
} numbers[] = {
	MEMBER(u16), MEMBER(u32), MEMBER(u64), MEMBER(s16), MEMBER(s64),
	MEMBER(text), MEMBER(data), MEMBER(more), MEMBER(when), MEMBER(took),
	MEMBER(at), MEMBER(state), MEMBER(bits), MEMBER(last),
};

static void turn(unsigned char *bytes, size_t size)
{
	unsigned char copy[8];
	size_t i;

	memcpy(copy, bytes, size);
	for (i = 0; i < size; i++)
		bytes[i] = copy[size - 1 - i];
}

static void make(struct payload *payload)
{
	unsigned char *bytes = (unsigned char *)payload;
	const uint32_t end = offsetof(struct payload, dynamic);
	size_t i;

	for (i = 0; i < sizeof(*payload); i++)
		bytes[i] = (unsigned char)random_number(256);
	payload->yes = random_number(2);
	payload->state = random_number(2) ? -2 : (int32_t)random_number(3);
	memcpy(payload->dynamic, "between", 8);
	payload->text = 8U << 16 | end;
	payload->data = 7U << 16 | (end + 8);
	payload->more = 9U << 16 |
		(end + 15 - (uint32_t)(offsetof(struct payload, more) + 4));
	/* Some offsets are invalid, and must be invalid in both byte orders. */
	if (!random_number(10))
		payload->data = (uint32_t)random_number(1ULL << 32);
}

static size_t put(unsigned char *ring, size_t at, uint32_t type,
		  uint32_t descriptor, uint64_t time, const void *payload,
		  size_t size)
{
	const struct eventlog_record record = {
		.size_flags = (uint32_t)(sizeof(record) + size) |
			      type << EVENTLOG_RECORD_TYPE_SHIFT |
			      2U << EVENTLOG_RECORD_CONTEXT_SHIFT,
		.descriptor = descriptor,
		.time = time,
		.session = time * 3,
		.pid = 100000 + descriptor,
		.tid = 200000 + descriptor,
	};

	memcpy(ring + at, &record, sizeof(record));
	memcpy(ring + at + sizeof(record), payload, size);
	at += sizeof(record) + size;
	while (at % EVENTLOG_RECORD_ALIGN)
		ring[at++] = 0;
	return at;
}

/* Write typed events, short ones, events without a schema, losses and padding. */
static int write_here(uint32_t level)
{
	const struct elog_writer_options options = {
		.size = sizeof(options),
		.compression = level,
	};
	struct eventlog_lost_counts counts = { { 0 } };
	const uint64_t lost[] = { 7 };
	struct elog_writer_loss loss = { .cpu = 1, .stream = 1, .lost = lost, .lost_count = 1 };
	struct elog_writer *writer;
	unsigned char ring[4096];
	struct payload payload;
	uint64_t position[2] = { 0 };
	unsigned int i, cpu;
	size_t size;
	int fd = new_file();

	check_equal(elog_writer_open(&writer, fd, &options), 0);
	check_equal(elog_writer_schema(writer, 1, 1, typed), 0);
	for (i = 0; i < EVENTS; i++) {
		const uint32_t padding = 16 | EVENTLOG_RECORD_PADDING <<
					      EVENTLOG_RECORD_TYPE_SHIFT;

		cpu = (unsigned int)random_number(2);
		make(&payload);
		size = put(ring, 0, EVENTLOG_RECORD_EVENT, 1, 8 * i + 1000,
			   &payload, sizeof(payload));
		memcpy(ring + size, &padding, sizeof(padding));
		memset(ring + size + 4, 0, 12);
		size = put(ring, size + 16, EVENTLOG_RECORD_EVENT, 1,
			   8 * i + 1002, &payload,
			   random_number(sizeof(payload)));
		size = put(ring, size, EVENTLOG_RECORD_EVENT, 2, 8 * i + 1004,
			   "no schema", 9);
		if (i % 10 == 0) {
			counts.lost[EVENTLOG_LOST_GUARD] += 3;
			size = put(ring, size, EVENTLOG_RECORD_LOST, 0,
				   8 * i + 1006, &counts, sizeof(counts));
		}
		check_equal(store_records(writer, cpu, cpu, ring, size,
						position[cpu]), 0);
		position[cpu] += size;
		if (i % 7 == 6)
			check_equal(elog_writer_sync(writer, 8 * i + 1000,
							 &loss, 1), 0);
	}
	check_equal(elog_writer_sync(writer, 1ULL << 60, &loss, 1), 0);
	check_equal(elog_writer_end(writer, 0), 0);
	elog_writer_close(writer);
	return fd;
}

/* Byte-swap the records of a DATA block. */
static void turn_records(unsigned char *bytes, size_t size)
{
	struct eventlog_record record;
	size_t at, length, i;
	uint32_t word;

	for (at = 0; at < size; at += (length + 7) & ~7ULL) {
		memcpy(&word, bytes + at, sizeof(word));
		length = word & EVENTLOG_RECORD_SIZE_MASK;
		check(length != 0);
		if (!length)
			return;
		turn(bytes + at, 4);
		word = (word & EVENTLOG_RECORD_TYPE_MASK) >>
		       EVENTLOG_RECORD_TYPE_SHIFT;
		if (word == EVENTLOG_RECORD_PADDING)
			continue;
		memcpy(&record, bytes + at, sizeof(record));
		turn(bytes + at + offsetof(struct eventlog_record, descriptor), 4);
		turn(bytes + at + offsetof(struct eventlog_record, time), 8);
		turn(bytes + at + offsetof(struct eventlog_record, session), 8);
		turn(bytes + at + offsetof(struct eventlog_record, pid), 4);
		turn(bytes + at + offsetof(struct eventlog_record, tid), 4);
		if (word == EVENTLOG_RECORD_LOST) {
			for (i = sizeof(record); i < length; i += 8)
				turn(bytes + at + i, 8);
			continue;
		}
		/* The payload of descriptor 2 is text. */
		if (record.descriptor != 1)
			continue;
		for (i = 0; i < ELOG_ARRAY_SIZE(numbers); i++)
			if (sizeof(record) + numbers[i].offset +
			    numbers[i].size <= length)
				turn(bytes + at + sizeof(record) +
				     numbers[i].offset, numbers[i].size);
	}
}

static void turn_file(int fd)
{
	static const char little[] = "byte_order little\n";
	static const char big[] = "byte_order big\nx-\n";
	struct elog_block_header header;
	unsigned char *bytes, *text;
	size_t size, at;

	bytes = load(fd, &size);
	for (at = 0; at < size; at += block_size(bytes + at)) {
		memcpy(&header, bytes + at, sizeof(header));
		if (le32toh(header.type) == ELOG_BLOCK_FILE) {
			text = memmem(bytes, block_size(bytes), little,
				      sizeof(little) - 1);
			check(text != NULL);
			if (text)
				memcpy(text, big, sizeof(big) - 1);
		}
		if (le32toh(header.type) == ELOG_BLOCK_DATA) {
			check(!(le32toh(header.flags) & ELOG_BLOCK_ZSTD));
			header.flags ^= htole32(ELOG_BLOCK_BIG_ENDIAN);
			memcpy(bytes + at, &header, sizeof(header));
			turn_records(bytes + at + sizeof(header) + sizeof(struct elog_block_data),
				     le32toh(header.size) - sizeof(struct elog_block_data));
		}
		seal(bytes + at);
	}
	store(fd, bytes, size);
	free(bytes);
}

/* Append all contents of the file as text. */
static void append_contents(int fd, struct elog_text *text)
{
	const struct elog_schema_event *event;
	struct elog_reader *reader;
	struct elog_item item;
	unsigned int i;
	int ret;

	lseek(fd, 0, SEEK_SET);
	check_equal(elog_reader_open(&reader, fd), 0);
	while ((ret = elog_reader_next(reader, &item)) > 0) {
		elog_text_printf(text, "%d %u %d %u %llu %llu %u %u ",
				 (int)item.type, item.cpu, (int)item.context,
				 item.descriptor, (unsigned long long)item.time,
				 (unsigned long long)item.session, item.pid,
				 item.tid);
		for (i = 0; i < item.lost_count; i++)
			elog_text_printf(text, "%llu ",
					 (unsigned long long)item.lost[i]);
		for (i = 0; i < item.payload_size; i++)
			elog_text_hex(text,
				      ((const unsigned char *)item.payload)[i], 2);
		if (item.type == ELOG_ITEM_EVENT &&
		    !elog_reader_describe(reader, item.descriptor, &event))
			elog_format_fields(text, event, item.payload,
					   item.payload_size);
		elog_text_string(text, "\n");
	}
	check_equal(ret, 0);
	elog_reader_close(reader);
}

static void test_turned(void)
{
	struct elog_text here = { 0 }, there = { 0 };
	int fd = write_here(0);

	append_contents(fd, &here);
	check(here.size > EVENTS * 100);
	check(strstr(here.data, "text=\"between\"") != NULL);
	check(!strstr(here.data, "\n4 "));
	turn_file(fd);
	append_contents(fd, &there);
	check_equal(there.size, here.size);
	check(there.data && !strcmp(here.data, there.data));
	elog_text_free(&here);
	elog_text_free(&there);
	close(fd);
}

int main(void)
{
	static const struct test tests[] = {
		{ "a file of the other byte order reads the same", test_turned },
	};

	if (ELOG_BLOCK_NATIVE) {
		printf("1..0 # SKIP only little-endian machines can swap the file\n");
		return 4;
	}
	return run_tests(tests, ELOG_ARRAY_SIZE(tests), seed_random);
}
