// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rows of a table: see row.h. No state but the row.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "output/row.h"

void row_begin(struct row *row)
{
	row->any = false;
	row->width = 0;
	if (row->format == FORMAT_JSON)
		elog_text_string(row->text, "{");
}

void row_end(struct row *row)
{
	elog_text_string(row->text, row->format == FORMAT_JSON ? "}\n" : "\n");
}

struct elog_text *row_cell(struct row *row, const char *name, const char *title, int width)
{
	const bool in_text = row->format == FORMAT_TEXT;
	struct elog_text *text = row->text;

	if (!(in_text ? title : name))
		return NULL;
	fill_column(text, row->from, row->width);
	if (row->any)
		elog_text_string(text, in_text ? " " : ",");
	row->any = true;
	row->from = text->size;
	row->width = in_text && width < 0 ? (size_t)-width : 0;
	if (row->heading)
		elog_text_printf(text, "%*s", in_text ? width : 0, in_text ? title : name);
	else if (row->format == FORMAT_JSON)
		elog_text_printf(text, "\"%s\":", name);
	return row->heading ? NULL : text;
}

/* The width of a cell whose value is on the right. */
static unsigned int right(const struct row *row, int width)
{
	return row->format == FORMAT_TEXT && width > 0 ? (unsigned int)width : 1;
}

void row_number(struct row *row, const char *name, const char *title, int width,
		uint64_t number)
{
	struct elog_text *text = row_cell(row, name, title, width);

	if (text)
		elog_text_unsigned(text, number, right(row, width), ' ');
}

void row_decimal(struct row *row, const char *name, const char *title, int width,
		 double number)
{
	struct elog_text *text = row_cell(row, name, title, width);

	if (text)
		elog_text_printf(text, "%*.*f", (int)right(row, width),
				 row->format == FORMAT_TEXT ? 1 : 3, number);
}

void row_seconds(struct row *row, const char *name, const char *title, int width,
		 uint64_t nanoseconds)
{
	struct elog_text *text = row_cell(row, name, title, width);

	if (text)
		put_seconds(text, nanoseconds, 1);
}

void row_wall(struct row *row, const char *name, int64_t realtime)
{
	struct elog_text *text = row_cell(row, name, NULL, 0);

	if (!text)
		return;
	if (realtime < 0)
		elog_text_character(text, '-');
	put_seconds(text, realtime < 0 ? 0 - (uint64_t)realtime : (uint64_t)realtime, 1);
}

void row_string(struct row *row, const char *name, const char *title, int width,
		const char *string)
{
	struct elog_text *text;

	if (!string && !row->heading) {
		row_null(row, name, title, width);
		return;
	}
	text = row_cell(row, name, title, width);
	if (text && row->format == FORMAT_JSON)
		elog_text_json_string(text, string, strlen(string));
	else if (text && row->format == FORMAT_CSV)
		put_cell(text, string, strlen(string));
	else if (text)
		elog_text_printf(text, "%*s", (int)right(row, width), string);
}

void row_name(struct row *row, const char *name, const char *title, int width,
	      const char *string)
{
	struct elog_text *text;

	if (row->format != FORMAT_TEXT) {
		row_string(row, name, title, width, string);
		return;
	}
	text = row_cell(row, name, title, width);
	if (text)
		put_quotable(text, string);
}

void row_session(struct row *row, const char *name, const char *title, int width,
		 uint64_t session)
{
	char number[24];

	snprintf(number, sizeof(number), "0x%" PRIx64, session);
	row_string(row, name, title, width, session ? number : NULL);
}

void row_null(struct row *row, const char *name, const char *title, int width)
{
	struct elog_text *text = row_cell(row, name, title, width);

	if (text && row->format == FORMAT_JSON)
		elog_text_string(text, "null");
	else if (text && row->format == FORMAT_TEXT)
		elog_text_printf(text, "%*s", (int)right(row, width), "-");
}
