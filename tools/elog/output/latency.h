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
 */
struct latency_start {
	uint64_t time;
	int64_t wall;
	uint64_t session;
	uint32_t pid;
	uint32_t tid;
};

/**
 * struct slow_pair - one of the slowest pairs
 * @latency: ns
 * @number: of its END
 * @start: its START
 * @by: the values of --by, in the output format; NULL without --by
 */
struct slow_pair {
	uint64_t latency;
	uint64_t number;
	struct latency_start start;
	char *by;
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
 * struct latency_report - what to print
 * @settings: how to print
 * @repeated: there are reports at intervals
 * @start: START as given
 * @end: END as given
 * @by: what is paired by, in words
 * @time: time of the report, CLOCK_MONOTONIC ns
 * @wall_offset: CLOCK_REALTIME - CLOCK_MONOTONIC at @time
 * @elapsed: the time that the report covers, ns
 * @counts: events in that time
 * @lost: events lost in that time
 * @histogram: durations of the pairs
 * @groups: those of --group; printing sorts them
 * @group_count: number of @groups
 * @group_name: --group; NULL without
 * @slowest: those of --slowest; printing sorts them
 * @slowest_count: number of @slowest
 * @why: --why
 * @shares: of causes in all pairs
 * @slowest_shares: in the slowest hundredth
 */
struct latency_report {
	const struct print_settings *settings;
	bool repeated;
	const char *start;
	const char *end;
	const char *by;
	uint64_t time;
	int64_t wall_offset;
	uint64_t elapsed;
	struct pair_counts counts;
	uint64_t lost;
	const struct histogram *histogram;
	struct latency_group **groups;
	size_t group_count;
	const char *group_name;
	struct slow_pair *slowest;
	size_t slowest_count;
	bool why;
	struct shares shares;
	struct shares slowest_shares;
};

/** latency_print_header() - print what comes before the first of several reports */
void latency_print_header(const struct latency_report *report,
			  struct output *output);

/** latency_print_interval() - print a line about an interval */
void latency_print_interval(const struct latency_report *report,
			    struct output *output);

/** latency_print() - print the whole report */
void latency_print(const struct latency_report *report, struct output *output);

#endif /* LATENCY_H */
