// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog capture -o: from the rings into a file, without looking at payloads.
 *
 * Of each record the header is read, for what the file has to tell before it:
 * the schema of its event and the name of its thread. Records are written from
 * where they are in the ring, which gets its room back after that.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tool.h"

/*
 * Threads whose name was written, by the low bits of their id. Of two that
 * share a slot the names are written again and again, which does no harm.
 */
#define THREADS		16384
#define REFRESH_NS	1000000000ULL	/* threads change their names */
#define DEFAULT_RING	(1U << 20)

struct thread {
	uint32_t pid;
	uint32_t tid;
	uint64_t asked;		/* when, CLOCK_MONOTONIC ns; 0: an empty slot */
	char name[16];
};

struct saver {
	struct elog_consumer *consumer;
	struct elog_processes *processes;
	struct elog_file_writer *writer;
	struct elog_file_loss *losses;	/* room for all CPUs and one more */
	int fd;
	uint64_t ring_bytes;
	uint64_t records;
	uint64_t now;		/* of the pass over the rings */
	bool damaged;
	bool any;		/* since the last SYNC */
	uint32_t last_descriptor;
	uint32_t last_tid;

	uint32_t *written;	/* descriptors, by hash; 0: empty */
	size_t written_count;
	size_t written_size;
	struct thread threads[THREADS];
};

