// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog capture into files, event by event: see filtered_writer.h.
 *
 * With --split there are as many files as sessions, but no more than OPEN_MAX
 * are open: of those the one that was used longest ago is ended. When its
 * session goes on, a further part is appended to it. A loss concerns all
 * sessions that there may be: every open file tells of it, and "losses.elog"
 * of all.
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

#include "record/filtered_writer.h"
#include "util/siphash.h"

#define OPEN_MAX	256
#define BUCKETS		1024		/* of open files, a power of two */
#define LOSSES_NAME	"losses.elog"

/* An open file of --split, or the only one. */
struct target {
	struct trace_writer *trace;
	uint64_t session;
	char provider[EVENTLOG_GLOB_MAX];
	struct target *same_bucket;
	struct target *newer;		/* by when they were used */
	struct target *older;
};

struct filtered_writer {
	const struct writer_setup *setup;
	struct trace_writer *single;	/* of -o, or the losses of --split */
	struct siphash secret;		/* that @buckets are hashed with */
	struct target *buckets[BUCKETS];
	struct target *newest;
	struct target *oldest;
	size_t open;
	size_t open_most;
	uint64_t time;			/* of the last batch */
	uint64_t finished_records;	/* of files that were ended */
	uint64_t finished_size;
	uint64_t files;
	char *path;			/* what could not be written to */
};

static int open_directory(const char *path)
{
	struct stat stat_now;

	if (!mkdir(path, 0700) || errno == EEXIST) {
		if (stat(path, &stat_now) || !S_ISDIR(stat_now.st_mode)) {
			errno = ENOTDIR;
		} else if (stat_now.st_uid && stat_now.st_uid != geteuid()) {
			/* Whoever it belongs to may say where its files lead. */
			elog_error("%s: belongs to somebody else", path);
			return -EPERM;
		} else {
			return 0;
		}
	}
	elog_error("%s: %s", path, strerror(errno));
	return -errno;
}

/* Half of the files that we may open, so that there are some for the rest. */
static size_t open_most(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur / 2 < OPEN_MAX)
		return limit.rlim_cur > 4 ? (size_t)limit.rlim_cur / 2 : 1;
	return OPEN_MAX;
}

int filtered_writer_open(struct filtered_writer **result, struct writer_setup *setup)
{
	const char *directory = setup->options->split;
	struct filtered_writer *filtered = calloc(1, sizeof(*filtered));
	char *path = NULL;
	int ret = 0;

	if (!filtered) {
		elog_error("out of memory");
		return -ENOMEM;
	}
	filtered->setup = setup;
	filtered->open_most = open_most();
	if (!directory) {
		ret = trace_writer_open(&filtered->single, setup,
					setup->options->output,
					setup->options->append);
	} else {
		struct siphash name;

		ret = siphash_secret(&filtered->secret);
		if (!ret)
			ret = siphash_secret(&name);
		if (ret)
			elog_error("no random numbers: %s", strerror(-ret));
		else
			snprintf(setup->capture, sizeof(setup->capture),
				 "%016" PRIx64, name.words[0]);
		if (!ret)
			ret = open_directory(directory);
		if (!ret && asprintf(&path, "%s/" LOSSES_NAME, directory) < 0)
			ret = -ENOMEM;
		if (!ret)
			ret = trace_writer_open(&filtered->single, setup, path, true);
		free(path);
	}
	if (ret) {
		filtered_writer_close(filtered);
		return ret;
	}
	filtered->files = 1;
	*result = filtered;
	return 0;
}

void filtered_writer_close(struct filtered_writer *filtered)
{
	struct target *target;

	if (!filtered)
		return;
	while ((target = filtered->oldest)) {
		filtered->oldest = target->newer;
		trace_writer_close(target->trace);
		free(target);
	}
	trace_writer_close(filtered->single);
	free(filtered->path);
	free(filtered);
}

/* Remember what failed, for filtered_writer_path(). */
static int check(struct filtered_writer *filtered, const struct trace_writer *trace, int ret)
{
	if (ret && !filtered->path)
		filtered->path = strdup(trace_writer_path(trace));
	return ret;
}

/* ------------------------------------------------------------------------
 * A file for each session
 */

static struct target **find_bucket(struct filtered_writer *filtered, const char *provider,
				   uint64_t session)
{
	uint64_t hash = siphash_session(&filtered->secret, provider, session);

	return &filtered->buckets[hash & (BUCKETS - 1)];
}

static void unlink_use(struct filtered_writer *filtered, struct target *target)
{
	*(target->newer ? &target->newer->older : &filtered->newest) = target->older;
	*(target->older ? &target->older->newer : &filtered->oldest) = target->newer;
}

static void link_newest(struct filtered_writer *filtered, struct target *target)
{
	target->newer = NULL;
	target->older = filtered->newest;
	*(filtered->newest ? &filtered->newest->newer : &filtered->oldest) = target;
	filtered->newest = target;
}

static int end_target(struct filtered_writer *filtered, struct target *target)
{
	struct trace_writer *trace = target->trace;
	struct target **link;
	int ret;

	ret = trace_writer_sync(trace, filtered->time, NULL, 0);
	if (!ret)
		ret = trace_writer_end(trace, UINT64_MAX);
	check(filtered, trace, ret);
	filtered->finished_records += trace_writer_records(trace);
	filtered->finished_size += trace_writer_size(trace);
	link = find_bucket(filtered, target->provider, target->session);
	while (*link != target)
		link = &(*link)->same_bucket;
	*link = target->same_bucket;
	unlink_use(filtered, target);
	filtered->open--;
	trace_writer_close(trace);
	free(target);
	return ret;
}

