// SPDX-License-Identifier: GPL-2.0-only
/*
 * The data of elog report as JSON, for the scripts of the page. Durations are in ns. Times
 * are ns since the earliest event, so that a double has them exactly. Names are escaped as
 * elog prints them, so that nothing in the page is invisible.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/report_page.h"

#define RATES_SHOWN	6
#define EVENTS_SHOWN	100
#define PROCESSES_SHOWN	50
#define GROUP_PAIRS	200	/* of a percentile over time, on average */
#define GROUPS_MIN	16
#define ROWS_MIN	10	/* of durations */

/* ------------------------------------------------------------------------
 * Strings
 */

static void put_visible(struct elog_text *text, const char *string)
{
	struct elog_text visible = { 0 };

	elog_text_visible(&visible, string, strlen(string));
	elog_text_json_string(text, visible.data ? visible.data : "", visible.size);
	if (visible.error)
		text->error = visible.error;
	elog_text_free(&visible);
}

static void put_member(struct elog_text *text, const char *name, const char *value)
{
	elog_text_printf(text, ",\"%s\":", name);
	if (value)
		put_visible(text, value);
	else
		elog_text_string(text, "null");
}

/* Names with a provider, as elog stat prints them. */
static void put_event_name(struct elog_text *text, const struct event_kind *kind)
{
	struct elog_text name = { 0 };

	put_quotable(&name, kind->provider);
	elog_text_string(&name, "/");
	put_quotable(&name, kind->name);
	elog_text_json_string(text, name.data ? name.data : "", name.size);
	if (name.error)
		text->error = name.error;
	elog_text_free(&name);
}

static void put_command(struct elog_text *text, const struct report_data *data,
			const char *name, const char *verb, bool definitions, uint64_t session)
{
	struct elog_text command = { 0 };

	elog_text_printf(text, ",\"%s\":", name);
	if (!report_lists(data->settings)) {
		elog_text_string(text, "null");
		return;
	}
	report_command(data, verb, definitions, session, &command);
	elog_text_json_string(text, command.data ? command.data : "", command.size);
	if (command.error)
		text->error = command.error;
	elog_text_free(&command);
}

/* ------------------------------------------------------------------------
 * Time
 */

/* The offset of local time, ns, of "+HH:MM". */
static int64_t zone_offset(const char *zone)
{
	int hours, minutes;

	if (sscanf(zone + (*zone != '\0'), "%d:%d", &hours, &minutes) != 2)
		return 0;
	return (*zone == '-' ? -1 : 1) * (int64_t)(hours * 60 + minutes) * 60 * 1000000000;
}

/* Return: @wall / @unit, rounded down. */
static int64_t divide(int64_t wall, int64_t unit)
{
	return wall / unit - (wall % unit < 0);
}

static void put_times(const struct report_data *data, struct elog_text *text)
{
	const int64_t day_ns = 86400 * INT64_C(1000000000);
	const uint64_t span = (uint64_t)data->last - (uint64_t)data->first;
	const enum time_format format = data->utc ? TIME_UNIVERSAL : TIME_WALL;
	struct date date = { .utc = data->utc };
	int64_t offset, day, of_day;

	date_set(&date, divide(data->first, 1000000000));
	offset = zone_offset(date.zone);
	/* Without overflow, whatever time it is: day * day_ns may be too small for an int64_t. */
	day = divide(data->first, day_ns);
	of_day = data->first % day_ns;
	of_day += (of_day < 0 ? day_ns : 0) + offset;
	day += divide(of_day, day_ns);
	of_day -= divide(of_day, day_ns) * day_ns;
	elog_text_printf(text, "\"time\":{\"bins\":%u,\"step\":%" PRIu64 ",\"first\":%.0f",
			 data->any ? data->bins.used : 0, UINT64_C(1) << data->bins.shift,
			 time_bins_start(&data->bins, data->first));
	elog_text_printf(text, ",\"span\":%" PRIu64 ",\"day\":%" PRId64 ",\"day_ns\":%" PRId64,
			 span, day, of_day);
	put_member(text, "zone", data->utc ? "+00:00" : date.zone);
	elog_text_string(text, ",\"text\":{\"start\":\"");
	put_wall(text, format, data->first, false);
	elog_text_string(text, "\",\"end\":\"");
	put_wall(text, format, data->last, false);
	elog_text_string(text, "\"}}");
}

