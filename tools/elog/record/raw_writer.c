// SPDX-License-Identifier: GPL-2.0-only
/*
 * The writer that copies rings: see writer.h.
 *
 * It reads only the header of each record, since a file holds the schema of an event
 * and the name of a thread before the first record that needs them. Records are
 * written from where they are in the ring, and released after that.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/trace_writer.h"

#define DEFAULT_RING	(1U << 20)
#define BLOCK_BYTES	(256U << 10)	/* written at once */

struct ring_losses {
	uint64_t lost[EVENTLOG_LOST_CAUSES];
};

struct raw_writer {
	struct writer writer;
	struct elog_file_loss *losses;	/* room for all CPUs and one more */
	struct ring_losses *written;	/* by CPU: what the files state so far */
	struct ring_losses *current;	/* likewise: what @losses refers to */
	unsigned int cpus;		/* of @written, which has one more */
	uint64_t ring_bytes;
	int64_t clock_offset;		/* CLOCK_MONOTONIC minus the clock of records, ns */
};

static struct raw_writer *to_raw(struct writer *writer)
{
	return (struct raw_writer *)writer;
}

/* The counts only grow; records and the kernel both report them. */
static void remember_loss(struct raw_writer *raw, unsigned int cpu,
			  const uint64_t *lost, size_t count)
{
	struct ring_losses *loss;
	size_t i;

	if (cpu >= raw->cpus && cpu != EVENTLOG_CPU_ALL)
		return;
	loss = &raw->written[cpu < raw->cpus ? cpu : raw->cpus];
	for (i = 0; i < count && i < EVENTLOG_LOST_CAUSES; i++)
		if (lost[i] > loss->lost[i])
			loss->lost[i] = lost[i];
}

/* Remember the counts of a loss; ignore padding. Return: false if it is no record. */
static bool remember_lost_record(struct raw_writer *raw, unsigned int cpu,
				 const struct eventlog_record *record)
{
	size_t size = record->size_flags & EVENTLOG_RECORD_SIZE_MASK;
	uint64_t lost[EVENTLOG_LOST_CAUSES];

	if ((record->size_flags & EVENTLOG_RECORD_TYPE_MASK) >>
	    EVENTLOG_RECORD_TYPE_SHIFT != EVENTLOG_RECORD_LOST)
		return true;
	if (size < sizeof(*record))
		return false;
	size -= sizeof(*record);
	if (size > sizeof(lost))
		size = sizeof(lost);
	memcpy(lost, record + 1, size);
	remember_loss(raw, cpu, lost, size / sizeof(lost[0]));
	return true;
}

static size_t record_bytes(uint32_t flags)
{
	size_t bytes = (flags & EVENTLOG_RECORD_SIZE_MASK) +
		       EVENTLOG_RECORD_ALIGN - 1;

	return bytes & ~(size_t)(EVENTLOG_RECORD_ALIGN - 1);
}

/*
 * Skip events of the same definition and thread. Most events follow such an event, so
 * this loop decides what an event costs. Return: the first record that differs, or
 * that is not before @limit.
 */
static const unsigned char *pass_alike(const unsigned char *at,
				       const unsigned char *limit,
				       const unsigned char *end,
				       uint32_t descriptor, uint32_t tid,
				       uint64_t *records)
{
	const uint32_t event = EVENTLOG_RECORD_EVENT << EVENTLOG_RECORD_TYPE_SHIFT;
	const struct eventlog_record *record;
	uint64_t count = 0;
	size_t bytes;

	while (at < limit) {
		record = (const void *)at;
		bytes = record_bytes(record->size_flags);
		if ((record->size_flags & EVENTLOG_RECORD_TYPE_MASK) != event ||
		    record->descriptor != descriptor || record->tid != tid ||
		    bytes < sizeof(*record) || bytes > (size_t)(end - at))
			break;
		at += bytes;
		count++;
	}
	*records += count;
	return at;
}

/*
 * Find whole records to write at once, up to about BLOCK_BYTES. Count the events among
 * them, and write what has to precede them.
 *
 * Return: bytes; -EBADMSG these are no records; or another negative errno.
 */
static ssize_t scan(struct raw_writer *raw, unsigned int cpu,
		    const unsigned char *data, size_t size, uint64_t *records)
{
	const unsigned char *end = data + size, *at = data;
	const unsigned char *limit = size < BLOCK_BYTES ? end : data + BLOCK_BYTES;
	const struct eventlog_record *record;
	size_t bytes;
	int ret;

	while (at < limit) {
		record = (const void *)at;
		bytes = record_bytes(record->size_flags);
		if (bytes < EVENTLOG_RECORD_ALIGN || bytes > (size_t)(end - at))
			return -EBADMSG;
		if ((record->size_flags & EVENTLOG_RECORD_TYPE_MASK) >>
		    EVENTLOG_RECORD_TYPE_SHIFT != EVENTLOG_RECORD_EVENT) {
			if (!remember_lost_record(raw, cpu, record))
				return -EBADMSG;
			at += bytes;
			continue;
		}
		if (bytes < sizeof(*record))
			return -EBADMSG;
		ret = trace_writer_mention(raw->writer.file, record->descriptor,
					   record->pid, record->tid);
		if (ret)
			return ret;
		at = pass_alike(at, limit, end, record->descriptor, record->tid,
				records);
	}
	return at - data;
}

