// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog export --otlp and elog capture --otlp: a log record for each event and each loss, and
 * a span for each pair, for a receiver of OpenTelemetry (OTLP over HTTP, protobuf).
 *
 * Records are collected by resource, which is a provider in a process, and sent in batches of
 * OTLP_BATCH_BYTES, or after a second. A span is sent when it ends; until then the fields of its
 * START are kept, in PENDING_BYTES at most; beyond that the span lacks them. The same is true of
 * its waits, in as many bytes. Until its batch is sent, it gets the sums of its threads' short
 * waits (otlp_held.h).
 *
 * The trace of an event is its session: the id is a hash of the boot, the provider and the
 * session, so that it is the same in each export. An event with a field trace_id of 16 bytes
 * belongs to that trace. The parent of a span is the span that it is inside of (nesting.h), whose
 * trace it joins. What eventlog_sched.ko has recorded of its threads is in attributes, events and
 * links of the span (otlp_waits.h).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/ended.h"
#include "export/export.h"
#include "export/nesting.h"
#include "export/otlp_fields.h"
#include "export/otlp_held.h"
#include "libelog/util/util.h"

#define PENDING_BYTES	(16U << 20)
#define TRACE_BYTES	16
#define SPAN_BYTES	8

enum { KIND_INTERNAL = 1 };	/* of a span */

/*
 * struct ids - of an event
 * @trace: of the event
 * @span: the span in which it happened
 * @trace_size: 0: there is none
 * @span_size: likewise
 * @carried: the event has a field with the trace
 */
struct ids {
	char trace[TRACE_BYTES];
	char span[SPAN_BYTES];
	size_t trace_size;
	size_t span_size;
	bool carried;
};

/*
 * struct start - a START that is pending; data of the span
 * @nest: of the span
 * @names: of its kind
 * @ids: of the span
 * @time: when it began, CLOCK_MONOTONIC ns
 * @tid: its thread
 * @waits: of its threads; NULL: none
 * @refused: some waits were left out, so that it has none
 * @parent: the span in which it happened, as the event says; at the end, the parent
 * @parent_size: of @parent; 0: none is known
 * @count: of attributes that do not fit
 * @size: bytes of @attributes
 * @attributes: of the event
 */
struct start {
	struct nest nest;
	const struct otlp_names *names;
	struct ids ids;
	uint64_t time;
	uint32_t tid;
	struct otlp_waits *waits;
	bool refused;
	char parent[SPAN_BYTES];
	size_t parent_size;
	size_t count;
	size_t size;
	char attributes[];
};

/*
 * struct otlp - the state
 * @batch: records that are sent next
 * @held: spans that have ended
 * @ended: the last of them; their id is the trace and the span
 * @nesting: spans that are open
 * @begun: when the last span began
 * @equal: uint32_t: how many of the same trace, thread and name did so
 * @pending: bytes of attributes in all struct start
 * @pending_waits: bytes of waits, likewise
 * @attributes: of a START, and a span that is encoded
 */
struct otlp {
	struct otlp_batch batch;
	struct otlp_held held;
	struct ended ended;
	struct nesting nesting;
	uint64_t begun;
	struct elog_map equal;
	size_t pending;
	size_t pending_waits;
	struct elog_text attributes;
};

/* ------------------------------------------------------------------------
 * Traces
 */

/* Read an id from a field. Return: its size, or 0: there is none. */
static size_t read_id(const struct visit_event *event, const char *name, char *id, size_t size)
{
	const struct elog_schema_event *schema = event->entry->cached->event;
	const struct elog_item *item = &event->entry->item;
	struct elog_value value;
	size_t i, zeros = 0;

	for (i = 0; schema && i < schema->field_count; i++)
		if (!strcmp(schema->fields[i]->name, name))
			break;
	if (!schema || i == schema->field_count ||
	    (schema->fields[i]->type != ELOG_TYPE_OCTETS &&
	     schema->fields[i]->type != ELOG_TYPE_BYTES &&
	     schema->fields[i]->type != ELOG_TYPE_STRUCT) ||
	    elog_decode(schema->fields[i], item->payload, item->payload_size, &value) ||
	    value.size != size)
		return 0;
	memcpy(id, value.data, size);
	for (i = 0; i < size; i++)
		zeros += !id[i];
	return zeros < size ? size : 0;
}

