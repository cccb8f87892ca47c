/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The structs that several files of core/ share.
 *
 * A domain is the set of definitions, providers and subscribers that see one
 * another, and the status map that shows processes which events are enabled.  The root
 * domain is behind /dev/eventlog; each instance, see user/instance.h, has another one.
 *
 * domain->lock, a mutex, protects the domain and all members of its events,
 * providers and rule lists, except those that are said to be RCU-protected.  It
 * is never held across an access to user memory, an RCU grace period, or the
 * allocation of rings.
 *
 * domain->update_lock, a mutex, is held while something changes that kernel
 * providers must be notified of (providers, rules and subscribers that come or
 * go), until they have been notified: see provider.h.  The functions of providers
 * run under it, without domain->lock.
 *
 * Order: eventlog_file.lock, domain->update_lock or domain->policy_lock, domain->lock.
 *
 * Nothing whose length a user chooses runs under a lock that others wait for, and nothing
 * that a user makes the kernel keep is uncharged.  The longest work under each lock:
 *
 * - domain->lock: EVENTLOG_BATCH_STEPS steps, and one more element.  Whatever visits rules,
 *   events or policies counts its steps with eventlog_domain_work(), and releases the lock
 *   and takes it again after a batch.  The longest element is a rule that is added to an
 *   event: two globs, the event's array of listeners (an entry for each subscriber) and the
 *   subscriber's array of conditions (an entry for each of its rules); or an event that ends
 *   and whose text replaces those of older ones, each with the counters of all subscribers.
 * - domain->update_lock: RULE_ADD, which matches a rule with all events, and the functions
 *   of kernel providers.  In the root its users have a capability; in an instance only the
 *   instance waits.  A fatal signal ends RULE_ADD.
 * - domain->policy_lock: MARKER_SET, which matches a policy with all events; likewise.
 */
#ifndef EVENTLOG_TYPES_H
#define EVENTLOG_TYPES_H

#include <linux/atomic.h>
#include <linux/hashtable.h>
#include <linux/idr.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <linux/xarray.h>
#include <uapi/linux/eventlog.h>

#include "core/cgroup.h"
#include "core/steps.h"

struct eventlog_event;
struct eventlog_expression;
struct eventlog_layout;
struct eventlog_predicate;
struct eventlog_provider;
struct eventlog_provider_event;
struct eventlog_shard;
struct eventlog_sink_rules;
struct eventlog_subscriber;
struct eventlog_tables;
struct eventlog_trace_event;
struct eventlog_tracers;
struct eventlog_user;
struct eventlog_watch;
struct mem_cgroup;
struct task_struct;

