// SPDX-License-Identifier: GPL-2.0-only
/*
 * The names in the command line: see names.h. No locks, nothing global.
 *
 * A definition is compared only with the names that are not known yet, so definitions
 * cost nothing once all names are known.
 */
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/columns.h"
#include "input/names.h"
#include "input/select.h"
#include "util/array.h"
#include "util/engine.h"

/* How far is an event that only another provider has. */
#define OTHER_PROVIDER	10

enum name_kind {
	NAME_EVENT,		/* PROVIDER[/EVENT], a glob */
	NAME_KEYWORD,
	NAME_FIELD,
	NAME_VALUE_PROVIDER,	/* provider == NAME */
	NAME_VALUE_EVENT,
	NAME_VALUE_KEYWORD,
};

/*
 * struct name - a name
 * @kind: what it is of
 * @known: a definition has it
 * @has_provider: of an event: a definition has its provider
 * @warned: a live run has warned
 * @warned_near: the warning had names that are near
 * @option: for messages; NULL: the name is in @expression or needs no option
 * @expression: of -f, or NULL
 * @column: in @expression
 * @nearest: the name and those that are near
 * @copy: the same name, allocated; or NULL
 */
struct name {
	enum name_kind kind;
	bool known;
	bool has_provider;
	bool warned;
	bool warned_near;
	const char *option;
	const char *expression;
	unsigned int column;
	struct nearest nearest;
	char *copy;
};

struct names {
	const struct selection_spec *spec;
	struct name *names;
	size_t count;
	size_t unknown;
	bool any;		/* a definition was seen */
	bool any_selected;	/* one matched -e, -k and -l */
	bool reported;
	bool only_definitions;	/* no record is seen: one with an eventheader has any names */
};

/* ------------------------------------------------------------------------
 * The names
 */

static struct name *add_name(struct names *names, enum name_kind kind, const char *option)
{
	struct name *larger = array_grow(names->names, names->count, sizeof(*larger));
	struct name *name;

	if (!larger)
		return NULL;
	names->names = larger;
	name = &larger[names->count++];
	memset(name, 0, sizeof(*name));
	name->kind = kind;
	name->option = option;
	names->unknown++;
	return name;
}

static int add_globs(struct names *names, const char *option, const struct string_list *globs)
{
	struct name *name;
	size_t i;

	for (i = 0; i < globs->count; i++) {
		name = add_name(names, NAME_EVENT, option);
		if (!name)
			return -ENOMEM;
		name->nearest.sought = globs->strings[i];
	}
	return 0;
}

static int add_copy(struct names *names, enum name_kind kind, const char *option,
		    const char *text, size_t size)
{
	struct name *name = add_name(names, kind, option);

	if (!name)
		return -ENOMEM;
	name->copy = strndup(text, size);
	name->nearest.sought = name->copy;
	return name->copy ? 0 : -ENOMEM;
}

/* Add the words of a list, without numbers and properties. */
static int add_words(struct names *names, enum name_kind kind, const char *option,
		     const char *text, char separator)
{
	const char *end;
	int ret = 0;

	for (; !ret && text; text = *end ? end + 1 : NULL) {
		end = strchrnul(text, separator);
		if (end == text || isdigit((unsigned char)*text))
			continue;
		ret = add_copy(names, kind, option, text, (size_t)(end - text));
		if (!ret && kind == NAME_FIELD &&
		    column_find(names->names[names->count - 1].copy) != COLUMN_FIELD) {
			free(names->names[--names->count].copy);
			names->unknown--;
		}
	}
	return ret;
}

static int add_comparison(struct names *names, const struct elog_sought_name *sought)
{
	static const enum name_kind kinds[] = {
		[ELOG_NAME_FIELD] = NAME_FIELD,
		[ELOG_NAME_PROVIDER] = NAME_VALUE_PROVIDER,
		[ELOG_NAME_EVENT] = NAME_VALUE_EVENT,
	};

	switch (sought->type) {
	case ELOG_NAME_NONE:
		return 0;
	case ELOG_NAME_KEYWORDS:
		return add_words(names, NAME_VALUE_KEYWORD, NULL, sought->name, '|');
	default:
		return add_copy(names, kinds[sought->type], NULL, sought->name,
				strlen(sought->name));
	}
}

/* The caller of names_open() has reported or will report errors in the text. */
static int add_expression(struct names *names, const char *text)
{
	struct elog_expression *expression;
	struct elog_sought_name sought;
	size_t index, first;
	int ret;

	ret = elog_expression_parse(text, &expression, NULL);
	if (ret)
		return ret == -ENOMEM ? ret : 0;
	for (index = 0; !ret && !elog_expression_name(expression, index, &sought); index++) {
		first = names->count;
		ret = add_comparison(names, &sought);
		for (; first < names->count; first++) {
			names->names[first].expression = text;
			names->names[first].column = sought.column;
		}
	}
	elog_expression_free(expression);
	return ret;
}

