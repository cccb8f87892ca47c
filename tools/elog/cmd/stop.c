// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog stop: end captures in the background.
 */
#include <string.h>

#include "cmd/verb.h"
#include "util/background.h"

struct stop {
	const struct options *options;
	bool *found;		/* for each argument */
	unsigned int count;
	int status;		/* the worst */
};

static int stop_one(const struct background_info *info, void *context)
{
	struct stop *stop = context;
	const struct options *options = stop->options;
	bool wanted = !options->argument_count;
	int i, status;

	for (i = 0; i < options->argument_count; i++) {
		if (!background_same(info, options->arguments[i]))
			continue;
		stop->found[i] = true;
		wanted = true;
	}
	if (!wanted)
		return 0;
	stop->count++;
	status = background_stop(info, options->quiet);
	/* 2, events were lost, is less than 1, an error. */
	if (status && stop->status != STATUS_ERROR)
		stop->status = status;
	return 0;
}

static int run_stop(const struct options *options)
{
	struct stop stop = { .options = options };
	bool found[options->argument_count + 1];
	int ret, i;

	memset(found, 0, sizeof(found));
	stop.found = found;
	ret = background_each(stop_one, &stop);
	if (ret < 0)
		return STATUS_ERROR;
	for (i = 0; i < options->argument_count; i++) {
		if (found[i])
			continue;
		elog_error("%s: no capture in the background writes to it",
			   options->arguments[i]);
		stop.status = STATUS_ERROR;
	}
	if (!stop.count && !options->argument_count) {
		elog_error("there is no capture in the background");
		return STATUS_ERROR;
	}
	return stop.status;
}

static const struct verb_option stop_options[] = {
	{ 'q', "do not repeat what they said" },
	{ 0, NULL },
};

const struct verb verb_stop = {
	.name = "stop",
	.summary = "end captures in the background",
	.usage = "[OPTION...] [FILE|DIR...]",
	.description =
	"Ends what elog capture --background has begun: those that write to FILE or DIR,\n"
	"or all of this user's. Waits until they have ended, and prints what they said.\n"
	"Also tells, once, of those that have ended by themselves.\n"
	"\n"
	"Exit status: theirs, the worst of it; 1 if there is none.\n",
	.options = stop_options,
	.run = run_stop,
};
