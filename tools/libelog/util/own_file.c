// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Numbers of files: see own_file.h. No state.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "util/own_file.h"
#include "util/port.h"
#include "util/util.h"

/* Beyond the size of any file, but not so much that write(2) fails. */
#define MARK_MIN	(1ULL << 61)

int elog_file_raise(int fd)
{
	int raised;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	raised = elog_port_dup(fd);
	if (raised < 0)
		return fd;
	elog_port_close(fd);
	return raised;
}

/* A number that the kernel gives to each socket; -1, with errno: it is none, or not known. */
static off_t cookie_of(int fd)
{
	uint64_t cookie = 0;
	socklen_t size = sizeof(cookie);

	return getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &size) ? -1 : (off_t)cookie;
}

struct elog_own_file elog_file_own(int fd)
{
	const uint64_t mixed = (elog_clock_read(CLOCK_MONOTONIC) ^ (uint64_t)getpid() << 40) *
			       0x9e3779b97f4a7c15ULL;
	const off_t mark = (off_t)(MARK_MIN | (mixed & (MARK_MIN - 1)));
	const off_t found = elog_engine_is(fd) ? cookie_of(fd) : lseek(fd, mark, SEEK_SET);

	return (struct elog_own_file){ .fd = fd, .mark = found < 0 ? 0 : (uint64_t)found };
}

int elog_file_fd(const struct elog_own_file *file)
{
	const int error = errno;
	off_t position;
	int fd = file->fd;

	if (fd < 0 || !file->mark)
		return fd;
	position = file->mark < MARK_MIN ? cookie_of(fd) : lseek(fd, 0, SEEK_CUR);
	/* It may be forbidden, by seccomp(2). */
	if (position != (off_t)file->mark &&
	    !(position < 0 && (errno == EPERM || errno == EACCES || errno == ENOSYS)))
		fd = -1;
	errno = error;
	return fd;
}

void elog_file_close(struct elog_own_file *file)
{
	const int fd = elog_file_fd(file);

	if (fd >= 0)
		elog_port_close(fd);
	file->fd = -1;
}
