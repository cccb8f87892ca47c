// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog list: every definition the kernel knows, one line each.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "select.h"

static void print_state(uint32_t state)
{
	char text[32];

	snprintf(text, sizeof(text), "%s%s",
		 state & EVENTLOG_DESCRIBED_PERSIST ? "persistent" :
		 state & EVENTLOG_DESCRIBED_LIVE ? "live" : "gone",
		 state & EVENTLOG_DESCRIBED_ENABLED ? ",enabled" : "");
	printf("%-18s ", text);
}

/* By name where they have one. */
static void print_keywords(const struct elog_schema_event *event)
{
	const struct elog_schema_provider *provider = event->provider;
	uint64_t left = event->keywords;
	const char *comma = "";
	int width = 0;
	size_t i;

	for (i = 0; i < provider->keyword_count; i++) {
		const struct elog_schema_name *keyword = provider->keywords[i];

		if ((left & keyword->value) != keyword->value)
			continue;
		left &= ~keyword->value;
		width += printf("%s%s", comma, keyword->name);
		comma = ",";
	}
	if (left)
		width += printf("%s0x%" PRIx64, comma, left);
	if (!event->keywords)
		width += printf("-");
	printf("%*s ", width < 8 ? 8 - width : 0, "");
}

static void print_event(const struct elog_schema_event *event,
			const struct eventlog_describe *describe)
{
	size_t i;

	printf("%5u ", describe->descriptor);
	print_state(describe->state);
	printf("%-7s ", elog_level_name(event->level));
	print_keywords(event);
	printf("%s/%s", event->provider->name, event->name);
	for (i = 0; i < event->field_count; i++)
		printf("%s%s %s", i ? "; " : "  ", event->fields[i]->type_name,
		       event->fields[i]->name);
	putchar('\n');
}

/* Return: 1 printed, 0 not asked for, -errno. */
static int list_one(const struct options *options,
		    const struct eventlog_describe *describe, const char *text)
{
	struct elog_schema_error error;
	const struct elog_schema_event *event;
	struct elog_schema *schema;
	bool wanted;
	int ret;

	ret = elog_schema_parse(text, strlen(text), &schema, &error);
	if (ret) {
		complain("the schema of event %u, line %u: %s",
			 describe->descriptor, error.line,
			 ret == -ENOMEM ? "out of memory" : error.message);
		return ret;
	}
	ret = 0;
	if (schema->provider_count && schema->providers[0]->event_count) {
		event = schema->providers[0]->events[0];
		wanted = !options->argument_count ||
			 glob_matches(options->arguments[0], event);
		if (wanted) {
			print_event(event, describe);
			if (options->verbose)
				printf("%s%s", text, *text ? "\n" : "");
			ret = 1;
		}
	}
	elog_schema_free(schema);
	return ret;
}

static int run_list(const struct options *options)
{
	struct eventlog_describe describe = { 0 };
	int fd, ret, status = STATUS_OK;
	bool any = false;
	char *text;

	if (options->argument_count > 1) {
		complain("one GLOB is enough; '%s' is too much",
			 options->arguments[1]);
		return STATUS_ERROR;
	}
	fd = elog_device_open(NULL);
	if (fd < 0) {
		explain_trouble(fd, PURPOSE_ASK);
		return STATUS_ERROR;
	}
	if (!options->quiet)
		printf("%5s %-18s %-7s %-8s %s\n", "ID", "STATE", "LEVEL",
		       "KEYWORDS", "PROVIDER/EVENT  FIELDS");
	for (;;) {
		describe.flags = EVENTLOG_DESCRIBE_NEXT;
		ret = elog_device_describe(fd, &describe, &text);
		if (ret)
			break;
		ret = list_one(options, &describe, text);
		free(text);
		any |= ret > 0;
		if (ret < 0)
			status = STATUS_ERROR;
	}
	if (ret != -ENOENT) {
		explain_trouble(ret, PURPOSE_ASK);
		status = STATUS_ERROR;
	} else if (!any && options->argument_count) {
		complain("no event matches '%s'", options->arguments[0]);
		status = STATUS_ERROR;
	}
	close(fd);
	return status;
}

static const struct verb_option list_options[] = {
	{ 'q', "no header" }, { 'v', "print each event's schema as well" },
	{ 0, NULL },
};

const struct verb verb_list = {
	.name = "list",
	.summary = "list the events there are",
	.usage = "[OPTION...] [PROVIDER[/EVENT]]",
	.description =
	"Lists all events, or those that the globs match, one a line:\n"
	"  ID STATE LEVEL KEYWORDS PROVIDER/EVENT  TYPE FIELD; TYPE FIELD...\n"
	"STATE is live (some process has the event registered), persistent (it stays\n"
	"without), or gone (a subscriber may still have records of it), and enabled if\n"
	"somebody wants the event.\n"
	"\n"
	"Exit status: 0 all is well, 1 an error, or nothing matches.\n",
	.options = list_options,
	.run = run_list,
};
