// SPDX-License-Identifier: LGPL-2.1-only
/*
 * libFuzzer target: the bytes of an .elog file. It is read from one end to the other,
 * while it grows, from the middle on, and together with itself; all items are described
 * and formatted. A growing file must give the same items as a whole one.
 *
 * Checksums would reject almost all mutated files, so they are corrected first. Likewise, a
 * body that is compressed is sometimes changed in its decompressed form.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elog.h"
#include "file/blocks.h"
#include "file/zstd.h"
#include "unexported/reader.h"
#include "util/text.h"
#include "util/util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room,
			       unsigned int seed);

struct seen {
	uint64_t events;
	uint64_t losses;
	uint64_t sum;
	int64_t wall;		/* time of an event in the middle */
};

static void use(struct elog_reader *reader, const struct elog_item *item,
		struct elog_text *text, struct seen *seen)
{
	const struct elog_schema_event *event;
	uint64_t generation;
	unsigned int i;

	text->size = 0;
	switch (item->type) {
	case ELOG_ITEM_EVENT:
		seen->events++;
		seen->sum = seen->sum * 31 + item->time;
		if (!(seen->events & (seen->events - 1)))
			seen->wall = (int64_t)(item->time + (uint64_t)
					       elog_reader_wall_offset(reader));
		if (!elog_reader_describe(reader, item->descriptor, &event)) {
			generation = elog_reader_generation(reader);
			elog_format_fields(text, event, item->payload,
					   item->payload_size);
			if (elog_reader_generation(reader) != generation)
				abort();
		}
		elog_text_put(text, item->payload, item->payload_size);
		elog_text_string(text, elog_processes_name(
			elog_reader_processes(reader), item->pid, item->tid));
		break;
	case ELOG_ITEM_LOST:
		for (i = 0; i < item->lost_count; i++)
			seen->losses += item->lost[i];
		break;
	case ELOG_ITEM_PART:
		elog_reader_info(reader, "host");
		break;
	case ELOG_ITEM_SYNC:
		break;
	case ELOG_ITEM_DAMAGE:
		if (item->damage >= ELOG_DAMAGES)
			abort();
		break;
	}
}

static int read_on(struct elog_reader *reader, struct elog_text *text,
		   struct seen *seen)
{
	uint64_t done, total;
	struct elog_item item;
	int ret;

	while ((ret = elog_reader_next(reader, &item)) > 0)
		use(reader, &item, text, seen);
	if (elog_reader_progress(reader, &done, &total) || done > total)
		abort();
	return ret;
}

static struct elog_reader *begin(int fd)
{
	struct elog_reader *reader;

	lseek(fd, 0, SEEK_SET);
	if (elog_reader_open(&reader, fd))
		exit(1);
	return reader;
}

static void read_growing(int fd, const uint8_t *data, size_t size, size_t step,
			 struct elog_text *text, struct seen *seen)
{
	struct elog_reader *reader = begin(fd);
	size_t at, more;

	if (ftruncate(fd, 0) || elog_reader_follow(reader, true))
		abort();
	for (at = 0; at < size; at += more) {
		more = step < size - at ? step : size - at;
		if (pwrite(fd, data + at, more, (off_t)at) != (ssize_t)more)
			exit(1);
		if (read_on(reader, text, seen) != -EAGAIN)
			break;
	}
	elog_reader_follow(reader, false);
	read_on(reader, text, seen);
	elog_reader_close(reader);
}

static void read_set(int fd, int again, struct elog_text *text)
{
	struct elog_reader *reader;
	struct elog_reader_set *set;
	struct seen seen = { 0 };
	struct elog_item item;
	int ret;

	lseek(fd, 0, SEEK_SET);
	lseek(again, 0, SEEK_SET);
	if (elog_reader_set_open(&set) || elog_reader_set_add(set, fd, &reader) ||
	    elog_reader_set_add(set, again, &reader))
		exit(1);
	while ((ret = elog_reader_set_next(set, &item, &reader)))
		if (ret == 1)
			use(reader, &item, text, &seen);
	elog_reader_set_close(set);
}

