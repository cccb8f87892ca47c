// SPDX-License-Identifier: GPL-2.0-only
/*
 * Printing lists of markers: see marker.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "marker/marker.h"

/* Put "u32 number; string name" as objects. */
static void put_fields_json(struct elog_text *text, const char *fields)
{
	const char *comma = "", *name;
	size_t length;

	elog_text_string(text, ",\"fields\":[");
	for (; *fields; fields += length, fields += strspn(fields, "; ")) {
		length = strcspn(fields, ";");
		name = fields + strcspn(fields, " ;");
		elog_text_printf(text, "%s{\"type\":\"%.*s\",\"name\":\"%.*s\"}", comma,
				 (int)(name - fields), fields,
				 (int)(fields + length - name - (*name == ' ')),
				 name + (*name == ' '));
		comma = ",";
	}
	elog_text_string(text, "]");
}

static void put_guard_json(struct elog_text *text, const struct marker *marker)
{
	if (marker->predicate) {
		elog_text_string(text, ",");
		json_member(text, "predicate", marker->predicate);
		elog_text_printf(text, ",\"rejected\":%" PRIu64, (uint64_t)marker->next.rejected);
	}
	elog_text_printf(text, ",\"suppressed\":%" PRIu64, (uint64_t)marker->next.suppressed);
}

/* Put the predicate, and what it rejected. */
static void put_guard(struct elog_text *text, const struct marker *marker)
{
	if (marker->predicate)
		elog_text_printf(text, " if %s (%" PRIu64 " rejected)", marker->predicate,
				 (uint64_t)marker->next.rejected);
	if (marker->next.suppressed)
		elog_text_printf(text, " (%" PRIu64 " line%s dropped)",
				 (uint64_t)marker->next.suppressed,
				 plural(marker->next.suppressed));
}

static void put_json(struct elog_text *text, const struct marker *marker)
{
	static const char *const owners[] = { "module", "program", "file" };

	elog_text_string(text, "{");
	json_member(text, owners[marker->owner], marker->module);
	elog_text_string(text, ",");
	json_member(text, "tag", marker->tag);
	elog_text_string(text, ",");
	json_member(text, "path", marker->path);
	elog_text_string(text, ",");
	json_member(text, "function", marker->function);
	elog_text_printf(text, ",\"ordinal\":%u,\"line\":%u,\"id\":\"%016" PRIx64 "\"",
			 marker->next.ordinal, marker->next.line, (uint64_t)marker->next.id);
	if (marker->owner != MARKER_OF_FILE)
		elog_text_printf(text, ",\"descriptor\":%u", marker->next.descriptor);
	markers_handlers_put_json(text, "handlers", marker->next.handlers);
	if (marker->owner != MARKER_OF_FILE)
		markers_handlers_put_json(text, "active", marker->next.active);
	markers_handlers_put_json(text, "allowed", marker->next.allowed);
	markers_handlers_put_json(text, "defaults", marker->next.defaults);
	if (marker->event) {
		elog_text_string(text, ",");
		json_member(text, "event", marker->event);
	}
	if (marker->fields)
		put_fields_json(text, marker->fields);
	if (marker->has_session)
		elog_text_string(text, ",\"session\":true");
	if (marker->owner == MARKER_OF_PROGRAM)
		elog_text_printf(text, ",\"pids\":[%s]", marker->pids ? marker->pids : "");
	if (marker->incompatible)
		elog_text_string(text, ",\"incompatible\":true");
	if (marker->owner == MARKER_OF_MODULE)
		put_guard_json(text, marker);
	elog_text_string(text, "}\n");
}

#define HANDLERS_WIDTH	17	/* of all handlers */
#define OWNER_WIDTH_MAX	48

/* Names of programs and files may contain any characters. */
static void put_visible(struct elog_text *text, const char *name)
{
	elog_text_visible(text, name, strlen(name));
}

/* The width of the column OWNER/TAG: that of the longest entry. */
static size_t owner_width(const struct marker_choice *choice, const struct marker_list *list)
{
	size_t width = strlen("OWNER/TAG"), i, size;

	for (i = 0; i < list->count; i++) {
		const struct marker *marker = &list->markers[i];

		size = strlen(marker->module) + strlen("/") + strlen(marker->tag);
		if (size > width && size <= OWNER_WIDTH_MAX && marker_is_chosen(choice, marker))
			width = size;
	}
	return width;
}

static void put_line(struct elog_text *text, const struct marker *marker, size_t width)
{
	size_t from = text->size;

	markers_handlers_put(text, marker->next.handlers);
	fill_column(text, from, HANDLERS_WIDTH);
	elog_text_string(text, " ");
	from = text->size;
	markers_handlers_put(text, marker->next.active);
	fill_column(text, from, HANDLERS_WIDTH);
	elog_text_string(text, " ");
	from = text->size;
	put_visible(text, marker->module);
	elog_text_string(text, "/");
	put_visible(text, marker->tag);
	fill_column(text, from, width);
	elog_text_string(text, " ");
	put_visible(text, marker->place);
	if (marker->fields && *marker->fields) {
		elog_text_string(text, "  ");
		put_visible(text, marker->fields);
	}
	if (marker->has_session)
		elog_text_string(text, "  (session)");
	put_guard(text, marker);
	if (marker->incompatible)
		elog_text_string(text, "  (incompatible)");
	elog_text_string(text, "\n");
}

/* Put a level of the tree, unless the previous line is in the same one. */
static bool put_level(struct elog_text *text, unsigned int depth, const char *name,
		      const char *before)
{
	if (before && !strcmp(name, before))
		return false;
	put_blanks(text, (size_t)2 * depth);
	put_visible(text, name);
	elog_text_string(text, "\n");
	return true;
}

static void put_tree(struct elog_text *text, const struct marker *marker,
		     const struct marker *before)
{
	if (put_level(text, 0, marker->module, before ? before->module : NULL))
		before = NULL;
	if (*marker->path && put_level(text, 1, marker->path, before ? before->path : NULL))
		before = NULL;
	if (*marker->function)
		put_level(text, 2, marker->function, before ? before->function : NULL);
	/* A marker without a place has no levels. */
	if (!*marker->function)
		elog_text_printf(text, "  %s (", marker->tag);
	else
		elog_text_printf(text, "      %s (%u, ", marker->tag, marker->next.ordinal);
	if (marker->next.handlers)
		markers_handlers_put(text, marker->next.handlers);
	else
		elog_text_string(text, "off");
	elog_text_string(text, marker->incompatible ? ", incompatible)" : ")");
	put_guard(text, marker);
	elog_text_string(text, "\n");
}

int markers_print(const struct marker_list *list, const struct marker_choice *choice,
		  enum output_format format, bool tree, bool header)
{
	const size_t width = owner_width(choice, list);
	const struct marker *before = NULL;
	struct elog_text text = { 0 };
	size_t i;

	if (format == FORMAT_TEXT && !tree && header)
		elog_text_printf(&text, "%-*s %-*s %-*s %s\n", HANDLERS_WIDTH, "HANDLERS",
				 HANDLERS_WIDTH, "ACTIVE", (int)width, "OWNER/TAG",
				 "LOCATION  FIELDS");
	for (i = 0; i < list->count; i++) {
		const struct marker *marker = &list->markers[i];

		if (!marker_is_chosen(choice, marker))
			continue;
		if (format == FORMAT_JSON)
			put_json(&text, marker);
		else if (tree)
			put_tree(&text, marker, before);
		else
			put_line(&text, marker, width);
		before = marker;
	}
	if (before || text.error)
		return text_print(&text);
	elog_text_free(&text);
	return STATUS_OK;
}
