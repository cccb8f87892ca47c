// SPDX-License-Identifier: GPL-2.0-only
/*
 * One .elog file of a capture: see trace_writer.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libelog/util/map.h"
#include "record/trace_writer.h"
#include "util/signals.h"

#define REFRESH_NS	1000000000ULL	/* threads change their names */
#define STREAM_BYTES	(256U << 10)	/* kept of one CPU before it is written */

/*
 * Threads whose names are remembered. With more threads than that, some names are
 * written repeatedly, which only costs space in the file.
 */
#define THREADS_MAX	16384
#define SPLIT_THREADS	64	/* in each of many files */

/* A thread whose name was written. */
struct thread {
	uint64_t asked;		/* for its name, CLOCK_MONOTONIC ns */
	char name[16];
};

/* Records of one CPU that were added, in the format of a ring. */
struct stream {
	uint32_t cpu;
	uint32_t number;
	uint64_t position;	/* of the first one kept */
	unsigned char *data;
	size_t size;
	size_t capacity;
	uint64_t records;	/* events among them */
	uint64_t lost[ELOG_LOST_CAUSES_MAX];	/* so far */
	uint32_t lost_count;
};

struct trace_writer {
	struct writer *owner;
	char *path;
	int fd;
	struct elog_file_writer *writer;
	uint64_t present;	/* bytes that the file held before */
	uint64_t size;		/* bytes that @owner has counted */
	uint64_t records;
	uint64_t lost;
	bool dirty;

	struct stream *streams;
	size_t stream_count;
	struct stream no_ring;	/* losses of CPUs that have none */
	struct elog_file_loss *losses;	/* room for one more than streams */

	uint32_t last_descriptor;
	uint32_t last_tid;
	struct elog_map schemas;	/* by descriptor: it was written; no value */
	struct elog_map threads;	/* struct thread, the latest asked for last */
};

static const struct options *options_of(const struct trace_writer *trace)
{
	return trace->owner->live->options;
}

/* After the second signal to stop, do not wait for a reader any longer. */
static bool gives_up(void *context)
{
	(void)context;
	return signals_stops() > 1;
}

/* Remember which file failed, if @ret is an error. Return: @ret. */
static int check(struct trace_writer *trace, int ret)
{
	struct writer *owner = trace->owner;

	if (ret && !owner->failed_path)
		owner->failed_path = strdup(trace->path);
	return ret;
}

/* Also count what was written. */
static int account(struct trace_writer *trace, int ret)
{
	uint64_t size = elog_file_writer_size(trace->writer);

	trace->owner->bytes += size - trace->size;
	trace->size = size;
	return check(trace, ret);
}

/* Opening a pipe blocks until there is a reader: allow signals meanwhile. */
static int open_waiting(const char *path, int flags)
{
	int fd;

	do {
		signals_let_in();
		/* Events may contain secrets. */
		fd = open(path, flags, 0600);
		fd = fd < 0 ? -errno : fd;
		signals_hold();
	} while (fd == -EINTR && !signals_stops());
	return fd;
}

