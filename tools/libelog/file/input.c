// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Finding blocks in .elog files, which need not be valid: the blocks with correct
 * checksums, wherever they are. After damage, every byte is tried.
 *
 * Memory: one block, allocated as its bytes are read, not as its header claims. Time:
 * each byte is read once, and wrong checksums are computed at most a few times per
 * byte.
 *
 * No locks and nothing global: an input belongs to one reader.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "elog.h"
#include "file/blocks.h"
#include "file/input.h"
#include "util/util.h"

#define MAGIC_BYTES	8
#define INPUT_BYTES	(64U << 10)	/* initially */
#define INPUT_BYTES_MAX	(2 * (ELOG_BLOCK_MAX + 4096U))
#define TORN_NS		1000000000ULL	/* give up an incomplete block after this */
#define PART_INFO_MAX	65536U		/* of a FILE block's body */

_Static_assert(sizeof(struct elog_block_header) == 32, "as documented");

bool elog_block_decode(struct elog_block_header *header)
{
	if (memcmp(header->magic, ELOG_FILE_MAGIC, MAGIC_BYTES))
		return false;
	header->header_crc = le32toh(header->header_crc);
	if (elog_crc32c(0, header, offsetof(struct elog_block_header,
					    header_crc)) != header->header_crc)
		return false;
	header->type = le32toh(header->type);
	header->flags = le32toh(header->flags);
	header->size = le32toh(header->size);
	header->raw_size = le32toh(header->raw_size);
	header->body_crc = le32toh(header->body_crc);
	return header->size <= ELOG_BLOCK_MAX;
}

int elog_input_open(struct elog_input *input, int fd)
{
	input->fd = fd;
	input->bytes = malloc(INPUT_BYTES);
	input->room = INPUT_BYTES;
	return input->bytes ? 0 : -ENOMEM;
}

void elog_input_close(struct elog_input *input)
{
	free(input->bytes);
	input->bytes = NULL;
}

uint64_t elog_input_allowance(const struct elog_input *input)
{
	return ELOG_INPUT_ALLOWANCE +
	       ELOG_INPUT_ALLOWANCE_PER_BYTE * input->bytes_read;
}

static size_t available(const struct elog_input *input)
{
	return input->filled - input->start;
}

static void advance(struct elog_input *input, size_t size)
{
	input->start += size;
	input->offset += size;
}

/* Move bytes only if that frees half of the buffer. */
static int make_room(struct elog_input *input)
{
	unsigned char *larger;
	size_t size = input->room;

	if (input->start >= size / 2 || size == INPUT_BYTES_MAX) {
		memmove(input->bytes, input->bytes + input->start,
			available(input));
		input->filled -= input->start;
		input->start = 0;
		return 0;
	}
	size = size < INPUT_BYTES_MAX / 2 ? size * 2 : INPUT_BYTES_MAX;
	larger = realloc(input->bytes, size);
	if (!larger)
		return -ENOMEM;
	input->bytes = larger;
	input->room = size;
	return 0;
}

