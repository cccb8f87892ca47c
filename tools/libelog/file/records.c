// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The records of a writer: whole rings, or single items that are kept as a ring would
 * keep them. Before the first record of an event or a thread, its schema or its name
 * is written.
 *
 * No locks and nothing global: a writer belongs to one thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elog.h"
#include "file/writer.h"
#include "format/merge.h"
#include "unexported/consumer.h"
#include "util/process.h"
#include "util/struct.h"

#define BLOCK_BYTES	(256U << 10)	/* written at once */
#define REFRESH_NS	1000000000ULL	/* threads change their names */
#define THREADS_MAX	16384

/* A file that continues another one repeats at most so many schemas and threads. */
#define SCHEMAS_REPEATED	512
#define THREADS_REPEATED	4096

/* A shortened block leaves this on a full disk for the blocks that complete the file. */
#define SPARE_BYTES	4096

/* A thread whose name is stored. */
struct thread {
	uint32_t pid;
	uint32_t tid;
	uint64_t asked;		/* time of the record for which its name was looked up */
	char name[16];
};

int elog_records_init(struct elog_writer *writer, const struct elog_writer *continues)
{
	const struct writer_stream *from;
	struct writer_stream *stream;

	elog_map_init(&writer->streams, sizeof(struct writer_stream));
	elog_map_init(&writer->schemas, sizeof(uint32_t));
	elog_map_init(&writer->threads, sizeof(struct thread));
	if (!writer->threads_max)
		writer->threads_max = THREADS_MAX;
	if (!continues)
		return 0;
	elog_map_for_each(&continues->streams, from) {
		stream = elog_map_insert(&writer->streams, elog_map_integer(from->number));
		if (!stream)
			return -ENOMEM;
		stream->number = from->number;
		stream->cpu = from->cpu;
		stream->instance = from->instance;
		memcpy(stream->lost, from->stated, sizeof(stream->lost));
		stream->lost_count = from->lost_count;
		stream->end = from->end;
		stream->records = from->records;
		stream->gap = from->gap;
	}
	return elog_instances_copy(&writer->instances, &continues->instances);
}

void elog_records_free(struct elog_writer *writer)
{
	struct writer_stream *stream;

	elog_map_for_each(&writer->streams, stream)
		free(stream->data);
	elog_map_free(&writer->streams);
	elog_map_free(&writer->schemas);
	elog_map_free(&writer->threads);
	elog_instances_free(&writer->instances);
}

uint64_t elog_writer_events(const struct elog_writer *writer)
{
	return writer->events;
}

static struct writer_stream *get_stream(struct elog_writer *writer, uint32_t number)
{
	struct writer_stream *stream = elog_map_find_integer(&writer->streams, number);

	if (stream)
		return stream;
	stream = elog_map_insert(&writer->streams, elog_map_integer(number));
	if (!stream)
		return NULL;
	stream->number = number;
	stream->cpu = EVENTLOG_CPU_UNKNOWN;
	return stream;
}

static bool is_stream(unsigned int cpu, uint32_t stream)
{
	return (cpu < ELOG_FILE_CPUS_MAX || cpu == EVENTLOG_CPU_UNKNOWN) &&
	       stream < ELOG_FILE_STREAMS_MAX;
}

/* The counts only grow; records and callers both report them. */
static void raise_losses(struct writer_stream *stream, const uint64_t *lost, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (lost[i] > stream->lost[i])
			stream->lost[i] = lost[i];
	if (count > stream->lost_count)
		stream->lost_count = count;
}

int elog_records_losses(struct elog_writer *writer, const struct elog_writer_loss *losses,
			size_t count)
{
	struct writer_stream *stream;
	size_t i;

	for (i = 0; i < count; i++) {
		stream = get_stream(writer, losses[i].stream);
		if (!stream)
			return -ENOMEM;
		stream->cpu = losses[i].cpu;
		raise_losses(stream, losses[i].lost, losses[i].lost_count);
	}
	return 0;
}

