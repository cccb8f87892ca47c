// SPDX-License-Identifier: GPL-2.0-only
/*
 * Binding and evaluation of filters: see filter.h.
 *
 * Evaluation is bounded: each test leads to a later test, and reads a number, at most
 * as many bytes of a string as the one it is compared with has, or a field in the fixed
 * part of a payload.
 */
#include <linux/eventlog.h>
#include <linux/kernel.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "compat.h"
#include "core/field_types.h"
#include "core/filter.h"
#include "memory.h"

#define EVENTLOG_MAC_BYTES	6
#define EVENTLOG_IPV6_BYTES	16

/* The first bytes of the IPv6 form of an IPv4 address. */
static const u8 eventlog_mapped[12] = { [10] = 0xff, [11] = 0xff };

/* Values that exist for every event. */
static const struct {
	const char *name;
	u8 source;
	u8 kind;
} eventlog_common[] = {
	{ "cpu", EVENTLOG_SOURCE_CPU, EVENTLOG_KIND_NUMBER },
	{ "pid", EVENTLOG_SOURCE_PID, EVENTLOG_KIND_NUMBER },
	{ "tid", EVENTLOG_SOURCE_TID, EVENTLOG_KIND_NUMBER },
	{ "session", EVENTLOG_SOURCE_SESSION, EVENTLOG_KIND_NUMBER },
	{ "comm", EVENTLOG_SOURCE_COMM, EVENTLOG_KIND_STRING },
};

static int eventlog_common_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(eventlog_common); i++)
		if (!strcmp(eventlog_common[i].name, name))
			return i;
	return -1;
}

bool eventlog_filter_common_valid(const char *name)
{
	return eventlog_common_find(name) >= 0;
}

void eventlog_operand_value(struct eventlog_operand *operand, u8 type, unsigned int index)
{
	const struct eventlog_field_type *field_type = &eventlog_field_types[type];

	operand->source = EVENTLOG_SOURCE_VALUE;
	operand->kind = field_type->kind;
	operand->type = type;
	operand->is_signed = field_type->is_signed;
	operand->position = index;
}

/* ---- binding ---- */

/**
 * struct eventlog_binder - a term that is being bound
 * @expression: its expression
 * @term: the term
 * @operand: the field that it compares
 * @test: the result
 */
