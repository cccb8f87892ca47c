// SPDX-License-Identifier: GPL-2.0-only
/*
 * Markers of files: see marker_file.h. marker_note.c finds their notes; this reads the
 * strings and makes the names.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "marker/marker_file.h"

#ifdef ELOG_ELF
#include "elog_marker_names.h"

#include "marker/marker_note.h"
#include "util/tool.h"

/* Limits: sufficient for compiled files, and small enough for forged ones. */
#define TEXT_MAX	65536U
#define PATH_LENGTH_MAX	1024U
#define NAME_LENGTH_MAX	256U
#define TEXTS_MAX	(64U << 20)

/* The types of fields in eventlog_marker.h, where they differ from libelog's. */
static const char *const kernel_types[] = {
	"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "bool", "ptr", "time",
	"duration", "ipv4", "port", "string",
};

/* A marker that is being read: the library's struct, and the rest. */
struct found {
	struct elog_marker marker;
	char *tag;		/* of a module */
	unsigned int allowed;
	bool of_module;
	bool is_listed;
};

static void free_found(struct found *found)
{
	if (found->marker.state)
		elog_marker_state_free(found->marker.state);
	free((char *)(uintptr_t)found->marker.text);
	free((char *)(uintptr_t)found->marker.path);
	free((char *)(uintptr_t)found->marker.function);
	free(found->tag);
}

static bool is_identifier(const char *text, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		if (!elog_marker_is_word(text[i]))
			return false;
	return length;
}

/* Read the types of the fields; false: not valid. */
static bool take_types(struct found *found, const uint32_t *numbers)
{
	unsigned int i, type, last = found->of_module ? ARRAY_SIZE(kernel_types) :
							ELOG_MARKER_TYPES - 1;
	unsigned int count = numbers[OTHERS] & 0xff;

	if (count > ELOG_MARKER_FIELDS_MAX)
		return false;
	found->marker.types[0] = (unsigned char)count;
	for (i = 0; i < count; i++) {
		type = numbers[TYPES_LOW + i / 8] >> (i % 8 * 4) & 15;
		if (!type || type > last)
			return false;
		found->marker.types[1 + i] = (unsigned char)type;
	}
	return true;
}

static int read_strings(const struct image *image, const struct note *note,
			struct found *found)
{
	const struct target *slots = note->slots;
	char *text, *path, *function;
	int ret;

	ret = image_string(image, &slots[TEXT], TEXT_MAX, &text);
	found->marker.text = text;
	if (ret)
		return ret;
	ret = image_string(image, &slots[PATH], PATH_LENGTH_MAX, &path);
	found->marker.path = path;
	if (ret)
		return ret;
	ret = image_string(image, &slots[FUNCTION], NAME_LENGTH_MAX, &function);
	found->marker.function = function;
	if (ret || !note->of_module)
		return ret;
	return image_string(image, &slots[TAG], NAME_LENGTH_MAX, &found->tag);
}

/* Put the tag before a module's fields, as in the markers of programs. */
static int join_text(struct found *found)
{
	char *text;

	if (asprintf(&text, "%s, %s", found->tag, found->marker.text) < 0)
		return -ENOMEM;
	free((char *)(uintptr_t)found->marker.text);
	found->marker.text = text;
	return 0;
}

/*
 * Modules outside the kernel tree may be compiled with absolute paths. Then paths are
 * relative to the directory of the module, as when it is loaded.
 */
static int shorten_path(const struct image *image, const struct note *note,
			struct found *found)
{
	const char *path = found->marker.path, *end;
	size_t length;
	char *module;
	int ret;

	ret = image_string(image, &note->slots[MODULE], PATH_LENGTH_MAX, &module);
	if (ret || !module)
		return ret;
	end = strrchr(module, '/');
	length = end ? (size_t)(end + 1 - module) : 0;
	if (*path == '/' && length && !strncmp(path, module, length))
		memmove((char *)(uintptr_t)path, path + length, strlen(path + length) + 1);
	free(module);
	return 0;
}

static const char *known_tag(const struct found *found)
{
	return found->of_module ? found->tag : found->marker.text;
}

/*
 * Return: 1: it is a marker; 0: it is not; or a negative errno. The caller frees @found
 * in any case.
 */
static int read_marker(const struct image *image, const struct note *note,
		       struct found *found)
{
	const struct target *self = &note->slots[SELF], *unit = &note->slots[UNIT];
	uint32_t others = note->numbers[OTHERS];
	const char *tag;
	int ret;

