/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The status listing: what an administrator reads from /dev/eventlog.
 */
#ifndef EVENTLOG_STATUS_H
#define EVENTLOG_STATUS_H

#include <linux/types.h>

struct eventlog_domain;

/**
 * eventlog_status_text() - list a domain's living events and their users
 * @domain: unlocked
 * @bytes: set to the text's size
 *
 * Process context.
 *
 * Return: the text, to be given to eventlog_free(), or NULL (no memory).
 */
char *eventlog_status_text(struct eventlog_domain *domain, size_t *bytes);

#endif /* EVENTLOG_STATUS_H */
