// SPDX-License-Identifier: GPL-2.0-only
/*
 * Printing events and losses as text, JSON or CSV: see printer.h.
 *
 * Columns of text contain no blanks. They are padded to the width of the widest one so
 * far, within limits. A line that starts with "#" is not an event.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/columns.h"
#include "input/keywords.h"
#include "output/printer.h"

#define COMM_WIDTH	15
#define WIDTH_MAX	24

/* The first one only when a stream is read. */
static const enum column default_columns[] = {
	COLUMN_HOST, COLUMN_TIME, COLUMN_CPU, COLUMN_PID, COLUMN_TID, COLUMN_COMM,
	COLUMN_PROVIDER, COLUMN_SESSION, COLUMN_EVENT, COLUMN_LEVEL,
	COLUMN_FIELDS, COLUMN_INSTANCE,
};

/* A name in --fields: @column, or the event's field of this name. */
struct chosen {
	enum column column;
	char *name;
	struct elog_text label;		/* a separator and the text before the value */
};

/* The first columns of a line. Mostly they are the same as in the previous line. */
struct head {
	unsigned int cpu;
	uint32_t pid;
	uint32_t tid;
	char comm[64];
	char text[96];
	size_t size;			/* 0: no previous line */
};

struct printer {
	const struct print_settings *settings;
	struct output *output;
	struct elog_text *text;		/* of @output */
	struct chosen *chosen;
	size_t chosen_count;
	char *names;			/* --fields, split into strings */
	bool by_columns;		/* print only @chosen */
	uint64_t previous;		/* time of the previous event */
	bool any;			/* there was an event */
	struct date date;		/* of the last event */
	struct head head;		/* of the last event */
	uint64_t second;		/* the value of @seconds, which ends with a point */
	char seconds[24];
	size_t seconds_size;
	size_t host_width;		/* the widest so far, as the others */
	size_t provider_width;
	size_t session_width;
	size_t event_width;
};

static int choose_columns(struct printer *printer)
{
	const char *fields = printer->settings->fields;
	const bool stream = printer->settings->hosts;
	char *rest, *name;
	size_t count = 0, i;

	if (fields)
		for (count = 1, i = 0; fields[i]; i++)
			count += fields[i] == ',';
	else
		count = ARRAY_SIZE(default_columns) - !stream -
			(printer->settings->format == FORMAT_CSV &&
			 !printer->settings->instances);
	printer->chosen = calloc(count, sizeof(*printer->chosen));
	if (!printer->chosen)
		return -ENOMEM;
	printer->chosen_count = count;
	if (!fields) {
		for (i = 0; i < count; i++)
			printer->chosen[i].column = default_columns[i + !stream];
		return 0;
	}
	printer->names = strdup(fields);
	if (!printer->names)
		return -ENOMEM;
	rest = printer->names;
	for (count = 0; (name = strsep(&rest, ",")); count++) {
		if (!*name)
			return -EINVAL;
		printer->chosen[count].column = column_find(name);
		printer->chosen[count].name = name;
	}
	return 0;
}

static const char *chosen_name(const struct chosen *chosen)
{
	return chosen->name ? chosen->name : column_names[chosen->column];
}

static int make_labels(struct printer *printer)
{
	bool json = printer->settings->format == FORMAT_JSON;
	struct chosen *chosen;
	const char *name;
	size_t i;

	for (i = 0; i < printer->chosen_count; i++) {
		chosen = &printer->chosen[i];
		name = chosen_name(chosen);
		elog_text_string(&chosen->label, json ? "," : " ");
		if (json)
			elog_text_json_string(&chosen->label, name, strlen(name));
		else
			elog_text_string(&chosen->label, name);
		elog_text_string(&chosen->label, json ? ":" : "=");
		if (chosen->label.error)
			return chosen->label.error;
	}
	return 0;
}