/**
 * struct eventlog_domain - see the top of the file
 * @id: what user space calls it; 0 is the root domain.  Constant
 * @owner: effective uid of openers that need no capability; INVALID_UID: none.  Constant
 * @user: all its openers count as this user, with a reference; NULL: each is its own
 * @trace_group: what the groups of its trace events begin with; NULL: it has none.  Constant
 * @trace_unmade: live events that have no trace event for want of room; written under the lock
 *	of trace/worker.h, read without it
 * @dead: it was deleted: nothing is enabled any more, nothing can be added.  Set once
 * @ended: likewise, and all records are in the rings; read without the lock
 * @lock: see the top of the file; eventlog_domain_lock() takes it
 * @work: steps of the current hold of @lock, see eventlog_domain_work()
 * @steps: likewise, for tests
 * @definitions: struct eventlog_event by descriptor, live and retained; also read
 *	under RCU
 * @names: the same, hashed by everything that makes two definitions different
 * @hash_key: secret, for the hash tables
 * @retained: events without users whose text is kept, oldest first
 * @retained_count: their number
 * @providers: struct eventlog_provider_info of processes, hashed by name
 * @kernel_names: registered kernel providers, likewise
 * @provider_ids: 1 to 65535
 * @producers: struct eventlog_file of producers; see user/registrations.h
 * @update_lock: see the top of the file
 * @kernel_providers: struct eventlog_provider_info of registered kernel
 *	providers; under @update_lock
 * @kernel_provider_count: number of registered kernel providers
 * @dirty_providers: kernel providers that must be notified, because one of their
 *	events was enabled or disabled
 * @subscribers: struct eventlog_subscriber, oldest first
 * @subscriber_count: their number
 * @subscriber_sequence: the number of the next subscriber
 * @registrants_lock: protects &eventlog_event.registrants; see user/visible.h
 * @registrants_steps: of the current hold of @registrants_lock
 * @rules: struct eventlog_rule_place of the rules of all subscribers, oldest first, and of
 *	definitions that are being made
 * @rules_added: how many rules were added to @rules so far
 * @stale: sinks of events that have ended, see eventlog_sinks_reap()
 * @sink_bytes: memory of all sinks, bindings and counters
 * @sink_bytes_max: limit of @sink_bytes; RULE_ADD stops at half of it.  Constant
 * @slots: which slots of the status map are taken
 * @status_map: the status map, in vmalloc memory that user space may map
 * @status_map_bytes: its size, whole pages
 * @policies: struct eventlog_policy, oldest first
 * @policy_count: their number
 * @policy_id: the id of the newest policy
 * @policy_lock: serialises the adding of policies
 * @policy_version: incremented whenever @policies change
 * @policy_tests: number of calls that add policies so far, those that failed too
 * @filter_version: the newest &eventlog_event_policy.version
 * @leaving: EVENTLOG_LEAVE_*, who is asked to give the device up; see core/leave.h
 * @rule_count: rules that are in force; under @update_lock, read without it
 * @rules_awaited: see eventlog_domain_awaits()
 * @live: number of events with a slot
 * @busy: number of enabled events
 * @shards: what producer rings are drained to, @shard_count of them; see user/mapped.h
 * @shard_count: constant
 * @events_max: limit of @live
 * @events_reserved: how many of them users with limits cannot take
 * @subscribers_max: limit of @subscriber_count
 */
struct eventlog_domain {
	u32 id;
	kuid_t owner;
	struct eventlog_user *user;
	const char *trace_group;
	unsigned int trace_unmade;
	bool dead;
	bool ended;
	struct mutex lock;
	unsigned int work;
	struct eventlog_steps steps;
	struct xarray definitions;
	DECLARE_HASHTABLE(names, 10);
	siphash_key_t hash_key;
	struct list_head retained;
	unsigned int retained_count;
	DECLARE_HASHTABLE(providers, 8);
	DECLARE_HASHTABLE(kernel_names, 8);
	struct ida provider_ids;
	struct xarray producers;
	struct mutex update_lock;
	struct list_head kernel_providers;
	unsigned int kernel_provider_count;
	struct list_head dirty_providers;
	struct list_head subscribers;
	unsigned int subscriber_count;
	u64 subscriber_sequence;
	spinlock_t registrants_lock;
	struct eventlog_steps registrants_steps;
	struct list_head rules;
	u64 rules_added;
	struct list_head stale;
	size_t sink_bytes;
	size_t sink_bytes_max;
	unsigned long *slots;
	void *status_map;
	size_t status_map_bytes;
	struct list_head policies;
	unsigned int policy_count;
	u32 policy_id;
	struct mutex policy_lock;
	u64 policy_version;
	u64 policy_tests;
	u32 filter_version;
	u32 leaving;
	unsigned int rule_count;
	unsigned int rules_awaited;
	unsigned int live;
	unsigned int busy;
	struct eventlog_shard *shards;
	unsigned int shard_count;
	unsigned int events_max;
	unsigned int events_reserved;
	unsigned int subscribers_max;
};

/* After so many steps the holder of domain->lock releases it. */
#define EVENTLOG_BATCH_STEPS 1024

/**
 * eventlog_domain_lock() - take domain->lock
 * @domain: the domain
 */
static inline void eventlog_domain_lock(struct eventlog_domain *domain)
{
	mutex_lock(&domain->lock);
	domain->work = 0;
	eventlog_steps_begin(&domain->steps);
}

