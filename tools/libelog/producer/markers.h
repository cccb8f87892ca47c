/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What libelog adds to markers, and what they are called. For markers.c, and for
 * elog, which names the markers of programs that do not run. Not installed.
 */
#ifndef MARKERS_H
#define MARKERS_H

#include "elog_marker.h"

/**
 * struct elog_marker_state - what a registered marker has
 * @next: of those that have retired
 * @event: NULL: it could not be registered
 * @command: that registers the event
 * @place: path:function:ordinal
 * @name: the event's
 * @fields: names
 * @id: hash of @place
 * @ordinal: how many markers there are before it in its function
 * @registered: the event is
 * @lines_since: atomic; when the lines that are counted began, seconds
 * @lines: atomic
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
	bool registered;
	uint64_t lines_since;
	uint32_t lines;
};

/**
 * struct elog_marker_kind - what a type of fields is
 * @type: in commands that register events
 * @schema: in the schema language
 * @bytes: it has in the fixed part
 * @is_signed: a number below 0 is possible
 */
struct elog_marker_kind {
	const char *type;
	const char *schema;
	unsigned int bytes;
	bool is_signed;
};

/* By enum elog_marker_type. */
extern const struct elog_marker_kind elog_marker_kinds[ELOG_MARKER_TYPES];

/** elog_marker_is_word() - may a character be in an identifier */
static inline bool elog_marker_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

/**
 * elog_marker_provider() - the name of a program's provider
 * @name: set to it, cut off if need be
 * @bytes: at @name
 * @program: what the program is called
 */
void elog_marker_provider(char *name, size_t bytes, const char *program);

/** elog_marker_tag_length() - bytes of a marker's tag */
size_t elog_marker_tag_length(const struct elog_marker *marker);

/** elog_marker_short_path() - a path as seen from the top of a tree that is built elsewhere */
const char *elog_marker_short_path(const char *path);

/**
 * elog_markers_name() - give markers states with ordinal, place, id, name and fields
 * @markers: of one program or library; sorted afterwards, by place
 * @count: of @markers
 *
 * Return: false: out of memory; then some have no state, or not all of it.
 */
bool elog_markers_name(struct elog_marker **markers, size_t count);

/** elog_marker_state_free() - free a state */
void elog_marker_state_free(struct elog_marker_state *state);

#endif /* MARKERS_H */
