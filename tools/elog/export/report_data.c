// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts for elog report: see report_data.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/report_data.h"
#include "util/array.h"

/* ------------------------------------------------------------------------
 * Rows of durations
 */

uint64_t report_part_start(size_t part)
{
	const unsigned int row = (unsigned int)(part / REPORT_PARTS);
	const uint64_t from = histogram_edge(row, HISTOGRAM_STEPS_10);
	const uint64_t width = histogram_edge(row + 1, HISTOGRAM_STEPS_10) - from;

	return from + width / REPORT_PARTS * (part % REPORT_PARTS);
}

size_t report_part(const struct report_data *data, uint64_t duration)
{
	return data->part_of[histogram_bucket(duration)];
}

static void find_parts(struct report_data *data)
{
	size_t bucket, part = 0;

	/* Edges of rows, and of their parts from some size on, are edges of buckets. */
	for (bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
		while (part + 1 < REPORT_ROWS * REPORT_PARTS &&
		       report_part_start(part + 1) <= histogram_from(bucket) &&
		       report_part_start(part + 1) != UINT64_MAX)
			part++;
		data->part_of[bucket] = (uint16_t)part;
	}
}

/* ------------------------------------------------------------------------
 * The beginning and the end
 */

int report_data_open(struct report_data **result, const struct visit_settings *settings)
{
	struct report_data *data = calloc(1, sizeof(*data));

	if (!data)
		return -ENOMEM;
	data->settings = settings;
	data->bins.shift = TIME_BINS_SHIFT;
	data->event_end = &data->events;
	elog_map_init(&data->instances, sizeof(struct report_instance));
	elog_map_init(&data->event_map, sizeof(struct report_event *));
	elog_map_init(&data->span_map, sizeof(struct report_span *));
	find_parts(data);
	if (counters_open(&data->processes, COUNTERS_BY_PID, COUNTERS_ROWS, 0) ||
	    time_table_add(&data->bins, &data->total, 1) ||
	    time_table_add(&data->bins, &data->losses, REPORT_CAUSES)) {
		report_data_close(data);
		return -ENOMEM;
	}
	*result = data;
	return 0;
}

static void free_slow(struct slow_span *slow)
{
	unsigned int i;

	for (i = 0; i < slow->count; i++)
		free(slow->events[i].json);
	free(slow->events);
}

static void free_span(struct report_span *span)
{
	unsigned int i;

	if (!span)
		return;
	for (i = 0; i < span->slow_count; i++)
		free_slow(&span->slowest[i]);
	time_table_free(&span->table);
	free(span);
}

static void free_file(struct report_file *file)
{
	free(file->name);
	free(file->host);
	free(file->kernel);
	free(file->command);
}

void report_data_close(struct report_data *data)
{
	struct report_event *event;
	struct report_kind *kind;
	size_t i;

	if (!data)
		return;
	while ((event = data->events)) {
		data->events = event->next;
		time_table_free(&event->rate);
		free(event);
	}
	while ((kind = data->kinds)) {
		data->kinds = kind->next;
		free(kind);
	}
	for (i = 0; i < data->span_count; i++)
		free_span(data->spans[i]);
	for (i = 0; i < data->file_count; i++)
		free_file(&data->files[i]);
	for (i = 0; i < REPORT_DAMAGES; i++)
		free(data->damages[i]);
	free(data->files);
	time_table_free(&data->total);
	time_table_free(&data->losses);
	counters_close(data->processes);
	elog_map_free(&data->instances);
	elog_map_free(&data->event_map);
	elog_map_free(&data->span_map);
	free(data);
}

/* ------------------------------------------------------------------------
 * Kinds
 */

static struct report_event *new_event(struct report_data *data, const struct event_kind *kind)
{
	struct report_event *event = calloc(1, sizeof(*event));

	if (!event)
		return NULL;
	event->kind = kind;
	if (data->rate_count < REPORT_RATES) {
		if (time_table_add(&data->bins, &event->rate, 1)) {
			free(event);
			return NULL;
		}
		event->has_rate = true;
		data->rate_count++;
	}
	*data->event_end = event;
	data->event_end = &event->next;
	data->event_count++;
	return event;
}

static struct report_event *find_event(struct report_data *data, const struct event_kind *kind)
{
	const struct elog_map_key provider = elog_map_name(kind->provider, 0);
	struct report_event **event;

	event = elog_map_get(&data->event_map, elog_map_name(kind->name, provider.words[0]));
	if (event && !*event)
		*event = new_event(data, kind);
	return event ? *event : NULL;
}

