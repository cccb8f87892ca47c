/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Results of elog latency, and printing them.
 */
#ifndef LATENCY_H
#define LATENCY_H

#include "output/output.h"
#include "output/pairing.h"
#include "output/print_settings.h"
#include "output/shares.h"
#include "util/histogram.h"

/**
 * struct latency_start - a START
 * @time: CLOCK_MONOTONIC ns
 * @wall: CLOCK_REALTIME ns
 * @session: its session
 * @pid: its process
 * @tid: its thread
 * @role: of the event
 * @event: its name and its fields, in the output format; NULL: those of too many are kept
 */
struct latency_start {
	uint64_t time;
	int64_t wall;
	uint64_t session;
	uint32_t pid;
	uint32_t tid;
	const struct latency_role *role;
	char *event;
};

/**
 * struct slow_pair - one of the slowest pairs
 * @latency: ns
 * @number: of its END
 * @start: its START
 * @by: the values of --by, in the output format; NULL without --by
 * @event: the name and the fields of @start, likewise; NULL: not known
 */
struct slow_pair {
	uint64_t latency;
	uint64_t number;
	struct latency_start start;
	char *by;
	char *event;
};

/**
 * struct latency_group - the pairs whose ENDs have the same value of --group
 * @value: the value, in the output format
 * @size: bytes of @value
 * @histogram: their durations
 * @shares: of causes; empty without --why
 */
struct latency_group {
	char *value;
	size_t size;
	struct histogram histogram;
	struct shares shares;
};

/**
 * struct latency_role - what the events of a definition are
 * @start: START
 * @end: END
 * @interval: of the provider sched, with --why
 * @left_out: of a span, but there are too many kinds of them
 * @event: as given or, of spans, PROVIDER/EVENT
 * @suffix: bytes at the end of @event that are not in the name of the spans
 * @hash: of the spans, see spans.h; zero: these are not spans
 * @hash_is_known: another role has the same one
 */
struct latency_role {
	bool start;
	bool end;
	bool interval;
	bool left_out;
	char *event;
	size_t suffix;
	struct elog_map_key hash;
	bool hash_is_known;
};

/**
 * struct latency_kind - the pairs of one START and END
 * @start: START
 * @end: END
 * @recent: durations of the pairs since the owner of struct latency_pairs last cleared it
 * @total: of the intervals before
 * @groups: those of --group; printing sorts them
 * @group_count: number of @groups
 * @group_map: pointers to @groups
 * @slowest: those of --slowest; a heap, the fastest pair is first; printing sorts them
 * @slowest_count: number of @slowest
 * @shares: of causes in all pairs, with --why
 * @bucket_shares: of the pairs in each bucket of a histogram; NULL without --why
 */
struct latency_kind {
	const struct latency_role *start;
	const struct latency_role *end;
	struct histogram recent;
	struct histogram total;
	struct latency_group **groups;
	size_t group_count;
	struct elog_map group_map;
	struct slow_pair *slowest;
	size_t slowest_count;
	struct shares shares;
	struct shares *bucket_shares;
};

/**
 * struct latency_report - what to print
 * @settings: how to print
 * @repeated: there are reports at intervals
 * @spans: the pairs are those that the schemas name, instead of START and END
 * @kind: what is reported; NULL: all kinds
 * @kinds: number of kinds
 * @several: there are several, or an event without pair may be of another one
 * @by: what is paired by, in words
 * @time: time of the report, CLOCK_MONOTONIC ns
 * @wall_offset: CLOCK_REALTIME - CLOCK_MONOTONIC at @time
 * @elapsed: the time that the report covers, ns
 * @counts: events in that time
 * @lost: events lost in that time
 * @histogram: durations of the pairs
 * @group_name: --group; NULL without
 * @why: --why
 * @slowest_shares: of causes in the slowest hundredth
 */
struct latency_report {
	const struct print_settings *settings;
	bool repeated;
	bool spans;
	const struct latency_kind *kind;
	size_t kinds;
	bool several;
	const char *by;
	uint64_t time;
	int64_t wall_offset;
	uint64_t elapsed;
	struct pair_counts counts;
	uint64_t lost;
	const struct histogram *histogram;
	const char *group_name;
	bool why;
	struct shares slowest_shares;
};

/** latency_print_header() - print what comes before the first of several reports */
void latency_print_header(const struct latency_report *report,
			  struct output *output);

/** latency_print_interval() - print a line about an interval */
void latency_print_interval(const struct latency_report *report,
			    struct output *output);

/** latency_print_all() - print what comes before the reports of several kinds */
void latency_print_all(const struct latency_report *report, uint64_t pairs, struct output *output);

/** latency_print() - print the whole report of a kind */
void latency_print(const struct latency_report *report, struct output *output);

#endif /* LATENCY_H */
