// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parts of the ring buffer that are not on the hot path, and locked rings: see
 * ring.h.
 */
#include "ring/ring.h"

void eventlog_ring_init(struct eventlog_ring *ring, void *pages, u32 page_bytes,
			u32 data_bytes, u32 sub_buffer_bytes, u32 cpu, bool overwrite,
			bool locked)
{
	struct eventlog_ring_header *header = pages;
	u32 sub_buffers = data_bytes / sub_buffer_bytes;

	memset(ring, 0, sizeof(*ring));
	ring->header = header;
	ring->consumer = (void *)((u8 *)pages + page_bytes);
	ring->data = (u8 *)pages + 2 * page_bytes;
	ring->data_bytes = data_bytes;
	ring->sub_buffer_bytes = sub_buffer_bytes;
	/* Always with a marker: whether a record fits must not depend on earlier losses. */
	ring->payload_max = sub_buffer_bytes - EVENTLOG_RING_MARKER_BYTES -
			    (u32)sizeof(struct eventlog_record);
	if (ring->payload_max > EVENTLOG_PAYLOAD_MAX)
		ring->payload_max = EVENTLOG_PAYLOAD_MAX;
	ring->overwrite = overwrite;
	ring->locked = locked || !EVENTLOG_RING_LOCKLESS;
	eventlog_ring_lock_init(&ring->lock);

	header->magic = EVENTLOG_RING_MAGIC;
	header->flags = (overwrite ? EVENTLOG_RING_OVERWRITE : 0) |
			(EVENTLOG_RING_LOCKLESS ? 0 : EVENTLOG_RING_SPLIT);
	header->cpu = cpu;
	header->data_offset = 2 * page_bytes;
	header->data_bytes = data_bytes;
	header->sub_buffer_bytes = sub_buffer_bytes;
	if (sub_buffers > (page_bytes - sizeof(*header)) / sizeof(*ring->meta))
		return;
	ring->meta = (void *)(header + 1);
	header->meta_offset = sizeof(*header);
	header->meta_bytes = sizeof(*ring->meta);
}

/* The metadata of the sub-buffer at an offset of the data. */
static struct eventlog_sub_buffer *eventlog_ring_meta(struct eventlog_ring *ring, u32 offset)
{
	return &ring->meta[(offset & (ring->data_bytes - 1)) / ring->sub_buffer_bytes];
}

/*
 * Sets @news to @position unless it is later.  It is not older than a round of the ring.
 * A writer that this one has interrupted here has an earlier position.
 */
static void eventlog_ring_raise(const struct eventlog_ring *ring, u32 *news, u32 position)
{
	u32 seen = READ_ONCE(*news);

	while (seen - position >= ring->data_bytes) {
#if EVENTLOG_RING_LOCKLESS
		u32 expected = seen;

		seen = eventlog_local_cmpxchg_u32(news, expected, position);
		if (seen == expected)
			break;
#else
		WRITE_ONCE(*news, position);
		break;
#endif
	}
}

/* The slot of a locked ring has interrupt flags instead, and no writer is nested in it. */
static u32 eventlog_ring_nest(const struct eventlog_ring *ring, u32 nest)
{
	return ring->locked ? 0 : nest;
}

void eventlog_ring_news(struct eventlog_ring *ring, const struct eventlog_record *record,
			u32 nest)
{
	u32 offset = (u32)((const u8 *)record - ring->data), position, at;

	if (!ring->meta)
		return;
	nest = eventlog_ring_nest(ring, nest);
	/* The record is in the last round before head. */
	position = (u32)READ_ONCE(ring->header->head) - 1;
	position -= (position - offset) & (ring->data_bytes - 1);
	/* All records that are not published: from committed on, at most a round. */
	at = nest ? (u32)READ_ONCE(ring->header->committed) : position;
	if (position - at > ring->data_bytes)
		at = position - ring->data_bytes;
	at &= ~(ring->sub_buffer_bytes - 1);
	do {
		eventlog_ring_raise(ring, &eventlog_ring_meta(ring, at)->news, position);
		at += ring->sub_buffer_bytes;
	} while ((int)(position - at) >= 0);
}

