// SPDX-License-Identifier: GPL-2.0-only
/*
 * The status listing: see listing.h.
 *
 * A line is "BIT:PROVIDER/EVENT". If the event has subscribers, " # Used by" and their
 * names follow, separated by blanks; if records were lost, ", lost N" and their causes
 * follow. The last lines are "Active: N" and the like. Names of processes may contain
 * anything but blanks, which the kernel replaces.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/listing.h"
#include "libelog/util/map.h"
#include "util/tool.h"

#define USED_BY	" # Used by"
#define LOST	", lost "

/* Count each name once. A name may contain a comma, so only LOST ends the names. */
static int add_users(struct elog_map *names, char *line)
{
	char *user = strstr(line, USED_BY), *end, *name;

	if (!user)
		return 0;
	user += strlen(USED_BY);
	end = strstr(user, LOST);
	if (end)
		*end = '\0';
	while ((name = strsep(&user, " ")))
		if (*name && !elog_map_get(names, elog_map_bytes(name, strlen(name))))
			return -ENOMEM;
	return 0;
}

static bool take_count(const char *line, const char *name, uint64_t *count)
{
	size_t size = strlen(name);

	if (strncmp(line, name, size))
		return false;
	*count = strtoull(line + size, NULL, 10);
	return true;
}

int listing_text(int fd, struct elog_text *text)
{
	char buffer[4096];
	ssize_t size;

	do {
		size = read(fd, buffer, sizeof(buffer));
		if (size > 0)
			elog_text_put(text, buffer, (size_t)size);
	} while (size > 0 || (size < 0 && errno == EINTR));
	return size < 0 ? -errno : text->error;
}

static int read_all(struct elog_text *text)
{
	int fd = elog_device_open(NULL), ret;

	if (fd < 0)
		return fd;
	ret = listing_text(fd, text);
	close(fd);
	return ret;
}

int listing_read(struct listing *listing)
{
	struct elog_text text = { 0 };
	struct elog_map names;
	char *line, *rest;
	int ret;

	memset(listing, 0, sizeof(*listing));
	elog_map_init(&names, 0);
	ret = read_all(&text);
	rest = text.data;
	while (!ret && (line = strsep(&rest, "\n"))) {
		if (!take_count(line, "Active: ", &listing->active) &&
		    !take_count(line, "Busy: ", &listing->busy) &&
		    !take_count(line, "Max: ", &listing->max))
			ret = add_users(&names, line);
	}
	listing->subscribers = names.count;
	elog_map_free(&names);
	elog_text_free(&text);
	return ret;
}
