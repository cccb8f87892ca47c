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
 * On kernels where removing is dangerous (compat.h), trace events of processes always stay
 * for a long time after their events have ended: they are idle.  Idle ones count for their
 * users, so their number is limited.  None is removed early to make room, because a process
 * could then cause removals as often as it likes.  The exception is one whose name another
 * definition needs; the rate of such removals is limited.
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
 * When an instance is deleted, its definitions lose their trace events, which are removed as
 * soon as nothing is attached to them.
 *
 * The module is pinned while a tracer is attached, and by the trace events of
 * persistent definitions, since some tracers attach without calling eventlog.
 */
#ifndef EVENTLOG_TRACE_H
#define EVENTLOG_TRACE_H

#include "compat.h"

#if EVENTLOG_TRACE_EVENTS

/**
 * eventlog_trace_init() - set the tracer's ops, once, at load
 * @events_max: limit of trace events; 0: there are none
 * @idle: seconds that a process's trace event stays after the end of its event; may change
 *
 * Return: 0 or -ENOMEM.
 */
int eventlog_trace_init(unsigned int events_max, const unsigned int *idle);

/**
 * eventlog_trace_exit() - once, at unload, when all definitions have ended
 *
 * Waits for tracers that are still attached to trace events of definitions which
 * have just ended.
 */
void eventlog_trace_exit(void);

#else /* !EVENTLOG_TRACE_EVENTS */

static inline int eventlog_trace_init(unsigned int events_max, const unsigned int *idle)
{
	return 0;
}

static inline void eventlog_trace_exit(void) { }

#endif /* EVENTLOG_TRACE_EVENTS */

#endif /* EVENTLOG_TRACE_H */