/* ------------------------------------------------------------------------
 * What has to precede a record
 */

int elog_records_schema(struct elog_writer *writer, uint32_t descriptor)
{
	uint32_t *schema = elog_map_get(&writer->schemas, elog_map_integer(descriptor));

	if (!schema)
		return -ENOMEM;
	*schema = descriptor;
	return 0;
}

/* Store an event's schema once. There is none if the event was deleted. */
static int mention_schema(struct elog_writer *writer, uint32_t descriptor, uint32_t instance)
{
	struct eventlog_describe request = {
		.size = sizeof(request), .descriptor = descriptor,
	};
	char *text;
	int ret;

	if (!descriptor || !writer->definition ||
	    elog_map_find_integer(&writer->schemas, descriptor))
		return 0;
	ret = writer->definition(writer->context, &request, &text);
	if (ret == -ENOENT)
		return elog_records_schema(writer, descriptor);
	if (ret)
		return ret;
	ret = elog_writer_store_schema(writer, descriptor, request.provider_id, instance, text);
	free(text);
	return ret;
}

static uint64_t thread_id(uint32_t pid, uint32_t tid)
{
	return (uint64_t)pid << 32 | tid;
}

static struct thread *new_thread(struct elog_writer *writer, uint64_t id)
{
	if (writer->threads.count >= writer->threads_max)
		elog_map_remove(&writer->threads, elog_map_first(&writer->threads));
	return elog_map_insert(&writer->threads, elog_map_integer(id));
}

/* Store a thread's name once, and again when it has changed. */
static int mention_thread(struct elog_writer *writer, uint32_t pid, uint32_t tid,
			  uint64_t time)
{
	const uint64_t id = thread_id(pid, tid);
	struct thread *thread;
	const char *name;
	size_t size;
	int ret;

	if (!writer->names)
		return 0;
	thread = elog_map_find_integer(&writer->threads, id);
	if (thread && !writer->renamed &&
	    (time < thread->asked || time - thread->asked < REFRESH_NS))
		return 0;
	name = elog_processes_name(writer->names, pid, tid);
	if (thread)
		elog_map_touch(&writer->threads, thread);
	else
		thread = new_thread(writer, id);
	if (!thread)
		return -ENOMEM;
	thread->pid = pid;
	thread->tid = tid;
	thread->asked = time;
	size = strnlen(name, sizeof(thread->name) - 1);
	if (*thread->name && strlen(thread->name) == size &&
	    !memcmp(thread->name, name, size))
		return 0;
	memset(thread->name, 0, sizeof(thread->name));
	memcpy(thread->name, name, size);
	ret = elog_writer_process(writer, pid, tid, thread->name);
	if (ret)
		elog_map_remove(&writer->threads, thread);
	return ret;
}

/* Cheap if event and thread are those of the previous record. */
static int mention(struct elog_writer *writer, uint32_t instance, uint32_t descriptor,
		   uint32_t pid, uint32_t tid, uint64_t time)
{
	int ret;

	if (!writer->mentioned || descriptor != writer->last_descriptor) {
		ret = mention_schema(writer, descriptor, instance);
		if (ret)
			return ret;
		writer->last_descriptor = descriptor;
	}
	if (!writer->mentioned || tid != writer->last_tid) {
		ret = mention_thread(writer, pid, tid, time);
		if (ret)
			return ret;
		writer->last_tid = tid;
	}
	writer->mentioned = true;
	return 0;
}

/* Does a writer not know all threads of the file before, or should it not repeat so many? */
static bool has_too_many_threads(const struct elog_writer *writer,
				 const struct elog_writer *continues)
{
	const uint32_t count = continues->threads.count;

	/* A full table may have dropped some. */
	return count > THREADS_REPEATED || count >= continues->threads_max ||
	       count > writer->threads_max;
}

static int carry_items(struct elog_writer *writer, const struct elog_writer *continues);

