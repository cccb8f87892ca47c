// SPDX-License-Identifier: GPL-2.0-only
/*
 * Schema text, and the checks of kernel providers' tables: see schema.h.
 */
#define pr_fmt(format) "eventlog: " format

#include <linux/ctype.h>
#include <linux/eventlog.h>
#include <linux/kernel.h>
#include <linux/overflow.h>
#include <linux/string.h>

#include "core/event.h"
#include "common/field_type.h"
#include "common/word.h"
#include "core/fields.h"
#include "memory.h"
#include "core/schema.h"
#include "core/text.h"
#include "core/unique.h"

/* ---- definitions ---- */

void eventlog_schema_write(struct eventlog_text *text, const void *context)
{
	const struct eventlog_event *event = context;
	const char *preamble = eventlog_event_preamble(event);

	eventlog_text_print(text, "eventlog 1\nprovider ");
	eventlog_text_name(text, event->provider->name, EVENTLOG_PROVIDER_PLAIN);
	if (preamble) {
		eventlog_text_print(text, "%s%s", preamble, event->fields_text);
		return;
	}
	eventlog_text_print(text, "\nevent %u ", event->id);
	eventlog_text_name(text, event->name, EVENTLOG_EVENT_PLAIN);
	eventlog_text_print(text, " %s ", eventlog_level_names[event->level]);
	eventlog_text_print(text, event->keywords ? "%#llx" : "-", event->keywords);
	eventlog_text_print(text, *event->fields_text == '"' ? " %s" : "\n%s", event->fields_text);
}

char *eventlog_schema_text(const struct eventlog_event *event, u32 *bytes)
{
	size_t length;
	char *text = eventlog_text_make(eventlog_schema_write, event, &length,
					eventlog_alloc_locked);

	*bytes = length + 1;
	return text;
}

/* ---- kernel providers: checking their tables ---- */

const struct eventlog_set *eventlog_set_find(const struct eventlog_provider *provider,
					     const struct eventlog_field_shape *shape)
{
	unsigned int i;

	for (i = 0; provider && i < provider->set_count; i++) {
		const struct eventlog_set *set = &provider->sets[i];

		if (set->flags == (shape->kind == EVENTLOG_KIND_FLAGS) &&
		    strlen(set->name) == shape->name_bytes &&
		    !memcmp(set->name, shape->name, shape->name_bytes))
			return set;
	}
	return NULL;
}

/* Parses a type that a kernel provider may use: generated functions write no relative words. */
static bool eventlog_type_parse(const struct eventlog_provider *provider, const char *type,
				struct eventlog_field_shape *shape)
{
	return !eventlog_field_shape_parse(type, strlen(type), shape) && !shape->relative &&
	       eventlog_shape_is_canonical(shape) &&
	       (!eventlog_shape_has_set(shape) || eventlog_set_find(provider, shape));
}

/*
 * Logs what is wrong with a table, prefixed with the provider's name.  Processes must not
 * fill the log.
 */
#define eventlog_table_wrong(provider, format, ...) ({				\
	if ((provider)->owner != EVENTLOG_OWNER_PROCESS)			\
		pr_err("provider %s: " format "\n", (provider)->name,		\
		       ##__VA_ARGS__);						\
	-EINVAL;								\
})

static bool eventlog_description_valid(const char *description)
{
	if (!description)
		return true;
	for (; *description; description++)
		if (iscntrl(*description) && *description != '\t')
			return false;
	return true;
}

static int eventlog_value_name_compare(const void *left, const void *right)
{
	const struct eventlog_value *a = left, *b = right;

	return strcmp(a->name, b->name);
}

static int eventlog_value_compare(const void *left, const void *right)
{
	const struct eventlog_value *a = left, *b = right;

	return a->value < b->value ? -1 : a->value > b->value;
}

static int eventlog_values_unique(const struct eventlog_provider *provider, const char *what,
				  const struct eventlog_value *values, unsigned int count)
{
	struct eventlog_duplicates found;
	int ret;

	ret = eventlog_duplicates_find(values, count, sizeof(*values), eventlog_value_name_compare,
				       &found);
	if (ret > 0)
		return eventlog_table_wrong(provider, "%s: duplicate name %s", what,
					    ((const struct eventlog_value *)found.second)->name);
	ret = ret ?: eventlog_duplicates_find(values, count, sizeof(*values),
					      eventlog_value_compare, &found);
	if (ret > 0)
		return eventlog_table_wrong(provider, "%s: %s and %s have the same value", what,
					    ((const struct eventlog_value *)found.first)->name,
					    ((const struct eventlog_value *)found.second)->name);
	return ret;
}

