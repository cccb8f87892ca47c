// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events and providers: see event.h.
 */
#include <linux/err.h>
#include <linux/eventlog.h>
#include <linux/siphash.h>
#include <linux/string.h>

#include "core/domain.h"
#include "core/draft.h"
#include "core/enable.h"
#include "core/event.h"
#include "core/ops.h"
#include "core/sink.h"
#include "core/subscriber.h"
#include "core/tables.h"
#include "core/user.h"
#include "memory.h"

const struct eventlog_trace_ops *eventlog_trace_ops __ro_after_init;
const struct eventlog_policy_ops *eventlog_policy_ops __ro_after_init;
const struct eventlog_mapped_ops *eventlog_mapped_ops __ro_after_init;

static struct eventlog_event *eventlog_event_retained_first(struct eventlog_domain *domain,
							    const struct eventlog_user *user);
static void eventlog_event_release_retained(struct eventlog_event *event);

/* The key is secret, or processes could choose names that all hash to one bucket. */
static u64 eventlog_text_hash(const struct eventlog_domain *domain, const char *text)
{
	return siphash(text, strlen(text), &domain->hash_key);
}

static const char *eventlog_tables_text(const struct eventlog_tables *tables)
{
	return tables ? tables->preamble : "";
}

static u64 eventlog_definition_hash(const struct eventlog_domain *domain, const char *provider,
				    const char *name, const char *fields_text,
				    const struct eventlog_tables *tables, u8 level, u64 keywords)
{
	return siphash_4u64(eventlog_text_hash(domain, provider),
			    eventlog_text_hash(domain, name),
			    eventlog_text_hash(domain, fields_text),
			    eventlog_text_hash(domain, eventlog_tables_text(tables)) ^ keywords ^
			    level,
			    &domain->hash_key);
}

const char *eventlog_event_preamble(const struct eventlog_event *event)
{
	return event->tables ? event->tables->preamble : event->provider->preamble;
}

const struct eventlog_provider *eventlog_event_sets(const struct eventlog_event *event)
{
	return event->tables ? &event->tables->provider : event->provider->kernel;
}

static void eventlog_provider_free_rcu(struct rcu_head *rcu)
{
	eventlog_free(container_of(rcu, struct eventlog_provider_info, rcu));
}

struct eventlog_provider_info *eventlog_provider_alloc(const char *name)
{
	size_t name_bytes = strlen(name) + 1;
	struct eventlog_provider_info *info = eventlog_alloc(sizeof(*info) + name_bytes);

	if (!info)
		return NULL;
	info->next_event_id = 1;
	info->users = 1;
	INIT_LIST_HEAD(&info->kernel_node);
	INIT_LIST_HEAD(&info->dirty_node);
	info->name = memcpy(info + 1, name, name_bytes);
	return info;
}

/*
 * Providers of retained definitions have ids too, and many users can retain more definitions
 * than there are ids.  Therefore the oldest of them are freed before the ids run out.
 * -EAGAIN: that takes longer than a batch.
 */
static int eventlog_provider_take_id(struct eventlog_domain *domain,
				     struct eventlog_provider_info *info,
				     const struct eventlog_user *user)
{
	int id;

	for (;;) {
		id = ida_alloc_range(&domain->provider_ids, 1, U16_MAX, GFP_KERNEL);
		if (id != -ENOSPC || !domain->retained_count)
			break;
		if (domain->work >= EVENTLOG_BATCH_STEPS)
			return -EAGAIN;
		eventlog_event_release_retained(eventlog_event_retained_first(domain, user));
	}
	if (id < 0)
		return id;
	info->id = id;
	info->id_held = true;
	return 0;
}

static void eventlog_provider_release_id(struct eventlog_domain *domain,
					 struct eventlog_provider_info *info)
{
	if (info->id_held)
		ida_free(&domain->provider_ids, info->id);
	info->id_held = false;
}

