// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts of events: see counters.h.
 *
 * struct cached_event remembers the row of an event or provider, and the row's serial
 * number. The map keeps the memory of removed rows, so the serial number can be read,
 * and a different one shows that the row now counts something else.
 *
 * When the number of rows reaches the limit, the eighth of them that was seen longest
 * ago is folded at once, so that the cost of the sort is shared by many new rows.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/counters.h"
#include "util/nearest.h"
#include "util/array.h"

#define ROWS_MIN	8

static const char *const by_names[COUNTERS_BYS] = {
	[COUNTERS_BY_EVENT] = "event", [COUNTERS_BY_PROVIDER] = "provider",
	[COUNTERS_BY_SESSION] = "session", [COUNTERS_BY_PID] = "pid",
	[COUNTERS_BY_CPU] = "cpu", [COUNTERS_BY_INSTANCE] = "instance",
	[COUNTERS_BY_HOST] = "host",
};

/* What tells rows apart, besides counters->host: the same string for the same host. */
struct key {
	const char *provider;
	const char *event;
	uint64_t number;
};

/* Events of one definition that did not arrive. */
struct losses {
	uint64_t lost;
	uint64_t invalid;
};

const char *counters_by_name(enum counters_by by)
{
	return by_names[by];
}

bool counters_by_parse(const char *text, enum counters_by *by)
{
	int found;

	*by = COUNTERS_BY_EVENT;
	if (!text)
		return true;
	found = choice_find(by_names, COUNTERS_BYS, text);
	if (found >= 0)
		*by = (enum counters_by)found;
	else
		choice_error(by_names, COUNTERS_BYS, text, NULL, "--by: invalid name '%s'", text);
	return found >= 0;
}

bool counters_order_parse(const char *text, bool rates, enum counters_order *order)
{
	static const char *const names[] = {
		[COUNTERS_ORDER_EVENTS] = "events", [COUNTERS_ORDER_BYTES] = "bytes",
		[COUNTERS_ORDER_RATE] = "rate", [COUNTERS_ORDER_LOST] = "lost",
		[COUNTERS_ORDER_NAME] = "name",
	};
	int found;

	*order = rates ? COUNTERS_ORDER_RATE : COUNTERS_ORDER_EVENTS;
	if (!text)
		return true;
	found = choice_find(names, ARRAY_SIZE(names), text);
	if (found < 0)
		choice_error(names, ARRAY_SIZE(names), text, NULL, "--sort: invalid name '%s'",
			     text);
	else
		*order = rates && found == COUNTERS_ORDER_BYTES ? COUNTERS_ORDER_BYTE_RATE :
								  (enum counters_order)found;
	return found >= 0;
}

static void reset_row(struct counters *counters, struct counter_row *row)
{
	free(row->sizes);
	memset(row, 0, sizeof(*row));
	row->serial = ++counters->serial;
}

int counters_open(struct counters **result, enum counters_by by, size_t limit, uint64_t now)
{
	struct counters *counters = calloc(1, sizeof(*counters));

	if (!counters)
		return -ENOMEM;
	elog_map_init(&counters->map, sizeof(struct counter_row));
	elog_map_init(&counters->losses, sizeof(struct losses));
	elog_map_init(&counters->host_names, sizeof(char *));
	counters->limit = limit < ROWS_MIN ? ROWS_MIN : limit;
	counters_clear(counters, by, now);
	*result = counters;
	return 0;
}

void counters_close(struct counters *counters)
{
	char **name;
	size_t i;

	if (!counters)
		return;
	for (name = elog_map_first(&counters->host_names); name;
	     name = elog_map_next(&counters->host_names, name))
		free(*name);
	elog_map_free(&counters->host_names);
	elog_text_free(&counters->name);
	for (i = 0; i < counters->count; i++)
		free(counters->rows[i]->sizes);
	free(counters->others.sizes);
	free(counters->total.sizes);
	free(counters->rows);
	elog_map_free(&counters->losses);
	elog_map_free(&counters->map);
	free(counters);
}

