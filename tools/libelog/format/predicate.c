// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Evaluation of predicates. Payloads need not be valid: elog_decode() reads the fields.
 * A test whose field does not exist is false, even with "!=".
 */
#include <errno.h>
#include <stdlib.h>

#include "elog.h"
#include "format/predicate.h"

void elog_predicate_free(struct elog_predicate *predicate)
{
	free(predicate);
}

bool elog_predicate_needs_comm(const struct elog_predicate *predicate)
{
	return predicate->needs_comm;
}

bool elog_test_text_holds(const struct test *test, const char *text, size_t size)
{
	int matches;

	if (test->type == TEST_SIZE)
		return size;
	if (test->type == TEST_PATTERN) {
		matches = elog_pattern_matches(test->pattern, text, size);
		if (matches < 0)
			errno = ENOMEM;
		return matches >= 0 && matches != (int)test->inverted;
	}
	return (size == test->text.size &&
		!memcmp(text, test->text.text, size)) != test->inverted;
}

static bool integer_holds(const struct test *test, uint64_t value)
{
	return test->type == TEST_BITS ? (value & test->mask) != 0 :
					 range_holds(test, value);
}

static bool address_holds(const struct test *test, const void *data, size_t size)
{
	uint64_t words[2];

	if (size == sizeof(words))
		memcpy(words, data, sizeof(words));
	else
		map_address(data, words);
	return ((words[0] & test->address.mask[0]) == test->address.network[0] &&
		(words[1] & test->address.mask[1]) == test->address.network[1]) !=
	       test->inverted;
}

static bool hex_holds(const struct test *test, const unsigned char *data,
		      size_t size)
{
	const char *digits = test->text.text;
	bool same = size == test->text.size / 2;
	size_t i;

	for (i = 0; same && i < size; i++, digits += 2)
		same = data[i] == (eventlog_hex_digit(digits[0]) << 4 | eventlog_hex_digit(digits[1]));
	return same != test->inverted;
}

static bool any_byte(const unsigned char *data, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		if (data[i])
			return true;
	return false;
}

/* Only != is true for a number that is not one. */
static bool float_holds(const struct test *test, uint64_t bits)
{
	const double than = test->number.value;
	double value;

	memcpy(&value, &bits, sizeof(value));
	switch (test->number.operator) {
	case OPERATOR_EQUAL:
		return value >= than && value <= than;
	case OPERATOR_LESS:
		return value < than;
	case OPERATOR_LESS_EQUAL:
		return value <= than;
	case OPERATOR_GREATER:
		return value > than;
	case OPERATOR_GREATER_EQUAL:
		return value >= than;
	default:
		return !(value >= than && value <= than);
	}
}

static bool field_holds(const struct test *test, const struct elog_item *item)
{
	struct elog_value value;

	if (elog_decode(&test->field, item->payload, item->payload_size, &value))
		return false;
	switch (test->type) {
	case TEST_ADDRESS:
		return address_holds(test, value.data, value.size);
	case TEST_MAC:
		return !memcmp(value.data, test->mac, sizeof(test->mac)) !=
		       test->inverted;
	case TEST_TEXT:
	case TEST_PATTERN:
	case TEST_SIZE:
		return elog_test_text_holds(test, value.data, value.size);
	case TEST_HEX:
		return hex_holds(test, value.data, value.size);
	case TEST_NONZERO:
		return any_byte(value.data, value.size);
	case TEST_FLOAT:
		return float_holds(test, value.integer);
	default:
		return integer_holds(test, value.integer);
	}
}

static bool test_holds(const struct test *test, const struct elog_item *item,
		       const char *comm)
{
	switch (test->source) {
	case SOURCE_FIELD:
		return field_holds(test, item);
	case SOURCE_CPU:
		return item->cpu != EVENTLOG_CPU_UNKNOWN && integer_holds(test, item->cpu);
	case SOURCE_PID:
		return integer_holds(test, item->pid);
	case SOURCE_TID:
		return integer_holds(test, item->tid);
	case SOURCE_SESSION:
		return integer_holds(test, item->session);
	case SOURCE_TIME:
		return integer_holds(test, item->time);
	case SOURCE_INSTANCE:
		/* The root has no name. */
		return item->instance ?
		       elog_test_text_holds(test, item->instance, strlen(item->instance)) :
		       elog_test_text_holds(test, "", 0);
	default:
		return comm && elog_test_text_holds(test, comm, strlen(comm));
	}
}

bool elog_predicate_match(const struct elog_predicate *predicate,
			  const struct elog_item *item, const char *comm)
{
	const struct test *test;
	uint32_t index = predicate->count ? 0 : ACCEPT;

	while (index < predicate->count) {
		test = &predicate->tests[index];
		index = test_holds(test, item, comm) ? test->on_true :
						       test->on_false;
	}
	return index == ACCEPT;
}
