// SPDX-License-Identifier: GPL-2.0-only
/*
 * The names of markers.
 *
 * A marker's identity is its place, "path:function:ordinal".  Ordinals are counted
 * here, so they depend only on the markers of the same function.  A marker in a
 * header that is compiled into several objects has one place.  Fields are named
 * after their expressions, events after tags; the second of two equal names becomes
 * NAME_2.
 *
 * All functions work on the markers of one module before anything else can see them;
 * no locks.
 */
#define pr_fmt(format) "eventlog: " format

#include <linux/bsearch.h>
#include <linux/kernel.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "common/field_type.h"
#include "common/marker_name.h"
#include "marker/marker.h"
#include "memory.h"

/* Room for a suffix or an ordinal, NUL included. */
#define EVENTLOG_NUMBER_ROOM 12

/* Room for the name of a field; one that is made of a longer expression is cut. */
#define EVENTLOG_EXPRESSION_ROOM 64

/* ---- places ---- */

/*
 * A path relative to the top of the source tree.  External modules may be compiled
 * with absolute paths; then the module's directory is the top.
 */
static const char *eventlog_marker_path(const char *path, const char *module)
{
	const char *end = module ? strrchr(module, '/') : NULL;
	size_t length = end ? end + 1 - module : 0;

	if (*path == '/' && length && !strncmp(path, module, length))
		path += length;
	for (;;) {
		if (!strncmp(path, "./", 2))
			path += 2;
		else if (!strncmp(path, "../", 3))
			path += 3;
		else
			return path;
	}
}

/* Equal strings usually have the same address. */
static int eventlog_string_compare(const char *a, const char *b)
{
	return a == b ? 0 : strcmp(a, b);
}

static int eventlog_number_compare(u64 a, u64 b)
{
	return a < b ? -1 : a > b;
}

static int eventlog_function_compare(const struct eventlog_marker *a,
				     const struct eventlog_marker *b)
{
	return eventlog_string_compare(a->path, b->path) ?:
	       eventlog_string_compare(a->function, b->function) ?:
	       eventlog_number_compare((unsigned long)a->unit, (unsigned long)b->unit);
}

/* In source order. */
static int eventlog_source_compare(const void *left, const void *right)
{
	const struct eventlog_marker *a = *(struct eventlog_marker *const *)left;
	const struct eventlog_marker *b = *(struct eventlog_marker *const *)right;

	return eventlog_function_compare(a, b) ?: eventlog_number_compare(a->line, b->line) ?:
	       eventlog_number_compare(a->sequence, b->sequence);
}

static int eventlog_id_compare(const void *left, const void *right)
{
	const struct eventlog_marker *a = *(struct eventlog_marker *const *)left;
	const struct eventlog_marker *b = *(struct eventlog_marker *const *)right;

	return eventlog_number_compare(a->id, b->id);
}

static int eventlog_tag_compare(const void *left, const void *right)
{
	const struct eventlog_marker *a = *(struct eventlog_marker *const *)left;
	const struct eventlog_marker *b = *(struct eventlog_marker *const *)right;

	return eventlog_string_compare(a->tag, b->tag) ?: eventlog_source_compare(left, right);
}

static int eventlog_tag_search(const void *key, const void *element)
{
	const struct eventlog_marker *marker = *(struct eventlog_marker *const *)element;

	return strcmp(key, marker->tag);
}

/* FNV-1a, as <uapi/linux/eventlog.h> defines ids. */
static u64 eventlog_place_hash(const char *place)
{
	u64 hash = 0xcbf29ce484222325ULL;

	while (*place)
		hash = (hash ^ (u8)*place++) * 0x100000001b3ULL;
	return hash;
}

static int eventlog_id_search(const void *key, const void *element)
{
	const struct eventlog_marker *marker = *(struct eventlog_marker *const *)element;

	return eventlog_number_compare(*(const u64 *)key, marker->id);
}

struct eventlog_marker *eventlog_marker_find(const struct eventlog_markers *markers, u64 id)
{
	struct eventlog_marker **found;

	found = bsearch(&id, markers->by_id, markers->count, sizeof(*found), eventlog_id_search);
	if (!found)
		return NULL;
	while (found > markers->by_id && found[-1]->id == id)
		found--;
	return *found;
}

/* ---- names ---- */

/* Gives the last of @count fields a name that no earlier one has. */
static char *eventlog_field_name(struct eventlog_field *fields, unsigned int count, char *to,
				 const char *text, size_t length)
{
	char *name = to, *behind = to + eventlog_marker_name_write(to, EVENTLOG_EXPRESSION_ROOM -
								      EVENTLOG_NUMBER_ROOM,
								      text, length);
	unsigned int i, number = 1;

	for (i = 0; i < count - 1; i++) {
		if (strcmp(fields[i].name, name))
			continue;
		sprintf(behind, "_%u", ++number);
		/* An earlier field may have this name, too: start again. */
		i = -1;
	}
	fields[count - 1].name = name;
	return name + strlen(name) + 1;
}

