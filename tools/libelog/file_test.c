// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tests of .elog files that need no kernel module: what is written from rings
 * made up here comes back, in order; and whatever else a file may be, reading it
 * ends, and yields no record that was not written. Prints TAP. Most useful when
 * built with sanitizers.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "internal.h"
#include "tap.h"

#define CPUS		3
#define RING_BYTES	2048
#define SUB_BYTES	1024
#define MUTATIONS	100000
#define SEALED		30000
#define PAYLOAD_MAX	200

/* The same numbers in each run. */
static uint64_t random_state;

static uint64_t random_number(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % below;
}

static const char schema[] =
	"eventlog 1\n"
	"provider test\n"
	"event 1 numbered info -\n"
	"	u32 check\n"
	"	u32 cpu\n"
	"	u64 number\n";

/* Rings as a kernel would fill them, and what was written of them. */
struct source {
	struct elog_file_writer *writer;
	struct elog_ring_reader rings[CPUS];
	unsigned char *bytes[CPUS];
	uint64_t lost[CPUS];
	uint64_t clock;
	uint64_t events;
	uint64_t stored;	/* events in whole blocks */
	size_t blocks;
	struct {
		uint64_t end;	/* of the file, with this block */
		uint64_t stored;
	} block[512];
};

static void put_record(struct source *source, unsigned int cpu, uint32_t type,
		       const void *payload, uint32_t size)
{
	struct elog_ring_reader *ring = &source->rings[cpu];
	struct eventlog_record record = {
		.size_flags = (uint32_t)sizeof(record) + size,
		.descriptor = 1,
		.time = source->clock,
		.session = source->events % 3,
		.pid = 100 + cpu,
		.tid = 200 + cpu,
	};
	uint32_t whole = (record.size_flags + 7) & ~7U, padding;
	uint64_t at = ring->end & (RING_BYTES - 1);

	padding = (uint32_t)(SUB_BYTES - at % SUB_BYTES);
	if (whole > padding) {
		/* As short as padding may be: eight bytes are all there is. */
		uint32_t word = padding |
				EVENTLOG_RECORD_PADDING << EVENTLOG_RECORD_TYPE_SHIFT;

		memcpy(source->bytes[cpu] + at, &word, sizeof(word));
		ring->end += padding;
		at = ring->end & (RING_BYTES - 1);
	}
	record.size_flags |= type << EVENTLOG_RECORD_TYPE_SHIFT;
	memcpy(source->bytes[cpu] + at, &record, sizeof(record));
	memcpy(source->bytes[cpu] + at + sizeof(record), payload, size);
	memset(source->bytes[cpu] + at + sizeof(record) + size, 0,
	       whole - sizeof(record) - size);
	ring->end += whole;
}

/* The payload of an event: its sum, CPU and number, and bytes made of that. */
static uint32_t make_payload(unsigned char *payload, unsigned int cpu,
			     uint64_t number)
{
	uint32_t size = 16 + (uint32_t)(number * 7 % (PAYLOAD_MAX - 16)), i, sum;

	memcpy(payload + 4, &cpu, 4);
	memcpy(payload + 8, &number, 8);
	for (i = 16; i < size; i++)
		payload[i] = (unsigned char)(number * 31 + i);
	sum = elog_crc32c_tables(0, payload + 4, size - 4);
	memcpy(payload, &sum, 4);
	return size;
}

static void drain(struct source *source, unsigned int cpu)
{
	struct elog_ring_reader *ring = &source->rings[cpu];
	ssize_t span;

	while ((span = elog_ring_span(ring, 700)) > 0) {
		const unsigned char *data = ring->data +
			(ring->position & (RING_BYTES - 1));

		check(span <= 700 || span == 1024);
		check_equal(elog_file_write_raw(source->writer, cpu, data,
						(size_t)span, ring->position), 0);
		/* What is handed back is overwritten soon. */
		memset((void *)data, 0xa5, (size_t)span);
		ring->position += (uint64_t)span;
	}
	check_equal(span, 0);
}