void counters_clear(struct counters *counters, enum counters_by by, uint64_t now)
{
	size_t i;

	for (i = 0; i < counters->count; i++)
		reset_row(counters, counters->rows[i]);
	counters->count = 0;
	elog_map_clear(&counters->map);
	reset_row(counters, &counters->others);
	reset_row(counters, &counters->total);
	memset(counters->lost, 0, sizeof(counters->lost));
	counters->by = by;
	counters->folded = 0;
	counters->recent = NULL;
	counters->first = 0;
	counters->final = 0;
	counters->marks = 0;
	counters->marked = now;
	counters->lost_read = 0;
	elog_map_clear(&counters->losses);
	counters->knows_lost = by == COUNTERS_BY_CPU || by == COUNTERS_BY_INSTANCE ||
			       by == COUNTERS_BY_HOST;
}

/* ------------------------------------------------------------------------
 * Finding rows
 */

static struct elog_map_key map_key(const struct counters *counters, const struct key *key)
{
	struct elog_map_key part = elog_map_name(key->provider, key->number);

	if (*key->event)
		part = elog_map_name(key->event, part.words[0]);
	return counters->host ? elog_map_name(counters->host, part.words[0]) : part;
}

static bool has_key(const struct counters *counters, const struct counter_row *row,
		    const struct key *key)
{
	return row->host == counters->host && row->number == key->number &&
	       !strcmp(row->provider, key->provider) && !strcmp(row->event, key->event);
}

static void fold_row(struct counters *counters, const struct counter_row *row)
{
	struct counter_row *others = &counters->others;
	unsigned int i;

	others->events += row->events;
	others->bytes += row->bytes;
	others->lost += row->lost;
	others->invalid += row->invalid;
	others->marked_events += row->marked_events;
	others->marked_bytes += row->marked_bytes;
	if (row->level && (!others->level || row->level < others->level))
		others->level = row->level;
	if (row->seen >= others->seen) {
		others->seen = row->seen;
		others->last = row->last;
		others->wall_offset = row->wall_offset;
	}
	for (i = 0; i < COUNTERS_HISTORY; i++)
		others->history[i] += row->history[i];
	counters->folded++;
}

static int compare_seen(const void *one, const void *other)
{
	const struct counter_row *a = *(struct counter_row *const *)one;
	const struct counter_row *b = *(struct counter_row *const *)other;

	return a->seen > b->seen ? -1 : a->seen < b->seen;
}

static void fold_old(struct counters *counters)
{
	size_t keep = counters->limit - counters->limit / 8;

	qsort(counters->rows, counters->count, sizeof(*counters->rows), compare_seen);
	while (counters->count > keep) {
		struct counter_row *row = counters->rows[--counters->count];

		fold_row(counters, row);
		reset_row(counters, row);
		elog_map_remove(&counters->map, row);
	}
	counters->recent = NULL;
}

static int new_row(struct counters *counters, const struct key *key,
		   struct counter_row **result)
{
	struct counter_row **rows, *row;

