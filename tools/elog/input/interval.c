// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events of the provider sched: see interval.h.
 */
#include <string.h>

#include "input/interval.h"

#define TIME_MAX	(1ULL << 56)	/* two years */

static const char *const causes[INTERVAL_CAUSES] = {
	"runnable", "preempted", "throttled", "yield", "futex", "disk", "file", "socket", "pipe",
	"fault", "sleep", "poll", "stopped", "other",
};

const char *interval_cause_name(enum interval_cause cause)
{
	return causes[cause];
}

static uint64_t overlap(uint64_t start, uint64_t end, uint64_t from, uint64_t to)
{
	from = from > start ? from : start;
	to = to < end ? to : end;
	return to > from ? to - from : 0;
}

uint64_t interval_cut(struct interval *interval, uint64_t end, uint64_t from, uint64_t to)
{
	const uint64_t woken = end - (interval->runnable < end ? interval->runnable : end);
	const uint64_t out = woken - (interval->blocked < woken ? interval->blocked : woken);
	const uint64_t last = end < to ? end : to;

	interval->runnable = overlap(from, to, woken, end);
	interval->blocked = overlap(from, to, out, woken);
	interval->end = (int64_t)((uint64_t)interval->end - (end - last));
	return last;
}

bool interval_cut_sum(struct interval_sum *sum, uint64_t since, uint64_t now, uint64_t from,
		      uint64_t to)
{
	const uint64_t time = overlap(from, to, since, now);
	unsigned int i;

	for (i = 0; since && i < INTERVAL_CAUSES; i++)
		sum->times[i] = (uint64_t)((long double)sum->times[i] * time / (now - since));
	return time;
}

bool interval_is_event(const struct elog_schema_event *event)
{
	return event && !strcmp(event->provider->name, "sched");
}

static bool is_event(const struct entry *entry, const char *name)
{
	const struct elog_schema_event *event = entry->cached->event;

	return interval_is_event(event) && !strcmp(event->name, name);
}

static bool read_field(const struct entry *entry, const char *name, struct elog_value *value)
{
	const struct elog_schema_field *field = find_field(entry->cached->event, name);

	return field && !elog_decode(field, entry->item.payload, entry->item.payload_size, value);
}

/* 0 if there is no such field. */
static uint64_t read_number(const struct entry *entry, const char *name)
{
	struct elog_value value;

	return read_field(entry, name, &value) ? value.integer : 0;
}

static uint64_t read_time(const struct entry *entry, const char *name)
{
	const uint64_t time = read_number(entry, name);

	return time < TIME_MAX ? time : TIME_MAX;
}

static void read_name(const struct entry *entry, const char *name, char *to)
{
	struct elog_value value;
	size_t size = 0;

	if (read_field(entry, name, &value) && value.data) {
		size = value.size < INTERVAL_NAME - 1 ? value.size : INTERVAL_NAME - 1;
		memcpy(to, value.data, size);
	}
	to[size] = '\0';
}

bool interval_read(const struct entry *entry, struct interval *interval)
{
	const struct elog_item *item = &entry->item;
	struct elog_value call;
	uint64_t cause;

	if (!is_event(entry, "off"))
		return false;
	cause = read_number(entry, "cause");
	*interval = (struct interval){
		.end = wall_time(item->time, entry->wall_offset),
		.blocked = read_time(entry, "blocked"),
		.runnable = read_time(entry, "runnable"),
		.cause = cause && cause < INTERVAL_CAUSES ? (enum interval_cause)cause :
							    INTERVAL_OTHER,
		.how = (unsigned int)read_number(entry, "how"),
		.call = read_field(entry, "call", &call) ? (int)call.integer : -1,
		.tid = item->tid,
		.by_tid = (uint32_t)read_number(entry, "by_tid"),
		.of = (uint32_t)read_number(entry, "of"),
		.by_of = (uint32_t)read_number(entry, "by_of"),
		.session = item->session,
		.by_session = read_number(entry, "by_session"),
		.stack = (uint32_t)read_number(entry, "stack"),
	};
	/* It was not blocked, or there is a new reason that is a wait. */
	if (!interval_waits(interval)) {
		interval->runnable += interval->blocked;
		interval->blocked = 0;
	}
	read_name(entry, "by", interval->by);
	return true;
}

bool interval_read_sum(const struct entry *entry, struct interval_sum *sum)
{
	unsigned int i;

	if (!is_event(entry, "sum"))
		return false;
	*sum = (struct interval_sum){
		.of = (uint32_t)read_number(entry, "of"),
		.session = entry->item.session,
		.tid = entry->item.tid,
		.count = read_number(entry, "count"),
	};
	for (i = 0; i < INTERVAL_CAUSES; i++)
		sum->times[i] = read_time(entry, causes[i]);
	return true;
}

bool interval_read_stack(const struct entry *entry, struct interval_stack *stack)
{
	struct elog_value frames;

	if (!is_event(entry, "stack") || !read_field(entry, "frames", &frames) || !frames.data)
		return false;
	*stack = (struct interval_stack){
		.number = (uint32_t)read_number(entry, "number"),
		.frames = frames.data,
		.size = frames.size,
	};
	return stack->number;
}

const char *interval_provider(const struct entry *entry, const struct live *live, uint32_t of)
{
	/* Finding a definition may change which others the reader keeps, but nothing else. */
	struct elog_reader *reader = (struct elog_reader *)(uintptr_t)entry->reader;
	const struct elog_schema_event *event;
	int ret;

	if (!of)
		return "?";
	ret = live ? elog_consumer_describe(live->consumer, of, &event) :
		     elog_reader_describe(reader, of, &event);
	return ret ? "?" : event->provider->name;
}
