// SPDX-License-Identifier: GPL-2.0-only
/*
 * The screen of elog top: see top_view.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "output/screen.h"
#include "output/top_events.h"
#include "output/top_view.h"

#define NAME_WIDTH	5	/* at least */
#define NAME_LEAST	24	/* columns of numbers go before a name is cut to less */
#define HISTORY_LEAST	8	/* cells; fewer show nothing */
#define HEADER_ROWS	3
#define FACTS_WIDTH	22	/* of providers and user */
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
	char rate[16], byte_rate[16], lost[16], line[128 + sizeof(view->focus_name)];
	const char *name = view->page == TOP_EVENTS ? view->focus_name :
			   counters_by_name(view->counters->by);
	int size;

	snprintf(line, sizeof(line), "elog top%s%s  %s %s, by %s%s",
		 view->paused ? " [paused]" : "",
		 view->connected ? "" : " [no connection]",
		 view->page == TOP_EVENTS ? "events of" : "each", name,
		 order_name(view->order),
		 view->damaged ? "  [a ring was damaged]" : "");
	screen_put(0, 0, 256, view->connected ? SCREEN_BOLD : SCREEN_ALARM, line);
	put_count(lost, sizeof(lost), view->lost);
	size = snprintf(line, sizeof(line), "%s events/s  %s bytes/s  lost %s (%.0f/s)  ",
			put_number(rate, sizeof(rate), view->total.rate),
			put_number(byte_rate, sizeof(byte_rate), view->total.byte_rate),
			lost, view->lost_rate);
	if (view->stream)
		snprintf(line + size, sizeof(line) - (size_t)size, "hosts %zu",
			 view->counters->host_count);
	else
		snprintf(line + size, sizeof(line) - (size_t)size, "rings %u%%  subscribers %zu",
			 view->fill, view->subscribers);
	screen_put(1, 0, 256, view->lost_rate > 0 ? SCREEN_ALARM : SCREEN_PLAIN, line);
}

/*
 * Columns are as wide as what they have to show. If the screen is too narrow for the names,
 * columns of numbers go first, then most of the history.
 */
enum number {
	NUMBER_RATE,
	NUMBER_BYTE_RATE,
	NUMBER_EVENTS,
	NUMBER_LOST,
	NUMBERS,
};

static const struct {
	const char *title;
	enum counters_order order;
} numbers[NUMBERS] = {
	[NUMBER_RATE] = { "EVENTS/S", COUNTERS_ORDER_RATE },
	[NUMBER_BYTE_RATE] = { "BYTES/S", COUNTERS_ORDER_BYTE_RATE },
	[NUMBER_EVENTS] = { "TOTAL", COUNTERS_ORDER_EVENTS },
	[NUMBER_LOST] = { "LOST", COUNTERS_ORDER_LOST },
};

struct columns {
	int host;	/* 0: all rows are of one host */
	int name;
	bool shown[NUMBERS];
	bool facts;	/* providers and user of instances */
	int history;	/* cells; 0: none */
};

/* The widest name, or host, of all rows: widths must not change when the user scrolls. */
static int widest(const struct top_view *view, bool host)
{
	char name[COUNTERS_NAME_MAX];
	int width = NAME_WIDTH, size;
	size_t i;

	for (i = 0; i < view->row_count; i++) {
		if (host)
			counters_host(&view->rows[i], name, sizeof(name));
		else
			counters_name(view->counters, &view->rows[i], name, sizeof(name));
		size = (int)strlen(name);
		if (size > width)
			width = size;
	}
	return width;
}

/* Hosts take a quarter of the screen at most, and are cut like names. */
static int host_width(const struct top_view *view, int screen)
{
	const struct counters *counters = view->counters;
	int width;

	if (!counters->hosts || counters->by == COUNTERS_BY_HOST || counters->host_count < 2)
		return 0;
	width = widest(view, true) + 1;
	return width <= screen / 4 ? width : screen / 4;
}