static void emit(struct source *source, unsigned int cpu)
{
	unsigned char payload[PAYLOAD_MAX];
	uint32_t size = make_payload(payload, cpu, source->events);

	if (source->rings[cpu].end - source->rings[cpu].position >
	    RING_BYTES - 600)
		drain(source, cpu);
	source->clock += 1 + random_number(3);
	put_record(source, cpu, EVENTLOG_RECORD_EVENT, payload, size);
	source->events++;
}

static void lose(struct source *source, unsigned int cpu)
{
	struct eventlog_lost_counts counts = { { 0 } };

	source->lost[cpu] += 5;
	counts.lost[EVENTLOG_LOST_NO_ROOM] = source->lost[cpu];
	put_record(source, cpu, EVENTLOG_RECORD_LOST, &counts, sizeof(counts));
}

static void sync_all(struct source *source, uint64_t time)
{
	struct elog_file_loss losses[CPUS];
	unsigned int cpu;

	for (cpu = 0; cpu < CPUS; cpu++) {
		drain(source, cpu);
		memset(&losses[cpu], 0, sizeof(losses[cpu]));
		losses[cpu].cpu = cpu;
		losses[cpu].lost[EVENTLOG_LOST_NO_ROOM] = source->lost[cpu];
	}
	check_equal(elog_file_write_sync(source->writer, time, losses, CPUS), 0);
	source->block[source->blocks].stored = source->events;
	source->block[source->blocks++].end =
		elog_file_writer_size(source->writer);
}

static void open_source(struct source *source, int fd, uint64_t position)
{
	const struct elog_file_options options = {
		.size = sizeof(options),
		.program = "test 1",
		.command = "make\nit up",
		.cpus = CPUS,
	};
	unsigned int cpu;

	memset(source, 0, sizeof(*source));
	check_equal(elog_file_writer_open(&source->writer, fd, &options), 0);
	check_equal(elog_file_write_schema(source->writer, 1, 7, schema), 0);
	source->clock = 1000;
	for (cpu = 0; cpu < CPUS; cpu++) {
		source->bytes[cpu] = calloc(1, RING_BYTES);
		source->rings[cpu].data = source->bytes[cpu];
		source->rings[cpu].data_bytes = RING_BYTES;
		source->rings[cpu].sub_buffer_bytes = SUB_BYTES;
		source->rings[cpu].position = position;
		source->rings[cpu].end = position;
		check_equal(elog_file_write_process(source->writer, 100 + cpu,
						    200 + cpu,
						    cpu ? "worker" : "main"), 0);
	}
}

static void close_source(struct source *source, bool end)
{
	unsigned int cpu;

	if (end)
		check_equal(elog_file_write_end(source->writer, source->events,
						15), 0);
	elog_file_writer_close(source->writer);
	for (cpu = 0; cpu < CPUS; cpu++)
		free(source->bytes[cpu]);
}

static int new_file(void)
{
	int fd = memfd_create("elog", MFD_CLOEXEC);

	if (fd < 0) {
		printf("Bail out! memfd_create: %s\n", strerror(errno));
		exit(1);
	}
	return fd;
}

/* Events on all CPUs, losses, and a SYNC now and then, not always of all. */
static void write_part(struct source *source, int fd, unsigned int events,
		       uint64_t position, bool end)
{
	unsigned int i;

	open_source(source, fd, position);
	for (i = 0; i < events; i++) {
		emit(source, (unsigned int)random_number(CPUS));
		if (i % 17 == 16)
			drain(source, (unsigned int)random_number(CPUS));
		if (i % 40 == 39)
			sync_all(source, source->clock - random_number(20));
		if (i == events / 2) {
			lose(source, 1);
			lose(source, 2);
		}
	}
	sync_all(source, source->clock + 1);
	/* After its last record, so that only the SYNC tells. */
	source->lost[2] += 5;
	sync_all(source, source->clock + 2);
	close_source(source, end);
}

struct result {
	int end;		/* what elog_file_next() said at last */
	uint64_t events;
	uint64_t parts;
	uint64_t lost;
	uint64_t disordered;	/* events with a lower number than the one before */
	uint64_t wrong;		/* events that nobody wrote */
	uint64_t damage[ELOG_DAMAGES];
	uint64_t damages;
	uint64_t bytes[ELOG_DAMAGES];
};

