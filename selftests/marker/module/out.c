// SPDX-License-Identifier: GPL-2.0-only
/* Markers are compiled out; a variable that only they use still counts as used. */
#include <linux/eventlog_marker.h>

int compiled_out(int value);
int compiled_out(int value)
{
	int only_marked = value + 1;

	eventlog_marker(here, EVENTLOG_MARKER_TRACE, FIELD(auto, value), FIELD(s32, only_marked));
	eventlog_marker(there, 0);
	return value;
}
