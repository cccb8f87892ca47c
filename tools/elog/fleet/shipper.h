/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sending spools to a stream: each chunk until the stream has stored it, and the position
 * from which to continue after a crash. For one thread; no locks.
 */
#ifndef SHIPPER_H
#define SHIPPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nats/transport.h"

struct shipper;

/**
 * struct shipper_counts - what was sent so far
 * @messages: stored, without duplicates
 * @bytes: of these
 * @resent: messages that were sent again, because no reply came
 * @duplicates: messages that the stream had before
 * @refused: messages that the stream refused; they are sent again
 * @gaps: see spool_gaps()
 * @lag: bytes in files that are not stored yet
 * @waiting: messages without a reply
 * @stored: CLOCK_REALTIME ns of the last reply; 0: none
 */
struct shipper_counts {
	uint64_t messages;
	uint64_t bytes;
	uint64_t resent;
	uint64_t duplicates;
	uint64_t refused;
	uint64_t gaps;
	uint64_t lag;
	uint64_t waiting;
	int64_t stored;
};

/**
 * shipper_new() - make a shipper
 * @state: the directory that keeps positions, not copied; NULL: that of each file
 *
 * Return: the shipper; NULL: no memory.
 */
struct shipper *shipper_new(const char *state);

/** shipper_free() - free it; NULL is allowed */
void shipper_free(struct shipper *shipper);

/**
 * shipper_add() - send another capture
 * @shipper: the shipper
 * @path: the file of -o
 * @part: which of the files of --writers
 * @since: NULL: continue where the last shipper ended; otherwise start with the first file
 *	that was written at this CLOCK_REALTIME ns or later
 *
 * Return: 0, or a negative errno; the reason was printed.
 */
int shipper_add(struct shipper *shipper, const char *path, unsigned int part,
		const int64_t *since);

/** shipper_connect() - use a connection; NULL: there is none */
void shipper_connect(struct shipper *shipper, const struct transport_ops *ops,
		     struct transport *transport);

/**
 * shipper_run() - send what there is, and wait for replies
 * @shipper: the shipper
 * @read: also read new chunks
 * @milliseconds: how long to wait for the first reply
 * @why: set to the reason if the stream refuses a message; otherwise unchanged
 *
 * Return: 1 it has sent or received something; 0 it has not; or a negative errno: a file
 * cannot be read, and the reason was printed.
 */
int shipper_run(struct shipper *shipper, bool read, int milliseconds, char *why);

/** shipper_is_idle() - is everything in the files stored? */
bool shipper_is_idle(const struct shipper *shipper);

/** shipper_waits() - are there messages without a reply? */
bool shipper_waits(const struct shipper *shipper);

/** shipper_save() - store the positions, if they have changed; 0 or a negative errno */
int shipper_save(struct shipper *shipper);

/** shipper_count() - get the counts */
void shipper_count(const struct shipper *shipper, struct shipper_counts *counts);

#endif /* SHIPPER_H */