static bool is_right(const struct elog_item *item)
{
	unsigned char payload[PAYLOAD_MAX];
	uint64_t number;
	uint32_t size;

	if (item->payload_size < 16)
		return false;
	memcpy(&number, (const char *)item->payload + 8, sizeof(number));
	size = make_payload(payload, item->cpu, number);
	return size == item->payload_size && item->descriptor == 1 &&
	       !memcmp(payload, item->payload, size) &&
	       item->session == number % 3 && item->tid == 200 + item->cpu;
}

static void read_all(int fd, struct result *result)
{
	const struct elog_schema_event *event;
	struct elog_file_reader *reader;
	struct elog_text text = { 0 };
	uint64_t number, next = 0;
	struct elog_item item;
	unsigned int i;

	memset(result, 0, sizeof(*result));
	check_equal(elog_file_reader_open(&reader, fd), 0);
	while ((result->end = elog_file_next(reader, &item)) > 0) {
		switch (item.type) {
		case ELOG_ITEM_EVENT:
			result->events++;
			text.size = 0;
			if (!elog_file_describe(reader, item.descriptor, &event))
				elog_format_fields(&text, event, item.payload,
						   item.payload_size);
			elog_text_string(&text, elog_processes_name(
				elog_file_processes(reader), item.pid, item.tid));
			if (!is_right(&item)) {
				result->wrong++;
				break;
			}
			memcpy(&number, (const char *)item.payload + 8, 8);
			result->disordered += number < next;
			next = number + 1;
			break;
		case ELOG_ITEM_LOST:
			for (i = 0; i < EVENTLOG_LOST_CAUSES; i++)
				result->lost += item.lost[i];
			break;
		case ELOG_ITEM_PART:
			result->parts++;
			next = 0;
			break;
		case ELOG_ITEM_DAMAGE:
			result->damages++;
			result->damage[item.damage]++;
			result->bytes[item.damage] += item.size;
			break;
		case ELOG_ITEM_SYNC:
			break;
		}
	}
	check_equal(elog_file_next(reader, &item), result->end);
	elog_text_free(&text);
	elog_file_reader_close(reader);
}

static void test_crc(void)
{
	unsigned char zeroes[32] = { 0 }, bytes[600];
	size_t from, size, i;

	check_equal(elog_crc32c(0, "123456789", 9), 0xe3069283);
	check_equal(elog_crc32c_tables(0, "123456789", 9), 0xe3069283);
	/* RFC 3720, B.4 */
	check_equal(elog_crc32c(0, zeroes, 32), 0x8a9136aa);
	check_equal(elog_crc32c_tables(0, zeroes, 32), 0x8a9136aa);
	check_equal(elog_crc32c(0, "", 0), 0);
	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)random_number(256);
	for (i = 0; i < 2000; i++) {
		from = random_number(sizeof(bytes));
		size = random_number(sizeof(bytes) - from + 1);
		check_equal(elog_crc32c(0, bytes + from, size),
			    elog_crc32c_tables(0, bytes + from, size));
		check_equal(elog_crc32c(elog_crc32c(0, bytes, from), bytes + from,
					size),
			    elog_crc32c_tables(0, bytes, from + size));
	}
}

static void test_span(void)
{
	struct source source;
	struct elog_ring_reader *ring = &source.rings[0];
	unsigned char payload[152] = { 0 };
	int fd = new_file();

	open_source(&source, fd, 1024);
	check_equal(elog_ring_span(ring, 4096), 0);
	put_record(&source, 0, EVENTLOG_RECORD_EVENT, payload, 152);
	put_record(&source, 0, EVENTLOG_RECORD_EVENT, payload, 152);
	check_equal(elog_ring_span(ring, 4096), 368);
	check_equal(elog_ring_span(ring, 368), 368);
	check_equal(elog_ring_span(ring, 367), 184);
	check_equal(elog_ring_span(ring, 1), 184);
	ring->end = ring->position + 1024 + 184;
	check_equal(elog_ring_span(ring, 4096), 1024);
	ring->end = ring->position + RING_BYTES + 8;
	check_equal(elog_ring_span(ring, 4096), -EBADMSG);
	ring->end = ring->position + 12;
	check_equal(elog_ring_span(ring, 4096), -EBADMSG);
	ring->end = ring->position + 184;
	memset(source.bytes[0] + 1024, 0, 4);
	check_equal(elog_ring_span(ring, 100), -EBADMSG);
	close_source(&source, false);
	close(fd);
}

