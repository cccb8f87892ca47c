/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace events: every definition, while it is alive, is also an event of
 * ftrace's, found in tracefs, for ftrace, perf and BPF programs to attach to.
 *
 * A worker adds and removes them, several at a time, since each change takes
 * ftrace's event_mutex and milliseconds.  Whether a trace event is to be there
 * is decided under domain->lock (struct eventlog_trace_event.event); whether it
 * is, the worker alone knows.
 *
 * One that somebody is attached to cannot be removed.  It stays, and if the
 * same definition comes to life again it is that definition's, with all that is
 * attached; so a program may end and be started again while it is traced.
 *
 * The structs that ftrace is given are kept until the module goes, and used for
 * the next: before 6.12 an open "format" file leads to them after the event was
 * removed.  What changes in them is changed under event_mutex.
 *
 * Order of locks: event_mutex, domain->lock.  What runs under event_mutex by
 * our doing therefore takes domain->lock at most, and nobody who holds
 * domain->lock asks for event_mutex.
 *
 * The module is pinned by what is attached, and by persistent definitions'
 * trace events: something could attach to those without our being told.
 */
#ifndef EVENTLOG_TRACE_EVENT_H
#define EVENTLOG_TRACE_EVENT_H

#include "compat.h"

#if EVENTLOG_TRACE_EVENTS

/**
 * eventlog_trace_init() - once, at load
 * @events_max: trace events there may be at a time; 0: none are made
 *
 * Return: 0 or -ENOMEM.
 */
int eventlog_trace_init(unsigned int events_max);

/**
 * eventlog_trace_exit() - once, at unload, when all definitions have ended
 *
 * Waits for what is still attached to trace events of definitions that have
 * ended only just now.
 */
void eventlog_trace_exit(void);

#else /* !EVENTLOG_TRACE_EVENTS */

static inline int eventlog_trace_init(unsigned int events_max)
{
	return 0;
}

static inline void eventlog_trace_exit(void) { }

#endif /* EVENTLOG_TRACE_EVENTS */

#endif /* EVENTLOG_TRACE_EVENT_H */
