// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-only
/*
 * Binding of filters to the fields of events and markers: see filter.h.
 */
#include "common/field_type.h"
#include "common/filter.h"
#include "common/word.h"

#define EVENTLOG_MAC_BYTES	6

const struct eventlog_common_value *eventlog_common_value_find(const char *name)
{
	static const struct eventlog_common_value values[] = {
		{ "cpu", EVENTLOG_SOURCE_CPU, EVENTLOG_KIND_UNSIGNED },
		{ "pid", EVENTLOG_SOURCE_PID, EVENTLOG_KIND_UNSIGNED },
		{ "tid", EVENTLOG_SOURCE_TID, EVENTLOG_KIND_UNSIGNED },
		{ "session", EVENTLOG_SOURCE_SESSION, EVENTLOG_KIND_UNSIGNED },
		{ "comm", EVENTLOG_SOURCE_COMM, EVENTLOG_KIND_STRING },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(values); i++)
		if (!strcmp(values[i].name, name))
			return &values[i];
	return NULL;
}

void eventlog_operand_value(struct eventlog_operand *operand, u8 type, unsigned int index)
{
	operand->source = EVENTLOG_SOURCE_VALUE;
	operand->kind = eventlog_field_types[type].kind;
	operand->type = type;
	operand->is_signed = operand->kind == EVENTLOG_KIND_SIGNED;
	operand->position = index;
}

void eventlog_operand_field(struct eventlog_operand *operand,
			    const struct eventlog_field_shape *shape, u32 position)
{
	operand->source = shape->kind == EVENTLOG_KIND_STRING ||
			  shape->kind == EVENTLOG_KIND_BYTES ? EVENTLOG_SOURCE_DYNAMIC :
							       EVENTLOG_SOURCE_FIXED;
	operand->kind = shape->kind;
	operand->is_signed = shape->is_signed;
	operand->relative = shape->relative;
	operand->position = position;
	operand->bytes = shape->bytes;
}

/**
 * struct eventlog_binder - a term that is being bound
 * @terms: its filter
 * @term: the term
 * @operand: the field that it compares
 * @test: the result
 */
struct eventlog_binder {
	const struct eventlog_terms *terms;
	const struct eventlog_term *term;
	struct eventlog_operand operand;
	struct eventlog_test *test;
};

static bool eventlog_range(struct eventlog_test *test, u64 low, u64 high)
{
	test->type = EVENTLOG_TEST_RANGE;
	test->low = low;
	test->span = high - low;
	return true;
}

/* A range that contains every value; inverted, none. */
static bool eventlog_range_all(struct eventlog_test *test, bool holds)
{
	test->inverted = !holds;
	return eventlog_range(test, 0, U64_MAX);
}

/* Flipping the sign bit maps signed to unsigned numbers in the same order. */
bool eventlog_test_compare(struct eventlog_test *test, unsigned int operation, bool is_signed,
			   u64 magnitude, bool negative)
{
	bool above = is_signed && !negative && magnitude >= EVENTLOG_SIGN;
	bool below = !is_signed && negative;
	u64 value;

	test->flip = is_signed ? EVENTLOG_SIGN : 0;
	value = (negative ? 0 - magnitude : magnitude) ^ test->flip;
	switch (operation) {
	case EVENTLOG_TERM_OP_LESS:
	case EVENTLOG_TERM_OP_LESS_EQUAL:
		if (above || below)
			return eventlog_range_all(test, above);
		if (operation == EVENTLOG_TERM_OP_LESS_EQUAL)
			return eventlog_range(test, 0, value);
		return value ? eventlog_range(test, 0, value - 1) :
			       eventlog_range_all(test, false);
	case EVENTLOG_TERM_OP_GREATER:
	case EVENTLOG_TERM_OP_GREATER_EQUAL:
		if (above || below)
			return eventlog_range_all(test, below);
		if (operation == EVENTLOG_TERM_OP_GREATER_EQUAL)
			return eventlog_range(test, value, U64_MAX);
		return value != U64_MAX ? eventlog_range(test, value + 1, U64_MAX) :
					  eventlog_range_all(test, false);
	default:
		test->inverted = operation == EVENTLOG_TERM_OP_NOT_EQUAL;
		if (above || below)
			return eventlog_range_all(test, test->inverted);
		return eventlog_range(test, value, value);
	}
}

