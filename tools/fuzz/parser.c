// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers events as the module does, without its tables of events: see parser.h.  Compiled
 * with kernel.h, as are the files of module/core that it calls.
 */
#include <linux/eventlog.h>

#include "core/fields.h"
#include "core/schema.h"
#include "core/tables.h"
#include "core/text.h"
#include "memory.h"
#include "parser.h"

void *eventlog_alloc(size_t bytes)
{
	return calloc(1, bytes ? bytes : 1);
}

void *eventlog_alloc_locked(size_t bytes)
{
	return eventlog_alloc(bytes);
}

void eventlog_free(const void *memory)
{
	free((void *)(uintptr_t)memory);
}

static char *finish(struct eventlog_fields *fields, const struct eventlog_event *event,
		    const void *payload, size_t bytes, bool *accepted)
{
	char *listing;
	u32 size;

	listing = eventlog_schema_text(event, &size);
	if (listing && size != strlen(listing) + 1)
		abort();
	*accepted = !eventlog_layout_validate(fields->layout, payload, bytes);
	eventlog_fields_free(fields);
	return listing;
}

char *parser_schema(const char *text, const void *payload, size_t bytes, bool *accepted)
{
	struct eventlog_fields fields;
	const struct eventlog_tables *tables;
	struct eventlog_event event;

	if (strlen(text) >= EVENTLOG_SCHEMA_MAX || eventlog_tables_parse(text, &fields))
		return NULL;
	tables = fields.tables;
	event = (struct eventlog_event){
		.provider = &tables->provider,
		.name = fields.name,
		.fields_text = fields.text,
		.preamble = tables->preamble,
		.id = tables->event.id,
		.level = tables->event.level,
		.keywords = tables->event.keywords,
	};
	return finish(&fields, &event, payload, bytes, accepted);
}

char *parser_command(char *command, const void *payload, size_t bytes, bool *accepted)
{
	static const struct eventlog_provider provider = { .name = EVENTLOG_DEFAULT_PROVIDER };
	struct eventlog_fields fields;
	struct eventlog_event event;

	if (strlen(command) >= EVENTLOG_COMMAND_MAX ||
	    eventlog_fields_parse(command, true, &fields))
		return NULL;
	event = (struct eventlog_event){
		.provider = &provider,
		.name = fields.name,
		.fields_text = fields.text,
		.id = 1,
		.level = EVENTLOG_LEVEL_INFO,
		.keywords = 1,
	};
	return finish(&fields, &event, payload, bytes, accepted);
}
