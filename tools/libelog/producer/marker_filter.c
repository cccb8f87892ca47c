// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Filters of programs' markers: see marker_filter.h. Pure functions of their arguments.
 */
#include <errno.h>
#include <string.h>

#include "elog.h"
#include "elog_marker_names.h"
#include "format/types.h"
#include "producer/marker_filter.h"

/* Extend the low bytes of an integer; a string's address stays. */
static uint64_t extend(const struct elog_plain_type *plain, uint64_t value)
{
	unsigned int shift = 64 - 8 * plain->size;

	if (plain->type == ELOG_TYPE_STRING)
		return value;
	if (plain->type == ELOG_TYPE_SIGNED)
		return (uint64_t)((int64_t)(value << shift) >> shift);
	return value << shift >> shift;
}

int elog_marker_filter_field(const void *of, const char *name,
			     struct elog_filter_value *value)
{
	const struct elog_marker_values *marker = of;
	const struct elog_plain_type *plain;
	unsigned int i;

	for (i = 0; i < marker->count && strcmp(marker->names[i], name); i++)
		;
	if (i == marker->count)
		return -ENOENT;
	plain = &elog_plain_types[elog_marker_plain_types[marker->types[i]]];
	value->type = plain->type;
	value->is_signed = plain->type == ELOG_TYPE_SIGNED;
	value->integer = extend(plain, marker->values ? marker->values[i] : 0);
	if (plain->type != ELOG_TYPE_STRING)
		return 0;
	value->data = (const void *)(uintptr_t)value->integer;
	/* It is recorded like this, too. */
	if (!value->data)
		value->data = "(null)";
	value->size = strnlen(value->data, EVENTLOG_TERM_STRING_MAX);
	return 0;
}