	if (counters->count >= counters->limit)
		fold_old(counters);
	rows = array_grow(counters->rows, counters->count, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	counters->rows = rows;
	row = elog_map_insert(&counters->map, map_key(counters, key));
	if (!row)
		return -ENOMEM;
	row->host = counters->host;
	row->serial = ++counters->serial;
	row->number = key->number;
	snprintf(row->provider, sizeof(row->provider), "%s", key->provider);
	snprintf(row->event, sizeof(row->event), "%s", key->event);
	/* So that new rows are not folded next. */
	row->seen = counters->total.events + 1;
	counters->rows[counters->count++] = row;
	*result = row;
	return 0;
}

static int find_row(struct counters *counters, const struct key *key,
		    struct counter_row **row)
{
	*row = elog_map_find(&counters->map, map_key(counters, key));
	return *row ? 0 : new_row(counters, key, row);
}

/* ------------------------------------------------------------------------
 * Counting
 */

/* The key by event or provider. @number has room for "#" and a descriptor. */
static struct key definition_key(const struct counters *counters,
				 const struct elog_schema_event *event,
				 uint32_t descriptor, char number[16])
{
	snprintf(number, 16, "#%u", descriptor);
	return (struct key){
		.provider = event ? event->provider->name : "?",
		.event = counters->by != COUNTERS_BY_EVENT ? "" :
			 event ? event->name : number,
	};
}

/* Set the host of the next row. Return: 0 or -ENOMEM. */
static int set_host(struct counters *counters, const struct entry *entry)
{
	const char *host = entry->host ? : entry->host_name ? : "-";
	char **name;

	if (!counters->hosts && counters->by != COUNTERS_BY_HOST) {
		counters->host = NULL;
		return 0;
	}
	if (counters->host && !strcmp(counters->host, host))
		return 0;
	/* A file may have any number of hosts. */
	if (counters->host_names.count >= counters->limit)
		host = "(others)";
	name = elog_map_get(&counters->host_names, elog_map_name(host, 0));
	if (name && !*name)
		*name = strdup(host);
	if (!name || !*name)
		return -ENOMEM;
	counters->host_count = counters->host_names.count;
	counters->host = *name;
	return 0;
}

static int find_by_definition(struct counters *counters, const struct entry *entry,
			      struct counter_row **row)
{
	char number[16];
	struct key key;

	*row = entry->cached->row;
	if (*row && (*row)->serial == entry->cached->row_serial && (*row)->host == counters->host)
		return 0;
	key = definition_key(counters, entry->cached->event, entry->item.descriptor, number);
	if (find_row(counters, &key, row))
		return -ENOMEM;
	entry->cached->row = *row;
	entry->cached->row_serial = (*row)->serial;
	return 0;
}

static int find_by_session(struct counters *counters, const struct entry *entry,
			   struct counter_row **row)
{
	const struct elog_schema_event *event = entry->cached->event;
	const struct key key = {
		.provider = event ? event->provider->name : "?",
		.event = "",
		.number = entry->item.session,
	};

	*row = counters->recent;
	if (*row && has_key(counters, *row, &key))
		return 0;
	return find_row(counters, &key, row);
}

/* The key by instance; "-" is no name of an instance. */
static struct key instance_key(const struct elog_item *item)
{
	return (struct key){ .provider = item->instance ? item->instance : "-", .event = "" };
}

static int find_by_instance(struct counters *counters, const struct entry *entry,
			    struct counter_row **row)
{
	const struct key key = instance_key(&entry->item);

	*row = counters->recent;
	if (*row && has_key(counters, *row, &key))
		return 0;
	return find_row(counters, &key, row);
}

static int find_by_number(struct counters *counters, uint64_t number, struct counter_row **row)
{
	const struct key key = { .provider = "", .event = "", .number = number };

	*row = counters->recent;
	if (*row && has_key(counters, *row, &key))
		return 0;
	return find_row(counters, &key, row);
}

/* Give a row the name of its process, which was not known before. Return: 0 or -ENOMEM. */
static int name_row(struct counters *counters, const struct key *key, struct counter_row **row)
{
	struct counter_row *named = elog_map_insert(&counters->map, map_key(counters, key));
	size_t i = counters->count;

	if (!named)
		return -ENOMEM;
	while (counters->rows[--i] != *row)
		;
	*named = **row;
	snprintf(named->event, sizeof(named->event), "%s", key->event);
	counters->rows[i] = named;
	elog_map_remove(&counters->map, *row);
	*row = named;
	return 0;
}

/*
 * What has another name is another row: the process has called exec, was renamed, or its number is
 * used again.
 */
static int find_by_process(struct counters *counters, const struct entry *entry,
			   struct counter_row **row)
{
	const uint32_t pid = entry->item.pid;
	const char *name = elog_processes_name(entry->processes, pid, pid);
	struct key key = { .provider = "", .event = "", .number = pid };

