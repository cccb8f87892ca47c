/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The line between the library and what it talks to: libelog and elog make each call on a file of
 * the device with these functions. A device takes system calls; an engine, where there is no
 * device, takes messages, which port.c makes.
 *
 * Producers call them in signal handlers, so they make only system calls.
 *
 * State: which files are connections to an engine. elog_port_open() says it of each file that it
 * opens, so what a number was before does not matter.
 */
#ifndef LIBELOG_PORT_H
#define LIBELOG_PORT_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define ELOG_HIDDEN __attribute__((visibility("hidden")))

/* A bit for each number of a file: it is, or was, a connection to an engine. */
extern unsigned char elog_port_engines[8192] ELOG_HIDDEN;

static inline bool elog_port_maybe(int fd)
{
	return (unsigned int)fd < 8 * sizeof(elog_port_engines) &&
	       __atomic_load_n(&elog_port_engines[fd / 8], __ATOMIC_RELAXED) >> fd % 8 & 1;
}

/**
 * elog_engine_connect() - open a connection to an engine
 * @path: of its socket
 *
 * Only the engine of the program's own user, or of root, is one.
 *
 * Return: a file or a negative errno; -ENXIO: it has ended.
 */
int elog_engine_connect(const char *path) ELOG_HIDDEN;

/** elog_engine_is() - is the file a connection to an engine? */
bool elog_engine_is(int fd) ELOG_HIDDEN;

/**
 * elog_engine_take() - make a connection a file of the device
 * @fd: a socket that is connected to an engine
 *
 * Return: 0 or a negative errno.
 */
int elog_engine_take(int fd) ELOG_HIDDEN;

/* The calls below, on a connection to an engine. */
void elog_engine_forget(int fd) ELOG_HIDDEN;
bool elog_engine_remember(int fd) ELOG_HIDDEN;
void elog_engine_patient(int fd) ELOG_HIDDEN;
bool elog_engine_gone(int fd) ELOG_HIDDEN;
bool elog_engine_stopped(int fd) ELOG_HIDDEN;
int elog_engine_call(int fd, unsigned int request, void *argument) ELOG_HIDDEN;
ssize_t elog_engine_writev(int fd, const struct iovec *parts, unsigned int count) ELOG_HIDDEN;
void elog_engine_send(int fd, const void *message, size_t size) ELOG_HIDDEN;
ssize_t elog_engine_read(int fd, void *to, size_t bytes) ELOG_HIDDEN;
void *elog_engine_map(void *at, size_t length, int protection, int fd, uint64_t offset) ELOG_HIDDEN;
void elog_engine_unmapped(int fd, uint64_t offset) ELOG_HIDDEN;
int elog_engine_poll(struct pollfd *files, nfds_t count, int milliseconds,
		     const sigset_t *mask) ELOG_HIDDEN;

/**
 * elog_port_open() - open a device for reading and writing
 * @path: its path, or that of an engine's socket
 *
 * Return: a file or a negative errno.
 */
static inline int elog_port_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (elog_port_maybe(fd))
		elog_engine_forget(fd);
	if (fd >= 0)
		return fd;
	/* A socket, or a node without a device. */
	return errno == ENXIO ? elog_engine_connect(path) : -errno;
}

/** elog_port_close() - close @fd */
static inline void elog_port_close(int fd)
{
	if (elog_port_maybe(fd))
		elog_engine_forget(fd);
	close(fd);
}

/** elog_port_patient() - wait for answers on this file for a minute, and not for a second only */
static inline void elog_port_patient(int fd)
{
	if (elog_port_maybe(fd))
		elog_engine_patient(fd);
}

/**
 * elog_port_dup() - get another number for a file, above those of the standard streams
 * @fd: the file; not only of the device
 *
 * Return: as fcntl(2).
 */
static inline int elog_port_dup(int fd)
{
	const int copy = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (elog_port_maybe(copy))
		elog_engine_forget(copy);
	if (copy < 0 || !elog_port_maybe(fd) || !elog_engine_is(fd) || elog_engine_remember(copy))
		return copy;
	close(copy);
	errno = EMFILE;
	return -1;
}

/**
 * elog_port_gone() - has the engine of this connection ended?
 *
 * What it has mapped stays as it is.
 */
static inline bool elog_port_gone(int fd)
{
	return elog_port_maybe(fd) && elog_engine_gone(fd);
}

/** elog_port_stopped() - has the engine of this connection not answered a call? */
static inline bool elog_port_stopped(int fd)
{
	return elog_port_maybe(fd) && elog_engine_stopped(fd);
}

