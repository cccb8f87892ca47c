// SPDX-License-Identifier: GPL-2.0-only
/*
 * Duplicates in an array: see unique.h.
 */
#include <linux/errno.h>
#include <linux/sort.h>

#include "core/unique.h"
#include "memory.h"

struct eventlog_order {
	int (*compare)(const void *left, const void *right);
};

/* Makes sorting stable: equal elements keep their order. */
static int eventlog_place_compare(const void *left, const void *right, const void *context)
{
	const void *a = *(const void *const *)left, *b = *(const void *const *)right;
	const struct eventlog_order *order = context;

	return order->compare(a, b) ?: (a < b ? -1 : a > b);
}

int eventlog_duplicates_find(const void *array, unsigned int count, size_t bytes,
			     int (*compare)(const void *left, const void *right),
			     struct eventlog_duplicates *found)
{
	const struct eventlog_order order = { compare };
	const void **places;
	unsigned int i;
	int ret = 0;

	if (count < 2)
		return 0;
	places = eventlog_alloc(count * sizeof(*places));
	if (!places)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		places[i] = array + i * bytes;
	sort_r(places, count, sizeof(*places), eventlog_place_compare, NULL, &order);
	for (i = 1; i < count && !ret; i++) {
		if (compare(places[i - 1], places[i]))
			continue;
		found->first = places[i - 1];
		found->second = places[i];
		ret = 1;
	}
	eventlog_free(places);
	return ret;
}
