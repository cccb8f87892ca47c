// SPDX-License-Identifier: GPL-2.0-only
/*
 * The writer that copies rings: see writer.h.
 *
 * Records are written from where they are in the ring, and released after that.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/trace_writer.h"

#define DEFAULT_RING	(1U << 20)

struct raw_writer {
	struct writer writer;
	struct elog_writer_loss *losses;	/* room for all rings and one more */
	uint64_t (*counts)[EVENTLOG_LOST_CAUSES];	/* of @losses */
	unsigned int rings;			/* of these, which have one more */
	uint64_t ring_bytes;
};

static struct raw_writer *to_raw(struct writer *writer)
{
	return (struct raw_writer *)writer;
}

static int drain_ring(struct raw_writer *raw, unsigned int ring)
{
	struct elog_consumer *consumer = raw->writer.live->consumer;
	uint64_t position, drained = 0;
	const void *data;
	size_t size;
	ssize_t some;
	int ret;

	/* Leave records that are emitted meanwhile for the next call. */
	while (drained < raw->ring_bytes) {
		ret = elog_consumer_raw(consumer, ring, &data, &size, &position);
		if (ret == -EBADMSG) {
			raw->writer.damaged = true;
			return 0;
		}
		if (ret <= 0)
			return ret;
		some = trace_writer_raw(raw->writer.file,
					elog_consumer_ring_cpu(consumer, ring), ring, data,
					size, position);
		if (some == -EBADMSG) {
			raw->writer.damaged = true;
			elog_consumer_raw_release(consumer, ring, size);
			return 0;
		}
		if (some < 0)
			return (int)some;
		elog_consumer_raw_release(consumer, ring, (size_t)some);
		raw->writer.pending = true;
		drained += (uint64_t)some;
	}
	return 0;
}

static int raw_drain(struct writer *writer)
{
	struct raw_writer *raw = to_raw(writer);
	unsigned int ring;
	int ret = 0;

	for (ring = 0; !ret && ring < raw->rings; ring++)
		ret = drain_ring(raw, ring);
	return ret;
}

/* Set @count to the number of rings whose losses the file may state now. */
static int find_losses(struct raw_writer *raw, bool final, size_t *count)
{
	struct elog_consumer *consumer = raw->writer.live->consumer;
	unsigned int ring, i;
	struct elog_writer_loss *loss;
	int ret;

	*count = 0;
	for (i = 0; i <= raw->rings; i++) {
		ring = i < raw->rings ? i : ELOG_STREAM_NONE;
		ret = elog_consumer_raw_lost(consumer, ring, raw->counts[i],
					     EVENTLOG_LOST_CAUSES);
		if (ret < 0)
			return ret;
		/* Otherwise an unread record may still tell where the loss was. */
		if (!ret && !final)
			continue;
		loss = &raw->losses[(*count)++];
		loss->cpu = elog_consumer_ring_cpu(consumer, ring);
		loss->stream = ring;
		loss->lost = raw->counts[i];
		loss->lost_count = EVENTLOG_LOST_CAUSES;
	}
	return 0;
}

static int sync_all(struct writer *writer, bool final, bool rotate)
{
	struct raw_writer *raw = to_raw(writer);
	uint64_t time;
	size_t count;
	int ret;

	/* FLUSH waits for producers, whose records need room meanwhile. */
	ret = raw_drain(writer);
	if (ret)
		return ret;
	do {
		ret = elog_consumer_raw_flush(writer->live->consumer);
	} while (ret == -EINTR);
	if (ret)
		return ret;
	time = elog_consumer_time(writer->live->consumer);
	/* Records from here on may be later than @time: they need another SYNC. */
	writer->pending = false;
	ret = raw_drain(writer);
	if (ret)
		return ret;
	ret = find_losses(raw, final, &count);
	if (!ret)
		ret = trace_writer_sync(writer->file, time, raw->losses, count);
	if (!ret && (rotate || trace_writer_is_full(writer->file)))
		ret = trace_writer_rotate(writer->file, time);
	return ret;
}

static int raw_sync(struct writer *writer, bool rotate)
{
	return sync_all(writer, false, rotate);
}

static int raw_end(struct writer *writer)
{
	struct eventlog_stat stat = { .size = sizeof(stat) };
	uint64_t lost = 0;
	unsigned int i;
	int ret;

	ret = sync_all(writer, true, false);
	if (!ret)
		ret = elog_consumer_stat(writer->live->consumer, EVENTLOG_RINGS_ALL, 0,
					 &stat);
	if (ret)
		return ret;
	for (i = 0; i < EVENTLOG_LOST_CAUSES; i++)
		lost += stat.lost[i];
	return trace_writer_end(writer->file, lost);
}

static void raw_close(struct writer *writer)
{
	struct raw_writer *raw = to_raw(writer);

	free(raw->losses);
	free(raw->counts);
	free(raw);
}

static const struct writer_ops raw_ops = {
	.drain = raw_drain,
	.sync = raw_sync,
	.end = raw_end,
	.close = raw_close,
};

struct writer *raw_writer_new(struct live *live)
{
	const uint64_t ring_bytes = live->options->per_cpu_bytes;
	struct raw_writer *raw = calloc(1, sizeof(*raw));

	if (!raw)
		return NULL;
	raw->writer.ops = &raw_ops;
	raw->rings = elog_consumer_rings(live->consumer);
	raw->losses = calloc(raw->rings + 1, sizeof(*raw->losses));
	raw->counts = calloc(raw->rings + 1, sizeof(*raw->counts));
	if (!raw->losses || !raw->counts) {
		raw_close(&raw->writer);
		return NULL;
	}
	raw->ring_bytes = ring_bytes ? ring_bytes : DEFAULT_RING;
	return &raw->writer;
}