int elog_records_continue(struct elog_writer *writer, const struct elog_writer *continues)
{
	const struct thread *thread;
	const uint32_t *schema;
	struct thread *copy;
	int ret = 0;

	if (!continues)
		return 0;
	ret = carry_items(writer, continues);
	if (ret)
		return ret;
	writer->by_meta = continues->by_meta;
	writer->looks = !continues->by_meta || continues->looks ||
			continues->schemas.count > SCHEMAS_REPEATED ||
			has_too_many_threads(writer, continues);
	if (writer->looks)
		return 0;
	elog_map_for_each(&continues->schemas, schema) {
		ret = mention_schema(writer, *schema, 0);
		if (ret)
			return ret;
	}
	elog_map_for_each(&continues->threads, thread) {
		copy = new_thread(writer, thread_id(thread->pid, thread->tid));
		if (!copy)
			return -ENOMEM;
		*copy = *thread;
		ret = elog_writer_process(writer, thread->pid, thread->tid, thread->name);
		if (ret)
			return ret;
	}
	return 0;
}

/* ------------------------------------------------------------------------
 * Storing
 */

static uint32_t load(const unsigned char *at, size_t offset)
{
	uint32_t value;

	memcpy(&value, at + offset, sizeof(value));
	return value;
}

/* Find the whole records in the first @most bytes, and count the events among them. */
static size_t whole_records(const unsigned char *data, size_t most, uint64_t *events)
{
	uint32_t size_flags, bytes;
	size_t at = 0;

	*events = 0;
	while (most - at >= EVENTLOG_RECORD_ALIGN) {
		size_flags = load(data, at);
		bytes = elog_record_bytes(size_flags);
		if (bytes < EVENTLOG_RECORD_ALIGN || bytes > most - at)
			break;
		*events += elog_record_type(size_flags) == EVENTLOG_RECORD_EVENT;
		at += bytes;
	}
	return at;
}

/* How many of @size bytes of records may fit on the disk that was full just now? */
static size_t fitting(const struct elog_writer *writer, size_t size)
{
	const size_t other = HEADER_BYTES + sizeof(struct elog_block_data) + SPARE_BYTES;
	size_t room = writer->block_fit > other ? (size_t)writer->block_fit - other : 0;

	/* A shorter block is compressed less well. */
	if (writer->compressor)
		room = (size_t)((uint64_t)room * size / writer->block_size * 7 / 8);
	return room < size ? room : size - 1;
}

/*
 * Store whole records, with @events among them; on a full disk, only the first of them that
 * fit. Return: bytes, and set @events; or a negative errno: nothing was stored.
 */
static ssize_t store(struct elog_writer *writer, const struct writer_stream *stream,
		     const void *data, size_t size, uint64_t position,
		     const struct elog_index_info *info, uint64_t *events)
{
	int ret;

	for (;;) {
		ret = elog_writer_store(writer, stream, data, size, position, info);
		if (!ret)
			return (ssize_t)size;
		if (!elog_writer_is_full(ret) || elog_writer_retry(writer) != 1)
			return ret;
		size = whole_records(data, fitting(writer, size), events);
		if (!size) {
			writer->error = ret;
			return ret;
		}
	}
}

/* ------------------------------------------------------------------------
 * Rings
 */

/*
 * Skip events of the same definition and thread. Most events follow such an event, so
 * this loop decides what an event costs. Return: the first record that differs, or
 * that is not before @limit.
 */
static const unsigned char *pass_alike(const unsigned char *at, const unsigned char *limit,
				       const unsigned char *end, uint32_t descriptor,
				       uint32_t tid, uint64_t *events)
{
	const uint32_t event = EVENTLOG_RECORD_EVENT << EVENTLOG_RECORD_TYPE_SHIFT;
	uint32_t size_flags, bytes;
	uint64_t count = 0;

	while (at < limit && (size_t)(end - at) >= sizeof(struct eventlog_record)) {
		size_flags = load(at, 0);
		bytes = elog_record_bytes(size_flags);
		if ((size_flags & EVENTLOG_RECORD_TYPE_MASK) != event ||
		    load(at, offsetof(struct eventlog_record, descriptor)) != descriptor ||
		    load(at, offsetof(struct eventlog_record, tid)) != tid ||
		    bytes < sizeof(struct eventlog_record) || bytes > (size_t)(end - at))
			break;
		at += bytes;
		count++;
	}
	*events += count;
	return at;
}

