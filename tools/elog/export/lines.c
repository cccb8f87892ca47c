// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog export --format jsonl and csv: a line for each event and each loss. All lines have
 * the same keys or columns: programs that look only at the first lines find them all. The
 * fields of an event are one JSON object.
 *
 * The end of a span has its name and its duration. A loss is an event of the provider
 * eventlog.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "export/export.h"

/*
 * struct lines - the state
 * @csv: comma-separated values instead of JSON Lines
 * @second: of the last time
 * @date: this second as text
 * @date_size: bytes of @date
 * @cell: a part of a line in CSV
 */
struct lines {
	bool csv;
	int64_t second;
	char date[64];
	size_t date_size;
	struct elog_text cell;
};

static const char header[] =
	"time,mono,cpu,pid,tid,comm,provider,session,event,level,span,duration,instance,host,"
	"machine_id,fields\n";

static int open_lines(struct export *export)
{
	struct lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		return -ENOMEM;
	lines->csv = export->csv;
	lines->second = INT64_MIN;
	export->state = lines;
	if (lines->csv)
		elog_text_string(&export->sink.text, header);
	return 0;
}

static void close_lines(struct export *export)
{
	struct lines *lines = export->state;

	if (lines)
		elog_text_free(&lines->cell);
	free(lines);
}

/* ------------------------------------------------------------------------
 * Cells
 */

/* The key of a cell; its comma in CSV. */
static void put_key(const struct lines *lines, struct elog_text *text, const char *key)
{
	if (lines->csv)
		elog_text_character(text, ',');
	else
		elog_text_string(text, key);
}

static void put_bytes(const struct lines *lines, struct elog_text *text, const char *data,
		      size_t size)
{
	if (lines->csv)
		put_cell(text, data, size);
	else
		elog_text_json_string(text, data, size);
}

static void put_string(const struct lines *lines, struct elog_text *text, const char *string)
{
	put_bytes(lines, text, string, strlen(string));
}

static void put_null(const struct lines *lines, struct elog_text *text)
{
	if (!lines->csv)
		elog_text_string(text, "null");
}

/* Universal time: it has no zone that a reader must know, and sorts as text. */
static void put_time(struct lines *lines, struct elog_text *text, int64_t wall)
{
	int64_t second = wall / 1000000000, rest = wall % 1000000000;
	time_t time;
	struct tm tm;

	if (rest < 0) {
		rest += 1000000000;
		second--;
	}
	if (second != lines->second) {
		time = (time_t)second;
		lines->second = second;
		lines->date_size = gmtime_r(&time, &tm) ?
			strftime(lines->date, sizeof(lines->date), "%Y-%m-%dT%H:%M:%S.", &tm) : 0;
	}
	elog_text_put(text, lines->date, lines->date_size);
	elog_text_unsigned(text, (uint64_t)rest, 9, '0');
	elog_text_character(text, 'Z');
}

static void put_times(struct lines *lines, struct elog_text *text, const struct entry *entry)
{
	elog_text_string(text, lines->csv ? "" : "{\"time\":\"");
	put_time(lines, text, wall_time(entry->item.time, entry->wall_offset));
	elog_text_string(text, lines->csv ? "," : "\",\"mono\":");
	elog_text_unsigned(text, entry->item.time, 1, ' ');
	put_key(lines, text, ",\"cpu\":");
	if (entry->item.cpu == EVENTLOG_CPU_UNKNOWN)
		put_null(lines, text);
	else
		elog_text_unsigned(text, entry->item.cpu, 1, ' ');
}

static void put_session(const struct lines *lines, struct elog_text *text, uint64_t session)
{
	if (!session) {
		put_null(lines, text);
		return;
	}
	elog_text_string(text, lines->csv ? "0x" : "\"0x");
	elog_text_hex(text, session, 1);
	if (!lines->csv)
		elog_text_character(text, '"');
}

static void put_optional(const struct lines *lines, struct elog_text *text, const char *key,
			 const char *string)
{
	put_key(lines, text, key);
	if (string)
		put_string(lines, text, string);
	else
		put_null(lines, text);
}

/* Where an event or a loss is from. */
static void put_origin(const struct lines *lines, struct elog_text *text,
		       const struct entry *entry)
{
	/* NULL: the root */
	put_optional(lines, text, ",\"instance\":", entry->item.instance);
	put_optional(lines, text, ",\"host\":", entry->host_name);
	put_optional(lines, text, ",\"machine_id\":", entry->machine_id);
}

