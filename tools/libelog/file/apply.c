// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Applying the blocks of .elog files, which need not be valid: elog(5) documents them.
 * DATA is held, by stream, until a SYNC says what is complete.
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elog.h"
#include "file/reader.h"
#include "util/process.h"

#define HELD_BYTES_MAX	(256U << 20)
#define INFO_BYTES_MAX	(64U << 10)
#define SCHEMA_BYTES_MAX (1U << 20)	/* one text */
#define SCHEMAS_BYTES_MAX (32U << 20)	/* all texts */

_Static_assert(sizeof(struct elog_block_schema) == 16, "as documented");
_Static_assert(sizeof(struct elog_block_process) == 24, "as documented");
_Static_assert(sizeof(struct elog_block_processes) == 8, "as documented");
_Static_assert(sizeof(struct elog_block_data) == 24, "as documented");
_Static_assert(sizeof(struct elog_block_loss) == 16, "as documented");
_Static_assert(sizeof(struct elog_block_instance) == 8, "as documented");
_Static_assert(sizeof(struct elog_block_sync) == 48, "as documented");
_Static_assert(sizeof(struct elog_block_end) == 40, "as documented");
_Static_assert(sizeof(struct elog_block_index) == 72, "as documented");
_Static_assert(sizeof(struct elog_block_stream) == 16, "as documented");

static int malformed(struct elog_reader *reader)
{
	elog_damage_note(reader, ELOG_DAMAGE_BYTES, reader->block.offset,
			 HEADER_BYTES + reader->block.stored);
	return elog_block_leave(reader);
}

static int unknown(struct elog_reader *reader)
{
	elog_damage_note(reader, ELOG_DAMAGE_UNKNOWN, reader->block.offset,
			 HEADER_BYTES + reader->block.stored);
	return elog_block_leave(reader);
}

int elog_part_start(struct elog_reader *reader)
{
	struct elog_processes *processes = elog_processes_new_offline();

	if (!processes)
		return -ENOMEM;
	elog_processes_free(reader->processes);
	reader->processes = processes;
	elog_streams_forget(reader);
	elog_definitions_forget(reader);
	elog_instances_free(&reader->instances);
	reader->in_part = true;
	reader->counted = false;
	reader->records = 0;
	return 0;
}

static int apply_file(struct elog_reader *reader)
{
	const struct block *block = &reader->block;
	uint64_t monotonic, boottime, realtime;
	const char *value;
	char *info;
	size_t i;
	int ret;

	if (elog_batch_drain(reader))
		return 0;
	if (block->size > INFO_BYTES_MAX)
		return malformed(reader);
	if (reader->in_part)
		elog_damage_note(reader, ELOG_DAMAGE_NO_END, block->offset, 0);
	/* Make each line a string; an empty string is the last one. */
	info = malloc(block->size + 2);
	if (!info)
		return -ENOMEM;
	for (i = 0; i < block->size; i++)
		info[i] = block->body[i] == '\n' ? '\0' : (char)block->body[i];
	info[i] = '\0';
	info[i + 1] = '\0';
	free(reader->info);
	reader->info = info;
	value = elog_reader_info(reader, "version");
	if (!value || strcmp(value, "2"))
		return -EPROTONOSUPPORT;
	/* Each bit changes the meaning of blocks; this version has none. */
	value = elog_reader_info(reader, "flags");
	if (value && strcmp(value, "0x0"))
		return -EPROTONOSUPPORT;
	value = elog_reader_info(reader, "byte_order");
	if (!value || (strcmp(value, "big") && strcmp(value, "little")))
		return -EOPNOTSUPP;
	value = elog_reader_info(reader, "start");
	if (value && sscanf(value, "%" SCNu64 " %" SCNu64 " %" SCNu64,
			    &monotonic, &boottime, &realtime) == 3)
		reader->wall_offset = (int64_t)(realtime - monotonic);
	ret = elog_part_start(reader);
	if (ret)
		return ret;
	reader->part_damages = reader->damages;
	reader->counted = true;
	reader->new_part = true;
	value = elog_reader_info(reader, "continues");
	reader->continues = value && !strcmp(value, "yes");
	return elog_block_leave(reader);
}

