// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files that --rotate keeps: see segments.h.
 *
 * The parts of a capture rotate together, but each on its own thread. So for a moment a
 * segment has different numbers in different parts. A segment is known by the number of
 * rotations that precede it, and the lock protects names and these numbers.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input/parts.h"
#include "record/segments.h"
#include "util/tool.h"

struct segment_part {
	int64_t rotations;	/* so far */
	unsigned int next;	/* the number to rename next, and one; 0: no rotation has failed */
};

struct segments {
	pthread_mutex_t lock;
	char *base;
	unsigned int parts;
	unsigned int keep;
	bool reported;		/* files of an earlier capture keep their numbers */
	int64_t removed;	/* rotations before the newest segment that was removed; -1: none */
	struct segment_part part[];
};

struct segments *segments_new(const char *base, unsigned int parts, unsigned int keep)
{
	struct segments *segments;

	segments = calloc(1, sizeof(*segments) + parts * sizeof(segments->part[0]));
	if (!segments)
		return NULL;
	segments->base = strdup(base);
	if (!segments->base) {
		free(segments);
		return NULL;
	}
	pthread_mutex_init(&segments->lock, NULL);
	segments->parts = parts;
	segments->keep = keep;
	segments->removed = -1;
	return segments;
}

void segments_free(struct segments *segments)
{
	if (!segments)
		return;
	pthread_mutex_destroy(&segments->lock);
	free(segments->base);
	free(segments);
}

/*
 * FILE is number 0, and the files of other parts have their number behind that: FILE.2-w1.
 * Return: the name, which the caller frees; NULL: no memory.
 */
static char *numbered(const struct segments *segments, int64_t number, unsigned int part)
{
	char *first, *name;

	if (!number)
		return parts_name(segments->base, part);
	if (asprintf(&first, "%s.%" PRId64, segments->base, number) < 0)
		return NULL;
	name = parts_name(first, part);
	free(first);
	return name;
}

/* Does an error say that there is no such file? No file has a name that is too long. */
static bool is_missing(int error)
{
	return error == ENOENT || error == ENAMETOOLONG;
}

/*
 * Rename a file to what it is called after a rotation.
 *
 * Return: 1; 0 there is no such file; or a negative errno.
 */
static int rename_next(const struct segments *segments, unsigned int number, unsigned int part)
{
	char *from = numbered(segments, number, part);
	char *to = numbered(segments, (int64_t)number + 1, part);
	int ret = 1;

	if (!from || !to)
		ret = -ENOMEM;
	else if (rename(from, to))
		ret = errno == ENOENT ? 0 : -errno;
	free(from);
	free(to);
	return ret;
}

/* Return: 1; 0 there is no such file; or a negative errno. */
static int remove_one(const struct segments *segments, int64_t number, unsigned int part,
		      bool truncates)
{
	char *name = numbered(segments, number, part);
	int ret = 1;

	if (!name)
		return -ENOMEM;
	if ((truncates && truncate(name, 0) && is_missing(errno)) || unlink(name))
		ret = is_missing(errno) ? 0 : -errno;
	free(name);
	return ret;
}

/* The number in the name of a file of a part; 0: it has none, or it is another file. */
static unsigned int number_in(const struct segments *segments, const char *name,
			      const char *suffix)
{
	unsigned long number;
	char *end;

	if (*name < '1' || *name > '9')
		return 0;
	errno = 0;
	number = strtoul(name, &end, 10);
	return !errno && number <= segments->keep && !strcmp(end, suffix) ? (unsigned int)number : 0;
}

/*
 * Looks for each number: the directory cannot be read, or there is no memory. Return: as largest();
 * a file that is taken for missing would be overwritten.
 */
static int probe_largest(const struct segments *segments, unsigned int part)
{
	unsigned int number;
	int error = 0;
	char *name;

	for (number = segments->keep; number; number--) {
		name = numbered(segments, number, part);
		if (!name)
			return -ENOMEM;
		error = access(name, F_OK) ? errno : 0;
		free(name);
		if (!is_missing(error))
			break;
	}
	if (!number)
		return 0;
	return error ? -error : (int)number;
}

static DIR *open_directory(const struct segments *segments)
{
	const char *slash = strrchr(segments->base, '/');
	char *path;
	DIR *directory;

	path = slash ? strndup(segments->base, (size_t)(slash - segments->base) + 1) : strdup(".");
	directory = path ? opendir(path) : NULL;
	free(path);
	return directory;
}

/*
 * Find the largest number of a file of a part. Most numbers have no file.
 *
 * Return: the number; 0: there is only FILE; or a negative errno.
 */
static int largest(const struct segments *segments, unsigned int part)
{
	const char *slash = strrchr(segments->base, '/');
	const char *first = slash ? slash + 1 : segments->base;
	const size_t size = strlen(first);
	unsigned int number, most = 0;
	char *suffix = parts_name("", part);
	const struct dirent *entry;
	DIR *directory = NULL;
	bool complete = false;

	if (suffix)
		directory = open_directory(segments);
	while (directory) {
		errno = 0;
		entry = readdir(directory);
		if (!entry) {
			/* A file that is not seen would be overwritten. */
			complete = !errno;
			break;
		}
		if (strncmp(entry->d_name, first, size) || entry->d_name[size] != '.')
			continue;
		number = number_in(segments, entry->d_name + size + 1, suffix);
		most = number > most ? number : most;
	}
	if (directory)
		closedir(directory);
	free(suffix);
	return complete ? (int)most : probe_largest(segments, part);
}

