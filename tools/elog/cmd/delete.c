// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog delete: delete persistent events, or an instance.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/instance.h"
#include "cmd/register.h"
#include "cmd/verb.h"
#include "input/names.h"
#include "libelog/util/port.h"

static bool offer_persistent(void *context, const struct eventlog_definition *describe,
			     const struct elog_schema_event *event)
{
	if (describe->state & EVENTLOG_DESCRIBED_PERSIST)
		nearest_offer_event(context, event);
	return true;
}

/* Print that there is no such persistent event, with the names of those that are near. */
static void explain_absence(const struct registration *registration, int fd)
{
	const char *provider = registration->provider ? registration->provider :
							EVENTLOG_DEFAULT_PROVIDER;
	struct nearest nearest = { 0 };
	char *name;

	if (asprintf(&name, "%s/%s", provider, registration->name) < 0) {
		elog_error("out of memory");
		return;
	}
	nearest.sought = *find_slash(registration->title) ? registration->title : name;
	definitions_each(fd, offer_persistent, &nearest);
	nearest_error(&nearest, "no persistent event '%s'", registration->title);
	if (!nearest.count)
		elog_hint("elog list shows which events are persistent");
	nearest_free(&nearest);
	free(name);
}

static void explain_delete(const struct registration *registration, int fd, int error)
{
	const char *title = registration->title;

	switch (error) {
	case -ENOENT:
		explain_absence(registration, fd);
		break;
	case -EBUSY:
		elog_error("'%s' is in use: a program has registered it, or a tracer is attached",
			   title);
		break;
	case -EINVAL:
		elog_error("'%s': invalid name of an event or provider", title);
		break;
	case -EPERM:
		explain_device_error(error, PURPOSE_ADMINISTER);
		break;
	default:
		elog_error("'%s': %s", title, strerror(-error));
		break;
	}
}

static int delete_one(const struct options *options, int fd, const char *title)
{
	struct registration registration = { 0 };
	char *provider;
	int ret;

	ret = name_event(options, title, &provider, &registration);
	if (!ret) {
		ret = elog_device_delete(fd, registration.provider,
					 registration.name);
		if (ret)
			explain_delete(&registration, fd, ret);
	}
	free(provider);
	return ret;
}

static int run_delete(const struct options *options)
{
	int fd, i, status = STATUS_OK;

	if (options->instance && (options->argument_count || options->provider)) {
		elog_error("%s does not go with --instance", options->argument_count ?
			   "an event" : "--provider");
		return STATUS_ERROR;
	}
	if (options->instance)
		return instance_delete(options);
	if (!options->argument_count) {
		elog_error("[PROVIDER/]EVENT is missing");
		return STATUS_ERROR;
	}
	fd = elog_device_open(NULL);
	if (fd < 0) {
		explain_device_error(fd, PURPOSE_ADMINISTER);
		return STATUS_ERROR;
	}
	for (i = 0; i < options->argument_count; i++)
		if (delete_one(options, fd, options->arguments[i]))
			status = STATUS_ERROR;
	elog_port_close(fd);
	return status;
}

static const struct verb_option delete_options[] = {
	{ OPTION_PROVIDER, "the events' provider; default user" },
	{ OPTION_INSTANCE, "delete this instance instead" },
	{ 'D', NULL },
	{ 0, NULL },
};

const struct verb verb_delete = {
	.name = "delete",
	.summary = "delete persistent events, or an instance",
	.usage = "[OPTION...] [PROVIDER/]EVENT...",
	.description =
	"Deletes persistent events, all definitions of each name. Events that a program has\n"
	"registered, or that a tracer is attached to, are not deleted.\n"
	"\n"
	"With --instance, deletes an instance, also while programs use it. Captures get what\n"
	"was emitted before, and end. It needs CAP_SYS_ADMIN.\n"
	"\n"
	"Exit status: 0 success; 1 an error, or an event was not deleted.\n",
	.options = delete_options,
	.run = run_delete,
};
