/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A live run: a subscription with the rules that the selection requests, an optional
 * COMMAND, and the conditions that end the run.
 */
#ifndef LIVE_H
#define LIVE_H

#include "input/instances.h"
#include "input/select.h"
#include "util/clock_steps.h"
#include "util/command.h"
#include "util/tool.h"

/**
 * struct live_settings - how to run, and what to print about it
 * @duration: end after this time, ns; 0: no limit
 * @ring_bytes: size of each ring; 0: the default
 * @instances: a glob: also events of these instances; NULL: only of the device
 * @triggers: events that are awaited: see names.h
 * @fields: fields that are printed: see names.h; or NULL
 * @command: COMMAND and its arguments, NULL-terminated; NULL: there is none
 * @owns_stdout: events are written to stdout, so COMMAND must not write there
 * @quiet: no warnings
 * @verbose: print more
 * @await: wait for the device: its module is being replaced
 */
struct live_settings {
	uint64_t duration;
	uint64_t ring_bytes;
	const char *instances;
	struct string_list triggers;
	const char *fields;
	char **command;
	bool owns_stdout;
	bool quiet;
	bool verbose;
	bool await;
};

/** struct live_rule - a rule of a live run */
struct live_rule {
	uint32_t id;
	const char *glob;
};

/**
 * struct live - a live run
 * @spec: what to select
 * @settings: how to run
 * @consumer: the subscription
 * @instances: with --instances: all subscriptions; else NULL
 * @processes: names of threads
 * @steps: when the clock was set; NULL: not known
 * @names: the names in the command line that no event has; NULL: there are none
 * @filter: what the kernel decides of -f; NULL: nothing
 * @undecided: other events than DECODED_GLOB bypass the filter
 * @rules: the rules, with what of -e they are for
 * @rule_count: of @rules
 * @command: COMMAND
 * @started: time of live_start(), CLOCK_MONOTONIC ns
 * @ended: time of live_end(), likewise
 * @stops_seen: number of signals that live_over() has seen
 * @deleted: the instance was deleted; its records can still be read
 * @asked: the kernel asks for the device, because the module is being replaced
 * @failed: for the caller, before live_end(): the run ends because of an error
 */
struct live {
	const struct selection_spec *spec;
	const struct live_settings *settings;
	struct elog_consumer *consumer;
	struct instances *instances;
	struct elog_processes *processes;
	struct clock_steps *steps;
	struct names *names;
	struct elog_filter *filter;
	bool undecided;
	struct live_rule *rules;
	size_t rule_count;
	struct command command;
	uint64_t started;
	uint64_t ended;
	int stops_seen;
	bool deleted;
	bool asked;
	bool failed;
};

/** monotonic() - CLOCK_MONOTONIC, ns */
uint64_t monotonic(void);

/** time_left() - milliseconds, at most @most, until @span ns have passed since @start */
int time_left(uint64_t start, uint64_t span, int most);

/** record_time() - convert CLOCK_MONOTONIC of this time namespace to the clock of records */
uint64_t record_time(uint64_t time);

/** wall_offset() - CLOCK_REALTIME minus the clock of records, ns */
int64_t wall_offset(void);

/**
 * live_open() - subscribe
 * @live: filled in
 * @spec: what to select; outlives it
 * @settings: how to run; outlive it
 * @consumer_options: size of rings and backlog; NULL: rings of @settings, no backlog
 *
 * Return: 0, or a negative errno; the reason was printed. Call live_close() in any case.
 */
int live_open(struct live *live, const struct selection_spec *spec,
	      const struct live_settings *settings,
	      const struct elog_consumer_options *consumer_options);

/** live_close() - unsubscribe and free all memory */
void live_close(struct live *live);

/**
 * live_start() - start COMMAND and the time of -d
 * @live: open
 *
 * Return: 0, or an exit status; the reason was printed.
 */
int live_start(struct live *live);

/**
 * live_over() - must the run end: -d, the end of COMMAND, a signal, a deleted instance, a module
 *	that is being replaced?
 * @live: started
 *
 * The first signal goes to COMMAND, which may emit events at its end; the second one
 * ends the run.
 */
bool live_over(struct live *live);

/** live_left() - remaining milliseconds of -d or 0 after a signal, at most @most; -1: no limit */
int live_left(const struct live *live, int most);

/**
 * live_wait() - sleep until there are events to read, or the run must end
 * @live: started
 * @most: milliseconds to sleep at most
 * @over: set to live_over()
 *
 * Return: 1 if there are events; 0; or a negative errno.
 */
int live_wait(struct live *live, int most, bool *over);

/** live_sleep() - as live_wait(), but do not wake up for records in the rings */
void live_sleep(struct live *live, int most, bool *over);

/**
 * flush_consumer() - elog_consumer_flush(), restarted after signals
 * @consumer: any consumer
 *
 * Return: 0 or a negative errno.
 */
int flush_consumer(struct elog_consumer *consumer);

/**
 * live_end() - end the run, and COMMAND
 * @live: started
 *
 * COMMAND goes on if the instance or the module went, or the run has failed: it would have gone on
 * without the run, too.
 */
void live_end(struct live *live);

/**
 * live_outlast() - wait for the end of COMMAND if live_end() did not end it
 * @live: closed by live_close()
 * @status: the exit status so far
 *
 * All files and mappings of the device must be closed: they would keep the module. Until COMMAND
 * ends, -d and signals apply to it as before.
 *
 * Return: the exit status.
 */
int live_outlast(struct live *live, int status);

/**
 * live_deleted() - did the instance or the module go? Print that it did
 *
 * Return: whether that is a failure: with COMMAND, its status counts.
 */
bool live_deleted(const struct live *live);

/** live_lost_sum() - add up the causes of losses, without invalid records */
uint64_t live_lost_sum(const struct eventlog_stat *stat);

/**
 * live_lost() - count lost events
 * @live: any time after live_open()
 * @stat: filled in
 * @sum: set to the number of lost events
 *
 * Return: 0, or a negative errno; the reason was printed.
 */
int live_lost(struct live *live, struct eventlog_stat *stat, uint64_t *sum);

/**
 * live_print_lost() - print the losses and invalid records of each event as hints
 * @live: the run
 */
void live_print_lost(struct live *live);

/**
 * print_rejected() - print how many events the filter in the kernel has rejected
 * @stat: of the subscription or of a rule
 * @glob: of the rule; "": all
 */
void print_rejected(const struct eventlog_stat *stat, const char *glob);

/** live_print_rejected() - with -v, print how many events the kernel rejected because of -f */
void live_print_rejected(struct live *live);

/**
 * rules_add() - add the rules of the selection: -e, -k, -l, -s, -p, --cgroup, --unit, --sample
 * @live: with the filter; its rules are set if @consumer is its own
 * @consumer: a subscription of @live
 *
 * Return: 0, or a negative errno; the reason was printed, except for -ENODEV.
 */
int rules_add(struct live *live, struct elog_consumer *consumer);

/**
 * rules_add_globs() - add a rule for each of some globs
 * @consumer: the subscription
 * @globs: PROVIDER or PROVIDER/EVENT
 *
 * Return: as rules_add().
 */
int rules_add_globs(struct elog_consumer *consumer, const struct string_list *globs);

#endif /* LIVE_H */