static void eventlog_provider_put(struct eventlog_domain *domain,
				  struct eventlog_provider_info *info)
{
	if (--info->users)
		return;
	hash_del(&info->node);
	eventlog_provider_release_id(domain, info);
	eventlog_free(info->preamble);
	/* Emission may be reading dump_task and dump_subscriber. */
	call_rcu(&info->rcu, eventlog_provider_free_rcu);
}

/* Is it the name of a registered kernel provider? */
static bool eventlog_provider_name_of_kernel(struct eventlog_domain *domain, const char *name)
{
	const struct eventlog_provider_info *info;

	hash_for_each_possible(domain->kernel_names, info, node, eventlog_text_hash(domain, name))
		if (!strcmp(info->name, name))
			return true;
	return false;
}

/* Finds the provider of a draft, or adds it to the domain. */
static struct eventlog_provider_info *eventlog_provider_get(struct eventlog_domain *domain,
							    struct eventlog_draft *draft)
{
	u64 hash = eventlog_text_hash(domain, draft->provider->name);
	struct eventlog_provider_info *info;
	int ret;

	hash_for_each_possible(domain->providers, info, node, hash) {
		if (!strcmp(info->name, draft->provider->name)) {
			info->users++;
			return info;
		}
	}
	info = draft->provider;
	ret = eventlog_provider_take_id(domain, info, draft->event->user);
	if (ret)
		return ERR_PTR(ret);
	draft->provider = NULL;
	hash_add(domain->providers, &info->node, hash);
	return info;
}

struct eventlog_provider_info *eventlog_kernel_provider_new(struct eventlog_domain *domain,
							    struct eventlog_provider *kernel,
							    char *preamble)
{
	struct eventlog_provider_info *info;
	int ret;

	lockdep_assert_held(&domain->lock);
	info = eventlog_provider_alloc(kernel->name);
	if (!info)
		return ERR_PTR(-ENOMEM);
	ret = eventlog_provider_take_id(domain, info, NULL);
	if (ret) {
		eventlog_free(info);
		return ERR_PTR(ret);
	}
	info->kernel = kernel;
	info->preamble = preamble;
	hash_add(domain->kernel_names, &info->node, eventlog_text_hash(domain, info->name));
	domain->kernel_provider_count++;
	return info;
}

void eventlog_kernel_provider_put(struct eventlog_domain *domain,
				  struct eventlog_provider_info *info)
{
	lockdep_assert_held(&domain->lock);
	info->kernel = NULL;
	hash_del(&info->node);
	domain->kernel_provider_count--;
	list_del_init(&info->dirty_node);
	/* Retained events may still refer to it, to decode old records. */
	eventlog_provider_release_id(domain, info);
	eventlog_provider_put(domain, info);
}

void eventlog_event_release(struct eventlog_event *event)
{
	if (!refcount_dec_and_test(&event->holders))
		return;
	eventlog_free(event->layout);
	eventlog_free(event->fields_text);
	eventlog_free(event->tables);
	eventlog_free(event->types);
	eventlog_free(event);
}

static void eventlog_event_release_rcu(struct rcu_head *rcu)
{
	eventlog_event_release(container_of(rcu, struct eventlog_event, rcu));
}

/* Removes the event from all tables; writers may still be using it. */
static void eventlog_event_forget(struct eventlog_event *event)
{
	struct eventlog_domain *domain = event->domain;

	eventlog_domain_work(domain, 1);
	hash_del(&event->hash_node);
	xa_erase(&domain->definitions, event->descriptor);
	eventlog_event_stats_drop(event);
	eventlog_provider_put(domain, event->provider);
	eventlog_event_users_put(event);
	call_rcu(&event->rcu, eventlog_event_release_rcu);
}

static size_t eventlog_text_bytes(const char *text)
{
	return text ? eventlog_alloc_bytes(strlen(text) + 1) : 0;
}

/*
 * The most memory that a retained definition may hold: with the counters that subscribers
 * keep, and, because it may be the only definition in them, a node of the domain's table and
 * its provider.
 */
