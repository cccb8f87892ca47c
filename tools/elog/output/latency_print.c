// SPDX-License-Identifier: GPL-2.0-only
/*
 * What elog latency prints: see latency.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/latency.h"

#define BAR_WIDTH	36U
#define FINE_ROWS	24U	/* with more, use coarser rows */
#define EMPTY_ROWS	2U	/* leave out more empty rows in succession */

static const struct {
	const char *name;	/* in JSON and CSV */
	const char *title;
	unsigned int thousandths;
} quantiles[] = {
	{ "p50", "P50", 500 }, { "p90", "P90", 900 }, { "p99", "P99", 990 },
	{ "p99.9", "P99.9", 999 },
};

/* ------------------------------------------------------------------------
 * Durations and times
 */

/* Three digits and a unit; @exact: without zeros at the end of a fraction. */
static void put_duration(char *text, size_t size, double nanoseconds, bool exact)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	size_t unit = 0, length;

	while (unit + 1 < ARRAY_SIZE(units) && nanoseconds >= 999.5) {
		nanoseconds /= 1000;
		unit++;
	}
	length = (size_t)snprintf(text, size, "%.*f", unit == 0 && exact ? 0 :
				  nanoseconds >= 99.95 ? 0 :
				  nanoseconds >= 9.995 ? 1 : 2, nanoseconds);
	if (strchr(text, '.') && (exact || !unit)) {
		while (text[length - 1] == '0')
			length--;
		length -= text[length - 1] == '.';
	}
	snprintf(text + length, size - length, "%s", units[unit]);
}

/* In the format of --time. */
static void put_time(struct elog_text *text, const struct print_settings *settings,
		     uint64_t time, int64_t wall)
{
	if (settings->time == TIME_WALL)
		put_local_time(text, wall, settings->format != FORMAT_TEXT);
	else
		put_seconds(text, time, 1);
}

static void put_json_time(struct elog_text *text, const struct print_settings *settings,
			  uint64_t time, int64_t wall)
{
	const char *quote = settings->time == TIME_WALL ? "\"" : "";

	elog_text_string(text, quote);
	put_time(text, settings, time, wall);
	elog_text_string(text, quote);
}

static int64_t report_wall(const struct latency_report *report)
{
	return (int64_t)(report->time + (uint64_t)report->wall_offset);
}

static void put_session(struct elog_text *text, uint64_t session,
			const char *none)
{
	if (session)
		elog_text_printf(text, "0x%" PRIx64, session);
	else
		elog_text_string(text, none);
}

/* ------------------------------------------------------------------------
 * Text
 */

/* @blocks: characters that fill eighths of a cell are available. */
static void put_bar(struct elog_text *text, uint64_t count, uint64_t most,
		    bool blocks)
{
	static const char *const eighths[] = {
		"", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b", "\u258a",
		"\u2589",
	};
	double length = (double)count / (double)most * BAR_WIDTH;
	unsigned int eighth = (unsigned int)(length * 8 + 0.5);
	unsigned int whole = blocks ? eighth / 8 : (unsigned int)(length + 0.5), i;

	for (i = 0; i < whole; i++)
		elog_text_string(text, blocks ? "\u2588" : "#");
	if (blocks)
		elog_text_string(text, eighth ? eighths[eighth % 8] :
				 count ? eighths[1] : "");
	else if (!whole && count)
		elog_text_string(text, "#");
}

/* Find the row of a value. */
static unsigned int row_of(uint64_t value, enum histogram_steps steps)
{
	unsigned int row = 0;
	uint64_t next;

	while ((next = histogram_edge(row + 1, steps)) <= value &&
	       next != UINT64_MAX)
		row++;
	return row;
}

static uint64_t row_count(const struct histogram *histogram, unsigned int row,
			  enum histogram_steps steps)
{
	return histogram_between(histogram, histogram_edge(row, steps),
				 histogram_edge(row + 1, steps));
}