/**
 * eventlog_domain_trylock() - take domain->lock unless it is held
 * @domain: the domain
 *
 * Return: whether it was taken.
 */
static inline bool eventlog_domain_trylock(struct eventlog_domain *domain)
{
	if (!mutex_trylock(&domain->lock))
		return false;
	domain->work = 0;
	eventlog_steps_begin(&domain->steps);
	return true;
}

/**
 * eventlog_domain_unlock() - release domain->lock
 * @domain: the domain
 */
static inline void eventlog_domain_unlock(struct eventlog_domain *domain)
{
	eventlog_steps_end(&domain->steps, EVENTLOG_STEPS_DOMAIN);
	mutex_unlock(&domain->lock);
}

/**
 * eventlog_domain_work() - count steps, see the top of the file
 * @domain: locked
 * @steps: how many
 */
static inline void eventlog_domain_work(struct eventlog_domain *domain, unsigned int steps)
{
	domain->work += steps;
	eventlog_steps_add(&domain->steps, steps);
}

/**
 * eventlog_domain_pause() - release the lock and take it again after a batch
 * @domain: locked
 *
 * Return: true: it did.  What the caller knows of the domain may no longer be true.
 */
static inline bool eventlog_domain_pause(struct eventlog_domain *domain)
{
	if (domain->work < EVENTLOG_BATCH_STEPS)
		return false;
	eventlog_domain_unlock(domain);
	cond_resched();
	eventlog_domain_lock(domain);
	return true;
}

/**
 * struct eventlog_provider_info - what a domain knows of a provider
 * @node: in the domain's providers or, while it is registered, kernel_names
 * @name: its name, in the same allocation
 * @id: 1 to 65535, unique among live providers
 * @id_held: @id is taken; false once a kernel provider is unregistered
 * @next_event_id: the id of its next event
 * @users: events that refer to it, retained ones included, and its registration
 * @kernel: the kernel provider while it is registered; NULL for processes'
 * @preamble: schema text after a kernel provider's name; owned; NULL for processes'
 * @kernel_node: in the domain's kernel_providers; under domain->update_lock
 * @dirty_node: in the domain's dirty_providers
 * @enabled_once: one of its events has been enabled; under domain->update_lock
 * @last_level: the level of the last notification; under domain->update_lock
 * @dump_task: the task that runs a state dump, or NULL; emission compares it
 * @dump_subscriber: the only subscriber that gets the dump, or NULL; likewise
 * @rcu: frees it
 *
 * Processes that use the same name share one; each kernel provider has its own.
 */
struct eventlog_provider_info {
	struct hlist_node node;
	const char *name;
	u16 id;
	bool id_held;
	u32 next_event_id;
	unsigned int users;
	struct eventlog_provider *kernel;
	char *preamble;
	struct list_head kernel_node;
	struct list_head dirty_node;
	bool enabled_once;
	u32 last_level;
	const struct task_struct *dump_task;
	const struct eventlog_subscriber *dump_subscriber;
	struct rcu_head rcu;
};

/* The trace event has the provider's name as its group, and has no session. */
#define EVENTLOG_TRACE_PLAIN 1
/* The trace event's name always has a suffix that makes it unique. */
#define EVENTLOG_TRACE_UNIQUE 2

/**
 * struct eventlog_event_trace - the tracer's part of an event; see trace/attach.h
 * @tracers: what is attached to the trace event; RCU; NULL: nothing.  core/ only
 *	tests whether it is NULL
 * @event: the trace event while the definition is live, or NULL
 * @flags: EVENTLOG_TRACE_*; constant
 * @unmade: there was no room for a trace event
 * @unmade_node: in the list of those
 */
struct eventlog_event_trace {
	struct eventlog_tracers __rcu *tracers;
	struct eventlog_trace_event *event;
	unsigned int flags;
	bool unmade;
	struct list_head unmade_node;
};

