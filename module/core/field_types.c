// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of field types: see field_types.h.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "core/field_types.h"

#define EVENTLOG_NUMBER_TYPE(index, schema, size, trace, ...) \
	[index] = { .name = schema, .trace_name = trace, .kind = EVENTLOG_KIND_NUMBER, \
		    .bytes = size, ##__VA_ARGS__ }
#define EVENTLOG_OTHER_TYPE(index, schema, size, trace, how) \
	[index] = { .name = schema, .trace_name = trace, .kind = how, .bytes = size }

const struct eventlog_field_type eventlog_field_types[EVENTLOG_FIELD_TYPES] = {
	EVENTLOG_NUMBER_TYPE(EVENTLOG_MARKER_U8, "u8", 1, "u8", .c_name = "unsigned char"),
	EVENTLOG_NUMBER_TYPE(EVENTLOG_MARKER_U16, "u16", 2, "u16", .c_name = "unsigned short"),
	EVENTLOG_NUMBER_TYPE(EVENTLOG_MARKER_U32, "u32", 4, "u32", .c_name = "unsigned int"),
	EVENTLOG_NUMBER_TYPE(EVENTLOG_MARKER_U64, "u64", 8, "u64"),
	EVENTLOG_NUMBER_TYPE(EVENTLOG_MARKER_S8, "s8", 1, "s8", .c_name = "char",
			     .is_signed = true),
	EVENTLOG_NUMBER_TYPE(EVENTLOG_MARKER_S16, "s16", 2, "s16", .c_name = "short",
			     .is_signed = true),
	EVENTLOG_NUMBER_TYPE(EVENTLOG_MARKER_S32, "s32", 4, "s32", .c_name = "int",
			     .is_signed = true),
	EVENTLOG_NUMBER_TYPE(EVENTLOG_MARKER_S64, "s64", 8, "s64", .is_signed = true),
	EVENTLOG_NUMBER_TYPE(EVENTLOG_MARKER_BOOL, "bool", 1, "bool"),
	EVENTLOG_NUMBER_TYPE(EVENTLOG_MARKER_PTR, "ptr", 8, "u64", .hex = true),
	EVENTLOG_NUMBER_TYPE(EVENTLOG_MARKER_TIME, "time", 8, "u64"),
	EVENTLOG_NUMBER_TYPE(EVENTLOG_MARKER_DURATION, "duration", 8, "u64"),
	EVENTLOG_OTHER_TYPE(EVENTLOG_MARKER_IPV4, "ipv4", 4, "u8[4]", EVENTLOG_KIND_IPV4),
	EVENTLOG_OTHER_TYPE(EVENTLOG_MARKER_PORT, "port", 2, "u16", EVENTLOG_KIND_PORT),
	EVENTLOG_OTHER_TYPE(EVENTLOG_MARKER_STRING, "string", 4, "__data_loc char[]",
			    EVENTLOG_KIND_STRING),
	EVENTLOG_OTHER_TYPE(EVENTLOG_TYPE_IPV6, "ipv6", 16, "u8[16]", EVENTLOG_KIND_IPV6),
	EVENTLOG_OTHER_TYPE(EVENTLOG_TYPE_MAC, "mac", 6, "u8[6]", EVENTLOG_KIND_MAC),
	EVENTLOG_OTHER_TYPE(EVENTLOG_TYPE_BYTES, "bytes", 4, "__data_loc u8[]",
			    EVENTLOG_KIND_BYTES),
	EVENTLOG_OTHER_TYPE(EVENTLOG_TYPE_STRING_REL, "string:rel", 4, "__rel_loc char[]",
			    EVENTLOG_KIND_STRING_REL),
	EVENTLOG_OTHER_TYPE(EVENTLOG_TYPE_BYTES_REL, "bytes:rel", 4, "__rel_loc u8[]",
			    EVENTLOG_KIND_BYTES_REL),
};

unsigned int eventlog_field_type_find(const char *name, size_t length)
{
	unsigned int i;

	for (i = 1; i < ARRAY_SIZE(eventlog_field_types); i++)
		if (strlen(eventlog_field_types[i].name) == length &&
		    !memcmp(eventlog_field_types[i].name, name, length))
			return i;
	return 0;
}

notrace u64 eventlog_field_value(u8 type, u64 value)
{
	const struct eventlog_field_type *field_type = &eventlog_field_types[type];

	if (type == EVENTLOG_MARKER_STRING)
		return value;
	switch (field_type->bytes) {
	case 1:
		return field_type->is_signed ? (u64)(s8)value : (u8)value;
	case 2:
		return field_type->is_signed ? (u64)(s16)value : (u16)value;
	case 4:
		return field_type->is_signed ? (u64)(s32)value : (u32)value;
	default:
		return value;
	}
}
