// SPDX-License-Identifier: GPL-2.0-only
/*
 * A .elog file that is being written: see recording.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/recording.h"
#include "util/signals.h"

#define REFRESH_NS	1000000000ULL	/* threads change their names */
#define STREAM_BYTES	(256U << 10)	/* kept of one CPU before it is written */

#define THREAD_WAYS	4

/*
 * Threads whose name was written, THREAD_WAYS of those whose ids have a hash in
 * common. Of more than that some names are written again and again, which does no
 * harm but to the file's size.
 */
struct thread {
	uint32_t pid;
	uint32_t tid;
	uint64_t asked;		/* when, CLOCK_MONOTONIC ns; 0: an empty slot */
	char name[16];
};

/* Records of one CPU that were added, as a ring would have them. */
struct cpu_stream {
	uint32_t cpu;
	uint64_t position;	/* of the first one kept */
	unsigned char *data;
	size_t size;
	size_t capacity;
	uint64_t records;	/* events among them */
	uint64_t lost[EVENTLOG_LOST_CAUSES];	/* so far */
};

struct recording {
	const struct recording_setup *setup;
	char *path;
	int fd;
	struct elog_file_writer *writer;
	uint64_t present;	/* bytes that the file had before */
	uint64_t finished_size;	/* of files that were put aside */
	uint64_t records;	/* in all files */
	uint64_t part_records;	/* in this one */
	uint64_t part_lost;
	uint64_t now;
	bool dirty;

	struct cpu_stream *streams;
	size_t stream_count;
	struct cpu_stream no_ring;	/* losses of CPUs that have none */
	struct elog_file_loss *losses;	/* room for one more than streams */

	uint32_t last_descriptor;
	uint32_t last_tid;
	uint32_t *written;	/* descriptors, by hash; 0: empty */
	size_t written_count;
	size_t written_size;
	struct thread threads[];
};

/* Opening a pipe waits for its reader: signals are let in meanwhile. */
static int open_waiting(const char *path, int flags)
{
	int fd;

	do {
		signals_let_in();
		/* Events may tell more than everybody is to know. */
		fd = open(path, flags, 0600);
		fd = fd < 0 ? -errno : fd;
		signals_hold();
	} while (fd == -EINTR && !signals_stops());
	return fd;
}

