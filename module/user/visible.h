/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the opener of a file may see.
 *
 * An opener that may trace the system sees all definitions.  Others see the definitions
 * that their user has registered, and those of kernel providers: the schemas of these are
 * in the files of modules, which everyone can read.
 *
 * Several users can register the same definition, so each definition has a tree of the users
 * that have registered it.  A user is an effective uid here, as in permission checks of files.
 * The limits of core/user.h count for a whole user namespace instead.
 *
 * domain->registrants_lock, a spinlock, protects the trees of a domain; it is taken last.  The
 * longest thing done with it is to find a user in a tree, which is balanced.  Called by the
 * other files of user/.
 */
#ifndef EVENTLOG_VISIBLE_H
#define EVENTLOG_VISIBLE_H

#include <linux/rbtree.h>
#include <linux/types.h>
#include <linux/uidgid.h>

struct eventlog_domain;
struct eventlog_event;
struct file;

/**
 * struct eventlog_registrant - a user that has registered a definition
 * @node: in the definition's registrants
 * @event: the definition
 * @uid: the user
 * @registrations: their number
 */
struct eventlog_registrant {
	struct rb_node node;
	struct eventlog_event *event;
	kuid_t uid;
	unsigned long registrations;
};

/**
 * struct eventlog_viewer - the opener of a file
 * @uid: its user
 * @capable: it sees everything
 */
struct eventlog_viewer {
	kuid_t uid;
	bool capable;
};

/**
 * eventlog_viewer_of() - get the opener of a file
 * @domain: the file's domain
 * @filp: the file
 *
 * Any context that may sleep.  Call this only if the result matters: security modules may
 * log that a capability is missing.
 */
struct eventlog_viewer eventlog_viewer_of(const struct eventlog_domain *domain, struct file *filp);

/**
 * eventlog_registrant_get() - remember a registration
 * @spare: zeroed memory of eventlog_alloc(), which becomes the pair or is freed
 * @event: the definition, which the registration refers to
 * @uid: the user
 *
 * Return: the pair, for eventlog_registrant_put().
 */
struct eventlog_registrant *eventlog_registrant_get(struct eventlog_registrant *spare,
						    struct eventlog_event *event, kuid_t uid);

/**
 * eventlog_registrant_put() - forget a registration
 * @registrant: of eventlog_registrant_get()
 */
void eventlog_registrant_put(struct eventlog_registrant *registrant);

/**
 * eventlog_event_registered_by() - has a user registered a definition
 * @event: the definition
 * @uid: the user
 */
bool eventlog_event_registered_by(const struct eventlog_event *event, kuid_t uid);

/**
 * eventlog_hidden_skip() - pass definitions that an opener may not see
 * @domain: not locked
 * @descriptor: the position; moved to the last definition that is passed
 * @viewer: the opener
 * @visible: eventlog_event_visible() or a function like it; called under RCU
 * @most: how many are passed at most
 * @live: how many of them are live is added to it
 *
 * Without domain->lock, so that others need not wait while very many definitions are passed.
 * The next definition may have become hidden when the caller looks at it.
 *
 * Process context, may sleep.
 *
 * Return: how many were passed; less than @most: the next one is visible, or there are no
 * more.  -EINTR: a fatal signal arrived.
 */
int eventlog_hidden_skip(struct eventlog_domain *domain, unsigned long *descriptor,
			 const struct eventlog_viewer *viewer,
			 bool (*visible)(const struct eventlog_event *event,
					 const struct eventlog_viewer *viewer),
			 unsigned int most, unsigned int *live);

/**
 * eventlog_event_visible() - may an opener know the name and the schema of a definition
 * @event: the definition; its domain is locked, or the caller is under RCU
 * @viewer: the opener
 */
bool eventlog_event_visible(const struct eventlog_event *event,
			    const struct eventlog_viewer *viewer);

#endif /* EVENTLOG_VISIBLE_H */
