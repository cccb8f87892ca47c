/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rows of a table as text, JSON or CSV. One function of the caller puts the cells of a
 * row in order; it is also called for the headings. A cell has a name in JSON and CSV, a
 * title in text, or both: without one it is left out there.
 */
#ifndef ROW_H
#define ROW_H

#include "util/tool.h"

/**
 * struct row - a row
 * @format: text, JSON or CSV
 * @text: to append to
 * @heading: put names and titles instead of values
 *
 * The rest belongs to row.c.
 */
struct row {
	enum output_format format;
	struct elog_text *text;
	bool heading;

	bool any;		/* there was a cell */
	size_t from;		/* where the last cell begins */
	size_t width;		/* to fill it up to; 0: not */
};

/** row_begin() - begin a row */
void row_begin(struct row *row);

/** row_end() - end it */
void row_end(struct row *row);

/**
 * row_cell() - begin a cell
 * @row: the row
 * @name: in JSON and CSV; NULL: not there
 * @title: in text; NULL: not there
 * @width: in text, at least; negative: on the left; 0: the last cell, of any width
 *
 * Return: where to append the value; NULL: the format of the row does not have this cell.
 */
struct elog_text *row_cell(struct row *row, const char *name, const char *title, int width);

/** row_number() - put a number */
void row_number(struct row *row, const char *name, const char *title, int width,
		uint64_t number);

/** row_decimal() - put a number with a fraction: one digit in text, three elsewhere */
void row_decimal(struct row *row, const char *name, const char *title, int width,
		 double number);

/** row_seconds() - put nanoseconds as seconds */
void row_seconds(struct row *row, const char *name, const char *title, int width,
		 uint64_t nanoseconds);

/** row_wall() - put CLOCK_REALTIME ns as seconds, not in text; before 1970 they are negative */
void row_wall(struct row *row, const char *name, int64_t realtime);

/** row_string() - put a string; NULL: as row_null() */
void row_string(struct row *row, const char *name, const char *title, int width,
		const char *string);

/** row_name() - put the name of a provider or an event, quoted in text if it is not plain */
void row_name(struct row *row, const char *name, const char *title, int width,
	      const char *string);

/** row_session() - put a session's number; 0: as row_null() */
void row_session(struct row *row, const char *name, const char *title, int width,
		 uint64_t session);

/** row_null() - put null, an empty cell, or "-" */
void row_null(struct row *row, const char *name, const char *title, int width);

#endif /* ROW_H */
