// SPDX-License-Identifier: GPL-2.0-only
/*
 * Printing definitions as JSON or as a tree: see list.h.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libelog/util/process.h"
#include "input/keywords.h"
#include "output/list.h"

#define DEPTH_MAX	5

/* Reasons for which an event must be written synchronously. */
static const struct {
	uint32_t sync;
	const char *name;
} reasons[] = {
	{ EVENTLOG_SYNC_TRACER, "tracer" },
	{ EVENTLOG_SYNC_CALLBACK, "module" },
	{ EVENTLOG_SYNC_RINGS, "rings" },
	{ EVENTLOG_SYNC_FILTER, "filter" },
};

/* Append "NAME[PID]" of a subscriber, without characters that would break the columns. */
static void put_subscriber(struct elog_text *text, uint32_t pid)
{
	char name[ELOG_COMM_SIZE] = "?";
	bool guessed;
	size_t i;

	if (pid && !elog_process_read_name(pid, pid, name, &guessed))
		strcpy(name, "?");
	for (i = 0; name[i]; i++)
		if (!isgraph((unsigned char)name[i]) || name[i] == ',')
			name[i] = '?';
	elog_text_string(text, name);
	if (pid)
		elog_text_printf(text, "[%u]", pid);
}

void list_state(struct elog_text *text, const struct eventlog_definition *describe)
{
	const uint32_t state = describe->state, sync = describe->sync;
	size_t i;

	elog_text_string(text, !(state & EVENTLOG_DESCRIBED_LIVE) ? "gone" :
			 state & EVENTLOG_DESCRIBED_KERNEL ? "kernel" :
			 state & EVENTLOG_DESCRIBED_PERSIST ? "persistent" : "live");
	if (state & EVENTLOG_DESCRIBED_ENABLED)
		elog_text_string(text, ",enabled");
	for (i = 0; i < ARRAY_SIZE(reasons); i++)
		if (sync & reasons[i].sync)
			elog_text_printf(text, ",sync:%s", reasons[i].name);
	if (sync & (EVENTLOG_SYNC_RINGS | EVENTLOG_SYNC_FILTER)) {
		elog_text_put(text, "=", 1);
		put_subscriber(text, describe->sync_pid);
	}
}

/* ------------------------------------------------------------------------
 * JSON
 */

/* Bits are hexadecimal, as in all JSON output. */
static void put_named(struct elog_text *text, const char *name,
		      const char *description)
{
	elog_text_put(text, ",", 1);
	json_member(text, "name", name);
	elog_text_put(text, ",", 1);
	json_member(text, "description", description);
	elog_text_put(text, "}", 1);
}

static void list_keywords(struct elog_text *text,
			  const struct elog_schema_event *event)
{
	const struct elog_schema_provider *provider = event->provider;
	const struct elog_schema_name *keyword;
	uint64_t left = event->keywords;
	const char *comma = "";
	size_t i;

	elog_text_printf(text, ",\"keyword_mask\":\"0x%" PRIx64 "\",\"keywords\":[",
			 event->keywords);
	for (i = 0; i < provider->keyword_count; i++) {
		keyword = provider->keywords[i];
		if (!keyword->value || (left & keyword->value) != keyword->value)
			continue;
		left &= ~keyword->value;
		elog_text_printf(text, "%s{\"value\":\"0x%" PRIx64 "\"", comma,
				 keyword->value);
		put_named(text, keyword->name, keyword->description);
		comma = ",";
	}
	if (left)
		elog_text_printf(text, "%s{\"value\":\"0x%" PRIx64
				 "\",\"name\":null}", comma, left);
	elog_text_put(text, "]", 1);
}

static const char *attribute_name(const struct elog_schema_event *event)
{
	return event->attribute == EVENTLOG_ATTRIBUTE_START ? "start" :
	       event->attribute == EVENTLOG_ATTRIBUTE_END ? "end" : NULL;
}

static void put_integer(struct elog_text *text, uint64_t value, bool is_signed)
{
	elog_text_string(text, "\"value\":");
	elog_text_json_integer(text, value, is_signed);
}

