/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a verb prints on stdout, in large writes: text is collected and written
 * when it is enough. For the process's own thread.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <sys/types.h>

#include "util/tool.h"

/**
 * struct output - stdout
 * @text: what is to be written
 * @limit: bytes from which on output_check() writes it
 * @closed: the reader is gone, or was given up: nothing is written any more
 * @error: 0, or what failed, negative
 * @terminal: stdout is a terminal, or a pager on one
 * @colour: it is to be coloured
 * @pager: process of the pager; 0: there is none
 */
struct output {
	struct elog_text text;
	size_t limit;
	bool closed;
	int error;
	bool terminal;
	bool colour;
	pid_t pager;
};

/** output_open() - fill in @output; --color is honoured */
void output_open(struct output *output, const struct options *options);

/**
 * output_page() - let a pager show it, if stdout is a terminal
 * @output: open; nothing was written
 * @options: --no-pager is honoured
 *
 * ELOG_PAGER, then PAGER, then less, more or cat, what there is; an empty one
 * means none.
 */
void output_page(struct output *output, const struct options *options);

/**
 * output_flush() - write what there is
 * @output: open
 *
 * Signals are let in meanwhile. When told to stop for the second time a reader
 * that does not read is given up.
 */
void output_flush(struct output *output);

/**
 * output_write() - write all of something to another file
 * @fd: where to
 * @data: what
 * @size: bytes of it
 *
 * Gives up when told to stop for the second time.
 *
 * Return: 0 or a negative errno.
 */
int output_write(int fd, const char *data, size_t size);

/**
 * output_replace() - put a text into a file's place, at once
 * @path: of the file, which need not be there; a symbolic link is replaced
 * @text: without an error
 * @durable: it is on the disk before
 *
 * It is made beside the file, under a name that ends in a dot and six characters.
 *
 * Return: 0 or a negative errno; then the file is as it was.
 */
int output_replace(const char *path, const struct elog_text *text, bool durable);

/** output_check() - write if it is enough */
void output_check(struct output *output);

/**
 * output_close() - write, wait for the pager, free
 *
 * Return: 0, or a negative errno, -ECHILD: there is no such pager.
 */
int output_close(struct output *output);

/** output_utf8() - may characters beyond ASCII be printed? As the locale says */
bool output_utf8(void);

#endif /* OUTPUT_H */
