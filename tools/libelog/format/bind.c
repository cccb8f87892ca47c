// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Binding of an expression to one event's schema, which makes a predicate.
 *
 * Each comparison becomes a test with known operands. Tests whose result is known or
 * irrelevant are dropped; the remaining tests are the predicate.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/filter.h"
#include "elog.h"
#include "format/predicate.h"
#include "format/text.h"

/* The result of a comparison, as far as it is known without a record. */
enum outcome {
	OUTCOME_FALSE,
	OUTCOME_TRUE,
	OUTCOME_TEST,
	OUTCOME_WRONG,
};

struct binder {
	const struct comparison *comparison;
	const struct elog_schema_event *event;
	struct elog_expression_error *error;
	struct test *test;
	const char *type;	/* of the operand, for messages */
};

static enum outcome __attribute__((format(printf, 2, 3)))
misfit(const struct binder *binder, const char *format, ...)
{
	const struct comparison *comparison = binder->comparison;
	char reason[120];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	elog_wrong(binder->error, comparison->value_column, "%.40s is %.24s: %s",
		   comparison->name, binder->type, reason);
	return OUTCOME_WRONG;
}

static enum outcome wrong_operator(const struct binder *binder)
{
	return misfit(binder, "%s is not supported",
		      elog_operator_names[binder->comparison->operator]);
}

/* Do not print strings in messages: they may contain anything. */
static enum outcome wrong_value(const struct binder *binder, const char *what)
{
	const struct comparison *comparison = binder->comparison;

	if (comparison->quoted)
		return misfit(binder, "the string is not %s", what);
	return misfit(binder, "'%.40s' is not %s", comparison->value, what);
}

static enum outcome set_range(struct test *test, uint64_t low, uint64_t high)
{
	test->type = TEST_RANGE;
	test->range.low = low;
	test->range.span = high - low;
	return OUTCOME_TEST;
}

_Static_assert((int)OPERATOR_EQUAL == EVENTLOG_TERM_OP_EQUAL &&
	       (int)OPERATOR_GREATER_EQUAL == EVENTLOG_TERM_OP_GREATER_EQUAL,
	       "comparisons have the same numbers");

/* Compare an integer with a number, which may be outside of its range. */
static enum outcome bind_number(const struct binder *binder, bool is_signed,
				const struct number *number)
{
	struct eventlog_test compared = { 0 };
	struct test *test = binder->test;

	eventlog_test_compare(&compared, binder->comparison->operator, is_signed,
			      number->magnitude, number->negative);
	test->inverted = compared.inverted;
	test->range.flip = compared.flip;
	if (compared.inverted && compared.span == UINT64_MAX)
		return OUTCOME_FALSE;
	return set_range(test, compared.low, compared.low + compared.span);
}

static const struct elog_schema_name *
find_name(struct elog_schema_name *const *names, size_t count, const char *text,
	  size_t size)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strncmp(names[i]->name, text, size) && !names[i]->name[size])
			return names[i];
	return NULL;
}

/* Parse one of the words between "|": a name or a number. */
static int parse_flag(const struct comparison *comparison, const char *text, size_t size,
		      struct elog_schema_name *const *names, size_t count,
		      uint64_t *mask)
{
	const struct elog_schema_name *name = find_name(names, count, text, size);
	char copy[ELOG_DECIMAL_MAX * 2];
	struct number number;

	if (name) {
		*mask |= name->value;
		return 0;
	}
	if (comparison->quoted || !size || size >= sizeof(copy))
		return -EINVAL;
	memcpy(copy, text, size);
	copy[size] = '\0';
	if (elog_number_parse(copy, &number) || number.negative)
		return -EINVAL;
	*mask |= number.magnitude;
	return 0;
}

uint64_t elog_comparison_mask(const struct comparison *comparison,
			      struct elog_schema_name *const *names, size_t count,
			      const char **rest, size_t *rest_size)
{
	const char *text = comparison->value, *end;
	uint64_t mask = 0;

	*rest = NULL;
	for (;;) {
		end = strchrnul(text, '|');
		if (parse_flag(comparison, text, (size_t)(end - text), names, count,
			       &mask)) {
			*rest = text;
			*rest_size = (size_t)(end - text);
			return 0;
		}
		if (!*end)
			return mask;
		text = end + 1;
	}
}