int printer_open(struct printer **result, const struct print_settings *settings,
		 struct output *output)
{
	struct printer *printer = calloc(1, sizeof(*printer));
	size_t i;
	int ret = -ENOMEM;

	if (printer) {
		printer->settings = settings;
		printer->output = output;
		printer->text = &output->text;
		printer->by_columns = settings->fields ||
				      settings->format == FORMAT_CSV;
		ret = choose_columns(printer);
		if (!ret)
			ret = make_labels(printer);
	}
	if (ret) {
		elog_error(ret == -EINVAL ? "--fields: a name is missing" :
			   "out of memory");
		printer_close(printer);
		return ret;
	}
	for (i = 0; settings->format == FORMAT_CSV && i < printer->chosen_count; i++) {
		const char *name = chosen_name(&printer->chosen[i]);

		if (i)
			elog_text_put(printer->text, ",", 1);
		put_cell(printer->text, name, strlen(name));
	}
	if (settings->format == FORMAT_CSV)
		elog_text_put(printer->text, "\n", 1);
	*result = printer;
	return 0;
}

void printer_close(struct printer *printer)
{
	size_t i;

	if (!printer)
		return;
	for (i = 0; i < printer->chosen_count; i++)
		elog_text_free(&printer->chosen[i].label);
	free(printer->chosen);
	free(printer->names);
	free(printer);
}

/* ------------------------------------------------------------------------
 * Parts of lines
 */

/* Append a column, padded to the widest one so far, and a blank. */
static void put_column(struct elog_text *text, const char *column, size_t length,
		       size_t *width)
{
	if (length > *width)
		*width = length < WIDTH_MAX ? length : WIDTH_MAX;
	elog_text_put(text, column, length);
	put_blanks(text, 1 + (length < *width ? *width - length : 0));
}

/* @instance: before the name, with a colon; NULL: none */
static void put_name_column(struct elog_text *text, const char *instance, const char *name,
			    size_t *width)
{
	const size_t from = text->size;
	size_t length;

	if (instance) {
		elog_text_string(text, instance);
		elog_text_put(text, ":", 1);
	}
	put_quotable(text, name);
	length = text->error ? 0 : text->size - from;
	if (length > *width)
		*width = length < WIDTH_MAX ? length : WIDTH_MAX;
	put_blanks(text, 1 + (length < *width ? *width - length : 0));
}

/*
 * Put CPU, PID if ids are decimal, TID and COMM. Threads may choose any name: replace
 * characters that would break the columns.
 */
static void put_head(struct printer *printer, const struct elog_item *item,
		     const char *comm)
{
	struct head *head = &printer->head;
	size_t i;
	int size;

	if (!*comm)
		comm = "_";
	if (head->size && head->cpu == item->cpu && head->pid == item->pid &&
	    head->tid == item->tid && !strcmp(head->comm, comm)) {
		elog_text_put(printer->text, head->text, head->size);
		return;
	}
	head->cpu = item->cpu;
	head->pid = item->pid;
	head->tid = item->tid;
	snprintf(head->comm, sizeof(head->comm), "%s", comm);
	if (item->cpu == EVENTLOG_CPU_UNKNOWN)
		size = snprintf(head->text, sizeof(head->text), " - ");
	else
		size = snprintf(head->text, sizeof(head->text), "%2u ", item->cpu);
	if (printer->settings->ids == IDS_DECIMAL)
		size += snprintf(head->text + size, sizeof(head->text) - (size_t)size,
				 "%7u %7u ", item->pid, item->tid);
	else
		size += snprintf(head->text + size, sizeof(head->text) - (size_t)size,
				 "%04x ", item->tid);
	for (i = 0; i < sizeof(head->comm) && comm[i]; i++)
		head->text[size++] = isgraph((unsigned char)comm[i]) ? comm[i] : '_';
	for (; i <= COMM_WIDTH || head->text[size - 1] != ' '; i++)
		head->text[size++] = ' ';
	head->size = (size_t)size;
	elog_text_put(printer->text, head->text, head->size);
}

