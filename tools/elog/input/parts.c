// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files that elog capture --writers writes at the same time: see parts.h.
 *
 * The FILE block of FILE has their number, and they are called FILE-w1, FILE-w2 and so on.
 * They have the same capture and start. A FILE-w1 that has not is left from another
 * capture, or was rotated at another time.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input/parts.h"
#include "util/array.h"
#include "util/output_file.h"
#include "util/tool.h"

#define CAPTURE_MAX	64

char *parts_name(const char *name, unsigned int part)
{
	char *result;

	if (!part)
		return strdup(name);
	return asprintf(&result, "%s-w%u", name, part) < 0 ? NULL : result;
}

/* What the files of a capture have in common. */
struct identity {
	char capture[CAPTURE_MAX];
	unsigned long long start;
	unsigned long files;
};

/* Read the FILE block. Return: false if the file is no part of a capture. */
static bool read_identity(const char *name, struct identity *identity)
{
	struct elog_reader *reader = NULL;
	const char *capture, *start, *files;
	struct elog_item item;
	struct stat stat_now;
	bool found = false;
	int fd;

	/* Opening a pipe may block, and reading it takes its data away. */
	if (stat(name, &stat_now) || !S_ISREG(stat_now.st_mode))
		return false;
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (!elog_reader_open(&reader, fd) && elog_reader_next(reader, &item) == 1) {
		capture = elog_reader_info(reader, "capture");
		start = elog_reader_info(reader, "start");
		files = elog_reader_info(reader, "files");
		found = capture && start && strlen(capture) < CAPTURE_MAX;
		if (found) {
			strcpy(identity->capture, capture);
			identity->start = strtoull(start, NULL, 10);
			identity->files = files ? strtoul(files, NULL, 10) : 0;
		}
	}
	elog_reader_close(reader);
	close(fd);
	return found;
}

static bool same_file(const char *one, const char *other)
{
	struct stat first, second;

	if (!strcmp(one, other))
		return true;
	return !stat(one, &first) && !stat(other, &second) &&
	       first.st_dev == second.st_dev && first.st_ino == second.st_ino &&
	       S_ISREG(first.st_mode);
}

static int add(struct file_list *list, const char *name)
{
	char **names = array_grow(list->names, list->count, sizeof(*names));

	if (!names)
		return -ENOMEM;
	list->names = names;
	list->names[list->count] = strdup(name);
	return list->names[list->count++] ? 0 : -ENOMEM;
}

/* Was one of the files given by name? Those are read where they were given. */
static bool is_given(char *const *names, int count, const char *name)
{
	int i;

	for (i = 0; i < count; i++)
		if (same_file(names[i], name))
			return true;
	return false;
}

static bool is_part(const char *name, const struct identity *whole)
{
	struct identity part;

	return read_identity(name, &part) && part.start == whole->start &&
	       !strcmp(part.capture, whole->capture);
}

/* Does a file belong to the same capture? Reports why not, but a missing one only once. */
static bool belongs(const char *other, const char *name, const struct identity *whole,
		    unsigned long *missing)
{
	if (access(other, F_OK)) {
		if (!(*missing)++)
			elog_error("%s: missing: it has a part of the events of %s", other, name);
		return false;
	}
	if (!is_part(other, whole)) {
		elog_error("%s: not read: it does not belong to %s", other, name);
		return false;
	}
	return true;
}

static int add_others(struct file_list *list, const char *name, const struct identity *whole,
		      char *const *names, int count)
{
	unsigned long missing = 0;
	unsigned int i;
	char *other;
	int ret = 0;

	for (i = 1; !ret && i < whole->files && i < ELOG_WRITER_FILES_MAX; i++) {
		other = parts_name(name, i);
		if (!other)
			return -ENOMEM;
		if (!belongs(other, name, whole, &missing))
			list->incomplete = true;
		else if (!is_given(names, count, other))
			ret = add(list, other);
		free(other);
	}
	if (missing > 1)
		elog_error("%s: %lu files are missing", name, missing);
	return ret;
}

int parts_find(struct file_list *list, char *const *names, int count)
{
	struct identity whole;
	int ret = 0, i;

	for (i = 0; !ret && i < count; i++) {
		ret = add(list, names[i]);
		if (!ret && strcmp(names[i], "-") && read_identity(names[i], &whole))
			ret = add_others(list, names[i], &whole, names, count);
	}
	return ret;
}

/* A recording that is left from another capture is replaced. */
static void rename_part(const char *from, const char *to)
{
	const char *obstacle;
	int ret = output_rename(from, to, &obstacle);

	if (ret)
		elog_error("%s: cannot be renamed to %s: %s", from, to, obstacle ? : strerror(-ret));
}

/* Remove the other files of a capture, or rename them to those of @to. */
static void move_others(const char *name, const struct identity *whole, const char *to,
			unsigned int first)
{
	char *other, *new_name;
	unsigned int i;

	for (i = first; i < whole->files && i < ELOG_WRITER_FILES_MAX; i++) {
		other = parts_name(name, i);
		new_name = to ? parts_name(to, i) : NULL;
		if (!other || (to && !new_name))
			elog_error("out of memory");
		else if (is_part(other, whole) && to)
			rename_part(other, new_name);
		else if (is_part(other, whole))
			unlink(other);
		free(other);
		free(new_name);
	}
}

void parts_remove(const char *name, unsigned int first)
{
	struct identity whole;

	/* A file that cannot be replaced still needs them. */
	if (!access(name, W_OK) && read_identity(name, &whole))
		move_others(name, &whole, NULL, first);
}

void parts_rename(const char *first_name, const char *name, unsigned int first)
{
	struct identity whole;

	if (read_identity(first_name, &whole))
		move_others(name, &whole, first_name, first);
}

void parts_free(struct file_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		free(list->names[i]);
	free(list->names);
}
