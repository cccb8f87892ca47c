/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The struct of a reader of .elog files. read.c returns items, apply.c applies blocks,
 * batch.c holds and merges records, definitions.c has the schemas, begin.c starts in
 * the middle. A reader belongs to one thread.
 */
#ifndef LIBELOG_READER_H
#define LIBELOG_READER_H

#include "elog.h"
#include "file/blocks.h"
#include "file/input.h"
#include "file/instances.h"
#include "file/zstd.h"
#include "format/merge.h"
#include "unexported/reader.h"
#include "util/map.h"

#define SPARES_MAX	16		/* chunks kept for later blocks */

/* The records of a DATA block, waiting to be merged or in use. */
struct chunk {
	struct chunk *next;
	uint64_t offset;	/* in the file */
	unsigned int cpu;
	const char *instance;	/* in the reader's table; NULL: the root */
	bool swapped;		/* of the other byte order */
	size_t size;
	size_t room;		/* for @data */
	unsigned char data[] __attribute__((aligned(8)));
};

/* A stream of the part. Its records are in the order of their times. */
struct stream {
	struct elog_ring_reader ring;	/* over the first chunk, positions from 0 */
	struct chunk *first;		/* NULL: there is none */
	struct chunk *last;
	bool begun;			/* @ring is over @first */
	bool known;			/* @position is known */
	uint64_t position;		/* in the stream, behind the last block */
	uint64_t gaps;			/* reader.gaps at the last block */
	const char *instance;		/* of the chunk in @ring */
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
	bool unpacked;			/* its body is not compressed any more */
	uint32_t type;
	uint32_t flags;
	const unsigned char *body;
	size_t size;			/* of @body */
	uint64_t offset;
	size_t stored;			/* stored bytes of the body */
	size_t raw_size;		/* bytes of @body when it is unpacked */
};

struct elog_reader {
	int error;

	struct elog_input input;
	bool over;			/* the end was reported */
	bool cut;			/* it ends inside a block */
	bool any;			/* there was a block */
	struct block block;		/* being applied */
	struct elog_decompressor *decompressor;

	/* To be reported. */
	struct damage damage[ELOG_DAMAGES];
	bool damaged;			/* one of @damage was found */
	uint64_t gaps;			/* number of places that may have had blocks */
	uint64_t damages;
	bool new_part;

	/* The current part. */
	char *info;
	bool in_part;			/* there was a block since END */
	uint64_t part_damages;		/* @damages at its beginning */
	uint64_t records;		/* returned since FILE */
	bool counted;			/* @records is complete */
	int64_t wall_offset;
	struct elog_processes *processes;
	struct elog_instances instances;
	struct elog_map definitions;
	size_t definition_bytes;
	uint64_t parsed;		/* total bytes, for the limit */
	size_t parsed_bytes;
	uint64_t generation;		/* of the results of elog_reader_describe() */

	/* Held records, and the batch. */
	struct stream **streams;	/* by number */
	unsigned int stream_count;	/* highest number, plus one */
	unsigned int stream_room;	/* of @streams, and of @merge */
	struct elog_ring_reader no_ring;
	size_t chunk_bytes;
	struct chunk *spent;		/* to be freed by the next call */
	struct chunk *spares[SPARES_MAX];	/* for the next blocks */
	size_t spare_count;
	size_t spare_bytes;
	struct elog_merge merge;
	bool merging;
	bool drained;			/* the batch before the current block is over */
	bool final;			/* the batch includes everything */
	uint64_t before;
	size_t next_loss;		/* of a SYNC block */
	bool continues;			/* the next SYNC's losses are in another file */
};

/** elog_damage_note() - note damage, to be reported */
void elog_damage_note(struct elog_reader *reader, enum elog_damage kind,
		      uint64_t offset, uint64_t size);

/** elog_block_leave() - continue behind the block; return 0 */
int elog_block_leave(struct elog_reader *reader);

/** elog_block_set() - set the block to apply */
void elog_block_set(struct elog_reader *reader,
		    const struct elog_block_header *header,
		    const unsigned char *body, uint64_t offset);

/**
 * elog_block_apply() - apply the current block
 * @reader: has a block
 * @item: filled in, if the block is an item
 *
 * Afterwards the block is left. If it is still there, this has started a batch: read
 * the batch first, and then apply the block again.
 *
 * Return: 1 there is an item; 0, or a negative errno.
 */
int elog_block_apply(struct elog_reader *reader, struct elog_item *item);

/** elog_part_start() - discard the state of the previous part; return 0 or -ENOMEM */
int elog_part_start(struct elog_reader *reader);

/**
 * elog_stream_get() - get a stream, or make it
 * @reader: the reader
 * @number: of the stream, below ELOG_FILE_STREAMS_MAX
 *
 * Return: the stream; NULL: no memory.
 */
struct stream *elog_stream_get(struct elog_reader *reader, unsigned int number);

/**
 * elog_stream_append() - hold a copy of the block's records
 * @reader: the reader
 * @stream: the block's stream
 * @cpu: the block's CPU
 * @instance: the name of the block's instance; NULL: the root
 * @data: the records
 * @size: bytes of them
 *
 * Return: 0 or -ENOMEM.
 */
int elog_stream_append(struct elog_reader *reader, struct stream *stream, unsigned int cpu,
		       const char *instance, const unsigned char *data, size_t size);

/** elog_streams_hold() - are any records held? */
bool elog_streams_hold(const struct elog_reader *reader);

/** elog_streams_forget() - free all streams and their records */
void elog_streams_forget(struct elog_reader *reader);

/** elog_chunks_free() - free a list of chunks, or keep them as spares */
void elog_chunks_free(struct elog_reader *reader, struct chunk **list);

/** elog_spares_free() - free all spares */
void elog_spares_free(struct elog_reader *reader);

/**
 * elog_batch_start() - start to merge the held records
 * @reader: the reader
 * @before: records of this time or later stay for the next batch
 * @final: no record stays
 */
void elog_batch_start(struct elog_reader *reader, uint64_t before, bool final);

/** elog_batch_drain() - start a final batch; return false if nothing is held */
bool elog_batch_drain(struct elog_reader *reader);

/** elog_batch_next() - return 1, with an item; 0, the batch is over; -ENOMEM */
int elog_batch_next(struct elog_reader *reader, struct elog_item *item);

/** elog_definition_find() - get the definition of a descriptor, or NULL */
struct definition *elog_definition_find(struct elog_reader *reader,
					uint32_t descriptor);

/** elog_definition_add() - copy a new definition; return 0 or -ENOMEM */
int elog_definition_add(struct elog_reader *reader, uint32_t descriptor,
			const void *text, size_t size);

/** elog_definitions_forget() - free all definitions */
void elog_definitions_forget(struct elog_reader *reader);

#endif /* LIBELOG_READER_H */
