// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Reading rings, and merging them into one sequence in the order of time.
 *
 * All functions work on memory only. There are as many rings as CPUs, so a binary heap
 * selects the oldest record. The order within a ring never changes, even if its times
 * step back.
 *
 * The kernel that writes the rings is trusted, but files are not. So lengths are
 * verified before they are used.
 *
 * No locks: a ring and a merge belong to one thread.
 */
#include <errno.h>
#include <string.h>

#include "elog.h"
#include "format/merge.h"

static const unsigned char *record_at(const struct elog_ring_reader *ring)
{
	return ring->data + (ring->position & (ring->data_bytes - 1));
}

static uint32_t order32(const struct elog_ring_reader *ring, uint32_t value)
{
	return ring->swapped ? __builtin_bswap32(value) : value;
}

static uint64_t order64(const struct elog_ring_reader *ring, uint64_t value)
{
	return ring->swapped ? __builtin_bswap64(value) : value;
}

int elog_ring_peek(struct elog_ring_reader *ring)
{
	uint64_t available, in_sub_buffer;
	struct eventlog_record record;
	uint32_t size_flags, size;

	while (ring->position != ring->end) {
		available = ring->end - ring->position;
		in_sub_buffer = ring->sub_buffer_bytes -
			(ring->position & (ring->sub_buffer_bytes - 1));
		if (available > ring->data_bytes ||
		    ring->position % EVENTLOG_RECORD_ALIGN || available < 8)
			goto damaged;
		/* Padding may have only these bytes. */
		memcpy(&size_flags, record_at(ring), sizeof(size_flags));
		size_flags = order32(ring, size_flags);
		size = elog_record_bytes(size_flags);
		if (size < 8 || size > available || size > in_sub_buffer)
			goto damaged;
		switch (elog_record_type(size_flags)) {
		case EVENTLOG_RECORD_EVENT:
		case EVENTLOG_RECORD_LOST:
			if ((size_flags & EVENTLOG_RECORD_SIZE_MASK) <
			    sizeof(record))
				goto damaged;
			memcpy(&record, record_at(ring), sizeof(record));
			if (order64(ring, record.time) > ring->key)
				ring->key = order64(ring, record.time);
			ring->size = size;
			return 1;
		default:
			ring->position += size;
		}
	}
	return 0;

damaged:
	ring->position = ring->end;
	return -EBADMSG;
}

ssize_t elog_ring_span(const struct elog_ring_reader *ring)
{
	uint64_t offset = ring->position & (ring->data_bytes - 1);
	uint64_t size = ring->end - ring->position;

	if (size > ring->data_bytes || size % EVENTLOG_RECORD_ALIGN)
		return -EBADMSG;
	if (size > ring->data_bytes - offset)
		size = ring->data_bytes - offset;
	return (ssize_t)size;
}

bool elog_ring_lost(struct elog_ring_reader *ring, const uint64_t *counts,
		    unsigned int count, struct elog_item *item)
{
	bool news = false;
	unsigned int i;

	for (i = 0; i < count; i++) {
		ring->news[i] = 0;
		if (counts[i] <= ring->lost[i])
			continue;
		ring->news[i] = counts[i] - ring->lost[i];
		ring->lost[i] = counts[i];
		news = true;
	}
	item->type = ELOG_ITEM_LOST;
	item->lost = ring->news;
	item->lost_count = count;
	item->cpu = ring->cpu;
	item->stream = ring->stream;
	item->context = EVENTLOG_CONTEXT_TASK;
	item->descriptor = 0;
	item->session = 0;
	item->pid = 0;
	item->tid = 0;
	item->payload = NULL;
	item->payload_size = 0;
	return news;
}

