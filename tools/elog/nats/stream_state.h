/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What stream.c, which reads, and stream_open.c, which finds where to begin, share. For one
 * thread; no locks.
 */
#ifndef STREAM_STATE_H
#define STREAM_STATE_H

#include "nats/stream.h"
#include "nats/transport.h"

#define SUBJECT_PREFIX	"elog."
#define CAPTURES_MAX	65536U
#define TAIL_INDEX	(CAPTURES_MAX - 1)

/* A message that waits until its capture reads it. */
struct queued {
	struct queued *next;
	struct transport_stored stored;
};

/*
 * struct stream_capture - the messages of a subject
 * @index: in stream.captures
 * @name: in @subject
 * @cursor: number of the next message to ask for
 * @last: behind this number, messages come from @queue
 * @pending: number of the request without a reply; 0: there is none
 * @asked: number of the message that was asked for, at
 * @asked_at: this CLOCK_MONOTONIC ns
 * @reply: the reply, if @has_reply
 * @current: what is read now, if @has_current; @used bytes of it were read
 * @any: some bytes were read
 * @waiting_since: the order waits for a message that is missing, CLOCK_MONOTONIC ns
 */
struct stream_capture {
	struct stream *stream;
	size_t index;
	char subject[TRANSPORT_SUBJECT_BYTES];
	char machine[STREAM_MACHINE_BYTES];
	const char *name;
	struct order *order;
	uint64_t cursor;
	uint64_t last;
	uint64_t pending;
	uint64_t asked;
	uint64_t asked_at;
	struct transport_stored reply;
	bool has_reply;
	struct transport_stored current;
	bool has_current;
	size_t used;
	uint64_t waiting_since;
	struct queued *queue;
	struct queued **queue_end;
	bool any;
	bool dropped;
	bool ended;
};

/*
 * struct stream - a stream
 * @partial: reading begins in the middle of it
 * @info: when it was opened
 * @returned: number of captures that stream_new_capture() has returned
 * @tail: asks for messages of all subjects
 * @polled: when there was no message, CLOCK_MONOTONIC ns
 * @requests: number of requests so far
 * @asked: number of captures that wait for a reply
 * @waiting: see stream_on_wait(); NULL: nothing
 * @waiting_context: for it
 * @waited: when it was called, CLOCK_MONOTONIC ns
 * @error: that ends reading; it was printed
 * @why: the latest error of a server
 */
struct stream {
	const struct transport_ops *ops;
	struct transport *transport;
	char name[STREAM_NAME_BYTES];
	bool follow;
	bool quiet;
	bool partial;
	bool connected;
	struct transport_info info;
	struct stream_capture **captures;
	size_t capture_count;
	size_t returned;
	struct stream_capture tail;
	uint64_t polled;
	uint64_t requests;
	size_t asked;
	struct stream_gap *gaps;
	size_t gap_count;
	bool (*waiting)(void *context);
	void *waiting_context;
	uint64_t waited;
	int error;
	char why[TRANSPORT_WHY_MAX];
};

/** stream_check_connection() - print when the connection is lost, and when it is back */
void stream_check_connection(struct stream *stream);

/** stream_ask() - ask for the first message from a number on; forgets an earlier reply */
void stream_ask(struct stream_capture *capture, uint64_t sequence, bool certain);

/**
 * stream_wait() - ask, unless it was asked already, and wait for the reply
 * @capture: its reply is set on success, and with -EBADMSG
 * @sequence: the number
 * @certain: ask the leader
 *
 * Return: 0; -ENOENT there is no such message; -EBADMSG it is not valid; -EINTR a signal came;
 * or another negative errno, and the reason was printed.
 */
int stream_wait(struct stream_capture *capture, uint64_t sequence, bool certain);

/**
 * stream_add_capture() - read another subject
 * @stream: the stream
 * @subject: the subject; what elog ship would not use is ignored
 * @first: number of the first message to read
 * @last: of the last one; later messages come from stream_poll()
 * @partial: as for order_new()
 *
 * Return: 0, or a negative errno; the reason was printed.
 */
int stream_add_capture(struct stream *stream, const char *subject, uint64_t first, uint64_t last,
		       bool partial);

/**
 * stream_find_file() - find a number before the beginning of a message's file
 * @stream: the stream
 * @message: a message
 * @first: set
 *
 * Return: as stream_wait().
 */
int stream_find_file(struct stream *stream, const struct transport_stored *message,
		     uint64_t *first);

#endif /* STREAM_STATE_H */
