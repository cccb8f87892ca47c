/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * libelog: writing and reading .elog files. elog(5) documents the format.
 */
#ifndef ELOG_FILE_H
#define ELOG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/eventlog.h>

#include "elog/item.h"
#include "elog/processes.h"
#include "elog/schema.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the format that this library writes and reads. */
#define ELOG_FILE_VERSION	2

struct elog_file_writer;

/* The losses of the first SYNC block were already reported by another file. */
#define ELOG_FILE_CONTINUES	(1U << 0)

/**
 * struct elog_file_options - how to write a file
 * @size: sizeof(struct elog_file_options)
 * @flags: ELOG_FILE_CONTINUES, or 0
 * @program: name and version of the writing program; NULL: not stored
 * @command: description of what was captured; NULL: not stored
 * @capture: an id that the files of one capture share, and no other files have.
 *	Readers of several files use it to report each loss once. NULL: this capture
 *	has no other files
 * @cpus: as elog_consumer_cpus() returns
 * @compression: level for schemas and records; 0: none; 1 (fast) to 19 (small), as
 *	in zstd(1)
 * @interrupted: called when a signal has interrupted writing; return true to give up.
 *	NULL: never give up
 * @context: for @interrupted
 * @start: there are no records before this time, ns, in the clock of the records; 0:
 *	now
 */
struct elog_file_options {
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
};

/**
 * elog_file_writer_open() - start a file, or a further part of one
 * @writer: set to the new writer
 * @fd: where to write, from its current position; still belongs to the caller. The
 *	writer does not seek
 * @options: how to write
 *
 * This function and all functions that write return a negative errno of write(2), or
 * -EINTR if @interrupted returned true. After that, all later calls return the same.
 * If @fd is a regular file that nobody else has appended to, it is then truncated
 * behind its last whole block.
 *
 * Return: 0; -EINVAL; -ENOMEM; -EOPNOTSUPP compression is not built in; or as above.
 */
int elog_file_writer_open(struct elog_file_writer **writer, int fd,
			  const struct elog_file_options *options);

/** elog_file_writer_close() - free a writer, without writing; may be NULL */
void elog_file_writer_close(struct elog_file_writer *writer);

/** elog_file_writer_size() - get the bytes of whole blocks written so far */
uint64_t elog_file_writer_size(const struct elog_file_writer *writer);

/**
 * struct elog_file_raw_info - properties of a sequence of records
 * @newest: no record is later than this, CLOCK_MONOTONIC ns
 * @lost: losses by cause that the stream's records report so far, including these
 * @lost_count: elements of @lost, at most ELOG_LOST_CAUSES_MAX
 * @reserved: 0
 */
struct elog_file_raw_info {
	uint64_t newest;
	const uint64_t *lost;
	uint32_t lost_count;
	uint32_t reserved[3];
};

/**
 * elog_file_write_raw() - store records
 * @writer: the writer
 * @cpu: the CPU that emitted them; EVENTLOG_CPU_ALL: not known
 * @stream: the number of their ring, below 8192: streams may share a CPU. For rings of
 *	CPUs, use the CPU's number
 * @data: the data of elog_consumer_raw(); not copied
 * @size: bytes of it
 * @position: the position of elog_consumer_raw()
 * @info: their properties; NULL: the writer reads each record to find out. If it is
 *	wrong, a reader that starts in the middle may miss events
 *
 * Write their schemas and the names of their threads before.
 *
 * Return: 0, -EINVAL, or a negative errno as for elog_file_writer_open().
 */
int elog_file_write_raw(struct elog_file_writer *writer, unsigned int cpu,
			uint32_t stream, const void *data, size_t size, uint64_t position,
			const struct elog_file_raw_info *info);

/**
 * elog_file_write_schema() - store a definition, once
 * @writer: the writer
 * @descriptor: its descriptor
 * @provider_id: as from EVENTLOG_IOC_DESCRIBE
 * @text: its schema
 *
 * Return: 0, or a negative errno as for elog_file_writer_open().
 */
int elog_file_write_schema(struct elog_file_writer *writer, uint32_t descriptor,
			   uint32_t provider_id, const char *text);

/**
 * elog_file_write_process() - store a thread's name
 * @writer: collects names, and stores them before the next records
 * @pid: its process
 * @tid: the thread
 * @name: its name, truncated to 15 bytes
 *
 * Return: 0, or a negative errno as for elog_file_writer_open().
 */
