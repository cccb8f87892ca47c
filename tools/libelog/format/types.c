// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Names of levels and of causes of loss. They are constant; any
 * thread may use them.
 */
#include <string.h>

#include "common/word.h"
#include "elog.h"

const char *elog_level_name(unsigned int level)
{
	if (level > EVENTLOG_LEVEL_VERBOSE)
		return NULL;
	return eventlog_level_names[level];
}

unsigned int elog_level_parse(const char *name)
{
	const unsigned int level = eventlog_level_find(name);

	return !level && !strcmp(name, "warn") ? EVENTLOG_LEVEL_WARNING : level;
}

static const char *const lost_names[] = {
	[EVENTLOG_LOST_NO_ROOM] = "no room",
	[EVENTLOG_LOST_GUARD] = "guard",
	[EVENTLOG_LOST_NESTED] = "nested",
	[EVENTLOG_LOST_DEPTH] = "depth",
	[EVENTLOG_LOST_TOO_LARGE] = "too large",
	[EVENTLOG_LOST_ABORTED] = "aborted",
	[EVENTLOG_LOST_NO_MEMORY] = "no memory",
	[EVENTLOG_LOST_PAUSED] = "paused",
	[EVENTLOG_LOST_AWAY] = "away",
	[EVENTLOG_LOST_QUOTA] = "quota",
	[EVENTLOG_LOST_LATE] = "late",
	[EVENTLOG_LOST_UNMAPPED] = "unmapped",
	[ELOG_LOST_NOT_WRITTEN] = "not written",
	[ELOG_LOST_REMOVED] = "removed",
};

const char *elog_lost_name(unsigned int cause)
{
	return cause <= ELOG_LOST_REMOVED ? lost_names[cause] : NULL;
}
