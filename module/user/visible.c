// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the opener of a file may see: see visible.h.
 */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/hashtable.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>

#include "core/ioctl.h"
#include "core/types.h"
#include "memory.h"
#include "user/visible.h"

static DEFINE_HASHTABLE(eventlog_registrants, 10);
static DEFINE_SPINLOCK(eventlog_registrants_lock);
/* Secret, so that no user can choose definitions that all hash to one bucket. */
static siphash_key_t eventlog_registrants_key;

struct eventlog_viewer eventlog_viewer_of(const struct eventlog_domain *domain, struct file *filp)
{
	return (struct eventlog_viewer){
		.uid = filp->f_cred->euid,
		.capable = eventlog_capable(domain, filp),
	};
}

void eventlog_visible_init(void)
{
	get_random_bytes(&eventlog_registrants_key, sizeof(eventlog_registrants_key));
}

static u64 eventlog_registrant_hash(u32 descriptor, kuid_t uid)
{
	return siphash_2u32(descriptor, __kuid_val(uid), &eventlog_registrants_key);
}

static struct eventlog_registrant *eventlog_registrant_find(u32 descriptor, kuid_t uid)
{
	struct eventlog_registrant *registrant;

	lockdep_assert_held(&eventlog_registrants_lock);
	hash_for_each_possible(eventlog_registrants, registrant, node,
			       eventlog_registrant_hash(descriptor, uid))
		if (registrant->descriptor == descriptor && uid_eq(registrant->uid, uid))
			return registrant;
	return NULL;
}

struct eventlog_registrant *eventlog_registrant_get(struct eventlog_registrant *spare,
						    const struct eventlog_event *event, kuid_t uid)
{
	struct eventlog_registrant *registrant;

	spin_lock(&eventlog_registrants_lock);
	registrant = eventlog_registrant_find(event->descriptor, uid);
	if (!registrant) {
		swap(registrant, spare);
		registrant->descriptor = event->descriptor;
		registrant->uid = uid;
		hash_add(eventlog_registrants, &registrant->node,
			 eventlog_registrant_hash(event->descriptor, uid));
	}
	registrant->registrations++;
	spin_unlock(&eventlog_registrants_lock);
	eventlog_free(spare);
	return registrant;
}

void eventlog_registrant_put(struct eventlog_registrant *registrant)
{
	bool last;

	spin_lock(&eventlog_registrants_lock);
	last = !--registrant->registrations;
	if (last)
		hash_del(&registrant->node);
	spin_unlock(&eventlog_registrants_lock);
	if (last)
		eventlog_free(registrant);
}

bool eventlog_event_registered_by(const struct eventlog_event *event, kuid_t uid)
{
	bool found;

	spin_lock(&eventlog_registrants_lock);
	found = eventlog_registrant_find(event->descriptor, uid);
	spin_unlock(&eventlog_registrants_lock);
	return found;
}

bool eventlog_event_visible(const struct eventlog_event *event,
			    const struct eventlog_viewer *viewer)
{
	return viewer->capable || event->provider->preamble ||
	       eventlog_event_registered_by(event, viewer->uid);
}

/* Definitions that are looked at in one critical section of RCU. */
#define EVENTLOG_HIDDEN_BATCH 64

int eventlog_hidden_skip(struct eventlog_domain *domain, unsigned long *descriptor,
			 const struct eventlog_viewer *viewer,
			 bool (*visible)(const struct eventlog_event *event,
					 const struct eventlog_viewer *viewer),
			 unsigned int most, unsigned int *live)
{
	unsigned long position = *descriptor;
	const struct eventlog_event *event;
	unsigned int passed = 0;

	if (viewer->capable)
		return 0;
	rcu_read_lock();
	while (passed < most) {
		event = xa_find_after(&domain->definitions, &position, U32_MAX, XA_PRESENT);
		if (!event || visible(event, viewer))
			break;
		*live += READ_ONCE(event->slot) != 0;
		*descriptor = position;
		if (++passed % EVENTLOG_HIDDEN_BATCH)
			continue;
		rcu_read_unlock();
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
		rcu_read_lock();
	}
	rcu_read_unlock();
	return passed;
}
