// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog latency: how long it takes from one event to another.
 *
 * A START waits, in a table of bounded size, for an END that has the same key:
 * the boot, the provider, and the session or what --by names. What is not certain
 * to be a pair is not counted as one: where events were lost, or the capture began
 * anew, what waited is forgotten, since the END that comes next may be that of
 * another START.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/source.h"
#include "output/latency.h"
#include "output/progress.h"
#include "util/signals.h"

#define STARTS_MAX	(1U << 20)
#define GROUPS_MAX	256	/* the last one is for all others */
#define SLOWEST_MAX	10000
#define BY_MAX		16
#define BY_BYTES_MAX	1024	/* of a value, kept for --slowest */
#define GAPS_MAX	4096
#define CAPTURES	16	/* that have several files, of which parts are known */
#define CAPTURE_SIZE	20	/* what tells them apart, with its NUL */
#define BATCH_MS	100

/* What is known of every event, as --by and --group name it. */
enum head {
	HEAD_SESSION,
	HEAD_PID,
	HEAD_TID,
	HEAD_CPU,
	HEAD_PROVIDER,
	HEAD_EVENT,
	HEAD_COMM,
	HEADS,			/* none of these: a field */
};

static const char *const head_names[HEADS] = {
	"session", "pid", "tid", "cpu", "provider", "event", "comm",
};

/* What a definition's events are, as struct cached_event.row points to. */
struct role {
	bool start;
	bool end;
};

/* Something that --by, or --group, names. */
struct name {
	const char *name;
	enum head head;
	bool asked[2];		/* of a START, of an END */
	bool found[2];
};

struct latency {
	struct options options;		/* with START and END as -e */
	const char *start;		/* as they were given */
	const char *end;
	char *globs[2];
	int files;			/* 0: live */
	struct live live;
	struct source *source;
	struct output output;
	struct progress progress;

	bool by_provider;
	struct name by[BY_MAX];
	size_t by_count;
	char *by_names;			/* cut in pieces */
	char *by_words;
	struct name group;
	struct siphash secret;
	struct elog_text key;		/* scratch */

	struct starts *starts;
	struct latency_counts counts;
	struct histogram *total;
	struct histogram *recent;	/* with --interval: what is not in @total */
	struct latency_counts reported;	/* in intervals before this one */
	uint64_t lost_reported;
	uint64_t interval_start;
	struct latency_group **groups;
	size_t group_count;
	struct slow_pair *slowest;	/* a heap: the quickest is first */
	size_t slowest_count;
	int64_t gaps[GAPS_MAX];		/* when parts begin, CLOCK_REALTIME; a heap */
	size_t gap_count;
	char captures[CAPTURES][CAPTURE_SIZE];	/* a ring */
	size_t capture_count;

	uint64_t last_time;		/* of what was found */
	int64_t last_wall_offset;
	int64_t first_wall;
	bool any;
	uint64_t lost[EVENTLOG_LOST_CAUSES];	/* of files */
	bool enough;			/* -n is reached */
	bool damaged;			/* a ring was */
	bool failed;
	int error;
};

static bool is_going(const struct latency *latency)
{
	return !latency->enough && !latency->error && !latency->output.closed &&
	       !latency->output.error;
}

/* Files say what they like: no sum of two numbers of theirs is to overflow. */
static int64_t wall_time(uint64_t time, int64_t wall_offset)
{
	return (int64_t)(time + (uint64_t)wall_offset);
}

/* ------------------------------------------------------------------------
 * Names and keys
 */

static void set_name(struct name *name, const char *text)
{
	memset(name, 0, sizeof(*name));
	name->name = text;
	while (name->head < HEADS && strcmp(text, head_names[name->head]))
		name->head++;
}

/* Return: the field, with its value; NULL: the event has none that can be read. */
static const struct elog_schema_field *
take_field(struct name *name, const struct entry *entry, bool end,
	   struct elog_value *value)
{
	const struct elog_schema_field *field;

	field = find_field(entry->cached->event, name->name);
	name->asked[end] = true;
	if (!field)
		return NULL;
	name->found[end] = true;
	if (elog_decode(field, entry->item.payload, entry->item.payload_size,
			value))
		return NULL;
	return field;
}

/* Of the head: what it is called, or its number. */
static const char *head_value(enum head head, const struct entry *entry,
			      uint64_t *number)
{
	const struct elog_schema_event *event = entry->cached->event;

	switch (head) {
	case HEAD_SESSION:
		*number = entry->item.session;
		return NULL;
	case HEAD_PID:
		*number = entry->item.pid;
		return NULL;
	case HEAD_TID:
		*number = entry->item.tid;
		return NULL;
	case HEAD_CPU:
		*number = entry->item.cpu;
		return NULL;
	case HEAD_PROVIDER:
		return event ? event->provider->name : "?";
	case HEAD_EVENT:
		return event ? event->name : "?";
	default:
		return elog_processes_name(entry->processes, entry->item.pid,
					   entry->item.tid);
	}
}

