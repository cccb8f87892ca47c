/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arrays that get one element more at a time, without a size of their own.
 */
#ifndef ARRAY_H
#define ARRAY_H

#include <stdlib.h>

/**
 * array_grow() - make room for one more
 * @array: from malloc(), with room for @count rounded up to a power of two, or NULL
 * @count: elements it has
 * @bytes: of an element
 *
 * Doubles it whenever it has a power of two of elements.
 *
 * Return: the array, perhaps elsewhere; NULL: no memory, and it is as before.
 */
static inline void *array_grow(void *array, size_t count, size_t bytes)
{
	if (count & (count - 1))
		return array;
	return reallocarray(array, count ? 2 * count : 1, bytes);
}

#endif /* ARRAY_H */
