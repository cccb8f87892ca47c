/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Finding the blocks of a file: see input.c.
 */
#ifndef LIBELOG_INPUT_H
#define LIBELOG_INPUT_H

#include "elog.h"
#include "file/blocks.h"
#include "unexported/reader.h"

/**
 * struct elog_input - finds the blocks of a file
 * @fd: the file; -1: @callback returns the data
 * @callback: see elog_reader_open_callback()
 * @bytes: read from it
 * @room: for @bytes
 * @start: index in @bytes of the first unused byte
 * @filled: bytes at @bytes
 * @offset: of @start, from where reading began
 * @bytes_read: in total
 * @follow: the file may grow
 * @end: the end was reached
 * @padding: bytes of padding that may be at @start
 * @wrong: bytes whose checksum was wrong
 * @skipped: bytes right before @start that are not blocks
 * @torn: the skipped bytes begin like a block
 * @waiting: the @offset of an incomplete block
 * @searched: bytes from there that contain no FILE block
 * @begun: since when there is one, CLOCK_MONOTONIC_COARSE ns; 0: there is none
 */
struct elog_input {
	int fd;
	struct elog_reader_callback callback;
	unsigned char *bytes;
	size_t room;
	size_t start;
	size_t filled;
	uint64_t offset;
	uint64_t bytes_read;
	bool follow;
	bool end;
	size_t padding;
	uint64_t wrong;
	uint64_t skipped;
	bool torn;
	uint64_t waiting;
	size_t searched;
	uint64_t begun;
};

/**
 * struct elog_input_gap - bytes that are not blocks
 * @size: bytes; 0: there is no gap
 * @offset: of the first
 * @cut: the file ends inside a block
 */
struct elog_input_gap {
	uint64_t size;
	uint64_t offset;
	bool cut;
};

/* Limit of bytes processed in vain: a constant, and a multiple of the bytes read. */
#define ELOG_INPUT_ALLOWANCE		(256ULL << 20)
#define ELOG_INPUT_ALLOWANCE_PER_BYTE	8

/** elog_input_open() - start to read; @input is all zeros before. Return 0 or -ENOMEM */
int elog_input_open(struct elog_input *input, int fd);

/** elog_input_close() - free the buffer */
void elog_input_close(struct elog_input *input);

/** elog_input_allowance() - get the limit of bytes that may be processed in vain */
uint64_t elog_input_allowance(const struct elog_input *input);

/**
 * elog_input_next() - find the next block
 * @input: the input
 * @header: filled in, in native byte order
 * @body: set to the stored form of the body, valid until elog_input_leave(), which
 *	must be called before the next call
 * @gap: filled in with the skipped bytes, unless an error is returned
 *
 * Return: 1; 0 the end; -EAGAIN no block yet, and nothing is lost; another negative
 * errno.
 */
int elog_input_next(struct elog_input *input,
		    struct elog_block_header *header,
		    const unsigned char **body, struct elog_input_gap *gap);

/** elog_input_leave() - skip a block with @size stored bytes of body */
void elog_input_leave(struct elog_input *input, size_t size);

#endif /* LIBELOG_INPUT_H */
