/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Drafts: what a new definition needs, made without the domain's lock.  Within core/ only.
 *
 * Matching a definition with all rules takes long.  So a draft is matched, a batch at a time,
 * before the definition is published; what was added meanwhile is matched again.  A draft
 * belongs to its caller.
 */
#ifndef EVENTLOG_DRAFT_H
#define EVENTLOG_DRAFT_H

#include "core/ops.h"
#include "core/types.h"

struct eventlog_fields;

/**
 * struct eventlog_draft - what a new definition needs, made without the domain's lock
 * @provider: its provider, should the domain not have one of that name; NULL for an event of
 *	a kernel provider
 * @event: the definition; its descriptor is reserved, and it is matched with all rules
 * @layout: the layout of its trace event, or NULL
 * @place: behind the last rule that it was matched with
 * @policy: what the marker policies say
 */
struct eventlog_draft {
	struct eventlog_provider_info *provider;
	struct eventlog_event *event;
	struct eventlog_trace_layout *layout;
	struct eventlog_rule_place place;
	struct eventlog_policy_draft policy;
};

/**
 * eventlog_draft_make_kernel() - prepare eventlog_event_new_kernel()
 * @draft: filled in
 * @domain: not locked, except its update_lock
 * @info: the provider
 * @fields: name, text and layout
 * @source: the provider's side of it
 *
 * Return: 0, for eventlog_draft_free(); -ENOSPC, -EINTR, -ENOMEM.
 */
int eventlog_draft_make_kernel(struct eventlog_draft *draft, struct eventlog_domain *domain,
			       struct eventlog_provider_info *info,
			       const struct eventlog_fields *fields,
			       struct eventlog_provider_event *source);

/**
 * eventlog_draft_free() - free what a new definition has not used
 * @draft: of eventlog_draft_make_kernel(), or zeroes; zeroes afterwards
 * @domain: not locked
 */
void eventlog_draft_free(struct eventlog_draft *draft, struct eventlog_domain *domain);

/**
 * eventlog_draft_is_prepared() - was a draft matched with all rules and policies
 * @domain: its domain, locked
 * @draft: the draft
 */
bool eventlog_draft_is_prepared(struct eventlog_domain *domain,
				const struct eventlog_draft *draft);

#endif /* EVENTLOG_DRAFT_H */
