// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pairs that elog latency finds: see latency_pairs.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "output/event_text.h"
#include "output/latency_pairs.h"

#define GROUPS_MAX	256	/* the last one is for all others */
#define TEXT_MAX	(64U << 20)
#define ENDED_MAX	65536

/* A START, with --why. */
struct waiting_start {
	struct latency_start start;
	struct waits waits;	/* so far */
};

/* A pair whose threads may still say what their short waits are in all, with --why. */
struct ended_pair {
	struct waits waits;
	uint64_t duration;
	struct latency_kind *kind;
	struct latency_group *group;	/* NULL: none */
};

/* Only the slowest pairs are printed with more than the time of their START. */
static size_t start_size(const struct pair_settings *settings)
{
	if (settings->why)
		return sizeof(struct waiting_start);
	return settings->slowest || settings->spans ? sizeof(struct latency_start) :
						      offsetof(struct latency_start, wall);
}

/* The text of a START that is not pending any longer. */
static void forget_text(struct latency_pairs *pairs, const char *event)
{
	pairs->text_size -= event ? strlen(event) + 1 : 0;
}

static void drop_start(void *context, void *dropped)
{
	struct latency_start *start = dropped;

	forget_text(context, start->event);
	free(start->event);
	start->event = NULL;
}

int latency_pairs_open(struct latency_pairs *pairs, const struct pair_settings *settings,
		       bool by_provider, bool many_files)
{
	int ret;

	pairs->settings = *settings;
	pairing_init(&pairs->pairing, start_size(settings), settings->pending ? settings->pending :
		     LATENCY_PENDING, many_files);
	elog_map_init(&pairs->ended, sizeof(struct ended_pair));
	pairs->pairing.drop = settings->slowest ? drop_start : NULL;
	pairs->pairing.context = pairs;
	ret = latency_key_open(&pairs->key, settings->by, by_provider);
	if (ret)
		return ret;
	if (settings->group)
		latency_name_set(&pairs->group, settings->group);
	return 0;
}

static void free_slow_pair(struct slow_pair *pair)
{
	free(pair->by);
	free(pair->event);
}

static void free_kind(struct latency_kind *kind)
{
	size_t i;

	elog_map_free(&kind->group_map);
	for (i = 0; i < kind->group_count; i++) {
		free(kind->groups[i]->value);
		free(kind->groups[i]);
	}
	for (i = 0; i < kind->slowest_count; i++)
		free_slow_pair(&kind->slowest[i]);
	free(kind->groups);
	free(kind->slowest);
	free(kind->bucket_shares);
	free(kind);
}

void latency_pairs_close(struct latency_pairs *pairs)
{
	size_t i;

	pairing_free(&pairs->pairing);
	elog_map_free(&pairs->ended);
	for (i = 0; i < pairs->kind_count; i++)
		free_kind(pairs->kinds[i]);
	for (i = 0; i < pairs->role_count; i++)
		free(pairs->roles[i].event);
	latency_key_close(&pairs->key);
	latency_name_close(&pairs->group);
	elog_text_free(&pairs->text);
}

/* ------------------------------------------------------------------------
 * Kinds
 */

const struct latency_role *latency_pairs_role(struct latency_pairs *pairs,
					      const struct latency_role *role)
{
	static const struct latency_role left_out = { .left_out = true };
	bool hash_is_known = false;
	struct latency_role *other;
	size_t i;

	for (i = 0; role->event && i < pairs->role_count; i++) {
		other = &pairs->roles[i];
		if (memcmp(&other->hash, &role->hash, sizeof(role->hash)))
			continue;
		hash_is_known = true;
		if (other->start == role->start && !strcmp(other->event, role->event)) {
			free(role->event);
			return other;
		}
	}
	if (!role->event)
		return NULL;
	if (pairs->role_count == LATENCY_ROLES_MAX) {
		free(role->event);
		return &left_out;
	}
	other = &pairs->roles[pairs->role_count++];
	*other = *role;
	other->hash_is_known = hash_is_known;
	return other;
}