static void put_word(char *to, uint64_t word)
{
	unsigned int i;

	for (i = 0; i < sizeof(word); i++)
		to[i] = (char)(word >> 8 * i);
}

static void set_trace(struct ids *ids, const struct elog_siphash *key, const void *data,
		      size_t size)
{
	struct elog_siphash hash = elog_siphash(key, data, size);

	put_word(ids->trace, hash.words[0]);
	put_word(ids->trace + 8, hash.words[1]);
	ids->trace_size = TRACE_BYTES;
}

static struct start *start_of(struct nest *nest)
{
	return nest ? elog_container_of((uintptr_t)nest, struct start, nest) : NULL;
}

/* The span of its session in which an event happened that neither starts nor ends one, or NULL. */
static const struct start *find_span(struct export *export, const struct visit_event *event)
{
	const struct span_role *role = &event->kind->role;
	struct otlp *otlp = export->state;
	struct elog_map_key session;

	if (role->is_start || role->is_end || !otlp->nesting.maps[NEST_SESSION].count ||
	    spans_session(&export->visit->spans, event->entry, &session) <= 0)
		return NULL;
	return start_of(nesting_innermost(&otlp->nesting, session));
}

/* The ids that an event carries, or those of the span in which it happened, or its session's. */
static void find_ids(struct export *export, const struct otlp_group *group,
		     const struct visit_event *event, struct ids *ids)
{
	const struct elog_item *item = &event->entry->item;
	const struct otlp_names *names = event->kind->data;
	char session[8 + EVENTLOG_INSTANCE_NAME_MAX];
	const struct start *span;
	size_t size = 0;

	memset(ids, 0, sizeof(*ids));
	if (names->trace_field)
		ids->trace_size = read_id(event, names->trace_field, ids->trace, TRACE_BYTES);
	if (ids->trace_size && names->span_field)
		ids->span_size = read_id(event, names->span_field, ids->span, SPAN_BYTES);
	ids->carried = ids->trace_size;
	if (ids->carried)
		return;
	span = find_span(export, event);
	if (span) {
		*ids = span->ids;
	} else if (item->session) {
		put_word(session, item->session);
		if (item->instance)
			size = strnlen(item->instance, EVENTLOG_INSTANCE_NAME_MAX);
		memcpy(session + 8, size ? item->instance : "", size);
		set_trace(ids, &group->trace_key, session, 8 + size);
	}
}

/* Find out what a span is inside of. What the event says is more exact. */
static void find_parent(struct start *start)
{
	const struct start *parent = start_of(nesting_parent(&start->nest));

	if (start->parent_size || !parent ||
	    memcmp(parent->ids.trace, start->ids.trace, TRACE_BYTES))
		return;
	memcpy(start->parent, parent->ids.span, SPAN_BYTES);
	start->parent_size = SPAN_BYTES;
}