static void check_whole(const struct result *result, uint64_t events)
{
	check_equal(result->end, 0);
	check_equal(result->events, events);
	check_equal(result->wrong, 0);
	check_equal(result->disordered, 0);
	check_equal(result->damages, 0);
}

static void test_round_trip(void)
{
	static const uint64_t positions[] = { 0, 1024, 0xffffff00, 1ULL << 40 };
	const struct elog_schema_event *event = NULL;
	struct elog_file_reader *reader;
	struct source source;
	struct elog_item item;
	struct result result;
	size_t i;
	int fd;

	for (i = 0; i < ELOG_ARRAY_SIZE(positions); i++) {
		fd = new_file();
		write_part(&source, fd, 1000, positions[i], true);
		lseek(fd, 0, SEEK_SET);
		read_all(fd, &result);
		check_whole(&result, 1000);
		check_equal(result.parts, 1);
		check_equal(result.lost, 15);
		close(fd);
	}

	fd = new_file();
	write_part(&source, fd, 10, 0, true);
	lseek(fd, 0, SEEK_SET);
	check_equal(elog_file_reader_open(&reader, fd), 0);
	check_equal(elog_file_next(reader, &item), 1);
	check_equal(item.type, ELOG_ITEM_PART);
	check_string(elog_file_info(reader, "version"), "1");
	check_string(elog_file_info(reader, "elog"), "test 1");
	check_string(elog_file_info(reader, "command"), "make it up");
	check_string(elog_file_info(reader, "cpus"), "3");
	check(!elog_file_info(reader, "cpu"));
	check(elog_file_wall_offset(reader) > 0);
	check_equal(elog_file_next(reader, &item), 1);
	check_equal(item.type, ELOG_ITEM_EVENT);
	check_equal(elog_file_describe(reader, 2, &event), -ENOENT);
	check_equal(elog_file_describe(reader, 1, &event), 0);
	check_string(event ? event->name : "", "numbered");
	check_string(elog_processes_name(elog_file_processes(reader), 100, 200),
		     "main");
	check_string(elog_processes_name(elog_file_processes(reader), 102, 202),
		     "worker");
	check_string(elog_processes_name(elog_file_processes(reader), 1, 1), ":1");
	elog_file_reader_close(reader);
	elog_file_reader_close(NULL);
	elog_file_writer_close(NULL);
	close(fd);
}

/* Byte for byte through a pipe, as it is written. */
static void test_pipe(void)
{
	struct source source;
	struct result result;
	int ends[2], status;
	pid_t child;

	check_equal(pipe2(ends, O_CLOEXEC), 0);
	fflush(stdout);
	child = fork();
	if (!child) {
		close(ends[0]);
		write_part(&source, ends[1], 2000, 0, true);
		fflush(stdout);
		_exit(failures != 0);
	}
	close(ends[1]);
	read_all(ends[0], &result);
	check_whole(&result, 2000);
	check_equal(result.lost, 15);
	close(ends[0]);
	check_equal(waitpid(child, &status, 0), child);
	check_equal(status, 0);
}

