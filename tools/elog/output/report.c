// SPDX-License-Identifier: GPL-2.0-only
/*
 * Printing counters as text, JSON or CSV: see report.h.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "output/report.h"

#define NAME_WIDTH	24

static uint64_t wall(const struct counter_row *row)
{
	return row->last + (uint64_t)row->wall_offset;
}

static const char *level_name(const struct counter_row *row)
{
	const char *name = elog_level_name(row->level);

	return name ? name : "?";
}

/* ------------------------------------------------------------------------
 * Text
 */

static void text_row(const struct report *report, const struct counters *counters,
		     const struct counter_row *row, int width, struct elog_text *text)
{
	char name[COUNTERS_NAME_MAX], lost[24] = "-", invalid[24] = "-";

	if (counters_knows_lost(counters) || row == &counters->total) {
		snprintf(lost, sizeof(lost), "%" PRIu64, row->lost);
		snprintf(invalid, sizeof(invalid), "%" PRIu64, row->invalid);
	}
	elog_text_printf(text, "%-*s %-7s %10" PRIu64 " %10.1f %12" PRIu64
			 " %12.1f %8s %8s ", width,
			 counters_name(counters, row, name, sizeof(name)),
			 row->level ? level_name(row) : "-", row->events,
			 row->rate, row->bytes, row->byte_rate, lost, invalid);
	if (!row->events) {
		elog_text_string(text, "-\n");
		return;
	}
	if (report->settings->time == TIME_WALL)
		put_local_time(text, (int64_t)wall(row), false);
	else
		put_seconds(text, row->last, 1);
	elog_text_put(text, "\n", 1);
}

static uint32_t size_from(unsigned int index)
{
	return index ? 1U << (index - 1) : 0;
}

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

static int name_width(const struct counters *counters)
{
	char name[COUNTERS_NAME_MAX];
	size_t width = NAME_WIDTH, size, i;

	for (i = 0; i < counters->count; i++) {
		size = strlen(counters_name(counters, counters->rows[i], name, sizeof(name)));
		if (size > width)
			width = size;
	}
	return (int)width;
}

static void text_rows(const struct report *report, const struct counters *counters,
		      struct elog_text *text)
{
	int width = name_width(counters);
	char heading[16];
	size_t i;

	snprintf(heading, sizeof(heading), "%s", counters_by_name(counters->by));
	for (i = 0; heading[i]; i++)
		heading[i] = (char)toupper((unsigned char)heading[i]);
	if (report->repeated && !report->settings->quiet)
		elog_text_printf(text, "# %.3f s%s\n", (double)report->span / 1e9,
				 report->interval ? "" : " in all");
	if (!report->settings->quiet)
		elog_text_printf(text, "%-*s %-7s %10s %10s %12s %12s %8s %8s %s\n",
				 width, heading, "LEVEL", "EVENTS", "EVENTS/S",
				 "BYTES", "BYTES/S", "LOST", "INVALID", "LAST");
	for (i = 0; i < counters->count; i++)
		text_row(report, counters, counters->rows[i], width, text);
	if (counters->folded)
		text_row(report, counters, &counters->others, width, text);
	text_row(report, counters, &counters->total, width, text);
	if (report->settings->verbose && !report->interval)
		text_sizes(&counters->total, text);
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

/* ------------------------------------------------------------------------
 * JSON
 */

static void put_string(struct elog_text *text, const char *key, const char *value)
{
	json_member(text, key, value);
	elog_text_put(text, ",", 1);
}

static void json_key(const struct counters *counters, const struct counter_row *row,
		     struct elog_text *text)
{
	if (row == &counters->others) {
		elog_text_string(text, "\"others\":true,");
		return;
	}
	switch (counters->by) {
	case COUNTERS_BY_EVENT:
		put_string(text, "provider", row->provider);
		put_string(text, "event", row->event);
		break;
	case COUNTERS_BY_PROVIDER:
		put_string(text, "provider", row->provider);
		break;
	case COUNTERS_BY_SESSION:
		put_string(text, "provider", row->provider);
		if (row->number)
			elog_text_printf(text, "\"session\":\"0x%" PRIx64 "\",",
					 row->number);
		else
			elog_text_string(text, "\"session\":null,");
		break;
	case COUNTERS_BY_PID:
		elog_text_printf(text, "\"pid\":%" PRIu64 ",", row->number);
		if (*row->event)
			put_string(text, "comm", row->event);
		else
			elog_text_string(text, "\"comm\":null,");
		break;
	case COUNTERS_BY_INSTANCE:
		put_string(text, "instance", row->provider);
		break;
	default:
		if (row->number == EVENTLOG_CPU_UNKNOWN)
			elog_text_string(text, "\"cpu\":null,");
		else
			elog_text_printf(text, "\"cpu\":%" PRIu64 ",", row->number);
		break;
	}
}

static void json_counts(const struct counter_row *row, bool knows_lost,
			struct elog_text *text)
{
	elog_text_printf(text, "\"events\":%" PRIu64 ",\"events_per_second\":%.3f"
			 ",\"bytes\":%" PRIu64 ",\"bytes_per_second\":%.3f,\"lost\":",
			 row->events, row->rate, row->bytes, row->byte_rate);
	if (knows_lost)
		elog_text_printf(text, "%" PRIu64 ",\"invalid\":%" PRIu64, row->lost,
				 row->invalid);
	else
		elog_text_string(text, "null,\"invalid\":null");
	if (row->level) {
		elog_text_string(text, ",\"worst_level\":");
		elog_text_json_string(text, level_name(row), strlen(level_name(row)));
	}
	if (row->events) {
		elog_text_string(text, ",\"last\":");
		put_seconds(text, row->last, 1);
		elog_text_string(text, ",\"last_wall\":");
		put_seconds(text, wall(row), 1);
	}
}

/* {"FROM":COUNT,...}: payloads of FROM bytes to less than twice as many. */
static void json_sizes(const struct counter_row *row, struct elog_text *text)
{
	const char *comma = "";
	unsigned int i;

	if (!row->sizes)
		return;
	elog_text_string(text, ",\"sizes\":{");
	for (i = 0; i < COUNTERS_SIZES; i++) {
		if (!row->sizes[i])
			continue;
		elog_text_printf(text, "%s\"%u\":%" PRIu64, comma,
				 size_from(i), row->sizes[i]);
		comma = ",";
	}
	elog_text_put(text, "}", 1);
}

static void json_row(const struct counters *counters, const struct counter_row *row,
		     struct elog_text *text)
{
	elog_text_put(text, "{", 1);
	json_key(counters, row, text);
	json_counts(row, counters_knows_lost(counters), text);
	json_sizes(row, text);
	elog_text_string(text, "}\n");
}

/* The total has the invalid records. */
static void json_loss(const struct counters *counters, struct elog_text *text)
{
	uint64_t lost[ELOG_LOST_CAUSES_MAX];

	memcpy(lost, counters->lost, sizeof(lost));
	lost[CAUSE_INVALID] = 0;
	json_causes(lost, ELOG_LOST_CAUSES_MAX, text);
}

static void json_rows(const struct report *report, const struct counters *counters,
		      struct elog_text *text)
{
	size_t i;

