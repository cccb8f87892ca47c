/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events of user_events: live definitions of its two providers, found by name.
 *
 * The table and the list are under domain->lock.  An event is in them from its first
 * registration until it ends.  Everything that uses an event, an open file or a bit in the
 * memory of a process, is a registration of the definition.
 */
#ifndef EVENTLOG_USER_EVENTS_EVENT_H
#define EVENTLOG_USER_EVENTS_EVENT_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/types.h>

#include "core/domain.h"
#include "core/event.h"

/* The domain of all events of this front end. */
static inline struct eventlog_domain *ue_domain(void)
{
	return &eventlog_root_domain;
}

/* All events, in the order of registration, and the cursors of status.c. */
extern struct list_head ue_events;

/**
 * struct eventlog_watch - an event of this front end
 * @event: the definition; valid while it is live; NULL: this is a cursor of status.c
 * @multi: its name may have several formats
 * @pinned: it keeps the module loaded
 * @name_node: in the table of names
 * @all_node: in &ue_events
 * @enablers: &struct ue_enabler.event_node; under the mutex of set.h
 * @dirty_node: in the list of those that were enabled or disabled, see enabler.c
 * @round: of all changes of events, the number of its last one; 0: none yet
 * @holders: the table's and that list's
 */
struct eventlog_watch {
	struct eventlog_event *event;
	bool multi;
	bool pinned;
	struct hlist_node name_node;
	struct list_head all_node;
	struct list_head enablers;
	struct list_head dirty_node;
	unsigned long round;
	refcount_t holders;
};

/* Is the event enabled?  It is live. */
static inline bool ue_wanted(const struct eventlog_watch *watch)
{
	return rcu_access_pointer(watch->event->listeners);
}

/**
 * ue_watch_pin() - keep the module loaded for an event, or no longer
 * @watch: was enabled, disabled, made persistent, or ends; domain->lock is held
 *
 * An event that is persistent or enabled keeps it loaded, as trace events of modules do while
 * they are traced.
 */
void ue_watch_pin(struct eventlog_watch *watch);

/**
 * ue_watch_put() - drop a hold
 * @watch: freed with the last one
 */
void ue_watch_put(struct eventlog_watch *watch);

/**
 * ue_event_get() - find or make an event, and add a registration to it
 * @command: the command; parsed here
 * @flags: UE_PERSIST, UE_MULTI
 * @use: of the registration; its user is set
 *
 * When it returns, ftrace knows the event, unless there is no room.  No lock is held.
 *
 * Return: the event, or ERR_PTR: -EINVAL, -EPERM (persistent events need CAP_PERFMON),
 * -EADDRINUSE (the name has another format), -EMFILE (too many events), -E2BIG, -ENOMEM.
 */
struct eventlog_watch *ue_event_get(const char *command, unsigned int flags,
				    struct eventlog_event_use *use);

/**
 * ue_event_use() - add a registration to an event
 * @watch: has a registration
 * @use: of the new one; its user is set
 */
void ue_event_use(struct eventlog_watch *watch, struct eventlog_event_use *use);

/**
 * ue_event_put() - remove a registration; the last one ends the event
 * @watch: the event
 * @use: of the registration
 */
void ue_event_put(struct eventlog_watch *watch, struct eventlog_event_use *use);

/**
 * ue_event_delete() - delete events by name, in all formats
 * @name: the name
 *
 * Return: 0; -ENOENT; -EBUSY: an event is registered or traced; -EPERM.  If it fails, nothing is
 * deleted, unless an event was registered or traced during the call.
 */
int ue_event_delete(const char *name);

/**
 * ue_events_init() - choose the key of the table, at load
 */
void ue_events_init(void);

/* For &struct eventlog_watch_ops. */
void ue_event_ended(struct eventlog_watch *watch);

#endif /* EVENTLOG_USER_EVENTS_EVENT_H */
