/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Filters of programs' markers: the values of a marker as the subject of a filter. For
 * signal handlers, too: see format/filter.h.
 */
#ifndef LIBELOG_MARKER_FILTER_H
#define LIBELOG_MARKER_FILTER_H

#include "format/filter.h"

/**
 * struct elog_marker_values - the fields of the subject "a marker that fires"
 * @types: enum elog_marker_type of each field
 * @names: of the fields
 * @values: as they were passed to the marker, not yet extended; strings as addresses;
 *	NULL for elog_filter_fits()
 * @count: of fields
 *
 * The caller provides &elog_filter_subject.common.
 */
struct elog_marker_values {
	const unsigned char *types;
	char *const *names;
	const uint64_t *values;
	unsigned int count;
};

/** elog_marker_filter_field() - &elog_filter_subject.field of struct elog_marker_values */
int elog_marker_filter_field(const void *of, const char *name,
			     struct elog_filter_value *value);

#endif /* LIBELOG_MARKER_FILTER_H */
