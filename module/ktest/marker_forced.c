// SPDX-License-Identifier: GPL-2.0-only
/*
 * The example of markers: a file whose markers are compiled in and switched on
 * regardless of how the module is built.
 */
#undef EVENTLOG_MARKERS
#define EVENTLOG_ENABLE_LOCAL_MARKERS
#include "marker_example.h"

void marker_example_forced(unsigned int number)
{
	struct marker_example_order order = { .number = number };

	eventlog_marker(forced, 0, FIELD(auto, number));
	marker_example_pour(&order);
}
