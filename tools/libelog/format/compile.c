// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Translation of expressions to the form that the kernel evaluates: struct
 * eventlog_filter.
 *
 * The kernel cannot decide every comparison. One that it cannot decide is assumed to
 * have the result that makes the expression true more often: true, or false below an
 * odd number of "!". The result is implied by the expression. In
 * "a > 1 && path ~ x" that leaves "a > 1"; in "a > 1 || path ~ x" nothing is left.
 *
 * The same is done to comparisons that exceed the limits of the kernel: the last ones
 * are left out.
 *
 * Pure functions of their arguments.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/filter.h"
#include "elog.h"
#include "format/predicate.h"
#include "util/text.h"
#include "util/util.h"

/* A comparison of one of the expressions. Targets are indexes of steps. */
struct step {
	const struct comparison *comparison;
	uint32_t on_true;
	uint32_t on_false;
	uint32_t instead;	/* the step itself, or where its known result leads */
	uint32_t term;		/* its index among the terms */
	bool decidable;
	bool reached;
};

struct compiler {
	const struct elog_expression *const *expressions;
	size_t expression_count;
	struct elog_expression_error *error;
	bool whole;
	bool exact;
	struct step *steps;
	uint32_t count;

	struct eventlog_term terms[EVENTLOG_TERMS_MAX];
	uint32_t term_count;
	char pool[EVENTLOG_FILTER_POOL_MAX];
	uint32_t pool_size;
};

/* ------------------------------------------------------------------------
 * Terms
 */

/*
 * Store bytes in the pool, once. Return: false if there is no room. If so, no term is
 * complete any more.
 */
static bool put_bytes(struct compiler *compiler, const void *data, size_t size, __u32 *offset)
{
	const char *found = memmem(compiler->pool, compiler->pool_size, data, size);

	if (found) {
		*offset = (__u32)(found - compiler->pool);
		return true;
	}
	if (size > sizeof(compiler->pool) - compiler->pool_size)
		return false;
	memcpy(compiler->pool + compiler->pool_size, data, size);
	*offset = compiler->pool_size;
	compiler->pool_size += (__u32)size;
	return true;
}

static int put_string(struct compiler *compiler, struct eventlog_term *term,
		      const struct comparison *comparison, const char *text, size_t size)
{
	char copy[EVENTLOG_TERM_STRING_MAX];

	if (size >= sizeof(copy))
		return elog_wrong(compiler->error, comparison->value_column,
				  "the kernel compares at most %zu bytes of text",
				  sizeof(copy) - 1);
	/* The text of a pattern may continue behind its size. */
	memcpy(copy, text, size);
	copy[size] = '\0';
	term->flags |= EVENTLOG_TERM_STRING;
	return put_bytes(compiler, copy, size + 1, &term->string) ? 0 : -ENOSPC;
}

static void put_number(struct eventlog_term *term, const struct number *number)
{
	term->number = number->magnitude;
	term->flags |= EVENTLOG_TERM_NUMBER;
	if (number->negative)
		term->flags |= EVENTLOG_TERM_NEGATIVE;
}

/* An IPv4 address, or a prefix of IPv6 that contains only mapped ones, has 4 bytes. */
static int put_address(struct compiler *compiler, struct eventlog_term *term,
		       const struct comparison *comparison)
{
	static const unsigned char none[4];
	unsigned char bytes[32], mapped[16];
	struct test test;
	uint64_t words[2];
	size_t size = 16;

	if (!elog_test_parse_address(comparison->value, comparison->value_size, &test))
		return 0;
	memcpy(bytes, test.address.network, 16);
	memcpy(bytes + 16, test.address.mask, 16);
	map_address(none, words);
	memcpy(mapped, words, sizeof(mapped));
	if (!memcmp(bytes, mapped, 12) && bytes[16 + 11] == 0xff) {
		memmove(bytes, bytes + 12, 4);
		memmove(bytes + 4, bytes + 16 + 12, 4);
		size = 4;
	}
	term->flags |= size == 4 ? EVENTLOG_TERM_IPV4 : EVENTLOG_TERM_IPV6;
	return put_bytes(compiler, bytes, 2 * size, &term->address) ? 0 : -ENOSPC;
}