	/* ":PID" is not a name: none is known. */
	if (*name != ':')
		key.event = name;
	*row = counters->recent;
	if (*row && has_key(counters, *row, &key))
		return 0;
	/* Names that look the same are the same, as no two rows of metrics may have one. */
	counters->name.size = 0;
	elog_text_visible(&counters->name, key.event, strlen(key.event));
	elog_text_put(&counters->name, "", 1);
	if (counters->name.error)
		return -ENOMEM;
	key.event = counters->name.data;
	*row = elog_map_find(&counters->map, map_key(counters, &key));
	if (*row)
		return 0;
	if (*key.event) {
		*row = elog_map_find(&counters->map, map_key(counters, &(struct key){
			.provider = "", .event = "", .number = pid }));
		if (*row)
			return name_row(counters, &key, row);
	}
	return new_row(counters, &key, row);
}

static void count(struct counter_row *row, const struct entry *entry,
		  const struct counter_totals *counts, unsigned int level,
		  uint64_t order)
{
	row->events += counts->events;
	row->bytes += counts->bytes;
	if (level && (!row->level || level < row->level))
		row->level = level;
	row->seen = order;
	row->last = entry->item.time;
	row->wall_offset = entry->wall_offset;
}

static int find(struct counters *counters, const struct entry *entry,
		struct counter_row **row)
{
	switch (counters->by) {
	case COUNTERS_BY_SESSION:
		return find_by_session(counters, entry, row);
	case COUNTERS_BY_PID:
		return find_by_process(counters, entry, row);
	case COUNTERS_BY_CPU:
		return find_by_number(counters, entry->item.cpu, row);
	case COUNTERS_BY_INSTANCE:
		return find_by_instance(counters, entry, row);
	case COUNTERS_BY_HOST:
		return find_by_number(counters, 0, row);
	default:
		return find_by_definition(counters, entry, row);
	}
}

int counters_add(struct counters *counters, const struct entry *entry,
		 struct counter_row **row)
{
	const struct counter_totals one = {
		.events = 1, .bytes = entry_size(entry),
	};
	unsigned int level = entry->cached->event ? entry->cached->event->level : 0;
	int64_t wall = wall_time(entry->item.time, entry->wall_offset);
	int ret;

