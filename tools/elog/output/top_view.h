/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The screen of elog top: a table of counters, the events of one row, or help. The view
 * has copies of the rows, so a pause shows them unchanged while counting goes on. The
 * selection stays with its row, by the row's serial number, wherever the row moves.
 */
#ifndef TOP_VIEW_H
#define TOP_VIEW_H

#include "input/counters.h"
#include "input/instance_facts.h"
#include "output/top_events.h"

#define TOP_HOST_BYTES	256
#define TOP_MESSAGE_BYTES	256
#define TOP_ROWS_MAX	1000	/* rows that are copied */

/** enum top_page - what the screen shows */
enum top_page {
	TOP_TABLE,
	TOP_EVENTS,	/* of one row */
	TOP_HELP,
};

/**
 * struct top_view - what the screen shows
 * @page: the page
 * @paused: do not update the rows
 * @damaged: a ring was damaged
 * @stream: events are those of a stream, not live ones
 * @connected: of a stream: there is a connection to the servers
 * @message: the last line on stderr; "": none
 * @dirty: the screen is out of date
 * @order: what the rows are sorted by
 * @counters: what is counted by, and names of rows
 * @rows: copies, TOP_ROWS_MAX of them at most
 * @row_count: number of @rows
 * @folded: there is a row of others
 * @total: all rows together
 * @others: rows that were folded
 * @latest: index of the last interval in the history of rows
 * @facts: of instances; NULL: there are none
 * @lost: events that were lost
 * @lost_rate: events lost a second
 * @fill: of the fullest ring, percent
 * @subscribers: of the device
 * @selected: serial number of a row; 0: the first row
 * @first: index of the row at the top of the table
 * @focus_name: the row whose events are shown
 * @events: its events
 */
struct top_view {
	enum top_page page;
	bool paused;
	bool damaged;
	bool stream;
	bool connected;
	char message[TOP_MESSAGE_BYTES];
	bool dirty;
	enum counters_order order;
	const struct counters *counters;
	struct counter_row *rows;
	size_t row_count;
	bool folded;
	struct counter_row total;
	struct counter_row others;
	unsigned int latest;
	const struct instance_facts *facts;
	uint64_t lost;
	double lost_rate;
	unsigned int fill;
	size_t subscribers;
	uint64_t selected;
	size_t first;
	char focus_name[COUNTERS_NAME_MAX + TOP_HOST_BYTES + 8];
	struct top_events events;
};

/** top_view_draw() - draw the page on the screen */
void top_view_draw(struct top_view *view);

/** top_view_selected() - the index of the selected row; 0 if it is gone */
size_t top_view_selected(const struct top_view *view);

/** top_view_page_size() - how many rows, or events, fit on the page */
size_t top_view_page_size(void);

#endif /* TOP_VIEW_H */
