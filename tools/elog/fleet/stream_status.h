/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a stream has of each host. For one thread; no locks.
 */
#ifndef STREAM_STATUS_H
#define STREAM_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "util/tool.h"

/**
 * struct status_settings - what to print
 * @url: of the stream, a valid one
 * @since: only messages that were stored at this CLOCK_REALTIME ns or later; 0: all
 * @format: text, JSON or CSV
 * @color: as for output_open()
 * @quiet: no heading, nothing about the stream
 */
struct status_settings {
	const char *url;
	int64_t since;
	enum output_format format;
	enum color color;
	bool quiet;
};

/**
 * stream_status() - print a row for each host
 *
 * Gets the headers of all messages, not their contents. What is missing is found as a reader
 * finds it, with order.h.
 *
 * Return: an exit status: STATUS_LOST if something is missing.
 */
int stream_status(const struct status_settings *settings);

#endif /* STREAM_STATUS_H */
