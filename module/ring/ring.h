/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ring: one CPU's records for one subscriber.
 *
 * A ring is written by its own CPU only, preemption off, by any number of
 * strictly nested contexts (task, softirq, hardirq, NMI), and read by a
 * consumer that maps it.  No lock is taken and no LOCK prefix is needed: a
 * writer can lose its compare-and-exchange only to a context nested in it.
 *
 * A writer reserves by moving head; the outermost writer publishes committed on
 * leaving, when everything below head is whole.  Space once reserved is never
 * given back.  Two facts carry the proof: nested writers have ended when the
 * interrupted one goes on, and a nested writer may not get further than a whole
 * ring ahead of committed (the guard), so nothing unfinished is overwritten
 * however the consumer lies about its position.
 *
 * A locked ring has the same pages and records under a lock with interrupts
 * off.  Only its own CPU ever takes the lock, so a failed attempt
 * means a context nested in the holder: it must not wait, and is counted.  On
 * 32-bit machines (EVENTLOG_RING_LOCKLESS is 0) there is no other kind, and the
 * header's words are stored in halves that no reader can mistake: ring_words.h.
 *
 * The core uses ring_platform.h and nothing else; it builds in user space.
 */
#ifndef EVENTLOG_RING_H
#define EVENTLOG_RING_H

#include "ring/ring_platform.h"
#include "ring/ring_words.h"

/* Task, softirq, hardirq and NMI make four; kprobes, BPF and faults can add to them. */
#define EVENTLOG_RING_DEPTH_MAX 7

/* Bytes of a lost record. */
#define EVENTLOG_RING_MARKER_BYTES \
	((u32)(sizeof(struct eventlog_record) + sizeof(struct eventlog_lost_counts)))

/**
 * struct eventlog_ring - the kernel's side of one ring; nothing here is mapped
 * @header: page 0, the kernel's page, read-only to the consumer
 * @consumer: page 1, the consumer's page: hostile
 * @data: the data, read-only to the consumer
 * @data_bytes: a power of two, at most EVENTLOG_RING_BYTES_MAX
 * @sub_buffer_bytes: a power of two
 * @overwrite: keep the newest records rather than the oldest
 * @locked: written under @lock
 * @lock: of a locked ring
 * @nest: how many writers are inside; each restores what it found
 * @consumer_position: the consumer's position as last read
 * @last_time: the latest time an outermost writer took; only such a writer stores it
 * @nested_time: the latest time a nested writer took
 * @reported: lost_total as told by the last lost record
 */
struct eventlog_ring {
	struct eventlog_ring_header *header;
	const struct eventlog_ring_consumer *consumer;
	u8 *data;
	u32 data_bytes;
	u32 sub_buffer_bytes;
	bool overwrite;
	bool locked;
	struct eventlog_ring_lock lock;

	u32 nest ____cacheline_aligned;
	u32 consumer_position;
	u64 last_time;
	u64 nested_time;
	u64 reported;
};

/**
 * struct eventlog_ring_slot - a reservation, alive from reserve to commit
 * @record: header of the record; its payload follows
 * @nest: what the writer found in the ring's nest
 * @flags: interrupt state to restore, of a locked ring
 */
struct eventlog_ring_slot {
	struct eventlog_record *record;
	u32 nest;
	unsigned long flags;
};

/**
 * eventlog_ring_init() - describe a ring and its pages
 * @ring: the ring
 * @pages: page 0, page 1 and the data, contiguous and zeroed, or as an earlier
 *	ring left them never: positions start at 0
 * @page_bytes: size of a page
 * @data_bytes: size of the data, a power of two
 * @sub_buffer_bytes: size of a sub-buffer, a power of two, at least a page
 * @cpu: the CPU that will write it
 * @overwrite: mode
 * @locked: under a lock, rather than by compare-and-exchange; on 32-bit machines
 *	it is, whatever this says
 */
void eventlog_ring_init(struct eventlog_ring *ring, void *pages, u32 page_bytes,
			u32 data_bytes, u32 sub_buffer_bytes, u32 cpu, bool overwrite,
			bool locked);

/**
 * eventlog_ring_unread() - bytes the consumer has not taken yet
 * @ring: the ring
 *
 * Any context, any CPU.  A hint: the consumer's page is believed.
 */
static __always_inline u32 eventlog_ring_unread(const struct eventlog_ring *ring)
{
	return (u32)READ_ONCE(ring->header->committed) - READ_ONCE(ring->consumer->position);
}

/**
 * eventlog_ring_unseen_loss() - has the ring lost events the consumer has not seen the count of
 * @ring: the ring
 */
static __always_inline bool eventlog_ring_unseen_loss(const struct eventlog_ring *ring)
{
	return (u32)READ_ONCE(ring->header->lost_total) != READ_ONCE(ring->consumer->lost_seen);
}

#if EVENTLOG_RING_LOCKLESS
/* Counts one event lost; nested writers may count in between. */
static __always_inline void eventlog_ring_lose(struct eventlog_ring *ring,
					       enum eventlog_lost cause)
{
	eventlog_local_add(&ring->header->lost[cause], 1);
	eventlog_local_add(&ring->header->lost_total, 1);
}

