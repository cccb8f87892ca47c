/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file of Parquet: a table of typed columns. Rows are kept in memory until there are
 * many, and then written as a row group: a page a column, PLAIN, compressed with zstd if
 * it is built in. Bytes that are the same in all rows of a group, such as the name of a
 * provider, are kept and written once, as a dictionary. The footer at the end describes
 * all of them, so the file is valid after table_close() only.
 */
#ifndef TABLE_H
#define TABLE_H

#include "export/sink.h"

#define TABLE_ROWS_MAX	122880	/* of a row group */

/** enum column_type - types of columns */
enum column_type {
	COLUMN_BOOL,
	COLUMN_S8,
	COLUMN_S16,
	COLUMN_S32,
	COLUMN_S64,
	COLUMN_U8,
	COLUMN_U16,
	COLUMN_U32,
	COLUMN_U64,
	COLUMN_DOUBLE,		/* an integer with the bits of it */
	COLUMN_TIMESTAMP,	/* CLOCK_REALTIME, ns */
	COLUMN_TEXT,		/* UTF-8 */
	COLUMN_BINARY,
};

/**
 * struct table - a table
 * @bytes: of the rows in memory; of bytes that repeat, as if each row had its own
 * @rows: in memory
 *
 * The rest belongs to table.c.
 */
struct table {
	size_t bytes;
	size_t rows;

	struct sink sink;
	char *path;
	struct table_column *columns;
	size_t column_count;
	uint64_t *group_rows;
	size_t group_count;
	uint64_t offset;
	bool broken;		/* a row group could not be written */
};

/** table_open() - create a table; owns @path, from malloc(). Return: NULL, with errno set */
struct table *table_open(char *path);

/** table_add_column() - add a column, before any row; return: 0 or -ENOMEM */
int table_add_column(struct table *table, const char *name, enum column_type type);

/** table_integer() - the value of a column of the present row */
void table_integer(struct table *table, size_t column, uint64_t value);

/** table_bytes() - likewise; text must be valid UTF-8 */
void table_bytes(struct table *table, size_t column, const void *data, size_t size);

/**
 * table_repeats() - are these bytes all that the column has so far in this row group?
 * @table: the table
 * @column: its type is COLUMN_TEXT or COLUMN_BINARY
 * @data: the value of the column of the present row
 * @size: its bytes
 *
 * Return: true: the value was taken; false: call table_bytes().
 */
bool table_repeats(struct table *table, size_t column, const void *data, size_t size);

/** table_null() - the present row has no value in this column */
void table_null(struct table *table, size_t column);

/** table_end_row() - all columns have their values; return: 0 or a negative errno */
int table_end_row(struct table *table);

/**
 * table_flush() - write the rows in memory
 * @table: the table
 *
 * Return: 0; or a negative errno, and the table stays as it was written before.
 */
int table_flush(struct table *table);

/**
 * table_close() - write what is in memory and the footer, and free the table
 * @table: the table; NULL is allowed
 *
 * If rows cannot be written, they are missing, but the table is valid. Without a footer it
 * is not, and is removed.
 *
 * Return: 0 or a negative errno.
 */
int table_close(struct table *table);

#endif /* TABLE_H */