	for (i = 0; i < counters->count; i++)
		json_row(counters, counters->rows[i], text);
	if (counters->folded)
		json_row(counters, &counters->others, text);
	elog_text_string(text, "{\"summary\":true,\"seconds\":");
	put_seconds(text, report->span, 1);
	if (report->interval) {
		elog_text_string(text, ",\"interval\":");
		put_seconds(text, report->interval, 1);
	}
	elog_text_printf(text, ",\"rows\":%zu,", counters->count);
	json_counts(&counters->total, true, text);
	elog_text_put(text, ",", 1);
	json_loss(counters, text);
	elog_text_printf(text, ",\"rejected\":%" PRIu64, counters->rejected);
	json_sizes(&counters->total, text);
	elog_text_string(text, "}\n");
}

/* ------------------------------------------------------------------------
 * CSV
 */

static void csv_row(const struct report *report, const struct counters *counters,
		    const struct counter_row *row, struct elog_text *text)
{
	char name[COUNTERS_NAME_MAX];

	if (report->repeated) {
		put_seconds(text, report->span, 1);
		elog_text_put(text, ",", 1);
	}
	counters_name(counters, row, name, sizeof(name));
	put_cell(text, name, strlen(name));
	elog_text_printf(text, ",%s,%" PRIu64 ",%.3f,%" PRIu64 ",%.3f,",
			 row->level ? level_name(row) : "", row->events, row->rate,
			 row->bytes, row->byte_rate);
	if (counters_knows_lost(counters))
		elog_text_printf(text, "%" PRIu64 ",%" PRIu64 ",", row->lost, row->invalid);
	else
		elog_text_string(text, ",,");
	if (row->events)
		put_seconds(text, row->last, 1);
	elog_text_put(text, ",", 1);
	if (row->events)
		put_seconds(text, wall(row), 1);
	elog_text_put(text, "\n", 1);
}

static void csv_rows(const struct report *report, const struct counters *counters,
		     struct elog_text *text)
{
	size_t i;

	if (!report->settings->quiet && !report->continued)
		elog_text_printf(text, "%s%s,worst_level,events,events_per_second,"
				 "bytes,bytes_per_second,lost,invalid,last,last_wall\n",
				 report->repeated ? "seconds," : "",
				 counters_by_name(counters->by));
	for (i = 0; i < counters->count; i++)
		csv_row(report, counters, counters->rows[i], text);
	if (counters->folded)
		csv_row(report, counters, &counters->others, text);
}

void report_rows(const struct report *report, const struct counters *counters,
		 struct elog_text *text)
{
	if (report->settings->format == FORMAT_JSON)
		json_rows(report, counters, text);
	else if (report->settings->format == FORMAT_CSV)
		csv_rows(report, counters, text);
	else
		text_rows(report, counters, text);
}