/* The same bytes for the same value, whatever its type's size; no others. */
static void put_number(struct elog_text *key, uint64_t number, bool negative)
{
	elog_text_put(key, negative ? "-" : "+", 1);
	elog_text_put(key, &number, sizeof(number));
}

static void put_bytes(struct elog_text *key, char kind, const void *data,
		      size_t size)
{
	elog_text_put(key, &kind, 1);
	elog_text_put(key, &size, sizeof(size));
	elog_text_put(key, data, size);
}

static void put_value(struct elog_text *key,
		      const struct elog_schema_field *field,
		      const struct elog_value *value)
{
	switch (field->type) {
	case ELOG_TYPE_CHARS:
	case ELOG_TYPE_STRING:
		put_bytes(key, 's', value->data, value->size);
		break;
	case ELOG_TYPE_OCTETS:
	case ELOG_TYPE_BYTES:
	case ELOG_TYPE_STRUCT:
	case ELOG_TYPE_IPV4:
	case ELOG_TYPE_IPV6:
	case ELOG_TYPE_MAC:
		put_bytes(key, 'b', value->data, value->size);
		break;
	default:
		put_number(key, value->integer, (int64_t)value->integer < 0 &&
			   (field->is_signed || field->type == ELOG_TYPE_SIGNED));
		break;
	}
}

/* Return: false if the event lacks what is paired by. */
static bool make_key(struct latency *latency, const struct entry *entry, bool end,
		     struct siphash *hash)
{
	const struct elog_schema_field *field;
	struct elog_text *key = &latency->key;
	struct elog_value value;
	const char *boot = "";
	uint64_t number = 0;
	struct name *by;
	size_t i;

	key->size = 0;
	/* Numbers, and clocks, of one boot mean nothing in another. */
	if (entry->reader)
		boot = elog_file_info(entry->reader, "boot_id");
	if (boot)
		put_bytes(key, 's', boot, strlen(boot));
	if (latency->by_provider) {
		const char *provider = head_value(HEAD_PROVIDER, entry, &number);

		put_bytes(key, 's', provider, strlen(provider));
	}
	for (i = 0; i < latency->by_count; i++) {
		by = &latency->by[i];
		if (by->head < HEADS) {
			head_value(by->head, entry, &number);
			/* 0 is no session, and no thread that can be told. */
			if (!number && by->head != HEAD_CPU)
				return false;
			put_number(key, number, false);
			continue;
		}
		field = take_field(by, entry, end, &value);
		if (!field)
			return false;
		put_value(key, field, &value);
	}
	if (key->error) {
		latency->error = key->error;
		return false;
	}
	*hash = siphash(&latency->secret, key->data, key->size);
	return true;
}

/* ------------------------------------------------------------------------
 * Groups and the slowest
 */

/* A value, as the format has it; NULL: out of memory. */
static char *format_value(const struct latency *latency, struct name *name,
			  const struct entry *entry, size_t *size)
{
	enum output_format format = latency->options.format;
	const struct elog_schema_field *field;
	struct elog_text text = { 0 };
	struct elog_value value;
	const char *word;
	uint64_t number = 0;

	if (name->head < HEADS) {
		word = head_value(name->head, entry, &number);
		if (word && format == FORMAT_JSON)
			elog_text_json_string(&text, word, strlen(word));
		else if (word && name->head == HEAD_COMM && format == FORMAT_TEXT)
			elog_text_quoted(&text, word, strlen(word));
		else if (word)
			elog_text_string(&text, word);
		else if (name->head == HEAD_SESSION && format == FORMAT_JSON)
			elog_text_printf(&text, "\"0x%" PRIx64 "\"", number);
		else
			elog_text_printf(&text, name->head == HEAD_SESSION ?
					 "0x%" PRIx64 : "%" PRIu64, number);
	} else {
		field = take_field(name, entry, true, &value);
		if (!field)
			elog_text_string(&text, format == FORMAT_JSON ? "null" :
					 format == FORMAT_TEXT ? "-" : "");
		else if (format == FORMAT_JSON)
			elog_format_json_value(&text, field, &value);
		else if (format == FORMAT_CSV &&
			 (field->type == ELOG_TYPE_CHARS ||
			  field->type == ELOG_TYPE_STRING))
			elog_text_put(&text, value.data, value.size);
		else
			elog_format_value(&text, field, &value);
	}
	/* Nothing, and yet a string. */
	if (!text.data)
		elog_text_printf(&text, "%s", "");
	if (text.error) {
		elog_text_free(&text);
		return NULL;
	}
	*size = text.size;
	return text.data ? text.data : strdup("");
}

