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

bool writer_is_raw(const struct options *options)
{
	return options->output && !options->overwrite && !options->of_instances &&
	       !options->tids.count && !options->cpus.count && !options->expression_count &&
	       !keywords_are_late(options);
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
static unsigned int count_parts(const struct live *live)
{
	const unsigned int rings = elog_consumer_rings(live->consumer);
	const struct options *options = live->options;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned int parts = options->writers;
	struct stat stat_now;

	if (!writer_is_raw(options) || !strcmp(options->output, "-") ||
	    (!stat(options->output, &stat_now) && !S_ISREG(stat_now.st_mode)))
		return 1;
	if (parts == WRITERS_AUTO)
		parts = cpus > 0 ? (unsigned int)cpus : 1;
	if (!parts)
		parts = 1;
	return parts < rings ? parts : rings;
}

static struct writer *new_writer(struct live *live, unsigned int parts)
{
	if (!writer_is_raw(live->options))
		return filtered_writer_new();
	return parts > 1 ? parallel_writer_new(live, parts) : raw_writer_new(live, 0, 1);
}

int writer_open(struct writer **result, struct live *live, uint64_t start)
{
	const struct options *options = live->options;
	unsigned int parts = count_parts(live);
	struct writer *writer;
	int ret;

	writer = new_writer(live, parts);
	if (!writer) {
		elog_error("out of memory");
		return -ENOMEM;
	}
	writer->live = live;
	writer->start = start;
	if (options->rotate_size) {
		writer->segments = segments_new(options->output, parts, options->rotate_keep);
		if (!writer->segments) {
			elog_error("out of memory");
			writer_close(writer);
			return -ENOMEM;
		}
	}
	if (options->split)
		ret = filtered_writer_open_directory(writer);
	else if (writer->parallel)
		ret = parallel_writer_open(writer);
	else
		ret = trace_writer_open(&writer->file, writer, options->output,
					options->append);
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
