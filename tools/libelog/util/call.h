/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The protocol of the engine: a system call in a message.
 *
 * A connection (SOCK_SEQPACKET) is an open file. A message is struct call, struct piece for each
 * piece of the caller's memory that the call may read or write, and the bytes of those that it may
 * read, each padded to 8. Pieces have the addresses of the caller, so that the structs of the ABI
 * go as they are. With a message may come a socket for the reply, for programs whose threads and
 * children share a connection. Otherwise it goes to the connection.
 *
 * A reply is struct reply, struct piece for each piece that was written, and their bytes, padded.
 * It may bring a file: that of CALL_OPEN (eventfd) becomes readable when CALL_POLL has found
 * nothing and then would find something, and CALL_POLL brings it again; that of CALL_MAP is to be
 * mapped.
 */
#ifndef LIBELOG_CALL_H
#define LIBELOG_CALL_H

#include <stdint.h>

/** enum call_kind - what a message asks for, and its arguments */
enum call_kind {
	CALL_OPEN,	/* flags of open(2); first, and once */
	CALL_IOCTL,	/* the request, the address of its struct */
	CALL_WRITE,	/* bytes, 1: without a reply; the first piece is what of them can be read */
	CALL_READ,	/* address, bytes, 1: at the offset that follows */
	CALL_SEEK,	/* offset, whence; value: the new offset */
	CALL_MAP,	/* offset, bytes, PROT_*, 1: shared; value: offset in the file */
	CALL_UNMAP,	/* number of the mapping; or 0, and the offset that was mapped */
	CALL_POLL,	/* POLL* that are of interest, 1: does not wait; value: those found */
};

#define CALL_PIECES_MAX 16
#define CALL_BYTES_MAX (200 << 10)
#define CALL_COMM_BYTES 16

/**
 * struct call - what a message begins with
 * @kind: enum call_kind
 * @tid: the calling thread
 * @pieces: number of pieces
 * @serial: any number; that of the reply
 * @comm: name of the thread
 * @arguments: see enum call_kind
 */
struct call {
	uint32_t kind;
	uint32_t tid;
	uint32_t pieces;
	uint32_t serial;
	char comm[CALL_COMM_BYTES];
	uint64_t arguments[4];
};

#define PIECE_IN (1U << 0)	/* the call may read it */
#define PIECE_OUT (1U << 1)	/* the call may write it */

/**
 * struct piece - a piece of the caller's memory
 * @address: where it is
 * @bytes: its size; in a reply, how much of it was written
 * @flags: PIECE_*
 */
struct piece {
	uint64_t address;
	uint32_t bytes;
	uint32_t flags;
};

/**
 * struct reply - what a reply begins with
 * @result: of the system call, or a negative errno
 * @value: see enum call_kind
 * @number: of the mapping, after CALL_MAP
 * @pieces: number of pieces that were written
 * @serial: of the call
 */
struct reply {
	int64_t result;
	uint64_t value;
	uint32_t number;
	uint32_t pieces;
	uint32_t serial;
	uint32_t reserved;
};

/** call_padded() - the room that so many bytes take in a message */
static inline uint64_t call_padded(uint64_t bytes)
{
	return (bytes + 7) & ~7ULL;
}

#endif /* LIBELOG_CALL_H */
