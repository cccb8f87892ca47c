// SPDX-License-Identifier: GPL-2.0-only
/*
 * Printing events and losses as text, JSON or CSV: see printer.h. Each column has a function.
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
#include "util/json_fields.h"

#define COMM_WIDTH	15
#define WIDTH_MAX	24
#define LOSS_PROVIDER	"eventlog"	/* of losses that have a line of their own */

/* The first one only when a stream is read. */
static const enum column default_columns[] = {
	COLUMN_HOST, COLUMN_TIME, COLUMN_CPU, COLUMN_PID, COLUMN_TID, COLUMN_COMM,
	COLUMN_PROVIDER, COLUMN_SESSION, COLUMN_EVENT, COLUMN_LEVEL,
	COLUMN_FIELDS, COLUMN_INSTANCE,
};

/* Of elog export. */
static const enum column complete_columns[] = {
	COLUMN_TIME, COLUMN_MONO, COLUMN_CPU, COLUMN_PID, COLUMN_TID, COLUMN_COMM,
	COLUMN_PROVIDER, COLUMN_SESSION, COLUMN_EVENT, COLUMN_LEVEL, COLUMN_SPAN,
	COLUMN_DURATION, COLUMN_INSTANCE, COLUMN_HOST, COLUMN_MACHINE_ID, COLUMN_BOOT_ID,
	COLUMN_FIELDS,
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
	enum output_format format;	/* of @settings */
	struct elog_text *text;
	bool colour;
	struct chosen *chosen;
	size_t chosen_count;
	char *names;			/* --fields, split into strings */
	bool by_columns;		/* print only @chosen */
	uint64_t previous;		/* time of the previous event */
	int64_t previous_wall;		/* the same of CLOCK_REALTIME */
	char previous_boot[64];		/* its boot; set for TIME_DELTA */
	bool any;			/* there was an event */
	struct date date;		/* of the last event */
	struct head head;		/* of the last event */
	const struct printed_span *span;	/* of this event; or NULL */
	struct elog_text cell;		/* a part of a line in CSV or text */
	uint64_t second;		/* the value of @seconds, which ends with a point */
	char seconds[24];
	size_t seconds_size;
	size_t host_width;		/* the widest so far, as the others */
	size_t provider_width;
	size_t session_width;
	size_t event_width;
};

/* The columns without --fields. Return: their number. */
static size_t find_default(const struct print_settings *settings, const enum column **columns)
{
	if (settings->complete) {
		*columns = complete_columns;
		return ARRAY_SIZE(complete_columns);
	}
	*columns = default_columns + !settings->hosts;
	return ARRAY_SIZE(default_columns) - !settings->hosts -
	       (settings->format == FORMAT_CSV && !settings->instances);
}

static int choose_columns(struct printer *printer)
{
	const char *fields = printer->settings->fields;
	const enum column *columns;
	size_t count = 1, i;
	char *rest, *name;

	if (!fields)
		count = find_default(printer->settings, &columns);
	for (i = 0; fields && fields[i]; i++)
		count += fields[i] == ',';
	printer->chosen = calloc(count, sizeof(*printer->chosen));
	if (!printer->chosen)
		return -ENOMEM;
	printer->chosen_count = count;
	for (i = 0; !fields && i < count; i++)
		printer->chosen[i].column = columns[i];
	if (!fields)
		return 0;
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
	bool json = printer->format == FORMAT_JSON;
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
		 struct elog_text *text, bool colour)
{
	struct printer *printer = calloc(1, sizeof(*printer));
	size_t i;
	int ret = -ENOMEM;