static size_t eventlog_event_bytes(const struct eventlog_event *event)
{
	const struct eventlog_provider_info *provider = event->provider;
	const struct eventlog_layout *layout = event->layout;

	return eventlog_alloc_bytes(sizeof(*event) + strlen(event->name) + 1) +
	       eventlog_alloc_bytes(struct_size(layout, dynamic, layout->dynamic_count)) +
	       eventlog_text_bytes(event->fields_text) + eventlog_text_bytes(event->types) +
	       (event->tables ? eventlog_alloc_bytes(event->tables->bytes) : 0) +
	       eventlog_alloc_bytes(sizeof(*provider) + strlen(provider->name) + 1) +
	       eventlog_text_bytes(provider->preamble) +
	       eventlog_event_stats_bytes(event) + sizeof(struct xa_node);
}

static void eventlog_event_retained_remove(struct eventlog_event *event)
{
	list_del(&event->retained_node);
	event->domain->retained_count--;
	list_del_init(&event->user_node);
	eventlog_user_uncharge(event->maker, EVENTLOG_QUOTA_RETAINED_BYTES,
			       event->retained_bytes);
}

static void eventlog_event_release_retained(struct eventlog_event *event)
{
	eventlog_event_retained_remove(event);
	eventlog_event_forget(event);
}

/* The oldest retained definition of a user, or of all users if it has none. */
static struct eventlog_event *eventlog_event_retained_first(struct eventlog_domain *domain,
							    const struct eventlog_user *user)
{
	if (user && !list_empty(&user->retained))
		return list_first_entry(&user->retained, struct eventlog_event, user_node);
	return list_first_entry(&domain->retained, struct eventlog_event, retained_node);
}

/*
 * Adds to the retained definitions, in place of older ones of its maker if necessary.
 *
 * Bytes and number are limited, because processes may register ever new definitions while a
 * subscriber stays open.  The oldest texts of the user are freed first, then those of other
 * users.  A consumer that asks for a text when it first sees the descriptor has them already.
 */
static bool eventlog_event_retain(struct eventlog_event *event)
{
	struct eventlog_domain *domain = event->domain;
	struct eventlog_user *user = event->maker;

	event->retained_bytes = eventlog_event_bytes(event);
	while (!eventlog_user_charge(user, EVENTLOG_QUOTA_RETAINED_BYTES,
				     event->retained_bytes)) {
		if (list_empty(&user->retained))
			return false;
		eventlog_event_release_retained(eventlog_event_retained_first(domain, user));
	}
	while (domain->retained_count >= domain->events_max)
		eventlog_event_release_retained(eventlog_event_retained_first(domain, user));
	if (user)
		list_add_tail(&event->user_node, &user->retained);
	event->retired_at = domain->subscriber_sequence;
	list_add_tail(&event->retained_node, &domain->retained);
	domain->retained_count++;
	return true;
}

void eventlog_events_release_retained(struct eventlog_domain *domain)
{
	struct eventlog_subscriber *oldest;
	struct eventlog_event *event;

	eventlog_domain_lock(domain);
	/* The list is in the order of retirement: stop at the first one still needed. */
	while ((event = list_first_entry_or_null(&domain->retained, struct eventlog_event,
						 retained_node))) {
		oldest = eventlog_subscriber_oldest(domain);
		if (oldest && event->retired_at > oldest->sequence)
			break;
		eventlog_event_release_retained(event);
		eventlog_domain_pause(domain);
	}
	eventlog_domain_unlock(domain);
}

/* Takes a live event from listeners, the marker policy and tracers. */
static void eventlog_event_deactivate(struct eventlog_event *event)
{
	struct eventlog_watch *watch;

	eventlog_enable_event_clear(event);
	eventlog_sinks_end(event);
	eventlog_policy_ops->remove(event);
	if (eventlog_trace_ops)
		eventlog_trace_ops->remove(event);
	eventlog_domain_slot_put(event->domain, event->slot);
	WRITE_ONCE(event->slot, 0);
	eventlog_user_uncharge(event->user, EVENTLOG_QUOTA_EVENTS, 1);
	watch = event->watch;
	event->watch = NULL;
	if (watch)
		eventlog_watch_ops->ended(watch);
}