static void put_field(struct elog_text *text,
		      const struct elog_schema_field *field)
{
	const struct elog_schema_set *set = field->set;
	size_t i;

	elog_text_put(text, "{", 1);
	json_member(text, "name", field->name);
	elog_text_put(text, ",", 1);
	json_member(text, "type", field->type_name);
	elog_text_printf(text, ",\"size\":%zu,\"offset\":%zu,", field->size,
			 field->offset);
	json_member(text, "description", field->description);
	for (i = 0; set && i < set->count; i++) {
		const struct elog_schema_name *value = set->names[i];

		elog_text_string(text, i ? ",{" : ",\"values\":[{");
		if (set->flags)
			elog_text_printf(text, "\"value\":\"0x%" PRIx64 "\"",
					 value->value);
		else
			put_integer(text, value->value, field->is_signed);
		put_named(text, value->name, value->description);
	}
	elog_text_string(text, set && set->count ? "]}" : "}");
}

static void put_flag(struct elog_text *text, const char *name, bool value)
{
	elog_text_printf(text, ",\"%s\":%s", name, value ? "true" : "false");
}

static void put_sync(struct elog_text *text, const struct eventlog_definition *describe)
{
	const char *comma = "";
	size_t i;

	elog_text_string(text, ",\"sync\":[");
	for (i = 0; i < ARRAY_SIZE(reasons); i++) {
		if (!(describe->sync & reasons[i].sync))
			continue;
		elog_text_printf(text, "%s\"%s\"", comma, reasons[i].name);
		comma = ",";
	}
	elog_text_string(text, "],\"sync_pid\":");
	if (describe->sync_pid)
		elog_text_unsigned(text, describe->sync_pid, 1, ' ');
	else
		elog_text_string(text, "null");
}

void list_json(const struct definition *definition, const char *schema,
	       struct elog_text *text)
{
	const struct eventlog_definition *describe = &definition->describe;
	const struct elog_schema_event *event = definition->event;
	const char *level = elog_level_name(event->level);
	size_t i;

	elog_text_printf(text, "{\"descriptor\":%u,", describe->descriptor);
	json_member(text, "provider", event->provider->name);
	elog_text_printf(text, ",\"provider_id\":%u,", describe->provider_id);
	json_member(text, "provider_description", event->provider->description);
	elog_text_put(text, ",", 1);
	json_member(text, "event", event->name);
	elog_text_printf(text, ",\"id\":%u,", event->id);
	json_member(text, "description", event->description);
	elog_text_put(text, ",", 1);
	json_member(text, "level", level ? level : "?");
	list_keywords(text, event);
	elog_text_string(text, ",\"attribute\":");
	if (attribute_name(event))
		elog_text_printf(text, "\"%s\"", attribute_name(event));
	else
		elog_text_string(text, "null");
	put_flag(text, "live", describe->state & EVENTLOG_DESCRIBED_LIVE);
	put_flag(text, "persistent", describe->state & EVENTLOG_DESCRIBED_PERSIST);
	put_flag(text, "kernel", describe->state & EVENTLOG_DESCRIBED_KERNEL);
	put_flag(text, "enabled", describe->state & EVENTLOG_DESCRIBED_ENABLED);
	put_sync(text, describe);
	elog_text_printf(text, ",\"fixed_size\":%zu,\"fields\":[",
			 event->fixed_size);
	for (i = 0; i < event->field_count; i++) {
		if (i)
			elog_text_put(text, ",", 1);
		put_field(text, event->fields[i]);
	}
	elog_text_put(text, "]", 1);
	if (schema) {
		elog_text_put(text, ",", 1);
		json_member(text, "schema", schema);
	}
	elog_text_string(text, "}\n");
}

/* ------------------------------------------------------------------------
 * The tree
 */

struct tree {
	struct output *output;
	bool verbose;
	bool utf8;
	bool last[DEPTH_MAX];	/* by depth: the node is the last one of its parent */
};

/* Start the line of a node. */
static struct elog_text *put_branch(struct tree *tree, unsigned int depth, bool last)
{
	struct elog_text *text = &tree->output->text;
	unsigned int i;

	output_check(tree->output);
	for (i = 1; i < depth; i++)
		elog_text_string(text, tree->last[i] ? "    " : tree->utf8 ?
				 "\u2502   " : "|   ");
	tree->last[depth] = last;
	elog_text_string(text, tree->utf8 ? last ? "\u2514\u2500\u2500 " :
			 "\u251c\u2500\u2500 " : last ? "`-- " : "|-- ");
	return text;
}

