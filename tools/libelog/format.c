// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Text: strings that grow, and values in them.
 *
 * What comes from payloads is never printed as it is: see elog_text_quoted().
 * Everything belongs to the thread that has the struct elog_text.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static const char hex_digits[] = "0123456789abcdef";

/* Room for @size more characters and a NUL, or NULL once memory was short. */
static char *reserve(struct elog_text *text, size_t size)
{
	size_t capacity = text->capacity ? text->capacity : 256;
	char *larger;

	if (text->error)
		return NULL;
	if (size >= SIZE_MAX / 2 - text->size)
		goto no_memory;
	if (text->size + size + 1 > text->capacity) {
		while (capacity < text->size + size + 1)
			capacity *= 2;
		larger = realloc(text->data, capacity);
		if (!larger)
			goto no_memory;
		text->data = larger;
		text->capacity = capacity;
	}
	return text->data + text->size;

no_memory:
	text->error = -ENOMEM;
	return NULL;
}

static void advance(struct elog_text *text, size_t size)
{
	text->size += size;
	text->data[text->size] = '\0';
}

void elog_text_free(struct elog_text *text)
{
	free(text->data);
	memset(text, 0, sizeof(*text));
}

void elog_text_put(struct elog_text *text, const void *data, size_t size)
{
	char *room = reserve(text, size);

	if (!room)
		return;
	if (size)
		memcpy(room, data, size);
	advance(text, size);
}

void elog_text_string(struct elog_text *text, const char *string)
{
	elog_text_put(text, string, strlen(string));
}

static void put_character(struct elog_text *text, char character)
{
	elog_text_put(text, &character, 1);
}

