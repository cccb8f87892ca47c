// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Finding the place in an .elog file where a reader can start without missing events
 * from a given time on. elog(5) documents the END and INDEX blocks.
 *
 * From the end of the file, END blocks lead from part to part, without reading the
 * parts. If an END block is missing, because the file was truncated or is still
 * growing, the headers of all blocks are read from the beginning, without the bodies.
 *
 * Nothing in the file is trusted: an offset must point to a block with correct
 * checksums and with the expected type, place and time. Otherwise the result is an
 * earlier place, at worst the beginning. At most as many bytes are read as the file
 * has.
 *
 * No locks and nothing global.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elog.h"
#include "file/blocks.h"
#include "file/index.h"
#include "file/seek.h"
#include "util/util.h"

#define WINDOW_BYTES	4096
#define INFO_BYTES_MAX	(64U << 10)
#define INDEX_BYTES_MAX	(8U << 20)
#define END_BYTES	(HEADER_BYTES + sizeof(struct elog_block_end))
#define PLAN_BLOCKS_MAX	(1U << 20)

struct search {
	int fd;
	uint64_t base;		/* where reading would begin */
	uint64_t size;		/* bytes from there */
	uint64_t from;
	uint64_t bytes_read;
	uint64_t window;	/* offset of @bytes */
	size_t window_size;
	unsigned char bytes[WINDOW_BYTES];
};

