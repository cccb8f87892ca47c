/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Small functions that all folders of the library use. No state.
 */
#ifndef LIBELOG_UTIL_H
#define LIBELOG_UTIL_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define ELOG_ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

#define elog_container_of(pointer, type, member) \
	((type *)((char *)(pointer) - offsetof(type, member)))

/** elog_clock_read() - get the time of a clock, ns */
static inline uint64_t elog_clock_read(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/**
 * elog_crc32c() - continue a CRC-32C
 * @crc: of the bytes before; 0 at the start
 * @data: the bytes
 * @size: bytes of @data
 */
uint32_t elog_crc32c(uint32_t crc, const void *data, size_t size);

/** elog_crc32c_tables() - the same without the CPU's instruction */
uint32_t elog_crc32c_tables(uint32_t crc, const void *data, size_t size);

/**
 * struct elog_clock_offsets - how far this process's clocks are ahead of the kernel's, ns
 * @monotonic: CLOCK_MONOTONIC
 * @boottime: CLOCK_BOOTTIME
 */
struct elog_clock_offsets {
	int64_t monotonic;
	int64_t boottime;
};

/** elog_clock_offsets() - get the offsets; 0 outside of time namespaces */
struct elog_clock_offsets elog_clock_offsets(void);

#endif /* LIBELOG_UTIL_H */
