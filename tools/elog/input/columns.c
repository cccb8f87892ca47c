// SPDX-License-Identifier: GPL-2.0-only
/*
 * The properties that all events have: see columns.h.
 */
#include "input/columns.h"
#include "util/nearest.h"

const char *const column_names[COLUMNS] = {
	[COLUMN_TIME] = "time", [COLUMN_CPU] = "cpu", [COLUMN_PID] = "pid",
	[COLUMN_TID] = "tid", [COLUMN_COMM] = "comm",
	[COLUMN_PROVIDER] = "provider", [COLUMN_SESSION] = "session",
	[COLUMN_EVENT] = "event", [COLUMN_LEVEL] = "level",
	[COLUMN_KEYWORDS] = "keywords", [COLUMN_INSTANCE] = "instance",
	[COLUMN_RECORD_FLAGS] = "record_flags", [COLUMN_HOST] = "host",
	[COLUMN_FIELDS] = "fields", [COLUMN_MONO] = "mono", [COLUMN_SPAN] = "span",
	[COLUMN_DURATION] = "duration", [COLUMN_MACHINE_ID] = "machine_id",
	[COLUMN_BOOT_ID] = "boot_id",
};

enum column column_find(const char *name)
{
	int found = choice_find(column_names, COLUMN_FIELD, name);

	return found < 0 ? COLUMN_FIELD : (enum column)found;
}