/* The kernel knows numbers between "|" only as digits, without units. */
static bool is_plain_number(const char *word, size_t size)
{
	bool hexadecimal = size > 2 && word[0] == '0' && word[1] == 'x';
	size_t i;

	for (i = hexadecimal ? 2 : 0; i < size; i++)
		if (!(hexadecimal ? eventlog_hex_digit(word[i]) >= 0 : eventlog_is_digit(word[i])))
			return false;
	return size < EVENTLOG_FLAG_NUMBER_BYTES;
}

/* Is the value a list of flags with numbers that the kernel does not know? */
static bool has_odd_numbers(const struct comparison *comparison)
{
	const char *word = comparison->value;
	size_t size;

	if (comparison->quoted || !strchr(word, '|'))
		return false;
	for (; word; word = word[size] ? word + size + 1 : NULL) {
		size = strcspn(word, "|");
		if (eventlog_is_digit(*word) && !is_plain_number(word, size))
			return true;
	}
	return false;
}

/* Set the value in each type that it may have. */
static int put_values(struct compiler *compiler, struct eventlog_term *term,
		      const struct comparison *comparison)
{
	const char *value = comparison->value;
	struct number number;
	bool is_true;
	int ret;

	if (!compiler->whole && has_odd_numbers(comparison))
		return elog_wrong(compiler->error, comparison->value_column,
				  "the kernel knows no units of numbers in lists");
	ret = put_string(compiler, term, comparison, value, comparison->value_size);
	if (!ret)
		ret = put_address(compiler, term, comparison);
	if (ret)
		return ret;
	is_true = !strcmp(value, "true") || !strcmp(value, "1");
	if (is_true || !strcmp(value, "false") || !strcmp(value, "0")) {
		term->number = is_true;
		term->flags |= EVENTLOG_TERM_BOOL;
	}
	if (!comparison->quoted && !elog_number_parse(value, &number))
		put_number(term, &number);
	return 0;
}

static int put_pattern(struct compiler *compiler, struct eventlog_term *term,
		       const struct comparison *comparison)
{
	const struct pattern *pattern = comparison->pattern;
	bool inverted = comparison->operator == OPERATOR_NO_MATCH;

	if (pattern->type == PATTERN_BEGIN)
		term->operation = inverted ? EVENTLOG_TERM_OP_BEGINS_NOT : EVENTLOG_TERM_OP_BEGINS;
	else if (pattern->type == PATTERN_WHOLE)
		term->operation = inverted ? EVENTLOG_TERM_OP_NOT_EQUAL : EVENTLOG_TERM_OP_EQUAL;
	else
		return elog_wrong(compiler->error, comparison->value_column,
				  "the kernel matches only plain text behind '^'");
	return put_string(compiler, term, comparison, pattern->text, pattern->size);
}

/* A mask may be the names of flags; markers have no fields with names. */
static int put_mask(struct compiler *compiler, struct eventlog_term *term,
		    const struct comparison *comparison)
{
	struct number number = { 0 };
	const char *rest;
	size_t rest_size;

	number.magnitude = elog_comparison_mask(comparison, NULL, 0, &rest, &rest_size);
	if (!rest && number.magnitude) {
		put_number(term, &number);
		return 0;
	}
	if (!rest || compiler->whole || has_odd_numbers(comparison))
		return elog_wrong(compiler->error, comparison->value_column,
				  "'%.40s' is not a mask of bits", comparison->value);
	return put_string(compiler, term, comparison, comparison->value,
			  comparison->value_size);
}

/* A number, or the name of an enumerator. */
static int put_limit(struct compiler *compiler, struct eventlog_term *term,
		     const struct comparison *comparison)
{
	struct number number;

	if (!elog_number_parse(comparison->value, &number)) {
		put_number(term, &number);
		return 0;
	}
	if (compiler->whole || has_odd_numbers(comparison))
		return elog_wrong(compiler->error, comparison->value_column,
				  "'%.40s' is not a number", comparison->value);
	return put_string(compiler, term, comparison, comparison->value,
			  comparison->value_size);
}