/* Ends an event that has no registration and is not persistent. */
static void eventlog_event_retire(struct eventlog_event *event)
{
	struct eventlog_domain *domain = event->domain;

	eventlog_event_deactivate(event);
	if (!domain->subscriber_count || !eventlog_event_retain(event))
		eventlog_event_forget(event);
}

/* Makes a new or a retained event live. */
static int eventlog_event_activate(struct eventlog_event *event, struct eventlog_draft *draft)
{
	struct eventlog_domain *domain = event->domain;
	int slot, ret;

	if (!eventlog_user_charge(event->user, EVENTLOG_QUOTA_EVENTS, 1))
		return -EDQUOT;
	ret = -ENOSPC;
	if (event->user && domain->live >= domain->events_max - domain->events_reserved)
		goto err_uncharge;
	slot = eventlog_domain_slot_get(domain);
	ret = slot;
	if (slot < 0)
		goto err_uncharge;
	WRITE_ONCE(event->slot, slot);
	/* First: a tracer may be attached to the trace event it gets. */
	if (eventlog_trace_ops)
		eventlog_trace_ops->add(event, event->source ? NULL : &draft->layout);
	eventlog_enable_event(event);
	eventlog_policy_ops->apply(event, &draft->policy);
	return 0;

err_uncharge:
	eventlog_user_uncharge(event->user, EVENTLOG_QUOTA_EVENTS, 1);
	return ret;
}

static struct eventlog_event *eventlog_event_find(struct eventlog_domain *domain,
						  const char *provider,
						  const struct eventlog_fields *fields, u8 level,
						  u64 keywords)
{
	struct eventlog_event *event;

	hash_for_each_possible(domain->names, event, hash_node,
			       eventlog_definition_hash(domain, provider, fields->name,
							fields->text, fields->tables, level,
							keywords)) {
		if (event->level == level && event->keywords == keywords &&
		    !strcmp(event->name, fields->name) &&
		    !strcmp(event->provider->name, provider) &&
		    !strcmp(event->fields_text, fields->text) && !event->tables == !fields->tables &&
		    !strcmp(event->types ?: "", fields->types ?: "") &&
		    !strcmp(eventlog_tables_text(event->tables),
			    eventlog_tables_text(fields->tables)))
			return event;
	}
	return NULL;
}

/*
 * Publishes a definition, which is found by descriptor from now on, and makes it live;
 * @provider gets one more user.  If it fails, the definition is gone.
 */
static int eventlog_event_add(struct eventlog_draft *draft,
			      struct eventlog_provider_info *provider,
			      struct eventlog_fields *fields)
{
	struct eventlog_event *event = draft->event;
	struct eventlog_domain *domain = event->domain;
	int ret;

	eventlog_enable_prepared(&draft->place);
	draft->event = NULL;
	event->provider = provider;
	if (!event->source)
		event->id = fields->tables ? fields->tables->event.id : provider->next_event_id;
	event->layout = fields->layout;
	event->fields_text = fields->text;
	event->tables = fields->tables;
	event->types = fields->types;
	/* Cannot fail: the index is reserved. */
	xa_store(&domain->definitions, event->descriptor, event, GFP_KERNEL);
	ret = eventlog_event_activate(event, draft);
	if (ret)
		goto err_erase;

	provider->users++;
	if (!event->source && !fields->tables)
		provider->next_event_id++;
	fields->layout = NULL;
	fields->text = NULL;
	fields->tables = NULL;
	fields->types = NULL;
	return 0;

err_erase:
	xa_erase(&domain->definitions, event->descriptor);
	eventlog_sinks_end(event);
	eventlog_event_stats_drop(event);
	/* A BPF program may have found the event.  The caller keeps what @fields owns. */
	event->layout = NULL;
	event->fields_text = NULL;
	event->tables = NULL;
	event->types = NULL;
	eventlog_event_users_put(event);
	call_rcu(&event->rcu, eventlog_event_release_rcu);
	return ret;
}

