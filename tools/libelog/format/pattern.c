// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Regular expressions in expressions. Their number and their expanded size are limited,
 * because the C library's compiler needs memory proportional to the square of that
 * size.
 *
 * The C library's automata cache states. A lock for each pattern protects them, so any
 * number of threads may match.
 */
#include <errno.h>
#include <stdlib.h>

#include "elog.h"
#include "format/expression.h"

#define PATTERN_BYTES_MAX	1024
#define PATTERN_DEPTH_MAX	32
#define PATTERN_COST_MAX	1000	/* expanded size of one */
#define PATTERN_TOTAL_COST_MAX	4096	/* expanded size of all */
#define PATTERN_CACHED_MAX	8192	/* matched bytes until it is compiled again */

/* Get the position behind the bracket expression that begins at @text. */
static const char *skip_bracket(const char *text)
{
	char class;

	text++;
	if (*text == '^')
		text++;
	if (*text == ']')
		text++;
	for (; *text && *text != ']'; text++) {
		if (*text != '[' || !text[1] || !strchr(":.=", text[1]))
			continue;
		class = text[1];
		for (text += 2; *text && (*text != class || text[1] != ']'); text++)
			;
		if (!*text)
			return text;
		text++;
	}
	return *text ? text + 1 : text;
}

/* Get the repetitions of an interval, or 0: it is not an interval. @text is set behind it. */
static unsigned int interval(const char **text)
{
	unsigned int bounds[2] = { 0, 0 }, which = 0, i;
	const char *from = *text + 1;
	bool digits = false;

	for (; eventlog_is_digit(*from) || *from == ','; from++) {
		if (*from == ',') {
			if (which++)
				return 0;
			continue;
		}
		digits = true;
		i = bounds[which] * 10 + (unsigned int)(*from - '0');
		bounds[which] = i < PATTERN_COST_MAX ? i : PATTERN_COST_MAX;
	}
	if (*from != '}' || (!digits && !which))
		return 0;
	*text = from + 1;
	return (bounds[0] > bounds[1] ? bounds[0] : bounds[1]) + 1;
}

/*
 * Get the number of states that a regular expression has when its repetitions are
 * expanded, as the C library does. Return: NULL or an error message.
 */
static const char *pattern_cost(const char *text, unsigned int *cost)
{
	unsigned int totals[PATTERN_DEPTH_MAX + 1] = { 0 };
	unsigned int total = 0, atom = 0, depth = 0, times;

	while (*text) {
		times = 0;
		switch (*text) {
		case '*':
		case '?':
			text++;
			continue;
		case '+':
			times = 2;
			text++;
			break;
		case '{':
			times = interval(&text);
			break;
		default:
			break;
		}
		if (times) {
			atom *= times;
			if (total + atom > PATTERN_COST_MAX)
				return "the regular expression repeats too much";
			continue;
		}
		total += atom;
		atom = 1;
		if (*text == '(') {
			if (depth == PATTERN_DEPTH_MAX)
				return "the regular expression is nested too deep";
			totals[depth++] = total;
			total = 0;
			atom = 0;
		} else if (*text == ')' && depth) {
			atom = total + 1;
			total = totals[--depth];
		} else if (*text == '[') {
			text = skip_bracket(text);
			continue;
		} else if (*text == '\\') {
			if (eventlog_is_digit(text[1]))
				return "back-references are not supported";
			if (!*++text)
				break;
		}
		text++;
	}
	total += atom;
	while (depth)
		total += totals[--depth];
	*cost = total;
	return total > PATTERN_COST_MAX ? "the regular expression is too large" : NULL;
}

/* Many patterns are plain text: match them without the C library. */
static bool plain_pattern(struct pattern *pattern, const char *text, size_t size)
{
	bool begin = size && text[0] == '^';
	bool end = size > (size_t)begin && text[size - 1] == '$';

	text += begin;
	size -= (size_t)begin + end;
	if (strcspn(text, ".[]()*+?{}|^$\\") < size)
		return false;
	if (begin)
		pattern->type = end ? PATTERN_WHOLE : PATTERN_BEGIN;
	else
		pattern->type = end ? PATTERN_END : PATTERN_ANYWHERE;
	pattern->text = text;
	pattern->size = size;
	return true;
}

