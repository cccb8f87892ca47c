// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog create: make an event that lasts until it is deleted, so that tracers can be
 * attached to it before any program runs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/register.h"
#include "cmd/verb.h"

/* "NAME" or "NAME FIELDS", with blanks around; what is behind is @fields. */
static char *copy_name(const char *text, const char **fields)
{
	static const char blanks[] = " \t\n";
	size_t size;

	text += strspn(text, blanks);
	size = strcspn(text, blanks);
	*fields = text + size + strspn(text + size, blanks);
	return strndup(text, size);
}

static int create(const struct options *options,
		  const struct registration *registration)
{
	struct elog_producer *producer;
	struct elog_event *event;
	int ret;

	ret = elog_producer_open(&producer, NULL);
	if (ret) {
		elog_error("out of memory");
		return ret;
	}
	ret = elog_producer_connect(producer);
	if (ret)
		explain_device_error(ret, PURPOSE_ADMINISTER);
	else
		ret = register_event(producer, registration, &event);
	if (!ret && options->verbose)
		elog_hint("%s/%s is #%u", registration->provider ?
			  registration->provider : EVENTLOG_DEFAULT_PROVIDER,
			  registration->name, elog_event_descriptor(event));
	elog_producer_close(producer);
	return ret;
}

static int run_create(const struct options *options)
{
	struct registration registration = {
		.level = options->level,
		.keywords = options->keywords,
		.flags = EVENTLOG_REGISTER_PERSIST,
	};
	char *title, *provider = NULL;
	int ret, next = 1;

	if (options->keyword_names) {
		elog_error("-k: '%s': only numbers are keywords of a new event",
			   options->keyword_names);
		return STATUS_ERROR;
	}
	if (!options->argument_count) {
		elog_error("which event? [PROVIDER/]EVENT is missing");
		return STATUS_ERROR;
	}
	title = copy_name(options->arguments[0], &registration.fields);
	if (!title) {
		elog_error("out of memory");
		return STATUS_ERROR;
	}
	if (!*registration.fields && options->argument_count > next)
		registration.fields = options->arguments[next++];
	if (options->argument_count > next) {
		elog_error("'%s' is too much: the fields are one argument",
			   options->arguments[next]);
		ret = -EINVAL;
	} else {
		ret = name_event(options, title, &provider, &registration);
	}
	if (!ret)
		ret = create(options, &registration);
	free(provider);
	free(title);
	return ret ? STATUS_ERROR : STATUS_OK;
}

static const struct verb_option create_options[] = {
	{ OPTION_PROVIDER, NULL },
	{ 'l', "the event's level: error, warning, notice, info (default),\n"
	  "debug, verbose, or 1 to 6" },
	{ 'k', "the event's keywords, as a number" },
	{ 'v', "say which number it has" },
	{ 0, NULL },
};

const struct verb verb_create = {
	.name = "create",
	.summary = "make an event that lasts",
	.usage = "[OPTION...] [PROVIDER/]EVENT ['TYPE FIELD; ...']",
	.description =
	"Makes an event before any program does, so that tracers can be attached to it.\n"
	"Programs that register the same later share it. It lasts until elog delete; as\n"
	"long as there is one the kernel module cannot be removed. Types are those of\n"
	"elog emit; the name and the fields may be one argument.\n"
	"\n"
	"  elog create backup/done 'u64 bytes; __data_loc char[] path'\n"
	"\n"
	"Exit status: 0 all is well, also if it exists; 1 an error.\n",
	.options = create_options,
	.run = run_create,
};
