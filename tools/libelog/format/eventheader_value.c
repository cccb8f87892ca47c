// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The data of eventheader records, which becomes a payload for elog_decode(): see
 * eventheader.h.
 *
 * Numbers get the byte order of the host, strings become UTF-8, and arrays become JSON.
 * Elements of arrays are fields too: they are decoded and formatted like any other.
 */
#include <endian.h>
#include <string.h>

#include "elog.h"
#include "format/eventheader.h"
#include "format/text.h"

/* Take @size bytes of the data. Return: NULL if there are not so many. */
static const unsigned char *take(struct elog_eh_run *run, size_t size)
{
	const unsigned char *bytes = run->data + run->at;

	if (size > run->size - run->at)
		return NULL;
	run->at += size;
	return bytes;
}

static const unsigned char *take_count(struct elog_eh_run *run, unsigned int *count)
{
	const unsigned char *bytes = take(run, sizeof(uint16_t));

	if (bytes)
		*count = elog_eh_load16(bytes, run->swap);
	return bytes;
}

static uint32_t load_unit(const unsigned char *bytes, unsigned int unit, bool swap)
{
	uint32_t word;

	if (unit == 1)
		return *bytes;
	if (unit == 2)
		return elog_eh_load16(bytes, swap);
	memcpy(&word, bytes, sizeof(word));
	return swap ? __builtin_bswap32(word) : word;
}

/* Take the bytes of a string. Return: false if it does not end in the record. */
static bool take_string(struct elog_eh_run *run, const struct elog_eh_step *step,
			const unsigned char **bytes, size_t *size)
{
	const size_t from = run->at;
	const unsigned char *unit;
	unsigned int count;

	if (step->length == ELOG_EH_FIXED) {
		*size = step->unit;
		*bytes = take(run, *size);
		return *bytes;
	}
	if (step->length == ELOG_EH_COUNTED) {
		if (!take_count(run, &count))
			return false;
		*size = (size_t)count * step->unit;
		*bytes = take(run, *size);
		return *bytes;
	}
	while ((unit = take(run, step->unit))) {
		if (load_unit(unit, step->unit, false))
			continue;
		*bytes = run->data + from;
		*size = (size_t)(unit - *bytes);
		return true;
	}
	return false;
}

/* ------------------------------------------------------------------------
 * Text
 */

/* A half of a surrogate pair is written as its three bytes, which no UTF-8 has. */
static void put_wide(struct elog_text *text, const unsigned char *bytes, size_t size,
		     unsigned int unit, bool swap)
{
	uint32_t character, low;
	size_t i;

	for (i = 0; size - i >= unit; i += unit) {
		character = load_unit(bytes + i, unit, swap);
		if (unit == 2 && character >= 0xd800 && character < 0xdc00 && size - i >= 4) {
			low = load_unit(bytes + i + 2, unit, swap);
			if (low >= 0xdc00 && low < 0xe000) {
				character = 0x10000 + ((character & 0x3ff) << 10 | (low & 0x3ff));
				i += 2;
			}
		}
		elog_text_unicode(text, character);
	}
	/* Only what follows a byte order mark may have a part of a character. */
	for (; i < size; i++)
		elog_text_put(text, bytes + i, 1);
}

/* A mark tells the size of characters and their byte order, whatever the encoding is. */
static bool put_marked(struct elog_text *text, const unsigned char *bytes, size_t size)
{
	static const unsigned char mark32le[] = { 0xff, 0xfe, 0, 0 };
	static const unsigned char mark32be[] = { 0, 0, 0xfe, 0xff };
	static const unsigned char mark16le[] = { 0xff, 0xfe };
	static const unsigned char mark16be[] = { 0xfe, 0xff };
	static const unsigned char mark8[] = { 0xef, 0xbb, 0xbf };
	const bool is_big = __BYTE_ORDER == __BIG_ENDIAN;

	if (size >= 4 && !memcmp(bytes, mark32le, 4))
		put_wide(text, bytes + 4, size - 4, 4, is_big);
	else if (size >= 4 && !memcmp(bytes, mark32be, 4))
		put_wide(text, bytes + 4, size - 4, 4, !is_big);
	else if (size >= 2 && !memcmp(bytes, mark16le, 2))
		put_wide(text, bytes + 2, size - 2, 2, is_big);
	else if (size >= 2 && !memcmp(bytes, mark16be, 2))
		put_wide(text, bytes + 2, size - 2, 2, !is_big);
	else if (size >= 3 && !memcmp(bytes, mark8, 3))
		elog_text_put(text, bytes + 3, size - 3);
	else
		return false;
	return true;
}

