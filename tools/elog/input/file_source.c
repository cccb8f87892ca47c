// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events of files: see source_state.h. With --follow there is one file, and its reader
 * goes on in the next one when elog capture --rotate renames it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input/merge.h"
#include "input/parts.h"
#include "nats/stream.h"
#include "util/signals.h"

#define NEXT_MAX	10000	/* limit of the numbers of --rotate */
#define WAIT_MS		10	/* for non-blocking files, when there are several */
#define NEXT_TRIES	20	/* a millisecond each */
#define MISSING_MAX	3	/* numbers in a row without a file: no higher one has a file */

/* The header of the first block of a file, which contains a checksum of the block. */
#define HEAD_BYTES	32

/* What happened to a followed file. */
enum rotation {
	ROTATION_NONE,
	ROTATION_TRUNCATED,	/* it is shorter, or its head has changed */
	ROTATION_REPLACED,	/* another file has its name */
};

/*
 * struct file_source - the state
 * @merge: the files
 * @files: their names
 *
 * With --follow:
 *
 * @idle: the last read found nothing
 * @rotation: why the file ends
 * @head: its first bytes
 * @has_head: @head is set
 * @passed: events of the capture up to here, in all its files
 * @removed: the file was removed: see note_item()
 * @moved: likewise; or others have moved it, and the next one may not follow it
 * @missed: events in removed files, to be reported
 * @missed_time: of the last event before these
 * @missed_lost: of that report
 */
struct file_source {
	struct merge merge;
	struct file_list files;
	bool idle;
	enum rotation rotation;
	unsigned char head[HEAD_BYTES];
	bool has_head;
	uint64_t passed;
	bool removed;
	bool moved;
	uint64_t missed;
	uint64_t missed_time;
	uint64_t missed_lost[ELOG_LOST_REMOVED + 1];
};

static struct file_source *to_files(struct source *source)
{
	return (struct file_source *)source;
}

/* ------------------------------------------------------------------------
 * Opening
 */

static bool open_input(struct input *input, const char *name)
{
	input->name = name;
	if (!strcmp(name, "-")) {
		input->name = "stdin";
		input->fd = STDIN_FILENO;
		return true;
	}
	input->fd = open(name, O_RDONLY | O_CLOEXEC);
	if (input->fd < 0) {
		elog_error("%s: %s", name, strerror(errno));
		return false;
	}
	return true;
}

static bool is_regular(int fd)
{
	struct stat stat;

	return !fstat(fd, &stat) && S_ISREG(stat.st_mode);
}

static int start_input(struct file_source *files, struct input *input)
{
	struct merge *merge = &files->merge;
	struct source *source = &merge->source;
	uint64_t since;
	int ret;

	if (merge->set)
		ret = elog_reader_set_add(merge->set, input->fd, &input->reader);
	else
		ret = elog_reader_open(&input->reader, input->fd);
	/* Reading a pipe blocks, and its end is final. */
	source->following = merge->settings->follow && is_regular(input->fd);
	if (!ret && source->following)
		ret = elog_reader_follow(input->reader, true);
	/* If seeking fails, read from the start. */
	if (!ret && selection_since(source->selection, &since)) {
		merge->skipped = true;
		if (elog_reader_seek(input->reader, since) == -ENOMEM)
			ret = -ENOMEM;
	}
	if (ret)
		elog_error("%s: %s", input->name, strerror(-ret));
	else
		merge_start_input(input);
	return ret;
}

static int open_all(struct file_source *files)
{
	struct merge *merge = &files->merge;
	const size_t count = files->files.count;
	struct input *input;
	int ret = 0;
	size_t i;

	merge->inputs = calloc(count ? count : 1, sizeof(*merge->inputs));
	if (!merge->inputs) {
		elog_error("out of memory");
		return -ENOMEM;
	}
	if (count > 1)
		ret = merge_open_set(merge);
	if (ret)
		return ret;
	/* All inputs are open at once. */
	source_allow_files((unsigned int)count);
	for (i = 0; !ret && i < count; i++) {
		input = &merge->inputs[merge->count];
		merge_init_input(input);
		if (!open_input(input, files->files.names[i])) {
			merge->source.failed = true;
			continue;
		}
		merge->count++;
		ret = start_input(files, input);
	}
	return !ret && !merge->count ? -ENOENT : ret;
}

/* ------------------------------------------------------------------------
 * Following a file
 */

/* Return: false if the head of the file has changed. */
static bool has_same_head(struct file_source *files)
{
	unsigned char head[HEAD_BYTES];

	if (pread(files->merge.inputs->fd, head, sizeof(head), 0) != sizeof(head))
		return !files->has_head;
	if (!files->has_head)
		memcpy(files->head, head, sizeof(head));
	files->has_head = true;
	return !memcmp(files->head, head, sizeof(head));
}

