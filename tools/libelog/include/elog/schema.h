/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * libelog: schemas, which describe the fields of events, and decoding of records.
 */
#ifndef ELOG_SCHEMA_H
#define ELOG_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elog/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/** enum elog_type - types of fields */
enum elog_type {
	ELOG_TYPE_UNSIGNED,	/* 1, 2, 4 or 8 bytes */
	ELOG_TYPE_SIGNED,	/* likewise */
	ELOG_TYPE_BOOL,		/* 1 byte; in decoded records also 2 or 4 */
	ELOG_TYPE_CHARS,	/* char[N]: text, up to the first NUL */
	ELOG_TYPE_OCTETS,	/* u8[N] */
	ELOG_TYPE_STRING,	/* a __u32 size << 16 | offset; text with its NUL */
	ELOG_TYPE_BYTES,	/* the same; any bytes */
	ELOG_TYPE_IPV4,		/* 4 bytes, network order */
	ELOG_TYPE_IPV6,		/* 16 bytes, network order */
	ELOG_TYPE_PORT,		/* 2 bytes, network order */
	ELOG_TYPE_MAC,		/* 6 bytes */
	ELOG_TYPE_TIME,		/* u64, ns of CLOCK_MONOTONIC, as in records */
	ELOG_TYPE_DURATION,	/* u64, ns */
	ELOG_TYPE_PTR,		/* u64, an address */
	ELOG_TYPE_ENUM,		/* an integer that has names */
	ELOG_TYPE_FLAGS,	/* an integer whose bits have names */
	ELOG_TYPE_STRUCT,	/* N bytes, whose layout is not known */

	/* Types that no schema text has: see elog/eventheader.h. */
	ELOG_TYPE_FLOAT,	/* 4 or 8 bytes, IEEE 754 */
	ELOG_TYPE_SECONDS,	/* 4 or 8 bytes, signed: seconds since 1970 in UTC */
	ELOG_TYPE_ARRAY,	/* like ELOG_TYPE_STRING: JSON that the library has made */
};

/** enum elog_display - the base in which a field is shown */
enum elog_display {
	ELOG_DISPLAY_DEFAULT,
	ELOG_DISPLAY_DEC,
	ELOG_DISPLAY_HEX,
};

/**
 * struct elog_schema_name - a value that has a name: a keyword, an enumerator,
 *	a flag
 * @value: the value; sign-extended if the enum is signed
 * @name: its name
 * @description: may be empty, never NULL
 */
struct elog_schema_name {
	uint64_t value;
	const char *name;
	const char *description;
};

/**
 * struct elog_schema_set - an enum or flags type
 * @name: its name
 * @description: may be empty
 * @flags: it is a flags type
 * @count: elements of @names
 * @names: in the order of the schema
 */
struct elog_schema_set {
	const char *name;
	const char *description;
	bool flags;
	size_t count;
	struct elog_schema_name **names;
};

/**
 * struct elog_schema_field - a field of an event
 * @name: its name
 * @type_name: the type as written in the schema
 * @description: may be empty
 * @type: the type
 * @display: the requested base of numbers
 * @offset: bytes from the start of the payload
 * @size: bytes in the fixed part (4 for strings and bytes; in decoded records 8: then they
 *	are a u64 size << 32 | offset, and strings have no NUL)
 * @is_signed: the integer is signed; also set for enums
 * @relative: strings and bytes only: the offset counts from the end of the 4 bytes
 * @optional: decoded records only: each value has a size of its own, and may be absent. The
 *	fixed part has a u64 size << 32 | offset
 * @set: enums and flags only: the names, else NULL
 * @json_name: the name in JSON, with escapes; NULL: @name
 */
struct elog_schema_field {
	const char *name;
	const char *type_name;
	const char *description;
	enum elog_type type;
	enum elog_display display;
	size_t offset;
	size_t size;
	bool is_signed;
	bool relative;
	bool optional;
	const struct elog_schema_set *set;
	const char *json_name;
};

struct elog_schema_provider;

/**
 * struct elog_schema_event - an event
 * @provider: the provider that it belongs to
 * @name: its name
 * @description: may be empty
 * @id: its number in the provider
 * @level: enum eventlog_level
 * @keywords: mask
 * @fixed_size: bytes of the payload's fixed part
 * @field_count: elements of @fields
 * @fields: in the order of the payload
 * @attribute: enum eventlog_attribute; 0: none
 */
struct elog_schema_event {
	const struct elog_schema_provider *provider;
	const char *name;
	const char *description;
	uint32_t id;
	unsigned int level;
	uint64_t keywords;
	size_t fixed_size;
	size_t field_count;
	struct elog_schema_field **fields;
	unsigned int attribute;
};

/**
 * struct elog_schema_provider - a provider
 * @name: its name
 * @description: may be empty
 * @keyword_count: elements of @keywords
 * @keywords: named bits
 * @set_count: elements of @sets
 * @sets: enum and flags types
 * @event_count: elements of @events
 * @events: in the order of the schema
 */
