// SPDX-License-Identifier: GPL-2.0-only
/*
 * One .elog file of a capture: see trace_writer.h.
 *
 * If the disk is full or fails, nothing is lost here: libelog keeps what it was given, and the
 * caller keeps the rest. With --rotate the oldest segment is removed; a file that fills the
 * disk alone becomes a segment first, if it has reached its size. Otherwise the
 * capture waits: until the next second all functions that write return -EAGAIN. A rotation
 * has several steps, and continues where it has failed.
 *
 * Others may change the file meanwhile. If it was truncated, or others have written to it, a new
 * part begins at its end; if it was removed, a new file begins. The events that went with it
 * are counted. A file that has its name now, and one that was overwritten by what is no recording,
 * are not touched: the capture waits until it is away.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input/parts.h"
#include "libelog/unexported/consumer.h"
#include "libelog/unexported/writer.h"
#include "record/existing.h"
#include "record/segments.h"
#include "record/trace_writer.h"
#include "util/output_file.h"
#include "util/signals.h"

#define SPLIT_THREADS	64	/* whose names are remembered, in each of many files */
#define RETRY_NS	1000000000ULL	/* from one attempt to write to the next */
#define HEAD_BYTES	32	/* of a block's header: see elog(5) */
#define TORN_BYTES	16384	/* a first block is smaller */

