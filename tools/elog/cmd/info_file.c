// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog info FILE: print the header of the first part of each file. Reads only the first
 * block, so that a file of any size takes no time. With -v, reads all of it for the losses of
 * each instance. No state.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/info_file.h"
#include "libelog/util/map.h"
#include "util/file_error.h"

struct header_line {
	const char *key;	/* in the header and in JSON */
	const char *label;
	bool verbose;		/* only with -v, in text */
	bool number;		/* decimal */
};

/* As elog(5) lists them. "start" is printed as a time. */
static const struct header_line entries[] = {
	{ "host", "host", false, false },
	{ "kernel", "kernel", false, false },
	{ "machine", "architecture", false, false },
	{ "elog", "elog", false, false },
	{ "command", "command", false, false },
	{ "cpus", "cpus", false, true },
	{ "machine_id", "machine id", true, false },
	{ "boot_id", "boot id", true, false },
	{ "clock_error", "clock error, ns", true, true },
	{ "capture", "capture", true, false },
	{ "files", "files", true, true },
	{ "continues", "continues a file", true, false },
	{ "events_before", "events in earlier files", true, true },
	{ "version", "version", true, true },
	{ "flags", "flags", true, false },
	{ "byte_order", "byte order", true, false },
	{ "page_size", "page size", true, true },
};

/* A file may say that the error is 0, which means that it is not known. */
static const char *value_of(struct elog_reader *reader, const struct header_line *entry)
{
	const char *value = elog_reader_info(reader, entry->key);

	if (value && !strcmp(entry->key, "clock_error") && !strcmp(value, "0"))
		return NULL;
	return value;
}

/* CLOCK_REALTIME ns of the start; 0: the header has none. */
static int64_t start_of(struct elog_reader *reader)
{
	const char *text = elog_reader_info(reader, "start");
	int64_t realtime;

	if (!text || sscanf(text, "%*u %*u %" SCNd64, &realtime) != 1)
		return 0;
	return realtime;
}

static void put_line(struct elog_text *text, const char *label, const char *value)
{
	elog_text_printf(text, "%-28s", label);
	elog_text_visible(text, value, strlen(value));
	elog_text_put(text, "\n", 1);
}

/* ------------------------------------------------------------------------
 * Losses
 */

/* struct losses - of an instance. @instance: a copy; NULL: the root */
struct losses {
	char *instance;
	uint64_t counts[ELOG_LOST_CAUSES_MAX];
};

/* Add a loss to those of its instance; 0 or -ENOMEM. */
static int add_loss(struct elog_map *map, const struct elog_item *item)
{
	struct elog_map_key key = elog_map_name(item->instance ? item->instance : "", 0);
	struct losses *losses = elog_map_find(map, key);

	if (!losses) {
		losses = elog_map_insert(map, key);
		if (losses && item->instance)
			losses->instance = strdup(item->instance);
		if (!losses || (item->instance && !losses->instance))
			return -ENOMEM;
	}
	add_causes(losses->counts, item);
	return 0;
}

/* Read the rest of a file. Damage is printed, and is no error. Return: 0 or a negative errno. */
static int read_losses(struct elog_reader *reader, const char *path, struct elog_map *map)
{
	struct elog_text damage = { 0 };
	struct elog_item item;
	int ret;

	while ((ret = elog_reader_next(reader, &item)) > 0) {
		if (item.type == ELOG_ITEM_LOST && add_loss(map, &item))
			return -ENOMEM;
		if (item.type != ELOG_ITEM_DAMAGE)
			continue;
		damage.size = 0;
		elog_format_damage(&damage, &item);
		elog_error("%s: %s: losses may be missing", path,
			   damage.error ? "damaged" : damage.data);
	}
	elog_text_free(&damage);
	return ret;
}

static void put_losses(struct elog_map *map, struct elog_text *text)
{
	const struct losses *losses;
	struct elog_text causes = { 0 };
	char label[64];

	elog_map_for_each(map, losses) {
		snprintf(label, sizeof(label), losses->instance ? "lost of instance %s" : "lost",
			 losses->instance);
		causes.size = 0;
		elog_text_printf(text, "%-28s%" PRIu64, label,
				 put_causes(losses->counts, ELOG_LOST_CAUSES_MAX, &causes));
		elog_text_put(text, causes.data, causes.size);
		elog_text_put(text, "\n", 1);
		if (causes.error)
			text->error = causes.error;
	}
	if (!map->count)
		put_line(text, "lost", "0");
	elog_text_free(&causes);
}

