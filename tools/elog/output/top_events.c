// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events of one row of elog top: see top_events.h.
 *
 * The columns, from the left: labels (host, provider and event, where they differ), fields,
 * and what is about the event. A column is as wide as its widest value. Session and time are
 * shown if the fields of at least half of the lines leave them room; in the others the fields run
 * over them. The other columns are shown if there is room in all lines.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/printer.h"
#include "output/screen.h"
#include "output/top_events.h"

#define FIELDS_BYTES	4096	/* of an event that are shown */
#define WIDTH_MAX	1024	/* of a screen */

/* The strings of a line. */
enum part {
	PART_HOST,
	PART_PROVIDER,
	PART_EVENT,
	PART_FIELDS,
	PART_SESSION,
	PART_TIME,
	PART_COMM,
	PART_THREAD,
	PART_CPU,
	PARTS,
};

struct layout {
	bool shown[PARTS];
	int width[PARTS];
	bool chosen;		/* --fields: there is nothing else */
};

int top_events_open(struct top_events *events, const struct print_settings *settings)
{
	events->settings = settings;
	return printer_open(&events->printer, settings, &events->text, false);
}

void top_events_close(struct top_events *events)
{
	top_events_clear(events);
	printer_close(events->printer);
	elog_text_free(&events->text);
}

void top_events_clear(struct top_events *events)
{
	size_t i;

	for (i = 0; i < TOP_EVENTS_MAX; i++) {
		free(events->lines[i]);
		events->lines[i] = NULL;
	}
	events->next = 0;
	events->count = 0;
	events->back = 0;
}

void top_events_scroll(struct top_events *events, size_t up, size_t down)
{
	events->back += up;
	events->back = events->back > down ? events->back - down : 0;
	if (events->back > events->count)
		events->back = events->count;
}

/* ------------------------------------------------------------------------
 * Lines
 */

static void end_part(struct elog_text *text)
{
	elog_text_character(text, '\0');
}

static void put_fields(struct elog_text *text, const struct entry *entry)
{
	const struct elog_item *item = &entry->item;
	const size_t from = text->size;

	if (entry->cached->event) {
		elog_format_fields(text, entry->cached->event, item->payload, item->payload_size);
	} else {
		elog_text_string(text, "payload=");
		elog_text_quoted(text, item->payload, item->payload_size);
	}
	if (!text->error && text->size - from > FIELDS_BYTES)
		text->size = from + FIELDS_BYTES;
	end_part(text);
}

static void put_names(struct elog_text *text, const struct entry *entry)
{
	const struct elog_schema_event *event = entry->cached->event;

	if (entry->host)
		put_quotable(text, entry->host);
	end_part(text);
	if (entry->item.instance)
		elog_text_printf(text, "%s:", entry->item.instance);
	put_quotable(text, event ? event->provider->name : "?");
	end_part(text);
	if (event)
		put_quotable(text, event->name);
	else
		elog_text_printf(text, "#%u", entry->item.descriptor);
	end_part(text);
}

static void put_origin(struct top_events *events, const struct entry *entry)
{
	const struct elog_item *item = &entry->item;
	struct elog_text *text = &events->text;

	if (item->session)
		elog_text_printf(text, "0x%llx", (unsigned long long)item->session);
	end_part(text);
	printer_time(events->printer, entry);
	end_part(text);
	put_quotable(text, elog_processes_name(entry->processes, item->pid, item->tid));
	end_part(text);
	if (events->settings->ids == IDS_DECIMAL)
		elog_text_printf(text, "%u/%u", item->pid, item->tid);
	else
		elog_text_printf(text, "%04x", item->tid);
	end_part(text);
	if (item->cpu != EVENTLOG_CPU_UNKNOWN)
		elog_text_unsigned(text, item->cpu, 1, ' ');
	end_part(text);
}

/* The line of --fields is the only part. */
static void put_chosen(struct top_events *events, const struct entry *entry)
{
	struct elog_text *text = &events->text;
	enum part part;

	for (part = 0; part < PARTS; part++) {
		if (part == PART_FIELDS) {
			printer_event(events->printer, entry, NULL);
			/* The line feed. */
			text->size -= !text->error && text->size;
		}
		end_part(text);
	}
}

int top_events_add(struct top_events *events, const struct entry *entry, bool keep)
{
	struct elog_text *text = &events->text;
	char *line;

	text->size = 0;
	if (events->settings->fields) {
		put_chosen(events, entry);
	} else {
		put_names(text, entry);
		put_fields(text, entry);
		put_origin(events, entry);
	}
	line = text->error ? NULL : malloc(text->size);
	if (!line)
		return -ENOMEM;
	memcpy(line, text->data, text->size);
	free(events->lines[events->next]);
	events->lines[events->next] = line;
	events->next = (events->next + 1) % TOP_EVENTS_MAX;
	if (events->count < TOP_EVENTS_MAX)
		events->count++;
	if ((events->back || keep) && events->back < events->count - 1)
		events->back++;
	return 0;
}

/* The line of index @i, from the oldest one. */
static const char *line_at(const struct top_events *events, size_t i)
{
	return events->lines[(events->next + TOP_EVENTS_MAX - events->count + i) % TOP_EVENTS_MAX];
}

static const char *part_of(const char *line, enum part part)
{
	while (part--)
		line += strlen(line) + 1;
	return line;
}

/* ------------------------------------------------------------------------
 * The screen
 */

