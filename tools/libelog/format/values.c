// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Values of fields as text.
 *
 * Bytes of payloads are never printed unchanged: see elog_text_quoted(). The thread
 * that has the struct elog_text calls everything here.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "elog.h"
#include "format/text.h"
#include "util/util.h"

static void put_octets(struct elog_text *text, const unsigned char *bytes,
		       size_t size, char between)
{
	char *room = elog_text_room(text, size * (between ? 3 : 2));

	if (room)
		elog_text_advance(text, elog_put_octets(room, bytes, size, between));
}

static void put_hex(struct elog_text *text, uint64_t value)
{
	char *room = elog_text_room(text, 2 + ELOG_HEX_MAX);

	if (!room)
		return;
	memcpy(room, "0x", 2);
	elog_text_advance(text, elog_put_hex(room + 2, value));
}

void elog_text_decimal(struct elog_text *text, const struct elog_schema_field *field,
		       uint64_t value)
{
	char *room = elog_text_room(text, 1 + ELOG_DECIMAL_MAX);

	if (room)
		elog_text_advance(text, elog_put_number(room, field, value));
}

static void put_integer(struct elog_text *text,
			const struct elog_schema_field *field, uint64_t value)
{
	if (field->display == ELOG_DISPLAY_HEX)
		put_hex(text, elog_hex_bits(field, value));
	else
		elog_text_decimal(text, field, value);
}

const char *elog_enum_name(const struct elog_schema_field *field, uint64_t value)
{
	size_t i;

	for (i = 0; i < field->set->count; i++)
		if (field->set->names[i]->value == value)
			return field->set->names[i]->name;
	return NULL;
}

static void put_enum(struct elog_text *text,
		     const struct elog_schema_field *field, uint64_t value)
{
	const char *name = elog_enum_name(field, value);

	if (name)
		elog_text_string(text, name);
	else
		put_integer(text, field, value);
}

/* Names need no escapes: see schema.c. */
uint64_t elog_text_flags(struct elog_text *text, const struct elog_schema_field *field,
			 uint64_t value, char between, char quote)
{
	const size_t from = text->size;
	const struct elog_schema_name *flag;
	uint64_t rest = value;
	size_t i, length;
	char *room;

	for (i = 0; i < field->set->count; i++) {
		flag = field->set->names[i];
		if (!elog_flag_is_set(flag, value))
			continue;
		length = strlen(flag->name);
		room = elog_text_room(text, length + 3);
		if (!room)
			break;
		if (text->size != from)
			*room++ = between;
		if (quote)
			*room++ = quote;
		room = elog_copy(room, flag->name, length);
		if (quote)
			*room++ = quote;
		elog_text_advance(text, room);
		rest &= ~flag->value;
	}
	return rest;
}

static void put_flags(struct elog_text *text,
		      const struct elog_schema_field *field, uint64_t value)
{
	const size_t from = text->size;
	const uint64_t rest = elog_text_flags(text, field, value, '|', '\0');
	const bool any = text->size != from;

	if (any && !rest)
		return;
	if (any)
		elog_text_character(text, '|');
	if (rest)
		elog_text_string(text, "0x");
	elog_text_hex(text, rest, 1);
}

static void put_seconds(struct elog_text *text, uint64_t nanoseconds)
{
	elog_text_unsigned(text, nanoseconds / 1000000000, 1, ' ');
	elog_text_character(text, '.');
	elog_text_unsigned(text, nanoseconds % 1000000000, 9, '0');
}