static struct latency_group *new_group(char *value, size_t size,
				       const struct siphash *hash)
{
	struct latency_group *group = value ? calloc(1, sizeof(*group)) : NULL;

	if (!group) {
		free(value);
		return NULL;
	}
	group->value = value;
	group->size = size;
	group->hash = *hash;
	return group;
}

static int add_to_group(struct latency *latency, const struct entry *entry,
			uint64_t duration)
{
	struct latency_group *group;
	struct siphash hash;
	size_t size, i;
	char *value;

	value = format_value(latency, &latency->group, entry, &size);
	if (!value)
		return -ENOMEM;
	hash = siphash(&latency->secret, value, size);
	for (i = 0; i < latency->group_count && i < GROUPS_MAX - 1; i++) {
		group = latency->groups[i];
		if (!memcmp(&group->hash, &hash, sizeof(hash)))
			break;
	}
	if (i == GROUPS_MAX - 1) {
		free(value);
		value = strdup(latency->options.format == FORMAT_JSON ?
			       "null,\"others\":true" : "(others)");
		size = value ? strlen(value) : 0;
	}
	if (i < latency->group_count) {
		free(value);
	} else {
		group = new_group(value, size, &hash);
		if (!group)
			return -ENOMEM;
		latency->groups[latency->group_count++] = group;
	}
	histogram_add(&latency->groups[i]->histogram, duration);
	return 0;
}

static void sift_down(struct latency *latency)
{
	struct slow_pair *heap = latency->slowest, swap;
	size_t at = 0, child;

	for (;;) {
		child = 2 * at + 1;
		if (child + 1 < latency->slowest_count &&
		    heap[child + 1].latency < heap[child].latency)
			child++;
		if (child >= latency->slowest_count ||
		    heap[at].latency <= heap[child].latency)
			return;
		swap = heap[at];
		heap[at] = heap[child];
		heap[child] = swap;
		at = child;
	}
}

static void sift_up(struct latency *latency)
{
	struct slow_pair *heap = latency->slowest, swap;
	size_t at = latency->slowest_count - 1, parent;

	for (; at; at = parent) {
		parent = (at - 1) / 2;
		if (heap[parent].latency <= heap[at].latency)
			return;
		swap = heap[at];
		heap[at] = heap[parent];
		heap[parent] = swap;
	}
}

/* What --by paired it by: "name=value name=value", or members. */
static char *format_by(struct latency *latency, const struct entry *entry)
{
	bool json = latency->options.format == FORMAT_JSON;
	struct elog_text text = { 0 };
	size_t size, i;
	char *value;

	for (i = 0; i < latency->by_count; i++) {
		const char *name = latency->by[i].name;

		value = format_value(latency, &latency->by[i], entry, &size);
		if (!value)
			text.error = -ENOMEM;
		if (i)
			elog_text_put(&text, json ? "," : " ", 1);
		if (json)
			elog_text_json_string(&text, name, strlen(name));
		else
			elog_text_string(&text, name);
		elog_text_put(&text, json ? ":" : "=", 1);
		if (value && size > BY_BYTES_MAX)
			elog_text_string(&text, json ? "null" : "...");
		else
			elog_text_put(&text, value, value ? size : 0);
		free(value);
	}
	if (!text.error)
		return text.data;
	elog_text_free(&text);
	return NULL;
}

static int add_to_slowest(struct latency *latency, const struct entry *entry,
			  const struct start *start, uint64_t duration)
{
	struct slow_pair pair = { .latency = duration, .start = *start };
	bool full = latency->slowest_count == latency->options.slowest;

	if (full && duration <= latency->slowest[0].latency)
		return 0;
	if (latency->options.by) {
		pair.by = format_by(latency, entry);
		if (!pair.by)
			return -ENOMEM;
	}
	if (full) {
		free(latency->slowest[0].by);
		latency->slowest[0] = pair;
		sift_down(latency);
	} else {
		latency->slowest[latency->slowest_count++] = pair;
		sift_up(latency);
	}
	return 0;
}

/* ------------------------------------------------------------------------
 * Pairs
 */

static void forget_starts(struct latency *latency)
{
	latency->counts.forgotten += starts_count(latency->starts);
	starts_forget(latency->starts);
}

static void take_start(struct latency *latency, const struct entry *entry,
		       const struct siphash *key)
{
	const struct elog_item *item = &entry->item;
	const struct start start = {
		.time = item->time,
		.wall = wall_time(item->time, entry->wall_offset),
		.session = item->session,
		.pid = item->pid,
		.tid = item->tid,
	};
	int ret;

	ret = starts_add(latency->starts, key, &start);
	if (ret == STARTS_REPLACED)
		latency->counts.restarted++;
	else if (ret == STARTS_EVICTED)
		latency->counts.unpaired_starts++;
	else if (ret < 0)
		latency->error = ret;
}

