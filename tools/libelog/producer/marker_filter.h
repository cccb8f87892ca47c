/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Filters of programs' markers: the fields of a marker as the subject of a filter. For
 * signal handlers, too: see common/filter.h.
 */
#ifndef LIBELOG_MARKER_FILTER_H
#define LIBELOG_MARKER_FILTER_H

#include "common/filter.h"

/**
 * struct elog_marker_fields - the fields of the subject "a marker"
 * @types: enum elog_marker_type of each field
 * @names: of the fields
 * @count: of fields
 */
struct elog_marker_fields {
	const unsigned char *types;
	char *const *names;
	unsigned int count;
};

/** elog_marker_field_find() - &eventlog_subject.find of struct elog_marker_fields */
int elog_marker_field_find(const void *of, const char *name, struct eventlog_operand *operand);

#endif /* LIBELOG_MARKER_FILTER_H */