static void put_wall(struct printer *printer, uint64_t time, bool zone)
{
	date_set(&printer->date, (int64_t)(time / 1000000000));
	elog_text_string(printer->text, printer->date.text);
	elog_text_put(printer->text, ".", 1);
	elog_text_unsigned(printer->text, time % 1000000000, 9, '0');
	if (zone)
		elog_text_string(printer->text, printer->date.zone);
}

/* The second is mostly the same as in the previous event. */
static void put_monotonic(struct printer *printer, uint64_t time,
			  unsigned int width)
{
	uint64_t second = time / 1000000000;
	int size;

	if (second != printer->second || !printer->seconds_size) {
		printer->second = second;
		size = snprintf(printer->seconds, sizeof(printer->seconds),
				"%*" PRIu64 ".", (int)width, second);
		printer->seconds_size = (size_t)size;
	}
	elog_text_put(printer->text, printer->seconds, printer->seconds_size);
	elog_text_unsigned(printer->text, time % 1000000000, 9, '0');
}

static void put_time(struct printer *printer, const struct entry *entry,
		     unsigned int width, bool zone)
{
	uint64_t time = entry->item.time;

	switch (printer->settings->time) {
	case TIME_WALL:
		put_wall(printer, time + (uint64_t)entry->wall_offset, zone);
		break;
	case TIME_DELTA:
		put_seconds(printer->text, printer->any && time > printer->previous ?
			    time - printer->previous : 0, width ? width - 2 : 0);
		break;
	default:
		put_monotonic(printer, time, width);
		break;
	}
}

static void put_session(struct elog_text *text, uint64_t session)
{
	elog_text_string(text, "0x");
	elog_text_hex(text, session, 1);
}

static const char *comm_of(const struct entry *entry)
{
	return elog_processes_name(entry->processes, entry->item.pid,
				   entry->item.tid);
}

/* ------------------------------------------------------------------------
 * Text
 */

static const char *level_colour(const struct elog_schema_event *event)
{
	switch (event ? event->level : 0) {
	case EVENTLOG_LEVEL_CRITICAL:
	case EVENTLOG_LEVEL_ERROR:
		return "\033[1;31m";
	case EVENTLOG_LEVEL_WARNING:
		return "\033[33m";
	case EVENTLOG_LEVEL_NOTICE:
		return "\033[1m";
	case EVENTLOG_LEVEL_DEBUG:
	case EVENTLOG_LEVEL_VERBOSE:
		return "\033[2m";
	default:
		return "\033[36m";
	}
}

static void put_colour(struct printer *printer, const char *colour)
{
	if (printer->output->colour)
		elog_text_string(printer->text, colour);
}

static void text_event(struct printer *printer, const struct entry *entry)
{
	const struct elog_schema_event *event = entry->cached->event;
	const struct elog_item *item = &entry->item;
	struct elog_text *text = printer->text;
	char session[24] = "-";
	size_t length = 1;

	if (entry->host)
		put_name_column(text, NULL, entry->host, &printer->host_width);
	put_head(printer, item, comm_of(entry));
	put_time(printer, entry, 6, false);
	elog_text_put(text, " ", 1);
	put_colour(printer, level_colour(event));
	put_name_column(text, item->instance, event ? event->provider->name : "?",
			&printer->provider_width);
	if (item->session) {
		const size_t from = text->size;

		put_session(text, item->session);
		length = text->error ? 0 : text->size - from;
		if (length > printer->session_width)
			printer->session_width = length;
		put_blanks(text, 1 + printer->session_width - length);
	} else {
		put_column(text, session, length, &printer->session_width);
	}
	if (!event) {
		elog_text_printf(text, "#%u", item->descriptor);
		put_colour(printer, "\033[0m");
		elog_text_string(text, " payload=");
		elog_text_quoted(text, item->payload, item->payload_size);
	} else if (event->field_count) {
		put_name_column(text, NULL, event->name, &printer->event_width);
		put_colour(printer, "\033[0m");
		elog_format_fields(text, event, item->payload,
				   item->payload_size);
	} else {
		put_quotable(text, event->name);
		put_colour(printer, "\033[0m");
	}
	elog_text_put(text, "\n", 1);
}

