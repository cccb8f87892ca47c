// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Reading the bytes of rings where they are, for writers of files.
 *
 * For the consumer's own thread, except elog_consumer_flush_wait().
 */
#include <errno.h>
#include <string.h>

#include "consumer/state.h"
#include "util/port.h"
#include "util/struct.h"

int elog_consumer_flush_wait(const struct elog_consumer *consumer,
			     struct eventlog_flush *flush)
{
	int ret = elog_struct_clear(flush, ELOG_SIZE_TO(struct eventlog_flush, reserved));
	int fd;

	if (ret)
		return ret;
	if (consumer->subscribed.flags & EVENTLOG_SUBSCRIBE_OVERWRITE)
		return -EINVAL;
	fd = consumer_file(consumer);
	ret = elog_port_call(fd, EVENTLOG_IOC_FLUSH, flush);
	if (!ret || !elog_port_gone(fd))
		return ret;
	/* What is in the rings can still be read. */
	flush->generation = consumer->generation;
	flush->time = elog_clock_read(CLOCK_MONOTONIC) - (uint64_t)elog_time_offset();
	return 0;
}

int elog_consumer_flushed(struct elog_consumer *consumer, const struct eventlog_flush *flush)
{
	int ret;

	consumer->pending = NULL;
	if (flush->generation != consumer->generation) {
		ret = elog_consumer_map(consumer);
		if (ret)
			return ret;
		consumer->generation = flush->generation;
	}
	/* A flush that was started earlier may end later. */
	if (flush->time > consumer->time)
		consumer->time = flush->time;
	consumer->state = BATCH_NONE;
	return 0;
}

int elog_consumer_raw_flushed(struct elog_consumer *consumer,
			      const struct eventlog_flush *given)
{
	struct eventlog_flush flush;
	int ret;

	ret = elog_struct_get(&flush, sizeof(flush), given);
	if (ret)
		return ret;
	return consumer->backlog ? -EINVAL : elog_consumer_flushed(consumer, &flush);
}

int elog_consumer_raw_flush_start(struct elog_consumer *consumer)
{
	int ret;

	if (consumer->backlog || consumer->subscribed.flags & EVENTLOG_SUBSCRIBE_OVERWRITE)
		return -EINVAL;
	if (!consumer->flusher) {
		ret = elog_flusher_open(&consumer->flusher, consumer);
		if (ret)
			return ret;
	}
	return elog_flusher_start(consumer->flusher);
}

int elog_consumer_raw_flush_end(struct elog_consumer *consumer)
{
	struct eventlog_flush flush;
	int ret;

	if (!consumer->flusher)
		return -EINVAL;
	ret = elog_flusher_end(consumer->flusher, &flush);
	if (ret <= 0)
		return ret;
	ret = elog_consumer_flushed(consumer, &flush);
	return ret ? ret : 1;
}

#define META_BYTES	(256U << 10)	/* of sub-buffers that are returned at once */

/* The metadata of the sub-buffer at a position. */
static const struct eventlog_sub_buffer *meta_at(const struct ring *ring, uint64_t position)
{
	const struct elog_ring_reader *reader = &ring->reader;
	const uint64_t number = (position & (reader->data_bytes - 1)) /
				reader->sub_buffer_bytes;

	return (const void *)(ring->meta + number * ring->header->meta_bytes);
}

/* Bytes from @position up to the news of its sub-buffer, with a part of that record, or 0. */
static uint64_t bytes_to_news(const struct ring *ring, uint64_t position)
{
	uint32_t news = __atomic_load_n(&meta_at(ring, position)->news, __ATOMIC_RELAXED);
	int32_t ahead = (int32_t)(news - (uint32_t)position);

	return ahead < 0 ? 0 : (uint64_t)ahead + 1;
}

/* Do the unread records have names of threads that are new in the ring? */
static bool has_new_names(const struct ring *ring)
{
	const struct elog_ring_reader *reader = &ring->reader;
	uint64_t position;

	if (!ring->meta)
		return true;
	for (position = reader->position; position < reader->end;
	     position = (position | (reader->sub_buffer_bytes - 1)) + 1)
		if (bytes_to_news(ring, position))
			return true;
	return false;
}

static struct ring *raw_ring(struct elog_consumer *consumer, unsigned int index)
{
	if (index >= consumer->subscribed.rings || consumer->backlog ||
	    index % consumer->parts != consumer->part ||
	    consumer->subscribed.flags & EVENTLOG_SUBSCRIBE_OVERWRITE)
		return NULL;
	return &consumer->rings[index];
}