static void put_row(struct elog_text *text, const struct histogram *histogram,
		    unsigned int row, enum histogram_steps steps, uint64_t most,
		    bool blocks)
{
	uint64_t count = row_count(histogram, row, steps);
	uint64_t below = histogram_edge(row + 1, steps);
	char from[24], to[24] = "";
	size_t blank;

	put_duration(from, sizeof(from), (double)histogram_edge(row, steps), true);
	if (below != UINT64_MAX)
		put_duration(to, sizeof(to), (double)below, true);
	elog_text_printf(text, "%8s .. %-7s %10" PRIu64 " %5.1f%%  ", from, to,
			 count, 100.0 * (double)count / (double)histogram->count);
	put_bar(text, count, most, blocks);
	/* Remove blanks at the end of the line. */
	for (blank = text->error ? 0 : text->size;
	     blank && text->data[blank - 1] == ' '; blank--)
		;
	text->size = blank;
	elog_text_put(text, "\n", 1);
}

static void put_histogram(struct elog_text *text,
			  const struct histogram *histogram)
{
	enum histogram_steps steps = HISTOGRAM_STEPS_10;
	unsigned int first, last, row, empty;
	uint64_t most = 1, count;
	bool blocks = output_utf8();

	first = row_of(histogram->min, steps);
	last = row_of(histogram->max, steps);
	if (last - first >= FINE_ROWS) {
		steps = HISTOGRAM_STEPS_5;
		first = row_of(histogram->min, steps);
		last = row_of(histogram->max, steps);
	}
	for (row = first; row <= last; row++) {
		count = row_count(histogram, row, steps);
		most = count > most ? count : most;
	}
	elog_text_printf(text, "\n%16s %15s\n", "LATENCY     ", "PAIRS");
	for (row = first; row <= last; row += empty ? empty : 1) {
		for (empty = 0; !row_count(histogram, row + empty, steps); empty++)
			;
		if (empty > EMPTY_ROWS) {
			elog_text_string(text, "     ...\n");
			continue;
		}
		empty = 0;
		if (histogram_edge(row, steps) != histogram_edge(row + 1, steps))
			put_row(text, histogram, row, steps, most, blocks);
	}
}

static void put_numbers(struct elog_text *text,
			const struct histogram *histogram)
{
	char duration[24];
	size_t i;

	if (!histogram->count) {
		for (i = 0; i < ARRAY_SIZE(quantiles) + 3; i++)
			elog_text_printf(text, " %8s", "-");
		return;
	}
	put_duration(duration, sizeof(duration), (double)histogram->min, false);
	elog_text_printf(text, " %8s", duration);
	put_duration(duration, sizeof(duration), histogram_mean(histogram), false);
	elog_text_printf(text, " %8s", duration);
	for (i = 0; i < ARRAY_SIZE(quantiles); i++) {
		put_duration(duration, sizeof(duration), (double)
			     histogram_quantile(histogram,
						quantiles[i].thousandths), false);
		elog_text_printf(text, " %8s", duration);
	}
	put_duration(duration, sizeof(duration), (double)histogram->max, false);
	elog_text_printf(text, " %8s", duration);
}

static void put_titles(struct elog_text *text)
{
	size_t i;

	elog_text_printf(text, " %8s %8s", "MIN", "MEAN");
	for (i = 0; i < ARRAY_SIZE(quantiles); i++)
		elog_text_printf(text, " %8s", quantiles[i].title);
	elog_text_printf(text, " %8s", "MAX");
}

static void put_groups(const struct latency_report *report,
		       struct elog_text *text)
{
	const struct latency_group *group;
	size_t i;

	elog_text_printf(text, "\n%-16s %8s", report->group_name, "PAIRS");
	put_titles(text);
	elog_text_put(text, "\n", 1);
	for (i = 0; i < report->group_count; i++) {
		group = report->groups[i];
		elog_text_printf(text, "%-16s %8" PRIu64, group->value,
				 group->histogram.count);
		put_numbers(text, &group->histogram);
		elog_text_put(text, "\n", 1);
	}
}

