/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Buffered output to stdout, with an optional pager. For the process's own thread.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <sys/types.h>

#include "util/tool.h"

/**
 * struct output - stdout
 * @text: the buffer
 * @limit: output_check() writes the buffer at this size
 * @whole_lines: other processes write to the same pipe: write only whole lines
 * @closed: the reader is gone or does not read: nothing more is written
 * @given_up: @closed, because the reader did not read until the second signal to stop
 * @error: 0 or a negative errno
 * @unwritten: lines that were not written because of @error or @given_up
 * @terminal: stdout is a terminal, or a pager on one
 * @colour: print colours
 * @pager: process of the pager; 0: none
 */
struct output {
	struct elog_text text;
	size_t limit;
	bool whole_lines;
	bool closed;
	bool given_up;
	int error;
	uint64_t unwritten;
	bool terminal;
	bool colour;
	pid_t pager;
};

/**
 * output_open() - fill in @output
 * @output: all members are set
 * @color: when to print colours
 * @shared: a COMMAND writes to stdout, too
 *
 * COMMAND writes to stdout, too. Its output cannot get into a line of ours, unless the
 * line has more than PIPE_BUF bytes and stdout is a pipe.
 */
void output_open(struct output *output, enum color color, bool shared);

/**
 * output_page() - start a pager if stdout is a terminal
 * @output: open; nothing was written
 *
 * The pager is ELOG_PAGER, or else PAGER, or else the first of less, more and cat that
 * exists. An empty variable means no pager.
 */
void output_page(struct output *output);

/**
 * output_flush() - write the buffer
 * @output: open
 *
 * Signals may arrive meanwhile. After the second signal to stop, it does not wait for
 * the reader any longer.
 */
void output_flush(struct output *output);

/**
 * output_write() - write data to another file
 * @fd: the file
 * @data: the data
 * @size: bytes of @data
 *
 * Gives up after the second signal to stop.
 *
 * Return: 0 or a negative errno.
 */
int output_write(int fd, const char *data, size_t size);

/**
 * output_write_file() - write a text to a file that exists
 * @path: the file, for example a device or a pipe; it is not truncated
 * @text: the text
 *
 * As output_write().
 *
 * Return: 0 or a negative errno.
 */
int output_write_file(const char *path, const struct elog_text *text);

/**
 * output_replace() - replace a file atomically
 * @path: of the file, which may not exist; a symbolic link is replaced
 * @text: the contents, without an error
 * @durable: flush the contents to the disk first
 *
 * Writes a temporary file whose name is @path with a dot and six characters.
 *
 * Return: 0; or a negative errno, and the file is unchanged.
 */
int output_replace(const char *path, const struct elog_text *text, bool durable);

/**
 * output_replace_locked() - the same, durable, for a file that the process keeps locked
 * @path: the file's name
 * @text: its new contents
 * @lock: the open file that is locked; replaced by the new one, which has the lock from the start
 *
 * Return: 0 or a negative errno; then @lock is what it was.
 */
int output_replace_locked(const char *path, const struct elog_text *text, int *lock);

/** output_is_input() - is @path one of these files? */
bool output_is_input(const char *path, char *const *names, int count);

/** output_check() - write the buffer if it has reached the limit */
void output_check(struct output *output);

/**
 * output_close() - write the buffer, wait for the pager, free memory
 *
 * Return: 0 or a negative errno; -ECHILD: the pager does not exist.
 */
int output_close(struct output *output);

/** output_utf8() - does the locale allow characters beyond ASCII? */
bool output_utf8(void);

#endif /* OUTPUT_H */