static void take_end(struct latency *latency, const struct entry *entry,
		     const struct siphash *key, bool is_start)
{
	const struct options *options = &latency->options;
	struct histogram *histogram;
	struct start start;
	uint64_t duration;
	int ret = 0;

	if (!starts_take(latency->starts, key, &start)) {
		/* The first of those that are both ends nothing. */
		latency->counts.unpaired_ends += !is_start;
		return;
	}
	/* Files of one boot whose clocks were told differently. */
	if (entry->item.time < start.time) {
		latency->counts.unpaired_starts++;
		latency->counts.unpaired_ends += !is_start;
		return;
	}
	duration = entry->item.time - start.time;
	histogram = options->interval ? latency->recent : latency->total;
	histogram_add(histogram, duration);
	if (options->group)
		ret = add_to_group(latency, entry, duration);
	if (!ret && options->slowest)
		ret = add_to_slowest(latency, entry, &start, duration);
	if (ret)
		latency->error = ret;
	latency->enough = options->count && options->count <=
			  latency->total->count +
			  (options->interval ? latency->recent->count : 0);
}

/* Of files: does something begin anew at, or before, this event? */
static bool pass_gap(struct latency *latency, int64_t wall)
{
	int64_t *heap = latency->gaps, swap;
	bool passed = false;
	size_t at, child;

	while (latency->gap_count && heap[0] <= wall) {
		passed = true;
		heap[0] = heap[--latency->gap_count];
		for (at = 0; ; at = child) {
			child = 2 * at + 1;
			if (child + 1 < latency->gap_count &&
			    heap[child + 1] < heap[child])
				child++;
			if (child >= latency->gap_count ||
			    heap[at] <= heap[child])
				break;
			swap = heap[at];
			heap[at] = heap[child];
			heap[child] = swap;
		}
	}
	return passed;
}

static void add_gap(struct latency *latency, int64_t wall)
{
	int64_t *heap = latency->gaps, swap;
	size_t at, parent;

	/* Never mind when it was: now. */
	if (latency->gap_count == GAPS_MAX) {
		forget_starts(latency);
		return;
	}
	heap[latency->gap_count] = wall;
	for (at = latency->gap_count++; at; at = parent) {
		parent = (at - 1) / 2;
		if (heap[parent] <= heap[at])
			return;
		swap = heap[at];
		heap[at] = heap[parent];
		heap[parent] = swap;
	}
}

/* Was there a part of the same capture before? */
static bool is_known_capture(struct latency *latency, const struct entry *entry)
{
	const char *capture = elog_file_info(entry->reader, "capture");
	size_t i;

	if (!capture || strlen(capture) >= CAPTURE_SIZE)
		return false;
	for (i = 0; i < latency->capture_count && i < CAPTURES; i++)
		if (!strcmp(latency->captures[i], capture))
			return true;
	snprintf(latency->captures[latency->capture_count++ % CAPTURES],
		 CAPTURE_SIZE, "%s", capture);
	return false;
}

/*
 * A part that does not continue another one: nobody knows what was before it. Of
 * several files all are asked for the first thing they have before any of the
 * events is yielded, so that it is the time that counts. A capture that has several
 * files at once has seen all since its first one began.
 */
static void take_part(struct latency *latency, const struct entry *entry)
{
	const char *start = elog_file_info(entry->reader, "start");
	uint64_t realtime;

	if (elog_file_info(entry->reader, "continues") ||
	    is_known_capture(latency, entry))
		return;
	/* In one file all that was before is older, and of another capture. */
	if (latency->files > 1 && start && sscanf(start, "%*u %*u %" SCNu64, &realtime) == 1 &&
	    realtime <= INT64_MAX)
		add_gap(latency, (int64_t)realtime);
	else
		forget_starts(latency);
}

static const struct role *find_role(const struct latency *latency,
				    struct cached_event *cached)
{
	static struct role roles[4] = {
		{ false, false }, { false, true }, { true, false }, { true, true },
	};
	unsigned int index = 0;

	if (cached->row)
		return cached->row;
	if (cached->event && glob_matches(latency->globs[0], cached->event))
		index |= 2;
	if (cached->event && glob_matches(latency->globs[1], cached->event))
		index |= 1;
	cached->row = &roles[index];
	return cached->row;
}