/* The numbers of a table with one number a column. */
static void put_columns(const struct report_data *data, const uint64_t *counts,
			struct elog_text *text)
{
	unsigned int bin;

	elog_text_string(text, "[");
	for (bin = 0; bin < data->bins.used; bin++)
		elog_text_printf(text, "%s%" PRIu64, bin ? "," : "", counts[bin]);
	elog_text_string(text, "]");
}

/* ------------------------------------------------------------------------
 * Files
 */

static void put_files(const struct report_data *data, struct elog_text *text)
{
	const struct report_file *file;
	size_t i;

	elog_text_string(text, ",\"files\":[");
	for (i = 0; i < data->file_count; i++) {
		file = &data->files[i];
		elog_text_string(text, i ? ",{\"name\":" : "{\"name\":");
		put_visible(text, file->name);
		put_member(text, "host", file->host);
		put_member(text, "kernel", file->kernel);
		put_member(text, "command", file->command);
		elog_text_string(text, "}");
	}
	elog_text_string(text, "],\"damage\":[");
	for (i = 0; i < data->damage_count && i < REPORT_DAMAGES; i++) {
		elog_text_string(text, i ? "," : "");
		put_visible(text, data->damages[i]);
	}
	if (data->damage_count > REPORT_DAMAGES)
		elog_text_printf(text, ",\"%zu more\"", data->damage_count - REPORT_DAMAGES);
	elog_text_string(text, "]");
}

static void put_selection(const struct report_data *data, struct elog_text *text)
{
	struct elog_text selection = { 0 };

	report_selection(data->settings->select, true, true, &selection);
	if (data->settings->count)
		elog_text_printf(&selection, " -n %" PRIu64, data->settings->count);
	elog_text_string(text, ",\"selection\":");
	elog_text_json_string(text, selection.size ? selection.data + 1 : "",
			      selection.size ? selection.size - 1 : 0);
	if (selection.error)
		text->error = selection.error;
	elog_text_free(&selection);
}

/* ------------------------------------------------------------------------
 * Events and processes
 */

static int compare_events(const void *one, const void *other)
{
	const struct report_event *a = *(struct report_event *const *)one;
	const struct report_event *b = *(struct report_event *const *)other;
	int by_name;

	if (a->events != b->events)
		return a->events > b->events ? -1 : 1;
	by_name = strcmp(a->kind->provider, b->kind->provider);
	return by_name ? by_name : strcmp(a->kind->name, b->kind->name);
}

/* The areas of the chart: the most frequent events, and all others. */
static void put_rates(const struct report_data *data, struct report_event *const *sorted,
		      struct elog_text *text)
{
	uint64_t others[TIME_BINS];
	unsigned int bin, shown = 0;
	size_t i;

	memcpy(others, data->total.counts, sizeof(others));
	elog_text_string(text, ",\"rates\":[");
	for (i = 0; i < data->event_count && shown < RATES_SHOWN; i++) {
		if (!sorted[i]->has_rate)
			continue;
		elog_text_string(text, shown++ ? ",{\"name\":" : "{\"name\":");
		put_event_name(text, sorted[i]->kind);
		elog_text_string(text, ",\"bins\":");
		put_columns(data, sorted[i]->rate.counts, text);
		elog_text_string(text, "}");
		for (bin = 0; bin < data->bins.used; bin++)
			others[bin] -= sorted[i]->rate.counts[bin];
	}
	if (data->event_count > shown || !shown) {
		elog_text_printf(text, "%s{\"name\":\"%s\",\"others\":true,\"bins\":",
				 shown ? "," : "", shown ? "all others" : "events");
		put_columns(data, others, text);
		elog_text_string(text, "}");
	}
	elog_text_string(text, "]");
}