/* Remember the counts of a loss; ignore padding. Return: false if it is no record. */
static bool see_other_record(struct writer_stream *stream, const unsigned char *at,
			     uint32_t size_flags)
{
	uint64_t lost[ELOG_LOST_CAUSES_MAX];
	size_t size = size_flags & EVENTLOG_RECORD_SIZE_MASK;

	if (elog_record_type(size_flags) != EVENTLOG_RECORD_LOST)
		return true;
	if (size < sizeof(struct eventlog_record))
		return false;
	size -= sizeof(struct eventlog_record);
	if (size > sizeof(lost))
		size = sizeof(lost);
	memcpy(lost, at + sizeof(struct eventlog_record), size);
	raise_losses(stream, lost, (uint32_t)(size / sizeof(lost[0])));
	return true;
}

/*
 * Find whole records in the first @look bytes or more. Count the events among them, and
 * store what has to precede them.
 *
 * Return: bytes; -EBADMSG these are no records; or another negative errno.
 */
static ssize_t scan(struct elog_writer *writer, struct writer_stream *stream,
		    const unsigned char *data, size_t size, size_t look, uint64_t *events)
{
	const unsigned char *end = data + size, *at = data;
	const unsigned char *limit = size < look ? end : data + look;
	struct eventlog_record record;
	uint32_t size_flags, bytes;
	int ret;

	while (at < limit) {
		if (end - at < EVENTLOG_RECORD_ALIGN)
			break;
		size_flags = load(at, 0);
		bytes = elog_record_bytes(size_flags);
		if (bytes < EVENTLOG_RECORD_ALIGN || bytes > (size_t)(end - at))
			break;
		if (elog_record_type(size_flags) != EVENTLOG_RECORD_EVENT) {
			if (!see_other_record(stream, at, size_flags))
				break;
			at += bytes;
			continue;
		}
		if (bytes < sizeof(record))
			break;
		memcpy(&record, at, sizeof(record));
		ret = mention(writer, 0, record.descriptor, record.pid, record.tid, record.time);
		if (ret)
			return ret;
		at = pass_alike(at, limit, end, record.descriptor, record.tid, events);
	}
	return at == data && size ? -EBADMSG : at - data;
}

/* The stream of raw records. Return: 0 or a negative errno. */
static int raw_stream(struct elog_writer *writer, unsigned int cpu, uint32_t number,
		      uint64_t position, struct writer_stream **stream)
{
	if (writer->error)
		return writer->error;
	if (!is_stream(cpu, number) || position % EVENTLOG_RECORD_ALIGN)
		return -EINVAL;
	*stream = get_stream(writer, number);
	if (!*stream)
		return -ENOMEM;
	(*stream)->cpu = cpu;
	/* A ring begins at 0. */
	(*stream)->gap |= (*stream)->end != position;
	return 0;
}

static ssize_t store_raw(struct elog_writer *writer, struct writer_stream *stream,
			 const void *data, size_t size, uint64_t position, uint64_t events)
{
	const struct elog_index_info info = {
		.newest = elog_writer_time(writer),
		.lost = stream->lost,
		.lost_count = stream->lost_count,
	};
	ssize_t some;

	some = store(writer, stream, data, size, position,
		     writer->flags & ELOG_WRITER_LIVE ? &info : NULL, &events);
	if (some < 0)
		return some;
	if ((size_t)some == size)
		memcpy(stream->stated, stream->lost, sizeof(stream->stated));
	writer->events += events;
	stream->records += (uint32_t)events;
	stream->end = position + (size_t)some;
	return some;
}

