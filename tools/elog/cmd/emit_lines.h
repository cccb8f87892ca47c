/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * elog emit --stdin: lines of another program become events.
 */
#ifndef EMIT_LINES_H
#define EMIT_LINES_H

#include "cmd/options.h"

/**
 * emit_lines() - emit an event for each line of stdin, until its end or a signal
 * @options: of elog emit, with --stdin
 * @strict: fail if events cannot be emitted, or a line is wrong
 *
 * Return: the exit status; a message was printed.
 */
int emit_lines(const struct options *options, bool strict);

#endif /* EMIT_LINES_H */
