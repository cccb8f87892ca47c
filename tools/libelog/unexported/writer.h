/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Functions on writers that libelog.so does not export: elog, which contains the library,
 * stores the bytes of rings as they are.
 *
 * Programs store single events, with elog/writer.h.
 */
#ifndef LIBELOG_UNEXPORTED_WRITER_H
#define LIBELOG_UNEXPORTED_WRITER_H

#include "elog.h"

struct elog_raw_meta;

/** elog_writer_size() - get the bytes of whole blocks written so far */
uint64_t elog_writer_size(const struct elog_writer *writer);

/** elog_writer_events() - get the number of events in whole blocks written so far */
uint64_t elog_writer_events(const struct elog_writer *writer);

/**
 * elog_writer_raw() - store records
 * @writer: the writer
 * @cpu: the CPU that emitted them; EVENTLOG_CPU_UNKNOWN: not known
 * @stream: the number of their ring, below 8192: streams may share a CPU. For rings of
 *	CPUs, use the CPU's number
 * @data: the data of elog_consumer_raw(); not copied
 * @size: bytes of it
 * @position: the position of elog_consumer_raw()
 *
 * May store only some of the records, so that the caller can release them. Call it
 * again with the rest. On a full disk, it stores as many records as fit before it fails. Do not
 * use this function and elog_writer_add() for the same stream.
 *
 * Return: bytes that were stored, 0 only if @size is 0; -EBADMSG @data does not begin
 * with a record; -EINVAL; -ENOMEM; or a negative errno as for elog_writer_open() or of
 * @definition.
 */
ssize_t elog_writer_raw(struct elog_writer *writer, unsigned int cpu, uint32_t stream,
			const void *data, size_t size, uint64_t position);

/**
 * elog_writer_raw_meta() - store records without looking at each of them
 * @writer: the writer
 * @cpu: as for elog_writer_raw(), and so are @stream, @data, @size and @position
 * @meta: of elog_consumer_raw_meta()
 *
 * Stores @meta's bytes. It also stores schemas and names of threads that are new in the
 * ring, so the writer must have stored all records of the ring before these, or continue
 * (see struct elog_writer_options) a file that has. Otherwise, or if @meta cannot be true,
 * this function does the same as elog_writer_raw(). A file that continues another one has
 * all schemas and names of threads of that file. If these are many, the writer looks at
 * each record instead.
 *
 * Return: as elog_writer_raw().
 */
ssize_t elog_writer_raw_meta(struct elog_writer *writer, unsigned int cpu, uint32_t stream,
			     const void *data, size_t size, uint64_t position,
			     const struct elog_raw_meta *meta);

/**
 * elog_writer_clock_set() - state when CLOCK_REALTIME was set
 * @writer: the writer
 * @time: when, CLOCK_MONOTONIC ns; the records that follow are not older
 * @wall_offset: CLOCK_REALTIME - CLOCK_MONOTONIC since then, ns
 *
 * Like elog_writer_sync(), which states the present clocks. Call this function first, if
 * the clock was set since the last call: records between @time and now then get the
 * right wall-clock time.
 *
 * Return: 0, -ENOMEM, or a negative errno as for elog_writer_open().
 */
int elog_writer_clock_set(struct elog_writer *writer, uint64_t time, int64_t wall_offset);

#endif /* LIBELOG_UNEXPORTED_WRITER_H */
