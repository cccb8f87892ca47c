// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog capture into files, event by event: see picker.h.
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

#include "record/picker.h"
#include "util/siphash.h"

#define OPEN_MAX	256
#define BUCKETS		1024		/* of open files, a power of two */
#define LOSSES_NAME	"losses.elog"

/* An open file of --split, or the only one. */
struct target {
	struct recording *recording;
	uint64_t session;
	char provider[EVENTLOG_GLOB_MAX];
	struct target *same_bucket;
	struct target *newer;		/* by when they were used */
	struct target *older;
};

struct picker {
	const struct recording_setup *setup;
	struct recording *single;	/* of -o, or the losses of --split */
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

int picker_open(struct picker **result, struct recording_setup *setup)
{
	const char *directory = setup->options->split;
	struct picker *picker = calloc(1, sizeof(*picker));
	char *path = NULL;
	int ret = 0;

	if (!picker) {
		elog_error("out of memory");
		return -ENOMEM;
	}
	picker->setup = setup;
	picker->open_most = open_most();
	if (!directory) {
		ret = recording_open(&picker->single, setup,
				     setup->options->output,
				     setup->options->append);
	} else {
		struct siphash name;

		ret = siphash_secret(&picker->secret);
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
			ret = recording_open(&picker->single, setup, path, true);
		free(path);
	}
	if (ret) {
		picker_close(picker);
		return ret;
	}
	picker->files = 1;
	*result = picker;
	return 0;
}

void picker_close(struct picker *picker)
{
	struct target *target;

	if (!picker)
		return;
	while ((target = picker->oldest)) {
		picker->oldest = target->newer;
		recording_close(target->recording);
		free(target);
	}
	recording_close(picker->single);
	free(picker->path);
	free(picker);
}

/* Remember what failed, for picker_path(). */
static int check(struct picker *picker, const struct recording *recording, int ret)
{
	if (ret && !picker->path)
		picker->path = strdup(recording_path(recording));
	return ret;
}

/* ------------------------------------------------------------------------
 * A file for each session
 */

static struct target **find_bucket(struct picker *picker, const char *provider,
				   uint64_t session)
{
	uint64_t hash = siphash_session(&picker->secret, provider, session);

	return &picker->buckets[hash & (BUCKETS - 1)];
}

static void unlink_use(struct picker *picker, struct target *target)
{
	*(target->newer ? &target->newer->older : &picker->newest) = target->older;
	*(target->older ? &target->older->newer : &picker->oldest) = target->newer;
}

static void link_newest(struct picker *picker, struct target *target)
{
	target->newer = NULL;
	target->older = picker->newest;
	*(picker->newest ? &picker->newest->newer : &picker->oldest) = target;
	picker->newest = target;
}

static int end_target(struct picker *picker, struct target *target)
{
	struct recording *recording = target->recording;
	struct target **link;
	int ret;

	ret = recording_sync(recording, picker->time, NULL, 0);
	if (!ret)
		ret = recording_end(recording, UINT64_MAX);
	check(picker, recording, ret);
	picker->finished_records += recording_records(recording);
	picker->finished_size += recording_size(recording);
	link = find_bucket(picker, target->provider, target->session);
	while (*link != target)
		link = &(*link)->same_bucket;
	*link = target->same_bucket;
	unlink_use(picker, target);
	picker->open--;
	recording_close(recording);
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

static int open_target(struct picker *picker, struct target *target)
{
	const char *directory = picker->setup->options->split;
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
	ret = recording_open(&target->recording, picker->setup, path, true);
	if (ret && !picker->path)
		picker->path = path;
	else
		free(path);
	return ret;
}

/* Return: 0, *@result being the session's file; or a negative errno. */
static int find_target(struct picker *picker, const struct entry *entry,
		       struct target **result)
{
	const struct elog_schema_event *event = entry->cached->event;
	const char *provider = event ? event->provider->name : "unknown";
	uint64_t session = entry->item.session;
	struct target **bucket = find_bucket(picker, provider, session);
	struct target *target;
	int ret = 0;

	for (target = *bucket; target; target = target->same_bucket)
		if (target->session == session &&
		    !strcmp(target->provider, provider))
			break;
	if (target) {
		unlink_use(picker, target);
		link_newest(picker, target);
		*result = target;
		return 0;
	}
	if (picker->open >= picker->open_most)
		ret = end_target(picker, picker->oldest);
	if (ret)
		return ret;
	target = calloc(1, sizeof(*target));
	if (!target)
		return -ENOMEM;
	target->session = session;
	snprintf(target->provider, sizeof(target->provider), "%s", provider);
	ret = open_target(picker, target);
	if (ret) {
		free(target);
		return ret;
	}
	target->same_bucket = *bucket;
	*bucket = target;
	link_newest(picker, target);
	picker->open++;
	picker->files++;
	*result = target;
	return 0;
}

static int split_loss(struct picker *picker, const struct elog_item *item)
{
	struct target *target;
	int ret;

	ret = check(picker, picker->single, recording_add(picker->single, item));
	for (target = picker->newest; !ret && target; target = target->older)
		ret = check(picker, target->recording,
			    recording_add(target->recording, item));
	return ret;
}

/* ------------------------------------------------------------------------
 * What is common
 */

int picker_add(struct picker *picker, const struct entry *entry)
{
	struct recording *recording = picker->single;
	struct target *target;
	int ret;

	if (picker->setup->options->split) {
		if (entry->item.type == ELOG_ITEM_LOST)
			return split_loss(picker, &entry->item);
		ret = find_target(picker, entry, &target);
		if (ret)
			return ret;
		recording = target->recording;
	}
	recording_now(recording, entry->item.time);
	return check(picker, recording, recording_add(recording, &entry->item));
}

int picker_sync(struct picker *picker, uint64_t time, bool rotate)
{
	struct target *target;
	int ret = 0;

	picker->time = time;
	for (target = picker->newest; !ret && target; target = target->older) {
		if (!recording_dirty(target->recording))
			continue;
		ret = check(picker, target->recording,
			    recording_sync(target->recording, time, NULL, 0));
	}
	if (!ret && recording_dirty(picker->single))
		ret = check(picker, picker->single,
			    recording_sync(picker->single, time, NULL, 0));
	if (!ret && !picker->setup->options->split &&
	    (rotate || recording_is_full(picker->single)))
		ret = check(picker, picker->single,
			    recording_rotate(picker->single, time, NULL, 0));
	return ret;
}

int picker_end(struct picker *picker)
{
	int ret = 0;

	while (!ret && picker->oldest)
		ret = end_target(picker, picker->oldest);
	if (!ret)
		ret = recording_sync(picker->single, picker->time, NULL, 0);
	if (!ret)
		ret = recording_end(picker->single, UINT64_MAX);
	return check(picker, picker->single, ret);
}

uint64_t picker_records(const struct picker *picker)
{
	uint64_t records = picker->finished_records +
			   recording_records(picker->single);
	const struct target *target;

	for (target = picker->newest; target; target = target->older)
		records += recording_records(target->recording);
	return records;
}

uint64_t picker_size(const struct picker *picker)
{
	uint64_t size = picker->finished_size + recording_size(picker->single);
	const struct target *target;

	for (target = picker->newest; target; target = target->older)
		size += recording_size(target->recording);
	return size;
}

uint64_t picker_files(const struct picker *picker)
{
	return picker->files;
}

const char *picker_path(const struct picker *picker)
{
	return picker->path ? picker->path : recording_path(picker->single);
}
