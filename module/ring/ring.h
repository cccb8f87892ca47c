/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ring buffer: the records of one CPU for one subscriber.
 *
 * Only its own CPU writes a ring, with preemption disabled, from any number of
 * strictly nested contexts (task, softirq, hardirq, NMI).  A consumer maps and reads
 * it.  The writer takes no lock and needs no LOCK prefix: its compare-and-exchange
 * can only fail because of a context nested in it.
 *
 * A writer reserves space by advancing head.  When the outermost writer leaves, all
 * records below head are complete, and it publishes them by storing committed.
 * Reserved space is never given back.  Correctness rests on two facts: a nested
 * writer has left before the interrupted one continues; and a nested writer must not
 * advance head more than a whole ring beyond committed (the guard), so no unfinished
 * record is overwritten, whatever position the consumer stores.
 *
 * A locked ring has the same pages and records, but is written under a lock with
 * interrupts off.  Only its own CPU takes the lock, so a trylock that fails was made
 * in a context nested in the holder: the writer must not wait, and its event is
 * counted as lost.  On 32-bit machines (EVENTLOG_RING_LOCKLESS is 0) all rings are
 * locked, and the header's words are stored in halves, see ring_words.h.
 *
 * Each sub-buffer has metadata on the header's page, see struct eventlog_sub_buffer.  The
 * writer whose record is the first of a sub-buffer states how many events precede it.  An
 * outermost writer knows this number: all earlier events are counted, unless a nested
 * writer came between its exchange and its look at the count, which moved head.  A nested
 * writer does not know it, since the writers it has interrupted count their events later.
 *
 * This code depends on ring_platform.h only; it also builds in user space.
 */
#ifndef EVENTLOG_RING_H
#define EVENTLOG_RING_H

#include "ring/ring_platform.h"
#include "ring/ring_words.h"

/* Task, softirq, hardirq and NMI are four levels; kprobes, BPF and faults can add some. */
#define EVENTLOG_RING_DEPTH_MAX 7

/* Size of a lost record, called a marker here. */
#define EVENTLOG_RING_MARKER_BYTES \
	((u32)(sizeof(struct eventlog_record) + sizeof(struct eventlog_lost_counts)))

/**
 * struct eventlog_ring - kernel-side state of one ring; not mapped to user space
 * @header: page 0, written by the kernel, read-only for the consumer
 * @consumer: page 1, written by the consumer; its content is not trusted
 * @data: the data, read-only for the consumer
 * @meta: by sub-buffer, on page 0; NULL: the page has no room for it
 * @data_bytes: size of @data, a power of two, at most EVENTLOG_RING_BYTES_MAX
 * @sub_buffer_bytes: size of a sub-buffer, a power of two
 * @payload_max: a larger payload is too large: a sub-buffer has no room for it behind a marker,
 *	or it exceeds EVENTLOG_PAYLOAD_MAX
 * @overwrite: a full ring overwrites the oldest records
 * @locked: written under @lock
 * @lock: protects a locked ring
 * @nest: number of writers inside; each writer restores the value that it found
 * @consumer_position: the consumer's position when it was last read
 * @last_time: latest time of an outermost writer; only outermost writers store it
 * @nested_time: latest time of a nested writer
 * @reported: lost_total in the last lost record
 */
