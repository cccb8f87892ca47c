// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog delete: delete events that elog create made.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/register.h"
#include "cmd/verb.h"

static void explain_delete(const char *title, int error)
{
	switch (error) {
	case -ENOENT:
		elog_error("there is no event '%s' that lasts", title);
		elog_hint("elog list shows which are persistent");
		break;
	case -EBUSY:
		elog_error("'%s' is in use: by a program that registered it, or by a tracer",
			   title);
		break;
	case -EINVAL:
		elog_error("'%s' is not a name for an event, or a provider", title);
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
			explain_delete(title, ret);
	}
	free(provider);
	return ret;
}

static int run_delete(const struct options *options)
{
	int fd, i, status = STATUS_OK;

	if (!options->argument_count) {
		elog_error("which event? [PROVIDER/]EVENT is missing");
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
	close(fd);
	return status;
}

static const struct verb_option delete_options[] = {
	{ OPTION_PROVIDER, "the events' provider; default user_events" },
	{ 0, NULL },
};

const struct verb verb_delete = {
	.name = "delete",
	.summary = "delete events that elog create has made",
	.usage = "[OPTION...] [PROVIDER/]EVENT...",
	.description =
	"Deletes events that last, all definitions of each name. One that a program has\n"
	"registered, or a tracer is attached to, stays.\n"
	"\n"
	"Exit status: 0 all is well; 1 an error, or one was not deleted.\n",
	.options = delete_options,
	.run = run_delete,
};
