/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files that elog writes: no other process writes to them at the same time, and elog replaces
 * only what elog has written.
 *
 * The lock is one of the open file (fcntl(2), F_OFD_SETLK), on all of its bytes. It ends with the
 * process, whatever ends that. Readers do not need it, but see from it whether more follows.
 */
#ifndef OUTPUT_FILE_H
#define OUTPUT_FILE_H

#include <stdbool.h>

/**
 * output_lock() - keep others from writing to a file
 * @fd: the open file; only a regular file is locked
 * @path: its name
 *
 * A file system may have no locks: then this succeeds, and nothing keeps others away.
 *
 * Return: 0; -EBUSY another process writes to it: its id, and how to end it, were printed.
 */
int output_lock(int fd, const char *path);

/**
 * output_explain_writer() - say which process has such a lock on a file, and how to end it
 *
 * Return: false: none was found.
 */
bool output_explain_writer(const char *path);

/** output_is_locked() - does another open file hold the lock, so that more may follow? */
bool output_is_locked(int fd);

/**
 * enum output_kind - what a regular file contains
 * @OUTPUT_EMPTY: nothing, or it is no regular file
 * @OUTPUT_RECORDING: what elog capture -o has written
 * @OUTPUT_UNREADABLE: a recording that cannot be read: of another version, or its start is
 *	damaged
 * @OUTPUT_FOREIGN: something else, or it cannot be read
 */
enum output_kind {
	OUTPUT_EMPTY,
	OUTPUT_RECORDING,
	OUTPUT_UNREADABLE,
	OUTPUT_FOREIGN,
};

/** output_kind() - look at the start of an open file, which may be open for writing only */
enum output_kind output_kind(int fd);

/** output_reopen() - open a file again for reading; return a file, or -1 */
int output_reopen(int fd);

/** output_is_at() - is an open file still the one that has this name? */
bool output_is_at(int fd, const char *path);

/** output_obstacle() - why may a recording not replace this file? NULL: it may, or there is none */
const char *output_obstacle(const char *path);

/**
 * output_rename() - rename a recording, and replace only another one
 * @from: its name
 * @to: the new one
 * @obstacle: why what is there cannot be replaced, as output_obstacle(); NULL: another reason
 *
 * Return: 0; -EEXIST: see @obstacle; or another negative errno.
 */
int output_rename(const char *from, const char *to, const char **obstacle);

/** output_refuse() - is a file a recording, which nothing else may replace? Then say so. */
bool output_refuse(const char *path);

/**
 * output_create() - open a file for what is no recording, empty and locked
 * @path: the file, which may exist; but a recording is not replaced
 *
 * For what is not a regular file, as open(2).
 *
 * Return: the file, or a negative errno; the reason was printed.
 */
int output_create(const char *path);

#endif /* OUTPUT_FILE_H */
