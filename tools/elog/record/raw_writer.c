// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog capture -o: see raw_writer.h.
 *
 * Of each record the header is read, for what the file has to tell before it:
 * the schema of its event and the name of its thread. Records are written from
 * where they are in the ring, which gets its room back after that.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "input/live.h"
#include "record/raw_writer.h"

#define DEFAULT_RING	(1U << 20)
#define BLOCK_BYTES	(256U << 10)	/* written at once */

struct raw_writer {
	const struct writer_setup *setup;
	struct elog_consumer *consumer;
	struct trace_writer *trace;
	struct elog_file_loss *losses;	/* room for all CPUs and one more */
	struct elog_file_loss *told;	/* by CPU: what the files tell so far */
	unsigned int cpus;		/* of @told, which has one more */
	uint64_t ring_bytes;
	bool any;			/* was written since the last SYNC */
	int64_t ahead;			/* our clock of that of records, ns */
	bool damaged;
};

int raw_writer_open(struct raw_writer **result, const struct writer_setup *setup)
{
	const struct options *options = setup->options;
	unsigned int cpus = elog_consumer_cpus(setup->consumer);
	struct raw_writer *raw = calloc(1, sizeof(*raw));
	int ret;

	if (raw) {
		raw->losses = calloc(cpus + 1, sizeof(*raw->losses));
		raw->told = calloc(cpus + 1, sizeof(*raw->told));
	}
	if (!raw || !raw->losses || !raw->told) {
		elog_error("out of memory");
		raw_writer_close(raw);
		return -ENOMEM;
	}
	raw->cpus = cpus;
	raw->ahead = elog_time_offset();
	raw->setup = setup;
	raw->consumer = setup->consumer;
	raw->ring_bytes = options->per_cpu_bytes ? options->per_cpu_bytes :
						     DEFAULT_RING;
	ret = trace_writer_open(&raw->trace, setup, options->output,
				options->append);
	if (ret) {
		raw_writer_close(raw);
		return ret;
	}
	*result = raw;
	return 0;
}

void raw_writer_close(struct raw_writer *raw)
{
	if (!raw)
		return;
	trace_writer_close(raw->trace);
	free(raw->losses);
	free(raw->told);
	free(raw);
}

const struct trace_writer *raw_writer_recording(const struct raw_writer *raw)
{
	return raw->trace;
}

bool raw_writer_damaged(const struct raw_writer *raw)
{
	return raw->damaged;
}

/* The counts only grow, whoever tells them. */
static void note_told(struct raw_writer *raw, unsigned int cpu,
		      const uint64_t *lost, size_t count)
{
	struct elog_file_loss *told;
	size_t i;

	if (cpu >= raw->cpus && cpu != EVENTLOG_CPU_ALL)
		return;
	told = &raw->told[cpu < raw->cpus ? cpu : raw->cpus];
	told->cpu = cpu;
	for (i = 0; i < count && i < EVENTLOG_LOST_CAUSES; i++)
		if (lost[i] > told->lost[i])
			told->lost[i] = lost[i];
}

/* Padding is nothing to remember. Return: false if it is no record. */
static bool note_lost_record(struct raw_writer *raw, unsigned int cpu,
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
	note_told(raw, cpu, lost, size / sizeof(lost[0]));
	return true;
}

static size_t record_bytes(uint32_t flags)
{
	size_t bytes = (flags & EVENTLOG_RECORD_SIZE_MASK) +
		       EVENTLOG_RECORD_ALIGN - 1;

	return bytes & ~(size_t)(EVENTLOG_RECORD_ALIGN - 1);
}

