// SPDX-License-Identifier: GPL-2.0-only
/*
 * The writer that copies rings: see writer.h.
 *
 * Records are written from where they are in the ring, and released after that.
 *
 * A SYNC block needs a FLUSH, which takes tens of milliseconds. A thread of libelog waits
 * for it. The rings are drained at the same time, because small rings would fill up.
 *
 * If the disk is full or fails, the records stay in the rings. The kernel counts those that
 * find no room there. Those that are still in the rings at the end are a loss that the last
 * SYNC block states, if that can be written.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libelog/unexported/consumer.h"
#include "record/raw_writer.h"
#include "record/trace_writer.h"

#define DEFAULT_RING	(1U << 20)
#define FLUSH_MS	100	/* at most, between two reads of the rings during a FLUSH */

struct raw_writer {
	struct writer writer;
	struct elog_writer_loss *losses;	/* room for all rings and two more */
	uint64_t (*counts)[EVENTLOG_LOST_CAUSES];	/* of @losses */
	uint64_t unwritten[ELOG_LOST_NOT_WRITTEN + 1];	/* by the last SYNC block */
	unsigned int rings;
	unsigned int part;		/* has the rings whose number modulo @parts is this */
	unsigned int parts;		/* 1: the writer has all rings */
	uint64_t ring_bytes;
	bool flushing;			/* a FLUSH for the next SYNC block is under way */
	bool rotate;			/* start a new file after that block */
};

static struct raw_writer *to_raw(struct writer *writer)
{
	return (struct raw_writer *)writer;
}

/* A smaller ring has so few sub-buffers that none of them may wait until it is complete. */
#define WAITING_RING_MIN (1U << 20)

/*
 * Write unread records. The kernel knows sub-buffers that are complete, so leave the last
 * one in the ring until it is complete, or until a SYNC; but not in a small ring.
 *
 * Return: bytes written; 0 leave the rest; -EAGAIN; or another negative errno.
 */
static ssize_t write_some(struct raw_writer *raw, unsigned int ring, const void *data,
			  size_t size, uint64_t position, bool all)
{
	struct elog_consumer *consumer = raw->writer.live->consumer;
	const unsigned int cpu = elog_consumer_ring_cpu(consumer, ring);
	struct elog_raw_meta meta = { .size = sizeof(meta) };
	int ret = elog_consumer_raw_meta(consumer, ring, &meta);

	if (ret == -EAGAIN && !all && raw->ring_bytes >= WAITING_RING_MIN)
		return 0;
	return trace_writer_raw(raw->writer.file, cpu, ring, data, size, position,
				ret > 0 ? &meta : NULL);
}

static int drain_ring(struct raw_writer *raw, unsigned int ring, bool all)
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
		raw->writer.pending = true;
		some = write_some(raw, ring, data, size, position, all);
		if (!some)
			return 0;
		if (some == -EBADMSG) {
			raw->writer.damaged = true;
			elog_consumer_raw_release(consumer, ring, size);
			return 0;
		}
		if (some < 0)
			return (int)some;
		elog_consumer_raw_release(consumer, ring, (size_t)some);
		drained += (uint64_t)some;
	}
	return 0;
}

/* @all: also records of sub-buffers that are not complete. */
static int drain_rings(struct raw_writer *raw, bool all)
{
	unsigned int ring;
	int ret = 0;

	for (ring = raw->part; !ret && ring < raw->rings; ring += raw->parts)
		ret = drain_ring(raw, ring, all);
	return ret;
}

/* Add the losses of a ring if the file may state them now. */
static int add_losses(struct raw_writer *raw, unsigned int ring, bool final, size_t *count)
{
	struct elog_consumer *consumer = raw->writer.live->consumer;
	struct elog_writer_loss *loss = &raw->losses[*count];
	int ret;

	ret = elog_consumer_raw_lost(consumer, ring, raw->counts[*count], EVENTLOG_LOST_CAUSES);
	/* If there is none, an unread record may still tell where the loss was. */
	if (ret < 0 || (!ret && !final))
		return ret;
	loss->cpu = elog_consumer_ring_cpu(consumer, ring);
	loss->stream = ring;
	loss->lost = raw->counts[(*count)++];
	loss->lost_count = EVENTLOG_LOST_CAUSES;
	return 0;
}

