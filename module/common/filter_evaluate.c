// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-only
/*
 * Evaluation of filters: see filter.h.
 */
#include "common/field_type.h"
#include "common/filter.h"
#include "common/word.h"

#define EVENTLOG_IPV6_BYTES	16

const u8 eventlog_mapped_prefix[12] = { [10] = 0xff, [11] = 0xff };

/* The bytes of a field in the fixed part; NULL: the payload is too short. */
static notrace const u8 *eventlog_fixed(const struct eventlog_operands *operands, u32 position,
					u32 bytes)
{
	if (position > operands->bytes || bytes > operands->bytes - position)
		return NULL;
	return operands->payload + position;
}

static notrace bool eventlog_number_get(const struct eventlog_test *test,
					const struct eventlog_operands *operands,
					const struct eventlog_identity *identity, u64 *number)
{
	const u8 *from;

	switch (test->source) {
	case EVENTLOG_SOURCE_CPU:
		*number = identity->cpu;
		return identity->cpu != EVENTLOG_CPU_UNKNOWN;
	case EVENTLOG_SOURCE_PID:
		*number = identity->pid;
		return true;
	case EVENTLOG_SOURCE_TID:
		*number = identity->tid;
		return true;
	case EVENTLOG_SOURCE_SESSION:
		*number = identity->session;
		return true;
	case EVENTLOG_SOURCE_VALUE:
		*number = eventlog_field_value(test->value_type, operands->values[test->position]);
		break;
	default:
		from = eventlog_fixed(operands, test->position, test->bytes);
		if (!from)
			return false;
		*number = eventlog_integer_load(from, test->bytes, test->is_signed);
		break;
	}
	if (test->swapped)
		*number = be16_to_cpu((__force __be16)*number);
	return true;
}

/* Finds what is at @offset of a payload in parts; sets @bytes to what is left of the part. */
static notrace const u8 *eventlog_part_find(const struct eventlog_operands *operands, u32 offset,
					    u32 *bytes)
{
	const struct eventlog_part *part;

	for (part = operands->parts; part < operands->parts + operands->count; part++) {
		if (offset <= part->bytes) {
			*bytes = part->bytes - offset;
			if (*bytes || part->string)
				return (const u8 *)part->data + offset;
		}
		offset -= part->bytes + part->string;
	}
	return NULL;
}

/* The data of a field; sets @bytes to its size.  NULL: it is not in the payload. */
static notrace const u8 *eventlog_data_get(const struct eventlog_test *test,
					   const struct eventlog_operands *operands, u32 *bytes)
{
	const u8 *data = eventlog_fixed(operands, test->position, test->bytes);
	u32 word, offset, room = 0;

	*bytes = test->bytes;
	if (!data || test->source == EVENTLOG_SOURCE_FIXED)
		return data;
	word = get_unaligned((const u32 *)data);
	offset = word & 0xffff;
	if (test->relative)
		offset += test->position + sizeof(u32);
	*bytes = word >> 16;
	if (!operands->count) {
		if (offset > operands->bytes || *bytes > operands->bytes - offset)
			return NULL;
		return operands->payload + offset;
	}
	if (!*bytes)
		return data;
	data = eventlog_part_find(operands, offset, &room);
	if (*bytes > room)
		*bytes = room;
	return data;
}

/* The string that a test compares; sets @room to its maximum length. */
static notrace const char *eventlog_string_find(const struct eventlog_test *test,
						const struct eventlog_operands *operands,
						const struct eventlog_identity *identity, u32 *room)
{
	const char *string;

	switch (test->source) {
	case EVENTLOG_SOURCE_COMM:
		*room = EVENTLOG_COMM_BYTES;
		return identity->comm;
	case EVENTLOG_SOURCE_VALUE:
		/* A NULL string is recorded as "(null)", so compare with that. */
		string = (const char *)(unsigned long)operands->values[test->position];
		*room = U32_MAX;
		return string ? string : "(null)";
	default:
		return (const char *)eventlog_data_get(test, operands, room);
	}
}