static void put_text(struct elog_text *text, const unsigned char *bytes, size_t size,
		     unsigned int unit, bool swap)
{
	if (unit == 1)
		elog_text_put(text, bytes, size);
	else
		put_wide(text, bytes, size, unit, swap);
}

void elog_eh_put_hex(struct elog_text *text, const unsigned char *bytes, size_t size)
{
	char *room = elog_text_room(text, 2 * size);

	if (room)
		elog_text_advance(text, elog_put_octets(room, bytes, size, '\0'));
}

void elog_eh_put_uuid(struct elog_text *text, const unsigned char *bytes)
{
	static const unsigned int ends[] = { 4, 6, 8, 10, 16 };
	unsigned int i, from = 0;

	for (i = 0; i < 5; from = ends[i++]) {
		if (i)
			elog_text_character(text, '-');
		elog_eh_put_hex(text, bytes + from, ends[i] - from);
	}
}

static void put_address(struct elog_text *text, const unsigned char *bytes, size_t size)
{
	char *room = elog_text_room(text, ELOG_ADDRESS_MAX);

	if (room)
		elog_text_advance(text, elog_put_address(room, bytes, size));
}

/* A number gets the byte order of the host. Bytes that are none stay as they are. */
static void put_number(struct elog_text *text, const struct elog_eh_run *run,
		       const struct elog_eh_step *step, const unsigned char *bytes, size_t size)
{
	const bool swap = run->swap && elog_has_size(&step->field, size);
	char *room = elog_text_room(text, size);
	size_t i;

	for (i = 0; room && i < size; i++)
		*room++ = (char)bytes[swap ? size - 1 - i : i];
	if (room)
		elog_text_advance(text, room);
}

/* Append the value of a string or of bytes. */
static void put_string(struct elog_text *text, const struct elog_eh_run *run,
		       const struct elog_eh_step *step, const unsigned char *bytes, size_t size)
{
	size_t i;

	switch (step->kind) {
	case ELOG_EH_CHARACTER:
		elog_text_unicode(text, load_unit(bytes, step->unit, run->swap));
		break;
	case ELOG_EH_UUID:
		elog_eh_put_uuid(text, bytes);
		break;
	case ELOG_EH_TEXT_MARKED:
		if (put_marked(text, bytes, size))
			break;
		put_text(text, bytes, size, step->unit, run->swap);
		break;
	case ELOG_EH_TEXT_LATIN:
		for (i = 0; i < size; i++)
			elog_text_unicode(text, bytes[i]);
		break;
	case ELOG_EH_ANY_NUMBER:
		put_number(text, run, step, bytes, size);
		break;
	case ELOG_EH_ANY_PORT:
	case ELOG_EH_BYTES:
		elog_text_put(text, bytes, size);
		break;
	case ELOG_EH_ANY_UUID:
		if (size == 16)
			elog_eh_put_uuid(text, bytes);
		else
			elog_eh_put_hex(text, bytes, size);
		break;
	case ELOG_EH_ANY_ADDRESS:
		if (size == 4 || size == 16)
			put_address(text, bytes, size);
		else
			elog_eh_put_hex(text, bytes, size);
		break;
	default:
		put_text(text, bytes, size, step->unit, run->swap);
		break;
	}
}

/* Is the value in its slot, instead of behind the slots? */
static bool is_fixed(const struct elog_eh_step *step)
{
	return step->kind == ELOG_EH_PLAIN || step->kind == ELOG_EH_OCTETS;
}

static bool take_fixed(struct elog_eh_run *run, const struct elog_eh_step *step,
		       unsigned char *value)
{
	const unsigned char *bytes = take(run, step->unit);
	unsigned int i;

	if (!bytes)
		return false;
	for (i = 0; i < step->unit; i++)
		value[i] = bytes[run->swap && step->kind == ELOG_EH_PLAIN ?
				 step->unit - 1 - i : i];
	return true;
}

/* ------------------------------------------------------------------------
 * Arrays
 */

static bool put_item(struct elog_eh_run *run, const struct elog_eh_step *steps, uint32_t index);

