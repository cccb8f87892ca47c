// SPDX-License-Identifier: GPL-2.0-only
/*
 * fail_write.so - makes writing to regular files fail, for the tests of elog. With LD_PRELOAD
 * it replaces writev(2), which elog capture uses.
 *
 * The file that FAIL_WRITE names contains an errno. As long as it exists and is not empty,
 * every other writev() to a regular file writes half of the first buffer, as a failing disk
 * may do, and all others fail with this errno.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Return: the errno; 0: writing works. */
static int error_now(void)
{
	const char *path = getenv("FAIL_WRITE");
	char text[16] = "";
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) <= 0)
		text[0] = '\0';
	close(fd);
	return atoi(text);
}

ssize_t writev(int fd, const struct iovec *iov, int count)
{
	static unsigned int calls;
	struct stat stat;
	int error = !fstat(fd, &stat) && S_ISREG(stat.st_mode) ? error_now() : 0;

	if (!error)
		return syscall(SYS_writev, fd, iov, count);
	if (__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED) % 2)
		return write(fd, iov->iov_base, iov->iov_len / 2);
	errno = error;
	return -1;
}
