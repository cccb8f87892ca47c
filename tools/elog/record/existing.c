// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is in the file that a capture is to write: see existing.h. For the process's own thread.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "input/parts.h"
#include "record/existing.h"
#include "record/segments.h"
#include "util/output_file.h"

/* A symbolic link stays: the file behind it gets another name. Return: that, or NULL. */
static char *without_links(const char *path)
{
	struct stat stat;

	return !lstat(path, &stat) && S_ISLNK(stat.st_mode) ? realpath(path, NULL) : strdup(path);
}

static char *old_name(const struct writer *writer, unsigned int part)
{
	char *file = without_links(writer->settings->output), *first, *name = NULL;

	if (file && asprintf(&first, "%s.old", file) >= 0) {
		name = parts_name(first, part);
		free(first);
	}
	free(file);
	return name;
}

static void explain_obstacle(const char *path, const char *name, const char *obstacle)
{
	elog_error("%s: the recording that is there would be kept as %s, but that cannot be "
		   "replaced: %s", path, name, obstacle);
	elog_hint("rename or remove one of them, or add to it: --append");
}

/* A recording gets this name only if the file there is a recording, too, and has no writer. */
static int check_old(const char *path, const char *name)
{
	const char *obstacle = output_obstacle(name);

	if (!obstacle)
		return 0;
	explain_obstacle(path, name, obstacle);
	return -EEXIST;
}

/* Is it the name of an open file? That cannot be renamed. */
static bool is_descriptor(const char *path)
{
	return !strcmp(path, "-") || !strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6);
}

bool existing_is_kept(const char *path, int fd, bool append)
{
	const enum output_kind kind = output_kind(fd);

	return kind == OUTPUT_EMPTY ||
	       ((append || is_descriptor(path)) && kind == OUTPUT_RECORDING);
}

int existing_check(const struct writer *writer, const char *path, unsigned int part, int fd,
		   bool append)
{
	char *name;
	int ret;

	if (existing_is_kept(path, fd, append))
		return 0;
	if (output_kind(fd) == OUTPUT_FOREIGN) {
		elog_error("%s: holds something that elog capture has not written", path);
		elog_hint("remove it, or write to another file");
		return -EEXIST;
	}
	/* It becomes a segment, also if it cannot be appended to. */
	if (writer->settings->rotate_size)
		return 0;
	if (!append && !is_descriptor(path)) {
		name = old_name(writer, part);
		ret = name ? check_old(path, name) : -ENOMEM;
		free(name);
		return ret;
	}
	elog_error("%s: cannot be appended to: its start is damaged, or of another version of elog",
		   path);
	elog_hint("rename it, or write to another file");
	return -EBADMSG;
}

static void say_kept(const struct writer *writer, const char *path, const char *name)
{
	if (!writer->live->settings->quiet)
		fprintf(stderr, "elog: %s: the recording that was there is %s now\n", path, name);
}

/* It becomes the newest segment. Return: 0 or a negative errno. */
static int keep_as_segment(struct writer *writer, const char *path, unsigned int part)
{
	const unsigned int parts = writer->parts > 1 ? writer->parts : 1;
	char *name;
	int ret;

	ret = segments_rotate(writer->segments, part);
	if (ret || part)
		return ret;
	if (asprintf(&name, "%s.1", path) < 0)
		return -ENOMEM;
	parts_rename(name, path, parts);
	say_kept(writer, path, name);
	free(name);
	return 0;
}

/* Others may have used the name since it was checked. Return: 0 or a negative errno. */
static int rename_to_old(struct writer *writer, const char *path, const char *real,
			 const char *name)
{
	const char *obstacle;
	int ret = output_rename(real, name, &obstacle);

	if (obstacle) {
		explain_obstacle(path, name, obstacle);
		writer->explained = true;
	} else if (ret) {
		elog_error("%s: the recording that is there cannot be kept as %s: %s", path, name,
			   strerror(-ret));
		elog_hint("remove it, or add to it: --append");
		writer->explained = true;
	}
	return ret;
}

static int keep_as_old(struct writer *writer, char **path, unsigned int part)
{
	const unsigned int parts = writer->parts > 1 ? writer->parts : 1;
	char *name = old_name(writer, part), *real = without_links(*path), *swap;
	int ret = name && real ? 0 : -ENOMEM;

	if (!ret && !part)
		parts_remove(name, 1);
	if (!ret)
		ret = rename_to_old(writer, *path, real, name);
	if (!ret && !part) {
		parts_rename(name, real, parts);
		say_kept(writer, *path, name);
	}
	if (!ret) {
		swap = *path;
		*path = real;
		real = swap;
	}
	free(name);
	free(real);
	return ret;
}

int existing_rename(struct writer *writer, char **path, unsigned int part)
{
	return writer->segments ? keep_as_segment(writer, *path, part) :
				  keep_as_old(writer, path, part);
}
