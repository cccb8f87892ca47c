/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Schema text: definitions as the schema language says them, and the tables of
 * kernel providers, which say the same in C.  No state, no locks.
 */
#ifndef EVENTLOG_SCHEMA_H
#define EVENTLOG_SCHEMA_H

#include <linux/types.h>

struct eventlog_event;
struct eventlog_fields;
struct eventlog_provider;
struct eventlog_provider_event;

/**
 * eventlog_schema_text() - write a definition as a schema of its own
 * @event: its domain locked
 * @bytes: set to the text's size, NUL included
 *
 * Return: the text, to be given to eventlog_free(), or NULL (no memory).
 */
char *eventlog_schema_text(const struct eventlog_event *event, u32 *bytes);

/**
 * eventlog_schema_check() - is a kernel provider's table well formed
 * @provider: the provider
 *
 * Process context.  Says in the kernel log what is not.
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int eventlog_schema_check(const struct eventlog_provider *provider);

/**
 * eventlog_schema_preamble() - write what stands behind a kernel provider's name
 * @provider: checked
 *
 * Return: description, keywords and sets, to be given to eventlog_free(), or
 * NULL (no memory).
 */
char *eventlog_schema_preamble(const struct eventlog_provider *provider);

/**
 * eventlog_schema_fields() - write an event of a kernel provider, and lay it out
 * @provider: checked
 * @source: one of its events
 * @fields: set; to be given to eventlog_fields_free()
 *
 * Return: 0 or -ENOMEM.
 */
int eventlog_schema_fields(const struct eventlog_provider *provider,
			   const struct eventlog_provider_event *source,
			   struct eventlog_fields *fields);

#endif /* EVENTLOG_SCHEMA_H */