/**
 * elog_port_call() - make a request
 * @fd: the file
 * @request: EVENTLOG_IOC_*
 * @argument: its struct
 *
 * Return: 0 or a negative errno.
 */
static inline int elog_port_call(int fd, unsigned int request, void *argument)
{
	if (__builtin_expect(elog_port_maybe(fd), 0))
		return elog_engine_call(fd, request, argument);
	return ioctl(fd, request, argument) ? -errno : 0;
}

/**
 * elog_port_write() - write a message
 * @fd: the file
 * @message: the message
 * @size: its bytes
 *
 * Not by the functions of the C library, which are cancellation points: who closes the file would
 * wait forever for a thread that was cancelled here.
 *
 * Return: as write(2).
 */
static inline ssize_t elog_port_write(int fd, const void *message, size_t size)
{
	const struct iovec whole = { (void *)message, size };

	if (__builtin_expect(elog_port_maybe(fd), 0))
		return elog_engine_writev(fd, &whole, 1);
	return syscall(SYS_write, fd, message, size);
}

/** elog_port_send() - write a message, and do not wait for an engine */
static inline void elog_port_send(int fd, const void *message, size_t size)
{
	if (__builtin_expect(elog_port_maybe(fd), 0))
		elog_engine_send(fd, message, size);
	else
		(void)!syscall(SYS_write, fd, message, size);
}

/** elog_port_writev() - write a message in @count parts, otherwise as elog_port_write() */
static inline ssize_t elog_port_writev(int fd, const struct iovec *parts, unsigned int count)
{
	if (__builtin_expect(elog_port_maybe(fd), 0))
		return elog_engine_writev(fd, parts, count);
	return syscall(SYS_writev, fd, parts, (int)count);
}

/** elog_port_read() - read the listing; return as read(2) */
static inline ssize_t elog_port_read(int fd, void *to, size_t size)
{
	return elog_port_maybe(fd) ? elog_engine_read(fd, to, size) : read(fd, to, size);
}

/**
 * elog_port_map() - map memory that is shared with the kernel
 * @at: where, in place of private memory; NULL: anywhere
 * @length: its bytes
 * @protection: PROT_*
 * @fd: the file
 * @offset: which the kernel has given
 *
 * Return: as mmap(2).
 */
static inline void *elog_port_map(void *at, size_t length, int protection, int fd, uint64_t offset)
{
	if (elog_port_maybe(fd))
		return elog_engine_map(at, length, protection, fd, offset);
	return mmap(at, length, protection, MAP_SHARED | (at ? MAP_FIXED : 0), fd, (off_t)offset);
}

/** elog_port_unmap() - unmap memory from elog_port_map() */
static inline void elog_port_unmap(const void *address, size_t length)
{
	munmap((void *)address, length);
}

/**
 * elog_port_unmapped() - say that memory is not mapped any more, which an engine does not see
 * @fd: the file; -1: it is closed, or is closed next
 * @offset: of the mapping
 */
static inline void elog_port_unmapped(int fd, uint64_t offset)
{
	if (elog_port_maybe(fd))
		elog_engine_unmapped(fd, offset);
}

/**
 * elog_port_replace() - unmap memory from elog_port_map(), with private memory in its place
 * @address: the memory
 * @length: its bytes
 * @by: as many bytes, which move there in one step; on failure, they are unmapped
 *
 * Return: false: it is still mapped.
 */
static inline bool elog_port_replace(void *address, size_t length, void *by)
{
	if (mremap(by, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, address) != MAP_FAILED)
		return true;
	munmap(by, length);
	return false;
}

/**
 * elog_port_poll() - wait for files, of the device and others
 * @files: as for poll(2)
 * @count: elements of @files
 * @milliseconds: timeout; negative: none
 * @mask: signal mask while waiting; NULL: unchanged
 *
 * Return: as poll(2).
 */
static inline int elog_port_poll(struct pollfd *files, nfds_t count, int milliseconds,
				 const sigset_t *mask)
{
	const struct timespec limit = {
		.tv_sec = milliseconds / 1000,
		.tv_nsec = milliseconds % 1000 * 1000000L,
	};
	nfds_t i;

	for (i = 0; i < count; i++)
		if (elog_port_maybe(files[i].fd))
			return elog_engine_poll(files, count, milliseconds, mask);
	return ppoll(files, count, milliseconds < 0 ? NULL : &limit, mask);
}

#endif /* LIBELOG_PORT_H */
