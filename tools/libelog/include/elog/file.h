/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * libelog: .elog files: elog(5) says what is in them.
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

struct elog_file_writer;

/* The first SYNC block tells losses that another file has told already. */
#define ELOG_FILE_CONTINUES	(1U << 0)

/**
 * struct elog_file_options - how to write a file
 * @size: sizeof(struct elog_file_options)
 * @flags: ELOG_FILE_CONTINUES, or 0
 * @program: what writes it, with its version; NULL: not told
 * @command: what was captured; NULL: not told
 * @capture: what all files of one capture that each of its losses is told by say,
 *	and no others: whoever reads them together knows by it; NULL: no others do
 * @cpus: as elog_consumer_cpus() says
 * @compression: of schemas and records; 0: none; 1, fast, to 19, small: as zstd(1)
 *	has them
 * @interrupted: called when a signal has interrupted writing; to give up, return
 *	true. NULL: never
 * @context: for @interrupted
 * @start: since when there may be records, in the time that they have, ns; 0: from
 *	now on
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
 * elog_file_writer_open() - begin a file, or a further part of one
 * @writer: set to the new writer
 * @fd: where to write, from where it stands; stays the caller's. It is never
 *	sought on
 * @options: how
 *
 * This and all that write return a negative errno of write(2), or -EINTR when
 * they were to give up, and then all that follow return the same. If @fd is a
 * regular file, and nobody else has written to its end, it is cut back to the last
 * whole block then.
 *
 * Return: 0, -EINVAL, -ENOMEM, -EOPNOTSUPP compression is not built in, or as
 * said.
 */
int elog_file_writer_open(struct elog_file_writer **writer, int fd,
			  const struct elog_file_options *options);

/** elog_file_writer_close() - free a writer, write nothing; NULL is fine */
void elog_file_writer_close(struct elog_file_writer *writer);

/** elog_file_writer_size() - bytes of whole blocks written so far */
uint64_t elog_file_writer_size(const struct elog_file_writer *writer);

/**
 * struct elog_file_raw_info - what is known of records without looking at them
 * @newest: none of them is later than that, CLOCK_MONOTONIC ns
 * @lost: by cause, what the CPU's records tell so far, these included
 * @reserved: 0
 */
struct elog_file_raw_info {
	uint64_t newest;
	uint64_t lost[EVENTLOG_LOST_CAUSES];
	uint64_t reserved[2];
};

/**
 * elog_file_write_raw() - store records
 * @writer: the writer
 * @cpu: whose ring they are from
 * @data: what elog_consumer_raw() gave; not copied
 * @size: bytes of it
 * @position: likewise
 * @info: what is known of them; NULL: each record is looked at to find out. If it
 *	is wrong, events may be missing when a reader begins in the middle
 *
 * Their schemas and the names of their threads are to be written before.
 *
 * Return: 0, -EINVAL, or a negative errno as elog_file_writer_open() says.
 */
int elog_file_write_raw(struct elog_file_writer *writer, unsigned int cpu,
			const void *data, size_t size, uint64_t position,
			const struct elog_file_raw_info *info);

/**
 * elog_file_write_schema() - store a definition, once
 * @writer: the writer
 * @descriptor: its descriptor
 * @provider_id: as EVENTLOG_IOC_DESCRIBE tells
 * @text: its schema
 *
 * Return: 0, or a negative errno as elog_file_writer_open() says.
 */
int elog_file_write_schema(struct elog_file_writer *writer, uint32_t descriptor,
			   uint32_t provider_id, const char *text);

/**
 * elog_file_write_process() - store a thread's name
 * @writer: the writer, which stores it together with others, before the next
 *	records
 * @pid: its process
 * @tid: the thread
 * @name: its name, of which 15 bytes count
 *
 * Return: 0, or a negative errno as elog_file_writer_open() says.
 */
int elog_file_write_process(struct elog_file_writer *writer, uint32_t pid,
			    uint32_t tid, const char *name);

/**
 * struct elog_file_loss - what a CPU has lost so far
 * @cpu: the CPU, or EVENTLOG_CPU_ALL: those that have no ring
 * @reserved: 0
 * @lost: by cause, cumulative
 */
