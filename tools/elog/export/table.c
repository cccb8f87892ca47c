// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file of Parquet: see table.h. The format is described in Apache's parquet-format.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef ELOG_ZSTD
#include <zstd.h>
#endif

#include "export/table.h"
#include "export/thrift.h"
#include "util/array.h"

#define MAGIC		"PAR1"
#define ZSTD_LEVEL	1

/* Types, converted types, encodings and codecs in the format. */
enum { BOOLEAN = 0, INT32 = 1, INT64 = 2, DOUBLE = 5, BYTE_ARRAY = 6 };
enum { UTF8 = 0, UINT_8 = 11, UINT_16, UINT_32, UINT_64, INT_8, INT_16, INT_32, INT_64, NONE };
enum { PLAIN = 0, RLE = 3, RLE_DICTIONARY = 8 };
enum { DATA_PAGE = 0, DICTIONARY_PAGE = 2 };
enum { UNCOMPRESSED = 0, ZSTD = 6 };
enum { REQUIRED = 0, OPTIONAL = 1 };

static const struct {
	int type;
	int converted;
	bool wide;
} types[] = {
	[COLUMN_BOOL] = { BOOLEAN, NONE, false },
	[COLUMN_S8] = { INT32, INT_8, false },
	[COLUMN_S16] = { INT32, INT_16, false },
	[COLUMN_S32] = { INT32, INT_32, false },
	[COLUMN_S64] = { INT64, INT_64, true },
	[COLUMN_U8] = { INT32, UINT_8, false },
	[COLUMN_U16] = { INT32, UINT_16, false },
	[COLUMN_U32] = { INT32, UINT_32, false },
	[COLUMN_U64] = { INT64, UINT_64, true },
	[COLUMN_DOUBLE] = { DOUBLE, NONE, true },
	[COLUMN_TIMESTAMP] = { INT64, NONE, true },
	[COLUMN_TEXT] = { BYTE_ARRAY, UTF8, false },
	[COLUMN_BINARY] = { BYTE_ARRAY, NONE, false },
};

/*
 * struct chunk - the values of a column in a row group: their place, and sizes
 * @offset: in the file
 * @raw: bytes, not compressed
 * @stored: bytes in the file
 * @dictionary: of @stored, the dictionary, which is first; 0: there is none
 */
struct chunk {
	uint64_t offset;
	uint32_t raw;
	uint32_t stored;
	uint32_t dictionary;
};

/*
 * struct table_column - a column
 * @name: its name
 * @type: its type
 * @values: of the rows in memory that are not null; of bools, a byte each
 * @repeats: rows after the first one that have the only value in @values
 * @present: whether values are null: runs of equal ones
 * @run: rows of the last run, which is not in @present yet
 * @run_present: they have values
 * @chunks: of the row groups that were written
 */
struct table_column {
	char *name;
	enum column_type type;
	struct elog_text values;
	struct elog_text present;
	uint64_t repeats;
	uint64_t run;
	bool run_present;
	struct chunk *chunks;
};

int table_add_column(struct table *table, const char *name, enum column_type type)
{
	struct table_column *columns = array_grow(table->columns, table->column_count,
						  sizeof(*columns));

	if (!columns)
		return -ENOMEM;
	table->columns = columns;
	columns += table->column_count;
	*columns = (struct table_column){ .name = strdup(name), .type = type };
	if (!columns->name)
		return -ENOMEM;
	table->column_count++;
	return 0;
}

/* ------------------------------------------------------------------------
 * Values
 */

/* Without a call: most values are numbers. */
static inline void put_u32(struct elog_text *text, uint32_t value)
{
	char *room = elog_text_room(text, sizeof(value));

	if (!room)
		return;
	value = htole32(value);
	memcpy(room, &value, sizeof(value));
	elog_text_advance(text, room + sizeof(value));
}

static inline void put_u64(struct elog_text *text, uint64_t value)
{
	char *room = elog_text_room(text, sizeof(value));

	if (!room)
		return;
	value = htole64(value);
	memcpy(room, &value, sizeof(value));
	elog_text_advance(text, room + sizeof(value));
}

static void put_varint(struct elog_text *text, uint64_t value)
{
	char *room = elog_text_room(text, PB_VARINT_MAX);

	if (room)
		elog_text_advance(text, pb_put_varint(room, value));
}

/* A run of RLE: twice its length, and the value, whose width is one byte. */
static void end_run(struct table_column *column)
{
	if (!column->run)
		return;
	put_varint(&column->present, column->run << 1);
	elog_text_character(&column->present, (char)column->run_present);
	column->run = 0;
}

