/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filters of rules and of markers.
 *
 * A predicate is an expression, see expression.h, that is bound to the fields of an
 * event or a marker: fields are referenced by position, and values are converted
 * according to the types of the fields.  A predicate is constant; several may share an
 * expression.  Evaluation is bounded and takes no locks, in any context.
 *
 * The owner of a predicate decides which lock protects the pointer to it: see types.h for
 * rules, marker.h for markers of modules, policy.h for markers of programs.  Emission
 * and markers that fire read it under RCU.
 */
#ifndef EVENTLOG_FILTER_H
#define EVENTLOG_FILTER_H

#include <linux/eventlog_marker.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

#include "core/expression.h"

struct eventlog_part;
struct eventlog_provider;
struct eventlog_value;

#define EVENTLOG_SIGN	(1ULL << 63)

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
 * @type: index into eventlog_field_types, or 0
 * @is_signed: signed number
 * @relative: the offset in the word of a dynamic field is relative to the word's end
 * @position: offset of the field in the payload; index of a marker's value
 * @bytes: size in the fixed part of a payload
 * @values: members of the enum or flags type
 * @value_count: number of @values
 */
struct eventlog_operand {
	u8 source;
	u8 kind;
	u8 type;
	bool is_signed;
	bool relative;
	u32 position;
	u32 bytes;
	const struct eventlog_value *values;
	unsigned int value_count;
};

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
 * @string: see enum eventlog_test_type; owned by the expression
 * @address: see enum eventlog_test_type; a mask follows it; owned by the expression.  Of
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
 * struct eventlog_predicate - an expression, bound to an event or a marker
 * @rcu: for freeing after a grace period
 * @next: list of predicates to install or to free; private to the code that does so
 * @of: &eventlog_subject.of
 * @expression: the expression; the predicate holds a reference
 * @rejected: how often it was false, per CPU; NULL: not counted
 * @dynamic: it reads dynamic fields of a payload
 * @count: number of @tests
 * @tests: the tests
 */
struct eventlog_predicate {
	struct rcu_head rcu;
	struct eventlog_predicate *next;
	const void *of;
	struct eventlog_expression *expression;
	unsigned long __percpu *rejected;
	bool dynamic;
	unsigned int count;
	struct eventlog_test tests[];
};

/**
 * struct eventlog_subject - the event or marker that an expression is bound to
 * @find: finds a field by name and fills in the operand.  Returns 0; -ENOENT: there is
 *	no such field; -EINVAL: the field cannot be compared
 * @of: argument of @find
 * @counted: count how often the predicate is false
 * @charged: charge the predicate to the calling process
 */
struct eventlog_subject {
	int (*find)(const void *of, const char *name, struct eventlog_operand *operand);
	const void *of;
	bool counted;
	bool charged;
};

/**
 * eventlog_operand_value() - fill in the operand for a value of a marker
 * @operand: the operand
 * @type: enum eventlog_marker_type
 * @index: index of the value
 */
void eventlog_operand_value(struct eventlog_operand *operand, u8 type, unsigned int index);

/**
 * eventlog_filter_common_valid() - is there a value of this name beside the fields
 * @name: cpu, pid, tid, comm, session
 */
bool eventlog_filter_common_valid(const char *name);

/**
 * eventlog_predicate_fits() - test whether an expression is compatible with a subject
 * @expression: valid
 * @subject: the event or marker
 *
 * Return: true if it has all fields, with types that support the comparisons.
 */
bool eventlog_predicate_fits(const struct eventlog_expression *expression,
			     const struct eventlog_subject *subject);

/**
 * eventlog_predicate_bind() - bind an expression to an event or a marker
 * @expression: valid; the predicate takes a reference
 * @subject: the event or marker; terms that are incompatible with it are always false
 *
 * Context: process context.
 *
 * Return: the predicate; NULL: out of memory.
 */
struct eventlog_predicate *eventlog_predicate_bind(struct eventlog_expression *expression,
						   const struct eventlog_subject *subject);

/**
 * eventlog_predicate_bind_event() - bind an expression to the fields of an event
 * @expression: valid; the predicate takes a reference
 * @fields_text: schema lines of the event
 * @provider: the kernel provider of the event, registered, or NULL
 * @charged: charge the predicate to the calling process
 *
 * Context: process context.
 *
 * Return: the predicate; NULL: out of memory.
 */
struct eventlog_predicate *eventlog_predicate_bind_event(struct eventlog_expression *expression,
							 const char *fields_text,
							 const struct eventlog_provider *provider,
							 bool charged);

/**
 * eventlog_predicates_free() - free predicates after an RCU grace period
 * @predicates: list of predicates that cannot be reached any more, or NULL
 */
void eventlog_predicates_free(struct eventlog_predicate *predicates);

/**
 * struct eventlog_operands - the values of an event
 * @values: a marker's values, strings as kernel addresses; NULL: there is a payload
 * @payload: the whole payload, or the first of @parts, which contains the fixed part
 * @bytes: size of @payload
 * @parts: parts of the payload, the dynamic fields from the second one on; each is
 *	followed by a NUL if it is a string
 * @count: number of @parts; 0: @payload is the whole payload
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
 * @cpu: where it was emitted
 * @pid: process (tgid), in the pid namespace that the predicate's numbers are in
 * @tid: thread, likewise
 * @comm: name of the thread, TASK_COMM_LEN bytes
 *
 * The caller passes it, because an event need not be evaluated in the context of its
 * emitter.
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
 * eventlog_predicate_evaluate() - evaluate a predicate
 * @predicate: bound to the event or marker that @operands are of
 * @operands: memory that does not fault
 * @identity: the emitter
 *
 * Context: any; RCU or a reference protects @predicate.
 */
enum eventlog_verdict eventlog_predicate_evaluate(const struct eventlog_predicate *predicate,
						  const struct eventlog_operands *operands,
						  const struct eventlog_identity *identity);

/**
 * eventlog_predicate_holds() - evaluate the predicate of a marker that fires
 * @predicate: predicate of the marker
 * @values: values of the marker's fields; strings as kernel addresses
 *
 * Process and thread are the current ones, in the pid namespace of the task that passed
 * the filter; 0 if they are not in it.  Counts a predicate that is false.
 *
 * Context: any, preemption disabled, RCU watching.
 *
 * Return: whether the predicate is true.
 */
bool eventlog_predicate_holds(const struct eventlog_predicate *predicate, const u64 *values);

/**
 * eventlog_predicate_rejected() - count how often a predicate was false
 * @predicate: bound with &eventlog_subject.counted
 *
 * Return: the sum over all CPUs.
 */
u64 eventlog_predicate_rejected(const struct eventlog_predicate *predicate);

#endif /* EVENTLOG_FILTER_H */
