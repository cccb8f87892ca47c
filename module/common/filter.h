/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-only */
/*
 * Filters: the terms of struct eventlog_filter, checked, bound to the fields of an event
 * or a marker, and evaluated.
 *
 * Binding finds the field of each term, and converts the term's value according to the
 * type of the field: that gives a test.  Terms and tests are constant afterwards.  No
 * function allocates memory or takes a lock.  Evaluation is bounded, and may be called in
 * any context, also in an NMI or a signal handler: each test leads to a later test, and
 * reads a number, at most as many bytes of a string as the one it is compared with has, or
 * a field in the fixed part of a payload.
 */
#ifndef EVENTLOG_COMMON_FILTER_H
#define EVENTLOG_COMMON_FILTER_H

#include "common/platform.h"

#define EVENTLOG_SIGN	(1ULL << 63)

/* A number between "|" is shorter.  It is decimal, or hexadecimal with 0x. */
#define EVENTLOG_FLAG_NUMBER_BYTES	24

/* Room for the name of a thread, NUL included. */
#define EVENTLOG_COMM_BYTES	16

/**
 * struct eventlog_terms - the terms of a filter, and what they refer to
 * @array: the terms
 * @count: number of @array, 1 to EVENTLOG_TERMS_MAX
 * @pool: strings and addresses of the terms
 * @pool_size: bytes of @pool
 */
struct eventlog_terms {
	const struct eventlog_term *array;
	unsigned int count;
	const char *pool;
	u32 pool_size;
};

static inline const char *eventlog_term_name(const struct eventlog_terms *terms,
					     const struct eventlog_term *term)
{
	return terms->pool + term->name;
}

/* The string of a term that has one. */
static inline const char *eventlog_term_string(const struct eventlog_terms *terms,
					       const struct eventlog_term *term)
{
	return terms->pool + term->string;
}

/* Bytes of the address of a term that has one; a mask of the same length follows it. */
static inline unsigned int eventlog_term_address_bytes(const struct eventlog_term *term)
{
	return term->flags & EVENTLOG_TERM_IPV4 ? 4 : 16;
}

/**
 * eventlog_terms_check() - check terms from a process, or from the kernel
 * @terms: any content; only @count and @pool_size are valid
 *
 * Return: 0: the other functions may be called; -EINVAL: a term is invalid; -E2BIG: a
 * string is too long.
 */
int eventlog_terms_check(const struct eventlog_terms *terms);

/* How a test compares the operand. */
enum eventlog_test_type {
	EVENTLOG_TEST_INCOMPATIBLE, /* always false: no such operand, or another type */
	EVENTLOG_TEST_RANGE,	/* (number ^ flip) - low <= span, unsigned */
	EVENTLOG_TEST_MASK,	/* (number & mask) == low */
	EVENTLOG_TEST_STRING,	/* a string equals string */
	EVENTLOG_TEST_PREFIX,	/* a string begins with string */
	EVENTLOG_TEST_ADDRESS,	/* 16 bytes, masked, are an address */
	EVENTLOG_TEST_HEX,	/* bytes equal the digits in string */
	EVENTLOG_TEST_NONZERO,	/* one of the bytes is not 0 */
	EVENTLOG_TEST_SIZE,	/* there are bytes */
};

/* Where an operand is. */
enum eventlog_source {
	EVENTLOG_SOURCE_FIXED,	/* in the fixed part of a payload */
	EVENTLOG_SOURCE_DYNAMIC, /* where a word in the fixed part refers to */
	EVENTLOG_SOURCE_VALUE,	/* a value of a marker */
	EVENTLOG_SOURCE_CPU,
	EVENTLOG_SOURCE_PID,
	EVENTLOG_SOURCE_TID,
	EVENTLOG_SOURCE_SESSION,
	EVENTLOG_SOURCE_COMM,
};

/**
 * struct eventlog_operand - a field that a term compares
 * @source: enum eventlog_source
 * @kind: enum eventlog_field_kind
 * @type: index into eventlog_field_types of a marker's value
 * @is_signed: signed number
 * @relative: the offset in the word of a dynamic field is relative to the word's end
 * @position: offset of the field in the payload; index of a marker's value
 * @bytes: size in the fixed part of a payload
 * @member: finds the value of a member of an enum or flags type; NULL: it has none
 * @set: argument of @member
 */
struct eventlog_operand {
	u8 source;
	u8 kind;
	u8 type;
	bool is_signed;
	bool relative;
	u32 position;
	u32 bytes;
	bool (*member)(const void *set, const char *name, size_t length, u64 *value);
	const void *set;
};

/**
 * eventlog_operand_value() - fill in the operand for a value of a marker
 * @operand: zeroed
 * @type: index into eventlog_field_types
 * @index: index of the value
 */
void eventlog_operand_value(struct eventlog_operand *operand, u8 type, unsigned int index);

struct eventlog_field_shape;

/**
 * eventlog_operand_field() - fill in the operand for a field of a payload
 * @operand: zeroed
 * @shape: the field
 * @position: its offset in the payload
 */
void eventlog_operand_field(struct eventlog_operand *operand,
			    const struct eventlog_field_shape *shape, u32 position);

