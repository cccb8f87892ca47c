// SPDX-License-Identifier: GPL-2.0-only
/*
 * The writer that takes single events: see writer.h.
 *
 * With --split each session has a file, but at most OPEN_MAX are open: then the one
 * that was used longest ago is ended. If its session continues, another segment is
 * appended to it. A loss may concern any session: every open file states it, and
 * "losses.elog" states all of them.
 *
 * If the disk is full or fails, an event is not taken, and the caller keeps it. But a flight
 * recorder must continue to record: what does not fit in memory then is counted, and the
 * file states this loss later.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libelog/util/map.h"
#include "record/trace_writer.h"

#define OPEN_MAX	256

/* Files that are open anyway: the device, standard streams, timers, signals. */
#define OTHER_FILES	12
#define LOSSES_NAME	"losses.elog"

struct filtered_writer {
	struct writer writer;
	struct elog_map sessions;	/* struct trace_writer *, the latest used last */
	size_t open_most;
	uint64_t time;			/* of the last batch */
	bool rotate;			/* with the next writer_sync() */
	size_t stated;			/* files that have a loss that others lack */
	uint64_t missed[ELOG_LOST_NOT_WRITTEN + 1];	/* by a snapshot, and not stated yet */
};

static struct filtered_writer *to_filtered(struct writer *writer)
{
	return (struct filtered_writer *)writer;
}

/* ------------------------------------------------------------------------
 * A file for each session
 */

static int open_directory(const char *path)
{
	struct stat stat_now;

	if (!mkdir(path, 0700) || errno == EEXIST) {
		if (stat(path, &stat_now) || !S_ISDIR(stat_now.st_mode)) {
			errno = ENOTDIR;
		} else if (stat_now.st_uid && stat_now.st_uid != geteuid()) {
			/* Its owner could redirect our files by symbolic links. */
			elog_error("%s: belongs to another user", path);
			return -EPERM;
		} else {
			return 0;
		}
	}
	elog_error("%s: %s", path, strerror(errno));
	return -errno;
}

/* Half of the files that we may open: the rest is for other purposes. */
static size_t open_most(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur / 2 >= OPEN_MAX)
		return OPEN_MAX;
	if (limit.rlim_cur >= 2 * OTHER_FILES)
		return (size_t)limit.rlim_cur / 2;
	return limit.rlim_cur > OTHER_FILES ? (size_t)limit.rlim_cur - OTHER_FILES : 1;
}

int filtered_writer_open_directory(struct writer *writer)
{
	const char *directory = writer->settings->split;
	char *path;
	int ret;

	ret = writer_identify(writer);
	if (!ret)
		ret = open_directory(directory);
	if (ret)
		return ret;
	if (asprintf(&path, "%s/" LOSSES_NAME, directory) < 0) {
		elog_error("out of memory");
		return -ENOMEM;
	}
	ret = trace_writer_open(&writer->file, writer, path, true);
	free(path);
	return ret;
}

static int end_session(struct filtered_writer *filtered, struct trace_writer **session)
{
	int ret;

	ret = trace_writer_sync(*session, filtered->time, NULL, 0);
	if (!ret)
		ret = trace_writer_end(*session, UINT64_MAX);
	if (ret == -EAGAIN)
		return ret;
	trace_writer_close(*session);
	elog_map_remove(&filtered->sessions, session);
	return ret;
}

/* Room for "-0x", a session and ".elog" in the name of a file. */
#define FILE_NAME_MAX 200

static uint64_t name_hash(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3ULL;
	return hash;
}

/*
 * Turn a provider's name into a file's. "-" and what only a hostile name contains
 * become "%" and two hexadecimal digits, so that names stay distinct and no file is
 * hidden.
 */
static void make_name(char *name, const char *provider)
{
	const char *start = name, *whole = provider;
	bool first = true;

	for (; *provider; provider++) {
		/* Too long for a file: a hash makes it distinct. */
		if (name - start > FILE_NAME_MAX) {
			sprintf(name, "%%-%016" PRIx64, name_hash(whole));
			return;
		}
		if (isalnum((unsigned char)*provider) || *provider == '_' ||
		    (*provider == '.' && !first))
			*name++ = *provider;
		else
			name += sprintf(name, "%%%02x", (unsigned char)*provider);
		first = false;
	}
	*name = '\0';
}

static int open_session(struct writer *writer, const char *provider, uint64_t number,
			struct trace_writer **session)
{
	const char *directory = writer->settings->split;
	char name[3 * EVENTLOG_GLOB_MAX];
	char *path;
	int ret;

	make_name(name, provider);
	/* "losses.elog" is taken. */
	if (number || !strcmp(name, "losses"))
		ret = asprintf(&path, "%s/%s-0x%" PRIx64 ".elog", directory, name, number);
	else
		ret = asprintf(&path, "%s/%s.elog", directory, name);
	if (ret < 0)
		return -ENOMEM;
	ret = trace_writer_open(session, writer, path, true);
	free(path);
	return ret;
}

/* Return: 0, and set @result to the session's file; or a negative errno. */
static int find_session(struct filtered_writer *filtered, const struct entry *entry,
			struct trace_writer **result)
{
	const struct elog_schema_event *event = entry->cached->event;
	const char *provider = event ? event->provider->name : "unknown";
	const uint64_t number = entry->item.session;
	const struct elog_map_key key = elog_map_name(provider, number);
	struct trace_writer **session = elog_map_find(&filtered->sessions, key);
	int ret = 0;

	if (session) {
		elog_map_touch(&filtered->sessions, session);
		*result = *session;
		return 0;
	}
	if (filtered->sessions.count >= filtered->open_most)
		ret = end_session(filtered, elog_map_first(&filtered->sessions));
	if (ret)
		return ret;
	session = elog_map_insert(&filtered->sessions, key);
	if (!session)
		return -ENOMEM;
	ret = open_session(&filtered->writer, provider, number, session);
	if (ret)
		elog_map_remove(&filtered->sessions, session);
	else
		*result = *session;
	return ret;
}

