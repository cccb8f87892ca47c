// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file that an export writes: see sink.h.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/sink.h"
#include "util/output_file.h"
#include "util/signals.h"

#define FLUSH_BYTES	(256U << 10)

int sink_open(struct sink *sink, const char *path)
{
	memset(sink, 0, sizeof(*sink));
	sink->path = path;
	sink->fd = STDOUT_FILENO;
	if (!strcmp(path, "-"))
		return 0;
	sink->fd = output_create(path);
	if (sink->fd < 0)
		sink->error = sink->fd;
	return sink->error;
}

/* Signals may arrive meanwhile: a pipe may have a reader that does not read. */
static int write_some(int fd, const char *data, size_t size, size_t *written)
{
	ssize_t ret;

	while (*written < size) {
		signals_let_in();
		ret = write(fd, data + *written, size - *written);
		if (ret < 0)
			ret = -errno;
		signals_hold();
		if (ret == -EINTR && signals_stops() < 2)
			continue;
		if (ret < 0)
			return (int)ret;
		*written += (size_t)ret;
	}
	return 0;
}

/* The file ends with a unit, even if the disk is full. */
static void cut_unit(const struct sink *sink)
{
	struct stat stat;

	if (fstat(sink->fd, &stat) || !S_ISREG(stat.st_mode) || !strcmp(sink->path, "-"))
		return;
	/* This fails only if the disk fails, and then nothing helps. */
	if (!ftruncate(sink->fd, (off_t)sink->written))
		lseek(sink->fd, (off_t)sink->written, SEEK_SET);
}

int sink_flush(struct sink *sink)
{
	size_t written = 0;

	if (!sink->error && sink->text.error)
		sink->error = sink->text.error;
	if (!sink->error && !sink->closed)
		sink->error = write_some(sink->fd, sink->text.data, sink->text.size, &written);
	if (sink->error == -EPIPE) {
		sink->closed = true;
		sink->error = 0;
	} else if (sink->error && written) {
		cut_unit(sink);
	} else {
		sink->written += written;
	}
	sink->text.size = 0;
	return sink->closed ? -EPIPE : sink->error;
}

int sink_commit(struct sink *sink)
{
	return sink->text.size < FLUSH_BYTES ? 0 : sink_flush(sink);
}

int sink_close(struct sink *sink)
{
	int ret = sink_flush(sink);

	elog_text_free(&sink->text);
	if (sink->fd > STDOUT_FILENO && close(sink->fd) && !ret) {
		sink->error = -errno;
		ret = sink->error;
	}
	sink->fd = -1;
	return ret;
}
