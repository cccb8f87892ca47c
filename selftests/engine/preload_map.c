// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings of files of the device: see preload.h. What is mapped is a file of the engine, which
 * must know when it is unmapped.
 *
 * A lock protects the table. Inform the engine first: afterwards another thread may get the
 * address.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload.h"

#define MAPPINGS_MAX 4096

/**
 * struct mapping - a mapping; with no address, a free place
 * @address: where it is
 * @length: its bytes
 * @fd: a copy of the connection, which stays open as long as the mapping
 * @number: of the engine
 */
struct mapping {
	char *address;
	size_t length;
	int fd;
	uint32_t number;
};

static struct mapping mappings[MAPPINGS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void mappings_forget(void)
{
	unsigned int i;

	for (i = 0; i < MAPPINGS_MAX; i++) {
		if (mappings[i].address)
			syscall(SYS_close, mappings[i].fd);
		mappings[i].address = NULL;
	}
	pthread_mutex_init(&lock, NULL);
}

/* A mapping that begins or ends in this memory, or NULL. With the lock. */
static struct mapping *find_mapping(const char *address, size_t length)
{
	unsigned int i;

	for (i = 0; i < MAPPINGS_MAX; i++)
		if (mappings[i].address && mappings[i].address < address + length &&
		    address < mappings[i].address + mappings[i].length)
			return &mappings[i];
	return NULL;
}

static bool is_mapping(const char *address, size_t length)
{
	bool found;

	pthread_mutex_lock(&lock);
	found = find_mapping(address, length);
	pthread_mutex_unlock(&lock);
	return found;
}

/* Takes such a mapping out of the table. */
static bool take_out(const char *address, size_t length, struct mapping *mapping)
{
	struct mapping *found;

	pthread_mutex_lock(&lock);
	found = find_mapping(address, length);
	if (found) {
		*mapping = *found;
		found->address = NULL;
	}
	pthread_mutex_unlock(&lock);
	return found;
}

/* Tells the engine that memory is not mapped any more. */
static void forget(const char *address, size_t length)
{
	struct mapping mapping;
	struct message message;

	while (take_out(address, length, &mapping)) {
		message_begin(&message, CALL_UNMAP);
		message.call.arguments[0] = mapping.number;
		message_send(&message, mapping.fd, NULL, NULL);
		syscall(SYS_close, mapping.fd);
		/* It may have been the last one. */
		engine_settle();
	}
}

static void remember(char *address, size_t length, int fd, uint32_t number)
{
	struct mapping mapping = { address, (length + 4095) & ~4095UL, -1, number };
	unsigned int i;

	mapping.fd = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, FILES_FROM);
	pthread_mutex_lock(&lock);
	for (i = 0; i < MAPPINGS_MAX && mappings[i].address; i++)
		;
	if (i < MAPPINGS_MAX)
		mappings[i] = mapping;
	pthread_mutex_unlock(&lock);
}

static void *map_engine(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
	struct message message;
	struct reply reply;
	void *address;
	int file;
	long ret;

	message_begin(&message, CALL_MAP);
	message.call.arguments[0] = (uint64_t)offset;
	message.call.arguments[1] = length;
	message.call.arguments[2] = (uint64_t)protection;
	message.call.arguments[3] = (flags & MAP_TYPE) != MAP_PRIVATE;
	ret = message_send(&message, fd, &reply, &file);
	if (ret || file < 0) {
		errno = ret ? (int)-ret : EIO;
		return MAP_FAILED;
	}
	if (flags & MAP_FIXED)
		forget(at, length);
	address = REAL(mmap)(at, length, protection, flags, file, (off_t)reply.value);
	syscall(SYS_close, file);
	if (address == MAP_FAILED)
		return address;
	madvise(address, length, MADV_DONTFORK);
	madvise(address, length, MADV_DONTDUMP);
	remember(address, length, fd, reply.number);
	return address;
}

void *mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
	if (!(flags & MAP_ANONYMOUS) && is_engine(fd))
		return map_engine(at, length, protection, flags, fd, offset);
	if (flags & MAP_FIXED)
		forget(at, length);
	return (void *)syscall(SYS_mmap, at, length, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t length, int protection, int flags, int fd, off64_t offset)
{
	return mmap(at, length, protection, flags, fd, offset);
}

int munmap(void *address, size_t length)
{
	forget(address, length);
	return (int)syscall(SYS_munmap, address, length);
}

/* As with the module: a mapping keeps its place and its length. */
void *mremap(void *old, size_t length, size_t new_length, int flags, ...)
{
	va_list list;
	void *at = NULL;

	if ((new_length != length || flags & ~MREMAP_MAYMOVE) && is_mapping(old, length ?: 1)) {
		errno = EFAULT;
		return MAP_FAILED;
	}
	if (flags & MREMAP_FIXED) {
		va_start(list, flags);
		at = va_arg(list, void *);
		va_end(list);
		forget(at, new_length);
	}
	return (void *)syscall(SYS_mremap, old, length, new_length, flags, at);
}
