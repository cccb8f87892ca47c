// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Translation of expressions to the form that the kernel evaluates: struct
 * eventlog_term. Pure functions of their arguments.
 */
#include "elog.h"
#include "format/predicate.h"

/* The kernel compares only these. */
static bool has_common_operand(const char *name)
{
	return !strcmp(name, "cpu") || !strcmp(name, "pid") ||
	       !strcmp(name, "tid") || !strcmp(name, "comm");
}

/* Convert the target of a comparison for a term. */
static __u8 term_target(uint32_t target)
{
	return target == ACCEPT ? EVENTLOG_TERM_ACCEPT :
	       target == REJECT ? EVENTLOG_TERM_REJECT : (__u8)target;
}

static void term_number(struct eventlog_term *term, const struct number *number)
{
	term->number = number->magnitude;
	term->flags |= EVENTLOG_TERM_NUMBER;
	if (number->negative)
		term->flags |= EVENTLOG_TERM_NEGATIVE;
}

/* An IPv4 address, or the IPv6 form of one. */
static void term_address(struct eventlog_term *term, const struct comparison *comparison)
{
	static const unsigned char none[4];
	uint32_t network[4], mask[4], mapped[4];
	uint64_t words[2];
	struct test test;
	unsigned int i;

	if (!elog_test_parse_address(comparison->value, comparison->value_size, &test))
		return;
	memcpy(network, test.address.network, sizeof(network));
	memcpy(mask, test.address.mask, sizeof(mask));
	map_address(none, words);
	memcpy(mapped, words, sizeof(mapped));
	for (i = 0; i < 3; i++)
		if ((mapped[i] & mask[i]) != network[i])
			return;
	term->address = network[3];
	term->mask = mask[3];
	term->flags |= EVENTLOG_TERM_ADDRESS;
}

static int term_text(struct eventlog_term *term, const struct comparison *comparison,
		     const char *text, size_t size, struct elog_expression_error *error)
{
	if (size >= sizeof(term->text))
		return elog_wrong(error, comparison->value_column,
				  "the kernel compares at most %zu bytes of text",
				  sizeof(term->text) - 1);
	memcpy(term->text, text, size);
	term->flags |= EVENTLOG_TERM_TEXT;
	return 0;
}

/* Set all types that the value may have. */
static int term_values(struct eventlog_term *term, const struct comparison *comparison,
		       struct elog_expression_error *error)
{
	const char *value = comparison->value;
	struct number number;
	bool is_true;
	int ret;

	ret = term_text(term, comparison, value, comparison->value_size, error);
	if (ret)
		return ret;
	term_address(term, comparison);
	is_true = !strcmp(value, "true") || !strcmp(value, "1");
	if (is_true || !strcmp(value, "false") || !strcmp(value, "0")) {
		term->number = is_true;
		term->flags |= EVENTLOG_TERM_BOOL;
	}
	if (!comparison->quoted && !elog_number_parse(value, &number))
		term_number(term, &number);
	return 0;
}

static int term_pattern(struct eventlog_term *term, const struct comparison *comparison,
			struct elog_expression_error *error)
{
	const struct pattern *pattern = comparison->pattern;
	bool inverted = comparison->operator == OPERATOR_NO_MATCH;

	if (pattern->type == PATTERN_BEGIN)
		term->operation = inverted ? EVENTLOG_TERM_BEGINS_NOT : EVENTLOG_TERM_BEGINS;
	else if (pattern->type == PATTERN_WHOLE)
		term->operation = inverted ? EVENTLOG_TERM_NOT_EQUAL : EVENTLOG_TERM_EQUAL;
	else
		return elog_wrong(error, comparison->value_column,
				  "the kernel matches only plain text behind '^'");
	return term_text(term, comparison, pattern->text, pattern->size, error);
}

static int term_value(struct eventlog_term *term, const struct comparison *comparison,
		      struct elog_expression_error *error)
{
	static const __u8 operations[] = {
		[OPERATOR_NONE] = EVENTLOG_TERM_SET,
		[OPERATOR_EQUAL] = EVENTLOG_TERM_EQUAL,
		[OPERATOR_NOT_EQUAL] = EVENTLOG_TERM_NOT_EQUAL,
		[OPERATOR_LESS] = EVENTLOG_TERM_LESS,
		[OPERATOR_LESS_EQUAL] = EVENTLOG_TERM_LESS_EQUAL,
		[OPERATOR_GREATER] = EVENTLOG_TERM_GREATER,
		[OPERATOR_GREATER_EQUAL] = EVENTLOG_TERM_GREATER_EQUAL,
		[OPERATOR_BITS] = EVENTLOG_TERM_BITS,
	};
	struct number number = { 0 };
	const char *rest;
	size_t rest_size;

	if (is_match(comparison->operator))
		return term_pattern(term, comparison, error);
	term->operation = operations[comparison->operator];
	if (comparison->operator == OPERATOR_NONE)
		return 0;
	if (is_equality(comparison->operator))
		return term_values(term, comparison, error);
	if (comparison->operator == OPERATOR_BITS) {
		number.magnitude = elog_comparison_mask(comparison, NULL, 0, &rest, &rest_size);
		if (rest || !number.magnitude)
			return elog_wrong(error, comparison->value_column,
					  "'%.40s' is not a mask of bits",
					  comparison->value);
	} else if (elog_number_parse(comparison->value, &number)) {
		return elog_wrong(error, comparison->value_column,
				  "'%.40s' is not a number", comparison->value);
	}
	term_number(term, &number);
	return 0;
}

int elog_expression_terms(const struct elog_expression *expression,
			  struct eventlog_term *terms, uint32_t *count,
			  struct elog_expression_error *error)
{
	uint32_t i;
	int ret;

	if (expression->count > EVENTLOG_TERMS_MAX)
		return elog_wrong(error,
				  expression->comparisons[EVENTLOG_TERMS_MAX].column,
				  "the kernel supports at most %u comparisons",
				  EVENTLOG_TERMS_MAX);
	memset(terms, 0, EVENTLOG_TERMS_MAX * sizeof(*terms));
	for (i = 0; i < expression->count; i++) {
		const struct comparison *comparison = &expression->comparisons[i];
		struct eventlog_term *term = &terms[i];

		if (strlen(comparison->name) >= sizeof(term->name))
			return elog_wrong(error, comparison->column,
					  "the name is too long for a field");
		strcpy(term->name, comparison->name);
		if (comparison->only_metadata) {
			term->flags = EVENTLOG_TERM_COMMON;
			if (!has_common_operand(term->name))
				return elog_wrong(error, comparison->column,
						  "the kernel compares @cpu, @pid, @tid and "
						  "@comm, not @%s", term->name);
		}
		term->on_true = term_target(comparison->on_true);
		term->on_false = term_target(comparison->on_false);
		ret = term_value(term, comparison, error);
		if (ret)
			return ret;
	}
	*count = expression->count;
	return 0;
}