/* Writes a lost record with the current counts at @position, which is reserved. */
static void eventlog_ring_write_marker(struct eventlog_ring *ring, u64 position, u64 time)
{
	struct eventlog_ring_header *header = ring->header;
	struct eventlog_record *record =
		(void *)(ring->data + ((u32)position & (ring->data_bytes - 1)));
	struct eventlog_lost_counts *counts = (void *)(record + 1);
	u64 total = READ_ONCE(header->lost_total);
	unsigned int cause;

	/*
	 * Read the total before the counts.  A writer increments the count before the
	 * total, so the counts in the record add up to at least the total reported.
	 */
	barrier();
	memset(record, 0, sizeof(*record));
	record->size_flags = EVENTLOG_RING_MARKER_BYTES |
			     EVENTLOG_RECORD_LOST << EVENTLOG_RECORD_TYPE_SHIFT;
	record->time = time;
	for (cause = 0; cause < EVENTLOG_LOST_CAUSES; cause++)
		counts->lost[cause] = READ_ONCE(header->lost[cause]);
	WRITE_ONCE(ring->reported, total);
	eventlog_ring_news(ring, record, 0);
}

static void eventlog_ring_pad(struct eventlog_ring *ring, u64 head, u32 padding)
{
	struct eventlog_record *record =
		(void *)(ring->data + ((u32)head & (ring->data_bytes - 1)));

	/* Write only eight bytes: the padding may be as short as that. */
	record->size_flags = padding | EVENTLOG_RECORD_PADDING << EVENTLOG_RECORD_TYPE_SHIFT;
	record->descriptor = 0;
}

/*
 * Writes the metadata of the sub-buffer at @position.  The writer whose record is the first
 * there has moved head to @end.
 */
static void eventlog_ring_enter(struct eventlog_ring *ring, u32 position, u64 end, u32 nest)
{
	struct eventlog_ring_header *header = ring->header;
	struct eventlog_sub_buffer *meta;
	u32 records;

	if (!ring->meta)
		return;
	nest = eventlog_ring_nest(ring, nest);
	meta = eventlog_ring_meta(ring, position);
	records = (u32)READ_ONCE(header->records);
	/* A nested writer may have counted an event behind @position: look at head last. */
	barrier();
	WRITE_ONCE(meta->records, records);
	if (nest || READ_ONCE(header->head) != end)
		smp_store_release(&meta->position, position | EVENTLOG_SUB_BUFFER_UNCOUNTED);
	else
		smp_store_release(&meta->position, position);
	/* Not earlier: from now on, news of the previous round is more than a round old. */
	eventlog_ring_raise(ring, &meta->news, position - EVENTLOG_RECORD_ALIGN);
}

u64 eventlog_ring_fill_extra(struct eventlog_ring *ring, u64 head, struct eventlog_ring_plan plan,
			     u32 nest, u64 time)
{
	const u64 end = head + plan.need;
	u32 padding = -(u32)head & (ring->sub_buffer_bytes - 1);

	if (plan.extra & EVENTLOG_RING_ENTERS) {
		if (padding)
			eventlog_ring_pad(ring, head, padding);
		head += padding;
		eventlog_ring_enter(ring, (u32)head, end, nest);
	}
	if (plan.extra & ~EVENTLOG_RING_ENTERS) {
		eventlog_ring_write_marker(ring, head, time);
		head += EVENTLOG_RING_MARKER_BYTES;
	}
	return head;
}

/* Adds to a word of the header.  The caller holds the lock: there is no other writer. */
static void eventlog_ring_add(u64 *word, u32 *upper, u32 value)
{
	eventlog_word_write(word, upper, *word + value);
}