static int put_value(struct compiler *compiler, struct eventlog_term *term,
		     const struct comparison *comparison)
{
	static const __u16 operations[] = {
		[OPERATOR_NONE] = EVENTLOG_TERM_OP_SET,
		[OPERATOR_EQUAL] = EVENTLOG_TERM_OP_EQUAL,
		[OPERATOR_NOT_EQUAL] = EVENTLOG_TERM_OP_NOT_EQUAL,
		[OPERATOR_LESS] = EVENTLOG_TERM_OP_LESS,
		[OPERATOR_LESS_EQUAL] = EVENTLOG_TERM_OP_LESS_EQUAL,
		[OPERATOR_GREATER] = EVENTLOG_TERM_OP_GREATER,
		[OPERATOR_GREATER_EQUAL] = EVENTLOG_TERM_OP_GREATER_EQUAL,
		[OPERATOR_BITS] = EVENTLOG_TERM_OP_BITS,
	};

	if (is_match(comparison->operator))
		return put_pattern(compiler, term, comparison);
	term->operation = operations[comparison->operator];
	if (comparison->operator == OPERATOR_NONE)
		return 0;
	if (is_equality(comparison->operator))
		return put_values(compiler, term, comparison);
	if (comparison->operator == OPERATOR_BITS)
		return put_mask(compiler, term, comparison);
	return put_limit(compiler, term, comparison);
}

/*
 * A name without "@" may be metadata of events that have no field of this name. Of a
 * marker it is a field: a filter is not accepted for a marker that lacks one.
 */
static int put_name(struct compiler *compiler, struct eventlog_term *term,
		    const struct comparison *comparison)
{
	enum metadata metadata = elog_metadata_find(comparison->name);
	size_t size = strlen(comparison->name) + 1;

	if (size > EVENTLOG_FIELD_NAME_MAX)
		return elog_wrong(compiler->error, comparison->column,
				  "the name is too long for a field");
	if (strchr(comparison->name, '.'))
		return elog_wrong(compiler->error, comparison->column,
				  "the kernel cannot compare a field of a struct");
	if (comparison->only_metadata)
		term->flags = EVENTLOG_TERM_COMMON;
	if (metadata > METADATA_SESSION && metadata != METADATA_NONE &&
	    (comparison->only_metadata || !compiler->whole))
		return elog_wrong(compiler->error, comparison->column,
				  "the kernel compares @cpu, @pid, @tid, @comm and @session, "
				  "not @%s", comparison->name);
	return put_bytes(compiler, comparison->name, size, &term->name) ? 0 : -ENOSPC;
}

/* Return: 0; -EINVAL the kernel cannot decide it; -ENOSPC the pool has no room. */
static int put_comparison(struct compiler *compiler, struct eventlog_term *term,
			  const struct comparison *comparison)
{
	int ret;

	memset(term, 0, sizeof(*term));
	ret = put_name(compiler, term, comparison);
	return ret ? ret : put_value(compiler, term, comparison);
}

/* ------------------------------------------------------------------------
 * Splitting
 */

static uint32_t target_of(const struct compiler *compiler, uint32_t target)
{
	return target < compiler->count ? compiler->steps[target].instead : target;
}

/*
 * Bypass steps that are not decidable, and those whose result is irrelevant then. Go
 * from the last to the first, because the replacements of later steps must be known.
 * Return: the first step, ACCEPT or REJECT.
 */
static uint32_t shorten(struct compiler *compiler)
{
	struct step *step;
	uint32_t i, target, first;

	for (i = compiler->count; i-- > 0;) {
		step = &compiler->steps[i];
		step->reached = false;
		step->instead = i;
		target = target_of(compiler, step->on_true);
		if (!step->decidable)
			step->instead = target_of(compiler, step->comparison->negated ?
						  step->on_false : step->on_true);
		else if (target == target_of(compiler, step->on_false))
			step->instead = target;
	}
	first = target_of(compiler, 0);
	if (first < compiler->count)
		compiler->steps[first].reached = true;
	for (i = 0; i < compiler->count; i++) {
		step = &compiler->steps[i];
		if (!step->reached)
			continue;
		target = target_of(compiler, step->on_true);
		if (target < compiler->count)
			compiler->steps[target].reached = true;
		target = target_of(compiler, step->on_false);
		if (target < compiler->count)
			compiler->steps[target].reached = true;
	}
	return first;
}

