// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Writing .elog files: a sequence of blocks with checksums, which is never rewritten.
 * elog(5) documents the format.
 *
 * One writev(2) writes a block, with the records straight from the ring. After an error
 * a regular file ends with its last whole block, and the writer returns the error until
 * elog_writer_retry(). If another program has truncated the file or written to it, what follows
 * would not be decoded, and if it has removed the file, it would be gone: the writer writes no
 * more, and returns -ESTALE. Nothing that a failed call was given is lost: what the writer had
 * taken stays in memory, and a function that has failed can be called again.
 *
 * No locks and nothing global: a writer belongs to one thread.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "elog.h"
#include "file/writer.h"
#include "util/struct.h"
#include "util/text.h"

#define SPANS_MAX	2	/* of a block's body */
#define COMPRESSION_MAX	19

/*
 * Asking for the times of a file as well would make a file system of the network write everything
 * first. A sandbox may deny statx(2), which is newer than fstat(2). Return: 0 or a negative errno.
 */
static int look(int fd, struct stat *now)
{
	struct statx stat;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_SIZE | STATX_NLINK, &stat))
		return fstat(fd, now) ? -errno : 0;
	now->st_size = (off_t)stat.stx_size;
	now->st_nlink = stat.stx_nlink;
	return 0;
}

/*
 * Does the file end where this writer has left it, and has it its name? Return: 0, -ESTALE or a
 * negative errno.
 */
static int check_end(const struct elog_writer *writer)
{
	const uint64_t end = writer->begin + writer->size + writer->torn;
	struct stat now;
	int ret;

	if (!writer->regular)
		return 0;
	ret = look(writer->fd, &now);
	if (ret)
		return ret;
	return (uint64_t)now.st_size == end && (now.st_nlink || !writer->named) ? 0 : -ESTALE;
}

/*
 * Truncate the file behind the last whole block, unless another program has changed it:
 * then this writer cannot go on. Return: 0 or a negative errno.
 */
static int truncate_torn(struct elog_writer *writer)
{
	off_t end = (off_t)(writer->begin + writer->size);
	int ret;

	if (!writer->regular || !writer->torn)
		return 0;
	ret = check_end(writer);
	if (ret)
		return ret;
	/* The next write must not leave a hole. */
	if (ftruncate(writer->fd, end) || lseek(writer->fd, end, SEEK_SET) < 0)
		return -errno;
	writer->torn = 0;
	return 0;
}

bool elog_writer_is_full(int error)
{
	return error == -ENOSPC || error == -EDQUOT || error == -EFBIG;
}

int elog_writer_retry(struct elog_writer *writer)
{
	const int error = writer->error;

	if (!error)
		return 0;
	if (!writer->regular ||
	    (!elog_writer_is_full(error) && error != -EIO && error != -EROFS))
		return error;
	writer->error = 0;
	return 1;
}

/*
 * With O_APPEND, a block is never in a hole nor over the bytes of others, but another program may
 * have truncated the file right before it: then take the block back. Return: 0 or -ESTALE.
 */
static int check_place(struct elog_writer *writer)
{
	const off_t end = lseek(writer->fd, 0, SEEK_CUR);
	struct stat stat;

	if (!writer->appends || end < 0 ||
	    (uint64_t)end == writer->begin + writer->size + writer->torn)
		return 0;
	if ((uint64_t)end >= writer->torn && !fstat(writer->fd, &stat) && stat.st_size == end)
		(void)!ftruncate(writer->fd, end - (off_t)writer->torn);
	writer->torn = 0;
	return -ESTALE;
}

/* Write everything, also to pipes that take only some of it. */
static int write_all(struct elog_writer *writer, struct iovec *iov,
		     int count)
{
	struct pollfd poll_fd = { .fd = writer->fd, .events = POLLOUT };
	ssize_t written;

	while (count) {
		written = writev(writer->fd, iov, count);
		if (written < 0 && errno == EAGAIN)
			written = poll(&poll_fd, 1, -1) < 0 ? -1 : 0;
		if (written < 0 && errno == EINTR) {
			if (writer->interrupted &&
			    writer->interrupted(writer->context))
				return -EINTR;
			continue;
		}
		if (written < 0)
			return -errno;
		writer->torn += (uint64_t)written;
		while (count && (size_t)written >= iov->iov_len) {
			written -= (ssize_t)iov->iov_len;
			iov++;
			count--;
		}
		if (count) {
			iov->iov_base = (char *)iov->iov_base + written;
			iov->iov_len -= (size_t)written;
		}
	}
	return 0;
}

