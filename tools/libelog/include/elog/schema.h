/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * libelog: schemas, which say what events look like, and taking fields out of records.
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
	ELOG_TYPE_BOOL,		/* 1 byte */
	ELOG_TYPE_CHARS,	/* char[N]: text, up to the first NUL */
	ELOG_TYPE_OCTETS,	/* u8[N] */
	ELOG_TYPE_STRING,	/* a __u32 size << 16 | offset; text with its NUL */
	ELOG_TYPE_BYTES,	/* the same; any bytes */
	ELOG_TYPE_IPV4,		/* 4 bytes, network order */
	ELOG_TYPE_IPV6,		/* 16 bytes, network order */
	ELOG_TYPE_PORT,		/* 2 bytes, network order */
	ELOG_TYPE_MAC,		/* 6 bytes */
	ELOG_TYPE_TIME,		/* u64, ns of CLOCK_MONOTONIC, as records have */
	ELOG_TYPE_DURATION,	/* u64, ns */
	ELOG_TYPE_PTR,		/* u64, an address */
	ELOG_TYPE_ENUM,		/* an integer that has names */
	ELOG_TYPE_FLAGS,	/* an integer whose bits have names */
	ELOG_TYPE_STRUCT,	/* N bytes that only their owner can read */
};

/** enum elog_display - how a field wants to be shown */
enum elog_display {
	ELOG_DISPLAY_DEFAULT,
	ELOG_DISPLAY_DEC,
	ELOG_DISPLAY_HEX,
};

/**
 * struct elog_schema_name - a value that has a name: a keyword, an enumerator,
 *	a flag
 * @value: the value; of signed enums sign-extended
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
 * @count: of @names
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
 * @type: what it is
 * @display: how it wants to be shown
 * @offset: bytes from the start of the payload
 * @size: bytes in the fixed part (4 for strings and bytes)
 * @is_signed: of enums: the integer is signed
 * @relative: of strings and bytes: the offset counts from behind the word
 * @set: of enums and flags: the names, else NULL
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
	const struct elog_schema_set *set;
};

struct elog_schema_provider;

/**
 * struct elog_schema_event - an event
 * @provider: the provider it belongs to
 * @name: its name
 * @description: may be empty
 * @id: number in the provider
 * @level: enum eventlog_level
 * @keywords: mask
 * @fixed_size: bytes of the payload's fixed part
 * @field_count: of @fields
 * @fields: in the order of the payload
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
};

/**
 * struct elog_schema_provider - a provider
 * @name: its name
 * @description: may be empty
 * @keyword_count: of @keywords
 * @keywords: named bits
 * @set_count: of @sets
 * @sets: enum and flags types
 * @event_count: of @events
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
 * @provider_count: of @providers
 * @providers: in the order of the text
 */
struct elog_schema {
	size_t provider_count;
	struct elog_schema_provider **providers;
};

/**
 * struct elog_schema_error - where and why a schema text is wrong
 * @line: line number, from 1
 * @message: what is wrong there
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
 * Return: 0, -EINVAL for a wrong text, -EPROTONOSUPPORT for one in a newer
 * language, -ENOMEM.
 */
int elog_schema_parse(const char *text, size_t size,
		      struct elog_schema **schema,
		      struct elog_schema_error *error);

/** elog_schema_free() - free a schema; NULL is fine */
void elog_schema_free(struct elog_schema *schema);

/**
 * elog_level_name() - the name of a level
 * @level: enum eventlog_level
 *
 * Return: "error" ... "verbose", or NULL when there is no such level.
 */
const char *elog_level_name(unsigned int level);

/**
 * elog_level_parse() - a level by its name
 * @name: "error", "warning", "notice", "info", "debug", "verbose"
 *
 * Return: enum eventlog_level, or 0 when there is none of that name.
 */
unsigned int elog_level_parse(const char *name);

/**
 * struct elog_value - a field of a record
 * @error: 0; -ENODATA the payload ends before the field does; -EBADMSG a
 *	dynamic part is outside of the payload, or a string has no NUL
 * @integer: of all types that are integers, sign-extended if signed
 * @data: of chars, octets, strings, bytes, addresses and structs: the bytes,
 *	inside the payload
 * @size: how many; of chars and strings up to the NUL
 * @claimed_offset: with -EBADMSG: where the dynamic part claims to be
 * @claimed_size: with -EBADMSG: how large it claims to be
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
 * elog_decode() - take a field out of a payload
 * @field: which
 * @payload: the payload, trusted in nothing
 * @size: bytes of it; no byte beyond is read
 * @value: filled in
 *
 * Return: @value->error.
 */
int elog_decode(const struct elog_schema_field *field, const void *payload,
		size_t size, struct elog_value *value);

/** elog_format_value() - append a value as text, an undecodable one as such */
void elog_format_value(struct elog_text *text,
		       const struct elog_schema_field *field,
		       const struct elog_value *value);

/**
 * elog_format_fields() - append "field=value field=value..."
 * @text: where
 * @event: the event's schema
 * @payload: the payload, trusted in nothing
 * @size: bytes of it
 */
void elog_format_fields(struct elog_text *text,
			const struct elog_schema_event *event,
			const void *payload, size_t size);

/**
 * elog_text_json_string() - append a string as JSON, with its quotes
 * @text: where
 * @data: the string
 * @size: bytes of it, NULs among them allowed
 *
 * Always valid JSON in UTF-8: control characters, U+0080 to U+009F among them,
 * are escaped, and each byte that is not UTF-8 becomes U+FFFD.
 */
void elog_text_json_string(struct elog_text *text, const char *data, size_t size);

/**
 * elog_text_csv() - append a cell of comma-separated values, as RFC 4180 says
 * @text: where
 * @data: the cell
 * @size: bytes of it
 *
 * In quotes only when it holds a quote, a comma or a line's end; nothing else is
 * changed. What a spreadsheet makes of a cell that begins with "=" is not
 * guarded against.
 */
void elog_text_csv(struct elog_text *text, const char *data, size_t size);

/**
 * elog_format_json_value() - append a value as JSON
 * @text: where
 * @field: what it is
 * @value: the value; null when it is undecodable
 *
 * Integers, ports, times and durations (ns) are numbers with all their digits,
 * which may be more than a double holds; bools true or false; pointers and what
 * wants hexadecimal strings "0x..."; enums the name, or a number that has none;
 * flags an array of names, and of a last "0x..." for bits that have none; what
 * wants decimal is a number. Text and addresses are strings, other bytes strings
 * of hexadecimal digits.
 */
void elog_format_json_value(struct elog_text *text,
			    const struct elog_schema_field *field,
			    const struct elog_value *value);

/**
 * elog_format_json_fields() - append "field":value,"field":value...
 * @text: where; the braces are the caller's
 * @event: the event's schema
 * @payload: the payload, trusted in nothing
 * @size: bytes of it
 */
void elog_format_json_fields(struct elog_text *text,
			     const struct elog_schema_event *event,
			     const void *payload, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* ELOG_SCHEMA_H */
