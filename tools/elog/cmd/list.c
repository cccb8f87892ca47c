// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog list: print all definitions of events, one per line or as a tree; or instances.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/instance.h"
#include "cmd/verb.h"
#include "input/keywords.h"
#include "input/names.h"
#include "input/select.h"
#include "libelog/util/port.h"
#include "output/list.h"
#include "output/output.h"
#include "util/array.h"

/* End a column of a line that starts at @from. */
static void end_column(struct elog_text *text, size_t from, size_t width)
{
	fill_column(text, from, width);
	elog_text_put(text, " ", 1);
}

static void put_event(struct elog_text *text, const struct elog_schema_event *event,
		      const struct eventlog_definition *describe)
{
	size_t from, i;

	/* There may be very many events: printf() would take longer than reading them. */
	elog_text_unsigned(text, describe->descriptor, 5, ' ');
	elog_text_put(text, " ", 1);
	from = text->size;
	list_state(text, describe);
	end_column(text, from, 18);
	from = text->size;
	elog_text_string(text, elog_level_name(event->level));
	end_column(text, from, 7);
	from = text->size;
	put_keywords(text, event);
	if (text->size == from)
		elog_text_put(text, "-", 1);
	end_column(text, from, 8);
	put_quotable(text, event->provider->name);
	elog_text_put(text, "/", 1);
	put_quotable(text, event->name);
	for (i = 0; i < event->field_count; i++) {
		elog_text_string(text, i ? "; " : "  ");
		elog_text_string(text, event->fields[i]->type_name);
		elog_text_put(text, " ", 1);
		elog_text_string(text, event->fields[i]->name);
	}
	elog_text_put(text, "\n", 1);
}

struct listing {
	const struct options *options;
	struct output output;
	struct definition *definitions;	/* of the tree */
	size_t count;
	bool any;
	struct nearest nearest;		/* names like that of the argument */
};

static int keep(struct listing *listing, const struct eventlog_definition *describe,
		struct elog_schema *schema)
{
	struct definition *larger;