/* Set @count to the number of rings whose losses the file may state now. */
static int find_losses(struct raw_writer *raw, bool final, size_t *count)
{
	unsigned int ring;
	int ret = 0;

	*count = 0;
	for (ring = raw->part; !ret && ring < raw->rings; ring += raw->parts)
		ret = add_losses(raw, ring, final, count);
	/* Losses of CPUs without ring belong to part 0. */
	if (!ret && !raw->part)
		ret = add_losses(raw, ELOG_STREAM_NONE, final, count);
	return ret;
}

/*
 * Drain the rings after a FLUSH, and write its SYNC block. The next file starts at @next; 0: at
 * this time. Return: 0; -EAGAIN do it again later; or another negative errno.
 */
static int write_sync(struct raw_writer *raw, bool final, bool rotate, uint64_t next)
{
	struct writer *writer = &raw->writer;
	uint64_t time = elog_consumer_time(writer->live->consumer);
	/* One that is under way is this one. */
	const bool start = rotate && !trace_writer_rotates(writer->file);
	size_t count;
	int ret;

	ret = drain_rings(raw, true);
	if (!ret)
		ret = find_losses(raw, final, &count);
	if (!ret)
		ret = trace_writer_sync(writer->file, time, raw->losses, count);
	if (!ret && start)
		ret = trace_writer_rotate(writer->file, next ? next : time);
	if (!ret)
		writer->wait.error = 0;
	return ret;
}

/* Count the records of the rings that are in no file. */
static uint64_t count_unwritten(struct raw_writer *raw)
{
	struct eventlog_stat stat;
	uint64_t records = 0;
	unsigned int ring;

	for (ring = raw->part; ring < raw->rings; ring += raw->parts) {
		stat = (struct eventlog_stat){ .size = sizeof(stat) };
		if (!elog_consumer_stat(raw->writer.live->consumer, ring, 0, &stat))
			records += stat.records;
	}
	return records > raw->writer.records ? records - raw->writer.records : 0;
}

/* The rings cannot be written to the end: complete the file as it is. Return: @error. */
static int give_up(struct raw_writer *raw, int error)
{
	struct writer *writer = &raw->writer;
	uint64_t time = elog_consumer_time(writer->live->consumer);
	struct elog_writer_loss *loss;
	size_t count;

	if (!writer->failed_path || find_losses(raw, true, &count))
		return error;
	raw->unwritten[ELOG_LOST_NOT_WRITTEN] = count_unwritten(raw);
	/* A stream of this part: an equal loss of another part is not the same. */
	loss = &raw->losses[count++];
	*loss = (struct elog_writer_loss){
		.cpu = elog_consumer_ring_cpu(writer->live->consumer, raw->part),
		.stream = raw->part,
		.lost = raw->unwritten, .lost_count = ELOG_LOST_NOT_WRITTEN + 1,
	};
	if (!trace_writer_sync(writer->file, time, raw->losses, count))
		trace_writer_end(writer->file, UINT64_MAX);
	return error;
}

int raw_writer_sync(struct writer *writer, const struct eventlog_flush *flush, uint64_t start)
{
	int ret = elog_consumer_raw_flushed(writer->live->consumer, flush);

	if (ret)
		return ret;
	ret = write_sync(to_raw(writer), false, start, start);
	if (ret != -EAGAIN || !start || !writer_is_stuck(writer) ||
	    trace_writer_rotates(writer->file))
		return ret;
	/* The records that remain need another SYNC. */
	writer->pending = true;
	return trace_writer_rotate_early(writer->file, start);
}

int raw_writer_end(struct writer *writer, const struct eventlog_flush *flush)
{
	int ret = elog_consumer_raw_flushed(writer->live->consumer, flush);

	writer->wait.final = true;
	if (!ret)
		ret = write_sync(to_raw(writer), true, false, 0);
	if (!ret)
		ret = trace_writer_end(writer->file, UINT64_MAX);
	return ret ? give_up(to_raw(writer), ret) : 0;
}

