// SPDX-License-Identifier: GPL-2.0-only
/*
 * One .elog file of a capture: see trace_writer.h.
 *
 * If the disk is full or fails, nothing is lost here: libelog keeps what it was given, and the
 * caller keeps the rest. With --rotate the oldest segment is removed; a file that fills the
 * disk alone becomes a segment first, if it has reached its size. Otherwise the
 * capture waits: until the next second all functions that write return -EAGAIN. A rotation
 * has several steps, and continues where it has failed.
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
#include "libelog/unexported/consumer.h"
#include "libelog/unexported/writer.h"
#include "record/segments.h"
#include "record/trace_writer.h"
#include "util/signals.h"

#define SPLIT_THREADS	64	/* whose names are remembered, in each of many files */
#define RETRY_NS	1000000000ULL	/* from one attempt to write to the next */

/* The next step of a rotation that is under way. */
enum rotation_step {
	ROTATION_NONE,
	ROTATION_END,		/* complete the file */
	ROTATION_RENAME,
	ROTATION_OPEN,		/* open the next file */
	ROTATION_BEGIN,		/* write its header */
};

struct trace_writer {
	struct writer *owner;
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
	enum rotation_step step;
	uint64_t rotated;	/* time of this rotation */
	struct elog_writer *before;	/* of the file before, until the next one has begun */
};

static const struct record_settings *settings_of(const struct trace_writer *trace)
{
	return trace->owner->settings;
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

/* Count what was written. */
static void account(struct trace_writer *trace)
{
	uint64_t size, events;

	if (!trace->writer)
		return;
	size = elog_writer_size(trace->writer);
	events = elog_writer_events(trace->writer);
	trace->owner->bytes += size - trace->size;
	trace->owner->records += events - trace->events;
	if (events && !trace->owner->age.begun)
		trace->owner->age.begun = boottime();
	trace->size = size;
	trace->events = events;
}

/* ------------------------------------------------------------------------
 * A disk that is full or fails
 */

static bool is_full(int error)
{
	return error == -ENOSPC || error == -EDQUOT;
}

/* Can the same be tried again later? */
static bool may_pass(struct trace_writer *trace, int error)
{
	if (trace->writer)
		return elog_writer_retry(trace->writer) == 1;
	return is_full(error) || error == -EFBIG || error == -EIO || error == -EROFS;
}

/* Wait, unless the capture ends. */
static void wait_for_disk(struct writer *owner, ssize_t *ret)
{
	if (owner->wait.final)
		return;
	owner->wait.error = (int)-*ret;
	owner->wait.retry = monotonic() + RETRY_NS;
	*ret = -EAGAIN;
}

static int continue_rotation(struct trace_writer *trace);

/*
 * The file has filled the disk before it could be rotated at a SYNC block: do it now. What
 * follows is not older than the last one. Not for several parts, which rotate together.
 * Return: true: try again now.
 */
static bool rotate_early(struct trace_writer *trace, ssize_t *ret)
{
	if (trace->step || trace->owner->parts || !trace_writer_is_full(trace))
		return false;
	*ret = trace_writer_rotate_early(trace, trace->synced);
	return !*ret;
}

/*
 * Remove one segment, but only one until something could be written, or for a second: a
 * reader may have it open, and then that makes no room. Return: true: try again now.
 */
static bool make_room(struct trace_writer *trace, ssize_t *ret)
{
	struct writer_wait *wait = &trace->owner->wait;
	struct segments *segments = trace->owner->segments;
	int removed;

	if (!segments || !is_full((int)*ret))
		return false;
	if (wait->made_room) {
		wait->made_room = false;
		return false;
	}
	removed = segments_remove(segments);
	if (!removed)
		return rotate_early(trace, ret);
	wait->made_room = removed > 0;
	wait->removed += wait->made_room;
	return wait->made_room;
}

/* Handle a result. Return: true: try again now; false: @ret is final, or -EAGAIN: wait. */
static bool try_again(struct trace_writer *trace, ssize_t *ret)
{
	struct writer_wait *wait = &trace->owner->wait;

	account(trace);
	if (*ret >= 0) {
		wait->made_room = false;
		return false;
	}
	if (*ret == -EAGAIN || *ret == -EBADMSG)
		return false;
	if (wait->possible && may_pass(trace, (int)*ret)) {
		wait->failures++;
		if (make_room(trace, ret))
			return true;
		if (*ret != -EAGAIN)
			wait_for_disk(trace->owner, ret);
	}
	if (*ret != -EAGAIN)
		check(trace, (int)*ret);
	return false;
}

static int rotate_on(struct trace_writer *trace);

/* Complete a rotation that is under way. Return: 0, -EAGAIN, or another negative errno. */
static int continue_rotation(struct trace_writer *trace)
{
	ssize_t ret = 0;

	if (trace->step) {
		do {
			ret = rotate_on(trace);
		} while (try_again(trace, &ret));
	}
	return (int)ret;
}

/* Return: 0; -EAGAIN wait; or another negative errno. */
static int get_ready(struct trace_writer *trace)
{
	return writer_waits(trace->owner) ? -EAGAIN : continue_rotation(trace);
}

/* ------------------------------------------------------------------------
 * Opening
 */

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
	if (settings_of(trace)->split)
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
	if (fd < 0)
		return fd;
	regular = !fstat(fd, &stat) && S_ISREG(stat.st_mode);
	if (more_flags & O_APPEND && regular)
		trace->present = (uint64_t)stat.st_size;
	if (isatty(fd)) {
		elog_error("-o writes binary data: not to a terminal");
		elog_hint("without -o events are printed; or: elog capture -o - | elog show -");
	} else if (settings_of(trace)->rotate_size && !regular) {
		elog_error("%s: --rotate is for a regular file", path);
	} else if (trace->owner->parts && !regular) {
		elog_error("%s: --writers is for a regular file", path);
	} else {
		trace->fd = fd;
		lock_file(fd);
		return 0;
	}
	trace->owner->explained = true;
	if (fd != STDOUT_FILENO)
		close(fd);
	return -EINVAL;
}

