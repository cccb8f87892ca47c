// SPDX-License-Identifier: GPL-2.0-only
/* Markers are compiled in because of the next line. */
#define EVENTLOG_ENABLE_LOCAL_MARKERS
#include <linux/eventlog_marker.h>

int forced(int value);
int forced(int value)
{
	eventlog_marker(here, 0, FIELD(auto, value), FIELD(auto, "text"), FIELD(auto, &value),
			FIELD(u8, 3), FIELD(u8, 4), FIELD(u8, 5), FIELD(u8, 6), FIELD(u8, 7),
			FIELD(u8, 8), FIELD(u8, 9), FIELD(u8, 10), FIELD(u8, 11), FIELD(u8, 12),
			FIELD(u8, 13), FIELD(u8, 14), FIELD(u8, 15));
	return value;
}
