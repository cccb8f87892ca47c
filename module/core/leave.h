/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Asking the programs of a domain to give the device up.  user/leave.c says when.
 */
#ifndef EVENTLOG_CORE_LEAVE_H
#define EVENTLOG_CORE_LEAVE_H

#include "core/types.h"

/**
 * eventlog_domain_leave() - say who is asked to leave from now on
 * @domain: not locked
 * @flags: EVENTLOG_LEAVE_*; 0: no one
 *
 * Process context.  One call at a time for all domains.
 */
void eventlog_domain_leave(struct eventlog_domain *domain, u32 flags);

/**
 * eventlog_domain_awaits() - are subscribers not back
 * @domain: the domain
 *
 * Any context.
 *
 * Return: whether fewer rules are in force than when producers and subscribers were asked to leave.
 * No longer once no one is asked.
 */
static inline bool eventlog_domain_awaits(const struct eventlog_domain *domain)
{
	return READ_ONCE(domain->rule_count) < READ_ONCE(domain->rules_awaited);
}

/**
 * eventlog_subscriber_missed() - a subscriber has left, and is back with its rules
 * @subscriber: its domain is not locked
 *
 * If it subscribed while producers were asked to leave, and had all its rules when they no longer
 * were, it has got all events since.  Otherwise one event is counted as lost for it,
 * EVENTLOG_LOST_AWAY, in place of a number that no one knows, and once.  Process context.
 *
 * Return: whether a loss was counted.
 */
bool eventlog_subscriber_missed(struct eventlog_subscriber *subscriber);

/* Are programs asked to leave?  Without the lock: the answer may be out of date. */
static inline bool eventlog_domain_asks(const struct eventlog_domain *domain, u32 flag)
{
	return READ_ONCE(domain->leaving) & flag;
}

#endif /* EVENTLOG_CORE_LEAVE_H */