static void put_events(const struct report_data *data, struct elog_text *text)
{
	struct report_event **sorted = calloc(data->event_count + 1, sizeof(*sorted)), *event;
	const char *level;
	size_t count = 0, i;

	if (!sorted) {
		text->error = -ENOMEM;
		return;
	}
	for (event = data->events; event; event = event->next)
		sorted[count++] = event;
	qsort(sorted, count, sizeof(*sorted), compare_events);
	put_rates(data, sorted, text);
	elog_text_string(text, ",\"event_rows\":[");
	for (i = 0; i < count && i < EVENTS_SHOWN; i++) {
		level = elog_level_name(sorted[i]->level);
		elog_text_string(text, i ? ",{\"name\":" : "{\"name\":");
		put_event_name(text, sorted[i]->kind);
		put_member(text, "level", level);
		elog_text_printf(text, ",\"events\":%" PRIu64 ",\"bytes\":%" PRIu64 "}",
				 sorted[i]->events, sorted[i]->bytes);
	}
	elog_text_printf(text, "],\"more_events\":%zu",
			 count > EVENTS_SHOWN ? count - EVENTS_SHOWN : 0);
	free(sorted);
}

static void put_processes(const struct report_data *data, struct elog_text *text)
{
	struct counters *processes = data->processes;
	const struct counter_row *row;
	size_t i;

	counters_sort(processes, COUNTERS_ORDER_EVENTS);
	elog_text_string(text, ",\"processes\":[");
	for (i = 0; i < processes->count && i < PROCESSES_SHOWN; i++) {
		row = processes->rows[i];
		elog_text_printf(text, "%s{\"pid\":%" PRIu64, i ? "," : "", row->number);
		put_member(text, "name", row->event);
		elog_text_printf(text, ",\"events\":%" PRIu64 ",\"bytes\":%" PRIu64 "}",
				 row->events, row->bytes);
	}
	elog_text_printf(text, "],\"more_processes\":%zu,\"other_processes\":%" PRIu64,
			 processes->count > PROCESSES_SHOWN ?
			 processes->count - PROCESSES_SHOWN : 0, processes->others.events);
}

/* ------------------------------------------------------------------------
 * Losses
 */

static bool has_instances(const struct report_data *data)
{
	const struct report_instance *instance;

	elog_map_for_each(&data->instances, instance)
		if (*instance->name)
			return true;
	return false;
}

static void put_instances(const struct report_data *data, struct elog_text *text)
{
	const struct report_instance *instance;
	const char *between = "";

	elog_text_string(text, ",\"instances\":[");
	elog_map_for_each(&data->instances, instance) {
		if (!has_instances(data))
			break;
		elog_text_printf(text, "%s{\"events\":%" PRIu64 ",\"lost\":%" PRIu64 ",", between,
				 instance->events,
				 sum_causes(instance->lost, ELOG_LOST_CAUSES_MAX));
		json_causes(instance->lost, ELOG_LOST_CAUSES_MAX, text);
		put_member(text, "instance", instance->name);
		elog_text_string(text, "}");
		between = ",";
	}
	elog_text_string(text, "]");
}

static void put_losses(const struct report_data *data, const struct visit *visit,
		       struct elog_text *text)
{
	const char *between = "";
	uint64_t *causes, sum;
	unsigned int bin;

