// SPDX-License-Identifier: GPL-2.0-only
/*
 * The example of markers: a file that overrides the handlers of its markers with a
 * function of its own.
 */
#include "marker_example.h"

unsigned int marker_example_seen;

static void see(const struct eventlog_marker *marker, const u64 *values)
{
	marker_example_seen = eventlog_marker_value(marker, values, 0);
}

EVENTLOG_LOCAL_MARKERS_HANDLER(see);

void marker_example_overridden(unsigned int number)
{
	eventlog_marker(overridden, EVENTLOG_MARKER_TRACE, FIELD(u32, number));
}
