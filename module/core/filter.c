// SPDX-License-Identifier: GPL-2.0-only
/*
 * Predicates of markers: see predicate.h.
 *
 * What a hit does is bounded: each test leads to a later one, and looks at a
 * number or at no more of a string than what it is compared with has.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "core/fields.h"
#include "marker/marker.h"
#include "memory.h"
#include "core/filter.h"

#define EVENTLOG_TERM_FLAGS							\
	(EVENTLOG_TERM_COMMON | EVENTLOG_TERM_NUMBER | EVENTLOG_TERM_NEGATIVE |	\
	 EVENTLOG_TERM_BOOL | EVENTLOG_TERM_ADDRESS | EVENTLOG_TERM_TEXT)

#define EVENTLOG_SIGN	(1ULL << 63)

/* What every hit has; pids and tids as init sees them. */
static const struct {
	const char *name;
	u8 source;
	u8 type;
} eventlog_common[] = {
	{ "cpu", EVENTLOG_SOURCE_CPU, EVENTLOG_MARKER_U32 },
	{ "pid", EVENTLOG_SOURCE_PID, EVENTLOG_MARKER_U32 },
	{ "tid", EVENTLOG_SOURCE_TID, EVENTLOG_MARKER_U32 },
	{ "comm", EVENTLOG_SOURCE_COMM, EVENTLOG_MARKER_STRING },
};

/* ---- expressions ---- */

struct eventlog_expression *eventlog_expression_new(void)
{
	struct eventlog_expression *expression = eventlog_alloc(sizeof(*expression));

	if (expression)
		refcount_set(&expression->users, 1);
	return expression;
}

void eventlog_expression_put(struct eventlog_expression *expression)
{
	if (expression && refcount_dec_and_test(&expression->users))
		eventlog_free(expression);
}

static int eventlog_common_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(eventlog_common); i++)
		if (!strcmp(eventlog_common[i].name, name))
			return i;
	return -1;
}

static bool eventlog_target_valid(u8 target, unsigned int i, unsigned int count)
{
	return target == EVENTLOG_TERM_ACCEPT || target == EVENTLOG_TERM_REJECT ||
	       (target > i && target < count);
}

/* The values it has are possible ones, and those it has not are 0. */
static bool eventlog_term_values_valid(const struct eventlog_term *term)
{
	if (term->flags & EVENTLOG_TERM_NEGATIVE &&
	    (!(term->flags & EVENTLOG_TERM_NUMBER) || term->flags & EVENTLOG_TERM_BOOL ||
	     !term->number || term->number > EVENTLOG_SIGN))
		return false;
	if (term->flags & EVENTLOG_TERM_BOOL && term->number > 1)
		return false;
	if (!(term->flags & (EVENTLOG_TERM_NUMBER | EVENTLOG_TERM_BOOL)) && term->number)
		return false;
	if (!(term->flags & EVENTLOG_TERM_ADDRESS) && (term->address || term->mask))
		return false;
	if (!(term->flags & EVENTLOG_TERM_TEXT) && term->text[0])
		return false;
	return !(term->address & ~term->mask);
}

static bool eventlog_term_operation_valid(const struct eventlog_term *term)
{
	u32 values = term->flags & ~EVENTLOG_TERM_COMMON;

	switch (term->operation) {
	case EVENTLOG_TERM_SET:
		return !values;
	case EVENTLOG_TERM_EQUAL:
	case EVENTLOG_TERM_NOT_EQUAL:
		return values;
	case EVENTLOG_TERM_LESS:
	case EVENTLOG_TERM_LESS_EQUAL:
	case EVENTLOG_TERM_GREATER:
	case EVENTLOG_TERM_GREATER_EQUAL:
		return !(values & ~(EVENTLOG_TERM_NUMBER | EVENTLOG_TERM_NEGATIVE)) && values;
	case EVENTLOG_TERM_BITS:
		return values == EVENTLOG_TERM_NUMBER && term->number;
	case EVENTLOG_TERM_BEGINS:
	case EVENTLOG_TERM_BEGINS_NOT:
		return values == EVENTLOG_TERM_TEXT;
	default:
		return false;
	}
}

