// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog marker: list markers and policies; marker_switch.c changes them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/marker_switch.h"
#include "cmd/verb.h"
#include "libelog/util/port.h"
#include "marker/marker.h"
#include "marker/marker_policy.h"
#include "util/engine.h"

/* ------------------------------------------------------------------------
 * list
 */

static int print_list(const struct options *options, const struct marker_list *list, bool of_files)
{
	char *program = options->program ? policy_program_glob(options->program) : NULL;
	struct marker_choice choice = marker_options_choice(options);
	int status;

	if (options->program && !program) {
		elog_error("out of memory");
		return STATUS_ERROR;
	}
	choice.program = program;
	status = markers_print(list, &choice, options->print.format, options->tree, !options->quiet);
	if (!status && marker_choice_explain(&choice, list, of_files))
		status = STATUS_ERROR;
	free(program);
	return status;
}

static int marker_list(const struct options *options, int fd)
{
	struct marker_list list = { 0 };
	int ret, status = STATUS_ERROR;

	ret = markers_read(fd, &list);
	/* Without the right to read those of modules, there are the user's own programs. */
	if (ret == -EPERM && !options->quiet)
		elog_error("markers of modules and of other users are not shown: "
			   "this needs the capability CAP_PERFMON (or CAP_SYS_ADMIN)");
	if (!ret || ret == -EPERM)
		ret = markers_read_programs(fd, &list);
	if (ret)
		marker_error(ret);
	else
		status = print_list(options, &list, false);
	markers_free(&list);
	return status;
}

static void explain_file(const char *name, int error)
{
	switch (error) {
	case -ENOEXEC:
		elog_error("%s: not an ELF file, or truncated", name);
		break;
	case -E2BIG:
		elog_error("%s: too many markers, or file too large", name);
		break;
	case -EOPNOTSUPP:
		elog_error("%s: elog was built without libelf, which reads files", name);
		break;
	default:
		elog_error("%s: %s", name, strerror(-error));
		break;
	}
}

/* List the markers of files. This needs no kernel module. */
static int list_files(const struct options *options)
{
	struct marker_list list = { 0 };
	int i, ret, status = STATUS_OK;

	for (i = 1; i < options->argument_count; i++) {
		if (!marker_is_file(options->arguments[i]))
			continue;
		ret = markers_read_file(options->arguments[i], &list);
		if (!ret)
			continue;
		explain_file(options->arguments[i], ret);
		status = STATUS_ERROR;
		/* The list is incomplete. */
		if (ret == -ENOMEM)
			goto out;
	}
	if (status == STATUS_OK || list.count)
		status |= print_list(options, &list, true);
out:
	markers_free(&list);
	return status;
}

static bool has_files(const struct options *options)
{
	int i;

	for (i = 1; i < options->argument_count; i++)
		if (marker_is_file(options->arguments[i]))
			return true;
	return false;
}

/* ------------------------------------------------------------------------
 * The verb
 */

static int marker_policies(const struct options *options, int fd)
{
	struct policy_list policies = { 0 };
	int ret, status = STATUS_ERROR;

	ret = policies_read(fd, &policies);
	if (ret)
		marker_error(ret);
	else
		status = policies_print(&policies, options->print.format == FORMAT_JSON,
					!options->quiet);
	policies_free(&policies);
	return status;
}

static int run_action(const struct options *options, enum marker_action action, int fd)
{
	switch (action) {
	case MARKER_LIST:
		return marker_list(options, fd);
	case MARKER_ENABLE:
	case MARKER_DISABLE:
	case MARKER_SET:
		return marker_switch(options, action, fd);
	case MARKER_POLICIES:
		return marker_policies(options, fd);
	case MARKER_SAVE:
		return marker_save(options, fd);
	default:
		return marker_restore(options, fd);
	}
}

static int run_marker(const struct options *options)
{
	int fd, found, status;

	if (!options->argument_count) {
		elog_error("missing: list, enable, disable, set, policies, save or restore");
		return STATUS_ERROR;
	}
	found = marker_action_find(options->arguments[0]);
	if (found < 0)
		return STATUS_ERROR;
	if (found == MARKER_LIST && !marker_patterns_check(options))
		return STATUS_ERROR;
	if (options->predicate && (found < MARKER_ENABLE || found > MARKER_SET)) {
		elog_error("--if needs enable or set");
		return STATUS_ERROR;
	}
	if (found == MARKER_LIST && has_files(options))
		return list_files(options);
	fd = elog_device_open(NULL);
	if (fd < 0) {
		explain_device_error(fd, PURPOSE_MARKERS);
		return STATUS_ERROR;
	}
	if (options->module && engine_lacks(fd, "markers of kernel modules"))
		status = STATUS_ERROR;
	else
		status = run_action(options, (enum marker_action)found, fd);
	elog_port_close(fd);
	return status;
}

static const struct verb_option marker_options[] = {
	{ OPTION_MODULE, NULL },
	{ OPTION_PROGRAM, NULL },
	{ OPTION_HANDLER, NULL },
	{ OPTION_IF, NULL },
	{ OPTION_TREE, "list: a tree of modules, programs or files, source files,\n"
	  "functions and markers" },
	{ OPTION_FORMAT, "list, policies: text (default), or json: one object per line" },
	{ 'D', NULL },
	{ 'q', "no header, no counts" },
	{ 0, NULL },
};

const struct verb verb_marker = {
	.name = "marker",
	.summary = "list and switch markers of kernel modules and programs",
	.usage = "list|enable|disable|set|policies|save|restore [OPTION...] [PATTERN...] [FILE...]",
	.description =
	"Markers are lines of code that can be switched on: eventlog_marker(9),\n"
	"elog_marker(3).\n"
	"\n"
	"  list [PATTERN...]     print markers of loaded modules and running programs: the\n"
	"                        handlers that are on, those that are active, module or\n"
	"                        program and tag, path:function:ordinal, fields\n"
	"  list FILE...          print markers of programs, libraries and modules in files\n"
	"  enable PATTERN...     switch handlers on\n"
	"  disable PATTERN...    switch handlers off\n"
	"  set PATTERN...        switch exactly the handlers of --handler on; of modules\n"
	"  policies              print the policies for programs\n"
	"  save FILE             write commands that restore the handlers that are on,\n"
	"                        predicates and policies\n"
	"  restore FILE          run these commands, for markers that exist\n"
	"\n"
	"PATTERN is a glob that is matched with tags and with path:function:ordinal. An\n"
	"argument with a slash but without a colon or wildcard is a FILE.\n"
	"\n"
	"With --if, handlers run only when the predicate is true for the fields. Programs\n"
	"evaluate it without a system call. Enabling handlers without --if removes the\n"
	"predicate, and so does disabling all handlers.\n"
	"\n"
	"Exit status: 0 success, 1 an error, or no marker matches.\n",
	.options = marker_options,
	.formats = 1U << FORMAT_TEXT | 1U << FORMAT_JSON,
	.run = run_marker,
};