static inline void count_value(struct table_column *column, bool present)
{
	if (column->run_present != present)
		end_run(column);
	column->run_present = present;
	column->run++;
}

void table_integer(struct table *table, size_t index, uint64_t value)
{
	struct table_column *column = &table->columns[index];

	count_value(column, true);
	if (types[column->type].wide)
		put_u64(&column->values, value);
	else if (column->type != COLUMN_BOOL)
		put_u32(&column->values, (uint32_t)value);
	else
		elog_text_character(&column->values, value != 0);
	table->bytes += sizeof(value);
}

/* With its size, as PLAIN has it. */
static void put_bytes(struct table *table, struct elog_text *values, const void *data, size_t size)
{
	char *room = elog_text_room(values, 4 + size);
	uint32_t little = htole32((uint32_t)size);

	if (!room)
		return;
	memcpy(room, &little, sizeof(little));
	elog_text_advance(values, elog_copy(room + sizeof(little), data, size));
	table->bytes += 4 + size;
}

bool table_repeats(struct table *table, size_t index, const void *data, size_t size)
{
	struct table_column *column = &table->columns[index];
	const struct elog_text *values = &column->values;
	const uint32_t little = htole32((uint32_t)size);

	/* The size, too: several values can have the same bytes as one. */
	if (values->size != 4 + size || memcmp(values->data, &little, 4) ||
	    memcmp(values->data + 4, data, size))
		return false;
	count_value(column, true);
	column->repeats++;
	/* As many as they take if another value comes. */
	table->bytes += values->size;
	return true;
}

/* Another value comes: write out those that were only counted. */
static void end_repeats(struct table_column *column)
{
	const size_t size = column->values.size;
	char *room = elog_text_room(&column->values, size * column->repeats);

	for (; room && column->repeats; column->repeats--)
		room = elog_copy(room, column->values.data, size);
	if (room)
		elog_text_advance(&column->values, room);
	column->repeats = 0;
}

void table_bytes(struct table *table, size_t index, const void *data, size_t size)
{
	struct table_column *column = &table->columns[index];

	if (table_repeats(table, index, data, size))
		return;
	if (column->repeats)
		end_repeats(column);
	count_value(column, true);
	put_bytes(table, &column->values, data, size);
}

void table_null(struct table *table, size_t index)
{
	count_value(&table->columns[index], false);
	table->bytes++;
}

int table_end_row(struct table *table)
{
	/* Whether memory was short shows when the rows are written. */
	table->rows++;
	return table->rows == TABLE_ROWS_MAX ? table_flush(table) : 0;
}

/* ------------------------------------------------------------------------
 * Row groups
 */

/* Eight bools make a byte. */
static void pack_bools(struct elog_text *values)
{
	size_t i;

	for (i = 0; i < values->size; i++) {
		char bit = (char)((values->data[i] & 1) << i % 8);

		values->data[i / 8] = i % 8 ? (char)(values->data[i / 8] | bit) : bit;
	}
	values->size = (values->size + 7) / 8;
}

static void make_page(struct table_column *column, struct elog_text *page)
{
	end_run(column);
	page->size = 0;
	put_u32(page, (uint32_t)column->present.size);
	elog_text_put(page, column->present.data, column->present.size);
	if (column->type == COLUMN_BOOL)
		pack_bools(&column->values);
	if (column->repeats) {
		/* Indexes of one bit, in one run: all are 0. */
		elog_text_character(page, 1);
		put_varint(page, (column->repeats + 1) << 1);
		elog_text_character(page, 0);
		column->repeats = 0;
	} else {
		elog_text_put(page, column->values.data, column->values.size);
	}
	if (column->values.error || column->present.error)
		page->error = -ENOMEM;
	/* Other tables need the memory now. */
	elog_text_free(&column->values);
	elog_text_free(&column->present);
}

/* Compress the page into @packed. Return: bytes, or 0: no memory. */
static size_t compress_page(const struct elog_text *page, struct elog_text *packed)
{
#ifdef ELOG_ZSTD
	size_t most = ZSTD_compressBound(page->size), size;
	char *room;

	packed->size = 0;
	room = elog_text_room(packed, most);
	if (!room)
		return 0;
	size = ZSTD_compress(room, most, page->data, page->size, ZSTD_LEVEL);
	if (ZSTD_isError(size))
		return 0;
	elog_text_advance(packed, room + size);
#else
	packed->size = 0;
	elog_text_put(packed, page->data, page->size);
#endif
	return packed->error ? 0 : packed->size;
}

