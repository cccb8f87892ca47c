// SPDX-License-Identifier: GPL-2.0-only
/*
 * Users and their quotas: see user.h.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/user_namespace.h>

#include "core/user.h"
#include "memory.h"

/*
 * How many seconds' worth of tokens a user can save: a large program registers at once, and
 * so do all instances of an owner when the system starts.
 */
#define EVENTLOG_USER_BURST 4
#define EVENTLOG_OWNER_BURST 64

static unsigned long eventlog_user_limits[EVENTLOG_QUOTAS];
static DEFINE_HASHTABLE(eventlog_users, 6);
static DEFINE_MUTEX(eventlog_users_lock);

/* ---- tokens ---- */

static u64 eventlog_tokens_max(const struct eventlog_user *user, unsigned int burst)
{
	return (u64)user->limits[EVENTLOG_QUOTA_DEFINITIONS] * burst * HZ;
}

/* Adds the tokens that have come since the last time; returns how many are missing. */
static u64 eventlog_tokens_refill(struct eventlog_user *user, struct eventlog_tokens *tokens,
				  unsigned int burst)
{
	u64 now = get_jiffies_64(), most = eventlog_tokens_max(user, burst);
	u64 elapsed = min_t(u64, now - tokens->refilled, burst * HZ);

	lockdep_assert_held(&user->lock);
	tokens->refilled = now;
	tokens->count = min(tokens->count + elapsed * user->limits[EVENTLOG_QUOTA_DEFINITIONS],
			    most);
	return most - tokens->count;
}

static void eventlog_tokens_init(struct eventlog_user *user, struct eventlog_tokens *tokens,
				 unsigned int burst)
{
	tokens->count = eventlog_tokens_max(user, burst);
	tokens->refilled = get_jiffies_64();
}

static bool eventlog_tokens_take(struct eventlog_user *user, struct eventlog_tokens *tokens,
				 unsigned int burst)
{
	bool granted;

	spin_lock(&user->lock);
	eventlog_tokens_refill(user, tokens, burst);
	granted = tokens->count >= HZ;
	if (granted)
		tokens->count -= HZ;
	spin_unlock(&user->lock);
	return granted;
}

bool eventlog_user_define(struct eventlog_user *user)
{
	struct eventlog_user *owner;

	if (!user)
		return true;
	owner = user->owner;
	if (eventlog_tokens_take(user, &user->tokens, EVENTLOG_USER_BURST) &&
	    (!owner || eventlog_tokens_take(owner, &owner->of_instances, EVENTLOG_OWNER_BURST)))
		return true;
	atomic_long_inc(&user->denied[EVENTLOG_QUOTA_DEFINITIONS]);
	return false;
}

/* Does nothing distinguish the user from one that has never been seen? */
static bool eventlog_user_idle(struct eventlog_user *user)
{
	bool full;

	if (atomic_read(&user->references) ||
	    jiffies - READ_ONCE(user->stacks.since) < EVENTLOG_STACKS_PERIOD ||
	    jiffies - READ_ONCE(user->stacks_of_instances.since) < EVENTLOG_STACKS_PERIOD)
		return false;
	spin_lock(&user->lock);
	full = !eventlog_tokens_refill(user, &user->tokens, EVENTLOG_USER_BURST) &&
	       !eventlog_tokens_refill(user, &user->of_instances, EVENTLOG_OWNER_BURST);
	spin_unlock(&user->lock);
	return full;
}

/* ---- the table ---- */

static void eventlog_user_free_rcu(struct rcu_head *rcu)
{
	eventlog_free(container_of(rcu, struct eventlog_user, rcu));
}

static void eventlog_user_free(struct eventlog_user *user)
{
	hash_del(&user->node);
	if (user->namespace)
		put_user_ns(user->namespace);
	call_rcu(&user->rcu, eventlog_user_free_rcu);
}

/* Allocates a user that is not in the table and has no reference. */
static struct eventlog_user *eventlog_user_alloc(const unsigned long *limits)
{
	/* Not charged: holders of domain->lock wait for eventlog_users_lock. */
	struct eventlog_user *user = eventlog_alloc_locked(sizeof(*user));

	if (!user)
		return NULL;
	memcpy(user->limits, limits, sizeof(user->limits));
	INIT_LIST_HEAD(&user->retained);
	spin_lock_init(&user->lock);
	eventlog_tokens_init(user, &user->tokens, EVENTLOG_USER_BURST);
	eventlog_tokens_init(user, &user->of_instances, EVENTLOG_OWNER_BURST);
	/* The first period of each begins with the first use. */
	user->intervals.since = jiffies - EVENTLOG_STACKS_PERIOD;
	user->stacks.since = user->intervals.since;
	user->stacks_of_instances.since = user->intervals.since;
	return user;
}

static struct eventlog_user *eventlog_user_new(kuid_t uid, struct user_namespace *namespace)
{
	struct eventlog_user *user = eventlog_user_alloc(eventlog_user_limits);

	if (!user)
		return NULL;
	user->uid = uid;
	user->namespace = namespace ? get_user_ns(namespace) : NULL;
	hash_add(eventlog_users, &user->node, __kuid_val(uid));
	return user;
}

/* Finds or makes a user in the table, and takes a reference; NULL: no memory. */
static struct eventlog_user *eventlog_user_find(kuid_t uid, struct user_namespace *namespace)
{
	struct eventlog_user *user, *found = NULL;
	struct hlist_node *next;

