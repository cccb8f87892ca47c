// SPDX-License-Identifier: GPL-2.0-only
/*
 * What elog latency pairs events by: see latency_key.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/latency_key.h"
#include "output/output.h"

#define VALUE_BYTES_MAX	1024	/* of a value that is kept for --slowest */

static const char *const property_names[LATENCY_FIELD] = {
	"session", "pid", "tid", "cpu", "provider", "event", "comm",
};

void latency_name_set(struct latency_name *name, const char *text)
{
	memset(name, 0, sizeof(*name));
	name->name = text;
	while (name->property < LATENCY_FIELD &&
	       strcmp(text, property_names[name->property]))
		name->property++;
}

/* Return: the field, and its value; NULL: the event has none that can be read. */
static const struct elog_schema_field *
find_value(struct latency_name *name, const struct entry *entry, bool end,
	   struct elog_value *value)
{
	const struct elog_schema_field *field;

	field = find_field(entry->cached->event, name->name);
	name->sought[end] = true;
	if (!field)
		return NULL;
	name->found[end] = true;
	if (elog_decode(field, entry->item.payload, entry->item.payload_size,
			value))
		return NULL;
	return field;
}

/* Return: the property's text; NULL: it is a number, which is set. */
static const char *property_value(enum latency_property property,
				  const struct entry *entry, uint64_t *number)
{
	const struct elog_schema_event *event = entry->cached->event;

	switch (property) {
	case LATENCY_SESSION:
		*number = entry->item.session;
		return NULL;
	case LATENCY_PID:
		*number = entry->item.pid;
		return NULL;
	case LATENCY_TID:
		*number = entry->item.tid;
		return NULL;
	case LATENCY_CPU:
		*number = entry->item.cpu;
		return NULL;
	case LATENCY_PROVIDER:
		return event ? event->provider->name : "?";
	case LATENCY_EVENT:
		return event ? event->name : "?";
	default:
		return elog_processes_name(entry->processes, entry->item.pid,
					   entry->item.tid);
	}
}

/* ------------------------------------------------------------------------
 * Keys
 */

static int parse_names(struct latency_key *key, const char *by)
{
	struct latency_name *name;
	char *rest = key->copy, *text;

	while ((text = strsep(&rest, ","))) {
		if (key->count == LATENCY_NAMES_MAX) {
			elog_error("--by: %u at most", LATENCY_NAMES_MAX);
			return -EINVAL;
		}
		if (!*text) {
			elog_error("--by: '%s' has an empty name", by);
			return -EINVAL;
		}
		name = &key->names[key->count++];
		latency_name_set(name, text);
		/* Events are not paired by the other properties: it is a field. */
		if (name->property > LATENCY_CPU)
			name->property = LATENCY_FIELD;
	}
	return 0;
}

int latency_key_open(struct latency_key *key, const char *by, bool by_provider)
{
	struct elog_text words = { 0 };
	size_t i;
	int ret;

	if (!by)
		by = "session";
	key->by_provider = by_provider;
	key->copy = strdup(by);
	if (!key->copy)
		return -ENOMEM;
	ret = parse_names(key, by);
	if (ret)
		return ret;
	if (by_provider)
		elog_text_string(&words, "provider");
	for (i = 0; i < key->count; i++) {
		if (words.size)
			elog_text_put(&words, ",", 1);
		elog_text_string(&words, key->names[i].name);
	}
	key->words = words.data;
	return words.error;
}

void latency_key_close(struct latency_key *key)
{
	elog_text_free(&key->bytes);
	free(key->words);
	free(key->copy);
}

/* Equal values have equal bytes, whatever the size of their types; others differ. */
static void put_number(struct elog_text *bytes, uint64_t number, bool negative)
{
	elog_text_put(bytes, negative ? "-" : "+", 1);
	elog_text_put(bytes, &number, sizeof(number));
}

static void put_bytes(struct elog_text *bytes, char kind, const void *data,
		      size_t size)
{
	elog_text_put(bytes, &kind, 1);
	elog_text_put(bytes, &size, sizeof(size));
	elog_text_put(bytes, data, size);
}

static void put_value(struct elog_text *bytes,
		      const struct elog_schema_field *field,
		      const struct elog_value *value)
{
	switch (field->type) {
	case ELOG_TYPE_CHARS:
	case ELOG_TYPE_STRING:
		put_bytes(bytes, 's', value->data, value->size);
		break;
	case ELOG_TYPE_OCTETS:
	case ELOG_TYPE_BYTES:
	case ELOG_TYPE_STRUCT:
	case ELOG_TYPE_IPV4:
	case ELOG_TYPE_IPV6:
	case ELOG_TYPE_MAC:
		put_bytes(bytes, 'b', value->data, value->size);
		break;
	default:
		put_number(bytes, value->integer, (int64_t)value->integer < 0 &&
			   (field->is_signed || field->type == ELOG_TYPE_SIGNED));
		break;
	}
}