/**
 * struct eventlog_event_policy - the marker policy's part of an event; see marker/policy.h
 * @filter: the condition on @handlers, with a reference; NULL: there is none
 * @tested: the call that tested last whether its policy applies to the event; 0: none
 * @fit: what it found; see marker/policy.c
 * @version: number of @filter, unique in the domain until it wraps; 0: there is none
 * @handlers: EVENTLOG_MARKER_*, what a program's marker does beside tracing
 * @incompatible: the program has reported that it cannot evaluate @filter
 */
struct eventlog_event_policy {
	struct eventlog_expression *filter;
	u64 tested;
	u8 fit;
	u32 version;
	u8 handlers;
	bool incompatible;
};

/**
 * struct eventlog_event - one definition
 * @listeners: its listeners; RCU; NULL: the event is disabled
 * @layout: what payloads are validated against; constant
 * @descriptor: what records carry; unique in the module and never reused
 * @slot: its place in the status map; 0: it is retained, not live.  user/visible.c reads it
 *	under RCU
 * @user: the user that it counts for while it is live, with a reference; NULL: one
 *	without limits.  It is that of the oldest registration, if that user has room
 * @maker: the user that made it; its text counts for this user.  With a reference, or NULL
 *	as @user; constant
 * @user_node: in the maker's retained
 * @retained_bytes: what is charged to the maker
 * @registrations: how many registrations refer to it
 * @registrants: struct eventlog_registrant, by uid; see user/visible.h
 * @uses: struct eventlog_event_use of those by processes, oldest first
 * @persistent: lives without registrations
 * @state_dump: belongs to state dumps; constant
 * @level: enum eventlog_level
 * @keywords: mask
 * @id: within its provider
 * @domain: its domain
 * @provider: its provider
 * @name: its name, in the same allocation
 * @fields_text: as in &struct eventlog_fields; for an event of a kernel provider, or with
 *	@tables, the whole statement; owned
 * @tables: the schema that a process registered; NULL: there is none; constant, owned
 * @types: see struct eventlog_fields; constant, owned
 * @source: the kernel provider's side of it while that is registered
 * @lost_rcu_idle: the final count of @source, once that is unregistered
 * @trace: the tracer's part
 * @policy: the marker policy's part
 * @watch: a front end's part, see struct eventlog_watch_ops; NULL: nothing watches it
 * @sinks: struct eventlog_sink of the subscribers whose rules match it, oldest subscriber
 *	first; empty unless it is live or being made
 * @sink_count: their number
 * @stats: struct eventlog_event_stats of subscribers
 * @hash_node: in the domain's names; unused by events of kernel providers
 * @retained_node: in the domain's retained
 * @retired_at: the domain's subscriber_sequence when it ended
 * @holders: keeps the memory of a definition that is forgotten; see
 *	eventlog_event_hold()
 * @rcu: drops the domain's hold
 */
struct eventlog_event {
	struct eventlog_listeners __rcu *listeners;
	struct eventlog_layout *layout;
	u32 descriptor;
	u32 slot;
	struct eventlog_user *user;
	struct eventlog_user *maker;
	struct list_head user_node;
	size_t retained_bytes;
	unsigned long registrations;
	struct rb_root registrants;
	struct list_head uses;
	bool persistent;
	bool state_dump;
	u8 level;
	u64 keywords;
	u32 id;
	struct eventlog_domain *domain;
	struct eventlog_provider_info *provider;
	const char *name;
	char *fields_text;
	struct eventlog_tables *tables;
	char *types;
	struct eventlog_provider_event *source;
	u64 lost_rcu_idle;
	struct eventlog_event_trace trace;
	struct eventlog_event_policy policy;
	struct eventlog_watch *watch;
	struct list_head sinks;
	unsigned int sink_count;
	struct list_head stats;
	struct hlist_node hash_node;
	struct list_head retained_node;
	u64 retired_at;
	refcount_t holders;
	struct rcu_head rcu;
};

/**
 * struct eventlog_filter_counts - what became of the events that a filter was evaluated for
 * @rejected: the filter was false
 * @incompatible: likewise, and the event lacked a field, or it had another type
 */
