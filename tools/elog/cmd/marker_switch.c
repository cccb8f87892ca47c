// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog marker enable, disable, set, save and restore: see marker_switch.h.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/marker_switch.h"
#include "cmd/verb.h"
#include "marker/marker.h"
#include "marker/marker_change.h"
#include "marker/marker_filter.h"
#include "marker/marker_policy.h"
#include "util/array.h"
#include "util/nearest.h"

/* By enum marker_action. */
static const char *const action_names[] = { "list", "enable", "disable", "set", "policies",
					    "save", "restore" };

int marker_action_find(const char *name)
{
	return choice_abbreviated(action_names, ARRAY_SIZE(action_names), name, "action");
}

void marker_error(int error)
{
	if (error == -ENOTTY || error == -E2BIG)
		elog_error("the kernel module is too old for this elog");
	else if (error == -ENOMEM)
		elog_error("out of memory");
	else
		explain_device_error(error, PURPOSE_MARKERS);
}

struct marker_choice marker_options_choice(const struct options *options)
{
	return (struct marker_choice){
		.module = options->module,
		.patterns = options->arguments + 1,
		.pattern_count = options->argument_count - 1,
	};
}

/* ------------------------------------------------------------------------
 * enable, disable, set
 */

struct changes {
	size_t count;
	struct marker_change *list;
};

static void free_changes(struct changes *changes)
{
	size_t i;

	for (i = 0; i < changes->count; i++) {
		free(changes->list[i].owner);
		free(changes->list[i].pattern);
		elog_filter_free(changes->list[i].predicate);
	}
	free(changes->list);
}

static bool take_handlers(const struct options *options, struct marker_change *change)
{
	const uint32_t all = change->of_program ? POLICY_HANDLERS : MARKER_HANDLERS;

	change->handlers = change->operation == EVENTLOG_MARKER_OP_REMOVE ? all :
			   change->of_program ? EVENTLOG_MARKER_PRINT : EVENTLOG_MARKER_TRACE;
	if (options->handlers && !markers_handlers_parse(options->handlers, &change->handlers)) {
		markers_handlers_error(options->handlers);
		return false;
	}
	if (!change->of_program || (change->handlers && !(change->handlers & ~all)))
		return true;
	elog_error("'%s': only print and probe can be switched for programs; their markers "
		   "are traced whenever there is a subscriber", options->handlers);
	return false;
}

/* Compile --if; without it there is no predicate. */
static bool take_predicate(const struct options *options, struct marker_change *change)
{
	struct elog_expression_error error;
	int ret;

	ret = marker_filter_compile(options->predicate, &change->predicate, &error);
	if (ret == -EINVAL) {
		elog_error("--if '%s': column %u: %s", options->predicate, error.column,
			   error.message);
		elog_hint("man 7 elog_filter, man 1 elog-marker");
	} else if (ret) {
		elog_error("out of memory");
	}
	return !ret;
}

/* Cut "@NUMBER" off the end of a pattern. No tag or place ends like this. */
static void take_number(struct marker_change *change)
{
	char *at = strrchr(change->pattern, '@'), *end;
	unsigned long number;

	if (change->of_program || !at || at[1] < '1' || at[1] > '9')
		return;
	number = strtoul(at + 1, &end, 10);
	if (*end || number > UINT32_MAX)
		return;
	change->number = (uint32_t)number;
	*at = '\0';
}

/* Append what the command line does with a pattern. */
static bool take_change(const struct options *options, uint32_t operation, const char *pattern,
			struct changes *changes)
{
	const char *owner = options->program ? options->program : options->module;
	struct marker_change *change;

	change = array_grow(changes->list, changes->count, sizeof(*change));
	if (!change)
		goto no_memory;
	changes->list = change;
	change += changes->count++;
	*change = (struct marker_change){
		.of_program = options->program,
		.pattern = strdup(pattern),
		.operation = operation,
	};
	if (!change->pattern)
		goto no_memory;
	take_number(change);
	if (!take_handlers(options, change) || !take_predicate(options, change))
		return false;
	if (change->predicate && !change->handlers) {
		elog_error("--if needs a handler");
		return false;
	}
	if (owner)
		change->owner = change->of_program ? policy_program_glob(owner) : strdup(owner);
	if (owner && !change->owner)
		goto no_memory;
	if (!change->of_program || policy_is_possible(change->owner, pattern))
		return true;
	elog_error("'%s' '%s': no program can have an event of this name", owner, pattern);
	return false;

no_memory:
	elog_error("out of memory");
	return false;
}