	mutex_lock(&eventlog_users_lock);
	hash_for_each_possible_safe(eventlog_users, user, next, node, __kuid_val(uid)) {
		if (uid_eq(user->uid, uid) && user->namespace == namespace)
			found = user;
		else if (eventlog_user_idle(user))
			eventlog_user_free(user);
	}
	found = found ?: eventlog_user_new(uid, namespace);
	if (found)
		atomic_inc(&found->references);
	mutex_unlock(&eventlog_users_lock);
	return found;
}

struct eventlog_user *eventlog_user_of_instance(const unsigned long *limits, kuid_t owner)
{
	struct eventlog_user *user = eventlog_user_alloc(limits);

	if (!user)
		return NULL;
	atomic_set(&user->references, 1);
	user->owner = eventlog_user_find(owner, NULL);
	if (!user->owner) {
		eventlog_free(user);
		return NULL;
	}
	return user;
}

const unsigned long *eventlog_user_default_limits(void)
{
	return eventlog_user_limits;
}

struct eventlog_user *eventlog_user_open(const struct cred *cred)
{
	struct user_namespace *namespace = cred->user_ns;
	struct eventlog_user *user;
	kuid_t uid = cred->euid;

	if (namespace == &init_user_ns) {
		if (cap_raised(cred->cap_effective, CAP_SYS_RESOURCE))
			return NULL;
		namespace = NULL;
	} else {
		while (namespace->parent != &init_user_ns)
			namespace = namespace->parent;
		uid = namespace->owner;
		/* Who is not root could make any number of them. */
		if (!uid_eq(uid, GLOBAL_ROOT_UID))
			namespace = NULL;
	}
	user = eventlog_user_find(uid, namespace);
	return user ?: ERR_PTR(-ENOMEM);
}

struct eventlog_user *eventlog_user_get(struct eventlog_user *user)
{
	if (user)
		atomic_inc(&user->references);
	return user;
}

void eventlog_user_put(struct eventlog_user *user)
{
	struct eventlog_user *owner;

	/* Only the last one takes the lock, which all instances share. */
	if (!user || !atomic_dec_and_mutex_lock(&user->references, &eventlog_users_lock))
		return;
	owner = user->owner;
	/* One that is not in the table cannot be found again. */
	if (!hash_hashed(&user->node) || eventlog_user_idle(user))
		eventlog_user_free(user);
	mutex_unlock(&eventlog_users_lock);
	/* An owner has no owner. */
	eventlog_user_put(owner);
}

/* ---- quotas ---- */

bool eventlog_user_room(const struct eventlog_user *user, enum eventlog_quota quota)
{
	return !user || (unsigned long)atomic_long_read(&user->use[quota]) <
			user->limits[quota];
}

bool eventlog_user_charge(struct eventlog_user *user, enum eventlog_quota quota,
			  unsigned long amount)
{
	unsigned long limit;
	long use;

	if (!user)
		return true;
	limit = user->limits[quota];
	use = atomic_long_read(&user->use[quota]);
	do {
		if (amount > limit || (unsigned long)use > limit - amount) {
			atomic_long_inc(&user->denied[quota]);
			return false;
		}
	} while (!atomic_long_try_cmpxchg(&user->use[quota], &use, use + amount));
	return true;
}

void eventlog_user_uncharge(struct eventlog_user *user, enum eventlog_quota quota,
			    unsigned long amount)
{
	if (user)
		atomic_long_sub(amount, &user->use[quota]);
}

bool eventlog_user_charge_ring(struct eventlog_user *user, unsigned long bytes)
{
	if (!eventlog_user_charge(user, EVENTLOG_QUOTA_RINGS, 1))
		return false;
	if (eventlog_user_charge(user, EVENTLOG_QUOTA_RING_BYTES, bytes))
		return true;
	eventlog_user_uncharge(user, EVENTLOG_QUOTA_RINGS, 1);
	return false;
}

void eventlog_user_uncharge_ring(struct eventlog_user *user, unsigned long bytes)
{
	eventlog_user_uncharge(user, EVENTLOG_QUOTA_RINGS, 1);
	eventlog_user_uncharge(user, EVENTLOG_QUOTA_RING_BYTES, bytes);
}

void eventlog_user_report(struct eventlog_user *user, enum eventlog_quota quota,
			  struct eventlog_user_quota *result)
{
	u64 missing;

	*result = (struct eventlog_user_quota){ .limit = user ? user->limits[quota] : U64_MAX };
	if (!user)
		return;
	result->denied = (unsigned long)atomic_long_read(&user->denied[quota]);
	if (quota != EVENTLOG_QUOTA_DEFINITIONS) {
		result->use = (unsigned long)atomic_long_read(&user->use[quota]);
		return;
	}
	spin_lock(&user->lock);
	missing = eventlog_tokens_refill(user, &user->tokens, EVENTLOG_USER_BURST);
	spin_unlock(&user->lock);
	/* The limit is a rate: report the share of the burst that is used up. */
	result->use = div_u64(missing, EVENTLOG_USER_BURST * HZ);
}

void eventlog_users_init(const unsigned long *limits)
{
	memcpy(eventlog_user_limits, limits, sizeof(eventlog_user_limits));
	/* The products with EVENTLOG_OWNER_BURST and HZ must not overflow. */
	eventlog_user_limits[EVENTLOG_QUOTA_DEFINITIONS] =
		min_t(unsigned long, limits[EVENTLOG_QUOTA_DEFINITIONS], U32_MAX);
}

void eventlog_users_exit(void)
{
	struct eventlog_user *user;
	struct hlist_node *next;
	unsigned int bucket;

	hash_for_each_safe(eventlog_users, bucket, next, user, node) {
		WARN_ON(atomic_read(&user->references));
		eventlog_user_free(user);
	}
}
