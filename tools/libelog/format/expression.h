/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The parsed form of expressions: see expression.c. For the files that parse
 * expressions, bind them to events and translate them for the kernel.
 *
 * An expression is immutable, except for what regular expressions have cached. Each of
 * these has a lock; any number of threads may use an expression.
 */
#ifndef LIBELOG_EXPRESSION_H
#define LIBELOG_EXPRESSION_H

#include <pthread.h>
#include <regex.h>
#include <string.h>

#include "common/word.h"
#include "elog.h"

#define PATTERNS_MAX		64	/* regular expressions in an expression */

/* Targets of comparisons and tests, besides other comparisons and tests. */
#define ACCEPT	(UINT32_MAX - 1)
#define REJECT	UINT32_MAX

enum operator {
	OPERATOR_NONE,		/* only a name */
	OPERATOR_EQUAL,
	OPERATOR_NOT_EQUAL,
	OPERATOR_LESS,
	OPERATOR_LESS_EQUAL,
	OPERATOR_GREATER,
	OPERATOR_GREATER_EQUAL,
	OPERATOR_MATCH,
	OPERATOR_NO_MATCH,
	OPERATOR_BITS,
};

extern const char *const elog_operator_names[];

/* Properties of records besides fields. */
enum metadata {
	METADATA_CPU,
	METADATA_PID,
	METADATA_TID,
	METADATA_COMM,
	METADATA_SESSION,
	METADATA_TIME,
	METADATA_LEVEL,
	METADATA_KEYWORDS,
	METADATA_PROVIDER,
	METADATA_EVENT,
	METADATA_INSTANCE,
	METADATA_NONE,
};

enum pattern_type {
	PATTERN_REGEX,
	PATTERN_ANYWHERE,		/* plain text, anywhere */
	PATTERN_BEGIN,
	PATTERN_END,
	PATTERN_WHOLE,
};

/*
 * The C library caches each state that a text has led to: up to one for each byte, of
 * some KiB. So the pattern is compiled again from time to time.
 */
struct pattern {
	enum pattern_type type;
	const char *text;
	size_t size;

	/* The rest is for PATTERN_REGEX. The lock protects the members behind it. */
	pthread_mutex_t lock;
	regex_t regex;
	bool compiled;
	size_t cached;
};

struct comparison {
	const char *name;
	enum operator operator;
	bool only_metadata;	/* the name had an "@" */
	bool quoted;		/* the value was quoted */
	bool negated;		/* below an odd number of "!" */
	unsigned int column;		/* of the name */
	unsigned int value_column;
	unsigned int end;	/* offset in the source behind the comparison */
	const char *value;	/* NUL-terminated */
	size_t value_size;
	struct pattern *pattern;	/* of ~ and !~ */
	uint32_t on_true;
	uint32_t on_false;
};

/*
 * The structure of an expression in postfix notation: indexes of comparisons, and these.
 * The parser's depth limits the operands that wait for their operators.
 */
#define POSTFIX_NOT	(UINT32_MAX - 2)
#define POSTFIX_AND	(UINT32_MAX - 1)
#define POSTFIX_OR	UINT32_MAX
#define POSTFIX_WAITING	(2 * ELOG_EXPRESSION_DEPTH + 4)

struct elog_expression {
	struct comparison *comparisons;
	uint32_t count;
	uint32_t capacity;
	uint32_t *postfix;
	uint32_t postfix_count;
	uint32_t postfix_capacity;
	char *source;		/* the text that was parsed */
	char *strings;
	struct pattern *patterns[PATTERNS_MAX];
	unsigned int pattern_count;
	unsigned int pattern_costs;
};

/** elog_wrong() - fill in @error, which may be NULL; return -EINVAL */
int __attribute__((format(printf, 3, 4)))
elog_wrong(struct elog_expression_error *error, unsigned int column,
	   const char *format, ...);

/** struct number - a number, in sign and magnitude */
struct number {
	bool negative;
	uint64_t magnitude;
};

/**
 * elog_number_parse() - parse a number of an expression
 * @text: digits, perhaps with a sign, a fraction and a unit
 * @number: set
 *
 * Return: 0; -EINVAL this is not a number; -ERANGE it does not fit in 64 bits, or the
 * fraction is too fine for the unit.
 */
int elog_number_parse(const char *text, struct number *number);

/**
 * elog_float_parse() - parse a decimal number, perhaps with a fraction and an exponent
 * @text: NUL-terminated
 * @number: set
 *
 * Return: false if it is none, or has a unit.
 */
bool elog_float_parse(const char *text, double *number);

/**
 * elog_pattern_compile() - compile the regular expression of a comparison
 * @expression: owns the result
 * @text: the regular expression, in the memory of @expression, NUL-terminated
 * @size: bytes of it
 * @column: of @text, for errors
 * @error: filled in on -EINVAL; may be NULL
 * @result: set
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int elog_pattern_compile(struct elog_expression *expression, const char *text,
			 size_t size, unsigned int column,
			 struct elog_expression_error *error,
			 struct pattern **result);

/** elog_pattern_free() - free a pattern */
void elog_pattern_free(struct pattern *pattern);

/** elog_pattern_matches() - return 1, 0, or -1 if memory is short */
int elog_pattern_matches(struct pattern *pattern, const char *text, size_t size);

/** elog_metadata_find() - get the metadata of this name, or METADATA_NONE */
enum metadata elog_metadata_find(const char *name);

/**
 * elog_comparison_mask() - parse the value of a comparison as names and numbers with "|"
 * @comparison: the comparison
 * @names: known names
 * @count: elements of @names
 * @rest: set to the first word that is neither a name nor a number, or to NULL
 * @rest_size: bytes of it
 *
 * Return: the combined bits.
 */
uint64_t elog_comparison_mask(const struct comparison *comparison,
			      struct elog_schema_name *const *names, size_t count,
			      const char **rest, size_t *rest_size);

static inline bool is_match(enum operator operator)
{
	return operator == OPERATOR_MATCH || operator == OPERATOR_NO_MATCH;
}

static inline bool is_equality(enum operator operator)
{
	return operator == OPERATOR_EQUAL || operator == OPERATOR_NOT_EQUAL;
}

#endif /* LIBELOG_EXPRESSION_H */