static int open_file(struct recording *recording, int more_flags)
{
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | more_flags;
	const char *path = recording->path;
	struct stat stat = { 0 };
	bool regular;
	int fd;

	recording->present = 0;
	/* The names of many files are known before. */
	if (recording->setup->options->split)
		flags |= O_NOFOLLOW;
	fd = strcmp(path, "-") ? open_waiting(path, flags) : STDOUT_FILENO;
	if (fd < 0) {
		elog_error("%s: %s", path, strerror(-fd));
		return fd;
	}
	regular = !fstat(fd, &stat) && S_ISREG(stat.st_mode);
	if (more_flags & O_APPEND && regular)
		recording->present = (uint64_t)stat.st_size;
	if (isatty(fd)) {
		elog_error("-o writes no text: a terminal is not the place for it");
		elog_hint("without -o events are printed; or: elog capture -o - | elog show -");
	} else if (recording->setup->options->rotate_size && !regular) {
		elog_error("%s: --rotate is for a regular file", path);
	} else {
		recording->fd = fd;
		return 0;
	}
	if (fd != STDOUT_FILENO)
		close(fd);
	return -EINVAL;
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

static int begin_part(struct recording *recording, uint32_t flags, uint64_t start)
{
	const struct recording_setup *setup = recording->setup;
	struct elog_file_options file_options = {
		.size = sizeof(file_options),
		.flags = flags,
		.program = tool_version(),
		.capture = *setup->capture ? setup->capture : NULL,
		.cpus = elog_consumer_cpus(setup->consumer),
		.compression = setup->options->compress,
		.interrupted = setup->interrupted,
		.start = start,
	};
	struct elog_text command = { 0 };
	int ret;

	if (setup->options->separated) {
		put_command(setup->options, &command);
		file_options.command = command.data;
	}
	ret = elog_file_writer_open(&recording->writer, recording->fd,
				    &file_options);
	elog_text_free(&command);
	if (ret == -EOPNOTSUPP)
		elog_error("this elog was built without zstd: --compress is not to be had");
	else if (ret)
		elog_error("%s: %s", recording->path, strerror(-ret));
	return ret;
}

int recording_open(struct recording **result,
		   const struct recording_setup *setup, const char *path,
		   bool append)
{
	struct recording *recording;
	int ret = -ENOMEM;

	recording = calloc(1, sizeof(*recording) +
			      setup->threads * sizeof(recording->threads[0]));
	if (recording) {
		recording->setup = setup;
		recording->fd = -1;
		recording->no_ring.cpu = EVENTLOG_CPU_ALL;
		recording->path = strdup(path);
		recording->losses = calloc(1, sizeof(*recording->losses));
	}
	if (!recording || !recording->path || !recording->losses)
		elog_error("out of memory");
	else
		ret = open_file(recording, append ? O_APPEND : O_TRUNC);
	/* A pipe may be full. */
	signals_let_in();
	if (!ret)
		ret = begin_part(recording, 0, setup->start);
	signals_hold();
	if (ret) {
		*setup->told = true;
		recording_close(recording);
		return ret;
	}
	*result = recording;
	return 0;
}

static int close_file(struct recording *recording)
{
	int fd = recording->fd;

	elog_file_writer_close(recording->writer);
	recording->writer = NULL;
	recording->fd = -1;
	if (fd <= STDERR_FILENO)
		return 0;
	/* Some file systems only tell now that there was no room. */
	return close(fd) && errno != EINTR ? -errno : 0;
}

void recording_close(struct recording *recording)
{
	size_t i;

	if (!recording)
		return;
	close_file(recording);
	for (i = 0; i < recording->stream_count; i++)
		free(recording->streams[i].data);
	free(recording->streams);
	free(recording->losses);
	free(recording->written);
	free(recording->path);
	free(recording);
}

const char *recording_path(const struct recording *recording)
{
	return recording->path;
}

/* ------------------------------------------------------------------------
 * What has to be there before a record
 */

static uint32_t *written_slot(uint32_t *table, size_t size, uint32_t descriptor)
{
	size_t slot = (descriptor * 2654435761U) & (size - 1);

	while (table[slot] && table[slot] != descriptor)
		slot = (slot + 1) & (size - 1);
	return &table[slot];
}

static int grow_written(struct recording *recording)
{
	size_t size = recording->written_size ? 2 * recording->written_size : 16;
	uint32_t *larger = calloc(size, sizeof(*larger));
	size_t i;

	if (!larger)
		return -ENOMEM;
	for (i = 0; i < recording->written_size; i++)
		if (recording->written[i])
			*written_slot(larger, size, recording->written[i]) =
				recording->written[i];
	free(recording->written);
	recording->written = larger;
	recording->written_size = size;
	return 0;
}

/* Write an event's schema, unless that was done; one that is gone is not missed. */
static int mention_schema(struct recording *recording, uint32_t descriptor)
{
	struct eventlog_describe request = { .descriptor = descriptor };
	uint32_t *slot;
	char *text;
	int ret;

	if (!descriptor)
		return 0;
	if (recording->written_count >= recording->written_size / 2) {
		ret = grow_written(recording);
		if (ret)
			return ret;
	}
	slot = written_slot(recording->written, recording->written_size, descriptor);
	if (*slot)
		return 0;
	*slot = descriptor;
	recording->written_count++;
	ret = elog_consumer_definition(recording->setup->consumer, &request, &text);
	if (ret)
		return ret == -ENOENT ? 0 : ret;
	ret = elog_file_write_schema(recording->writer, descriptor,
				     request.provider_id, text);
	free(text);
	return ret;
}

/* Return: the thread's slot, or the one that it may take. */
static struct thread *find_thread(struct recording *recording, uint32_t pid,
				  uint32_t tid)
{
	size_t sets = recording->setup->threads / THREAD_WAYS;
	size_t set = (tid * 2654435761U >> 16) & (sets - 1);
	struct thread *ways = &recording->threads[set * THREAD_WAYS], *oldest = ways;
	unsigned int i;

	for (i = 0; i < THREAD_WAYS; i++) {
		if (ways[i].asked && ways[i].pid == pid && ways[i].tid == tid)
			return &ways[i];
		if (ways[i].asked < oldest->asked)
			oldest = &ways[i];
	}
	return oldest;
}

static int mention_thread(struct recording *recording, uint32_t pid, uint32_t tid)
{
	const struct recording_setup *setup = recording->setup;
	struct thread *thread = find_thread(recording, pid, tid);
	bool same = thread->asked && thread->pid == pid && thread->tid == tid;
	const char *name;

	if (same && recording->now - thread->asked < REFRESH_NS)
		return 0;
	thread->pid = pid;
	thread->tid = tid;
	thread->asked = recording->now;
	name = elog_processes_name(setup->processes, pid, tid);
	if (same && !strcmp(thread->name, name))
		return 0;
	snprintf(thread->name, sizeof(thread->name), "%s", name);
	return elog_file_write_process(recording->writer, pid, tid, name);
}

int recording_mention(struct recording *recording, uint32_t descriptor,
		      uint32_t pid, uint32_t tid)
{
	int ret;

	if (descriptor != recording->last_descriptor) {
		ret = mention_schema(recording, descriptor);
		if (ret)
			return ret;
		recording->last_descriptor = descriptor;
	}
	if (tid != recording->last_tid || !recording->dirty) {
		ret = mention_thread(recording, pid, tid);
		if (ret)
			return ret;
		recording->last_tid = tid;
		recording->dirty = true;
	}
	return 0;
}

void recording_now(struct recording *recording, uint64_t now)
{
	recording->now = now;
}

/* ------------------------------------------------------------------------
 * Records
 */

int recording_raw(struct recording *recording, unsigned int cpu,
		  const void *data, size_t size, uint64_t position,
		  uint64_t records, const struct elog_file_raw_info *info)
{
	int ret;

	recording->dirty = true;
	ret = elog_file_write_raw(recording->writer, cpu, data, size, position,
				  info);
	if (ret)
		return ret;
	recording->records += records;
	recording->part_records += records;
	return 0;
}

static struct cpu_stream *find_stream(struct recording *recording, uint32_t cpu)
{
	struct elog_file_loss *losses;
	struct cpu_stream *streams;
	size_t i;

	if (cpu == EVENTLOG_CPU_ALL)
		return &recording->no_ring;
	for (i = 0; i < recording->stream_count; i++)
		if (recording->streams[i].cpu == cpu)
			return &recording->streams[i];
	losses = realloc(recording->losses, (i + 2) * sizeof(*losses));
	if (!losses)
		return NULL;
	recording->losses = losses;
	streams = realloc(recording->streams, (i + 1) * sizeof(*streams));
	if (!streams)
		return NULL;
	recording->streams = streams;
	memset(&streams[i], 0, sizeof(streams[i]));
	streams[i].cpu = cpu;
	recording->stream_count++;
	return &streams[i];
}

static int write_stream(struct recording *recording, struct cpu_stream *stream)
{
	size_t size = stream->size;
	int ret;

	if (!size)
		return 0;
	ret = recording_raw(recording, stream->cpu, stream->data, size, stream->position,
			    stream->records, NULL);
	stream->position += size;
	stream->size = 0;
	stream->records = 0;
	return ret;
}

static int make_room(struct cpu_stream *stream, size_t size)
{
	size_t capacity = stream->capacity ? stream->capacity : 512;
	unsigned char *larger;

	if (size <= stream->capacity - stream->size)
		return 0;
	while (capacity - stream->size < size)
		capacity *= 2;
	larger = realloc(stream->data, capacity);
	if (!larger)
		return -ENOMEM;
	stream->data = larger;
	stream->capacity = capacity;
	return 0;
}

static int add_record(struct recording *recording, struct cpu_stream *stream,
		      const struct elog_item *item,
		      enum eventlog_record_type type, const void *payload,
		      size_t size)
{
	struct eventlog_record record = {
		.size_flags = (uint32_t)(sizeof(record) + size) |
			(uint32_t)type << EVENTLOG_RECORD_TYPE_SHIFT |
			(uint32_t)item->context << EVENTLOG_RECORD_CONTEXT_SHIFT,
		.descriptor = item->descriptor,
		.time = item->time,
		.session = item->session,
		.pid = item->pid,
		.tid = item->tid,
	};
	size_t padding = -(sizeof(record) + size) & (EVENTLOG_RECORD_ALIGN - 1);
	unsigned char *to;
	int ret;

	ret = make_room(stream, sizeof(record) + size + padding);
	if (ret)
		return ret;
	to = stream->data + stream->size;
	memcpy(to, &record, sizeof(record));
	if (size)
		memcpy(to + sizeof(record), payload, size);
	memset(to + sizeof(record) + size, 0, padding);
	stream->size += sizeof(record) + size + padding;
	stream->records += type == EVENTLOG_RECORD_EVENT;
	recording->dirty = true;
	return stream->size >= STREAM_BYTES ? write_stream(recording, stream) : 0;
}

static int add_loss(struct recording *recording, struct cpu_stream *stream,
		    const struct elog_item *item)
{
	unsigned int i;

	for (i = 0; i < EVENTLOG_LOST_CAUSES; i++) {
		stream->lost[i] += item->lost[i];
		recording->part_lost += item->lost[i];
	}
	recording->dirty = true;
	if (stream == &recording->no_ring)
		return 0;
	return add_record(recording, stream, item, EVENTLOG_RECORD_LOST,
			  stream->lost, sizeof(stream->lost));
}

int recording_add(struct recording *recording, const struct elog_item *item)
{
	struct cpu_stream *stream = find_stream(recording, item->cpu);
	int ret;

	if (!stream)
		return -ENOMEM;
	if (item->type == ELOG_ITEM_LOST)
		return add_loss(recording, stream, item);
	ret = recording_mention(recording, item->descriptor, item->pid, item->tid);
	if (ret)
		return ret;
	return add_record(recording, stream, item, EVENTLOG_RECORD_EVENT,
			  item->payload, item->payload_size);
}

static size_t put_loss(struct elog_file_loss *losses, size_t count,
		       const struct cpu_stream *stream)
{
	bool any = false;
	unsigned int i;

	for (i = 0; i < EVENTLOG_LOST_CAUSES; i++) {
		losses[count].lost[i] = stream->lost[i];
		any |= stream->lost[i] != 0;
	}
	losses[count].cpu = stream->cpu;
	losses[count].reserved = 0;
	return count + any;
}

int recording_sync(struct recording *recording, uint64_t time,
		   const struct elog_file_loss *losses, size_t count)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < recording->stream_count; i++)
		ret = write_stream(recording, &recording->streams[i]);
	if (ret)
		return ret;
	if (!losses) {
		count = put_loss(recording->losses, 0, &recording->no_ring);
		for (i = 0; i < recording->stream_count; i++)
			count = put_loss(recording->losses, count,
					 &recording->streams[i]);
		losses = recording->losses;
	}
	recording->dirty = false;
	return elog_file_write_sync(recording->writer, time, losses, count);
}

