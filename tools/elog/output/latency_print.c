// SPDX-License-Identifier: GPL-2.0-only
/*
 * What elog latency prints: see latency.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/latency.h"
#include "output/row.h"

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

static int time_width(enum time_format format)
{
	return format == TIME_UNIVERSAL ? 30 : format == TIME_WALL ? 29 : 17;
}

/* In the format of --time. */
static void put_time(struct elog_text *text, const struct print_settings *settings,
		     uint64_t time, int64_t wall)
{
	if (time_is_wall(settings->time))
		put_wall(text, settings->time, wall, settings->format != FORMAT_TEXT);
	else
		put_seconds(text, time, 1);
}

static void put_data_time(struct row *row, const struct print_settings *settings,
			  uint64_t time, int64_t wall)
{
	struct elog_text *text = row_cell(row, "time", NULL, 0);
	const char *quote = row->format == FORMAT_JSON && time_is_wall(settings->time) ? "\"" : "";

	if (!text)
		return;
	elog_text_string(text, quote);
	put_time(text, settings, time, wall);
	elog_text_string(text, quote);
}

static int64_t report_wall(const struct latency_report *report)
{
	return wall_time(report->time, report->wall_offset);
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
	for (i = 0; i < report->kind->group_count; i++) {
		group = report->kind->groups[i];
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

	elog_text_printf(text, "\n%8s %-*s %-18s %7s %7s%s  EVENT\n", "SLOWEST",
			 time_width(report->settings->time), "START",
			 "SESSION", "PID", "TID", report->kind->slowest[0].by ? "  BY" : "");
	for (i = 0; i < report->kind->slowest_count; i++) {
		pair = &report->kind->slowest[i];
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
		elog_text_printf(text, " %7u %7u%s%s  %s\n",
				 pair->start.pid, pair->start.tid,
				 pair->by ? "  " : "", pair->by ? pair->by : "",
				 pair->event ? pair->event : "-");
	}
}

static void put_shares(const struct shares *shares, const char *of, struct elog_text *text)
{
	elog_text_printf(text, "%-16s %8" PRIu64 "  ", of, shares->pairs);
	shares_put_text(shares, text);
	elog_text_string(text, "\n");
}

static void put_why(const struct latency_report *report, struct elog_text *text)
{
	const struct latency_kind *kind = report->kind;
	size_t i;

	elog_text_printf(text, "\n%-16s %8s  WHERE THE TIME WENT\n", "", "PAIRS");
	put_shares(&kind->shares, "all", text);
	put_shares(&report->slowest_shares, "slowest 1 %", text);
	for (i = 0; i < kind->group_count; i++)
		put_shares(&kind->groups[i]->shares, kind->groups[i]->value, text);
	if (kind->shares.several)
		elog_text_printf(text, "In %" PRIu64 " pair%s, threads worked at the same time: "
				 "the shares are those of the time of all threads.\n",
				 kind->shares.several, plural(kind->shares.several));
}

static void put_plural(struct elog_text *text, uint64_t count, const char *noun)
{
	elog_text_printf(text, "%" PRIu64 " %s%s", count, noun,
			 count == 1 ? "" : "s");
}

static void put_pairs(const struct latency_report *report, uint64_t pairs,
		      struct elog_text *text)
{
	const double seconds = (double)report->elapsed / 1e9;

	put_plural(text, pairs, "pair");
	elog_text_printf(text, " in %.3f s", seconds);
	if (report->elapsed)
		elog_text_printf(text, ", %.1f/s", (double)pairs / seconds);
}

static void put_counts(const struct pair_counts *counts, struct elog_text *text)
{
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
}

static void text_report(const struct latency_report *report,
			struct elog_text *text)
{
	const struct latency_kind *kind = report->kind;
	const struct histogram *histogram = report->histogram;

	if (report->several)
		elog_text_printf(text, "\n%.*s: ", (int)(strlen(kind->start->event) -
				 kind->start->suffix), kind->start->event);
	elog_text_printf(text, "from %s to %s, by %s\n", kind->start->event, kind->end->event,
			 report->by);
	put_pairs(report, histogram->count, text);
	/* Which kind an END without START is of is not known. */
	if (!report->several)
		put_counts(&report->counts, text);
	elog_text_string(text, "\n\n");
	put_titles(text);
	elog_text_put(text, "\n", 1);
	put_numbers(text, histogram);
	elog_text_put(text, "\n", 1);
	if (histogram->count && !report->settings->quiet)
		put_histogram(text, histogram);
	if (kind->group_count)
		put_groups(report, text);
	if (kind->slowest_count)
		put_slowest(report, text);
	if (report->why && histogram->count)
		put_why(report, text);
}

/* ------------------------------------------------------------------------
 * JSON and CSV
 */

/* Numbers; null or empty without pairs. */
static void put_data(struct row *row, const struct histogram *histogram)
{
	const bool any = histogram->count;
	struct elog_text *text;
	size_t i;

	if (any || row->heading)
		row_number(row, "min", NULL, 0, histogram->min);
	else
		row_null(row, "min", NULL, 0);
	text = row_cell(row, "mean", NULL, 0);
	if (text && any)
		elog_text_printf(text, "%.1f", histogram_mean(histogram));
	else if (text && row->format == FORMAT_JSON)
		elog_text_string(text, "null");
	for (i = 0; i < ARRAY_SIZE(quantiles); i++) {
		if (any || row->heading)
			row_number(row, quantiles[i].name, NULL, 0,
				   histogram_quantile(histogram, quantiles[i].thousandths));
		else
			row_null(row, quantiles[i].name, NULL, 0);
	}
	if (any || row->heading)
		row_number(row, "max", NULL, 0, histogram->max);
	else
		row_null(row, "max", NULL, 0);
}

static void put_no_counts(struct row *row)
{
	static const char *const others[] = {
		"unpaired_starts", "unpaired_ends", "restarted", "forgotten", "unkeyed",
		"dropped", "lost",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(others); i++)
		row_null(row, others[i], NULL, 0);
}

/* The columns from "time" to "lost" of a row that has no numbers of its own but @pairs. */
static void put_others(struct row *row, uint64_t pairs)
{
	row_null(row, "time", NULL, 0);
	row_null(row, "seconds", NULL, 0);
	row_number(row, "pairs", NULL, 0, pairs);
	put_no_counts(row);
}

/* Which spans a row of JSON is about. */
static void put_kind(struct row *row, const struct latency_report *report)
{
	const struct latency_kind *kind = report->kind;

	row_string(row, "start", NULL, 0, kind ? kind->start->event : NULL);
	row_string(row, "end", NULL, 0, kind ? kind->end->event : NULL);
}

/* The columns of CSV with --why; NULL: they are empty. */
static void put_columns(struct row *row, const struct latency_report *report,
			const struct shares *shares)
{
	struct elog_text *text;
	char name[32];
	unsigned int i;

	if (!report->why || row->format != FORMAT_CSV)
		return;
	for (i = 0; i < SHARES_PARTS; i++) {
		snprintf(name, sizeof(name), "why_%s", i < INTERVAL_CAUSES ?
			 interval_cause_name(i) : i == SHARES_ON_CPU ? "on_cpu" : "unknown");
		text = row_cell(row, name, NULL, 0);
		if (text && shares)
			elog_text_printf(text, "%.6f", shares_get(shares, i));
	}
	if (shares)
		row_number(row, "why_several", NULL, 0, shares->several);
	else
		row_null(row, "why_several", NULL, 0);
}

static void put_data_counts(struct row *row, const struct latency_report *report)
{
	const struct pair_counts *counts = &report->counts;

	row_number(row, "unpaired_starts", NULL, 0, counts->unpaired_starts);
	row_number(row, "unpaired_ends", NULL, 0, counts->unpaired_ends);
	row_number(row, "restarted", NULL, 0, counts->restarted);
	row_number(row, "forgotten", NULL, 0, counts->forgotten);
	row_number(row, "unkeyed", NULL, 0, counts->unkeyed);
	row_number(row, "dropped", NULL, 0, counts->dropped);
	row_number(row, "lost", NULL, 0, report->lost);
}

/* The columns of an interval, and of all pairs of a kind or of all kinds. */
static void put_report(struct row *row, const struct latency_report *report, const char *kind,
		       uint64_t pairs)
{
	row_string(row, "kind", NULL, 0, kind);
	if (row->format == FORMAT_JSON) {
		put_kind(row, report);
		row_string(row, "by", NULL, 0, report->by);
	} else {
		row_null(row, "group", NULL, 0);
	}
	put_data_time(row, report->settings, report->time, report_wall(report));
	row_seconds(row, "seconds", NULL, 0, report->elapsed);
	row_number(row, "pairs", NULL, 0, pairs);
	/* Which kind an END without START is of is not known. */
	if (report->several && report->kind)
		put_no_counts(row);
	else
		put_data_counts(row, report);
	put_data(row, report->histogram);
}

static void put_buckets(struct row *row, const struct histogram *histogram)
{
	struct elog_text *text = row_cell(row, "histogram", NULL, 0);
	const char *comma = "";
	size_t i;

	elog_text_string(text, "[");
	for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (!histogram->buckets[i])
			continue;
		elog_text_printf(text, "%s{\"from\":%" PRIu64 ",\"to\":%" PRIu64
				 ",\"pairs\":%" PRIu64 "}", comma, histogram_from(i),
				 histogram_to(i), histogram->buckets[i]);
		comma = ",";
	}
	elog_text_string(text, "]");
}

