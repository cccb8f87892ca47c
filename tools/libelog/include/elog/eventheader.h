/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * libelog: decoding of eventheader events, whose records describe their own fields.
 */
#ifndef ELOG_EVENTHEADER_H
#define ELOG_EVENTHEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elog/schema.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The decoder of eventheader records; it belongs to one thread at a time. */
struct elog_eventheader;

/**
 * struct elog_eventheader_record - a decoded record
 * @event: the schema of this record. Records of the same event have the same schema, until
 *	@generation changes: then all earlier schemas are freed
 * @payload: for elog_decode() and the functions that format fields; valid until the next
 *	call for the decoder
 * @payload_size: bytes of it
 * @generation: changes when the decoder frees its schemas
 * @reserved: 0
 */
struct elog_eventheader_record {
	const struct elog_schema_event *event;
	const void *payload;
	size_t payload_size;
	uint64_t generation;
	uint64_t reserved[2];
};

/**
 * elog_is_eventheader() - do the records of an event have an eventheader?
 * @event: the event's schema; NULL: no
 *
 * Return: true if the name ends in "_L<level>K<keywords>", perhaps with options, and the
 * first field is the u8 eventheader_flags.
 */
bool elog_is_eventheader(const struct elog_schema_event *event);

/** elog_eventheader_open() - make a decoder; return 0 or -ENOMEM */
int elog_eventheader_open(struct elog_eventheader **decoder);

/** elog_eventheader_close() - free the decoder and all its schemas; may be NULL */
void elog_eventheader_close(struct elog_eventheader *decoder);

/**
 * elog_eventheader_decode() - decode a record
 * @decoder: the decoder
 * @event: the schema that the record was written with; elog_is_eventheader() is true for it
 * @payload: the payload, which need not be valid
 * @size: bytes of it
 * @record: filled in
 *
 * The provider is the name of @event before "_L", and the level and the keywords are those
 * behind it. The event's name and its fields are in the record. A field of a struct is named
 * "struct.field". An array is an ELOG_TYPE_ARRAY, with everything in it. A value that may be
 * absent is an optional field.
 *
 * What cannot be decoded is in the fields undecoded_at, an offset in @payload, and
 * undecoded, the bytes there; if the description is damaged, metadata_at and metadata say
 * where. Fields that the record ends before have the error -ENODATA.
 *
 * Return: 0; -EINVAL @event is no eventheader; -ENOMEM.
 */
int elog_eventheader_decode(struct elog_eventheader *decoder,
			    const struct elog_schema_event *event,
			    const void *payload, size_t size,
			    struct elog_eventheader_record *record);

#ifdef __cplusplus
}
#endif

#endif /* ELOG_EVENTHEADER_H */
