/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the plugin elog_nats.so share: nats.c connects and publishes, nats_read.c
 * reads streams. See transport.h.
 */
#ifndef NATS_STATE_H
#define NATS_STATE_H

#include <pthread.h>
#include <nats/nats.h>

#include "nats/transport.h"

#define WAIT_MS		500	/* for an answer about a stream; twice as long after a timeout, */
#define WAIT_MAX_MS	5000	/* up to this */
#define REPLY_MAX	1024	/* bytes of a subject for replies */

/*
 * struct transport - a connection
 * @wait: for an answer about the stream, ms
 * @lock: protects @has_error and @last_error, which libnats' threads set
 * @replies: to INBOX.NUMBER: a request has the number
 * @direct: every server of the stream that is read answers requests, not only its leader
 */
struct transport {
	natsOptions *options;
	natsConnection *connection;
	natsSubscription *replies;
	char *inbox;
	int wait;
	bool direct;
	pthread_mutex_t lock;
	bool has_error;
	char last_error[TRANSPORT_WHY_MAX];
};

/** nats_explain() - put why a call failed: @what, and what libnats says about it */
void nats_explain(natsStatus status, const char *what, char *why);

/** nats_explain_silence() - the same for a server that does not answer */
void nats_explain_silence(struct transport *transport, const char *what, char *why);

/** nats_limits() - get the limits of a stream */
void nats_limits(const jsStreamInfo *info, struct transport_limits *limits);

/* The functions of struct transport_ops in nats_read.c. */
int nats_info(struct transport *transport, const char *stream, struct transport_info *info,
	      char *why);
int nats_subjects(struct transport *transport, const char *stream, const char *filter,
		  int (*take)(void *context, const char *subject), void *context, char *why);
int nats_headers(struct transport *transport, const char *stream, int64_t since,
		 int (*take)(void *context, const struct transport_stored *stored), void *context,
		 char *why);
int nats_get(struct transport *transport, const struct transport_get *get, char *why);
bool nats_got(struct transport *transport, int milliseconds, struct transport_stored *stored);
void nats_release(struct transport_stored *stored);

#endif /* NATS_STATE_H */