static int apply_schema(struct elog_reader *reader)
{
	const struct block *block = &reader->block;
	struct elog_block_schema head;
	struct definition *old;
	const unsigned char *text;
	size_t size;
	int ret;

	if (block->size < sizeof(head))
		return malformed(reader);
	memcpy(&head, block->body, sizeof(head));
	head.descriptor = le32toh(head.descriptor);
	head.offset = le32toh(head.offset);
	if (!elog_block_is_head(head.offset, sizeof(head)) || head.offset > block->size ||
	    block->size - head.offset > SCHEMA_BYTES_MAX)
		return malformed(reader);
	text = block->body + head.offset;
	size = block->size - head.offset;
	old = elog_definition_find(reader, head.descriptor);
	if (old && old->size == size && !memcmp(old->text, text, size))
		return elog_block_leave(reader);
	if (old) {
		if (elog_batch_drain(reader))
			return 0;
		ret = elog_part_start(reader);
		if (ret)
			return ret;
	}
	if (reader->definition_bytes > SCHEMAS_BYTES_MAX)
		return unknown(reader);
	ret = elog_definition_add(reader, head.descriptor, text, size);
	return ret ? ret : elog_block_leave(reader);
}

static int apply_instance(struct elog_reader *reader)
{
	const struct block *block = &reader->block;
	struct elog_block_instance head;
	const char *name;
	int ret;

	if (block->size < sizeof(head))
		return malformed(reader);
	memcpy(&head, block->body, sizeof(head));
	head.id = le32toh(head.id);
	head.offset = le32toh(head.offset);
	if (!head.id || !elog_block_is_head(head.offset, sizeof(head)) ||
	    head.offset > block->size)
		return malformed(reader);
	name = (const char *)block->body + head.offset;
	if (!elog_instance_valid(name, block->size - head.offset))
		return malformed(reader);
	ret = elog_instances_add(&reader->instances, head.id, name, block->size - head.offset);
	if (ret == -ENOSPC)
		return unknown(reader);
	return ret ? ret : elog_block_leave(reader);
}

static int apply_processes(struct elog_reader *reader)
{
	const struct block *block = &reader->block;
	struct elog_block_process process;
	struct elog_block_processes head;
	size_t at;

	if (block->size < sizeof(head))
		return malformed(reader);
	memcpy(&head, block->body, sizeof(head));
	head.offset = le32toh(head.offset);
	head.entry_size = le32toh(head.entry_size);
	if (!elog_block_is_head(head.offset, sizeof(head)) ||
	    !elog_block_is_head(head.entry_size, sizeof(process)) ||
	    head.offset > block->size || (block->size - head.offset) % head.entry_size)
		return malformed(reader);
	for (at = head.offset; at < block->size; at += head.entry_size) {
		memcpy(&process, block->body + at, sizeof(process));
		process.name[sizeof(process.name) - 1] = '\0';
		elog_processes_learn(reader->processes, le32toh(process.pid),
				     le32toh(process.tid), process.name);
	}
	return elog_block_leave(reader);
}

