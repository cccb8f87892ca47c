/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The subscriptions of a live run: that of its device, and with --instances one of each
 * instance whose name matches. Their records are merged by time. For the process's own
 * thread.
 *
 * All functions also work without --instances: then there is one subscription.
 */
#ifndef INSTANCES_H
#define INSTANCES_H

#include "util/tool.h"

struct live;

/**
 * struct member - a subscription of a live run
 * @name: of the instance; empty: the device of the run
 * @id: of the instance
 * @consumer: NULL: the instance was deleted, and everything was read
 * @trigger: a consumer of the events of --trigger; NULL: there is none, or likewise
 * @lost: then: what was lost
 * @first_stream: its streams count from here
 * @deleted: the instance was deleted
 * @complete: a batch with everything was started since then
 * @over: the batch has no more items
 * @has_head: @head is the next item of the batch
 * @head: its payload stays until the next call for the consumer
 * @flush: of the batch
 */
struct member {
	char name[EVENTLOG_INSTANCE_NAME_MAX];
	uint32_t id;
	struct elog_consumer *consumer;
	struct elog_consumer *trigger;
	struct eventlog_stat lost;
	uint32_t first_stream;
	bool deleted;
	bool complete;
	bool over;
	bool has_head;
	struct elog_item head;
	struct eventlog_flush flush;
};

/**
 * struct instances - the subscriptions of a live run
 * @members: the first is that of the device
 * @count: of @members
 * @current: has the last item of live_next()
 * @options: of all subscriptions
 * @last_id: of the last instance that was found
 * @next_stream: of the next member
 * @generation: of definitions of members that are gone
 * @failed: an instance could not be subscribed to
 */
struct instances {
	struct member **members;
	size_t count;
	struct member *current;
	struct elog_consumer_options options;
	uint32_t last_id;
	uint32_t next_stream;
	uint64_t generation;
	bool failed;
};

/* The default size of each CPU's ring with --instances: each instance has such rings. */
#define INSTANCES_RING_BYTES	(256U << 10)

#define INSTANCES_LOOK_MS	100	/* between looks for new and deleted instances */

/**
 * instances_open() - subscribe to the instances
 * @live: with its own subscription
 * @consumer_options: how to subscribe
 *
 * Return: 0, or a negative errno; the reason was printed. Call instances_close() in any case.
 */
int instances_open(struct live *live, const struct elog_consumer_options *consumer_options);

/** instances_close() - unsubscribe from all but the run's own device */
void instances_close(struct live *live);

/**
 * instances_look() - subscribe to new instances, and find out which were deleted
 * @live: open
 *
 * Errors were printed.
 */
void instances_look(struct live *live);

/** instances_wait() - as elog_consumer_wait(), for all subscriptions */
int instances_wait(struct live *live, int milliseconds);

/**
 * instances_open_trigger() - open a consumer that wakes up for the events of --trigger
 * @live: open
 * @id: of the instance; 0: the device of the run
 * @trigger: set; to be closed by the caller, also after an error
 *
 * The members have theirs.
 *
 * Return: 0 or a negative errno, as of elog_consumer_open() and rules_add_globs().
 */
int instances_open_trigger(const struct live *live, uint32_t id, struct elog_consumer **trigger);

/**
 * instances_wait_trigger() - wait for an event of --trigger
 * @live: open
 * @trigger: of the device of the run
 * @milliseconds: at most; -1: no limit
 *
 * Return: 1: there is one; 0: not yet; or as elog_consumer_wait().
 */
int instances_wait_trigger(struct live *live, struct elog_consumer *trigger, int milliseconds);

/** instances_drain_trigger() - drop all events of --trigger so far; return 0 or a negative errno */
int instances_drain_trigger(struct live *live, struct elog_consumer *trigger);

/** live_failed() - could an instance not be subscribed to? It was printed */
bool live_failed(const struct live *live);

/** live_pending() - is there anything to read? Return: as elog_consumer_pending() */
int live_pending(struct live *live);

/** live_flush() - start a batch of all subscriptions; return as elog_consumer_flush() */
int live_flush(struct live *live);

/** live_pause() - stop writing to overwriting rings; return as elog_consumer_pause() */
int live_pause(struct live *live);

/** live_resume() - continue to write to paused rings; return as elog_consumer_resume() */
int live_resume(struct live *live);

/**
 * live_next() - get the next item of the batch, in the order of times
 * @live: after live_flush() or live_pause()
 * @item: filled in, with the instance
 *
 * Return: as elog_consumer_next().
 */
int live_next(struct live *live, struct elog_item *item);

/** live_current() - the subscription that the last item is from, for its definition */
struct elog_consumer *live_current(const struct live *live);

/** live_generation() - as elog_consumer_generation(), for all subscriptions */
uint64_t live_generation(const struct live *live);

/**
 * live_stat() - add up the counts of all subscriptions, those of deleted instances included
 * @live: open
 * @stat: filled in; the caller sets its size
 *
 * Return: 0 or a negative errno.
 */
int live_stat(const struct live *live, struct eventlog_stat *stat);

/** live_member() - a subscription, below instances.count; NULL: there is none */
const struct member *live_member(const struct live *live, size_t index);

#endif /* INSTANCES_H */
