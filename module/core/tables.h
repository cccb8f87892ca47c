/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Schemas of processes: parses and checks a schema text that describes one event.  No
 * state, no locks.
 */
#ifndef EVENTLOG_TABLES_H
#define EVENTLOG_TABLES_H

#include <linux/eventlog.h>

struct eventlog_event;
struct eventlog_fields;

/**
 * struct eventlog_tables - a schema of a process
 * @provider: the provider's name, keywords and sets, and one event; its owner is
 *	EVENTLOG_OWNER_PROCESS
 * @event: the event
 * @events: the provider's array of events
 * @preamble: schema text behind the provider's name, up to the event
 * @bytes: size of the allocation
 *
 * Constant.  All of it is in one allocation.
 */
struct eventlog_tables {
	struct eventlog_provider provider;
	struct eventlog_provider_event event;
	struct eventlog_provider_event *events[1];
	const char *preamble;
	size_t bytes;
};

/**
 * eventlog_tables_parse() - parse a schema text
 * @text: in the canonical form, with one event, which is the last statement
 * @fields: output: name, text, layout and tables of the event; on success the caller
 *	frees it with eventlog_fields_free()
 *
 * The text is not trusted.  Rejects what consumers would reject.
 *
 * Context: process context.
 *
 * Return: 0; -EINVAL: the text has an error; -E2BIG: too many lines; -ENOMEM.
 */
int eventlog_tables_parse(const char *text, struct eventlog_fields *fields);

#endif /* EVENTLOG_TABLES_H */
