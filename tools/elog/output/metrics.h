/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters, and the state of the module and of background captures, in the text format
 * of Prometheus.
 */
#ifndef METRICS_H
#define METRICS_H

#include "input/counters.h"

/**
 * metrics_put() - append all metrics
 * @counters: the counters
 * @live: they count live events: append the state of this machine, too
 * @text: to append to
 *
 * Leaves out the state that cannot be read.
 */
void metrics_put(const struct counters *counters, bool live, struct elog_text *text);

/**
 * struct metric - a number without labels
 * @name: its name
 * @type: "counter" or "gauge"
 * @help: one sentence
 * @value: the number
 */
struct metric {
	const char *name;
	const char *type;
	const char *help;
	uint64_t value;
};

/** metrics_put_one() - append a metric */
void metrics_put_one(struct elog_text *text, const struct metric *metric);

/**
 * metrics_write() - replace a file atomically
 * @path: the file; if it is not a regular file, it is written in place
 * @text: the new contents
 *
 * Return: 0; a negative errno, and the file is unchanged.
 */
int metrics_write(const char *path, const struct elog_text *text);

#endif /* METRICS_H */
