/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts over time, when the range of time is not known before: at most TIME_BINS columns
 * of equal width. When an event is outside of all columns, each two become one, until
 * there is room. Any number of tables has these columns. Memory is constant.
 */
#ifndef TIME_BINS_H
#define TIME_BINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIME_BINS	256
#define TIME_BINS_SHIFT	10	/* of columns at first */

/**
 * struct time_table - counts with time_bins' columns
 * @counts: @width numbers for each column
 * @width: numbers of a column
 * @next: another table of the same columns
 */
struct time_table {
	uint64_t *counts;
	size_t width;
	struct time_table *next;
};

/**
 * struct time_bins - columns; without any, only @shift and @tables are set
 * @shift: a column is 2^@shift ns wide
 * @base: number of the first column since the earliest time there is
 * @used: number of columns
 * @tables: all tables
 */
struct time_bins {
	unsigned int shift;
	uint64_t base;
	unsigned int used;
	struct time_table *tables;
};

/**
 * time_table_add() - add a table
 * @bins: its columns
 * @table: zeroed; must not move
 * @width: numbers of a column
 *
 * Return: 0 or -ENOMEM.
 */
int time_table_add(struct time_bins *bins, struct time_table *table, size_t width);

/** time_table_free() - free the counts of a table that is not used any longer */
void time_table_free(struct time_table *table);

/** time_bins_find() - the column of a time, CLOCK_REALTIME ns; counts may move */
unsigned int time_bins_find(struct time_bins *bins, int64_t wall);

/** time_table_at() - a number of a column; valid until the next call of time_bins_find() */
static inline uint64_t *time_table_at(const struct time_table *table, unsigned int bin, size_t at)
{
	return &table->counts[bin * table->width + at];
}

/** time_bins_start() - where the columns begin: ns since @wall */
double time_bins_start(const struct time_bins *bins, int64_t wall);

#endif /* TIME_BINS_H */
