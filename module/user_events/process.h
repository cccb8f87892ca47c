/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What happens to processes: a child that is forked gets its parent's enablers, and an address
 * space that nothing uses any more, after exec or exit, loses them.
 *
 * Probes on tracepoints of the scheduler do or note what happened; a work item looks for
 * address spaces without users.
 */
#ifndef EVENTLOG_USER_EVENTS_PROCESS_H
#define EVENTLOG_USER_EVENTS_PROCESS_H

/**
 * ue_process_init() - find the tracepoints, at load
 *
 * Return: 0, or -ENOENT: the kernel lacks a tracepoint.
 */
int ue_process_init(void);

/**
 * ue_process_watch() - register the probes, before the first enabler is made
 *
 * The kernel patches its code to register a probe, and each fork, exec and exit calls it.  So
 * the probes are registered when user_events are used for the first time, and stay until unload.
 *
 * Process context; no lock is held.
 *
 * Return: 0, or -ENOMEM.
 */
int ue_process_watch(void);

/**
 * ue_process_exit() - unregister the probes, at unload
 */
void ue_process_exit(void);

#endif /* EVENTLOG_USER_EVENTS_PROCESS_H */
