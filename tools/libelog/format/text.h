/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Values as text: functions that elog.h does not have.
 */
#ifndef LIBELOG_TEXT_H
#define LIBELOG_TEXT_H

#include <string.h>

#include "common/field_type.h"
#include "elog.h"
#include "util/text.h"

/**
 * elog_put_number() - write the value of an integer field
 * @to: room for 1 + ELOG_DECIMAL_MAX characters
 * @field: signed or not
 * @value: sign-extended if signed
 *
 * Return: the end of the digits.
 */
static inline char *elog_put_number(char *to, const struct elog_schema_field *field,
				    uint64_t value)
{
	if (field->is_signed && (int64_t)value < 0) {
		*to++ = '-';
		value = 0 - value;
	}
	return elog_put_decimal(to, value);
}

/** elog_text_decimal() - append the value of an integer field */
void elog_text_decimal(struct elog_text *text, const struct elog_schema_field *field,
		       uint64_t value);

/** elog_text_float() - append a float: with as few digits as give its 4 or 8 bytes back */
void elog_text_float(struct elog_text *text, const struct elog_value *value);

/** elog_text_date() - append a date in UTC; false: it is out of range, nothing was appended */
bool elog_text_date(struct elog_text *text, uint64_t seconds);

/**
 * elog_decode_sized() - read the value of an optional field
 * @field: the field
 * @bytes: the value, in native byte order
 * @size: bytes of it
 * @value: filled in
 *
 * Return: @value->error.
 */
int elog_decode_sized(const struct elog_schema_field *field, const void *bytes, size_t size,
		      struct elog_value *value);

/** elog_has_size() - does the type of an optional field have values of this size? */
bool elog_has_size(const struct elog_schema_field *field, size_t size);

/** elog_hex_bits() - truncate a negative number to the bits of the field */
static inline uint64_t elog_hex_bits(const struct elog_schema_field *field,
				     uint64_t value)
{
	return field->size < 8 ? value & ((1ULL << field->size * 8) - 1) : value;
}

/**
 * elog_plain_number() - decode the most common kind of field
 * @field: the field
 * @payload: the payload, which need not be valid
 * @size: bytes of it
 * @value: set, sign-extended if signed
 *
 * Return: false if it is not an integer shown in decimal, or not inside of the
 * payload; then call elog_decode().
 */
static inline bool elog_plain_number(const struct elog_schema_field *field,
				     const void *payload, size_t size,
				     uint64_t *value)
{
	if (field->type > ELOG_TYPE_SIGNED || field->display == ELOG_DISPLAY_HEX ||
	    field->optional || field->offset > size || field->size > size - field->offset)
		return false;
	*value = eventlog_integer_load((const unsigned char *)payload + field->offset,
				       field->size, field->is_signed);
	return true;
}

/** elog_enum_name() - get the name of an enum's value, or NULL */
const char *elog_enum_name(const struct elog_schema_field *field, uint64_t value);

/** elog_flag_is_set() - is the flag set in a value? A flag without bits is, if the value is 0 */
static inline bool elog_flag_is_set(const struct elog_schema_name *flag,
				    uint64_t value)
{
	return flag->value ? (value & flag->value) == flag->value : !value;
}

/**
 * elog_text_flags() - append the names of the flags that are set in a value
 * @text: the text
 * @field: of a flags type
 * @value: the value
 * @between: separates names
 * @quote: precedes and follows each name; NUL: nothing does
 *
 * Return: the bits that have no name.
 */
uint64_t elog_text_flags(struct elog_text *text, const struct elog_schema_field *field,
			 uint64_t value, char between, char quote);

/**
 * elog_format_each() - append all fields of a payload
 * @text: the text
 * @event: the event's schema
 * @payload: the payload, which need not be valid
 * @size: bytes of it
 * @between: separates fields
 * @before: precedes the name of each field
 * @behind: follows it
 * @json: with the names for JSON
 * @format: appends a value
 *
 * Inline, so that the strings are constants: printing events spends its time here.
 */
static inline __attribute__((always_inline)) void
elog_format_each(struct elog_text *text, const struct elog_schema_event *event,
		 const void *payload, size_t size, const char *between,
		 const char *before, const char *behind, bool json,
		 void (*format)(struct elog_text *text,
				const struct elog_schema_field *field,
				const struct elog_value *value))
{
	const struct elog_schema_field *field;
	struct elog_value value;
	uint64_t number;
	const char *name;
	size_t i, length;
	char *room;

	for (i = 0; i < event->field_count; i++) {
		field = event->fields[i];
		name = json && field->json_name ? field->json_name : field->name;
		length = strlen(name);
		room = elog_text_room(text, strlen(between) + strlen(before) + length +
					    strlen(behind) + 1 + ELOG_DECIMAL_MAX);
		if (!room)
			return;
		if (i)
			room = stpcpy(room, between);
		room = stpcpy(room, before);
		room = elog_copy(room, name, length);
		room = stpcpy(room, behind);
		if (elog_plain_number(field, payload, size, &number) &&
		    (!json || elog_is_exact(number, field->is_signed))) {
			elog_text_advance(text, elog_put_number(room, field, number));
			continue;
		}
		elog_text_advance(text, room);
		elog_decode(field, payload, size, &value);
		format(text, field, &value);
	}
}

#endif /* LIBELOG_TEXT_H */
