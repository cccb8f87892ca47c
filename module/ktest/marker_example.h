/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations shared by the files of the example of markers.
 */
#ifndef EVENTLOG_MARKER_EXAMPLE_H
#define EVENTLOG_MARKER_EXAMPLE_H

#include <linux/eventlog_marker.h>

/* An order for cups of tea. */
struct marker_example_order {
	const char *guest;
	unsigned int number;
	u8 cups;
	bool milk;
	s16 celsius;
	u64 ordered_at;
};

/* An inline function in several files: eventlog registers one marker for all copies. */
static inline void marker_example_pour(const struct marker_example_order *order)
{
	eventlog_marker(pour, EVENTLOG_MARKER_TRACE, FIELD(auto, order->number),
			FIELD(auto, order->cups));
}

void marker_example_forced(unsigned int number);
void marker_example_overridden(unsigned int number);

/* The value that the override function was called with last. */
extern unsigned int marker_example_seen;

#endif /* EVENTLOG_MARKER_EXAMPLE_H */