struct eventlog_filter_counts {
	unsigned long rejected;
	unsigned long incompatible;
};

/**
 * struct eventlog_rule_place - a place in the rules of a domain
 * @node: in the domain's rules
 * @rule: the rule; NULL: the place behind the last rule that was matched with a definition
 *	which is being made
 * @added: of a definition: &eventlog_domain.rules_added when there was no rule behind it
 */
struct eventlog_rule_place {
	struct list_head node;
	struct eventlog_subscriber_rule *rule;
	u64 added;
};

/**
 * struct eventlog_subscriber_rule - a rule of a subscriber; constant once added
 * @node: in the subscriber's rules
 * @place: in the domain's
 * @subscriber: the subscriber
 * @bindings: struct eventlog_binding, one for each event that it matches
 * @memcg: the memory cgroup of who added it, which pays for @bindings, with a reference; NULL:
 *	memory is not charged
 * @users: frees it; see eventlog_rule_put()
 * @removed: it is no longer in the lists
 * @id: for RULE_DEL
 * @flags: EVENTLOG_RULE_*
 * @keywords_any: 0, or the event has one of these
 * @keywords_all: the event has all of these
 * @session: with EVENTLOG_RULE_SESSION
 * @pid: with EVENTLOG_RULE_PID, a tgid in the subscriber's pid namespace
 * @cgroup: with EVENTLOG_RULE_CGROUP
 * @level: 0, or the event's level is at most this
 * @sample: 0, or one in so many events is delivered
 * @sampled: counts the events that passed all other tests
 * @expression: the filter, or NULL; counts as a user
 * @sync: the filter or @cgroup needs the CPU or the current task
 * @counts: per CPU, with a filter
 * @folded: what the subscriber's totals already contain of @counts; under domain->lock
 * @provider: glob, in the same allocation
 * @event: glob, likewise
 */
struct eventlog_subscriber_rule {
	struct list_head node;
	struct eventlog_rule_place place;
	struct eventlog_subscriber *subscriber;
	struct list_head bindings;
	struct mem_cgroup *memcg;
	refcount_t users;
	bool removed;
	u32 id;
	u32 flags;
	u64 keywords_any;
	u64 keywords_all;
	u64 session;
	u32 pid;
	struct eventlog_cgroup cgroup;
	u32 level;
	u32 sample;
	atomic_t sampled;
	struct eventlog_expression *expression;
	bool sync;
	struct eventlog_filter_counts __percpu *counts;
	struct eventlog_filter_counts folded;
	const char *provider;
	const char *event;
};

/**
 * struct eventlog_event_stats - a subscriber's counters of an event
 * @lost: events that a ring could not take, whose loss the ring counted
 * @invalid: of these, events whose payload was not valid
 * @rcu_idle_before: eventlog_event_lost_rcu_idle() when it was made
 * @subscriber: the subscriber
 * @event: the event
 * @event_node: in the event's stats
 * @subscriber_node: in the subscriber's stats
 * @rcu: frees it
 *
 * Made when a subscriber with rings first listens to the event; lives until the subscriber
 * closes or the definition is forgotten.
 */
struct eventlog_event_stats {
	atomic_long_t lost;
	atomic_long_t invalid;
	u64 rcu_idle_before;
	struct eventlog_subscriber *subscriber;
	struct eventlog_event *event;
	struct list_head event_node;
	struct list_head subscriber_node;
	struct rcu_head rcu;
};

/**
 * struct eventlog_sink - what makes a subscriber listen to an event
 * @subscriber: the subscriber
 * @event: the event; NULL: it has ended, and only the bindings are left to be freed
 * @node: in the event's sinks, or in the domain's stale
 * @bindings: struct eventlog_binding, one for each of the subscriber's rules that match, in
 *	the order in which they were matched; never empty
 * @stats: the counters; NULL without rings
 * @rules: what emission tests unless @plain; NULL: no binding has conditions
 * @plain: number of bindings without conditions
 * @terms: what its bindings may have emission test, see eventlog_binding_terms()
 * @filters: number of those with a filter
 * @syncs: number of those whose filter needs the CPU or the current task
 */