/* Return: false if the event lacks it. */
static bool put_name(struct elog_text *bytes, struct latency_name *name,
		     const struct entry *entry, bool end)
{
	const struct elog_schema_field *field;
	struct elog_value value;
	uint64_t number = 0;

	if (name->property == LATENCY_FIELD) {
		field = find_value(name, entry, end, &value);
		if (field)
			put_value(bytes, field, &value);
		return field != NULL;
	}
	property_value(name->property, entry, &number);
	/* 0 means: no session, or an unknown thread. */
	if (name->property == LATENCY_CPU ? number == EVENTLOG_CPU_UNKNOWN : !number)
		return false;
	put_number(bytes, number, false);
	return true;
}

int latency_key_make(struct latency_key *key, const struct entry *entry, bool end,
		     struct elog_map_key *made)
{
	struct elog_text *bytes = &key->bytes;
	const char *boot, *provider;
	uint64_t number;
	size_t i;

	bytes->size = 0;
	/* Numbers and clocks of one boot mean nothing in another. */
	boot = entry->reader ? elog_reader_info(entry->reader, "boot_id") : NULL;
	if (boot)
		put_bytes(bytes, 's', boot, strlen(boot));
	if (key->by_provider) {
		provider = property_value(LATENCY_PROVIDER, entry, &number);
		put_bytes(bytes, 's', provider, strlen(provider));
	}
	for (i = 0; i < key->count; i++)
		if (!put_name(bytes, &key->names[i], entry, end))
			return 0;
	if (bytes->error)
		return bytes->error;
	*made = elog_map_bytes(bytes->data, bytes->size);
	return 1;
}

/* ------------------------------------------------------------------------
 * Values
 */

static void put_property(struct elog_text *text, enum latency_property property,
			 const struct entry *entry, enum output_format format)
{
	uint64_t number = 0;
	const char *word = property_value(property, entry, &number);

	if (word && format == FORMAT_JSON)
		elog_text_json_string(text, word, strlen(word));
	else if (word && property == LATENCY_COMM && format == FORMAT_TEXT)
		elog_text_quoted(text, word, strlen(word));
	else if (word)
		elog_text_string(text, word);
	else if (property == LATENCY_CPU && number == EVENTLOG_CPU_UNKNOWN)
		elog_text_string(text, format == FORMAT_JSON ? "null" : "-");
	else if (property == LATENCY_SESSION && format == FORMAT_JSON)
		elog_text_printf(text, "\"0x%" PRIx64 "\"", number);
	else
		elog_text_printf(text, property == LATENCY_SESSION ?
				 "0x%" PRIx64 : "%" PRIu64, number);
}

static void put_field(struct elog_text *text, struct latency_name *name,
		      const struct entry *entry, enum output_format format)
{
	const struct elog_schema_field *field;
	struct elog_value value;

	field = find_value(name, entry, true, &value);
	if (!field)
		elog_text_string(text, format == FORMAT_JSON ? "null" :
				 format == FORMAT_TEXT ? "-" : "");
	else if (format == FORMAT_JSON)
		elog_format_json_value(text, field, &value);
	else if (format == FORMAT_CSV && (field->type == ELOG_TYPE_CHARS ||
					  field->type == ELOG_TYPE_STRING))
		elog_text_put(text, value.data, value.size);
	else
		elog_format_value(text, field, &value);
}

char *latency_name_format(struct latency_name *name, const struct entry *entry,
			  enum output_format format, size_t *size)
{
	struct elog_text text = { 0 };

	if (name->property < LATENCY_FIELD)
		put_property(&text, name->property, entry, format);
	else
		put_field(&text, name, entry, format);
	if (text.error) {
		elog_text_free(&text);
		return NULL;
	}
	*size = text.size;
	/* An empty text has no data. */
	return text.data ? text.data : strdup("");
}

char *latency_key_format(struct latency_key *key, const struct entry *entry,
			 enum output_format format)
{
	bool json = format == FORMAT_JSON;
	struct elog_text text = { 0 };
	size_t size, i;
	char *value;

	for (i = 0; i < key->count; i++) {
		const char *name = key->names[i].name;

		value = latency_name_format(&key->names[i], entry, format, &size);
		if (!value)
			text.error = -ENOMEM;
		if (i)
			elog_text_put(&text, json ? "," : " ", 1);
		if (json)
			elog_text_json_string(&text, name, strlen(name));
		else
			elog_text_string(&text, name);
		elog_text_put(&text, json ? ":" : "=", 1);
		if (value && size > VALUE_BYTES_MAX)
			elog_text_string(&text, json ? "null" : "...");
		else
			elog_text_put(&text, value, value ? size : 0);
		free(value);
	}
	if (!text.error)
		return text.data;
	elog_text_free(&text);
	return NULL;
}
