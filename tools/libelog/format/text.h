/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Text, and values as text: functions that elog.h does not have.
 */
#ifndef LIBELOG_TEXT_H
#define LIBELOG_TEXT_H

#include <string.h>

#include "elog.h"

/* In the first reserved member of a text: the memory is not from malloc() and cannot grow. */
#define ELOG_TEXT_FIXED	1

/** elog_text_grow() - elog_text_room() for when there is no room */
char *elog_text_grow(struct elog_text *text, size_t size);

/**
 * elog_text_room() - get room for characters to append, and a NUL
 * @text: the text
 * @size: bytes, at most
 *
 * Return: the room, for elog_text_advance(); NULL if memory was short.
 */
static inline char *elog_text_room(struct elog_text *text, size_t size)
{
	if (text->error || text->capacity - text->size <= size)
		return elog_text_grow(text, size);
	return text->data + text->size;
}

/** elog_text_advance() - append the characters before @end */
static inline void elog_text_advance(struct elog_text *text, char *end)
{
	*end = '\0';
	text->size = (size_t)(end - text->data);
}

/**
 * elog_copy() - memcpy() that is fast for short sizes
 * @to: room for @size bytes
 * @from: the bytes
 * @size: bytes of @from
 *
 * For a name or a word, a call takes longer than the copying. Up to 32 bytes are
 * copied as the first and the last 16 bytes (or 8, or 4), which may overlap.
 *
 * Return: the end of the copy.
 */
static inline char *elog_copy(char *to, const void *from, size_t size)
{
	const char *bytes = from;
	char ends[2][16];
	uint64_t words[2];
	uint32_t halves[2];

	if (size > 32) {
		memcpy(to, from, size);
	} else if (size >= 16) {
		memcpy(ends[0], bytes, 16);
		memcpy(ends[1], bytes + size - 16, 16);
		memcpy(to, ends[0], 16);
		memcpy(to + size - 16, ends[1], 16);
	} else if (size >= 8) {
		memcpy(&words[0], bytes, 8);
		memcpy(&words[1], bytes + size - 8, 8);
		memcpy(to, &words[0], 8);
		memcpy(to + size - 8, &words[1], 8);
	} else if (size >= 4) {
		memcpy(&halves[0], bytes, 4);
		memcpy(&halves[1], bytes + size - 4, 4);
		memcpy(to, &halves[0], 4);
		memcpy(to + size - 4, &halves[1], 4);
	} else if (size) {
		to[0] = bytes[0];
		to[size / 2] = bytes[size / 2];
		to[size - 1] = bytes[size - 1];
	}
	return to + size;
}

static inline void elog_text_character(struct elog_text *text, char character)
{
	char *room = elog_text_room(text, 1);

	if (!room)
		return;
	*room = character;
	elog_text_advance(text, room + 1);
}

/* Digits of the largest number of 64 bits. */
#define ELOG_DECIMAL_MAX	20
#define ELOG_HEX_MAX		16

/** elog_put_decimal() - write a number in decimal; return the end of it */
char *elog_put_decimal(char *to, uint64_t value);

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

/** elog_put_hex() - write a number in hexadecimal; return the end of it */
char *elog_put_hex(char *to, uint64_t value);

/**
 * elog_put_octets() - write two hexadecimal digits per byte, separated by @between
 * unless it is NUL
 */
char *elog_put_octets(char *to, const unsigned char *bytes, size_t size,
		      char between);

/**
 * elog_put_address() - write an address
 * @to: room for ELOG_ADDRESS_MAX characters
 * @bytes: in network byte order
 * @size: 4 or 16
 *
 * Return: the end of the address.
 */
char *elog_put_address(char *to, const unsigned char *bytes, size_t size);

#define ELOG_ADDRESS_MAX	48

/**
 * elog_text_between_quotes() - append a string in double quotes
 * @text: the text
 * @data: the string
 * @size: bytes of it
 * @put_other: appends a replacement for the character at @from, which must not be
 *	printed; returns the end of the character
 */
