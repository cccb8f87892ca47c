/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registering an event that the command line describes, and explaining why the kernel
 * rejects it.
 */
#ifndef REGISTER_H
#define REGISTER_H

#include "cmd/options.h"

/**
 * struct registration - an event to register
 * @title: its name in messages
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
 * split_name() - split [PROVIDER/]EVENT
 * @text: the text; @event points into it
 * @provider: set to an allocated copy without backslashes, or to NULL if there is none
 * @event: set to the part behind the first slash without a backslash before it
 *
 * Return: false without memory; an error was printed.
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
 * register_event() - register an event
 * @producer: connected
 * @registration: the event
 * @event: set to it
 *
 * Return: 0, or a negative errno.
 */
int register_event(struct elog_producer *producer,
		   const struct registration *registration,
		   struct elog_event **event);

/**
 * explain_registration() - print why the kernel rejected an event
 * @producer: connected
 * @registration: the event
 * @error: of register_event()
 *
 * Only the kernel parses the types of fields. If it rejects them, this tries them one
 * by one to find out which is wrong.
 */
void explain_registration(struct elog_producer *producer,
			  const struct registration *registration, int error);

#endif /* REGISTER_H */
