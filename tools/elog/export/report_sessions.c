// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events of the slowest sessions, for elog report: which sessions these are is known
 * only at the end of the files, so they are read again.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/report_data.h"
#include "output/event_text.h"
#include "util/array.h"

#define TEXT_MAX	(2U << 20)	/* bytes of all events */
#define SUMS_MAX	65536		/* threads of slow spans whose last sum is known */

/* The sessions, by number. */
struct search {
	struct report_data *data;
	struct elog_map numbers;	/* pointers to struct slow_span */
	struct elog_map sums;		/* uint64_t: time of the last sum of a session and thread */
	size_t size;			/* of all texts */
	struct elog_text text;
	struct elog_text fields;
};

bool report_lists(const struct visit_settings *settings)
{
	int i;

	for (i = 0; i < settings->name_count; i++)
		if (!strcmp(settings->names[i], "-"))
			return false;
	return true;
}

static int add_sessions(struct search *search)
{
	struct report_data *data = search->data;
	struct slow_span **first, *slow;
	struct report_span *span;
	unsigned int i;
	size_t at;

	for (at = 0; at < data->span_count; at++) {
		span = data->spans[at];
		for (i = 0; i < span->slow_count; i++) {
			slow = &span->slowest[i];
			/* Session 0 is none: its events have nothing in common. */
			if (!slow->span.session)
				continue;
			first = elog_map_get(&search->numbers,
					     elog_map_integer(slow->span.session));
			if (!first)
				return -ENOMEM;
			slow->next = *first;
			*first = slow;
		}
	}
	return 0;
}

/* ------------------------------------------------------------------------
 * Events
 */

static void put_json(struct elog_text *to, struct elog_text *from)
{
	elog_text_json_string(to, from->data ? from->data : "", from->error ? 0 : from->size);
	if (from->error)
		to->error = from->error;
}

/* [ns since START, event, CPU, thread, level, fields] */
static void put_event(struct search *search, const struct entry *entry,
		      const struct slow_span *slow)
{
	const struct elog_schema_event *schema = entry->cached->event;
	const struct elog_item *item = &entry->item;
	const char *comm = elog_processes_name(entry->processes, item->pid, item->tid);
	const char *level = schema ? elog_level_name(schema->level) : NULL;
	struct elog_text *text = &search->text, *part = &search->fields;
	const bool before = item->time < slow->span.time;

	text->size = 0;
	elog_text_printf(text, "[%s%" PRIu64 ",", before ? "-" : "", before ?
			 slow->span.time - item->time : item->time - slow->span.time);
	part->size = 0;
	if (schema)
		put_quotable(part, schema->name);
	else
		elog_text_printf(part, "#%u", item->descriptor);
	put_json(text, part);
	if (item->cpu == EVENTLOG_CPU_UNKNOWN)
		elog_text_string(text, ",null,");
	else
		elog_text_printf(text, ",%u,", item->cpu);
	part->size = 0;
	/* ":TID" is not a name. */
	if (*comm && *comm != ':') {
		elog_text_visible(part, comm, strlen(comm));
		elog_text_string(part, " ");
	}
	elog_text_printf(part, "%u", item->tid);
	put_json(text, part);
	elog_text_string(text, ",");
	elog_text_json_string(text, level ? level : "", level ? strlen(level) : 0);
	elog_text_string(text, ",");
	part->size = 0;
	put_event_fields(part, entry);
	put_json(text, part);
	elog_text_string(text, "]");
}

static int add_event(struct search *search, const struct entry *entry, struct slow_span *slow)
{
	const bool before = entry->item.time < slow->span.time;
	struct slow_event *larger;
	char *json;

	if (before && slow->count == REPORT_SESSION_BEFORE) {
		/* The last ones before START are of interest. */
		search->size -= strlen(slow->events[0].json);
		free(slow->events[0].json);
		memmove(slow->events, slow->events + 1, --slow->count * sizeof(*slow->events));
		slow->before++;
	}
	if (slow->count == REPORT_SESSION_EVENTS || search->size > TEXT_MAX) {
		slow->after += !before;
		slow->before += before;
		return 0;
	}
	put_event(search, entry, slow);
	json = search->text.error ? NULL : strdup(search->text.data);
	larger = array_grow(slow->events, slow->count, sizeof(*larger));
	if (!json || !larger) {
		slow->events = larger ? larger : slow->events;
		free(json);
		return -ENOMEM;
	}
	search->size += search->text.size;
	slow->events = larger;
	slow->events[slow->count++] = (struct slow_event){ .json = json, .before = before };
	return 0;
}