struct span {
	const void *data;
	size_t size;
};

/* Do not compress small blocks, and blocks that other programs read. */
static bool is_compressible(const struct elog_writer *writer,
			    enum elog_block_type type)
{
	return writer->compressor &&
	       (type == ELOG_BLOCK_DATA || type == ELOG_BLOCK_SCHEMA);
}

static int write_block(struct elog_writer *writer,
		       enum elog_block_type type, uint32_t flags,
		       const struct span *body, int count)
{
	static const unsigned char padding[ELOG_BLOCK_ALIGN];
	struct elog_block_header header = {
		.type = htole32(type),
		.flags = htole32(flags),
	};
	struct iovec iov[SPANS_MAX + 2] = {
		{ .iov_base = &header, .iov_len = sizeof(header) },
	};
	const void *stored;
	uint32_t crc = 0;
	size_t size = 0;
	int i;

	/* After a failed write the file could not be truncated either. */
	if (!writer->error)
		writer->error = truncate_torn(writer);
	if (!writer->error)
		writer->error = check_end(writer);
	if (writer->error)
		return writer->error;
	for (i = 0; i < count; i++) {
		size += body[i].size;
		iov[i + 1].iov_base = (void *)body[i].data;
		iov[i + 1].iov_len = body[i].size;
	}
	if (size > ELOG_BLOCK_MAX)
		return -EINVAL;
	header.raw_size = htole32((uint32_t)size);
	if (is_compressible(writer, type)) {
		size_t less = elog_compress(writer->compressor, iov + 1, count,
					    &stored);

		if (less) {
			header.flags |= htole32(ELOG_BLOCK_ZSTD);
			size = less;
			count = 1;
			iov[1].iov_base = (void *)stored;
			iov[1].iov_len = size;
		}
	}
	for (i = 0; i < count; i++)
		crc = elog_crc32c(crc, iov[i + 1].iov_base,
				  iov[i + 1].iov_len);
	memcpy(header.magic, ELOG_FILE_MAGIC, sizeof(header.magic));
	header.size = htole32((uint32_t)size);
	header.body_crc = htole32(crc);
	crc = elog_crc32c(0, &header, offsetof(struct elog_block_header,
					       header_crc));
	header.header_crc = htole32(crc);
	iov[count + 1].iov_base = (void *)padding;
	iov[count + 1].iov_len = -size & (ELOG_BLOCK_ALIGN - 1);
	size += sizeof(header) + iov[count + 1].iov_len;
	writer->error = write_all(writer, iov, count + 2);
	if (!writer->error)
		writer->error = check_place(writer);
	if (writer->error) {
		writer->block_size = size;
		writer->block_fit = writer->torn;
		truncate_torn(writer);
	} else {
		writer->size += size;
		writer->torn = 0;
	}
	return writer->error;
}

/* Read a clock as the kernel does for records, without @ahead of a time namespace. */
static uint64_t clock_time(clockid_t clock, int64_t ahead)
{
	return elog_clock_read(clock) - (uint64_t)ahead;
}

uint64_t elog_writer_time(const struct elog_writer *writer)
{
	return clock_time(CLOCK_MONOTONIC, writer->ahead.monotonic);
}

/* Commands may be long, but readers do not expect long lines. */
#define INFO_VALUE_MAX	4096

/* Append a line "key value"; replace line breaks in the value. */
static void put_info(struct elog_text *text, const char *key, const char *value)
{
	size_t at, size;

	if (!value)
		return;
	size = strlen(value);
	elog_text_printf(text, "%s ", key);
	at = text->size;
	elog_text_put(text, value, size < INFO_VALUE_MAX ? size : INFO_VALUE_MAX);
	for (; at < text->size; at++)
		if (text->data[at] == '\n' || text->data[at] == '\r')
			text->data[at] = ' ';
	elog_text_put(text, "\n", 1);
}