void elog_text_between_quotes(struct elog_text *text, const char *data, size_t size,
			      const unsigned char *(*put_other)(struct elog_text *text,
								const unsigned char *from,
								const unsigned char *end));

/** elog_text_decimal() - append the value of an integer field */
void elog_text_decimal(struct elog_text *text, const struct elog_schema_field *field,
		       uint64_t value);

/** elog_hex_bits() - truncate a negative number to the bits of the field */
static inline uint64_t elog_hex_bits(const struct elog_schema_field *field,
				     uint64_t value)
{
	return field->size < 8 ? value & ((1ULL << field->size * 8) - 1) : value;
}

/** elog_load_integer() - read an integer of 1, 2, 4 or 8 bytes in native order */
static inline uint64_t elog_load_integer(const unsigned char *bytes, size_t size,
					 bool is_signed)
{
	uint8_t byte;
	uint16_t half;
	uint32_t word;
	uint64_t whole;

	switch (size) {
	case 1:
		memcpy(&byte, bytes, sizeof(byte));
		return is_signed ? (uint64_t)(int8_t)byte : byte;
	case 2:
		memcpy(&half, bytes, sizeof(half));
		return is_signed ? (uint64_t)(int16_t)half : half;
	case 4:
		memcpy(&word, bytes, sizeof(word));
		return is_signed ? (uint64_t)(int32_t)word : word;
	default:
		memcpy(&whole, bytes, sizeof(whole));
		return whole;
	}
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
	    field->offset > size || field->size > size - field->offset)
		return false;
	*value = elog_load_integer((const unsigned char *)payload + field->offset,
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
 * elog_plain_end() - find the first byte that is not printable ASCII, or needs an
 * escape, or @end
 */
const unsigned char *elog_plain_end(const unsigned char *from,
				    const unsigned char *end);

/**
 * elog_utf8_size() - get the bytes of a character that may be printed
 * @from: its first byte
 * @end: end of the string, above @from
 *
 * Return: 2 to 4; 0: the bytes are ASCII, an overlong form, a surrogate, beyond
 * Unicode, or one of the control characters U+0080 to U+009F.
 */
size_t elog_utf8_size(const unsigned char *from, const unsigned char *end);

/**
 * elog_format_each() - append all fields of a payload
 * @text: the text
 * @event: the event's schema
 * @payload: the payload, which need not be valid
 * @size: bytes of it
 * @between: separates fields
 * @before: precedes the name of each field
 * @behind: follows it
 * @format: appends a value
 *
 * Inline, so that the strings are constants: printing events spends its time here.
 */
static inline __attribute__((always_inline)) void
elog_format_each(struct elog_text *text, const struct elog_schema_event *event,
		 const void *payload, size_t size, const char *between,
		 const char *before, const char *behind,
		 void (*format)(struct elog_text *text,
				const struct elog_schema_field *field,
				const struct elog_value *value))
{
	const struct elog_schema_field *field;
	struct elog_value value;
	uint64_t number;
	size_t i, length;
	char *room;

	for (i = 0; i < event->field_count; i++) {
		field = event->fields[i];
		length = strlen(field->name);
		room = elog_text_room(text, strlen(between) + strlen(before) + length +
					    strlen(behind) + 1 + ELOG_DECIMAL_MAX);
		if (!room)
			return;
		if (i)
			room = stpcpy(room, between);
		room = stpcpy(room, before);
		room = elog_copy(room, field->name, length);
		room = stpcpy(room, behind);
		if (elog_plain_number(field, payload, size, &number)) {
			elog_text_advance(text, elog_put_number(room, field, number));
			continue;
		}
		elog_text_advance(text, room);
		elog_decode(field, payload, size, &value);
		format(text, field, &value);
	}
}

#endif /* LIBELOG_TEXT_H */
