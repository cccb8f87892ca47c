/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The worker that adds trace events to ftrace and removes them.  Within trace/ only;
 * for locks see trace.h.
 */
#ifndef EVENTLOG_TRACE_WORKER_H
#define EVENTLOG_TRACE_WORKER_H

struct eventlog_domain;
struct eventlog_trace_event;

/* The domain whose events have trace events. */
extern struct eventlog_domain *const eventlog_trace_domain;

/**
 * eventlog_trace_schedule() - have the worker look at a trace event
 * @trace: the root domain is locked
 *
 * At once if the trace event should exist, otherwise a little later.
 */
void eventlog_trace_schedule(struct eventlog_trace_event *trace);

/**
 * eventlog_trace_notify_later() - have a work item notify kernel providers
 *
 * For callers that cannot wait for domain->update_lock.
 */
void eventlog_trace_notify_later(void);

#endif /* EVENTLOG_TRACE_WORKER_H */
