// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Names of markers, and of their fields.
 *
 * A marker is identified by its place. Events are named after tags, fields after their
 * expressions. If two names would be the same, the second becomes NAME_2.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/field_type.h"
#include "common/marker_name.h"
#include "elog_marker_names.h"

#define NUMBER_BYTES	12

const unsigned char elog_marker_field_types[ELOG_MARKER_TYPES] = {
	[ELOG_MARKER_U8] = EVENTLOG_TYPE_U8,
	[ELOG_MARKER_U16] = EVENTLOG_TYPE_U16,
	[ELOG_MARKER_U32] = EVENTLOG_TYPE_U32,
	[ELOG_MARKER_U64] = EVENTLOG_TYPE_U64,
	[ELOG_MARKER_S8] = EVENTLOG_TYPE_S8,
	[ELOG_MARKER_S16] = EVENTLOG_TYPE_S16,
	[ELOG_MARKER_S32] = EVENTLOG_TYPE_S32,
	[ELOG_MARKER_S64] = EVENTLOG_TYPE_S64,
	[ELOG_MARKER_BOOL] = EVENTLOG_TYPE_U8,
	[ELOG_MARKER_PTR] = EVENTLOG_TYPE_U64,
	[ELOG_MARKER_STRING] = EVENTLOG_TYPE_STRING,
};

const char *elog_marker_type_name(unsigned int type)
{
	return eventlog_field_types[elog_marker_field_types[type]].name;
}

void elog_marker_provider(char *name, size_t bytes, const char *program)
{
	char *c;

	snprintf(name, bytes, EVENTLOG_PROGRAM_PREFIX "%s", program);
	for (c = name; *c; c++)
		if (!elog_marker_is_word(*c))
			*c = '_';
}

/* Make an identifier from an expression, with room for a number behind it. */
static char *make_name(const char *text, size_t length)
{
	char *name = malloc(EVENTLOG_NAME_MAX);

	if (name)
		eventlog_marker_name_write(name, EVENTLOG_NAME_MAX - NUMBER_BYTES, text, length);
	return name;
}

/* Name the fields; all names are different. */
static bool name_fields(struct elog_marker *marker, const char *text)
{
	struct elog_marker_state *state = marker->state;
	struct eventlog_marker_field field;
	unsigned int i, j, number;
	size_t length;

	for (i = 0; i < marker->types[0]; i++) {
		eventlog_marker_field_take(&text, &field);
		state->fields[i] = field.name ?
				   make_name(field.name, field.name_bytes) :
				   make_name(field.expression, field.expression_bytes);
		if (!state->fields[i])
			return false;
		length = strlen(state->fields[i]);
		for (j = 0, number = 1; j < i; j++) {
			if (strcmp(state->fields[i], state->fields[j]))
				continue;
			snprintf(state->fields[i] + length, NUMBER_BYTES, "_%u",
				 ++number);
			/* The new name may exist, too. */
			j = (unsigned int)-1;
		}
	}
	return true;
}

/* Paths start at the top of the source tree, wherever it was built. */
const char *elog_marker_short_path(const char *path)
{
	for (;;) {
		if (!strncmp(path, "./", 2))
			path += 2;
		else if (!strncmp(path, "../", 3))
			path += 3;
		else
			return path;
	}
}

uint64_t elog_marker_hash(const char *text)
{
	uint64_t value = 0xcbf29ce484222325ULL;

	for (; *text; text++)
		value = (value ^ (unsigned char)*text) * 0x100000001b3ULL;
	return value;
}

static int compare_functions(const struct elog_marker *a,
			     const struct elog_marker *b)
{
	int ret = strcmp(elog_marker_short_path(a->path), elog_marker_short_path(b->path));

	if (!ret)
		ret = strcmp(a->function, b->function);
	if (!ret)
		ret = ((uintptr_t)a->unit > (uintptr_t)b->unit) -
		      ((uintptr_t)a->unit < (uintptr_t)b->unit);
	return ret;
}

/* In source order. */
static int compare_markers(const void *left, const void *right)
{
	const struct elog_marker *a = *(struct elog_marker *const *)left;
	const struct elog_marker *b = *(struct elog_marker *const *)right;
	int ret = compare_functions(a, b);

	if (!ret)
		ret = (a->line > b->line) - (a->line < b->line);
	if (!ret)
		ret = (a->sequence > b->sequence) - (a->sequence < b->sequence);
	return ret;
}

size_t elog_marker_tag_length(const struct elog_marker *marker)
{
	return strcspn(marker->text, " ,\t");
}

static int compare_names(const void *left, const void *right)
{
	const struct elog_marker *a = *(struct elog_marker *const *)left;
	const struct elog_marker *b = *(struct elog_marker *const *)right;
	int ret = strcmp(a->state->name, b->state->name);

	return ret ? ret : compare_markers(left, right);
}