/* Reads each byte once: a string in parts may change meanwhile. */
static notrace bool eventlog_string_holds(const struct eventlog_test *test, const char *string,
					  u32 room)
{
	u32 i;

	for (i = 0; i < test->length; i++)
		if (i >= room || READ_ONCE(string[i]) != test->string[i])
			return false;
	return test->type == EVENTLOG_TEST_PREFIX || i >= room || !READ_ONCE(string[i]);
}

static notrace bool eventlog_address_holds(const struct eventlog_test *test, const u8 *field)
{
	u32 skip = EVENTLOG_IPV6_BYTES - test->length, i;

	if (skip && memcmp(field, eventlog_mapped_prefix, skip))
		return false;
	for (i = 0; i < test->length; i++)
		if ((field[skip + i] & test->address[test->length + i]) != test->address[i])
			return false;
	return true;
}

static notrace bool eventlog_hex_holds(const struct eventlog_test *test, const u8 *data, u32 bytes)
{
	const char *digits = test->string;
	u32 i;

	if (bytes != test->length)
		return false;
	for (i = 0; i < bytes; i++, digits += 2)
		if (data[i] != (eventlog_hex_digit(digits[0]) << 4 | eventlog_hex_digit(digits[1])))
			return false;
	return true;
}

/* Tests that read data, not a number. */
static notrace bool eventlog_data_holds(const struct eventlog_test *test,
					const struct eventlog_operands *operands)
{
	const u8 *data;
	bool holds;
	u32 bytes;

	data = eventlog_data_get(test, operands, &bytes);
	if (!data)
		return false;
	switch (test->type) {
	case EVENTLOG_TEST_ADDRESS:
		holds = eventlog_address_holds(test, data);
		break;
	case EVENTLOG_TEST_HEX:
		holds = eventlog_hex_holds(test, data, bytes);
		break;
	case EVENTLOG_TEST_NONZERO:
		holds = memchr_inv(data, 0, bytes);
		break;
	default:
		holds = bytes;
		break;
	}
	return holds != test->inverted;
}

/* A field that cannot be read makes the test false, even if it is inverted. */
static notrace bool eventlog_test_holds(const struct eventlog_test *test,
					const struct eventlog_operands *operands,
					const struct eventlog_identity *identity)
{
	const char *string;
	u64 number;
	bool holds;
	u32 room;

	switch (test->type) {
	case EVENTLOG_TEST_STRING:
	case EVENTLOG_TEST_PREFIX:
		string = eventlog_string_find(test, operands, identity, &room);
		return string && eventlog_string_holds(test, string, room) != test->inverted;
	case EVENTLOG_TEST_RANGE:
	case EVENTLOG_TEST_MASK:
		if (!eventlog_number_get(test, operands, identity, &number))
			return false;
		holds = test->type == EVENTLOG_TEST_MASK ?
			(number & test->mask) == test->low :
			(number ^ test->flip) - test->low <= test->span;
		return holds != test->inverted;
	default:
		return eventlog_data_holds(test, operands);
	}
}

notrace enum eventlog_verdict eventlog_tests_evaluate(const struct eventlog_test *tests,
						      unsigned int count,
						      const struct eventlog_operands *operands,
						      const struct eventlog_identity *identity)
{
	bool incompatible = false, holds;
	unsigned int i = 0;

	while (i < count) {
		const struct eventlog_test *test = &tests[i];

		if (test->type == EVENTLOG_TEST_INCOMPATIBLE) {
			incompatible = true;
			holds = false;
		} else {
			holds = eventlog_test_holds(test, operands, identity);
		}
		i = holds ? test->on_true : test->on_false;
	}
	if (i == EVENTLOG_FILTER_ACCEPT)
		return EVENTLOG_VERDICT_TRUE;
	return incompatible ? EVENTLOG_VERDICT_INCOMPATIBLE : EVENTLOG_VERDICT_FALSE;
}