struct eventlog_binder {
	const struct eventlog_expression *expression;
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

/*
 * Compares mathematically, even if the number is out of the range of the field's type.
 * Flipping the sign bit maps signed to unsigned numbers in the same order.
 */
static bool eventlog_bind_compared(const struct eventlog_binder *binder, u64 magnitude,
				   bool negative)
{
	struct eventlog_test *test = binder->test;
	unsigned int operation = binder->term->operation;
	bool is_signed = binder->operand.is_signed;
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
		return eventlog_bind_compared(binder, magnitude, negative);
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

/* Finds a member of the operand's enum or flags type. */
static const struct eventlog_value *eventlog_member_find(const struct eventlog_operand *operand,
							 const char *name, size_t length)
{
	unsigned int i;

	for (i = 0; i < operand->value_count; i++)
		if (strlen(operand->values[i].name) == length &&
		    !memcmp(operand->values[i].name, name, length))
			return &operand->values[i];
	return NULL;
}

static bool eventlog_bind_enum(const struct eventlog_binder *binder)
{
	const struct eventlog_term *term = binder->term;
	const struct eventlog_value *member = NULL;
	const char *name;
	bool negative;

	if (term->flags & EVENTLOG_TERM_STRING) {
		name = eventlog_term_string(binder->expression, term);
		member = eventlog_member_find(&binder->operand, name, strlen(name));
	}
	if (!member)
		return eventlog_bind_integer(binder);
	if (term->operation == EVENTLOG_TERM_OP_BITS)
		return eventlog_bind_number(binder, member->value, false);
	negative = binder->operand.is_signed && (s64)member->value < 0;
	return eventlog_bind_number(binder, negative ? 0 - member->value : member->value, negative);
}

/* Parses a number, decimal or hexadecimal with 0x. */
static bool eventlog_word_number(const char *word, size_t length, u64 *number)
{
	bool hex = length > 2 && word[0] == '0' && word[1] == 'x';
	char copy[24];

	if (length >= sizeof(copy) || !length || *word == '+')
		return false;
	memcpy(copy, word, length);
	copy[length] = '\0';
	return !kstrtou64(hex ? copy + 2 : copy, hex ? 16 : 10, number);
}

/* Parses names and numbers that are separated by '|'. */
static bool eventlog_flags_parse(const struct eventlog_operand *operand, const char *words,
				 u64 *mask)
{
	const struct eventlog_value *member;
	const char *end;
	u64 number;

	*mask = 0;
	for (;; words = end + 1) {
		end = strchrnul(words, '|');
		member = eventlog_member_find(operand, words, end - words);
		if (member)
			*mask |= member->value;
		else if (eventlog_word_number(words, end - words, &number))
			*mask |= number;
		else
			return false;
		if (!*end)
			return true;
	}
}

static bool eventlog_bind_flags(const struct eventlog_binder *binder)
{
	const struct eventlog_term *term = binder->term;
	u64 mask;

	if (term->flags & EVENTLOG_TERM_STRING &&
	    eventlog_flags_parse(&binder->operand, eventlog_term_string(binder->expression, term),
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
	test->string = eventlog_term_string(binder->expression, term);
	test->length = strlen(test->string);
	if (eventlog_is_equality(term))
		return true;
	test->type = EVENTLOG_TEST_PREFIX;
	return term->operation == EVENTLOG_TERM_OP_BEGINS ||
	       term->operation == EVENTLOG_TERM_OP_BEGINS_NOT;
}

static notrace int eventlog_hex_digit(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	if (digit >= 'A' && digit <= 'F')
		return digit - 'A' + 10;
	return -1;
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
	test->string = eventlog_term_string(binder->expression, term);
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
	text = eventlog_term_string(binder->expression, term);
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
	const u8 *address = (const u8 *)binder->expression->pool + term->address;
	const u8 *mask = address + bytes;
	u32 low, bits;

	if (term->operation == EVENTLOG_TERM_OP_SET)
		return eventlog_bind_integer(binder);
	if (!eventlog_is_equality(term) ||
	    !(term->flags & (EVENTLOG_TERM_IPV4 | EVENTLOG_TERM_IPV6)))
		return false;
	for (i = 0; i < skip; i++)
		if ((eventlog_mapped[i] & mask[i]) != address[i])
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
	test->address = (const u8 *)binder->expression->pool + term->address;
	test->length = eventlog_term_address_bytes(term);
	test->inverted = eventlog_is_inverted(term);
	return true;
}

static bool eventlog_bind_operand(const struct eventlog_binder *binder)
{
	switch (binder->operand.kind) {
	case EVENTLOG_KIND_STRING:
	case EVENTLOG_KIND_STRING_REL:
	case EVENTLOG_KIND_CHARS:
		return eventlog_bind_string(binder);
	case EVENTLOG_KIND_BYTES:
	case EVENTLOG_KIND_BYTES_REL:
	case EVENTLOG_KIND_ARRAY:
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
	default:
		if (binder->operand.type == EVENTLOG_MARKER_BOOL)
			return eventlog_bind_bool(binder);
		return eventlog_bind_integer(binder);
	}
}

/* Finds the field or the common value that a term names. */
static bool eventlog_bind_source(struct eventlog_binder *binder,
				 const struct eventlog_subject *subject)
{
	const char *name = eventlog_term_name(binder->expression, binder->term);
	int i = -ENOENT;

	if (!(binder->term->flags & EVENTLOG_TERM_COMMON))
		i = subject->find(subject->of, name, &binder->operand);
	if (i != -ENOENT)
		return !i;
	i = eventlog_common_find(name);
	if (i < 0)
		return false;
	binder->operand.source = eventlog_common[i].source;
	binder->operand.kind = eventlog_common[i].kind;
	return true;
}

/* Fills in a zeroed test.  Returns false if the term is incompatible with the subject. */
static bool eventlog_bind_term(struct eventlog_test *test,
			       const struct eventlog_expression *expression, unsigned int i,
			       const struct eventlog_subject *subject)
{
	const struct eventlog_term *term = &expression->terms[i];
	struct eventlog_binder binder = { .expression = expression, .term = term, .test = test };
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

bool eventlog_predicate_fits(const struct eventlog_expression *expression,
			     const struct eventlog_subject *subject)
{
	unsigned int i;

	for (i = 0; i < expression->count; i++) {
		struct eventlog_test test = {};

		if (!eventlog_bind_term(&test, expression, i, subject))
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

	predicate = eventlog_alloc_as(struct_size(predicate, tests, expression->count),
				      subject->charged);
	if (!predicate)
		return NULL;
	if (subject->counted)
		predicate->rejected = alloc_percpu_gfp(unsigned long,
						       GFP_KERNEL | __GFP_NOWARN);
	if (subject->counted && !predicate->rejected) {
		eventlog_free(predicate);
		return NULL;
	}
	refcount_inc(&expression->users);
	predicate->expression = expression;
	predicate->of = subject->of;
	predicate->count = expression->count;
	for (i = 0; i < expression->count; i++) {
		test = &predicate->tests[i];
		eventlog_bind_term(test, expression, i, subject);
		predicate->dynamic |= test->source == EVENTLOG_SOURCE_DYNAMIC;
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

/* ---- evaluation ---- */

/* The bytes of a field in the fixed part; NULL: the payload is too short. */
static notrace const u8 *eventlog_fixed(const struct eventlog_operands *operands, u32 position,
					u32 bytes)
{
	if (position > operands->bytes || bytes > operands->bytes - position)
		return NULL;
	return operands->payload + position;
}

/* A number that is stored in @bytes bytes; those of a mac address are the first of a u64. */
static notrace u64 eventlog_number_load(const u8 *from, u32 bytes, bool is_signed)
{
	u64 number = 0;

	switch (bytes) {
	case 1:
		return is_signed ? (u64)(s8)*from : *from;
	case 2:
		number = get_unaligned((const u16 *)from);
		return is_signed ? (u64)(s16)number : number;
	case 4:
		number = get_unaligned((const u32 *)from);
		return is_signed ? (u64)(s32)number : number;
	default:
		memcpy(&number, from, min_t(u32, bytes, sizeof(number)));
		return number;
	}
}

static notrace bool eventlog_number_get(const struct eventlog_test *test,
					const struct eventlog_operands *operands,
					const struct eventlog_identity *identity, u64 *number)
{
	const u8 *from;

	switch (test->source) {
	case EVENTLOG_SOURCE_CPU:
		*number = identity->cpu;
		return true;
	case EVENTLOG_SOURCE_PID:
		*number = identity->pid;
		return true;
	case EVENTLOG_SOURCE_TID:
		*number = identity->tid;
		return true;
	case EVENTLOG_SOURCE_SESSION:
		*number = identity->session;
		return true;
	case EVENTLOG_SOURCE_VALUE:
		*number = eventlog_field_value(test->value_type, operands->values[test->position]);
		break;
	default:
		from = eventlog_fixed(operands, test->position, test->bytes);
		if (!from)
			return false;
		*number = eventlog_number_load(from, test->bytes, test->is_signed);
		break;
	}
	if (test->swapped)
		*number = be16_to_cpu((__force __be16)*number);
	return true;
}

/* Finds what is at @offset of a payload in parts; sets @bytes to what is left of the part. */
static notrace const u8 *eventlog_part_find(const struct eventlog_operands *operands, u32 offset,
					    u32 *bytes)
{
	const struct eventlog_part *part;

	for (part = operands->parts; part < operands->parts + operands->count; part++) {
		if (offset <= part->bytes) {
			*bytes = part->bytes - offset;
			if (*bytes || part->string)
				return (const u8 *)part->data + offset;
		}
		offset -= part->bytes + part->string;
	}
	return NULL;
}

/* The data of a field; sets @bytes to its size.  NULL: it is not in the payload. */
static notrace const u8 *eventlog_data_get(const struct eventlog_test *test,
					   const struct eventlog_operands *operands, u32 *bytes)
{
	const u8 *data = eventlog_fixed(operands, test->position, test->bytes);
	u32 word, offset, room;

	*bytes = test->bytes;
	if (!data || test->source == EVENTLOG_SOURCE_FIXED)
		return data;
	word = get_unaligned((const u32 *)data);
	offset = word & 0xffff;
	if (test->relative)
		offset += test->position + sizeof(u32);
	*bytes = word >> 16;
	if (!operands->count) {
		if (offset > operands->bytes || *bytes > operands->bytes - offset)
			return NULL;
		return operands->payload + offset;
	}
	if (!*bytes)
		return data;
	data = eventlog_part_find(operands, offset, &room);
	*bytes = min(*bytes, room);
	return data;
}

/* The string that a test compares; sets @room to its maximum length. */
static notrace const char *eventlog_string_find(const struct eventlog_test *test,
						const struct eventlog_operands *operands,
						const struct eventlog_identity *identity, u32 *room)
{
	const char *string;

	switch (test->source) {
	case EVENTLOG_SOURCE_COMM:
		*room = TASK_COMM_LEN;
		return identity->comm;
	case EVENTLOG_SOURCE_VALUE:
		/* A NULL string is recorded as "(null)", so compare with that. */
		string = (const char *)(unsigned long)operands->values[test->position];
		*room = U32_MAX;
		return string ?: "(null)";
	default:
		return (const char *)eventlog_data_get(test, operands, room);
	}
}

/* Reads each byte once: a string in parts may change meanwhile. */
static notrace bool eventlog_string_holds(const struct eventlog_test *test, const char *string,
					  u32 room)
{
	u32 i;

	for (i = 0; i < test->length; i++)
		if (i >= room || READ_ONCE(string[i]) != test->string[i])
			return false;
	return test->type == EVENTLOG_TEST_PREFIX || i >= room || !READ_ONCE(string[i]);
}

static notrace bool eventlog_address_holds(const struct eventlog_test *test, const u8 *field)
{
	u32 skip = EVENTLOG_IPV6_BYTES - test->length, i;

	if (skip && memcmp(field, eventlog_mapped, skip))
		return false;
	for (i = 0; i < test->length; i++)
		if ((field[skip + i] & test->address[test->length + i]) != test->address[i])
			return false;
	return true;
}

static notrace bool eventlog_hex_holds(const struct eventlog_test *test, const u8 *data, u32 bytes)
{
	const char *digits = test->string;
	u32 i;

	if (bytes != test->length)
		return false;
	for (i = 0; i < bytes; i++, digits += 2)
		if (data[i] != (eventlog_hex_digit(digits[0]) << 4 | eventlog_hex_digit(digits[1])))
			return false;
	return true;
}

/* Tests that read data, not a number. */
static notrace bool eventlog_data_holds(const struct eventlog_test *test,
					const struct eventlog_operands *operands)
{
	const u8 *data;
	bool holds;
	u32 bytes;

	data = eventlog_data_get(test, operands, &bytes);
	if (!data)
		return false;
	switch (test->type) {
	case EVENTLOG_TEST_ADDRESS:
		holds = eventlog_address_holds(test, data);
		break;
	case EVENTLOG_TEST_HEX:
		holds = eventlog_hex_holds(test, data, bytes);
		break;
	case EVENTLOG_TEST_NONZERO:
		holds = memchr_inv(data, 0, bytes);
		break;
	default:
		holds = bytes;
		break;
	}
	return holds != test->inverted;
}

/* A field that cannot be read makes the test false, even if it is inverted. */
static notrace bool eventlog_test_holds(const struct eventlog_test *test,
					const struct eventlog_operands *operands,
					const struct eventlog_identity *identity)
{
	const char *string;
	u64 number;
	bool holds;
	u32 room;

	switch (test->type) {
	case EVENTLOG_TEST_STRING:
	case EVENTLOG_TEST_PREFIX:
		string = eventlog_string_find(test, operands, identity, &room);
		return string && eventlog_string_holds(test, string, room) != test->inverted;
	case EVENTLOG_TEST_RANGE:
	case EVENTLOG_TEST_MASK:
		if (!eventlog_number_get(test, operands, identity, &number))
			return false;
		holds = test->type == EVENTLOG_TEST_MASK ?
			(number & test->mask) == test->low :
			(number ^ test->flip) - test->low <= test->span;
		return holds != test->inverted;
	default:
		return eventlog_data_holds(test, operands);
	}
}

notrace enum eventlog_verdict
eventlog_predicate_evaluate(const struct eventlog_predicate *predicate,
			    const struct eventlog_operands *operands,
			    const struct eventlog_identity *identity)
{
	bool incompatible = false, holds;
	unsigned int i = 0;

	while (i < predicate->count) {
		const struct eventlog_test *test = &predicate->tests[i];

		if (test->type == EVENTLOG_TEST_INCOMPATIBLE) {
			incompatible = true;
			holds = false;
		} else {
			holds = eventlog_test_holds(test, operands, identity);
		}
		i = holds ? test->on_true : test->on_false;
	}
	if (i == EVENTLOG_FILTER_ACCEPT)
		return EVENTLOG_VERDICT_TRUE;
	return incompatible ? EVENTLOG_VERDICT_INCOMPATIBLE : EVENTLOG_VERDICT_FALSE;
}

notrace bool eventlog_predicate_holds(const struct eventlog_predicate *predicate,
				      const u64 *values)
{
	const struct eventlog_operands operands = { .values = values };
	struct pid_namespace *pids = predicate->expression->pids;
	const bool initial = pids == &init_pid_ns;
	const struct eventlog_identity identity = {
		.cpu = smp_processor_id(),
		.pid = initial ? current->tgid : task_tgid_nr_ns(current, pids),
		.tid = initial ? current->pid : task_pid_nr_ns(current, pids),
		.comm = current->comm,
	};

	if (eventlog_predicate_evaluate(predicate, &operands, &identity) == EVENTLOG_VERDICT_TRUE)
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
