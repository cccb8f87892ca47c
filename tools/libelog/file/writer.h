/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The struct of a writer of .elog files. write.c writes blocks, records.c takes records
 * and stores what has to precede them, index.c makes INDEX blocks. A writer belongs to
 * one thread.
 */
#ifndef LIBELOG_WRITER_H
#define LIBELOG_WRITER_H

#include "elog.h"
#include "file/blocks.h"
#include "file/index.h"
#include "file/instances.h"
#include "file/zstd.h"
#include "unexported/writer.h"
#include "util/map.h"
#include "util/util.h"

#define PROCESSES_MAX	256	/* in one block */

/* A stream, and the items that elog_writer_add() has stored in the form of a ring. */
struct writer_stream {
	uint32_t number;
	unsigned int cpu;
	uint32_t instance;	/* in the writer's table; 0: the root */
	uint64_t position;	/* of @data */
	unsigned char *data;
	size_t size;
	size_t capacity;
	uint64_t events;	/* among these */
	uint64_t lost[ELOG_LOST_CAUSES_MAX];	/* so far */
	uint64_t stated[ELOG_LOST_CAUSES_MAX];	/* of these, what is in the file */
	uint32_t lost_count;
	uint64_t end;		/* position behind the last raw records */
	uint32_t records;	/* events before @end: lower 32 bits */
	bool gap;		/* raw records are missing */
};

struct elog_writer {
	int fd;
	uint32_t flags;
	struct elog_clock_offsets ahead;	/* our clocks, compared with the kernel's */
	int error;		/* writing failed */
	bool regular;		/* a file, and its end is where this part ends */
	bool appends;		/* likewise, with O_APPEND */
	bool named;		/* likewise, and it has a name: another program may remove it */
	uint64_t begin;		/* where in a regular file this part begins */
	uint64_t size;		/* bytes of whole blocks */
	uint64_t torn;		/* bytes of an incomplete block behind these */
	uint64_t block_size;	/* of the last block that could not be written */
	uint64_t block_fit;	/* bytes of it that the file did take */
	bool (*interrupted)(void *context);
	int (*definition)(void *context, struct eventlog_describe *request, char **text);
	void *context;
	struct elog_compressor *compressor;	/* NULL: no compression */
	struct elog_index index;
	size_t process_count;
	struct elog_block_process processes[PROCESSES_MAX];

	struct elog_instances instances;
	size_t instances_written;
	uint64_t events;
	uint64_t events_before;		/* in the files that this one continues */
	struct elog_map streams;	/* struct writer_stream, by number */

	struct elog_processes *names;
	uint32_t threads_max;
	bool by_meta;			/* records were stored without looking at them */
	bool looks;			/* never do so: schemas or threads may be missing */
	bool renamed;			/* threads may have new names before REFRESH_NS */
	bool mentioned;			/* @last_descriptor and @last_tid are stored */
	uint32_t last_descriptor;
	uint32_t last_tid;
	struct elog_map schemas;	/* by descriptor: the descriptors that are stored */
	struct elog_map threads;	/* whose names are stored, the latest asked for last */
};

/** elog_writer_is_full() - may a shorter block still fit after this error? */
bool elog_writer_is_full(int error);

/** elog_writer_store() - write a DATA block; @info may be NULL; return 0 or an error */
int elog_writer_store(struct elog_writer *writer, const struct writer_stream *stream,
		      const void *data, size_t size, uint64_t position,
		      const struct elog_index_info *info);

/** elog_writer_store_schema() - elog_writer_schema() of an instance in the writer's table */
int elog_writer_store_schema(struct elog_writer *writer, uint32_t descriptor,
			     uint32_t provider_id, uint32_t instance, const char *text);

/** elog_writer_time() - CLOCK_MONOTONIC as the kernel reads it for records, ns */
uint64_t elog_writer_time(const struct elog_writer *writer);

/**
 * elog_records_init() - make the tables of a new writer
 * @writer: the writer
 * @continues: whose losses it takes over, or NULL
 *
 * Return: 0 or -ENOMEM.
 */
int elog_records_init(struct elog_writer *writer, const struct elog_writer *continues);

/**
 * elog_records_continue() - store what later records of the rings do not bring any more
 * @writer: whose FILE block is written
 * @continues: the writer of the file before, or NULL
 *
 * Return: 0 or a negative errno.
 */
int elog_records_continue(struct elog_writer *writer, const struct elog_writer *continues);

/** elog_records_schema() - note that a schema is stored; return 0 or -ENOMEM */
int elog_records_schema(struct elog_writer *writer, uint32_t descriptor);

/** elog_records_free() - free the tables */
void elog_records_free(struct elog_writer *writer);

/** elog_records_flush() - write what elog_writer_add() has stored; return 0 or an error */
int elog_records_flush(struct elog_writer *writer);

/** elog_records_stated() - the file states all losses so far */
void elog_records_stated(struct elog_writer *writer);

/** elog_records_losses() - raise the losses of streams; return 0 or -ENOMEM */
int elog_records_losses(struct elog_writer *writer, const struct elog_writer_loss *losses,
			size_t count);

#endif /* LIBELOG_WRITER_H */
