// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts over time: see time_bins.h. Times are unsigned here, in the same order, and the
 * columns are at multiples of their width.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/time_bins.h"

#define SIGN	(1ULL << 63)

int time_table_add(struct time_bins *bins, struct time_table *table, size_t width)
{
	table->counts = calloc(TIME_BINS * width, sizeof(*table->counts));
	if (!table->counts)
		return -ENOMEM;
	table->width = width;
	table->next = bins->tables;
	bins->tables = table;
	return 0;
}

void time_table_free(struct time_table *table)
{
	free(table->counts);
	table->counts = NULL;
}

/* Column @from becomes a part of column @to, and is empty then. */
static void move_column(struct time_table *table, size_t to, size_t from)
{
	uint64_t *sum = table->counts + to * table->width;
	uint64_t *count = table->counts + from * table->width;
	size_t i;

	for (i = 0; i < table->width; i++) {
		sum[i] += count[i];
		count[i] = 0;
	}
}

static void double_width(struct time_bins *bins)
{
	const uint64_t last = bins->base + bins->used - 1;
	struct time_table *table;
	size_t from, to;

	for (table = bins->tables; table; table = table->next) {
		for (from = 0; from < bins->used; from++) {
			to = (size_t)(((bins->base + from) >> 1) - (bins->base >> 1));
			if (to != from)
				move_column(table, to, from);
		}
	}
	bins->shift++;
	bins->base >>= 1;
	bins->used = (unsigned int)((last >> 1) - bins->base + 1);
}

/* Insert @count columns before the first one. */
static void insert_columns(struct time_bins *bins, size_t count)
{
	struct time_table *table;
	size_t bytes;

	for (table = bins->tables; table; table = table->next) {
		bytes = table->width * sizeof(*table->counts);
		memmove(table->counts + count * table->width, table->counts, bins->used * bytes);
		memset(table->counts, 0, count * bytes);
	}
	bins->base -= count;
	bins->used += (unsigned int)count;
}

unsigned int time_bins_find(struct time_bins *bins, int64_t wall)
{
	const uint64_t time = (uint64_t)wall ^ SIGN;
	uint64_t number;

	if (!bins->used) {
		bins->base = time >> bins->shift;
		bins->used = 1;
	}
	for (;;) {
		number = time >> bins->shift;
		if (number >= bins->base && number - bins->base < TIME_BINS) {
			if (number - bins->base >= bins->used)
				bins->used = (unsigned int)(number - bins->base) + 1;
			return (unsigned int)(number - bins->base);
		}
		if (number < bins->base && bins->base - number <= TIME_BINS - bins->used) {
			insert_columns(bins, (size_t)(bins->base - number));
			return 0;
		}
		double_width(bins);
	}
}

double time_bins_start(const struct time_bins *bins, int64_t wall)
{
	const uint64_t start = bins->base << bins->shift, time = (uint64_t)wall ^ SIGN;

	return start < time ? -(double)(time - start) : (double)(start - time);
}
