/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of trace events, and the worker that adds them to ftrace and removes them.
 * Within trace/ only; for locks see trace.h.
 */
#ifndef EVENTLOG_TRACE_WORKER_H
#define EVENTLOG_TRACE_WORKER_H

#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "core/steps.h"

struct eventlog_trace_event;

/*
 * Limits of a batch, for which event_mutex is held: trace events, and steps, of which each trace
 * event and each field is one.  A batch has at least one trace event.
 */
#define EVENTLOG_TRACE_BATCH 16
#define EVENTLOG_TRACE_BATCH_STEPS 256

/* Interval of attempts to add trace events for which there was no room. */
#define EVENTLOG_TRACE_MAKE_UP (HZ / 100)

/**
 * struct eventlog_traces - the table of trace events
 * @lock: protects the members, except @names, and those of trace events
 * @steps: of the current hold of @lock
 * @events_max: limit of trace events; constant
 * @stopping: the module is being unloaded
 * @forced: likewise, and files in use are not waited for any more
 * @working: the worker has taken a batch from @todo
 * @count: number of @all
 * @instances: how many of them count for instances
 * @free_count: number of @free
 * @unmade: live definitions without a trace event
 * @untried: the first ones of them, since a trace event became free
 * @unmade_list: all of them
 * @all: all trace events
 * @todo: for the worker
 * @free: for reuse, oldest first
 * @keys: those whose definition has ended, by that definition, except free ones
 * @groups: by their group, except free ones
 * @names: by the name that ftrace knows; the worker's
 * @queue: for the work items
 * @work: the worker
 */
struct eventlog_traces {
	struct mutex lock;
	struct eventlog_steps steps;
	unsigned int events_max;
	bool stopping;
	bool forced;
	bool working;
	unsigned int count;
	unsigned int instances;
	unsigned int free_count;
	unsigned int unmade;
	unsigned int untried;
	struct list_head unmade_list;
	struct list_head all;
	struct list_head todo;
	struct list_head free;
	DECLARE_HASHTABLE(keys, 10);
	DECLARE_HASHTABLE(groups, 10);
	DECLARE_HASHTABLE(names, 10);
	struct workqueue_struct *queue;
	struct delayed_work work;
};

extern struct eventlog_traces eventlog_traces;

/**
 * eventlog_traces_lock() - lock the table
 *
 * Holders of event_mutex wait for this lock.
 */
static inline void eventlog_traces_lock(void)
{
	mutex_lock(&eventlog_traces.lock);
	eventlog_steps_begin(&eventlog_traces.steps);
}

/**
 * eventlog_traces_unlock() - the opposite
 */
static inline void eventlog_traces_unlock(void)
{
	eventlog_steps_end(&eventlog_traces.steps, EVENTLOG_STEPS_TRACES);
	mutex_unlock(&eventlog_traces.lock);
}

/**
 * eventlog_trace_schedule() - have the worker look at a trace event
 * @trace: the table is locked
 *
 * At once if the trace event should exist, otherwise a little later; never if it stays.
 */
void eventlog_trace_schedule(struct eventlog_trace_event *trace);

#endif /* EVENTLOG_TRACE_WORKER_H */
