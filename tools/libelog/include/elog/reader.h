/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * libelog: reading .elog files. elog(5) documents the format.
 */
#ifndef ELOG_READER_H
#define ELOG_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/eventlog.h>

#include "elog/item.h"
#include "elog/processes.h"
#include "elog/schema.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the format that this library writes and reads. */
#define ELOG_FILE_VERSION	2

struct elog_reader;

/**
 * elog_reader_open() - start to read a file
 * @reader: set to the new reader
 * @fd: a file or a pipe, read from its current position; still belongs to the caller
 *
 * Reads nothing yet.
 *
 * Return: 0 or -ENOMEM.
 */
int elog_reader_open(struct elog_reader **reader, int fd);

/** elog_reader_close() - free a reader and everything it returned; may be NULL */
void elog_reader_close(struct elog_reader *reader);

/**
 * elog_reader_next() - get the next item, events in the order of their times
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
int elog_reader_next(struct elog_reader *reader, struct elog_item *item);

/**
 * elog_format_damage() - append a description of damage
 * @text: the text
 * @item: an ELOG_ITEM_DAMAGE
 *
 * Example: "16 bytes at byte 4096 are damaged: skipped". Write the name of the file before it.
 */
void elog_format_damage(struct elog_text *text, const struct elog_item *item);

/**
 * elog_reader_describe() - get the schema of an event of the file
 * @reader: the reader
 * @descriptor: struct elog_item.descriptor
 * @event: set; valid as long as elog_reader_generation() returns the same number
 *
 * Return: 0; -ENOENT there is none; -EINVAL the text has an error; -ENOMEM.
 */
int elog_reader_describe(struct elog_reader *reader, uint32_t descriptor,
		       const struct elog_schema_event **event);

/**
 * elog_reader_definition() - get the schema text of an event of the file
 * @reader: the reader
 * @descriptor: struct elog_item.descriptor
 * @text: set, NUL-terminated; valid as long as elog_reader_generation() returns the same
 *	number
 *
 * For callers that need a schema of their own, which they get with elog_schema_parse().
 * The text may have errors.
 *
 * Return: 0; -ENOENT there is none.
 */
int elog_reader_definition(struct elog_reader *reader, uint32_t descriptor,
			   const char **text);

/**
 * elog_reader_generation() - find out whether schemas are still valid
 * @reader: the reader
 *
 * For callers that cache the results of elog_reader_describe() by descriptor. Do not
 * cache failures: in a damaged file, a schema may come late.
 *
 * Return: a number that changes when a schema becomes invalid, or when a descriptor may
 * have another meaning. elog_reader_describe() and elog_reader_next() may change it.
 */
uint64_t elog_reader_generation(const struct elog_reader *reader);

/**
 * elog_reader_follow() - continue to read when the file grows
 * @reader: the reader
 * @on: whether to do so; off at first
 *
 * While this is on, elog_reader_next() returns -EAGAIN at the end of the file, and the
 * next call tries to continue. An incomplete block at the end is then not damage,
 * unless another part begins inside it for a second.
 *
 * Records are still held back until the next SYNC block. Wait between two calls:
 * poll(2) does not work for files.
 *
 * Return: 0; -EINVAL the reader has already reached the end.
 */
int elog_reader_follow(struct elog_reader *reader, bool on);

/**
 * elog_reader_seek() - omit what is earlier than a time
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
 * pread(2), which elog_reader_next() then returns, too.
 */
int elog_reader_seek(struct elog_reader *reader, uint64_t from);

/**
 * elog_reader_processes() - get the names of threads in the file
 * @reader: owns the table
 */
struct elog_processes *elog_reader_processes(struct elog_reader *reader);

/**
 * elog_reader_info() - get a property of the current part
 * @reader: the reader
 * @key: version, host, kernel, machine, elog, command, ...: see elog(5)
 *
 * Return: the text, which contains no newline but is otherwise arbitrary. It is valid
 * until the next part begins. NULL: the part does not have the property.
 */
const char *elog_reader_info(const struct elog_reader *reader, const char *key);

/**
 * elog_reader_wall_offset() - get CLOCK_REALTIME - CLOCK_MONOTONIC, ns
 * @reader: the reader
 *
 * Return: the difference at the time of the last item.
 */
int64_t elog_reader_wall_offset(const struct elog_reader *reader);

struct elog_reader_set;

/**
 * elog_reader_set_open() - start to read several files as one
 * @set: set to the new set
 *
 * Return: 0 or -ENOMEM.
 */
int elog_reader_set_open(struct elog_reader_set **set);

/** elog_reader_set_close() - free a set and its readers; may be NULL */
void elog_reader_set_close(struct elog_reader_set *set);

/**
 * elog_reader_set_add() - add a file
 * @set: the set
 * @fd: as for elog_reader_open()
 * @reader: set to its reader, which belongs to the set. All functions except
 *	elog_reader_next() and elog_reader_close() may be called for it
 *
 * Return: 0 or -ENOMEM.
 */
int elog_reader_set_add(struct elog_reader_set *set, int fd,
		      struct elog_reader **reader);

/**
 * elog_reader_set_next() - get the next item of all files
 * @set: the set
 * @item: filled in; its payload is valid until the next call for the set
 * @reader: set to the reader of its file, in the same state as after
 *	elog_reader_next(); NULL: no file
 *
 * Events and losses are in the order of their times of day, which are @item->time +
 * elog_reader_wall_offset(@reader). At equal times, files come in the order of adding.
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
 * or an error of elog_reader_next() for @reader, once: the other files continue.
 */
int elog_reader_set_next(struct elog_reader_set *set, struct elog_item *item,
		       struct elog_reader **reader);

#ifdef __cplusplus
}
#endif

#endif /* ELOG_READER_H */
