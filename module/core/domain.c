// SPDX-License-Identifier: GPL-2.0-only
/*
 * Domains and their status map: see domain.h.
 */
#include <linux/bitmap.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/vmalloc.h>

#include "core/domain.h"
#include "memory.h"

struct eventlog_domain eventlog_root_domain;

int eventlog_domain_init(struct eventlog_domain *domain, unsigned int events_max,
			 unsigned int subscribers_max)
{
	unsigned int slots = EVENTLOG_SLOT_FIRST + events_max;

	domain->owner = INVALID_UID;
	mutex_init(&domain->lock);
	xa_init_flags(&domain->definitions, XA_FLAGS_ACCOUNT);
	xa_init_flags(&domain->producers, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	hash_init(domain->names);
	get_random_bytes(&domain->hash_key, sizeof(domain->hash_key));
	INIT_LIST_HEAD(&domain->retained);
	hash_init(domain->providers);
	hash_init(domain->kernel_names);
	ida_init(&domain->provider_ids);
	mutex_init(&domain->update_lock);
	INIT_LIST_HEAD(&domain->kernel_providers);
	INIT_LIST_HEAD(&domain->dirty_providers);
	INIT_LIST_HEAD(&domain->subscribers);
	INIT_LIST_HEAD(&domain->rules);
	INIT_LIST_HEAD(&domain->stale);
	INIT_LIST_HEAD(&domain->policies);
	mutex_init(&domain->policy_lock);
	domain->sink_bytes_max = ULONG_MAX;
	domain->subscriber_sequence = 1;
	spin_lock_init(&domain->registrants_lock);
	domain->events_max = events_max;
	domain->events_reserved = events_max / EVENTLOG_EVENTS_RESERVED;
	domain->subscribers_max = subscribers_max;

	domain->slots = eventlog_alloc(BITS_TO_LONGS(slots) * sizeof(long));
	if (!domain->slots)
		return -ENOMEM;
	bitmap_set(domain->slots, 0, EVENTLOG_SLOT_FIRST);

	domain->status_map_bytes = PAGE_ALIGN(slots);
	domain->status_map = vmalloc_user(domain->status_map_bytes);
	if (!domain->status_map) {
		eventlog_free(domain->slots);
		return -ENOMEM;
	}
	return 0;
}

void eventlog_domain_destroy(struct eventlog_domain *domain)
{
	WARN_ON(!list_empty(&domain->subscribers) || !hash_empty(domain->providers));
	xa_destroy(&domain->producers);
	xa_destroy(&domain->definitions);
	ida_destroy(&domain->provider_ids);
	vfree(domain->status_map);
	eventlog_free(domain->slots);
}

static bool eventlog_domain_is_leaving(const struct eventlog_domain *domain)
{
	return domain->leaving & EVENTLOG_LEAVE_PRODUCERS;
}

/* Gives a slot the byte of an event that no one listens to. */
static void eventlog_domain_status_reset(struct eventlog_domain *domain, unsigned int slot)
{
	u8 *status = domain->status_map;

	WRITE_ONCE(status[slot], (status[slot] & EVENTLOG_STATUS_SESSION) |
				 (eventlog_domain_is_leaving(domain) ?
				  EVENTLOG_STATUS_ENABLED | EVENTLOG_STATUS_LEAVE : 0));
}

int eventlog_domain_slot_get(struct eventlog_domain *domain)
{
	unsigned int slot;

	lockdep_assert_held(&domain->lock);
	slot = find_first_zero_bit(domain->slots, EVENTLOG_SLOT_FIRST + domain->events_max);
	if (slot == EVENTLOG_SLOT_FIRST + domain->events_max)
		return -ENOSPC;
	__set_bit(slot, domain->slots);
	domain->live++;
	return slot;
}

void eventlog_domain_slot_put(struct eventlog_domain *domain, unsigned int slot)
{
	lockdep_assert_held(&domain->lock);
	__clear_bit(slot, domain->slots);
	domain->live--;
	eventlog_domain_status_reset(domain, slot);
}

/* Sets or clears one EVENTLOG_STATUS_*, which is a constant, of a slot. */
static __always_inline void eventlog_domain_status_bit(struct eventlog_domain *domain,
						       unsigned int slot, u8 status, bool value)
{
	u32 bit = slot * BITS_PER_BYTE + ilog2(status);

	if (value)
		set_bit_le(bit, domain->status_map);
	else
		clear_bit_le(bit, domain->status_map);
}

void eventlog_domain_status_set(struct eventlog_domain *domain, unsigned int slot, bool enabled,
				bool sync)
{
	bool leaving = eventlog_domain_is_leaving(domain);

	lockdep_assert_held(&domain->lock);
	/* First: with this bit, the others have another meaning. */
	eventlog_domain_status_bit(domain, slot, EVENTLOG_STATUS_LEAVE, leaving);
	eventlog_domain_status_bit(domain, slot, EVENTLOG_STATUS_SYNC, leaving ? enabled : sync);
	eventlog_domain_status_bit(domain, slot, EVENTLOG_STATUS_ENABLED, leaving || enabled);
}

void eventlog_domain_status_leave(struct eventlog_domain *domain)
{
	u8 *status = domain->status_map;
	unsigned int slot;

	lockdep_assert_held(&domain->lock);
	for (slot = EVENTLOG_SLOT_FIRST; slot < EVENTLOG_SLOT_FIRST + domain->events_max; slot++) {
		u8 bits = status[slot] & ~EVENTLOG_STATUS_SYNC;

		if (bits & EVENTLOG_STATUS_ENABLED)
			bits |= EVENTLOG_STATUS_SYNC;
		/* One store: a program sees the old byte or the new one. */
		WRITE_ONCE(status[slot], bits | EVENTLOG_STATUS_ENABLED | EVENTLOG_STATUS_LEAVE);
	}
}

void eventlog_domain_status_stay(struct eventlog_domain *domain)
{
	unsigned int slot = EVENTLOG_SLOT_FIRST, end = EVENTLOG_SLOT_FIRST + domain->events_max;

	lockdep_assert_held(&domain->lock);
	for_each_clear_bit_from(slot, domain->slots, end)
		eventlog_domain_status_reset(domain, slot);
}

void eventlog_domain_handlers_set(struct eventlog_domain *domain, unsigned int slot, u8 handlers,
				  bool has_filter)
{
	lockdep_assert_held(&domain->lock);
	/* Clear the actions before setting the filter bit. */
	if (has_filter)
		handlers = 0;
	eventlog_domain_status_bit(domain, slot, EVENTLOG_STATUS_PRINT,
				   handlers & EVENTLOG_MARKER_PRINT);
	eventlog_domain_status_bit(domain, slot, EVENTLOG_STATUS_PROBE,
				   handlers & EVENTLOG_MARKER_PROBE);
	eventlog_domain_status_bit(domain, slot, EVENTLOG_STATUS_FILTER, has_filter);
}

/* The lock excludes other writers, so words can be changed at once: that takes microseconds. */
void eventlog_domain_status_session(struct eventlog_domain *domain, bool wanted)
{
	const u32 bits = EVENTLOG_STATUS_SESSION * 0x01010101U;
	u32 *word = domain->status_map + EVENTLOG_SLOT_FIRST;
	u32 *end = domain->status_map + round_up(EVENTLOG_SLOT_FIRST + domain->events_max,
						 sizeof(*word));

	lockdep_assert_held(&domain->lock);
	for (; word < end; word++)
		WRITE_ONCE(*word, wanted ? *word | bits : *word & ~bits);
}

void eventlog_domain_status_dead(struct eventlog_domain *domain)
{
	lockdep_assert_held(&domain->lock);
	memset(domain->status_map + EVENTLOG_SLOT_FIRST,
	       EVENTLOG_STATUS_ENABLED | EVENTLOG_STATUS_SYNC, domain->events_max);
	eventlog_domain_generation_bump(domain);
}

u32 eventlog_domain_generation(const struct eventlog_domain *domain)
{
	lockdep_assert_held(&domain->lock);
	return *(const u32 *)domain->status_map;
}

void eventlog_domain_generation_bump(struct eventlog_domain *domain)
{
	u32 *generation = domain->status_map;

	lockdep_assert_held(&domain->lock);
	/* Pairs with the acquire of a program that then calls the kernel. */
	smp_store_release(generation, *generation + 1);
}
