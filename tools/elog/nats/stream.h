/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading the captures in a stream of NATS JetStream, as the bytes of their files, one file
 * after the other. Messages that came twice or in another order do not matter.
 *
 * Each capture asks for its next message when the last one was read, and the servers keep
 * nothing for the reader. So memory is bounded: a message for each capture, and those that
 * are asked for in advance.
 *
 * For one thread; no locks.
 */
#ifndef STREAM_H
#define STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "nats/order.h"

#define STREAM_DEFAULT		"ELOG"	/* unless the URL has another */
#define STREAM_NAME_BYTES	64	/* of a stream's name, with the NUL */
#define STREAM_MACHINE_BYTES	64	/* of the id of a machine, with the NUL */

struct stream;
struct stream_capture;

/**
 * struct stream_gap - what is missing
 * @capture: in which capture
 * @gap: where; not used if @count is set
 * @sequence: number of the first message in the stream that is not valid
 * @last: number of the last one
 * @count: number of these messages
 */
struct stream_gap {
	struct stream_capture *capture;
	struct order_gap gap;
	uint64_t sequence;
	uint64_t last;
	uint64_t count;
};

/** stream_is_url() - is this the URL of a stream, instead of the name of a file? */
bool stream_is_url(const char *name);

/** stream_check_url() - is the URL valid? Otherwise the reason was printed */
bool stream_check_url(const char *url);

/**
 * stream_split_url() - separate the servers from the name of the stream
 * @url: a valid one
 * @name: set to the name; STREAM_NAME_BYTES
 *
 * Return: the URL of the servers, which the caller frees; NULL: an error, which was printed.
 */
char *stream_split_url(const char *url, char *name);

/**
 * stream_split_subject() - separate a subject of elog ship: "elog.MACHINE.BOOT.NAME"
 * @subject: the subject
 * @machine: set to the machine's id; STREAM_MACHINE_BYTES
 *
 * Return: the name of the capture, in @subject; NULL: it is no such subject.
 */
const char *stream_split_subject(const char *subject, char *machine);

/**
 * stream_open() - connect, and find the captures
 * @stream: set
 * @url: nats://HOST[:PORT][,HOST...][/STREAM]
 * @follow: go on with what the stream gets later
 * @since: NULL: from the beginning; otherwise begin with the files that have events of this
 *	CLOCK_REALTIME ns or later
 * @quiet: do not print when the connection is lost and when it is back
 *
 * Return: 0, or a negative errno; the reason was printed.
 */
int stream_open(struct stream **stream, const char *url, bool follow, const int64_t *since,
		bool quiet);

/**
 * stream_on_wait() - be called while the servers do not answer
 * @stream: the stream
 * @waiting: is called about every 100 ms; it returns true to end reading, as a signal does. It
 *	must not call the stream
 * @context: for @waiting
 */
void stream_on_wait(struct stream *stream, bool (*waiting)(void *context), void *context);

/** stream_is_connected() - was there a connection when it last waited? */
bool stream_is_connected(const struct stream *stream);

/** stream_close() - disconnect; NULL is allowed */
void stream_close(struct stream *stream);

/** stream_new_capture() - get a capture that it has not returned yet; NULL: there is none */
struct stream_capture *stream_new_capture(struct stream *stream);

/** stream_machine() - the machine of a capture, as its servers know it */
const char *stream_machine(const struct stream_capture *capture);

/** stream_name() - the name of a capture's newest file, with other characters as "_" */
const char *stream_name(const struct stream_capture *capture);

/**
 * stream_read() - read on
 * @capture: a struct stream_capture
 * @data: filled in
 * @size: room in @data
 *
 * Return: the number of bytes; 0 the end; -EAGAIN nothing for now: see stream_poll(); or
 * another negative errno, and the reason was printed.
 */
ssize_t stream_read(void *capture, void *data, size_t size);

/** stream_drop() - do not read a capture any more: this is its end */
void stream_drop(struct stream_capture *capture);

/** stream_is_at_end() - has stream_read() returned 0, or will it? */
bool stream_is_at_end(const struct stream_capture *capture);

/** stream_is_empty() - has stream_read() returned nothing? */
bool stream_is_empty(const struct stream_capture *capture);

/**
 * stream_poll() - get what the stream has got, for all captures that follow
 * @stream: the stream, after stream_read() has returned -EAGAIN for all captures
 *
 * Return: 1 there is more to read, perhaps in a new capture; 0; or a negative errno, and the
 * reason was printed.
 */
int stream_poll(struct stream *stream);

/** stream_take_gap() - get a gap that it has not returned yet; false: there is none */
bool stream_take_gap(struct stream *stream, struct stream_gap *gap);

/** stream_late() - number of messages that came after a gap was reported in their place */
uint64_t stream_late(const struct stream *stream);

#endif /* STREAM_H */