	elog_text_printf(text, ",\"events\":%" PRIu64 ",\"lost\":%" PRIu64 ",",
			 visit->events, sum_causes(visit->lost, ELOG_LOST_CAUSES_MAX));
	json_causes(visit->lost, ELOG_LOST_CAUSES_MAX, text);
	elog_text_string(text, ",\"losses\":[");
	for (bin = 0; bin < data->bins.used; bin++) {
		causes = time_table_at(&data->losses, bin, 0);
		sum = sum_causes(causes, REPORT_CAUSES);
		if (!sum)
			continue;
		elog_text_printf(text, "%s{\"bin\":%u,\"lost\":%" PRIu64 ",",
				 between, bin, sum);
		json_causes(causes, REPORT_CAUSES, text);
		elog_text_string(text, "}");
		between = ",";
	}
	elog_text_string(text, "]");
	put_instances(data, text);
}

/* ------------------------------------------------------------------------
 * Spans
 */

/* The middle of the part of a row that has the quantile, as histogram_quantile(). */
static uint64_t parts_quantile(const uint64_t *counts, uint64_t count, unsigned int percent)
{
	const uint64_t rank = count / 100 * percent + (count % 100 * percent + 99) / 100;
	uint64_t passed = 0, from;
	size_t part;

	for (part = 0; part < REPORT_ROWS * REPORT_PARTS - 1; part++) {
		passed += counts[part];
		if (passed >= rank)
			break;
	}
	from = report_part_start(part);
	return from + (report_part_start(part + 1) - from) / 2;
}

/* Return: how many columns to combine, so that most percentiles come from enough spans. */
static unsigned int group_columns(const struct report_data *data, const struct report_span *span)
{
	unsigned int group = 1;

	while (data->bins.used / group > GROUPS_MIN &&
	       span->histogram.count * group / data->bins.used < GROUP_PAIRS)
		group *= 2;
	return group;
}

static void put_quantiles(const struct report_data *data, const struct report_span *span,
			  unsigned int group, unsigned int percent, struct elog_text *text)
{
	uint64_t counts[REPORT_ROWS * REPORT_PARTS], count;
	unsigned int first, bin;
	size_t part;

	elog_text_printf(text, ",\"p%u_groups\":[", percent);
	for (first = 0; first < data->bins.used; first += group) {
		memset(counts, 0, sizeof(counts));
		count = 0;
		for (bin = first; bin < first + group && bin < data->bins.used; bin++) {
			for (part = 0; part < ARRAY_SIZE(counts); part++) {
				counts[part] += *time_table_at(&span->table, bin, part);
				count += *time_table_at(&span->table, bin, part);
			}
		}
		elog_text_string(text, first ? "," : "");
		if (count)
			elog_text_printf(text, "%" PRIu64, parts_quantile(counts, count, percent));
		else
			elog_text_string(text, "null");
	}
	elog_text_string(text, "]");
}

static uint64_t row_count(const struct report_span *span, unsigned int bin, size_t row)
{
	uint64_t sum = 0;
	size_t part;

	for (part = 0; part < REPORT_PARTS; part++)
		sum += *time_table_at(&span->table, bin, row * REPORT_PARTS + part);
	return sum;
}

/* [column, first row, counts...] for each column that has spans; rows count from @low. */
static void put_heat(const struct report_data *data, const struct report_span *span,
		     size_t low, size_t high, struct elog_text *text)
{
	const char *between = "";
	size_t first, last, row;
	unsigned int bin;

	elog_text_string(text, ",\"heat\":[");
	for (bin = 0; bin < data->bins.used; bin++) {
		for (first = low; first <= high && !row_count(span, bin, first); first++)
			;
		if (first > high)
			continue;
		for (last = high; !row_count(span, bin, last); last--)
			;
		elog_text_printf(text, "%s[%u,%zu", between, bin, first - low);
		for (row = first; row <= last; row++)
			elog_text_printf(text, ",%" PRIu64, row_count(span, bin, row));
		elog_text_string(text, "]");
		between = ",";
	}
	elog_text_string(text, "]");
}

/* Edges and counts of the rows that elog latency prints, with an edge at the end. */
static void put_rows(const struct report_span *span, size_t low, size_t high,
		     struct elog_text *text)
{
	uint64_t from, below;
	size_t row;