static void take_event(struct latency *latency, const struct entry *entry)
{
	const struct role *role = find_role(latency, entry->cached);
	int64_t wall = wall_time(entry->item.time, entry->wall_offset);
	struct siphash key;

	if (pass_gap(latency, wall))
		forget_starts(latency);
	if (!latency->any)
		latency->first_wall = wall;
	latency->any = true;
	latency->last_time = entry->item.time;
	latency->last_wall_offset = entry->wall_offset;
	latency->counts.starts += role->start;
	latency->counts.ends += role->end;
	if (!role->start && !role->end)
		return;
	if (!make_key(latency, entry, role->end && !role->start, &key)) {
		latency->counts.unkeyed++;
		return;
	}
	if (role->end)
		take_end(latency, entry, &key, role->start);
	if (role->start && !latency->enough)
		take_start(latency, entry, &key);
}

static void take_entry(struct latency *latency, const struct entry *entry)
{
	unsigned int i;

	switch (entry->item.type) {
	case ELOG_ITEM_EVENT:
		take_event(latency, entry);
		break;
	case ELOG_ITEM_LOST:
		for (i = 0; i < EVENTLOG_LOST_CAUSES; i++)
			latency->lost[i] += entry->item.lost[i];
		forget_starts(latency);
		break;
	case ELOG_ITEM_PART:
		take_part(latency, entry);
		break;
	case ELOG_ITEM_SYNC:
		progress_update(&latency->progress, latency->source,
				latency->counts.starts + latency->counts.ends);
		break;
	case ELOG_ITEM_DAMAGE:
		progress_clear(&latency->progress);
		source_tell_damage(entry);
		forget_starts(latency);
		break;
	}
}

/* ------------------------------------------------------------------------
 * Reports
 */

static struct latency_report new_report(const struct latency *latency)
{
	return (struct latency_report){
		.options = &latency->options,
		.start = latency->start,
		.end = latency->end,
		.by = latency->by_words,
		.time = latency->last_time,
		.wall_offset = latency->last_wall_offset,
		.counts = latency->counts,
		.histogram = latency->total,
		.groups = latency->groups,
		.group_count = latency->group_count,
		.group_name = latency->group.name,
		.slowest = latency->slowest,
		.slowest_count = latency->slowest_count,
	};
}

static uint64_t lost_live(struct latency *latency)
{
	struct eventlog_stat stat;
	uint64_t lost;
	unsigned int i;

	if (live_lost(&latency->live, &stat, &lost)) {
		latency->error = -EIO;
		return 0;
	}
	for (i = 0; i < EVENTLOG_LOST_CAUSES; i++)
		latency->lost[i] = stat.lost[i];
	return lost;
}

/* Live, reports are of now, whether there were events or not. */
static void pass_time(struct latency *latency, uint64_t now)
{
	latency->last_time = record_time(now);
	latency->last_wall_offset = wall_offset();
}

static void report_interval(struct latency *latency)
{
	const struct latency_counts *before = &latency->reported;
	struct latency_report report;
	uint64_t now = monotonic(), lost = lost_live(latency);

	pass_time(latency, now);
	report = new_report(latency);
	report.elapsed = now - latency->interval_start;
	report.histogram = latency->recent;
	report.lost = lost - latency->lost_reported;
	report.counts.unpaired_starts -= before->unpaired_starts;
	report.counts.unpaired_ends -= before->unpaired_ends;
	report.counts.restarted -= before->restarted;
	report.counts.forgotten -= before->forgotten;
	report.counts.unkeyed -= before->unkeyed;
	latency_print_interval(&report, &latency->output);
	output_flush(&latency->output);
	histogram_merge(latency->total, latency->recent);
	histogram_clear(latency->recent);
	latency->reported = latency->counts;
	latency->lost_reported = lost;
	latency->interval_start = now;
}

static uint64_t report_total(struct latency *latency)
{
	struct latency_report report;
	uint64_t lost = 0;
	unsigned int i;
	int64_t last;

	if (latency->files)
		for (i = 0; i < EVENTLOG_LOST_CAUSES; i++)
			lost += latency->lost[i];
	else
		lost = lost_live(latency);
	if (latency->options.interval)
		histogram_merge(latency->total, latency->recent);
	latency->counts.unpaired_starts += starts_count(latency->starts);
	if (!latency->files)
		pass_time(latency, latency->live.ended);
	report = new_report(latency);
	report.lost = lost;
	last = wall_time(latency->last_time, latency->last_wall_offset);
	if (!latency->files)
		report.elapsed = latency->live.ended - latency->live.started;
	else if (latency->any && last > latency->first_wall)
		report.elapsed = (uint64_t)last - (uint64_t)latency->first_wall;
	latency_print(&report, &latency->output);
	return lost;
}

/* Say what may explain that there are few pairs. */
static void tell_lost(struct latency *latency, uint64_t lost)
{
	struct elog_text causes = { 0 };

	if (!lost || latency->options.quiet)
		return;
	put_causes(latency->lost, &causes);
	fprintf(stderr, "elog: lost %" PRIu64 " event%s%s; pairs may be missing\n",
		lost, lost == 1 ? "" : "s", causes.data ? causes.data : "");
	elog_text_free(&causes);
	if (!latency->files)
		live_print_lost(&latency->live);
}

