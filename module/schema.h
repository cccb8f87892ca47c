/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Schema text: an event as the schema language says it.
 */
#ifndef EVENTLOG_SCHEMA_H
#define EVENTLOG_SCHEMA_H

#include <linux/types.h>

struct eventlog_event;

/**
 * eventlog_schema_text() - write a definition as a schema of its own
 * @event: its domain locked
 * @bytes: set to the text's size, NUL included
 *
 * Return: the text, to be given to eventlog_free(), or NULL (no memory).
 */
char *eventlog_schema_text(const struct eventlog_event *event, u32 *bytes);

#endif /* EVENTLOG_SCHEMA_H */
