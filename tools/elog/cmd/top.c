// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog top: which events there are most of just now, on a terminal; and the
 * events of one row.
 *
 * The loop sleeps until a key, until a ring is half full, or 100 ms, counts what
 * there is, and once an interval takes a copy of the first rows, which is what is
 * drawn: so a pause shows what was, and counting goes on. The selection stays
 * with what is selected, by its serial number, not with the place on the screen.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/listing.h"
#include "input/counters.h"
#include "output/output.h"
#include "output/printer.h"
#include "output/report.h"
#include "output/screen.h"
#include "util/signals.h"

#define BATCH_MS	100
#define INTERVAL_NS	1000000000ULL
#define INTERVAL_MIN	100000000ULL
#define SHOWN_MAX	1000	/* rows that are copied */
#define LINES_MAX	500	/* events of a row that are kept */
#define LINE_BYTES	4096	/* of one of them */
#define NAME_WIDTH	16	/* at least */
#define COUNT_WIDTH	9	/* of a column of numbers, with a blank */
#define DEAF_MAX	8	/* times that stdin is ready and has nothing */

enum page {
	PAGE_TABLE,
	PAGE_EVENTS,	/* of the row that is focused on */
	PAGE_HELP,
};

struct top {
	const struct options *options;
	struct live live;
	struct source *source;
	struct counters *counters;
	enum counters_order order;
	uint64_t interval;		/* ns */
	uint64_t refreshed;		/* when, CLOCK_MONOTONIC ns */

	/* What is drawn. */
	struct counter_row *shown;
	size_t shown_count;
	struct counter_row total;
	struct counter_row others;
	unsigned int latest;		/* in the rows' history */
	uint64_t shown_folded;
	struct {
		uint64_t events;
		uint64_t bytes;
	} counted;			/* before the rows were made anew */
	uint64_t shown_rows;
	uint64_t lost_before;
	double lost_rate;
	unsigned int fill;		/* of the fullest ring, percent */
	unsigned int filled;		/* so far in this interval */
	uint64_t *placed;		/* bytes in each ring's past */
	unsigned int rings;
	uint64_t ring_bytes;
	struct listing listing;

	enum page page;
	enum page back;			/* from help */
	bool paused;
	bool dirty;
	bool quit;
	uint64_t selected;		/* serial; 0: the first */
	size_t first;			/* row at the top of the table */

	/* The events of a row. */
	uint64_t focus;			/* its serial */
	char focus_name[COUNTERS_NAME_MAX];
	struct output lines_output;
	struct printer *printer;
	char *lines[LINES_MAX];
	size_t line_next;
	size_t line_count;
	size_t line_back;		/* lines below the screen */

	unsigned int deaf;
	bool damaged;
	int error;
};

static volatile sig_atomic_t quits;

static void on_quit(int signal)
{
	(void)signal;
	quits++;
}

/* ------------------------------------------------------------------------
 * The events of a row
 */

static void forget_lines(struct top *top)
{
	size_t i;

	for (i = 0; i < LINES_MAX; i++) {
		free(top->lines[i]);
		top->lines[i] = NULL;
	}
	top->line_next = 0;
	top->line_count = 0;
	top->line_back = 0;
}

static void add_line(struct top *top, const struct entry *entry)
{
	struct elog_text *text = &top->lines_output.text;
	char *line;

	printer_event(top->printer, entry);
	if (text->error) {
		top->error = text->error;
		return;
	}
	line = strndup(text->data, text->size < LINE_BYTES ? text->size - 1 :
							     LINE_BYTES);
	text->size = 0;
	if (!line) {
		top->error = -ENOMEM;
		return;
	}
	free(top->lines[top->line_next]);
	top->lines[top->line_next] = line;
	top->line_next = (top->line_next + 1) % LINES_MAX;
	if (top->line_count < LINES_MAX)
		top->line_count++;
	/* Who looks back, or pauses, goes on seeing the same lines. */
	if ((top->line_back || top->paused) && top->line_back < top->line_count - 1)
		top->line_back++;
	top->dirty = true;
}

/* ------------------------------------------------------------------------
 * Counting
 */

/*
 * How full the rings were: what was placed in each since the last batch took all
 * there was.
 */
