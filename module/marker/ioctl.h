/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ioctls of markers, those of modules and those of programs.
 */
#ifndef EVENTLOG_MARKER_IOCTL_H
#define EVENTLOG_MARKER_IOCTL_H

struct eventlog_ioctls;

/* MARKER_SET, and LIST of markers and of policies; for eventlog_device_init(). */
extern const struct eventlog_ioctls eventlog_marker_ioctls;

#endif /* EVENTLOG_MARKER_IOCTL_H */