static int open_again(int fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDONLY | O_CLOEXEC);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen whole = { 0 }, growing = { 0 }, late = { 0 };
	struct elog_reader *reader;
	struct elog_text text = { 0 };
	static int fd = -1, again = -1;

	if (fd < 0) {
		fd = memfd_create("elog", MFD_CLOEXEC);
		again = open_again(fd);
		if (fd < 0 || again < 0)
			exit(1);
	}
	read_growing(fd, data, size, size / 3 + 1, &text, &growing);

	reader = begin(fd);
	read_on(reader, &text, &whole);
	elog_reader_close(reader);
	if (whole.events != growing.events || whole.losses != growing.losses ||
	    whole.sum != growing.sum)
		abort();

	reader = begin(fd);
	if (!elog_reader_seek(reader, (uint64_t)whole.wall))
		read_on(reader, &text, &late);
	elog_reader_close(reader);

	read_set(fd, again, &text);
	elog_text_free(&text);
	return 0;
}

/* Correct the checksums of all blocks that are within the file. */
static void correct_checksums(uint8_t *data, size_t size)
{
	struct elog_block_header header;
	uint8_t *at = data;
	size_t left;

	while ((at = memmem(at, size - (size_t)(at - data), ELOG_FILE_MAGIC, 8))) {
		left = size - (size_t)(at - data);
		if (left < sizeof(header))
			return;
		memcpy(&header, at, sizeof(header));
		if (le32toh(header.size) <= left - sizeof(header))
			header.body_crc = htole32(elog_crc32c(0, at + sizeof(header),
							      le32toh(header.size)));
		header.header_crc = htole32(elog_crc32c(0, &header, 28));
		memcpy(at, &header, sizeof(header));
		at += sizeof(header);
	}
}

/* The first compressed block at or behind @at that is whole. Return: NULL: there is none. */
static uint8_t *find_compressed(uint8_t *at, const uint8_t *end, struct elog_block_header *header)
{
	for (; (at = memmem(at, (size_t)(end - at), ELOG_FILE_MAGIC, 8)); at++) {
		if ((size_t)(end - at) < sizeof(*header))
			return NULL;
		memcpy(header, at, sizeof(*header));
		if (le32toh(header->flags) & ELOG_BLOCK_ZSTD &&
		    le32toh(header->size) <= (size_t)(end - at) - sizeof(*header))
			return at;
	}
	return NULL;
}

/* Mutate the decompressed body of a block. Return: the new size, or the old one. */
static size_t mutate_body(uint8_t *data, size_t size, size_t room, uint8_t *at,
			  struct elog_block_header *header)
{
	static struct elog_decompressor *decompressor;
	static struct elog_compressor *compressor;
	uint32_t body_size = le32toh(header->raw_size), old = le32toh(header->size);
	uint8_t *from = at + sizeof(*header), *body;
	const unsigned char *decompressed;
	struct iovec part;
	const void *stored;
	size_t bytes, tail;

	if (body_size > room || (!compressor && elog_compressor_new(&compressor, 1)) ||
	    elog_decompress(&decompressor, from, old, body_size, &decompressed))
		return size;
	body = malloc(body_size + 64);
	if (!body)
		exit(1);
	memcpy(body, decompressed, body_size);
	part.iov_base = body;
	part.iov_len = LLVMFuzzerMutate(body, body_size, body_size + 64);
	bytes = elog_compress(compressor, &part, 1, &stored);
	old = (old + ELOG_BLOCK_ALIGN - 1) & ~(uint32_t)(ELOG_BLOCK_ALIGN - 1);
	tail = size - (size_t)(from - data);
	if (bytes && old <= tail) {
		const size_t padded = (bytes + ELOG_BLOCK_ALIGN - 1) &
				      ~(size_t)(ELOG_BLOCK_ALIGN - 1);

		if (size - old + padded <= room) {
			memmove(from + padded, from + old, tail - old);
			memset(from, 0, padded);
			memcpy(from, stored, bytes);
			header->size = htole32((uint32_t)bytes);
			header->raw_size = htole32((uint32_t)part.iov_len);
			memcpy(at, header, sizeof(*header));
			size = size - old + padded;
		}
	}
	free(body);
	return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room,
			       unsigned int seed)
{
	struct elog_block_header header;
	uint8_t *at = NULL;

	if (size && seed % 4 == 1)
		at = find_compressed(data + seed / 8 % size, data + size, &header) ? :
		     find_compressed(data, data + size, &header);
	if (at)
		size = mutate_body(data, size, room, at, &header);
	else
		size = LLVMFuzzerMutate(data, size, room);
	if (seed % 8)
		correct_checksums(data, size);
	return size;
}
