/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Duplicates in an array, found by sorting.  No state, no locks.
 */
#ifndef EVENTLOG_UNIQUE_H
#define EVENTLOG_UNIQUE_H

#include <linux/types.h>

/**
 * struct eventlog_duplicates - two equal elements
 * @first: the one that is earlier in the array
 * @second: the other one
 */
struct eventlog_duplicates {
	const void *first;
	const void *second;
};

/**
 * eventlog_duplicates_find() - find two equal elements of an array
 * @array: the elements
 * @count: their number
 * @bytes: the size of one
 * @compare: compares two elements, as for sort()
 * @found: output: the elements
 *
 * Needs n log n comparisons for any array, because processes choose the names.
 *
 * Context: process context.
 *
 * Return: 1: found; 0: all elements are different; -ENOMEM.
 */
int eventlog_duplicates_find(const void *array, unsigned int count, size_t bytes,
			     int (*compare)(const void *left, const void *right),
			     struct eventlog_duplicates *found);

#endif /* EVENTLOG_UNIQUE_H */
