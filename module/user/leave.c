// SPDX-License-Identifier: GPL-2.0-only
/*
 * Giving the device up: see leave.h, and core/leave.h.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/user_namespace.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "core/domain.h"
#include "core/emit.h"
#include "core/ioctl.h"
#include "core/leave.h"
#include "core/subscriber.h"
#include "user/file.h"
#include "user/instance.h"
#include "user/leave.h"
#include "user/producer.h"

#define EVENTLOG_LEAVE_ALL \
	(EVENTLOG_LEAVE_PRODUCERS | EVENTLOG_LEAVE_SUBSCRIBERS | EVENTLOG_LEAVE_LINGER)

static void eventlog_leave_lingered(struct work_struct *work);

/* How long producers wait for subscribers that were asked to leave, and how often we look. */
#define EVENTLOG_LEAVE_RETURN (10 * HZ)
#define EVENTLOG_LEAVE_LOOK (HZ / 50)

/* How many events of a registration MISSED counts at most. */
#define EVENTLOG_MISSED_MAX S32_MAX

static DEFINE_MUTEX(eventlog_leave_lock);
/* The file that asks, or NULL; under the lock, and read without it. */
static const struct eventlog_file *eventlog_leave_asker;
/* What it asks for, or did before it was closed; likewise. */
static u32 eventlog_leave_flags;
/* How long producers wait for subscribers at most, jiffies; under the lock. */
static unsigned long eventlog_leave_until;
/* Pending: no file asks, but the request of one that was closed goes on. */
static DECLARE_DELAYED_WORK(eventlog_leave_work, eventlog_leave_lingered);

/* @file: NULL: no file asks any more. */
static void eventlog_leave_set(const struct eventlog_file *file, u32 flags)
{
	lockdep_assert_held(&eventlog_leave_lock);
	WRITE_ONCE(eventlog_leave_asker, file);
	WRITE_ONCE(eventlog_leave_flags, flags);
	flags &= ~EVENTLOG_LEAVE_LINGER;
	eventlog_domain_leave(&eventlog_root_domain, flags);
	eventlog_instances_leave(flags);
}

/*
 * No file asks any more.  Subscribers come back, and then producers: what a producer emitted
 * before would be missing in a subscriber that is not back, and counted nowhere.
 */
static void eventlog_leave_end(void)
{
	const bool wait = time_before(jiffies, eventlog_leave_until) &&
			  (eventlog_domain_awaits(&eventlog_root_domain) ||
			   eventlog_instances_await());

	lockdep_assert_held(&eventlog_leave_lock);
	eventlog_leave_set(NULL, wait ? EVENTLOG_LEAVE_PRODUCERS : 0);
	if (wait)
		mod_delayed_work(system_wq, &eventlog_leave_work, EVENTLOG_LEAVE_LOOK);
}

static void eventlog_leave_end_now(void)
{
	eventlog_leave_until = jiffies + EVENTLOG_LEAVE_RETURN;
	eventlog_leave_end();
}

/* Time has passed, unless another file has asked meanwhile. */
static void eventlog_leave_lingered(struct work_struct *work)
{
	mutex_lock(&eventlog_leave_lock);
	if (eventlog_leave_lingers())
		eventlog_leave_end_now();
	else if (!eventlog_leave_asker)
		eventlog_leave_end();
	mutex_unlock(&eventlog_leave_lock);
}

static int eventlog_ioctl_leave(struct eventlog_domain *domain, struct file *filp, void *argument,
				void __user *user)
{
	const struct eventlog_file *file = filp->private_data;
	const struct eventlog_leave *request = argument;
	int ret = 0;

	if (request->flags & ~EVENTLOG_LEAVE_ALL || request->flags == EVENTLOG_LEAVE_LINGER)
		return -EINVAL;
	if (domain->id || !file_ns_capable(filp, &init_user_ns, CAP_SYS_MODULE))
		return -EPERM;
	if (mutex_lock_killable(&eventlog_leave_lock))
		return -EINTR;
	if (eventlog_leave_asker && eventlog_leave_asker != file)
		ret = -EBUSY;
	else if (request->flags)
		eventlog_leave_set(file, request->flags);
	else
		eventlog_leave_end_now();
	mutex_unlock(&eventlog_leave_lock);
	return ret;
}

bool eventlog_leave_lingers(void)
{
	return READ_ONCE(eventlog_leave_flags) & EVENTLOG_LEAVE_LINGER &&
	       !READ_ONCE(eventlog_leave_asker);
}

void eventlog_leave_release(const struct eventlog_file *file)
{
	/* Only this file, to which there is no other reference, could set it to itself. */
	if (READ_ONCE(eventlog_leave_asker) != file)
		return;
	mutex_lock(&eventlog_leave_lock);
	if (eventlog_leave_flags & EVENTLOG_LEAVE_LINGER) {
		WRITE_ONCE(eventlog_leave_asker, NULL);
		mod_delayed_work(system_wq, &eventlog_leave_work, HZ);
	} else {
		eventlog_leave_end_now();
	}
	mutex_unlock(&eventlog_leave_lock);
}

void eventlog_leave_hold(void)
{
	mutex_lock(&eventlog_leave_lock);
	eventlog_leave_set(NULL, EVENTLOG_LEAVE_PRODUCERS);
	mod_delayed_work(system_wq, &eventlog_leave_work, EVENTLOG_LEAVE_RETURN);
	mutex_unlock(&eventlog_leave_lock);
}

void eventlog_leave_exit(void)
{
	cancel_delayed_work_sync(&eventlog_leave_work);
}

static int eventlog_ioctl_missed(struct eventlog_domain *domain, struct file *filp, void *argument,
				 void __user *user)
{
	struct eventlog_file *file = filp->private_data;
	struct eventlog_subscriber *subscriber = eventlog_file_subscriber(file);
	struct eventlog_registration *registration;
	struct eventlog_missed *request = argument;
	u32 count;
	int ret;

	if (subscriber && request->write_index)
		return -EBUSY;
	if (subscriber && request->count)
		return -EINVAL;
	request->subscribers = 0;
	/* Check first that the result can be copied out: otherwise nothing is counted. */
	ret = eventlog_argument_put(user, request, sizeof(*request));
	if (ret)
		return ret;
	if (subscriber) {
		request->subscribers = eventlog_subscriber_missed(subscriber);
		goto out_put;
	}
	mutex_lock(&file->lock);
	ret = -ENOENT;
	registration = xa_load(&file->registrations, request->write_index);
	if (!registration)
		goto out;
	/* A program may go on to count for a moment after its first report. */
	ret = -ENODATA;
	count = min_t(u32, request->count, EVENTLOG_MISSED_MAX - registration->missed);
	if (request->count && !count)
		goto out;
	ret = 0;
	if (count)
		request->subscribers = eventlog_emit_missed(registration->event, count);
	if (request->subscribers)
		registration->missed += count;
out:
	mutex_unlock(&file->lock);
out_put:
	/* A caller that has lost the memory meanwhile does not get the result. */
	if (request->subscribers)
		eventlog_argument_put(user, request, sizeof(*request));
	return ret;
}

static const struct eventlog_ioctl eventlog_leave_table[] = {
	EVENTLOG_IOCTL(LEAVE, eventlog_leave, flags, eventlog_ioctl_leave),
	EVENTLOG_IOCTL(MISSED, eventlog_missed, subscribers, eventlog_ioctl_missed),
};

const struct eventlog_ioctls eventlog_leave_ioctls = {
	.ioctls = eventlog_leave_table,
	.count = ARRAY_SIZE(eventlog_leave_table),
};
