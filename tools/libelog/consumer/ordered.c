// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Reading the rings in global time order.
 *
 * A batch has three steps. FLUSH returns a time, and records that appear after the FLUSH
 * are not older than this time. Then the committed position of each ring is read once.
 * Then all records before the time are merged. Records are read in place. The consumer
 * returns their space to the kernel after every eighth of a ring, not after every
 * record. So a batch may be long, and writers are rarely disturbed.
 *
 * Losses come from three places:
 * - records of type EVENTLOG_RECORD_LOST in the rings;
 * - the counts in the header of a ring, when the ring was read to its end and no later
 *   record holds them yet;
 * - STAT, for CPUs that have no ring.
 * Counts only grow. Each increase of a count is reported once.
 *
 * With a backlog, a thread copies the records to chunks of memory, and the consumer reads
 * the chunks: see backlog.c.
 *
 * For the consumer's own thread.
 */
#include <errno.h>
#include <string.h>

#include "consumer/state.h"
#include "util/port.h"
#include "util/struct.h"

static void free_spent(struct elog_consumer *consumer)
{
	if (consumer->spent)
		elog_backlog_free(consumer->backlog, consumer->spent);
	consumer->spent = NULL;
}

static void leave_chunk(struct elog_consumer *consumer, struct ring *ring)
{
	if (!ring->chunk)
		return;
	ring->chunk->next = consumer->spent;
	consumer->spent = ring->chunk;
	ring->chunk = NULL;
}

void elog_ordered_free(struct elog_consumer *consumer)
{
	unsigned int index;

	for (index = 0; consumer->rings && index < consumer->subscribed.rings; index++)
		leave_chunk(consumer, &consumer->rings[index]);
	free_spent(consumer);
}

/*
 * Continue with the ring's next chunk. The caller may use the last record of the
 * previous chunk until the next call. Return: false if there is no next chunk, or after
 * an error.
 */
static bool next_chunk(struct elog_consumer *consumer, struct ring *ring)
{
	int ret;

	do {
		leave_chunk(consumer, ring);
		ring->reader.position = 0;
		ring->reader.end = 0;
		ret = elog_backlog_next(consumer->backlog, ring->reader.stream,
					&ring->chunk);
		if (ret == -EBADMSG)
			consumer->damaged = true;
	} while (ret == -EBADMSG);
	if (ret < 0)
		consumer->error = ret;
	if (ret <= 0)
		return false;
	ring->reader.data = ring->chunk->data;
	ring->reader.end = ring->chunk->size;
	return true;
}

/* Add a ring to the batch. With a backlog, its next record may be in a later chunk. */
static void join(struct elog_consumer *consumer, struct ring *ring)
{
	int ret;

	do {
		ret = elog_merge_add(&consumer->merge, &ring->reader,
				     consumer->before);
		if (ret < 0)
			consumer->damaged = true;
	} while (consumer->backlog && ret <= 0 &&
		 ring->reader.position == ring->reader.end &&
		 next_chunk(consumer, ring));
}

/* Continue after the first ring's record was taken. */
static void update_merge(struct elog_consumer *consumer, struct ring *ring)
{
	size_t count = consumer->merge.count;

	if (elog_merge_update(&consumer->merge, consumer->before))
		consumer->damaged = true;
	if (consumer->backlog && consumer->merge.count < count &&
	    ring->reader.position == ring->reader.end &&
	    next_chunk(consumer, ring))
		join(consumer, ring);
}

int elog_consumer_flush(struct elog_consumer *consumer)
{
	struct eventlog_flush flush = { .size = sizeof(flush) };
	int ret;

	ret = elog_consumer_flush_wait(consumer, &flush);
	return ret ? ret : elog_consumer_flush_until(consumer, &flush);
}

int elog_consumer_flush_until(struct elog_consumer *consumer, const struct eventlog_flush *given)
{
	struct eventlog_flush flush;
	struct ring *ring;
	unsigned int index;
	int ret;

	ret = elog_struct_get(&flush, sizeof(flush), given);
	if (!ret)
		ret = elog_consumer_flushed(consumer, &flush);
	if (ret)
		return ret;
	free_spent(consumer);
	consumer->before = consumer->time;
	consumer->merge.count = 0;
	for (index = 0; index < consumer->subscribed.rings; index++) {
		ring = &consumer->rings[index];
		if (!ring->header)
			continue;
		if (!consumer->backlog) {
			ring->reader.end = elog_ring_committed(ring);
			if (ring->reader.end != ring->reader.position)
				elog_ring_learn_names(consumer, ring);
		}
		join(consumer, ring);
	}
	consumer->state = BATCH_RECORDS;
	return 0;
}

static int pause_rings(const struct elog_consumer *consumer, bool paused)
{
	struct eventlog_pause request = {
		.size = sizeof(request),
		.paused = paused,
	};

	return elog_port_call(consumer_file(consumer), EVENTLOG_IOC_PAUSE, &request);
}