/* Make terms of the steps that are reached. Return: 0; -E2BIG: repeat without some steps. */
static int put_terms(struct compiler *compiler)
{
	struct step *step;
	uint32_t i;

	compiler->term_count = 0;
	compiler->pool_size = 0;
	for (i = 0; i < compiler->count; i++) {
		step = &compiler->steps[i];
		if (!step->reached)
			continue;
		if (compiler->term_count == EVENTLOG_TERMS_MAX)
			break;
		step->term = compiler->term_count;
		if (put_comparison(compiler, &compiler->terms[compiler->term_count++],
				   step->comparison)) {
			step->decidable = false;
			return -E2BIG;
		}
	}
	if (i == compiler->count)
		return 0;
	for (; i < compiler->count; i++)
		compiler->steps[i].decidable = false;
	return -E2BIG;
}

static __u16 term_target(const struct compiler *compiler, uint32_t target)
{
	target = target_of(compiler, target);
	if (target >= compiler->count)
		return target == ACCEPT ? EVENTLOG_FILTER_ACCEPT : EVENTLOG_FILTER_REJECT;
	return (__u16)compiler->steps[target].term;
}

static void connect_terms(struct compiler *compiler)
{
	struct eventlog_term *term;
	const struct step *step;
	uint32_t i;

	for (i = 0; i < compiler->count; i++) {
		step = &compiler->steps[i];
		if (!step->reached)
			continue;
		term = &compiler->terms[step->term];
		term->on_true = term_target(compiler, step->on_true);
		term->on_false = term_target(compiler, step->on_false);
	}
}

/* ACCEPT leads to the next expression, and behind the last one it stays. */
static void connect_expressions(struct compiler *compiler)
{
	const struct elog_expression *expression;
	uint32_t begin = 0, end, i;
	struct step *step;
	size_t each;

	for (each = 0; each < compiler->expression_count; each++, begin = end) {
		expression = compiler->expressions[each];
		end = begin + expression->count;
		for (i = begin; i < end; i++) {
			step = &compiler->steps[i];
			step->comparison = &expression->comparisons[i - begin];
			step->on_true = step->comparison->on_true;
			step->on_false = step->comparison->on_false;
			if (step->on_true < ACCEPT)
				step->on_true += begin;
			else if (step->on_true == ACCEPT && end < compiler->count)
				step->on_true = end;
			if (step->on_false < ACCEPT)
				step->on_false += begin;
			else if (step->on_false == ACCEPT && end < compiler->count)
				step->on_false = end;
		}
	}
}

/* Return: 0, -EINVAL. */
static int find_decidable(struct compiler *compiler)
{
	struct elog_expression_error *error = compiler->error;
	struct eventlog_term term;
	uint32_t i;
	int ret;

	/* Formatting messages takes time. */
	if (!compiler->whole)
		compiler->error = NULL;
	for (i = 0; i < compiler->count; i++) {
		compiler->pool_size = 0;
		ret = put_comparison(compiler, &term, compiler->steps[i].comparison);
		if (ret && compiler->whole)
			return ret;
		compiler->steps[i].decidable = !ret;
	}
	compiler->error = error;
	return 0;
}

static int make_terms(struct compiler *compiler)
{
	uint32_t i;
	int ret;

	connect_expressions(compiler);
	if (compiler->whole && compiler->count > EVENTLOG_TERMS_MAX)
		return elog_wrong(compiler->error,
				  compiler->steps[EVENTLOG_TERMS_MAX].comparison->column,
				  "the kernel supports at most %u comparisons",
				  EVENTLOG_TERMS_MAX);
	ret = find_decidable(compiler);
	if (ret)
		return ret;
	/* Each round makes at least one step less decidable. */
	do {
		if (shorten(compiler) >= compiler->count)
			return -ENOENT;
		ret = put_terms(compiler);
		if (ret && compiler->whole)
			return elog_wrong(compiler->error, 1,
					  "the names and values are too long for the kernel");
	} while (ret);
	connect_terms(compiler);
	compiler->exact = true;
	for (i = 0; i < compiler->count; i++)
		compiler->exact &= compiler->steps[i].decidable;
	return 0;
}

/* ------------------------------------------------------------------------
 * Text
 */

