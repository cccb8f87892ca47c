// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Reading .elog files, of which nothing is trusted: elog(5) documents them.
 *
 * The input, file_input.c, finds blocks. Each is applied: DATA is held, by CPU,
 * until a SYNC says what is complete. A batch merges what is held, as a consumer
 * does with rings.
 *
 * Memory: the input holds one block, what is held has a limit, and so have the
 * schemas and the memory that is kept for blocks to come. Time: each byte is read once, schemas are parsed again and again no
 * more than a few times per byte.
 *
 * A file may have several parts, captures one after another, each beginning with
 * a FILE block. If that is lost, a part is told by positions and schemas that
 * begin anew.
 *
 * No locks and nothing global: a reader belongs to one thread.
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elog.h"
#include "file/blocks.h"
#include "file/input.h"
#include "file/seek.h"
#include "file/swap.h"
#include "file/zstd.h"
#include "format/merge.h"
#include "util/process.h"
#include "util/util.h"

#define HEADER_BYTES	sizeof(struct elog_block_header)
#define HELD_BYTES_MAX	(256U << 20)
#define INFO_BYTES_MAX	(64U << 10)
#define SCHEMA_BYTES_MAX (1U << 20)	/* one text */
#define SCHEMAS_BYTES_MAX (32U << 20)	/* all texts */
#define PARSED_BYTES_MAX (4U << 20)	/* texts whose parsed form is kept */
#define SCHEMA_OVERHEAD	256
#define SPARES_MAX	16		/* blocks that are kept for the next ones */
#define SPARE_BYTES_MAX	(4U << 20)	/* of all of them */

_Static_assert(sizeof(struct elog_block_schema) == 8, "as documented");
_Static_assert(sizeof(struct elog_block_process) == 24, "as documented");
_Static_assert(sizeof(struct elog_block_data) == 16, "as documented");
_Static_assert(sizeof(struct elog_block_loss) == 72, "as documented");
_Static_assert(sizeof(struct elog_block_sync) == 40, "as documented");
_Static_assert(sizeof(struct elog_block_end) == 40, "as documented");
_Static_assert(sizeof(struct elog_block_index) == 56, "as documented");
_Static_assert(sizeof(struct elog_block_cpu) == 80, "as documented");

/* A DATA block that is waiting to be merged, or in use. */
struct held {
	struct held *next;
	uint64_t offset;	/* in the file */
	bool swapped;		/* of the other byte order */
	size_t size;
	size_t room;		/* for @data */
	unsigned char data[] __attribute__((aligned(8)));
};

struct cpu {
	struct elog_ring_reader ring;	/* over the first block, positions from 0 */
	struct held *first;		/* NULL: there is none */
	struct held *last;
	bool begun;			/* @ring is over @first */
	bool known;			/* @position is */
	uint64_t position;		/* in the ring, behind the last block */
	uint64_t gaps;			/* found in the file before the last block */
};

/* A definition; the table is indexed by hash, empty slots have no text. */
struct definition {
	uint32_t descriptor;
	uint32_t size;			/* of @text */
	char *text;
	struct elog_schema *schema;	/* NULL: not parsed, or cannot be */
	bool wrong;			/* cannot be parsed */
};

struct damage {
	bool found;
	uint64_t offset;
	uint64_t size;
};

struct block {
	bool there;
	bool preloaded;			/* not from the input */
	bool unpacked;			/* its body is no longer compressed */
	uint32_t type;
	uint32_t flags;
	const unsigned char *body;
	size_t size;			/* of @body */
	uint64_t offset;
	size_t stored;			/* bytes of it in the file, without header */
	size_t raw_size;		/* bytes of @body once it is unpacked */
};

struct elog_file_reader {
	int error;

	struct elog_file_input input;
	bool over;			/* its end was told */
	bool cut;			/* it ends within a block */
	bool any;			/* there was a block */
	struct block block;		/* being applied */
	struct elog_decompressor *decompressor;

	/* What is to be reported. */
	struct damage damage[ELOG_DAMAGES];
	uint64_t gaps;			/* where there may have been blocks */
	uint64_t damages;
	bool new_part;

	/* The part. */
	char *info;
	bool in_part;			/* there were records since END */
	uint64_t part_damages;		/* found before it */
	uint64_t records;		/* yielded since FILE */
	bool counted;			/* all of them */
	int64_t wall_offset;
	struct elog_processes *processes;
	struct definition *definitions;
	size_t definition_count;
	size_t definition_size;
	size_t definition_bytes;
	uint64_t parsed;		/* bytes, also of what was forgotten */
	uint64_t seed;			/* of the table of definitions */
	size_t parsed_bytes;
	uint64_t generation;		/* of what elog_file_describe() gave */