static void put_page_header(struct thrift *thrift, int kind, int encoding, size_t rows)
{
	const bool is_data = kind == DATA_PAGE;

	thrift_open(thrift, is_data ? 5 : 7);
	thrift_i32(thrift, 1, (int64_t)rows);
	thrift_i32(thrift, 2, encoding);
	if (is_data) {
		thrift_i32(thrift, 3, RLE);
		thrift_i32(thrift, 4, RLE);
	}
	thrift_close(thrift);
}

/* Append a page to the file's text. Return: 0 or -ENOMEM. */
static int put_page(struct table *table, struct chunk *chunk, int kind, int encoding, size_t rows,
		    const struct elog_text *page, struct elog_text *packed)
{
	const size_t stored = page->error ? 0 : compress_page(page, packed);
	struct elog_text *text = &table->sink.text;
	struct thrift header = { 0 };
	int ret;

	if (!stored)
		return -ENOMEM;
	thrift_i32(&header, 1, kind);
	thrift_i32(&header, 2, (int64_t)page->size);
	thrift_i32(&header, 3, (int64_t)stored);
	put_page_header(&header, kind, encoding, rows);
	elog_text_character(&header.text, 0);
	chunk->raw += (uint32_t)(header.text.size + page->size);
	chunk->stored += (uint32_t)(header.text.size + stored);
	elog_text_put(text, header.text.data, header.text.size);
	elog_text_put(text, packed->data, stored);
	ret = header.text.error ? : text->error;
	elog_text_free(&header.text);
	return ret;
}

/* Append the pages of a column to the file's text. */
static int put_chunk(struct table *table, struct table_column *column, struct elog_text *page,
		     struct elog_text *packed)
{
	int encoding = PLAIN, ret;
	struct chunk *chunk;

	chunk = array_grow(column->chunks, table->group_count, sizeof(*chunk));
	if (!chunk)
		return -ENOMEM;
	column->chunks = chunk;
	chunk += table->group_count;
	*chunk = (struct chunk){ .offset = table->offset + table->sink.text.size };
	if (column->repeats) {
		encoding = RLE_DICTIONARY;
		ret = put_page(table, chunk, DICTIONARY_PAGE, PLAIN, 1, &column->values, packed);
		if (ret)
			return ret;
		chunk->dictionary = chunk->stored;
	}
	make_page(column, page);
	return put_page(table, chunk, DATA_PAGE, encoding, table->rows, page, packed);
}