static void put_span(const struct lines *lines, struct elog_text *text, const struct span *span)
{
	if (!span) {
		elog_text_string(text, lines->csv ? ",," : ",\"span\":null,\"duration\":null");
		return;
	}
	put_key(lines, text, ",\"span\":");
	put_bytes(lines, text, span->role->start.name, span->role->start.name_size);
	put_key(lines, text, ",\"duration\":");
	elog_text_unsigned(text, span->duration, 1, ' ');
}

/* ------------------------------------------------------------------------
 * Lines
 */

static void put_fields(struct elog_text *text, const struct entry *entry)
{
	const struct elog_item *item = &entry->item;

	elog_text_character(text, '{');
	if (entry->cached->event) {
		elog_format_json_fields(text, entry->cached->event, item->payload,
					item->payload_size);
	} else {
		elog_text_string(text, "\"payload\":");
		elog_text_json_string(text, item->payload, item->payload_size);
	}
	elog_text_character(text, '}');
}

/* In CSV, the object of the fields is a cell. */
static struct elog_text *begin_fields(struct lines *lines, struct elog_text *text)
{
	put_key(lines, text, ",\"fields\":");
	lines->cell.size = 0;
	return lines->csv ? &lines->cell : text;
}

static int end_line(struct export *export)
{
	struct lines *lines = export->state;
	struct elog_text *text = &export->sink.text;

	if (lines->csv) {
		put_cell(text, lines->cell.data, lines->cell.size);
		if (lines->cell.error)
			return lines->cell.error;
	}
	elog_text_string(text, lines->csv ? "\n" : "}\n");
	return sink_commit(&export->sink);
}

static int line_of_event(void *context, struct visit_event *event)
{
	struct export *export = context;
	struct lines *lines = export->state;
	struct elog_text *text = &export->sink.text;
	const struct entry *entry = event->entry;
	const struct elog_schema_event *schema = entry->cached->event;
	const char *level = schema ? elog_level_name(schema->level) : NULL;

	put_times(lines, text, entry);
	put_key(lines, text, ",\"pid\":");
	elog_text_unsigned(text, entry->item.pid, 1, ' ');
	put_key(lines, text, ",\"tid\":");
	elog_text_unsigned(text, entry->item.tid, 1, ' ');
	put_key(lines, text, ",\"comm\":");
	put_string(lines, text, thread_name(entry));
	put_key(lines, text, ",\"provider\":");
	put_string(lines, text, event->kind->provider);
	put_key(lines, text, ",\"session\":");
	put_session(lines, text, entry->item.session);
	put_key(lines, text, ",\"event\":");
	put_string(lines, text, event->kind->name);
	put_optional(lines, text, ",\"level\":", level);
	put_span(lines, text, event->match.ended ? &event->match.span : NULL);
	put_origin(lines, text, entry);
	put_fields(begin_fields(lines, text), entry);
	return end_line(export);
}

static int line_of_loss(void *context, const struct entry *entry, uint64_t count)
{
	struct export *export = context;
	struct lines *lines = export->state;
	struct elog_text *text = &export->sink.text, *fields;

	put_times(lines, text, entry);
	elog_text_string(text, lines->csv ? ",,,,": ",\"pid\":null,\"tid\":null,\"comm\":null,"
			 "\"provider\":");
	put_string(lines, text, EXPORT_PROVIDER);
	elog_text_string(text, lines->csv ? ",,lost," : ",\"session\":null,\"event\":\"lost\","
			 "\"level\":null");
	put_span(lines, text, NULL);
	put_origin(lines, text, entry);
	fields = begin_fields(lines, text);
	elog_text_printf(fields, "{\"count\":%" PRIu64 ",", count);
	json_causes(entry->item.lost, entry->item.lost_count, fields);
	elog_text_character(fields, '}');
	return end_line(export);
}

const struct export_format export_jsonl = {
	.ops = { .event = line_of_event, .lost = line_of_loss },
	.open = open_lines,
	.close = close_lines,
};

const struct export_format export_csv = {
	.ops = { .event = line_of_event, .lost = line_of_loss },
	.open = open_lines,
	.close = close_lines,
};
