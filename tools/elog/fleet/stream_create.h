/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Creating the stream that elog ship sends to. For one thread; no locks.
 */
#ifndef STREAM_CREATE_H
#define STREAM_CREATE_H

#include <stdbool.h>
#include <elog.h>

#include "nats/transport.h"

#define STREAM_LIMIT_NONE	UINT64_MAX

/**
 * struct stream_wanted - the limits that the user chose
 * @replicas: 0: not chosen
 * @max_age: ns; 0: not chosen; STREAM_LIMIT_NONE: no limit
 * @max_bytes: likewise
 * @report: print the limits, too, if the stream exists
 */
struct stream_wanted {
	uint32_t replicas;
	uint64_t max_age;
	uint64_t max_bytes;
	bool report;
};

/** stream_parse_age() - parse a limit of age: "7d", or "none"; return where it is wrong, or NULL */
const char *stream_parse_age(const char *text, uint64_t *limit);

/** stream_parse_bytes() - likewise a limit of size: "800G", or "none" */
bool stream_parse_bytes(const char *text, uint64_t *limit);

/** stream_put_limits() - append the limits of a stream, for a message */
void stream_put_limits(struct elog_text *text, const struct transport_limits *limits);

/**
 * stream_create() - create the stream ELOG for the subjects of elog ship, unless it exists
 * @ops: of the plugin
 * @transport: the connection
 * @url: of the servers
 * @wanted: the limits; what was not chosen has a default
 * @quiet: print only errors
 *
 * Prints what it has done. An existing stream is not changed: limits that differ from those
 * that were chosen are printed. Tries again while the servers start.
 *
 * Return: 0; -EEXIST it exists with other limits; -EINTR a signal; or another negative errno,
 * and the reason was printed.
 */
int stream_create(const struct transport_ops *ops, struct transport *transport, const char *url,
		  const struct stream_wanted *wanted, bool quiet);

#endif /* STREAM_CREATE_H */