static void tell_unkeyed(const struct latency *latency)
{
	const struct latency_counts *counts = &latency->counts;

	if (latency->options.quiet)
		return;
	if (counts->unkeyed && !latency->options.by)
		fprintf(stderr, "elog: %" PRIu64 " event%s no session; "
			"--by pairs by something else\n", counts->unkeyed,
			counts->unkeyed == 1 ? " has" : "s have");
	if (!counts->starts)
		fprintf(stderr, "elog: there was no event '%s'\n", latency->start);
	if (!counts->ends)
		fprintf(stderr, "elog: there was no event '%s'\n", latency->end);
}

static bool tell_unknown(const struct name *name, const char *option, bool end)
{
	if (!name->asked[end] || name->found[end])
		return false;
	elog_error("--%s: no %s has a field '%s'", option, end ? "END" : "START",
		   name->name);
	return true;
}

/* Names that no event had. */
static bool tell_names(const struct latency *latency)
{
	bool any = false;
	size_t i;

	for (i = 0; i < latency->by_count; i++) {
		any |= tell_unknown(&latency->by[i], "by", false);
		any |= tell_unknown(&latency->by[i], "by", true);
	}
	if (latency->group.name)
		any |= tell_unknown(&latency->group, "group", true);
	return any;
}

/* ------------------------------------------------------------------------
 * The loops
 */

static void run_files(struct latency *latency)
{
	struct entry entry;
	int ret;

	while (is_going(latency)) {
		ret = source_next(latency->source, &entry);
		if (ret > 0) {
			take_entry(latency, &entry);
			continue;
		}
		if (ret < 0)
			latency->error = ret;
		break;
	}
	progress_clear(&latency->progress);
}

static void take_batch(struct latency *latency)
{
	struct entry entry;
	int ret;

	ret = flush_consumer(latency->live.consumer);
	if (ret)
		latency->error = ret;
	while (is_going(latency)) {
		ret = source_next(latency->source, &entry);
		if (!ret)
			break;
		if (ret > 0) {
			take_entry(latency, &entry);
		} else if (ret == -EBADMSG) {
			latency->damaged = true;
			forget_starts(latency);
		} else {
			latency->error = ret;
		}
	}
}

/* Milliseconds to sleep at most. */
static int batch_milliseconds(const struct latency *latency)
{
	const uint64_t interval = latency->options.interval;
	uint64_t passed, left;

	if (!interval)
		return BATCH_MS;
	passed = monotonic() - latency->interval_start;
	left = passed < interval ? (interval - passed + 999999) / 1000000 : 0;
	return left < BATCH_MS ? (int)left : BATCH_MS;
}

static void run_live(struct latency *latency)
{
	const uint64_t interval = latency->options.interval;
	bool over = false, due;
	int ret;

	while (!over && is_going(latency)) {
		ret = live_wait(&latency->live, batch_milliseconds(latency), &over);
		if (ret < 0) {
			latency->error = ret;
			return;
		}
		due = interval &&
		      monotonic() - latency->interval_start >= interval;
		if (ret || over || due)
			take_batch(latency);
		if (due && is_going(latency))
			report_interval(latency);
	}
}

/* ------------------------------------------------------------------------
 * The beginning
 */

static bool is_event(const char *text)
{
	const char *slash = strchr(text, '/');
	const char *event = slash ? slash + 1 : text;

	return *event && !strchr(event, '/') && strlen(event) < EVENTLOG_GLOB_MAX &&
	       (!slash || (slash != text && slash - text < EVENTLOG_GLOB_MAX));
}

static int check_arguments(const struct options *options)
{
	int i;

	if (options->argument_count - options->command_count < 2) {
		elog_error("%s is missing", options->argument_count -
			   options->command_count ? "END" : "START");
		elog_hint("try: elog latency --help");
		return -EINVAL;
	}
	for (i = 0; i < 2; i++) {
		if (is_event(options->arguments[i]))
			continue;
		elog_error("'%s' is not right for [PROVIDER/]EVENT",
			   options->arguments[i]);
		return -EINVAL;
	}
	if (options->separated && !options->command_count) {
		elog_error("the command behind -- is missing");
		return -EINVAL;
	}
	return 0;
}

