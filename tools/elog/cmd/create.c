// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog create: create a persistent event, so that tracers can be attached to it before
 * any program registers it; or an instance.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/instance.h"
#include "cmd/register.h"
#include "cmd/verb.h"

/* Copy the name in "NAME" or "NAME FIELDS" and set @fields to the rest. */
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
	if (ret) {
		explain_device_error(ret, PURPOSE_ADMINISTER);
	} else {
		ret = register_event(producer, registration, &event);
		if (ret)
			explain_registration(producer, registration, ret);
	}
	if (!ret && options->verbose)
		elog_hint("%s/%s is #%u", registration->provider ?
			  registration->provider : EVENTLOG_DEFAULT_PROVIDER,
			  registration->name, elog_event_descriptor(event));
	elog_producer_close(producer);
	return ret;
}

/* Return: an option that does not go with --instance, or does not go without it; or NULL. */
static const char *misplaced(const struct options *options)
{
	if (options->instance)
		return options->provider ? "--provider" : options->select.level ? "-l" :
		       options->select.keywords || options->select.keyword_names ? "-k" : NULL;
	return options->owner ? "--owner" : options->mode ? "--mode" :
	       options->quota ? "--quota" : options->trace ? "--trace" : NULL;
}

/* Return: an exit status. */
static int create_instance(const struct options *options)
{
	if (!options->argument_count)
		return instance_create(options);
	elog_error("unexpected argument '%s': --instance creates no event",
		   options->arguments[0]);
	return STATUS_ERROR;
}

static int run_create(const struct options *options)
{
	struct registration registration = {
		.level = options->select.level,
		.keywords = options->select.keywords,
		.flags = EVENTLOG_REGISTER_PERSIST,
	};
	char *title, *provider = NULL;
	int ret, next = 1;

	if (misplaced(options)) {
		elog_error("%s %s --instance", misplaced(options),
			   options->instance ? "does not go with" : "needs");
		return STATUS_ERROR;
	}
	if (options->instance)
		return create_instance(options);
	if (options->select.keyword_names) {
		elog_error("-k: '%s': keywords of a new event must be numbers",
			   options->select.keyword_names);
		return STATUS_ERROR;
	}
	if (!options->argument_count) {
		elog_error("[PROVIDER/]EVENT is missing");
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
		elog_error("unexpected argument '%s': all fields are one argument",
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
	{ 'l', "the event's level: critical, error, warning, notice, info\n"
	  "(default), debug, verbose, or 1 to 7" },
	{ 'k', "the event's keywords, as a number" },
	{ OPTION_INSTANCE, "create this instance instead" },
	{ OPTION_OWNER, NULL }, { OPTION_MODE, NULL }, { OPTION_QUOTA, NULL },
	{ OPTION_TRACE, NULL },
	{ 'D', NULL },
	{ 'v', "print the number of the event or the instance" },
	{ 0, NULL },
};

const struct verb verb_create = {
	.name = "create",
	.summary = "create a persistent event, or an instance",
	.usage = "[OPTION...] [PROVIDER/]EVENT ['TYPE FIELD; ...']",
	.description =
	"Creates an event before any program registers it, so that tracers can be attached\n"
	"to it. Programs that register the same event later share it. It persists until\n"
	"elog delete. The kernel module cannot be removed while there is a persistent\n"
	"event. Types are those of elog emit; name and fields may be one argument.\n"
	"\n"
	"  elog create backup/done 'u64 bytes; __data_loc char[] path'\n"
	"\n"
	"With --instance, creates an instance: an event log of its own for a container, with\n"
	"the device /dev/eventlog-NAME. It needs CAP_SYS_ADMIN.\n"
	"\n"
	"  elog create --instance web --owner 1000 --quota ring_bytes=16M\n"
	"\n"
	"Exit status: 0 success, also if the event exists; 1 an error.\n",
	.options = create_options,
	.run = run_create,
};
