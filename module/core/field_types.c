// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of field types: see field_types.h.
 */
#include <linux/ctype.h>
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

/* Parses a decimal number that is followed by @end and nothing else. */
static bool eventlog_shape_size(const char *digits, const char *end, char last, u32 *bytes)
{
	*bytes = 0;
	for (; digits < end && isdigit(*digits) && *bytes <= EVENTLOG_PAYLOAD_MAX; digits++)
		*bytes = *bytes * 10 + *digits - '0';
	return last ? digits + 1 == end && *digits == last : digits == end;
}

static bool eventlog_starts(const char *type, size_t length, const char *prefix)
{
	return length > strlen(prefix) && !memcmp(type, prefix, strlen(prefix));
}

static bool eventlog_shape_plain(const char *type, size_t length,
				 struct eventlog_field_shape *shape)
{
	const struct eventlog_field_type *plain;

	shape->type = eventlog_field_type_find(type, length);
	plain = &eventlog_field_types[shape->type];
	shape->kind = plain->kind;
	shape->bytes = plain->bytes;
	shape->is_signed = plain->is_signed;
	return shape->type;
}

bool eventlog_field_shape_parse(const char *type, size_t length,
				struct eventlog_field_shape *shape)
{
	const char *end = type + length, *first, *second;

	memset(shape, 0, sizeof(*shape));
	if (eventlog_shape_plain(type, length, shape))
		return true;
	if (eventlog_starts(type, length, "char[")) {
		shape->kind = EVENTLOG_KIND_CHARS;
		return eventlog_shape_size(type + 5, end, ']', &shape->bytes);
	}
	if (eventlog_starts(type, length, "u8[")) {
		shape->kind = EVENTLOG_KIND_ARRAY;
		return eventlog_shape_size(type + 3, end, ']', &shape->bytes);
	}
	first = memchr(type, ':', length);
	second = first ? memchr(first + 1, ':', end - first - 1) : NULL;
	if (!second)
		return false;
	if (eventlog_starts(type, length, "struct:")) {
		shape->kind = EVENTLOG_KIND_STRUCT;
		return eventlog_shape_size(second + 1, end, '\0', &shape->bytes);
	}
	if (!eventlog_shape_plain(second + 1, end - second - 1, shape))
		return false;
	shape->kind = eventlog_starts(type, length, "enum:") ? EVENTLOG_KIND_ENUM :
							       EVENTLOG_KIND_FLAGS;
	shape->set = first + 1;
	shape->set_bytes = second - first - 1;
	return true;
}

const char *eventlog_field_line_next(const char *text, struct eventlog_field_line *line)
{
	const char *end;

	/* A kernel provider's text begins with the statement, and may have other lines. */
	for (; *text != '\t'; text = end + 1) {
		end = strchrnul(text, '\n');
		if (!*end)
			return NULL;
	}
	line->type = text + 1;
	line->type_length = strcspn(line->type, " \n");
	line->name = line->type + line->type_length;
	line->name += *line->name == ' ';
	line->name_length = strcspn(line->name, " \n");
	end = strchrnul(line->name, '\n');
	return *end ? end + 1 : end;
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
