// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog top: shows on a terminal which events are the most frequent ones now, and the
 * events of one row.
 *
 * The loop sleeps until a key is pressed or a ring is half full, at most 100 ms. Then it
 * counts the new events, and once an interval it gives the view new copies of the rows.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/verb.h"
#include "export/visit.h"
#include "input/counters.h"
#include "output/output.h"
#include "output/printer.h"
#include "output/report.h"
#include "output/screen.h"
#include "output/top_view.h"
#include "util/signals.h"

#define BATCH_MS	100
#define INTERVAL_NS	1000000000ULL
#define INTERVAL_MIN	100000000ULL
#define LINE_BYTES	4096	/* of an event that is shown */
#define EMPTY_READS_MAX	8

struct top {
	const struct options *options;
	struct live live;
	struct visit_settings settings;
	struct visit *visit;
	struct counters *counters;
	struct top_view view;
	enum top_page back;		/* the page before help */
	uint64_t interval;		/* ns */
	uint64_t refreshed;		/* time of the last update, CLOCK_MONOTONIC ns */
	uint64_t events_before;		/* counted before the rows were cleared */
	uint64_t bytes_before;

	unsigned int filled;		/* of the fullest ring in this interval, percent */
	uint64_t *placed;		/* bytes that each ring had so far */
	unsigned int rings;
	uint64_t ring_bytes;

	uint64_t focus;			/* serial of the row whose events are shown */
	struct elog_text line;		/* of an event */
	struct printer *printer;

	unsigned int empty_reads;	/* in succession: stdin was ready without a key */
	bool quit;
	int error;
};

static volatile sig_atomic_t quits;

static void on_quit(int signal)
{
	(void)signal;
	quits++;
}

static int add_line(struct top *top, const struct entry *entry)
{
	struct elog_text *text = &top->line;
	char *line;

	printer_event(top->printer, entry, NULL);
	if (text->error)
		return text->error;
	line = strndup(text->data, text->size < LINE_BYTES ? text->size - 1 : LINE_BYTES);
	text->size = 0;
	if (!line)
		return -ENOMEM;
	top_view_add_line(&top->view, line);
	return 0;
}

/* ------------------------------------------------------------------------
 * Counting
 */

/*
 * How full the rings are: the bytes that were placed in each since the last batch, which
 * emptied them.
 */