	/* What is held, and the batch. */
	struct cpu **cpus;
	unsigned int cpu_count;		/* one more than the highest that is there */
	unsigned int cpu_room;		/* of @cpus, and of @merge */
	struct elog_ring_reader no_ring;
	size_t held_bytes;
	struct held *spent;		/* to be freed at the next call */
	struct held *spares[SPARES_MAX];	/* that take what is held next */
	size_t spare_count;
	size_t spare_bytes;
	struct elog_merge merge;
	bool merging;
	bool drained;			/* the batch that the block wanted is over */
	bool final;			/* the batch leaves nothing */
	uint64_t before;
	size_t next_loss;		/* of a SYNC block */
	bool continues;			/* the next one's losses were told elsewhere */
};

int elog_file_reader_open(struct elog_file_reader **result, int fd)
{
	struct elog_file_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return -ENOMEM;
	/* Where memory is, is more than a file can know. */
	reader->seed = (uintptr_t)reader * 0x9e3779b97f4a7c15ULL;
	reader->no_ring.cpu = EVENTLOG_CPU_ALL;
	reader->processes = elog_processes_new_offline();
	if (elog_input_open(&reader->input, fd) || !reader->processes) {
		elog_file_reader_close(reader);
		return -ENOMEM;
	}
	*result = reader;
	return 0;
}

/*
 * Blocks come one like the other: without spares the C library would give their
 * memory back to the kernel, and get it again page by page.
 */
static void free_held(struct elog_file_reader *reader, struct held **list)
{
	struct held *held;

	while ((held = *list)) {
		*list = held->next;
		reader->held_bytes -= held->room + sizeof(*held);
		if (reader->over || reader->spare_count == SPARES_MAX ||
		    held->room > SPARE_BYTES_MAX - reader->spare_bytes) {
			free(held);
			continue;
		}
		reader->spare_bytes += held->room;
		reader->spares[reader->spare_count++] = held;
	}
}

static struct held *take_spare(struct elog_file_reader *reader, size_t number)
{
	struct held *held = reader->spares[number];

	reader->spare_bytes -= held->room;
	reader->spare_count--;
	memmove(reader->spares + number, reader->spares + number + 1,
		(reader->spare_count - number) * sizeof(*reader->spares));
	return held;
}

static void free_spares(struct elog_file_reader *reader)
{
	while (reader->spare_count)
		free(take_spare(reader, reader->spare_count - 1));
}

/* The latest spare that is neither too small nor far too large, or new memory. */
static struct held *new_held(struct elog_file_reader *reader, size_t size)
{
	struct held *held;
	size_t i;

	for (i = reader->spare_count; i--; ) {
		held = reader->spares[i];
		if (held->room >= size && held->room / 4 <= size)
			return take_spare(reader, i);
	}
	/* The oldest spare makes way for one that may be of use. */
	if (reader->spare_count)
		free(take_spare(reader, 0));
	held = malloc(sizeof(*held) + size + size / 16);
	if (held)
		held->room = size + size / 16;
	return held;
}

static void forget_cpus(struct elog_file_reader *reader)
{
	size_t i;

	for (i = 0; i < reader->cpu_count; i++) {
		if (!reader->cpus[i])
			continue;
		free_held(reader, &reader->cpus[i]->first);
		free(reader->cpus[i]);
		reader->cpus[i] = NULL;
	}
	reader->cpu_count = 0;
	memset(reader->no_ring.lost, 0, sizeof(reader->no_ring.lost));
}

static void forget_definitions(struct elog_file_reader *reader)
{
	size_t i;

	reader->generation++;
	for (i = 0; i < reader->definition_size; i++) {
		elog_schema_free(reader->definitions[i].schema);
		free(reader->definitions[i].text);
	}
	free(reader->definitions);
	reader->definitions = NULL;
	reader->definition_count = 0;
	reader->definition_size = 0;
	reader->definition_bytes = 0;
	reader->parsed_bytes = 0;
}

void elog_file_reader_close(struct elog_file_reader *reader)
{
	if (!reader)
		return;
	forget_cpus(reader);
	free_held(reader, &reader->spent);
	free_spares(reader);
	forget_definitions(reader);
	elog_processes_free(reader->processes);
	free(reader->merge.rings);
	free(reader->cpus);
	free(reader->info);
	elog_input_close(&reader->input);
	elog_decompressor_free(reader->decompressor);
	free(reader);
}

