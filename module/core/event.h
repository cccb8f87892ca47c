/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events (definitions) and providers: their making, sharing, and end.
 *
 * A definition lives while a registration refers to it or it is persistent;
 * then it gives its bits up.  Its text stays ("retained") while a subscriber is
 * open that was open while it lived, so that records still decode; registering
 * the same definition again brings it back with its old descriptor.
 *
 * All under domain->lock, but for what the hot path reads under RCU: wanted.
 * An event is freed an RCU grace period after nothing can find it any more.
 */
#ifndef EVENTLOG_EVENT_H
#define EVENTLOG_EVENT_H

#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <uapi/linux/eventlog.h>

#include "core/fields.h"

struct eventlog_domain;
struct eventlog_predicate;
struct eventlog_provider;
struct eventlog_provider_event;
struct eventlog_subscriber;
struct eventlog_trace_event;
struct eventlog_tracers;
struct eventlog_wanted;
struct task_struct;

/**
 * struct eventlog_provider_info - what a domain knows of a provider
 * @node: in the domain's providers, hashed by name; not a kernel provider's
 * @name: its name
 * @id: 1 to 65535, unique among the living
 * @id_held: @id is taken; no longer when a kernel provider has gone
 * @next_event_id: the id its next event gets
 * @users: events that refer to it, retained ones included, and its registration
 * @kernel: the kernel provider, while it is registered; NULL: processes'
 * @preamble: schema text behind a kernel provider's name; owned; NULL: processes'
 * @kernel_node: in the domain's kernel_providers; under domain->update_lock
 * @changed_node: in the domain's changed_providers, when it is
 * @enabled_once: one of its events has been; under domain->update_lock
 * @told_level: the level the provider was told last; under domain->update_lock
 * @rundown_by: the task that runs a rundown, or NULL; compared by emission
 * @rundown_for: whom that is for, NULL: everybody; likewise
 * @rcu: frees it
 *
 * Processes that use a name share one; each kernel provider has its own.
 */
struct eventlog_provider_info {
	struct hlist_node node;
	char name[EVENTLOG_NAME_MAX];
	u16 id;
	bool id_held;
	u32 next_event_id;
	unsigned int users;
	struct eventlog_provider *kernel;
	char *preamble;
	struct list_head kernel_node;
	struct list_head changed_node;
	bool enabled_once;
	u32 told_level;
	const struct task_struct *rundown_by;
	const struct eventlog_subscriber *rundown_for;
	struct rcu_head rcu;
};

/**
 * struct eventlog_event - one definition
 * @wanted: who wants it; RCU; NULL when nobody does
 * @tracers: who of those is attached to its trace event; RCU
 * @layout: what payloads are validated against; constant
 * @descriptor: what records carry; never reused
 * @slot: its place in the bitmap; 0: retained, not alive
 * @registrations: how many registrations refer to it
 * @persistent: lives without registrations
 * @rundown: belongs to rundowns; constant
 * @handlers: EVENTLOG_MARKER_*: what wishes make a program's marker do with each hit;
 *	also read without lock
 * @predicate: with which hits it does what else; RCU; NULL: nothing else
 * @level: enum eventlog_level
 * @keywords: mask
 * @id: within its provider
 * @domain: its domain
 * @provider: its provider
 * @name: its name
 * @fields_text: schema lines of its fields; of a kernel provider's event the
 *	whole statement; owned
 * @source: the kernel provider's side of it, while that is registered
 * @lost_not_watching: what that had counted when it went
 * @trace: its trace event, while it is alive, or NULL
 * @unmade: there was no room for a trace event
 * @hash_node: in the domain's names
 * @retained_node: in the domain's retained, when it is
 * @retired_at: the domain's subscriber_sequence when it ended
 * @rcu: frees it
 */