static bool eventlog_bind_mask(struct eventlog_test *test, u64 mask, u64 low, bool inverted)
{
	test->type = EVENTLOG_TEST_MASK;
	test->mask = mask;
	test->low = low;
	test->inverted = inverted;
	return true;
}

static bool eventlog_is_equality(const struct eventlog_term *term)
{
	return term->operation == EVENTLOG_TERM_OP_EQUAL ||
	       term->operation == EVENTLOG_TERM_OP_NOT_EQUAL;
}

/* The test is true if the term's comparison is false. */
static bool eventlog_is_inverted(const struct eventlog_term *term)
{
	return term->operation == EVENTLOG_TERM_OP_NOT_EQUAL ||
	       term->operation == EVENTLOG_TERM_OP_BEGINS_NOT;
}

static bool eventlog_bind_number(const struct eventlog_binder *binder, u64 magnitude, bool negative)
{
	unsigned int operation = binder->term->operation;

	if (operation == EVENTLOG_TERM_OP_BEGINS || operation == EVENTLOG_TERM_OP_BEGINS_NOT)
		return false;
	if (operation != EVENTLOG_TERM_OP_BITS)
		return eventlog_test_compare(binder->test, operation, binder->operand.is_signed,
					     magnitude, negative);
	return magnitude && eventlog_bind_mask(binder->test, magnitude, 0, true);
}

static bool eventlog_bind_integer(const struct eventlog_binder *binder)
{
	const struct eventlog_term *term = binder->term;

	if (term->operation == EVENTLOG_TERM_OP_SET) {
		binder->test->inverted = true;
		return eventlog_range(binder->test, 0, 0);
	}
	return term->flags & EVENTLOG_TERM_NUMBER &&
	       eventlog_bind_number(binder, term->number, term->flags & EVENTLOG_TERM_NEGATIVE);
}

static bool eventlog_bind_bool(const struct eventlog_binder *binder)
{
	const struct eventlog_term *term = binder->term;

	if (term->operation == EVENTLOG_TERM_OP_SET)
		return eventlog_bind_integer(binder);
	if (!eventlog_is_equality(term) || !(term->flags & EVENTLOG_TERM_BOOL))
		return false;
	binder->test->inverted = (term->operation == EVENTLOG_TERM_OP_EQUAL) == term->number;
	return eventlog_range(binder->test, 0, 0);
}

static bool eventlog_member_find(const struct eventlog_operand *operand, const char *name,
				 size_t length, u64 *value)
{
	return operand->member && operand->member(operand->set, name, length, value);
}

static bool eventlog_bind_enum(const struct eventlog_binder *binder)
{
	const struct eventlog_term *term = binder->term;
	const char *name;
	bool negative;
	u64 value;

	if (!(term->flags & EVENTLOG_TERM_STRING))
		return eventlog_bind_integer(binder);
	name = eventlog_term_string(binder->terms, term);
	if (!eventlog_member_find(&binder->operand, name, strlen(name), &value))
		return eventlog_bind_integer(binder);
	if (term->operation == EVENTLOG_TERM_OP_BITS)
		return eventlog_bind_number(binder, value, false);
	negative = binder->operand.is_signed && value & EVENTLOG_SIGN;
	return eventlog_bind_number(binder, negative ? 0 - value : value, negative);
}

/* Parses digits, decimal or hexadecimal with 0x. */
static bool eventlog_flag_number(const char *word, size_t length, u64 *number)
{
	bool hex = length > 2 && word[0] == '0' && word[1] == 'x';

	return length < EVENTLOG_FLAG_NUMBER_BYTES &&
	       (hex ? eventlog_digits_parse(word + 2, length - 2, 16, number) :
		      eventlog_digits_parse(word, length, 10, number));
}

/* Parses names and numbers that are separated by '|'. */
static bool eventlog_flags_parse(const struct eventlog_operand *operand, const char *words,
				 u64 *mask)
{
	size_t length;
	u64 value;

	*mask = 0;
	for (;; words += length + 1) {
		length = strcspn(words, "|");
		if (!eventlog_member_find(operand, words, length, &value) &&
		    !eventlog_flag_number(words, length, &value))
			return false;
		*mask |= value;
		if (!words[length])
			return true;
	}
}