/* Makes a definition that processes share, and that is found by its properties. */
static struct eventlog_event *eventlog_event_new_shared(struct eventlog_domain *domain,
							struct eventlog_fields *fields,
							struct eventlog_draft *draft)
{
	struct eventlog_provider_info *provider = eventlog_provider_get(domain, draft);
	struct eventlog_event *event = draft->event;
	int ret;

	if (IS_ERR(provider))
		return ERR_CAST(provider);
	ret = eventlog_event_add(draft, provider, fields);
	if (!ret)
		hash_add(domain->names, &event->hash_node,
			 eventlog_definition_hash(domain, provider->name, event->name,
						  event->fields_text, event->tables,
						  event->level, event->keywords));
	eventlog_provider_put(domain, provider);
	return ret ? ERR_PTR(ret) : event;
}

struct eventlog_event *eventlog_event_new_kernel(struct eventlog_draft *draft,
						 struct eventlog_fields *fields)
{
	struct eventlog_event *event = draft->event;
	int ret;

	lockdep_assert_held(&event->domain->lock);
	ret = eventlog_event_add(draft, event->provider, fields);
	return ret ? ERR_PTR(ret) : event;
}

void eventlog_event_discard(struct eventlog_event *event)
{
	struct eventlog_domain *domain = event->domain;

	lockdep_assert_held(&domain->lock);
	eventlog_event_deactivate(event);
	eventlog_event_forget(event);
}

/*
 * Makes a retained event live; it counts for the user that brings it back.  Its text stays
 * charged to its maker, so that no user can displace the texts of another one.
 */
static int eventlog_event_revive(struct eventlog_event *event, struct eventlog_draft *draft)
{
	int ret;

	swap(event->user, draft->event->user);
	eventlog_enable_prepared(&draft->place);
	eventlog_sinks_move(event, draft->event);
	ret = eventlog_event_activate(event, draft);
	if (ret) {
		swap(event->user, draft->event->user);
		eventlog_sinks_end(event);
		return ret;
	}
	eventlog_event_retained_remove(event);
	return 0;
}

struct eventlog_event *eventlog_event_get(const struct eventlog_event_request *request,
					  struct eventlog_draft *draft)
{
	struct eventlog_domain *domain = request->domain;
	struct eventlog_event *event;
	int ret;

	lockdep_assert_held(&domain->lock);
	if (domain->dead)
		return ERR_PTR(-ENODEV);
	if (eventlog_provider_name_of_kernel(domain, request->provider))
		return ERR_PTR(-EPERM);
	event = eventlog_event_find(domain, request->provider, request->fields, request->level,
				    request->keywords);
	if (event && event->slot)
		return event;
	if (!draft)
		return ERR_PTR(-ENOENT);
	if (!eventlog_draft_is_prepared(domain, draft))
		return ERR_PTR(-EAGAIN);
	if (!event)
		return eventlog_event_new_shared(domain, request->fields, draft);
	ret = eventlog_event_revive(event, draft);
	return ret ? ERR_PTR(ret) : event;
}

void eventlog_event_use(struct eventlog_event *event, struct eventlog_event_use *use)
{
	lockdep_assert_held(&event->domain->lock);
	event->registrations++;
	list_add_tail(&use->node, &event->uses);
}

/*
 * Counts an event for the user of its oldest registration.  Otherwise others could use up a
 * user's quota by registering its definitions.  If that user is at its limit, nothing changes,
 * because two users together must not exceed their quotas.
 */
static void eventlog_event_recharge(struct eventlog_event *event)
{
	struct eventlog_event_use *use;

	use = list_first_entry_or_null(&event->uses, struct eventlog_event_use, node);
	if (!use || use->user == event->user || event->persistent ||
	    !eventlog_user_charge(use->user, EVENTLOG_QUOTA_EVENTS, 1))
		return;
	eventlog_user_uncharge(event->user, EVENTLOG_QUOTA_EVENTS, 1);
	eventlog_user_put(event->user);
	event->user = eventlog_user_get(use->user);
	if (eventlog_trace_ops)
		eventlog_trace_ops->recharge(event);
}

