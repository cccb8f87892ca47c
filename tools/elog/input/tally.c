// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts of events: see tally.h.
 *
 * A row by event or provider is remembered in the definition (struct known), with
 * the row's serial number: the memory of rows is kept for others, so that it can
 * be looked at, and the number tells that it is of something else now.
 *
 * When there are as many rows as there may be, the eighth of them that was seen
 * longest ago is folded at once: then a new row costs no more than a sort of its
 * share.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/tally.h"

#define ROWS_MIN	8

static const char *const by_names[TALLY_BYS] = {
	[TALLY_BY_EVENT] = "event", [TALLY_BY_PROVIDER] = "provider",
	[TALLY_BY_SESSION] = "session", [TALLY_BY_PID] = "pid",
	[TALLY_BY_CPU] = "cpu",
};

/* What the kernel has told of a definition. */
struct tally_loss {
	uint32_t descriptor;
	uint64_t lost;
};

/* What rows are told apart by. */
struct key {
	const char *provider;
	const char *event;
	uint64_t number;
};

const char *tally_by_name(enum tally_by by)
{
	return by_names[by];
}

bool tally_by_parse(const char *text, enum tally_by *by)
{
	size_t i;

	*by = TALLY_BY_EVENT;
	if (!text)
		return true;
	for (i = 0; i < TALLY_BYS; i++) {
		if (strcmp(by_names[i], text))
			continue;
		*by = (enum tally_by)i;
		return true;
	}
	elog_error("--by: '%s' is not one of event, provider, session, pid, cpu", text);
	return false;
}

static void reset_row(struct tally *tally, struct tally_row *row)
{
	free(row->sizes);
	memset(row, 0, sizeof(*row));
	row->serial = ++tally->serial;
}

int tally_open(struct tally **result, enum tally_by by, size_t limit, uint64_t now)
{
	struct tally *tally = calloc(1, sizeof(*tally));
	int ret;

	if (!tally)
		return -ENOMEM;
	ret = siphash_secret(&tally->secret);
	if (ret) {
		free(tally);
		return ret;
	}
	tally->limit = limit < ROWS_MIN ? ROWS_MIN : limit;
	tally_clear(tally, by, now);
	*result = tally;
	return 0;
}

void tally_close(struct tally *tally)
{
	size_t i;

	if (!tally)
		return;
	for (i = 0; i < tally->count; i++) {
		free(tally->rows[i]->sizes);
		free(tally->rows[i]);
	}
	for (i = 0; i < tally->spare_count; i++)
		free(tally->spare[i]);
	free(tally->others.sizes);
	free(tally->total.sizes);
	free(tally->rows);
	free(tally->spare);
	free(tally->table);
	free(tally->losses);
	free(tally);
}

static void spare_row(struct tally *tally, struct tally_row *row)
{
	reset_row(tally, row);
	tally->spare[tally->spare_count++] = row;
}

void tally_clear(struct tally *tally, enum tally_by by, uint64_t now)
{
	size_t i;

	for (i = 0; i < tally->count; i++)
		spare_row(tally, tally->rows[i]);
	tally->count = 0;
	if (tally->table)
		memset(tally->table, 0, tally->table_size * sizeof(*tally->table));
	reset_row(tally, &tally->others);
	reset_row(tally, &tally->total);
	memset(tally->lost, 0, sizeof(tally->lost));
	tally->by = by;
	tally->folded = 0;
	tally->recent = NULL;
	tally->first = 0;
	tally->final = 0;
	tally->marks = 0;
	tally->marked = now;
	tally->lost_asked = 0;
	tally->loss_count = 0;
	tally->knows_lost = by == TALLY_BY_CPU;
}

/* ------------------------------------------------------------------------
 * Finding rows
 */

/* Whoever emits chooses keys: with a secret nobody can make them collide. */
static size_t hash_key(const struct tally *tally, const struct key *key)
{
	uint64_t hash = siphash_session(&tally->secret, key->provider, key->number);

	if (*key->event)
		hash += siphash(&tally->secret, key->event,
				strlen(key->event)).words[0];
	return (size_t)hash;
}