/* The next step of a rotation that is under way. */
enum rotation_step {
	ROTATION_NONE,
	ROTATION_END,		/* complete the file */
	ROTATION_LEAVE,		/* others have changed it: wait until it may become a segment */
	ROTATION_CLOSE,
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
	int lock;		/* stdout, opened again: others share its lock; or -1 */
	struct stat file;	/* what it is, if it is a regular file that has a name */
	struct elog_writer *writer;
	uint64_t present;	/* bytes that the file held before */
	bool keeps;		/* these bytes, if the part has to begin again */
	bool torn;		/* the beginning of an empty file could not be written */
	unsigned char head[HEAD_BYTES];	/* of the part, to know it again */
	bool has_head;		/* it could be read */
	uint64_t held;		/* events in it, of this capture */
	uint64_t size;		/* bytes that @owner has counted */
	uint64_t events;	/* likewise */
	uint64_t synced;	/* time of the last SYNC block */
	bool dirty;
	enum rotation_step step;
	bool again;		/* the file begins again, which is no rotation */
	uint64_t rotated;	/* time of this rotation */
	uint64_t start;		/* that the file states */
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
	trace->held += events - trace->events;
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

/*
 * Can the same be tried again later? A directory may come back, files may be closed, permissions
 * change.
 */
static bool may_pass(struct trace_writer *trace, int error)
{
	if (trace->writer)
		return elog_writer_retry(trace->writer) == 1;
	return error != -EINTR && error != -EPIPE && error != -ELOOP;
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

static bool begin_again(struct trace_writer *trace, ssize_t *ret);

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
	if (*ret == -ESTALE && wait->possible && trace->writer && !trace->step)
		return begin_again(trace, ret);
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

/*
 * The lock keeps other captures away, and tells readers that this one still writes the file.
 * Return: 0 or -EBUSY.
 */
static int lock_file(struct trace_writer *trace)
{
	int fd = trace->fd;

	if (fd == STDOUT_FILENO) {
		trace->lock = open("/proc/self/fd/1", O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		fd = trace->lock;
	}
	return fd < 0 ? 0 : output_lock(fd, trace->path);
}

static int close_file(struct trace_writer *trace);

static int open_file(struct trace_writer *trace, int more_flags)
{
	/* A block must never get over the bytes of others, nor behind a hole. */
	int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | more_flags;
	const char *path = trace->path;
	struct stat stat = { 0 };
	bool regular;
	int fd, ret = -EINVAL;

	/* Others can predict the names of these files. */
	if (settings_of(trace)->split)
		flags |= O_NOFOLLOW;
	/* If that is a pipe, a thread that handles no signals would wait for its reader. */
	if (trace->part)
		flags |= O_NONBLOCK;
	/* A new file is for its owner only: events may contain secrets. */
	if (!strcmp(path, "-")) {
		fd = STDOUT_FILENO;
	} else if (flags & O_EXCL) {
		fd = open(path, flags, 0600);
		fd = fd < 0 ? -errno : fd;
	} else {
		fd = signals_open(path, flags, 0600);
	}
	if (fd < 0)
		return fd;
	regular = !fstat(fd, &stat) && S_ISREG(stat.st_mode);
	if (isatty(fd)) {
		elog_error("-o writes binary data: not to a terminal");
		elog_hint("without -o events are printed; or: elog capture -o - | elog show -");
	} else if (settings_of(trace)->rotate_size && !regular) {
		elog_error("%s: --rotate is for a regular file", path);
	} else if (trace->owner->parts && !regular) {
		elog_error("%s: --writers is for a regular file", path);
	} else {
		trace->fd = fd;
		ret = lock_file(trace);
		if (!ret && regular && !(flags & O_EXCL))
			ret = existing_check(trace->owner, path, trace->part, fd, trace->append);
		trace->present = 0;
		trace->keeps = false;
		trace->held = 0;
		trace->file = (struct stat){ 0 };
		if (!ret && regular && strcmp(path, "-") != 0)
			trace->file = stat;
		if (!ret)
			return 0;
	}
	trace->owner->explained = true;
	trace->fd = fd;
	close_file(trace);
	return ret;
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

/*
 * Read the header of the part's first block, which has checksums.
 *
 * Return: the bytes that are there; or a negative errno: they cannot be read now.
 */
static int read_head(const struct trace_writer *trace, unsigned char head[HEAD_BYTES])
{
	int fd, ret;

	if (!trace->file.st_ino)
		return 0;
	fd = output_reopen(trace->fd);
	if (fd < 0)
		return -errno;
	ret = (int)pread(fd, head, HEAD_BYTES, (off_t)trace->present);
	ret = ret < 0 ? -errno : ret;
	close(fd);
	return ret;
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
	trace->start = start;
	if (!ret)
		trace->has_head = read_head(trace, trace->head) == HEAD_BYTES;
	return ret;
}

/* Does @path name the file that was opened? Return: 1; 0 another file or none has the name. */
static int has_name(const struct trace_writer *trace, const char *path)
{
	struct stat now;

	return !stat(path, &now) && now.st_ino == trace->file.st_ino &&
	       now.st_dev == trace->file.st_dev;
}

/*
 * A new recording begins in a file of its own. Not before all files are open: if one cannot be
 * opened, an earlier capture stays whole. Return: 0 or a negative errno.
 */
static int replace_file(struct trace_writer *trace)
{
	struct stat stat;
	int ret;

	if (fstat(trace->fd, &stat) || !S_ISREG(stat.st_mode))
		return 0;
	if (existing_is_kept(trace->path, trace->fd, trace->append)) {
		trace->present = (uint64_t)stat.st_size;
		return 0;
	}
	ret = existing_rename(trace->owner, &trace->path, trace->part);
	if (ret)
		return ret;
	close_file(trace);
	return open_file(trace, O_EXCL);
}

int trace_writer_create(struct trace_writer **result, struct writer *writer,
			const char *path, unsigned int part, bool append)
{
	struct trace_writer *trace = calloc(1, sizeof(*trace));
	int ret = -ENOMEM;

	if (trace) {
		trace->owner = writer;
		trace->fd = -1;
		trace->lock = -1;
		trace->part = part;
		trace->path = parts_name(path, part);
		trace->append = append;
	}
	if (trace && trace->path)
		ret = open_file(trace, 0);
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
	struct stat written;
	struct statx stat;
	int64_t age;

	if (fstat(fd, &written))
		return now;
	/* A sandbox may deny statx(2). */
	if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &stat) || !(stat.stx_mask & STATX_BTIME)) {
		stat.stx_btime.tv_sec = written.st_mtim.tv_sec;
		stat.stx_btime.tv_nsec = (uint32_t)written.st_mtim.tv_nsec;
	}
	age = realtime_now() - (int64_t)stat.stx_btime.tv_sec * 1000000000 - stat.stx_btime.tv_nsec;
	/* At least 1: 0 is a file without events. */
	return age <= 0 ? now : (uint64_t)age < now ? now - (uint64_t)age : 1;
}

int trace_writer_begin(struct trace_writer *trace)
{
	struct writer *writer = trace->owner;
	int ret = replace_file(trace);

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

/* ------------------------------------------------------------------------
 * What others do to the file
 */

/* Return: -ESTALE: the file has no name any more, and what is written to it is gone; or 0. */
static int check_removed(const struct trace_writer *trace)
{
	struct stat now;

	if (!trace->file.st_ino || trace->fd < 0)
		return 0;
	return fstat(trace->fd, &now) ? -errno : now.st_nlink ? 0 : -ESTALE;
}

/* Say what was done to it, and count the events that it may have held. */
static void see_change(struct trace_writer *trace)
{
	const char *change = "has written to it", *next = "a new part";
	unsigned char head[HEAD_BYTES];
	struct stat now = { 0 };
	uint64_t gone = 0;
	int size;

	account(trace);
	size = read_head(trace, head);
	if (fstat(trace->fd, &now) || !now.st_nlink) {
		change = "has removed it";
		next = "a new file";
		gone = trace->held;
	} else if ((uint64_t)now.st_size < trace_writer_size(trace)) {
		change = "has truncated it";
		gone = trace->held;
	} else if (trace->has_head && size == HEAD_BYTES && memcmp(head, trace->head, HEAD_BYTES)) {
		change = "has overwritten it";
		gone = trace->held;
	}
	if (size >= 0 && output_kind(trace->fd) == OUTPUT_FOREIGN && now.st_nlink)
		next = "when this is renamed or removed, a new file";
	trace->held -= gone;
	trace->owner->gone += gone;
	elog_error("%s: another program %s: %s%" PRIu64 " event%s gone; %s begins", trace->path,
		   change, gone ? "up to " : "", gone, gone == 1 ? " is" : "s are", next);
}

/* Let others have the file, and begin a new one. */
static void leave_file(struct trace_writer *trace)
{
	close_file(trace);
	trace->file = (struct stat){ 0 };
	trace->step = ROTATION_OPEN;
}

/* Begin a new part of the file, or a new file if it was removed. As try_again(). */
static bool begin_again(struct trace_writer *trace, ssize_t *ret)
{
	const bool removed = check_removed(trace);

	see_change(trace);
	trace->before = trace->writer;
	trace->writer = NULL;
	trace->keeps = true;
	trace->again = true;
	trace->step = ROTATION_BEGIN;
	/* The files of a capture with several writers have the same start. */
	trace->rotated = trace->start;
	if (removed)
		leave_file(trace);
	*ret = continue_rotation(trace);
	return !*ret;
}

/* Has another file that is not empty the name of this one? Renaming must not touch it. */
static bool is_taken(const struct trace_writer *trace)
{
	struct stat now;

	return !stat(trace->path, &now) && !has_name(trace, trace->path) &&
	       (!S_ISREG(now.st_mode) || now.st_size);
}

/* Say which name it has now, if others have renamed it. */
static void say_renamed(const struct trace_writer *trace)
{
	char path[40], name[PATH_MAX];
	ssize_t size;

	if (!trace->file.st_ino || has_name(trace, trace->path))
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", trace->fd);
	size = readlink(path, name, sizeof(name) - 1);
	if (size <= 0)
		return;
	name[size] = '\0';
	elog_error("%s: another program has renamed it: the events are in %s", trace->path, name);
}

static int close_file(struct trace_writer *trace)
{
	int fd = trace->fd;

	if (trace->lock >= 0)
		close(trace->lock);
	trace->lock = -1;
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
		ret = check_removed(trace) ? : sync_clocks(trace, time, losses, count);
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
		ret = check_removed(trace) ? : elog_writer_end(trace->writer, lost);
	} while (try_again(trace, &ret));
	if (!ret)
		say_renamed(trace);
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

/* Go on behind what others have left of the file. Return: 0 or a negative errno. */
static int find_end(struct trace_writer *trace)
{
	unsigned char head[HEAD_BYTES];
	const int size = read_head(trace, head);
	const enum output_kind kind = output_kind(trace->fd);
	/* There is only the beginning of the first block, unless others have written it. */
	const bool torn = trace->torn || (trace->has_head && !trace->present && size > 0 &&
					  !memcmp(head, trace->head, (size_t)size));
	struct stat now;

	if (size < 0 && has_name(trace, trace->path))
		return size;
	if (kind == OUTPUT_FOREIGN)
		return -EEXIST;
	if (fstat(trace->fd, &now))
		return -errno;
	if (torn && kind == OUTPUT_UNREADABLE && now.st_size < TORN_BYTES) {
		if (ftruncate(trace->fd, 0))
			return -errno;
		now.st_size = 0;
	}
	trace->present = (uint64_t)now.st_size;
	return lseek(trace->fd, 0, SEEK_END) < 0 ? -errno : 0;
}

static int begin_next(struct trace_writer *trace)
{
	struct stat now;
	int ret = 0;

	if (trace->keeps)
		ret = find_end(trace);
	/* The next file may have got a torn header: write it again from the start. */
	else if (fstat(trace->fd, &now) || (now.st_size && ftruncate(trace->fd, 0)) ||
		 lseek(trace->fd, 0, SEEK_SET) < 0)
		ret = -errno;
	if (ret)
		return ret;
	ret = begin_segment(trace, trace->before, trace->rotated);
	trace->torn = ret && !trace->present;
	return ret;
}

/* Is the file that was ended there, although it was not when it should have been renamed? */
static bool is_back(const struct trace_writer *trace)
{
	struct stat now;

	return trace->file.st_ino && has_name(trace, trace->path) && !stat(trace->path, &now) &&
	       now.st_size == trace->file.st_size;
}

/* Do the next step. Return: 0 or a negative errno. */
static int rotate_step(struct trace_writer *trace)
{
	int ret;

	switch (trace->step) {
	case ROTATION_END:
		ret = elog_writer_end(trace->writer, UINT64_MAX);
		if (ret && ret != -ESTALE)
			return ret;
		if (ret)
			see_change(trace);
		else
			say_renamed(trace);
		account(trace);
		trace->file.st_size = (off_t)trace_writer_size(trace);
		trace->before = trace->writer;
		trace->writer = NULL;
		trace->step = ret ? ROTATION_LEAVE : ROTATION_CLOSE;
		return 0;
	case ROTATION_LEAVE:
		/*
		 * What is no recording must not become a segment, which is removed later. If it has
		 * another name, the rotation goes on without it: other parts count it, too.
		 */
		if (output_kind(trace->fd) == OUTPUT_FOREIGN && has_name(trace, trace->path))
			return -EEXIST;
		__attribute__((fallthrough));
	case ROTATION_CLOSE:
		/* The file cannot be written again: an error of this is reported, and no more. */
		ret = close_file(trace);
		if (ret)
			elog_error("%s: %s", trace->path, strerror(-ret));
		trace->step = ROTATION_RENAME;
		return 0;
	case ROTATION_RENAME:
		ret = is_taken(trace) ? -EEXIST :
		      segments_rotate(trace->owner->segments, trace->part);
		if (!ret)
			trace->step = ROTATION_OPEN;
		return ret;
	case ROTATION_OPEN:
		/* A file that has the name now is not ours, unless its directory is back. */
		ret = open_file(trace, O_EXCL);
		if (!ret)
			trace->step = ROTATION_BEGIN;
		if (ret != -EEXIST || !trace->owner->segments || !is_back(trace))
			return ret;
		trace->step = ROTATION_RENAME;
		return 0;
	default:
		ret = begin_next(trace);
		if (ret == -EEXIST && trace->file.st_ino && !has_name(trace, trace->path)) {
			leave_file(trace);
			return 0;
		}
		if (ret)
			return ret;
		elog_writer_close(trace->before);
		trace->before = NULL;
		trace->owner->age.begun = 0;
		trace->step = ROTATION_NONE;
		trace->again = false;
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
	return trace->step != ROTATION_NONE && !trace->again;
}

int trace_writer_rotate_early(struct trace_writer *trace, uint64_t time)
{
	int ret = continue_rotation(trace);

	if (ret)
		return ret;
	trace->step = ROTATION_END;
	trace->rotated = time;
	return continue_rotation(trace);
}

int trace_writer_rotate(struct trace_writer *trace, uint64_t time)
{
	return get_ready(trace) ? : trace_writer_rotate_early(trace, time);
}
