/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What elog latency has found, and how it is printed.
 */
#ifndef LATENCY_H
#define LATENCY_H

#include "output/output.h"
#include "util/histogram.h"
#include "util/starts.h"

/**
 * struct latency_counts - what else there was
 * @starts: events that were START
 * @ends: events that were END
 * @unpaired_starts: without END, as far as it is known
 * @unpaired_ends: without START
 * @restarted: a START with one of the same key before it that had no END yet
 * @forgotten: STARTs that waited when events were lost
 * @unkeyed: events that have not what is paired by
 */
struct latency_counts {
	uint64_t starts;
	uint64_t ends;
	uint64_t unpaired_starts;
	uint64_t unpaired_ends;
	uint64_t restarted;
	uint64_t forgotten;
	uint64_t unkeyed;
};

/**
 * struct slow_pair - one of the slowest
 * @latency: ns
 * @start: the event it began with
 * @by: what --by paired it by, as the format has it; NULL: no --by
 */
struct slow_pair {
	uint64_t latency;
	struct start start;
	char *by;
};

/**
 * struct latency_group - the pairs of which END has the same value of --group
 * @value: as the format has it
 * @size: bytes of @value
 * @hash: of @value
 * @histogram: of them
 */
struct latency_group {
	char *value;
	size_t size;
	struct siphash hash;
	struct histogram histogram;
};

/**
 * struct latency_report - what is to be printed
 * @options: --format, --time, -q
 * @start: START as it was given
 * @end: END
 * @by: what is paired by, in words
 * @time: when it was made, CLOCK_MONOTONIC ns
 * @wall_offset: CLOCK_REALTIME - CLOCK_MONOTONIC then
 * @elapsed: ns it is about
 * @counts: in that time
 * @lost: events that were lost in it
 * @histogram: of the pairs
 * @groups: those of --group; sorted in place
 * @group_count: of @groups
 * @group_name: --group; NULL: there are none
 * @slowest: those of --slowest; sorted in place
 * @slowest_count: of @slowest
 */
struct latency_report {
	const struct options *options;
	const char *start;
	const char *end;
	const char *by;
	uint64_t time;
	int64_t wall_offset;
	uint64_t elapsed;
	struct latency_counts counts;
	uint64_t lost;
	const struct histogram *histogram;
	struct latency_group **groups;
	size_t group_count;
	const char *group_name;
	struct slow_pair *slowest;
	size_t slowest_count;
};

/** latency_print_header() - before the first report of several */
void latency_print_header(const struct latency_report *report,
			  struct output *output);

/** latency_print_interval() - a line about what was in an interval */
void latency_print_interval(const struct latency_report *report,
			    struct output *output);

/** latency_print() - all there is */
void latency_print(const struct latency_report *report, struct output *output);

#endif /* LATENCY_H */
