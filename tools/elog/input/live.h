/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A run over events as they happen: a subscription with the rules that the
 * options ask for, a COMMAND if there is one, and when it is to end.
 */
#ifndef LIVE_H
#define LIVE_H

#include "util/command.h"
#include "util/tool.h"

/**
 * struct live - such a run
 * @options: the options
 * @consumer: the subscription
 * @processes: names of threads
 * @command: COMMAND
 * @started: when live_start() was called, CLOCK_MONOTONIC ns
 * @ended: when live_end() was, likewise
 * @stops_seen: for live_over()
 */
struct live {
	const struct options *options;
	struct elog_consumer *consumer;
	struct elog_processes *processes;
	struct command command;
	uint64_t started;
	uint64_t ended;
	int stops_seen;
};

/** monotonic() - CLOCK_MONOTONIC, ns */
uint64_t monotonic(void);

/** record_time() - what the clock of records says when ours, CLOCK_MONOTONIC, is at @time */
uint64_t record_time(uint64_t time);

/** wall_offset() - what CLOCK_REALTIME is ahead of the clock of records, ns */
int64_t wall_offset(void);

/**
 * live_open() - subscribe
 * @live: filled in
 * @options: what to
 * @consumer_options: rings, and a backlog, which has the names of threads told to
 *	@live; NULL: rings as --per-cpu-bytes says, and none
 *
 * Return: 0, or a negative errno, the reason being told. To be closed in any
 * case.
 */
int live_open(struct live *live, const struct options *options,
	      const struct elog_consumer_options *consumer_options);

/** live_close() - unsubscribe, free everything */
void live_close(struct live *live);

/**
 * live_start() - the clock of -d starts, and so does COMMAND
 * @live: open
 *
 * Return: 0, or an exit status, the reason being told.
 */
int live_start(struct live *live);

/**
 * live_over() - is the run to end: -d, COMMAND's end, or a signal?
 * @live: started
 *
 * With a COMMAND the first signal is for that, which may want to say something
 * at its end; the next one ends the run.
 */
bool live_over(struct live *live);

/** live_left() - milliseconds of -d that are left, no more than @most; -1: no limit */
int live_left(const struct live *live, int most);

/**
 * live_wait() - sleep until there is something to do
 * @live: started
 * @most: milliseconds; without events in the rings it lasts no longer
 * @over: set to live_over()
 *
 * Return: 1 there is something to read; 0; or a negative errno.
 */
int live_wait(struct live *live, int most, bool *over);

/**
 * flush_consumer() - elog_consumer_flush(), whatever signals interrupt it
 * @consumer: of a run, or another
 *
 * Return: 0 or a negative errno.
 */
int flush_consumer(struct elog_consumer *consumer);

/** live_end() - the run is over; COMMAND is ended, too */
void live_end(struct live *live);

/**
 * live_lost() - what the subscription has lost
 * @live: any time after live_open()
 * @stat: filled in
 * @sum: set to how many events were lost
 *
 * Return: 0, or a negative errno, the reason being told.
 */
int live_lost(struct live *live, struct eventlog_stat *stat, uint64_t *sum);

/** live_print_lost() - a note for each event of which some were lost */
void live_print_lost(struct live *live);

/**
 * rules_add() - add the rules that the options ask for
 * @consumer: the subscription
 * @options: -e, -k, -l, -s, -p, --sample
 *
 * Return: 0, or a negative errno, the reason being told.
 */
int rules_add(struct elog_consumer *consumer, const struct options *options);

/**
 * rules_add_globs() - add a rule for each of some globs
 * @consumer: the subscription
 * @globs: PROVIDER or PROVIDER/EVENT
 * @count: of @globs
 *
 * Return: as rules_add().
 */
int rules_add_globs(struct elog_consumer *consumer, const char *const *globs,
		    size_t count);

#endif /* LIVE_H */
