// SPDX-License-Identifier: GPL-2.0-only
/*
 * The screen of elog top: see top_view.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/screen.h"
#include "output/top_view.h"

#define NAME_WIDTH	16	/* at least */
#define COUNT_WIDTH	9	/* of a column of numbers, with a blank */
#define ROWS_FOR_KEYS	10	/* a smaller screen has no line about keys */

/* At most seven characters. */
static const char *put_number(char *buffer, size_t size, double number)
{
	static const char units[] = " KMGTPE";
	unsigned int unit = 0;

	while (number >= 99999.5 && units[unit + 1]) {
		number /= 1000;
		unit++;
	}
	if (!unit)
		snprintf(buffer, size, number > 0 && number < 99.95 ? "%.1f" : "%.0f",
			 number);
	else
		snprintf(buffer, size, "%.0f%c", number, units[unit]);
	return buffer;
}

static const char *put_count(char *buffer, size_t size, uint64_t number)
{
	if (number < 100000)
		snprintf(buffer, size, "%" PRIu64, number);
	else
		put_number(buffer, size, (double)number);
	return buffer;
}

static const char *order_name(enum counters_order order)
{
	switch (order) {
	case COUNTERS_ORDER_RATE:
		return "events/s";
	case COUNTERS_ORDER_BYTE_RATE:
		return "bytes/s";
	case COUNTERS_ORDER_LOST:
		return "lost";
	case COUNTERS_ORDER_NAME:
		return "name";
	default:
		return "total";
	}
}

static void draw_header(const struct top_view *view)
{
	char rate[16], byte_rate[16], lost[16], line[128 + COUNTERS_NAME_MAX];
	const char *name = view->page == TOP_EVENTS ? view->focus_name :
			   counters_by_name(view->counters->by);

	snprintf(line, sizeof(line), "elog top%s  %s %s, by %s%s",
		 view->paused ? " [paused]" : "",
		 view->page == TOP_EVENTS ? "events of" : "each", name,
		 order_name(view->order),
		 view->damaged ? "  [a ring was damaged]" : "");
	screen_put(0, 0, 256, SCREEN_BOLD, line);
	put_count(lost, sizeof(lost), view->counters->total.lost);
	snprintf(line, sizeof(line), "%s events/s  %s bytes/s  lost %s (%.0f/s)  "
		 "rings %u%%  subscribers %zu",
		 put_number(rate, sizeof(rate), view->total.rate),
		 put_number(byte_rate, sizeof(byte_rate), view->total.byte_rate),
		 lost, view->lost_rate, view->fill, view->subscribers);
	screen_put(1, 0, 256, view->lost_rate > 0 ? SCREEN_ALARM : SCREEN_PLAIN, line);
}

/* Widths of columns; there is a history if there is room. */
struct columns {
	int name;
	int history;	/* cells; 0: none */
};

static void lay_out(struct columns *columns)
{
	int rows, width;

	screen_size(&rows, &width);
	columns->name = width - 4 * COUNT_WIDTH;
	columns->history = 0;
	if (columns->name < NAME_WIDTH) {
		columns->name = NAME_WIDTH;
		return;
	}
	columns->history = columns->name - 1 - 24;
	if (columns->history < 0)
		columns->history = 0;
	if (columns->history > COUNTERS_HISTORY)
		columns->history = COUNTERS_HISTORY;
	if (columns->history)
		columns->name -= columns->history + 1;
}