/* Return: the kind; NULL: no memory, or @pairs->left_out is set. */
static struct latency_kind *get_kind(struct latency_pairs *pairs, const struct latency_role *start,
				     const struct latency_role *end)
{
	const struct pair_settings *settings = &pairs->settings;
	struct latency_kind *kind;
	size_t i;

	for (i = 0; i < pairs->kind_count; i++)
		if (pairs->kinds[i]->start == start && pairs->kinds[i]->end == end)
			return pairs->kinds[i];
	pairs->left_out |= i == LATENCY_KINDS_MAX;
	kind = i < LATENCY_KINDS_MAX ? calloc(1, sizeof(*kind)) : NULL;
	if (!kind)
		return NULL;
	pairs->kinds[pairs->kind_count++] = kind;
	kind->start = start;
	kind->end = end;
	elog_map_init(&kind->group_map, sizeof(struct latency_group *));
	kind->groups = calloc(GROUPS_MAX, sizeof(*kind->groups));
	kind->slowest = calloc(settings->slowest + 1, sizeof(*kind->slowest));
	if (settings->why)
		kind->bucket_shares = calloc(HISTOGRAM_BUCKETS, sizeof(*kind->bucket_shares));
	return kind->groups && kind->slowest && (kind->bucket_shares || !settings->why) ? kind :
	       NULL;
}

int latency_pairs_globs(struct latency_pairs *pairs, const char *start, const char *end)
{
	const struct latency_role roles[] = {
		{ .start = true, .event = strdup(start) }, { .end = true, .event = strdup(end) },
	};
	const struct latency_role *known[] = {
		latency_pairs_role(pairs, &roles[0]), latency_pairs_role(pairs, &roles[1]),
	};

	return known[0] && known[1] && get_kind(pairs, known[0], known[1]) ? 0 : -ENOMEM;
}

/* ------------------------------------------------------------------------
 * Why
 */

static struct waits *waits_of(const struct latency_start *start)
{
	return &((struct waiting_start *)(uintptr_t)start)->waits;
}

/* May drop the definition of the event. Return: 0 or -ENOMEM. */
static int session_key(struct latency_pairs *pairs, const struct entry *entry,
		       const struct live *live, uint32_t of, struct elog_map_key *key)
{
	return latency_key_session(&pairs->key, entry, interval_provider(entry, live, of),
				   entry->item.session, key);
}

static void take_interval(struct latency_pairs *pairs, const struct entry *entry,
			  struct interval interval, struct elog_map_key key)
{
	const uint64_t time = entry->item.time;
	struct latency_start *start = elog_map_find(&pairs->pairing.pending, key);

	if (!start || time <= start->time)
		return;
	waits_clip(&interval, time - start->time);
	waits_add(waits_of(start), &interval, time);
}

/* Calls change() for all shares that a pair is part of. */
static void change_shares(const struct ended_pair *pair,
			  void (*change)(struct shares *shares, const struct waits *waits,
					 uint64_t duration))
{
	change(&pair->kind->shares, &pair->waits, pair->duration);
	change(&pair->kind->bucket_shares[histogram_bucket(pair->duration)], &pair->waits,
	       pair->duration);
	if (pair->group)
		change(&pair->group->shares, &pair->waits, pair->duration);
}

/* A thread emits its sum when it leaves the session, so mostly after END. */
static void take_sum(struct latency_pairs *pairs, const struct entry *entry,
		     struct interval_sum sum, struct elog_map_key key)
{
	const uint64_t time = entry->item.time;
	struct latency_start *start = elog_map_find(&pairs->pairing.pending, key);
	struct ended_pair *pair, before;

	if (start && time > start->time)
		waits_take(waits_of(start), &sum, time - start->time);
	pair = elog_map_find(&pairs->ended, key);
	if (!pair)
		return;
	before = *pair;
	if (!waits_take(&pair->waits, &sum, pair->duration))
		return;
	change_shares(&before, shares_remove);
	change_shares(pair, shares_add);
}

int latency_pairs_interval(struct latency_pairs *pairs, const struct entry *entry,
			   const struct live *live)
{
	struct interval_sum sum;
	struct interval interval;
	const bool is_interval = interval_read(entry, &interval);
	struct elog_map_key session, key;
	size_t i;
	int ret;

	if (!is_interval && !interval_read_sum(entry, &sum))
		return 0;
	ret = session_key(pairs, entry, live, is_interval ? interval.of : sum.of, &session);
	/* A session may have spans of several kinds at the same time. */
	for (i = 0; !ret && i < pairs->role_count; i++) {
		if (pairs->roles[i].hash_is_known)
			continue;
		key = latency_key_span(session, pairs->roles[i].hash);
		if (is_interval)
			take_interval(pairs, entry, interval, key);
		else
			take_sum(pairs, entry, sum, key);
	}
	return ret;
}

