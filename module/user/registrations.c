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
#include "core/ioctl.h"
#include "user/file.h"
#include "user/producer.h"
#include "user/registrations.h"
#include "user/visible.h"

/* Producers that are passed while the lock is held. */
#define EVENTLOG_PRODUCERS_LOCKED 64

int eventlog_producer_enlist(struct eventlog_file *file)
{
	lockdep_assert_held(&file->lock);
	if (file->producer_id)
		return 0;
	if (!file->process)
		file->process = get_task_pid(current, PIDTYPE_TGID);
	return xa_alloc(&file->domain->producers, &file->producer_id, file, XA_LIMIT(1, S32_MAX),
			GFP_KERNEL_ACCOUNT);
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
 * Finds the first registration after the cursor, which it moves.  Under the lock, and RCU, which
 * protects registrations and their events.
 *
 * Return: 0; -ENOENT: there is none; -EAGAIN: it has passed many producers.
 */
static int eventlog_registration_find(struct eventlog_domain *domain,
				      const struct eventlog_viewer *viewer,
				      struct eventlog_registration_next *request)
{
	const struct eventlog_registration *registration;
	unsigned long producer, write_index;
	struct eventlog_file *file;
	unsigned int passed;

	for (passed = 0; passed < EVENTLOG_PRODUCERS_LOCKED; passed++) {
		producer = request->cursor >> 32;
		file = xa_find(&domain->producers, &producer, ULONG_MAX, XA_PRESENT);
		if (!file)
			return -ENOENT;
		write_index = producer == request->cursor >> 32 ? (u32)request->cursor : 0;
		registration = NULL;
		if (viewer->capable || uid_eq(viewer->uid, file->uid))
			registration = xa_find_after(&file->registrations, &write_index, ULONG_MAX,
						     XA_PRESENT);
		request->cursor = registration ? (u64)producer << 32 | write_index :
						 ((u64)producer + 1) << 32;
		if (!registration)
			continue;
		request->descriptor = registration->event->descriptor;
		request->pid = eventlog_producer_pid(file);
		request->handlers = READ_ONCE(registration->handlers);
		request->defaults = READ_ONCE(registration->defaults);
		return 0;
	}
	return -EAGAIN;
}

int eventlog_ioctl_registration_next(struct eventlog_domain *domain, struct file *filp,
				     void *argument, void __user *user)
{
	struct eventlog_registration_next *request = argument;
	struct eventlog_viewer viewer;
	int ret;

	if (request->flags)
		return -EINVAL;
	viewer = eventlog_viewer_of(domain, filp);
	do {
		xa_lock(&domain->producers);
		rcu_read_lock();
		ret = eventlog_registration_find(domain, &viewer, request);
		rcu_read_unlock();
		xa_unlock(&domain->producers);
		cond_resched();
		if (ret == -EAGAIN && fatal_signal_pending(current))
			ret = -EINTR;
	} while (ret == -EAGAIN);
	return ret ?: eventlog_argument_put(user, request, sizeof(*request));
}
