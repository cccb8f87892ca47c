/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Instances: domains beside the root, each with a device node of its own.
 *
 * A mutex protects the table of instances.  It is held for look-ups and changes of the table
 * and of owners only, and no other lock is taken under it.  The longest thing done with it is
 * to compare a new name with those of all instances, at most EVENTLOG_INSTANCES_MAX, which
 * only root makes.  The table and each open file have a reference
 * to the instance; the last one frees it.
 *
 * Several containers may have the same owner, for example all those of a user.  So an instance
 * belongs to the user namespace from which the owner opens it first: in others the owner has no
 * rights, except in those inside it and those that contain it.  It belongs to that namespace until
 * the last of these files is closed, because a file keeps its rights.  The initial namespace is
 * above all others: files that are opened there have their rights, and are not counted.
 *
 * To delete an instance, first its node goes, then it leaves the table, then its domain is
 * dead: all events are disabled, and nothing can be added.  Open files stay usable for
 * calls that need neither, until they are closed.
 */
#ifndef EVENTLOG_INSTANCE_H
#define EVENTLOG_INSTANCE_H

#include <linux/types.h>

struct cred;
struct eventlog_domain;
struct eventlog_ioctls;
struct file;
struct inode;

/* INSTANCE_CREATE and the like. */
extern const struct eventlog_ioctls eventlog_instance_ioctls;

/**
 * eventlog_instances_init() - once, at load, after the root domain is made
 * @root: the root domain
 * @instances_max: limit of instances, at most EVENTLOG_INSTANCES_MAX
 * @empty: remove the events and policies of a domain without files
 *
 * Return: 0 or an errno.
 */
int eventlog_instances_init(struct eventlog_domain *root, unsigned int instances_max,
			    void (*empty)(struct eventlog_domain *domain));

/**
 * eventlog_instances_exit() - remove all instances, at unload
 *
 * No file is open.
 */
void eventlog_instances_exit(void);

/**
 * eventlog_instances_possible() - can instances be created from a file of a domain
 * @domain: the domain
 */
bool eventlog_instances_possible(const struct eventlog_domain *domain);

/**
 * eventlog_instances_sessions() - have eventlog_threads_tell() called for all instances
 *
 * By a work item: who begins to listen does not wait for the locks of instances.
 *
 * Context: any.
 */
void eventlog_instances_sessions(void);

/**
 * eventlog_instances_leave() - call eventlog_domain_leave() for all instances
 * @flags: EVENTLOG_LEAVE_*; while there are any, no instance can be created
 *
 * Process context.  One call at a time.
 */
void eventlog_instances_leave(u32 flags);

/**
 * eventlog_instances_await() - does eventlog_domain_awaits() return true for an instance
 *
 * Process context.
 */
bool eventlog_instances_await(void);

/**
 * eventlog_domain_open() - get the domain that a file opens
 * @inode: a device node
 * @filp: the file, which the caller opens
 *
 * Return: the domain, for eventlog_domain_put(); or ERR_PTR: -ENODEV: it is that of an instance
 * that was deleted; -EACCES: the instance does not let the opener in, whatever the node does.
 */
struct eventlog_domain *eventlog_domain_open(const struct inode *inode, struct file *filp);

/**
 * eventlog_owner_enter() - count a file of the owner that has rights from a user namespace
 * @domain: the file's domain
 * @cred: of the opener
 * @foreign: set if the opener is the owner, but the instance belongs to another namespace
 *
 * Return: whether it was counted, for eventlog_owner_leave().
 */
bool eventlog_owner_enter(struct eventlog_domain *domain, const struct cred *cred, bool *foreign);

/**
 * eventlog_owner_leave() - the file is closed
 * @domain: the file's domain
 */
void eventlog_owner_leave(struct eventlog_domain *domain);

/**
 * eventlog_domain_put() - drop the reference of a file
 * @domain: of the file, or of eventlog_domain_open()
 *
 * Process context.
 */
void eventlog_domain_put(struct eventlog_domain *domain);

#endif /* EVENTLOG_INSTANCE_H */
