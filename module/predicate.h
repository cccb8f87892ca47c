/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Predicates of markers: which hits their handlers get.
 *
 * An expression is what user space gave, <uapi/linux/eventlog.h>; it does not
 * change.  Bound to a marker it is a predicate: fields are found by index, and
 * values are what their types make of them.  Any number of predicates share an
 * expression, and it goes with the last of them.
 *
 * A predicate is put into a marker, and taken out, under domain->update_lock.
 * Hits look at it under RCU.
 */
#ifndef EVENTLOG_PREDICATE_H
#define EVENTLOG_PREDICATE_H

#include <linux/eventlog_marker.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/types.h>

/**
 * struct eventlog_expression - terms that are not about a marker yet
 * @users: predicates made of it, and whoever makes them
 * @count: of @terms
 * @text: how it was written
 * @terms: valid
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
	EVENTLOG_TEST_TEXT,	/* the first bytes of a string are those of text */
};

/* Where it finds one: a field of that number, or */
enum eventlog_test_source {
	EVENTLOG_SOURCE_CPU = EVENTLOG_MARKER_FIELDS_MAX,
	EVENTLOG_SOURCE_PID,
	EVENTLOG_SOURCE_TID,
	EVENTLOG_SOURCE_COMM,
};

/**
 * struct eventlog_test - a term that is about a marker's field
 * @type: enum eventlog_test_type
 * @source: number of the field, or enum eventlog_test_source
 * @swapped: the field's bytes are as the network has them
 * @inverted: true when the comparison is false
 * @bytes: of @text that count
 * @on_true: as in struct eventlog_term
 * @on_false: likewise
 * @flip: see enum eventlog_test_type
 * @mask: likewise
 * @low: likewise
 * @span: likewise
 * @text: likewise; the expression's
 */
struct eventlog_test {
	u8 type;
	u8 source;
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
 * @rcu: frees it
 * @next: in a list of those who make or free it
 * @marker: the marker
 * @expression: what it was made of
 * @rejected: how often it was false
 * @count: of @tests
 * @tests: these
 */
struct eventlog_predicate {
	struct rcu_head rcu;
	struct eventlog_predicate *next;
	const struct eventlog_marker *marker;
	struct eventlog_expression *expression;
	unsigned long __percpu *rejected;
	unsigned int count;
	struct eventlog_test tests[];
};

/**
 * eventlog_expression_new() - room for an expression
 *
 * Process context.
 *
 * Return: it, with one user, to be filled in and checked; NULL: no memory.
 */
struct eventlog_expression *eventlog_expression_new(void);

/**
 * eventlog_expression_put() - one user fewer
 * @expression: it, or NULL
 *
 * Any context but NMI.
 */
void eventlog_expression_put(struct eventlog_expression *expression);

/**
 * eventlog_expression_check() - is an expression of user space one
 * @expression: filled in
 *
 * Return: 0 or -EINVAL.
 */
int eventlog_expression_check(const struct eventlog_expression *expression);

/**
 * eventlog_predicate_bind() - make a predicate on the hits of a marker
 * @expression: valid; gets a user more
 * @marker: named
 *
 * Process context.
 *
 * Return: it; NULL: the marker does not have the fields; ERR_PTR(-ENOMEM).
 */
struct eventlog_predicate *eventlog_predicate_bind(struct eventlog_expression *expression,
						   const struct eventlog_marker *marker);

/**
 * eventlog_predicates_free() - free predicates that no marker has
 * @predicates: a list, or NULL; a hit may still be looking at them
 */
void eventlog_predicates_free(struct eventlog_predicate *predicates);

/**
 * eventlog_predicate_holds() - is it true of a hit
 * @predicate: the marker's
 * @marker: the marker
 * @values: as it was hit with
 *
 * Any context, preemption off, RCU watching.  Counts when it is not.
 */
bool eventlog_predicate_holds(const struct eventlog_predicate *predicate,
			      const struct eventlog_marker *marker, const u64 *values);

/**
 * eventlog_predicate_rejected() - of how many hits it was not true
 * @predicate: it
 */
u64 eventlog_predicate_rejected(const struct eventlog_predicate *predicate);

#endif /* EVENTLOG_PREDICATE_H */
