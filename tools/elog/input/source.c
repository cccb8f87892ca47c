// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events of a verb: see source.h.
 *
 * An input is one file or the subscription. Each has descriptors of its own, and so a
 * cache of definitions of its own, which is cleared when descriptors change meaning.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input/decoded.h"
#include "input/source_state.h"
#include "util/file_error.h"
#include "util/signals.h"
#include "util/time_spec.h"

#define SPARE_FILES	32	/* open files besides the inputs */
#define NEXT_MAX	10000	/* limit of the numbers of --rotate */
#define WAIT_MS		10	/* for non-blocking files, when there are several */
#define NEXT_TRIES	20	/* a millisecond each */

struct source *source_new(const struct selection_spec *spec,
			  const struct source_settings *settings, const struct live *live,
			  size_t count)
{
	struct source *source = calloc(1, sizeof(*source));
	size_t i;

	if (source)
		source->inputs = calloc(count ? count : 1, sizeof(*source->inputs));
	if (!source || !source->inputs) {
		elog_error("out of memory");
		free(source);
		return NULL;
	}
	for (i = 0; i < count; i++)
		elog_map_init(&source->inputs[i].event_cache, sizeof(struct cached_event));
	source->spec = spec;
	source->settings = settings;
	if (selection_open(&source->selection, spec, live,
			   live && live->filter && live->filter->exact && !live->undecided)) {
		free(source->inputs);
		free(source);
		return NULL;
	}
	return source;
}

/* Without the times when the clock was set, a batch has one offset. */
static int64_t wall_offset_at(struct source *source, uint64_t time)
{
	if (source->live->steps)
		return clock_steps_offset(source->live->steps, time);
	if (!source->batch || elog_consumer_time(source->live->consumer) != source->batch) {
		source->batch = elog_consumer_time(source->live->consumer);
		source->wall_offset = wall_offset();
	}
	return source->wall_offset;
}

int source_open_live(struct source **result, struct live *live)
{
	struct source *source = source_new(live->spec, NULL, live, 1);

	if (!source)
		return -EINVAL;
	source->live = live;
	source->count = 1;
	source->inputs[0].fd = -1;
	selection_start(source->selection, realtime_now());
	*result = source;
	return 0;
}

