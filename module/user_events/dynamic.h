/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lines for user_events in the file dynamic_events of tracefs: "u:NAME FIELDS" makes an
 * event, "-:[user_events/]NAME" deletes it.
 *
 * The kernel has no function to register these, so the write operation of that file is
 * replaced.  This is off by default.  Other lines go to the kernel, and a reader sees only
 * the kernel's events.  Called at load and unload only.
 */
#ifndef EVENTLOG_USER_EVENTS_DYNAMIC_H
#define EVENTLOG_USER_EVENTS_DYNAMIC_H

/**
 * ue_dynamic_take() - replace the write operation, if there is such a file
 *
 * tracefs is pinned.
 */
void ue_dynamic_take(void);

/**
 * ue_dynamic_restore() - restore it
 *
 * Afterwards call ue_tracefs_settle(), then ue_dynamic_put().
 */
void ue_dynamic_restore(void);

/**
 * ue_dynamic_put() - let go of the file
 */
void ue_dynamic_put(void);

#endif /* EVENTLOG_USER_EVENTS_DYNAMIC_H */
