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
#define TRANSPORT_VERSION	3	/* of struct transport_ops and what it uses */
#define TRANSPORT_WHY_MAX	512	/* bytes of a reason, with the NUL */
#define TRANSPORT_SUBJECT_BYTES	256	/* of a subject, with the NUL */
#define TRANSPORT_SERVERS_BYTES	512	/* of a list of servers, with the NUL */
#define TRANSPORT_ID_BYTES	33	/* of a file's id, with the NUL */

struct transport;

/**
 * struct transport_message - a message for the stream
 * @number: comes back in its replies
 * @subject: the subject
 * @id: the servers drop a message if they recently stored one with the same id
 * @file: the file that it is a part of
 * @previous: the file before that; "": none, or not the first message of @file
 * @previous_size: bytes of @previous, if that is a file
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
	uint64_t previous_size;
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

/**
 * struct transport_limits - what a stream keeps
 * @replicas: number of servers that store it
 * @max_age: of a message, ns; 0: any
 * @max_bytes: of all messages, in each server; 0: any number. The oldest ones are removed
 */
struct transport_limits {
	unsigned int replicas;
	int64_t max_age;
	uint64_t max_bytes;
};

/**
 * struct transport_info - a stream
 * @first: number of its first message
 * @last: of its last message; less than @first: it is empty
 * @messages: number of them
 * @bytes: what they need in each server
 * @limits: what it keeps
 * @servers: the servers that store it, as text: "n0 leads, n1, n2 not current"; "": not known
 */
struct transport_info {
	uint64_t first;
	uint64_t last;
	uint64_t messages;
	uint64_t bytes;
	struct transport_limits limits;
	char servers[TRANSPORT_SERVERS_BYTES];
};

/**
 * struct transport_get - a request for the first message from a number on, or for the last one
 * @number: comes back in the replies
 * @stream: the stream
 * @subject: of the message; may have wildcards
 * @sequence: the number in the stream; 0: the last message
 * @certain: ask the leader: another server may not have the latest messages yet
 */
struct transport_get {
	uint64_t number;
	const char *stream;
	const char *subject;
	uint64_t sequence;
	bool certain;
};

/**
 * struct transport_stored - the reply; transport_ops.release() frees it
 * @number: of the request; UINT64_MAX: not known
 * @error: 0; -ENOENT there is no such message; -EAGAIN ask again, @why says why; -EBADMSG
 *	what the message says is not valid; of that only @sequence is valid, if it is not 0
 * @why: NUL-terminated
 * @sequence: number in the stream
 * @time: when the stream stored it, CLOCK_REALTIME ns
 * @subject: NUL-terminated
 * @file: as transport_message.file; "" if it has none, as the next
 * @previous: as transport_message.previous
 * @previous_size: as transport_message.previous_size; 0: not known
 * @offset: of @data in the file
 * @data: the contents
 * @size: bytes of @data
 * @memory: has @data
 * @is_message: the plugin knows how to free @memory
 */
struct transport_stored {
	uint64_t number;
	int error;
	char why[TRANSPORT_WHY_MAX];
	uint64_t sequence;
	int64_t time;
	char subject[TRANSPORT_SUBJECT_BYTES];
	char file[TRANSPORT_ID_BYTES];
	char previous[TRANSPORT_ID_BYTES];
	uint64_t previous_size;
	uint64_t offset;
	const unsigned char *data;
	size_t size;
	void *memory;
	bool is_message;
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
 * @create: create a stream for a subject, unless it exists, and set @found to the limits that
 *	it has; sets @why on failure. Waits ten seconds at most. Returns 1: created; 0: it
 *	existed, and was not changed; -EAGAIN: the servers may be starting; or another negative
 *	errno
 * @publish: send a message; does not wait for the reply. Returns 0 or a negative errno
 * @reply: wait for a reply; false: there was none in this time
 * @info: describe a stream; sets @why on failure. Returns 0, -EAGAIN if
 *	it may help to try again, or another negative errno
 * @subjects: call a function for each subject of a stream, until it returns something else
 *	than 0; returns that, or as @info
 * @headers: call a function for each message of a stream that was stored at a CLOCK_REALTIME ns
 *	or later, 0: for all, without its data, until it returns something else than 0; returns
 *	that, or as @info. A message that is not valid has an error, and no subject if it could
 *	not be read
 * @get: ask for a message; does not wait for the reply. Returns 0 or a negative errno
 * @got: wait for a reply to @get; false: there was none in this time
 * @release: free what @got has filled in
 */
struct transport_ops {
	unsigned int version;
	int (*open)(struct transport **transport, const char *url, char *why);
	void (*close)(struct transport *transport);
	enum transport_state (*state)(struct transport *transport);
	bool (*take_error)(struct transport *transport, char *why);
	int (*create)(struct transport *transport, const char *stream, const char *subject,
		      const struct transport_limits *limits, struct transport_limits *found,
		      char *why);
	int (*publish)(struct transport *transport, const struct transport_message *message,
		       char *why);
	bool (*reply)(struct transport *transport, int milliseconds,
		      struct transport_reply *reply);
	int (*info)(struct transport *transport, const char *stream,
		    struct transport_info *info, char *why);
	int (*subjects)(struct transport *transport, const char *stream, const char *filter,
			int (*take)(void *context, const char *subject), void *context,
			char *why);
	int (*headers)(struct transport *transport, const char *stream, int64_t since,
		       int (*take)(void *context, const struct transport_stored *stored),
		       void *context, char *why);
	int (*get)(struct transport *transport, const struct transport_get *get, char *why);
	bool (*got)(struct transport *transport, int milliseconds,
		    struct transport_stored *stored);
	void (*release)(struct transport_stored *stored);
};

/** transport_load() - load the plugin; NULL: it is missing, and the reason was printed */
const struct transport_ops *transport_load(void);

#endif /* TRANSPORT_H */