static void put_group(struct row *row, const struct latency_report *report,
		      const struct latency_group *group)
{
	row_begin(row);
	row_string(row, "kind", NULL, 0, "group");
	if (row->format == FORMAT_CSV) {
		put_cell(row_cell(row, "group", NULL, 0), group->value, group->size);
		put_others(row, group->histogram.count);
	} else {
		if (report->spans)
			put_kind(row, report);
		row_string(row, "group", NULL, 0, report->group_name);
		elog_text_put(row_cell(row, "value", NULL, 0), group->value, group->size);
		row_number(row, "pairs", NULL, 0, group->histogram.count);
	}
	put_data(row, &group->histogram);
	if (report->why && row->format == FORMAT_JSON) {
		shares_put_json(&group->shares, row_cell(row, "why", NULL, 0));
		row_number(row, "why_several", NULL, 0, group->shares.several);
	}
	put_columns(row, report, &group->shares);
	row_end(row);
}

/* CSV: a row of its own. */
static void put_slowest_shares(struct row *row, const struct latency_report *report)
{
	static const struct histogram none;

	row_begin(row);
	row_string(row, "kind", NULL, 0, "slowest_hundredth");
	row_null(row, "group", NULL, 0);
	put_others(row, report->slowest_shares.pairs);
	put_data(row, &none);
	put_columns(row, report, &report->slowest_shares);
	row_end(row);
}