static enum outcome bind_bits(const struct binder *binder, uint64_t mask)
{
	if (!mask)
		return misfit(binder, "'%.40s' has no bits", binder->comparison->value);
	binder->test->type = TEST_BITS;
	binder->test->mask = mask;
	return OUTCOME_TEST;
}

/* Get the value as a number, or the outcome of an error. */
static enum outcome take_number(const struct binder *binder, struct number *number)
{
	int ret = -EINVAL;

	if (!binder->comparison->quoted)
		ret = elog_number_parse(binder->comparison->value, number);
	if (ret == -ERANGE)
		return wrong_value(binder, "a 64-bit number");
	return ret ? wrong_value(binder, "a number") : OUTCOME_TEST;
}

static enum outcome bind_integer(const struct binder *binder, bool is_signed)
{
	const struct comparison *comparison = binder->comparison;
	struct number number = { 0 };
	enum outcome outcome;
	const char *rest;
	size_t rest_size;
	uint64_t mask;

	if (comparison->operator == OPERATOR_NONE) {
		binder->test->inverted = true;
		return set_range(binder->test, 0, 0);
	}
	if (is_match(comparison->operator))
		return wrong_operator(binder);
	if (comparison->operator == OPERATOR_BITS) {
		mask = elog_comparison_mask(binder->comparison, NULL, 0, &rest, &rest_size);
		if (rest)
			return wrong_value(binder, "a mask");
		return bind_bits(binder, mask);
	}
	outcome = take_number(binder, &number);
	if (outcome != OUTCOME_TEST)
		return outcome;
	return bind_number(binder, is_signed, &number);
}

static enum outcome bind_bool(const struct binder *binder)
{
	const struct comparison *comparison = binder->comparison;
	bool is_true, wanted;

	if (comparison->operator == OPERATOR_NONE)
		return bind_integer(binder, false);
	if (!is_equality(comparison->operator))
		return wrong_operator(binder);
	is_true = !strcmp(comparison->value, "true") ||
		  !strcmp(comparison->value, "1");
	if (!is_true && strcmp(comparison->value, "false") &&
	    strcmp(comparison->value, "0"))
		return wrong_value(binder, "true or false");
	wanted = is_true == (comparison->operator == OPERATOR_EQUAL);
	binder->test->inverted = wanted;
	return set_range(binder->test, 0, 0);
}

static enum outcome bind_enum(const struct binder *binder,
			      const struct elog_schema_field *field)
{
	const struct comparison *comparison = binder->comparison;
	const struct elog_schema_name *name;
	struct number number = { 0 };

	if (comparison->operator == OPERATOR_NONE ||
	    is_match(comparison->operator))
		return bind_integer(binder, field->is_signed);
	name = find_name(field->set->names, field->set->count, comparison->value,
			 comparison->value_size);
	if (!name && !comparison->quoted && !strchr(comparison->value, '|') &&
	    (eventlog_is_digit(*comparison->value) || *comparison->value == '-'))
		return bind_integer(binder, field->is_signed);
	if (!name)
		return wrong_value(binder, "one of its names");
	if (comparison->operator == OPERATOR_BITS)
		return bind_bits(binder, name->value);
	number.negative = field->is_signed && (int64_t)name->value < 0;
	number.magnitude = number.negative ? 0 - name->value : name->value;
	return bind_number(binder, field->is_signed, &number);
}

static enum outcome bind_flags(const struct binder *binder,
			       const struct elog_schema_field *field)
{
	const struct comparison *comparison = binder->comparison;
	struct number number = { 0 };
	const char *rest;
	size_t rest_size;

	if (comparison->operator == OPERATOR_NONE ||
	    is_match(comparison->operator))
		return bind_integer(binder, false);
	number.magnitude = elog_comparison_mask(binder->comparison,
						field->set->names,
						field->set->count, &rest,
						&rest_size);
	if (rest && (eventlog_is_digit(*rest) || *rest == '-'))
		return bind_integer(binder, false);
	if (rest && comparison->quoted)
		return wrong_value(binder, "a list of its names");
	if (rest)
		return misfit(binder, "'%.*s' is not one of its names",
			      (int)(rest_size < 40 ? rest_size : 40), rest);
	if (comparison->operator == OPERATOR_BITS)
		return bind_bits(binder, number.magnitude);
	return bind_number(binder, false, &number);
}