/* Checks that names and values are unique, and that no value is 0 if @bits is set. */
static int eventlog_values_check(const struct eventlog_provider *provider, const char *what,
				 const struct eventlog_value *values, unsigned int count, bool bits)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (!values[i].name || !eventlog_fields_name_valid(values[i].name))
			return eventlog_table_wrong(provider, "%s: value %u: invalid name",
						    what, i);
		if (!eventlog_description_valid(values[i].description))
			return eventlog_table_wrong(provider,
				"%s: %s: control character in description",
				what, values[i].name);
		if (bits && !values[i].value)
			return eventlog_table_wrong(provider, "%s: %s: value is 0", what,
						    values[i].name);
	}
	return eventlog_values_unique(provider, what, values, count);
}

static int eventlog_set_compare(const void *left, const void *right)
{
	const struct eventlog_set *a = left, *b = right;

	return strcmp(a->name, b->name);
}

static int eventlog_sets_check(const struct eventlog_provider *provider)
{
	struct eventlog_duplicates found;
	unsigned int i;
	int ret;

	for (i = 0; i < provider->set_count; i++) {
		const struct eventlog_set *set = &provider->sets[i];

		if (!set->name || !eventlog_fields_name_valid(set->name))
			return eventlog_table_wrong(provider, "set %u: invalid name", i);
		if (!eventlog_description_valid(set->description))
			return eventlog_table_wrong(provider,
				"set %s: control character in description",
				set->name);
		/* A flag without bits names the value 0. */
		ret = eventlog_values_check(provider, set->name, set->values, set->value_count,
					    false);
		if (ret)
			return ret;
	}
	ret = eventlog_duplicates_find(provider->sets, provider->set_count,
				       sizeof(*provider->sets), eventlog_set_compare, &found);
	if (ret > 0)
		return eventlog_table_wrong(provider, "duplicate set %s",
					    ((const struct eventlog_set *)found.second)->name);
	return ret;
}

static int eventlog_field_compare(const void *left, const void *right)
{
	const struct eventlog_field *a = left, *b = right;

	return strcmp(a->name, b->name);
}

static int eventlog_event_fields_unique(const struct eventlog_provider *provider,
					const struct eventlog_provider_event *source)
{
	struct eventlog_duplicates found;
	int ret = eventlog_duplicates_find(source->fields, source->field_count,
					   sizeof(*source->fields), eventlog_field_compare,
					   &found);

	if (ret > 0)
		return eventlog_table_wrong(provider, "event %s: duplicate field %s", source->name,
					    ((const struct eventlog_field *)found.second)->name);
	return ret;
}

static int eventlog_event_fields_check(const struct eventlog_provider *provider,
				       const struct eventlog_provider_event *source)
{
	struct eventlog_field_shape shape;
	unsigned int i;
	u32 bytes = 0;

	if (source->field_count > EVENTLOG_FIELDS_MAX)
		return eventlog_table_wrong(provider, "event %s: %u fields, the maximum is %u",
					    source->name, source->field_count, EVENTLOG_FIELDS_MAX);
	for (i = 0; i < source->field_count; i++) {
		const struct eventlog_field *field = &source->fields[i];

		if (!field->name || !eventlog_fields_name_valid(field->name))
			return eventlog_table_wrong(provider, "event %s: field %u: invalid name",
						    source->name, i);
		if (!field->type || !eventlog_type_parse(provider, field->type, &shape))
			return eventlog_table_wrong(provider,
				"event %s: field %s: unknown type '%s'",
				source->name, field->name, field->type ?: "");
		if (field->display && strcmp(field->display, "dec") &&
		    strcmp(field->display, "hex"))
			return eventlog_table_wrong(provider,
				"event %s: field %s: unknown display '%s'",
				source->name, field->name, field->display);
		if (!eventlog_description_valid(field->description))
			return eventlog_table_wrong(provider,
				"event %s: field %s: control character in description",
				source->name, field->name);
		/* Neither exceeds EVENTLOG_PAYLOAD_MAX: the sum cannot overflow. */
		bytes += shape.bytes;
		if (bytes > EVENTLOG_PAYLOAD_MAX)
			return eventlog_table_wrong(provider,
				"event %s: field %s exceeds the maximum of %u bytes",
				source->name, field->name, EVENTLOG_PAYLOAD_MAX);
	}
	if (bytes != source->fixed_bytes)
		return eventlog_table_wrong(provider,
			"event %s: the fields take %u bytes, fixed_bytes is %u",
			source->name, bytes, source->fixed_bytes);
	return eventlog_event_fields_unique(provider, source);
}

