/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-only */
/*
 * What the files of this directory need from where they are compiled: the module, or
 * libelog.  It is the only difference between the two.  Nothing here allocates memory or
 * takes a lock.
 */
#ifndef EVENTLOG_COMMON_PLATFORM_H
#define EVENTLOG_COMMON_PLATFORM_H

#ifdef __KERNEL__

#include <linux/eventlog.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>
#include <uapi/linux/eventlog.h>

#include "compat.h"

#else /* user space */

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <linux/eventlog.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#define U32_MAX UINT32_MAX
#define U64_MAX UINT64_MAX
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define READ_ONCE(word) (*(const volatile __typeof__(word) *)&(word))
#define be16_to_cpu(number) be16toh(number)
#define notrace
#ifndef __force
#define __force
#endif

#define get_unaligned(pointer) ({						\
	const struct {								\
		__typeof__(*(pointer)) word;					\
	} __attribute__((packed)) *unaligned = (const void *)(pointer);		\
										\
	unaligned->word;							\
})

/* The first byte that is not @byte, or NULL. */
static inline const void *memchr_inv(const void *from, int byte, size_t bytes)
{
	const u8 *at = from;

	for (; bytes; at++, bytes--)
		if (*at != byte)
			return at;
	return NULL;
}

/* A piece of a payload, as in the module's <linux/eventlog.h>. */
struct eventlog_part {
	const void *data;
	u32 bytes;
	bool string;
};

#endif /* __KERNEL__ */

#endif /* EVENTLOG_COMMON_PLATFORM_H */