/* Make the ids of a span that begins. What --by pairs may have no session. */
static int make_span_ids(struct otlp *otlp, const struct otlp_group *group,
			 const struct visit_event *event, struct ids *ids)
{
	const struct span_kind *kind = &event->kind->role.start;
	const struct elog_item *item = &event->entry->item;
	struct elog_siphash key, hash;
	char numbers[24];
	uint32_t *equal;

	put_word(numbers, item->time);
	put_word(numbers + 8, (uint64_t)item->pid << 32 | item->tid);
	put_word(numbers + 16, item->cpu);
	otlp->batch.value.size = 0;
	elog_text_put(&otlp->batch.value, numbers, sizeof(numbers));
	elog_text_put(&otlp->batch.value, kind->name, kind->name_size);
	if (otlp->batch.value.error)
		return -ENOMEM;
	if (!ids->trace_size)
		set_trace(ids, &group->trace_key, otlp->batch.value.data, otlp->batch.value.size);
	memcpy(&key, ids->trace, sizeof(key));
	hash = elog_siphash(&key, otlp->batch.value.data, otlp->batch.value.size);
	/* A thread may begin several spans of a name at one time: give each one another id. */
	if (otlp->begun != item->time)
		elog_map_clear(&otlp->equal);
	otlp->begun = item->time;
	equal = elog_map_get(&otlp->equal, elog_map_pair(hash.words[0], hash.words[1]));
	if (!equal)
		return -ENOMEM;
	put_word(ids->span, hash.words[0] + (*equal)++);
	ids->span_size = SPAN_BYTES;
	return 0;
}

/* ------------------------------------------------------------------------
 * Events
 */

static int put_log(struct otlp *otlp, struct otlp_group *group, const struct visit_event *event,
		   const struct ids *ids)
{
	static const unsigned char severities[] = {
		[EVENTLOG_LEVEL_CRITICAL] = 21, [EVENTLOG_LEVEL_ERROR] = 17,
		[EVENTLOG_LEVEL_WARNING] = SEVERITY_WARNING, [EVENTLOG_LEVEL_NOTICE] = 10,
		[EVENTLOG_LEVEL_INFO] = 9, [EVENTLOG_LEVEL_DEBUG] = 5,
		[EVENTLOG_LEVEL_VERBOSE] = 1,
	};
	const struct elog_schema_event *schema = event->entry->cached->event;
	const struct otlp_names *names = event->kind->data;
	struct elog_text *text = &group->records[OTLP_LOGS];
	const uint64_t wall = otlp_time(wall_time(event->entry->item.time,
						  event->entry->wall_offset));
	const char *level = schema ? elog_level_name(schema->level) : NULL;
	const size_t from = text->size, record = pb_open(text, OTLP_RECORD);
	size_t body;

	pb_fixed64(text, LOG_TIME, wall);
	if (level) {
		pb_uint(text, LOG_SEVERITY, severities[schema->level]);
		pb_string(text, LOG_SEVERITY_TEXT, level);
	}
	body = pb_open(text, LOG_BODY);
	pb_bytes(text, VALUE_STRING, names->name.data, names->name.size);
	pb_close(text, body);
	otlp_put_ours(&otlp->batch, text, LOG_ATTRIBUTE, event);
	otlp_put_fields(&otlp->batch, text, LOG_ATTRIBUTE, event);
	if (ids->trace_size)
		pb_bytes(text, LOG_TRACE, ids->trace, ids->trace_size);
	if (ids->span_size)
		pb_bytes(text, LOG_SPAN, ids->span, ids->span_size);
	pb_fixed64(text, LOG_OBSERVED, wall);
	pb_bytes(text, LOG_EVENT_NAME, names->name.data, names->name.size);
	pb_close(text, record);
	return otlp_batch_end(&otlp->batch, group, OTLP_LOGS, from);
}

/* Does what begins with an encoded key begin with the key of a field? */
static bool has_key(const struct otlp_names *names, const char *data, size_t data_size)
{
	size_t i, size, from = 0;

	for (i = 0; i < names->count; from = names->ends[i++]) {
		size = names->ends[i] - from;
		if (data_size >= size && !memcmp(data, names->keys.data + from, size))
			return true;
	}
	return false;
}

/* Does a START of this kind have a key that END has, too? */
static bool find_overlap(const struct otlp_names *names, const struct otlp_names *start)
{
	size_t i, from = 0;

	for (i = 0; i < OURS; i++)
		if (names->replaced[i])
			return true;
	for (i = 0; i < start->count; from = start->ends[i++])
		if (has_key(names, start->keys.data + from, start->ends[i] - from))
			return true;
	return false;
}

