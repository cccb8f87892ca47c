// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events as lines of text:
 *	CPU TID COMM TIMESTAMP PROVIDER SESSION EVENT field=value ...
 *
 * Columns are separated by blanks and have none inside; they are padded to the
 * widest seen so far, within limits. A line that begins with "#" is not an
 * event.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tool.h"

#define COMM_WIDTH	15
#define WIDTH_MAX	24

static void pad(struct elog_text *text, size_t from, size_t width)
{
	size_t used = text->size - from;

	for (; used < width; used++)
		elog_text_put(text, " ", 1);
}

/* Append a column as wide as any before it, and a blank. */
static void put_column(struct elog_text *text, const char *column, size_t *width)
{
	size_t length = strlen(column), from = text->size;

	if (length > *width)
		*width = length < WIDTH_MAX ? length : WIDTH_MAX;
	elog_text_string(text, column);
	pad(text, from, *width);
	elog_text_put(text, " ", 1);
}

/* A thread can call itself anything; in a column nothing but that remains. */
static void put_comm(struct elog_text *text, const char *comm)
{
	size_t from = text->size;

	if (!*comm)
		comm = "_";
	for (; *comm; comm++)
		elog_text_put(text, isgraph((unsigned char)*comm) ? comm : "_", 1);
	pad(text, from, COMM_WIDTH);
	elog_text_put(text, " ", 1);
}

static void put_nanoseconds(struct elog_text *text, uint64_t time,
			    unsigned int width)
{
	elog_text_unsigned(text, time / 1000000000, width, ' ');
	elog_text_put(text, ".", 1);
	elog_text_unsigned(text, time % 1000000000, 9, '0');
	elog_text_put(text, " ", 1);
}

static void put_wall(struct elog_text *text, uint64_t time)
{
	time_t seconds = (time_t)(time / 1000000000);
	char buffer[32] = "";
	struct tm local;

	if (localtime_r(&seconds, &local))
		strftime(buffer, sizeof(buffer), "%Y-%m-%dT%H:%M:%S", &local);
	elog_text_string(text, buffer);
	elog_text_put(text, ".", 1);
	elog_text_unsigned(text, time % 1000000000, 9, '0');
	elog_text_put(text, " ", 1);
}

static void put_time(struct line_format *format, struct elog_text *text,
		     uint64_t time)
{
	uint64_t since = format->any && time > format->previous ?
			 time - format->previous : 0;

	format->any = true;
	format->previous = time;
	switch (format->time) {
	case TIME_WALL:
		put_wall(text, time + (uint64_t)format->wall_offset);
		break;
	case TIME_DELTA:
		put_nanoseconds(text, since, 4);
		break;
	default:
		put_nanoseconds(text, time, 6);
		break;
	}
}

static int64_t nanoseconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void line_start_batch(struct line_format *format)
{
	if (format->time == TIME_WALL)
		format->wall_offset = nanoseconds(CLOCK_REALTIME) -
				      nanoseconds(CLOCK_MONOTONIC);
}

void line_event(struct line_format *format, const struct elog_item *item,
		const struct elog_schema_event *event, struct elog_text *text)
{
	char session[24] = "-";

	elog_text_unsigned(text, item->cpu, 2, ' ');
	elog_text_put(text, " ", 1);
	elog_text_hex(text, item->tid, 4);
	elog_text_put(text, " ", 1);
	put_comm(text, elog_processes_name(format->processes, item->pid,
					   item->tid));
	put_time(format, text, item->time);
	put_column(text, event ? event->provider->name : "?",
		   &format->provider_width);
	if (item->session)
		snprintf(session, sizeof(session), "0x%" PRIx64, item->session);
	put_column(text, session, &format->session_width);
	if (!event) {
		elog_text_printf(text, "#%u payload=", item->descriptor);
		elog_text_quoted(text, item->payload, item->payload_size);
	} else if (event->field_count) {
		put_column(text, event->name, &format->event_width);
		elog_format_fields(text, event, item->payload,
				   item->payload_size);
	} else {
		elog_text_string(text, event->name);
	}
	elog_text_put(text, "\n", 1);
}

uint64_t put_causes(const uint64_t *lost, struct elog_text *text)
{
	const char *between = ": ", *name;
	unsigned int cause;
	uint64_t sum = 0;

	for (cause = 0; cause < EVENTLOG_LOST_CAUSES; cause++) {
		if (!lost[cause])
			continue;
		sum += lost[cause];
		name = elog_lost_name(cause);
		elog_text_string(text, between);
		between = ", ";
		if (name)
			elog_text_string(text, name);
		else
			elog_text_printf(text, "cause %u", cause);
		elog_text_put(text, " ", 1);
		elog_text_unsigned(text, lost[cause], 1, ' ');
	}
	return sum;
}

void line_lost(const struct elog_item *item, struct elog_text *text)
{
	struct elog_text causes = { 0 };
	uint64_t sum = put_causes(item->lost, &causes);

	elog_text_string(text, "# lost ");
	elog_text_unsigned(text, sum, 1, ' ');
	elog_text_printf(text, " event%s on ", sum == 1 ? "" : "s");
	if (item->cpu == EVENTLOG_CPU_ALL)
		elog_text_string(text, "CPUs without ring");
	else
		elog_text_printf(text, "CPU %u", item->cpu);
	elog_text_printf(text, "%s\n", causes.data ? causes.data : "");
	elog_text_free(&causes);
}
