/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * preload.so: with this library in LD_PRELOAD, a program that opens /dev/eventlog talks to the
 * engine whose socket EVENTLOG_ENGINE names. So tests and elog run as they are.
 *
 * It replaces functions of the C library. What it does not replace is not possible on the file:
 * epoll(7), select(2), system calls without the C library, and execve(2) with the open file.
 * Threads and children use a connection at the same time, so each thread has a socket of its own
 * for replies.
 */
#ifndef ENGINE_PRELOAD_H
#define ENGINE_PRELOAD_H

#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "util/call.h"

/* The function of the C library that this library replaces. */
#define REAL(name) ({								\
	static __typeof__(&name) real_;						\
										\
	if (!real_)								\
		real_ = (__typeof__(&name))dlsym(RTLD_NEXT, #name);		\
	real_;									\
})

/**
 * struct message - a call
 * @call: its head
 * @pieces: the memory that it may read or write
 * @parts: what is sent; the first two are for the heads
 * @part_count: number of @parts
 * @copies: the memory as it was when it was added
 * @mask: the signal mask before: a signal handler may make calls, too
 */
struct message {
	struct call call;
	struct piece pieces[CALL_PIECES_MAX];
	struct iovec parts[2 + 2 * CALL_PIECES_MAX];
	unsigned int part_count;
	char *copies[CALL_PIECES_MAX];
	sigset_t mask;
};

/* ---- preload_call.c ---- */

/** message_begin() - begin a call of a kind; signals are blocked until message_send() */
void message_begin(struct message *message, enum call_kind kind);

/**
 * message_add() - add memory that the call may read or write
 * @message: the call
 * @address: where it is; memory that is not readable is not added
 * @bytes: its size
 * @flags: PIECE_*
 */
void message_add(struct message *message, uint64_t address, size_t bytes, uint32_t flags);

/** message_add_string() - add a string and its end, at most so many bytes */
void message_add_string(struct message *message, uint64_t address, size_t most);

/** message_add_request() - add the struct of an ioctl, and what it points to */
void message_add_request(struct message *message, unsigned int request, uint64_t address);

/** peek() - copy memory that may not be readable; return how many bytes are */
size_t peek(void *to, uint64_t address, size_t bytes);

/**
 * message_send() - make the call, and free the message
 * @message: the call
 * @fd: the connection
 * @reply: set; may be NULL
 * @file: set to the file that came with the reply, or -1; NULL: it is closed
 *
 * Return: the result, or a negative errno; -ENODEV: the engine has ended.
 */
long message_send(struct message *message, int fd, struct reply *reply, int *file);

/** finish() - set errno; return as a system call */
long finish(long result);

/* ---- preload.c ---- */

/** is_engine() - is it a file of the device? */
bool is_engine(int fd);

/** event_of() - the file that counts up when poll(2) would find something */
int event_of(int fd);

/* Numbers for files of this library, out of the way of those that programs expect. */
#define FILES_FROM 400

/** file_move() - give a file such a number */
int file_move(int fd);

/** engine_settle() - have the engine see all files and processes that have ended */
void engine_settle(void);

/* ---- preload_map.c ---- */

/** mappings_forget() - in a child: it has no mappings */
void mappings_forget(void);

#endif /* ENGINE_PRELOAD_H */