static void end_line(struct elog_text *text, const char *description)
{
	if (*description) {
		elog_text_string(text, "  ");
		elog_text_quoted(text, description, strlen(description));
	}
	elog_text_put(text, "\n", 1);
}

static void put_tree_field(struct tree *tree,
			   const struct elog_schema_field *field, bool last)
{
	struct elog_text *text = put_branch(tree, 2, last);
	const struct elog_schema_set *set = field->set;
	size_t i;

	elog_text_printf(text, "%s %s", field->type_name, field->name);
	if (tree->verbose)
		elog_text_printf(text, " offset %zu size %zu", field->offset,
				 field->size);
	end_line(text, field->description);
	for (i = 0; set && i < set->count; i++) {
		const struct elog_schema_name *value = set->names[i];

		text = put_branch(tree, 3, i + 1 == set->count);
		elog_text_printf(text, set->flags ? "0x%" PRIx64 " " :
				 field->is_signed ? "%" PRId64 " " : "%" PRIu64 " ",
				 value->value);
		elog_text_string(text, value->name);
		end_line(text, value->description);
	}
}

static void put_tree_event(struct tree *tree, const struct definition *definition,
			   bool last)
{
	const struct eventlog_definition *describe = &definition->describe;
	const struct elog_schema_event *event = definition->event;
	struct elog_text *text = put_branch(tree, 1, last);
	const char *level = elog_level_name(event->level);
	size_t i;

	put_quotable(text, event->name);
	elog_text_printf(text, " #%u ", describe->descriptor);
	list_state(text, describe);
	elog_text_printf(text, " %s ", level ? level : "?");
	if (!event->keywords)
		elog_text_put(text, "-", 1);
	put_keywords(text, event);
	if (attribute_name(event))
		elog_text_printf(text, " %s", attribute_name(event));
	end_line(text, event->description);
	for (i = 0; i < event->field_count; i++)
		put_tree_field(tree, event->fields[i], i + 1 == event->field_count);
}

static bool is_same_provider(const struct definition *one,
			     const struct definition *other)
{
	return one->describe.provider_id == other->describe.provider_id &&
	       !strcmp(one->event->provider->name, other->event->provider->name);
}

/* Put a provider and the keywords of its definitions. */
static void put_provider(struct tree *tree, const struct definition *definitions,
			 size_t count)
{
	const struct elog_schema_provider *provider = NULL;
	struct elog_text *text = &tree->output->text;
	size_t i;

	/* The latest definition has the most complete description. */
	provider = definitions[count - 1].event->provider;
	put_quotable(text, provider->name);
	elog_text_printf(text, " (%u)", definitions->describe.provider_id);
	end_line(text, provider->description);
	for (i = 0; i < provider->keyword_count; i++) {
		text = put_branch(tree, 1, false);
		elog_text_printf(text, "keyword %s 0x%" PRIx64,
				 provider->keywords[i]->name,
				 provider->keywords[i]->value);
		end_line(text, provider->keywords[i]->description);
	}
	for (i = 0; i < count; i++)
		put_tree_event(tree, &definitions[i], i + 1 == count);
}

static int compare(const void *one, const void *other)
{
	const struct definition *a = one, *b = other;
	int by_name = strcmp(a->event->provider->name, b->event->provider->name);

	if (by_name)
		return by_name;
	if (a->describe.provider_id != b->describe.provider_id)
		return a->describe.provider_id < b->describe.provider_id ? -1 : 1;
	return a->describe.descriptor < b->describe.descriptor ? -1 : 1;
}

void list_tree(struct definition *definitions, size_t count, bool verbose,
	       struct output *output)
{
	struct tree tree = {
		.output = output,
		.verbose = verbose,
		.utf8 = output_utf8(),
	};
	size_t from, to;

	qsort(definitions, count, sizeof(*definitions), compare);
	for (from = 0; from < count && !output->closed; from = to) {
		for (to = from + 1; to < count &&
		     is_same_provider(&definitions[from], &definitions[to]); to++)
			;
		put_provider(&tree, &definitions[from], to - from);
	}
}
