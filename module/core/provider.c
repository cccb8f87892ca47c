// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel providers: see provider.h.
 */
#include <linux/err.h>
#include <linux/eventlog.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "core/domain.h"
#include "core/draft.h"
#include "core/enable.h"
#include "core/event.h"
#include "core/ops.h"
#include "core/provider.h"
#include "core/schema.h"
#include "core/sink.h"
#include "memory.h"

/* The event of a registered provider; the pointer changes only under update_lock. */
static struct eventlog_event *eventlog_provider_event(const struct eventlog_domain *domain,
						      const struct eventlog_provider_event *source)
{
	return rcu_dereference_protected(source->event, lockdep_is_held(&domain->update_lock));
}

/*
 * Flips the static keys of a provider's events and calls its enable().  Without
 * domain->lock: an event that changes meanwhile puts the provider on the list again.
 */
static void eventlog_provider_notify(struct eventlog_domain *domain,
				     struct eventlog_provider_info *info)
{
	struct eventlog_provider *provider = info->kernel;
	bool changed = false;
	u64 keywords = 0;
	u32 level = 0;
	unsigned int i;

	for (i = 0; i < provider->event_count; i++) {
		struct eventlog_provider_event *source = provider->events[i];
		struct eventlog_event *event = eventlog_provider_event(domain, source);
		bool enabled = rcu_access_pointer(event->listeners), on;

		if (enabled) {
			keywords |= source->keywords;
			level = max_t(u32, level, source->level);
		}
		on = provider->update ? provider->update(source, enabled) : enabled;
		if (on == static_key_enabled(&source->enabled.key))
			continue;
		changed = true;
		if (on)
			static_branch_enable(&source->enabled);
		else
			static_branch_disable(&source->enabled);
		cond_resched();
	}
	if (!changed)
		return;
	info->enabled_once = true;
	info->last_level = level;
	if (provider->enable)
		provider->enable(provider, keywords, level);
}

static bool eventlog_provider_dump_enabled(struct eventlog_domain *domain,
					   const struct eventlog_provider *provider,
					   const struct eventlog_subscriber_rule *rule)
{
	const struct eventlog_event *event;
	bool enabled = false;
	unsigned int i;

	eventlog_domain_lock(domain);
	for (i = 0; i < provider->event_count && !enabled; i++) {
		event = eventlog_provider_event(domain, provider->events[i]);
		if (!event->state_dump)
			continue;
		enabled = rule ? eventlog_enable_rule_selects(rule, event) :
				 !!rcu_access_pointer(event->listeners);
	}
	eventlog_domain_unlock(domain);
	return enabled;
}

/* Has a provider dump its state to @subscriber, or to all subscribers if that is NULL. */
static void eventlog_provider_dump(struct eventlog_domain *domain,
				   struct eventlog_provider_info *info,
				   const struct eventlog_subscriber *subscriber,
				   const struct eventlog_subscriber_rule *rule)
{
	struct eventlog_provider *provider = info->kernel;

	if (!provider->rundown || !eventlog_provider_dump_enabled(domain, provider, rule))
		return;
	WRITE_ONCE(info->dump_subscriber, subscriber);
	/* Events from other tasks still go to all subscribers. */
	WRITE_ONCE(info->dump_task, current);
	provider->rundown(provider);
	WRITE_ONCE(info->dump_task, NULL);
}

static void eventlog_providers_update(struct eventlog_domain *domain,
				      struct eventlog_subscriber *subscriber,
				      const struct eventlog_subscriber_rule *rule)
{
	struct eventlog_provider_info *info;

	lockdep_assert_held(&domain->update_lock);
	for (;;) {
		eventlog_domain_lock(domain);
		info = list_first_entry_or_null(&domain->dirty_providers,
						struct eventlog_provider_info, dirty_node);
		if (info)
			list_del_init(&info->dirty_node);
		eventlog_domain_unlock(domain);
		if (!info)
			break;
		eventlog_provider_notify(domain, info);
	}
	if (!rule)
		return;
	list_for_each_entry(info, &domain->kernel_providers, kernel_node)
		eventlog_provider_dump(domain, info, subscriber, rule);
}

