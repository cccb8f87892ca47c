/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files 0, 1 and 2 of the process.
 */
#ifndef STDIO_H
#define STDIO_H

/**
 * stdio_open() - prepare the files 0, 1 and 2, before any other file is opened
 *
 * Those that are closed get a file for which each read and write fails with EBADF, so that no file
 * that is opened later gets these numbers. A program that the process executes finds them closed.
 *
 * From then on a message on stderr waits for a reader only until the second signal to stop; then
 * it is dropped.
 */
void stdio_open(void);

#endif /* STDIO_H */