/* ------------------------------------------------------------------------
 * Chosen columns, and JSON
 */

static void put_plain(struct printer *printer, const char *string, size_t size)
{
	if (printer->settings->format == FORMAT_JSON)
		elog_text_json_string(printer->text, string, size);
	else if (printer->settings->format == FORMAT_CSV)
		put_cell(printer->text, string, size);
	else
		elog_text_put(printer->text, string, size);
}

/* Names of threads may contain any characters: quote them in text. */
static void put_string(struct printer *printer, const char *string)
{
	if (printer->settings->format == FORMAT_TEXT)
		elog_text_quoted(printer->text, string, strlen(string));
	else
		put_plain(printer, string, strlen(string));
}

static void put_all_fields(const struct entry *entry, struct elog_text *text)
{
	const struct elog_schema_event *event = entry->cached->event;

	elog_text_put(text, "{", 1);
	if (event) {
		elog_format_json_fields(text, event, entry->item.payload,
					entry->item.payload_size);
	} else {
		elog_text_string(text, "\"payload\":");
		elog_text_json_string(text, entry->item.payload,
				      entry->item.payload_size);
	}
	elog_text_put(text, "}", 1);
}

static void put_field(struct printer *printer, const struct entry *entry,
		      const struct elog_schema_field *field)
{
	struct elog_text *text = printer->text, cell = { 0 };
	struct elog_value value;

	elog_decode(field, entry->item.payload, entry->item.payload_size, &value);
	if (printer->settings->format == FORMAT_JSON) {
		elog_format_json_value(text, field, &value);
	} else if (printer->settings->format == FORMAT_TEXT) {
		elog_format_value(text, field, &value);
	} else if (!value.error && (field->type == ELOG_TYPE_CHARS ||
				    field->type == ELOG_TYPE_STRING)) {
		put_cell(text, value.data, value.size);
	} else if (!value.error) {
		elog_format_value(&cell, field, &value);
		if (cell.error)
			text->error = cell.error;
		else
			put_cell(text, cell.data, cell.size);
		elog_text_free(&cell);
	}
}

static void put_cpu(const struct elog_item *item, const char *unknown,
		    struct elog_text *text)
{
	if (item->cpu == EVENTLOG_CPU_UNKNOWN)
		elog_text_string(text, unknown);
	else
		elog_text_unsigned(text, item->cpu, 1, ' ');
}

static const char *flag_names(const struct elog_item *item)
{
	if (!(item->flags & EVENTLOG_RECORD_FLAG_MAPPED))
		return "";
	return item->flags & EVENTLOG_RECORD_FLAG_ADJUSTED ? "mapped,adjusted" : "mapped";
}

static void put_event_name(struct printer *printer, const char *name)
{
	switch (printer->settings->format) {
	case FORMAT_JSON:
		elog_text_json_string(printer->text, name, strlen(name));
		break;
	case FORMAT_CSV:
		put_cell(printer->text, name, strlen(name));
		break;
	default:
		put_quotable(printer->text, name);
		break;
	}
}

/* Put a property that is a word or a number. */
static void put_metadata(struct printer *printer, const struct entry *entry,
			 enum column column)
{
	const struct elog_schema_event *event = entry->cached->event;
	bool json = printer->settings->format == FORMAT_JSON;
	bool csv = printer->settings->format == FORMAT_CSV;
	const struct elog_item *item = &entry->item;
	struct elog_text *text = printer->text, cell = { 0 };
	const char *host;
	bool quoted = json && (column != COLUMN_TIME ||
			       printer->settings->time == TIME_WALL);

