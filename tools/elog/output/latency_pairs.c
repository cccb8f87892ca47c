// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pairs that elog latency finds: see latency_pairs.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "output/latency_pairs.h"

#define GROUPS_MAX	256	/* the last one is for all others */
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
	struct latency_group *group;	/* NULL: none */
};

/* Only the slowest pairs are printed with more than the time of their START. */
static size_t start_size(const struct pair_settings *settings)
{
	if (settings->why)
		return sizeof(struct waiting_start);
	return settings->slowest ? sizeof(struct latency_start) :
				   offsetof(struct latency_start, wall);
}

int latency_pairs_open(struct latency_pairs *pairs, const struct pair_settings *settings,
		       bool by_provider, bool many_files)
{
	int ret;

	pairs->settings = *settings;
	pairing_init(&pairs->pairing, start_size(settings), settings->pending ? settings->pending :
		     LATENCY_PENDING, many_files);
	elog_map_init(&pairs->group_map, sizeof(struct latency_group *));
	elog_map_init(&pairs->ended, sizeof(struct ended_pair));
	ret = latency_key_open(&pairs->key, settings->by, by_provider);
	if (ret)
		return ret;
	if (settings->group)
		latency_name_set(&pairs->group, settings->group);
	pairs->recent = calloc(1, sizeof(*pairs->recent));
	pairs->groups = calloc(GROUPS_MAX, sizeof(*pairs->groups));
	pairs->slowest = calloc(settings->slowest + 1, sizeof(*pairs->slowest));
	if (settings->why)
		pairs->bucket_shares = calloc(HISTOGRAM_BUCKETS, sizeof(*pairs->bucket_shares));
	return pairs->recent && pairs->groups && pairs->slowest &&
	       (pairs->bucket_shares || !settings->why) ? 0 : -ENOMEM;
}

void latency_pairs_close(struct latency_pairs *pairs)
{
	size_t i;

	pairing_free(&pairs->pairing);
	elog_map_free(&pairs->group_map);
	elog_map_free(&pairs->ended);
	for (i = 0; i < pairs->group_count; i++) {
		free(pairs->groups[i]->value);
		free(pairs->groups[i]);
	}
	for (i = 0; i < pairs->slowest_count; i++)
		free(pairs->slowest[i].by);
	latency_key_close(&pairs->key);
	latency_name_close(&pairs->group);
	free(pairs->recent);
	free(pairs->groups);
	free(pairs->slowest);
	free(pairs->bucket_shares);
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

static int take_interval(struct latency_pairs *pairs, const struct entry *entry,
			 const struct live *live, struct interval *interval)
{
	const uint64_t time = entry->item.time;
	struct latency_start *start;
	struct elog_map_key key;
	int ret;

	ret = session_key(pairs, entry, live, interval->of, &key);
	if (ret)
		return ret;
	start = elog_map_find(&pairs->pairing.pending, key);
	if (!start || time <= start->time)
		return 0;
	waits_clip(interval, time - start->time);
	waits_add(waits_of(start), interval, time);
	return 0;
}

/* Calls change() for all shares that a pair is part of. */
static void change_shares(struct latency_pairs *pairs, const struct ended_pair *pair,
			  void (*change)(struct shares *shares, const struct waits *waits,
					 uint64_t duration))
{
	change(&pairs->shares, &pair->waits, pair->duration);
	change(&pairs->bucket_shares[histogram_bucket(pair->duration)], &pair->waits,
	       pair->duration);
	if (pair->group)
		change(&pair->group->shares, &pair->waits, pair->duration);
}

/* A thread emits its sum when it leaves the session, so mostly after END. */
static int take_sum(struct latency_pairs *pairs, const struct entry *entry,
		    const struct live *live, struct interval_sum *sum)
{
	const uint64_t time = entry->item.time;
	struct latency_start *start;
	struct elog_map_key key;
	struct ended_pair *pair, before;
	int ret;

	ret = session_key(pairs, entry, live, sum->of, &key);
	if (ret)
		return ret;
	start = elog_map_find(&pairs->pairing.pending, key);
	if (start && time > start->time)
		waits_take(waits_of(start), sum, time - start->time);
	pair = elog_map_find(&pairs->ended, key);
	if (!pair)
		return 0;
	before = *pair;
	if (!waits_take(&pair->waits, sum, pair->duration))
		return 0;
	change_shares(pairs, &before, shares_remove);
	change_shares(pairs, pair, shares_add);
	return 0;
}

int latency_pairs_interval(struct latency_pairs *pairs, const struct entry *entry,
			   const struct live *live)
{
	struct interval_sum sum;
	struct interval interval;

	if (interval_read(entry, &interval))
		return take_interval(pairs, entry, live, &interval);
	return interval_read_sum(entry, &sum) ? take_sum(pairs, entry, live, &sum) : 0;
}

static int add_shares(struct latency_pairs *pairs, struct elog_map_key key,
		      const struct latency_start *start, uint64_t duration,
		      struct latency_group *group)
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
				     .group = group };
	change_shares(pairs, pair, shares_add);
	return 0;
}