static void measure_fill(struct top *top)
{
	struct eventlog_stat stat;
	unsigned int cpu, percent;

	for (cpu = 0; cpu < top->rings; cpu++) {
		if (elog_consumer_stat(top->live.consumer, cpu, 0, &stat))
			continue;
		percent = (unsigned int)((stat.bytes - top->placed[cpu]) * 100 /
					 top->ring_bytes);
		top->placed[cpu] = stat.bytes;
		if (percent > 100)
			percent = 100;
		if (percent > top->filled)
			top->filled = percent;
	}
}

static void take(struct top *top, const struct entry *entry)
{
	struct counter_row *row;

	if (entry->item.type == ELOG_ITEM_LOST)
		top->error = counters_add_lost(top->counters, &entry->item, false);
	if (entry->item.type != ELOG_ITEM_EVENT)
		return;
	top->error = counters_add(top->counters, entry, &row);
	if (!top->error && top->focus && row->serial == top->focus)
		add_line(top, entry);
}

static void count_batch(struct top *top)
{
	struct entry entry;
	int ret;

	measure_fill(top);
	ret = flush_consumer(top->live.consumer);
	if (ret)
		top->error = ret;
	while (!top->error) {
		ret = source_next(top->source, &entry);
		if (!ret)
			return;
		if (ret > 0)
			take(top, &entry);
		else if (ret == -EBADMSG)
			top->damaged = true;
		else
			top->error = ret;
	}
}

/* Copy what is to be drawn. */
static void take_rows(struct top *top)
{
	struct counters *counters = top->counters;
	size_t i;

	counters_sort(counters, top->order);
	top->shown_count = counters->count < SHOWN_MAX ? counters->count : SHOWN_MAX;
	for (i = 0; i < top->shown_count; i++)
		top->shown[i] = *counters->rows[i];
	top->shown_rows = counters->count;
	top->shown_folded = counters->folded;
	top->others = counters->others;
	top->total = counters->total;
	top->latest = counters_history_at(counters);
	top->dirty = true;
}

static void refresh_rows(struct top *top)
{
	uint64_t now = monotonic(), lost = top->counters->total.lost;
	int ret;

	ret = counters_ask_lost(top->counters, top->live.consumer);
	if (ret)
		top->error = ret;
	counters_mark(top->counters, now);
	top->lost_rate = (double)(top->counters->total.lost - lost) * 1e9 /
			 (double)(now - top->refreshed + 1);
	top->refreshed = now;
	top->fill = top->filled;
	top->filled = 0;
	/* What it says is of interest, not vital. */
	listing_read(&top->listing);
	if (!top->paused)
		take_rows(top);
}

static void count_by(struct top *top, enum counters_by by)
{
	top->counted.events += top->counters->total.events;
	top->counted.bytes += top->counters->total.bytes;
	counters_clear(top->counters, by, monotonic());
	/* Else all that was ever lost would seem to be lost now. */
	if (!top->error)
		top->error = counters_ask_lost(top->counters, top->live.consumer);
	top->refreshed = monotonic();
	top->selected = 0;
	top->first = 0;
	top->focus = 0;
	take_rows(top);
}

/* ------------------------------------------------------------------------
 * Drawing
 */

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

static void draw_header(const struct top *top)
{
	char rate[16], byte_rate[16], lost[16], line[256];
	const char *name = top->page == PAGE_EVENTS ? top->focus_name :
			   counters_by_name(top->counters->by);

	snprintf(line, sizeof(line), "elog top%s  %s %s, by %s%s",
		 top->paused ? " [paused]" : "",
		 top->page == PAGE_EVENTS ? "events of" : "each", name,
		 order_name(top->order),
		 top->damaged ? "  [a ring was damaged]" : "");
	screen_put(0, 0, 256, SCREEN_BOLD, line);
	put_count(lost, sizeof(lost), top->counters->total.lost);
	snprintf(line, sizeof(line), "%s events/s  %s bytes/s  lost %s (%.0f/s)  "
		 "rings %u%%  subscribers %zu",
		 put_number(rate, sizeof(rate), top->total.rate),
		 put_number(byte_rate, sizeof(byte_rate), top->total.byte_rate),
		 lost, top->lost_rate, top->fill, top->listing.subscribers);
	screen_put(1, 0, 256, top->lost_rate > 0 ? SCREEN_ALARM : SCREEN_PLAIN, line);
}

/* The columns behind the name, as far as there is room. */
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

