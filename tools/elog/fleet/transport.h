/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The connection to the servers that carry captures. The implementation is in a plugin,
 * because it needs a library that most users of elog do not need. Its functions are for one
 * thread; the library has threads of its own.
 */
#ifndef TRANSPORT_H
#define TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRANSPORT_PLUGIN	"elog_nats.so"
#define TRANSPORT_SYMBOL	"elog_transport"
#define TRANSPORT_VERSION	1	/* of struct transport_ops and what it uses */
#define TRANSPORT_WHY_MAX	512	/* bytes of a reason, with the NUL */

struct transport;

/**
 * struct transport_message - a message for the stream
 * @number: comes back in its replies
 * @subject: the subject
 * @id: the servers drop a message if they recently stored one with the same id
 * @file: the file that it is a part of
 * @previous: the file before that; "": none, or not the first message of @file
 * @offset: of @data in the file
 * @data: the contents
 * @size: bytes of @data
 */
struct transport_message {
	uint64_t number;
	const char *subject;
	const char *id;
	const char *file;
	const char *previous;
	uint64_t offset;
	const void *data;
	size_t size;
};

/**
 * struct transport_reply - what the servers say about a message
 * @number: of the message; UINT64_MAX: not known
 * @stored: the stream has it
 * @duplicate: the stream had it before
 * @why: if it is not stored
 */
struct transport_reply {
	uint64_t number;
	bool stored;
	bool duplicate;
	char why[TRANSPORT_WHY_MAX];
};

enum transport_state {
	TRANSPORT_CONNECTED,
	TRANSPORT_DISCONNECTED,	/* it tries to connect again */
	TRANSPORT_CLOSED,	/* it has given up */
};

/**
 * struct transport_ops - the functions of the plugin
 * @version: TRANSPORT_VERSION
 * @open: connect to one of the servers of an URL; sets @why on failure. Returns 0, -EAGAIN
 *	if it may help to try again, or another negative errno
 * @close: disconnect
 * @state: get the state of the connection
 * @take_error: get the latest error that belongs to no message, and clear it; false: none
 * @create: create a stream for a subject, unless it exists; sets @why on failure, which may
 *	be that the servers are starting. Waits ten seconds at most
 * @publish: send a message; does not wait for the reply. Returns 0 or a negative errno
 * @reply: wait for a reply; false: there was none in this time
 */
struct transport_ops {
	unsigned int version;
	int (*open)(struct transport **transport, const char *url, char *why);
	void (*close)(struct transport *transport);
	enum transport_state (*state)(struct transport *transport);
	bool (*take_error)(struct transport *transport, char *why);
	int (*create)(struct transport *transport, const char *stream, const char *subject,
		      unsigned int replicas, char *why);
	int (*publish)(struct transport *transport, const struct transport_message *message,
		       char *why);
	bool (*reply)(struct transport *transport, int milliseconds,
		      struct transport_reply *reply);
};

/** transport_load() - load the plugin; NULL: it is missing, and the reason was printed */
const struct transport_ops *transport_load(void);

#endif /* TRANSPORT_H */
