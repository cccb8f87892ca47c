// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog stop: end background captures.
 */
#include <string.h>

#include "cmd/verb.h"
#include "util/background.h"
#include "util/output_file.h"

struct stop {
	const struct options *options;
	bool *found;		/* by argument */
	unsigned int count;
	int status;		/* the worst of all captures */
};

static int stop_one(const struct background_info *info, void *context)
{
	struct stop *stop = context;
	const struct options *options = stop->options;
	bool selected = !options->argument_count;
	int i, status;

	for (i = 0; i < options->argument_count; i++) {
		if (!background_same(info, options->arguments[i]))
			continue;
		stop->found[i] = true;
		selected = true;
	}
	if (!selected)
		return 0;
	stop->count++;
	status = background_stop(info, options->quiet);
	/* 1, an error, is worse than 2, events were lost. */
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
		/* One in the foreground, or one whose file of state was removed. */
		if (!output_explain_writer(options->arguments[i]))
			elog_error("%s: no background capture writes to it", options->arguments[i]);
		stop.status = STATUS_ERROR;
	}
	if (!stop.count && !options->argument_count) {
		elog_error("there is no background capture");
		return STATUS_ERROR;
	}
	return stop.status;
}

static const struct verb_option stop_options[] = {
	{ 'q', "do not print their messages" },
	{ 0, NULL },
};

const struct verb verb_stop = {
	.name = "stop",
	.summary = "end background captures",
	.usage = "[OPTION...] [FILE|DIR...]",
	.description =
	"Ends captures that elog capture --background started: those that write to FILE or\n"
	"DIR, or all captures of this user. Waits until they have ended, and prints their\n"
	"messages. Captures that ended by themselves are included once. One that does\n"
	"nothing for 15 seconds, for example as no one reads its output, is left as it is;\n"
	"a second stop ends it and discards what was not read.\n"
	"\n"
	"Exit status: the worst exit status of these captures; 1 if there is none.\n",
	.options = stop_options,
	.run = run_stop,
};
