// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog top: shows on a terminal which events are the most frequent ones now, and the
 * events of one row.
 *
 * The loop sleeps until a key is pressed or a ring is half full, at most 100 ms. Then it
 * counts the new events, and once an interval it gives the view new copies of the rows.
 *
 * A stream is visited, and look_around() does the rest between its items, and while there are
 * none or the servers do not answer.
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
#include "output/report.h"
#include "output/screen.h"
#include "output/top_view.h"
#include "util/signals.h"

#define BATCH_MS	100
#define INTERVAL_NS	1000000000ULL
#define INTERVAL_MIN	100000000ULL
#define EMPTY_READS_MAX	8
#define FILES_MAX	64	/* of instances that wake elog top at once */
#define LOOK_NS		50000000ULL	/* between looks for keys while a stream is read */

struct top {
	const struct options *options;
	bool stream;			/* of a stream, not live */
	struct live live;
	struct selection_spec select;	/* of a stream */
	struct source_settings source;
	uint64_t started;
	uint64_t looked;		/* for keys, CLOCK_MONOTONIC ns */
	struct visit_settings settings;
	struct visit *visit;
	struct counters *counters;
	struct top_view view;
	enum top_page back;		/* the page before help */
	uint64_t interval;		/* ns */
	uint64_t refreshed;		/* time of the last update, CLOCK_MONOTONIC ns */
	uint64_t events_before;		/* counted before the rows were cleared */
	uint64_t bytes_before;
	uint64_t lost_before;		/* at the last update */

	struct instance_facts facts;	/* with --instances */
	unsigned int filled;		/* of the fullest ring in this interval, percent */
	uint64_t *placed;		/* bytes that each ring had so far */
	uint64_t ring_bytes;

	uint64_t focus;			/* serial of the row whose events are shown */

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

/* ------------------------------------------------------------------------
 * Counting
 */

/*
 * How full the rings are: the bytes that were placed in each since the last batch, which
 * emptied them.
 */
static void measure_rings(struct top *top, struct elog_consumer *consumer, uint32_t first)
{
	struct eventlog_stat stat = { .size = sizeof(stat) };
	unsigned int cpu, percent;

	for (cpu = 0; cpu < elog_consumer_rings(consumer) && first + cpu < STREAMS_MAX; cpu++) {
		if (elog_consumer_stat(consumer, cpu, 0, &stat))
			continue;
		percent = (unsigned int)((stat.bytes - top->placed[first + cpu]) * 100 /
					 top->ring_bytes);
		top->placed[first + cpu] = stat.bytes;
		if (percent > 100)
			percent = 100;
		if (percent > top->filled)
			top->filled = percent;
	}
}

static void measure_fill(struct top *top)
{
	const struct member *member;
	size_t i;

	measure_rings(top, top->live.consumer, 0);
	for (i = 1; (member = live_member(&top->live, i)); i++)
		if (member->consumer)
			measure_rings(top, member->consumer, member->first_stream);
}

static int take_event(void *context, struct visit_event *event)
{
	struct top *top = context;
	struct counter_row *row;
	int ret = counters_add(top->counters, event->entry, &row);

	if (ret || !top->focus || row->serial != top->focus)
		return ret;
	top->view.dirty = true;
	return top_events_add(&top->view.events, event->entry, top->view.paused);
}

static int take_loss(void *context, const struct entry *entry, uint64_t count)
{
	struct top *top = context;

	(void)count;
	return counters_add_lost(top->counters, entry, top->stream);
}

static const struct visit_ops top_ops = { .event = take_event, .lost = take_loss };

static uint64_t lost_so_far(const struct top *top)
{
	return top->stream ? sum_causes(top->visit->lost, ELOG_LOST_CAUSES_MAX) :
			     top->counters->total.lost;
}

/* Return: 0 or a negative errno. A stream tells its losses itself. */
static int read_lost(struct top *top)
{
	return top->stream ? 0 : counters_read_lost(top->counters, &top->live);
}

static void count_batch(struct top *top)
{
	int ret;

	measure_fill(top);
	ret = live_flush(&top->live);
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

	if (!top->stream && !elog_device_info(elog_consumer_fd(top->live.consumer), &info))
		top->view.subscribers = info.subscribers;
}

/* Each instance has a row. Return: 0 or -ENOMEM. */
static int add_instances(struct top *top)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < top->facts.count; i++)
		ret = counters_add_instance(top->counters, top->facts.facts[i].name);
	return ret;
}

static void read_facts(struct top *top)
{
	if (top->live.instances && !top->error)
		top->error = instance_facts_read(&top->facts, &top->live);
}

