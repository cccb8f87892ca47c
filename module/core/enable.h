/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Enabling: who wants which event.
 *
 * Rules are matched against events when either changes, under domain->lock.
 * The outcome hangs on each event as an array of (subscriber, what is left to
 * test), which emission reads under RCU (preemption off); NULL when nobody
 * wants the event.  The status bit follows it.
 */
#ifndef EVENTLOG_ENABLE_H
#define EVENTLOG_ENABLE_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <uapi/linux/eventlog.h>

struct eventlog_domain;
struct eventlog_event;
struct eventlog_subscriber;
struct eventlog_trace_event;

/**
 * struct eventlog_subscriber_rule - one wish of a subscriber; constant once added
 * @node: in the subscriber's rules
 * @id: for RULE_DEL
 * @flags: EVENTLOG_RULE_*
 * @keywords_any: 0, or the event has one of these
 * @keywords_all: the event has all of these
 * @session: with EVENTLOG_RULE_SESSION
 * @pid: with EVENTLOG_RULE_PID, a tgid in the subscriber's pid namespace
 * @level: 0, or the event's level is at most this
 * @sample: 0, or only one in so many events is delivered
 * @sampled: counts the events that got as far as sampling
 * @provider: glob, in the same allocation
 * @event: glob, likewise
 */
struct eventlog_subscriber_rule {
	struct list_head node;
	u32 id;
	u32 flags;
	u64 keywords_any;
	u64 keywords_all;
	u64 session;
	u32 pid;
	u32 level;
	u32 sample;
	atomic_t sampled;
	const char *provider;
	const char *event;
};

/**
 * struct eventlog_link - what a subscriber keeps of an event it was ever given
 * @lost: losses of the event that were counted in a ring
 * @not_watching_before: what eventlog_event_lost_not_watching() was at first
 * @rcu: frees it
 *
 * Owned by the subscriber, by descriptor; lives until the subscriber closes or
 * the definition is forgotten.
 */
struct eventlog_link {
	atomic_long_t lost;
	u64 not_watching_before;
	struct rcu_head rcu;
};

/**
 * struct eventlog_wanted_entry - one subscriber that wants an event
 * @subscriber: it
 * @link: its link for the event; NULL without rings
 * @rules: any one of them must still be satisfied
 * @rule_count: 0: nothing is left to test
 */
struct eventlog_wanted_entry {
	struct eventlog_subscriber *subscriber;
	struct eventlog_link *link;
	struct eventlog_subscriber_rule **rules;
	unsigned int rule_count;
};

/**
 * struct eventlog_wanted - who wants an event
 * @rcu: frees it
 * @event: whose it is; for the one who prepares it
 * @next: chains prepared ones
 * @count: entries of subscribers with rings; the first ones
 * @called: where the entries of callbacks, which follow, end
 * @listed: entries in all: subscribers that only keep events enabled are the last
 * @others: there are callbacks or tracers
 * @trace: the event's trace event, if a tracer is attached to it, else NULL
 * @entries: the subscribers; their rules follow in the same allocation
 */
struct eventlog_wanted {
	struct rcu_head rcu;
	struct eventlog_event *event;
	struct eventlog_wanted *next;
	unsigned int count;
	unsigned int called;
	unsigned int listed;
	bool others;
	struct eventlog_trace_event *trace;
	struct eventlog_wanted_entry entries[];
};

/**
 * eventlog_rule_matches() - do an event's unchanging properties satisfy a rule
 * @rule: the rule
 * @event: the event; its domain locked
 */
bool eventlog_rule_matches(const struct eventlog_subscriber_rule *rule, const struct eventlog_event *event);

/**
 * eventlog_enable_event() - find out who wants an event that comes to life
 * @event: with a slot, its domain locked
 *
 * Return: 0 or -ENOMEM.
 */
int eventlog_enable_event(struct eventlog_event *event);

/**
 * eventlog_enable_tracers_changed() - tracers were attached to an event, or the last has gone
 * @event: with a slot, its domain locked
 */
void eventlog_enable_tracers_changed(struct eventlog_event *event);

/**
 * eventlog_enable_event_clear() - an event ends: nobody wants it any more
 * @event: with a slot, its domain locked
 */
void eventlog_enable_event_clear(struct eventlog_event *event);

/**
 * eventlog_enable_rule_add() - put a new rule into force
 * @subscriber: its domain locked
 * @rule: in none of its lists yet
 *
 * Return: 0 or -ENOMEM; then nothing is changed and @rule is still the caller's.
 */
int eventlog_enable_rule_add(struct eventlog_subscriber *subscriber, struct eventlog_subscriber_rule *rule);

/**
 * eventlog_enable_rule_remove() - put a rule out of force
 * @subscriber: its domain locked
 * @rule: one of its rules; the caller frees it after an RCU grace period
 */
void eventlog_enable_rule_remove(struct eventlog_subscriber *subscriber,
				 struct eventlog_subscriber_rule *rule);

/**
 * eventlog_enable_subscriber_remove() - put all rules of a subscriber out of force
 * @subscriber: its domain locked, already out of the domain's list.  Its rules
 *	are left in its list, to be freed after an RCU grace period.
 */
void eventlog_enable_subscriber_remove(struct eventlog_subscriber *subscriber);

#endif /* EVENTLOG_ENABLE_H */
