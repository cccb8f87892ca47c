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
	name->nearest.sought = text;
}

void latency_name_see(struct latency_name *name, const struct elog_schema_event *event,
		      bool end)
{
	size_t i;

	if (name->property != LATENCY_FIELD)
		return;
	name->sought[end] = true;
	if (find_field(event, name->name)) {
		name->found[end] = true;
		return;
	}
	for (i = 0; i < event->field_count; i++)
		nearest_offer(&name->nearest, event->fields[i]->name);
	for (i = 0; i <= LATENCY_CPU; i++)
		nearest_offer(&name->nearest, property_names[i]);
}

void latency_name_close(struct latency_name *name)
{
	nearest_free(&name->nearest);
}

/* Return: the field, and its value; NULL: the event has none that can be read. */
static const struct elog_schema_field *
find_value(const struct latency_name *name, const struct entry *entry,
	   struct elog_value *value)
{
	const struct elog_schema_field *field;

	field = find_field(entry->cached->event, name->name);
	if (!field || elog_decode(field, entry->item.payload, entry->item.payload_size, value))
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
	size_t i;

	for (i = 0; i < key->count; i++)
		latency_name_close(&key->names[i]);
	elog_text_free(&key->bytes);
	free(key->words);
	free(key->copy);
}

/* A part of a key: a number, or bytes. */
struct part {
	char kind;		/* '+' or '-' a number with this sign; 's', 'b' bytes */
	uint64_t number;	/* or the number of bytes */
	const void *data;
};

static struct part number_part(uint64_t number, bool negative)
{
	return (struct part){ .kind = negative ? '-' : '+', .number = number };
}

static struct part bytes_part(char kind, const void *data, size_t size)
{
	return (struct part){ .kind = kind, .number = size, .data = data };
}

/* Equal values have equal bytes, whatever the size of their types; others differ. */
static void put_part(struct elog_text *bytes, struct part part)
{
	elog_text_put(bytes, &part.kind, 1);
	elog_text_put(bytes, &part.number, sizeof(part.number));
	if (part.data)
		elog_text_put(bytes, part.data, (size_t)part.number);
}

static struct part value_part(const struct elog_schema_field *field,
			      const struct elog_value *value)
{
	switch (field->type) {
	case ELOG_TYPE_CHARS:
	case ELOG_TYPE_STRING:
	case ELOG_TYPE_ARRAY:
		return bytes_part('s', value->data, value->size);
	case ELOG_TYPE_OCTETS:
	case ELOG_TYPE_BYTES:
	case ELOG_TYPE_STRUCT:
	case ELOG_TYPE_IPV4:
	case ELOG_TYPE_IPV6:
	case ELOG_TYPE_MAC:
		return bytes_part('b', value->data, value->size);
	default:
		return number_part(value->integer, (int64_t)value->integer < 0 &&
				   (field->is_signed || field->type == ELOG_TYPE_SIGNED));
	}
}

/* Return: false if the event lacks it. */
static bool find_part(const struct latency_name *name, const struct entry *entry,
		      struct part *part)
{
	const struct elog_schema_field *field;
	struct elog_value value;
	uint64_t number = 0;

	if (name->property == LATENCY_FIELD) {
		field = find_value(name, entry, &value);
		if (field)
			*part = value_part(field, &value);
		return field != NULL;
	}
	property_value(name->property, entry, &number);
	/* 0 means: no session, or an unknown thread. */
	if (name->property == LATENCY_CPU ? number == EVENTLOG_CPU_UNKNOWN : !number)
		return false;
	/* Another process may use the number of a thread again. */
	if (name->property == LATENCY_TID)
		number |= (uint64_t)entry->item.pid << 32;
	*part = number_part(number, false);
	return true;
}

/*
 * Numbers and clocks of one boot mean nothing in another, nor sessions of one instance. The events
 * of a cached definition are of one boot, one instance and one provider.
 */
static int make_scope(struct latency_key *key, const struct entry *entry, const char *provider,
		      uint64_t *scope)
{
	struct elog_text *bytes = &key->bytes;
	const char *boot;

	bytes->size = 0;
	boot = entry->reader ? elog_reader_info(entry->reader, "boot_id") : NULL;
	if (boot)
		put_part(bytes, bytes_part('s', boot, strlen(boot)));
	if (entry->item.instance)
		put_part(bytes, bytes_part('i', entry->item.instance,
					   strlen(entry->item.instance)));
	if (key->by_provider)
		put_part(bytes, bytes_part('s', provider, strlen(provider)));
	*scope = elog_map_bytes(bytes->data, bytes->size).words[0];
	return bytes->error;
}

int latency_key_make(struct latency_key *key, const struct entry *entry,
		     struct elog_map_key *made)
{
	struct elog_text *bytes = &key->bytes;
	uint64_t *scope = &entry->cached->row_serial, number;
	struct part part;
	size_t i;
	int ret;

	if (!*scope) {
		ret = make_scope(key, entry, property_value(LATENCY_PROVIDER, entry, &number),
				 scope);
		if (ret)
			return ret;
	}
	if (!find_part(key->names, entry, &part))
		return 0;
	/* The most frequent keys need no bytes: one number, for example a session. */
	if (key->count == 1 && part.kind == '+') {
		*made = elog_map_pair(*scope, part.number);
		return 1;
	}
	bytes->size = 0;
	put_part(bytes, number_part(*scope, false));
	put_part(bytes, part);
	for (i = 1; i < key->count; i++) {
		if (!find_part(&key->names[i], entry, &part))
			return 0;
		put_part(bytes, part);
	}
	if (bytes->error)
		return bytes->error;
	*made = elog_map_bytes(bytes->data, bytes->size);
	return 1;
}

int latency_key_session(struct latency_key *key, const struct entry *entry, const char *provider,
			uint64_t session, struct elog_map_key *made)
{
	uint64_t scope;
	int ret = make_scope(key, entry, provider, &scope);

	*made = elog_map_pair(scope, session);
	return ret;
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

	field = find_value(name, entry, &value);
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
