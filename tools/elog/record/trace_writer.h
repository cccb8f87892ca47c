/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A .elog file that is being written: what it has to have before records of an
 * event or a thread are in it, records one by one or as rings had them, and
 * beginning a new file when it is large.
 */
#ifndef TRACE_WRITER_H
#define TRACE_WRITER_H

#include "util/tool.h"

struct trace_writer;

/**
 * struct writer_setup - what the files of a capture have in common
 * @options: --append, --compress, --rotate, COMMAND
 * @consumer: where schemas are asked for
 * @processes: names of threads
 * @threads: for how many names to remember that they were written, a power of
 *	two, from 4 on
 * @capture: see struct elog_file_options; empty: none
 * @start: likewise
 * @told: set to true when one has said what went wrong, as trace_writer_open() does,
 *	and trace_writer_rotate() of the new file
 * @interrupted: see struct elog_file_options
 */
struct writer_setup {
	const struct options *options;
	struct elog_consumer *consumer;
	struct elog_processes *processes;
	size_t threads;
	char capture[20];
	uint64_t start;
	bool *told;
	bool (*interrupted)(void *context);
};

/**
 * trace_writer_open() - open a file, and begin it
 * @trace: set to the new writer
 * @setup: outlives it
 * @path: the file, "-": stdout; copied
 * @append: keep what it has
 *
 * Return: 0, or a negative errno, the reason being told.
 */
int trace_writer_open(struct trace_writer **trace,
		      const struct writer_setup *setup, const char *path,
		      bool append);

/** trace_writer_close() - close it as it is; NULL is fine */
void trace_writer_close(struct trace_writer *trace);

/** trace_writer_path() - its path */
const char *trace_writer_path(const struct trace_writer *trace);

/**
 * trace_writer_mention() - write what has to be there before a record
 * @trace: the writer
 * @descriptor: of its event
 * @pid: its process
 * @tid: its thread
 *
 * Cheap when it was the same the last time.
 *
 * Return: 0, or a negative errno.
 */
int trace_writer_mention(struct trace_writer *trace, uint32_t descriptor,
			 uint32_t pid, uint32_t tid);

/** trace_writer_now() - names of threads may have changed; CLOCK_MONOTONIC ns */
void trace_writer_now(struct trace_writer *trace, uint64_t now);

/**
 * trace_writer_raw() - write records as a ring has them
 * @trace: one that trace_writer_add() is not used with
 * @cpu: the ring's
 * @data: whole records, mentioned before
 * @size: bytes
 * @position: in the ring
 * @records: events among them
 * @info: see elog_file_write_raw()
 *
 * Return: 0, or a negative errno.
 */
int trace_writer_raw(struct trace_writer *trace, unsigned int cpu,
		     const void *data, size_t size, uint64_t position,
		     uint64_t records, const struct elog_file_raw_info *info);

/**
 * trace_writer_add() - add an event or a loss
 * @trace: one that trace_writer_raw() is not used with
 * @item: the event, in the order of its CPU; or a loss
 *
 * It is kept until there are many, or the next trace_writer_sync().
 *
 * Return: 0, or a negative errno.
 */
int trace_writer_add(struct trace_writer *trace, const struct elog_item *item);

/**
 * trace_writer_sync() - state that nothing older follows
 * @trace: the writer
 * @time: than this
 * @losses: of all CPUs, cumulative, for trace_writer_raw(); NULL: what was added
 * @count: of @losses
 *
 * Return: 0, or a negative errno.
 */
int trace_writer_sync(struct trace_writer *trace, uint64_t time,
		      const struct elog_file_loss *losses, size_t count);

/** trace_writer_dirty() - was something written or kept since trace_writer_sync()? */
bool trace_writer_dirty(const struct trace_writer *trace);

/**
 * trace_writer_end() - state that it is complete, after the last trace_writer_sync()
 * @trace: the writer; only trace_writer_close() may follow
 * @lost: how many events were lost; UINT64_MAX: what was added
 *
 * Return: 0, or a negative errno.
 */
int trace_writer_end(struct trace_writer *trace, uint64_t lost);

/** trace_writer_is_full() - is it as large as --rotate says? */
bool trace_writer_is_full(const struct trace_writer *trace);

/**
 * trace_writer_rotate() - end the file, put it aside and begin a new one
 * @trace: right after trace_writer_sync()
 * @time: as given to that, as are the others
 * @losses: the new file tells that these were told before
 * @count: of @losses
 *
 * Return: 0, or a negative errno, see struct writer_setup.
 */
int trace_writer_rotate(struct trace_writer *trace, uint64_t time,
			const struct elog_file_loss *losses, size_t count);

/** trace_writer_records() - events written so far, to all its files */
uint64_t trace_writer_records(const struct trace_writer *trace);

/** trace_writer_size() - bytes that are good, in all its files */
uint64_t trace_writer_size(const struct trace_writer *trace);

#endif /* TRACE_WRITER_H */