static void test_appended(void)
{
	struct source source;
	struct result result;
	uint64_t whole;
	int fd = new_file();

	write_part(&source, fd, 300, 4096, true);
	write_part(&source, fd, 200, 0, true);
	lseek(fd, 0, SEEK_SET);
	read_all(fd, &result);
	check_whole(&result, 500);
	check_equal(result.parts, 2);
	check_equal(result.lost, 30);

	/* A capture that was killed within a block, and one more behind it. */
	whole = (uint64_t)lseek(fd, 0, SEEK_END);
	write_part(&source, fd, 300, 0, true);
	check_equal(ftruncate(fd, (off_t)whole + 5001), 0);
	lseek(fd, 0, SEEK_END);
	write_part(&source, fd, 100, 0, true);
	lseek(fd, 0, SEEK_SET);
	read_all(fd, &result);
	check_equal(result.end, 0);
	check_equal(result.parts, 4);
	check(result.events > 600 && result.events < 900);
	check_equal(result.wrong, 0);
	check_equal(result.disordered, 0);
	check_equal(result.damage[ELOG_DAMAGE_BYTES], 1);
	check_equal(result.damage[ELOG_DAMAGE_NO_END], 1);
	check_equal(result.damages, 2);
	close(fd);
}

static unsigned char *load(int fd, size_t *size)
{
	unsigned char *bytes;

	*size = (size_t)lseek(fd, 0, SEEK_END);
	bytes = malloc(*size);
	check_equal(pread(fd, bytes, *size, 0), *size);
	return bytes;
}

static void store(int fd, const void *bytes, size_t size)
{
	check_equal(ftruncate(fd, 0), 0);
	check_equal(pwrite(fd, bytes, size, 0), size);
	lseek(fd, 0, SEEK_SET);
}

static void test_cut(void)
{
	struct source source;
	struct result result;
	size_t size, cut, block;
	unsigned char *bytes;
	uint64_t least, before = 0;
	int fd = new_file();

	write_part(&source, fd, 90, 0, true);
	bytes = load(fd, &size);
	for (cut = 0; cut < size; cut++) {
		store(fd, bytes, cut);
		read_all(fd, &result);
		check_equal(result.wrong, 0);
		check_equal(result.disordered, 0);
		if (result.end) {
			/* Not even the first block is whole. */
			check_equal(result.end, -EBADMSG);
			check(cut < 1024);
			continue;
		}
		for (least = 0, block = 0; block < source.blocks; block++)
			if (source.block[block].end <= cut)
				least = source.block[block].stored;
		check(result.events >= least);
		check(result.events >= before);
		before = result.events;
		check_equal(result.damages, 1);
		check_equal(result.damage[ELOG_DAMAGE_CUT] +
			    result.damage[ELOG_DAMAGE_NO_END], 1);
	}
	check_equal(before, 90);
	store(fd, bytes, size);
	read_all(fd, &result);
	check_whole(&result, 90);
	free(bytes);
	close(fd);
}

static size_t mutate(unsigned char *bytes, size_t size, size_t room)
{
	size_t at = random_number(size), from = random_number(size), i;
	size_t length = 1 + random_number(random_number(8) ? 16 : 2000);

	if (length > size - at)
		length = size - at;
	switch (random_number(6)) {
	case 0:
		bytes[at] ^= (unsigned char)(1U << random_number(8));
		break;
	case 1:
		for (i = 0; i < length; i++)
			bytes[at + i] = (unsigned char)random_number(256);
		break;
	case 2:
		if (size + length > room)
			break;
		memmove(bytes + at + length, bytes + at, size - at);
		for (i = 0; i < length; i++)
			bytes[at + i] = (unsigned char)random_number(256);
		size += length;
		break;
	case 3:
		memmove(bytes + at, bytes + at + length, size - at - length);
		size -= length;
		break;
	case 4:
		if (length > size - from)
			length = size - from;
		memmove(bytes + at, bytes + from, length);
		break;
	default:
		size = at + 1;
		break;
	}
	return size ? size : 1;
}

