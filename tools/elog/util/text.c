// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text and JSON that several verbs print: see tool.h.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "util/time_spec.h"
#include "util/tool.h"

uint64_t put_causes(const uint64_t *lost, unsigned int count, struct elog_text *text)
{
	const char *between = ": ", *name;
	unsigned int cause;

	for (cause = 0; cause < count; cause++) {
		if (!lost[cause] || cause == CAUSE_INVALID)
			continue;
		name = elog_lost_name(cause);
		elog_text_string(text, between);
		between = ", ";
		if (name)
			elog_text_string(text, name);
		else
			elog_text_printf(text, "cause %u", cause);
		elog_text_put(text, " ", 1);
		elog_text_unsigned(text, lost[cause], 1, ' ');
	}
	if (count > CAUSE_INVALID && lost[CAUSE_INVALID])
		elog_text_printf(text, "; %" PRIu64 " invalid record%s", lost[CAUSE_INVALID],
				 plural(lost[CAUSE_INVALID]));
	return sum_causes(lost, count);
}

uint64_t sum_causes(const uint64_t *lost, unsigned int count)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < count; i++)
		sum += i == CAUSE_INVALID ? 0 : lost[i];
	return sum;
}

uint64_t add_causes(uint64_t *lost, const struct elog_item *item)
{
	unsigned int i;

	for (i = 0; i < item->lost_count; i++)
		lost[i] += item->lost[i];
	return sum_causes(item->lost, item->lost_count);
}

/* Characters of names that need no quotes. Names are in every line, so this is a table. */
static const bool plain[UCHAR_MAX + 1] = {
	['A' ... 'Z'] = true, ['a' ... 'z'] = true, ['0' ... '9'] = true,
	['_'] = true, ['.'] = true, ['-'] = true,
};

void put_quotable(struct elog_text *text, const char *name)
{
	const char *c = name;

	/* A name starts with a letter, or with "_". */
	if (*c > '9')
		while (plain[(unsigned char)*c])
			c++;
	/* "?" stands for a name that is not known. */
	if (*c && strcmp(name, "?"))
		elog_text_quoted(text, name, strlen(name));
	else
		elog_text_string(text, name);
}

char *find_slash(const char *glob)
{
	while (*glob && *glob != '/')
		glob += *glob == '\\' && glob[1] ? 2 : 1;
	return (char *)glob;
}

/* Skip a class in brackets. Return: NULL if it has no end before @end. */
static const char *skip_class(const char *glob, const char *end)
{
	glob += glob[1] == '!' || glob[1] == '^' ? 2 : 1;
	glob += *glob == ']';
	return glob < end ? memchr(glob, ']', (size_t)(end - glob)) : NULL;
}

static const char *part_error(const char *glob, const char *end)
{
	for (; glob < end; glob++) {
		if (*glob == '[') {
			glob = skip_class(glob, end);
			if (!glob)
				return "'[' has no ']'; \\[ is the character";
		} else if (*glob == '\\' && ++glob == end) {
			return "nothing follows the last \\";
		}
	}
	return NULL;
}

const char *glob_error(const char *glob)
{
	return part_error(glob, glob + strlen(glob));
}

const char *event_glob_error(const char *glob)
{
	const char *slash = find_slash(glob);
	const char *error = part_error(glob, slash);

	return error || !*slash ? error : glob_error(slash + 1);
}

void put_seconds(struct elog_text *text, uint64_t nanoseconds, unsigned int width)
{
	elog_text_unsigned(text, nanoseconds / 1000000000, width, ' ');
	elog_text_put(text, ".", 1);
	elog_text_unsigned(text, nanoseconds % 1000000000, 9, '0');
}

void put_date(struct elog_text *text, struct date *date, int64_t realtime, bool zone)
{
	int64_t second = realtime / 1000000000, rest = realtime % 1000000000;

	if (rest < 0) {
		rest += 1000000000;
		second--;
	}
	date_set(date, second);
	elog_text_string(text, date->text);
	elog_text_put(text, ".", 1);
	elog_text_unsigned(text, (uint64_t)rest, 9, '0');
	if (zone || date->utc)
		elog_text_string(text, date->zone);
}

void put_wall(struct elog_text *text, enum time_format format, int64_t realtime, bool zone)
{
	struct date date = { .utc = format == TIME_UNIVERSAL };

	put_date(text, &date, realtime, zone);
}

void put_blanks(struct elog_text *text, size_t count)
{
	static const char blanks[] = "                                ";
	size_t some;

	for (; count; count -= some) {
		some = count < sizeof(blanks) - 1 ? count : sizeof(blanks) - 1;
		elog_text_put(text, blanks, some);
	}
}

/* The output goes to a terminal. */
static bool cells_are_escaped;

void escape_cells(bool escape)
{
	cells_are_escaped = escape;
}

void put_cell(struct elog_text *text, const char *data, size_t size)
{
	struct elog_text visible = { 0 };

	if (!cells_are_escaped || !size) {
		elog_text_csv(text, data, size);
		return;
	}
	elog_text_visible(&visible, data, size);
	if (visible.error)
		text->error = visible.error;
	else
		elog_text_csv(text, visible.data, visible.size);
	elog_text_free(&visible);
}

void fill_column(struct elog_text *text, size_t from, size_t width)
{
	const size_t size = text->size - from;

	put_blanks(text, size < width ? width - size : 0);
}

int text_print(struct elog_text *text)
{
	const int status = text->error ? STATUS_ERROR : STATUS_OK;

	if (status)
		elog_error("out of memory");
	else if (text->size)
		fwrite(text->data, 1, text->size, stdout);
	elog_text_free(text);
	return status;
}

void json_member(struct elog_text *text, const char *name, const char *value)
{
	elog_text_printf(text, "\"%s\":", name);
	elog_text_json_string(text, value, strlen(value));
}

void json_causes(const uint64_t *lost, unsigned int count, struct elog_text *text)
{
	const char *between = "", *name;
	unsigned int cause;
	char number[24];

	elog_text_string(text, "\"causes\":{");
	for (cause = 0; cause < count; cause++) {
		if (!lost[cause] || cause == CAUSE_INVALID)
			continue;
		name = elog_lost_name(cause);
		if (!name) {
			snprintf(number, sizeof(number), "cause %u", cause);
			name = number;
		}
		elog_text_string(text, between);
		elog_text_json_string(text, name, strlen(name));
		elog_text_put(text, ":", 1);
		elog_text_unsigned(text, lost[cause], 1, ' ');
		between = ",";
	}
	elog_text_put(text, "}", 1);
	if (count > CAUSE_INVALID && lost[CAUSE_INVALID])
		elog_text_printf(text, ",\"invalid\":%" PRIu64, lost[CAUSE_INVALID]);
}