/* Print why a file cannot be opened or begun. Return: @ret. */
static int explain(struct trace_writer *trace, int ret)
{
	if (ret == -EOPNOTSUPP)
		elog_error("--compress is not available: elog was built without zstd");
	else if (!trace->owner->explained)
		elog_error("%s: %s", trace->path, strerror(-ret));
	trace->owner->explained = true;
	return ret;
}

static void put_command(char *const *command, struct elog_text *text)
{
	size_t i;

	for (i = 0; command[i]; i++) {
		if (i)
			elog_text_put(text, " ", 1);
		elog_text_string(text, command[i]);
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
	const struct writer *owner = trace->owner;
	const struct record_settings *settings = owner->settings;
	const struct live *live = owner->live;
	struct elog_writer_options file_options = {
		.size = sizeof(file_options),
		.flags = writer_is_raw(settings, live->spec, live->settings) ? ELOG_WRITER_LIVE : 0,
		.program = tool_version(),
		.capture = *owner->capture ? owner->capture : NULL,
		.files = trace->part ? 0 : owner->parts,
		.cpus = elog_consumer_rings(live->consumer) - elog_consumer_shards(live->consumer),
		.compression = settings->compress,
		.interrupted = gives_up,
		.context = trace,
		.start = start,
		.definition = get_definition,
		.processes = live->processes,
		.threads_max = settings->split ? SPLIT_THREADS : 0,
		.continues = before,
	};
	struct elog_text command = { 0 };
	int ret;

	if (live->settings->command) {
		put_command(live->settings->command, &command);
		file_options.command = command.data;
	}
	ret = elog_writer_open(&trace->writer, trace->fd, &file_options);
	elog_text_free(&command);
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

	if (trace->fd == STDOUT_FILENO || fstat(trace->fd, &stat) || !S_ISREG(stat.st_mode))
		return 0;
	if (!trace->part)
		parts_remove(trace->path, trace->owner->parts > 1 ? trace->owner->parts : 1);
	return ftruncate(trace->fd, 0) ? -errno : 0;
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
		trace->path = parts_name(path, part);
		trace->append = append;
	}
	if (trace && trace->path)
		ret = open_file(trace, append ? O_APPEND : 0);
	if (!ret) {
		*result = trace;
		return 0;
	}
	if (!trace || !trace->path)
		elog_error("out of memory");
	/* The owner waits, and tries again. */
	else if (!writer->wait.possible || !may_pass(trace, ret))
		explain(trace, ret);
	trace_writer_close(trace);
	return ret;
}

/*
 * When the file was begun that is now continued, as CLOCK_BOOTTIME ns: renaming does not change
 * the time of its creation. A file system that has none knows when it was written last.
 */
static uint64_t begun_before(int fd)
{
	const uint64_t now = boottime();
	struct statx stat;
	int64_t age;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME | STATX_MTIME, &stat))
		return now;
	if (!(stat.stx_mask & STATX_BTIME))
		stat.stx_btime = stat.stx_mtime;
	age = realtime_now() - (int64_t)stat.stx_btime.tv_sec * 1000000000 - stat.stx_btime.tv_nsec;
	/* At least 1: 0 is a file without events. */
	return age <= 0 ? now : (uint64_t)age < now ? now - (uint64_t)age : 1;
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
	if (!ret)
		writer->files++;
	else if (!writer->wait.possible || !may_pass(trace, ret))
		explain(trace, ret);
	if (!ret && trace->present)
		writer->age.begun = begun_before(trace->fd);
	return ret;
}

int trace_writer_open(struct trace_writer **result, struct writer *writer, const char *path,
		      bool append)
{
	struct trace_writer *trace = NULL;
	bool explained = writer->explained;
	ssize_t ret;

	if (writer_waits(writer))
		return -EAGAIN;
	ret = trace_writer_create(&trace, writer, path, 0, append);
	if (!ret)
		ret = trace_writer_begin(trace);
	if (!ret) {
		*result = trace;
		return 0;
	}
	if (trace)
		trace_writer_close(trace);
	/* If the reason was not printed, it may pass. */
	if (writer->wait.possible && writer->explained == explained) {
		writer->wait.failures++;
		wait_for_disk(writer, &ret);
		if (ret != -EAGAIN && !writer->failed_path)
			writer->failed_path = strdup(path);
	}
	return (int)ret;
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
	elog_writer_close(trace->before);
	elog_writer_close(trace->writer);
	free(trace->path);
	free(trace);
}

