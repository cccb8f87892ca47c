/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A raw writer of some rings, on a thread of its own: see raw_writer.c and
 * parallel_writer.c.
 */
#ifndef RAW_WRITER_H
#define RAW_WRITER_H

#include "record/writer.h"

/**
 * raw_writer_new() - make a raw writer without a file
 * @live: with a consumer that only this writer reads; outlives the writer
 * @part: the writer has the rings whose number modulo @parts is this
 * @parts: 1: it has all rings
 *
 * Return: NULL if memory is short.
 */
struct writer *raw_writer_new(struct live *live, unsigned int part, unsigned int parts);

/**
 * raw_writer_sync() - drain the rings after a FLUSH, and write a SYNC block
 * @writer: a raw writer
 * @flush: the result of FLUSH
 * @start: start a new file, with this time; an earlier FLUSH that all parts have handled. 0:
 *	do not
 *
 * If the disk is full, the new file gets all records that do not fit.
 *
 * Return: 0; -EAGAIN: the disk is full or fails: call it again; or another negative errno.
 */
int raw_writer_sync(struct writer *writer, const struct eventlog_flush *flush, uint64_t start);

/** raw_writer_end() - the last raw_writer_sync(); mark the file as complete */
int raw_writer_end(struct writer *writer, const struct eventlog_flush *flush);

#endif /* RAW_WRITER_H */