static enum rotation find_rotation(struct file_source *files)
{
	const struct input *input = files->merge.inputs;
	struct stat now, then;
	off_t at;

	if (input->fd <= STDIN_FILENO || fstat(input->fd, &then))
		return ROTATION_NONE;
	/* Opening a pipe could wait for ever. */
	if (!stat(input->name, &now) && S_ISREG(now.st_mode) &&
	    (now.st_ino != then.st_ino || now.st_dev != then.st_dev))
		return ROTATION_REPLACED;
	/* elog_reader_progress() is no help: seeking reads some bytes twice. */
	at = lseek(input->fd, 0, SEEK_CUR);
	if ((at >= 0 && then.st_size < at) || !has_same_head(files))
		return ROTATION_TRUNCATED;
	return ROTATION_NONE;
}

/* Is NAME.number (0: NAME) the file of @then? Return: true, false, or -1: there is no file. */
static int is_number(const char *name, unsigned int number,
		     const struct stat *then)
{
	char path[PATH_MAX];
	struct stat now;

	if (snprintf(path, sizeof(path), number ? "%s.%u" : "%s", name, number) >=
	    (int)sizeof(path) || stat(path, &now) || !S_ISREG(now.st_mode))
		return -1;
	return now.st_ino == then->st_ino && now.st_dev == then->st_dev;
}

/*
 * Find the number of the file of @then, and that of the file that follows it, which is the next
 * lower one. While elog capture --rotate renames the files, a number between them has no file.
 * Return: the number; 0: not found.
 */
static unsigned int find_number(const char *name, const struct stat *then, unsigned int *next)
{
	unsigned int number, missing = 0;
	int found;

	*next = 0;
	for (number = 1; number <= NEXT_MAX && missing < MISSING_MAX; number++) {
		found = is_number(name, number, then);
		if (found > 0)
			return number;
		missing = found < 0 ? missing + 1 : 0;
		if (!found)
			*next = number;
	}
	return 0;
}

/*
 * Open the file that follows one that elog capture --rotate has renamed: among NAME,
 * NAME.1, NAME.2, ... the one before it. Rotation may continue meanwhile, so check
 * again after opening.
 *
 * Return: a file, or -1: not found.
 */
static int open_next(const char *name, const struct stat *then)
{
	unsigned int number, next, again, tries;
	char path[PATH_MAX];
	int fd;

	for (tries = 0; tries < NEXT_TRIES; tries++) {
		number = find_number(name, then, &next);
		fd = -1;
		if (number && snprintf(path, sizeof(path), next ? "%s.%u" : "%s", name, next) <
		    (int)sizeof(path))
			fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && find_number(name, then, &again) == number && again == next)
			return fd;
		if (fd >= 0)
			close(fd);
		signals_sleep(1);
	}
	return -1;
}

/*
 * The followed file was removed. Open the oldest one of those that follow it: the one of the
 * largest number. Return: a file, or -1: not found.
 */
static int open_oldest(const char *name)
{
	char path[PATH_MAX];
	unsigned int number;
	int fd = -1, next;

	for (number = 0; number <= NEXT_MAX; number++) {
		if (snprintf(path, sizeof(path), number ? "%s.%u" : "%s", name, number) >=
		    (int)sizeof(path))
			break;
		next = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (next < 0 && number)
			break;
		if (fd >= 0)
			close(fd);
		fd = next;
	}
	return fd;
}

/*
 * Count the events that the reader has passed. At the start of a file that follows a removed
 * one, find how many events it has missed.
 */
static void note_item(struct file_source *files, const struct elog_item *item)
{
	const struct input *input = files->merge.inputs;
	const char *before;
	uint64_t number;
	bool known;

	if (item->type == ELOG_ITEM_EVENT) {
		files->passed++;
		files->missed_time = item->time;
	}
	if (item->type != ELOG_ITEM_PART)
		return;
	before = elog_reader_info(input->reader, "events_before");
	number = before ? strtoull(before, NULL, 10) : 0;
	known = before && !files->merge.skipped && number >= files->passed;
	if (files->moved && known)
		files->missed = number - files->passed;
	if (files->removed && !known)
		files->merge.source.failed = true;
	if (files->missed || (files->removed && !known))
		elog_error("%s: %s before the next file was read: events %s missing", input->name,
			   files->removed ? "removed" : "moved", known ? "are" : "may be");
	files->removed = false;
	files->moved = false;
	files->passed = number;
}

/* Return: true if @entry is the loss of events in removed files. */
static bool next_missed(struct file_source *files, struct entry *entry)
{
	if (!files->missed)
		return false;
	memset(&entry->item, 0, sizeof(entry->item));
	entry->item.type = ELOG_ITEM_LOST;
	entry->item.cpu = EVENTLOG_CPU_UNKNOWN;
	entry->item.stream = ELOG_STREAM_NONE;
	entry->item.time = files->missed_time;
	files->missed_lost[ELOG_LOST_REMOVED] = files->missed;
	files->missed = 0;
	entry->item.lost = files->missed_lost;
	entry->item.lost_count = ARRAY_SIZE(files->missed_lost);
	merge_set_origin(entry, files->merge.inputs);
	return true;
}

