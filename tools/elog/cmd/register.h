/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registering an event that the command line describes, for the verbs that do,
 * and telling what the kernel has against it.
 */
#ifndef REGISTER_H
#define REGISTER_H

#include "util/tool.h"

/**
 * struct registration - an event to register
 * @title: what to call it
 * @provider: its provider; NULL: the default one
 * @name: its name
 * @fields: "TYPE NAME; ...", or ""
 * @level: enum eventlog_level, 0: info
 * @keywords: its keywords
 * @flags: 0 or EVENTLOG_REGISTER_PERSIST
 */
struct registration {
	const char *title;
	const char *provider;
	const char *name;
	const char *fields;
	unsigned int level;
	uint64_t keywords;
	unsigned int flags;
};

/**
 * split_name() - take [PROVIDER/]EVENT apart
 * @text: that; @event points into it
 * @provider: set to an allocated copy, or to NULL when there is none
 * @event: set to what is behind the slash
 *
 * Return: false when there is no memory, which is told.
 */
bool split_name(const char *text, char **provider, const char **event);

/**
 * name_event() - set title, provider and name of an event
 * @options: --provider
 * @title: [PROVIDER/]EVENT; the provider must be given only once
 * @provider: set to an allocated copy, or to NULL if there is none
 * @registration: its names are set
 *
 * Return: 0, or a negative errno; the reason was printed.
 */
int name_event(const struct options *options, const char *title,
	       char **provider, struct registration *registration);

/**
 * register_event() - register it
 * @producer: connected
 * @registration: the event
 * @event: set to it
 *
 * The fields' types are parsed by nobody but the kernel: when it refuses them, they
 * are offered to it one by one, to tell which it is.
 *
 * Return: 0, or a negative errno, the reason being told.
 */
int register_event(struct elog_producer *producer,
		   const struct registration *registration,
		   struct elog_event **event);

#endif /* REGISTER_H */