/* Whatever happens to a file: what is yielded was written. */
static void test_mutations(void)
{
	size_t size, room, mutated, i, count;
	unsigned char *bytes, *copy;
	uint64_t yielded = 0, unnoticed = 0;
	struct source source;
	struct result result;
	int fd = new_file();

	write_part(&source, fd, 30, 0, true);
	bytes = load(fd, &size);
	room = size + 8000;
	copy = malloc(room);
	for (i = 0; i < MUTATIONS && failures < 10; i++) {
		memcpy(copy, bytes, size);
		mutated = size;
		for (count = 1 + random_number(3); count; count--)
			mutated = mutate(copy, mutated, room);
		store(fd, copy, mutated);
		read_all(fd, &result);
		check(result.end == 0 || result.end == -EBADMSG);
		check_equal(result.wrong, 0);
		yielded += result.events;
		/* Only padding, and what was put behind the end, is not covered. */
		if (result.end == 0 && !result.damages)
			unnoticed++;
		if (!result.damages && !result.end)
			check_equal(result.events, 30);
	}
	printf("# %zu files yielded %llu events, %llu were as good as whole\n", i,
	       (unsigned long long)yielded, (unsigned long long)unnoticed);
	check(yielded > MUTATIONS);
	check(unnoticed < MUTATIONS / 20);
	free(copy);
	free(bytes);
	close(fd);
}

static void seal(unsigned char *block)
{
	struct elog_block_header header;

	memcpy(&header, block, sizeof(header));
	header.body_crc = htole32(elog_crc32c(0, block + sizeof(header),
					      le32toh(header.size)));
	header.header_crc = htole32(elog_crc32c(0, &header, 28));
	memcpy(block, &header, sizeof(header));
}

static size_t block_size(const unsigned char *block)
{
	struct elog_block_header header;

	memcpy(&header, block, sizeof(header));
	return sizeof(header) + ((le32toh(header.size) + 7U) & ~7U);
}

/* Nonsense with checksums that are right: reading ends, and stays in bounds. */
static void test_sealed(void)
{
	size_t size, at, body, i, count, offset;
	unsigned char *bytes, *copy;
	struct source source;
	struct result result;
	uint64_t yielded = 0;
	int fd = new_file();

	write_part(&source, fd, 30, 0, true);
	bytes = load(fd, &size);
	copy = malloc(size);
	for (i = 0; i < SEALED; i++) {
		memcpy(copy, bytes, size);
		for (count = 1 + random_number(4); count; count--) {
			offset = random_number(size);
			for (at = 0; at + block_size(copy + at) <= offset;)
				at += block_size(copy + at);
			body = at + sizeof(struct elog_block_header);
			if (offset < body)
				offset = at + 8 + random_number(8);
			else if (!random_number(2))
				offset = body + random_number(40);
			if (offset < at + block_size(copy + at))
				copy[offset] = (unsigned char)
					(random_number(2) ? random_number(256) :
					 255 * random_number(2));
			seal(copy + at);
		}
		store(fd, copy, size);
		read_all(fd, &result);
		yielded += result.events;
	}
	check(yielded > SEALED);
	free(copy);
	free(bytes);
	close(fd);
}

static void put_block(int fd, uint32_t type, uint32_t flags, uint32_t size,
		      const void *body, size_t stored)
{
	struct elog_block_header header = {
		.type = htole32(type),
		.flags = htole32(flags),
		.size = htole32(size),
		.raw_size = htole32(size),
	};

	memcpy(header.magic, ELOG_FILE_MAGIC, 8);
	header.body_crc = htole32(elog_crc32c(0, body, stored));
	header.header_crc = htole32(elog_crc32c(0, &header, 28));
	check_equal(write(fd, &header, sizeof(header)), sizeof(header));
	check_equal(write(fd, body, stored), stored);
	check_equal(write(fd, "\0\0\0\0\0\0\0", -stored & 7), -stored & 7);
}

static int begin_file(const char *info)
{
	int fd = new_file();

	put_block(fd, ELOG_BLOCK_FILE, 0, (uint32_t)strlen(info), info,
		  strlen(info));
	return fd;
}

#define INFO_HERE (ELOG_BLOCK_NATIVE ? "version 1\nbyte_order big\n" : \
		   "version 1\nbyte_order little\n")

static void read_and_close(int fd, struct result *result)
{
	lseek(fd, 0, SEEK_SET);
	read_all(fd, result);
	close(fd);
}