static int drain_cpu(struct raw_writer *raw, unsigned int cpu)
{
	struct elog_consumer *consumer = raw->writer.live->consumer;
	uint64_t position, drained = 0, records;
	struct elog_file_raw_info info = { 0 };
	const void *data;
	size_t size;
	ssize_t some;
	int ret;

	/* Leave records that are emitted meanwhile for the next call. */
	while (drained < raw->ring_bytes) {
		ret = elog_consumer_raw(consumer, cpu, &data, &size, &position);
		if (ret == -EBADMSG) {
			raw->writer.damaged = true;
			return 0;
		}
		if (ret <= 0)
			return ret;
		records = 0;
		some = scan(raw, cpu, data, size, &records);
		if (some == -EBADMSG) {
			raw->writer.damaged = true;
			elog_consumer_raw_release(consumer, cpu, size);
			return 0;
		}
		if (some < 0)
			return (int)some;
		/* All records in the ring were emitted before now. */
		info.newest = monotonic() - (uint64_t)raw->clock_offset;
		info.lost = raw->written[cpu].lost;
		info.lost_count = EVENTLOG_LOST_CAUSES;
		ret = trace_writer_raw(raw->writer.file, cpu, cpu, data, (size_t)some,
				       position, records, &info);
		if (ret)
			return ret;
		elog_consumer_raw_release(consumer, cpu, (size_t)some);
		raw->writer.pending = true;
		drained += (uint64_t)some;
	}
	return 0;
}

static int raw_drain(struct writer *writer)
{
	struct raw_writer *raw = to_raw(writer);
	unsigned int cpus = elog_consumer_cpus(writer->live->consumer), cpu;
	int ret = 0;

	writer->now = monotonic();
	for (cpu = 0; !ret && cpu < cpus && cpu < raw->cpus; cpu++)
		ret = drain_cpu(raw, cpu);
	return ret;
}

static bool is_loss(const uint64_t *lost)
{
	unsigned int i;

	for (i = 0; i < EVENTLOG_LOST_CAUSES; i++)
		if (lost[i])
			return true;
	return false;
}

static void set_loss(struct elog_file_loss *loss, unsigned int cpu, const uint64_t *lost)
{
	loss->cpu = cpu;
	loss->stream = cpu == EVENTLOG_CPU_ALL ? ELOG_STREAM_NONE : cpu;
	loss->lost = lost;
	loss->lost_count = EVENTLOG_LOST_CAUSES;
}

/* Set @count to the number of CPUs whose losses the file may state now. */
static int find_losses(struct raw_writer *raw, bool final, size_t *count)
{
	struct elog_consumer *consumer = raw->writer.live->consumer;
	unsigned int cpus = elog_consumer_cpus(consumer), i;
	unsigned int cpu;
	uint64_t *lost;
	int ret;

	*count = 0;
	for (i = 0; i <= cpus; i++) {
		lost = raw->current[i].lost;
		cpu = i < cpus ? i : EVENTLOG_CPU_ALL;
		ret = elog_consumer_raw_lost(consumer, cpu, lost);
		if (ret < 0)
			return ret;
		/* Otherwise an unread record may still tell where the loss was. */
		if ((!ret && !final) || !is_loss(lost))
			continue;
		remember_loss(raw, cpu, lost, EVENTLOG_LOST_CAUSES);
		set_loss(&raw->losses[(*count)++], cpu, lost);
	}
	return 0;
}

static int rotate_file(struct raw_writer *raw, uint64_t time)
{
	size_t count = 0, i;

	for (i = 0; i <= raw->cpus; i++)
		if (is_loss(raw->written[i].lost))
			set_loss(&raw->losses[count++], i < raw->cpus ? i : EVENTLOG_CPU_ALL,
				 raw->written[i].lost);
	return trace_writer_rotate(raw->writer.file, time, raw->losses, count);
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
		ret = rotate_file(raw, time);
	return ret;
}

static int raw_sync(struct writer *writer, bool rotate)
{
	return sync_all(writer, false, rotate);
}

static int raw_end(struct writer *writer)
{
	struct eventlog_stat stat;
	uint64_t lost = 0;
	unsigned int i;
	int ret;

	ret = sync_all(writer, true, false);
	if (!ret)
		ret = elog_consumer_stat(writer->live->consumer, EVENTLOG_CPU_ALL, 0,
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
	free(raw->written);
	free(raw->current);
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
	raw->cpus = elog_consumer_cpus(live->consumer);
	raw->losses = calloc(raw->cpus + 1, sizeof(*raw->losses));
	raw->written = calloc(raw->cpus + 1, sizeof(*raw->written));
	raw->current = calloc(raw->cpus + 1, sizeof(*raw->current));
	if (!raw->losses || !raw->written || !raw->current) {
		raw_close(&raw->writer);
		return NULL;
	}
	raw->clock_offset = elog_time_offset();
	raw->ring_bytes = ring_bytes ? ring_bytes : DEFAULT_RING;
	return &raw->writer;
}