static void draw_heading(const struct top *top, const struct columns *columns)
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

	snprintf(text, sizeof(text), "%s", top->order == COUNTERS_ORDER_NAME ?
		 "NAME*" : "NAME");
	screen_put(2, 0, columns->name, SCREEN_REVERSE, text);
	for (i = 0; i < ARRAY_SIZE(headings); i++) {
		snprintf(text, sizeof(text), "%*s%s", COUNT_WIDTH -
			 (top->order == headings[i].order), headings[i].text,
			 top->order == headings[i].order ? "*" : "");
		screen_put(2, column, COUNT_WIDTH, SCREEN_REVERSE, text);
		column += COUNT_WIDTH;
	}
	if (columns->history)
		screen_put(2, column, columns->history + 1, SCREEN_REVERSE, " HISTORY");
}

/* Each mark's height is of the highest of the row; what is not zero is seen. */
static void draw_history(const struct top *top, const struct counter_row *row,
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
		value = row->history[(top->latest + COUNTERS_HISTORY - (unsigned int)i) %
				     COUNTERS_HISTORY];
		height = most ? ((uint64_t)value * 8 + most - 1) / most : 0;
		strcat(text, heights[height]);
	}
	screen_put(screen_row, column, cells + 1, style, text);
}

static void draw_row(const struct top *top, const struct counter_row *row,
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
	if (counters_knows_lost(top->counters))
		put_count(number, sizeof(number), row->lost);
	else
		snprintf(number, sizeof(number), "-");
	snprintf(text, sizeof(text), "%*s", COUNT_WIDTH, number);
	screen_put(screen_row, column, COUNT_WIDTH,
		   row->lost && !selected ? SCREEN_ALARM : style, text);
	column += COUNT_WIDTH;
	if (columns->history)
		draw_history(top, row, screen_row, column, columns->history, style);
}

/* Rows below the header, above the line about keys if there is room for that. */
static int body_rows(int from)
{
	int rows, columns;

	screen_size(&rows, &columns);
	if (rows >= 10)
		rows--;
	return rows > from ? rows - from : 1;
}

static size_t selected_index(const struct top *top)
{
	size_t i;

	for (i = 0; top->selected && i < top->shown_count; i++)
		if (top->shown[i].serial == top->selected)
			return i;
	return 0;
}

static void draw_table(struct top *top)
{
	size_t selected = selected_index(top), i;
	size_t body = (size_t)body_rows(3), all;
	struct columns columns;
	char name[COUNTERS_NAME_MAX];
	int row = 3;

	/* Where there is room for more, there is no room left over. */
	all = top->shown_count + (top->shown_folded ? 1 : 0);
	if (top->first + body > all)
		top->first = all > body ? all - body : 0;
	lay_out(&columns);
	draw_heading(top, &columns);
	if (selected < top->first)
		top->first = selected;
	if (selected >= top->first + body)
		top->first = selected - body + 1;
	for (i = top->first; i < top->shown_count && i < top->first + body; i++)
		draw_row(top, &top->shown[i],
			 counters_name(top->counters, &top->shown[i], name, sizeof(name)),
			 row++, &columns, i == selected);
	if (i < top->first + body && top->shown_folded)
		draw_row(top, &top->others, "(others)", row, &columns, false);
	if (!top->shown_count)
		screen_put(3, 0, 256, SCREEN_PLAIN, "no events so far");
}