	switch (column) {
	case COLUMN_CPU:
		put_cpu(item, json ? "null" : csv ? "" : "-", text);
		return;
	case COLUMN_PID:
		elog_text_unsigned(text, item->pid, 1, ' ');
		return;
	case COLUMN_TID:
		elog_text_unsigned(text, item->tid, 1, ' ');
		return;
	case COLUMN_COMM:
		put_string(printer, comm_of(entry));
		return;
	case COLUMN_PROVIDER:
		put_event_name(printer, event ? event->provider->name : "?");
		return;
	case COLUMN_EVENT:
		if (!event)
			break;
		put_event_name(printer, event->name);
		return;
	case COLUMN_SESSION:
		if (item->session)
			break;
		elog_text_string(text, json ? "null" : csv ? "" : "-");
		return;
	case COLUMN_FIELDS:
		if (json) {
			put_all_fields(entry, text);
			return;
		}
		put_all_fields(entry, &cell);
		if (cell.error)
			text->error = cell.error;
		else
			put_plain(printer, cell.data, cell.size);
		elog_text_free(&cell);
		return;
	case COLUMN_KEYWORDS:
		if (event)
			put_keywords(&cell, event);
		if (cell.error)
			text->error = cell.error;
		else
			put_plain(printer, cell.data ? cell.data : "", cell.size);
		elog_text_free(&cell);
		return;
	case COLUMN_HOST:
		host = entry->host;
		if (!host && entry->reader)
			host = elog_reader_info(entry->reader, "host");
		put_string(printer, host ? host : "");
		return;
	case COLUMN_INSTANCE:
		if (json && !item->instance)
			elog_text_string(text, "null");
		else if (item->instance)
			put_plain(printer, item->instance, strlen(item->instance));
		else if (!csv)
			elog_text_string(text, "-");
		return;
	case COLUMN_RECORD_FLAGS:
		put_plain(printer, flag_names(item), strlen(flag_names(item)));
		return;
	default:
		break;
	}
	if (quoted)
		elog_text_put(text, "\"", 1);
	switch (column) {
	case COLUMN_TIME:
		put_time(printer, entry, 0, true);
		break;
	case COLUMN_SESSION:
		put_session(text, item->session);
		break;
	case COLUMN_EVENT:
		elog_text_printf(text, "#%u", item->descriptor);
		break;
	default:
		elog_text_string(text, event ? elog_level_name(event->level) : "?");
		break;
	}
	if (quoted)
		elog_text_put(text, "\"", 1);
}

static void columns_event(struct printer *printer, const struct entry *entry)
{
	bool json = printer->settings->format == FORMAT_JSON;
	bool csv = printer->settings->format == FORMAT_CSV;
	struct elog_text *text = printer->text;
	const struct elog_schema_field *field;
	const struct chosen *chosen;
	bool any = false;
	size_t i;

	if (json)
		elog_text_put(text, "{", 1);
	for (i = 0; i < printer->chosen_count; i++) {
		chosen = &printer->chosen[i];
		field = NULL;
		/* Without --fields, JSON has the instance only where there is one. */
		if (json && chosen->column == COLUMN_INSTANCE && !chosen->name &&
		    !entry->item.instance)
			continue;
		if (csv && i)
			elog_text_put(text, ",", 1);
		if (chosen->column == COLUMN_FIELD) {
			field = find_field(entry->cached->event, chosen->name);
			if (!field)
				continue;
		}
		if (!csv) {
			/* The first has no separator. */
			elog_text_put(text, chosen->label.data + !any,
				      chosen->label.size - !any);
			any = true;
		}
		if (field)
			put_field(printer, entry, field);
		else
			put_metadata(printer, entry, chosen->column);
	}
	elog_text_put(text, json ? "}\n" : "\n", json ? 2 : 1);
}

