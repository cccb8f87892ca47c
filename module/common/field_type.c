// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-only
/*
 * The types of fields: see field_type.h.
 */
#include "common/field_type.h"
#include "common/word.h"

#define EVENTLOG_FIELD_TYPE(index, schema, how, size, trace, ...) \
	[index] = { .name = schema, .name_bytes = sizeof(schema) - 1, .kind = how, \
		    .bytes = size, .trace_name = trace, ##__VA_ARGS__ }
#define EVENTLOG_INTEGER(index, schema, how, size, ...) \
	EVENTLOG_FIELD_TYPE(index, schema, how, size, schema, ##__VA_ARGS__)

const struct eventlog_field_type eventlog_field_types[EVENTLOG_FIELD_TYPES] = {
	EVENTLOG_INTEGER(EVENTLOG_TYPE_U8, "u8", EVENTLOG_KIND_UNSIGNED, 1,
			 .c_name = "unsigned char"),
	EVENTLOG_INTEGER(EVENTLOG_TYPE_U16, "u16", EVENTLOG_KIND_UNSIGNED, 2,
			 .c_name = "unsigned short"),
	EVENTLOG_INTEGER(EVENTLOG_TYPE_U32, "u32", EVENTLOG_KIND_UNSIGNED, 4,
			 .c_name = "unsigned int"),
	EVENTLOG_INTEGER(EVENTLOG_TYPE_U64, "u64", EVENTLOG_KIND_UNSIGNED, 8),
	EVENTLOG_INTEGER(EVENTLOG_TYPE_S8, "s8", EVENTLOG_KIND_SIGNED, 1, .c_name = "char"),
	EVENTLOG_INTEGER(EVENTLOG_TYPE_S16, "s16", EVENTLOG_KIND_SIGNED, 2, .c_name = "short"),
	EVENTLOG_INTEGER(EVENTLOG_TYPE_S32, "s32", EVENTLOG_KIND_SIGNED, 4, .c_name = "int"),
	EVENTLOG_INTEGER(EVENTLOG_TYPE_S64, "s64", EVENTLOG_KIND_SIGNED, 8),
	EVENTLOG_INTEGER(EVENTLOG_TYPE_BOOL, "bool", EVENTLOG_KIND_BOOL, 1),
	EVENTLOG_FIELD_TYPE(EVENTLOG_TYPE_PTR, "ptr", EVENTLOG_KIND_PTR, 8, "u64"),
	EVENTLOG_FIELD_TYPE(EVENTLOG_TYPE_TIME, "time", EVENTLOG_KIND_TIME, 8, "u64"),
	EVENTLOG_FIELD_TYPE(EVENTLOG_TYPE_DURATION, "duration", EVENTLOG_KIND_DURATION, 8, "u64"),
	EVENTLOG_FIELD_TYPE(EVENTLOG_TYPE_IPV4, "ipv4", EVENTLOG_KIND_IPV4, 4, "u8[4]"),
	EVENTLOG_FIELD_TYPE(EVENTLOG_TYPE_PORT, "port", EVENTLOG_KIND_PORT, 2, "u16"),
	EVENTLOG_FIELD_TYPE(EVENTLOG_TYPE_STRING, "string", EVENTLOG_KIND_STRING, 4,
			    "__data_loc char[]"),
	EVENTLOG_FIELD_TYPE(EVENTLOG_TYPE_IPV6, "ipv6", EVENTLOG_KIND_IPV6, 16, "u8[16]"),
	EVENTLOG_FIELD_TYPE(EVENTLOG_TYPE_MAC, "mac", EVENTLOG_KIND_MAC, 6, "u8[6]"),
	EVENTLOG_FIELD_TYPE(EVENTLOG_TYPE_BYTES, "bytes", EVENTLOG_KIND_BYTES, 4,
			    "__data_loc u8[]"),
	EVENTLOG_FIELD_TYPE(EVENTLOG_TYPE_STRING_REL, "string:rel", EVENTLOG_KIND_STRING, 4,
			    "__rel_loc char[]", .relative = true),
	EVENTLOG_FIELD_TYPE(EVENTLOG_TYPE_BYTES_REL, "bytes:rel", EVENTLOG_KIND_BYTES, 4,
			    "__rel_loc u8[]", .relative = true),
};

unsigned int eventlog_field_type_find(const char *name, size_t length)
{
	unsigned int i;

	for (i = 1; i < ARRAY_SIZE(eventlog_field_types); i++)
		if (eventlog_field_types[i].name_bytes == length &&
		    !memcmp(eventlog_field_types[i].name, name, length))
			return i;
	return 0;
}

notrace u64 eventlog_field_value(u8 type, u64 value)
{
	const struct eventlog_field_type *field_type = &eventlog_field_types[type];
	const bool is_signed = field_type->kind == EVENTLOG_KIND_SIGNED;

	if (type == EVENTLOG_TYPE_STRING)
		return value;
	switch (field_type->bytes) {
	case 1:
		return is_signed ? (u64)(s8)value : (u8)value;
	case 2:
		return is_signed ? (u64)(s16)value : (u16)value;
	case 4:
		return is_signed ? (u64)(s32)value : (u32)value;
	default:
		return value;
	}
}

/* Takes the parameters of a type that ends at @end: NAME, a separator, and the rest. */
static bool eventlog_shape_split(struct eventlog_field_shape *shape, const char *from,
				 const char *end, char separator)
{
	const char *found = memchr(from, separator, end - from);

	if (!found)
		return false;
	shape->name = from;
	shape->name_bytes = found - from;
	shape->rest = found + 1;
	shape->rest_bytes = end - shape->rest;
	return true;
}

static bool eventlog_shape_plain(struct eventlog_field_shape *shape, const char *name,
				 size_t length)
{
	const struct eventlog_field_type *plain;

	shape->type = eventlog_field_type_find(name, length);
	plain = &eventlog_field_types[shape->type];
	shape->kind = plain->kind;
	shape->bytes = plain->bytes;
	shape->relative = plain->relative;
	shape->is_signed = plain->kind == EVENTLOG_KIND_SIGNED;
	return shape->type;
}

static enum eventlog_type_error eventlog_shape_size(struct eventlog_field_shape *shape)
{
	u64 size;

	if (!eventlog_number_parse(shape->rest, shape->rest_bytes, &size) || !size ||
	    size > EVENTLOG_PAYLOAD_MAX)
		return EVENTLOG_TYPE_SIZE;
	shape->bytes = size;
	return EVENTLOG_TYPE_VALID;
}

static enum eventlog_type_error eventlog_shape_set(struct eventlog_field_shape *shape, u8 kind,
						   const char *from, const char *end)
{
	if (!eventlog_shape_split(shape, from, end, ':'))
		return EVENTLOG_TYPE_NO_INTEGER;
	if (!eventlog_shape_plain(shape, shape->rest, shape->rest_bytes) ||
	    !eventlog_field_type_is_integer(shape->type) ||
	    (kind == EVENTLOG_KIND_FLAGS && shape->is_signed))
		return EVENTLOG_TYPE_INTEGER;
	shape->kind = kind;
	return EVENTLOG_TYPE_VALID;
}

static enum eventlog_type_error eventlog_shape_struct(struct eventlog_field_shape *shape,
						      const char *from, const char *end)
{
	if (!eventlog_shape_split(shape, from, end, ':'))
		return EVENTLOG_TYPE_NO_SIZE;
	if (!eventlog_identifier_valid(shape->name, shape->name_bytes, ""))
		return EVENTLOG_TYPE_TAG;
	shape->kind = EVENTLOG_KIND_STRUCT;
	return eventlog_shape_size(shape);
}

static enum eventlog_type_error eventlog_shape_array(struct eventlog_field_shape *shape,
						     const char *from, const char *end)
{
	if (from == end || *--end != ']' || !eventlog_shape_split(shape, from, end, '['))
		return EVENTLOG_TYPE_UNKNOWN;
	if (shape->name_bytes == 4 && !memcmp(shape->name, "char", 4))
		shape->kind = EVENTLOG_KIND_CHARS;
	else if (shape->name_bytes == 2 && !memcmp(shape->name, "u8", 2))
		shape->kind = EVENTLOG_KIND_OCTETS;
	else
		return EVENTLOG_TYPE_ELEMENT;
	return eventlog_shape_size(shape);
}

enum eventlog_type_error eventlog_field_shape_parse(const char *type, size_t length,
						    struct eventlog_field_shape *shape)
{
	const char *end = type + length;

	memset(shape, 0, sizeof(*shape));
	if (eventlog_shape_plain(shape, type, length))
		return EVENTLOG_TYPE_VALID;
	if (length >= 5 && !memcmp(type, "enum:", 5))
		return eventlog_shape_set(shape, EVENTLOG_KIND_ENUM, type + 5, end);
	if (length >= 6 && !memcmp(type, "flags:", 6))
		return eventlog_shape_set(shape, EVENTLOG_KIND_FLAGS, type + 6, end);
	if (length >= 7 && !memcmp(type, "struct:", 7))
		return eventlog_shape_struct(shape, type + 7, end);
	return eventlog_shape_array(shape, type, end);
}
