/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Predicates: expressions bound to one event's schema. bind.c makes them, predicate.c
 * evaluates them. A predicate is immutable; any number of threads may use it.
 */
#ifndef LIBELOG_PREDICATE_H
#define LIBELOG_PREDICATE_H

#include "format/expression.h"

/* Sources of a test's operand. */
enum source {
	SOURCE_FIELD,
	SOURCE_CPU,
	SOURCE_PID,
	SOURCE_TID,
	SOURCE_SESSION,
	SOURCE_TIME,
	SOURCE_COMM,
	SOURCE_INSTANCE,
	SOURCE_CONSTANT,	/* only while binding */
};

enum test_type {
	TEST_RANGE,		/* (integer ^ flip) is in a range */
	TEST_BITS,		/* integer & mask */
	TEST_ADDRESS,
	TEST_MAC,
	TEST_TEXT,		/* equal to */
	TEST_PATTERN,
	TEST_HEX,		/* bytes equal to digits */
	TEST_SIZE,		/* there are bytes */
	TEST_NONZERO,		/* a byte is not 0 */
	TEST_FLOAT,
};

struct test {
	uint32_t on_true;
	uint32_t on_false;
	enum test_type type;
	enum source source;
	bool inverted;
	/* A copy without pointers, because the schema may be freed. */
	struct elog_schema_field field;
	union {
		struct {
			/* Flipping the sign bit maps signed to unsigned order. */
			uint64_t flip;
			uint64_t low;
			uint64_t span;
		} range;
		uint64_t mask;
		struct {
			uint64_t network[2];
			uint64_t mask[2];
		} address;
		unsigned char mac[6];
		struct {
			const char *text;
			size_t size;
		} text;
		struct pattern *pattern;
		struct {
			double value;
			enum operator operator;
		} number;
	};
};

struct elog_predicate {
	bool needs_comm;
	uint32_t count;
	struct test tests[];
};

static inline bool range_holds(const struct test *test, uint64_t value)
{
	return (((value ^ test->range.flip) - test->range.low) <=
		test->range.span) != test->inverted;
}

/* Map an IPv4 address to IPv6: ::ffff:a.b.c.d. */
static inline void map_address(const unsigned char *bytes, uint64_t *words)
{
	unsigned char mapped[16] = { [10] = 0xff, [11] = 0xff };

	memcpy(mapped + 12, bytes, 4);
	memcpy(words, mapped, sizeof(mapped));
}

/**
 * elog_test_parse_address() - parse an address, or a prefix with "/" and its length
 * @text: the text
 * @size: bytes of it
 * @test: its address is set
 *
 * Return: false if it is neither.
 */
bool elog_test_parse_address(const char *text, size_t size, struct test *test);

/** elog_test_text_holds() - evaluate a test of text */
bool elog_test_text_holds(const struct test *test, const char *text, size_t size);

#endif /* LIBELOG_PREDICATE_H */
