// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel providers: see provider.h.
 */
#include <linux/err.h>
#include <linux/eventlog.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "core/domain.h"
#include "core/enable.h"
#include "core/event.h"
#include "marker/marker.h"
#include "memory.h"
#include "core/provider.h"
#include "core/schema.h"

/* The provider's events are registered: their pointers only change under update_lock. */
static struct eventlog_event *eventlog_provider_event(const struct eventlog_domain *domain,
						      const struct eventlog_provider_event *source)
{
	return rcu_dereference_protected(source->event, lockdep_is_held(&domain->update_lock));
}

/*
 * Tells a provider what is wanted of it.  Without domain->lock: what changes
 * meanwhile makes it a changed provider again.
 */
static void eventlog_provider_tell(struct eventlog_domain *domain,
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
		bool wanted = rcu_access_pointer(event->wanted), on;

		if (wanted) {
			keywords |= source->keywords;
			level = max_t(u32, level, source->level);
		}
		on = provider->markers ? eventlog_marker_update(source, wanted) : wanted;
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
	info->told_level = level;
	if (provider->enable)
		provider->enable(provider, keywords, level);
}

static bool eventlog_provider_rundown_wanted(struct eventlog_domain *domain,
					     const struct eventlog_provider *provider,
					     const struct eventlog_subscriber_rule *rule)
{
	const struct eventlog_event *event;
	bool wanted = false;
	unsigned int i;

	mutex_lock(&domain->lock);
	for (i = 0; i < provider->event_count && !wanted; i++) {
		event = eventlog_provider_event(domain, provider->events[i]);
		if (!event->rundown)
			continue;
		wanted = rule ? eventlog_rule_matches(rule, event) :
				!!rcu_access_pointer(event->wanted);
	}
	mutex_unlock(&domain->lock);
	return wanted;
}

/* @subscriber NULL: for everybody. */
static void eventlog_provider_rundown(struct eventlog_domain *domain,
				      struct eventlog_provider_info *info,
				      const struct eventlog_subscriber *subscriber,
				      const struct eventlog_subscriber_rule *rule)
{
	struct eventlog_provider *provider = info->kernel;

	if (!provider->rundown || !eventlog_provider_rundown_wanted(domain, provider, rule))
		return;
	WRITE_ONCE(info->rundown_for, subscriber);
	/* Whoever else emits these events meanwhile emits to all. */
	WRITE_ONCE(info->rundown_by, current);
	provider->rundown(provider);
	WRITE_ONCE(info->rundown_by, NULL);
}

void eventlog_providers_update(struct eventlog_domain *domain,
			       struct eventlog_subscriber *subscriber,
			       const struct eventlog_subscriber_rule *rule)
{
	struct eventlog_provider_info *info;

	lockdep_assert_held(&domain->update_lock);
	for (;;) {
		mutex_lock(&domain->lock);
		info = list_first_entry_or_null(&domain->changed_providers,
						struct eventlog_provider_info, changed_node);
		if (info)
			list_del_init(&info->changed_node);
		mutex_unlock(&domain->lock);
		if (!info)
			break;
		eventlog_provider_tell(domain, info);
	}
	if (!rule)
		return;
	list_for_each_entry(info, &domain->kernel_providers, kernel_node)
		eventlog_provider_rundown(domain, info, subscriber, rule);
}

/* ---- coming and going ---- */

/* Ends the events of a provider that were made, the first @count. */
static void eventlog_provider_events_discard(struct eventlog_event **events, unsigned int count)
{
	while (count--)
		eventlog_event_discard(events[count]);
}

/* Makes the events; under domain->lock, so that none is wanted and not counted. */
static int eventlog_provider_events_make(struct eventlog_domain *domain,
					 struct eventlog_provider_info *info,
					 struct eventlog_fields *fields,
					 struct eventlog_event **events)
{
	struct eventlog_provider *provider = info->kernel;
	unsigned int i;

	lockdep_assert_held(&domain->lock);
	for (i = 0; i < provider->event_count; i++) {
		events[i] = eventlog_event_new_kernel(domain, info, &fields[i],
						      provider->events[i]);
		if (IS_ERR(events[i])) {
			eventlog_provider_events_discard(events, i);
			return PTR_ERR(events[i]);
		}
	}
	return 0;
}

static int eventlog_provider_add(struct eventlog_domain *domain,
				 struct eventlog_provider *provider, char **preamble,
				 struct eventlog_fields *fields, struct eventlog_event **events)
{
	struct eventlog_provider_info *info;
	unsigned int i;
	int ret;

	/* Before subscribers take note of it: nothing emits yet. */
	for (i = 0; i < provider->event_count; i++)
		atomic_long_set(&provider->events[i]->lost_not_watching, 0);
	mutex_lock(&domain->lock);
	info = eventlog_kernel_provider_new(domain, provider, *preamble);
	ret = PTR_ERR_OR_ZERO(info);
	if (ret)
		goto out;
	*preamble = NULL;
	ret = eventlog_provider_events_make(domain, info, fields, events);
	if (ret)
		eventlog_kernel_provider_put(domain, info);
out:
	mutex_unlock(&domain->lock);
	if (ret)
		return ret;

	provider->id = info->id;
	provider->info = info;
	list_add_tail(&info->kernel_node, &domain->kernel_providers);
	for (i = 0; i < provider->event_count; i++)
		rcu_assign_pointer(provider->events[i]->event, events[i]);
	eventlog_providers_update(domain, NULL, NULL);
	eventlog_provider_rundown(domain, info, NULL, NULL);
	return 0;
}

int eventlog_provider_register(struct eventlog_provider *provider)
{
	struct eventlog_domain *domain = &eventlog_root_domain;
	struct eventlog_event **events = NULL;
	struct eventlog_fields *fields = NULL;
	char *preamble = NULL;
	unsigned int i;
	int ret;

	mutex_lock(&domain->update_lock);
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
	preamble = eventlog_schema_preamble(provider);
	if (!events || !fields || !preamble)
		goto out;
	ret = 0;
	for (i = 0; i < provider->event_count && !ret; i++)
		ret = eventlog_schema_fields(provider, provider->events[i], &fields[i]);
	if (!ret)
		ret = eventlog_provider_add(domain, provider, &preamble, fields, events);
out:
	mutex_unlock(&domain->update_lock);
	for (i = 0; fields && i < provider->event_count; i++)
		eventlog_fields_free(&fields[i]);
	eventlog_free(fields);
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
	mutex_lock(&domain->lock);
	for (i = 0; i < provider->event_count; i++) {
		struct eventlog_provider_event *source = provider->events[i];
		struct eventlog_event *event = eventlog_provider_event(domain, source);

		RCU_INIT_POINTER(source->event, NULL);
		eventlog_event_put(event);
	}
	provider->info = NULL;
	provider->id = 0;
	mutex_unlock(&domain->lock);

	for (i = 0; i < provider->event_count; i++)
		static_branch_disable(&provider->events[i]->enabled);
	if (info->told_level && provider->enable)
		provider->enable(provider, 0, 0);
	/* Emissions under way still look at the provider's side of the events. */
	if (info->enabled_once)
		synchronize_rcu();

	mutex_lock(&domain->lock);
	eventlog_kernel_provider_put(domain, info);
	mutex_unlock(&domain->lock);
out:
	mutex_unlock(&domain->update_lock);
}
EXPORT_SYMBOL_GPL(eventlog_provider_unregister);