static bool eventlog_bind_flags(const struct eventlog_binder *binder)
{
	const struct eventlog_term *term = binder->term;
	u64 mask;

	if (term->flags & EVENTLOG_TERM_STRING &&
	    eventlog_flags_parse(&binder->operand, eventlog_term_string(binder->terms, term),
				 &mask))
		return eventlog_bind_number(binder, mask, false);
	return eventlog_bind_integer(binder);
}

static bool eventlog_bind_string(const struct eventlog_binder *binder)
{
	const struct eventlog_term *term = binder->term;
	struct eventlog_test *test = binder->test;

	test->type = EVENTLOG_TEST_STRING;
	test->inverted = eventlog_is_inverted(term);
	if (term->operation == EVENTLOG_TERM_OP_SET) {
		test->string = "";
		test->inverted = true;
		return true;
	}
	if (!(term->flags & EVENTLOG_TERM_STRING))
		return false;
	test->string = eventlog_term_string(binder->terms, term);
	test->length = strlen(test->string);
	if (eventlog_is_equality(term))
		return true;
	test->type = EVENTLOG_TEST_PREFIX;
	return term->operation == EVENTLOG_TERM_OP_BEGINS ||
	       term->operation == EVENTLOG_TERM_OP_BEGINS_NOT;
}

/* Bytes, compared with pairs of hexadecimal digits. */
static bool eventlog_bind_octets(const struct eventlog_binder *binder)
{
	bool fixed = binder->operand.source == EVENTLOG_SOURCE_FIXED;
	const struct eventlog_term *term = binder->term;
	struct eventlog_test *test = binder->test;
	const char *end;

	if (term->operation == EVENTLOG_TERM_OP_SET) {
		test->type = fixed ? EVENTLOG_TEST_NONZERO : EVENTLOG_TEST_SIZE;
		return true;
	}
	if (!eventlog_is_equality(term) || !(term->flags & EVENTLOG_TERM_STRING))
		return false;
	test->string = eventlog_term_string(binder->terms, term);
	for (end = test->string; eventlog_hex_digit(*end) >= 0; end++)
		;
	if (*end || (end - test->string) % 2)
		return false;
	test->type = EVENTLOG_TEST_HEX;
	test->length = (end - test->string) / 2;
	test->inverted = eventlog_is_inverted(term);
	return true;
}

static bool eventlog_bind_mac(const struct eventlog_binder *binder)
{
	const struct eventlog_term *term = binder->term;
	u8 bytes[sizeof(u64)] = {};
	const char *text;
	unsigned int i;
	u64 number;

	if (term->operation == EVENTLOG_TERM_OP_SET)
		return eventlog_bind_octets(binder);
	if (!eventlog_is_equality(term) || !(term->flags & EVENTLOG_TERM_STRING))
		return false;
	text = eventlog_term_string(binder->terms, term);
	if (strlen(text) != 3 * EVENTLOG_MAC_BYTES - 1)
		return false;
	for (i = 0; i < EVENTLOG_MAC_BYTES; i++, text += 3) {
		int high = eventlog_hex_digit(text[0]), low = eventlog_hex_digit(text[1]);

		if (high < 0 || low < 0 || (i < EVENTLOG_MAC_BYTES - 1 && text[2] != ':'))
			return false;
		bytes[i] = high << 4 | low;
	}
	memcpy(&number, bytes, sizeof(number));
	return eventlog_bind_mask(binder->test, U64_MAX, number, eventlog_is_inverted(term));
}

/* An address with fewer bytes than the field is compared in its IPv6 form, or the other way. */
static bool eventlog_bind_ipv4(const struct eventlog_binder *binder)
{
	const struct eventlog_term *term = binder->term;
	unsigned int bytes = eventlog_term_address_bytes(term), skip = bytes - sizeof(u32), i;
	const u8 *address = (const u8 *)binder->terms->pool + term->address;
	const u8 *mask = address + bytes;
	u32 low, bits;

	if (term->operation == EVENTLOG_TERM_OP_SET)
		return eventlog_bind_integer(binder);
	if (!eventlog_is_equality(term) ||
	    !(term->flags & (EVENTLOG_TERM_IPV4 | EVENTLOG_TERM_IPV6)))
		return false;
	for (i = 0; i < skip; i++)
		if ((eventlog_mapped_prefix[i] & mask[i]) != address[i])
			return eventlog_range_all(binder->test, eventlog_is_inverted(term));
	low = get_unaligned((const u32 *)(address + skip));
	bits = get_unaligned((const u32 *)(mask + skip));
	return eventlog_bind_mask(binder->test, bits, low, eventlog_is_inverted(term));
}