/*
 * Leaves the ring.  After nest is restored an interrupt's writer counts as
 * outermost and publishes by itself; one that came before it could not.  Hence
 * the second look at head: without it a record would stay invisible until the
 * next event.
 */
static __always_inline void eventlog_ring_leave(struct eventlog_ring *ring, u32 nest)
{
	struct eventlog_ring_header *header = ring->header;
	u64 head;

	barrier();
	WRITE_ONCE(ring->nest, nest);
	barrier();
	if (nest)
		return;
	do {
		head = READ_ONCE(header->head);
		smp_store_release(&header->committed, head);
		barrier();
	} while (unlikely(READ_ONCE(header->head) != head));
}
#endif

/* Writes a lost record with the present counts at @position. */
void eventlog_ring_write_marker(struct eventlog_ring *ring, u64 position, u64 time);

/* What a record takes of the ring besides itself. */
struct eventlog_ring_plan {
	u32 padding;
	u32 marker;
	u32 need;
};

/* Bytes of a record with this payload. */
static __always_inline u32 eventlog_ring_record_bytes(u32 payload)
{
	return ALIGN((u32)sizeof(struct eventlog_record) + payload, EVENTLOG_RECORD_ALIGN);
}

/* A marker is counted whether needed or not: what fits, always fits. */
static __always_inline bool eventlog_ring_too_large(const struct eventlog_ring *ring, u32 bytes)
{
	return bytes + EVENTLOG_RING_MARKER_BYTES > ring->sub_buffer_bytes;
}

/* What is to be placed at @head along with a record of @bytes. */
static __always_inline struct eventlog_ring_plan eventlog_ring_plan(const struct eventlog_ring *ring,
								    u64 head, u32 bytes)
{
	const u32 sub_buffer = ring->sub_buffer_bytes;
	u32 marker = 0, padding = 0, need, left;

	if (unlikely(READ_ONCE(ring->header->lost_total) != READ_ONCE(ring->reported)))
		marker = EVENTLOG_RING_MARKER_BYTES;
	need = marker + bytes;
	left = sub_buffer - ((u32)head & (sub_buffer - 1));
	if (unlikely(need > left))
		padding = left;
	return (struct eventlog_ring_plan){ padding, marker, need + padding };
}

/* Has the consumer left @need bytes behind @head?  Always, in overwrite mode. */
static __always_inline bool eventlog_ring_has_room(struct eventlog_ring *ring, u64 head, u32 need)
{
	const u32 size = ring->data_bytes;

	/* 64-bit sums: a lying position makes the difference anything below 2^32. */
	if (ring->overwrite ||
	    likely((u64)((u32)head - READ_ONCE(ring->consumer_position)) + need <= size))
		return true;
	/* Acquire: what is written next must not overtake the consumer's reads. */
	WRITE_ONCE(ring->consumer_position, smp_load_acquire(&ring->consumer->position));
	return (u64)((u32)head - READ_ONCE(ring->consumer_position)) + need <= size;
}

/* Writes padding, marker and the record's own size, time and tail at @head, which are reserved. */
static __always_inline void eventlog_ring_fill(struct eventlog_ring *ring, u64 head,
					       const struct eventlog_ring_plan *plan, u32 bytes,
					       u64 time, struct eventlog_ring_slot *slot)
{
	const u32 size = ring->data_bytes;
	struct eventlog_record *record;

	if (unlikely(plan->padding)) {
		/* Eight bytes only: there may be no more. */
		record = (void *)(ring->data + ((u32)head & (size - 1)));
		record->size_flags = plan->padding |
				     EVENTLOG_RECORD_PADDING << EVENTLOG_RECORD_TYPE_SHIFT;
		record->descriptor = 0;
		head += plan->padding;
	}
	if (unlikely(plan->marker)) {
		eventlog_ring_write_marker(ring, head, time);
		head += plan->marker;
	}
	record = (void *)(ring->data + ((u32)head & (size - 1)));
	/* The tail first: with no payload these bytes belong to the header. */
	*(u64 *)((u8 *)record + bytes - EVENTLOG_RECORD_ALIGN) = 0;
	record->size_flags = bytes;
	record->time = time;
	slot->record = record;
}

/* The two ways of reserving; the locked ones are in ring.c. */
bool eventlog_ring_reserve_locked(struct eventlog_ring *ring, u32 payload, u64 floor,
				  struct eventlog_ring_slot *slot);
void eventlog_ring_commit_locked(struct eventlog_ring *ring, const struct eventlog_ring_slot *slot);
void eventlog_ring_drop_locked(struct eventlog_ring *ring, enum eventlog_lost cause);

#if EVENTLOG_RING_LOCKLESS
/*
 * Reserves by compare-and-exchange.  The loop ends: each turn means a nested
 * writer moved head, and those are bounded by the guard.
 */
static __always_inline bool eventlog_ring_reserve_lockless(struct eventlog_ring *ring, u32 payload,
							   u64 floor,
							   struct eventlog_ring_slot *slot)
{
	struct eventlog_ring_header *header = ring->header;
	const u32 size = ring->data_bytes;
	const u32 bytes = eventlog_ring_record_bytes(payload);
	struct eventlog_ring_plan plan;
	enum eventlog_lost cause;
	u64 head, time, last;