static void draw_events(struct top *top)
{
	size_t body = (size_t)body_rows(2), count = top->line_count, from, i;

	if (top->line_back > count)
		top->line_back = count;
	if (count > body && top->line_back > count - body)
		top->line_back = count - body;
	if (count <= body)
		top->line_back = 0;
	from = count > body ? count - body - top->line_back : 0;
	for (i = 0; i < body && from + i < count; i++)
		screen_put(2 + (int)i, 0, 1024, SCREEN_PLAIN,
			   top->lines[(top->line_next + LINES_MAX - count + from + i) %
				      LINES_MAX]);
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

static void draw(struct top *top)
{
	int rows, columns;

	screen_clear();
	screen_size(&rows, &columns);
	draw_header(top);
	if (top->page == PAGE_HELP)
		draw_help();
	else if (top->page == PAGE_EVENTS)
		draw_events(top);
	else
		draw_table(top);
	if (rows >= 10)
		screen_put(rows - 1, 0, 256, SCREEN_BOLD, top->page == PAGE_TABLE ?
			   "q quit  Enter events  Space pause  e/p/s by  r/b/t/l/n sort  h help" :
			   "q back  Space pause  Up Down scroll  End follow");
	screen_show();
	top->dirty = false;
}

/* ------------------------------------------------------------------------
 * Keys
 */

static void select_row(struct top *top, size_t index)
{
	if (!top->shown_count)
		return;
	if (index >= top->shown_count)
		index = top->shown_count - 1;
	top->selected = top->shown[index].serial;
}

static void sort_by(struct top *top, enum counters_order order)
{
	top->order = order;
	/* A pause is of what was copied: that gets sorted when it is over. */
	if (!top->paused)
		take_rows(top);
}

static void sort_by_next(struct top *top, int step)
{
	static const enum counters_order columns[] = {
		COUNTERS_ORDER_NAME, COUNTERS_ORDER_RATE, COUNTERS_ORDER_BYTE_RATE,
		COUNTERS_ORDER_EVENTS, COUNTERS_ORDER_LOST,
	};
	const int count = (int)ARRAY_SIZE(columns);
	int i = 0;

	while (columns[i] != top->order)
		i++;
	sort_by(top, columns[(i + step + count) % count]);
}

static void enter_row(struct top *top)
{
	const struct counter_row *row;

	if (!top->shown_count)
		return;
	row = &top->shown[selected_index(top)];
	top->focus = row->serial;
	counters_name(top->counters, row, top->focus_name, sizeof(top->focus_name));
	forget_lines(top);
	top->paused = false;
	top->page = PAGE_EVENTS;
}

static void leave_row(struct top *top)
{
	top->focus = 0;
	top->page = PAGE_TABLE;
	forget_lines(top);
}

static void table_key(struct top *top, int key)
{
	size_t selected = selected_index(top), page = (size_t)body_rows(3);

	switch (key) {
	case 'q':
	case SCREEN_ESCAPE:
		top->quit = true;
		break;
	case SCREEN_ENTER:
		enter_row(top);
		break;
	case SCREEN_UP:
		select_row(top, selected ? selected - 1 : 0);
		break;
	case SCREEN_DOWN:
		select_row(top, selected + 1);
		break;
	case SCREEN_PAGE_UP:
		select_row(top, selected > page ? selected - page : 0);
		break;
	case SCREEN_PAGE_DOWN:
		select_row(top, selected + page);
		break;
	case SCREEN_HOME:
		top->selected = 0;
		break;
	case SCREEN_END:
		select_row(top, SIZE_MAX);
		break;
	case SCREEN_LEFT:
		sort_by_next(top, -1);
		break;
	case SCREEN_RIGHT:
		sort_by_next(top, 1);
		break;
	case 'r':
		sort_by(top, COUNTERS_ORDER_RATE);
		break;
	case 'b':
		sort_by(top, COUNTERS_ORDER_BYTE_RATE);
		break;
	case 't':
		sort_by(top, COUNTERS_ORDER_EVENTS);
		break;
	case 'l':
		sort_by(top, COUNTERS_ORDER_LOST);
		break;
	case 'n':
		sort_by(top, COUNTERS_ORDER_NAME);
		break;
	case 'e':
		count_by(top, COUNTERS_BY_EVENT);
		break;
	case 'p':
		count_by(top, COUNTERS_BY_PROVIDER);
		break;
	case 's':
		count_by(top, COUNTERS_BY_SESSION);
		break;
	case 'i':
		count_by(top, COUNTERS_BY_PID);
		break;
	case 'c':
		count_by(top, COUNTERS_BY_CPU);
		break;
	}
}

static void scroll_by(struct top *top, size_t up, size_t down)
{
	top->line_back += up;
	top->line_back = top->line_back > down ? top->line_back - down : 0;
}

static void events_key(struct top *top, int key)
{
	size_t page = (size_t)body_rows(2);

	switch (key) {
	case 'q':
	case SCREEN_ESCAPE:
		leave_row(top);
		break;
	case SCREEN_UP:
		scroll_by(top, 1, 0);
		break;
	case SCREEN_DOWN:
		scroll_by(top, 0, 1);
		break;
	case SCREEN_PAGE_UP:
		scroll_by(top, page, 0);
		break;
	case SCREEN_PAGE_DOWN:
		scroll_by(top, 0, page);
		break;
	case SCREEN_HOME:
		top->line_back = LINES_MAX;
		break;
	case SCREEN_END:
		top->line_back = 0;
		break;
	}
}

static void take_key(struct top *top, int key)
{
	top->dirty = true;
	if (top->page == PAGE_HELP) {
		top->page = top->back;
	} else if (key == 'h' || key == '?') {
		top->back = top->page;
		top->page = PAGE_HELP;
	} else if (key == ' ') {
		top->paused = !top->paused;
		if (!top->paused) {
			top->line_back = 0;
			take_rows(top);
		}
	} else if (top->page == PAGE_EVENTS) {
		events_key(top, key);
	} else {
		table_key(top, key);
	}
}

static void take_keys(struct top *top, bool ready)
{
	bool any = false;
	int key;

	while (!top->quit && (key = screen_key()) != SCREEN_NO_KEY) {
		any = true;
		take_key(top, key);
	}
	/* A terminal that is gone is ready for ever. */
	top->deaf = ready && !any ? top->deaf + 1 : 0;
	if (top->deaf > DEAF_MAX)
		top->quit = true;
}

/* ------------------------------------------------------------------------
 * The loop
 */

static int left(const struct top *top)
{
	uint64_t passed = monotonic() - top->refreshed;

	if (passed >= top->interval)
		return 0;
	passed = (top->interval - passed + 999999) / 1000000;
	return live_left(&top->live, passed < BATCH_MS ? (int)passed : BATCH_MS);
}

static bool wait_for_news(struct top *top)
{
	struct pollfd files[] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = elog_consumer_fd(top->live.consumer), .events = POLLIN },
	};
	int milliseconds = left(top);
	const struct timespec limit = {
		.tv_sec = milliseconds / 1000,
		.tv_nsec = milliseconds % 1000 * 1000000L,
	};

	if (ppoll(files, ARRAY_SIZE(files), &limit, signals_mask()) < 0) {
		if (errno != EINTR)
			top->error = -errno;
		return false;
	}
	if (files[0].revents & (POLLHUP | POLLERR | POLLNVAL))
		top->quit = true;
	if (files[1].revents & (POLLHUP | POLLERR | POLLNVAL))
		top->error = -EIO;
	return files[0].revents & POLLIN;
}