static void note_damage(struct elog_file_reader *reader, enum elog_damage kind,
			uint64_t offset, uint64_t size)
{
	struct damage *damage = &reader->damage[kind];

	if (!damage->found)
		damage->offset = offset;
	damage->found = true;
	damage->size += size;
	reader->damages++;
	/* What is not understood may have been blocks. */
	reader->gaps += kind == ELOG_DAMAGE_BYTES || kind == ELOG_DAMAGE_CUT ||
			kind == ELOG_DAMAGE_UNKNOWN;
}

/* ------------------------------------------------------------------------
 * The block being applied
 */

static void set_block(struct elog_file_reader *reader,
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

/* Return: 1 there is a block, 0 there is none any more; or a negative errno. */
static int find_block(struct elog_file_reader *reader)
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
		note_damage(reader, gap.cut ? ELOG_DAMAGE_CUT : ELOG_DAMAGE_BYTES,
			    gap.offset, gap.size);
	}
	if (!ret)
		return 0;
	set_block(reader, &header, body, reader->input.offset);
	reader->any = true;
	return 1;
}

static int leave_block(struct elog_file_reader *reader)
{
	reader->block.there = false;
	if (reader->block.preloaded)
		return 0;
	elog_input_leave(&reader->input, reader->block.stored);
	return 0;
}

/* ------------------------------------------------------------------------
 * The batch
 */

/* Go on to a CPU's next block. Return: false if there is none. */
static bool next_held(struct elog_file_reader *reader, struct cpu *cpu)
{
	struct held *used = cpu->first;

	if (cpu->begun) {
		cpu->first = used->next;
		used->next = reader->spent;
		reader->spent = used;
		cpu->begun = false;
	}
	if (!cpu->first)
		return false;
	cpu->begun = true;
	cpu->ring.data = cpu->first->data;
	cpu->ring.swapped = cpu->first->swapped;
	cpu->ring.position = 0;
	cpu->ring.end = cpu->first->size;
	return true;
}

/* Let a CPU take part in the batch, with the block that has its next record. */
static void join(struct elog_file_reader *reader, struct cpu *cpu)
{
	uint64_t from;
	int ret;

	do {
		from = cpu->ring.position;
		ret = elog_merge_add(&reader->merge, &cpu->ring, reader->before);
		if (ret < 0)
			note_damage(reader, ELOG_DAMAGE_RECORDS,
				    cpu->first->offset, cpu->ring.end - from);
	} while (ret <= 0 && cpu->ring.position == cpu->ring.end &&
		 next_held(reader, cpu));
}

static void start_batch(struct elog_file_reader *reader, uint64_t before,
			bool final)
{
	size_t i;

	reader->before = before;
	reader->final = final;
	reader->drained = true;
	reader->merging = true;
	reader->merge.count = 0;
	for (i = 0; i < reader->cpu_count; i++)
		if (reader->cpus[i] && reader->cpus[i]->first)
			join(reader, reader->cpus[i]);
}

/* Records of the latest time that there can be are in no batch. */
static void end_batch(struct elog_file_reader *reader)
{
	struct cpu *cpu;
	size_t i;

	reader->merging = false;
	for (i = 0; reader->final && i < reader->cpu_count; i++) {
		cpu = reader->cpus[i];
		if (!cpu || !cpu->first)
			continue;
		do {
			if (cpu->begun)
				note_damage(reader, ELOG_DAMAGE_RECORDS,
					    cpu->first->offset,
					    cpu->ring.end - cpu->ring.position);
		} while (next_held(reader, cpu));
		cpu->ring.position = cpu->ring.end;
		cpu->last = NULL;
		cpu->ring.key = 0;
	}
}

/*
 * A payload is in a block that is held, and that is yielded once: it is changed
 * where it is. One without schema stays as it is. Return: 0 or -ENOMEM.
 */
static int swap_payload(struct elog_file_reader *reader,
			const struct elog_item *item)
{
	const struct elog_schema_event *event;
	int ret;

	ret = elog_file_describe(reader, item->descriptor, &event);
	if (!ret)
		elog_swap_payload(event, (unsigned char *)item->payload,
				  item->payload_size);
	return ret == -ENOMEM ? ret : 0;
}

/* Return: 1, with an item; 0, the batch is over; -ENOMEM. */
static int next_merged(struct elog_file_reader *reader, struct elog_item *item)
{
	struct elog_ring_reader *ring;
	bool news, swapped;
	struct cpu *cpu;
	size_t count;
	int ret;

	while ((ring = elog_merge_first(&reader->merge))) {
		uint64_t from;

		cpu = elog_container_of(ring, struct cpu, ring);
		news = elog_ring_take(ring, item);
		swapped = ring->swapped;
		from = ring->position;
		count = reader->merge.count;
		ret = elog_merge_update(&reader->merge, reader->before);
		if (ret < 0)
			note_damage(reader, ELOG_DAMAGE_RECORDS,
				    cpu->first->offset, ring->end - from);
		if (reader->merge.count < count && ring->position == ring->end &&
		    next_held(reader, cpu))
			join(reader, cpu);
		if (!news)
			continue;
		if (item->type != ELOG_ITEM_EVENT)
			return 1;
		reader->records++;
		ret = swapped ? swap_payload(reader, item) : 0;
		return ret ? ret : 1;
	}
	end_batch(reader);
	return 0;
}