struct elog_file_loss {
	uint32_t cpu;
	uint32_t reserved;
	uint64_t lost[EVENTLOG_LOST_CAUSES];
};

/**
 * elog_file_write_sync() - state that nothing older follows
 * @writer: the writer
 * @time: than this, CLOCK_MONOTONIC ns
 * @losses: of CPUs that have lost anything
 * @count: of @losses, at most 4097
 *
 * A reader holds what it has read until it finds this: write it several times a
 * second, and at the end.
 *
 * Return: 0, -EINVAL, or a negative errno as elog_file_writer_open() says.
 */
int elog_file_write_sync(struct elog_file_writer *writer, uint64_t time,
			 const struct elog_file_loss *losses, size_t count);

/**
 * elog_file_write_end() - state that the capture has ended as it should
 * @writer: the writer
 * @records: events that were written
 * @lost: events that were lost
 *
 * Return: 0, or a negative errno as elog_file_writer_open() says.
 */
int elog_file_write_end(struct elog_file_writer *writer, uint64_t records,
			uint64_t lost);

struct elog_file_reader;

/**
 * elog_file_reader_open() - begin to read a file
 * @reader: set to the new reader
 * @fd: what to read, from where it stands: a file or a pipe; stays the caller's
 *
 * Nothing is read yet.
 *
 * Return: 0 or -ENOMEM.
 */
int elog_file_reader_open(struct elog_file_reader **reader, int fd);

/** elog_file_reader_close() - free a reader and everything it yielded; NULL is fine */
void elog_file_reader_close(struct elog_file_reader *reader);

/**
 * elog_file_next() - the next event, in the order of their times, or whatever
 * @reader: the reader
 * @item: filled in; a payload is valid until the next call for the reader
 *
 * All is in this machine's byte order, also of a machine of the other one; but a
 * payload whose schema the file does not have is as it was there.
 *
 * A file may be anything: what is not whole is reported as ELOG_ITEM_DAMAGE,
 * and reading goes on behind it. Memory does not grow with the file, nor time more
 * than it does, whatever compressed blocks claim to become. Built without zstd the
 * library reports these as ELOG_DAMAGE_UNKNOWN.
 *
 * Return: 1 there is one; 0 the end; a negative errno of read(2); -ENOMEM;
 * -EBADMSG this is no .elog file; -EPROTONOSUPPORT it is of a version, or
 * -EOPNOTSUPP of a byte order, that this library cannot read. After an error
 * every call returns the same, but for -EAGAIN: there is nothing more to read for
 * now, of a file that is followed or of a pipe that does not block; nothing is
 * lost.
 */
int elog_file_next(struct elog_file_reader *reader, struct elog_item *item);

/**
 * elog_file_describe() - the schema of an event of the file
 * @reader: the reader
 * @descriptor: struct elog_item.descriptor
 * @event: set; valid as long as elog_file_generation() says the same
 *
 * Return: 0, -ENOENT there is none, -EINVAL the text is not understood,
 * -ENOMEM.
 */
int elog_file_describe(struct elog_file_reader *reader, uint32_t descriptor,
		       const struct elog_schema_event **event);

/**
 * elog_file_generation() - whether descriptions are still what they were
 * @reader: the reader
 *
 * For who keeps what elog_file_describe() gave, by descriptor. Failures are not
 * to be kept: a schema may come late in a damaged file.
 *
 * Return: a count that is another one as soon as any of them has become invalid,
 * or a descriptor may have another meaning. elog_file_describe() and
 * elog_file_next() change it.
 */
uint64_t elog_file_generation(const struct elog_file_reader *reader);

/**
 * elog_file_progress() - how much was read
 * @reader: the reader
 * @done: set to bytes read so far
 * @total: set to bytes that will have been read at the end of the file as it is
 *	now: what elog_file_seek() passed over is in neither; 0: not known, this
 *	is no regular file
 *
 * Return: 0 or a negative errno of fstat(2).
 */
int elog_file_progress(const struct elog_file_reader *reader, uint64_t *done,
		       uint64_t *total);

