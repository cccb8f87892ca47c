// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of user_events: see event.h.
 */
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/siphash.h>
#include <linux/string.h>

#include "compat.h"

#if EVENTLOG_TRACE_EVENTS

#include "core/ops.h"
#include "core/sink.h"
#include "memory.h"
#include "user_events/abi.h"
#include "user_events/command.h"
#include "user_events/event.h"

static DEFINE_HASHTABLE(ue_names, 10);
LIST_HEAD(eventlog_ue_events);
/* Secret, or processes could choose names that all hash to one bucket. */
static siphash_key_t ue_names_key;

static u64 ue_name_hash(const char *name)
{
	return siphash(name, strlen(name), &ue_names_key);
}

static const char *ue_provider(bool multi)
{
	return multi ? EVENTLOG_UE_PROVIDER_MULTI : EVENTLOG_UE_PROVIDER;
}

void eventlog_ue_events_init(void)
{
	get_random_bytes(&ue_names_key, sizeof(ue_names_key));
}

void eventlog_ue_watch_put(struct eventlog_watch *watch)
{
	if (refcount_dec_and_test(&watch->holders))
		eventlog_free(watch);
}

void eventlog_ue_event_ended(struct eventlog_watch *watch)
{
	hash_del(&watch->name_node);
	list_del(&watch->all_node);
	eventlog_ue_watch_put(watch);
}

/* ---- make ---- */

/* Does the name belong to an event with one format, which is another one? */
static bool ue_event_conflicts(const struct eventlog_ue_command *command, bool multi)
{
	const struct eventlog_fields *fields = &command->fields;
	const struct eventlog_watch *watch;

	if (multi)
		return false;
	hash_for_each_possible(ue_names, watch, name_node, ue_name_hash(fields->name))
		if (!watch->multi && !strcmp(watch->event->name, fields->name))
			return strcmp(watch->event->fields_text, fields->text) ||
			       strcmp(watch->event->types, fields->types);
	return false;
}

static void ue_event_watch(struct eventlog_event *event, bool multi, struct eventlog_watch **spare)
{
	struct eventlog_watch *watch = *spare;

	if (event->watch)
		return;
	*spare = NULL;
	watch->event = event;
	watch->multi = multi;
	INIT_LIST_HEAD(&watch->enablers);
	INIT_LIST_HEAD(&watch->dirty_node);
	refcount_set(&watch->holders, 1);
	hash_add(ue_names, &watch->name_node, ue_name_hash(event->name));
	list_add_tail(&watch->all_node, &eventlog_ue_events);
	event->watch = watch;
}

/* As eventlog_event_get(), for this front end; *@spare is NULL if it was used. */
static struct eventlog_event *ue_event_get(struct eventlog_ue_command *command,
					   unsigned int flags, struct eventlog_draft *draft,
					   struct eventlog_event_use *use,
					   struct eventlog_watch **spare)
{
	struct eventlog_domain *domain = eventlog_ue_domain();
	bool multi = flags & EVENTLOG_UE_MULTI;
	struct eventlog_event *event;

	eventlog_domain_lock(domain);
	event = ERR_PTR(-EADDRINUSE);
	if (!ue_event_conflicts(command, multi))
		event = eventlog_event_get(domain, ue_provider(multi), &command->fields,
					   command->level, command->keywords, draft, use);
	if (!IS_ERR(event)) {
		ue_event_watch(event, multi, spare);
		if (flags & EVENTLOG_UE_PERSIST)
			eventlog_event_persist(event);
	}
	eventlog_domain_unlock(domain);
	return event;
}

/* What a new event needs is made without the domain's lock. */
static struct eventlog_event *ue_event_make(struct eventlog_ue_command *command,
					    unsigned int flags, struct eventlog_event_use *use,
					    struct eventlog_watch **spare)
{
	struct eventlog_domain *domain = eventlog_ue_domain();
	struct eventlog_event *event;
	struct eventlog_draft draft;
	int ret;