int names_open(struct names **result, const struct selection_spec *spec, const char *fields,
	       const struct string_list *triggers)
{
	struct names *names = calloc(1, sizeof(*names));
	size_t i;
	int ret;

	*result = NULL;
	if (!names)
		return -ENOMEM;
	names->spec = spec;
	ret = add_globs(names, NULL, &spec->globs);
	if (!ret && triggers)
		ret = add_globs(names, "--trigger", triggers);
	if (!ret && spec->keyword_names)
		ret = add_words(names, NAME_KEYWORD, "-k", spec->keyword_names, ',');
	if (!ret && fields)
		ret = add_words(names, NAME_FIELD, "--fields", fields, ',');
	for (i = 0; !ret && i < spec->expressions.count; i++)
		ret = add_expression(names, spec->expressions.strings[i]);
	if (ret || !names->count)
		names_close(names);
	else
		*result = names;
	return ret;
}

void names_expect_no_records(struct names *names)
{
	if (names)
		names->only_definitions = true;
}

void names_close(struct names *names)
{
	size_t i;

	if (!names)
		return;
	for (i = 0; i < names->count; i++) {
		nearest_free(&names->names[i].nearest);
		free(names->names[i].copy);
	}
	free(names->names);
	free(names);
}

/* ------------------------------------------------------------------------
 * Definitions
 */

/* The distance of a part of a glob. A pattern is not a misspelled name. */
static unsigned int part_distance(const char *part, const char *name)
{
	if (part[strcspn(part, "*?[\\")])
		return fnmatch(part, name, 0) ? NEAREST_FAR : 0;
	return name_distance(part, name);
}

static void offer_both(struct nearest *nearest, const struct elog_schema_event *event,
		       unsigned int distance)
{
	char *both;

	if (distance >= NEAREST_FAR ||
	    asprintf(&both, "%s/%s", event->provider->name, event->name) < 0)
		return;
	nearest_offer_at(nearest, both, distance);
	free(both);
}

void nearest_offer_event(struct nearest *nearest, const struct elog_schema_event *event)
{
	const char *slash = find_slash(nearest->sought);
	char *provider = strndup(nearest->sought, (size_t)(slash - nearest->sought));
	unsigned int distance, event_distance;

	if (!provider)
		return;
	distance = part_distance(provider, event->provider->name);
	event_distance = part_distance(*slash ? slash + 1 : provider, event->name);
	if (!*slash) {
		/* The name may also be that of an event, without its provider. */
		nearest_offer_at(nearest, event->provider->name, distance);
		offer_both(nearest, event, event_distance);
	} else if (distance < NEAREST_FAR) {
		offer_both(nearest, event, distance + event_distance);
	} else if (!event_distance && strcmp(slash + 1, "*")) {
		offer_both(nearest, event, OTHER_PROVIDER);
	}
	free(provider);
}

static bool see_word(struct name *name, const char *word)
{
	if (!strcmp(name->nearest.sought, word))
		return true;
	nearest_offer(&name->nearest, word);
	return false;
}

static bool see_keywords(struct name *name, const struct elog_schema_provider *provider)
{
	size_t i;

	for (i = 0; i < provider->keyword_count; i++)
		if (see_word(name, provider->keywords[i]->name))
			return true;
	return false;
}

static bool see_fields(struct name *name, const struct elog_schema_event *event)
{
	size_t i;

	for (i = 0; i < event->field_count; i++)
		if (see_word(name, event->fields[i]->name))
			return true;
	return false;
}

/* Is the provider of a glob this one? */
static bool is_provider(const char *glob, const char *provider)
{
	const size_t size = strlen(provider);

	return (size_t)(find_slash(glob) - glob) == size && !memcmp(glob, provider, size);
}

/* Does the definition have the name? @selected: it matches -e, -k and -l. */
static bool see_name(const struct names *names, struct name *name,
		     const struct elog_schema_event *event, bool selected)
{
	if (names->only_definitions && name->kind != NAME_EVENT && name->kind != NAME_KEYWORD &&
	    elog_is_eventheader(event))
		return true;
	switch (name->kind) {
	case NAME_EVENT:
		if (glob_matches(name->nearest.sought, event))
			return true;
		name->has_provider |= is_provider(name->nearest.sought, event->provider->name);
		nearest_offer_event(&name->nearest, event);
		return false;
	case NAME_KEYWORD:
		return spec_matches_globs(names->spec, event) &&
		       see_keywords(name, event->provider);
	case NAME_FIELD:
		return selected && see_fields(name, event);
	/* A field of this name comes before the property. */
	case NAME_VALUE_PROVIDER:
		return find_field(event, "provider") ||
		       see_word(name, event->provider->name);
	case NAME_VALUE_EVENT:
		return find_field(event, "event") || see_word(name, event->name);
	case NAME_VALUE_KEYWORD:
		return find_field(event, "keywords") || see_keywords(name, event->provider);
	}
	return false;
}