static void put_slowest(const struct latency_report *report,
			struct elog_text *text)
{
	const struct slow_pair *pair;
	char duration[24];
	size_t i, from;

	elog_text_printf(text, "\n%8s %-*s %-18s %7s %7s%s\n", "SLOWEST",
			 report->settings->time == TIME_WALL ? 29 : 17, "START",
			 "SESSION", "PID", "TID", report->slowest[0].by ? "  BY" : "");
	for (i = 0; i < report->slowest_count; i++) {
		pair = &report->slowest[i];
		put_duration(duration, sizeof(duration), (double)pair->latency,
			     false);
		elog_text_printf(text, "%8s ", duration);
		from = text->size;
		put_time(text, report->settings, pair->start.time,
			 pair->start.wall);
		fill_column(text, from, 17);
		elog_text_put(text, " ", 1);
		from = text->size;
		put_session(text, pair->start.session, "-");
		fill_column(text, from, 18);
		elog_text_printf(text, " %7u %7u%s%s\n",
				 pair->start.pid, pair->start.tid,
				 pair->by ? "  " : "", pair->by ? pair->by : "");
	}
}

static void put_plural(struct elog_text *text, uint64_t count, const char *noun)
{
	elog_text_printf(text, "%" PRIu64 " %s%s", count, noun,
			 count == 1 ? "" : "s");
}

static void text_report(const struct latency_report *report,
			struct elog_text *text)
{
	const struct histogram *histogram = report->histogram;
	const struct pair_counts *counts = &report->counts;
	double seconds = (double)report->elapsed / 1e9;

	elog_text_printf(text, "from %s to %s, by %s\n", report->start,
			 report->end, report->by);
	put_plural(text, histogram->count, "pair");
	elog_text_printf(text, " in %.3f s", seconds);
	if (report->elapsed)
		elog_text_printf(text, ", %.1f/s", (double)histogram->count / seconds);
	elog_text_string(text, "; unpaired: ");
	put_plural(text, counts->unpaired_starts, "start");
	elog_text_string(text, ", ");
	put_plural(text, counts->unpaired_ends, "end");
	elog_text_printf(text, "; restarted: %" PRIu64, counts->restarted);
	if (counts->forgotten)
		elog_text_printf(text, "; forgotten: %" PRIu64, counts->forgotten);
	if (counts->unkeyed)
		elog_text_printf(text, "; without key: %" PRIu64, counts->unkeyed);
	if (counts->dropped)
		elog_text_printf(text, "; dropped: %" PRIu64, counts->dropped);
	elog_text_string(text, "\n\n");
	put_titles(text);
	elog_text_put(text, "\n", 1);
	put_numbers(text, histogram);
	elog_text_put(text, "\n", 1);
	if (histogram->count && !report->settings->quiet)
		put_histogram(text, histogram);
	if (report->group_count)
		put_groups(report, text);
	if (report->slowest_count)
		put_slowest(report, text);
}

/* ------------------------------------------------------------------------
 * JSON and CSV
 */

/* JSON members or CSV cells of numbers; null or empty without pairs. */
static void put_members(struct elog_text *text, bool json,
			const struct histogram *histogram)
{
	size_t i;

	if (json)
		elog_text_string(text, ",\"min\":");
	else
		elog_text_put(text, ",", 1);
	if (!histogram->count) {
		elog_text_string(text, json ? "null,\"mean\":null" : ",");
		for (i = 0; i < ARRAY_SIZE(quantiles); i++)
			if (json)
				elog_text_printf(text, ",\"%s\":null",
						 quantiles[i].name);
			else
				elog_text_put(text, ",", 1);
		elog_text_string(text, json ? ",\"max\":null" : ",");
		return;
	}
	elog_text_printf(text, "%" PRIu64 "%s%.1f", histogram->min,
			 json ? ",\"mean\":" : ",", histogram_mean(histogram));
	for (i = 0; i < ARRAY_SIZE(quantiles); i++) {
		elog_text_put(text, ",", 1);
		if (json)
			elog_text_printf(text, "\"%s\":", quantiles[i].name);
		elog_text_printf(text, "%" PRIu64,
				 histogram_quantile(histogram,
						    quantiles[i].thousandths));
	}
	elog_text_printf(text, "%s%" PRIu64, json ? ",\"max\":" : ",",
			 histogram->max);
}