/* A table that is not written to has no open file: there may be many tables. */
static int reopen(struct table *table)
{
	if (table->sink.fd >= 0)
		return 0;
	table->sink.fd = open(table->path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
	return table->sink.fd < 0 ? -errno : 0;
}

static int write_text(struct table *table)
{
	size_t size = table->sink.text.size;
	int ret = reopen(table) ? : sink_flush(&table->sink);

	if (!ret)
		table->offset += size;
	if (table->sink.fd >= 0 && close(table->sink.fd) && !ret)
		ret = -errno;
	table->sink.fd = -1;
	return ret;
}

struct table *table_open(char *path)
{
	struct table *table = path ? calloc(1, sizeof(*table)) : NULL;
	int ret;

	if (!table) {
		free(path);
		errno = ENOMEM;
		return NULL;
	}
	ret = sink_open(&table->sink, path);
	if (!ret) {
		elog_text_string(&table->sink.text, MAGIC);
		ret = write_text(table);
		if (ret)
			unlink(path);
	}
	if (ret) {
		elog_text_free(&table->sink.text);
		free(table);
		free(path);
		errno = -ret;
		return NULL;
	}
	table->path = path;
	return table;
}

int table_flush(struct table *table)
{
	struct elog_text page = { 0 }, packed = { 0 };
	uint64_t *group_rows;
	size_t i;
	int ret = 0;

	if (!table->rows || table->broken)
		return 0;
	group_rows = array_grow(table->group_rows, table->group_count, sizeof(*group_rows));
	if (!group_rows)
		return -ENOMEM;
	table->group_rows = group_rows;
	for (i = 0; i < table->column_count && !ret; i++)
		ret = put_chunk(table, &table->columns[i], &page, &packed);
	if (!ret)
		ret = write_text(table);
	elog_text_free(&page);
	elog_text_free(&packed);
	group_rows[table->group_count] = table->rows;
	table->broken = ret;
	table->group_count += !ret;
	table->rows = 0;
	table->bytes = 0;
	return ret;
}

/* ------------------------------------------------------------------------
 * The footer
 */

static void put_schema(struct thrift *thrift, const struct table *table)
{
	const struct table_column *column;
	size_t i;

	thrift_list(thrift, 2, THRIFT_STRUCT, table->column_count + 1);
	thrift_open(thrift, 0);
	thrift_string(thrift, 4, "events");
	thrift_i32(thrift, 5, (int64_t)table->column_count);
	thrift_close(thrift);
	for (i = 0; i < table->column_count; i++) {
		column = &table->columns[i];
		thrift_open(thrift, 0);
		thrift_i32(thrift, 1, types[column->type].type);
		thrift_i32(thrift, 3, OPTIONAL);
		thrift_string(thrift, 4, column->name);
		if (types[column->type].converted != NONE)
			thrift_i32(thrift, 6, types[column->type].converted);
		if (column->type == COLUMN_TIMESTAMP) {
			/* Universal time, in nanoseconds. */
			thrift_open(thrift, 10);
			thrift_open(thrift, 8);
			thrift_field(thrift, 1, THRIFT_TRUE);
			thrift_open(thrift, 2);
			thrift_open(thrift, 3);
			thrift_close(thrift);
			thrift_close(thrift);
			thrift_close(thrift);
			thrift_close(thrift);
		}
		thrift_close(thrift);
	}
}

static void put_column_chunk(struct thrift *thrift, const struct table_column *column,
			     const struct chunk *chunk, uint64_t rows)
{
	thrift_open(thrift, 0);
	thrift_i64(thrift, 2, (int64_t)chunk->offset);
	thrift_open(thrift, 3);
	thrift_i32(thrift, 1, types[column->type].type);
	thrift_list(thrift, 2, THRIFT_I32, chunk->dictionary ? 3 : 2);
	thrift_signed(thrift, PLAIN);
	thrift_signed(thrift, RLE);
	if (chunk->dictionary)
		thrift_signed(thrift, RLE_DICTIONARY);
	thrift_list(thrift, 3, THRIFT_BINARY, 1);
	thrift_element(thrift, column->name);
#ifdef ELOG_ZSTD
	thrift_i32(thrift, 4, ZSTD);
#else
	thrift_i32(thrift, 4, UNCOMPRESSED);
#endif
	thrift_i64(thrift, 5, (int64_t)rows);
	thrift_i64(thrift, 6, chunk->raw);
	thrift_i64(thrift, 7, chunk->stored);
	thrift_i64(thrift, 9, (int64_t)(chunk->offset + chunk->dictionary));
	if (chunk->dictionary)
		thrift_i64(thrift, 11, (int64_t)chunk->offset);
	thrift_close(thrift);
	thrift_close(thrift);
}

static void put_groups(struct thrift *thrift, const struct table *table)
{
	uint64_t bytes;
	size_t group, i;

	thrift_list(thrift, 4, THRIFT_STRUCT, table->group_count);
	for (group = 0; group < table->group_count; group++) {
		bytes = 0;
		thrift_open(thrift, 0);
		thrift_list(thrift, 1, THRIFT_STRUCT, table->column_count);
		for (i = 0; i < table->column_count; i++) {
			put_column_chunk(thrift, &table->columns[i],
					 &table->columns[i].chunks[group],
					 table->group_rows[group]);
			bytes += table->columns[i].chunks[group].raw;
		}
		thrift_i64(thrift, 2, (int64_t)bytes);
		thrift_i64(thrift, 3, (int64_t)table->group_rows[group]);
		thrift_close(thrift);
	}
}

static int write_footer(struct table *table)
{
	struct thrift thrift = { 0 };
	uint64_t rows = 0;
	size_t i;

	for (i = 0; i < table->group_count; i++)
		rows += table->group_rows[i];
	thrift_i32(&thrift, 1, 2);
	put_schema(&thrift, table);
	thrift_i64(&thrift, 3, (int64_t)rows);
	put_groups(&thrift, table);
	thrift_string(&thrift, 6, "elog");
	elog_text_character(&thrift.text, 0);
	table->sink.error = thrift.text.error;
	elog_text_put(&table->sink.text, thrift.text.data, thrift.text.size);
	put_u32(&table->sink.text, (uint32_t)thrift.text.size);
	elog_text_string(&table->sink.text, MAGIC);
	elog_text_free(&thrift.text);
	return write_text(table);
}

int table_close(struct table *table)
{
	size_t i;
	int ret, error;

	if (!table)
		return 0;
	ret = table_flush(table);
	/* Drop what is left of a row group that could not be written. */
	table->sink.text.size = 0;
	error = write_footer(table);
	if (error)
		unlink(table->path);
	for (i = 0; i < table->column_count; i++) {
		free(table->columns[i].name);
		free(table->columns[i].chunks);
		elog_text_free(&table->columns[i].values);
		elog_text_free(&table->columns[i].present);
	}
	elog_text_free(&table->sink.text);
	free(table->columns);
	free(table->group_rows);
	free(table->path);
	free(table);
	return ret ? : error;
}
