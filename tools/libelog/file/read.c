// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Reading .elog files, which need not be valid. elog(5) documents the format.
 *
 * input.c finds blocks. apply.c applies them: it holds DATA, by stream, until a SYNC block
 * says what is complete. Then batch.c merges the records, as a consumer does with
 * rings.
 *
 * Memory: the input holds one block. The held records, the schemas, and the memory kept
 * for later blocks have limits. Time: each byte is read once; schemas are parsed at
 * most a few times per byte.
 *
 * A file may have several parts: captures one after another, each of which begins with
 * a FILE block. If that block is lost, a new part is recognized by positions and
 * schemas that start again.
 *
 * No locks and nothing global: a reader belongs to one thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elog.h"
#include "file/reader.h"
#include "util/process.h"

int elog_reader_open(struct elog_reader **result, int fd)
{
	struct elog_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return -ENOMEM;
	elog_map_init(&reader->definitions, sizeof(struct definition));
	reader->no_ring.cpu = EVENTLOG_CPU_UNKNOWN;
	reader->no_ring.stream = ELOG_STREAM_NONE;
	reader->processes = elog_processes_new_offline();
	if (elog_input_open(&reader->input, fd) || !reader->processes) {
		elog_reader_close(reader);
		return -ENOMEM;
	}
	*result = reader;
	return 0;
}

int elog_reader_open_callback(struct elog_reader **reader,
			      const struct elog_reader_callback *callback)
{
	int ret = elog_reader_open(reader, -1);

	if (ret)
		return ret;
	(*reader)->input.callback = *callback;
	return 0;
}

void elog_reader_close(struct elog_reader *reader)
{
	if (!reader)
		return;
	elog_streams_forget(reader);
	elog_chunks_free(reader, &reader->spent);
	elog_spares_free(reader);
	elog_definitions_forget(reader);
	elog_instances_free(&reader->instances);
	elog_processes_free(reader->processes);
	free(reader->merge.rings);
	free(reader->streams);
	free(reader->info);
	elog_input_close(&reader->input);
	elog_decompressor_free(reader->decompressor);
	free(reader);
}

void elog_damage_note(struct elog_reader *reader, enum elog_damage kind,
		      uint64_t offset, uint64_t size)
{
	struct damage *damage = &reader->damage[kind];

	if (!damage->found)
		damage->offset = offset;
	damage->found = true;
	reader->damaged = true;
	damage->size += size;
	reader->damages++;
	/* Bytes that are not understood may have been blocks. */
	reader->gaps += kind == ELOG_DAMAGE_BYTES || kind == ELOG_DAMAGE_CUT ||
			kind == ELOG_DAMAGE_UNKNOWN;
}

void elog_block_set(struct elog_reader *reader,
		    const struct elog_block_header *header,
		    const unsigned char *body, uint64_t offset)
{
	struct block *block = &reader->block;

	block->there = true;
	block->preloaded = false;
	block->unpacked = !(header->flags & ELOG_BLOCK_ZSTD);
	block->type = header->type;
	block->flags = header->flags;
	block->body = body;
	block->size = header->size;
	block->stored = header->size;
	block->raw_size = header->raw_size;
	block->offset = offset;
	reader->drained = false;
	reader->next_loss = 0;
}

/* Return: 1 there is a block; 0 there is no further one; or a negative errno. */
static int find_block(struct elog_reader *reader)
{
	struct elog_block_header header;
	struct elog_input_gap gap = { 0 };
	const unsigned char *body;
	int ret;

	ret = elog_input_next(&reader->input, &header, &body, &gap);
	if (ret < 0)
		return ret;
	if (gap.size) {
		reader->cut = gap.cut;
		elog_damage_note(reader,
				 gap.cut ? ELOG_DAMAGE_CUT : ELOG_DAMAGE_BYTES,
				 gap.offset, gap.size);
	}
	if (!ret)
		return 0;
	elog_block_set(reader, &header, body, reader->input.offset);
	reader->any = true;
	return 1;
}

