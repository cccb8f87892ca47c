/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What servers answer, without libnats: a part of the plugin elog_nats.so. What a server says is
 * not trusted: sizes and numbers are checked. No state, no locks.
 */
#ifndef NATS_ANSWER_H
#define NATS_ANSWER_H

#include "nats/transport.h"

/* The headers of a message, as they are found in one of the two kinds of replies. */
struct nats_headers {
	const char *file;
	const char *previous;
	const char *previous_size;
	const char *offset;
};

/** nats_parse_number() - read a decimal number; false: it is none; NULL is none */
bool nats_parse_number(const char *text, uint64_t *number);

/** nats_parse_time() - read a time, in CLOCK_REALTIME ns; false: it is none; NULL is none */
bool nats_parse_time(const char *text, int64_t *nanoseconds);

/** nats_copy_text() - copy a text, unless it is NULL; false: it does not fit */
bool nats_copy_text(char *to, size_t size, const char *text);

/** nats_take_headers() - fill in what elog ship says about a message; false: it is not valid */
bool nats_take_headers(struct transport_stored *stored, const struct nats_headers *headers);

/** nats_describe() - copy "description" from the text of a server: {"error":{...}} */
void nats_describe(const char *text, char *why);

/** nats_read_reply() - read what a server says about a message that it got */
void nats_read_reply(const char *text, struct transport_reply *reply);

/**
 * nats_read_message() - read the reply of the leader to a request for a message
 * @text: the reply; it is changed, and the result refers to it
 * @stored: zeroed; filled in
 */
void nats_read_message(char *text, struct transport_stored *stored);

#endif /* NATS_ANSWER_H */