int elog_pattern_compile(struct elog_expression *expression, const char *text,
			 size_t size, unsigned int column,
			 struct elog_expression_error *error,
			 struct pattern **result)
{
	struct pattern *pattern;
	unsigned int cost = 0;
	const char *reason;
	char buffer[120];
	int ret;

	if (expression->pattern_count == PATTERNS_MAX)
		return elog_wrong(error, column, "more than %u regular expressions",
				  PATTERNS_MAX);
	if (size > PATTERN_BYTES_MAX)
		return elog_wrong(error, column,
				  "the regular expression is longer than %u bytes",
				  PATTERN_BYTES_MAX);
	pattern = calloc(1, sizeof(*pattern));
	if (!pattern)
		return -ENOMEM;
	if (!plain_pattern(pattern, text, size)) {
		reason = pattern_cost(text, &cost);
		expression->pattern_costs += cost;
		if (!reason && expression->pattern_costs > PATTERN_TOTAL_COST_MAX)
			reason = "the regular expressions are too large together";
		if (reason) {
			free(pattern);
			return elog_wrong(error, column, "%s", reason);
		}
		pattern->text = text;
		ret = regcomp(&pattern->regex, pattern->text,
			      REG_EXTENDED | REG_NOSUB);
		if (ret) {
			regerror(ret, &pattern->regex, buffer, sizeof(buffer));
			free(pattern);
			if (ret == REG_ESPACE)
				return -ENOMEM;
			return elog_wrong(error, column,
					  "the regular expression is wrong: %s",
					  buffer);
		}
		pattern->compiled = true;
		pthread_mutex_init(&pattern->lock, NULL);
	}
	expression->patterns[expression->pattern_count++] = pattern;
	*result = pattern;
	return 0;
}

static void recompile(struct pattern *pattern)
{
	if (pattern->compiled)
		regfree(&pattern->regex);
	pattern->compiled = !regcomp(&pattern->regex, pattern->text,
				     REG_EXTENDED | REG_NOSUB);
	pattern->cached = 0;
}

/* Return: 1, 0, or -1 if memory is short. */
static int regex_matches(struct pattern *pattern, const char *text, size_t size)
{
	regmatch_t range = { .rm_so = 0, .rm_eo = (regoff_t)size };
	int ret = REG_ESPACE;

	/* The C library would take a lock, too. */
	pthread_mutex_lock(&pattern->lock);
	if (!pattern->compiled ||
	    (pattern->cached && pattern->cached + size > PATTERN_CACHED_MAX))
		recompile(pattern);
	if (pattern->compiled) {
		ret = regexec(&pattern->regex, text, 1, &range, REG_STARTEND);
		pattern->cached += size;
	}
	pthread_mutex_unlock(&pattern->lock);
	return ret == REG_NOMATCH ? 0 : ret ? -1 : 1;
}

int elog_pattern_matches(struct pattern *pattern, const char *text, size_t size)
{
	if (pattern->type != PATTERN_REGEX && pattern->size > size)
		return 0;
	switch (pattern->type) {
	case PATTERN_ANYWHERE:
		return memmem(text, size, pattern->text, pattern->size) != NULL;
	case PATTERN_BEGIN:
		return !memcmp(text, pattern->text, pattern->size);
	case PATTERN_END:
		return !memcmp(text + size - pattern->size, pattern->text,
			       pattern->size);
	case PATTERN_WHOLE:
		return size == pattern->size && !memcmp(text, pattern->text, size);
	default:
		return regex_matches(pattern, text, size);
	}
}

void elog_pattern_free(struct pattern *pattern)
{
	if (pattern->type == PATTERN_REGEX)
		pthread_mutex_destroy(&pattern->lock);
	if (pattern->compiled)
		regfree(&pattern->regex);
	free(pattern);
}