void printer_event(struct printer *printer, const struct entry *entry)
{
	if (printer->by_columns || printer->settings->format == FORMAT_JSON)
		columns_event(printer, entry);
	else
		text_event(printer, entry);
	printer->any = true;
	printer->previous = entry->item.time;
	output_check(printer->output);
}

/* ------------------------------------------------------------------------
 * Losses and remarks
 */

/* Were these events lost behind the rings, by a capture that could not write them, say? */
static bool has_no_cpu(const struct elog_item *item)
{
	uint64_t behind = 0;
	unsigned int cause;

	for (cause = ELOG_LOST_NOT_WRITTEN; cause <= ELOG_LOST_REMOVED; cause++)
		behind += cause < item->lost_count ? item->lost[cause] : 0;
	return behind && behind == sum_causes(item->lost, item->lost_count);
}

static void text_lost(const struct entry *entry, struct elog_text *text)
{
	const struct elog_item *item = &entry->item;
	struct elog_text causes = { 0 };
	uint64_t sum = put_causes(item->lost, item->lost_count, &causes);

	elog_text_string(text, "# lost ");
	elog_text_unsigned(text, sum, 1, ' ');
	elog_text_printf(text, " event%s", sum == 1 ? "" : "s");
	if (has_no_cpu(item))
		;
	else if (item->stream == ELOG_STREAM_NONE)
		elog_text_string(text, " on CPUs without ring");
	else if (item->cpu == EVENTLOG_CPU_UNKNOWN)
		elog_text_string(text, " on an unknown CPU");
	else
		elog_text_printf(text, " on CPU %u", item->cpu);
	if (item->instance)
		elog_text_printf(text, " of instance %s", item->instance);
	if (entry->host) {
		elog_text_string(text, " of ");
		put_quotable(text, entry->host);
	}
	elog_text_string(text, causes.data ? causes.data : "");
	elog_text_free(&causes);
}

static void json_lost(struct printer *printer, const struct entry *entry)
{
	const struct elog_item *item = &entry->item;
	struct elog_text *text = printer->text;
	bool wall = printer->settings->time == TIME_WALL;

	elog_text_put(text, "{", 1);
	if (entry->host) {
		elog_text_string(text, "\"host\":");
		elog_text_json_string(text, entry->host, strlen(entry->host));
		elog_text_put(text, ",", 1);
	}
	elog_text_string(text, wall ? "\"time\":\"" : "\"time\":");
	put_time(printer, entry, 0, true);
	elog_text_string(text, wall ? "\",\"cpu\":" : ",\"cpu\":");
	put_cpu(item, "null", text);
	if (item->instance) {
		elog_text_string(text, ",\"instance\":");
		elog_text_json_string(text, item->instance, strlen(item->instance));
	}
	elog_text_string(text, ",\"lost\":");
	elog_text_unsigned(text, sum_causes(item->lost, item->lost_count), 1, ' ');
	elog_text_put(text, ",", 1);
	json_causes(item->lost, item->lost_count, text);
	elog_text_put(text, "}\n", 2);
}

void printer_lost(struct printer *printer, const struct entry *entry)
{
	struct elog_text message = { 0 };

	switch (printer->settings->format) {
	case FORMAT_JSON:
		json_lost(printer, entry);
		break;
	case FORMAT_CSV:
		/* CSV has no column for it. */
		text_lost(entry, &message);
		if (message.data)
			elog_error("%s", message.data + strlen("# "));
		elog_text_free(&message);
		break;
	default:
		put_colour(printer, "\033[1;31m");
		text_lost(entry, printer->text);
		put_colour(printer, "\033[0m");
		elog_text_put(printer->text, "\n", 1);
		break;
	}
	output_check(printer->output);
}

void printer_remark(struct printer *printer, const char *remark)
{
	if (printer->settings->format != FORMAT_TEXT)
		return;
	elog_text_printf(printer->text, "# %s\n", remark);
	output_check(printer->output);
}