static int apply_data(struct elog_reader *reader)
{
	const struct block *block = &reader->block;
	struct elog_block_data head;
	struct stream *stream;
	const char *instance;
	bool damaged_since;
	size_t size;
	int ret;

	if (block->size < sizeof(head))
		return malformed(reader);
	memcpy(&head, block->body, sizeof(head));
	head.cpu = le32toh(head.cpu);
	head.stream = le32toh(head.stream);
	head.position = le64toh(head.position);
	head.offset = le32toh(head.offset);
	size = block->size - head.offset;
	if (!elog_block_is_head(head.offset, sizeof(head)) || head.offset > block->size ||
	    (head.position | size) % EVENTLOG_RECORD_ALIGN)
		return malformed(reader);
	if ((head.cpu >= ELOG_FILE_CPUS_MAX && head.cpu != EVENTLOG_CPU_UNKNOWN) ||
	    head.stream >= ELOG_FILE_STREAMS_MAX)
		return unknown(reader);
	stream = elog_stream_get(reader, head.stream);
	if (!stream)
		return -ENOMEM;
	damaged_since = stream->gaps != reader->gaps;
	if (stream->known && head.position < stream->position) {
		if (!damaged_since)
			return malformed(reader);
		/* The beginning of a new part was lost. */
		if (elog_batch_drain(reader))
			return 0;
		elog_streams_forget(reader);
		reader->counted = false;
		stream = elog_stream_get(reader, head.stream);
		if (!stream)
			return -ENOMEM;
	}
	if (reader->chunk_bytes + size > HELD_BYTES_MAX && elog_batch_drain(reader)) {
		elog_damage_note(reader, ELOG_DAMAGE_ORDER, block->offset, 0);
		return 0;
	}
	if (stream->known && head.position > stream->position && !damaged_since)
		elog_damage_note(reader, ELOG_DAMAGE_MISSING, block->offset,
				 head.position - stream->position);
	stream->known = true;
	stream->position = head.position + size;
	stream->gaps = reader->gaps;
	reader->in_part = true;
	ret = elog_instances_name(&reader->instances, le32toh(head.instance), &instance);
	if (!ret && size)
		ret = elog_stream_append(reader, stream, head.cpu, instance,
					 block->body + head.offset, size);
	if (ret == -ENOSPC)
		return unknown(reader);
	return ret ? ret : elog_block_leave(reader);
}

/* Return: 1 there are new losses; 0; or a negative errno. */
static int apply_loss(struct elog_reader *reader, const unsigned char *stored,
		      const struct elog_block_sync *head, struct elog_item *item)
{
	struct elog_ring_reader *ring = &reader->no_ring;
	uint64_t counts[ELOG_LOST_CAUSES_MAX];
	struct elog_block_loss loss = { 0 };
	struct stream *stream;
	unsigned int i;
	int ret;

	memcpy(&loss, stored, head->fixed_size < sizeof(loss) ? head->fixed_size : sizeof(loss));
	loss.stream = le32toh(loss.stream);
	if (loss.stream != ELOG_STREAM_NONE) {
		if (loss.stream >= ELOG_FILE_STREAMS_MAX) {
			elog_damage_note(reader, ELOG_DAMAGE_UNKNOWN, reader->block.offset, 0);
			return 0;
		}
		stream = elog_stream_get(reader, loss.stream);
		if (!stream)
			return -ENOMEM;
		ring = &stream->ring;
	}
	memcpy(counts, stored + head->fixed_size, head->causes * sizeof(counts[0]));
	for (i = 0; i < head->causes; i++)
		counts[i] = le64toh(counts[i]);
	ret = elog_ring_lost(ring, counts, head->causes, item);
	item->cpu = le32toh(loss.cpu);
	/* A loss without its label is better than none. */
	if (elog_instances_name(&reader->instances, le32toh(loss.instance),
				&item->instance) == -ENOMEM)
		return -ENOMEM;
	return ret;
}