static struct elog_marker **find_name(struct elog_marker **sorted, size_t count,
				      const char *name)
{
	size_t low = 0, high = count, middle;
	int ret;

	while (low < high) {
		middle = low + (high - low) / 2;
		ret = strcmp(name, sorted[middle]->state->name);
		if (!ret)
			return &sorted[middle];
		if (ret < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

/* Events with the same name get numbers: NAME, NAME_2, NAME_3, ... */
static bool name_events(struct elog_marker **markers, size_t count)
{
	struct elog_marker **sorted;
	char name[EVENTLOG_NAME_MAX];
	size_t i, first = 0;
	unsigned int number = 1;
	char **names;

	sorted = calloc(count + 1, sizeof(*sorted));
	names = calloc(count + 1, sizeof(*names));
	if (!sorted || !names)
		goto err;
	memcpy(sorted, markers, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare_names);
	for (i = 1; i < count; i++) {
		if (strcmp(sorted[i]->state->name, sorted[first]->state->name)) {
			first = i;
			number = 1;
			continue;
		}
		do {
			/*
			 * make_name() has left room for the number; truncated names
			 * could be equal.
			 */
			snprintf(name, sizeof(name), "%.*s_%u",
				 EVENTLOG_NAME_MAX - NUMBER_BYTES,
				 sorted[first]->state->name, ++number);
		} while (find_name(sorted, count, name));
		names[i] = strdup(name);
		if (!names[i])
			goto err;
	}
	for (i = 0; i < count; i++) {
		if (!names[i])
			continue;
		free(sorted[i]->state->name);
		sorted[i]->state->name = names[i];
	}
	free(names);
	free(sorted);
	return true;

err:
	for (i = 0; names && i < count; i++)
		free(names[i]);
	free(names);
	free(sorted);
	return false;
}

bool elog_markers_name(struct elog_marker **markers, size_t count)
{
	struct elog_marker *marker, *before = NULL;
	struct elog_marker_state *state;
	size_t i;

	qsort(markers, count, sizeof(*markers), compare_markers);
	for (i = 0; i < count; i++, before = marker) {
		marker = markers[i];
		state = calloc(1, sizeof(*state));
		marker->state = state;
		if (!state)
			return false;
		if (before && !compare_functions(before, marker))
			/* All instances of a template are one marker. */
			state->ordinal = before->state->ordinal +
					 !!compare_markers(&before, &marker);
		if (asprintf(&state->place, "%s:%s:%u", elog_marker_short_path(marker->path),
			     marker->function, state->ordinal) < 0) {
			state->place = NULL;
			return false;
		}
		state->id = elog_marker_hash(state->place);
		state->name = make_name(marker->text, elog_marker_tag_length(marker));
		if (!state->name ||
		    !name_fields(marker, marker->text + elog_marker_tag_length(marker)))
			return false;
	}
	return name_events(markers, count);
}

/* In a string of a command. */
static void put_quoted(FILE *text, const char *string, size_t length)
{
	for (; length; string++, length--) {
		if (*string == '"' || *string == '\\')
			fputc('\\', text);
		fputc(*string < ' ' || *string > '~' ? '?' : *string, text);
	}
}

void elog_marker_describe(FILE *text, const struct elog_marker *marker)
{
	const struct elog_marker_state *state = marker->state;
	size_t length = elog_marker_tag_length(marker);

	fputc('"', text);
	put_quoted(text, state->place, strlen(state->place));
	fprintf(text, ", line %u", marker->line);
	if (strncmp(state->name, marker->text, length) || state->name[length]) {
		fputs(", tag ", text);
		put_quoted(text, marker->text, length);
	}
	if (marker->flags & ELOG_MARKER_HAS_SESSION)
		fputs(", session", text);
	fputc('"', text);
}

/* Cut ", KEY VALUE" off the end of a text. Return: VALUE, or NULL if it is not there. */
static char *cut_value(char *text, const char *key)
{
	char *comma = strrchr(text, ',');
	size_t length = strlen(key);

	if (!comma || comma[1] != ' ' || strncmp(comma + 2, key, length))
		return NULL;
	*comma = '\0';
	return comma + 2 + length;
}

int elog_marker_parse_description(const char *description, const char *event,
				  struct elog_marker_description *result)
{
	char *place = strdup(description), *function = NULL, *ordinal, *value, *tag, *end;

	memset(result, 0, sizeof(*result));
	if (!place)
		return -ENOMEM;
	result->has_session = cut_value(place, "session");
	tag = cut_value(place, "tag ");
	value = cut_value(place, "line ");
	if (value)
		result->line = (uint32_t)strtoul(value, &end, 10);
	ordinal = strrchr(place, ':');
	if (ordinal)
		function = memrchr(place, ':', (size_t)(ordinal - place));
	if (!value || *end || !function) {
		free(place);
		return -EINVAL;
	}
	result->ordinal = (uint32_t)strtoul(ordinal + 1, &end, 10);
	result->path_length = (size_t)(function - place);
	result->function_length = (size_t)(ordinal - function - 1);
	result->tag = strdup(tag ? tag : event);
	result->place = place;
	return result->tag ? 0 : -ENOMEM;
}

void elog_marker_state_free(struct elog_marker_state *state)
{
	unsigned int i;

	for (i = 0; i < ELOG_MARKER_FIELDS_MAX; i++)
		free(state->fields[i]);
	free(state->command);
	free(state->name);
	free(state->place);
	free(state);
}
