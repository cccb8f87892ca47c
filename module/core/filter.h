/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Predicates of markers: which hits their handlers get.
 *
 * An expression is what user space gave, <uapi/linux/eventlog.h>; it does not
 * change.  Bound to a marker it is a predicate: fields are found by index, and
 * values are what their types make of them.  Any number of predicates share an
 * expression, and it goes with the last of them.
 *
 * A predicate is put into a module's marker, and taken out, under
 * domain->update_lock, of a program's under domain->lock.  Hits look at it under RCU.
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
 * @kind: enum eventlog_marker_type, of that field
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
 * @rcu: frees it
 * @next: in a list of those who make or free it
 * @of: the subject's
 * @expression: what it was made of
 * @rejected: how often it was false, or NULL: nobody counts
 * @strings: fields it compares as such, a bit for each
 * @numbers: those that it compares as numbers
 * @handlers: EVENTLOG_MARKER_* that a program's marker has if it is true
 * @count: of @tests
 * @tests: these
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
 * struct eventlog_subject - what a predicate is to be about
 * @find: finds a field by name, sets its enum eventlog_marker_type; its number, below
 *	EVENTLOG_MARKER_FIELDS_MAX, or -ENOENT, or -EINVAL: it cannot be compared
 * @of: handed to it
 * @counted: how often it is false is of interest
 */
struct eventlog_subject {
	int (*find)(const void *of, const char *name, u8 *type);
	const void *of;
	bool counted;
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
 * eventlog_expression_fits_where() - does one fit all markers that another one fits
 * @expression: valid
 * @other: valid
 *
 * Return: false also when that cannot be told from names and comparisons.
 */
bool eventlog_expression_fits_where(const struct eventlog_expression *expression,
				    const struct eventlog_expression *other);

/**
 * eventlog_predicate_fits() - can there be a predicate about a marker
 * @expression: valid
 * @subject: the marker
 */
bool eventlog_predicate_fits(const struct eventlog_expression *expression,
			     const struct eventlog_subject *subject);

/**
 * eventlog_predicate_bind() - make a predicate on the hits of a marker
 * @expression: valid; gets a user more
 * @subject: the marker
 *
 * Process context.
 *
 * Return: it; NULL: the marker does not have the fields; ERR_PTR(-ENOMEM).
 */
struct eventlog_predicate *eventlog_predicate_bind(struct eventlog_expression *expression,
						   const struct eventlog_subject *subject);

/**
 * eventlog_predicates_free() - free predicates that no marker has
 * @predicates: a list, or NULL; a hit may still be looking at them
 */
void eventlog_predicates_free(struct eventlog_predicate *predicates);

/**
 * eventlog_predicate_holds() - is it true of a hit
 * @predicate: the marker's
 * @values: as it was hit with; those of strings are addresses in the kernel
 *
 * Any context, preemption off, RCU watching.  Counts when it is not.
 */
bool eventlog_predicate_holds(const struct eventlog_predicate *predicate, const u64 *values);

/**
 * eventlog_predicate_rejected() - of how many hits it was not true
 * @predicate: one that counts
 */
u64 eventlog_predicate_rejected(const struct eventlog_predicate *predicate);

#endif /* EVENTLOG_PREDICATE_H */
