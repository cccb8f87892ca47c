// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing a capture to .elog files: see writer.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "record/trace_writer.h"

bool writer_is_raw(const struct options *options)
{
	return options->output && !options->overwrite && !options->tids.count &&
	       !options->cpus.count && !options->expression_count;
}

int writer_open(struct writer **result, struct live *live, uint64_t start)
{
	const struct options *options = live->options;
	struct writer *writer;
	int ret;

	writer = writer_is_raw(options) ? raw_writer_new(live) : filtered_writer_new();
	if (!writer) {
		elog_error("out of memory");
		return -ENOMEM;
	}
	writer->live = live;
	writer->start = start;
	if (options->split)
		ret = filtered_writer_open_directory(writer);
	else
		ret = trace_writer_open(&writer->file, writer, options->output,
					options->append);
	if (ret) {
		writer_close(writer);
		return ret;
	}
	*result = writer;
	return 0;
}

void writer_close(struct writer *writer)
{
	if (!writer)
		return;
	trace_writer_close(writer->file);
	free(writer->failed_path);
	writer->ops->close(writer);
}