struct eventlog_sink {
	struct eventlog_subscriber *subscriber;
	struct eventlog_event *event;
	struct list_head node;
	struct list_head bindings;
	struct eventlog_event_stats *stats;
	struct eventlog_sink_rules *rules;
	unsigned int plain;
	unsigned int terms;
	unsigned int filters;
	unsigned int syncs;
};

/**
 * struct eventlog_binding - a rule and an event that it matches
 * @rule: the rule
 * @rule_node: in the rule's bindings
 * @sink: of the event and the rule's subscriber
 * @sink_node: in the sink's bindings
 * @predicate: the rule's filter, bound to the event, or NULL
 * @index: its place in the sink's rules, if the rule has conditions
 *
 * Globs are matched once, when the rule is added or the event is made.
 */
struct eventlog_binding {
	struct eventlog_subscriber_rule *rule;
	struct list_head rule_node;
	struct eventlog_sink *sink;
	struct list_head sink_node;
	struct eventlog_predicate *predicate;
	unsigned int index;
};

/**
 * struct eventlog_listener_rule - a rule that emission tests
 * @rule: the rule
 * @predicate: its filter, bound to the event, or NULL
 */
struct eventlog_listener_rule {
	struct eventlog_subscriber_rule *rule;
	const struct eventlog_predicate *predicate;
};

/**
 * struct eventlog_sink_rules - the rules with conditions of a sink
 * @rcu: frees it
 * @count: number of @rules
 * @dead: how many of them were removed: in their place is a rule that never passes
 * @room: how many fit.  Those behind @count can be written, because no listener knows them
 * @rules: the rules
 */
struct eventlog_sink_rules {
	struct rcu_head rcu;
	unsigned int count;
	unsigned int dead;
	unsigned int room;
	struct eventlog_listener_rule rules[];
};

/**
 * struct eventlog_listener - a subscriber that listens to an event
 * @subscriber: the subscriber; it may be freed if @dead
 * @stats: its counters of the event; NULL without rings
 * @rules: the event is delivered if it passes one of them.  In a &struct
 *	eventlog_sink_rules; never NULL
 * @rule_count: 0: nothing is left to test.  May change between 0 and another number that
 *	does not change
 * @filtered: one of @rules has a filter; or it is @dead
 * @dead: the subscriber does not listen any more; there was no memory for an array without it
 * @sync: EVENTLOG_SYNC_*, why a subscriber with rings cannot use producer rings; under
 *	domain->lock
 */
struct eventlog_listener {
	struct eventlog_subscriber *subscriber;
	struct eventlog_event_stats *stats;
	const struct eventlog_listener_rule *rules;
	unsigned int rule_count;
	bool filtered;
	bool dead;
	u8 sync;
};

/**
 * struct eventlog_listeners - the listeners of an event
 * @rcu: frees it
 * @count: entries of subscribers with rings; they come first
 * @called: end of the entries of callbacks, which follow
 * @listed: end of all entries; the last ones are subscribers without rings, which
 *	only keep events enabled
 * @others: there are callbacks or tracers
 * @traced: a tracer is attached to the event's trace event
 * @slow: emission begins with its slow path: there are @others, or no rings, or the rings are
 *	written under a lock, or the event belongs to state dumps
 * @rings_sync: a subscriber with rings cannot get the event from a producer ring
 * @entries: the subscribers
 *
 * A published array changes only in ways that a reader may see in any order: a rule or an
 * entry is replaced by one that never passes, conditions are tested again after the rule
 * without conditions has gone, and @others, @traced and @slow.
 */
struct eventlog_listeners {
	struct rcu_head rcu;
	unsigned int count;
	unsigned int called;
	unsigned int listed;
	bool others;
	bool traced;
	bool slow;
	bool rings_sync;
	struct eventlog_listener entries[];
};

#endif /* EVENTLOG_TYPES_H */