static bool eventlog_term_valid(const struct eventlog_expression *expression, unsigned int i)
{
	const struct eventlog_term *term = &expression->terms[i];

	return !(term->flags & ~EVENTLOG_TERM_FLAGS) && !term->reserved &&
	       memchr(term->name, '\0', sizeof(term->name)) &&
	       memchr(term->text, '\0', sizeof(term->text)) &&
	       eventlog_fields_name_valid(term->name) &&
	       (!(term->flags & EVENTLOG_TERM_COMMON) || eventlog_common_find(term->name) >= 0) &&
	       eventlog_term_values_valid(term) && eventlog_term_operation_valid(term) &&
	       eventlog_target_valid(term->on_true, i, expression->count) &&
	       eventlog_target_valid(term->on_false, i, expression->count);
}

int eventlog_expression_check(const struct eventlog_expression *expression)
{
	const char *text;
	unsigned int i;

	/* It is shown in lines of others' making. */
	for (text = expression->text; *text; text++)
		if ((u8)*text < ' ' || *text == 0x7f)
			return -EINVAL;
	if (text == expression->text)
		return -EINVAL;
	for (i = 0; i < expression->count; i++)
		if (!eventlog_term_valid(expression, i))
			return -EINVAL;
	return 0;
}

/* Whether a term fits is up to these alone: its value has no part in it. */
static bool eventlog_term_alike(const struct eventlog_term *a, const struct eventlog_term *b)
{
	return a->operation == b->operation && a->flags == b->flags && !strcmp(a->name, b->name);
}

bool eventlog_expression_fits_where(const struct eventlog_expression *expression,
				    const struct eventlog_expression *other)
{
	unsigned int i, j;

	for (i = 0; i < expression->count; i++) {
		for (j = 0; j < other->count; j++)
			if (eventlog_term_alike(&expression->terms[i], &other->terms[j]))
				break;
		if (j == other->count)
			return false;
	}
	return true;
}

/* ---- binding ---- */

static bool eventlog_range(struct eventlog_test *test, u64 low, u64 high)
{
	test->low = low;
	test->span = high - low;
	return true;
}

/* Of every value; inverted, of none. */
static bool eventlog_range_all(struct eventlog_test *test, bool holds)
{
	test->inverted = !holds;
	return eventlog_range(test, 0, U64_MAX);
}

/*
 * Numbers are compared as numbers, whatever the field can hold.  A sign bit that is
 * flipped makes signed ones unsigned, in the same order.
 */
static bool eventlog_bind_compared(struct eventlog_test *test, const struct eventlog_term *term,
				   bool is_signed)
{
	bool negative = term->flags & EVENTLOG_TERM_NEGATIVE;
	bool above = is_signed && !negative && term->number >= EVENTLOG_SIGN;
	bool below = !is_signed && negative;
	u64 value;

	test->flip = is_signed ? EVENTLOG_SIGN : 0;
	value = (negative ? 0 - term->number : term->number) ^ test->flip;
	switch (term->operation) {
	case EVENTLOG_TERM_LESS:
	case EVENTLOG_TERM_LESS_EQUAL:
		if (above || below)
			return eventlog_range_all(test, above);
		if (term->operation == EVENTLOG_TERM_LESS_EQUAL)
			return eventlog_range(test, 0, value);
		return value ? eventlog_range(test, 0, value - 1) :
			       eventlog_range_all(test, false);
	case EVENTLOG_TERM_GREATER:
	case EVENTLOG_TERM_GREATER_EQUAL:
		if (above || below)
			return eventlog_range_all(test, below);
		if (term->operation == EVENTLOG_TERM_GREATER_EQUAL)
			return eventlog_range(test, value, U64_MAX);
		return value != U64_MAX ? eventlog_range(test, value + 1, U64_MAX) :
					  eventlog_range_all(test, false);
	default:
		test->inverted = term->operation == EVENTLOG_TERM_NOT_EQUAL;
		if (above || below)
			return eventlog_range_all(test, test->inverted);
		return eventlog_range(test, value, value);
	}
}