/* The attributes of START, except those that END has, too: a key must not be there twice. */
static void put_start(struct elog_text *text, struct otlp_names *names, const struct start *start)
{
	const char *at = start->attributes, *end = at + start->size, *from = at;
	struct pb_field attribute;

	if (names->start != start->names) {
		names->start = start->names;
		names->overlaps = find_overlap(names, start->names);
	}
	if (!names->overlaps) {
		elog_text_put(text, at, start->size);
		return;
	}
	while (pb_next(&at, end, &attribute) > 0) {
		if (!has_key(names, attribute.data, attribute.size))
			elog_text_put(text, from, (size_t)(at - from));
		from = at;
	}
}

static void free_start(struct otlp *otlp, struct start *start)
{
	nesting_end(&otlp->nesting, &start->nest);
	otlp->pending -= start->size;
	otlp->pending_waits -= otlp_waits_size(start->waits);
	otlp_waits_free(start->waits);
	free(start);
}

/* Encode a span that has ended, and hold it until the batch is sent. */
static int hold_span(struct otlp *otlp, const struct visit_event *event)
{
	const struct otlp_names *names = event->kind->data;
	const struct span *span = &event->match.span;
	const struct span_kind *kind = &span->role->start;
	const uint64_t end = span->time + span->duration;
	struct start *start = span->data;
	struct elog_text *text = &otlp->attributes;
	struct otlp_group *group;
	struct otlp_span *held;

	group = otlp_batch_group(&otlp->batch, event->entry, names->provider, span->pid,
				 span->process);
	if (!group)
		return -ENOMEM;
	text->size = 0;
	pb_bytes(text, SPAN_TRACE, start->ids.trace, start->ids.trace_size);
	pb_bytes(text, SPAN_SPAN, start->ids.span, start->ids.span_size);
	if (start->parent_size)
		pb_bytes(text, SPAN_PARENT, start->parent, start->parent_size);
	otlp_put_text(&otlp->batch, text, SPAN_NAME, kind->name, kind->name_size);
	pb_uint(text, SPAN_KIND, KIND_INTERNAL);
	pb_fixed64(text, SPAN_START, otlp_time(span->wall));
	pb_fixed64(text, SPAN_END, otlp_time(wall_time(span->duration, span->wall)));
	put_start(text, event->kind->data, start);
	otlp_put_fields(&otlp->batch, text, SPAN_ATTRIBUTE, event);
	if (start->count)
		pb_uint(text, SPAN_DROPPED, start->count);
	held = otlp_held_add(&otlp->held, start->nest.key[NEST_SESSION], group, text);
	if (!held)
		return -ENOMEM;
	held->duration = span->duration;
	otlp->pending_waits -= otlp_waits_size(start->waits);
	held->waits = start->waits;
	held->refused = start->refused || start->nest.unseen;
	start->waits = NULL;
	if (held->waits)
		waits_see(&held->waits->all, event->entry->item.tid, end);
	otlp_held_count(&otlp->held, held);
	ended_add(&otlp->ended, start->nest.key[NEST_SESSION], span->time, end, &start->ids,
		  TRACE_BYTES + SPAN_BYTES);
	return 0;
}

/* Open the span of a START. @ids: of the event; joins the trace of the parent. */
static int open_span(struct otlp *otlp, const struct otlp_group *group,
		     const struct visit_event *event, struct start *start, struct ids *ids)
{
	const struct elog_item *item = &event->entry->item;
	const struct start *parent;
	int ret;

	start->nest = (struct nest){
		.key = { event->match.key, elog_map_pair(group->boot, thread_key(item)) },
		.has_key = { true, item->tid }, .kind = event->kind->data,
	};
	ret = nesting_start(&otlp->nesting, &start->nest);
	if (ret)
		return ret;
	parent = start_of(nesting_parent(&start->nest));
	if (parent && !ids->carried) {
		memcpy(ids->trace, parent->ids.trace, TRACE_BYTES);
		ids->trace_size = TRACE_BYTES;
	}
	memcpy(start->parent, ids->span, SPAN_BYTES);
	start->parent_size = ids->span_size;
	return make_span_ids(otlp, group, event, ids);
}