static int add_shares(struct latency_pairs *pairs, struct elog_map_key key,
		      const struct latency_start *start, uint64_t duration,
		      struct latency_kind *kind, struct latency_group *group)
{
	struct ended_pair *pair = elog_map_find(&pairs->ended, key);

	if (pair) {
		elog_map_touch(&pairs->ended, pair);
	} else {
		if (pairs->ended.count == ENDED_MAX)
			elog_map_remove(&pairs->ended, elog_map_first(&pairs->ended));
		pair = elog_map_insert(&pairs->ended, key);
		if (!pair)
			return -ENOMEM;
	}
	*pair = (struct ended_pair){ .waits = *waits_of(start), .duration = duration,
				     .kind = kind, .group = group };
	change_shares(pair, shares_add);
	return 0;
}

/* ------------------------------------------------------------------------
 * Groups
 */

/* Return: the new group, which owns @value; NULL: no memory, @value is freed. */
static struct latency_group *new_group(struct latency_kind *kind,
				       struct elog_map_key key, char *value, size_t size)
{
	struct latency_group *group = calloc(1, sizeof(*group)), **entry;

	entry = group ? elog_map_insert(&kind->group_map, key) : NULL;
	if (!entry) {
		free(value);
		free(group);
		return NULL;
	}
	group->value = value;
	group->size = size;
	*entry = group;
	kind->groups[kind->group_count++] = group;
	return group;
}

/* Return: the group of all other values; NULL: no memory. */
static struct latency_group *find_others(struct latency_pairs *pairs, struct latency_kind *kind)
{
	char *value;

	if (kind->group_count == GROUPS_MAX)
		return kind->groups[GROUPS_MAX - 1];
	value = strdup(pairs->settings.format == FORMAT_JSON ?
		       "null,\"others\":true" : "(others)");
	/* A name's key equals none of those made of bytes. */
	return value ? new_group(kind, elog_map_name("others", 0), value,
				 strlen(value)) : NULL;
}

/* @result: set to the group. Return: 0 or -ENOMEM. */
static int add_to_group(struct latency_pairs *pairs, struct latency_kind *kind,
			const struct entry *entry, uint64_t duration,
			struct latency_group **result)
{
	struct latency_group *group, **found;
	struct elog_map_key key;
	size_t size;
	char *value;

	value = latency_name_format(&pairs->group, entry, pairs->settings.format, &size);
	if (!value)
		return -ENOMEM;
	key = elog_map_bytes(value, size);
	found = elog_map_find(&kind->group_map, key);
	if (!found && kind->group_count < GROUPS_MAX - 1) {
		group = new_group(kind, key, value, size);
	} else {
		free(value);
		group = found ? *found : find_others(pairs, kind);
	}
	if (!group)
		return -ENOMEM;
	histogram_add(&group->histogram, duration);
	*result = group;
	return 0;
}

/* ------------------------------------------------------------------------
 * The slowest
 */

static void swap_pairs(struct slow_pair *one, struct slow_pair *other)
{
	const struct slow_pair pair = *one;

	*one = *other;
	*other = pair;
}

/* Of equal ones the first is slower, as in the report. */
static bool is_faster(const struct slow_pair *one, const struct slow_pair *other)
{
	return one->latency != other->latency ? one->latency < other->latency :
	       one->number > other->number;
}

static void sift_down(struct slow_pair *heap, size_t count)
{
	size_t at = 0, child;

	for (;;) {
		child = 2 * at + 1;
		if (child + 1 < count && is_faster(&heap[child + 1], &heap[child]))
			child++;
		if (child >= count || is_faster(&heap[at], &heap[child]))
			return;
		swap_pairs(&heap[at], &heap[child]);
		at = child;
	}
}

static void sift_up(struct slow_pair *heap, size_t count)
{
	size_t at = count - 1, parent;

	for (; at; at = parent) {
		parent = (at - 1) / 2;
		if (is_faster(&heap[parent], &heap[at]))
			return;
		swap_pairs(&heap[at], &heap[parent]);
	}
}

