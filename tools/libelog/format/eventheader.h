/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Decoding of eventheader records, in two steps: the metadata of a record becomes a plan
 * (eventheader_plan.c), which is cached; the plan turns the data of each record into a
 * payload for elog_decode() (eventheader_value.c). eventheader.c has the public functions,
 * the headers and the cache.
 *
 * Records are hostile. The work for a record is linear in its size; fields, nesting and text
 * are limited. No locks: a decoder belongs to one thread.
 */
#ifndef LIBELOG_EVENTHEADER_H
#define LIBELOG_EVENTHEADER_H

#include "elog/eventheader.h"
#include "util/text.h"

#define ELOG_EH_FIELDS_MAX	1024	/* of a record, with members of structs in arrays */
#define ELOG_EH_DEPTH_MAX	8	/* structs in structs */
#define ELOG_EH_TEXT_MAX	(1U << 20)	/* bytes of the decoded text of a record */

/* What a value is, and how it becomes a field. */
enum elog_eh_kind {
	ELOG_EH_PLAIN,		/* a number in the byte order of the record */
	ELOG_EH_OCTETS,		/* bytes that stay as they are */
	ELOG_EH_CHARACTER,	/* one character */
	ELOG_EH_UUID,
	ELOG_EH_TEXT,		/* a string in UTF-8, UTF-16 or UTF-32 */
	ELOG_EH_TEXT_MARKED,	/* the same; it may begin with a byte order mark */
	ELOG_EH_TEXT_LATIN,	/* a string in ISO-8859-1 */
	ELOG_EH_BYTES,
	ELOG_EH_ANY_NUMBER,	/* an optional number, in the byte order of the record */
	ELOG_EH_ANY_PORT,	/* an optional port */
	ELOG_EH_ANY_UUID,	/* an optional UUID; bytes unless there are 16 */
	ELOG_EH_ANY_ADDRESS,	/* an optional address; bytes unless there are 4 or 16 */
	ELOG_EH_STRUCT,		/* of an array, or in a struct of an array */
};

enum elog_eh_length {
	ELOG_EH_FIXED,		/* one unit */
	ELOG_EH_TERMINATED,	/* units up to one that is 0 */
	ELOG_EH_COUNTED,	/* a u16 number, then units */
};

enum elog_eh_array {
	ELOG_EH_NO_ARRAY,
	ELOG_EH_FIXED_ARRAY,	/* the number of elements is in the metadata */
	ELOG_EH_VARIABLE_ARRAY,	/* a u16 before the elements */
};

/**
 * struct elog_eh_step - a value to read
 * @kind: what it is
 * @length: how long it is
 * @unit: bytes of a number, or of a character
 * @array: it is an array of such values
 * @count: elements of a fixed array
 * @end: index of the step behind it and its members
 * @slot: offset in the payload; not of members
 * @field: the value without the array, at offset 0
 * @name: of the field; of members: in the struct, with the escapes of JSON
 * @json_name: of the field, with escapes; NULL: @name
 */
struct elog_eh_step {
	enum elog_eh_kind kind;
	enum elog_eh_length length;
	unsigned int unit;
	enum elog_eh_array array;
	unsigned int count;
	uint32_t end;
	size_t slot;
	struct elog_schema_field field;
	char *name;
	char *json_name;
};

/* Fields that are not in the metadata. Each has a slot in the payload, before the others. */
enum elog_eh_extra {
	ELOG_EH_ID,
	ELOG_EH_VERSION,
	ELOG_EH_TAG,
	ELOG_EH_OPCODE,
	ELOG_EH_LEVEL,
	ELOG_EH_ACTIVITY,
	ELOG_EH_RELATED,
	ELOG_EH_METADATA_AT,
	ELOG_EH_METADATA,
	ELOG_EH_UNDECODED_AT,
	ELOG_EH_UNDECODED,
	ELOG_EH_EXTRAS,
};

/**
 * struct elog_eh_variant - the schema for records that end in the same field
 * @next: another variant of the plan
 * @stop: number of fields that records have
 * @extras: mask of enum elog_eh_extra
 * @event: the schema
 * @fields: of it, then their list
 */
struct elog_eh_variant {
	struct elog_eh_variant *next;
	uint32_t stop;
	uint32_t extras;
	struct elog_schema_event event;
	struct elog_schema_field fields[];
};