/* ------------------------------------------------------------------------
 * Definitions
 */

static struct definition *definition_slot(const struct elog_file_reader *reader,
					  struct definition *table, size_t size,
					  uint32_t descriptor)
{
	uint64_t hash = (descriptor ^ reader->seed) * 0x9e3779b97f4a7c15ULL;
	size_t slot;

	hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93ULL;
	slot = (size_t)(hash >> 32) & (size - 1);

	while (table[slot].text && table[slot].descriptor != descriptor)
		slot = (slot + 1) & (size - 1);
	return &table[slot];
}

static struct definition *find_definition(struct elog_file_reader *reader,
					  uint32_t descriptor)
{
	struct definition *slot;

	if (!reader->definition_size)
		return NULL;
	slot = definition_slot(reader, reader->definitions, reader->definition_size,
			       descriptor);
	return slot->text ? slot : NULL;
}

static int grow_definitions(struct elog_file_reader *reader)
{
	size_t size = reader->definition_size ? reader->definition_size * 2 : 64;
	struct definition *larger = calloc(size, sizeof(*larger)), *old;
	size_t i;

	if (!larger)
		return -ENOMEM;
	for (i = 0; i < reader->definition_size; i++) {
		old = &reader->definitions[i];
		if (old->text)
			*definition_slot(reader, larger, size, old->descriptor) = *old;
	}
	free(reader->definitions);
	reader->definitions = larger;
	reader->definition_size = size;
	return 0;
}

static int add_definition(struct elog_file_reader *reader, uint32_t descriptor,
			  const void *text, size_t size)
{
	struct definition *slot;
	char *copy;
	int ret;

	if (reader->definition_count >= reader->definition_size / 2) {
		ret = grow_definitions(reader);
		if (ret)
			return ret;
	}
	copy = malloc(size + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, size);
	copy[size] = '\0';
	slot = definition_slot(reader, reader->definitions, reader->definition_size,
			       descriptor);
	slot->descriptor = descriptor;
	slot->size = (uint32_t)size;
	slot->text = copy;
	reader->definition_count++;
	reader->definition_bytes += size + SCHEMA_OVERHEAD;
	return 0;
}

int elog_file_describe(struct elog_file_reader *reader, uint32_t descriptor,
		       const struct elog_schema_event **event)
{
	struct definition *definition = find_definition(reader, descriptor);
	size_t i;
	int ret;

	if (!definition)
		return -ENOENT;
	if (!definition->schema && !definition->wrong) {
		if (reader->parsed_bytes >= PARSED_BYTES_MAX) {
			reader->generation++;
			for (i = 0; i < reader->definition_size; i++) {
				elog_schema_free(reader->definitions[i].schema);
				reader->definitions[i].schema = NULL;
			}
			reader->parsed_bytes = 0;
		}
		/* Texts that are parsed again and again are made for that. */
		if (reader->parsed + definition->size >
		    elog_input_allowance(&reader->input))
			return -EINVAL;
		reader->parsed += definition->size;
		ret = elog_schema_parse(definition->text, definition->size,
					&definition->schema, NULL);
		if (ret == -ENOMEM)
			return ret;
		if (ret)
			definition->schema = NULL;
		definition->wrong = ret != 0;
		reader->parsed_bytes += definition->size + SCHEMA_OVERHEAD;
	}
	if (definition->wrong || definition->schema->provider_count != 1 ||
	    definition->schema->providers[0]->event_count != 1)
		return -EINVAL;
	*event = definition->schema->providers[0]->events[0];
	return 0;
}

uint64_t elog_file_generation(const struct elog_file_reader *reader)
{
	return reader->generation;
}

/* ------------------------------------------------------------------------
 * Blocks
 */

static bool is_held(const struct elog_file_reader *reader)
{
	size_t i;

	for (i = 0; i < reader->cpu_count; i++)
		if (reader->cpus[i] && reader->cpus[i]->first)
			return true;
	return false;
}

/* Return: true if what is held has to be yielded before the block is applied. */
static bool has_to_drain(struct elog_file_reader *reader)
{
	if (reader->drained || !is_held(reader))
		return false;
	start_batch(reader, UINT64_MAX, true);
	return true;
}