bool marker_patterns_check(const struct options *options)
{
	const char *error;
	int i;

	for (i = 1; i < options->argument_count; i++) {
		error = glob_error(options->arguments[i]);
		if (!error || marker_is_file(options->arguments[i]))
			continue;
		elog_error("invalid PATTERN '%s': %s", options->arguments[i], error);
		return false;
	}
	return true;
}

/* Append what a command line does. */
static bool take_changes(const struct options *options, enum marker_action action,
			 struct changes *changes)
{
	static const uint32_t operations[] = {
		[MARKER_ENABLE] = EVENTLOG_MARKER_OP_ADD,
		[MARKER_DISABLE] = EVENTLOG_MARKER_OP_REMOVE,
		[MARKER_SET] = EVENTLOG_MARKER_OP_REPLACE,
	};
	bool valid = false;
	int i;

	if (options->argument_count < 2)
		elog_error("a pattern is missing: '*' matches all markers");
	else if (options->program && options->module)
		elog_error("--program and --module do not go together");
	else if (action == MARKER_SET && (!options->handlers || options->program))
		elog_error("set needs --handler, and does not go together with --program");
	else if (action == MARKER_DISABLE && options->predicate)
		elog_error("--if needs enable or set");
	else
		valid = marker_patterns_check(options);
	for (i = 1; valid && i < options->argument_count; i++)
		valid = take_change(options, operations[action], options->arguments[i], changes);
	return valid;
}

static void explain_change(const struct options *options, int fd,
			   const struct marker_change *change, int error)
{
	char *const patterns[] = { change->pattern };
	const struct marker_choice choice = {
		.module = options->module, .patterns = patterns, .pattern_count = 1,
	};
	struct marker_list list = { 0 };

	/* Without the list, the message has no near names. */
	if (error == -ENOENT && markers_read(fd, &list))
		markers_free(&list);
	if (error == -ENOSPC && change->of_program)
		elog_error("%s: the limit of %u policies is reached: elog marker policies",
			   change->pattern, EVENTLOG_POLICIES_MAX);
	else if (error != -ENOENT)
		elog_error("%s: %s", change->pattern, strerror(-error));
	else if (!list.count && !choice.module)
		elog_error("no marker '%s'", change->pattern);
	else if (!marker_choice_explain(&choice, &list, false))
		elog_error("there are not %u markers '%s'", change->number, change->pattern);
	markers_free(&list);
}

static int report_denied(const struct marker_counts *counts)
{
	if (!counts->denied)
		return STATUS_OK;
	elog_error("%zu marker%s not allow it", counts->denied,
		   counts->denied == 1 ? " does" : "s do");
	return STATUS_ERROR;
}

static int report_changes(const struct options *options, int fd, const struct marker_counts *counts)
{
	const struct marker_choice choice = marker_options_choice(options);
	int status;

	/* A glob may match some incompatible markers on purpose. */
	if (!options->program && counts->incompatible &&
	    counts->incompatible + counts->denied == counts->matched) {
		marker_filter_explain(options->predicate, fd, &choice);
		elog_error("the predicate is incompatible with the fields of all these markers");
		return report_denied(counts) | STATUS_ERROR;
	}
	if (counts->incompatible && !options->quiet)
		fprintf(stderr, "elog: the predicate is incompatible with the fields of %zu "
			"marker%s unchanged\n", counts->incompatible,
			counts->incompatible == 1 ? ": it is" : "s: they are");
	status = report_denied(counts);
	if (!options->quiet && (counts->matched || options->program))
		fprintf(stderr, "elog: %zu marker%s, %zu changed\n", counts->matched,
			plural(counts->matched), counts->changed);
	return status;
}

int marker_switch(const struct options *options, enum marker_action action, int fd)
{
	struct marker_counts counts = { 0 };
	struct changes changes = { 0 };
	int ret, status = STATUS_ERROR;
	size_t i;

	if (take_changes(options, action, &changes)) {
		status = STATUS_OK;
		for (i = 0; i < changes.count; i++) {
			ret = marker_change_apply(fd, &changes.list[i], &counts);
			if (!ret)
				continue;
			explain_change(options, fd, &changes.list[i], ret);
			status = STATUS_ERROR;
		}
		status |= report_changes(options, fd, &counts);
	}
	free_changes(&changes);
	return status;
}

/* ------------------------------------------------------------------------
 * save, restore
 */

static bool one_argument(const struct options *options)
{
	if (options->argument_count == 2)
		return true;
	elog_error("exactly one FILE is needed");
	return false;
}

