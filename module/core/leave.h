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

/* Are programs asked to leave?  Without the lock: the answer may be out of date. */
static inline bool eventlog_domain_asks(const struct eventlog_domain *domain, u32 flag)
{
	return READ_ONCE(domain->leaving) & flag;
}

#endif /* EVENTLOG_CORE_LEAVE_H */