struct elog_schema_provider {
	const char *name;
	const char *description;
	size_t keyword_count;
	struct elog_schema_name **keywords;
	size_t set_count;
	struct elog_schema_set **sets;
	size_t event_count;
	struct elog_schema_event **events;
};

/**
 * struct elog_schema - a schema
 * @provider_count: elements of @providers
 * @providers: in the order of the text
 */
struct elog_schema {
	size_t provider_count;
	struct elog_schema_provider **providers;
};

/**
 * struct elog_schema_error - an error in a schema text
 * @line: line number, from 1
 * @message: the error
 * @reserved: 0
 */
struct elog_schema_error {
	unsigned int line;
	char message[160];
	unsigned int reserved[3];
};

/**
 * elog_schema_parse() - parse a schema text
 * @text: the text
 * @size: bytes of it
 * @schema: set to the result
 * @error: filled in on -EINVAL and -EPROTONOSUPPORT; may be NULL
 *
 * Return: 0; -EINVAL the text has an error; -EPROTONOSUPPORT it is written in a newer
 * version of the language; -ENOMEM.
 */
int elog_schema_parse(const char *text, size_t size,
		      struct elog_schema **schema,
		      struct elog_schema_error *error);

/** elog_schema_free() - free a schema; may be NULL */
void elog_schema_free(struct elog_schema *schema);

/**
 * elog_level_name() - get the name of a level
 * @level: enum eventlog_level
 *
 * Return: "critical" ... "verbose", or NULL if there is no such level.
 */
const char *elog_level_name(unsigned int level);

/**
 * elog_level_parse() - get a level by its name
 * @name: "critical" ... "verbose", or "warn" for "warning"
 *
 * Return: enum eventlog_level, or 0 if no level has this name.
 */
unsigned int elog_level_parse(const char *name);

/**
 * struct elog_value - a field of a record
 * @error: 0; -ENODATA the payload ends before the field does; -EBADMSG the dynamic
 *	data is outside of the payload, or a string has no NUL; -ENOENT an optional field has no
 *	value; -ERANGE the type of an optional field has no value of this size: @data and @size
 *	are set
 * @integer: integers of all types, sign-extended if signed; floats: the bits of a double
 * @data: chars, octets, strings, bytes, arrays, addresses and structs: the bytes, inside the
 *	payload
 * @size: bytes of @data; of chars and strings, those before the NUL; of floats, 4 or 8
 * @claimed_offset: on -EBADMSG: the offset that the field claims
 * @claimed_size: on -EBADMSG: the size that the field claims
 * @reserved: 0
 */
struct elog_value {
	int error;
	uint64_t integer;
	const void *data;
	size_t size;
	size_t claimed_offset;
	size_t claimed_size;
	uint64_t reserved[2];
};

/**
 * elog_decode() - read a field of a payload
 * @field: the field
 * @payload: the payload, which need not be valid
 * @size: bytes of it; nothing behind them is read
 * @value: filled in
 *
 * Return: @value->error.
 */
int elog_decode(const struct elog_schema_field *field, const void *payload,
		size_t size, struct elog_value *value);

/** elog_format_value() - append a value as text; if it has an error, the error */
void elog_format_value(struct elog_text *text,
		       const struct elog_schema_field *field,
		       const struct elog_value *value);

/**
 * elog_format_fields() - append "field=value field=value..."
 * @text: the text
 * @event: the event's schema
 * @payload: the payload, which need not be valid
 * @size: bytes of it
 */
void elog_format_fields(struct elog_text *text,
			const struct elog_schema_event *event,
			const void *payload, size_t size);

/**
 * elog_format_json_value() - append a value as JSON
 * @text: the text
 * @field: the field
 * @value: the value; null if it could not be decoded or is absent
 *
 * Integers and ports are numbers, or strings of digits beyond 2^53, because many programs keep
 * numbers as doubles. Times and durations (ns) are always numbers. Bools are true or false, or an
 * integer that is neither 1 nor 0. Pointers and fields
 * shown in hexadecimal are strings "0x...". Enums are the name, or an integer without
 * one. Flags are an array of names; the last element is a string "0x..." if bits have
 * no names. A field shown in decimal is always an integer. Text and addresses are
 * strings; other bytes are strings of hexadecimal digits. Floats are numbers, or the strings
 * "NaN", "Infinity" and "-Infinity". Dates are strings. Arrays are arrays. A value of a size
 * that its type does not have is a string of hexadecimal digits.
 */
void elog_format_json_value(struct elog_text *text,
			    const struct elog_schema_field *field,
			    const struct elog_value *value);

/**
 * elog_format_json_fields() - append "field":value,"field":value...
 * @text: the text; the caller adds the braces
 * @event: the event's schema
 * @payload: the payload, which need not be valid
 * @size: bytes of it
 */
void elog_format_json_fields(struct elog_text *text,
			     const struct elog_schema_event *event,
			     const void *payload, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* ELOG_SCHEMA_H */