/* Keep what a span needs of its START. @ids: of the event; becomes those of the span. */
static int keep_start(struct otlp *otlp, const struct otlp_group *group,
		      const struct visit_event *event, struct ids *ids)
{
	struct elog_text *text = &otlp->attributes;
	struct start *start;
	size_t count;
	int ret;

	text->size = 0;
	count = otlp_put_ours(&otlp->batch, text, SPAN_ATTRIBUTE, event);
	count += otlp_put_fields(&otlp->batch, text, SPAN_ATTRIBUTE, event);
	if (text->error || otlp->batch.value.error)
		return -ENOMEM;
	if (otlp->pending + text->size > PENDING_BYTES)
		text->size = 0;
	start = malloc(sizeof(*start) + text->size);
	if (!start)
		return -ENOMEM;
	start->size = 0;
	start->waits = NULL;
	start->refused = false;
	start->time = event->entry->item.time;
	start->tid = event->entry->item.tid;
	ret = open_span(otlp, group, event, start, ids);
	if (ret) {
		free_start(otlp, start);
		return ret;
	}
	start->names = event->kind->data;
	start->ids = *ids;
	start->count = text->size ? 0 : count;
	start->size = text->size;
	elog_copy(start->attributes, text->data, text->size);
	otlp->pending += text->size;
	event->match.start->data = start;
	return 0;
}

/* ------------------------------------------------------------------------
 * Waits
 */

/*
 * Find a session. @of: as struct interval has it. Return: 1; 0: pairs have something else in
 * common; -ENOMEM. May drop the definition of the event.
 */
static int session_key(struct export *export, const struct entry *entry, uint32_t of,
		       uint64_t session, struct elog_map_key *key)
{
	return spans_session_of(&export->visit->spans, entry,
				interval_provider(entry, export->visit->live, of), session, key);
}

/* The innermost span of a session that is open now, or NULL. */
static struct start *find_open(struct otlp *otlp, struct elog_map_key key)
{
	return start_of(nesting_innermost(&otlp->nesting, key));
}

static uint64_t since(const struct start *start, const struct entry *entry)
{
	return entry->item.time > start->time ? entry->item.time - start->time : 0;
}

/*
 * Let a span have waits, unless those of the pending spans take too much: then it never has any, as
 * some would be missing. Return: 0 or -ENOMEM.
 */
static int get_waits(struct otlp *otlp, struct start *start)
{
	if (start->waits || start->refused)
		return 0;
	start->refused = otlp->pending_waits > PENDING_BYTES;
	if (start->refused)
		return 0;
	start->waits = calloc(1, sizeof(*start->waits));
	if (!start->waits)
		return -ENOMEM;
	otlp->pending_waits += otlp_waits_size(start->waits);
	waits_see(&start->waits->all, start->tid, start->time);
	return 0;
}

/*
 * The next span of a walk. @start: set, and has waits, unless they are refused; NULL: there is
 * none. Return: 0 or -ENOMEM.
 */
static int next_start(struct otlp *otlp, struct nest_walk *walk, struct start **start)
{
	*start = start_of(nesting_next(walk));
	return *start ? get_waits(otlp, *start) : 0;
}

/* The last span of a session that is open and had begun at a time, or NULL. */
static const struct start *find_begun(struct otlp *otlp, struct elog_map_key key, uint64_t time)
{
	const struct start *start = find_open(otlp, key);
	unsigned int left = NESTING_WALK;

	while (start && start->time > time)
		start = --left ? start_of(start->nest.before[NEST_SESSION]) : NULL;
	return start;
}

