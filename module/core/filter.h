/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filters of rules and of markers.
 *
 * A predicate is an expression, see expression.h, that is bound to the fields of an
 * event or a marker, see common/filter.h.  A predicate is constant; several may share an
 * expression.
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

#include "common/filter.h"
#include "core/expression.h"
#include "memory.h"

struct eventlog_provider;

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
 * eventlog_set_member() - find a member of an enum or flags type
 * @set: struct eventlog_set
 * @name: its name; need not be NUL-terminated
 * @length: length of @name
 * @value: set if it is found
 *
 * Context: any.
 */
bool eventlog_set_member(const void *set, const char *name, size_t length, u64 *value);

/**
 * eventlog_predicate_bind() - bind an expression to an event or a marker
 * @expression: valid; the predicate takes a reference
 * @subject: the event or marker; terms that are incompatible with it are always false
 * @counted: count how often the predicate is false
 * @charge: whether the predicate is charged
 *
 * Context: process context.
 *
 * Return: the predicate; NULL: out of memory.
 */
struct eventlog_predicate *eventlog_predicate_bind(struct eventlog_expression *expression,
						   const struct eventlog_subject *subject,
						   bool counted,
						   enum eventlog_charge charge);

/**
 * eventlog_predicate_bind_event() - bind an expression to the fields of an event
 * @expression: valid; the predicate takes a reference
 * @fields_text: schema lines of the event
 * @provider: the kernel provider of the event, registered, or NULL
 * @charge: whether the predicate is charged
 *
 * Context: process context.
 *
 * Return: the predicate; NULL: out of memory.
 */
struct eventlog_predicate *eventlog_predicate_bind_event(struct eventlog_expression *expression,
							 const char *fields_text,
							 const struct eventlog_provider *provider,
							 enum eventlog_charge charge);

/**
 * eventlog_predicates_free() - free predicates after an RCU grace period
 * @predicates: list of predicates that cannot be reached any more, or NULL
 */
void eventlog_predicates_free(struct eventlog_predicate *predicates);

/**
 * eventlog_predicate_evaluate() - evaluate a predicate
 * @predicate: bound to the event or marker that @operands are of
 * @operands: memory that does not fault
 * @identity: the emitter
 *
 * Context: any; RCU or a reference protects @predicate.
 */
static __always_inline enum eventlog_verdict
eventlog_predicate_evaluate(const struct eventlog_predicate *predicate,
			    const struct eventlog_operands *operands,
			    const struct eventlog_identity *identity)
{
	return eventlog_tests_evaluate(predicate->tests, predicate->count, operands, identity);
}

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
 * @predicate: bound with @counted
 *
 * Return: the sum over all CPUs.
 */
u64 eventlog_predicate_rejected(const struct eventlog_predicate *predicate);

#endif /* EVENTLOG_FILTER_H */
