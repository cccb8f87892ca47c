/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The example of markers: what its files share.
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

/* Compiled into every file that includes it; it is one marker all the same. */
static inline void marker_example_pour(const struct marker_example_order *order)
{
	eventlog_marker(pour, EVENTLOG_MARKER_TRACE, FIELD(auto, order->number),
			FIELD(auto, order->cups));
}

/* Files of the example that say more than the others. */
void marker_example_forced(unsigned int number);
void marker_example_redirected(unsigned int number);

/* What the redirected one's function has been given. */
extern unsigned int marker_example_seen;

#endif /* EVENTLOG_MARKER_EXAMPLE_H */
