// SPDX-License-Identifier: GPL-2.0-only
/*
 * The status listing: see listing.h. A line is "BIT:PROVIDER/EVENT", and, if
 * somebody wants the event, " # Used by" and names without blanks, and ", lost N"
 * and where, if it was; the last lines are "Active: N" and the like. Only names of
 * processes are not the kernel's own words; it has replaced blanks in them, and
 * nothing else that may mean something.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/listing.h"
#include "util/tool.h"

#define USED_BY	" # Used by"
#define LOST	", lost "

/* Names in the text, each once. */
struct names {
	size_t count;
	size_t capacity;
	struct name {
		const char *text;
		size_t size;
	} *names;
};

static int add_name(struct names *names, const char *text, size_t size)
{
	struct name *larger;
	size_t i;

	for (i = 0; i < names->count; i++)
		if (names->names[i].size == size &&
		    !memcmp(names->names[i].text, text, size))
			return 0;
	if (names->count == names->capacity) {
		names->capacity = names->capacity ? 2 * names->capacity : 16;
		larger = realloc(names->names, names->capacity * sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		names->names = larger;
	}
	names->names[names->count].text = text;
	names->names[names->count++].size = size;
	return 0;
}

/* A name may have a comma in it: only with what it begins does it end the names. */
static int add_users(struct names *names, char *line)
{
	char *user = strstr(line, USED_BY), *end;
	size_t size;
	int ret = 0;

	if (!user)
		return 0;
	user += strlen(USED_BY);
	end = strstr(user, LOST);
	if (end)
		*end = '\0';
	for (; !ret && *user == ' '; user += size) {
		user++;
		size = strcspn(user, " ");
		if (size)
			ret = add_name(names, user, size);
	}
	return ret;
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
	struct names names = { 0 };
	char *line, *rest;
	int ret;

	memset(listing, 0, sizeof(*listing));
	ret = read_all(&text);
	rest = text.data;
	while (!ret && (line = strsep(&rest, "\n"))) {
		if (!take_count(line, "Active: ", &listing->active) &&
		    !take_count(line, "Busy: ", &listing->busy) &&
		    !take_count(line, "Max: ", &listing->max))
			ret = add_users(&names, line);
	}
	listing->subscribers = names.count;
	free(names.names);
	elog_text_free(&text);
	return ret;
}