/*
 * What a provider is called in a file's name: "-" and what only a hostile one has
 * become "%" and two hexadecimal digits, so that no two have the same file, and
 * none is hidden.
 */
static void make_name(char *name, const char *provider)
{
	bool first = true;

	for (; *provider; provider++) {
		if (isalnum((unsigned char)*provider) || *provider == '_' ||
		    (*provider == '.' && !first))
			*name++ = *provider;
		else
			name += sprintf(name, "%%%02x", (unsigned char)*provider);
		first = false;
	}
	*name = '\0';
}

static int open_target(struct filtered_writer *filtered, struct target *target)
{
	const char *directory = filtered->setup->options->split;
	char name[3 * EVENTLOG_GLOB_MAX];
	char *path;
	int ret;

	make_name(name, target->provider);
	/* "losses.elog" is taken. */
	if (target->session || !strcmp(name, "losses"))
		ret = asprintf(&path, "%s/%s-0x%" PRIx64 ".elog", directory, name,
			       target->session);
	else
		ret = asprintf(&path, "%s/%s.elog", directory, name);
	if (ret < 0)
		return -ENOMEM;
	ret = trace_writer_open(&target->trace, filtered->setup, path, true);
	if (ret && !filtered->path)
		filtered->path = path;
	else
		free(path);
	return ret;
}

/* Return: 0, *@result being the session's file; or a negative errno. */
static int find_target(struct filtered_writer *filtered, const struct entry *entry,
		       struct target **result)
{
	const struct elog_schema_event *event = entry->cached->event;
	const char *provider = event ? event->provider->name : "unknown";
	uint64_t session = entry->item.session;
	struct target **bucket = find_bucket(filtered, provider, session);
	struct target *target;
	int ret = 0;

	for (target = *bucket; target; target = target->same_bucket)
		if (target->session == session &&
		    !strcmp(target->provider, provider))
			break;
	if (target) {
		unlink_use(filtered, target);
		link_newest(filtered, target);
		*result = target;
		return 0;
	}
	if (filtered->open >= filtered->open_most)
		ret = end_target(filtered, filtered->oldest);
	if (ret)
		return ret;
	target = calloc(1, sizeof(*target));
	if (!target)
		return -ENOMEM;
	target->session = session;
	snprintf(target->provider, sizeof(target->provider), "%s", provider);
	ret = open_target(filtered, target);
	if (ret) {
		free(target);
		return ret;
	}
	target->same_bucket = *bucket;
	*bucket = target;
	link_newest(filtered, target);
	filtered->open++;
	filtered->files++;
	*result = target;
	return 0;
}

static int split_loss(struct filtered_writer *filtered, const struct elog_item *item)
{
	struct target *target;
	int ret;

	ret = check(filtered, filtered->single, trace_writer_add(filtered->single, item));
	for (target = filtered->newest; !ret && target; target = target->older)
		ret = check(filtered, target->trace,
			    trace_writer_add(target->trace, item));
	return ret;
}

/* ------------------------------------------------------------------------
 * What is common
 */

int filtered_writer_add(struct filtered_writer *filtered, const struct entry *entry)
{
	struct trace_writer *trace = filtered->single;
	struct target *target;
	int ret;

	if (filtered->setup->options->split) {
		if (entry->item.type == ELOG_ITEM_LOST)
			return split_loss(filtered, &entry->item);
		ret = find_target(filtered, entry, &target);
		if (ret)
			return ret;
		trace = target->trace;
	}
	trace_writer_now(trace, entry->item.time);
	return check(filtered, trace, trace_writer_add(trace, &entry->item));
}

int filtered_writer_sync(struct filtered_writer *filtered, uint64_t time, bool rotate)
{
	struct target *target;
	int ret = 0;

	filtered->time = time;
	for (target = filtered->newest; !ret && target; target = target->older) {
		if (!trace_writer_dirty(target->trace))
			continue;
		ret = check(filtered, target->trace,
			    trace_writer_sync(target->trace, time, NULL, 0));
	}
	if (!ret && trace_writer_dirty(filtered->single))
		ret = check(filtered, filtered->single,
			    trace_writer_sync(filtered->single, time, NULL, 0));
	if (!ret && !filtered->setup->options->split &&
	    (rotate || trace_writer_is_full(filtered->single)))
		ret = check(filtered, filtered->single,
			    trace_writer_rotate(filtered->single, time, NULL, 0));
	return ret;
}

int filtered_writer_end(struct filtered_writer *filtered)
{
	int ret = 0;

	while (!ret && filtered->oldest)
		ret = end_target(filtered, filtered->oldest);
	if (!ret)
		ret = trace_writer_sync(filtered->single, filtered->time, NULL, 0);
	if (!ret)
		ret = trace_writer_end(filtered->single, UINT64_MAX);
	return check(filtered, filtered->single, ret);
}

uint64_t filtered_writer_records(const struct filtered_writer *filtered)
{
	uint64_t records = filtered->finished_records +
			   trace_writer_records(filtered->single);
	const struct target *target;

	for (target = filtered->newest; target; target = target->older)
		records += trace_writer_records(target->trace);
	return records;
}

uint64_t filtered_writer_size(const struct filtered_writer *filtered)
{
	uint64_t size = filtered->finished_size + trace_writer_size(filtered->single);
	const struct target *target;

	for (target = filtered->newest; target; target = target->older)
		size += trace_writer_size(target->trace);
	return size;
}

uint64_t filtered_writer_files(const struct filtered_writer *filtered)
{
	return filtered->files;
}

const char *filtered_writer_path(const struct filtered_writer *filtered)
{
	return filtered->path ? filtered->path : trace_writer_path(filtered->single);
}
