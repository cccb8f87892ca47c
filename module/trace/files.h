/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of trace events in tracefs.  Before a trace event is removed, its files are closed:
 * they cannot be opened any more, and a task that is opening one, or has one open without a
 * reference to ftrace's struct, keeps the event.  Only on kernels where removing is unsafe
 * otherwise, see EVENTLOG_TRACE_FILES.  Within trace/ only.
 *
 * Everything is done by the worker under event_mutex, which also protects the directories
 * against changes.
 */
#ifndef EVENTLOG_TRACE_FILES_H
#define EVENTLOG_TRACE_FILES_H

#include <linux/errno.h>
#include <linux/types.h>

#include "compat.h"

#if EVENTLOG_TRACE_EVENTS

struct trace_event_call;

#if EVENTLOG_TRACE_FILES

/**
 * eventlog_trace_files_close() - make opening the files of a trace event fail
 * @call: the trace event; ftrace knows it
 *
 * Opening fails with -ENXIO, in all instances of ftrace.
 *
 * Return: 0: the event can be removed; -EBUSY: a file is in use: try again later.
 */
int eventlog_trace_files_close(struct trace_event_call *call);

/**
 * eventlog_trace_files_open() - undo eventlog_trace_files_close()
 * @call: the trace event, which stays
 */
void eventlog_trace_files_open(struct trace_event_call *call);

/**
 * eventlog_trace_files_init() - find tracefs, at load
 *
 * Return: 0, or an errno.
 */
int eventlog_trace_files_init(void);

#else /* !EVENTLOG_TRACE_FILES */

static inline int eventlog_trace_files_close(struct trace_event_call *call)
{
	return 0;
}

static inline void eventlog_trace_files_open(struct trace_event_call *call) { }

static inline int eventlog_trace_files_init(void)
{
	return 0;
}

#endif /* EVENTLOG_TRACE_FILES */

#endif /* EVENTLOG_TRACE_EVENTS */

#endif /* EVENTLOG_TRACE_FILES_H */
