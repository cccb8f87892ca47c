/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * elog capture -o: from the rings into a file, without looking at payloads.
 */
#ifndef RAW_WRITER_H
#define RAW_WRITER_H

#include "record/trace_writer.h"

struct raw_writer;

/**
 * raw_writer_open() - open the file of -o, and begin it
 * @raw: set to the the writer
 * @setup: of the writer; outlives the writer
 *
 * Return: 0, or a negative errno, the reason being told.
 */
int raw_writer_open(struct raw_writer **raw, const struct writer_setup *setup);

/** raw_writer_close() - close the file; NULL is fine */
void raw_writer_close(struct raw_writer *raw);

/** raw_writer_drain() - write what the rings hold; 0, or what writing fails with */
int raw_writer_drain(struct raw_writer *raw);

/** raw_writer_pending() - was anything written since the last raw_writer_sync()? */
bool raw_writer_pending(const struct raw_writer *raw);

/**
 * raw_writer_sync() - let a reader know up to when the file is complete
 * @raw: the writer
 * @rotate: begin a new file, whatever this one's size
 *
 * Begins a new file if this one is large enough.
 *
 * Return: 0, or what the kernel or writing fails with.
 */
int raw_writer_sync(struct raw_writer *raw, bool rotate);

/** raw_writer_end() - the last raw_writer_sync(), and the end; returns as that */
int raw_writer_end(struct raw_writer *raw);

/** raw_writer_recording() - what is being written */
const struct trace_writer *raw_writer_recording(const struct raw_writer *raw);

/** raw_writer_damaged() - was a ring damaged? */
bool raw_writer_damaged(const struct raw_writer *raw);

#endif /* RAW_WRITER_H */