static bool eventlog_bind_integer(struct eventlog_test *test, const struct eventlog_term *term,
				  bool is_signed)
{
	test->type = EVENTLOG_TEST_RANGE;
	if (term->operation == EVENTLOG_TERM_SET) {
		test->inverted = true;
		return eventlog_range(test, 0, 0);
	}
	if (!(term->flags & EVENTLOG_TERM_NUMBER))
		return false;
	if (term->operation != EVENTLOG_TERM_BITS)
		return eventlog_bind_compared(test, term, is_signed);
	test->type = EVENTLOG_TEST_MASK;
	test->mask = term->number;
	test->inverted = true;
	return true;
}

static bool eventlog_is_equality(const struct eventlog_term *term)
{
	return term->operation == EVENTLOG_TERM_EQUAL ||
	       term->operation == EVENTLOG_TERM_NOT_EQUAL;
}

static bool eventlog_bind_bool(struct eventlog_test *test, const struct eventlog_term *term)
{
	if (term->operation == EVENTLOG_TERM_SET)
		return eventlog_bind_integer(test, term, false);
	if (!eventlog_is_equality(term) || !(term->flags & EVENTLOG_TERM_BOOL))
		return false;
	test->type = EVENTLOG_TEST_RANGE;
	test->inverted = (term->operation == EVENTLOG_TERM_EQUAL) == term->number;
	return eventlog_range(test, 0, 0);
}

static bool eventlog_bind_address(struct eventlog_test *test, const struct eventlog_term *term)
{
	if (term->operation == EVENTLOG_TERM_SET)
		return eventlog_bind_integer(test, term, false);
	if (!eventlog_is_equality(term) || !(term->flags & EVENTLOG_TERM_ADDRESS))
		return false;
	test->type = EVENTLOG_TEST_MASK;
	test->mask = term->mask;
	test->low = term->address;
	test->inverted = term->operation == EVENTLOG_TERM_NOT_EQUAL;
	return true;
}

static bool eventlog_bind_string(struct eventlog_test *test, const struct eventlog_term *term)
{
	test->type = EVENTLOG_TEST_TEXT;
	test->text = term->text;
	if (term->operation == EVENTLOG_TERM_SET) {
		/* The text is empty, and only an empty string has its NUL there. */
		test->bytes = 1;
		test->inverted = true;
		return true;
	}
	if (!(term->flags & EVENTLOG_TERM_TEXT))
		return false;
	test->bytes = strlen(term->text);
	test->inverted = term->operation == EVENTLOG_TERM_NOT_EQUAL ||
			 term->operation == EVENTLOG_TERM_BEGINS_NOT;
	if (eventlog_is_equality(term))
		test->bytes++;
	return true;
}

static bool eventlog_bind_source(struct eventlog_test *test, const struct eventlog_term *term,
				 const struct eventlog_subject *subject)
{
	int i = -ENOENT;

	if (!(term->flags & EVENTLOG_TERM_COMMON))
		i = subject->find(subject->of, term->name, &test->kind);
	if (i >= 0) {
		test->source = i;
		return true;
	}
	if (i != -ENOENT)
		return false;
	i = eventlog_common_find(term->name);
	if (i < 0)
		return false;
	test->source = eventlog_common[i].source;
	test->kind = eventlog_common[i].type;
	return true;
}

static bool eventlog_bind_term(struct eventlog_test *test, const struct eventlog_term *term,
			       const struct eventlog_subject *subject)
{
	if (!eventlog_bind_source(test, term, subject))
		return false;
	test->on_true = term->on_true;
	test->on_false = term->on_false;
	switch (test->kind) {
	case EVENTLOG_MARKER_STRING:
		return eventlog_bind_string(test, term);
	case EVENTLOG_MARKER_BOOL:
		return eventlog_bind_bool(test, term);
	case EVENTLOG_MARKER_IPV4:
		return eventlog_bind_address(test, term);
	default:
		test->swapped = test->kind == EVENTLOG_MARKER_PORT;
		return eventlog_bind_integer(test, term,
					     eventlog_marker_kinds[test->kind].is_signed);
	}
}

