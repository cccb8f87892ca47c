// SPDX-License-Identifier: GPL-2.0-only
/*
 * Schema text: see schema.h.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "event.h"
#include "memory.h"
#include "schema.h"

/* Bytes of everything but names and fields: two headings, numbers, a level, a mask. */
#define EVENTLOG_SCHEMA_FRAME 96

static const char *const eventlog_level_names[] = {
	[EVENTLOG_LEVEL_ERROR] = "error",
	[EVENTLOG_LEVEL_WARNING] = "warning",
	[EVENTLOG_LEVEL_NOTICE] = "notice",
	[EVENTLOG_LEVEL_INFO] = "info",
	[EVENTLOG_LEVEL_DEBUG] = "debug",
	[EVENTLOG_LEVEL_VERBOSE] = "verbose",
};

char *eventlog_schema_text(const struct eventlog_event *event, u32 *bytes)
{
	size_t room = strlen(event->fields_text) + 2 * EVENTLOG_NAME_MAX + EVENTLOG_SCHEMA_FRAME;
	char keywords[sizeof("0x") + 16] = "-";
	char *text = eventlog_alloc(room);

	if (!text)
		return NULL;
	if (event->keywords)
		snprintf(keywords, sizeof(keywords), "%#llx", event->keywords);
	*bytes = 1 + scnprintf(text, room, "eventlog 1\nprovider %s\nevent %u %s %s %s\n%s",
			       event->provider->name, event->id, event->name,
			       eventlog_level_names[event->level], keywords, event->fields_text);
	return text;
}