struct eventlog_ring {
	struct eventlog_ring_header *header;
	const struct eventlog_ring_consumer *consumer;
	u8 *data;
	struct eventlog_sub_buffer *meta;
	u32 data_bytes;
	u32 sub_buffer_bytes;
	u32 payload_max;
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
 * struct eventlog_ring_slot - a reservation, valid from reserve to commit
 * @record: header of the record; its payload follows
 * @nest: the ring's nest before this writer incremented it
 * @flags: locked ring: interrupt state to restore
 *
 * One word for both: the compiler cannot know that a ring stays locked or lockless.
 */
struct eventlog_ring_slot {
	struct eventlog_record *record;
	union {
		unsigned long nest;
		unsigned long flags;
	};
};

/**
 * eventlog_ring_init() - initialise a ring and its pages
 * @ring: the ring
 * @pages: page 0, page 1 and the data; contiguous and zeroed, must not have been used
 *	by another ring, since positions start at 0
 * @page_bytes: size of a page
 * @data_bytes: size of the data, a power of two
 * @sub_buffer_bytes: size of a sub-buffer, a power of two, at least a page
 * @cpu: the CPU that will write the ring
 * @overwrite: true: overwrite mode; false: discard mode
 * @locked: true: write under a lock; false: write with compare-and-exchange, except
 *	on 32-bit machines, where every ring is locked
 *
 * Context: any.
 */
void eventlog_ring_init(struct eventlog_ring *ring, void *pages, u32 page_bytes,
			u32 data_bytes, u32 sub_buffer_bytes, u32 cpu, bool overwrite,
			bool locked);

/**
 * eventlog_ring_unread() - count the bytes that the consumer has not read yet
 * @ring: the ring
 *
 * Context: any, on any CPU.
 *
 * Return: the number of bytes; only a hint, because the consumer controls its position.
 */
static __always_inline u32 eventlog_ring_unread(const struct eventlog_ring *ring)
{
	return (u32)READ_ONCE(ring->header->committed) - READ_ONCE(ring->consumer->position);
}

/**
 * eventlog_ring_unseen_loss() - test for losses that the consumer has not seen
 * @ring: the ring
 *
 * Context: any, on any CPU.
 *
 * Return: true if events were lost since the consumer last stored lost_seen.
 */
static __always_inline bool eventlog_ring_unseen_loss(const struct eventlog_ring *ring)
{
	return (u32)READ_ONCE(ring->header->lost_total) != READ_ONCE(ring->consumer->lost_seen);
}

#if EVENTLOG_RING_LOCKLESS
/* Counts events as lost; a nested writer may count between the two additions. */
static __always_inline void eventlog_ring_lose_many(struct eventlog_ring *ring,
						    enum eventlog_lost cause, u32 count)
{
	eventlog_local_add(&ring->header->lost[cause], count);
	eventlog_local_add(&ring->header->lost_total, count);
}

static __always_inline void eventlog_ring_lose(struct eventlog_ring *ring,
					       enum eventlog_lost cause)
{
	eventlog_ring_lose_many(ring, cause, 1);
}

/*
 * Leaves the ring.  A writer that interrupts after nest is restored is an outermost
 * writer and publishes its record itself.  A writer that interrupted before that did
 * not, so head is read again: otherwise its record would stay invisible until the
 * next event.
 */
static __always_inline void eventlog_ring_leave(struct eventlog_ring *ring,
						struct eventlog_ring_header *header,
						unsigned long nest)
{
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

/**
 * eventlog_ring_news() - mark a record that consumers should look at
 * @ring: the ring
 * @record: the record of a reservation that is not committed yet
 * @nest: of its slot, if the caller remembers that it has marked the record.  Writers that
 *	this one has interrupted then do not mark their records, so consumers should look at
 *	these too.  0: otherwise
 *
 * Context: as for eventlog_ring_reserve().
 */
void eventlog_ring_news(struct eventlog_ring *ring, const struct eventlog_record *record,
			u32 nest);

/*
 * Space for a record, with padding to the end of the sub-buffer and a marker.  @extra is 0
 * for most records, so that one test is enough: the size of the marker, and
 * EVENTLOG_RING_ENTERS if the record or its marker is the first of a sub-buffer.
 */
struct eventlog_ring_plan {
	u32 need;
	u32 extra;
};

#define EVENTLOG_RING_ENTERS 1U

/*
 * Writes what precedes a record in the space that was reserved at @head, and the metadata.
 * Returns the position of the record.
 */
u64 eventlog_ring_fill_extra(struct eventlog_ring *ring, u64 head, struct eventlog_ring_plan plan,
			     u32 nest, u64 time);

/* Size of a record with a payload of @payload bytes. */
static __always_inline u32 eventlog_ring_record_bytes(u32 payload)
{
	return ALIGN((u32)sizeof(struct eventlog_record) + payload, EVENTLOG_RECORD_ALIGN);
}

/* Plans the reservation of a record of @bytes at @head. */
static __always_inline struct eventlog_ring_plan
eventlog_ring_plan(const struct eventlog_ring *ring, const struct eventlog_ring_header *header,
		   u64 head, u32 bytes)
{
	const u32 sub_buffer = ring->sub_buffer_bytes;
	u32 extra = 0, need, left;

	if (unlikely(READ_ONCE(header->lost_total) != READ_ONCE(ring->reported)))
		extra = EVENTLOG_RING_MARKER_BYTES;
	need = extra + bytes;
	/* 1 + the bytes left, modulo the size: one test also finds the first record. */
	left = sub_buffer - (((u32)head - 1) & (sub_buffer - 1));
	if (unlikely(need >= left)) {
		need += left - 1;
		extra |= EVENTLOG_RING_ENTERS;
	}
	return (struct eventlog_ring_plan){ need, extra };
}

/* Tests whether @need bytes are free at @head; always true in overwrite mode. */
static __always_inline bool eventlog_ring_has_room(struct eventlog_ring *ring, u64 head, u32 need)
{
	const u32 size = ring->data_bytes;

	/*
	 * With a position that is not valid the sum can overflow.  Then this may be wrong,
	 * but the guard still protects unfinished records.
	 */
	if (ring->overwrite ||
	    likely((u32)head - READ_ONCE(ring->consumer_position) + need <= size))
		return true;
	/* Acquire: the following writes must not overtake the consumer's reads. */
	WRITE_ONCE(ring->consumer_position, smp_load_acquire(&ring->consumer->position));
	return (u32)head - READ_ONCE(ring->consumer_position) + need <= size;
}

/*
 * Writes what precedes the record, and its size, time and tail, at @head.
 * The space is reserved.
 */
static __always_inline void eventlog_ring_fill(struct eventlog_ring *ring, u64 head,
					       const struct eventlog_ring_plan *plan, u32 bytes,
					       u64 time, struct eventlog_ring_slot *slot)
{
	const u32 size = ring->data_bytes;
	struct eventlog_record *record;

	if (unlikely(plan->extra))
		head = eventlog_ring_fill_extra(ring, head, *plan, slot->nest, time);
	record = (void *)(ring->data + ((u32)head & (size - 1)));
	/* Zero the tail first: without a payload these bytes are part of the header. */
	*(u64 *)((u8 *)record + bytes - EVENTLOG_RECORD_ALIGN) = 0;
	record->size_flags = bytes;
	record->time = time;
	slot->record = record;
}

/*
 * Variants for locked rings, in ring.c.  The record of the slot is NULL if the event is lost.
 * It is returned by value: if a function got its address, the compiler could not keep the
 * slot of any ring in registers.
 */
struct eventlog_ring_slot eventlog_ring_reserve_locked(struct eventlog_ring *ring, u32 payload,
						       u64 floor, u64 time);
void eventlog_ring_commit_locked(struct eventlog_ring *ring, unsigned long flags);
void eventlog_ring_drop_locked(struct eventlog_ring *ring, enum eventlog_lost cause);
bool eventlog_ring_drop_many_locked(struct eventlog_ring *ring, enum eventlog_lost cause,
				    u32 count);

#if EVENTLOG_RING_LOCKLESS
/*
 * Reserves with compare-and-exchange.  The loop terminates: each retry means that a
 * nested writer advanced head, which the guard limits.
 */
static __always_inline bool eventlog_ring_reserve_lockless(struct eventlog_ring *ring, u32 payload,
							   u64 floor, u64 time,
							   struct eventlog_ring_slot *slot)
{
	struct eventlog_ring_header *header = ring->header;
	const u32 bytes = eventlog_ring_record_bytes(payload);
	struct eventlog_ring_plan plan;
	enum eventlog_lost cause;
	u64 head, last;

	eventlog_ring_assert(!ring->locked);
	slot->nest = READ_ONCE(ring->nest);
	WRITE_ONCE(ring->nest, slot->nest + 1);
	barrier();

	if (unlikely(slot->nest >= EVENTLOG_RING_DEPTH_MAX)) {
		cause = EVENTLOG_LOST_DEPTH;
		goto lose;
	}
	/* Also makes sure that the sums of sizes below do not overflow. */
	if (unlikely(payload > ring->payload_max)) {
		cause = EVENTLOG_LOST_TOO_LARGE;
		goto lose;
	}
	if (!time)
		time = eventlog_ring_clock();

retry:
	head = READ_ONCE(header->head);
	barrier();
	/*
	 * Nested writers may have placed records since the clock was read.  Read their
	 * times after head and before the exchange: if the exchange succeeds, no record
	 * was placed in between, so records are in time order.
	 */
	last = READ_ONCE(ring->last_time);
	if (unlikely(time < last))
		time = last;
	last = READ_ONCE(ring->nested_time);
	if (unlikely(time < last))
		time = last;
	if (unlikely(time < floor))
		time = floor;

	plan = eventlog_ring_plan(ring, header, head, bytes);
	if (unlikely(!eventlog_ring_has_room(ring, head, plan.need))) {
		cause = EVENTLOG_LOST_NO_ROOM;
		goto lose;
	}
	if (unlikely(slot->nest) &&
	    head + plan.need - READ_ONCE(header->committed) > ring->data_bytes) {
		cause = EVENTLOG_LOST_GUARD;
		goto lose;
	}

	/*
	 * Store the time before the exchange, so that no later record has an earlier
	 * time even if the clock steps back.  Nested writers have a word of their own:
	 * an outermost writer that they interrupt here stores an older time, fails the
	 * exchange, and reads their time when it retries.
	 */
	if (likely(!slot->nest))
		WRITE_ONCE(ring->last_time, time);
	else if (eventlog_local_cmpxchg(&ring->nested_time, last, time) != last)
		goto retry;
	if (unlikely(eventlog_local_cmpxchg(&header->head, head, head + plan.need) != head))
		goto retry;

	/* A reader that sees any byte written below must also see the new head. */
	if (EVENTLOG_RING_STORES_ORDERED || ring->overwrite)
		smp_wmb();
	eventlog_ring_fill(ring, head, &plan, bytes, time, slot);
	return true;

	/* No need to read head again: if a nested writer advanced it, there is less room. */
lose:
	eventlog_ring_lose(ring, cause);
	/* Publish after a drop as well: nested writers left their records for us to publish. */
	eventlog_ring_leave(ring, header, slot->nest);
	return false;
}

/* Commits what eventlog_ring_reserve_lockless() has reserved. */
static __always_inline bool eventlog_ring_commit_lockless(struct eventlog_ring *ring,
							  const struct eventlog_ring_slot *slot)
{
	struct eventlog_ring_header *header = ring->header;

	eventlog_local_add(&header->records, 1);
	eventlog_ring_leave(ring, header, slot->nest);
	return !slot->nest;
}
#endif

/*
 * As eventlog_ring_reserve() and eventlog_ring_commit().  @lockless: the caller knows that the
 * ring is lockless; constant for the compiler.
 */
static __always_inline bool eventlog_ring_reserve_as(struct eventlog_ring *ring, bool lockless,
						     u32 payload, u64 floor, u64 time,
						     struct eventlog_ring_slot *slot)
{
#if EVENTLOG_RING_LOCKLESS
	if (lockless || likely(!ring->locked))
		return eventlog_ring_reserve_lockless(ring, payload, floor, time, slot);
#endif
	*slot = eventlog_ring_reserve_locked(ring, payload, floor, time);
	return slot->record;
}

static __always_inline bool eventlog_ring_commit_as(struct eventlog_ring *ring, bool lockless,
						    const struct eventlog_ring_slot *slot)
{
#if EVENTLOG_RING_LOCKLESS
	if (lockless || likely(!ring->locked))
		return eventlog_ring_commit_lockless(ring, slot);
#endif
	eventlog_ring_commit_locked(ring, slot->flags);
	return true;
}

/**
 * eventlog_ring_reserve() - reserve space for a record
 * @ring: the ring of this CPU
 * @payload: size of the payload.  If it exceeds @ring's payload_max, the event is lost
 * @floor: minimum time of the record (CLOCK_MONOTONIC, ns)
 * @time: the clock, if the caller has read it for this event; 0: read it.  The caller has
 *	read it since it disabled preemption
 * @slot: output: the reservation
 *
 * Sets size and time of the record and zeroes its tail.  The time is @time, or later: not
 * before @floor and not before earlier records of the ring.  Before it calls
 * eventlog_ring_commit(), the caller sets descriptor, session, pid, tid and payload,
 * and must not do anything that may fault or sleep.
 *
 * Context: any, including NMI; preemption stays disabled until
 * eventlog_ring_commit().
 *
 * Return: true if the space is reserved.  If false, the loss is counted and @slot
 * must not be committed.
 */
static __always_inline bool eventlog_ring_reserve(struct eventlog_ring *ring, u32 payload,
						  u64 floor, u64 time,
						  struct eventlog_ring_slot *slot)
{
	return eventlog_ring_reserve_as(ring, false, payload, floor, time, slot);
}

/**
 * eventlog_ring_drop() - count an event as lost without trying to reserve space
 * @ring: the ring of this CPU
 * @cause: cause of the loss
 *
 * Context: any, including NMI; preemption disabled.
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
 * eventlog_ring_drop_many() - count events as lost
 * @ring: the ring of this CPU
 * @cause: cause of the losses
 * @count: how many
 *
 * Context: any, including NMI; preemption disabled.
 *
 * Return: false if it interrupted a writer that holds the ring's lock; nothing was counted.
 */
static inline bool eventlog_ring_drop_many(struct eventlog_ring *ring, enum eventlog_lost cause,
					   u32 count)
{
#if EVENTLOG_RING_LOCKLESS
	if (likely(!ring->locked)) {
		eventlog_ring_lose_many(ring, cause, count);
		return true;
	}
#endif
	return eventlog_ring_drop_many_locked(ring, cause, count);
}

/**
 * eventlog_ring_commit() - commit a filled record
 * @ring: the ring
 * @slot: from a successful eventlog_ring_reserve()
 *
 * The consumer can read the record as soon as the outermost writer has committed.
 *
 * Context: as for eventlog_ring_reserve().
 *
 * Return: true for the outermost writer, which may wake a poller.
 */
static __always_inline bool eventlog_ring_commit(struct eventlog_ring *ring,
						 const struct eventlog_ring_slot *slot)
{
	return eventlog_ring_commit_as(ring, false, slot);
}

#endif /* EVENTLOG_RING_H */
