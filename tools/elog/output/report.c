// SPDX-License-Identifier: GPL-2.0-only
/*
 * Printing counters as text, JSON or CSV: see report.h.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "output/report.h"
#include "output/row.h"

#define TIME_WIDTH	18	/* of monotonic time */
#define DATE_WIDTH	29

static int64_t wall(const struct counter_row *row)
{
	return wall_time(row->last, row->wall_offset);
}

static const char *level_name(const struct counter_row *row)
{
	const char *name = elog_level_name(row->level);

	return name ? name : "?";
}

/* ------------------------------------------------------------------------
 * Rows
 */

/* In JSON, what the rows are about has members of its own. */
static void put_members(struct row *row, const struct counters *counters,
			const struct counter_row *counted)
{
	struct elog_text *text;

	if (counted == &counters->others) {
		text = row_cell(row, "others", NULL, 0);
		elog_text_string(text, "true");
		return;
	}
	switch (counters->by) {
	case COUNTERS_BY_EVENT:
		row_string(row, "provider", NULL, 0, counted->provider);
		row_string(row, "event", NULL, 0, counted->event);
		break;
	case COUNTERS_BY_PROVIDER:
		row_string(row, "provider", NULL, 0, counted->provider);
		break;
	case COUNTERS_BY_SESSION:
		row_string(row, "provider", NULL, 0, counted->provider);
		row_session(row, "session", NULL, 0, counted->number);
		break;
	case COUNTERS_BY_PID:
		row_number(row, "pid", NULL, 0, counted->number);
		row_string(row, "comm", NULL, 0, *counted->event ? counted->event : NULL);
		break;
	case COUNTERS_BY_INSTANCE:
		row_string(row, "instance", NULL, 0, counted->provider);
		break;
	case COUNTERS_BY_HOST:
		row_string(row, "host", NULL, 0, counted->host);
		break;
	default:
		if (counted->number == EVENTLOG_CPU_UNKNOWN)
			row_null(row, "cpu", NULL, 0);
		else
			row_number(row, "cpu", NULL, 0, counted->number);
		break;
	}
}

static int last_width(enum time_format format)
{
	return time_is_wall(format) ? DATE_WIDTH : TIME_WIDTH;
}

/* The time of the last event, in text. */
static void put_last(struct row *row, const struct counter_row *counted, enum time_format format)
{
	struct elog_text *text = row_cell(row, NULL, "LAST", last_width(format));

	if (text && time_is_wall(format))
		put_wall(text, format, (int64_t)wall(counted), false);
	else if (text)
		put_seconds(text, counted->last, TIME_WIDTH - 10);
}

static void put_counts(struct row *row, const struct counter_row *counted, bool knows_lost,
		       enum time_format format)
{
	const char *level = counted->level ? level_name(counted) : NULL;
	const bool any = counted->events, json = row->format == FORMAT_JSON;

	row_string(row, json ? NULL : "worst_level", "LEVEL", -7, level);
	row_number(row, "events", "EVENTS", 10, counted->events);
	row_decimal(row, "events_per_second", "EVENTS/S", 10, counted->rate);
	row_number(row, "bytes", "BYTES", 12, counted->bytes);
	row_decimal(row, "bytes_per_second", "BYTES/S", 12, counted->byte_rate);
	if (knows_lost) {
		row_number(row, "lost", "LOST", 8, counted->lost);
		row_number(row, "invalid", "INVALID", 8, counted->invalid);
	} else {
		row_null(row, "lost", "LOST", 8);
		row_null(row, "invalid", "INVALID", 8);
	}
	row_string(row, json ? "worst_level" : NULL, NULL, 0, level);
	if (any || row->heading) {
		put_last(row, counted, format);
		row_seconds(row, "last", NULL, 0, counted->last);
		row_wall(row, "last_wall", wall(counted));
	} else {
		row_null(row, "last", "LAST", last_width(format));
		row_null(row, "last_wall", NULL, 0);
	}
}

static uint32_t size_from(unsigned int index)
{
	return index ? 1U << (index - 1) : 0;
}

/* {"FROM":COUNT,...}: payloads of FROM bytes to less than twice as many. */
static void put_sizes(struct row *row, const struct counter_row *counted)
{
	struct elog_text *text = counted->sizes ? row_cell(row, "sizes", NULL, 0) : NULL;
	const char *comma = "";
	unsigned int i;

	if (!text)
		return;
	elog_text_put(text, "{", 1);
	for (i = 0; i < COUNTERS_SIZES; i++) {
		if (!counted->sizes[i])
			continue;
		elog_text_printf(text, "%s\"%u\":%" PRIu64, comma,
				 size_from(i), counted->sizes[i]);
		comma = ",";
	}
	elog_text_put(text, "}", 1);
}

/*
 * In text, the name is last: it has any length, and no other column depends on it. In CSV it
 * is first.
 */