ssize_t trace_writer_raw(struct trace_writer *trace, unsigned int cpu, uint32_t stream,
			 const void *data, size_t size, uint64_t position,
			 const struct elog_raw_meta *meta)
{
	ssize_t ret = get_ready(trace);

	if (ret)
		return ret;
	trace->dirty = true;
	do {
		ret = meta ? elog_writer_raw_meta(trace->writer, cpu, stream, data, size,
						  position, meta) :
			     elog_writer_raw(trace->writer, cpu, stream, data, size, position);
	} while (try_again(trace, &ret));
	return ret;
}

int trace_writer_add(struct trace_writer *trace, const struct elog_item *item)
{
	ssize_t ret = get_ready(trace);

	if (ret)
		return (int)ret;
	trace->dirty = true;
	do {
		ret = elog_writer_add(trace->writer, item);
	} while (try_again(trace, &ret));
	return (int)ret;
}

static int sync_clocks(struct trace_writer *trace, uint64_t time,
		       const struct elog_writer_loss *losses, size_t count)
{
	struct clock_steps *steps = trace->owner->live->steps;
	struct clock_step step;
	int ret = 0;

	while (!ret && clock_steps_next(steps, trace->synced, time, &step)) {
		ret = elog_writer_clock_set(trace->writer, step.time, step.offset);
		if (!ret)
			trace->synced = step.time;
	}
	if (!ret)
		ret = elog_writer_sync(trace->writer, time, losses, count);
	if (!ret)
		trace->synced = time;
	return ret;
}

int trace_writer_sync(struct trace_writer *trace, uint64_t time,
		      const struct elog_writer_loss *losses, size_t count)
{
	ssize_t ret = get_ready(trace);

	if (ret)
		return (int)ret;
	do {
		ret = sync_clocks(trace, time, losses, count);
	} while (try_again(trace, &ret));
	if (!ret)
		trace->dirty = false;
	return (int)ret;
}

bool trace_writer_dirty(const struct trace_writer *trace)
{
	return trace->dirty;
}

int trace_writer_end(struct trace_writer *trace, uint64_t lost)
{
	ssize_t ret = get_ready(trace);

	if (ret)
		return (int)ret;
	do {
		ret = elog_writer_end(trace->writer, lost);
	} while (try_again(trace, &ret));
	return ret ? (int)ret : check(trace, close_file(trace));
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
	uint64_t most = settings_of(trace)->rotate_size;

	return most && trace->events && trace_writer_size(trace) >= most;
}

/* The next file may have got a torn header: write it again from the start. */
static int begin_next(struct trace_writer *trace)
{
	if (ftruncate(trace->fd, 0) || lseek(trace->fd, 0, SEEK_SET) < 0)
		return -errno;
	return begin_segment(trace, trace->before, trace->rotated);
}

/* Do the next step. Return: 0 or a negative errno. */
static int rotate_step(struct trace_writer *trace)
{
	int ret;

	switch (trace->step) {
	case ROTATION_END:
		ret = elog_writer_end(trace->writer, UINT64_MAX);
		if (ret)
			return ret;
		account(trace);
		/* The file cannot be written again: an error of this is reported, and no more. */
		ret = close_file(trace);
		if (ret)
			elog_error("%s: %s", trace->path, strerror(-ret));
		trace->before = trace->writer;
		trace->writer = NULL;
		trace->step = ROTATION_RENAME;
		return 0;
	case ROTATION_RENAME:
		ret = segments_rotate(trace->owner->segments, trace->part);
		if (!ret)
			trace->step = ROTATION_OPEN;
		return ret;
	case ROTATION_OPEN:
		/* A file that has the name now is not ours. */
		ret = open_file(trace, O_EXCL);
		if (!ret)
			trace->step = ROTATION_BEGIN;
		return ret;
	default:
		ret = begin_next(trace);
		if (ret)
			return ret;
		elog_writer_close(trace->before);
		trace->before = NULL;
		trace->owner->age.begun = 0;
		trace->step = ROTATION_NONE;
		return 0;
	}
}

static int rotate_on(struct trace_writer *trace)
{
	int ret = 0;

	while (!ret && trace->step)
		ret = rotate_step(trace);
	return ret;
}

bool trace_writer_rotates(const struct trace_writer *trace)
{
	return trace->step != ROTATION_NONE;
}

int trace_writer_rotate_early(struct trace_writer *trace, uint64_t time)
{
	trace->step = ROTATION_END;
	trace->rotated = time;
	return continue_rotation(trace);
}

int trace_writer_rotate(struct trace_writer *trace, uint64_t time)
{
	int ret = get_ready(trace);

	if (ret)
		return ret;
	trace->step = ROTATION_END;
	trace->rotated = time;
	return get_ready(trace);
}