static const char *title_of(const struct top_events *events, enum part part)
{
	static const char *const titles[PARTS] = {
		[PART_HOST] = "HOST", [PART_PROVIDER] = "PROVIDER", [PART_EVENT] = "EVENT",
		[PART_FIELDS] = "FIELDS", [PART_SESSION] = "SESSION", [PART_TIME] = "TIME",
		[PART_COMM] = "COMM", [PART_THREAD] = "TID", [PART_CPU] = "CPU",
	};

	return part == PART_THREAD && events->settings->ids == IDS_DECIMAL ? "PID/TID" :
	       titles[part];
}

/* Names that all lines have in common are in the heading of the screen. */
static bool differs(const struct top_events *events, enum part part)
{
	const char *first = part_of(line_at(events, 0), part);
	size_t i;

	for (i = 1; i < events->count; i++)
		if (strcmp(part_of(line_at(events, i), part), first))
			return true;
	return false;
}

static int widest(const struct top_events *events, enum part part, size_t from, size_t to)
{
	int width = 0, size;
	size_t i;

	for (i = from; i < to; i++) {
		size = screen_width(part_of(line_at(events, i), part));
		if (size > width)
			width = size;
	}
	return width;
}

/* Do the fields of at least half of the lines fit? */
static bool have_room(const struct top_events *events, size_t from, size_t to, int width)
{
	size_t i, fit = 0;

	for (i = from; i < to; i++)
		fit += screen_width(part_of(line_at(events, i), PART_FIELDS)) <= width;
	return 2 * fit >= to - from;
}

/* Of the lines from @from to @to. */
static void lay_out(const struct top_events *events, size_t from, size_t to, struct layout *layout)
{
	int rows, width, used = 0, title, most;
	enum part part;

	memset(layout, 0, sizeof(*layout));
	screen_size(&rows, &width);
	layout->chosen = events->settings->fields;
	for (part = 0; part < PARTS; part++) {
		layout->width[part] = widest(events, part, from, to);
		title = screen_width(title_of(events, part));
		/* No event has one: there is no column. */
		layout->shown[part] = layout->width[part] || part == PART_FIELDS;
		if (layout->shown[part] && layout->width[part] < title)
			layout->width[part] = title;
		if (part < PART_FIELDS)
			layout->shown[part] &= differs(events, part);
		if (part < PART_FIELDS && layout->width[part] > width / 4)
			layout->width[part] = width / 4;
		if (part == PART_FIELDS || (part < PART_FIELDS && layout->shown[part]))
			used += layout->width[part] + 1;
	}
	for (part = PART_FIELDS + 1; part < PARTS; part++) {
		if (!layout->shown[part])
			continue;
		most = width - used - layout->width[part] + layout->width[PART_FIELDS];
		layout->shown[part] = part > PART_TIME ? most >= layout->width[PART_FIELDS] :
				      most > 0 && have_room(events, from, to, most);
		if (!layout->shown[part])
			continue;
		used += layout->width[part] + 1;
		if (most < layout->width[PART_FIELDS]) {
			used -= layout->width[PART_FIELDS] - most;
			layout->width[PART_FIELDS] = most;
		}
	}
	if (layout->chosen)
		layout->width[PART_FIELDS] = width;
}

static void draw_heading(const struct top_events *events, const struct layout *layout, int row)
{
	enum part part;
	int column = 0;

	screen_put(row, 0, WIDTH_MAX, SCREEN_REVERSE, layout->chosen ? "FIELDS" : "");
	for (part = 0; part < PARTS && !layout->chosen; part++) {
		if (!layout->shown[part])
			continue;
		screen_put(row, column, layout->width[part], SCREEN_REVERSE,
			   title_of(events, part));
		column += layout->width[part] + 1;
	}
}

/* @above: the line above, on the screen; NULL: this is the first one */
static void draw_line(const struct layout *layout, int row, const char *line, const char *above)
{
	bool same = above;
	enum part part;
	int column = 0, width;

	for (part = 0; part < PARTS; part++) {
		const char *text = part_of(line, part);

		if (!layout->shown[part])
			continue;
		if (part < PART_FIELDS)
			same = same && !strcmp(text, part_of(above, part));
		width = layout->width[part];
		if (part == PART_FIELDS)
			screen_put_fitted(row, column, WIDTH_MAX, SCREEN_PLAIN, text);
		else if (part > PART_FIELDS || !same)
			screen_put_fitted(row, column, width, SCREEN_PLAIN, text);
		/* The columns behind it have no room in this line. */
		if (part == PART_FIELDS && screen_width(text) > width)
			return;
		column += width + 1;
	}
}

void top_events_draw(struct top_events *events, int row, size_t body)
{
	size_t count = events->count, from, i;
	struct layout layout;

	if (!count) {
		screen_put(row, 0, 256, SCREEN_PLAIN,
			   "the next events are shown here as they happen");
		return;
	}
	if (count > body && events->back > count - body)
		events->back = count - body;
	if (count <= body)
		events->back = 0;
	from = count > body ? count - body - events->back : 0;
	if (body > count - from)
		body = count - from;
	lay_out(events, from, from + body, &layout);
	draw_heading(events, &layout, row);
	for (i = 0; i < body; i++)
		draw_line(&layout, row + 1 + (int)i, line_at(events, from + i),
			  i ? line_at(events, from + i - 1) : NULL);
}
