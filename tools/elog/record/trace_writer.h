/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One .elog file of a capture, and its rotation. libelog's writer stores the records,
 * schemas and names of threads.
 *
 * Functions that write return -EAGAIN if the disk is full or fails, until a second later:
 * call them again then, with the same arguments.
 */
#ifndef TRACE_WRITER_H
#define TRACE_WRITER_H

#include "record/writer.h"

struct elog_raw_meta;

/**
 * trace_writer_create() - create or open a file; it keeps what it holds
 * @trace: set to the new file
 * @writer: outlives it; its counters and failed_path are kept up to date
 * @path: the file, "-": stdout; copied
 * @part: number of the file among those that are written at the same time. If it is not
 *	0, the name of the file is @path, "-w" and this number
 * @append: trace_writer_begin() keeps what the file holds
 *
 * Return: 0, or a negative errno; the reason was printed, except, if @writer may wait,
 * that of a disk that is full or fails.
 */
int trace_writer_create(struct trace_writer **trace, struct writer *writer,
			const char *path, unsigned int part, bool append);

/**
 * trace_writer_begin() - replace what a new file held, and write the header
 * @trace: the file
 *
 * Return: as trace_writer_create().
 */
int trace_writer_begin(struct trace_writer *trace);

/**
 * trace_writer_open() - both, for the file of the only part
 * @trace: set to the new file
 * @writer: as for trace_writer_create(), and so are @path and @append
 *
 * Return: 0; -EAGAIN, only if @writer may wait; or another negative errno; the reason was
 * printed, except that of a disk that is full or fails.
 */
int trace_writer_open(struct trace_writer **trace, struct writer *writer, const char *path,
		      bool append);

/** trace_writer_close() - close the file as it is; NULL is allowed */
void trace_writer_close(struct trace_writer *trace);

/**
 * trace_writer_raw() - write records as a ring holds them
 * @trace: a file that trace_writer_add() is not called for
 * @cpu: the ring's
 * @stream: the ring
 * @data: records
 * @size: bytes
 * @position: in the ring
 * @meta: what the kernel knows of the records, or NULL
 *
 * Return: bytes that were written; -EBADMSG @data does not begin with a record; -EAGAIN;
 * or another negative errno.
 */
ssize_t trace_writer_raw(struct trace_writer *trace, unsigned int cpu, uint32_t stream,
			 const void *data, size_t size, uint64_t position,
			 const struct elog_raw_meta *meta);

/**
 * trace_writer_add() - add an event or a loss
 * @trace: a file that trace_writer_raw() is not called for
 * @item: the event, in the order of its CPU; or a loss
 *
 * It is buffered until there are many, or the next trace_writer_sync().
 *
 * Return: 0, -EAGAIN it was not taken, or another negative errno.
 */
int trace_writer_add(struct trace_writer *trace, const struct elog_item *item);

/**
 * trace_writer_sync() - write that nothing older follows
 * @trace: the file
 * @time: than this
 * @losses: besides those that the records report
 * @count: of @losses
 *
 * Return: 0, or a negative errno.
 */
int trace_writer_sync(struct trace_writer *trace, uint64_t time,
		      const struct elog_writer_loss *losses, size_t count);

/** trace_writer_dirty() - was anything added since trace_writer_sync()? */
bool trace_writer_dirty(const struct trace_writer *trace);

/**
 * trace_writer_end() - mark the file as complete, after the last trace_writer_sync()
 * @trace: the file; only trace_writer_close() may follow
 * @lost: how many events were lost; UINT64_MAX: as many as trace_writer_sync() stated
 *
 * Return: 0, or a negative errno.
 */
int trace_writer_end(struct trace_writer *trace, uint64_t lost);

/** trace_writer_size() - get the bytes of the file */
uint64_t trace_writer_size(const struct trace_writer *trace);

/** trace_writer_is_full() - has the file reached the size of --rotate? */
bool trace_writer_is_full(const struct trace_writer *trace);

/**
 * trace_writer_rotate_early() - do it although the caller has more records for this file
 * @trace: a file that has filled the disk, and does not rotate
 * @time: no record that follows is older
 *
 * Return: as trace_writer_rotate().
 */
int trace_writer_rotate_early(struct trace_writer *trace, uint64_t time);

/** trace_writer_rotates() - is a rotation under way, because the disk is full or fails? */
bool trace_writer_rotates(const struct trace_writer *trace);

/**
 * trace_writer_rotate() - end the file, rename it and start a new one
 * @trace: the file, right after trace_writer_sync()
 * @time: as passed to that
 *
 * The new file states that earlier ones contain the losses so far.
 *
 * Return: 0; -EAGAIN the next call of any function continues it; or another negative
 * errno; writer->explained if the reason was printed.
 */
int trace_writer_rotate(struct trace_writer *trace, uint64_t time);

#endif /* TRACE_WRITER_H */
