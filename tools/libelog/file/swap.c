// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Conversion of payloads from the other byte order. The schema tells which fields have
 * a byte order: numbers, and the words with the offset and size of strings and bytes.
 * Addresses, ports and bytes are the same on all machines.
 *
 * Pure functions of their arguments.
 */
#include <string.h>

#include "elog.h"
#include "file/swap.h"

static void reverse(unsigned char *bytes, size_t size)
{
	unsigned char byte;
	size_t i;

	for (i = 0; i < size / 2; i++) {
		byte = bytes[i];
		bytes[i] = bytes[size - 1 - i];
		bytes[size - 1 - i] = byte;
	}
}

void elog_swap_payload(const struct elog_schema_event *event,
		       unsigned char *payload, size_t size)
{
	const struct elog_schema_field *field;
	size_t i;

	/* Its flags say which byte order it has. */
	if (elog_is_eventheader(event))
		return;
	for (i = 0; i < event->field_count; i++) {
		field = event->fields[i];
		if (field->offset > size || field->size > size - field->offset)
			continue;
		switch (field->type) {
		case ELOG_TYPE_UNSIGNED:
		case ELOG_TYPE_SIGNED:
		case ELOG_TYPE_TIME:
		case ELOG_TYPE_DURATION:
		case ELOG_TYPE_PTR:
		case ELOG_TYPE_ENUM:
		case ELOG_TYPE_FLAGS:
		case ELOG_TYPE_STRING:
		case ELOG_TYPE_BYTES:
			reverse(payload + field->offset, field->size);
			break;
		case ELOG_TYPE_BOOL:
		case ELOG_TYPE_CHARS:
		case ELOG_TYPE_OCTETS:
		case ELOG_TYPE_IPV4:
		case ELOG_TYPE_IPV6:
		case ELOG_TYPE_PORT:
		case ELOG_TYPE_MAC:
		case ELOG_TYPE_STRUCT:
		case ELOG_TYPE_FLOAT:
		case ELOG_TYPE_SECONDS:
		case ELOG_TYPE_ARRAY:
			break;
		}
	}
}
