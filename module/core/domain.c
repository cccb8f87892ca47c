// SPDX-License-Identifier: GPL-2.0-only
/*
 * Domains and their bitmap: see domain.h.
 */
#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/vmalloc.h>

#include "core/domain.h"
#include "core/event.h"
#include "memory.h"
#include "marker/policy.h"

int eventlog_domain_init(struct eventlog_domain *domain, const char *name,
			 unsigned int events_max, unsigned int subscribers_max)
{
	/* Slot 0 is never given out: no bit a process gets is 0. */
	unsigned int slots = events_max + 1;

	domain->name = name;
	mutex_init(&domain->lock);
	xa_init_flags(&domain->definitions, XA_FLAGS_ACCOUNT);
	hash_init(domain->names);
	get_random_bytes(&domain->hash_key, sizeof(domain->hash_key));
	INIT_LIST_HEAD(&domain->retained);
	hash_init(domain->providers);
	ida_init(&domain->provider_ids);
	mutex_init(&domain->update_lock);
	INIT_LIST_HEAD(&domain->kernel_providers);
	INIT_LIST_HEAD(&domain->changed_providers);
	INIT_LIST_HEAD(&domain->subscribers);
	INIT_LIST_HEAD(&domain->wishes);
	domain->next_descriptor = 1;
	domain->subscriber_sequence = 1;
	domain->events_max = events_max;
	domain->subscribers_max = subscribers_max;

	domain->slots = eventlog_alloc(BITS_TO_LONGS(slots) * sizeof(long));
	if (!domain->slots)
		return -ENOMEM;
	__set_bit(0, domain->slots);

	domain->bitmap_bytes = PAGE_ALIGN(DIV_ROUND_UP(EVENTLOG_SLOT_BITS * slots, BITS_PER_BYTE));
	domain->bitmap = vmalloc_user(domain->bitmap_bytes);
	if (!domain->bitmap) {
		eventlog_free(domain->slots);
		return -ENOMEM;
	}
	return 0;
}

void eventlog_domain_destroy(struct eventlog_domain *domain)
{
	mutex_lock(&domain->lock);
	eventlog_events_drop_all(domain);
	eventlog_wishes_drop_all(domain);
	mutex_unlock(&domain->lock);

	WARN_ON(!list_empty(&domain->subscribers) || !hash_empty(domain->providers));
	xa_destroy(&domain->definitions);
	ida_destroy(&domain->provider_ids);
	vfree(domain->bitmap);
	eventlog_free(domain->slots);
}

int eventlog_domain_slot_get(struct eventlog_domain *domain)
{
	unsigned int slot;

	lockdep_assert_held(&domain->lock);
	slot = find_first_zero_bit(domain->slots, domain->events_max + 1);
	if (slot > domain->events_max)
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
}

static void eventlog_domain_bit_set(struct eventlog_domain *domain, u32 bit, bool value)
{
	if (value)
		set_bit_le(bit, domain->bitmap);
	else
		clear_bit_le(bit, domain->bitmap);
}

void eventlog_domain_bits_set(struct eventlog_domain *domain, unsigned int slot, bool wanted,
			      bool sync)
{
	lockdep_assert_held(&domain->lock);
	eventlog_domain_bit_set(domain, eventlog_slot_sync_bit(slot), sync);
	eventlog_domain_bit_set(domain, eventlog_slot_status_bit(slot), wanted);
}

void eventlog_domain_handlers_set(struct eventlog_domain *domain, unsigned int slot, u8 handlers,
				  bool asking)
{
	u32 bit = eventlog_slot_handlers_bit(slot);

	lockdep_assert_held(&domain->lock);
	/* Who looks in between sees no handler that it should have asked for. */
	if (asking)
		handlers = 0;
	eventlog_domain_bit_set(domain, bit, handlers & EVENTLOG_MARKER_PRINT);
	eventlog_domain_bit_set(domain, bit + 1, handlers & EVENTLOG_MARKER_PROBE);
	eventlog_domain_bit_set(domain, eventlog_slot_asking_bit(slot), asking);
}