static void eventlog_ring_lose_locked(struct eventlog_ring *ring, enum eventlog_lost cause,
				      u32 count)
{
	struct eventlog_ring_header *header = ring->header;

	eventlog_ring_add(&header->lost[cause], &header->lost_upper[cause], count);
	eventlog_ring_add(&header->lost_total, &header->lost_total_upper, count);
}

/* Counts the writers that failed to take the lock as lost events. */
static void eventlog_ring_count_refused(struct eventlog_ring *ring)
{
	if (unlikely(eventlog_ring_has_refused(&ring->lock)))
		eventlog_ring_lose_locked(ring, EVENTLOG_LOST_NESTED,
					  eventlog_ring_take_refused(&ring->lock));
}

/*
 * Counts the writers that failed to take the lock, publishes, and unlocks.  The loop
 * catches a writer that failed after the count and before the unlock: the lock may
 * not be taken again for a long time.
 */
static void eventlog_ring_leave_locked(struct eventlog_ring *ring, unsigned long flags)
{
	struct eventlog_ring_header *header = ring->header;

	do {
		eventlog_ring_count_refused(ring);
		eventlog_word_write(&header->committed, &header->committed_upper, header->head);
		eventlog_ring_unlock(&ring->lock, flags);
	} while (unlikely(eventlog_ring_has_refused(&ring->lock)) &&
		 eventlog_ring_trylock(&ring->lock, &flags));
}

struct eventlog_ring_slot eventlog_ring_reserve_locked(struct eventlog_ring *ring, u32 payload,
						       u64 floor, u64 time)
{
	struct eventlog_ring_header *header = ring->header;
	const u32 bytes = eventlog_ring_record_bytes(payload);
	struct eventlog_ring_slot slot = {};
	struct eventlog_ring_plan plan;
	enum eventlog_lost cause;
	u64 head;

	eventlog_ring_assert(ring->locked);
	if (!eventlog_ring_trylock(&ring->lock, &slot.flags)) {
		eventlog_ring_refuse(&ring->lock);
		return slot;
	}
	/*
	 * An earlier holder may have unlocked but not yet tested again for failed
	 * writers.  Count them here, so that a marker reports them before this record.
	 */
	eventlog_ring_count_refused(ring);
	if (unlikely(payload > ring->payload_max)) {
		cause = EVENTLOG_LOST_TOO_LARGE;
		goto lose;
	}
	head = header->head;
	if (!time)
		time = eventlog_ring_clock();
	if (time < ring->last_time)
		time = ring->last_time;
	if (time < floor)
		time = floor;
	plan = eventlog_ring_plan(ring, header, head, bytes);
	if (unlikely(!eventlog_ring_has_room(ring, head, plan.need))) {
		cause = EVENTLOG_LOST_NO_ROOM;
		goto lose;
	}
	ring->last_time = time;
	eventlog_word_write(&header->head, &header->head_upper, head + plan.need);
	if (EVENTLOG_RING_STORES_ORDERED || ring->overwrite)
		smp_wmb();
	eventlog_ring_fill(ring, head, &plan, bytes, time, &slot);
	return slot;

lose:
	eventlog_ring_lose_locked(ring, cause, 1);
	eventlog_ring_leave_locked(ring, slot.flags);
	return slot;
}

void eventlog_ring_commit_locked(struct eventlog_ring *ring, unsigned long flags)
{
	eventlog_ring_add(&ring->header->records, &ring->header->records_upper, 1);
	eventlog_ring_leave_locked(ring, flags);
}

bool eventlog_ring_drop_many_locked(struct eventlog_ring *ring, enum eventlog_lost cause,
				    u32 count)
{
	unsigned long flags;

	if (!eventlog_ring_trylock(&ring->lock, &flags))
		return false;
	eventlog_ring_lose_locked(ring, cause, count);
	eventlog_ring_leave_locked(ring, flags);
	return true;
}

void eventlog_ring_drop_locked(struct eventlog_ring *ring, enum eventlog_lost cause)
{
	if (!eventlog_ring_drop_many_locked(ring, cause, 1))
		eventlog_ring_refuse(&ring->lock);
}