/* Copy the rows to the view. */
static void take_rows(struct top *top)
{
	struct counters *counters = top->counters;
	size_t i;

	if (counters->by == COUNTERS_BY_INSTANCE && add_instances(top) && !top->error)
		top->error = -ENOMEM;

	counters_sort(counters, top->view.order);
	top->view.row_count = counters->count < TOP_ROWS_MAX ? counters->count : TOP_ROWS_MAX;
	for (i = 0; i < top->view.row_count; i++)
		top->view.rows[i] = *counters->rows[i];
	top->view.folded = counters->folded != 0;
	top->view.others = counters->others;
	top->view.total = counters->total;
	top->view.lost = lost_so_far(top);
	top->view.latest = counters_history_at(counters);
	top->view.dirty = true;
}

static void refresh_rows(struct top *top)
{
	uint64_t now = monotonic(), lost;
	int ret;

	ret = read_lost(top);
	if (ret)
		top->error = ret;
	counters_mark(top->counters, now);
	lost = lost_so_far(top);
	top->view.lost_rate = (double)(lost - top->lost_before) * 1e9 /
			 (double)(now - top->refreshed + 1);
	top->lost_before = lost;
	top->refreshed = now;
	top->view.fill = top->filled;
	top->filled = 0;
	count_subscribers(top);
	read_facts(top);
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
		top->error = read_lost(top);
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
	char name[COUNTERS_NAME_MAX], host[TOP_HOST_BYTES];

	if (!top->view.row_count)
		return;
	row = &top->view.rows[top_view_selected(&top->view)];
	top->focus = row->serial;
	counters_name(top->counters, row, name, sizeof(name));
	counters_host(row, host, sizeof(host));
	snprintf(top->view.focus_name, sizeof(top->view.focus_name), "%s%s%s", name,
		 top->counters->hosts && top->counters->by != COUNTERS_BY_HOST ? " of " : "",
		 top->counters->by == COUNTERS_BY_HOST ? "" : host);
	top_events_clear(&top->view.events);
	top->view.paused = false;
	top->view.page = TOP_EVENTS;
}

static void leave_row(struct top *top)
{
	top->focus = 0;
	top->view.page = TOP_TABLE;
	top_events_clear(&top->view.events);
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
	if (key == 'I' && top->live.instances)
		count_by(top, COUNTERS_BY_INSTANCE);
	if (key == 'h')
		count_by(top, COUNTERS_BY_HOST);
}

