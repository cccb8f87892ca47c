// SPDX-License-Identifier: GPL-2.0-only
/* Markers are compiled in. */
#include <linux/eventlog_marker.h>

static int count;

void one_marker(void);
void one_marker(void)
{
	eventlog_marker(here, EVENTLOG_MARKER_TRACE, FIELD(auto, ++count), FIELD(string, "text"),
			FIELD(u64, 17));
}

int marker_before(int value, const char *text);
int marker_before(int value, const char *text)
{
	eventlog_marker(here, EVENTLOG_MARKER_TRACE, FIELD(auto, value), FIELD(string, text),
			FIELD(u64, 17));
	return value + 1;
}

MODULE_LICENSE("GPL");
