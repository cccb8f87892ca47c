// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Decoding fields of payloads.
 *
 * A payload may come from a hostile process through a file. So all accesses are inside
 * of the payload, and a field that reaches outside gets an error. Pure functions of
 * their arguments.
 */
#include <errno.h>
#include <string.h>

#include "elog.h"
#include "format/text.h"

static int decode_dynamic(const struct elog_schema_field *field,
			  const unsigned char *payload, size_t size,
			  struct elog_value *value)
{
	uint32_t word = (uint32_t)eventlog_integer_load(payload + field->offset, 4, false);
	const char *end;

	value->claimed_size = word >> 16;
	value->claimed_offset = word & 0xffff;
	if (field->relative)
		value->claimed_offset += field->offset + field->size;
	if (value->claimed_offset > size ||
	    value->claimed_size > size - value->claimed_offset)
		return -EBADMSG;
	value->data = payload + value->claimed_offset;
	value->size = value->claimed_size;
	if (field->type == ELOG_TYPE_BYTES)
		return 0;
	end = memchr(value->data, '\0', value->size);
	if (!end)
		return -EBADMSG;
	value->size = (size_t)(end - (const char *)value->data);
	return 0;
}

/* In decoded records the library has made the strings: they end where their size says. */
static int decode_wide(const struct elog_schema_field *field, const unsigned char *payload,
		       size_t size, struct elog_value *value)
{
	uint64_t word = eventlog_integer_load(payload + field->offset, sizeof(word), false);

	value->claimed_size = (size_t)(word >> 32);
	value->claimed_offset = (uint32_t)word;
	if (value->claimed_offset > size || value->claimed_size > size - value->claimed_offset)
		return -EBADMSG;
	value->data = payload + value->claimed_offset;
	value->size = value->claimed_size;
	return 0;
}

static uint64_t load_float(const unsigned char *bytes, size_t size)
{
	uint64_t bits;
	double number;
	float single;

	if (size == sizeof(single)) {
		memcpy(&single, bytes, sizeof(single));
		number = (double)single;
		memcpy(&bits, &number, sizeof(bits));
	} else {
		memcpy(&bits, bytes, sizeof(bits));
	}
	return bits;
}

static void decode_fixed(const struct elog_schema_field *field,
			 const unsigned char *bytes, size_t size, struct elog_value *value)
{
	/* Of optional bools, only those of 4 bytes are signed. */
	const bool is_signed = field->is_signed && (field->type != ELOG_TYPE_BOOL || size == 4);

	switch (field->type) {
	case ELOG_TYPE_CHARS:
		value->data = bytes;
		value->size = strnlen((const char *)bytes, size);
		break;
	case ELOG_TYPE_OCTETS:
	case ELOG_TYPE_STRUCT:
	case ELOG_TYPE_IPV4:
	case ELOG_TYPE_IPV6:
	case ELOG_TYPE_MAC:
		value->data = bytes;
		value->size = size;
		break;
	case ELOG_TYPE_PORT:
		value->integer = (uint64_t)bytes[0] << 8 | bytes[1];
		break;
	case ELOG_TYPE_FLOAT:
		value->integer = load_float(bytes, size);
		value->size = size;
		break;
	default:
		value->integer = eventlog_integer_load(bytes, size, is_signed);
		break;
	}
}

bool elog_has_size(const struct elog_schema_field *field, size_t size)
{
	switch (field->type) {
	case ELOG_TYPE_UNSIGNED:
	case ELOG_TYPE_SIGNED:
		return size == 1 || size == 2 || size == 4 || size == 8;
	case ELOG_TYPE_BOOL:
		return size == 1 || size == 2 || size == 4;
	case ELOG_TYPE_SECONDS:
	case ELOG_TYPE_FLOAT:
		return size == 4 || size == 8;
	case ELOG_TYPE_ENUM:
		return size == 4;
	case ELOG_TYPE_PORT:
		return size == 2;
	default:
		return true;
	}
}

int elog_decode_sized(const struct elog_schema_field *field, const void *bytes, size_t size,
		      struct elog_value *value)
{
	memset(value, 0, sizeof(*value));
	value->data = bytes;
	value->size = size;
	if (!size)
		value->error = -ENOENT;
	else if (!elog_has_size(field, size))
		value->error = -ERANGE;
	else if (field->type != ELOG_TYPE_STRING)
		decode_fixed(field, bytes, size, value);
	return value->error;
}

int elog_decode(const struct elog_schema_field *field, const void *payload,
		size_t size, struct elog_value *value)
{
	memset(value, 0, sizeof(*value));
	if (field->offset > size || field->size > size - field->offset)
		value->error = -ENODATA;
	else if (field->optional)
		value->error = decode_wide(field, payload, size, value) ? :
			       elog_decode_sized(field, value->data, value->size, value);
	else if (field->type == ELOG_TYPE_STRING ||
		 field->type == ELOG_TYPE_BYTES || field->type == ELOG_TYPE_ARRAY)
		value->error = field->size == sizeof(uint64_t) ?
			       decode_wide(field, payload, size, value) :
			       decode_dynamic(field, payload, size, value);
	else
		decode_fixed(field, (const unsigned char *)payload + field->offset, field->size,
			     value);
	return value->error;
}