static void put_losses_json(struct elog_map *map, struct elog_text *text)
{
	const struct losses *losses;
	const char *comma = "";

	elog_text_string(text, ",\"lost\":[");
	elog_map_for_each(map, losses) {
		elog_text_printf(text, "%s{", comma);
		if (losses->instance)
			json_member(text, "instance", losses->instance);
		else
			elog_text_string(text, "\"instance\":null");
		elog_text_printf(text, ",\"lost\":%" PRIu64 ",",
				 sum_causes(losses->counts, ELOG_LOST_CAUSES_MAX));
		json_causes(losses->counts, ELOG_LOST_CAUSES_MAX, text);
		elog_text_put(text, "}", 1);
		comma = ",";
	}
	elog_text_put(text, "]", 1);
}

static void free_losses(struct elog_map *map)
{
	struct losses *losses;

	elog_map_for_each(map, losses)
		free(losses->instance);
	elog_map_free(map);
}

/* ------------------------------------------------------------------------
 * Headers
 */

static void put_header(struct elog_reader *reader, const char *path, bool verbose,
		       struct elog_text *text)
{
	const int64_t start = start_of(reader);
	const char *value;
	size_t i;

	put_line(text, "file", path);
	if (start) {
		elog_text_printf(text, "%-28s", "start");
		put_wall(text, TIME_WALL, start, true);
		elog_text_put(text, "\n", 1);
	}
	for (i = 0; i < ARRAY_SIZE(entries); i++) {
		value = value_of(reader, &entries[i]);
		if (value && (verbose || !entries[i].verbose))
			put_line(text, entries[i].label, value);
		else if (!value && verbose && !strcmp(entries[i].key, "clock_error"))
			put_line(text, entries[i].label, "not known");
	}
}

/* A file may have anything: what is no number in JSON stays text. */
static bool is_number(const char *value)
{
	const size_t digits = strspn(value, "0123456789");

	return digits && digits < 20 && !value[digits] && (*value != '0' || digits == 1);
}

static void put_header_json(struct elog_reader *reader, const char *path,
			    struct elog_text *text)
{
	const int64_t start = start_of(reader);
	const char *value;
	size_t i;

	elog_text_put(text, "{", 1);
	json_member(text, "file", path);
	if (start)
		elog_text_printf(text, ",\"start\":%" PRId64, start);
	for (i = 0; i < ARRAY_SIZE(entries); i++) {
		value = value_of(reader, &entries[i]);
		if (!value)
			continue;
		elog_text_put(text, ",", 1);
		if (entries[i].number && is_number(value))
			elog_text_printf(text, "\"%s\":%s", entries[i].key, value);
		else
			json_member(text, entries[i].key, value);
	}
}

/* Put what the file says of itself, whose first item was its part. */
static int put_info(struct elog_reader *reader, const char *path, const struct options *options,
		    struct elog_text *text)
{
	const bool json = options->print.format == FORMAT_JSON;
	struct elog_map losses;
	int ret = 0;

	elog_map_init(&losses, sizeof(struct losses));
	if (json)
		put_header_json(reader, path, text);
	else
		put_header(reader, path, options->verbose, text);
	if (options->verbose) {
		ret = read_losses(reader, path, &losses);
		if (json)
			put_losses_json(&losses, text);
		else
			put_losses(&losses, text);
	}
	if (json)
		elog_text_string(text, "}\n");
	free_losses(&losses);
	return ret;
}

/* Return: 0 or a negative errno, and a message was printed. */
static int put_file(const char *path, const struct options *options, struct elog_text *text)
{
	struct elog_reader *reader = NULL;
	struct elog_item item;
	char buffer[FILE_ERROR_BYTES];
	int fd, ret;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	ret = fd < 0 ? -errno : elog_reader_open(&reader, fd);
	if (!ret)
		ret = elog_reader_next(reader, &item);
	if (ret > 0 && item.type == ELOG_ITEM_PART)
		ret = put_info(reader, path, options, text);
	else if (ret >= 0)
		ret = -EBADMSG;
	if (ret)
		elog_error("%s: %s", path, file_error(reader, ret, buffer));
	elog_reader_close(reader);
	if (fd >= 0)
		close(fd);
	return ret;
}

int info_files(const struct options *options)
{
	struct elog_text text = { 0 };
	int i, status = STATUS_OK;

	for (i = 0; i < options->argument_count; i++) {
		if (text.size && options->print.format != FORMAT_JSON)
			elog_text_put(&text, "\n", 1);
		if (put_file(options->arguments[i], options, &text))
			status = STATUS_ERROR;
	}
	return text_print(&text) ? STATUS_ERROR : status;
}
