// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog capture -o: see saver.h.
 *
 * Of each record the header is read, for what the file has to tell before it:
 * the schema of its event and the name of its thread. Records are written from
 * where they are in the ring, which gets its room back after that.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "input/live.h"
#include "record/saver.h"

#define DEFAULT_RING	(1U << 20)
#define BLOCK_BYTES	(256U << 10)	/* written at once */

struct saver {
	const struct recording_setup *setup;
	struct elog_consumer *consumer;
	struct recording *recording;
	struct elog_file_loss *losses;	/* room for all CPUs and one more */
	struct elog_file_loss *told;	/* by CPU: what the files tell so far */
	unsigned int cpus;		/* of @told, which has one more */
	uint64_t ring_bytes;
	bool any;			/* was written since the last SYNC */
	int64_t ahead;			/* our clock of that of records, ns */
	bool damaged;
};

int saver_open(struct saver **result, const struct recording_setup *setup)
{
	const struct options *options = setup->options;
	unsigned int cpus = elog_consumer_cpus(setup->consumer);
	struct saver *saver = calloc(1, sizeof(*saver));
	int ret;

	if (saver) {
		saver->losses = calloc(cpus + 1, sizeof(*saver->losses));
		saver->told = calloc(cpus + 1, sizeof(*saver->told));
	}
	if (!saver || !saver->losses || !saver->told) {
		elog_error("out of memory");
		saver_close(saver);
		return -ENOMEM;
	}
	saver->cpus = cpus;
	saver->ahead = elog_time_offset();
	saver->setup = setup;
	saver->consumer = setup->consumer;
	saver->ring_bytes = options->per_cpu_bytes ? options->per_cpu_bytes :
						     DEFAULT_RING;
	ret = recording_open(&saver->recording, setup, options->output,
			     options->append);
	if (ret) {
		saver_close(saver);
		return ret;
	}
	*result = saver;
	return 0;
}

void saver_close(struct saver *saver)
{
	if (!saver)
		return;
	recording_close(saver->recording);
	free(saver->losses);
	free(saver->told);
	free(saver);
}

const struct recording *saver_recording(const struct saver *saver)
{
	return saver->recording;
}

bool saver_damaged(const struct saver *saver)
{
	return saver->damaged;
}

/* The counts only grow, whoever tells them. */
static void note_told(struct saver *saver, unsigned int cpu,
		      const uint64_t *lost, size_t count)
{
	struct elog_file_loss *told;
	size_t i;

	if (cpu >= saver->cpus && cpu != EVENTLOG_CPU_ALL)
		return;
	told = &saver->told[cpu < saver->cpus ? cpu : saver->cpus];
	told->cpu = cpu;
	for (i = 0; i < count && i < EVENTLOG_LOST_CAUSES; i++)
		if (lost[i] > told->lost[i])
			told->lost[i] = lost[i];
}

/* Padding is nothing to remember. Return: false if it is no record. */
static bool note_lost_record(struct saver *saver, unsigned int cpu,
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
	note_told(saver, cpu, lost, size / sizeof(lost[0]));
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
static ssize_t scan(struct saver *saver, unsigned int cpu,
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
			if (!note_lost_record(saver, cpu, record))
				return -EBADMSG;
			at += bytes;
			continue;
		}
		if (bytes < sizeof(*record))
			return -EBADMSG;
		ret = recording_mention(saver->recording, record->descriptor,
					record->pid, record->tid);
		if (ret)
			return ret;
		at = pass_alike(at, limit, end, record->descriptor, record->tid,
				records);
	}
	return at - data;
}

