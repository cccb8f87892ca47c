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
#define LATENCY_KINDS_MAX	64
#define LATENCY_ROLES_MAX	(2 * LATENCY_KINDS_MAX)

/**
 * struct pair_settings - which pairs to look for
 * @by: what events are paired by: see latency_key.h; NULL: by session
 * @group: what pairs are grouped by; NULL: nothing
 * @slowest: how many of the slowest pairs to keep
 * @pending: how many STARTs to keep that wait for their END; 0: LATENCY_PENDING
 * @format: of values
 * @why: add up why threads did not run between START and END; events are paired by session
 * @spans: of any kind, instead of one START and END
 */
struct pair_settings {
	const char *by;
	const char *group;
	uint32_t slowest;
	uint32_t pending;
	enum output_format format;
	bool why;
	bool spans;
};

/**
 * struct latency_pairs - the pairs so far; to be read by anyone
 * @settings: which to look for
 * @pairing: the pending STARTs, and counts
 * @key: what events are paired by
 * @group: --group; its name is NULL without
 * @roles: of spans; or of START and of END
 * @role_count: number of @roles
 * @kinds: pairs by START and END
 * @kind_count: number of @kinds
 * @pairs: number of pairs in them
 * @left_out: there are more kinds
 *
 * The rest belongs to latency_pairs.c.
 */
struct latency_pairs {
	struct pair_settings settings;
	struct pairing pairing;	/* struct latency_start, or its time only */
	struct latency_key key;
	struct latency_name group;
	struct latency_role roles[LATENCY_ROLES_MAX];
	size_t role_count;
	struct latency_kind *kinds[LATENCY_KINDS_MAX];
	size_t kind_count;
	uint64_t pairs;
	bool left_out;

	struct elog_map ended;		/* with --why */
	size_t text_size;		/* of the names and fields of pending STARTs */
	struct elog_text text;
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

/**
 * latency_pairs_role() - find a role, or add it
 * @pairs: the pairs
 * @role: its event is allocated, and taken
 *
 * Return: the role; one that is left out if there are too many; NULL: no memory.
 */
const struct latency_role *latency_pairs_role(struct latency_pairs *pairs,
					      const struct latency_role *role);

/** latency_pairs_globs() - the pairs are those of START and END as given; 0 or -ENOMEM */
int latency_pairs_globs(struct latency_pairs *pairs, const char *start, const char *end);

/** latency_pairs_close() - free what the pairs have */
void latency_pairs_close(struct latency_pairs *pairs);

/**
 * latency_pairs_end() - take an event that may be an END
 * @pairs: the pairs
 * @entry: the event
 * @role: of the event. If it is a START, too, then it may be the first
 * @key: its key
 *
 * Return: 0 or -ENOMEM.
 */
int latency_pairs_end(struct latency_pairs *pairs, const struct entry *entry,
		      const struct latency_role *role, struct elog_map_key key);

/** latency_pairs_start() - take an event that is a START; 0 or -ENOMEM */
int latency_pairs_start(struct latency_pairs *pairs, const struct entry *entry,
			const struct latency_role *role, struct elog_map_key key);

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