static enum outcome bind_text(const struct binder *binder)
{
	const struct comparison *comparison = binder->comparison;
	struct test *test = binder->test;

	test->inverted = comparison->operator == OPERATOR_NOT_EQUAL ||
			 comparison->operator == OPERATOR_NO_MATCH;
	if (comparison->operator == OPERATOR_NONE) {
		test->type = TEST_SIZE;
	} else if (is_equality(comparison->operator)) {
		test->type = TEST_TEXT;
		test->text.text = comparison->value;
		test->text.size = comparison->value_size;
	} else if (is_match(comparison->operator)) {
		test->type = TEST_PATTERN;
		test->pattern = comparison->pattern;
	} else {
		return wrong_operator(binder);
	}
	return OUTCOME_TEST;
}

static enum outcome bind_octets(const struct binder *binder, bool fixed)
{
	const struct comparison *comparison = binder->comparison;
	struct test *test = binder->test;
	size_t i;

	if (comparison->operator == OPERATOR_NONE) {
		test->type = fixed ? TEST_NONZERO : TEST_SIZE;
		return OUTCOME_TEST;
	}
	if (!is_equality(comparison->operator))
		return wrong_operator(binder);
	for (i = 0; eventlog_hex_digit(comparison->value[i]) >= 0; i++)
		;
	if (i < comparison->value_size || i % 2)
		return wrong_value(binder, "pairs of hexadecimal digits");
	test->type = TEST_HEX;
	test->inverted = comparison->operator == OPERATOR_NOT_EQUAL;
	test->text.text = comparison->value;
	test->text.size = comparison->value_size;
	return OUTCOME_TEST;
}

static enum outcome bind_mac(const struct binder *binder)
{
	const struct comparison *comparison = binder->comparison;
	const char *text = comparison->value;
	struct test *test = binder->test;
	size_t i;
	int high, low;

	if (comparison->operator == OPERATOR_NONE)
		return bind_octets(binder, true);
	if (!is_equality(comparison->operator))
		return wrong_operator(binder);
	for (i = 0; i < sizeof(test->mac); i++, text += 3) {
		high = eventlog_hex_digit(text[0]);
		low = high < 0 ? -1 : eventlog_hex_digit(text[1]);
		if (low < 0 || text[2] != (i < 5 ? ':' : '\0'))
			return wrong_value(binder, "an address like 00:11:22:aa:bb:cc");
		test->mac[i] = (unsigned char)(high << 4 | low);
	}
	test->type = TEST_MAC;
	test->inverted = comparison->operator == OPERATOR_NOT_EQUAL;
	return OUTCOME_TEST;
}

bool elog_test_parse_address(const char *text, size_t size, struct test *test)
{
	char copy[INET6_ADDRSTRLEN + 4];
	unsigned char bytes[16], mask[16];
	struct number length;
	unsigned int i, bits = 128, left;
	char *slash;

	if (size >= sizeof(copy))
		return false;
	memcpy(copy, text, size + 1);
	slash = strchr(copy, '/');
	if (slash)
		*slash++ = '\0';
	if (inet_pton(AF_INET, copy, bytes) == 1) {
		map_address(bytes, test->address.network);
		bits = 32;
	} else if (inet_pton(AF_INET6, copy, bytes) == 1) {
		memcpy(test->address.network, bytes, sizeof(bytes));
	} else {
		return false;
	}
	left = 128;
	if (slash) {
		if (slash[strspn(slash, "0123456789")] ||
		    elog_number_parse(slash, &length) || length.magnitude > bits)
			return false;
		left = (unsigned int)length.magnitude + 128 - bits;
	}
	for (i = 0; i < 16; i++) {
		mask[i] = left >= 8 ? 0xff : (unsigned char)(0xff00 >> left);
		left -= left < 8 ? left : 8;
	}
	memcpy(test->address.mask, mask, sizeof(mask));
	for (i = 0; i < 2; i++)
		test->address.network[i] &= test->address.mask[i];
	return true;
}