/* Elements of the provider's array are pointers. */
static const struct eventlog_provider_event *eventlog_event_at(const void *place)
{
	return *(struct eventlog_provider_event *const *)place;
}

static int eventlog_event_name_compare(const void *left, const void *right)
{
	return strcmp(eventlog_event_at(left)->name, eventlog_event_at(right)->name);
}

static int eventlog_event_id_compare(const void *left, const void *right)
{
	const u32 a = eventlog_event_at(left)->id, b = eventlog_event_at(right)->id;

	return a < b ? -1 : a > b;
}

static int eventlog_events_unique(const struct eventlog_provider *provider)
{
	struct eventlog_duplicates found;
	int ret;

	ret = eventlog_duplicates_find(provider->events, provider->event_count,
				       sizeof(*provider->events), eventlog_event_name_compare,
				       &found);
	if (ret > 0)
		return eventlog_table_wrong(provider, "duplicate event %s",
					    eventlog_event_at(found.second)->name);
	ret = ret ?: eventlog_duplicates_find(provider->events, provider->event_count,
					      sizeof(*provider->events), eventlog_event_id_compare,
					      &found);
	if (ret > 0)
		return eventlog_table_wrong(provider, "events %s and %s have the same id %u",
					    eventlog_event_at(found.first)->name,
					    eventlog_event_at(found.second)->name,
					    eventlog_event_at(found.second)->id);
	return ret;
}

static int eventlog_events_check(const struct eventlog_provider *provider)
{
	unsigned int i;
	int ret;

	for (i = 0; i < provider->event_count; i++) {
		const struct eventlog_provider_event *source = provider->events[i];

		if (!source->name || !eventlog_fields_name_valid(source->name))
			return eventlog_table_wrong(provider, "event %u: invalid name", i);
		if (!source->id)
			return eventlog_table_wrong(provider, "event %s: id is 0", source->name);
		if (!source->level || source->level > EVENTLOG_LEVEL_VERBOSE)
			return eventlog_table_wrong(provider, "event %s: invalid level %u",
						    source->name, source->level);
		if (source->attribute > EVENTLOG_ATTRIBUTE_END)
			return eventlog_table_wrong(provider, "event %s: invalid attribute %u",
						    source->name, source->attribute);
		if (!eventlog_description_valid(source->description))
			return eventlog_table_wrong(provider,
				"event %s: control character in description",
				source->name);
		ret = eventlog_event_fields_check(provider, source);
		if (ret)
			return ret;
	}
	return eventlog_events_unique(provider);
}

int eventlog_schema_check(const struct eventlog_provider *provider)
{
	int ret;

	if (!provider->name || !eventlog_provider_name_valid(provider->name)) {
		if (provider->owner != EVENTLOG_OWNER_PROCESS)
			pr_err("provider with an invalid name\n");
		return -EINVAL;
	}
	if (!eventlog_description_valid(provider->description))
		return eventlog_table_wrong(provider, "control character in description");
	if (!provider->event_count)
		return eventlog_table_wrong(provider, "no events");
	ret = eventlog_values_check(provider, "keywords", provider->keywords,
				    provider->keyword_count, true);
	return ret ?: eventlog_sets_check(provider) ?: eventlog_events_check(provider);
}

/* ---- kernel providers: conversion to text ---- */

static void eventlog_preamble_write(struct eventlog_text *text, const void *context)
{
	const struct eventlog_provider *provider = context;
	unsigned int i, j;

	eventlog_text_quote(text, provider->description);
	eventlog_text_print(text, "\n");
	for (i = 0; i < provider->keyword_count; i++) {
		const struct eventlog_value *keyword = &provider->keywords[i];

		eventlog_text_print(text, "keyword %s %#llx", keyword->name, keyword->value);
		eventlog_text_quote(text, keyword->description);
		eventlog_text_print(text, "\n");
	}
	for (i = 0; i < provider->set_count; i++) {
		const struct eventlog_set *set = &provider->sets[i];

		eventlog_text_print(text, "%s %s", set->flags ? "flags" : "enum", set->name);
		eventlog_text_quote(text, set->description);
		eventlog_text_print(text, "\n");
		for (j = 0; j < set->value_count; j++) {
			const struct eventlog_value *value = &set->values[j];

			eventlog_text_print(text, set->flags ? "\t%#llx" : "\t%lld", value->value);
			eventlog_text_print(text, " %s", value->name);
			eventlog_text_quote(text, value->description);
			eventlog_text_print(text, "\n");
		}
	}
}

