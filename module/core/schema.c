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
#include "core/field_types.h"
#include "core/fields.h"
#include "memory.h"
#include "core/schema.h"
#include "core/text.h"
#include "core/unique.h"

static const char *const eventlog_level_names[] = {
	[EVENTLOG_LEVEL_CRITICAL] = "critical",
	[EVENTLOG_LEVEL_ERROR] = "error",
	[EVENTLOG_LEVEL_WARNING] = "warning",
	[EVENTLOG_LEVEL_NOTICE] = "notice",
	[EVENTLOG_LEVEL_INFO] = "info",
	[EVENTLOG_LEVEL_DEBUG] = "debug",
	[EVENTLOG_LEVEL_VERBOSE] = "verbose",
};

u8 eventlog_level_find(const char *name)
{
	u8 level;

	for (level = EVENTLOG_LEVEL_CRITICAL; name && level <= EVENTLOG_LEVEL_VERBOSE; level++)
		if (!strcmp(name, eventlog_level_names[level]))
			return level;
	return 0;
}

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

/* A type of the schema language that a kernel provider may use. */
struct eventlog_type {
	u32 bytes;
	bool dynamic;
	bool string;
};

/* Parses a size of 1 to EVENTLOG_PAYLOAD_MAX that is followed by @end and nothing else. */
static bool eventlog_type_size(const char *text, const char *end, u32 *bytes)
{
	char digits[8];
	size_t length = strspn(text, "0123456789");

	if (!length || length >= sizeof(digits) || *text == '0' || strcmp(text + length, end))
		return false;
	memcpy(digits, text, length);
	digits[length] = '\0';
	return !kstrtou32(digits, 10, bytes) && *bytes <= EVENTLOG_PAYLOAD_MAX;
}

static bool eventlog_type_tag_valid(const char *tag, size_t length)
{
	char name[EVENTLOG_FIELD_NAME_MAX];

	return length < sizeof(name) && strscpy(name, tag, length + 1) &&
	       eventlog_fields_name_valid(name);
}

/* Parses NAME:INT of an enum or flags type; @rest starts behind the first colon. */
static bool eventlog_type_set(const struct eventlog_provider *provider, const char *rest,
			      bool flags, u32 *bytes)
{
	const char *colon = strchr(rest, ':');
	unsigned int i, integer;

	integer = colon ? eventlog_field_type_find(colon + 1, strlen(colon + 1)) : 0;
	if (!eventlog_field_type_is_integer(integer) ||
	    (flags && eventlog_field_types[integer].is_signed))
		return false;
	*bytes = eventlog_field_types[integer].bytes;
	for (i = 0; i < provider->set_count; i++) {
		const struct eventlog_set *set = &provider->sets[i];

		if (set->flags == flags && strlen(set->name) == colon - rest &&
		    !strncmp(set->name, rest, colon - rest))
			return true;
	}
	return false;
}

static bool eventlog_type_parse(const struct eventlog_provider *provider, const char *name,
				struct eventlog_type *type)
{
	unsigned int plain = eventlog_field_type_find(name, strlen(name));
	const char *colon;

	memset(type, 0, sizeof(*type));
	if (plain) {
		type->bytes = eventlog_field_types[plain].bytes;
		type->string = plain == EVENTLOG_MARKER_STRING;
		type->dynamic = type->string || plain == EVENTLOG_TYPE_BYTES;
		/* Generated functions do not write relative words. */
		return plain != EVENTLOG_TYPE_STRING_REL && plain != EVENTLOG_TYPE_BYTES_REL;
	}
	if (!strncmp(name, "char[", 5))
		return eventlog_type_size(name + 5, "]", &type->bytes);
	if (!strncmp(name, "u8[", 3))
		return eventlog_type_size(name + 3, "]", &type->bytes);
	if (!strncmp(name, "enum:", 5))
		return eventlog_type_set(provider, name + 5, false, &type->bytes);
	if (!strncmp(name, "flags:", 6))
		return eventlog_type_set(provider, name + 6, true, &type->bytes);
	if (!strncmp(name, "struct:", 7)) {
		colon = strchr(name + 7, ':');
		return colon && eventlog_type_tag_valid(name + 7, colon - name - 7) &&
		       eventlog_type_size(colon + 1, "", &type->bytes);
	}
	return false;
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
	struct eventlog_type type;
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
		if (!field->type || !eventlog_type_parse(provider, field->type, &type))
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
		bytes += type.bytes;
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
	struct eventlog_type type;
	unsigned int i;

	layout = eventlog_alloc(struct_size(layout, dynamic, source->field_count));
	if (!layout)
		return NULL;
	for (i = 0; i < source->field_count; i++) {
		eventlog_type_parse(provider, source->fields[i].type, &type);
		if (type.dynamic)
			layout->dynamic[layout->dynamic_count++] = (struct eventlog_dynamic){
				.position = layout->fixed_bytes,
				.string = type.string,
			};
		layout->fixed_bytes += type.bytes;
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