static enum outcome bind_address(const struct binder *binder)
{
	const struct comparison *comparison = binder->comparison;
	struct test *test = binder->test;

	if (comparison->operator == OPERATOR_NONE)
		return bind_octets(binder, true);
	if (!is_equality(comparison->operator))
		return wrong_operator(binder);
	if (!elog_test_parse_address(comparison->value, comparison->value_size, test))
		return wrong_value(binder, "an address or a prefix");
	test->type = TEST_ADDRESS;
	test->inverted = comparison->operator == OPERATOR_NOT_EQUAL;
	return OUTCOME_TEST;
}

static enum outcome bind_float(const struct binder *binder)
{
	const struct comparison *comparison = binder->comparison;
	struct test *test = binder->test;

	if (is_match(comparison->operator) || comparison->operator == OPERATOR_BITS)
		return wrong_operator(binder);
	test->type = TEST_FLOAT;
	test->number.operator = comparison->operator;
	test->number.value = 0;
	if (comparison->operator == OPERATOR_NONE)
		test->number.operator = OPERATOR_NOT_EQUAL;
	else if (comparison->quoted || !elog_float_parse(comparison->value, &test->number.value))
		return wrong_value(binder, "a number");
	return OUTCOME_TEST;
}

static enum outcome bind_field(struct binder *binder,
			       const struct elog_schema_field *field)
{
	struct test *test = binder->test;

	test->source = SOURCE_FIELD;
	test->field = *field;
	test->field.name = NULL;
	test->field.type_name = NULL;
	test->field.description = NULL;
	test->field.set = NULL;
	binder->type = field->type_name;
	switch (field->type) {
	case ELOG_TYPE_BOOL:
		return bind_bool(binder);
	case ELOG_TYPE_CHARS:
	case ELOG_TYPE_STRING:
	case ELOG_TYPE_ARRAY:
		return bind_text(binder);
	case ELOG_TYPE_FLOAT:
		return bind_float(binder);
	case ELOG_TYPE_OCTETS:
	case ELOG_TYPE_STRUCT:
		return bind_octets(binder, true);
	case ELOG_TYPE_BYTES:
		return bind_octets(binder, false);
	case ELOG_TYPE_IPV4:
	case ELOG_TYPE_IPV6:
		return bind_address(binder);
	case ELOG_TYPE_MAC:
		return bind_mac(binder);
	case ELOG_TYPE_ENUM:
		return bind_enum(binder, field);
	case ELOG_TYPE_FLAGS:
		return bind_flags(binder, field);
	default:
		return bind_integer(binder, field->is_signed);
	}
}

/* Get the outcome of a test whose integer is known. */
static enum outcome known_integer(const struct test *test, enum outcome outcome,
				  uint64_t value)
{
	if (outcome != OUTCOME_TEST)
		return outcome;
	if (test->type == TEST_BITS)
		return value & test->mask ? OUTCOME_TRUE : OUTCOME_FALSE;
	return range_holds(test, value) ? OUTCOME_TRUE : OUTCOME_FALSE;
}

static enum outcome bind_level(struct binder *binder)
{
	const struct comparison *comparison = binder->comparison;
	struct number number = { 0 };
	enum outcome outcome;

	binder->type = "a level";
	if (comparison->operator == OPERATOR_NONE ||
	    comparison->operator == OPERATOR_BITS ||
	    is_match(comparison->operator) || eventlog_is_digit(*comparison->value)) {
		outcome = bind_integer(binder, false);
	} else {
		number.magnitude = elog_level_parse(comparison->value);
		if (!number.magnitude)
			return wrong_value(binder, "a level");
		outcome = bind_number(binder, false, &number);
	}
	return known_integer(binder->test, outcome, binder->event->level);
}

/*
 * Providers have different keywords. A provider without the keyword is like an event
 * that lacks a field.
 */