void names_see(struct names *names, const struct elog_schema_event *event)
{
	struct name *name;
	bool selected;
	size_t i;

	if (!names || !names->unknown)
		return;
	selected = spec_matches_definition(names->spec, event);
	names->any = true;
	names->any_selected |= selected;
	for (i = 0; i < names->count; i++) {
		name = &names->names[i];
		if (name->known || !see_name(names, name, event, selected))
			continue;
		name->known = true;
		names->unknown--;
	}
}

bool names_any(const struct names *names)
{
	return names && names->any;
}

int definitions_each(int fd, bool (*see)(void *context, const struct eventlog_definition *describe,
					 const struct elog_schema_event *event), void *context)
{
	struct eventlog_definition describe = { .size = sizeof(describe) };
	struct elog_list *definitions;
	struct elog_schema *schema;
	bool more = true;
	const char *text;
	int ret = elog_list_open(fd, EVENTLOG_LIST_DEFINITIONS, 0, &definitions);

	if (ret)
		return ret;
	while (more && !elog_list_next(definitions, &describe, &text)) {
		ret = elog_schema_parse(text, strlen(text), &schema, NULL);
		if (ret == -ENOMEM)
			break;
		if (ret)
			continue;
		if (schema->provider_count && schema->providers[0]->event_count)
			more = see(context, &describe, schema->providers[0]->events[0]);
		elog_schema_free(schema);
	}
	elog_list_close(definitions);
	return ret == -ENOMEM ? ret : 0;
}

/* ------------------------------------------------------------------------
 * Messages
 */

static const char *kind_name(const struct name *name)
{
	switch (name->kind) {
	case NAME_EVENT:
		return *find_slash(name->nearest.sought) ? "event" : "provider";
	case NAME_VALUE_EVENT:
		return "event";
	case NAME_VALUE_PROVIDER:
		return "provider";
	case NAME_FIELD:
		return "field";
	default:
		return "keyword";
	}
}

/* Columns of the output are fields, too, for --fields. */
static void offer_columns(struct name *name)
{
	size_t i;

	for (i = 0; name->kind == NAME_FIELD && !name->expression && i < COLUMN_FIELD; i++)
		nearest_offer(&name->nearest, column_names[i]);
}

static void report(struct name *name, const char *when)
{
	const char *text = name->nearest.sought, *kind = kind_name(name);

	/* elog latency adds this to the name of an event. */
	if (name->kind == NAME_EVENT && !strncmp(text, "*/", 2))
		text += 2;
	if (name->expression)
		nearest_error(&name->nearest, "-f '%s': column %u: no %s '%s'%s",
			      name->expression, name->column, kind, text, when);
	else
		nearest_error(&name->nearest, "%s%sno %s '%s'%s",
			      name->option ? name->option : "", name->option ? ": " : "", kind,
			      text, when);
}

/* A field is not missed if no definition matched -e, -k and -l. */
static bool is_missed(const struct names *names, const struct name *name)
{
	return !name->known && (name->kind != NAME_FIELD || names->any_selected);
}

bool names_report(struct names *names, const char *when)
{
	struct name *name;
	bool any = false;
	size_t i;

	if (!names || names->reported)
		return false;
	names->reported = true;
	for (i = 0; i < names->count; i++) {
		name = &names->names[i];
		if (!is_missed(names, name))
			continue;
		offer_columns(name);
		report(name, when);
		any = true;
	}
	return any;
}

/* ------------------------------------------------------------------------
 * Live runs
 */

/* The providers of kernel modules, each eventlog_PROVIDER. */
static const char *const module_providers[] = { "proc", "tcp" };

/* The provider of a kernel module that is not loaded, or NULL. */
static const char *module_provider(const struct name *name)
{
	size_t i;

	if (name->kind != NAME_EVENT || name->has_provider)
		return NULL;
	for (i = 0; i < ARRAY_SIZE(module_providers); i++)
		if (is_provider(name->nearest.sought, module_providers[i]))
			return module_providers[i];
	return NULL;
}

static void warn(struct name *name, const char *when)
{
	const char *module = module_provider(name);

	name->warned = true;
	name->warned_near = name->nearest.count;
	report(name, when);
	if (name->kind == NAME_EVENT && engine_used())
		elog_hint("events of the kernel, such as those of sched, proc and tcp, need the "
			  "kernel module, not an engine");
	else if (module)
		elog_hint("the kernel module eventlog_%s has it; run: %smodprobe eventlog_%s",
			  module, as_root(), module);
}

void names_warn(struct names *names, bool may_come)
{
	struct name *name;
	size_t i;

	for (i = 0; names && i < names->count; i++) {
		name = &names->names[i];
		if (!is_missed(names, name))
			continue;
		offer_columns(name);
		if (!may_come || module_provider(name))
			warn(name, " yet");
	}
}

bool names_warn_end(struct names *names, bool none)
{
	struct name *name;
	bool any = false;
	size_t i;

	for (i = 0; names && i < names->count; i++) {
		name = &names->names[i];
		if (!is_missed(names, name))
			continue;
		any = true;
		if (!name->warned || (none && !name->warned_near && name->nearest.count))
			warn(name, "");
	}
	return any;
}