/* Return: true if the next file of a rotation is open now. */
static bool open_replacement(struct file_source *files)
{
	struct merge *merge = &files->merge;
	struct input *input = merge->inputs;
	enum rotation rotation = files->rotation;
	struct stat then;
	int fd = -1;

	if (!merge->settings->follow || !input->reader || rotation == ROTATION_NONE ||
	    fstat(input->fd, &then))
		return false;
	files->rotation = ROTATION_NONE;
	if (rotation == ROTATION_REPLACED && then.st_nlink)
		fd = open_next(input->name, &then);
	if (rotation == ROTATION_REPLACED && !then.st_nlink) {
		files->removed = true;
		fd = open_oldest(input->name);
	}
	files->moved = rotation == ROTATION_REPLACED && (files->removed || fd < 0);
	merge_close_input(merge, input);
	files->has_head = false;
	input->fd = fd;
	if (fd < 0 && !open_input(input, input->name))
		return false;
	return !start_input(files, input);
}

/* Return: true if the followed file is complete: read it to its end. */
static bool has_ended(struct file_source *files)
{
	struct input *input = files->merge.inputs;

	files->rotation = find_rotation(files);
	if (files->rotation == ROTATION_NONE)
		return false;
	/* The present contents do not continue the earlier ones. */
	if (files->rotation == ROTATION_TRUNCATED)
		lseek(input->fd, 0, SEEK_END);
	files->merge.source.following = false;
	elog_reader_follow(input->reader, false);
	return true;
}

/* ------------------------------------------------------------------------
 * Items
 */

static void wait_for_more(const struct merge *merge)
{
	struct pollfd poll_fd = { .fd = merge->inputs[0].fd, .events = POLLIN };

	if (merge->set)
		signals_sleep(WAIT_MS);
	else
		poll(&poll_fd, 1, -1);
}

/* Nothing was read for now. Return: true: read again. */
static bool read_again(struct file_source *files)
{
	struct merge *merge = &files->merge;

	if (!merge->source.following) {
		/* Another process may have made the pipe non-blocking. */
		wait_for_more(merge);
		return true;
	}
	if (has_ended(files))
		return true;
	files->idle = true;
	/* The names may come later: report them only now. */
	if (!merge->settings->quiet)
		names_report(merge->source.names, " yet");
	return false;
}

static int next_of_files(struct source *source, struct entry *entry)
{
	struct file_source *files = to_files(source);
	struct merge *merge = &files->merge;
	struct input *input;
	int ret;

	do {
		if (next_missed(files, entry))
			return 1;
		if (files->idle) {
			files->idle = false;
			has_ended(files);
		}
		ret = merge_read(merge, &entry->item, &input);
		if (ret == -EAGAIN && !read_again(files))
			return ret;
		if (ret == -EAGAIN || (!ret && open_replacement(files))) {
			ret = MERGE_SKIP;
			continue;
		}
		if (ret > 0 && merge->settings->follow)
			note_item(files, &entry->item);
		ret = merge_take(merge, input, entry, ret);
	} while (ret == MERGE_SKIP);
	return ret;
}

static bool finish_files(struct source *source)
{
	return merge_finish(merge_of(source));
}

static void close_files(struct source *source)
{
	merge_close(merge_of(source));
	parts_free(&to_files(source)->files);
}

static const struct source_ops file_ops = {
	.next = next_of_files,
	.wait = merge_wait,
	.finish = finish_files,
	.close = close_files,
};

int source_open_files(struct source **result, const struct selection_spec *spec,
		      const struct source_settings *settings, char *const *names, int count)
{
	struct file_source *files;
	int ret, i;

	for (i = 0; i < count; i++)
		if (stream_is_url(names[i]))
			return source_open_stream(result, spec, settings, names, count);
	if (settings->host) {
		elog_error("--host needs the URL of a stream: nats://HOST");
		return -EINVAL;
	}
	files = merge_new(sizeof(*files), &file_ops, spec, settings);
	if (!files)
		return -EINVAL;
	ret = parts_find(&files->files, names, count);
	files->merge.source.failed = files->files.incomplete;
	if (ret) {
		elog_error("out of memory");
	} else if (settings->follow && files->files.count > 1) {
		elog_error("--follow reads one file, but this capture has %zu",
			   files->files.count);
		ret = -EINVAL;
	} else {
		ret = open_all(files);
	}
	if (ret)
		source_close(&files->merge.source);
	else
		*result = &files->merge.source;
	return ret;
}