	if (printer) {
		printer->settings = settings;
		printer->format = settings->format;
		printer->date.utc = settings->time == TIME_UNIVERSAL;
		printer->text = text;
		printer->colour = colour;
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
	elog_text_free(&printer->cell);
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

static const char *boot_of(const struct entry *entry)
{
	const char *boot = entry->reader ? elog_reader_info(entry->reader, "boot_id") : NULL;

	return boot ? boot : "";
}

/* The time since the previous event. Two boots have only CLOCK_REALTIME in common. */
static uint64_t time_since(const struct printer *printer, const struct entry *entry)
{
	const uint64_t time = entry->item.time;
	const int64_t wall = wall_time(time, entry->wall_offset);

	if (!printer->any)
		return 0;
	if (strncmp(boot_of(entry), printer->previous_boot, sizeof(printer->previous_boot) - 1))
		return wall > printer->previous_wall ?
		       (uint64_t)wall - (uint64_t)printer->previous_wall : 0;
	return time > printer->previous ? time - printer->previous : 0;
}

static void keep_time(struct printer *printer, const struct entry *entry)
{
	printer->any = true;
	printer->previous = entry->item.time;
	if (printer->settings->time != TIME_DELTA)
		return;
	printer->previous_wall = wall_time(entry->item.time, entry->wall_offset);
	snprintf(printer->previous_boot, sizeof(printer->previous_boot), "%s", boot_of(entry));
}

static void put_time(struct printer *printer, const struct entry *entry,
		     unsigned int width, bool zone)
{
	uint64_t time = entry->item.time;

	switch (printer->settings->time) {
	case TIME_WALL:
	case TIME_UNIVERSAL:
		put_date(printer->text, &printer->date, wall_time(time, entry->wall_offset), zone);
		break;
	case TIME_DELTA:
		put_seconds(printer->text, time_since(printer, entry), width ? width - 2 : 0);
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
	if (printer->colour)
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
 * Chosen columns, JSON and CSV
 */

static bool is_json(const struct printer *printer)
{
	return printer->format == FORMAT_JSON;
}

static void put_plain(struct printer *printer, const char *string, size_t size)
{
	if (is_json(printer))
		elog_text_json_string(printer->text, string, size);
	else if (printer->format == FORMAT_CSV)
		put_cell(printer->text, string, size);
	else
		elog_text_put(printer->text, string, size);
}

/* Names of threads may contain any characters: quote them in text. */
static void put_string(struct printer *printer, const char *string)
{
	if (printer->format == FORMAT_TEXT)
		elog_text_quoted(printer->text, string, strlen(string));
	else
		put_plain(printer, string, strlen(string));
}

/* The name of a provider or an event. */
static void put_name(struct printer *printer, const char *name)
{
	if (printer->format == FORMAT_TEXT)
		put_quotable(printer->text, name);
	else
		put_plain(printer, name, strlen(name));
}

static void put_null(struct printer *printer)
{
	if (is_json(printer))
		elog_text_put(printer->text, "null", 4);
	else if (printer->format == FORMAT_TEXT)
		elog_text_character(printer->text, '-');
}

/* The quote of a value that is a string only in JSON. */
static void put_quote(struct printer *printer)
{
	if (is_json(printer))
		elog_text_character(printer->text, '"');
}

static void put_optional(struct printer *printer, const char *string)
{
	if (string)
		put_plain(printer, string, strlen(string));
	else
		put_null(printer);
}

/* Begin a value that is no string in JSON, and a cell otherwise. */
static struct elog_text *begin_cell(struct printer *printer)
{
	printer->cell.size = 0;
	return is_json(printer) ? printer->text : &printer->cell;
}

static void end_cell(struct printer *printer)
{
	if (is_json(printer))
		return;
	if (printer->cell.error)
		printer->text->error = printer->cell.error;
	else
		put_plain(printer, printer->cell.data ? : "", printer->cell.size);
}

static void put_field(struct printer *printer, const struct entry *entry,
		      const struct elog_schema_field *field)
{
	struct elog_value value;

	elog_decode(field, entry->item.payload, entry->item.payload_size, &value);
	if (is_json(printer)) {
		elog_format_json_value(printer->text, field, &value);
	} else if (printer->format == FORMAT_TEXT) {
		elog_format_value(printer->text, field, &value);
	} else if (!value.error && (field->type == ELOG_TYPE_CHARS ||
				    field->type == ELOG_TYPE_STRING)) {
		put_cell(printer->text, value.data, value.size);
	} else if (!value.error) {
		elog_format_value(begin_cell(printer), field, &value);
		end_cell(printer);
	}
}

static void column_time(struct printer *printer, const struct entry *entry)
{
	const bool number = !time_is_wall(printer->settings->time);

	if (!number)
		put_quote(printer);
	put_time(printer, entry, 0, true);
	if (!number)
		put_quote(printer);
}

static void column_mono(struct printer *printer, const struct entry *entry)
{
	elog_text_unsigned(printer->text, entry->item.time, 1, ' ');
}

static void column_cpu(struct printer *printer, const struct entry *entry)
{
	if (entry->item.cpu == EVENTLOG_CPU_UNKNOWN)
		put_null(printer);
	else
		elog_text_unsigned(printer->text, entry->item.cpu, 1, ' ');
}

static void column_pid(struct printer *printer, const struct entry *entry)
{
	elog_text_unsigned(printer->text, entry->item.pid, 1, ' ');
}

static void column_tid(struct printer *printer, const struct entry *entry)
{
	elog_text_unsigned(printer->text, entry->item.tid, 1, ' ');
}

static void column_comm(struct printer *printer, const struct entry *entry)
{
	/* A thread of another pid namespace is 0, too, and has the name "?". */
	put_string(printer, entry->item.tid || !printer->settings->complete ? comm_of(entry) : "");
}

static void column_provider(struct printer *printer, const struct entry *entry)
{
	const struct elog_schema_event *event = entry->cached->event;

	put_name(printer, event ? event->provider->name : "?");
}

static void column_session(struct printer *printer, const struct entry *entry)
{
	if (!entry->item.session) {
		put_null(printer);
		return;
	}
	put_quote(printer);
	put_session(printer->text, entry->item.session);
	put_quote(printer);
}

static void column_event(struct printer *printer, const struct entry *entry)
{
	char number[16];

	if (entry->cached->event) {
		put_name(printer, entry->cached->event->name);
		return;
	}
	snprintf(number, sizeof(number), "#%u", entry->item.descriptor);
	put_plain(printer, number, strlen(number));
}

static void column_level(struct printer *printer, const struct entry *entry)
{
	const struct elog_schema_event *event = entry->cached->event;

	put_optional(printer, event ? elog_level_name(event->level) : NULL);
}

static void column_keywords(struct printer *printer, const struct entry *entry)
{
	printer->cell.size = 0;
	if (entry->cached->event)
		put_keywords(&printer->cell, entry->cached->event);
	if (printer->cell.error)
		printer->text->error = printer->cell.error;
	put_plain(printer, printer->cell.data ? : "", printer->cell.size);
}

static void column_instance(struct printer *printer, const struct entry *entry)
{
	/* NULL: the root */
	put_optional(printer, entry->item.instance);
}

static void column_record_flags(struct printer *printer, const struct entry *entry)
{
	const uint32_t flags = entry->item.flags;
	const char *names = !(flags & EVENTLOG_RECORD_FLAG_MAPPED) ? "" :
			    flags & EVENTLOG_RECORD_FLAG_ADJUSTED ? "mapped,adjusted" : "mapped";

	put_plain(printer, names, strlen(names));
}

static void column_host(struct printer *printer, const struct entry *entry)
{
	const char *host = entry->host ? entry->host : entry->host_name;

	if (host)
		put_string(printer, host);
	else
		put_null(printer);
}

static void column_machine_id(struct printer *printer, const struct entry *entry)
{
	put_optional(printer, entry->machine_id);
}

static void column_boot_id(struct printer *printer, const struct entry *entry)
{
	put_optional(printer, entry->boot_id);
}

static void column_span(struct printer *printer, const struct entry *entry)
{
	(void)entry;
	if (printer->span)
		put_plain(printer, printer->span->name, printer->span->name_size);
	else
		put_null(printer);
}

static void column_duration(struct printer *printer, const struct entry *entry)
{
	(void)entry;
	if (printer->span)
		elog_text_unsigned(printer->text, printer->span->duration, 1, ' ');
	else
		put_null(printer);
}

/* An object in JSON; otherwise a cell that has it. */
static void column_fields(struct printer *printer, const struct entry *entry)
{
	put_json_fields(begin_cell(printer), entry->cached->event, &entry->item);
	end_cell(printer);
}

static void (*const columns[COLUMNS])(struct printer *printer, const struct entry *entry) = {
	[COLUMN_TIME] = column_time, [COLUMN_CPU] = column_cpu, [COLUMN_PID] = column_pid,
	[COLUMN_TID] = column_tid, [COLUMN_COMM] = column_comm,
	[COLUMN_PROVIDER] = column_provider, [COLUMN_SESSION] = column_session,
	[COLUMN_EVENT] = column_event, [COLUMN_LEVEL] = column_level,
	[COLUMN_KEYWORDS] = column_keywords, [COLUMN_INSTANCE] = column_instance,
	[COLUMN_RECORD_FLAGS] = column_record_flags, [COLUMN_HOST] = column_host,
	[COLUMN_FIELDS] = column_fields, [COLUMN_MONO] = column_mono,
	[COLUMN_SPAN] = column_span, [COLUMN_DURATION] = column_duration,
	[COLUMN_MACHINE_ID] = column_machine_id, [COLUMN_BOOT_ID] = column_boot_id,
};

/* Put a cell of a loss that has a line of its own: an event "lost" of the module. */
static void put_loss_column(struct printer *printer, const struct entry *entry,
			    enum column column)
{
	const struct elog_item *item = &entry->item;
	struct elog_text *text;

	switch (column) {
	case COLUMN_TIME:
	case COLUMN_MONO:
	case COLUMN_CPU:
	case COLUMN_INSTANCE:
	case COLUMN_HOST:
	case COLUMN_MACHINE_ID:
	case COLUMN_BOOT_ID:
		columns[column](printer, entry);
		break;
	case COLUMN_PROVIDER:
		put_name(printer, LOSS_PROVIDER);
		break;
	case COLUMN_EVENT:
		put_name(printer, "lost");
		break;
	case COLUMN_FIELDS:
		text = begin_cell(printer);
		elog_text_printf(text, "{\"count\":%" PRIu64 ",",
				 sum_causes(item->lost, item->lost_count));
		json_causes(item->lost, item->lost_count, text);
		elog_text_character(text, '}');
		end_cell(printer);
		break;
	default:
		put_null(printer);
		break;
	}
}

/* Without --fields, JSON has the instance only where there is one. */
static bool is_left_out(const struct printer *printer, const struct chosen *chosen,
			const struct entry *entry)
{
	return chosen->column == COLUMN_INSTANCE && !entry->item.instance && !chosen->name &&
	       is_json(printer) && !printer->settings->complete;
}

/* Put a line of the chosen columns. @entry: an event, or a loss */
static void put_line(struct printer *printer, const struct entry *entry)
{
	const struct chosen *chosen = printer->chosen, *end = chosen + printer->chosen_count;
	const bool json = is_json(printer), csv = printer->format == FORMAT_CSV;
	const bool is_loss = entry->item.type == ELOG_ITEM_LOST;
	const struct elog_schema_field *field = NULL;
	struct elog_text *text = printer->text;
	bool any = false;

	if (json)
		elog_text_character(text, '{');
	for (; chosen < end; chosen++) {
		if (is_left_out(printer, chosen, entry))
			continue;
		if (csv && chosen > printer->chosen)
			elog_text_character(text, ',');
		if (chosen->column == COLUMN_FIELD) {
			field = find_field(entry->cached->event, chosen->name);
			if (!field)
				continue;
		}
		/* The first has no separator. */
		if (!csv)
			elog_text_put(text, chosen->label.data + !any, chosen->label.size - !any);
		any = true;
		if (chosen->column == COLUMN_FIELD)
			put_field(printer, entry, field);
		else if (is_loss)
			put_loss_column(printer, entry, chosen->column);
		else
			columns[chosen->column](printer, entry);
	}
	elog_text_put(text, json ? "}\n" : "\n", json ? 2 : 1);
}

void printer_event(struct printer *printer, const struct entry *entry,
		   const struct printed_span *span)
{
	printer->span = span;
	if (printer->by_columns || is_json(printer))
		put_line(printer, entry);
	else
		text_event(printer, entry);
	keep_time(printer, entry);
}

void printer_time(struct printer *printer, const struct entry *entry)
{
	put_time(printer, entry, 0, false);
	keep_time(printer, entry);
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
	if (causes.error)
		text->error = causes.error;
	elog_text_free(&causes);
}

static void json_lost(struct printer *printer, const struct entry *entry)
{
	const struct elog_item *item = &entry->item;
	struct elog_text *text = printer->text;

	elog_text_put(text, "{", 1);
	if (entry->host) {
		elog_text_string(text, "\"host\":");
		elog_text_json_string(text, entry->host, strlen(entry->host));
		elog_text_put(text, ",", 1);
	}
	elog_text_string(text, "\"time\":");
	column_time(printer, entry);
	elog_text_string(text, ",\"cpu\":");
	column_cpu(printer, entry);
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

	if (printer->settings->complete) {
		printer->span = NULL;
		put_line(printer, entry);
		return;
	}
	switch (printer->format) {
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
}

void printer_remark(struct printer *printer, const char *remark)
{
	if (printer->format != FORMAT_TEXT)
		return;
	elog_text_printf(printer->text, "# %s\n", remark);
}
