/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The line between the library and what it talks to: libelog and elog make each call on a file of
 * the device with these functions. A device takes system calls. No state.
 *
 * Producers call them in signal handlers, so they make only system calls.
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

/** elog_port_open() - open @path for reading and writing; return a file or a negative errno */
static inline int elog_port_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/** elog_port_close() - close @fd */
static inline void elog_port_close(int fd)
{
	close(fd);
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
	return syscall(SYS_write, fd, message, size);
}

/** elog_port_writev() - write a message in @count parts, otherwise as elog_port_write() */
static inline ssize_t elog_port_writev(int fd, const struct iovec *parts, unsigned int count)
{
	return syscall(SYS_writev, fd, parts, (int)count);
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
	return mmap(at, length, protection, MAP_SHARED | (at ? MAP_FIXED : 0), fd, (off_t)offset);
}

/** elog_port_unmap() - unmap memory from elog_port_map() */
static inline void elog_port_unmap(const void *address, size_t length)
{
	munmap((void *)address, length);
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

	return ppoll(files, count, milliseconds < 0 ? NULL : &limit, mask);
}

#endif /* LIBELOG_PORT_H */