static void test_hostile(void)
{
	struct eventlog_record latest = {
		.size_flags = sizeof(latest),
		.time = UINT64_MAX,
	};
	unsigned char data[16 + sizeof(latest)] = { 0 };
	struct elog_block_end end = { 0 };
	struct result result;
	unsigned int i;
	int fd;

	read_and_close(new_file(), &result);
	check_equal(result.end, -EBADMSG);
	fd = new_file();
	check_equal(write(fd, schema, sizeof(schema)), sizeof(schema));
	read_and_close(fd, &result);
	check_equal(result.end, -EBADMSG);

	read_and_close(begin_file("version 2\nbyte_order little\n"), &result);
	check_equal(result.end, -EPROTONOSUPPORT);
	read_and_close(begin_file("byte_order little\n"), &result);
	check_equal(result.end, -EPROTONOSUPPORT);
	read_and_close(begin_file(ELOG_BLOCK_NATIVE ?
				  "version 1\nbyte_order little\n" :
				  "version 1\nbyte_order big\n"), &result);
	check_equal(result.end, -EOPNOTSUPP);

	/* Sizes beyond everything, and ones that are not kept. */
	fd = begin_file(INFO_HERE);
	put_block(fd, ELOG_BLOCK_DATA, ELOG_BLOCK_NATIVE, UINT32_MAX, data, 16);
	put_block(fd, ELOG_BLOCK_DATA, ELOG_BLOCK_NATIVE, ELOG_BLOCK_MAX + 1,
		  data, 16);
	for (i = 0; i < 2000; i++)
		put_block(fd, ELOG_BLOCK_DATA, ELOG_BLOCK_NATIVE, ELOG_BLOCK_MAX,
			  data, 16);
	put_block(fd, ELOG_BLOCK_END, 0, sizeof(end), &end, sizeof(end));
	read_and_close(fd, &result);
	check_equal(result.end, 0);
	check_equal(result.damages, 1);
	check_equal(result.bytes[ELOG_DAMAGE_BYTES], 2002 * 48);

	/* Unknown blocks are fine, unknown flags are not. */
	fd = begin_file(INFO_HERE);
	put_block(fd, 99, 0, 5, "hello", 5);
	put_block(fd, ELOG_BLOCK_INDEX, 0, 0, "", 0);
	put_block(fd, ELOG_BLOCK_SCHEMA, ELOG_BLOCK_ZSTD, 5, "hello", 5);
	put_block(fd, ELOG_BLOCK_SCHEMA, 0, 5, "hello", 5);
	put_block(fd, ELOG_BLOCK_END, 0, sizeof(end), &end, sizeof(end));
	read_and_close(fd, &result);
	check_equal(result.damage[ELOG_DAMAGE_UNKNOWN], 1);
	check_equal(result.damage[ELOG_DAMAGE_BYTES], 1);
	check_equal(result.damages, 2);

	/* The latest time there can be; a size of nothing; a CPU too many. */
	fd = begin_file(INFO_HERE);
	memcpy(data + 16, &latest, sizeof(latest));
	put_block(fd, ELOG_BLOCK_DATA, ELOG_BLOCK_NATIVE, sizeof(data), data,
		  sizeof(data));
	memset(data + 8, 0, sizeof(data) - 8);
	data[0] = 1;
	put_block(fd, ELOG_BLOCK_DATA, ELOG_BLOCK_NATIVE, sizeof(data), data,
		  sizeof(data));
	data[1] = 0x10;
	put_block(fd, ELOG_BLOCK_DATA, ELOG_BLOCK_NATIVE, sizeof(data), data,
		  sizeof(data));
	put_block(fd, ELOG_BLOCK_END, 0, sizeof(end), &end, sizeof(end));
	read_and_close(fd, &result);
	check_equal(result.end, 0);
	check_equal(result.events, 0);
	check_equal(result.bytes[ELOG_DAMAGE_RECORDS], 64);
	check_equal(result.damage[ELOG_DAMAGE_BYTES], 1);
}