static int malformed(struct elog_file_reader *reader)
{
	note_damage(reader, ELOG_DAMAGE_BYTES, reader->block.offset,
		    HEADER_BYTES + reader->block.stored);
	return leave_block(reader);
}

static int unknown(struct elog_file_reader *reader)
{
	note_damage(reader, ELOG_DAMAGE_UNKNOWN, reader->block.offset,
		    HEADER_BYTES + reader->block.stored);
	return leave_block(reader);
}

static int start_part(struct elog_file_reader *reader)
{
	struct elog_processes *processes = elog_processes_new_offline();

	if (!processes)
		return -ENOMEM;
	elog_processes_free(reader->processes);
	reader->processes = processes;
	forget_cpus(reader);
	forget_definitions(reader);
	reader->in_part = true;
	reader->counted = false;
	reader->records = 0;
	return 0;
}

static int apply_file(struct elog_file_reader *reader)
{
	const struct block *block = &reader->block;
	uint64_t monotonic, boottime, realtime;
	const char *value;
	char *info;
	size_t i;
	int ret;

	if (has_to_drain(reader))
		return 0;
	if (block->size > INFO_BYTES_MAX)
		return malformed(reader);
	if (reader->in_part)
		note_damage(reader, ELOG_DAMAGE_NO_END, block->offset, 0);
	/* Each line a string, an empty one behind the last. */
	info = malloc(block->size + 2);
	if (!info)
		return -ENOMEM;
	for (i = 0; i < block->size; i++)
		info[i] = block->body[i] == '\n' ? '\0' : (char)block->body[i];
	info[i] = '\0';
	info[i + 1] = '\0';
	free(reader->info);
	reader->info = info;
	value = elog_file_info(reader, "version");
	if (!value || strcmp(value, "1"))
		return -EPROTONOSUPPORT;
	value = elog_file_info(reader, "byte_order");
	if (!value || (strcmp(value, "big") && strcmp(value, "little")))
		return -EOPNOTSUPP;
	value = elog_file_info(reader, "start");
	if (value && sscanf(value, "%" SCNu64 " %" SCNu64 " %" SCNu64,
			    &monotonic, &boottime, &realtime) == 3)
		reader->wall_offset = (int64_t)(realtime - monotonic);
	ret = start_part(reader);
	if (ret)
		return ret;
	reader->part_damages = reader->damages;
	reader->counted = true;
	reader->new_part = true;
	value = elog_file_info(reader, "continues");
	reader->continues = value && !strcmp(value, "yes");
	return leave_block(reader);
}

static int apply_schema(struct elog_file_reader *reader)
{
	const struct block *block = &reader->block;
	struct elog_block_schema head;
	struct definition *old;
	const unsigned char *text;
	size_t size;
	int ret;

	if (block->size < sizeof(head) ||
	    block->size - sizeof(head) > SCHEMA_BYTES_MAX)
		return malformed(reader);
	memcpy(&head, block->body, sizeof(head));
	head.descriptor = le32toh(head.descriptor);
	text = block->body + sizeof(head);
	size = block->size - sizeof(head);
	old = find_definition(reader, head.descriptor);
	if (old && old->size == size && !memcmp(old->text, text, size))
		return leave_block(reader);
	if (old) {
		if (has_to_drain(reader))
			return 0;
		ret = start_part(reader);
		if (ret)
			return ret;
	}
	if (reader->definition_bytes > SCHEMAS_BYTES_MAX)
		return unknown(reader);
	ret = add_definition(reader, head.descriptor, text, size);
	return ret ? ret : leave_block(reader);
}

static int apply_processes(struct elog_file_reader *reader)
{
	const struct block *block = &reader->block;
	struct elog_block_process process;
	size_t at;

	if (block->size % sizeof(process))
		return malformed(reader);
	for (at = 0; at < block->size; at += sizeof(process)) {
		memcpy(&process, block->body + at, sizeof(process));
		process.name[sizeof(process.name) - 1] = '\0';
		elog_processes_learn(reader->processes, le32toh(process.pid),
				     le32toh(process.tid), process.name);
	}
	return leave_block(reader);
}

static int make_room_for_cpu(struct elog_file_reader *reader,
			     unsigned int number)
{
	unsigned int room = reader->cpu_room ? reader->cpu_room : 8;
	struct elog_ring_reader **rings;
	struct cpu **cpus;

	if (number < reader->cpu_room)
		return 0;
	while (room <= number)
		room *= 2;
	rings = realloc(reader->merge.rings, room * sizeof(*rings));
	if (!rings)
		return -ENOMEM;
	reader->merge.rings = rings;
	cpus = realloc(reader->cpus, room * sizeof(*cpus));
	if (!cpus)
		return -ENOMEM;
	reader->cpus = cpus;
	memset(cpus + reader->cpu_room, 0,
	       (room - reader->cpu_room) * sizeof(*cpus));
	reader->cpu_room = room;
	return 0;
}