char *eventlog_schema_preamble(const struct eventlog_provider *provider)
{
	return eventlog_text_make(eventlog_preamble_write, provider, NULL, eventlog_alloc);
}

/* Writes a mask as names of keywords; bits without a name follow as a number. */
static void eventlog_keywords_write(struct eventlog_text *text,
				    const struct eventlog_provider *provider, u64 keywords)
{
	const char *comma = " ";
	unsigned int i;

	if (!keywords)
		eventlog_text_print(text, " -");
	for (i = 0; i < provider->keyword_count && keywords; i++) {
		const struct eventlog_value *keyword = &provider->keywords[i];

		if ((keywords & keyword->value) != keyword->value)
			continue;
		keywords &= ~keyword->value;
		eventlog_text_print(text, "%s%s", comma, keyword->name);
		comma = ",";
	}
	if (keywords)
		eventlog_text_print(text, "%s%#llx", comma, keywords);
}

/* Context of eventlog_statement_write(): an event and its provider. */
struct eventlog_statement {
	const struct eventlog_provider *provider;
	const struct eventlog_provider_event *source;
};

static void eventlog_statement_write(struct eventlog_text *text, const void *context)
{
	const struct eventlog_statement *statement = context;
	const struct eventlog_provider_event *source = statement->source;
	unsigned int i;

	eventlog_text_print(text, "event %u %s %s", source->id, source->name,
			    eventlog_level_names[source->level]);
	eventlog_keywords_write(text, statement->provider, source->keywords);
	if (source->attribute)
		eventlog_text_print(text, " %s", eventlog_attribute_names[source->attribute]);
	eventlog_text_quote(text, source->description);
	eventlog_text_print(text, "\n");
	for (i = 0; i < source->field_count; i++) {
		const struct eventlog_field *field = &source->fields[i];

		eventlog_text_print(text, "\t%s %s", field->type, field->name);
		if (field->display)
			eventlog_text_print(text, " as %s", field->display);
		eventlog_text_quote(text, field->description);
		eventlog_text_print(text, "\n");
	}
}

struct eventlog_layout *eventlog_schema_layout(const struct eventlog_provider *provider,
					       const struct eventlog_provider_event *source)
{
	struct eventlog_layout *layout;
	struct eventlog_field_shape shape;
	unsigned int i;

	layout = eventlog_alloc(struct_size(layout, dynamic, source->field_count));
	if (!layout)
		return NULL;
	for (i = 0; i < source->field_count; i++) {
		eventlog_type_parse(provider, source->fields[i].type, &shape);
		if (shape.kind == EVENTLOG_KIND_STRING || shape.kind == EVENTLOG_KIND_BYTES)
			layout->dynamic[layout->dynamic_count++] = (struct eventlog_dynamic){
				.position = layout->fixed_bytes,
				.string = shape.kind == EVENTLOG_KIND_STRING,
			};
		layout->fixed_bytes += shape.bytes;
	}
	return layout;
}

int eventlog_schema_fields(const struct eventlog_provider *provider,
			   const struct eventlog_provider_event *source,
			   struct eventlog_fields *fields)
{
	const struct eventlog_statement statement = { provider, source };

	memset(fields, 0, sizeof(*fields));
	fields->name = source->name;
	fields->text = eventlog_text_make(eventlog_statement_write, &statement, NULL,
					  eventlog_alloc);
	fields->layout = eventlog_schema_layout(provider, source);
	if (fields->text && fields->layout)
		return 0;
	eventlog_fields_free(fields);
	return -ENOMEM;
}

const char *eventlog_field_line_next(const char *text, struct eventlog_field_line *line)
{
	const char *end;

	/* A kernel provider's text begins with the statement, and may have other lines. */
	for (; *text != '\t'; text = end + 1) {
		end = strchrnul(text, '\n');
		if (!*end)
			return NULL;
	}
	line->type = text + 1;
	line->type_length = strcspn(line->type, " \n");
	line->name = line->type + line->type_length;
	line->name += *line->name == ' ';
	line->name_length = strcspn(line->name, " \n");
	end = strchrnul(line->name, '\n');
	return *end ? end + 1 : end;
}