/* Return: 1 there is an item; 0, or a negative errno. */
static int apply_sync(struct elog_reader *reader, struct elog_item *item)
{
	const struct block *block = &reader->block;
	struct elog_block_sync head;
	size_t loss_size;
	int ret;

	if (block->size < sizeof(head))
		return malformed(reader);
	memcpy(&head, block->body, sizeof(head));
	head.time = le64toh(head.time);
	head.causes = le32toh(head.causes);
	head.offset = le32toh(head.offset);
	head.fixed_size = le32toh(head.fixed_size);
	loss_size = elog_block_entry_size(head.fixed_size, head.causes);
	if (head.causes > ELOG_LOST_CAUSES_MAX ||
	    !elog_block_is_head(head.offset, sizeof(head)) || head.offset > block->size ||
	    !elog_block_is_head(head.fixed_size, ELOG_BLOCK_LOSS_MIN) ||
	    le32toh(head.count) > (block->size - head.offset) / loss_size)
		return malformed(reader);
	reader->in_part = true;
	if (!reader->drained) {
		elog_batch_start(reader, head.time, false);
		return 0;
	}
	item->time = head.time;
	while (reader->next_loss < le32toh(head.count)) {
		ret = apply_loss(reader, block->body + head.offset +
				 reader->next_loss++ * loss_size, &head, item);
		if (ret < 0 || (ret && !reader->continues))
			return ret;
	}
	reader->continues = false;
	/* The clocks are valid from here on: they may have been set just before. */
	reader->wall_offset = (int64_t)(le64toh(head.realtime) -
					le64toh(head.monotonic));
	/* Losses of an earlier file are not of this item. */
	memset(item, 0, sizeof(*item));
	item->type = ELOG_ITEM_SYNC;
	item->time = head.time;
	ret = elog_block_leave(reader);
	return ret ? ret : 1;
}

static int apply_end(struct elog_reader *reader)
{
	const size_t least = offsetof(struct elog_block_end, part);
	struct elog_block_end end;

	if (reader->block.size < least)
		return malformed(reader);
	if (elog_batch_drain(reader))
		return 0;
	memcpy(&end, reader->block.body, least);
	if (reader->counted && reader->damages == reader->part_damages &&
	    le64toh(end.records) != reader->records)
		elog_damage_note(reader, ELOG_DAMAGE_MISSING, reader->block.offset, 0);
	reader->in_part = false;
	reader->counted = false;
	return elog_block_leave(reader);
}

static bool is_known(uint32_t type)
{
	switch (type) {
	case ELOG_BLOCK_FILE:
	case ELOG_BLOCK_SCHEMA:
	case ELOG_BLOCK_PROCESSES:
	case ELOG_BLOCK_DATA:
	case ELOG_BLOCK_SYNC:
	case ELOG_BLOCK_END:
	case ELOG_BLOCK_INSTANCE:
		return true;
	default:
		return false;
	}
}

/* Return: 1 there is an item; 0, or a negative errno. */
int elog_block_apply(struct elog_reader *reader, struct elog_item *item)
{
	struct block *block = &reader->block;
	uint32_t known = block->type == ELOG_BLOCK_DATA ?
			 ELOG_BLOCK_ZSTD | ELOG_BLOCK_BIG_ENDIAN :
			 ELOG_BLOCK_ZSTD;
	int ret;

	if (block->flags & ~known)
		return unknown(reader);
	if (block->unpacked && block->raw_size != block->size)
		return malformed(reader);
	if (!is_known(block->type))
		return elog_block_leave(reader);
	if (!block->unpacked) {
		ret = elog_decompress(&reader->decompressor, block->body,
				      block->stored, block->raw_size,
				      &block->body);
		if (ret == -EBADMSG)
			return malformed(reader);
		if (ret == -EOPNOTSUPP)
			return unknown(reader);
		if (ret)
			return ret;
		block->size = block->raw_size;
		block->unpacked = true;
	}
	switch (block->type) {
	case ELOG_BLOCK_FILE:
		return apply_file(reader);
	case ELOG_BLOCK_SCHEMA:
		return apply_schema(reader);
	case ELOG_BLOCK_PROCESSES:
		return apply_processes(reader);
	case ELOG_BLOCK_DATA:
		return apply_data(reader);
	case ELOG_BLOCK_SYNC:
		return apply_sync(reader, item);
	case ELOG_BLOCK_INSTANCE:
		return apply_instance(reader);
	default:
		return apply_end(reader);
	}
}