static enum outcome bind_keywords(struct binder *binder)
{
	const struct elog_schema_provider *provider = binder->event->provider;
	const struct comparison *comparison = binder->comparison;
	struct number number = { 0 };
	enum outcome outcome;
	const char *rest;
	size_t rest_size;

	binder->type = "a mask of keywords";
	if (comparison->operator == OPERATOR_NONE ||
	    is_match(comparison->operator)) {
		outcome = bind_integer(binder, false);
	} else {
		number.magnitude = elog_comparison_mask(binder->comparison,
							provider->keywords,
							provider->keyword_count,
							&rest, &rest_size);
		if (rest && (eventlog_is_digit(*rest) || *rest == '-'))
			return wrong_value(binder, "a mask");
		if (rest)
			return OUTCOME_FALSE;
		outcome = comparison->operator == OPERATOR_BITS ?
			  bind_bits(binder, number.magnitude) :
			  bind_number(binder, false, &number);
	}
	return known_integer(binder->test, outcome, binder->event->keywords);
}

static enum outcome bind_known_text(struct binder *binder, const char *text)
{
	enum outcome outcome;

	binder->type = "a name";
	outcome = bind_text(binder);
	if (outcome != OUTCOME_TEST)
		return outcome;
	return elog_test_text_holds(binder->test, text, strlen(text)) ? OUTCOME_TRUE :
							      OUTCOME_FALSE;
}

static enum outcome bind_comparison(struct binder *binder)
{
	const struct comparison *comparison = binder->comparison;
	const struct elog_schema_event *event = binder->event;
	struct test *test = binder->test;
	size_t i;

	memset(test, 0, sizeof(*test));
	for (i = 0; i < event->field_count && !comparison->only_metadata; i++)
		if (!strcmp(event->fields[i]->name, comparison->name))
			return bind_field(binder, event->fields[i]);
	binder->type = "a number";
	switch (elog_metadata_find(comparison->name)) {
	case METADATA_CPU:
		test->source = SOURCE_CPU;
		return bind_integer(binder, false);
	case METADATA_PID:
		test->source = SOURCE_PID;
		return bind_integer(binder, false);
	case METADATA_TID:
		test->source = SOURCE_TID;
		return bind_integer(binder, false);
	case METADATA_SESSION:
		test->source = SOURCE_SESSION;
		return bind_integer(binder, false);
	case METADATA_TIME:
		test->source = SOURCE_TIME;
		binder->type = "a time";
		return bind_integer(binder, false);
	case METADATA_COMM:
		test->source = SOURCE_COMM;
		binder->type = "a name";
		return bind_text(binder);
	case METADATA_INSTANCE:
		test->source = SOURCE_INSTANCE;
		binder->type = "a name";
		return bind_text(binder);
	case METADATA_LEVEL:
		return bind_level(binder);
	case METADATA_KEYWORDS:
		return bind_keywords(binder);
	case METADATA_PROVIDER:
		return bind_known_text(binder, event->provider->name);
	case METADATA_EVENT:
		return bind_known_text(binder, event->name);
	default:
		return OUTCOME_FALSE;
	}
}

/* The outcome of a comparison, and its replacement. */
struct plan {
	enum outcome outcome;
	uint32_t instead;
	bool reached;
};

static uint32_t follow(const struct plan *plans, uint32_t index)
{
	return index >= ACCEPT ? index : plans[index].instead;
}

/*
 * Bypass tests whose result is known or irrelevant. Go from the last to the first,
 * because the replacements of later tests must be known.
 */
static void shorten(struct elog_predicate *predicate, struct plan *plans)
{
	struct test *test;
	uint32_t i;

	for (i = predicate->count; i-- > 0;) {
		test = &predicate->tests[i];
		test->on_true = follow(plans, test->on_true);
		test->on_false = follow(plans, test->on_false);
		if (plans[i].outcome == OUTCOME_FALSE)
			plans[i].instead = test->on_false;
		else if (plans[i].outcome == OUTCOME_TRUE ||
			 test->on_true == test->on_false)
			plans[i].instead = test->on_true;
		else
			plans[i].instead = i;
	}
}

