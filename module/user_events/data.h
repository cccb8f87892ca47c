/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Open files user_events_data, and user_events_status.
 *
 * ue_file.lock, a mutex, protects the file's table of events.  Writers read the
 * table under RCU.  An event stays in it until the file is released.
 */
#ifndef EVENTLOG_USER_EVENTS_DATA_H
#define EVENTLOG_USER_EVENTS_DATA_H

struct file_operations;

extern const struct file_operations ue_data_operations;
extern const struct file_operations ue_status_operations;

#endif /* EVENTLOG_USER_EVENTS_DATA_H */