static void run_loop(struct top *top)
{
	bool ready;
	int ret;

	while (!top->error && !top->quit && !quits && !live_over(&top->live)) {
		ready = wait_for_news(top);
		ret = elog_consumer_pending(top->live.consumer);
		if (ret < 0)
			top->error = ret;
		if (ret > 0)
			count_batch(top);
		take_keys(top, ready);
		if (monotonic() - top->refreshed >= top->interval)
			refresh_rows(top);
		if (top->dirty && !top->error)
			draw(top);
	}
	/* What the rings hold was counted by nobody yet. */
	if (!top->error)
		count_batch(top);
}

/* ------------------------------------------------------------------------
 * The beginning and the end
 */

static int final_status(struct top *top)
{
	const struct report report = {
		.options = top->options,
		.span = top->live.ended - top->live.started,
	};
	struct elog_text text = { 0 };

	if (!top->error)
		top->error = counters_ask_lost(top->counters, top->live.consumer);
	if (top->error) {
		elog_error("%s", strerror(-top->error));
		return STATUS_ERROR;
	}
	top->counters->total.events += top->counted.events;
	top->counters->total.bytes += top->counted.bytes;
	report_summary(&report, top->counters, &text);
	if (!top->options->quiet)
		fprintf(stderr, "elog: %s", text.data ? text.data : "\n");
	elog_text_free(&text);
	if (source_finish(top->source))
		return STATUS_ERROR;
	return top->counters->total.lost || top->damaged ? STATUS_LOST : STATUS_OK;
}

static int prepare(struct top *top, enum counters_by by)
{
	const struct options *options = top->options;

	if (live_open(&top->live, options, NULL) ||
	    source_open_live(&top->source, &top->live))
		return -EINVAL;
	top->lines_output.limit = SIZE_MAX;
	if (printer_open(&top->printer, options, &top->lines_output))
		return -ENOMEM;
	top->rings = elog_consumer_cpus(top->live.consumer);
	top->ring_bytes = options->per_cpu_bytes ? options->per_cpu_bytes : 1U << 20;
	top->placed = calloc(top->rings + 1, sizeof(*top->placed));
	top->shown = calloc(SHOWN_MAX, sizeof(*top->shown));
	if (!top->placed || !top->shown ||
	    counters_open(&top->counters, by, COUNTERS_ROWS, monotonic())) {
		elog_error("out of memory");
		return -ENOMEM;
	}
	return 0;
}

