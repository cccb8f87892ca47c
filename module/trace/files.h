/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of trace events in tracefs.  Before a trace event is removed, its files are closed:
 * those that do not refer to ftrace's struct fail from then on, also if they are open, and the
 * others cannot be opened.  This is done only on kernels where removing is unsafe otherwise, see
 * EVENTLOG_TRACE_FILES.
 *
 * Within trace/ only.  Everything is done by the worker under event_mutex, which also protects
 * the directories against changes.
 */
#ifndef EVENTLOG_TRACE_FILES_H
#define EVENTLOG_TRACE_FILES_H

#include <linux/types.h>

#include "compat.h"

struct trace_event_call;

#if EVENTLOG_TRACE_EVENTS && EVENTLOG_TRACE_FILES

/**
 * eventlog_trace_files_close() - close the files of a trace event, in all instances of ftrace
 * @call: the trace event; ftrace knows it
 *
 * Opening a file fails with -ENXIO, and using an open trigger or format file with -ENODEV.
 *
 * Return: whether the event can be removed: a task that is opening a file needs ftrace's struct.
 */
bool eventlog_trace_files_close(struct trace_event_call *call);

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

#else /* !EVENTLOG_TRACE_EVENTS || !EVENTLOG_TRACE_FILES */

static inline bool eventlog_trace_files_close(struct trace_event_call *call)
{
	return true;
}

static inline void eventlog_trace_files_open(struct trace_event_call *call) { }

static inline int eventlog_trace_files_init(void)
{
	return 0;
}

#endif /* EVENTLOG_TRACE_EVENTS && EVENTLOG_TRACE_FILES */

#endif /* EVENTLOG_TRACE_FILES_H */
