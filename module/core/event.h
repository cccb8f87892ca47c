/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events (definitions) and providers: how they are made, shared and ended.
 *
 * A definition is live while a registration refers to it or it is persistent.
 * When it ends, it gives up its slot, but its text is retained while a subscriber
 * is open that was open during its life, so that records can still be decoded.
 * Registering the same definition again revives it with its old descriptor.
 *
 * All of it is under domain->lock, except what the hot path reads under RCU.  An
 * event is freed an RCU grace period after the last reference to it is gone.
 */
#ifndef EVENTLOG_EVENT_H
#define EVENTLOG_EVENT_H

#include <linux/err.h>

#include "core/fields.h"
#include "core/types.h"
#include "core/user.h"

struct eventlog_draft;

/**
 * struct eventlog_event_use - a registration, as its event sees it
 * @node: in the event's uses
 * @user: who registered; outlives the registration; NULL: one without limits
 */
struct eventlog_event_use {
	struct list_head node;
	struct eventlog_user *user;
};

/**
 * struct eventlog_event_request - a definition that is to be found or made
 * @domain: its domain
 * @provider: a valid provider name
 * @fields: parsed; a new definition takes text and layout over and sets them to NULL
 * @level: enum eventlog_level
 * @keywords: mask
 * @admit: NULL, or called first, the domain locked: an errno refuses the registration
 * @registered: NULL, or called under the same lock when the event has the registration
 */
struct eventlog_event_request {
	struct eventlog_domain *domain;
	const char *provider;
	struct eventlog_fields *fields;
	u8 level;
	u64 keywords;
	int (*admit)(struct eventlog_event_request *request);
	void (*registered)(struct eventlog_event_request *request, struct eventlog_event *event);
};

/**
 * eventlog_event_register() - find or make a definition, and add a registration to it
 * @request: what is registered, its domain not locked
 * @use: of the registration; its user is set
 *
 * Process context.  What a new definition needs is made without the domain's lock; the memory
 * is charged to the caller.
 *
 * Return: the event, for eventlog_event_unregister(), or ERR_PTR: -EPERM (a kernel provider
 * has the name), -ENOSPC (no room in the domain), -EDQUOT (the user has too many, or makes
 * them in too short a time, or there is no more memory for what rules match), -EINTR (a fatal
 * signal is pending), -ENODEV (the domain is dead), -ENOMEM, or what @request->admit() returned.
 */
struct eventlog_event *eventlog_event_register(struct eventlog_event_request *request,
					       struct eventlog_event_use *use);

/**
 * eventlog_event_unregister() - remove a registration; the last one ends the event
 * @event: the event, its domain not locked
 * @use: of the registration
 *
 * Process context.
 */
void eventlog_event_unregister(struct eventlog_event *event, struct eventlog_event_use *use);

/**
 * eventlog_event_get() - find or make a definition, for eventlog_event_register()
 * @request: what is registered, its domain locked
 * @draft: made from it; NULL: only find a live definition
 *
 * Return: the event, or ERR_PTR: -ENOENT (without a draft), -EAGAIN (the draft was not matched
 * with all rules and policies, or release the lock and try again), or as for
 * eventlog_event_register().
 */
struct eventlog_event *eventlog_event_get(const struct eventlog_event_request *request,
					  struct eventlog_draft *draft);

/* Counts an event for a user, and its text too. */
static inline void eventlog_event_users_get(struct eventlog_event *event,
					    struct eventlog_user *user)
{
	event->user = eventlog_user_get(user);
	event->maker = eventlog_user_get(user);
}

static inline void eventlog_event_users_put(struct eventlog_event *event)
{
	eventlog_user_put(event->user);
	eventlog_user_put(event->maker);
}

/**
 * eventlog_event_use() - add a registration to a live event
 * @event: the event, its domain locked
 * @use: of the registration; its user is set
 */
void eventlog_event_use(struct eventlog_event *event, struct eventlog_event_use *use);

/**
 * eventlog_event_put() - remove a registration from an event
 * @event: the event, its domain locked; the last registration ends it
 * @use: of the registration; NULL: a kernel provider's
 *
 * The caller calls eventlog_sinks_reap() once it has released the lock.
 */
void eventlog_event_put(struct eventlog_event *event, struct eventlog_event_use *use);

/**
 * eventlog_event_hold() - keep the memory of a definition
 * @event: the event, its domain locked
 *
 * Name, descriptor and fields_text stay readable without a lock, even if the definition
 * is forgotten meanwhile.
 */