/**
 * struct eventlog_test - a term bound to an operand
 * @type: enum eventlog_test_type
 * @source: as in struct eventlog_operand
 * @value_type: &eventlog_operand.type of a marker's value
 * @is_signed: as in struct eventlog_operand
 * @relative: as in struct eventlog_operand
 * @swapped: the number is in network byte order
 * @inverted: the test is true if the comparison is false
 * @on_true: as in struct eventlog_term
 * @on_false: as in struct eventlog_term
 * @position: as in struct eventlog_operand
 * @bytes: as in struct eventlog_operand
 * @length: bytes of @string or @address
 * @flip: see enum eventlog_test_type
 * @mask: see enum eventlog_test_type
 * @string: see enum eventlog_test_type; in the pool of the terms
 * @address: see enum eventlog_test_type; a mask follows it; in the pool of the terms.  Of
 *	4 bytes, it is the end of ::ffff:a.b.c.d
 * @low: see enum eventlog_test_type
 * @span: see enum eventlog_test_type
 */
struct eventlog_test {
	u8 type;
	u8 source;
	u8 value_type;
	bool is_signed;
	bool relative;
	bool swapped;
	bool inverted;
	u16 on_true;
	u16 on_false;
	u32 position;
	u32 bytes;
	u32 length;
	union {
		u64 flip;
		u64 mask;
		const char *string;
		const u8 *address;
	};
	u64 low;
	u64 span;
};

/**
 * eventlog_test_compare() - make a test that compares an integer with a number
 * @test: zeroed; becomes EVENTLOG_TEST_RANGE
 * @operation: EVENTLOG_TERM_OP_EQUAL to EVENTLOG_TERM_OP_GREATER_EQUAL
 * @is_signed: the integer has a sign
 * @magnitude: absolute value of the number
 * @negative: its sign
 *
 * Compares mathematically, even if the number is out of the range of the integer's type.
 * If no integer passes, @test is inverted, and its range contains all of them.
 *
 * Return: true.
 */
bool eventlog_test_compare(struct eventlog_test *test, unsigned int operation, bool is_signed,
			   u64 magnitude, bool negative);

/**
 * struct eventlog_subject - the event or marker that terms are bound to
 * @find: finds a field by name and fills in the operand, which is zeroed.  Returns 0;
 *	-ENOENT: there is no such field; -EINVAL: the field cannot be compared
 * @of: argument of @find
 */
struct eventlog_subject {
	int (*find)(const void *of, const char *name, struct eventlog_operand *operand);
	const void *of;
};

/**
 * eventlog_terms_fit() - test whether terms are compatible with a subject
 * @terms: checked
 * @subject: the event or marker
 *
 * Return: true if it has all fields, with types that support the comparisons.
 */
bool eventlog_terms_fit(const struct eventlog_terms *terms,
			const struct eventlog_subject *subject);

/**
 * eventlog_terms_bind() - make tests of terms
 * @terms: checked; the tests refer to its pool
 * @subject: the event or marker; terms that are incompatible with it are always false
 * @tests: room for as many tests as there are terms, zeroed
 *
 * Return: the sources of the operands: bit 1 << enum eventlog_source of each.
 */
unsigned int eventlog_terms_bind(const struct eventlog_terms *terms,
				 const struct eventlog_subject *subject,
				 struct eventlog_test *tests);

/**
 * struct eventlog_operands - the values of an event
 * @values: a marker's values, strings as addresses; NULL: there is a payload
 * @payload: the whole payload, or the first of @parts, which contains the fixed part
 * @bytes: size of @payload
 * @parts: parts of the payload, the dynamic fields from the second one on; each is
 *	followed by a NUL if it is a string
 * @count: number of @parts; 0: @payload is the whole payload
 *
 * All of it is memory that does not fault.
 */
struct eventlog_operands {
	const u64 *values;
	const u8 *payload;
	u32 bytes;
	const struct eventlog_part *parts;
	unsigned int count;
};

/**
 * struct eventlog_identity - the emitter of an event
 * @session: chosen by the provider; 0: none
 * @cpu: where it was emitted, or EVENTLOG_CPU_UNKNOWN
 * @pid: process (tgid), in the pid namespace that the filter's numbers are in
 * @tid: thread, likewise
 * @comm: name of the thread, EVENTLOG_COMM_BYTES bytes; NULL: not known
 *
 * The caller passes it, because an event need not be evaluated in the context of its
 * emitter.  Only members that eventlog_terms_bind() has named as sources are read.
 */
struct eventlog_identity {
	u64 session;
	u32 cpu;
	u32 pid;
	u32 tid;
	const char *comm;
};

enum eventlog_verdict {
	EVENTLOG_VERDICT_TRUE,
	EVENTLOG_VERDICT_FALSE,
	EVENTLOG_VERDICT_INCOMPATIBLE,	/* false, and a term on the way is incompatible */
};

/**
 * eventlog_tests_evaluate() - evaluate a filter
 * @tests: made by eventlog_terms_bind()
 * @count: number of @tests
 * @operands: values of the event or marker that they are bound to
 * @identity: the emitter
 *
 * A test is false if its operand cannot be read, even if it is inverted.
 *
 * Context: any.
 */
enum eventlog_verdict eventlog_tests_evaluate(const struct eventlog_test *tests,
					      unsigned int count,
					      const struct eventlog_operands *operands,
					      const struct eventlog_identity *identity);

/* Which value beside the fields a name means. */
struct eventlog_common_value {
	const char *name;
	u8 source;
	u8 kind;
};

/**
 * eventlog_common_value_find() - find the value of this name beside the fields
 * @name: cpu, pid, tid, session or comm
 *
 * Return: NULL: there is none.
 */
const struct eventlog_common_value *eventlog_common_value_find(const char *name);

/* The first bytes of the IPv6 form of an IPv4 address. */
extern const u8 eventlog_mapped_prefix[12];

#endif /* EVENTLOG_COMMON_FILTER_H */
