/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls a function with ftrace's event_mutex held.  trace_add_event_call() and
 * trace_remove_event_call() need that mutex, but the kernel does not export it.
 *
 * The module has a trace event of its own, eventlog:eventlog_lock, and requests a perf
 * counter for it.  ftrace then calls reg() of the event's class with event_mutex held,
 * and reg() calls the function.  reg() returns an error, so that no counter is created;
 * requests by other tasks fail as well.  ftrace ignores the event otherwise.
 *
 * On kernels without perf, the module switches the event on and off, with the same
 * effect.  This also makes ftrace patch the scheduler, because it records the names of
 * tasks while an event is on.  No event is ever recorded.
 */
#ifndef EVENTLOG_TRACE_LOCK_H
#define EVENTLOG_TRACE_LOCK_H

/**
 * eventlog_trace_locked() - call a function with event_mutex held
 * @function: called once; must not take a lock under which event_mutex is taken elsewhere
 * @argument: argument of @function
 *
 * Context: process context; sleeps for some milliseconds.  The caller must serialise
 * calls.
 *
 * Return: 0; -ENODEV: @function was not called because ftrace does not know the event.
 */
int eventlog_trace_locked(void (*function)(void *argument), void *argument);

/**
 * eventlog_trace_lock_init() - initialise at module load, before the first call
 */
void eventlog_trace_lock_init(void);

/**
 * eventlog_trace_lock_exit() - clean up at module unload, after the last call
 */
void eventlog_trace_lock_exit(void);

#endif /* EVENTLOG_TRACE_LOCK_H */
