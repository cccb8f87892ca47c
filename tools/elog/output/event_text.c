// SPDX-License-Identifier: GPL-2.0-only
/*
 * The name and the fields of an event: see event_text.h.
 */
#include <string.h>

#include "output/event_text.h"

#define JSON_MAX	4096

void put_event_name(struct elog_text *text, const struct elog_schema_event *event)
{
	put_quotable(text, event->provider->name);
	elog_text_string(text, "/");
	put_quotable(text, event->name);
}

void put_event_fields(struct elog_text *text, const struct entry *entry)
{
	const struct elog_schema_event *event = entry->cached->event;
	const struct elog_item *item = &entry->item;
	const size_t begin = text->size;
	size_t end = begin + EVENT_TEXT_MAX;

	if (event) {
		elog_format_fields(text, event, item->payload, item->payload_size);
	} else {
		elog_text_string(text, "payload=");
		elog_text_quoted(text, item->payload, item->payload_size);
	}
	if (text->error || text->size <= end)
		return;
	/* Between characters of UTF-8. */
	while (end > begin && (text->data[end] & 0xc0) == 0x80)
		end--;
	text->size = end;
	elog_text_string(text, "\u2026");
}

void put_event_json(struct elog_text *text, const struct entry *entry)
{
	const struct elog_schema_event *event = entry->cached->event;
	const struct elog_item *item = &entry->item;
	size_t begin;

	elog_text_string(text, "\"event\":");
	elog_text_json_string(text, event->name, strlen(event->name));
	elog_text_string(text, ",\"fields\":");
	begin = text->size;
	elog_text_string(text, "{");
	elog_format_json_fields(text, event, item->payload, item->payload_size);
	elog_text_string(text, "}");
	if (text->error || text->size - begin <= JSON_MAX)
		return;
	text->size = begin;
	elog_text_string(text, "null");
}