static bool blank(char character)
{
	return character == ' ' || character == '\t' || character == '\r' || character == '\n';
}

/*
 * Append a part of a valid expression on one line: one blank between words, and escapes
 * for control characters in strings. Its meaning does not change.
 */
static void put_line(struct elog_text *text, const char *from, const char *end)
{
	bool string = false, gap = false, first = true;

	while (from < end) {
		if (!string && blank(*from)) {
			gap = !first;
			from++;
			continue;
		}
		if (gap)
			elog_text_string(text, " ");
		gap = false;
		first = false;
		if (string && *from == '\\') {
			/* The second character does not end the string. */
			elog_text_put(text, from, 2);
			from += 2;
			continue;
		}
		if (*from == '"')
			string = !string;
		if ((unsigned char)*from < ' ' || *from == 0x7f)
			elog_text_printf(text, "\\x%02x", (unsigned char)*from);
		else
			elog_text_put(text, from, 1);
		from++;
	}
}

/* How tightly the outermost operator of an operand binds, or its known result. */
enum binding {
	BINDING_FALSE,
	BINDING_TRUE,
	BINDING_OR,
	BINDING_AND,
	BINDING_COMPARISON,	/* with an operator and a value */
	BINDING_TIGHT,		/* a name, or "!" */
};

struct operand {
	struct elog_text text;
	enum binding binding;
};

static void put_operand(struct elog_text *text, struct operand *operand, enum binding least)
{
	bool enclosed = operand->binding < least;

	if (operand->text.error)
		text->error = operand->text.error;
	if (enclosed)
		elog_text_string(text, "(");
	elog_text_put(text, operand->text.data, operand->text.size);
	if (enclosed)
		elog_text_string(text, ")");
}

/* Enclose an operand in parentheses, and put characters before it. */
static void enclose(struct operand *operand, const char *before, bool enclosed)
{
	struct elog_text text = { 0 };

	elog_text_string(&text, before);
	put_operand(&text, operand, enclosed ? BINDING_TIGHT + 1 : BINDING_FALSE);
	elog_text_free(&operand->text);
	operand->text = text;
}

static void invert(struct operand *operand)
{
	if (operand->binding <= BINDING_TRUE) {
		operand->binding = operand->binding == BINDING_TRUE ? BINDING_FALSE : BINDING_TRUE;
		return;
	}
	enclose(operand, "!", operand->binding < BINDING_TIGHT);
	operand->binding = BINDING_TIGHT;
}

/* Combine two operands in the first one; the second one is freed. */
static void combine(struct operand *left, struct operand *right, bool both)
{
	enum binding neutral = both ? BINDING_TRUE : BINDING_FALSE;
	enum binding binding = both ? BINDING_AND : BINDING_OR;
	struct operand spare;

	if (left->binding == neutral ||
	    (right->binding <= BINDING_TRUE && right->binding != neutral)) {
		spare = *left;
		*left = *right;
		*right = spare;
	} else if (left->binding > BINDING_TRUE && right->binding > BINDING_TRUE) {
		if (left->binding < binding)
			enclose(left, "", true);
		elog_text_string(&left->text, both ? " && " : " || ");
		put_operand(&left->text, right, binding);
		left->binding = binding;
	}
	elog_text_free(&right->text);
}

static void put_step(struct operand *operand, const struct elog_expression *expression,
		     const struct step *step)
{
	const struct comparison *comparison = step->comparison;

	memset(operand, 0, sizeof(*operand));
	if (!step->decidable) {
		operand->binding = comparison->negated ? BINDING_FALSE : BINDING_TRUE;
		return;
	}
	operand->binding = comparison->operator == OPERATOR_NONE ? BINDING_TIGHT :
								   BINDING_COMPARISON;
	put_line(&operand->text, expression->source + comparison->column - 1,
		 expression->source + comparison->end);
}

/* Print what is left of an expression. @steps: of its comparisons. */
static void put_expression(struct operand *result, const struct elog_expression *expression,
			   const struct step *steps)
{
	struct operand operands[POSTFIX_WAITING];
	unsigned int count = 0;
	uint32_t i, element;

	for (i = 0; i < expression->postfix_count; i++) {
		element = expression->postfix[i];
		if (element < POSTFIX_NOT) {
			put_step(&operands[count++], expression, &steps[element]);
		} else if (element == POSTFIX_NOT) {
			invert(&operands[count - 1]);
		} else {
			combine(&operands[count - 2], &operands[count - 1],
				element == POSTFIX_AND);
			count--;
		}
	}
	*result = operands[0];
}