bool recording_dirty(const struct recording *recording)
{
	return recording->dirty;
}

int recording_end(struct recording *recording, uint64_t lost)
{
	int ret;

	ret = elog_file_write_end(recording->writer, recording->part_records,
				  lost == UINT64_MAX ? recording->part_lost : lost);
	if (ret)
		return ret;
	recording->finished_size += elog_file_writer_size(recording->writer);
	return close_file(recording);
}

/* ------------------------------------------------------------------------
 * Rotation
 */

bool recording_is_full(const struct recording *recording)
{
	uint64_t most = recording->setup->options->rotate_size;

	return most && recording->part_records &&
	       recording->present + elog_file_writer_size(recording->writer) >= most;
}

/* FILE is number 0. Return: the name, which the caller frees; NULL: no memory. */
static char *numbered(const struct recording *recording, unsigned int number)
{
	char *name;

	if (!number)
		return strdup(recording->path);
	return asprintf(&name, "%s.%u", recording->path, number) < 0 ? NULL : name;
}

/* FILE becomes FILE.1, that FILE.2 and so on, up to FILE.KEEP, which is gone. */
static int put_aside(const struct recording *recording)
{
	unsigned int number = recording->setup->options->rotate_keep;
	char *from, *to;
	int ret = 0;

	for (; !ret && number; number--) {
		from = numbered(recording, number - 1);
		to = numbered(recording, number);
		if (!from || !to)
			ret = -ENOMEM;
		else if (rename(from, to) && errno != ENOENT)
			ret = -errno;
		free(from);
		free(to);
	}
	return ret;
}

