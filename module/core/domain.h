/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A domain: the set of definitions, providers, subscribers and the bitmap that
 * see one another.  Today there is one, the root's, behind /dev/eventlog.
 *
 * domain->lock, a mutex, protects everything in the domain and every member of
 * its events, providers and rule lists that is not said to be RCU-protected.
 * It is never held across an access to user memory, an RCU grace period, or the
 * allocation of rings.
 *
 * domain->update_lock, a mutex, is held while something changes that kernel
 * providers are to be told of (their coming and going, rules, subscribers) until
 * they have been told.  Providers' functions run under it, without domain->lock.
 *
 * Order: eventlog_file.lock, domain->update_lock, domain->lock.
 */
#ifndef EVENTLOG_DOMAIN_H
#define EVENTLOG_DOMAIN_H

#include <linux/hashtable.h>
#include <linux/idr.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/siphash.h>
#include <linux/xarray.h>

/*
 * The bitmap has a byte an event, of which status, sync, one bit for each handler that
 * may be wished for and asking are used, and never uses the first one.
 */
#define EVENTLOG_SLOT_BITS 8
#define EVENTLOG_EVENTS_MAX 65535

struct eventlog_event;

/**
 * struct eventlog_domain - see the top of the file
 * @name: for people; "" is the root domain
 * @lock: see the top of the file
 * @definitions: struct eventlog_event by descriptor, living and retained
 * @names: the same, hashed by all that makes a definition
 * @hash_key: secret, for the hash tables
 * @retained: events without users whose text is kept, oldest first
 * @retained_count: their number
 * @providers: struct eventlog_provider_info of processes, hashed by name
 * @provider_ids: 1 to 65535
 * @update_lock: see the top of the file
 * @kernel_providers: struct eventlog_provider_info of registered kernel
 *	providers; under @update_lock
 * @changed_providers: those of them one of whose events came to be wanted, or
 *	ceased to be, since they were told
 * @subscribers: struct eventlog_subscriber, oldest first
 * @subscriber_count: their number
 * @subscriber_sequence: the number the next subscriber gets
 * @next_descriptor: the descriptor the next definition gets; 0 when all are used up
 * @slots: which slots of the bitmap are taken
 * @bitmap: the mapped bits, in vmalloc memory that user space may map
 * @bitmap_bytes: its size, whole pages
 * @wishes: struct eventlog_program_wish, earliest first
 * @wish_count: their number
 * @live: events with a slot
 * @busy: events somebody wants
 * @events_max: limit of @live
 * @subscribers_max: limit of @subscriber_count
 */
struct eventlog_domain {
	const char *name;
	struct mutex lock;
	struct xarray definitions;
	DECLARE_HASHTABLE(names, 10);
	siphash_key_t hash_key;
	struct list_head retained;
	unsigned int retained_count;
	DECLARE_HASHTABLE(providers, 8);
	struct ida provider_ids;
	struct mutex update_lock;
	struct list_head kernel_providers;
	struct list_head changed_providers;
	struct list_head subscribers;
	unsigned int subscriber_count;
	u64 subscriber_sequence;
	u32 next_descriptor;
	unsigned long *slots;
	void *bitmap;
	size_t bitmap_bytes;
	struct list_head wishes;
	unsigned int wish_count;
	unsigned int live;
	unsigned int busy;
	unsigned int events_max;
	unsigned int subscribers_max;
};

/* The domain of /dev/eventlog and of kernel providers. */
extern struct eventlog_domain eventlog_root_domain;

/**
 * eventlog_domain_init() - make an empty domain
 * @domain: zeroed
 * @name: kept by pointer
 * @events_max: 1 to EVENTLOG_EVENTS_MAX
 * @subscribers_max: at least 1
 *
 * Return: 0 or -ENOMEM.
 */
int eventlog_domain_init(struct eventlog_domain *domain, const char *name,
			 unsigned int events_max, unsigned int subscribers_max);

/**
 * eventlog_domain_destroy() - take a domain down
 * @domain: without open files; persistent events are dropped here
 *
 * Process context.  The caller waits for RCU callbacks (rcu_barrier()) before
 * the module goes.
 */
void eventlog_domain_destroy(struct eventlog_domain *domain);

/**
 * eventlog_domain_slot_get() - take a slot of the bitmap
 * @domain: the domain, locked
 *
 * Return: the slot, at least 1, or -ENOSPC.  Its bits are clear.
 */
int eventlog_domain_slot_get(struct eventlog_domain *domain);

/**
 * eventlog_domain_slot_put() - give a slot back
 * @domain: the domain, locked
 * @slot: the slot, its bits clear
 */
void eventlog_domain_slot_put(struct eventlog_domain *domain, unsigned int slot);

/**
 * eventlog_domain_bits_set() - tell processes whether an event is wanted
 * @domain: the domain, locked
 * @slot: the event's slot
 * @wanted: the status bit's new value
 * @sync: the sync bit's
 */
void eventlog_domain_bits_set(struct eventlog_domain *domain, unsigned int slot, bool wanted,
			      bool sync);

/**
 * eventlog_domain_handlers_set() - tell processes what a marker is to do
 * @domain: the domain, locked
 * @slot: its event's slot
 * @handlers: EVENTLOG_MARKER_PRINT, EVENTLOG_MARKER_PROBE
 * @asking: each hit has to ask whether it is to do them
 */
void eventlog_domain_handlers_set(struct eventlog_domain *domain, unsigned int slot,
				  u8 handlers, bool asking);

/* All of a slot's are in one byte. */
static inline u32 eventlog_slot_status_bit(unsigned int slot)
{
	return EVENTLOG_SLOT_BITS * slot;
}

static inline u32 eventlog_slot_sync_bit(unsigned int slot)
{
	return EVENTLOG_SLOT_BITS * slot + 1;
}

static inline u32 eventlog_slot_handlers_bit(unsigned int slot)
{
	return EVENTLOG_SLOT_BITS * slot + 2;
}

static inline u32 eventlog_slot_asking_bit(unsigned int slot)
{
	return EVENTLOG_SLOT_BITS * slot + 4;
}

#endif /* EVENTLOG_DOMAIN_H */
