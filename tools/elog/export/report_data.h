/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What elog report knows of its files: counts over time, of events, processes and spans,
 * and the slowest sessions with their events. Its size is limited, whatever the files say.
 */
#ifndef REPORT_DATA_H
#define REPORT_DATA_H

#include "export/time_bins.h"
#include "export/visit.h"
#include "input/counters.h"
#include "output/waits.h"
#include "util/histogram.h"

#define REPORT_SLOWEST		15	/* sessions of a kind of spans */
#define REPORT_SESSION_EVENTS	80	/* listed of a session */
#define REPORT_SESSION_BEFORE	30	/* of these before its START */
#define REPORT_SPANS		12	/* kinds of spans */
#define REPORT_RATES		256	/* events whose rate over time is known */
#define REPORT_DAMAGES		20
#define REPORT_ROWS		200	/* of the latency over time */
#define REPORT_PARTS		4	/* of a row, to compute percentiles */
#define REPORT_CAUSES		17	/* of losses over time; the last one is for all others */

/**
 * struct report_event - events with one name
 * @kind: the first kind with this provider and name
 * @level: the most severe one; 0: unknown
 * @events: number of events
 * @bytes: bytes of payloads
 * @rate: over time, if @has_rate
 * @has_rate: @rate is counted
 * @next: the event that was seen next
 */
struct report_event {
	const struct event_kind *kind;
	unsigned int level;
	uint64_t events;
	uint64_t bytes;
	struct time_table rate;
	bool has_rate;
	struct report_event *next;
};

/**
 * struct slow_event - an event of a slow session
 * @json: its text for the page
 * @before: it is earlier than START
 */
struct slow_event {
	char *json;
	bool before;
};

/**
 * struct slow_span - one of the slowest spans
 * @span: the span
 * @provider: of its START
 * @instance: that it is of; empty: the root
 * @boot: the boot that it is of
 * @events: the session's events, in order
 * @count: number of @events
 * @before: events before START that are not listed
 * @after: others that are not listed
 * @waits: of its threads, from events of the provider sched
 * @next: another one with the same session number
 */
struct slow_span {
	struct span span;
	const char *provider;
	char instance[EVENTLOG_INSTANCE_NAME_MAX];
	char boot[40];
	struct slow_event *events;
	unsigned int count;
	uint64_t before;
	uint64_t after;
	struct waits waits;
	struct slow_span *next;
};

/**
 * struct report_span - spans with one START and END, or of one rule of --span
 * @kind: the kind of the first START; by a rule, perhaps of an END
 * @name: what these spans are called
 * @end: the kind of the first END of a pair; NULL: there is no pair yet
 * @first: the spans with this START that have another END; NULL: these are the first ones
 * @has_others: there are more ENDs, for which there is no room
 * @number: of these spans, in the order in which they were seen
 * @starts: number of STARTs, by a rule; otherwise each event with the name is one
 * @ends: number of ENDs, likewise
 * @histogram: durations
 * @table: durations over time: REPORT_PARTS for each row of histogram_edge()
 * @slowest: the slowest one first
 * @slow_count: number of @slowest
 */
struct report_span {
	const struct event_kind *kind;
	const struct span_kind *name;
	const struct event_kind *end;
	struct report_span *first;
	bool has_others;
	size_t number;
	uint64_t starts;
	uint64_t ends;
	struct histogram histogram;
	struct time_table table;
	struct slow_span slowest[REPORT_SLOWEST];
	unsigned int slow_count;
};

/**
 * struct report_file - a file
 * @name: its name
 * @host: where it was captured; NULL: unknown, likewise
 * @kernel: the kernel's release
 * @command: of the capture
 */
struct report_file {
	char *name;
	char *host;
	char *kernel;
	char *command;
};

/**
 * struct report_instance - an instance
 * @name: its name; empty: the root
 * @events: number of its events
 * @lost: its lost events by cause
 */
struct report_instance {
	char name[EVENTLOG_INSTANCE_NAME_MAX];
	uint64_t events;
	uint64_t lost[ELOG_LOST_CAUSES_MAX];
};

/**
 * struct report_data - the data
 * @settings: what is visited
 * @utc: show universal time
 * @bins: columns over time
 * @total: all events over time
 * @losses: lost events over time, REPORT_CAUSES for each column
 * @events: the first one; in the order of their first event
 * @event_count: number of @events
 * @instances: struct report_instance
 * @last_instance: that of the last event; NULL: none
 * @processes: counts of the events of each
 * @spans: kinds of spans
 * @span_count: number of @spans
 * @other_spans: kinds beyond REPORT_SPANS
 * @files: files with segments
 * @file_count: number of @files
 * @damages: descriptions of damage
 * @damage_count: number of damages, not all of which are in @damages
 * @first: CLOCK_REALTIME ns of the earliest event or loss
 * @last: of the latest one
 * @any: there was one
 *
 * The rest belongs to report_data.c.
 */
struct report_data {
	const struct visit_settings *settings;
	bool utc;
	struct time_bins bins;
	struct time_table total;
	struct time_table losses;
	struct report_event *events;
	size_t event_count;
	struct elog_map instances;
	struct report_instance *last_instance;
	struct counters *processes;
	struct report_span *spans[REPORT_SPANS];
	size_t span_count;
	size_t other_spans;
	struct report_file *files;
	size_t file_count;
	char *damages[REPORT_DAMAGES];
	size_t damage_count;
	int64_t first;
	int64_t last;
	bool any;

	struct report_event **event_end;
	size_t rate_count;
	struct elog_map event_map;	/* pointers to struct report_event */
	struct elog_map span_map;	/* pointers to struct report_span, or NULL: others */
	struct report_kind *kinds;
	uint16_t part_of[HISTOGRAM_BUCKETS];	/* of @spans' tables */
};

/**
 * struct report_kind - what a kind of events is counted as
 * @event: the event
 * @started: the spans that it starts; NULL: none, or they are not counted
 * @ended: the spans that it ends, by a rule; likewise
 * @next: the kind that was seen before
 */
struct report_kind {
	struct report_event *event;
	struct report_span *started;
	struct report_span *ended;
	struct report_kind *next;
};

/** report_ops - of a visit whose context is struct report_data */
extern const struct visit_ops report_ops;

/**
 * report_data_open() - no data yet
 * @data: set to the new data
 * @settings: what is visited; outlive it
 *
 * Return: 0 or -ENOMEM.
 */
int report_data_open(struct report_data **data, const struct visit_settings *settings);

/** report_data_close() - free it; NULL is allowed */
void report_data_close(struct report_data *data);

/**
 * report_add_slow() - keep the slowest spans, sorted; of equal ones the first
 * @slowest: those so far
 * @count: number of @slowest
 * @most: how many to keep
 * @visited: the END of a span
 *
 * Return: the new number.
 */
unsigned int report_add_slow(struct slow_span *slowest, unsigned int count, unsigned int most,
			     const struct visit_event *visited);

/** report_part_start() - the smallest duration of a part of a row */
uint64_t report_part_start(size_t part);

/** report_part() - the part of a row that counts a duration */
size_t report_part(const struct report_data *data, uint64_t duration);

/**
 * report_sessions() - list the events of the slowest sessions
 * @data: after the visit; names of its kinds are valid
 * @failed_before: visit_has_failed() of that visit
 *
 * Reads the files once more.
 *
 * Return: 0; 1 if they cannot be read any more, after a message; or a negative errno.
 */
int report_sessions(struct report_data *data, bool failed_before);

/** report_lists() - can report_sessions() read the files again? */
bool report_lists(const struct visit_settings *settings);

#endif /* REPORT_DATA_H */