static void put_row(struct row *row, const struct report *report,
		    const struct counters *counters, const struct counter_row *counted)
{
	const char *by = counters_by_name(counters->by);
	char name[COUNTERS_NAME_MAX], title[16];
	size_t i;

	for (i = 0; by[i] && i < sizeof(title) - 1; i++)
		title[i] = (char)toupper((unsigned char)by[i]);
	title[i] = '\0';
	row_begin(row);
	if (row->format == FORMAT_JSON) {
		put_members(row, counters, counted);
	} else {
		if (report->repeated)
			row_seconds(row, "seconds", NULL, 0, report->span);
		counters_name(counters, counted, name, sizeof(name));
		row_string(row, by, NULL, 0, name);
	}
	put_counts(row, counted, counters_knows_lost(counters) || counted == &counters->total,
		   report->settings->time);
	if (row->format == FORMAT_JSON)
		put_sizes(row, counted);
	else
		row_string(row, NULL, title, 0, name);
	row_end(row);
}

/* ------------------------------------------------------------------------
 * Reports
 */

static void text_sizes(const struct counter_row *row, struct elog_text *text)
{
	unsigned int i;

	if (!row->sizes)
		return;
	elog_text_string(text, "# BYTES OF AN EVENT     EVENTS\n");
	for (i = 0; i < COUNTERS_SIZES; i++)
		if (row->sizes[i])
			elog_text_printf(text, "# %6u to %6u %12" PRIu64 "\n",
					 size_from(i), i ? 2 * size_from(i) - 1 : 0,
					 row->sizes[i]);
}

void report_summary(const struct report *report, const struct counters *counters,
		    struct elog_text *text)
{
	struct elog_text causes = { 0 };
	uint64_t lost = put_causes(counters->lost, ELOG_LOST_CAUSES_MAX, &causes);
	double seconds = (double)report->span / 1e9;

	elog_text_printf(text, "%" PRIu64 " event%s in %" PRIu64 ".%03" PRIu64
			 " s, %.0f/s, %" PRIu64 " byte%s, lost %" PRIu64 "%s",
			 counters->total.events, plural(counters->total.events),
			 report->span / 1000000000, report->span / 1000000 % 1000,
			 seconds > 0 ? (double)counters->total.events / seconds : 0,
			 counters->total.bytes, plural(counters->total.bytes), lost, causes.data ? causes.data : "");
	if (counters->folded)
		elog_text_string(text, report->by_kernel ?
				 "; events beyond the room for definitions are (others)" :
				 "; rows seen longest ago are (others)");
	elog_text_put(text, "\n", 1);
	elog_text_free(&causes);
}

/* The total has the invalid records. */
static void json_loss(const struct counters *counters, struct elog_text *text)
{
	uint64_t lost[ELOG_LOST_CAUSES_MAX];

	memcpy(lost, counters->lost, sizeof(lost));
	lost[CAUSE_INVALID] = 0;
	json_causes(lost, ELOG_LOST_CAUSES_MAX, text);
}

static void put_json_summary(struct row *row, const struct report *report,
			     const struct counters *counters)
{
	struct elog_text *text;

	row_begin(row);
	text = row_cell(row, "summary", NULL, 0);
	elog_text_string(text, "true");
	row_seconds(row, "seconds", NULL, 0, report->span);
	if (report->interval)
		row_seconds(row, "interval", NULL, 0, report->interval);
	row_number(row, "rows", NULL, 0, counters->count);
	put_counts(row, &counters->total, true, report->settings->time);
	elog_text_put(text, ",", 1);
	json_loss(counters, text);
	row_number(row, "rejected", NULL, 0, counters->rejected);
	put_sizes(row, &counters->total);
	row_end(row);
}

void report_rows(const struct report *report, const struct counters *counters,
		 struct elog_text *text)
{
	const struct print_settings *settings = report->settings;
	struct row row = { .format = settings->format, .text = text };
	size_t i;

	if (row.format == FORMAT_TEXT && report->repeated && !settings->quiet)
		elog_text_printf(text, "# %.3f s%s\n", (double)report->span / 1e9,
				 report->interval ? "" : " in all");
	row.heading = !settings->quiet && (row.format == FORMAT_TEXT ||
					   (row.format == FORMAT_CSV && !report->continued));
	if (row.heading)
		put_row(&row, report, counters, &counters->total);
	row.heading = false;
	for (i = 0; i < counters->count; i++)
		put_row(&row, report, counters, counters->rows[i]);
	if (counters->folded)
		put_row(&row, report, counters, &counters->others);
	if (row.format == FORMAT_TEXT)
		put_row(&row, report, counters, &counters->total);
	else if (row.format == FORMAT_JSON)
		put_json_summary(&row, report, counters);
	if (row.format == FORMAT_TEXT && settings->verbose && !report->interval)
		text_sizes(&counters->total, text);
}
