/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files that are subscribers: their ioctls.  For locks see file.h; the subscribers
 * themselves are in core/subscriber.h.
 */
#ifndef EVENTLOG_SUBSCRIBE_H
#define EVENTLOG_SUBSCRIBE_H

struct eventlog_ioctls;

/* SUBSCRIBE, RULE_ADD, RULE_DEL, FLUSH, PAUSE and STAT. */
extern const struct eventlog_ioctls eventlog_subscribe_ioctls;

#endif /* EVENTLOG_SUBSCRIBE_H */
