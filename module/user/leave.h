/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * LEAVE and MISSED: programs give the device up, so that the module can be unloaded.
 *
 * One file at a time asks.  A mutex serialises what it asks for: it is held while the status maps
 * of all domains change, which only root can bring about.
 */
#ifndef EVENTLOG_USER_LEAVE_H
#define EVENTLOG_USER_LEAVE_H

#include <linux/types.h>

struct eventlog_file;
struct eventlog_ioctls;

extern const struct eventlog_ioctls eventlog_leave_ioctls;

/**
 * eventlog_leave_release() - a file is closed: it asks for nothing any more
 * @file: of any role
 */
void eventlog_leave_release(const struct eventlog_file *file);

/**
 * eventlog_leave_lingers() - is the module about to be unloaded?
 *
 * Any context.  If so, open() fails: programs that look whether they may come back would keep it.
 */
bool eventlog_leave_lingers(void);

/**
 * eventlog_leave_hold() - at load: producers wait for subscribers
 *
 * As after a LEAVE for producers whose file was closed, but for 10 seconds.
 */
void eventlog_leave_hold(void);

/** eventlog_leave_exit() - at unload: no file is open */
void eventlog_leave_exit(void);

#endif /* EVENTLOG_USER_LEAVE_H */