	memset(found, 0, sizeof(*found));
	found->of_module = note->of_module;
	/* The linker may have discarded the marker. */
	if (!image_contains(image, self) || !take_types(found, note->numbers))
		return 0;
	found->marker.line = note->numbers[LINE];
	found->marker.sequence = note->numbers[SEQUENCE];
	found->allowed = others >> 16 & 7;
	found->marker.handlers = others >> 8 & found->allowed;
	if (!note->of_module) {
		found->is_listed = !(others >> 24 & ELOG_MARKER_NOTE_CPLUSPLUS);
		found->marker.flags = others >> 24 & ELOG_MARKER_NOTE_SESSION ?
				      ELOG_MARKER_HAS_SESSION : 0;
	}
	/* Its value only distinguishes units. */
	found->marker.unit = (const void *)(uintptr_t)((uint64_t)unit->section << 40 |
						       unit->address);
	ret = read_strings(image, note, found);
	if (ret)
		return ret;
	if (!found->marker.text || !found->marker.path || !found->marker.function)
		return 0;
	tag = known_tag(found);
	if (!tag || !is_identifier(tag, strcspn(tag, " ,\t")))
		return 0;
	if (note->of_module) {
		ret = shorten_path(image, note, found);
		if (!ret)
			ret = join_text(found);
	}
	return ret ? ret : 1;
}

static char *describe_fields(const struct found *found)
{
	const struct elog_marker *marker = &found->marker;
	char *text = NULL;
	unsigned int i;
	size_t size;
	FILE *stream;

	stream = open_memstream(&text, &size);
	if (!stream)
		return NULL;
	for (i = 0; i < marker->types[0]; i++) {
		unsigned int type = marker->types[1 + i];

		fprintf(stream, "%s%s %s", i ? "; " : "",
			found->of_module ? kernel_types[type - 1] :
					   elog_marker_type_name(type),
			marker->state->fields[i]);
	}
	if (fclose(stream)) {
		free(text);
		return NULL;
	}
	return text;
}

static int keep_marker(struct file_markers *markers, const struct found *found)
{
	const struct elog_marker *marker = &found->marker;
	struct file_marker *kept = &markers->markers[markers->count++];

	*kept = (struct file_marker){
		.tag = strndup(marker->text, elog_marker_tag_length(marker)),
		.event = strdup(marker->state->name),
		.path = strdup(elog_marker_short_path(marker->path)),
		.function = strdup(marker->function),
		.place = strdup(marker->state->place),
		.fields = describe_fields(found),
		.id = marker->state->id,
		.line = marker->line,
		.ordinal = marker->state->ordinal,
		.handlers = marker->handlers,
		.allowed = found->allowed,
		.has_session = marker->flags & ELOG_MARKER_HAS_SESSION,
	};
	return kept->tag && kept->event && kept->path && kept->function && kept->place &&
	       kept->fields ? 0 : -ENOMEM;
}

/* Markers of C and those of C++ are named independently. */
static int keep_group(struct file_markers *markers, struct found *found, size_t count,
		      bool is_listed)
{
	struct elog_marker **group = calloc(count + 1, sizeof(*group));
	size_t i, members = 0;
	int ret = 0;

	if (!group)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		if (found[i].is_listed == is_listed)
			group[members++] = &found[i].marker;
	if (!elog_markers_name(group, members))
		ret = -ENOMEM;
	/* The marker is the first member. */
	for (i = 0; i < members && !ret; i++)
		ret = keep_marker(markers, (struct found *)(void *)group[i]);
	free(group);
	return ret;
}

static int read_markers(struct image *image, struct file_markers *markers)
{
	struct found *found = calloc(image->count + 1, sizeof(*found));
	size_t i, count = 0, bytes = 0;
	int ret = 0;

	if (!found)
		return -ENOMEM;
	for (i = 0; i < image->count; i++) {
		ret = read_marker(image, &image->notes[i], &found[count]);
		if (ret <= 0)
			free_found(&found[count]);
		if (ret < 0)
			goto out;
		if (!ret)
			continue;
		/* Many markers may share a string, and each has a copy. */
		bytes += strlen(found[count].marker.text) +
			 strlen(found[count].marker.path) +
			 strlen(found[count].marker.function);
		count++;
		ret = bytes > TEXTS_MAX ? -E2BIG : 0;
		if (ret)
			goto out;
	}
	ret = -ENOMEM;
	markers->markers = calloc(count + 1, sizeof(*markers->markers));
	if (markers->markers)
		ret = keep_group(markers, found, count, true);
	if (!ret)
		ret = keep_group(markers, found, count, false);
out:
	for (i = 0; i < count; i++)
		free_found(&found[i]);
	free(found);
	return ret;
}

int file_markers_read(int fd, struct file_markers *markers)
{
	struct image image;
	int ret;

	memset(markers, 0, sizeof(*markers));
	ret = image_read(fd, &image);
	if (!ret && image.count)
		ret = read_markers(&image, markers);
	image_free(&image);
	return ret;
}

#else

int file_markers_read(int fd, struct file_markers *markers)
{
	(void)fd;
	memset(markers, 0, sizeof(*markers));
	return -EOPNOTSUPP;
}

#endif

void file_markers_free(struct file_markers *markers)
{
	size_t i;

	for (i = 0; i < markers->count; i++) {
		struct file_marker *marker = &markers->markers[i];

		free(marker->tag);
		free(marker->event);
		free(marker->path);
		free(marker->function);
		free(marker->place);
		free(marker->fields);
	}
	free(markers->markers);
	memset(markers, 0, sizeof(*markers));
}