void source_allow_files(unsigned int count)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) ||
	    limit.rlim_cur == RLIM_INFINITY ||
	    limit.rlim_cur > (rlim_t)count + SPARE_FILES)
		return;
	limit.rlim_cur = (rlim_t)count + SPARE_FILES;
	if (limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

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

static int start_input(struct source *source, struct input *input)
{
	uint64_t since;
	int ret;

	if (source->set)
		ret = elog_reader_set_add(source->set, input->fd, &input->reader);
	else
		ret = elog_reader_open(&input->reader, input->fd);
	/* Reading a pipe blocks, and its end is final. */
	source->following = source->settings->follow && is_regular(input->fd);
	if (!ret && source->following)
		ret = elog_reader_follow(input->reader, true);
	/* If seeking fails, read from the start. */
	if (!ret && selection_since(source->selection, &since)) {
		source->skipped = true;
		if (elog_reader_seek(input->reader, since) == -ENOMEM)
			ret = -ENOMEM;
	}
	if (ret)
		elog_error("%s: %s", input->name, strerror(-ret));
	else
		input->generation = elog_reader_generation(input->reader);
	return ret;
}

int source_open_set(struct source *source)
{
	int ret = elog_reader_set_open(&source->set);

	source->hosts = ret ? NULL : hosts_new();
	if (!source->hosts)
		elog_error("out of memory");
	return source->hosts ? 0 : -ENOMEM;
}

static int open_files(struct source *source)
{
	const struct file_list *files = &source->files;
	struct input *input;
	int ret = 0;
	size_t i;

	if (files->count > 1)
		ret = source_open_set(source);
	if (ret)
		return ret;
	/* All inputs are open at once. */
	source_allow_files((unsigned int)files->count);
	for (i = 0; !ret && i < files->count; i++) {
		input = &source->inputs[source->count];
		if (!open_input(input, files->names[i])) {
			source->failed = true;
			continue;
		}
		source->count++;
		ret = start_input(source, input);
	}
	return !ret && !source->count ? -ENOENT : ret;
}

int source_open_files(struct source **result, const struct selection_spec *spec,
		      const struct source_settings *settings, char *const *names, int count)
{
	struct file_list files = { 0 };
	struct source *source = NULL;
	int ret, i;

	for (i = 0; i < count; i++)
		if (stream_is_url(names[i]))
			return source_open_stream(result, spec, settings, names, count);
	if (settings->host) {
		elog_error("--host needs the URL of a stream: nats://HOST");
		return -EINVAL;
	}
	if (parts_find(&files, names, count)) {
		elog_error("out of memory");
		parts_free(&files);
		return -ENOMEM;
	}
	if (settings->follow && files.count > 1)
		elog_error("--follow reads one file, but this capture has %zu", files.count);
	else
		source = source_new(spec, settings, NULL, files.count);
	if (!source) {
		parts_free(&files);
		return -EINVAL;
	}
	source->files = files;
	source->failed = files.incomplete;
	if (names_open(&source->names, spec, settings->fields, NULL)) {
		elog_error("out of memory");
		ret = -ENOMEM;
	} else {
		ret = open_files(source);
	}
	if (ret) {
		source_close(source);
		return ret;
	}
	*result = source;
	return 0;
}

static void close_input(struct source *source, struct input *input)
{
	selection_clear(source->selection, &input->event_cache);
	decoded_free(input->decoded, source->selection);
	input->decoded = NULL;
	if (!source->set)
		elog_reader_close(input->reader);
	input->has_head = false;
	input->reader = NULL;
	if (input->fd > STDIN_FILENO)
		close(input->fd);
	input->fd = -1;
	free(input->label);
	free(input->host);
	input->label = NULL;
	input->host = NULL;
}

void source_close(struct source *source)
{
	size_t i;

	if (!source)
		return;
	for (i = 0; i < source->count; i++)
		close_input(source, &source->inputs[i]);
	elog_reader_set_close(source->set);
	stream_close(source->stream);
	hosts_free(source->hosts);
	selection_close(source->selection);
	names_close(source->names);
	free(source->seen);
	parts_free(&source->files);
	free(source->inputs);
	free(source);
}

/* ------------------------------------------------------------------------
 * Definitions
 */

static uint64_t generation(const struct source *source,
			   const struct input *input)
{
	return source->live ? live_generation(source->live) :
			      elog_reader_generation(input->reader);
}

static int describe(struct source *source, struct input *input,
		    uint32_t descriptor, const struct elog_schema_event **event)
{
	int ret;

	ret = source->live ?
	      elog_consumer_describe(live_current(source->live), descriptor, event) :
	      elog_reader_describe(input->reader, descriptor, event);
	if (ret == -ENOMEM)
		return ret;
	if (ret)
		*event = NULL;
	return 0;
}

/* Hostile files may have as many descriptors as events, so the cache is bounded. */
#define EVENT_CACHE_MAX	131072

static int event_cache_find(struct source *source, struct input *input,
			    uint32_t descriptor, struct cached_event **result)
{
	const struct elog_schema_event *event;
	uint64_t now = generation(source, input);
	int ret;

	if (now != input->generation || input->event_cache.count >= EVENT_CACHE_MAX) {
		selection_clear(source->selection, &input->event_cache);
		input->generation = now;
	}
	*result = elog_map_find_integer(&input->event_cache, descriptor);
	if (*result)
		return 0;
	/* This may invalidate all cached definitions. */
	ret = describe(source, input, descriptor, &event);
	if (ret)
		return ret;
	now = generation(source, input);
	if (now != input->generation) {
		selection_clear(source->selection, &input->event_cache);
		input->generation = now;
	}
	/* Not cached: the definition may appear later. */
	if (!event) {
		memset(&input->unknown, 0, sizeof(input->unknown));
		*result = &input->unknown;
		return selection_bind(source->selection, NULL, NULL, &input->unknown);
	}
	names_see(source->names, event);
	return selection_cache(source->selection, &input->event_cache, descriptor, event, event,
			       result);
}

/* ------------------------------------------------------------------------
 * Items
 */

static void print_error(struct source *source, struct elog_reader *reader,
			const char *name, int error)
{
	char buffer[FILE_ERROR_BYTES];

	source->failed = true;
	elog_error("%s: %s", name, file_error(reader, error, buffer));
}

/* "+SPAN" counts from the first segment of the earliest file. */
static void set_start(struct source *source, const struct entry *entry)
{
	const char *value = elog_reader_info(entry->reader, "start");
	uint64_t begin, boottime, realtime;

	if (value && sscanf(value, "%" SCNu64 " %" SCNu64 " %" SCNu64, &begin,
			    &boottime, &realtime) == 3)
		selection_start(source->selection, (int64_t)realtime);
}

/* Return: true if the event is selected; false; or -ENOMEM. */
static int select_event(struct source *source, struct input *input,
			struct entry *entry)
{
	int ret;

	ret = event_cache_find(source, input, entry->item.descriptor, &entry->cached);
	if (ret)
		return ret;
	entry->recorded = entry->item.payload;
	entry->recorded_size = entry->item.payload_size;
	if (entry->cached->is_eventheader)
		ret = decoded_event(&input->decoded, source->selection, source->names, entry);
	if (ret)
		return ret;
	return selection_match(source->selection, entry->cached, &entry->item,
			       entry->wall_offset, entry->processes);
}

/*
 * Several files of one capture contain the same loss, if it may concern each of them:
 * return it once. They are merged by time, so only recent losses are compared. Return:
 * true, false, or -ENOMEM.
 */
static int was_seen(struct source *source, const struct entry *entry)
{
	const struct elog_item *item = &entry->item;
	const char *capture;
	uint64_t lost[ELOG_LOST_CAUSES_MAX] = { 0 };
	struct seen_loss *seen;
	size_t i;

	capture = source->set ? elog_reader_info(entry->reader, "capture") : NULL;
	if (!capture || strlen(capture) >= CAPTURE_SIZE)
		return false;
	if (!source->seen)
		source->seen = calloc(LOSSES, sizeof(*source->seen));
	if (!source->seen)
		return -ENOMEM;
	add_causes(lost, item);
	for (i = 0; i < source->seen_count && i < LOSSES; i++) {
		seen = &source->seen[i];
		if (seen->time == item->time && seen->cpu == item->cpu &&
		    seen->stream == item->stream &&
		    !memcmp(seen->lost, lost, sizeof(lost)) &&
		    !strcmp(seen->capture, capture))
			return true;
	}
	seen = &source->seen[source->seen_count++ % LOSSES];
	snprintf(seen->capture, sizeof(seen->capture), "%s", capture);
	seen->time = item->time;
	seen->cpu = item->cpu;
	seen->stream = item->stream;
	memcpy(seen->lost, lost, sizeof(lost));
	return false;
}

/*
 * Is this the end of a file that a capture still writes, instead of damage? Such a file is
 * locked by the capture, or the capture has completed it after it was read.
 */
static bool is_unfinished(const struct input *input, const struct elog_item *item)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	off_t at = lseek(input->fd, 0, SEEK_CUR);
	struct stat stat;

	if (item->damage != ELOG_DAMAGE_NO_END && item->damage != ELOG_DAMAGE_CUT)
		return false;
	if (input->capture)
		return stream_is_at_end(input->capture);
	/* Damage elsewhere in the file is before the end of what was read. */
	if (at < 0 || (uint64_t)at != item->offset + item->size)
		return false;
	if (!fcntl(input->fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK)
		return true;
	return !fstat(input->fd, &stat) && S_ISREG(stat.st_mode) && stat.st_size > at;
}

static const char *known(const char *text)
{
	return *text ? text : NULL;
}

/* Remember whose events follow: asking the reader for each event would take long. */
static void see_origin(struct input *input, struct entry *entry)
{
	const char *name = elog_reader_info(input->reader, "host");
	const char *id = elog_reader_info(input->reader, "machine_id");

	if (!name || strlen(name) >= sizeof(input->host_name))
		name = "";
	/* A machine without an id has zeros. */
	if (!id || strlen(id) >= sizeof(input->machine_id) || strspn(id, "0") == strlen(id))
		id = "";
	strcpy(input->host_name, name);
	strcpy(input->machine_id, id);
	entry->host_name = known(input->host_name);
	entry->machine_id = known(input->machine_id);
}

/* Return: as source_next(), or 0 for an item that is skipped. */
static int select_item(struct source *source, struct input *input,
		       struct entry *entry)
{
	const struct elog_item *item = &entry->item;
	int ret;

	switch (item->type) {
	case ELOG_ITEM_EVENT:
		return select_event(source, input, entry);
	case ELOG_ITEM_LOST:
		ret = entry->reader ? was_seen(source, entry) : false;
		if (ret)
			return ret < 0 ? ret : 0;
		/* An unknown CPU may be one of -C. */
		return selection_in_time(source->selection, item,
					 entry->wall_offset) &&
		       (item->cpu == EVENTLOG_CPU_UNKNOWN ||
			number_matches(&source->spec->cpus, item->cpu));
	case ELOG_ITEM_PART:
		see_origin(input, entry);
		ret = source_see_part(source, input);
		entry->file = input->name;
		entry->host = input->host;
		set_start(source, entry);
		return ret ? ret : !input->unwanted;
	case ELOG_ITEM_DAMAGE:
		entry->unfinished = is_unfinished(input, item);
		source->unfinished |= entry->unfinished;
		/* That is how streams are. */
		if (entry->unfinished)
			return !source->settings->quiet && !input->capture;
		source->failed = true;
		return 1;
	default:
		return 1;
	}
}

static int next_live(struct source *source, struct entry *entry)
{
	struct live *live = source->live;
	int ret;

	entry->processes = live->processes;
	do {
		ret = live_next(live, &entry->item);
		if (ret <= 0)
			return ret;
		entry->wall_offset = wall_offset_at(source, entry->item.time);
		ret = select_item(source, source->inputs, entry);
	} while (!ret);
	return ret;
}

/* Return: false if the head of the file has changed. */
static bool has_same_head(struct input *input)
{
	unsigned char head[HEAD_BYTES];

	if (pread(input->fd, head, sizeof(head), 0) != sizeof(head))
		return !input->has_head;
	if (!input->has_head)
		memcpy(input->head, head, sizeof(head));
	input->has_head = true;
	return !memcmp(input->head, head, sizeof(head));
}

static enum rotation find_rotation(struct input *input)
{
	struct stat now, then;
	off_t at;

	if (input->fd <= STDIN_FILENO || fstat(input->fd, &then))
		return ROTATION_NONE;
	if (!stat(input->name, &now) &&
	    (now.st_ino != then.st_ino || now.st_dev != then.st_dev))
		return ROTATION_REPLACED;
	/* elog_reader_progress() is no help: seeking reads some bytes twice. */
	at = lseek(input->fd, 0, SEEK_CUR);
	if ((at >= 0 && then.st_size < at) || !has_same_head(input))
		return ROTATION_TRUNCATED;
	return ROTATION_NONE;
}

/* Is NAME.number (0: NAME) the file of @then? Return: true, false, or -1: there is none. */
static int is_number(const char *name, unsigned int number,
		     const struct stat *then)
{
	char path[PATH_MAX];
	struct stat now;

	if (snprintf(path, sizeof(path), number ? "%s.%u" : "%s", name, number) >=
	    (int)sizeof(path) || stat(path, &now))
		return -1;
	return now.st_ino == then->st_ino && now.st_dev == then->st_dev;
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
	unsigned int number, tries;
	char path[PATH_MAX];
	int found, fd;

	for (tries = 0; tries < NEXT_TRIES; tries++) {
		number = 1;
		do {
			found = is_number(name, number, then);
		} while (!found && number++ < NEXT_MAX);
		if (found <= 0)
			/* It may be being renamed just now. */
			goto again;
		snprintf(path, sizeof(path), number > 1 ? "%s.%u" : "%s", name,
			 number - 1);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && is_number(name, number, then) == 1)
			return fd;
		if (fd >= 0)
			close(fd);
again:
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
		next = open(path, O_RDONLY | O_CLOEXEC);
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
static void note_item(struct source *source, struct input *input, const struct elog_item *item)
{
	const char *before;
	uint64_t number;
	bool known;

	if (item->type == ELOG_ITEM_EVENT) {
		input->passed++;
		source->missed_time = item->time;
	}
	if (item->type != ELOG_ITEM_PART)
		return;
	before = elog_reader_info(input->reader, "events_before");
	number = before ? strtoull(before, NULL, 10) : 0;
	known = before && !source->skipped && number >= input->passed;
	if (source->removed && known)
		source->missed = number - input->passed;
	if (source->removed && !known)
		source->failed = true;
	if (source->removed && (!known || source->missed))
		elog_error("%s: removed before the next file was read: events %s missing",
			   input->name, known ? "are" : "may be");
	source->removed = false;
	input->passed = number;
}

/* Return: true if @entry is the loss of events in removed files. */
static bool next_missed(struct source *source, struct entry *entry)
{
	struct input *input = source->inputs;

	if (!source->missed)
		return false;
	memset(&entry->item, 0, sizeof(entry->item));
	entry->item.type = ELOG_ITEM_LOST;
	entry->item.cpu = EVENTLOG_CPU_UNKNOWN;
	entry->item.stream = ELOG_STREAM_NONE;
	entry->item.time = source->missed_time;
	source->missed_lost[ELOG_LOST_REMOVED] = source->missed;
	source->missed = 0;
	entry->item.lost = source->missed_lost;
	entry->item.lost_count = ARRAY_SIZE(source->missed_lost);
	entry->reader = input->reader;
	entry->file = input->name;
	entry->processes = elog_reader_processes(input->reader);
	entry->wall_offset = elog_reader_wall_offset(input->reader);
	return true;
}

/* Return: true if the next file of a rotation is open now. */
static bool open_replacement(struct source *source, struct input *input)
{
	enum rotation rotation = source->rotation;
	struct stat then;
	int fd = -1;

	if (!source->settings->follow || !input->reader || rotation == ROTATION_NONE ||
	    fstat(input->fd, &then))
		return false;
	source->rotation = ROTATION_NONE;
	if (rotation == ROTATION_REPLACED && then.st_nlink)
		fd = open_next(input->name, &then);
	if (rotation == ROTATION_REPLACED && !then.st_nlink) {
		source->removed = true;
		fd = open_oldest(input->name);
	}
	close_input(source, input);
	input->fd = fd;
	if (fd < 0 && !open_input(input, input->name))
		return false;
	return !start_input(source, input);
}

static int next_item(struct source *source, struct entry *entry,
		     struct input **input)
{
	struct elog_reader *reader = NULL;
	size_t i;
	int ret;

	*input = source->inputs;
	if (!source->set) {
		if (!source->inputs[0].reader)
			return 0;
		return elog_reader_next(source->inputs[0].reader, &entry->item);
	}
	ret = elog_reader_set_next(source->set, &entry->item, &reader);
	for (i = 0; reader && i < source->count; i++)
		if (source->inputs[i].reader == reader)
			*input = &source->inputs[i];
	return ret;
}

static void wait_for_more(const struct source *source)
{
	struct pollfd poll_fd = { .fd = source->inputs[0].fd, .events = POLLIN };

	if (source->set)
		signals_sleep(WAIT_MS);
	else
		poll(&poll_fd, 1, -1);
}

/* Return: true if the followed file is complete: read it to its end. */
static bool has_ended(struct source *source, struct input *input)
{
	source->rotation = find_rotation(input);
	if (source->rotation == ROTATION_NONE)
		return false;
	/* The present contents do not continue the earlier ones. */
	if (source->rotation == ROTATION_TRUNCATED)
		lseek(input->fd, 0, SEEK_END);
	source->following = false;
	elog_reader_follow(input->reader, false);
	return true;
}

static int next_of_files(struct source *source, struct entry *entry)
{
	struct input *input;
	int ret;

	for (;;) {
		if (source_next_gap(source, entry) || next_missed(source, entry))
			return 1;
		if (source->idle) {
			source->idle = false;
			has_ended(source, source->inputs);
		}
		ret = next_item(source, entry, &input);
		if (ret == -EAGAIN && source->stream) {
			ret = source_wait(source);
			if (ret < 0)
				return ret;
			continue;
		}
		if (ret == -EAGAIN && source->following) {
			if (has_ended(source, input))
				continue;
			source->idle = true;
			/* The names may come later: report them only now. */
			if (!source->settings->quiet)
				names_report(source->names, " yet");
			return ret;
		}
		/* Another process may have made the pipe non-blocking. */
		if (ret == -EAGAIN) {
			wait_for_more(source);
			continue;
		}
		if (!ret && open_replacement(source, input))
			continue;
		if (ret < 0 && input->capture) {
			stream_drop(input->capture);
			/* A capture may have nothing since then. */
			if (ret == -EBADMSG && stream_is_empty(input->capture))
				continue;
		}
		/* Errors of the servers were printed. */
		if (input->capture && (ret == -ETIMEDOUT || ret == -EACCES)) {
			source->failed = true;
			continue;
		}
		if (ret < 0) {
			print_error(source, input->reader, input->name, ret);
			if (source->set)
				continue;
			return 0;
		}
		if (!ret && source_next_gap(source, entry))
			return 1;
		if (!ret) {
			source->complete = true;
			return 0;
		}
		source->read = true;
		if (source->settings->follow)
			note_item(source, input, &entry->item);
		if (input->unwanted)
			continue;
		entry->reader = input->reader;
		entry->host = input->host;
		entry->host_name = known(input->host_name);
		entry->machine_id = known(input->machine_id);
		entry->file = input->name;
		entry->processes = elog_reader_processes(input->reader);
		entry->wall_offset = elog_reader_wall_offset(input->reader);
		ret = select_item(source, input, entry);
		if (ret)
			return ret;
	}
}

int source_next(struct source *source, struct entry *entry)
{
	entry->cached = NULL;
	entry->reader = NULL;
	entry->file = NULL;
	entry->unfinished = false;
	entry->recorded = NULL;
	entry->host = NULL;
	entry->host_name = NULL;
	entry->machine_id = NULL;
	entry->gap = NULL;
	return source->live ? next_live(source, entry) :
			      next_of_files(source, entry);
}

bool source_failed(const struct source *source)
{
	return source->failed;
}

bool source_is_unreadable(const struct source *source)
{
	return !source->live && !source->stream && source->failed && !source->read;
}

bool source_follows(const struct source *source)
{
	return source->following;
}

void source_progress(const struct source *source, uint64_t *done,
		     uint64_t *total)
{
	uint64_t read, size;
	bool known = true;
	size_t i;

	*done = 0;
	*total = 0;
	for (i = 0; i < source->count; i++) {
		if (!source->inputs[i].reader ||
		    elog_reader_progress(source->inputs[i].reader, &read, &size))
			continue;
		*done += read;
		*total += size;
		known = known && size;
	}
	if (!known)
		*total = 0;
}

/*
 * The kernel rejects an event whose fields have other types than -f requires, so it was
 * not seen. Find out whether there are such definitions.
 */
static void try_definitions(const struct source *source)
{
	struct eventlog_describe definition = { .size = sizeof(definition) };
	struct elog_consumer *consumer = source->live->consumer;
	const struct elog_schema_event *event;
	struct eventlog_stat stat = { .size = sizeof(stat) };
	struct elog_definitions *definitions;
	const char *schema;

	if (elog_consumer_stat(consumer, EVENTLOG_RINGS_ALL, 0, &stat) || !stat.incompatible)
		return;
	if (elog_definitions_open(elog_consumer_fd(consumer), &definitions))
		return;
	while (!elog_definitions_next(definitions, &definition, &schema))
		if (!elog_consumer_describe(consumer, definition.descriptor, &event))
			selection_try(source->selection, event);
	elog_definitions_close(definitions);
}

/*
 * Report names that no definition in the files has. An empty file has no definitions: it
 * proves nothing. Neither does the part of a file since a time, or up to now, so that is no
 * error.
 */
static bool has_unknown_names(const struct source *source)
{
	const char *when = source->unfinished ? " yet" : source->skipped ? " since then" : "";

	if (!source->complete || !names_any(source->names))
		return false;
	return names_report(source->names, when) && !*when;
}

bool source_finish(const struct source *source)
{
	bool failed = has_unknown_names(source);

	failed |= !source->live && source_finish_stream(source);
	if (source->live && source->live->filter)
		try_definitions(source);
	return selection_finish(source->selection) || failed;
}