void elog_text_unsigned(struct elog_text *text, uint64_t value,
			unsigned int width, char fill)
{
	char digits[20];
	unsigned int count = 0;

	do {
		digits[sizeof(digits) - ++count] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	for (; width > count; width--)
		put_character(text, fill);
	elog_text_put(text, digits + sizeof(digits) - count, count);
}

void elog_text_hex(struct elog_text *text, uint64_t value, unsigned int width)
{
	char digits[16];
	unsigned int count = 0;

	do {
		digits[sizeof(digits) - ++count] = hex_digits[value % 16];
		value /= 16;
	} while (value);
	for (; width > count; width--)
		put_character(text, '0');
	elog_text_put(text, digits + sizeof(digits) - count, count);
}

void elog_text_printf(struct elog_text *text, const char *format, ...)
{
	va_list arguments;
	char *room;
	int size;

	va_start(arguments, format);
	size = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (size < 0) {
		text->error = -EINVAL;
		return;
	}
	room = reserve(text, (size_t)size);
	if (!room)
		return;
	va_start(arguments, format);
	vsnprintf(room, (size_t)size + 1, format, arguments);
	va_end(arguments);
	advance(text, (size_t)size);
}

size_t elog_utf8_size(const unsigned char *from, const unsigned char *end)
{
	static const uint32_t smallest[] = { 0, 0, 0xa0, 0x800, 0x10000 };
	uint32_t character;
	size_t size, i;

	if (*from >= 0xf0 && *from < 0xf8)
		size = 4;
	else if (*from >= 0xe0)
		size = *from < 0xf0 ? 3 : 0;
	else
		size = *from >= 0xc0 ? 2 : 0;
	if (!size || (size_t)(end - from) < size)
		return 0;
	character = *from & (0x7fU >> size);
	for (i = 1; i < size; i++) {
		if ((from[i] & 0xc0) != 0x80)
			return 0;
		character = character << 6 | (from[i] & 0x3f);
	}
	if (character < smallest[size] || character > 0x10ffff ||
	    (character >= 0xd800 && character < 0xe000))
		return 0;
	return size;
}

static void put_escape(struct elog_text *text, unsigned char byte)
{
	static const char plain[] = "\"\\\n\t\r";
	static const char letters[] = "\"\\ntr";
	const char *found = byte ? strchr(plain, byte) : NULL;

	put_character(text, '\\');
	if (found) {
		put_character(text, letters[found - plain]);
		return;
	}
	put_character(text, 'x');
	put_character(text, hex_digits[byte >> 4]);
	put_character(text, hex_digits[byte & 15]);
}

void elog_text_quoted(struct elog_text *text, const char *data, size_t size)
{
	const unsigned char *from = (const unsigned char *)data;
	const unsigned char *end = from + size;
	const unsigned char *plain = from;
	size_t step;

	put_character(text, '"');
	while (from < end) {
		if (*from < 0x80)
			step = *from >= ' ' && *from != 0x7f &&
			       *from != '"' && *from != '\\';
		else
			step = elog_utf8_size(from, end);
		if (step) {
			from += step;
			continue;
		}
		elog_text_put(text, plain, (size_t)(from - plain));
		put_escape(text, *from++);
		plain = from;
	}
	elog_text_put(text, plain, (size_t)(from - plain));
	put_character(text, '"');
}

static void put_octets(struct elog_text *text, const unsigned char *bytes,
		       size_t size, const char *between)
{
	size_t i;

	for (i = 0; i < size; i++) {
		if (i && *between)
			elog_text_string(text, between);
		put_character(text, hex_digits[bytes[i] >> 4]);
		put_character(text, hex_digits[bytes[i] & 15]);
	}
}

static void put_integer(struct elog_text *text,
			const struct elog_schema_field *field, uint64_t value)
{
	if (field->display == ELOG_DISPLAY_HEX) {
		/* Of a negative number as many digits as it has bytes. */
		if (field->size < 8)
			value &= (1ULL << field->size * 8) - 1;
		elog_text_string(text, "0x");
		elog_text_hex(text, value, 1);
		return;
	}
	if (field->is_signed && (int64_t)value < 0) {
		put_character(text, '-');
		value = 0 - value;
	}
	elog_text_unsigned(text, value, 1, ' ');
}

static void put_enum(struct elog_text *text,
		     const struct elog_schema_field *field, uint64_t value)
{
	size_t i;

	for (i = 0; i < field->set->count; i++) {
		if (field->set->names[i]->value == value) {
			elog_text_string(text, field->set->names[i]->name);
			return;
		}
	}
	put_integer(text, field, value);
}

static void put_flags(struct elog_text *text,
		      const struct elog_schema_field *field, uint64_t value)
{
	const struct elog_schema_name *flag;
	uint64_t rest = value;
	bool any = false;
	size_t i;

	for (i = 0; i < field->set->count; i++) {
		flag = field->set->names[i];
		if (flag->value ? (value & flag->value) != flag->value : value != 0)
			continue;
		if (any)
			put_character(text, '|');
		elog_text_string(text, flag->name);
		rest &= ~flag->value;
		any = true;
	}
	if (any && !rest)
		return;
	if (any)
		put_character(text, '|');
	if (rest)
		elog_text_string(text, "0x");
	elog_text_hex(text, rest, 1);
}

static void put_seconds(struct elog_text *text, uint64_t nanoseconds)
{
	elog_text_unsigned(text, nanoseconds / 1000000000, 1, ' ');
	put_character(text, '.');
	elog_text_unsigned(text, nanoseconds % 1000000000, 9, '0');
}

/* Three digits behind the point in the unit that leaves few before it. */
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
		put_character(text, '.');
		elog_text_unsigned(text, nanoseconds % units[i].unit /
				   (units[i].unit / 1000), 3, '0');
		elog_text_string(text, units[i].name);
		return;
	}
	elog_text_unsigned(text, nanoseconds, 1, ' ');
	elog_text_string(text, "ns");
}

static void put_address(struct elog_text *text, int family, const void *bytes)
{
	char address[INET6_ADDRSTRLEN];

	if (inet_ntop(family, bytes, address, sizeof(address)))
		elog_text_string(text, address);
}

static void put_error(struct elog_text *text, const struct elog_value *value)
{
	if (value->error == -ENODATA)
		elog_text_string(text, "<truncated>");
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
	/* A wish for decimal or hexadecimal goes before what the type would do. */
	switch (field->type) {
	case ELOG_TYPE_CHARS:
	case ELOG_TYPE_STRING:
		elog_text_quoted(text, value->data, value->size);
		return;
	case ELOG_TYPE_OCTETS:
	case ELOG_TYPE_BYTES:
	case ELOG_TYPE_STRUCT:
		put_octets(text, value->data, value->size, "");
		return;
	case ELOG_TYPE_IPV4:
		put_address(text, AF_INET, value->data);
		return;
	case ELOG_TYPE_IPV6:
		put_address(text, AF_INET6, value->data);
		return;
	case ELOG_TYPE_MAC:
		put_octets(text, value->data, value->size, ":");
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
		elog_text_string(text, "0x");
		elog_text_hex(text, value->integer, 1);
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
	struct elog_value value;
	size_t i;

	for (i = 0; i < event->field_count; i++) {
		if (i)
			put_character(text, ' ');
		elog_text_string(text, event->fields[i]->name);
		put_character(text, '=');
		elog_decode(event->fields[i], payload, size, &value);
		elog_format_value(text, event->fields[i], &value);
	}
}
