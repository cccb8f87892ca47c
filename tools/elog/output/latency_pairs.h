/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pairs that elog latency finds. A START is pending, in a table of bounded size,
 * until an END with the same key comes: of the same boot and provider, and of the same
 * session or what --by names.
 *
 * Only what is certain to be a pair is counted as one. Where events were lost, or a
 * capture began that knows nothing of what was before, the pending STARTs are
 * forgotten: the next END may belong to a START that is missing.
 */
#ifndef LATENCY_PAIRS_H
#define LATENCY_PAIRS_H

#include "output/latency.h"
#include "output/latency_key.h"

#define LATENCY_PENDING		(1U << 20)	/* without --pending */
#define LATENCY_PENDING_MAX	(1U << 27)
#define LATENCY_GAPS_MAX	4096
#define LATENCY_CAPTURES	16	/* captures with several files that are known */
#define LATENCY_CAPTURE_SIZE	20	/* their names, with NUL */

/**
 * struct latency_pairs - the pairs so far; to be read by anyone
 * @options: --group, --slowest, --pending, --format
 * @many_files: events come from several files
 * @key: what events are paired by
 * @group: --group; its name is NULL without
 * @counts: what was found
 * @recent: durations of the pairs since the owner of this last cleared it
 * @groups: those of --group
 * @group_count: number of @groups
 * @slowest: those of --slowest; a heap, the fastest pair is first
 * @slowest_count: number of @slowest
 *
 * The rest belongs to latency_pairs.c.
 */
struct latency_pairs {
	const struct options *options;
	bool many_files;
	struct latency_key key;
	struct latency_name group;
	struct latency_counts counts;
	struct histogram *recent;
	struct latency_group **groups;
	size_t group_count;
	struct slow_pair *slowest;
	size_t slowest_count;

	struct elog_map pending;	/* struct latency_start, or its time only */
	uint32_t pending_max;
	struct elog_map group_map;	/* pointers to @groups */
	int64_t gaps[LATENCY_GAPS_MAX];	/* CLOCK_REALTIME ns, the earliest last */
	size_t gap_count;
	char captures[LATENCY_CAPTURES][LATENCY_CAPTURE_SIZE];	/* a ring */
	size_t capture_count;
};

/**
 * latency_pairs_open() - no pairs yet
 * @pairs: zeroed; close it in any case
 * @options: outlive it
 * @by_provider: do not pair events of different providers
 * @many_files: events come from several files
 *
 * Return: 0; -EINVAL, after an error message; -ENOMEM.
 */
int latency_pairs_open(struct latency_pairs *pairs, const struct options *options,
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
 * latency_pairs_pass_time() - forget the pending STARTs if a capture begins by then
 * @pairs: the pairs
 * @wall: time of the next event, CLOCK_REALTIME ns
 */
void latency_pairs_pass_time(struct latency_pairs *pairs, int64_t wall);

/** latency_pairs_begin_segment() - take ELOG_ITEM_PART of a file */
void latency_pairs_begin_segment(struct latency_pairs *pairs, const struct entry *entry);

/** latency_pairs_forget() - forget the pending STARTs: events are missing */
void latency_pairs_forget(struct latency_pairs *pairs);

#endif /* LATENCY_PAIRS_H */
