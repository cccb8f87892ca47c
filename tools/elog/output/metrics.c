// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prometheus' text format: see metrics.h.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/metrics.h"
#include "output/output.h"
#include "util/background.h"

#define ROTATED_MAX	9999

static void put_family(struct elog_text *text, const char *name, const char *type,
		       const char *help)
{
	elog_text_printf(text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/*
 * The value of a label escapes backslashes, quotes and line feeds. Prometheus rejects
 * the whole file if it is not UTF-8: "?" replaces wrong bytes, and control characters.
 */
static void put_escaped(struct elog_text *text, const char *value)
{
	struct elog_text quoted = { 0 };
	const char *character;

	/* JSON strings are always UTF-8; labels differ from them only in "\u". */
	elog_text_json_string(&quoted, value, strlen(value));
	if (quoted.error || quoted.size < 2) {
		text->error = quoted.error ? quoted.error : -ENOMEM;
		elog_text_free(&quoted);
		return;
	}
	quoted.data[quoted.size - 1] = '\0';
	for (character = quoted.data + 1; *character; character++) {
		if (*character != '\\') {
			elog_text_put(text, character, 1);
			continue;
		}
		character++;
		switch (*character) {
		case '\\':
		case '"':
		case 'n':
			elog_text_put(text, character - 1, 2);
			break;
		case '/':
			elog_text_put(text, "/", 1);
			break;
		case 'u':
			character += 4;
			elog_text_put(text, "?", 1);
			break;
		default:
			elog_text_put(text, "?", 1);
			break;
		}
	}
	elog_text_free(&quoted);
}

static void put_label(struct elog_text *text, const char *between, const char *name,
		      const char *value)
{
	elog_text_printf(text, "%s%s=\"", between, name);
	put_escaped(text, value);
	elog_text_put(text, "\"", 1);
}

/* ------------------------------------------------------------------------
 * The counters
 */

static void put_row_labels(struct elog_text *text, const struct counters *counters,
			   const struct counter_row *row, bool level)
{
	const char *level_name = elog_level_name(row->level);
	char number[24];

	/* A label that no other row has: a provider may have any name, and a level changes. */
	if (row == &counters->others) {
		put_label(text, "", "others", "true");
		return;
	}
	snprintf(number, sizeof(number), "%" PRIu64, row->number);
	switch (counters->by) {
	case COUNTERS_BY_EVENT:
		put_label(text, "", "provider", row->provider);
		put_label(text, ",", "event", row->event);
		break;
	case COUNTERS_BY_PROVIDER:
		put_label(text, "", "provider", row->provider);
		break;
	case COUNTERS_BY_SESSION:
		snprintf(number, sizeof(number), "0x%" PRIx64, row->number);
		put_label(text, "", "provider", row->provider);
		put_label(text, ",", "session", row->number ? number : "");
		break;
	case COUNTERS_BY_PID:
		put_label(text, "", "pid", number);
		put_label(text, ",", "comm", row->event);
		break;
	case COUNTERS_BY_INSTANCE:
		put_label(text, "", "instance", row->provider);
		break;
	case COUNTERS_BY_HOST:
		put_label(text, "", "host", row->host);
		break;
	default:
		put_label(text, "", "cpu", row->number == EVENTLOG_CPU_UNKNOWN ? "" : number);
		break;
	}
	if (level)
		put_label(text, ",", "level", level_name ? level_name : "");
}

static void put_rows(struct elog_text *text, const struct counters *counters,
		     const char *name, bool level,
		     uint64_t (*value)(const struct counter_row *row))
{
	size_t i;

	for (i = 0; i < counters->count + !!counters->folded; i++) {
		const struct counter_row *row = i < counters->count ? counters->rows[i] :
						&counters->others;

		elog_text_printf(text, "%s{", name);
		put_row_labels(text, counters, row, level);
		elog_text_printf(text, "} %" PRIu64 "\n", value(row));
	}
}

static uint64_t row_events(const struct counter_row *row)
{
	return row->events;
}

static uint64_t row_bytes(const struct counter_row *row)
{
	return row->bytes;
}

static uint64_t row_lost(const struct counter_row *row)
{
	return row->lost;
}

static uint64_t row_invalid(const struct counter_row *row)
{
	return row->invalid;
}

static void put_counters(struct elog_text *text, const struct counters *counters)
{
	static const char *const lost_by[COUNTERS_BYS] = {
		[COUNTERS_BY_EVENT] = "eventlog_lost_by_event_total",
		[COUNTERS_BY_PROVIDER] = "eventlog_lost_by_provider_total",
		[COUNTERS_BY_CPU] = "eventlog_lost_by_cpu_total",
		[COUNTERS_BY_INSTANCE] = "eventlog_lost_by_instance_total",
		[COUNTERS_BY_HOST] = "eventlog_lost_by_host_total",
	};
	static const char *const invalid_by[COUNTERS_BYS] = {
		[COUNTERS_BY_EVENT] = "eventlog_invalid_by_event_total",
		[COUNTERS_BY_PROVIDER] = "eventlog_invalid_by_provider_total",
		[COUNTERS_BY_CPU] = "eventlog_invalid_by_cpu_total",
		[COUNTERS_BY_HOST] = "eventlog_invalid_by_host_total",
		[COUNTERS_BY_INSTANCE] = "eventlog_invalid_by_instance_total",
	};
	/* Only an event has a fixed level; other rows have the most severe one so far. */
	bool level = counters->by == COUNTERS_BY_EVENT;
	unsigned int cause;
	char unnamed[24];

	put_family(text, "eventlog_events_total", "counter", "Number of events.");
	put_rows(text, counters, "eventlog_events_total", level, row_events);
	put_family(text, "eventlog_bytes_total", "counter", "Bytes of payloads.");
	put_rows(text, counters, "eventlog_bytes_total", false, row_bytes);
	if (lost_by[counters->by] && counters_knows_lost(counters)) {
		put_family(text, lost_by[counters->by], "counter",
			   "Number of events lost before they were counted.");
		put_rows(text, counters, lost_by[counters->by], false, row_lost);
		put_family(text, invalid_by[counters->by], "counter",
			   "Number of events that a program emitted with wrong values.");
		put_rows(text, counters, invalid_by[counters->by], false, row_invalid);
	}
	put_family(text, "eventlog_lost_total", "counter",
		   "Number of events lost before they were counted, by cause.");
	for (cause = 0; cause < ELOG_LOST_CAUSES_MAX; cause++) {
		/* A cause without a name appears when something was lost for it. */
		if (cause == CAUSE_INVALID ||
		    (!elog_lost_name(cause) && !counters->lost[cause]))
			continue;
		snprintf(unnamed, sizeof(unnamed), "cause %u", cause);
		elog_text_string(text, "eventlog_lost_total{");
		put_label(text, "", "cause", elog_lost_name(cause) ?
			  elog_lost_name(cause) : unnamed);
		elog_text_printf(text, "} %" PRIu64 "\n", counters->lost[cause]);
	}
	put_family(text, "eventlog_invalid_total", "counter",
		   "Number of events that programs emitted with wrong values.");
	elog_text_printf(text, "eventlog_invalid_total %" PRIu64 "\n",
			 counters->lost[CAUSE_INVALID]);
}

/* ------------------------------------------------------------------------
 * The module
 */

void metrics_put_one(struct elog_text *text, const struct metric *metric)
{
	put_family(text, metric->name, metric->type, metric->help);
	elog_text_printf(text, "%s %" PRIu64 "\n", metric->name, metric->value);
}

static void put_gauge(struct elog_text *text, const char *name, const char *help,
		      uint64_t value)
{
	const struct metric metric = { name, "gauge", help, value };

	metrics_put_one(text, &metric);
}

static void put_module(struct elog_text *text)
{
	struct eventlog_info info = { .size = sizeof(info) };
	char abi[16];
	int fd, ret;

	fd = elog_device_open(NULL);
	if (fd < 0)
		return;
	ret = elog_device_info(fd, &info);
	close(fd);
	if (ret)
		return;
	info.release[sizeof(info.release) - 1] = '\0';
	snprintf(abi, sizeof(abi), "%u", info.abi);
	put_family(text, "eventlog_info", "gauge", "Versions of the kernel module and of elog.");
	elog_text_string(text, "eventlog_info{");
	put_label(text, "", "release", info.release);
	put_label(text, ",", "abi", abi);
	put_label(text, ",", "elog", tool_version());
	elog_text_string(text, "} 1\n");
	put_gauge(text, "eventlog_definitions", "Number of event definitions.",
		  info.events);
	put_gauge(text, "eventlog_definitions_enabled",
		  "Number of enabled event definitions.", info.enabled);
	put_gauge(text, "eventlog_definitions_max",
		  "Maximum number of event definitions.", info.events_max);
	put_gauge(text, "eventlog_subscribers",
		  "Number of subscribers, in processes and in the kernel.",
		  info.subscribers);
}

/* ------------------------------------------------------------------------
 * Captures in the background
 */

struct captures {
	struct elog_text running;
	struct elog_text bytes;
	struct elog_text waiting;
	struct elog_text failures;
	struct elog_text removed;
	struct elog_text expired;
};

static void put_capture(struct elog_text *text, const char *name, const char *target,
			uint64_t value)
{
	elog_text_printf(text, "%s{", name);
	put_label(text, "", "target", target);
	elog_text_printf(text, "} %" PRIu64 "\n", value);
}

static bool add_file(const char *path, uint64_t *bytes)
{
	struct stat stat;

	if (lstat(path, &stat) || !S_ISREG(stat.st_mode))
		return false;
	*bytes += (uint64_t)stat.st_size;
	return true;
}

/* The files of a capture: FILE, or all in a directory, and rotated ones, FILE.1, FILE.2, ... */
static bool bytes_of(const char *target, uint64_t *bytes)
{
	const struct dirent *entry;
	char path[PATH_MAX];
	struct stat status;
	unsigned int i;
	DIR *directory;

	*bytes = 0;
	if (stat(target, &status))
		return false;
	if (!S_ISDIR(status.st_mode)) {
		*bytes = (uint64_t)status.st_size;
		for (i = 1; i <= ROTATED_MAX; i++)
			if (snprintf(path, sizeof(path), "%s.%u", target, i) >=
			    (int)sizeof(path) || !add_file(path, bytes))
				break;
		return true;
	}
	directory = opendir(target);
	if (!directory)
		return false;
	while ((entry = readdir(directory)))
		if (snprintf(path, sizeof(path), "%s/%s", target, entry->d_name) <
		    (int)sizeof(path))
			add_file(path, bytes);
	closedir(directory);
	return true;
}

static int add_capture(const struct background_info *info, void *context)
{
	struct captures *captures = context;
	struct background_state state;
	uint64_t bytes;

	put_capture(&captures->running, "eventlog_capture_running", info->target,
		    background_process(info) != 0);
	background_get_state(info, &state);
	put_capture(&captures->waiting, "eventlog_capture_waiting", info->target, !!state.error);
	put_capture(&captures->failures, "eventlog_capture_write_errors_total", info->target,
		    state.failures);
	put_capture(&captures->removed, "eventlog_capture_segments_removed_total", info->target,
		    state.removed);
	put_capture(&captures->expired, "eventlog_capture_segments_expired_total", info->target,
		    state.expired);
	if (bytes_of(info->target, &bytes))
		put_capture(&captures->bytes, "eventlog_capture_bytes", info->target, bytes);
	return 0;
}

static void put_text(struct elog_text *text, const struct elog_text *more)
{
	if (more->error)
		text->error = more->error;
	else
		elog_text_put(text, more->data ? more->data : "", more->size);
}

static void put_captures(struct elog_text *text)
{
	struct captures captures = { 0 };

	/* After an error, print the captures that were found before. */
	background_each(add_capture, &captures);
	put_family(text, "eventlog_capture_running", "gauge",
		   "1 if the background capture runs, 0 if it ended unexpectedly.");
	put_text(text, &captures.running);
	put_family(text, "eventlog_capture_bytes", "gauge",
		   "Bytes in the files of a background capture.");
	put_text(text, &captures.bytes);
	put_family(text, "eventlog_capture_waiting", "gauge",
		   "1 if the background capture cannot write, because its disk is full or fails.");
	put_text(text, &captures.waiting);
	put_family(text, "eventlog_capture_write_errors_total", "counter",
		   "Number of failed attempts of a background capture to write.");
	put_text(text, &captures.failures);
	put_family(text, "eventlog_capture_segments_removed_total", "counter",
		   "Number of old segments that a background capture removed from a full disk.");
	put_text(text, &captures.removed);
	put_family(text, "eventlog_capture_segments_expired_total", "counter",
		   "Number of old segments that a background capture removed by their age.");
	put_text(text, &captures.expired);
	elog_text_free(&captures.running);
	elog_text_free(&captures.bytes);
	elog_text_free(&captures.waiting);
	elog_text_free(&captures.failures);
	elog_text_free(&captures.removed);
	elog_text_free(&captures.expired);
}

void metrics_put(const struct counters *counters, bool live, struct elog_text *text)
{
	put_counters(text, counters);
	if (!live)
		return;
	put_module(text);
	put_captures(text);
}

/* ------------------------------------------------------------------------
 * The file
 */

int metrics_write(const char *path, const struct elog_text *text)
{
	struct stat status;

	if (text->error)
		return text->error;
	if (!lstat(path, &status) && !S_ISREG(status.st_mode) &&
	    !S_ISLNK(status.st_mode))
		return S_ISDIR(status.st_mode) ? -EISDIR : output_write_file(path, text);
	/* A symbolic link is replaced, not followed: its directory may belong to others. */
	return output_replace(path, text, false);
}