static void put_pair(struct row *row, const struct latency_report *report,
		     const struct slow_pair *pair)
{
	row_begin(row);
	row_string(row, "kind", NULL, 0, "slowest");
	if (report->spans)
		put_kind(row, report);
	row_number(row, "latency", NULL, 0, pair->latency);
	put_data_time(row, report->settings, pair->start.time, pair->start.wall);
	row_session(row, "session", NULL, 0, pair->start.session);
	row_number(row, "pid", NULL, 0, pair->start.pid);
	row_number(row, "tid", NULL, 0, pair->start.tid);
	if (pair->by)
		elog_text_printf(row_cell(row, "by", NULL, 0), "{%s}", pair->by);
	if (pair->event)
		elog_text_printf(row->text, ",%s", pair->event);
	row_end(row);
}

/* JSON or CSV: of all pairs, and of each group. In CSV there are no slowest ones. */
static void data_report(const struct latency_report *report, struct row *row)
{
	const struct latency_kind *kind = report->kind;
	size_t i;

	row_begin(row);
	put_report(row, report, "total", report->histogram->count);
	if (row->format == FORMAT_JSON)
		put_buckets(row, report->histogram);
	if (report->why && row->format == FORMAT_JSON) {
		shares_put_json(&kind->shares, row_cell(row, "why", NULL, 0));
		row_number(row, "why_several", NULL, 0, kind->shares.several);
		row_number(row, "slowest_pairs", NULL, 0, report->slowest_shares.pairs);
		shares_put_json(&report->slowest_shares,
				row_cell(row, "slowest_why", NULL, 0));
	}
	put_columns(row, report, &kind->shares);
	row_end(row);
	if (report->why && row->format == FORMAT_CSV)
		put_slowest_shares(row, report);
	for (i = 0; i < kind->group_count; i++)
		put_group(row, report, kind->groups[i]);
	for (i = 0; i < kind->slowest_count; i++)
		put_pair(row, report, &kind->slowest[i]);
}