static int check_options(const struct options *options, bool files)
{
	if (files && options->separated) {
		elog_error("'%s' and a command: events are either in a FILE or happen",
			   options->arguments[2]);
		return -EINVAL;
	}
	if (files && (options->duration || options->interval ||
		      options->per_cpu_bytes)) {
		elog_error("%s is for events as they happen, not for those of a FILE",
			   options->duration ? "-d" : options->interval ?
			   "--interval" : "--per-cpu-bytes");
		return -EINVAL;
	}
	if (!files && (options->since.kind != TIME_SPEC_NONE ||
		       options->until.kind != TIME_SPEC_NONE)) {
		elog_error("--since, --until and --around are for the events of a FILE");
		return -EINVAL;
	}
	if (options->time == TIME_DELTA) {
		elog_error("--time: 'delta' is not right here");
		return -EINVAL;
	}
	if (options->slowest > SLOWEST_MAX) {
		elog_error("--slowest: %u at most", SLOWEST_MAX);
		return -EINVAL;
	}
	if (options->slowest && options->format == FORMAT_CSV) {
		elog_error("--slowest does not go with --format csv");
		return -EINVAL;
	}
	return 0;
}

/* START and END as -e has them. */
static int make_globs(struct latency *latency, char *const *arguments)
{
	const char **globs;
	int i;

	globs = calloc(2, sizeof(*globs));
	if (!globs)
		return -ENOMEM;
	for (i = 0; i < 2; i++) {
		if (asprintf(&latency->globs[i], "%s%s", strchr(arguments[i], '/') ?
			     "" : "*/", arguments[i]) < 0) {
			latency->globs[i] = NULL;
			free(globs);
			return -ENOMEM;
		}
		globs[i] = latency->globs[i];
	}
	latency->options.globs = globs;
	latency->options.glob_count = 2;
	return 0;
}

/* Sessions are a provider's own, unless both name one, and not the same. */
static bool is_one_provider(const char *start, const char *end)
{
	const char *slash = strchr(start, '/'), *other = strchr(end, '/');

	return !slash || !other || (slash - start == other - end &&
				    !memcmp(start, end, (size_t)(slash - start)));
}

static int parse_by(struct latency *latency)
{
	struct elog_text words = { 0 };
	char *rest, *name;
	struct name *by;
	size_t i;

	latency->by_names = strdup(latency->options.by ? latency->options.by :
				   "session");
	if (!latency->by_names)
		return -ENOMEM;
	rest = latency->by_names;
	while ((name = strsep(&rest, ","))) {
		if (latency->by_count == BY_MAX) {
			elog_error("--by: %u at most", BY_MAX);
			return -EINVAL;
		}
		if (!*name) {
			elog_error("--by: '%s' has an empty name", latency->options.by);
			return -EINVAL;
		}
		by = &latency->by[latency->by_count++];
		set_name(by, name);
		/* The others are not for pairing: it is a field. */
		if (by->head > HEAD_CPU)
			by->head = HEADS;
	}
	if (latency->by_provider)
		elog_text_string(&words, "provider");
	for (i = 0; i < latency->by_count; i++) {
		if (words.size)
			elog_text_put(&words, ",", 1);
		elog_text_string(&words, latency->by[i].name);
	}
	latency->by_words = words.data;
	return words.error;
}

static int prepare(struct latency *latency, const struct options *options)
{
	int ret;

	latency->options = *options;
	latency->options.globs = NULL;
	latency->start = options->arguments[0];
	latency->end = options->arguments[1];
	latency->files = options->argument_count - options->command_count - 2;
	latency->by_provider = is_one_provider(latency->start, latency->end);
	ret = make_globs(latency, options->arguments);
	if (!ret)
		ret = parse_by(latency);
	if (ret == -EINVAL)
		return ret;
	if (options->group)
		set_name(&latency->group, options->group);
	latency->options.arguments += 2 + latency->files;
	latency->options.argument_count = options->command_count;
	latency->starts = starts_open(STARTS_MAX);
	latency->total = calloc(1, sizeof(*latency->total));
	latency->recent = calloc(1, sizeof(*latency->recent));
	latency->groups = calloc(GROUPS_MAX, sizeof(*latency->groups));
	latency->slowest = calloc(options->slowest + 1, sizeof(*latency->slowest));
	if (ret || !latency->starts || !latency->total || !latency->recent ||
	    !latency->groups || !latency->slowest) {
		elog_error("out of memory");
		return -ENOMEM;
	}
	ret = siphash_secret(&latency->secret);
	if (ret) {
		elog_error("no random numbers: %s", strerror(-ret));
		return ret;
	}
	return 0;
}

static int open_source(struct latency *latency, char *const *files)
{
	const struct output none = { 0 };
	int ret;

	if (latency->files) {
		ret = source_open_files(&latency->source, &latency->options, files,
					latency->files);
		/* What is printed is printed at the end. */
		if (!ret)
			progress_start(&latency->progress, &latency->options, &none);
		return ret;
	}
	signals_catch(0);
	ret = live_open(&latency->live, &latency->options, NULL);
	if (!ret)
		ret = source_open_live(&latency->source, &latency->live);
	return ret;
}