void eventlog_update_begin(struct eventlog_domain *domain)
{
	mutex_lock(&domain->update_lock);
}

int eventlog_update_begin_killable(struct eventlog_domain *domain)
{
	return mutex_lock_killable(&domain->update_lock);
}

void eventlog_update_end(struct eventlog_domain *domain, struct eventlog_subscriber *subscriber,
			 const struct eventlog_subscriber_rule *rule)
{
	eventlog_providers_update(domain, subscriber, rule);
	mutex_unlock(&domain->update_lock);
	eventlog_watch_settle();
}

/* The first provider that must be notified and has no enable(), or NULL; off the list. */
static struct eventlog_provider_info *eventlog_update_quick(struct eventlog_domain *domain)
{
	struct eventlog_provider_info *info, *quick = NULL;

	eventlog_domain_lock(domain);
	list_for_each_entry(info, &domain->dirty_providers, dirty_node) {
		if (info->kernel->enable)
			continue;
		list_del_init(&info->dirty_node);
		quick = info;
		break;
	}
	eventlog_domain_unlock(domain);
	return quick;
}

bool eventlog_update_try(struct eventlog_domain *domain)
{
	struct eventlog_provider_info *info;
	bool done;

	if (!mutex_trylock(&domain->update_lock))
		return false;
	while ((info = eventlog_update_quick(domain)))
		eventlog_provider_notify(domain, info);
	eventlog_domain_lock(domain);
	done = list_empty(&domain->dirty_providers);
	eventlog_domain_unlock(domain);
	mutex_unlock(&domain->update_lock);
	return done;
}

/* ---- register and unregister ---- */

/* Removes the first @count events of a provider that could not be registered. */
static void eventlog_provider_events_discard(struct eventlog_event **events, unsigned int count)
{
	while (count--)
		eventlog_event_discard(events[count]);
}

/* Matches the events with all rules, without the lock. */
static int eventlog_provider_drafts_make(struct eventlog_domain *domain,
					 struct eventlog_provider_info *info,
					 struct eventlog_fields *fields,
					 struct eventlog_draft *drafts)
{
	struct eventlog_provider *provider = info->kernel;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < provider->event_count && !ret; i++)
		ret = eventlog_draft_make_kernel(&drafts[i], domain, info, &fields[i],
						 provider->events[i]);
	return ret;
}

/* Makes the events, all under one domain->lock: a new rule finds all or none. */
static int eventlog_provider_events_make(struct eventlog_provider *provider,
					 struct eventlog_fields *fields,
					 struct eventlog_draft *drafts,
					 struct eventlog_event **events)
{
	unsigned int i;

	for (i = 0; i < provider->event_count; i++) {
		events[i] = eventlog_event_new_kernel(&drafts[i], &fields[i]);
		if (IS_ERR(events[i])) {
			eventlog_provider_events_discard(events, i);
			return PTR_ERR(events[i]);
		}
	}
	return 0;
}

static int eventlog_provider_add(struct eventlog_domain *domain,
				 struct eventlog_provider *provider, char **preamble,
				 struct eventlog_fields *fields, struct eventlog_draft *drafts,
				 struct eventlog_event **events)
{
	struct eventlog_provider_info *info;
	unsigned int i;
	int ret;

	/* Before subscribers note its value: the provider does not emit yet. */
	for (i = 0; i < provider->event_count; i++)
		atomic_long_set(&provider->events[i]->lost_rcu_idle, 0);
	do {
		eventlog_domain_lock(domain);
		info = eventlog_kernel_provider_new(domain, provider, *preamble);
		eventlog_domain_unlock(domain);
	} while (info == ERR_PTR(-EAGAIN));
	if (IS_ERR(info))
		return PTR_ERR(info);
	*preamble = NULL;
	ret = eventlog_provider_drafts_make(domain, info, fields, drafts);
	eventlog_domain_lock(domain);
	if (!ret)
		ret = eventlog_provider_events_make(provider, fields, drafts, events);
	eventlog_domain_unlock(domain);
	for (i = 0; i < provider->event_count; i++)
		eventlog_draft_free(&drafts[i], domain);
	if (ret) {
		eventlog_domain_lock(domain);
		eventlog_kernel_provider_put(domain, info);
		eventlog_domain_unlock(domain);
		return ret;
	}