static struct report_span *new_span(struct report_data *data, const struct event_kind *kind,
				    const struct span_kind *name)
{
	struct report_span *span = calloc(1, sizeof(*span));

	if (!span)
		return NULL;
	span->kind = kind;
	span->name = name;
	if (time_table_add(&data->bins, &span->table, REPORT_ROWS * REPORT_PARTS)) {
		free(span);
		return NULL;
	}
	span->number = data->span_count;
	data->spans[data->span_count++] = span;
	return span;
}

/*
 * Set @span to NULL if there are too many. A rule of --span may be about several providers. Without
 * rules, the name of the START identifies a span, because all STARTs with an attribute have the same
 * hash.
 */
static int find_span(struct report_data *data, const struct event_kind *kind,
		     const struct span_kind *name, struct report_span **span)
{
	const bool by_rule = data->settings->spans->rules.count;
	const struct elog_map_key key = elog_map_name(by_rule ? "" : kind->name, by_rule ?
		name->hash.words[0] : elog_map_name(kind->provider, 0).words[0]);
	struct report_span **found = elog_map_find(&data->span_map, key);

	if (!found) {
		found = elog_map_insert(&data->span_map, key);
		if (!found)
			return -ENOMEM;
		data->other_spans += data->span_count == REPORT_SPANS;
		if (data->span_count < REPORT_SPANS) {
			*found = new_span(data, kind, name);
			if (!*found)
				return -ENOMEM;
		}
	}
	*span = *found;
	return 0;
}

/*
 * A START with an attribute may have several ENDs, for example one for a failure. elog latency
 * takes one, so the spans with another one count as others. @span: set to NULL if there are too
 * many. Return: 0 or -ENOMEM.
 */
static int find_spans_to(struct report_data *data, const struct event_kind *end,
			 struct report_span **span)
{
	struct report_span *first = *span, *other;
	size_t i;

	if (data->settings->spans->rules.count)
		return 0;
	if (!first->end)
		first->end = end;
	if (!strcmp(first->end->name, end->name))
		return 0;
	for (i = 0; i < data->span_count; i++) {
		*span = data->spans[i];
		if ((*span)->first == first && !strcmp((*span)->end->name, end->name))
			return 0;
	}
	*span = NULL;
	if (data->span_count == REPORT_SPANS) {
		data->other_spans += !first->has_others;
		first->has_others = true;
		return 0;
	}
	other = new_span(data, first->kind, first->name);
	if (!other)
		return -ENOMEM;
	other->first = first;
	other->end = end;
	*span = other;
	return 0;
}

static int find_kind(struct report_data *data, struct event_kind *kind)
{
	struct report_kind *found = calloc(1, sizeof(*found));
	int ret = 0;

	if (!found)
		return -ENOMEM;
	found->next = data->kinds;
	data->kinds = found;
	found->event = find_event(data, kind);
	if (!found->event)
		return -ENOMEM;
	if (kind->role.is_start)
		ret = find_span(data, kind, &kind->role.start, &found->started);
	if (!ret && kind->role.is_end && data->settings->spans->rules.count)
		ret = find_span(data, kind, &kind->role.end, &found->ended);
	kind->data = found;
	return ret;
}

/* ------------------------------------------------------------------------
 * Spans
 */

static void copy_name(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from ? from : "");
}

unsigned int report_add_slow(struct slow_span *slowest, unsigned int count, unsigned int most,
			     const struct visit_event *visited)
{
	const struct entry *entry = visited->entry;
	const struct span *span = &visited->match.span;
	unsigned int at = count;
	struct slow_span *to;

	if (at == most && span->duration <= slowest[at - 1].span.duration)
		return count;
	if (at == most)
		at--;
	else
		count++;
	for (; at && slowest[at - 1].span.duration < span->duration; at--)
		slowest[at] = slowest[at - 1];
	to = &slowest[at];
	memset(to, 0, sizeof(*to));
	to->span = *span;
	to->provider = event_kind_of(span->role)->provider;
	copy_name(to->instance, sizeof(to->instance), entry->item.instance);
	copy_name(to->boot, sizeof(to->boot), elog_reader_info(entry->reader, "boot_id"));
	return count;
}

static int add_span(struct report_data *data, const struct visit_event *visited, unsigned int bin)
{
	const struct span *ended = &visited->match.span;
	struct report_kind *kind = event_kind_of(ended->role)->data;
	struct report_span *span = kind->started;

	if (span && find_spans_to(data, visited->kind, &span))
		return -ENOMEM;
	if (!span)
		return 0;
	histogram_add(&span->histogram, ended->duration);
	++*time_table_at(&span->table, bin, report_part(data, ended->duration));
	span->slow_count = report_add_slow(span->slowest, span->slow_count, REPORT_SLOWEST,
					   visited);
	return 0;
}