/* Links a span to the one in which who ended a wait of it worked at that time. */
static void link_waker(struct export *export, const struct entry *entry,
		       const struct interval *interval, struct otlp_waits *waits)
{
	const uint64_t now = entry->item.time;
	const uint64_t woken = now - (interval->runnable < now ? interval->runnable : now);
	struct otlp *otlp = export->state;
	const struct start *by;
	const char *ids = NULL;
	struct elog_map_key key;

	if (!interval->by_session || !interval_waits(interval) ||
	    session_key(export, entry, interval->by_of, interval->by_session, &key) <= 0)
		return;
	/* The innermost one may have begun since. */
	by = find_begun(otlp, key, woken);
	if (by)
		ids = (const char *)&by->ids;
	else
		ids = ended_find(&otlp->ended, key, woken);
	if (ids)
		otlp_waits_link(waits, &otlp->batch, interval, ids, ids + TRACE_BYTES);
}

/* Adds an event and a link to a span. @part: of @interval, in the span */
static void put_wait(struct export *export, const struct entry *entry,
		     const struct interval *interval, const struct interval *part,
		     struct start *start)
{
	const size_t size = otlp_waits_size(start->waits);
	struct otlp *otlp = export->state;

	if (otlp->pending_waits > PENDING_BYTES) {
		start->waits->dropped++;
		return;
	}
	link_waker(export, entry, interval, start->waits);
	otlp_waits_event(start->waits, &otlp->batch, part,
			 interval_provider(entry, export->visit->live, interval->by_of));
	otlp->pending_waits += otlp_waits_size(start->waits) - size;
}

/* The spans that the session is inside of get the times, and the innermost one the event. */
static int add_wait(struct export *export, const struct entry *entry,
		    const struct interval *interval)
{
	struct interval part, inner_part = *interval;
	struct otlp *otlp = export->state;
	struct start *inner, *start;
	struct elog_map_key key;
	struct nest_walk walk;
	int ret;

	if (!otlp->nesting.maps[NEST_SESSION].count)
		return 0;
	ret = session_key(export, entry, interval->of, interval->session, &key);
	if (ret <= 0)
		return ret;
	inner = find_open(otlp, key);
	walk = nesting_walk(&otlp->nesting, key);
	while (!(ret = next_start(otlp, &walk, &start)) && start) {
		part = *interval;
		waits_clip(&part, since(start, entry));
		if (start->waits)
			waits_add(&start->waits->all, &part, entry->item.time);
		if (start == inner)
			inner_part = part;
	}
	if (!ret && inner && inner->waits)
		put_wait(export, entry, interval, &inner_part, inner);
	return ret;
}

/*
 * The same for a sum. What open spans have no room for was in the one that ended last. Spans that
 * have no waits take their part, too.
 */
static int add_sum(struct export *export, const struct entry *entry,
		   const struct interval_sum *sum)
{
	struct interval_sum left = *sum;
	struct otlp *otlp = export->state;
	struct otlp_span *held;
	struct elog_map_key key;
	struct nest_walk walk;
	struct waits unseen;
	struct start *start;
	int ret;

	ret = session_key(export, entry, sum->of, sum->session, &key);
	if (ret <= 0)
		return ret;
	walk = nesting_walk(&otlp->nesting, key);
	while (!(ret = next_start(otlp, &walk, &start)) && start) {
		left = *sum;
		unseen = (struct waits){ 0 };
		waits_take(start->waits ? &start->waits->all : &unseen, &left,
			   since(start, entry));
	}
	/* What the outer spans take is not known if the walk did not reach them. */
	if (ret || nesting_cut(&walk))
		return ret;
	held = otlp_held_find(&otlp->held, key);
	if (!held || held->refused)
		return 0;
	if (!held->waits)
		held->waits = calloc(1, sizeof(*held->waits));
	if (!held->waits)
		return -ENOMEM;
	otlp_held_count(&otlp->held, held);
	waits_take(&held->waits->all, &left, held->duration);
	return 0;
}

