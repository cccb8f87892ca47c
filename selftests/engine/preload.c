// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opening, closing, reading, writing: see preload.h. When close(2) or wait(2) returns, the engine
 * knows what has ended, as the kernel does.
 *
 * Not atomic: a thread that closes a file while another one uses it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/eventlog.h>

#include "preload.h"

#define FILES_MAX 65536
#define READ_MAX (120 << 10)
#define WRITE_MAX (CALL_BYTES_MAX - 1024)

/* For each file of the device the one that poll(2) uses instead, plus 1. Atomic. */
static int *events;

static const char *engine_path(void)
{
	return getenv("EVENTLOG_ENGINE");
}

bool is_engine(int fd)
{
	return events && fd >= 0 && fd < FILES_MAX && __atomic_load_n(&events[fd], __ATOMIC_ACQUIRE);
}

int event_of(int fd)
{
	return __atomic_load_n(&events[fd], __ATOMIC_ACQUIRE) - 1;
}

static void set_event(int fd, int event)
{
	__atomic_store_n(&events[fd], event + 1, __ATOMIC_RELEASE);
}

int file_move(int fd)
{
	int moved = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, FILES_FROM);

	if (moved < 0)
		return fd;
	syscall(SYS_close, fd);
	return moved;
}

__attribute__((constructor)) static void start(void)
{
	void *memory;

	if (events)
		return;
	memory = mmap(NULL, FILES_MAX * sizeof(*events), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		abort();
	events = memory;
	pthread_atfork(NULL, NULL, mappings_forget);
}

/* ---- open, close, copy ---- */

static bool is_device(const char *path)
{
	return engine_path() && path && !strcmp(path, EVENTLOG_DEVICE);
}

static int connect_engine(int flags)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | (flags & O_CLOEXEC ? SOCK_CLOEXEC : 0), 0);

	if (fd < 0)
		return -1;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", engine_path());
	if (fd < FILES_MAX && !connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	if (errno == ECONNREFUSED)
		errno = ENOENT;
	syscall(SYS_close, fd);
	return -1;
}

static int open_engine(int flags)
{
	struct message message;
	int fd, event;
	long ret;

	start();
	fd = connect_engine(flags);
	if (fd < 0)
		return -1;
	message_begin(&message, CALL_OPEN);
	message.call.arguments[0] = (uint64_t)flags;
	ret = message_send(&message, fd, NULL, &event);
	if (ret || event < 0) {
		syscall(SYS_close, fd);
		return (int)finish(ret ? ret : -EIO);
	}
	set_event(fd, file_move(event));
	return fd;
}

#define OPEN(name)								\
	int name(const char *path, int flags, ...)				\
	{									\
		va_list list;							\
		mode_t mode = 0;						\
										\
		if (is_device(path))						\
			return open_engine(flags);				\
		if (flags & (O_CREAT | __O_TMPFILE)) {				\
			va_start(list, flags);					\
			mode = va_arg(list, mode_t);				\
			va_end(list);						\
		}								\
		return REAL(name)(path, flags, mode);				\
	}
OPEN(open)
OPEN(open64)

int openat(int directory, const char *path, int flags, ...)
{
	va_list list;
	mode_t mode = 0;

	if (is_device(path))
		return open_engine(flags);
	if (flags & (O_CREAT | __O_TMPFILE)) {
		va_start(list, flags);
		mode = va_arg(list, mode_t);
		va_end(list);
	}
	return REAL(openat)(directory, path, flags, mode);
}

/* What the C library calls with _FORTIFY_SOURCE. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);

int __open_2(const char *path, int flags)
{
	return open(path, flags);
}

int __open64_2(const char *path, int flags)
{
	return open64(path, flags);
}

int access(const char *path, int mode)
{
	return REAL(access)(is_device(path) ? engine_path() : path, mode);
}

static void forget_file(int fd)
{
	int event;

	if (!is_engine(fd))
		return;
	event = __atomic_exchange_n(&events[fd], 0, __ATOMIC_ACQ_REL);
	syscall(SYS_close, event - 1);
}

/* Before any call the engine looks for ends. */
void engine_settle(void)
{
	struct message message;
	int fd = connect_engine(O_CLOEXEC), error = errno;

	if (fd < 0)
		return;
	message_begin(&message, CALL_POLL);
	message_send(&message, fd, NULL, NULL);
	syscall(SYS_close, fd);
	errno = error;
}

int close(int fd)
{
	const bool is = is_engine(fd);
	int ret;

	forget_file(fd);
	ret = REAL(close)(fd);
	if (is)
		engine_settle();
	return ret;
}

/* A process whose end was seen has no files any more. */
static pid_t settled(pid_t pid)
{
	if (pid > 0 && engine_path())
		engine_settle();
	return pid;
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	return settled(REAL(waitpid)(pid, status, options));
}

pid_t wait(int *status)
{
	return waitpid(-1, status, 0);
}

pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	return settled(REAL(wait4)(pid, status, options, usage));
}

static int copied(int from, int to)
{
	int event;

	if (to < 0 || to >= FILES_MAX || !is_engine(from))
		return to;
	event = (int)syscall(SYS_fcntl, event_of(from), F_DUPFD_CLOEXEC, FILES_FROM);
	if (event >= 0)
		set_event(to, event);
	return to;
}

int dup(int fd)
{
	return copied(fd, REAL(dup)(fd));
}

int dup2(int fd, int to)
{
	if (fd != to)
		forget_file(to);
	return fd == to ? REAL(dup2)(fd, to) : copied(fd, REAL(dup2)(fd, to));
}

