// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Structs that grow: see struct.h.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "util/struct.h"

#define SIZE_MIN	(2 * sizeof(uint32_t))

static size_t size_of(const void *caller)
{
	uint32_t size;

	memcpy(&size, caller, sizeof(size));
	return size;
}

int elog_struct_get(void *to, size_t size, const void *from)
{
	size_t given = size_of(from), i;

	if (given < SIZE_MIN)
		return -EINVAL;
	for (i = size; i < given; i++)
		if (((const unsigned char *)from)[i])
			return -E2BIG;
	memset(to, 0, size);
	memcpy(to, from, given < size ? given : size);
	return 0;
}

void elog_struct_put(void *to, const void *from, size_t size)
{
	size_t room = size_of(to), copied = room < size ? room : size;
	const size_t skip = sizeof(uint32_t);

	memcpy((char *)to + skip, (const char *)from + skip, copied - skip);
	memset((char *)to + copied, 0, room - copied);
}

int elog_struct_clear(void *to, size_t minimum)
{
	size_t room = size_of(to);

	if (room < minimum || room < SIZE_MIN)
		return -EINVAL;
	memset((char *)to + sizeof(uint32_t), 0, room - sizeof(uint32_t));
	return 0;
}
