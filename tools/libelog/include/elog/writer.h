/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * libelog: writing .elog files. elog(5) documents the format.
 *
 * A writer stores schemas and names of threads itself, each before the first event
 * that needs it.
 */
#ifndef ELOG_WRITER_H
#define ELOG_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/eventlog.h>

#include "elog/item.h"
#include "elog/processes.h"

#ifdef __cplusplus
extern "C" {
#endif

struct elog_writer;

/*
 * The records come from this kernel: none was emitted after it was passed to the
 * writer. Then the writer need not read the time of each one.
 */
#define ELOG_WRITER_LIVE	(1U << 0)

#define ELOG_WRITER_FILES_MAX	1024

/**
 * struct elog_writer_options - how to write a file
 * @size: sizeof(struct elog_writer_options); elog.h says how such structs grow
 * @flags: ELOG_WRITER_LIVE, or 0
 * @program: name and version of the writing program; NULL: not stored
 * @command: description of what was captured; NULL: not stored
 * @capture: an id that the files of one capture share, and no other files have.
 *	Readers of several files use it to report each loss once, and to find @files.
 *	NULL: this capture has no other files
 * @cpus: the largest number of CPUs, for information
 * @compression: level for schemas and records; 0: none; 1 (fast) to 19 (small), as
 *	in zstd(1)
 * @interrupted: called when a signal has interrupted writing; return true to give up.
 *	NULL: never give up
 * @context: for @interrupted and @definition
 * @start: there are no records before this time, ns, in the clock of the records; 0:
 *	now
 * @definition: gets a definition, as elog_consumer_definition() does: sets
 *	@request->provider_id, up to @request->size, and @text, which the writer
 *	frees. Returns 0; -ENOENT: there
 *	is none; another negative errno: the writer returns it. NULL: call
 *	elog_writer_schema()
 * @processes: has the names of threads; outlives the writer. NULL: call
 *	elog_writer_process()
 * @threads_max: threads whose names the writer remembers; 0: 16384. Further ones cost
 *	space in the file, because names are stored repeatedly
 * @files: the capture writes this many files at the same time, each with some of its
 *	streams; at most ELOG_WRITER_FILES_MAX. Readers of the first file use it to find the
 *	others, see elog(5). 0 in the others, and if the capture writes only one file
 * @continues: the writer of the previous file of this capture, which is closed after
 *	this call; NULL: there is none. Losses continue to count from there
 */
struct elog_writer_options {
	uint32_t size;
	uint32_t flags;
	const char *program;
	const char *command;
	const char *capture;
	uint32_t cpus;
	uint32_t compression;
	bool (*interrupted)(void *context);
	void *context;
	uint64_t start;
	int (*definition)(void *context, struct eventlog_describe *request, char **text);
	struct elog_processes *processes;
	uint32_t threads_max;
	uint32_t files;
	const struct elog_writer *continues;
};

/**
 * elog_writer_open() - start a file, or a further part of one
 * @writer: set to the new writer
 * @fd: where to write, from its current position; still belongs to the caller. The
 *	writer does not seek
 * @options: how to write
 *
 * This function and all functions that write return a negative errno of write(2), or
 * -EINTR if @interrupted returned true. After that, all later calls return the same,
 * until elog_writer_retry().
 * If @fd is a regular file that no other process has changed, it is then truncated after its
 * last whole block. -ESTALE: another process has truncated or removed the file or written to
 * it, so the writer has ended. A writer that continues it (see @continues) has what was not written.
 * Open @fd with O_APPEND, so that no block gets over the bytes of others.
 *
 * Return: 0; -EINVAL; -E2BIG an option that this library does not know is set; -ENOMEM;
 * -EOPNOTSUPP compression is not built in; or as above.
 */
int elog_writer_open(struct elog_writer **writer, int fd,
		     const struct elog_writer_options *options);

/** elog_writer_close() - free a writer, without writing; may be NULL */
void elog_writer_close(struct elog_writer *writer);

/**
 * elog_writer_add() - store a copy of an event or a loss
 * @writer: the writer
 * @item: of a consumer or a reader; items of other types are ignored. The events of a
 *	stream come in the order of their times
 *
 * It is written when there are many, or by elog_writer_sync().
 *
 * Return: 0; -EINVAL; -ENOMEM; or a negative errno as for elog_writer_open() or of
 * @definition.
 */
int elog_writer_add(struct elog_writer *writer, const struct elog_item *item);

/**
 * elog_writer_schema() - store a definition
 * @writer: the writer
 * @descriptor: its descriptor, once
 * @provider_id: as from EVENTLOG_IOC_DESCRIBE
 * @text: its schema
 *
 * For a writer without @definition; before the records that need it.
 *
 * Return: 0, -ENOMEM, or a negative errno as for elog_writer_open().
 */
int elog_writer_schema(struct elog_writer *writer, uint32_t descriptor,
		       uint32_t provider_id, const char *text);

/**
 * elog_writer_process() - store a thread's name
 * @writer: collects names, and stores them before the next records
 * @pid: its process
 * @tid: the thread
 * @name: its name, truncated to 15 bytes
 *
 * For a writer without @processes; before the records that need it.
 *
 * Return: 0, or a negative errno as for elog_writer_open().
 */
int elog_writer_process(struct elog_writer *writer, uint32_t pid, uint32_t tid,
			const char *name);

/**
 * struct elog_writer_loss - the losses of a stream so far
 * @cpu: its CPU; EVENTLOG_CPU_UNKNOWN: not known
 * @stream: its number; ELOG_STREAM_NONE: the losses on CPUs that have no ring
 * @lost: by cause, cumulative
 * @lost_count: elements of @lost, at most ELOG_LOST_CAUSES_MAX
 * @reserved: 0
 */
struct elog_writer_loss {
	uint32_t cpu;
	uint32_t stream;
	const uint64_t *lost;
	uint32_t lost_count;
	uint32_t reserved;
};

/**
 * elog_writer_sync() - state that no older record follows
 * @writer: the writer
 * @time: the records that follow are not older than this, CLOCK_MONOTONIC ns
 * @losses: of streams that have lost events; besides these, the writer states those
 *	that it knows from records and earlier calls
 * @count: elements of @losses, at most 8193
 *
 * A reader holds back records until it finds this. Call it several times a second,
 * and at the end.
 *
 * Return: 0, -EINVAL, -ENOMEM, or a negative errno as for elog_writer_open().
 */
int elog_writer_sync(struct elog_writer *writer, uint64_t time,
		     const struct elog_writer_loss *losses, size_t count);

/**
 * elog_writer_end() - state that the capture is complete
 * @writer: the writer, after elog_writer_sync()
 * @lost: events that were lost; UINT64_MAX: as many as elog_writer_sync() stated
 *
 * Return: 0, or a negative errno as for elog_writer_open().
 */
int elog_writer_end(struct elog_writer *writer, uint64_t lost);

/**
 * elog_writer_retry() - go on after the file could not be written
 * @writer: the writer
 *
 * After -ENOSPC, -EDQUOT, -EFBIG, -EIO or -EROFS, a writer of a regular file has lost
 * nothing: call this function some time later, and then the function that failed, with the
 * same arguments. elog_writer_add() fails before it takes an event, so the memory for
 * events that wait is limited.
 *
 * Return: 1: the writer can be used again; 0: writing has not failed; or the errno that
 * all calls return from now on.
 */
int elog_writer_retry(struct elog_writer *writer);

#ifdef __cplusplus
}
#endif

#endif /* ELOG_WRITER_H */