/* ------------------------------------------------------------------------
 * Groups
 */

/* Return: the new group, which owns @value; NULL: no memory, @value is freed. */
static struct latency_group *new_group(struct latency_pairs *pairs,
				       struct elog_map_key key, char *value, size_t size)
{
	struct latency_group *group = calloc(1, sizeof(*group)), **entry;

	entry = group ? elog_map_insert(&pairs->group_map, key) : NULL;
	if (!entry) {
		free(value);
		free(group);
		return NULL;
	}
	group->value = value;
	group->size = size;
	*entry = group;
	pairs->groups[pairs->group_count++] = group;
	return group;
}

/* Return: the group of all other values; NULL: no memory. */
static struct latency_group *find_others(struct latency_pairs *pairs)
{
	char *value;

	if (pairs->group_count == GROUPS_MAX)
		return pairs->groups[GROUPS_MAX - 1];
	value = strdup(pairs->settings.format == FORMAT_JSON ?
		       "null,\"others\":true" : "(others)");
	/* A name's key equals none of those made of bytes. */
	return value ? new_group(pairs, elog_map_name("others", 0), value,
				 strlen(value)) : NULL;
}

/* @result: set to the group. Return: 0 or -ENOMEM. */
static int add_to_group(struct latency_pairs *pairs, const struct entry *entry,
			uint64_t duration, struct latency_group **result)
{
	struct latency_group *group, **found;
	struct elog_map_key key;
	size_t size;
	char *value;

	value = latency_name_format(&pairs->group, entry, pairs->settings.format, &size);
	if (!value)
		return -ENOMEM;
	key = elog_map_bytes(value, size);
	found = elog_map_find(&pairs->group_map, key);
	if (!found && pairs->group_count < GROUPS_MAX - 1) {
		group = new_group(pairs, key, value, size);
	} else {
		free(value);
		group = found ? *found : find_others(pairs);
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

static int add_to_slowest(struct latency_pairs *pairs, const struct entry *entry,
			  const struct latency_start *start, uint64_t duration)
{
	struct slow_pair pair = {
		.latency = duration, .number = pairs->pairing.counts.ends, .start = *start,
	};
	bool full = pairs->slowest_count == pairs->settings.slowest;

	if (full && duration <= pairs->slowest[0].latency)
		return 0;
	if (pairs->settings.by) {
		pair.by = latency_key_format(&pairs->key, entry, pairs->settings.format);
		if (!pair.by)
			return -ENOMEM;
	}
	if (full) {
		free(pairs->slowest[0].by);
		pairs->slowest[0] = pair;
		sift_down(pairs->slowest, pairs->slowest_count);
	} else {
		pairs->slowest[pairs->slowest_count++] = pair;
		sift_up(pairs->slowest, pairs->slowest_count);
	}
	return 0;
}

/* ------------------------------------------------------------------------
 * Pairs
 */

int latency_pairs_start(struct latency_pairs *pairs, const struct entry *entry,
			struct elog_map_key key)
{
	const struct elog_item *item = &entry->item;
	struct latency_start *start = pairing_start(&pairs->pairing, key, item->time);

	if (!start)
		return -ENOMEM;
	if (pairs->settings.why) {
		memset(waits_of(start), 0, sizeof(struct waits));
		waits_see(waits_of(start), item->tid, item->time);
	}
	if (!pairs->settings.slowest)
		return 0;
	start->wall = wall_time(item->time, entry->wall_offset);
	start->session = item->session;
	start->pid = item->pid;
	start->tid = item->tid;
	return 0;
}

int latency_pairs_end(struct latency_pairs *pairs, const struct entry *entry,
		      bool is_start, struct elog_map_key key)
{
	struct latency_start *start = pairing_end(&pairs->pairing, key, entry->item.time,
						  is_start);
	struct latency_group *group = NULL;
	uint64_t duration;
	int ret = 0;

	if (!start)
		return 0;
	duration = entry->item.time - start->time;
	histogram_add(pairs->recent, duration);
	if (pairs->group.name)
		ret = add_to_group(pairs, entry, duration, &group);
	if (!ret && pairs->settings.why) {
		waits_see(waits_of(start), entry->item.tid, entry->item.time);
		ret = add_shares(pairs, key, start, duration, group);
	}
	if (!ret && pairs->settings.slowest)
		ret = add_to_slowest(pairs, entry, start, duration);
	return ret;
}
