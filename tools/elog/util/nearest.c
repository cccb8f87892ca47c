// SPDX-License-Identifier: GPL-2.0-only
/*
 * Misspelled names: see nearest.h. No locks, nothing global.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/nearest.h"

#define NAME_SIZE_MAX	255

/* The typing errors that are allowed: a short name resembles too many others. */
static unsigned int errors_max(size_t size)
{
	return (size >= 3) + (size >= 6) + (size >= 10);
}

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static bool same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* The optimal string alignment distance of names of at most NAME_SIZE_MAX bytes. */
static unsigned int count_errors(const char *a, size_t a_size, const char *b, size_t b_size)
{
	unsigned int rows[3][NAME_SIZE_MAX + 1];
	unsigned int *now = rows[0], *last = rows[1], *before = rows[2], *oldest;
	size_t i, j;

	for (j = 0; j <= b_size; j++)
		now[j] = (unsigned int)j;
	for (i = 1; i <= a_size; i++) {
		oldest = before;
		before = last;
		last = now;
		now = oldest;
		now[0] = (unsigned int)i;
		for (j = 1; j <= b_size; j++) {
			now[j] = least(least(last[j], now[j - 1]) + 1,
				       last[j - 1] + !same(a[i - 1], b[j - 1]));
			if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) &&
			    same(a[i - 2], b[j - 1]))
				now[j] = least(now[j], before[j - 2] + 1);
		}
	}
	return now[b_size];
}

unsigned int name_distance(const char *sought, const char *name)
{
	size_t size = strlen(sought), name_size = strlen(name);
	unsigned int most = errors_max(size), errors;

	if (size > NAME_SIZE_MAX || name_size > NAME_SIZE_MAX || !size)
		return NEAREST_FAR;
	if (name_size <= size + most && size <= name_size + most) {
		errors = count_errors(sought, size, name, name_size);
		/* Not all characters of a name are typing errors. */
		if (errors <= most && errors < size)
			return errors;
	}
	return size > 1 && !strncasecmp(sought, name, size) ? most + 1 : NEAREST_FAR;
}

void nearest_offer_at(struct nearest *nearest, const char *name, unsigned int distance)
{
	size_t i;

	if (distance >= NEAREST_FAR || (nearest->count && distance > nearest->distance))
		return;
	if (nearest->count && distance < nearest->distance)
		nearest_free(nearest);
	for (i = 0; i < nearest->count; i++)
		if (!strcmp(nearest->names[i], name))
			return;
	if (nearest->count == NEAREST_MAX)
		return;
	nearest->names[nearest->count] = strdup(name);
	nearest->count += nearest->names[nearest->count] != NULL;
	nearest->distance = distance;
}

void nearest_offer(struct nearest *nearest, const char *name)
{
	nearest_offer_at(nearest, name, name_distance(nearest->sought, name));
}

void nearest_free(struct nearest *nearest)
{
	while (nearest->count)
		free(nearest->names[--nearest->count]);
}

static void put_formatted(struct elog_text *text, const char *format, va_list arguments)
{
	char *formatted;

	if (vasprintf(&formatted, format, arguments) < 0)
		return;
	elog_text_string(text, formatted);
	free(formatted);
}

static void put_nearest(struct elog_text *text, const struct nearest *nearest)
{
	size_t i;

	for (i = 0; i < nearest->count; i++)
		elog_text_printf(text, "%s'%s'", !i ? "; did you mean " :
				 i + 1 < nearest->count ? ", " : " or ", nearest->names[i]);
	if (nearest->count)
		elog_text_string(text, "?");
}

static void print_text(struct elog_text *text)
{
	elog_error("%s", text->error || !text->data ? "out of memory" : text->data);
	elog_text_free(text);
}

void nearest_error(struct nearest *nearest, const char *format, ...)
{
	struct elog_text text = { 0 };
	va_list arguments;

	va_start(arguments, format);
	put_formatted(&text, format, arguments);
	va_end(arguments);
	put_nearest(&text, nearest);
	print_text(&text);
}

int choice_find(const char *const *choices, size_t count, const char *word)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (choices[i] && !strcmp(choices[i], word))
			return (int)i;
	return -1;
}

static void put_choices(struct elog_text *text, const char *const *choices, size_t count)
{
	const char *between = "";
	size_t i;

	for (i = 0; i < count; i++) {
		if (!choices[i])
			continue;
		elog_text_printf(text, "%s%s", between, choices[i]);
		between = ", ";
	}
}

static void offer_choices(struct nearest *nearest, const char *const *choices, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (choices[i])
			nearest_offer(nearest, choices[i]);
}

void choice_error(const char *const *choices, size_t count, const char *word, const char *more,
		  const char *format, ...)
{
	struct nearest nearest = { .sought = word };
	struct elog_text text = { 0 };
	va_list arguments;

	va_start(arguments, format);
	put_formatted(&text, format, arguments);
	va_end(arguments);
	elog_text_string(&text, ": must be one of ");
	put_choices(&text, choices, count);
	if (more)
		elog_text_string(&text, more);
	offer_choices(&nearest, choices, count);
	put_nearest(&text, &nearest);
	print_text(&text);
	nearest_free(&nearest);
}

int choice_abbreviated(const char *const *choices, size_t count, const char *word,
		       const char *kind)
{
	struct nearest nearest = { .sought = word };
	struct elog_text text = { 0 };
	int found = choice_find(choices, count, word), matches = 0;
	size_t i, size = strlen(word);

	if (found >= 0)
		return found;
	for (i = 0; size && i < count; i++) {
		if (!choices[i] || strncmp(choices[i], word, size))
			continue;
		elog_text_printf(&text, "%s%s", matches ? ", " : "", choices[i]);
		matches++;
		found = (int)i;
	}
	if (matches > 1)
		elog_error("the %s '%s' is ambiguous: %s", kind, word,
			   text.error ? "" : text.data);
	elog_text_free(&text);
	if (matches)
		return matches == 1 ? found : -1;
	offer_choices(&nearest, choices, count);
	if (nearest.count)
		nearest_error(&nearest, "no %s '%s'", kind, word);
	else
		choice_error(choices, count, word, NULL, "no %s '%s'", kind, word);
	nearest_free(&nearest);
	return -1;
}
