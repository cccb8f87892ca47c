/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ftrace's event_mutex, which trace_add_event_call() and
 * trace_remove_event_call() need and which is not exported.
 *
 * A trace event of our own, eventlog:eventlog_lock, is switched on and off
 * again; ftrace then calls its class' reg() with the mutex held, and there the
 * work is done.  Nothing is ever recorded by it.
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

#endif /* EVENTLOG_TRACE_LOCK_H */
