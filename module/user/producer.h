/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files that are producers: their registrations and what they write.  For locks
 * see file.h.
 */
#ifndef EVENTLOG_PRODUCER_H
#define EVENTLOG_PRODUCER_H

#include <linux/types.h>

struct eventlog_file;
struct eventlog_ioctls;
struct iov_iter;
struct kiocb;

/* REGISTER, UNREGISTER and FILTER_GET. */
extern const struct eventlog_ioctls eventlog_producer_ioctls;

/**
 * eventlog_producer_init() - once, at load, before a file is opened
 * @registrations_max: limit of one file's registrations
 */
void eventlog_producer_init(unsigned int registrations_max);

/**
 * eventlog_producer_write_iter() - write(): emit an event
 * @kiocb: of a file of the device
 * @from: a message: write_index, session if the registration has one, payload
 *
 * Return: the size of the message, or an errno as eventlog(4) lists them.
 */
ssize_t eventlog_producer_write_iter(struct kiocb *kiocb, struct iov_iter *from);

/**
 * eventlog_producer_release() - end all registrations of a file
 * @file: that no one else has any more
 */
void eventlog_producer_release(struct eventlog_file *file);

#endif /* EVENTLOG_PRODUCER_H */