static void draw_heading(const struct top_view *view, const struct columns *columns)
{
	static const struct {
		const char *text;
		enum counters_order order;
	} headings[] = {
		{ "EVENTS/S", COUNTERS_ORDER_RATE }, { "BYTES/S", COUNTERS_ORDER_BYTE_RATE },
		{ "TOTAL", COUNTERS_ORDER_EVENTS }, { "LOST", COUNTERS_ORDER_LOST },
	};
	int column = columns->name;
	char text[32];
	size_t i;

	snprintf(text, sizeof(text), "%s", view->order == COUNTERS_ORDER_NAME ?
		 "NAME*" : "NAME");
	screen_put(2, 0, columns->name, SCREEN_REVERSE, text);
	for (i = 0; i < ARRAY_SIZE(headings); i++) {
		snprintf(text, sizeof(text), "%*s%s", COUNT_WIDTH -
			 (view->order == headings[i].order), headings[i].text,
			 view->order == headings[i].order ? "*" : "");
		screen_put(2, column, COUNT_WIDTH, SCREEN_REVERSE, text);
		column += COUNT_WIDTH;
	}
	if (columns->history)
		screen_put(2, column, columns->history + 1, SCREEN_REVERSE, " HISTORY");
}

/* Heights are relative to the maximum of the row; a number other than 0 is visible. */
static void draw_history(const struct top_view *view, const struct counter_row *row,
			 int screen_row, int column, int cells,
			 enum screen_style style)
{
	static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const letters[] = { " ", ".", ":", "-", "=", "+", "*", "#", "@" };
	const char *const *heights = screen_unicode() ? blocks : letters;
	char text[COUNTERS_HISTORY * 4 + 2] = " ";
	uint64_t most = 0, height;
	uint32_t value;
	int i;

	for (i = 0; i < COUNTERS_HISTORY; i++)
		if (row->history[i] > most)
			most = row->history[i];
	for (i = cells - 1; i >= 0; i--) {
		value = row->history[(view->latest + COUNTERS_HISTORY - (unsigned int)i) %
				     COUNTERS_HISTORY];
		height = most ? ((uint64_t)value * 8 + most - 1) / most : 0;
		strcat(text, heights[height]);
	}
	screen_put(screen_row, column, cells + 1, style, text);
}

static void draw_row(const struct top_view *view, const struct counter_row *row,
		     const char *name, int screen_row,
		     const struct columns *columns, bool selected)
{
	enum screen_style style = selected ? SCREEN_REVERSE : SCREEN_PLAIN;
	char text[32], number[24];
	int column = columns->name;

	screen_put(screen_row, 0, column, style, name);
	snprintf(text, sizeof(text), "%*s", COUNT_WIDTH,
		 put_number(number, sizeof(number), row->rate));
	screen_put(screen_row, column, COUNT_WIDTH, style, text);
	column += COUNT_WIDTH;
	snprintf(text, sizeof(text), "%*s", COUNT_WIDTH,
		 put_number(number, sizeof(number), row->byte_rate));
	screen_put(screen_row, column, COUNT_WIDTH, style, text);
	column += COUNT_WIDTH;
	snprintf(text, sizeof(text), "%*s", COUNT_WIDTH,
		 put_count(number, sizeof(number), row->events));
	screen_put(screen_row, column, COUNT_WIDTH, style, text);
	column += COUNT_WIDTH;
	if (counters_knows_lost(view->counters))
		put_count(number, sizeof(number), row->lost);
	else
		snprintf(number, sizeof(number), "-");
	snprintf(text, sizeof(text), "%*s", COUNT_WIDTH, number);
	screen_put(screen_row, column, COUNT_WIDTH,
		   row->lost && !selected ? SCREEN_ALARM : style, text);
	column += COUNT_WIDTH;
	if (columns->history)
		draw_history(view, row, screen_row, column, columns->history, style);
}

size_t top_view_page_size(const struct top_view *view)
{
	const int header = view->page == TOP_TABLE ? 3 : 2;
	int rows, columns;

	screen_size(&rows, &columns);
	if (rows >= ROWS_FOR_KEYS)
		rows--;
	return rows > header ? (size_t)(rows - header) : 1;
}

size_t top_view_selected(const struct top_view *view)
{
	size_t i;

	for (i = 0; view->selected && i < view->row_count; i++)
		if (view->rows[i].serial == view->selected)
			return i;
	return 0;
}

