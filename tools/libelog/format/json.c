// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Values as JSON.
 *
 * The text is valid whatever a payload contains. The thread that has the struct
 * elog_text calls everything here.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "elog.h"
#include "format/text.h"

/* Times are always numbers: after 104 days, a number must not become a string. */
static void put_integer(struct elog_text *text, const struct elog_schema_field *field,
			uint64_t value)
{
	if (field->type == ELOG_TYPE_TIME || field->type == ELOG_TYPE_DURATION)
		elog_text_decimal(text, field, value);
	else
		elog_text_json_integer(text, value, field->is_signed);
}

static void put_hex(struct elog_text *text, uint64_t value)
{
	char *room = elog_text_room(text, 4 + ELOG_HEX_MAX);

	if (!room)
		return;
	memcpy(room, "\"0x", 3);
	room = elog_put_hex(room + 3, value);
	*room++ = '"';
	elog_text_advance(text, room);
}

static void put_octets(struct elog_text *text, const struct elog_value *value,
		       char between)
{
	char *room = elog_text_room(text, 2 + value->size * (between ? 3 : 2));

	if (!room)
		return;
	*room++ = '"';
	room = elog_put_octets(room, value->data, value->size, between);
	*room++ = '"';
	elog_text_advance(text, room);
}

static void put_address(struct elog_text *text, const struct elog_value *value)
{
	char *room = elog_text_room(text, 2 + ELOG_ADDRESS_MAX);

	if (!room)
		return;
	*room++ = '"';
	room = elog_put_address(room, value->data, value->size);
	*room++ = '"';
	elog_text_advance(text, room);
}

static void put_enum(struct elog_text *text,
		     const struct elog_schema_field *field, uint64_t value)
{
	const char *name = elog_enum_name(field, value);

	if (!name) {
		put_integer(text, field, value);
		return;
	}
	/* Names need no escapes: see schema.c. */
	elog_text_character(text, '"');
	elog_text_string(text, name);
	elog_text_character(text, '"');
}

static void put_flags(struct elog_text *text,
		      const struct elog_schema_field *field, uint64_t value)
{
	uint64_t rest;
	size_t from;

	elog_text_character(text, '[');
	from = text->size;
	rest = elog_text_flags(text, field, value, ',', '"');
	if (rest) {
		if (text->size != from)
			elog_text_character(text, ',');
		put_hex(text, rest);
	}
	elog_text_character(text, ']');
}

/* JSON has no numbers that are not finite. */
static void put_float(struct elog_text *text, const struct elog_value *value)
{
	double number;

	memcpy(&number, &value->integer, sizeof(number));
	if (isnan(number))
		elog_text_string(text, "\"NaN\"");
	else if (isinf(number))
		elog_text_string(text, number < 0 ? "\"-Infinity\"" : "\"Infinity\"");
	else
		elog_text_float(text, value);
}

static void put_date(struct elog_text *text, const struct elog_schema_field *field,
		     uint64_t seconds)
{
	const size_t from = text->size;

	elog_text_character(text, '"');
	if (elog_text_date(text, seconds)) {
		elog_text_character(text, '"');
	} else if (!text->error) {
		text->size = from;
		put_integer(text, field, seconds);
	}
}

void elog_format_json_value(struct elog_text *text,
			    const struct elog_schema_field *field,
			    const struct elog_value *value)
{
	uint64_t integer = value->integer;

	if (value->error == -ERANGE) {
		put_octets(text, value, '\0');
		return;
	}
	if (value->error) {
		elog_text_put(text, "null", 4);
		return;
	}
	switch (field->type) {
	case ELOG_TYPE_CHARS:
	case ELOG_TYPE_STRING:
		elog_text_json_string(text, value->data, value->size);
		return;
	case ELOG_TYPE_OCTETS:
	case ELOG_TYPE_BYTES:
	case ELOG_TYPE_STRUCT:
		put_octets(text, value, '\0');
		return;
	case ELOG_TYPE_IPV4:
	case ELOG_TYPE_IPV6:
		put_address(text, value);
		return;
	case ELOG_TYPE_MAC:
		put_octets(text, value, ':');
		return;
	case ELOG_TYPE_ARRAY:
		elog_text_put(text, value->data, value->size);
		return;
	case ELOG_TYPE_FLOAT:
		put_float(text, value);
		return;
	case ELOG_TYPE_SECONDS:
		put_date(text, field, integer);
		return;
	default:
		break;
	}
	if (field->display == ELOG_DISPLAY_HEX) {
		put_hex(text, elog_hex_bits(field, integer));
		return;
	}
	if (field->display == ELOG_DISPLAY_DEC) {
		put_integer(text, field, integer);
		return;
	}
	switch (field->type) {
	case ELOG_TYPE_BOOL:
		if (integer > 1)
			put_integer(text, field, integer);
		else
			elog_text_string(text, integer ? "true" : "false");
		break;
	case ELOG_TYPE_ENUM:
		put_enum(text, field, integer);
		break;
	case ELOG_TYPE_FLAGS:
		put_flags(text, field, integer);
		break;
	case ELOG_TYPE_PTR:
		put_hex(text, integer);
		break;
	default:
		put_integer(text, field, integer);
		break;
	}
}

void elog_format_json_fields(struct elog_text *text,
			     const struct elog_schema_event *event,
			     const void *payload, size_t size)
{
	/* Names need no escapes: see schema.c. */
	elog_format_each(text, event, payload, size, ",", "\"", "\":", true,
			 elog_format_json_value);
}