/**
 * elog_file_follow() - read on when the file grows
 * @reader: the reader
 * @on: whether
 *
 * While it is on, elog_file_next() returns -EAGAIN where the file ends, and the
 * next call tries to read on; that a block is not whole yet is no damage, unless
 * another part has begun in it for a second. Off: the end is the end, as it is at
 * first.
 *
 * What no SYNC block has released is held as ever. Wait between calls: there is
 * nothing to poll(2) for in a file.
 *
 * Return: 0; -EINVAL the end was found already.
 */
int elog_file_follow(struct elog_file_reader *reader, bool on);

/**
 * elog_file_seek() - leave out what is earlier than a time
 * @reader: the reader, of which nothing was read yet
 * @from: the time, CLOCK_REALTIME in nanoseconds
 *
 * Of events and losses that are earlier some, or all, are left out; none is
 * that is at that time or later. Damages in what was left out are not told.
 *
 * What the file says of itself is verified, so that damages leave out nothing;
 * only who made checksums for what is wrong is believed, as in all else. A file
 * that is not regular is read from its beginning.
 *
 * Return: 0; -EINVAL something was read already; -ENOMEM, or a negative errno of
 * pread(2), which then elog_file_next() returns, too.
 */
int elog_file_seek(struct elog_file_reader *reader, uint64_t from);

/**
 * elog_file_processes() - the names of threads in the file
 * @reader: owns the table
 */
struct elog_processes *elog_file_processes(struct elog_file_reader *reader);

/**
 * elog_file_info() - what the file says of itself
 * @reader: the reader
 * @key: version, host, kernel, machine, elog, command, ...: see elog(5)
 *
 * Return: of the part being read, the text, which may hold anything but a line's
 * end, valid until the next part begins; NULL: it does not say.
 */
const char *elog_file_info(const struct elog_file_reader *reader, const char *key);

/**
 * elog_file_wall_offset() - CLOCK_REALTIME - CLOCK_MONOTONIC, ns
 * @reader: the reader
 *
 * Return: as it was when the events that are being yielded were written.
 */
int64_t elog_file_wall_offset(const struct elog_file_reader *reader);

struct elog_file_set;

/**
 * elog_file_set_open() - begin to read several files as one
 * @set: set to the new set
 *
 * Return: 0 or -ENOMEM.
 */
int elog_file_set_open(struct elog_file_set **set);

/** elog_file_set_close() - free a set and its readers; NULL is fine */
void elog_file_set_close(struct elog_file_set *set);

/**
 * elog_file_set_add() - read one more file
 * @set: the set
 * @fd: as for elog_file_reader_open()
 * @reader: set to its reader, which belongs to the set, and is for every
 *	function but elog_file_next() and elog_file_reader_close()
 *
 * Return: 0 or -ENOMEM.
 */
int elog_file_set_add(struct elog_file_set *set, int fd,
		      struct elog_file_reader **reader);

/**
 * elog_file_set_next() - the next event of all files, or whatever
 * @set: the set
 * @item: filled in; a payload is valid until the next call for the set
 * @reader: set to the reader of the file that it is of, whose functions tell of
 *	the item as after elog_file_next(); NULL: of none
 *
 * Events and losses are in the order of their times of day, which are
 * @item->time + elog_file_wall_offset(@reader), files of equal ones in the order
 * of adding; the order within a file is kept, even where its clock was set back.
 * Among files of one boot of one machine it is that of @item->time: what they say
 * of the time of day differs by what reading clocks takes.
 * Everything else passes as it comes. A file that is followed and has nothing for
 * now is not waited for, and is asked again once -EAGAIN was returned.
 *
 * Memory does not grow with the files.
 *
 * Return: 1 there is one; 0 the end of all; -EAGAIN no file has anything for now;
 * or what elog_file_next() returned for @reader, which is told once: the others
 * go on.
 */
int elog_file_set_next(struct elog_file_set *set, struct elog_item *item,
		       struct elog_file_reader **reader);

#ifdef __cplusplus
}
#endif

#endif /* ELOG_FILE_H */