	event = ue_event_get(command, flags, NULL, use, spare);
	if (event != ERR_PTR(-ENOENT))
		return event;
	ret = eventlog_draft_make(&draft, domain, use->user,
				  ue_provider(flags & EVENTLOG_UE_MULTI), &command->fields,
				  command->level, command->keywords);
	if (ret)
		return ERR_PTR(ret);
	do {
		event = ue_event_get(command, flags, &draft, use, spare);
	} while (eventlog_draft_again(&draft, &event));
	eventlog_draft_free(&draft, domain);
	return event;
}

struct eventlog_watch *eventlog_ue_event_get(const char *text, unsigned int flags,
					     struct eventlog_event_use *use)
{
	struct eventlog_ue_command command;
	struct eventlog_watch *spare;
	struct eventlog_event *event;
	int ret;

	if (flags & EVENTLOG_UE_PERSIST && !perfmon_capable())
		return ERR_PTR(-EPERM);
	ret = eventlog_ue_command_parse(&command, text, flags & EVENTLOG_UE_MULTI);
	if (ret)
		return ERR_PTR(ret);
	event = ERR_PTR(-ENOMEM);
	spare = eventlog_alloc(sizeof(*spare));
	if (spare)
		event = ue_event_make(&command, flags, use, &spare);
	eventlog_free(spare);
	eventlog_ue_command_free(&command);
	/* Programs know one errno for all limits. */
	if (event == ERR_PTR(-ENOSPC) || event == ERR_PTR(-EDQUOT))
		event = ERR_PTR(-EMFILE);
	if (IS_ERR(event))
		return ERR_CAST(event);
	/* Programs look for it in tracefs at once. */
	if (eventlog_trace_ops)
		eventlog_trace_ops->wait(event);
	return event->watch;
}

/* ---- use and end ---- */

void eventlog_ue_event_use(struct eventlog_watch *watch, struct eventlog_event_use *use)
{
	struct eventlog_domain *domain = eventlog_ue_domain();

	eventlog_domain_lock(domain);
	eventlog_event_use(watch->event, use);
	eventlog_domain_unlock(domain);
}

void eventlog_ue_event_put(struct eventlog_watch *watch, struct eventlog_event_use *use)
{
	struct eventlog_domain *domain = eventlog_ue_domain();

	eventlog_domain_lock(domain);
	eventlog_event_put(watch->event, use);
	eventlog_domain_unlock(domain);
	eventlog_sinks_reap(domain);
}

/* Finds out whether events of a name can be deleted, under domain->lock. */
static int ue_event_deletable(const char *name, bool *formats)
{
	const struct eventlog_watch *watch;
	int ret = -ENOENT;

	hash_for_each_possible(ue_names, watch, name_node, ue_name_hash(name)) {
		const struct eventlog_event *event = watch->event;

		if (strcmp(event->name, name))
			continue;
		if (event->registrations ||
		    (eventlog_trace_ops && eventlog_trace_ops->busy(event)))
			return -EBUSY;
		if (!perfmon_capable())
			return -EPERM;
		formats[watch->multi] = true;
		ret = 0;
	}
	return ret;
}

int eventlog_ue_event_delete(const char *name)
{
	struct eventlog_domain *domain = eventlog_ue_domain();
	bool formats[2] = {};
	int ret, multi;

	eventlog_domain_lock(domain);
	ret = ue_event_deletable(name, formats);
	for (multi = 0; multi < 2 && !ret; multi++)
		if (formats[multi])
			ret = eventlog_event_delete(domain, ue_provider(multi), name);
	eventlog_domain_unlock(domain);
	eventlog_sinks_reap(domain);
	/* Programs expect it to be gone. */
	if (!ret && eventlog_trace_ops)
		eventlog_trace_ops->wait(NULL);
	return ret;
}

#endif /* EVENTLOG_TRACE_EVENTS */
