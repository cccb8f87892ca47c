/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace events: every definition of the root, and of instances that were created with
 * EVENTLOG_INSTANCE_TRACE, is also an event of ftrace while it is live.  It appears in tracefs,
 * and ftrace, perf and BPF programs can attach to it.
 *
 * A worker (worker.c) adds and removes trace events in batches, because each change
 * holds ftrace's event_mutex and takes milliseconds.  Whether a trace event should
 * exist is decided under the table's lock (struct eventlog_trace_event.event); only the
 * worker knows whether it does exist.
 *
 * A trace event cannot be removed while a tracer is attached to it.  It stays, and
 * if the same definition is made again, it gets this trace event with everything
 * that is attached.  So a program may exit and start again while it is traced.
 *
 * On kernels where removing is dangerous (compat.h), trace events are never removed while the
 * module is loaded.  They form a pool: one whose definition has ended stays, counts for its user,
 * and is found again by its key when the definition comes back.  ftrace gives an event no other
 * fields or name without removing it, so no other definition can have it.  If the pool, or the
 * user's part of it, is full, further definitions have no trace event.  The exception are
 * events of user_events: programs written for it expect names to be free again.  Their files are
 * closed before they are removed; where that is not possible, the rate of removals is limited.
 *
 * The structs that ftrace knows are kept until the module is unloaded, and are used
 * for other trace events meanwhile: before 6.12 an open "format" file refers to them
 * even after the event was removed.  Their members change under event_mutex.
 *
 * Lock order: event_mutex, the table's lock (worker.h); domain->lock, the table's lock.
 * event_mutex stops all of tracing while it is held.  So code that ftrace calls under
 * event_mutex waits for no lock but the table's, and changes only which tracers an event has;
 * what needs domain->lock follows as enable.h describes.  Code under the other locks never
 * takes event_mutex.  The table has a lock of its own because it is that of all domains.
 *
 * The longest thing done under each lock: under event_mutex, a batch of the worker, see
 * EVENTLOG_TRACE_BATCH; under the table's lock, a pass over such a batch, or over the changes
 * of enable.c.
 *
 * When an instance is deleted, its definitions lose their trace events.
 *
 * The module is pinned while a tracer is attached, and by the trace events of persistent
 * definitions, since some tracers attach without calling eventlog.  While something holds a
 * trace event that stays, ftrace pins the module itself.  So rmmod fails with EBUSY, and
 * eventlog_trace_exit() finds nothing attached that it would have to wait for.
 */
#ifndef EVENTLOG_TRACE_H
#define EVENTLOG_TRACE_H

#include <linux/types.h>

#include "compat.h"

#if EVENTLOG_TRACE_EVENTS

/**
 * eventlog_trace_init() - set the tracer's ops, once, at load
 * @events_max: limit of trace events; 0: there are none
 *
 * Return: 0 or -ENOMEM.
 */
int eventlog_trace_init(unsigned int events_max);

/**
 * eventlog_trace_exit() - once, at unload, when all definitions have ended
 *
 * Removes all trace events.  Waits for tasks that are opening files of these, for a second at
 * most: a file that is open after that is one that the kernel does not count (see compat.h), as
 * with trace events of any module.
 */
void eventlog_trace_exit(void);

#else /* !EVENTLOG_TRACE_EVENTS */

static inline int eventlog_trace_init(unsigned int events_max)
{
	return 0;
}

static inline void eventlog_trace_exit(void) { }

#endif /* EVENTLOG_TRACE_EVENTS */

#endif /* EVENTLOG_TRACE_H */
