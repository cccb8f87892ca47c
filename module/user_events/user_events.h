/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The front end user_events: the interface of that name of newer kernels, for programs
 * written for it, on kernels that were built without it.
 *
 * It makes user_events_data and user_events_status in tracefs.  A program registers events
 * through the first file and gives the address of a bit in its memory.  The bit is set while
 * the event is enabled, by a subscriber or a tracer.  Events of these programs are events of
 * the providers "user_events" and "user_events_multi".
 *
 *	user_events.c	load and unload
 *	tracefs.c	the files in tracefs
 *	dynamic.c	lines for user_events in dynamic_events
 *	data.c		open files user_events_data: their events, ioctls and writes
 *	status.c	user_events_status
 *	command.c	parses what a program registers
 *	event.c		events of this front end, by name
 *	enabler.c	bits in the memory of processes
 *	process.c	fork, exec and exit
 *
 * Lock order: eventlog_ue_file.lock, event_mutex of ftrace, the lock of enabler.h,
 * domain->lock.  No lock is held while the memory of a process is faulted in, because a
 * file system in user space may provide it.
 */
#ifndef EVENTLOG_USER_EVENTS_H
#define EVENTLOG_USER_EVENTS_H

#include <linux/types.h>

#include "compat.h"

#if EVENTLOG_TRACE_EVENTS

/**
 * eventlog_ue_init() - make the files, at load, after the tracer is initialised
 * @dynamic: take lines for user_events that are written to dynamic_events
 *
 * Makes none if the kernel has user_events.  If it cannot make them, it logs why: the device
 * may be open by now, so that loading must not fail any more.
 */
void eventlog_ue_init(bool dynamic);

/**
 * eventlog_ue_exit() - remove the files and clear the bits, at unload
 *
 * Before the events end.  No file is open, since each pins the module.
 */
void eventlog_ue_exit(void);

#else /* !EVENTLOG_TRACE_EVENTS */

static inline void eventlog_ue_init(bool dynamic) { }

static inline void eventlog_ue_exit(void) { }

#endif /* EVENTLOG_TRACE_EVENTS */

#endif /* EVENTLOG_USER_EVENTS_H */