void eventlog_event_put(struct eventlog_event *event, struct eventlog_event_use *use)
{
	lockdep_assert_held(&event->domain->lock);
	if (use)
		list_del(&use->node);
	if (--event->registrations)
		eventlog_event_recharge(event);
	if (event->registrations || event->persistent)
		return;
	if (event->source) {
		event->lost_rcu_idle = eventlog_event_lost_rcu_idle(event);
		event->source = NULL;
	}
	eventlog_event_retire(event);
}

void eventlog_event_unregister(struct eventlog_event *event, struct eventlog_event_use *use)
{
	struct eventlog_domain *domain = event->domain;

	eventlog_domain_lock(domain);
	eventlog_event_put(event, use);
	eventlog_domain_unlock(domain);
	eventlog_sinks_reap(domain);
}

void eventlog_event_persist(struct eventlog_event *event)
{
	lockdep_assert_held(&event->domain->lock);
	event->persistent = true;
	if (eventlog_trace_ops)
		eventlog_trace_ops->persist(event);
}

static bool eventlog_event_deletable(const struct eventlog_event *event, const char *provider,
				     const char *other, const char *name)
{
	return event->persistent && !strcmp(event->name, name) &&
	       (!strcmp(event->provider->name, provider) ||
		(other && !strcmp(event->provider->name, other)));
}

static bool eventlog_event_busy(const struct eventlog_event *event)
{
	return event->registrations || (eventlog_trace_ops && eventlog_trace_ops->busy(event));
}

/* Deletes events, or only looks for them; 0, -ENOENT, -EBUSY. */
static int eventlog_events_delete(struct eventlog_domain *domain, const char *provider,
				  const char *other, const char *name, bool only_look)
{
	struct eventlog_event *event;
	unsigned long descriptor;
	int ret = -ENOENT;

	xa_for_each(&domain->definitions, descriptor, event) {
		eventlog_domain_work(domain, 1);
		if (eventlog_event_deletable(event, provider, other, name)) {
			if (eventlog_event_busy(event))
				return -EBUSY;
			ret = 0;
			if (!only_look) {
				event->persistent = false;
				eventlog_event_retire(event);
			}
		}
		eventlog_domain_pause(domain);
	}
	return ret;
}

int eventlog_event_delete(struct eventlog_domain *domain, const char *provider, const char *other,
			  const char *name)
{
	int ret;

	eventlog_domain_lock(domain);
	ret = eventlog_events_delete(domain, provider, other, name, true) ?:
	      eventlog_events_delete(domain, provider, other, name, false);
	eventlog_domain_unlock(domain);
	eventlog_sinks_reap(domain);
	return ret;
}

void eventlog_events_kill(struct eventlog_domain *domain)
{
	struct eventlog_event *event;
	unsigned long descriptor;

	eventlog_domain_lock(domain);
	WRITE_ONCE(domain->dead, true);
	xa_for_each(&domain->definitions, descriptor, event) {
		eventlog_domain_work(domain, 1);
		if (event->slot) {
			eventlog_enable_event_clear(event);
			if (eventlog_trace_ops)
				eventlog_trace_ops->remove(event);
		}
		eventlog_domain_pause(domain);
	}
	eventlog_domain_status_dead(domain);
	eventlog_domain_unlock(domain);
	if (eventlog_trace_ops)
		eventlog_trace_ops->abandon(domain);
}

void eventlog_events_drop_all(struct eventlog_domain *domain)
{
	struct eventlog_event *event;
	unsigned long descriptor;

	lockdep_assert_held(&domain->lock);
	xa_for_each(&domain->definitions, descriptor, event) {
		eventlog_domain_work(domain, 1);
		if (event->slot) {
			WARN_ON(event->registrations);
			event->persistent = false;
			eventlog_event_retire(event);
		} else {
			eventlog_event_release_retained(event);
		}
		eventlog_domain_pause(domain);
	}
}