/* Read the first line of a short file. Return: false if there is none. */
static bool read_line(const char *path, char *line, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size;

	if (fd < 0)
		return false;
	size = read(fd, line, room - 1);
	close(fd);
	if (size <= 0)
		return false;
	line[size] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return true;
}

#define ID_DIGITS	32

/* machine-id(5): 16 bytes as hexadecimal digits; zeros if the machine has none. */
static void put_machine_id(struct elog_text *text)
{
	char id[64];

	if (!read_line("/etc/machine-id", id, sizeof(id)) || strlen(id) != ID_DIGITS ||
	    strspn(id, "0123456789abcdef") != ID_DIGITS)
		snprintf(id, sizeof(id), "%0*d", ID_DIGITS, 0);
	put_info(text, "machine_id", id);
}

static void put_boot_id(struct elog_text *text)
{
	char id[64];

	if (read_line("/proc/sys/kernel/random/boot_id", id, sizeof(id)))
		put_info(text, "boot_id", id);
}

/* How far CLOCK_REALTIME may be off, ns; 0: not known, because nothing disciplines it. */
static uint64_t clock_error(void)
{
	struct timex timex = { 0 };

	if (adjtimex(&timex) < 0 || timex.status & STA_UNSYNC || timex.maxerror < 0)
		return 0;
	return (uint64_t)timex.maxerror * 1000;
}

static int write_info(struct elog_writer *writer,
		      const struct elog_writer_options *options)
{
	const struct elog_clock_offsets *ahead = &writer->ahead;
	const uint64_t monotonic = elog_writer_time(writer);
	const uint64_t realtime = clock_time(CLOCK_REALTIME, 0);
	struct elog_text text = { 0 };
	struct utsname system;
	uint64_t ago = 0;
	struct span body;
	int ret;

	elog_index_init(&writer->index, (int64_t)(realtime - monotonic));

	elog_text_printf(&text, "version %d\n", ELOG_FILE_VERSION);
	put_info(&text, "byte_order", ELOG_BLOCK_NATIVE ? "big" : "little");
	put_info(&text, "flags", "0x0");
	elog_text_printf(&text, "page_size %ld\n", sysconf(_SC_PAGESIZE));
	if (!uname(&system)) {
		put_info(&text, "host", system.nodename);
		put_info(&text, "kernel", system.release);
		put_info(&text, "machine", system.machine);
	}
	put_info(&text, "elog", options->program);
	put_info(&text, "command", options->command);
	put_info(&text, "capture", options->capture);
	if (options->files > 1)
		elog_text_printf(&text, "files %" PRIu32 "\n", options->files);
	if (options->continues) {
		put_info(&text, "continues", "yes");
		writer->events_before = options->continues->events_before +
					options->continues->events;
		elog_text_printf(&text, "events_before %" PRIu64 "\n", writer->events_before);
	}
	put_machine_id(&text);
	put_boot_id(&text);
	elog_text_printf(&text, "clock_error %" PRIu64 "\n", clock_error());
	elog_text_printf(&text, "cpus %" PRIu32 "\n", options->cpus);
	if (options->start && options->start < monotonic)
		ago = monotonic - options->start;
	elog_text_printf(&text, "start %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			 monotonic - ago,
			 clock_time(CLOCK_BOOTTIME, ahead->boottime) - ago,
			 realtime - ago);
	body.data = text.data;
	body.size = text.size;
	ret = text.error ? text.error :
	      write_block(writer, ELOG_BLOCK_FILE, 0, &body, 1);
	elog_text_free(&text);
	return ret;
}

/*
 * Find the position of the next byte in a regular file. Bytes behind it are not this writer's
 * to truncate.
 */
static void find_begin(struct elog_writer *writer)
{
	int flags = fcntl(writer->fd, F_GETFL);
	struct stat stat;
	off_t at;

	if (flags < 0 || fstat(writer->fd, &stat) || !S_ISREG(stat.st_mode))
		return;
	at = flags & O_APPEND ? stat.st_size :
	     lseek(writer->fd, 0, SEEK_CUR);
	if (at < 0 || at != stat.st_size)
		return;
	writer->regular = true;
	writer->appends = flags & O_APPEND;
	writer->named = stat.st_nlink;
	writer->begin = (uint64_t)at;
}