/*
 * Go to the oldest complete record of the ring that was not read yet. This function
 * compares positions in 64 bits, because any number of bytes may have been written since
 * the last read.
 */
static void rewind_ring(struct ring *ring)
{
	const struct eventlog_ring_header *header = ring->header;
	uint64_t end = elog_load_word(header, &header->committed,
				      &header->committed_upper);
	uint64_t start = 0;

	if (end > header->data_bytes)
		start = (end - header->data_bytes + header->sub_buffer_bytes - 1) &
			~(header->sub_buffer_bytes - 1);
	if (ring->reader.position < start)
		ring->reader.position = start;
	ring->reader.end = end;
}

int elog_consumer_pause(struct elog_consumer *consumer)
{
	struct ring *ring;
	unsigned int index;
	int ret;

	if (!(consumer->subscribed.flags & EVENTLOG_SUBSCRIBE_OVERWRITE))
		return -EINVAL;
	consumer->pending = NULL;
	ret = pause_rings(consumer, true);
	if (ret)
		return ret;
	/*
	 * PAUSE returns no generation to compare. So elog_consumer_map() makes a system call for
	 * each CPU without a ring.
	 */
	ret = elog_consumer_map(consumer);
	if (ret) {
		pause_rings(consumer, false);
		return ret;
	}
	consumer->time = elog_clock_read(CLOCK_MONOTONIC) - (uint64_t)elog_time_offset();
	consumer->before = UINT64_MAX;
	consumer->merge.count = 0;
	for (index = 0; index < consumer->subscribed.rings; index++) {
		ring = &consumer->rings[index];
		if (!ring->header)
			continue;
		rewind_ring(ring);
		elog_ring_learn_names(consumer, ring);
		join(consumer, ring);
	}
	consumer->state = BATCH_RECORDS;
	return 0;
}

int elog_consumer_resume(struct elog_consumer *consumer)
{
	consumer->pending = NULL;
	consumer->state = BATCH_NONE;
	return pause_rings(consumer, false);
}

static bool next_loss(struct elog_consumer *consumer, struct elog_item *item)
{
	uint64_t counts[EVENTLOG_LOST_CAUSES];
	struct ring *ring;

	while (consumer->next_ring < consumer->subscribed.rings) {
		ring = &consumer->rings[consumer->next_ring++];
		if (!ring->header)
			continue;
		if (!elog_ring_read_losses(consumer, ring, counts))
			continue;
		item->time = consumer->time;
		if (elog_ring_lost(&ring->reader, counts, EVENTLOG_LOST_CAUSES, item))
			return true;
	}
	return false;
}

/* The kernel has one count for all CPUs without a ring. */
static bool next_loss_without_ring(struct elog_consumer *consumer,
				   struct elog_item *item)
{
	uint64_t counts[EVENTLOG_LOST_CAUSES] = { 0 };
	struct eventlog_stat stat = { .size = sizeof(stat) };

	if (consumer->part || elog_consumer_stat(consumer, EVENTLOG_RINGS_ALL, 0, &stat))
		return false;
	counts[EVENTLOG_LOST_NO_MEMORY] = stat.lost[EVENTLOG_LOST_NO_MEMORY];
	item->time = consumer->time;
	return elog_ring_lost(&consumer->no_ring, counts, EVENTLOG_LOST_CAUSES, item);
}

int elog_consumer_next(struct elog_consumer *consumer, struct elog_item *item)
{
	struct elog_ring_reader *reader;
	struct ring *ring;
	unsigned int index;
	bool news;
	int ret;

	free_spent(consumer);
	/* Clear the members that records do not set. */
	memset(&item->damage, 0, sizeof(*item) - offsetof(struct elog_item, damage));
	ring = consumer->pending;
	if (ring) {
		consumer->pending = NULL;
		if (ring->reader.position - ring->released >=
		    ring->reader.data_bytes / 8)
			elog_ring_release(ring);
	}
	if (consumer->damaged) {
		consumer->damaged = false;
		return -EBADMSG;
	}
	if (consumer->error) {
		ret = consumer->error;
		consumer->error = 0;
		return ret;
	}
	while (consumer->state == BATCH_RECORDS) {
		reader = elog_merge_first(&consumer->merge);
		if (!reader) {
			for (index = 0; index < consumer->subscribed.rings; index++)
				if (consumer->rings[index].header && !consumer->backlog)
					elog_ring_release(&consumer->rings[index]);
			consumer->next_ring = 0;
			consumer->state = BATCH_LOSSES;
			break;
		}
		news = elog_ring_take(reader, item);
		update_merge(consumer, elog_ring_of(reader));
		if (news) {
			/* With a backlog, the last record stays in its chunk. */
			consumer->pending = consumer->backlog ? NULL : elog_ring_of(reader);
			return 1;
		}
	}
	if (consumer->state == BATCH_LOSSES) {
		if (next_loss(consumer, item))
			return 1;
		consumer->state = BATCH_NONE;
		if (next_loss_without_ring(consumer, item))
			return 1;
	}
	return 0;
}