/* Return: 0, or an exit status. */
static int run(struct latency *latency)
{
	struct latency_report report;
	int ret;

	report = new_report(latency);
	latency_print_header(&report, &latency->output);
	if (latency->files) {
		run_files(latency);
		return 0;
	}
	ret = live_start(&latency->live);
	if (ret)
		return ret;
	if (!latency->options.separated && latency->options.verbose)
		fputs("elog: capturing\n", stderr);
	latency->interval_start = latency->live.started;
	if (latency->options.interval)
		output_flush(&latency->output);
	run_live(latency);
	live_end(&latency->live);
	return 0;
}

static int finish(struct latency *latency)
{
	uint64_t lost = report_total(latency);
	int ret, error;

	error = output_close(&latency->output);
	if (error) {
		elog_error("cannot write to stdout: %s", strerror(-error));
		latency->failed = true;
	}
	tell_lost(latency, lost);
	tell_unkeyed(latency);
	latency->failed |= tell_names(latency);
	latency->failed |= source_finish(latency->source);
	latency->failed |= latency->files && source_failed(latency->source);
	if (latency->error) {
		elog_error("%s", strerror(-latency->error));
		latency->failed = true;
	}
	ret = command_status(&latency->live.command, latency->options.quiet);
	if (latency->failed)
		return STATUS_ERROR;
	if (!ret && (lost || latency->damaged))
		ret = STATUS_LOST;
	return ret;
}

static void free_latency(struct latency *latency)
{
	size_t i;

	source_close(latency->source);
	live_close(&latency->live);
	output_close(&latency->output);
	starts_close(latency->starts);
	for (i = 0; i < latency->group_count; i++) {
		free(latency->groups[i]->value);
		free(latency->groups[i]);
	}
	for (i = 0; i < latency->slowest_count; i++)
		free(latency->slowest[i].by);
	elog_text_free(&latency->key);
	free(latency->groups);
	free(latency->slowest);
	free(latency->total);
	free(latency->recent);
	free(latency->options.globs);
	free(latency->globs[0]);
	free(latency->globs[1]);
	free(latency->by_names);
	free(latency->by_words);
	free(latency);
}

static int run_latency(const struct options *options)
{
	struct latency *latency;
	int ret = STATUS_ERROR;

	if (check_arguments(options) ||
	    check_options(options, options->argument_count -
			  options->command_count > 2))
		return STATUS_ERROR;
	latency = calloc(1, sizeof(*latency));
	if (!latency) {
		elog_error("out of memory");
		return STATUS_ERROR;
	}
	output_open(&latency->output, options);
	if (!prepare(latency, options) &&
	    !open_source(latency, options->arguments + 2)) {
		ret = run(latency);
		if (!ret)
			ret = finish(latency);
	}
	free_latency(latency);
	return ret;
}

static const struct verb_option latency_options[] = {
	{ OPTION_BY, "pair by these instead of the session: fields of both, session,\n"
	  "pid, tid, cpu, with commas between" },
	{ OPTION_GROUP, NULL }, { OPTION_SLOWEST, NULL },
	{ OPTION_INTERVAL, "print a line about what was new, every so often" },
	{ 's', NULL }, { 'p', NULL }, { 't', NULL }, { 'C', NULL }, { 'f', NULL },
	{ OPTION_SINCE, NULL }, { OPTION_UNTIL, NULL }, { OPTION_AROUND, NULL },
	{ 'n', "end after so many pairs" }, { 'd', NULL },
	{ OPTION_PER_CPU_BYTES, NULL }, { OPTION_TIME, NULL },
	{ OPTION_FORMAT, "text (default), json: a line each, or csv" },
	{ 'q', "no histogram, no notes" },
	{ 'v', "say when capturing has begun" },
	{ 0, NULL },
};

const struct verb verb_latency = {
	.name = "latency",
	.summary = "measure how long it takes from one event to another",
	.usage = "[OPTION...] START END [FILE...] [-- COMMAND [ARGUMENT...]]",
	.description =
	"Pairs each event START with the next END of the same provider and session, and\n"
	"prints how long that took: percentiles and a histogram. START and END are\n"
	"[PROVIDER/]EVENT, globs. Events are those of FILE, as elog capture -o writes it,\n"
	"or of now, until Ctrl-C or until COMMAND has ended.\n"
	"\n"
	"Percentiles and the histogram have durations to three digits.\n"
	"\n"
	"Exit status: 0 all is well; 1 an error, or a FILE was damaged; 2 events were\n"
	"lost; if COMMAND failed, its status.\n",
	.options = latency_options,
	.formats = 1U << FORMAT_TEXT | 1U << FORMAT_JSON | 1U << FORMAT_CSV,
	.run = run_latency,
};
