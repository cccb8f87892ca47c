/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is in the file that a capture is to write: a recording is appended to or kept under another
 * name, and what elog has not written is not touched.
 */
#ifndef EXISTING_H
#define EXISTING_H

#include "record/writer.h"

/**
 * existing_check() - may a file be written?
 * @writer: whose file it is
 * @path: its name
 * @part: its number among those that are written at the same time
 * @fd: the open file
 * @append: keep what it holds
 *
 * Return: 0, or a negative errno; the reason was printed. Nothing was changed.
 */
int existing_check(const struct writer *writer, const char *path, unsigned int part, int fd,
		   bool append);

/** existing_is_kept() - does a new recording begin in this file, behind what it holds? */
bool existing_is_kept(const char *path, int fd, bool append);

/**
 * existing_rename() - give a recording another name: FILE.old, or with --rotate FILE.1
 * @writer: whose file it is; @explained is set if the reason of an error was printed
 * @path: its name; replaced by that of the file if it is a symbolic link
 * @part: its number; part 0 also renames those that only the earlier capture has
 *
 * Call this function after existing_check() of all parts.
 *
 * Return: 0 or a negative errno.
 */
int existing_rename(struct writer *writer, char **path, unsigned int part);

#endif /* EXISTING_H */
