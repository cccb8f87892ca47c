// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing a capture to .elog files: see writer.h.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "input/keywords.h"
#include "record/raw_writer.h"
#include "record/segments.h"
#include "record/trace_writer.h"

#define SECOND		1000000000ULL
#define AGE_CHECKS	300	/* in the time that a segment is kept */
#define AGE_FILES	7	/* files that are begun in that time: one a day of a week */
#define ROTATE_SIZE	(64U << 20)
#define ROTATE_KEEP	9
#define ROTATE_KEEP_MAX	9999
#define ROTATE_SIZE_MIN	65536
#define ROTATE_AGE_MIN	1000000000	/* ns */

/* Take a word of --rotate: only the first one can be a size, and only another one KEEP. */
static bool rotation_parse_word(struct record_settings *settings, const char *word, bool first)
{
	uint64_t size, keep;
	int64_t age;

	if (first && parse_size(word, &size)) {
		settings->rotate_size = size;
		return size >= ROTATE_SIZE_MIN;
	}
	if (!first && !settings->rotate_keep && parse_unsigned(word, ROTATE_KEEP_MAX, &keep)) {
		settings->rotate_keep = (unsigned int)keep;
		return keep;
	}
	/* Without a unit it is a mistaken KEEP. */
	if (settings->rotate_age || !*word || !isalpha((unsigned char)word[strlen(word) - 1]) ||
	    time_span_parse(word, &age) || age < ROTATE_AGE_MIN)
		return false;
	settings->rotate_age = (uint64_t)age;
	return true;
}

const char *rotation_parse(struct record_settings *settings, const char *argument)
{
	char copy[64], *rest = copy, *word;

	settings->rotate_size = 0;
	settings->rotate_keep = 0;
	settings->rotate_age = 0;
	if (snprintf(copy, sizeof(copy), "%s", argument) >= (int)sizeof(copy))
		return argument;
	while ((word = strsep(&rest, ",")))
		if (!rotation_parse_word(settings, word, word == copy))
			return argument + (word - copy);
	/* Small files leave room on a full disk, and are removed in small steps. */
	if (!settings->rotate_size)
		settings->rotate_size = ROTATE_SIZE;
	if (!settings->rotate_keep)
		settings->rotate_keep = settings->rotate_age ? ROTATE_KEEP_MAX : ROTATE_KEEP;
	return NULL;
}

bool writer_is_raw(const struct record_settings *settings, const struct selection_spec *spec,
		   const struct live_settings *live_settings)
{
	return settings->output && !settings->overwrite && !live_settings->instances &&
	       !spec->tids.count && !spec->cpus.count && !spec->expressions.count &&
	       !keywords_are_late(spec);
}

int writer_identify(struct writer *writer)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number)) {
		elog_error("no random numbers: %s", strerror(errno));
		return -EIO;
	}
	snprintf(writer->capture, sizeof(writer->capture), "%016" PRIx64, number);
	return 0;
}

uint64_t boottime(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

/* From one check to the next, ns. */
static uint64_t check_interval(const struct record_settings *settings)
{
	const uint64_t interval = settings->rotate_age / AGE_CHECKS;

	return interval < SECOND ? SECOND : interval > 60 * SECOND ? 60 * SECOND : interval;
}

int writer_age_ms(const struct writer *writer)
{
	return writer->settings->rotate_age ?
	       (int)(check_interval(writer->settings) / 1000000) : -1;
}

static void remove_expired(struct writer *writer, const struct record_settings *settings)
{
	int ret = segments_expire(writer->segments, realtime_now() - (int64_t)settings->rotate_age);

	if (ret > 0)
		writer->age.expired += (unsigned int)ret;
	if (ret < 0 && !writer->age.failed)
		elog_error("%s: old segments are not removed: %s", settings->output,
			   strerror(-ret));
	writer->age.failed = ret < 0;
}

bool writer_check_age(struct writer *writer)
{
	const struct record_settings *settings = writer->settings;
	struct writer_age *age = &writer->age;
	uint64_t now;

	if (!settings->rotate_age)
		return false;
	now = boottime();
	if (now < age->check)
		return false;
	age->check = now + check_interval(settings);
	remove_expired(writer, settings);
	if (!age->begun || age->begun == age->asked ||
	    now - age->begun < settings->rotate_age / AGE_FILES)
		return false;
	age->asked = age->begun;
	return true;
}

/* How many files to write at the same time. Only regular files can be divided. */
static unsigned int count_parts(const struct record_settings *settings, const struct live *live)
{
	const unsigned int rings = elog_consumer_rings(live->consumer);
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned int parts = settings->writers;
	struct stat stat_now;

	if (!writer_is_raw(settings, live->spec, live->settings) ||
	    !strcmp(settings->output, "-") ||
	    (!stat(settings->output, &stat_now) && !S_ISREG(stat_now.st_mode)))
		return 1;
	if (parts == WRITERS_AUTO)
		parts = cpus > 0 ? (unsigned int)cpus : 1;
	if (!parts)
		parts = 1;
	return parts < rings ? parts : rings;
}

static struct writer *new_writer(const struct record_settings *settings, struct live *live,
				 unsigned int parts)
{
	if (!writer_is_raw(settings, live->spec, live->settings))
		return filtered_writer_new();
	return parts > 1 ? parallel_writer_new(live, parts) : raw_writer_new(live, 0, 1);
}

int writer_open(struct writer **result, const struct record_settings *settings,
		struct live *live, uint64_t start)
{
	unsigned int parts = count_parts(settings, live);
	struct writer *writer;
	int ret;

	writer = new_writer(settings, live, parts);
	if (!writer) {
		elog_error("out of memory");
		return -ENOMEM;
	}
	writer->settings = settings;
	writer->live = live;
	writer->start = start;
	if (settings->rotate_size) {
		writer->segments = segments_new(settings->output, parts, settings->rotate_keep);
		if (!writer->segments) {
			elog_error("out of memory");
			writer_close(writer);
			return -ENOMEM;
		}
	}
	if (settings->split)
		ret = filtered_writer_open_directory(writer);
	else if (writer->parallel)
		ret = parallel_writer_open(writer);
	else
		ret = trace_writer_open(&writer->file, writer, settings->output,
					settings->append);
	if (ret) {
		writer_close(writer);
		return ret;
	}
	writer->wait.possible = true;
	*result = writer;
	return 0;
}

void writer_close(struct writer *writer)
{
	struct segments *segments;

	if (!writer)
		return;
	/* Threads of a parallel writer use them until they have ended. */
	segments = writer->segments;
	trace_writer_close(writer->file);
	free(writer->failed_path);
	writer->ops->close(writer);
	segments_free(segments);
}