	elog_text_string(text, ",\"rows\":[");
	for (row = low; row <= high + 1; row++)
		elog_text_printf(text, "%s%" PRIu64, row == low ? "" : ",",
				 report_part_start(row * REPORT_PARTS));
	elog_text_string(text, "],\"hist\":[");
	for (row = low; row <= high; row++) {
		from = report_part_start(row * REPORT_PARTS);
		below = report_part_start((row + 1) * REPORT_PARTS);
		elog_text_printf(text, "%s%" PRIu64, row == low ? "" : ",",
				 histogram_between(&span->histogram, from, below));
	}
	elog_text_string(text, "]");
}

/* A name where a glob is expected. */
static void put_glob(struct elog_text *text, const char *name)
{
	for (; *name; name++) {
		if (strchr("*?[]\\/", *name))
			elog_text_string(text, "\\");
		elog_text_put(text, name, 1);
	}
}

/* Sessions belong to a provider, and to an instance. */
static void put_session_command(const struct report_data *data, const struct slow_span *slow,
				struct elog_text *text)
{
	struct elog_text verb = { 0 }, glob = { 0 };
	const struct report_event *event = data->events;

	elog_text_string(&verb, "show");
	while (event && !strcmp(event->kind->provider, slow->provider))
		event = event->next;
	if (event && !data->settings->select->globs.count) {
		put_glob(&glob, slow->provider);
		elog_text_string(&verb, " -e ");
		report_word(&verb, glob.data ? glob.data : "");
	}
	if (*slow->instance)
		elog_text_printf(&verb, " -f 'instance == \"%s\"'", slow->instance);
	else if (has_instances(data))
		elog_text_string(&verb, " -f '!instance'");
	if (verb.error || glob.error)
		text->error = -ENOMEM;
	else
		put_command(text, data, "command", verb.data, true, slow->span.session);
	elog_text_free(&verb);
	elog_text_free(&glob);
}

/* None without events of the provider sched. */
static void put_waits(const struct slow_span *slow, struct elog_text *text)
{
	bool any = false;
	unsigned int i;

	for (i = 0; i < INTERVAL_CAUSES; i++) {
		if (!slow->waits.times[i])
			continue;
		elog_text_printf(text, "%s\"%s\":%" PRIu64, any ? "," : ",\"waits\":{",
				 interval_cause_name(i), slow->waits.times[i]);
		any = true;
	}
	if (any)
		elog_text_printf(text, "},\"thread_time\":%" PRIu64,
				 waits_whole(&slow->waits, slow->span.duration));
}

static void put_slow(const struct report_data *data, const struct slow_span *slow,
		     struct elog_text *text)
{
	char thread[64];
	unsigned int i;

	/* ":TID" is not a name. */
	if (*slow->span.thread && *slow->span.thread != ':')
		snprintf(thread, sizeof(thread), "%s %u", slow->span.thread, slow->span.tid);
	else
		snprintf(thread, sizeof(thread), "%u", slow->span.tid);
	elog_text_printf(text, "{\"latency\":%" PRIu64 ",\"session\":\"0x%" PRIx64 "\","
			 "\"pid\":%u,\"tid\":%u", slow->span.duration, slow->span.session,
			 slow->span.pid, slow->span.tid);
	put_member(text, "thread", thread);
	if (*slow->instance)
		put_member(text, "instance", slow->instance);
	elog_text_string(text, ",\"time\":\"");
	put_wall(text, data->utc ? TIME_UNIVERSAL : TIME_WALL, slow->span.wall, false);
	elog_text_string(text, "\"");
	if (slow->span.session)
		put_session_command(data, slow, text);
	put_waits(slow, text);
	elog_text_printf(text, ",\"before\":%" PRIu64 ",\"after\":%" PRIu64 ",\"events\":[",
			 slow->before, slow->after);
	for (i = 0; i < slow->count; i++) {
		elog_text_string(text, i ? "," : "");
		elog_text_string(text, slow->events[i].json);
	}
	elog_text_string(text, "]}");
}