int elog_writer_open(struct elog_writer **result, int fd,
			  const struct elog_writer_options *given)
{
	struct elog_writer_options options;
	struct elog_writer *writer;
	int ret;

	ret = elog_struct_get(&options, sizeof(options), given);
	if (ret)
		return ret;
	if (options.flags & ~ELOG_WRITER_LIVE ||
	    options.files > ELOG_WRITER_FILES_MAX ||
	    options.compression > COMPRESSION_MAX)
		return -EINVAL;
	writer = calloc(1, sizeof(*writer));
	if (!writer)
		return -ENOMEM;
	writer->fd = fd;
	writer->ahead = elog_clock_offsets();
	writer->flags = options.flags;
	writer->interrupted = options.interrupted;
	writer->definition = options.definition;
	writer->context = options.context;
	writer->names = options.processes;
	writer->threads_max = options.threads_max;
	find_begin(writer);
	ret = elog_records_init(writer, options.continues);
	if (!ret && options.compression)
		ret = elog_compressor_new(&writer->compressor,
					  options.compression);
	if (!ret)
		ret = write_info(writer, &options);
	/* Before any record: these losses were reported already. */
	if (!ret && options.continues)
		ret = elog_writer_sync(writer, options.start, NULL, 0);
	if (!ret)
		ret = elog_records_continue(writer, options.continues);
	if (ret) {
		elog_writer_close(writer);
		return ret;
	}
	*result = writer;
	return 0;
}

void elog_writer_close(struct elog_writer *writer)
{
	if (!writer)
		return;
	elog_compressor_free(writer->compressor);
	elog_index_free(&writer->index);
	elog_records_free(writer);
	free(writer);
}

uint64_t elog_writer_size(const struct elog_writer *writer)
{
	return writer->size;
}

static int write_processes(struct elog_writer *writer)
{
	const struct elog_block_processes head = {
		.offset = htole32(sizeof(head)),
		.entry_size = htole32(sizeof(writer->processes[0])),
	};
	const struct span body[] = {
		{ &head, sizeof(head) },
		{ writer->processes, writer->process_count * sizeof(writer->processes[0]) },
	};
	uint64_t offset = writer->size;
	int ret;

	if (!writer->process_count)
		return writer->error;
	ret = write_block(writer, ELOG_BLOCK_PROCESSES, 0, body, 2);
	if (ret)
		return ret;
	writer->process_count = 0;
	elog_index_block(&writer->index, offset);
	return 0;
}

int elog_writer_process(struct elog_writer *writer, uint32_t pid,
			    uint32_t tid, const char *name)
{
	struct elog_block_process *process;
	int ret = writer->error;

	if (!ret && writer->process_count == PROCESSES_MAX)
		ret = write_processes(writer);
	if (ret)
		return ret;
	process = &writer->processes[writer->process_count++];
	memset(process, 0, sizeof(*process));
	process->pid = htole32(pid);
	process->tid = htole32(tid);
	memcpy(process->name, name, strnlen(name, sizeof(process->name) - 1));
	return 0;
}

/* Write the names that were added since the last time. */
static int write_instances(struct elog_writer *writer)
{
	struct elog_block_instance head = { .offset = htole32(sizeof(head)) };
	struct span body[] = { { &head, sizeof(head) }, { 0 } };
	const char *name;
	uint64_t offset;
	uint32_t id;
	int ret;

	while (writer->instances_written < writer->instances.count) {
		offset = writer->size;
		id = (uint32_t)writer->instances_written + 1;
		ret = elog_instances_name(&writer->instances, id, &name);
		if (ret)
			return ret;
		head.id = htole32(id);
		body[1].data = name;
		body[1].size = strlen(name);
		ret = write_block(writer, ELOG_BLOCK_INSTANCE, 0, body, 2);
		if (ret)
			return ret;
		elog_index_block(&writer->index, offset);
		writer->instances_written++;
	}
	return 0;
}