/* A record has as many counts as its size says. */
static bool take_lost(struct elog_ring_reader *ring, const unsigned char *payload,
		      size_t size, struct elog_item *item)
{
	uint64_t counts[ELOG_LOST_CAUSES_MAX];
	unsigned int count, i;

	if (size > sizeof(counts))
		size = sizeof(counts);
	count = (unsigned int)(size / sizeof(counts[0]));
	memcpy(counts, payload, count * sizeof(counts[0]));
	for (i = 0; i < count; i++)
		counts[i] = order64(ring, counts[i]);
	return elog_ring_lost(ring, counts, count, item);
}

bool elog_ring_take(struct elog_ring_reader *ring, struct elog_item *item)
{
	struct eventlog_record record;
	const unsigned char *payload;
	uint32_t size_flags;
	size_t size;

	memcpy(&record, record_at(ring), sizeof(record));
	size_flags = order32(ring, record.size_flags);
	payload = record_at(ring) + sizeof(record);
	size = (size_flags & EVENTLOG_RECORD_SIZE_MASK) - sizeof(record);
	ring->position += ring->size;

	item->time = order64(ring, record.time);
	if (elog_record_type(size_flags) == EVENTLOG_RECORD_LOST)
		return take_lost(ring, payload, size, item);
	item->type = ELOG_ITEM_EVENT;
	item->cpu = ring->cpu;
	item->stream = ring->stream;
	item->lost = NULL;
	item->lost_count = 0;
	item->context = (enum eventlog_context)
		((size_flags & EVENTLOG_RECORD_CONTEXT_MASK) >>
		 EVENTLOG_RECORD_CONTEXT_SHIFT);
	item->descriptor = order32(ring, record.descriptor);
	item->session = order64(ring, record.session);
	item->pid = order32(ring, record.pid);
	item->tid = order32(ring, record.tid);
	item->payload = payload;
	item->payload_size = size;
	item->flags = size_flags & ELOG_RECORD_FLAGS;
	return true;
}

/*
 * At equal keys, a ring of no CPU is first: it has events from producer rings. An event that
 * the same thread wrote with the same time was emitted later. Among other rings, the lower
 * stream is first, so the order is reproducible.
 */
static bool is_older(const struct elog_ring_reader *one,
		     const struct elog_ring_reader *other)
{
	const bool mapped = one->cpu == EVENTLOG_CPU_UNKNOWN;

	if (one->key != other->key)
		return one->key < other->key;
	if (mapped != (other->cpu == EVENTLOG_CPU_UNKNOWN))
		return mapped;
	return one->stream < other->stream;
}

static void sift_down(struct elog_merge *merge)
{
	struct elog_ring_reader *ring = merge->rings[0];
	size_t hole = 0, child;

	while ((child = 2 * hole + 1) < merge->count) {
		if (child + 1 < merge->count &&
		    is_older(merge->rings[child + 1], merge->rings[child]))
			child++;
		if (!is_older(merge->rings[child], ring))
			break;
		merge->rings[hole] = merge->rings[child];
		hole = child;
	}
	merge->rings[hole] = ring;
}

int elog_merge_add(struct elog_merge *merge, struct elog_ring_reader *ring,
		   uint64_t before)
{
	int ret = elog_ring_peek(ring);
	size_t hole, parent;

	if (ret <= 0 || ring->key >= before)
		return ret < 0 ? ret : 0;
	for (hole = merge->count++; hole; hole = parent) {
		parent = (hole - 1) / 2;
		if (!is_older(ring, merge->rings[parent]))
			break;
		merge->rings[hole] = merge->rings[parent];
	}
	merge->rings[hole] = ring;
	return 1;
}

struct elog_ring_reader *elog_merge_first(const struct elog_merge *merge)
{
	return merge->count ? merge->rings[0] : NULL;
}

int elog_merge_update(struct elog_merge *merge, uint64_t before)
{
	int ret = elog_ring_peek(merge->rings[0]);

	if (ret <= 0 || merge->rings[0]->key >= before)
		merge->rings[0] = merge->rings[--merge->count];
	if (merge->count)
		sift_down(merge);
	return ret < 0 ? ret : 0;
}