/* Return: 0; -EBADMSG the file is shorter; or a negative errno. */
static int read_at(int fd, uint64_t offset, void *data, size_t size)
{
	ssize_t got;

	while (size) {
		got = pread(fd, data, size, (off_t)offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EBADMSG;
		data = (char *)data + got;
		offset += (uint64_t)got;
		size -= (size_t)got;
	}
	return 0;
}

int elog_block_at(int fd, uint64_t offset, uint32_t most,
		       struct elog_block_header *header, unsigned char **body)
{
	int ret;

	*body = NULL;
	ret = read_at(fd, offset, header, sizeof(*header));
	if (ret)
		return ret;
	if (!elog_block_decode(header) || header->size > most)
		return -EBADMSG;
	*body = malloc(header->size + 1);
	if (!*body)
		return -ENOMEM;
	ret = read_at(fd, offset + HEADER_BYTES, *body, header->size);
	if (!ret && elog_crc32c(0, *body, header->size) != header->body_crc)
		ret = -EBADMSG;
	if (ret) {
		free(*body);
		*body = NULL;
	}
	return ret;
}

/* Read an uncompressed block of a type, with a body of at least @least bytes. */
static int get_block(struct search *search, uint64_t offset, uint32_t type,
		     size_t least, uint32_t most, unsigned char **body,
		     size_t *size)
{
	struct elog_block_header header;
	int ret;

	*body = NULL;
	if (search->bytes_read > search->size)
		return -EBADMSG;
	ret = elog_block_at(search->fd, search->base + offset, most, &header,
				 body);
	search->bytes_read += HEADER_BYTES;
	if (ret)
		return ret;
	search->bytes_read += header.size;
	if (header.type == type && !header.flags && header.size >= least &&
	    header.raw_size == header.size) {
		*size = header.size;
		return 0;
	}
	free(*body);
	*body = NULL;
	return -EBADMSG;
}

/* Is there a FILE block? */
static int check_part(struct search *search, uint64_t offset)
{
	unsigned char *body;
	size_t size;
	int ret;

	ret = get_block(search, offset, ELOG_BLOCK_FILE, 0, INFO_BYTES_MAX, &body,
			&size);
	free(body);
	return ret;
}

/* Fill in @end, in native byte order. */
static int get_end(struct search *search, uint64_t offset,
		   struct elog_block_end *end)
{
	unsigned char *body;
	size_t size;
	int ret;

	ret = get_block(search, offset, ELOG_BLOCK_END, sizeof(*end),
			sizeof(*end), &body, &size);
	if (ret)
		return ret;
	memcpy(end, body, sizeof(*end));
	free(body);
	end->part = le64toh(end->part);
	end->index = le64toh(end->index);
	end->latest = le64toh(end->latest);
	return end->part && end->part <= offset && end->index < end->part ?
	       0 : -EBADMSG;
}

/* Fill in @head, in native byte order. The caller frees @body. */
static int get_index(struct search *search, uint64_t part, uint64_t offset,
		     struct elog_block_index *head, unsigned char **body)
{
	size_t size;
	int ret;

	ret = get_block(search, part + offset, ELOG_BLOCK_INDEX, sizeof(*head),
			INDEX_BYTES_MAX, body, &size);
	if (ret)
		return ret;
	memcpy(head, *body, sizeof(*head));
	head->part = le64toh(head->part);
	head->previous = le64toh(head->previous);
	head->position = le64toh(head->position);
	head->sync = le64toh(head->sync);
	head->time = le64toh(head->time);
	head->latest = le64toh(head->latest);
	head->blocks = le32toh(head->blocks);
	head->streams = le32toh(head->streams);
	head->causes = le32toh(head->causes);
	head->fixed_size = le32toh(head->fixed_size);
	head->offset = le32toh(head->offset);
	if (head->part == offset && head->previous < offset &&
	    head->position <= offset && head->sync < head->position &&
	    head->previous < head->position &&
	    head->blocks <= ELOG_INDEX_BLOCKS_MAX &&
	    head->streams <= ELOG_FILE_STREAMS_MAX + 1 &&
	    head->causes <= ELOG_LOST_CAUSES_MAX &&
	    elog_block_is_head(head->offset, sizeof(*head)) &&
	    elog_block_is_head(head->fixed_size, sizeof(struct elog_block_stream)) &&
	    size == head->offset + head->blocks * sizeof(uint64_t) +
		    head->streams * elog_block_entry_size(head->fixed_size, head->causes))
		return 0;
	free(*body);
	*body = NULL;
	return -EBADMSG;
}

/* The result of a search: a part, and its last INDEX block that may be useful. */
struct found {
	uint64_t part;
	uint64_t index;		/* 0: none */
};

/* Search from the end of the file. Return: 0; -EBADMSG this is not possible. */
static int search_back(struct search *search, struct found *found)
{
	struct elog_block_end end;
	uint64_t at = search->size;
	bool first = true;
	int ret;

	do {
		if (at < END_BYTES)
			return -EBADMSG;
		at -= END_BYTES;
		ret = get_end(search, at, &end);
		if (ret)
			return ret;
		ret = check_part(search, at - end.part);
		if (ret)
			return ret;
		at -= end.part;
		/* Even if everything is earlier, the last INDEX block is useful. */
		if (first || end.latest >= search->from) {
			found->part = at;
			found->index = end.index;
		}
		first = false;
	} while (at);
	return 0;
}

/* Read a header through a window, because blocks may be small. */
static int skim_header(struct search *search, uint64_t offset,
		       struct elog_block_header *header)
{
	size_t size = WINDOW_BYTES;
	int ret;

	if (offset < search->window ||
	    offset + HEADER_BYTES > search->window + search->window_size) {
		if (search->size - offset < HEADER_BYTES ||
		    search->bytes_read > search->size)
			return -EBADMSG;
		if (size > search->size - offset)
			size = (size_t)(search->size - offset);
		search->window_size = 0;
		ret = read_at(search->fd, search->base + offset, search->bytes,
			      size);
		if (ret)
			return ret;
		search->bytes_read += size;
		search->window = offset;
		search->window_size = size;
	}
	memcpy(header, search->bytes + (offset - search->window), sizeof(*header));
	return elog_block_decode(header) ? 0 : -EBADMSG;
}

/* Search from the beginning, as far as blocks are contiguous. Return: 0 or a negative errno. */
static int skim(struct search *search, struct found *found)
{
	struct elog_block_header header;
	struct elog_block_index index;
	struct elog_block_end end;
	uint64_t at, part = 0;
	unsigned char *body;
	bool is_earlier = true;	/* all parts before are earlier */
	int ret;

	for (at = 0; at < search->size;
	     at += HEADER_BYTES + (((uint64_t)header.size + ELOG_BLOCK_ALIGN - 1) &
				   ~(uint64_t)(ELOG_BLOCK_ALIGN - 1))) {
		ret = skim_header(search, at, &header);
		if (ret)
			return ret == -EBADMSG ? 0 : ret;
		switch (header.type) {
		case ELOG_BLOCK_FILE:
			if (!is_earlier || check_part(search, at))
				return 0;
			part = at;
			found->part = at;
			found->index = 0;
			is_earlier = false;
			break;
		case ELOG_BLOCK_INDEX:
			if (get_index(search, part, at - part, &index, &body))
				return 0;
			free(body);
			if (index.latest >= search->from)
				return 0;
			found->index = index.part;
			break;
		case ELOG_BLOCK_END:
			if (get_end(search, at, &end) || end.part != at - part ||
			    end.latest >= search->from)
				return 0;
			is_earlier = true;
			break;
		default:
			if (!at)
				return 0;
			break;
		}
	}
	return 0;
}

static int compare_offsets(const void *one, const void *other)
{
	const uint64_t first = *(const uint64_t *)one;
	const uint64_t second = *(const uint64_t *)other;

	return first < second ? -1 : first > second;
}

/* Add the blocks of an INDEX block to the plan. */
static int add_blocks(struct elog_seek_plan *plan, uint64_t part,
		      const struct elog_block_index *head,
		      const unsigned char *body)
{
	uint64_t *larger, offset;
	uint32_t i;

	if (plan->block_count + head->blocks > PLAN_BLOCKS_MAX)
		return -EBADMSG;
	if (!head->blocks)
		return 0;
	larger = realloc(plan->blocks, (plan->block_count + head->blocks) *
				       sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	plan->blocks = larger;
	for (i = 0; i < head->blocks; i++) {
		memcpy(&offset, body + head->offset + i * sizeof(offset),
		       sizeof(offset));
		offset = le64toh(offset);
		if (!offset || offset >= head->position)
			return -EBADMSG;
		plan->blocks[plan->block_count++] = part + offset;
	}
	return 0;
}

/* Verify the SYNC block right before the position. */
static int check_sync(struct search *search, uint64_t part,
		      const struct elog_block_index *index,
		      struct elog_seek_plan *plan)
{
	struct elog_block_sync sync;
	unsigned char *body;
	size_t size;
	int ret;

	ret = get_block(search, part + index->sync, ELOG_BLOCK_SYNC, sizeof(sync),
			INDEX_BYTES_MAX, &body, &size);
	if (ret)
		return ret;
	memcpy(&sync, body, sizeof(sync));
	free(body);
	plan->wall_offset = (int64_t)(le64toh(sync.realtime) -
				      le64toh(sync.monotonic));
	size = (size + ELOG_BLOCK_ALIGN - 1) & ~(size_t)(ELOG_BLOCK_ALIGN - 1);
	return le64toh(sync.time) == index->time &&
	       index->position - index->sync == HEADER_BYTES + size &&
	       elog_wall_time(index->time, plan->wall_offset) <= index->latest ?
	       0 : -EBADMSG;
}

/* Go back through the INDEX blocks to the last one that omits only earlier records. */
static int follow_index(struct search *search, const struct found *found,
			struct elog_seek_plan *plan)
{
	uint64_t offset = found->index;
	size_t size;
	struct elog_block_index index;
	unsigned char *body;
	int ret = 0;

	for (; !ret && offset; offset = index.previous) {
		ret = get_index(search, found->part, offset, &index, &body);
		if (ret)
			return ret;
		if (!plan->position && index.latest < search->from) {
			size = index.streams * elog_block_entry_size(index.fixed_size,
								     index.causes);
			plan->stream_count = index.streams;
			plan->causes = index.causes;
			plan->fixed_size = index.fixed_size;
			plan->streams = malloc(size + 1);
			ret = plan->streams ? 0 : -ENOMEM;
			if (!ret)
				memcpy(plan->streams, body + index.offset +
				       index.blocks * sizeof(uint64_t), size);
			if (!ret)
				ret = check_sync(search, found->part, &index, plan);
			plan->position = found->part + index.position;
		}
		if (!ret && plan->position)
			ret = add_blocks(plan, found->part, &index, body);
		free(body);
	}
	if (!ret && plan->block_count)
		qsort(plan->blocks, plan->block_count, sizeof(*plan->blocks),
		      compare_offsets);
	return ret;
}

void elog_seek_plan_free(struct elog_seek_plan *plan)
{
	free(plan->blocks);
	free(plan->streams);
	memset(plan, 0, sizeof(*plan));
}

int elog_seek_plan(struct elog_seek_plan *plan, int fd, uint64_t from)
{
	struct search search = { .fd = fd, .from = from };
	struct found found = { 0 };
	struct stat stat;
	off_t base;
	int ret;

	memset(plan, 0, sizeof(*plan));
	if (fstat(fd, &stat))
		return -errno;
	base = lseek(fd, 0, SEEK_CUR);
	if (!S_ISREG(stat.st_mode) || base < 0 || base >= stat.st_size)
		return 0;
	search.base = (uint64_t)base;
	search.size = (uint64_t)(stat.st_size - base);
	ret = search_back(&search, &found);
	if (ret == -EBADMSG) {
		memset(&found, 0, sizeof(found));
		ret = skim(&search, &found);
	}
	if (!ret) {
		ret = follow_index(&search, &found, plan);
		if (ret == -EBADMSG) {
			elog_seek_plan_free(plan);
			ret = 0;
		}
	}
	plan->base = search.base;
	plan->part = found.part;
	plan->bytes_read = search.bytes_read;
	return ret;
}
