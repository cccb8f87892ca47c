// SPDX-License-Identifier: GPL-2.0-only
/*
 * Listing registrations: see registrations.h.
 */
#include <linux/lockdep.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/xarray.h>

#include "core/domain.h"
#include "core/event.h"
#include "core/list.h"
#include "user/file.h"
#include "user/producer.h"
#include "user/registrations.h"
#include "user/visible.h"

/* Registrations, and producers without any, that are passed while the lock is held. */
#define EVENTLOG_PRODUCERS_LOCKED 64

int eventlog_producer_enlist(struct eventlog_file *file)
{
	u32 id;
	int ret;

	lockdep_assert_held(&file->lock);
	/* No one reads @process before the first registration is complete. */
	if (file->role != EVENTLOG_ROLE_PRODUCER) {
		put_pid(file->process);
		file->process = get_task_pid(current, PIDTYPE_TGID);
	}
	if (file->producer_id)
		return 0;
	/* On errors, xa_alloc() may have set a number that belongs to no one. */
	ret = xa_alloc(&file->domain->producers, &id, file, XA_LIMIT(1, S32_MAX),
		       GFP_KERNEL_ACCOUNT);
	if (ret)
		return ret;
	file->producer_id = id;
	return 0;
}

void eventlog_producer_delist(struct eventlog_file *file)
{
	if (file->producer_id)
		xa_erase(&file->domain->producers, file->producer_id);
	put_pid(file->process);
}

/* The process of a producer in the caller's pid namespace; 0: it is not there, or has ended. */
static u32 eventlog_producer_pid(const struct eventlog_file *file)
{
	if (!pid_task(file->process, PIDTYPE_TGID))
		return 0;
	return pid_nr_ns(file->process, task_active_pid_ns(current));
}

/*
 * Adds registrations.  Their keys are the number of the producer, and the index.  Under the lock,
 * and RCU, which protects registrations and their events.
 *
 * Return: 1; 0: there are no more; -ENOSPC: there is no room for the next one.
 */
static int eventlog_registrations_put(struct eventlog_batch *batch, struct eventlog_domain *domain,
				      const struct eventlog_viewer *viewer)
{
	const struct eventlog_registration *registration;
	struct eventlog_registration_info info;
	unsigned long producer, write_index;
	struct eventlog_file *file;
	unsigned int passed;

	for (passed = 0; passed < EVENTLOG_PRODUCERS_LOCKED; passed++) {
		producer = batch->cursor >> 32;
		file = xa_find(&domain->producers, &producer, ULONG_MAX, XA_PRESENT);
		if (!file)
			return 0;
		write_index = producer == batch->cursor >> 32 ? (u32)batch->cursor : 0;
		registration = NULL;
		if (viewer->capable || uid_eq(viewer->uid, file->uid))
			registration = xa_find_after(&file->registrations, &write_index, ULONG_MAX,
						     XA_PRESENT);
		if (!registration) {
			batch->cursor = ((u64)producer + 1) << 32;
			continue;
		}
		info = (struct eventlog_registration_info){
			.descriptor = registration->event->descriptor,
			.pid = eventlog_producer_pid(file),
			.handlers = READ_ONCE(registration->handlers),
			.defaults = READ_ONCE(registration->defaults),
		};
		if (!eventlog_batch_put(batch, &info, sizeof(info), NULL))
			return -ENOSPC;
		batch->cursor = (u64)producer << 32 | write_index;
	}
	return 1;
}

static int eventlog_registrations_fill(struct eventlog_batch *batch,
				       struct eventlog_domain *domain, struct file *filp,
				       const struct eventlog_list *request)
{
	const struct eventlog_viewer viewer = eventlog_viewer_of(domain, filp);
	unsigned int looked_at;
	int ret = 1;

	for (looked_at = 0; ret > 0 && looked_at < EVENTLOG_LIST_CALL;
	     looked_at += EVENTLOG_PRODUCERS_LOCKED) {
		xa_lock(&domain->producers);
		rcu_read_lock();
		ret = eventlog_registrations_put(batch, domain, &viewer);
		rcu_read_unlock();
		xa_unlock(&domain->producers);
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	return ret == -ENOSPC ? 1 : ret;
}

const struct eventlog_list_ops eventlog_registrations_list = {
	.fill = eventlog_registrations_fill,
};
