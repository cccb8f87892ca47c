// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tables of names: types of fields, levels, causes of loss. They are constant; any
 * thread may use them.
 */
#include <string.h>

#include "elog.h"
#include "format/types.h"
#include "util/util.h"

const struct elog_plain_type elog_plain_types[ELOG_PLAIN_TYPES] = {
	[ELOG_PLAIN_U8] = { "u8", ELOG_TYPE_UNSIGNED, 1, false },
	[ELOG_PLAIN_U16] = { "u16", ELOG_TYPE_UNSIGNED, 2, false },
	[ELOG_PLAIN_U32] = { "u32", ELOG_TYPE_UNSIGNED, 4, false },
	[ELOG_PLAIN_U64] = { "u64", ELOG_TYPE_UNSIGNED, 8, false },
	[ELOG_PLAIN_S8] = { "s8", ELOG_TYPE_SIGNED, 1, false },
	[ELOG_PLAIN_S16] = { "s16", ELOG_TYPE_SIGNED, 2, false },
	[ELOG_PLAIN_S32] = { "s32", ELOG_TYPE_SIGNED, 4, false },
	[ELOG_PLAIN_S64] = { "s64", ELOG_TYPE_SIGNED, 8, false },
	[ELOG_PLAIN_BOOL] = { "bool", ELOG_TYPE_BOOL, 1, false },
	[ELOG_PLAIN_STRING] = { "string", ELOG_TYPE_STRING, 4, false },
	[ELOG_PLAIN_STRING_REL] = { "string:rel", ELOG_TYPE_STRING, 4, true },
	[ELOG_PLAIN_BYTES] = { "bytes", ELOG_TYPE_BYTES, 4, false },
	[ELOG_PLAIN_BYTES_REL] = { "bytes:rel", ELOG_TYPE_BYTES, 4, true },
	[ELOG_PLAIN_IPV4] = { "ipv4", ELOG_TYPE_IPV4, 4, false },
	[ELOG_PLAIN_IPV6] = { "ipv6", ELOG_TYPE_IPV6, 16, false },
	[ELOG_PLAIN_PORT] = { "port", ELOG_TYPE_PORT, 2, false },
	[ELOG_PLAIN_MAC] = { "mac", ELOG_TYPE_MAC, 6, false },
	[ELOG_PLAIN_TIME] = { "time", ELOG_TYPE_TIME, 8, false },
	[ELOG_PLAIN_DURATION] = { "duration", ELOG_TYPE_DURATION, 8, false },
	[ELOG_PLAIN_PTR] = { "ptr", ELOG_TYPE_PTR, 8, false },
};

const struct elog_plain_type *elog_plain_type_find(const char *name)
{
	size_t i;

	/* Two characters tell most of them apart; no name is shorter. */
	for (i = 0; *name && i < ELOG_ARRAY_SIZE(elog_plain_types); i++)
		if (elog_plain_types[i].name[0] == name[0] &&
		    elog_plain_types[i].name[1] == name[1] &&
		    !strcmp(elog_plain_types[i].name, name))
			return &elog_plain_types[i];
	return NULL;
}

static const char *const level_names[] = {
	[EVENTLOG_LEVEL_CRITICAL] = "critical",
	[EVENTLOG_LEVEL_ERROR] = "error",
	[EVENTLOG_LEVEL_WARNING] = "warning",
	[EVENTLOG_LEVEL_NOTICE] = "notice",
	[EVENTLOG_LEVEL_INFO] = "info",
	[EVENTLOG_LEVEL_DEBUG] = "debug",
	[EVENTLOG_LEVEL_VERBOSE] = "verbose",
};

const char *elog_level_name(unsigned int level)
{
	if (level > EVENTLOG_LEVEL_VERBOSE)
		return NULL;
	return level_names[level];
}

unsigned int elog_level_parse(const char *name)
{
	unsigned int level;

	for (level = EVENTLOG_LEVEL_CRITICAL; level <= EVENTLOG_LEVEL_VERBOSE; level++)
		if (!strcmp(level_names[level], name))
			return level;
	return !strcmp(name, "warn") ? EVENTLOG_LEVEL_WARNING : 0;
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
	[ELOG_LOST_NOT_WRITTEN] = "not written",
	[ELOG_LOST_REMOVED] = "removed",
};

const char *elog_lost_name(unsigned int cause)
{
	return cause <= ELOG_LOST_REMOVED ? lost_names[cause] : NULL;
}