static void draw_table(struct top_view *view)
{
	size_t selected = top_view_selected(view), i;
	size_t body = top_view_page_size(view), all;
	struct columns columns;
	char name[COUNTERS_NAME_MAX];
	int row = 3;

	/* Scroll back if the rows do not fill the page. */
	all = view->row_count + (view->folded ? 1 : 0);
	if (view->first + body > all)
		view->first = all > body ? all - body : 0;
	lay_out(&columns);
	draw_heading(view, &columns);
	if (selected < view->first)
		view->first = selected;
	if (selected >= view->first + body)
		view->first = selected - body + 1;
	for (i = view->first; i < view->row_count && i < view->first + body; i++)
		draw_row(view, &view->rows[i],
			 counters_name(view->counters, &view->rows[i], name, sizeof(name)),
			 row++, &columns, i == selected);
	if (i < view->first + body && view->folded)
		draw_row(view, &view->others, "(others)", row, &columns, false);
	if (!view->row_count)
		screen_put(3, 0, 256, SCREEN_PLAIN, "no events so far");
}

static void draw_events(struct top_view *view)
{
	size_t body = top_view_page_size(view), count = view->line_count, from, i;

	if (view->line_back > count)
		view->line_back = count;
	if (count > body && view->line_back > count - body)
		view->line_back = count - body;
	if (count <= body)
		view->line_back = 0;
	from = count > body ? count - body - view->line_back : 0;
	for (i = 0; i < body && from + i < count; i++)
		screen_put(2 + (int)i, 0, 1024, SCREEN_PLAIN,
			   view->lines[(view->line_next + TOP_LINES_MAX - count + from + i) %
				      TOP_LINES_MAX]);
	if (!count)
		screen_put(2, 0, 256, SCREEN_PLAIN,
			   "the next events are shown here as they happen");
}

static void draw_help(void)
{
	static const char *const lines[] = {
		"Up Down PgUp PgDn Home End  select a row",
		"Enter   its events, as they happen; q or Esc goes back",
		"e p s i c   count by event, provider, session, pid, cpu",
		"r b t l n   sort by events/s, bytes/s, total, lost, name",
		"Left Right  sort by the next column",
		"Space   pause; counting goes on",
		"h ?     this help",
		"q Esc   quit",
		"",
		"rings: how full the fullest ring was in the last interval",
		"lost: - where it is not known; HISTORY: the last 30 intervals",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lines); i++)
		screen_put(2 + (int)i, 0, 256, SCREEN_PLAIN, lines[i]);
}

void top_view_draw(struct top_view *view)
{
	int rows, columns;

	screen_clear();
	screen_size(&rows, &columns);
	draw_header(view);
	if (view->page == TOP_HELP)
		draw_help();
	else if (view->page == TOP_EVENTS)
		draw_events(view);
	else
		draw_table(view);
	if (rows >= ROWS_FOR_KEYS)
		screen_put(rows - 1, 0, 256, SCREEN_BOLD, view->page == TOP_TABLE ?
			   "q quit  Enter events  Space pause  e/p/s by  r/b/t/l/n sort  h help" :
			   "q back  Space pause  Up Down scroll  End follow");
	screen_show();
	view->dirty = false;
}

/* ------------------------------------------------------------------------
 * The events of a row
 */

void top_view_clear_lines(struct top_view *view)
{
	size_t i;

	for (i = 0; i < TOP_LINES_MAX; i++) {
		free(view->lines[i]);
		view->lines[i] = NULL;
	}
	view->line_next = 0;
	view->line_count = 0;
	view->line_back = 0;
}

void top_view_add_line(struct top_view *view, char *line)
{
	free(view->lines[view->line_next]);
	view->lines[view->line_next] = line;
	view->line_next = (view->line_next + 1) % TOP_LINES_MAX;
	if (view->line_count < TOP_LINES_MAX)
		view->line_count++;
	/* When scrolled back or paused, keep showing the same lines. */
	if ((view->line_back || view->paused) && view->line_back < view->line_count - 1)
		view->line_back++;
	view->dirty = true;
}
