/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Expressions: filters as user space passed them, see struct eventlog_filter in
 * <uapi/linux/eventlog.h>.  They are copied in, checked, and constant afterwards.  An
 * expression is not bound to an event or a marker: filter.h does that.
 *
 * Expressions are reference-counted; there are no locks.
 */
#ifndef EVENTLOG_EXPRESSION_H
#define EVENTLOG_EXPRESSION_H

#include <linux/refcount.h>
#include <linux/types.h>
#include <uapi/linux/eventlog.h>

#include "common/filter.h"

struct pid_namespace;

/**
 * struct eventlog_expression - an expression
 * @users: number of references, held by rules, predicates and code that binds it
 * @terms: the terms, as they were passed, and checked
 * @text: source text; "" if there is none
 * @pids: the pid namespace of the task that passed it, with a reference: what its numbers of
 *	processes and threads mean, unless a rule's subscriber decides that
 * @array: &eventlog_terms.array of @terms; the pool and the text follow
 */
struct eventlog_expression {
	refcount_t users;
	struct eventlog_terms terms;
	const char *text;
	struct pid_namespace *pids;
	struct eventlog_term array[];
};

/**
 * eventlog_expression_get() - copy in and check a filter
 * @user: address of the caller's struct eventlog_filter, or 0: no filter
 *
 * Process context; no lock may be held.
 *
 * Return: the expression with one reference; NULL: there is no filter; or ERR_PTR:
 * -EFAULT; -EINVAL: it is invalid; -E2BIG: a limit is exceeded, or a struct has
 * members that the kernel does not know; -ENOMEM.
 */
struct eventlog_expression *eventlog_expression_get(u64 user);

/**
 * eventlog_expression_put() - drop a reference to an expression
 * @expression: the expression, or NULL
 *
 * Context: any except NMI.
 */
void eventlog_expression_put(struct eventlog_expression *expression);

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
 * eventlog_expression_names() - may a term compare a common value
 * @expression: valid
 * @name: cpu, pid, tid, comm or session
 *
 * Return: true, too, for a field of that name: a term means the common value in events
 * without such a field.
 */
bool eventlog_expression_names(const struct eventlog_expression *expression, const char *name);

#endif /* EVENTLOG_EXPRESSION_H */
