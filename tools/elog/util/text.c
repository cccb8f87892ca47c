// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text and JSON that several verbs print: see tool.h.
 */
#include <stdio.h>
#include <string.h>

#include "util/tool.h"

uint64_t put_causes(const uint64_t *lost, struct elog_text *text)
{
	const char *between = ": ", *name;
	unsigned int cause;
	uint64_t sum = 0;

	for (cause = 0; cause < EVENTLOG_LOST_CAUSES; cause++) {
		if (!lost[cause])
			continue;
		sum += lost[cause];
		name = elog_lost_name(cause);
		elog_text_string(text, between);
		between = ", ";
		if (name)
			elog_text_string(text, name);
		else
			elog_text_printf(text, "cause %u", cause);
		elog_text_put(text, " ", 1);
		elog_text_unsigned(text, lost[cause], 1, ' ');
	}
	return sum;
}

void json_member(struct elog_text *text, const char *name, const char *value)
{
	elog_text_printf(text, "\"%s\":", name);
	elog_text_json_string(text, value, strlen(value));
}

void json_causes(const uint64_t *lost, struct elog_text *text)
{
	const char *between = "", *name;
	unsigned int cause;
	char number[16];

	elog_text_put(text, "{", 1);
	for (cause = 0; cause < EVENTLOG_LOST_CAUSES; cause++) {
		if (!lost[cause])
			continue;
		name = elog_lost_name(cause);
		if (!name) {
			snprintf(number, sizeof(number), "cause %u", cause);
			name = number;
		}
		elog_text_string(text, between);
		elog_text_json_string(text, name, strlen(name));
		elog_text_put(text, ":", 1);
		elog_text_unsigned(text, lost[cause], 1, ' ');
		between = ",";
	}
	elog_text_put(text, "}", 1);
}