/* Return: the number of bytes; 0 the end; or a negative errno. */
static ssize_t read_some(struct elog_input *input, void *data, size_t size)
{
	ssize_t got;

	if (input->callback.read)
		return input->callback.read(input->callback.context, data, size);
	do {
		got = read(input->fd, data, size);
	} while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

/*
 * Read until @wanted bytes are available, or to the end. Return: 0; -EAGAIN not yet,
 * and nothing has changed; another negative errno.
 */
static int fill(struct elog_input *input, size_t wanted)
{
	ssize_t got;
	int ret;

	while (available(input) < wanted && !input->end) {
		if (input->filled == input->room) {
			ret = make_room(input);
			if (ret)
				return ret;
		}
		got = read_some(input, input->bytes + input->filled,
				input->room - input->filled);
		if (got < 0)
			return (int)got;
		if (!got && input->follow)
			return -EAGAIN;
		input->end = !got;
		input->bytes_read += (size_t)got;
		input->filled += (size_t)got;
	}
	return 0;
}

/*
 * No checksum covers padding, so skip only zeros: if some padding is missing, the next
 * block's magic begins.
 */
static int skip_padding(struct elog_input *input)
{
	int ret = 0;

	for (; input->padding; input->padding--) {
		ret = fill(input, 1);
		if (ret || !available(input) || input->bytes[input->start])
			break;
		advance(input, 1);
	}
	if (ret != -EAGAIN)
		input->padding = 0;
	return ret;
}

/* This is not a block: skip to where one may begin. */
static void skip(struct elog_input *input, bool torn)
{
	const unsigned char *from = input->bytes + input->start, *found;
	size_t size = available(input);

	if (!input->skipped)
		input->torn = torn;
	found = memchr(from + 1, ELOG_FILE_MAGIC[0] & 0xff, size - 1);
	if (found)
		size = (size_t)(found - from);
	input->skipped += size;
	advance(input, size);
}

static void end_skip(struct elog_input *input,
		     struct elog_input_gap *gap, bool at_end)
{
	gap->size = input->skipped;
	gap->offset = input->offset - input->skipped;
	gap->cut = input->skipped && at_end && input->torn;
	input->skipped = 0;
}

/* Is there a complete FILE block at @at? Return: -EAGAIN there may be one. */
static int is_part(struct elog_input *input, size_t at)
{
	const unsigned char *from = input->bytes + input->start + at;
	size_t size = available(input) - at;
	struct elog_block_header header;

	if (memcmp(from, ELOG_FILE_MAGIC, size < MAGIC_BYTES ? size : MAGIC_BYTES))
		return false;
	if (size < HEADER_BYTES)
		return -EAGAIN;
	memcpy(&header, from, sizeof(header));
	if (!elog_block_decode(&header) || header.type != ELOG_BLOCK_FILE ||
	    header.size > PART_INFO_MAX)
		return false;
	if (size - HEADER_BYTES < header.size)
		return -EAGAIN;
	if (elog_input_allowance(input) < input->wrong + header.size)
		return false;
	if (elog_crc32c(0, from + HEADER_BYTES, header.size) == header.body_crc)
		return true;
	input->wrong += header.size;
	return false;
}

/*
 * Handle an incomplete block of a file that is followed. If its writer was killed, it
 * stays incomplete, and another writer may have appended a part, which begins where the
 * rest of the block would be. While the block is being written, its bytes may look like
 * that, too, but not for a second.
 *
 * Return: true if everything before the new part was skipped.
 */
static bool skip_torn(struct elog_input *input)
{
	const unsigned char *from = input->bytes + input->start, *found;
	uint64_t now;
	int ret;

	if (input->waiting != input->offset || !input->searched) {
		input->waiting = input->offset;
		input->searched = HEADER_BYTES;
		input->begun = 0;
	}
	while (!input->begun) {
		found = memchr(from + input->searched, ELOG_FILE_MAGIC[0] & 0xff,
			       available(input) - input->searched);
		if (!found) {
			input->searched = available(input);
			return false;
		}
		input->searched = (size_t)(found - from);
		ret = is_part(input, input->searched);
		if (ret < 0)
			return false;
		if (ret)
			break;
		input->searched++;
	}
	now = elog_clock_read(CLOCK_MONOTONIC_COARSE);
	if (!input->begun)
		input->begun = now ? now : 1;
	if (now - input->begun < TORN_NS)
		return false;
	input->torn = true;
	input->skipped += input->searched;
	advance(input, input->searched);
	return true;
}

int elog_input_next(struct elog_input *input,
		    struct elog_block_header *header,
		    const unsigned char **body, struct elog_input_gap *gap)
{
	size_t size;
	int ret;

	ret = skip_padding(input);
	if (ret)
		return ret;
	for (;;) {
		ret = fill(input, HEADER_BYTES);
		if (ret)
			return ret;
		size = available(input);
		if (!size) {
			end_skip(input, gap, true);
			return 0;
		}
		if (size < HEADER_BYTES) {
			size = size < MAGIC_BYTES ? size : MAGIC_BYTES;
			skip(input, !memcmp(input->bytes + input->start,
					    ELOG_FILE_MAGIC, size));
			continue;
		}
		memcpy(header, input->bytes + input->start, sizeof(*header));
		if (!elog_block_decode(header)) {
			skip(input, false);
			continue;
		}
		ret = fill(input, HEADER_BYTES + header->size);
		if (ret == -EAGAIN && input->follow && skip_torn(input))
			continue;
		if (ret)
			return ret;
		if (available(input) < HEADER_BYTES + header->size) {
			skip(input, true);
			continue;
		}
		*body = input->bytes + input->start + HEADER_BYTES;
		if (elog_input_allowance(input) >= input->wrong + header->size) {
			if (elog_crc32c(0, *body, header->size) ==
			    header->body_crc)
				break;
			input->wrong += header->size;
		}
		skip(input, false);
	}
	end_skip(input, gap, false);
	return 1;
}

void elog_input_leave(struct elog_input *input, size_t size)
{
	input->padding = -size & (ELOG_BLOCK_ALIGN - 1);
	advance(input, HEADER_BYTES + size);
}