static void measure_fill(struct top *top)
{
	struct eventlog_stat stat = { .size = sizeof(stat) };
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

static int take_event(void *context, struct visit_event *event)
{
	struct top *top = context;
	struct counter_row *row;
	int ret = counters_add(top->counters, event->entry, &row);

	return !ret && top->focus && row->serial == top->focus ? add_line(top, event->entry) : ret;
}

static int take_loss(void *context, const struct entry *entry, uint64_t count)
{
	struct top *top = context;

	(void)count;
	return counters_add_lost(top->counters, &entry->item, false);
}

static const struct visit_ops top_ops = { .event = take_event, .lost = take_loss };

static void count_batch(struct top *top)
{
	int ret;

	measure_fill(top);
	ret = flush_consumer(top->live.consumer);
	if (!ret)
		ret = visit_batch(top->visit);
	if (ret < 0)
		top->error = ret;
	top->view.damaged = top->visit->damaged;
}

/* Keeps the old number if the counts cannot be read. */
static void count_subscribers(struct top *top)
{
	struct eventlog_info info = { .size = sizeof(info) };

	if (!elog_device_info(elog_consumer_fd(top->live.consumer), &info))
		top->view.subscribers = info.subscribers;
}

/* Copy the rows to the view. */
static void take_rows(struct top *top)
{
	struct counters *counters = top->counters;
	size_t i;

	counters_sort(counters, top->view.order);
	top->view.row_count = counters->count < TOP_ROWS_MAX ? counters->count : TOP_ROWS_MAX;
	for (i = 0; i < top->view.row_count; i++)
		top->view.rows[i] = *counters->rows[i];
	top->view.folded = counters->folded != 0;
	top->view.others = counters->others;
	top->view.total = counters->total;
	top->view.latest = counters_history_at(counters);
	top->view.dirty = true;
}

static void refresh_rows(struct top *top)
{
	uint64_t now = monotonic(), lost = top->counters->total.lost;
	int ret;

	ret = counters_read_lost(top->counters, &top->live);
	if (ret)
		top->error = ret;
	counters_mark(top->counters, now);
	top->view.lost_rate = (double)(top->counters->total.lost - lost) * 1e9 /
			 (double)(now - top->refreshed + 1);
	top->refreshed = now;
	top->view.fill = top->filled;
	top->filled = 0;
	count_subscribers(top);
	if (!top->view.paused)
		take_rows(top);
}

static void count_by(struct top *top, enum counters_by by)
{
	top->events_before += top->counters->total.events;
	top->bytes_before += top->counters->total.bytes;
	counters_clear(top->counters, by, monotonic());
	/* Otherwise all earlier losses would count as new ones. */
	if (!top->error)
		top->error = counters_read_lost(top->counters, &top->live);
	top->refreshed = monotonic();
	top->view.selected = 0;
	top->view.first = 0;
	top->focus = 0;
	take_rows(top);
}

/* ------------------------------------------------------------------------
 * Keys
 */

static void select_row(struct top *top, size_t index)
{
	if (!top->view.row_count)
		return;
	if (index >= top->view.row_count)
		index = top->view.row_count - 1;
	top->view.selected = top->view.rows[index].serial;
}

static void sort_by(struct top *top, enum counters_order order)
{
	top->view.order = order;
	/* During a pause the rows stay as they are; they are sorted when it ends. */
	if (!top->view.paused)
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

	while (columns[i] != top->view.order)
		i++;
	sort_by(top, columns[(i + step + count) % count]);
}

static void enter_row(struct top *top)
{
	const struct counter_row *row;

	if (!top->view.row_count)
		return;
	row = &top->view.rows[top_view_selected(&top->view)];
	top->focus = row->serial;
	counters_name(top->counters, row, top->view.focus_name, sizeof(top->view.focus_name));
	top_view_clear_lines(&top->view);
	top->view.paused = false;
	top->view.page = TOP_EVENTS;
}

static void leave_row(struct top *top)
{
	top->focus = 0;
	top->view.page = TOP_TABLE;
	top_view_clear_lines(&top->view);
}

/* What letters sort by, and count by. */
static void letter_key(struct top *top, int key)
{
	static const struct {
		char key;
		enum counters_order order;
	} orders[] = {
		{ 'r', COUNTERS_ORDER_RATE }, { 'b', COUNTERS_ORDER_BYTE_RATE },
		{ 't', COUNTERS_ORDER_EVENTS }, { 'l', COUNTERS_ORDER_LOST },
		{ 'n', COUNTERS_ORDER_NAME },
	};
	static const struct {
		char key;
		enum counters_by by;
	} counts[] = {
		{ 'e', COUNTERS_BY_EVENT }, { 'p', COUNTERS_BY_PROVIDER },
		{ 's', COUNTERS_BY_SESSION }, { 'i', COUNTERS_BY_PID }, { 'c', COUNTERS_BY_CPU },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(orders); i++)
		if (key == orders[i].key)
			sort_by(top, orders[i].order);
	for (i = 0; i < ARRAY_SIZE(counts); i++)
		if (key == counts[i].key)
			count_by(top, counts[i].by);
}

static void table_key(struct top *top, int key)
{
	size_t selected = top_view_selected(&top->view), page = top_view_page_size(&top->view);

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
		top->view.selected = 0;
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
	default:
		letter_key(top, key);
		break;
	}
}

static void scroll_by(struct top *top, size_t up, size_t down)
{
	top->view.line_back += up;
	top->view.line_back = top->view.line_back > down ? top->view.line_back - down : 0;
}

static void events_key(struct top *top, int key)
{
	size_t page = top_view_page_size(&top->view);

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
		top->view.line_back = TOP_LINES_MAX;
		break;
	case SCREEN_END:
		top->view.line_back = 0;
		break;
	}
}

static void take_key(struct top *top, int key)
{
	top->view.dirty = true;
	if (top->view.page == TOP_HELP) {
		top->view.page = top->back;
	} else if (key == 'h' || key == '?') {
		top->back = top->view.page;
		top->view.page = TOP_HELP;
	} else if (key == ' ') {
		top->view.paused = !top->view.paused;
		if (!top->view.paused) {
			top->view.line_back = 0;
			take_rows(top);
		}
	} else if (top->view.page == TOP_EVENTS) {
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
	/* A terminal that is gone stays ready and has no keys. */
	top->empty_reads = ready && !any ? top->empty_reads + 1 : 0;
	if (top->empty_reads > EMPTY_READS_MAX)
		top->quit = true;
}

/* ------------------------------------------------------------------------
 * The loop
 */

static int left(const struct top *top)
{
	return live_left(&top->live, time_left(top->refreshed, top->interval, BATCH_MS));
}

static bool wait_for_news(struct top *top)
{
	struct pollfd files[] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = elog_consumer_fd(top->live.consumer), .events = POLLIN },
	};

	if (signals_poll(files, ARRAY_SIZE(files), left(top)) < 0) {
		if (errno != EINTR)
			top->error = -errno;
		return false;
	}
	if (files[0].revents & (POLLHUP | POLLERR | POLLNVAL))
		top->quit = true;
	if (files[1].revents & POLLHUP)
		top->live.deleted = true;
	else if (files[1].revents & (POLLERR | POLLNVAL))
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
		if (top->view.dirty && !top->error)
			top_view_draw(&top->view);
	}
	/* Count what is left in the rings. */
	if (!top->error)
		count_batch(top);
}