/* The part of an interval in a span, which has the boot and the session. */
static void add_wait(struct slow_span *slow, const struct interval *interval, uint64_t end)
{
	const uint64_t from = slow->span.time, to = from + slow->span.duration;
	struct interval part = *interval;

	end = interval_cut(&part, end, from, to);
	if (interval_time(&part))
		waits_add(&slow->waits, &part, end);
}

/* A sum of what was since the last one: the part of that time which is in the span. */
static void add_sum(struct slow_span *slow, struct interval_sum *sum, uint64_t since, uint64_t now)
{
	const uint64_t from = slow->span.time, to = from + slow->span.duration;
	struct interval_sum part = *sum;

	if (interval_cut_sum(&part, since, now, from, to))
		waits_take(&slow->waits, &part, slow->span.duration);
}

/* Is an event one of the session of a span? */
static bool is_of(const struct slow_span *slow, const struct entry *entry, const char *provider)
{
	const char *instance = entry->item.instance ? entry->item.instance : "";
	const char *boot = elog_reader_info(entry->reader, "boot_id");

	return !strcmp(slow->provider, provider) && !strcmp(slow->instance, instance) &&
	       !strcmp(slow->boot, boot ? boot : "");
}

static int take_sum(struct search *search, struct slow_span *slow, const struct entry *entry,
		    struct interval_sum *sum)
{
	const uint64_t now = entry->item.time;
	const char *provider = interval_provider(entry, NULL, sum->of);
	uint64_t *last = NULL;

	for (; slow; slow = slow->next) {
		if (!is_of(slow, entry, provider) || search->sums.count >= SUMS_MAX)
			continue;
		last = elog_map_get(&search->sums, elog_map_pair((uintptr_t)slow, sum->tid));
		if (!last)
			return -ENOMEM;
		if (*last < now)
			add_sum(slow, sum, *last, now);
		*last = now;
	}
	return 0;
}

static int take_wait(struct search *search, struct slow_span *slow, const struct entry *entry)
{
	struct interval interval;
	struct interval_sum sum;
	const char *provider;

	if (interval_read_sum(entry, &sum))
		return take_sum(search, slow, entry, &sum);
	if (!interval_read(entry, &interval))
		return 0;
	provider = interval_provider(entry, NULL, interval.of);
	for (; slow; slow = slow->next)
		if (is_of(slow, entry, provider))
			add_wait(slow, &interval, entry->item.time);
	return 0;
}

/* A thread that has an event of the session in the span works on it. */
static void see_thread(struct slow_span *slow, const struct elog_item *item)
{
	if (item->time >= slow->span.time && item->time <= slow->span.time + slow->span.duration)
		waits_see(&slow->waits, item->tid, item->time);
}

/* The first visit may have ended at -n, or the file may have grown: stop where it stopped. */
static int take_event(void *context, struct visit_event *event)
{
	struct search *search = context;
	const struct entry *entry = event->entry;
	const struct elog_schema_event *schema = entry->cached->event;
	struct slow_span **first, *slow;
	int ret = 0;

	first = elog_map_find_integer(&search->numbers, entry->item.session);
	if (!first || wall_time(entry->item.time, entry->wall_offset) > search->data->last)
		return 0;
	if (interval_is_event(schema))
		return take_wait(search, *first, entry);
	for (slow = *first; slow && !ret; slow = slow->next) {
		if (!is_of(slow, entry, schema ? schema->provider->name : "?"))
			continue;
		see_thread(slow, &entry->item);
		ret = add_event(search, entry, slow);
	}
	return ret;
}

/* ------------------------------------------------------------------------
 * Reading again
 */

int report_sessions(struct report_data *data, bool failed_before)
{
	static const struct visit_ops ops = { .event = take_event };
	struct search search = { .data = data };
	int ret;

	if (!report_lists(data->settings))
		return 0;
	elog_map_init(&search.numbers, sizeof(struct slow_span *));
	elog_map_init(&search.sums, sizeof(uint64_t));
	ret = add_sessions(&search);
	if (!ret && search.numbers.count)
		ret = visit_again(data->settings, &ops, &search, failed_before);
	elog_map_free(&search.numbers);
	elog_map_free(&search.sums);
	elog_text_free(&search.text);
	elog_text_free(&search.fields);
	return ret;
}
