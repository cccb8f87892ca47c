/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filters of markers, called predicates in the ABI: the handlers of a marker run only
 * if its predicate is true.
 *
 * An expression is what user space passed, see <uapi/linux/eventlog.h>; it is constant.
 * A predicate is an expression bound to a marker: fields are referenced by index, and
 * values are converted according to the types of the fields.  Several predicates may
 * share an expression, which is reference-counted.
 *
 * The predicate of a module's marker is set and cleared under domain->update_lock, that
 * of a program's marker under domain->lock.  Markers that fire read it under RCU.
 */
#ifndef EVENTLOG_PREDICATE_H
#define EVENTLOG_PREDICATE_H

#include <linux/eventlog_marker.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/types.h>

/**
 * struct eventlog_expression - an expression, not bound to a marker
 * @users: number of references, held by predicates and by code that binds it
 * @count: number of @terms
 * @text: source text
 * @terms: the terms, checked by eventlog_expression_check()
 */
struct eventlog_expression {
	refcount_t users;
	unsigned int count;
	char text[EVENTLOG_PREDICATE_MAX];
	struct eventlog_term terms[EVENTLOG_TERMS_MAX];
};

/* How a test compares a value. */
enum eventlog_test_type {
	EVENTLOG_TEST_RANGE,	/* (value ^ flip) - low <= span, unsigned */
	EVENTLOG_TEST_MASK,	/* (value & mask) == low */
	EVENTLOG_TEST_TEXT,	/* a string begins with the first bytes of text */
};

/* Sources of values other than fields; smaller numbers are indices of fields. */
enum eventlog_test_source {
	EVENTLOG_SOURCE_CPU = EVENTLOG_MARKER_FIELDS_MAX,
	EVENTLOG_SOURCE_PID,
	EVENTLOG_SOURCE_TID,
	EVENTLOG_SOURCE_COMM,
};

/**
 * struct eventlog_test - a term bound to a field of a marker
 * @type: enum eventlog_test_type
 * @source: index of the field, or enum eventlog_test_source
 * @kind: enum eventlog_marker_type of the field
 * @swapped: the field is in network byte order
 * @inverted: the test is true if the comparison is false
 * @bytes: number of bytes of @text to compare
 * @on_true: as in struct eventlog_term
 * @on_false: as in struct eventlog_term
 * @flip: see enum eventlog_test_type
 * @mask: see enum eventlog_test_type
 * @low: see enum eventlog_test_type
 * @span: see enum eventlog_test_type
 * @text: see enum eventlog_test_type; owned by the expression
 */
struct eventlog_test {
	u8 type;
	u8 source;
	u8 kind;
	bool swapped;
	bool inverted;
	u8 bytes;
	u8 on_true;
	u8 on_false;
	union {
		u64 flip;
		u64 mask;
		const char *text;
	};
	u64 low;
	u64 span;
};

/**
 * struct eventlog_predicate - an expression, bound to a marker
 * @rcu: for freeing after a grace period
 * @next: list of predicates to install or to free; private to the code that does so
 * @of: &eventlog_subject.of of the marker
 * @expression: the expression; the predicate holds a reference
 * @rejected: how often it was false, per CPU; NULL: not counted
 * @strings: bit mask of the fields that it compares as strings
 * @numbers: bit mask of the fields that it compares as numbers
 * @handlers: programs' markers: EVENTLOG_MARKER_* to run if it is true
 * @count: number of @tests
 * @tests: the tests
 */
struct eventlog_predicate {
	struct rcu_head rcu;
	struct eventlog_predicate *next;
	const void *of;
	struct eventlog_expression *expression;
	unsigned long __percpu *rejected;
	u16 strings;
	u16 numbers;
	u8 handlers;
	unsigned int count;
	struct eventlog_test tests[];
};

/**
 * struct eventlog_subject - the marker that an expression is bound to
 * @find: finds a field by name and sets its enum eventlog_marker_type.  Returns the
 *	index, below EVENTLOG_MARKER_FIELDS_MAX; -ENOENT: there is no such field;
 *	-EINVAL: the field cannot be compared
 * @of: argument of @find
 * @counted: count how often the predicate is false
 */
struct eventlog_subject {
	int (*find)(const void *of, const char *name, u8 *type);
	const void *of;
	bool counted;
};

/**
 * eventlog_expression_new() - allocate an expression
 *
 * Context: process context.
 *
 * Return: the expression with one reference, to be filled in and checked; NULL if out of
 * memory.
 */
struct eventlog_expression *eventlog_expression_new(void);

/**
 * eventlog_expression_put() - drop a reference to an expression
 * @expression: the expression, or NULL
 *
 * Context: any except NMI.
 */
void eventlog_expression_put(struct eventlog_expression *expression);

/**
 * eventlog_expression_check() - check an expression from user space
 * @expression: filled in
 *
 * Return: 0; -EINVAL: the expression is invalid.
 */
int eventlog_expression_check(const struct eventlog_expression *expression);

/**
 * eventlog_expression_fits_where() - compare the compatibility of two expressions
 * @expression: valid
 * @other: valid
 *
 * Return: true if @expression is compatible with every marker that @other is compatible
 * with; false if not, or if names and comparisons are not sufficient to decide.
 */
bool eventlog_expression_fits_where(const struct eventlog_expression *expression,
				    const struct eventlog_expression *other);

/**
 * eventlog_predicate_fits() - test whether an expression is compatible with a marker
 * @expression: valid
 * @subject: the marker
 *
 * Return: true if the marker has all fields, with types that support the comparisons.
 */
bool eventlog_predicate_fits(const struct eventlog_expression *expression,
			     const struct eventlog_subject *subject);

/**
 * eventlog_predicate_bind() - bind an expression to a marker
 * @expression: valid; the predicate takes a reference
 * @subject: the marker
 *
 * Context: process context.
 *
 * Return: the predicate; NULL: the expression is incompatible with the marker;
 * ERR_PTR(-ENOMEM).
 */
struct eventlog_predicate *eventlog_predicate_bind(struct eventlog_expression *expression,
						   const struct eventlog_subject *subject);

/**
 * eventlog_predicates_free() - free predicates after an RCU grace period
 * @predicates: list of predicates that were removed from their markers, or NULL
 */
void eventlog_predicates_free(struct eventlog_predicate *predicates);

/**
 * eventlog_predicate_holds() - evaluate a predicate
 * @predicate: predicate of the marker that fires
 * @values: values of the marker's fields; strings as kernel addresses
 *
 * Counts a predicate that is false.
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

#endif /* EVENTLOG_PREDICATE_H */
