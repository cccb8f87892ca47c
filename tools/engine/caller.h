/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory of the caller: what came with the current call, and what the call has written. The
 * functions of the kernel that access user memory, in klinux/file.h, look here.
 *
 * All of a message was written by the caller, who may be hostile.
 */
#ifndef ENGINE_CALLER_H
#define ENGINE_CALLER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

#include "util/call.h"

/**
 * struct caller_piece - a piece of the current call
 * @head: as the caller gave it
 * @written: how much of it the call has written, from its beginning
 * @data: its bytes, or room for them
 */
struct caller_piece {
	struct piece head;
	uint32_t written;
	uint8_t *data;
};

/**
 * caller_begin() - take a message apart
 * @message: aligned to 8; used until the next call
 * @bytes: its size
 *
 * Return: the call; NULL: the message is not valid.
 */
const struct call *caller_begin(uint8_t *message, size_t bytes);

/** caller_first() - the first piece, whose bytes are in the message; NULL: there is none */
const struct caller_piece *caller_first(void);

/**
 * caller_written() - get what is to be sent back
 * @heads: room for CALL_PIECES_MAX, set
 * @parts: room for 2 * CALL_PIECES_MAX, set to the bytes and their padding
 *
 * Return: number of pieces.
 */
unsigned int caller_written(struct piece *heads, struct iovec *parts);

#endif /* ENGINE_CALLER_H */