static inline void eventlog_event_hold(struct eventlog_event *event)
{
	refcount_inc(&event->holders);
}

/**
 * eventlog_event_preamble() - get the schema text between the provider's name and the event
 * @event: the event
 *
 * Return: the text, or NULL: the event has no schema of its own.
 */
const char *eventlog_event_preamble(const struct eventlog_event *event);

/**
 * eventlog_event_sets() - get the tables that have the names of enums and flags
 * @event: the event, its domain locked
 *
 * Return: tables that live as long as @event, or until the kernel provider is
 * unregistered; or NULL: there are none.
 */
const struct eventlog_provider *eventlog_event_sets(const struct eventlog_event *event);

/**
 * eventlog_event_release() - end eventlog_event_hold()
 * @event: the event
 */
void eventlog_event_release(struct eventlog_event *event);

/**
 * eventlog_provider_alloc() - memory for a provider, which has no id yet
 * @name: its name
 *
 * Process context.
 *
 * Return: the struct, for eventlog_free() as long as it is in no list, or NULL.
 */
struct eventlog_provider_info *eventlog_provider_alloc(const char *name);

/**
 * eventlog_kernel_provider_new() - make the domain's struct for a kernel provider
 * @domain: the domain, locked
 * @kernel: the provider; its name is valid
 * @preamble: schema text after its name; taken over on success
 *
 * Return: the struct, in no list yet, for eventlog_kernel_provider_put(); or
 * ERR_PTR: -ENOSPC (no id left), -EAGAIN (release the lock and try again), -ENOMEM.
 */
struct eventlog_provider_info *eventlog_kernel_provider_new(struct eventlog_domain *domain,
							    struct eventlog_provider *kernel,
							    char *preamble);

/**
 * eventlog_kernel_provider_put() - release the struct of a provider that is unregistered
 * @domain: the domain, locked
 * @info: freed once no event refers to it; its id is free at once
 */
void eventlog_kernel_provider_put(struct eventlog_domain *domain,
				  struct eventlog_provider_info *info);

/**
 * eventlog_event_new_kernel() - make a definition of a kernel provider
 * @draft: of eventlog_draft_make_kernel(), its domain locked; since it was made, update_lock
 *	was not released, so that there are no new rules
 * @fields: name, text and layout; text and layout are taken over and set to NULL
 *
 * The definition is not shared; eventlog_event_put() ends it.
 *
 * Return: the event, or ERR_PTR: -ENOSPC, -ENOMEM.
 */
struct eventlog_event *eventlog_event_new_kernel(struct eventlog_draft *draft,
						 struct eventlog_fields *fields);

/**
 * eventlog_event_discard() - remove a definition before anyone could use it
 * @event: new, of a kernel provider, its domain locked
 */
void eventlog_event_discard(struct eventlog_event *event);

/**
 * eventlog_event_persist() - make a definition outlive its registrations
 * @event: live, its domain locked
 */
void eventlog_event_persist(struct eventlog_event *event);

/**
 * eventlog_event_delete() - delete persistent events by name
 * @domain: the domain, not locked
 * @provider: provider name
 * @other: another one, whose events of that name are deleted as well, or NULL
 * @name: event name; all persistent definitions of that name are deleted
 *
 * Process context.
 *
 * Return: 0; -ENOENT; -EBUSY: a process has registered one of them, or a tracer is attached
 * to it.  Then nothing is deleted, unless that happened during the call.
 */
int eventlog_event_delete(struct eventlog_domain *domain, const char *provider, const char *other,
			  const char *name);

/**
 * eventlog_events_release_retained() - free texts that no open subscriber needs any more
 * @domain: the domain, not locked; a subscriber has just been removed
 */
void eventlog_events_release_retained(struct eventlog_domain *domain);

/**
 * eventlog_events_kill() - disable all events for ever, when an instance is deleted
 * @domain: not the root domain; not locked
 *
 * From now on the domain is dead: nothing can be registered or subscribed.  Writers may use
 * the old listeners until an RCU grace period has ended.
 */
void eventlog_events_kill(struct eventlog_domain *domain);

/**
 * eventlog_events_drop_all() - remove all events, persistent ones too, at unload
 * @domain: the domain, locked, without registrations and subscribers
 *
 * Releases the lock now and then.
 */
void eventlog_events_drop_all(struct eventlog_domain *domain);

#endif /* EVENTLOG_EVENT_H */