static int open_file(struct trace_writer *trace, int more_flags)
{
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | more_flags;
	const char *path = trace->path;
	struct stat stat = { 0 };
	bool regular;
	int fd;

	trace->present = 0;
	/* Others can predict the names of these files. */
	if (options_of(trace)->split)
		flags |= O_NOFOLLOW;
	fd = strcmp(path, "-") ? open_waiting(path, flags) : STDOUT_FILENO;
	if (fd < 0) {
		elog_error("%s: %s", path, strerror(-fd));
		return fd;
	}
	regular = !fstat(fd, &stat) && S_ISREG(stat.st_mode);
	if (more_flags & O_APPEND && regular)
		trace->present = (uint64_t)stat.st_size;
	if (isatty(fd)) {
		elog_error("-o writes binary data: not to a terminal");
		elog_hint("without -o events are printed; or: elog capture -o - | elog show -");
	} else if (options_of(trace)->rotate_size && !regular) {
		elog_error("%s: --rotate is for a regular file", path);
	} else {
		trace->fd = fd;
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

static int begin_segment(struct trace_writer *trace, uint32_t flags, uint64_t start)
{
	const struct options *options = options_of(trace);
	const struct writer *owner = trace->owner;
	struct elog_file_options file_options = {
		.size = sizeof(file_options),
		.flags = flags,
		.program = tool_version(),
		.capture = *owner->capture ? owner->capture : NULL,
		.cpus = elog_consumer_cpus(owner->live->consumer),
		.compression = options->compress,
		.interrupted = gives_up,
		.start = start,
	};
	struct elog_text command = { 0 };
	int ret;

	if (options->separated) {
		put_command(options, &command);
		file_options.command = command.data;
	}
	ret = elog_file_writer_open(&trace->writer, trace->fd, &file_options);
	elog_text_free(&command);
	if (ret == -EOPNOTSUPP)
		elog_error("--compress is not available: elog was built without zstd");
	else if (ret)
		elog_error("%s: %s", trace->path, strerror(-ret));
	trace->size = 0;
	return ret;
}

int trace_writer_open(struct trace_writer **result, struct writer *writer,
		      const char *path, bool append)
{
	struct trace_writer *trace = calloc(1, sizeof(*trace));
	int ret = -ENOMEM;

	if (trace) {
		trace->owner = writer;
		trace->fd = -1;
		trace->no_ring.cpu = EVENTLOG_CPU_ALL;
		trace->no_ring.number = ELOG_STREAM_NONE;
		trace->path = strdup(path);
		trace->losses = calloc(1, sizeof(*trace->losses));
		elog_map_init(&trace->schemas, 0);
		elog_map_init(&trace->threads, sizeof(struct thread));
	}
	if (!trace || !trace->path || !trace->losses)
		elog_error("out of memory");
	else
		ret = open_file(trace, append ? O_APPEND : O_TRUNC);
	/* A pipe may be full. */
	signals_let_in();
	if (!ret)
		ret = begin_segment(trace, 0, writer->start);
	signals_hold();
	if (ret) {
		writer->explained = true;
		trace_writer_close(trace);
		return ret;
	}
	writer->files++;
	*result = trace;
	return 0;
}

static int close_file(struct trace_writer *trace)
{
	int fd = trace->fd;

	elog_file_writer_close(trace->writer);
	trace->writer = NULL;
	trace->fd = -1;
	if (fd <= STDERR_FILENO)
		return 0;
	/* Some file systems report only now that the disk is full. */
	return close(fd) && errno != EINTR ? -errno : 0;
}

void trace_writer_close(struct trace_writer *trace)
{
	size_t i;

	if (!trace)
		return;
	close_file(trace);
	for (i = 0; i < trace->stream_count; i++)
		free(trace->streams[i].data);
	free(trace->streams);
	free(trace->losses);
	elog_map_free(&trace->schemas);
	elog_map_free(&trace->threads);
	free(trace->path);
	free(trace);
}

/* ------------------------------------------------------------------------
 * What has to precede a record
 */

/* Write an event's schema once. There is none if the event was deleted. */
static int mention_schema(struct trace_writer *trace, uint32_t descriptor)
{
	struct eventlog_describe request = { .descriptor = descriptor };
	char *text;
	int ret;

	if (!descriptor || elog_map_find_integer(&trace->schemas, descriptor))
		return 0;
	if (!elog_map_insert(&trace->schemas, elog_map_integer(descriptor)))
		return -ENOMEM;
	ret = elog_consumer_definition(trace->owner->live->consumer, &request, &text);
	if (ret)
		return ret == -ENOENT ? 0 : ret;
	ret = elog_file_write_schema(trace->writer, descriptor, request.provider_id, text);
	free(text);
	return ret;
}

static struct thread *new_thread(struct trace_writer *trace, uint64_t id)
{
	const uint32_t most = options_of(trace)->split ? SPLIT_THREADS : THREADS_MAX;

	if (trace->threads.count >= most)
		elog_map_remove(&trace->threads, elog_map_first(&trace->threads));
	return elog_map_insert(&trace->threads, elog_map_integer(id));
}

/* Write a thread's name once, and again when it has changed. */
static int mention_thread(struct trace_writer *trace, uint32_t pid, uint32_t tid)
{
	const uint64_t id = (uint64_t)pid << 32 | tid, now = trace->owner->now;
	struct thread *thread = elog_map_find_integer(&trace->threads, id);
	const char *name;

	if (thread && now - thread->asked < REFRESH_NS)
		return 0;
	name = elog_processes_name(trace->owner->live->processes, pid, tid);
	if (thread)
		elog_map_touch(&trace->threads, thread);
	else
		thread = new_thread(trace, id);
	if (!thread)
		return -ENOMEM;
	thread->asked = now;
	if (*thread->name && !strcmp(thread->name, name))
		return 0;
	snprintf(thread->name, sizeof(thread->name), "%s", name);
	return elog_file_write_process(trace->writer, pid, tid, name);
}

int trace_writer_mention(struct trace_writer *trace, uint32_t descriptor,
			 uint32_t pid, uint32_t tid)
{
	int ret;

	if (descriptor != trace->last_descriptor) {
		ret = mention_schema(trace, descriptor);
		if (ret)
			return account(trace, ret);
		trace->last_descriptor = descriptor;
	}
	if (tid != trace->last_tid || !trace->dirty) {
		ret = mention_thread(trace, pid, tid);
		if (ret)
			return account(trace, ret);
		trace->last_tid = tid;
		trace->dirty = true;
	}
	return 0;
}

/* ------------------------------------------------------------------------
 * Records
 */

int trace_writer_raw(struct trace_writer *trace, unsigned int cpu, uint32_t stream,
		     const void *data, size_t size, uint64_t position, uint64_t records,
		     const struct elog_file_raw_info *info)
{
	int ret;

	trace->dirty = true;
	ret = account(trace, elog_file_write_raw(trace->writer, cpu, stream, data, size,
						 position, info));
	if (ret)
		return ret;
	trace->owner->records += records;
	trace->records += records;
	return 0;
}

static struct stream *find_stream(struct trace_writer *trace, uint32_t cpu,
				  uint32_t number)
{
	struct elog_file_loss *losses;
	struct stream *streams;
	size_t i;

	if (number == ELOG_STREAM_NONE)
		return &trace->no_ring;
	for (i = 0; i < trace->stream_count; i++)
		if (trace->streams[i].number == number && trace->streams[i].cpu == cpu)
			return &trace->streams[i];
	losses = realloc(trace->losses, (i + 2) * sizeof(*losses));
	if (!losses)
		return NULL;
	trace->losses = losses;
	streams = realloc(trace->streams, (i + 1) * sizeof(*streams));
	if (!streams)
		return NULL;
	trace->streams = streams;
	memset(&streams[i], 0, sizeof(streams[i]));
	streams[i].cpu = cpu;
	streams[i].number = number;
	trace->stream_count++;
	return &streams[i];
}

static int write_stream(struct trace_writer *trace, struct stream *stream)
{
	size_t size = stream->size;
	int ret;

	if (!size)
		return 0;
	ret = trace_writer_raw(trace, stream->cpu, stream->number, stream->data, size, stream->position,
			       stream->records, NULL);
	stream->position += size;
	stream->size = 0;
	stream->records = 0;
	return ret;
}

static int make_room(struct stream *stream, size_t size)
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

static int add_record(struct trace_writer *trace, struct stream *stream,
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
	trace->dirty = true;
	return stream->size >= STREAM_BYTES ? write_stream(trace, stream) : 0;
}

static int add_loss(struct trace_writer *trace, struct stream *stream,
		    const struct elog_item *item)
{
	unsigned int i;

	for (i = 0; i < item->lost_count; i++) {
		stream->lost[i] += item->lost[i];
		trace->lost += item->lost[i];
	}
	if (item->lost_count > stream->lost_count)
		stream->lost_count = item->lost_count;
	trace->dirty = true;
	if (stream == &trace->no_ring)
		return 0;
	return add_record(trace, stream, item, EVENTLOG_RECORD_LOST,
			  stream->lost, stream->lost_count * sizeof(stream->lost[0]));
}

int trace_writer_add(struct trace_writer *trace, const struct elog_item *item)
{
	struct stream *stream = find_stream(trace, item->cpu, item->stream);
	int ret;

	if (!stream)
		return -ENOMEM;
	if (item->type == ELOG_ITEM_LOST)
		return add_loss(trace, stream, item);
	ret = trace_writer_mention(trace, item->descriptor, item->pid, item->tid);
	if (ret)
		return ret;
	return add_record(trace, stream, item, EVENTLOG_RECORD_EVENT,
			  item->payload, item->payload_size);
}

static size_t put_loss(struct elog_file_loss *losses, size_t count,
		       const struct stream *stream)
{
	losses[count].cpu = stream->cpu;
	losses[count].stream = stream->number;
	losses[count].lost = stream->lost;
	losses[count].lost_count = stream->lost_count;
	losses[count].reserved = 0;
	return count + (stream->lost_count > 0);
}

int trace_writer_sync(struct trace_writer *trace, uint64_t time,
		      const struct elog_file_loss *losses, size_t count)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < trace->stream_count; i++)
		ret = write_stream(trace, &trace->streams[i]);
	if (ret)
		return ret;
	if (!losses) {
		count = put_loss(trace->losses, 0, &trace->no_ring);
		for (i = 0; i < trace->stream_count; i++)
			count = put_loss(trace->losses, count,
					 &trace->streams[i]);
		losses = trace->losses;
	}
	trace->dirty = false;
	return account(trace, elog_file_write_sync(trace->writer, time, losses, count));
}

