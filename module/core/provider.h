/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel providers: their coming and going, and what they are told.
 *
 * All of it is under domain->update_lock, which is held from a change until the
 * providers it concerns have been told; their events themselves are under
 * domain->lock as all events are.  The public side is include/linux/eventlog.h.
 */
#ifndef EVENTLOG_PROVIDER_H
#define EVENTLOG_PROVIDER_H

struct eventlog_domain;
struct eventlog_subscriber;
struct eventlog_subscriber_rule;

/**
 * eventlog_providers_update() - tell kernel providers what has come to be wanted, or ceased to be
 * @domain: its update_lock held, not its lock
 * @subscriber: that has a new rule, or NULL
 * @rule: the rule, of @subscriber, in force
 *
 * Process context, sleeps.  Flips static keys, calls enable(), and rundown() of
 * those of whose rundown events @rule asks for one.
 */
void eventlog_providers_update(struct eventlog_domain *domain,
			       struct eventlog_subscriber *subscriber,
			       const struct eventlog_subscriber_rule *rule);

#endif /* EVENTLOG_PROVIDER_H */