/* NULL: no memory. */
static struct cpu *get_cpu(struct elog_file_reader *reader, unsigned int number)
{
	struct cpu *cpu;

	if (make_room_for_cpu(reader, number))
		return NULL;
	cpu = reader->cpus[number];
	if (cpu)
		return cpu;
	cpu = calloc(1, sizeof(*cpu));
	if (!cpu)
		return NULL;
	/* A block is a ring that is read once, from its beginning. */
	cpu->ring.data_bytes = 1ULL << 63;
	cpu->ring.sub_buffer_bytes = 1ULL << 63;
	cpu->ring.cpu = number;
	reader->cpus[number] = cpu;
	if (number >= reader->cpu_count)
		reader->cpu_count = number + 1;
	return cpu;
}

static int hold(struct elog_file_reader *reader, struct cpu *cpu,
		const unsigned char *data, size_t size)
{
	struct held *held = new_held(reader, size);

	if (!held)
		return -ENOMEM;
	held->next = NULL;
	held->offset = reader->block.offset;
	held->swapped = (reader->block.flags & ELOG_BLOCK_BIG_ENDIAN) !=
			ELOG_BLOCK_NATIVE;
	held->size = size;
	memcpy(held->data, data, size);
	reader->held_bytes += sizeof(*held) + held->room;
	if (cpu->first)
		cpu->last->next = held;
	else
		cpu->first = held;
	cpu->last = held;
	return 0;
}

static int apply_data(struct elog_file_reader *reader)
{
	const struct block *block = &reader->block;
	struct elog_block_data head;
	bool damaged_since;
	struct cpu *cpu;
	size_t size;
	int ret;

	if (block->size < sizeof(head))
		return malformed(reader);
	memcpy(&head, block->body, sizeof(head));
	head.cpu = le32toh(head.cpu);
	head.position = le64toh(head.position);
	size = block->size - sizeof(head);
	if (head.cpu >= ELOG_FILE_CPUS_MAX ||
	    (head.position | size) % EVENTLOG_RECORD_ALIGN)
		return malformed(reader);
	cpu = get_cpu(reader, head.cpu);
	if (!cpu)
		return -ENOMEM;
	damaged_since = cpu->gaps != reader->gaps;
	if (cpu->known && head.position < cpu->position) {
		if (!damaged_since)
			return malformed(reader);
		/* The part that this one belongs to has lost its beginning. */
		if (has_to_drain(reader))
			return 0;
		forget_cpus(reader);
		reader->counted = false;
		cpu = get_cpu(reader, head.cpu);
		if (!cpu)
			return -ENOMEM;
	}
	if (reader->held_bytes + size > HELD_BYTES_MAX && has_to_drain(reader)) {
		note_damage(reader, ELOG_DAMAGE_ORDER, block->offset, 0);
		return 0;
	}
	if (cpu->known && head.position > cpu->position && !damaged_since)
		note_damage(reader, ELOG_DAMAGE_MISSING, block->offset,
			    head.position - cpu->position);
	cpu->known = true;
	cpu->position = head.position + size;
	cpu->gaps = reader->gaps;
	reader->in_part = true;
	ret = size ? hold(reader, cpu, block->body + sizeof(head), size) : 0;
	return ret ? ret : leave_block(reader);
}

/* Return: 1 it tells something new; 0, or a negative errno. */
static int apply_loss(struct elog_file_reader *reader, const unsigned char *stored,
		      struct elog_item *item)
{
	struct elog_ring_reader *ring = &reader->no_ring;
	uint64_t counts[EVENTLOG_LOST_CAUSES];
	struct elog_block_loss loss;
	struct cpu *cpu;
	unsigned int i;

	memcpy(&loss, stored, sizeof(loss));
	loss.cpu = le32toh(loss.cpu);
	if (loss.cpu != EVENTLOG_CPU_ALL) {
		if (loss.cpu >= ELOG_FILE_CPUS_MAX)
			return 0;
		cpu = get_cpu(reader, loss.cpu);
		if (!cpu)
			return -ENOMEM;
		ring = &cpu->ring;
	}
	for (i = 0; i < EVENTLOG_LOST_CAUSES; i++)
		counts[i] = le64toh(loss.lost[i]);
	return elog_ring_lost(ring, counts, item);
}