int fcntl(int fd, int command, ...)
{
	va_list list;
	long argument;
	int ret;

	va_start(list, command);
	argument = va_arg(list, long);
	va_end(list);
	ret = (int)syscall(SYS_fcntl, fd, command, argument);
	return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? copied(fd, ret) : ret;
}

int fcntl64(int fd, int command, ...)
{
	va_list list;
	long argument;

	va_start(list, command);
	argument = va_arg(list, long);
	va_end(list);
	return fcntl(fd, command, argument);
}

/* ---- ioctl, lseek, read, write ---- */

static long call_ioctl(int fd, unsigned int request, uint64_t address)
{
	struct message message;

	if (_IOC_TYPE(request) != EVENTLOG_IOC_TYPE)
		return -ENOTTY;
	message_begin(&message, CALL_IOCTL);
	message.call.arguments[0] = request;
	message.call.arguments[1] = address;
	message_add_request(&message, request, address);
	return message_send(&message, fd, NULL, NULL);
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list list;
	void *address;

	va_start(list, request);
	address = va_arg(list, void *);
	va_end(list);
	if (is_engine(fd))
		return (int)finish(call_ioctl(fd, (unsigned int)request, (uintptr_t)address));
	return (int)syscall(SYS_ioctl, fd, request, address);
}

off_t lseek(int fd, off_t offset, int whence)
{
	struct message message;
	struct reply reply;
	long ret;

	if (!is_engine(fd))
		return syscall(SYS_lseek, fd, offset, whence);
	message_begin(&message, CALL_SEEK);
	message.call.arguments[0] = (uint64_t)offset;
	message.call.arguments[1] = (uint64_t)whence;
	ret = message_send(&message, fd, &reply, NULL);
	return ret ? finish(ret) : (off_t)reply.value;
}

off64_t lseek64(int fd, off64_t offset, int whence)
{
	return lseek(fd, offset, whence);
}

/* Sends what can be read, up to the first byte that cannot: the engine finds out. */
static long call_write(int fd, const struct iovec *parts, int count)
{
	size_t bytes = 0, at = 0, some, want;
	struct message message;
	bool readable = true;
	char *whole;
	int i;

	message_begin(&message, CALL_WRITE);
	for (i = 0; i < count; i++)
		bytes += parts[i].iov_len;
	whole = malloc(WRITE_MAX);
	if (!whole)
		abort();
	for (i = 0; i < count && readable; i++) {
		want = parts[i].iov_len < WRITE_MAX - at ? parts[i].iov_len : WRITE_MAX - at;
		some = peek(whole + at, (uintptr_t)parts[i].iov_base, want);
		at += some;
		readable = some == parts[i].iov_len;
	}
	message.call.arguments[0] = bytes;
	message_add(&message, (uintptr_t)whole, at, PIECE_IN);
	free(whole);
	return message_send(&message, fd, NULL, NULL);
}

ssize_t write(int fd, const void *from, size_t bytes)
{
	struct iovec part = { (void *)from, bytes };

	return is_engine(fd) ? finish(call_write(fd, &part, 1)) : REAL(write)(fd, from, bytes);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
	struct iovec copies[IOV_MAX];
	size_t bytes;

	if (!is_engine(fd))
		return REAL(writev)(fd, parts, count);
	if (count < 0 || count > IOV_MAX)
		return finish(-EINVAL);
	bytes = (size_t)count * sizeof(*parts);
	if (peek(copies, (uintptr_t)parts, bytes) != bytes)
		return finish(-EFAULT);
	return finish(call_write(fd, copies, count));
}

static long call_read(int fd, void *to, size_t bytes, bool at, off_t offset)
{
	struct message message;

	if (bytes > READ_MAX)
		bytes = READ_MAX;
	message_begin(&message, CALL_READ);
	message.call.arguments[0] = (uintptr_t)to;
	message.call.arguments[1] = bytes;
	message.call.arguments[2] = at;
	message.call.arguments[3] = (uint64_t)offset;
	message_add(&message, (uintptr_t)to, bytes, PIECE_OUT);
	return message_send(&message, fd, NULL, NULL);
}

ssize_t read(int fd, void *to, size_t bytes)
{
	return is_engine(fd) ? finish(call_read(fd, to, bytes, false, 0)) :
			       REAL(read)(fd, to, bytes);
}

ssize_t pread(int fd, void *to, size_t bytes, off_t offset)
{
	return is_engine(fd) ? finish(call_read(fd, to, bytes, true, offset)) :
			       REAL(pread)(fd, to, bytes, offset);
}

ssize_t pread64(int fd, void *to, size_t bytes, off64_t offset)
{
	return pread(fd, to, bytes, offset);
}

ssize_t __read_chk(int fd, void *to, size_t bytes, size_t room);

ssize_t __read_chk(int fd, void *to, size_t bytes, size_t room)
{
	(void)room;
	return read(fd, to, bytes);
}

long syscall(long number, ...)
{
	va_list list;
	long a, b, c, d, e, f;

	va_start(list, number);
	a = va_arg(list, long);
	b = va_arg(list, long);
	c = va_arg(list, long);
	d = va_arg(list, long);
	e = va_arg(list, long);
	f = va_arg(list, long);
	va_end(list);
	if (number == SYS_write && is_engine((int)a))
		return write((int)a, (void *)b, (size_t)c);
	if (number == SYS_writev && is_engine((int)a))
		return writev((int)a, (void *)b, (int)c);
	return REAL(syscall)(number, a, b, c, d, e, f);
}