static void forget_mentioned(struct recording *recording)
{
	free(recording->written);
	recording->written = NULL;
	recording->written_count = 0;
	recording->written_size = 0;
	recording->last_descriptor = 0;
	recording->last_tid = 0;
	memset(recording->threads, 0,
	       recording->setup->threads * sizeof(recording->threads[0]));
}

int recording_rotate(struct recording *recording, uint64_t time,
		     const struct elog_file_loss *losses, size_t count)
{
	uint64_t lost = 0;
	unsigned int cause;
	size_t i;
	int ret;

	if (losses)
		for (i = 0; i < count; i++)
			for (cause = 0; cause < EVENTLOG_LOST_CAUSES; cause++)
				lost += losses[i].lost[cause];
	else
		lost = UINT64_MAX;
	ret = recording_end(recording, lost);
	if (!ret)
		ret = put_aside(recording);
	if (ret)
		return ret;
	/* What has the name now is not ours. */
	ret = open_file(recording, O_EXCL);
	if (!ret)
		ret = begin_part(recording, ELOG_FILE_CONTINUES, time);
	if (ret) {
		*recording->setup->told = true;
		return ret;
	}
	forget_mentioned(recording);
	recording->part_records = 0;
	return recording_sync(recording, time, losses, count);
}

uint64_t recording_records(const struct recording *recording)
{
	return recording->records;
}

uint64_t recording_size(const struct recording *recording)
{
	return recording->finished_size + (recording->writer ?
		elog_file_writer_size(recording->writer) : 0);
}