/* ------------------------------------------------------------------------
 * The beginning and the end
 */

static int final_status(struct top *top)
{
	const struct report report = {
		.span = top->live.ended - top->live.started,
	};
	struct elog_text text = { 0 };

	if (!top->error)
		top->error = counters_read_lost(top->counters, &top->live);
	if (top->error) {
		elog_error("%s", strerror(-top->error));
		return STATUS_ERROR;
	}
	top->counters->total.events += top->events_before;
	top->counters->total.bytes += top->bytes_before;
	report_summary(&report, top->counters, &text);
	if (!top->options->quiet)
		fprintf(stderr, "elog: %s", text.data ? text.data : "\n");
	elog_text_free(&text);
	return visit_status(top->visit, false, top->counters->total.lost);
}

static int prepare(struct top *top, enum counters_by by)
{
	const struct options *options = top->options;

	top->settings = options->visit;
	top->settings.spans = NULL;
	if (live_open(&top->live, &options->select, &options->live, NULL) ||
	    visit_open_live(&top->visit, &top->settings, &top->live, &top_ops, top))
		return -EINVAL;
	if (printer_open(&top->printer, &options->print, &top->line, false))
		return -ENOMEM;
	top->rings = elog_consumer_rings(top->live.consumer);
	top->ring_bytes = options->live.ring_bytes ? options->live.ring_bytes : 1U << 20;
	top->placed = calloc(top->rings + 1, sizeof(*top->placed));
	top->view.rows = calloc(TOP_ROWS_MAX, sizeof(*top->view.rows));
	if (!top->placed || !top->view.rows ||
	    counters_open(&top->counters, by, COUNTERS_ROWS, monotonic())) {
		elog_error("out of memory");
		return -ENOMEM;
	}
	top->view.counters = top->counters;
	return 0;
}

static int check_options(const struct options *options)
{
	if (options->separated) {
		elog_error("elog top runs no COMMAND: it needs the screen");
		return -EINVAL;
	}
	if (options->argument_count) {
		elog_error("unexpected argument '%s'", options->arguments[0]);
		elog_hint("events of %s: elog top -e %s", options->arguments[0],
			  options->arguments[0]);
		return -EINVAL;
	}
	if (options->interval && options->interval < INTERVAL_MIN) {
		elog_error("--interval must be at least 0.1");
		return -EINVAL;
	}
	return 0;
}

/* SIGQUIT ends the loop like other signals, so that the terminal is restored. */
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
	};
	int ret = STATUS_ERROR;
	enum counters_by by;

	if (!counters_by_parse(options->by, &by) ||
	    !counters_order_parse(options->sort, true, &top.view.order) || check_options(options) ||
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
	count_subscribers(&top);
	top_view_draw(&top.view);
	run_loop(&top);
	screen_close();
	live_end(&top.live);
	ret = final_status(&top);
out:
	top_view_clear_lines(&top.view);
	printer_close(top.printer);
	elog_text_free(&top.line);
	visit_close(top.visit);
	counters_close(top.counters);
	live_close(&top.live);
	free(top.placed);
	free(top.view.rows);
	return ret;
}

static const struct verb_option top_options[] = {
	{ OPTION_BY, "count by event (default), provider, session, pid or cpu" },
	{ OPTION_SORT, "rate (default): events per second; bytes: bytes per second;\n"
	  "events: total; lost; name" },
	{ OPTION_INTERVAL, "update the screen at this interval; default 1" },
	{ 'e', NULL }, { 'k', NULL }, { 'l', NULL }, { 's', NULL },
	{ 'p', NULL }, { OPTION_UNIT, NULL }, { OPTION_CGROUP, NULL },
	{ 't', NULL }, { 'C', NULL }, { 'f', NULL },
	{ OPTION_SAMPLE, NULL }, { 'd', NULL }, { OPTION_PER_CPU_BYTES, NULL },
	{ OPTION_TIME, NULL }, { OPTION_IDS, NULL }, { OPTION_FIELDS, NULL },
	{ 'D', NULL },
	{ 'q', "no summary" },
	{ 0, NULL },
};

const struct verb verb_top = {
	.name = "top",
	.summary = "show the most frequent events on a terminal",
	.usage = "[OPTION...]",
	.description =
	"Counts all events, or those that the options select, and shows on a terminal a row\n"
	"for each event, provider or session, with its rate and history. Enter shows the\n"
	"events of a row as elog capture prints them; h lists the keys. q ends elog top,\n"
	"which then prints a summary on stderr.\n"
	"\n"
	"Exit status: 0 success; 1 an error; 2 events were lost.\n",
	.options = top_options,
	.run = run_top,
};
