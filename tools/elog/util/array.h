/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arrays that grow by one element and keep no capacity of their own.
 */
#ifndef ARRAY_H
#define ARRAY_H

#include <stdlib.h>

/**
 * array_grow() - make room for one more element
 * @array: from malloc(), with room for @count rounded up to a power of two, or NULL
 * @count: number of elements
 * @bytes: size of an element
 *
 * Doubles the array when @count is a power of two.
 *
 * Return: the array, perhaps at another address; NULL: no memory, @array is unchanged.
 */
static inline void *array_grow(void *array, size_t count, size_t bytes)
{
	if (count & (count - 1))
		return array;
	return reallocarray(array, count ? 2 * count : 1, bytes);
}

#endif /* ARRAY_H */
