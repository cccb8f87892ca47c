// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory, in place of module/memory.c and module/core/pages.c: rings and the status map are files
 * in memory (memfd_create(2)), which programs get and map. The status map of an engine in a
 * directory is a file there: if the engine is killed, the next one asks its programs to leave.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/klinux.h"
#include "core/domain.h"
#include "core/pages.h"
#include "memory.h"
#include "pages.h"

/* ---- module/memory.h: no one is charged ---- */

static long allocations;

void *eventlog_alloc(size_t bytes)
{
	void *memory = calloc(1, bytes);

	allocations += memory != NULL;
	return memory;
}

void *eventlog_alloc_locked(size_t bytes)
{
	return eventlog_alloc(bytes);
}

void *eventlog_alloc_as(size_t bytes, enum eventlog_charge charge)
{
	return eventlog_alloc(bytes);
}

void *eventlog_alloc_atomic(size_t bytes)
{
	return eventlog_alloc(bytes);
}

size_t eventlog_alloc_bytes(size_t bytes)
{
	return round_up(bytes, 16);
}

void eventlog_free(const void *memory)
{
	allocations -= memory != NULL;
	free((void *)memory);
}

long eventlog_allocations_left(void)
{
	return allocations;
}

/* ---- files in memory ---- */

/* Makes a file and maps it. No one can change its size, so no access to it fails. */
static bool make_file(struct page *file, size_t bytes)
{
	file->fd = memfd_create("eventlog", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (file->fd < 0)
		return false;
	file->users = 1;
	file->bytes = bytes;
	file->address = MAP_FAILED;
	/* Its memory is there before anyone uses it. */
	if (!posix_fallocate(file->fd, 0, (off_t)bytes) &&
	    !fcntl(file->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
		file->address = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, 0);
	if (file->address != MAP_FAILED)
		return true;
	close(file->fd);
	return false;
}

static void unmake_file(const struct page *file)
{
	munmap(file->address, file->bytes);
	close(file->fd);
}

void put_page(struct page *page)
{
	if (--page->users)
		return;
	unmake_file(page);
	eventlog_free(page);
}

/* ---- module/core/pages.h ---- */

/* One in so many pages is kept for users without limits. */
#define PAGES_RESERVED 16

static unsigned long pages_max;
static unsigned long pages_count;

void eventlog_pages_init(unsigned long max)
{
	pages_max = max;
}

int eventlog_pages_alloc(struct eventlog_pages *pages, unsigned int count, int node,
			 const struct eventlog_user *user)
{
	struct page *page;

	pages->counted = count;
	pages_count += count;
	if (pages_count > (user ? pages_max - pages_max / PAGES_RESERVED : pages_max))
		return -ENOMEM;
	/* One stands for all of them. */
	pages->pages = eventlog_alloc(sizeof(*pages->pages));
	page = pages->pages ? eventlog_alloc(sizeof(*page)) : NULL;
	if (!page || !make_file(page, (size_t)count << PAGE_SHIFT)) {
		eventlog_free(page);
		return -ENOMEM;
	}
	pages->pages[0] = page;
	pages->address = page->address;
	pages->count = count;
	return 0;
}

void eventlog_pages_free(struct eventlog_pages *pages)
{
	if (pages->count)
		put_page(pages->pages[0]);
	eventlog_free(pages->pages);
	pages_count -= pages->counted;
}

int eventlog_pages_map(const struct eventlog_pages *pages, unsigned int first,
		       struct vm_area_struct *vma)
{
	vma->fd = pages->pages[0]->fd;
	vma->fd_offset = (unsigned long)first << PAGE_SHIFT;
	return 0;
}

/* ---- the status map: there is one domain ---- */

static struct page status;
static const char *status_path;

/* Has the programs of a map leave, as eventlog_domain_status_leave() does. */
static void ask_to_leave(u8 *map, size_t bytes)
{
	size_t slot;
	u8 bits;

	for (slot = EVENTLOG_SLOT_FIRST; slot < bytes; slot++) {
		bits = READ_ONCE(map[slot]);
		if (bits & EVENTLOG_STATUS_LEAVE)
			continue;
		bits = bits & EVENTLOG_STATUS_ENABLED ? bits | EVENTLOG_STATUS_SYNC :
							bits & ~EVENTLOG_STATUS_SYNC;
		WRITE_ONCE(map[slot], bits | EVENTLOG_STATUS_ENABLED | EVENTLOG_STATUS_LEAVE);
	}
}

void pages_status_at(const char *path)
{
	const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	struct stat file;
	void *map;

	status_path = path;
	if (fd < 0)
		return;
	if (!fstat(fd, &file) && S_ISREG(file.st_mode) && file.st_size) {
		map = mmap(NULL, (size_t)file.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (map != MAP_FAILED) {
			ask_to_leave(map, (size_t)file.st_size);
			munmap(map, (size_t)file.st_size);
		}
	}
	close(fd);
	unlink(path);
}

/* The file that programs get cannot be mapped for writing. */
static bool make_status_file(size_t bytes)
{
	const int fd = open(status_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return false;
	status = (struct page){ .bytes = bytes, .address = MAP_FAILED };
	status.fd = open(status_path, O_RDONLY | O_CLOEXEC);
	if (status.fd >= 0 && !posix_fallocate(fd, 0, (off_t)bytes))
		status.address = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (status.address != MAP_FAILED)
		return true;
	close(status.fd);
	unlink(status_path);
	return false;
}

void *vmalloc_user(unsigned long bytes)
{
	assert(!status.address);
	if (status_path)
		return make_status_file(bytes) ? status.address : NULL;
	if (!make_file(&status, bytes))
		return NULL;
	/* From now on no one can map it for writing. */
	if (!fcntl(status.fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE))
		return status.address;
	vfree(status.address);
	return NULL;
}

void vfree(const void *address)
{
	ask_to_leave(status.address, status.bytes);
	if (status_path)
		unlink(status_path);
	unmake_file(&status);
	status.address = NULL;
}

int remap_vmalloc_range(struct vm_area_struct *vma, void *address, unsigned long pgoff)
{
	vma->fd = status.fd;
	vma->fd_offset = pgoff << PAGE_SHIFT;
	return 0;
}