static int take_waits(struct export *export, const struct entry *entry)
{
	struct interval interval;
	struct interval_sum sum;

	if (interval_read(entry, &interval))
		return add_wait(export, entry, &interval);
	return interval_read_sum(entry, &sum) ? add_sum(export, entry, &sum) : 0;
}

/* ------------------------------------------------------------------------
 * Items
 */

static int take_event(void *context, struct visit_event *event)
{
	struct export *export = context;
	struct otlp *otlp = export->state;
	struct start *ended = event->match.ended ? event->match.span.data : NULL;
	const struct elog_item *item = &event->entry->item;
	struct ids ids, span_ids;
	struct otlp_group *group;
	struct otlp_names *names;
	int ret;

	if (!event->kind->data)
		event->kind->data = otlp_new_names(&otlp->batch, event);
	names = event->kind->data;
	ret = names ? otlp_batch_begin(&otlp->batch) : -ENOMEM;
	group = ret ? NULL : otlp_batch_group(&otlp->batch, event->entry, names->provider,
					      item->pid, process_name(event->entry));
	if (!group) {
		ret = ret ? : -ENOMEM;
		goto out;
	}
	/* What starts now is not inside of what ends now. */
	if (ended) {
		find_parent(ended);
		nesting_end(&otlp->nesting, &ended->nest);
	}
	find_ids(export, group, event, &ids);
	span_ids = ids;
	if (event->match.start)
		ret = keep_start(otlp, group, event, &span_ids);
	/* The ids that an event carries are more exact than those of its span. */
	if (!ids.span_size)
		ids = ended ? ended->ids : event->match.start ? span_ids : ids;
	ret = ret ? : put_log(otlp, group, event, &ids);
	if (!ret && ended)
		ret = hold_span(otlp, event);
	/* At the end: this may drop the definition of the event. */
	if (!ret)
		ret = take_waits(export, event->entry);
out:
	if (ended)
		free_start(otlp, ended);
	return ret;
}

static void drop_start(void *context, struct span *span)
{
	struct export *export = context;

	if (span->data)
		free_start(export->state, span->data);
	span->data = NULL;
}

static int take_loss(void *context, const struct entry *entry, uint64_t count)
{
	struct export *export = context;
	struct otlp *otlp = export->state;
	const struct elog_item *item = &entry->item;
	struct otlp_provider *provider = otlp_batch_provider(&otlp->batch, EXPORT_PROVIDER);
	struct elog_text *text;
	struct otlp_group *group;
	size_t record, from, i;
	int ret;

	ret = provider ? otlp_batch_begin(&otlp->batch) : -ENOMEM;
	group = ret ? NULL : otlp_batch_group(&otlp->batch, entry, provider, 0, "");
	if (!group)
		return ret ? : -ENOMEM;
	from = group->records[OTLP_LOGS].size;
	text = otlp_batch_open_loss(group, count ? "lost" : "invalid records",
				    wall_time(item->time, entry->wall_offset), &record);
	if (item->cpu != EVENTLOG_CPU_UNKNOWN)
		otlp_put_number(text, LOG_ATTRIBUTE, otlp_our_keys[OUR_CPU], item->cpu);
	if (item->instance)
		otlp_put_string(&otlp->batch, text, LOG_ATTRIBUTE, otlp_our_keys[OUR_INSTANCE],
				item->instance);
	otlp_put_number(text, LOG_ATTRIBUTE, "count", count);
	if (invalid_records(item))
		otlp_put_number(text, LOG_ATTRIBUTE, "invalid", invalid_records(item));
	for (i = 0; i < item->lost_count; i++)
		if (item->lost[i] && i != CAUSE_INVALID)
			otlp_put_number(text, LOG_ATTRIBUTE,
					elog_lost_name((unsigned int)i) ? : "unknown",
					item->lost[i]);
	pb_close(text, record);
	return otlp_batch_end(&otlp->batch, group, OTLP_LOGS, from);
}

