/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file that an export writes: in whole units, so that what is in it is valid even where
 * a disk is full. One writer, no locks.
 */
#ifndef SINK_H
#define SINK_H

#include "util/tool.h"

/**
 * struct sink - a file being written
 * @path: its name, for messages; "-": stdout
 * @text: append to this
 * @fd: the file; -1: it is closed between two writes
 * @written: bytes in the file
 * @closed: the reader of a pipe is gone
 * @error: 0 or a negative errno; the file ends with the last whole unit
 */
struct sink {
	const char *path;
	struct elog_text text;
	int fd;
	uint64_t written;
	bool closed;
	int error;
};

/**
 * sink_open() - create or truncate a file
 * @sink: filled in; close it in any case
 * @path: outlives it; "-": stdout
 *
 * Return: 0 or a negative errno, and the reason was printed.
 */
int sink_open(struct sink *sink, const char *path);

/**
 * sink_commit() - the text ends with a whole unit
 * @sink: the file
 *
 * Writes the text if there is much of it.
 *
 * Return: 0 or @sink->error; -EPIPE: the reader is gone.
 */
int sink_commit(struct sink *sink);

/**
 * sink_flush() - write the text, which ends with a whole unit
 * @sink: the file. If it cannot be written, a regular file is truncated to what was
 *	written before, and the text is dropped
 *
 * Return: as sink_commit().
 */
int sink_flush(struct sink *sink);

/** sink_close() - flush, close and free; return: as sink_commit() */
int sink_close(struct sink *sink);

#endif /* SINK_H */
