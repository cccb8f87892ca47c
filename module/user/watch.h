/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads with an entry in core/thread.h that exit or execute another program.
 *
 * What such a thread has said of itself is no longer true then, but another process that shares
 * its memory can still write to its rings, and its ids may become those of another thread.  So
 * probes on tracepoints of the kernel take its entries away.  They are registered when the first
 * thread needs one, and stay until the module is unloaded.
 */
#ifndef EVENTLOG_USER_WATCH_H
#define EVENTLOG_USER_WATCH_H

/**
 * eventlog_watch_init() - once, at load, before a file is opened
 */
void eventlog_watch_init(void);

/**
 * eventlog_watch_exit() - once, at unload; no file is open
 */
void eventlog_watch_exit(void);

/**
 * eventlog_watch() - register the probes, unless they are
 *
 * Process context, sleeps.  To be called before a thread gets an entry.
 *
 * Return: 0; -ENOMEM; -EOPNOTSUPP: the kernel lacks a tracepoint.
 */
int eventlog_watch(void);

#endif /* EVENTLOG_USER_WATCH_H */