	ret = set_host(counters, entry);
	if (!ret)
		ret = find(counters, entry, row);
	if (ret)
		return ret;
	counters->recent = *row;
	if (!counters->total.events || wall < counters->first)
		counters->first = wall;
	if (!counters->total.events || wall > counters->final)
		counters->final = wall;
	count(&counters->total, entry, &one, level, counters->total.events + 1);
	count(*row, entry, &one, level, counters->total.events);
	return 0;
}

static void restart_row(struct counter_row *row)
{
	row->events = 0;
	row->bytes = 0;
	row->last = 0;
	if (row->sizes)
		memset(row->sizes, 0, COUNTERS_SIZES * sizeof(*row->sizes));
}

void counters_restart(struct counters *counters)
{
	size_t i;

	for (i = 0; i < counters->count; i++)
		restart_row(counters->rows[i]);
	restart_row(&counters->others);
	restart_row(&counters->total);
	counters->knows_lost = false;
}

static int add_counts(struct counter_row *row, const struct entry *entry,
		      const struct counter_totals *counts, uint64_t order)
{
	const struct elog_schema_event *event = entry->cached ?
						entry->cached->event : NULL;
	uint64_t last = row->last;
	unsigned int i;

	if (!row->sizes) {
		row->sizes = calloc(COUNTERS_SIZES, sizeof(*row->sizes));
		if (!row->sizes)
			return -ENOMEM;
	}
	for (i = 0; i < COUNTERS_SIZES; i++)
		row->sizes[i] += counts->sizes[i];
	count(row, entry, counts, event ? event->level : 0, order);
	/* Counts come in any order. */
	if (last > row->last)
		row->last = last;
	return 0;
}

int counters_add_counts(struct counters *counters, const struct entry *entry,
			const struct counter_totals *counts)
{
	struct counter_row *row = &counters->others;
	int ret;

	if (entry->cached || counters->by == COUNTERS_BY_CPU)
		ret = find(counters, entry, &row);
	else
		ret = 0;
	if (ret)
		return ret;
	if (row == &counters->others && !counters->folded)
		counters->folded = 1;
	ret = add_counts(&counters->total, entry, counts, counters->total.events + 1);
	return ret ? ret : add_counts(row, entry, counts, counters->total.events);
}

int counters_add_lost(struct counters *counters, const struct entry *entry, bool causes)
{
	const struct elog_item *item = &entry->item;
	struct key key = { .provider = "", .event = "", .number = item->cpu };
	struct counter_row *row;
	uint64_t others[ELOG_LOST_CAUSES_MAX] = { 0 };
	uint64_t sum = add_causes(causes ? counters->lost : others, item);
	uint64_t invalid = item->lost_count > CAUSE_INVALID ? item->lost[CAUSE_INVALID] : 0;

	if (causes) {
		counters->total.lost += sum;
		counters->total.invalid += invalid;
	}
	if (counters->by == COUNTERS_BY_INSTANCE)
		key = instance_key(item);
	else if (counters->by == COUNTERS_BY_HOST)
		key.number = 0;
	else if (counters->by != COUNTERS_BY_CPU)
		return 0;
	if (set_host(counters, entry) || find_row(counters, &key, &row))
		return -ENOMEM;
	row->lost += sum;
	row->invalid += invalid;
	return 0;
}

int counters_add_instance(struct counters *counters, const char *name)
{
	const struct key key = { .provider = name, .event = "" };
	struct counter_row *row;

	return find_row(counters, &key, &row);
}

/* An event that was never seen gets a row as long as there is room. */
static int add_event_lost(struct counters *counters, const struct elog_schema_event *event,
			  uint32_t descriptor, struct losses more)
{
	struct counter_row *row;
	char number[16];
	const struct key key = definition_key(counters, event, descriptor, number);

	row = elog_map_find(&counters->map, map_key(counters, &key));
	if (!row && counters->count >= counters->limit)
		row = &counters->others;
	if (!row && new_row(counters, &key, &row))
		return -ENOMEM;
	if (row == &counters->others && !counters->folded)
		counters->folded = 1;
	row->lost += more.lost;
	row->invalid += more.invalid;
	if (event && (!row->level || event->level < row->level))
		row->level = event->level;
	return 0;
}

/* Add the losses of a definition to its row. Return: 0 or -ENOMEM. */
static int count_event_lost(struct counters *counters, struct elog_consumer *consumer,
			    uint32_t descriptor, struct losses more)
{
	const struct elog_schema_event *event;

	if (!more.lost && !more.invalid)
		return 0;
	if (elog_consumer_describe(consumer, descriptor, &event))
		event = NULL;
	return add_event_lost(counters, event, descriptor, more);
}

/* Fewer than before: a new definition has the descriptor. */
static uint64_t increase(uint64_t before, uint64_t now)
{
	return now < before ? now : now - before;
}

/* Add what a definition lost since the last time; @known counts those that lost events. */
static int read_event_loss(struct counters *counters, struct elog_consumer *consumer,
			   uint32_t descriptor, uint32_t *known)
{
	struct losses *before = elog_map_find_integer(&counters->losses, descriptor);
	struct losses now = before ? *before : (struct losses){ 0 }, more;
	struct eventlog_stat stat = { .size = sizeof(stat) };

	if (!elog_consumer_stat(consumer, EVENTLOG_RINGS_ALL, descriptor, &stat)) {
		now.invalid = stat.lost[CAUSE_INVALID];
		now.lost = stat.event_lost - now.invalid;
	}
	if (!before && !now.lost && !now.invalid)
		return 0;
	if (before)
		elog_map_touch(&counters->losses, before);
	else
		before = elog_map_insert(&counters->losses, elog_map_integer(descriptor));
	if (!before)
		return -ENOMEM;
	(*known)++;
	more.lost = increase(before->lost, now.lost);
	more.invalid = increase(before->invalid, now.invalid);
	*before = now;
	return count_event_lost(counters, consumer, descriptor, more);
}

/* Those of one subscription. Return: 0 or a negative errno. */
static int read_losses_of(struct counters *counters, struct elog_consumer *consumer,
			  uint32_t *known)
{
	struct eventlog_definition definition = { .size = sizeof(definition) };
	struct elog_list *definitions;
	const char *schema;
	int ret = elog_list_open(elog_consumer_fd(consumer), EVENTLOG_LIST_DEFINITIONS, 0,
				 &definitions);

	if (ret)
		return ret;
	while (!ret) {
		ret = elog_list_next(definitions, &definition, &schema);
		if (!ret)
			ret = read_event_loss(counters, consumer, definition.descriptor, known);
	}
	elog_list_close(definitions);
	return ret == -ENOENT ? 0 : ret;
}

/*
 * Add what each definition lost since the last time. What a row has stays when the
 * kernel forgets the definition.
 */
static int read_event_losses(struct counters *counters, const struct live *live)
{
	const struct member *member;
	uint32_t known = 0;
	size_t i;
	int ret;

	ret = read_losses_of(counters, live->consumer, &known);
	for (i = 1; !ret && (member = live_member(live, i)); i++)
		if (member->consumer)
			ret = read_losses_of(counters, member->consumer, &known);
	if (ret)
		return ret;
	/* The others are of definitions that are gone. */
	while (counters->losses.count > known)
		elog_map_remove(&counters->losses, elog_map_first(&counters->losses));
	return 0;
}

int counters_read_lost(struct counters *counters, const struct live *live)
{
	struct eventlog_stat stat = { .size = sizeof(stat) };
	uint64_t sum;
	unsigned int i;
	int ret;

	ret = live_stat(live, &stat);
	if (ret)
		return ret;
	for (i = 0; i < EVENTLOG_LOST_CAUSES; i++)
		counters->lost[i] = stat.lost[i];
	counters->total.lost = sum_causes(counters->lost, EVENTLOG_LOST_CAUSES);
	counters->total.invalid = counters->lost[CAUSE_INVALID];
	sum = counters->total.lost + counters->total.invalid;
	counters->rejected = stat.rejected;
	if (counters->by != COUNTERS_BY_EVENT && counters->by != COUNTERS_BY_PROVIDER)
		return 0;
	counters->knows_lost = true;
	if (sum == counters->lost_read)
		return 0;
	counters->lost_read = sum;
	return read_event_losses(counters, live);
}

bool counters_knows_lost(const struct counters *counters)
{
	return counters->knows_lost;
}

/* ------------------------------------------------------------------------
 * Rates
 */

static void mark_row(const struct counters *counters, struct counter_row *row, double seconds)
{
	uint64_t events = row->events - row->marked_events;
	uint64_t bytes = row->bytes - row->marked_bytes;

	row->rate = seconds > 0 ? (double)events / seconds : 0;
	row->byte_rate = seconds > 0 ? (double)bytes / seconds : 0;
	row->marked_events = row->events;
	row->marked_bytes = row->bytes;
	row->history[counters_history_at(counters)] =
		events > UINT32_MAX ? UINT32_MAX : (uint32_t)events;
}

void counters_mark(struct counters *counters, uint64_t now)
{
	double seconds = (double)(now - counters->marked) / 1e9;
	size_t i;

	counters->marked = now;
	counters->marks++;
	for (i = 0; i < counters->count; i++)
		mark_row(counters, counters->rows[i], seconds);
	mark_row(counters, &counters->others, seconds);
	mark_row(counters, &counters->total, seconds);
}

static void rate_row(struct counter_row *row, double seconds)
{
	row->rate = seconds > 0 ? (double)row->events / seconds : 0;
	row->byte_rate = seconds > 0 ? (double)row->bytes / seconds : 0;
}

void counters_rates(struct counters *counters, uint64_t span)
{
	double seconds = (double)span / 1e9;
	size_t i;

	for (i = 0; i < counters->count; i++)
		rate_row(counters->rows[i], seconds);
	rate_row(&counters->others, seconds);
	rate_row(&counters->total, seconds);
}

unsigned int counters_history_at(const struct counters *counters)
{
	return counters->marks % COUNTERS_HISTORY;
}

/* ------------------------------------------------------------------------
 * Order and names
 */

static int compare_names(const struct counter_row *a, const struct counter_row *b)
{
	int ret = strcmp(a->provider, b->provider);

	if (!ret && a->number != b->number)
		return a->number < b->number ? -1 : 1;
	if (!ret)
		ret = strcmp(a->event, b->event);
	return ret || !a->host || !b->host ? ret : strcmp(a->host, b->host);
}

static int compare_counts(const struct counter_row *a, const struct counter_row *b,
			  uint64_t of_a, uint64_t of_b)
{
	if (of_a != of_b)
		return of_a > of_b ? -1 : 1;
	return compare_names(a, b);
}

static int compare_rates(const struct counter_row *a, const struct counter_row *b,
			 double of_a, double of_b)
{
	if (of_a > of_b || of_a < of_b)
		return of_a > of_b ? -1 : 1;
	return compare_names(a, b);
}

static int compare_rows(const void *one, const void *other, void *context)
{
	const struct counter_row *a = *(struct counter_row *const *)one;
	const struct counter_row *b = *(struct counter_row *const *)other;

	switch (*(const enum counters_order *)context) {
	case COUNTERS_ORDER_BYTES:
		return compare_counts(a, b, a->bytes, b->bytes);
	case COUNTERS_ORDER_RATE:
		return compare_rates(a, b, a->rate, b->rate);
	case COUNTERS_ORDER_BYTE_RATE:
		return compare_rates(a, b, a->byte_rate, b->byte_rate);
	case COUNTERS_ORDER_LOST:
		return compare_counts(a, b, a->lost, b->lost);
	case COUNTERS_ORDER_NAME:
		return compare_names(a, b);
	default:
		return compare_counts(a, b, a->events, b->events);
	}
}

void counters_sort(struct counters *counters, enum counters_order order)
{
	if (counters->count)
		qsort_r(counters->rows, counters->count, sizeof(*counters->rows),
			compare_rows, &order);
}

/* A process chooses its name, and a file may have any host: it may contain anything. */
static const char *make_plain(char *text)
{
	char *character;

	for (character = text; *character; character++)
		if (!isgraph((unsigned char)*character))
			*character = '_';
	return text;
}

const char *counters_host(const struct counter_row *row, char *buffer, size_t size)
{
	snprintf(buffer, size, "%s", row->host ? row->host : "");
	return make_plain(buffer);
}

const char *counters_name(const struct counters *counters, const struct counter_row *row,
			  char *buffer, size_t size)
{
	if (row == &counters->total) {
		snprintf(buffer, size, "total");
		return buffer;
	}
	if (row == &counters->others) {
		snprintf(buffer, size, "(others)");
		return buffer;
	}
	switch (counters->by) {
	case COUNTERS_BY_HOST:
		return counters_host(row, buffer, size);
	case COUNTERS_BY_EVENT:
		snprintf(buffer, size, "%s/%s", row->provider, row->event);
		break;
	case COUNTERS_BY_PROVIDER:
	case COUNTERS_BY_INSTANCE:
		snprintf(buffer, size, "%s", row->provider);
		break;
	case COUNTERS_BY_SESSION:
		if (row->number)
			snprintf(buffer, size, "%s/0x%" PRIx64, row->provider,
				 row->number);
		else
			snprintf(buffer, size, "%s/-", row->provider);
		break;
	case COUNTERS_BY_PID:
		snprintf(buffer, size, "%" PRIu64 "%s%s", row->number,
			 *row->event ? "/" : "", row->event);
		break;
	default:
		if (row->number == EVENTLOG_CPU_UNKNOWN)
			snprintf(buffer, size, "-");
		else
			snprintf(buffer, size, "%" PRIu64, row->number);
		break;
	}
	return make_plain(buffer);
}