/* Other programs may set predicates that elog cannot parse. */
static bool may_be_restored(const char *predicate, const char *place)
{
	struct elog_expression_error error;
	struct elog_filter *filter;

	if (!marker_filter_compile(predicate, &filter, &error)) {
		elog_filter_free(filter);
		return true;
	}
	elog_error("%s: the predicate '%s' could not be restored", place, predicate);
	return false;
}

static bool all_may_be_restored(const struct marker_list *list, const struct policy_list *policies)
{
	bool all = true;
	size_t i;

	for (i = 0; i < list->count; i++)
		all &= may_be_restored(list->markers[i].predicate, list->markers[i].place);
	for (i = 0; i < policies->count; i++)
		all &= may_be_restored(policies->policies[i].predicate,
				       policies->policies[i].marker);
	return all;
}

static void print_saved(size_t markers, size_t policies)
{
	fprintf(stderr, "elog: %zu marker%s", markers, plural(markers));
	if (policies)
		fprintf(stderr, ", %zu polic%s for programs", policies,
			policies == 1 ? "y" : "ies");
	fputs(" saved\n", stderr);
}

int marker_save(const struct options *options, int fd)
{
	struct policy_list policies = { 0 };
	struct marker_list list = { 0 };
	int ret, status = STATUS_ERROR;

	if (!one_argument(options))
		return STATUS_ERROR;
	ret = markers_read(fd, &list);
	if (!ret)
		ret = policies_read(fd, &policies);
	if (ret) {
		marker_error(ret);
		goto out;
	}
	if (!all_may_be_restored(&list, &policies))
		goto out;
	ret = marker_set_save(&list, &policies, options->arguments[1]);
	if (ret) {
		elog_error("%s: %s", options->arguments[1], strerror(-ret));
		goto out;
	}
	if (!options->quiet)
		print_saved(list.count, policies.count);
	status = STATUS_OK;
out:
	policies_free(&policies);
	markers_free(&list);
	return status;
}

/* Append what a command of a set does. */
static bool take_command(struct marker_command *command, struct changes *changes)
{
	struct options options = { 0 };
	bool valid = false;
	int found;

	/* Start again: the options of the command line were parsed. */
	optind = 0;
	if (parse_options(&verb_marker, (int)command->words.we_wordc - 1,
			  command->words.we_wordv + 1, &options) < 0 &&
	    options.argument_count && !options.device) {
		found = marker_action_find(options.arguments[0]);
		valid = found >= MARKER_ENABLE && found <= MARKER_SET &&
			take_changes(&options, (enum marker_action)found, changes);
	}
	free_options(&options);
	return valid;
}

static bool take_set(const char *name, struct marker_set *set, struct changes *changes)
{
	unsigned int line;
	size_t i;
	int ret;

	ret = marker_set_read(set, name, &line);
	for (i = 0; i < set->count && !ret; i++) {
		if (take_command(&set->commands[i], changes))
			continue;
		line = set->commands[i].line;
		ret = -EINVAL;
	}
	if (ret == -EINVAL)
		elog_error("%s: line %u: not a set of markers, or truncated", name, line);
	else if (ret)
		elog_error("%s: %s", name, strerror(-ret));
	return !ret;
}

static int report_restored(const struct options *options, const struct marker_counts *counts,
			   size_t count, size_t missing)
{
	if (!options->quiet && missing)
		fprintf(stderr, "elog: %zu marker%s, %zu %s not exist\n", count, plural(count),
			missing, missing == 1 ? "does" : "do");
	if (counts->incompatible == 1)
		elog_error("the predicate of 1 marker is incompatible with its fields: "
			   "it is unchanged");
	else if (counts->incompatible)
		elog_error("the predicates of %zu markers are incompatible with their fields: "
			   "they are unchanged", counts->incompatible);
	return report_denied(counts) | (counts->incompatible ? STATUS_ERROR : STATUS_OK);
}

int marker_restore(const struct options *options, int fd)
{
	struct marker_counts counts = { 0 }, of_programs = { 0 };
	struct marker_set set = { 0 };
	struct changes changes = { 0 };
	size_t i, count = 0, missing = 0;
	int ret, status = STATUS_ERROR;

	if (!one_argument(options) || !take_set(options->arguments[1], &set, &changes))
		goto out;
	for (i = 0; i < changes.count; i++) {
		const struct marker_change *change = &changes.list[i];

		ret = marker_change_apply(fd, change, change->of_program ? &of_programs : &counts);
		count += !change->of_program;
		missing += ret == -ENOENT;
		if (ret && ret != -ENOENT) {
			explain_change(options, fd, change, ret);
			goto out;
		}
	}
	status = report_restored(options, &counts, count, missing);
out:
	free_changes(&changes);
	marker_set_free(&set);
	return status;
}
