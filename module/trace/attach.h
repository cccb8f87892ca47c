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

#include <linux/types.h>

#include "compat.h"

struct eventlog_emission;
struct eventlog_event;
struct eventlog_text;
struct eventlog_trace_event;

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

/**
 * eventlog_trace_event_add() - a definition comes to life: so does its trace event, soon
 * @event: the event, its domain locked, before it is looked who wants it
 *
 * Process context.  Without memory, or when there are as many as there may be,
 * it has none.
 */
void eventlog_trace_event_add(struct eventlog_event *event);

/**
 * eventlog_trace_event_remove() - a definition ends: so does its trace event, soon
 * @event: the event, its domain locked
 *
 * Nothing is delivered to tracers any more after an RCU grace period.
 */
void eventlog_trace_event_remove(struct eventlog_event *event);

/**
 * eventlog_trace_event_persist() - a definition is persistent: its trace event pins the module
 * @event: the event, its domain locked; the module is pinned by the caller's file
 */
void eventlog_trace_event_persist(struct eventlog_event *event);

/**
 * eventlog_trace_event_attached() - is ftrace, perf or BPF attached to it
 * @event: the event, its domain locked
 *
 * Return: its trace event, for emission, or NULL.
 */
struct eventlog_trace_event *eventlog_trace_event_attached(const struct eventlog_event *event);

/**
 * eventlog_trace_event_busy() - would a tracer miss it
 * @event: the event, its domain locked
 *
 * Return: ftrace, perf or BPF is attached, or an eprobe or a trigger holds it.
 */
bool eventlog_trace_event_busy(const struct eventlog_event *event);

/**
 * eventlog_trace_status_users() - append who is attached, for the status listing
 * @text: the text
 * @trace: attached
 */
void eventlog_trace_status_users(struct eventlog_text *text,
				 const struct eventlog_trace_event *trace);

/**
 * eventlog_trace_event_lost() - how many events were too large for tracers
 * @event: its domain locked
 * @ftrace: set to those too large for ftrace
 * @perf: set to those too large for perf and BPF
 */
void eventlog_trace_event_lost(const struct eventlog_event *event, u64 *ftrace, u64 *perf);

/**
 * eventlog_trace_unmade() - how many living definitions have no trace event for want of room
 *
 * The root domain is locked.
 */
unsigned int eventlog_trace_unmade(void);

/**
 * eventlog_trace_emit() - deliver an event to tracers
 * @emission: the event
 *
 * Any context, preemption off.
 */
void eventlog_trace_emit(const struct eventlog_emission *emission);

#else /* !EVENTLOG_TRACE_EVENTS */

static inline int eventlog_trace_init(unsigned int events_max)
{
	return 0;
}

static inline void eventlog_trace_exit(void) { }
static inline void eventlog_trace_event_add(struct eventlog_event *event) { }
static inline void eventlog_trace_event_remove(struct eventlog_event *event) { }
static inline void eventlog_trace_event_persist(struct eventlog_event *event) { }

static inline struct eventlog_trace_event *
eventlog_trace_event_attached(const struct eventlog_event *event)
{
	return NULL;
}

static inline bool eventlog_trace_event_busy(const struct eventlog_event *event)
{
	return false;
}

static inline void eventlog_trace_status_users(struct eventlog_text *text,
					       const struct eventlog_trace_event *trace) { }

static inline void eventlog_trace_event_lost(const struct eventlog_event *event, u64 *ftrace,
					     u64 *perf)
{
	*ftrace = *perf = 0;
}

static inline unsigned int eventlog_trace_unmade(void)
{
	return 0;
}

static inline void eventlog_trace_emit(const struct eventlog_emission *emission) { }

#endif /* EVENTLOG_TRACE_EVENTS */

#endif /* EVENTLOG_TRACE_EVENT_H */