int elog_file_write_process(struct elog_file_writer *writer, uint32_t pid,
			    uint32_t tid, const char *name);

/**
 * struct elog_file_loss - the losses of a stream so far
 * @cpu: its CPU; EVENTLOG_CPU_ALL: not known
 * @stream: its number; ELOG_STREAM_NONE: the losses on CPUs that have no ring
 * @lost: by cause, cumulative
 * @lost_count: elements of @lost, at most ELOG_LOST_CAUSES_MAX
 * @reserved: 0
 */
struct elog_file_loss {
	uint32_t cpu;
	uint32_t stream;
	const uint64_t *lost;
	uint32_t lost_count;
	uint32_t reserved;
};

/**
 * elog_file_write_sync() - state that no older record follows
 * @writer: the writer
 * @time: the records that follow are not older than this, CLOCK_MONOTONIC ns
 * @losses: one for each stream that has lost events
 * @count: elements of @losses, at most 8193
 *
 * A reader holds back records until it finds this. Write it several times a second,
 * and at the end.
 *
 * Return: 0, -EINVAL, or a negative errno as for elog_file_writer_open().
 */
int elog_file_write_sync(struct elog_file_writer *writer, uint64_t time,
			 const struct elog_file_loss *losses, size_t count);

/**
 * elog_file_write_end() - state that the capture is complete
 * @writer: the writer
 * @records: events that were written
 * @lost: events that were lost
 *
 * Return: 0, or a negative errno as for elog_file_writer_open().
 */
int elog_file_write_end(struct elog_file_writer *writer, uint64_t records,
			uint64_t lost);

struct elog_file_reader;

/**
 * elog_file_reader_open() - start to read a file
 * @reader: set to the new reader
 * @fd: a file or a pipe, read from its current position; still belongs to the caller
 *
 * Reads nothing yet.
 *
 * Return: 0 or -ENOMEM.
 */
int elog_file_reader_open(struct elog_file_reader **reader, int fd);

/** elog_file_reader_close() - free a reader and everything it returned; may be NULL */
void elog_file_reader_close(struct elog_file_reader *reader);

/**
 * elog_file_next() - get the next item, events in the order of their times
 * @reader: the reader
 * @item: filled in; its payload is valid until the next call for the reader
 *
 * Everything is converted to this machine's byte order. Only a payload without schema
 * in the file stays in the order of the machine that wrote it.
 *
 * The file need not be valid. Damage is reported as ELOG_ITEM_DAMAGE, and reading
 * continues behind it. Memory usage does not grow with the file, and the run time
 * grows at most linearly, whatever size compressed blocks claim for their contents. A
 * library built without zstd reports compressed blocks as ELOG_DAMAGE_UNKNOWN.
 *
 * Return: 1 there is an item; 0 the end of the file; a negative errno of read(2);
 * -ENOMEM; -EBADMSG this is not an .elog file; -EPROTONOSUPPORT or -EOPNOTSUPP this
 * library cannot read its version or its byte order; -EAGAIN no more data for now, in
 * a file that is followed or in a non-blocking pipe: nothing is lost, call it again.
 * After any other error, every call returns the same.
 */
int elog_file_next(struct elog_file_reader *reader, struct elog_item *item);

/**
 * elog_file_describe() - get the schema of an event of the file
 * @reader: the reader
 * @descriptor: struct elog_item.descriptor
 * @event: set; valid as long as elog_file_generation() returns the same number
 *
 * Return: 0; -ENOENT there is none; -EINVAL the text has an error; -ENOMEM.
 */
int elog_file_describe(struct elog_file_reader *reader, uint32_t descriptor,
		       const struct elog_schema_event **event);

/**
 * elog_file_generation() - find out whether schemas are still valid
 * @reader: the reader
 *
 * For callers that cache the results of elog_file_describe() by descriptor. Do not
 * cache failures: in a damaged file, a schema may come late.
 *
 * Return: a number that changes when a schema becomes invalid, or when a descriptor may
 * have another meaning. elog_file_describe() and elog_file_next() may change it.
 */
uint64_t elog_file_generation(const struct elog_file_reader *reader);