/* Three decimals, in the unit that leaves few digits before the point. */
static void put_duration(struct elog_text *text, uint64_t nanoseconds)
{
	static const struct {
		uint64_t unit;
		const char *name;
	} units[] = {
		{ 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" },
	};
	size_t i;

	for (i = 0; i < ELOG_ARRAY_SIZE(units); i++) {
		if (nanoseconds < units[i].unit)
			continue;
		elog_text_unsigned(text, nanoseconds / units[i].unit, 1, ' ');
		elog_text_character(text, '.');
		elog_text_unsigned(text, nanoseconds % units[i].unit /
				   (units[i].unit / 1000), 3, '0');
		elog_text_string(text, units[i].name);
		return;
	}
	elog_text_unsigned(text, nanoseconds, 1, ' ');
	elog_text_string(text, "ns");
}

/* The point does not depend on the locale. */
void elog_text_float(struct elog_text *text, const struct elog_value *value)
{
	const bool is_single = value->size == sizeof(float);
	char digits[40], *from, *to;
	double number;
	int precision;

	memcpy(&number, &value->integer, sizeof(number));
	for (precision = is_single ? 6 : 15; precision <= 17; precision++) {
		snprintf(digits, sizeof(digits), "%.*g", precision, number);
		if (is_single ? strtof(digits, NULL) == (float)number :
				strtod(digits, NULL) == number)
			break;
	}
	for (from = to = digits; *from; from++) {
		if (strchr("+-0123456789einfa", *from))
			*to++ = *from;
		else if (to == digits || to[-1] != '.')
			*to++ = '.';
	}
	elog_text_put(text, digits, (size_t)(to - digits));
}

bool elog_text_date(struct elog_text *text, uint64_t seconds)
{
	const time_t time = (time_t)seconds;
	char date[40];
	struct tm tm;

	if ((int64_t)time != (int64_t)seconds || !gmtime_r(&time, &tm) ||
	    tm.tm_year < -1900 || tm.tm_year > 8099 ||
	    !strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &tm))
		return false;
	elog_text_string(text, date);
	return true;
}

static void put_address(struct elog_text *text, const struct elog_value *value)
{
	char *room = elog_text_room(text, ELOG_ADDRESS_MAX);

	if (room)
		elog_text_advance(text, elog_put_address(room, value->data,
							 value->size));
}

static void put_error(struct elog_text *text, const struct elog_value *value)
{
	if (value->error == -ENODATA)
		elog_text_string(text, "<truncated>");
	else if (value->error == -ENOENT)
		elog_text_string(text, "null");
	else if (value->error == -ERANGE)
		put_octets(text, value->data, value->size, '\0');
	else if (value->data)
		elog_text_printf(text, "<%zu bytes at %zu without end>",
				 value->claimed_size, value->claimed_offset);
	else
		elog_text_printf(text, "<%zu bytes at %zu: outside>",
				 value->claimed_size, value->claimed_offset);
}

void elog_format_value(struct elog_text *text,
		       const struct elog_schema_field *field,
		       const struct elog_value *value)
{
	if (value->error) {
		put_error(text, value);
		return;
	}
	/* The requested base overrides the default of the type. */
	switch (field->type) {
	case ELOG_TYPE_CHARS:
	case ELOG_TYPE_STRING:
		elog_text_quoted(text, value->data, value->size);
		return;
	case ELOG_TYPE_OCTETS:
	case ELOG_TYPE_BYTES:
	case ELOG_TYPE_STRUCT:
		put_octets(text, value->data, value->size, '\0');
		return;
	case ELOG_TYPE_IPV4:
	case ELOG_TYPE_IPV6:
		put_address(text, value);
		return;
	case ELOG_TYPE_MAC:
		put_octets(text, value->data, value->size, ':');
		return;
	case ELOG_TYPE_ARRAY:
		elog_text_put(text, value->data, value->size);
		return;
	case ELOG_TYPE_FLOAT:
		elog_text_float(text, value);
		return;
	case ELOG_TYPE_SECONDS:
		if (!elog_text_date(text, value->integer))
			elog_text_decimal(text, field, value->integer);
		return;
	default:
		break;
	}
	if (field->display != ELOG_DISPLAY_DEFAULT) {
		put_integer(text, field, value->integer);
		return;
	}
	switch (field->type) {
	case ELOG_TYPE_BOOL:
		if (value->integer > 1)
			elog_text_decimal(text, field, value->integer);
		else
			elog_text_string(text, value->integer ? "true" : "false");
		break;
	case ELOG_TYPE_ENUM:
		put_enum(text, field, value->integer);
		break;
	case ELOG_TYPE_FLAGS:
		put_flags(text, field, value->integer);
		break;
	case ELOG_TYPE_TIME:
		put_seconds(text, value->integer);
		break;
	case ELOG_TYPE_DURATION:
		put_duration(text, value->integer);
		break;
	case ELOG_TYPE_PTR:
		put_hex(text, value->integer);
		break;
	default:
		put_integer(text, field, value->integer);
		break;
	}
}

void elog_format_fields(struct elog_text *text,
			const struct elog_schema_event *event,
			const void *payload, size_t size)
{
	elog_format_each(text, event, payload, size, " ", "", "=", false, elog_format_value);
}