static bool has_key(const struct tally_row *row, const struct key *key)
{
	return row->number == key->number && !strcmp(row->provider, key->provider) &&
	       !strcmp(row->event, key->event);
}

/* By pid the name is not what rows are told apart by. */
static void row_key(const struct tally *tally, const struct tally_row *row,
		    struct key *key)
{
	key->provider = row->provider;
	key->event = tally->by == TALLY_BY_EVENT ? row->event : "";
	key->number = row->number;
}

static struct tally_row **find_slot(const struct tally *tally,
				    const struct key *key)
{
	size_t mask = tally->table_size - 1, slot = hash_key(tally, key) & mask;
	struct tally_row *row;

	for (; (row = tally->table[slot]); slot = (slot + 1) & mask) {
		if (tally->by == TALLY_BY_PID ? row->number == key->number :
						has_key(row, key))
			break;
	}
	return &tally->table[slot];
}

static void fill_table(struct tally *tally)
{
	struct key key;
	size_t i;

	memset(tally->table, 0, tally->table_size * sizeof(*tally->table));
	for (i = 0; i < tally->count; i++) {
		row_key(tally, tally->rows[i], &key);
		*find_slot(tally, &key) = tally->rows[i];
	}
}

/* Room for more rows, and for all of them among the spare ones. */
static int grow(struct tally *tally)
{
	size_t capacity = tally->capacity ? 2 * tally->capacity : 64;
	size_t size = tally->table_size ? tally->table_size : 64;
	struct tally_row **rows, **spare, **table;

	if (capacity > tally->limit)
		capacity = tally->limit;
	while (size < 2 * capacity)
		size *= 2;
	if (size > tally->table_size) {
		table = calloc(size, sizeof(*table));
		if (!table)
			return -ENOMEM;
		free(tally->table);
		tally->table = table;
		tally->table_size = size;
		fill_table(tally);
	}
	rows = realloc(tally->rows, capacity * sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	tally->rows = rows;
	spare = realloc(tally->spare, capacity * sizeof(*spare));
	if (!spare)
		return -ENOMEM;
	tally->spare = spare;
	tally->capacity = capacity;
	return 0;
}

static void fold_row(struct tally *tally, const struct tally_row *row)
{
	struct tally_row *others = &tally->others;
	unsigned int i;

	others->events += row->events;
	others->bytes += row->bytes;
	others->lost += row->lost;
	others->marked_events += row->marked_events;
	others->marked_bytes += row->marked_bytes;
	if (row->level && (!others->level || row->level < others->level))
		others->level = row->level;
	if (row->seen >= others->seen) {
		others->seen = row->seen;
		others->last = row->last;
		others->wall_offset = row->wall_offset;
	}
	for (i = 0; i < TALLY_HISTORY; i++)
		others->history[i] += row->history[i];
	tally->folded++;
}

static int compare_seen(const void *one, const void *other)
{
	const struct tally_row *a = *(struct tally_row *const *)one;
	const struct tally_row *b = *(struct tally_row *const *)other;

	return a->seen > b->seen ? -1 : a->seen < b->seen;
}

static void fold_old(struct tally *tally)
{
	size_t keep = tally->limit - tally->limit / 8;

	qsort(tally->rows, tally->count, sizeof(*tally->rows), compare_seen);
	while (tally->count > keep) {
		struct tally_row *row = tally->rows[--tally->count];

		fold_row(tally, row);
		spare_row(tally, row);
	}
	fill_table(tally);
	tally->recent = NULL;
}

static int new_row(struct tally *tally, const struct key *key,
		   struct tally_row **result)
{
	struct tally_row *row;
	int ret;

	if (tally->count >= tally->limit)
		fold_old(tally);
	if (tally->count >= tally->capacity) {
		ret = grow(tally);
		if (ret)
			return ret;
	}
	if (tally->spare_count) {
		row = tally->spare[--tally->spare_count];
	} else {
		row = calloc(1, sizeof(*row));
		if (!row)
			return -ENOMEM;
		row->serial = ++tally->serial;
	}
	row->number = key->number;
	snprintf(row->provider, sizeof(row->provider), "%s", key->provider);
	snprintf(row->event, sizeof(row->event), "%s", key->event);
	/* New rows are not the ones to be folded next. */
	row->seen = tally->total.events + 1;
	tally->rows[tally->count++] = row;
	*find_slot(tally, key) = row;
	*result = row;
	return 0;
}

static int find_row(struct tally *tally, const struct key *key,
		    struct tally_row **row)
{
	*row = tally->table ? *find_slot(tally, key) : NULL;
	return *row ? 0 : new_row(tally, key, row);
}

/* ------------------------------------------------------------------------
 * Counting
 */

static int find_by_definition(struct tally *tally, const struct entry *entry,
			      struct tally_row **row)
{
	const struct elog_schema_event *event = entry->known->event;
	struct key key = { .provider = "?", .event = "" };
	char number[16];

	*row = entry->known->row;
	if (*row && (*row)->serial == entry->known->row_serial)
		return 0;
	if (event)
		key.provider = event->provider->name;
	if (tally->by == TALLY_BY_EVENT) {
		snprintf(number, sizeof(number), "#%u", entry->item.descriptor);
		key.event = event ? event->name : number;
	}
	if (find_row(tally, &key, row))
		return -ENOMEM;
	entry->known->row = *row;
	entry->known->row_serial = (*row)->serial;
	return 0;
}

static int find_by_session(struct tally *tally, const struct entry *entry,
			   struct tally_row **row)
{
	const struct elog_schema_event *event = entry->known->event;
	const struct key key = {
		.provider = event ? event->provider->name : "?",
		.event = "",
		.number = entry->item.session,
	};

	*row = tally->recent;
	if (*row && has_key(*row, &key))
		return 0;
	return find_row(tally, &key, row);
}

static int find_by_number(struct tally *tally, const struct entry *entry,
			  uint64_t number, struct tally_row **row)
{
	const struct key key = { .provider = "", .event = "", .number = number };
	const char *name;

	*row = tally->recent;
	if (*row && (*row)->number == number)
		return 0;
	if (find_row(tally, &key, row))
		return -ENOMEM;
	if (tally->by == TALLY_BY_PID && !(*row)->events) {
		name = elog_processes_name(entry->processes, entry->item.pid,
					   entry->item.pid);
		/* ":PID" is of one that is gone: it has no name. */
		snprintf((*row)->event, sizeof((*row)->event), "%s",
			 *name == ':' ? "" : name);
	}
	return 0;
}

static void count(struct tally_row *row, const struct entry *entry,
		  const struct tally_counts *counts, unsigned int level,
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

static int find(struct tally *tally, const struct entry *entry,
		struct tally_row **row)
{

	switch (tally->by) {
	case TALLY_BY_SESSION:
		return find_by_session(tally, entry, row);
	case TALLY_BY_PID:
		return find_by_number(tally, entry, entry->item.pid, row);
	case TALLY_BY_CPU:
		return find_by_number(tally, entry, entry->item.cpu, row);
	default:
		return find_by_definition(tally, entry, row);
	}
}

int tally_add(struct tally *tally, const struct entry *entry,
	      struct tally_row **row)
{
	const struct tally_counts one = {
		.events = 1, .bytes = entry->item.payload_size,
	};
	unsigned int level = entry->known->event ? entry->known->event->level : 0;
	int64_t wall = (int64_t)(entry->item.time + (uint64_t)entry->wall_offset);
	int ret;

	ret = find(tally, entry, row);
	if (ret)
		return ret;
	tally->recent = *row;
	if (!tally->total.events || wall < tally->first)
		tally->first = wall;
	if (!tally->total.events || wall > tally->final)
		tally->final = wall;
	count(&tally->total, entry, &one, level, tally->total.events + 1);
	count(*row, entry, &one, level, tally->total.events);
	return 0;
}

static void restart_row(struct tally_row *row)
{
	row->events = 0;
	row->bytes = 0;
	row->last = 0;
	if (row->sizes)
		memset(row->sizes, 0, TALLY_SIZES * sizeof(*row->sizes));
}

void tally_restart(struct tally *tally)
{
	size_t i;

	for (i = 0; i < tally->count; i++)
		restart_row(tally->rows[i]);
	restart_row(&tally->others);
	restart_row(&tally->total);
	tally->knows_lost = false;
}

static int add_counts(struct tally_row *row, const struct entry *entry,
		      const struct tally_counts *counts, uint64_t order)
{
	const struct elog_schema_event *event = entry->known ?
						entry->known->event : NULL;
	uint64_t last = row->last;
	unsigned int i;

	if (!row->sizes) {
		row->sizes = calloc(TALLY_SIZES, sizeof(*row->sizes));
		if (!row->sizes)
			return -ENOMEM;
	}
	for (i = 0; i < TALLY_SIZES; i++)
		row->sizes[i] += counts->sizes[i];
	count(row, entry, counts, event ? event->level : 0, order);
	/* They come in no order. */
	if (last > row->last)
		row->last = last;
	return 0;
}

int tally_add_counts(struct tally *tally, const struct entry *entry,
		     const struct tally_counts *counts)
{
	struct tally_row *row = &tally->others;
	int ret;

	if (entry->known || tally->by == TALLY_BY_CPU)
		ret = find(tally, entry, &row);
	else
		ret = 0;
	if (ret)
		return ret;
	if (row == &tally->others && !tally->folded)
		tally->folded = 1;
	ret = add_counts(&tally->total, entry, counts, tally->total.events + 1);
	return ret ? ret : add_counts(row, entry, counts, tally->total.events);
}

int tally_add_lost(struct tally *tally, const struct elog_item *item, bool causes)
{
	const struct key key = { .provider = "", .event = "", .number = item->cpu };
	struct tally_row *row;
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < EVENTLOG_LOST_CAUSES; i++) {
		sum += item->lost[i];
		if (causes)
			tally->lost[i] += item->lost[i];
	}
	if (causes)
		tally->total.lost += sum;
	if (tally->by != TALLY_BY_CPU)
		return 0;
	if (find_row(tally, &key, &row))
		return -ENOMEM;
	row->lost += sum;
	return 0;
}

/* Of an event that was not seen itself a row is made as long as there is room. */
static int add_event_lost(struct tally *tally, const struct elog_schema_event *event,
			  uint32_t descriptor, uint64_t lost)
{
	struct key key = { .provider = "?", .event = "" };
	struct tally_row *row;
	char number[16];

	if (event)
		key.provider = event->provider->name;
	if (tally->by == TALLY_BY_EVENT) {
		snprintf(number, sizeof(number), "#%u", descriptor);
		key.event = event ? event->name : number;
	}
	row = tally->table ? *find_slot(tally, &key) : NULL;
	if (!row && tally->count >= tally->limit)
		row = &tally->others;
	if (!row && new_row(tally, &key, &row))
		return -ENOMEM;
	if (row == &tally->others && !tally->folded)
		tally->folded = 1;
	row->lost += lost;
	if (event && (!row->level || event->level < row->level))
		row->level = event->level;
	return 0;
}

/* A list of losses, in the order of descriptors. */
struct losses {
	struct tally_loss *losses;
	size_t count;
	size_t room;
};

static int add_loss(struct losses *list, uint32_t descriptor, uint64_t lost)
{
	size_t room = list->room ? 2 * list->room : 64;
	struct tally_loss *larger;

	if (list->count == list->room) {
		larger = realloc(list->losses, room * sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		list->losses = larger;
		list->room = room;
	}
	list->losses[list->count].descriptor = descriptor;
	list->losses[list->count++].lost = lost;
	return 0;
}

/* Add to a row what a definition lost since @before. Return: 0 or -ENOMEM. */
static int note_event_lost(struct tally *tally, struct elog_consumer *consumer,
			   uint32_t descriptor, uint64_t before, uint64_t lost)
{
	const struct elog_schema_event *event;

	/* Another definition, if it can be that a descriptor is used again. */
	if (lost < before)
		before = 0;
	if (lost == before)
		return 0;
	if (elog_consumer_describe(consumer, descriptor, &event))
		event = NULL;
	return add_event_lost(tally, event, descriptor, lost - before);
}

/*
 * What definitions have lost since they were asked before is added to what rows
 * have: of a definition that the kernel has forgotten that stays.
 */
static int ask_events(struct tally *tally, struct elog_consumer *consumer)
{
	struct eventlog_describe request = { .flags = EVENTLOG_DESCRIBE_NEXT };
	int fd = elog_consumer_fd(consumer), ret;
	struct losses list = { 0 };
	struct eventlog_stat stat;
	uint64_t before;
	size_t i = 0;
	char *schema;

	while (!(ret = elog_device_describe(fd, &request, &schema))) {
		free(schema);
		request.flags = EVENTLOG_DESCRIBE_NEXT;
		while (i < tally->loss_count &&
		       tally->losses[i].descriptor < request.descriptor)
			i++;
		before = i < tally->loss_count &&
			 tally->losses[i].descriptor == request.descriptor ?
			 tally->losses[i].lost : 0;
		if (elog_consumer_stat(consumer, EVENTLOG_CPU_ALL,
				       request.descriptor, &stat))
			stat.event_lost = before;
		if (!stat.event_lost)
			continue;
		ret = add_loss(&list, request.descriptor, stat.event_lost);
		if (!ret)
			ret = note_event_lost(tally, consumer, request.descriptor,
					      before, stat.event_lost);
		if (ret)
			break;
	}
	if (ret != -ENOENT) {
		free(list.losses);
		return ret;
	}
	free(tally->losses);
	tally->losses = list.losses;
	tally->loss_count = list.count;
	return 0;
}

int tally_ask_lost(struct tally *tally, struct elog_consumer *consumer)
{
	struct eventlog_stat stat;
	uint64_t sum = 0;
	unsigned int i;
	int ret;

	ret = elog_consumer_stat(consumer, EVENTLOG_CPU_ALL, 0, &stat);
	if (ret)
		return ret;
	for (i = 0; i < EVENTLOG_LOST_CAUSES; i++) {
		tally->lost[i] = stat.lost[i];
		sum += stat.lost[i];
	}
	tally->total.lost = sum;
	if (tally->by != TALLY_BY_EVENT && tally->by != TALLY_BY_PROVIDER)
		return 0;
	tally->knows_lost = true;
	if (sum == tally->lost_asked)
		return 0;
	tally->lost_asked = sum;
	return ask_events(tally, consumer);
}

bool tally_knows_lost(const struct tally *tally)
{
	return tally->knows_lost;
}

/* ------------------------------------------------------------------------
 * Rates
 */

static void mark_row(const struct tally *tally, struct tally_row *row, double seconds)
{
	uint64_t events = row->events - row->marked_events;
	uint64_t bytes = row->bytes - row->marked_bytes;

	row->rate = seconds > 0 ? (double)events / seconds : 0;
	row->byte_rate = seconds > 0 ? (double)bytes / seconds : 0;
	row->marked_events = row->events;
	row->marked_bytes = row->bytes;
	row->history[tally_history_at(tally)] =
		events > UINT32_MAX ? UINT32_MAX : (uint32_t)events;
}

void tally_mark(struct tally *tally, uint64_t now)
{
	double seconds = (double)(now - tally->marked) / 1e9;
	size_t i;

	tally->marked = now;
	tally->marks++;
	for (i = 0; i < tally->count; i++)
		mark_row(tally, tally->rows[i], seconds);
	mark_row(tally, &tally->others, seconds);
	mark_row(tally, &tally->total, seconds);
}

static void rate_row(struct tally_row *row, double seconds)
{
	row->rate = seconds > 0 ? (double)row->events / seconds : 0;
	row->byte_rate = seconds > 0 ? (double)row->bytes / seconds : 0;
}

void tally_rates(struct tally *tally, uint64_t span)
{
	double seconds = (double)span / 1e9;
	size_t i;

	for (i = 0; i < tally->count; i++)
		rate_row(tally->rows[i], seconds);
	rate_row(&tally->others, seconds);
	rate_row(&tally->total, seconds);
}

unsigned int tally_history_at(const struct tally *tally)
{
	return tally->marks % TALLY_HISTORY;
}

/* ------------------------------------------------------------------------
 * Order and names
 */

static int compare_names(const struct tally_row *a, const struct tally_row *b)
{
	int ret = strcmp(a->provider, b->provider);

	if (!ret && a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return ret ? ret : strcmp(a->event, b->event);
}

static int compare_counts(const struct tally_row *a, const struct tally_row *b,
			  uint64_t of_a, uint64_t of_b)
{
	if (of_a != of_b)
		return of_a > of_b ? -1 : 1;
	return compare_names(a, b);
}

static int compare_rates(const struct tally_row *a, const struct tally_row *b,
			 double of_a, double of_b)
{
	if (of_a > of_b || of_a < of_b)
		return of_a > of_b ? -1 : 1;
	return compare_names(a, b);
}

static int compare_rows(const void *one, const void *other, void *context)
{
	const struct tally_row *a = *(struct tally_row *const *)one;
	const struct tally_row *b = *(struct tally_row *const *)other;

	switch (*(const enum tally_order *)context) {
	case TALLY_ORDER_BYTES:
		return compare_counts(a, b, a->bytes, b->bytes);
	case TALLY_ORDER_RATE:
		return compare_rates(a, b, a->rate, b->rate);
	case TALLY_ORDER_BYTE_RATE:
		return compare_rates(a, b, a->byte_rate, b->byte_rate);
	case TALLY_ORDER_LOST:
		return compare_counts(a, b, a->lost, b->lost);
	case TALLY_ORDER_NAME:
		return compare_names(a, b);
	default:
		return compare_counts(a, b, a->events, b->events);
	}
}

void tally_sort(struct tally *tally, enum tally_order order)
{
	if (tally->count)
		qsort_r(tally->rows, tally->count, sizeof(*tally->rows),
			compare_rows, &order);
}

const char *tally_name(const struct tally *tally, const struct tally_row *row,
		       char *buffer, size_t size)
{
	char *character;

	if (row == &tally->total) {
		snprintf(buffer, size, "total");
		return buffer;
	}
	if (row == &tally->others) {
		snprintf(buffer, size, "(others)");
		return buffer;
	}
	switch (tally->by) {
	case TALLY_BY_EVENT:
		snprintf(buffer, size, "%s/%s", row->provider, row->event);
		break;
	case TALLY_BY_PROVIDER:
		snprintf(buffer, size, "%s", row->provider);
		break;
	case TALLY_BY_SESSION:
		if (row->number)
			snprintf(buffer, size, "%s/0x%" PRIx64, row->provider,
				 row->number);
		else
			snprintf(buffer, size, "%s/-", row->provider);
		break;
	case TALLY_BY_PID:
		snprintf(buffer, size, "%" PRIu64 "%s%s", row->number,
			 *row->event ? "/" : "", row->event);
		break;
	default:
		if (row->number == EVENTLOG_CPU_ALL)
			snprintf(buffer, size, "-");
		else
			snprintf(buffer, size, "%" PRIu64, row->number);
		break;
	}
	/* A process chooses its name. */
	for (character = buffer; *character; character++)
		if (!isgraph((unsigned char)*character))
			*character = '_';
	return buffer;
}
