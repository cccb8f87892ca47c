// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files 0, 1 and 2: see stdio.h. Any thread may write messages.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "util/signals.h"
#include "util/stdio.h"

/* How often a thread that gets no signals looks whether one has arrived. */
#define LOOK_MS	100

static ssize_t write_some(const char *data, size_t size)
{
	struct pollfd file = { .fd = STDERR_FILENO, .events = POLLOUT };
	ssize_t ret;

	if (gettid() == getpid())
		return signals_write(STDERR_FILENO, data, size);
	if (!poll(&file, 1, LOOK_MS))
		return -EINTR;
	ret = write(STDERR_FILENO, data, size < PIPE_BUF ? size : PIPE_BUF);
	return ret < 0 ? -errno : ret;
}

/* Never fails: what cannot be written is dropped, as no one can be told. */
static ssize_t write_message(void *unused, const char *data, size_t size)
{
	const int error = errno;
	size_t written = 0;
	ssize_t ret;

	(void)unused;
	while (written < size) {
		ret = write_some(data + written, size - written);
		if (ret > 0)
			written += (size_t)ret;
		else if (ret == -EAGAIN)
			signals_sleep(LOOK_MS);
		else if (ret != -EINTR || signals_stops() > 1)
			break;
	}
	errno = error;
	return (ssize_t)size;
}

static void open_messages(void)
{
	const cookie_io_functions_t functions = { .write = write_message };
	FILE *messages = fopencookie(NULL, "w", functions);

	if (!messages)
		return;
	setvbuf(messages, NULL, _IONBF, 0);
	stderr = messages;
}

void stdio_open(void)
{
	int fd;

	/* The lowest free number. Neither rights nor /dev are needed. */
	do {
		fd = open("/", O_PATH | O_CLOEXEC);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
	open_messages();
}
