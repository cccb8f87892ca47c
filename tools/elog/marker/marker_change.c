// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes of handlers: see marker_change.h.
 */
#include <errno.h>

#include "libelog/util/port.h"
#include "marker/marker.h"
#include "marker/marker_change.h"
#include "marker/marker_filter.h"

/* Find the marker that has the number, in the order of the list. */
static int find_numbered(int fd, const struct marker_change *change, uint32_t *descriptor)
{
	char *const patterns[] = { change->pattern };
	const struct marker_choice choice = {
		.module = change->owner, .patterns = patterns, .pattern_count = 1,
	};
	struct marker_list list = { 0 };
	uint32_t number = 0;
	size_t i;
	int ret;

	ret = markers_read(fd, &list);
	for (i = 0; i < list.count && !ret && number < change->number; i++) {
		number += marker_is_chosen(&choice, &list.markers[i]);
		*descriptor = list.markers[i].next.descriptor;
	}
	markers_free(&list);
	return ret || number == change->number ? ret : -ENOENT;
}

int marker_change_apply(int fd, const struct marker_change *change, struct marker_counts *counts)
{
	struct eventlog_marker_set request = {
		.size = sizeof(request),
		.flags = change->of_program ? EVENTLOG_MARKER_SET_PROGRAMS : 0,
		.owner = (uintptr_t)change->owner,
		.marker = (uintptr_t)change->pattern,
		.handlers = change->handlers,
		.operation = change->operation,
		.filter = marker_filter_pointer(change->predicate),
	};
	int ret = 0;

	if (change->number && !change->of_program)
		ret = find_numbered(fd, change, &request.descriptor);
	if (ret)
		return ret;
	ret = elog_port_call(fd, EVENTLOG_IOC_MARKER_SET, &request);
	if (ret)
		return ret;
	counts->matched += request.matched;
	counts->changed += request.changed;
	counts->denied += request.denied;
	counts->incompatible += request.incompatible;
	return 0;
}