int elog_writer_store(struct elog_writer *writer, const struct writer_stream *stream,
		      const void *data, size_t size, uint64_t position,
		      const struct elog_index_info *info)
{
	const struct elog_block_data head = {
		.cpu = htole32(stream->cpu),
		.stream = htole32(stream->number),
		.position = htole64(position),
		.instance = htole32(stream->instance),
		.offset = htole32(sizeof(head)),
	};
	const struct span body[] = {
		{ &head, sizeof(head) },
		{ data, size },
	};
	int ret;

	ret = write_processes(writer);
	if (!ret)
		ret = write_instances(writer);
	if (ret)
		return ret;
	ret = write_block(writer, ELOG_BLOCK_DATA, ELOG_BLOCK_NATIVE, body, 2);
	if (!ret)
		elog_index_records(&writer->index, stream->cpu, stream->number, data, size,
				   position, info);
	return ret;
}

int elog_writer_store_schema(struct elog_writer *writer, uint32_t descriptor,
			     uint32_t provider_id, uint32_t instance, const char *text)
{
	const struct elog_block_schema head = {
		.descriptor = htole32(descriptor),
		.provider_id = htole32(provider_id),
		.instance = htole32(instance),
		.offset = htole32(sizeof(head)),
	};
	const struct span body[] = {
		{ &head, sizeof(head) },
		{ text, strlen(text) },
	};
	uint64_t offset = writer->size;
	int ret;

	ret = write_block(writer, ELOG_BLOCK_SCHEMA, 0, body, 2);
	if (ret)
		return ret;
	elog_index_block(&writer->index, offset);
	return elog_records_schema(writer, descriptor);
}

int elog_writer_schema(struct elog_writer *writer, uint32_t descriptor,
			   uint32_t provider_id, const char *text)
{
	return elog_writer_store_schema(writer, descriptor, provider_id, 0, text);
}

static bool is_valid_loss(const struct elog_writer_loss *loss)
{
	return !loss->reserved && loss->lost_count <= ELOG_LOST_CAUSES_MAX &&
	       (loss->cpu < ELOG_FILE_CPUS_MAX || loss->cpu == EVENTLOG_CPU_UNKNOWN) &&
	       (loss->stream < ELOG_FILE_STREAMS_MAX || loss->stream == ELOG_STREAM_NONE);
}

static bool has_losses(const struct writer_stream *stream)
{
	uint32_t i;

	for (i = 0; i < stream->lost_count; i++)
		if (stream->lost[i])
			return true;
	return false;
}

/*
 * Store the losses of all streams that have some, each with as many counts as the
 * block says. Return: the bytes, which the caller frees; NULL: none, or no memory.
 */
static unsigned char *put_losses(struct elog_writer *writer, struct elog_block_sync *head,
				 size_t *size)
{
	const struct writer_stream *stream;
	struct elog_block_loss loss = { 0 };
	uint32_t causes = 0, count = 0, i;
	unsigned char *bytes, *to;
	uint64_t lost;

	elog_map_for_each(&writer->streams, stream) {
		count += has_losses(stream);
		if (stream->lost_count > causes)
			causes = stream->lost_count;
	}
	*size = count * elog_block_entry_size(sizeof(loss), causes);
	head->count = htole32(count);
	head->causes = htole32(causes);
	head->offset = htole32(sizeof(*head));
	head->fixed_size = htole32(sizeof(loss));
	bytes = *size ? malloc(*size) : NULL;
	to = bytes;
	elog_map_for_each(&writer->streams, stream) {
		if (!bytes || !has_losses(stream))
			continue;
		loss.cpu = htole32(stream->cpu);
		loss.stream = htole32(stream->number);
		loss.instance = htole32(stream->instance);
		memcpy(to, &loss, sizeof(loss));
		to += sizeof(loss);
		for (i = 0; i < causes; i++) {
			lost = htole64(stream->lost[i]);
			memcpy(to, &lost, sizeof(lost));
			to += sizeof(lost);
		}
	}
	return bytes;
}