static char *eventlog_marker_fields(struct eventlog_marker *marker, struct eventlog_field *fields,
				    char *to)
{
	struct eventlog_provider_event *event = &marker->event;
	const char *text = marker->text;
	struct eventlog_marker_field source;

	event->fields = fields;
	event->field_count = 0;
	event->fixed_bytes = 0;
	while (event->field_count < marker->types[0]) {
		struct eventlog_field *field = &fields[event->field_count++];
		const struct eventlog_field_type *type =
			&eventlog_field_types[marker->types[event->field_count]];

		eventlog_marker_field_take(&text, &source);
		field->type = type->name;
		event->fixed_bytes += type->bytes;
		to = eventlog_field_name(fields, event->field_count, to,
					 source.name ?: source.expression,
					 source.name ? source.name_bytes : source.expression_bytes);
		if (strlen(field->name) != source.expression_bytes ||
		    strncmp(field->name, source.expression, source.expression_bytes)) {
			memcpy(to, source.expression, source.expression_bytes);
			to[source.expression_bytes] = '\0';
			field->description = to;
			to += source.expression_bytes + 1;
		}
	}
	return to;
}

/* Upper limit of the size of a marker's names. */
static size_t eventlog_marker_names_bytes(const struct eventlog_marker *marker)
{
	return strlen(marker->tag) + EVENTLOG_NUMBER_ROOM +
	       strlen(marker->path) + strlen(marker->function) + EVENTLOG_NUMBER_ROOM + 2 +
	       strlen(marker->text) + marker->types[0] * (EVENTLOG_EXPRESSION_ROOM + 2);
}

/* Names the event of by_tag[i]; @number counts the markers with the same tag. */
static char *eventlog_event_name(struct eventlog_markers *markers,
				 struct eventlog_marker **by_tag, unsigned int i, char *to,
				 unsigned int *number)
{
	struct eventlog_marker *marker = by_tag[i];

	if (!i || strcmp(by_tag[i - 1]->tag, marker->tag)) {
		*number = 1;
		marker->event.name = marker->tag;
		return to;
	}
	do {
		sprintf(to, "%s_%u", marker->tag, ++*number);
	} while (bsearch(to, by_tag, markers->count, sizeof(*by_tag), eventlog_tag_search));
	marker->event.name = to;
	return to + strlen(to) + 1;
}

static char *eventlog_markers_place(struct eventlog_markers *markers, char *to)
{
	struct eventlog_marker *marker, *before = NULL;
	unsigned int i;

	for (i = 0; i < markers->count; i++, before = marker) {
		marker = markers->markers[i];
		marker->ordinal = before && !eventlog_function_compare(before, marker) ?
				  before->ordinal + 1 : 0;
		marker->event.description = to;
		to += sprintf(to, "%s:%s:%u", marker->path, marker->function, marker->ordinal) + 1;
		marker->id = eventlog_place_hash(marker->event.description);
	}
	return to;
}

static int eventlog_ids_check(struct eventlog_markers *markers)
{
	unsigned int i;

	for (i = 1; i < markers->count; i++) {
		const struct eventlog_marker *a = markers->by_id[i - 1], *b = markers->by_id[i];

		if (a->id != b->id || !strcmp(a->event.description, b->event.description))
			continue;
		pr_err("markers of %s: %s and %s have the id %016llx\n", markers->module->name,
		       a->event.description, b->event.description, a->id);
		return -EEXIST;
	}
	return 0;
}

int eventlog_markers_name(struct eventlog_markers *markers)
{
	struct eventlog_marker **by_tag;
	struct eventlog_field *fields;
	unsigned int i, number = 0;
	size_t field_count = 0;
	size_t bytes = 0;
	char *to;

	for (i = 0; i < markers->count; i++) {
		struct eventlog_marker *marker = markers->markers[i];

		marker->path = eventlog_marker_path(marker->path, marker->module);
		bytes += eventlog_marker_names_bytes(marker);
		field_count += marker->types[0];
	}
	by_tag = eventlog_alloc(markers->count * sizeof(*by_tag));
	fields = eventlog_alloc((field_count ?: 1) * sizeof(*fields));
	to = eventlog_alloc(bytes);
	markers->fields = fields;
	markers->names = to;
	if (!by_tag || !fields || !to) {
		eventlog_free(by_tag);
		return -ENOMEM;
	}
	sort(markers->markers, markers->count, sizeof(*markers->markers), eventlog_source_compare,
	     NULL);
	to = eventlog_markers_place(markers, to);
	memcpy(by_tag, markers->markers, markers->count * sizeof(*by_tag));
	sort(by_tag, markers->count, sizeof(*by_tag), eventlog_tag_compare, NULL);
	for (i = 0; i < markers->count; i++)
		to = eventlog_event_name(markers, by_tag, i, to, &number);
	eventlog_free(by_tag);

	for (i = 0; i < markers->count; i++) {
		struct eventlog_marker *marker = markers->markers[i];

		to = eventlog_marker_fields(marker, fields, to);
		fields += marker->event.field_count;
		marker->event.id = i + 1;
		marker->event.level = EVENTLOG_LEVEL_DEBUG;
		markers->events[i] = &marker->event;
		markers->by_id[i] = marker;
	}
	sort(markers->by_id, markers->count, sizeof(*markers->by_id), eventlog_id_compare, NULL);
	return eventlog_ids_check(markers);
}
