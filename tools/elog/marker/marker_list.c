// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists of markers, and reading those of modules and of files: see marker.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "marker/marker.h"
#include "marker/marker_file.h"
#include "util/array.h"
#include "util/nearest.h"

static const char *const handler_names[] = { "print", "trace", "probe" };

void markers_handlers_put(struct elog_text *text, uint32_t handlers)
{
	const char *comma = "";
	unsigned int i;

	if (!handlers)
		elog_text_string(text, "-");
	for (i = 0; i < ARRAY_SIZE(handler_names); i++) {
		if (!(handlers & 1U << i))
			continue;
		elog_text_printf(text, "%s%s", comma, handler_names[i]);
		comma = ",";
	}
}

void markers_handlers_put_json(struct elog_text *text, const char *name, uint32_t handlers)
{
	const char *comma = "";
	unsigned int i;

	elog_text_printf(text, ",\"%s\":[", name);
	for (i = 0; i < ARRAY_SIZE(handler_names); i++) {
		if (!(handlers & 1U << i))
			continue;
		elog_text_printf(text, "%s\"%s\"", comma, handler_names[i]);
		comma = ",";
	}
	elog_text_string(text, "]");
}

bool markers_handlers_parse(const char *text, uint32_t *handlers)
{
	size_t length, i;

	*handlers = 0;
	if (!strcmp(text, "-"))
		return true;
	for (;; text += length + 1) {
		length = strcspn(text, ",");
		for (i = 0; i < ARRAY_SIZE(handler_names); i++)
			if (strlen(handler_names[i]) == length &&
			    !strncmp(handler_names[i], text, length))
				break;
		if (i == ARRAY_SIZE(handler_names))
			return false;
		*handlers |= 1U << i;
		if (!text[length])
			return true;
	}
}

void markers_handlers_error(const char *text)
{
	char *words = strdup(text), *rest = words, *word;
	uint32_t handlers;

	while ((word = strsep(&rest, ",")) && *word && strcmp(word, "-") &&
	       markers_handlers_parse(word, &handlers))
		;
	choice_error(handler_names, ARRAY_SIZE(handler_names), word ? word : text, NULL,
		     "--handler: invalid handler '%s'", word ? word : text);
	free(words);
}

static void free_marker(struct marker *marker)
{
	free(marker->module);
	free(marker->tag);
	free(marker->event);
	free(marker->fields);
	free(marker->pids);
	free(marker->path);
	free(marker->function);
	free(marker->place);
	free(marker->predicate);
}

void markers_free(struct marker_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		free_marker(&list->markers[i]);
	free(list->markers);
	memset(list, 0, sizeof(*list));
}

struct marker *markers_add(struct marker_list *list)
{
	struct marker *larger = array_grow(list->markers, list->count, sizeof(*larger));

	if (!larger)
		return NULL;
	list->markers = larger;
	memset(&list->markers[list->count], 0, sizeof(*list->markers));
	return &list->markers[list->count++];
}

/* ------------------------------------------------------------------------
 * Of modules
 */

/* Copy the strings of a marker. */
static int copy_strings(struct marker *marker, const char *text)
{
	char **const strings[] = {
		&marker->module, &marker->tag, &marker->path, &marker->function,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(strings); i++) {
		*strings[i] = strdup(text);
		if (!*strings[i])
			return -ENOMEM;
		text += strlen(text) + 1;
	}
	if (marker->next.filtered) {
		marker->predicate = strdup(text);
		if (!marker->predicate)
			return -ENOMEM;
	}
	if (asprintf(&marker->place, "%s:%s:%u", marker->path, marker->function,
		     marker->next.ordinal) < 0) {
		marker->place = NULL;
		return -ENOMEM;
	}
	return 0;
}

int markers_read(int fd, struct marker_list *list)
{
	struct eventlog_marker_info next = { .size = sizeof(next) };
	struct elog_list *markers = NULL;
	struct marker *marker;
	const char *text;
	int ret = elog_list_open(fd, EVENTLOG_LIST_MARKERS, 0, &markers);

	while (!ret && !(ret = elog_list_next(markers, &next, &text))) {
		marker = markers_add(list);
		if (!marker) {
			ret = -ENOMEM;
			break;
		}
		marker->next = next;
		ret = copy_strings(marker, text);
	}
	elog_list_close(markers);
	return ret == -ENOENT ? 0 : ret;
}

/* ------------------------------------------------------------------------
 * Of files
 */

/* Files and processes may have any names: do not let them forge lines. */
static char *copy_name(const char *name)
{
	char *copy = strdup(name), *c;

	for (c = copy; c && *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	return copy;
}

/* NULL: out of memory. */
static struct marker *add_marker(struct marker_list *list, const struct file_marker *from,
				 const char *name)
{
	struct marker *marker = markers_add(list);

	if (!marker)
		return NULL;
	marker->module = copy_name(name);
	marker->tag = strdup(from->tag);
	marker->event = strdup(from->event);
	marker->fields = strdup(from->fields);
	marker->path = copy_name(from->path);
	marker->function = copy_name(from->function);
	marker->place = copy_name(from->place);
	marker->next.id = from->id;
	marker->next.line = from->line;
	marker->next.ordinal = from->ordinal;
	marker->next.handlers = from->handlers;
	marker->next.defaults = from->handlers;
	marker->next.allowed = from->allowed;
	marker->has_session = from->has_session;
	return marker->module && marker->tag && marker->event && marker->fields &&
	       marker->path && marker->function && marker->place ? marker : NULL;
}

static int add_file(struct marker_list *list, const struct file_markers *markers,
		    const char *name)
{
	struct marker *marker;
	size_t i;

	for (i = 0; i < markers->count; i++) {
		marker = add_marker(list, &markers->markers[i], name);
		if (!marker)
			return -ENOMEM;
		marker->owner = MARKER_OF_FILE;
	}
	return 0;
}

int markers_read_file(const char *name, struct marker_list *list)
{
	struct file_markers markers;
	const char *slash = strrchr(name, '/');
	struct stat status;
	int fd, ret;

	/* Opening a FIFO would wait for its other end. */
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &status))
		ret = -errno;
	else
		ret = S_ISREG(status.st_mode) ? 0 :
		      S_ISDIR(status.st_mode) ? -EISDIR : -ENOEXEC;
	if (!ret) {
		ret = file_markers_read(fd, &markers);
		if (!ret)
			ret = add_file(list, &markers, slash ? slash + 1 : name);
		file_markers_free(&markers);
	}
	close(fd);
	return ret;
}
