/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Finding the blocks of a file: see input.c.
 */
#ifndef LIBELOG_INPUT_H
#define LIBELOG_INPUT_H

#include "file/blocks.h"

/**
 * struct elog_file_input - where a reader gets its blocks from
 * @fd: the file
 * @bytes: read from it
 * @room: for @bytes
 * @start: of what is not used yet
 * @filled: bytes at @bytes
 * @offset: of @start, from where reading began
 * @bytes_read: in all
 * @follow: the end may be none
 * @end: there is no more to read
 * @padding: bytes that may be there before @start
 * @wrong: bytes whose checksum turned out wrong
 * @skipped: bytes right before @start
 * @torn: they begin as a block does
 * @waiting: the @offset of a block that is not whole yet
 * @searched: bytes from there in which no part of a file begins
 * @begun: since when one does, CLOCK_MONOTONIC_COARSE ns; 0: there is none
 */
struct elog_file_input {
	int fd;
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
 * struct elog_input_gap - bytes that are no blocks
 * @size: how many; 0: there are none
 * @offset: of the first
 * @cut: the file ends within a block
 */
struct elog_input_gap {
	uint64_t size;
	uint64_t offset;
	bool cut;
};

/* Bytes that may be looked at in vain: so many, and for each byte read. */
#define ELOG_INPUT_ALLOWANCE		(256ULL << 20)
#define ELOG_INPUT_ALLOWANCE_PER_BYTE	8

/** elog_input_open() - begin with an input that is all zeroes; 0 or -ENOMEM */
int elog_input_open(struct elog_file_input *input, int fd);

/** elog_input_close() - free what it has */
void elog_input_close(struct elog_file_input *input);

/** elog_input_allowance() - bytes that a file may have made us look at in vain */
uint64_t elog_input_allowance(const struct elog_file_input *input);

/**
 * elog_input_next() - find the next block
 * @input: the input
 * @header: filled in, in this machine's order
 * @body: set to what is stored of the body, until elog_input_leave() is called,
 *	which has to be before the next call
 * @gap: filled in with what was skipped, unless an error is returned
 *
 * Return: 1; 0 the end; -EAGAIN for now, and nothing is lost; another negative
 * errno.
 */
int elog_input_next(struct elog_file_input *input,
		    struct elog_block_header *header,
		    const unsigned char **body, struct elog_input_gap *gap);

/** elog_input_leave() - go behind the block, of whose body @size bytes are stored */
void elog_input_leave(struct elog_file_input *input, size_t size);

#endif /* LIBELOG_INPUT_H */
