/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Policies for markers of programs: which handlers are on beside tracing, and under
 * which condition.  They apply to programs that run now and to those that start later.
 * A program evaluates their filters itself.  All under domain->lock; policy_lock serialises
 * what adds policies.
 */
#ifndef EVENTLOG_POLICY_H
#define EVENTLOG_POLICY_H

#include <linux/list.h>
#include <linux/types.h>
#include <uapi/linux/eventlog.h>

struct eventlog_domain;
struct eventlog_event;
struct eventlog_expression;

/* Handlers that a policy can switch. */
#define EVENTLOG_POLICY_HANDLERS (EVENTLOG_MARKER_PRINT | EVENTLOG_MARKER_PROBE)

/**
 * struct eventlog_policy - one policy; constant once added
 * @node: in the domain's list
 * @id: never 0; greater than those of older policies
 * @expression: the filter it sets, or NULL; counts as a user
 * @operation: EVENTLOG_MARKER_OP_ADD or EVENTLOG_MARKER_OP_REMOVE
 * @handlers: EVENTLOG_MARKER_*
 * @marker: glob over names of events; after @program in the same allocation
 * @program: glob over names of providers, without their prefix
 */
struct eventlog_policy {
	struct list_head node;
	u32 id;
	struct eventlog_expression *expression;
	u8 operation;
	u8 handlers;
	const char *marker;
	char program[];
};

/**
 * eventlog_policies_init() - set the marker policy's ops, once, at load
 */
void eventlog_policies_init(void);

/**
 * eventlog_policy_add() - add a policy
 * @domain: unlocked
 * @program: glob
 * @marker: glob
 * @expression: valid, or NULL; remains the caller's
 * @request: the rest of the request; valid; its counts and policy are set
 *
 * Process context.  Changes the generation if it changes a policy or an event.
 *
 * Return: 0; -ENOSPC: there are too many, or all ids are used up; -ENODEV: the domain is dead;
 * -EINTR: a fatal signal is pending; -ENOMEM.  Nothing is changed on errors.
 */
int eventlog_policy_add(struct eventlog_domain *domain, const char *program, const char *marker,
			struct eventlog_expression *expression,
			struct eventlog_marker_set *request);

/**
 * eventlog_policies_drop_all() - remove all policies, at unload
 * @domain: the domain, locked, without events
 */
void eventlog_policies_drop_all(struct eventlog_domain *domain);

#endif /* EVENTLOG_POLICY_H */
