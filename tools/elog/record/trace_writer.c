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

#include "input/parts.h"
#include "record/trace_writer.h"
#include "util/signals.h"

#define SPLIT_THREADS	64	/* whose names are remembered, in each of many files */

struct trace_writer {
	struct writer *owner;
	char *base;		/* the path without the number of a part */
	char *path;
	unsigned int part;	/* of the files that are written at the same time */
	bool append;		/* keep what the file holds */
	int fd;
	struct elog_writer *writer;
	uint64_t present;	/* bytes that the file held before */
	uint64_t size;		/* bytes that @owner has counted */
	uint64_t events;	/* likewise */
	uint64_t synced;	/* time of the last SYNC block */
	bool dirty;
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
	const uint64_t size = elog_writer_size(trace->writer);
	const uint64_t events = elog_writer_events(trace->writer);

	trace->owner->bytes += size - trace->size;
	trace->owner->records += events - trace->events;
	trace->size = size;
	trace->events = events;
	return check(trace, ret);
}

/*
 * FILE is number 0, and the files of other parts have their number behind that: FILE.2-w1.
 * Return: the name, which the caller frees; NULL: no memory.
 */
static char *numbered(const struct trace_writer *trace, unsigned int number,
		      unsigned int part)
{
	char *first, *name;

	if (!number)
		return parts_name(trace->base, part);
	if (asprintf(&first, "%s.%u", trace->base, number) < 0)
		return NULL;
	name = parts_name(first, part);
	free(first);
	return name;
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

/*
 * The lock tells readers that the capture still writes the file. It ends with the process,
 * whatever ends that. Others may share stdout, and would keep the lock.
 */
static void lock_file(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fd != STDOUT_FILENO)
		fcntl(fd, F_OFD_SETLK, &lock);
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
	/* If that is a pipe, a thread that handles no signals would wait for its reader. */
	if (trace->part)
		flags |= O_NONBLOCK;
	if (!strcmp(path, "-")) {
		fd = STDOUT_FILENO;
	} else if (flags & O_EXCL) {
		fd = open(path, flags, 0600);
		fd = fd < 0 ? -errno : fd;
	} else {
		fd = open_waiting(path, flags);
	}
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
	} else if (trace->owner->parts && !regular) {
		elog_error("%s: --writers is for a regular file", path);
	} else {
		trace->fd = fd;
		lock_file(fd);
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

/* The schema of an event that the file does not have yet. */
static int get_definition(void *context, struct eventlog_describe *request, char **text)
{
	struct trace_writer *trace = context;

	return elog_consumer_definition(live_current(trace->owner->live), request, text);
}

/* Start a file, or one that continues the file of @before. */
static int begin_segment(struct trace_writer *trace, const struct elog_writer *before,
			 uint64_t start)
{
	const struct options *options = options_of(trace);
	const struct writer *owner = trace->owner;
	struct elog_writer_options file_options = {
		.size = sizeof(file_options),
		.flags = writer_is_raw(options) ? ELOG_WRITER_LIVE : 0,
		.program = tool_version(),
		.capture = *owner->capture ? owner->capture : NULL,
		.files = trace->part ? 0 : owner->parts,
		.cpus = elog_consumer_rings(owner->live->consumer) -
			elog_consumer_shards(owner->live->consumer),
		.compression = options->compress,
		.interrupted = gives_up,
		.context = trace,
		.start = start,
		.definition = get_definition,
		.processes = owner->live->processes,
		.threads_max = options->split ? SPLIT_THREADS : 0,
		.continues = before,
	};
	struct elog_text command = { 0 };
	int ret;

	if (options->separated) {
		put_command(options, &command);
		file_options.command = command.data;
	}
	ret = elog_writer_open(&trace->writer, trace->fd, &file_options);
	elog_text_free(&command);
	if (ret == -EOPNOTSUPP)
		elog_error("--compress is not available: elog was built without zstd");
	else if (ret)
		elog_error("%s: %s", trace->path, strerror(-ret));
	trace->size = 0;
	trace->events = 0;
	trace->synced = record_time(monotonic());
	return ret;
}

/*
 * Empty the file, and remove the other files of the capture that it belonged to. Not before
 * it is open: if it cannot be opened, that capture stays whole.
 */
static int replace_file(struct trace_writer *trace)
{
	struct stat stat;
	int error;

	if (trace->fd == STDOUT_FILENO || fstat(trace->fd, &stat) || !S_ISREG(stat.st_mode))
		return 0;
	if (!trace->part)
		parts_remove(trace->path, trace->owner->parts > 1 ? trace->owner->parts : 1);
	if (!ftruncate(trace->fd, 0))
		return 0;
	error = errno;
	elog_error("%s: %s", trace->path, strerror(error));
	return -error;
}

int trace_writer_create(struct trace_writer **result, struct writer *writer,
			const char *path, unsigned int part, bool append)
{
	struct trace_writer *trace = calloc(1, sizeof(*trace));
	int ret = -ENOMEM;

	if (trace) {
		trace->owner = writer;
		trace->fd = -1;
		trace->part = part;
		trace->base = strdup(path);
		trace->path = trace->base ? numbered(trace, 0, part) : NULL;
	}
	if (!trace || !trace->path)
		elog_error("out of memory");
	else
		ret = open_file(trace, append ? O_APPEND : 0);
	if (ret) {
		writer->explained = true;
		trace_writer_close(trace);
		return ret;
	}
	trace->append = append;
	*result = trace;
	return 0;
}

int trace_writer_begin(struct trace_writer *trace)
{
	struct writer *writer = trace->owner;
	int ret = trace->append ? 0 : replace_file(trace);

	/* A pipe may be full. */
	signals_let_in();
	if (!ret)
		ret = begin_segment(trace, NULL, writer->start);
	signals_hold();
	if (ret)
		writer->explained = true;
	else
		writer->files++;
	return ret;
}

int trace_writer_open(struct trace_writer **result, struct writer *writer, const char *path,
		      bool append)
{
	struct trace_writer *trace;
	int ret = trace_writer_create(&trace, writer, path, 0, append);

	if (ret)
		return ret;
	ret = trace_writer_begin(trace);
	if (ret)
		trace_writer_close(trace);
	else
		*result = trace;
	return ret;
}

static int close_file(struct trace_writer *trace)
{
	int fd = trace->fd;

	trace->fd = -1;
	if (fd <= STDERR_FILENO)
		return 0;
	/* Some file systems report only now that the disk is full. */
	return close(fd) && errno != EINTR ? -errno : 0;
}

void trace_writer_close(struct trace_writer *trace)
{
	if (!trace)
		return;
	close_file(trace);
	elog_writer_close(trace->writer);
	free(trace->base);
	free(trace->path);
	free(trace);
}

/* Count what was written, or remember the error. Return: @ret. */
static ssize_t account_raw(struct trace_writer *trace, ssize_t ret)
{
	trace->dirty = true;
	if (ret < 0 && ret != -EBADMSG)
		return account(trace, (int)ret);
	account(trace, 0);
	return ret;
}

ssize_t trace_writer_raw(struct trace_writer *trace, unsigned int cpu, uint32_t stream,
			 const void *data, size_t size, uint64_t position)
{
	return account_raw(trace, elog_writer_raw(trace->writer, cpu, stream, data, size,
						  position));
}

ssize_t trace_writer_raw_meta(struct trace_writer *trace, unsigned int cpu, uint32_t stream,
			      const void *data, size_t size, uint64_t position,
			      const struct elog_raw_meta *meta)
{
	return account_raw(trace, elog_writer_raw_meta(trace->writer, cpu, stream, data, size,
						       position, meta));
}

int trace_writer_add(struct trace_writer *trace, const struct elog_item *item)
{
	trace->dirty = true;
	return account(trace, elog_writer_add(trace->writer, item));
}

int trace_writer_sync(struct trace_writer *trace, uint64_t time,
		      const struct elog_writer_loss *losses, size_t count)
{
	struct clock_steps *steps = trace->owner->live->steps;
	struct clock_step step;
	int ret = 0;

	trace->dirty = false;
	while (!ret && clock_steps_next(steps, trace->synced, time, &step)) {
		ret = elog_writer_clock_set(trace->writer, step.time, step.offset);
		trace->synced = step.time;
	}
	trace->synced = time;
	if (!ret)
		ret = elog_writer_sync(trace->writer, time, losses, count);
	return account(trace, ret);
}

bool trace_writer_dirty(const struct trace_writer *trace)
{
	return trace->dirty;
}

int trace_writer_end(struct trace_writer *trace, uint64_t lost)
{
	int ret;

	ret = account(trace, elog_writer_end(trace->writer, lost));
	return ret ? ret : check(trace, close_file(trace));
}

/* ------------------------------------------------------------------------
 * Rotation
 */

uint64_t trace_writer_size(const struct trace_writer *trace)
{
	return trace->present + (trace->writer ? elog_writer_size(trace->writer) : 0);
}

bool trace_writer_is_full(const struct trace_writer *trace)
{
	uint64_t most = options_of(trace)->rotate_size;

	return most && trace->events && trace_writer_size(trace) >= most;
}

/*
 * Rename a file to what it is called after a rotation.
 *
 * Return: 1; 0 there is no such file; or a negative errno.
 */
static int rename_next(const struct trace_writer *trace, unsigned int number, unsigned int part)
{
	char *from = numbered(trace, number, part), *to = numbered(trace, number + 1, part);
	int ret = 1;

	if (!from || !to)
		ret = -ENOMEM;
	else if (rename(from, to))
		ret = errno == ENOENT ? 0 : -errno;
	free(from);
	free(to);
	return ret;
}

/*
 * An earlier capture may have had more parts. Its files must keep their numbers in common,
 * or go together.
 *
 * Return: 1; 0 there are no files of this part; or a negative errno.
 */
static int put_aside_old(const struct trace_writer *trace, unsigned int part)
{
	unsigned int number = options_of(trace)->rotate_keep;
	char *last = numbered(trace, number, part);
	int ret = last ? 0 : -ENOMEM;
	bool found;

	found = last && !unlink(last);
	free(last);
	while (ret >= 0 && --number) {
		ret = rename_next(trace, number, part);
		found |= ret > 0;
	}
	return ret < 0 ? ret : found;
}

/* FILE becomes FILE.1, that FILE.2 and so on, up to FILE.KEEP, which is gone. */
static int put_aside(const struct trace_writer *trace)
{
	unsigned int part = trace->owner->parts ? trace->owner->parts : 1;
	unsigned int number = options_of(trace)->rotate_keep;
	int ret = 0;

	while (ret >= 0 && number--)
		ret = rename_next(trace, number, trace->part);
	if (ret < 0 || trace->part)
		return ret < 0 ? ret : 0;
	/* Part 0 does it for all that the capture does not have. */
	do {
		ret = put_aside_old(trace, part++);
	} while (ret > 0);
	return ret;
}

int trace_writer_rotate(struct trace_writer *trace, uint64_t time)
{
	struct elog_writer *before = trace->writer;
	int ret;

	ret = trace_writer_end(trace, UINT64_MAX);
	if (!ret)
		ret = check(trace, put_aside(trace));
	if (ret)
		return ret;
	trace->writer = NULL;
	/* A file that has the name now is not ours. */
	ret = open_file(trace, O_EXCL);
	if (!ret)
		ret = begin_segment(trace, before, time);
	elog_writer_close(before);
	if (ret) {
		trace->owner->explained = true;
		return ret;
	}
	return account(trace, 0);
}
