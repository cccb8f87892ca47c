// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Filters of programs' markers: see marker_filter.h. Pure functions of their arguments.
 */
#include "elog_marker_names.h"
#include "producer/marker_filter.h"

int elog_marker_field_find(const void *of, const char *name, struct eventlog_operand *operand)
{
	const struct elog_marker_fields *fields = of;
	unsigned int i;

	for (i = 0; i < fields->count; i++) {
		if (strcmp(fields->names[i], name))
			continue;
		eventlog_operand_value(operand, elog_marker_field_types[fields->types[i]], i);
		return 0;
	}
	return -ENOENT;
}
