/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Enabling of events to which the first tracer has attached, and disabling of those whose last
 * one has detached.  Within trace/ only; for locks see trace.h.
 *
 * ftrace reports tracers under event_mutex, which all of tracing needs.  Enabling an event
 * needs domain->lock, which processes can keep busy.  So under event_mutex this lock is only
 * tried.  If another task holds it, a work item does the rest:
 *
 *	root		ftrace waits for the work item, because a tracer would miss events.  The
 *			wait is limited, and so is the share of time that is spent waiting.
 *	instance	ftrace does not wait: only the events of this instance are late.
 *
 * Kernel providers have functions of their own, and front ends have locks of their own.  So a
 * work item always enables their events.
 */
#ifndef EVENTLOG_TRACE_ENABLE_H
#define EVENTLOG_TRACE_ENABLE_H

struct eventlog_steps;
struct eventlog_trace_event;

/**
 * eventlog_trace_enable() - enable or disable the event of a trace event
 * @trace: its first tracer has just attached, or its last one has detached
 * @steps: counts what is done, or waited for
 *
 * Under event_mutex; the table is not locked.
 */
void eventlog_trace_enable(struct eventlog_trace_event *trace, struct eventlog_steps *steps);

/**
 * eventlog_trace_enable_drop() - forget a change that a work item has not seen
 * @trace: its definition ends; the table is locked
 */
void eventlog_trace_enable_drop(struct eventlog_trace_event *trace);

/**
 * eventlog_trace_enable_settle() - wait for those who may be using the domain of a definition
 *
 * When it returns, no one uses a domain that no trace event has.  Sleeps; no lock is held.
 */
void eventlog_trace_enable_settle(void);

/**
 * eventlog_trace_enable_exit() - stop the work items, at unload
 */
void eventlog_trace_enable_exit(void);

#endif /* EVENTLOG_TRACE_ENABLE_H */