int elog_consumer_raw(struct elog_consumer *consumer, unsigned int index,
		      const void **data, size_t *size, uint64_t *position)
{
	struct ring *ring = raw_ring(consumer, index);
	uint64_t counts[EVENTLOG_LOST_CAUSES];
	struct elog_ring_reader *reader;
	ssize_t span;

	if (!ring)
		return -EINVAL;
	if (!ring->header)
		return 0;
	reader = &ring->reader;
	reader->end = elog_ring_committed(ring);
	span = elog_ring_span(reader);
	if (span < 0) {
		reader->position = reader->end;
		elog_ring_release(ring);
		return (int)span;
	}
	/* Mark the losses as seen: poll() need not report them before the next flush. */
	if (!span)
		elog_ring_read_losses(consumer, ring, counts);
	else if (has_new_names(ring))
		elog_ring_learn_names(consumer, ring);
	*data = reader->data + (reader->position & (reader->data_bytes - 1));
	*size = (size_t)span;
	*position = reader->position;
	return span > 0;
}

/* poll(2) reports losses until they are marked as seen, which is when the ring is empty. */
static bool has_unseen_losses(const struct ring *ring)
{
	return elog_load_position(&ring->header->lost_total) != ring->consumer->lost_seen;
}

int elog_consumer_raw_meta(struct elog_consumer *consumer, unsigned int index,
			   struct elog_raw_meta *meta)
{
	struct ring *ring = raw_ring(consumer, index);
	const struct eventlog_sub_buffer *next;
	const struct elog_ring_reader *reader;
	uint64_t at, end = 0, look;
	int ret;

	ret = elog_struct_clear(meta, ELOG_SIZE_TO(struct elog_raw_meta, look));
	if (ret)
		return ret;
	if (!ring)
		return -EINVAL;
	reader = &ring->reader;
	if (!ring->header || !ring->meta || reader->position == reader->end)
		return 0;
	for (at = reader->position; at - reader->position < META_BYTES; at = end) {
		end = (at | (reader->sub_buffer_bytes - 1)) + 1;
		/* Also if the ring's memory ends here, because a block is contiguous. */
		if (end > reader->end || (at != reader->position &&
					  !(at & (reader->data_bytes - 1))))
			break;
		next = meta_at(ring, end);
		if (__atomic_load_n(&next->position, __ATOMIC_ACQUIRE) != (uint32_t)end)
			break;
		look = bytes_to_news(ring, at);
		/* The caller looks at the first bytes only. */
		if (look && at != reader->position)
			break;
		if (look)
			meta->look = look < end - at ? look : end - at;
		meta->records = __atomic_load_n(&next->records, __ATOMIC_RELAXED);
		meta->bytes = end - reader->position;
	}
	if (meta->bytes)
		return 1;
	return end > reader->end && !has_unseen_losses(ring) ? -EAGAIN : 0;
}

int elog_consumer_raw_release(struct elog_consumer *consumer, unsigned int index,
			      size_t size)
{
	struct ring *ring = raw_ring(consumer, index);

	if (!ring || !ring->header ||
	    size > ring->reader.end - ring->reader.position)
		return -EINVAL;
	ring->reader.position += size;
	elog_ring_release(ring);
	return 0;
}

int elog_consumer_raw_lost(struct elog_consumer *consumer, unsigned int index,
			   uint64_t *lost, size_t count)
{
	struct eventlog_stat stat = { .size = sizeof(stat) };
	uint64_t counts[EVENTLOG_LOST_CAUSES] = { 0 };
	struct ring *ring = NULL;
	int ret = 1;

	if (index == ELOG_STREAM_NONE) {
		if (consumer->part)
			return -EINVAL;
		ret = elog_consumer_stat(consumer, EVENTLOG_RINGS_ALL, 0, &stat);
		if (ret)
			return ret;
		counts[EVENTLOG_LOST_NO_MEMORY] = stat.lost[EVENTLOG_LOST_NO_MEMORY];
		/* elog_consumer_pending() compares the count with this one. */
		consumer->no_ring.lost[EVENTLOG_LOST_NO_MEMORY] =
			stat.lost[EVENTLOG_LOST_NO_MEMORY];
		ret = 1;
	} else {
		ring = raw_ring(consumer, index);
		if (!ring)
			return -EINVAL;
		if (ring->header)
			ret = elog_ring_read_losses(consumer, ring, counts);
	}
	if (ret && ring)
		memcpy(ring->reader.lost, counts, sizeof(counts));
	memset(lost, 0, count * sizeof(*lost));
	memcpy(lost, counts, (count < EVENTLOG_LOST_CAUSES ? count : EVENTLOG_LOST_CAUSES) *
	       sizeof(*lost));
	return ret;
}
