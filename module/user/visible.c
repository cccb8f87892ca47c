// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the opener of a file may see: see visible.h.
 */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/rbtree.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>

#include "core/ioctl.h"
#include "core/types.h"
#include "memory.h"
#include "user/visible.h"

struct eventlog_viewer eventlog_viewer_of(const struct eventlog_domain *domain, struct file *filp)
{
	return (struct eventlog_viewer){
		.uid = filp->f_cred->euid,
		.capable = eventlog_capable(domain, filp),
	};
}

/* Finds a user's place in a tree; the registrant is there unless it is NULL. */
static struct rb_node **eventlog_registrant_place(struct eventlog_domain *domain,
						  struct rb_root *registrants, kuid_t uid,
						  struct rb_node **parent)
{
	struct rb_node **place = &registrants->rb_node;
	const struct eventlog_registrant *registrant;

	lockdep_assert_held(&domain->registrants_lock);
	*parent = NULL;
	while (*place) {
		eventlog_steps_add(&domain->registrants_steps, 1);
		registrant = rb_entry(*place, struct eventlog_registrant, node);
		if (uid_eq(uid, registrant->uid))
			break;
		*parent = *place;
		place = uid_lt(uid, registrant->uid) ? &(*place)->rb_left : &(*place)->rb_right;
	}
	return place;
}

struct eventlog_registrant *eventlog_registrant_get(struct eventlog_registrant *spare,
						    struct eventlog_event *event, kuid_t uid)
{
	struct eventlog_registrant *registrant = spare;
	struct rb_node **place, *parent;

	spin_lock(&event->domain->registrants_lock);
	eventlog_steps_begin(&event->domain->registrants_steps);
	place = eventlog_registrant_place(event->domain, &event->registrants, uid, &parent);
	if (*place) {
		registrant = rb_entry(*place, struct eventlog_registrant, node);
	} else {
		registrant->event = event;
		registrant->uid = uid;
		rb_link_node(&registrant->node, parent, place);
		rb_insert_color(&registrant->node, &event->registrants);
	}
	registrant->registrations++;
	eventlog_steps_end(&event->domain->registrants_steps, EVENTLOG_STEPS_VISIBLE);
	spin_unlock(&event->domain->registrants_lock);
	if (registrant != spare)
		eventlog_free(spare);
	return registrant;
}

void eventlog_registrant_put(struct eventlog_registrant *registrant)
{
	struct eventlog_event *event = registrant->event;
	bool last;

	spin_lock(&event->domain->registrants_lock);
	eventlog_steps_begin(&event->domain->registrants_steps);
	last = !--registrant->registrations;
	if (last)
		rb_erase(&registrant->node, &event->registrants);
	eventlog_steps_end(&event->domain->registrants_steps, EVENTLOG_STEPS_VISIBLE);
	spin_unlock(&event->domain->registrants_lock);
	if (last)
		eventlog_free(registrant);
}

bool eventlog_event_registered_by(const struct eventlog_event *event, kuid_t uid)
{
	struct rb_root registrants;
	struct rb_node *parent;
	bool found;

	spin_lock(&event->domain->registrants_lock);
	eventlog_steps_begin(&event->domain->registrants_steps);
	registrants = event->registrants;
	found = *eventlog_registrant_place(event->domain, &registrants, uid, &parent);
	eventlog_steps_end(&event->domain->registrants_steps, EVENTLOG_STEPS_VISIBLE);
	spin_unlock(&event->domain->registrants_lock);
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
