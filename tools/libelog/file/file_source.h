/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Shared by the tests of .elog files: artificial rings, filled like those of a kernel,
 * which are written to files, and a reader that knows the expected events. Included
 * once by each test program.
 */
#ifndef LIBELOG_FILE_SOURCE_H
#define LIBELOG_FILE_SOURCE_H

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elog.h"
#include "file/blocks.h"
#include "file/index.h"
#include "file/zstd.h"
#include "format/merge.h"
#include "unexported/reader.h"
#include "unexported/writer.h"
#include "util/tap.h"
#include "util/text.h"
#include "util/test_random.h"
#include "util/util.h"

#define CPUS		3
#define RING_BYTES	2048
#define SUB_BYTES	1024
#define PAYLOAD_MAX	200

/* For all sources of open_source(). */
static uint32_t compression;
static uint64_t interval;	/* of checkpoints; 0: as ever */
static uint64_t first_time = 1000;	/* of the first event, in ticks */
static uint64_t tick = 1;	/* the least time between two events, ns */

static const char schema[] =
	"eventlog 1\n"
	"provider test\n"
	"event 1 numbered info -\n"
	"	u32 check\n"
	"	u32 cpu\n"
	"	u64 number\n";

/* Rings, filled like those of a kernel, and what was written from them. */
struct source {
	struct elog_writer *writer;
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

static inline void put_record(struct source *source, unsigned int cpu, uint32_t type,
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

/* The payload of an event: a checksum, CPU and number, and bytes derived from them. */
static inline uint32_t make_payload(unsigned char *payload, unsigned int cpu,
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

/* The bytes of whole records that fit in 700 bytes, but at least one record. */
static inline size_t some_records(const struct elog_ring_reader *ring, size_t size)
{
	const unsigned char *data = ring->data + (ring->position & (RING_BYTES - 1));
	size_t some = 0, bytes;
	uint32_t flags;

	while (some < size) {
		memcpy(&flags, data + some, sizeof(flags));
		bytes = ((flags & EVENTLOG_RECORD_SIZE_MASK) + 7) & ~7U;
		check(bytes >= 8 && bytes <= size - some);
		if (some && some + bytes > 700)
			break;
		some += bytes;
	}
	return some;
}

/* Store all of the records, in several blocks if they are many. */
static inline int store_records(struct elog_writer *writer, unsigned int cpu, uint32_t stream,
			 const void *data, size_t size, uint64_t position)
{
	ssize_t some;
	size_t at;

	for (at = 0; at < size; at += (size_t)some) {
		some = elog_writer_raw(writer, cpu, stream, (const char *)data + at, size - at,
				       position + at);
		if (some < 0)
			return (int)some;
		check(some > 0);
	}
	return 0;
}

static inline void drain(struct source *source, unsigned int cpu)
{
	struct elog_ring_reader *ring = &source->rings[cpu];
	ssize_t span;

	while ((span = elog_ring_span(ring)) > 0) {
		const unsigned char *data = ring->data +
			(ring->position & (RING_BYTES - 1));

		span = (ssize_t)some_records(ring, (size_t)span);
		check_equal(store_records(source->writer, cpu, cpu, data,
					  (size_t)span, ring->position), 0);
		/* What is handed back is overwritten soon. */
		memset((void *)data, 0xa5, (size_t)span);
		ring->position += (uint64_t)span;
	}
	check_equal(span, 0);
}

static inline void emit(struct source *source, unsigned int cpu)
{
	unsigned char payload[PAYLOAD_MAX];
	uint32_t size = make_payload(payload, cpu, source->events);

	if (source->rings[cpu].end - source->rings[cpu].position >
	    RING_BYTES - 600)
		drain(source, cpu);
	source->clock += tick * (1 + random_number(3));
	put_record(source, cpu, EVENTLOG_RECORD_EVENT, payload, size);
	source->events++;
}

static inline void lose(struct source *source, unsigned int cpu)
{
	struct eventlog_lost_counts counts = { { 0 } };

	source->lost[cpu] += 5;
	counts.lost[EVENTLOG_LOST_NO_ROOM] = source->lost[cpu];
	put_record(source, cpu, EVENTLOG_RECORD_LOST, &counts, sizeof(counts));
}

static inline void sync_all(struct source *source, uint64_t time)
{
	struct elog_writer_loss losses[CPUS] = { 0 };
	uint64_t lost[CPUS][EVENTLOG_LOST_CAUSES] = { 0 };
	unsigned int cpu;

	for (cpu = 0; cpu < CPUS; cpu++) {
		drain(source, cpu);
		losses[cpu].cpu = cpu;
		losses[cpu].stream = cpu;
		losses[cpu].lost = lost[cpu];
		losses[cpu].lost_count = EVENTLOG_LOST_CAUSES;
		lost[cpu][EVENTLOG_LOST_NO_ROOM] = source->lost[cpu];
	}
	check_equal(elog_writer_sync(source->writer, time, losses, CPUS), 0);
	if (source->blocks == ELOG_ARRAY_SIZE(source->block))
		return;
	source->block[source->blocks].stored = source->events;
	source->block[source->blocks++].end =
		elog_writer_size(source->writer);
}

static inline void open_source(struct source *source, int fd, uint64_t position)
{
	const struct elog_writer_options options = {
		.size = sizeof(options),
		.program = "test 1",
		.command = "make\nit up",
		.cpus = CPUS,
		.compression = compression,
	};
	unsigned int cpu;

	memset(source, 0, sizeof(*source));
	check_equal(elog_writer_open(&source->writer, fd, &options), 0);
	if (interval)
		elog_writer_interval(source->writer, interval);
	check_equal(elog_writer_schema(source->writer, 1, 7, schema), 0);
	source->clock = first_time * tick;
	for (cpu = 0; cpu < CPUS; cpu++) {
		source->bytes[cpu] = calloc(1, RING_BYTES);
		source->rings[cpu].data = source->bytes[cpu];
		source->rings[cpu].data_bytes = RING_BYTES;
		source->rings[cpu].sub_buffer_bytes = SUB_BYTES;
		source->rings[cpu].position = position;
		source->rings[cpu].end = position;
		check_equal(elog_writer_process(source->writer, 100 + cpu,
						    200 + cpu,
						    cpu ? "worker" : "main"), 0);
	}
}

static inline void close_source(struct source *source, bool end)
{
	unsigned int cpu;

	if (end)
		check_equal(elog_writer_end(source->writer, 15), 0);
	elog_writer_close(source->writer);
	for (cpu = 0; cpu < CPUS; cpu++)
		free(source->bytes[cpu]);
}

static inline int new_file(void)
{
	int fd = memfd_create("elog", MFD_CLOEXEC);

	if (fd < 0) {
		printf("Bail out! memfd_create: %s\n", strerror(errno));
		exit(1);
	}
	return fd;
}

/* Write events on all CPUs, losses, and sometimes a SYNC, not always for all CPUs. */
static inline void write_part(struct source *source, int fd, unsigned int events,
		       uint64_t position, bool end)
{
	unsigned int i;

	open_source(source, fd, position);
	for (i = 0; i < events; i++) {
		emit(source, (unsigned int)random_number(CPUS));
		if (i % 17 == 16)
			drain(source, (unsigned int)random_number(CPUS));
		if (i % 40 == 39)
			sync_all(source, source->clock -
					 tick * random_number(20));
		if (i == events / 2) {
			lose(source, 1);
			lose(source, 2);
		}
	}
	sync_all(source, source->clock + 1);
	/* Behind its last record, so that only the SYNC reports it. */
	source->lost[2] += 5;
	sync_all(source, source->clock + 2);
	close_source(source, end);
}

struct result {
	int end;		/* what elog_reader_next() said at last */
	uint64_t events;
	uint64_t parts;
	uint64_t lost;
	uint64_t disordered;	/* events with a lower number than the one before */
	uint64_t wrong;		/* events that nobody wrote */
	uint64_t damage[ELOG_DAMAGES];
	uint64_t damages;
	uint64_t bytes[ELOG_DAMAGES];
};

static inline bool is_right(const struct elog_item *item)
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

static inline void read_all(int fd, struct result *result)
{
	const struct elog_schema_event *event;
	struct elog_reader *reader;
	struct elog_text text = { 0 };
	uint64_t number, next = 0;
	struct elog_item item;
	unsigned int i;

	memset(result, 0, sizeof(*result));
	check_equal(elog_reader_open(&reader, fd), 0);
	while ((result->end = elog_reader_next(reader, &item)) > 0) {
		switch (item.type) {
		case ELOG_ITEM_EVENT:
			result->events++;
			text.size = 0;
			if (!elog_reader_describe(reader, item.descriptor, &event))
				elog_format_fields(&text, event, item.payload,
						   item.payload_size);
			elog_text_string(&text, elog_processes_name(
				elog_reader_processes(reader), item.pid, item.tid));
			if (!is_right(&item)) {
				result->wrong++;
				break;
			}
			memcpy(&number, (const char *)item.payload + 8, 8);
			result->disordered += number < next;
			next = number + 1;
			break;
		case ELOG_ITEM_LOST:
			for (i = 0; i < item.lost_count; i++)
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
	check_equal(elog_reader_next(reader, &item), result->end);
	elog_text_free(&text);
	elog_reader_close(reader);
}

struct seen {
	int64_t wall;
	uint64_t number;
	unsigned int cpu;
	bool loss;
};

struct sequence {
	struct seen *seen;
	size_t count;
	size_t room;
	size_t next;
	uint64_t bytes_read;
	uint64_t damages;
	uint64_t unnamed;	/* events whose schema or thread is not known */
};

static inline void see(struct sequence *sequence, const struct elog_item *item,
		struct elog_reader *reader)
{
	const struct elog_schema_event *event;
	struct seen *seen;

	sequence->damages += item->type == ELOG_ITEM_DAMAGE;
	if (item->type != ELOG_ITEM_EVENT && item->type != ELOG_ITEM_LOST)
		return;
	if (sequence->count == sequence->room) {
		sequence->room = sequence->room ? 2 * sequence->room : 1024;
		sequence->seen = realloc(sequence->seen, sequence->room *
					 sizeof(*sequence->seen));
	}
	seen = &sequence->seen[sequence->count++];
	/* They are compared byte by byte. */
	memset(seen, 0, sizeof(*seen));
	seen->wall = (int64_t)item->time + elog_reader_wall_offset(reader);
	seen->cpu = item->cpu;
	seen->loss = item->type == ELOG_ITEM_LOST;
	if (seen->loss) {
		seen->number = item->lost[EVENTLOG_LOST_NO_ROOM];
	} else {
		check(is_right(item));
		sequence->unnamed += elog_reader_describe(reader, 1, &event) ||
			strcmp(elog_processes_name(elog_reader_processes(reader),
						   item->pid, item->tid),
			       item->cpu ? "worker" : "main");
		memcpy(&seen->number, (const char *)item->payload + 8, 8);
	}
}

/* Count all events and losses from a time of day on, if that is not 0. */
static inline void read_sequence(int fd, uint64_t from, struct sequence *sequence)
{
	struct elog_reader *reader;
	struct elog_item item;
	uint64_t total;
	int ret;

	memset(sequence, 0, sizeof(*sequence));
	check_equal(elog_reader_open(&reader, fd), 0);
	if (from)
		check_equal(elog_reader_seek(reader, from), 0);
	while ((ret = elog_reader_next(reader, &item)) > 0)
		see(sequence, &item, reader);
	check(ret == 0 || ret == -EBADMSG);
	elog_reader_progress(reader, &sequence->bytes_read, &total);
	elog_reader_close(reader);
}

static inline void check_whole(const struct result *result, uint64_t events)
{
	check_equal(result->end, 0);
	check_equal(result->events, events);
	check_equal(result->wrong, 0);
	check_equal(result->disordered, 0);
	check_equal(result->damages, 0);
}

static inline unsigned char *load(int fd, size_t *size)
{
	unsigned char *bytes;

	*size = (size_t)lseek(fd, 0, SEEK_END);
	bytes = malloc(*size);
	check_equal(pread(fd, bytes, *size, 0), *size);
	return bytes;
}

static inline void store(int fd, const void *bytes, size_t size)
{
	check_equal(ftruncate(fd, 0), 0);
	check_equal(pwrite(fd, bytes, size, 0), size);
	lseek(fd, 0, SEEK_SET);
}

static inline void seal(unsigned char *block)
{
	struct elog_block_header header;

	memcpy(&header, block, sizeof(header));
	header.body_crc = htole32(elog_crc32c(0, block + sizeof(header),
					      le32toh(header.size)));
	header.header_crc = htole32(elog_crc32c(0, &header, 28));
	memcpy(block, &header, sizeof(header));
}

static inline size_t block_size(const unsigned char *block)
{
	struct elog_block_header header;

	memcpy(&header, block, sizeof(header));
	return sizeof(header) + ((le32toh(header.size) + 7U) & ~7U);
}

static inline void put_block(int fd, uint32_t type, uint32_t flags, uint32_t size,
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

static inline int begin_file(const char *info)
{
	int fd = new_file();

	put_block(fd, ELOG_BLOCK_FILE, 0, (uint32_t)strlen(info), info,
		  strlen(info));
	return fd;
}

#define INFO_HERE (ELOG_BLOCK_NATIVE ? "version 2\nbyte_order big\n" : \
		   "version 2\nbyte_order little\n")

static inline void read_and_close(int fd, struct result *result)
{
	lseek(fd, 0, SEEK_SET);
	read_all(fd, result);
	close(fd);
}

#endif /* LIBELOG_FILE_SOURCE_H */