static int start_flush(struct raw_writer *raw)
{
	int ret = elog_consumer_raw_flush_start(raw->writer.live->consumer);

	if (ret)
		return ret;
	raw->flushing = true;
	/* Records from here on may be later than the flush: they need another SYNC. */
	raw->writer.pending = false;
	return 0;
}

/* Write the SYNC block if the FLUSH is over. Return: 0 or a negative errno. */
static int end_flush(struct raw_writer *raw, bool final)
{
	struct trace_writer *file = raw->writer.file;
	bool rotate;
	int ret;

	ret = elog_consumer_raw_flush_end(raw->writer.live->consumer);
	if (!ret)
		return 0;
	raw->flushing = false;
	if (ret < 0)
		return ret;
	rotate = raw->rotate || trace_writer_is_full(file);
	ret = write_sync(raw, final, rotate, 0);
	raw->rotate = ret == -EAGAIN && rotate && !trace_writer_rotates(file);
	/* Another FLUSH follows. */
	raw->writer.pending |= ret == -EAGAIN;
	return ret;
}

static int raw_drain(struct writer *writer)
{
	struct raw_writer *raw = to_raw(writer);
	int ret;

	ret = drain_rings(raw, false);
	if ((!ret || ret == -EAGAIN) && raw->flushing)
		ret = end_flush(raw, false);
	return ret == -EAGAIN ? 0 : ret;
}

static int raw_sync(struct writer *writer, bool rotate)
{
	struct raw_writer *raw = to_raw(writer);
	int ret;

	raw->rotate |= rotate;
	ret = raw_drain(writer);
	return ret || raw->flushing ? ret : start_flush(raw);
}

/* Drain the rings until the FLUSH is over, and write its SYNC block. */
static int finish_flush(struct raw_writer *raw, bool final)
{
	struct elog_consumer *consumer = raw->writer.live->consumer;
	int ret = 0;

	while (!ret && raw->flushing) {
		ret = elog_consumer_wait(consumer, FLUSH_MS, NULL);
		/* The rings of a deleted instance do not change any more. */
		ret = ret < 0 && ret != -EINTR && ret != -ENODEV ? ret : drain_rings(raw, false);
		if (!ret)
			ret = end_flush(raw, final);
	}
	return ret;
}

static int raw_end(struct writer *writer)
{
	struct eventlog_stat stat = { .size = sizeof(stat) };
	struct raw_writer *raw = to_raw(writer);
	int ret;

	writer->wait.final = true;
	/* The last SYNC needs a FLUSH that starts now, after one that is under way. */
	ret = finish_flush(raw, false);
	if (!ret)
		ret = start_flush(raw);
	if (!ret)
		ret = finish_flush(raw, true);
	if (!ret)
		ret = elog_consumer_stat(writer->live->consumer, EVENTLOG_RINGS_ALL, 0,
					 &stat);
	if (!ret)
		ret = trace_writer_end(writer->file,
				       live_lost_sum(&stat) + stat.lost[CAUSE_INVALID]);
	return ret ? give_up(raw, ret) : 0;
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

struct writer *raw_writer_new(struct live *live, unsigned int part, unsigned int parts)
{
	const uint64_t ring_bytes = live->settings->ring_bytes;
	struct raw_writer *raw = calloc(1, sizeof(*raw));

	if (!raw)
		return NULL;
	raw->writer.ops = &raw_ops;
	raw->rings = elog_consumer_rings(live->consumer);
	raw->part = part;
	raw->parts = parts;
	/* Besides the rings: CPUs without ring, and what is not written. */
	raw->losses = calloc(raw->rings + 2, sizeof(*raw->losses));
	raw->counts = calloc(raw->rings + 2, sizeof(*raw->counts));
	if (!raw->losses || !raw->counts) {
		raw_close(&raw->writer);
		return NULL;
	}
	raw->ring_bytes = ring_bytes ? ring_bytes : DEFAULT_RING;
	return &raw->writer;
}
