/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel providers: how they register, and how they are notified.
 *
 * All of it is under domain->update_lock.  Whoever enables or disables events
 * calls eventlog_update_begin() before and eventlog_update_end() after, so that no
 * change overtakes an earlier one on its way to a provider.  The events themselves
 * are under domain->lock, as all events are.  The public side is
 * include/linux/eventlog.h.
 */
#ifndef EVENTLOG_PROVIDER_H
#define EVENTLOG_PROVIDER_H

#include <linux/types.h>

struct eventlog_domain;
struct eventlog_subscriber;
struct eventlog_subscriber_rule;

/**
 * eventlog_update_begin() - begin a change that providers must be notified of
 * @domain: unlocked
 */
void eventlog_update_begin(struct eventlog_domain *domain);

/**
 * eventlog_update_begin_killable() - likewise, for a change that may fail
 * @domain: unlocked
 *
 * Return: 0, or -EINTR: a fatal signal arrived, and nothing has begun.
 */
int eventlog_update_begin_killable(struct eventlog_domain *domain) __must_check;

/**
 * eventlog_update_end() - end a change: notify kernel providers of it
 * @domain: eventlog_update_begin() was called; not locked
 * @subscriber: the owner of @rule, or NULL
 * @rule: a rule that was added, or NULL
 *
 * Process context, sleeps.  Flips static keys and calls enable() of providers whose
 * events were enabled or disabled.  Calls rundown() of providers that have state
 * dump events which match @rule.
 */
void eventlog_update_end(struct eventlog_domain *domain, struct eventlog_subscriber *subscriber,
			 const struct eventlog_subscriber_rule *rule);

/**
 * eventlog_update_try() - notify the kernel providers that have no enable()
 * @domain: unlocked
 *
 * Does not wait for another change that is in progress.
 *
 * Return: true if no provider is left that must be notified; else the caller has
 * eventlog_update_begin() and _end() called later.
 */
bool eventlog_update_try(struct eventlog_domain *domain);

#endif /* EVENTLOG_PROVIDER_H */