int elog_block_leave(struct elog_reader *reader)
{
	reader->block.there = false;
	if (reader->block.preloaded)
		return 0;
	elog_input_leave(&reader->input, reader->block.stored);
	return 0;
}

static bool next_damage(struct elog_reader *reader, struct elog_item *item)
{
	struct damage *damage;
	unsigned int kind;

	if (!reader->damaged)
		return false;
	for (kind = 0; kind < ELOG_DAMAGES; kind++) {
		damage = &reader->damage[kind];
		if (!damage->found)
			continue;
		item->type = ELOG_ITEM_DAMAGE;
		item->damage = (enum elog_damage)kind;
		item->offset = damage->offset;
		item->size = damage->size;
		memset(damage, 0, sizeof(*damage));
		return true;
	}
	reader->damaged = false;
	return false;
}

/* Return: 0 the end; 1 there is more to do; or a negative errno. */
static int end_file(struct elog_reader *reader)
{
	reader->over = true;
	/* Many files may be open: free memory that is not needed any more. */
	elog_spares_free(reader);
	if (!reader->any)
		return -EBADMSG;
	reader->drained = false;
	if (elog_batch_drain(reader))
		return 1;
	if (reader->in_part && !reader->cut)
		elog_damage_note(reader, ELOG_DAMAGE_NO_END, reader->input.offset,
				 0);
	reader->in_part = false;
	return reader->damaged;
}

static int next_item(struct elog_reader *reader, struct elog_item *item)
{
	int ret;

	for (;;) {
		if (next_damage(reader, item))
			return 1;
		if (reader->new_part) {
			reader->new_part = false;
			item->type = ELOG_ITEM_PART;
			return 1;
		}
		if (reader->merging) {
			ret = elog_batch_next(reader, item);
			if (ret)
				return ret;
			/* The caller has no pointer into these: no item was found yet. */
			elog_chunks_free(reader, &reader->spent);
			continue;
		}
		if (reader->block.there) {
			ret = elog_block_apply(reader, item);
			if (ret)
				return ret;
			continue;
		}
		ret = find_block(reader);
		if (!ret) {
			ret = end_file(reader);
			if (!ret)
				return 0;
		}
		if (ret < 0)
			return ret;
	}
}

int elog_reader_next(struct elog_reader *reader, struct elog_item *item)
{
	int ret = reader->error;

	elog_chunks_free(reader, &reader->spent);
	/* Clear it in two steps of a few stores each, which is faster than one call. */
	memset(item, 0, offsetof(struct elog_item, damage));
	memset(&item->damage, 0, sizeof(*item) - offsetof(struct elog_item, damage));
	if (!ret)
		ret = next_item(reader, item);
	if (ret < 0 && ret != -EAGAIN)
		reader->error = ret;
	return ret;
}

int elog_reader_follow(struct elog_reader *reader, bool on)
{
	if (reader->over)
		return -EINVAL;
	reader->input.follow = on;
	if (on)
		reader->input.end = false;
	return 0;
}

int elog_reader_progress(const struct elog_reader *reader, uint64_t *done,
		       uint64_t *total)
{
	struct stat stat;
	off_t at;

	*done = reader->input.bytes_read;
	*total = 0;
	if (reader->input.callback.read)
		return 0;
	if (fstat(reader->input.fd, &stat))
		return -errno;
	if (!S_ISREG(stat.st_mode))
		return 0;
	at = lseek(reader->input.fd, 0, SEEK_CUR);
	*total = *done;
	if (at >= 0 && stat.st_size > at)
		*total += (uint64_t)(stat.st_size - at);
	return 0;
}

struct elog_processes *elog_reader_processes(struct elog_reader *reader)
{
	return reader->processes;
}

const char *elog_reader_info(const struct elog_reader *reader, const char *key)
{
	size_t length = strlen(key);
	const char *line;

	if (!reader->info)
		return NULL;
	for (line = reader->info; *line; line += strlen(line) + 1)
		if (!strncmp(line, key, length) && line[length] == ' ')
			return line + length + 1;
	return NULL;
}

int64_t elog_reader_wall_offset(const struct elog_reader *reader)
{
	return reader->wall_offset;
}
