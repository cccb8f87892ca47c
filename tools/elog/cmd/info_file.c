// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog info FILE: print the header of the first part of each file. Reads only the first
 * block, so that a file of any size takes no time. No state.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/info_file.h"
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
	elog_text_string(text, "}\n");
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
	if (ret > 0 && item.type == ELOG_ITEM_PART) {
		if (options->print.format == FORMAT_JSON)
			put_header_json(reader, path, text);
		else
			put_header(reader, path, options->verbose, text);
		ret = 0;
	} else if (ret >= 0) {
		ret = -EBADMSG;
	}
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