/* Return: 1 there is an item; 0, or a negative errno. */
static int apply_sync(struct elog_file_reader *reader, struct elog_item *item)
{
	const struct block *block = &reader->block;
	struct elog_block_sync head;
	int ret;

	if (block->size < sizeof(head))
		return malformed(reader);
	memcpy(&head, block->body, sizeof(head));
	head.time = le64toh(head.time);
	if (le32toh(head.count) > (block->size - sizeof(head)) /
				  sizeof(struct elog_block_loss))
		return malformed(reader);
	reader->in_part = true;
	reader->wall_offset = (int64_t)(le64toh(head.realtime) -
					le64toh(head.monotonic));
	if (!reader->drained) {
		start_batch(reader, head.time, false);
		return 0;
	}
	item->time = head.time;
	while (reader->next_loss < le32toh(head.count)) {
		ret = apply_loss(reader, block->body + sizeof(head) +
				 reader->next_loss++ *
				 sizeof(struct elog_block_loss), item);
		if (ret < 0 || (ret && !reader->continues))
			return ret;
	}
	reader->continues = false;
	item->type = ELOG_ITEM_SYNC;
	ret = leave_block(reader);
	return ret ? ret : 1;
}

static int apply_end(struct elog_file_reader *reader)
{
	const size_t least = offsetof(struct elog_block_end, part);
	struct elog_block_end end;

	if (reader->block.size < least)
		return malformed(reader);
	if (has_to_drain(reader))
		return 0;
	memcpy(&end, reader->block.body, least);
	if (reader->counted && reader->damages == reader->part_damages &&
	    le64toh(end.records) != reader->records)
		note_damage(reader, ELOG_DAMAGE_MISSING, reader->block.offset, 0);
	reader->in_part = false;
	reader->counted = false;
	return leave_block(reader);
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
		return true;
	default:
		return false;
	}
}

/* Return: 1 there is an item; 0, or a negative errno. */
static int apply_block(struct elog_file_reader *reader, struct elog_item *item)
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
		return leave_block(reader);
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
	default:
		return apply_end(reader);
	}
}

/* ------------------------------------------------------------------------
 * Items
 */

static bool next_damage(struct elog_file_reader *reader, struct elog_item *item)
{
	struct damage *damage;
	unsigned int kind;

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
	return false;
}

/* Return: 0 the end, 1 there is more to do. */
static int end_file(struct elog_file_reader *reader)
{
	unsigned int kind;

	reader->over = true;
	/* Many files may be open, of which this one needs nothing any more. */
	free_spares(reader);
	if (!reader->any)
		return -EBADMSG;
	reader->drained = false;
	if (has_to_drain(reader))
		return 1;
	if (reader->in_part && !reader->cut)
		note_damage(reader, ELOG_DAMAGE_NO_END, reader->input.offset,
			    0);
	reader->in_part = false;
	for (kind = 0; kind < ELOG_DAMAGES; kind++)
		if (reader->damage[kind].found)
			return 1;
	return 0;
}

