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

#include "core/fields.h"
#include "core/types.h"

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