static uint64_t monotonic(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static int open_file(const struct options *options)
{
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, fd;

	if (!strcmp(options->output, "-")) {
		fd = STDOUT_FILENO;
	} else {
		flags |= options->append ? O_APPEND : O_TRUNC;
		/* Events may tell more than everybody is to know. */
		fd = open(options->output, flags, 0600);
		if (fd < 0) {
			complain("%s: %s", options->output, strerror(errno));
			return -1;
		}
	}
	if (!isatty(fd))
		return fd;
	complain("-o writes no text: a terminal is not the place for it");
	note("without -o events are printed; or: elog capture -o - | elog show -");
	if (fd != STDOUT_FILENO)
		close(fd);
	return -1;
}

static void put_command(const struct options *options, struct elog_text *text)
{
	int i;

	for (i = 0; i < options->argument_count; i++) {
		if (i)
			elog_text_put(text, " ", 1);
		elog_text_string(text, options->arguments[i]);
	}
}

int saver_open(struct saver **result, const struct options *options,
	       struct elog_consumer *consumer, struct elog_processes *processes,
	       bool (*interrupted)(void *context), void *context)
{
	unsigned int cpus = elog_consumer_cpus(consumer);
	struct elog_file_options file_options = {
		.size = sizeof(file_options),
		.program = tool_version(),
		.cpus = cpus,
		.interrupted = interrupted,
		.context = context,
	};
	struct saver *saver = calloc(1, sizeof(*saver));
	struct elog_text command = { 0 };
	int ret = -ENOMEM;

	if (saver)
		saver->losses = calloc(cpus + 1, sizeof(*saver->losses));
	if (!saver || !saver->losses) {
		complain("out of memory");
		free(saver);
		return -ENOMEM;
	}
	saver->consumer = consumer;
	saver->processes = processes;
	saver->ring_bytes = options->per_cpu_bytes ? options->per_cpu_bytes :
						     DEFAULT_RING;
	saver->fd = open_file(options);
	if (saver->fd < 0) {
		saver_close(saver);
		return -EIO;
	}
	if (options->argument_count) {
		put_command(options, &command);
		file_options.command = command.data;
	}
	ret = elog_file_writer_open(&saver->writer, saver->fd, &file_options);
	elog_text_free(&command);
	if (ret) {
		complain("%s: %s", options->output, strerror(-ret));
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
	elog_file_writer_close(saver->writer);
	if (saver->fd > STDERR_FILENO)
		close(saver->fd);
	free(saver->written);
	free(saver->losses);
	free(saver);
}

uint64_t saver_records(const struct saver *saver)
{
	return saver->records;
}

uint64_t saver_size(const struct saver *saver)
{
	return elog_file_writer_size(saver->writer);
}

bool saver_damaged(const struct saver *saver)
{
	return saver->damaged;
}

static uint32_t *written_slot(uint32_t *table, size_t size, uint32_t descriptor)
{
	size_t slot = (descriptor * 2654435761U) & (size - 1);

	while (table[slot] && table[slot] != descriptor)
		slot = (slot + 1) & (size - 1);
	return &table[slot];
}

static int grow_written(struct saver *saver)
{
	size_t size = saver->written_size ? 2 * saver->written_size : 256, i;
	uint32_t *larger = calloc(size, sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	for (i = 0; i < saver->written_size; i++)
		if (saver->written[i])
			*written_slot(larger, size, saver->written[i]) =
				saver->written[i];
	free(saver->written);
	saver->written = larger;
	saver->written_size = size;
	return 0;
}

/* Write an event's schema, unless that was done; one that is gone is not missed. */
static int save_schema(struct saver *saver, uint32_t descriptor)
{
	struct eventlog_describe request = { .descriptor = descriptor };
	uint32_t *slot;
	char *text;
	int ret;

	if (!descriptor)
		return 0;
	if (saver->written_count >= saver->written_size / 2) {
		ret = grow_written(saver);
		if (ret)
			return ret;
	}
	slot = written_slot(saver->written, saver->written_size, descriptor);
	if (*slot)
		return 0;
	*slot = descriptor;
	saver->written_count++;
	ret = elog_device_describe(elog_consumer_fd(saver->consumer), &request,
				   &text);
	if (ret)
		return ret == -ENOENT ? 0 : ret;
	ret = elog_file_write_schema(saver->writer, descriptor,
				     request.provider_id, text);
	free(text);
	return ret;
}

static int save_thread(struct saver *saver, uint32_t pid, uint32_t tid)
{
	struct thread *thread = &saver->threads[tid % THREADS];
	bool same = thread->asked && thread->pid == pid && thread->tid == tid;
	const char *name;

	if (same && saver->now - thread->asked < REFRESH_NS)
		return 0;
	thread->pid = pid;
	thread->tid = tid;
	thread->asked = saver->now;
	name = elog_processes_name(saver->processes, pid, tid);
	if (same && !strcmp(thread->name, name))
		return 0;
	snprintf(thread->name, sizeof(thread->name), "%s", name);
	return elog_file_write_process(saver->writer, pid, tid, name);
}

/*
 * Count the events, and write what is to be there before them. Return: 0;
 * -EBADMSG these are no records; or what writing fails with.
 */
static int scan(struct saver *saver, const unsigned char *data, size_t size,
		uint64_t *records)
{
	struct eventlog_record record;
	uint32_t bytes, type;
	size_t at;
	int ret;

	for (at = 0; at < size; at += bytes) {
		memcpy(&record, data + at, sizeof(record.size_flags));
		bytes = record.size_flags & EVENTLOG_RECORD_SIZE_MASK;
		bytes = (bytes + EVENTLOG_RECORD_ALIGN - 1) &
			~(EVENTLOG_RECORD_ALIGN - 1U);
		type = (record.size_flags & EVENTLOG_RECORD_TYPE_MASK) >>
		       EVENTLOG_RECORD_TYPE_SHIFT;
		if (bytes < EVENTLOG_RECORD_ALIGN || bytes > size - at)
			return -EBADMSG;
		if (type != EVENTLOG_RECORD_EVENT)
			continue;
		if (bytes < sizeof(record))
			return -EBADMSG;
		memcpy(&record, data + at, sizeof(record));
		++*records;
		if (record.descriptor != saver->last_descriptor) {
			ret = save_schema(saver, record.descriptor);
			if (ret)
				return ret;
			saver->last_descriptor = record.descriptor;
		}
		if (record.tid != saver->last_tid || !saver->any) {
			ret = save_thread(saver, record.pid, record.tid);
			if (ret)
				return ret;
			saver->last_tid = record.tid;
			saver->any = true;
		}
	}
	return 0;
}

static int drain_cpu(struct saver *saver, unsigned int cpu)
{
	uint64_t position, drained = 0, records;
	const void *data;
	size_t size;
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
		ret = scan(saver, data, size, &records);
		if (!ret)
			ret = elog_file_write_raw(saver->writer, cpu, data, size,
						  position);
		if (!ret)
			saver->records += records;
		else if (ret == -EBADMSG)
			saver->damaged = true;
		else
			return ret;
		elog_consumer_raw_release(saver->consumer, cpu, size);
		saver->any = true;
		drained += size;
	}
	return 0;
}

int saver_drain(struct saver *saver)
{
	unsigned int cpus = elog_consumer_cpus(saver->consumer), cpu;
	int ret = 0;

	saver->now = monotonic();
	for (cpu = 0; !ret && cpu < cpus; cpu++)
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

int saver_sync(struct saver *saver, bool final)
{
	unsigned int cpus = elog_consumer_cpus(saver->consumer), i;
	struct elog_file_loss *loss;
	size_t count = 0;
	int ret;

	do {
		ret = elog_consumer_raw_flush(saver->consumer);
	} while (ret == -EINTR);
	/* What is stored from here on may be later than this SYNC's time: one more. */
	saver->any = false;
	if (!ret)
		ret = saver_drain(saver);
	for (i = 0; !ret && i <= cpus; i++) {
		loss = &saver->losses[count];
		loss->cpu = i < cpus ? i : EVENTLOG_CPU_ALL;
		ret = elog_consumer_raw_lost(saver->consumer, loss->cpu,
					     loss->lost);
		if (ret < 0)
			return ret;
		/* Else a record that is still to be read may tell where. */
		if ((ret || final) && is_loss(loss->lost))
			count++;
		ret = 0;
	}
	if (!ret)
		ret = elog_file_write_sync(saver->writer,
					   elog_consumer_time(saver->consumer),
					   saver->losses, count);
	return ret;
}

int saver_end(struct saver *saver)
{
	struct eventlog_stat stat;
	uint64_t lost = 0;
	unsigned int i;
	int ret, fd;

	ret = saver_sync(saver, true);
	if (!ret)
		ret = elog_consumer_stat(saver->consumer, EVENTLOG_CPU_ALL, 0,
					 &stat);
	if (ret)
		return ret;
	for (i = 0; i < EVENTLOG_LOST_CAUSES; i++)
		lost += stat.lost[i];
	ret = elog_file_write_end(saver->writer, saver->records, lost);
	if (ret || saver->fd <= STDERR_FILENO)
		return ret;
	/* Some file systems only tell now that there was no room. */
	fd = saver->fd;
	saver->fd = -1;
	return close(fd) && errno != EINTR ? -errno : 0;
}