/* The END of a START that is in no pair. Return: its kind, or NULL: it was not seen. */
static const struct event_kind *find_end(const struct report_data *data,
					 const struct report_span *span)
{
	const struct report_event *event;
	const struct span_kind *end;

	for (event = data->events; event; event = event->next) {
		end = &event->kind->role.end;
		if (event->kind->role.is_end && end->name_size == span->name->name_size &&
		    !memcmp(end->name, span->name->name, end->name_size) &&
		    !memcmp(&end->hash, &span->name->hash, sizeof(end->hash)) &&
		    !strcmp(event->kind->provider, span->kind->provider))
			return event->kind;
	}
	return NULL;
}

/* All events with a name, as elog latency counts them. */
static uint64_t count_events(const struct report_data *data, const struct event_kind *kind)
{
	const struct report_event *event = data->events;

	while (event && kind && (strcmp(event->kind->name, kind->name) ||
				 strcmp(event->kind->provider, kind->provider)))
		event = event->next;
	return event && kind ? event->events : 0;
}

static void put_ends(const struct report_data *data, const struct report_span *span,
		     struct elog_text *text)
{
	const bool by_rule = data->settings->spans->rules.count;

	elog_text_printf(text, ",\"starts\":%" PRIu64 ",\"ends\":%" PRIu64,
			 by_rule ? span->starts : count_events(data, span->kind),
			 by_rule ? span->ends : count_events(data, span->end));
}

/* elog latency START END; "?" if END was not seen. */
static void put_latency_command(const struct report_data *data, const struct report_span *span,
				struct elog_text *text)
{
	const bool by_rule = data->settings->spans->rules.count;
	const char *rule = span->name->name, *names[] = {
		span->kind->name, span->end ? span->end->name : "?",
	};
	struct elog_text verb = { 0 }, word = { 0 };
	const char *colon = rule;
	unsigned int i;

	elog_text_string(&verb, "latency");
	while (by_rule && *colon != ':')
		colon += *colon == '\\' && colon[1] ? 2 : 1;
	for (i = 0; i < 2; i++) {
		word.size = 0;
		if (by_rule) {
			elog_text_printf(&word, "%.*s", i ? (int)strlen(rule) :
					 (int)(colon - rule), i ? colon + 1 : rule);
		} else {
			put_glob(&word, span->kind->provider);
			elog_text_string(&word, "/");
			put_glob(&word, names[i]);
		}
		elog_text_string(&verb, " ");
		report_word(&verb, word.data ? word.data : "");
	}
	if (data->settings->spans->by) {
		elog_text_string(&verb, " --by ");
		report_word(&verb, data->settings->spans->by);
	}
	if (verb.error || word.error)
		text->error = -ENOMEM;
	else
		put_command(text, data, "command", verb.data, false, 0);
	elog_text_free(&verb);
	elog_text_free(&word);
}

static void put_span_name(struct elog_text *text, const struct report_span *span, bool by_rule)
{
	struct elog_text name = { 0 }, own = { 0 };

	elog_text_put(&own, span->name->name, span->name->name_size);
	if (by_rule) {
		elog_text_visible(&name, own.data, own.size);
	} else {
		put_quotable(&name, span->kind->provider);
		elog_text_string(&name, "/");
		put_quotable(&name, own.data ? own.data : "");
		/* The others with this START have this name. */
		elog_text_string(&name, span->first ? ":" : "");
		put_quotable(&name, span->first ? span->end->name : "");
	}
	elog_text_json_string(text, name.data ? name.data : "", name.size);
	if (name.error || own.error)
		text->error = -ENOMEM;
	elog_text_free(&name);
	elog_text_free(&own);
}

