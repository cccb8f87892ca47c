/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Users, and what each may make the module keep.
 *
 * A user is the opener of a file: its effective uid.  All uids of a user namespace count
 * for the owner of the namespace, because that user can choose among them.  If the owner is
 * root, each namespace is a user of its own: root makes one for each container.  For a
 * namespace inside another one, the outermost counts.  The kernel itself and openers with
 * CAP_SYS_RESOURCE have no struct (NULL) and no limits.  All openers of an instance are one
 * user, which is not in the table; the owner of instances is in it, and has no owner.
 *
 * A mutex protects the table.  The numbers are atomic.  A user stays in the table while
 * something refers to it, it has to wait for new definitions, or it has added stacks in the
 * last half minute.
 */
#ifndef EVENTLOG_USER_H
#define EVENTLOG_USER_H

#include <linux/atomic.h>
#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <uapi/linux/eventlog.h>

struct cred;
struct user_namespace;

/* See user/shard.h. */
#define EVENTLOG_SHARDS_MAX 8

/**
 * struct eventlog_tokens - new definitions that may be made at once
 * @count: their number, in 1/HZ
 * @refilled: jiffies when @count was right
 */
struct eventlog_tokens {
	u64 count;
	u64 refilled;
};

/* In so long, a user's threads may add a part of the stacks that eventlog_sched.ko can keep. */
#define EVENTLOG_STACKS_PERIOD (30 * HZ)

/**
 * struct eventlog_budget - what may be caused in a period, by whoever comes first
 * @left: how often; it may be below 0
 * @generation: of what is caused, see eventlog_thread_may_add_stack()
 * @since: jiffies when the period began
 */
struct eventlog_budget {
	atomic_t left;
	u32 generation;
	unsigned long since;
};

/**
 * struct eventlog_user - a user
 * @node: in the table, except for an instance's
 * @uid: its uid in the initial user namespace; not of an instance's
 * @namespace: a user namespace that root has made, with a reference, or NULL
 * @owner: of an instance's: the user that owns the instance, with a reference
 * @limits: by enum eventlog_quota; constant
 * @references: see eventlog_user_get(); under the table's mutex when it becomes or was 0
 * @use: what it uses of each enum eventlog_quota; not of DEFINITIONS
 * @denied: how often a limit was reached
 * @mapped: its producer rings in each shard; changed under the shard's lock
 * @trace_events: number of its trace events; under the lock of trace/worker.h
 * @retained: its ended definitions whose text is kept, oldest first; under domain->lock
 * @lock: protects @tokens and @of_instances
 * @tokens: its own
 * @of_instances: those that the instances it owns share, so that many instances do not use
 *	up the descriptors
 * @intervals: events of eventlog_sched.ko that its threads may cause; below 0: sums only
 * @stacks: stacks that they may add there
 * @stacks_of_instances: the same for the instances it owns together, unless it is root
 * @rcu: frees it: threads are looked up under RCU
 */
struct eventlog_user {
	struct hlist_node node;
	kuid_t uid;
	struct user_namespace *namespace;
	struct eventlog_user *owner;
	unsigned long limits[EVENTLOG_QUOTAS];
	atomic_t references;
	atomic_long_t use[EVENTLOG_QUOTAS];
	atomic_long_t denied[EVENTLOG_QUOTAS];
	unsigned int mapped[EVENTLOG_SHARDS_MAX];
	unsigned int trace_events;
	struct list_head retained;
	spinlock_t lock;
	struct eventlog_tokens tokens;
	struct eventlog_tokens of_instances;
	struct eventlog_budget intervals;
	struct eventlog_budget stacks;
	struct eventlog_budget stacks_of_instances;
	struct rcu_head rcu;
};

/**
 * eventlog_users_init() - set the limits, at load
 * @limits: by enum eventlog_quota
 */
void eventlog_users_init(const unsigned long *limits);

/**
 * eventlog_users_exit() - free what is left, at unload
 */
void eventlog_users_exit(void);

/**
 * eventlog_user_open() - get the user of a file
 * @cred: credentials of the opener
 *
 * Process context.
 *
 * Return: the user, for eventlog_user_put(); NULL: one without limits; ERR_PTR(-ENOMEM).
 */
struct eventlog_user *eventlog_user_open(const struct cred *cred);

/**
 * eventlog_user_of_instance() - make the user of an instance
 * @limits: by enum eventlog_quota.  DEFINITIONS is a u32
 * @owner: the uid that owns the instance
 *
 * Return: the user, for eventlog_user_put(), or NULL.
 */
struct eventlog_user *eventlog_user_of_instance(const unsigned long *limits, kuid_t owner);

/**
 * eventlog_user_default_limits() - the limits of users of the root, by enum eventlog_quota
 */
const unsigned long *eventlog_user_default_limits(void);

/**
 * eventlog_user_get() - take one more reference
 * @user: referred to by the caller, or NULL
 *
 * Return: @user.
 */
struct eventlog_user *eventlog_user_get(struct eventlog_user *user);

/**
 * eventlog_user_put() - drop a reference
 * @user: the user, or NULL
 *
 * Process context.
 */
void eventlog_user_put(struct eventlog_user *user);

/**
 * eventlog_user_room() - is a user below a limit
 * @user: the user, or NULL
 * @quota: of what; not EVENTLOG_QUOTA_DEFINITIONS
 *
 * For a caller that need not try otherwise: nothing is charged, and no denial is counted.
 */
bool eventlog_user_room(const struct eventlog_user *user, enum eventlog_quota quota);

/**
 * eventlog_user_charge() - let a user use more
 * @user: the user, or NULL
 * @quota: of what; not EVENTLOG_QUOTA_DEFINITIONS
 * @amount: how much more
 *
 * Return: false: it would exceed the limit, and nothing was charged.
 */
bool eventlog_user_charge(struct eventlog_user *user, enum eventlog_quota quota,
			  unsigned long amount);

/**
 * eventlog_user_uncharge() - take back what was charged
 * @user: the user, or NULL
 * @quota: of what
 * @amount: how much
 */
void eventlog_user_uncharge(struct eventlog_user *user, enum eventlog_quota quota,
			    unsigned long amount);

/**
 * eventlog_user_charge_ring() - let a user have one more producer ring
 * @user: the user, or NULL
 * @bytes: its memory, or that of the entry of a thread that has a session and no ring
 *
 * The number is limited besides the memory: FLUSH looks at each ring of each user, and each context
 * switch looks for a thread among all that have a ring or a session.
 *
 * Return: false: it would exceed a limit, and nothing was charged.
 */
bool eventlog_user_charge_ring(struct eventlog_user *user, unsigned long bytes);

/**
 * eventlog_user_uncharge_ring() - take back what was charged
 * @user: the user, or NULL
 * @bytes: as when it was charged
 */
void eventlog_user_uncharge_ring(struct eventlog_user *user, unsigned long bytes);

/**
 * eventlog_user_define() - let a user make a definition
 * @user: the user, or NULL
 *
 * Takes a token.  Tokens come at the rate of the limit, and a user can save four seconds'
 * worth of them.  In an instance, also takes a token of the owner.
 *
 * Return: false: it has made too many in too short a time.
 */
bool eventlog_user_define(struct eventlog_user *user);

/**
 * eventlog_user_report() - fill in what INFO returns of a quota
 * @user: the user, or NULL
 * @quota: the quota
 * @result: filled in
 */
void eventlog_user_report(struct eventlog_user *user, enum eventlog_quota quota,
			  struct eventlog_user_quota *result);

#endif /* EVENTLOG_USER_H */