static void table_key(struct top *top, int key)
{
	size_t selected = top_view_selected(&top->view), page = top_view_page_size();

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

static void events_key(struct top *top, int key)
{
	struct top_events *events = &top->view.events;
	size_t page = top_view_page_size();

	switch (key) {
	case 'q':
	case SCREEN_ESCAPE:
		leave_row(top);
		break;
	case SCREEN_UP:
		top_events_scroll(events, 1, 0);
		break;
	case SCREEN_DOWN:
		top_events_scroll(events, 0, 1);
		break;
	case SCREEN_PAGE_UP:
		top_events_scroll(events, page, 0);
		break;
	case SCREEN_PAGE_DOWN:
		top_events_scroll(events, 0, page);
		break;
	case SCREEN_HOME:
		top_events_scroll(events, TOP_EVENTS_MAX, 0);
		break;
	case SCREEN_END:
		top_events_scroll(events, 0, TOP_EVENTS_MAX);
		break;
	}
}

static void take_key(struct top *top, int key)
{
	top->view.dirty = true;
	*top->view.message = '\0';
	if (top->view.page == TOP_HELP) {
		top->view.page = top->back;
	} else if (key == '?' || (key == 'h' && !top->stream)) {
		top->back = top->view.page;
		top->view.page = TOP_HELP;
	} else if (key == ' ') {
		top->view.paused = !top->view.paused;
		if (!top->view.paused) {
			top_events_scroll(&top->view.events, 0, TOP_EVENTS_MAX);
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
	struct pollfd files[2 + FILES_MAX] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = elog_consumer_fd(top->live.consumer), .events = POLLIN },
	};
	const struct member *member;
	nfds_t count = 2;
	size_t i;

	/* Those of further instances are looked at when the time is over. */
	for (i = 1; count < ARRAY_SIZE(files) && (member = live_member(&top->live, i)); i++)
		if (member->consumer && !member->deleted)
			files[count++] = (struct pollfd){
				.fd = elog_consumer_fd(member->consumer), .events = POLLIN,
			};
	if (signals_poll(files, count, left(top)) < 0) {
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
		instances_look(&top->live);
		ret = live_pending(&top->live);
		if (ret < 0)
			top->error = ret;
		if (ret > 0)
			count_batch(top);
		take_keys(top, ready);
		if (monotonic() - top->refreshed >= top->interval)
			refresh_rows(top);
		if (screen_message(top->view.message, sizeof(top->view.message)))
			top->view.dirty = true;
		if (top->view.dirty && !top->error)
			top_view_draw(&top->view);
	}
	/* Count what is left in the rings. */
	if (!top->error)
		count_batch(top);
}

static bool terminal_is_ready(struct top *top)
{
	struct pollfd terminal = { .fd = STDIN_FILENO, .events = POLLIN };

	if (poll(&terminal, 1, 0) <= 0)
		return false;
	if (terminal.revents & (POLLHUP | POLLERR | POLLNVAL))
		top->quit = true;
	return terminal.revents & POLLIN;
}

/* Between items of a stream, and while there are none. */
static int look_around(struct top *top)
{
	const uint64_t now = monotonic();
	const bool connected = visit_is_connected(top->visit);

	if (now - top->looked < LOOK_NS)
		return 0;
	top->looked = now;
	take_keys(top, terminal_is_ready(top));
	if (now - top->refreshed >= top->interval)
		refresh_rows(top);
	if (screen_message(top->view.message, sizeof(top->view.message)) ||
	    connected != top->view.connected)
		top->view.dirty = true;
	top->view.connected = connected;
	if (top->view.dirty)
		top_view_draw(&top->view);
	top->visit->enough |= top->quit || quits;
	return top->error;
}

static int look_while_reading(void *context, const struct entry *entry)
{
	(void)entry;
	return look_around(context);
}

static int look_while_idle(void *context, bool over)
{
	(void)over;
	return look_around(context);
}

static int left_of_stream(void *context)
{
	const struct top *top = context;

	return time_left(top->refreshed, top->interval, BATCH_MS / 2);
}

static const struct visit_ops stream_ops = {
	.event = take_event,
	.lost = take_loss,
	.sync = look_while_reading,
	.idle = look_while_idle,
	.left = left_of_stream,
};

static void run_stream(struct top *top)
{
	const int ret = visit_run(top->visit);

	if (!top->error)
		top->error = ret;
}

/* ------------------------------------------------------------------------
 * The beginning and the end
 */

static int final_status(struct top *top)
{
	const struct report report = {
		.span = top->stream ? monotonic() - top->started :
				      top->live.ended - top->live.started,
	};
	struct elog_text text = { 0 };

	if (!top->error)
		top->error = read_lost(top);
	if (top->stream)
		memcpy(top->counters->lost, top->visit->lost, sizeof(top->visit->lost));
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
	return visit_status(top->visit, false, lost_so_far(top));
}

/* A stream may have years of events: without --since, begin with those of now. */
static int open_stream(struct top *top)
{
	const struct options *options = top->options;

	top->select = options->select;
	if (top->select.since.kind == TIME_SPEC_NONE)
		top->select.since = (struct time_spec){ TIME_SPEC_WALL, realtime_now() };
	top->source = options->source;
	top->source.follow = true;
	top->settings.select = &top->select;
	top->settings.source = &top->source;
	top->settings.whole = false;
	top->settings.duration = options->live.duration;
	return visit_open(&top->visit, &top->settings, &stream_ops, top);
}

static int open_live(struct top *top)
{
	const struct options *options = top->options;
	int ret;

	signals_catch(0);
	ret = live_open(&top->live, &options->select, &options->live, NULL);
	if (ret)
		return ret;
	top->ring_bytes = options->live.ring_bytes ? options->live.ring_bytes :
			  options->live.instances ? INSTANCES_RING_BYTES : 1U << 20;
	top->view.facts = options->live.instances ? &top->facts : NULL;
	return visit_open_live(&top->visit, &top->settings, &top->live, &top_ops, top);
}

static int prepare(struct top *top, enum counters_by by)
{
	const struct options *options = top->options;

	top->settings = options->visit;
	top->settings.spans = NULL;
	if (top->stream ? open_stream(top) : open_live(top))
		return -EINVAL;
	if (top_events_open(&top->view.events, &options->print))
		return -ENOMEM;
	top->placed = calloc(STREAMS_MAX, sizeof(*top->placed));
	top->view.rows = calloc(TOP_ROWS_MAX, sizeof(*top->view.rows));
	if (!top->placed || !top->view.rows ||
	    counters_open(&top->counters, by, COUNTERS_ROWS, monotonic())) {
		elog_error("out of memory");
		return -ENOMEM;
	}
	top->counters->hosts = top->stream;
	top->view.counters = top->counters;
	top->view.stream = top->stream;
	top->view.connected = true;
	return 0;
}

/* Return: an option that is only for live events, or NULL. */
static const char *only_live(const struct options *options)
{
	return options->live.instances ? "--instances" : options->select.sample ? "--sample" : options->live.ring_bytes ? "--per-cpu-bytes" :
	       options->device ? "-D" : NULL;
}

/* Return: one that is only for a stream, or NULL. */
static const char *only_stream(const struct options *options, enum counters_by by)
{
	return options->select.since.kind != TIME_SPEC_NONE ? "--since" :
	       options->source.host ? "--host" : by == COUNTERS_BY_HOST ? "--by host" : NULL;
}

static int check_options(const struct options *options, bool stream, enum counters_by by)
{
	const char *wrong = stream ? only_live(options) : only_stream(options, by);

	if (options->separated) {
		elog_error("elog top runs no COMMAND: it needs the screen");
		return -EINVAL;
	}
	if (options->argument_count > 1 || (options->argument_count && !stream)) {
		elog_error("unexpected argument '%s'", options->arguments[0]);
		elog_hint("events of %s: elog top -e %s", options->arguments[0],
			  options->arguments[0]);
		return -EINVAL;
	}
	if (wrong) {
		elog_error(stream ? "%s does not go with the URL of a stream" :
				    "%s needs the URL of a stream: nats://HOST", wrong);
		return -EINVAL;
	}
	if (options->interval && options->interval < INTERVAL_MIN) {
		elog_error("--interval must be at least 100ms");
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
		.stream = source_is_stream(options->arguments, options->argument_count),
		.interval = options->interval ? options->interval : INTERVAL_NS,
	};
	int ret = STATUS_ERROR;
	enum counters_by by;

	if (!counters_by_parse(options->by ? : options->live.instances ? "instance" : NULL, &by) ||
	    !counters_order_parse(options->sort, true, &top.view.order) ||
	    check_options(options, top.stream, by) || screen_check())
		return STATUS_ERROR;
	if (prepare(&top, by))
		goto out;
	catch_quit();
	if (screen_open())
		goto out;
	if (!top.stream)
		live_start(&top.live);
	top.started = monotonic();
	top.refreshed = top.started;
	count_subscribers(&top);
	read_facts(&top);
	take_rows(&top);
	top_view_draw(&top.view);
	if (top.stream)
		run_stream(&top);
	else
		run_loop(&top);
	screen_close();
	if (!top.stream)
		live_end(&top.live);
	ret = final_status(&top);
out:
	top_events_close(&top.view.events);
	visit_close(top.visit);
	counters_close(top.counters);
	if (!top.stream)
		live_close(&top.live);
	instance_facts_free(&top.facts);
	free(top.placed);
	free(top.view.rows);
	return ret;
}

static const struct verb_option top_options[] = {
	{ OPTION_BY, "count by event (default), provider, session, pid, cpu,\n"
	  "instance or host" },
	{ OPTION_SORT, "rate (default): events per second; bytes: bytes per second;\n"
	  "events: total; lost; name" },
	{ OPTION_INTERVAL, "update the screen at this interval; default 1s" },
	{ 'e', NULL }, { 'k', NULL }, { 'l', NULL }, { 's', NULL },
	{ 'p', NULL }, { OPTION_UNIT, NULL }, { OPTION_CGROUP, NULL },
	{ 't', NULL }, { 'C', NULL }, { 'f', NULL },
	{ OPTION_BY_INSTANCES, NULL },
	{ OPTION_HOST, NULL }, { OPTION_SINCE, "of a stream, also events since then; default now" },
	{ OPTION_SAMPLE, NULL }, { 'd', NULL }, { OPTION_PER_CPU_BYTES, NULL },
	{ OPTION_TIME, NULL }, { OPTION_IDS, NULL }, { OPTION_FIELDS, NULL },
	{ 'D', NULL },
	{ 'q', "no summary" },
	{ 0, NULL },
};

const struct verb verb_top = {
	.name = "top",
	.summary = "show the most frequent events on a terminal",
	.usage = "[OPTION...] [nats://HOST[:PORT][,HOST...][/STREAM]]",
	.description =
	"Counts all events, or those that the options select, and shows on a terminal a row\n"
	"for each event, provider or session, with its rate and history. Enter shows the\n"
	"events of a row, the fields first; ? lists the keys. q ends elog top, which then\n"
	"prints a summary on stderr. With the URL of a stream, the events are those that elog\n"
	"ship sends there from now on, of all hosts.\n"
	"\n"
	"Exit status: 0 success; 1 an error; 2 events were lost.\n",
	.options = top_options,
	.run = run_top,
};