static void put_json_string(struct elog_text *text, const char *string)
{
	elog_text_json_string(text, string, strlen(string));
}

static void json_head(const struct latency_report *report, const char *kind,
		      struct elog_text *text)
{
	const struct pair_counts *counts = &report->counts;

	elog_text_printf(text, "{\"kind\":\"%s\",\"start\":", kind);
	put_json_string(text, report->start);
	elog_text_string(text, ",\"end\":");
	put_json_string(text, report->end);
	elog_text_string(text, ",\"by\":");
	put_json_string(text, report->by);
	elog_text_string(text, ",\"time\":");
	put_json_time(text, report->settings, report->time,
		      report_wall(report));
	elog_text_string(text, ",\"seconds\":");
	put_seconds(text, report->elapsed, 1);
	elog_text_printf(text, ",\"pairs\":%" PRIu64 ",\"unpaired_starts\":%" PRIu64
			 ",\"unpaired_ends\":%" PRIu64 ",\"restarted\":%" PRIu64
			 ",\"forgotten\":%" PRIu64 ",\"unkeyed\":%" PRIu64
			 ",\"dropped\":%" PRIu64 ",\"lost\":%" PRIu64, report->histogram->count,
			 counts->unpaired_starts, counts->unpaired_ends,
			 counts->restarted, counts->forgotten, counts->unkeyed,
			 counts->dropped, report->lost);
	put_members(text, true, report->histogram);
}

static void json_report(const struct latency_report *report,
			struct elog_text *text)
{
	const struct histogram *histogram = report->histogram;
	const struct latency_group *group;
	const struct slow_pair *pair;
	const char *comma = "";
	size_t i;

	json_head(report, "total", text);
	elog_text_string(text, ",\"histogram\":[");
	for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (!histogram->buckets[i])
			continue;
		elog_text_printf(text, "%s{\"from\":%" PRIu64 ",\"to\":%" PRIu64
				 ",\"pairs\":%" PRIu64 "}", comma,
				 histogram_from(i), histogram_to(i),
				 histogram->buckets[i]);
		comma = ",";
	}
	elog_text_string(text, "]}\n");
	for (i = 0; i < report->group_count; i++) {
		group = report->groups[i];
		elog_text_string(text, "{\"kind\":\"group\",\"group\":");
		put_json_string(text, report->group_name);
		elog_text_string(text, ",\"value\":");
		elog_text_put(text, group->value, group->size);
		elog_text_printf(text, ",\"pairs\":%" PRIu64,
				 group->histogram.count);
		put_members(text, true, &group->histogram);
		elog_text_string(text, "}\n");
	}
	for (i = 0; i < report->slowest_count; i++) {
		pair = &report->slowest[i];
		elog_text_printf(text, "{\"kind\":\"slowest\",\"latency\":%" PRIu64
				 ",\"time\":", pair->latency);
		put_json_time(text, report->settings, pair->start.time,
			      pair->start.wall);
		elog_text_string(text, ",\"session\":");
		if (pair->start.session)
			elog_text_printf(text, "\"0x%" PRIx64 "\"",
					 pair->start.session);
		else
			elog_text_string(text, "null");
		elog_text_printf(text, ",\"pid\":%u,\"tid\":%u", pair->start.pid,
				 pair->start.tid);
		if (pair->by)
			elog_text_printf(text, ",\"by\":{%s}", pair->by);
		elog_text_string(text, "}\n");
	}
}

static void csv_line(const struct latency_report *report, const char *kind,
		     struct elog_text *text)
{
	const struct pair_counts *counts = &report->counts;