/* Append a value of an array as JSON. */
static bool put_element(struct elog_eh_run *run, const struct elog_eh_step *step)
{
	struct elog_value value = { 0 };
	const unsigned char *bytes;
	unsigned char fixed[16];
	size_t size;

	if (is_fixed(step)) {
		if (!take_fixed(run, step, fixed))
			return false;
		elog_decode(&step->field, fixed, step->unit, &value);
	} else {
		if (!take_string(run, step, &bytes, &size))
			return false;
		run->scratch->size = 0;
		put_string(run->scratch, run, step, bytes, size);
		value.data = run->scratch->size ? run->scratch->data : "";
		value.size = run->scratch->size;
		if (step->field.optional)
			elog_decode_sized(&step->field, value.data, value.size, &value);
	}
	elog_format_json_value(run->payload, &step->field, &value);
	return true;
}

static bool put_members(struct elog_eh_run *run, const struct elog_eh_step *steps,
			uint32_t index)
{
	uint32_t i;

	elog_text_character(run->payload, '{');
	for (i = index + 1; i < steps[index].end; i = steps[i].end) {
		if (i > index + 1)
			elog_text_character(run->payload, ',');
		elog_text_character(run->payload, '"');
		elog_text_string(run->payload, steps[i].name);
		elog_text_string(run->payload, "\":");
		if (!put_item(run, steps, i))
			return false;
	}
	elog_text_character(run->payload, '}');
	return true;
}

static bool put_one(struct elog_eh_run *run, const struct elog_eh_step *steps, uint32_t index)
{
	return steps[index].kind == ELOG_EH_STRUCT ? put_members(run, steps, index) :
						     put_element(run, &steps[index]);
}

static bool put_array(struct elog_eh_run *run, const struct elog_eh_step *steps, uint32_t index)
{
	unsigned int count = steps[index].count, i;

	if (steps[index].array == ELOG_EH_VARIABLE_ARRAY && !take_count(run, &count))
		return false;
	elog_text_character(run->payload, '[');
	for (i = 0; i < count; i++) {
		if (i)
			elog_text_character(run->payload, ',');
		if (!put_one(run, steps, index) || run->payload->error ||
		    run->payload->size > ELOG_EH_TEXT_MAX)
			return false;
	}
	elog_text_character(run->payload, ']');
	return true;
}

/* A member, or an array. Each takes a byte at least, so the work is limited by the record. */
static bool put_item(struct elog_eh_run *run, const struct elog_eh_step *steps, uint32_t index)
{
	return steps[index].array == ELOG_EH_NO_ARRAY ? put_one(run, steps, index) :
							put_array(run, steps, index);
}

/* ------------------------------------------------------------------------
 * Fields
 */

/* Set the slot of what was appended to the payload since @from. */
static void set_slot(struct elog_eh_run *run, size_t slot, size_t from)
{
	uint64_t word;

	if (run->payload->error)
		return;
	word = (uint64_t)(run->payload->size - from) << 32 | from;
	memcpy(run->payload->data + slot, &word, sizeof(word));
}

void elog_eh_put_bytes(struct elog_eh_run *run, size_t slot, const void *data, size_t size)
{
	const size_t from = run->payload->size;

	elog_text_put(run->payload, data, size);
	set_slot(run, slot, from);
}

static bool run_field(struct elog_eh_run *run, const struct elog_eh_step *steps, uint32_t index)
{
	const struct elog_eh_step *step = &steps[index];
	const size_t from = run->payload->size;
	const unsigned char *bytes;
	size_t size;

	if (step->array != ELOG_EH_NO_ARRAY) {
		if (!put_array(run, steps, index))
			return false;
	} else if (is_fixed(step)) {
		return take_fixed(run, step, (unsigned char *)run->payload->data + step->slot);
	} else {
		if (!take_string(run, step, &bytes, &size))
			return false;
		put_string(run->payload, run, step, bytes, size);
	}
	set_slot(run, step->slot, from);
	return true;
}

uint32_t elog_eh_run_fields(struct elog_eh_run *run, const struct elog_eh_plan *plan)
{
	uint32_t i, fields = 0;
	size_t at, size;

	for (i = 0; i < plan->step_count; i = plan->steps[i].end) {
		if (run->payload->error)
			break;
		at = run->at;
		size = run->payload->size;
		if (!run_field(run, plan->steps, i) || run->payload->size > ELOG_EH_TEXT_MAX) {
			run->at = at;
			if (!run->payload->error)
				run->payload->size = size;
			break;
		}
		fields++;
	}
	return fields;
}
