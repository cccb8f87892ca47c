// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which options of elog capture go together: see capture_check.h.
 */
#include <errno.h>

#include "cmd/capture_check.h"

bool capture_to_files(const struct options *options)
{
	return options->output || options->record.split;
}

/* Return: an option that makes no sense when writing a file, or NULL. */
static const char *not_for_file(const struct options *options)
{
	if (options->print.time > TIME_MONO)
		return "--time";
	if (options->print.format != FORMAT_TEXT)
		return "--format";
	if (options->print.fields)
		return "--fields";
	return NULL;
}

/* Return: an option that makes sense only when writing a file, or NULL. */
static const char *only_for_file(const struct options *options)
{
	if (options->record.append)
		return "--append";
	if (options->record.compress)
		return "--compress";
	if (options->record.rotate_size)
		return "--rotate";
	if (options->record.writers)
		return "--writers";
	return NULL;
}

/* Return: an option that makes no sense with --otlp, or NULL. */
static const char *not_for_receiver(const struct options *options)
{
	if (capture_to_files(options))
		return options->output ? "-o" : "--split";
	if (options->record.overwrite)
		return "--overwrite";
	if (options->color != COLOR_AUTO)
		return "--color";
	return not_for_file(options);
}

/* Return: an option that makes sense only with --otlp, or NULL. */
static const char *only_for_receiver(const struct options *options)
{
	return options->spans.rules.count ? "--span" : options->by ? "--by" :
	       options->spans.pending ? "--pending" : NULL;
}

static int check_command(const struct options *options)
{
	if (options->argument_count && !options->separated) {
		elog_error("'%s' is not an option; a command must follow --",
			   options->arguments[0]);
		elog_hint("events of %s: elog capture -e %s", options->arguments[0],
			  options->arguments[0]);
		elog_hint("while %s runs: elog capture -- %s%s", options->arguments[0],
			  options->arguments[0], options->argument_count > 1 ? " ..." : "");
		return -EINVAL;
	}
	if (options->separated && !options->argument_count) {
		elog_error("no command follows --");
		return -EINVAL;
	}
	return 0;
}

int capture_check(const struct options *options)
{
	const struct record_settings *record = &options->record;

	if (options->otlp && not_for_receiver(options)) {
		elog_error("%s does not go with --otlp", not_for_receiver(options));
		return -EINVAL;
	}
	if (!options->otlp && only_for_receiver(options)) {
		elog_error("%s needs --otlp", only_for_receiver(options));
		return -EINVAL;
	}
	if (capture_to_files(options) && not_for_file(options)) {
		elog_error("%s does not go with %s", not_for_file(options),
			   options->output ? "-o" : "--split");
		elog_hint("the file contains everything; use this option with elog show");
		return -EINVAL;
	}
	if (!capture_to_files(options) && only_for_file(options)) {
		elog_error("%s needs a file: add -o FILE", only_for_file(options));
		return -EINVAL;
	}
	if (record->split && (options->output || record->rotate_size || record->overwrite)) {
		elog_error("%s does not go with --split", options->output ? "-o" :
			   record->rotate_size ? "--rotate" : "--overwrite");
		return -EINVAL;
	}
	if (record->writers && (record->split || record->overwrite || record->append)) {
		elog_error("%s does not go with --writers", record->split ? "--split" :
			   record->overwrite ? "--overwrite" : "--append");
		return -EINVAL;
	}
	if (record->rotate_size && options->live.owns_stdout) {
		elog_error("--rotate needs a file with a name");
		return -EINVAL;
	}
	if (options->background &&
	    (!capture_to_files(options) || options->separated || options->live.owns_stdout)) {
		elog_error("--background needs -o FILE or --split DIR, and no COMMAND");
		return -EINVAL;
	}
	if (check_command(options))
		return -EINVAL;
	if (options->live.instances && record->writers) {
		elog_error("--writers does not go with --instances");
		return -EINVAL;
	}
	if (options->live.triggers.count && !record->overwrite) {
		elog_error("--trigger needs a flight recorder: add --overwrite");
		return -EINVAL;
	}
	return 0;
}
