/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pairs that elog latency finds, by the rule of output/pairing.h: of the same boot and
 * provider, and of the same session or what --by names.
 */
#ifndef LATENCY_PAIRS_H
#define LATENCY_PAIRS_H

#include "output/latency.h"
#include "output/latency_key.h"
#include "output/pairing.h"

#define LATENCY_PENDING		(1U << 20)	/* without --pending */
#define LATENCY_PENDING_MAX	(1U << 27)

/**
 * struct pair_settings - which pairs to look for
 * @by: what events are paired by: see latency_key.h; NULL: by session
 * @group: what pairs are grouped by; NULL: nothing
 * @slowest: how many of the slowest pairs to keep
 * @pending: how many STARTs to keep that wait for their END; 0: LATENCY_PENDING
 * @format: of values
 * @why: add up why threads did not run between START and END; events are paired by session
 */
struct pair_settings {
	const char *by;
	const char *group;
	uint32_t slowest;
	uint32_t pending;
	enum output_format format;
	bool why;
};

/**
 * struct latency_pairs - the pairs so far; to be read by anyone
 * @settings: which to look for
 * @pairing: the pending STARTs, and counts
 * @key: what events are paired by
 * @group: --group; its name is NULL without
 * @recent: durations of the pairs since the owner of this last cleared it
 * @groups: those of --group
 * @group_count: number of @groups
 * @slowest: those of --slowest; a heap, the fastest pair is first
 * @slowest_count: number of @slowest
 * @shares: of causes in all pairs, with --why
 * @bucket_shares: of the pairs in each bucket of a histogram; NULL without --why
 *
 * The rest belongs to latency_pairs.c.
 */
struct latency_pairs {
	struct pair_settings settings;
	struct pairing pairing;	/* struct latency_start, or its time only */
	struct latency_key key;
	struct latency_name group;
	struct histogram *recent;
	struct latency_group **groups;
	size_t group_count;
	struct slow_pair *slowest;
	size_t slowest_count;
	struct shares shares;
	struct shares *bucket_shares;

	struct elog_map group_map;	/* pointers to @groups */
	struct elog_map ended;		/* with --why */
};

/**
 * latency_pairs_open() - no pairs yet
 * @pairs: zeroed; close it in any case
 * @settings: which to look for; its strings outlive it
 * @by_provider: do not pair events of different providers
 * @many_files: events come from several files
 *
 * Return: 0; -EINVAL, after an error message; -ENOMEM.
 */
int latency_pairs_open(struct latency_pairs *pairs, const struct pair_settings *settings,
		       bool by_provider, bool many_files);

/** latency_pairs_close() - free what the pairs have */
void latency_pairs_close(struct latency_pairs *pairs);

/**
 * latency_pairs_end() - take an event that may be an END
 * @pairs: the pairs
 * @entry: the event
 * @is_start: it is a START, too: then it may be the first
 * @key: its key
 *
 * Return: 0 or -ENOMEM.
 */
int latency_pairs_end(struct latency_pairs *pairs, const struct entry *entry,
		      bool is_start, struct elog_map_key key);

/** latency_pairs_start() - take an event that is a START; 0 or -ENOMEM */
int latency_pairs_start(struct latency_pairs *pairs, const struct entry *entry,
			struct elog_map_key key);

/**
 * latency_pairs_interval() - take an event of the provider sched, with --why
 * @pairs: the pairs
 * @entry: the event
 * @live: where it is from; NULL: a file
 *
 * Return: 0, -ENOMEM.
 */
int latency_pairs_interval(struct latency_pairs *pairs, const struct entry *entry,
			   const struct live *live);

#endif /* LATENCY_PAIRS_H */