static bool parse_order(const char *text, enum counters_order *order)
{
	static const struct {
		const char *name;
		enum counters_order order;
	} orders[] = {
		{ "rate", COUNTERS_ORDER_RATE }, { "bytes", COUNTERS_ORDER_BYTE_RATE },
		{ "events", COUNTERS_ORDER_EVENTS }, { "lost", COUNTERS_ORDER_LOST },
		{ "name", COUNTERS_ORDER_NAME },
	};
	size_t i;

	*order = COUNTERS_ORDER_RATE;
	if (!text)
		return true;
	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		if (strcmp(orders[i].name, text))
			continue;
		*order = orders[i].order;
		return true;
	}
	elog_error("--sort: '%s' is not one of rate, bytes, events, lost, name", text);
	return false;
}

static int check_options(const struct options *options)
{
	if (options->separated) {
		elog_error("it runs no COMMAND: the screen is its own");
		return -EINVAL;
	}
	if (options->argument_count) {
		elog_error("'%s' is too much", options->arguments[0]);
		return -EINVAL;
	}
	if (options->interval && options->interval < INTERVAL_MIN) {
		elog_error("--interval: it is 0.1 at least");
		return -EINVAL;
	}
	return 0;
}

/* SIGQUIT ends it, too: the terminal is to be what it was. */
static void catch_quit(void)
{
	struct sigaction quit = { .sa_handler = on_quit };
	sigset_t held;

	sigaction(SIGQUIT, &quit, NULL);
	sigemptyset(&held);
	sigaddset(&held, SIGQUIT);
	sigprocmask(SIG_BLOCK, &held, NULL);
}

static int run_top(const struct options *options)
{
	struct top top = {
		.options = options,
		.interval = options->interval ? options->interval : INTERVAL_NS,
		.page = PAGE_TABLE,
	};
	int ret = STATUS_ERROR;
	enum counters_by by;

	if (!counters_by_parse(options->by, &by) ||
	    !parse_order(options->sort, &top.order) || check_options(options) ||
	    screen_check())
		return STATUS_ERROR;
	signals_catch(0);
	if (prepare(&top, by))
		goto out;
	catch_quit();
	if (screen_open())
		goto out;
	ret = live_start(&top.live);
	top.refreshed = monotonic();
	listing_read(&top.listing);
	draw(&top);
	run_loop(&top);
	screen_close();
	live_end(&top.live);
	ret = final_status(&top);
out:
	forget_lines(&top);
	printer_close(top.printer);
	elog_text_free(&top.lines_output.text);
	source_close(top.source);
	counters_close(top.counters);
	live_close(&top.live);
	free(top.placed);
	free(top.shown);
	return ret;
}

static const struct verb_option top_options[] = {
	{ OPTION_BY, "count by event (default), provider, session, pid or cpu" },
	{ OPTION_SORT, "rate (default), bytes: a second, events: in all, lost or\n"
	  "name" },
	{ OPTION_INTERVAL, "show new counts every so often; default 1" },
	{ 'e', NULL }, { 'k', NULL }, { 'l', NULL }, { 's', NULL },
	{ 'p', NULL }, { 't', NULL }, { 'C', NULL }, { 'f', NULL },
	{ OPTION_SAMPLE, NULL }, { 'd', NULL }, { OPTION_PER_CPU_BYTES, NULL },
	{ OPTION_TIME, NULL }, { OPTION_FIELDS, NULL },
	{ 'q', "no summary" },
	{ 0, NULL },
};

const struct verb verb_top = {
	.name = "top",
	.summary = "show which events there are most of, on a terminal",
	.usage = "[OPTION...]",
	.description =
	"Shows, on a terminal, how many events there are, or those that the options\n"
	"select, a row for each event, provider or session, and how that has changed.\n"
	"Enter shows the events of a row, as elog capture prints them; h tells the keys.\n"
	"Ends with q, and prints a summary on stderr.\n"
	"\n"
	"Exit status: 0 all is well; 1 an error; 2 events were lost.\n",
	.options = top_options,
	.run = run_top,
};
