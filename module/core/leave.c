// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asking programs to give the device up: see leave.h.
 *
 * domain->leaving changes under domain->lock, together with the bytes of the status map.  Each
 * later change of a byte looks at it, see eventlog_domain_status_set().
 */
#include <linux/minmax.h>
#include <linux/xarray.h>

#include "core/domain.h"
#include "core/emit.h"
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

/* Producers no longer wait. */
static void eventlog_subscribers_late(struct eventlog_domain *domain)
{
	struct eventlog_subscriber *subscriber;

	list_for_each_entry(subscriber, &domain->subscribers, node)
		subscriber->in_time = min(subscriber->in_time,
					  READ_ONCE(subscriber->next_rule_id) - 1);
}

bool eventlog_subscriber_missed(struct eventlog_subscriber *subscriber)
{
	bool late;

	if (!eventlog_subscriber_has_rings(subscriber))
		return false;
	eventlog_domain_lock(subscriber->domain);
	late = !subscriber->in_time ||
	       subscriber->in_time < READ_ONCE(subscriber->next_rule_id) - 1;
	subscriber->in_time = UINT_MAX;
	eventlog_domain_unlock(subscriber->domain);
	if (late)
		eventlog_emit_lost_to(subscriber, EVENTLOG_LOST_AWAY, 1);
	return late;
}

/* @flags: who is asked to leave now. */
static void eventlog_domain_await(struct eventlog_domain *domain, u32 flags)
{
	const u32 both = EVENTLOG_LEAVE_PRODUCERS | EVENTLOG_LEAVE_SUBSCRIBERS;
	unsigned int awaited = domain->rules_awaited;

	/* If some are still away from the last time, more is the right number. */
	if ((flags & both) == both)
		awaited = max(awaited, READ_ONCE(domain->rule_count));
	WRITE_ONCE(domain->rules_awaited, flags ? awaited : 0);
}

void eventlog_domain_leave(struct eventlog_domain *domain, u32 flags)
{
	u32 changed;

	eventlog_domain_lock(domain);
	eventlog_domain_await(domain, flags);
	changed = domain->leaving ^ flags;
	WRITE_ONCE(domain->leaving, flags);
	if (changed & EVENTLOG_LEAVE_SUBSCRIBERS)
		eventlog_subscribers_wake(domain);
	if (changed & ~flags & EVENTLOG_LEAVE_PRODUCERS)
		eventlog_subscribers_late(domain);
	/* The bytes of a dead domain have producers call the kernel, which suffices. */
	if (changed & EVENTLOG_LEAVE_PRODUCERS && !domain->dead) {
		if (flags & EVENTLOG_LEAVE_PRODUCERS)
			eventlog_domain_status_leave(domain);
		else
			eventlog_domain_stay(domain);
	}
	eventlog_domain_unlock(domain);
}