/*
 * An earlier capture may have had more parts. Its files must keep their numbers in common,
 * or go together.
 *
 * Return: 1; 0 there are no files of this part; or a negative errno.
 */
static int rotate_old(const struct segments *segments, unsigned int part)
{
	int number = largest(segments, part), ret = 0;

	if (number <= 0)
		return number;
	if (number == (int)segments->keep)
		remove_one(segments, number--, part, false);
	for (; ret >= 0 && number; number--)
		ret = rename_next(segments, (unsigned int)number, part);
	return ret < 0 ? ret : 1;
}

static int rotate(struct segments *segments, unsigned int number)
{
	struct segment_part *part = &segments->part[number];
	unsigned int old = segments->parts;
	int ret = 0;

	if (!part->next) {
		ret = largest(segments, number);
		if (ret < 0)
			return ret;
		part->next = ret < (int)segments->keep ? (unsigned int)ret + 1 : segments->keep;
	}
	for (; part->next; part->next--) {
		ret = rename_next(segments, part->next - 1, number);
		if (ret < 0)
			return ret;
	}
	part->rotations++;
	/* Another part, which rotated earlier, may have removed this segment already. */
	if (segments->removed >= 0 && part->rotations == segments->removed + 1)
		remove_one(segments, 1, number, true);
	if (number)
		return 0;
	/* Part 0 does it for all that the capture does not have. */
	do {
		ret = rotate_old(segments, old++);
	} while (ret > 0);
	/* The next rotation fails, too. */
	if (ret < 0 && !segments->reported)
		elog_error("%s: files of an earlier capture keep their numbers: %s",
			   segments->base, strerror(-ret));
	segments->reported |= ret < 0;
	return 0;
}

int segments_rotate(struct segments *segments, unsigned int part)
{
	int ret;

	pthread_mutex_lock(&segments->lock);
	ret = rotate(segments, part);
	pthread_mutex_unlock(&segments->lock);
	return ret;
}

/*
 * Find the rotations that precede the oldest segment. @oldest: set; INT64_MAX: there is only FILE.
 * Return: 0 or a negative errno.
 */
static int find_oldest(const struct segments *segments, int64_t *oldest)
{
	int64_t rotations;
	unsigned int part;
	int number;

	*oldest = INT64_MAX;
	for (part = 0; part < segments->parts; part++) {
		rotations = segments->part[part].rotations;
		number = largest(segments, part);
		if (number < 0)
			return number;
		if (number && rotations - number < *oldest)
			*oldest = rotations - number;
	}
	return 0;
}

/*
 * The number that a segment has in a part; 0: it still is FILE there. Those of parts that only
 * an earlier capture had keep the numbers of part 0.
 */
static int64_t number_of(const struct segments *segments, int64_t segment, unsigned int part)
{
	const int64_t rotations = segments->part[part < segments->parts ? part : 0].rotations;

	return rotations > segment ? rotations - segment : 0;
}

/* Return: 1; 0 there is no such file; or a negative errno. */
static int remove_segment(struct segments *segments, int64_t segment, bool truncates)
{
	unsigned int part;
	int64_t number;
	int ret = 0, removed = 0;

	for (part = 0; ret >= 0 && (part < segments->parts || ret > 0); part++) {
		number = number_of(segments, segment, part);
		ret = number ? remove_one(segments, number, part, truncates) : 0;
		removed |= ret > 0;
	}
	if (removed && segment > segments->removed)
		segments->removed = segment;
	return ret < 0 ? ret : removed;
}

int segments_remove(struct segments *segments)
{
	int64_t oldest;
	int ret;

	pthread_mutex_lock(&segments->lock);
	ret = find_oldest(segments, &oldest);
	if (!ret && oldest != INT64_MAX)
		ret = remove_segment(segments, oldest, true);
	pthread_mutex_unlock(&segments->lock);
	return ret;
}

/*
 * Was a file of the segment, of any part, written at @before or later, or is it FILE?
 *
 * Return: 1; 0 it was not; or a negative errno: that cannot be found out.
 */
static int is_young(const struct segments *segments, int64_t segment, int64_t before)
{
	struct stat stat_now;
	bool found = true;
	unsigned int part;
	int64_t number;
	int ret = 0;
	char *name;

	for (part = 0; !ret && (part < segments->parts || found); part++) {
		number = number_of(segments, segment, part);
		name = numbered(segments, number, part);
		if (!name)
			return -ENOMEM;
		found = !stat(name, &stat_now);
		if (!found && !is_missing(errno))
			ret = -errno;
		else
			ret = (!number && part < segments->parts) ||
			      (found && (int64_t)stat_now.st_mtim.tv_sec * 1000000000 +
					stat_now.st_mtim.tv_nsec >= before);
		free(name);
	}
	return ret;
}

int segments_expire(struct segments *segments, int64_t before)
{
	int ret, young, removed = 0;
	int64_t oldest;

	pthread_mutex_lock(&segments->lock);
	do {
		ret = find_oldest(segments, &oldest);
		if (ret || oldest == INT64_MAX)
			break;
		young = is_young(segments, oldest, before);
		/* A reader that has it open reads it to its end. */
		ret = young < 0 ? young : young ? 0 : remove_segment(segments, oldest, false);
		removed += ret > 0;
	} while (ret > 0);
	pthread_mutex_unlock(&segments->lock);
	return removed ? removed : ret;
}