static bool eventlog_bind_ipv6(const struct eventlog_binder *binder)
{
	const struct eventlog_term *term = binder->term;
	struct eventlog_test *test = binder->test;

	if (term->operation == EVENTLOG_TERM_OP_SET)
		return eventlog_bind_octets(binder);
	if (!eventlog_is_equality(term) ||
	    !(term->flags & (EVENTLOG_TERM_IPV4 | EVENTLOG_TERM_IPV6)))
		return false;
	test->type = EVENTLOG_TEST_ADDRESS;
	test->address = (const u8 *)binder->terms->pool + term->address;
	test->length = eventlog_term_address_bytes(term);
	test->inverted = eventlog_is_inverted(term);
	return true;
}

static bool eventlog_bind_operand(const struct eventlog_binder *binder)
{
	switch (binder->operand.kind) {
	case EVENTLOG_KIND_STRING:
	case EVENTLOG_KIND_CHARS:
		return eventlog_bind_string(binder);
	case EVENTLOG_KIND_BYTES:
	case EVENTLOG_KIND_OCTETS:
	case EVENTLOG_KIND_STRUCT:
		return eventlog_bind_octets(binder);
	case EVENTLOG_KIND_IPV4:
		return eventlog_bind_ipv4(binder);
	case EVENTLOG_KIND_IPV6:
		return eventlog_bind_ipv6(binder);
	case EVENTLOG_KIND_MAC:
		return eventlog_bind_mac(binder);
	case EVENTLOG_KIND_ENUM:
		return eventlog_bind_enum(binder);
	case EVENTLOG_KIND_FLAGS:
		return eventlog_bind_flags(binder);
	case EVENTLOG_KIND_BOOL:
		return eventlog_bind_bool(binder);
	default:
		return eventlog_bind_integer(binder);
	}
}

/* Finds the field or the common value that a term names. */
static bool eventlog_bind_source(struct eventlog_binder *binder,
				 const struct eventlog_subject *subject)
{
	const char *name = eventlog_term_name(binder->terms, binder->term);
	const struct eventlog_common_value *common;
	int ret = -ENOENT;

	if (!(binder->term->flags & EVENTLOG_TERM_COMMON))
		ret = subject->find(subject->of, name, &binder->operand);
	if (ret != -ENOENT)
		return !ret;
	common = eventlog_common_value_find(name);
	if (!common)
		return false;
	binder->operand.source = common->source;
	binder->operand.kind = common->kind;
	return true;
}

/* Fills in a zeroed test.  Returns false if the term is incompatible with the subject. */
static bool eventlog_bind_term(struct eventlog_test *test, const struct eventlog_terms *terms,
			       unsigned int i, const struct eventlog_subject *subject)
{
	const struct eventlog_term *term = &terms->array[i];
	struct eventlog_binder binder = { .terms = terms, .term = term, .test = test };
	const struct eventlog_operand *operand = &binder.operand;
	bool fits;

	fits = eventlog_bind_source(&binder, subject) && eventlog_bind_operand(&binder);
	if (!fits)
		test->type = EVENTLOG_TEST_INCOMPATIBLE;
	test->on_true = term->on_true;
	test->on_false = term->on_false;
	test->source = operand->source;
	test->value_type = operand->type;
	test->is_signed = operand->is_signed;
	test->relative = operand->relative;
	test->swapped = operand->kind == EVENTLOG_KIND_PORT;
	test->position = operand->position;
	test->bytes = operand->bytes;
	return fits;
}

bool eventlog_terms_fit(const struct eventlog_terms *terms, const struct eventlog_subject *subject)
{
	unsigned int i;

	for (i = 0; i < terms->count; i++) {
		struct eventlog_test test = {};

		if (!eventlog_bind_term(&test, terms, i, subject))
			return false;
	}
	return true;
}

unsigned int eventlog_terms_bind(const struct eventlog_terms *terms,
				 const struct eventlog_subject *subject,
				 struct eventlog_test *tests)
{
	unsigned int sources = 0, i;

	for (i = 0; i < terms->count; i++) {
		eventlog_bind_term(&tests[i], terms, i, subject);
		sources |= 1U << tests[i].source;
	}
	return sources;
}