bool eventlog_predicate_fits(const struct eventlog_expression *expression,
			     const struct eventlog_subject *subject)
{
	unsigned int i;

	for (i = 0; i < expression->count; i++) {
		struct eventlog_test test = {};

		if (!eventlog_bind_term(&test, &expression->terms[i], subject))
			return false;
	}
	return true;
}

struct eventlog_predicate *eventlog_predicate_bind(struct eventlog_expression *expression,
						   const struct eventlog_subject *subject)
{
	struct eventlog_predicate *predicate;
	struct eventlog_test *test;
	unsigned int i;

	if (!eventlog_predicate_fits(expression, subject))
		return NULL;
	predicate = eventlog_alloc(struct_size(predicate, tests, expression->count));
	if (!predicate)
		return ERR_PTR(-ENOMEM);
	if (subject->counted)
		predicate->rejected = alloc_percpu_gfp(unsigned long,
						       GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (subject->counted && !predicate->rejected) {
		eventlog_free(predicate);
		return ERR_PTR(-ENOMEM);
	}
	refcount_inc(&expression->users);
	predicate->expression = expression;
	predicate->of = subject->of;
	predicate->count = expression->count;
	for (i = 0; i < expression->count; i++) {
		test = &predicate->tests[i];
		eventlog_bind_term(test, &expression->terms[i], subject);
		if (test->source >= EVENTLOG_MARKER_FIELDS_MAX)
			continue;
		if (test->type == EVENTLOG_TEST_TEXT)
			predicate->strings |= 1U << test->source;
		else
			predicate->numbers |= 1U << test->source;
	}
	return predicate;
}

static void eventlog_predicate_free_rcu(struct rcu_head *rcu)
{
	struct eventlog_predicate *predicate = container_of(rcu, struct eventlog_predicate, rcu);

	eventlog_expression_put(predicate->expression);
	free_percpu(predicate->rejected);
	eventlog_free(predicate);
}

void eventlog_predicates_free(struct eventlog_predicate *predicates)
{
	struct eventlog_predicate *next;

	for (; predicates; predicates = next) {
		next = predicates->next;
		call_rcu(&predicates->rcu, eventlog_predicate_free_rcu);
	}
}

/* ---- hits ---- */

static notrace bool eventlog_text_holds(const struct eventlog_test *test, const u64 *values)
{
	const char *text;

	if (test->source == EVENTLOG_SOURCE_COMM)
		text = current->comm;
	else
		text = (const char *)(unsigned long)values[test->source];
	/* As it is traced. */
	return !strncmp(text ?: "(null)", test->text, test->bytes);
}

static notrace u64 eventlog_test_value(const struct eventlog_test *test, const u64 *values)
{
	u64 value;

	switch (test->source) {
	case EVENTLOG_SOURCE_CPU:
		return smp_processor_id();
	case EVENTLOG_SOURCE_PID:
		return current->tgid;
	case EVENTLOG_SOURCE_TID:
		return current->pid;
	default:
		value = eventlog_value_of(test->kind, values[test->source]);
		return test->swapped ? be16_to_cpu((__force __be16)value) : value;
	}
}

static notrace bool eventlog_test_holds(const struct eventlog_test *test, const u64 *values)
{
	bool holds;

	switch (test->type) {
	case EVENTLOG_TEST_TEXT:
		holds = eventlog_text_holds(test, values);
		break;
	case EVENTLOG_TEST_MASK:
		holds = (eventlog_test_value(test, values) & test->mask) == test->low;
		break;
	default:
		holds = (eventlog_test_value(test, values) ^ test->flip) - test->low <=
			test->span;
		break;
	}
	return holds != test->inverted;
}

notrace bool eventlog_predicate_holds(const struct eventlog_predicate *predicate,
				      const u64 *values)
{
	unsigned int i = 0;

	while (i < predicate->count) {
		const struct eventlog_test *test = &predicate->tests[i];

		i = eventlog_test_holds(test, values) ? test->on_true : test->on_false;
	}
	if (i == EVENTLOG_TERM_ACCEPT)
		return true;
	if (predicate->rejected)
		this_cpu_inc(*predicate->rejected);
	return false;
}

u64 eventlog_predicate_rejected(const struct eventlog_predicate *predicate)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(predicate->rejected, cpu));
	return sum;
}
