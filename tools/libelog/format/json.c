// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Text for other programs: values as JSON, and cells of comma-separated values.
 *
 * The text is valid whatever a payload contains. The thread that has the struct
 * elog_text calls everything here.
 */
#include <string.h>

#include "elog.h"
#include "format/text.h"

static void put_escape(struct elog_text *text, unsigned char byte)
{
	static const char plain[] = "\"\\\n\t\r\b\f";
	static const char letters[] = "\"\\ntrbf";
	const char *found = byte ? strchr(plain, byte) : NULL;
	char escape[6] = "\\u00";

	if (found) {
		escape[1] = letters[found - plain];
		elog_text_put(text, escape, 2);
		return;
	}
	elog_put_octets(escape + 4, &byte, 1, '\0');
	elog_text_put(text, escape, 6);
}

/* Append a replacement for the character at @from; return its end. */
static const unsigned char *put_other(struct elog_text *text,
				      const unsigned char *from,
				      const unsigned char *end)
{
	if (*from < 0x80) {
		put_escape(text, *from);
		return from + 1;
	}
	/* U+0080 to U+009F control terminals, like the characters below a space. */
	if (from[0] == 0xc2 && end - from > 1 && from[1] >= 0x80 && from[1] < 0xa0) {
		put_escape(text, from[1]);
		return from + 2;
	}
	elog_text_put(text, "\xef\xbf\xbd", 3);
	return from + 1;
}

void elog_text_json_string(struct elog_text *text, const char *data, size_t size)
{
	elog_text_between_quotes(text, data, size, put_other);
}

void elog_text_csv(struct elog_text *text, const char *data, size_t size)
{
	const char *end = data + size, *from = data, *quote;

	while (from < end && *from != '"' && *from != ',' && *from != '\n' &&
	       *from != '\r')
		from++;
	if (from == end) {
		elog_text_put(text, data, size);
		return;
	}
	elog_text_character(text, '"');
	while ((quote = memchr(data, '"', (size_t)(end - data)))) {
		elog_text_put(text, data, (size_t)(quote + 1 - data));
		elog_text_character(text, '"');
		data = quote + 1;
	}
	elog_text_put(text, data, (size_t)(end - data));
	elog_text_character(text, '"');
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

/* Names need no escapes: see schema.c. */
static void put_name(struct elog_text *text, const char *name, const char *before,
		     const char *behind)
{
	size_t length = strlen(name), before_length = strlen(before);
	size_t behind_length = strlen(behind);
	char *room = elog_text_room(text, before_length + length + behind_length);

	if (!room)
		return;
	room = elog_copy(room, before, before_length);
	room = elog_copy(room, name, length);
	elog_text_advance(text, elog_copy(room, behind, behind_length));
}

static void put_enum(struct elog_text *text,
		     const struct elog_schema_field *field, uint64_t value)
{
	const char *name = elog_enum_name(field, value);

	if (name)
		put_name(text, name, "\"", "\"");
	else
		elog_text_decimal(text, field, value);
}

static void put_flags(struct elog_text *text,
		      const struct elog_schema_field *field, uint64_t value)
{
	const struct elog_schema_name *flag;
	uint64_t rest = value;
	bool any = false;
	size_t i;

	elog_text_character(text, '[');
	for (i = 0; i < field->set->count; i++) {
		flag = field->set->names[i];
		if (!elog_flag_is_set(flag, value))
			continue;
		put_name(text, flag->name, any ? ",\"" : "\"", "\"");
		rest &= ~flag->value;
		any = true;
	}
	if (rest) {
		if (any)
			elog_text_character(text, ',');
		put_hex(text, rest);
	}
	elog_text_character(text, ']');
}

void elog_format_json_value(struct elog_text *text,
			    const struct elog_schema_field *field,
			    const struct elog_value *value)
{
	uint64_t integer = value->integer;

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
	default:
		break;
	}
	if (field->display == ELOG_DISPLAY_HEX) {
		put_hex(text, elog_hex_bits(field, integer));
		return;
	}
	if (field->display == ELOG_DISPLAY_DEC) {
		elog_text_decimal(text, field, integer);
		return;
	}
	switch (field->type) {
	case ELOG_TYPE_BOOL:
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
		elog_text_decimal(text, field, integer);
		break;
	}
}

void elog_format_json_fields(struct elog_text *text,
			     const struct elog_schema_event *event,
			     const void *payload, size_t size)
{
	/* Names need no escapes: see schema.c. */
	elog_format_each(text, event, payload, size, ",", "\"", "\":", elog_format_json_value);
}