/* Takes the text of @start. */
static int add_to_slowest(struct latency_pairs *pairs, struct latency_kind *kind,
			  const struct entry *entry, struct latency_start *start,
			  uint64_t duration)
{
	struct slow_pair pair = {
		.latency = duration, .number = pairs->pairing.counts.ends, .start = *start,
		.event = start->event,
	};
	bool full = kind->slowest_count == pairs->settings.slowest;

	start->event = NULL;
	forget_text(pairs, pair.event);
	if (full && duration <= kind->slowest[0].latency) {
		free_slow_pair(&pair);
		return 0;
	}
	if (pairs->settings.by) {
		pair.by = latency_key_format(&pairs->key, entry, pairs->settings.format);
		if (!pair.by) {
			free_slow_pair(&pair);
			return -ENOMEM;
		}
	}
	if (full) {
		free_slow_pair(&kind->slowest[0]);
		kind->slowest[0] = pair;
		sift_down(kind->slowest, kind->slowest_count);
	} else {
		kind->slowest[kind->slowest_count++] = pair;
		sift_up(kind->slowest, kind->slowest_count);
	}
	return 0;
}

/* ------------------------------------------------------------------------
 * Pairs
 */

/* What the event is, for the list of the slowest ones. */
static int describe(struct latency_pairs *pairs, const struct entry *entry,
		    struct latency_start *start)
{
	struct elog_text *text = &pairs->text;

	text->size = 0;
	if (pairs->settings.format == FORMAT_JSON) {
		put_event_json(text, entry);
	} else {
		put_event_name(text, entry->cached->event);
		if (entry->cached->event->field_count)
			elog_text_string(text, " ");
		put_event_fields(text, entry);
	}
	if (text->error)
		return text->error;
	if (pairs->text_size + text->size >= TEXT_MAX)
		return 0;
	start->event = strndup(text->data, text->size);
	if (!start->event)
		return -ENOMEM;
	pairs->text_size += strlen(start->event) + 1;
	return 0;
}

int latency_pairs_start(struct latency_pairs *pairs, const struct entry *entry,
			const struct latency_role *role, struct elog_map_key key)
{
	const struct elog_item *item = &entry->item;
	struct latency_start *start = pairing_start(&pairs->pairing, key, item->time);

	if (!start)
		return -ENOMEM;
	if (pairs->settings.why) {
		memset(waits_of(start), 0, sizeof(struct waits));
		waits_see(waits_of(start), item->tid, item->time);
	}
	if (pairs->settings.spans || pairs->settings.slowest)
		start->role = role;
	if (!pairs->settings.slowest)
		return 0;
	start->wall = wall_time(item->time, entry->wall_offset);
	start->session = item->session;
	start->pid = item->pid;
	start->tid = item->tid;
	return describe(pairs, entry, start);
}

static int add_pair(struct latency_pairs *pairs, const struct entry *entry,
		    struct elog_map_key key, struct latency_start *start,
		    struct latency_kind *kind)
{
	const uint64_t duration = entry->item.time - start->time;
	struct latency_group *group = NULL;
	int ret = 0;

	pairs->pairs++;
	histogram_add(&kind->recent, duration);
	if (pairs->group.name)
		ret = add_to_group(pairs, kind, entry, duration, &group);
	if (!ret && pairs->settings.why) {
		waits_see(waits_of(start), entry->item.tid, entry->item.time);
		ret = add_shares(pairs, key, start, duration, kind, group);
	}
	if (!ret && pairs->settings.slowest)
		ret = add_to_slowest(pairs, kind, entry, start, duration);
	return ret;
}

int latency_pairs_end(struct latency_pairs *pairs, const struct entry *entry,
		      const struct latency_role *role, struct elog_map_key key)
{
	struct latency_start *start = pairing_end(&pairs->pairing, key, entry->item.time,
						  role->start);
	struct latency_kind *kind;
	int ret;

	if (!start)
		return 0;
	kind = pairs->settings.spans ? get_kind(pairs, start->role, role) : pairs->kinds[0];
	if (kind)
		ret = add_pair(pairs, entry, key, start, kind);
	else
		ret = pairs->kind_count == LATENCY_KINDS_MAX ? 0 : -ENOMEM;
	/* Unless it is one of the slowest ones. */
	if (pairs->settings.slowest)
		drop_start(pairs, start);
	return ret;
}