	provider->id = info->id;
	provider->info = info;
	list_add_tail(&info->kernel_node, &domain->kernel_providers);
	for (i = 0; i < provider->event_count; i++)
		rcu_assign_pointer(provider->events[i]->event, events[i]);
	eventlog_providers_update(domain, NULL, NULL);
	eventlog_provider_dump(domain, info, NULL, NULL);
	return 0;
}

int eventlog_provider_register(struct eventlog_provider *provider)
{
	struct eventlog_domain *domain = &eventlog_root_domain;
	struct eventlog_event **events = NULL;
	struct eventlog_draft *drafts = NULL;
	struct eventlog_fields *fields = NULL;
	char *preamble = NULL;
	unsigned int i;
	int ret;

	if (eventlog_update_begin_killable(domain))
		return -EINTR;
	ret = -EBUSY;
	if (provider->info)
		goto out;
	ret = eventlog_schema_check(provider);
	if (ret)
		goto out;
	ret = -ENOSPC;
	if (provider->event_count > domain->events_max)
		goto out;
	ret = -ENOMEM;
	events = eventlog_alloc(provider->event_count * sizeof(*events));
	fields = eventlog_alloc(provider->event_count * sizeof(*fields));
	drafts = eventlog_alloc(provider->event_count * sizeof(*drafts));
	preamble = eventlog_schema_preamble(provider);
	if (!events || !fields || !drafts || !preamble)
		goto out;
	ret = 0;
	for (i = 0; i < provider->event_count && !ret; i++)
		ret = eventlog_schema_fields(provider, provider->events[i], &fields[i]);
	if (!ret)
		ret = eventlog_provider_add(domain, provider, &preamble, fields, drafts, events);
out:
	mutex_unlock(&domain->update_lock);
	for (i = 0; fields && i < provider->event_count; i++)
		eventlog_fields_free(&fields[i]);
	eventlog_free(fields);
	eventlog_free(drafts);
	eventlog_free(events);
	eventlog_free(preamble);
	return ret;
}
EXPORT_SYMBOL_GPL(eventlog_provider_register);

void eventlog_provider_unregister(struct eventlog_provider *provider)
{
	struct eventlog_domain *domain = &eventlog_root_domain;
	struct eventlog_provider_info *info;
	unsigned int i;

	mutex_lock(&domain->update_lock);
	info = provider->info;
	if (!info)
		goto out;
	list_del_init(&info->kernel_node);
	eventlog_domain_lock(domain);
	for (i = 0; i < provider->event_count; i++) {
		struct eventlog_provider_event *source = provider->events[i];
		struct eventlog_event *event = eventlog_provider_event(domain, source);

		RCU_INIT_POINTER(source->event, NULL);
		eventlog_event_put(event, NULL);
	}
	provider->info = NULL;
	provider->id = 0;
	eventlog_domain_unlock(domain);
	eventlog_sinks_reap(domain);

	for (i = 0; i < provider->event_count; i++)
		static_branch_disable(&provider->events[i]->enabled);
	if (info->last_level && provider->enable)
		provider->enable(provider, 0, 0);
	/* Emissions in progress still read the provider's side of the events. */
	if (info->enabled_once)
		synchronize_rcu();

	eventlog_domain_lock(domain);
	eventlog_kernel_provider_put(domain, info);
	eventlog_domain_unlock(domain);
out:
	mutex_unlock(&domain->update_lock);
}
EXPORT_SYMBOL_GPL(eventlog_provider_unregister);
