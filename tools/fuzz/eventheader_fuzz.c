// SPDX-License-Identifier: LGPL-2.1-only
/*
 * libFuzzer target: an eventheader record. Decoding succeeds whatever the record is. The
 * second decoding finds the same schema in the cache. Names of fields differ, unless they are
 * too long, and the JSON is valid.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "elog.h"
#include "util/map.h"
#include "util/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char definition[] =
	"eventlog 1\nprovider user_events\nevent 1 Shop_L4K1 info -\n\tu8 eventheader_flags\n"
	"\tu8 version\n\tu16 id\n\tu16 tag\n\tu8 opcode\n\tu8 level\n";

static void expect(bool holds)
{
	if (!holds)
		abort();
}

/* ------------------------------------------------------------------------
 * JSON
 */

static const char *skip_string(const char *at)
{
	unsigned int i;

	expect(*at++ == '"');
	for (; *at != '"'; at++) {
		expect((unsigned char)*at >= ' ');
		if (*at != '\\')
			continue;
		at++;
		expect(*at && strchr("\"\\/bfnrtu", *at));
		for (i = 0; *at == 'u' && i < 4; i++)
			expect(at[1 + i] && strchr("0123456789abcdef", at[1 + i]));
	}
	return at + 1;
}

static const char *skip_value(const char *at);

/* Elements up to @end, each with a name if @named. */
static const char *skip_list(const char *at, char end, bool named)
{
	if (*at == end)
		return at + 1;
	do {
		if (named) {
			at = skip_string(at);
			expect(*at++ == ':');
		}
		at = skip_value(at);
	} while (*at++ == ',');
	expect(at[-1] == end);
	return at;
}

static const char *skip_value(const char *at)
{
	static const char *const words[] = { "true", "false", "null" };
	char *end;
	size_t i;

	if (*at == '"')
		return skip_string(at);
	if (*at == '{' || *at == '[')
		return skip_list(at + 1, *at == '{' ? '}' : ']', *at == '{');
	for (i = 0; i < 3; i++)
		if (!strncmp(at, words[i], strlen(words[i])))
			return at + strlen(words[i]);
	expect(*at == '-' || (*at >= '0' && *at <= '9'));
	strtod(at, &end);
	return end;
}

/* ------------------------------------------------------------------------
 * Records
 */

static void check_names(const struct elog_schema_event *event)
{
	struct elog_map names, json_names;
	const char *name;
	size_t i;

	elog_map_init(&names, sizeof(uint64_t));
	elog_map_init(&json_names, sizeof(uint64_t));
	for (i = 0; i < event->field_count; i++) {
		name = event->fields[i]->name;
		expect(*name && strlen(name) < EVENTLOG_FIELD_NAME_MAX);
		if (strlen(name) + 8 < EVENTLOG_FIELD_NAME_MAX) {
			expect(!elog_map_find(&names, elog_map_name(name, 0)));
			expect(elog_map_insert(&names, elog_map_name(name, 0)));
		}
		name = event->fields[i]->json_name ? : name;
		expect(!elog_map_find(&json_names, elog_map_name(name, 0)));
		expect(elog_map_insert(&json_names, elog_map_name(name, 0)));
	}
	elog_map_free(&names);
	elog_map_free(&json_names);
}

static void format(const struct elog_eventheader_record *record, struct elog_text *text)
{
	/* A copy of the exact size, so that reads beyond it are detected. */
	char *payload = malloc(record->payload_size);

	expect(payload);
	memcpy(payload, record->payload, record->payload_size);
	text->size = 0;
	elog_format_fields(text, record->event, payload, record->payload_size);
	text->size = 0;
	elog_text_character(text, '{');
	elog_format_json_fields(text, record->event, payload, record->payload_size);
	elog_text_character(text, '}');
	expect(!text->error && skip_value(text->data) == text->data + text->size);
	free(payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elog_eventheader_record record, again;
	const struct elog_schema_event *event;
	struct elog_eventheader *decoder;
	struct elog_text text = { 0 };
	struct elog_schema *schema;

	expect(!elog_schema_parse(definition, sizeof(definition) - 1, &schema, NULL));
	expect(!elog_eventheader_open(&decoder));
	event = schema->providers[0]->events[0];
	expect(!elog_eventheader_decode(decoder, event, data, size, &record));
	check_names(record.event);
	format(&record, &text);
	expect(!elog_eventheader_decode(decoder, event, data, size, &again));
	expect(again.event == record.event && again.generation == record.generation);
	elog_text_free(&text);
	elog_eventheader_close(decoder);
	elog_schema_free(schema);
	return 0;
}