	larger = array_grow(listing->definitions, listing->count, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	listing->definitions = larger;
	larger[listing->count++] = (struct definition){
		.describe = *describe,
		.schema = schema,
		.event = schema->providers[0]->events[0],
	};
	return 0;
}

/* Return: 0, or -errno; the reason was printed. */
static int list_one(struct listing *listing,
		    const struct eventlog_definition *describe, const char *text)
{
	const struct options *options = listing->options;
	struct definition definition = { .describe = *describe };
	struct elog_text *output = &listing->output.text;
	struct elog_schema_error error;
	struct elog_schema *schema;
	int ret;

	ret = elog_schema_parse(text, strlen(text), &schema, &error);
	if (ret) {
		elog_error("the schema of event %u, line %u: %s",
			   describe->descriptor, error.line,
			   ret == -ENOMEM ? "out of memory" : error.message);
		return ret;
	}
	if (!schema->provider_count || !schema->providers[0]->event_count)
		goto out;
	definition.event = schema->providers[0]->events[0];
	if (options->argument_count &&
	    !glob_matches(options->arguments[0], definition.event)) {
		nearest_offer_event(&listing->nearest, definition.event);
		goto out;
	}
	listing->any = true;
	if (options->print.format == FORMAT_JSON) {
		list_json(&definition, options->verbose ? text : NULL, output);
		output_check(&listing->output);
	} else if (options->tree) {
		ret = keep(listing, describe, schema);
		if (!ret)
			return 0;
		elog_error("out of memory");
	} else {
		put_event(output, definition.event, describe);
		if (options->verbose) {
			elog_text_string(output, text);
			elog_text_string(output, *text ? "\n" : "");
		}
		output_check(&listing->output);
	}
out:
	elog_schema_free(schema);
	return ret;
}

static int list_all(struct listing *listing, int fd)
{
	const struct options *options = listing->options;
	struct eventlog_definition describe = { .size = sizeof(describe) };
	struct elog_list *definitions = NULL;
	int ret, status = STATUS_OK;
	const char *text;

	if (!options->quiet && !options->tree && options->print.format == FORMAT_TEXT)
		elog_text_printf(&listing->output.text, "%5s %-18s %-7s %-8s %s\n", "ID", "STATE",
				 "LEVEL", "KEYWORDS", "PROVIDER/EVENT  FIELDS");
	ret = elog_list_open(fd, EVENTLOG_LIST_DEFINITIONS, 0, &definitions);
	while (!ret) {
		ret = elog_list_next(definitions, &describe, &text);
		if (!ret && list_one(listing, &describe, text))
			status = STATUS_ERROR;
	}
	elog_list_close(definitions);
	if (ret != -ENOENT) {
		explain_device_error(ret, PURPOSE_QUERY);
		status = STATUS_ERROR;
	} else if (!listing->any && options->argument_count) {
		nearest_error(&listing->nearest, "no %s '%s'",
			      *find_slash(options->arguments[0]) ? "event" : "provider",
			      options->arguments[0]);
		status = STATUS_ERROR;
	}
	return status;
}

static int run_list(const struct options *options)
{
	struct listing listing = { .options = options };
	int fd, ret, status;
	size_t i;

	if (options->instances && (options->argument_count || options->tree)) {
		elog_error("%s does not go with --instances", options->tree ? "--tree" : "a GLOB");
		return STATUS_ERROR;
	}
	if (options->instances)
		return instance_list(options);
	if (options->argument_count > 1) {
		elog_error("unexpected argument '%s': only one GLOB is allowed",
			   options->arguments[1]);
		return STATUS_ERROR;
	}
	if (options->argument_count && event_glob_error(options->arguments[0])) {
		elog_error("invalid PROVIDER[/EVENT] '%s': %s", options->arguments[0],
			   event_glob_error(options->arguments[0]));
		return STATUS_ERROR;
	}
	if (options->tree && options->print.format != FORMAT_TEXT) {
		elog_error("--tree does not go with --format");
		return STATUS_ERROR;
	}
	fd = elog_device_open(NULL);
	if (fd < 0) {
		explain_device_error(fd, PURPOSE_QUERY);
		return STATUS_ERROR;
	}
	listing.nearest.sought = options->arguments[0];
	output_open(&listing.output, options->color, options->separated);
	status = list_all(&listing, fd);
	if (!options->quiet || !listing.any)
		explain_restriction(fd);
	elog_port_close(fd);
	if (listing.count) {
		if (!options->no_pager)
			output_page(&listing.output);
		list_tree(listing.definitions, listing.count, options->verbose,
			  &listing.output);
	}
	ret = output_close(&listing.output);
	if (ret) {
		elog_error("cannot write to stdout: %s", strerror(-ret));
		status = STATUS_ERROR;
	}
	for (i = 0; i < listing.count; i++)
		elog_schema_free(listing.definitions[i].schema);
	free(listing.definitions);
	nearest_free(&listing.nearest);
	return status;
}

static const struct verb_option list_options[] = {
	{ OPTION_TREE, NULL },
	{ OPTION_INSTANCES, NULL },
	{ OPTION_FORMAT, "text (default), or json: one object per line, with all\n"
	  "properties of the event" },
	{ OPTION_NO_PAGER, "with --tree: do not start ELOG_PAGER, PAGER or less" },
	{ 'D', NULL },
	{ 'q', "no header, no message about events that are not shown" },
	{ 'v', "also print the schema of each event; with --tree: sizes\n"
	  "and offsets of fields" },
	{ 0, NULL },
};

const struct verb verb_list = {
	.name = "list",
	.summary = "list events, or instances",
	.usage = "[OPTION...] [PROVIDER[/EVENT]]",
	.description =
	"Lists all events, or those that match, one per line:\n"
	"  ID STATE LEVEL KEYWORDS PROVIDER/EVENT  TYPE FIELD; TYPE FIELD...\n"
	"STATE is kernel (a kernel provider has registered the event), live (a process has\n"
	"registered it), persistent (it stays without a process), or gone (subscribers may\n"
	"still have records of it). \"enabled\" follows if the event has a subscriber or a\n"
	"tracer; then \"sync:\" and the reason why programs need a system call for it:\n"
	"tracer, module (a subscriber in the kernel), rings (an old subscriber) or filter (one\n"
	"that compares cpu or comm), and one of these subscribers.\n"
	"With --instances, lists the instances, one per line, with the numbers of their events,\n"
	"subscribers and open files.\n"
	"Without CAP_PERFMON, only events of this user and of the kernel are listed.\n"
	"\n"
	"Exit status: 0 success, 1 an error, or no event matches.\n",
	.options = list_options,
	.formats = 1U << FORMAT_TEXT | 1U << FORMAT_JSON,
	.run = run_list,
};
