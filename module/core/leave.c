// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asking programs to give the device up: see leave.h.
 *
 * domain->leaving changes under domain->lock, together with the bytes of the status map.  Each
 * later change of a byte looks at it, see eventlog_domain_status_set().
 */
#include <linux/xarray.h>

#include "core/domain.h"
#include "core/enable.h"
#include "core/leave.h"
#include "core/subscriber.h"

/* Gives all events their bytes back.  Each is right before and after its own turn. */
static void eventlog_domain_stay(struct eventlog_domain *domain)
{
	struct eventlog_event *event;
	unsigned long descriptor;

	lockdep_assert_held(&domain->lock);
	eventlog_domain_status_stay(domain);
	xa_for_each(&domain->definitions, descriptor, event) {
		eventlog_domain_work(domain, 1);
		if (event->slot && !domain->dead)
			eventlog_enable_status_refresh(event);
		eventlog_domain_pause(domain);
	}
}

void eventlog_domain_leave(struct eventlog_domain *domain, u32 flags)
{
	u32 changed;

	eventlog_domain_lock(domain);
	changed = domain->leaving ^ flags;
	WRITE_ONCE(domain->leaving, flags);
	if (changed & EVENTLOG_LEAVE_SUBSCRIBERS)
		eventlog_subscribers_wake(domain);
	/* The bytes of a dead domain have producers call the kernel, which suffices. */
	if (changed & EVENTLOG_LEAVE_PRODUCERS && !domain->dead) {
		if (flags & EVENTLOG_LEAVE_PRODUCERS)
			eventlog_domain_status_leave(domain);
		else
			eventlog_domain_stay(domain);
	}
	eventlog_domain_unlock(domain);
}
