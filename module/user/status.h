/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The status listing: what an administrator reads from /dev/eventlog.
 */
#ifndef EVENTLOG_STATUS_H
#define EVENTLOG_STATUS_H

#include <linux/fs.h>
#include <linux/types.h>

struct eventlog_domain;
struct eventlog_viewer;

/**
 * struct eventlog_status - a listing that is being read
 * @text: part of the listing
 * @room: size of @text
 * @start: position of @text in the listing
 * @bytes: size of the part
 * @descriptor: the last event that the part contains
 * @hidden: number of events up to that one that the reader may not see
 * @complete: the listing ends with the part
 *
 * Zeroed: the listing starts with the next read.  The caller's lock protects it.
 */
struct eventlog_status {
	char *text;
	size_t room;
	loff_t start;
	size_t bytes;
	unsigned long descriptor;
	unsigned int hidden;
	bool complete;
};

/**
 * eventlog_status_read() - read a piece of the list of a domain's live events and their users
 * @status: the listing; a read from position 0, or from before the current part, starts
 *	a new one
 * @domain: unlocked.  It is locked for a limited number of events at a time: what
 *	changes between the parts may be listed or not
 * @viewer: the opener of the file: it decides which events are listed, and whether their
 *	users are
 * @buffer: destination
 * @bytes: size of @buffer
 * @position: in the listing, not negative
 *
 * Process context.
 *
 * Return: the number of bytes read, 0: the listing ends there; -ENOMEM or -EINTR.
 */
ssize_t eventlog_status_read(struct eventlog_status *status, struct eventlog_domain *domain,
			     const struct eventlog_viewer *viewer, char *buffer, size_t bytes,
			     loff_t position);

/**
 * eventlog_status_free() - free what a listing has allocated
 * @status: the listing
 */
void eventlog_status_free(struct eventlog_status *status);

#endif /* EVENTLOG_STATUS_H */