static int write_index(struct elog_writer *writer)
{
	uint64_t offset = writer->size;
	struct span body;
	int ret;

	body.data = elog_index_finish(&writer->index, offset, &body.size);
	ret = write_block(writer, ELOG_BLOCK_INDEX, 0, &body, 1);
	if (!ret)
		elog_index_written(&writer->index, offset);
	return ret;
}

void elog_writer_interval(struct elog_writer *writer, uint64_t bytes)
{
	writer->index.interval = bytes;
	writer->index.due = bytes;
}

/* The clocks at one time, ns. */
struct clocks {
	uint64_t monotonic;
	uint64_t boottime;
	uint64_t realtime;
};

static struct clocks read_clocks(const struct elog_writer *writer)
{
	return (struct clocks){
		.monotonic = elog_writer_time(writer),
		.boottime = clock_time(CLOCK_BOOTTIME, writer->ahead.boottime),
		.realtime = clock_time(CLOCK_REALTIME, 0),
	};
}

static int write_sync(struct elog_writer *writer, uint64_t time, const struct clocks *clocks,
		      const struct elog_writer_loss *losses, size_t count)
{
	struct elog_block_sync head = {
		.time = htole64(time),
		.monotonic = htole64(clocks->monotonic),
		.boottime = htole64(clocks->boottime),
		.realtime = htole64(clocks->realtime),
	};
	int64_t wall_offset = (int64_t)(clocks->realtime - clocks->monotonic);
	struct span body[2] = { { &head, sizeof(head) } };
	const struct writer_stream *stream;
	unsigned char *stored;
	uint64_t offset;
	size_t i;
	int ret;

	if (count > ELOG_FILE_STREAMS_MAX + 1)
		return -EINVAL;
	for (i = 0; i < count; i++)
		if (!is_valid_loss(&losses[i]))
			return -EINVAL;
	ret = elog_records_losses(writer, losses, count);
	if (!ret)
		ret = elog_records_flush(writer);
	if (!ret)
		ret = write_processes(writer);
	if (!ret)
		ret = write_instances(writer);
	if (ret)
		return ret;
	stored = put_losses(writer, &head, &body[1].size);
	if (!stored && body[1].size)
		return -ENOMEM;
	body[1].data = stored;
	offset = writer->size;
	ret = write_block(writer, ELOG_BLOCK_SYNC, 0, body, stored ? 2 : 1);
	free(stored);
	if (ret)
		return ret;
	elog_records_stated(writer);
	elog_map_for_each(&writer->streams, stream)
		elog_index_losses(&writer->index, stream->cpu, stream->number,
				  stream->lost, stream->lost_count);
	if (elog_index_sync(&writer->index, offset, writer->size, time,
			    wall_offset))
		ret = write_index(writer);
	/* It can follow a later SYNC as well. */
	return ret && elog_writer_retry(writer) == 1 ? 0 : ret;
}

int elog_writer_sync(struct elog_writer *writer, uint64_t time,
		     const struct elog_writer_loss *losses, size_t count)
{
	const struct clocks clocks = read_clocks(writer);

	return write_sync(writer, time, &clocks, losses, count);
}

int elog_writer_clock_set(struct elog_writer *writer, uint64_t time, int64_t wall_offset)
{
	struct clocks clocks = read_clocks(writer);

	clocks.boottime -= clocks.monotonic - time;
	clocks.monotonic = time;
	clocks.realtime = time + (uint64_t)wall_offset;
	return write_sync(writer, time, &clocks, NULL, 0);
}

static uint64_t sum_losses(const struct elog_writer *writer)
{
	const struct writer_stream *stream;
	uint64_t sum = 0;
	uint32_t i;

	elog_map_for_each(&writer->streams, stream)
		for (i = 0; i < stream->lost_count; i++)
			sum += stream->lost[i];
	return sum;
}

int elog_writer_end(struct elog_writer *writer, uint64_t lost)
{
	struct elog_block_end end = {
		.records = htole64(writer->events),
		.lost = htole64(lost == UINT64_MAX ? sum_losses(writer) : lost),
	};
	const struct span body = { &end, sizeof(end) };

	elog_index_end(&writer->index, writer->size, &end);
	return write_block(writer, ELOG_BLOCK_END, 0, &body, 1);
}
