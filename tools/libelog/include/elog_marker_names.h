/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The state and the names of markers. For markers.c, and for elog, which names the
 * markers of programs that are not running. Not installed.
 */
#ifndef ELOG_MARKER_NAMES_H
#define ELOG_MARKER_NAMES_H

#include <stdio.h>

#include "elog_marker.h"

/**
 * struct elog_marker_state - the state of a registered marker
 * @next: in the list of retired states
 * @event: NULL: it could not be registered
 * @command: registers the event
 * @place: path:function:ordinal
 * @name: of the event
 * @fields: their names
 * @id: hash of @place
 * @ordinal: number of markers before it in its function
 * @defaults: ELOG_MARKER_*: handlers that were enabled when it was registered
 * @registered: @event is registered
 * @lines_since: atomic; time from which @lines are counted, seconds
 * @lines: atomic; lines printed since
 * @filter: atomic; the kernel's filter, see producer/marker_fetch.h; NULL: not fetched
 */
struct elog_marker_state {
	struct elog_marker_state *next;
	struct elog_event *event;
	char *command;
	char *place;
	char *name;
	char *fields[ELOG_MARKER_FIELDS_MAX];
	uint64_t id;
	uint32_t ordinal;
	unsigned char defaults;
	bool registered;
	uint64_t lines_since;
	uint32_t lines;
	struct elog_marker_filter *filter;
};

/** elog_marker_type_name() - the schema language's name of an enum elog_marker_type */
const char *elog_marker_type_name(unsigned int type);

/* The index in eventlog_field_types of each enum elog_marker_type. */
extern const unsigned char elog_marker_field_types[ELOG_MARKER_TYPES];

/** elog_marker_is_word() - may this character be part of an identifier? */
static inline bool elog_marker_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

/**
 * elog_marker_provider() - make the name of a program's provider
 * @name: set to it; truncated if it does not fit
 * @bytes: room at @name
 * @program: the program's name
 */
void elog_marker_provider(char *name, size_t bytes, const char *program);

/** elog_marker_tag_length() - get the bytes of a marker's tag */
size_t elog_marker_tag_length(const struct elog_marker *marker);

/** elog_marker_hash() - the hash of a place: the id of the marker */
uint64_t elog_marker_hash(const char *place);

/** elog_marker_short_path() - strip leading "./" and "../" from a path */
const char *elog_marker_short_path(const char *path);

/**
 * struct elog_marker_description - what the description of a marker's event says
 * @place: path:function:ordinal; the caller frees it
 * @tag: its tag; the caller frees it
 * @path_length: bytes of the path in @place
 * @function_length: bytes of the function in @place
 * @ordinal: as in @place
 * @line: in the source file
 * @has_session: its events have sessions
 */
struct elog_marker_description {
	char *place;
	char *tag;
	size_t path_length;
	size_t function_length;
	uint32_t ordinal;
	uint32_t line;
	bool has_session;
};

/**
 * elog_marker_describe() - write the description of a marker's event
 * @text: where to; in double quotes
 * @marker: with a state that has its names
 *
 * "PLACE, line LINE", then ", tag TAG" if the event has another name than the tag, then
 * ", session" if its events have sessions. Characters that commands cannot have become '?'.
 */
void elog_marker_describe(FILE *text, const struct elog_marker *marker);

/**
 * elog_marker_parse_description() - parse what elog_marker_describe() has written
 * @text: the description, which is not trusted
 * @event: the name of the event
 * @result: filled in
 *
 * Return: 0; -EINVAL: it is none; -ENOMEM.
 */
int elog_marker_parse_description(const char *text, const char *event,
				  struct elog_marker_description *result);

/**
 * elog_markers_name() - make states with ordinal, place, id, name and fields
 * @markers: of one program or library; sorted by place afterwards
 * @count: elements of @markers
 *
 * Return: false if memory is short. Some markers then have no state, or an incomplete
 * one.
 */
bool elog_markers_name(struct elog_marker **markers, size_t count);

/** elog_marker_state_free() - free a state */
void elog_marker_state_free(struct elog_marker_state *state);

#endif /* ELOG_MARKER_NAMES_H */