/* After -EAGAIN the next call continues with the file that failed. */
static int split_loss(struct filtered_writer *filtered, const struct elog_item *item)
{
	struct trace_writer **session;
	size_t number = 0;
	int ret = 0;

	if (!filtered->stated)
		ret = trace_writer_add(filtered->writer.file, item);
	filtered->stated += !ret && !filtered->stated;
	elog_map_for_each(&filtered->sessions, session) {
		if (ret)
			return ret;
		if (++number < filtered->stated)
			continue;
		ret = trace_writer_add(*session, item);
		filtered->stated += !ret;
	}
	if (!ret)
		filtered->stated = 0;
	return ret;
}

/* A snapshot must be over soon: count what cannot be stored. */
static void miss(struct filtered_writer *filtered, const struct elog_item *item)
{
	uint32_t i;

	if (item->type == ELOG_ITEM_EVENT) {
		filtered->missed[ELOG_LOST_NOT_WRITTEN]++;
		filtered->writer.missed++;
		return;
	}
	for (i = 0; i < item->lost_count && i < ARRAY_SIZE(filtered->missed); i++)
		filtered->missed[i] += item->lost[i];
}

/* State what was missed. Return: 0, -EAGAIN, or another negative errno. */
static int state_missed(struct filtered_writer *filtered)
{
	const struct elog_item item = {
		.type = ELOG_ITEM_LOST, .cpu = EVENTLOG_CPU_UNKNOWN, .stream = ELOG_STREAM_NONE,
		.lost = filtered->missed, .lost_count = ARRAY_SIZE(filtered->missed),
	};
	int ret;

	if (!sum_causes(filtered->missed, ARRAY_SIZE(filtered->missed)))
		return 0;
	ret = trace_writer_add(filtered->writer.file, &item);
	if (!ret)
		memset(filtered->missed, 0, sizeof(filtered->missed));
	return ret;
}

/* ------------------------------------------------------------------------
 * The writer
 */

static int filtered_add(struct writer *writer, const struct entry *entry)
{
	struct filtered_writer *filtered = to_filtered(writer);
	struct trace_writer *file = writer->file;
	struct elog_item item;
	int ret;

	if (writer->settings->split) {
		if (entry->item.type == ELOG_ITEM_LOST)
			return split_loss(filtered, &entry->item);
		ret = find_session(filtered, entry, &file);
		if (ret)
			return ret;
	}
	item = entry->item;
	if (entry->recorded) {
		item.payload = entry->recorded;
		item.payload_size = entry->recorded_size;
	}
	ret = trace_writer_add(file, &item);
	if (ret == -EAGAIN && writer->settings->overwrite) {
		miss(filtered, &item);
		ret = 0;
	}
	return ret;
}

static int sync_dirty(struct trace_writer *file, uint64_t time)
{
	return trace_writer_dirty(file) || trace_writer_rotates(file) ?
	       trace_writer_sync(file, time, NULL, 0) : 0;
}

static int sync_files(struct filtered_writer *filtered)
{
	struct writer *writer = &filtered->writer;
	const bool rotating = trace_writer_rotates(writer->file);
	struct trace_writer **session;
	int ret;

	elog_map_for_each(&filtered->sessions, session) {
		ret = sync_dirty(*session, filtered->time);
		if (ret)
			return ret;
	}
	ret = state_missed(filtered);
	if (!ret)
		ret = sync_dirty(writer->file, filtered->time);
	if (!ret && !writer->settings->split && !rotating &&
	    (filtered->rotate || trace_writer_is_full(writer->file))) {
		ret = trace_writer_rotate(writer->file, filtered->time);
		filtered->rotate = ret == -EAGAIN && !trace_writer_rotates(writer->file);
	}
	if (!ret)
		writer->wait.error = 0;
	return ret;
}

static int filtered_sync(struct writer *writer, bool rotate)
{
	struct filtered_writer *filtered = to_filtered(writer);
	int ret;

	filtered->rotate |= rotate;
	filtered->time = elog_consumer_time(writer->live->consumer);
	ret = sync_files(filtered);
	return ret == -EAGAIN ? 0 : ret;
}

static int filtered_end(struct writer *writer)
{
	struct filtered_writer *filtered = to_filtered(writer);
	struct trace_writer **session;
	int ret = 0;

	writer->wait.final = true;
	while (!ret && (session = elog_map_first(&filtered->sessions)))
		ret = end_session(filtered, session);
	if (!ret)
		ret = state_missed(filtered);
	if (!ret)
		ret = trace_writer_sync(writer->file, filtered->time, NULL, 0);
	if (!ret)
		ret = trace_writer_end(writer->file, UINT64_MAX);
	return ret;
}

static void filtered_close(struct writer *writer)
{
	struct filtered_writer *filtered = to_filtered(writer);
	struct trace_writer **session;

	elog_map_for_each(&filtered->sessions, session)
		trace_writer_close(*session);
	elog_map_free(&filtered->sessions);
	free(filtered);
}

static const struct writer_ops filtered_ops = {
	.add = filtered_add,
	.sync = filtered_sync,
	.end = filtered_end,
	.close = filtered_close,
};

struct writer *filtered_writer_new(void)
{
	struct filtered_writer *filtered = calloc(1, sizeof(*filtered));

	if (!filtered)
		return NULL;
	filtered->writer.ops = &filtered_ops;
	filtered->open_most = open_most();
	elog_map_init(&filtered->sessions, sizeof(struct trace_writer *));
	return &filtered->writer;
}