static void lay_out(const struct top_view *view, struct columns *columns)
{
	const bool lost = counters_knows_lost(view->counters) && view->counters->total.lost;
	/* What matters least is first. Losses do, once there are any. */
	const enum number order[] = {
		lost ? NUMBER_BYTE_RATE : NUMBER_LOST, lost ? NUMBER_EVENTS : NUMBER_BYTE_RATE,
		lost ? NUMBER_LOST : NUMBER_EVENTS,
	};
	int rows, width, room, wanted, least;
	size_t i;

	screen_size(&rows, &width);
	columns->host = host_width(view, width);
	room = width - columns->host - NUMBERS * COUNT_WIDTH;
	wanted = widest(view, false);
	/* The numbers of short names stay near them, although one name is long. */
	if (wanted > width / 2 && wanted > NAME_LEAST)
		wanted = width / 2 > NAME_LEAST ? width / 2 : NAME_LEAST;
	least = wanted < NAME_LEAST ? wanted : NAME_LEAST;
	columns->facts = view->facts && view->counters->by == COUNTERS_BY_INSTANCE &&
			 room - FACTS_WIDTH >= least;
	room -= columns->facts ? FACTS_WIDTH : 0;
	for (i = 0; i < NUMBERS; i++)
		columns->shown[i] = true;
	for (i = 0; i < ARRAY_SIZE(order) && room < least; i++) {
		if (numbers[order[i]].order == view->order)
			continue;
		columns->shown[order[i]] = false;
		room += COUNT_WIDTH;
	}
	columns->name = wanted;
	if (columns->name > room - 1 - HISTORY_LEAST)
		columns->name = room - 1 - HISTORY_LEAST;
	if (columns->name < least)
		columns->name = wanted < room ? wanted : room;
	if (columns->name < NAME_WIDTH)
		columns->name = NAME_WIDTH;
	columns->history = room - columns->name - 1;
	if (columns->history < HISTORY_LEAST)
		columns->history = 0;
	if (columns->history > COUNTERS_HISTORY)
		columns->history = COUNTERS_HISTORY;
}

/*
 * Shorten a name in the middle: the end tells sessions apart, and events better than the
 * provider. Names have no other characters than those of ASCII.
 */
static const char *fit_name(const char *name, int width, char *buffer, size_t size)
{
	const char *mark = screen_unicode() ? "…" : "~", *slash = strrchr(name, '/');
	const size_t length = strlen(name), room = (size_t)width;
	size_t tail = slash ? strlen(slash) : length;

	if (length <= room)
		return name;
	if (tail + 2 > room)
		tail = room / 2;
	snprintf(buffer, size, "%.*s%s%s", (int)(room - 1 - tail), name, mark,
		 name + length - tail);
	return buffer;
}

