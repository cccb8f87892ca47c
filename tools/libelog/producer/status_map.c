// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The status map of a producer: see status_map.h.
 */
#include <errno.h>
#include <string.h>

#include "producer/status_map.h"
#include "util/port.h"

const unsigned char elog_status_maybe = 0xff;

/* Pages with the status of events that may be registered later, or NULL. */
static void *make_stand_in(size_t size)
{
	void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		return NULL;
	memset(pages, elog_status_maybe, size);
	if (!mprotect(pages, size, PROT_READ))
		return pages;
	munmap(pages, size);
	return NULL;
}

/*
 * Replace the status map, at its address, in one step: a thread that still looks at it takes the
 * slow path, or, if there is no memory, finds that events are disabled.
 */
static void put_stand_in(struct elog_producer *producer)
{
	void *page = make_stand_in(producer->map_size);

	producer->is_mapped = false;
	if (page && elog_port_replace(producer->status_map, producer->map_size, page))
		return;
	page = mmap(producer->status_map, producer->map_size, PROT_READ,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (page == MAP_FAILED) {
		producer->status_map = NULL;
		producer->map_size = 0;
	}
}

int elog_status_map(struct elog_producer *producer, int fd,
		    const struct eventlog_register *request)
{
	void *at = NULL, *address;
	int error;

	if (producer->is_mapped)
		return 0;
	if (request->map_offset > INT64_MAX || !request->map_size)
		return -EPROTO;
	/* A page of another size stays mapped: threads may still read it. */
	if (producer->map_size == request->map_size)
		at = producer->status_map;
	address = elog_port_map(at, request->map_size, PROT_READ, fd, request->map_offset);
	if (address == MAP_FAILED) {
		error = errno;
		if (at)
			put_stand_in(producer);
		return -error;
	}
	producer->status_map = address;
	producer->map_size = request->map_size;
	producer->is_mapped = true;
	/* The map is page-aligned and starts with the generation. */
	producer->rings.generation = (const uint32_t *)address;
	return 0;
}

void elog_status_unmap(struct elog_producer *producer)
{
	if (producer->is_mapped)
		put_stand_in(producer);
}
