/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of one row of elog top: the fields first, then as many columns about the event as
 * the screen has room for. A name that is the same as in the line above is not repeated, and
 * one that is the same in all lines is not shown. For one thread.
 */
#ifndef TOP_EVENTS_H
#define TOP_EVENTS_H

#include <stdbool.h>

#include "input/source.h"
#include "output/print_settings.h"

#define TOP_EVENTS_MAX	500	/* are kept */

struct printer;

/**
 * struct top_events - the events of a row
 * @settings: how to print: times, ids, or only --fields
 * @printer: prints times, or only --fields
 * @text: of @printer
 * @lines: the events, a ring; each has its columns, strings one after the other
 * @next: where the next one goes
 * @count: number of @lines
 * @back: lines below the screen
 */
struct top_events {
	const struct print_settings *settings;
	struct printer *printer;
	struct elog_text text;
	char *lines[TOP_EVENTS_MAX];
	size_t next;
	size_t count;
	size_t back;
};

/**
 * top_events_open() - prepare for events
 * @events: zeroed
 * @settings: outlive it
 *
 * Return: 0, or a negative errno; the reason was printed. Call top_events_close() in any case.
 */
int top_events_open(struct top_events *events, const struct print_settings *settings);

/** top_events_close() - free everything */
void top_events_close(struct top_events *events);

/**
 * top_events_add() - add an event
 * @events: open
 * @entry: the event
 * @keep: show the same lines as before, and this one below the screen
 *
 * Return: 0 or -ENOMEM.
 */
int top_events_add(struct top_events *events, const struct entry *entry, bool keep);

/** top_events_clear() - remove all events */
void top_events_clear(struct top_events *events);

/**
 * top_events_scroll() - scroll
 * @events: open
 * @up: lines to the top
 * @down: lines to the bottom
 */
void top_events_scroll(struct top_events *events, size_t up, size_t down);

/**
 * top_events_draw() - draw them
 * @events: open
 * @row: of the screen, for the heading
 * @body: rows below the heading
 */
void top_events_draw(struct top_events *events, int row, size_t body);

#endif /* TOP_EVENTS_H */