/* Remove unreachable tests. Return: the index of the first error, or count. */
static uint32_t compact(struct elog_predicate *predicate, struct plan *plans)
{
	uint32_t first = plans[0].instead, count = 0, i;
	struct test *test;

	if (first < predicate->count)
		plans[first].reached = true;
	for (i = 0; i < predicate->count; i++) {
		test = &predicate->tests[i];
		if (!plans[i].reached)
			continue;
		if (plans[i].outcome == OUTCOME_WRONG)
			return i;
		if (test->on_true < predicate->count)
			plans[test->on_true].reached = true;
		if (test->on_false < predicate->count)
			plans[test->on_false].reached = true;
		plans[i].instead = count++;
	}
	count = 0;
	for (i = 0; i < predicate->count; i++) {
		if (!plans[i].reached)
			continue;
		test = &predicate->tests[count++];
		*test = predicate->tests[i];
		test->on_true = follow(plans, test->on_true);
		test->on_false = follow(plans, test->on_false);
		predicate->needs_comm |= test->source == SOURCE_COMM;
	}
	i = predicate->count;
	predicate->count = count;
	return i;
}

int elog_expression_bind(const struct elog_expression *expression,
			 const struct elog_schema_event *event,
			 struct elog_predicate **predicate,
			 struct elog_expression_error *error)
{
	struct binder binder = { .event = event };
	struct elog_predicate *bound, *smaller;
	struct test scratch;
	struct plan *plans;
	uint32_t i, first;
	int ret = 0;

	*predicate = NULL;
	bound = calloc(1, sizeof(*bound) + expression->count * sizeof(bound->tests[0]));
	plans = calloc(expression->count, sizeof(*plans));
	if (!bound || !plans) {
		ret = -ENOMEM;
		goto out;
	}
	bound->count = expression->count;
	for (i = 0; i < bound->count; i++) {
		binder.comparison = &expression->comparisons[i];
		binder.test = &bound->tests[i];
		plans[i].outcome = bind_comparison(&binder);
		bound->tests[i].on_true = binder.comparison->on_true;
		bound->tests[i].on_false = binder.comparison->on_false;
	}
	shorten(bound, plans);
	if (plans[0].instead == REJECT) {
		ret = -ENOENT;
		goto out;
	}
	first = compact(bound, plans);
	if (first < expression->count) {
		binder.comparison = &expression->comparisons[first];
		binder.test = &scratch;
		binder.error = error;
		bind_comparison(&binder);
		ret = -EINVAL;
		goto out;
	}
	smaller = realloc(bound, sizeof(*bound) + bound->count * sizeof(bound->tests[0]));
	*predicate = smaller ? smaller : bound;
	bound = NULL;
out:
	free(plans);
	free(bound);
	return ret;
}

static enum elog_name_type name_type(const struct comparison *comparison)
{
	switch (elog_metadata_find(comparison->name)) {
	case METADATA_PROVIDER:
		return is_equality(comparison->operator) ? ELOG_NAME_PROVIDER : ELOG_NAME_NONE;
	case METADATA_EVENT:
		return is_equality(comparison->operator) ? ELOG_NAME_EVENT : ELOG_NAME_NONE;
	case METADATA_KEYWORDS:
		return is_equality(comparison->operator) ||
		       comparison->operator == OPERATOR_BITS ? ELOG_NAME_KEYWORDS :
							       ELOG_NAME_NONE;
	case METADATA_NONE:
		return ELOG_NAME_FIELD;
	default:
		return ELOG_NAME_NONE;
	}
}

int elog_expression_name(const struct elog_expression *expression, size_t index,
			 struct elog_sought_name *name)
{
	const struct comparison *comparison;

	if (index >= expression->count)
		return -ENOENT;
	comparison = &expression->comparisons[index];
	memset(name, 0, sizeof(*name));
	name->type = name_type(comparison);
	if (name->type == ELOG_NAME_FIELD) {
		name->name = comparison->name;
		name->column = comparison->column;
	} else if (name->type != ELOG_NAME_NONE) {
		name->name = comparison->value;
		name->column = comparison->value_column;
	}
	return 0;
}
