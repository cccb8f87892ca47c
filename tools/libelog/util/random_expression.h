/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Random expressions for tests. Each test program includes it once, behind
 * test_random.h.
 */
#ifndef LIBELOG_RANDOM_EXPRESSION_H
#define LIBELOG_RANDOM_EXPRESSION_H

#include "elog.h"

/**
 * struct random_field - a field that expressions may name
 * @name: as it is written in expressions
 * @values: that are likely to occur; separated by blanks
 */
struct random_field {
	const char *name;
	const char *values;
};

static inline void put_random_word(struct elog_text *text, const char *words)
{
	uint64_t count = 1, skip;
	const char *word;

	for (word = words; *word; word++)
		count += *word == ' ';
	for (skip = random_number(count); skip; skip--)
		words = strchr(words, ' ') + 1;
	elog_text_put(text, words, strcspn(words, " "));
}

/* Append a comparison of any field with any value, mostly with a likely one. */
static inline void put_random_comparison(struct elog_text *text,
					 const struct random_field *fields, size_t count)
{
	static const char *const operators[] = {
		" == ", " != ", " < ", "<=", " > ", ">= ", " & ", " ~ ", " !~ ",
	};
	const struct random_field *field;
	struct elog_expression *expression;
	size_t before = text->size;

	for (;;) {
		field = &fields[random_number(count)];
		text->size = before;
		elog_text_string(text, field->name);
		if (random_number(10)) {
			elog_text_string(text, operators[random_number(9)]);
			if (!random_number(4))
				field = &fields[random_number(count)];
			put_random_word(text, field->values);
		}
		/* Some operators and values do not go together. */
		if (!elog_expression_parse(text->data + before, &expression, NULL)) {
			elog_expression_free(expression);
			return;
		}
	}
}

/* Append an expression with at most 2 to the power of @depth comparisons. */
static inline void put_random_expression(struct elog_text *text, unsigned int depth,
					 const struct random_field *fields, size_t count)
{
	uint64_t kind = depth ? random_number(8) : 0;

	if (kind < 2) {
		put_random_comparison(text, fields, count);
	} else if (kind == 2) {
		elog_text_string(text, "!(");
		put_random_expression(text, depth - 1, fields, count);
		elog_text_string(text, ")");
	} else {
		elog_text_string(text, kind & 1 ? "(" : "");
		put_random_expression(text, depth - 1, fields, count);
		elog_text_string(text, kind < 6 ? " && " : " || ");
		put_random_expression(text, depth - 1, fields, count);
		elog_text_string(text, kind & 1 ? ")" : "");
	}
}

#endif /* LIBELOG_RANDOM_EXPRESSION_H */