/* A block that was taken out whole, and one that is there twice. */
static void test_missing(void)
{
	size_t size, at, length, found = 0;
	struct elog_block_header header;
	unsigned char *bytes, *copy;
	struct source source;
	struct result result;
	int fd = new_file();

	write_part(&source, fd, 100, 0, true);
	bytes = load(fd, &size);
	copy = malloc(2 * size);
	for (at = 0; at < size; at += length) {
		length = block_size(bytes + at);
		memcpy(&header, bytes + at, sizeof(header));
		if (le32toh(header.type) != ELOG_BLOCK_DATA)
			continue;
		found++;
		memcpy(copy, bytes, at);
		memcpy(copy + at, bytes + at + length, size - at - length);
		store(fd, copy, size - length);
		read_all(fd, &result);
		check(result.events <= 100);
		check_equal(result.damage[ELOG_DAMAGE_MISSING], 1);

		memcpy(copy, bytes, at + length);
		memcpy(copy + at + length, bytes + at, size - at);
		store(fd, copy, size + length);
		read_all(fd, &result);
		check_equal(result.events, 100);
		check_equal(result.damages, 1);
		check_equal(result.disordered, 0);
	}
	check(found > CPUS);
	free(copy);
	free(bytes);
	close(fd);
}

/* More between two SYNCs than is held: it says so, and goes on. */
static void test_cap(void)
{
	enum { BLOCKS = 300, BYTES = 1 << 20 };
	struct eventlog_record record = { .size_flags = BYTES / 2 };
	unsigned char *data = calloc(1, BYTES);
	struct elog_file_writer *writer;
	const struct elog_file_options options = { .size = sizeof(options) };
	struct result result;
	uint64_t block;
	int fd = new_file();

	check_equal(elog_file_writer_open(&writer, fd, &options), 0);
	for (block = 0; block < BLOCKS; block++) {
		record.time = block;
		memcpy(data, &record, sizeof(record));
		memcpy(data + BYTES / 2, &record, sizeof(record));
		check_equal(elog_file_write_raw(writer, 0, data, BYTES,
						block * BYTES), 0);
	}
	check_equal(elog_file_write_end(writer, 2 * BLOCKS, 0), 0);
	elog_file_writer_close(writer);
	read_and_close(fd, &result);
	check_equal(result.end, 0);
	check_equal(result.events, 2 * BLOCKS);
	check_equal(result.damage[ELOG_DAMAGE_ORDER], 1);
	check_equal(result.damages, 1);
	free(data);
}

static bool give_up(void *context)
{
	return ++*(unsigned int *)context > 2;
}

static void test_write_errors(void)
{
	struct elog_file_options options = {
		.size = sizeof(options),
		.interrupted = give_up,
	};
	struct elog_file_writer *writer;
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	check_equal(elog_file_writer_open(&writer, fd, &options), -ENOSPC);
	close(fd);
	options.flags = 1;
	check_equal(elog_file_writer_open(&writer, fd, &options), -EINVAL);
	options.flags = 0;
	fd = new_file();
	check_equal(elog_file_writer_open(&writer, fd, &options), 0);
	check_equal(elog_file_write_raw(writer, ELOG_FILE_CPUS_MAX, "", 0, 0),
		    -EINVAL);
	check_equal(elog_file_write_sync(writer, 0, NULL, 5000), -EINVAL);
	check_equal(elog_file_write_end(writer, 0, 0), 0);
	check_equal(elog_file_writer_size(writer), lseek(fd, 0, SEEK_END));
	elog_file_writer_close(writer);
	close(fd);
}

static void seed(void)
{
	random_state = 88172645463325252ULL;
}

int main(void)
{
	static const struct test tests[] = {
		{ "CRC-32C: known sums, and both ways agree", test_crc },
		{ "spans of a ring are whole records in one piece", test_span },
		{ "what is written comes back in order", test_round_trip },
		{ "through a pipe", test_pipe },
		{ "parts one after another, also behind a torn one", test_appended },
		{ "cut anywhere, all whole blocks are read", test_cut },
		{ "mutations yield only what was written", test_mutations },
		{ "nonsense with right checksums does no harm", test_sealed },
		{ "hostile sizes, times and numbers", test_hostile },
		{ "blocks missing, and there twice", test_missing },
		{ "too much between two SYNC blocks", test_cap },
		{ "errors of writing", test_write_errors },
	};

	return run_tests(tests, ELOG_ARRAY_SIZE(tests), seed);
}