/**
 * elog_file_progress() - get the number of bytes read
 * @reader: the reader
 * @done: set to bytes read so far
 * @total: set to bytes that will have been read at the current end of the file; 0: not
 *	known, because this is not a regular file
 *
 * Neither includes the data that elog_file_seek() has skipped.
 *
 * Return: 0 or a negative errno of fstat(2).
 */
int elog_file_progress(const struct elog_file_reader *reader, uint64_t *done,
		       uint64_t *total);

/**
 * elog_file_follow() - continue to read when the file grows
 * @reader: the reader
 * @on: whether to do so; off at first
 *
 * While this is on, elog_file_next() returns -EAGAIN at the end of the file, and the
 * next call tries to continue. An incomplete block at the end is then not damage,
 * unless another part begins inside it for a second.
 *
 * Records are still held back until the next SYNC block. Wait between two calls:
 * poll(2) does not work for files.
 *
 * Return: 0; -EINVAL the reader has already reached the end.
 */
int elog_file_follow(struct elog_file_reader *reader, bool on);

/**
 * elog_file_seek() - omit what is earlier than a time
 * @reader: a reader that has not read anything yet
 * @from: the time, CLOCK_REALTIME in nanoseconds
 *
 * May omit some or all of the earlier events and losses, and never omits later ones.
 * Damage in the omitted data is not reported.
 *
 * The index in the file is verified, so damage does not hide events. A forged index
 * with correct checksums can hide them, like other forged data. A file that is not
 * regular is read from its beginning.
 *
 * Return: 0; -EINVAL something was read already; -ENOMEM or a negative errno of
 * pread(2), which elog_file_next() then returns, too.
 */
int elog_file_seek(struct elog_file_reader *reader, uint64_t from);

/**
 * elog_file_processes() - get the names of threads in the file
 * @reader: owns the table
 */
struct elog_processes *elog_file_processes(struct elog_file_reader *reader);

/**
 * elog_file_info() - get a property of the current part
 * @reader: the reader
 * @key: version, host, kernel, machine, elog, command, ...: see elog(5)
 *
 * Return: the text, which contains no newline but is otherwise arbitrary. It is valid
 * until the next part begins. NULL: the part does not have the property.
 */
const char *elog_file_info(const struct elog_file_reader *reader, const char *key);

/**
 * elog_file_wall_offset() - get CLOCK_REALTIME - CLOCK_MONOTONIC, ns
 * @reader: the reader
 *
 * Return: the difference at the time when the current events were written.
 */
int64_t elog_file_wall_offset(const struct elog_file_reader *reader);

struct elog_file_set;

/**
 * elog_file_set_open() - start to read several files as one
 * @set: set to the new set
 *
 * Return: 0 or -ENOMEM.
 */
int elog_file_set_open(struct elog_file_set **set);

/** elog_file_set_close() - free a set and its readers; may be NULL */
void elog_file_set_close(struct elog_file_set *set);

/**
 * elog_file_set_add() - add a file
 * @set: the set
 * @fd: as for elog_file_reader_open()
 * @reader: set to its reader, which belongs to the set. All functions except
 *	elog_file_next() and elog_file_reader_close() may be called for it
 *
 * Return: 0 or -ENOMEM.
 */
int elog_file_set_add(struct elog_file_set *set, int fd,
		      struct elog_file_reader **reader);

/**
 * elog_file_set_next() - get the next item of all files
 * @set: the set
 * @item: filled in; its payload is valid until the next call for the set
 * @reader: set to the reader of its file, in the same state as after
 *	elog_file_next(); NULL: no file
 *
 * Events and losses are in the order of their times of day, which are @item->time +
 * elog_file_wall_offset(@reader). At equal times, files come in the order of adding.
 * The order within a file is kept, even if its clock was set back. Files of one boot
 * of one machine are sorted by @item->time, because their times of day differ by the
 * time it takes to read clocks. Other items are returned as they come.
 *
 * If a file that is followed has no data for now, the others do not wait for it. It is
 * tried again after -EAGAIN was returned.
 *
 * Memory usage does not grow with the files.
 *
 * Return: 1 there is an item; 0 the end of all files; -EAGAIN no file has data for now;
 * or an error of elog_file_next() for @reader, once: the other files continue.
 */
int elog_file_set_next(struct elog_file_set *set, struct elog_item *item,
		       struct elog_file_reader **reader);

#ifdef __cplusplus
}
#endif

#endif /* ELOG_FILE_H */
