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
 *	enabler.c	registers bits, and writes them when their events change
 *	set.c		sets of bits, which processes share after fork
 *	mm.c		memories of processes, and their work items
 *	bit.c		writes one bit in a memory
 *	process.c	fork, exec and exit
 *
 * Lock order: eventlog_ue_file.lock; event_mutex of ftrace; mmap_lock of the caller;
 * eventlog_ue_mutex; eventlog_ue_table_lock.  None of them but mmap_lock is held while the
 * memory of a process is faulted in, because a file system in user space may provide it.
 * ue_dirty_lock is taken last, under eventlog_ue_mutex or domain->lock.
 *
 * The longest thing that is done under each lock, where users choose how much there is:
 *
 *	event_mutex		eventlog_ue_enablers_settle(), one hold of eventlog_ue_mutex
 *	eventlog_ue_mutex	about EVENTLOG_UE_BATCH bits or memories; no allocation and no
 *				page fault; besides, a look-up in a set, O(log n), and the
 *				wait for the table of users when the last reference to one
 *				goes
 *	eventlog_ue_table_lock	a look-up in a hash table; changes of lists, and up to
 *				UE_WORKS_MAX_UNLIMITED work items that are queued
 *	ue_dirty_lock		a change of a list
 *	mmap_lock		EVENTLOG_UE_BATCH bits and one page fault, in the work item of a
 *				memory; one bit and one page fault in calls of the process
 *	eventlog_ue_file.lock	a look-up in an xarray; only who has the file waits for it
 *	domain->lock		see core; a reader of user_events_status holds it while it
 *				fills a page
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