	elog_text_printf(text, "%s,,", kind);
	put_time(text, report->settings, report->time,
		 report_wall(report));
	elog_text_put(text, ",", 1);
	put_seconds(text, report->elapsed, 1);
	elog_text_printf(text, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
			 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
			 report->histogram->count, counts->unpaired_starts,
			 counts->unpaired_ends, counts->restarted, counts->forgotten,
			 counts->unkeyed, counts->dropped, report->lost);
	put_members(text, false, report->histogram);
	elog_text_put(text, "\n", 1);
}

static void csv_groups(const struct latency_report *report,
		       struct elog_text *text)
{
	const struct latency_group *group;
	size_t i;

	for (i = 0; i < report->group_count; i++) {
		group = report->groups[i];
		elog_text_string(text, "group,");
		put_cell(text, group->value, group->size);
		elog_text_printf(text, ",,,%" PRIu64 ",,,,,,,",
				 group->histogram.count);
		put_members(text, false, &group->histogram);
		elog_text_put(text, "\n", 1);
	}
}

/* ------------------------------------------------------------------------
 * Reports
 */

void latency_print_header(const struct latency_report *report,
			  struct output *output)
{
	struct elog_text *text = &output->text;
	size_t i;

	if (report->settings->format == FORMAT_CSV) {
		elog_text_string(text, "kind,group,time,seconds,pairs,"
				 "unpaired_starts,unpaired_ends,restarted,"
				 "forgotten,unkeyed,dropped,lost,min,mean");
		for (i = 0; i < ARRAY_SIZE(quantiles); i++)
			elog_text_printf(text, ",%s", quantiles[i].name);
		elog_text_string(text, ",max\n");
	} else if (report->settings->format == FORMAT_TEXT &&
		   report->repeated) {
		elog_text_printf(text, "%-*s %8s", report->settings->time ==
				 TIME_WALL ? 29 : 17, "TIME", "PAIRS");
		put_titles(text);
		elog_text_printf(text, " %8s\n", "LOST");
	}
}

void latency_print_interval(const struct latency_report *report,
			    struct output *output)
{
	struct elog_text *text = &output->text;
	size_t from = text->size;

	switch (report->settings->format) {
	case FORMAT_JSON:
		json_head(report, "interval", text);
		elog_text_string(text, "}\n");
		break;
	case FORMAT_CSV:
		csv_line(report, "interval", text);
		break;
	default:
		put_time(text, report->settings, report->time,
			 report_wall(report));
		fill_column(text, from, 17);
		elog_text_printf(text, " %8" PRIu64, report->histogram->count);
		put_numbers(text, report->histogram);
		elog_text_printf(text, " %8" PRIu64 "\n", report->lost);
		break;
	}
}

static int compare_groups(const void *one, const void *other)
{
	const struct latency_group *a = *(struct latency_group *const *)one;
	const struct latency_group *b = *(struct latency_group *const *)other;

	if (a->histogram.count != b->histogram.count)
		return a->histogram.count > b->histogram.count ? -1 : 1;
	return strcmp(a->value, b->value);
}

static int compare_slowest(const void *one, const void *other)
{
	const struct slow_pair *a = one, *b = other;

	if (a->latency != b->latency)
		return a->latency > b->latency ? -1 : 1;
	return a->start.time < b->start.time ? -1 : a->start.time > b->start.time;
}

void latency_print(const struct latency_report *report, struct output *output)
{
	struct elog_text *text = &output->text;

	if (report->group_count)
		qsort(report->groups, report->group_count,
		      sizeof(*report->groups), compare_groups);
	if (report->slowest_count)
		qsort(report->slowest, report->slowest_count,
		      sizeof(*report->slowest), compare_slowest);
	switch (report->settings->format) {
	case FORMAT_JSON:
		json_report(report, text);
		break;
	case FORMAT_CSV:
		csv_line(report, "total", text);
		csv_groups(report, text);
		break;
	default:
		if (report->repeated)
			elog_text_put(text, "\n", 1);
		text_report(report, text);
		break;
	}
}
