/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The reader of .elog files, as its files share it: read.c yields items, apply.c
 * applies blocks, batch.c holds and merges records, definitions.c has the schemas.
 * A reader belongs to one thread.
 */
#ifndef LIBELOG_READER_H
#define LIBELOG_READER_H

#include "elog.h"
#include "file/blocks.h"
#include "file/input.h"
#include "file/zstd.h"
#include "format/merge.h"
#include "util/map.h"

#define SPARES_MAX	16		/* blocks that are kept for the next ones */

/* A DATA block that is waiting to be merged, or in use. */
struct chunk {
	struct chunk *next;
	uint64_t offset;	/* in the file */
	bool swapped;		/* of the other byte order */
	size_t size;
	size_t room;		/* for @data */
	unsigned char data[] __attribute__((aligned(8)));
};

struct cpu_stream {
	struct elog_ring_reader ring;	/* over the first block, positions from 0 */
	struct chunk *first;		/* NULL: there is none */
	struct chunk *last;
	bool begun;			/* @ring is over @first */
	bool known;			/* @position is */
	uint64_t position;		/* in the ring, behind the last block */
	uint64_t gaps;			/* found in the file before the last block */
};

/* A definition, by descriptor. */
struct definition {
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
	struct elog_map definitions;
	size_t definition_bytes;
	uint64_t parsed;		/* bytes, also of what was forgotten */
	size_t parsed_bytes;
	uint64_t generation;		/* of what elog_file_describe() gave */

	/* What is held, and the batch. */
	struct cpu_stream **cpus;
	unsigned int cpu_count;		/* one more than the highest that is there */
	unsigned int cpu_room;		/* of @cpus, and of @merge */
	struct elog_ring_reader no_ring;
	size_t chunk_bytes;
	struct chunk *spent;		/* to be freed at the next call */
	struct chunk *spares[SPARES_MAX];	/* that take what is held next */
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

/** elog_damage_note() - remember damage, to be reported */
void elog_damage_note(struct elog_file_reader *reader, enum elog_damage kind,
		      uint64_t offset, uint64_t size);

/** elog_block_leave() - go on behind the block; return 0 */
int elog_block_leave(struct elog_file_reader *reader);

/** elog_block_set() - take a block that was found, to be applied */
void elog_block_set(struct elog_file_reader *reader,
		    const struct elog_block_header *header,
		    const unsigned char *body, uint64_t offset);

/**
 * elog_block_apply() - do what the block says
 * @reader: has a block
 * @item: filled in, if the block is one
 *
 * A block that is applied is left. One that is not has started a batch, which is to
 * be read first.
 *
 * Return: 1 there is an item; 0, or a negative errno.
 */
int elog_block_apply(struct elog_file_reader *reader, struct elog_item *item);

/** elog_part_start() - forget what belongs to the part before; 0 or -ENOMEM */
int elog_part_start(struct elog_file_reader *reader);

/**
 * elog_stream_get() - the stream of a CPU, made when first needed
 * @reader: the reader
 * @number: the CPU, below ELOG_FILE_CPUS_MAX
 *
 * Return: the stream; NULL: no memory.
 */
struct cpu_stream *elog_stream_get(struct elog_file_reader *reader,
				   unsigned int number);

/** elog_stream_append() - hold a copy of the block's records; 0 or -ENOMEM */
int elog_stream_append(struct elog_file_reader *reader, struct cpu_stream *cpu,
		       const unsigned char *data, size_t size);

/** elog_streams_hold() - is there anything that is held? */
bool elog_streams_hold(const struct elog_file_reader *reader);

/** elog_streams_forget() - free all streams, with what they hold */
void elog_streams_forget(struct elog_file_reader *reader);

/** elog_chunks_free() - free a list of chunks, or keep them as spares */
void elog_chunks_free(struct elog_file_reader *reader, struct chunk **list);

/** elog_spares_free() - free all spares */
void elog_spares_free(struct elog_file_reader *reader);

/**
 * elog_batch_start() - begin to merge what is held
 * @reader: the reader
 * @before: records whose time is not before that stay for the next batch
 * @final: nothing stays
 */
void elog_batch_start(struct elog_file_reader *reader, uint64_t before, bool final);

/** elog_batch_drain() - start a final batch, unless nothing is held: then false */
bool elog_batch_drain(struct elog_file_reader *reader);

/** elog_batch_next() - 1, with an item; 0, the batch is over; -ENOMEM */
int elog_batch_next(struct elog_file_reader *reader, struct elog_item *item);

/** elog_definition_find() - the definition of a descriptor, or NULL */
struct definition *elog_definition_find(struct elog_file_reader *reader,
					uint32_t descriptor);

/** elog_definition_add() - copy a definition that is not there; 0 or -ENOMEM */
int elog_definition_add(struct elog_file_reader *reader, uint32_t descriptor,
			const void *text, size_t size);

/** elog_definitions_forget() - free all definitions */
void elog_definitions_forget(struct elog_file_reader *reader);

#endif /* LIBELOG_READER_H */
