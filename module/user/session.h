/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sessions of threads that have no producer ring, and say with write() what they work on.
 *
 * core/thread.h has the entries.  An entry ends with its thread, with execve(), see watch.h, when
 * the file is closed, or when the thread gets a ring.
 */
#ifndef EVENTLOG_USER_SESSION_H
#define EVENTLOG_USER_SESSION_H

#include <linux/types.h>

struct eventlog_file;

/**
 * eventlog_session_write() - write() of EVENTLOG_WRITE_SESSION
 * @file: a producer
 * @message: a copy in kernel memory
 * @bytes: its size
 *
 * Return: 0; -EINVAL: the size is wrong; -EOPNOTSUPP: the file belongs to an instance; or the
 * thread has a ring of an instance, and session_of is not an event of that instance (0 is allowed);
 * or the caller is a worker of io_uring; -EDQUOT, -ENOMEM.
 */
int eventlog_session_write(struct eventlog_file *file, const u8 *message, size_t bytes);

#endif /* EVENTLOG_USER_SESSION_H */