/* A segment can be of another boot. */
static int take_segment(void *context, const struct entry *entry)
{
	struct export *export = context;

	(void)entry;
	return otlp_batch_send(&((struct otlp *)export->state)->batch);
}

static int take_sync(void *context, const struct entry *entry)
{
	struct export *export = context;

	(void)entry;
	return otlp_batch_send_late(&((struct otlp *)export->state)->batch);
}

/* ------------------------------------------------------------------------
 * The beginning and the end
 */

static int open_otlp(struct export *export)
{
	struct otlp *otlp = calloc(1, sizeof(*otlp));

	if (!otlp)
		return -ENOMEM;
	nesting_init(&otlp->nesting);
	elog_map_init(&otlp->equal, sizeof(uint32_t));
	otlp_held_open(&otlp->held, &otlp->batch);
	export->state = otlp;
	return otlp_batch_open(&otlp->batch, export->receiver, export->live,
			       export->settings->quiet) ? -EINVAL : 0;
}

#define RECORDS_BYTES	80

/* "3 log records and 2 spans", in a buffer of RECORDS_BYTES: there may be no memory. */
static const char *put_records(const uint64_t *records, char *buffer)
{
	snprintf(buffer, RECORDS_BYTES, "%" PRIu64 " log record%s and %" PRIu64 " span%s",
		 records[OTLP_LOGS], plural(records[OTLP_LOGS]), records[OTLP_SPANS],
		 plural(records[OTLP_SPANS]));
	return buffer;
}

static bool any(const uint64_t *records)
{
	return records[OTLP_LOGS] || records[OTLP_SPANS];
}

static void print_counts(const struct otlp_counts *counts, bool quiet)
{
	char records[RECORDS_BYTES];

	if (!quiet)
		fprintf(stderr, "elog: sent %s in %" PRIu64 " request%s, %" PRIu64 " byte%s\n",
			put_records(counts->sent, records), counts->requests,
			plural(counts->requests), counts->bytes, plural(counts->bytes));
	if (any(counts->refused))
		elog_error("the receiver refused %s", put_records(counts->refused, records));
	if (any(counts->unsent))
		elog_error("%s were not sent", put_records(counts->unsent, records));
}

/* What could not be sent so far becomes a record, too: this may fail as well. */
static int finish_otlp(struct export *export)
{
	const bool hurry = export->live || export->visit->stopped;
	struct otlp_batch *batch = &((struct otlp *)export->state)->batch;
	struct otlp_counts counts;
	int ret = 0;

	if (batch->live)
		ret = otlp_batch_put_unsent(batch);
	ret = ret ? : otlp_batch_send(batch);
	otlp_queue_finish(batch->queue, hurry, &counts);
	print_counts(&counts, export->settings->quiet);
	return ret ? : any(counts.refused) || any(counts.unsent) ? -EREMOTEIO : 0;
}

static void close_kind(struct event_kind *kind)
{
	otlp_free_names(kind->data);
}

static void close_otlp(struct export *export)
{
	struct otlp *otlp = export->state;

	if (!otlp)
		return;
	otlp_held_close(&otlp->held);
	otlp_batch_close(&otlp->batch);
	nesting_free(&otlp->nesting);
	elog_map_free(&otlp->equal);
	elog_text_free(&otlp->attributes);
	free(otlp);
}

const struct export_format export_otlp = {
	.ops = {
		.segment = take_segment,
		.event = take_event,
		.lost = take_loss,
		.drop = drop_start,
		.sync = take_sync,
	},
	.remote = true,
	.open = open_otlp,
	.finish = finish_otlp,
	.close_kind = close_kind,
	.close = close_otlp,
};