static ssize_t look_and_store(struct elog_writer *writer, struct writer_stream *stream,
			      const void *data, size_t size, uint64_t position)
{
	uint64_t events = 0;
	ssize_t some = scan(writer, stream, data, size, BLOCK_BYTES, &events);

	return some <= 0 ? some : store_raw(writer, stream, data, (size_t)some, position, events);
}

ssize_t elog_writer_raw(struct elog_writer *writer, unsigned int cpu, uint32_t number,
			const void *data, size_t size, uint64_t position)
{
	struct writer_stream *stream;
	int ret = raw_stream(writer, cpu, number, position, &stream);

	return ret ? ret : look_and_store(writer, stream, data, size, position);
}

/* Look at the first bytes, in which there is something new. */
static ssize_t scan_news(struct elog_writer *writer, struct writer_stream *stream,
			 const void *data, const struct elog_raw_meta *meta, uint64_t *events)
{
	ssize_t some;

	writer->renamed = true;
	writer->mentioned = false;
	some = scan(writer, stream, data, meta->bytes, meta->look, events);
	writer->renamed = false;
	return some;
}

ssize_t elog_writer_raw_meta(struct elog_writer *writer, unsigned int cpu, uint32_t number,
			     const void *data, size_t size, uint64_t position,
			     const struct elog_raw_meta *given)
{
	struct writer_stream *stream;
	struct elog_raw_meta meta;
	uint64_t looked_at = 0;
	ssize_t some = 0;
	uint32_t events;
	int ret;

	ret = elog_struct_get(&meta, sizeof(meta), given);
	if (!ret)
		ret = raw_stream(writer, cpu, number, position, &stream);
	if (ret)
		return ret;
	writer->by_meta = true;
	events = meta.records - stream->records;
	if (writer->looks || stream->gap || !meta.bytes || meta.bytes > size ||
	    meta.bytes % EVENTLOG_RECORD_ALIGN || meta.look > meta.bytes ||
	    meta.bytes > ELOG_BLOCK_MAX - sizeof(struct elog_block_data) ||
	    events > meta.bytes / sizeof(struct eventlog_record))
		return look_and_store(writer, stream, data, size, position);
	if (meta.look)
		some = scan_news(writer, stream, data, &meta, &looked_at);
	if (some < 0)
		return some;
	/* Store what precedes the damage. */
	if ((uint64_t)some < meta.look || looked_at > events)
		return store_raw(writer, stream, data, (size_t)some, position, looked_at);
	return store_raw(writer, stream, data, meta.bytes, position, events);
}

/* ------------------------------------------------------------------------
 * Items
 */

/* What cannot be written stays. */
static int flush_stream(struct elog_writer *writer, struct writer_stream *stream)
{
	uint64_t events;
	ssize_t some;

	while (stream->size) {
		events = stream->events;
		some = store(writer, stream, stream->data, stream->size, stream->position, NULL,
			     &events);
		if (some < 0)
			return (int)some;
		stream->size -= (size_t)some;
		memmove(stream->data, stream->data + some, stream->size);
		stream->position += (size_t)some;
		stream->events -= events;
		writer->events += events;
		if (!stream->size)
			memcpy(stream->stated, stream->lost, sizeof(stream->stated));
	}
	return 0;
}

void elog_records_stated(struct elog_writer *writer)
{
	struct writer_stream *stream;

	elog_map_for_each(&writer->streams, stream)
		memcpy(stream->stated, stream->lost, sizeof(stream->stated));
}

int elog_records_flush(struct elog_writer *writer)
{
	struct writer_stream *stream;
	int ret = 0;

	elog_map_for_each(&writer->streams, stream) {
		ret = flush_stream(writer, stream);
		if (ret)
			break;
	}
	/* Threads change their names. */
	writer->mentioned = false;
	return ret;
}

static int make_room(struct writer_stream *stream, size_t size)
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