struct eventlog_event {
	struct eventlog_wanted __rcu *wanted;
	struct eventlog_tracers __rcu *tracers;
	struct eventlog_layout *layout;
	u32 descriptor;
	u32 slot;
	unsigned long registrations;
	bool persistent;
	bool rundown;
	u8 handlers;
	u8 level;
	struct eventlog_predicate __rcu *predicate;
	u64 keywords;
	u32 id;
	struct eventlog_domain *domain;
	struct eventlog_provider_info *provider;
	char name[EVENTLOG_NAME_MAX];
	char *fields_text;
	struct eventlog_provider_event *source;
	u64 lost_not_watching;
	struct eventlog_trace_event *trace;
	bool unmade;
	struct hlist_node hash_node;
	struct list_head retained_node;
	u64 retired_at;
	struct rcu_head rcu;
};

/**
 * eventlog_event_get() - find or make a definition and take a registration of it
 * @domain: the domain, locked
 * @provider: a valid provider name
 * @fields: parsed; text and layout are taken over (set to NULL) when it is new
 * @level: 1 to 6
 * @keywords: mask
 *
 * Return: the event, or ERR_PTR: -ENOSPC (no room in the domain), -ENOMEM.
 */
struct eventlog_event *eventlog_event_get(struct eventlog_domain *domain, const char *provider,
					  struct eventlog_fields *fields, u8 level, u64 keywords);

/**
 * eventlog_event_put() - give a registration back
 * @event: the event, its domain locked; gone or retained afterwards if this was the last
 */
void eventlog_event_put(struct eventlog_event *event);

/**
 * eventlog_kernel_provider_new() - make what the domain knows of a kernel provider
 * @domain: the domain, locked
 * @kernel: the provider; its name is valid
 * @preamble: schema text behind its name; taken over on success
 *
 * Return: it, in no list yet, to be given back with
 * eventlog_kernel_provider_put(); or ERR_PTR: -ENOSPC (no id left), -ENOMEM.
 */
struct eventlog_provider_info *eventlog_kernel_provider_new(struct eventlog_domain *domain,
							    struct eventlog_provider *kernel,
							    char *preamble);

/**
 * eventlog_kernel_provider_put() - the provider has gone
 * @domain: the domain, locked
 * @info: gone afterwards when no event refers to it; its id is free
 */
void eventlog_kernel_provider_put(struct eventlog_domain *domain,
				  struct eventlog_provider_info *info);

/**
 * eventlog_event_new_kernel() - make a definition of a kernel provider
 * @info: its provider, the domain locked
 * @fields: name, text and layout; the latter are taken over (set to NULL)
 * @source: the provider's side of it
 *
 * A definition is never shared, and ends with eventlog_event_put().
 *
 * Return: the event, or ERR_PTR: -ENOSPC, -ENOMEM.
 */
struct eventlog_event *eventlog_event_new_kernel(struct eventlog_domain *domain,
						 struct eventlog_provider_info *info,
						 struct eventlog_fields *fields,
						 struct eventlog_provider_event *source);

/**
 * eventlog_event_discard() - unmake a definition that nobody has heard of
 * @event: new, of a kernel provider, its domain locked
 */
void eventlog_event_discard(struct eventlog_event *event);

/**
 * eventlog_event_lost_not_watching() - how often it was emitted where RCU was not watching
 * @event: its domain locked
 */
u64 eventlog_event_lost_not_watching(const struct eventlog_event *event);

/**
 * eventlog_event_persist() - make a definition outlive its registrations
 * @event: alive, its domain locked
 */
void eventlog_event_persist(struct eventlog_event *event);

/**
 * eventlog_event_delete() - end the persistence of events by name
 * @domain: the domain, locked
 * @provider: provider name
 * @name: event name; every persistent definition of it is meant
 *
 * Return: 0, -ENOENT, or -EBUSY when one is registered by a process or a tracer
 * is attached to it; then nothing is changed.
 */
int eventlog_event_delete(struct eventlog_domain *domain, const char *provider,
			  const char *name);

/**
 * eventlog_events_release_retained() - forget texts that no open subscriber needs any more
 * @domain: the domain, locked; to be called when a subscriber has gone
 */
void eventlog_events_release_retained(struct eventlog_domain *domain);

/**
 * eventlog_events_drop_all() - end of a domain: persistent events go too
 * @domain: the domain, locked, without registrations and subscribers
 */
void eventlog_events_drop_all(struct eventlog_domain *domain);

#endif /* EVENTLOG_EVENT_H */
