/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The numbers of files that the library keeps open. A program may close them and use the numbers
 * for files of its own, as daemons do that close all files when they start.
 *
 * The position in a file of the device has no meaning to the kernel. The library marks its file
 * with one, and asks for it before it uses the number: to another file the question does no harm.
 * The kernel forgets the mark with the last number of the file, so children of fork() have it too.
 * A connection to an engine has a number of its own, which the kernel has given it.
 */
#ifndef LIBELOG_OWN_FILE_H
#define LIBELOG_OWN_FILE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct elog_own_file - a file of the device
 * @fd: its number; -1: none
 * @mark: its position, or the number of the connection; 0: it could not be marked, and counts as
 * the library's
 */
struct elog_own_file {
	int fd;
	uint64_t mark;
};

/**
 * elog_file_raise() - give a file a number that is not 0, 1 or 2
 * @fd: the file, which may get another number; or a negative value
 *
 * A program that was started without these files prints to whatever has their numbers.
 *
 * Return: its number; @fd itself if that is not possible, or is negative.
 */
int elog_file_raise(int fd);

/** elog_file_own() - mark a file of the device that was just opened */
struct elog_own_file elog_file_own(int fd);

/**
 * elog_file_fd() - the number, if it is still that of the file; else -1
 * @file: from elog_file_own()
 *
 * Makes one system call. May be called from signal handlers. Preserves errno.
 */
int elog_file_fd(const struct elog_own_file *file);

/** elog_file_close() - close the file if it is still the library's; then there is none */
void elog_file_close(struct elog_own_file *file);

#endif /* LIBELOG_OWN_FILE_H */
