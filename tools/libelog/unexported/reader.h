/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Functions on readers that libelog.so does not export: elog, which contains the library,
 * reads files that come from a server, and shows its progress.
 *
 * Programs read files and pipes, with elog/reader.h.
 */
#ifndef LIBELOG_UNEXPORTED_READER_H
#define LIBELOG_UNEXPORTED_READER_H

#include "elog.h"

/**
 * struct elog_reader_callback - a function that returns the data of a file
 * @read: puts up to @size bytes into @data. Returns their number; 0: the end; -EAGAIN: none
 *	for now; or another negative errno
 * @context: the first argument of @read
 */
struct elog_reader_callback {
	ssize_t (*read)(void *context, void *data, size_t size);
	void *context;
};

/**
 * elog_reader_open_callback() - start to read what a function returns
 * @reader: set to the new reader
 * @callback: the function, for data that is in no file and no pipe; it is copied
 *
 * As elog_reader_open(). elog_reader_next() calls the function, and returns its errors.
 *
 * Return: 0 or -ENOMEM.
 */
int elog_reader_open_callback(struct elog_reader **reader,
			      const struct elog_reader_callback *callback);

/** elog_reader_set_add_callback() - as elog_reader_set_add(), for elog_reader_open_callback() */
int elog_reader_set_add_callback(struct elog_reader_set *set,
				 const struct elog_reader_callback *callback,
				 struct elog_reader **reader);

/**
 * elog_reader_progress() - get the number of bytes read
 * @reader: the reader
 * @done: set to bytes read so far
 * @total: set to bytes that will have been read at the current end of the file; 0: not
 *	known, because this is not a regular file
 *
 * Neither includes the data that elog_reader_seek() has skipped.
 *
 * Return: 0 or a negative errno of fstat(2).
 */
int elog_reader_progress(const struct elog_reader *reader, uint64_t *done,
		       uint64_t *total);

#endif /* LIBELOG_UNEXPORTED_READER_H */
