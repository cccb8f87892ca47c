/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Domains, and the status map by which processes learn which events are enabled.  The
 * struct and its locks are in types.h.
 */
#ifndef EVENTLOG_DOMAIN_H
#define EVENTLOG_DOMAIN_H

#include "core/types.h"

/*
 * The status map has one byte, EVENTLOG_STATUS_*, for each slot.  The first slots have
 * no event: their bytes contain the generation.
 */
#define EVENTLOG_SLOT_FIRST 4
#define EVENTLOG_EVENTS_MAX 65535

/* One in so many events is reserved for the kernel and users without limits. */
#define EVENTLOG_EVENTS_RESERVED 16

/* The domain of /dev/eventlog and of kernel providers. */
extern struct eventlog_domain eventlog_root_domain;

/**
 * eventlog_domain_init() - make an empty domain
 * @domain: zeroed
 * @events_max: 1 to EVENTLOG_EVENTS_MAX
 * @subscribers_max: at least 1
 *
 * Return: 0 or -ENOMEM.
 */
int eventlog_domain_init(struct eventlog_domain *domain, unsigned int events_max,
			 unsigned int subscribers_max);

/**
 * eventlog_domain_destroy() - take a domain down
 * @domain: without open files, events and policies
 *
 * Process context.  The caller waits for RCU callbacks (rcu_barrier()) before
 * the module goes.
 */
void eventlog_domain_destroy(struct eventlog_domain *domain);

/**
 * eventlog_domain_slot_get() - take a slot of the status map
 * @domain: the domain, locked
 *
 * Return: the slot, at least EVENTLOG_SLOT_FIRST, or -ENOSPC.  No bit of its byte is set but
 * perhaps EVENTLOG_STATUS_SESSION and EVENTLOG_STATUS_LEAVE, which all slots have.
 */
int eventlog_domain_slot_get(struct eventlog_domain *domain);

/**
 * eventlog_domain_slot_put() - give a slot back
 * @domain: the domain, locked
 * @slot: the slot; its byte is as that of a new one
 */
void eventlog_domain_slot_put(struct eventlog_domain *domain, unsigned int slot);

/**
 * eventlog_domain_status_set() - tell processes whether an event is enabled
 * @domain: the domain, locked
 * @slot: the event's slot
 * @enabled: new value of EVENTLOG_STATUS_ENABLED
 * @sync: new value of EVENTLOG_STATUS_SYNC
 *
 * While programs are to leave, the byte says that, and in another way whether it is enabled.
 */
void eventlog_domain_status_set(struct eventlog_domain *domain, unsigned int slot, bool enabled,
				bool sync);

/**
 * eventlog_domain_status_leave() - have all programs look at EVENTLOG_STATUS_LEAVE
 * @domain: the domain, locked; domain->leaving was set
 */
void eventlog_domain_status_leave(struct eventlog_domain *domain);

/**
 * eventlog_domain_status_stay() - the opposite, for slots without an event
 * @domain: the domain, locked; domain->leaving was cleared.  For the others, the caller calls
 *	eventlog_domain_status_set()
 */
void eventlog_domain_status_stay(struct eventlog_domain *domain);

/**
 * eventlog_domain_handlers_set() - tell processes which handlers of a marker are on
 * @domain: the domain, locked
 * @slot: its event's slot
 * @handlers: EVENTLOG_MARKER_PRINT, EVENTLOG_MARKER_PROBE
 * @has_filter: the handlers have a filter, which must be evaluated each time the marker fires
 */
void eventlog_domain_handlers_set(struct eventlog_domain *domain, unsigned int slot, u8 handlers,
				  bool has_filter);

/**
 * eventlog_domain_status_session() - tell processes whether sessions of threads are of interest
 * @domain: the domain, locked
 * @wanted: new value of EVENTLOG_STATUS_SESSION of all slots, also of those without an event
 */
void eventlog_domain_status_session(struct eventlog_domain *domain, bool wanted);

/**
 * eventlog_domain_status_dead() - have producers call the kernel, which returns -ENODEV
 * @domain: the domain, locked and dead, without listeners
 */
void eventlog_domain_status_dead(struct eventlog_domain *domain);

/**
 * eventlog_domain_generation() - what eventlog_domain_generation_bump() changes
 * @domain: the domain, locked
 */
u32 eventlog_domain_generation(const struct eventlog_domain *domain);

/**
 * eventlog_domain_generation_bump() - tell processes that marker policies have changed
 * @domain: the domain, locked; the change has been made
 */
void eventlog_domain_generation_bump(struct eventlog_domain *domain);

#endif /* EVENTLOG_DOMAIN_H */
