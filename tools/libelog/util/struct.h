/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Structs that grow: their first member is a uint32_t, the size that the caller was compiled
 * with. The rules are those of linux/eventlog.h. No state; all public functions with such
 * structs call these.
 */
#ifndef LIBELOG_STRUCT_H
#define LIBELOG_STRUCT_H

#include <stddef.h>

/**
 * elog_struct_get() - copy a struct from the caller
 * @to: the library's struct; zero behind what the caller has
 * @size: of @to
 * @from: the caller's struct
 *
 * Return: 0; -EINVAL the caller's size is less than 8; -E2BIG the caller has set members
 * that this library does not know.
 */
int elog_struct_get(void *to, size_t size, const void *from);

/**
 * elog_struct_put() - copy results to the caller
 * @to: the caller's struct, whose size is verified; zero behind what the library has
 * @from: the library's struct
 * @size: of @from
 *
 * Writes no byte behind the caller's struct, and does not change its size.
 */
void elog_struct_put(void *to, const void *from, size_t size);

/**
 * elog_struct_clear() - prepare the caller's struct for results
 * @to: the caller's struct; zero behind its size afterwards
 * @minimum: bytes that the caller must have
 *
 * Return: 0; -EINVAL the caller's size is less than @minimum.
 */
int elog_struct_clear(void *to, size_t minimum);

/* Bytes of a struct up to the end of a member. */
#define ELOG_SIZE_TO(type, member) \
	(offsetof(type, member) + sizeof(((type *)NULL)->member))

#endif /* LIBELOG_STRUCT_H */