/*
 * Events that are like the one before them: of its definition and thread. Most
 * are, so that this is what an event costs here. Return: the first record that
 * is not, or that is not before @limit.
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
 * Find out how much is to be written at once: whole records, BLOCK_BYTES or what
 * there is. Count the events among them, and write what is to be there before
 * them.
 *
 * Return: bytes; -EBADMSG these are no records; or what writing fails with.
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
			if (!note_lost_record(raw, cpu, record))
				return -EBADMSG;
			at += bytes;
			continue;
		}
		if (bytes < sizeof(*record))
			return -EBADMSG;
		ret = trace_writer_mention(raw->trace, record->descriptor,
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
	uint64_t position, drained = 0, records;
	struct elog_file_raw_info info = { 0 };
	const void *data;
	size_t size;
	ssize_t some;
	int ret;

	/* What is written meanwhile is for the next time. */
	while (drained < raw->ring_bytes) {
		ret = elog_consumer_raw(raw->consumer, cpu, &data, &size,
					&position);
		if (ret == -EBADMSG) {
			raw->damaged = true;
			return 0;
		}
		if (ret <= 0)
			return ret;
		records = 0;
		some = scan(raw, cpu, data, size, &records);
		if (some == -EBADMSG) {
			raw->damaged = true;
			elog_consumer_raw_release(raw->consumer, cpu, size);
			return 0;
		}
		if (some < 0)
			return (int)some;
		/* What is in the ring was emitted before now. */
		info.newest = monotonic() - (uint64_t)raw->ahead;
		memcpy(info.lost, raw->told[cpu].lost, sizeof(info.lost));
		ret = trace_writer_raw(raw->trace, cpu, data, (size_t)some,
				       position, records, &info);
		if (ret)
			return ret;
		elog_consumer_raw_release(raw->consumer, cpu, (size_t)some);
		raw->any = true;
		drained += (uint64_t)some;
	}
	return 0;
}

int raw_writer_drain(struct raw_writer *raw)
{
	unsigned int cpus = elog_consumer_cpus(raw->consumer), cpu;
	int ret = 0;

	trace_writer_now(raw->trace, monotonic());
	for (cpu = 0; !ret && cpu < cpus && cpu < raw->cpus; cpu++)
		ret = drain_cpu(raw, cpu);
	return ret;
}

bool raw_writer_pending(const struct raw_writer *raw)
{
	return raw->any;
}

static bool is_loss(const uint64_t *lost)
{
	unsigned int i;

	for (i = 0; i < EVENTLOG_LOST_CAUSES; i++)
		if (lost[i])
			return true;
	return false;
}

/* Return: how many CPUs have lost anything, of which the file may tell now. */
static int find_losses(struct raw_writer *raw, bool final, size_t *count)
{
	unsigned int cpus = elog_consumer_cpus(raw->consumer), i;
	struct elog_file_loss *loss;
	int ret;

	*count = 0;
	for (i = 0; i <= cpus; i++) {
		loss = &raw->losses[*count];
		loss->cpu = i < cpus ? i : EVENTLOG_CPU_ALL;
		ret = elog_consumer_raw_lost(raw->consumer, loss->cpu,
					     loss->lost);
		if (ret < 0)
			return ret;
		/* Else a record that is still to be read may tell where. */
		if ((!ret && !final) || !is_loss(loss->lost))
			continue;
		note_told(raw, loss->cpu, loss->lost, EVENTLOG_LOST_CAUSES);
		++*count;
	}
	return 0;
}

static int rotate_file(struct raw_writer *raw, uint64_t time)
{
	size_t count = 0, i;

	for (i = 0; i <= raw->cpus; i++)
		if (is_loss(raw->told[i].lost))
			raw->losses[count++] = raw->told[i];
	return trace_writer_rotate(raw->trace, time, raw->losses, count);
}

static int sync_all(struct raw_writer *raw, bool final, bool rotate)
{
	uint64_t time;
	size_t count;
	int ret;

	/* FLUSH waits for writers, and what they write meanwhile needs room. */
	ret = raw_writer_drain(raw);
	if (ret)
		return ret;
	do {
		ret = elog_consumer_raw_flush(raw->consumer);
	} while (ret == -EINTR);
	if (ret)
		return ret;
	time = elog_consumer_time(raw->consumer);
	/* What is stored from here on may be later than this: one more SYNC. */
	raw->any = false;
	ret = raw_writer_drain(raw);
	if (ret)
		return ret;
	ret = find_losses(raw, final, &count);
	if (!ret)
		ret = trace_writer_sync(raw->trace, time, raw->losses, count);
	if (!ret && (rotate || trace_writer_is_full(raw->trace)))
		ret = rotate_file(raw, time);
	return ret;
}

int raw_writer_sync(struct raw_writer *raw, bool rotate)
{
	return sync_all(raw, false, rotate);
}

int raw_writer_end(struct raw_writer *raw)
{
	struct eventlog_stat stat;
	uint64_t lost = 0;
	unsigned int i;
	int ret;

	ret = sync_all(raw, true, false);
	if (!ret)
		ret = elog_consumer_stat(raw->consumer, EVENTLOG_CPU_ALL, 0,
					 &stat);
	if (ret)
		return ret;
	for (i = 0; i < EVENTLOG_LOST_CAUSES; i++)
		lost += stat.lost[i];
	return trace_writer_end(raw->trace, lost);
}