/* ------------------------------------------------------------------------
 * Operations of the visit
 */

static unsigned int pass_time(struct report_data *data, const struct entry *entry)
{
	const int64_t wall = wall_time(entry->item.time, entry->wall_offset);

	if (!data->any || wall < data->first)
		data->first = wall;
	if (!data->any || wall > data->last)
		data->last = wall;
	data->any = true;
	return time_bins_find(&data->bins, wall);
}

/* Return: the instance of an event or a loss; NULL: no memory. */
static struct report_instance *find_instance(struct report_data *data, const struct entry *entry)
{
	const char *name = entry->item.instance ? entry->item.instance : "";
	struct report_instance *instance = data->last_instance;

	if (instance && !strcmp(instance->name, name))
		return instance;
	instance = elog_map_get(&data->instances, elog_map_name(name, 0));
	if (instance && *name && !*instance->name)
		copy_name(instance->name, sizeof(instance->name), name);
	data->last_instance = instance;
	return instance;
}

static int take_event(void *context, struct visit_event *visited)
{
	struct report_data *data = context;
	const struct entry *entry = visited->entry;
	const struct elog_schema_event *schema = entry->cached->event;
	const unsigned int bin = pass_time(data, entry);
	struct report_instance *instance = find_instance(data, entry);
	struct counter_row *process;
	struct report_kind *kind;
	struct report_event *event;
	int ret;

	if (!instance)
		return -ENOMEM;
	instance->events++;
	if (!visited->kind->data) {
		ret = find_kind(data, visited->kind);
		if (ret)
			return ret;
	}
	kind = visited->kind->data;
	event = kind->event;
	event->events++;
	event->bytes += entry_size(entry);
	if (schema && (!event->level || schema->level < event->level))
		event->level = schema->level;
	++*time_table_at(&data->total, bin, 0);
	if (event->has_rate)
		++*time_table_at(&event->rate, bin, 0);
	if (kind->started)
		kind->started->starts++;
	if (kind->ended)
		kind->ended->ends++;
	ret = visited->match.ended ? add_span(data, visited, bin) : 0;
	return ret ? : counters_add(data->processes, entry, &process);
}

static int take_loss(void *context, const struct entry *entry, uint64_t count)
{
	struct report_data *data = context;
	const unsigned int bin = pass_time(data, entry);
	struct report_instance *instance = find_instance(data, entry);
	unsigned int cause;

	(void)count;
	if (!instance)
		return -ENOMEM;
	add_causes(instance->lost, &entry->item);
	for (cause = 0; cause < entry->item.lost_count; cause++)
		*time_table_at(&data->losses, bin, cause < REPORT_CAUSES ? cause :
			       REPORT_CAUSES - 1) += entry->item.lost[cause];
	return 0;
}

static int copy_info(char **to, const struct entry *entry, const char *key)
{
	const char *value = elog_reader_info(entry->reader, key);

	*to = value ? strdup(value) : NULL;
	return value && !*to ? -ENOMEM : 0;
}

/* A file's first segment says where it is from. */
static int take_segment(void *context, const struct entry *entry)
{
	struct report_data *data = context;
	struct report_file *file, *files;
	size_t i;

	for (i = 0; i < data->file_count; i++)
		if (!strcmp(data->files[i].name, entry->file))
			return 0;
	files = array_grow(data->files, data->file_count, sizeof(*files));
	if (!files)
		return -ENOMEM;
	data->files = files;
	file = &files[data->file_count];
	memset(file, 0, sizeof(*file));
	file->name = strdup(entry->file);
	if (!file->name)
		return -ENOMEM;
	data->file_count++;
	if (copy_info(&file->host, entry, "host") || copy_info(&file->kernel, entry, "kernel") ||
	    copy_info(&file->command, entry, "command"))
		return -ENOMEM;
	return 0;
}

static int take_damage(void *context, const struct entry *entry)
{
	struct report_data *data = context;
	struct elog_text text = { 0 };
	int ret = 0;

	if (data->damage_count++ >= REPORT_DAMAGES)
		return 0;
	source_put_damage(entry, &text);
	ret = text.error;
	if (!ret)
		data->damages[data->damage_count - 1] = strdup(text.data);
	if (!ret && !data->damages[data->damage_count - 1])
		ret = -ENOMEM;
	elog_text_free(&text);
	return ret;
}

const struct visit_ops report_ops = {
	.segment = take_segment,
	.event = take_event,
	.lost = take_loss,
	.damage = take_damage,
};