	slot->nest = READ_ONCE(ring->nest);
	WRITE_ONCE(ring->nest, slot->nest + 1);
	barrier();

	if (unlikely(slot->nest >= EVENTLOG_RING_DEPTH_MAX)) {
		cause = EVENTLOG_LOST_DEPTH;
		goto lose;
	}
	if (unlikely(eventlog_ring_too_large(ring, bytes))) {
		cause = EVENTLOG_LOST_TOO_LARGE;
		goto lose;
	}

retry:
	head = READ_ONCE(header->head);
	barrier();
	/*
	 * Read after head and before the exchange: if that succeeds no record
	 * was placed in between, so time order is record order.
	 */
	time = eventlog_ring_clock();
	last = READ_ONCE(ring->last_time);
	if (unlikely(time < last))
		time = last;
	last = READ_ONCE(ring->nested_time);
	if (unlikely(time < last))
		time = last;
	if (unlikely(time < floor))
		time = floor;

	plan = eventlog_ring_plan(ring, head, bytes);
	if (unlikely(!eventlog_ring_has_room(ring, head, plan.need))) {
		cause = EVENTLOG_LOST_NO_ROOM;
		goto confirm;
	}
	if (unlikely(slot->nest) && head + plan.need - READ_ONCE(header->committed) > size) {
		cause = EVENTLOG_LOST_GUARD;
		goto confirm;
	}

	/*
	 * Told before the exchange, so that no record behind this one is
	 * earlier even if the clock steps back.  Nested writers raise a word of
	 * their own: an outermost writer that they interrupt right here stores
	 * an older time, loses the exchange, and reads theirs on its next turn.
	 */
	if (likely(!slot->nest))
		WRITE_ONCE(ring->last_time, time);
	else if (eventlog_local_cmpxchg(&ring->nested_time, last, time) != last)
		goto retry;
	if (unlikely(eventlog_local_cmpxchg(&header->head, head, head + plan.need) != head))
		goto retry;

	/* An overwriting reader that sees any byte of what follows must see head moved. */
	if (ring->overwrite)
		smp_wmb();
	eventlog_ring_fill(ring, head, &plan, bytes, time, slot);
	return true;

confirm:
	/* A nested writer that got room may have made the decision stale. */
	if (READ_ONCE(header->head) != head)
		goto retry;
lose:
	eventlog_ring_lose(ring, cause);
	/* Publishing after a drop as well: an interrupted publication may be ours to finish. */
	eventlog_ring_leave(ring, slot->nest);
	return false;
}
#endif

/**
 * eventlog_ring_reserve() - make room for a record
 * @ring: the ring of this CPU
 * @payload: bytes of the payload, at most EVENTLOG_PAYLOAD_MAX
 * @floor: the record's time is not before this (CLOCK_MONOTONIC, ns)
 * @slot: where to write
 *
 * Any context including NMI, preemption off until eventlog_ring_commit().
 * Between the two the caller fills descriptor, session, pid and tid and the
 * payload, and does nothing that may fault or sleep.  Size, time and the zeroed
 * tail are done.
 *
 * Return: whether there is room; if not, the loss is counted, @slot is void and
 * there is nothing to commit.
 */
static __always_inline bool eventlog_ring_reserve(struct eventlog_ring *ring, u32 payload,
						  u64 floor, struct eventlog_ring_slot *slot)
{
#if EVENTLOG_RING_LOCKLESS
	if (likely(!ring->locked))
		return eventlog_ring_reserve_lockless(ring, payload, floor, slot);
#endif
	return eventlog_ring_reserve_locked(ring, payload, floor, slot);
}

/**
 * eventlog_ring_drop() - count an event that is not even tried
 * @ring: the ring of this CPU
 * @cause: why
 *
 * Any context including NMI, preemption off.
 */
static __always_inline void eventlog_ring_drop(struct eventlog_ring *ring,
					       enum eventlog_lost cause)
{
#if EVENTLOG_RING_LOCKLESS
	if (likely(!ring->locked)) {
		eventlog_ring_lose(ring, cause);
		return;
	}
#endif
	eventlog_ring_drop_locked(ring, cause);
}

/**
 * eventlog_ring_commit() - hand a filled record to the consumer
 * @ring: the ring
 * @slot: from a successful eventlog_ring_reserve()
 *
 * The record is readable at once when this is the outermost writer, else when
 * that one leaves.
 *
 * Return: whether this is the outermost writer, the one that may wake a poller.
 */
static __always_inline bool eventlog_ring_commit(struct eventlog_ring *ring,
						 const struct eventlog_ring_slot *slot)
{
#if EVENTLOG_RING_LOCKLESS
	if (likely(!ring->locked)) {
		eventlog_local_add(&ring->header->records, 1);
		eventlog_ring_leave(ring, slot->nest);
		return !slot->nest;
	}
#endif
	eventlog_ring_commit_locked(ring, slot);
	return true;
}

#endif /* EVENTLOG_RING_H */
