/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters, and the state of the module and of background captures, in
 * Prometheus' text format.
 */
#ifndef METRICS_H
#define METRICS_H

#include "input/counters.h"

/**
 * metrics_put() - append all of it
 * @counters: the counters
 * @live: it is of a subscription on this machine: tell of the machine, too
 * @text: where
 *
 * What cannot be asked for just now is left out.
 */
void metrics_put(const struct counters *counters, bool live, struct elog_text *text);

/**
 * metrics_write() - replace a file at once, whoever reads it
 * @path: the file; what is no regular file is written to as it is
 * @text: what it is to hold
 *
 * Return: 0 or a negative errno; then the file is as it was.
 */
int metrics_write(const char *path, const struct elog_text *text);

#endif /* METRICS_H */