static int put_text(const struct compiler *compiler, struct elog_text *text)
{
	const struct elog_expression *expression = compiler->expressions[0];
	const struct step *steps = compiler->steps;
	struct operand all, next;
	size_t i;

	if (compiler->exact && compiler->expression_count == 1) {
		put_line(text, expression->source,
			 expression->source + strlen(expression->source));
		return text->error;
	}
	put_expression(&all, expression, steps);
	for (i = 1; i < compiler->expression_count; i++) {
		steps += compiler->expressions[i - 1]->count;
		put_expression(&next, compiler->expressions[i], steps);
		combine(&all, &next, true);
	}
	*text = all.text;
	return text->error;
}

/* ------------------------------------------------------------------------
 * Results
 */

/* Everything is in one allocation. */
static int make_filter(const struct compiler *compiler, const struct elog_text *text,
		       struct elog_filter **result)
{
	size_t terms_size = compiler->term_count * sizeof(struct eventlog_term);
	struct {
		struct elog_filter result;
		struct eventlog_filter filter;
	} *filter;
	char *room;

	if (compiler->whole && text->size >= EVENTLOG_FILTER_TEXT_MAX)
		return elog_wrong(compiler->error, EVENTLOG_FILTER_TEXT_MAX,
				  "the kernel stores at most %u bytes of a filter",
				  EVENTLOG_FILTER_TEXT_MAX - 1);
	filter = calloc(1, sizeof(*filter) + terms_size + compiler->pool_size +
			text->size + 1);
	if (!filter)
		return -ENOMEM;
	room = (char *)(filter + 1);
	filter->filter.size = sizeof(filter->filter);
	filter->filter.term_count = compiler->term_count;
	filter->filter.term_size = sizeof(struct eventlog_term);
	filter->filter.terms = (uintptr_t)memcpy(room, compiler->terms, terms_size);
	room += terms_size;
	filter->filter.pool = (uintptr_t)memcpy(room, compiler->pool, compiler->pool_size);
	filter->filter.pool_size = compiler->pool_size;
	room += compiler->pool_size;
	filter->result.filter = &filter->filter;
	filter->result.text = memcpy(room, text->data, text->size);
	if (text->size < EVENTLOG_FILTER_TEXT_MAX) {
		filter->filter.text = (uintptr_t)room;
		filter->filter.text_size = (__u32)text->size + 1;
	}
	filter->result.exact = compiler->exact;
	*result = &filter->result;
	return 0;
}

static int compile(struct compiler *compiler, struct elog_filter **result)
{
	struct elog_text text = { 0 };
	int ret;

	compiler->steps = calloc(compiler->count, sizeof(*compiler->steps));
	if (!compiler->steps)
		return -ENOMEM;
	ret = make_terms(compiler);
	if (!ret)
		ret = put_text(compiler, &text);
	if (!ret)
		ret = make_filter(compiler, &text, result);
	elog_text_free(&text);
	free(compiler->steps);
	return ret;
}

int elog_expression_compile(const struct elog_expression *const *expressions, size_t count,
			    unsigned int flags, struct elog_filter **filter,
			    struct elog_expression_error *error)
{
	struct compiler *compiler;
	size_t i;
	int ret;

	*filter = NULL;
	if (!count || flags & ~ELOG_FILTER_WHOLE)
		return elog_wrong(error, 0, "the arguments are wrong");
	compiler = malloc(sizeof(*compiler));
	if (!compiler)
		return -ENOMEM;
	memset(compiler, 0, offsetof(struct compiler, terms));
	compiler->expressions = expressions;
	compiler->expression_count = count;
	compiler->error = error;
	compiler->whole = flags & ELOG_FILTER_WHOLE;
	for (i = 0; i < count; i++)
		compiler->count += expressions[i]->count;
	ret = compile(compiler, filter);
	free(compiler);
	return ret;
}

void elog_filter_free(struct elog_filter *filter)
{
	free(filter);
}