static void draw_heading(const struct top_view *view, const struct columns *columns)
{
	int column = columns->host + columns->name;
	char text[32];
	size_t i;

	if (columns->host)
		screen_put(2, 0, columns->host, SCREEN_REVERSE, "HOST");
	screen_put(2, columns->host, columns->name, SCREEN_REVERSE,
		   view->order == COUNTERS_ORDER_NAME ? "NAME*" : "NAME");
	for (i = 0; i < NUMBERS; i++) {
		if (!columns->shown[i])
			continue;
		snprintf(text, sizeof(text), "%*s%s", COUNT_WIDTH -
			 (view->order == numbers[i].order), numbers[i].title,
			 view->order == numbers[i].order ? "*" : "");
		screen_put(2, column, COUNT_WIDTH, SCREEN_REVERSE, text);
		column += COUNT_WIDTH;
	}
	if (columns->facts) {
		screen_put(2, column, FACTS_WIDTH, SCREEN_REVERSE, " PROVIDERS USER");
		column += FACTS_WIDTH;
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

static const char *put_cell_of(const struct top_view *view, const struct counter_row *row,
			       enum number number, char *buffer, size_t size)
{
	switch (number) {
	case NUMBER_RATE:
		return put_number(buffer, size, row->rate);
	case NUMBER_BYTE_RATE:
		return put_number(buffer, size, row->byte_rate);
	case NUMBER_EVENTS:
		return put_count(buffer, size, row->events);
	default:
		return counters_knows_lost(view->counters) ?
		       put_count(buffer, size, row->lost) : "-";
	}
}

/* A row of others has none. */
static void put_facts(const struct top_view *view, const struct counter_row *row, char *buffer,
		      size_t size)
{
	const struct instance_fact *fact = instance_facts_find(view->facts, row->provider);

	if (!fact)
		*buffer = '\0';
	else
		snprintf(buffer, size, "%10" PRIu32 " %s", fact->providers,
			 fact->deleted ? "(deleted)" : fact->user);
}

static void draw_row(const struct top_view *view, const struct counter_row *row,
		     const char *name, int screen_row,
		     const struct columns *columns, bool selected)
{
	enum screen_style style = selected ? SCREEN_REVERSE : SCREEN_PLAIN;
	char text[64], number[24], fitted[COUNTERS_NAME_MAX + 4], host[COUNTERS_NAME_MAX];
	int column = columns->host;
	enum number i;

	if (column) {
		screen_put(screen_row, 0, column, style,
			   fit_name(counters_host(row, host, sizeof(host)), column - 1, fitted,
				    sizeof(fitted)));
	}
	screen_put(screen_row, column, columns->name, style,
		   fit_name(name, columns->name, fitted, sizeof(fitted)));
	column += columns->name;
	for (i = 0; i < NUMBERS; i++) {
		if (!columns->shown[i])
			continue;
		snprintf(text, sizeof(text), "%*s", COUNT_WIDTH,
			 put_cell_of(view, row, i, number, sizeof(number)));
		screen_put(screen_row, column, COUNT_WIDTH,
			   i == NUMBER_LOST && row->lost && !selected ? SCREEN_ALARM : style, text);
		column += COUNT_WIDTH;
	}
	if (columns->facts) {
		put_facts(view, row, text, sizeof(text));
		screen_put_fitted(screen_row, column, FACTS_WIDTH, style, text);
		column += FACTS_WIDTH;
	}
	if (columns->history)
		draw_history(view, row, screen_row, column, columns->history, style);
}

size_t top_view_page_size(void)
{
	int rows, columns;

	screen_size(&rows, &columns);
	if (rows >= ROWS_FOR_KEYS)
		rows--;
	return rows > HEADER_ROWS ? (size_t)(rows - HEADER_ROWS) : 1;
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
	size_t body = top_view_page_size(), all;
	struct columns columns;
	char name[COUNTERS_NAME_MAX];
	int row = 3;

	/* Scroll back if the rows do not fill the page. */
	all = view->row_count + (view->folded ? 1 : 0);
	if (view->first + body > all)
		view->first = all > body ? all - body : 0;
	lay_out(view, &columns);
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

static void draw_help(const struct top_view *view)
{
	static const char *const keys[] = {
		"Up Down PgUp PgDn Home End  select a row",
		"Enter   its events, as they happen; q or Esc goes back",
		"e p s i c   count by event, provider, session, pid, cpu",
		"r b t l n   sort by events/s, bytes/s, total, lost, name",
		"Left Right  sort by the next column",
		"Space   pause; counting goes on",
		"q Esc   quit",
	};
	static const char *const live[] = {
		"h ?     this help",
		"",
		"rings: how full the fullest ring was in the last interval",
	};
	static const char *const stream[] = {
		"h       count by host",
		"?       this help",
		"",
		"rates: of the events that arrived in the last interval",
	};
	static const char *const instances[] = {
		"I       count by instance",
		"h ?     this help",
		"",
		"rings: how full the fullest ring was in the last interval",
	};
	const char *const *rest = view->stream ? stream : view->facts ? instances : live;
	const size_t count = view->stream ? ARRAY_SIZE(stream) :
			     view->facts ? ARRAY_SIZE(instances) : ARRAY_SIZE(live);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		screen_put(2 + (int)i, 0, 256, SCREEN_PLAIN, keys[i]);
	for (i = 0; i < count; i++)
		screen_put(2 + (int)(ARRAY_SIZE(keys) + i), 0, 256, SCREEN_PLAIN, rest[i]);
	screen_put(2 + (int)(ARRAY_SIZE(keys) + count), 0, 256, SCREEN_PLAIN,
		   "lost: - where it is not known; HISTORY: the last 30 intervals");
}

static const char *key_line(const struct top_view *view)
{
	if (view->page == TOP_EVENTS)
		return "q back  Space pause  Up Down scroll  End follow";
	return view->stream ?
	       "q quit  Enter events  Space pause  e/p/s/h by  r/b/t/l/n sort  ? help" :
	       "q quit  Enter events  Space pause  e/p/s by  r/b/t/l/n sort  h help";
}

void top_view_draw(struct top_view *view)
{
	int rows, columns;

	screen_clear();
	screen_size(&rows, &columns);
	draw_header(view);
	if (view->page == TOP_HELP)
		draw_help(view);
	else if (view->page == TOP_EVENTS)
		top_events_draw(&view->events, 2, top_view_page_size());
	else
		draw_table(view);
	if (rows >= ROWS_FOR_KEYS)
		screen_put(rows - 1, 0, 256, *view->message ? SCREEN_ALARM : SCREEN_BOLD,
			   *view->message ? view->message : key_line(view));
	screen_show();
	view->dirty = false;
}