/* Copy the items of a stream that the file before has no room for. */
static int carry_stream(struct elog_writer *writer, const struct writer_stream *from)
{
	struct writer_stream *stream = elog_map_find_integer(&writer->streams, from->number);
	struct eventlog_record record;
	size_t at;
	int ret;

	raise_losses(stream, from->lost, from->lost_count);
	for (at = 0; at < from->size; at += elog_record_bytes(record.size_flags)) {
		memcpy(&record, from->data + at, sizeof(record));
		if (elog_record_type(record.size_flags) != EVENTLOG_RECORD_EVENT)
			continue;
		ret = mention(writer, from->instance, record.descriptor, record.pid, record.tid,
			      record.time);
		if (ret)
			return ret;
	}
	ret = make_room(stream, from->size);
	if (ret || !from->size)
		return ret;
	memcpy(stream->data, from->data, from->size);
	stream->size = from->size;
	stream->events = from->events;
	return 0;
}

static int carry_items(struct elog_writer *writer, const struct elog_writer *continues)
{
	const struct writer_stream *from;
	int ret;

	elog_map_for_each(&continues->streams, from) {
		ret = carry_stream(writer, from);
		if (ret)
			return ret;
	}
	return 0;
}

static int put_record(struct elog_writer *writer, struct writer_stream *stream,
		      const struct elog_item *item, enum eventlog_record_type type,
		      const void *payload, size_t size)
{
	struct eventlog_record record = {
		.size_flags = (uint32_t)(sizeof(record) + size) |
			(uint32_t)type << EVENTLOG_RECORD_TYPE_SHIFT |
			(uint32_t)item->context << EVENTLOG_RECORD_CONTEXT_SHIFT |
			(item->flags & ELOG_RECORD_FLAGS),
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
	stream->events += type == EVENTLOG_RECORD_EVENT;
	ret = stream->size >= BLOCK_BYTES ? flush_stream(writer, stream) : 0;
	if (ret && elog_writer_retry(writer) == 1) {
		/* The record is kept, so this call succeeds. The next one returns the error. */
		writer->error = ret;
		return 0;
	}
	return ret;
}

static int add_loss(struct elog_writer *writer, struct writer_stream *stream,
		    const struct elog_item *item)
{
	uint32_t i;

	for (i = 0; i < item->lost_count; i++)
		stream->lost[i] += item->lost[i];
	if (item->lost_count > stream->lost_count)
		stream->lost_count = item->lost_count;
	if (stream->number == ELOG_STREAM_NONE)
		return 0;
	return put_record(writer, stream, item, EVENTLOG_RECORD_LOST, stream->lost,
			  stream->lost_count * sizeof(stream->lost[0]));
}

int elog_writer_add(struct elog_writer *writer, const struct elog_item *item)
{
	const bool loss = item->type == ELOG_ITEM_LOST;
	struct writer_stream *stream;
	uint32_t instance;
	int ret = writer->error;

	if (ret || (!loss && item->type != ELOG_ITEM_EVENT))
		return ret;
	if (!is_stream(item->cpu, item->stream) &&
	    !(loss && item->stream == ELOG_STREAM_NONE))
		return -EINVAL;
	if (item->lost_count > ELOG_LOST_CAUSES_MAX ||
	    item->payload_size > EVENTLOG_RECORD_SIZE_MASK - sizeof(struct eventlog_record))
		return -EINVAL;
	ret = elog_instances_number(&writer->instances, item->instance, &instance);
	if (ret)
		return ret;
	stream = get_stream(writer, item->stream);
	if (!stream)
		return -ENOMEM;
	/* A block has one CPU and one instance. Earlier items may be waiting for a full disk. */
	if (item->cpu != stream->cpu || instance != stream->instance ||
	    stream->size >= BLOCK_BYTES)
		ret = flush_stream(writer, stream);
	if (ret)
		return ret;
	stream->cpu = item->cpu;
	stream->instance = instance;
	if (loss)
		return add_loss(writer, stream, item);
	ret = mention(writer, instance, item->descriptor, item->pid, item->tid, item->time);
	return ret ? ret : put_record(writer, stream, item, EVENTLOG_RECORD_EVENT,
				      item->payload, item->payload_size);
}