/* ------------------------------------------------------------------------
 * Reports
 */

void latency_print_header(const struct latency_report *report,
			  struct output *output)
{
	struct row row = { .format = report->settings->format, .text = &output->text };

	if (row.format == FORMAT_CSV) {
		row.heading = true;
		row_begin(&row);
		put_report(&row, report, NULL, 0);
		put_columns(&row, report, NULL);
		row_end(&row);
	} else if (row.format == FORMAT_TEXT && report->repeated) {
		elog_text_printf(row.text, "%-*s %8s", time_width(report->settings->time),
				 "TIME", "PAIRS");
		put_titles(row.text);
		elog_text_printf(row.text, " %8s\n", "LOST");
	}
}

void latency_print_interval(const struct latency_report *report,
			    struct output *output)
{
	struct row row = { .format = report->settings->format, .text = &output->text };
	struct elog_text *text = &output->text;
	size_t from = text->size;

	if (row.format != FORMAT_TEXT) {
		row_begin(&row);
		put_report(&row, report, "interval", report->histogram->count);
		put_columns(&row, report, NULL);
		row_end(&row);
		return;
	}
	put_time(text, report->settings, report->time, report_wall(report));
	fill_column(text, from, 17);
	elog_text_printf(text, " %8" PRIu64, report->histogram->count);
	put_numbers(text, report->histogram);
	elog_text_printf(text, " %8" PRIu64 "\n", report->lost);
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
	return a->number < b->number ? -1 : a->number > b->number;
}

void latency_print_all(const struct latency_report *report, uint64_t pairs, struct output *output)
{
	struct row row = { .format = report->settings->format, .text = &output->text };

	if (row.format != FORMAT_TEXT) {
		row_begin(&row);
		put_report(&row, report, "spans", pairs);
		row_end(&row);
		return;
	}
	put_pairs(report, pairs, row.text);
	elog_text_printf(row.text, "; %zu %s of spans", report->kinds,
			 report->kinds == 1 ? "kind" : "kinds");
	put_counts(&report->counts, row.text);
	elog_text_string(row.text, "\n");
}

void latency_print(const struct latency_report *report, struct output *output)
{
	const struct latency_kind *kind = report->kind;
	struct row row = { .format = report->settings->format, .text = &output->text };

	if (kind->group_count)
		qsort(kind->groups, kind->group_count, sizeof(*kind->groups), compare_groups);
	if (kind->slowest_count)
		qsort(kind->slowest, kind->slowest_count, sizeof(*kind->slowest),
		      compare_slowest);
	if (row.format != FORMAT_TEXT) {
		data_report(report, &row);
		return;
	}
	if (report->repeated)
		elog_text_put(row.text, "\n", 1);
	text_report(report, row.text);
}