static void put_span(const struct report_data *data, const struct report_span *span,
		     struct elog_text *text)
{
	static const struct {
		const char *name;
		unsigned int thousandths;
	} quantiles[] = {
		{ "p50", 500 }, { "p90", 900 }, { "p99", 990 }, { "p99.9", 999 },
	};
	const struct histogram *histogram = &span->histogram;
	const unsigned int group = group_columns(data, span);
	size_t low = report_part(data, histogram->min) / REPORT_PARTS;
	size_t high = report_part(data, histogram->max) / REPORT_PARTS;
	unsigned int i;

	/* A few rows around a single one show where it is. */
	for (i = 0; i < ROWS_MIN / 2 && high - low < ROWS_MIN; i++) {
		low -= low > 0;
		high += report_part_start((high + 2) * REPORT_PARTS) != UINT64_MAX;
	}

	elog_text_string(text, "{\"name\":");
	put_span_name(text, span, data->settings->spans->rules.count);
	put_ends(data, span, text);
	elog_text_printf(text, ",\"pairs\":%" PRIu64 ",\"min\":%" PRIu64 ",\"mean\":%.0f",
			 histogram->count, histogram->min, histogram_mean(histogram));
	for (i = 0; i < ARRAY_SIZE(quantiles); i++)
		elog_text_printf(text, ",\"%s\":%" PRIu64, quantiles[i].name,
				 histogram_quantile(histogram, quantiles[i].thousandths));
	elog_text_printf(text, ",\"max\":%" PRIu64, histogram->max);
	put_latency_command(data, span, text);
	put_rows(span, low, high, text);
	put_heat(data, span, low, high, text);
	elog_text_printf(text, ",\"group\":%u", group);
	put_quantiles(data, span, group, 50, text);
	put_quantiles(data, span, group, 99, text);
	elog_text_string(text, ",\"slowest\":[");
	for (i = 0; i < span->slow_count; i++) {
		elog_text_string(text, i ? "," : "");
		put_slow(data, &span->slowest[i], text);
	}
	elog_text_string(text, "]}");
}

static int compare_spans(const void *one, const void *other)
{
	const struct report_span *a = *(struct report_span *const *)one;
	const struct report_span *b = *(struct report_span *const *)other;

	if (a->histogram.count != b->histogram.count)
		return a->histogram.count > b->histogram.count ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static void put_spans(struct report_data *data, struct elog_text *text)
{
	size_t i;

	for (i = 0; i < data->span_count; i++)
		if (!data->spans[i]->end)
			data->spans[i]->end = find_end(data, data->spans[i]);
	qsort(data->spans, data->span_count, sizeof(*data->spans), compare_spans);
	elog_text_string(text, ",\"spans\":[");
	for (i = 0; i < data->span_count; i++) {
		elog_text_string(text, i ? "," : "");
		put_span(data, data->spans[i], text);
	}
	elog_text_printf(text, "],\"more_spans\":%zu", data->other_spans);
}

/* ------------------------------------------------------------------------
 * All of it
 */

void report_json(struct report_data *data, const struct visit *visit, struct elog_text *text)
{
	elog_text_string(text, "{");
	put_times(data, text);
	put_member(text, "tool", "elog");
	text->size--;
	elog_text_printf(text, " %s\"", tool_version());
	put_files(data, text);
	put_selection(data, text);
	put_losses(data, visit, text);
	put_events(data, text);
	put_processes(data, text);
	put_spans(data, text);
	elog_text_printf(text, ",\"listed\":%s,\"commands\":{\"none\":null",
			 report_lists(data->settings) ? "true" : "false");
	put_command(text, data, "show", "show --time wall", true, 0);
	put_command(text, data, "events", "stat", true, 0);
	put_command(text, data, "processes", "stat --by pid", true, 0);
	put_command(text, data, "losses", "show --time wall", true, 0);
	elog_text_string(text, "}}\n");
}
