/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The order of the messages of one capture: elog ship may send a message again, so a stream
 * has messages twice and in another order than the files. This finds the message that
 * continues what was read so far, with bounded memory: it keeps the numbers of later messages
 * in the stream, not their contents.
 *
 * elog ship sends no message before the one 64 places earlier was stored. So when 64 later
 * messages are there, those that are missing will not come: this is a gap.
 *
 * What the messages say is not trusted. For one thread; no locks.
 */
#ifndef ORDER_H
#define ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nats/transport.h"

#define ORDER_WINDOW	64	/* as many messages of elog ship wait for a reply */

struct order;

/**
 * struct order_message - a message that continues what was read
 * @sequence: number in the stream
 * @skip: bytes at its beginning that were read before
 * @size: its bytes
 */
struct order_message {
	uint64_t sequence;
	size_t skip;
	size_t size;
};

/**
 * struct order_gap - bytes that are missing
 * @file: the file; @previous if that is set
 * @from: the first byte that is missing
 * @to: behind the last one; 0: files may be missing behind @file
 */
struct order_gap {
	char file[TRANSPORT_ID_BYTES];
	uint64_t from;
	uint64_t to;
};

/**
 * order_new() - start with a capture
 * @partial: the messages begin in the middle: what comes before the beginning of a file is
 *	no gap
 *
 * Return: the order; NULL: no memory.
 */
struct order *order_new(bool partial);

/** order_free() - free it; NULL is allowed */
void order_free(struct order *order);

/**
 * order_put() - add the next message of the stream
 * @order: the order
 * @message: the message; without its data, the end of a file may be missing unnoticed
 *
 * Return: 0; -EBADMSG what it says is not valid: it is ignored; or -ENOMEM.
 */
int order_put(struct order *order, const struct transport_stored *message);

/**
 * order_next() - find the message that continues what was read
 * @order: the order
 * @final: no other messages will come
 * @message: filled in
 * @gap: filled in
 *
 * Return: 1 there is a message; 2 there is a gap, call it again; 0 other messages have to come
 * first.
 */
int order_next(struct order *order, bool final, struct order_message *message,
	       struct order_gap *gap);

/** order_late() - number of messages that came after a gap was reported in their place */
uint64_t order_late(const struct order *order);

/** order_waits() - are there messages that do not continue what was read? */
bool order_waits(const struct order *order);

#endif /* ORDER_H */