static int drain_cpu(struct saver *saver, unsigned int cpu)
{
	uint64_t position, drained = 0, records;
	struct elog_file_raw_info info = { 0 };
	const void *data;
	size_t size;
	ssize_t some;
	int ret;

	/* What is written meanwhile is for the next time. */
	while (drained < saver->ring_bytes) {
		ret = elog_consumer_raw(saver->consumer, cpu, &data, &size,
					&position);
		if (ret == -EBADMSG) {
			saver->damaged = true;
			return 0;
		}
		if (ret <= 0)
			return ret;
		records = 0;
		some = scan(saver, cpu, data, size, &records);
		if (some == -EBADMSG) {
			saver->damaged = true;
			elog_consumer_raw_release(saver->consumer, cpu, size);
			return 0;
		}
		if (some < 0)
			return (int)some;
		/* What is in the ring was emitted before now. */
		info.newest = monotonic() - (uint64_t)saver->ahead;
		memcpy(info.lost, saver->told[cpu].lost, sizeof(info.lost));
		ret = recording_raw(saver->recording, cpu, data, (size_t)some,
				    position, records, &info);
		if (ret)
			return ret;
		elog_consumer_raw_release(saver->consumer, cpu, (size_t)some);
		saver->any = true;
		drained += (uint64_t)some;
	}
	return 0;
}

int saver_drain(struct saver *saver)
{
	unsigned int cpus = elog_consumer_cpus(saver->consumer), cpu;
	int ret = 0;

	recording_now(saver->recording, monotonic());
	for (cpu = 0; !ret && cpu < cpus && cpu < saver->cpus; cpu++)
		ret = drain_cpu(saver, cpu);
	return ret;
}

bool saver_pending(const struct saver *saver)
{
	return saver->any;
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
static int find_losses(struct saver *saver, bool final, size_t *count)
{
	unsigned int cpus = elog_consumer_cpus(saver->consumer), i;
	struct elog_file_loss *loss;
	int ret;

	*count = 0;
	for (i = 0; i <= cpus; i++) {
		loss = &saver->losses[*count];
		loss->cpu = i < cpus ? i : EVENTLOG_CPU_ALL;
		ret = elog_consumer_raw_lost(saver->consumer, loss->cpu,
					     loss->lost);
		if (ret < 0)
			return ret;
		/* Else a record that is still to be read may tell where. */
		if ((!ret && !final) || !is_loss(loss->lost))
			continue;
		note_told(saver, loss->cpu, loss->lost, EVENTLOG_LOST_CAUSES);
		++*count;
	}
	return 0;
}

static int rotate_file(struct saver *saver, uint64_t time)
{
	size_t count = 0, i;

	for (i = 0; i <= saver->cpus; i++)
		if (is_loss(saver->told[i].lost))
			saver->losses[count++] = saver->told[i];
	return recording_rotate(saver->recording, time, saver->losses, count);
}

static int sync_all(struct saver *saver, bool final, bool rotate)
{
	uint64_t time;
	size_t count;
	int ret;

	/* FLUSH waits for writers, and what they write meanwhile needs room. */
	ret = saver_drain(saver);
	if (ret)
		return ret;
	do {
		ret = elog_consumer_raw_flush(saver->consumer);
	} while (ret == -EINTR);
	if (ret)
		return ret;
	time = elog_consumer_time(saver->consumer);
	/* What is stored from here on may be later than this: one more SYNC. */
	saver->any = false;
	ret = saver_drain(saver);
	if (ret)
		return ret;
	ret = find_losses(saver, final, &count);
	if (!ret)
		ret = recording_sync(saver->recording, time, saver->losses, count);
	if (!ret && (rotate || recording_is_full(saver->recording)))
		ret = rotate_file(saver, time);
	return ret;
}

int saver_sync(struct saver *saver, bool rotate)
{
	return sync_all(saver, false, rotate);
}

int saver_end(struct saver *saver)
{
	struct eventlog_stat stat;
	uint64_t lost = 0;
	unsigned int i;
	int ret;

	ret = sync_all(saver, true, false);
	if (!ret)
		ret = elog_consumer_stat(saver->consumer, EVENTLOG_CPU_ALL, 0,
					 &stat);
	if (ret)
		return ret;
	for (i = 0; i < EVENTLOG_LOST_CAUSES; i++)
		lost += stat.lost[i];
	return recording_end(saver->recording, lost);
}
