/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ftrace's event_mutex, which trace_add_event_call() and
 * trace_remove_event_call() need and which is not exported.
 *
 * A perf counter is asked for of a trace event of our own,
 * eventlog:eventlog_lock: ftrace then calls its class' reg() with the mutex held,
 * and there the work is done.  It says no in the end, so that there never is a
 * counter, and to everybody else; ftrace ignores the event otherwise.
 *
 * On kernels without perf the event is switched on and off again, which does the
 * same, but makes ftrace patch the scheduler, for it wants to know processes'
 * names.  Nothing is ever recorded.
 */
#ifndef EVENTLOG_TRACE_LOCK_H
#define EVENTLOG_TRACE_LOCK_H

/**
 * eventlog_trace_locked() - call a function with event_mutex held
 * @function: called once; must take no lock that is held where event_mutex may
 *	be taken
 * @argument: for it
 *
 * Process context; sleeps, some milliseconds.  One caller at a time.
 *
 * Return: 0, or -ENODEV: it was not called, ftrace does not know the event.
 */
int eventlog_trace_locked(void (*function)(void *argument), void *argument);

/**
 * eventlog_trace_lock_init() - once, at load, before the first call
 */
void eventlog_trace_lock_init(void);

/**
 * eventlog_trace_lock_exit() - once, at unload, after the last call
 */
void eventlog_trace_lock_exit(void);

#endif /* EVENTLOG_TRACE_LOCK_H */
