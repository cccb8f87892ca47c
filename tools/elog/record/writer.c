// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing a capture to .elog files: see writer.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input/keywords.h"
#include "record/raw_writer.h"
#include "record/segments.h"
#include "record/trace_writer.h"

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