static int next_item(struct elog_file_reader *reader, struct elog_item *item)
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
			ret = next_merged(reader, item);
			if (ret)
				return ret;
			/* Nothing points there: an item is yet to be found. */
			free_held(reader, &reader->spent);
			continue;
		}
		if (reader->block.there) {
			ret = apply_block(reader, item);
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

int elog_file_next(struct elog_file_reader *reader, struct elog_item *item)
{
	int ret = reader->error;

	free_held(reader, &reader->spent);
	/* In pieces that take a few stores each; the whole is slow to begin. */
	memset(item, 0, offsetof(struct elog_item, lost));
	memset(item->lost, 0, sizeof(item->lost));
	memset(&item->damage, 0, sizeof(*item) - offsetof(struct elog_item, damage));
	if (!ret)
		ret = next_item(reader, item);
	if (ret < 0 && ret != -EAGAIN)
		reader->error = ret;
	return ret;
}

int elog_file_follow(struct elog_file_reader *reader, bool on)
{
	if (reader->over)
		return -EINVAL;
	reader->input.follow = on;
	if (on)
		reader->input.end = false;
	return 0;
}

/* Apply a block that is not where the input is. Return: 0 or a negative errno. */
static int apply_at(struct elog_file_reader *reader, uint64_t base,
		    uint64_t offset, uint32_t types)
{
	struct elog_block_header header;
	struct elog_item item;
	unsigned char *body;
	int ret;

	ret = elog_file_block_at(reader->input.fd, base + offset, ELOG_BLOCK_MAX,
				 &header, &body);
	if (ret)
		return ret;
	reader->input.bytes_read += sizeof(header) + header.size;
	set_block(reader, &header, body, offset);
	reader->block.preloaded = true;
	ret = header.type < 32 && 1U << header.type & types ?
	      apply_block(reader, &item) : -EBADMSG;
	free(body);
	reader->block.there = false;
	return ret;
}

/* How far a CPU is that an INDEX block tells of. Return: 0 or a negative errno. */
static int set_cpu(struct elog_file_reader *reader, const unsigned char *stored)
{
	struct elog_ring_reader *ring = &reader->no_ring;
	struct elog_block_cpu entry;
	struct cpu *cpu;
	unsigned int i;

	memcpy(&entry, stored, sizeof(entry));
	entry.cpu = le32toh(entry.cpu);
	entry.position = le64toh(entry.position);
	if (entry.cpu != EVENTLOG_CPU_ALL) {
		if (entry.cpu >= ELOG_FILE_CPUS_MAX)
			return -EBADMSG;
		cpu = get_cpu(reader, entry.cpu);
		if (!cpu)
			return -ENOMEM;
		ring = &cpu->ring;
		cpu->known = entry.position != UINT64_MAX;
		cpu->position = entry.position;
		cpu->gaps = reader->gaps;
	}
	for (i = 0; i < EVENTLOG_LOST_CAUSES; i++)
		ring->lost[i] = le64toh(entry.lost[i]);
	return 0;
}

/* Be as if what is before the plan's position had been read. */
static int begin_at(struct elog_file_reader *reader,
		    const struct elog_seek_plan *plan)
{
	size_t i;
	int ret;

	ret = apply_at(reader, plan->base, plan->part, 1U << ELOG_BLOCK_FILE);
	for (i = 0; !ret && i < plan->block_count; i++) {
		ret = apply_at(reader, plan->base, plan->blocks[i],
			       1U << ELOG_BLOCK_SCHEMA |
			       1U << ELOG_BLOCK_PROCESSES);
		/* Blocks within one another would be more than there is. */
		if (reader->input.bytes_read > plan->bytes_read + plan->position)
			ret = -EBADMSG;
	}
	for (i = 0; !ret && i < plan->cpu_count; i++)
		ret = set_cpu(reader, (const unsigned char *)plan->cpus +
			      i * sizeof(struct elog_block_cpu));
	/* What its first SYNC told was before. */
	reader->continues = false;
	reader->wall_offset = plan->wall_offset;
	/* END counts what was left out, too. */
	reader->counted = false;
	reader->any = true;
	return ret;
}

/* Be as if nothing had been read. */
static int begin_again(struct elog_file_reader *reader)
{
	int ret;

	ret = start_part(reader);
	free(reader->info);
	reader->info = NULL;
	reader->wall_offset = 0;
	reader->in_part = false;
	reader->any = false;
	reader->new_part = false;
	reader->damages = 0;
	reader->gaps = 0;
	reader->part_damages = 0;
	memset(reader->damage, 0, sizeof(reader->damage));
	return ret;
}

int elog_file_seek(struct elog_file_reader *reader, uint64_t from)
{
	struct elog_seek_plan plan;
	uint64_t at;
	int ret;

	if (reader->input.bytes_read || reader->over)
		return -EINVAL;
	ret = elog_seek_plan(&plan, reader->input.fd, from);
	if (ret && ret != -ENOMEM) {
		/* Not even the index can be read: what can be is read. */
		elog_seek_plan_free(&plan);
		return ret;
	}
	reader->input.bytes_read = plan.bytes_read;
	at = plan.part;
	if (!ret && plan.position) {
		ret = begin_at(reader, &plan);
		if (!ret) {
			at = plan.position;
		} else if (ret != -ENOMEM) {
			/* A block is not what it was said to be: read them all. */
			at = 0;
			ret = begin_again(reader);
		}
	}
	if (!ret && at) {
		if (lseek(reader->input.fd, (off_t)(plan.base + at), SEEK_SET) < 0)
			ret = -errno;
		reader->input.offset = at;
	}
	elog_seek_plan_free(&plan);
	if (ret)
		reader->error = ret;
	return ret;
}

int elog_file_progress(const struct elog_file_reader *reader, uint64_t *done,
		       uint64_t *total)
{
	struct stat stat;
	off_t at;

	*done = reader->input.bytes_read;
	*total = 0;
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

struct elog_processes *elog_file_processes(struct elog_file_reader *reader)
{
	return reader->processes;
}

const char *elog_file_info(const struct elog_file_reader *reader, const char *key)
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

int64_t elog_file_wall_offset(const struct elog_file_reader *reader)
{
	return reader->wall_offset;
}