bool trace_writer_dirty(const struct trace_writer *trace)
{
	return trace->dirty;
}

int trace_writer_end(struct trace_writer *trace, uint64_t lost)
{
	int ret;

	ret = elog_file_write_end(trace->writer, trace->records,
				  lost == UINT64_MAX ? trace->lost : lost);
	ret = account(trace, ret);
	return ret ? ret : check(trace, close_file(trace));
}

/* ------------------------------------------------------------------------
 * Rotation
 */

bool trace_writer_is_full(const struct trace_writer *trace)
{
	uint64_t most = options_of(trace)->rotate_size;

	return most && trace->records &&
	       trace->present + elog_file_writer_size(trace->writer) >= most;
}

/* FILE is number 0. Return: the name, which the caller frees; NULL: no memory. */
static char *numbered(const struct trace_writer *trace, unsigned int number)
{
	char *name;

	if (!number)
		return strdup(trace->path);
	return asprintf(&name, "%s.%u", trace->path, number) < 0 ? NULL : name;
}

/* FILE becomes FILE.1, that FILE.2 and so on, up to FILE.KEEP, which is gone. */
static int put_aside(const struct trace_writer *trace)
{
	unsigned int number = options_of(trace)->rotate_keep;
	char *from, *to;
	int ret = 0;

	for (; !ret && number; number--) {
		from = numbered(trace, number - 1);
		to = numbered(trace, number);
		if (!from || !to)
			ret = -ENOMEM;
		else if (rename(from, to) && errno != ENOENT)
			ret = -errno;
		free(from);
		free(to);
	}
	return ret;
}

static void forget_mentioned(struct trace_writer *trace)
{
	elog_map_clear(&trace->schemas);
	elog_map_clear(&trace->threads);
	trace->last_descriptor = 0;
	trace->last_tid = 0;
}

int trace_writer_rotate(struct trace_writer *trace, uint64_t time,
			const struct elog_file_loss *losses, size_t count)
{
	uint64_t lost = 0;
	unsigned int cause;
	size_t i;
	int ret;

	if (losses)
		for (i = 0; i < count; i++)
			for (cause = 0; cause < losses[i].lost_count; cause++)
				lost += losses[i].lost[cause];
	else
		lost = UINT64_MAX;
	ret = trace_writer_end(trace, lost);
	if (!ret)
		ret = check(trace, put_aside(trace));
	if (ret)
		return ret;
	/* A file that has the name now is not ours. */
	ret = open_file(trace, O_EXCL);
	if (!ret)
		ret = begin_segment(trace, ELOG_FILE_CONTINUES, time);
	if (ret) {
		trace->owner->explained = true;
		return ret;
	}
	forget_mentioned(trace);
	trace->records = 0;
	return trace_writer_sync(trace, time, losses, count);
}