/**
 * struct elog_eh_plan - how to decode the records of one event
 * @provider: the provider
 * @event: name, level and keywords of the schemas
 * @steps: what to read, in the order of the data
 * @step_count: number of @steps
 * @field_count: number of @steps that are not members
 * @fixed_size: bytes of the slots
 * @torn: the metadata is damaged
 * @torn_at: offset of the damage in the metadata
 * @extra_names: names of the extra fields, which differ from those of @steps
 * @extra_json_names: their names in JSON
 * @variants: schemas that were needed so far
 * @bytes: memory usage
 */
struct elog_eh_plan {
	struct elog_schema_provider provider;
	struct elog_schema_event event;
	struct elog_eh_step *steps;
	uint32_t step_count;
	uint32_t field_count;
	size_t fixed_size;
	bool torn;
	size_t torn_at;
	char *extra_names[ELOG_EH_EXTRAS];
	char *extra_json_names[ELOG_EH_EXTRAS];
	struct elog_eh_variant *variants;
	size_t bytes;
};

/**
 * struct elog_eh_metadata - what a plan is made of
 * @event: the schema that records were written with
 * @provider_size: bytes of the provider's name in the name of @event
 * @level: enum eventlog_level
 * @keywords: mask
 * @data: the metadata; NULL: there is none
 * @size: bytes of it
 * @swap: the byte order differs from the host's
 * @errors: names of error numbers
 */
struct elog_eh_metadata {
	const struct elog_schema_event *event;
	size_t provider_size;
	unsigned int level;
	uint64_t keywords;
	const unsigned char *data;
	size_t size;
	bool swap;
	const struct elog_schema_set *errors;
};

/** elog_eh_plan_new() - make a plan; NULL: no memory */
struct elog_eh_plan *elog_eh_plan_new(const struct elog_eh_metadata *metadata);

/** elog_eh_plan_free() - free a plan; may be NULL */
void elog_eh_plan_free(struct elog_eh_plan *plan);

/**
 * elog_eh_plan_variant() - get the schema of records
 * @plan: the plan; its memory usage may grow
 * @stop: number of fields that the records have
 * @extras: mask of enum elog_eh_extra
 * @opcodes: names of opcodes
 *
 * Return: the schema; NULL: no memory.
 */
const struct elog_schema_event *elog_eh_plan_variant(struct elog_eh_plan *plan, uint32_t stop,
						     uint32_t extras,
						     const struct elog_schema_set *opcodes);

/** elog_eh_extra_slot() - offset of the slot of an extra field */
size_t elog_eh_extra_slot(enum elog_eh_extra extra);

/**
 * struct elog_eh_run - the decoding of a record
 * @data: the record's payload
 * @size: bytes of it
 * @at: offset of the next byte to decode
 * @swap: the byte order differs from the host's
 * @payload: the result: slots, then text and bytes
 * @scratch: for elements of arrays
 */
struct elog_eh_run {
	const unsigned char *data;
	size_t size;
	size_t at;
	bool swap;
	struct elog_text *payload;
	struct elog_text *scratch;
};

/** elog_eh_load16() - read a number in the byte order of the record */
static inline uint16_t elog_eh_load16(const unsigned char *bytes, bool swap)
{
	uint16_t value;

	memcpy(&value, bytes, sizeof(value));
	return swap ? __builtin_bswap16(value) : value;
}

/**
 * elog_eh_run_fields() - decode the data
 * @run: starts at the data; ends before the first field that cannot be decoded
 * @plan: the plan
 *
 * Return: the number of fields that were decoded. Then check the errors of the texts.
 */
uint32_t elog_eh_run_fields(struct elog_eh_run *run, const struct elog_eh_plan *plan);

/** elog_eh_put_bytes() - append bytes to the payload, and set the slot of them */
void elog_eh_put_bytes(struct elog_eh_run *run, size_t slot, const void *data, size_t size);

/** elog_eh_put_uuid() - append a UUID as text */
void elog_eh_put_uuid(struct elog_text *text, const unsigned char *bytes);

/** elog_eh_put_hex() - append bytes as hexadecimal digits */
void elog_eh_put_hex(struct elog_text *text, const unsigned char *bytes, size_t size);

#endif /* LIBELOG_EVENTHEADER_H */
